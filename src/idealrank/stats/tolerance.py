"""Rounding: differences, ties and spreads within 1e-12 of the values that they come from.

0.4 - 0.3 and 0.2 - 0.1 are not the same float. Where a test asks whether two numbers are equal, it
asks here.
"""

from functools import reduce
from typing import Any

import numpy as np

from idealrank.data.types import BoolArray, FloatArray

ROUNDING = 1e-12  # as a share of the largest value that a number comes from


def largest_of(*tables: FloatArray) -> Any:
    """Largest absolute value of each column over several tables, shape (m,), or a number for shape
    (n,).
    """
    return reduce(np.maximum, [np.abs(table).max(axis=0) for table in tables])


def subtracted(a: FloatArray, b: FloatArray) -> FloatArray:
    """``b - a``, with 0 for a difference that is rounding."""
    with np.errstate(over="ignore"):  # said by what needs their sum
        differences = b - a
    return np.where(np.abs(differences) <= ROUNDING * largest_of(a, b), 0.0, differences)


def beyond_rounding(variance: float, largest: float) -> float:
    """A variance of values as large as `largest`: 0 where its root is rounding."""
    return 0.0 if variance <= (ROUNDING * largest) ** 2 else variance


def ranks_within(values: FloatArray, rounding: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Ranks of each column from 1, tied values sharing their mean, and the columns with ties.

    In rising order, a value is tied with the one before it if it is larger by at most `rounding`.
    """
    order = np.argsort(values, axis=0, kind="stable")
    apart = np.diff(np.take_along_axis(values, order, axis=0), axis=0) > rounding
    ranks: FloatArray = np.empty(values.shape)
    # `scipy.stats`, which has ranks, takes half a second to load
    for column, above in enumerate(apart.T):
        group = np.concatenate(([0], np.cumsum(above)))
        sizes = np.bincount(group)
        ranks[order[:, column], column] = (np.cumsum(sizes) - (sizes - 1) / 2)[group]
    return ranks, np.asarray(~apart.all(axis=0), np.bool_)


def cubes(values: FloatArray) -> FloatArray:
    """Third powers by products: for ``**3`` NumPy takes the processor's own way, whose last bit
    differs from one processor to the next.
    """
    return values * values * values
