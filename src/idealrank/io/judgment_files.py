"""Judgments with their origin: qrels whose second column names the assessor below a line that says
how they were made, and label tables.
"""

import csv
import io
import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idealrank._files import write_bytes
from idealrank.errors import FileFormatError, OptionError, shown
from idealrank.version import __version__

ORIGIN_MARK = "# idealrank-judgments "
"""Beginning of the line that says how the judgments below it were made."""
KINDS = ("people", "model", "function", "command")
"""Kinds of assessors."""
_LONGEST_LINE = 1 << 20
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
        chances = (
            ""
            if self.probabilities is None
            else json.dumps({grade_text(key): value for key, value in self.probabilities.items()})
        )
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
            *("" if one is None else str(one) for one in (self.input_tokens, self.output_tokens)),
            "" if self.cost is None else f"{self.cost:.10g}",
            chances,
        ]


def number(value: float) -> int | float:
    """A grade as people write it: whole numbers without a point."""
    return int(value) if value.is_integer() and abs(value) < _EXACT else value


def grade_text(grade: float) -> str:
    """Write a grade: without a decimal point if it is a whole number that float64 holds exactly."""
    return str(number(float(grade)))


def assessor_text(name: str) -> str:
    """Return a name as the second column of qrels takes it: without blanks."""
    return "_".join(name.split()) or "unknown"


def is_word(name: str) -> bool:
    """Return whether a line of fields that blanks separate can hold an id, first on the line,
    too.
    """
    return (
        bool(name)
        and not name.startswith("#")
        and not any(letter.isspace() or ord(letter) < 0x20 or letter == "\x7f" for letter in name)
    )


def check_ids(path: str, query: str, document: str, line: int = 0) -> None:
    """Refuse ids that TREC judgments cannot hold: readers take a line that begins with # for a
    comment.
    """
    for what, text in (("query", query), ("document", document)):
        if not is_word(text):
            expected = (
                "an id without blanks, control characters and a leading #, as TREC judgments need "
                "it"
            )
            raise FileFormatError(path, line, f"{what} {shown(repr(text))}", expected)


def write_judgments(
    path: str, rows: Iterable[tuple[str, str, str, float]], provenance: Mapping[str, Any]
) -> None:
    """Write qrels, whole or not at all."""
    write_judgment_lines(path, [judgment_line(*row, path=path) for row in rows], provenance)


def judgment_line(
    query: str, assessor: str, document: str, grade: float, *, path: str = "judgments"
) -> str:
    r"""Return the line of a judgment."""
    check_ids(path, query, document)
    return f"{query} {assessor_text(assessor)} {document} {grade_text(grade)}\n"


def write_judgment_lines(path: str, lines: Iterable[str], provenance: Mapping[str, Any]) -> None:
    """Write lines of `judgment_line` below their origin, whole or not at all."""
    head = json.dumps(
        {"idealrank": __version__, **provenance}, ensure_ascii=True, separators=(",", ":")
    ).replace(" ", "\\u0020")
    write_bytes(
        ["".join([ORIGIN_MARK, head, "\n", *lines]).encode("utf-8", "surrogateescape")], path
    )


def origin_of(path: str | Path) -> Mapping[str, Any] | None:
    """Return the provenance at the top of a file of judgments; None if it has none.

    Examples
    --------
    >>> origin_of("no-such-file") is None
    True
    """
    try:
        with Path(path).open("rb") as file:
            line = file.readline(_LONGEST_LINE)
    except (OSError, ValueError):
        return None
    return origin_in(line)


def origin_in(line: bytes) -> Mapping[str, Any] | None:
    """Return the provenance that a line holds; None if it holds none."""
    if not line.startswith(ORIGIN_MARK.encode()):
        return None
    try:
        found = json.loads(line[len(ORIGIN_MARK) :])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def refuse_to_replace_judgments(path: str, kinds: Collection[str], *, option: str) -> None:
    """Refuse to write over judgments that were made otherwise: they cannot be had again."""
    target = Path(path)
    if not target.is_file() or not target.stat().st_size:
        return
    origin = origin_of(path)
    if origin is None or origin.get("kind") not in kinds:
        found = (
            "a file without its origin" if origin is None else f"judgments by {origin.get('kind')}"
        )
        raise OptionError(
            f"{option} {path}: found {found}, expected another name or judgments by "
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
    places: dict[str, str] = {}
    for what, path in written.items():
        place = path if "\0" in path else os.path.realpath(path)
        other = places.setdefault(place, what)
        if other != what:
            raise OptionError(f"{what} {path}: found the file of {other}, expected another name")
        if os.path.isfile(path) and any(  # noqa: PTH113  (False for a NUL)
            one and os.path.exists(one) and os.path.samefile(path, one)  # noqa: PTH110, PTH121  (False for a NUL)
            for one in inputs
        ):
            raise OptionError(
                f"{what} {path}: found an input file of this command, expected another name"
            )


def write_labels(path: str, labels: Iterable[Label]) -> None:
    """Write a label table: CSV with a row for each judgment, those that failed too."""
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
