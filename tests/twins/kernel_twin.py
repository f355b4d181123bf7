"""What the kernel does with texts and tables, in plain Python that is easy to check by reading and
far too slow to use.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

Kind = Literal["qrels", "run"]

NUMBER = re.compile(
    rb"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity)", re.IGNORECASE
)
NAN = re.compile(rb"[+-]?nan", re.IGNORECASE)
WHOLE = re.compile(rb"[+-]?[0-9]{1,18}")
BLANKS = re.compile(rb"[ \t]+")
CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f]")


class TwinError(Exception):
    """The arguments of a ``ParseError``."""


@dataclass(frozen=True)
class Row:
    """One data line."""

    query: bytes
    document: bytes
    value: float
    source: int = 0
    line: int = 0
    rank: bytes = b""
    number: bytes = b""
    text: bytes = b""

    @property
    def place(self) -> tuple[int, int]:
        return self.source, self.line


@dataclass(frozen=True)
class Parsed:
    """One line of any kind; ``problem`` is the kind of error and its detail."""

    kind: Literal["data", "blank", "comment", "problem"]
    row: Row | None = None
    problem: tuple[str, bytes] = ("", b"")
    tabs: bool = False
    like_data: bool = False


def parse_fields(kind: Kind, line: bytes) -> Parsed:
    wanted = 6 if kind == "run" else 4
    fields = [part.strip(b" ") for part in line.split(b"\t")]
    tabs = len(fields) == wanted and all(fields)
    if not tabs:
        fields = BLANKS.split(line.strip(b" \t"), maxsplit=5 if kind == "run" else 0)
    control = CONTROL.search(line)
    if control:
        return Parsed("problem", problem=("control", b"0x%02x" % control[0][0]))
    if len(fields) != wanted:
        return Parsed("problem", problem=("fields", b"%d" % len(fields)))
    number = fields[4 if kind == "run" else 3]
    if NAN.fullmatch(number):
        return Parsed("problem", problem=("nan", number))
    if not NUMBER.fullmatch(number):
        return Parsed("problem", problem=("number", number[:120]))
    rank = fields[3] if kind == "run" else b""
    return Parsed(
        "data", Row(fields[0], fields[2], float(number), rank=rank, number=number), tabs=tabs
    )


def parse_line(kind: Kind, line: bytes) -> Parsed:
    """The rules of a line, without its line feed."""
    line = line.removesuffix(b"\r")
    if not line.strip(b" \t"):
        return Parsed("blank")
    parsed = parse_fields(kind, line)
    if line.startswith(b"#"):
        return Parsed("comment", parsed.row, like_data=parsed.kind == "data")
    return parsed


@dataclass
class Reading:
    """All lines of a text; ``problems`` holds the lines that are wrong in themselves."""

    rows: list[Row] = field(default_factory=list)
    problems: list[tuple[tuple[int, int], bytes, str, bytes]] = field(default_factory=list)
    like_data: list[tuple[tuple[int, int], bytes]] = field(default_factory=list)
    counters: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            ("lines", "rows", "comments", "comments_like_data", "blank", "tab_lines"), 0
        )
    )


def read_lines(kind: Kind, buffers: Sequence[bytes]) -> Reading:
    reading = Reading()
    count = reading.counters
    for source, buffer in enumerate(buffers):
        lines = buffer.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        if not lines[-1]:
            lines.pop()
        for number, line in enumerate(lines, 1):
            parsed = parse_line(kind, line)
            text = line.removesuffix(b"\r")[:120]
            count["lines"] += 1
            count["rows"] += parsed.kind == "data"
            count["blank"] += parsed.kind == "blank"
            count["comments"] += parsed.kind == "comment"
            count["comments_like_data"] += parsed.like_data
            count["tab_lines"] += parsed.tabs
            if parsed.like_data:
                reading.like_data.append(((source, number), text))
            if parsed.kind == "problem":
                reading.problems.append(((source, number), text, *parsed.problem))
            if parsed.kind == "data" and parsed.row:
                row = parsed.row
                reading.rows.append(
                    Row(
                        row.query,
                        row.document,
                        row.value,
                        source,
                        number,
                        row.rank,
                        row.number,
                        text,
                    )
                )
    return reading


def by_query(rows: Iterable[Row]) -> dict[bytes, list[Row]]:
    groups: dict[bytes, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.query, []).append(row)
    return groups


def repeats(rows: Iterable[Row]) -> list[tuple[Row, Row]]:
    """(later, first) for every row whose query and document came before."""
    seen: dict[tuple[bytes, bytes], Row] = {}
    found = []
    for row in rows:
        first = seen.setdefault((row.query, row.document), row)
        if first is not row:
            found.append((row, first))
    return found


def settle(rows: Sequence[Row], duplicates: str) -> list[Row]:
    """The rows that stay under a duplicate policy other than ``error``."""
    if duplicates in ("keep", "twice"):
        return list(rows)
    winner: dict[tuple[bytes, bytes], int] = {}
    for i, row in enumerate(rows):
        key = row.query, row.document
        if (
            key not in winner
            or duplicates == "last"
            or (duplicates == "best" and row.value > rows[winner[key]].value)
        ):
            winner[key] = i
    return [rows[i] for i in sorted(winner.values())]


def checked(kind: Kind, buffers: Sequence[bytes], duplicates: str) -> Reading:
    """All rows, or the error of the first line that has one."""
    reading = read_lines(kind, buffers)
    errors = [
        (place, (problem, *place, text, detail))
        for place, text, problem, detail in reading.problems
    ]
    if duplicates == "error":
        errors += [
            (row.place, ("duplicate", *row.place, row.text, b"%d:%d" % first.place))
            for row, first in repeats(reading.rows)
        ]
    if errors:
        raise TwinError(*min(errors)[1])
    return reading


def read_text(
    kind: Kind, buffers: Sequence[bytes], duplicates: str
) -> tuple[dict[bytes, list[Row]], dict[str, int]]:
    """Rows by query, and the counters."""
    reading = checked(kind, buffers, duplicates)
    kept = settle(reading.rows, duplicates if duplicates != "error" else "keep")
    groups: dict[bytes, list[Row]] = {row.query: [] for row in reading.rows}
    groups.update(by_query(kept))
    return groups, {**reading.counters, "duplicates": len(reading.rows) - len(kept)}


@dataclass
class Ranked:
    """One query of an alignment.

    A hit is (judgment, rank, first, last), an unjudged document (id, rank, first, last), one of the
    top (id, score, tied).
    """

    in_run: bool = False
    hits: list[tuple[int, int, int, int]] = field(default_factory=list)
    length: int = 0
    returned: int = 0
    judged: int = 0
    first_unjudged: int = 0
    tied: int = 0
    straddling: int = 0
    duplicates: int = 0
    unjudged: list[tuple[bytes, int, int, int]] = field(default_factory=list)
    top: list[tuple[bytes, float, bool]] = field(default_factory=list)


def score_of(row: Row, float32: bool) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(row.value)) if float32 else row.value


def rank(rows: Sequence[Row], ties: str, float32: bool) -> list[tuple[Row, int, int]]:
    """(row, first, last rank of its tie group) from the top."""
    ordered = list(rows)
    if ties != "input":
        ordered.sort(key=lambda row: row.document, reverse=ties == "descending")
    ordered.sort(key=lambda row: score_of(row, float32), reverse=True)
    scores = [score_of(row, float32) for row in ordered]
    return [
        (row, scores.index(value) + 1, len(scores) - scores[::-1].index(value))
        for row, value in zip(ordered, scores, strict=True)
    ]


def rank_list(
    judgments: Sequence[bytes],
    rows: Sequence[Row],
    *,
    judgments_known: bool = True,
    ties: str,
    float32: bool = False,
    duplicates: str = "error",
    skip_unjudged: bool = False,
    removed: Sequence[bool] | None = None,
    depth: int = 0,
    unjudged_depth: int = 0,
    top_depth: int = 0,
) -> Ranked:
    """One list against the judged documents of its query."""
    number = {document: i for i, document in reversed(list(enumerate(judgments)))}
    kept = settle(rows, duplicates if duplicates != "error" else "keep")
    result = Ranked(in_run=True, returned=len(rows), duplicates=len(repeats(rows)))
    kept = [row for row in kept if row.document in number or not skip_unjudged]
    if removed is not None:
        kept = [
            row for row in kept if not (row.document in number and removed[number[row.document]])
        ]
    ranking = rank(kept, ties, float32)
    cut = depth or math.inf
    result.length = len(ranking)
    result.top = [
        (row.document, score_of(row, float32), first < last)
        for row, first, last in ranking[:top_depth]
    ]
    for at, (row, first, last) in enumerate(ranking, 1):
        result.tied += last > first
        result.straddling += at == first <= cut < last
        if row.document not in number:
            result.first_unjudged = result.first_unjudged or at
            if judgments_known and first <= unjudged_depth:
                result.unjudged.append((row.document, at, first, last))
            continue
        result.judged += 1
        if first <= cut:
            result.hits.append((number[row.document], at, first, last))
    return result


def align(
    qrels: Mapping[bytes, Sequence[bytes]],
    run: Mapping[bytes, Sequence[Row]],
    removed: Mapping[bytes, Sequence[bool]] | None = None,
    **options: object,
) -> dict[bytes, Ranked]:
    """Results by query: the qrels' first, then those only the run has."""
    results = {query: Ranked() for query in qrels}
    for query, rows in run.items():
        gone = removed.get(query) if removed is not None else None
        results[query] = rank_list(
            qrels.get(query, []), rows, judgments_known=query in qrels, removed=gone, **options
        )  # type: ignore[arg-type]
    return results


def is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def rank_order(rows: Sequence[Row]) -> list[Row]:
    """Rows whose rank is not above that of every row with a higher score."""
    ranked = [(row, int(row.rank)) for row in rows if WHOLE.fullmatch(row.rank)]
    return [
        row
        for row, mine in ranked
        if any(other.value > row.value and theirs >= mine for other, theirs in ranked)
    ]


def scattered(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """(row, first row of its query) where a query comes back after another, or in another file."""
    first: dict[bytes, Row] = {}
    found = []
    for before, row in zip([None, *rows], rows, strict=False):
        if (
            row.query in first
            and before is not None
            and (before.query, before.source) != (row.query, row.source)
        ):
            found.append((row, first[row.query]))
        first.setdefault(row.query, row)
    return found


LINT_KINDS = (
    "fields",
    "number",
    "nan",
    "control",
    "too-long",
    "duplicate",
    "no-data",
    "comment-like-data",
    "infinite",
    "utf8",
    "rank",
    "rank-order",
    "scattered",
)


def lint(
    kind: Kind, buffers: Sequence[bytes], examples: int
) -> list[tuple[str, int, list[tuple[int, int, bytes, bytes]]]]:
    """Every problem of a text."""
    reading = read_lines(kind, buffers)
    rows = reading.rows
    found: dict[str, list[tuple[tuple[int, int], bytes, bytes]]] = {name: [] for name in LINT_KINDS}
    for place, text, problem, detail in reading.problems:
        found[problem].append((place, text, detail))
    found["duplicate"] = [
        (row.place, row.text, b"%d:%d" % first.place) for row, first in repeats(rows)
    ]
    found["comment-like-data"] = [(place, text, b"") for place, text in reading.like_data]
    found["infinite"] = [(row.place, row.text, row.number) for row in rows if math.isinf(row.value)]
    found["scattered"] = [
        (row.place, row.text, b"%d:%d" % first.place) for row, first in scattered(rows)
    ]
    if kind == "run":
        found["rank"] = [
            (row.place, row.text, row.rank[:120]) for row in rows if not WHOLE.fullmatch(row.rank)
        ]
        found["rank-order"] = [
            (row.place, row.text, b"")
            for group in by_query(rows).values()
            for row in rank_order(group)
        ]
    found["utf8"] = [
        (row.place, row.text, b"")
        for i, row in enumerate(rows)
        if not is_utf8(row.document) or not is_utf8(row.query)
    ]
    report = [
        (
            name,
            len(places),
            [(*place, text, detail) for place, text, detail in sorted(places)[:examples]],
        )
        for name, places in found.items()
        if places
    ]
    if not rows:
        report.append(("no-data", 1, []))
    return sorted(report, key=lambda entry: LINT_KINDS.index(entry[0]))
