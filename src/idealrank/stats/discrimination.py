"""Discrimination of runs: swaps between random halves of the queries, of many measures at once, and
the share of significant pairs.
"""

import math
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import stats
from scipy.special import owens_t

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.stats.design import Design, LinearMean, linear_mean, student_mean
from idealrank.stats.intervals import Draws, ResampledUnits
from idealrank.stats.pairwise_tests import tukey_hsd
from idealrank.stats.randomness import RandomLike, generator_of, in_order, whole_number
from idealrank.stats.tolerance import ROUNDING, largest_of
from idealrank.stats.values import (
    above_zero,
    chosen,
    design_of,
    open_share,
    refuse_design,
    table_of,
)
from idealrank.stats.whole_numbers import Runs, to_steps

PairTest: TypeAlias = Literal["hsd", "t", "bootstrap"]

_SPLITS = 32  # splits of one block of work
_PAIRS = 256  # pairs of runs tested at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class SwapRates:
    """Rates at which two disjoint sets of queries disagree; see `swap_rates`.

    Parameters
    ----------
    size : int
        Number of queries in each set, or of clusters if the design has them.
    trials : int
        Number of random splits.
    width : float
        Width of a bin of differences, in units of the measure.
    comparisons, swaps : int64 array, shape (bins,)
        Number of run pairs whose difference on one set falls in the bin, over all splits; and
        number of those whose other set has the opposite sign.
    standard_errors : float64 array, shape (bins,)
        Monte Carlo error of each rate, from the spread between splits: the precision of the rate
        for these queries, not its variation over other queries. NaN for empty bins.
    rate, standard_error : float
        Rate and standard error over all bins.

    Examples
    --------
    >>> found = swap_rates(np.random.default_rng(1).random((40, 1)) + np.linspace(0, 0.1, 5), rng=1)
    >>> print(found)
    swap rate 0 (standard error 0) over 1000 splits into halves of 20 queries
    """

    size: int
    trials: int
    width: float
    comparisons: IntArray
    swaps: IntArray
    standard_errors: FloatArray
    rate: float
    standard_error: float

    @property
    def rates(self) -> FloatArray:
        """Share of swaps in each bin; NaN for empty ones."""
        rates = np.full(self.swaps.size, np.nan)
        np.divide(self.swaps, self.comparisons, out=rates, where=self.comparisons > 0)
        return rates

    def difference_for(self, rate: float = 0.05) -> float:
        """Return the difference from which on every bin has at most this swap rate; infinite if the
        last bin has more.

        Examples
        --------
        >>> found = swap_rates(
        ...     np.random.default_rng(1).random((40, 1)) + np.linspace(0, 0.1, 5), rng=1
        ... )
        >>> found.difference_for(0.05)
        0.0
        """
        open_share("rate", rate)
        above = np.flatnonzero(self.rates > rate)
        if not above.size:
            return 0.0
        last = int(np.flatnonzero(self.comparisons)[-1])
        return math.inf if above[-1] == last else float((above[-1] + 1) * self.width)

    def __str__(self) -> str:
        return (
            f"swap rate {self.rate:.3g} (standard error {self.standard_error:.2g}) over "
            f"{self.trials} splits into halves of {self.size} queries"
        )


def swap_rates(
    values: Any,
    *,
    size: int | None = None,
    width: float = 0.01,
    trials: int = 1000,
    rng: RandomLike = None,
    design: Design | None = None,
    threads: int | None = None,
) -> SwapRates:
    """Estimate how often two disjoint random sets of queries order a pair of runs in opposite ways,
    by size of the difference.

    Parameters
    ----------
    values : float array, shape (queries, runs)
        Values of a measure for every run and query.
    size : int, optional
        Number of queries (clusters, if the design has them) in each of the two sets; default half
        of all. Rates apply to sets of this size, not to all queries: compute several sizes to see
        the trend.
    width : float
        Width of a bin of differences.
    trials : int
        Number of random splits.
    rng : Generator, seed or None
        Random generator or seed; the only source of randomness.
    design : Design, optional
        Weights give weighted means, queries of a cluster are in the same set, and both sets keep
        the shares of all strata to within one unit each.
    threads : int, optional
        Number of threads; None uses all cores. The result does not depend on it.

    Raises
    ------
    OptionError
        `size` is more than half of the queries or clusters.

    References
    ----------
    Voorhees and Buckley (2002), The effect of topic set size on retrieval experiment error. SIGIR.
    Sakai (2006), Evaluating evaluation metrics based on the bootstrap. SIGIR.

    Examples
    --------
    >>> noise = np.random.default_rng(1).random((40, 5))
    >>> 0.4 < swap_rates(noise, rng=1).rate < 0.7
    True
    """
    table = table_of(values, least=(2, 2))
    design = design_of(design, len(table))
    weighted_units = _WeightedUnits(
        totals=design.unit_totals(table),
        weights=design.unit_totals(np.ones(design.n)),
        strata=design.unit_strata(),
    )
    half = whole_number("size", design.n_units // 2 if size is None else size)
    if 2 * half > design.n_units:
        units = f"{design.n_units} {'queries' if design.clusters is None else 'clusters'}"
        raise OptionError(
            f"size={half}: expected at most half of the {units}, since the two sets share none"
        )
    count = whole_number("trials", trials, 2)
    bins = _Bins(width, int(np.ptp(table, axis=1).max() / above_zero("width", width)) + 2)
    blocks = -(-count // _SPLITS)
    seeds = generator_of(rng).bit_generator.seed_seq.spawn(blocks)  # type: ignore[attr-defined]

    def compare_block(block: int) -> IntArray:
        generator = np.random.default_rng(seeds[block])
        order = weighted_units.orders(min(_SPLITS, count - block * _SPLITS), generator)
        return _compare_halves(weighted_units, order[:, :half], order[:, half : 2 * half], bins)

    compared, swapped = np.concatenate(  # of each split and bin
        list(in_order(compare_block, blocks, threads)), axis=1
    )
    comparisons = compared.sum(axis=0)
    swaps = swapped.sum(axis=0)
    errors = np.array(
        [_ratio_error(part, whole) for part, whole in zip(swapped.T, compared.T, strict=True)]
    )
    n_bins = int(np.flatnonzero(comparisons)[-1]) + 1  # up to the last one that is not empty
    rate = float(swaps.sum() / comparisons.sum())
    return SwapRates(
        size=half,
        trials=count,
        width=width,
        comparisons=comparisons[:n_bins],
        swaps=swaps[:n_bins],
        standard_errors=errors[:n_bins],
        rate=rate,
        standard_error=_ratio_error(swapped.sum(axis=1), compared.sum(axis=1)),
    )


class _Bins(NamedTuple):
    """Bins of differences."""

    width: float
    number: int


class _WeightedUnits(NamedTuple):
    """Weighted totals of the units, (n_units, runs), their weights, (n_units,), and the stratum of
    each.
    """

    totals: FloatArray
    weights: FloatArray
    strata: IntArray | None

    def orders(self, splits: int, generator: np.random.Generator) -> IntArray:
        """Units in a random order for each split, shape (splits, n_units); any stretch of it has
        the shares of the strata.
        """
        # The units of a stratum get one key in each of as many equal intervals from 0 to 1.
        keys = generator.random((splits, self.weights.size))
        for stratum in range(0 if self.strata is None else int(self.strata.max()) + 1):
            units = np.flatnonzero(self.strata == stratum)
            ranks = keys[:, units].argsort(axis=1).argsort(axis=1)
            keys[:, units] = (ranks + keys[:, units]) / units.size
        return keys.argsort(axis=1)

    def means(self, units: IntArray) -> FloatArray:
        """Mean of each run over the units of each split, shape (splits, runs)."""
        return np.asarray(
            self.totals[units].sum(axis=1) / self.weights[units].sum(axis=1, keepdims=True),
            np.float64,
        )


def _compare_halves(
    units: _WeightedUnits, half: IntArray, other_half: IntArray, bins: _Bins
) -> IntArray:
    """Comparisons and swaps by split and bin, shape (2, splits, bins); each half has shape
    (splits, size).
    """
    a, b = np.triu_indices(units.totals.shape[1], 1)
    rounding = ROUNDING * np.abs(units.totals).max()
    differences = []
    for means in (units.means(half), units.means(other_half)):
        difference = means[:, b] - means[:, a]
        difference[np.abs(difference) <= rounding] = 0.0
        differences.append(difference)
    on_half, on_other_half = differences
    # A difference of 0.03 belongs to the bin from 0.03 on, however it is rounded.
    bin_of_pair = np.minimum(
        (np.abs(on_half) / bins.width * (1 + 1e-9)).astype(np.int64), bins.number - 1
    )
    splits = len(half)
    cells = bin_of_pair + bins.number * np.arange(splits)[:, None]  # a bin of a split
    swapped = on_half * on_other_half < 0
    counts = [
        np.bincount(filled, minlength=splits * bins.number)
        for filled in (cells.reshape(-1), cells[swapped])
    ]
    return np.stack(counts).reshape(2, splits, bins.number)


def _ratio_error(part: IntArray, whole: IntArray) -> float:
    """Standard error of sum(part) / sum(whole) over independent trials, by linearisation."""
    total = whole.sum()
    if not total:
        return math.nan
    residuals = part - part.sum() / total * whole
    variance = residuals.size / (residuals.size - 1) * (residuals**2).sum()
    return float(math.sqrt(variance) / total)


@dataclass(frozen=True, kw_only=True)
class DiscriminativePower:
    """Number of run pairs that a test distinguishes; see `discriminative_power`.

    Parameters
    ----------
    pairs, significant : int
        Number of all pairs, and of those with p <= alpha.
    alpha : float
        Significance level.
    test : str
        ``hsd``, ``t`` or ``bootstrap``.
    difference_needed : float
        Difference that is significant for every pair: the largest of the pairs' critical
        differences.

    Examples
    --------
    >>> print(
    ...     DiscriminativePower(
    ...         pairs=45, significant=30, alpha=0.05, test="hsd", difference_needed=0.041
    ...     )
    ... )
    discriminative power 0.667: 30 of 45 pairs differ (hsd, alpha 0.05); a difference of 0.041 is always significant
    """  # noqa: E501

    pairs: int
    significant: int
    alpha: float
    test: str
    difference_needed: float

    @property
    def share(self) -> float:
        """Share of significant pairs, in [0, 1]."""
        return self.significant / self.pairs

    def __str__(self) -> str:
        sure = "estimated to be" if self.test == "bootstrap" else "always"
        return (
            f"discriminative power {self.share:.3g}: {self.significant} of {self.pairs} pairs "
            f"differ ({self.test}, alpha {self.alpha:g}); a difference of "
            f"{self.difference_needed:.3g} is {sure} significant"
        )


def discriminative_power(
    values: Any,
    *,
    test: PairTest = "hsd",
    alpha: float = 0.05,
    n_resamples: int = 1000,
    rng: RandomLike = None,
    design: Design | None = None,
    threads: int | None = None,
) -> DiscriminativePower:
    """Compute the share of run pairs that differ significantly, to compare measures on the same
    runs.

    It counts differences whether right or wrong: a measure with a consistent error can have high
    discriminative power.

    Parameters
    ----------
    values : float array, shape (queries, runs)
        Values of a measure for every run and query.
    test : {"hsd", "t", "bootstrap"}
        ``hsd``: two-way Tukey HSD, corrected for all pairs, so that among equal runs any pair
        differs with probability alpha. The others test pair by pair without correction, so that
        among equal runs a share alpha of the pairs differs: ``t`` is the paired t test,
        ``bootstrap`` Sakai's paired bootstrap test, which reproduces the figures of his papers.
    alpha : float
        Significance level, in (0, 1).
    n_resamples : int
        Number of bootstrap draws; 1000 in the papers.
    rng : Generator, seed or None
        Random generator or seed of the bootstrap. All pairs share their draws.
    design : Design, optional
        Weights, strata and clusters, for ``t`` and ``bootstrap``.
    threads : int, optional
        Number of threads; None uses all cores. The result does not depend on it.

    Raises
    ------
    OptionError
        An option has an invalid value, or the test is Tukey's HSD and the design is not plain.

    Notes
    -----
    The bootstrap shifts every difference by their mean, draws the queries with replacement, and
    counts the draws whose absolute t statistic reaches the observed one. Here p is ``(count + 1) /
    (n_resamples + 1)``, and a pair differs if it is at most alpha; the paper uses ``count /
    n_resamples < alpha``, which gives the same decisions at 1000 draws and 0.05. The difference
    needed by a pair is the absolute mean of the draw whose statistic is the ``alpha
    n_resamples``-th largest.

    References
    ----------
    Sakai (2006), Evaluating evaluation metrics based on the bootstrap. SIGIR.

    Examples
    --------
    >>> table = np.random.default_rng(1).normal(0, 0.1, (50, 4)) + np.array([0.3, 0.31, 0.4, 0.5])
    >>> discriminative_power(table).share
    0.8333333333333334
    >>> print(discriminative_power(table, test="bootstrap", rng=1))
    discriminative power 0.833: 5 of 6 pairs differ (bootstrap, alpha 0.05); a difference of 0.043 is estimated to be significant
    """  # noqa: E501
    chosen("test", test, ("hsd", "t", "bootstrap"))
    open_share("alpha", alpha)
    table = table_of(values)
    first, second = np.triu_indices(table.shape[1], 1)
    if test == "hsd":
        refuse_design("test='hsd'", design, "test='t' or test='bootstrap'")
        hsd = tukey_hsd(table, level=1 - alpha)
        return DiscriminativePower(
            pairs=first.size,
            significant=int(hsd.differs[first, second].sum()),
            alpha=alpha,
            test=test,
            difference_needed=hsd.least_difference,
        )
    design = design_of(design, len(table))
    draws = None
    if test == "bootstrap":
        draws = Draws(design, whole_number("n_resamples", n_resamples), rng, threads)
    significant = 0
    needed = 0.0
    for start in range(0, first.size, _PAIRS):
        part = slice(start, start + _PAIRS)
        a = table[:, first[part]]
        b = table[:, second[part]]
        columns = b - a
        if draws is None:
            means = student_mean(columns, design, largest_of(a, b))
            differs, least_significant = _by_t(means, alpha)
        else:
            means = linear_mean(columns, design, largest_of(a, b))
            units = ResampledUnits.of(columns, design, means)
            differs, least_significant = _by_bootstrap(units, means, draws, alpha)
        beyond_rounding = np.abs(means.mean) > ROUNDING * np.abs(table).max()
        significant += int((differs & beyond_rounding).sum())
        needed = max(needed, float(least_significant.max()))
    return DiscriminativePower(
        pairs=first.size, significant=significant, alpha=alpha, test=test, difference_needed=needed
    )


def _by_t(means: LinearMean, alpha: float) -> tuple[BoolArray, FloatArray]:
    """Mark the columns with a mean other than 0, and the means they need for it."""
    critical = stats.t.isf(alpha / 2, means.df) if means.df else 1.0  # times an infinite error
    least_significant = critical * means.se
    return np.abs(means.mean) >= least_significant, least_significant


def _by_bootstrap(
    units: ResampledUnits, means: LinearMean, draws: Draws, alpha: float
) -> tuple[BoolArray, FloatArray]:
    """Mark significant columns by the studentised bootstrap of the shifted columns, and give the
    means they need for it.
    """
    columns = means.mean.size

    def statistics_and_shifts(counts: FloatArray) -> FloatArray:
        return np.asarray(
            np.abs(np.concatenate([units.studentised(counts), units.shifts(counts)], axis=1)),
            np.float64,
        )

    drawn = draws.each(statistics_and_shifts, 2 * columns)
    statistics = drawn[:, :columns]
    shifts = drawn[:, columns:]
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = np.abs(means.mean) / means.se
    counts = (statistics >= observed * (1 - ROUNDING)).sum(axis=0)
    rank = math.ceil(alpha * draws.n_resamples - 1e-9) - 1  # from 0; the product may round up
    draw_at_rank = np.argsort(-statistics, axis=0, kind="stable")[rank]
    differs = np.asarray((counts + 1) / (draws.n_resamples + 1) <= alpha)
    return differs, np.asarray(shifts[draw_at_rank, np.arange(columns)], np.float64)


# Cells of the table of resamples by queries, or of queries by pairs, that is held at a time
_CELLS = 1 << 22
_EXACT_BITS = 52  # of a sum of squares over all queries: a float64 holds no more
# Least standard deviation of the difference of two swap rates: a smaller difference is no reason
# to choose a measure, and ratios of tiny numbers are unstable
_LEAST_SPREAD = 0.002


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
    half = half_of(n, size)
    most_splits = whole_number("trials", trials, 2)
    # More queries than trials have more splits than trials, at least n (n - 1) / 2, and the exact
    # number would take long.
    splits = (
        math.comb(n, half) * math.comb(n - half, half) // 2 if n <= most_splits else most_splits + 1
    )
    exact = splits <= most_splits
    count = splits if exact else most_splits
    firsts = list(combinations(range(n), half)) if exact else []
    blocks = -(-count // _SPLITS)
    seeds = generator_of(rng).bit_generator.seed_seq.spawn(blocks)  # type: ignore[attr-defined]
    all_splits = _all_splits(firsts, n, half) if exact else np.zeros((0, n))
    pairs = np.triu_indices(n_runs, 1)

    def count_block(block: int) -> FloatArray:
        rows = slice(block * _SPLITS, min((block + 1) * _SPLITS, count))
        if exact:
            return _swapped(runs, all_splits[rows], pairs)
        generator = np.random.default_rng(seeds[block])
        sides = _random_splits(rows.stop - rows.start, n, half, generator)
        return _swapped(runs, sides, pairs)

    blocks_of_counts = list(in_order(count_block, blocks, threads))
    swapped, tied = np.concatenate(blocks_of_counts, axis=1) / pairs[0].size
    errors = np.zeros(n_measures) if exact else swapped.std(axis=0, ddof=1) / math.sqrt(count)
    return SwapTable(
        size=half,
        trials=count,
        exact=exact,
        rates=swapped.mean(axis=0),
        standard_errors=errors,
        tied=tied.mean(axis=0),
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
    split_rows = []
    for first in firsts:
        others = [query for query in range(n) if query not in first]
        for second in combinations(others, half):
            if first < second:
                row = np.zeros(n)
                row[list(first)] = 1.0
                row[list(second)] = -1.0
                split_rows.append(row)
    return np.array(split_rows)


def _random_splits(splits: int, n: int, half: int, generator: np.random.Generator) -> FloatArray:
    # only which queries, not their order, so a partition is enough
    order = generator.random((splits, n)).argpartition((half - 1, 2 * half - 1), axis=1)
    sides = np.zeros((splits, n))
    np.put_along_axis(sides, order[:, :half], 1.0, axis=1)
    np.put_along_axis(sides, order[:, half : 2 * half], -1.0, axis=1)
    return sides


def _swapped(runs: Runs, sides: FloatArray, pairs: tuple[IntArray, IntArray]) -> FloatArray:
    """Swaps, ties counted half, and ties, over all pairs: shape (2, splits, measures). Sums of
    whole numbers: exact in any order.
    """
    a, b = pairs
    in_halves = np.concatenate([sides > 0, sides < 0]).astype(np.float64)
    all_sums = in_halves @ runs.totals.reshape(len(runs.totals), -1)
    halves = np.split(all_sums.reshape(len(in_halves), *runs.totals.shape[1:]), 2)
    counts = np.empty((2, len(sides), runs.unit.size))
    for measure, step in enumerate(runs.step):
        on_half, on_other_half = (
            to_steps(sums[:, b, measure] - sums[:, a, measure], step) for sums in halves
        )
        tied = ((on_half == 0) | (on_other_half == 0)).sum(axis=1)
        swapped = np.sign(on_half) * np.sign(on_other_half) < 0
        counts[0, :, measure] = swapped.sum(axis=1) + tied / 2
        counts[1, :, measure] = tied
    return counts


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
        significant_from: FloatArray = np.minimum(
            np.where(self.deviations > 0, self.critical, 0.0)
            * np.fmax(self.deviations, _LEAST_SPREAD),
            1.0,
        )
        return significant_from


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
    n = len(table)
    half = half_of(n, size)
    rows = max(_CELLS // n, 1)
    blocks = -(-count // rows)
    sampled_rates = []
    for block, seed in enumerate(generator_of(rng).bit_generator.seed_seq.spawn(blocks)):  # type: ignore[attr-defined]
        times = _resampled(n, min(rows, count - block * rows), np.random.default_rng(seed))
        rates_of = partial(_measure_rates, times, table, half)
        sampled_rates.append(np.stack(list(in_order(rates_of, table.shape[2], threads)), axis=1))
    drawn = np.concatenate(sampled_rates)
    return _simultaneous(drawn - drawn.mean(axis=0), level, n - 1)


def _resampled(n: int, samples: int, generator: np.random.Generator) -> FloatArray:
    """Count each query in each bootstrap sample, shape (samples, n)."""
    times = np.empty((samples, n))
    for row in times:
        row[:] = np.bincount(generator.integers(n, size=n), minlength=n)
    return times


def _measure_rates(times: FloatArray, table: FloatArray, half: int, measure: int) -> FloatArray:
    return _mean_rates(times, table[:, :, measure], half)


def _mean_rates(times: FloatArray, values: FloatArray, half: int) -> FloatArray:
    """Mean over pairs of the chance of a swap by one measure, in each sample."""
    a, b = np.triu_indices(values.shape[1], 1)
    pairs_at_once = max(_CELLS // len(values), 1)
    total = np.zeros(len(times))
    for start in range(0, a.size, pairs_at_once):
        part = slice(start, start + pairs_at_once)
        differences = _as_whole(values[:, b[part]] - values[:, a[part]])
        total += _normal_rates(times, differences, half).sum(axis=1)
    return total / a.size


def _as_whole(differences: FloatArray) -> FloatArray:
    """Differences (queries, pairs) as whole numbers, so many digits that their squares still add up
    exactly.
    """
    bits = max((_EXACT_BITS - math.ceil(math.log2(len(differences)))) // 2 - 1, 8)
    largest = np.abs(differences).max()
    if largest == 0:
        return differences
    _, exponent = math.frexp(largest)
    return np.rint(differences * 2.0 ** (bits - exponent))


def _normal_rates(times: FloatArray, differences: FloatArray, half: int) -> FloatArray:
    """The chance of a swap of each pair in each sample of queries, shape (samples, pairs)."""
    n = times.shape[1]
    sums = times @ differences
    squares = times @ differences**2
    variance = np.maximum(squares - sums**2 / n, 0) / (n - 1)
    deviation = np.sqrt(variance) * math.sqrt(1 / half - 1 / n)  # of the mean of a half
    constant = deviation <= 0
    distance = np.divide(
        np.abs(sums) / n, deviation, out=np.where(sums != 0, np.inf, 0.0), where=~constant
    )
    # The means of the two halves are taken for jointly normal, with the correlation of samples
    # without replacement. Owen's T gives the chance that their signs differ.
    ratio = math.sqrt(n / (n - 2 * half)) if 2 * half < n else math.inf
    rates = 4 * owens_t(distance, ratio)
    rates[constant & (sums == 0)] = 0.5  # every split ties
    return np.asarray(rates, np.float64)


def _simultaneous(rates: FloatArray, level: float, df: int) -> SwapSpread:
    """The margins from centred rates (samples, measures) of samples of `df` + 1 queries."""
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
    # The deviations are estimates from `df` + 1 queries, and the largest ratio tends to have one
    # that is too small: the quantile of t with the same tail takes the place of the normal one.
    return SwapSpread(
        resamples=count,
        level=level,
        critical=float(stats.t.isf(stats.norm.sf(critical), df)),
        deviations=deviations,
    )
