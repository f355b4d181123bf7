"""Columns, cells and tables as values: what every form of a table is made of."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from idealrank.reports.table.digits import USUAL, interval, number, p_text

Row = TypeVar("Row")
Other = TypeVar("Other")
Kind: TypeAlias = Literal["text", "number"]
Tone: TypeAlias = Literal["", "better", "worse", "quiet"]
Value: TypeAlias = float | int | str | tuple[float, float] | None

_NUMBER = re.compile(r"[<+-]?[\d,]+(?P<after>(?:\.\d+)?(?: ?%)?)")


class Cell(NamedTuple):
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


class NamedCells(dict[str, Cell]):
    """A row whose cells are given by the names of their columns; the others are empty.

    Examples
    --------
    >>> Table.of([Column(title="run"), Column(title="AP", kind="number")], [NamedCells(run=Cell("all"))]).rows[0][1].text
    ''
    """


@dataclass(frozen=True, kw_only=True)
class Column(Generic[Row]):
    """A column: its title, and what stands in it beside each row.

    Attributes
    ----------
    title : str
        Its head.
    kind : {"text", "number"}
        Texts begin at the left, numbers stand with their points below each other.
    cell : callable, optional
        From what a row is about its cell, or the text of one.
    name : str
        Of the column in a row of given cells; default its title.

    Examples
    --------
    >>> length = Column(title="length", kind="number", cell=lambda word: Cell(str(len(word)), len(word)))
    >>> Table.of([Column(title="word", cell=str), length], ["nDCG"]).rows
    [[Cell(text='nDCG', value=None, strong=False, mark='', tone=''), Cell(text='4', value=4, strong=False, mark='', tone='')]]
    """

    title: str
    kind: Kind = "text"
    cell: "Callable[[Row], Cell | str] | None" = None
    name: str = ""

    def beside(self, row: "Row | NamedCells") -> Cell:
        """Its cell in the row of one thing."""
        if isinstance(row, NamedCells):
            return row.get(self.name or self.title, Cell(""))
        if self.cell is None:
            raise ValueError(f"found a column {self.title!r} without cells, expected rows of given ones")
        found = self.cell(row)
        return Cell(found) if isinstance(found, str) else found

    def of(self, known: "Callable[[Other], Row]") -> "Column[Other]":
        """Return the column for other rows, with a function that extracts the shown row."""
        return Column(title=self.title, kind=self.kind, cell=lambda other: self.beside(known(other)), name=self.name)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns and rows, the first column naming the rows.

    Attributes
    ----------
    columns : sequence of Column
        The heads.
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
    >>> columns = [Column(title="run", cell=str), Column(title="letters", kind="number", cell=lambda run: number_cell(len(run), 0))]
    >>> [cell.text for cell in Table.of(columns, ["bm25"]).rows[0]]
    ['bm25', '4']
    """

    columns: Sequence[Column[Any]]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"found a row of {len(row)} cells, expected {len(self.columns)}, one for each column")

    @classmethod
    def of(
        cls, columns: "Sequence[Column[Row]]", things: "Iterable[Row | NamedCells]", *, title: str = "", notes: Sequence[str] = ()
    ) -> "Table":
        """A row for each thing, with what each column shows of it."""
        return cls(columns=columns, rows=[[column.beside(thing) for column in columns] for thing in things], title=title, notes=notes)

    def columnwise(self) -> list[list[Cell]]:
        """The cells of each column."""
        return [list(cells) for cells in zip(*self.rows, strict=True)] if self.rows else [[] for _ in self.columns]

    def cells(self) -> Iterator[Cell]:
        """Every cell, row by row."""
        return (cell for row in self.rows for cell in row)


def number_cell(value: float | None, places: int = USUAL, *, signed: bool = False, strong: bool = False, tone: Tone = "") -> Cell:
    """A number with so many decimals; a dash where there is none.

    Examples
    --------
    >>> number_cell(0.25, 2, signed=True).text, number_cell(None).text
    ('+0.25', '-')
    """
    return Cell("-" if value is None else number(value, places, signed=signed), value, strong=strong, tone=tone)


def interval_cell(ends: tuple[float, float], places: int = USUAL, *, signed: bool = False) -> Cell:
    """Both ends of an interval, an infinite one open; a dash where none is finite.

    Examples
    --------
    >>> interval_cell((0.25, 0.5), 2).text
    '[0.25, 0.50]'
    """
    return Cell(interval(ends, places, signed=signed), ends)


def p_cell(p: float | None, alpha: float | None = None) -> Cell:
    """A p value, on its own side of alpha; a dash where nothing was tested.

    Examples
    --------
    >>> p_cell(0.0312).text, p_cell(None).text
    ('0.0312', '-')
    """
    return Cell("-" if p is None else p_text(p, alpha), p)


def count_cell(count: int | None, tone: Tone = "") -> Cell:
    """A whole number; a dash where there is none.

    Examples
    --------
    >>> count_cell(1200).text
    '1,200'
    """
    return Cell("-" if count is None else f"{count:,}", count, tone=tone)


def share_cell(share: float | None) -> Cell:
    """A share in per cent; a dash where it was not measured.

    Examples
    --------
    >>> share_cell(0.0871).text, share_cell(None).text
    ('8.7%', '-')
    """
    return Cell("-" if share is None else f"{share:.1%}", share)


def lacking(texts: Sequence[str]) -> list[str]:
    """Return padding behind each number of a column, as a pattern of digits, so that decimal points align.

    Examples
    --------
    >>> lacking(["1", "0.25", "12.5", "-"])
    ['.00', '', '0', '']
    """
    found = [_NUMBER.fullmatch(text) for text in texts]
    longest = re.sub(r"\d", "0", max((number["after"] for number in found if number), key=len, default=""))
    return [longest[len(number["after"]) :] if number else "" for number in found]
