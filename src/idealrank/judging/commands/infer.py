"""`idealrank judge infer`: values of runs from a sample of judgments."""

from types import ModuleType
from typing import Any

import click

from idealrank.cli import headings, input_options, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.conventions import Convention
from idealrank.data.run import Run
from idealrank.errors import OptionError, shown
from idealrank.judging import SampledEstimate, SampledJudgments, sampled_estimate
from idealrank.judging.commands import label_options
from idealrank.judging.commands.input_files import read_runs
from idealrank.judging.files.pool_files import read_pool_rows
from idealrank.judging.sampled_judgments import SAMPLED_MEASURES

_EPILOG = """\
Examples:

\b
  A sample of idealrank judge pool, and the judgments of its sampled documents:
    idealrank judge infer sample.csv bm25.run --qrels labels.txt
\b
  The difference of two runs, unbiased:
    idealrank judge infer sample.csv bm25.run neural.run --qrels labels.txt -m DCG --cutoff 10
\b
  TREC's sampled judgments, lines QUERY 0 DOCUMENT STRATUM GRADE:
    idealrank judge infer qrels-sampleval.txt neural.run -m infNDCG,xinfAP

\b
Measures: xinfAP and infNDCG as sample_eval.pl, infAP, statAP as statAP_MQ_eval, and DCG (Horvitz-Thompson, unbiased). With the grades
of a model for all documents, `idealrank judge correct --by documents` gives the difference estimator.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.judging.views import pooled_documents  # noqa: PLC0415  (NumPy; not for the help)

    return pooled_documents


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="sampled_parts",
    json="sampled_json",
    rows="sampled_rows",
    markdown="sampled_parts",
)


@headings.command(epilog=_EPILOG, short_help="Estimate values of runs from a sample of judgments.")
@click.argument("sample")
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN_B]")
@click.option(
    "--qrels",
    "qrels_path",
    metavar="FILE",
    cls=options.OnceOption,
    help="Judgments of the sampled documents.  [default: the grades in SAMPLE]",
)
@click.option(
    "-m",
    "--measure",
    "measure_texts",
    metavar="MEASURE",
    multiple=True,
    shell_complete=options.completing(SAMPLED_MEASURES),
    help=f"{', '.join(SAMPLED_MEASURES)}; repeat, or separate with commas.  [default: "
    f"infNDCG,xinfAP,statAP]",
)
@click.option(
    "--cutoff",
    metavar="K",
    type=click.IntRange(1),
    help="Ranks that count, of DCG.  [default: 1000]",
)
@label_options.level
@options.convention
@options.digits
@_FORMATS.option
@options.output
@options.labels
@options.run_inputs
def infer(
    *,
    sample: str,
    runs: tuple[str, ...],
    qrels_path: str | None,
    measure_texts: tuple[str, ...],
    cutoff: int | None,
    confidence: float,
    convention_text: str,
    digits: int | None,
    layout: str,
    output_path: str | None,
    labels_text: str,
    inputs: input_options.Inputs,
) -> None:
    """Estimate the values of RUN from the judgments of a sample of pooled documents.

    SAMPLE has every pooled document with its stratum and inclusion probability. With RUN_B, the
    output has both runs, and the difference RUN_B - RUN.
    """
    if len(runs) > 2:
        raise click.UsageError(f"found {len(runs)} runs, expected one, or two to compare")
    names_given = [name.strip() for text in measure_texts for name in text.split(",")]
    measures = [name for name in names_given if name] or ["infNDCG", "xinfAP", "statAP"]
    for name in measures:
        if name not in SAMPLED_MEASURES:
            raise OptionError(f"-m {shown(name)}: expected one of {', '.join(SAMPLED_MEASURES)}")
    if cutoff is not None and measures != ["DCG"]:
        raise OptionError("--cutoff: found it with measures that take none, expected -m DCG alone")
    input_options.refuse_standard_input_twice(
        sample, *runs, *([] if qrels_path is None else [qrels_path])
    )
    options.refuse_to_replace(output_path, (sample, *runs, qrels_path))
    convention = options.parse_convention(convention_text)
    watch = Watch()
    labelled = inputs._replace(labels_text=labels_text)
    judged = watch.run("sample", lambda _: _judged(sample, qrels_path, labelled, convention))
    opened = read_runs(inputs, runs, watch)

    def estimate(name: Any, run: Run, against: Run | None = None) -> SampledEstimate:
        return sampled_estimate(
            judged,
            run,
            name,
            against=against,
            cutoff=cutoff,
            level=confidence,
            convention=convention,
        )

    def estimated(name: Any) -> list[SampledEstimate]:
        of_runs = [estimate(name, run) for run in opened]
        if len(opened) == 2:
            run, other = opened
            of_runs.append(estimate(name, other, against=run))
        return of_runs

    estimates = watch.run(
        "estimates", lambda _: [row for name in measures for row in estimated(name)]
    )
    _FORMATS.write(layout, output_path, estimates, sample=judged, digits=digits)


def _judged(
    sample: str, qrels: str | None, inputs: input_options.Inputs, convention: Convention
) -> SampledJudgments:
    """Join the sample with its judgments."""
    rows = read_pool_rows(sample)
    if qrels is None:
        lacking = next((row for row in rows if row.sampled and row.grade is None), None)
        if lacking is not None:
            raise OptionError(
                f"{sample}: found no grades in it, expected --qrels FILE with the judgments of the "
                "sampled documents"
            )
        return SampledJudgments.of_rows(
            [(row.query, row.document, row.stratum, row.grade) for row in rows]
        )
    return SampledJudgments.of_drawn(
        rows, inputs._replace(more_qrels=()).open_qrels(qrels, convention)
    )
