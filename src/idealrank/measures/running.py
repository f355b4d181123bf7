"""Sums and products that run down each list: with the bits of a plain loop, whatever other queries there are."""

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.measures.ranks import starts_of


def running_sums(query: IntArray, values: FloatArray) -> FloatArray:
    """Sum of the values of each query up to and with each place.

    Lists are laid beside each other by their length to the next power of two, so that the memory is at most twice that of the values.

    Parameters
    ----------
    query : int64 array, shape (n,)
        Query codes, grouped by query.
    values : float64 array, shape (n,)
        What is summed.

    Examples
    --------
    >>> running_sums(np.array([0, 0, 2]), np.array([1.0, 2.0, 4.0]))
    array([1., 3., 4.])
    """
    return _running(query, values, np.add)


def running_products(query: IntArray, values: FloatArray) -> FloatArray:
    """Product of the values of each query up to and with each place, as `running_sums`.

    Examples
    --------
    >>> running_products(np.array([0, 0, 2]), np.array([0.5, 0.5, 4.0]))
    array([0.5 , 0.25, 4.  ])
    """
    return _running(query, values, np.multiply)


def sums_before(query: IntArray, values: FloatArray) -> FloatArray:
    """Sum of the values of each query before each place.

    Examples
    --------
    >>> sums_before(np.array([0, 0, 2]), np.array([1.0, 2.0, 4.0]))
    array([0., 1., 0.])
    """
    sums = np.concatenate(([0.0], running_sums(query, values)))[: values.size]
    sums[starts_of(query)] = 0.0
    return sums


def spread(sizes: IntArray) -> tuple[IntArray, IntArray]:
    """The group of each place, and the number of the place in it from 1 on, for groups of these sizes.

    Examples
    --------
    >>> spread(np.array([2, 0, 1]))
    (array([0, 0, 2]), array([1, 2, 1]))
    """
    group = np.repeat(np.arange(sizes.size), sizes)
    return group, np.arange(1, group.size + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _running(query: IntArray, values: FloatArray, step: np.ufunc) -> FloatArray:
    sums = np.empty(values.size)
    starts = starts_of(query)
    sizes = np.diff(np.append(starts, query.size))
    widths = np.frexp(sizes - 0.5)[1]  # the power of two that holds so many
    for width in np.unique(widths).tolist():
        chosen = widths == width
        place = np.arange(1 << max(width, 0))
        rows = starts[chosen][:, np.newaxis] + place
        real = place < sizes[chosen][:, np.newaxis]
        block = np.where(real, values[np.minimum(rows, values.size - 1)], 0.0)
        sums[rows[real]] = step.accumulate(block, axis=1)[real]
    return sums
