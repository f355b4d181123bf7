"""Unpaired tests by enumeration, their inversion and degenerate samples; margins."""

from itertools import combinations

import numpy as np
import pytest

import idealrank as ir
from idealrank.stats import (
    equivalence,
    mann_whitney,
    non_inferiority,
    unpaired_permutation,
    unpaired_tests,
    welch_t,
)

A = np.array([0.1, 0.25, 0.3, 0.72])
B = np.array([0.4, 0.55, 0.61, 0.9, 0.95])


def every_exchange(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The difference of means of every way to choose who is b."""
    pooled = np.concatenate((a, b))
    every = [
        np.isin(np.arange(pooled.size), chosen)
        for chosen in combinations(range(pooled.size), b.size)
    ]
    return np.array([pooled[mask].mean() - pooled[~mask].mean() for mask in every])


def test_permutation_by_listing_all() -> None:
    """p by counting, and the bounds as the shifts of b at which it crosses alpha/2."""
    found = unpaired_permutation(A, B, level=0.9)
    every = every_exchange(A, B)
    observed = B.mean() - A.mean()
    assert found.p == pytest.approx(2 * (every >= observed - 1e-12).mean(), abs=1e-15)
    assert found.note == "all 126 exchanges"
    for bound, inside in ((found.low, 1), (found.high, -1)):
        for step, rejected in ((1e-9, False), (-1e-9, True)):
            shift = bound + inside * step
            moved = every_exchange(A, B - shift)
            tail = (inside * moved >= inside * (observed - shift) - 1e-12).mean()
            assert (tail <= 0.05) == rejected


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("test", [welch_t, unpaired_permutation])
def test_p_and_interval_never_contradict_each_other(test, alternative: str) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random((12, 200)), rng.random((15, 200)) + rng.choice([-0.25, 0.25], 200)
    options = {"rng": 3, "n_resamples": 999} if test is unpaired_permutation else {}
    found = test(a, b, alternative=alternative, level=0.9, **options)
    outside = (found.low > 0) | (found.high < 0)
    assert (outside == (found.p <= 0.1)).all()
    assert 20 < outside.sum() < 180


def test_mann_whitney_by_listing_all() -> None:
    """The number of wins over all exchanges of untied values."""
    pooled = np.concatenate((A, B))
    every = [np.isin(np.arange(9), chosen) for chosen in combinations(range(9), 5)]
    wins = np.array([(pooled[mask][:, None] > pooled[~mask]).sum() for mask in every])
    found = mann_whitney(A, B)
    assert found.statistic == wins[-1] == 17
    assert found.p == pytest.approx(2 * (wins >= 17).mean(), abs=1e-15)
    assert found.common_language == 17 / 20


def test_random_exchanges_have_the_same_bits_for_any_threads(monkeypatch) -> None:
    monkeypatch.setattr(unpaired_tests, "_ITEMS", 1 << 12)
    rng = np.random.default_rng(4)
    a, b = rng.random((30, 2)), rng.random((25, 2))
    one, many = (
        unpaired_permutation(a, b, n_resamples=2000, rng=5, threads=threads) for threads in (1, 4)
    )
    assert (one.p.tolist(), one.low.tolist(), one.high.tolist()) == (
        many.p.tolist(),
        many.low.tolist(),
        many.high.tolist(),
    )


def test_degenerate_samples() -> None:
    for test in (welch_t, mann_whitney, unpaired_permutation):
        equal = test([0.5, 0.5, 0.5], [0.5, 0.5])
        assert (equal.difference, equal.p, equal.effect, equal.common_language) == (0, 1, 0, 0.5)
    assert (welch_t([0.5, 0.5], [0.5, 0.5]).low, welch_t([0.5, 0.5], [0.5, 0.5]).high) == (0, 0)
    lonely = welch_t([0.5], [0.1, 0.2], alternative="less")
    assert (lonely.p, lonely.low, lonely.high, lonely.note) == (
        1,
        -np.inf,
        np.inf,
        "one query alone shows no variance",
    )
    few = unpaired_permutation([0.1, 0.2], [0.3, 0.4])
    assert (few.p, few.low, few.high) == (pytest.approx(1 / 3), -np.inf, np.inf)
    assert np.isnan(mann_whitney(A, B).low)
    with pytest.raises(ir.InputError, match="expected the same measures"):
        welch_t(np.zeros((3, 2)), np.zeros((3, 1)))
    with pytest.raises(ir.OptionError, match="n_resamples=0"):
        unpaired_permutation(A, B, n_resamples=0)


def test_margins_decide_by_the_interval() -> None:
    """For t, p <= alpha where the interval lies within; other methods decide by theirs alone."""
    rng = np.random.default_rng(6)
    a = rng.random((40, 60))
    b = a + rng.normal(0.0, 0.1, (40, 60)) + rng.choice([-0.03, 0.0], 60)
    for test in (non_inferiority, equivalence):
        found = test(a, b, 0.04, alpha=0.1)
        assert (found.shown == (found.p < 0.1)).all()
        assert 5 < found.shown.sum() < 55
        drawn = test(a, b, 0.04, alpha=0.1, method="percentile", n_resamples=1000, rng=1)
        assert np.isnan(drawn.p).all()
        assert (drawn.shown == found.shown).mean() > 0.8
    per_column = non_inferiority(a[:, :2], b[:, :2], [1.0, 1e-6])
    assert per_column.shown.tolist() == [True, False]
    same = equivalence([0.1, 0.2], [0.1, 0.2], 0.01)
    assert (same.shown, same.p, same.note) == (True, 0, "all values are equal")
    assert str(non_inferiority([0.1], [0.2], 0.05)).startswith(
        "not shown, p = 1: b is not worse than a by 0.05"
    )


@pytest.mark.parametrize("margin", [0, -0.1, [0.1, 0.2, 0.3]])
def test_a_margin_must_be_given_and_above_0(margin) -> None:
    for test in (non_inferiority, equivalence):
        with pytest.raises(
            ir.OptionError,
            match="expected a number above 0 in the units of the measure, or one for each of the 2 "
            "columns",
        ):
            test(np.zeros((3, 2)), np.ones((3, 2)), margin)
    with pytest.raises(ir.OptionError, match=r"alpha=0.5: expected a number below 0.5"):
        equivalence([0.1, 0.2], [0.1, 0.3], 0.1, alpha=0.5)
