"""What the site makes of a page that a checkout shows as it is.

* ``<!-- site`` begins a comment whose text is part of the page on the site: directives, which
  GitHub would show as code.
* Between ``<!-- not on the site -->`` and ``<!-- on the site -->`` stands what the site replaces.
* Between ``<!-- cards -->`` and ``<!-- end of cards -->``, each line of a list becomes a card.
* Names of the reference, and measures of its table, link to pages of their own.
"""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from docs.reference_entries import with_pages
from docs.reference_tables import marked_as, measure_index

if TYPE_CHECKING:  # tests make pages without Sphinx
    from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parents[1]
_ON_SITE = re.compile(r"^<!-- site\n(.*?)^-->$", re.MULTILINE | re.DOTALL)
_NOT_ON_SITE = re.compile(
    r"^<!-- not on the site -->\n.*?^<!-- on the site -->$", re.MULTILINE | re.DOTALL
)
_CARDS = re.compile(r"^<!-- cards -->\n(.*?)^<!-- end of cards -->$", re.MULTILINE | re.DOTALL)
_CARD = re.compile(r"^\* \[(.+?)\]\((.+?)\.md\)(?:: (.+))?$", re.MULTILINE)
_INDEX = "<!-- index -->"
# The columns of cards on a phone, a small tablet, a laptop and a desk
_WITH_TEXT, _SHORT = "1 2 2 3", "2 3 3 3"


def on_site(page: str) -> str:
    """The text of a page as Sphinx reads it."""
    page = _NOT_ON_SITE.sub("", page)
    page = _CARDS.sub(_grid, page)
    page = with_pages(page)
    if _INDEX in page:
        families = (DOCS / "reference" / "measures.md").read_text(encoding="utf-8")
        rows = measure_index(families, lambda entry: f"{entry.page}.rst")
        page = marked_as(page, "index", rows)
    return _ON_SITE.sub(r"\1", page)


def _grid(cards: re.Match[str]) -> str:
    listed = _CARD.findall(cards[1])
    columns = _WITH_TEXT if listed[0][2] else _SHORT
    parts = [f"::::{{grid}} {columns}", ":gutter: 3", ""]
    for title, page, text in listed:
        parts += [f":::{{grid-item-card}} {title}", f":link: {page}", ":link-type: doc"]
        parts += ["", text] if text else [":text-align: center"]
        parts += [":::", ""]
    return "\n".join([*parts, "::::"])


def expand(_app: "Sphinx", _docname: str, source: list[str]) -> None:
    """Change a page that is read."""
    source[0] = on_site(source[0])


def setup(app: "Sphinx") -> dict[str, bool]:
    app.connect("source-read", expand)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
