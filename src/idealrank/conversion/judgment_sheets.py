"""Files of judgments in any format, as rows with every column, such as assessors, texts and
features.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from idealrank.conversion.letor_sheets import letor_sheet
from idealrank.conversion.record_sheets import (
    array_sheet,
    columnar_sheet,
    lines_sheet,
    table_sheet,
)
from idealrank.io.complaints import Notes, refuse
from idealrank.io.formats.label_studio import fields_of, label_studio_sheet
from idealrank.io.formats.nested import as_records, load
from idealrank.io.formats.opensearch import opensearch_sheet, ubi_sheet
from idealrank.io.formats.preferences import assessor_sheet
from idealrank.io.formats.quepid import quepid_sheet
from idealrank.io.formats.rre import rre_sheet
from idealrank.io.formats.trec import read_trec_qrels
from idealrank.io.judgment_files import ORIGIN_MARK
from idealrank.io.judgment_rows import JudgmentSheet, rows_of_qrels
from idealrank.io.read import read_part
from idealrank.io.row_parts import Blocks, Rows, to_qrels
from idealrank.io.sources import AnyPath, Source
from idealrank.io.table_columns import Columns

_NO_ITERATION = (b"0", b"Q0")  # second columns that say nothing


@dataclass(frozen=True)
class SheetOptions:
    """Options of reading a file."""

    # Names of columns, or of Label Studio's fields and control, and the grades of labels that are
    # words
    columns: Columns = None
    group: AnyPath | None = None  # Group sizes of a LETOR file


def judgment_sheet(source: Source, kind: str, options: SheetOptions, notes: Notes) -> JudgmentSheet:
    r"""Read judgments of one format with everything that its rows hold."""
    is_nested = kind == "jsonl" and _is_nested_line(source)
    if kind == "json":
        is_nested = not _has_records(source, options.columns)
    read = _plain if is_nested else _SHEETS.get(kind, _plain)
    return read(_Reading(source=source, kind=kind, options=options, notes=notes))


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """Arguments of a reader."""

    source: Source
    kind: str
    options: SheetOptions
    notes: Notes


def _plain(reading: _Reading) -> JudgmentSheet:
    """Judgments of a format that holds grades alone."""
    part = read_part(
        source=reading.source,
        table="qrels",
        kind=reading.kind,  # type: ignore[arg-type]
        columns=reading.options.columns,
        notes=reading.notes,
        complain=refuse,
    )
    empty = empty_queries(part)
    lost = {"empty_queries": empty} if empty else {}
    return JudgmentSheet(
        rows=rows_of_qrels(to_qrels([part], [reading.source.path], "error")), lost=lost
    )


def empty_queries(part: Rows | Blocks) -> list[str]:
    """Queries without a document, which rows cannot hold."""
    if not isinstance(part, Blocks):
        return []
    filled = {block.query for block in part.blocks if block.documents}
    queries = dict.fromkeys(block.query for block in part.blocks)
    return [query for query in queries if query not in filled]


def _is_nested_line(source: Source) -> bool:
    """Return whether the first line holds queries with their documents."""
    first = next((line for line in source.open() if line.strip()), b"")
    try:
        value = load(first.strip())
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(value, tuple)
        and bool(value)
        and all(isinstance(documents, tuple | list) for _, documents in value)
    )


def _has_records(source: Source, columns: Columns) -> bool:
    """Return whether JSON holds an array of records, or one record."""
    if bytes(source.data[:64]).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"[":
        return True
    try:
        return as_records(load(source.read()), columns) is not None
    except (ValueError, RecursionError):
        return False


def _trec(reading: _Reading) -> JudgmentSheet:
    source = reading.source
    # A file with this mark has the assessor in the second column.
    if bytes(source.data[: len(ORIGIN_MARK)]) == ORIGIN_MARK.encode():
        sheet = assessor_sheet(source, reading.notes, refuse)
        sheet.lost["comments"] = ["the origin of the judgments"]
        return sheet
    qrels = read_trec_qrels([source], "error", reading.notes)
    lost = {}
    fields = map(_second_field, source.open())
    iterations = [field for field in fields if field not in _NO_ITERATION]
    if iterations:
        lost["iterations"] = [field.decode("utf-8", "replace") for field in iterations]
    if qrels.counters["comments"]:
        lost["comments"] = [""] * qrels.counters["comments"]
    return JudgmentSheet(rows=rows_of_qrels(qrels), lost=lost)


def _second_field(line: bytes) -> bytes:
    """The second field of a line of judgments; 0 for comments and blank lines."""
    if line.startswith(b"#") or not line.strip():
        return b"0"
    tabs = line.split(b"\t")
    fields = tabs if len(tabs) == 4 else line.split(None, 2)
    return fields[1].strip()


def _label_studio(reading: _Reading) -> JudgmentSheet:
    return label_studio_sheet(reading.source, refuse, fields_of(reading.options.columns))


def _array(reading: _Reading) -> JudgmentSheet:
    return array_sheet(reading.source, reading.options.columns, reading.notes, refuse)


def _lines(reading: _Reading) -> JudgmentSheet:
    return lines_sheet(reading.source, reading.options.columns, reading.notes, refuse)


def _columnar(reading: _Reading) -> JudgmentSheet:
    return columnar_sheet(reading.source, reading.options.columns, reading.notes)


def _letor(reading: _Reading) -> JudgmentSheet:
    return letor_sheet(reading.source, reading.options.group, reading.notes, refuse)


def _table(reading: _Reading) -> JudgmentSheet:
    return table_sheet(reading.source, reading.kind, reading.options.columns, reading.notes, refuse)


_SHEETS: Mapping[str, Callable[[_Reading], JudgmentSheet]] = {
    "csv": _table,
    "tsv": _table,
    "json": _array,
    "jsonl": _lines,
    "parquet": _columnar,
    "arrow": _columnar,
    "trec": _trec,
    "qrels_jg": lambda reading: assessor_sheet(reading.source, reading.notes, refuse),
    "letor": _letor,
    "quepid": lambda reading: quepid_sheet(reading.source, reading.notes, refuse),
    "rre": lambda reading: rre_sheet(reading.source, reading.notes, refuse),
    "opensearch": lambda reading: opensearch_sheet(reading.source, refuse),
    "ubi": lambda reading: ubi_sheet(reading.source, refuse),
    "label-studio": _label_studio,
}
