"""`idealrank clicks propensity`: how often each rank is examined."""

from types import ModuleType

import click

from idealrank.cli import headings, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.clicks import harvested_propensities, propensities, trust_propensities
from idealrank.clicks.commands import log_options

_EPILOG = """\
Examples:

\b
  idealrank clicks propensity log.csv
  idealrank clicks propensity log.csv --resamples 1000 --seed 1 --format csv -o propensity.csv
  idealrank clicks propensity log.csv --method trust

A propensity is the probability that users examine a rank, divided by this probability for rank 1.
Four methods estimate it:

\b
  em         fits the position-based click model
  all-pairs  compares click rates of documents that several rankers place at
             different ranks (intervention harvesting), for all pairs of ranks
  pivot      does the same for each rank and rank 1
  trust      fits clicks with trust bias: users also click documents that are
             not relevant, more often at the top

all-pairs and pivot also work if each query is rare; the ranker of each list must be drawn at
random.

Every method needs documents that occur at different ranks: because results were randomised or
swapped, or because the ranker changed. If the log has too few, a warning says so.
"""


def _views() -> ModuleType:
    from idealrank.clicks.views import propensity_tables  # noqa: PLC0415  (NumPy; not for the help)

    return propensity_tables


def _formats(name: str) -> Formats:
    return Formats(
        "A table to read;",
        views=_views,
        table=f"{name}_parts",
        json=f"{name}_json",
        rows=f"{name}_rows",
    )


_EM = _formats("propensity")
_HARVEST = _formats("harvest")
_TRUST = _formats("trust")


@headings.command(epilog=_EPILOG, short_help="Estimate how often users examine each rank.")
@click.argument("log", metavar="LOG")
@log_options.method
@log_options.iterations
@click.option(
    "--resamples",
    metavar="N",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Number of bootstrap replicates.",
)
@click.option(
    "--holdout",
    "held_out",
    metavar="SHARE",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.2,
    show_default=True,
    help="Share of lists held out to compute perplexity; em only.",
)
@click.option(
    "--seed", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="Random seed."
)
@log_options.log_input
@_EM.option
@options.output
def propensity(
    *,
    inputs: log_options.LogInput,
    method: str,
    iterations: int,
    resamples: int,
    held_out: float,
    seed: int,
    layout: str,
    output_path: str | None,
) -> None:
    """Estimate how often users examine each rank, relative to rank 1."""
    watch = Watch()
    sessions = inputs.check(watch).sessions
    if method == "em":
        estimated = watch.run(
            "propensities",
            lambda _: propensities(
                sessions, iterations=iterations, n_resamples=resamples, held_out=held_out, rng=seed
            ),
        )
        _EM.write(layout, output_path, estimated)
    elif method == "trust":
        lines = watch.run(
            "propensities", lambda _: trust_propensities(sessions, n_resamples=resamples, rng=seed)
        )
        _TRUST.write(layout, output_path, lines)
    else:
        harvested = watch.run(
            "propensities",
            lambda _: harvested_propensities(
                sessions,
                method=method,  # type: ignore[arg-type]
                n_resamples=resamples,
                rng=seed,
            ),
        )
        _HARVEST.write(layout, output_path, harvested)
