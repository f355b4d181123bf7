"""Judged documents of every list of a run, with their contributions: what listings of many queries show of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from idealrank.analysis.explanation.contributions import contributions_of_hits
from idealrank.data.alignment import Alignment
from idealrank.data.judged import Judged
from idealrank.data.qrels import Qrels
from idealrank.data.top import Top
from idealrank.data.types import FloatArray, IntArray
from idealrank.measures.measure import Measure


class HitsOfQuery(NamedTuple):
    """Length of one list, its first documents, and its judged ones by rank: rank, row of the qrels, grade as given, contribution."""

    length: int
    documents: list[str]
    tied: list[bool]
    columns: tuple[list[int], list[int], list[float], list[float | None]]


@dataclass(frozen=True, kw_only=True, eq=False)
class ListedHits:
    """Judged documents of every list, in the order of the lists.

    Attributes
    ----------
    judged : Judged
        Alignment of the run, with the hits of whole lists.
    qrels, top : Qrels, Top
        The judgments, and the first documents of the lists.
    added : float64 array, shape (n_hits,), or None
        Contribution of each judged document; None if the measure states none.

    Examples
    --------
    >>> from idealrank.data.align import align
    >>> from idealrank.data.run import Run
    >>> from idealrank.measures.binary import P
    >>> judged = align(Qrels({"q": {"a": 1}}), Run({"q": ["x", "a"]}), Alignment(), top_depth=2)
    >>> list_hits(judged, P(cutoff=2, rel=1), Alignment()).of("q")
    HitsOfQuery(length=2, documents=['x', 'a'], tied=[False, False], columns=([2], [0], [1.0], [0.5]))
    """

    judged: Judged
    qrels: Qrels
    top: Top
    added: FloatArray | None

    @property
    def is_explained(self) -> bool:
        """True if the measure states contributions."""
        return self.added is not None

    @cached_property
    def _code(self) -> dict[str, int]:
        return {query: code for code, query in enumerate(self.judged.queries)}

    @cached_property
    def _ends(self) -> IntArray:
        return np.searchsorted(self.judged.hits.query, np.arange(self.judged.n_queries + 1))

    def of(self, query: str, depth: int | None = None) -> HitsOfQuery | None:
        """The list of one query, with its first documents down to a rank; None where the run does not answer it."""
        code, top = self._code.get(query), self.top.of(query, depth)
        if code is None or top is None:
            return None
        here, hits = slice(self._ends[code], self._ends[code + 1]), self.judged.hits
        row = np.asarray(hits.document)[here]
        added: list[float | None] = [None] * row.size if self.added is None else self.added[here].tolist()
        columns = (hits.rank[here].tolist(), row.tolist(), self.qrels.grades[row].tolist(), added)
        return HitsOfQuery(int(self.judged.lengths[code]), top.documents, top.tied, columns)


def list_hits(judged: Judged, measure: Measure, alignment: Alignment) -> ListedHits | None:
    """Find what each judged document of every list adds to a measure.

    Parameters
    ----------
    judged : Judged
        A run aligned with the hits of whole lists and with its first documents.
    measure : Measure
        With every option set.
    alignment : Alignment
        The policies of the lists: as in the alignment, but unjudged documents are out if the measure takes them out.

    Returns
    -------
    ListedHits or None
        None if a contribution depends on the other documents of its list, or the policies take documents out of lists or move tied
        documents: then `list_query` and `account_of` tell of one list.

    Examples
    --------
    >>> from idealrank.data.align import align
    >>> from idealrank.data.run import Run
    >>> from idealrank.measures.binary import RR
    >>> judged = align(Qrels({"q": {"a": 1}}), Run({"q": ["x", "a"]}), Alignment(), top_depth=2)
    >>> list_hits(judged, RR(rel=1), Alignment()) is None
    True
    """
    qrels, top = judged.qrels, judged.top
    if qrels is None or top is None or not top.is_whole or judged.depth:
        return None
    if alignment.ties in ("best", "worst") or alignment.unjudged == "skipped" or alignment.duplicates == "twice":
        return None
    if not measure.is_explained:
        return ListedHits(judged=judged, qrels=qrels, top=top, added=None)
    added = contributions_of_hits(measure, judged)
    return None if added is None else ListedHits(judged=judged, qrels=qrels, top=top, added=added)
