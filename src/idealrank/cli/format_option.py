"""The option `--format` of a command: which formats it offers, and what writes each."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, TypeAlias

import click

from idealrank.cli import output
from idealrank.reports.table.formats import formats_help
from idealrank.reports.table.text import Part

Written: TypeAlias = str | Iterable[str] | list[Part]
"""What a writer makes: a text, its pieces, or a report as parts."""

Writer: TypeAlias = Callable[..., Written]


class FormatOption(click.Option):
    """The option, which knows the formats it was made from."""

    def __init__(self, *args: Any, formats: "Formats", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.formats = formats


class Formats:
    """The formats of one command, the default first, each with its writer.

    Parameters
    ----------
    opening : str
        How the help begins: what people get.
    told : mapping of str to str, optional
        By format what it holds, where that is not the same in all.
    **writers : callable or str
        By format; a text names a function of `idealrank.reports` as ``module:function``, which is loaded when the format is asked for.

    Raises
    ------
    KeyError
        A format is not in the registry.

    Examples
    --------
    >>> found = Formats("A table to read;", table="views.conventions:conventions_table", json=lambda _: "{}")
    >>> found.help, found.made("json", {})
    ('A table to read; JSON for programs.', '{}')
    """

    def __init__(self, opening: str, told: Mapping[str, str] | None = None, /, **writers: Writer | str) -> None:
        self.help = formats_help(opening, writers, told)
        self.writers = writers

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
        return self.writer(layout)(*args, **options)

    def write(self, layout: str, path: str | None, *args: Any, **options: Any) -> None:
        """Make it and write it to a file, or to standard output."""
        output.write_report(self.made(layout, *args, **options), path, layout)
