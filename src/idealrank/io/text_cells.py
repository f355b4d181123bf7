"""Checks of text cells, a batch at a time: everything at once where all is well, cell by cell where
it is not.
"""

import math
import re
from collections.abc import Sequence

import numpy as np

from idealrank.data.exactness import EXPECTED, is_large
from idealrank.data.problems import quoted
from idealrank.data.types import FloatArray, IntArray, encode_id
from idealrank.io.complaints import Complain, Complaint
from idealrank.io.notes import Notes
from idealrank.io.numerals import is_lost_text, parse_number, parse_numbers
from idealrank.io.row_parts import Table
from idealrank.io.table_columns import Chosen

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
