"""`idealrank judge correct`: values of runs from a few human labels and many labels of a judge."""

from types import ModuleType
from typing import Any

import click

from idealrank.cli import headings, input_options, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.data.run import Run
from idealrank.errors import OptionError
from idealrank.io.query_files import read_clusters
from idealrank.judging import correct_documents, correct_run
from idealrank.judging.commands import label_options
from idealrank.judging.commands.input_files import JudgeFiles
from idealrank.judging.views.correction import CorrectedValue

_EPILOG = """\
Examples:

\b
  People labelled 40 queries, a model labelled these and 400 more:
    idealrank judge correct human.qrels --judge-qrels model=model.qrels bm25.run
\b
  Is the neural run better? The difference is corrected query by query:
    idealrank judge correct human.qrels --judge-qrels model=model.qrels bm25.run neural.run
\b
  People graded a random sample of documents, drawn within each grade of the judge:
    idealrank judge correct sample.qrels --judge-qrels model=model.qrels neural.run -m DCG@10 --by documents
\b
  Documents were sampled with other probabilities, in lines QUERY 0 DOCUMENT PROBABILITY:
    idealrank judge correct sample.qrels --judge-qrels model=model.qrels neural.run -m DCG@10 --by documents --probability p.txt

The grades of a model alone give a biased value, with an interval that is far too narrow. The
corrected value is nearly unbiased for every model, if the human-labelled queries (or documents)
were chosen at random. A bad model does no harm: its weight goes to 0, and the human labels decide.
A model that agrees on every human-labelled query is refused: its errors are unknown. `worth` is the
number of human labels that alone would give the same standard error.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.judging.views import correction  # noqa: PLC0415  (NumPy; not for the help)

    return correction


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="corrected_parts",
    json="corrected_json",
    rows="corrected_rows",
    markdown="corrected_parts",
)


@headings.command(
    epilog=_EPILOG,
    short_help="Correct the values that a judge gives runs, with a few human labels.",
)
@click.argument("qrels", metavar="HUMAN")
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN_B]")
@label_options.judges
@label_options.tables
@label_options.measure
@options.convention
@click.option(
    "--by",
    type=click.Choice(["queries", "documents"]),
    default="queries",
    show_default=True,
    help="What people labelled: whole queries, or a sample of documents (only DCG and nDCG).",
)
@click.option(
    "--probability",
    "probability_path",
    metavar="FILE",
    help="Sampling probability of each document, in the format of judgments.",
)
@click.option(
    "--weight",
    metavar="W",
    type=click.FloatRange(0, 1),
    help="Weight of the judge.  [default: the weight with the smallest standard error; 1 with --by "
    "documents]",
)
@click.option(
    "--largest-error",
    metavar="E",
    type=click.FloatRange(0),
    help="Largest error of the judge on one query, seen or not.  [default: range of the values]",
)
@label_options.clusters
@label_options.level
@options.digits
@_FORMATS.option
@options.output
@options.inputs
def correct(
    *,
    qrels: str,
    runs: tuple[str, ...],
    judge_texts: tuple[str, ...],
    table_texts: tuple[str, ...],
    measure_text: str,
    convention_text: str,
    by: str,
    probability_path: str | None,
    weight: float | None,
    largest_error: float | None,
    cluster_path: str | None,
    confidence: float,
    digits: int | None,
    layout: str,
    output_path: str | None,
    inputs: input_options.Inputs,
) -> None:
    """Correct the value that a judge gives RUN, with human labels of some queries or documents.

    HUMAN contains the labels of people. Each judge labelled the same queries or documents, and
    more. With RUN_B, the report has both runs, and the difference RUN_B - RUN.
    """
    if len(runs) > 2:
        raise click.UsageError(f"found {len(runs)} runs, expected one, or two to compare")
    if by == "queries" and probability_path is not None:
        raise OptionError("--probability: found it with --by queries, expected --by documents")
    if by == "documents" and cluster_path is not None:
        raise OptionError(
            "--cluster: found it with --by documents, which takes queries as its clusters; "
            "expected --by queries"
        )
    if by == "documents" and largest_error is not None:
        raise OptionError(
            "--largest-error: found it with --by documents, whose weight is not tuned; expected "
            "--by queries"
        )
    files = JudgeFiles.of(
        qrels,
        judges=judge_texts,
        runs=runs,
        tables=table_texts,
        inputs=inputs,
        output=output_path,
        others=(cluster_path, probability_path),
    )
    convention = options.parse_convention(convention_text)
    watch = Watch()
    human, labels, systems = files.read(convention, watch)
    chances = inputs.open_judge(probability_path, convention)
    clusters = None if cluster_path is None else read_clusters(cluster_path)
    *baselines, run = systems.values()
    against = baselines[0] if baselines else None
    shared: dict[str, Any] = {"convention": convention, "confidence": confidence}

    def by_queries(name: str) -> list[CorrectedValue]:
        corrected_run = correct_run(
            human,
            labels[name],
            run,
            measure_text,
            against=against,
            clusters=clusters,
            weight=weight,
            largest_error=largest_error,
            **shared,
        )
        rows = (*corrected_run.sides, corrected_run)
        return [CorrectedValue.of_run(name, row) for row in rows]

    def by_documents(name: str) -> list[CorrectedValue]:
        def row(side: Run, other: Run | None = None) -> CorrectedValue:
            value = correct_documents(
                human,
                labels[name],
                side,
                measure_text,
                against=other,
                probability=chances,
                weight=1.0 if weight is None else weight,
                **shared,
            )
            other_name = "" if other is None else other.name
            return CorrectedValue.of_documents(name, side.name, other_name, value)

        return [row(run)] if against is None else [row(against), row(run), row(run, against)]

    corrected = by_queries if by == "queries" else by_documents
    by_judge = watch.run("corrected", lambda _: [corrected(name) for name in labels])
    # run by run, and within a run judge by judge
    values = [value for row in zip(*by_judge, strict=True) for value in row]
    _FORMATS.write(layout, output_path, values, digits=digits)
