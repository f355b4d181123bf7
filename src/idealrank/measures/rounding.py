"""Rounding that some tools do per query or per term, to the last digit as they do it."""

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.measures.rules import Rounding

# A quotient of two sums of hundredths that is no hundredth itself lies further than this below the next one.
_SLACK = 1e-9


def rounded(values: FloatArray, rounding: Rounding | None) -> FloatArray:
    """The value of each query: to two decimals with halves up (Java's Math.round), to five as C's printf, or down to two.

    Parameters
    ----------
    values : float64 array, shape (n,)
        Unrounded.
    rounding : {"none", "round-2", "round-5", "floor-2"} or None
        See `Rules`.

    Examples
    --------
    >>> rounded(np.array([0.125, 0.128]), "round-2")
    array([0.13, 0.13])
    """
    if rounding == "round-2":
        hundreds = values * 100
        whole = np.floor(hundreds)
        return (whole + (hundreds - whole >= 0.5)) / 100
    if rounding == "round-5":
        # np.round multiplies first, which moves values that lie within half a bit of the middle.
        return np.array([round(value, 5) for value in values.tolist()], np.float64)
    return floored(values, rounding)


def floored(values: FloatArray, rounding: Rounding | None) -> FloatArray:
    """Down to two decimals under ``floor-2``, as exact decimal arithmetic would do it: 0.58 / 2 is 0.29, not 0.28.

    Examples
    --------
    >>> floored(np.array([0.58 / 2]), "floor-2")
    array([0.29])
    """
    return np.floor(values * 100 + _SLACK) / 100 if rounding == "floor-2" else values


def summed(sums: FloatArray, rounding: Rounding | None) -> FloatArray:
    """Sums of floored terms, rid of the binary error of adding hundredths.

    Examples
    --------
    >>> summed(np.array([0.1 + 0.2]), "floor-2")
    array([0.3])
    """
    return np.rint(sums * 100) / 100 if rounding == "floor-2" else sums
