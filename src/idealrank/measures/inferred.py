"""The terms of inferred average precision: one for each returned relevant document, under every tie policy."""

from typing import NamedTuple

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.measures.ranks import number_within
from idealrank.measures.states import TieGroups

_EPSILON = 0.00001


def inferred_terms(groups: TieGroups, relevant: BoolArray, other: BoolArray, ties: str) -> FloatArray:
    """Term of each relevant hit, relevant documents of a tie standing first, or last under ``worst``.

    Parameters
    ----------
    groups : TieGroups
        Tie groups of the hits.
    relevant, other : bool array, shape (n_hits,)
        Which hits are relevant, and which are judged and not relevant.
    ties : str
        The tie policy.

    Examples
    --------
    >>> from idealrank.data.hits import Hits
    >>> from idealrank.measures.states import groups_of
    >>> groups = groups_of(Hits(np.array([0, 0]), np.array([1, 4]), np.ones(2)), tied=False)
    >>> inferred_terms(groups, np.array([True, True]), np.array([False, False]), "docid").round(4)
    array([1. , 0.5])
    """
    of = groups.of[relevant]
    everyone = np.ones(relevant.size, bool)
    found, rejected, pooled = (groups.above(marked)[of] for marked in (relevant, other, everyone))
    place = number_within(of) - 1
    rank = groups.first[of] + place
    if ties == "worst":
        inside = groups.within(relevant)
        rank = groups.last[of] - (inside[of] - 1 - place)
        rejected, pooled = rejected + groups.within(other)[of], pooled + (groups.within(everyone) - inside)[of]
    found, pooled = found + place, pooled + place
    return (1.0 + pooled * _share(found, rejected)) / rank


def _share(found: FloatArray | IntArray, rejected: FloatArray | IntArray) -> FloatArray:
    """Share of relevant among judged documents, smoothed."""
    share: FloatArray = (found + _EPSILON) / (found + rejected + 2 * _EPSILON)
    return share


def expected_terms(groups: TieGroups, relevant: BoolArray, other: BoolArray) -> FloatArray:
    """Expected term of each relevant hit over all orders of its tie; one reckoning for all ties of one shape.

    Examples
    --------
    >>> from idealrank.data.hits import Hits
    >>> from idealrank.measures.states import groups_of
    >>> pair = np.array([1, 1]), np.array([2, 2])
    >>> groups = groups_of(Hits(np.array([0, 0]), np.array([1, 2]), np.ones(2), None, *pair), tied=True)
    >>> expected_terms(groups, np.array([True, False]), np.array([False, True])).round(4)
    array([0.75])
    """
    inside, everyone = groups.within(relevant), np.ones(relevant.size, bool)
    wanted = np.flatnonzero(inside)
    shape = _Shape(
        groups.first[wanted] - 1,
        (groups.last - groups.first + 1)[wanted],
        *(groups.above(marked)[wanted] for marked in (relevant, other, everyone)),
        *(groups.within(marked)[wanted] for marked in (relevant, other, everyone)),
    )
    term = np.zeros(inside.size)
    term[wanted] = _mean_terms(shape)
    return term[groups.of[relevant]]


class _Shape(NamedTuple):
    """Ties as their expected terms see them: what stands above each, and how many of its documents are in which state."""

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

    It is equally likely to have 0, 1, ... or all of the other judged documents of the tie above it. Given that number J, how many of
    these are relevant, and how many of the W unjudged documents above it are pooled, do not depend on each other, and each has its
    mean in proportion. So only the mean of 1/rank over W is left to be summed.
    """
    judged = tie.relevant + tie.other
    of = np.repeat(np.arange(judged.size), judged)
    before = np.arange(of.size) - np.repeat(np.cumsum(judged) - judged, judged)
    unjudged = (tie.size - judged)[of]
    start = tie.above[of] + before + 1
    mean_inverse = _mean_inverses(start, before, judged[of] - 1 - before, unjudged)
    found = tie.relevant_above[of] + before * ((tie.relevant - 1) / np.maximum(judged - 1, 1))[of]
    share = (found + _EPSILON) / ((tie.relevant_above + tie.other_above)[of] + before + 2 * _EPSILON)
    # Of the W unjudged ones above, pooled ones in proportion: W / rank = 1 - start / rank.
    rate = (tie.pooled - judged)[of] / np.maximum(unjudged, 1)
    pooled = (tie.pooled_above[of] + before) * mean_inverse + rate * (1.0 - start * mean_inverse)
    total = np.bincount(of, weights=mean_inverse + pooled * share, minlength=judged.size)
    means: FloatArray = total / np.maximum(judged, 1)
    return means


def _mean_inverses(start: IntArray, before: IntArray, after: IntArray, unjudged: IntArray) -> FloatArray:
    """Mean of 1 / (start + W); one reckoning for all that are alike."""
    means: FloatArray = 1.0 / start
    mixed = np.flatnonzero(unjudged)
    if mixed.size:
        rows = np.column_stack((start, before, after, unjudged))[mixed]
        alike, which = np.unique(rows, axis=0, return_inverse=True)
        each = [float(np.sum(_chances(b, a, n) / (s + np.arange(n + 1)))) for s, b, a, n in alike.tolist()]
        means[mixed] = np.array(each)[which.reshape(-1)]
    return means


def _chances(before: int, after: int, n: int) -> FloatArray:
    """Chance that 0, 1, ... n further documents stand above one that has `before` others above it and `after` below."""
    place = np.arange(n)
    steps = np.log((place + before + 1) * (n - place)) - np.log((place + 1.0) * (n - place + after))
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    weight: FloatArray = np.exp(logs - logs.max())
    chance: FloatArray = weight / weight.sum()
    return chance
