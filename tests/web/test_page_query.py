"""The view of one query, used as a reader uses it: by mouse, by keyboard, on a phone, on paper,
with ids that are HTML.
"""

import random
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

import idealrank as ir
from idealrank.pages.page.html import page_html
from idealrank.pages.report.gather import gather
from idealrank.pages.report.material import ReportMaterial
from idealrank.reports.subject import Made, QueryLists
from tests.conftest import PYDOCS
from tests.web.browsing import (
    PHONE,
    Scheme,
    Shared,
    Visits,
    address,
    axe,
    closed,
    copied,
    expect,
    shows_query,
    sideways,
)
from tests.web.colours import SEEN, apart, contrast

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")
HOSTILE = "<img src=x onerror=alert(1)>\u202e&amp;"
LONG = "https://example.org/articles/2024/05/17/a-very-long-address-that-has-no-room-in-any-table/final-part"
# least distance of neighbouring grades in CIE Lab, four times what can just be told apart
NEIGHBOURS = 9.0
FOLLOW = (
    "address => { history.replaceState(null, '', address); dispatchEvent(new "
    "PopStateEvent('popstate')); }"
)
COMMAND = "idealrank compare qrels.txt bm25.run minilm.run --report out.html"


@cache
def demo() -> str:
    """The demo by two measures, of whose queries one has no rankings."""
    qrels, runs = (
        ir.read_qrels(PYDOCS / "qrels.txt"),
        tuple(ir.read_run(PYDOCS / f"{name}.run") for name in ("bm25", "minilm")),
    )
    evaluations = tuple(ir.evaluate(qrels, run, ("nDCG@10", "RR")) for run in runs)
    subject = gather(
        ReportMaterial(
            evaluations=evaluations,
            measures=evaluations[0].measures,
            qrels=qrels,
            runs=runs,
            queries=PYDOCS / "queries.tsv",
            made=Made(command=COMMAND),
        )
    )
    kept = {query: lists for query, lists in subject.lists.items() if query != "q01"}
    return page_html(replace(subject, lists=kept))


@cache
def odd() -> str:
    """Three runs of which one does not answer; ids and texts that are HTML, unjudged, tied, unknown
    documents.
    """
    qrels = ir.Qrels(
        {"q<b>": {HOSTILE: 3, LONG: 2, "low": 1, "none": 0, "missed": 4}, "other": {"low": 1}}
    )
    first = ir.Run(
        {"q<b>": {HOSTILE: 9.0, LONG: 8.0, "unjudged": 8.0, "none": 7.0}, "other": {"low": 1.0}},
        name=f"old {HOSTILE}",
    )
    second = ir.Run(
        {"q<b>": {"unjudged": 9.0, HOSTILE: 8.0, "low": 7.0}, "other": {"low": 1.0}}, name="new"
    )
    third = ir.Run({"other": {"low": 1.0}}, name="silent")
    evaluations = tuple(ir.evaluate(qrels, run, "nDCG@3") for run in (first, second, third))
    subject = gather(
        ReportMaterial(
            evaluations=evaluations,
            measures=evaluations[0].measures,
            qrels=qrels,
            runs=(first, second, third),
            queries={"q<b>": HOSTILE},
            documents={HOSTILE: f"{HOSTILE}\nsecond line", LONG: "word " * 200},
        )
    )
    old, new, silent = subject.lists["q<b>"].runs
    assert new is not None
    unknown = replace(new, documents=(None, *new.documents[1:]))
    lists = QueryLists(runs=(old, unknown, silent), relevant=subject.lists["q<b>"].relevant)
    return page_html(replace(subject, lists={**subject.lists, "q<b>": lists}))


@pytest.fixture
def demo_page(shared: Shared) -> "Page":
    return shared.report(demo())


@pytest.fixture
def odd_page(shared: Shared) -> "Page":
    return shared.report(odd())


def opened(page: "Page", query: str, others: str = "", *, scheme: Scheme = "light") -> "Page":
    """The page with a query open."""
    page.emulate_media(media="screen", color_scheme=scheme)
    page.evaluate(FOLLOW, f"#query={query}{others}")
    shows_query(page)
    return page


def ranking(page: "Page", side: int) -> "Locator":
    return page.locator(".query-ranking").nth(side)


def cells(table: "Locator", name: str) -> list[str]:
    return [text.strip() for text in table.locator(f"tbody .{name}").all_inner_texts()]


def ids(table: "Locator") -> list[str | None]:
    return [whole.text_content() for whole in table.locator("tbody .query-id-whole").all()]


@pytest.mark.slow
def test_the_cause_is_read_at_a_glance(demo_page: "Page") -> None:
    page = opened(demo_page, "q46")

    assert (
        page.locator("#query-title").inner_text() == "order tasks so that dependencies come first"
    )
    assert (
        page.locator(".query-headline")
        .inner_text()
        .startswith("nDCG@10 fell from 0.7039 to 0.2346 \u22120.4693")
    )
    assert page.locator(".query-why").inner_text().replace("\u00a0", " ").split("\n\n") == [
        "graphlib.TopologicalSorter.static_order (grade 3) left the first ten, rank 1 \u2192 "
        "13: \u22120.7039.",
        "Against that, graphlib.TopologicalSorter.add (grade 2) entered the first ten, rank "
        "44 \u2192 3: +0.2346.",
    ]


@pytest.mark.parametrize("query", ["q46", "q27", "q03"])
def test_rankings_grades_and_contributions_are_those_of_explain(
    demo_page: "Page", query: str
) -> None:
    page = opened(demo_page, query)

    for side, name in enumerate(("bm25", "minilm")):
        said = ir.explain(PYDOCS / "qrels.txt", PYDOCS / f"{name}.run", query, "nDCG@10")
        table, rows = ranking(page, side), said.rows[:10]
        assert ids(table) == [row.document for row in rows]
        assert cells(table, "query-grade") == [f"{row.grade:.0f}" for row in rows]
        assert cells(table, "query-adds") == [
            f"{row.contribution:.4f}" if row.contribution else "0" for row in rows
        ]
        assert table.locator("tfoot .query-adds").all_inner_texts() == [f"{said.value:.4f}"]


def test_moves_are_lines_and_documents_that_came_or_went_are_marked(demo_page: "Page") -> None:
    page = opened(demo_page, "q27")
    before, after = ids(ranking(page, 0)), ids(ranking(page, 1))
    up = sum(after.index(name) < before.index(name) for name in before if name in after)

    # drawn once the tables have their sizes
    expect(page.locator(".query-line")).to_have_count(len(set(before) & set(after)))
    assert page.locator(".query-line.query-up").count() == up
    assert (
        ranking(page, 0).locator("tbody tr").nth(2).locator(".query-wide").inner_text()
        == "left \u2192 19"
    )
    assert ranking(page, 1).locator(".query-wide").count() == len(set(after) - set(before))


def test_pointing_at_a_document_shows_it_everywhere_and_whole(demo_page: "Page") -> None:
    page = opened(demo_page, "q27")
    row = ranking(page, 0).locator("tbody tr").first
    whole = row.locator(".query-id-whole")
    narrow = whole.bounding_box()
    expect(page.locator(".query-line")).not_to_have_count(0)

    row.hover()

    expect(page.locator("tr.query-pointed")).to_have_count(2)
    expect(page.locator(".query-why b.query-pointed")).to_have_count(1)
    assert narrow
    assert (whole.bounding_box() or narrow)["height"] > narrow["height"]
    expect(page.locator("path.query-pointed")).to_have_count(1)
    page.mouse.move(0, 0)
    expect(page.locator(".query-pointed")).to_have_count(0)


@pytest.mark.slow
def test_a_line_that_is_drawn_anew_stays_marked(odd_page: "Page") -> None:
    page = opened(odd_page, "q%3Cb%3E")
    row = ranking(page, 0).locator("tbody tr").first
    expect(page.locator(".query-line")).to_have_count(1)
    row.focus()
    expect(page.locator("path.query-pointed")).to_have_count(1)
    page.locator(".query-line").evaluate("line => { line.dataset.before = ''; }")

    row.press("Enter")  # its whole text makes the row higher, and moves the line

    expect(page.locator(".query-line:not([data-before])")).to_have_count(1)
    expect(page.locator("path.query-pointed")).to_have_count(1)


@pytest.mark.slow
def test_everything_is_reached_by_keyboard(demo_page: "Page") -> None:
    page = opened(demo_page, "q46")
    page.keyboard.press("Escape")
    closed(page)
    opener = page.locator("#queries [data-query]").nth(2)
    opener.focus()
    page.keyboard.press("Enter")
    shows_query(page)
    assert page.evaluate("document.activeElement.id") == "query-title"
    stops = []
    for _ in range(9):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate(
                "document.activeElement.dataset.rank ?? document.activeElement.textContent"
            )
        )
    assert stops.count("1") == 1  # of both rankings one row: arrows lead to the others

    page.locator(".query-ranking tbody tr").first.focus()
    page.keyboard.press("ArrowDown")
    focused = (
        "document.activeElement.closest('table').dataset.run + ' ' + "
        "document.activeElement.dataset.rank"
    )
    assert page.evaluate(focused) == "0 2"
    page.keyboard.press("End")
    assert page.evaluate(focused) == "0 10"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused).startswith("1 ")
    kept = page.evaluate("document.activeElement.querySelector('.query-id-whole').textContent")
    assert copied(page, lambda: page.keyboard.press("Control+C")) == kept

    page.keyboard.press("Escape")
    closed(page)
    assert page.evaluate("document.activeElement.dataset.query") is not None


def test_the_same_document_is_to_the_right(demo_page: "Page") -> None:
    page = opened(demo_page, "q27")

    ranking(page, 0).locator("tbody tr").first.focus()
    page.keyboard.press("ArrowRight")

    expect(ranking(page, 1).locator("tr[data-rank='5']")).to_be_focused()
    expect(page.locator("path.query-pointed")).to_have_count(1)


@pytest.mark.slow
def test_a_copied_ranking_is_a_table_with_whole_ids(odd_page: "Page") -> None:
    page = opened(odd_page, "q%3Cb%3E")

    page.evaluate(
        "getSelection().selectAllChildren(document.querySelector('.query-ranking tbody'))"
    )
    rows = [
        line.split("\t")
        for line in copied(page, lambda: page.keyboard.press("Control+C")).split("\n")
    ]

    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert rows[0] == ["1", "3", HOSTILE]
    assert {row[1] for row in rows[1:]} == {"unjudged", "2"}
    assert LONG in {row[2] for row in rows}


def test_previous_and_next_follow_the_table(demo_page: "Page") -> None:
    page = opened(demo_page, "q51", "&only=losses&sort=difference")
    assert "2 of 13" in page.locator("#query-facts").inner_text()

    page.locator("#query-before").click()

    expect(page.locator("#query-facts .id")).to_have_text("q46")
    expect(page.locator("#query-before")).to_be_disabled()
    expect(page.locator("#query-title")).to_be_focused()
    assert "q46" in address(page)


def test_a_query_without_rankings_says_which_command_shows_them(demo_page: "Page") -> None:
    page = opened(demo_page, "q01")
    button = page.get_by_role("button", name=re.compile("^Copy idealrank explain .*minilm"))

    assert (
        "rankings of 59 of 60 queries, and this one is not among them"
        in page.locator("#query-body").inner_text()
    )
    assert (
        copied(page, button.click)
        == "idealrank explain qrels.txt minilm.run --query q01 -m nDCG@10"
    )
    expect(page.locator("#query-view [role=status]")).to_have_text("Copied")


@pytest.mark.slow
def test_another_measure_has_no_contributions_but_moves_in_words(demo_page: "Page") -> None:
    page = opened(demo_page, "q46", "&measure=1")

    assert page.locator(".query-headline").inner_text().startswith("RR fell from 1.0000 to 0.3333")
    assert "Moved down: graphlib.TopologicalSorter.static_order (grade 3, rank 1" in page.locator(
        ".query-why"
    ).inner_text().replace("\u00a0", " ")
    assert set(cells(ranking(page, 0), "query-adds")) == {""}


def test_names_of_others_are_text(odd_page: "Page") -> None:
    page = opened(odd_page, "q%3Cb%3E")
    shown = HOSTILE.replace("\u202e", "\\u202e")

    assert page.locator("#query-title").inner_text() == shown
    assert ids(ranking(page, 0))[0] == shown
    assert LONG in ids(ranking(page, 0))
    assert page.locator(".query-text").first.text_content() == f"{shown} second line"
    assert page.locator("img").count() == 0
    assert cells(ranking(page, 1), "query-document")[0] == "not kept"
    assert cells(ranking(page, 0), "query-adds").count("unjudged") == 1
    assert [rank[:2] for rank in cells(ranking(page, 0), "query-rank")] == ["1", "2=", "3="]
    assert "old" in page.locator(".query-commands").inner_text()


def test_what_was_missed_is_listed_with_the_best_first(odd_page: "Page") -> None:
    page = opened(odd_page, "q%3Cb%3E")

    assert (
        "One relevant document that neither run has in the first three"
        in page.locator(".query-missed").inner_text()
    )
    assert page.locator(".query-missed li .query-grade").all_inner_texts() == ["4"]
    assert page.locator(".query-missed li .query-id-whole").inner_text() == "missed"


def test_more_runs_stand_beside_the_pair(odd_page: "Page") -> None:
    page = opened(odd_page, "q%3Cb%3E")
    assert page.locator(".query-ranking").count() == 2

    page.get_by_role("checkbox", name="silent").check()

    expect(page.locator(".query-ranking")).to_have_count(3)
    assert "returns nothing" in ranking(page, 2).inner_text()
    expect(page.get_by_role("checkbox", name="silent")).to_be_focused()
    assert sideways(page) == 0


def test_texts_are_cut_and_shown_whole(odd_page: "Page") -> None:
    page = opened(odd_page, "q%3Cb%3E")
    text = ranking(page, 0).locator(".query-text").nth(1)
    low = (text.bounding_box() or {})["height"]

    page.get_by_role("button", name="Whole texts").click()

    expect(page.get_by_role("button", name="Whole texts")).to_have_attribute("aria-pressed", "true")
    assert low < 45
    assert (ranking(page, 0).locator(".query-text").nth(1).bounding_box() or {})["height"] > low


@pytest.mark.slow
def test_on_a_phone_rankings_stack_and_moves_are_words(shared: Shared) -> None:
    page = opened(shared.report(demo(), size=PHONE), "q27")
    first, second = (ranking(page, side).bounding_box() or {} for side in (0, 1))

    assert second["y"] > first["y"] + first["height"]
    assert sideways(page) == 0
    assert page.evaluate(
        "[...document.querySelectorAll('.query-ranking')].every(one => one.scrollWidth <= "
        "innerWidth)"
    )
    move = ranking(page, 0).locator("tbody tr").first.locator(".query-narrow")
    assert move.inner_text() == "moved down, 1 \u2192 5"
    assert (move.bounding_box() or {})["width"] > 60
    assert not page.locator(".query-lines").is_visible()


def test_on_paper_there_is_the_query_alone(demo_page: "Page") -> None:
    page = opened(demo_page, "q27")

    page.emulate_media(media="print")

    assert not page.locator("main").is_visible()
    assert not page.locator("#query-close").is_visible()
    box = page.locator("#query-view").bounding_box() or {}
    assert box["height"] > 900
    assert box["y"] + page.evaluate("scrollY") == 0
    assert ranking(page, 0).locator(".query-narrow").first.is_visible()


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_everybody_can_use_it(odd_page: "Page", scheme: Scheme) -> None:
    page = opened(odd_page, "q%3Cb%3E", scheme=scheme)
    page.get_by_role("checkbox", name="silent").check()
    expect(page.locator(".query-ranking")).to_have_count(3)

    assert axe(page) == ""


SQUARES = """() => [0, 1, 2, 3, 4].map(shade => {
  const square = document.createElement("span");
  square.className = "query-grade";
  square.dataset.shade = shade;
  document.querySelector("#query-body").append(square);
  const style = getComputedStyle(square);
  return [style.backgroundColor, style.color];
})"""
VARIABLES = """() => ["--accent", "--worse", "--unjudged", "--paper"].map(name => {
  const node = document.createElement("i");
  node.style.color = `var(${name})`;
  document.body.append(node);
  const color = getComputedStyle(node).color;
  node.remove();
  return color;
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_grades_and_moves_are_told_apart_whatever_colours_one_sees(
    demo_page: "Page", scheme: Scheme
) -> None:
    page = opened(demo_page, "q46", scheme=scheme)
    squares: list[list[str]] = page.evaluate(SQUARES)
    accent, worse, same, paper = page.evaluate(VARIABLES)

    for seen in SEEN:
        for (lower, _), (higher, _) in pairwise(squares):
            assert apart(lower, higher, seen) > NEIGHBOURS, (seen, lower, higher)
        assert apart(accent, worse, seen) > 3 * NEIGHBOURS, seen
        assert min(apart(accent, same, seen), apart(worse, same, seen)) > NEIGHBOURS, seen
    for ground, ink in squares:
        assert contrast(ground, ink) >= 4.5, (ground, ink)
    assert min(contrast(accent, paper), contrast(worse, paper)) >= 4.5


def test_a_colour_is_as_far_from_another_as_the_standard_says() -> None:
    # Lab of sRGB red is (53.24, 80.09, 67.20), of white (100, 0, 0): Lindbloom's calculator, D65.
    assert apart("rgb(255, 0, 0)", "rgb(255, 255, 255)") == pytest.approx(
        (46.76**2 + 80.09**2 + 67.20**2) ** 0.5, abs=0.1
    )
    assert contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)") == pytest.approx(21)


@pytest.mark.slow
def test_a_query_of_a_long_id_opens_by_its_shortened_one(visit: Visits) -> None:
    ids = random.Random(1)
    queries = [f"{number}{ids.randbytes(30_000).hex()}{number}" for number in range(12)]
    qrels = ir.Qrels({query: {"x": 1} for query in queries})
    runs = tuple(
        ir.Run(dict.fromkeys(queries, ranking), name=name)
        for name, ranking in (("a", ["x"]), ("b", ["y", "x"]))
    )
    evaluations = tuple(ir.evaluate(qrels, run, "RR") for run in runs)
    subject = gather(
        ReportMaterial(
            evaluations=evaluations, measures=evaluations[0].measures, qrels=qrels, runs=runs
        )
    )

    page = visit.report(page_html(subject))
    page.locator("a[href^='#query=']").first.click()

    title = page.locator("#query-title")
    expect(title).to_contain_text("…")
    head, tail = title.inner_text().split("…")
    assert any(query.startswith(head) and query.endswith(tail) for query in queries)
    assert "ID stands for the whole id of this query" in page.locator("#query-body").inner_text()
    assert "--query ID " in page.locator("#query-body").inner_text()
