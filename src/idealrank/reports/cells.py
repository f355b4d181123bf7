"""Columns, cells and tables as values: what every form of a table is made of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Tone: TypeAlias = Literal["", "better", "worse", "quiet"]
Value: TypeAlias = float | int | str | tuple[float, float] | None

_NUMBER = re.compile(r"[<+-]?[\d,]+(?P<after>(?:\.\d+)?(?: ?%)?)")


@dataclass(frozen=True)
class Column:
    """A column: texts begin at the left, numbers stand with their points below each other.

    Examples
    --------
    >>> Column("AP", "number").kind
    'number'
    """

    title: str
    kind: Literal["text", "number"] = "text"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Attributes
    ----------
    text : str
        What people read.
    value : float, int, str, pair of float, or None
        What programs read: the exact number, both ends of an interval; None where the text says all.
    strong : bool
        Stands out, as the best of its column does.
    mark : str
        Behind the text and a little higher, such as the ``*`` of a significant difference; what it means is in a note.
    tone : {"", "better", "worse", "quiet"}
        Colour, where there is one. It never says anything that no word says.

    Examples
    --------
    >>> Cell("0.25", 0.2533).value
    0.2533
    """

    text: str
    value: Value = None
    strong: bool = False
    mark: str = ""
    tone: Tone = ""


@dataclass(frozen=True)
class Table:
    """Columns and rows, the first column naming the rows.

    Attributes
    ----------
    columns : sequence of Column
        With their titles.
    rows : sequence of sequence of Cell
        Each with a cell for each column.
    title : str
        Stands above; none where empty.
    notes : sequence of str
        Sentences below: what marks mean.

    Raises
    ------
    ValueError
        A row has more cells than there are columns, or fewer.

    Examples
    --------
    >>> Table([Column("run"), Column("AP", "number")], [[Cell("bm25"), Cell("0.25", 0.2533)]]).rows[0][1].value
    0.2533
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"found a row of {len(row)} cells, expected {len(self.columns)}, one for each column")

    def columnwise(self) -> list[list[Cell]]:
        """The cells of each column."""
        return [[row[place] for row in self.rows] for place in range(len(self.columns))]


def lacking(texts: Sequence[str]) -> list[str]:
    """What each number of a column lacks behind it, as a pattern of digits, for the points of all to stand below each other.

    Examples
    --------
    >>> lacking(["1", "0.25", "12.5", "-"])
    ['.00', '', '0', '']
    """
    found = [_NUMBER.fullmatch(text) for text in texts]
    longest = re.sub(r"\d", "0", max((number["after"] for number in found if number), key=len, default=""))
    return [longest[len(number["after"]) :] if number else "" for number in found]
