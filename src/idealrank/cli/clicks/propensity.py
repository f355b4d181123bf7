"""`idealrank clicks propensity`: how often each rank is examined."""

import click

from idealrank.cli import options
from idealrank.cli.clicks import log_options
from idealrank.cli.format_option import Formats
from idealrank.cli.progress import Watch
from idealrank.clicks import propensities

_EPILOG = """\
Examples:

\b
  idealrank clicks propensity log.csv
  idealrank clicks propensity log.csv --resamples 1000 --seed 1 --format csv -o propensity.csv

The position-based model tells ranks and documents apart only where documents change their ranks: by random or swapped results, or by
rankers that changed. Where ranks share no document, a warning says so, and the numbers of different sets cannot be compared.
"""

_FORMATS = Formats(
    "A table to read;", table="views.clicks:propensity_parts", json="views.clicks:propensity_json",
    rows="views.clicks:propensity_rows",
)  # fmt: skip


@click.command(epilog=_EPILOG, short_help="Estimate how often each rank is examined.")
@click.argument("log", metavar="LOG")
@log_options.iterations
@click.option("--resamples", metavar="N", type=click.IntRange(1), default=200, show_default=True, help="Replicates of the bootstrap.")
@click.option("--held-out", metavar="SHARE", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.2, show_default=True,
              help="Share of the lists on which perplexity is computed.")  # fmt: skip
@click.option("--seed", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
@log_options.log_input
@_FORMATS.option
@options.output
def propensity(
    *, inputs: log_options.LogInput, iterations: int, resamples: int, held_out: float, seed: int, layout: str, output_path: str | None,
) -> None:  # fmt: skip
    """Estimate how often each rank is examined, relative to the first, by the position-based model."""
    watch = Watch()
    sessions = inputs.check(watch).sessions
    found = watch.run(
        "propensities", lambda _: propensities(sessions, iterations=iterations, n_resamples=resamples, held_out=held_out, rng=seed)
    )
    _FORMATS.write(layout, output_path, found)
