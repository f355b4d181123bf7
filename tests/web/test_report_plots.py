"""Plots of a report: drawn when they come near, hovered, clicked, and in the colours of the
theme.
"""

import re
from typing import TYPE_CHECKING

import pytest

from tests.web import pages
from tests.web.browsing import Shared, drawn, expect, shows_query

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

DRAWN = ["means", "distribution", "scatter", "winloss", "cutoffs", "slices", "robust"]
MARKS = {"scatter": ".mark-symbol path", "winloss": ".mark-rect path"}


def plot(page: "Page", name: str) -> "Locator":
    """The drawing, once it is there."""
    place = page.locator(f"#plot-{name}")
    place.scroll_into_view_if_needed()
    drawing = place.locator("svg.marks, canvas").first
    drawing.wait_for()
    return drawing


def test_all_are_drawn_and_say_what_they_show(shared: Shared) -> None:
    page = drawn(shared.report(pages.demo()))

    said = {}
    for name in DRAWN:
        plot(page, name)
        said[name] = page.locator(f"#plot-{name}").get_attribute("aria-label")

    assert all(said.values()), said
    assert len(set(said.values())) == len(DRAWN)
    assert page.locator("#failed").is_hidden()


@pytest.mark.parametrize("name", MARKS)
def test_a_mark_names_its_query_and_opens_it(shared: Shared, name: str) -> None:
    page = drawn(shared.report(pages.demo()))
    drawing = plot(page, name)
    mark = drawing.locator(MARKS[name]).first

    mark.hover(force=True)
    tip = page.locator("#plot-tip:not([hidden])")
    tip.wait_for()
    said = tip.inner_text()
    mark.click(force=True)

    shows_query(page)
    assert page.locator("#query-title").inner_text() in said


@pytest.mark.slow
def test_they_follow_the_measure_and_the_theme(shared: Shared) -> None:
    page = drawn(shared.report(pages.three()))
    before = plot(page, "winloss").inner_html()
    page.locator("select[name=measure]").select_option("1")
    page.locator("#plot-winloss").scroll_into_view_if_needed()

    expect(drawn(page).locator("#plot-winloss")).to_have_attribute("aria-label", re.compile("RR"))
    assert plot(page, "winloss").inner_html() != before
