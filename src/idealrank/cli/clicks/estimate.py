"""`idealrank clicks estimate`: the value of a ranker that was never shown."""

import click

from idealrank.cli import console, options
from idealrank.cli.format_option import Formats
from idealrank.cli.progress import Watch
from idealrank.clicks import ips, ips_difference
from idealrank.io.click_logs import REWARDS, read_columns, reward_columns
from idealrank.io.table_columns import parse_columns

_EPILOG = """\
Examples:

\b
  idealrank clicks estimate rewards.csv
  idealrank clicks estimate rewards.csv --estimator snips --resamples 1000
  idealrank clicks estimate bandit.csv --columns reward=click,logged=propensity_score,target=p_new,target_b=p_newer

A row is one decision of the logging policy: its reward (such as a click), the probability with which it took its action, and the
probability with which the target policy would take the same action. With target_b, a second policy is compared with the first, paired by
row. No verdict is given where the log has too little support: few rows of equal weight, one row with much of the reward, or weights whose
mean is not 1.
"""

_FORMATS = Formats(
    "A table to read;", table="views.clicks:estimate_parts", json="views.clicks:estimate_json",
    rows="views.clicks:estimate_rows",
)  # fmt: skip


@click.command(epilog=_EPILOG, short_help="Estimate the value of a ranker from the log of another.")
@click.argument("log", metavar="REWARDS")
@click.option(
    "--estimator", "estimators", type=click.Choice(["ips", "snips", "clipped"]), multiple=True,
    help="Repeat it for several.  [default: ips, snips]",
)  # fmt: skip
@click.option(
    "--clip", metavar="W", type=click.FloatRange(0, min_open=True), default=10.0, show_default=True, help="Largest weight of clipped."
)
@click.option(
    "--resamples", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="Replicates of the bootstrap; 0: normal."
)
@click.option("--seed", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="Random seed of the bootstrap.")
@options.confidence
@click.option(
    "--columns", "columns_text", metavar="ROLE=NAME,...", default="",
    help="Columns by role: reward=, logged=, target=, target_b=, cluster=.  [default: by their usual names]",
)  # fmt: skip
@_FORMATS.option
@options.output
def estimate(
    *, log: str, estimators: tuple[str, ...], clip: float, resamples: int, seed: int, confidence: float, columns_text: str, layout: str,
    output_path: str | None,
) -> None:  # fmt: skip
    """Estimate the mean reward of a target policy from the log of another, by inverse propensity scoring."""
    options.refuse_to_replace(output_path, (log,))
    watch, given = Watch(), parse_columns(columns_text) if columns_text else None
    found = watch.run("rewards", lambda _: read_columns(log, REWARDS, columns=given, tell=lambda message: console.say("note", message)))
    rewards, target, logged = reward_columns(found)
    clusters = found.get("cluster")
    asked = [(name, clip if name == "clipped" else None) for name in dict.fromkeys(estimators or ("ips", "snips"))]
    values = [
        ips(rewards, target, logged, name, most, clusters=clusters, confidence=confidence, n_resamples=resamples, rng=seed)  # type: ignore[arg-type]
        for name, most in asked
    ]
    other = found.get("target_b")
    differences = [] if other is None else [
        ips_difference(rewards, target, other, logged, name, most, clusters=clusters, confidence=confidence)  # type: ignore[arg-type]
        for name, most in asked
    ]  # fmt: skip
    _FORMATS.write(layout, output_path, values, differences)
