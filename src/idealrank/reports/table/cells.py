"""Columns, cells and tables as values: what every form of a table is made of, and decimals as many
as intervals allow, so that no number contradicts a verdict.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

USUAL = 4
"""Decimals where there is no interval; never more than these for the sake of an interval."""

FEWEST = 2
"""Decimals of values from 0 to 1 at least."""

_MOST = 15  # decimals of a float64 below 1 that mean something
# what differs by less is not told apart, or all of a report would have a dozen decimals
_ROUNDING = 1e-12


def decimals(
    intervals: Iterable[tuple[float, float]],
    *,
    apart: Iterable[tuple[float, float]] = (),
    asked: int | None = None,
) -> int:
    """Decimals of a column: two significant digits of the narrowest half-width, from 2 to 4, more
    where a verdict asks for them.

    One number holds for a whole column, so that its points stand below each other.
    """
    if asked is not None:
        return asked
    halves = [(high - low) / 2 for low, high in intervals]
    halves = [half for half in halves if math.isfinite(half) and half > 0]
    found = max(map(_two_digits, halves)) if halves else USUAL
    fewest = FEWEST if not halves or min(halves) < 10 else 0
    return _told_apart(min(max(found, fewest), USUAL), apart)


def _two_digits(half: float) -> int:
    """Decimals of a number with two significant digits; one that rounds up to the next power of ten
    needs one fewer.
    """
    return 1 - int(f"{half:.1e}".partition("e")[2])


def _told_apart(fewest: int, apart: Iterable[tuple[float, float]]) -> int:
    pairs = [
        (number, limit)
        for number, limit in apart
        if math.isfinite(number) and abs(number - limit) > _ROUNDING
    ]
    if not pairs:
        return fewest
    return next(
        places
        for places in count(fewest)
        if places >= _MOST or all(_is_apart(*pair, places) for pair in pairs)
    )


def _is_apart(number: float, limit: float, places: int) -> bool:
    """Return whether two numbers keep their order after rounding."""
    shown, beside = (float(f"{one:.{places}f}") for one in (number, limit))
    return shown > beside if number > limit else shown < beside


def p_text(p: float, alpha: float | None = None) -> str:
    """A p value with three digits and no exponent; tiny ones as a bound."""
    if p < 1e-6:
        return "<0.000001"
    for precision in range(3, 18):
        import numpy as np  # noqa: PLC0415  (errors and help are printed without it)

        text = np.format_float_positional(p, precision=precision, fractional=False, trim="-")
        if alpha is None or (float(text) <= alpha) == (p <= alpha):
            return text
    return repr(p)


def number(value: float, places: int = USUAL, *, signed: bool = False) -> str:
    """A number with so many decimals; a dash where there is none. What is 0 has no minus, what is
    only small keeps its own.
    """
    if not math.isfinite(value):
        return "-"
    sign = "+" if signed else ""
    return f"{value + 0.0:{sign}.{places}f}"


def interval(ends: tuple[float, float], places: int = USUAL, *, signed: bool = False) -> str:
    """Both ends of an interval; an infinite end is open, and an interval without any finite end is
    a dash.
    """
    low, high = ends
    if math.isnan(low) or math.isnan(high) or (math.isinf(low) and math.isinf(high)):
        return "-"
    start = "(open" if math.isinf(low) else f"[{number(low, places, signed=signed)}"
    return (
        f"{start}, open)"
        if math.isinf(high)
        else f"{start}, {number(high, places, signed=signed)}]"
    )


def counted(n: int, one: str, many: str = "") -> str:
    """A number with its noun or verb."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


Row = TypeVar("Row")
Other = TypeVar("Other")
Kind: TypeAlias = Literal["text", "number"]
Tone: TypeAlias = Literal["", "better", "worse", "quiet"]
Value: TypeAlias = float | int | str | tuple[float, float] | None

_NUMBER = re.compile(r"[<+-]?[\d,]+(?P<after>(?:\.\d+)?(?: ?%)?)")


class Cell(NamedTuple):
    """One cell."""

    text: str  # What people read
    # What programs read: the exact number, both ends of an interval; None where the text says all
    value: Value = None
    strong: bool = False  # Stands out, as the best of its column does
    # Behind the text and a little higher, such as the ``*`` of a significant difference; what it
    # means is in a note
    mark: str = ""
    tone: Tone = ""  # Colour, where there is one


class NamedCells(dict[str, Cell]):
    """A row whose cells are given by the names of their columns; the others are empty."""


@dataclass(frozen=True, kw_only=True)
class Column(Generic[Row]):
    """A column: its title, and what stands in it beside each row."""

    title: str  # Its head
    kind: Kind = "text"  # Texts begin at the left, numbers stand with their points below each other
    # From what a row is about its cell, or the text of one
    cell: "Callable[[Row], Cell | str] | None" = None
    name: str = ""  # Of the column in a row of given cells; default its title

    def beside(self, row: "Row | NamedCells") -> Cell:
        """Its cell in the row of one thing."""
        if isinstance(row, NamedCells):
            return row.get(self.name or self.title, Cell(""))
        if self.cell is None:
            raise ValueError(
                f"found a column {self.title!r} without cells, expected rows of given ones"
            )
        found = self.cell(row)
        return Cell(found) if isinstance(found, str) else found

    def of(self, known: "Callable[[Other], Row]") -> "Column[Other]":
        """Return the column for other rows, with a function that extracts the shown row."""
        return Column(
            title=self.title,
            kind=self.kind,
            cell=lambda other: self.beside(known(other)),
            name=self.name,
        )


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns and rows, the first column naming the rows."""

    columns: Sequence[Column[Any]]  # The heads
    rows: Sequence[Sequence[Cell]]  # Each with a cell for each column
    title: str = ""  # Stands above; none where empty
    notes: Sequence[str] = ()  # Sentences below: what marks mean

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"found a row of {len(row)} cells, expected {len(self.columns)}, one for "
                    f"each column"
                )

    @classmethod
    def of(
        cls,
        columns: "Sequence[Column[Row]]",
        things: "Iterable[Row | NamedCells]",
        *,
        title: str = "",
        notes: Sequence[str] = (),
    ) -> "Table":
        """A row for each thing, with what each column shows of it."""
        return cls(
            columns=columns,
            rows=[[column.beside(thing) for column in columns] for thing in things],
            title=title,
            notes=notes,
        )

    def columnwise(self) -> list[list[Cell]]:
        """The cells of each column."""
        return (
            [list(cells) for cells in zip(*self.rows, strict=True)]
            if self.rows
            else [[] for _ in self.columns]
        )

    def cells(self) -> Iterator[Cell]:
        """Every cell, row by row."""
        return (cell for row in self.rows for cell in row)


def number_cell(
    value: float | None,
    places: int = USUAL,
    *,
    signed: bool = False,
    strong: bool = False,
    tone: Tone = "",
) -> Cell:
    """A number with so many decimals; a dash where there is none."""
    return Cell(
        "-" if value is None else number(value, places, signed=signed),
        value,
        strong=strong,
        tone=tone,
    )


def interval_cell(ends: tuple[float, float], places: int = USUAL, *, signed: bool = False) -> Cell:
    """Both ends of an interval, an infinite one open; a dash where none is finite."""
    return Cell(interval(ends, places, signed=signed), ends)


def p_cell(p: float | None, alpha: float | None = None) -> Cell:
    """A p value, on its own side of alpha; a dash where nothing was tested."""
    return Cell("-" if p is None else p_text(p, alpha), p)


def count_cell(count: int | None, tone: Tone = "") -> Cell:
    """A whole number; a dash where there is none."""
    return Cell("-" if count is None else f"{count:,}", count, tone=tone)


def share_cell(share: float | None) -> Cell:
    """A share in per cent; a dash where it was not measured."""
    return Cell("-" if share is None else f"{share:.1%}", share)


def lacking(texts: Sequence[str]) -> list[str]:
    """Return padding behind each number of a column, as a pattern of digits, so that decimal points
    align.
    """
    found = [_NUMBER.fullmatch(text) for text in texts]
    longest = re.sub(
        r"\d", "0", max((number["after"] for number in found if number), key=len, default="")
    )
    return [longest[len(number["after"]) :] if number else "" for number in found]
