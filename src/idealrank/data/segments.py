"""Segments: stretches of a column, or of several side by side, in which no value changes. Equal
values must stand together.
"""

import numpy as np

from idealrank.data.types import AnyArray, BoolArray, IntArray


def heads(*columns: AnyArray) -> BoolArray:
    """Mark the first place of each segment."""
    marks = np.ones(columns[0].size, bool)
    marks[1:] = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        marks[1:] |= column[1:] != column[:-1]
    return marks


def starts_of(*columns: AnyArray) -> IntArray:
    """Return the place where each segment begins."""
    return np.flatnonzero(heads(*columns))


def sizes_of(starts: IntArray, size: int) -> IntArray:
    """Return the lengths of segments that begin at `starts` and fill `size` places."""
    return np.diff(np.append(starts, size))


def number_within(column: AnyArray) -> IntArray:
    """1, 2, ... inside each segment."""
    starts = starts_of(column)
    return np.arange(1, column.size + 1) - np.repeat(starts, sizes_of(starts, column.size))
