"""One query of a report, opened: by mouse, by keyboard, by a link, from a plot; and closed
again.
"""

import re

import pytest

from tests.web import pages
from tests.web.browsing import Shared, Visits, closed, copied, expect, shows_query

WORST = "q46"  # of the demo: what `idealrank why` names first


def test_a_query_opens_with_both_rankings_and_closes_where_it_began(shared: Shared) -> None:
    page = shared.report(pages.demo())
    link = page.locator("#regressions a").first

    link.click()
    view = shows_query(page)
    expect(view).to_contain_text(WORST)
    expect(view).to_contain_text(re.compile(r"nDCG@10 fell from 0\.7039 to 0\.2346"))
    assert page.locator("#query-body table").count() >= 2
    page.keyboard.press("Escape")

    closed(page)
    assert page.evaluate("location.hash") in {"", "#"}
    expect(link).to_be_focused()


@pytest.mark.slow
def test_the_keyboard_alone_reaches_the_worst_query(visit: Visits) -> None:
    page = visit.report(pages.demo())

    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('#regressions a') !== null"):
            break
    page.keyboard.press("Enter")

    expect(shows_query(page)).to_contain_text(WORST)
    assert page.evaluate("document.activeElement.closest('dialog') !== null")
    for _ in range(60):  # the focus stays within what is open, and reaches its button
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "query-close":
            break
    page.keyboard.press("Enter")
    closed(page)


@pytest.mark.slow
def test_a_link_opens_its_query_and_the_back_button_closes_it(visit: Visits) -> None:
    page = visit.report(pages.demo(), fragment="#query=q05")
    expect(shows_query(page)).to_contain_text("serialize an object to a json string")
    assert copied(page, page.locator("#query-link").click).endswith("#query=q05")
    page.locator("#query-close").click()
    closed(page)
    page.locator("#gains a").first.click()
    page.mouse.move(0, 0)
    # What is said of the query, and not all that the view holds: its button may still say that a
    # link was copied.
    parts = [
        shows_query(page).locator(place)
        for place in ("#query-title", "#query-facts", "#query-body", "#query-values")
    ]
    best = [part.inner_text() for part in parts]

    page.go_back()
    closed(page)
    page.go_forward()
    shows_query(page)
    for part, said in zip(parts, best, strict=True):
        expect(part).to_have_text(said, use_inner_text=True)


@pytest.mark.slow
def test_next_and_previous_go_through_the_table_as_it_is_sorted(shared: Shared) -> None:
    page = shared.report(pages.demo())
    page.locator("#query-table thead button", has_text="difference").click()
    page.wait_for_selector("#query-table th[aria-sort=ascending]")
    listed = page.locator("#query-table [data-query]").evaluate_all(
        "all => all.map(one => one.innerText)"
    )

    page.locator("#query-table [data-query]").first.click()
    shows_query(page)
    title = page.locator("#query-title")
    expect(title).to_have_text(listed[0])
    expect(page.locator("#query-before")).to_be_disabled()
    for name in listed[1:4]:
        page.locator("#query-after").click()
        expect(title).to_have_text(name)

    page.locator("#query-before").click()
    expect(title).to_have_text(listed[2])


@pytest.mark.slow
def test_another_measure_and_pair_change_what_is_shown(shared: Shared) -> None:
    page = shared.report(pages.three())
    by_first = page.locator("#regressions").inner_text()

    page.locator("select[name=measure]").select_option("1")
    page.locator("select[name=a]").select_option("0")

    expect(page.locator("#changes .about")).to_have_text(
        "By RR, third against first. A query opens its rankings."
    )
    assert page.locator("#regressions").inner_text() != by_first
    page.locator("#regressions a").first.click()
    expect(shows_query(page)).to_contain_text("RR fell from")
    # the run that is not of the pair can stand beside it
    box = page.get_by_role("checkbox", name="second")
    expect(page.locator("#query-body .query-ranking")).to_have_count(2)
    box.check()
    expect(page.locator("#query-body .query-ranking")).to_have_count(3)
