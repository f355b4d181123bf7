"""`idealrank store import`: evaluations from files."""

import click

from idealrank.cli import output, store_options
from idealrank.errors import OptionError


@click.command("import", short_help="Take in evaluations that were exported.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@store_options.store
def import_(*, files: tuple[str, ...], store_path: str | None) -> None:
    """Import each FILE of `idealrank store export`, and print the ids; a missing store is created.

    Existing entries stay unchanged, and missing value files are restored.
    """
    if not store_path:
        raise OptionError(f"found no store, expected --store DIR or the variable {store_options.VARIABLE}; it is made where there is none")
    from idealrank.store import Store  # noqa: PLC0415  (SQLite; not for the help)

    with Store.open(store_path) as store:
        for file in files:
            output.write([f"{store.import_file(file)}\n"], None)
