"""`idealrank clicks`: commands about click logs."""

import click

from idealrank.cli.lazy_groups import LazyGroup

# Command -> what it does in one line, the same line as in its own help (a test compares them).
COMMANDS = {
    "validate": "Check a click log, and count what makes no sense.",
    "grade": "Make judgments from a click log.",
    "propensity": "Estimate how often each rank is examined.",
    "estimate": "Estimate the value of a ranker from the log of another.",
    "runs": "Estimate DCG of runs that users never saw, from clicks.",
    "slates": "Estimate the value of a policy that shows lists.",
    "report": "Make a page of a click log, with the stop signs first.",
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

A log has a row for each result that was shown, clicked or not: session, query, document, rank, click.
"""


@click.group(
    cls=LazyGroup, lines=COMMANDS, home="idealrank.cli.clicks", epilog=_EPILOG,
    short_help="Turn a click log into judgments, propensities and estimates.",
)  # fmt: skip
def clicks() -> None:
    """Turn a click log into judgments, propensities and estimates.

    A click says as much about the rank of a document as about the document. These commands tell the two apart, and say so where the log
    cannot.
    """
