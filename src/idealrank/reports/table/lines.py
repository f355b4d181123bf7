"""Tables as aligned columns of plain text, line by line and piece by piece."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from idealrank.reports.table.cells import Cell, Table, lacking
from idealrank.reports.table.layout import WIDTH, filled, printable

Span: TypeAlias = tuple[str, Cell | None]
"""A piece of a line, and the cell it shows; None for blanks, heads and notes."""


def as_text(table: Table, width: int = WIDTH) -> str:
    r"""Aligned columns, no line wider than `width` where that can be had; see `laid`.

    Examples
    --------
    >>> from idealrank.reports.table.cells import Column
    >>> columns = [Column("run"), Column("AP", "number"), Column("p", "number")]
    >>> rows = [[Cell("bm25"), Cell("0.25", mark="*"), Cell("1")], [Cell("x"), Cell("12.50"), Cell("0.031")]]
    >>> print(as_text(Table(columns, rows, notes=["* the best"])), end="")
    run      AP       p
    bm25   0.25*  1
    x     12.50   0.031
    * the best
    """
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in laid(table, width))


def laid(table: Table, width: int = WIDTH) -> list[list[Span]]:
    """The lines of a table in pieces, ready for colours: with a wide gap, a narrow one, or with rows as columns in several blocks.

    Examples
    --------
    >>> from idealrank.reports.table.cells import Column
    >>> laid(Table([Column("run")], [[Cell("bm25")]]))[1][0]
    ('bm25', Cell(text='bm25', value=None, strong=False, mark='', tone=''))
    """
    upright = _upright(table)
    lines = next((found for gap in ("  ", " ") if _width(found := _joined(upright, gap)) <= width), None)
    lines = lines or list(_blocks([Cell(column.title) for column in table.columns], table.rows, width))
    notes: list[list[Span]] = [[(line, None)] for note in table.notes for line in filled(note, width=width)]
    title: list[list[Span]] = [[(line, None)] for line in filled(table.title, width=width)]
    return [*title, *lines, *notes]


def fits(table: Table, width: int = WIDTH, *, gap: str = "  ") -> bool:
    """Return whether the rows fit the width.

    Examples
    --------
    >>> from idealrank.reports.table.cells import Column
    >>> fits(Table([Column("run")], [[Cell("bm25")]]), width=3)
    False
    """
    return _width(_joined(_upright(table), gap)) <= width


def _upright(table: Table) -> list[list[list[Span]]]:
    columns = zip(table.columns, table.columnwise(), strict=True)
    return [_padded([Cell(column.title), *cells], column.kind) for column, cells in columns]


def _padded(cells: Sequence[Cell], kind: str, *, points: bool = True) -> list[list[Span]]:
    """A column, its head first: each cell with the blanks around it."""
    marks = max(len(cell.mark) for cell in cells)
    after = lacking([cell.text for cell in cells[1:]]) if points and kind == "number" else [""] * (len(cells) - 1)
    texts = [printable(cell.text) for cell in cells]
    tails = [" " * (len(blank) + marks - len(cell.mark)) for cell, blank in zip(cells, ["", *after], strict=True)]  # the head's too
    widths = [len(text + cell.mark + tail) for text, cell, tail in zip(texts, cells, tails, strict=True)]
    column = []
    for place, (cell, text, tail, size) in enumerate(zip(cells, texts, tails, widths, strict=True)):
        blanks = " " * (max(widths) - size)
        shown: Span = (text + cell.mark, cell if place else None)
        column.append([(blanks, None), shown, (tail, None)] if kind == "number" else [shown, (tail + blanks, None)])
    return [[span for span in spans if span[0]] for spans in column]


def _joined(columns: Sequence[Sequence[list[Span]]], gap: str) -> list[list[Span]]:
    lines = []
    for row in zip(*columns, strict=True):
        first, *others = row
        lines.append([*first, *(span for spans in others for span in ((gap, None), *spans))])
    return lines


def _width(lines: Sequence[Sequence[Span]]) -> int:
    return max(len("".join(text for text, _ in line).rstrip()) for line in lines)


def _blocks(head: Sequence[Cell], rows: Sequence[Sequence[Cell]], width: int) -> Iterator[list[Span]]:
    """Rows as columns, as many side by side as fit, at least one; the titles stand before each block."""
    rest, first = list(rows), True
    titles: list[list[Span]] = [[(text, None) for text, _ in spans] for spans in _padded(head, "text")]
    while rest:
        shown = len(rest)
        while True:
            block = _joined([titles, *(_padded(row, "number", points=False) for row in rest[:shown])], "  ")
            if shown == 1 or _width(block) <= width:
                break
            shown -= 1
        yield from block if first else [[], *block]
        rest, first = rest[shown:], False
