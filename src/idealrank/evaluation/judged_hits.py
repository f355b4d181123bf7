"""The judged documents of a run as a table of their own, which can be kept in place of the run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.join import Judgments, join, ties_for
from idealrank.data.judged import Judged
from idealrank.data.run import Run
from idealrank.data.types import FloatArray, IntArray, decode_id
from idealrank.errors import InputError
from idealrank.measures.measure import Measure

DEEPEST = 100  # rank below which hits are not listed


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedHits:
    """Judged documents that a run returned, query after query, by rank.

    Attributes
    ----------
    queries : sequence of str
        Every query that counts, in the order of the evaluation under the same convention.
    lengths : int64 array, shape (n_queries,)
        How many documents each list has; 0 where the run does not answer.
    query, rank, tie_first, tie_last : int64 array, shape (n,)
        Place in `queries`; rank from 1 in the order of the convention; first and last rank of the
        documents with the same score, both `rank` where there is no other.
    documents : sequence of str
        Ids, shape (n,).
    grade : float64 array, shape (n,)
        After the convention's policies.
    depth : int
        Hits below this rank are not here, except those tied with one above it.

    Examples
    --------
    >>> from idealrank.data.qrels import Qrels
    >>> hits = judged_hits(Qrels({"q": {"a": 2, "b": 0}}), Run({"q": ["x", "a", "b"]}))
    >>> hits.documents, hits.rank.tolist(), hits.lengths.tolist()
    (['a', 'b'], [2, 3], [3])
    """

    queries: Sequence[str]
    lengths: IntArray
    query: IntArray
    rank: IntArray
    tie_first: IntArray
    tie_last: IntArray
    documents: Sequence[str]
    grade: FloatArray
    depth: int

    @cached_property
    def _places(self) -> dict[str, int]:
        return {query: place for place, query in enumerate(self.queries)}

    def of(self, query: str) -> "JudgedHits":
        """Hits of one query.

        Raises
        ------
        InputError
            The query does not count.

        Examples
        --------
        >>> from idealrank.data.qrels import Qrels
        >>> judged_hits(
        ...     Qrels({"q": {"a": 2}, "r": {"b": 1}}), Run({"q": ["x", "a"], "r": ["b"]})
        ... ).of("r").documents
        ['b']
        """
        if query not in self._places:
            raise InputError(
                f"query {query!r}: found none of this id, expected one of the "
                f"{len(self.queries):,} that count"
            )
        place = self._places[query]
        begin, end = np.searchsorted(self.query, [place, place + 1]).tolist()
        rows = slice(begin, end)
        return JudgedHits(
            queries=[query],
            lengths=self.lengths[place : place + 1],
            query=self.query[rows] * 0,
            rank=self.rank[rows],
            tie_first=self.tie_first[rows],
            tie_last=self.tie_last[rows],
            documents=self.documents[rows],
            grade=self.grade[rows],
            depth=self.depth,
        )


def hit_depth(measures: Iterable[Measure], convention: "Convention | str" = "standard") -> int:
    """Return the useful depth of hits: the deepest cutoff, at most rank 100."""
    convention = Convention.of(convention)
    depths = [measure.under(convention).hits_needed() for measure in measures]
    return DEEPEST if 0 in depths else min(DEEPEST, max(depths, default=DEEPEST))


def judged_hits(
    qrels: Judgments,
    run: Run,
    convention: "Convention | str" = "standard",
    depth: int = DEEPEST,
    *,
    max_documents: int | None = None,
    threads: int = 0,
) -> JudgedHits:
    """Return the judged documents that a run returned, with their ranks."""
    alignment = Convention.of(convention).alignment
    alignment = Convention.of(convention, ties=ties_for(qrels, alignment.ties)).alignment
    return hits_of(
        join(qrels, run, alignment, depth=depth, max_documents=max_documents, threads=threads),
        depth,
    )


def hits_of(judged: Judged, depth: int = DEEPEST) -> JudgedHits:
    """The table of an alignment that was made before, such as the one an evaluation keeps."""
    hits = judged.hits
    first = hits.rank if hits.tie_first is None else hits.tie_first
    last = hits.rank if hits.tie_last is None else hits.tie_last
    listed = np.flatnonzero(first <= depth)
    rows = hits.document[listed] if hits.document is not None else np.zeros(0, np.int64)
    ids = [] if judged.qrels is None else judged.qrels.table.document_ids(rows)
    return JudgedHits(
        queries=judged.queries,
        lengths=judged.lengths,
        query=hits.query[listed],
        rank=hits.rank[listed],
        tie_first=first[listed],
        tie_last=last[listed],
        documents=[decode_id(document_id) for document_id in ids],
        grade=hits.grade[listed],
        depth=depth,
    )
