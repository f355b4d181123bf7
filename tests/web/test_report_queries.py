"""The table of all queries of a report: filter, search, sort, sheets, links, CSV and the
clipboard.
"""

import csv
import dataclasses
import io
from typing import TYPE_CHECKING

import numpy as np
import pytest

import idealrank as ir
from tests.in_process import run
from tests.web import pages
from tests.web.browsing import Shared, Visits, copied, expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

RUNS = ("bm25", "minilm")


@pytest.fixture
def page(shared: Shared) -> "Page":
    return shared.report(pages.demo())


def rows(page: "Page") -> list[list[str]]:
    """Texts of the cells of the table, as they are shown."""
    return page.locator("#query-table tbody tr").evaluate_all(
        "all => all.map(row => [...row.children].map(cell => cell.innerText.trim()))"
    )


def number(text: str) -> float:
    return float(text.replace("\u2212", "-"))


def known() -> dict[tuple[str, str, str], float]:
    """Values by run, query and measure, as `idealrank evaluate --per-query` prints them."""
    arguments = [
        "evaluate",
        pages.QRELS,
        pages.BM25,
        pages.MINILM,
        "--per-query",
        "--format",
        "csv",
    ]
    code, said, problem = run(
        [*arguments, *(word for measure in pages.MEASURES for word in ("-m", measure))]
    )
    assert code == 0, problem
    return {
        (row["run"], row["query"], row["measure"]): float(row["value"])
        for row in csv.DictReader(io.StringIO(said))
    }


def test_the_downloaded_table_has_the_numbers_of_the_command(page: "Page") -> None:
    page.locator("#query-table").get_by_role("button", name="Download").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download Queries as the table shows them as CSV").click()

    text = saved.value.path().read_bytes().decode()
    found = {
        (measure.split(" ")[1], row["query"], measure.split(" ")[0]): float(value)
        for row in csv.DictReader(io.StringIO(text, newline=""))
        for measure, value in row.items()
        if measure not in {"query", "text", "slices"}
    }
    assert saved.value.suggested_filename.endswith(".csv")
    assert found == known()  # to the last digit


@pytest.mark.slow
def test_what_is_filtered_is_what_is_copied(page: "Page") -> None:
    page.locator("select[name=only]").select_option("losses")
    lines = copied(page, page.get_by_role("button", name="Copy rows").click).splitlines()

    values = known()
    losses = {
        query
        for (name, query, measure) in values
        if measure == "nDCG@10"
        and values["minilm", query, measure] < values["bm25", query, measure]
    }
    assert {line.split("\t")[0] for line in lines[1:]} == losses
    assert len(rows(page)) == len(losses)
    assert f"{len(losses)} of 60" in page.locator("#query-table .count").inner_text()


@pytest.mark.slow
def test_heads_sort_by_rising_and_falling_values(page: "Page") -> None:
    head = page.locator("#query-table thead button", has_text="difference")
    head.click()
    page.wait_for_selector("#query-table th[aria-sort=ascending]")
    rising = [number(row[3]) for row in rows(page)]
    head.click()
    page.wait_for_selector("#query-table th[aria-sort=descending]")
    falling = [number(row[3]) for row in rows(page)]

    assert len(rising) == len(falling) == 50
    assert rising == sorted(rising)
    assert falling == sorted(falling, reverse=True)
    assert min(rising) < 0 < max(falling)
    assert (
        page.locator("#query-table th[aria-sort=descending]").inner_text().startswith("difference")
    )
    page.locator("#query-table thead button", has_text="query").first.click()
    expect(page.locator("#query-table th[aria-sort=ascending]")).to_contain_text("query")
    assert [row[0].split()[-1] for row in rows(page)][:2] == ["q01", "q02"]


def test_the_title_of_a_sorted_column_is_one_line(page: "Page") -> None:
    head = page.locator("#query-table thead button", has_text="difference")
    plain = (head.bounding_box() or {})["height"]
    head.click()
    page.wait_for_selector("#query-table th[aria-sort=ascending]")

    assert (head.bounding_box() or {})["height"] == plain


@pytest.mark.slow
def test_words_are_searched_in_ids_and_texts(page: "Page") -> None:
    page.get_by_label("search id and text").fill("json string")
    assert [row[0] for row in rows(page)] == ["serialize an object to a json string q05"]

    page.get_by_label("search id and text").fill("no such query")
    assert rows(page) == []
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#query-table tbody tr")).to_have_count(50)


def test_a_range_and_a_slice_narrow_it_down(page: "Page") -> None:
    page.get_by_label("difference from").fill("0.5")
    page.get_by_label("to", exact=True).fill("0.6")
    assert all(0.5 <= number(row[3]) <= 0.6 for row in rows(page))
    before = len(rows(page))

    page.locator("select[name=slice]").select_option("short")

    assert 0 < len(rows(page)) < before
    assert all("short" in row[4] for row in rows(page))


@pytest.mark.slow
def test_sheets_turn_and_a_link_shows_the_same(page: "Page", visit: Visits) -> None:
    page.get_by_role("button", name="Next 50").click()
    expect(page.locator("#query-table tbody tr")).to_have_count(10)
    page.locator("#query-table thead button", has_text="bm25").click()
    page.wait_for_selector("#query-table th[aria-sort=ascending]")
    page.locator("select[name=only]").select_option("wins")
    seen, fragment = rows(page), page.evaluate("location.hash")

    other = visit.report(pages.demo(), fragment=fragment)

    assert rows(other) == seen
    assert other.locator("select[name=only]").input_value() == "wins"


def test_the_back_button_undoes_a_choice(page: "Page") -> None:
    only = page.locator("select[name=only]")
    only.select_option("wins")
    wins = rows(page)
    only.select_option("losses")
    losses = rows(page)
    assert wins != losses

    page.go_back()
    expect(only).to_have_value("wins")
    assert rows(page) == wins
    page.go_forward()
    expect(only).to_have_value("losses")
    assert rows(page) == losses


@pytest.mark.slow
def test_a_difference_by_rounding_alone_is_none(visit: Visits) -> None:
    qrels = {query: {"x": 1} for query in ("q1", "q2", "q3", "q4")}
    old = ir.evaluate(qrels, {query: ["y", "x"] for query in qrels}, "RR")
    new = dataclasses.replace(old, values=old.values + np.array([[-1e-16], [0.1], [1e-15], [0.0]]))
    comparison = ir.compare(old, new)
    row = comparison.pairs[0].measures["RR"]
    page = visit.report(ir.report(comparison, evaluations=[old, new]))

    assert (row.wins, row.ties, row.losses) == (1, 3, 0)
    assert "No query lost." in page.locator("#regressions").inner_text()
    for only, count in (("wins", row.wins), ("ties", row.ties), ("losses", row.losses)):
        page.locator("select[name=only]").select_option(only)
        assert len(rows(page)) == count, only
