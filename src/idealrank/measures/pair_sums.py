"""Sums of a pairwise loss: DCG with the weights n - rank, its ideal and its worst, summed exactly, and counts by grade."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from idealrank.data.lists import Lists
from idealrank.data.types import AnyArray, FloatArray, IntArray
from idealrank.errors import InputError
from idealrank.measures.dyadic import Dyadic, dots, joined
from idealrank.measures.list_order import PIECE, ListOrder, TieOrder, in_rising_order, stretches

# Whole labels of at most so many different values are counted instead of sorted.
_COUNTED = 1 << 16
# The most numbers that a table of lists x grades may have.
_CELLS = 50_000_000


@dataclass(frozen=True, eq=False)
class PairSums:
    """Exact sums of each list, shape (n_lists,).

    Attributes
    ----------
    length : int64 array
        n.
    dcg, ideal, worst : Dyadic
        Sum of grade x (n - rank): of the list as ranked, of the best order, of the worst. ``ideal - dcg`` is the pairwise loss.
    """

    length: IntArray
    dcg: Dyadic
    ideal: Dyadic
    worst: Dyadic

    @property
    def loss(self) -> Dyadic:
        """R(f)."""
        return self.ideal - self.dcg

    @classmethod
    def of(cls, lists: Lists, ties: TieOrder) -> "PairSums":
        """Of every list, grades as they are.

        Examples
        --------
        >>> PairSums.of(Lists.from_arrays([0, 2, 1], [3, 2, 1]), "expected").loss.rounded()
        array([3.])
        """
        coded = _whole(lists.labels)
        parts = [_sums(part, coded, ties) for part in stretches(lists)]
        dcg, ideal, total = (joined([part[column] for part in parts]) for column in range(3))
        return cls._halved(np.diff(lists.offsets), dcg, ideal, total)

    @classmethod
    def of_table(cls, table: "GradeTable") -> "PairSums | None":
        """From counts by grade, where the grades are whole; the same numbers."""
        if table.whole is None:
            return None
        return cls._halved(table.number.sum(axis=1), *_weighed_columns(table.number, table.below, table.whole))

    @classmethod
    def _halved(cls, length: IntArray, dcg: Dyadic, ideal: Dyadic, total: Dyadic) -> "PairSums":
        ideal, dcg = ideal.halved(), dcg.halved()
        return cls(length, dcg, ideal, total * np.maximum(length - 1, 0) - ideal)


@dataclass(frozen=True, eq=False)
class GradeTable:
    """Counts by list and grade.

    Attributes
    ----------
    grades : float64 array, shape (n_grades,)
        The different labels of all lists, rising.
    number : int64 array, shape (n_lists, n_grades)
        Items with each grade.
    below : int64 array, shape (n_lists, n_grades)
        Twice the number of documents ranked below those items, summed.
    whole : int64 array, shape (n_grades,), or None
        The grades, where they are whole numbers of moderate size.
    """

    grades: FloatArray
    number: IntArray
    below: IntArray
    whole: IntArray | None = None

    @classmethod
    def of(cls, lists: Lists, ties: TieOrder) -> "GradeTable":
        """Of every list.

        Examples
        --------
        >>> GradeTable.of(Lists.from_arrays([0, 2, 2], [3, 2, 1]), "expected").below
        array([[4, 2]])
        """
        coded = _whole(lists.labels)
        if coded is not None and lists.n_queries * coded.size <= _CELLS:
            number, below = _tables(((part, coded.codes(part.labels)) for part in stretches(lists)), coded.size, ties)
            used = np.flatnonzero(number.any(axis=0))
            return cls((coded.least + used).astype(np.float64), number[:, used], below[:, used], coded.least + used)
        values, codes = np.unique(lists.labels, return_inverse=True)
        if lists.n_queries * values.size > _CELLS:
            raise InputError(
                f"found {values.size} different labels in {lists.n_queries} lists, more than a table of lists x labels can hold "
                f"({_CELLS} numbers); decompose a list at a time, or round the labels"
            )
        by_code = Lists(codes.reshape(-1), lists.scores, lists.offsets, order=lists.order)
        number, below = _tables(((part, part.labels) for part in stretches(by_code)), values.size, ties)
        return cls(values.astype(np.float64), number, below)


def _tables(parts: Iterable[tuple[Lists, AnyArray]], size: int, ties: TieOrder) -> tuple[IntArray, IntArray]:
    """The tables of every stretch with its codes, one below the other."""
    tables = [_table(codes, size, part, ties) for part, codes in parts]
    none = np.zeros((0, size), np.int64)
    number, below = (np.concatenate([none, *(table[side] for table in tables)]) for side in range(2))
    return number, below


def _sums(part: Lists, coded: "_Whole | None", ties: TieOrder) -> tuple[Dyadic, Dyadic, Dyadic]:
    """Twice the DCG and its ideal, and the sum of the labels, of each list."""
    if coded is not None and part.n_queries * coded.size <= max(_COUNTED, 4 * PIECE):
        number, below = _table(coded.codes(part.labels), coded.size, part, ties)
        return _weighed_columns(number, below, coded.least + np.arange(coded.size))
    rising, ranked = in_rising_order(part.labels, part.offsets), ListOrder.of(part.scores, part.offsets)
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
        return dcg, ideal, total
    return _scattered(dcg, filled, part), _scattered(ideal, filled, part), _scattered(total, filled, part)


def _pieces(offsets: IntArray) -> Iterator[tuple[int, int, IntArray]]:
    """Items to take at once, and where lists begin among them: a long list in pieces, or several lists whole."""
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
    """Items of each list and code, and twice the documents below them, shape (n_lists, size) each.

    Sums of a piece are whole and below 2**53, so that float64, in which `bincount` adds, holds them.
    """
    ranked = ListOrder.of(part.scores, part.offsets)
    ordered = None if ties == "expected" else ranked.tied_in_order(codes[ranked.order])
    number, below = np.zeros((2, part.n_queries * size), np.int64)
    step = max(PIECE, size)
    for begin in range(0, codes.size, step):
        end = min(begin + step, codes.size)
        cell = (codes[ranked.order[begin:end]] if ordered is None else ordered[begin:end]).astype(np.int64)
        if part.n_queries > 1:
            cell += ranked.lists(begin, end) * size
        number += np.bincount(cell, minlength=number.size)
        below += np.bincount(cell, ranked.below(begin, end, ties), number.size).astype(np.int64)
    shape = (part.n_queries, size)
    return number.reshape(shape), below.reshape(shape)


def _weighed_columns(number: IntArray, below: IntArray, values: IntArray) -> tuple[Dyadic, Dyadic, Dyadic]:
    """Twice the DCG and its ideal, and the sum of the labels, from counts by list and grade."""
    before = np.cumsum(number, axis=1) - number
    return _weighed(below, values), _weighed(number * (2 * before + number - 1), values), _weighed(number, values)


def _weighed(counts: IntArray, values: IntArray) -> Dyadic:
    """The sum over grades of count x grade."""
    if int(np.abs(values).max(initial=0)) * int(counts.sum(axis=1).max(initial=1)) < 1 << 62:
        return Dyadic(counts @ values)
    return Dyadic((counts.astype(object) * values.astype(object)).sum(axis=1))


@dataclass(frozen=True)
class _Whole:
    """Labels that are whole numbers from `least` on, `size` of them at most."""

    least: int
    size: int

    def codes(self, labels: AnyArray) -> AnyArray:
        """Label - least, a piece at a time for the sake of memory."""
        narrow = np.empty(labels.size, np.uint8 if self.size <= 1 << 8 else np.uint16)
        for begin in range(0, labels.size, PIECE):
            narrow[begin : begin + PIECE] = np.subtract(labels[begin : begin + PIECE], self.least, dtype=_wide(labels))
        return narrow


def _wide(labels: AnyArray) -> type[np.int64] | type[np.float64]:
    return np.int64 if labels.dtype.kind == "i" else np.float64


def _whole(labels: AnyArray) -> _Whole | None:
    """Return labels as whole numbers for counting; None if they are not whole, or have too many values."""
    if labels.size == 0:
        return None
    least, most = labels.min(), labels.max()
    if not float(most) - float(least) < _COUNTED or abs(float(least)) >= 1 << 53:
        return None
    pieces = (labels[begin : begin + PIECE] for begin in range(0, labels.size, PIECE))
    if labels.dtype.kind == "f" and not all(np.array_equal(piece, np.trunc(piece)) for piece in pieces):
        return None
    return _Whole(int(least), int(most) - int(least) + 1)
