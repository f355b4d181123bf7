"""`idealrank clicks`: commands about click logs."""

import click

from idealrank.cli.lazy_groups import LazyGroup

# Command -> what it does in one line, the same line as in its own help (a test compares them).
COMMANDS = {
    "validate": "Check a click log, and count its invalid lists.",
    "grade": "Make judgments from a click log.",
    "propensity": "Estimate how often users examine each rank.",
    "estimate": "Estimate the reward of a policy from the log of another policy.",
    "runs": "Estimate the DCG of runs that users never saw.",
    "slates": "Estimate the reward of a policy that shows lists.",
    "report": "Write a report of a click log as one HTML page.",
}

_EPILOG = """\
Start here:

\b
  idealrank clicks validate log.csv
  idealrank clicks propensity log.csv
  idealrank clicks grade log.csv -o clicks.qrels
  idealrank clicks estimate rewards.csv
  idealrank clicks runs log.csv old.run new.run
  idealrank clicks report log.csv --rewards rewards.csv -o clicks.html

A log has a row for each displayed result, clicked or not, with the columns session, query,
document, rank and click.
"""


@click.group(
    cls=LazyGroup,
    lines=COMMANDS,
    home="idealrank.clicks.commands",
    epilog=_EPILOG,
    short_help="Turn a click log into judgments, propensities and estimates.",
)
def clicks() -> None:
    """Turn a click log into judgments, propensities and estimates.

    Users click results at the top more often, relevant or not. These commands separate the effect
    of the rank from the effect of the document, and warn if a log does not allow it.
    """
