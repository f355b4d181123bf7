"""`idealrank store gc`: free what no entry of a store needs."""

from typing import TYPE_CHECKING

import click

from idealrank.cli import headings, options
from idealrank.cli.output import Formats
from idealrank.reports.table.records import json_text
from idealrank.store.commands import store_options

if TYPE_CHECKING:
    from idealrank.store.value_files import Swept

_EPILOG = """\
Examples:

\b
  How much would be freed?
    idealrank store gc --dry-run --store results
\b
  Free the space of removed entries:
    idealrank store remove 3f2a --store results
    idealrank store gc --store results

Other processes may write to the store at the same time. This command removes no entry.
"""


def _text(swept: "Swept", *, dry_run: bool) -> str:
    what = (
        f"{swept.files:,} value file{'s' * (swept.files != 1)} and {swept.unfinished:,} "
        f"unfinished, {_size(swept.bytes)}"
    )
    return f"{'would free' if dry_run else 'freed'} {what}\n"


def _json(swept: "Swept", *, dry_run: bool) -> str:
    record = {
        "dry_run": dry_run,
        "files": swept.files,
        "unfinished": swept.unfinished,
        "bytes": swept.bytes,
    }
    return json_text(record)


_FORMATS = Formats("A sentence to read;", table=_text, json=_json)


@headings.command(epilog=_EPILOG, short_help="Free the space of unused files in a store.")
@click.option("--dry-run", is_flag=True, help="Only print what would be freed.")
@_FORMATS.option
@store_options.store
@options.output
def gc(*, dry_run: bool, layout: str, store_path: str | None, output_path: str | None) -> None:
    """Free unused value files, and leftovers of writers that were killed at least an hour ago."""
    with store_options.opened(store_path) as store:
        swept = store.gc(dry_run=dry_run)
    _FORMATS.write(layout, output_path, swept, dry_run=dry_run)


def _size(count: int) -> str:
    return f"{count:,} bytes" if count < 10_000 else f"{count / 1e6:,.2f} MB"
