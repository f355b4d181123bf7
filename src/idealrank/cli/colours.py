"""Reports in colour: the same lines as without, with colours and weights that only say again what
words say.
"""

import re
import sys
from collections.abc import Iterable

from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text

from idealrank.cli import console
from idealrank.reports.table.cells import Cell, Table, Tone
from idealrank.reports.table.text import Part, folded, harmless, laid, printable

# Blue and orange, which people who confuse red and green tell apart.
TONES: dict[Tone, console.Hue] = {"better": console.BLUE, "worse": console.ORANGE}
_STRONG = Style(bold=True)
_QUIET = Style(dim=True)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")


def print_parts(parts: Iterable[Part]) -> None:
    """Print a report on standard output; the first sentence, with the verdict, is bold."""
    terminal = Console(
        file=sys.stdout,
        width=_UNLIMITED,
        highlight=False,
        soft_wrap=True,
        force_terminal=True,
        color_system="256",
    )
    for number, part in enumerate(part for part in parts if part):
        if number:
            terminal.print()
        lines = as_rich(part) if isinstance(part, Table) else _paragraph(part)
        if not number and not isinstance(part, Table):
            _embolden(lines)
        for line in lines:
            terminal.print(line, markup=False)


_UNLIMITED = 1 << 16  # letters of a line: lines are laid out before


def as_rich(table: Table) -> list[Text]:
    """Return the lines of a table with their styles."""
    return [_line(line) for line in laid(table)]


def _paragraph(lines: Iterable[str]) -> list[Text]:
    return [Text(_safe(piece)) for line in lines for piece in folded(printable(line))]


def _safe(text: str) -> str:
    """A log of GitHub Actions has colours, too, and executes commands in its lines."""
    return harmless(text) if console.on_github() else text


def _embolden(lines: Iterable[Text]) -> None:
    """Make the first sentence bold; only its first line if no sentence ends in the paragraph."""
    lines = list(lines)
    for number, line in enumerate(lines):
        end = _SENTENCE_END.search(line.plain)
        if end is not None:
            line.stylize(_STRONG, 0, end.end())
            lines = lines[:number]
            break
    else:
        lines = lines[:1]
    for line in lines:
        line.stylize(_STRONG)


def _line(spans: Iterable[tuple[str, Cell | None]]) -> Text:
    line = Text()
    for text, cell in spans:
        style = None
        if cell is not None:
            style = _style(cell)
        elif text.strip():
            style = _STRONG
        line.append(_safe(printable(text)), style)
    line.rstrip()
    return line


def _style(cell: Cell) -> Style:
    style = _QUIET if cell.tone == "quiet" else Style()
    hue = TONES.get(cell.tone)
    if hue is not None:
        style = Style(color=Color.from_ansi(hue.number))
    return style + _STRONG if cell.strong else style
