"""The report as people open it: offline, in light and dark, on a phone, in print, with and without
scripts.
"""

import re
from typing import TYPE_CHECKING

import pytest

import idealrank as ir
from tests.web import pages
from tests.web.browsing import (
    DESK,
    PHONE,
    Shared,
    Visits,
    axe,
    closed,
    drawn,
    expect,
    shot,
    shows_query,
    sideways,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page

EVERY = {
    "comparison": pages.demo,
    "three runs": pages.three,
    "one run": pages.single,
    "gate": pages.gate,
}


@pytest.mark.parametrize(
    ("kind", "scheme", "size"),
    [
        pytest.param("comparison", "light", DESK, marks=pytest.mark.slow),
        pytest.param("comparison", "dark", PHONE, marks=pytest.mark.slow),
        pytest.param("three runs", "dark", DESK, marks=pytest.mark.slow),
        pytest.param("one run", "light", PHONE, marks=pytest.mark.slow),
        ("gate", "dark", PHONE),
    ],
)
def test_everybody_can_use_it_and_nobody_scrolls_sideways(
    shared: Shared, kind: str, scheme: str, size: tuple[int, int]
) -> None:
    page = drawn(shared.report(EVERY[kind](), scheme=scheme, size=size))
    shot(page, f"{kind}-{scheme}", full_page=True)

    assert sideways(page) == 0
    assert axe(page) == ""
    page.locator("#queries [data-query]").first.click()
    shows_query(page)
    shot(page, f"{kind}-{scheme}-query")
    assert sideways(page) == 0
    assert axe(page, within="#query-view") == ""


def test_the_verdict_stands_at_the_top_with_its_numbers(shared: Shared) -> None:
    page = shared.report(pages.demo())

    assert page.locator("h1").inner_text() == "minilm is better than bm25."
    top = page.locator("section.verdict")
    assert "0.708 against 0.505, a difference of +0.203" in top.inner_text()
    assert page.locator("h1").bounding_box()["y"] < 200  # type: ignore[index]
    assert "60" in page.locator("#queries .about").inner_text()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("dense 2026-11-22", marks=pytest.mark.slow),
        pytest.param("bm25_tuned_2026_11_22", marks=pytest.mark.slow),
        "a-long-name-of-a-run-with-the-date-2026-11-22",
    ],
)
def test_names_of_runs_cut_no_column_off_on_a_desk(visit: Visits, name: str) -> None:
    qrels, runs = pages.some([name, f"{name} b"], n_queries=30)
    evaluations = [ir.evaluate(qrels, run, ir.with_companions(["nDCG@10", "AP"])) for run in runs]
    page = visit.report(
        ir.report(ir.compare(*evaluations), evaluations=evaluations), size=(1200, 900)
    )

    assert (
        page.locator(".verdict .scroll").first.locator("thead th").last.inner_text()
        == f"unjudged {name} b"
    )
    for table in (
        page.locator(f"{place} .scroll").first
        for place in (".verdict", "#regressions", "#gains", "#query-table")
    ):
        assert table.evaluate("one => one.scrollWidth - one.clientWidth") == 0
        assert table.locator("thead").evaluate("one => one.clientHeight") < 190
    for head in (
        page.locator("#regressions thead th, #query-table thead th")
        .filter(has_text="difference")
        .all()
    ):
        assert (head.bounding_box() or {})["width"] > 80  # the word stays whole


def test_a_comma_stays_on_the_line_of_the_query_id_before_it(visit: Visits) -> None:
    page = visit(pages.pull_request(), javascript=False)
    between = """all => all.filter(one => one.nextSibling?.textContent[0] === ",").map(one => {
      const range = document.createRange();
      range.setStart(one.nextSibling, 0);
      range.setEnd(one.nextSibling, 1);
      return Math.abs(range.getBoundingClientRect().bottom - [...one.getClientRects()].at(-1).bottom);
    })"""  # noqa: E501
    apart = []
    for width in range(360, 960, 40):
        page.set_viewport_size({"width": width, "height": DESK[1]})
        apart += page.locator("main .verdict p .id").evaluate_all(between)

    assert len(apart) > 100
    assert max(apart) < 5  # pixels; a line is 24 of them


@pytest.mark.parametrize(
    "kind", ["comparison", pytest.param("three runs", marks=pytest.mark.slow), "one run", "gate"]
)
def test_without_scripts_the_verdict_and_the_tables_are_there(visit: Visits, kind: str) -> None:
    page = visit(EVERY[kind](), javascript=False, size=PHONE)

    assert page.locator("h1").is_visible()
    assert page.locator("section.verdict table").first.is_visible()
    assert page.locator("#changes table a").first.is_visible()
    assert "need JavaScript" in str(page.locator("noscript").text_content())
    assert page.get_by_text("equal scores by document id").first.is_visible()
    hidden = page.locator("button:visible")
    assert hidden.count() == 0  # what does nothing is not offered


@pytest.mark.slow
def test_the_theme_goes_round_and_wins_over_the_system(shared: Shared) -> None:
    page = shared.report(pages.three(), scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)

    button = page.locator("#theme")
    seen = {}
    for theme in ("Theme: dark", "Theme: light", "Theme: auto"):
        button.click()
        expect(button).to_have_text(theme)
        seen[theme] = page.evaluate(paper)

    assert seen["Theme: auto"] == seen["Theme: dark"] == dark != seen["Theme: light"]


def test_print_has_everything_but_what_is_clicked(shared: Shared) -> None:
    page = shared.report(pages.demo(), scheme="dark")
    page.emulate_media(media="print", color_scheme="light")

    assert not page.locator("#theme").is_visible()
    assert not page.locator("#download").is_visible()
    assert page.locator("h1").is_visible()
    channels = [
        int(part)
        for part in re.findall(
            r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor")
        )[:3]
    ]
    assert (
        channels == [255, 255, 255]
        or page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgba(0, 0, 0, 0)"
    )
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.slow
def test_who_asks_for_little_motion_gets_none(shared: Shared) -> None:
    page = shared.report(pages.three())
    moving = page.evaluate(
        """[...document.querySelectorAll('*')].filter(one => {
          const style = getComputedStyle(one);
          return [style.transitionDuration, style.animationDuration].some(all => all.split(', ').some(part => parseFloat(part) > 0.01));
        }).map(one => one.outerHTML.slice(0, 80))"""  # noqa: E501
    )
    assert moving == []
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def use(page: "Page") -> None:
    """Every choice of every select, every part that opens, every button and link above the
    queries.
    """
    for place in page.locator("select").all():
        values = place.locator("option").evaluate_all("all => all.map(one => one.value)")
        for value in [*values[1:], values[0]]:
            place.select_option(value)
    press(page, "main summary, main button:enabled, header button")
    press(page, "nav a")
    page.locator("#download").click()
    press(page, "#downloads section:first-child button, #downloads-close")


def press(page: "Page", those: str) -> None:
    for one in page.locator(those).all():
        if one.is_visible() and one.is_enabled():
            one.click()
            if "#downloads" not in those and page.locator("#downloads[open]").count():
                page.keyboard.press("Escape")
                closed(page)


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
def test_everything_that_can_be_used_can_be_used(shared: Shared, kind: str) -> None:
    """What goes wrong meanwhile the fixture notices."""
    page = drawn(shared.report(EVERY[kind]()))

    use(page)
    for link in page.locator("#changes a").all()[:2]:
        link.click()
        shows_query(page)
        press(page, "#query-view .buttons button:not(#query-close)")
        press(page, "#query-body button, #query-body input:enabled, #query-body summary")
        page.keyboard.press("Escape")
        closed(page)
    assert page.locator("#failed").is_hidden()
