"""Bounds of a difference over all grades of unjudged documents, as a comparison has them beside the
tipping point.
"""

import json
import math

import numpy as np
import pytest

import idealrank as ir
from idealrank.judging import difference_bounds
from idealrank.reports.views.comparison.pair_sentences import bounds_sentences, verdict_sentences

RNG = np.random.default_rng(3)
QUERIES = [f"q{number}" for number in range(12)]
QRELS = {
    query: {f"d{at}": int(RNG.integers(0, 4)) for at in RNG.permutation(14)[:7]}
    for query in QUERIES
}
RUNS = [
    {query: [f"d{at}" for at in RNG.permutation(14)[:10]] for query in QUERIES} for _ in range(2)
]


def compared(measure: str = "nDCG@5", **options: object) -> ir.Comparison:
    a, b = (ir.evaluate(QRELS, run, measure, keep_unjudged=True) for run in RUNS)
    return ir.compare(a, b, rng=1, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("measure", ["nDCG@5", "nDCG(gain=exp2)@5", "P@3", "RR@5"])
def test_a_comparison_has_the_bounds_of_the_difference_at_the_cutoff(measure: str) -> None:
    found = compared(measure)[measure].bounds

    expected = difference_bounds(QRELS, *RUNS, measure, depth=int(measure[-1]))

    assert found is not None
    assert (found.low, found.high) == (
        pytest.approx(expected.mean_low),
        pytest.approx(expected.mean_high),
    )
    assert (found.either, found.max_grade, found.depth) == (
        int(expected.flips.sum()),
        3.0,
        int(measure[-1]),
    )


@pytest.mark.parametrize("measure", ["nDCG@5", "P@3", "DCG@4"])
def test_bounds_hold_for_ties_that_straddle_the_cutoff(measure: str) -> None:
    convention = ir.Convention.of("standard", ties="expected")
    rng = np.random.default_rng(4)
    runs = [
        {
            query: {f"d{at}": float(rng.integers(0, 4)) for at in rng.permutation(14)[:10]}
            for query in QUERIES
        }
        for _ in range(2)
    ]

    found = ir.compare(
        *(ir.evaluate(QRELS, run, measure, convention, keep_unjudged=True) for run in runs), rng=1
    )[measure].bounds

    expected = difference_bounds(
        QRELS, *runs, measure, depth=int(measure[-1]), convention=convention
    )
    assert found is not None
    assert (found.low, found.high) == (
        pytest.approx(expected.mean_low),
        pytest.approx(expected.mean_high),
    )


def test_bounds_of_a_difference_are_weighted_as_the_difference_is() -> None:
    weights = {query: float(number + 1) for number, query in enumerate(QUERIES)}
    expected = difference_bounds(QRELS, *RUNS, "nDCG@5", depth=5)
    shares = np.array([weights[query] for query in expected.query_ids]) / sum(weights.values())

    found = compared(weights=weights)["nDCG@5"].bounds

    assert found is not None
    assert (found.low, found.high) == (
        pytest.approx(float(shares @ expected.low)),
        pytest.approx(float(shares @ expected.high)),
    )


def test_the_reversed_difference_has_reversed_bounds() -> None:
    row = compared()["nDCG@5"]

    assert row.bounds is not None
    assert row.reversed().bounds == row.bounds.reversed()
    assert (row.bounds.reversed().low, row.bounds.reversed().high) == (
        -row.bounds.high,
        -row.bounds.low,
    )


def test_text_and_json_have_the_bounds() -> None:
    comparison = compared()
    row = comparison["nDCG@5"]

    assert row.bounds is not None
    record = json.loads(json.dumps(comparison.as_dict()))["pairs"][0]["measures"]["nDCG@5"][
        "bounds"
    ]
    assert record == {
        "low": row.bounds.low,
        "high": row.bounds.high,
        "either": row.bounds.either,
        "max_grade": 3.0,
        "depth": 5,
    }
    (said,) = bounds_sentences(row)
    assert said in verdict_sentences(comparison, comparison.pairs[0]).more
    assert f"between {row.bounds.low:+.3f} and {row.bounds.high:+.3f}" in said


@pytest.mark.parametrize(
    ("qrels", "measure", "keep"),
    [
        # everything is judged
        ({query: {f"d{at}": 1 for at in range(14)} for query in QUERIES}, "nDCG@5", True),
        (QRELS, "nDCG", True),  # no cutoff
        (QRELS, "nDCG@5", False),  # the unjudged documents are not known
        (QRELS, "nDCG(judged_only=True)@5", True),  # and are taken out of the lists
        (QRELS, "AP@5", True),  # no difference of it is exact at any size
        (QRELS, "ERR@5", True),  # evaluations keep no unjudged documents of it
    ],
)
def test_where_nothing_is_to_be_bounded_there_are_no_bounds(
    qrels: dict[str, dict[str, int]], measure: str, keep: bool
) -> None:
    comparison = ir.compare(
        *(ir.evaluate(qrels, run, measure, keep_unjudged=keep) for run in RUNS), rng=1
    )

    (row,) = comparison.pairs[0].measures.values()
    assert row.bounds is None
    assert row.as_dict()["bounds"] is None
    assert bounds_sentences(row) == []


def test_secondary_measures_and_comparisons_of_many_runs_have_no_bounds() -> None:
    a, b = (ir.evaluate(QRELS, run, ["nDCG@5", "P@5"], keep_unjudged=True) for run in RUNS)
    both = ir.compare(a, b, rng=1)
    many = ir.compare(*[a, b] * 6, test="t")

    assert both["nDCG@5"].bounds is not None
    assert both["P@5"].bounds is None
    assert all(row.bounds is None for _, row in many.rows())


def test_the_difference_lies_within_its_bounds() -> None:
    row = compared()["nDCG@5"]

    assert row.bounds is not None
    assert row.bounds.low <= row.difference <= row.bounds.high
    assert math.isfinite(row.bounds.low)
