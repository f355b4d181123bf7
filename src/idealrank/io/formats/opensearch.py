"""Judgment lists of OpenSearch: of its Search Relevance Workbench, as it imports and exports them,
and derived from User Behavior Insights.
"""

from collections.abc import Iterator
from typing import Any

from idealrank.errors import FileFormatError, InputError
from idealrank.io.checked_cells import check_id, check_number, describe_value, parse_number, shown
from idealrank.io.complaints import Complain, Complaint, Notes
from idealrank.io.formats.nested import broken, load
from idealrank.io.judgment_rows import (
    JudgmentRow,
    JudgmentSheet,
    SeenPairs,
    judgments_only,
    one_grade_each,
    sheet_of,
    valid_text,
)
from idealrank.io.row_parts import Place, Rows, Table
from idealrank.io.sources import Source
from idealrank.io.table_columns import Columns

_RATINGS = "judgmentRatings"
_IMPORTED = "IMPORT_JUDGMENT"
_KNOWN = {_RATINGS, "type", "name"}
_EXPECTED = '"judgmentRatings": [{"query": ..., "ratings": [{"docId": ..., "rating": ...}]}]'


def opensearch_sheet(source: Source, complain: Complain) -> JudgmentSheet:
    """Read a judgment list."""
    try:
        value = load(source.read())
    except (ValueError, RecursionError) as error:
        complain(broken(error, source.path, 0))
        return sheet_of([], texts_are_ids=True)
    lists = list(_lists(value))
    if len(lists) != 1:
        names = [valid_text(judgment_list.get("name")) for judgment_list in lists[:4]]
        listed = f" ({', '.join(map(shown, names))})" if names else ""
        raise InputError(
            f"{source.path}: found {len(lists) or 'no'} judgment lists{listed}, expected one: "
            f"{_EXPECTED}"
        )
    pairs = SeenPairs(complain)
    rows = [row for row in _rows(lists[0], source.path, complain) if pairs.is_new(row)]
    settings = [name for name in lists[0] if name not in _KNOWN]
    return sheet_of(rows, texts_are_ids=True, lost={"settings": settings} if settings else {})


def read_opensearch(
    source: Source, table: Table, _columns: Columns, _notes: Notes, complain: Complain
) -> Rows:
    """Read one grade for each judged document."""
    judgments_only(source.path, table, "ratings of OpenSearch")
    return one_grade_each(source.path, list(opensearch_sheet(source, complain).rows))


def _lists(value: Any) -> Iterator[dict[str, Any]]:
    """The list itself, or the lists of a response's hits."""
    fields = dict(value) if isinstance(value, tuple) else {}
    if _RATINGS in fields:
        yield fields
        return
    hits = dict(fields["hits"]).get("hits") if isinstance(fields.get("hits"), tuple) else None
    for hit in hits if isinstance(hits, list) else []:
        indexed = dict(hit).get("_source") if isinstance(hit, tuple) else None
        if isinstance(indexed, tuple) and _RATINGS in dict(indexed):
            yield dict(indexed)


def _rows(fields: dict[str, Any], path: str, complain: Complain) -> Iterator[JudgmentRow]:
    kind = valid_text(fields.get("type"))
    assessor = "" if kind == _IMPORTED else kind
    queries = fields[_RATINGS]
    if not isinstance(queries, list):
        complain(
            Complaint(
                kind="type", path=path, line=0, found=describe_value(queries), expected=_EXPECTED
            )
        )
        return
    for number, rated_query in enumerate(queries, 1):
        place = (f"{path}: {_RATINGS} {number}", 0)
        query_fields = dict(rated_query) if isinstance(rated_query, tuple) else {}
        query = check_id(query_fields.get("query"))
        if isinstance(query, tuple):
            complain(query.at(place, " of a query"))
            continue
        for name in ("ratings", "failures"):
            ratings = query_fields.get(name, [])
            is_missing = name == "ratings" and name not in query_fields
            if not isinstance(ratings, list) or is_missing:
                problem = f"{describe_value(query_fields.get(name))} as {name}"
                complain(Complaint("type", *place, problem, _EXPECTED))
                continue
            for rating in ratings:
                row = _row(query, rating, name, place, complain)
                if row is not None:
                    yield row._replace(assessor=assessor)


def _row(
    query: str, rating: Any, among: str, place: Place, complain: Complain
) -> JudgmentRow | None:
    fields = dict(rating) if isinstance(rating, tuple) else {}
    document = check_id(fields.get("docId"))
    if isinstance(document, tuple):
        complain(document.at(place, f" of a document of query {shown(query)}"))
        return None
    value = fields.get("rating")
    if among == "failures" or value is None:  # the model gave no grade
        return JudgmentRow(query, document, None, query_text=query, place=place)
    number = parse_number(value) if isinstance(value, str) else value
    grade = check_number(value if number is None else number, "qrels")
    if isinstance(grade, tuple):
        fault = grade._replace(expected="a finite number")
        complain(fault.at(place, f" of document {shown(document)} of query {shown(query)}"))
        return None
    return JudgmentRow(query, document, grade, query_text=query, place=place)


_FIELDS = ("query_id", "query", "document", "judgment")
_UBI_EXPECTED = "a record with query_id, query, document and judgment"


def ubi_sheet(source: Source, complain: Complain) -> JudgmentSheet:
    """Read the judgments that a click model made of the logs."""
    pairs = SeenPairs(complain)
    rows = []
    for value, place in _records(source, complain):
        row = _ubi_row(value, place, complain)
        if row is not None and pairs.is_new(row):
            rows.append(row)
    return sheet_of(rows)


def read_ubi_judgments(
    source: Source, table: Table, _columns: Columns, _notes: Notes, complain: Complain
) -> Rows:
    """Read one grade for each judged document."""
    judgments_only(source.path, table, "records of User Behavior Insights")
    return one_grade_each(source.path, list(ubi_sheet(source, complain).rows))


def _records(source: Source, complain: Complain) -> Iterator[tuple[Any, Place]]:
    """Records with their places: one value, or a record on each line."""
    data = source.read()
    try:
        whole = load(data)
    except (ValueError, RecursionError):
        whole = None
    if whole is None or (isinstance(whole, tuple) and "hits" not in dict(whole)):
        for number, line in enumerate(data.splitlines(), 1):
            if line.strip():
                try:
                    yield load(line.strip()), (source.path, number)
                except (ValueError, RecursionError) as error:
                    complain(broken(error, source.path, number))
        return
    records = whole
    if isinstance(whole, tuple):
        hits = dict(whole).get("hits")
        records = dict(hits).get("hits") if isinstance(hits, tuple) else None
    if not isinstance(records, list):
        raise FileFormatError(
            source.path,
            0,
            describe_value(whole),
            f"hits, an array, or {_UBI_EXPECTED} on each line",
        )
    yield from (
        (record, (f"{source.path}: record {number}", 0)) for number, record in enumerate(records, 1)
    )


def _ubi_row(value: Any, place: Place, complain: Complain) -> JudgmentRow | None:
    fields = dict(value) if isinstance(value, tuple) else {}
    indexed = fields.get("_source")
    if isinstance(indexed, tuple):  # a hit
        fields = dict(indexed)
    has_query = "query_id" in fields or "query" in fields
    if not has_query or "document" not in fields or "judgment" not in fields:
        some = ", ".join(map(repr, list(fields)[:6]))
        problem = f"fields {some}" if fields else describe_value(value)
        complain(Complaint("fields", *place, problem, _UBI_EXPECTED))
        return None
    query = check_id(fields.get("query_id", fields.get("query")))
    document = check_id(fields["document"])
    grade = check_number(fields["judgment"], "qrels") if fields["judgment"] is not None else None
    for checked, name in ((query, "query_id"), (document, "document"), (grade, "judgment")):
        if isinstance(checked, tuple):
            complain(checked.at(place, f" in field {name!r}"))
            return None
    assert isinstance(query, str) and isinstance(document, str) and not isinstance(grade, tuple)  # noqa: S101, PT018  (for type checkers)
    others = {name: cell for name, cell in fields.items() if name not in _FIELDS}
    return JudgmentRow(
        query,
        document,
        grade,
        query_text=valid_text(fields.get("query")),
        values=others,
        place=place,
    )
