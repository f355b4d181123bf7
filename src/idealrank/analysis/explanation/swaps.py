"""What would raise the value of one list: the best swap of two of its documents, found exactly and without trying all pairs.

Two documents trade places: rank and, where ties are averaged, tie group. Nothing else moves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.measures.discounts import make_discount

Term: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
Pair: TypeAlias = tuple[int, int]


def best_swap_of_gains(gains: FloatArray, weights: FloatArray, term: Term) -> Pair | None:
    """The swap that raises a sum of terms of gain and weight most.

    Documents of one gain differ in their weights alone, so for each pair of gains the two sides of the swap can be chosen
    apart: the work is n times the number of different gains, not n squared.

    Parameters
    ----------
    gains, weights : float64 array, shape (n,)
        Of each document in the list.
    term : callable
        What gains add at weights: their product, or that rounded.

    Returns
    -------
    (int, int) or None
        Indices of the two documents, the upper first; None when no swap raises the sum.

    Examples
    --------
    >>> best_swap_of_gains(np.array([0.0, 3.0, 1.0, 2.0]), np.array([1.0, 0.6, 0.5, 0.0]), np.multiply)
    (0, 3)
    """
    kept = _worth_trying(gains, weights)
    if kept.size < 2:
        return None
    gain, weight = gains[kept], weights[kept]
    order = np.argsort(gain, kind="stable")
    kept, gain, weight = kept[order], gain[order], weight[order]
    starts = np.flatnonzero(np.concatenate(([True], gain[1:] != gain[:-1])))
    ends = np.append(starts[1:], gain.size)
    now = term(gain, weight)
    best, pair = 0.0, None
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        # Members of this gain that take another gain, and members of other gains that take this one.
        given = term(gain[starts][None, :], weight[start:end, None]) - now[start:end, None]
        taken = np.maximum.reduceat(term(np.full(gain.size, gain[start]), weight) - now, starts)
        sums = given.max(axis=0) + taken
        other = int(np.argmax(sums))
        if sums[other] > best + 1e-15:
            best = float(sums[other])
            members = slice(int(starts[other]), int(ends[other]))
            change = term(np.full(ends[other] - starts[other], gain[start]), weight[members]) - now[members]
            pair = int(kept[start + int(np.argmax(given[:, other]))]), int(kept[members.start + int(np.argmax(change))])
    return None if pair is None else (min(pair), max(pair))


def _worth_trying(gains: FloatArray, weights: FloatArray) -> IntArray:
    """All documents with weight, and of those without (below the cutoff) the one of the highest gain."""
    counted = np.flatnonzero(weights)
    below = np.flatnonzero(weights == 0)
    return np.append(counted, below[np.argmax(gains[below])]) if below.size else counted


@dataclass(frozen=True)
class Groups:
    """Documents that stand together: tie groups where ties are averaged, single documents where they are not.

    Attributes
    ----------
    start, size : int64 array, shape (n,)
        Ranks above the group, and its documents.
    relevant : int64 array, shape (n,)
        Relevant documents of the group.
    before : int64 array, shape (n,)
        Relevant documents above the group.

    Examples
    --------
    >>> Groups.of(np.array([1, 2, 2]), np.array([1, 3, 3]), np.array([True, False, True])).relevant
    array([1, 1])
    """

    start: IntArray
    size: IntArray
    relevant: IntArray
    before: IntArray

    @classmethod
    def of(cls, first: IntArray, last: IntArray, relevant: BoolArray) -> "Groups":
        """Groups of a list, from the first and last rank of each document's group and its relevance."""
        heads = np.flatnonzero(np.arange(1, first.size + 1) == first)
        counts = np.add.reduceat(relevant.astype(np.int64), heads) if heads.size else np.zeros(0, np.int64)
        return cls(first[heads] - 1, last[heads] - first[heads] + 1, counts, np.cumsum(counts) - counts)

    def changed(self, *, relevant: int = 0, before: int = 0) -> "Groups":
        """Every group by itself with more or fewer relevant documents in it or above it."""
        return Groups(self.start, self.size, self.relevant + relevant, self.before + before)

    @property
    def owner(self) -> IntArray:
        """Group of each document, by rank."""
        return np.repeat(np.arange(self.size.size), self.size)


Worth: TypeAlias = Callable[[Groups], FloatArray]


def precision_sums(groups: Groups, limit: int) -> FloatArray:
    """What each group adds to the sum of precisions at relevant ranks (AP times the number of relevant documents).

    The mean over the orders of a group of n with r relevant, b relevant above it, at ranks s+1 .. s+n, is
    (r/n) sum_{i=s+1..min(s+n, limit)} [b + 1 + (i-s-1)(r-1)/(n-1)] / i.

    Examples
    --------
    >>> precision_sums(Groups.of(np.array([1, 2]), np.array([1, 2]), np.array([False, True])), 10)
    array([0. , 0.5])
    """
    end = groups.start + groups.size
    reached = np.maximum(np.minimum(end, limit), groups.start)
    slope = (groups.relevant - 1) / np.maximum(groups.size - 1, 1)
    harmonic = make_discount("reciprocal").between(groups.start + 1, reached, reached)
    sums = (groups.before + 1 - slope * (groups.start + 1)) * harmonic + slope * (reached - groups.start)
    return np.where(groups.relevant > 0, groups.relevant / groups.size * sums, 0.0)


def first_reciprocals(groups: Groups, limit: int) -> FloatArray:
    """What each group adds to the reciprocal rank: nothing unless it is the first with a relevant document.

    Examples
    --------
    >>> first_reciprocals(Groups.of(np.array([1, 1]), np.array([2, 2]), np.array([False, True])), 10)
    array([0.75])
    """
    worth = np.zeros(groups.size.size)
    for group in np.flatnonzero((groups.before == 0) & (groups.relevant > 0)).tolist():
        start, size, relevant = int(groups.start[group]), int(groups.size[group]), int(groups.relevant[group])
        place = np.arange(1, max(min(size - relevant + 1, limit - start), 0) + 1)
        missed = (size - place[:-1] + 1 - relevant) / np.maximum(size - place[:-1], 1)
        chance = relevant / size * np.concatenate(([1.0], np.cumprod(missed)))[: place.size]
        worth[group] = float((chance / (start + place)).sum())
    return worth


def best_swap_of_relevant(groups: Groups, relevant: BoolArray, worth: Worth) -> Pair | None:
    """The swap of a relevant document with one above it that is not relevant, that raises the value most.

    Moving a relevant document from group q up to group p changes p, the groups between by one more relevant document above
    them, and q: three terms that depend on one group each, so one pass finds the best pair.

    Examples
    --------
    >>> relevant = np.array([False, False, True])
    >>> ranks = np.arange(1, 4)
    >>> best_swap_of_relevant(Groups.of(ranks, ranks, relevant), relevant, lambda groups: precision_sums(groups, 10))
    (0, 2)
    """
    if groups.size.size < 2:
        return None
    now = worth(groups)
    up = np.where(groups.relevant < groups.size, worth(groups.changed(relevant=1)) - now, -np.inf)
    down = np.where(groups.relevant > 0, worth(groups.changed(relevant=-1, before=1)) - now, -np.inf)
    between = np.cumsum(worth(groups.changed(before=1)) - now)
    reach = up - between
    total = np.maximum.accumulate(reach)[:-1] + between[:-1] + down[1:]
    lower = int(np.argmax(total)) + 1
    if not total[lower - 1] > 1e-15:
        return None
    upper = int(np.argmax(reach[:lower]))
    owner = groups.owner
    return int(np.flatnonzero((owner == upper) & ~relevant)[0]), int(np.flatnonzero((owner == lower) & relevant)[0])
