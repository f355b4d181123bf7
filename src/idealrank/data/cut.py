"""Lists cut after their first documents, before anything else is done to them: trec_eval's ``-M``."""

from dataclasses import dataclass, replace

import numpy as np

from idealrank.data.alignment import Alignment
from idealrank.data.hits import Alignments, Hits, closed_up
from idealrank.data.types import BoolArray, IntArray
from idealrank.errors import OptionError


@dataclass(frozen=True, eq=False)
class Cut:
    """How lists are cut, and what is then taken out of what remains.

    Attributes
    ----------
    documents : int
        How many documents of each query remain.
    removed : bool array, shape (n_judgments,), or None
        Judged documents that are then taken out.
    skipped : bool
        Whether documents without a judgment are then taken out too.

    Examples
    --------
    >>> hits = Hits(np.array([0, 0, 0]), np.array([1, 3, 4]), np.ones(3), np.array([0, 1, 2]))
    >>> Cut(3, None, skipped=True).hits(hits).rank
    array([1, 2])
    """

    documents: int
    removed: BoolArray | None
    skipped: bool

    def hits(self, hits: Hits) -> Hits:
        """The hits that remain, with their ranks among what remains."""
        kept = hits.rank <= self.documents
        rank = hits.rank
        if self.removed is not None:
            gone = kept & self._gone(hits)
            rank = rank - _before(hits.query, gone)
            kept &= ~gone
        # Ties are of no more use: no policy that averages over them allows a cut.
        left = Hits(hits.query[kept], rank[kept], hits.grade[kept], None if hits.document is None else hits.document[kept], None, None)
        return closed_up(left) if self.skipped else left

    def columns(self, lengths: IntArray, counters: Alignments, hits: Hits) -> tuple[IntArray, Alignments]:
        """Lengths and counters of the lists that remain, given those of the uncut ones."""
        left = self.hits(hits)
        judged = np.bincount(left.query, minlength=lengths.size)
        first = np.where(counters.first_unjudged <= self.documents, counters.first_unjudged, 0)
        zeros = np.zeros_like(lengths)
        if self.skipped:
            return judged, replace(counters, judged=judged, first_unjudged=zeros, straddling=zeros)
        gone = self._gone(hits) & (hits.rank <= self.documents)
        above = gone & (hits.rank < first[hits.query])
        first = first - np.bincount(hits.query[above], minlength=lengths.size)
        lengths = np.minimum(lengths, self.documents) - np.bincount(hits.query[gone], minlength=lengths.size)
        return lengths, replace(counters, judged=judged, first_unjudged=first, straddling=zeros)

    def _gone(self, hits: Hits) -> BoolArray:
        if self.removed is None or hits.document is None:
            return np.zeros(hits.query.size, bool)
        gone: BoolArray = self.removed[hits.document]
        return gone


def _before(query: IntArray, gone: BoolArray) -> IntArray:
    """How many hits of the same query that stand above are gone, shape (n_hits,)."""
    count: IntArray = np.cumsum(gone) - gone
    return count - count[np.searchsorted(query, query)] if query.size else count


def make_cut(documents: object, alignment: Alignment, removed: BoolArray | None) -> Cut | None:
    """The cut for a number of documents; None without one.

    Raises
    ------
    OptionError
        The number is less than 1, or the convention takes all orders of tied documents into account.

    Examples
    --------
    >>> make_cut(100, Alignment(), None).documents
    100
    """
    if documents is None:
        return None
    if isinstance(documents, bool) or not isinstance(documents, (int, np.integer)) or not 1 <= documents < 1 << 31:
        raise OptionError(f"max_documents={documents!r}: expected a whole number from 1 on, below 2^31")
    if alignment.ties not in ("docid", "docid-ascending", "input"):
        raise OptionError(
            f"max_documents={documents}: found ties={alignment.ties}, expected docid, docid-ascending or input, for a list can only be cut "
            "where its order is fixed; a cutoff of the measure, as in nDCG@10, goes with any"
        )
    return Cut(int(documents), removed, skipped=alignment.unjudged == "skipped")
