"""Effect sizes: differences in standardised units, and counts of differing queries."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from idealrank.data.types import FloatArray
from idealrank.errors import InputError
from idealrank.stats.design import Design
from idealrank.stats.tolerance import ROUNDING, cubes, largest_of, subtracted
from idealrank.stats.values import cell, design_of, figure, paired


@dataclass(frozen=True, kw_only=True, eq=False)
class EffectSizes:
    """Effect sizes of a paired difference b - a: numbers for one column of values, arrays
    (measures,) for several.

    Parameters
    ----------
    difference : float or float64 array
        Mean of b minus mean of a, with the weights of the design.
    d_z : float or float64 array
        Difference divided by the standard deviation of the differences. Infinite if all differences
        are equal and not 0, up to rounding (1e-12 of the largest value); NaN for one query.
    g_av : float or float64 array
        Difference divided by the mean of the two standard deviations, times Hedges' bias correction
        ``1 - 3/(8n - 9)``.
    common_language : float or float64 array
        Share of queries on which b is better, ties counted half; 0.5 favours neither.
    unchanged : float or float64 array
        Share of queries with equal values.
    wins, ties, losses : int or int64 array
        Number of queries on which b is better than, equal to and worse than a.
    n : int
        Number of queries.

    Examples
    --------
    >>> print(effect_sizes([0.2, 0.5, 0.5, 0.9], [0.4, 0.5, 0.8, 0.9]))
    difference 0.125, d_z 0.833, g_av 0.414, better on 2, equal on 2, worse on 0 of 4 queries
    """

    difference: Any
    d_z: Any
    g_av: Any
    common_language: Any
    unchanged: Any
    wins: Any
    ties: Any
    losses: Any
    n: int

    def __str__(self) -> str:
        return "\n".join(self._line(column) for column in range(np.size(self.difference)))

    def _line(self, column: int) -> str:
        number = partial(cell, column=column)
        return (
            f"difference {number(self.difference):.3g}, d_z {number(self.d_z):.3g}, g_av "
            f"{number(self.g_av):.3g}, better on {number(self.wins)}, equal on "
            f"{number(self.ties)}, worse on {number(self.losses)} of {self.n} queries"
        )


def effect_sizes(
    a: npt.ArrayLike, b: npt.ArrayLike, *, design: Design | None = None
) -> EffectSizes:
    """Compute effect sizes of the difference b - a, without intervals.

    Parameters
    ----------
    a, b : array, shape (queries,) or (queries, measures)
        Values of two systems, query by query.
    design : Design, optional
        Its weights apply to means, deviations and shares; wins, ties and losses are plain counts.

    Returns
    -------
    EffectSizes

    Raises
    ------
    InputError
        The shapes differ, a value is not finite, or the design has another size.

    References
    ----------
    Lakens (2013), Calculating and reporting effect sizes to facilitate cumulative science.
    Frontiers in Psychology 4, equations 4, 7 and 10.

    Examples
    --------
    >>> sizes = effect_sizes([0.2, 0.5, 0.5, 0.9], [0.4, 0.5, 0.8, 0.9])
    >>> round(sizes.d_z, 4), sizes.unchanged, sizes.common_language
    (0.8333, 0.5, 0.75)
    """
    first, second = paired(a, b)
    design = design_of(design, first.shape[0])
    before = first.reshape(design.n, -1)
    after = second.reshape(design.n, -1)
    differences = subtracted(before, after)
    largest = largest_of(before, after)
    mean = np.asarray(design.mean(differences), np.float64)
    spread = (deviations(before, design, largest) + deviations(after, design, largest)) / 2
    correction = 1 - 3 / (8 * design.n - 9) if design.n > 1 else np.nan
    wins, ties, losses = outcomes(differences)
    return EffectSizes(
        difference=figure(mean, first),
        d_z=figure(in_units(mean, deviations(differences, design, largest)), first),
        g_av=figure(in_units(mean, spread) * correction, first),
        common_language=figure(design.mean((np.sign(differences) + 1) / 2), first),
        unchanged=figure(design.mean((differences == 0).astype(np.float64)), first),
        wins=figure(wins, first),
        ties=figure(ties, first),
        losses=figure(losses, first),
        n=design.n,
    )


def deviations(
    columns: FloatArray, design: Design, largest: FloatArray | None = None
) -> FloatArray:
    """Standard deviations of columns under weights, with n - 1; NaN for one query, 0 where they are
    rounding.
    """
    if design.n == 1:
        return np.full(columns.shape[1], np.nan)
    squares = np.asarray(design.mean((columns - design.mean(columns)) ** 2), np.float64)
    deviation = np.sqrt(squares * design.n / (design.n - 1))
    return np.where(
        deviation <= ROUNDING * (largest_of(columns) if largest is None else largest),
        0.0,
        deviation,
    )


def in_units(mean: FloatArray, unit: FloatArray) -> FloatArray:
    """A difference in units; 0 where it is 0, infinite where the unit is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((mean == 0) & (unit == 0), 0.0, mean / unit)


def outcomes(
    differences: FloatArray,
) -> "tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]":
    """Wins, ties and losses of each column."""
    return (
        (differences > 0).sum(axis=0),
        (differences == 0).sum(axis=0),
        (differences < 0).sum(axis=0),
    )


_PER_SQUARE = 25  # queries for each unit of squared skewness
_SEE_RARE = 200  # with fewer, more than 5% of samples contain none of the 1.5% that differ most


def skewness(differences: npt.ArrayLike) -> float:
    """Compute the skewness of differences: the third central moment over the variance to the power
    3/2.

    Parameters
    ----------
    differences : array, shape (queries,)
        Differences b - a.

    Returns
    -------
    float
        0 for symmetric differences, and where all are equal.

    Raises
    ------
    InputError
        There are no differences, or one is not finite.

    Examples
    --------
    >>> round(skewness([0.0, 0.0, 0.0, 1.0]), 4)
    1.1547
    """
    values = np.asarray(differences, np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise InputError(
            f"differences: found shape {values.shape}, expected a finite number for each query"
        )
    centred = values - values.mean()
    variance = float((centred**2).mean())
    if variance <= (ROUNDING * float(np.abs(values).max())) ** 2:
        return 0.0
    return float(cubes(centred).mean() / variance**1.5)


def too_skewed(differences: npt.ArrayLike, n: int) -> bool:
    """Return whether n queries are too few for differences as skewed as these: ``n < 25 g^2``, with
    their skewness g.

    Parameters
    ----------
    differences : array, shape (queries,)
        Differences of all queries, from which the skewness is taken.
    n : int
        Queries of the test: all of them, or a slice.

    References
    ----------
    Cochran (1977), Sampling Techniques, 3rd edition, section 2.15.

    Examples
    --------
    >>> losses = [-0.38] * 5 + [0.02] * 95
    >>> too_skewed(losses, 100), too_skewed(losses, 1000)
    (True, False)
    """
    return n < _PER_SQUARE * skewness(differences) ** 2


def queries_for_skew(skew: float, seen: int) -> int:
    """Return the fewest queries whose test counts as one of known error rate, by the skewness of
    the differences seen.

    Cochran (1977), Sampling Techniques, 3rd edition, section 2.15.
    """
    needed = math.ceil(_PER_SQUARE * skew**2)
    return needed if seen >= _SEE_RARE else max(_SEE_RARE, needed)
