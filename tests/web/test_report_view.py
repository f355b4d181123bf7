"""One query of a report, opened: by mouse, by keyboard, by a link, from a plot; and closed again."""

import re
from typing import TYPE_CHECKING

import pytest

from tests.web import pages
from tests.web.browsing import Shared, Visits, closed

if TYPE_CHECKING:
    from playwright.sync_api import Page

WORST = "q46"  # of the demo: what `idealrank why` names first


def opened(page: "Page") -> str:
    """Text of the query that is open; empty where none is."""
    view = page.locator("#query-view[open]")
    return view.inner_text() if view.count() else ""


def test_a_query_opens_with_both_rankings_and_closes_where_it_began(shared: Shared) -> None:
    page = shared.report(pages.demo())
    link = page.locator("#regressions a").first

    link.click()
    said = opened(page)
    assert WORST in said
    assert re.search(r"nDCG@10 fell from 0\.7039 to 0\.2346", said)
    assert page.locator("#query-body table").count() >= 2
    page.keyboard.press("Escape")

    closed(page)
    assert page.evaluate("location.hash") in {"", "#"}
    assert link.evaluate("one => one === document.activeElement")


def test_the_keyboard_alone_reaches_the_worst_query(visit: Visits) -> None:
    page = visit.report(pages.demo())

    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('#regressions a') !== null"):
            break
    page.keyboard.press("Enter")

    assert WORST in opened(page)
    assert page.evaluate("document.activeElement.closest('dialog') !== null")
    for _ in range(60):  # the focus stays within what is open, and reaches its button
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "query-close":
            break
    page.keyboard.press("Enter")
    closed(page)


def test_a_link_opens_its_query_and_the_back_button_closes_it(visit: Visits) -> None:
    page = visit.report(pages.demo(), fragment="#query=q05")
    assert "serialize an object to a json string" in opened(page)
    page.locator("#query-link").click()
    assert page.evaluate("navigator.clipboard.readText()").endswith("#query=q05")
    page.locator("#query-close").click()
    closed(page)
    page.locator("#gains a").first.click()
    page.mouse.move(0, 0)
    best = opened(page)

    page.go_back()
    closed(page)
    page.go_forward()
    page.wait_for_selector("#query-view[open]")
    assert opened(page) == best


@pytest.mark.slow
def test_next_and_previous_go_through_the_table_as_it_is_sorted(shared: Shared) -> None:
    page = shared.report(pages.demo())
    page.locator("#query-table thead button", has_text="difference").click()
    listed = page.locator("#query-table [data-query]").evaluate_all("all => all.map(one => one.innerText)")

    page.locator("#query-table [data-query]").first.click()
    seen = [page.locator("#query-title").inner_text()]
    assert page.locator("#query-before").is_disabled()
    for _ in range(3):
        page.locator("#query-after").click()
        seen.append(page.locator("#query-title").inner_text())

    assert seen == listed[:4]
    page.locator("#query-before").click()
    assert page.locator("#query-title").inner_text() == listed[2]


@pytest.mark.slow
def test_another_measure_and_pair_change_what_is_shown(shared: Shared) -> None:
    page = shared.report(pages.three())
    by_first = page.locator("#regressions").inner_text()

    page.locator("select[name=measure]").select_option("1")
    page.locator("select[name=a]").select_option("0")

    assert page.locator("#changes .about").inner_text() == "By RR, third against first. A query opens its rankings."
    assert page.locator("#regressions").inner_text() != by_first
    page.locator("#regressions a").first.click()
    assert "RR fell from" in opened(page)
    box = page.get_by_role("checkbox", name="second")  # the run that is not of the pair can stand beside it
    box.check()
    assert page.locator("#query-body table").count() >= 3
