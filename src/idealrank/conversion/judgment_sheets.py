"""Files of judgments in any format, as rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from idealrank.conversion.letor_sheets import letor_sheet
from idealrank.conversion.record_sheets import (
    array_sheet,
    columnar_sheet,
    lines_sheet,
    table_sheet,
)
from idealrank.io.complaints import refuse
from idealrank.io.formats.label_studio import LabelStudioFields, label_studio_sheet
from idealrank.io.formats.nested import as_records, load
from idealrank.io.formats.opensearch import opensearch_sheet
from idealrank.io.formats.preferences import assessor_sheet
from idealrank.io.formats.quepid import quepid_sheet
from idealrank.io.formats.rre import rre_sheet
from idealrank.io.formats.trec import read_trec_qrels
from idealrank.io.formats.ubi_judgments import ubi_sheet
from idealrank.io.judgment_files import ORIGIN_MARK
from idealrank.io.judgment_rows import JudgmentSheet, rows_of_qrels
from idealrank.io.notes import Notes
from idealrank.io.read import read_part
from idealrank.io.row_parts import Blocks, Rows, to_qrels
from idealrank.io.sources import AnyPath, Source
from idealrank.io.table_columns import Columns

_NO_ITERATION = (b"0", b"Q0")


@dataclass(frozen=True)
class SheetOptions:
    """Options of reading a file."""

    columns: Columns = None  # Names of columns, or of Label Studio's fields and control
    # Grades of choices of Label Studio that are no numbers
    labels: Mapping[str, float] = field(default_factory=dict)
    group: AnyPath | None = None  # Group sizes of a LETOR file


def judgment_sheet(source: Source, kind: str, options: SheetOptions, notes: Notes) -> JudgmentSheet:
    r"""Read judgments of one format with everything that its rows hold."""
    read = _SHEETS.get(kind, _plain)
    if (kind == "jsonl" and _is_nested_line(source)) or (
        kind == "json" and not _has_records(source, options.columns)
    ):
        read = _plain
    return read(_Reading(source=source, kind=kind, options=options, notes=notes))


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """Arguments of a reader."""

    source: Source
    kind: str
    options: SheetOptions
    notes: Notes


def _plain(one: _Reading) -> JudgmentSheet:
    """Judgments of a format that holds grades alone."""
    parts = read_part(
        source=one.source,
        table="qrels",
        kind=one.kind,  # type: ignore[arg-type]
        columns=one.options.columns,
        notes=one.notes,
        complain=refuse,
    )
    empty = empty_queries(parts)
    left = {"empty_queries": empty} if empty else {}
    return JudgmentSheet(
        rows=rows_of_qrels(to_qrels([parts], [one.source.path], "error")), left=left
    )


def empty_queries(parts: Rows | Blocks) -> list[str]:
    """Queries without a document, which rows cannot hold."""
    if not isinstance(parts, Blocks):
        return []
    filled = {block.query for block in parts.blocks if block.documents}
    return [
        query
        for query in dict.fromkeys(block.query for block in parts.blocks)
        if query not in filled
    ]


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
        and all(isinstance(inner, tuple | list) for _, inner in value)
    )


def _has_records(source: Source, columns: Columns) -> bool:
    """Return whether JSON holds an array of records, or one record."""
    if bytes(source.data[:64]).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"[":
        return True
    try:
        return as_records(load(source.read()), columns) is not None
    except (ValueError, RecursionError):
        return False


def _trec(one: _Reading) -> JudgmentSheet:
    source = one.source
    # the second column names the assessor
    if bytes(source.data[: len(ORIGIN_MARK)]) == ORIGIN_MARK.encode():
        sheet = assessor_sheet(source, one.notes, refuse)
        sheet.left["comments"] = ["the origin of the judgments"]
        return sheet
    qrels = read_trec_qrels([source], "error", one.notes)
    left = {}
    iterations = [
        found.decode("utf-8", "replace")
        for line in source.open()
        if (found := _second(line)) not in _NO_ITERATION
    ]
    if iterations:
        left["iterations"] = iterations
    if qrels.counters["comments"]:
        left["comments"] = [""] * qrels.counters["comments"]
    return JudgmentSheet(rows=rows_of_qrels(qrels), left=left)


def _second(line: bytes) -> bytes:
    """The second field of a line of judgments; 0 for comments and blank lines."""
    if line.startswith(b"#") or not line.strip():
        return b"0"
    tabs = line.split(b"\t")
    fields = tabs if len(tabs) == 4 else line.split(None, 2)
    return fields[1].strip()


def _fields(columns: Columns, labels: Mapping[str, float]) -> LabelStudioFields:
    named = dict(columns) if isinstance(columns, Mapping) else {}
    return LabelStudioFields(
        query=named.get("query", ""),
        document=named.get("document", ""),
        control=named.get("grade", ""),
        labels=labels,
    )


def _table(one: _Reading) -> JudgmentSheet:
    return table_sheet(one.source, one.kind, one.options.columns, one.notes, refuse)


_SHEETS: Mapping[str, Callable[[_Reading], JudgmentSheet]] = {
    "csv": _table,
    "tsv": _table,
    "json": lambda one: array_sheet(one.source, one.options.columns, one.notes, refuse),
    "jsonl": lambda one: lines_sheet(one.source, one.options.columns, one.notes, refuse),
    "parquet": lambda one: columnar_sheet(one.source, one.options.columns, one.notes),
    "arrow": lambda one: columnar_sheet(one.source, one.options.columns, one.notes),
    "trec": _trec,
    "qrels_jg": lambda one: assessor_sheet(one.source, one.notes, refuse),
    "letor": lambda one: letor_sheet(one.source, one.options.group, one.notes, refuse),
    "quepid": lambda one: quepid_sheet(one.source, one.notes, refuse),
    "rre": lambda one: rre_sheet(one.source, one.notes, refuse),
    "opensearch": lambda one: opensearch_sheet(one.source, refuse),
    "ubi": lambda one: ubi_sheet(one.source, refuse),
    "label-studio": lambda one: label_studio_sheet(
        one.source, refuse, _fields(one.options.columns, one.options.labels)
    ),
}
