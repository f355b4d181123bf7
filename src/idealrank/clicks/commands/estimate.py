"""`idealrank clicks estimate`: the value of a ranker that was never shown."""

from functools import partial
from types import ModuleType
from typing import get_args

import click

from idealrank.cli import console, headings, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.clicks.files.click_logs import REWARDS, log_columns, read_columns
from idealrank.clicks.inputs import reward_estimates
from idealrank.clicks.weighted_rows import Estimator

_EPILOG = """\
Examples:

\b
  idealrank clicks estimate rewards.csv
  idealrank clicks estimate rewards.csv --estimator snips --resamples 1000
  idealrank clicks estimate predicted.csv --estimator ips --estimator dr --estimator switch --switch 20
  idealrank clicks estimate bandit.csv --columns reward=click,logged=propensity_score,target=p_new,target_b=p_newer

Each row of REWARDS is one decision of the logging policy:

\b
  reward    the reward, such as a click
  logged    the probability that the logging policy takes this action
  target    the probability that the target policy takes the same action
  target_b  the same for a second target policy; the two are compared, paired
            by row

dr and switch also need the predictions of a model: predicted_logged, the reward of the logged
action, and predicted_target, the expected reward of the target policy. To compare two policies,
they also need predicted_target_b.

The output gives no verdict if the log has too little support: a small effective number of rows, one
row with a large share of the reward, or weights whose mean is not 1.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.clicks.views import policy_values  # noqa: PLC0415  (NumPy; not for the help)

    return policy_values


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="estimate_parts",
    json="estimate_json",
    rows="estimate_rows",
)


@headings.command(
    epilog=_EPILOG, short_help="Estimate the reward of a policy from the log of another policy."
)
@click.argument("log", metavar="REWARDS")
@click.option(
    "--estimator",
    "estimators",
    type=click.Choice([*get_args(Estimator), "dr", "switch"]),
    multiple=True,
    help="Estimator; may be repeated.  [default: ips, snips]",
)
@click.option(
    "--clip",
    metavar="W",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    show_default=True,
    help="Largest weight, for clipped.",
)
@click.option(
    "--switch",
    metavar="W",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    show_default=True,
    help="Largest weight that still corrects the model, for switch.",
)
@click.option(
    "--resamples",
    metavar="N",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Number of bootstrap replicates; 0 gives normal intervals.",
)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Random seed of the bootstrap.",
)
@options.level
@click.option(
    "--columns",
    "columns_text",
    metavar="ROLE=NAME,...",
    cls=options.OnceOption,
    default="",
    help="Columns by role: reward=, logged=, target=, target_b=, cluster= (or user=), "
    "predicted_logged=, predicted_target=, predicted_target_b=.  [default: by their usual names]",
)
@_FORMATS.option
@options.output
def estimate(
    *,
    log: str,
    estimators: tuple[str, ...],
    clip: float,
    switch: float,
    resamples: int,
    seed: int,
    confidence: float,
    columns_text: str,
    layout: str,
    output_path: str | None,
) -> None:
    """Estimate the mean reward of a target policy from the log of another policy.

    The estimators use inverse propensity scoring, with or without a model of the reward.
    """
    options.refuse_to_replace(output_path, (log,))
    column_names = log_columns(columns_text, REWARDS)
    note = partial(console.say, "note")
    columns = Watch().run(
        "rewards", lambda _: read_columns(log, REWARDS, columns=column_names, tell=note)
    )
    limits = {"clipped": clip, "switch": switch}
    names = dict.fromkeys(estimators or ("ips", "snips"))
    estimates = reward_estimates(
        columns,
        estimators=[(name, limits.get(name)) for name in names],
        confidence=confidence,
        n_resamples=resamples,
        seed=seed,
    )
    _FORMATS.write(layout, output_path, estimates.values["A"], estimates.differences)
