"""Evaluations of parts merge to the evaluation of the whole: bit for bit, in any order and
grouping.
"""

import warnings
from collections.abc import Sequence

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import idealrank as ir
from idealrank.testing import strategies

MEASURES = ["nDCG@3", "AP", "RR", "P@2", "num_q", "gm_map"]
QUERIES = ("q1", "q2", "q3", "q4", "q5")


def evaluated(qrels: object, run: object, convention: str = "standard") -> ir.Evaluation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IdealrankWarning)
        return ir.evaluate(qrels, run, MEASURES, convention)


def facts(evaluation: ir.Evaluation) -> tuple[object, ...]:
    """All that does not depend on the order of parts; values as bytes, so that no bit may
    differ.
    """
    order = np.argsort(np.array(evaluation.queries))
    values, scored = evaluation.values[order], evaluation.scored[order]
    coverage = {
        name: value
        for name, value in vars(evaluation.coverage).items()
        if name not in ("missing_queries", "looks_swapped")
    }
    return (
        sorted(evaluation.queries),
        values.tobytes(),
        scored.tobytes(),
        sorted(evaluation.coverage.missing_queries),
        coverage,
        {text: mean.hex() for text, mean in evaluation.mean().items()},
        evaluation.provenance.judgments,
    )


def merged(parts: Sequence[ir.Evaluation]) -> ir.Evaluation:
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.merge(part)
    return whole


@st.composite
def cases(draw):
    """Judgments, a run, and the part of each query. Every part has a judged query, for `evaluate`
    refuses one without.
    """
    qrels = {
        **{query: {"d1": 1} for query in QUERIES[:3]},
        **draw(strategies.judgments(queries=QUERIES)),
    }
    run = draw(strategies.runs(queries=(*QUERIES, "unjudged")))
    where = {query: draw(st.integers(0, 2)) for query in (*qrels, *run)} | dict(
        zip(QUERIES, (0, 1, 2), strict=False)
    )
    return qrels, run, where


@given(
    cases(),
    st.sampled_from(["standard", "trec_eval", "lightgbm", "standard,missing=left-out"]),
    st.permutations([0, 1, 2]),
)
def test_parts_merge_to_the_whole_in_any_order_and_grouping(case, convention, order) -> None:
    qrels, run, where = case
    # a part that scores nothing is refused
    run = {**run, **{query: {"d1": 1.0} for query in QUERIES[:3] if query not in run}}
    whole = evaluated(qrels, run, convention)
    parts = [
        evaluated(
            *(
                {query: one for query, one in table.items() if where[query] == part}
                for table in (qrels, run)
            ),
            convention,
        )
        for part in order
    ]
    assert facts(merged(parts)) == facts(whole)
    assert facts(parts[0].merge(parts[1].merge(parts[2]))) == facts(whole)


@given(cases())
def test_parts_of_a_run_under_all_judgments_merge_to_the_whole(case) -> None:
    """As after a broadcast of the judgments: each part misses the queries of the others, and the
    whole does not.
    """
    qrels, run, where = case
    run = {**run, **{query: {"d1": 1.0} for query in QUERIES[:3] if query not in run}}
    whole = evaluated(qrels, run, "standard,missing=left-out")
    parts = [
        evaluated(
            qrels,
            {q: one for q, one in run.items() if where[q] == part},
            "standard,missing=left-out",
        )
        for part in range(3)
    ]
    assert facts(merged(parts)) == facts(whole) == facts(merged(parts[::-1]))


def test_a_query_in_two_parts_is_named() -> None:
    one = evaluated({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["a"]})
    for qrels, run in (
        ({"q2": {"a": 1}, "q3": {"a": 1}}, {"q2": ["a"]}),
        ({"q2": {"b": 1}, "q4": {"a": 1}}, {"q4": ["a"]}),
    ):
        with pytest.raises(ir.IncompatibleError, match="query 'q2' is in both parts"):
            one.merge(evaluated(qrels, run))


def test_a_query_that_both_parts_miss_and_neither_scores_is_named() -> None:
    parts = [
        evaluated({name: {"a": 1}, "q9": {"a": grade}}, {name: ["a"]}, "standard,missing=left-out")
        for name, grade in (("q1", 1), ("q2", 2))
    ]
    with pytest.raises(ir.IncompatibleError, match="query 'q9' is in both parts"):
        parts[0].merge(parts[1])


def test_what_differs_between_the_parts_is_said() -> None:
    one = ir.evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, "nDCG@3")
    other = {"qrels": {"q2": {"a": 1}}, "run": {"q2": ["a"]}}
    with pytest.raises(ir.IncompatibleError, match="ties=docid and ties=expected"):
        one.merge(ir.evaluate(**other, measures="nDCG@3", convention="standard,ties=expected"))
    with pytest.raises(ir.IncompatibleError, match="gain="):
        one.merge(ir.evaluate(**other, measures="nDCG@3", convention="standard,gain=exp2"))
    with pytest.raises(ir.IncompatibleError, match="measures nDCG@3 and AP"):
        one.merge(ir.evaluate(**other, measures="AP"))
    with pytest.raises(ir.IncompatibleError, match=r"measures nDCG@3 and nDCG\(gain=exp2\)@3"):
        one.merge(ir.evaluate(**other, measures="nDCG(gain=exp2)@3"))
    with pytest.raises(ir.IncompatibleError, match="cut at None and at 3"):
        one.merge(ir.evaluate(**other, measures="nDCG@3", max_documents=3))


def test_parts_with_all_judgments_that_score_each_others_queries_say_what_to_do() -> None:
    parts = [
        evaluated({"q1": {"a": 1}, "q2": {"a": 1}}, {name: ["a"]}, "standard")
        for name in ("q1", "q2")
    ]
    with pytest.raises(
        ir.IncompatibleError, match=r"query 'q1' is in both parts .*missing=left-out"
    ):
        parts[0].merge(parts[1])
