"""Measures for incomplete judgments: preferences among judged documents, and average precision
inferred from a judged sample.

Inferred average precision has a term for each returned relevant document, under every tie policy.
"""

from typing import ClassVar, NamedTuple

import numpy as np

from idealrank.data.judged import Hits, Judged, Rectangle
from idealrank.data.segments import number_within
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.measures.measure import PerQuery, Response
from idealrank.measures.threshold import (
    NeedsRelevant,
    TieGroups,
    groups_of,
    n_nonrelevant,
    nonrelevant_hits,
    tie_order_matters,
)

_EPSILON = 0.00001  # trec_eval's smoothing of the share, in documents


def inferred_terms(
    groups: TieGroups, relevant: BoolArray, other: BoolArray, ties: str
) -> FloatArray:
    """Term of each relevant hit, relevant documents of a tie standing first, or last under
    ``worst``.
    """
    of = groups.of[relevant]
    everyone = np.ones(relevant.size, bool)
    relevant_above, rejected, pooled = (
        groups.above(marked)[of] for marked in (relevant, other, everyone)
    )
    place = number_within(of) - 1
    rank = groups.first[of] + place
    if ties == "worst":
        inside = groups.within(relevant)
        rank = groups.last[of] - (inside[of] - 1 - place)
        rejected = rejected + groups.within(other)[of]
        pooled = pooled + (groups.within(everyone) - inside)[of]
    relevant_above = relevant_above + place
    pooled = pooled + place
    return (1.0 + pooled * _share(relevant_above, rejected)) / rank


def _share(relevant: FloatArray | IntArray, rejected: FloatArray | IntArray) -> FloatArray:
    """Share of relevant among judged documents, smoothed."""
    share: FloatArray = (relevant + _EPSILON) / (relevant + rejected + 2 * _EPSILON)
    return share


def expected_terms(groups: TieGroups, relevant: BoolArray, other: BoolArray) -> FloatArray:
    """Expected term of each relevant hit over all orders of its tie; one reckoning for all ties of
    one shape.
    """
    inside = groups.within(relevant)
    everyone = np.ones(relevant.size, bool)
    wanted = np.flatnonzero(inside)
    shape = _Shape(
        above=groups.first[wanted] - 1,
        size=(groups.last - groups.first + 1)[wanted],
        relevant_above=groups.above(relevant)[wanted],
        other_above=groups.above(other)[wanted],
        pooled_above=groups.above(everyone)[wanted],
        relevant=inside[wanted],
        other=groups.within(other)[wanted],
        pooled=groups.within(everyone)[wanted],
    )
    term = np.zeros(inside.size)
    term[wanted] = _mean_terms(shape)
    return term[groups.of[relevant]]


class _Shape(NamedTuple):
    """Ties as their expected terms see them: what stands above each, and how many of its documents
    are in which state.
    """

    above: IntArray
    size: IntArray
    relevant_above: IntArray
    other_above: IntArray
    pooled_above: IntArray
    relevant: IntArray
    other: IntArray
    pooled: IntArray


def _mean_terms(tie: _Shape) -> FloatArray:
    """Expected term of a relevant document of each tie.

    It is equally likely to have 0, 1, ... or all of the other judged documents of the tie above it.
    """
    judged = tie.relevant + tie.other
    of = np.repeat(np.arange(judged.size), judged)
    before = np.arange(of.size) - np.repeat(np.cumsum(judged) - judged, judged)
    unjudged = (tie.size - judged)[of]
    start = tie.above[of] + before + 1
    mean_inverse = _mean_inverses(start, before, judged[of] - 1 - before, unjudged)
    relevant_above = (
        tie.relevant_above[of] + before * ((tie.relevant - 1) / np.maximum(judged - 1, 1))[of]
    )
    judged_above = (tie.relevant_above + tie.other_above)[of] + before
    share = (relevant_above + _EPSILON) / (judged_above + 2 * _EPSILON)
    # Of the W unjudged ones above, pooled ones in proportion: W / rank = 1 - start / rank.
    rate = (tie.pooled - judged)[of] / np.maximum(unjudged, 1)
    pooled = (tie.pooled_above[of] + before) * mean_inverse + rate * (1.0 - start * mean_inverse)
    total = np.bincount(of, weights=mean_inverse + pooled * share, minlength=judged.size)
    means: FloatArray = total / np.maximum(judged, 1)
    return means


def _mean_inverses(
    start: IntArray, before: IntArray, after: IntArray, unjudged: IntArray
) -> FloatArray:
    """Mean of 1 / (start + W); one reckoning for all that are alike."""
    means: FloatArray = 1.0 / start
    mixed = np.flatnonzero(unjudged)
    if mixed.size:
        rows = np.column_stack((start, before, after, unjudged))[mixed]
        alike, which = np.unique(rows, axis=0, return_inverse=True)
        each = []
        for first_rank, n_before, n_after, n in alike.tolist():
            ranks = first_rank + np.arange(n + 1)
            each.append(float(np.sum(_chances(n_before, n_after, n) / ranks)))
        means[mixed] = np.array(each)[which.reshape(-1)]
    return means


def _chances(before: int, after: int, n: int) -> FloatArray:
    """Chance that 0, 1, ... n further documents stand above one that has `before` others above it
    and `after` below.
    """
    place = np.arange(n)
    steps = np.log((place + before + 1) * (n - place)) - np.log((place + 1.0) * (n - place + after))
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    weight: FloatArray = np.exp(logs - logs.max())
    chance: FloatArray = weight / weight.sum()
    return chance


# Lists of one length are held as a matrix and counted block by block, in whole numbers. Rows of a
# block: with twenty documents in each, what is made of it fits the second-level cache.
_BLOCK = 4096


def rows_above(
    rectangle: Rectangle, threshold: float, ties: str
) -> tuple[IntArray, FloatArray, IntArray]:
    """Relevant documents of each row; (expected) nonrelevant ones above them, at most `cap` above
    each; and that cap.
    """
    n = rectangle.grades.shape[0]
    relevant = np.empty(n, np.int64)
    wrong = np.empty(n)
    cap = np.empty(n, np.int64)
    for top in range(0, n, _BLOCK):
        rows = slice(top, min(top + _BLOCK, n))
        relevant[rows], wrong[rows], cap[rows] = _block(rectangle, rows, threshold, ties)
    return relevant, wrong, cap


def _block(
    rectangle: Rectangle, rows: slice, threshold: float, ties: str
) -> tuple[IntArray, FloatArray, IntArray]:
    # with the ranks as rows, what is added lies together
    grades = np.ascontiguousarray(rectangle.grades[rows].T)
    is_relevant = grades >= threshold
    other = (grades < threshold) & (grades >= 0)
    upto = np.cumsum(other, axis=0, dtype=np.int64)
    relevant: IntArray = is_relevant.sum(axis=0, dtype=np.int64)
    cap: IntArray = np.minimum(relevant, upto[-1]) if upto.size else np.zeros_like(relevant)
    wrong = np.zeros(relevant.size)
    if rectangle.ties is not None and ties != "input":
        begin, end = np.searchsorted(rectangle.ties.query, [rows.start, rows.stop])
        members = rectangle.ties.part(slice(int(begin), int(end)))
        place = members.rank - 1, members.query - rows.start
        states = is_relevant[place], other[place], upto[place]
        wrong += _within_ties(members, place, states, cap, ties)
        is_relevant[place] = False
    for above, counted in zip(upto, is_relevant, strict=True):
        wrong += np.minimum(above, cap) * counted
    return relevant, wrong, cap


def _within_ties(
    members: Hits,
    place: tuple[IntArray, IntArray],
    states: tuple[BoolArray, BoolArray, IntArray],
    cap: IntArray,
    ties: str,
) -> FloatArray:
    """Compute the contribution of tied relevant documents to each row."""
    is_relevant, other, upto = states
    head = members.rank == members.tie_first
    group = np.cumsum(head) - 1
    heads = np.flatnonzero(head)
    inside = np.bincount(group[is_relevant], minlength=heads.size)
    beside = np.bincount(group[other], minlength=heads.size)
    _, member_rows = place
    row = member_rows[heads]
    added = inside * mean_capped(upto[heads] - other[heads], beside, cap[row], ties)
    return np.bincount(row, weights=added, minlength=cap.size).astype(np.float64, copy=False)


def mean_capped(above: IntArray, beside: IntArray, cap: IntArray, ties: str) -> FloatArray:
    """(Expected) number of nonrelevant documents above a relevant one of a tie, at most `cap`."""
    if ties != "expected":
        in_order = above + beside if ties == "worst" else above
        return np.minimum(in_order, cap).astype(np.float64)
    # Of the tie, 0, 1, ... or all `beside` others are equally likely to be above; `below` of these
    # numbers stay under the cap.
    below = np.clip(cap - above, 0, beside + 1)
    total = below * above + below * (below - 1) // 2 + (beside + 1 - below) * cap
    mean: FloatArray = total / (beside + 1)
    return mean


_PROOF = (
    "trec_eval 10 and 9 to their 4 printed decimals on real runs; pytrec_eval-terrier 0.5.11 live, "
    "to 12 decimals, pooled but unjudged documents among them"
)


class Bpref(NeedsRelevant):
    """Binary preference: the share of pairs of a relevant and a judged nonrelevant document that
    the list shows in the right order.

    ``Bpref = (1 / R) sum over returned relevant documents of (1 - min(n, R) / min(N, R))``, in [0,
    1], with R relevant and N judged nonrelevant documents, and n nonrelevant documents above the
    relevant one; the summand is 1 if N is 0. Documents without a judgment, and those pooled but not
    judged (grade below 0), are ignored.

    Parameters
    ----------
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.

    References
    ----------
    Buckley and Voorhees (2004), Retrieval evaluation with incomplete information, SIGIR, with
    min(N, R) in place of R as trec_eval has it, measure ``bpref``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate(
    ...     {"q": {"a": 1, "b": 0, "c": 1, "d": 0}}, {"q": ["a", "b", "x", "c"]}, [ir.Bpref()]
    ... ).mean()["Bpref"]
    0.75
    """

    name: ClassVar[str] = "Bpref"
    compares: ClassVar = "relevance"
    response: ClassVar[Response] = "upward"
    cuts: ClassVar = "none"
    summary: ClassVar[str] = "share of judged pairs in the right order"
    use: ClassVar[str] = (
        "Choose it where many returned documents were never judged, as with runs that did not feed "
        "the pool. Not with complete judgments, where AP says more, nor where judged nonrelevant "
        "documents are few: it compares with nothing else."
    )
    proof: ClassVar[str] = _PROOF

    def compute(self, judged: Judged) -> PerQuery:
        """Binary preference of every query."""
        rectangle = judged.rectangle
        if rectangle is not None and rectangle.as_given and not judged.depth:
            total, wrong, cap = rows_above(rectangle, self.threshold, judged.ties)
            returned = total
        else:
            total = judged.relevant(self.threshold).total
            cap = np.minimum(n_nonrelevant(judged, self.threshold), total)
            returned, wrong = _above(judged, self.threshold, cap)
        return self.filled((returned - wrong / np.maximum(cap, 1)) / np.maximum(total, 1), total)

    @property
    def trec_name(self) -> str:
        """``bpref``."""
        return self.trec_binary("bpref", "bpref")


class RunningBpref(Bpref):
    """Bpref as trec_eval adds it up, to the last bit: `Bpref` counts in whole numbers first and can
    differ in that bit.

    From the top each relevant document adds 1 - min(n, R) / min(N, R), and the sum is divided by R.
    """

    def compute(self, judged: Judged) -> PerQuery:
        """The running sum of every query; ties are in the order of document ids, so no order is
        left open.
        """
        total = judged.relevant(self.threshold).total
        cap = np.minimum(n_nonrelevant(judged, self.threshold), total)
        hits = judged.hits
        other = nonrelevant_hits(judged, self.threshold)
        relevant = hits.grade >= self.threshold
        counted = np.cumsum(other)
        starts = np.searchsorted(hits.query, hits.query)
        above = (counted - counted[starts] + other[starts])[relevant]
        query = hits.query[relevant]
        terms = 1.0 - np.minimum(above, cap[query]) / np.maximum(cap[query], 1)
        # one after the other, as they come
        sums = np.bincount(query, weights=terms, minlength=judged.n_queries)
        return self.filled(sums / np.maximum(total, 1), total)


def _above(judged: Judged, threshold: float, cap: IntArray) -> tuple[IntArray, FloatArray]:
    """Relevant documents returned, and the (expected) number of judged nonrelevant ones above them,
    at most `cap` above each.
    """
    hits = judged.hits
    relevant = hits.grade >= threshold
    other = nonrelevant_hits(judged, threshold)
    groups = groups_of(hits, tied=tie_order_matters(judged))
    above = mean_capped(groups.above(other), groups.within(other), cap[groups.query], judged.ties)
    query = hits.query[relevant]
    returned = np.bincount(query, minlength=judged.n_queries)
    return returned, judged.sum_by_query(query, above[groups.of[relevant]])


class GMBpref(Bpref):
    """Geometric mean of binary preference over queries; sensitive to changes in the hardest
    queries.

    ``GMBpref = (product over the n queries of max(Bpref, 0.00001))^(1/n)``, in [0, 1]; per query it
    is `Bpref`.

    Parameters
    ----------
    rel, no_relevant
        As for `Bpref`.

    References
    ----------
    trec_eval, measure ``gm_bpref``; Robertson (2006), On GMAP: and other transformations, CIKM.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 1}}
    >>> round(
    ...     ir.evaluate(qrels, {"q1": ["a", "b", "c"], "q2": ["a"]}, [ir.GMBpref()]).mean()[
    ...         "GMBpref"
    ...     ],
    ...     12,
    ... )
    0.707106781187
    """

    name: ClassVar[str] = "GMBpref"
    aggregate: ClassVar = "geometric"
    summary: ClassVar[str] = "geometric mean of Bpref over queries"
    use: ClassVar[str] = (
        "Choose it beside Bpref when queries that fail badly matter more than those that do well "
        "already. Not with few queries: one at 0 pulls it down however the others do."
    )
    proof: ClassVar[str] = "trec_eval 10 and 9 to their 4 printed decimals on real runs"

    @property
    def trec_name(self) -> str:
        """``gm_bpref``."""
        return self.trec_binary("gm_bpref", "gm_bpref")


class InfAP(NeedsRelevant):
    """Inferred average precision: AP estimated from a random sample of the pool that was judged.

    ``infAP = (1 / R) sum over returned relevant documents at ranks k of [1 + p (r + e) / (r + n +
    2e)] / k``, in [0, 1], with p pooled documents above rank k, of which r are relevant and n
    judged nonrelevant, and e = 0.00001. A grade below 0 marks a document as pooled but not judged.
    Except for e it equals AP if every returned document is in the pool and judged.

    Parameters
    ----------
    rel, no_relevant
        As for `Bpref`.

    Notes
    -----
    Best and worst tie orders put relevant documents first or last. The expected value over tie
    orders costs up to n j steps for a tie of n documents, of which j are judged.

    References
    ----------
    Yilmaz and Aslam (2006), Estimating average precision with incomplete and imperfect judgments,
    CIKM; trec_eval, measure ``infAP``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": -1, "c": 1}}, {"q": ["a", "b", "c"]}, [ir.InfAP()]).mean()[
    ...     "infAP"
    ... ]
    0.999996666733332
    """

    name: ClassVar[str] = "infAP"
    response: ClassVar[Response] = "upward"
    cuts: ClassVar = "none"
    summary: ClassVar[str] = "AP inferred from a judged sample of the pool"
    use: ClassVar[str] = (
        "Choose it where a uniform sample of the pool was judged and the judgments say which "
        "documents were pooled (grade -1). Not with ordinary judgments: without -1 it is AP, but "
        "for documents outside the pool."
    )
    proof: ClassVar[str] = _PROOF

    def compute(self, judged: Judged) -> PerQuery:
        """Inferred average precision of every query."""
        hits = judged.hits
        relevant = hits.grade >= self.threshold
        other = nonrelevant_hits(judged, self.threshold)
        groups = groups_of(hits, tied=tie_order_matters(judged))
        if judged.ties == "expected":
            terms = expected_terms(groups, relevant, other)
        else:
            terms = inferred_terms(groups, relevant, other, judged.ties)
        values = judged.sum_by_query(hits.query[relevant], terms)
        total = judged.relevant(self.threshold).total
        return self.filled(values / np.maximum(total, 1), total)

    @property
    def trec_name(self) -> str:
        """``infAP``."""
        return self.trec_binary("infAP", "infAP")
