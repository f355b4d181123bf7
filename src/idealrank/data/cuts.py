"""Cuts of lists after a number of documents."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from idealrank.data.alignment import Alignment
from idealrank.data.judged import Alignments, Hits, closed_up
from idealrank.data.types import BoolArray, IntArray
from idealrank.errors import OptionError


class Cut(NamedTuple):
    """Cut of lists, and the removals after the cut."""

    documents: int  # How many documents of each query remain
    removed: BoolArray | None  # shape (n_judgments,): judged documents that are then taken out
    skipped: bool  # Whether documents without a judgment are then taken out too

    def hits(self, hits: Hits) -> Hits:
        """The hits that remain, with their ranks among what remains."""
        remains = hits.rank <= self.documents
        rank = hits.rank
        if self.removed is not None:
            gone = remains & self._gone(hits)
            rank = rank - _removed_above(hits.query, gone)
            remains &= ~gone
        # Ties are of no more use: no policy that averages over them allows a cut.
        remaining = replace(hits, rank=rank, tie_first=None, tie_last=None).part(remains)
        return closed_up(remaining) if self.skipped else remaining

    def columns(
        self, lengths: IntArray, counters: Alignments, hits: Hits
    ) -> tuple[IntArray, Alignments]:
        """Lengths and counters of the lists that remain, given the counters of the uncut lists."""
        judged = np.bincount(self.hits(hits).query, minlength=lengths.size)
        first_unjudged = np.where(
            counters.first_unjudged <= self.documents, counters.first_unjudged, 0
        )
        zeros = np.zeros_like(lengths)
        if self.skipped:
            return judged, counters._replace(judged=judged, first_unjudged=zeros, straddling=zeros)
        # A removed document above the first unjudged one moves it up, and shortens the list.
        gone = self._gone(hits) & (hits.rank <= self.documents)
        above = gone & (hits.rank < first_unjudged[hits.query])
        first_unjudged = first_unjudged - np.bincount(hits.query[above], minlength=lengths.size)
        n_gone = np.bincount(hits.query[gone], minlength=lengths.size)
        lengths = np.minimum(lengths, self.documents) - n_gone
        return lengths, counters._replace(
            judged=judged, first_unjudged=first_unjudged, straddling=zeros
        )

    def _gone(self, hits: Hits) -> BoolArray:
        if self.removed is None:
            return np.zeros(hits.query.size, bool)
        assert hits.document is not None  # noqa: S101  (for the type checker: aligned hits have it)
        gone: BoolArray = self.removed[hits.document]
        return gone


def _removed_above(query: IntArray, gone: BoolArray) -> IntArray:
    """Count the removed hits above each hit of the same query, shape (n_hits,)."""
    # Hits are sorted by query, then by rank.
    count: IntArray = np.cumsum(gone) - gone
    if not query.size:
        return count
    first_of_query = np.searchsorted(query, query)
    return count - count[first_of_query]


def make_cut(documents: object, alignment: Alignment, removed: BoolArray | None) -> Cut | None:
    """The cut for a number of documents; None without one."""
    if documents is None:
        return None
    if (
        isinstance(documents, bool)
        or not isinstance(documents, (int, np.integer))
        or not 1 <= documents < 1 << 31
    ):
        raise OptionError(
            f"max_documents={documents!r}: expected a whole number from 1 on, below 2^31"
        )
    if alignment.ties not in ("docid", "docid-ascending", "input"):
        raise OptionError(
            f"max_documents={documents}: found ties={alignment.ties}, expected docid, "
            "docid-ascending or input, since only a list with a fixed order can be cut; a cutoff "
            "of the measure, as in nDCG@10, works with any ties",
            switch="ties=docid",
        )
    return Cut(int(documents), removed, skipped=alignment.unjudged == "skipped")
