"""Intervals of means over queries and of paired differences of means: Student's t and the bootstrap."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import OptionError
from idealrank.stats.bootstrap import Draws, Tails, bootstrap_bounds
from idealrank.stats.design import Design
from idealrank.stats.linearisation import LinearMean, linear_mean
from idealrank.stats.randomness import RandomLike, whole_number
from idealrank.stats.tolerance import largest_of, subtracted
from idealrank.stats.value_columns import Figure, chosen, columns_of, design_of, figure, open_share, paired

Method: TypeAlias = Literal["t", "percentile", "basic", "bca", "studentised"]
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]

METHODS: tuple[str, ...] = ("t", "percentile", "basic", "bca", "studentised")
ALTERNATIVES: tuple[str, ...] = ("two-sided", "greater", "less")
N_RESAMPLES = 10_000


@dataclass(frozen=True, eq=False)
class Interval:
    """Estimate with its confidence bounds: numbers for one column of values, arrays (measures,) for several.

    Parameters
    ----------
    estimate : float or float64 array
        Mean, or difference of the means of b and a.
    low, high : float or float64 array
        Bounds; infinite on the open side of a one-sided interval, and if the data determine no bound.
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
        count = f"{self.n} quer{'y' if self.n == 1 else 'ies'}" + (f" in {self.n_units} clusters" if self.n_units != self.n else "")
        rows = zip(*(np.atleast_1d(part) for part in (self.estimate, self.low, self.high)), strict=True)
        shown = "\n".join(f"{estimate:.4g} [{low:.4g}, {high:.4g}]" for estimate, low, high in rows)
        return f"{shown} ({100 * self.level:g} % {self.method} interval, {count}{'; ' if self.note else ''}{self.note})"


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
        "t" is exact for normal values and good except for very few queries; the others are based on a bootstrap distribution. The page on
        intervals shows the measured coverage of each.
    alternative : {"two-sided", "greater", "less"}
        "greater" gives only a lower bound, "less" only an upper one.
    design : Design, optional
        Weights, strata and clusters; supported by all methods.
    n_resamples : int
        Number of bootstrap draws.
    rng : Generator, seed or None
        Random generator or seed of the bootstrap; "t" needs none. Results do not depend on the number of threads.
    threads : int, optional
        Number of threads; None or 0 uses all cores.

    Returns
    -------
    Interval
        If all values are equal up to rounding (1e-12 of the largest), the interval is [m, m], and the note says so; with one query (or one
        cluster) it is -inf to inf.

    Raises
    ------
    InputError
        A value is not finite, the design has another size, or a stratum has a single unit.
    OptionError
        An option has an invalid value; the message names it.

    Notes
    -----
    The weighted mean is a ratio of weighted sums; "t" uses its linearised variance, with degrees of freedom equal to the number of units
    minus the number of strata. The bootstrap draws units within strata; "studentised" divides each draw by its own linearised standard
    error, "bca" estimates skewness from the units' influence. No interval is cut at the range of the measure.

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals. Journal of the American Statistical Association 82.
    Davison and Hinkley (1997), Bootstrap Methods and their Application, sections 2.4, 3.2 and 5.2 to 5.3.

    Examples
    --------
    >>> values = np.array([0.0, 0.2, 0.2, 0.5, 1.0])
    >>> print(mean_interval(values, method="percentile", rng=1))
    0.38 [0.12, 0.7] (95 % percentile interval, 5 queries)
    >>> print(mean_interval(values, design=Design.of(5, clusters=["ann", "ann", "bob", "bob", "eve"])))
    0.38 [-0.5028, 1.263] (95 % t interval, 5 queries in 3 clusters)
    """
    asked = _Asked(level, method, alternative, n_resamples, rng, threads)
    return _interval(columns_of("values", values), None, design, asked)


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
    """Compute a confidence interval of the difference b - a of two means over the same queries, paired.

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
    asked = _Asked(level, method, alternative, n_resamples, rng, threads)
    return _interval(columns_of("values", subtracted(first, second)), largest, design, asked)


class _Asked(NamedTuple):
    """Options of an interval."""

    level: float
    method: str
    alternative: str
    n_resamples: int
    rng: RandomLike
    threads: int | None


def _interval(given: FloatArray, largest: FloatArray | None, design: Design | None, asked: _Asked) -> Interval:
    """The interval of the means of the values given, which come from values as large as `largest`."""
    level, method, alternative, n_resamples, rng, threads = asked
    chosen("method", method, METHODS)
    chosen("alternative", alternative, ALTERNATIVES)
    open_share("level", level)
    used = design_of(design, given.shape[0])
    columns = given.reshape(given.shape[0], -1)
    found = linear_mean(columns, used, largest)
    tails = _tails(level, alternative)
    if method == "t" or not found.df:
        low, high = _t_bounds(found, tails)
    else:
        _enough(n_resamples, tails)
        draws = Draws(used, n_resamples, rng, threads)
        low, high = bootstrap_bounds(method, columns, used, found, tails, draws)
    low, high = np.where(found.constant, found.mean, low), np.where(found.constant, found.mean, high)
    low = low if alternative != "less" else np.full_like(low, -np.inf)
    high = high if alternative != "greater" else np.full_like(high, np.inf)
    estimate, *bounds = (figure(part, given) for part in (found.mean, low, high))
    note = _note(found, low, high, alternative)
    return Interval(estimate, bounds[0], bounds[1], level, method, alternative, used.n, used.n_units, note)


def _tails(level: float, alternative: str) -> Tails:
    outside = (1 - level) / (2 if alternative == "two-sided" else 1)
    return outside, 1 - outside


def _enough(n_resamples: int, tails: Tails) -> None:
    least = math.ceil(1 / tails[0] - 1e-9)
    if whole_number("n_resamples", n_resamples) < least:
        raise OptionError(f"n_resamples={n_resamples}: expected at least {least}, so that a draw can lie beyond each bound of this level")


def _t_bounds(found: LinearMean, tails: Tails) -> tuple[FloatArray, FloatArray]:
    quantile = stdtrit(found.df, tails[1]) if found.df else 1.0
    return found.mean - quantile * found.se, found.mean + quantile * found.se


def _note(found: LinearMean, low: FloatArray, high: FloatArray, alternative: str) -> str:
    if not found.df:
        return "one unit alone shows no variance"
    unbounded = (np.isinf(low) & (alternative != "less")) | (np.isinf(high) & (alternative != "greater"))
    said = [in_columns("all values are equal", found.constant), in_columns("draws without variance leave a side open", unbounded)]
    return "; ".join(part for part in said if part)


def in_columns(text: str, columns: BoolArray) -> str:
    """A text, with the columns it is about where there are several; empty where it is about none.

    Examples
    --------
    >>> in_columns("equal", np.array([True, False, True])), in_columns("equal", np.array([True]))
    ('equal in columns 0, 2', 'equal')
    """
    if not columns.any():
        return ""
    at: Sequence[int] = np.flatnonzero(columns).tolist()
    return text if columns.size == 1 else f"{text} in column{'s' * (len(at) > 1)} {', '.join(map(str, at))}"
