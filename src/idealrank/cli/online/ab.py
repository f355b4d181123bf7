"""`idealrank online ab`: the difference of two cohorts of users."""

from typing import Any

import click

from idealrank.cli import console, options
from idealrank.cli.format_option import Formats
from idealrank.cli.progress import Watch
from idealrank.clicks import ab_effect, novelty
from idealrank.io.click_logs import EXPERIMENT, read_columns
from idealrank.io.table_columns import parse_columns

_EPILOG = """\
Examples:

\b
  idealrank online ab experiment.csv
  idealrank online ab experiment.csv --columns value=ndcg,cohort=arm --split 0.1 --format json

A row is one list, session or user, with its cohort (A or B), its value, and its user. The rows of one user count together. With a column
`denominator`, the value is a ratio, such as clicks per list. With a column `covariate` (the value of the user before the experiment, one
row per user), CUPED removes the variance that it explains. With a column `period` (or day, or week), a table shows the effect in each
period, and whether the effect fades: days since the first visit of the user show novelty best. --resamples adds a bootstrap over users. If
the users were not split as planned, there is no verdict: find the reason first.
"""

_FORMATS = Formats("A table to read;", table="views.online:effect_parts", json="views.online:effect_json")


@click.command(epilog=_EPILOG, short_help="Read an A/B test: difference by user, with intervals and a check of the split.")
@click.argument("rows", metavar="ROWS")
@click.option("--split", metavar="SHARE", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.5, show_default=True,
              help="Planned share of users in B.")  # fmt: skip
@click.option("--planned-users", metavar="N", type=click.IntRange(1), default=10_000, show_default=True,
              help="Number of users at which the confidence sequence is narrowest; keep it the same at every look.")  # fmt: skip
@click.option("--resamples", metavar="N", type=click.IntRange(0), default=0, show_default=True,
              help="Replicates of a bootstrap over users; 0: none.")  # fmt: skip
@click.option("--seed", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="Random seed of the bootstrap.")
@options.confidence
@click.option(
    "--columns", "columns_text", metavar="ROLE=NAME,...", default="",
    help="Columns by role: value=, cohort=, user=, denominator=, covariate=, period=.  [default: by their usual names]",
)  # fmt: skip
@_FORMATS.option
@options.output
def ab(
    *, rows: str, split: float, planned_users: int, resamples: int, seed: int, confidence: float, columns_text: str, layout: str,
    output_path: str | None,
) -> None:  # fmt: skip
    """Read an A/B test: the difference of B and A by user, and how it changes over time."""
    options.refuse_to_replace(output_path, (rows,))
    given = parse_columns(columns_text) if columns_text else None
    found = Watch().run("rows", lambda _: read_columns(rows, EXPERIMENT, columns=given, tell=lambda message: console.say("note", message)))
    shared: dict[str, Any] = {"users": found.get("user"), "denominator": found.get("denominator"), "confidence": confidence}
    effect = ab_effect(
        found["value"], found["cohort"], covariate=found.get("covariate"), split=split, planned_users=planned_users,
        n_resamples=resamples, rng=seed, **shared,
    )  # fmt: skip
    trend = None if found.get("period") is None else novelty(found["value"], found["cohort"], found["period"], **shared)
    _FORMATS.write(layout, output_path, effect, trend)
