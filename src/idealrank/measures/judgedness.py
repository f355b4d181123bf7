"""Share of judged and of unjudged documents in a list.

The two shares add up to 1 but for two habits of their tools: the share of unjudged documents is
divided by k even where the list is shorter, and counts a document that was pooled but not judged
(grade below 0) as unjudged.
"""

from typing import ClassVar

import numpy as np

from idealrank.data.judged import Hits, Judged
from idealrank.data.types import FloatArray
from idealrank.measures.cutoffs import Cutoff, resolve_cutoff
from idealrank.measures.measure import Measure, PerQuery
from idealrank.measures.ranks import chance_within


class JudgedShare(Measure):
    """Share of the returned documents that have a judgment, of whatever grade.

    ``Judged@k = |judged in the top k| / min(k, length of the list)``, in [0, 1]; 0 for an empty
    list.

    Parameters
    ----------
    cutoff : int or str, optional
        k; default the whole list.

    References
    ----------
    ir_measures, measure ``Judged``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "x", "b", "y"]}, ["Judged@3"]).mean()[
    ...     "Judged@3"
    ... ]
    0.6666666666666666
    """

    name: ClassVar[str] = "Judged"
    direction: ClassVar[int] = 1
    summary: ClassVar[str] = "share of the first k documents that are judged"
    use: ClassVar[str] = (
        "Print it beside every measure that takes unjudged documents for nonrelevant ones: values "
        "of runs with different shares do not compare. It says nothing about quality."
    )
    proof: ClassVar[str] = "ir_measures 0.4.3 live, to 12 decimals"

    def compute(self, judged: Judged) -> PerQuery:
        """Share of judged documents of every query."""
        n_ranks = _ranks_within(judged, self.cutoff)
        return PerQuery(_number(judged, judged.hits, self.cutoff) / np.maximum(n_ranks, 1))


class Unjudged(Measure):
    """Share of the first k ranks that hold a document without a judgment; ranks beyond the end of
    the list count as judged.

    ``Unjudged@k = |without a judgment in the top k| / k``, in [0, 1]; without a cutoff, k is the
    length of the list. A document that was pooled but not judged (grade below 0) has no judgment.

    `compare`, `gate`, `choose` and the coverage define *unjudged* differently: as a share of the
    documents returned (`Coverage.unjudged_share`), which short lists do not lower.

    Parameters
    ----------
    cutoff : int or str, optional
        k; default the whole list.

    References
    ----------
    trec_eval 10, measure ``unj``. MTEB's ``hole`` is the same share, but takes a document for
    judged where it was judged for any query: give every query the judged documents of all to have
    its number.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "x", "b", "y"]}, ["Unjudged@5"]).mean()[
    ...     "Unjudged@5"
    ... ]
    0.4
    """

    name: ClassVar[str] = "Unjudged"
    direction: ClassVar[int] = -1
    summary: ClassVar[str] = "share of the first k ranks without a judgment"
    use: ClassVar[str] = (
        "Print it beside measures at the same cutoff: it bounds what unjudged documents could add "
        "to P@k. It says nothing about quality."
    )
    proof: ClassVar[str] = "trec_eval 10 to its 4 printed decimals on real runs"

    def compute(self, judged: Judged) -> PerQuery:
        """Share of unjudged documents of every query."""
        n_ranks = _ranks_within(judged, self.cutoff)
        n_judged = _number(judged, judged.hits.part(judged.given >= 0), self.cutoff)
        if self.cutoff is None:
            return PerQuery((n_ranks - n_judged) / np.maximum(n_ranks, 1))
        return PerQuery((n_ranks - n_judged) / resolve_cutoff(self.cutoff, judged.lengths))

    @property
    def trec_name(self) -> str:
        """``unj_10``."""
        return self._trec(str(self), "unj", options=False)


def _ranks_within(judged: Judged, cutoff: Cutoff | None) -> FloatArray:
    return np.minimum(judged.lengths, resolve_cutoff(cutoff, judged.lengths)).astype(np.float64)


def _number(judged: Judged, hits: Hits, cutoff: Cutoff | None) -> FloatArray:
    """(Expected) number of these hits within the cutoff."""
    within = chance_within(judged, hits, np.ones(hits.query.size), cutoff)
    return judged.sum_by_query(hits.query, within)
