"""Two systems on different queries: Welch's t, Mann and Whitney's ranks, and a permutation of the
labels.

Where both ran on the same queries, a paired test sees far smaller differences; these are for what
cannot be paired.
"""

import math
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, stdtrit
from scipy.stats import mannwhitneyu

from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import InputError
from idealrank.stats.design import Design, LinearMean
from idealrank.stats.effects import deviations, in_units
from idealrank.stats.intervals import ALTERNATIVES, Alternative, against_null
from idealrank.stats.paired_tests import t_tail
from idealrank.stats.randomness import RandomLike, generator_of, in_order, threads_of, whole_number
from idealrank.stats.tolerance import ROUNDING, largest_of, ranks_within
from idealrank.stats.values import DifferenceTest, cell, chosen, columns_of, figure, open_share

_ITEMS = 1 << 18  # labels drawn in a block
_EXACT = 8  # queries of the smaller side, at most, for the exact distribution of ranks


@dataclass(frozen=True, eq=False)
class Relabelled:
    """The shift of b at which the difference under each exchange equals that of the data,
    sorted.
    """

    shifts: FloatArray  # shape (exchanges but the one that changes nothing, columns)
    listed: bool  # all exchanges, not random ones

    @property
    def total(self) -> int:
        """Exchanges, with the one that changes nothing."""
        return len(self.shifts) + 1

    def test(self, alternative: str, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The p value, low and high bound of each column; infinite where there are too few
        exchanges for the level.
        """
        greater = ((self.shifts <= 0).sum(axis=0) + 1) / self.total
        less = ((self.shifts >= 0).sum(axis=0) + 1) / self.total
        outside = (1 - level) / (2 if alternative == "two-sided" else 1)
        p = {
            "two-sided": np.minimum(1, 2 * np.minimum(greater, less)),
            "greater": greater,
            "less": less,
        }[alternative]
        rank = math.floor(outside * self.total + 1e-9)  # the product may round down
        if not rank:
            infinite = np.full(p.shape, np.inf)
            return p, -infinite, infinite
        return p, self.shifts[rank - 1], self.shifts[-rank]


def relabelled(
    a: FloatArray, b: FloatArray, n_resamples: int, rng: RandomLike, threads: int | None
) -> Relabelled:
    """Exchanges between columns a, shape (n_a, m), and b, shape (n_b, m): all if no more than
    `n_resamples`, else random ones.
    """
    n_a = len(a)
    n_b = len(b)
    draws = whole_number("n_resamples", n_resamples)
    listed = math.comb(n_a + n_b, n_b) <= draws
    pooled = np.concatenate((a, b))
    centre = pooled.mean(axis=0)
    rows = np.ascontiguousarray((pooled - centre).T)
    observed = rows[:, n_a:].mean(axis=1) - rows[:, :n_a].mean(axis=1)
    values = _Pooled(rows=rows, n_a=n_a, observed=observed)
    if listed:
        shifts = _shifts(values, _all_labels(n_a, n_b))
    else:
        shifts = _drawn(values, draws, generator_of(rng), threads_of(threads))
    shifts[np.abs(shifts) <= ROUNDING * np.abs(pooled).max(axis=0)] = 0.0
    shifts.sort(axis=0)
    return Relabelled(shifts, listed)


class _Pooled(NamedTuple):
    """Centred values of both runs."""

    rows: FloatArray  # shape (columns, n_a + n_b), the queries of a first
    n_a: int
    observed: FloatArray  # mean of b minus mean of a


def _all_labels(n_a: int, n_b: int) -> FloatArray:
    """Labels of every exchange that changes something: 1 for b, shape (exchanges, n_a + n_b)."""
    # The first combination is the last n_b queries, which b already has: it changes nothing.
    queries_of_b = np.array(list(combinations(range(n_a + n_b - 1, -1, -1), n_b)))[1:]
    labels = np.zeros((len(queries_of_b), n_a + n_b))
    np.put_along_axis(labels, queries_of_b, 1.0, axis=1)
    return labels


def _drawn(values: _Pooled, draws: int, rng: np.random.Generator, threads: int) -> FloatArray:
    n_columns, n_queries = values.rows.shape
    size = max(1, _ITEMS // n_queries)
    firsts = range(0, draws, size)
    seeds = rng.bit_generator.seed_seq.spawn(len(firsts))  # type: ignore[attr-defined]
    observed_labels = np.repeat([0.0, 1.0], [values.n_a, n_queries - values.n_a])
    shifts = np.empty((draws, n_columns))

    def block(number: int) -> None:
        first = firsts[number]
        last = min(firsts[number] + size, draws)
        labels = np.random.default_rng(seeds[number]).permuted(
            np.tile(observed_labels, (last - first, 1)), axis=1
        )
        shifts[first:last] = _shifts(values, labels)

    for _ in in_order(block, len(firsts), threads):
        pass
    return shifts


def _shifts(values: _Pooled, labels: FloatArray) -> FloatArray:
    """Shift at which ``difference under labels - shift slope = observed - shift``, for each row of
    labels; slope is the share of b's queries labelled b less their share among the rest.
    """
    n_a = values.n_a
    n_b = labels.shape[1] - n_a
    # Columns are centred, so the sum of what b loses is what a gains.
    differences = np.einsum("dn,mn->dm", labels, values.rows) * (1 / n_a + 1 / n_b)
    n_still_b = labels[:, n_a:].sum(axis=1)
    slope = n_still_b / n_b - (n_b - n_still_b) / n_a
    with np.errstate(divide="ignore", invalid="ignore"):
        shifts = (values.observed - differences) / (1 - slope)[:, None]
    return np.where((n_still_b == n_b)[:, None], 0.0, shifts)


@dataclass(frozen=True, kw_only=True, eq=False)
class UnpairedTest(DifferenceTest):
    """Test of b against a on different queries: numbers for one column of values, arrays
    (measures,) for several.

    Parameters
    ----------
    difference : float or float64 array
        Mean of b minus mean of a.
    p : float or float64 array
        Probability of a result at least as extreme if there is no difference.
    statistic : float or float64 array
        Welch's t; the number of query pairs in which b has the larger value, ties counted half; or
        the difference.
    low, high : float or float64 array
        Bounds of the difference by inversion of the test; NaN for ranks, which do not concern
        means.
    level : float
        Confidence level of the interval.
    method : str
        "welch", "mann-whitney" or "permutation".
    alternative : str
        "two-sided"; "greater" tests whether b is better, "less" whether it is worse.
    effect : float or float64 array
        Hedges' g: the difference divided by the pooled standard deviation, times ``1 - 3/(4 (n_a +
        n_b) - 9)``.
    common_language : float or float64 array
        Probability that a query of b has a larger value than one of a, ties counted half.
    n_a, n_b : int
        Number of queries of each.
    note : str
        Special cases; otherwise empty.

    Examples
    --------
    >>> print(welch_t([0.2, 0.5, 0.5, 0.9], [0.4, 0.5, 0.8, 0.9, 1.0]))
    b - a = 0.195 [-0.2528, 0.6428], p = 0.33; g 0.639, P(b > a) 0.675 (two-sided welch test with 95 % interval, 4 and 5 queries)
    """  # noqa: E501

    statistic: Any
    alternative: str
    effect: Any
    common_language: Any
    n_a: int
    n_b: int

    def __str__(self) -> str:
        lines = [self._line(column) for column in range(np.size(self.difference))]
        count = f"{self.n_a} and {self.n_b} queries{'; ' if self.note else ''}{self.note}"
        return (
            "\n".join(lines)
            + f" ({self.alternative} {self.method} test with {100 * self.level:g} % interval, "
            f"{count})"
        )

    def _line(self, column: int) -> str:
        number = partial(cell, column=column)
        return (
            f"b - a = {number(self.difference):.4g} [{number(self.low):.4g}, "
            f"{number(self.high):.4g}], p = {number(self.p):.3g}; g {number(self.effect):.3g}, "
            f"P(b > a) {number(self.common_language):.3g}"
        )


def welch_t(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> UnpairedTest:
    """Test two means over different queries with Welch's t, for unequal variances.

    Parameters
    ----------
    a, b : array, shape (queries of its own,) or (queries of its own, measures)
        Values of two systems; finite.
    alternative : {"two-sided", "greater", "less"}
        "greater" tests whether b is better.
    level : float
        Confidence level of the interval, between 0 and 1.

    Returns
    -------
    UnpairedTest
        With a single query on one side p is 1 and the interval unbounded.

    Raises
    ------
    InputError
        The numbers of columns differ, or a value is not finite.
    OptionError
        An option has an invalid value.

    References
    ----------
    Welch (1947), The generalization of 'Student's' problem when several different population
    variances are involved. Biometrika 34.

    Examples
    --------
    >>> round(welch_t([0.2, 0.5, 0.5, 0.9], [0.4, 0.5, 0.8, 0.9, 1.0], alternative="greater").p, 4)
    0.1649
    """
    samples = _samples(a, b, alternative, level)
    first, second = samples.a, samples.b
    difference = _mean_difference(first, second)
    largest = largest_of(first, second)
    outside = (1 - level) / (2 if alternative == "two-sided" else 1)
    if min(len(first), len(second)) == 1:
        infinite = np.full(difference.shape, np.inf)
        figures = _Figures(
            difference=difference,
            p=np.ones_like(difference),
            statistic=np.zeros_like(difference),
            low=-infinite,
            high=infinite,
        )
        note = "one query alone shows no variance"
    else:
        variance_a, variance_b = (  # of the means
            deviations(sample, Design.of(len(sample)), largest) ** 2 / len(sample)
            for sample in (first, second)
        )
        variance = variance_a + variance_b
        with np.errstate(invalid="ignore", divide="ignore"):
            df = variance**2 / (
                variance_a**2 / (len(first) - 1) + variance_b**2 / (len(second) - 1)
            )
        df = np.where(variance > 0, df, len(first) + len(second) - 2)
        statistic = in_units(difference, np.sqrt(variance))
        p = np.where((difference == 0) & (variance == 0), 1.0, t_tail(statistic, df, alternative))
        half_width = stdtrit(df, 1 - outside) * np.sqrt(variance)
        low = difference - half_width
        high = difference + half_width
        figures = _Figures(difference=difference, p=p, statistic=statistic, low=low, high=high)
        note = ""
    facts = _Facts(method="welch", level=level, alternative=alternative, note=note)
    return _test(samples, figures, facts)


def welch_p(a: LinearMean, b: LinearMean) -> float:
    """Return the one-sided p value of Welch's t test that b is better, of two means with their
    standard errors.

    The means may be of weighted or clustered queries, see `student_mean`.
    """
    variance_a = float(a.se[0]) ** 2
    variance_b = float(b.se[0]) ** 2
    variance = variance_a + variance_b
    if not math.isfinite(variance):
        return 1.0
    difference = b.mean - a.mean
    if not variance:
        return float(difference[0] <= 0)
    freedom = variance**2 / (variance_a**2 / a.df + variance_b**2 / b.df)
    return float(t_tail(difference / math.sqrt(variance), np.array([freedom]), "greater")[0])


def mann_whitney(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> UnpairedTest:
    """Test whether values of b tend to be larger than values of a, by ranks.

    Parameters
    ----------
    a, b, alternative, level
        As for `welch_t`.

    Returns
    -------
    UnpairedTest
        p is exact if the smaller side has at most 8 queries and no two values are equal within
        1e-12 of the largest; otherwise it uses the normal approximation, with the variance
        corrected for ties and a continuity correction of one half. There is no interval, since
        ranks do not concern means.

    Raises
    ------
    InputError, OptionError
        As for `welch_t`.

    References
    ----------
    Mann and Whitney (1947), On a test of whether one of two random variables is stochastically
    larger than the other. Annals of Mathematical Statistics 18.

    Examples
    --------
    >>> found = mann_whitney([0.1, 0.2, 0.3], [0.4, 0.5, 0.6, 0.7])
    >>> round(found.p, 6), found.statistic, found.common_language
    (0.057143, 12.0, 1.0)
    """
    samples = _samples(a, b, alternative, level)
    first, second = samples.a, samples.b
    ranks, tied = _joint_ranks(first, second)
    wins = ranks[: len(second)].sum(axis=0) - len(second) * (len(second) + 1) / 2
    exact = ~tied & (min(len(first), len(second)) <= _EXACT)
    p = np.where(exact, 0.0, _rank_p(ranks, wins, len(first), alternative))
    if exact.any():
        p[exact] = mannwhitneyu(
            second[:, exact], first[:, exact], alternative=alternative, method="exact", axis=0
        ).pvalue
    no_bound = np.full(wins.shape, np.nan)
    figures = _Figures(
        difference=_mean_difference(first, second), p=p, statistic=wins, low=no_bound, high=no_bound
    )
    facts = _Facts(method="mann-whitney", level=level, alternative=alternative, note="")
    return _test(samples, figures, facts)


def _rank_p(ranks: FloatArray, wins: FloatArray, n_a: int, alternative: str) -> FloatArray:
    n = len(ranks)
    n_b = n - n_a
    # Over random labels the sum of n_b ranks has the variance of a sample without replacement.
    variance = n_a * n_b / n * ranks.var(axis=0, ddof=1)
    excess = wins - n_a * n_b / 2
    distance = against_null(excess, alternative) - 0.5  # corrected for continuity
    sides = 2 if alternative == "two-sided" else 1
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.minimum(1, ndtr(-distance / np.sqrt(variance)) * sides)
    return np.where(variance > 0, p, 1.0)


def unpaired_permutation(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    n_resamples: int = 100_000,
    rng: RandomLike = None,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    threads: int | None = None,
) -> UnpairedTest:
    """Test whether the mean of `b` differs from that of `a` over different queries, by permuting
    queries between the runs.

    Parameters
    ----------
    a, b, alternative, level
        As for `welch_t`.
    n_resamples : int
        Number of random exchanges; if there are no more, all are enumerated.
    rng : Generator, seed or None
        Random generator or seed. Results do not depend on the number of threads.
    threads : int, optional
        Number of threads; None or 0 uses all cores.

    Returns
    -------
    UnpairedTest
        p is ``(count + 1) / (n_resamples + 1)``, or the share of all exchanges if they are
        enumerated; two-sided, it is twice the smaller side. The interval inverts the test with the
        same exchanges.

    Raises
    ------
    InputError, OptionError
        As for `welch_t`.

    Notes
    -----
    The test assumes that both distributions are equal up to a shift; with unequal variances and
    sizes, prefer `welch_t`.

    References
    ----------
    Pitman (1937), Significance tests which may be applied to samples from any populations.
    Supplement to the Journal of the Royal Statistical Society 4. Garthwaite (1996), Confidence
    intervals from randomization tests, Biometrics 52.

    Examples
    --------
    >>> found = unpaired_permutation([0.1, 0.2, 0.3], [0.4, 0.5, 0.6, 0.7])
    >>> round(found.p, 6), found.note
    (0.057143, 'all 35 exchanges')
    """
    samples = _samples(a, b, alternative, level)
    exchanges = relabelled(samples.a, samples.b, n_resamples, rng, threads)
    difference = _mean_difference(samples.a, samples.b)
    p, low, high = exchanges.test(alternative, level)
    note = (
        f"all {exchanges.total:,} exchanges"
        if exchanges.listed
        else f"{exchanges.total - 1:,} random exchanges"
    )
    figures = _Figures(difference=difference, p=p, statistic=difference, low=low, high=high)
    facts = _Facts(method="permutation", level=level, alternative=alternative, note=note)
    return _test(samples, figures, facts)


class _Samples(NamedTuple):
    """Columns of both runs, and the values of a as given, for their shape."""

    a: FloatArray
    b: FloatArray
    like: FloatArray


class _Figures(NamedTuple):
    """Results of a test, a number for each column."""

    difference: FloatArray
    p: FloatArray
    statistic: FloatArray
    low: FloatArray
    high: FloatArray


class _Facts(NamedTuple):
    """Description of a test, the same for all columns."""

    method: str
    level: float
    alternative: str
    note: str


def _samples(a: npt.ArrayLike, b: npt.ArrayLike, alternative: str, level: float) -> _Samples:
    chosen("alternative", alternative, ALTERNATIVES)
    open_share("level", level)
    first = columns_of("a", a)
    second = columns_of("b", b)
    if first.shape[1:] != second.shape[1:]:
        raise InputError(
            f"a has shape {first.shape} and b {second.shape}; expected the same measures in the "
            "same order"
        )
    return _Samples(a=first.reshape(len(first), -1), b=second.reshape(len(second), -1), like=first)


def _joint_ranks(first: FloatArray, second: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Ranks of the values of both, b first, and the columns with ties."""
    return ranks_within(np.concatenate((second, first)), ROUNDING * largest_of(first, second))


def _mean_difference(first: FloatArray, second: FloatArray) -> FloatArray:
    """Difference of the means, 0 where it is rounding."""
    difference = second.mean(axis=0) - first.mean(axis=0)
    return np.where(np.abs(difference) <= ROUNDING * largest_of(first, second), 0.0, difference)


def _test(samples: _Samples, figures: _Figures, facts: _Facts) -> UnpairedTest:
    first, second, like = samples
    n = len(first) + len(second)
    spread = np.full(figures.difference.shape, np.nan)
    correction = np.nan
    if n > 2:
        squares_a = ((first - first.mean(axis=0)) ** 2).sum(axis=0)
        squares_b = ((second - second.mean(axis=0)) ** 2).sum(axis=0)
        spread = np.sqrt((squares_a + squares_b) / (n - 2))
        correction = 1 - 3 / (4 * n - 9)
        spread[spread <= ROUNDING * largest_of(first, second)] = 0.0
    ranks, _ = _joint_ranks(first, second)
    wins = ranks[: len(second)].sum(axis=0) - len(second) * (len(second) + 1) / 2
    low = figures.low
    high = figures.high
    if facts.alternative == "less":
        low = low - np.inf  # NaN, where there is no bound, stays
    if facts.alternative == "greater":
        high = high + np.inf
    return UnpairedTest(
        difference=figure(figures.difference, like),
        p=figure(figures.p, like),
        statistic=figure(figures.statistic, like),
        low=figure(low, like),
        high=figure(high, like),
        **facts._asdict(),
        effect=figure(in_units(figures.difference, spread) * correction, like),
        common_language=figure(wins / (len(first) * len(second)), like),
        n_a=len(first),
        n_b=len(second),
    )
