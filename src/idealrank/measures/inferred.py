"""The terms of inferred average precision: one for each returned relevant document, under every tie policy."""

from typing import NamedTuple

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.measures.ranks import number_within
from idealrank.measures.states import Groups

_EPSILON = 0.00001


def inferred_terms(groups: Groups, relevant: BoolArray, other: BoolArray, ties: str) -> FloatArray:
    """Term of each relevant hit, relevant documents of a tie standing first, or last under ``worst``.

    Parameters
    ----------
    groups : Groups
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


def expected_terms(groups: Groups, relevant: BoolArray, other: BoolArray) -> FloatArray:
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
    inside = groups.within(relevant)
    wanted = np.flatnonzero(inside)
    everyone = np.ones(relevant.size, bool)
    above = [groups.above(marked) for marked in (relevant, other, everyone)]
    within = [inside, groups.within(other), groups.within(everyone)]
    columns = np.column_stack([groups.first - 1, groups.last - groups.first + 1, *above, *within])[wanted]
    shapes, which = np.unique(columns, axis=0, return_inverse=True)
    means = np.array([_mean_term(_Shape(*numbers)) for numbers in shapes.tolist()])
    term = np.zeros(inside.size)
    term[wanted] = means[which.reshape(-1)] if means.size else 0.0
    return term[groups.of[relevant]]


class _Shape(NamedTuple):
    """A tie as its expected term sees it: what stands above it, and how many of its documents are in which state."""

    above: int
    size: int
    relevant_above: int
    other_above: int
    pooled_above: int
    relevant: int
    other: int
    pooled: int


def _mean_term(tie: _Shape) -> float:
    """Expected term of a relevant document of a tie.

    It is equally likely to have 0, 1, ... or all of the other judged documents of the tie above it. Given that number J, how many of
    these are relevant, and how many of the W unjudged documents above it are pooled, do not depend on each other, and each has its
    mean in proportion. So only the mean of 1/rank over W is left to be summed.
    """
    judged = tie.relevant + tie.other
    unjudged = tie.size - judged
    rate = (tie.pooled - judged) / unjudged if unjudged else 0.0
    terms = np.empty(judged)
    for before in range(judged):
        start = tie.above + before + 1
        chance = _chances(before, judged - 1 - before, unjudged)
        mean_inverse = float(np.sum(chance / (start + np.arange(unjudged + 1))))
        found = tie.relevant_above + (before * (tie.relevant - 1) / (judged - 1) if judged > 1 else 0.0)
        share = (found + _EPSILON) / (tie.relevant_above + tie.other_above + before + 2 * _EPSILON)
        # Of the W unjudged ones above, pooled ones in proportion: W / rank = 1 - start / rank.
        pooled = (tie.pooled_above + before) * mean_inverse + rate * (1.0 - start * mean_inverse)
        terms[before] = mean_inverse + pooled * share
    return float(np.mean(terms))


def _chances(before: int, after: int, n: int) -> FloatArray:
    """Chance that 0, 1, ... n further documents stand above one that has `before` others above it and `after` below."""
    place = np.arange(n)
    steps = np.log((place + before + 1) * (n - place)) - np.log((place + 1.0) * (n - place + after))
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    weight: FloatArray = np.exp(logs - logs.max())
    chance: FloatArray = weight / weight.sum()
    return chance
