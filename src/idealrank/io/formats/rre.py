"""Ratings of the Rated Ranking Evaluator (RRE), which Quepid exports too."""

from collections.abc import Iterator
from typing import Any

from idealrank.io.checked_cells import check_id, check_number, describe_value, parse_number, shown
from idealrank.io.complaints import Complain, Complaint, Notes
from idealrank.io.formats.nested import broken, load
from idealrank.io.judgment_rows import JudgmentRow, JudgmentSheet, judgments_only, sheet_of
from idealrank.io.row_parts import Block, Blocks, Place, Table
from idealrank.io.sources import Source
from idealrank.io.table_columns import Columns

_PLACEHOLDER = "$query"
_DOCUMENTS = '{document: {"gain": number}}, a list of such, or {gain: [document, ...]}'


def read_rre(
    source: Source, table: Table, _columns: Columns, notes: Notes, complain: Complain
) -> Blocks:
    r"""Read ratings: topics, groups of queries and queries, with ``relevant_documents``."""
    judgments_only(source.path, table, "ratings of RRE")
    return _Ratings(source.path, notes, complain).read(source)


def rre_sheet(source: Source, notes: Notes, complain: Complain) -> JudgmentSheet:
    """Read ratings as rows, documents without a gain among them."""
    ratings = _Ratings(source.path, notes, complain)
    rows = []
    for block in ratings.read(source).blocks:
        judged = zip(block.documents, block.values, strict=True)
        unjudged = ((document, None) for document in ratings.unjudged[block.query])
        rows += [
            JudgmentRow(block.query, document, grade, query_text=block.query, place=block.place)
            for document, grade in (*judged, *unjudged)
        ]
    return sheet_of(rows, texts_are_ids=True, lost=ratings.lost)


_PARTS = ("topics", "query_groups", "queries")  # fields with lists, from the outermost on


PLACEHOLDERS = {"id_field": "id", "index": "", "template": "template.json"}
"""Settings that `idealrank convert` writes, since RRE needs them; the index is the name of the
source.
"""


def _is_ours(fields: dict[str, Any]) -> bool:
    """Return whether the settings are those that `idealrank convert` writes."""
    fixed = {name: value for name, value in PLACEHOLDERS.items() if value}
    are_fixed = all(fields.get(name) == value for name, value in fixed.items())
    return are_fixed and isinstance(fields.get("index"), str)


class _Ratings:
    """Gathers the grades of each query."""

    def __init__(self, path: str, notes: Notes, complain: Complain) -> None:
        self._path = path
        self._notes = notes
        self._complain = complain
        self._placeholder = _PLACEHOLDER
        self._grades: dict[str, dict[str, float]] = {}
        self._blank = 0  # documents without a gain
        self._again = 0  # queries that come again with the same documents
        self.unjudged: dict[str, list[str]] = {}
        self.lost: dict[str, list[str]] = {}

    def read(self, source: Source) -> Blocks:
        """Read all queries of the file."""
        try:
            value = load(source.read())
        except (ValueError, RecursionError) as error:
            self._complain(broken(error, source.path, 0))
            return Blocks()
        if not isinstance(value, tuple):
            self._bad(
                (self._path, 0),
                describe_value(value),
                "an object with topics, query_groups or queries",
            )
            return Blocks()
        placeholder = dict(value).get("query_placeholder") or _PLACEHOLDER
        if not isinstance(placeholder, str):
            self._bad(
                (self._path, 0),
                f"{describe_value(placeholder)} as query_placeholder",
                "the name of a placeholder, such as $query",
            )
            return Blocks()
        self._placeholder = placeholder
        known = (*_PARTS, "relevant_documents", *(PLACEHOLDERS if _is_ours(dict(value)) else ()))
        settings = [name for name in dict(value) if name not in known]
        if settings:
            self.lost["settings"] = settings
        self._walk(dict(value), (self._path, 0), None)
        if self._blank:
            self._notes.inform(f"{self._path}: {self._blank:,} documents have no gain: unjudged")
        if self._again:
            self._notes.inform(
                f"{self._path}: {self._again:,} queries are repeated with the same documents; "
                f"each counts once"
            )
        blocks = [
            Block(
                query=query,
                documents=list(grades),
                values=list(grades.values()),
                place=self._place(query),
            )
            for query, grades in self._grades.items()
        ]
        return Blocks(blocks)

    def _walk(self, fields: dict[str, Any], place: Place, documents: Any) -> None:
        """Walk topics, groups and queries; a query without documents has the group's documents."""
        documents = fields.get("relevant_documents", documents)
        path, _ = place
        for name in _PARTS:
            for number, part in enumerate(_listed(fields.get(name)), 1):
                where = (f"{path}: {name} {number}", 0)
                if not isinstance(part, tuple):
                    self._bad(where, describe_value(part), "an object")
                elif name == "queries":
                    self._take(dict(part), where, documents)
                else:
                    group = dict(part)
                    titles = [group.get(key) for key in ("name", "description")]
                    texts = [title for title in titles if isinstance(title, str)]
                    if texts:
                        self.lost.setdefault("groups", []).append(texts[0])
                    self._walk(group, where, documents)

    def _take(self, fields: dict[str, Any], place: Place, documents: Any) -> None:
        """Take one query."""
        placeholders = fields.get("placeholders")
        texts = dict(placeholders) if isinstance(placeholders, tuple) else {}
        if self._placeholder not in texts:
            hint = 'set "query_placeholder" at the top of the file'
            self._bad(
                place,
                f"placeholders {', '.join(map(repr, texts)) or 'none'}",
                f"{self._placeholder!r}, the text of the query",
                hint,
            )
            return
        query = check_id(texts[self._placeholder])
        if isinstance(query, tuple):
            self._bad(place, f"{query.problem} of a query", query.expected)
            return
        grades: dict[str, float] = {}
        unjudged: list[str] = []
        for document, grade in self._rated(fields.get("relevant_documents", documents), place):
            if grade is None:
                unjudged.append(document)
            elif grades.setdefault(document, grade) != grade:
                self._bad(place, f"document {shown(document)} with two gains", "one gain")
                return
        if self._grades.get(query, grades) != grades:
            self._bad(
                place,
                f"query {shown(query)} again, with other documents",
                "one set of documents for the text of a query",
            )
            return
        if query in self._grades:
            self._again += 1
        self._grades[query] = grades
        self.unjudged[query] = [
            document for document in dict.fromkeys(unjudged) if document not in grades
        ]

    def _rated(self, documents: Any, place: Place) -> Iterator[tuple[str, float | None]]:
        """Yield documents with their gains; None where a document has none."""
        for ratings in documents if isinstance(documents, list) else [documents]:
            if ratings == [] or ratings is None:
                continue
            if not isinstance(ratings, tuple):
                self._bad(place, f"{describe_value(ratings)} as relevant_documents", _DOCUMENTS)
                return
            # {gain: [document, ...]} or {document: gain}, which the value tells apart
            for name, value in ratings:
                if isinstance(value, list):
                    yield from self._of_gain(name, value, place)
                else:
                    yield from self._of_document(name, value, place)

    def _of_gain(
        self, gain: str, documents: list[Any], place: Place
    ) -> Iterator[tuple[str, float | None]]:
        grade = parse_number(gain)
        if not gain.strip():  # Quepid's export of documents without a rating
            self._blank += len(documents)
        elif grade is None or check_number(grade, "qrels") != grade:
            self._bad(place, f"{shown(gain)} as gain", "a finite number")
            return
        for document in documents:
            identifier = check_id(document)
            if isinstance(identifier, tuple):
                self._bad(place, f"{identifier.problem} of a document", identifier.expected)
            else:
                yield identifier, grade

    def _of_document(
        self, document: str, value: Any, place: Place
    ) -> Iterator[tuple[str, float | None]]:
        gain = dict(value).get("gain") if isinstance(value, tuple) else value
        identifier = check_id(document)
        if gain is None:
            self._blank += 1
            if not isinstance(identifier, tuple):
                yield identifier, None
            return
        grade = check_number(gain, "qrels")
        if isinstance(grade, tuple):
            self._bad(place, f"{grade.problem} of document {shown(document)}", _DOCUMENTS)
        elif isinstance(identifier, tuple):
            self._bad(place, f"{identifier.problem} of a document", identifier.expected)
        else:
            yield identifier, grade

    def _place(self, query: str) -> Place:
        return f"{self._path}: query {shown(query)}", 0

    def _bad(self, place: Place, problem: str, expected: str, hint: str = "") -> None:
        self._complain(Complaint("rating", *place, problem, expected, hint))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
