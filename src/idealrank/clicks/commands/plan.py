"""`idealrank online plan`: sizes of experiments."""

from types import ModuleType

import click

from idealrank.cli import headings, options
from idealrank.cli.output import Formats
from idealrank.clicks import lists_needed, users_needed
from idealrank.clicks.arguments import Looks
from idealrank.clicks.commands import log_options
from idealrank.errors import OptionError

_EPILOG = """\
Examples:

\b
  How many lists does an interleaving test need, if B wins 52 % of the lists with a preference?
    idealrank online plan --share 0.52 --tie-share 0.4
\b
  How many users does an A/B test need to detect a difference of 0.02?
    idealrank online plan --sd 1.8 --effect 0.02

With these numbers, `idealrank online interleave --outcomes` and `idealrank online ab` reach a
verdict with the given power. By default the verdict is valid at any look, however often you read
the test. --looks once needs fewer users, and the test may be read only once, at the planned size.
Pass the same --looks and --planned-users to the command that reads the test.
"""


def _views() -> ModuleType:
    from idealrank.clicks.views import online  # noqa: PLC0415  (NumPy; not for the help)

    return online


_FORMATS = Formats(
    "A sentence to read;",
    views=_views,
    table="plan_parts",
    json="plan_json",
)


@headings.command(epilog=_EPILOG, short_help="Compute how many lists or users an experiment needs.")
@click.option(
    "--share",
    metavar="P",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of B among lists with a preference.",
)
@click.option(
    "--tie-share",
    "ties",
    metavar="P",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    help="Share of lists without a preference.",
)
@click.option(
    "--sd",
    metavar="SD",
    type=click.FloatRange(0, min_open=True),
    help="Standard deviation of the value over users.",
)
@click.option(
    "--effect",
    "difference",
    metavar="X",
    type=float,
    help="Smallest true difference worth finding, which the A/B test must detect.",
)
@click.option(
    "--split",
    metavar="P",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="Share of users in B.",
)
@click.option(
    "--variance-reduction",
    "reduction",
    metavar="P",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    help="Share of the variance that a covariate explains.",
)
@click.option(
    "--power",
    metavar="P",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Power: probability that the test detects it.",
)
@click.option(
    "--planned-users",
    metavar="N",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Number of users at which the confidence sequence is narrowest, as for `online ab`.",
)
@log_options.looks
@options.level
@_FORMATS.option
@options.output
def plan(
    *,
    share: float | None,
    ties: float,
    sd: float | None,
    difference: float | None,
    split: float,
    reduction: float,
    power: float,
    planned_users: int,
    looks: Looks,
    confidence: float,
    layout: str,
    output_path: str | None,
) -> None:
    """Compute how many lists an interleaving test needs (--share), or how many users an A/B test
    (--sd and --effect).
    """
    options_set = {"--share": share, "--sd": sd, "--effect": difference}
    option_names = [name for name, value in options_set.items() if value is not None]
    if option_names not in (["--share"], ["--sd", "--effect"]):
        raise OptionError(
            f"found {' and '.join(option_names) or 'none of them'}, expected --share alone, or "
            "--sd and --effect"
        )

    if share is not None:
        lists = lists_needed(share, power=power, confidence=confidence, ties=ties, looks=looks)
        assumed = {"share": share, "ties": ties, "power": power, "confidence": confidence}
        _FORMATS.write(layout, output_path, "lists", lists, looks, assumed)
        return

    assert sd is not None  # noqa: S101  (both are set, as checked above)
    assert difference is not None  # noqa: S101
    users = users_needed(
        sd,
        difference,
        split=split,
        power=power,
        confidence=confidence,
        variance_reduction=reduction,
        planned_users=planned_users,
        looks=looks,
    )
    assumed = {
        "sd": sd,
        "difference": difference,
        "split": split,
        "power": power,
        "confidence": confidence,
    }
    assumed["variance_reduction"] = reduction
    if looks == "any":
        assumed["planned_users"] = planned_users
    _FORMATS.write(layout, output_path, "users", users, looks, assumed)
