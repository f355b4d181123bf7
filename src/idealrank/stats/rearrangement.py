"""All pairs of runs at once, by rearranging the runs within each query: the randomised form of Tukey's HSD."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.stats.compact_letters import Letters, letters
from idealrank.stats.design import Design
from idealrank.stats.inversion import counted_rank
from idealrank.stats.randomness import RandomLike, generator_of, whole_number
from idealrank.stats.shared_draws import Runs, Thresholds
from idealrank.stats.tails import nth_largest
from idealrank.stats.threads import in_order
from idealrank.stats.value_columns import open_share

_DRAWS = 128  # of a block, whatever is asked


@dataclass(frozen=True, eq=False)
class RandomisedHSD:
    """Comparison of every pair of runs; see `randomised_hsd`. Entry [a, b] of a matrix is for run b minus run a.

    Parameters
    ----------
    means : float64 array, shape (runs,) or (runs, measures)
        Mean of each run.
    difference, p, low, high : float64 array, shape (runs, runs) or (runs, runs, measures)
        Mean of b minus mean of a, p value corrected for all pairs of a measure, and simultaneous interval, which contains 0 if and only if
        p is above 1 - level.
    least_difference : float or float64 array
        Honestly significant difference: two means farther apart than this differ significantly. Infinite with too few draws.
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
    """

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
        """Return groups of runs that are not significantly different by one of the measures, and the top group."""
        runs = len(self.means)
        differs, means = self.differs.reshape(runs, runs, -1), self.means.reshape(runs, -1)
        return letters(differs[:, :, measure], means[:, measure])

    def __str__(self) -> str:
        runs = len(self.means)
        differs = self.differs.reshape(runs, runs, -1).sum(axis=(0, 1)) // 2
        pairs = runs * (runs - 1) // 2
        return "\n".join(
            f"randomised HSD of {runs} runs on {self.n} queries: {count} of {pairs} pairs differ, those more than {least:.3g} apart "
            f"(level {self.level:g} for all pairs at once)"
            for count, least in zip(differs.tolist(), np.atleast_1d(self.least_difference).tolist(), strict=True)
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
    """Find the pairs of runs that differ significantly, corrected for all pairs, without assuming a distribution of the values.

    If all runs are equally good, the values of a query could have come from the runs in any order. Each draw rearranges the runs within
    every query, in the same way for all measures, and records the range of the means. The p value of a pair is ``(count + 1) / (n_resamples
    + 1)``, where count is the number of draws whose range reaches the pair's difference. The honestly significant difference is the order
    statistic of these ranges that agrees with the p values, and is half the width of every interval.

    As in every HSD, one scale applies to all pairs: runs that vary little are judged by the spread of all. Runs with the same value on
    every query have difference 0, interval [0, 0] and p = 1.

    Parameters
    ----------
    values : array_like, shape (queries, runs) or (queries, runs, measures)
        Values of one or several measures for every run and query.
    n_resamples : int
        Number of rearrangements, at least 1; memory hardly depends on it.
    rng : Generator, seed or None
        Random generator or seed; a generator is advanced. The same seed gives the same bits for any number of threads.
    level : float
        Simultaneous confidence level, in (0, 1). Each measure is its own family.
    design : Design, optional
        Weights give weighted means; the queries of a cluster are rearranged together. Strata have no effect.
    threads : int, optional
        Number of threads; None or 0 uses all cores.

    Raises
    ------
    InputError
        Fewer than two queries or runs, or a value that is not finite.

    References
    ----------
    Carterette (2012), Multiple testing in statistical analysis of systems-based information retrieval experiments. ACM TOIS 30(1),
    section 4.3, algorithm 1.

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
    parts = (runs.shaped(part) for part in (runs.means, difference, p, difference - width, difference + width, least))
    means, difference, p, low, high, least = parts
    return RandomisedHSD(means, difference, p, low, high, least, level, runs.design.n, runs.design.n_units, draws)


def _ranges_of(runs: Runs, rng: RandomLike, threads: int | None) -> "Callable[[int, Callable[[FloatArray], Any]], Iterator[Any]]":
    """A stream of the largest total minus the smallest, shape (draws, measures), a step more so that ties are reached."""
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
