"""Best swap of two documents of one list, found exactly without trying all pairs.

Two documents trade places: rank and, where ties are averaged, tie group. Nothing else moves.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.measures.terms import RelevantGroups

Term: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
Pair: TypeAlias = tuple[int, int]


def best_swap_of_gains(gains: FloatArray, weights: FloatArray, term: Term) -> Pair | None:
    """The swap that raises a sum of terms of gain and weight most.

    Documents of one gain differ in their weights alone, so for each pair of gains the two sides of
    the swap can be chosen apart: the work is n times the number of different gains, not n squared.
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
        # Members of this gain that take another gain, and members of other gains that take this
        # one.
        given = term(gain[starts][None, :], weight[start:end, None]) - now[start:end, None]
        taken = np.maximum.reduceat(term(np.full(gain.size, gain[start]), weight) - now, starts)
        sums = given.max(axis=0) + taken
        other = int(np.argmax(sums))
        if sums[other] > best + 1e-15:
            best = float(sums[other])
            members = slice(int(starts[other]), int(ends[other]))
            change = (
                term(np.full(ends[other] - starts[other], gain[start]), weight[members])
                - now[members]
            )
            pair = (
                int(kept[start + int(np.argmax(given[:, other]))]),
                int(kept[members.start + int(np.argmax(change))]),
            )
    return None if pair is None else (min(pair), max(pair))


def _worth_trying(gains: FloatArray, weights: FloatArray) -> IntArray:
    """All documents with weight, and of those without (below the cutoff) the one of the highest
    gain.
    """
    counted = np.flatnonzero(weights)
    below = np.flatnonzero(weights == 0)
    return np.append(counted, below[np.argmax(gains[below])]) if below.size else counted


Worth: TypeAlias = Callable[[RelevantGroups], FloatArray]


def best_swap_of_relevant(groups: RelevantGroups, relevant: BoolArray, worth: Worth) -> Pair | None:
    """The swap of a relevant document with one above it that is not relevant, that raises the value
    most.
    """
    if groups.size.size < 2:
        return None
    now = worth(groups)
    up = np.where(groups.relevant < groups.size, worth(groups.changed(relevant=1)) - now, -np.inf)
    down = np.where(
        groups.relevant > 0, worth(groups.changed(relevant=-1, before=1)) - now, -np.inf
    )
    between = np.cumsum(worth(groups.changed(before=1)) - now)
    reach = up - between
    total = np.maximum.accumulate(reach)[:-1] + between[:-1] + down[1:]
    lower = int(np.argmax(total)) + 1
    if not total[lower - 1] > 1e-15:
        return None
    upper = int(np.argmax(reach[:lower]))
    owner = groups.owner
    return int(np.flatnonzero((owner == upper) & ~relevant)[0]), int(
        np.flatnonzero((owner == lower) & relevant)[0]
    )
