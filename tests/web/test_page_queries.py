"""Filters, sorting, choices of pairs, and numbers taken along, against plain counts and the
evaluations themselves.
"""

import csv
import io
import re

import pytest

import idealrank as ir
from idealrank.pages.page.html import page_html
from idealrank.reports.subject import Listing, Made, QueryLists, Subject
from tests.web.browsing import address, closed, copied, expect, ready

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

N = 130


def subject(runs=2) -> Subject:
    """Query i: its document at rank i % 5 + 1 in the first run; the second run is one rank better,
    but for every tenth, which it loses.
    """
    qrels = {f"q{i}": {"x": 1} for i in range(N)}
    rankings = {
        "bm25": lambda i: i % 5,
        "new": lambda i: 9 if i % 10 == 7 else max(i % 5 - 1, 0),
        "third": lambda i: 2,
    }
    evaluations = []
    for name, ranks in list(rankings.items())[:runs]:
        run = ir.Run(
            {f"q{i}": [f"w{k}" for k in range(ranks(i))] + ["x"] for i in range(N)}, name=name
        )
        evaluations.append(ir.evaluate(qrels, run, ["RR", "nDCG@5"]))
    slices = {f"q{i}": "short" if i % 3 else "long" for i in range(N)}
    comparison = ir.compare(*evaluations, slices=slices)
    listing = Listing(
        documents=("w0", "x"), grades=(None, 1.0), tied=(False, False), added=(0.0, 0.5), length=2
    )
    return Subject(
        evaluations=tuple(evaluations),
        measures=evaluations[0].measures,
        means=comparison.means,
        comparison=comparison,
        categories={query: (name,) for query, name in slices.items()},
        lists={"q7": QueryLists(runs=(listing,) * runs, relevant=(("x", 1.0),))},
        query_texts={"q7": "how to lose", "q17": "lose, again"},
        made=Made(command="idealrank compare q a b", inputs=(("q.txt", "ab" * 32),)),
    )


@pytest.fixture(scope="module")
def two_runs() -> str:
    return page_html(subject())


@pytest.fixture
def page(shared, two_runs):
    return shared.report(two_runs)


def rows(page) -> list[list[str]]:
    return page.locator(".queries tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )


@pytest.mark.slow
def test_escape_closes_a_query_and_the_keyboard_is_where_it_was(page):
    page.locator("#regressions a").nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")

    page.keyboard.press("Escape")

    closed(page)
    assert page.evaluate(
        "document.activeElement.dataset.query ?? document.activeElement.textContent"
    ) in {"q17", "lose, again", "17"}


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        ("wins", lambda i: i % 10 != 7 and i % 5),
        ("losses", lambda i: i % 10 == 7),
        ("ties", lambda i: i % 5 == 0),
        ("rankings", lambda i: i == 7),
    ],
)
def test_filters_agree_with_a_plain_count(page, only, expected):
    page.select_option("select[name=only]", only)

    count = sum(bool(expected(i)) for i in range(N))
    assert page.locator(".count").inner_text() == f"{count} of 130 queries"


@pytest.mark.slow
def test_slice_range_and_search_narrow_together(page):
    page.select_option("select[name=slice]", "long")
    page.fill("input[name=to]", "-0.1")
    expected = [
        f"q{i}"
        for i in range(N)
        if i % 3 == 0 and 1 / max(10 if i % 10 == 7 else max(i % 5, 1), 1) - 1 / (i % 5 + 1) <= -0.1
    ]
    assert [re.match(r"q\d+|.* (q\d+)", row[0])[0].split()[-1] for row in rows(page)] == expected

    page.click("text=Clear")
    expect(page.locator("input[name=to]")).to_have_value("")
    page.fill("input[type=search]", "LOSE q1")

    assert [row[0] for row in rows(page)] == ["lose, again q17 values only"]
    assert "find=LOSE%20q1" in address(page)


@pytest.mark.slow
def test_columns_sort_both_ways_and_say_so(page):
    button = page.get_by_role("button", name="difference")
    button.click()
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("difference")
    first = [row[3] for row in rows(page)]

    button.click()

    expect(page.locator("th[aria-sort=descending]")).to_contain_text("difference")
    assert first[0] == "\u22120.2333"
    assert rows(page)[0][3] == "+0.5000"
    expect(button).to_be_focused()


def test_the_file_of_all_queries_has_every_digit(page):
    page.locator("#query-table").get_by_role("button", name="Download").click()
    with page.expect_download() as started:
        page.get_by_role("button", name="Download All queries as CSV").click()

    found = list(
        csv.DictReader(io.StringIO(started.value.path().read_text(encoding="utf-8"), newline=""))
    )

    one = subject().evaluations
    assert [row["query"] for row in found] == list(one[0].queries)
    assert [float(row["RR bm25"]) for row in found] == one[0]["RR"].tolist()
    assert [float(row["nDCG@5 new"]) for row in found] == one[1]["nDCG@5"].tolist()
    assert found[17]["text"] == "lose, again"


def test_rows_commands_and_hashes_are_copied(page):
    page.fill("input[type=search]", "q17")
    lines = copied(page, page.locator("text=Copy rows").click).splitlines()
    assert lines[1].split("\t")[:4] == ["q17", "lose, again", str(1 / 3), "0.1"]

    assert copied(page, page.locator("text=Copy SHA-256").click) == "ab" * 32


@pytest.mark.slow
def test_another_measure_is_shown_everywhere(page):
    page.select_option("#choose select", label="nDCG@5")

    assert page.locator("#changes .about").inner_text().startswith("By nDCG@5")
    assert page.locator("#regressions tbody td").nth(1).inner_text() == "0.0000"


@pytest.mark.slow
def test_three_runs_have_a_choice_of_pairs(visit):
    page = ready(visit(page_html(subject(runs=3))))
    page.select_option("#choose select[name=b]", label="third")

    assert page.locator("#changes .about").inner_text().startswith("By RR, third against bm25")
    assert [head.strip() for head in page.locator(".queries thead th").all_inner_texts()] == [
        "query",
        "bm25",
        "third",
        "difference",
        "slice",
        "new",
    ]
    page.select_option("#choose select[name=b]", label="bm25")
    assert page.locator("#choose select[name=a]").input_value() == "2"


@pytest.mark.slow
def test_a_table_behind_a_plot_is_taken_along_with_all_its_digits(page):
    page.click("#download")

    with page.expect_download() as started:
        page.get_by_role(
            "button", name="Download Means of the runs with 95 % intervals as CSV"
        ).click()

    found = list(
        csv.DictReader(io.StringIO(started.value.path().read_text(encoding="utf-8"), newline=""))
    )
    means = subject().means["RR"]
    assert [row["run"] for row in found] == ["bm25", "new"]
    assert [float(row["RR"]) for row in found] == [one.mean for one in means.values()]
    assert [float(row["RR interval low"]) for row in found] == [
        one.interval[0] for one in means.values()
    ]


@pytest.mark.slow
def test_controls_keep_their_height_on_a_phone(visit, two_runs):
    page = ready(visit(two_runs, size=(360, 740)))

    heights = page.locator(".controls input, .controls select").evaluate_all(
        "all => all.map(one => one.offsetHeight)"
    )

    assert max(heights) <= 40
