"""A run joined to its judgments: all that a measure sees.

Only judged documents can change a number, so what a measure sees is the hits: for each judged
document that was returned, its query, rank, tie group and grade, and beside them what the ideal
needs and what the coverage counts.

`Hits` are columns, with ties, judged documents and counters per query.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from idealrank import _kernel
from idealrank.data.alignment import Ties
from idealrank.data.policies import IdealGrades
from idealrank.data.qrels import Qrels
from idealrank.data.segments import number_within, sizes_of, starts_of
from idealrank.data.types import (
    BoolArray,
    FloatArray,
    IntArray,
    QueryIds,
    ShortArray,
    decode_id,
    sought_id,
)


class TopOfQuery(NamedTuple):
    """First documents of one list by rank, and whether each shares its score with another of the
    whole list.
    """

    documents: list[str]
    tied: list[bool]


@dataclass(frozen=True, kw_only=True, eq=False)
class Top:
    """The lists of a run, cut at a rank."""

    depth: int  # Ranks kept
    table: _kernel.Table  # The queries that the run answers, with their documents by rank
    # shape (n_rows,): whether another document of the whole list has the same score
    tied: BoolArray
    # lengths, returned, n_tied: shape (n_queries,): list lengths after duplicates and removals, and
    # as given; documents of the whole list that share their score with another
    lengths: IntArray
    returned: IntArray
    n_tied: IntArray
    # Whether lists kept all documents: none was taken out for its judgment, or because it has none
    is_whole: bool

    @classmethod
    def of_aligned(cls, aligned: _kernel.Aligned, depth: int, *, is_whole: bool) -> "Top":
        """Take it from an alignment."""
        answered = aligned.in_run
        length, returned, n_tied = (
            column[answered].astype(np.int64)
            for column in (aligned.length, aligned.returned, aligned.tied)
        )
        return cls(
            depth=depth,
            table=aligned.top,
            tied=aligned.top_tied,
            lengths=length,
            returned=returned,
            n_tied=n_tied,
            is_whole=is_whole,
        )

    @property
    def longest(self) -> int:
        """Documents of the longest list, as given."""
        return int(self.returned.max(initial=0))

    @cached_property
    def queries(self) -> QueryIds:
        """Ids of the queries that the run answers."""
        return QueryIds(
            self.table.n_queries, lambda: [decode_id(query) for query in self.table.query_ids()]
        )

    def of(self, query: str, depth: int | None = None) -> TopOfQuery | None:
        """The list of one query, down to a rank if one is given; None where the run does not answer
        it.
        """
        place = self.table.find_query(sought_id(query))
        if place < 0:
            return None
        begin, end = self.table.offsets[place : place + 2].tolist()
        rows = np.arange(begin, end)[:depth]
        return TopOfQuery(
            [decode_id(document) for document in self.table.document_ids(rows)],
            self.tied[rows].tolist(),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Hits:
    """Judged documents that were returned, query after query, by rank.

    Attributes
    ----------
    query, rank : int64 array, shape (n,)
        Query code, and rank from 1 in the order of the convention.
    grade : float64 array, shape (n,)
        After the convention's grade policies.
    document : int64 array, shape (n,), or None
        Row of the qrels; None for arrays, which have no documents.
    tie_first, tie_last : int64 array, shape (n,), or None
        First and last rank of the hit's tie group; None when no hit is tied.
    """

    query: IntArray
    rank: IntArray
    grade: FloatArray
    document: IntArray | None = None
    tie_first: IntArray | None = None
    tie_last: IntArray | None = None

    def part(self, kept: "BoolArray | IntArray") -> "Hits":
        """Some of them, by a mask or by their places."""
        document, first, last = (
            None if column is None else column[kept]
            for column in (self.document, self.tie_first, self.tie_last)
        )
        return Hits(
            query=self.query[kept],
            rank=self.rank[kept],
            grade=self.grade[kept],
            document=document,
            tie_first=first,
            tie_last=last,
        )


class UnjudgedHits(NamedTuple):
    """Returned documents without a judgment, query after query, by rank."""

    # query, rank: shape (n,): as in `Hits`
    query: IntArray
    rank: IntArray
    # shape (n,): stands for the document's id: equal in two runs where the ids are
    key: "np.ndarray[tuple[int], np.dtype[np.uint64]]"
    # tie_first, tie_last: shape (n,): first and last rank of the document's tie group
    tie_first: IntArray
    tie_last: IntArray

    def above(self, depth: int) -> IntArray:
        """Places of the documents down to a rank, and of whole tie groups that begin above it; 0
        for all.
        """
        return np.flatnonzero(self.tie_first <= depth) if depth else np.arange(self.query.size)

    def part(self, kept: IntArray) -> "UnjudgedHits":
        """Some of them, by their places in rising order; all of them without a copy."""
        if kept.size == self.query.size:
            return self
        rank = self.rank[kept]
        first, last = (
            rank if ties is self.rank else ties[kept] for ties in (self.tie_first, self.tie_last)
        )
        return UnjudgedHits(
            query=self.query[kept], rank=rank, key=self.key[kept], tie_first=first, tie_last=last
        )

    def as_hits(self) -> Hits:
        """Return the places as hits of grade 0."""
        hits = Hits(query=self.query, rank=self.rank, grade=np.zeros(self.query.size))
        if (self.tie_first < self.tie_last).any():
            return replace(hits, tie_first=self.tie_first, tie_last=self.tie_last)
        return hits


class Relevant(NamedTuple):
    """The hits whose grade reaches a threshold, and how many judged documents of each query do,
    shape (n_queries,).
    """

    hits: Hits
    total: IntArray


class Judgments(NamedTuple):
    """Every judged document that counts, returned or not, query after query."""

    query: IntArray  # shape (n,): query code
    # grade, given: shape (n,): after the convention's grade policies, and as it stood in the
    # judgments, where -1 marks in some collections a document that was pooled but not judged
    grade: FloatArray
    given: FloatArray
    document: IntArray | None = None  # shape (n,): row of the qrels; None for arrays


class TieMembers(NamedTuple):
    """Every member of each tie group of two or more that starts within the depth, for lists held as
    a rectangle.
    """

    query: IntArray
    rank: ShortArray
    first: ShortArray
    last: ShortArray
    grade: FloatArray

    def part(self, members: slice) -> Hits:
        """Some of them, as hits."""
        rank, first, last = (
            column[members].astype(np.int64) for column in (self.rank, self.first, self.last)
        )
        return Hits(
            query=self.query[members],
            rank=rank,
            grade=self.grade[members],
            document=None,
            tie_first=first,
            tie_last=last,
        )


class Rectangle(NamedTuple):
    """Lists of one length, every item judged: grades by rank, shape (n_queries, width), ideal
    beside them.

    `as_given` says that no negative grade was changed.
    """

    grades: FloatArray
    ideal: FloatArray
    ties: TieMembers | None
    as_given: bool = True


class Alignments(NamedTuple):
    """Counters of one alignment, per query, shape (n_queries,) each, as narrow as they came."""

    tied: IntArray | ShortArray
    duplicates: IntArray | ShortArray
    first_unjudged: IntArray | ShortArray
    judged: IntArray | ShortArray
    straddling: IntArray | ShortArray


class Scope(NamedTuple):
    """Counts of compared queries for the coverage."""

    queries_in_qrels: int
    queries_in_run: int
    missing: tuple[str, ...] | QueryIds
    without_judgments: int
    truncated_grades: int
    doubtful_comments: int = 0  # comment lines of the run that would parse as data
    # excluded, breaches: documents of the run that were taken out; excluded_judgments: judgments
    # that were
    excluded: int = 0
    excluded_judgments: int = 0
    breaches: int = 0


def closed_up(hits: Hits) -> Hits:
    """Hits with ranks counted among themselves, as if no other document had been returned."""
    rank = number_within(hits.query)
    if hits.tie_first is None:
        return replace(hits, rank=rank)
    starts = starts_of(hits.query, hits.tie_first)
    sizes = sizes_of(starts, hits.query.size)
    first = np.repeat(rank[starts], sizes)
    return replace(hits, rank=rank, tie_first=first, tie_last=first + np.repeat(sizes, sizes) - 1)


def only_relevant(hits: Hits, threshold: float) -> Hits:
    """Hits with at least this grade, without their documents, which no measure asks of them."""
    return replace(hits, document=None).part(np.flatnonzero(hits.grade >= threshold))


def relevant_in_rectangle(rectangle: Rectangle, threshold: float) -> Relevant:
    """Items with at least this grade of lists without ties, found without columns of all items."""
    reached = rectangle.grades >= threshold
    total = np.count_nonzero(reached, axis=1)
    place = np.flatnonzero(reached)
    query = np.repeat(np.arange(total.size), total)
    rank = place - query * reached.shape[1] + 1
    return Relevant(Hits(query=query, rank=rank, grade=rectangle.grades.reshape(-1)[place]), total)


class Judged:
    """Input of a per-query measure: hits, judgments and list lengths.

    Parameters
    ----------
    queries : QueryIds
        Ids of the queries that count, in the order of every per-query array.
    ties : str
        Tie policy; measures read it for the expected, best and worst value.
    lengths : int64 array, shape (n_queries,)
        List lengths after duplicates and removals.
    returned : int64 array, shape (n_queries,)
        List lengths as given.
    hits, ideal, judgments, given, unjudged : callable
        Give `Hits`, the judged grades sorted for the ideal, `Judgments`, grades of hits as given,
        and `UnjudgedHits`, when first asked.
    alignments, scope : Alignments, Scope
        Counters per query, and the scope of the queries.
    unjudged_depth : int
        Unjudged documents below this rank were not kept; 0 where none were.
    qrels : Qrels, optional
        Judgments that `Hits.document` indexes.
    depth, complete : int, bool
        Hits below this rank were dropped, 0 if none; whether every returned item is judged and the
        reverse, as in arrays.
    rectangle, parts : Rectangle, callable, optional
        The same lists as a rectangle; what gives the same queries stretch by stretch.

    Attributes
    ----------
    top : Top or None
        First documents of every list; None where they were not kept.
    beside : dict of str to object
        What there is beside plain grades, by the words of `Measure.needs`: `join.join` adds
        ``"preferences"``, a `Preferred`, or ``"assessors"``, a `ByAssessor`. Both are made of a
        `Judged`, which cannot know them.

    Examples
    --------
    >>> from idealrank.data.align import align
    >>> from idealrank.data.alignment import Alignment
    >>> from idealrank.data.qrels import Qrels
    >>> from idealrank.data.run import Run
    >>> judged = align(
    ...     Qrels({"q1": {"a": 1, "b": 0}}), Run({"q1": {"x": 3.0, "a": 2.0}}), Alignment()
    ... )
    >>> judged.hits.rank.tolist(), judged.hits.grade.tolist(), judged.lengths.tolist()
    ([2], [1.0], [2])
    """

    def __init__(
        self,
        *,
        queries: QueryIds,
        ties: Ties,
        lengths: IntArray,
        returned: IntArray,
        hits: Callable[[], Hits],
        ideal: Callable[[], IdealGrades],
        alignments: Alignments,
        scope: Scope,
        depth: int = 0,
        rectangle: Rectangle | None = None,
        complete: bool = False,
        judgments: Callable[[], Judgments] | None = None,
        given: Callable[[], FloatArray] | None = None,
        parts: Callable[[], Iterator["Judged"]] | None = None,
        unjudged: Callable[[], UnjudgedHits] | None = None,
        unjudged_depth: int = 0,
        qrels: Qrels | None = None,
    ) -> None:
        self.queries = queries
        self.ties: Ties = ties
        self.lengths = lengths
        self.returned = returned
        self.alignments = alignments
        self.scope = scope
        self.depth = depth
        self.rectangle = rectangle
        self.complete = complete
        self._hits = hits
        self._ideal = ideal
        self._judgments = judgments or (
            lambda: Judgments(self.ideal.query, self.ideal.grade, self.ideal.grade)
        )
        self._given = given
        self._parts = parts
        self._unjudged = unjudged
        self.unjudged_depth = unjudged_depth
        self.qrels = qrels
        self._relevant: dict[float, Relevant] = {}
        # shared by all condensed lists, by whether documents that were only pooled are dropped
        self._closed: dict[bool, tuple[Hits, dict[float, Relevant]]] = {}
        self.top: Top | None = None
        self.beside: dict[str, object] = {}

    @property
    def n_queries(self) -> int:
        """Number of queries that count."""
        return len(self.queries)

    @property
    def tables(self) -> tuple[str, ...]:
        """Kinds of judgments beyond plain grades, in the words of `Measure.needs`."""
        return tuple(self.beside)

    @cached_property
    def hits(self) -> Hits:
        """Judged documents that were returned."""
        return self._hits()

    @cached_property
    def ideal(self) -> IdealGrades:
        """All judged grades of each query, best first."""
        return self._ideal()

    @cached_property
    def judgments(self) -> Judgments:
        """Every judged document that counts, with its grade as given beside the one measured
        with.
        """
        return self._judgments()

    @cached_property
    def given(self) -> FloatArray:
        """Grade of each hit as it stood in the judgments, shape (n_hits,)."""
        document = self.hits.document
        if self._given is not None or document is None or self.judgments.document is None:
            return self.hits.grade if self._given is None else self._given()
        row = np.searchsorted(self.judgments.document, document)
        return self.judgments.given[row]

    @cached_property
    def unjudged(self) -> UnjudgedHits | None:
        """Returned documents without a judgment, down to the depth that was asked for; None where
        they were not.
        """
        return None if self._unjudged is None else self._unjudged()

    def parts(self) -> Iterator["Judged"]:
        """Split the queries into stretches, so that temporary arrays stay small; returns itself if
        there is only one.

        Examples
        --------
        >>> from idealrank.data.align import align
        >>> from idealrank.data.alignment import Alignment
        >>> from idealrank.data.qrels import Qrels
        >>> from idealrank.data.run import Run
        >>> judged = align(Qrels({"q1": {"a": 1}}), Run({"q1": ["x", "a"]}), Alignment())
        >>> [part.n_queries for part in judged.parts()]
        [1]
        """
        return iter((self,)) if self._parts is None else self._parts()

    def condensed(self, *, pooled: bool = True) -> "Judged":
        """Return the lists without unjudged documents: ranks close up, and lengths count judged
        documents only.

        ``pooled=False`` also removes documents that were pooled but not judged, which have a grade
        below 0 and count as 0.

        Examples
        --------
        >>> from idealrank.data.align import align
        >>> from idealrank.data.alignment import Alignment
        >>> from idealrank.data.qrels import Qrels
        >>> from idealrank.data.run import Run
        >>> judged = align(Qrels({"q1": {"a": 1}}), Run({"q1": ["x", "a"]}), Alignment())
        >>> judged.condensed().hits.rank.tolist(), judged.condensed().lengths.tolist()
        ([1], [1])
        """
        if self.complete:
            return self
        drops_pooled = not pooled and bool((self.judgments.given < 0).any())
        lengths = self.alignments.judged.astype(np.int64)
        hits = self.hits
        if drops_pooled:
            # A grade that stays below 0 is one that the convention measures with: it is judged.
            is_judged = (self.given >= 0) | (hits.grade < 0)
            lengths = np.bincount(hits.query[is_judged], minlength=self.n_queries)
            if drops_pooled not in self._closed:
                hits = hits.part(is_judged)
        if drops_pooled not in self._closed:
            self._closed[drops_pooled] = closed_up(hits), {}
        closed_hits, relevant = self._closed[drops_pooled]
        counters = self.alignments._replace(
            judged=lengths, first_unjudged=lengths * 0, straddling=lengths * 0
        )
        closer = Judged(
            queries=self.queries,
            ties=self.ties,
            lengths=lengths,
            returned=self.returned,
            hits=lambda: closed_hits,
            ideal=lambda: self.ideal,
            alignments=counters,
            scope=self.scope,
            judgments=lambda: self.judgments,
        )
        closer.beside = self.beside
        closer._relevant = relevant
        return closer

    def relevant(self, threshold: float) -> Relevant:
        """Return the hits with at least this grade; computed once and shared by all binary
        measures.

        Examples
        --------
        >>> from idealrank.data.align import align
        >>> from idealrank.data.alignment import Alignment
        >>> from idealrank.data.qrels import Qrels
        >>> from idealrank.data.run import Run
        >>> judged = align(Qrels({"q1": {"a": 2, "b": 1}}), Run({"q1": ["b", "a"]}), Alignment())
        >>> judged.relevant(2).hits.rank, judged.relevant(1).total
        (array([2]), array([2]))
        """
        if threshold not in self._relevant:
            rectangle = self.rectangle
            if rectangle is not None and (rectangle.ties is None or self.ties == "input"):
                self._relevant[threshold] = relevant_in_rectangle(rectangle, threshold)
            else:
                total = np.bincount(
                    self.ideal.query[self.ideal.grade >= threshold], minlength=self.n_queries
                )
                self._relevant[threshold] = Relevant(only_relevant(self.hits, threshold), total)
        return self._relevant[threshold]

    def sum_by_query(self, query: IntArray, values: FloatArray) -> FloatArray:
        """Sum values by query, strictly in the given order, so that the bits do not depend on the
        processor.

        Examples
        --------
        >>> from idealrank.data.align import align
        >>> from idealrank.data.alignment import Alignment
        >>> from idealrank.data.qrels import Qrels
        >>> from idealrank.data.run import Run
        >>> judged = align(Qrels({"q1": {"a": 1}}), Run({"q1": ["a"]}), Alignment())
        >>> judged.sum_by_query(np.array([0, 0]), np.array([1.0, 2.0]))
        array([3.])
        """
        # Without any value bincount counts instead of summing, and gives whole numbers.
        return np.bincount(query, weights=values, minlength=self.n_queries).astype(
            np.float64, copy=False
        )
