"""Content of a file to convert: judgments or a run, by its format, its columns and the ending of
the file to write.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, TypeAlias

from idealrank.conversion.run_rows import RUN_TARGETS
from idealrank.conversion.targets import TARGETS
from idealrank.errors import OptionError, shown
from idealrank.io.complaints import Notes
from idealrank.io.formats.delimited import rows_in_batches, sniff_delimiter
from idealrank.io.formats.detection import FORMATS_OF
from idealrank.io.record_files import columnar_records
from idealrank.io.sources import BYTE_ORDER_MARK, Source
from idealrank.io.table_columns import (
    ASSESSOR,
    GRADE,
    RANK,
    SCORE,
    Columns,
    candidates,
    named_columns,
    plain,
    query_column,
)

Content: TypeAlias = Literal["judgments", "run"]

_ENDINGS: dict[str, Content] = {
    ".run": "run",
    ".res": "run",
    ".qrels": "judgments",
    ".qrel": "judgments",
    ".letor": "judgments",
    ".svm": "judgments",
    ".svmlight": "judgments",
    ".libsvm": "judgments",
}
_BEIR = {"queryid", "corpusid", "score"}  # columns of BEIR's judgments
# Names that columns of grades and columns of scores have.
_EITHER = tuple(word for word in chain.from_iterable(GRADE) if word in SCORE[0])
_RECORDS = 100  # of JSON, read for the names of their fields
_GRADES = 20  # more different whole numbers than that are no grades
_HEAD = 1 << 20  # bytes of JSON that are read first
_DECODER = json.JSONDecoder()
_GAP = re.compile(r"[\s,]*")  # between the values of an array
# An object whose first value is an object or a list: queries with their documents.
_NESTED = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[{\[]')
# Numbers of documents; queries before them may have no documents, or lists of them.
# Loops are unrolled: before Python 3.11.5 a possessive one over a group misses matches.
_KEY = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_LIST = rb'\[[^"\[\]{}]*(?:' + _KEY + rb'[^"\[\]{}]*)*\]'
_NUMBERS = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*\{(?:[\s,{}]*%b\s*:\s*(?:\{\s*\}|%b))*[\s,{}]*%b\s*:\s*\{\s*%b\s*:\s*-?[0-9]"
    % (_KEY, _LIST, _KEY, _KEY)
)
_VALUE = re.compile(rb'"\s*:\s*(-?[0-9][0-9.eE+-]*)')  # a number after its name


class _Signs(NamedTuple):
    """Signs of the content in a file."""

    content: Content | None  # What the file says that it holds; None if it says nothing
    reason: str  # Phrase for messages
    fits_both: bool = True  # Whether the file can be read as either without naming a column
    is_nameless: bool = False  # Whether the numbers have no column name
    is_guess: bool = False  # Whether the names of columns leave a doubt


def content_of(
    source: Source, kind: str, columns: Columns, target: str, target_format: str, notes: Notes
) -> Content:
    r"""Decide whether a file holds judgments or a run."""
    signs = _signs(source, kind, columns)
    needed, reason = _needed(target, target_format)
    if needed == "run" and (signs.fits_both or signs.content == "run"):
        return "run"
    if needed is not None and signs.content not in (needed, None):
        complaint = f"{source.path}: found {signs.reason}, expected {_noun(needed)}, since {reason}"
        raise _refusal(complaint, (needed,) if signs.fits_both else ())
    if signs.is_nameless and _like_scores(source):
        complaint = (
            f"{source.path}: found numbers that may be grades or scores, expected grades such as "
            f"0, 1, 2"
        )
        raise _refusal(complaint, (needed,) if needed else ("judgments", "run"))
    content = signs.content or "judgments"
    if signs.is_guess:
        notes.inform(f"{source.path}: read as {_noun(content)}, since it has {signs.reason}")
    return content


def _noun(content: Content) -> str:
    return "a run" if content == "run" else "judgments"


def _refusal(complaint: str, remedies: Sequence[Content]) -> OptionError:
    """The error, with the contents that the file can be read as."""
    if not remedies:
        return OptionError(complaint)
    in_python = " or ".join(f"content={content!r}" for content in remedies)
    on_command_line = " or ".join(f"--content {content}" for content in remedies)
    return OptionError(complaint, hint=f"set {in_python}", command_hint=f"set {on_command_line}")


def _needed(target: str, target_format: str) -> tuple[Content | None, str]:
    """Content that the file to write must have, with the reason; None if it takes both."""
    if target_format in TARGETS and target_format not in RUN_TARGETS:
        return "judgments", f"{target_format} holds judgments only"
    ending = PurePath(target).suffix.lower()
    content = _ENDINGS.get(ending)
    return content, f"{target} ends in {ending}"


def _signs(source: Source, kind: str, columns: Columns) -> _Signs:
    if kind in FORMATS_OF["run"]:
        return _Signs("run", "a run", fits_both=False)
    if kind == "trec":
        return _trec_signs(source)
    if kind not in ("csv", "tsv", "parquet", "arrow", "json", "jsonl"):
        return _Signs("judgments", "judgments", fits_both=False)
    names = _names(source, kind)
    if names is None:
        return _Signs(None, "text that cannot be read")
    if not names:
        return _Signs(None, "numbers by query and document", is_nameless=True)
    return _table_signs(names, columns)


def _trec_signs(source: Source) -> _Signs:
    lines = (
        line for line in islice(source.open(), 1000) if line.strip() and not line.startswith(b"#")
    )
    first = next(lines, b"")
    if not first:
        return _Signs(None, "no line")
    # Judgments have four fields and runs six; ids with blanks need tabs between the fields.
    n_fields = len(first.split(b"\t"))
    if n_fields >= 5 or (n_fields != 4 and len(first.split()) >= 5):
        return _Signs("run", "a run", fits_both=False)
    return _Signs("judgments", "judgments", fits_both=False)


def _table_signs(names: list[str], columns: Columns) -> _Signs:
    grade = named_columns(columns, "qrels").get("grade", "")
    roles = named_columns(columns, "run")
    score = roles.get("score", "") or roles.get("rank", "")
    if grade and not score:
        return _Signs("judgments", f"grades in column {shown(repr(grade))}", fits_both=False)
    if score and not grade:
        return _Signs("run", f"scores in column {shown(repr(score))}", fits_both=False)
    grades = candidates(names, (*GRADE[0], "gain", "target"))
    scores = candidates(names, (*SCORE[0], *SCORE[1], *RANK[0]))
    if grades or {plain(name) for name in names} == _BEIR:
        reason = f"grades in column {shown(repr((grades or scores)[0]))}"
        return _Signs("judgments", reason, fits_both=bool(scores))
    either = candidates(names, _EITHER)
    if either and (assessor := _assessor(names, columns)):
        return _Signs("judgments", f"column {shown(repr(assessor))}", is_guess=True)
    if scores:
        reason = f"column {shown(repr(scores[0]))} and no column of grades"
        return _Signs("run", reason, fits_both=bool(either), is_guess=True)
    return _Signs("judgments", "no column of scores", fits_both=False)


def _assessor(names: list[str], columns: Columns) -> str:
    """The column of assessors; empty where users are the queries, as in recommendations."""
    query = query_column(names, columns)
    other_roles = {query, *named_columns(columns, "run").values()}
    usual = [
        word
        for word in ASSESSOR
        if not (plain(query).startswith("user") and word.startswith(("user", "email")))
    ]
    return next(iter(candidates([name for name in names if name not in other_roles], usual)), "")


def _names(source: Source, kind: str) -> list[str] | None:
    """Columns or fields of a table; empty for numbers by query and document, None if the reader of
    the format will complain.
    """
    if kind in ("csv", "tsv"):
        delimiter = "\t" if kind == "tsv" else sniff_delimiter(source)
        header, _ = next(rows_in_batches(source, delimiter), ([[]], None))
        return [name.strip() for name in header[0]] if header else []
    if kind in ("parquet", "arrow"):
        return _columnar_names(source)
    if kind == "json" and _NESTED.match(source.data):
        return []
    names: dict[str, None] = {}
    try:
        for record in islice(_records(source, kind), _RECORDS):
            if not isinstance(record, dict):
                return None
            if record and all(isinstance(value, dict | list) for value in record.values()):
                return []
            names.update(dict.fromkeys(record))
    except (ValueError, RecursionError):
        return None
    return list(names) or None


def _columnar_names(source: Source) -> list[str]:
    names: list[str] = []

    def choose(columns: Any) -> Any:
        names.extend(columns)
        return columns

    next(columnar_records(source, choose), None)
    return names


def _records(source: Source, kind: str) -> Iterator[Any]:
    """Records of JSON lines or of an array, or the value of other JSON."""
    if kind == "jsonl":
        yield from (
            json.loads(line.removeprefix(BYTE_ORDER_MARK)) for line in source.open() if line.strip()
        )
        return
    # The head of a long array is enough for most readers. A record that the head cuts is read
    # again from four times as much.
    size = _HEAD
    n_given = 0
    is_whole = False
    while not is_whole:
        is_whole = size >= len(source.data)
        text = bytes(source.data[:size]).decode("utf-8-sig", "replace").strip()
        is_array = text.startswith("[")
        try:
            records = _values(text[1:]) if is_array else iter([_DECODER.raw_decode(text)[0]])
            for record in islice(records, n_given, None):
                n_given += 1
                yield record
            is_whole = True
        except ValueError:
            if is_whole or not is_array:
                raise
            size *= 4


def _values(text: str) -> Iterator[Any]:
    """Values of an array after its bracket."""
    position = 0
    while (position := _GAP.match(text, position).end()) < len(text):  # type: ignore[union-attr]
        if text[position] == "]":
            return
        value, position = _DECODER.raw_decode(text, position)
        yield value
    raise ValueError("the array has no end")


def _like_scores(source: Source) -> bool:
    """Return whether numbers by query and document are no whole grades: some has a fraction, or
    there are very many.
    """
    values: set[float] = set()
    if not _NUMBERS.match(source.data):
        return False
    for match in _VALUE.finditer(source.data):
        try:
            value = float(match[1])
        except ValueError:
            return False
        values.add(value)
        if not value.is_integer() or len(values) > _GRADES:
            return True
    return False
