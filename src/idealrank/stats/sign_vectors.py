"""All sign vectors of the few units of a column that differ, beside random signs of the many that do not.

A sign-flip test of 200 queries of which 20 differ has 2^20 distinct results. Their p value is a count of subset sums. Their interval
also needs the weights of the flipped queries that do not differ, which are drawn: 2^17 numbers, each of them met by the subsets of the
units from the 18th on. So a draw is one of 2^17 rows and one of at most eight extras, and nothing of the size of all draws is made:

* the p value compares the rows with a threshold for each extra;
* a few thousand draws say roughly where the wanted end lies. One linear function of the rows then finds the draws that can be beyond it
  (the mean of S is at most delta where ``sum_S - delta weight_S <= 0``), and only for those is the mean itself computed.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.stats.inversion import Alternative, Units, both_ends

ROW_BITS = 17
_PILOT = 1 << 13  # draws that say where to look
_ERRORS = 5.0  # standard errors of a rank; a look that missed is followed by one at all draws


class Ends(NamedTuple):
    """Of one column: how many draws are as extreme as the observed signs, and the ends at the rank, one for each side."""

    counted: IntArray
    end: FloatArray


@dataclass(frozen=True, eq=False)
class ColumnDraws:
    """The draws of one column: row j together with extra h.

    Parameters
    ----------
    sums, weights : float64 array, shape (2^17,)
        Over the flipped units of a row, in whole units.
    more_sums, more_weights : float64 array, shape (extras,)
        Of the units that differ beyond the first 17.
    total, total_weight : float
        Of all units.
    step : float
        Sums closer than this are tied.
    """

    sums: FloatArray
    weights: FloatArray
    more_sums: FloatArray
    more_weights: FloatArray
    total: float
    total_weight: float
    step: float

    @classmethod
    def of(cls, units: Units, zero_weights: FloatArray) -> "ColumnDraws":
        """From one column, and drawn weights of the flipped units that do not differ, shape (2^17,)."""
        totals = units.totals[:, 0]
        differ = np.flatnonzero(totals)
        parts = [_subset_sums(part[differ[some]]) for some in (slice(ROW_BITS), slice(ROW_BITS, None)) for part in (totals, units.weights)]
        sums, weights, more_sums, more_weights = parts
        rows = zero_weights.size
        sums, weights = np.resize(sums, rows), np.resize(weights, rows) + zero_weights  # whole repetitions: powers of two
        return cls(sums, weights, more_sums, more_weights, float(totals.sum()), float(units.weights.sum()), float(units.step[0]))

    @property
    def n_draws(self) -> int:
        """Rows times extras."""
        return self.sums.size * self.more_sums.size

    def negated(self) -> "ColumnDraws":
        """Of ``a - b``: its lower ends are the upper ends."""
        return replace(self, sums=-self.sums, more_sums=-self.more_sums, total=-self.total)

    def from_zero(self, *, both: bool) -> int:
        """Draws with a mean over the flipped units (or, for `both`, over them or the rest) of at most 0."""
        half = self.step / 2
        if both and self.total <= self.step:
            return self.n_draws
        counted = sum(int(np.count_nonzero(self.sums <= half - more)) for more in self.more_sums)
        if both:
            counted += sum(int(np.count_nonzero(self.sums >= self.total - half - more)) for more in self.more_sums)
        return counted

    def end(self, rank: int, *, both: bool) -> float:
        """The end at a rank from the top: the mean with its sign changed, in steps over weight units."""
        pilot = np.arange(min(_PILOT, self.n_draws)) * (int(0.6180339887498949 * self.n_draws) | 1) % self.n_draws
        seen = np.sort(self._ends(pilot % self.sums.size, pilot // self.sums.size, both=both))
        expected = rank * seen.size / self.n_draws
        place = int(np.ceil(expected + _ERRORS * np.sqrt(expected) + 1))
        least = seen[-place] if place <= seen.size else -np.inf
        kept = self._beyond(float(least), both=both)
        if np.count_nonzero(kept >= least) < rank:
            kept = self._beyond(-np.inf, both=both)
        kept.partition(kept.size - rank)
        return float(kept[kept.size - rank])

    def _beyond(self, lowest: float, *, both: bool) -> FloatArray:
        """All ends from `lowest` on, and some others."""
        slope = -lowest * self.step
        if not np.isfinite(slope):
            rows = np.arange(self.sums.size)
            return np.concatenate([self._ends(rows, np.full(rows.size, extra), both=both) for extra in range(self.more_sums.size)])
        # Rounding to steps moves a sum by half a step, the products by far less: nothing beyond is lost within a whole one.
        line = self.sums - slope * self.weights
        found = []
        for extra, (more, weight) in enumerate(zip(self.more_sums, self.more_weights, strict=True)):
            at = slope * weight - more
            near = line <= at + self.step
            if both:
                near |= line >= self.total - slope * self.total_weight + at - self.step
            rows = np.flatnonzero(near)
            found.append(self._ends(rows, np.full(rows.size, extra), both=both))
        return np.concatenate(found)

    def _ends(self, rows: IntArray, extras: IntArray, *, both: bool) -> FloatArray:
        sums, weights = self.sums[rows] + self.more_sums[extras], self.weights[rows] + self.more_weights[extras]
        step = np.array([self.step])
        if both:
            total = np.array([self.total])
            return both_ends(sums[:, None], weights[:, None], total, self.total_weight, step)[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(weights == 0, np.inf, -(np.rint(sums / self.step) / weights))


def listed_ends(units: Units, zero_weights: FloatArray, rank: int, alternative: Alternative) -> Ends:
    """Counts and ends of one column whose differing units are at most 20.

    Parameters
    ----------
    units : Units
        Of one column.
    zero_weights : float64 array, shape (2^17,)
        Drawn weights of the flipped units whose total is 0.
    rank : int
        Of the ends, from 1, the largest.
    alternative : {"two-sided", "greater", "less"}
        Two-sided there are two sides, below the mean and above; else one.

    Examples
    --------
    >>> from idealrank.stats.design import Design
    >>> units = Units.of(np.array([[0.5], [0.25], [0.0]]), Design.of(3))
    >>> ends = listed_ends(units, np.zeros(1 << ROW_BITS), 1, "greater")
    >>> ends.counted.tolist(), ends.end.tolist()
    ([32768], [inf])
    """
    lower = ColumnDraws.of(units, zero_weights)
    sides = {"two-sided": (lower, lower.negated()), "greater": (lower,), "less": (lower.negated(),)}[alternative]
    both = alternative == "two-sided"
    counted = np.array([side.from_zero(both=both) for side in sides], np.int64)
    return Ends(counted, np.array([side.end(rank, both=both) for side in sides]))


def _subset_sums(values: FloatArray) -> FloatArray:
    """Of all subsets: bit i of a number is 1 where value i is in it."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums
