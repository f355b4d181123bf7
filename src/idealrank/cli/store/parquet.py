"""`idealrank store parquet`: everything, for programs that read Parquet."""

import click

from idealrank.cli import console, store_options


@click.command(short_help="Write everything as Parquet tables.")
@click.argument("folder")
@store_options.store
def parquet(*, folder: str, store_path: str | None) -> None:
    """Write the tables of a store into FOLDER: evaluations, means, values, hits, comparisons, gates and tags, a Parquet file each.

    `values` has one row for each evaluation, query and measure, null if the query does not count. Files appear when they are complete,
    and replace earlier files. This command needs pyarrow: pip install 'idealrank[arrow]'.
    """
    with store_options.opened(store_path) as store:
        written = store.to_parquet(folder)
    for name, rows in written.items():
        console.say("note", f"{name}: {rows:,} rows")
