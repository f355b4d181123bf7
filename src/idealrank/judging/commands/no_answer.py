"""`idealrank judge no-answer`: how often a run answers queries whose right answer is nothing."""

from types import ModuleType

import click

from idealrank.cli import headings, input_options, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.io.query_files import read_query_ids
from idealrank.judging import no_answer as rates_of
from idealrank.judging.commands import label_options

_EPILOG = """\
Examples:

\b
  Which score threshold returns nothing if there is nothing to find, and how much recall does it cost?
    idealrank judge no-answer qrels.txt neural.run --unanswerable nothing.txt
\b
  At most one such query in twenty may get documents:
    idealrank judge no-answer qrels.txt neural.run --unanswerable nothing.txt --limit 0.05
\b
  The whole curve, for a plot:
    idealrank judge no-answer qrels.txt neural.run --unanswerable nothing.txt --format csv

\b
A query without relevant documents in the qrels may have an answer that is unjudged. Therefore, declare the queries without an answer
in a file, with one id per line. Scores must be comparable between queries.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.judging.views import no_answer  # noqa: PLC0415  (NumPy; not for the help)

    return no_answer


_FORMATS = Formats(
    "Tables to read;",
    views=_views,
    table="no_answer_parts",
    json="no_answer_json",
    rows="no_answer_rows",
    markdown="no_answer_parts",
)


@headings.command(
    epilog=_EPILOG, short_help="Choose a score threshold for queries without an answer."
)
@click.argument("qrels")
@click.argument("run")
@click.option(
    "--unanswerable",
    "query_path",
    metavar="FILE",
    cls=options.OnceOption,
    required=True,
    help="Queries without an answer, one id per line.",
)
@click.option(
    "--cutoff",
    metavar="K",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Ranks that a user sees.",
)
@click.option(
    "--rel",
    metavar="GRADE",
    type=float,
    default=1.0,
    show_default=True,
    help="Lowest grade of a relevant document.",
)
@click.option(
    "--limit",
    metavar="RATE",
    type=click.FloatRange(0, 1),
    help="Highest false-return rate.  [default: the highest difference of recall and false-return "
    "rate]",
)
@click.option(
    "--folds",
    metavar="N",
    type=click.IntRange(2),
    default=2,
    show_default=True,
    help="Parts of the queries for cross-fitting.",
)
@click.option(
    "--seed",
    metavar="N",
    type=int,
    help="Random seed of the folds; derived from the queries by default.",
)
@label_options.level
@options.convention
@_FORMATS.option
@options.digits
@options.output
@options.inputs
def no_answer(
    *,
    qrels: str,
    run: str,
    query_path: str,
    cutoff: int,
    rel: float,
    limit: float | None,
    folds: int,
    seed: int | None,
    confidence: float,
    convention_text: str,
    layout: str,
    digits: int | None,
    output_path: str | None,
    inputs: input_options.Inputs,
) -> None:
    """Compute how often RUN returns documents for queries without an answer, and its recall, by
    threshold of the score.

    The chosen threshold is measured on queries that it was not chosen on, so that both rates hold
    for new queries.
    """
    paths = (qrels, *inputs.more_qrels, run, query_path)
    input_options.refuse_standard_input_twice(*paths)
    options.refuse_to_replace(output_path, paths)
    convention = options.parse_convention(convention_text)
    watch = Watch()
    (name,) = input_options.run_names((run,))
    judgments = watch.run("judgments", lambda _: inputs.open_qrels(qrels, convention))
    listed = watch.run(name, lambda _: inputs.open_run(run, name, qrels))
    declared = read_query_ids(query_path)
    rates = watch.run(
        "thresholds",
        lambda _: rates_of(
            judgments,
            listed,
            declared,
            cutoff=cutoff,
            rel=rel,
            limit=limit,
            folds=folds,
            confidence=confidence,
            rng=seed,
            convention=convention,
        ),
    )
    _FORMATS.write(layout, output_path, rates, digits=digits)
