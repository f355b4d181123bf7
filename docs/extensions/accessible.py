"""Markup that screen readers understand, where what Sphinx writes is none: parameters of long
signatures are a list, not definitions.
"""

import re
from typing import Any

from sphinx.application import Sphinx

PARAMETERS = re.compile(r"<dl>\n((?:<dd>(?:(?!</?d[ld]>).)*</dd>\n)+)</dl>", re.DOTALL)


def as_list(
    app: Sphinx,  # noqa: ARG001  (Sphinx's)
    pagename: str,  # noqa: ARG001  (Sphinx's)
    templatename: str,  # noqa: ARG001  (Sphinx's)
    context: dict[str, Any],
    doctree: object,  # noqa: ARG001  (Sphinx's)
) -> None:
    """Rewrite the body of a page."""
    if "body" in context:
        context["body"] = PARAMETERS.sub(
            lambda found: (
                f'<ul class="sig-params">\n'
                f"{found[1].replace('<dd>', '<li>').replace('</dd>', '</li>')}</ul>"
            ),
            context["body"],
        )


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", as_list)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
