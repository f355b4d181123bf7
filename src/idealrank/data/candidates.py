"""Candidates: the documents from which each list was ranked, next to the judgments.

The list of all candidates in one tie is an ordinary input of a measure. Averaged over the orders of
the tie, it has the value of a random order; in its best order, the best value that the candidates
allow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from idealrank.data.align import align
from idealrank.data.alignment import Alignment, Ties
from idealrank.data.judged import Alignments, Hits, Judged, Judgments, Scope
from idealrank.data.policies import Graded, apply_grade_policies, ideal_grades, name_row
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.run_parts import RunParts
from idealrank.data.segments import number_within
from idealrank.data.types import BoolArray, IntArray, decode_id, encode_id
from idealrank.errors import InputError

CandidateForm: TypeAlias = Literal["by query", "shared", "number"]

_UNKNOWN = -1  # instead of a number, for a query without candidates
_LOOKUP = Alignment(ties="input", duplicates="first", negative="kept", without_judgments="left-out")


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Documents from which the list of each query was ranked: its own, shared by all, or a number
    of documents that include the judged ones. One of the three is set.
    """

    by_query: Mapping[str, Sequence[str]] | None = None
    shared: Sequence[str] | None = None
    number: int | None = None
    inputs: tuple[Any, ...] = ()  # The file that they come from, as the provenance has it

    @property
    def form(self) -> CandidateForm:
        """Form in which they were given."""
        if self.number is not None:
            return "number"
        return "by query" if self.shared is None else "shared"

    def size(self, query: str) -> int:
        """Number of candidates of a query."""
        if self.number is not None:
            return self.number
        documents = self.shared if self.by_query is None else self.by_query.get(query, ())
        return len(documents or ())

    def refuse_unlisted(self, queries: Sequence[str]) -> None:
        """Refuse queries that count but have no candidates."""
        sets = self.by_query
        if sets is None:
            return
        unlisted = [query for query in queries if query not in sets]
        if unlisted:
            raise InputError(
                f"candidates: found none for query {unlisted[0]!r} ({len(unlisted):,} of "
                f"{len(queries):,} queries), expected candidates of every query; an empty list "
                "says that nothing could be returned, missing=left-out leaves out queries that the "
                "run does not answer",
                switch="missing=left-out",
            )

    def refuse_others(self, run: Run, judged: Judged) -> None:
        """Refuse a run that returns a document that is not a candidate, or more documents than
        there are.
        """
        if self.number is not None:
            _refuse_long(self.number, run, judged)
        elif isinstance(run.source, RunParts):
            raise InputError(
                f"run {run.name!r}: found a run that is read in parts, expected one in memory, "
                "whose documents are compared with the candidates"
            )
        elif self.shared is not None:
            _refuse_unshared(self.shared, run)
        else:
            _refuse_unlisted(self.by_query or {}, run)

    def join(self, qrels: Qrels) -> "JoinedCandidates":
        """Look the judged documents up among the candidates."""
        n_rows = qrels.n_judgments
        if self.number is not None:
            sizes = np.full(qrels.n_queries, self.number)
            _refuse_few(qrels, self.number)
            return JoinedCandidates(qrels, sizes, np.ones(n_rows, np.bool_))
        if self.shared is not None:
            documents = {encode_id(document) for document in self.shared}
            names = qrels.table.document_ids(np.arange(n_rows))
            is_candidate = np.fromiter((name in documents for name in names), np.bool_, n_rows)
            return JoinedCandidates(qrels, np.full(qrels.n_queries, len(documents)), is_candidate)
        return self._join_own(qrels)

    def _join_own(self, qrels: Qrels) -> "JoinedCandidates":
        sets = self.by_query or {}
        listed = Run({query: list(documents) for query, documents in sets.items()})
        looked_up = align(qrels, listed, _LOOKUP)
        is_candidate = np.zeros(qrels.n_judgments, np.bool_)
        is_candidate[looked_up.hits.document] = True
        sizes = looked_up.lengths.copy()
        sizes[[query not in sets for query in qrels.queries]] = _UNKNOWN
        return JoinedCandidates(qrels, sizes, is_candidate)


def _refuse_long(number: int, run: Run, judged: Judged) -> None:
    """Refuse lists that are longer than the number of candidates."""
    lengths = judged.returned - judged.alignments.duplicates
    longer = np.flatnonzero(lengths > number)
    if longer.size:
        query = int(longer[0])
        raise InputError(
            f"run {run.name!r}, query {judged.queries[query]!r}: found {lengths[query]:,} "
            f"documents, expected at most {number:,}, the number of candidates"
        )


def _refuse_unshared(shared: Sequence[str], run: Run) -> None:
    """Refuse a document that is not among the shared candidates."""
    table = run.in_memory().source
    candidates = {encode_id(document) for document in shared}
    names = table.document_ids(np.arange(table.n_rows))  # type: ignore[union-attr]
    row = next((row for row, name in enumerate(names) if name not in candidates), None)
    if row is not None:
        query = int(np.searchsorted(table.offsets, row, side="right")) - 1  # type: ignore[union-attr]
        name = decode_id(table.query_id(query))  # type: ignore[union-attr]
        raise _no_candidate(run, name, decode_id(names[row]))


def _refuse_unlisted(by_query: Mapping[str, Sequence[str]], run: Run) -> None:
    """Refuse a document that is not among the candidates of its query."""
    pool = Qrels({query: dict.fromkeys(documents, 1.0) for query, documents in by_query.items()})
    first = align(pool, run, _LOOKUP).alignments.first_unjudged
    others = np.flatnonzero(first > 0)
    if others.size:
        query = pool.queries[int(others[0])]
        documents = run.in_memory().ranking(query, _LOOKUP).documents
        raise _no_candidate(run, query, documents[int(first[others[0]]) - 1], others.size)


def _no_candidate(run: Run, query: str, document: str, n_queries: int = 0) -> InputError:
    more = f" ({n_queries:,} queries have such documents)" if n_queries > 1 else ""
    return InputError(
        f"run {run.name!r}, query {query!r}: found document {document!r}, which is not a candidate"
        f"{more}, expected candidates only: the documents from which the list was ranked"
    )


def _refuse_few(qrels: Qrels, number: int) -> None:
    """Refuse a number of candidates below the number of judged documents of a query."""
    judged = np.diff(qrels.offsets)
    larger = np.flatnonzero(judged > number)
    if larger.size:
        query = int(larger[0])
        raise InputError(
            f"candidates: found {number:,} documents, but query {qrels.queries[query]!r} has "
            f"{judged[query]:,} judged ones; expected at least as many: a number of documents "
            "includes all that are judged",
            hint="list the candidates of each query if some judged documents are none",
        )


@dataclass(frozen=True, kw_only=True)
class CandidateCounts:
    """Counts of the candidates behind an evaluation."""

    # Whether each query has its own, all share one list, or only their number was given
    form: CandidateForm
    queries: int  # Evaluated queries
    documents: int  # Candidates of these queries
    judged_outside: int  # Judged documents of these queries that are not candidates


class JoinedCandidates(NamedTuple):
    """Numbers of candidates of the judged queries, and which judged documents are among them."""

    qrels: Qrels
    sizes: IntArray  # shape (n_queries,): -1 for a query without candidates
    is_candidate: BoolArray  # shape (n_judgments,)

    @property
    def known(self) -> BoolArray:
        """Queries with candidates, shape (n_queries,)."""
        return np.asarray(self.sizes != _UNKNOWN)

    def codes(self, queries: Sequence[str]) -> IntArray:
        """Codes of the judged ones among some queries, rising."""
        wanted = set(queries)
        return np.flatnonzero([query in wanted for query in self.qrels.queries])

    def outside(self, codes: IntArray) -> IntArray:
        """Number of judged documents that are no candidates, of some queries."""
        of_row = np.repeat(np.arange(self.qrels.n_queries), np.diff(self.qrels.offsets))
        counts = np.bincount(of_row[~self.is_candidate], minlength=self.qrels.n_queries)
        return np.asarray(counts[codes])

    def one_tie(self, codes: IntArray, alignment: Alignment, ties: Ties) -> Judged:
        """Lists of all candidates of some queries, each list a single tie; codes must rise."""
        graded = apply_grade_policies(
            self.qrels.grades, alignment, lambda row: name_row(self.qrels, row)
        )
        place_of_code = np.full(self.qrels.n_queries, -1, np.int64)
        place_of_code[codes] = np.arange(codes.size)
        place = np.repeat(place_of_code, np.diff(self.qrels.offsets))
        # Removed documents vanish from the lists and from the ideal.
        remains = place >= 0
        lengths = self.sizes[codes].astype(np.int64)
        returned = lengths
        if graded.removed is not None:
            gone = place[remains & graded.removed & self.is_candidate]
            lengths = lengths - np.bincount(gone, minlength=codes.size)
            remains &= ~graded.removed
        rows = np.flatnonzero(remains)
        hit_rows = rows[self.is_candidate[rows]]
        n_judged = np.bincount(place[hit_rows], minlength=codes.size)
        if alignment.unjudged == "skipped":
            lengths = n_judged
        elif alignment.unjudged == "error":
            _refuse_unjudged(self.qrels, codes[lengths > n_judged])
        return _one_tie(
            qrels=self.qrels,
            queries=[self.qrels.queries[code] for code in codes.tolist()],
            ties=ties,
            lengths=lengths,
            returned=returned,
            n_judged=n_judged,
            rows=rows,
            hit_rows=hit_rows,
            place=place,
            graded=graded,
        )


def _refuse_unjudged(qrels: Qrels, codes: IntArray) -> None:
    if codes.size:
        raise InputError(
            f"candidates: query {qrels.queries[int(codes[0])]!r} has unjudged ones ({codes.size} "
            "queries have), expected all judged; unjudged=not-relevant or unjudged=skipped allows "
            "them",
            switch="unjudged=not-relevant",
        )


def _one_tie(
    *,
    qrels: Qrels,
    queries: list[str],
    ties: Ties,
    lengths: IntArray,
    returned: IntArray,
    n_judged: IntArray,
    rows: IntArray,
    hit_rows: IntArray,
    place: IntArray,
    graded: Graded,
) -> Judged:
    hit_query = place[hit_rows]
    hits = Hits(
        query=hit_query,
        rank=number_within(hit_query),
        grade=graded.grades[hit_rows],
        document=hit_rows,
        tie_first=np.ones(hit_query.size, np.int64),
        tie_last=lengths[hit_query],
    )
    judgments = Judgments(
        query=place[rows],
        grade=graded.grades[rows],
        given=qrels.grades[rows],
        document=rows,
    )
    zeros = np.zeros(lengths.size, np.int64)
    return Judged(
        queries=queries,  # type: ignore[arg-type]
        ties=ties,
        lengths=lengths,
        returned=returned,
        hits=lambda: hits,
        ideal=lambda: ideal_grades(judgments.query, judgments.grade, lengths.size),
        judgments=lambda: judgments,
        alignments=Alignments(
            tied=np.where(lengths > 1, lengths, 0),
            duplicates=zeros,
            first_unjudged=zeros,
            judged=n_judged,
            straddling=zeros,
        ),
        scope=Scope(
            queries_in_qrels=qrels.n_queries,
            queries_in_run=lengths.size,
            missing=(),
            without_judgments=0,
            truncated_grades=graded.truncated,
        ),
        qrels=qrels,
    )
