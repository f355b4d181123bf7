"""The served pages in a real browser: every page is reached by clicks, can be used by everybody,
and keeps its own policy.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from idealrank.store.web.guard import Guard
from tests.store.serve_samples import HOSTILE, example_store
from tests.web.browsing import PHONE, axe, shot, sideways
from tests.web.serving import Served, server, window

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("bm25", f"neural {HOSTILE}")
SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[str]]]:
    folder = tmp_path_factory.mktemp("served")
    return folder, example_store(folder, names=NAMES)


@pytest.fixture(scope="module")
def home(stored: tuple[Path, dict[str, list[str]]]) -> Iterator[str]:
    with server(stored[0]) as address:
        yield address


@pytest.fixture
def pages(browser: "Browser", home: str) -> Iterator[Served]:
    with window(browser, home) as found:
        yield found


def paths(ids: dict[str, list[str]]) -> dict[str, str]:
    """One address of each kind of page."""
    old, new = ids[NAMES[0]][-1], ids[NAMES[1]][-1]
    return {
        "overview": "/",
        "run": f"/runs/{new}",
        "compare": "/compare",
        "comparison": f"/compare?a={old}&b={new}",
        "gate": f"/verdicts/{ids['gate'][0]}",
        "queries": f"/queries?run={new}&against={old}",
        "query": f"/query?run={new}&against={old}&query=q1",
        "conventions": f"/conventions?run={new}&convention=lightgbm",
        "missing": "/runs/ffffffffffff",
        "slices": "/slices",
        "canaries": "/canaries",
    }


def test_every_page_is_reached_by_clicks(pages: Served) -> None:
    page = pages.page("/")
    page.locator(".evaluations a").first.click()
    assert "reaches nDCG@10" in page.locator("h1").inner_text()
    page.get_by_role("link", name="All queries").click()
    assert "12 queries by nDCG@10" in page.locator("h1").inner_text()
    page.locator("tbody a").first.click()
    assert page.locator("h1").inner_text().startswith("Query q")
    page.get_by_role("link", name="Next").first.click()
    assert "Query 2 of 12" in page.locator(".verdict").inner_text()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Conventions").click()
    page.get_by_label("evaluation").select_option(index=1)
    page.get_by_label("convention").select_option("lightgbm")
    page.get_by_role("button", name="Show").click()
    assert "convention=lightgbm" in page.url
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Overview").click()
    for box in page.locator(".evaluations input").all()[:2]:
        box.check()
    page.get_by_role("button", name="Compare the two ticked").click()
    assert "/compare?a=" in page.url
    page.get_by_role("link", name="Swap").click()
    page.get_by_role("link", name="idealrank").first.click()
    page.locator("#verdicts a").first.click()
    assert "gate" in page.locator("h1").inner_text().lower()


def test_a_point_of_the_drawing_opens_its_evaluation(
    pages: Served, stored: tuple[Path, dict[str, list[str]]]
) -> None:
    page = pages.page("/?run=bm25")

    page.locator(".timeline circle").last.click()

    assert page.url.endswith(f"/runs/{stored[1]['bm25'][-1]}")


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        *((name, "light") for name in ("overview", "comparison", "query")),
        *((name, "dark") for name in ("run", "queries", "conventions", "missing")),
        *(
            pytest.param(name, scheme, marks=pytest.mark.slow)
            for name in ("gate", "compare", "slices", "canaries")
            for scheme in SCHEMES
        ),
        *(
            pytest.param(name, "dark", marks=pytest.mark.slow)
            for name in ("overview", "comparison", "query")
        ),
        *(
            pytest.param(name, "light", marks=pytest.mark.slow)
            for name in ("run", "queries", "conventions", "missing")
        ),
    ],
)
def test_everybody_can_use_a_page(
    pages: Served, stored: tuple[Path, dict[str, list[str]]], name: str, scheme: str
) -> None:
    page = pages.page(paths(stored[1])[name], scheme="dark" if scheme == "dark" else "light")

    pages.faults[:] = [fault for fault in pages.faults if name != "missing" or "404" not in fault]
    shot(page, f"serve-{name}-{scheme}", full_page=True)
    assert axe(page) == ""


@pytest.mark.parametrize(
    "name",
    [
        "overview",
        "comparison",
        "query",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("run", "conventions")),
    ],
)
def test_a_phone_scrolls_no_page_sideways(
    pages: Served, stored: tuple[Path, dict[str, list[str]]], name: str
) -> None:
    page = pages.page(paths(stored[1])[name], size=PHONE)

    shot(page, f"serve-{name}-phone", full_page=True)
    assert sideways(page) == 0


def test_the_keyboard_reaches_content_and_controls(pages: Served) -> None:
    page = pages.page("/")

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    order = []
    for _ in range(40):
        page.keyboard.press("Tab")
        order.append(
            page.evaluate(
                "document.activeElement.name || document.activeElement.textContent.trim()"
            )
        )
    assert (
        order.index("measure")
        < order.index("run")
        < order.index("Show")
        < order.index("id")
        < order.index("Compare the two ticked")
    )


def test_the_theme_is_remembered(pages: Served) -> None:
    page = pages.page("/")
    page.get_by_role("button", name="Theme: auto").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"

    page.goto(page.url)

    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator("#theme").inner_text() == "Theme: dark"


def test_on_paper_there_are_no_controls(pages: Served) -> None:
    page = pages.page("/")

    page.emulate_media(media="print")

    assert not page.locator("form, nav, #theme, .foot").filter(visible=True).count()
    assert page.locator(".timeline").first.is_visible()


def test_a_token_is_given_once(
    browser: "Browser", stored: tuple[Path, dict[str, list[str]]]
) -> None:
    with server(stored[0], Guard(token="s3cret")) as home, window(browser, home) as pages:
        page = pages.page("/")
        pages.faults.clear()  # the console tells of the status
        assert axe(page) == ""
        page.get_by_label("token").fill("s3cret")
        page.get_by_role("button", name="Sign in").click()

        assert "is at nDCG@10" in page.locator("h1").inner_text()
        page.reload()
        assert "is at nDCG@10" in page.locator("h1").inner_text()


def test_the_first_page_loads_three_files_of_its_own(pages: Served) -> None:
    pages.page("/")

    assert sorted(path.partition("?")[0] for path in pages.asked) == [
        "/",
        "/assets/page.js",
        "/assets/style.css",
    ]
