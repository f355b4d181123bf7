"""Checks of values: text cells a batch at a time, numbers written in text, and values that have a
type already.

Text is taken as a whole where all is well, and cell by cell where it is not.
"""

import math
import re
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from idealrank.data.problems import EXPECTED, first_lost, is_large, is_lost, quoted
from idealrank.data.types import FloatArray, IntArray, encode_id
from idealrank.io.complaints import Complain, Complaint, Notes
from idealrank.io.label_grades import grade_of, label_advice, spelled_grades
from idealrank.io.row_parts import Place, Table
from idealrank.io.table_columns import Chosen

NUMBER = re.compile(
    r"[ \t]*[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)[ \t]*",
    re.ASCII | re.IGNORECASE,
)
_WHOLE = re.compile(r"[ \t]*[+-]?[0-9]+[ \t]*")
_DIGITS = 24  # longer text has a point, an exponent or more digits than 64 bits have


def is_lost_text(text: str) -> bool:
    """Return whether a whole number without point and exponent, of at most 24 characters, changes
    in float64.
    """
    return len(text) < _DIGITS and _WHOLE.fullmatch(text) is not None and is_lost(int(text))


def parse_number(text: str) -> float | None:
    """Return the number that a text spells, or None; ``nan`` gives NaN."""
    return float(text) if NUMBER.fullmatch(text) else None


def parse_numbers(texts: Sequence[str]) -> FloatArray | None:
    """Parse a column of numbers; None if a cell is no number or NaN, for which the caller then
    looks cell by cell.
    """
    joined = "".join(texts)
    # Python also takes underscores and the digits of every script; the kernel does not, so neither
    # do we.
    if "_" in joined or not joined.isascii():
        return None
    try:
        values = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return None
    return None if np.isnan(values).any() else values


# A line break inside an id is nearly always a stray quotation mark that swallowed the next lines.
_BREAK = re.compile(r"[\r\n\0]")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
_NO_LABELS: Mapping[str, float] = MappingProxyType({})
_BLANK_END = re.compile(r"\A\s|\s\Z")


def shown(text: str) -> str:
    r"""Quote a cell for a message; bytes outside ASCII are escaped."""
    try:
        return quoted(encode_id(text))
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can spell
        return f'"{text.encode("unicode_escape").decode("ascii")}"'


def _is_any_lost(texts: Sequence[str], values: FloatArray) -> bool:
    return is_large(values) and any(map(is_lost_text, texts))


class CellChecker:
    """Checks ids and turns value cells into numbers."""

    def __init__(self, path: str, table: Table, chosen: Chosen, complain: Complain) -> None:
        self._path = path
        self._finite = table == "qrels"
        self._chosen = chosen
        self._complain = complain
        self._blank_ends = 0
        self._first_blank_end = ""

    def check(
        self,
        queries: Sequence[str],
        documents: Sequence[str],
        texts: Sequence[str],
        lines: IntArray,
    ) -> tuple[FloatArray, list[int] | None]:
        """Return the values, and the places of the rows that can be used (None: all)."""
        bad: set[int] = set()
        for name, ids in ((self._chosen.query, queries), (self._chosen.document, documents)):
            text = "".join(ids)
            if "" in ids or _BREAK.search(text):
                bad.update(
                    place
                    for place, cell in enumerate(ids)
                    if self._is_bad_id(name, cell, int(lines[place]))
                )
            elif " " in text or "\t" in text or not text.isascii():
                self._count_blank_ends(ids, lines)
        if self._chosen.labels:
            texts = spelled_grades(texts, self._chosen.labels)
        values = parse_numbers(texts)
        if (
            values is None
            or (self._finite and not np.isfinite(values).all())
            or (not self._finite and _is_any_lost(texts, values))
        ):
            parsed = [self._number(text, int(lines[place])) for place, text in enumerate(texts)]
            bad.update(place for place, number in enumerate(parsed) if number is None)
            values = np.array([math.nan if number is None else number for number in parsed])
        if not bad:
            return values, None
        usable = [place for place in range(len(texts)) if place not in bad]
        return values[usable], usable

    def tell_blanks(self, notes: Notes) -> None:
        """Say once that ids have blanks at their ends, for they then join with nothing."""
        if self._blank_ends:
            notes.warn(
                f"{self._first_blank_end}, {self._blank_ends} ids in all; the blanks are part "
                f"of the id"
            )

    def _count_blank_ends(self, ids: Sequence[str], lines: IntArray) -> None:
        for place, cell in enumerate(ids):
            if _BLANK_END.search(cell):
                self._blank_ends += 1
                if not self._first_blank_end:
                    self._first_blank_end = (
                        f"{self._path}:{lines[place]}: found the id {shown(cell)} with blanks at "
                        f"its end or beginning"
                    )

    def _is_bad_id(self, name: str, cell: str, line: int) -> bool:
        if not cell:
            self._bad("empty-id", line, f"an empty cell in column {name!r}", "an id")
            return True
        if _BREAK.search(cell):
            problem = f"a line break in the id {shown(cell)}"
            self._bad("control", line, problem, "an id on one line", "is a quotation mark missing?")
            return True
        return False

    def _number(self, text: str, line: int) -> float | None:
        number = parse_number(text)
        noun = "grade" if self._finite else "score"
        if number is None:
            self._complain(self._no_number(text, noun, line))
            return None
        if math.isnan(number):
            problem = f"{noun} {shown(text)}"
            hint = f"remove the line, or give the document a {noun}"
            self._bad("nan", line, problem, "a number, since NaN has no order", hint)
            return None
        if self._finite and math.isinf(number):
            self._bad("infinite", line, f"grade {shown(text)}", "a finite grade")
            return None
        if not self._finite and is_lost_text(text):
            problem = f"score {shown(text)}, a whole number that float64 changes"
            self._bad("whole", line, problem, EXPECTED)
            return None
        return number

    def _no_number(self, text: str, noun: str, line: int) -> Complaint:
        """The complaint about a cell that is no number: an empty one, or a word."""
        fault = Fault("null", f"no {noun}", "a number")
        if _DECIMAL_COMMA.fullmatch(text.strip()):
            fault = Fault(
                kind="number",
                problem=f"{shown(text)} as {noun}",
                expected="a number",
                hint="write decimals with a point",
            )
        elif text.strip():
            fault = word_fault(text, "qrels" if self._finite else "run", self._chosen.labels)
        return fault.at((self._path, line), f" in column {self._chosen.value!r}")

    def _bad(self, kind: str, line: int, problem: str, expected: str, hint: str = "") -> None:
        self._complain(
            Complaint(
                kind=kind,
                path=self._path,
                line=line,
                found=problem,
                expected=expected,
                hint=hint,
            )
        )


class Fault(NamedTuple):
    """Problem of one value."""

    kind: str
    problem: str
    expected: str
    hint: str = ""
    command_hint: str = ""

    def at(self, place: Place, where: str = "") -> Complaint:
        """Return the complaint about a value at a place; `where` ends the problem."""
        path, line = place
        return Complaint(
            kind=self.kind,
            path=path,
            line=line,
            found=self.problem + where,
            expected=self.expected,
            hint=self.hint,
            command_hint=self.command_hint,
        )


def word_fault(word: str, table: Table, labels: Mapping[str, float] = _NO_LABELS) -> Fault:
    """Return the fault of a word where a grade or a score should be."""
    if table == "run":
        return Fault("number", f"{shown(word)} as score", "a number")
    return Fault("number", f"{shown(word)} as grade", *label_advice(word, labels))


def all_numbers(values: Sequence[Any], table: Table, *, booleans: bool = False) -> bool:
    """Return whether a list holds only numbers that can be grades or scores; a fast check before
    slow ones.
    """
    allowed = {int, float, bool} if booleans else {int, float}
    if not set(map(type, values)) <= allowed:
        return False
    try:
        numbers = np.array(values, np.float64)
    except OverflowError:
        return False
    if table == "qrels":
        return bool(np.isfinite(numbers).all())
    if np.isnan(numbers).any():
        return False
    return not is_large(numbers) or first_lost(values) is None


def all_ids(ids: Sequence[Any]) -> bool:
    """Return whether all are non-empty text in valid Unicode; a fast check before slow ones."""
    try:
        "".join(ids).encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return "" not in ids


def check_number(
    value: Any, table: Table, *, booleans: bool = False, labels: Mapping[str, float] = _NO_LABELS
) -> float | Fault:
    """Return a value as a number, or what is wrong with it; columns of dataframes may hold
    booleans, JSON may not. A text that is a label counts as its grade.
    """
    noun = "grade" if table == "qrels" else "score"
    value = grade_of(value, labels)
    if isinstance(value, str):
        return word_fault(value, table, labels)
    if _is_null(value):
        return Fault("null", f"null as {noun}", "a number")
    if (
        isinstance(value, bytes)
        or not hasattr(type(value), "__float__")
        or (isinstance(value, bool) and not booleans)
    ):
        return Fault("number", f"{describe_value(value)} as {noun}", "a number")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond double is infinite, as it is in text
        number = math.inf if value > 0 else -math.inf
    if math.isnan(number):
        return Fault("nan", f"{noun} NaN", "a number, since NaN has no order")
    if table == "qrels" and math.isinf(number):
        return Fault("infinite", f"grade {describe_value(value)}", "a finite grade")
    if table == "run" and is_lost(value):
        return Fault("whole", f"score {value}, a whole number that float64 changes", EXPECTED)
    return number


def check_id(value: Any) -> str | Fault:
    """Return a value as an id, from text or a whole number, or what is wrong with it."""
    if _is_null(value) or (isinstance(value, float) and math.isnan(value)):
        return Fault("null", "null as id", "text or a whole number")
    if isinstance(value, bool) or not isinstance(value, str | Integral):
        return Fault("type", f"{describe_value(value)} as id", "text or a whole number")
    text = str(value)
    if not text:
        return Fault("empty-id", "an empty id", "an id")
    try:
        encode_id(text)
    except UnicodeEncodeError:
        return Fault("unicode", f"the id {shown(text)} with half a surrogate pair", "valid Unicode")
    return text


def describe_value(value: Any) -> str:
    """Describe a value for a message in a few words."""
    if _is_null(value):
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, int) and abs(value) >= 10**30:
        return f"a whole number of {value.bit_length()} bits"
    if isinstance(value, Real):
        return repr(value)
    names: dict[Any, str] = {list: "a list", tuple: "an object", dict: "an object"}
    return names.get(type(value), f"a value of type {type(value).__name__}")


def _is_null(value: Any) -> bool:
    """Return whether a value is None, or what dataframes put into holes of columns of objects."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")
