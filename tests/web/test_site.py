"""The site that `make docs` builds, opened as a reader opens it: no network, every theme, a phone;
skipped where it is not built.
"""

import pytest

from tests.docs.blocks import ROOT
from tests.web.browsing import DESK, PHONE, Visits, axe, sideways

SITE = ROOT / "docs" / "site"
PAGES = (
    "index",
    "get-started/index",
    "get-started/tutorial",
    "guides/index",
    "guides/compare",
    "guides/gate",
    "guides/search-engineers",
    "guides/learning-to-rank",
    "guides/recommender",
    "guides/rag",
    "guides/pandas",
    "guides/trec",
    "guides/researchers",
    "concepts/index",
    "concepts/when-to-use-something-else",
    "concepts/two-ndcgs",
    "reference/index",
    "reference/functions",
    "reference/measures-table",
    "reference/api/functions/evaluate",
    "reference/api/measures/NDCG",
    "reference/cite",
    "reference/commands",
    "reference/commands/compare",
    "reference/conventions",
    "reference/glossary",
    "project/changelog",
    "gallery",
)
ENTRIES = ["Get started", "Guides", "Concepts", "Reference"]
FIELDS = ["Search", "Learning to rank", "Recommenders", "RAG", "TREC", "Research"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (SITE / "index.html").exists(), reason="docs/site is not built: make docs"
    ),
]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_site_is_for_everybody(visit: Visits, page: str) -> None:
    for size, scheme in ((DESK, "light"), (DESK, "dark"), (PHONE, "light")):
        shown = visit(SITE / f"{page}.html", size=size, scheme=scheme)  # type: ignore[arg-type]

        assert sideways(shown) == 0, (size, scheme)
        # axe would fetch the style sheets again, which a file must not
        assert axe(shown, preload=False) == "", (size, scheme)


def test_four_entries_lead_into_the_site_from_every_page(visit: Visits) -> None:
    for page in ("index", "guides/compare"):
        shown = visit(SITE / f"{page}.html")
        assert shown.locator(".navbar-header-items .nav-item a").all_inner_texts() == ENTRIES


def test_the_front_page_leads_to_a_guide_for_each_kind_of_user(visit: Visits) -> None:
    shown = visit(SITE / "index.html")
    fields = shown.locator("section", has_text="I work on").last.locator(".sd-card")

    assert fields.locator(".sd-card-title").all_inner_texts() == FIELDS
    for place, page in enumerate(
        ("search-engineers", "learning-to-rank", "recommender", "rag", "trec", "researchers")
    ):
        assert str(fields.nth(place).locator("a").get_attribute("href")).endswith(
            f"guides/{page}.html"
        )


def test_the_sidebar_lists_the_pages_of_the_section(visit: Visits) -> None:
    shown = visit(SITE / "guides/compare.html")
    sidebar = shown.locator(".bd-sidebar-primary .bd-links")

    assert {
        "For search engineers",
        "The report: one page for a result",
        "A measure of your own",
    } <= set(sidebar.locator("a").all_inner_texts())
    assert sidebar.locator("a[aria-current=page], li.current.active > a").count() >= 1


def test_the_contents_of_a_page_wrap_within_the_window(visit: Visits) -> None:
    shown = visit(SITE / "reference/api/classes/Store.html", size=DESK)
    ends = shown.locator(".bd-sidebar-secondary a:visible").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().right)"
    )

    assert len(ends) > 20
    assert max(ends) <= DESK[0]


def test_a_card_of_the_front_page_leads_to_its_guide(visit: Visits) -> None:
    shown = visit(SITE / "index.html")
    shown.locator(".sd-card", has_text="Stop a regression with a CI gate").click()

    shown.wait_for_url("**/guides/gate.html")
