"""Pairs of documents of which one is preferred: listed one by one, or counted without listing them."""

from dataclasses import dataclass

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PreferencePairs:
    """Preferences one by one.

    Attributes
    ----------
    better, worse : int64 array, shape (n,)
        Rows of the preferred document and of the other.
    group : int64 array, shape (n,)
        Whose preference it is.
    """

    better: IntArray
    worse: IntArray
    group: IntArray

    @classmethod
    def none(cls) -> "PreferencePairs":
        """No preferences.

        Examples
        --------
        >>> PreferencePairs.none().group.size
        0
        """
        empty = np.zeros(0, np.int64)
        return cls(empty, empty, empty)

    @classmethod
    def joined(cls, parts: "list[PreferencePairs]") -> "PreferencePairs":
        """Several lists as one.

        Examples
        --------
        >>> PreferencePairs.joined([PreferencePairs.none()]).group.size
        0
        """
        if not parts:
            return cls.none()
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("better", "worse", "group")))

    def where(self, kept: BoolArray) -> "PreferencePairs":
        """Some of them.

        Examples
        --------
        >>> PreferencePairs(np.array([1, 2]), np.array([3, 3]), np.array([0, 0])).where(np.array([True, False])).better
        array([1])
        """
        return PreferencePairs(self.better[kept], self.worse[kept], self.group[kept])


def dense_levels(group: IntArray, level: FloatArray) -> IntArray:
    """Levels numbered from 0 within each group, in their order.

    Examples
    --------
    >>> dense_levels(np.array([0, 0, 0, 1]), np.array([0.5, 7.0, 0.5, 3.0]))
    array([0, 1, 0, 0])
    """
    order = np.lexsort((level, group))
    changes = (group[order][1:] != group[order][:-1]) | (level[order][1:] != level[order][:-1])
    number = np.concatenate((np.zeros(min(1, order.size), np.int64), np.cumsum(changes)))
    dense = np.empty(order.size, np.int64)
    dense[order] = number
    if order.size:
        least = np.full(int(group.max()) + 1, order.size)
        np.minimum.at(least, group, dense)
        dense -= least[group]
    return dense


def possible_pairs(group: IntArray, dense: IntArray, n_groups: int) -> IntArray:
    """Pairs of different levels in each group, shape (n_groups,).

    Examples
    --------
    >>> possible_pairs(np.array([0, 0, 0]), np.array([1, 0, 0]), 1)
    array([2])
    """
    size = np.bincount(group, minlength=n_groups)
    _, first, count = np.unique(group * (dense.max(initial=0) + 1) + dense, return_index=True, return_counts=True)
    equal = np.zeros(n_groups, np.int64)
    np.add.at(equal, group[first], count * (count - 1) // 2)
    pairs: IntArray = size * (size - 1) // 2 - equal
    return pairs


def falling_pairs(group: IntArray, dense: IntArray, n_groups: int) -> IntArray:
    """Pairs of each group in which the level of the earlier row is higher, shape (n_groups,).

    Bit by bit from the top: two levels that agree above a bit and differ in it are a pair in order when the one stands before the
    zero. So it takes a sort for each bit of the number of levels, and memory for no pair.

    Parameters
    ----------
    group : int64 array, shape (n,)
        Group of each row.
    dense : int64 array, shape (n,)
        Its level, from 0.
    n_groups : int
        Number of groups.

    Examples
    --------
    >>> falling_pairs(np.array([0, 0, 0]), np.array([1, 2, 0]), 1)
    array([2])
    """
    found = np.zeros(n_groups, np.int64)
    for bit in reversed(range(int(dense.max(initial=0)).bit_length())):
        prefix = dense >> (bit + 1)
        segment = group * (prefix.max(initial=0) + 1) + prefix
        order = np.argsort(segment, kind="stable")
        ones = (dense[order] >> bit) & 1
        before = np.cumsum(ones) - ones
        sorted_segment = segment[order]
        head = np.searchsorted(sorted_segment, sorted_segment)
        np.add.at(found, group[order], (before - before[head]) * (1 - ones))
    return found


def list_pairs(group: IntArray, row: IntArray, level: FloatArray) -> PreferencePairs:
    """The preferences of groups that order all their documents, one by one.

    Examples
    --------
    >>> pairs = list_pairs(np.array([0, 0, 0]), np.array([4, 5, 6]), np.array([2.0, 1.0, 1.0]))
    >>> pairs.better, pairs.worse
    (array([4, 4]), array([5, 6]))
    """
    order = np.lexsort((-level, group))
    group, row, level = group[order], row[order], level[order]
    if not group.size:
        return PreferencePairs.none()
    changes = (group[1:] != group[:-1]) | (level[1:] != level[:-1])
    starts = np.flatnonzero(np.concatenate(([True], changes)))
    ends = np.append(starts[1:], group.size)
    lower = np.repeat(ends, ends - starts)
    size = np.searchsorted(group, group, side="right") - lower
    better = np.repeat(np.arange(group.size), size)
    worse = np.repeat(lower, size) + np.arange(better.size) - np.repeat(np.cumsum(size) - size, size)
    return PreferencePairs(row[better], row[worse], group[better])
