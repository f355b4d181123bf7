"""Measures of binary relevance: a document is relevant when its grade reaches the threshold `rel`.

Formulas and denominators are trec_eval's. With tied scores under ``ties=expected`` each value is the mean over all orders of the
tied documents, in closed form (McSherry and Najork 2008, Computing information retrieval performance measures efficiently in the
presence of tied scores, ECIR).
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from idealrank.data.judged import Hits, Judged
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import limits_of, resolve_cutoff
from idealrank.measures.discounts import make_discount
from idealrank.measures.measure import Measure, PerQuery, fill_undefined
from idealrank.measures.ranks import chance_within, tied_ranks
from idealrank.measures.rules import NoRelevant, checked


@dataclass(frozen=True, kw_only=True)
class _Binary(Measure):
    """A measure with a threshold."""

    rel: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rel is not None:
            object.__setattr__(self, "rel", _finite_grade(self.rel))

    @property
    def threshold(self) -> float:
        """Least grade of a relevant document."""
        return 1.0 if self.rel is None else float(self.rel)

    def _found(self, judged: Judged) -> FloatArray:
        """(Expected) number of relevant documents within the cutoff."""
        hits = judged.relevant(self.threshold).hits
        return judged.sum_by_query(hits.query, chance_within(judged, hits, np.ones(hits.query.size), self.cutoff))

    def _trec_binary(self, plain: str, cut: str) -> str:
        return self._trec(plain, cut, options=self.rel not in (None, 1))


class P(_Binary):
    """Precision: the share of the first k ranks that hold a relevant document; ranks the list lacks count as not relevant.

    ``P@k = |relevant in the top k| / k``, in [0, 1].

    Parameters
    ----------
    cutoff : int or str
        k; must be given.
    rel : float, optional
        Least grade of a relevant document, default 1.

    References
    ----------
    trec_eval, measure ``P``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "b"]}, [ir.P(cutoff=5)]).mean()["P@5"]
    0.2
    """

    name: ClassVar[str] = "P"
    summary: ClassVar[str] = "share of the first k ranks that are relevant"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cutoff is None:
            raise OptionError("P needs a cutoff, as in P@10")

    def compute(self, judged: Judged) -> PerQuery:
        """Precision of every query."""
        return PerQuery(self._found(judged) / resolve_cutoff(self.cutoff, judged.lengths))

    @property
    def trec_name(self) -> str:
        """``P_10``."""
        return self._trec_binary("P", "P")


@dataclass(frozen=True, kw_only=True)
class _PerRelevant(_Binary):
    """A binary measure that is undefined without relevant documents."""

    no_relevant: NoRelevant | None = None
    from_convention: ClassVar[tuple[str, ...]] = ("no_relevant",)

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("no_relevant", self.no_relevant, NoRelevant)

    def depth(self, *, lists: bool = False) -> int:
        """All of `lists`, whose relevant items are counted among the grades that are kept; a run's are counted in its judgments."""
        return 0 if lists else super().depth(lists=lists)

    def _fill(self, values: FloatArray, n_relevant: IntArray) -> PerQuery:
        return fill_undefined(values, n_relevant > 0, self.no_relevant or "zero")


class R(_PerRelevant):
    """Recall: the share of the relevant documents that stand in the first k ranks (or the whole list).

    ``R@k = |relevant in the top k| / |relevant|``, in [0, 1].

    Parameters
    ----------
    cutoff : int or str, optional
        k; default the whole list.
    rel : float, optional
        Least grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default the convention's.

    References
    ----------
    trec_eval, measures ``recall`` and ``set_recall``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "c"]}, [ir.R(cutoff=2)]).mean()["R@2"]
    0.5
    """

    name: ClassVar[str] = "R"
    summary: ClassVar[str] = "share of the relevant documents found"

    def compute(self, judged: Judged) -> PerQuery:
        """Recall of every query."""
        n_relevant = judged.relevant(self.threshold).total
        return self._fill(self._found(judged) / np.maximum(n_relevant, 1), n_relevant)

    @property
    def trec_name(self) -> str:
        """``recall_100``, or ``set_recall`` without a cutoff."""
        return self._trec_binary("set_recall", "recall")


class AP(_PerRelevant):
    """Average precision: the mean of the precision at the rank of each relevant document, those not returned counting 0.

    ``AP@k = (1 / |relevant|) sum over relevant documents at ranks r <= k of |relevant in the top r| / r``, in [0, 1].

    Parameters
    ----------
    cutoff, rel, no_relevant
        As for `R`.

    References
    ----------
    trec_eval, measures ``map`` and ``map_cut``; McSherry and Najork (2008), section 3.3, for tied scores.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "c", "b"]}, [ir.AP()]).mean()["AP"]
    0.8333333333333333
    """

    name: ClassVar[str] = "AP"
    summary: ClassVar[str] = "mean precision at the ranks of the relevant documents"

    def compute(self, judged: Judged) -> PerQuery:
        """Average precision of every query."""
        hits = judged.relevant(self.threshold).hits
        rank = tied_ranks(judged, hits, np.ones(hits.query.size))
        limit = limits_of(self.cutoff, judged.lengths, hits.query)
        if judged.ties == "expected" and hits.tie_first is not None and hits.tie_last is not None:
            sums = judged.sum_by_query(hits.query, _expected_precisions(hits, hits.tie_first, hits.tie_last, limit))
        else:
            # Sorted by query already; sorting again by rank matters only where the tie policy has moved hits.
            rank = rank if rank is hits.rank else rank[np.lexsort((rank, hits.query))]
            precision = _number_within(hits.query) / rank
            sums = judged.sum_by_query(hits.query, np.where(rank <= limit, precision, 0.0))
        n_relevant = judged.relevant(self.threshold).total
        return self._fill(sums / np.maximum(n_relevant, 1), n_relevant)

    @property
    def trec_name(self) -> str:
        """``map`` or ``map_cut_100``."""
        return self._trec_binary("map", "map_cut")


def _finite_grade(rel: object) -> float:
    try:
        grade = float(rel) if isinstance(rel, (int, float, np.number)) else math.nan
    except OverflowError:
        grade = math.inf
    if not math.isfinite(grade):
        raise OptionError(f"rel={rel}: expected a finite grade")
    return grade


def _number_within(query: IntArray) -> IntArray:
    """1, 2, ... inside each run of equal codes."""
    starts = _starts(query)
    sizes = np.diff(np.append(starts, query.size))
    return np.arange(1, query.size + 1) - np.repeat(starts, sizes)


def _starts(query: IntArray) -> IntArray:
    """Where each run of equal codes begins."""
    return np.flatnonzero(np.concatenate(([True], query[1:] != query[:-1]))) if query.size else np.zeros(0, np.int64)


def _tie_groups(hits: Hits, first: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Start of each tie group among the hits, number of its hits, and hits of the query before it."""
    if hits.query.size == 0:
        empty = np.zeros(0, np.int64)
        return empty, empty, empty
    starts = np.flatnonzero(np.concatenate(([True], (hits.query[1:] != hits.query[:-1]) | (first[1:] != first[:-1]))))
    sizes = np.diff(np.append(starts, hits.query.size))
    return starts, sizes, _number_within(hits.query)[starts] - 1


def _expected_precisions(hits: Hits, first: IntArray, last: IntArray, limit: IntArray) -> FloatArray:
    """Expected precision terms of relevant hits, shared out evenly inside each tie group.

    With r relevant among n tied documents at ranks s+1 .. s+n, and b relevant before them, the expected sum of their terms is
    (r/n) sum_{i=s+1..m} [b + 1 + (i-s-1)(r-1)/(n-1)] / i, with m the last of those ranks within the cutoff.
    """
    starts, relevant, before = _tie_groups(hits, first)
    start, end = first[starts] - 1, last[starts]
    size = end - start
    reached = np.maximum(np.minimum(end, limit[starts]), start)
    slope = (relevant - 1) / np.maximum(size - 1, 1)
    harmonic = make_discount("reciprocal").between(start + 1, reached, reached)
    sums = relevant / size * ((before + 1 - slope * (start + 1)) * harmonic + slope * (reached - start))
    return np.repeat(sums / relevant, relevant)


class RR(_PerRelevant):
    """Reciprocal rank of the first relevant document; 0 when none is within the cutoff. In [0, 1].

    Parameters
    ----------
    cutoff, rel, no_relevant
        As for `R`.

    References
    ----------
    trec_eval, measure ``recip_rank``; McSherry and Najork (2008), section 3.2, for tied scores.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1}}, {"q": ["c", "a"]}, [ir.RR()]).mean()["RR"]
    0.5
    """

    name: ClassVar[str] = "RR"
    summary: ClassVar[str] = "1 / rank of the first relevant document"

    def compute(self, judged: Judged) -> PerQuery:
        """Reciprocal rank of every query."""
        hits = judged.relevant(self.threshold).hits
        values = np.zeros(judged.n_queries)
        rank = tied_ranks(judged, hits, np.ones(hits.query.size))
        limit = resolve_cutoff(self.cutoff, judged.lengths)
        if judged.ties == "expected" and hits.tie_first is not None and hits.tie_last is not None:
            _expected_reciprocal(values, hits, hits.tie_first, hits.tie_last, limit)
        else:
            starts = _starts(hits.query)
            if starts.size:
                query, best = hits.query[starts], np.minimum.reduceat(rank, starts)
                values[query] = np.where(best <= limit[query], 1.0 / best, 0.0)
        return self._fill(values, judged.relevant(self.threshold).total)

    @property
    def trec_name(self) -> str:
        """``recip_rank``; trec_eval has no cutoff for it."""
        return str(self) if self.cutoff is not None else self._trec_binary("recip_rank", "recip_rank")


def _expected_reciprocal(values: FloatArray, hits: Hits, first: IntArray, last: IntArray, limit: IntArray) -> None:
    """Fill in expected reciprocal ranks; only the first tie group with a relevant document matters.

    With r relevant among n tied documents, the first of them stands at place j with probability p_1 = r/n and
    p_(j+1) = p_j (n - j - r + 1) / (n - j).
    """
    starts, relevant, before = _tie_groups(hits, first)
    leading: BoolArray = before == 0
    for start, count in zip(starts[leading].tolist(), relevant[leading].tolist(), strict=True):
        query, above = int(hits.query[start]), int(first[start]) - 1
        size = int(last[start]) - above
        place = np.arange(1, min(size - count + 1, max(int(min(limit[query], last[start])) - above, 0)) + 1)
        if place.size == 0:
            continue
        ratio = (size - place[:-1] - count + 1) / (size - place[:-1])
        chance = count / size * np.concatenate(([1.0], np.cumprod(ratio)))
        values[query] = math.fsum((chance / (above + place)).tolist())
