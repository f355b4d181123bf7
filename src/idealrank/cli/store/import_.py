"""`idealrank store import`: evaluations from files."""

import click

from idealrank.cli import output, store_options
from idealrank.errors import OptionError


@click.command("import", short_help="Take in evaluations that were exported.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@store_options.store
def import_(*, files: tuple[str, ...], store_path: str | None) -> None:
    """Take in each FILE that `idealrank store export` wrote, and print the id of each; the store is made where there is none.

    What is in the store already stays as it is, and gets back value files that it may have lost.
    """
    if not store_path:
        raise OptionError(f"found no store, expected --store DIR or the variable {store_options.VARIABLE}; it is made where there is none")
    from idealrank.store import Store  # noqa: PLC0415  (SQLite; not for the help)

    with Store.open(store_path) as store:
        for file in files:
            output.write([f"{store.import_file(file)}\n"], None)
