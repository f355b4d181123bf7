"""`idealrank why`: show the queries and documents behind the difference of two runs."""

from types import ModuleType
from typing import TYPE_CHECKING

import click

from idealrank.analysis.attribution import Attribution
from idealrank.cli import console, headings, input_options, options, text_options
from idealrank.cli.output import Formats, LimitedWriter
from idealrank.cli.progress import Watch
from idealrank.errors import OptionError
from idealrank.inputs.explanation import attribute
from idealrank.reports.table.formats import FORMATS

if TYPE_CHECKING:
    from idealrank.inputs.text_sources import TextSources

_QUERIES = 5  # of the table
_DOCUMENTS = 3  # of each query of the table
_EPILOG = """\
Examples:

\b
  Which queries lost most, and which of their documents moved?
    idealrank why qrels.txt bm25.run neural.run
\b
  The ten worst queries by AP, with every document that changed:
    idealrank why qrels.txt bm25.run neural.run -m AP --show 10 --show-documents 1000
\b
  With texts of queries and titles of documents:
    idealrank why qrels.txt bm25.run neural.run --queries queries.tsv --documents documents.jsonl
\b
  Every query as CSV, the worst first; everything as JSON:
    idealrank why qrels.txt bm25.run neural.run --format csv
    idealrank why qrels.txt bm25.run neural.run --format json

To test the difference, use `idealrank compare`.
"""


def _views() -> ModuleType:
    from idealrank.reports.views import attribution  # noqa: PLC0415  (NumPy; not for the help)

    return attribution


_FORMATS = Formats(
    "Text to read;",
    {"json": "with queries and documents", "rows": "with one query per row"},
    views=_views,
    table="attribution_report",
    json="attribution_json",
    rows=LimitedWriter(
        "attribution_rows",
        refuses=dict.fromkeys(
            ("--show-documents", "--documents"),
            "a {title} has one row per query and no documents, expected --format table or json",
        ),
    ),
)


@headings.command(epilog=_EPILOG, short_help="Show the queries and documents behind a difference.")
@click.argument("qrels")
@click.argument("runs", metavar="RUN_A RUN_B", nargs=-1, required=True)
@options.one_measure
@options.convention
@click.option(
    "--show",
    "n_queries",
    metavar="N",
    type=click.IntRange(0),
    help=f"Maximum number of queries, the worst change first.  [default: {_QUERIES} in the table, "
    "else all]",
)
@click.option(
    "--show-documents",
    "n_documents",
    metavar="N",
    type=click.IntRange(0),
    help=f"Maximum number of documents of each query.  [default: {_DOCUMENTS} in the table, else "
    "all]",
)
@options.labels_from
@text_options.shown_texts("the report")
@_FORMATS.option
@options.output
@options.inputs
@options.threads
def why(
    *,
    qrels: str,
    runs: tuple[str, ...],
    measure_text: str,
    convention_text: str,
    n_queries: int | None,
    n_documents: int | None,
    labels_from: str | None,
    texts: "TextSources",
    layout: str,
    output_path: str | None,
    inputs: input_options.Inputs,
    threads: int,
) -> None:
    """Split the difference RUN_B - RUN_A of one measure among documents and queries.

    The report begins with the contributions of documents that entered, left, moved up and moved
    down. Then come the queries, the largest loss first, with the documents behind it. The split is
    exact for nDCG, DCG, P, R and RBP. For AP, RR, ERR and others, the contribution of a document is
    the rise of the value at its rank.
    """
    if len(runs) != 2:
        raise OptionError(
            f"found {len(runs)} run{'s' * (len(runs) > 1)}, {', '.join(runs)}; expected two: "
            "idealrank why QRELS RUN_A RUN_B"
        )
    convention = options.parse_convention(convention_text)
    measures = options.parse_measure_texts([measure_text])
    if len(measures) != 1:
        raise OptionError(
            f"found {len(measures)} measures ({', '.join(map(str, measures))}), expected one"
        )
    input_options.refuse_standard_input_twice(qrels, *inputs.more_qrels, *runs, *texts.paths)
    names = input_options.run_names(runs)
    source = input_options.named_run(labels_from, "--labels-from", names, runs)

    def work(_: object) -> Attribution:
        judgments = inputs.open_qrels(qrels, convention)
        first, second = (
            inputs.open_run(path, name, qrels) for path, name in zip(runs, names, strict=True)
        )
        return attribute(
            judgments, first, second, measures[0], convention, labels_from=source, threads=threads
        )

    attribution = Watch().run(" - ".join(reversed(names)), work)
    for warning in attribution.warnings:
        console.say("warning", warning)
    if not FORMATS[layout].is_data:
        n_queries = _QUERIES if n_queries is None else n_queries
        n_documents = _DOCUMENTS if n_documents is None else n_documents
    query_texts, document_texts = _texts(attribution, texts, layout, n_queries, n_documents)
    _FORMATS.write(
        layout,
        output_path,
        attribution,
        queries=n_queries,
        documents=n_documents,
        query_texts=query_texts,
        document_texts=document_texts,
    )


def _texts(
    attribution: Attribution,
    texts: "TextSources",
    layout: str,
    n_queries: int | None,
    n_documents: int | None,
) -> tuple[dict[str, str], dict[str, str]]:
    """Read the texts of the queries and documents that the report shows."""
    if not texts.paths:
        return {}, {}
    views = _views()
    list_ids = views.ids_in_record if FORMATS[layout].is_data else views.ids_in_report
    shown = list_ids(attribution, queries=n_queries, documents=n_documents)
    tell = input_options.notes().inform
    return texts.of_queries(shown.queries, tell), texts.of_documents(shown.documents, tell)
