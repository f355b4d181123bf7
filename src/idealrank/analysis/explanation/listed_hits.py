"""Judged documents of every list of a run, with their contributions: what listings of many queries show of them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from idealrank.analysis.explanation.contributions import contributions_of_hits
from idealrank.data.align import align
from idealrank.data.alignment import Alignment
from idealrank.data.judged import Judged
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import FloatArray, IntArray, sought_id
from idealrank.measures.measure import Measure


class HitsOfQuery(NamedTuple):
    """Length of one list, and its judged documents by rank: rank, row of the qrels, grade as given, contribution."""

    length: int
    columns: tuple[list[int], list[int], list[float], list[float | None]]


@dataclass(frozen=True, eq=False)
class ListedHits:
    """Judged documents of every list, in the order of the lists.

    Attributes
    ----------
    qrels, run : Qrels, Run
        The judgments, and the run in memory.
    judged : Judged
        Their alignment, without a query left out.
    added : float64 array, shape (n_hits,), or None
        Contribution of each judged document; None if the measure states none.

    Examples
    --------
    >>> from idealrank.measures.binary import P
    >>> found = list_hits(Qrels({"q": {"a": 1}}), Run({"q": ["x", "a"]}), P(cutoff=2, rel=1), Alignment())
    >>> found.of("q")
    HitsOfQuery(length=2, columns=([2], [0], [1.0], [0.5]))
    """

    qrels: Qrels
    run: Run
    judged: Judged
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

    def of(self, query: str) -> HitsOfQuery | None:
        """The list of one query; None where the run does not answer it."""
        code = self._code.get(query)
        if code is None or self.run.source.find_query(sought_id(query)) < 0:  # type: ignore[union-attr]
            return None
        here, hits = slice(self._ends[code], self._ends[code + 1]), self.judged.hits
        row = np.asarray(hits.document)[here]
        added: list[float | None] = [None] * row.size if self.added is None else self.added[here].tolist()
        columns = (hits.rank[here].tolist(), row.tolist(), self.qrels.grades[row].tolist(), added)
        return HitsOfQuery(int(self.judged.lengths[code]), columns)


def list_hits(qrels: Qrels, run: Run, measure: Measure, alignment: Alignment, *, threads: int = 0) -> ListedHits | None:
    """Find the judged documents of every list, and what each adds to a measure.

    Parameters
    ----------
    qrels, run : Qrels, Run
        Everything judged, and a run in memory.
    measure : Measure
        With every option set.
    alignment : Alignment
        The policies.
    threads : int
        0 uses all cores.

    Returns
    -------
    ListedHits or None
        None if a contribution depends on the other documents of its list, or the policies take documents out of lists or move tied
        documents: then `list_query` and `account_of` tell of one list.

    Examples
    --------
    >>> from idealrank.measures.binary import RR
    >>> list_hits(Qrels({"q": {"a": 1}}), Run({"q": ["x", "a"]}), RR(rel=1), Alignment()) is None
    True
    """
    if alignment.ties in ("best", "worst") or alignment.unjudged == "skipped" or alignment.duplicates == "twice":
        return None
    if alignment.negative in ("removed", "padding") and (qrels.grades < 0).any():
        return None
    counting = replace(alignment, missing="error" if alignment.missing == "error" else "zero", without_judgments="evaluated")
    judged = align(qrels, run, counting, threads=threads)
    if not measure.is_explained:
        return ListedHits(qrels, run, judged, None)
    added = contributions_of_hits(measure, judged)
    return None if added is None else ListedHits(qrels, run, judged, added)
