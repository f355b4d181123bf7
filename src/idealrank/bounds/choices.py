"""Grades of free documents, chosen in every way that can matter, and quotients at their best and at
their worst.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, product
from typing import NamedTuple, TypeAlias

import numpy as np

from idealrank.bounds.free_documents import FreeDocuments, Ragged
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.stats.special import gammaln

_ROWS = 1 << 20  # documents of all copies of queries that are measured at once

# Values of copies of queries, given the query code of each copy and the grades of its free
# documents; NaN where a copy does not count.
Values: TypeAlias = Callable[[IntArray, FloatArray], FloatArray]
# Choices for so many documents, one row each.
Choices: TypeAlias = Callable[[int], Iterable[Sequence[float]]]


@dataclass(kw_only=True, eq=False)
class ValueRange:
    """Lowest and highest value of each query among the choices tried so far."""

    n_queries: int
    # low, high: shape (n_queries,): NaN where no choice has a value
    low: FloatArray = field(init=False)
    high: FloatArray = field(init=False)
    always: BoolArray = field(init=False)  # shape (n_queries,): whether every choice has a value

    def __post_init__(self) -> None:
        self.low = np.full(self.n_queries, np.nan)
        self.high = np.full(self.n_queries, np.nan)
        self.always = np.ones(self.n_queries, np.bool_)

    def add(self, query: IntArray, values: FloatArray) -> None:
        """Take values of copies of queries into account."""
        np.fmin.at(self.low, query, values)
        np.fmax.at(self.high, query, values)
        self.always[query[np.isnan(values)]] = False


class Trial(NamedTuple):
    """Free documents, and what a choice of their grades gives."""

    free: FreeDocuments  # The documents
    values: Values  # What a choice gives
    ends: ValueRange  # Takes the values

    def try_choice(self, queries: BoolArray, grades: FloatArray) -> None:
        """Try one choice for some queries; grades of all free documents, shape (n_documents,)."""
        copies = np.flatnonzero(queries)
        if copies.size:
            rows = Ragged.of(self.free.offsets, copies).row
            self.ends.add(copies, self.values(copies, grades[rows]))

    def try_choices(
        self,
        queries: BoolArray,
        grades: FloatArray,
        choices: Choices,
        among: BoolArray | None = None,
        order: IntArray | None = None,
    ) -> None:
        """Try many choices for some queries: `choices` of the documents in `among`, by `order`; the
        other documents keep their grade.
        """
        offsets = self.free.offsets
        tables = dict[int, FloatArray]()
        batch = _Batch(self)
        for query in np.flatnonzero(queries).tolist():
            rows = np.arange(offsets[query], offsets[query + 1])
            chosen = np.arange(rows.size) if among is None else np.flatnonzero(among[rows])
            if order is not None:
                chosen = chosen[np.argsort(order[rows[chosen]], kind="stable")]
            # Choices depend on the number of documents alone: many queries share a table.
            if chosen.size not in tables:
                listed = [*choices(chosen.size)]
                tables[chosen.size] = np.array(listed, np.float64).reshape(len(listed), chosen.size)
            table = tables[chosen.size]
            whole = np.repeat(grades[rows][None, :], table.shape[0], axis=0)
            whole[:, chosen] = table
            batch.add(query, whole)
        batch.close()


class _Batch:
    """Copies of queries that are measured together."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._empty()

    def _empty(self) -> None:
        self._copies: list[IntArray] = []
        self._grades: list[FloatArray] = []
        self._rows = 0

    def add(self, query: int, grades: FloatArray) -> None:
        """Add choices of one query, shape (n_choices, n_documents)."""
        weight = int(self._trial.free.weights[query])
        for part in np.array_split(grades, max(1, math.ceil(grades.shape[0] * weight / _ROWS))):
            self._copies.append(np.full(part.shape[0], query))
            self._grades.append(part.reshape(-1))
            self._rows += part.shape[0] * weight
            if self._rows >= _ROWS:
                self.close()

    def close(self) -> None:
        """Measure what has come together."""
        if self._copies:
            copies = np.concatenate(self._copies)
            self._trial.ends.add(copies, self._trial.values(copies, np.concatenate(self._grades)))
            self._empty()


def every(grades: Sequence[float]) -> Choices:
    """All choices."""
    return lambda size: product(grades, repeat=size)


def sorted_choices(grades: Sequence[float]) -> Choices:
    """Choices in which grades rise or fall from each document to the next."""
    falling = sorted(grades, reverse=True)

    def choices(size: int) -> Iterable[Sequence[float]]:
        return dict.fromkeys(
            (
                *combinations_with_replacement(falling, size),
                *combinations_with_replacement(falling[::-1], size),
            )
        )

    return choices


def at_most_one(grades: Sequence[float]) -> Choices:
    """Choices in which at most one document has the highest grade, the others the lowest."""
    low = min(grades)
    high = max(grades)

    def choices(size: int) -> Iterator[Sequence[float]]:
        yield [low] * size
        for place in range(size):
            yield [*[low] * place, high, *[low] * (size - place - 1)]

    return choices


def n_sorted(sizes: IntArray, n_grades: int) -> FloatArray:
    """Number of sequences of so many falling grades."""
    # The logarithm first: of many grades and documents the number itself has thousands of digits.
    logs = gammaln(sizes + n_grades) - gammaln(sizes + 1) - gammaln(n_grades)
    return np.array(
        [
            float(math.comb(size + n_grades - 1, size)) if log < 50 else math.inf
            for size, log in zip(sizes.tolist(), logs, strict=True)
        ]
    )


# The rest finds the highest and the lowest value without enumeration, exactly and in polynomial
# time: of a sum of gains over an ideal list, and of average precision.

_CELLS = 1 << 20  # numbers of one table: query x level x number of documents
_STEPS = 100  # of the iteration, which needs about five


class Quotients(NamedTuple):
    """One quotient for each query: ``(constant + sum over documents of weight x gain) / ideal``.

    The gain of each document is free, one of `levels`. The ideal is ``sum over ranks j of w_j x
    (j-th largest gain)``, over the free documents and those whose gain is known.
    """

    constant: FloatArray  # shape (n_queries,)
    # query, weight: shape (n_documents,): of each free document, query after query
    query: IntArray
    weight: FloatArray
    levels: FloatArray  # Gains that a free document may have, rising
    # known_query, known_gain: of each document with a known gain, query after query
    known_query: IntArray
    known_gain: FloatArray
    ideal: FloatArray  # shape (n_queries, n_ranks + 1): sum of the first weights w_j

    def highest(self) -> IntArray:
        """Level of each document at which the quotient of its query is highest, shape
        (n_documents,).

        Dinkelbach (1967), On nonlinear fractional programming. Management Science 13(7).
        """
        levels = [self._part(begin, end)._levels() for begin, end in self._stretches()]
        return np.concatenate(levels) if levels else np.zeros(0, np.int64)

    def lowest(self) -> IntArray:
        """Level of each document at which the quotient of its query is lowest, shape
        (n_documents,).
        """
        return Quotients(
            constant=-self.constant,
            query=self.query,
            weight=-self.weight,
            levels=self.levels,
            known_query=self.known_query,
            known_gain=self.known_gain,
            ideal=self.ideal,
        ).highest()

    def _stretches(self) -> Iterator[tuple[int, int]]:
        """Queries that fit into one table, from and to."""
        n_queries = self.constant.size
        free = np.bincount(self.query, minlength=n_queries) + 1
        begin = 0
        while begin < n_queries:
            widest = np.maximum.accumulate(free[begin:])
            cells = widest * np.arange(1, widest.size + 1) * max(self.levels.size - 1, 1)
            end = begin + max(1, int(np.searchsorted(cells, _CELLS, side="right")))
            yield begin, min(end, n_queries)
            begin = end

    def _part(self, begin: int, end: int) -> "Quotients":
        rows = slice(*np.searchsorted(self.query, [begin, end]).tolist())
        known = slice(*np.searchsorted(self.known_query, [begin, end]).tolist())
        return Quotients(
            constant=self.constant[begin:end],
            query=self.query[rows] - begin,
            weight=self.weight[rows],
            levels=self.levels,
            known_query=self.known_query[known] - begin,
            known_gain=self.known_gain[known],
            ideal=self.ideal[begin:end],
        )

    def _levels(self) -> IntArray:
        """Levels of all queries in one table."""
        query = self.query
        steps = np.diff(self.levels)
        n_free = np.bincount(query, minlength=self.constant.size)
        width = int(n_free.max(initial=0))
        if not width or not steps.size:
            return np.zeros(query.size, np.int64)
        # For a number of documents at a level or above, those with the largest weights are best:
        # each choice is one number for each level, and `sums` has the weight of each number.
        order = np.lexsort((-self.weight, query))
        place = np.arange(query.size) - np.repeat(np.cumsum(n_free) - n_free, n_free)
        falling = np.zeros((n_free.size, width + 1))
        falling[query, place + 1] = self.weight[order]
        sums = np.cumsum(falling, axis=1)
        allowed = (np.arange(width + 1) <= n_free[:, None])[:, None, :]
        # query, level, number of documents
        numerator = np.where(allowed, steps[:, None] * sums[:, None, :], -np.inf)
        base, denominator = self._ideals(n_free, width)
        terms = _QuotientTerms(
            constant=self.constant + self.levels[0] * sums[:, -1],
            numerator=numerator,
            base=base,
            denominator=denominator,
        )
        counts = _dinkelbach(terms, n_free)
        level = np.empty(query.size, np.int64)
        level[order] = (place[:, None] < counts[query]).sum(axis=1)
        return level

    def _ideals(self, n_free: IntArray, width: int) -> tuple[FloatArray, FloatArray]:
        """Parts of the ideal that no choice changes, by query; and the others, by query, level and
        number of free documents above it.
        """
        # Each gain is the sum of the steps from end to end below it. The ideal is a sum over these
        # steps, too: the length of the step times the weights of as many ranks as documents have
        # the step, that is a gain of at least its upper end. No gain lies between two ends.
        deepest = self.ideal.shape[1] - 1
        rows = np.arange(n_free.size)
        ends = np.unique(np.concatenate((np.zeros(1), self.levels, self.known_gain)))
        at_least = np.zeros((n_free.size, ends.size), np.int64)
        np.add.at(at_least, (self.known_query, np.searchsorted(ends, self.known_gain)), 1)
        # known documents with a gain of at least each end
        at_least = np.cumsum(at_least[:, ::-1], axis=1)[:, ::-1]
        level_of = np.searchsorted(self.levels, ends)
        base = np.zeros(n_free.size)
        by_number = np.zeros((n_free.size, self.levels.size - 1, width + 1))
        for step in range(1, ends.size):
            length = float(ends[step] - ends[step - 1])
            n_known = at_least[:, step]
            level = int(level_of[step])
            if 0 < level < self.levels.size:
                number = np.minimum(n_known[:, None] + np.arange(width + 1), deepest)
                by_number[:, level - 1] += length * np.take_along_axis(self.ideal, number, axis=1)
                continue
            if not level:  # every free document has a gain of at least the lowest level
                n_known = n_known + n_free
            base += length * self.ideal[rows, np.minimum(n_known, deepest)]
        return base, by_number


class _QuotientTerms(NamedTuple):
    """Terms of the quotient of each query, by the number of documents at each level or above."""

    # constant, base: shape (n_queries,): parts of dividend and divisor that no choice changes
    constant: FloatArray
    base: FloatArray
    # numerator, denominator: shape (n_queries, n_levels - 1, n_documents + 1): what each number of
    # documents adds to dividend and divisor; minus infinite where a query has fewer documents
    numerator: FloatArray
    denominator: FloatArray

    def of(self, queries: IntArray) -> "_QuotientTerms":
        """The terms of some queries."""
        return _QuotientTerms(
            constant=self.constant[queries],
            base=self.base[queries],
            numerator=self.numerator[queries],
            denominator=self.denominator[queries],
        )

    def quotient(self, counts: IntArray) -> tuple[FloatArray, BoolArray]:
        """The quotient of each query at some numbers of documents, and where there is one."""
        chosen = counts[:, :, None]
        dividend = self.constant + np.take_along_axis(self.numerator, chosen, axis=2).sum(
            axis=(1, 2)
        )
        divisor = self.base + np.take_along_axis(self.denominator, chosen, axis=2).sum(axis=(1, 2))
        defined = divisor > 0
        return np.divide(dividend, divisor, out=np.zeros_like(dividend), where=defined), defined


def _dinkelbach(terms: _QuotientTerms, n_free: IntArray) -> IntArray:
    """Numbers of documents at each level or above, shape (n_queries, n_levels - 1), at the highest
    quotient.
    """
    # Each step maximises numerator - price * denominator; the price is the best quotient so far.
    n_levels = terms.numerator.shape[1]
    best = np.repeat(n_free[:, None], n_levels, axis=1)
    quotient, defined = terms.quotient(best)
    active = np.flatnonzero(defined)
    for _ in range(_STEPS):
        if not active.size:
            break
        price = quotient[active]
        active_terms = terms.of(active)
        counts = _best_counts(
            active_terms.numerator - price[:, None, None] * active_terms.denominator
        )
        value, defined = active_terms.quotient(counts)
        better = defined & (value > price)
        active = active[better]
        best[active] = counts[better]
        quotient[active] = value[better]
    return best


def _best_counts(worth: FloatArray) -> IntArray:
    """Numbers c_1 >= c_2 >= ... with the highest sum of worth[l, c_l], query by query."""
    n_queries, n_levels, width = worth.shape
    # sums[l][c] is the highest sum of the levels up to l with c documents at level l: the level
    # before has at least as many, hence the maximum from the right.
    sums = [worth[:, 0]]
    for level in range(1, n_levels):
        sums.append(worth[:, level] + np.maximum.accumulate(sums[-1][:, ::-1], axis=1)[:, ::-1])
    counts = np.zeros((n_queries, n_levels), np.int64)
    fewest = np.zeros(n_queries, np.int64)  # documents at the level above, which this one includes
    for level in range(n_levels - 1, -1, -1):
        fewest = np.where(np.arange(width) >= fewest[:, None], sums[level], -np.inf).argmax(axis=1)
        counts[:, level] = fewest
    return counts


class PrecisionList(NamedTuple):
    """One list without ties."""

    relevant: IntArray  # shape (n_relevant,): ranks of relevant documents within the cutoff, rising
    # shape (n_open,): ranks of documents with an open grade, rising; infinite for one that is not
    # in the list
    open: FloatArray
    n_relevant: int  # Relevant documents of the query, returned or not
    limit: int  # The cutoff
    reachable: bool  # Whether the sum is divided by at most `limit`

    def highest(self) -> int:
        """Number of open documents, from the top, that are relevant at the highest value."""
        within = self.open <= self.limit
        # Open documents above are relevant, too: the n-th one counts n of them, with itself.
        above = np.searchsorted(self.relevant, self.open) + np.arange(1, self.open.size + 1)
        return self._best(np.where(within, above / self.open, 0.0) + self._below(self.open))

    def lowest(self) -> int:
        """Number of open documents, from the bottom, that are relevant at the lowest value."""
        ranks = self.open[::-1]
        within = ranks <= self.limit
        inverse = np.where(within, 1 / ranks, 0.0)
        # Open documents above stay irrelevant, and each one chosen before, from the bottom, gains
        # 1 / rank.
        above = np.searchsorted(self.relevant, ranks) + 1
        added = above * inverse + self._below(ranks) + np.cumsum(inverse) - inverse
        return self._best(-added, sign=-1.0)

    def _below(self, ranks: FloatArray) -> FloatArray:
        """Sum of 1 / rank over relevant documents below each rank."""
        sums = np.concatenate((np.cumsum((1 / self.relevant)[::-1])[::-1], [0.0]))
        return np.asarray(sums[np.searchsorted(self.relevant, ranks)])

    def _best(self, added: FloatArray, sign: float = 1.0) -> int:
        """Number of open documents with the highest value, given what each adds to the sum of
        precisions; with `sign` -1, sums are negated and it is the lowest.
        """
        judged = sign * float((np.arange(1, self.relevant.size + 1) / self.relevant).sum())
        sums = judged + np.concatenate(([0.0], np.cumsum(added)))
        divisor = self.n_relevant + np.arange(sums.size)
        if self.reachable:
            divisor = np.minimum(divisor, self.limit)
        values = np.divide(sums, divisor, out=np.full(sums.size, -np.inf), where=divisor > 0)
        return int(values.argmax())
