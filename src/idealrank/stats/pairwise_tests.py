"""Every pair of several runs on the same queries: the sign-flip test, and the randomised form of
Tukey's HSD.

The sign-flip tests share their signs, and each has the interval that inverts it. The randomised HSD
rearranges the runs within each query.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.stats.compact_letters import Letters, letters
from idealrank.stats.design import Design
from idealrank.stats.randomness import RandomLike, generator_of, in_order, whole_number
from idealrank.stats.sign_flips import DRAWS, MOST_UNITS, AllFlips, Flips, both_ends, counted_rank
from idealrank.stats.tails import FEW_VALUES, from_zero, nth_largest
from idealrank.stats.values import open_share
from idealrank.stats.whole_numbers import Runs, Thresholds, as_whole, tie_step, to_steps, unit_of

_SUMS_KEPT = 1 << 23  # of the runs: beyond, they are drawn again for every part of the pairs
_ROWS = 256  # draws of which the differences of a part of the pairs are taken at a time
_LEAST_PAIRS, _MOST_PAIRS = 32, 1024  # of a part


@dataclass(frozen=True, kw_only=True, eq=False)
class AllPairs:
    """Test of every pair of runs; see `all_pairs`. Entry [a, b] of a matrix is for run b minus run
    a.

    Parameters
    ----------
    difference, p, low, high : float64 array, shape (runs, runs) or (runs, runs, measures)
        As in `PermutationTest`, two-sided and not corrected for the number of pairs.
    level : float
        Confidence level of each interval.
    n, n_units : int
        Number of queries, and of units that are flipped independently.
    n_resamples : int
        Number of sign vectors.
    exact : bool
        True if all sign vectors were enumerated.

    Examples
    --------
    >>> table = np.random.default_rng(1).normal([0.5, 0.5, 0.7], 0.1, size=(40, 3))
    >>> print(all_pairs(table, rng=1))
    3 pairs of 3 runs on 40 queries: 2 below p = 0.05, not corrected (sign flips, 10,000 draws)
    """

    difference: FloatArray
    p: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    n: int
    n_units: int
    n_resamples: int
    exact: bool

    def __str__(self) -> str:
        runs, alpha = len(self.p), round(1 - self.level, 12)
        pairs = self.p.size // runs * (runs - 1) // 2
        how = "exact" if self.exact else f"{self.n_resamples:,} draws"
        below = int((self.p <= alpha).sum()) // 2
        return (
            f"{pairs} pairs of {runs} runs on {self.n} queries: {below} below p = {alpha:g}, not "
            f"corrected (sign flips, {how})"
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
    draws, observed = (1 << n_units, 0) if exact else (draws, 1)
    rank = counted_rank(level, draws, observed)
    p = np.ones(runs.differences().shape)
    low = np.zeros(runs.differences().shape)
    high = np.zeros(runs.differences().shape)
    for measure in range(runs.unit.size):
        for pairs, counts, ends in _of_measure(
            _Summed.of(runs, measure, flips, draws, threads), max(rank, 1), draws, threads
        ):
            first, second = pairs
            p[first, second, measure] = p[second, first, measure] = (counts + observed) / (
                draws + observed
            )
            least, most = ends if rank > 0 else np.full_like(ends, np.inf)
            low[first, second, measure], high[first, second, measure] = -least, most
            low[second, first, measure], high[second, first, measure] = -most, least
    same = runs.identical()
    p[same], low[same], high[same] = 1.0, 0.0, 0.0
    difference, p, low, high = (
        runs.shaped(part) for part in (runs.differences(), p, low + 0.0, high + 0.0)
    )
    return AllPairs(
        difference=difference,
        p=p,
        low=low,
        high=high,
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
    step: float  # the least distance of two sums, in units, by what rounding every query may add
    flips: Flips
    kept: list[FloatArray]

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
            step=float(runs.step[measure]),
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


def _of_measure(
    summed: _Summed, rank: int, draws: int, threads: int | None
) -> Iterator[tuple[tuple[IntArray, IntArray], IntArray, FloatArray]]:
    """Parts of the pairs: which, their counts, and the ends (2, pairs) of their intervals, the
    lower ones with their sign changed.
    """
    first, second = np.triu_indices(summed.columns.shape[1] - 1, 1)
    size = max(_LEAST_PAIRS, min(_MOST_PAIRS, FEW_VALUES // (2 * draws)))

    def one(part: int) -> tuple[tuple[IntArray, IntArray], IntArray, FloatArray]:
        pairs = first[part * size : (part + 1) * size], second[part * size : (part + 1) * size]
        return pairs, *_of_pairs(summed, *pairs, rank, draws)

    return in_order(one, -(-first.size // size), threads)


def _of_pairs(
    summed: _Summed, first: IntArray, second: IntArray, rank: int, draws: int
) -> tuple[IntArray, FloatArray]:
    differences = summed.columns[:, second] - summed.columns[:, first]
    total, weight = differences.sum(axis=0), float(summed.columns[:, -1].sum())
    step = np.maximum(tie_step(differences), 2.0 * len(differences))

    def stream(size: int, work: Callable[[FloatArray], Any]) -> Iterator[Any]:
        for block in summed.blocks(size):
            for row in range(0, len(block), _ROWS):
                sums = block[row : row + _ROWS]
                yield work(
                    both_ends(sums[:, second] - sums[:, first], sums[:, -1:], total, weight, step)
                )

    tail = nth_largest(stream, rank, draws, 2 * first.size, from_zero)
    below, above = tail.counted.reshape(2, -1)
    sign = to_steps(total, step)
    counts = np.where(sign > 0, below, np.where(sign < 0, above, draws))
    return counts, tail.end.reshape(2, -1) * step * summed.scale


_DRAWS = 128  # of a block, whatever is asked


@dataclass(frozen=True, kw_only=True, eq=False)
class RandomisedHSD:
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
    n, n_units : int
        Number of queries, and of units that are rearranged independently: clusters, or queries.
    n_resamples : int
        Number of random rearrangements.

    Examples
    --------
    >>> table = np.random.default_rng(1).normal([0.5, 0.5, 0.7], 0.1, size=(40, 3))
    >>> print(randomised_hsd(table, rng=1))
    randomised HSD of 3 runs on 40 queries: 2 of 3 pairs differ, those more than 0.0708 apart (level 0.95 for all pairs at once)
    """  # noqa: E501

    means: FloatArray
    difference: FloatArray
    p: FloatArray
    low: FloatArray
    high: FloatArray
    least_difference: Any
    level: float
    n: int
    n_units: int
    n_resamples: int

    @property
    def differs(self) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """Pairs whose interval does not contain 0."""
        return np.asarray((self.low > 0) | (self.high < 0))

    def letters(self, measure: int = 0) -> Letters:
        """Return groups of runs that are not significantly different by one of the measures, and
        the top group.
        """
        runs = len(self.means)
        differs, means = self.differs.reshape(runs, runs, -1), self.means.reshape(runs, -1)
        return letters(differs[:, :, measure], means[:, measure])

    def __str__(self) -> str:
        runs = len(self.means)
        differs = self.differs.reshape(runs, runs, -1).sum(axis=(0, 1)) // 2
        pairs = runs * (runs - 1) // 2
        return "\n".join(
            f"randomised HSD of {runs} runs on {self.n} queries: {count} of {pairs} pairs "
            f"differ, those more than {least:.3g} apart "
            f"(level {self.level:g} for all pairs at once)"
            for count, least in zip(
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
    wanted, rank = Thresholds(sizes.T), counted_rank(level, draws, 1)
    tail = nth_largest(stream, max(rank, 1), draws, runs.unit.size, wanted.count)
    least = runs.scaled(tail.end) if rank > 0 else np.full(runs.unit.size, np.inf)
    p = np.ones((len(sums), *sums.shape))
    p[upper] = (wanted.reached(tail.counted).T + 1) / (draws + 1)
    p[upper[::-1]] = p[upper]
    same, difference = runs.identical(), runs.differences()
    p[same] = 1.0
    width = np.where(same, 0.0, least)
    parts = (
        runs.shaped(part)
        for part in (runs.means, difference, p, difference - width, difference + width, least)
    )
    means, difference, p, low, high, least = parts
    return RandomisedHSD(
        means=means,
        difference=difference,
        p=p,
        low=low,
        high=high,
        least_difference=least,
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
    entropy, key = sequence.entropy, sequence.spawn_key

    def stream(size: int, work: Callable[[FloatArray], Any]) -> Iterator[Any]:
        def one(block: int) -> Any:
            child = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(*key, block)))
            return work(_ranges(runs, child)[: size - block * _DRAWS])

        return in_order(one, -(-size // _DRAWS), threads)

    return stream


def _ranges(runs: Runs, generator: np.random.Generator) -> FloatArray:
    count, measures = runs.totals.shape[1:]
    in_line = np.broadcast_to(np.arange(count), (_DRAWS, count))
    order, picked = np.empty((_DRAWS, count), np.int64), np.empty((_DRAWS * count, measures))
    sums = np.zeros_like(picked)
    for totals in runs.totals:
        generator.permuted(in_line, axis=1, out=order)
        np.take(totals, order.ravel(), axis=0, out=picked, mode="clip")  # other modes copy `out`
        sums += picked
    by_run = sums.reshape(_DRAWS, count, measures)
    return np.asarray(by_run.max(axis=1) - by_run.min(axis=1) + runs.step, np.float64)
