"""`idealrank explain`: show how the value of one query is computed, rank by rank."""

from types import ModuleType
from typing import TYPE_CHECKING

import click

from idealrank.analysis.explanation import Explanation
from idealrank.cli import headings, input_options, options, text_options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.errors import OptionError
from idealrank.inputs.explanation import explain as explain_query

if TYPE_CHECKING:
    from idealrank.inputs.text_sources import TextSources

_EPILOG = """\
Examples:

\b
  idealrank explain qrels.txt bm25.run --query q1
  idealrank explain qrels.txt bm25.run --query q1 -m AP --all
  idealrank explain qrels.txt bm25.run --query q1 -m nDCG@5 --convention sklearn --format json
  idealrank explain qrels.txt bm25.run --query q1 --documents documents.jsonl
"""


def _views() -> ModuleType:
    from idealrank.reports.views import explanation  # noqa: PLC0415  (NumPy; not for the help)

    return explanation


_FORMATS = Formats(
    "Text to read,",
    views=_views,
    table="explanation_parts",
    json="explanation_record",
)


@headings.command(
    epilog=_EPILOG, short_help="Show how the value of one query is computed, rank by rank."
)
@click.argument("qrels")
@click.argument("run")
@click.option("--query", "query_id", metavar="ID", required=True, help="Query to explain.")
@options.one_measure
@options.convention
@_FORMATS.option
@options.explain_method
@click.option("--all", "everything", is_flag=True, help="Show all ranks, also beyond the cutoff.")
@text_options.shown_texts("the report")
@options.output
@options.inputs
def explain(
    *,
    qrels: str,
    run: str,
    query_id: str,
    measure_text: str,
    convention_text: str,
    layout: str,
    everything: bool,
    texts: "TextSources",
    output_path: str | None,
    inputs: input_options.Inputs,
) -> None:
    """Explain the value of one query of RUN, rank by rank.

    The output lists each returned document with grade, gain, discount and contribution, next to the
    ideal list. It names the best swap of two documents, and the missing judged document that would
    raise the value most. MEASURE is nDCG, DCG, AP, RR, P or R.
    """
    convention = options.parse_convention(convention_text)
    measures = options.parse_measure_texts([measure_text])
    if len(measures) != 1:
        raise OptionError(
            f"found {len(measures)} measures ({', '.join(map(str, measures))}), expected one to "
            "explain"
        )
    input_options.refuse_standard_input_twice(qrels, *inputs.more_qrels, run, *texts.paths)
    (name,) = input_options.run_names([run])

    def work(_: object) -> Explanation:
        return explain_query(
            inputs.open_qrels(qrels, convention),
            inputs.open_run(run, name, qrels),
            query_id,
            measures[0],
            convention,
        )

    explanation = Watch().run(name, work)
    tell = input_options.notes().inform
    query_texts = texts.of_queries([query_id], tell)
    document_texts: dict[str, str] = {}
    if texts.documents is not None:
        shown = _views().documents_shown(explanation, everything=everything)
        document_texts = texts.of_documents(shown, tell)
    _FORMATS.write(
        layout,
        output_path,
        explanation,
        everything=everything,
        query_text=query_texts.get(query_id, ""),
        document_texts=document_texts,
    )
