"""Judgments of several assessors: the grades that each judgment group gave, and what they make of
one ranking.

`Nesting` reads nested mappings of groups; its errors name the query, group and document.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeAlias

import numpy as np

from idealrank import _kernel
from idealrank.data.alignment import Alignment
from idealrank.data.judged import Alignments, Hits, Judged, Judgments
from idealrank.data.policies import apply_grade_policies, ideal_grades, name_row
from idealrank.data.qrels import Qrels, fingerprint_of_groups
from idealrank.data.types import BoolArray, FloatArray, IntArray, QueryIds, decode_id, encode_id
from idealrank.errors import InputError


class _NestedJudgment(NamedTuple):
    """One judgment of a nested mapping."""

    query: bytes
    group: bytes
    part: int  # Number of the sub-group in its group
    document: bytes
    level: float


@dataclass(frozen=True, kw_only=True)
class Nesting:
    """Nesting of one kind of judgments."""

    what: str  # What messages call the judgments
    # group, level: What a message calls a group and a level
    group: str
    level: str
    shape: str  # The whole mapping, as it should be
    in_parts: bool = False  # Whether a group may be a sequence of sub-groups

    def columns(self, judgments: Any) -> "tuple[JudgmentColumns, list[int]]":
        """Return the columns of all judgments of a mapping, and the sub-group of each judgment."""
        rows = list(self._nested(judgments))
        columns = JudgmentColumns(
            queries=[row.query for row in rows],
            groups=[row.group for row in rows],
            documents=[row.document for row in rows],
            levels=np.array([row.level for row in rows], np.float64),
        )
        return columns, [row.part for row in rows]

    def _nested(self, judgments: Any) -> Iterator[_NestedJudgment]:
        for query, groups in self._items(judgments, self.what, self.shape):
            in_query = f"{self.what}: query {query!r}"
            query_id = self._id(query, in_query)
            for group, levels in self._items(groups, in_query, f"{{{self.group}: ...}}"):
                in_group = f"{in_query}, {self.group} {group!r}"
                group_id = self._id(group, in_group)
                for part, document_id, level in self._judged(levels, in_group):
                    yield _NestedJudgment(
                        query=query_id, group=group_id, part=part, document=document_id, level=level
                    )

    def _judged(self, levels: Any, in_group: str) -> Iterator[tuple[int, bytes, float]]:
        """Yield sub-group, document and level of each judgment of a group."""
        for part, grades in enumerate(self._parts(levels)):
            for document, level in self._items(grades, in_group, self._shape_of_group):
                in_document = f"{in_group}, document {document!r}"
                yield part, self._id(document, in_document), self._number(level, in_document)

    @property
    def _shape_of_group(self) -> str:
        shape = f"{{document: {self.level}}}"
        return f"{shape} or a sequence of such" if self.in_parts else shape

    def _parts(self, levels: Any) -> Sequence[Any]:
        several = (
            self.in_parts and isinstance(levels, Sequence) and not isinstance(levels, (str, bytes))
        )
        return levels if several else [levels]

    def _items(self, table: Any, where: str, expected: str) -> Iterator[tuple[Any, Any]]:
        if not isinstance(table, Mapping):
            whole = "" if expected == self.shape else f"; the whole is {self.shape}"
            raise InputError(f"{where}: found {type(table).__name__}, expected {expected}{whole}")
        yield from table.items()

    @staticmethod
    def _id(value: Any, where: str) -> bytes:
        if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            return b"%d" % int(value)
        if not isinstance(value, (str, bytes)):
            raise InputError(f"{where}: found {type(value).__name__} as an id, expected text")
        try:
            identifier = value if isinstance(value, bytes) else encode_id(value)
        except UnicodeEncodeError:
            raise InputError(
                f"{where}: found an id with half a surrogate pair, expected text that has a "
                f"UTF-8 form"
            ) from None
        if not identifier:
            raise InputError(f"{where}: found an empty id, expected at least one character")
        return identifier

    def _number(self, value: Any, where: str) -> float:
        try:
            if not isinstance(value, (str, bytes)):
                return float(value)
        except (TypeError, ValueError):
            pass
        except OverflowError:
            raise InputError(
                f"{where}: found a {self.level} above the largest float (1.8e308), expected a "
                f"finite number"
            ) from None
        raise InputError(
            f"{where}: found {type(value).__name__}, expected a number as {self.level}"
        )


# Raises the error of a judgment, which names its place in the input. The arguments: number of the
# judgment from 0, what was found, what was expected, and a hint.
Refuse: TypeAlias = Callable[[int, str, str, str], NoReturn]

_NESTING = Nesting(
    what="assessors",
    group="assessor",
    level="grade",
    shape="{query: {assessor: {document: grade}}}",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgmentGroups:
    """Judgments by group, in columns, group after group."""

    query: IntArray  # shape (n_groups,): query of each group: its number in the table of documents
    names: tuple[str, ...]  # Name of each group; two queries may have groups of one name
    # group, row: shape (n,): group and document (row of the table) of each judgment
    group: IntArray
    row: IntArray
    level: FloatArray  # shape (n,): the grade or level given
    source: IntArray  # shape (n,): which row of the input this was

    def judgments(
        self, documents: Qrels, part: IntArray
    ) -> Iterator[tuple[tuple[bytes, bytes, int], bytes, float]]:
        """Each judgment with its names, as fingerprints take them; `part` is the sub-group of
        each.
        """
        names = list(map(encode_id, self.names))
        table = documents.table
        ids = table.query_ids()
        rows = table.document_ids(self.row)
        queries = [ids[query] for query in self.query.tolist()]
        for group, subgroup, document, level in zip(
            self.group.tolist(), part.tolist(), rows, self.level.tolist(), strict=True
        ):
            yield (queries[group], names[group], subgroup), document, level


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgmentColumns:
    """Judgments in the order of the input, in columns of one length; ids are bytes."""

    queries: Sequence[bytes]
    groups: Sequence[bytes]
    documents: Sequence[bytes]
    levels: FloatArray


def tabulate(
    columns: JudgmentColumns, table_value: Callable[[FloatArray], FloatArray], refuse: Refuse
) -> tuple[_kernel.Table, JudgmentGroups]:
    """Return a table of all judged documents by query, and the judgments by group.

    `table_value` turns the highest levels of documents into their values in the table.
    """
    unfit = np.flatnonzero(~np.isfinite(columns.levels))
    if unfit.size:
        refuse(int(unfit[0]), f"level {columns.levels[unfit[0]]}", "a finite number", "")
    query_codes: dict[bytes, int] = {}
    group_codes: dict[tuple[int, bytes], int] = {}
    document_codes: dict[tuple[int, bytes], int] = {}
    group = np.empty(columns.levels.size, np.int64)
    document = np.empty(columns.levels.size, np.int64)
    for number, (query_id, group_id, document_id) in enumerate(
        zip(columns.queries, columns.groups, columns.documents, strict=True)
    ):
        query = query_codes.setdefault(query_id, len(query_codes))
        group[number] = group_codes.setdefault((query, group_id), len(group_codes))
        document[number] = document_codes.setdefault((query, document_id), len(document_codes))

    # Codes are in the order of first appearance, and rows of the table in the order of the queries.
    query_ids = list(query_codes)
    documents = list(document_codes)  # (code of the query, document id)
    highest = np.full(len(documents), -np.inf)
    np.maximum.at(highest, document, columns.levels)
    table_order = np.argsort([query for query, _ in documents], kind="stable")
    row_of_document = np.empty(len(documents), np.int64)
    row_of_document[table_order] = np.arange(len(documents))
    documents_of_table = [documents[code] for code in table_order.tolist()]
    table = _kernel.from_columns(
        [query_ids[query] for query, _ in documents_of_table],
        [document_id for _, document_id in documents_of_table],
        table_value(highest[table_order]),
    )

    order = np.argsort(group, kind="stable")
    group_query = np.array([query for query, _ in group_codes], np.int64)
    group_names = tuple(decode_id(name) for _, name in group_codes)
    return table, JudgmentGroups(
        query=group_query,
        names=group_names,
        group=group[order],
        row=row_of_document[document[order]],
        level=columns.levels[order],
        source=order,
    )


def refuse_plainly(what: str, columns: JudgmentColumns) -> Refuse:
    """Name a row by its ids, for judgments that come from no file."""

    def refuse(row: int, problem: str, expected: str, hint: str) -> NoReturn:
        ids = (
            decode_id(column[row])
            for column in (columns.queries, columns.groups, columns.documents)
        )
        query, group, document = map(repr, ids)
        where = f"{what}: query {query}, group {group}, document {document}"
        raise InputError(
            f"{where}: found {problem}, expected {expected}" + (f"; {hint}" if hint else "")
        )

    return refuse


class AssessorQrels:
    """Grades by query, assessor (or group of assessors) and document; immutable.

    Measures of several assessors (``AP_avgjg``, ``P_avgjg``, ``Rprec_mult_avgjg``) are computed
    with the grades of each assessor and averaged.

    Parameters
    ----------
    grades : mapping
        ``{query: {assessor: {document: grade}}}``; grades become float64 and must be finite.
    name : str
        Name used in messages.

    Raises
    ------
    InputError
        A grade is not finite, or the mapping is nested differently.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = ir.AssessorQrels({"q1": {"ann": {"d1": 1, "d2": 0}, "ben": {"d2": 1}}})
    >>> qrels.n_queries, qrels.assessors, qrels.of("ben")["q1"]
    (1, ('ann', 'ben'), {'d2': 1.0})
    >>> ir.evaluate(qrels, {"q1": ["d1", "d2"]}, "AP_avgjg").mean()["AP_avgjg"]
    0.75
    """

    kind: ClassVar[str] = "assessors"  # what measures call it that need it

    def __init__(
        self, grades: Mapping[str, Mapping[str, Mapping[str, float]]], *, name: str = "assessors"
    ) -> None:
        columns, _ = _NESTING.columns(grades)
        self._take(columns, refuse_plainly(name, columns), name, ())

    @classmethod
    def from_columns(
        cls,
        columns: JudgmentColumns,
        refuse: Refuse,
        *,
        name: str = "assessors",
        paths: Sequence[str] = (),
    ) -> "AssessorQrels":
        """Return judgments from the columns of a reader.

        Parameters
        ----------
        columns : JudgmentColumns
            The judgments.
        refuse : callable
            Raises the error of a judgment.
        name : str
            Name used in messages.
        paths : sequence of str
            The files.

        Examples
        --------
        >>> columns = JudgmentColumns(
        ...     queries=[b"q"], groups=[b"ann"], documents=[b"d"], levels=np.ones(1)
        ... )
        >>> AssessorQrels.from_columns(columns, refuse_plainly("assessors", columns)).assessors
        ('ann',)
        """
        self = cls.__new__(cls)
        self._take(columns, refuse, name, tuple(paths))
        return self

    def _take(
        self, columns: JudgmentColumns, refuse: Refuse, name: str, paths: tuple[str, ...]
    ) -> None:
        table, self.groups = tabulate(columns, lambda best: best, refuse)
        refuse_twice(self.groups, self.groups.group, refuse)
        self.documents = Qrels.from_table(table, name=name, paths=paths)
        self.name = name
        self.paths = paths

    def joined(self, align: Callable[[Alignment], Judged], alignment: Alignment) -> Judged:
        """Join a run to the documents of all assessors, and add each assessor's view.

        Parameters
        ----------
        align : callable
            Joins the run to `documents` under an alignment.
        alignment : Alignment
            As asked for.
        """
        judged = align(alignment)
        judged.beside["assessors"] = ByAssessor(self, judged, alignment)
        return judged

    @property
    def assessors(self) -> tuple[str, ...]:
        """Names of the assessors, or of the groups, in order of first appearance."""
        return tuple(dict.fromkeys(self.groups.names))

    @property
    def queries(self) -> QueryIds:
        """Query ids in order of first appearance."""
        return self.documents.queries

    @property
    def n_queries(self) -> int:
        """Number of judged queries."""
        return self.documents.n_queries

    @property
    def n_judgments(self) -> int:
        """Number of judgments: a document judged by two assessors counts twice."""
        return int(self.groups.level.size)

    @property
    def grades(self) -> FloatArray:
        """All grades, shape (n_judgments,), group after group."""
        return self.groups.level

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all (query, assessor, document, grade), in any order; see `Qrels.fingerprint`."""
        return fingerprint_of_groups(
            b"grades", self.groups.judgments(self.documents, self.groups.group)
        )

    def of(self, assessor: str) -> Qrels:
        """Return the judgments of one assessor.

        Raises
        ------
        KeyError
            No assessor has this name.

        Examples
        --------
        >>> AssessorQrels({"q1": {"ann": {"d1": 2}}}).of("ann")["q1"]
        {'d1': 2.0}
        """
        is_theirs = np.array([name == assessor for name in self.groups.names], bool)
        if not is_theirs.any():
            raise KeyError(assessor)
        chosen = np.flatnonzero(is_theirs[self.groups.group])
        chosen = chosen[np.argsort(self.groups.row[chosen], kind="stable")]
        rows = self.groups.row[chosen]
        ids = self.documents.table.query_ids()
        query = np.searchsorted(self.documents.offsets, rows, side="right") - 1
        queries = [ids[i] for i in query.tolist()]
        documents = self.documents.table.document_ids(rows)
        return Qrels.from_columns(
            queries, documents, self.groups.level[chosen], name=f"{self.name} of {assessor}"
        )

    def __repr__(self) -> str:
        return (
            f"AssessorQrels({self.name!r}: {self.n_queries} queries, {len(self.assessors)} "
            f"assessors, {self.n_judgments:,} judgments)"
        )


def refuse_twice(groups: JudgmentGroups, unit: IntArray, refuse: Refuse) -> None:
    """Refuse a document that one unit (a group, or a part of it) judges twice."""
    order = np.lexsort((groups.source, groups.row, unit))
    same = (unit[order][1:] == unit[order][:-1]) & (groups.row[order][1:] == groups.row[order][:-1])
    if same.any():
        second = int(groups.source[order][1:][same].min())
        refuse(
            second,
            "a document a second time in one group",
            "each document once",
            "remove one of the two",
        )


class ByAssessor:
    """One alignment seen by each group: a `Judged` whose queries are pairs of query and group."""

    def __init__(self, qrels: AssessorQrels, judged: Judged, alignment: Alignment) -> None:
        self._qrels = qrels
        self._judged = judged
        self._alignment = alignment

    @cached_property
    def _query_of_row(self) -> IntArray:
        """Query code of each document's row; -1 where its query does not count."""
        return query_of_row(self._qrels.documents, self._judged)

    @cached_property
    def _query_of_group(self) -> IntArray:
        """Query code of each group; -1 where its query does not count."""
        groups = self._qrels.groups
        query = np.full(len(groups.names), -1, np.int64)
        np.maximum.at(query, groups.group, self._query_of_row[groups.row])
        return query

    @cached_property
    def query(self) -> IntArray:
        """Query code of each group that counts, shape (n_groups,)."""
        return self._query_of_group[self._query_of_group >= 0]

    @cached_property
    def judged(self) -> Judged:
        """The run joined to each group's judgments; every list comes once for each group of its
        query.
        """
        whole, groups = self._judged, self._qrels.groups
        query = self.query
        counting_groups = self._query_of_group >= 0
        number = np.cumsum(counting_groups) - 1  # of each group, among those that count
        documents = self._qrels.documents
        graded = apply_grade_policies(
            groups.level, self._alignment, lambda place: name_row(documents, int(groups.row[place]))
        )
        counts = self._query_of_row[groups.row] >= 0
        kept = np.flatnonzero(counts if graded.removed is None else counts & ~graded.removed)
        group = number[groups.group[kept]]
        grade = graded.grades[kept]
        level = groups.level[kept]
        hits = _hits_of_groups(whole, group, groups.row[kept], grade, documents.n_judgments)
        counters = whole.alignments
        n_judged = np.bincount(hits.query, minlength=query.size)
        # A convention that refuses unjudged documents has done so when the run was aligned.
        none_refused = np.zeros(query.size, np.int64)
        return Judged(
            queries=QueryIds(query.size, lambda: [whole.queries[code] for code in query.tolist()]),
            ties=whole.ties,
            lengths=whole.lengths[query],
            returned=whole.returned[query],
            hits=lambda: hits,
            ideal=lambda: ideal_grades(group, grade, query.size),
            alignments=Alignments(
                tied=counters.tied[query],
                duplicates=counters.duplicates[query],
                first_unjudged=none_refused,
                judged=n_judged,
                straddling=counters.straddling[query],
            ),
            scope=whole.scope,
            depth=whole.depth,
            judgments=lambda: Judgments(group, grade, level),
        )

    def mean_by_query(self, values: FloatArray, scored: BoolArray) -> tuple[FloatArray, BoolArray]:
        """Mean over the groups of each query that count, shape (n_queries,), and which queries have
        any.
        """
        query = self.query[scored]
        n_queries = self._judged.n_queries
        n_groups = np.bincount(query, minlength=n_queries)
        sums = self._judged.sum_by_query(query, values[scored])
        return sums / np.maximum(n_groups, 1), n_groups > 0


def _hits_of_groups(
    whole: Judged, group: IntArray, row: IntArray, grade: FloatArray, n_rows: int
) -> Hits:
    """The hits that each group judged: the judgments of a document are found at every place where
    it was returned.
    """
    if whole.hits.document is None:
        raise InputError("assessors: found arrays, expected a run with document ids")
    # Judgments are in the order of their documents; `starts` has the first judgment of each.
    by_row = np.argsort(row, kind="stable")
    starts = np.searchsorted(row[by_row], np.arange(n_rows + 1))
    sizes = np.diff(starts)[whole.hits.document]
    hit = np.repeat(np.arange(sizes.size), sizes)
    within = np.arange(hit.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    entry = by_row[starts[whole.hits.document[hit]] + within]  # place of a judgment
    order = np.lexsort((whole.hits.rank[hit], group[entry]))
    hit = hit[order]
    entry = entry[order]
    first, last = (
        None if column is None else column[hit]
        for column in (whole.hits.tie_first, whole.hits.tie_last)
    )
    return Hits(
        query=group[entry],
        rank=whole.hits.rank[hit],
        grade=grade[entry],
        document=None,
        tie_first=first,
        tie_last=last,
    )


def query_of_row(documents: Qrels, judged: Judged) -> IntArray:
    """Query code of each row of a table of documents; -1 where its query does not count."""
    codes = {query_id: code for code, query_id in enumerate(judged.queries)}
    code_of = np.array([codes.get(query_id, -1) for query_id in documents.queries], np.int64)
    return np.repeat(code_of, np.diff(documents.offsets))
