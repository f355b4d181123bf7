"""Base of binary measures, and the states of a document: relevant, judged not relevant, pooled but
never judged.

A document is relevant if its grade reaches the threshold `rel`. Some collections give grade -1 to
documents that were pooled but not judged (a sample was judged). The policy of a convention for
negative grades may turn that into 0, so the state is read from the grade as it was given.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from idealrank.data.judged import Hits, Judged
from idealrank.data.segments import heads, sizes_of, starts_of
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.measures.measure import (
    Measure,
    OftenUndefined,
    PerQuery,
    fill_undefined,
    number_option,
)
from idealrank.measures.ranks import chance_within


@dataclass(frozen=True, kw_only=True)
class BinaryMeasure(Measure):
    """A measure with a threshold `rel`: a document is relevant when its grade reaches it.

    Parameters
    ----------
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    """

    rel: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rel is not None:
            object.__setattr__(self, "rel", number_option("rel", self.rel))

    @property
    def threshold(self) -> float:
        """Least grade of a relevant document."""
        return 1.0 if self.rel is None else float(self.rel)

    def found(self, judged: Judged) -> FloatArray:
        """(Expected) number of relevant documents within the cutoff."""
        hits = judged.relevant(self.threshold).hits
        within = chance_within(judged, hits, np.ones(hits.query.size), self.cutoff)
        return judged.sum_by_query(hits.query, within)

    def worth(self, grades: FloatArray) -> FloatArray | None:
        """1 for a grade that reaches the threshold, else 0."""
        return (grades >= self.threshold).astype(np.float64)

    def trec_binary(self, plain: str, cut: str) -> str:
        """trec_eval's name without or with a cutoff, or the text where an option is set that
        trec_eval lacks.
        """
        return self._trec(plain, cut, options=self.rel not in (None, 1))


@dataclass(frozen=True, kw_only=True)
class NeedsRelevant(OftenUndefined, BinaryMeasure):
    """A binary measure that is undefined without relevant documents.

    Parameters
    ----------
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.
    """

    def depth(self, *, lists: bool = False) -> int:
        """All of `lists`, whose relevant items are counted among the grades that are kept; a run's
        are counted in its judgments.
        """
        return 0 if lists else super().depth(lists=lists)

    def filled(self, values: FloatArray, n_relevant: IntArray) -> PerQuery:
        """Give queries without relevant documents the value of the policy."""
        return fill_undefined(values, n_relevant > 0, self.no_relevant or "zero")


@dataclass(frozen=True, kw_only=True)
class BalancedMeasure(NeedsRelevant):
    """A mean of precision and recall.

    Parameters
    ----------
    beta : float, optional
        Weight of recall relative to precision, 0 or above; default 1.
    """

    beta: float | None = None
    samples: ClassVar[Mapping[str, tuple[Any, ...]]] = {"beta": (None, 0, 0.5, 1, 4)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beta is not None:
            object.__setattr__(self, "beta", number_option("beta", self.beta, 0))

    @property
    def _recall_weight(self) -> float:
        """`beta`, or 1 by default."""
        return 1.0 if self.beta is None else self.beta


def nonrelevant_hits(judged: Judged, threshold: float) -> BoolArray:
    """Mark the hits that are judged and not relevant, shape (n_hits,)."""
    return (judged.hits.grade < threshold) & (judged.given >= 0)


def n_nonrelevant(judged: Judged, threshold: float) -> IntArray:
    """Judged documents of each query that are not relevant, returned or not, shape (n_queries,)."""
    table = judged.judgments
    counted = (table.grade < threshold) & (table.given >= 0)
    return np.bincount(table.query[counted], minlength=judged.n_queries)


def where_comparable(result: PerQuery, judged: Judged, threshold: float) -> PerQuery:
    """Leave out the queries of which every judged document is relevant, so that no list has a pair
    to compare.

    The value of the policy for them would count like a value of the run.
    """
    if judged.complete:
        return result
    table, n = judged.judgments, judged.n_queries
    with_others = np.bincount(table.query[table.grade < threshold], minlength=n) > 0
    defined = with_others | (np.bincount(table.query, minlength=n) == 0)
    if defined.all():
        return result
    scored = defined if result.scored is None else result.scored & defined
    return PerQuery(np.where(defined, result.values, np.nan), scored)


class TieGroups(NamedTuple):
    """The tie groups of some hits; an untied hit is a group of its own."""

    group: IntArray  # shape (n_hits,): group of each hit
    # query, first, last: shape (n_groups,): query, and first and last rank
    query: IntArray
    first: IntArray
    last: IntArray

    def within(self, marked: BoolArray) -> IntArray:
        """Marked hits of each group."""
        return np.bincount(self.group[marked], minlength=self.query.size)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum of the values of each group's hits."""
        sums = np.bincount(self.group, weights=values, minlength=self.query.size)
        return sums.astype(np.float64, copy=False)

    def above(self, marked: BoolArray) -> IntArray:
        """Marked hits of the same query before each group."""
        sizes = self.within(marked)
        before = np.cumsum(sizes) - sizes
        starts = starts_of(self.query)
        return before - np.repeat(before[starts], sizes_of(starts, self.query.size))


def groups_of(hits: Hits, *, tied: bool) -> TieGroups:
    """The tie groups of the hits; with ``tied=False`` each hit is a group of its own, at the rank
    it has.
    """
    if not tied or hits.tie_first is None or hits.tie_last is None:
        return TieGroups(
            group=np.arange(hits.query.size), query=hits.query, first=hits.rank, last=hits.rank
        )
    head = heads(hits.query, hits.tie_first)
    starts = np.flatnonzero(head)
    return TieGroups(
        group=np.cumsum(head) - 1,
        query=hits.query[starts],
        first=hits.tie_first[starts],
        last=hits.tie_last[starts],
    )


def tie_order_matters(judged: Judged) -> bool:
    """Return whether the convention asks for the expected, best or worst value."""
    return judged.ties in ("expected", "best", "worst")


__all__ = [
    "TieGroups",
    "groups_of",
    "n_nonrelevant",
    "nonrelevant_hits",
    "tie_order_matters",
    "where_comparable",
]
