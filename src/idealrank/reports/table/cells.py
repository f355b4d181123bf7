"""Columns, cells and tables as values, from which every form of a table is made; and as many
decimals as intervals allow, so that no number contradicts a verdict.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

USUAL = 4
"""Decimals without an interval, and the most that an interval calls for."""

FEWEST = 2
"""Fewest decimals of values from 0 to 1."""

_MOST = 15  # significant decimals of a float64 below 1
# Numbers that differ by less may look the same; else a whole report would have a dozen decimals.
_ROUNDING = 1e-12


def decimals(
    intervals: Iterable[tuple[float, float]],
    *,
    apart: Iterable[tuple[float, float]] = (),
    digits: int | None = None,
) -> int:
    """Choose the decimals of a column: two significant digits of the narrowest half-width, from 2
    to 4, and more if a verdict needs them.

    A whole column has the same number of decimals, so that the points are aligned.
    """
    if digits is not None:
        return digits
    halves = [(high - low) / 2 for low, high in intervals]
    halves = [half for half in halves if math.isfinite(half) and half > 0]
    places = max(map(_two_digits, halves)) if halves else USUAL
    fewest = FEWEST if not halves or min(halves) < 10 else 0
    return _told_apart(min(max(places, fewest), USUAL), apart)


def _two_digits(half: float) -> int:
    """Count the decimals of a number with two significant digits; a number that rounds up to the
    next power of ten needs one fewer.
    """
    _, _, exponent = f"{half:.1e}".partition("e")
    return 1 - int(exponent)


def _told_apart(fewest: int, apart: Iterable[tuple[float, float]]) -> int:
    pairs = [
        (number, limit)
        for number, limit in apart
        if math.isfinite(number) and abs(number - limit) > _ROUNDING
    ]
    if not pairs:
        return fewest
    places = fewest
    while places < _MOST and not all(_is_apart(*pair, places) for pair in pairs):
        places += 1
    return places


def _is_apart(number: float, limit: float, places: int) -> bool:
    """Return whether two numbers keep their order after rounding."""
    shown, shown_limit = (float(f"{value:.{places}f}") for value in (number, limit))
    return shown > shown_limit if number > limit else shown < shown_limit


def p_text(p: float, alpha: float | None = None) -> str:
    """Format a p value on its side of alpha, without exponent; a tiny one as a bound."""
    if p < 1e-6:
        return "<0.000001"
    for precision in range(3, 18):
        import numpy as np  # noqa: PLC0415  (errors and help are printed without it)

        text = np.format_float_positional(p, precision=precision, fractional=False, trim="-")
        if alpha is None or (float(text) <= alpha) == (p <= alpha):
            return text
    return repr(p)


def number(value: float, places: int = USUAL, *, signed: bool = False) -> str:
    """Format a number with so many decimals; a dash if it is not finite. Only 0 itself never has a
    minus; a small number keeps its own.
    """
    if not math.isfinite(value):
        return "-"
    sign = "+" if signed else ""
    return f"{value + 0.0:{sign}.{places}f}"


def interval(ends: tuple[float, float], places: int = USUAL, *, signed: bool = False) -> str:
    """Format both ends of an interval; an infinite end is open, and an interval without a finite
    end is a dash.
    """
    low, high = ends
    if math.isnan(low) or math.isnan(high) or (math.isinf(low) and math.isinf(high)):
        return "-"
    start = "(open" if math.isinf(low) else f"[{number(low, places, signed=signed)}"
    end = "open)" if math.isinf(high) else f"{number(high, places, signed=signed)}]"
    return f"{start}, {end}"


def counted(n: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun or verb."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


Row = TypeVar("Row")
Other = TypeVar("Other")
Kind: TypeAlias = Literal["text", "number"]
Tone: TypeAlias = Literal["", "better", "worse", "quiet"]
Value: TypeAlias = float | int | str | tuple[float, float] | None

_NUMBER = re.compile(r"[<+-]?[\d,]+(?P<after>(?:\.\d+)?(?: ?%)?)")


class Cell(NamedTuple):
    """One cell."""

    text: str  # Text for people
    # Value for programs: the exact number, or both ends of an interval; None if the text has all
    value: Value = None
    strong: bool = False  # Whether it is in bold, as the best of its column
    # Superscript behind the text, such as the ``*`` of a significant difference; a note explains it
    mark: str = ""
    tone: Tone = ""  # Colour, if any


class NamedCells(dict[str, Cell]):
    """Row with cells by the names of their columns; other cells are empty."""


@dataclass(frozen=True, kw_only=True)
class Column(Generic[Row]):
    """A column: its title, and the cell of each row."""

    title: str  # Head of the column
    kind: Kind = "text"  # Texts are aligned at the left, numbers at their points
    # Function from the object of a row to its cell, or to the text of the cell
    cell: "Callable[[Row], Cell | str] | None" = None
    name: str = ""  # Name of the column in `NamedCells`; default its title
    # On a terminal that is too narrow, the columns of the greatest rank are left out first; a
    # column of rank 0 never is
    rank: int = 0

    def beside(self, row: "Row | NamedCells") -> Cell:
        """Return the cell of a row."""
        if isinstance(row, NamedCells):
            return row.get(self.name or self.title, Cell(""))
        if self.cell is None:
            raise ValueError(
                f"found a column {self.title!r} without cells, expected rows of given ones"
            )
        cell = self.cell(row)
        return Cell(cell) if isinstance(cell, str) else cell

    def of(self, known: "Callable[[Other], Row]") -> "Column[Other]":
        """Return the column for other rows, with a function that extracts the shown row."""
        return Column(
            title=self.title,
            kind=self.kind,
            cell=lambda other: self.beside(known(other)),
            name=self.name,
            rank=self.rank,
        )


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns and rows, the first column naming the rows."""

    columns: Sequence[Column[Any]]  # The heads
    rows: Sequence[Sequence[Cell]]  # Rows with a cell for each column
    title: str = ""  # Title above the table; empty for none
    notes: Sequence[str] = ()  # Sentences below it, which explain marks

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"found a row of {len(row)} cells, expected {len(self.columns)}, one for each "
                    "column"
                )

    @classmethod
    def of(
        cls,
        columns: "Sequence[Column[Row]]",
        objects: "Iterable[Row | NamedCells]",
        *,
        title: str = "",
        notes: Sequence[str] = (),
        kept: int | None = None,
    ) -> "Table":
        """Make a table with a row for each object, from the cells of the columns; beyond the first
        `kept` of them, the last are left out first on a narrow terminal.
        """
        if kept is not None:
            columns = [
                replace(column, rank=max(0, place - kept + 1))
                for place, column in enumerate(columns)
            ]
        rows = [[column.beside(row) for column in columns] for row in objects]
        return cls(columns=columns, rows=rows, title=title, notes=notes)

    def columnwise(self) -> list[list[Cell]]:
        """Return the cells of each column."""
        if not self.rows:
            return [[] for _ in self.columns]
        return [list(cells) for cells in zip(*self.rows, strict=True)]

    def cells(self) -> Iterator[Cell]:
        """Iterate over every cell, row by row."""
        return (cell for row in self.rows for cell in row)


def number_cell(
    value: float | None,
    places: int = USUAL,
    *,
    signed: bool = False,
    strong: bool = False,
    tone: Tone = "",
) -> Cell:
    """Make the cell of a number with so many decimals; a dash for None."""
    text = "-" if value is None else number(value, places, signed=signed)
    return Cell(text, value, strong=strong, tone=tone)


def interval_cell(ends: tuple[float, float], places: int = USUAL, *, signed: bool = False) -> Cell:
    """Make the cell of an interval; an infinite end is open, and a dash stands for two of them."""
    return Cell(interval(ends, places, signed=signed), ends)


def p_cell(p: float | None, alpha: float | None = None) -> Cell:
    """Make the cell of a p value, on its own side of alpha; a dash if nothing was tested."""
    return Cell("-" if p is None else p_text(p, alpha), p)


def count_cell(count: int | None, tone: Tone = "") -> Cell:
    """Make the cell of a whole number; a dash for None."""
    return Cell("-" if count is None else f"{count:,}", count, tone=tone)


def share_cell(share: float | None) -> Cell:
    """Make the cell of a share in per cent; a dash if it was not measured."""
    return Cell("-" if share is None else f"{share:.1%}", share)


def lacking(texts: Sequence[str]) -> list[str]:
    """Return the padding behind each number of a column that aligns the decimal points, as text
    with 0 for a digit.
    """
    matches = [_NUMBER.fullmatch(text) for text in texts]
    decimals_of = [match["after"] if match else None for match in matches]
    longest = max((text for text in decimals_of if text is not None), key=len, default="")
    pattern = re.sub(r"\d", "0", longest)
    return ["" if text is None else pattern[len(text) :] for text in decimals_of]
