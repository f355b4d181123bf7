"""Weights so unequal that few queries decide: what Student's t and the sign-flip test then promise, and who is warned."""

import warnings

import numpy as np
import pytest

import idealrank as ir
from idealrank.errors import IdealrankWarning
from idealrank.stats import mean_interval, permutation_test
from idealrank.stats.design import Design

ZIPF = 1.0 / np.arange(1, 61)


@pytest.mark.parametrize(("weights", "clusters", "worth"), [
    ([1, 1, 1, 1], None, 4.0), (None, None, 4.0), ([3, 1, 1, 1], None, 3.0), ([1, 1, 1, 1], "aabc", 8 / 3), (None, "aabc", 3.0),
])  # fmt: skip
def test_the_number_of_equal_units_is_that_of_kish(weights: list[float] | None, clusters: str | None, worth: float) -> None:
    labels = None if clusters is None else list(clusters)
    assert Design.of(4, weights=weights, clusters=labels).effective_units == pytest.approx(worth, rel=1e-15)


def test_students_interval_misses_the_mean_as_often_as_the_warning_says_and_the_sign_flip_test_does_not() -> None:
    rng, design = np.random.default_rng(1), Design.of(60, weights=ZIPF)
    found = mean_interval(rng.normal(size=(60, 4000)), design=design)
    missed = np.mean((np.asarray(found.low) > 0) | (np.asarray(found.high) < 0))
    assert 0.095 < missed < 0.125
    flipped = permutation_test(np.zeros((60, 600)), rng.normal(size=(60, 600)), design=design, n_resamples=999, rng=1)
    assert np.mean(np.asarray(flipped.p) <= 0.05) < 0.075


def heard(call: object, *given: object, **named: object) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*given, **named)  # type: ignore[operator]
    return [str(one.message) for one in caught if issubclass(one.category, IdealrankWarning)]


def test_comparisons_and_intervals_warn_once_and_equal_weights_of_few_queries_do_not() -> None:
    queries = [f"q{number}" for number in range(60)]
    qrels = {query: {"x": 1} for query in queries}
    a, b = (ir.evaluate(qrels, dict.fromkeys(queries, ranking), ["RR", "AP"]) for ranking in (["y", "x"], ["x", "y"]))
    weights, equal = dict(zip(queries, ZIPF.tolist(), strict=True)), dict.fromkeys(queries, 2.0)
    slices = {query: "odd" if place % 2 else "even" for place, query in enumerate(queries)}
    said = "60 queries count as much as 13.4 of equal weight"
    for call, given in ((ir.compare, (a, b)), (ir.intervals, (a,))):
        assert [said in text for text in heard(call, *given, weights=weights)] == [True]
        assert heard(call, *given, weights=equal) == []
    assert [said in text for text in heard(ir.compare, a, b, weights=weights, slices=slices)] == [True]
    assert heard(a.by, slices) == []
