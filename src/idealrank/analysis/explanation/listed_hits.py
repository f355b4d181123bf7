"""Judged documents of every list of a run, with their contributions: what listings of many queries
show of them.
"""

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
    """Length of one list, its first documents, and its judged ones by rank: rank, row of the qrels,
    grade as given, contribution.
    """

    length: int
    documents: list[str]
    tied: list[bool]
    columns: tuple[list[int], list[int], list[float], list[float | None]]


@dataclass(frozen=True, kw_only=True, eq=False)
class ListedHits:
    """Judged documents of every list, in the order of the lists."""

    judged: Judged  # Alignment of the run, with the hits of whole lists
    # qrels, top: The judgments, and the first documents of the lists
    qrels: Qrels
    top: Top
    # shape (n_hits,): contribution of each judged document; None if the measure states none
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
        """The list of one query, with its first documents down to a rank; None where the run does
        not answer it.
        """
        code, top = self._code.get(query), self.top.of(query, depth)
        if code is None or top is None:
            return None
        here, hits = slice(self._ends[code], self._ends[code + 1]), self.judged.hits
        row = np.asarray(hits.document)[here]
        added: list[float | None] = (
            [None] * row.size if self.added is None else self.added[here].tolist()
        )
        columns = (hits.rank[here].tolist(), row.tolist(), self.qrels.grades[row].tolist(), added)
        return HitsOfQuery(int(self.judged.lengths[code]), top.documents, top.tied, columns)


def list_hits(judged: Judged, measure: Measure, alignment: Alignment) -> ListedHits | None:
    """Find what each judged document of every list adds to a measure."""
    qrels, top = judged.qrels, judged.top
    if qrels is None or top is None or not top.is_whole or judged.depth:
        return None
    if (
        alignment.ties in ("best", "worst")
        or alignment.unjudged == "skipped"
        or alignment.duplicates == "twice"
    ):
        return None
    if not measure.is_explained:
        return ListedHits(judged=judged, qrels=qrels, top=top, added=None)
    added = contributions_of_hits(measure, judged)
    return None if added is None else ListedHits(judged=judged, qrels=qrels, top=top, added=added)
