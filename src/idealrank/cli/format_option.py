"""The option `--format` of a command: which formats it offers, and what writes each."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeAlias, TypeVar, cast

import click

from idealrank.cli import output
from idealrank.errors import OptionError
from idealrank.reports.table.formats import FORMATS, formats_help
from idealrank.reports.table.text import Part

Written: TypeAlias = str | Iterable[str] | list[Part]
"""A report in one format: a text, its pieces, or parts."""

Writer: TypeAlias = Callable[..., Any]
"""Makes `Written`, or rows of cells for flat formats."""

_ROWS = "rows"


@dataclass(frozen=True)
class LimitedWriter:
    """A writer of a format that has no place for some options of its command."""

    writer: Writer | str  # As `Formats` takes it
    lacks: Collection[str] = ()  # Options that the writer is not given, and that change nothing
    # Options that are an error with this format, by what was found and expected; ``{title}`` stands
    # for the format
    refuses: Mapping[str, str] = field(default_factory=dict)


class FormatOption(click.Option):
    """The option, which knows the formats it was made from."""

    def __init__(self, *args: Any, formats: "Formats", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.formats = formats


class Formats:
    r"""The formats of one command, the default first, each with its writer: a function, or the name
    of one in the module that `views` loads.
    """

    def __init__(
        self,
        opening: str,
        told: Mapping[str, str] | None = None,
        /,
        *,
        views: Callable[[], ModuleType] | None = None,
        **writers: Writer | str | LimitedWriter,
    ) -> None:
        limited = {
            name: one if isinstance(one, LimitedWriter) else LimitedWriter(one)
            for name, one in writers.items()
        }
        self.writers = _by_format(limited)
        self._views = views
        self.help = formats_help(opening, self.writers, _by_format(told or {}))

    def option(self, command: Callable[..., Any]) -> Callable[..., Any]:
        """Give a command the option; it gets the format as `layout`."""
        kind, default = click.Choice(list(self.writers)), next(iter(self.writers))
        asked = click.option(
            "--format",
            "layout",
            cls=FormatOption,
            formats=self,
            type=kind,
            default=default,
            show_default=True,
            help=self.help,
        )
        return asked(command)

    def writer(self, layout: str) -> Writer:
        """Return the function that writes a format."""
        found = self.writers[layout].writer
        if not isinstance(found, str):
            return found
        if self._views is None:
            raise TypeError(f"{found}: found no views=, expected what loads its module")
        writer: Writer = getattr(self._views(), found)
        return writer

    def takes(self, layout: str, option: str) -> bool:
        """True if the writer of a format takes an option."""
        one = self.writers[layout]
        return option not in one.lacks and option not in one.refuses

    def check(self, layout: str, **options: Any) -> None:
        """Refuse options that a format has no place for; None and False are not asked for."""
        asked = {
            name for name, value in options.items() if value is not None and value is not False
        }
        for names, reason in self.writers[layout].refuses.items():
            first, *others = names.split(" + ")
            if asked.issuperset([first, *others]):
                raise OptionError(
                    f"--{first.replace('_', '-')}: {reason.format(title=FORMATS[layout].title)}"
                )

    def made(self, layout: str, *args: Any, **options: Any) -> Written:
        """A report in a format, of what its writer takes."""
        taken = {name: value for name, value in options.items() if self.takes(layout, name)}
        written, delimiter = self.writer(layout)(*args, **taken), FORMATS[layout].delimiter
        if not delimiter:
            return cast("Written", written)
        from idealrank.reports.table.records import delimited  # noqa: PLC0415  (NumPy; not for the help)

        return delimited(written, delimiter)

    def write(self, layout: str, path: str | None, *args: Any, **options: Any) -> None:
        """Make it and write it to a file, or to standard output."""
        output.write_report(self.made(layout, *args, **options), path, layout)


_Of = TypeVar("_Of")


def _by_format(given: Mapping[str, _Of]) -> dict[str, _Of]:
    """By format, with every flat format in the place of rows."""
    flat = [one.name for one in FORMATS.values() if one.delimiter]
    return {name: one for key, one in given.items() for name in (flat if key == _ROWS else [key])}
