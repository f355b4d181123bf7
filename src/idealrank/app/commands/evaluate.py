"""`idealrank evaluate`: runs against judgments, side by side."""

from collections.abc import Iterable

import click

from idealrank.app import options, output, reading
from idealrank.app.progress import Watch
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.evaluation import Evaluation
from idealrank.evaluation import evaluate as evaluate_run
from idealrank.measures.measure import Measure

_EPILOG = """\
Examples:

\b
  Two runs side by side, with the default measures:
    idealrank evaluate qrels.txt bm25.run neural.run
\b
  Chosen measures, in anybody's spelling:
    idealrank evaluate qrels.txt bm25.run -m nDCG@10,AP -m recall_100
\b
  The NDCG of another tool, and one of its switches changed:
    idealrank evaluate qrels.txt bm25.run -m nDCG@10 --convention lightgbm,ties=expected
\b
  Every query, for another program:
    idealrank evaluate qrels.txt bm25.run --per-query --format csv -o values.csv
    zcat huge.run.gz | idealrank evaluate qrels.txt - --format json
"""


@click.command(epilog=_EPILOG, short_help="Evaluate runs against judgments, side by side.")
@click.argument("qrels")
@click.argument("runs", metavar="RUN [RUN...]", nargs=-1, required=True)
@options.measures
@options.convention
@click.option("--per-query", is_flag=True, help="Values of every query, not the means alone.")
@click.option(
    "--format", "layout", type=click.Choice(["table", "json", "csv", "trec"]), default="table", show_default=True,
    help="A table for people; JSON, CSV or trec_eval's layout for programs.",
)  # fmt: skip
@click.option("--qrels", "more_qrels", metavar="FILE", multiple=True, help="A further file of judgments; may be repeated.")
@options.threads
@click.option("-o", "--output", "output_path", metavar="FILE", help="Write there; the file appears when it is complete.")
def evaluate(
    qrels: str,
    runs: tuple[str, ...],
    measure_texts: tuple[str, ...],
    convention_text: str,
    per_query: bool,
    layout: str,
    more_qrels: tuple[str, ...],
    threads: int,
    output_path: str | None,
) -> None:
    """Evaluate each RUN against the judgments in QRELS.

    The mean of each measure comes with what it covers (queries missed, documents never judged, tied scores) and the convention
    that computed it. Files may be TREC text, JSON, CSV or Parquet, plain or compressed; - is standard input.
    """
    convention = options.parse_convention(convention_text)
    measures = options.parse_measure_texts(measure_texts)
    names = reading.run_names(runs)
    watch = Watch()
    judgments = watch.run("judgments", lambda _: reading.open_qrels((qrels, *more_qrels), convention))
    evaluations = [
        _evaluate_one(watch, judgments, path, name, measures, convention, threads) for path, name in zip(runs, names, strict=True)
    ]
    output.write(_report(evaluations, layout, per_query), output_path)


def _evaluate_one(
    watch: Watch, qrels: Qrels, path: str, name: str, measures: tuple[Measure, ...], convention: Convention, threads: int
) -> Evaluation:
    return watch.run(
        name,
        lambda progress: evaluate_run(qrels, reading.open_run(path, name), measures, convention, threads=threads, progress=progress),
    )


def _report(evaluations: list[Evaluation], layout: str, per_query: bool) -> Iterable[str]:
    """Only the module of the layout asked for is loaded: JSON and CSV take as long to import as small runs take to evaluate."""
    if layout == "table":
        from idealrank.reports.text import table_report  # noqa: PLC0415

        return [table_report(evaluations, per_query=per_query)]
    from idealrank.reports import records  # noqa: PLC0415

    writers = {"json": records.json_report, "csv": records.csv_report, "trec": records.trec_report}
    return writers[layout](evaluations, per_query=per_query)
