"""Contributions of documents to a value, as measures state them: terms of sums, and tie groups of relevant documents."""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np

from idealrank.data.judged import Hits
from idealrank.data.policies import IdealGrades
from idealrank.data.types import BoolArray, FloatArray, IntArray

EXACT = "exact: the contribution of a document does not depend on the other documents"
OWN_IDEAL = "by terms: the contribution of a document is divided by the ideal of its own list, which differs between the runs"
FROM_THE_TOP = "from the top: the contribution of a document is the rise of the value at its rank, so it depends on the documents above"


class Terms(NamedTuple):
    """The terms of a value that is a sum over documents.

    Attributes
    ----------
    weights : float64 array, shape (n_documents,)
        What a gain of 1 adds at the place of each document.
    added : float64 array, shape (n_documents,)
        Gain times weight, rounded where the measure rounds terms.
    ideal : float64 array, shape (n_queries,), or None
        Divisor of the terms of each query; None where nothing is left to divide by.
    defined : bool array, shape (n_queries,), or None
        Queries that have what the measure divides by; None for all.
    """

    weights: FloatArray
    added: FloatArray
    ideal: FloatArray | None = None
    defined: BoolArray | None = None

    def over_ideal(self, query: IntArray) -> FloatArray:
        """Divide each term by the ideal of its query; 0 where that is undefined.

        Examples
        --------
        >>> one = np.array([2.0, 1.0])
        >>> Terms(one, one, np.array([4.0])).over_ideal(np.array([0, 0]))
        array([0.5 , 0.25])
        """
        if self.ideal is None:
            return self.added
        where = True if self.defined is None else self.defined[query]
        return np.divide(self.added, self.ideal[query], out=np.zeros_like(self.added), where=where)


class Quotient(NamedTuple):
    """A sum and the ideal that it is divided by, rounded as their own measures print them.

    Attributes
    ----------
    total : float64 array, shape (n_queries,)
        The sum of each query.
    ideal : float64 array, shape (n_queries,), or None
        None where the sum itself is the value.
    defined : bool array, shape (n_queries,)
        Queries whose ideal can be divided by.
    """

    total: FloatArray
    ideal: FloatArray | None
    defined: BoolArray


class Fraction(NamedTuple):
    """A value as a function of the documents' gains: a weighted sum of them over the weighted sum of an ideal list.

    The ideal list holds known documents and any further ones, by falling gain. `Measure.worth` defines the gains.

    Attributes
    ----------
    total : float64 array, shape (n_queries,)
        The sum of each query, over judged documents.
    weigh : callable
        Takes documents as `Hits`, and gives what a gain of 1 adds to the sum at the place of each, shape (n_documents,).
    ideal : callable
        Takes a number of ranks n, and gives the sums of the ideal list's weights down to ranks 0 to n, shape (n_queries, n + 1); fewer
        columns if all weights below are 0.
    known : IdealGrades
        Judged documents of the ideal list.
    shared : bool
        Whether these are all judged documents of the query, so that all runs share them.
    """

    total: FloatArray
    weigh: Callable[[Hits], FloatArray]
    ideal: Callable[[int], FloatArray]
    known: IdealGrades
    shared: bool


class RelevantGroups(NamedTuple):
    """Tie groups of one list, where ties are averaged; single documents where they are not.

    Attributes
    ----------
    start, size : int64 array, shape (n,)
        Ranks above the group, and its documents.
    relevant : int64 array, shape (n,)
        Relevant documents of the group.
    before : int64 array, shape (n,)
        Relevant documents above the group.

    Examples
    --------
    >>> RelevantGroups.of(np.array([1, 2, 2]), np.array([1, 3, 3]), np.array([True, False, True])).relevant
    array([1, 1])
    """

    start: IntArray
    size: IntArray
    relevant: IntArray
    before: IntArray

    @classmethod
    def of(cls, first: IntArray, last: IntArray, relevant: BoolArray) -> Self:
        """Groups of a list, from the first and last rank of each document's group and its relevance."""
        heads = np.flatnonzero(np.arange(1, first.size + 1) == first)
        counts = np.add.reduceat(relevant.astype(np.int64), heads) if heads.size else np.zeros(0, np.int64)
        return cls(first[heads] - 1, last[heads] - first[heads] + 1, counts, np.cumsum(counts) - counts)

    def changed(self, *, relevant: int = 0, before: int = 0) -> "RelevantGroups":
        """Every group by itself with more or fewer relevant documents in it or above it."""
        return RelevantGroups(self.start, self.size, self.relevant + relevant, self.before + before)

    @property
    def owner(self) -> IntArray:
        """Group of each document, by rank."""
        return np.repeat(np.arange(self.size.size), self.size)
