"""Tables and records as rows of judgments, with every column: CSV, JSON lines, JSON arrays, Parquet
and Arrow.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

from idealrank.errors import InputError
from idealrank.io.checked_cells import (
    Fault,
    check_id,
    check_number,
    describe_value,
    parse_number,
    shown,
    word_fault,
)
from idealrank.io.complaints import Complain, Complaint, Notes, refuse
from idealrank.io.formats.delimited import named_batches, sniff_delimiter
from idealrank.io.formats.nested import as_records, broken, load
from idealrank.io.judgment_rows import JudgmentRow, JudgmentSheet, SeenPairs, valid_text
from idealrank.io.label_grades import grade_of
from idealrank.io.record_files import columnar_records
from idealrank.io.row_parts import Place
from idealrank.io.sources import Source
from idealrank.io.table_columns import ASSESSOR, Chosen, Columns, choose_columns, plain

_QUERY_TEXT = ("querytext", "query")
_TEXT = ("documenttext", "text")
_DIGITS = 18  # of the number of a feature, at most
FEATURE = "feature_"
"""Columns of features are called so, followed by the number."""


class _Record(NamedTuple):
    """Cells by name, and their place in the file."""

    fields: Mapping[str, Any]
    place: Place


@dataclass(frozen=True, kw_only=True)
class _Roles:
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
    delimiter = "\t" if kind == "tsv" else sniff_delimiter(source)
    names, batches = named_batches(source, delimiter)

    def records() -> Iterator[_Record]:
        for rows, lines in batches:
            for row, line in zip(rows, lines.tolist(), strict=True):
                if len(row) != len(names):
                    cells = f"{len(row)} cells"
                    expected = f"{len(names)}, as in the header line"
                    complain(
                        Complaint(
                            kind="fields",
                            path=source.path,
                            line=line,
                            found=cells,
                            expected=expected,
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
    if not names:  # no line can be used: read them again for the complaints
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
        values = as_records(load(source.read()), columns)
    except (ValueError, RecursionError) as error:
        complain(broken(error, source.path, 0))
        values = []
    for number, value in enumerate(values or (), 1):
        record = _record(value, (f"{source.path}: record {number}", 0), complain)
        if record is not None:
            records.append(record)
    names = list(dict.fromkeys(chain.from_iterable(record.fields for record in records)))
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

    def choose(columns_of_file: Sequence[str]) -> Sequence[str]:
        names.extend(columns_of_file)
        return columns_of_file

    records = (
        _Record(record.fields, (record.place, record.line))
        for record in columnar_records(source, choose)
    )
    first_record = list(islice(records, 1))  # fills `names`
    return _sheet(
        names=names,
        records=chain(first_record, records),
        columns=columns,
        path=source.path,
        notes=notes,
        complain=refuse,
    )


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
    """The fields of an object of JSON, which has each of them once."""
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
    roles = _name_columns(names, columns, path, notes)
    pairs = SeenPairs(complain)

    def rows() -> Iterator[JudgmentRow]:
        for record in records:
            row = _row(record, roles, complain)
            if row is not None and pairs.is_new(row):
                yield row

    return JudgmentSheet(
        rows=rows(),
        columns=roles.others,
        features=sorted(roles.features.values()),
        has_assessors=bool(roles.assessor),
        has_query_texts=bool(roles.query_text),
        has_texts=bool(roles.text),
    )


def _name_columns(names: Sequence[str], columns: Columns, path: str, notes: Notes) -> _Roles:
    chosen = choose_columns(names, "qrels", columns, path, notes)
    twice = next((name for name, count in Counter(names).items() if name and count > 1), None)
    if twice is not None:
        raise InputError(
            f"{path}: found {names.count(twice)} columns {shown(twice)}, expected one; rename or "
            "drop the others"
        )
    unused = [name for name in names if name not in chosen.names]
    assessor = _take(ASSESSOR, unused)
    query_text = _take(_QUERY_TEXT, unused)
    text = _take(_TEXT, unused)
    features = {
        name: int(name[len(FEATURE) :])
        for name in unused
        if name.startswith(FEATURE) and _is_number(name[len(FEATURE) :])
    }
    by_number: dict[int, str] = {}
    for name, number in features.items():
        if by_number.setdefault(number, name) != name:
            raise InputError(
                f"{path}: found columns {by_number[number]!r} and {name!r}, expected one column of "
                f"feature {number}"
            )
    return _Roles(
        chosen=chosen,
        assessor=assessor,
        query_text=query_text,
        text=text,
        features=features,
        others=tuple(name for name in unused if name not in features),
    )


def _take(usual: Sequence[str], unused: list[str]) -> str:
    """Take the first of some usual names out of the unused columns; empty if none is there."""
    for word in usual:
        for name in unused:
            if plain(name) == word:
                unused.remove(name)
                return name
    return ""


def _row(record: _Record, roles: _Roles, complain: Complain) -> JudgmentRow | None:
    fields = record.fields
    place = record.place
    chosen = roles.chosen
    missing = next((name for name in chosen.names[:2] if name not in fields), None)
    if missing is not None:
        complain(
            Complaint("null", *place, f"no field {missing!r}", "the fields of the other records")
        )
        return None

    # A check gives the value, or the kind of complaint, what was found, and what was expected.
    query = check_id(fields[chosen.query])
    document = check_id(fields[chosen.document])
    grade = _grade(fields.get(chosen.value), chosen.labels) if chosen.value else 1.0
    for checked, name in (
        (query, chosen.query),
        (document, chosen.document),
        (grade, chosen.value),
    ):
        if isinstance(checked, tuple):
            complain(checked.at(place, f" in column {name!r}"))
            return None

    for name, expected in (
        (roles.assessor, "the name of an assessor"),
        (roles.query_text, "text"),
        (roles.text, "text"),
    ):
        if isinstance(value := fields.get(name), bool | list | tuple | dict):
            complain(
                Complaint("type", *place, f"{describe_value(value)} in column {name!r}", expected)
            )
            return None

    features = {}
    for name, number in roles.features.items():
        value = fields.get(name)
        if value is None or value == "":
            continue
        feature = _grade(value)
        if not isinstance(feature, float):
            content = f"{describe_value(value)} in column {name!r}"
            complain(Complaint("number", *place, content, "a number"))
            return None
        features[number] = feature

    others = {name: fields[name] for name in roles.others if fields.get(name) not in (None, "")}
    assert not isinstance(grade, tuple)  # noqa: S101  (for type checkers)
    return JudgmentRow(
        query=str(query),
        document=str(document),
        grade=grade,
        assessor=valid_text(fields.get(roles.assessor)),
        query_text=valid_text(fields.get(roles.query_text)),
        text=valid_text(fields.get(roles.text)),
        values=others,
        features=features,
        place=place,
    )


def _grade(value: Any, labels: Mapping[str, float] | None = None) -> float | Fault | None:
    """A grade of a cell or of a field, a number or a label; None if it is blank."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    grade = grade_of(value, labels or {})
    number = parse_number(grade) if isinstance(grade, str) else grade
    if number is None:
        fault = word_fault(value, "qrels", labels or {})
        return fault._replace(expected=f"{fault.expected}, or a blank if unjudged")
    return check_number(number, "qrels")
