"""Intervals of means, of one run alone."""

import math

import numpy as np
import pytest
from scipy import stats

import idealrank as ir


@pytest.fixture(scope="module")
def evaluation() -> ir.Evaluation:
    draw = np.random.default_rng(5)
    qrels = {f"q{i}": {f"d{j}": int(draw.integers(0, 3)) for j in range(8)} for i in range(40)}
    run = {
        query: {document: float(draw.random()) for document in grades}
        for query, grades in qrels.items()
    }
    return ir.evaluate(
        qrels, run, ["nDCG@5", "RR", "NumRel", "GMAP"], "standard,no_relevant=left-out"
    )


def test_intervals_are_those_of_scipy(evaluation: ir.Evaluation) -> None:
    for measure, found in ir.intervals(evaluation, level=0.9).items():
        column = [str(one) for one in evaluation.measures].index(measure)
        values = evaluation.values[evaluation.scored[:, column], column]
        expected = stats.t.interval(0.9, len(values) - 1, values.mean(), stats.sem(values))
        np.testing.assert_allclose(found.interval, expected, rtol=1e-12)
        assert found.mean == evaluation.mean()[measure]
        assert found.n == len(values)


def test_only_what_is_averaged_has_one(evaluation: ir.Evaluation) -> None:
    assert [*ir.intervals(evaluation)] == ["nDCG@5", "RR"]


def test_weights_are_those_of_the_weighted_mean(evaluation: ir.Evaluation) -> None:
    weights = {query: 1.0 + number for number, query in enumerate(evaluation.queries)}
    found = ir.intervals(evaluation, weights=weights)["RR"]
    of_all = evaluation.per_query()
    assert found.mean == pytest.approx(
        np.average([of_all[query]["RR"] for query in weights], weights=[*weights.values()]),
        rel=1e-12,
    )


def test_clusters_of_one_query_each_change_nothing_and_two_copies_of_each_do(
    evaluation: ir.Evaluation,
) -> None:
    plain = ir.intervals(evaluation)["RR"]
    alone = ir.intervals(evaluation, clusters={query: query for query in evaluation.queries})["RR"]
    halves = ir.intervals(
        evaluation, clusters={query: int(query[1:]) // 2 for query in evaluation.queries}
    )["RR"]
    np.testing.assert_allclose(alone.interval, plain.interval, rtol=1e-12)
    assert halves.interval != plain.interval


def test_one_query_says_nothing_and_none_neither() -> None:
    one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    assert ir.intervals(one)["RR"].interval == (-math.inf, math.inf)
    none = ir.evaluate({"q": {"x": 0}}, {"q": ["x"]}, "RR", "standard,no_relevant=left-out")
    assert ir.intervals(none)["RR"].n == 0
    assert math.isnan(ir.intervals(none)["RR"].interval[0])
