"""Values as whole numbers of a unit so small that nothing is lost, and so large that every sum over a subset is exact.

A sum of floats depends on the order of its terms in the last bits; a sum of whole numbers below 2^53 does not. Resampling over
whole numbers gives the same bits for any block, thread or processor, and ties are ties.

Runs on the same queries as whole numbers of one unit, and counts of one statistic beyond many thresholds.
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
    """The unit of each column: a power of two, 2^-51 times the sum of absolute values, rounded up.

    Parameters
    ----------
    values : float64 array, shape (n, columns)

    Returns
    -------
    float64 array, shape (columns,)

    Raises
    ------
    InputError
        The sum of absolute values is beyond float64.

    Examples
    --------
    >>> unit_of(np.array([[0.25], [-0.75]])) == 2.0**-50
    array([ True])
    """
    with np.errstate(over="ignore"):
        total = np.abs(values).sum(axis=0)
    if not np.isfinite(total).all():
        at = int(np.flatnonzero(~np.isfinite(total))[0])
        raise InputError(f"column {at}: the sum of absolute values is beyond float64; rescale the values, for example to [0, 1]")
    exponent = np.frexp(total)[1]
    return np.asarray(np.ldexp(1.0, np.maximum(exponent - _BITS, -1022)), np.float64)


def as_whole(values: FloatArray, unit: Any) -> FloatArray:
    """Values in whole units, float64 of the same shape; each is off by half a unit at most.

    Examples
    --------
    >>> as_whole(np.array([0.25, -0.75]), 0.25)
    array([ 1., -3.])
    """
    return np.asarray(np.rint(values / unit), np.float64)


def tie_step(whole: FloatArray) -> FloatArray:
    """Return the least distance of two different sums of whole numbers, in units: 2^-40 of the sum of absolute values.

    Sums that floating point would have made equal but for the last bits are equal after `to_steps`.

    Examples
    --------
    >>> tie_step(np.array([[2.0**50], [0.0]]))
    array([2048.])
    """
    exponent = np.frexp(np.abs(whole).sum(axis=0))[1]
    return np.asarray(np.ldexp(1.0, np.maximum(exponent - _TIED_BITS, 0)), np.float64)


def to_steps(sums: FloatArray, step: FloatArray) -> FloatArray:
    """Sums rounded to steps.

    Examples
    --------
    >>> to_steps(np.array([4097.0, -3.0]), np.array(2048.0))
    array([ 2., -0.])
    """
    return np.asarray(np.rint(sums / step), np.float64)


class Runs(NamedTuple):
    """Values of runs, centred on every query, as whole numbers that can be added, and subtracted from each other, exactly.

    Parameters
    ----------
    totals : float64 array, shape (n_units, runs, measures)
        Weighted sums of the units, in units of `unit`.
    unit, step : float64 array, shape (measures,)
        The unit, and in units how close two sums are tied: 2^-40 of the sum of the largest absolute values.
    means : float64 array, shape (runs, measures)
        Weighted mean of each run.
    design : Design
    one_measure : bool
        Whether the values came without an axis for measures.
    """

    totals: FloatArray
    unit: FloatArray
    step: FloatArray
    means: FloatArray
    design: Design
    one_measure: bool

    @classmethod
    def of(cls, values: Any, design: Design | None) -> "Runs":
        """From values (queries, runs) or (queries, runs, measures), at least two of each but the last.

        Raises
        ------
        InputError
            Another shape, too few queries or runs, or a value that is not finite.
        """
        one = np.ndim(values) != 3
        table = table_of(values) if one else table_of(values, axes=("queries", "runs", "measures"), least=(2, 2, 1))
        table = table.reshape(*table.shape[:2], -1)
        used = design_of(design, len(table))
        # What all runs share says nothing of their differences, and would cost them digits.
        totals = used.unit_totals(table - table.mean(axis=1, keepdims=True))
        largest = np.abs(totals).max(axis=1)
        unit = unit_of(largest)
        return cls(
            totals=as_whole(totals, unit),
            unit=unit,
            step=tie_step(as_whole(largest, unit)),
            means=used.mean(table),
            design=used,
            one_measure=one,
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
        same = [np.unique(self.totals[:, :, measure], axis=1, return_inverse=True)[1].reshape(-1) for measure in range(self.unit.size)]
        return np.stack([codes == codes[:, None] for codes in same], axis=-1)

    def shaped(self, figures: FloatArray) -> Any:
        """Figures (..., measures) as the caller gave the values."""
        return figures[..., 0][()] if self.one_measure else figures


class Thresholds:
    """Counts of values that reach each of many thresholds, from one look at each value.

    Parameters
    ----------
    thresholds : float64 array, shape (columns, k)

    Examples
    --------
    >>> wanted = Thresholds(np.array([[3.0, 1.0]]))
    >>> wanted.reached(wanted.count(np.array([[0.5], [1.0], [2.0], [4.0]]))).tolist()
    [[1, 3]]
    """

    def __init__(self, thresholds: FloatArray) -> None:
        self._order = np.argsort(thresholds, axis=1)
        self._sorted = np.take_along_axis(thresholds, self._order, axis=1)

    def count(self, values: FloatArray) -> IntArray:
        """Of values (draws, columns), how many reach exactly 0, 1, ... thresholds of their column: shape (columns, k + 1)."""
        size = self._sorted.shape[1] + 1
        reached = (np.searchsorted(row, values[:, column], side="right") for column, row in enumerate(self._sorted))
        return np.stack([np.bincount(places, minlength=size) for places in reached]).astype(np.int64)

    def reached(self, counts: IntArray) -> IntArray:
        """Return the number of values that reached each threshold, shape (columns, k), from the summed counts."""
        from_top = np.cumsum(counts[:, ::-1], axis=1)[:, -2::-1]
        found = np.empty_like(from_top)
        np.put_along_axis(found, self._order, from_top, axis=1)
        return found
