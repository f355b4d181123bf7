"""Ids, names and texts of others are text on a report, wherever they stand."""

from tests.web import pages
from tests.web.browsing import Visits, axe


def test_names_that_mean_harm_are_shown_and_nothing_else_happens(visit: Visits) -> None:
    page = visit.report(pages.hostile())

    assert page.locator("img, svg[onload]").count() == 0
    assert "<img src=x onerror=alert(1)>" in page.locator("h1").inner_text()
    listed = page.locator("#query-table th[scope=row] .id").evaluate_all("all => all.map(one => one.innerText)")
    assert len(listed) == len(pages.HOSTILE)
    assert pages.HOSTILE[0] in listed
    assert "\u202e" not in page.locator("body").inner_text()
    assert axe(page) == ""


def test_each_of_them_opens_by_its_link(visit: Visits) -> None:
    page = visit.report(pages.hostile())

    for place, name in enumerate(pages.HOSTILE):
        page.locator("#query-table [data-query]").nth(place).click()
        said = page.locator("#query-view").inner_text()
        assert name.replace("\u202e", "\\u202e") in said
        assert page.locator("#query-body table").count() >= 2
        page.reload()
        assert page.locator("#query-view[open]").count() == 1
        assert page.locator("#query-view").inner_text() == said
        page.keyboard.press("Escape")
    assert page.locator("img").count() == 0


def test_they_come_out_of_the_table_as_they_went_in(visit: Visits) -> None:
    page = visit.report(pages.hostile())
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download CSV").click()
    text = saved.value.path().read_bytes().decode()
    for name in pages.HOSTILE:
        assert name.replace('"', '""') in text
