"""A page is right on GitHub and on the site: directives are in comments, cards are lists, and
formulas are formulas.
"""

import re
from pathlib import Path

import pytest

from docs.extensions.site_view import on_site
from docs.site_text import raw_formulas
from tests.docs.blocks import ROOT

DOCS = ROOT / "docs"
SITE = DOCS / "site"
PAGES = [
    path
    for path in sorted(DOCS.rglob("*.md"))
    if not {"site", "decisions"} & set(path.relative_to(DOCS).parts)
]
DIRECTIVE = re.compile(r"^ *(?:`{3,}|:{3,})\{.*|^:{3,}.*", re.MULTILINE)


def shown_on_github(page: str) -> str:
    return re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_github_shows_no_directive_and_no_empty_page(path: Path) -> None:
    page = shown_on_github(path.read_text(encoding="utf-8"))

    assert DIRECTIVE.findall(page) == []
    assert len(page.split()) > 10


def test_a_directive_in_a_comment_is_for_the_site_alone() -> None:
    page = "Text.\n\n<!-- site\n```{toctree}\na\n```\n-->\n"

    assert DIRECTIVE.findall(shown_on_github(page)) == []
    assert on_site(page) == "Text.\n\n```{toctree}\na\n```\n\n"
    assert DIRECTIVE.findall("```{toctree}\na\n```\n:::{note}") == ["```{toctree}", ":::{note}"]


def test_a_list_between_marks_becomes_cards() -> None:
    page = "<!-- cards -->\n* [A title](b/c.md): Do it.\n<!-- end of cards -->\n"

    assert on_site(page) == (
        "::::{grid} 1 2 2 3\n:gutter: 3\n\n:::{grid-item-card} A title\n:link: b/c\n"
        ":link-type: doc\n\nDo it.\n:::\n\n::::\n"
    )


def test_the_front_page_has_every_card() -> None:
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    cards = re.findall(r"^\* \[.+\]\((.+)\)", page, re.MULTILINE)

    assert on_site(page).count(":::{grid-item-card}") == len(cards)
    assert all((DOCS / card).exists() for card in cards)
    assert {
        "guides/pandas.md",
        "live/judge-ui.md",
        "live/search-backends.md",
        "reference/cite.md",
    } <= set(cards)


def test_a_raw_formula_is_found_and_code_is_none() -> None:
    raw = raw_formulas(r"<p>The worth is $\max_w 1$ of the labels, and \frac{1}{2} of others.</p>")

    assert len(raw) == 4  # two dollars and two commands
    assert raw_formulas("<p>Costs 3 US$ &amp; more.</p>") == ["Costs 3 US$ & more."]
    assert raw_formulas("<pre>$ ls \\frac</pre><code>${NAME}</code><math>x$</math>") == []


@pytest.mark.docs
@pytest.mark.skipif(not (SITE / "index.html").exists(), reason="docs/site is not built: make docs")
def test_no_page_of_the_site_shows_a_raw_formula() -> None:
    pages = {
        str(path.relative_to(SITE)): raw_formulas(path.read_text(encoding="utf-8"))
        for path in SITE.rglob("*.html")
        if "_modules" not in path.parts
    }

    assert len(pages) > 100
    assert {page: places for page, places in pages.items() if places} == {}
