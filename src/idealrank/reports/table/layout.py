"""Aligned columns of plain text: the same on a terminal and in a pipe."""

import textwrap
from collections.abc import Sequence

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
