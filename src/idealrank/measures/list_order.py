"""Lists in the order of their scores, for measures that weigh a place by how many documents stand below it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from idealrank.data.lists import Lists
from idealrank.data.types import AnyArray, IntArray

TieOrder: TypeAlias = Literal["expected", "best", "worst"]

# Items of a piece: few enough for its columns to stay in the cache, and for exact sums over it (see `dots`).
PIECE = 1 << 18


def stretches(lists: Lists) -> Iterator[Lists]:
    """The lists in stretches: one list alone, or several that make a piece together.

    Examples
    --------
    >>> [part.n_queries for part in stretches(Lists.from_arrays([1, 0, 1], [3, 2, 1], group=[1, 2]))]
    [2]
    """
    if lists.n_queries == 1 and lists.order is None:
        yield lists
        return
    begin = 0
    while begin < lists.n_queries:
        end = int(np.searchsorted(lists.offsets, lists.offsets[begin] + PIECE, side="right")) - 1
        end = min(max(end, begin + 1), begin + (1 << 16), lists.n_queries)  # 2**16 lists at most, as `ascending` sorts their numbers
        yield lists.part(begin, end)
        begin = end


@dataclass(frozen=True, eq=False)
class ListOrder:
    """Items from the lowest score to the highest, list after list, and where scores tie.

    Attributes
    ----------
    order : int64 array, shape (n,)
        The item at each place.
    offsets : int64 array, shape (n_lists + 1,)
        Where each list begins and ends.
    ties : int64 array, shape (n_groups + 1,), or None
        Where each group of equal scores begins, single items among them, and n; None where no score occurs twice in a list.

    Examples
    --------
    >>> order = ListOrder.of(np.array([0.5, 0.9, 0.5]), np.array([0, 3]))
    >>> order.ties, order.below(0, 3, "expected")
    (array([0, 2, 3]), array([1, 1, 4]))
    """

    order: IntArray
    offsets: IntArray
    ties: IntArray | None

    @classmethod
    def of(cls, scores: AnyArray, offsets: IntArray) -> "ListOrder":
        """Sort the scores of every list."""
        order = ascending(scores, offsets)
        head = np.ones(scores.size, bool)
        if scores.size:
            ranked = scores[order]
            np.not_equal(ranked[1:], ranked[:-1], out=head[1:])
            head[offsets[:-1][np.diff(offsets) > 0]] = True
        if head.all():
            return cls(order, offsets, None)
        return cls(order, offsets, np.append(np.flatnonzero(head), scores.size))

    def lists(self, begin: int, end: int) -> IntArray:
        """The list of each place from `begin` to before `end`."""
        return _owners(self.offsets, begin, end)

    def below(self, begin: int, end: int, ties: TieOrder) -> IntArray:
        """Twice the number of documents of its list below each place from `begin` to before `end`.

        Under ``expected`` a tied document counts half; under ``best`` a tie group stands in rising order of what `tied_in_order`
        sorted, under ``worst`` in falling order.
        """
        place = np.arange(begin, end)
        if self.ties is not None and ties != "best":
            group = _owners(self.ties, begin, end)
            ends = self.ties[group] + self.ties[group + 1] - 1
            doubled = ends if ties == "expected" else 2 * (ends - place)
        else:
            doubled = 2 * place
        if self.offsets.size > 2:
            doubled -= 2 * self.offsets[self.lists(begin, end)]
        return doubled

    def tied_in_order(self, values: AnyArray) -> AnyArray:
        """Values by place, in rising order within each tie group.

        Examples
        --------
        >>> ListOrder.of(np.array([0.5, 0.5, 0.9]), np.array([0, 3])).tied_in_order(np.array([3, 1, 2]))
        array([1, 3, 2])
        """
        if self.ties is None:
            return values
        sizes = np.diff(self.ties)
        several = sizes > 1
        tied, sizes = np.repeat(several, sizes), sizes[several]
        changed = values.copy()
        changed[tied] = _in_groups(values[tied], sizes)
        return changed


def _in_groups(values: AnyArray, sizes: IntArray) -> AnyArray:
    """Values sorted within groups of these sizes.

    The group and the place among all values make one whole number: NumPy sorts numbers many times faster than it sorts places.
    """
    key = np.repeat(np.arange(sizes.size), sizes)
    if values.dtype.kind == "u":  # short codes, which are their own places
        span = 1 << 8 * values.dtype.itemsize
        key *= span
        key += values
        key.sort()
        return (key % span).astype(values.dtype)
    rising = np.argsort(values)
    key *= values.size
    key[rising] += np.arange(values.size)
    key.sort()
    key %= max(values.size, 1)
    return values[rising[key]]


def in_rising_order(values: AnyArray, offsets: IntArray) -> AnyArray:
    """Values sorted within each list.

    Examples
    --------
    >>> in_rising_order(np.array([3, 1, 2, 0]), np.array([0, 2, 4]))
    array([1, 3, 0, 2])
    """
    return np.sort(values) if offsets.size <= 2 else values[ascending(values, offsets)]


def ascending(values: AnyArray, offsets: IntArray) -> IntArray:
    """The order that sorts every list, equal values in any order.

    Examples
    --------
    >>> ascending(np.array([3, 1, 2, 0]), np.array([0, 2, 4]))
    array([1, 0, 3, 2])
    """
    order = np.argsort(values)
    if offsets.size <= 2:
        return order
    # At most 2**16 lists: NumPy sorts so short numbers by counting, equal ones in the order they have.
    owner = _owners(offsets, 0, values.size).astype(np.uint16)
    by_list: IntArray = order[np.argsort(owner[order], kind="stable")]
    return by_list


def _owners(bounds: IntArray, begin: int, end: int) -> IntArray:
    """The stretch between rising `bounds` in which each place from `begin` to before `end` lies."""
    first, last = np.searchsorted(bounds, (begin, max(end - 1, begin)), side="right") - 1
    within = np.clip(bounds[first : last + 2], begin, end)
    return np.repeat(np.arange(first, first + within.size - 1), np.diff(within))
