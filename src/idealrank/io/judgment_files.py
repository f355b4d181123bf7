"""Judgments with their origin, whose assessors are of a kind: grades of people and of models are
never joined without a note.

They are qrels whose second column names the assessor, below a line that says how they were made, or
label tables.
"""

import csv
import io
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from idealrank._files import write_bytes
from idealrank.errors import OptionError, shown
from idealrank.io.complaints import Notes
from idealrank.io.formats.delimited import rows_in_batches, sniff_delimiter
from idealrank.io.formats.label_studio import label_studio_kinds
from idealrank.io.formats.nested import as_records, load
from idealrank.io.judgment_layouts import (
    WrittenJudgment,
    layout_head,
    layout_line,
    table_ending,
)
from idealrank.io.record_files import columnar_records, frame_records, line_records
from idealrank.io.sources import Source
from idealrank.io.table_columns import Columns
from idealrank.version import __version__

ORIGIN_MARK = "# idealrank-judgments "
"""Beginning of the line that says how the judgments below it were made."""
KINDS = ("people", "model", "function", "command")
"""Kinds of assessors."""
_LONGEST_LINE = 1 << 20  # bytes in which the end of the first line is looked for
_EXACT = 1 << 53  # the smaller whole numbers are exact
COLUMNS = (
    "query",
    "document",
    "grade",
    "assessor",
    "kind",
    "status",
    "repeat",
    "note",
    "seconds",
    "time",
    "input_tokens",
    "output_tokens",
    "cost",
    "probabilities",
)
"""Columns of a label table."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Label:
    """Outcome of one judgment: a grade, or the reason why there is none."""

    # query, document: Ids
    query: str
    document: str
    grade: float | None  # None where the assessor gave none
    assessor: str  # Name of the person, model, function or program
    kind: str  # What the assessor is
    status: str = "graded"
    repeat: int = 1  # Repetition, from 1
    note: str = ""  # Message of a failure, or the note of a person
    seconds: float | None = None  # Time that the judgment took
    time: str = ""  # When it was given, in ISO 8601 and UTC
    # input_tokens, output_tokens: Tokens that a model read and wrote
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None  # By the prices of the configuration
    probabilities: Mapping[float, float] | None = None  # Probability of each grade

    @property
    def row(self) -> list[str]:
        """Cells of the label table."""
        chances = ""
        if self.probabilities is not None:
            by_grade = {grade_text(grade): chance for grade, chance in self.probabilities.items()}
            chances = json.dumps(by_grade)
        tokens = (self.input_tokens, self.output_tokens)
        return [
            self.query,
            self.document,
            "" if self.grade is None else grade_text(self.grade),
            self.assessor,
            self.kind,
            self.status,
            str(self.repeat),
            self.note,
            "" if self.seconds is None else f"{self.seconds:.3f}",
            self.time,
            *("" if count is None else str(count) for count in tokens),
            "" if self.cost is None else f"{self.cost:.10g}",
            chances,
        ]


def number(value: float) -> int | float:
    """Return a grade as people write it: whole numbers without a point."""
    return int(value) if value.is_integer() and abs(value) < _EXACT else value


def grade_text(grade: float) -> str:
    """Write a grade: without a decimal point if it is a whole number that float64 holds exactly."""
    return str(number(float(grade)))


def assessor_text(name: str) -> str:
    """Return a name as the second column of qrels takes it: without blanks."""
    return "_".join(name.split()) or "unknown"


def origin_path(path: str | Path) -> str:
    """Return the file of the origin that belongs to a table of judgments."""
    return f"{path}.origin.json"


def origin_files(path: str) -> tuple[str, ...]:
    """Return the files beside judgments that hold their origin: one for a table, else none."""
    return (origin_path(path),) if table_ending(path) else ()


def write_judgments(
    path: str, rows: Iterable[tuple[str, str, str, float]], provenance: Mapping[str, Any]
) -> None:
    """Write judgments, whole or not at all."""
    kind = str(provenance.get("kind", ""))
    lines = [judgment_line(*row, path=path, kind=kind) for row in rows]
    write_judgment_lines(path, lines, provenance)


def judgment_line(
    query: str,
    assessor: str,
    document: str,
    grade: float,
    *,
    path: str = "judgments",
    kind: str = "people",
) -> str:
    r"""Return the line of a judgment in a file."""
    judgment = WrittenJudgment(
        query=query,
        assessor=assessor_text(assessor),
        document=document,
        grade=grade_text(grade),
        kind=kind,
    )
    return layout_line(path, judgment)


def write_judgment_lines(path: str, lines: Iterable[str], provenance: Mapping[str, Any]) -> None:
    """Write lines of `judgment_line`, whole or not at all, with their origin: above TREC lines, and
    in a file beside a table, which would be no table with it.
    """
    origin = {"idealrank": __version__, **provenance}
    if table_ending(path):
        content = json.dumps(origin, ensure_ascii=True, indent=1)
        write_bytes([content.encode(), b"\n"], origin_path(path))
        head = layout_head(path)
    else:
        content = json.dumps(origin, ensure_ascii=True, separators=(",", ":"))
        head = "".join([ORIGIN_MARK, content.replace(" ", "\\u0020"), "\n"])
    text = "".join([head, *lines])
    write_bytes([text.encode("utf-8", "surrogateescape")], path)


def origin_of(path: str | Path) -> Mapping[str, Any] | None:
    """Return the provenance at the top of a file of judgments, or beside a table of them; None if
    it has none.

    Examples
    --------
    >>> origin_of("no-such-file") is None
    True
    """
    is_table = bool(table_ending(str(path)))
    try:
        with Path(origin_path(path) if is_table else path).open("rb") as file:
            content = file.read(_LONGEST_LINE) if is_table else file.readline(_LONGEST_LINE)
    except (OSError, ValueError):
        return None
    return _origin(content) if is_table else origin_in(content)


def origin_in(line: bytes) -> Mapping[str, Any] | None:
    """Return the provenance that a line holds; None if it holds none."""
    if not line.startswith(ORIGIN_MARK.encode()):
        return None
    return _origin(line[len(ORIGIN_MARK) :])


def _origin(content: bytes) -> Mapping[str, Any] | None:
    try:
        origin = json.loads(content)
    except ValueError:
        return None
    return origin if isinstance(origin, dict) else None


def refuse_to_replace_judgments(path: str, kinds: Collection[str], *, option: str) -> None:
    """Refuse to write over judgments that were made otherwise, since they may not be repeatable."""
    target = Path(path)
    if not target.is_file() or not target.stat().st_size:
        return
    origin = origin_of(path)
    if origin is None or origin.get("kind") not in kinds:
        problem = (
            "a file without its origin" if origin is None else f"judgments by {origin.get('kind')}"
        )
        raise OptionError(
            f"{option} {path}: found {problem}, expected another name or judgments by "
            f"{' or '.join(kinds)}"
        )


def refuse_to_replace_table(path: str, *, option: str) -> None:
    """Refuse to write over a file that is no label table."""
    target = Path(path)
    if not target.is_file() or not target.stat().st_size:
        return
    with target.open("rb") as file:
        line = file.readline(_LONGEST_LINE)
    if line.rstrip(b"\r\n") != ",".join(COLUMNS).encode():
        raise OptionError(
            f"{option} {path}: found a file that is no label table, expected another name"
        )


def refuse_same_files(written: Mapping[str, str], inputs: Iterable[str | None] = ()) -> None:
    """Refuse to write two files to one place, or one over a file that is read."""
    option_of_place: dict[str, str] = {}
    for option, path in written.items():
        place = path if "\0" in path else os.path.realpath(path)
        other = option_of_place.setdefault(place, option)
        if other != option:
            raise OptionError(f"{option} {path}: found the file of {other}, expected another name")
        if os.path.isfile(path) and any(  # noqa: PTH113  (False for a NUL)
            read_path and os.path.exists(read_path) and os.path.samefile(path, read_path)  # noqa: PTH110, PTH121  (False for a NUL)
            for read_path in inputs
        ):
            raise OptionError(
                f"{option} {path}: found an input file of this command, expected another name"
            )


def write_labels(path: str, labels: Iterable[Label]) -> None:
    """Write a label table: CSV with a row for each judgment, failed ones included."""
    write_label_lines(path, map(label_line, labels))


def label_line(label: Label) -> str:
    r"""Return the line of a label in a label table."""
    return _csv_line(label.row)


def _csv_line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def write_label_lines(path: str, lines: Iterable[str]) -> None:
    """Write lines of `label_line` below the names of the columns, whole or not at all."""
    write_bytes(["".join([_csv_line(COLUMNS), *lines]).encode("utf-8", "surrogateescape")], path)


def read_labels_table(path: str | Path) -> list[dict[str, str]]:
    """Read the rows of a label table."""
    with Path(path).open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        return list(csv.DictReader(file))


# Files that were put together have a line of their origin each.
_LINE = re.compile(rb"^" + re.escape(ORIGIN_MARK.encode()) + rb"[^\n]*", re.MULTILINE)
# columns of a label table, and a kind
_KIND = "kind"
_GRADE = "grade"
_PEOPLE = "people"


def tell_kinds(
    sources: Sequence[Source],
    format: str,  # noqa: A002  (the word every reader of files uses)
    notes: Notes,
    columns: Columns = None,
) -> None:
    r"""Warn of judgments by different kinds of assessors, and note a table of labels without any by
    people.
    """
    kinds_by_path = {source.path: kinds_of(source, format, columns) for source in sources}
    _tell_of_kinds(kinds_by_path, notes, are_tables=format != "trec")


def kinds_of(source: Source, format: str, columns: Columns = None) -> list[str]:  # noqa: A002  (as above)
    r"""Kinds of assessors that a file names, as `tell_kinds` finds them."""
    return list(dict.fromkeys(_kinds(source, format, columns)))


def tell_kinds_of_frame(frame: Any, names: Sequence[str], where: str, notes: Notes) -> None:
    """Warn or note as `tell_kinds` does, for a dataframe with these columns."""
    if _KIND in names:
        records = (record.fields for record in frame_records(frame, where, _chosen))
        kinds = list(dict.fromkeys(_kinds_of(records)))
        _tell_of_kinds({where: kinds}, notes, are_tables=True)


def _tell_of_kinds(
    kinds_by_path: Mapping[str, Sequence[str]], notes: Notes, *, are_tables: bool
) -> None:
    with_kinds = {path: kinds for path, kinds in kinds_by_path.items() if kinds}
    all_kinds = dict.fromkeys(chain.from_iterable(with_kinds.values()))
    if len(all_kinds) > 1:
        listed = ", ".join(
            f"{path}: {' and '.join(map(shown, kinds))}" for path, kinds in with_kinds.items()
        )
        notes.warn(
            f"the judgments are of different kinds ({listed}) and were joined; --judge-qrels keeps "
            f"a judge apart"
        )
    elif are_tables and all_kinds and _PEOPLE not in all_kinds:
        paths = ", ".join(with_kinds)
        kind = next(iter(all_kinds))
        notes.inform(f"{paths}: all judgments are of kind {kind}, none by {_PEOPLE}")


def _kinds(source: Source, format: str, columns: Columns) -> Iterator[str]:  # noqa: A002  (as above)
    """Yield the kinds that a file names, once for each judgment or origin."""
    if format == "label-studio":
        yield from label_studio_kinds(source, columns)
        return
    if format == "trec":
        origins = (origin_in(bytes(line[0])) for line in _LINE.finditer(source.data))
        yield from (str(origin.get("kind")) for origin in origins if origin is not None)
        return
    read = _RECORDS.get(format)
    yield from _kinds_of(read(source)) if read is not None else ()


def _kinds_of(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for record in records:
        kind = record.get(_KIND)
        if isinstance(kind, str) and kind in KINDS and record.get(_GRADE, 0) not in (None, ""):
            yield kind


def _chosen(names: Sequence[str]) -> list[str]:
    return [name for name in names if name in (_KIND, _GRADE)]


def _table(delimiter: str | None) -> Callable[[Source], Iterator[Mapping[str, Any]]]:
    def read(source: Source) -> Iterator[Mapping[str, Any]]:
        batches = rows_in_batches(source, delimiter or sniff_delimiter(source))
        header, _ = next(batches, ([[]], None))
        names = [name.strip() for name in header[0]]
        if _KIND not in names:
            return
        for rows, _ in batches:
            for row in rows:
                yield dict(zip(names, row, strict=False))

    return read


def _columns(source: Source) -> Iterator[Mapping[str, Any]]:
    for record in columnar_records(source, _chosen):
        if _KIND not in record.fields:
            return
        yield record.fields


def _lines(source: Source) -> Iterator[Mapping[str, Any]]:
    word = f'"{_KIND}"'.encode()
    yield from (
        record.fields
        for record in line_records(source.open(), source.path, lambda line: word not in line)
    )


def _array(source: Source) -> Iterator[Mapping[str, Any]]:
    if source.data.find(f'"{_KIND}"'.encode()) < 0:
        return
    yield from (
        dict(record)
        for record in as_records(load(source.read())) or ()
        if isinstance(record, tuple)
    )


_RECORDS: Mapping[str, Callable[[Source], Iterator[Mapping[str, Any]]]] = {
    "csv": _table(None),
    "tsv": _table("\t"),
    "jsonl": _lines,
    "json": _array,
    "parquet": _columns,
    "arrow": _columns,
}
