"""Layouts of the judgments that labelling and judges write: TREC lines, or tables, whose ids may be
any text. The ending of the name decides.
"""

import csv
import io
import json
import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import NamedTuple

from idealrank.errors import InputError, shown

COLUMNS = ("query", "document", "grade", "assessor", "kind")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_JSON_LINES = (".jsonl", ".ndjson")
_BREAK = re.compile(r"[\r\n\0]")  # readers of tables refuse such an id


class WrittenJudgment(NamedTuple):
    """A judgment to be written."""

    query: str
    assessor: str  # Its name, without blanks
    document: str
    grade: str  # As text
    kind: str  # Kind of the assessor


def table_ending(path: str) -> str:
    """Return the ending of a table; empty for TREC lines."""
    ending = PurePath(path).suffix.lower()
    return ending if ending in (*_DELIMITERS, *_JSON_LINES) else ""


def is_word(name: str) -> bool:
    """Return whether a line of fields that blanks separate can hold an id, even as its first
    field.
    """
    if not name or name.startswith("#"):
        return False
    return not any(letter.isspace() or ord(letter) < 0x20 or letter == "\x7f" for letter in name)


def check_ids(path: str, pairs: Iterable[tuple[str, str]], *, where: str = "") -> None:
    """Refuse ids of query and document that a file of judgments cannot hold, and name one that can;
    `where` is the file that the ids come from.
    """
    ending = table_ending(path)
    if ending in _JSON_LINES:
        return
    for pair in pairs:
        for kind, text in zip(("query", "document"), pair, strict=True):
            if is_word(text) or (ending and not _BREAK.search(text)):
                continue
            problem = f"{where or path}: found {kind} {shown(repr(text))}, expected an id "
            other = PurePath(path).with_suffix(".jsonl" if ending else ".csv")
            if ending:
                raise InputError(
                    f"{problem}on one line", hint=f"write JSON lines, such as {shown(other)}"
                )
            # readers take a line that begins with # for a comment
            raise InputError(
                f"{problem}without blanks, control characters and a leading #, since {path} is "
                "TREC text",
                hint=f"write a table, whose ids may be any text: a name that ends in .csv, .tsv or "
                f".jsonl, such as {shown(other)}",
            )


def layout_head(path: str) -> str:
    """Return the line above the judgments of a file; empty for none."""
    delimiter = _DELIMITERS.get(table_ending(path))
    return "" if delimiter is None else _row(COLUMNS, delimiter)


def layout_line(path: str, judgment: WrittenJudgment) -> str:
    """Return the line of a judgment in a file."""
    query, assessor, document, grade, kind = judgment
    check_ids(path, [(query, document)])
    ending = table_ending(path)
    if not ending:
        return f"{query} {assessor} {document} {grade}\n"
    if ending in _DELIMITERS:
        return _row((query, document, grade, assessor, kind), _DELIMITERS[ending])
    ids = {"query": query, "document": document}
    record = {**ids, "grade": json.loads(grade), "assessor": assessor, "kind": kind}
    return json.dumps(record, ensure_ascii=False) + "\n"


def _row(cells: tuple[str, ...], delimiter: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerow(cells)
    return text.getvalue()
