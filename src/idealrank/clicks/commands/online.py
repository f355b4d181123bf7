"""`idealrank online`: commands about experiments with users."""

import click

from idealrank.cli.lazy_groups import LazyGroup

# Command -> what it does in one line, the same line as in its own help (a test compares them).
COMMANDS = {
    "interleave": "Mix two runs into lists for users, or test what users preferred.",
    "ab": "Read an A/B test: difference by user, with intervals and a check of the split.",
    "plan": "Compute how many lists or users an experiment needs.",
}

_EPILOG = """\
Start here:

\b
  idealrank online plan --share 0.52
  idealrank online interleave bm25.run neural.run -o lists.jsonl
  idealrank online interleave --outcomes outcomes.csv
  idealrank online ab experiment.csv
"""


@click.group(
    cls=LazyGroup,
    lines=COMMANDS,
    home="idealrank.clicks.commands",
    epilog=_EPILOG,
    short_help="Plan and read experiments with users.",
)
def online() -> None:
    """Plan and read experiments with users: interleaving and A/B tests."""
