"""Plain text: aligned columns, tables line by line, reports as parts, sparklines, and text for
logs.

In files and pipes, text has lines of 100 letters and every column; on a terminal, its width. A
report consists of parts, tables among them, so that a page shows the same.
"""

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from itertools import zip_longest
from typing import Any, TypeAlias

from idealrank.reports.table.cells import Cell, Column, Kind, Table, lacking

WIDTH = 100  # letters of a line in a file or pipe, and the most that a line of prose has anywhere

# Reports are built line by line in many modules, far from the command that knows the terminal.
_TERMINAL: ContextVar[int | None] = ContextVar("letters of a line of the terminal", default=None)


@contextmanager
def on_terminal(width: int | None) -> Iterator[None]:
    """Lay out text for a terminal with so many letters in a line; None for a file or pipe."""
    token = _TERMINAL.set(width)
    try:
        yield
    finally:
        _TERMINAL.reset(token)


def line_width() -> int:
    """Return the letters of a line of a table: the terminal's, or 100 elsewhere."""
    width = _TERMINAL.get()
    return WIDTH if width is None else width


def exceeds_terminal(width: int) -> bool:
    """Return whether a line of so many letters is wider than the terminal; elsewhere none is."""
    terminal = _TERMINAL.get()
    return terminal is not None and width > terminal


def prose_width() -> int:
    """Return the letters of a line of prose, at most 100: longer lines are hard to read."""
    return min(line_width(), WIDTH)


def columns(
    rows: Sequence[Sequence[str]],
    *,
    left: Sequence[int] = (0,),
    ranks: Sequence[int] = (),
    indent: str = "",
) -> list[str]:
    """Format rows as lines, cells padded to the width of their column. With ranks of the columns,
    whose heads are the first row, a narrow terminal gets a table.
    """
    padded = []
    for column, cells in enumerate(zip(*rows, strict=True)):
        texts = list(map(printable, cells))
        width = max(map(len, texts))
        is_left = column in left
        padded.append([text.ljust(width) if is_left else text.rjust(width) for text in texts])
    lines = [f"{indent}{'  '.join(row)}".rstrip() for row in zip(*padded, strict=True)]
    if not exceeds_terminal(max(map(len, lines))):
        return lines
    kinds: list[Kind] = ["text" if place in left else "number" for place in range(len(rows[0]))]
    with on_terminal(max(1, line_width() - len(indent))):
        return [f"{indent}{line}" for line in _narrow(rows, kinds, ranks)]


def _narrow(
    rows: Sequence[Sequence[str]], kinds: Sequence[Kind], ranks: Sequence[int]
) -> list[str]:
    """Return rows that are too long for the terminal as a table, or with texts that go on below."""
    if ranks:
        head, *body = rows
        titled: list[Column[Any]] = [
            Column(title=title, kind=kind, rank=rank)
            for title, kind, rank in zip(head, kinds, ranks, strict=True)
        ]
        table = Table(columns=titled, rows=[list(map(Cell, row)) for row in body])
        return list(map(_text, laid(table)))
    return list(map(_text, _untitled([list(map(Cell, row)) for row in rows], kinds)))


_NARROWEST = 12  # letters of a column whose texts go on below


def _least(texts: Iterable[str]) -> int:
    """Return the width below which a column of texts breaks no further: words stay whole."""
    texts = list(texts)
    words = [len(word) for text in texts for word in text.split()]
    longest_text = max(map(len, texts))
    return max([min(_NARROWEST, longest_text), *words])


def _shrunk(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Narrow the widest columns until all have room, or none can be narrower."""
    shrunk = list(widths)
    while sum(shrunk) > room:
        narrower = [place for place, width in enumerate(shrunk) if width > least[place]]
        if not narrower:
            break
        shrunk[max(narrower, key=lambda place: shrunk[place])] -= 1
    return shrunk


def _pieces(texts: Sequence[str], widths: Sequence[int]) -> Iterator[list[str]]:
    """Yield the lines of a row whose texts are broken between words."""
    broken = [
        [text] if len(text) <= width else filled(text, width=width)
        for text, width in zip(texts, widths, strict=True)
    ]
    yield from map(list, zip_longest(*broken, fillvalue=""))


def printable(text: str, *, surrogates: bool = True) -> str:
    r"""Spell out characters of a name or id that move a cursor, end a line or turn the direction of
    writing.
    """
    if text.isprintable():
        return text

    def shown(letter: str) -> str:
        # Such surrogates are bytes of an id that is not UTF-8; they are written as they were read.
        is_byte = surrogates and "\udca0" <= letter <= "\udcff"
        return letter if letter.isprintable() or is_byte else ascii(letter)[1:-1]

    return "".join(map(shown, text))


def printable_lines(text: str) -> str:
    r"""Make each line of a text printable."""
    return "\n".join(map(printable, text.split("\n")))


def clipped(text: str, width: int) -> str:
    """Leave out the middle of a text that is too long; the ends of ids tell more than their
    beginnings.
    """
    text = printable(text)
    if len(text) <= width:
        return text
    n_last = (width - 2) * 2 // 3  # two thirds of the letters beside the two dots
    return f"{text[: width - 2 - n_last]}..{text[len(text) - n_last :]}"


def beginning_of(text: str, width: int) -> str:
    """Leave out the end of a title or text that is too long; its beginning tells the most."""
    line = printable(text[: 2 * width + 1], surrogates=False)
    return line if len(line) <= width else f"{line[: width - 2].rstrip()}.."


def one_line(text: str, width: int = 60) -> str:
    r"""Make a name or id printable, on one line of at most `width` letters."""
    # Only the ends are shown, so the middle need not be made printable.
    if len(text) > 2 * width:
        text = text[:width] + text[-width:]
    return clipped(printable(text, surrogates=False), width)


def filled(
    text: str | Sequence[str],
    head: str = "",
    indent: str | None = None,
    *,
    width: int | None = None,
) -> list[str]:
    """Fill a text, or sentences, into the lines of one paragraph; words stay whole."""
    paragraph = printable(text if isinstance(text, str) else " ".join(text))
    later = " " * len(head) if indent is None else indent
    return textwrap.wrap(
        paragraph,
        width or prose_width(),
        initial_indent=head,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def wrapped(text: str, *, indent: str = "  ") -> list[str]:
    """Fill phrases that ``"; "`` separates into lines; phrases stay whole if a line holds them."""
    lines = [indent]
    for part in (phrase + ";" for phrase in printable(text).split("; ")):
        if lines[-1] != indent and len(lines[-1]) + 1 + len(part) > prose_width():
            lines.append(indent)
        lines[-1] += part if lines[-1] == indent else f" {part}"
    lines[-1] = lines[-1].removesuffix(";")
    return [piece for line in lines for piece in folded(line)]


def folded(line: str) -> list[str]:
    """Break a line that is wider than the terminal between words, and indent the rest."""
    width = _TERMINAL.get()
    if width is None or len(line) <= width:
        return [line]
    # A command is copied, and stays whole; so does a row of cells, whose columns would be lost.
    is_row = "  " in line.strip() or " | " in line
    if is_row or line.startswith("  idealrank "):
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    return filled(line.lstrip(), indent, f"{indent}  ", width=width)


Span: TypeAlias = tuple[str, Cell | None]
"""A piece of a line, and its cell; None for blanks, heads and notes."""


def as_text(table: Table, width: int = WIDTH) -> str:
    r"""Write a table in aligned columns; see `laid`."""
    return "".join(f"{_text(line)}\n" for line in laid(table, width))


def _text(line: Iterable[Span]) -> str:
    return "".join(text for text, _ in line).rstrip()


def laid(table: Table, width: int = WIDTH) -> list[list[Span]]:
    """Return the lines of a table in pieces, ready for colours: with a wide gap, a narrow one, on a
    terminal without the least columns, or with rows as columns in several blocks.
    """
    terminal = _TERMINAL.get()
    width, prose = (width, width) if terminal is None else (terminal, prose_width())
    fitting = table if terminal is None else _with_broken_texts(_without_least(table))
    upright = _upright(fitting)
    lines = _joined(upright, "  ")
    if _width(lines) > width:
        lines = _joined(upright, " ")
    # Turned, a heading among the rows would be a record, and no longer head the rows below it.
    is_fixed = terminal is not None and any(map(_is_heading, table.rows))
    if _width(lines) > width and not is_fixed:
        fitting = table
        lines = list(_blocks([Cell(column.title) for column in table.columns], table.rows, width))
    notes: list[list[Span]] = [
        [(line, None)] for note in fitting.notes for line in filled(note, width=prose)
    ]
    title: list[list[Span]] = [[(line, None)] for line in filled(table.title, width=prose)]
    return [*title, *lines, *notes]


def _is_heading(row: Sequence[Cell]) -> bool:
    first, *others = row
    return bool(first.text and others) and not any(cell.text for cell in others)


def _without_least(table: Table) -> Table:
    """Leave out columns, the greatest rank first, until the rows fit or no other may go."""
    ranks = sorted({column.rank for column in table.columns if column.rank}, reverse=True)
    fitting = table
    for rank in ranks:
        if fits(fitting, gap=" "):
            return fitting
        kept_places = [place for place, column in enumerate(table.columns) if column.rank < rank]
        titles = [column.title for column in table.columns if column.rank >= rank]
        fitting = replace(
            table,
            columns=[table.columns[place] for place in kept_places],
            rows=[[row[place] for place in kept_places] for row in table.rows],
            notes=[*table.notes, left_out(titles)],
        )
    return fitting


def left_out(titles: Sequence[str]) -> str:
    """Name the columns that a narrow terminal leaves out, and how to see them."""
    return (
        f"left out at this width: {', '.join(titles)}; all: a wider terminal, or `| cat` after the "
        "command"
    )


def _with_broken_texts(table: Table) -> Table:
    """Let texts that are too long for the terminal go on below; numbers stay whole."""
    if fits(table, gap=" "):
        return table
    widths = [sum(len(text) for text, _ in column[0]) for column in _upright(table)]
    least_widths = [
        _least([column.title, *(cell.text + cell.mark for cell in cells)])
        if column.kind == "text"
        else width
        for column, cells, width in zip(table.columns, table.columnwise(), widths, strict=True)
    ]
    headings = [row for row in table.rows if _is_heading(row)]
    longest_heading = max((len(row[0].text) for row in headings), default=0)
    least_widths[0] = max(least_widths[0], longest_heading)
    n_gaps = len(widths) - 1  # of one blank each
    limits = _shrunk(widths, least_widths, line_width() - n_gaps)
    rows = [line for row in table.rows for line in _broken(table.columns, row, limits)]
    return replace(table, rows=rows)


def _broken(
    columns: Sequence[Column[Any]], row: Sequence[Cell], widths: Sequence[int]
) -> Iterator[list[Cell]]:
    texts = [
        cell.text + cell.mark if column.kind == "text" else cell.text
        for column, cell in zip(columns, row, strict=True)
    ]
    for pieces in _pieces(texts, widths):
        yield [
            cell if piece == cell.text else cell._replace(text=piece, mark="")
            for cell, piece in zip(row, pieces, strict=True)
        ]


def fits(table: Table, *, gap: str = "  ") -> bool:
    """Return whether the rows fit the width."""
    return _width(_joined(_upright(table), gap)) <= line_width()


def _upright(table: Table) -> list[list[list[Span]]]:
    columns = zip(table.columns, table.columnwise(), strict=True)
    return [_padded([Cell(column.title), *cells], column.kind) for column, cells in columns]


def _padded(cells: Sequence[Cell], kind: str, *, points: bool = True) -> list[list[Span]]:
    """Pad a column, whose head comes first: return each cell with the blanks around it."""
    head, *body = cells
    most_marks = max(len(cell.mark) for cell in cells)
    missing = [""] * len(body)
    if points and kind == "number":
        missing = lacking([cell.text for cell in body])
    # Blanks for missing decimals and marks, so that decimal points align; the head has room for
    # marks, too.
    texts, tails = [], []
    for cell, decimals in zip([head, *body], ["", *missing], strict=True):
        texts.append(printable(cell.text) + cell.mark)
        tails.append(" " * (len(decimals) + most_marks - len(cell.mark)))
    width = max(len(text) + len(tail) for text, tail in zip(texts, tails, strict=True))

    column = []
    owners: list[Cell | None] = [None, *body]
    for owner, text, tail in zip(owners, texts, tails, strict=True):
        blanks = " " * (width - len(text) - len(tail))
        spans: list[Span] = [(text, owner), (tail + blanks, None)]
        if kind == "number":
            spans = [(blanks, None), (text, owner), (tail, None)]
        column.append([(piece, cell) for piece, cell in spans if piece])
    return column


def _joined(columns: Sequence[Sequence[list[Span]]], gap: str) -> list[list[Span]]:
    lines = []
    for first, *others in zip(*columns, strict=True):
        line = list(first)
        for spans in others:
            line += [(gap, None), *spans]
        lines.append(line)
    return lines


def _width(lines: Sequence[Sequence[Span]]) -> int:
    return max(len(_text(line)) for line in lines)


def _blocks(
    head: Sequence[Cell], rows: Sequence[Sequence[Cell]], width: int
) -> Iterator[list[Span]]:
    """Yield lines with rows as columns, as many side by side as fit, at least one; each block
    begins with the titles.
    """
    titles = [_without_cells(spans) for spans in _padded(head, "text")]
    remaining = list(rows)
    is_first = True
    while remaining:
        n_side_by_side = len(remaining)
        while True:
            turned = [_padded(row, "number", points=False) for row in remaining[:n_side_by_side]]
            block = _joined([titles, *turned], "  ")
            if n_side_by_side == 1 or _width(block) <= width:
                break
            n_side_by_side -= 1
        if n_side_by_side == 1 and _TERMINAL.get() and _width(block) > width:
            strong = [title._replace(strong=True) for title in head]
            block = _untitled(list(zip(strong, remaining[0], strict=True)), ["text", "text"])
        if not is_first:
            yield []  # a blank line between blocks
        yield from block
        remaining = remaining[n_side_by_side:]
        is_first = False


def _untitled(rows: Sequence[Sequence[Cell]], kinds: Sequence[Kind]) -> list[list[Span]]:
    """Return the lines of rows without heads, with texts that go on below: in columns, or of each
    row as a paragraph if these are too wide.
    """
    unnamed: list[Column[Any]] = [Column(title="", kind=kind) for kind in kinds]
    table = _with_broken_texts(Table(columns=unnamed, rows=rows))
    if fits(table, gap=" "):
        return _joined(_upright(table), " ")[1:]
    paragraphs = (filled([cell.text for cell in row], indent="  ") for row in rows)
    return [[(line, None)] for lines in paragraphs for line in lines]


def _without_cells(spans: Iterable[Span]) -> list[Span]:
    return [(text, None) for text, _ in spans]


Part: TypeAlias = list[str] | Table
"""Lines of a paragraph, or a table; a blank line separates parts, and empty parts are left out."""


class MethodLines(list[str]):
    """Part of a report that explains its method, with the phrases that replace it in a short
    report.
    """

    def __init__(self, lines: Iterable[str], *brief: str) -> None:
        super().__init__(lines)
        self.brief = brief


class MoreLines(list[str]):
    """Part of a report with the sentences beyond the verdict, which a short report leaves out."""


def in_brief(parts: Iterable[Part], more: str) -> list[Part]:
    """Replace the `MethodLines` of a report by one line, in the place of the last of them."""
    parts = list(parts)
    explained = [part for part in parts if isinstance(part, MethodLines)]
    if not explained:
        return parts
    phrases = [phrase for part in explained for phrase in part.brief]
    brief: list[Part] = []
    for part in parts:
        if not isinstance(part, MethodLines):
            brief.append(part)
        elif part is explained[-1]:
            brief.append(wrapped("; ".join([*phrases, more]), indent=""))
    return brief


def parts_text(parts: Iterable[Part]) -> str:
    r"""Write all parts as plain text."""
    return "\n".join(_part_text(part) for part in parts if part)


def _part_text(part: Part) -> str:
    if isinstance(part, Table):
        return as_text(part)
    return "".join(f"{line}\n" for text in part for line in folded(printable(text)))


_BLOCKS = "▁▂▃▄▅▆▇█"
_DIGITS = "12345678"
_LONGEST = 60  # values of a sparkline, so that it fits beside other columns


def sparkline(values: Sequence[float], breaks: Sequence[bool] = (), *, plain: bool = False) -> str:
    """Draw values as blocks of eight heights, and a bar before each section."""
    marks, bar, dot = (_DIGITS, "|", ".") if plain else (_BLOCKS, "│", "·")
    start = max(0, len(values) - _LONGEST)
    drawn = values[start:]
    finite = [value for value in drawn if math.isfinite(value)]
    if not finite:
        return ""
    low = min(finite)
    span = max(finite) - low
    line = ""
    for place, value in enumerate(drawn, start):
        is_break = place < len(breaks) and breaks[place]
        if is_break and place > start:
            line += bar
        line += marks[_level(value, low, span)] if math.isfinite(value) else dot
    return line


def _level(value: float, low: float, span: float) -> int:
    """Return the height of a value from 0 to 7: eight bands of equal width."""
    return 3 if span == 0 else min(7, int((value - low) / span * 8))


def harmless(text: str) -> str:
    r"""Make a text harmless for a log of GitHub Actions, which executes lines that begin with
    ``::``, and ``##[...]`` anywhere.
    """
    # The runner also ends a line at a carriage return, and looks behind blanks at its beginning.
    return re.sub(r"(^|[\r\n])(\s*):(?=:)", r"\1\2: ", text).replace("##[", "## [")


def harmless_json(text: str) -> str:
    r"""Return JSON of the same meaning without a workflow command."""
    return text.replace("##[", "##\\u005b")
