"""Does the run put better documents above worse ones: AUC, ordered pairs, tau_AP, weighted tau,
Accuracy.

All but Accuracy look at the judged documents that were returned, in their order. Unjudged documents
are taken out first, and judged documents that were not returned do not count, for they have no
place. So none of these measures says how much was found: read them with recall.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from idealrank.data.judged import Hits, Judged
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.measures.correlation import pair_counts, tau_ap, weighted_tau
from idealrank.measures.cutoffs import limits_of, resolve_cutoff
from idealrank.measures.measure import OftenUndefined, PerQuery, fill_undefined
from idealrank.measures.ranks import tie_groups, tied_ranks
from idealrank.measures.threshold import NeedsRelevant, where_comparable


@dataclass(frozen=True, kw_only=True)
class OfGrades(OftenUndefined):
    """A measure of the order of the judged documents that were returned against their grades.

    Parameters
    ----------
    no_relevant : str, optional
        Value of a query where no two of these grades differ; default the convention's.
    """

    cuts: ClassVar = "none"
    compares: ClassVar = "grades"

    def filled_where(self, values: FloatArray, defined: BoolArray) -> PerQuery:
        """Give queries without two different grades the value of the policy."""
        return fill_undefined(np.where(defined, values, 0.0), defined, self.no_relevant or "zero")


def order_of_judged(judged: Judged) -> tuple[Hits, IntArray]:
    """Judged documents returned, and their places: equal where scores tie and the expected value is
    asked for.
    """
    closed = judged.condensed()
    hits = closed.hits
    if judged.ties == "expected" and hits.tie_first is not None:
        return hits, hits.tie_first
    return hits, tied_ranks(closed, hits, hits.grade)


class _AveragedTies(NamedTuple):
    """First and last rank of the tie group of each hit, any order of which is equally likely."""

    first: IntArray
    last: IntArray

    @classmethod
    def of(cls, judged: Judged, hits: Hits) -> "_AveragedTies | None":
        """None where no scores tie, or the tie policy orders them."""
        if judged.ties == "expected" and hits.tie_first is not None and hits.tie_last is not None:
            return cls(hits.tie_first, hits.tie_last)
        return None


def _middle_ranks(judged: Judged, hits: Hits) -> FloatArray:
    """The expected rank of each hit under the tie policy."""
    tied = _AveragedTies.of(judged, hits)
    if tied is not None:
        middle: FloatArray = (tied.first + tied.last) / 2
        return middle
    return tied_ranks(judged, hits, np.ones(hits.query.size)).astype(np.float64)


class AUC(NeedsRelevant):
    """Area under the ROC curve: the probability that a relevant document is ranked above a
    nonrelevant one, both judged and returned.

    ``AUC = |(relevant, nonrelevant) pairs in the right order| / |such pairs|``, in [0, 1]; under
    ``ties=expected`` a pair with tied scores counts half. Unjudged documents are removed, documents
    not returned do not count. Undefined without a relevant or without a nonrelevant document. A
    query whose judged documents are all relevant is left out, whatever the convention: every list
    has the same value. Lists held as arrays keep the policy's value. `Accuracy` counts unjudged
    documents as nonrelevant.

    Parameters
    ----------
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query whose list has no such pair; default the convention's.

    References
    ----------
    Hanley and McNeil (1982), The meaning and use of the area under a receiver operating
    characteristic (ROC) curve, Radiology 143; scikit-learn, ``roc_auc_score``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 0, "c": 0}}, {"q": ["b", "a", "c"]}, [ir.AUC()]).mean()[
    ...     "AUC"
    ... ]
    0.5
    """

    name: ClassVar[str] = "AUC"
    cuts: ClassVar = "none"
    compares: ClassVar = "relevance"
    summary: ClassVar[str] = (
        "share of (relevant, not relevant) pairs in the right order, among judged documents "
        "returned"
    )
    use: ClassVar[str] = (
        "Choose it for how well scores part relevant from other documents anywhere in the list, as "
        "classifiers are measured. Not for what a user sees: a mistake at the top costs no more "
        "than one at the bottom."
    )
    proof: ClassVar[str] = (
        "scikit-learn 1.9 (roc_auc_score) live, tied scores included, to 12 decimals"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """AUC of every query."""
        closed = judged.condensed()
        hits = closed.relevant(self.threshold).hits
        relevant = np.bincount(hits.query, minlength=judged.n_queries)
        pairs = relevant * (closed.lengths - relevant)
        # Ranks of r relevant documents sum to r (r + 1) / 2 in the best order: what is more are
        # other documents above them.
        ranks = judged.sum_by_query(hits.query, _middle_ranks(closed, hits))
        wrong = ranks - relevant * (relevant + 1) / 2
        filled = self.filled(1.0 - wrong / np.maximum(pairs, 1), pairs)
        return where_comparable(filled, judged, self.threshold)


class Accuracy(NeedsRelevant):
    """Probability that a relevant document is ranked above another document within the first k
    ranks.

    ``Accuracy@k = |(relevant, other) pairs of the first k ranks in the right order| / |such
    pairs|``, in [0, 1]. It is 0 for a query with relevant documents but none within the cutoff, and
    1 if only relevant documents are within the cutoff. Unjudged documents count as nonrelevant.
    Under ``ties=expected`` a pair with tied scores counts half. The best and worst tie orders sort
    by relevance. Another order of a tie that the cutoff divides can score more, if a nonrelevant
    document stands above the tie.

    Parameters
    ----------
    cutoff : int or str, optional
        k; default the whole list.
    rel, no_relevant
        As for `AUC`; undefined for queries without any relevant document.

    References
    ----------
    ir_measures, measure ``Accuracy``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1}}, {"q": ["x", "a", "y"]}, [ir.Accuracy()]).mean()["Accuracy"]
    0.5
    """

    name: ClassVar[str] = "Accuracy"
    summary: ClassVar[str] = (
        "share of (relevant, other) pairs in the right order, among the first k ranks"
    )
    use: ClassVar[str] = (
        "Choose it to watch training: it is what a pairwise loss pushes up, on the candidates at "
        "hand. Not to compare systems: it does not see what was not returned, and a mistake at the "
        "bottom costs as much as one at the top."
    )
    proof: ClassVar[str] = (
        "ir_measures 0.4.3 live, to 12 decimals, and the values of its own tests; its means asked "
        "beside others"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Accuracy of every query."""
        relevant_documents = judged.relevant(self.threshold)
        hits = relevant_documents.hits
        limit = limits_of(self.cutoff, judged.lengths, relevant_documents.hits.query)
        rank = _middle_ranks(judged, hits)
        tied = _AveragedTies.of(judged, hits)
        inside = (rank if tied is None else tied.last) <= limit
        relevant = np.bincount(hits.query[inside], minlength=judged.n_queries)
        n_ranks = np.minimum(judged.lengths, resolve_cutoff(self.cutoff, judged.lengths))
        ranks = judged.sum_by_query(hits.query[inside], rank[inside])
        wrong = ranks - relevant * (relevant + 1) / 2
        values = _share_right(wrong, relevant, n_ranks - relevant)
        if tied is not None and not inside.all():
            _fill_across_cutoff(values, wrong, hits, tied, limit)
        return self.filled(values, relevant_documents.total)


def _share_right(wrong: FloatArray, relevant: IntArray, others: IntArray) -> FloatArray:
    """Share of pairs in the right order; 1 where nothing but relevant documents is there, 0 where
    none is.
    """
    return np.where(relevant > 0, 1.0 - wrong / np.maximum(relevant * others, 1), 0.0)


def _fill_across_cutoff(
    values: FloatArray, wrong: FloatArray, hits: Hits, tied: _AveragedTies, limit: IntArray
) -> None:
    """Fill in the mean over tie orders of queries whose cutoff falls inside a tie with relevant
    members.
    """
    starts, n_relevant, n_before = tie_groups(hits, tied.first)
    across = (tied.first[starts] <= limit[starts]) & (tied.last[starts] > limit[starts])
    for group in np.flatnonzero(across).tolist():
        start = starts[group]
        query = hits.query[start]
        above = int(tied.first[start]) - 1
        size = int(tied.last[start]) - above
        reached = int(limit[start]) - above
        before = int(n_before[group])  # relevant documents above the tie
        terms = []
        for inside, chance in _chances(size, int(n_relevant[group]), reached):
            relevant = before + inside  # within the cutoff
            others = above + reached - relevant
            # A relevant member is preceded by the others above its tie, and by half of those inside
            # it.
            mistakes = wrong[query] + inside * (above - before) + inside * (reached - inside) / 2
            share = 0.0 if relevant == 0 else 1.0 - mistakes / max(relevant * others, 1)
            terms.append(chance * share)
        values[query] = math.fsum(terms)


@lru_cache(maxsize=1024)
def _chances(size: int, relevant: int, drawn: int) -> tuple[tuple[int, float], ...]:
    """Return the distribution of relevant documents among the first `drawn` members of a tie."""
    ways = math.comb(size, drawn)
    low = max(0, drawn - (size - relevant))
    high = min(relevant, drawn)
    return tuple(
        (x, math.comb(relevant, x) * math.comb(size - relevant, drawn - x) / ways)
        for x in range(low, high + 1)
    )


class OPA(OfGrades):
    """Ordered pair accuracy: the share of pairs with different grades that are in the right order,
    both judged and returned.

    ``OPA = |pairs with grade i > grade j and i above j| / |pairs with grade i > grade j|``, in [0,
    1]; under ``ties=expected`` a pair with tied scores counts half. Unjudged documents are removed,
    documents not returned do not count.

    Parameters
    ----------
    no_relevant : str, optional
        Value of a query where no two of these grades differ; default the convention's.

    References
    ----------
    TF-Ranking, ``OPAMetric``, for which a pair with tied scores is a wrong one.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(
    ...     ir.evaluate({"q": {"a": 2, "b": 1, "c": 0}}, {"q": ["b", "a", "c"]}, [ir.OPA()]).mean()[
    ...         "OPA"
    ...     ],
    ...     4,
    ... )
    0.6667
    """

    name: ClassVar[str] = "OPA"
    summary: ClassVar[str] = (
        "share of pairs with different grades in the right order, among judged documents returned"
    )
    use: ClassVar[str] = (
        "Choose it where every pair of candidates matters alike, as in pairwise training on full "
        "lists. Not for what a user sees: a mistake at the top costs no more than one at the "
        "bottom."
    )
    proof: ClassVar[str] = (
        "the values of TF-Ranking's own tests, without item weights, to 6 decimals"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Ordered pair accuracy of every query."""
        hits, place = order_of_judged(judged)
        counts = pair_counts(hits.query, place, -hits.grade, judged.n_queries)
        pairs = counts.total - counts.tied_second
        right = counts.concordant + (counts.tied_first - counts.tied_both) / 2
        return self.filled_where(right / np.maximum(pairs, 1), pairs > 0)


class GradeTauAP(OfGrades):
    """AP correlation between the run's order and the grades, over judged documents returned; errors
    near the top cost more.

    ``tau_AP = 2 / (n - 1) sum_{i=2..n} C(i) / (i - 1) - 1``, where C(i) is the number of documents
    above place i with a higher grade than the one at i, equal grades counting half; in [-1, 1].
    Under ``ties=expected`` it is the mean over the orders of tied scores. Unjudged documents are
    removed, documents not returned do not count.

    Parameters
    ----------
    no_relevant : str, optional
        Value of a query where no two of these grades differ; default the convention's.

    References
    ----------
    Yilmaz, Aslam and Robertson (2008), A new rank correlation coefficient for information
    retrieval, SIGIR, equation 3; Urbano and Marrero (2017), The treatment of ties in AP
    correlation, ICTIR, tau_AP,a.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate(
    ...     {"q": {"a": 2, "b": 1, "c": 0}}, {"q": ["b", "a", "c"]}, [ir.GradeTauAP()]
    ... ).mean()["GradeTauAP"]
    0.0
    """

    name: ClassVar[str] = "GradeTauAP"
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    summary: ClassVar[str] = (
        "AP correlation between the run's order and the grades, among judged documents returned"
    )
    use: ClassVar[str] = (
        "Choose it like tau_b where a wrong order near the top is worse than one below. Not where "
        "many grades are equal: 1 is out of reach there."
    )
    proof: ClassVar[str] = (
        "the tests of the R package ircor (tau_AP with and without ties), to 4 decimals"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """AP correlation of every query."""
        hits, place = order_of_judged(judged)
        counts = pair_counts(hits.query, hits.grade, hits.grade, judged.n_queries)
        values = tau_ap(hits.query, place, -hits.grade, judged.n_queries)
        return self.filled_where(values, counts.total > counts.tied_first)


class GradeWeightedTau(OfGrades):
    """Weighted Kendall tau between the run's order and the grades: the weight of a pair is the sum
    of 1 / rank of its two documents.

    ``tau_w = sum over pairs of sign x weight / sqrt(weights of all pairs x weights of pairs with
    different grades)``, the mean of two such values, with ranks by the run and with ranks by grade
    (equal grades in the run's order); in [-1, 1]. Computed over judged documents returned: unjudged
    documents are removed, documents not returned do not count.

    Parameters
    ----------
    no_relevant : str, optional
        Value of a query where no two of these grades differ; default the convention's.

    References
    ----------
    Vigna (2015), A weighted correlation index for rankings with ties, WWW, section 4; SciPy,
    ``scipy.stats.weightedtau``.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(
    ...     ir.evaluate(
    ...         {"q": {"a": 2, "b": 1, "c": 0}}, {"q": ["a", "c", "b"]}, [ir.GradeWeightedTau()]
    ...     ).mean()["GradeWTau"],
    ...     6,
    ... )
    0.545455
    """

    name: ClassVar[str] = "GradeWTau"
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    ties: ClassVar = "not offered"
    summary: ClassVar[str] = (
        "weighted Kendall tau between the run's order and the grades, among judged documents "
        "returned"
    )
    use: ClassVar[str] = (
        "Choose it like tau_b where places near the top, of the run or of the grades, weigh more. "
        "Not with tied scores: its weights depend on the order of ties."
    )
    proof: ClassVar[str] = "SciPy 1.17 (weightedtau) live, to 12 decimals"

    def compute(self, judged: Judged) -> PerQuery:
        """Weighted tau of every query."""
        hits, place = order_of_judged(judged)
        values = weighted_tau(hits.query, place, -hits.grade, judged.n_queries)
        return self.filled_where(values, ~np.isnan(values))
