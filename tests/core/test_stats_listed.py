"""The enumeration of the few units that differ, against a plain listing of every draw."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

from idealrank.stats import Design, permutation_test, sign_flips
from idealrank.stats.sign_flips import (
    ROW_BITS,
    Alternative,
    Flips,
    Units,
    counted_rank,
    listed_ends,
)
from tests.conftest import examples

ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater", "less")
SMALLEST = 1 << ROW_BITS


def sparse(n: int, n_nonzero: int, seed: int, *, digits: int = 15) -> Any:
    """One column of n differences of which few are not 0."""
    rng = np.random.default_rng(seed)
    column = np.zeros((n, 1))
    values = rng.normal(0.05, 0.2, n_nonzero).round(digits)
    column[rng.choice(n, n_nonzero, replace=False), 0] = np.where(values == 0, 0.1, values)
    return column


def plain(units: Units, zero_weights: Any, rank: int, alternative: Alternative) -> tuple[Any, Any]:
    """Every draw made, every end computed, all of them sorted."""
    sums = np.zeros((1, 2))
    for row in units.with_weights()[np.flatnonzero(units.totals[:, 0])]:
        sums = np.concatenate([sums, sums + row])
    draws = max(len(sums), zero_weights.size)
    sums = np.resize(sums, (draws, 2))
    sums[:, 1] += np.resize(zero_weights, draws)
    ends = units.ends(sums, alternative)
    return (ends >= 0).sum(axis=0), np.sort(ends, axis=0)[draws - rank]


def zero_weights_of(units: Units, seed: int) -> Any:
    weights = np.where(units.totals == 0, units.weights[:, None], 0)
    return np.concatenate(list(Flips(len(weights), seed).map(weights, SMALLEST, np.copy)))[:, 0]


@pytest.mark.spread(10)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("n_nonzero", "digits"), [(1, 15), (5, 1), (17, 15), (18, 2), (20, 1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_and_ends_are_those_of_every_draw(
    alternative: Alternative, n_nonzero: int, digits: int, *, weighted: bool
) -> None:
    column = sparse(40, n_nonzero, n_nonzero, digits=digits)
    design = Design.of(
        40,
        weights=np.random.default_rng(3).random(40) + 0.1 if weighted else None,
        clusters=np.arange(40) // 2 * 2,
    )
    units = Units.of(column, design if n_nonzero > 5 else Design.of(40))
    drawn = zero_weights_of(units, n_nonzero)
    for level in (0.95, 0.4, 0.9999):
        rank = max(counted_rank(level, max(SMALLEST, 1 << int(units.n_nonzero[0])), 0), 1)
        counted, end = plain(units, drawn, rank, alternative)
        found = listed_ends(units, drawn, rank, alternative)
        assert found.end.tolist() == end.tolist()
        total = units.totals.sum()
        # two-sided, only the side of the mean is read
        of_test = [0] if alternative != "two-sided" or total > 0 else [1]
        assert found.counted[of_test].tolist() == counted[of_test].tolist()


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("n_nonzero", "digits"), [(18, 15), (20, 1)])
def test_units_beyond_the_rows_count_as_in_a_plain_enumeration(
    alternative: Alternative, n_nonzero: int, digits: int
) -> None:
    column = sparse(60, n_nonzero, 7, digits=digits)
    flipped = np.zeros(1)
    for value in column[column != 0]:
        flipped = np.concatenate([flipped + value, flipped - value])
    observed, tied = column.sum(), 1e-12 * np.abs(column).sum()
    beyond = {
        "two-sided": np.abs(flipped) >= abs(observed) - tied,
        "greater": flipped >= observed - tied,
        "less": flipped <= observed + tied,
    }

    found = permutation_test(np.zeros(60), column[:, 0], alternative=alternative, rng=1)
    back = permutation_test(column[:, 0], np.zeros(60), alternative=alternative, rng=1)

    turned = {"two-sided": "two-sided", "greater": "less", "less": "greater"}[alternative]
    assert found.p == beyond[alternative].mean()
    assert back.p == beyond[turned].mean()


def test_a_first_look_that_missed_is_followed_by_one_at_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    units = Units.of(sparse(60, 19, 2), Design.of(60))
    drawn = zero_weights_of(units, 2)
    right = listed_ends(units, drawn, 20_000, "two-sided")
    monkeypatch.setattr(sign_flips, "_ERRORS", -20.0)
    assert listed_ends(units, drawn, 20_000, "two-sided").end.tolist() == right.end.tolist()


@pytest.mark.slow
def test_many_sparse_columns_are_tested_in_little_memory() -> None:
    """Of 96 columns all draws of the signs without a difference would be 101 MB at once, and as
    much again while they are joined.
    """
    columns = np.concatenate([sparse(40, 3, seed) for seed in range(96)], axis=1)
    tracemalloc.start()
    try:
        test = permutation_test(np.zeros_like(columns), columns, rng=1, threads=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 110e6
    few = permutation_test(np.zeros((40, 2)), columns[:, [3, 90]], rng=1, threads=2)
    assert (few.p.tolist(), few.low.tolist()) == (
        test.p[[3, 90]].tolist(),
        test.low[[3, 90]].tolist(),
    )


def test_few_large_and_many_small_differences_beside_equal_queries_have_a_p_value() -> None:
    """Blocks of draws without one that is near the end of the interval: 17 small gains and 3 large
    ones of 60 queries.
    """
    gains = np.r_[np.zeros(40), np.full(17, 0.1), np.full(3, 1.0)]

    result = permutation_test(np.zeros(60), gains, rng=1)

    assert result.p == 2.0**-19  # all gain: of 2^20 sign vectors, this one and its opposite


@pytest.mark.parametrize("n_differing", range(1, 25))
def test_any_number_of_differing_and_equal_queries_agrees_with_a_plain_listing(
    n_differing: int,
) -> None:
    """Few large, many small, most of one sign; beyond 20 within five standard errors of draws."""
    rng = np.random.default_rng(n_differing)
    for _ in range(examples(20)):
        n_large = int(rng.integers(0, min(n_differing, 5) + 1))
        large = float(rng.choice([0.5, 1.0, 2.0]))
        sizes = np.r_[np.full(n_differing - n_large, 0.125), np.full(n_large, large)]
        losses = rng.random(n_differing) < rng.choice([0.0, 0.1, 0.3])
        differences = np.where(losses, -sizes, sizes)
        n_equal = int(rng.choice([0, 1, 2, 7, 40, 300]))
        sums = np.zeros(1, np.float32)  # eighths are exact
        for value in differences:
            sums = np.concatenate([sums + np.float32(value), sums - np.float32(value)])
        exact = float(np.mean(np.abs(sums) >= abs(differences.sum())))
        values = np.r_[np.zeros(n_equal), differences]

        result = permutation_test(np.zeros(values.size), values, rng=1)

        drawn = n_differing > 20
        error = 5 * np.sqrt(exact * (1 - exact) / 100_000) + 1 / 100_000 if drawn else 0.0
        assert result.p == pytest.approx(exact, abs=error)
        assert (result.low <= 0 <= result.high) == (result.p > 0.05)
