"""Measures of total recall, where everything relevant is to be found: systematic reviews, patents,
electronic discovery.

Recall after a share of the list is `R` with a relative cutoff, as in ``R@0.2n``.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from idealrank.data.judged import Hits, Judged
from idealrank.data.segments import number_within
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.measure import PerQuery, Response, number_option
from idealrank.measures.ranks import rising_ranks, tie_groups, tied_ranks
from idealrank.measures.rules import checked
from idealrank.measures.threshold import NeedsRelevant

Count: TypeAlias = Literal["up", "nearest"]
_RECALL = 0.95  # of WSS, where none is set


def _rank_of(judged: Judged, hits: Hits, number: IntArray) -> FloatArray:
    """(Expected) rank of the relevant document with this number in each query; 0 where fewer were
    returned.
    """
    ranks = np.zeros(judged.n_queries)
    if judged.ties == "expected" and hits.tie_first is not None and hits.tie_last is not None:
        starts, sizes, before = tie_groups(hits, hits.tie_first)
        query = hits.query[starts]
        above = hits.tie_first[starts] - 1
        has_it = (before < number[query]) & (number[query] <= before + sizes)
        tied = hits.tie_last[starts] - above
        # The i-th of r documents drawn among n places is expected at place i (n + 1) / (r + 1).
        expected = above + (number[query] - before) * (tied + 1) / (sizes + 1)
        ranks[query[has_it]] = expected[has_it]
        return ranks
    rank = rising_ranks(judged, hits)
    has_number = number_within(hits.query) == number[hits.query]
    ranks[hits.query[has_number]] = rank[has_number]
    return ranks


class LastRel(NeedsRelevant):
    """Rank of the last relevant document: how far a reader must go to find everything; lower is
    better.

    ``LastRel = rank of the last relevant document``, or the length of the list + 1 if some were not
    returned; in [1, inf), and 0 for a query without relevant documents where ``no_relevant`` gives
    it 0.

    Parameters
    ----------
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.

    References
    ----------
    Kanoulas, Li, Azzopardi and Spijker (2017), CLEF 2017 technologically assisted reviews in
    empirical medicine overview, measure ``last_rel``, for lists that hold every document.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b", "y"]}, [ir.LastRel()]).mean()[
    ...     "LastRel"
    ... ]
    3.0
    """

    name: ClassVar[str] = "LastRel"
    cuts: ClassVar = "none"
    direction: ClassVar[int] = -1
    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)
    summary: ClassVar[str] = "rank of the last relevant document"
    use: ClassVar[str] = (
        "Choose it where every relevant document must be found and the whole collection is ranked. "
        "Not for lists cut short, which it cannot see beyond, nor where one straggler should not "
        "decide (WSS)."
    )
    proof: ClassVar[str] = (
        "tar_eval of CLEF TAR (last_rel), its two classes retyped and recorded, exactly"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Rank of the last relevant document of every query."""
        relevant = judged.relevant(self.threshold)
        ranks = _rank_of(judged, relevant.hits, relevant.total)
        return self.filled(np.where(ranks > 0, ranks, judged.lengths + 1.0), relevant.total)


@dataclass(frozen=True, kw_only=True)
class WSS(NeedsRelevant):
    """Work saved over sampling: the share of the list that need not be read to reach a recall
    level, minus the share saved by chance.

    ``WSS@r = (n - k) / n - (1 - r)`` for a list of length n, where k is the rank of the ``ceil(r
    |relevant|)``-th relevant document, rounded up exactly on the decimal digits of r; the nominal r
    is subtracted, not the recall at k. If fewer were returned, the whole list is read, k = n
    (tar_eval gives 0). In [-1, 1).

    Parameters
    ----------
    recall : float, optional
        r, above 0 and at most 1, default 0.95; written after the @.
    count : {"up", "nearest"}, optional
        Rounding of ``r |relevant|`` to an integer, default ``up``; ``nearest`` (halves to even, at
        least 1) is tar_eval's.
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.

    References
    ----------
    Cohen, Hersh, Peterson and Yen (2006), Reducing workload in systematic review preparation using
    automated citation classification, JAMIA 13(2), equation for WSS@95%: (TN + FN) / N - 0.05;
    tar_eval of CLEF TAR, measures ``wss_95`` and ``wss_100``.

    Examples
    --------
    >>> import idealrank as ir
    >>> run = {"q": ["a", "x", "b", "y", "z"]}
    >>> round(
    ...     ir.evaluate({"q": {"a": 1, "b": 1}}, run, [ir.WSS(recall=0.95)]).mean()["WSS@0.95"], 4
    ... )
    0.35
    """

    recall: float | None = None
    count: Count | None = None

    name: ClassVar[str] = "WSS"
    response: ClassVar[Response] = "upward"
    cuts: ClassVar = "none"
    after_at: ClassVar[str] = "recall"
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    samples: ClassVar = {"recall": (None, 0.1, 0.5, 0.8, 0.95, 1), "count": (None, "up", "nearest")}
    summary: ClassVar[str] = (
        "share of the list that need not be read to reach a recall, less that of chance"
    )
    use: ClassVar[str] = (
        "Choose it for screening a ranked collection down to a recall that was promised. Not for "
        "lists cut short, nor across collections: what can be saved at most depends on the share "
        "of relevant documents."
    )
    proof: ClassVar[str] = (
        "tar_eval of CLEF TAR (wss_95, wss_100), its two classes retyped and recorded, to 12 "
        "decimals"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("count", self.count, Count)
        if self.recall is not None:
            object.__setattr__(self, "recall", number_option("recall", self.recall, 0, 1))
            if self.recall == 0:
                raise OptionError("recall=0: expected a number above 0 and at most 1")

    def compute(self, judged: Judged) -> PerQuery:
        """Work saved of every query."""
        relevant = judged.relevant(self.threshold)
        recall = _RECALL if self.recall is None else self.recall
        number = _number_at_recall(recall, relevant.total, self.count or "up")
        ranks = _rank_of(judged, relevant.hits, number)
        read = np.where(ranks > 0, ranks, judged.lengths)
        saved = (judged.lengths - read) / np.maximum(judged.lengths, 1)
        return self.filled(saved - float(1 - _as_written(recall)), relevant.total)


def _as_written(number: float) -> Fraction:
    """The number that the decimal digits of a float spell: 0.95 is exactly 19/20."""
    return Fraction(repr(float(number)))


def _number_at_recall(recall: float, totals: IntArray, count: Count) -> IntArray:
    """A whole number of documents, exact for the decimal digits of the recall: 0.95 of 20 is 19."""
    exact = _as_written(recall)
    distinct, inverse = np.unique(totals, return_inverse=True)
    numbers = [exact * int(total) for total in distinct]
    if count == "up":
        whole = [math.ceil(number) for number in numbers]
    else:
        whole = [max(round(number), 1) for number in numbers]
    return np.array(whole, np.int64)[inverse.reshape(-1)]


class RecallArea(NeedsRelevant):
    """Area under the curve of recall against documents read, divided by the area of the best order.

    ``RecallArea@k = sum over relevant documents at ranks r <= m of (m - r + 1/2) / (b m - b^2 /
    2)`` with m = min(k, length of the list) and b the smaller of m and the number of relevant
    documents, in [0, 1]: the curve rises linearly over each relevant document.

    Parameters
    ----------
    cutoff : int or str, optional
        k; default the whole list.
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.

    References
    ----------
    Kanoulas et al. (2017), CLEF 2017 technologically assisted reviews in empirical medicine
    overview, measure ``norm_area``.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(
    ...     ir.evaluate({"q": {"a": 1}}, {"q": ["x", "a", "y", "z"]}, [ir.RecallArea()]).mean()[
    ...         "RecallArea"
    ...     ],
    ...     4,
    ... )
    0.7143
    """

    name: ClassVar[str] = "RecallArea"
    response: ClassVar[Response] = "upward"
    summary: ClassVar[str] = "area under recall against documents read, as a share of the best"
    use: ClassVar[str] = (
        "Choose it for how early a whole review finds what it will find, without choosing a "
        "recall. Not for the top of a list: a place costs the same anywhere."
    )
    proof: ClassVar[str] = (
        "tar_eval of CLEF TAR (norm_area), its two classes retyped and recorded, to its 3 decimals"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Share of the best area of every query."""
        relevant = judged.relevant(self.threshold)
        hits = relevant.hits
        total = relevant.total
        n_ranks = np.minimum(judged.lengths, resolve_cutoff(self.cutoff, judged.lengths))
        first = last = tied_ranks(judged, hits, np.ones(hits.query.size))
        if judged.ties == "expected" and hits.tie_first is not None and hits.tie_last is not None:
            first = hits.tie_first
            last = hits.tie_last
        end = n_ranks[hits.query]
        inside = np.clip(np.minimum(last, end) - first + 1, 0, None)
        # A relevant document at rank r adds end - r + 1/2: the mean over the ranks of its tie.
        counted = (inside * (end - first + 0.5) - inside * (inside - 1) / 2) / (last - first + 1)
        best = np.minimum(n_ranks, total)
        area = best * (n_ranks - best / 2)
        # An area above 0 is at least 0.5, that of one document in a list of one. If it is 0, so is
        # the sum, and dividing by 0.5 leaves 0.
        return self.filled(judged.sum_by_query(hits.query, counted) / np.maximum(area, 0.5), total)
