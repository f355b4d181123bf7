"""`idealrank store`: tag entries, carry them to other stores and programs, and free space."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealrank.cli import console, options, output
from idealrank.cli.lazy_groups import LazyGroup
from idealrank.cli.output import Formats
from idealrank.errors import OptionError
from idealrank.reports.table.cells import counted
from idealrank.reports.table.records import json_text
from idealrank.store.commands import store_options

if TYPE_CHECKING:
    from idealrank.store.value_files import Swept

# Command -> what it does in one line, the same line as in its own help (a test compares them).
COMMANDS = {
    "show": "Show everything about one entry of a store.",
    "diff": "Show the changes between two evaluations of a store.",
    "tag": "Add tags and notes to an entry of a store, or remove tags.",
    "sql": "Query a store in SQL.",
    "info": "Show the content and size of a store.",
    "export": "Export one evaluation to a file for another store.",
    "import": "Import exported evaluations.",
    "parquet": "Write all tables as Parquet.",
    "remove": "Remove entries from a store.",
    "gc": "Free the space of unused files in a store.",
}

_EPILOG = """\
Start here:

\b
  idealrank store info --store results
  idealrank store show 3f2a --store results
  idealrank store diff 3f2a 77c0 --store results
  idealrank store export 3f2a bm25.zip --store results
  idealrank store import bm25.zip --store other
  idealrank store parquet tables --store results

`idealrank history` lists the ids of a store.
"""


@click.group(
    cls=LazyGroup,
    lines=COMMANDS,
    home="idealrank.store.commands",
    epilog=_EPILOG,
    short_help="Show, compare, query, export and import stored results.",
)
def store() -> None:
    """Show, compare, query, export and import stored results.

    A store is a folder on one machine. Do not copy it during a write, and do not put it on a
    network disk. An exported evaluation is one file with its exact values, hashes, tags and notes,
    under its id.
    """


_TAG_EPILOG = """\
Examples:

\b
  Tag the released entry; history shows all entries with a tag:
    idealrank store tag 3f2a release --note "went live on Monday" --store results
    idealrank history --tag release --store results
\b
  Remove a tag, and list the remaining tags:
    idealrank store tag 3f2a release --remove --store results
    idealrank store tag 3f2a --store results
"""


@store.command(
    epilog=_TAG_EPILOG, short_help="Add tags and notes to an entry of a store, or remove tags."
)
@click.argument("id")
@click.argument("tags", metavar="[NAME...]", nargs=-1)
@click.option("--remove", is_flag=True, help="Remove the tags.")
@click.option("--note", metavar="TEXT", help="Add a note.")
@store_options.store
@options.output
def tag(
    *,
    id: str,
    tags: tuple[str, ...],
    remove: bool,
    note: str | None,
    store_path: str | None,
    output_path: str | None,
) -> None:
    """Add tags to the entry ID, or remove them with --remove, and print its tags, one per line.

    A tag is a printable word. An entry may have many tags, and a tag many entries. Nothing else
    about an entry ever changes, except its notes.
    """
    if remove and not tags:
        raise OptionError("--remove: found no tag, expected the tags to remove")
    with store_options.opened(store_path) as opened:
        key = opened.resolve(id)
        if tags:
            change = opened.untag if remove else opened.tag
            change(key, *tags)
        if note is not None:
            if not note.strip():
                raise OptionError("--note: found an empty note, expected a text")
            opened.note(key, note)
        output.write((f"{name}\n" for name in opened.entry(key).record.tags), output_path)


@store.command(short_help="Export one evaluation to a file for another store.")
@click.argument("id")
@click.argument("file")
@store_options.store
def export(*, id: str, file: str, store_path: str | None) -> None:
    """Write the evaluation ID, with tags and notes, as FILE, which appears when it is complete.

    `idealrank store import FILE` adds it to another store, under the same id.
    """
    with store_options.opened(store_path) as opened:
        key = opened.resolve(id, kind="evaluation")
        opened.export_file(key, file)
    console.say("note", f"{file} holds evaluation {key}")


@store.command("import", short_help="Import exported evaluations.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@store_options.store
def import_(*, files: tuple[str, ...], store_path: str | None) -> None:
    """Import each FILE of `idealrank store export`, and print the ids; a missing store is created.

    Existing entries stay unchanged, and missing value files are restored.
    """
    if not store_path:
        raise OptionError(
            f"found no store, expected --store DIR or the variable {store_options.VARIABLE}; a "
            "missing store is created"
        )
    from idealrank.store import Store  # noqa: PLC0415  (SQLite; not for the help)

    with Store.open(store_path) as opened:
        for file in files:
            output.write([f"{opened.import_file(file)}\n"], None)


@store.command(short_help="Write all tables as Parquet.")
@click.argument("folder")
@store_options.store
def parquet(*, folder: str, store_path: str | None) -> None:
    """Write the tables of a store into FOLDER: evaluations, means, values, hits, comparisons, gates
    and tags, one Parquet file each.

    `values` has one row for each evaluation, query and measure, null if the query does not count.
    Files appear when they are complete, and replace earlier files. This command needs pyarrow, of
    the extra arrow.
    """
    with store_options.opened(store_path) as opened:
        written = opened.to_parquet(folder)
    for name, rows in written.items():
        console.say("note", f"{name}: {counted(rows, 'row')}")


@store.command(short_help="Remove entries from a store.")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@store_options.store
def remove(*, ids: tuple[str, ...], store_path: str | None) -> None:
    """Remove each entry ID from the store; `idealrank store gc` then frees its files.

    An evaluation that belongs to a comparison or gate is refused: remove that entry first.
    """
    with store_options.opened(store_path) as opened:
        for key in [opened.resolve(prefix) for prefix in ids]:
            opened.remove(key)
            console.say("note", f"removed {key}")


def _text(record: Mapping[str, Any], *, store_path: str | None) -> str:
    from idealrank.store.views.tables import head_text  # noqa: PLC0415  (not for the help)

    facts = {name: _fact(value) for name, value in record.items()}
    return head_text(f"store {store_path}", facts.items())


def _fact(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:,}" if isinstance(value, int) else value or ""


_FORMATS = Formats("Text to read;", table=_text, json=json_text)


@store.command(short_help="Show the content and size of a store.")
@_FORMATS.option
@store_options.store
@options.output
def info(*, layout: str, store_path: str | None, output_path: str | None) -> None:
    """Count evaluations, comparisons, gates, runs, measures and tags, and their bytes."""
    with store_options.opened(store_path) as opened:
        counts = dict.fromkeys(("evaluation", "comparison", "gate"), 0)
        counts |= dict(opened.rows("SELECT kind, count(*) FROM entry GROUP BY kind"))
        oldest, newest = opened.rows("SELECT min(time), max(time) FROM entry")[0]
        ((runs,),) = opened.rows("SELECT count(DISTINCT name) FROM entry WHERE kind = 'evaluation'")
        by_use = "SELECT measure FROM mean GROUP BY measure ORDER BY count(*) DESC, measure"
        measures = [measure for (measure,) in opened.rows(by_use)]
        tags = [tag for (tag,) in opened.rows("SELECT DISTINCT tag FROM tag ORDER BY tag")]
        size = sum(path.stat().st_size for path in Path(opened.folder).rglob("*") if path.is_file())
    record = {
        "evaluations": counts["evaluation"],
        "comparisons": counts["comparison"],
        "gates": counts["gate"],
        "runs": runs,
        "measures": measures,
        "tags": tags,
        "oldest": oldest,
        "newest": newest,
        "bytes": size,
    }
    _FORMATS.write(layout, output_path, record, store_path=store_path)


_GC_EPILOG = """\
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


def _swept_text(swept: "Swept", *, dry_run: bool) -> str:
    freed = (
        f"{swept.files:,} value file{'s' * (swept.files != 1)} and {swept.unfinished:,} "
        f"unfinished, {_size(swept.bytes)}"
    )
    return f"{'would free' if dry_run else 'freed'} {freed}\n"


def _swept_json(swept: "Swept", *, dry_run: bool) -> str:
    record = {
        "dry_run": dry_run,
        "files": swept.files,
        "unfinished": swept.unfinished,
        "bytes": swept.bytes,
    }
    return json_text(record)


_GC_FORMATS = Formats("A sentence to read;", table=_swept_text, json=_swept_json)


@store.command(epilog=_GC_EPILOG, short_help="Free the space of unused files in a store.")
@click.option("--dry-run", is_flag=True, help="Only print what would be freed.")
@_GC_FORMATS.option
@store_options.store
@options.output
def gc(*, dry_run: bool, layout: str, store_path: str | None, output_path: str | None) -> None:
    """Free unused value files, and leftovers of writers that were killed at least an hour ago."""
    with store_options.opened(store_path) as opened:
        swept = opened.gc(dry_run=dry_run)
    _GC_FORMATS.write(layout, output_path, swept, dry_run=dry_run)


def _size(count: int) -> str:
    return f"{count:,} bytes" if count < 10_000 else f"{count / 1e6:,.2f} MB"
