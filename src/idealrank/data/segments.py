"""Columns in order: segments, in which no value changes, and orders of hashes and of query codes.

Equal values of a segment must stand together.
"""

import numpy as np

from idealrank.data.types import AnyArray, BoolArray, IntArray, KeyArray


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


def joined_ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """Return the ranges start, start + 1, ... of these sizes, one after the other."""
    ends = np.cumsum(sizes)
    begins = ends - sizes  # the place of each range among all
    return np.repeat(starts - begins, sizes) + np.arange(int(ends[-1]) if ends.size else 0)


def number_within(column: AnyArray) -> IntArray:
    """1, 2, ... inside each segment."""
    starts = starts_of(column)
    return np.arange(1, column.size + 1) - np.repeat(starts, sizes_of(starts, column.size))


# Orders of hashes and of query codes: the place of each is packed into its low bits, so that one
# plain sort of numbers finds the order.
#
# NumPy sorts numbers several times faster than it finds the order of numbers.

_SHORT = 32  # bits of a place


def sorted_keys(keys: KeyArray) -> tuple[IntArray, KeyArray]:
    """Stable order of hashes, and the hashes in that order."""
    low = np.uint64((1 << max(keys.size - 1, 1).bit_length()) - 1)
    packed = keys & ~low  # in place from here on: columns of many rows are the peak of the memory
    packed |= np.arange(keys.size, dtype=np.uint64)
    packed.sort()
    packed &= low
    order = packed.view(np.int64)
    ordered = keys[order]
    if (ordered[1:] >= ordered[:-1]).all():
        return order, ordered
    order = np.argsort(keys, kind="stable")  # some differ in their low bits alone
    return order, keys[order]


def distinct_keys(keys: KeyArray) -> tuple[KeyArray, IntArray]:
    """Distinct hashes, rising, and the first place of each."""
    order, ordered = sorted_keys(keys)
    first = np.append(True, ordered[1:] != ordered[:-1])[: keys.size]
    return ordered[first], order[first]


def in_stable_order(codes: IntArray) -> IntArray:
    """Stable order of whole numbers from 0 to 2^31 - 1, such as query codes."""
    if codes.size >> _SHORT:
        return np.argsort(codes, kind="stable")
    return np.sort(codes << _SHORT | np.arange(codes.size)) & ((1 << _SHORT) - 1)
