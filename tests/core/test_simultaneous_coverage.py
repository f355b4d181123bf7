"""Simultaneous intervals where true differences are large: how often they hold, and how they are
made, by a plain program.
"""

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from idealrank.stats import Design, simultaneous

ALPHA = 0.05
SHAPES = {
    "normal": lambda rng, size: rng.normal(size=size),
    "uniform": lambda rng, size: rng.uniform(-math.sqrt(3), math.sqrt(3), size),
    "laplace": lambda rng, size: rng.laplace(scale=math.sqrt(0.5), size=size),
}


def held(
    n: int, true: Any, trials: int, *, shape: str = "normal", seed: int = 1, **asked: Any
) -> float:
    """Share of samples, each with a standard deviation of 1, whose intervals hold all true
    differences.
    """
    rng, true = np.random.default_rng(seed), np.asarray(true, float)
    found = (
        simultaneous(
            true + SHAPES[shape](rng, (n, true.size)), rng=1, n_resamples=999, threads=1, **asked
        )
        for _ in range(trials)
    )
    return sum(bool(((one.low <= true) & (true <= one.high)).all()) for one in found) / trials


def at_least(share: float, trials: int) -> float:
    """Three standard errors below a share."""
    return share - 3 * math.sqrt(share * (1 - share) / trials)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize(("n", "tests"), [(6, 3), (12, 5), (30, 5)])
def test_intervals_hold_true_differences_of_five_standard_deviations(
    n: int, tests: int, alternative: Any
) -> None:
    """By the critical value at the null alone, 78 to 90 % of these samples held all of them."""
    assert held(n, [5.0] * tests, 400, alternative=alternative) >= at_least(1 - ALPHA, 400)


@pytest.mark.slow
@pytest.mark.parametrize("true", [0.0, 2.0, 5.0])
@pytest.mark.parametrize("tests", [3, 10])
@pytest.mark.parametrize("n", [6, 7, 10, 60])
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_hold_true_differences_of_any_size(
    shape: str, n: int, tests: int, true: float
) -> None:
    """Exact without a true difference, else approximate: less than promised with few queries, most
    so for uniform differences.
    """
    trials = 1000
    promised = (
        1 - ALPHA
        if true == 0 or n >= 20
        else 1 - ALPHA - 0.01
        if shape != "uniform"
        else 1 - ALPHA - 0.03
    )
    assert held(n, [true] * tests, trials, shape=shape, seed=2) >= at_least(promised, trials)


@pytest.mark.slow
@pytest.mark.parametrize("true", [[0, 5, 5], [0, 5, -5], [0] + [5] * 9, [0] * 3 + [5] * 7])
@pytest.mark.parametrize("n", [6, 20, 60])
def test_intervals_beside_tests_without_a_difference_miss_at_twice_the_level_at_most(
    n: int, true: list[float]
) -> None:
    assert held(n, true, 1000, seed=3) >= at_least(1 - 2 * ALPHA, 1000)


def slow_ends(
    differences: Any, counted: Any, design: Design, level: float
) -> tuple[list[float], list[float]]:
    """Two-sided ends of unweighted tests: mean and t statistics under all sign vectors, at the null
    and around the means.
    """
    means = [differences[rows, at].mean() for at, rows in enumerate(counted.T)]
    critical = []
    for centre in (np.zeros(len(means)), np.array(means)):
        totals = design.unit_totals(np.where(counted, differences - centre, 0))
        signs = np.array(list(product([1, -1], repeat=len(totals))))
        largest = np.sort((np.abs(signs @ totals) / np.sqrt((totals**2).sum(axis=0))).max(axis=1))
        critical.append(largest[-math.floor((1 - level) * largest.size + 1e-9) - 1])
    low, high = [], []
    for at, rows in enumerate(counted.T):
        # The statistic falls to 0 at the mean and rises from there: bisection finds where it
        # crosses the critical value.
        def beyond(shift: float, at: int = at, rows: Any = rows) -> bool:
            left = design.unit_totals(np.where(rows, differences[:, at] - shift, 0))
            return bool(abs(left.sum()) / np.sqrt((left**2).sum()) > max(critical) + 1e-12)

        for side, ends in ((-1, low), (1, high)):
            inside, outside = means[at], means[at] + side * 1e3
            for _ in range(80):
                middle = (inside + outside) / 2
                inside, outside = (inside, middle) if beyond(middle) else (middle, outside)
            ends.append(inside)
    return low, high


@pytest.mark.parametrize(("tests", "true"), [(3, 0.0), (3, 3.0), (40, 3.0)])
def test_intervals_use_the_larger_critical_value_of_a_plain_program(
    tests: int, true: float
) -> None:
    """Eleven clusters of one or two queries; each test leaves out two other queries."""
    rng, counted = np.random.default_rng(tests), np.ones((12, tests), bool)
    for column, (first, second) in zip(range(tests), combinations(range(12), 2), strict=False):
        counted[[first, second], column] = False
    differences, design = (
        rng.normal(true, 1, counted.shape),
        Design.of(12, clusters=[0, *range(11)]),
    )
    found = simultaneous(differences, counted=counted, design=design, level=0.8)
    low, high = slow_ends(differences, counted, design, 0.8)
    assert found.exact
    assert found.low == pytest.approx(low, abs=1e-6)
    assert found.high == pytest.approx(high, abs=1e-6)


def test_means_of_few_queries_that_differ_among_many_are_of_all_queries() -> None:
    """Eight of 40 queries differ from the null; p is over their signs, but all queries differ from
    the mean.
    """
    differences = np.zeros((40, 3))
    differences[:8] = np.random.default_rng(1).normal(2, 1, (8, 3))
    few, many = (
        simultaneous(differences + shift, null=shift, rng=3, n_resamples=20_000)
        for shift in (0.0, 0.5)
    )
    drawn = simultaneous(differences, rng=3, n_resamples=255)
    assert (few.exact, few.n_resamples, drawn.exact) == (True, 256, False)
    assert many.low - 0.5 == pytest.approx(few.low, abs=1e-9)
    assert (few.high - few.low) / (drawn.high - drawn.low) == pytest.approx(np.ones(3), rel=0.15)
    without = simultaneous(differences[:8])
    assert without.p.tolist() == few.p.tolist()


def test_a_test_that_p_finds_significant_excludes_the_null_by_an_open_end() -> None:
    """Beside large differences, the critical value around the means exceeds that of p."""
    rng, open_ends = np.random.default_rng(4), 0
    for _ in range(100):
        found = simultaneous(rng.normal([0.7, 5, 5, 5], 1, (12, 4)))
        assert (found.differs == (found.p <= ALPHA)).all()
        open_ends += bool(0 < found.low[0] < 1e-300)
    assert open_ends


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_intervals_are_never_narrower_than_at_the_null_and_hardly_wider_if_differences_are_small(
    alternative: Any,
) -> None:
    differences = np.random.default_rng(2).normal(0.1, 1, (1000, 5))
    found = simultaneous(differences, rng=1, n_resamples=10_000, alternative=alternative)
    error = differences.std(axis=0, ddof=1) / math.sqrt(1000)
    ends = [found.difference - found.low, found.high - found.difference]
    for width in (end for end in ends if np.isfinite(end).all()):
        assert (width >= np.abs(found.critical_t) * error * (1 - 1e-9)).all()
        assert (width <= np.abs(found.critical_t) * error * 1.01).all()
