"""Plain text: aligned columns, tables line by line, reports as parts, lines of values as small as a word, and text for logs.

It is the same on a terminal and in a pipe. A report consists of parts, tables among them, so that a page shows the same, too. Logs of
build servers are searched for commands: text for them is made harmless.
"""

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias, cast

from idealrank.reports.table.cells import Cell, Table, lacking

WIDTH = 100


def columns(rows: Sequence[Sequence[str]], *, gap: str = "  ", left: Sequence[int] = (0,)) -> list[str]:
    """Rows as lines, cells padded to the width of their column.

    Parameters
    ----------
    rows : sequence of sequence of str
        All of one length; the first is the head.
    gap : str
        Stands between columns.
    left : sequence of int
        Columns that are texts and begin at the left; numbers end at the right.

    Examples
    --------
    >>> columns([["run", "AP"], ["bm25", "0.5"]])
    ['run    AP', 'bm25  0.5']
    """
    rows = [list(map(printable, row)) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    padded = (
        [cell.ljust(width) if column in left else cell.rjust(width) for column, (cell, width) in enumerate(zip(row, widths, strict=True))]
        for row in rows
    )
    return [gap.join(row).rstrip() for row in padded]


def printable(text: str, *, surrogates: bool = True) -> str:
    r"""A name or id on one line, in which nothing moves a cursor or turns the direction of writing.

    Parameters
    ----------
    text : str
        Any text.
    surrogates : bool
        Keep bytes that were not UTF-8, which are then written as they were read; not those that 8-bit terminals take for controls.

    Examples
    --------
    >>> printable("a\nb"), printable("\x1b[2J")
    ('a\\nb', '\\x1b[2J')
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or (surrogates and "\udca0" <= letter <= "\udcff") else ascii(letter)[1:-1] for letter in text
    )


def printable_lines(text: str) -> str:
    r"""Text of several lines, each as `printable` shows it.

    Examples
    --------
    >>> print(printable_lines("one\n\x1b[2Jtwo\n"), end="")
    one
    \x1b[2Jtwo
    """
    return "\n".join(map(printable, text.split("\n")))


def clipped(text: str, width: int) -> str:
    """The text, with its middle left out where it is too long; the ends of ids tell more than their beginnings.

    Examples
    --------
    >>> clipped("clueweb12-0000tw-05-12114", 11)
    'clu..-12114'
    """
    text = printable(text)
    if len(text) <= width:
        return text
    tail = (width - 2) * 2 // 3
    return f"{text[: width - 2 - tail]}..{text[len(text) - tail :]}"


def filled(text: str | Sequence[str], head: str = "", indent: str | None = None, *, width: int = WIDTH) -> list[str]:
    """Text, or sentences, as the lines of one paragraph; words stay whole.

    Parameters
    ----------
    text : str or sequence of str
        Sentences are joined by blanks.
    head : str
        Start of the first line.
    indent : str, optional
        Start of the other lines; as many blanks as the head has characters by default.
    width : int
        Characters of a line, at most.

    Examples
    --------
    >>> filled(["One."] * 21)[1]
    'One.'
    >>> filled("one two", "note: ", width=10)
    ['note: one', '      two']
    """
    said = printable(text if isinstance(text, str) else " ".join(text))
    later = " " * len(head) if indent is None else indent
    return textwrap.wrap(said, width, initial_indent=head, subsequent_indent=later, break_long_words=False, break_on_hyphens=False)


def wrapped(text: str, *, indent: str = "  ", width: int = WIDTH) -> list[str]:
    """Phrases separated by ``"; "`` filled into lines.

    Examples
    --------
    >>> wrapped("one; two; three", width=12)
    ['  one; two;', '  three']
    """
    lines = [indent]
    for part in (phrase + ";" for phrase in printable(text).split("; ")):
        if lines[-1] != indent and len(lines[-1]) + 1 + len(part) > width:
            lines.append(indent)
        lines[-1] += part if lines[-1] == indent else f" {part}"
    lines[-1] = lines[-1].removesuffix(";")
    return lines


Span: TypeAlias = tuple[str, Cell | None]
"""A piece of a line, and the cell it shows; None for blanks, heads and notes."""


def as_text(table: Table, width: int = WIDTH) -> str:
    r"""Aligned columns, no line wider than `width` where that can be had; see `laid`.

    Examples
    --------
    >>> from idealrank.reports.table.cells import Column
    >>> columns = [Column(title="run"), Column(title="AP", kind="number"), Column(title="p", kind="number")]
    >>> rows = [[Cell("bm25"), Cell("0.25", mark="*"), Cell("1")], [Cell("x"), Cell("12.50"), Cell("0.031")]]
    >>> print(as_text(Table(columns=columns, rows=rows, notes=["* the best"])), end="")
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
    >>> laid(Table(columns=[Column(title="run")], rows=[[Cell("bm25")]]))[1][0]
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
    >>> fits(Table(columns=[Column(title="run")], rows=[[Cell("bm25")]]), width=3)
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


Part: TypeAlias = list[str] | Table
"""Lines of a paragraph, or a table; a blank line stands between two parts, and empty parts are left out."""


class MethodLines(list[str]):
    """Part of a report that explains its method, with the phrases that stand for it in a short report.

    Parameters
    ----------
    lines : iterable of str
        The explanation.
    *brief : str
        Phrases of the short report; none if the explanation is a legend.

    Examples
    --------
    >>> MethodLines(["method", "  paired t test; two-sided"], "paired t test").brief
    ('paired t test',)
    """

    def __init__(self, lines: Iterable[str], *brief: str) -> None:
        super().__init__(lines)
        self.brief = brief


class MoreLines(list[str]):
    """Part of a report with the sentences beyond the verdict, which a short report leaves out.

    Examples
    --------
    >>> MoreLines(["The power of these queries."])
    ['The power of these queries.']
    """


def in_brief(parts: Iterable[Part], more: str) -> list[Part]:
    """A report with one line in place of its `MethodLines`, where the last of them stood.

    Parameters
    ----------
    parts : iterable of Part
        The whole report.
    more : str
        Last phrase of the line: how to get the whole report.

    Examples
    --------
    >>> in_brief([["a verdict"], MethodLines(["method", "  t test; two-sided"], "t test"), ["below"]], "details: --explain-method")
    [['a verdict'], ['t test; details: --explain-method'], ['below']]
    """
    parts = list(parts)
    explained = [place for place, part in enumerate(parts) if isinstance(part, MethodLines)]
    if not explained:
        return parts
    phrases = [phrase for place in explained for phrase in cast("MethodLines", parts[place]).brief]
    line: Part = wrapped("; ".join([*phrases, more]), indent="")
    return [line if place == explained[-1] else part for place, part in enumerate(parts) if place not in explained[:-1]]


def parts_text(parts: Iterable[Part], width: int = WIDTH) -> str:
    r"""All parts as plain text.

    Examples
    --------
    >>> parts_text([["One line.", "Another."], [], ["Below."]])
    'One line.\nAnother.\n\nBelow.\n'
    """
    shown = (
        as_text(part, width) if isinstance(part, Table) else "".join(f"{printable(line)}\n" for line in part) for part in parts if part
    )
    return "\n".join(shown)


_BLOCKS = "▁▂▃▄▅▆▇█"
_DIGITS = "12345678"
_LONGEST = 60


def sparkline(values: Sequence[float], breaks: Sequence[bool] = (), *, plain: bool = False) -> str:
    """Values as blocks of eight heights, from the least value to the greatest.

    Parameters
    ----------
    values : sequence of float
        In order; one that is NaN is a dot. Of more than 60 the last ones are drawn.
    breaks : sequence of bool
        Of each value whether it answers another question than the one before; a bar then stands between them.
    plain : bool
        Digits from 1 to 8 in place of blocks, for terminals without UTF-8.

    Returns
    -------
    str
        Empty without a value. Values that are all equal are drawn at half height.

    Examples
    --------
    >>> sparkline([0.1, 0.2, float("nan"), 0.4]), sparkline([0.1, 0.2, 0.4], plain=True)
    ('▁▃·█', '138')
    >>> sparkline([0.5, 0.5, 0.9], [False, False, True])
    '▁▁│█'
    """
    marks, bar, dot = (_DIGITS, "|", ".") if plain else (_BLOCKS, "│", "·")
    start = max(0, len(values) - _LONGEST)
    drawn = values[start:]
    known = [value for value in drawn if math.isfinite(value)]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    pieces = [dot if not math.isfinite(value) else marks[_level(value, low, span)] for value in drawn]
    barred = [bar if place and start + place < len(breaks) and breaks[start + place] else "" for place in range(len(drawn))]
    return "".join(before + piece for before, piece in zip(barred, pieces, strict=True))


def _level(value: float, low: float, span: float) -> int:
    """Its height from 0 to 7: eight bands of equal width."""
    return 3 if span == 0 else min(7, int((value - low) / span * 8))


def harmless(text: str) -> str:
    r"""Text for a log of GitHub Actions, which obeys lines that begin with ``::`` and ``##[...]`` wherever it stands.

    Examples
    --------
    >>> harmless("  ::error::mine\nq ##[add-mask]x\nnDCG::x")
    '  : :error::mine\nq ## [add-mask]x\nnDCG::x'
    """
    # The runner also ends a line at a carriage return, and looks behind blanks at its beginning.
    return re.sub(r"(^|[\r\n])(\s*):(?=:)", r"\1\2: ", text).replace("##[", "## [")


def harmless_json(text: str) -> str:
    r"""JSON that means the same and holds no workflow command.

    Examples
    --------
    >>> harmless_json('{"query": "##[add-mask]x"}')
    '{"query": "##\\u005badd-mask]x"}'
    """
    return text.replace("##[", "##\\u005b")
