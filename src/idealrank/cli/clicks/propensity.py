"""`idealrank clicks propensity`: how often each rank is examined."""

import click

from idealrank.cli import options
from idealrank.cli.clicks import log_options
from idealrank.cli.format_option import Formats
from idealrank.cli.progress import Watch
from idealrank.clicks import harvested_propensities, propensities, trust_propensities

_EPILOG = """\
Examples:

\b
  idealrank clicks propensity log.csv
  idealrank clicks propensity log.csv --resamples 1000 --seed 1 --format csv -o propensity.csv
  idealrank clicks propensity log.csv --method trust

em fits the position-based model, with an attractiveness of each document. all-pairs and pivot compare the click rates of documents that
several rankers put at different ranks (intervention harvesting): queries may be rare, and rankers must be drawn at random. trust fits a
line for each rank, as users also click by mistake, more at the top (trust bias). All of them tell ranks and documents apart only where
documents change their ranks: by random or swapped results, or by rankers that changed. Where they cannot, a warning says so.
"""

_VIEWS = "views.clicks.propensity_tables"
_EM, _HARVEST, _TRUST = (
    Formats("A table to read;", table=f"{_VIEWS}:{name}_parts", json=f"{_VIEWS}:{name}_json", rows=f"{_VIEWS}:{name}_rows")
    for name in ("propensity", "harvest", "trust")
)


@click.command(epilog=_EPILOG, short_help="Estimate how often each rank is examined.")
@click.argument("log", metavar="LOG")
@log_options.method
@log_options.iterations
@click.option("--resamples", metavar="N", type=click.IntRange(1), default=200, show_default=True, help="Replicates of the bootstrap.")
@click.option("--held-out", metavar="SHARE", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.2, show_default=True,
              help="Share of the lists on which perplexity is computed, for em.")  # fmt: skip
@click.option("--seed", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
@log_options.log_input
@_EM.option
@options.output
def propensity(
    *, inputs: log_options.LogInput, method: str, iterations: int, resamples: int, held_out: float, seed: int, layout: str,
    output_path: str | None,
) -> None:  # fmt: skip
    """Estimate how often each rank is examined, relative to the first."""
    watch = Watch()
    sessions = inputs.check(watch).sessions
    if method == "em":
        found = watch.run(
            "propensities", lambda _: propensities(sessions, iterations=iterations, n_resamples=resamples, held_out=held_out, rng=seed)
        )
        _EM.write(layout, output_path, found)
    elif method == "trust":
        lines = watch.run("propensities", lambda _: trust_propensities(sessions, n_resamples=resamples, rng=seed))
        _TRUST.write(layout, output_path, lines)
    else:
        harvested = watch.run(
            "propensities",
            lambda _: harvested_propensities(sessions, method=method, n_resamples=resamples, rng=seed),  # type: ignore[arg-type]
        )
        _HARVEST.write(layout, output_path, harvested)
