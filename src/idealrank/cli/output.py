"""Where results go: standard output, or a file that appears whole or not at all."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import cast

import click

from idealrank._files import write_bytes
from idealrank.cli import console
from idealrank.reports.table.formats import FORMATS
from idealrank.reports.table.text import MoreLines, Part, in_brief, parts_text, printable_lines

EXPLAIN_METHOD = "--explain-method"
"""Option that prints the method and the convention in full; its key in the `meta` of a context,
too.
"""

MORE = "--more"
"""Option that prints the sentences beyond the verdict; its key in the `meta` of a context, too."""

_LAYOUTS = {".csv": "csv", ".json": "json", ".md": "markdown", ".tex": "latex"}
# What programs read: every byte of an id counts, and none is shown. XML has an option of its own.
_EXACT = {"xml", *(name for name, one in FORMATS.items() if one.is_data)}


def write(pieces: Iterable[str], path: str | None, layout: str = "table") -> None:
    r"""Write text as UTF-8; bytes of ids that were not UTF-8 come out as they came in.

    In text that people read, whatever could move a cursor or turn the direction of writing is
    spelled out, so that no id, name or note gives a terminal commands.
    """
    if layout not in _EXACT:
        pieces = map(printable_lines, pieces)
    if path is None or path == "-":
        _write_stdout(pieces)
        return
    write_bytes(_batches(pieces), path)


def write_parts(parts: Iterable[Part], path: str | None) -> None:
    r"""Write a report for people: in colour on a terminal, as plain text anywhere else."""
    if path in (None, "-") and console.in_colour(sys.stdout):
        from idealrank.cli.colours import print_parts  # noqa: PLC0415  (rich is for terminals alone)

        with console.writing_output():
            print_parts(parts)
        return
    write([parts_text(parts)], path)


def shown(parts: Iterable[Part]) -> list[Part]:
    """A report as its command shows it: at most four sentences and one line of method, unless
    ``--more`` or ``--explain-method`` is given.
    """
    context = click.get_current_context(silent=True)
    asked = {} if context is None else context.meta
    brief, hidden = list(parts), False
    if not asked.get(MORE):
        hidden = any(isinstance(part, MoreLines) and part for part in brief)
        brief = [part for part in brief if not isinstance(part, MoreLines)]
    if asked.get(EXPLAIN_METHOD):
        return brief
    options = [MORE, EXPLAIN_METHOD] if hidden else [EXPLAIN_METHOD]
    return in_brief(brief, f"details: {', '.join(options)}")


def write_report(report: str | Iterable[str] | list[Part], path: str | None, layout: str) -> None:
    r"""Write a report: text, pieces of it, or parts."""
    if isinstance(report, list) and not all(isinstance(part, str) for part in report):
        write_parts(shown(cast("list[Part]", report)), path)
    else:
        write([report] if isinstance(report, str) else cast("Iterable[str]", report), path, layout)
    other = _LAYOUTS.get(Path(path or "").suffix.lower(), layout)
    if layout in FORMATS and FORMATS[layout].use == "people" and other != layout:
        console.say(
            "note",
            f"{path}: written as text to read, not as {FORMATS[other].title}; --format sets "
            f"the format",
        )


def _write_stdout(pieces: Iterable[str]) -> None:
    for batch in _batches(pieces):
        with console.writing_output():
            sys.stdout.buffer.write(batch)
    with console.writing_output():
        sys.stdout.buffer.flush()


def _batches(pieces: Iterable[str]) -> Iterable[bytes]:
    """Pieces joined to batches worth a system call."""
    batch: list[str] = []
    size = 0
    for piece in pieces:
        batch.append(piece)
        size += len(piece)
        if size > 1 << 16:
            yield "".join(batch).encode("utf-8", "surrogateescape")
            batch, size = [], 0
    yield "".join(batch).encode("utf-8", "surrogateescape")
