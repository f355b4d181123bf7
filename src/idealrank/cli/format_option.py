"""The option `--format` of a command: which formats it offers, and what writes each."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, TypeAlias, TypeVar, cast

import click

from idealrank.cli import output
from idealrank.reports.table.formats import FORMATS, formats_help
from idealrank.reports.table.text import Part

Written: TypeAlias = str | Iterable[str] | list[Part]
"""A report in one format: a text, its pieces, or parts."""

Writer: TypeAlias = Callable[..., Any]
"""What it makes is `Written`, or for flat formats rows of cells."""

_ROWS = "rows"


class FormatOption(click.Option):
    """The option, which knows the formats it was made from."""

    def __init__(self, *args: Any, formats: "Formats", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.formats = formats


class Formats:
    r"""The formats of one command, the default first, each with its writer.

    Parameters
    ----------
    opening : str
        How the help begins: what people get.
    told : mapping of str to str, optional
        By format what it holds, where that is not the same in all; ``rows`` stands for every flat format.
    **writers : callable or str
        By format; a text names a function of `idealrank.reports` as ``module:function``, which is loaded when the format is asked for.
        The writer of ``rows`` makes rows of cells, and is that of every flat format of the registry, such as CSV.

    Raises
    ------
    KeyError
        A format is not in the registry.

    Examples
    --------
    >>> found = Formats("A table to read;", table="views.conventions:conventions_table", json=lambda _: "{}")
    >>> found.help, found.made("json", {})
    ('A table to read; JSON for programs.', '{}')
    >>> list(Formats("A table to read;", table=str, rows=lambda: [["run", "AP"]]).made("csv"))
    ['run,AP\n']
    """

    def __init__(self, opening: str, told: Mapping[str, str] | None = None, /, **writers: Writer | str) -> None:
        self.writers = _by_format(writers)
        self.help = formats_help(opening, self.writers, _by_format(told or {}))

    def option(self, command: Callable[..., Any]) -> Callable[..., Any]:
        """Give a command the option; it gets the format as `layout`."""
        kind, default = click.Choice(list(self.writers)), next(iter(self.writers))
        asked = click.option(
            "--format", "layout", cls=FormatOption, formats=self, type=kind, default=default, show_default=True, help=self.help
        )
        return asked(command)

    def writer(self, layout: str) -> Writer:
        """Return the function that writes a format."""
        found = self.writers[layout]
        if not isinstance(found, str):
            return found
        module, _, name = found.partition(":")
        writer: Writer = getattr(import_module(f"idealrank.reports.{module}"), name)
        return writer

    def made(self, layout: str, *args: Any, **options: Any) -> Written:
        """A report in a format, of what its writer takes."""
        written, delimiter = self.writer(layout)(*args, **options), FORMATS[layout].delimiter
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
