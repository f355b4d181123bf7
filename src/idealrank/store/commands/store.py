"""`idealrank store`: look into a store, and carry entries to other stores and programs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from idealrank.cli import console, options, output
from idealrank.cli.lazy_groups import LazyGroup
from idealrank.cli.output import Formats
from idealrank.errors import OptionError
from idealrank.reports.table.cells import counted
from idealrank.reports.table.records import json_text
from idealrank.store.commands import store_options

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
