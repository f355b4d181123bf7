"""Graded judgments of several assessors from tables with a column of assessors: CSV, TSV, JSON
lines, Parquet and Arrow.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from idealrank.data.assessors import AssessorQrels, JudgmentColumns
from idealrank.data.types import encode_id
from idealrank.errors import FileFormatError, InputError
from idealrank.io.checked_cells import Fault, check_id, check_number, parse_number
from idealrank.io.complaints import Notes
from idealrank.io.formats.delimited import named_batches, sniff_delimiter
from idealrank.io.label_grades import grade_of
from idealrank.io.record_files import FieldRecord, columnar_records, line_records
from idealrank.io.sources import Source
from idealrank.io.table_columns import (
    ASSESSOR,
    Chosen,
    candidates,
    choose_columns,
    with_labels,
)


def read_assessor_tables(
    sources: Sequence[Source], kind: str, labels: Mapping[str, float], notes: Notes
) -> AssessorQrels:
    """Read a row for each judgment: its query, document, grade and assessor."""
    queries: list[bytes] = []
    groups: list[bytes] = []
    documents: list[bytes] = []
    levels: list[float] = []
    places: list[tuple[str, int]] = []
    for source in sources:
        names, records = _records(source, kind)
        assessor = next(iter(candidates(names, ASSESSOR)), "")
        if not assessor:
            raise InputError(
                f"{source.path}: found columns {', '.join(map(repr, names))}, expected one for the "
                f"assessor ({', '.join(ASSESSOR[:4])}, ...)"
            )
        others = [name for name in names if name != assessor]
        chosen = choose_columns(others, "qrels", with_labels(None, labels), source.path, notes)
        for record in records:
            place = (record.place, record.line)
            level = _level(record, chosen, place)
            if level is None:
                continue
            queries.append(_id(record, chosen.query, place))
            groups.append(_id(record, assessor, place))
            documents.append(_id(record, chosen.document, place))
            levels.append(level)
            places.append(place)
    paths = [source.path for source in sources]
    if not levels:
        raise InputError(f"{', '.join(paths)}: found no judgments, expected at least one")

    def refuse_row(row: int, problem: str, expected: str, hint: str) -> NoReturn:
        path, line = places[row]
        raise FileFormatError(path, line, problem, expected, hint)

    columns = JudgmentColumns(
        queries=queries, groups=groups, documents=documents, levels=np.array(levels, np.float64)
    )
    return AssessorQrels.from_columns(columns, refuse_row, name=paths[0], paths=paths)


def _records(source: Source, kind: str) -> tuple[list[str], Iterator[FieldRecord]]:
    """Return the names of the columns, and the rows."""
    names: list[str] = []
    if kind in ("csv", "tsv"):
        delimiter = "\t" if kind == "tsv" else sniff_delimiter(source)
        names, batches = named_batches(source, delimiter)
        return names, _cells(source.path, names, batches)
    if kind == "jsonl":
        records = line_records(source.open(), source.path)
        all_fields = (record.fields for record in line_records(source.open(), source.path))
        return list(dict.fromkeys(chain.from_iterable(all_fields))), records

    def choose(columns: Sequence[str]) -> Sequence[str]:
        names.extend(columns)
        return columns

    next(columnar_records(source, choose), None)
    return names, columnar_records(source, list)


def _cells(path: str, names: list[str], batches: Any) -> Iterator[FieldRecord]:
    for rows, lines in batches:
        for row, line in zip(rows, lines.tolist(), strict=True):
            if len(row) != len(names):
                expected = f"{len(names)}, as in the header line"
                raise FileFormatError(path, line, f"{len(row)} cells", expected)
            yield FieldRecord(dict(zip(names, row, strict=True)), path, line)


def _level(record: FieldRecord, chosen: Chosen, place: tuple[str, int]) -> float | None:
    """Return the grade of a row; None for an unjudged one."""
    value = record.fields.get(chosen.value) if chosen.value else 1.0
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    grade = grade_of(value, chosen.labels)
    number = parse_number(grade) if isinstance(grade, str) else None  # text that spells a number
    grade = grade if number is None else number
    checked = check_number(grade, "qrels", labels=chosen.labels)
    if isinstance(checked, Fault):
        raise checked.at(place, f" in column {chosen.value!r}").error()
    return checked


def _id(record: FieldRecord, name: str, place: tuple[str, int]) -> bytes:
    checked = check_id(record.fields.get(name))
    if isinstance(checked, Fault):
        raise checked.at(place, f" in column {name!r}").error()
    return encode_id(checked)
