"""Preferences of a group as if it had as many documents of level 0 as above 0 (`PrefsAvgJGRnonrel`)."""

from typing import Literal, TypeAlias

import numpy as np

from idealrank.data.preferences.fulfilment import Among, Counts, Preferred
from idealrank.data.types import BoolArray, FloatArray, IntArray

Surplus: TypeAlias = Literal["printed", "cut"]


def with_as_many_nonrelevant(preferred: Preferred, among: Among, surplus: Surplus) -> Counts:
    """Fulfilled and possible preferences of each group with R documents of level 0.

    Parameters
    ----------
    preferred : Preferred
        The preferences and the ranking.
    among : {"all", "retrieved"}
        Which documents count.
    surplus : {"printed", "cut"}
        What documents of level 0 beyond R do, see `PrefsAvgJGRnonrel`.
    """
    groups, counts = preferred.groups, preferred.counts(among)
    relevant, returned = groups.level > 0, preferred.returned[groups.row]

    def count(which: BoolArray) -> FloatArray:
        return np.bincount(groups.group[which], minlength=preferred.n_groups).astype(np.float64)

    n_relevant, found = count(relevant), count(relevant & returned)
    wanted = n_relevant if among == "all" else found
    present = count(~relevant) if among == "all" else count(~relevant & returned)
    lacking = np.maximum(wanted - present, 0.0)
    fulfilled, possible = counts.fulfilled + found * lacking, counts.possible + n_relevant * lacking
    too_many = (present > wanted) & preferred.complete
    if too_many.any():
        cut = _first_nonrelevant(preferred, wanted, too_many, among)
        beyond = wanted * (present - wanted)
        fulfilled = np.where(too_many, counts.fulfilled - cut.fulfilled + (cut.possible if surplus == "printed" else 0.0), fulfilled)
        possible = np.where(too_many, counts.possible + (wanted**2 if surplus == "printed" else -beyond), possible)
    return Counts(fulfilled, possible)


def _first_nonrelevant(preferred: Preferred, wanted: FloatArray, too_many: BoolArray, among: Among) -> Counts:
    """Of the documents of level 0: fulfilled preferences against those beyond the first R, and pairs in order among the first R.

    Of r relevant and n other documents tied in any order, ``r j / (n + 1)`` relevant ones are expected above the j-th of the others.
    """
    groups, heads = preferred.groups, preferred.heads
    returned = preferred.returned[groups.row]
    chosen = np.flatnonzero(too_many[groups.group] & (returned | (among == "all")))
    head = heads[groups.row[chosen]]
    order = chosen[np.lexsort((head, groups.group[chosen]))]
    group, relevant, seen = groups.group[order], groups.level[order] > 0, returned[order]
    tie = np.cumsum(np.append(True, (np.diff(group) != 0) | (np.diff(heads[groups.row[order]]) != 0)))
    of_group, of_tie = np.searchsorted(group, group), np.searchsorted(tie, tie)

    def above(which: BoolArray, start: IntArray) -> FloatArray:
        total = np.cumsum(which, dtype=np.float64) - which
        before: FloatArray = total - total[start]
        return before

    def tied(which: BoolArray) -> FloatArray:
        size: FloatArray = np.bincount(tie, weights=which)[tie].astype(np.float64)
        return size

    place = above(~relevant, of_group)
    first = ~relevant & (place < wanted[group])
    found = relevant & seen
    expected = above(found, of_group)[of_tie] + tied(found) * (above(~relevant, of_tie) + 1) / (tied(~relevant) + 1)
    lost = np.where(~relevant & ~first, expected, 0.0)
    within = np.where(first, above(first & seen, of_group), 0.0)
    n = preferred.n_groups
    lost_of, within_of = (np.bincount(group, weights=which, minlength=n).astype(np.float64) for which in (lost, within))
    return Counts(lost_of, within_of)
