"""Measures of binary relevance: a document is relevant when its grade reaches the threshold `rel`.

Formulas and denominators are trec_eval's. With tied scores under ``ties=expected`` each value is
the mean over all orders of the tied documents, in closed form (McSherry and Najork 2008, Computing
information retrieval performance measures efficiently in the presence of tied scores, ECIR).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from idealrank.data.judged import Hits, Judged
from idealrank.data.segments import number_within, sizes_of, starts_of
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.measures.cutoffs import Cutoff, limits_of, resolve_cutoff
from idealrank.measures.discounts import make_discount
from idealrank.measures.measure import Counts, OverOrders, PerQuery, Response
from idealrank.measures.ranks import (
    chance_within,
    distinct_rows,
    rising_ranks,
    tie_groups,
    tied_ranks,
)
from idealrank.measures.rules import checked
from idealrank.measures.terms import Fraction, RelevantGroups, Terms
from idealrank.measures.threshold import BalancedMeasure, BinaryMeasure, NeedsRelevant

Divisor: TypeAlias = Literal["relevant", "reachable"]

# Lists of one length, every item judged and no tie to average, are read rank after rank, all at
# once: each rank is a row that holds one place of every list. Nothing is looked up or sorted again,
# and a running count covers the ranks above. Tests compare each function with the general method of
# its measure.


def grades_by_rank(judged: Judged) -> FloatArray | None:
    """Grades with a row for each rank, shape (width, n_queries); None where lists differ in length
    or the order of ties matters.
    """
    rectangle = judged.rectangle
    if rectangle is None or (rectangle.ties is not None and judged.ties != "input"):
        return None
    return np.ascontiguousarray(rectangle.grades.T)


def sums_of_precision(grades: FloatArray, threshold: float, limit: int) -> FloatArray:
    """Sum of the precision at each relevant document down to a limit: AP without its divisor."""
    n_relevant = np.zeros(grades.shape[1])
    sums = np.zeros(grades.shape[1])
    for rank, row in enumerate(grades[:limit] >= threshold, 1):
        n_relevant += row
        sums += row * (n_relevant / rank)
    return sums


class P(BinaryMeasure):
    """Precision: share of the first k ranks that hold a relevant document; ranks beyond the end of
    the list count as not relevant.

    ``P@k = |relevant in the top k| / k``, in [0, 1].

    Parameters
    ----------
    cutoff : int or str
        k; must be given.
    rel : float, optional
        Lowest grade of a relevant document, default 1.

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
    over_orders: ClassVar[OverOrders] = "by set"
    response: ClassVar[Response] = "rising"
    counts: ClassVar[Counts] = "results"
    tells_unjudged: ClassVar[bool] = True
    cuts: ClassVar = "required"
    summary: ClassVar[str] = "share of the first k ranks that are relevant"
    use: ClassVar[str] = (
        "Choose it when the user sees k results at once and each relevant one is worth the same. "
        "Not where many queries have fewer than k relevant documents: 1 is out of reach there, and "
        "their mean says more about the queries than about the run."
    )
    proof: ClassVar[str] = (
        "trec_eval 10 and 9 to their 4 printed decimals on real runs; pytrec_eval-terrier 0.5.11 "
        "and ir_measures 0.4.3 live, to 12 decimals"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Precision of every query."""
        return PerQuery(self.found(judged) / resolve_cutoff(self.cutoff, judged.lengths))

    def terms(self, judged: Judged, documents: Hits, gains: FloatArray) -> Terms | None:
        """The chance to stand within the cutoff, over the cutoff."""
        total = np.broadcast_to(resolve_cutoff(self.cutoff, judged.lengths), (judged.n_queries,))
        weights = chance_within(judged, documents, gains, self.cutoff) / total[documents.query]
        return Terms(weights, gains * weights)

    def weights(self, judged: Judged, documents: Hits) -> FloatArray | None:
        """One over the cutoff, within it."""
        within = chance_within(judged, documents, np.ones(documents.query.size), self.cutoff)
        total = np.broadcast_to(resolve_cutoff(self.cutoff, judged.lengths), (judged.n_queries,))
        return within / total[documents.query]

    @property
    def trec_name(self) -> str:
        """``P_10``."""
        return self.trec_binary("P", "P")


class R(NeedsRelevant):
    """Recall: share of the relevant documents within the first k ranks (or the whole list).

    ``R@k = |relevant in the top k| / |relevant|``, in [0, 1].

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
    trec_eval, measures ``recall`` and ``set_recall``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "c"]}, [ir.R(cutoff=2)]).mean()["R@2"]
    0.5
    """

    name: ClassVar[str] = "R"
    over_orders: ClassVar[OverOrders] = "by set"
    response: ClassVar[Response] = "upward"
    counts: ClassVar[Counts] = "documents"
    tells_unjudged: ClassVar[bool] = True
    summary: ClassVar[str] = "share of the relevant documents found"
    use: ClassVar[str] = (
        "Choose it for candidates for a reranker, and for searches that must miss nothing: order "
        "within the cutoff does not count. Not where the order is what the user sees, nor where "
        "few of the relevant documents were ever judged."
    )
    proof: ClassVar[str] = (
        "trec_eval 10 and 9 to their 4 printed decimals on real runs; pytrec_eval-terrier 0.5.11 "
        "and ir_measures 0.4.3 live, to 12 decimals"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Recall of every query."""
        n_relevant = judged.relevant(self.threshold).total
        return self.filled(self.found(judged) / np.maximum(n_relevant, 1), n_relevant)

    def terms(self, judged: Judged, documents: Hits, gains: FloatArray) -> Terms | None:
        """The chance to stand within the cutoff, over the number of relevant documents."""
        total = judged.relevant(self.threshold).total
        weights = (
            chance_within(judged, documents, gains, self.cutoff)
            / np.maximum(total, 1)[documents.query]
        )
        return Terms(weights, gains * weights, defined=total > 0)

    def weights(self, judged: Judged, documents: Hits) -> FloatArray | None:
        """One over the number of relevant documents, within the cutoff."""
        within = chance_within(judged, documents, np.ones(documents.query.size), self.cutoff)
        return within / np.maximum(judged.relevant(self.threshold).total, 1)[documents.query]

    def divisor_with(self, judged: Judged, further: FloatArray) -> FloatArray | None:
        """All relevant documents."""
        return np.maximum(judged.relevant(self.threshold).total[:, None] + further, 1.0)

    def fraction(self, judged: Judged) -> Fraction | None:
        """Relevant documents within the cutoff over all relevant documents."""

        def weigh(documents: Hits) -> FloatArray:
            return chance_within(judged, documents, np.ones(documents.query.size), self.cutoff)

        def sums(n_ranks: int) -> FloatArray:
            return np.broadcast_to(np.arange(n_ranks + 1.0), (judged.n_queries, n_ranks + 1))

        return Fraction(
            total=self.found(judged), weigh=weigh, ideal=sums, known=judged.ideal, shared=True
        )

    @property
    def trec_name(self) -> str:
        """``recall_100``, or ``set_recall`` without a cutoff."""
        return self.trec_binary("set_recall", "recall")


class F(BalancedMeasure):
    """F measure of the first k ranks: the weighted harmonic mean of P@k and R@k; F1 by default.

    ``F@k = (1 + beta) P@k R@k / (beta P@k + R@k) = (1 + beta) |relevant in the top k| / (k + beta
    |relevant|)``, in [0, 1]. The weight is that of `SetF`: van Rijsbergen's beta b is ``beta =
    b^2`` here, so F2 is ``beta=4``; both are F1 at 1.

    Parameters
    ----------
    cutoff : int or str
        k; must be given. The F of whole lists, however long, is `SetF`.
    beta : float, optional
        Weight of recall relative to precision, 0 or above; default 1.
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.

    References
    ----------
    van Rijsbergen (1979), Information Retrieval, chapter 7; scikit-learn, ``fbeta_score`` of "is
    among the first k".

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate(
    ...     {"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a", "x", "b"]}, [ir.F(cutoff=2)]
    ... ).mean()["F@2"]
    0.4
    """

    name: ClassVar[str] = "F"
    over_orders: ClassVar[OverOrders] = "by set"
    response: ClassVar[Response] = "upward"
    cuts: ClassVar = "required"
    summary: ClassVar[str] = "harmonic mean of precision and recall of the first k ranks"
    use: ClassVar[str] = (
        "Choose it where k results are shown and recommenders are compared with published F1@k. "
        "Not to compare cutoffs, nor where queries differ much in how many relevant documents they "
        "have: its greatest value depends on both."
    )
    proof: ClassVar[str] = "scikit-learn 1.9 (f1_score, fbeta_score) live, to 12 decimals"

    def compute(self, judged: Judged) -> PerQuery:
        """F of every query."""
        n_relevant = judged.relevant(self.threshold).total
        beta = self._recall_weight
        n_ranks = resolve_cutoff(self.cutoff, judged.lengths)
        return self.filled(
            (1.0 + beta) * self.found(judged) / (n_ranks + beta * n_relevant), n_relevant
        )


@dataclass(frozen=True, kw_only=True)
class AP(NeedsRelevant):
    """Average precision: mean of the precision at the rank of each relevant document; 0 for those
    not returned.

    ``AP@k = (1 / |relevant|) sum over relevant documents at ranks r <= k of |relevant in the top r|
    / r``, in [0, 1].

    Parameters
    ----------
    cutoff, rel, no_relevant
        As for `R`.
    divisor : {"relevant", "reachable"}, optional
        What the sum is divided by: the number of relevant documents (default), or of those that k
        ranks can hold, ``min(k, |relevant|)``, as the MAP@k of Kaggle's competitions and of many
        recommender libraries. It changes values only where a query has more than k relevant
        documents.

    References
    ----------
    trec_eval, measures ``map`` and ``map_cut``; McSherry and Najork (2008), section 3.3, for tied
    scores.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "c", "b"]}, [ir.AP()]).mean()["AP"]
    0.8333333333333333
    >>> ir.evaluate(
    ...     {"q": {"a": 1, "b": 1}}, {"q": ["a", "c", "b"]}, ["AP@1", "AP(divisor=reachable)@1"]
    ... ).mean()
    {'AP@1': 0.5, 'AP(divisor=reachable)@1': 1.0}
    """

    divisor: Divisor | None = None

    name: ClassVar[str] = "AP"
    over_orders: ClassVar[OverOrders] = "by order"
    response: ClassVar[Response] = "precision"
    samples: ClassVar = {"divisor": (None, "relevant", "reachable")}
    tells_unjudged: ClassVar[bool] = True
    summary: ClassVar[str] = "mean precision at the ranks of the relevant documents"
    use: ClassVar[str] = (
        "Choose it for binary judgments with several relevant documents per query, all of which "
        "matter. Not for graded judgments (nDCG), nor where judging stopped early: unjudged "
        "relevant documents pull it down."
    )
    proof: ClassVar[str] = (
        "trec_eval 10 and 9 to their 4 printed decimals on real runs; pytrec_eval-terrier 0.5.11 "
        "and ir_measures 0.4.3 live, to 12 decimals"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("divisor", self.divisor, Divisor)

    def _divisors(self, judged: Judged, n_relevant: IntArray) -> IntArray:
        """Number that the sum of each query is divided by, at least 1."""
        if self.divisor == "reachable" and self.cutoff is not None:
            n_relevant = np.minimum(n_relevant, resolve_cutoff(self.cutoff, judged.lengths))
        return np.maximum(n_relevant, 1)

    def divisor_with(self, judged: Judged, further: FloatArray) -> FloatArray | None:
        """All relevant documents, or those that the cutoff can hold."""
        total = judged.relevant(self.threshold).total[:, None] + further
        if self.divisor == "reachable" and self.cutoff is not None:
            total = np.minimum(total, resolve_cutoff(self.cutoff, judged.lengths)[:, None])
        return np.maximum(total, 1.0)

    def compute(self, judged: Judged) -> PerQuery:
        """Average precision of every query."""
        by_rank = grades_by_rank(judged)
        if by_rank is not None and by_rank.size:
            deepest = int(resolve_cutoff(self.cutoff, judged.lengths)[0])
            total = np.count_nonzero(by_rank >= self.threshold, axis=0)
            sums = sums_of_precision(by_rank, self.threshold, deepest)
            return self.filled(sums / self._divisors(judged, total), total)
        hits = judged.relevant(self.threshold).hits
        limit = limits_of(self.cutoff, judged.lengths, hits.query)
        if judged.ties == "expected" and hits.tie_first is not None and hits.tie_last is not None:
            terms = _expected_precisions(hits, hits.tie_first, hits.tie_last, limit)
            sums = judged.sum_by_query(hits.query, terms)
        else:
            rank = rising_ranks(judged, hits)
            precision = number_within(hits.query) / rank
            sums = judged.sum_by_query(hits.query, np.where(rank <= limit, precision, 0.0))
        n_relevant = judged.relevant(self.threshold).total
        return self.filled(sums / self._divisors(judged, n_relevant), n_relevant)

    def group_terms(self, groups: RelevantGroups, n_relevant: int, limit: int) -> FloatArray | None:
        """Precision at the rank of each relevant document, over the divisor."""
        if self.divisor == "reachable" and self.cutoff is not None:
            n_relevant = min(n_relevant, limit)
        return _precision_sums(groups, limit) / max(n_relevant, 1)

    def expected(self, judged: Judged, documents: Hits) -> "Callable[[float], FloatArray] | None":
        """Expected AP as a polynomial of degree 2 in c, the chance that an unjudged document is
        relevant.

        With j relevant judged and u unjudged documents above it, a relevant document at rank r adds
        ``(1 + j + c u) / r``, and an unjudged one c times that; the sum is divided as in `compute`.
        """
        lists = _among_unjudged(judged, self.threshold, documents, self.cutoff)
        if lists is None:
            return None
        query, rank, unjudged = lists
        relevant = (~unjudged).astype(np.float64)
        above_judged = _above(query, relevant)
        above_unjudged = _above(query, unjudged.astype(np.float64))

        def coefficient(numerators: FloatArray) -> FloatArray:
            return judged.sum_by_query(query, numerators / rank)

        constant = coefficient(relevant * (1 + above_judged))
        linear = coefficient(relevant * above_unjudged + unjudged * (1 + above_judged))
        square = coefficient(unjudged * above_unjudged)
        divisors = self._divisors(judged, judged.relevant(self.threshold).total)

        def value(chance: float) -> FloatArray:
            sums = constant + chance * (linear + chance * square)
            return np.asarray(sums / divisors, np.float64)

        return value

    @property
    def trec_name(self) -> str:
        """``map`` or ``map_cut_100``; trec_eval divides by all relevant documents."""
        return str(self) if self.divisor == "reachable" else self.trec_binary("map", "map_cut")


def _among_unjudged(
    judged: Judged, threshold: float, documents: Hits, cutoff: Cutoff | None
) -> tuple[IntArray, IntArray, BoolArray] | None:
    """Relevant hits and unjudged documents within the cutoff, by query and rank, and which of them
    are unjudged.

    None where tied documents have no rank of their own.
    """
    hits = judged.relevant(threshold).hits
    if judged.ties in ("expected", "best", "worst") and (
        hits.tie_first is not None or documents.tie_first is not None
    ):
        return None
    query = np.concatenate((hits.query, documents.query))
    rank = np.concatenate((hits.rank, documents.rank))
    unjudged = np.concatenate(
        (np.zeros(hits.query.size, np.bool_), np.ones(documents.query.size, np.bool_))
    )
    # One key sorts by query and rank (a rank has at most 32 bits), and the stable sort merges the
    # two sorted halves quickly.
    order = np.argsort((query << 32) + rank, kind="stable")
    order = order[rank[order] <= limits_of(cutoff, judged.lengths, query[order])]
    return query[order], rank[order], unjudged[order]


def _above(query: IntArray, values: FloatArray) -> FloatArray:
    """Sum of the values before each place of its query."""
    before = np.concatenate(([0.0], np.cumsum(values)[:-1])) if values.size else values
    starts = starts_of(query)
    sums: FloatArray = before - np.repeat(before[starts], sizes_of(starts, query.size))
    return sums


def _expected_precisions(
    hits: Hits, first: IntArray, last: IntArray, limit: IntArray
) -> FloatArray:
    """Expected precision terms of relevant hits, shared out evenly inside each tie group."""
    starts, relevant, before = tie_groups(hits, first)
    start = first[starts] - 1
    groups = RelevantGroups(
        start=start, size=last[starts] - start, relevant=relevant, before=before
    )
    sums = _precision_sums(groups, limit[starts])
    return np.repeat(sums / relevant, relevant)


def _precision_sums(groups: RelevantGroups, limit: "IntArray | int") -> FloatArray:
    """Compute the contribution of each tie group to the sum of precisions at relevant ranks."""
    end = groups.start + groups.size
    reached = np.maximum(np.minimum(end, limit), groups.start)
    slope = (groups.relevant - 1) / np.maximum(groups.size - 1, 1)
    # At rank r of the group, before + 1 + slope (r - start - 1) relevant documents are expected
    # down to r if one is at r; over r, its sum is a harmonic number and a count of ranks.
    harmonic = make_discount("reciprocal").between(groups.start + 1, reached, reached)
    constant = groups.before + 1 - slope * (groups.start + 1)
    sums = constant * harmonic + slope * (reached - groups.start)
    return np.where(groups.relevant > 0, groups.relevant / groups.size * sums, 0.0)


class RR(NeedsRelevant):
    """Reciprocal rank of the first relevant document; 0 if none is within the cutoff.

    ``RR@k = 1 / rank of the first relevant document if that is <= k, else 0``, in [0, 1].

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
    over_orders: ClassVar[OverOrders] = "by order"
    response: ClassVar[Response] = "first"
    tells_unjudged: ClassVar[bool] = True
    summary: ClassVar[str] = "1 / rank of the first relevant document"
    use: ClassVar[str] = (
        "Choose it for one right answer per query: a known page, a fact, a command. Not where "
        "several relevant documents help: it sees nothing below the first."
    )
    proof: ClassVar[str] = (
        "trec_eval 10 and 9 to their 4 printed decimals on real runs; pytrec_eval-terrier 0.5.11 "
        "and ir_measures 0.4.3 live, to 12 decimals"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Reciprocal rank of every query."""
        hits = judged.relevant(self.threshold).hits
        values = np.zeros(judged.n_queries)
        rank = tied_ranks(judged, hits, np.ones(hits.query.size))
        limit = resolve_cutoff(self.cutoff, judged.lengths)
        if judged.ties == "expected" and hits.tie_first is not None and hits.tie_last is not None:
            _expected_reciprocal(values, hits, hits.tie_first, hits.tie_last, limit)
        else:
            starts = starts_of(hits.query)
            if starts.size:
                query = hits.query[starts]
                best = rank[starts] if rank is hits.rank else np.minimum.reduceat(rank, starts)
                values[query] = np.where(best <= limit[query], 1.0 / best, 0.0)
        return self.filled(values, judged.relevant(self.threshold).total)

    def mean_over_orders(self, judged: Judged) -> PerQuery:
        """Mean over the orders of whole lists: of a tie it would be a sum over all places."""
        lists = judged.condensed(pooled=False) if self.judged_only else judged
        found = lists.relevant(self.threshold)
        sizes = lists.lengths
        relevant = np.bincount(found.hits.query, minlength=lists.n_queries)
        # Of more relevant documents than others, the difference of harmonic numbers would lose
        # digits. A cutoff ends the sum early.
        is_whole = resolve_cutoff(self.cutoff, sizes) > sizes - relevant
        is_closed = is_whole & (relevant > 0) & (2 * relevant <= sizes)
        values = np.zeros(lists.n_queries)
        values[is_closed] = mean_reciprocal(sizes[is_closed], relevant[is_closed])
        others = found.hits.part(~is_closed[found.hits.query])
        if others.tie_first is not None and others.tie_last is not None:
            limit = resolve_cutoff(self.cutoff, sizes)
            _expected_reciprocal(values, others, others.tie_first, others.tie_last, limit)
        return self.filled(values, found.total)

    def group_terms(self, groups: RelevantGroups, n_relevant: int, limit: int) -> FloatArray | None:
        """Expected reciprocal rank of the first relevant document, all of it in the first group
        that has one.
        """
        worth = np.zeros(groups.size.size)
        for group in np.flatnonzero((groups.before == 0) & (groups.relevant > 0)).tolist():
            start = int(groups.start[group])
            size = int(groups.size[group])
            relevant = int(groups.relevant[group])
            terms = _reciprocals_of_tie(start, size, relevant, min(size, limit - start))
            worth[group] = float(terms.sum())
        return worth

    def expected(self, judged: Judged, documents: Hits) -> "Callable[[float], FloatArray] | None":
        """Sum over ranks of one over the rank times the chance that the first relevant document
        stands there.

        An unjudged document with u unjudged ones above it is the first with chance ``c (1 - c)^u``;
        documents below the first relevant judged one do not matter.
        """
        lists = _among_unjudged(judged, self.threshold, documents, self.cutoff)
        if lists is None:
            return None
        query, rank, unjudged = lists
        may_be_first = _above(query, (~unjudged).astype(np.float64)) == 0
        query = query[may_be_first]
        rank = rank[may_be_first]
        unjudged = unjudged[may_be_first]
        n_above = _above(query, unjudged.astype(np.float64)).astype(np.int64)
        powers = np.arange(int(n_above.max(initial=0)) + 1)

        def value(chance: float) -> FloatArray:
            is_first = ((1 - chance) ** powers)[n_above] * np.where(unjudged, chance, 1.0)
            return judged.sum_by_query(query, is_first / rank)

        return value

    def added_alone(self, judged: Judged, documents: Hits) -> FloatArray:
        """Compute what each document would raise the reciprocal rank by: 0 below the first relevant
        one.
        """
        hits = judged.relevant(self.threshold).hits
        starts = starts_of(hits.query)
        limit = resolve_cutoff(self.cutoff, judged.lengths)
        query, best = hits.query[starts], hits.rank[starts]
        values = np.zeros(judged.n_queries)
        values[query] = np.where(best <= limit[query], 1.0 / best, 0.0)
        return np.maximum(1.0 / documents.rank - values[documents.query], 0.0)

    @property
    def trec_name(self) -> str:
        """``recip_rank``; trec_eval has no cutoff for it."""
        if self.cutoff is not None:
            return str(self)
        return self.trec_binary("recip_rank", "recip_rank")


def mean_reciprocal(sizes: IntArray, relevant: IntArray) -> FloatArray:
    """Mean over all orders of n documents of one over the rank of the first of r relevant ones:
    ``r / (n - r + 1) (H(n) - H(r - 1))``, H the harmonic numbers.
    """
    harmonic = make_discount("reciprocal").between(relevant, sizes, sizes)
    return np.asarray(relevant / (sizes - relevant + 1) * harmonic)


def _expected_reciprocal(
    values: FloatArray, hits: Hits, first: IntArray, last: IntArray, limit: IntArray
) -> None:
    """Fill in expected reciprocal ranks; only the first tie group with a relevant document
    matters.
    """
    starts, relevant, before = tie_groups(hits, first)
    leading: BoolArray = before == 0
    starts = starts[leading]
    if not starts.size:
        return
    query = hits.query[starts]
    above = first[starts] - 1
    size = last[starts] - above
    reached = np.clip(limit[query] - above, 0, size)
    # Ties of one shape (the arguments of `_reciprocals_of_tie`) have one value, computed once.
    shapes, shape_of_tie = distinct_rows(above, size, relevant[leading], reached)
    sums = [math.fsum(_reciprocals_of_tie(*shape).tolist()) for shape in shapes.tolist()]
    values[query] = np.array(sums)[shape_of_tie]


def _reciprocals_of_tie(above: int, size: int, relevant: int, reached: int) -> FloatArray:
    """Terms of the expected reciprocal rank of the first of r relevant among n tied documents, by
    its place.

    It is at place j with probability p_j: p_1 = r/n and p_(j+1) = p_j (n - j - r + 1) / (n - j).
    """
    place = np.arange(1, min(size - relevant + 1, reached) + 1)
    if place.size == 0:
        return np.zeros(0)
    ratio = (size - place[:-1] - relevant + 1) / (size - place[:-1])
    chance = relevant / size * np.concatenate(([1.0], np.cumprod(ratio)))
    return np.asarray(chance / (above + place), np.float64)
