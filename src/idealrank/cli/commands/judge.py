"""`idealrank judge`: commands about the judgments themselves."""

import click

from idealrank.cli.lazy_groups import LazyGroup

# Command -> what it does in one line, the same line as in its own help (a test compares them).
COMMANDS = {
    "agreement": "Measure how far assessors agree, by grade, assessor and query.",
}

_EPILOG = """\
Start here:

\b
  idealrank judge agreement ann.qrels ben.qrels
"""


@click.group(
    cls=LazyGroup, lines=COMMANDS, home="idealrank.cli.judge", epilog=_EPILOG,
    short_help="Measure the agreement of assessors.",
)  # fmt: skip
def judge() -> None:
    """Measure the agreement of assessors.

    An assessor is a person or a model; their grades are compared, and never merged.
    """
