"""Sums that run down each list: with the bits of a plain loop, whatever other queries there are."""

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.measures.ranks import starts_of


def running_sums(query: IntArray, values: FloatArray) -> FloatArray:
    """Sum of the values of each query up to and with each place.

    Lists are laid beside each other by their length to the next power of two, so that the memory is at most twice that of the values.

    Parameters
    ----------
    query : int64 array, shape (n,)
        Query codes, those of one query together.
    values : float64 array, shape (n,)
        What is summed.

    Examples
    --------
    >>> running_sums(np.array([0, 0, 2]), np.array([1.0, 2.0, 4.0]))
    array([1., 3., 4.])
    """
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
        sums[rows[real]] = np.cumsum(block, axis=1)[real]
    return sums
