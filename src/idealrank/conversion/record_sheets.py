"""Tables and records of judgments with every column: the assessor, texts and others."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from idealrank.errors import FileFormatError, InputError
from idealrank.io.complaints import Complain, Complaint, refuse
from idealrank.io.formats.delimited import rows_in_batches, sniff_delimiter
from idealrank.io.formats.nested import as_records, broken, load
from idealrank.io.judgment_rows import JudgmentRow, JudgmentSheet, SeenPairs, valid_text
from idealrank.io.notes import Notes
from idealrank.io.numerals import parse_number
from idealrank.io.record_files import columnar_records
from idealrank.io.row_parts import Place
from idealrank.io.sources import Source
from idealrank.io.table_columns import Chosen, Columns, choose_columns
from idealrank.io.text_cells import shown
from idealrank.io.typed_values import check_id, check_number, describe_value
from idealrank.io.usual_columns import plain

ASSESSOR = ("assessor", "rater", "judge", "annotator", "user", "useremail", "username", "email")
"""Usual names of the column of assessors, without case and punctuation."""
_QUERY_TEXT = ("querytext", "query")
_TEXT = ("documenttext", "text")
_DIGITS = 18  # of the number of a feature, at most
FEATURE = "feature_"
"""Columns of features are called so, followed by the number."""


class _Record(NamedTuple):
    """Cells by name, and where they stand."""

    fields: Mapping[str, Any]
    place: Place


@dataclass(frozen=True, kw_only=True)
class _Names:
    """Columns by role."""

    chosen: Chosen
    assessor: str
    query_text: str
    text: str
    features: Mapping[str, int]
    others: tuple[str, ...]


def _is_number(text: str) -> bool:
    """Return whether a text is the number of a feature; longer ones are names, and Python refuses
    to read very long ones.
    """
    return text.isdecimal() and len(text) <= _DIGITS


def table_sheet(
    source: Source, kind: str, columns: Columns, notes: Notes, complain: Complain
) -> JudgmentSheet:
    r"""Read columns with a header line; a blank grade is unjudged."""
    batches = rows_in_batches(source, "\t" if kind == "tsv" else sniff_delimiter(source))
    header, _ = next(batches, ([], None))
    if not header:
        raise FileFormatError(source.path, 0, "an empty file", "a header line with column names")
    names = [name.strip() for name in header[0]]

    def records() -> Iterator[_Record]:
        for rows, lines in batches:
            for row, line in zip(rows, lines.tolist(), strict=True):
                if len(row) != len(names):
                    complain(
                        Complaint(
                            "fields",
                            source.path,
                            line,
                            f"{len(row)} cells",
                            f"{len(names)}, as in the header line",
                        )
                    )
                else:
                    yield _Record(dict(zip(names, row, strict=True)), (source.path, line))

    return _sheet(
        names=names,
        records=records(),
        columns=columns,
        path=source.path,
        notes=notes,
        complain=complain,
    )


def lines_sheet(
    source: Source, columns: Columns, notes: Notes, complain: Complain
) -> JudgmentSheet:
    """Read a record from each line of JSON."""
    names: dict[str, None] = {}
    for record in _line_records(source, lambda _: None):
        names.update(dict.fromkeys(record.fields))
    if not names:  # no line can be used
        deque(_line_records(source, complain), 0)
    return _sheet(
        names=list(names),
        records=_line_records(source, complain),
        columns=columns,
        path=source.path,
        notes=notes,
        complain=complain,
    )


def array_sheet(
    source: Source, columns: Columns, notes: Notes, complain: Complain
) -> JudgmentSheet:
    """Read an array of records, or one record."""
    records: list[_Record] = []
    try:
        found = as_records(load(source.read()), columns)
    except (ValueError, RecursionError) as error:
        complain(broken(error, source.path, 0))
        found = []
    for number, value in enumerate(found or (), 1):
        record = _record(value, (f"{source.path}: record {number}", 0), complain)
        if record is not None:
            records.append(record)
    names = list(dict.fromkeys(name for record in records for name in record.fields))
    return _sheet(
        names=names,
        records=records,
        columns=columns,
        path=source.path,
        notes=notes,
        complain=complain,
    )


def columnar_sheet(source: Source, columns: Columns, notes: Notes) -> JudgmentSheet:
    """Read the columns of a Parquet or Arrow file."""
    names: list[str] = []

    def choose(found: Sequence[str]) -> Sequence[str]:
        names.extend(found)
        return found

    records = (
        _Record(record.fields, (record.place, record.line))
        for record in columnar_records(source, choose)
    )
    first = next(records, None)
    everything: Iterable[_Record] = records if first is None else _after(first, records)
    return _sheet(
        names=names,
        records=everything,
        columns=columns,
        path=source.path,
        notes=notes,
        complain=refuse,
    )


def _after(first: _Record, others: Iterator[_Record]) -> Iterator[_Record]:
    yield first
    yield from others


def _line_records(source: Source, complain: Complain) -> Iterator[_Record]:
    for number, line in enumerate(source.open(), 1):
        if not line.strip():
            continue
        try:
            value = load(line.strip())
        except (ValueError, RecursionError) as error:
            complain(broken(error, source.path, number))
            continue
        record = _record(value, (source.path, number), complain)
        if record is not None:
            yield record


def _record(value: Any, place: Place, complain: Complain) -> _Record | None:
    """The fields of an object of JSON, each of which stands there once."""
    if not isinstance(value, tuple):
        complain(
            Complaint(
                "type",
                *place,
                describe_value(value),
                "a record: an object with a query, a document and a grade",
            )
        )
        return None
    fields = dict(value)
    if len(fields) != len(value):
        complain(
            Complaint("repeated-field", *place, "a duplicate field in a record", "each field once")
        )
        return None
    return _Record(fields, place)


def _sheet(
    names: Sequence[str],
    records: Iterable[_Record],
    columns: Columns,
    path: str,
    notes: Notes,
    complain: Complain,
) -> JudgmentSheet:
    found = _name_columns(names, columns, path, notes)
    pairs = SeenPairs(complain)

    def rows() -> Iterator[JudgmentRow]:
        for record in records:
            row = _row(record, found, complain)
            if row is not None and pairs.is_new(row):
                yield row

    return JudgmentSheet(
        rows=rows(),
        columns=found.others,
        features=sorted(found.features.values()),
        has_assessors=bool(found.assessor),
        has_query_texts=bool(found.query_text),
        has_texts=bool(found.text),
    )


def _name_columns(names: Sequence[str], columns: Columns, path: str, notes: Notes) -> _Names:
    chosen = choose_columns(names, "qrels", columns, path, notes)
    twice = next((name for name, count in Counter(names).items() if name and count > 1), None)
    if twice is not None:
        raise InputError(
            f"{path}: found {names.count(twice)} columns {shown(twice)}, expected one; rename "
            f"or drop the others"
        )
    rest = [name for name in names if name not in chosen.names]

    def take(usual: Sequence[str]) -> str:
        name = next((one for word in usual for one in rest if plain(one) == word), "")
        if name:
            rest.remove(name)
        return name

    assessor, query_text, text = take(ASSESSOR), take(_QUERY_TEXT), take(_TEXT)
    features = {
        name: int(name[len(FEATURE) :])
        for name in rest
        if name.startswith(FEATURE) and _is_number(name[len(FEATURE) :])
    }
    by_number: dict[int, str] = {}
    for name, number in features.items():
        if by_number.setdefault(number, name) != name:
            raise InputError(
                f"{path}: found columns {by_number[number]!r} and {name!r}, expected one "
                f"column of feature {number}"
            )
    return _Names(
        chosen=chosen,
        assessor=assessor,
        query_text=query_text,
        text=text,
        features=features,
        others=tuple(name for name in rest if name not in features),
    )


def _row(record: _Record, names: _Names, complain: Complain) -> JudgmentRow | None:
    fields, place, chosen = record.fields, record.place, names.chosen
    missing = next((name for name in chosen.names[:2] if name not in fields), None)
    if missing is not None:
        complain(
            Complaint("null", *place, f"no field {missing!r}", "the fields of the other records")
        )
        return None
    query, document = check_id(fields[chosen.query]), check_id(fields[chosen.document])
    grade = _grade(fields.get(chosen.value)) if chosen.value else 1.0
    for checked, name in (
        (query, chosen.query),
        (document, chosen.document),
        (grade, chosen.value),
    ):
        if isinstance(checked, tuple):
            complain(Complaint(checked[0], *place, f"{checked[1]} in column {name!r}", checked[2]))
            return None
    for name, what in (
        (names.assessor, "the name of an assessor"),
        (names.query_text, "text"),
        (names.text, "text"),
    ):
        if isinstance(value := fields.get(name), bool | list | tuple | dict):
            complain(Complaint("type", *place, f"{describe_value(value)} in column {name!r}", what))
            return None
    features = {}
    for name, number in names.features.items():
        value = fields.get(name)
        if value is None or value == "":
            continue
        feature = _grade(value)
        if not isinstance(feature, float):
            complain(
                Complaint(
                    "number", *place, f"{describe_value(value)} in column {name!r}", "a number"
                )
            )
            return None
        features[number] = feature
    others = {name: fields[name] for name in names.others if fields.get(name) not in (None, "")}
    assert not isinstance(grade, tuple)  # noqa: S101  (for type checkers)
    return JudgmentRow(
        query=str(query),
        document=str(document),
        grade=grade,
        assessor=valid_text(fields.get(names.assessor)),
        query_text=valid_text(fields.get(names.query_text)),
        text=valid_text(fields.get(names.text)),
        values=others,
        features=features,
        place=place,
    )


def _grade(value: Any) -> "float | tuple[str, str, str] | None":
    """A grade of a cell or of a field; None if it is blank."""
    if value is None:
        return None
    if isinstance(value, str):
        if not value.strip():
            return None
        number = parse_number(value)
        if number is None:
            return "number", f"{shown(value)} as grade", "a number, or a blank if unjudged"
        return check_number(number, "qrels")
    return check_number(value, "qrels")
