"""Preferences of judgment groups held against one ranking, and their counts.

A preference is fulfilled when the preferred document is returned, and the other stands below it or
is not returned. Two documents that are both not returned fulfil nothing. A group with one sub-group
orders all its documents, and its preferences are counted without listing them; groups of several
sub-groups have theirs listed.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from idealrank.data.assessors import JudgmentGroups, query_of_row
from idealrank.data.judged import Judged
from idealrank.data.qrels import Qrels
from idealrank.data.segments import heads, starts_of
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError


@dataclass(frozen=True, eq=False)
class PreferencePairs:
    """Preferences one by one."""

    # better, worse: shape (n,): rows of the preferred document and of the other
    better: IntArray
    worse: IntArray
    group: IntArray  # shape (n,): whose preference it is

    @classmethod
    def none(cls) -> "PreferencePairs":
        """No preferences."""
        empty = np.zeros(0, np.int64)
        return cls(empty, empty, empty)

    @classmethod
    def joined(cls, several: "list[PreferencePairs]") -> "PreferencePairs":
        """Several of them as one."""
        if not several:
            return cls.none()
        return cls(
            better=np.concatenate([pairs.better for pairs in several]),
            worse=np.concatenate([pairs.worse for pairs in several]),
            group=np.concatenate([pairs.group for pairs in several]),
        )

    def where(self, mask: BoolArray) -> "PreferencePairs":
        """Some of them."""
        return PreferencePairs(self.better[mask], self.worse[mask], self.group[mask])


def dense_levels(group: IntArray, level: FloatArray) -> IntArray:
    """Levels numbered from 0 within each group, in their order."""
    order = np.lexsort((level, group))
    dense = np.empty(order.size, np.int64)
    dense[order] = np.cumsum(heads(group[order], level[order])) - 1
    if order.size:
        lowest = np.full(int(group.max()) + 1, order.size)
        np.minimum.at(lowest, group, dense)
        dense -= lowest[group]
    return dense


def possible_pairs(group: IntArray, dense: IntArray, n_groups: int) -> IntArray:
    """Pairs of different levels in each group, shape (n_groups,)."""
    size = np.bincount(group, minlength=n_groups)
    _, first, count = np.unique(
        group * (dense.max(initial=0) + 1) + dense, return_index=True, return_counts=True
    )
    equal = np.zeros(n_groups, np.int64)
    np.add.at(equal, group[first], count * (count - 1) // 2)
    pairs: IntArray = size * (size - 1) // 2 - equal
    return pairs


def falling_pairs(group: IntArray, dense: IntArray, n_groups: int) -> IntArray:
    """Pairs of each group in which the level of the earlier row is higher, shape (n_groups,).

    Bit by bit from the top: of two levels that agree above a bit and differ in it, the one with the
    bit set is higher.
    """
    falling = np.zeros(n_groups, np.int64)
    for bit in reversed(range(int(dense.max(initial=0)).bit_length())):
        prefix = dense >> (bit + 1)
        segment = group * (prefix.max(initial=0) + 1) + prefix
        order = np.argsort(segment, kind="stable")
        is_set = (dense[order] >> bit) & 1
        set_before = np.cumsum(is_set) - is_set
        sorted_segment = segment[order]
        head = np.searchsorted(sorted_segment, sorted_segment)
        # Each row without the bit is the lower one of a pair with every row before it that has it.
        np.add.at(falling, group[order], (set_before - set_before[head]) * (1 - is_set))
    return falling


def list_pairs(group: IntArray, row: IntArray, level: FloatArray) -> PreferencePairs:
    """The preferences of groups that order all their documents, one by one."""
    order = np.lexsort((-level, group))
    group, row, level = group[order], row[order], level[order]
    if not group.size:
        return PreferencePairs.none()
    starts = starts_of(group, level)
    ends = np.append(starts[1:], group.size)
    lower = np.repeat(ends, ends - starts)
    n_lower = np.searchsorted(group, group, side="right") - lower
    better = np.repeat(np.arange(group.size), n_lower)
    # Of each preferred document, the rows from `lower` to the end of its group.
    number = np.arange(better.size) - np.repeat(np.cumsum(n_lower) - n_lower, n_lower)
    worse = np.repeat(lower, n_lower) + number
    return PreferencePairs(row[better], row[worse], group[better])


Among: TypeAlias = Literal["all", "retrieved", "implied"]
_FAR = np.iinfo(np.int64).max  # rank of a document that is not returned


@dataclass(frozen=True, eq=False)
class Counts:
    """Preferences of each group, float64 arrays of shape (n_groups,); under expected ties a tied
    pair is half fulfilled.
    """

    fulfilled: FloatArray
    possible: FloatArray


class Preferred:
    """Preferences held against one ranking: the ranks of their documents, and what they fulfil."""

    def __init__(
        self,
        documents: Qrels,
        groups: JudgmentGroups,
        complete: BoolArray,
        pairs: PreferencePairs,
        judged: Judged,
    ) -> None:
        self.groups = groups
        self.complete = complete
        self._pairs = pairs
        self._judged = judged
        self._query_of_row = query_of_row(documents, judged)
        self.query = np.full(len(groups.names), -1, np.int64)
        np.maximum.at(self.query, groups.group, self._query_of_row[groups.row])
        self._counts: dict[Among, Counts] = {}

    @property
    def n_groups(self) -> int:
        """Number of groups, including queries that do not count."""
        return self.query.size

    @cached_property
    def _hit_rows(self) -> IntArray:
        rows = self._judged.hits.document
        return np.zeros(0, np.int64) if rows is None else rows

    @cached_property
    def returned(self) -> BoolArray:
        """Mask of the returned documents, shape (n_documents,)."""
        returned = np.zeros(self._query_of_row.size, bool)
        returned[self._hit_rows] = True
        return returned

    @cached_property
    def ranks(self) -> tuple[IntArray, ...]:
        """Rank of each document; where ties are averaged, also with every tie in reverse: the mean
        of the two orders fulfils each tied pair by half.
        """
        hits, ties = self._judged.hits, self._judged.ties
        if (
            hits.tie_first is None
            or hits.tie_last is None
            or not (hits.tie_first < hits.tie_last).any()
        ):
            return (self._by_row(hits.rank),)
        if ties in ("best", "worst"):
            raise OptionError(
                f"ties={ties}: found tied scores; contradictory preferences have no order that is "
                f"{ties} for all of them; choose ties=docid, docid-ascending, input or expected",
                switch="ties=docid",
            )
        if ties != "expected":
            return (self._by_row(hits.rank),)
        return self._by_row(hits.rank), self._by_row(hits.tie_first + hits.tie_last - hits.rank)

    @cached_property
    def tie_heads(self) -> IntArray:
        """First rank of the tie of each document where ties are averaged; else its own rank."""
        first = self._judged.hits.tie_first
        return self.ranks[0] if first is None or len(self.ranks) == 1 else self._by_row(first)

    def _by_row(self, rank: IntArray) -> IntArray:
        by_row = np.full(self._query_of_row.size, _FAR)
        # Written from the last hit up: of a document listed twice the first rank stays.
        by_row[self._hit_rows[::-1]] = rank[::-1]
        return by_row

    def counts(self, among: Among) -> Counts:
        """Preferences of each group, counted once."""
        if among not in self._counts:
            self._counts[among] = self._count(among)
        return self._counts[among]

    def _count(self, among: Among) -> Counts:
        if among == "implied":
            # All but the pairs of two documents that are not returned, which fulfil nothing.
            without_hit = self._possible(
                ~self.returned[self.groups.row], ~self._counting(self._pairs, "implied")
            )
            all_pairs = self.counts("all")
            return Counts(all_pairs.fulfilled, all_pairs.possible - without_hit)
        members = (
            np.ones(self.groups.row.size, bool)
            if among == "all"
            else self.returned[self.groups.row]
        )
        pairs = self.chosen(self._pairs, among)
        fulfilled = [self._fulfilled(members, pairs, rank) for rank in self.ranks]
        return Counts(
            sum(fulfilled, np.zeros(self.n_groups)) / len(fulfilled),
            self._possible(members, self._counting(self._pairs, among)),
        )

    def _possible(self, members: BoolArray, listed: BoolArray) -> FloatArray:
        chosen = members & self.complete[self.groups.group]
        counted = possible_pairs(self.groups.group[chosen], self._dense[chosen], self.n_groups)
        n_listed = np.bincount(self._pairs.group[listed], minlength=self.n_groups)
        return (counted + n_listed).astype(np.float64)

    def _fulfilled(self, members: BoolArray, pairs: PreferencePairs, rank: IntArray) -> FloatArray:
        chosen = np.flatnonzero(members & self.complete[self.groups.group])
        # Documents not returned come last, lowest level first: so no pair of them is in order.
        chosen = chosen[np.lexsort((self._dense[chosen], rank[self.groups.row[chosen]]))]
        counted = falling_pairs(self.groups.group[chosen], self._dense[chosen], self.n_groups)
        in_order = rank[pairs.better] < rank[pairs.worse]
        listed = np.bincount(pairs.group[in_order], minlength=self.n_groups)
        return (counted + listed).astype(np.float64)

    @cached_property
    def _dense(self) -> IntArray:
        return dense_levels(self.groups.group, self.groups.level)

    def _counting(self, pairs: PreferencePairs, among: Among) -> BoolArray:
        """Mask of the pairs that count."""
        better = self.returned[pairs.better]
        worse = self.returned[pairs.worse]
        return {
            "all": np.ones(better.size, bool),
            "retrieved": better & worse,
            "implied": better | worse,
        }[among]

    def chosen(self, pairs: PreferencePairs, among: Among) -> PreferencePairs:
        """Pairs that count."""
        return pairs if among == "all" else pairs.where(self._counting(pairs, among))

    def by_query(self, of_group: FloatArray) -> FloatArray:
        """Sum over the groups of each query, shape (n_queries,)."""
        counts = self.query >= 0
        return self._judged.sum_by_query(self.query[counts], of_group[counts])

    @cached_property
    def groups_by_query(self) -> FloatArray:
        """Number of groups of each query, shape (n_queries,)."""
        return self.by_query(np.ones(self.n_groups))

    @cached_property
    def contested(self) -> PreferencePairs:
        """Every preference, one by one, of the queries that have several groups."""
        several = np.zeros(self.n_groups, bool)
        counts = self.query >= 0
        several[counts] = self.groups_by_query[self.query[counts]] > 1
        members = (several & self.complete)[self.groups.group]
        listed = list_pairs(
            self.groups.group[members], self.groups.row[members], self.groups.level[members]
        )
        return PreferencePairs.joined([listed, self._pairs.where(several[self._pairs.group])])
