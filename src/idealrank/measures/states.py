"""The states of a document for measures that tell judged from unjudged: relevant, judged not relevant, pooled but never judged.

Some collections give grade -1 to documents that were put before the judges and left unjudged (a sample was judged). The policy of a
convention for negative grades may turn that into 0, so the state is read from the grade as it was given.
"""

from dataclasses import dataclass

import numpy as np

from idealrank.data.hits import Hits
from idealrank.data.judged import Judged
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.measures.ranks import starts_of


def nonrelevant_hits(judged: Judged, threshold: float) -> BoolArray:
    """Mark the hits that are judged and not relevant, shape (n_hits,).

    Examples
    --------
    >>> from idealrank.data.alignment import Alignment
    >>> from idealrank.data.align import align
    >>> from idealrank.data.qrels import Qrels
    >>> from idealrank.data.run import Run
    >>> judged = align(Qrels({"q": {"a": 1, "b": 0, "c": -1}}), Run({"q": ["a", "b", "c"]}), Alignment())
    >>> nonrelevant_hits(judged, 1)
    array([False,  True, False])
    """
    return (judged.hits.grade < threshold) & (judged.given >= 0)


def n_nonrelevant(judged: Judged, threshold: float) -> IntArray:
    """Judged documents of each query that are not relevant, returned or not, shape (n_queries,).

    Examples
    --------
    >>> from idealrank.data.alignment import Alignment
    >>> from idealrank.data.align import align
    >>> from idealrank.data.qrels import Qrels
    >>> from idealrank.data.run import Run
    >>> n_nonrelevant(align(Qrels({"q": {"a": 1, "b": 0, "c": -1}}), Run({"q": ["a"]}), Alignment()), 1)
    array([1])
    """
    table = judged.judgments
    counted = (table.grade < threshold) & (table.given >= 0)
    return np.bincount(table.query[counted], minlength=judged.n_queries)


@dataclass(frozen=True, eq=False)
class TieGroups:
    """The tie groups of some hits, one that is not tied being a group of its own.

    Attributes
    ----------
    of : int64 array, shape (n_hits,)
        Group of each hit.
    query, first, last : int64 array, shape (n_groups,)
        Query, and first and last rank.
    """

    of: IntArray
    query: IntArray
    first: IntArray
    last: IntArray

    def within(self, marked: BoolArray) -> IntArray:
        """Marked hits of each group.

        Examples
        --------
        >>> hits = Hits(np.array([0, 0]), np.array([1, 2]), np.ones(2))
        >>> groups_of(hits, tied=False).within(np.array([True, False]))
        array([1, 0])
        """
        return np.bincount(self.of[marked], minlength=self.query.size)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum of the values of each group's hits.

        Examples
        --------
        >>> hits = Hits(np.array([0, 0]), np.array([1, 2]), np.ones(2))
        >>> groups_of(hits, tied=False).sums(np.array([3.0, 4.0]))
        array([3., 4.])
        """
        return np.bincount(self.of, weights=values, minlength=self.query.size).astype(np.float64, copy=False)

    def above(self, marked: BoolArray) -> IntArray:
        """Marked hits of the same query before each group.

        Examples
        --------
        >>> hits = Hits(np.array([0, 0]), np.array([1, 2]), np.ones(2))
        >>> groups_of(hits, tied=False).above(np.array([True, False]))
        array([0, 1])
        """
        sizes = self.within(marked)
        before = np.cumsum(sizes) - sizes
        starts = starts_of(self.query)
        return before - np.repeat(before[starts], np.diff(np.append(starts, self.query.size)))


def groups_of(hits: Hits, *, tied: bool) -> TieGroups:
    """The tie groups of the hits; with ``tied=False`` each hit is a group of its own, at the rank it has.

    Examples
    --------
    >>> hits = Hits(np.array([0, 0]), np.array([1, 2]), np.ones(2), None, np.array([1, 1]), np.array([2, 2]))
    >>> groups_of(hits, tied=True).of
    array([0, 0])
    """
    if not tied or hits.tie_first is None or hits.tie_last is None:
        return TieGroups(np.arange(hits.query.size), hits.query, hits.rank, hits.rank)
    head = np.ones(hits.query.size, bool)
    head[1:] = (hits.query[1:] != hits.query[:-1]) | (hits.tie_first[1:] != hits.tie_first[:-1])
    starts = np.flatnonzero(head)
    return TieGroups(np.cumsum(head) - 1, hits.query[starts], hits.tie_first[starts], hits.tie_last[starts])


def tie_order_matters(judged: Judged) -> bool:
    """Return whether the convention asks for the expected, best or worst value.

    Examples
    --------
    >>> from idealrank.data.alignment import Alignment
    >>> from idealrank.data.lists import Lists, judge_lists
    >>> tie_order_matters(judge_lists(Lists.from_arrays([1], [1]), Alignment(ties="input")))
    False
    """
    return judged.ties in ("expected", "best", "worst")


__all__ = ["TieGroups", "groups_of", "n_nonrelevant", "nonrelevant_hits", "tie_order_matters"]
