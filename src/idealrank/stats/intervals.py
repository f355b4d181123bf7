"""Intervals of means over queries, of paired differences of means, and of shares: Student's t, the
bootstrap, Clopper and Pearson.

In the bootstrap, units are drawn within strata; a draw of a cluster is a draw of all its queries.
Each block of draws has a child generator of its own and works on the same arrays whatever the
number of threads, without BLAS: results have the same bits.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.stats.design import Design, LinearMean, linear_mean, strata_of, student_mean
from idealrank.stats.randomness import RandomLike, generator_of, in_order, threads_of, whole_number
from idealrank.stats.special import betaincinv, ndtr, ndtri, stdtrit
from idealrank.stats.tolerance import ROUNDING, cubes, largest_of, subtracted
from idealrank.stats.values import Figure, chosen, columns_of, design_of, figure, open_share, paired

_PICKS = 1 << 18  # units drawn in a block
_KEPT = 1 << 23  # replicates kept at a time, over all columns: 64 MB

Tails = tuple[float, float]
Bounds = tuple[FloatArray, FloatArray]
Counts = FloatArray  # how often each unit was drawn, shape (draws, n_units)


class Draws:
    """Draws with replacement of the units of a design."""

    def __init__(
        self, design: Design, n_resamples: int, rng: RandomLike = None, threads: int | None = None
    ) -> None:
        self.n_resamples = n_resamples
        self.threads = threads_of(threads)
        self._n_units = design.n_units
        self._strata = strata_of(design)
        self._rows = max(1, _PICKS // design.n_units)
        blocks = -(-n_resamples // self._rows)
        self._seeds = generator_of(rng).bit_generator.seed_seq.spawn(blocks)  # type: ignore[attr-defined]

    def each(self, work: Callable[[Counts], FloatArray], n_columns: int) -> FloatArray:
        """Stack the results of `work` on the counts of each block, (draws, n_columns); every call
        gives the same.
        """
        results = np.empty((self.n_resamples, n_columns))

        def block(number: int) -> None:
            first = number * self._rows
            rows = min(self._rows, self.n_resamples - first)
            results[first : first + rows] = work(
                self._counts(np.random.default_rng(self._seeds[number]), rows)
            )

        for _ in in_order(block, len(self._seeds), self.threads):
            pass
        return results

    def _counts(self, rng: np.random.Generator, rows: int) -> Counts:
        counts = np.zeros(rows * self._n_units)
        starts = (np.arange(rows) * self._n_units)[:, None]
        for units in self._strata:
            picks = units[rng.integers(0, units.size, size=(rows, units.size))]
            counts += np.bincount((picks + starts).ravel(), minlength=counts.size)
        return counts.reshape(rows, self._n_units)


class ResampledUnits(NamedTuple):
    """Centred totals of each unit, (m, n_units), their sizes, (1, n_units), and the units of each
    stratum.
    """

    totals: FloatArray
    sizes: FloatArray
    strata: list[np.ndarray]

    @classmethod
    def of(cls, values: FloatArray, design: Design, means: LinearMean) -> "ResampledUnits":
        """Make the units from values, shape (n, m), and their means."""
        residuals = values - means.mean
        residuals[np.abs(residuals) <= means.rounding] = 0.0
        totals = np.ascontiguousarray(design.unit_totals(residuals).T)
        sizes = design.unit_totals(np.ones((design.n, 1))).T.copy()
        return cls(totals=totals, sizes=sizes, strata=strata_of(design))

    def shifts(self, counts: Counts) -> FloatArray:
        """Mean of each draw less the mean of the data, (draws, m)."""
        return np.asarray(_sums(counts, self.totals) / _sums(counts, self.sizes), np.float64)

    def studentised(self, counts: Counts) -> FloatArray:
        """The shift of each draw over its own standard error; infinite with its sign where a draw
        does not vary.
        """
        shift = self.shifts(counts)
        variance = np.zeros_like(shift)
        for units in self.strata:
            variance += _stratum_variance(
                shift, counts[:, units], self.totals[:, units], self.sizes[:, units]
            )
        se = np.sqrt(variance) / _sums(counts, self.sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(shift == 0, 0.0, shift / se), np.float64)


def _sums(counts: Counts, rows: FloatArray) -> FloatArray:
    """Sums over drawn units, (draws, m): einsum has no threads, and so no order of terms that
    changes with them.
    """
    return np.asarray(np.einsum("du,mu->dm", counts, rows))


def _stratum_variance(
    shift: FloatArray, counts: Counts, totals: FloatArray, sizes: FloatArray
) -> FloatArray:
    """n/(n - 1) times the sum of squares of ``total - shift size`` about its mean, for the drawn
    units of one stratum.
    """
    n = counts.shape[1]
    squares = _sums(counts, totals**2)
    mixed = _sums(counts, totals * sizes)
    about_shift = squares - 2 * shift * mixed + shift**2 * _sums(counts, sizes**2)
    # What is left after the terms of the sums cancel is 0, if it is no more than rounding.
    squares_about_mean = (
        about_shift - (_sums(counts, totals) - shift * _sums(counts, sizes)) ** 2 / n
    )
    return np.asarray(
        np.where(squares_about_mean <= ROUNDING * squares, 0.0, squares_about_mean) * (n / (n - 1)),
        np.float64,
    )


def bootstrap_bounds(
    method: str, values: FloatArray, design: Design, means: LinearMean, tails: Tails, draws: Draws
) -> Bounds:
    """Low and high bounds of the means of values, shape (n, m), at two tail probabilities."""
    readers = {"percentile": _percentile, "basic": _basic, "bca": _bca, "studentised": _studentised}
    bounds_of = readers[method]
    width = max(1, _KEPT // draws.n_resamples)
    low = np.empty_like(means.mean)
    high = np.empty_like(means.mean)
    for first in range(0, values.shape[1], width):
        part = slice(first, first + width)
        part_means = LinearMean(
            mean=means.mean[part],
            se=means.se[part],
            df=means.df,
            influences=means.influences[:, part],
            constant=means.constant[part],
            rounding=means.rounding[part],
        )
        units = ResampledUnits.of(values[:, part], design, part_means)
        low[part], high[part] = bounds_of(units, part_means, tails, draws)
    return low, high


def _percentile(units: ResampledUnits, means: LinearMean, tails: Tails, draws: Draws) -> Bounds:
    shifts = draws.each(units.shifts, means.mean.size)
    low, high = np.quantile(shifts, tails, axis=0)
    return means.mean + low, means.mean + high


def _basic(units: ResampledUnits, means: LinearMean, tails: Tails, draws: Draws) -> Bounds:
    shifts = draws.each(units.shifts, means.mean.size)
    low, high = np.quantile(shifts, tails, axis=0)
    return means.mean - high, means.mean - low


def _bca(units: ResampledUnits, means: LinearMean, tails: Tails, draws: Draws) -> Bounds:
    shifts = draws.each(units.shifts, means.mean.size)
    tie = ROUNDING * means.se  # replicates as near to the estimate as this are equal to it
    below = ((shifts < -tie).mean(axis=0) + (shifts <= tie).mean(axis=0)) / 2
    bias = ndtri(below)
    with np.errstate(divide="ignore", invalid="ignore"):
        influences = means.influences
        skew = cubes(influences).sum(axis=0) / (6 * (influences**2).sum(axis=0) ** 1.5)
        shares = [ndtr(bias + (bias + z) / (1 - skew * (bias + z))) for z in ndtri(tails)]
    shifts.sort(axis=0)
    low, high = (_each_quantile(shifts, np.nan_to_num(share, nan=0.5)) for share in shares)
    return means.mean + low, means.mean + high


def _each_quantile(sorted_columns: FloatArray, shares: FloatArray) -> FloatArray:
    """A quantile of its own for each sorted column, between order statistics as `numpy.quantile`
    has it.
    """
    return np.array(
        [np.quantile(column, share) for column, share in zip(sorted_columns.T, shares, strict=True)]
    )


def _studentised(units: ResampledUnits, means: LinearMean, tails: Tails, draws: Draws) -> Bounds:
    ratios = draws.each(units.studentised, means.mean.size)
    # Order statistics, outwards: between finite and infinite ratios there is nothing to
    # interpolate.
    low = np.quantile(ratios, tails[0], axis=0, method="lower")
    high = np.quantile(ratios, tails[1], axis=0, method="higher")
    with np.errstate(invalid="ignore"):
        return means.mean - high * means.se, means.mean - low * means.se


Method: TypeAlias = Literal["t", "percentile", "basic", "bca", "studentised"]
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]

METHODS: tuple[str, ...] = ("t", "percentile", "basic", "bca", "studentised")
ALTERNATIVES: tuple[str, ...] = ("two-sided", "greater", "less")
N_RESAMPLES = 10_000


def against_null(statistic: FloatArray, alternative: str) -> FloatArray:
    """Return a statistic such that larger values are stronger evidence against the null: the size,
    the value, or minus the value.
    """
    if alternative == "two-sided":
        return np.abs(statistic)
    return statistic if alternative == "greater" else -statistic


def side_of_interval(low: float, high: float) -> Literal["better", "worse", "undecided"]:
    """Return the side of 0 on which the interval of a gain is; "undecided" if the interval contains
    0.
    """
    if low > 0:
        return "better"
    return "worse" if high < 0 else "undecided"


@dataclass(frozen=True, kw_only=True, eq=False)
class Interval:
    """Estimate with its confidence bounds: numbers for one column of values, arrays (measures,) for
    several.

    Parameters
    ----------
    estimate : float or float64 array
        Mean, or difference of the means of b and a.
    low, high : float or float64 array
        Bounds; infinite on the open side of a one-sided interval, and if the data determine no
        bound.
    level : float
        Confidence level; the page on intervals shows how well each method attains it.
    method : str
        "t", "percentile", "basic", "bca" or "studentised".
    alternative : str
        "two-sided"; "greater" has only a lower bound, "less" only an upper one.
    n, n_units : int
        Number of queries, and of independent units: clusters, or queries.
    note : str
        Special cases: equal values, a single query. Otherwise empty.

    Examples
    --------
    >>> interval = mean_interval([0.0, 0.5, 1.0, 0.5])
    >>> print(interval)
    0.5 [-0.1496, 1.15] (95 % t interval, 4 queries)
    >>> interval.width == interval.high - interval.low, interval.holds(0)
    (True, True)
    """

    estimate: Any
    low: Any
    high: Any
    level: float
    method: str
    alternative: str
    n: int
    n_units: int
    note: str = ""

    @property
    def width(self) -> Figure:
        """Width, high - low."""
        return self.high - self.low  # type: ignore[no-any-return]

    def holds(self, value: float) -> "bool | BoolArray":
        """Return whether a value lies within the bounds, ends included."""
        return (self.low <= value) & (value <= self.high)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        count = f"{self.n} quer{'y' if self.n == 1 else 'ies'}"
        if self.n_units != self.n:
            count += f" in {self.n_units} clusters"
        columns = (np.atleast_1d(part) for part in (self.estimate, self.low, self.high))
        rows = zip(*columns, strict=True)
        lines = "\n".join(f"{estimate:.4g} [{low:.4g}, {high:.4g}]" for estimate, low, high in rows)
        return (
            f"{lines} ({100 * self.level:g} % {self.method} interval, "
            f"{count}{'; ' if self.note else ''}{self.note})"
        )


def mean_interval(
    values: npt.ArrayLike,
    *,
    level: float = 0.95,
    method: Method = "t",
    alternative: Alternative = "two-sided",
    design: Design | None = None,
    n_resamples: int = N_RESAMPLES,
    rng: RandomLike = None,
    threads: int | None = None,
) -> Interval:
    """Compute a confidence interval of the mean over queries.

    Parameters
    ----------
    values : array, shape (queries,) or (queries, measures)
        Values of each query; finite.
    level : float
        Confidence level, between 0 and 1.
    method : {"t", "percentile", "basic", "bca", "studentised"}
        "t" is exact for normal values and good except for very few queries; the others are based on
        a bootstrap distribution. The page on intervals shows the measured coverage of each.
    alternative : {"two-sided", "greater", "less"}
        "greater" gives only a lower bound, "less" only an upper one.
    design : Design, optional
        Weights, strata and clusters; supported by all methods.
    n_resamples : int
        Number of bootstrap draws.
    rng : Generator, seed or None
        Random generator or seed of the bootstrap; "t" needs none. Results do not depend on the
        number of threads.
    threads : int, optional
        Number of threads; None or 0 uses all cores.

    Returns
    -------
    Interval
        If all values are equal up to rounding (1e-12 of the largest), the interval is [m, m], and
        the note says so; with one query (or one cluster) it is -inf to inf.

    Raises
    ------
    InputError
        A value is not finite, the design has another size, or a stratum has a single unit.
    OptionError
        An option has an invalid value; the message names it.

    Notes
    -----
    The weighted mean is a ratio of weighted sums; "t" uses its linearised variance, with degrees of
    freedom equal to the number of units minus the number of strata. For unequal weights, "t" scales
    that variance to be unbiased for units of one variance. The number of units is then Kish's,
    ``(sum of weights)^2 / sum of squared weights``, in every stratum. The bootstrap draws units
    within strata; "studentised" divides each draw by its own linearised standard error, "bca"
    estimates skewness from the units' influence. No interval is cut at the range of the measure.

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals. Journal of the American Statistical
    Association 82. Davison and Hinkley (1997), Bootstrap Methods and their Application, sections
    2.4, 3.2 and 5.2 to 5.3. Kish (1965), Survey Sampling, section 11.7.

    Examples
    --------
    >>> values = np.array([0.0, 0.2, 0.2, 0.5, 1.0])
    >>> print(mean_interval(values, method="percentile", rng=1))
    0.38 [0.12, 0.7] (95 % percentile interval, 5 queries)
    >>> print(
    ...     mean_interval(values, design=Design.of(5, clusters=["ann", "ann", "bob", "bob", "eve"]))
    ... )
    0.38 [-0.5028, 1.263] (95 % t interval, 5 queries in 3 clusters)
    """
    options = _Options(
        level=level,
        method=method,
        alternative=alternative,
        n_resamples=n_resamples,
        rng=rng,
        threads=threads,
    )
    return _interval(columns_of("values", values), None, design, options)


def difference_interval(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    level: float = 0.95,
    method: Method = "t",
    alternative: Alternative = "two-sided",
    design: Design | None = None,
    n_resamples: int = N_RESAMPLES,
    rng: RandomLike = None,
    threads: int | None = None,
) -> Interval:
    """Compute a confidence interval of the difference b - a of two means over the same queries,
    paired.

    Parameters
    ----------
    a, b : array, shape (queries,) or (queries, measures)
        Values of two systems, query by query.
    level, method, alternative, design, n_resamples, rng, threads
        As for `mean_interval`, applied to ``b - a``.

    Returns
    -------
    Interval
        [0, 0] for identical systems.

    Raises
    ------
    InputError, OptionError
        As for `mean_interval`; or the shapes differ.

    Examples
    --------
    >>> a, b = np.array([0.2, 0.5, 0.5, 0.9]), np.array([0.4, 0.5, 0.8, 0.9])
    >>> print(difference_interval(a, b))
    0.125 [-0.1137, 0.3637] (95 % t interval, 4 queries)
    """
    first, second = paired(a, b)
    largest = np.atleast_1d(largest_of(first, second))
    options = _Options(
        level=level,
        method=method,
        alternative=alternative,
        n_resamples=n_resamples,
        rng=rng,
        threads=threads,
    )
    return _interval(columns_of("values", subtracted(first, second)), largest, design, options)


class _Options(NamedTuple):
    """Options of an interval."""

    level: float
    method: str
    alternative: str
    n_resamples: int
    rng: RandomLike
    threads: int | None


def _interval(
    values: FloatArray, largest: FloatArray | None, design: Design | None, options: _Options
) -> Interval:
    """The interval of the means of values, which are differences of values up to `largest`."""
    chosen("method", options.method, METHODS)
    chosen("alternative", options.alternative, ALTERNATIVES)
    open_share("level", options.level)
    design = design_of(design, values.shape[0])
    columns = values.reshape(values.shape[0], -1)
    mean_of = student_mean if options.method == "t" else linear_mean
    means = mean_of(columns, design, largest)

    tails = _tails(options.level, options.alternative)
    if options.method == "t" or not means.df:
        low, high = _t_bounds(means, tails)
    else:
        _check_draws(options.n_resamples, tails)
        draws = Draws(design, options.n_resamples, options.rng, options.threads)
        low, high = bootstrap_bounds(
            method=options.method,
            values=columns,
            design=design,
            means=means,
            tails=tails,
            draws=draws,
        )
    # A column without variance has its mean as both bounds; a one-sided interval has one bound.
    low = np.where(means.constant, means.mean, low)
    high = np.where(means.constant, means.mean, high)
    if options.alternative == "less":
        low = np.full_like(low, -np.inf)
    if options.alternative == "greater":
        high = np.full_like(high, np.inf)

    return Interval(
        estimate=figure(means.mean, values),
        low=figure(low, values),
        high=figure(high, values),
        level=options.level,
        method=options.method,
        alternative=options.alternative,
        n=design.n,
        n_units=design.n_units,
        note=_note(means, low, high, options.alternative),
    )


def _tails(level: float, alternative: str) -> Tails:
    outside = (1 - level) / (2 if alternative == "two-sided" else 1)
    return outside, 1 - outside


def _check_draws(n_resamples: int, tails: Tails) -> None:
    least = math.ceil(1 / tails[0] - 1e-9)  # the tail may be rounded: 1 / 0.05 needs no 21st draw
    if whole_number("n_resamples", n_resamples) < least:
        raise OptionError(
            f"n_resamples={n_resamples}: expected at least {least}, so that a draw can lie beyond "
            "each bound of this level"
        )


def _t_bounds(means: LinearMean, tails: Tails) -> tuple[FloatArray, FloatArray]:
    quantile = stdtrit(means.df, tails[1]) if means.df else 1.0  # times an infinite error
    return means.mean - quantile * means.se, means.mean + quantile * means.se


def _note(means: LinearMean, low: FloatArray, high: FloatArray, alternative: str) -> str:
    if not means.df:
        return "one unit alone shows no variance"
    unbounded = (np.isinf(low) & (alternative != "less")) | (
        np.isinf(high) & (alternative != "greater")
    )
    notes = [
        in_columns("all values are equal", means.constant),
        in_columns("draws without variance leave a side open", unbounded),
    ]
    return "; ".join(note for note in notes if note)


def in_columns(text: str, columns: BoolArray) -> str:
    """A text, with the columns it is about where there are several; empty where it is about
    none.
    """
    if not columns.any():
        return ""
    if columns.size == 1:
        return text
    numbers: Sequence[int] = np.flatnonzero(columns).tolist()
    noun = "column" if len(numbers) == 1 else "columns"
    return f"{text} in {noun} {', '.join(map(str, numbers))}"


def exact_bounds(
    hits: FloatArray | IntArray, misses: FloatArray | IntArray, tail: float
) -> tuple[FloatArray, FloatArray]:
    """Bounds of the share behind counted hits and misses, each missed with a chance of at most
    `tail`.
    """
    # Quantiles of beta laws; their parameters must be above 0, so 1 stands in where none is used.
    low = np.where(hits > 0, betaincinv(np.where(hits > 0, hits, 1.0), misses + 1, tail), 0.0)
    high = np.where(
        misses > 0, betaincinv(hits + 1, np.where(misses > 0, misses, 1.0), 1 - tail), 1.0
    )
    return low, high


def clopper_pearson(
    share: FloatArray, size: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """The exact interval of a share, each end missed with a chance of at most (1 - level)/2; a size
    of 0 gives 0 to 1.

    Clopper and Pearson (1934), Biometrika 26(4).
    """
    hits = share * size
    return exact_bounds(hits, size - hits, (1 - level) / 2)
