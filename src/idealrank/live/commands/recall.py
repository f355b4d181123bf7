"""`idealrank search recall`: measure the cost of an approximate index."""

from functools import partial
from types import ModuleType

import click

from idealrank.cli import headings, input_options, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.errors import OptionError

_EPILOG = """\
Examples:

\b
  idealrank search recall flat.run hnsw.run
  idealrank search recall flat.run hnsw.run -k 10,100 --qrels qrels.txt
  idealrank search recall flat.run hnsw.run --qrels qrels.txt --format csv -o recall.csv

Recall at k is the number of documents that the first k of both lists share, divided by k.
"""


def _views() -> ModuleType:
    from idealrank.reports.views import recall  # noqa: PLC0415  (NumPy; not for the help)

    return recall


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="recall_parts",
    json="recall_json",
    rows="recall_rows",
)


@headings.command(epilog=_EPILOG, short_help="Measure the cost of an approximate index.")
@click.argument("exact")
@click.argument("approximate")
@click.option(
    "-k",
    "--cutoff",
    "cutoffs_text",
    metavar="K[,K...]",
    default="10",
    show_default=True,
    help="Ranks that are compared.",
)
@click.option(
    "--qrels",
    metavar="FILE",
    cls=options.OnceOption,
    help="Judgments; with them, the loss of each measure is shown.",
)
@options.labels
@click.option(
    "-m",
    "--measure",
    "measure_texts",
    metavar="MEASURE",
    cls=options.OnceOption,
    multiple=True,
    help="Measures of the loss; repeat, or separate with commas.  [default: nDCG@10]",
)
@options.convention
@options.level
@click.option(
    "--show",
    "worst",
    metavar="N",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="Number of queries to list.",
)
@_FORMATS.option
@options.output
@options.threads
def recall(
    *,
    exact: str,
    approximate: str,
    cutoffs_text: str,
    qrels: str | None,
    labels_text: str,
    measure_texts: tuple[str, ...],
    convention_text: str,
    confidence: float,
    worst: int,
    layout: str,
    output_path: str | None,
    threads: int,
) -> None:
    """Measure the cost of an approximate index: run APPROXIMATE against run EXACT of an exhaustive
    search.

    The output has recall with its interval and the 5th percentile of queries, and the queries that
    lose most. With judgments it also has the value lost by each measure, with the interval of the
    paired difference.
    """
    from idealrank.inputs.overlap import index_recall  # noqa: PLC0415  (help needs none of it)

    cutoffs = _cutoffs(cutoffs_text)
    if measure_texts and qrels is None:
        raise OptionError(
            "-m: found no --qrels, expected judgments: a loss is a difference of evaluations"
        )
    paths = [exact, approximate, *([] if qrels is None else [qrels])]
    input_options.refuse_standard_input_twice(*paths)
    options.refuse_to_replace(output_path, paths)
    measures = options.parse_measure_texts(measure_texts or ("nDCG@10",))
    convention = options.parse_convention(convention_text)
    judgments = None
    if qrels is not None:
        inputs = input_options.Inputs(labels_text=labels_text)
        judgments = inputs.open_qrels(qrels, convention)
    work = partial(
        index_recall,
        exact,
        approximate,
        cutoffs,
        qrels=judgments,
        measures=measures,
        convention=convention,
        level=confidence,
        threads=threads,
    )
    result = Watch().count("recall", lambda _: work())
    _FORMATS.write(layout, output_path, result, worst=worst)


def _cutoffs(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and 1 <= int(word) <= 1 << 30 for word in words):
        raise OptionError(f"-k {text}: expected whole numbers of 1 or more, as in 10 or 10,100")
    return [int(word) for word in words]
