"""Measures for incomplete judgments: preferences among judged documents, and average precision
inferred from a judged sample.

Inferred average precision has a term for each returned relevant document, under every tie policy.
"""

from typing import ClassVar, NamedTuple

import numpy as np

from idealrank.data.judged import Judged, Rectangle
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
    groups: TieGroups, relevant: BoolArray, nonrelevant: BoolArray, ties: str
) -> FloatArray:
    """Term of each relevant hit, relevant documents of a tie standing first, or last under
    ``worst``.
    """
    group = groups.group[relevant]
    every_hit = np.ones(relevant.size, bool)
    relevant_above = groups.above(relevant)[group]
    rejected = groups.above(nonrelevant)[group]
    pooled = groups.above(every_hit)[group]
    place = number_within(group) - 1
    rank = groups.first[group] + place
    if ties == "worst":
        n_relevant = groups.within(relevant)
        rank = groups.last[group] - (n_relevant[group] - 1 - place)
        rejected = rejected + groups.within(nonrelevant)[group]
        pooled = pooled + (groups.within(every_hit) - n_relevant)[group]
    relevant_above = relevant_above + place
    pooled = pooled + place
    return (1.0 + pooled * _share(relevant_above, rejected)) / rank


def _share(relevant: FloatArray | IntArray, rejected: FloatArray | IntArray) -> FloatArray:
    """Share of relevant among judged documents, smoothed."""
    share: FloatArray = (relevant + _EPSILON) / (relevant + rejected + 2 * _EPSILON)
    return share


def expected_terms(groups: TieGroups, relevant: BoolArray, nonrelevant: BoolArray) -> FloatArray:
    """Expected term of each relevant hit over all orders of its tie."""
    n_relevant = groups.within(relevant)
    every_hit = np.ones(relevant.size, bool)
    with_relevant = np.flatnonzero(n_relevant)
    shape = _Shape(
        above=groups.first[with_relevant] - 1,
        size=(groups.last - groups.first + 1)[with_relevant],
        relevant_above=groups.above(relevant)[with_relevant],
        other_above=groups.above(nonrelevant)[with_relevant],
        pooled_above=groups.above(every_hit)[with_relevant],
        relevant=n_relevant[with_relevant],
        other=groups.within(nonrelevant)[with_relevant],
        pooled=groups.within(every_hit)[with_relevant],
    )
    term = np.zeros(n_relevant.size)
    term[with_relevant] = _mean_terms(shape)
    return term[groups.group[relevant]]


class _Shape(NamedTuple):
    """Ties as their expected terms need them: numbers of documents above each tie and in it, by
    state; shape (n_ties,). Pooled documents are judged or have a grade below 0.
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
    group = np.repeat(np.arange(judged.size), judged)
    before = np.arange(group.size) - np.repeat(np.cumsum(judged) - judged, judged)
    unjudged = (tie.size - judged)[group]
    start = tie.above[group] + before + 1
    mean_inverse = _mean_inverses(start, before, judged[group] - 1 - before, unjudged)
    relevant_above = (
        tie.relevant_above[group] + before * ((tie.relevant - 1) / np.maximum(judged - 1, 1))[group]
    )
    judged_above = (tie.relevant_above + tie.other_above)[group] + before
    share = (relevant_above + _EPSILON) / (judged_above + 2 * _EPSILON)
    # Of the W documents of the tie above it that are not judged, the pooled ones are a fixed share
    # in the mean. With rank = start + W, W / rank = 1 - start / rank.
    rate = (tie.pooled - judged)[group] / np.maximum(unjudged, 1)
    pooled = (tie.pooled_above[group] + before) * mean_inverse + rate * (1.0 - start * mean_inverse)
    total = np.bincount(group, weights=mean_inverse + pooled * share, minlength=judged.size)
    means: FloatArray = total / np.maximum(judged, 1)
    return means


def _mean_inverses(
    start: IntArray, before: IntArray, after: IntArray, unjudged: IntArray
) -> FloatArray:
    """Mean of 1 / (start + W), W = unjudged documents above; computed once for equal arguments."""
    means: FloatArray = 1.0 / start
    mixed = np.flatnonzero(unjudged)
    if mixed.size:
        rows = np.column_stack((start, before, after, unjudged))[mixed]
        shapes, shape_of_row = np.unique(rows, axis=0, return_inverse=True)
        distinct_means = []
        for first_rank, n_before, n_after, n in shapes.tolist():
            ranks = first_rank + np.arange(n + 1)
            distinct_means.append(float(np.sum(_chances(n_before, n_after, n) / ranks)))
        means[mixed] = np.array(distinct_means)[shape_of_row.reshape(-1)]
    return means


def _chances(before: int, after: int, n: int) -> FloatArray:
    """Chance that 0, 1, ... n further documents stand above one that has `before` others above it
    and `after` below.
    """
    # P(w) ~ C(before + w, w) C(after + n - w, n - w): the orders with w above and n - w below.
    # `steps` are logarithms of P(w + 1) / P(w).
    place = np.arange(n)
    steps = np.log((place + before + 1) * (n - place)) - np.log((place + 1.0) * (n - place + after))
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    weight: FloatArray = np.exp(logs - logs.max())
    chance: FloatArray = weight / weight.sum()
    return chance


# Lists of one length are held as a matrix and counted block by block, in whole numbers. The arrays
# of a block, with twenty documents in each list, fit the second-level cache.
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
    for first in range(0, n, _BLOCK):
        rows = slice(first, min(first + _BLOCK, n))
        relevant[rows], wrong[rows], cap[rows] = _block(rectangle, rows, threshold, ties)
    return relevant, wrong, cap


def _block(
    rectangle: Rectangle, rows: slice, threshold: float, ties: str
) -> tuple[IntArray, FloatArray, IntArray]:
    # with a row for each rank, additions take numbers that lie together
    grades = np.ascontiguousarray(rectangle.grades[rows].T)
    is_relevant = grades >= threshold
    other = (grades < threshold) & (grades >= 0)
    other_upto = np.cumsum(other, axis=0, dtype=np.int64)
    relevant: IntArray = is_relevant.sum(axis=0, dtype=np.int64)
    cap = np.zeros_like(relevant)
    if other_upto.size:
        cap = np.minimum(relevant, other_upto[-1])
    wrong = np.zeros(relevant.size)
    if rectangle.ties is not None and ties != "input":
        begin, end = np.searchsorted(rectangle.ties.query, [rows.start, rows.stop])
        members = rectangle.ties.part(slice(int(begin), int(end)))
        place = members.rank - 1, members.query - rows.start
        tied = _TiedMembers(
            row=members.query - rows.start,
            is_head=members.rank == members.tie_first,
            is_relevant=is_relevant[place],
            is_other=other[place],
            other_upto=other_upto[place],
        )
        wrong += _within_ties(tied, cap, ties)
        is_relevant[place] = False
    for n_above, counted in zip(other_upto, is_relevant, strict=True):
        wrong += np.minimum(n_above, cap) * counted
    return relevant, wrong, cap


class _TiedMembers(NamedTuple):
    """Members of ties, group after group, shape (n_members,)."""

    row: IntArray
    is_head: BoolArray  # first of its group
    # is_relevant, is_other: state: relevant, or judged nonrelevant
    is_relevant: BoolArray
    is_other: BoolArray
    other_upto: IntArray  # nonrelevant documents of the list down to its rank


def _within_ties(members: _TiedMembers, cap: IntArray, ties: str) -> FloatArray:
    """Compute the contribution of tied relevant documents to each row."""
    group = np.cumsum(members.is_head) - 1
    heads = np.flatnonzero(members.is_head)
    n_relevant = np.bincount(group[members.is_relevant], minlength=heads.size)
    n_other = np.bincount(group[members.is_other], minlength=heads.size)
    row = members.row[heads]
    n_above = members.other_upto[heads] - members.is_other[heads]
    added = n_relevant * mean_capped(n_above, n_other, cap[row], ties)
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
        running = np.cumsum(other)
        starts = np.searchsorted(hits.query, hits.query)
        above = (running - running[starts] + other[starts])[relevant]
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
    return returned, judged.sum_by_query(query, above[groups.group[relevant]])


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
