"""`idealrank clicks validate`: what makes no sense in a click log."""

from types import ModuleType

import click

from idealrank.cli import headings, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.clicks.commands import log_options

_EPILOG = """\
Examples:

\b
  idealrank clicks validate log.csv
  idealrank clicks validate log.parquet --columns session=request,rank=place --format json
  idealrank clicks validate ubi_queries.jsonl --events ubi_events.jsonl --redact-key secret.txt

validate counts repeated rows, documents at two ranks, ranks that are not 1, 2, 3, ..., clicks that
are neither 0 nor 1, results without an id, propensities outside their range, and users that are
probably programs. Every command omits lists with such a problem.
"""


def _views() -> ModuleType:
    from idealrank.clicks.views import log_checks  # noqa: PLC0415  (NumPy; not for the help)

    return log_checks


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="log_parts",
    json="log_json",
)


@headings.command(epilog=_EPILOG, short_help="Check a click log, and count its invalid lists.")
@click.argument("log", metavar="LOG")
@log_options.redact
@log_options.log_input
@_FORMATS.option
@options.output
def validate(*, inputs: log_options.LogInput, layout: str, output_path: str | None) -> None:
    """Check a click log, and count its invalid lists.

    LOG has a row for each displayed result, as CSV or TSV with a header line, JSON lines, Parquet
    or Arrow. It can also have the layout of the Yandex challenge. With --events, LOG holds the
    queries of User Behavior Insights.
    """
    _FORMATS.write(layout, output_path, inputs.rows(Watch()).check(most_lists=inputs.most_lists))
