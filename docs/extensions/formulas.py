"""Formulas between dollars as MathML, which browsers show without a script or a network.

A formula that a page shows as it is typed is a warning, and so stops `make docs`.
"""

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from docs.site_text import raw_formulas

_LOG = logging.getLogger(__name__)


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def visit_display(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def warn_of_raw_formulas(
    _app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Look at the text of a page that is about to be written."""
    for place in raw_formulas(str(context.get("body", ""))):
        _LOG.warning("a formula is shown as it is typed: %s", place, location=pagename)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    app.connect("html-page-context", warn_of_raw_formulas)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
