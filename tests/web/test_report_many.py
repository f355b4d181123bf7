"""Twelve runs, names that are long or mean something to JavaScript, a phone, titles of documents,
and the menu of downloads.
"""

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import idealrank as ir
from tests.web import pages
from tests.web.browsing import (
    DESK,
    PHONE,
    Shared,
    axe,
    closed,
    drawn,
    expect,
    pointed,
    shot,
    shows_query,
    sideways,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page

BOXES = """all => all.filter(one => one.textContent).map(one => {
  const {x, y, width, height} = one.getBoundingClientRect();
  return [one.textContent, x, y, width, height];
})"""


def texts(page: "Page", plot: str) -> "list[tuple[str, float, float, float, float]]":
    """Every text of a plot with its place."""
    found: list[tuple[str, float, float, float, float]] = page.locator(
        f"#{plot} svg text"
    ).evaluate_all(BOXES)
    return found


def overlapping(boxes: "list[tuple[str, float, float, float, float]]") -> list[tuple[str, str]]:
    """Texts that cover each other by more than a pixel, the room above and below letters left
    aside.
    """
    return [
        (one[0], other[0])
        for one, other in itertools.combinations(boxes, 2)
        if min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1]) > 1
        and min(one[2] + one[4], other[2] + other[4]) - max(one[2], other[2]) > 4
    ]


@pytest.mark.parametrize(
    "size", [DESK, pytest.param(PHONE, marks=pytest.mark.slow)], ids=["desk", "phone"]
)
def test_names_of_forty_letters_run_into_nothing(shared: Shared, size: tuple[int, int]) -> None:
    page = drawn(shared.report(pages.long_names(), size=size))
    shot(page, f"long-names-{size[0]}", full_page=True)

    for plot in ("scatter", "winloss", "distribution", "cutoffs", "means"):
        found = texts(page, plot)
        assert len(found) > 5, plot
        assert overlapping(found) == [], plot
        frame = page.locator(f"#plot-{plot}").bounding_box() or {}
        assert all(
            x >= frame["x"] - 1 and x + width <= frame["x"] + frame["width"] + 1
            for _, x, _, width, _ in found
        ), plot
    assert sideways(page) == 0


@pytest.mark.slow
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_of_twelve_runs_each_line_has_its_own_name_and_the_pair_stands_out_without_colours(
    shared: Shared, size: tuple[int, int]
) -> None:
    page = drawn(shared.report(pages.twelve(), size=size))
    shot(page, f"twelve-{size[0]}", full_page=True)

    names = [
        text for text in texts(page, "cutoffs") if text[0][:1].isalpha() or text[0][:1] in "_…"
    ]
    labels = [one for one in names if one[0] != "cutoff" and not one[0].startswith("mean ")]
    assert len({text for text, *_ in labels}) == len(labels) == 12
    assert overlapping(labels) == []
    lines = page.locator("#cutoffs svg .mark-line path").evaluate_all(
        "all => all.map(getComputedStyle).map(one => [one.strokeDasharray, "
        "parseFloat(one.strokeWidth)])"
    )
    assert len(lines) == 12
    (b,), (a,) = ([dash for dash, width in lines if width == wide] for wide in (2.2, 1.8))
    assert b in {"none", "1px, 0px"}
    assert a == "7px, 3px"
    assert len({dash for dash, width in lines if width == 1}) == 4
    assert sideways(page) == 0
    assert overlapping(texts(page, "scatter")) == []


@pytest.mark.slow  # the same of pages with two runs is in the default run
def test_names_that_every_object_has_break_no_plot(shared: Shared) -> None:
    page = drawn(shared.report(pages.twelve()))
    plots = page.locator("figure[data-plot]")

    assert page.locator("#changes .about").inner_text().startswith("By nDCG@10, toString against")
    assert (
        plots.evaluate_all(
            "all => all.filter(one => !one.querySelector('svg, canvas')).map(one => "
            "one.dataset.plot)"
        )
        == []
    )
    assert "toString" in [text for text, *_ in texts(page, "distribution")]
    for name in ("constructor", "__proto__"):
        page.locator("select[name=b]").select_option(label=name)
        page.wait_for_function(
            "name => document.querySelector('#plot-distribution').ariaLabel.includes(`${name} "
            "is better on`)",
            arg=name,
        )
        drawn(page)
        assert name in [text for text, *_ in texts(page, "distribution")]


@pytest.mark.slow  # what the pointer says of two runs is in the default run
def test_the_pointer_tells_the_shares_of_all_runs_by_their_names(shared: Shared) -> None:
    page = drawn(shared.report(pages.twelve()))
    drawing = page.locator("#distribution svg").first
    drawing.scroll_into_view_if_needed()

    tip = pointed(page, drawing, page.locator("#plot-tip"))

    told = [line.rsplit(" ", 1) for line in tip.inner_text().splitlines()[1:]]
    assert {name for name, _ in told} == {"dense", *pages.LONG, *pages.OBJECTS}
    assert all(share.endswith("%") for _, share in told)


@pytest.mark.slow
def test_on_a_phone_the_verdict_is_read_without_scrolling_sideways(shared: Shared) -> None:
    page = shared.report(pages.demo(), size=PHONE)

    cell = page.locator(".verdict .table tbody tr").first.locator("td").first

    assert cell.inner_text() == "better"
    box = cell.bounding_box() or {}
    assert 0 < box["x"] < box["x"] + box["width"] < PHONE[0]


@pytest.mark.slow
def test_titles_stand_before_ids_in_rankings_and_sentences(shared: Shared) -> None:
    page = shared.report(pages.twelve())

    page.locator("#regressions a").first.click()
    shows_query(page)

    cell = page.locator(".query-ranking .query-document").nth(1)
    assert cell.locator("> *").evaluate_all("all => all.map(one => one.className)") == [
        "query-text",
        "query-id",
    ]
    sizes = cell.locator("> *").evaluate_all(
        "all => all.map(one => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert sizes[1] < sizes[0]
    named = page.locator(".query-why [data-document]").first
    assert named.inner_text().startswith("Title number ")
    assert named.locator(".id").inner_text().startswith("d")


@pytest.mark.slow
def test_one_menu_has_every_file_and_is_used_by_keyboard_alone(shared: Shared) -> None:
    page = drawn(shared.report(pages.demo()))
    page.locator("#download").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#downloads[open]")

    shot(page, "downloads")
    assert axe(page, within="#downloads") == ""
    headings = page.locator("#downloads li > span:first-child").all_inner_texts()
    assert headings[:3] == ["Queries as the table shows them", "All queries", "Means"]
    assert {"Paired", "Wins and losses", "minilm against bm25"} <= set(headings)
    assert page.locator("main button", has_text="CSV").count() == 0  # they are nowhere else
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "downloads-close"
    for _ in range(4):
        page.keyboard.press("Tab")
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
    page.keyboard.press("Escape")

    closed(page)
    expect(page.locator("#download")).to_be_focused()
    assert saved.value.suggested_filename == "all-queries.json"
    found = json.loads(Path(saved.value.path()).read_text(encoding="utf-8"))
    assert found["runs"] == ["bm25", "minilm"]
    wanted = [ir.evaluate(pages.QRELS, run, pages.MEASURES) for run in (pages.BM25, pages.MINILM)]
    assert [one["query"] for one in found["queries"]] == list(wanted[0].queries)
    for name, evaluation in zip(found["runs"], wanted, strict=True):
        for measure in pages.MEASURES:
            assert [one["values"][measure][name] for one in found["queries"]] == evaluation[
                measure
            ].tolist()


def test_without_a_script_nothing_is_offered_that_needs_one(shared: Shared) -> None:
    assert 'id="download" aria-haspopup="dialog" hidden' in pages.demo()
