"""`idealrank clicks grade`: judgments from clicks."""

import click

from idealrank.cli import console, options
from idealrank.cli.clicks import log_options
from idealrank.cli.format_option import Formats
from idealrank.cli.progress import Watch
from idealrank.clicks import grades
from idealrank.errors import OptionError

_EPILOG = """\
Examples:

\b
  idealrank clicks grade log.csv -o clicks.qrels
  idealrank clicks grade log.csv --model dbn --cuts 0.1,0.3 --least 50 -o clicks.qrels

The rate that is graded is the attractiveness of a click model: the rate of clicks of a document that is examined. raw takes the rate of
clicks as it is, with a warning that gives the size of the position bias. A pair of query and document with fewer impressions than
--least stays unjudged.
"""

_FORMATS = Formats("Lines QUERY 0 DOCUMENT GRADE;", trec="views.clicks:qrels_lines", rows="views.clicks:qrels_rows")


@click.command(epilog=_EPILOG, short_help="Make judgments from a click log.")
@click.argument("log", metavar="LOG")
@click.option(
    "--model", "model_name", type=click.Choice([*log_options.MODELS, "raw"]), default="pbm", show_default=True, help="Click model."
)
@click.option("--cuts", "cuts_text", metavar="RATE,...", default="0.05,0.2,0.4", show_default=True, help="Least rate of grades 1, 2, ...")
@click.option("--least", metavar="N", type=click.IntRange(1), default=10, show_default=True, help="Impressions that a grade needs.")
@log_options.iterations
@log_options.columns
@log_options.most_lists
@_FORMATS.option
@options.output
def grade(
    *, log: str, model_name: str, cuts_text: str, least: int, iterations: int, columns_text: str, most_lists: int, layout: str,
    output_path: str | None,
) -> None:  # fmt: skip
    """Make judgments from a click log, as lines QUERY 0 DOCUMENT GRADE, or as CSV for ids with blanks."""
    options.refuse_to_replace(output_path, (log,))
    try:
        cuts = [float(part) for part in cuts_text.split(",")]
    except ValueError:
        raise OptionError(f"--cuts {cuts_text}: expected numbers, such as 0.05,0.2,0.4") from None
    watch = Watch()
    sessions = log_options.checked_log(log, columns_text, most_lists, watch).sessions
    model = None
    if model_name != "raw":
        model = watch.run("click model", lambda _: log_options.model_of(model_name, iterations).fit(sessions))
    found = grades(sessions, model, cuts=cuts, least=least)
    _FORMATS.write(layout, output_path, found.qrels)
    graded = found.n_pairs - found.n_left_out
    unjudged = f"{found.n_left_out:,} stay unjudged, with fewer than {found.least:,} impressions"
    console.say("note", f"{graded:,} pairs have a grade from {model_name}; {unjudged}")
