"""A run joined to its judgments: all that a measure sees.

Only judged documents can change a number, so what a measure sees is the hits: for each judged document that was returned, its
query, rank, tie group and grade, and beside them what the ideal needs and what the coverage counts.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from idealrank.data.alignment import Ties
from idealrank.data.grades import IdealGrades
from idealrank.data.hits import (
    Alignments,
    Hits,
    Judgments,
    Rectangle,
    Relevant,
    Scope,
    UnjudgedHits,
    closed_up,
    only_relevant,
    relevant_in_rectangle,
)
from idealrank.data.qrels import Qrels
from idealrank.data.top import Top
from idealrank.data.types import FloatArray, IntArray, QueryIds


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
        Give `Hits`, the judged grades sorted for the ideal, `Judgments`, grades of hits as given, and `UnjudgedHits`, when first asked.
    alignments, scope : Alignments, Scope
        Counters per query, and the scope of the queries.
    unjudged_depth : int
        Unjudged documents below this rank were not kept; 0 where none were.
    qrels : Qrels, optional
        Judgments that `Hits.document` indexes.
    depth, complete : int, bool
        Hits below this rank were dropped, 0 if none; whether every returned item is judged and the reverse, as in arrays.
    rectangle, parts : Rectangle, callable, optional
        The same lists as a rectangle; what gives the same queries stretch by stretch.

    Attributes
    ----------
    top : Top or None
        First documents of every list; None where they were not kept.
    beside : dict of str to object
        What there is beside plain grades, by the words of `Measure.needs`: `joining.join` adds ``"preferences"``, a `Preferred`, or
        ``"assessors"``, a `ByAssessor`. Both are made of a `Judged`, which cannot know them.

    Examples
    --------
    >>> from idealrank.data.align import align
    >>> from idealrank.data.alignment import Alignment
    >>> from idealrank.data.qrels import Qrels
    >>> from idealrank.data.run import Run
    >>> judged = align(Qrels({"q1": {"a": 1, "b": 0}}), Run({"q1": {"x": 3.0, "a": 2.0}}), Alignment())
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
        self._judgments = judgments or (lambda: Judgments(self.ideal.query, self.ideal.grade, self.ideal.grade))
        self._given = given
        self._parts = parts
        self._unjudged = unjudged
        self.unjudged_depth = unjudged_depth
        self.qrels = qrels
        self._relevant: dict[float, Relevant] = {}
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
        """Every judged document that counts, with its grade as given beside the one measured with."""
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
        """Returned documents without a judgment, down to the depth that was asked for; None where they were not."""
        return None if self._unjudged is None else self._unjudged()

    def parts(self) -> Iterator["Judged"]:
        """Split the queries into stretches, so that temporary arrays stay small; returns itself if there is only one.

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
        """Return the lists without unjudged documents: ranks close up, and lengths count judged documents only.

        ``pooled=False`` also removes documents that were pooled but not judged, which have a grade below 0 and count as 0.

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
        kept = None if pooled or not (self.judgments.given < 0).any() else (self.given >= 0) | (self.hits.grade < 0)
        lengths = self.alignments.judged.astype(np.int64)
        if kept is not None:
            lengths = np.bincount(self.hits.query[kept], minlength=self.n_queries)
        counters = replace(self.alignments, judged=lengths, first_unjudged=lengths * 0, straddling=lengths * 0)
        closer = Judged(
            queries=self.queries,
            ties=self.ties,
            lengths=lengths,
            returned=self.returned,
            hits=lambda: closed_up(self.hits if kept is None else self.hits.part(kept)),
            ideal=lambda: self.ideal,
            alignments=counters,
            scope=self.scope,
            judgments=lambda: self.judgments,
        )
        closer.beside = self.beside
        return closer

    def relevant(self, threshold: float) -> Relevant:
        """Return the hits with at least this grade; computed once and shared by all binary measures.

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
            held = self.rectangle
            if held is not None and (held.ties is None or self.ties == "input"):
                self._relevant[threshold] = relevant_in_rectangle(held, threshold)
            else:
                total = np.bincount(self.ideal.query[self.ideal.grade >= threshold], minlength=self.n_queries)
                self._relevant[threshold] = Relevant(only_relevant(self.hits, threshold), total)
        return self._relevant[threshold]

    def sum_by_query(self, query: IntArray, values: FloatArray) -> FloatArray:
        """Sum values by query, strictly in the given order, so that the bits do not depend on the processor.

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
        return np.bincount(query, weights=values, minlength=self.n_queries).astype(np.float64, copy=False)
