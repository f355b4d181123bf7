"""Segments: stretches of a column, or of several side by side, in which no value changes. Equal values must stand together."""

import numpy as np

from idealrank.data.types import AnyArray, BoolArray, IntArray


def heads(*columns: AnyArray) -> BoolArray:
    """Mark the first place of each segment.

    Parameters
    ----------
    *columns : array, shape (n,)
        A new segment begins where one of them changes.

    Examples
    --------
    >>> heads(np.array([0, 0, 2]), np.array([1, 3, 3]))
    array([ True,  True,  True])
    """
    marks = np.ones(columns[0].size, bool)
    marks[1:] = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        marks[1:] |= column[1:] != column[:-1]
    return marks


def starts_of(*columns: AnyArray) -> IntArray:
    """Return the place where each segment begins.

    Examples
    --------
    >>> starts_of(np.array([0, 0, 2]))
    array([0, 2])
    """
    return np.flatnonzero(heads(*columns))


def sizes_of(starts: IntArray, size: int) -> IntArray:
    """Return the lengths of segments that begin at `starts` and fill `size` places.

    Examples
    --------
    >>> sizes_of(np.array([0, 2]), 3)
    array([2, 1])
    """
    return np.diff(np.append(starts, size))


def number_within(column: AnyArray) -> IntArray:
    """1, 2, ... inside each segment.

    Examples
    --------
    >>> number_within(np.array([0, 0, 2]))
    array([1, 2, 1])
    """
    starts = starts_of(column)
    return np.arange(1, column.size + 1) - np.repeat(starts, sizes_of(starts, column.size))
