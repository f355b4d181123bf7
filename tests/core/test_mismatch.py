"""What keeps a verdict from resting on judgments and runs that do not meet, from Python; nothing
else is refused.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.integrations import pytest_gate

QUERIES = [f"q{number}" for number in range(8)]
GRADES = {query: {"a": 1, "b": 0} for query in QUERIES}
NOTHING = {query: {"a": 0, "b": 0} for query in QUERIES}

pytestmark = pytest.mark.filterwarnings("ignore:run .*:idealrank.IdealrankWarning")


def ranked(documents: str, queries: "list[str] | None" = None) -> dict[str, list[str]]:
    return {query: list(documents) for query in queries or QUERIES}


def compared(qrels: Any, a: Any, b: Any, measure: str, convention: str = "standard") -> Any:
    return ir.compare(*(ir.evaluate(qrels, run, measure, convention) for run in (a, b)))


def gated(qrels: Any, a: Any, b: Any, measure: str, convention: str = "standard") -> Any:
    return ir.gate(*(ir.evaluate(qrels, run, measure, convention) for run in (b, a)))


def attributed(qrels: Any, a: Any, b: Any, measure: str, convention: str = "standard") -> Any:
    return ir.attribute(qrels, a, b, measure, convention)


def varied(qrels: Any, a: Any, b: Any, measure: str, convention: str = "standard") -> Any:
    return ir.robust(qrels, a, b, measure, convention=convention, variants=["cutoff=3"])


def chosen(qrels: Any, a: Any, b: Any, measure: str, convention: str = "standard") -> Any:
    return ir.choose(qrels, [a, b], measure="nDCG", cutoffs=[1, 10], convention=convention)


def repeated(qrels: Any, a: Any, b: Any, measure: str, convention: str = "standard") -> Any:
    evaluations = [ir.evaluate(qrels, run, measure, convention) for run in (a, a, b)]
    return ir.compare_systems(evaluations[:2], evaluations[2:], single="fixed")


ASKED: list[Callable[..., Any]] = [compared, gated, attributed, varied, chosen, repeated]


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize(
    ("qrels", "a", "b", "words"),
    [
        (
            NOTHING,
            ranked("ab"),
            ranked("ba"),
            "8 of 8 queries have no grade above 0; their NDCG is 0, 1 or left out, by convention",
        ),
        (GRADES, ranked("AB"), ranked("BA"), "8 of 8 answered queries list no judged document"),
        (
            GRADES,
            ranked("ab", ["other"]),
            ranked("ba", ["else"]),
            "8 judged queries, and the run answers none of them",
        ),
    ],
    ids=["nothing relevant", "no document", "no query"],
)
def test_data_that_carry_no_verdict_are_refused(
    ask: Callable[..., Any], qrels: Any, a: Any, b: Any, words: str
) -> None:
    with pytest.raises(ir.InputError, match=words):
        ask(qrels, a, b, "nDCG@10")


@pytest.mark.parametrize("ask", [one for one in ASKED if one is not chosen])
@pytest.mark.parametrize("queries", [QUERIES, ["other"]], ids=["no document", "no query"])
def test_one_run_that_does_not_join_is_named(ask: Callable[..., Any], queries: list[str]) -> None:
    found = ask(
        GRADES, ranked("ab"), ranked("AB" if queries == QUERIES else "ab", queries), "nDCG@10"
    )
    ((name, phrase),) = found.mismatches.items()
    assert phrase.startswith(
        "has no judged document" if queries == QUERIES else "answers none of the 8 judged queries"
    )
    assert found.warnings == (f"run {name} {phrase}",) == tuple(found.as_dict()["warnings"])


def test_no_check_of_a_run_that_does_not_join_is_passed() -> None:
    """Its values are all 0, and on few queries no test shows that this is worse than anything."""
    found = gated(
        dict(list(GRADES.items())[:2]),
        ranked("ab", QUERIES[:2]),
        ranked("AB", QUERIES[:2]),
        "nDCG@10",
    )
    assert [(check.p_corrected > 0.05, check.passed, check.outcome) for check in found.checks] == [
        (True, False, "failed")
    ]
    assert (found.passed, found.outcome) == (False, "failed")


def test_no_system_is_better_or_worse_than_copies_that_do_not_join() -> None:
    """Their values are 0 for every copy, so that no variance is seen and any difference is
    significant.
    """
    good, bad = ([ir.evaluate(GRADES, ranked(text), "RR")] * 2 for text in ("ab", "AB"))
    found = ir.compare_systems(good, bad, names=("good", "bad"))
    assert (found["RR"].found.p, found["RR"].verdict) == (0, "undecided")
    assert len(found.warnings) == 2
    text = " ".join(str(found).split())
    assert text.startswith("Run run (3) has no judged document; do the document ids of both match?")
    assert "bad is worse" not in text


def test_settings_are_compared_with_the_run_named() -> None:
    found = chosen(GRADES, ranked("ab"), ranked("AB"), "")
    assert list(found.mismatches.values()) == [
        "has no judged document; do the document ids of both match?"
    ]
    assert (
        found.as_dict()["warnings"][0]
        == "run run (2) has no judged document; do the document ids of both match?"
    )


def test_a_run_with_one_judged_document_below_the_cutoff_is_no_mismatch() -> None:
    deep = ranked("AB") | {"q0": [*"ABCDEFGHIJK", "a"]}
    for ask in ASKED:
        assert not ask(GRADES, ranked("ab"), deep, "nDCG@10").mismatches
    # at any depth is enough
    assert not compared(
        GRADES, ranked("AB") | {"q0": [*"ABCDEFGHIJK", "a"]}, deep, "nDCG@10"
    ).mismatches


def test_arrays_of_labels_without_a_relevant_one_are_refused() -> None:
    scores = np.array([[2.0, 1.0], [2.0, 1.0]])
    with pytest.raises(ir.InputError, match="2 of 2 queries have no grade above 0"):
        ir.robust(np.zeros((2, 2), int), scores, -scores, "nDCG")
    assert (
        ir.robust(
            np.array([[1, 0], [1, 0]]), scores, -scores, "nDCG", variants=["cutoff"]
        ).asked.difference
        < 0
    )


@pytest.mark.parametrize("ask", [one for one in ASKED if one is not chosen])
def test_a_threshold_above_every_grade_is_refused(ask: Callable[..., Any]) -> None:
    with pytest.raises(
        ir.InputError, match="found no grade above 1, expected one of 2 or more, the threshold of P"
    ):
        ask(GRADES, ranked("ab"), ranked("ba"), "P(rel=2)@1")
    assert not ask(GRADES, ranked("ab"), ranked("ba"), "P(rel=1)@1").mismatches


@pytest.mark.parametrize(
    ("grades", "measure", "convention"),
    [
        ({"a": 0, "b": -1}, "DCG@10", "standard,negative=kept"),  # negative grades that count
        ({"a": 0, "b": 0}, "Judged@1", "standard"),  # not about grades
        ({"a": 0, "b": -1}, "P(rel=0)@1", "standard,negative=kept"),  # grade 0 is what counts
        ({"a": 0, "b": 0}, "DCG(gain={0:1,1:2})@1", "standard"),  # so it is by this gain
    ],
)
def test_what_a_measure_counts_without_grades_above_0_is_not_refused(
    grades: dict[str, int], measure: str, convention: str
) -> None:
    qrels = dict.fromkeys(QUERIES, grades)
    compared(qrels, ranked("ab"), ranked("xba"), measure, convention)
    gated(qrels, ranked("ab"), ranked("xba"), measure, convention)


def test_one_relevant_document_in_one_query_is_enough() -> None:
    for ask in ASKED:
        assert not ask(NOTHING | {"q3": {"a": 1}}, ranked("ab"), ranked("ba"), "nDCG@10").mismatches


def test_both_runs_may_miss_every_relevant_document() -> None:
    qrels = {query: {"a": 1, "x": 0} for query in QUERIES}
    assert compared(qrels, ranked("x"), ranked("yx"), "nDCG@10")["nDCG@10"].difference == 0


def test_preferences_have_no_grades_to_be_refused_for(tmp_path: Path) -> None:
    table = ir.PreferenceQrels({query: {"ann": {"a": 1, "b": 0}} for query in QUERIES})
    same = [ir.evaluate(table, ranked("ba"), "prefs_simp")] * 2
    assert not ir.compare(*same).mismatches


def test_the_best_grade_of_two_parts_is_that_of_the_better() -> None:
    parts = [
        ir.evaluate({query: {"a": grade}}, {query: ["a"]}, "RR")
        for query, grade in (("p", 0), ("q", 3))
    ]
    assert [part.coverage.best_grade for part in parts] == [0, 3]
    assert parts[0].merge(parts[1]).coverage.best_grade == 3


def test_results_that_do_not_know_their_best_grade_are_judged_by_their_count() -> None:
    unknown = [
        replace(one, coverage=replace(one.coverage, best_grade=float("inf")))
        for one in (ir.evaluate(NOTHING, ranked(documents), "RR") for documents in ("ab", "ba"))
    ]
    with pytest.raises(ir.InputError, match="no grade above 0"):
        ir.compare(*unknown)


def test_a_stored_evaluation_says_the_same(tmp_path: Path) -> None:
    with ir.Store.open(tmp_path / "store") as store:
        ids = [
            store.add(ir.evaluate(NOTHING, ranked(documents), "RR")) for documents in ("ab", "ba")
        ]
        with pytest.raises(ir.InputError, match="no grade above 0"):
            ir.compare(*(store.evaluation(one).evaluation for one in ids))


@pytest.mark.parametrize("update", [False, True])
def test_the_fixture_of_pytest_does_as_the_gate_does(update: bool, tmp_path: Path) -> None:
    baseline = tmp_path / "best.run.gz"
    assert not pytest_gate.ask(
        GRADES, ranked("ab"), baseline, {}, root=tmp_path, update=True
    ).failure
    before = baseline.read_bytes()

    answer = pytest_gate.ask(GRADES, ranked("AB"), baseline, {}, root=tmp_path, update=update)

    words = (
        "8 of 8 answered queries list no judged document"
        if update
        else "The gate is closed: run run has no judged document"
    )
    assert words in answer.failure.replace("\n", " ")
    assert baseline.read_bytes() == before
    nothing = pytest_gate.ask(NOTHING, ranked("ab"), baseline, {}, root=tmp_path, update=update)
    assert "8 of 8 queries have no grade above 0" in nothing.failure


@pytest.mark.parametrize("queries", [QUERIES, ["other"]], ids=["no document", "no query"])
def test_no_verdict_rests_on_a_run_that_does_not_join(queries: list[str]) -> None:
    """Its values are all 0, whatever it returned: no test of them says anything, with unjudged
    documents at hand or without.
    """
    apart = ranked("AB" if queries == QUERIES else "ab", queries)
    kinds = {query: "odd" if int(query[1:]) % 2 else "even" for query in QUERIES}
    for keep in (False, True):
        good, bad = (
            ir.evaluate(GRADES, run, ["nDCG@10", "AP"], keep_unjudged=keep)
            for run in (ranked("ab"), apart)
        )
        for found in (
            ir.compare(good, bad, slices=kinds),
            ir.compare(bad, good, slices=kinds),
            ir.compare(good, bad, margin=0.9),
        ):
            (pair,) = found.pairs
            assert {row.verdict for row in pair.measures.values()} == {"too few judgments"}
            assert {one.verdict for row in pair.measures.values() for one in row.slices or ()} <= {
                "too few judgments"
            }
            assert (
                str(found)
                .splitlines()[0]
                .startswith(f"No verdict on {pair.b} against {pair.a}: run ")
            )
            assert " p " not in str(found).splitlines()[0]


def test_the_other_pairs_keep_their_verdicts() -> None:
    runs = [ranked("ab"), ranked("xyab"), ranked("AB")]
    found = compared(GRADES, *runs[:2], "nDCG@10")
    several = ir.compare(*(ir.evaluate(GRADES, run, "nDCG@10") for run in runs))
    assert several.pairs[0]["nDCG@10"].verdict == found["nDCG@10"].verdict == "worse"
    assert [bool(pair.mismatch) for pair in several.pairs] == [False, True, True]


def test_no_variant_says_anything_of_a_run_that_does_not_join() -> None:
    found = varied(GRADES, ranked("ab"), ranked("AB"), "nDCG@10")
    assert (found.verdict, found.summary()) == (
        "too few judgments",
        ["No variant can say whether B is better than A."],
    )
