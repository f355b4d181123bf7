"""The table of all queries, the largest changes, links, copies and the window of one query, as a reader uses them."""

import csv
import io
import json
import re

import pytest

import idealrank as ir
from idealrank.reports.page.html import page_html
from idealrank.reports.page.subject import Listing, Made, QueryLists, Subject
from tests.unit.test_page import HOSTILE, hostile
from tests.web import browsing

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

N = 130


def subject(runs=2) -> Subject:
    """Query i: its document at rank i % 5 + 1 in the first run; the second run is one rank better, but for every tenth, which it loses."""
    qrels = {f"q{i}": {"x": 1} for i in range(N)}
    rankings = {"bm25": lambda i: i % 5, "new": lambda i: 9 if i % 10 == 7 else max(i % 5 - 1, 0), "third": lambda i: 2}
    evaluations = []
    for name, ranks in list(rankings.items())[:runs]:
        run = ir.Run({f"q{i}": [f"w{k}" for k in range(ranks(i))] + ["x"] for i in range(N)}, name=name)
        evaluations.append(ir.evaluate(qrels, run, ["RR", "nDCG@5"]))
    slices = {f"q{i}": "short" if i % 3 else "long" for i in range(N)}
    comparison = ir.compare(*evaluations, slices=slices)
    listing = Listing(documents=("w0", "x"), grades=(None, 1.0), tied=(False, False), added=(0.0, 0.5), length=2)
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
def page(visit, two_runs):
    opened = visit(two_runs)
    opened.wait_for_selector("html[data-ready]")
    return opened


def rows(page) -> list[list[str]]:
    return page.locator(".queries tbody tr").evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.textContent))")


def test_the_worst_query_is_one_click_from_the_top(page):
    assert page.locator("#regressions tbody tr").first.inner_text().split() == [
        "how",
        "to",
        "lose",
        "q7",
        "0.3333",
        "0.1000",
        "\u22120.2333",
    ]

    page.click("#regressions a >> nth=0")

    page.wait_for_selector("dialog[open]")
    assert page.locator("#query-title").inner_text() == "how to lose"
    assert page.url.endswith("#query=q7")


def test_back_and_forward_close_and_open_a_query(page):
    page.click("#regressions a >> nth=0")
    page.wait_for_selector("dialog[open]")

    page.go_back()
    page.wait_for_selector("dialog:not([open])", state="attached")
    page.go_forward()

    page.wait_for_selector("dialog[open]")


def test_escape_closes_a_query_and_the_keyboard_is_where_it_was(page):
    page.locator("#regressions a").nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")

    page.keyboard.press("Escape")

    page.wait_for_selector("dialog:not([open])", state="attached")
    assert "query" not in page.url.partition("#")[2]
    assert page.evaluate("document.activeElement.dataset.query ?? document.activeElement.textContent") in {"q17", "lose, again", "17"}


def test_a_link_opens_its_query_with_the_measure_that_was_chosen(visit, two_runs):
    page = visit(two_runs, fragment="#query=q17&measure=1")

    page.wait_for_selector("dialog[open]")

    assert page.locator("#query-title").inner_text() == "lose, again"
    assert page.locator("#choose select").input_value() == "1"


def test_all_queries_stand_in_sheets_of_fifty(page):
    assert page.locator(".count").inner_text() == "130 queries"
    assert len(rows(page)) == 50

    page.click("text=Next 50")
    page.click("text=Next 50")

    assert [row[0] for row in rows(page)] == [f"q{i}values only".replace("values only", " values only") for i in range(100, 130)]
    assert page.locator("text=Next 50").is_disabled()


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


def test_slice_range_and_search_narrow_together(page):
    page.select_option("select[name=slice]", "long")
    page.fill("input[name=to]", "-0.1")
    expected = [f"q{i}" for i in range(N) if i % 3 == 0 and 1 / max(10 if i % 10 == 7 else max(i % 5, 1), 1) - 1 / (i % 5 + 1) <= -0.1]
    assert [re.match(r"q\d+|.* (q\d+)", row[0])[0].split()[-1] for row in rows(page)] == expected

    page.click("text=Clear")
    page.fill("input[type=search]", "LOSE q1")

    assert [row[0] for row in rows(page)] == ["lose, again q17 values only"]
    assert "find=LOSE%20q1" in page.url


def test_columns_sort_both_ways_and_say_so(page):
    button = page.get_by_role("button", name="difference")
    button.click()
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("difference")
    first = [row[3] for row in rows(page)]

    button.click()

    assert page.locator("th[aria-sort=descending]").inner_text().startswith("difference")
    assert first[0] == "\u22120.2333"
    assert rows(page)[0][3] == "+0.5000"
    assert button.evaluate("button => button === document.activeElement")


def test_the_file_of_all_queries_has_every_digit(page):
    with page.expect_download() as started:
        page.click("text=Download CSV")

    found = list(csv.DictReader(io.StringIO(started.value.path().read_text(encoding="utf-8"), newline="")))

    one = subject().evaluations
    assert [row["query"] for row in found] == list(one[0].queries)
    assert [float(row["RR bm25"]) for row in found] == one[0]["RR"].tolist()
    assert [float(row["nDCG@5 new"]) for row in found] == one[1]["nDCG@5"].tolist()
    assert found[17]["text"] == "lose, again"


def test_rows_commands_and_hashes_are_copied(page):
    page.fill("input[type=search]", "q17")
    page.click("text=Copy rows")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[1].split("\t")[:4] == ["q17", "lose, again", str(1 / 3), "0.1"]

    page.click("text=Copy SHA-256")

    assert page.evaluate("navigator.clipboard.readText()") == "ab" * 32


def test_another_measure_is_shown_everywhere(page):
    page.select_option("#choose select", label="nDCG@5")

    assert page.locator("#changes .about").inner_text().startswith("By nDCG@5")
    assert page.locator("#regressions tbody td").nth(1).inner_text() == "0.0000"


def test_three_runs_have_a_choice_of_pairs(visit):
    page = visit(page_html(subject(runs=3)))
    page.wait_for_selector("html[data-ready]")
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


def test_hostile_names_stay_texts(visit):
    page = visit(page_html(hostile()))
    page.wait_for_selector("html[data-ready]")

    assert page.locator(".queries tbody tr").count() == len(HOSTILE)
    assert page.locator("img").count() == 0
    for query in (0, 5, 7, 8):
        page.locator(f'.queries a[data-query="{query}"]').click()
        page.wait_for_selector("dialog[open]")
        title = page.locator("#query-title").inner_text()
        assert "\u202e" not in title
        page.reload()
        page.wait_for_selector("dialog[open]")
        assert page.locator("#query-title").inner_text() == title
        page.click("#query-close")


def test_scripts_decode_what_python_wrote(visit):
    one = subject()
    page = visit(page_html(one))
    page.wait_for_selector("html[data-ready]")

    packed = page.evaluate(
        """async () => {
      const bytes = Uint8Array.from(atob(document.getElementById("page-data").textContent), letter => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      return await new Response(stream).text();
    }"""
    )

    assert json.loads(packed)["queries"] == list(one.queries)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(visit, two_runs, scheme):
    page = visit(two_runs, scheme=scheme, reduced_motion=True)
    page.wait_for_selector("html[data-ready]")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert browsing.axe(page) == ""

    page.click("#regressions a >> nth=0")
    page.wait_for_selector("dialog[open]")

    assert browsing.axe(page) == ""


def test_a_phone_never_scrolls_sideways(visit, two_runs):
    page = visit(two_runs, size=browsing.PHONE)
    page.wait_for_selector("html[data-ready]")
    assert browsing.sideways(page) == 0

    page.click("#regressions a >> nth=0")
    page.wait_for_selector("dialog[open]")

    assert browsing.sideways(page) == 0
    assert page.evaluate("(d => d.scrollWidth - d.clientWidth)(document.querySelector('dialog'))") == 0


def test_the_theme_goes_round(page):
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)

    page.click("#theme")

    assert page.locator("#theme").inner_text() == "Theme: dark"
    assert page.evaluate(paper) != light
    page.click("#theme")
    assert page.evaluate(paper) == light


def test_without_scripts_sentences_and_tables_remain(visit, two_runs):
    page = visit(two_runs, javascript=False)

    assert page.locator("h1").inner_text().endswith("than bm25.")
    assert page.locator("#regressions tbody tr").count() == 8
    assert page.locator("#theme").is_hidden()
    assert "need JavaScript" in page.locator("#plots").inner_text()
