"""Aligned columns of plain text."""

from collections.abc import Sequence

WIDTH = 100


def columns(rows: Sequence[Sequence[str]], *, gap: str = "  ") -> list[str]:
    """Rows as lines: the first column to the left, the others to the right.

    Examples
    --------
    >>> columns([["run", "AP"], ["bm25", "0.5"]])
    ['run    AP', 'bm25  0.5']
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [gap.join((row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)))).rstrip() for row in rows]


def wrapped(text: str, *, indent: str = "  ", width: int = WIDTH) -> list[str]:
    """Phrases separated by ``"; "`` filled into lines.

    Examples
    --------
    >>> wrapped("one; two; three", width=12)
    ['  one; two;', '  three']
    """
    lines = [indent]
    for part in (phrase + ";" for phrase in text.split("; ")):
        if lines[-1] != indent and len(lines[-1]) + 1 + len(part) > width:
            lines.append(indent)
        lines[-1] += part if lines[-1] == indent else f" {part}"
    lines[-1] = lines[-1].removesuffix(";")
    return lines
