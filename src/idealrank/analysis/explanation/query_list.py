"""One query under a convention: its whole list, judged or not, as the measures see it. Explanations
are made from this.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from idealrank.data.align import align
from idealrank.data.alignment import Alignment
from idealrank.data.judged import Hits, Judged
from idealrank.data.one_query import qrels_of_query, run_of_query
from idealrank.data.policies import Graded, apply_grade_policies
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.segments import sizes_of, starts_of
from idealrank.data.types import BoolArray, FloatArray, IntArray, decode_id, encode_id
from idealrank.errors import InputError, near_ids


@dataclass(frozen=True, kw_only=True)
class QueryList:
    """A list in its order, and the judgments of its query."""

    # query_id, run_name: the query and the run of the list
    query_id: str
    run_name: str
    alignment: Alignment
    qrels: Qrels  # Of this query alone
    graded: Graded  # Its grades after the policies of the alignment, by row of `qrels`
    judged: Judged  # What measures see of it
    # From the top, after the policies for duplicates, removed and unjudged documents
    documents: list[str]
    scores: FloatArray  # shape (n,): the system's
    # first, last: shape (n,): first and last rank of the tie group of each document
    first: IntArray
    last: IntArray
    row: IntArray  # shape (n,): row of `qrels`; -1 where a document has no judgment
    is_answered: bool  # Whether the run has the query

    @property
    def is_counted(self) -> bool:
        """True if the alignment counts this query."""
        if self.qrels.n_judgments == 0:
            return self.alignment.without_judgments == "evaluated"
        return self.is_answered or self.alignment.missing != "left-out"

    @property
    def is_kept(self) -> BoolArray:
        """Mask of the rows of the qrels that stay in lists and ideals."""
        removed = self.graded.removed
        return np.ones(self.qrels.n_judgments, bool) if removed is None else ~removed

    @cached_property
    def qrel_documents(self) -> list[str]:
        """Document ids by row of the qrels."""
        return documents_of(self.qrels)

    @property
    def is_judged(self) -> BoolArray:
        """Mask of the judged documents of the list."""
        return self.row >= 0

    def by_row(self, values: FloatArray) -> FloatArray:
        """Values of qrels rows for each document of the list, 0 where it is unjudged."""
        return np.where(self.is_judged, np.append(values, 0.0)[self.row], 0.0)

    def hits(self) -> Hits:
        """The whole list as hits, unjudged documents with grade 0 among them."""
        rank = np.arange(1, len(self.documents) + 1)
        return Hits(
            query=np.zeros(rank.size, np.int64),
            rank=rank,
            grade=self.by_row(self.graded.grades),
            document=None,
            tie_first=self.first,
            tie_last=self.last,
        )

    def reordered(self, order: IntArray) -> "QueryList":
        """The list in another order of its documents inside tie groups."""
        documents = [self.documents[index] for index in order]
        return replace(self, documents=documents, scores=self.scores[order], row=self.row[order])

    def again(self, documents: Sequence[str]) -> Judged:
        """The query judged anew with other documents at the places of this list; one more document
        goes below all.
        """
        places = (
            self.first
            if self.alignment.ties == "expected"
            else np.arange(1, len(self.documents) + 1)
        )
        scores = -np.append(places, len(self.documents) + 1)[: len(documents)].astype(np.float64)
        ids = [encode_id(document) for document in documents]
        run = Run.from_columns(
            [encode_id(self.query_id)] * len(ids), ids, scores, name=self.run_name
        )
        return align(self.qrels, run, _counting(self.alignment))


def list_query(qrels: Qrels, run: Run, query_id: str, alignment: Alignment) -> QueryList:
    """Rank one query of a run and join it to its judgments."""
    own_qrels = qrels_of_query(qrels, query_id)
    answer = run_of_query(run, query_id)
    if answer is not None and qrels.eligibility is not None:
        answer = Run.from_table(qrels.eligibility.left_of(answer.source), name=run.name)  # type: ignore[arg-type]
    if answer is None and not own_qrels.n_judgments:
        raise _unknown(qrels, query_id)
    graded = apply_grade_policies(
        own_qrels.grades, alignment, lambda row: _place(own_qrels, query_id, row)
    )
    own_run = answer or Run({}, name=run.name)
    judged = align(own_qrels, own_run, _counting(alignment))
    documents: list[str] = []
    scores = np.zeros(0)
    row = np.zeros(0, np.int64)
    if answer:
        documents, scores, row = _ranked(own_qrels, own_run, query_id, alignment, graded)
    first, last = _tie_groups(scores.astype(np.float32) if alignment.score == "float32" else scores)
    return QueryList(
        query_id=query_id,
        run_name=run.name,
        alignment=alignment,
        qrels=own_qrels,
        graded=graded,
        judged=judged,
        documents=documents,
        scores=scores,
        first=first,
        last=last,
        row=row,
        is_answered=answer is not None,
    )


def _counting(alignment: Alignment) -> Alignment:
    """The alignment with no query left out: also the list of a query that does not count can be
    looked at.
    """
    return replace(
        alignment,
        missing="error" if alignment.missing == "error" else "zero",
        without_judgments="evaluated",
    )


def _unknown(qrels: Qrels, query_id: str) -> InputError:
    near = near_ids(query_id, qrels.queries)
    hint = f"the judgments have {', '.join(map(repr, qrels.queries[:3]))}, ..."
    if near:
        hint = f"did you mean {' or '.join(map(repr, near))}?"
    return InputError(
        f"query {query_id!r}: found in neither the judgments nor the run, expected one of "
        f"{qrels.n_queries:,} judged queries; {hint}"
    )


def _place(qrels: Qrels, query_id: str, row: int) -> str:
    return f"{qrels.name}: query {query_id!r}, document {decode_id(qrels.table.document_id(row))!r}"


def _ranked(
    qrels: Qrels, run: Run, query_id: str, alignment: Alignment, graded: Graded
) -> tuple[list[str], FloatArray, IntArray]:
    """Documents, scores and qrels rows of the list, without the documents that the alignment takes
    out.
    """
    ranking = run.ranking(query_id, alignment)
    row_of = {name: row for row, name in enumerate(documents_of(qrels))}
    row = np.array([row_of.get(document, -1) for document in ranking.documents], np.int64)
    kept = np.ones(row.size, bool)
    if alignment.unjudged == "skipped":
        kept &= row >= 0
    if graded.removed is not None:
        kept &= (row < 0) | ~graded.removed[row]
    documents = [ranking.documents[place] for place in np.flatnonzero(kept)]
    return documents, ranking.scores[kept], row[kept]


def documents_of(qrels: Qrels) -> list[str]:
    """Document ids of all rows."""
    return [decode_id(name) for name in qrels.table.document_ids(np.arange(qrels.n_judgments))]


def _tie_groups(scores: FloatArray | NDArray[np.float32]) -> tuple[IntArray, IntArray]:
    """First and last rank of each document's group of equal scores."""
    heads = starts_of(scores)
    sizes = sizes_of(heads, scores.size)
    return np.repeat(heads + 1, sizes), np.repeat(heads + sizes, sizes)
