"""Sums of gain x weight, where the weight of a rank depends on nothing that was found: over hits, or fast over lists of one length."""

from collections.abc import Callable

import numpy as np

from idealrank.data.hits import Hits, Rectangle
from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray
from idealrank.measures.cutoffs import Cutoff
from idealrank.measures.discounts import Discount, RankDiscount
from idealrank.measures.ranks import hit_weights, tie_weights
from idealrank.measures.rectangle import GainFunction, sum_rows, sum_tied_rows


def weighted_gains(
    judged: Judged, gain: Callable[[FloatArray], FloatArray], discount: RankDiscount, cutoff: Cutoff | None
) -> FloatArray:  # fmt: skip
    """Sum of gain x discount over the ranks of each query, shape (n_queries,); of the expected discount where ties are averaged.

    Examples
    --------
    >>> from idealrank.data.alignment import Alignment
    >>> from idealrank.data.align import align
    >>> from idealrank.data.qrels import Qrels
    >>> from idealrank.data.run import Run
    >>> judged = align(Qrels({"q": {"a": 3}}), Run({"q": ["b", "a"]}), Alignment())
    >>> weighted_gains(judged, lambda grades: grades, RankDiscount("half", lambda rank: 0.5**rank), None)
    array([0.75])
    """
    rectangle = judged.rectangle
    if rectangle is None or not is_deep_enough(judged, cutoff):
        gains = gain(judged.hits.grade)
        return judged.sum_by_query(judged.hits.query, gains * hit_weights(judged, judged.hits, gains, discount, cutoff))
    width = rectangle.grades.shape[1]
    rank = np.arange(1, (min(width, cutoff) if isinstance(cutoff, int) else width) + 1)
    weights = discount.at(rank, rank)
    return sum_rectangle(judged, rectangle, gain, weights, discount, cutoff)


def sum_rectangle(
    judged: Judged, rectangle: Rectangle, gain: GainFunction, weights: FloatArray, discount: Discount, cutoff: Cutoff | None
) -> FloatArray:  # fmt: skip
    """Sum of gain x weight over the rows of a rectangle of lists, ties weighed as the convention says.

    Examples
    --------
    >>> from idealrank.data.alignment import Alignment
    >>> from idealrank.data.lists import Lists, judge_lists
    >>> judged, half = judge_lists(Lists.from_arrays([[1, 0]], [[2, 1]]), Alignment()), RankDiscount("half", lambda rank: 0.5**rank)
    >>> sum_rectangle(judged, judged.rectangle, lambda grades: grades, np.array([0.5, 0.25]), half, None)
    array([0.5])
    """
    if rectangle.ties is None or judged.ties == "input":
        return sum_rows(rectangle.grades, gain, weights)

    def weigh(members: Hits, gains: FloatArray) -> FloatArray:
        if judged.ties == "expected":
            return tie_weights(judged, members, discount, cutoff)
        return hit_weights(judged, members, gains, discount, cutoff)

    return sum_tied_rows(rectangle.grades, rectangle.ties, gain, weights, weigh)


def is_deep_enough(judged: Judged, cutoff: Cutoff | None) -> bool:
    """Return whether the rectangle of some lists holds every rank within the cutoff.

    Examples
    --------
    >>> from idealrank.data.alignment import Alignment
    >>> from idealrank.data.lists import Lists, judge_lists
    >>> is_deep_enough(judge_lists(Lists.from_arrays([1, 0], [2, 1]), Alignment()), 10)
    True
    """
    if judged.rectangle is None:
        return False
    if judged.depth == 0:
        return cutoff is None or isinstance(cutoff, int)
    return isinstance(cutoff, int) and cutoff <= max(judged.rectangle.grades.shape[1], judged.depth)
