"""Judgments that OpenSearch derived from User Behavior Insights: records with ``query_id``,
``query``, ``document`` and ``judgment``.
"""

from collections.abc import Iterator
from typing import Any

from idealrank.errors import FileFormatError
from idealrank.io.complaints import Complain, Complaint
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
from idealrank.io.notes import Notes
from idealrank.io.row_parts import Place, Rows, Table
from idealrank.io.sources import Source
from idealrank.io.table_columns import Columns
from idealrank.io.typed_values import check_id, check_number, describe_value

_FIELDS = ("query_id", "query", "document", "judgment")
_EXPECTED = "a record with query_id, query, document and judgment"


def ubi_sheet(source: Source, complain: Complain) -> JudgmentSheet:
    """Read the judgments that a click model made of the logs."""
    pairs, rows = SeenPairs(complain), []
    for value, place in _records(source, complain):
        row = _row(value, place, complain)
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
    found = whole
    if isinstance(whole, tuple):
        hits = dict(whole).get("hits")
        found = dict(hits).get("hits") if isinstance(hits, tuple) else None
    if not isinstance(found, list):
        raise FileFormatError(
            source.path, 0, describe_value(whole), f"hits, an array, or {_EXPECTED} on each line"
        )
    yield from (
        (one, (f"{source.path}: record {number}", 0)) for number, one in enumerate(found, 1)
    )


def _row(value: Any, place: Place, complain: Complain) -> JudgmentRow | None:
    fields = dict(value) if isinstance(value, tuple) else {}
    inner = fields.get("_source")
    fields = dict(inner) if isinstance(inner, tuple) else fields
    if (
        "document" not in fields
        or "judgment" not in fields
        or not ({"query_id", "query"} & set(fields))
    ):
        found = (
            f"fields {', '.join(map(repr, list(fields)[:6])) or 'none'}"
            if fields
            else describe_value(value)
        )
        complain(Complaint("fields", *place, found, _EXPECTED))
        return None
    query = check_id(fields.get("query_id", fields.get("query")))
    document = check_id(fields["document"])
    grade = check_number(fields["judgment"], "qrels") if fields["judgment"] is not None else None
    for checked, name in ((query, "query_id"), (document, "document"), (grade, "judgment")):
        if isinstance(checked, tuple):
            complain(Complaint(checked[0], *place, f"{checked[1]} in field {name!r}", checked[2]))
            return None
    assert isinstance(query, str) and isinstance(document, str) and not isinstance(grade, tuple)  # noqa: S101, PT018  (for type checkers)
    others = {name: one for name, one in fields.items() if name not in _FIELDS}
    return JudgmentRow(
        query,
        document,
        grade,
        query_text=valid_text(fields.get("query")),
        values=others,
        place=place,
    )
