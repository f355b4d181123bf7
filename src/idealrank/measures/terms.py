"""Contributions of documents to a value, as measures state them: terms of sums, and tie groups of
relevant documents.
"""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np

from idealrank.data.judged import Hits
from idealrank.data.policies import IdealGrades
from idealrank.data.types import BoolArray, FloatArray, IntArray

EXACT = "exact: the contribution of a document does not depend on the other documents"
OWN_IDEAL = (
    "by terms: the contribution of a document is divided by the ideal of its own list, which "
    "differs between the runs"
)
FROM_THE_TOP = (
    "from the top: the contribution of a document is the rise of the value at its rank, so it "
    "depends on the documents above"
)


class Terms(NamedTuple):
    """The terms of a value that is a sum over documents."""

    weights: FloatArray  # shape (n_documents,): what a gain of 1 adds at the place of each document
    # shape (n_documents,): gain times weight, rounded where the measure rounds terms
    added: FloatArray
    # shape (n_queries,): divisor of the terms of each query; None where nothing is left to divide
    # by
    ideal: FloatArray | None = None
    # shape (n_queries,): queries that have what the measure divides by; None for all
    defined: BoolArray | None = None

    def over_ideal(self, query: IntArray) -> FloatArray:
        """Divide each term by the ideal of its query; 0 where that is undefined."""
        if self.ideal is None:
            return self.added
        where = True if self.defined is None else self.defined[query]
        return np.divide(self.added, self.ideal[query], out=np.zeros_like(self.added), where=where)


class Quotient(NamedTuple):
    """A sum and the ideal that it is divided by, rounded as their own measures print them."""

    total: FloatArray  # shape (n_queries,): the sum of each query
    ideal: FloatArray | None  # shape (n_queries,): none where the sum itself is the value
    defined: BoolArray  # shape (n_queries,): queries whose ideal can be divided by


class Fraction(NamedTuple):
    """A value as a function of the documents' gains: a weighted sum of them over the weighted sum
    of an ideal list.

    The ideal list holds known documents and any further ones, by falling gain.
    """

    total: FloatArray  # shape (n_queries,): the sum of each query, over judged documents
    # Takes `Hits`; gives what a gain of 1 adds to the sum at each place, shape (n_documents,)
    weigh: Callable[[Hits], FloatArray]
    # Takes a number of ranks n, and gives the sums of the ideal list's weights down to ranks 0 to
    # n, shape (n_queries, n + 1); fewer columns if all weights below are 0
    ideal: Callable[[int], FloatArray]
    known: IdealGrades  # Judged documents of the ideal list
    shared: bool  # Whether these are all judged documents of the query, so that all runs share them


class RelevantGroups(NamedTuple):
    """Tie groups of one list, where ties are averaged; single documents where they are not."""

    # start, size: shape (n,): ranks above the group, and its documents
    start: IntArray
    size: IntArray
    relevant: IntArray  # shape (n,): relevant documents of the group
    before: IntArray  # shape (n,): relevant documents above the group

    @classmethod
    def of(cls, first: IntArray, last: IntArray, relevant: BoolArray) -> Self:
        """Group a list by the first and last rank of each document's group and its relevance."""
        heads = np.flatnonzero(np.arange(1, first.size + 1) == first)
        counts = np.zeros(0, np.int64)
        if heads.size:
            counts = np.add.reduceat(relevant.astype(np.int64), heads)
        return cls(
            start=first[heads] - 1,
            size=last[heads] - first[heads] + 1,
            relevant=counts,
            before=np.cumsum(counts) - counts,
        )

    def changed(self, *, relevant: int = 0, before: int = 0) -> "RelevantGroups":
        """Change the relevant documents in every group, or above it, each group by itself."""
        return RelevantGroups(
            start=self.start,
            size=self.size,
            relevant=self.relevant + relevant,
            before=self.before + before,
        )

    @property
    def owner(self) -> IntArray:
        """Group of each document, by rank."""
        return np.repeat(np.arange(self.size.size), self.size)
