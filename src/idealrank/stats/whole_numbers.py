"""Values as whole numbers of a unit so small that nothing is lost, and so large that every sum over
a subset is exact.

A sum of floats depends on the order of its terms in the last bits; a sum of whole numbers below
2^53 does not. Resampling over whole numbers gives the same bits for any block, thread or processor,
and ties are ties.

`Runs` holds runs on the same queries as such numbers; `Thresholds` counts the values that reach
each of many thresholds.
"""

from typing import Any, NamedTuple

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError
from idealrank.stats.design import Design
from idealrank.stats.values import design_of, table_of

_BITS = 51  # of the sum of absolute values: with what rounding adds it stays below 2^53
_TIED_BITS = 40  # 2^-40 is about 1e-12


def unit_of(values: FloatArray) -> FloatArray:
    """The unit of each column: a power of two, 2^-51 times the sum of absolute values, rounded
    up.
    """
    with np.errstate(over="ignore"):
        total = np.abs(values).sum(axis=0)
    if not np.isfinite(total).all():
        column = int(np.flatnonzero(~np.isfinite(total))[0])
        raise InputError(
            f"column {column}: the sum of absolute values is beyond float64; rescale the "
            "values, for example to [0, 1]"
        )
    exponent = np.frexp(total)[1]
    return np.asarray(np.ldexp(1.0, np.maximum(exponent - _BITS, -1022)), np.float64)


def as_whole(values: FloatArray, unit: Any) -> FloatArray:
    """Values in whole units, float64 of the same shape; each is off by half a unit at most."""
    return np.asarray(np.rint(values / unit), np.float64)


def tie_step(whole: FloatArray) -> FloatArray:
    """Return the least distance of two different sums of whole numbers, in units: 2^-40 of the sum
    of absolute values.

    Sums that floating point would have made equal but for the last bits are equal after `to_steps`.
    """
    exponent = np.frexp(np.abs(whole).sum(axis=0))[1]
    return np.asarray(np.ldexp(1.0, np.maximum(exponent - _TIED_BITS, 0)), np.float64)


def to_steps(sums: FloatArray, step: FloatArray) -> FloatArray:
    """Sums rounded to steps."""
    return np.asarray(np.rint(sums / step), np.float64)


class Runs(NamedTuple):
    """Values of runs, centred on every query, as whole numbers that can be added, and subtracted
    from each other, exactly.
    """

    totals: FloatArray  # shape (n_units, runs, measures), as multiples of `unit`
    unit: FloatArray
    step: FloatArray  # least distance of two sums of totals that are not tied
    means: FloatArray
    design: Design
    one_measure: bool

    @classmethod
    def of(cls, values: Any, design: Design | None) -> "Runs":
        """Centre values (queries, runs) or (queries, runs, measures): at least two queries and
        runs.
        """
        one_measure = np.ndim(values) != 3
        table = (
            table_of(values)
            if one_measure
            else table_of(values, axes=("queries", "runs", "measures"), least=(2, 2, 1))
        )
        table = table.reshape(*table.shape[:2], -1)
        design = design_of(design, len(table))
        # What all runs share says nothing of their differences, and would cost them digits.
        totals = design.unit_totals(table - table.mean(axis=1, keepdims=True))
        largest = np.abs(totals).max(axis=1)
        unit = unit_of(largest)
        return cls(
            totals=as_whole(totals, unit),
            unit=unit,
            step=tie_step(as_whole(largest, unit)),
            means=design.mean(table),
            design=design,
            one_measure=one_measure,
        )

    @property
    def sums(self) -> FloatArray:
        """Whole totals of each run, shape (runs, measures)."""
        return np.asarray(self.totals.sum(axis=0), np.float64)

    def differences(self) -> FloatArray:
        """Mean of b minus mean of a at [a, b], shape (runs, runs, measures)."""
        sums = self.sums
        return self.scaled(sums[None] - sums[:, None])

    def scaled(self, sums: FloatArray) -> FloatArray:
        """Sums (..., measures) as means in the units of the values."""
        return np.asarray(sums * self.unit / self.design.n, np.float64)

    def identical(self) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """Mark pairs of runs with equal values everywhere, shape (runs, runs, measures)."""
        codes_of_runs = [
            np.unique(self.totals[:, :, measure], axis=1, return_inverse=True)[1].reshape(-1)
            for measure in range(self.unit.size)
        ]
        return np.stack([codes == codes[:, None] for codes in codes_of_runs], axis=-1)

    def shaped(self, figures: FloatArray) -> Any:
        """Figures (..., measures) as the caller gave the values."""
        return figures[..., 0][()] if self.one_measure else figures


class Thresholds:
    """Counts of values that reach each of many thresholds, from one look at each value."""

    def __init__(self, thresholds: FloatArray) -> None:
        self._order = np.argsort(thresholds, axis=1)
        self._sorted = np.take_along_axis(thresholds, self._order, axis=1)

    def count(self, values: FloatArray) -> IntArray:
        """Count the values (draws, columns) that reach exactly 0, 1, ... thresholds of their
        column: shape (columns, k + 1).
        """
        size = self._sorted.shape[1] + 1
        reached = (
            np.searchsorted(row, values[:, column], side="right")
            for column, row in enumerate(self._sorted)
        )
        counts = [np.bincount(places, minlength=size) for places in reached]
        return np.stack(counts).astype(np.int64)

    def reached(self, counts: IntArray) -> IntArray:
        """Return the number of values that reached each threshold, shape (columns, k), from the
        summed counts.
        """
        from_top = np.cumsum(counts[:, ::-1], axis=1)[:, -2::-1]
        reaching = np.empty_like(from_top)
        np.put_along_axis(reaching, self._order, from_top, axis=1)
        return reaching
