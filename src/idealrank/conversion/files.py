"""A file of judgments or a run converted to another: read row by row, written to a name of its own,
renamed when it is complete.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice
from math import isfinite
from pathlib import PurePath
from typing import IO, Any

from idealrank._files import appearing, descriptor, real_path
from idealrank._lazy import load_extra
from idealrank.conversion.contents import Content, content_of
from idealrank.conversion.judgment_sheets import SheetOptions, empty_queries, judgment_sheet
from idealrank.conversion.judgments import POLICIES, JudgmentOptions, fitted
from idealrank.conversion.losses import Loss, LossCounter, listed
from idealrank.conversion.query_numbers import NumberedRun, QueryNumbers
from idealrank.conversion.record_sheets import FEATURE
from idealrank.conversion.run_rows import (
    NAMES,
    RUN_TARGETS,
    Repeats,
    RunRow,
    lose_columns,
    lose_tag,
    rows_of_run,
    run_cells,
)
from idealrank.conversion.targets import TARGETS, cell_text, table_cells, table_names
from idealrank.data.run import name_of
from idealrank.errors import InputError, OptionError
from idealrank.io.checked_cells import shown
from idealrank.io.complaints import Notes, refuse
from idealrank.io.formats.detection import FORMAT_NAMES, FORMATS, detect
from idealrank.io.judgment_files import kinds_of
from idealrank.io.judgment_rows import JudgmentSheet
from idealrank.io.label_grades import labels_text
from idealrank.io.read import read_part
from idealrank.io.row_parts import to_run
from idealrank.io.sources import Source, open_sources
from idealrank.io.table_columns import label_grades, plain_columns
from idealrank.io.texts import read_texts

CONTENTS: tuple[str, ...] = ("auto", "judgments", "run")
SOURCES: tuple[str, ...] = (*FORMATS, "qrels_jg")
"""Formats that can be read."""

_ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".letor": "letor",
    ".svm": "letor",
    ".svmlight": "letor",
    ".libsvm": "letor",
    ".trec": "trec",
    ".qrels": "trec",
    ".qrel": "trec",
    ".run": "trec",
    ".res": "trec",
}
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
# Formats without named columns.
_FIXED = ("trec", "qrels_jg", "letor", "quepid", "rre", "opensearch", "ubi")
_ROWS = 1 << 14  # of a Parquet file at a time
_LONGEST_TEXT = 1 << 30  # letters, so that no text is cut


@dataclass(frozen=True, kw_only=True)
class Conversion:
    """Report of a conversion: formats, counts and losses.

    Attributes
    ----------
    source, target : str
        Paths, as typed.
    source_format, target_format : str
        The formats.
    content : {"judgments", "run"}
        What the files hold.
    n_read, n_written : int
        Rows: grades and unjudged documents, or results of a run.
    n_queries : int
        Queries written.
    losses : tuple of Loss
        What the target cannot hold, by kind.

    Examples
    --------
    >>> conversion = Conversion(
    ...     source="a.csv",
    ...     target="a.qrels",
    ...     source_format="csv",
    ...     target_format="trec",
    ...     content="judgments",
    ...     n_read=3,
    ...     n_written=2,
    ...     n_queries=1,
    ...     losses=(Loss(kind="unjudged", count=1),),
    ... )
    >>> conversion.is_lossless
    False
    """

    source: str
    target: str
    source_format: str
    target_format: str
    content: Content
    n_read: int
    n_written: int
    n_queries: int
    losses: tuple[Loss, ...]

    @property
    def is_lossless(self) -> bool:
        """True if the target holds everything."""
        return not self.losses


@dataclass(frozen=True, kw_only=True)
class ConversionOptions:
    """Options of a conversion."""

    # source_format, target_format: Formats; ``"auto"`` inspects the content of the source and the
    # ending of the target
    source_format: str = "auto"
    target_format: str = "auto"
    content: str = "auto"  # What the source holds
    sheet: SheetOptions = field(default_factory=SheetOptions)  # How the source is read
    # queries, documents: Files of texts by id
    queries: str | None = None
    documents: str | None = None
    # File for the texts of the queries; ids that it has already stay
    write_queries: str | None = None
    assessors: str = ""
    scale: Sequence[float] = ()
    keep_unjudged: bool = False
    name: str = ""
    strict: bool = False  # Refuse losses: no file is written


def convert_file(source: str, target: str, options: ConversionOptions, notes: Notes) -> Conversion:
    """Convert a file; the function of `idealrank.convert`."""
    _check(options)
    _refuse_shared(source, target, options)
    file = open_sources(source, notes)[0]
    source_format = options.source_format
    kind = "qrels_jg" if source_format == "qrels_jg" else detect(file, source_format, notes)
    content: Content = "run" if options.content == "run" else "judgments"
    if options.content == "auto":
        content = content_of(
            source=file,
            kind=kind,
            columns=options.sheet.columns,
            target=target,
            target_format=options.target_format,
            notes=notes,
        )
    target_format = _target_format(target, options.target_format, content)
    _refuse_idle(kind, content, options)
    try:
        if content == "run":
            return _convert_run(
                file=file,
                target=target,
                kind=kind,
                target_format=target_format,
                options=options,
                notes=notes,
            )
        return _convert_judgments(
            file=file,
            target=target,
            kind=kind,
            target_format=target_format,
            options=options,
            notes=notes,
        )
    finally:
        file.refuse_cut()


def _check(options: ConversionOptions) -> None:
    if options.source_format not in SOURCES:
        raise OptionError(
            f"source_format={options.source_format}: expected one of {' | '.join(SOURCES)}"
        )
    targets = ("auto", *TARGETS)
    if options.target_format not in targets:
        raise OptionError(
            f"target_format={options.target_format}: expected one of {' | '.join(targets)}"
        )
    if options.content not in CONTENTS:
        raise OptionError(f"content={options.content}: expected one of {' | '.join(CONTENTS)}")
    if not all(map(isfinite, options.scale)):
        raise OptionError(
            f"scale={list(options.scale)}: expected finite grades, such as [0, 1, 2, 3]"
        )


def _refuse_idle(kind: str, content: Content, options: ConversionOptions) -> None:
    """Refuse options that change nothing: their user expects that they do."""
    kind_name = FORMAT_NAMES.get(kind, kind)  # type: ignore[call-overload]
    labels = label_grades(options.sheet.columns)
    if labels and kind in _FIXED:
        raise OptionError(
            f"labels={labels_text(labels)}: found {kind_name}, expected a format whose grades can "
            "be words: CSV, JSON, Parquet, Arrow or Label Studio"
        )
    columns = plain_columns(options.sheet.columns)
    if columns and kind in _FIXED:
        column_text: Any = list(columns)
        if isinstance(columns, Mapping):
            column_text = ",".join(f"{role}={name}" for role, name in columns.items())
        raise OptionError(
            f"columns={column_text}: found {kind_name}, expected a table with named columns"
        )
    if options.sheet.group is not None and kind != "letor":
        raise OptionError(f"group={options.sheet.group}: found {kind_name}, expected LETOR lines")
    if content != "run":
        return
    of_judgments = {
        "assessors": options.assessors,
        "labels": labels_text(labels),
        "scale": list(options.scale),
        "keep_unjudged": options.keep_unjudged,
        "queries": options.queries,
        "documents": options.documents,
    }
    for name, value in of_judgments.items():
        if value:
            is_guess = options.content == "auto"
            raise OptionError(
                f"{name}={value}: found a run, expected judgments, since a run has no grades and "
                "texts",
                hint="content='judgments' reads judgments" if is_guess else "",
                command_hint="--content judgments reads judgments" if is_guess else "",
            )


def _lose_kinds(
    file: Source,
    kind: str,
    target_format: str,
    sheet: JudgmentSheet,
    options: ConversionOptions,
    losses: LossCounter,
) -> None:
    """Count kinds of assessors that become one, if the rows no longer tell them apart."""
    target = TARGETS[target_format]
    if target.columns or (target.assessors and sheet.has_assessors):
        return
    if options.assessors and options.assessors not in POLICIES:  # the grades of one assessor alone
        return
    kinds = kinds_of(file, "trec" if kind == "qrels_jg" else kind, options.sheet.columns)
    if len(kinds) > 1:
        for assessor_kind in kinds:
            losses.add("kinds", assessor_kind)


def _refuse_shared(source: str, target: str, options: ConversionOptions) -> None:
    """Refuse to write the texts of queries over an input or the judgments, which would be lost."""
    query_file = options.write_queries
    if query_file is None:
        return
    group = options.sheet.group
    paths = {
        "the file to read": source,
        "the file to write": target,
        "queries": options.queries,
        "documents": options.documents,
        "group": None if group is None else os.fspath(group),
    }
    for role, path in paths.items():
        if path is None or (path == "-" and role != "the file to write"):
            continue
        are_files = "-" not in (path, query_file)
        if path == query_file or (are_files and real_path(path) == real_path(query_file)):
            raise OptionError(
                f"write_queries={query_file}: found the path of {role}, expected another name"
            )


def _target_format(target: str, target_format: str, content: Content) -> str:
    formats = RUN_TARGETS if content == "run" else TARGETS
    ending = PurePath(target).suffix.lower()
    if ending in _COMPRESSED:
        raise OptionError(
            f"{target}: found the ending of a compressed file, expected another, since files are "
            "written as they are"
        )
    chosen = _ENDINGS.get(ending, "") if target_format == "auto" else target_format
    if not chosen:
        raise OptionError(
            f"{target}: found no ending that names a format, expected one of {', '.join(_ENDINGS)}",
            hint=f"set the format with target_format=: {' | '.join(formats)}",
            command_hint=f"set the format with --to: {' | '.join(formats)}",
        )
    if chosen not in formats:
        raise OptionError(
            f"target_format={chosen}: found a run to write, expected one of {' | '.join(formats)}"
        )
    return chosen


def _convert_judgments(
    file: Source,
    target: str,
    kind: str,
    target_format: str,
    options: ConversionOptions,
    notes: Notes,
) -> Conversion:
    losses = LossCounter()
    numbers = QueryNumbers.of_file(options.write_queries)
    judgment_options = JudgmentOptions(
        queries=_texts(options.queries),
        documents=_texts(options.documents),
        assessors=options.assessors,
        scale=frozenset(options.scale),
        number_queries=options.write_queries is not None,
        numbers=numbers,
        keep_unjudged=options.keep_unjudged,
        name=options.name or _stem(file.path),
    )
    sheet = judgment_sheet(file, kind, options.sheet, notes)
    _lose_kinds(
        file=file,
        kind=kind,
        target_format=target_format,
        sheet=sheet,
        options=options,
        losses=losses,
    )
    fitted_rows = fitted(sheet, target_format, judgment_options, losses)
    layout = fitted_rows.layout
    writer = TARGETS[target_format].write
    with _output(target) as output:
        if writer is not None:
            _write_text(writer(fitted_rows.rows, layout), output)
        else:
            _write_parquet(map(table_cells, fitted_rows.rows), table_names(layout), output)
        if not fitted_rows.n_written:
            raise InputError(f"{file.path}: found no judgments to write, expected at least one")
        if options.strict and losses.losses():
            raise _refused(file.path, target_format, losses.losses())
        if options.write_queries:
            _write_queries(fitted_rows.query_texts, options.write_queries, numbers)
    return Conversion(
        source=file.path,
        target=target,
        source_format=kind,
        target_format=target_format,
        content="judgments",
        n_read=fitted_rows.n_read,
        n_written=fitted_rows.n_written,
        n_queries=len(fitted_rows.queries),
        losses=losses.losses(),
    )


def _texts(path: str | None) -> Mapping[str, str] | None:
    return read_texts(path, length=_LONGEST_TEXT) if path else None


def _convert_run(
    file: Source,
    target: str,
    kind: str,
    target_format: str,
    options: ConversionOptions,
    notes: Notes,
) -> Conversion:
    losses = LossCounter()
    name = options.name or _stem(file.path)
    run = _read_run(file=file, kind=kind, options=options, notes=notes, name=name, losses=losses)
    counts = _RunCounts()
    if options.write_queries is not None and target_format != "trec":
        raise OptionError(
            f"write_queries={options.write_queries}: found {target_format}, whose ids may be any "
            "text, expected trec"
        )
    numbers = QueryNumbers.of_file(options.write_queries)
    numbered = NumberedRun(numbers)
    rows = rows_of_run(run) if options.write_queries is None else numbered.rows(rows_of_run(run))
    rows = counts.counted(rows)
    writer = RUN_TARGETS[target_format]
    with _output(target) as output:
        if writer is not None:
            _write_text(writer(rows, name), output)
        else:
            _write_parquet(map(run_cells, rows), NAMES, output)
        if kind == "trec" and counts.n_rows:
            lose_tag(file, target_format, losses)
        lose_columns(file, kind, target_format, options.sheet.columns, losses)
        if options.strict and losses.losses():
            raise _refused(file.path, target_format, losses.losses())
        if options.write_queries:
            _write_queries(numbered.texts, options.write_queries, numbers)
        counts.repeats.tell(file.path, notes)
    return Conversion(
        source=file.path,
        target=target,
        source_format=kind,
        target_format=target_format,
        content="run",
        n_read=counts.n_rows,
        n_written=counts.n_rows,
        n_queries=len(counts.queries),
        losses=losses.losses(),
    )


@dataclass
class _RunCounts:
    """Counts of the rows of a run, complete when the rows have been read."""

    n_rows: int = 0
    queries: set[str] = field(default_factory=set)
    repeats: Repeats = field(default_factory=Repeats)

    def counted(self, rows: Iterable[RunRow]) -> Iterator[RunRow]:
        for row in rows:
            self.n_rows += 1
            self.queries.add(row.query)
            self.repeats.add(row)
            yield row


def _read_run(
    file: Source,
    kind: str,
    options: ConversionOptions,
    notes: Notes,
    name: str,
    losses: LossCounter,
) -> Any:
    if kind == "trec":
        from idealrank.io.formats.trec import read_trec_run  # noqa: PLC0415  (judgments need none)

        return read_trec_run([file], name)
    part = read_part(
        source=file,
        table="run",
        kind=kind,  # type: ignore[arg-type]
        columns=options.sheet.columns,
        notes=notes,
        complain=refuse,
    )
    losses.add_all({"empty_queries": empty_queries(part)})
    return to_run([part], [file.path], name)


def _refused(path: str, target_format: str, losses: Sequence[Loss]) -> InputError:
    return InputError(
        f"{path}: {listed(losses)}; expected nothing to be lost in {target_format}",
        hint="choose a format that holds it, or leave out strict=",
        command_hint="choose a format that holds it, or leave out --lossless",
    )


def _stem(path: str) -> str:
    return "judgments" if path == "-" else name_of(path)


@contextmanager
def _output(target: str) -> Iterator[IO[bytes]]:
    """A file that becomes the target when all went well; a device or standard output gets its
    content at the end.
    """
    number = descriptor(target)
    path = None if target == "-" or number is not None else real_path(target)
    try:
        if path is not None and path.is_dir():
            raise InputError(f"{target}: found a directory, expected the name of a file to write")
        if path is not None and (path.is_file() or not path.exists()):
            with appearing(path) as unfinished, unfinished.open("xb") as file:
                yield file
            return

        with tempfile.TemporaryFile() as file:
            yield file
            file.seek(0)
            if number is not None:
                with os.fdopen(os.dup(number), "wb") as stream:
                    shutil.copyfileobj(file, stream)
            elif path is None:
                shutil.copyfileobj(file, sys.stdout.buffer)
                sys.stdout.buffer.flush()
            else:
                with path.open("wb") as device:
                    shutil.copyfileobj(file, device)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror or error}") from None


def _write_text(pieces: Iterable[str], file: IO[bytes]) -> None:
    for piece in pieces:
        try:
            file.write(piece.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError:  # half a surrogate pair in a column that is only passed on
            file.write(piece.encode("utf-8", "replace"))


def _write_parquet(
    records: Iterable[Mapping[str, Any]], names: Sequence[str], file: IO[bytes]
) -> None:
    """Columns of text and numbers; a column that holds anything but numbers is text."""
    pyarrow = load_extra("pyarrow", "writing Parquet", "arrow")
    parquet = import_module("pyarrow.parquet")
    numeric: set[str] = set()
    for name in names:
        if any("\ud800" <= letter <= "\udfff" for letter in name):  # bytes that are no UTF-8
            raise InputError(
                f"found the column {shown(name)}, expected a name in UTF-8, the text of Parquet",
                hint="use csv or jsonl",
            )
        if name in ("grade", "score") or name.startswith(FEATURE):
            numeric.add(name)
    text = pyarrow.string()
    number = pyarrow.float64()
    types = {name: number if name in numeric else text for name in names}
    schema = pyarrow.schema(list(types.items()))
    waiting = iter(records)
    with parquet.ParquetWriter(file, schema) as writer:
        while rows := list(islice(waiting, _ROWS)):
            columns = {}
            for name in names:
                cell_of = _number_or_null if name in numeric else _text_or_null
                columns[name] = [cell_of(row.get(name)) for row in rows]
            try:
                writer.write_table(pyarrow.table(columns, schema=schema))
            except UnicodeEncodeError:
                raise InputError(
                    "found an id that is not UTF-8, expected UTF-8, the text of Parquet",
                    hint="use csv or jsonl",
                ) from None


def _number_or_null(value: Any) -> float | None:
    return None if value is None or value == "" else float(value)


def _text_or_null(value: Any) -> str | None:
    return None if value is None or value == "" else str(cell_text(value))


def _write_queries(texts: Mapping[str, str], path: str, numbers: QueryNumbers) -> None:
    """Texts by id, below those that the file has already: JSON lines as BEIR has them, or lines
    ``ID<tab>TEXT``.
    """
    new_texts = {query: text for query, text in texts.items() if query not in numbers.texts}
    all_texts = numbers.texts | new_texts
    if numbers.texts and not new_texts:
        return
    import json  # noqa: PLC0415  (few conversions write texts)

    is_json = PurePath(path).suffix.lower() in (".jsonl", ".ndjson")

    def line(query: str, text: str) -> str:
        if is_json:
            return json.dumps({"_id": query, "text": text}, ensure_ascii=False) + "\n"
        return f"{query}\t{' '.join(text.split())}\n"

    with _output(path) as file:
        _write_text((line(query, text) for query, text in all_texts.items()), file)
