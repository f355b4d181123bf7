"""`idealrank store`: carry entries from store to store, and out to other programs."""

import click

from idealrank.cli.lazy_groups import LazyGroup

# Command -> what it does in one line, the same line as in its own help (a test compares them).
COMMANDS = {
    "export": "Write one evaluation as a file that another store takes.",
    "import": "Take in evaluations that were exported.",
    "parquet": "Write everything as Parquet tables.",
    "remove": "Take entries out of a store.",
    "info": "Say what a store holds, and how large it is.",
}
# Commands that `idealrank` has, too.
ALSO = {
    "history": "Show a measure or query over time, and find when it regressed.",
    "show": "Show everything about one entry of a store.",
    "diff": "Show the changes between two evaluations of a store.",
    "tag": "Add tags and notes to an entry of a store, or remove tags.",
    "sql": "Query a store in SQL.",
    "gc": "Free the space of unused files in a store.",
}

_EPILOG = """\
Start here:

\b
  idealrank store info --store results
  idealrank store export 3f2a bm25.zip --store results
  idealrank store import bm25.zip --store other
  idealrank store parquet tables --store results
  idealrank store history --store results
"""


@click.group(
    cls=LazyGroup, lines={**COMMANDS, **ALSO}, home="idealrank.cli.store", homes=dict.fromkeys(ALSO, "idealrank.cli.commands"),
    groups={"Commands": COMMANDS, "Also without `store`": ALSO}, epilog=_EPILOG,
    short_help="Export and import evaluations, and write Parquet.",
)  # fmt: skip
def store() -> None:
    """Export and import evaluations, and write Parquet.

    A store is a folder on one machine. Do not copy it during a write, and do not put it on a network disk. An exported evaluation is one
    file with its exact values, hashes, tags and notes, under its id.
    """
