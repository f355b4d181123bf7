"""`idealrank clicks slates`: the value of a policy that shows lists, from the lists of another."""

from functools import partial
from types import ModuleType
from typing import Any, get_args

import click

from idealrank.cli import console, headings, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.clicks import slate_difference, slate_value
from idealrank.clicks.files.click_logs import SLATES, log_columns, read_columns
from idealrank.clicks.inputs import slates_of
from idealrank.clicks.logged_slates import SlateEstimator
from idealrank.errors import OptionError

_EPILOG = """\
Examples:

\b
  idealrank clicks slates lists.csv
  idealrank clicks slates lists.csv --estimator rips --estimator snrips --discount 1,0.5,0.33
  idealrank clicks slates lists.csv --columns session=request,reward=click,target=p_new,target_b=p_newer

Each row of LISTS is one rank of a list: the list (session=), the rank, the reward, and two
probabilities. These are the probabilities that the logging policy and the target policy show the
document at this rank, given the documents above; for iips, without this condition.

\b
  ips   weights a reward by the probabilities of the whole list
  rips  weights it by the probabilities of its rank and the ranks above
  iips  weights it by the probabilities of its rank alone

Fewer ranks give shorter intervals, but need a stronger assumption about users. snips, snrips and
sniips also divide by the sum of the weights.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.clicks.views import policy_values  # noqa: PLC0415  (NumPy; not for the help)

    return policy_values


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="slate_parts",
    json="slate_json",
    rows="slate_rows",
)


@headings.command(epilog=_EPILOG, short_help="Estimate the reward of a policy that shows lists.")
@click.argument("lists", metavar="LISTS")
@click.option(
    "--estimator",
    "estimators",
    type=click.Choice(get_args(SlateEstimator)),
    multiple=True,
    help="Estimator; may be repeated.  [default: rips, snrips]",
)
@click.option(
    "--discount",
    "discount_text",
    metavar="WEIGHT,...",
    default="",
    help="Weight of each rank.  [default: 1]",
)
@options.level
@click.option(
    "--columns",
    "columns_text",
    metavar="ROLE=NAME,...",
    cls=options.OnceOption,
    default="",
    help="Columns by role: session=, rank=, reward=, logged=, target=, target_b=, cluster= (or "
    "user=).  [default: by their usual names]",
)
@_FORMATS.option
@options.output
def slates(
    *,
    lists: str,
    estimators: tuple[str, ...],
    discount_text: str,
    confidence: float,
    columns_text: str,
    layout: str,
    output_path: str | None,
) -> None:
    """Estimate the mean reward of the lists of a target policy from the lists of another policy."""
    options.refuse_to_replace(output_path, (lists,))
    column_names = log_columns(columns_text, SLATES)
    note = partial(console.say, "note")
    columns = Watch().run(
        "lists", lambda _: read_columns(lists, SLATES, columns=column_names, tell=note)
    )
    tables = slates_of(columns)
    try:
        discount = [float(part) for part in discount_text.split(",")] if discount_text else None
    except ValueError:
        raise OptionError(
            f"--discount {discount_text}: expected numbers, such as 1,0.5,0.33"
        ) from None
    names: tuple[Any, ...] = tuple(dict.fromkeys(estimators or ("rips", "snrips")))
    shared: dict[str, Any] = {
        "discount": discount,
        "clusters": tables.clusters,
        "confidence": confidence,
    }
    rewards = tables.rewards
    target = tables.target
    logged = tables.logged
    values = [slate_value(rewards, target, logged, name, **shared) for name in names]
    differences = []
    if tables.target_b is not None:
        differences = [
            slate_difference(rewards, target, tables.target_b, logged, name, **shared)
            for name in names
        ]
    _FORMATS.write(layout, output_path, values, differences)
