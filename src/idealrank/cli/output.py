"""The option `--format` of a command, and where results go: standard output, or a file that appears
whole or not at all.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias, TypeVar, cast

import click
from click.core import ParameterSource

from idealrank._files import write_bytes
from idealrank.cli import console, process
from idealrank.cli.headings import heading_of
from idealrank.errors import OptionError
from idealrank.reports.table.formats import FORMATS, either, formats_help
from idealrank.reports.table.records import delimited
from idealrank.reports.table.text import (
    MoreLines,
    Part,
    folded,
    in_brief,
    on_terminal,
    parts_text,
    printable_lines,
)

EXPLAIN_METHOD = "--explain-method"
"""Option that prints the method and the convention in full; its key in the `meta` of a context,
too.
"""

MORE = "--more"
"""Option that prints the sentences beyond the verdict; its key in the `meta` of a context, too."""

# Formats that the ending of a file promises.
_LAYOUTS = {".csv": "csv", ".json": "json", ".md": "markdown", ".tex": "latex"}
# Formats for programs: every byte of an id stays as it is. XML has an option of its own.
_EXACT = {"xml", *(name for name, file_format in FORMATS.items() if file_format.is_data)}


@contextmanager
def laid_out_for(path: str | None) -> Iterator[None]:
    """Lay out reports for the terminal, if one reads them; files are the same on all machines."""
    with on_terminal(console.width_of(sys.stdout) if path in (None, "-") else None):
        yield


def write(pieces: Iterable[str], path: str | None, layout: str = "table") -> None:
    r"""Write text as UTF-8; bytes of ids that were not UTF-8 come out as they came in.

    In text that people read, whatever could move a cursor or turn the direction of writing is
    spelled out, so that no id, name or note gives a terminal commands.
    """
    if layout not in _EXACT:
        pieces = map(printable_lines, pieces)
    if layout in FORMATS and FORMATS[layout].use == "people":
        pieces = map(_folded_lines, pieces)
    if path is None or path == "-":
        with laid_out_for(path):
            _write_stdout(pieces)
        return
    write_bytes(_batches(pieces), path)


def _folded_lines(text: str) -> str:
    return "\n".join(piece for line in text.split("\n") for piece in folded(line))


def write_parts(parts: Iterable[Part], path: str | None) -> None:
    r"""Write a report for people, in colour where standard output has colours."""
    if path in (None, "-") and console.in_colour(sys.stdout):
        from idealrank.cli.colours import print_parts  # noqa: PLC0415  (rich; pipes do not need it)

        with process.writing_output():
            print_parts(parts)
        return
    write([parts_text(parts)], path)


def shown(parts: Iterable[Part]) -> list[Part]:
    """Shorten a report to at most four sentences and one line of method, unless ``--more`` or
    ``--explain-method`` is given.
    """
    context = click.get_current_context(silent=True)
    options_set = {} if context is None else context.meta
    brief = list(parts)
    hidden = False
    if not options_set.get(MORE):
        hidden = any(isinstance(part, MoreLines) and part for part in brief)
        brief = [part for part in brief if not isinstance(part, MoreLines)]
    if options_set.get(EXPLAIN_METHOD):
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
            f"{path}: written as text to read, not as {FORMATS[other].title}; --format sets the "
            "format",
        )


def _write_stdout(pieces: Iterable[str]) -> None:
    for batch in _batches(pieces):
        with process.writing_output():
            sys.stdout.buffer.write(batch)
    with process.writing_output():
        sys.stdout.buffer.flush()


_BATCH = 1 << 16  # letters; a system call for each short line would take longer than the line


def _batches(pieces: Iterable[str]) -> Iterable[bytes]:
    """Join pieces to batches that are large enough for a system call each."""
    batch: list[str] = []
    size = 0
    for piece in pieces:
        batch.append(piece)
        size += len(piece)
        if size > _BATCH:
            yield "".join(batch).encode("utf-8", "surrogateescape")
            batch = []
            size = 0
    yield "".join(batch).encode("utf-8", "surrogateescape")


Written: TypeAlias = str | Iterable[str] | list[Part]
"""A report in one format: a text, its pieces, or parts."""

Writer: TypeAlias = Callable[..., Any]
"""Makes `Written`, or rows of cells for flat formats."""

_ROWS = "rows"  # the writer of every flat format
_READ = [name for name, file_format in FORMATS.items() if file_format.use == "people"]


def typed_options(context: click.Context) -> dict[str, click.Parameter]:
    """Return the options of a command line, by their first spelling; defaults are not among them,
    whether they come from the command, the environment or a configuration.
    """
    return {
        parameter.opts[0]: parameter
        for parameter in context.command.params
        if context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    }


def idle_option(option: str, found: str, expected: str) -> OptionError:
    """Return the error of an option that changes nothing next to another."""
    return OptionError(
        f"{option}: found {found}, which it does not change; expected {expected}, or no {option}"
    )


@dataclass(frozen=True)
class LimitedWriter:
    """A writer of a format in which some options of its command would be a mistake."""

    writer: Writer | str  # As `Formats` takes it
    # By options, joined by " + ", that are an error with this format if all are typed: what was
    # found and expected; ``{title}`` stands for the format
    refuses: Mapping[str, str] = field(default_factory=dict)


class FormatOption(click.Option):
    """The option, which knows the formats it was made from."""

    def __init__(self, *args: Any, formats: "Formats", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.formats = formats


class Formats:
    r"""The formats of one command, the default first, each with its writer: a function, or the name
    of one in the module that `views` loads. An option for the output that cannot change the chosen
    format is an error.
    """

    def __init__(
        self,
        opening: str,
        told: Mapping[str, str] | None = None,
        /,
        *,
        views: Callable[[], ModuleType] | None = None,
        only: Mapping[str, Sequence[str]] | None = None,
        elsewhere: Mapping[str, Sequence[str]] | None = None,
        **writers: Writer | str | LimitedWriter,
    ) -> None:
        limited = {
            name: writer if isinstance(writer, LimitedWriter) else LimitedWriter(writer)
            for name, writer in writers.items()
        }
        self.writers = _by_format(limited)
        self._views = views
        # By option: the only formats that show it, where no writer has a parameter for it
        self._only = {"more": _READ, "explain_method": _READ, **(only or {})}
        self._elsewhere = elsewhere or {}  # By option: outputs besides the report that it changes
        self.help = formats_help(opening, self.writers, _by_format(told or {}))

    def option(self, command: Callable[..., Any]) -> Callable[..., Any]:
        """Give a command the option; it gets the format as `layout`."""

        @wraps(command)
        def checked(*args: Any, **given: Any) -> Any:
            self._refuse_idle(click.get_current_context())
            return command(*args, **given)

        kind = click.Choice(list(self.writers))
        default = next(iter(self.writers))
        format_option = click.option(
            "--format",
            "layout",
            cls=FormatOption,
            formats=self,
            type=kind,
            default=default,
            show_default=True,
            help=self.help,
        )
        return format_option(checked)

    def writer(self, layout: str) -> Writer:
        """Return the function that writes a format."""
        named = self.writers[layout].writer
        if not isinstance(named, str):
            return named
        if self._views is None:
            raise TypeError(f"{named}: found no views=, expected what loads its module")
        writer: Writer = getattr(self._views(), named)
        return writer

    def takes(self, layout: str, option: str) -> bool:
        """True if the writer of a format has a parameter for an option."""
        return option in signature(self.writer(layout)).parameters

    def _refuse_idle(self, context: click.Context) -> None:
        """Refuse typed options that the format has no place for, or that cannot change it."""
        layout = context.params["layout"]
        typed = typed_options(context)
        for names, reason in self.writers[layout].refuses.items():
            first, *others = names.split(" + ")
            if typed.keys() >= {first, *others}:
                raise OptionError(f"{first}: {reason.format(title=FORMATS[layout].title)}")
        for spelling, option in typed.items():
            name = option.name or ""
            # An option that turns something off leaves out what the format lacks
            asks = heading_of(option) == "Output" and context.params.get(name) is not False
            changed = self._changed(name) if asks else []
            if changed and layout not in changed and not self._acts_elsewhere(name, context):
                expected = f"--format {either(changed)}"
                raise idle_option(spelling, f"--format {layout}", expected)

    def _changed(self, option: str) -> list[str]:
        """Return the formats that an option can change; none for an option of another kind."""
        if option in self._only:
            return [name for name in self.writers if name in self._only[option]]
        return [name for name in self.writers if self.takes(name, option)]

    def _acts_elsewhere(self, option: str, context: click.Context) -> bool:
        return any(context.params[output] for output in self._elsewhere.get(option, ()))

    def made(self, layout: str, *args: Any, **options: Any) -> Written:
        """Make a report in a format, with the options that its writer takes."""
        taken = {name: value for name, value in options.items() if self.takes(layout, name)}
        for name in options.keys() - taken.keys():
            if not any(self.takes(other, name) for other in self.writers):
                raise TypeError(f"{name}: found no writer with it, expected an option of a format")
        written = self.writer(layout)(*args, **taken)
        file_format = FORMATS[layout]
        if file_format.delimiter:
            return delimited(written, file_format.delimiter)
        if file_format.use == "pasting" and isinstance(written, list):
            from idealrank.reports.table.forms import PASTED  # noqa: PLC0415  (few ask for it)

            return PASTED[layout](written)
        return cast("Written", written)

    def write(self, layout: str, path: str | None, *args: Any, **options: Any) -> None:
        """Make a report, and write it to a file or to standard output."""
        with laid_out_for(path):
            write_report(self.made(layout, *args, **options), path, layout)


_Of = TypeVar("_Of")


def _by_format(by_key: Mapping[str, _Of]) -> dict[str, _Of]:
    """Return entries by format; an entry for rows stands for every flat format."""
    flat = [file_format.name for file_format in FORMATS.values() if file_format.delimiter]
    by_format: dict[str, _Of] = {}
    for key, entry in by_key.items():
        by_format |= dict.fromkeys(flat if key == _ROWS else [key], entry)
    return by_format
