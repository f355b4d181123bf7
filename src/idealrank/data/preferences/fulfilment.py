"""Preferences held against one ranking: how many there are in each judgment group, and how many the ranking fulfils.

A preference is fulfilled when the preferred document is returned, and the other stands below it or is not returned. Two documents
that are both not returned fulfil nothing. A group with one sub-group orders all its documents, and its preferences are counted
without listing them; groups of several sub-groups have theirs listed.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from idealrank.data.assessors import JudgmentGroups, query_of_row
from idealrank.data.judged import Judged
from idealrank.data.preferences.preference_pairs import PreferencePairs, dense_levels, falling_pairs, list_pairs, possible_pairs
from idealrank.data.qrels import Qrels
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError

Among: TypeAlias = Literal["all", "retrieved", "implied"]
_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Counts:
    """Preferences of each group, float64 arrays of shape (n_groups,); under expected ties a tied pair is half fulfilled."""

    fulfilled: FloatArray
    possible: FloatArray


class Preferred:
    """The documents of the preferences, each with its rank, and what that fulfils.

    Parameters
    ----------
    documents : Qrels
        All documents that preferences name.
    groups : JudgmentGroups
        Each document of each group once.
    complete : bool array, shape (n_groups,)
        Which groups order all their documents.
    pairs : PreferencePairs
        The preferences of the other groups.
    judged : Judged
        The run joined to `documents`.

    Attributes
    ----------
    groups, complete
        As given.
    query : int64 array, shape (n_groups,)
        Query code of each group; -1 where its query does not count.
    returned : bool array, shape (n_documents,)
        Which documents the run returned.
    """

    def __init__(self, documents: Qrels, groups: JudgmentGroups, complete: BoolArray, pairs: PreferencePairs, judged: Judged) -> None:
        self.groups, self.complete, self._pairs, self._judged = groups, complete, pairs, judged
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
        """Rank of each document; where ties are averaged, also in the order that turns every tie round.

        A tied pair is in order in exactly one of the two, so of everything that is a sum over pairs the mean over both is the mean
        over all orders. Documents that were not returned have a rank beyond all others.

        Raises
        ------
        OptionError
            Scores tie, and the best or worst order is asked for.
        """
        hits, ties = self._judged.hits, self._judged.ties
        if hits.tie_first is None or hits.tie_last is None or not (hits.tie_first < hits.tie_last).any():
            return (self._by_row(hits.rank),)
        if ties in ("best", "worst"):
            raise OptionError(
                f"ties={ties}: found tied scores; preferences that contradict each other leave no order that is {ties} for all of them, "
                "choose ties=docid, docid-ascending, input or expected",
                switch="ties=docid",
            )
        if ties != "expected":
            return (self._by_row(hits.rank),)
        return self._by_row(hits.rank), self._by_row(hits.tie_first + hits.tie_last - hits.rank)

    @cached_property
    def heads(self) -> IntArray:
        """First rank of the tie that each document may stand anywhere in; its own rank where ties are not averaged."""
        first = self._judged.hits.tie_first
        return self.ranks[0] if first is None or len(self.ranks) == 1 else self._by_row(first)

    def _by_row(self, rank: IntArray) -> IntArray:
        by_row = np.full(self._query_of_row.size, _FAR)
        # Of a document listed twice the first place counts.
        by_row[self._hit_rows[::-1]] = rank[::-1]
        return by_row

    def counts(self, among: Among) -> Counts:
        """Preferences of each group, counted once.

        Parameters
        ----------
        among : {"all", "retrieved", "implied"}
            All preferences; preferences with both documents returned; or with at least one.
        """
        if among not in self._counts:
            self._counts[among] = self._count(among)
        return self._counts[among]

    def _count(self, among: Among) -> Counts:
        if among == "implied":
            lost = self._possible(~self.returned[self.groups.row], ~self._either())
            whole = self.counts("all")
            return Counts(whole.fulfilled, whole.possible - lost)
        members = np.ones(self.groups.row.size, bool) if among == "all" else self.returned[self.groups.row]
        pairs = self.chosen(self._pairs, among)
        found = [self._fulfilled(members, pairs, rank) for rank in self.ranks]
        return Counts(sum(found, np.zeros(self.n_groups)) / len(found), self._possible(members, self._kept(self._pairs, among)))

    def _possible(self, members: BoolArray, listed: BoolArray) -> FloatArray:
        chosen = members & self.complete[self.groups.group]
        counted = possible_pairs(self.groups.group[chosen], self._dense[chosen], self.n_groups)
        return (counted + np.bincount(self._pairs.group[listed], minlength=self.n_groups)).astype(np.float64)

    def _fulfilled(self, members: BoolArray, pairs: PreferencePairs, rank: IntArray) -> FloatArray:
        chosen = np.flatnonzero(members & self.complete[self.groups.group])
        # Documents not returned come last, lowest level first: so no pair of them is in order.
        chosen = chosen[np.lexsort((self._dense[chosen], rank[self.groups.row[chosen]]))]
        counted = falling_pairs(self.groups.group[chosen], self._dense[chosen], self.n_groups)
        listed = np.bincount(pairs.group[rank[pairs.better] < rank[pairs.worse]], minlength=self.n_groups)
        return (counted + listed).astype(np.float64)

    @cached_property
    def _dense(self) -> IntArray:
        return dense_levels(self.groups.group, self.groups.level)

    def _either(self) -> BoolArray:
        return self._kept(self._pairs, "implied")

    def _kept(self, pairs: PreferencePairs, among: Among) -> BoolArray:
        better, worse = self.returned[pairs.better], self.returned[pairs.worse]
        return {"all": np.ones(better.size, bool), "retrieved": better & worse, "implied": better | worse}[among]

    def chosen(self, pairs: PreferencePairs, among: Among) -> PreferencePairs:
        """Pairs that count."""
        return pairs if among == "all" else pairs.where(self._kept(pairs, among))

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
        listed = list_pairs(self.groups.group[members], self.groups.row[members], self.groups.level[members])
        return PreferencePairs.joined([listed, self._pairs.where(several[self._pairs.group])])
