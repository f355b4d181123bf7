"""The sign-flip test of every shift at once: p values and intervals from the means of the flipped units.

Let unit i have the total ``t_i`` (the weighted sum of its differences) and the weight ``w_i``; under the hypothesis that the mean
difference is ``delta`` its sign-symmetric total is ``t_i - delta w_i``. For a draw that flips S, the total under the flipped signs is
``T*(delta) = T(delta) - 2 sum_S (t_i - delta w_i)``, so

* ``T*(delta) >= T(delta)`` if and only if ``sum_S t_i <= delta sum_S w_i``: the mean over S is at most delta, or S is empty;
* ``T*(delta) <= -T(delta)`` if and only if the same is true of the units outside S.

For delta below the mean, the two-sided p value is thus a count of draws whose smaller mean, of S and of the rest, is at most delta:
a step function whose jumps are those means. The lower end of the interval is one of them, and likewise the upper end. The test at
delta = 0 counts the same numbers, so the interval holds 0 if and only if p is above 1 - level.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.stats.design import Design
from idealrank.stats.whole_numbers import as_whole, tie_step, to_steps, unit_of

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]


@dataclass(frozen=True, eq=False)
class Units:
    """Totals and weights of the units in whole numbers.

    Parameters
    ----------
    totals : float64 array, shape (n_units, columns)
        Whole numbers, in units of `unit`.
    weights : float64 array, shape (n_units,)
        Whole numbers, in units of `weight_unit`.
    unit : float64 array, shape (columns,)
    weight_unit : float
    step : float64 array, shape (columns,)
        Sums closer than this, in units, are tied.
    """

    totals: FloatArray
    weights: FloatArray
    unit: FloatArray
    weight_unit: float
    step: FloatArray

    @classmethod
    def of(cls, differences: FloatArray, design: Design) -> "Units":
        """From differences (n, columns)."""
        totals, weights = design.unit_totals(differences), design.unit_totals(np.ones(design.n))
        unit, weight_unit = unit_of(totals), float(unit_of(weights[:, None])[0])
        whole = as_whole(totals, unit)
        return cls(whole, as_whole(weights, weight_unit), unit, weight_unit, tie_step(whole))

    @property
    def n_nonzero(self) -> IntArray:
        """Units whose total is not zero, in each column."""
        return np.asarray(np.count_nonzero(self.totals, axis=0), np.int64)

    def of_columns(self, columns: IntArray) -> "Units":
        """Some columns alone."""
        return Units(self.totals[:, columns], self.weights, self.unit[columns], self.weight_unit, self.step[columns])

    def with_weights(self) -> FloatArray:
        """Totals and, as the last column, weights: what is summed over the flipped units."""
        return np.concatenate([self.totals, self.weights[:, None]], axis=1)

    def ends(self, sums: FloatArray, alternative: Alternative) -> FloatArray:
        """The shift at which each draw begins to count, so that a larger number counts for more shifts.

        Parameters
        ----------
        sums : float64 array, shape (draws, columns + 1)
            Of `with_weights`, over the flipped units.

        Returns
        -------
        float64 array, shape (draws, columns) or, two-sided, (draws, 2 columns)
            In steps over weight units. For lower ends the mean with its sign changed, for upper ends the mean; infinite where the
            draw counts whatever the shift.
        """
        flipped, weight = sums[:, :-1], sums[:, -1:]
        if alternative == "two-sided":
            return both_ends(flipped, weight, self.totals.sum(axis=0), float(self.weights.sum()), self.step)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = to_steps(flipped, self.step) / weight
        return np.where(weight == 0, np.inf, -mean if alternative == "greater" else mean)

    def interval(self, ends: FloatArray, alternative: Alternative) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends in the units of the differences, from the ranked `ends`."""
        scaled = ends.reshape(-1, self.unit.size) * (self.step * self.unit / self.weight_unit)
        infinite = np.full(self.unit.size, np.inf)
        low = infinite if alternative == "less" else scaled[0]
        high = infinite if alternative == "greater" else scaled[-1]
        return 0.0 - low, high + 0.0  # no negative zeros

    def counts(self, from_zero: IntArray, draws: int, alternative: Alternative) -> IntArray:
        """Draws that are as extreme as what was observed, of those whose `ends` are 0 or more."""
        if alternative != "two-sided":
            return from_zero
        below, above = from_zero.reshape(2, -1)
        total = to_steps(self.totals.sum(axis=0), self.step)
        return np.where(total > 0, below, np.where(total < 0, above, draws))


def both_ends(flipped: FloatArray, weight: FloatArray, total: FloatArray, total_weight: float, step: FloatArray) -> FloatArray:
    """`Units.ends` of a two-sided test, from sums over the flipped units (draws, columns), their weights (draws, 1), and the totals.

    Examples
    --------
    >>> both_ends(np.array([[4.0]]), np.array([[1.0]]), np.array([10.0]), 3.0, np.array([2.0]))
    array([[-1.5,  2. ]])
    """
    rest_weight = total_weight - weight
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, other = to_steps(flipped, step) / weight, to_steps(total - flipped, step) / rest_weight
    both = np.concatenate([-np.minimum(mean, other), np.maximum(mean, other)], axis=1)
    both[((weight == 0) | (rest_weight == 0))[:, 0]] = np.inf
    return both


def counted_rank(level: float, draws: int, observed: int) -> int:
    """Return the number of draws that must count for a shift to be in the interval; 0 or less if every shift is.

    Parameters
    ----------
    level : float
        Confidence level of the interval, in (0, 1).
    draws : int
        Draws.
    observed : int
        1 if the observed signs count beside the draws, 0 if they are one of them.

    Examples
    --------
    >>> counted_rank(0.95, 99_999, 1), counted_rank(0.95, 18, 1), counted_rank(0.95, 32, 0)
    (5000, 0, 2)
    """
    alpha = level_left(level)
    rank = math.floor(alpha * (draws + observed)) - observed - 1
    while (rank + observed) / (draws + observed) <= alpha:
        rank += 1
    return rank


def level_left(level: float) -> float:
    """One minus the level, without the last bits: 0.05 for 0.95.

    Examples
    --------
    >>> level_left(0.95)
    0.05
    """
    return round(1 - level, 12)
