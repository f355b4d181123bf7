"""Values as whole numbers of a unit so small that nothing is lost, and so large that every sum over a subset is exact.

A sum of floats depends on the order of its terms in the last bits; a sum of whole numbers below 2^53 does not. Resampling over
whole numbers gives the same bits for any block, thread or processor, and ties are ties.
"""

from typing import Any

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.errors import InputError

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
