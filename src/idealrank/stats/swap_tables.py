"""Swap rates of many measures at once, from the same sets of queries, and which of these rates the
queries can tell apart.
"""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import owens_t

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.stats.randomness import RandomLike, generator_of, in_order, whole_number
from idealrank.stats.values import open_share, table_of
from idealrank.stats.whole_numbers import Runs, to_steps

_SPLITS = 32  # of a block
# of a table of resamples by queries, or of queries by pairs, that is held at a time
_CELLS = 1 << 22
_EXACT_BITS = 52  # of a sum of squares over all queries
_LEAST_SPREAD = (
    # of the difference of two swap rates: a smaller one is no reason to choose a measure, and
    # ratios of tiny numbers are unstable
    0.002
)


@dataclass(frozen=True, kw_only=True, eq=False)
class SwapTable:
    """Swap rates of several measures; see `swap_table`."""

    size: int
    trials: int
    exact: bool
    rates: FloatArray
    standard_errors: FloatArray
    tied: FloatArray


def swap_table(
    values: Any,
    *,
    size: int | None = None,
    trials: int = 1000,
    rng: RandomLike = None,
    threads: int | None = None,
) -> SwapTable:
    """Estimate how often two disjoint random sets of queries order two runs in opposite ways, for
    each of several measures.

    Voorhees and Buckley (2002), The effect of topic set size on retrieval experiment error. SIGIR.
    """
    runs = Runs.of(table_of(values, axes=("queries", "runs", "measures"), least=(2, 2, 1)), None)
    n, n_runs, n_measures = runs.totals.shape
    half, asked = half_of(n, size), whole_number("trials", trials, 2)
    # at least half of n (n - 1) of them
    splits = math.comb(n, half) * math.comb(n - half, half) // 2 if n <= asked else asked + 1
    exact = splits <= asked
    count = splits if exact else asked
    firsts = list(combinations(range(n), half)) if exact else []
    blocks = -(-count // _SPLITS)
    seeds = generator_of(rng).bit_generator.seed_seq.spawn(blocks)  # type: ignore[attr-defined]
    every = _all_splits(firsts, n, half) if exact else np.zeros((0, n))
    pairs = np.triu_indices(n_runs, 1)

    def of_block(block: int) -> FloatArray:
        rows = slice(block * _SPLITS, min((block + 1) * _SPLITS, count))
        sides = (
            every[rows]
            if exact
            else _random_splits(
                rows.stop - rows.start, n, half, np.random.default_rng(seeds[block])
            )
        )
        return _swapped(runs, sides, pairs)

    counted = np.concatenate(list(in_order(of_block, blocks, threads)), axis=1) / pairs[0].size
    rates, tied = counted.mean(axis=1)
    errors = np.zeros(n_measures) if exact else counted[0].std(axis=0, ddof=1) / math.sqrt(count)
    return SwapTable(
        size=half, trials=count, exact=exact, rates=rates, standard_errors=errors, tied=tied
    )


def half_of(n: int, size: int | None) -> int:
    """Queries of each of two disjoint sets."""
    half = whole_number("size", n // 2 if size is None else size)
    if 2 * half > n:
        raise OptionError(
            f"size={half}: expected at most half of the {n} queries, since the two sets share none"
        )
    return half


def _all_splits(firsts: list[tuple[int, ...]], n: int, half: int) -> FloatArray:
    """Every split once, as 1 for the first half, -1 for the second, 0 for a query in neither; shape
    (splits, n).
    """
    found = []
    for first in firsts:
        rest = [query for query in range(n) if query not in first]
        for second in combinations(rest, half):
            if first < second:
                row = np.zeros(n)
                row[list(first)], row[list(second)] = 1.0, -1.0
                found.append(row)
    return np.array(found)


def _random_splits(splits: int, n: int, half: int, generator: np.random.Generator) -> FloatArray:
    # which queries, in any order
    order = generator.random((splits, n)).argpartition((half - 1, 2 * half - 1), axis=1)
    sides = np.zeros((splits, n))
    np.put_along_axis(sides, order[:, :half], 1.0, axis=1)
    np.put_along_axis(sides, order[:, half : 2 * half], -1.0, axis=1)
    return sides


def _swapped(runs: Runs, sides: FloatArray, pairs: tuple[IntArray, IntArray]) -> FloatArray:
    """Swaps, ties counted half, and ties, over all pairs: shape (2, splits, measures). Sums of
    whole numbers: exact in any order.
    """
    both = np.concatenate([sides > 0, sides < 0]).astype(np.float64)
    drawn = np.split(
        (both @ runs.totals.reshape(len(runs.totals), -1)).reshape(
            len(both), *runs.totals.shape[1:]
        ),
        2,
    )
    found = np.empty((2, len(sides), runs.unit.size))
    for measure, step in enumerate(runs.step):
        here, there = (
            to_steps(sums[:, pairs[1], measure] - sums[:, pairs[0], measure], step)
            for sums in drawn
        )
        tied = ((here == 0) | (there == 0)).sum(axis=1)
        found[0, :, measure] = (np.sign(here) * np.sign(there) < 0).sum(axis=1) + tied / 2
        found[1, :, measure] = tied
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class SwapSpread:
    """Variation of swap rates and of their differences with the queries; see `swap_spread`."""

    resamples: int
    level: float
    critical: float
    deviations: FloatArray

    @property
    def margins(self) -> FloatArray:
        """Difference of two observed rates that is significant, shape (measures, measures); 1 if
        none is.
        """
        found: FloatArray = np.minimum(
            np.where(self.deviations > 0, self.critical, 0.0)
            * np.fmax(self.deviations, _LEAST_SPREAD),
            1.0,
        )
        return found


def swap_spread(
    values: Any,
    *,
    size: int | None = None,
    resamples: int = 400,
    level: float = 0.95,
    rng: RandomLike = None,
    threads: int | None = None,
) -> SwapSpread:
    """Estimate the distance at which two swap rates differ by more than the choice of queries
    explains.

    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 6.
    """
    open_share("level", level)
    table = table_of(values, axes=("queries", "runs", "measures"), least=(2, 2, 1))
    count = whole_number("resamples", resamples, 2)
    n, half = len(table), half_of(len(table), size)
    rows = max(_CELLS // n, 1)
    blocks = -(-count // rows)
    found = []
    for block, seed in enumerate(generator_of(rng).bit_generator.seed_seq.spawn(blocks)):  # type: ignore[attr-defined]
        times = _resampled(n, min(rows, count - block * rows), np.random.default_rng(seed))
        rates = in_order(
            lambda measure, times=times: _mean_rates(times, table[:, :, measure], half),  # type: ignore[misc]
            table.shape[2],
            threads,
        )
        found.append(np.stack(list(rates), axis=1))
    drawn = np.concatenate(found)
    return _simultaneous(drawn - drawn.mean(axis=0), level, n - 1)


def _resampled(n: int, samples: int, generator: np.random.Generator) -> FloatArray:
    """Count each query in each bootstrap sample, shape (samples, n)."""
    times = np.empty((samples, n))
    for row in times:
        row[:] = np.bincount(generator.integers(n, size=n), minlength=n)
    return times


def _mean_rates(times: FloatArray, table: FloatArray, half: int) -> FloatArray:
    """Mean over pairs of the chance of a swap by one measure, in each sample."""
    first, second = np.triu_indices(table.shape[1], 1)
    wide = max(_CELLS // len(table), 1)
    total = np.zeros(len(times))
    for start in range(0, first.size, wide):
        part = slice(start, start + wide)
        total += _normal_rates(
            times, _as_whole(table[:, second[part]] - table[:, first[part]]), half
        ).sum(axis=1)
    return total / first.size


def _as_whole(differences: FloatArray) -> FloatArray:
    """Differences (queries, pairs) as whole numbers, so many digits that their squares still add up
    exactly.
    """
    bits = max((_EXACT_BITS - math.ceil(math.log2(len(differences)))) // 2 - 1, 8)
    largest = np.abs(differences).max()
    return (
        np.rint(differences * 2.0 ** (bits - math.frexp(largest)[1]))
        if largest > 0
        else differences
    )


def _normal_rates(times: FloatArray, differences: FloatArray, half: int) -> FloatArray:
    """The chance of a swap of each pair in each sample of queries, shape (samples, pairs)."""
    n = times.shape[1]
    sums, squares = times @ differences, times @ differences**2
    deviation = np.sqrt(np.maximum(squares - sums**2 / n, 0) / (n - 1)) * math.sqrt(
        1 / half - 1 / n
    )
    never = deviation <= 0
    apart = np.divide(
        np.abs(sums) / n, deviation, out=np.where(sums != 0, np.inf, 0.0), where=~never
    )
    rates = 4 * owens_t(apart, math.sqrt(n / (n - 2 * half)) if 2 * half < n else math.inf)
    rates[never & (sums == 0)] = 0.5  # every split ties
    return np.asarray(rates, np.float64)


def _simultaneous(rates: FloatArray, level: float, df: int) -> SwapSpread:
    """The margins from centred rates (samples, measures) that come from `df` and one queries."""
    count, measures = rates.shape
    covariance = np.einsum("si,sj->ij", rates, rates) / (count - 1)
    variance = covariance.diagonal()[:, None] + covariance.diagonal() - 2 * covariance
    deviations = np.sqrt(np.maximum(variance, _LEAST_SPREAD**2))
    np.fill_diagonal(deviations, 0.0)
    largest = np.zeros(count)
    for first in range(measures - 1):
        scaled = np.abs(rates[:, first + 1 :] - rates[:, [first]]) / deviations[first, first + 1 :]
        np.maximum(largest, scaled.max(axis=1), out=largest)
    critical = float(np.quantile(largest, level, method="higher"))
    # The deviations are estimates themselves, and the largest ratio has one of the smaller ones
    # below it.
    return SwapSpread(
        resamples=count,
        level=level,
        critical=float(stats.t.isf(stats.norm.sf(critical), df)),
        deviations=deviations,
    )
