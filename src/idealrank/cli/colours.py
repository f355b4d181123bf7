"""Reports on a terminal: the same lines as in a pipe, fitted to its width, with colours and weights
that only say again what words say.
"""

import shutil
import sys
from collections.abc import Iterable

from rich.console import Console
from rich.style import Style
from rich.text import Text

from idealrank.reports.table.cells import Cell, Table
from idealrank.reports.table.text import WIDTH, Part, laid, printable

# Blue and orange, which people who confuse red and green tell apart; from the 16 colours of every
# terminal where it has no more.
_TONES = {
    "better": Style(color="dodger_blue2"),
    "worse": Style(color="dark_orange"),
    "quiet": Style(dim=True),
    "": Style.null(),
}
_STRONG, _HEAD = Style(bold=True), Style(dim=True)


def print_parts(parts: Iterable[Part]) -> None:
    """Print a report on the terminal that standard output is.

    Examples
    --------
    >>> print_parts([["a paragraph"]])
    a paragraph
    """
    width = shutil.get_terminal_size((WIDTH, 24)).columns
    console = Console(file=sys.stdout, width=width, highlight=False, soft_wrap=True)
    for number, part in enumerate(part for part in parts if part):
        if number:
            console.print()
        if isinstance(part, Table):
            lines = as_rich(part, width)
        else:
            lines = [Text(printable(line)) for line in part]
        for line in lines:
            console.print(line, markup=False)


def as_rich(table: Table, width: int = WIDTH) -> list[Text]:
    """Return the lines of a table with their styles."""
    return [_line(line) for line in laid(table, width)]


def _line(spans: Iterable[tuple[str, Cell | None]]) -> Text:
    line = Text()
    for text, cell in spans:
        style = None
        if cell is not None:
            style = _style(cell)
        elif text.strip():
            style = _HEAD
        line.append(printable(text), style)
    line.rstrip()
    return line


def _style(cell: Cell) -> Style:
    return _TONES[cell.tone] + _STRONG if cell.strong else _TONES[cell.tone]
