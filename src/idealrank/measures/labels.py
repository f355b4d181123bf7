"""Measures of learning to rank and of labels: ARP and PWA (TF-Ranking), scikit-learn's of
multi-label ranking, compatibility.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from idealrank.data.judged import Hits, Judged, only_relevant
from idealrank.data.segments import number_within, sizes_of, starts_of
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import OptionError, shown
from idealrank.measures.correlation import overlap_sums
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.discounts import make_discount
from idealrank.measures.measure import (
    Measure,
    OftenUndefined,
    PerQuery,
    fill_undefined,
    number_option,
)
from idealrank.measures.ranks import hit_weights, tie_groups, tied_ranks
from idealrank.measures.sums import finite_sums, refuse_overflow
from idealrank.measures.threshold import NeedsRelevant, where_comparable

_PERSISTENCE = 0.95  # of compatibility, where none is set


class ARP(OftenUndefined):
    """Average relevance position: the mean rank of the returned documents, weighted by grade; lower
    is better.

    ``ARP = sum over ranks r of grade(r) r / sum over ranks of grade(r)``, in [1, inf). Grades below
    0 have weight 0; documents not returned do not count. Undefined if no document with a grade
    above 0 was returned.

    Parameters
    ----------
    no_relevant : str, optional
        Value of a query for which it is undefined; default the convention's.

    References
    ----------
    TF-Ranking, ``ARPMetric``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 3}}, {"q": ["b", "x", "a"]}, [ir.ARP()]).mean()["ARP"]
    1.5
    """

    name: ClassVar[str] = "ARP"
    cuts: ClassVar = "none"
    direction: ClassVar[int] = -1
    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)
    summary: ClassVar[str] = "mean rank of the documents returned, weighed with their grades"
    use: ClassVar[str] = (
        "Choose it to re-rank one set of candidates, where a rank further down costs the same "
        "anywhere. Not to compare runs that return different documents: leaving a relevant one out "
        "makes it smaller."
    )
    proof: ClassVar[str] = (
        "the values of TF-Ranking's own tests, without item weights, to 6 decimals"
    )

    @refuse_overflow
    def compute(self, judged: Judged) -> PerQuery:
        """Average relevance position of every query."""
        hits = judged.hits
        weight = np.maximum(hits.grade, 0.0)
        rank = tied_ranks(judged, hits, weight).astype(np.float64)
        if judged.ties == "expected" and hits.tie_first is not None and hits.tie_last is not None:
            rank = (hits.tie_first + hits.tie_last) / 2
        total = finite_sums(self, judged.sum_by_query(hits.query, weight))
        sums = finite_sums(self, judged.sum_by_query(hits.query, weight * rank))
        values = np.divide(sums, total, out=np.zeros_like(sums), where=total > 0)
        return fill_undefined(values, total > 0, self.no_relevant or "zero")


class PWA(Measure):
    """Position-weighted average: the mean grade of the first k ranks, weighted by 1 / rank.

    ``PWA@k = sum_{r=1..min(k,n)} grade(r) / r / sum_{r=1..min(k,n)} 1 / r`` for a list of n, in [0,
    highest grade]; unjudged documents count as grade 0.

    Parameters
    ----------
    cutoff : int or str, optional
        k; default the whole list.

    References
    ----------
    TF-Ranking, ``PWAMetric``.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(
    ...     ir.evaluate({"q": {"a": 1, "b": 2}}, {"q": ["a", "b", "x"]}, [ir.PWA()]).mean()["PWA"],
    ...     4,
    ... )
    1.0909
    """

    name: ClassVar[str] = "PWA"
    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)
    summary: ClassVar[str] = "mean grade of the first k ranks, weighed with 1 / rank"
    use: ClassVar[str] = (
        "Choose it to read the quality of what is shown in the unit of the grades. Not where "
        "queries differ in what could be found: it is not normalised (nDCG is)."
    )
    proof: ClassVar[str] = "the values of TF-Ranking's own tests, to 6 decimals"

    @refuse_overflow
    def compute(self, judged: Judged) -> PerQuery:
        """Position-weighted average of every query."""
        hits = judged.hits
        reciprocal = make_discount("reciprocal")
        terms = hits.grade * hit_weights(judged, hits, hits.grade, reciprocal, self.cutoff)
        sums = finite_sums(self, judged.sum_by_query(hits.query, terms))
        n_ranks = np.minimum(judged.lengths, resolve_cutoff(self.cutoff, judged.lengths))
        weights = reciprocal.between(np.ones_like(n_ranks), n_ranks, judged.lengths)
        return PerQuery(np.divide(sums, weights, out=np.zeros_like(sums), where=n_ranks > 0))


class LRAP(NeedsRelevant):
    """Label ranking average precision: average precision in which all documents of a tie have its
    last rank.

    ``LRAP = (1 / |relevant|) sum over relevant documents of |relevant with a score as high or
    higher| / |documents with a score as high or higher|``, in [0, 1]; relevant documents not
    returned count as 0. Ties are part of the definition, so the tie policy has no effect.

    Parameters
    ----------
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default the convention's, scikit-learn's is
        ``one``.

    References
    ----------
    Tsoumakas, Katakis and Vlahavas (2010), Mining multi-label data, section 34.3.2; scikit-learn,
    ``label_ranking_average_precision_score``.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(
    ...     ir.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, [ir.LRAP()]).mean()[
    ...         "LRAP"
    ...     ],
    ...     4,
    ... )
    0.5
    """

    name: ClassVar[str] = "LRAP"
    cuts: ClassVar = "none"
    ties: ClassVar = "not affected"
    summary: ClassVar[str] = "average precision with every tie at its last rank"
    use: ClassVar[str] = (
        "Choose it for scikit-learn's multi-label number on the same scores. Otherwise choose AP: "
        "the two differ only where scores tie, and there LRAP takes every tie for the worst."
    )
    proof: ClassVar[str] = (
        "scikit-learn 1.9 (label_ranking_average_precision_score) live, tied scores included, to "
        "12 decimals"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Label ranking average precision of every query."""
        hits = only_relevant(judged.hits, self.threshold)
        total = judged.relevant(self.threshold).total
        number, last = _ends_of_ties(hits)
        sums = judged.sum_by_query(hits.query, number / last)
        return self.filled(sums / np.maximum(total, 1), total)


def _ends_of_ties(hits: Hits) -> tuple[IntArray, IntArray]:
    """Count for each relevant hit the relevant ones with a score as high or higher, and all such
    documents.
    """
    if hits.tie_first is None or hits.tie_last is None:
        return number_within(hits.query), hits.rank
    _, sizes, before = tie_groups(hits, hits.tie_first)
    return np.repeat(before + sizes, sizes), hits.tie_last


class CoverageError(NeedsRelevant):
    """Depth of the list that covers every relevant document, ties included; lower is better.

    ``CoverageError = max over relevant documents of |documents with a score as high or higher|``,
    or the length of the list + 1 if some were not returned; in [1, inf). Ties are part of the
    definition, so the tie policy has no effect.

    Parameters
    ----------
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default the convention's, scikit-learn's is
        ``zero``.

    References
    ----------
    Tsoumakas, Katakis and Vlahavas (2010), Mining multi-label data, section 34.3.2; scikit-learn,
    ``coverage_error``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate(
    ...     {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, [ir.CoverageError()]
    ... ).mean()["CoverageError"]
    2.0
    """

    name: ClassVar[str] = "CoverageError"
    cuts: ClassVar = "none"
    direction: ClassVar[int] = -1
    ties: ClassVar = "not affected"
    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)
    summary: ClassVar[str] = (
        "rank at which all relevant documents have been seen, with every tie at its last rank"
    )
    use: ClassVar[str] = (
        "Choose it for scikit-learn's multi-label number on the same scores. Otherwise choose "
        "LastRel: the two differ only where scores tie, and there this one takes every tie for the "
        "worst."
    )
    proof: ClassVar[str] = (
        "scikit-learn 1.9 (coverage_error) live, tied scores included, to 12 decimals"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Coverage error of every query."""
        hits = only_relevant(judged.hits, self.threshold)
        total = judged.relevant(self.threshold).total
        _, last = _ends_of_ties(hits)
        deepest = np.zeros(judged.n_queries)
        np.maximum.at(deepest, hits.query, last)
        complete = np.bincount(hits.query, minlength=judged.n_queries) >= total
        return self.filled(np.where(complete, deepest, judged.lengths + 1.0), total)


class RankingLoss(NeedsRelevant):
    """Share of (relevant, nonrelevant) pairs that are not in the right order, ties included; lower
    is better.

    ``RankingLoss = |pairs in which the relevant document has no higher score| / |pairs|`` over
    judged documents returned, in [0, 1]. Ties are part of the definition, so the tie policy has no
    effect. Undefined without a relevant or without a nonrelevant document. A query whose judged
    documents are all relevant is left out, whatever the convention; lists held as arrays keep the
    policy's value.

    Parameters
    ----------
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query whose list has no such pair; default the convention's, scikit-learn's is
        ``zero``.

    References
    ----------
    Tsoumakas, Katakis and Vlahavas (2010), Mining multi-label data, section 34.3.2; scikit-learn,
    ``label_ranking_loss``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate(
    ...     {"q": {"a": 1, "b": 0, "c": 0}}, {"q": ["b", "a", "c"]}, [ir.RankingLoss()]
    ... ).mean()["RankingLoss"]
    0.5
    """

    name: ClassVar[str] = "RankingLoss"
    cuts: ClassVar = "none"
    compares: ClassVar = "relevance"
    direction: ClassVar[int] = -1
    ties: ClassVar = "not affected"
    summary: ClassVar[str] = (
        "share of (relevant, not relevant) pairs not in the right order, ties included"
    )
    use: ClassVar[str] = (
        "Choose it for scikit-learn's multi-label number on the same scores. Otherwise choose AUC, "
        "of which it is the rest to 1 where no scores tie."
    )
    proof: ClassVar[str] = (
        "scikit-learn 1.9 (label_ranking_loss) live, tied scores included, to 12 decimals"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Ranking loss of every query."""
        closed = judged.condensed()
        hits = only_relevant(closed.hits, self.threshold)
        number, last = _ends_of_ties(hits)
        relevant = np.bincount(hits.query, minlength=judged.n_queries)
        pairs = relevant * (closed.lengths - relevant)
        wrong = judged.sum_by_query(hits.query, (last - number).astype(np.float64))
        filled = self.filled(wrong / np.maximum(pairs, 1), pairs)
        return where_comparable(filled, judged, self.threshold)


@dataclass(frozen=True, kw_only=True)
class Compat(NeedsRelevant):
    """Compatibility: rank-biased overlap of the run with the most similar ideal ranking, as a share
    of the maximum.

    ``Compat = RBO(run, ideal) / RBO(ideal, ideal)``, ``RBO(a, b) = sum_{i=1..n} p^(i-1) |a_1..a_i
    in b_1..b_i| / i`` down to the longer of the two lists. The ideal ranking holds the relevant
    documents by falling grade, equal grades in the order of the run, those not returned last. In
    [0, 1].

    Parameters
    ----------
    p : float, optional
        Persistence, in (0, 1), default 0.95; a larger value looks deeper.
    normalize : bool, optional
        True (default) divides by the maximum; False returns RBO(run, ideal) divided by the sum of
        p^(i-1).
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.

    References
    ----------
    Clarke, Vtyurina and Smucker (2021), Assessing top-k preferences, ACM TOIS 39(3); ir_measures,
    ``Compat``.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(
    ...     ir.evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, [ir.Compat(p=0.5)]).mean()[
    ...         "Compat(p=0.5)"
    ...     ],
    ...     4,
    ... )
    0.3333
    """

    p: float | None = None
    normalize: bool | None = None

    name: ClassVar[str] = "Compat"
    cuts: ClassVar = "none"
    ties: ClassVar = "not offered"
    samples: ClassVar = {"p": (None, 0.5, 0.8, 0.95), "normalize": (None, False)}
    summary: ClassVar[str] = "rank-biased overlap with the nearest ideal ranking"
    use: ClassVar[str] = (
        "Choose it where grades are preferences: any order that they allow is perfect, and the top "
        "counts most. Not for tied scores, nor where one relevant document is as good as another "
        "(RBP or AP)."
    )
    proof: ClassVar[str] = "ir_measures 0.4.3 live, to 12 decimals, and the values of its own tests"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p is not None:
            object.__setattr__(self, "p", number_option("p", self.p, 0, 1))
            if self.p in (0, 1):
                raise OptionError(f"p={self.p:g}: expected a number between 0 and 1")
        object.__setattr__(self, "normalize", _unless_false(self.normalize))

    def compute(self, judged: Judged) -> PerQuery:
        """Compatibility of every query."""
        hits = judged.relevant(self.threshold).hits
        total = judged.relevant(self.threshold).total
        p = _PERSISTENCE if self.p is None else float(self.p)
        depth = np.maximum(judged.lengths, total)
        rank = tied_ranks(judged, hits, hits.grade)
        deeper = np.maximum(rank, self._ideal_ranks(judged, rank))
        sums = overlap_sums(hits.query, deeper, depth, p)
        if self.normalize is None:
            # the overlap of the ideal ranking with itself
            starts = np.cumsum(total) - total
            ranks_of_ideal = np.arange(1, total.sum() + 1) - np.repeat(starts, total)
            queries_of_ideal = np.repeat(np.arange(judged.n_queries), total)
            best = overlap_sums(queries_of_ideal, ranks_of_ideal, depth, p)
        else:
            best = (1 - p**depth) / (1 - p)
        return self.filled(np.divide(sums, best, out=np.zeros_like(sums), where=total > 0), total)

    def _ideal_ranks(self, judged: Judged, rank: IntArray) -> IntArray:
        """Rank of each relevant document returned in the ideal ranking: behind all higher grades,
        returned or not.
        """
        hits = judged.relevant(self.threshold).hits
        order = np.lexsort((rank, -hits.grade, hits.query))
        query, grade = hits.query[order], hits.grade[order]
        starts = starts_of(query, grade)
        place = np.arange(query.size) - np.repeat(starts, sizes_of(starts, query.size))
        ideal = np.empty_like(rank)
        ideal[order] = _higher(judged, query, grade) + place + 1
        return ideal


def _higher(judged: Judged, query: IntArray, grade: FloatArray) -> IntArray:
    """Count the judged documents of the query with a higher grade, for (query, grade) pairs."""
    ideal = judged.ideal
    levels = np.unique(np.concatenate((ideal.grade, grade)))

    # A key rises with the query, and within a query as the grade falls: a level is below the width.
    # `judged.ideal` is sorted so, and one binary search counts the judged documents with a lower
    # key: all of the queries before, which the offset takes away, and those with a higher grade.
    def key(query: IntArray, grade: FloatArray) -> IntArray:
        return query * (levels.size + 1) - np.searchsorted(levels, grade)

    before = np.searchsorted(key(ideal.query, ideal.grade), key(query, grade), side="left")
    higher: IntArray = before - ideal.offsets[query]
    return higher


def _unless_false(value: object) -> bool | None:
    """Return False for a text or value that means it; None for unset or true, which are equal."""
    text = str(value).strip().lower()
    if value is None or text in ("true", "1"):
        return None
    if text in ("false", "0"):
        return False
    raise OptionError(f"normalize={shown(value)}: expected true or false")
