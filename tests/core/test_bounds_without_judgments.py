"""Bounds of queries that only a run has, where the convention evaluates them."""

import itertools
from typing import Any

import pytest

import idealrank as ir
from idealrank.judging import bounds, difference_bounds


@pytest.mark.parametrize("measure", ["nDCG@2", "P@2", "RR", "AP", "ERR@3", "R@2", "DCG", "RBP"])
@pytest.mark.parametrize("qrels", [{}, {"q": {"x": 1, "v": 0}}, {"q": {"x": 1}, "r": {"x": 1}}])
def test_documents_of_a_query_without_judgments_are_open_where_it_is_evaluated(
    measure: str, qrels: Any
) -> None:
    rule = "standard,without_judgments=evaluated"
    a = {"q": ["x", "y"], "p": ["z", "x"], "o": ["a"]}
    b = {"p": ["w", "z", "x"], "q": ["y", "x"], "o": ["a"]}
    extremes: dict[str, list[float]] = {"p": [], "o": []}
    alone: dict[str, list[float]] = {"p": [], "o": []}
    for grades in itertools.product((0, 1), repeat=4):
        given = {**qrels, "p": dict(zip("wzx", grades[:3], strict=True)), "o": {"a": grades[3]}}
        values = [ir.evaluate(given, run, measure, rule, name="r").per_query() for run in (a, b)]
        for query, ends in extremes.items():
            ours, theirs = (one[query][next(iter(one[query]))] or 0.0 for one in values)
            ends.append(theirs - ours)
            alone[query].append(ours)
    found, one = (
        difference_bounds(qrels, a, b, measure, 1, convention=rule),
        bounds(qrels, a, measure, 1, convention=rule),
    )
    for query, ends in extremes.items():
        at, of_one = list(found.query_ids).index(query), list(one.query_ids).index(query)
        assert (found.low[at], found.high[at]) == pytest.approx((min(ends), max(ends)))
        assert (one.low[of_one], one.high[of_one]) == pytest.approx(
            (min(alone[query]), max(alone[query]))
        )
        assert found.value[at] == 0
    assert found.mean_low < 0 < found.mean_high
    left_out = difference_bounds(qrels or {"q": {"x": 1}}, a, b, measure, 1)
    assert "p" not in left_out.query_ids


def test_the_reach_of_a_comparison_counts_documents_of_queries_without_judgments() -> None:
    qrels = {f"q{n}": {"x": 1, "w": 0} for n in range(12)}
    bad, good = (dict.fromkeys((*qrels, "p"), ranking) for ranking in (["y", "x"], ["x", "y"]))
    rule = "standard,without_judgments=evaluated"
    judged, found = (
        ir.compare({**qrels, **more}, bad, good, measures="RR", convention=rule)["RR"]
        for more in ({"p": {"w": 0}}, {})
    )
    assert found.tipping is not None
    assert found.tipping.unjudged_both == 14
    assert (found.difference, found.p, found.tipping, found.bounds) == (
        judged.difference,
        judged.p,
        judged.tipping,
        judged.bounds,
    )
