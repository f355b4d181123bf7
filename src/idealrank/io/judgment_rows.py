"""Judgments row by row, with all that tools know beside a grade: the assessor, texts, features,
other columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from idealrank.data.qrels import Qrels
from idealrank.data.types import decode_id, encode_id
from idealrank.errors import FileFormatError, InputError
from idealrank.io.checked_cells import shown
from idealrank.io.complaints import Complain, Complaint
from idealrank.io.row_parts import Place, Rows, Table, pack

_NOTHING: Mapping[Any, Any] = MappingProxyType({})
_CHUNK = 1 << 14  # rows whose document ids are Python objects at one time


class JudgmentRow(NamedTuple):
    """One document of one query."""

    # query, document: Ids
    query: str
    document: str
    grade: float | None  # None if the row says that the document is unjudged
    assessor: str = ""  # Empty where no assessor is named
    # query_text, text: Texts of the query and of the document; empty where there are none
    query_text: str = ""
    text: str = ""
    values: Mapping[str, Any] = _NOTHING  # Other columns, by name
    features: Mapping[int, float] = _NOTHING  # By number
    place: Place = ("", 0)  # Of the row, for messages


@dataclass(kw_only=True)
class JudgmentSheet:
    """A file of judgments."""

    rows: Iterator[JudgmentRow]  # In the order of the file; can be read once
    columns: Sequence[str] = ()  # Names of other columns
    features: Sequence[int] = ()  # Numbers of features
    # has_assessors, has_query_texts, has_texts: Whether any row has one
    has_assessors: bool = False
    has_query_texts: bool = False
    has_texts: bool = False
    texts_are_ids: bool = False  # The format names a query by its text
    # What the file holds and no row has, by kind of loss: an example of each piece
    lost: dict[str, list[str]] = field(default_factory=dict)


def sheet_of(
    rows: list[JudgmentRow],
    *,
    texts_are_ids: bool = False,
    lost: dict[str, list[str]] | None = None,
) -> JudgmentSheet:
    """Make a sheet of rows that are in memory."""
    columns: dict[str, None] = {}  # a set in the order of first use
    features: set[int] = set()
    for row in rows:
        columns |= dict.fromkeys(row.values)
        features |= row.features.keys()
    return JudgmentSheet(
        rows=iter(rows),
        columns=list(columns),
        features=sorted(features),
        has_assessors=any(row.assessor for row in rows),
        has_query_texts=any(row.query_text for row in rows),
        has_texts=any(row.text for row in rows),
        texts_are_ids=texts_are_ids,
        lost=lost or {},
    )


def rows_of_qrels(qrels: Qrels) -> Iterator[JudgmentRow]:
    """Yield the rows of judgments that the kernel holds, some at a time."""
    table = qrels.table
    ends = qrels.offsets[1:].tolist()
    place = 0
    ids = table.query_ids()
    query = decode_id(ids[0]) if ids else ""
    for first in range(0, qrels.n_judgments, _CHUNK):
        rows = np.arange(first, min(first + _CHUNK, qrels.n_judgments))
        documents = table.document_ids(rows)
        grades = qrels.grades[rows].tolist()
        for row, document, grade in zip(rows.tolist(), documents, grades, strict=True):
            # the next query with rows; some queries may have none
            if row >= ends[place]:
                place = next(number for number in range(place + 1, len(ends)) if row < ends[number])
                query = decode_id(ids[place])
            yield JudgmentRow(query, decode_id(document), grade)


class SeenPairs:
    """Pairs of query and document that were seen, for each assessor.

    Examples
    --------
    >>> complaints = []
    >>> pairs = SeenPairs(complaints.append)
    >>> (
    ...     pairs.is_new(JudgmentRow("q", "d", 1.0)),
    ...     pairs.is_new(JudgmentRow("q", "d", 0.0, place=("a.csv", 3))),
    ... )
    (True, False)
    >>> print(complaints[0])
    a.csv:3: found document "d" a second time for query "q", expected each document once for a query
    """

    def __init__(self, complain: Complain) -> None:
        self._complain = complain
        self._seen: set[tuple[str, str, str]] = set()

    def is_new(self, row: JudgmentRow) -> bool:
        """Return whether the pair was not seen before."""
        key = (row.query, row.document, row.assessor)
        if key not in self._seen:
            self._seen.add(key)
            return True
        problem = f"document {shown(row.document)} a second time for query {shown(row.query)}"
        expected = "each document once for a query"
        if row.assessor:
            problem += f" by {shown(row.assessor)}"
            expected += " and assessor"
        self._complain(Complaint("second-judgment", *row.place, problem, expected))
        return False


def judgments_only(path: str, table: Table, what: str) -> None:
    """Refuse a file of judgments where a run is read."""
    if table == "run":
        raise FileFormatError(
            path, 0, f"{what}, which are judgments", "a run", "judgments come first, then runs"
        )


def one_grade_each(path: str, rows: Sequence[JudgmentRow]) -> Rows:
    """Return the judged rows as columns, for evaluation; refuse several assessors of a document."""
    graded = [row for row in rows if row.grade is not None]
    if len({(row.query, row.document) for row in graded}) < len(graded):
        assessors = dict.fromkeys(row.assessor for row in graded)
        names = ", ".join(repr(name) for name in assessors if name)
        raise InputError(
            f"{path}: found grades by several assessors ({names}), expected one grade for a "
            f"document",
            hint="convert the file first: convert(..., assessors=), with mean or the name of one "
            "of them",
            command_hint="use `idealrank convert --aggregate mean`, or the name of one of them",
        )
    values = np.array([row.grade for row in graded], np.float64)
    return Rows(
        queries=pack([row.query for row in graded]),
        documents=pack([row.document for row in graded]),
        values=values,
        place=lambda row: graded[row].place,
    )


def valid_text(value: Any) -> str:
    r"""Return a text as UTF-8 can hold it: half surrogate pairs become question marks; empty for
    lists, objects, booleans and None.

    Examples
    --------
    >>> valid_text("a\ud800"), valid_text(None), valid_text(7)
    ('a?', '', '7')
    """
    if value is None or isinstance(value, bool | list | tuple | dict):
        return ""
    text = str(value)
    try:
        encode_id(text)
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
