"""Exact sums behind the pairwise loss: DCG with the weights n - rank, its ideal and its worst, of
many lists.

Lists are in the order of their scores, and the weight of a place is n - rank, the number of
documents below it. Whole labels are counted by grade instead of sorted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from idealrank.data.lists import Lists
from idealrank.data.types import AnyArray, FloatArray, IntArray
from idealrank.errors import InputError
from idealrank.measures.dyadic import Dyadic, dots, joined

TieOrder: TypeAlias = Literal["expected", "best", "worst"]

# Items of a piece: few enough for its columns to stay in the cache, and for exact sums over it (see
# `dots`).
PIECE = 1 << 18
# Lists of a stretch: their numbers fit 16 bits, and NumPy sorts so short numbers by counting.
_LISTS = 1 << 16


def stretches(lists: Lists) -> Iterator[Lists]:
    """The lists in stretches: one list alone, or several that make a piece together."""
    if lists.n_queries == 1 and lists.order is None:
        yield lists
        return
    begin = 0
    while begin < lists.n_queries:
        end = int(np.searchsorted(lists.offsets, lists.offsets[begin] + PIECE, side="right")) - 1
        end = min(max(end, begin + 1), begin + _LISTS, lists.n_queries)
        yield lists.part(begin, end)
        begin = end


@dataclass(frozen=True, eq=False)
class ListOrder:
    """Items from the lowest score to the highest, list after list, and where scores tie."""

    order: IntArray  # shape (n,): the item at each place
    offsets: IntArray  # shape (n_lists + 1,): where each list begins and ends
    # shape (n_groups + 1,): where each group of equal scores begins, single items among them, and
    # n; None where no score occurs twice in a list
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
        """Twice the number of documents of its list below each place from `begin` to before
        `end`.
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
        """Values by place, in rising order within each tie group."""
        if self.ties is None:
            return values
        sizes = np.diff(self.ties)
        several = sizes > 1
        tied = np.repeat(several, sizes)
        sizes = sizes[several]
        changed = values.copy()
        changed[tied] = _in_groups(values[tied], sizes)
        return changed


def _in_groups(values: AnyArray, sizes: IntArray) -> AnyArray:
    """Values sorted within groups of these sizes.

    The group and the place among all values make one whole number: NumPy sorts numbers many times
    faster than it sorts places.
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
    """Values sorted within each list."""
    return np.sort(values) if offsets.size <= 2 else values[ascending(values, offsets)]


def ascending(values: AnyArray, offsets: IntArray) -> IntArray:
    """The order that sorts every list, equal values in any order."""
    order = np.argsort(values)
    if offsets.size <= 2:
        return order
    # The lists of one stretch, at most `_LISTS`. The sort is stable: values stay in order within a
    # list.
    owner = _owners(offsets, 0, values.size).astype(np.uint16)
    by_list: IntArray = order[np.argsort(owner[order], kind="stable")]
    return by_list


def _owners(bounds: IntArray, begin: int, end: int) -> IntArray:
    """The stretch between rising `bounds` in which each place from `begin` to before `end` lies."""
    first, last = np.searchsorted(bounds, (begin, max(end - 1, begin)), side="right") - 1
    within = np.clip(bounds[first : last + 2], begin, end)
    return np.repeat(np.arange(first, first + within.size - 1), np.diff(within))


# Whole labels of at most so many different values are counted instead of sorted.
_COUNTED = 1 << 16
# The most numbers that a table of lists x grades may have.
_CELLS = 50_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class PairSums:
    """Exact sums of each list, shape (n_lists,)."""

    length: IntArray  # n
    # dcg, ideal, worst: Sum of grade x (n - rank): of the list as ranked, of the best order, of the
    # worst
    dcg: Dyadic
    ideal: Dyadic
    worst: Dyadic

    @property
    def loss(self) -> Dyadic:
        """R(f)."""
        return self.ideal - self.dcg

    @classmethod
    def of(cls, lists: Lists, ties: TieOrder) -> "PairSums":
        """Sum every list, grades as they are."""
        coded = _whole(lists.labels)
        sums = [_sums(part, coded, ties) for part in stretches(lists)]
        dcg = joined([doubled.dcg for doubled in sums])
        ideal = joined([doubled.ideal for doubled in sums])
        total = joined([doubled.total for doubled in sums])
        return cls._halved(np.diff(lists.offsets), _Doubled(dcg, ideal, total))

    @classmethod
    def of_table(cls, table: "GradeTable") -> "PairSums | None":
        """Sum counts by grade to the same numbers; None if the grades are not whole."""
        if table.whole is None:
            return None
        doubled = _weighed_columns(table.number, table.below, table.whole)
        return cls._halved(table.number.sum(axis=1), doubled)

    @classmethod
    def _halved(cls, length: IntArray, doubled: "_Doubled") -> "PairSums":
        ideal = doubled.ideal.halved()
        # The ranks of a document in an order and in the order turned round sum to n + 1: the
        # weights n - rank sum to n - 1.
        worst = doubled.total * np.maximum(length - 1, 0) - ideal
        return cls(length=length, dcg=doubled.dcg.halved(), ideal=ideal, worst=worst)


class _Doubled(NamedTuple):
    """Twice the DCG and its ideal, and the sum of the labels, of each list."""

    dcg: Dyadic
    ideal: Dyadic
    total: Dyadic


@dataclass(frozen=True, kw_only=True, eq=False)
class GradeTable:
    """Counts by list and grade."""

    grades: FloatArray  # shape (n_grades,): the different labels of all lists, rising
    number: IntArray  # shape (n_lists, n_grades): items with each grade
    # shape (n_lists, n_grades): twice the number of documents ranked below those items, summed
    below: IntArray
    # shape (n_grades,): the grades, where they are whole numbers of moderate size
    whole: IntArray | None = None

    @classmethod
    def of(cls, lists: Lists, ties: TieOrder) -> "GradeTable":
        """Count the items of every list."""
        coded = _whole(lists.labels)
        if coded is not None and lists.n_queries * coded.size <= _CELLS:
            coded_stretches = ((part, coded.codes(part.labels)) for part in stretches(lists))
            number, below = _tables(coded_stretches, coded.size, ties)
            occurring = np.flatnonzero(number.any(axis=0))
            whole = coded.least + occurring
            return cls(
                grades=whole.astype(np.float64),
                number=number[:, occurring],
                below=below[:, occurring],
                whole=whole,
            )
        values, codes = np.unique(lists.labels, return_inverse=True)
        if lists.n_queries * values.size > _CELLS:
            raise InputError(
                f"found {values.size} different labels in {lists.n_queries} lists, more than a "
                f"table of lists x labels can hold ({_CELLS} numbers); decompose a list at a time, "
                "or round the labels"
            )
        by_code = Lists(codes.reshape(-1), lists.scores, lists.offsets, order=lists.order)
        coded_stretches = ((part, part.labels) for part in stretches(by_code))
        number, below = _tables(coded_stretches, values.size, ties)
        return cls(grades=values.astype(np.float64), number=number, below=below)


def _tables(
    coded_stretches: Iterable[tuple[Lists, AnyArray]], size: int, ties: TieOrder
) -> tuple[IntArray, IntArray]:
    """The tables of every stretch with its codes, one below the other."""
    empty = np.zeros((0, size), np.int64)  # without any list the table has no rows
    numbers, belows = [empty], [empty]
    for part, codes in coded_stretches:
        number, below = _table(codes, size, part, ties)
        numbers.append(number)
        belows.append(below)
    return np.concatenate(numbers), np.concatenate(belows)


def _sums(part: Lists, coded: "_Whole | None", ties: TieOrder) -> _Doubled:
    if coded is not None and part.n_queries * coded.size <= max(_COUNTED, 4 * PIECE):
        number, below = _table(coded.codes(part.labels), coded.size, part, ties)
        return _weighed_columns(number, below, coded.least + np.arange(coded.size))
    rising = in_rising_order(part.labels, part.offsets)
    ranked = ListOrder.of(part.scores, part.offsets)
    placed = part.labels[ranked.order]
    if ties != "expected":
        placed = ranked.tied_in_order(placed)
    filled = np.flatnonzero(np.diff(part.offsets))
    dcg = ideal = total = Dyadic(np.zeros(filled.size, np.int64))
    for begin, end, starts in _pieces(part.offsets[np.append(filled, part.n_queries)]):
        dcg += dots(placed[begin:end], ranked.below(begin, end, ties), starts)
        ideal += dots(rising[begin:end], ranked.below(begin, end, "best"), starts)
        total += dots(rising[begin:end], np.ones(end - begin, np.int64), starts)
    if filled.size == part.n_queries:
        return _Doubled(dcg, ideal, total)
    return _Doubled(
        dcg=_scattered(dcg, filled, part),
        ideal=_scattered(ideal, filled, part),
        total=_scattered(total, filled, part),
    )


def _pieces(offsets: IntArray) -> Iterator[tuple[int, int, IntArray]]:
    """Items to take at once, and where lists begin among them: a long list in pieces, or several
    lists whole.
    """
    if offsets.size > 2:
        yield 0, int(offsets[-1]), offsets[:-1]
        return
    for begin in range(0, int(offsets[-1]), PIECE):
        yield begin, min(begin + PIECE, int(offsets[-1])), np.zeros(1, np.int64)


def _scattered(sums: Dyadic, filled: IntArray, part: Lists) -> Dyadic:
    """Sums of the lists that have items, 0 for the others."""
    numerator = np.zeros(part.n_queries, sums.numerator.dtype)
    numerator[filled] = sums.numerator
    return Dyadic(numerator, sums.shift)


def _table(codes: AnyArray, size: int, part: Lists, ties: TieOrder) -> tuple[IntArray, IntArray]:
    """Items of each list and code, and twice the documents below them, shape (n_lists, size)
    each.
    """
    ranked = ListOrder.of(part.scores, part.offsets)
    ordered = None if ties == "expected" else ranked.tied_in_order(codes[ranked.order])
    number, below = np.zeros((2, part.n_queries * size), np.int64)
    step = max(PIECE, size)
    for begin in range(0, codes.size, step):
        end = min(begin + step, codes.size)
        piece = codes[ranked.order[begin:end]] if ordered is None else ordered[begin:end]
        cell = piece.astype(np.int64)
        if part.n_queries > 1:
            cell += ranked.lists(begin, end) * size
        number += np.bincount(cell, minlength=number.size)
        below += np.bincount(cell, ranked.below(begin, end, ties), number.size).astype(np.int64)
    shape = (part.n_queries, size)
    return number.reshape(shape), below.reshape(shape)


def _weighed_columns(number: IntArray, below: IntArray, values: IntArray) -> _Doubled:
    """Weigh counts by list and grade."""
    before = np.cumsum(number, axis=1) - number
    return _Doubled(
        dcg=_weighed(below, values),
        ideal=_weighed(number * (2 * before + number - 1), values),
        total=_weighed(number, values),
    )


def _weighed(counts: IntArray, values: IntArray) -> Dyadic:
    """The sum over grades of count x grade."""
    if int(np.abs(values).max(initial=0)) * int(counts.sum(axis=1).max(initial=1)) < 1 << 62:
        return Dyadic(counts @ values)
    return Dyadic((counts.astype(object) * values.astype(object)).sum(axis=1))


@dataclass(frozen=True)
class _Whole:
    """Labels that are whole numbers from `least` to before `least` + `size`."""

    least: int
    size: int

    def codes(self, labels: AnyArray) -> AnyArray:
        """Label - least, a piece at a time for the sake of memory."""
        narrow = np.empty(labels.size, np.uint8 if self.size <= 1 << 8 else np.uint16)
        for begin in range(0, labels.size, PIECE):
            piece = labels[begin : begin + PIECE]
            narrow[begin : begin + PIECE] = np.subtract(piece, self.least, dtype=_wide(labels))
        return narrow


def _wide(labels: AnyArray) -> type[np.int64] | type[np.float64]:
    return np.int64 if labels.dtype.kind == "i" else np.float64


def _whole(labels: AnyArray) -> _Whole | None:
    """Labels as whole numbers for counting; None if they are not whole, or too far apart."""
    if labels.size == 0:
        return None
    least = labels.min()
    most = labels.max()
    if not float(most) - float(least) < _COUNTED or abs(float(least)) >= 1 << 53:
        return None
    pieces = (labels[begin : begin + PIECE] for begin in range(0, labels.size, PIECE))
    whole = (np.array_equal(piece, np.trunc(piece)) for piece in pieces)
    if labels.dtype.kind == "f" and not all(whole):
        return None
    return _Whole(int(least), int(most) - int(least) + 1)
