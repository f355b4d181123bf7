"""A reader finds each of fourteen tasks on the site that `make docs` builds: by the search, and by
links from the front page; skipped where the site is not built.
"""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin

import pytest
from starlette.staticfiles import StaticFiles

from tests.docs.blocks import ROOT
from tests.web import serving

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

Search = Callable[[str], list[str]]

SITE = ROOT / "docs" / "site"
# Words typed into the search; the page that answers; words of the link that leads to it
TASKS = {
    "compare two runs": ("guides/compare", "compare two runs"),
    "CI gate": ("guides/gate", "CI gate"),
    "RAG retriever": ("guides/rag", "RAG"),
    "filter training items": ("guides/recommender", "recommenders|filter training items"),
    "pandas": ("guides/pandas", "pandas"),
    "p value": ("concepts/is-b-better", "p values"),
    "LightGBM": ("training/training", "LightGBM|train a ranker"),
    "Redis": ("live/search-backends", "Redis"),
    "Elasticsearch": ("live/search-backends", "Elasticsearch"),
    "label documents": ("live/judge-ui", "label documents"),
    "click log": ("clicks/clicks", "click log"),
    "why do two NDCGs differ": ("concepts/two-ndcgs", "why two NDCGs differ"),
    "every measure": ("reference/measures-table", "any measure"),
    "lightgbm convention": ("reference/conventions", "tool.s convention"),
    "cite": ("reference/cite", "cite"),
}
# Other words for some of them
OTHER_WORDS = {
    "comparing runs": "compare two runs",
    "is B better": "compare two runs",
    "github actions": "CI gate",
    "remove seen items": "filter training items",
    "training items": "filter training items",
    "p-value": "p value",
    "Redis and Elasticsearch": "Redis",
    "two NDCGs differ": "why do two NDCGs differ",
    "all measures": "every measure",
    "one tool's convention": "lightgbm convention",
    "bibtex": "cite",
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (SITE / "index.html").exists(), reason="docs/site is not built: make docs"
    ),
]


def links_of(page: "Path") -> dict[str, str]:
    """The links in the text of a page: where each leads to, and its words."""
    html = page.read_text(encoding="utf-8")
    article = html[html.index("<article") : html.index("</article>")]
    links = {}
    for card in re.findall(r'<div class="sd-card .*?</a>', article, re.DOTALL):
        target = re.findall(r'href="([^"#]+)', card)
        if target:
            links[target[-1]] = re.sub(r"<[^>]+>", " ", card)
    link = re.compile(r'<a [^>]*href="([^"#]+)[^"]*"[^>]*>(.*?)</a>', re.DOTALL)
    for target, words in link.findall(article):
        links.setdefault(target, re.sub(r"<[^>]+>", "", words))
    return links


def clicks_to(page: str, words: str) -> int:
    """Clicks from the front page to a page by links that name the task; 3 if more than two."""
    for target, text in links_of(SITE / "index.html").items():
        if target == f"{page}.html" and re.search(words, text, re.IGNORECASE):
            return 1
    for first in links_of(SITE / "index.html"):
        if "://" in first or not (SITE / first).exists():
            continue
        for target, text in links_of(SITE / first).items():
            path = urljoin(first, target)
            if path == f"{page}.html" and re.search(words, text, re.IGNORECASE):
                return 2
    return 3


@pytest.fixture(scope="module")
def search(browser: "Browser") -> "Iterator[Search]":
    """Type words into the search of the site; the addresses of its hits."""
    with (
        serving.serving(StaticFiles(directory=SITE)) as home,
        serving.window(browser, home) as opened,
    ):

        def hits_of(query: str) -> list[str]:
            shown = opened.page(f"/search.html?q={quote(query)}")
            # The summary is written when all hits are shown
            shown.wait_for_function(
                "document.querySelector('#search-results p.search-summary')?.textContent"
                ".match(/found|did not match/)"
            )
            hits = shown.locator("#search-results ul.search li > a").evaluate_all(
                "links => links.map(link => link.getAttribute('href'))"
            )
            shown.close()
            return [re.split(r"[?#]", hit)[0] for hit in hits]

        yield hits_of


@pytest.mark.parametrize("query", TASKS)
def test_the_first_hit_of_the_search_answers(search: "Search", query: str) -> None:
    assert search(query)[0] == f"{TASKS[query][0]}.html"


@pytest.mark.parametrize("query", OTHER_WORDS)
def test_other_words_find_the_same_answer(search: "Search", query: str) -> None:
    assert search(query)[0] == f"{TASKS[OTHER_WORDS[query]][0]}.html"


@pytest.mark.parametrize("query", TASKS)
def test_two_clicks_from_the_front_page_lead_to_the_answer(query: str) -> None:
    assert clicks_to(*TASKS[query]) <= 2


def test_a_name_of_a_measure_in_another_tool_finds_its_page(search: "Search") -> None:
    assert search("MRR")[0] == "reference/api/measures/RR.html"
    assert search("hit rate")[0] == "reference/api/measures/Success.html"


def test_the_search_leaves_out_decisions_and_simulations(search: "Search") -> None:
    hits = search("gate")

    assert len(hits) > 10
    assert not [hit for hit in hits if hit.startswith("project/") or "-simulation" in hit]


def test_links_that_do_not_name_a_task_do_not_count() -> None:
    assert clicks_to("guides/compare", "no such words") == 3
