"""Grades of free documents, chosen in every way that can matter: what a measure gives at best and
at worst.
"""

import math
from collections.abc import Callable, Iterable, Sequence
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
    # low, high: shape (n_queries,): naN where no choice has a value
    low: FloatArray = field(init=False)
    high: FloatArray = field(init=False)
    always: BoolArray = field(init=False)  # shape (n_queries,): whether every choice has a value

    def __post_init__(self) -> None:
        self.low, self.high = np.full(self.n_queries, np.nan), np.full(self.n_queries, np.nan)
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

    def one(self, queries: BoolArray, grades: FloatArray) -> None:
        """Try one choice for some queries; grades of all free documents, shape (n_documents,)."""
        copies = np.flatnonzero(queries)
        if copies.size:
            self.ends.add(
                copies, self.values(copies, grades[Ragged.of(self.free.offsets, copies).row])
            )

    def many(
        self,
        queries: BoolArray,
        grades: FloatArray,
        choices: Choices,
        among: BoolArray | None = None,
        order: IntArray | None = None,
    ) -> None:
        """Try many choices for some queries."""
        offsets, tables = self.free.offsets, dict[int, FloatArray]()
        batch = _Batch(self)
        for query in np.flatnonzero(queries).tolist():
            rows = np.arange(offsets[query], offsets[query + 1])
            chosen = np.arange(rows.size) if among is None else np.flatnonzero(among[rows])
            if order is not None:
                chosen = chosen[np.argsort(order[rows[chosen]], kind="stable")]
            if chosen.size not in tables:
                listed = [*choices(chosen.size)]
                tables[chosen.size] = np.array(listed, np.float64).reshape(len(listed), chosen.size)
            whole = np.repeat(grades[rows][None, :], tables[chosen.size].shape[0], axis=0)
            whole[:, chosen] = tables[chosen.size]
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
    """Choices in which at most one document has the highest grade, and all others have the
    lowest.
    """
    low, high = min(grades), max(grades)
    return lambda size: [
        [high if place == chosen else low for place in range(size)] for chosen in range(-1, size)
    ]


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
