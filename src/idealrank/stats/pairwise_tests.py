"""Every pair of several runs on the same queries: the sign-flip test, and Tukey's HSD, as a formula
and randomised.

The sign-flip tests share their signs, and each has the interval that inverts it. The randomised HSD
rearranges the runs within each query.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import ndtr

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.stats.compact_letters import Letters, letters
from idealrank.stats.design import Design
from idealrank.stats.randomness import RandomLike, generator_of, in_order, whole_number
from idealrank.stats.roots import root_between
from idealrank.stats.sign_flips import DRAWS, MOST_UNITS, AllFlips, Flips, both_ends, counted_rank
from idealrank.stats.tails import FEW_VALUES, from_zero, nth_largest
from idealrank.stats.tolerance import ROUNDING
from idealrank.stats.values import Resampled, open_share, refuse_design, table_of
from idealrank.stats.whole_numbers import Runs, Thresholds, as_whole, tie_step, to_steps, unit_of

_SUMS_KEPT = 1 << 23  # sums of runs in memory; more are drawn again for every part of the pairs
_ROWS = 256  # draws of which the differences of a part of the pairs are taken at a time
_LEAST_PAIRS, _MOST_PAIRS = 32, 1024  # pairs of a part


@dataclass(frozen=True, kw_only=True, eq=False)
class AllPairs(Resampled[FloatArray]):
    """Test of every pair of runs; see `all_pairs`. Entry [a, b] of a matrix is for run b minus run
    a.

    Parameters
    ----------
    difference, p, low, high : float64 array, shape (runs, runs) or (runs, runs, measures)
        As in `PermutationTest`, two-sided and not corrected for the number of pairs.
    level, n, n_units, n_resamples, exact
        As in `PermutationTest`; one number for all pairs.

    Examples
    --------
    >>> table = np.random.default_rng(1).normal([0.5, 0.5, 0.7], 0.1, size=(40, 3))
    >>> print(all_pairs(table, rng=1))
    3 pairs of 3 runs on 40 queries: 2 below p = 0.05, not corrected (sign flips, 10,000 draws)
    """

    exact: bool

    def __str__(self) -> str:
        runs = len(self.p)
        alpha = round(1 - self.level, 12)
        below = (self.p <= alpha).reshape(runs, runs, -1).sum(axis=(0, 1)) // 2
        pairs = runs * (runs - 1) // 2
        how = "exact" if self.exact else f"{self.n_resamples:,} draws"
        return "\n".join(
            f"{pairs} pairs of {runs} runs on {self.n} queries: {count} below p = {alpha:g}, not "
            f"corrected (sign flips, {how})"
            for count in below.tolist()
        )


def all_pairs(
    values: Any,
    *,
    n_resamples: int = 10_000,
    rng: RandomLike = None,
    level: float = 0.95,
    design: Design | None = None,
    threads: int | None = None,
) -> AllPairs:
    """Run `permutation_test` on every pair of runs, two-sided, at little more than the cost of the
    runs.

    The sum of a pair's differences over some flipped queries is the difference of its two runs'
    sums, so the signs are drawn once for all pairs. The p values are for single pairs: correct them
    with `adjust`, or use `randomised_hsd`.

    Parameters
    ----------
    values : array_like, shape (queries, runs) or (queries, runs, measures)
        Values of one or several measures for every run and query.
    n_resamples : int
        Number of random sign vectors for every pair, at least 1; if there are no more, all are
        enumerated.
    rng : Generator, seed or None
        Random generator or seed; a generator is advanced. The same seed gives the same bits for any
        number of threads.
    level : float
        Confidence level of each interval, in (0, 1).
    design : Design, optional
        Weights and clusters as in `permutation_test`.
    threads : int, optional
        Number of threads; None or 0 uses all cores.

    Raises
    ------
    InputError
        Fewer than two queries or runs, or a value that is not finite.

    Notes
    -----
    Unlike `permutation_test`, it does not enumerate the signs of pairs that differ on few of many
    queries. Runs with the same value on every query have difference 0, interval [0, 0] and p = 1.

    Examples
    --------
    >>> table = np.random.default_rng(1).normal([0.5, 0.5, 0.7], 0.1, size=(40, 3))
    >>> all_pairs(table, rng=1).p.round(4).tolist()
    [[1.0, 0.5077, 0.0001], [0.5077, 1.0, 0.0001], [0.0001, 0.0001, 1.0]]
    """
    runs = Runs.of(values, design)
    open_share("level", level)
    draws = whole_number("n_resamples", n_resamples)
    n_units = runs.design.n_units
    exact = n_units <= MOST_UNITS and 1 << n_units <= draws
    flips = AllFlips(n_units) if exact else Flips(n_units, rng)
    n_observed = 1  # the observed signs count in addition to random ones
    if exact:
        draws = 1 << n_units
        n_observed = 0
    rank = counted_rank(level, draws, n_observed)
    p = np.ones(runs.differences().shape)
    low = np.zeros(runs.differences().shape)
    high = np.zeros(runs.differences().shape)
    n_counted = draws + n_observed
    for measure in range(runs.unit.size):
        summed = _Summed.of(runs, measure, flips, draws, threads)
        for part in _test_measure(summed, max(rank, 1), draws, threads):
            a = part.first
            b = part.second
            p[a, b, measure] = p[b, a, measure] = (part.counts + n_observed) / n_counted
            negated_low, pair_high = part.ends if rank > 0 else np.full_like(part.ends, np.inf)
            low[a, b, measure] = -negated_low
            high[a, b, measure] = pair_high
            low[b, a, measure] = -pair_high
            high[b, a, measure] = negated_low
    same = runs.identical()
    p[same] = 1.0
    low[same] = 0.0
    high[same] = 0.0
    return AllPairs(
        difference=runs.shaped(runs.differences()),
        p=runs.shaped(p),
        low=runs.shaped(low + 0.0),  # no negative zeros
        high=runs.shaped(high + 0.0),
        level=level,
        n=runs.design.n,
        n_units=n_units,
        n_resamples=draws,
        exact=exact,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Summed:
    """Sums over the flipped units of the runs of one measure, a block after the other: kept if they
    are few, drawn again if not.
    """

    columns: FloatArray  # (n_units, runs + 1): whole totals, and whole weights
    scale: float  # of a mean: a unit over a unit of weights
    flips: Flips
    kept: list[FloatArray]  # blocks of sums; empty if they are drawn again

    @classmethod
    def of(
        cls, runs: Runs, measure: int, flips: Flips, draws: int, threads: int | None
    ) -> "_Summed":
        weights = runs.design.unit_totals(np.ones(runs.design.n))[:, None]
        weight_unit = unit_of(weights)
        columns = np.concatenate(
            [runs.totals[:, :, measure], as_whole(weights, weight_unit)], axis=1
        )
        few = draws * columns.shape[1] <= _SUMS_KEPT
        kept = list(flips.map(columns, draws, np.copy, threads=threads)) if few else []
        return cls(
            columns=columns,
            scale=float(runs.unit[measure] / weight_unit[0]),
            flips=flips,
            kept=kept,
        )

    def blocks(self, size: int) -> Iterator[FloatArray]:
        if not self.kept:
            return self.flips.map(self.columns, size, np.copy, threads=1)
        return (
            block[: size - number * DRAWS]
            for number, block in enumerate(self.kept[: -(-size // DRAWS)])
        )


class _PairTests(NamedTuple):
    """Some pairs of runs, their counts, and the ends (2, pairs) of their intervals, the lower ones
    with their sign changed.
    """

    first: IntArray
    second: IntArray
    counts: IntArray
    ends: FloatArray


def _test_measure(
    summed: _Summed, rank: int, draws: int, threads: int | None
) -> Iterator[_PairTests]:
    """Test the pairs in parts."""
    first, second = np.triu_indices(summed.columns.shape[1] - 1, 1)
    size = max(_LEAST_PAIRS, min(_MOST_PAIRS, FEW_VALUES // (2 * draws)))

    def test_part(number: int) -> _PairTests:
        part = slice(number * size, (number + 1) * size)
        return _test_pairs(summed, first[part], second[part], rank, draws)

    return in_order(test_part, -(-first.size // size), threads)


def _test_pairs(
    summed: _Summed, first: IntArray, second: IntArray, rank: int, draws: int
) -> _PairTests:
    """Test some pairs: each draw has an interval of shifts for which it counts."""
    differences = summed.columns[:, second] - summed.columns[:, first]
    total = differences.sum(axis=0)
    weight = float(summed.columns[:, -1].sum())
    # Each of the two totals of a unit was rounded: sums of all units may differ by so much.
    step = np.maximum(tie_step(differences), 2.0 * len(differences))

    def stream(size: int, work: Callable[[FloatArray], Any]) -> Iterator[Any]:
        for block in summed.blocks(size):
            for row in range(0, len(block), _ROWS):
                sums = block[row : row + _ROWS]
                flipped = sums[:, second] - sums[:, first]
                yield work(both_ends(flipped, sums[:, -1:], total, weight, step))

    tail = nth_largest(stream, rank, draws, 2 * first.size, from_zero)
    # Columns: for every pair minus the lower end, then for every pair the upper end (`both_ends`).
    lower_reaches_zero, upper_reaches_zero = tail.counted.reshape(2, -1)
    # p is the share of draws that count at shift 0. Of a pair with a positive total these are the
    # draws whose lower end is 0 or less, of one with a negative total those whose upper end is 0 or
    # more, since the two ends lie on either side of the mean; of a pair with total 0 all draws.
    total_steps = to_steps(total, step)
    counts = np.full(total.shape, draws)
    counts[total_steps > 0] = lower_reaches_zero[total_steps > 0]
    counts[total_steps < 0] = upper_reaches_zero[total_steps < 0]
    # Until here the ends are in steps.
    ends = tail.end.reshape(2, -1) * step * summed.scale
    return _PairTests(first=first, second=second, counts=counts, ends=ends)


# However many draws are asked for, so that the first ones stay the same
_REARRANGEMENTS_PER_BLOCK = 128


@dataclass(frozen=True, kw_only=True, eq=False)
class RandomisedHSD(Resampled[FloatArray]):
    """Comparison of every pair of runs; see `randomised_hsd`. Entry [a, b] of a matrix is for run b
    minus run a.

    Parameters
    ----------
    means : float64 array, shape (runs,) or (runs, measures)
        Mean of each run.
    difference, p, low, high : float64 array, shape (runs, runs) or (runs, runs, measures)
        Mean of b minus mean of a, p value corrected for all pairs of a measure, and simultaneous
        interval, which contains 0 if and only if p is above 1 - level.
    least_difference : float or float64 array
        Honestly significant difference: two means farther apart than this differ significantly.
        Infinite with too few draws.
    level : float
        Simultaneous confidence level over all intervals of a measure.
    n, n_units, n_resamples : int
        Number of queries, of clusters (or queries) that are rearranged, and of rearrangements.

    Examples
    --------
    >>> table = np.random.default_rng(1).normal([0.5, 0.5, 0.7], 0.1, size=(40, 3))
    >>> print(randomised_hsd(table, rng=1))
    randomised HSD of 3 runs on 40 queries: 2 of 3 pairs differ, those more than 0.0708 apart (level 0.95 for all pairs at once)
    """  # noqa: E501

    means: FloatArray
    least_difference: Any

    @property
    def differs(self) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """Pairs whose interval does not contain 0."""
        return np.asarray((self.low > 0) | (self.high < 0))

    def letters(self, measure: int = 0) -> Letters:
        """Return groups of runs that are not significantly different by one of the measures, and
        the top group.
        """
        runs = len(self.means)
        differs = self.differs.reshape(runs, runs, -1)
        means = self.means.reshape(runs, -1)
        return letters(differs[:, :, measure], means[:, measure])

    def __str__(self) -> str:
        runs = len(self.means)
        differs = self.differs.reshape(runs, runs, -1).sum(axis=(0, 1)) // 2
        pairs = runs * (runs - 1) // 2
        return "\n".join(
            f"randomised HSD of {runs} runs on {self.n} queries: {count} of {pairs} pairs differ, "
            f"those more than {width:.3g} apart (level {self.level:g} for all pairs at once)"
            for count, width in zip(
                differs.tolist(), np.atleast_1d(self.least_difference).tolist(), strict=True
            )
        )


def randomised_hsd(
    values: Any,
    *,
    n_resamples: int = 10_000,
    rng: RandomLike = None,
    level: float = 0.95,
    design: Design | None = None,
    threads: int | None = None,
) -> RandomisedHSD:
    """Find the pairs of runs that differ significantly, corrected for all pairs, without assuming a
    distribution of the values.

    If all runs are equally good, the values of a query could have come from the runs in any order.
    Each draw rearranges the runs within every query, in the same way for all measures, and records
    the range of the means. The p value of a pair is ``(count + 1) / (n_resamples + 1)``, where
    count is the number of draws whose range reaches the pair's difference. The honestly significant
    difference is the order statistic of these ranges that agrees with the p values, and is half the
    width of every interval.

    As in every HSD, one scale applies to all pairs: runs that vary little are judged by the spread
    of all. Runs with the same value on every query have difference 0, interval [0, 0] and p = 1.

    Parameters
    ----------
    values : array_like, shape (queries, runs) or (queries, runs, measures)
        Values of one or several measures for every run and query.
    n_resamples : int
        Number of rearrangements, at least 1; memory hardly depends on it.
    rng : Generator, seed or None
        Random generator or seed; a generator is advanced. The same seed gives the same bits for any
        number of threads.
    level : float
        Simultaneous confidence level, in (0, 1). Each measure is its own family.
    design : Design, optional
        Weights give weighted means; the queries of a cluster are rearranged together. Strata have
        no effect.
    threads : int, optional
        Number of threads; None or 0 uses all cores.

    Raises
    ------
    InputError
        Fewer than two queries or runs, or a value that is not finite.

    References
    ----------
    Carterette (2012), Multiple testing in statistical analysis of systems-based information
    retrieval experiments. ACM TOIS 30(1), section 4.3, algorithm 1.

    Examples
    --------
    >>> table = np.random.default_rng(1).normal([0.5, 0.5, 0.7], 0.1, size=(40, 3))
    >>> found = randomised_hsd(table, rng=1)
    >>> found.p[0].round(4).tolist(), found.letters().texts
    ([1.0, 0.906, 0.0001], ('b', 'b', 'a'))
    """
    runs = Runs.of(values, design)
    open_share("level", level)
    draws = whole_number("n_resamples", n_resamples)
    stream = _ranges_of(runs, rng, threads)
    sums = runs.sums
    upper = np.triu_indices(sums.shape[0], 1)
    sizes = np.abs(sums[upper[1]] - sums[upper[0]])
    thresholds = Thresholds(sizes.T)
    rank = counted_rank(level, draws, 1)
    tail = nth_largest(stream, max(rank, 1), draws, runs.unit.size, thresholds.count)
    least_difference = runs.scaled(tail.end) if rank > 0 else np.full(runs.unit.size, np.inf)
    p = np.ones((len(sums), *sums.shape))
    p[upper] = (thresholds.reached(tail.counted).T + 1) / (draws + 1)
    p[upper[::-1]] = p[upper]
    same = runs.identical()
    difference = runs.differences()
    p[same] = 1.0
    width = np.where(same, 0.0, least_difference)
    return RandomisedHSD(
        means=runs.shaped(runs.means),
        difference=runs.shaped(difference),
        p=runs.shaped(p),
        low=runs.shaped(difference - width),
        high=runs.shaped(difference + width),
        least_difference=runs.shaped(least_difference),
        level=level,
        n=runs.design.n,
        n_units=runs.design.n_units,
        n_resamples=draws,
    )


def _ranges_of(
    runs: Runs, rng: RandomLike, threads: int | None
) -> "Callable[[int, Callable[[FloatArray], Any]], Iterator[Any]]":
    """A stream of the largest total minus the smallest, shape (draws, measures), a step more so
    that ties are reached.
    """
    sequence = generator_of(rng).bit_generator.seed_seq.spawn(1)[0]  # type: ignore[attr-defined]

    def stream(size: int, work: Callable[[FloatArray], Any]) -> Iterator[Any]:
        def map_block(block: int) -> Any:
            seed = np.random.SeedSequence(sequence.entropy, spawn_key=(*sequence.spawn_key, block))
            ranges = _ranges(runs, np.random.default_rng(seed))
            return work(ranges[: size - block * _REARRANGEMENTS_PER_BLOCK])

        return in_order(map_block, -(-size // _REARRANGEMENTS_PER_BLOCK), threads)

    return stream


def _ranges(runs: Runs, generator: np.random.Generator) -> FloatArray:
    n_runs, measures = runs.totals.shape[1:]
    run_numbers = np.broadcast_to(np.arange(n_runs), (_REARRANGEMENTS_PER_BLOCK, n_runs))
    order = np.empty((_REARRANGEMENTS_PER_BLOCK, n_runs), np.int64)
    picked = np.empty((_REARRANGEMENTS_PER_BLOCK * n_runs, measures))
    sums = np.zeros_like(picked)
    for totals in runs.totals:
        generator.permuted(run_numbers, axis=1, out=order)
        np.take(totals, order.ravel(), axis=0, out=picked, mode="clip")  # other modes copy `out`
        sums += picked
    by_run = sums.reshape(_REARRANGEMENTS_PER_BLOCK, n_runs, measures)
    return np.asarray(by_run.max(axis=1) - by_run.min(axis=1) + runs.step, np.float64)


# Tukey's HSD of the two-way table of queries and systems, and the studentized range behind it.
# SciPy's `studentized_range` takes about 15 ms per value and is one minus a number near one in the
# tail; all pairs of 130 systems would take two minutes. The tests compare with it.

# Step and end of the table of ranges; beyond 40 standard deviations lies less than 1e-170
_STEP, _WIDEST = 0.02, 40.0
# log density, against its peak, at which the standard deviation's distribution is cut
_FLOOR = -80.0
_AT_A_TIME = 512  # ranges, each with a row of nodes
# Of a range w the largest value is near w / 2, between 0 and 20: with 12 standard deviations beyond
# either end, less than 1e-32 of it is left out.
_LOWEST_LARGEST = -12.0
_HIGHEST_LARGEST = 32.0
_LARGEST_STEP = 0.05


def range_sf(q: FloatArray, groups: int, degrees: float) -> FloatArray:
    """P(range of `groups` standard normals / independent estimate of their sd > q).

    Lund and Lund (1983), Algorithm AS 190: probabilities and upper quantiles for the studentized
    range. Applied Statistics 32, 204-210.
    """
    log_s, weights = _spread_nodes(degrees)
    log_tail = _range_table(groups)
    ranges = np.asarray(q, np.float64)
    flat = ranges.reshape(-1)
    tails = np.zeros(flat.size)
    for first in range(0, flat.size, _AT_A_TIME):
        part = slice(first, first + _AT_A_TIME)
        widths = np.minimum(flat[part, None] * np.exp(log_s), _WIDEST)
        chances = np.where(widths < _WIDEST, np.exp(log_tail(widths)), 0.0)
        tails[part] = (chances * weights).sum(axis=1)
    return np.clip(tails, 0.0, 1.0).reshape(ranges.shape)


def range_quantile(level: float, groups: int, degrees: float) -> float:
    """The q that the studentized range exceeds with chance 1 - level."""
    highest = 8.0
    while range_sf(np.array(highest), groups, degrees) > 1 - level:
        highest *= 2
    return root_between(
        lambda q: float(range_sf(np.array(q), groups, degrees)) - (1 - level),
        0.0,
        highest,
        within=1e-12,
    )


@lru_cache(maxsize=16)
def _range_table(groups: int) -> CubicSpline:
    """Log P(range of normals > w) for w from 0 to 40."""
    # P is the integral over the largest value z of groups phi(z) Phi(z)^(groups - 1), times the
    # chance that not all other values, which are below z, are above z - w.
    z = np.arange(_LOWEST_LARGEST, _HIGHEST_LARGEST, _LARGEST_STEP)
    density = groups * _LARGEST_STEP * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    below = ndtr(z)
    widths = np.arange(0.0, _WIDEST + 2 * _STEP, _STEP)
    logs = np.empty(widths.size)
    for first in range(0, widths.size, _AT_A_TIME):
        part = slice(first, first + _AT_A_TIME)
        chance_beyond = np.minimum(ndtr(z - widths[part, None]) / below, 1.0)  # of one value
        with np.errstate(divide="ignore"):
            any_beyond = -np.expm1((groups - 1) * np.log1p(-chance_beyond))
        logs[part] = np.log((any_beyond * (density * below ** (groups - 1))).sum(axis=1))
    return CubicSpline(widths, logs - logs[0])


@lru_cache(maxsize=16)
def _spread_nodes(degrees: float) -> tuple[FloatArray, FloatArray]:
    """Nodes in log s, and weights that sum to 1, of s = sqrt(chi^2 / degrees)."""
    step = min(0.04, 1 / (8 * math.sqrt(2 * degrees)))
    lowest, highest = _where_density_ends(degrees)
    log_s = np.arange(lowest, highest + step, step)
    weights = np.exp(_log_density(log_s, degrees))
    return log_s, weights / weights.sum()


def _log_density(log_s: FloatArray, degrees: float) -> FloatArray:
    return np.asarray(degrees * (log_s - np.expm1(2 * log_s) / 2))


def _where_density_ends(degrees: float) -> tuple[float, float]:
    def above(log_s: float) -> float:
        return float(_log_density(np.array(log_s), degrees)) - _FLOOR

    # The log density is at most degrees (log_s + 1/2), and at log_s = 1 + log(1 + x) it is below
    # -2 degrees x: both brackets begin below the floor.
    lowest = root_between(above, _FLOOR / degrees - 1, 0.0)
    highest = root_between(above, 0.0, 1 + math.log1p(-_FLOOR / degrees))
    return lowest, highest


@dataclass(frozen=True, kw_only=True, eq=False)
class HSD:
    """Comparison of every pair of runs; see `tukey_hsd`. Entry [a, b] of a matrix is for run b
    minus run a.

    Parameters
    ----------
    n_queries : int
        Number of queries, all used by every pair.
    level : float
        Simultaneous confidence level; a pair differs at alpha = 1 - level.
    means : float64 array, shape (runs,)
        Mean of each run.
    mean_square : float
        Residual variance of the two-way table, in squared units of the measure.
    degrees : int
        Residual degrees of freedom, (queries - 1) (runs - 1).
    critical : float
        Quantile of the studentized range.
    difference, p, low, high : float64 arrays, shape (runs, runs)
        Mean of b minus mean of a, its p value corrected for all pairs, and its simultaneous
        interval.

    Examples
    --------
    >>> print(tukey_hsd([[0.1, 0.3, 0.7], [0.2, 0.3, 0.9], [0.0, 0.2, 0.5], [0.2, 0.4, 0.6]]))
    two-way Tukey HSD of 3 runs on 4 queries: 2 of 3 pairs differ, those at least 0.195 apart (level 0.95 for all pairs at once)
    """  # noqa: E501

    n_queries: int
    level: float
    means: FloatArray
    mean_square: float
    degrees: int
    critical: float
    difference: FloatArray
    p: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def least_difference(self) -> float:
        """Honestly significant difference: half the width of every interval."""
        return self.critical * math.sqrt(self.mean_square / self.n_queries)

    @property
    def differs(self) -> BoolArray:
        """Pairs whose interval does not contain 0, shape (runs, runs)."""
        return (self.low > 0) | (self.high < 0)

    def letters(self) -> Letters:
        """Return groups of runs that are not significantly different, and the top group."""
        return letters(self.differs, self.means)

    def __str__(self) -> str:
        runs = self.means.size
        pairs = f"{int(self.differs.sum()) // 2} of {runs * (runs - 1) // 2} pairs differ"
        return (
            f"two-way Tukey HSD of {runs} runs on {self.n_queries} queries: {pairs}, those at "
            f"least {self.least_difference:.3g} apart (level {self.level:g} for all pairs at once)"
        )


def tukey_hsd(values: Any, *, level: float = 0.95, design: Design | None = None) -> HSD:
    """Compute Tukey's honestly significant difference for every pair of runs over the same queries.

    The model is value = query + run + residual. The statistic of a pair is ``|mean_b - mean_a| /
    sqrt(MS / n)`` with the residual mean square ``MS = sum of (x - query mean - run mean + mean)^2
    / ((n - 1)(m - 1))``; its distribution is the studentized range of m groups. A one-way HSD, such
    as `scipy.stats.tukey_hsd`, leaves the difficulty of the queries in MS and finds far fewer
    pairs.

    The residuals of all runs are assumed to have equal variance. For many equal values, or runs
    with unequal variances, use the randomised form. Runs with the same value on every query have
    difference 0, interval [0, 0] and p = 1.

    Parameters
    ----------
    values : float array, shape (queries, runs)
        Values of a measure for every run and query.
    level : float
        Simultaneous confidence level, in (0, 1).
    design : Design, optional
        Must be plain: the model assumes independent residuals of equal variance, which weights and
        clusters contradict.

    Raises
    ------
    InputError
        Fewer than two queries or runs, or a value that is not finite.
    OptionError
        The design is not plain; `randomised_hsd` supports it.

    References
    ----------
    Tukey (1953), The problem of multiple comparisons. Carterette (2012), Multiple testing in
    statistical analysis of systems-based information retrieval experiments. ACM TOIS 30.

    Examples
    --------
    >>> found = tukey_hsd([[0.1, 0.3, 0.7], [0.2, 0.3, 0.9], [0.0, 0.2, 0.5], [0.2, 0.4, 0.6]])
    >>> found.p[0].round(4).tolist(), found.letters().texts
    ([1.0, 0.0737, 0.0003], ('b', 'b', 'a'))
    """
    refuse_design("Tukey's HSD", design, "randomised_hsd")
    open_share("level", level)
    table = table_of(values)
    n, runs = table.shape
    means = table.mean(axis=0)
    difference = means - means[:, None]
    scale = float(np.abs(table).max())
    difference[np.abs(difference) <= ROUNDING * scale] = 0.0
    residuals = table - means - table.mean(axis=1, keepdims=True) + table.mean()
    residuals[np.abs(residuals) <= ROUNDING * scale] = 0.0
    degrees = (n - 1) * (runs - 1)
    mean_square = float((residuals**2).sum()) / degrees
    error = math.sqrt(mean_square / n)
    critical = range_quantile(level, runs, degrees)
    p = _p_values(difference, error, runs, degrees)
    same = np.unique(table, axis=1, return_inverse=True)[1].reshape(-1)
    width = np.where(same == same[:, None], 0.0, critical * error)
    p[same == same[:, None]] = 1.0
    return HSD(
        n_queries=n,
        level=level,
        means=means,
        mean_square=mean_square,
        degrees=degrees,
        critical=critical,
        difference=difference,
        p=p,
        low=difference - width,
        high=difference + width,
    )


def _p_values(difference: FloatArray, error: float, runs: int, degrees: int) -> FloatArray:
    upper = np.triu_indices(runs, 1)
    sizes = np.abs(difference[upper])
    statistic = np.divide(sizes, error, out=np.where(sizes > 0, np.inf, 0.0), where=error > 0)
    p = np.ones((runs, runs))
    p[upper] = range_sf(statistic, runs, degrees)
    p.T[upper] = p[upper]
    return p
