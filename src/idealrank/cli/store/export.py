"""`idealrank store export`: one evaluation as a file."""

import click

from idealrank.cli import console, store_options


@click.command(short_help="Write one evaluation as a file that another store takes.")
@click.argument("id")
@click.argument("file")
@store_options.store
def export(*, id: str, file: str, store_path: str | None) -> None:
    """Write the evaluation ID, with tags and notes, as FILE, which appears when it is complete.

    `idealrank store import FILE` adds it to another store, under the same id.
    """
    with store_options.opened(store_path) as store:
        key = store.resolve(id, kind="evaluation")
        store.export_file(key, file)
    console.say("note", f"{file} holds evaluation {key}")
