"""Preference judgments: levels of documents in judgment groups and their sub-groups."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np

from idealrank.data.alignment import Alignment
from idealrank.data.assessors import (
    AssessorQrels,
    JudgmentColumns,
    JudgmentGroups,
    Nesting,
    Refuse,
    refuse_plainly,
    refuse_twice,
    tabulate,
)
from idealrank.data.judged import Judged
from idealrank.data.qrels import Qrels, fingerprint_of_groups
from idealrank.data.ranked_preferences import (
    PreferencePairs,
    Preferred,
    dense_levels,
    possible_pairs,
)
from idealrank.data.segments import heads
from idealrank.data.types import BoolArray, FloatArray, IntArray, QueryIds, decode_id

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
        # shape (n, n): whether the row's document is above the column's, or equal to it
        self._above = np.zeros((n, n), bool)
        self._equal = np.zeros((n, n), bool)
        # shape (n,): whether a sub-group so far has the document, and gives it level 0
        self._seen = np.zeros(n, bool)
        self._zero = np.zeros(n, bool)

    def add(self, places: IntArray) -> None:
        """Take in one sub-group, given by its rows within the group."""
        local, levels = self._local[places], self._levels[places]
        self._refuse_other_relevance(places)
        self._seen[local] = True
        self._zero[local] = levels == 0

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

    def _refuse_other_relevance(self, places: IntArray) -> None:
        """Refuse a level of 0 in one sub-group and above 0 in another."""
        local, levels = self._local[places], self._levels[places]
        changed = self._seen[local] & (self._zero[local] != (levels == 0))
        if not changed.any():
            return
        place = int(np.flatnonzero(changed)[0])
        other_level = "above 0" if levels[place] == 0 else "0"
        self._refuse(
            int(self._source[places[place]]),
            f"level {levels[place]:g} for document {self._name(local[place])}, whose level is "
            f"{other_level} in another sub-group",
            "a document relevant (above 0) or not (0) in all of a group",
            _HINT,
        )

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
    _given: tuple[
        JudgmentGroups, IntArray
    ]  # every level that was given, and its sub-group's number

    def __init__(
        self,
        levels: Mapping[str, Mapping[str, "Levels | Sequence[Levels]"]],
        *,
        name: str = "preferences",
    ) -> None:
        columns, parts = _NESTING.columns(levels)
        self._take_columns(
            columns, [b"%d" % part for part in parts], refuse_plainly(name, columns), name, ()
        )

    @classmethod
    def from_columns(
        cls,
        columns: JudgmentColumns,
        subgroups: Sequence[bytes],
        refuse: Refuse,
        *,
        name: str = "preferences",
        paths: Sequence[str] = (),
    ) -> "PreferenceQrels":
        """Return preferences from the columns of a reader.

        Parameters
        ----------
        columns : JudgmentColumns
            The judgments.
        subgroups : sequence of bytes
            Sub-group of each judgment.
        refuse : callable
            Raises the error of a judgment.
        name : str
            Name used in messages.
        paths : sequence of str
            The files.

        Examples
        --------
        >>> columns = JudgmentColumns(
        ...     queries=[b"q", b"q"],
        ...     groups=[b"ann", b"ann"],
        ...     documents=[b"a", b"b"],
        ...     levels=np.array([1.0, 0.0]),
        ... )
        >>> PreferenceQrels.from_columns(
        ...     columns, [b"0", b"0"], refuse_plainly("preferences", columns)
        ... ).n_preferences
        1
        """
        self = cls.__new__(cls)
        self._take_columns(columns, subgroups, refuse, name, tuple(paths))
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

    def _take_columns(
        self,
        columns: JudgmentColumns,
        subgroups: Sequence[bytes],
        refuse: Refuse,
        name: str,
        paths: tuple[str, ...],
    ) -> None:
        negative = np.flatnonzero(columns.levels < 0)
        if negative.size:
            refuse(
                int(negative[0]),
                f"level {columns.levels[negative[0]]:g}",
                "a level of 0 or more",
                "only the order of the levels counts",
            )
        # The table says of a document only whether one assessor or more call it relevant: policies
        # for grades are not meant for levels.
        table, groups = tabulate(columns, lambda best: (best > 0).astype(np.float64), refuse)
        # Sub-groups are numbered over all groups, in order of appearance.
        numbers: dict[tuple[int, bytes], int] = {}
        part = np.empty(groups.group.size, np.int64)
        for place, (group, row) in enumerate(
            zip(groups.group.tolist(), groups.source.tolist(), strict=True)
        ):
            part[place] = numbers.setdefault((group, subgroups[row]), len(numbers))
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
        self.name = name
        self.paths = paths

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
    """Each document of a group once, with the highest of its levels: where a group has several
    sub-groups, its levels are only asked whether they are above 0.
    """
    order = np.lexsort((-groups.level, groups.row, groups.group))
    highest = np.sort(order[heads(groups.group[order], groups.row[order])])
    return replace(
        groups,
        group=groups.group[highest],
        row=groups.row[highest],
        level=groups.level[highest],
        source=groups.source[highest],
    )
