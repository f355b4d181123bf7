"""Plain text: aligned columns, tables line by line, reports as parts, lines of values as small as a
word, and text for logs.

It is the same on a terminal and in a pipe. A report consists of parts, tables among them, so that a
page shows the same, too. Logs of build servers are searched for commands: text for them is made
harmless.
"""

import math
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias, cast

from idealrank.reports.table.cells import Cell, Table, lacking

WIDTH = 100


def columns(
    rows: Sequence[Sequence[str]], *, gap: str = "  ", left: Sequence[int] = (0,)
) -> list[str]:
    """Rows as lines, cells padded to the width of their column."""
    rows = [list(map(printable, row)) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    padded = (
        [
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    )
    return [gap.join(row).rstrip() for row in padded]


def printable(text: str, *, surrogates: bool = True) -> str:
    r"""A name or id on one line, in which nothing moves a cursor or turns the direction of
    writing.
    """
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable() or (surrogates and "\udca0" <= letter <= "\udcff")
        else ascii(letter)[1:-1]
        for letter in text
    )


def printable_lines(text: str) -> str:
    r"""Text of several lines, each as `printable` shows it."""
    return "\n".join(map(printable, text.split("\n")))


def clipped(text: str, width: int) -> str:
    """The text, with its middle left out where it is too long; the ends of ids tell more than their
    beginnings.
    """
    text = printable(text)
    if len(text) <= width:
        return text
    tail = (width - 2) * 2 // 3
    return f"{text[: width - 2 - tail]}..{text[len(text) - tail :]}"


def filled(
    text: str | Sequence[str], head: str = "", indent: str | None = None, *, width: int = WIDTH
) -> list[str]:
    """Text, or sentences, as the lines of one paragraph; words stay whole."""
    said = printable(text if isinstance(text, str) else " ".join(text))
    later = " " * len(head) if indent is None else indent
    return textwrap.wrap(
        said,
        width,
        initial_indent=head,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def wrapped(text: str, *, indent: str = "  ", width: int = WIDTH) -> list[str]:
    """Phrases separated by ``"; "`` filled into lines."""
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
    r"""Aligned columns, no line wider than `width` where that can be had; see `laid`."""
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in laid(table, width))


def laid(table: Table, width: int = WIDTH) -> list[list[Span]]:
    """The lines of a table in pieces, ready for colours: with a wide gap, a narrow one, or with
    rows as columns in several blocks.
    """
    upright = _upright(table)
    lines = next(
        (found for gap in ("  ", " ") if _width(found := _joined(upright, gap)) <= width), None
    )
    lines = lines or list(
        _blocks([Cell(column.title) for column in table.columns], table.rows, width)
    )
    notes: list[list[Span]] = [
        [(line, None)] for note in table.notes for line in filled(note, width=width)
    ]
    title: list[list[Span]] = [[(line, None)] for line in filled(table.title, width=width)]
    return [*title, *lines, *notes]


def fits(table: Table, width: int = WIDTH, *, gap: str = "  ") -> bool:
    """Return whether the rows fit the width."""
    return _width(_joined(_upright(table), gap)) <= width


def _upright(table: Table) -> list[list[list[Span]]]:
    columns = zip(table.columns, table.columnwise(), strict=True)
    return [_padded([Cell(column.title), *cells], column.kind) for column, cells in columns]


def _padded(cells: Sequence[Cell], kind: str, *, points: bool = True) -> list[list[Span]]:
    """A column, its head first: each cell with the blanks around it."""
    marks = max(len(cell.mark) for cell in cells)
    after = (
        lacking([cell.text for cell in cells[1:]])
        if points and kind == "number"
        else [""] * (len(cells) - 1)
    )
    texts = [printable(cell.text) for cell in cells]
    # the head's too
    tails = [
        " " * (len(blank) + marks - len(cell.mark))
        for cell, blank in zip(cells, ["", *after], strict=True)
    ]
    widths = [
        len(text + cell.mark + tail) for text, cell, tail in zip(texts, cells, tails, strict=True)
    ]
    column = []
    for place, (cell, text, tail, size) in enumerate(zip(cells, texts, tails, widths, strict=True)):
        blanks = " " * (max(widths) - size)
        shown: Span = (text + cell.mark, cell if place else None)
        column.append(
            [(blanks, None), shown, (tail, None)]
            if kind == "number"
            else [shown, (tail + blanks, None)]
        )
    return [[span for span in spans if span[0]] for spans in column]


def _joined(columns: Sequence[Sequence[list[Span]]], gap: str) -> list[list[Span]]:
    lines = []
    for row in zip(*columns, strict=True):
        first, *others = row
        lines.append([*first, *(span for spans in others for span in ((gap, None), *spans))])
    return lines


def _width(lines: Sequence[Sequence[Span]]) -> int:
    return max(len("".join(text for text, _ in line).rstrip()) for line in lines)


def _blocks(
    head: Sequence[Cell], rows: Sequence[Sequence[Cell]], width: int
) -> Iterator[list[Span]]:
    """Rows as columns, as many side by side as fit, at least one; the titles stand before each
    block.
    """
    rest, first = list(rows), True
    titles: list[list[Span]] = [
        [(text, None) for text, _ in spans] for spans in _padded(head, "text")
    ]
    while rest:
        shown = len(rest)
        while True:
            block = _joined(
                [titles, *(_padded(row, "number", points=False) for row in rest[:shown])], "  "
            )
            if shown == 1 or _width(block) <= width:
                break
            shown -= 1
        yield from block if first else [[], *block]
        rest, first = rest[shown:], False


Part: TypeAlias = list[str] | Table
"""Lines of a paragraph, or a table; a blank line stands between two parts, and empty parts are left
out.
"""


class MethodLines(list[str]):
    """Part of a report that explains its method, with the phrases that stand for it in a short
    report.
    """

    def __init__(self, lines: Iterable[str], *brief: str) -> None:
        super().__init__(lines)
        self.brief = brief


class MoreLines(list[str]):
    """Part of a report with the sentences beyond the verdict, which a short report leaves out."""


def in_brief(parts: Iterable[Part], more: str) -> list[Part]:
    """A report with one line in place of its `MethodLines`, where the last of them stood."""
    parts = list(parts)
    explained = [place for place, part in enumerate(parts) if isinstance(part, MethodLines)]
    if not explained:
        return parts
    phrases = [phrase for place in explained for phrase in cast("MethodLines", parts[place]).brief]
    line: Part = wrapped("; ".join([*phrases, more]), indent="")
    return [
        line if place == explained[-1] else part
        for place, part in enumerate(parts)
        if place not in explained[:-1]
    ]


def parts_text(parts: Iterable[Part], width: int = WIDTH) -> str:
    r"""All parts as plain text."""
    shown = (
        as_text(part, width)
        if isinstance(part, Table)
        else "".join(f"{printable(line)}\n" for line in part)
        for part in parts
        if part
    )
    return "\n".join(shown)


_BLOCKS = "▁▂▃▄▅▆▇█"
_DIGITS = "12345678"
_LONGEST = 60


def sparkline(values: Sequence[float], breaks: Sequence[bool] = (), *, plain: bool = False) -> str:
    """Values as blocks of eight heights, from the least value to the greatest."""
    marks, bar, dot = (_DIGITS, "|", ".") if plain else (_BLOCKS, "│", "·")
    start = max(0, len(values) - _LONGEST)
    drawn = values[start:]
    known = [value for value in drawn if math.isfinite(value)]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    pieces = [
        dot if not math.isfinite(value) else marks[_level(value, low, span)] for value in drawn
    ]
    barred = [
        bar if place and start + place < len(breaks) and breaks[start + place] else ""
        for place in range(len(drawn))
    ]
    return "".join(before + piece for before, piece in zip(barred, pieces, strict=True))


def _level(value: float, low: float, span: float) -> int:
    """Its height from 0 to 7: eight bands of equal width."""
    return 3 if span == 0 else min(7, int((value - low) / span * 8))


def harmless(text: str) -> str:
    r"""Text for a log of GitHub Actions, which obeys lines that begin with ``::`` and ``##[...]``
    wherever it stands.
    """
    # The runner also ends a line at a carriage return, and looks behind blanks at its beginning.
    return re.sub(r"(^|[\r\n])(\s*):(?=:)", r"\1\2: ", text).replace("##[", "## [")


def harmless_json(text: str) -> str:
    r"""JSON that means the same and holds no workflow command."""
    return text.replace("##[", "##\\u005b")


WIDE, NARROW, TITLE = 28, 16, 18
"""Letters of a name beside a wide panel, beside a narrow one, and in a title."""


def told_apart(names: Sequence[str], width: int) -> list[str]:
    """Names with at most so many letters: too long ones lose their middle, or what they share with
    those that would look the same.
    """
    found = [clipped(name, width) for name in names]
    shared = {text for text, count in Counter(found).items() if count > 1}
    for text in shared:
        places = [place for place, one in enumerate(found) if one == text]
        common = len(_beginning([names[place] for place in places]))
        for place in places:
            found[place] = _cut("…" + names[place][max(common - 2, 0) :], width)
    if len(set(found)) < len(found):  # they differ in places that are far apart
        found = [
            f"{_cut(text, width - 5)} ({place})" if found.count(text) > 1 else text
            for place, text in enumerate(found, 1)
        ]
    return found


def _beginning(names: Sequence[str]) -> str:
    """The letters with which all begin."""
    first, last = min(names), max(names)
    return next(
        (first[:at] for at, letter in enumerate(first) if letter != last[at : at + 1]), first
    )


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
