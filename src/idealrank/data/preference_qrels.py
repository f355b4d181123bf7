"""Preference judgments: pairs of documents with the preferred one, in judgment groups and their
sub-groups, held against one ranking.

A preference is fulfilled when the preferred document is returned, and the other stands below it or
is not returned. Two documents that are both not returned fulfil nothing. A group with one sub-group
orders all its documents, and its preferences are counted without listing them; groups of several
sub-groups have theirs listed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from idealrank.data.alignment import Alignment
from idealrank.data.assessors import (
    AssessorQrels,
    JudgmentGroups,
    JudgmentRows,
    Nesting,
    Refuse,
    query_of_row,
    refuse_plainly,
    refuse_twice,
    tabulate,
)
from idealrank.data.judged import Judged
from idealrank.data.qrels import Qrels, fingerprint_of_groups
from idealrank.data.segments import heads, starts_of
from idealrank.data.types import BoolArray, FloatArray, IntArray, QueryIds, decode_id
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
    def joined(cls, parts: "list[PreferencePairs]") -> "PreferencePairs":
        """Several lists as one."""
        if not parts:
            return cls.none()
        return cls(
            better=np.concatenate([part.better for part in parts]),
            worse=np.concatenate([part.worse for part in parts]),
            group=np.concatenate([part.group for part in parts]),
        )

    def where(self, kept: BoolArray) -> "PreferencePairs":
        """Some of them."""
        return PreferencePairs(self.better[kept], self.worse[kept], self.group[kept])


def dense_levels(group: IntArray, level: FloatArray) -> IntArray:
    """Levels numbered from 0 within each group, in their order."""
    order = np.lexsort((level, group))
    dense = np.empty(order.size, np.int64)
    dense[order] = np.cumsum(heads(group[order], level[order])) - 1
    if order.size:
        least = np.full(int(group.max()) + 1, order.size)
        np.minimum.at(least, group, dense)
        dense -= least[group]
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

    Bit by bit from the top: two levels that agree above a bit and differ in it are a pair in order
    when the one stands before the zero.
    """
    falling = np.zeros(n_groups, np.int64)
    for bit in reversed(range(int(dense.max(initial=0)).bit_length())):
        prefix = dense >> (bit + 1)
        segment = group * (prefix.max(initial=0) + 1) + prefix
        order = np.argsort(segment, kind="stable")
        ones = (dense[order] >> bit) & 1
        before = np.cumsum(ones) - ones
        sorted_segment = segment[order]
        head = np.searchsorted(sorted_segment, sorted_segment)
        np.add.at(falling, group[order], (before - before[head]) * (1 - ones))
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
    size = np.searchsorted(group, group, side="right") - lower
    better = np.repeat(np.arange(group.size), size)
    # Of each preferred document, the rows from `lower` to the end of its group.
    number = np.arange(better.size) - np.repeat(np.cumsum(size) - size, size)
    worse = np.repeat(lower, size) + number
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
    """The documents of the preferences, each with its rank, and what that fulfils."""

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
        """Rank of each document; where ties are averaged, also in the order that turns every tie
        round.
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
    def heads(self) -> IntArray:
        """First rank of the tie that each document may stand anywhere in; its own rank where ties
        are not averaged.
        """
        first = self._judged.hits.tie_first
        return self.ranks[0] if first is None or len(self.ranks) == 1 else self._by_row(first)

    def _by_row(self, rank: IntArray) -> IntArray:
        by_row = np.full(self._query_of_row.size, _FAR)
        # Of a document listed twice the first place counts.
        by_row[self._hit_rows[::-1]] = rank[::-1]
        return by_row

    def counts(self, among: Among) -> Counts:
        """Preferences of each group, counted once."""
        if among not in self._counts:
            self._counts[among] = self._count(among)
        return self._counts[among]

    def _count(self, among: Among) -> Counts:
        if among == "implied":
            lost = self._possible(~self.returned[self.groups.row], ~self._either())
            whole = self.counts("all")
            return Counts(whole.fulfilled, whole.possible - lost)
        members = (
            np.ones(self.groups.row.size, bool)
            if among == "all"
            else self.returned[self.groups.row]
        )
        pairs = self.chosen(self._pairs, among)
        fulfilled = [self._fulfilled(members, pairs, rank) for rank in self.ranks]
        return Counts(
            sum(fulfilled, np.zeros(self.n_groups)) / len(fulfilled),
            self._possible(members, self._kept(self._pairs, among)),
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

    def _either(self) -> BoolArray:
        return self._kept(self._pairs, "implied")

    def _kept(self, pairs: PreferencePairs, among: Among) -> BoolArray:
        better = self.returned[pairs.better]
        worse = self.returned[pairs.worse]
        return {
            "all": np.ones(better.size, bool),
            "retrieved": better & worse,
            "implied": better | worse,
        }[among]

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
        listed = list_pairs(
            self.groups.group[members], self.groups.row[members], self.groups.level[members]
        )
        return PreferencePairs.joined([listed, self._pairs.where(several[self._pairs.group])])


_EXPECTED = "one order within a judgment group"
_HINT = "put contradictory preferences into different groups"


def pairs_of_partial_groups(
    groups: JudgmentGroups, part: IntArray, partial: BoolArray, documents: Qrels, refuse: Refuse
) -> PreferencePairs:
    """All preferences of the groups that have several sub-groups."""
    pairs_of_groups = []
    for group in np.flatnonzero(partial).tolist():
        begin, end = np.searchsorted(groups.group, (group, group + 1)).tolist()
        order = _Order(groups, slice(begin, end), documents, refuse)
        for number in dict.fromkeys(part[begin:end].tolist()):
            order.add(np.flatnonzero(part[begin:end] == number))
        better, worse = np.nonzero(order.closed())
        pairs_of_groups.append(
            PreferencePairs(order.rows[better], order.rows[worse], np.full(better.size, group))
        )
    return PreferencePairs.joined(pairs_of_groups)


class _Order:
    """The order of one group, sub-group by sub-group."""

    def __init__(
        self, groups: JudgmentGroups, span: slice, documents: Qrels, refuse: Refuse
    ) -> None:
        self.rows, self._local = np.unique(groups.row[span], return_inverse=True)
        self._levels: FloatArray = groups.level[span]
        self._source = groups.source[span]
        self._documents, self._refuse = documents, refuse
        n = self.rows.size
        self._above, self._equal = np.zeros((n, n), bool), np.zeros((n, n), bool)
        self._seen, self._zero = np.zeros(n, bool), np.zeros(n, bool)

    def add(self, places: IntArray) -> None:
        """Take in one sub-group, given by its rows within the group."""
        local, levels = self._local[places], self._levels[places]
        changed = self._seen[local] & (self._zero[local] != (levels == 0))
        if changed.any():
            place = int(np.flatnonzero(changed)[0])
            name = self._name(local[place])
            other = "above 0" if levels[place] == 0 else "0"
            problem = (
                f"level {levels[place]:g} for document {name}, whose level is {other} in another "
                f"sub-group"
            )
            self._refuse(
                int(self._source[places[place]]),
                problem,
                "a document relevant (above 0) or not (0) in all of a group",
                _HINT,
            )
        self._seen[local], self._zero[local] = True, levels == 0

        # A pair contradicts another sub-group that orders it the other way, or calls it equal.
        above = levels[:, None] > levels
        equal = (levels[:, None] == levels) & ~np.eye(local.size, dtype=bool)
        block = np.ix_(local, local)
        against = (above & (self._above[block].T | self._equal[block])) | (
            equal & (self._above[block] | self._above[block].T)
        )
        if against.any():
            first, second = np.argwhere(against)[0].tolist()
            relation = "above" if above[first, second] else "level with"
            name = self._name(int(local[first]))
            other = self._name(int(local[second]))
            problem = f"document {name} {relation} {other}, which another sub-group contradicts"
            self._refuse(
                int(max(self._source[places[first]], self._source[places[second]])),
                problem,
                _EXPECTED,
                _HINT,
            )
        self._above[block] |= above
        self._equal[block] |= equal

    def closed(self) -> BoolArray:
        """Transitive closure of the order (Warshall)."""
        above = self._above.copy()
        for middle in range(self.rows.size):
            above |= above[:, middle, None] & above[middle]
        circle = np.argwhere((above & above.T) | (above & self._equal))
        if circle.size:
            first, second = circle[0].tolist()
            names = (
                self._name(first)
                if first == second
                else f"{self._name(first)} and {self._name(second)}"
            )
            last = int(self._source[np.isin(self._local, circle)].max())
            self._refuse(
                last, f"preferences that form a circle through document {names}", _EXPECTED, _HINT
            )
        return above

    def _name(self, local: int) -> str:
        return repr(decode_id(self._documents.table.document_id(int(self.rows[local]))))


Levels: TypeAlias = Mapping[str, float]

_NESTING = Nesting(
    what="preferences",
    group="group",
    level="level",
    shape="{query: {group: {document: level}}}",
    in_parts=True,
)


class PreferenceQrels:
    """Preferences between documents by query, judgment group and sub-group; immutable.

    A judgment group is one person (or one need at one time). Of two documents in one of its
    sub-groups the one with the higher level is preferred; equal levels express no preference. Only
    the order of levels matters, except that level 0 marks a document as not relevant. The
    sub-groups of a group form one partial order: preferences that follow by transitivity count as
    well, and each preference counts once. Groups may contradict each other; a group may not
    contradict itself.

    Parameters
    ----------
    levels : mapping
        ``{query: {group: {document: level}}}``, or with sub-groups ``{query: {group: [{document:
        level}, ...]}}``; levels of 0 or more.
    name : str
        Name used in messages.

    Raises
    ------
    InputError
        A level is negative or not finite, a group contradicts itself, or the mapping is nested
        differently.

    References
    ----------
    trec_eval 10, ``-h -R prefs``; Carterette, Bennett, Chickering and Dumais (2008), Here or there:
    preference judgments for relevance, ECIR.

    Examples
    --------
    >>> import idealrank as ir
    >>> preferences = ir.PreferenceQrels(
    ...     {"q1": {"ann": [{"d1": 3, "d2": 2}, {"d2": 5, "d4": 4}], "ben": {"d2": 1, "d1": 0}}}
    ... )
    >>> preferences.n_queries, preferences.n_groups, preferences.n_preferences
    (1, 2, 4)
    >>> ir.evaluate(preferences, {"q1": ["d1", "d2"]}, "prefs_simp").mean()["prefs_simp"]
    0.75
    """

    kind: ClassVar[str] = "preferences"  # what measures call it that need it
    _given: tuple[JudgmentGroups, IntArray]  # every level that was given, and its sub-group

    def __init__(
        self,
        levels: Mapping[str, Mapping[str, "Levels | Sequence[Levels]"]],
        *,
        name: str = "preferences",
    ) -> None:
        cells, parts = _NESTING.columns(levels)
        self._take_cells(
            cells, [b"%d" % part for part in parts], refuse_plainly(name, cells), name, ()
        )

    @classmethod
    def from_cells(
        cls,
        cells: JudgmentRows,
        subgroups: Sequence[bytes],
        refuse: Refuse,
        *,
        name: str = "preferences",
        paths: Sequence[str] = (),
    ) -> "PreferenceQrels":
        """Preferences that a reader has taken apart.

        Parameters
        ----------
        cells : JudgmentRows
            The rows.
        subgroups : sequence of bytes
            Sub-group of each row.
        refuse : callable
            Raises the error for a row.
        name : str
            Name used in messages.
        paths : sequence of str
            The files.

        Examples
        --------
        >>> cells = JudgmentRows(
        ...     queries=[b"q", b"q"],
        ...     groups=[b"ann", b"ann"],
        ...     documents=[b"a", b"b"],
        ...     levels=np.array([1.0, 0.0]),
        ... )
        >>> PreferenceQrels.from_cells(
        ...     cells, [b"0", b"0"], refuse_plainly("preferences", cells)
        ... ).n_preferences
        1
        """
        self = cls.__new__(cls)
        self._take_cells(cells, subgroups, refuse, name, tuple(paths))
        return self

    @classmethod
    def from_qrels(cls, qrels: "Qrels | AssessorQrels") -> "PreferenceQrels":
        """Convert graded judgments to preferences: of two documents the one with the higher grade
        is preferred.

        Parameters
        ----------
        qrels : Qrels or AssessorQrels
            Judgments; each query, or each query and assessor, becomes a group. A grade below 0
            counts as 0.

        Examples
        --------
        >>> PreferenceQrels.from_qrels(Qrels({"q": {"a": 2, "b": 1, "c": 0, "d": 0}})).n_preferences
        5
        """
        self = cls.__new__(cls)
        if isinstance(qrels, AssessorQrels):
            documents, groups = qrels.documents, qrels.groups
        else:
            documents = qrels
            group = np.repeat(np.arange(qrels.n_queries), np.diff(qrels.offsets))
            row = np.arange(qrels.n_judgments)
            groups = JudgmentGroups(
                query=np.arange(qrels.n_queries),
                names=("0",) * qrels.n_queries,
                group=group,
                row=row,
                level=qrels.grades,
                source=row,
            )
        groups = replace(groups, level=np.maximum(groups.level, 0.0))
        self._given = groups, groups.group
        self._take(
            documents=documents,
            groups=groups,
            complete=np.ones(len(groups.names), bool),
            pairs=PreferencePairs.none(),
            name=qrels.name,
            paths=tuple(qrels.paths),
        )
        return self

    def _take_cells(
        self,
        cells: JudgmentRows,
        subgroups: Sequence[bytes],
        refuse: Refuse,
        name: str,
        paths: tuple[str, ...],
    ) -> None:
        negative = np.flatnonzero(cells.levels < 0)
        if negative.size:
            refuse(
                int(negative[0]),
                f"level {cells.levels[negative[0]]:g}",
                "a level of 0 or more",
                "only the order of the levels counts",
            )
        # The table says of a document only whether one assessor or more call it relevant: policies
        # for grades are not meant for levels.
        table, groups = tabulate(cells, lambda best: (best > 0).astype(np.float64), refuse)
        numbers: dict[tuple[int, bytes], int] = {}
        named = [subgroups[place] for place in groups.source.tolist()]
        pairs = zip(groups.group.tolist(), named, strict=True)
        part = np.array([numbers.setdefault(pair, len(numbers)) for pair in pairs], np.int64)
        refuse_twice(groups, part, refuse)
        group_of_part = np.array([group for group, _ in numbers], np.int64)
        n_parts = np.bincount(group_of_part, minlength=len(groups.names))
        documents = Qrels.from_table(table, name=name, paths=paths)
        partial_pairs = pairs_of_partial_groups(groups, part, n_parts > 1, documents, refuse)
        self._given = groups, part
        self._take(
            documents=documents,
            groups=_once(groups),
            complete=n_parts == 1,
            pairs=partial_pairs,
            name=name,
            paths=paths,
        )

    def _take(
        self,
        documents: Qrels,
        groups: JudgmentGroups,
        complete: BoolArray,
        pairs: PreferencePairs,
        name: str,
        paths: tuple[str, ...],
    ) -> None:
        self.documents = documents
        self.groups = groups
        self.complete = complete
        self.pairs = pairs
        self.name, self.paths = name, paths

    def joined(self, align: Callable[[Alignment], Judged], alignment: Alignment) -> Judged:
        """Join a run to the documents of all groups, and add the preferences among them.

        Levels only order documents, so the policies for grades do not apply.

        Parameters
        ----------
        align : callable
            Joins the run to `documents` under an alignment.
        alignment : Alignment
            As asked for.
        """
        judged = align(replace(alignment, grades="given", negative="zero"))
        judged.beside["preferences"] = Preferred(
            self.documents, self.groups, self.complete, self.pairs, judged
        )
        return judged

    @property
    def queries(self) -> QueryIds:
        """Query ids in order of first appearance."""
        return self.documents.queries

    @property
    def n_queries(self) -> int:
        """Number of queries with preferences."""
        return self.documents.n_queries

    @property
    def n_groups(self) -> int:
        """Number of judgment groups over all queries."""
        return len(self.groups.names)

    @property
    def grades(self) -> FloatArray:
        """All levels, group after group; for a document with several levels in one group, the
        highest.
        """
        return self.groups.level

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all sub-groups with their levels, in any order; see `Qrels.fingerprint`."""
        groups, part = self._given
        return fingerprint_of_groups(b"levels", groups.judgments(self.documents, part))

    @property
    def n_preferences(self) -> int:
        """Number of preferences over all groups, those that follow by transitivity included."""
        within = self.complete[self.groups.group]
        group = self.groups.group[within]
        level = self.groups.level[within]
        counted = possible_pairs(group, dense_levels(group, level), self.n_groups)
        return int(counted.sum()) + self.pairs.group.size

    def __repr__(self) -> str:
        return (
            f"PreferenceQrels({self.name!r}: {self.n_queries} queries, {self.n_groups} groups, "
            f"{self.n_preferences:,} preferences)"
        )


def _once(groups: JudgmentGroups) -> JudgmentGroups:
    """Each document of a group once, with the highest of its levels: of a partial group only level
    0 or not is asked.
    """
    order = np.lexsort((-groups.level, groups.row, groups.group))
    kept = np.sort(order[heads(groups.group[order], groups.row[order])])
    return replace(
        groups,
        group=groups.group[kept],
        row=groups.row[kept],
        level=groups.level[kept],
        source=groups.source[kept],
    )
