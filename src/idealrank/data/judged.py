"""A run joined to its judgments: the only sort and the only join of the library.

Only judged documents can change a number, so what a measure sees is the hits: for each judged document that was returned, its
query, rank, tie group and grade, and beside them what the ideal needs and what the coverage counts.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from idealrank import _kernel
from idealrank.data.alignment import Alignment, Ties
from idealrank.data.grading import Graded, IdealGrades, apply_grade_policies, ideal_grades
from idealrank.data.hits import Alignments, Hits, Judgments, Rectangle, Relevant, Scope, closed_up
from idealrank.data.problems import translate
from idealrank.data.qrels import Qrels
from idealrank.data.run import KERNEL_TIES, Run
from idealrank.data.types import AnyArray, FloatArray, IntArray, QueryIds, decode_id
from idealrank.errors import InputError


class Judged:
    """All that a per-query measure ever sees.

    Parameters
    ----------
    queries : QueryIds
        Ids of the queries that count, in the order of every per-query array.
    ties : str
        The tie policy; measures read it for the expected, best and worst value.
    lengths : int64 array, shape (n_queries,)
        List lengths after duplicates and removals.
    returned : int64 array, shape (n_queries,)
        List lengths as given.
    hits, ideal, judgments : callable
        Give `Hits`, the judged grades sorted for the ideal, and `Judgments`, when first asked.
    alignments : Alignments
        Counters per query.
    scope : Scope
        Which queries were compared.
    depth : int
        Hits below this rank were dropped; 0 when all are here.
    rectangle : Rectangle, optional
        The same lists as a rectangle.
    complete : bool
        Every returned item is judged and every judged item returned, as in arrays.

    Examples
    --------
    >>> from idealrank.data.alignment import Alignment
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
    ) -> None:
        self.queries = queries
        self.ties = ties
        self.lengths = lengths
        self.returned = returned
        self.alignments = alignments
        self.scope = scope
        self.depth = depth
        self.rectangle = rectangle
        self.complete = complete
        self._hits = hits
        self._ideal = ideal
        self._judgments = judgments or self._from_ideal
        self._relevant: dict[float, Relevant] = {}

    @property
    def n_queries(self) -> int:
        """Number of queries that count."""
        return len(self.queries)

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
        if document is None or self.judgments.document is None:
            return self.hits.grade
        row = np.searchsorted(self.judgments.document, document)
        return self.judgments.given[row]

    def _from_ideal(self) -> Judgments:
        return Judgments(self.ideal.query, self.ideal.grade, self.ideal.grade)

    def condensed(self) -> "Judged":
        """The same lists without the documents that nobody judged: ranks close up, and lists are as long as they have judged ones.

        Examples
        --------
        >>> from idealrank.data.alignment import Alignment
        >>> judged = align(Qrels({"q1": {"a": 1}}), Run({"q1": ["x", "a"]}), Alignment())
        >>> judged.condensed().hits.rank.tolist(), judged.condensed().lengths.tolist()
        ([1], [1])
        """
        if self.complete:
            return self
        zeros = np.zeros(self.n_queries, np.int64)
        counters = replace(self.alignments, first_unjudged=zeros, straddling=zeros)
        return Judged(
            queries=self.queries,
            ties=self.ties,
            lengths=self.alignments.judged,
            returned=self.returned,
            hits=lambda: closed_up(self.hits),
            ideal=lambda: self.ideal,
            alignments=counters,
            scope=self.scope,
            judgments=lambda: self.judgments,
        )

    def relevant(self, threshold: float) -> Relevant:
        """The hits with at least this grade; found once, for every binary measure asks.

        Examples
        --------
        >>> from idealrank.data.alignment import Alignment
        >>> judged = align(Qrels({"q1": {"a": 2, "b": 1}}), Run({"q1": ["b", "a"]}), Alignment())
        >>> judged.relevant(2).hits.rank, judged.relevant(1).total
        (array([2]), array([2]))
        """
        if threshold not in self._relevant:
            hits = self.hits
            kept = np.flatnonzero(hits.grade >= threshold)
            first, last = (None if column is None else column[kept] for column in (hits.tie_first, hits.tie_last))
            total = np.bincount(self.ideal.query[self.ideal.grade >= threshold], minlength=self.n_queries)
            found = Hits(hits.query[kept], hits.rank[kept], hits.grade[kept], None, first, last)
            self._relevant[threshold] = Relevant(found, total)
        return self._relevant[threshold]

    def sum_by_query(self, query: IntArray, values: FloatArray) -> FloatArray:
        """Sum values into their queries, strictly in the order given, so that the bits never depend on a processor.

        Examples
        --------
        >>> from idealrank.data.alignment import Alignment
        >>> judged = align(Qrels({"q1": {"a": 1}}), Run({"q1": ["a"]}), Alignment())
        >>> judged.sum_by_query(np.array([0, 0]), np.array([1.0, 2.0]))
        array([3.])
        """
        # Without any value bincount counts instead of summing, and gives whole numbers.
        return np.bincount(query, weights=values, minlength=self.n_queries).astype(np.float64, copy=False)


def align(
    qrels: Qrels, run: Run, alignment: Alignment, *, depth: int = 0, threads: int = 0, progress: _kernel.Progress | None = None
) -> Judged:
    """Rank every query of the run and look its documents up in the judgments.

    Parameters
    ----------
    qrels, run : Qrels, Run
        What was judged and what was returned.
    alignment : Alignment
        The choices that act here.
    depth : int
        Keep hits down to this rank only (and whole tie groups that begin above it); 0 keeps all.
    threads : int
        0 uses all cores. The result is the same for any number.
    progress : Progress, optional
        Counts bytes, and stops the work when asked.

    Raises
    ------
    InputError
        A line cannot be read, or a policy of the alignment is ``"error"`` and its case occurs.

    Examples
    --------
    >>> align(Qrels({"q": {"a": 1}}), Run({"q": ["b", "a"]}), Alignment()).hits.rank
    array([2])
    """
    graded = apply_grade_policies(qrels.grades, alignment, lambda row: _name_row(qrels, row))
    try:
        aligned = _kernel.align(
            qrels.table,
            run.source,
            ties=KERNEL_TIES.get(alignment.ties, "input"),  # type: ignore[arg-type]
            float32=alignment.score == "float32",
            duplicates=alignment.duplicates,
            skip_unjudged=alignment.unjudged == "skipped",
            removed=None if graded.removed is None else graded.removed.view(np.uint8),
            depth=depth,
            threads=threads,
            progress=progress,
        )
    except _kernel.ParseError as error:
        raise translate(error, run.paths, "run") from None
    return _judged(qrels, run, alignment, aligned, graded, depth)


def _name_row(qrels: Qrels, row: int) -> str:
    query = int(np.searchsorted(qrels.offsets, row, side="right")) - 1
    document = decode_id(qrels.table.document_id(row))
    return f"{qrels.paths[0] if qrels.paths else qrels.name}: query {qrels.queries[query]!r}, document {document!r}"


def _judged(qrels: Qrels, run: Run, alignment: Alignment, aligned: _kernel.Aligned, graded: Graded, depth: int) -> Judged:
    _refuse_unjudged(qrels, run, alignment, aligned)
    kept = _queries_that_count(qrels, run, alignment, aligned)
    everything = kept.size == aligned.n_queries
    code_of = None if everything else _renumber(kept, aligned.n_queries)

    def pick(column: AnyArray) -> IntArray:
        wide: IntArray = column.astype(np.int64, copy=False)
        return wide if everything else wide[kept]

    def queries() -> list[str]:
        ids = list(qrels.queries) + [decode_id(query) for query in aligned.run_only_ids()]
        return ids if everything else [ids[query] for query in kept]

    missing = np.flatnonzero(~aligned.in_run[: qrels.n_queries])
    return Judged(
        queries=QueryIds(kept.size, queries),
        ties=alignment.ties,
        lengths=pick(aligned.length),
        returned=pick(aligned.returned),
        hits=lambda: _hits(aligned, graded.grades, code_of),
        ideal=lambda: _ideal(qrels, graded, code_of, kept.size),
        judgments=lambda: _judgments(qrels, graded, code_of),
        alignments=Alignments(
            pick(aligned.tied), pick(aligned.duplicates), pick(aligned.first_unjudged), pick(aligned.judged), pick(aligned.straddling)
        ),
        scope=Scope(
            queries_in_qrels=qrels.n_queries,
            queries_in_run=int(np.count_nonzero(aligned.in_run)),
            missing=QueryIds(missing.size, lambda: [qrels.queries[int(query)] for query in missing]),
            without_judgments=aligned.n_queries - aligned.n_qrels_queries,
            truncated_grades=graded.truncated,
            doubtful_comments=aligned.counters.get("comments_like_data", 0),
        ),
        depth=depth,
    )


def _refuse_unjudged(qrels: Qrels, run: Run, alignment: Alignment, aligned: _kernel.Aligned) -> None:
    if alignment.unjudged != "error":
        return
    last = aligned.n_queries if alignment.without_judgments == "evaluated" else aligned.n_qrels_queries
    unjudged = np.flatnonzero(aligned.first_unjudged[:last] > 0)
    if unjudged.size:
        query = int(unjudged[0])
        name = qrels.queries[query] if query < qrels.n_queries else decode_id(aligned.run_only_ids()[query - qrels.n_queries])
        raise InputError(
            f"run {run.name!r}, query {name!r}: the document at rank {aligned.first_unjudged[query]} has no judgment "
            f"({unjudged.size} queries have such documents), expected all judged; unjudged=not-relevant or unjudged=skipped allows it"
        )


def _queries_that_count(qrels: Qrels, run: Run, alignment: Alignment, aligned: _kernel.Aligned) -> IntArray:
    """Codes of the queries kept under the policies for missing queries and queries without judgments."""
    missing = np.flatnonzero(~aligned.in_run[: qrels.n_queries])
    if alignment.missing == "error" and missing.size:
        some = ", ".join(repr(qrels.queries[int(query)]) for query in missing[:5]) + (", ..." if missing.size > 5 else "")
        raise InputError(
            f"run {run.name!r} does not answer {missing.size} of {qrels.n_queries} judged queries ({some}), "
            "expected all; missing=zero counts them as 0, missing=left-out leaves them out"
        )
    last = aligned.n_queries if alignment.without_judgments == "evaluated" else aligned.n_qrels_queries
    if alignment.missing == "left-out" and missing.size:
        return np.flatnonzero(aligned.in_run[:last])
    return np.arange(last)


def _renumber(kept: IntArray, n_queries: int) -> IntArray:
    code_of = np.full(n_queries, -1, np.int64)
    code_of[kept] = np.arange(kept.size)
    return code_of


def _hits(aligned: _kernel.Aligned, grades: FloatArray, code_of: IntArray | None) -> Hits:
    query = np.repeat(np.arange(aligned.n_queries), np.diff(aligned.hit_offsets))
    # A query that is left out is missing from the run or from the qrels: it has no hits, so none is dropped here.
    query = query if code_of is None else code_of[query]
    tied = aligned.tie_first.size > 0
    return Hits(
        query=query,
        rank=aligned.hit_rank.astype(np.int64),
        grade=grades[aligned.hit_row],
        document=aligned.hit_row,
        tie_first=aligned.tie_first.astype(np.int64) if tied else None,
        tie_last=aligned.tie_last.astype(np.int64) if tied else None,
    )


def _ideal(qrels: Qrels, graded: Graded, code_of: IntArray | None, n_queries: int) -> IdealGrades:
    judged = _judgments(qrels, graded, code_of)
    return ideal_grades(judged.query, judged.grade, n_queries)


def _judgments(qrels: Qrels, graded: Graded, code_of: IntArray | None) -> Judgments:
    query = np.repeat(np.arange(qrels.n_queries), np.diff(qrels.offsets))
    row = np.arange(query.size)
    if graded.removed is not None:
        query, row = query[~graded.removed], row[~graded.removed]
    if code_of is not None:
        query = code_of[query]
        query, row = query[query >= 0], row[query >= 0]
    return Judgments(query, graded.grades[row], qrels.grades[row], row)
