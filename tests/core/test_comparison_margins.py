"""`compare` with a margin: equivalence, and rare large losses."""

import numpy as np
import pytest
from scipy import stats

import idealrank as ir
from tests.core.test_comparison import evaluation


def test_equivalence_within_a_margin() -> None:
    generator = np.random.default_rng(1)
    values = generator.random(200)
    a, b = evaluation(values, "a"), evaluation(values + generator.normal(0, 0.02, 200), "b")

    limit = {"largest_loss": 0.2}
    near, far = (
        ir.compare(a, b, margin=0.01, **limit)["P@1"],
        ir.compare(a, b, margin=0.001, **limit)["P@1"],
    )
    exact, whole = (
        ir.compare(a, b, margin=0.01, test="t", **limit)["P@1"],
        ir.compare(a, b, margin=0.01),
    )

    assert (near.verdict, far.verdict, exact.verdict) == ("equivalent", "undecided", "equivalent")
    differences = b["P@1"] - a["P@1"]
    sides = (
        stats.ttest_1samp(differences, null, alternative=side).pvalue
        for null, side in ((-0.01, "greater"), (0.01, "less"))
    )
    unseen = max(ir.stats.unseen_loss_p(side, 0.01, 0.2) for side in (differences, -differences))
    assert exact.p_equivalence == pytest.approx(max(*sides, unseen), rel=1e-9)
    assert whole["P@1"].verdict == "undecided"
    assert whole.cautions == (
        "200 queries cannot show a difference below 0.01, even if none differs: up to 1.5% of "
        "all queries may still lose 1, the largest "
        "possible loss. Use 299 queries or more; or give a largest loss of at most 0.67, if "
        "no query can lose more.",
    )
    assert whole.cautions[0] in str(whole)


def test_a_largest_loss_that_a_query_exceeds_gives_way_to_the_range() -> None:
    a, b = evaluation([0.5] * 40, "a"), evaluation([0.5] * 39 + [0.1], "b")
    found = ir.compare(a, b, margin=0.2, largest_loss=0.3)
    margin = found["P@1"].margin
    assert margin is not None
    assert (margin.largest_loss, margin.largest_seen, margin.queries_needed) == (
        1.0,
        pytest.approx(0.4),
        14,
    )
    assert found.cautions == (
        "A query differs by 0.4, more than the largest loss given, 0.3: the range of the "
        "measure, 1, is taken.",
    )


def test_a_largest_loss_that_a_query_exceeds_refuses_equivalence_without_a_range() -> None:
    a, b = (evaluation([0.5] * 39 + [last], "x", measures=("DCG@10",)) for last in (0.5, 0.1))
    compared = ir.compare(a, b, margin=0.2, largest_loss=0.3)
    assert compared["DCG@10"].p_equivalence == 1.0
    assert compared.cautions == (
        "A query differs by 0.4, more than the largest loss given, 0.3: equivalence cannot be "
        "shown.",
    )


def test_equivalence_by_a_measure_without_a_range_has_no_known_error_rate() -> None:
    values = np.random.default_rng(4).random(50)
    a, b = (
        evaluation(values + shift, name, measures=("DCG@10",))
        for shift, name in ((0.0, "a"), (1e-3, "b"))
    )
    found, limited = ir.compare(a, b, margin=0.2), ir.compare(a, b, margin=0.2, largest_loss=1.0)
    assert (found["DCG@10"].verdict, limited["DCG@10"].verdict) == ("equivalent", "equivalent")
    assert "The error rate of a difference below 0.2 is not known" in found.cautions[0]
    assert limited.cautions == ()
