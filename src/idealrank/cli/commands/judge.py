"""`idealrank judge`: commands about the judgments themselves."""

import click

from idealrank.cli.lazy_groups import LazyGroup

# Command -> what it does in one line, the same line as in its own help (a test compares them).
COMMANDS = {
    "agreement": "Measure how far assessors agree, by grade, assessor and query.",
    "bounds": "Bound what the grades of unjudged documents could change.",
}

_EPILOG = """\
Start here:

\b
  idealrank judge agreement ann.qrels ben.qrels
  idealrank judge bounds qrels.txt bm25.run neural.run --depth 10
"""


@click.group(
    cls=LazyGroup, lines=COMMANDS, home="idealrank.cli.judge", epilog=_EPILOG,
    short_help="Examine judgments: unjudged documents, agreement of assessors.",
)  # fmt: skip
def judge() -> None:
    """Examine judgments: what unjudged documents could change, and how far assessors agree.

    An assessor is a person or a model; their grades are compared, and never merged.
    """
