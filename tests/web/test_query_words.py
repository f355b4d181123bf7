"""What the view of a query says in words has the numbers of `idealrank why`: ranks, contributions,
moves and their sums.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import idealrank as ir
from idealrank.pages import page as page_package
from idealrank.pages.report.gather import gather
from idealrank.pages.report.material import ReportMaterial
from idealrank.reports.subject import Listing, QueryLists

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PYDOCS = Path(__file__).parents[2] / "examples" / "pydocs"
WORDS = Path(page_package.__file__).parent / "assets" / "query_words.js"
RUNS = ("bm25", "minilm")
Ask = Callable[[str, Any], Any]


@pytest.fixture(scope="module")
def ask(browser: "Browser") -> Iterator[Ask]:
    """Evaluates an expression of one argument, `given`, among the functions of the script."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.set_content(f"<script>{WORDS.read_text(encoding='utf-8')}</script>")
    yield lambda expression, given: page.evaluate(f"given => {expression}", given)
    context.close()


def _listing(one: Listing | None, number: dict[str, int]) -> dict[str, Any] | None:
    """As the page packs it."""
    if one is None:
        return None
    documents = [number.setdefault(str(name), len(number)) for name in one.documents]
    below = [[number.setdefault(name, len(number)), *others] for name, *others in one.below or ()]
    return {"d": documents, "g": one.grades, "a": one.added, "n": one.length, "b": below}


def _asked(lists: QueryLists, number: dict[str, int], **others: Any) -> dict[str, Any]:
    relevant = [[number.setdefault(name, len(number)), grade] for name, grade in lists.relevant]
    return {
        "runs": RUNS,
        "lists": [_listing(one, number) for one in lists.runs],
        "relevant": relevant,
        "hasAdds": True,
    } | others


def _text(sentence: list[Any], number: dict[str, int]) -> str:
    names = list(number)
    pieces = (
        piece
        if isinstance(piece, str)
        else names[piece["document"]]
        if "document" in piece
        else _signed(piece)
        for piece in sentence
    )
    return "".join(pieces).replace("\u00a0", " ")


def _signed(piece: dict[str, float]) -> str:
    return f"{piece['amount']:+.4f}"


@pytest.mark.parametrize(("measure", "cutoff"), [("nDCG@10", 10), ("P@5", 5), ("AP", None)])
def test_ranks_contributions_and_moves_are_those_of_attribute(
    ask: Ask, measure: str, cutoff: int | None
) -> None:
    qrels, runs = (
        ir.read_qrels(PYDOCS / "qrels.txt"),
        [ir.read_run(PYDOCS / f"{name}.run") for name in RUNS],
    )
    evaluations = tuple(ir.evaluate(qrels, run, measure) for run in runs)
    subject = gather(
        ReportMaterial(
            evaluations=evaluations, measures=evaluations[0].measures, qrels=qrels, runs=tuple(runs)
        )
    )
    found = ir.attribute(qrels, *runs, measure)
    number: dict[str, int] = {}
    asked = [
        _asked(subject.lists[one.query], number, cutoff=cutoff, values=[one.value_a, one.value_b])
        for one in found.queries
    ]
    code = (
        "given.map(one => [queryChanges(one.lists[0], one.lists[1], one.relevant, one.cutoff), "
        "queryWords(one)])"
    )
    names = list(number)
    compared = 0

    for one, (changes, sentences) in zip(found.queries, ask(code, asked), strict=True):
        said = {
            names[change["document"]]: change for change in changes if (change["grade"] or 0) > 0
        }
        known = {
            change.document: change for change in found.documents(one.query) if change.grade > 0
        }
        assert said.keys() == known.keys()
        for document, change in said.items():
            why = known[document]
            assert (change["from"], change["to"], change["grade"], change["move"]) == (
                why.rank_a,
                why.rank_b,
                why.grade,
                why.move,
            )
            assert (change["before"], change["after"]) == pytest.approx(
                (why.added_a, why.added_b), abs=1e-12
            )
            compared += 1
        if abs(one.difference) > 1e-9:
            amounts = [
                piece["amount"]
                for sentence in sentences
                for piece in sentence
                if isinstance(piece, dict) and "amount" in piece
            ]
            assert sum(amounts) == pytest.approx(one.difference, abs=1e-12)
    assert compared > 200


def _sides(
    *sides: tuple[list[int], list[float | None], list[float]], n: int = 40, below: Any = ()
) -> list[dict[str, Any]]:
    return [{"d": d, "g": g, "a": a, "n": n, "b": list(below)} for d, g, a in sides]


NUMBER = {name: place for place, name in enumerate(("d0", "d1", "d2", "d3"))}


def _said(ask: Ask, **asked: Any) -> list[str]:
    whole = {
        "runs": ["old", "new"],
        "cutoff": 2,
        "relevant": [[0, 3], [1, 3]],
        "hasAdds": True,
        "values": [1.0, 0.5],
    } | asked
    return [_text(sentence, NUMBER) for sentence in ask("queryWords(given)", whole)]


def test_documents_that_left_together_are_named_in_one_sentence(ask: Ask) -> None:
    lists = _sides(([0, 1], [3, 3], [0.6, 0.4]), ([2, 3], [0, 0], [0, 0]))
    lists[1]["b"] = [[0, 14, 3, 0]]

    assert _said(ask, lists=lists, values=[1.0, 0.0]) == [
        "Two documents of grade 3 left the first two: d0 (rank 1 → 14) and d1 (rank 2 → not "
        "returned), together -1.0000."
    ]


def test_what_was_gained_stands_against_what_was_lost(ask: Ask) -> None:
    lists = _sides(([0, 2], [3, 0], [0.6, 0]), ([3, 1], [None, 1], [0, 0.2]))

    assert _said(ask, lists=lists, values=[0.6, 0.2]) == [
        "d0 (grade 3) left the first two, rank 1 → not returned: -0.6000.",
        "Against that, d1 (grade 1) entered the first two, not returned → 2: +0.2000.",
        "Of the first two, old has none and new one without a judgment; they count as not "
        "relevant.",
    ]


def test_small_causes_are_counted_and_summed(ask: Ask) -> None:
    a, b = list(range(6)), [5, 4, 3, 2, 1, 0]
    lists = _sides(
        (a, [1] * 6, [0.9, 0.05, 0.04, 0.03, 0.02, 0.01]), (b, [1] * 6, [0, 0, 0, 0, 0, 0])
    )

    assert _said(ask, lists=lists, cutoff=10, values=[1.05, 0.0]) == [
        "d0 (grade 1) moved down, rank 1 → 6: -0.9000; five more: -0.1500."
    ]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (
            {"lists": [None, _sides(([0, 1], [3, 3], [0.6, 0.4]))[0]]},
            "old returns nothing for this query.",
        ),
        (
            {"relevant": []},
            "No judged document is relevant for this query, so no ranking can do better.",
        ),
        (
            {"lists": _sides(([0, 1], [3, 3], [0.6, 0.4])) * 2},
            "Both runs show the same documents in the same order in the first two.",
        ),
        (
            {
                "lists": _sides(([0, 2], [3, 0], [0.6, 0]), ([0, 3], [3, 0], [0.6, 0])),
                "values": [0.6, 0.6],
            },
            "No relevant document entered, left or moved within the first two.",
        ),
    ],
)
def test_what_has_no_cause_in_documents_is_said_plainly(
    ask: Ask, asked: dict[str, Any], text: str
) -> None:
    lists = _sides(([0, 2], [3, 0], [0.6, 0]), ([3, 1], [0, 3], [0, 0.2]))

    assert _said(ask, **{"lists": lists, **asked}) == [text]


def test_without_contributions_moves_are_told_by_grade_and_rank(ask: Ask) -> None:
    lists = _sides(([0, 2], [3, 0], [0.6, 0]), ([3, 1], [0, 3], [0, 0.2]))

    assert _said(ask, lists=lists, hasAdds=False) == [
        "Left the first two: d0 (grade 3, rank 1 → not returned); entered the first two: d1 "
        "(grade 3, not returned → 2)."
    ]
    assert _said(ask, lists=lists, hasAdds=False, values=[0.5, 1.0]) == [
        "Entered the first two: d1 (grade 3, not returned → 2); left the first two: d0 (grade "
        "3, rank 1 → not returned)."
    ]


def test_what_no_listed_document_explains_is_said(ask: Ask) -> None:
    lists = _sides(([0, 2], [3, 0], [0.6, 0]), ([2, 0], [0, 3], [0, 0.3]))

    assert _said(ask, lists=lists, cutoff=None, values=[0.8, 0.4]) == [
        "d0 (grade 3) moved down, rank 1 → 2: -0.3000.",
        "Documents further down make up the rest, -0.1000.",
    ]


def test_numbers_read_as_on_the_command_line(ask: Ask) -> None:
    said = ask("given.map(value => queryNumber(value, true))", [0.70391, -0.46929, 0, -1e-9, 12.5])

    assert said == ["+0.7039", "\u22120.4693", "0.0000", "0.0000", "+12.5000"]
    assert json.dumps(ask("[1, 10, 13, null].map(queryFirst)", None)) == json.dumps(
        ["the first rank", "the first ten", "the first 13", "the list"]
    )
