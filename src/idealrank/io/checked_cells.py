"""Checks of values: text cells a batch at a time, numbers written in text, and values that have a
type already.

Text is taken as a whole where all is well, and cell by cell where it is not.
"""

import math
import re
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from idealrank.data.problems import EXPECTED, first_lost, is_large, is_lost, quoted
from idealrank.data.types import FloatArray, IntArray, encode_id
from idealrank.io.complaints import Complain, Complaint, Notes
from idealrank.io.row_parts import Table
from idealrank.io.table_columns import Chosen

NUMBER = re.compile(
    r"[ \t]*[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)[ \t]*",
    re.ASCII | re.IGNORECASE,
)
_WHOLE = re.compile(r"[ \t]*[+-]?[0-9]+[ \t]*")
_DIGITS = 24  # of a number of 64 bits, with a sign and a few blanks


def is_lost_text(text: str) -> bool:
    """Return whether a whole number without point and exponent, of at most 24 characters, changes
    in float64.
    """
    return len(text) < _DIGITS and _WHOLE.fullmatch(text) is not None and is_lost(int(text))


def parse_number(text: str) -> float | None:
    """The number that a text is, or None; ``nan`` gives NaN."""
    return float(text) if NUMBER.fullmatch(text) else None


def parse_numbers(texts: Sequence[str]) -> FloatArray | None:
    """A column of numbers, or None if one of them is none (or is NaN); the caller then looks for it
    cell by cell.
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
_BLANK_END = re.compile(r"\A\s|\s\Z")


def shown(text: str) -> str:
    r"""A cell in quotes for a message, bytes outside ASCII escaped."""
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
        """Values, and the places of the rows that can be used (None: all)."""
        bad: set[int] = set()
        for name, ids in ((self._chosen.query, queries), (self._chosen.document, documents)):
            if "" in ids or _BREAK.search(text := "".join(ids)):
                bad.update(
                    place
                    for place, cell in enumerate(ids)
                    if self._bad_id(name, cell, int(lines[place]))
                )
            elif " " in text or "\t" in text or not text.isascii():
                self._count_blank_ends(ids, lines)
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

    def _bad_id(self, name: str, cell: str, line: int) -> bool:
        if not cell:
            self._complain(
                Complaint(
                    "empty-id", self._path, line, f"an empty cell in column {name!r}", "an id"
                )
            )
            return True
        if _BREAK.search(cell):
            hint = "is a quotation mark missing?"
            self._complain(
                Complaint(
                    kind="control",
                    path=self._path,
                    line=line,
                    found=f"a line break in the id {shown(cell)}",
                    expected="an id on one line",
                    hint=hint,
                )
            )
            return True
        return False

    def _number(self, text: str, line: int) -> float | None:
        number = parse_number(text)
        what = "grade" if self._finite else "score"
        if number is None:
            kind, found = (
                ("number", f"{shown(text)} as {what}") if text.strip() else ("null", f"no {what}")
            )
            hint = "write decimals with a point" if _DECIMAL_COMMA.fullmatch(text.strip()) else ""
            self._complain(
                Complaint(
                    kind=kind,
                    path=self._path,
                    line=line,
                    found=f"{found} in column {self._chosen.value!r}",
                    expected="a number",
                    hint=hint,
                )
            )
            return None
        if number != number:  # noqa: PLR0124  (NaN)
            hint = "remove the line, or give the document a " + what
            self._complain(
                Complaint(
                    kind="nan",
                    path=self._path,
                    line=line,
                    found=f"{what} {shown(text)}",
                    expected="a number, since NaN has no order",
                    hint=hint,
                )
            )
            return None
        if self._finite and math.isinf(number):
            self._complain(
                Complaint("infinite", self._path, line, f"grade {shown(text)}", "a finite grade")
            )
            return None
        if not self._finite and is_lost_text(text):
            self._complain(
                Complaint(
                    "whole",
                    self._path,
                    line,
                    f"score {shown(text)}, a whole number that float64 changes",
                    EXPECTED,
                )
            )
            return None
        return number


# What a bad value is: kind, what was found, what was expected.
Fault = tuple[str, str, str]


def all_numbers(values: Sequence[Any], table: Table, *, booleans: bool = False) -> bool:
    """Return whether a list holds only numbers that can be grades or scores; a fast check before
    slow ones.
    """
    if not set(map(type, values)) <= {int, float, bool} or (
        not booleans and bool in set(map(type, values))
    ):
        return False
    try:
        numbers = np.array(values, np.float64)
    except OverflowError:
        return False
    if table == "qrels":
        return bool(np.isfinite(numbers).all())
    return not np.isnan(numbers).any() and not (
        is_large(numbers) and first_lost(values) is not None
    )


def all_ids(ids: Sequence[Any]) -> bool:
    """Return whether all are non-empty text in valid Unicode; a fast check before slow ones."""
    try:
        "".join(ids).encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return "" not in ids


def check_number(value: Any, table: Table, *, booleans: bool = False) -> float | Fault:
    """One value as a number, or what is wrong with it; columns of dataframes may hold booleans,
    JSON may not.
    """
    what = "grade" if table == "qrels" else "score"
    if _is_null(value):
        return "null", f"null as {what}", "a number"
    if (
        isinstance(value, str | bytes)
        or not hasattr(type(value), "__float__")
        or (isinstance(value, bool) and not booleans)
    ):
        return "number", f"{describe_value(value)} as {what}", "a number"
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond double is infinite, as it is in text
        number = math.inf if value > 0 else -math.inf
    if math.isnan(number):
        return "nan", f"{what} NaN", "a number, since NaN has no order"
    if table == "qrels" and math.isinf(number):
        return "infinite", f"grade {describe_value(value)}", "a finite grade"
    if table == "run" and is_lost(value):
        return "whole", f"score {value}, a whole number that float64 changes", EXPECTED
    return number


def check_id(value: Any) -> str | Fault:
    """One value as an id: text, or a whole number."""
    if _is_null(value) or (isinstance(value, float) and math.isnan(value)):
        return "null", "null as id", "text or a whole number"
    if isinstance(value, bool) or not isinstance(value, str | Integral):
        return "type", f"{describe_value(value)} as id", "text or a whole number"
    text = str(value)
    if not text:
        return "empty-id", "an empty id", "an id"
    try:
        encode_id(text)
    except UnicodeEncodeError:
        return "unicode", f"the id {shown(text)} with half a surrogate pair", "valid Unicode"
    return text


def describe_value(value: Any) -> str:
    """A value for a message, in a few words."""
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
    """None, and what dataframes put into holes of columns of objects."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")
