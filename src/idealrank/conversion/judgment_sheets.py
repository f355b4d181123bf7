"""Files of judgments in any format, as rows with every column, such as assessors, texts and
features.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from idealrank.data.types import decode_id
from idealrank.errors import InputError
from idealrank.io.checked_cells import check_id, check_number, describe_value, parse_number, shown
from idealrank.io.complaints import Complain, Complaint, Notes, refuse
from idealrank.io.formats.delimited import named_batches, sniff_delimiter
from idealrank.io.formats.feature_rows import feature_pairs
from idealrank.io.formats.label_studio import LabelStudioFields, label_studio_sheet
from idealrank.io.formats.letor import LabelledItems, read_labels
from idealrank.io.formats.nested import as_records, broken, load
from idealrank.io.formats.opensearch import opensearch_sheet, ubi_sheet
from idealrank.io.formats.preferences import assessor_sheet
from idealrank.io.formats.quepid import quepid_sheet
from idealrank.io.formats.rre import rre_sheet
from idealrank.io.formats.trec import read_trec_qrels
from idealrank.io.judgment_files import ORIGIN_MARK
from idealrank.io.judgment_rows import (
    JudgmentRow,
    JudgmentSheet,
    SeenPairs,
    rows_of_qrels,
    sheet_of,
    valid_text,
)
from idealrank.io.read import read_part
from idealrank.io.record_files import columnar_records
from idealrank.io.row_parts import Blocks, Place, Rows, to_qrels
from idealrank.io.sources import AnyPath, Source
from idealrank.io.table_columns import Chosen, Columns, choose_columns, plain

_FIELD = re.compile(r"(\w+)\s*=\s*(\S+)")
_DOCUMENT = "docid"
_NO_FIELDS: Mapping[str, str] = {}
DOCUMENT_FIELD = re.compile(rf"{_DOCUMENT}\s*=\s*\S")
"""Beginning of a comment that names a document; ``docid = 7`` after other words is the text of a
query.
"""


def letor_sheet(
    source: Source, group: AnyPath | None, notes: Notes, complain: Complain
) -> JudgmentSheet:
    r"""Read grades, features and the documents of comments."""
    items = read_labels(source, group, notes, complain)
    features: list[dict[int, float]] = []
    comments: list[str] = []
    # Only lines with a label are parsed again: their numbers rise, and 0 is no line.
    wanted = iter(items.lines.tolist())
    at = next(wanted, 0)
    for number, line in enumerate(source.open(), 1):
        if number == at:
            pairs = feature_pairs(line, source.path, number)
            features.append({int(index): float(value) for index, value in pairs.tolist()})
            comments.append(decode_id(line.partition(b"#")[2].strip()))
            at = next(wanted, 0)
    named = _documents(items, comments)
    left = {"comments": named.left} if named.left else {}
    codes = items.codes.tolist()
    grades = items.labels.tolist()
    lines = items.lines.tolist()
    rows = [
        JudgmentRow(
            query=items.queries[code],
            document=comment.document,
            grade=grade,
            assessor="",
            query_text=comment.query_text,
            text="",
            values=comment.values,
            features=features_of_line,
            place=(source.path, line),
        )
        for code, grade, line, comment, features_of_line in zip(
            codes, grades, lines, named.lines, features, strict=True
        )
    ]
    seen = SeenPairs(complain)
    return sheet_of([row for row in rows if seen.is_new(row)], left=left)


class _Comment(NamedTuple):
    """The fields of a line that its comment names."""

    document: str
    query_text: str = ""
    values: Mapping[str, str] = _NO_FIELDS


class _Named:
    """The comment of each line, read in the way that fits all lines."""

    def __init__(self, lines: Sequence[_Comment], left: Iterable[str] = ()) -> None:
        self.lines = lines
        # Comments with a part that is in no row.
        self.left = [comment for comment in left if comment]


def _documents(items: LabelledItems, comments: Sequence[str]) -> _Named:
    """Find documents in ``docid =``, as the first words of comments, or by their numbers."""
    if comments and all(map(DOCUMENT_FIELD.match, comments)):
        return _named_by_field(comments)
    words = [comment.split(None, 1) for comment in comments]
    if words and all(words):
        documents = [word[0] for word in words]
        tails = [word[1].strip() if len(word) > 1 else "" for word in words]
        codes = items.codes.tolist()
        # First words that a query repeats name no documents.
        if len(set(zip(codes, documents, strict=True))) == len(words):
            return _named_by_first_word(codes, documents, tails, comments)
    return _Named([_Comment(document) for document in items.documents], comments)


def _named_by_field(comments: Sequence[str]) -> _Named:
    lines, left = [], []
    for comment in comments:
        pairs = _FIELD.findall(comment)
        fields = dict(reversed(pairs))  # the first of a name counts
        document = fields.pop(_DOCUMENT)
        lines.append(_Comment(document, "", dict(reversed(fields.items()))))
        has_repeated = len(fields) + 1 < len(pairs)
        left.append(comment if has_repeated or _FIELD.sub("", comment).strip() else "")
    return _Named(lines, left)


def _named_by_first_word(
    codes: Sequence[int],
    documents: Sequence[str],
    tails: Sequence[str],
    comments: Sequence[str],
) -> _Named:
    """Take the tail of a comment as the text of the query, if each query has one tail."""
    tails_of: dict[int, set[str]] = {}
    for code, tail in zip(codes, tails, strict=True):
        tails_of.setdefault(code, set()).add(tail)
    if any(len(different) > 1 for different in tails_of.values()):
        return _Named([_Comment(document) for document in documents], comments)
    pairs = zip(documents, tails, strict=True)
    return _Named([_Comment(document, valid_text(tail)) for document, tail in pairs])


ASSESSOR = ("assessor", "rater", "judge", "annotator", "user", "useremail", "username", "email")
"""Usual names of the column of assessors, without case and punctuation."""
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


def _name_columns(names: Sequence[str], columns: Columns, path: str, notes: Notes) -> _Names:
    chosen = choose_columns(names, "qrels", columns, path, notes)
    twice = next((name for name, count in Counter(names).items() if name and count > 1), None)
    if twice is not None:
        raise InputError(
            f"{path}: found {names.count(twice)} columns {shown(twice)}, expected one; rename or "
            "drop the others"
        )
    rest = [name for name in names if name not in chosen.names]

    def take(usual: Sequence[str]) -> str:
        """Take the column with the first of these names that is left."""
        for word in usual:
            for name in rest:
                if plain(name) == word:
                    rest.remove(name)
                    return name
        return ""

    assessor = take(ASSESSOR)
    query_text = take(_QUERY_TEXT)
    text = take(_TEXT)
    features = {
        name: int(name[len(FEATURE) :])
        for name in rest
        if name.startswith(FEATURE) and _is_number(name[len(FEATURE) :])
    }
    by_number: dict[int, str] = {}
    for name, number in features.items():
        if by_number.setdefault(number, name) != name:
            raise InputError(
                f"{path}: found columns {by_number[number]!r} and {name!r}, expected one column of "
                f"feature {number}"
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
    fields = record.fields
    place = record.place
    chosen = names.chosen
    missing = next((name for name in chosen.names[:2] if name not in fields), None)
    if missing is not None:
        complain(
            Complaint("null", *place, f"no field {missing!r}", "the fields of the other records")
        )
        return None

    # A check gives the value, or the kind of complaint, what was found, and what was expected.
    query = check_id(fields[chosen.query])
    document = check_id(fields[chosen.document])
    grade = _grade(fields.get(chosen.value)) if chosen.value else 1.0
    for checked, name in (
        (query, chosen.query),
        (document, chosen.document),
        (grade, chosen.value),
    ):
        if isinstance(checked, tuple):
            kind, content, expected = checked
            complain(Complaint(kind, *place, f"{content} in column {name!r}", expected))
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
            content = f"{describe_value(value)} in column {name!r}"
            complain(Complaint("number", *place, content, "a number"))
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


_NO_ITERATION = (b"0", b"Q0")  # second columns that say nothing


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


def _plain(reading: _Reading) -> JudgmentSheet:
    """Judgments of a format that holds grades alone."""
    parts = read_part(
        source=reading.source,
        table="qrels",
        kind=reading.kind,  # type: ignore[arg-type]
        columns=reading.options.columns,
        notes=reading.notes,
        complain=refuse,
    )
    empty = empty_queries(parts)
    left = {"empty_queries": empty} if empty else {}
    return JudgmentSheet(
        rows=rows_of_qrels(to_qrels([parts], [reading.source.path], "error")), left=left
    )


def empty_queries(parts: Rows | Blocks) -> list[str]:
    """Queries without a document, which rows cannot hold."""
    if not isinstance(parts, Blocks):
        return []
    filled = {block.query for block in parts.blocks if block.documents}
    queries = dict.fromkeys(block.query for block in parts.blocks)
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


def _trec(reading: _Reading) -> JudgmentSheet:
    source = reading.source
    # A file with this mark has the assessor in the second column.
    if bytes(source.data[: len(ORIGIN_MARK)]) == ORIGIN_MARK.encode():
        sheet = assessor_sheet(source, reading.notes, refuse)
        sheet.left["comments"] = ["the origin of the judgments"]
        return sheet
    qrels = read_trec_qrels([source], "error", reading.notes)
    left = {}
    fields = map(_second, source.open())
    iterations = [field for field in fields if field not in _NO_ITERATION]
    if iterations:
        left["iterations"] = [field.decode("utf-8", "replace") for field in iterations]
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


def _label_studio(reading: _Reading) -> JudgmentSheet:
    columns = reading.options.columns
    named = dict(columns) if isinstance(columns, Mapping) else {}
    fields = LabelStudioFields(
        query=named.get("query", ""),
        document=named.get("document", ""),
        control=named.get("grade", ""),
        labels=reading.options.labels,
    )
    return label_studio_sheet(reading.source, refuse, fields)


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
