"""`idealrank robust`: repeat a comparison under other conventions, cutoffs and measures."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from types import ModuleType

import click

from idealrank.analysis.comparison.label_basis import DeclaredLabels
from idealrank.analysis.comparison.study import StudyOptions
from idealrank.analysis.robustness import VariedComparison
from idealrank.cli import headings, input_options, options
from idealrank.cli.comparison_options import LARGEST_LOSS
from idealrank.cli.options import query_files
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels, QrelsDuplicates
from idealrank.data.run import Run
from idealrank.data.types import Progress
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import evaluate_read as evaluate
from idealrank.inputs.robustness import robust_runs
from idealrank.io.query_files import QueryFiles
from idealrank.measures.measure import Measure
from idealrank.stats.comparison import TESTS
from idealrank.stats.special import load_special

_EPILOG = """\
Examples:

\b
  Would the verdict be the same with another gain, cutoff, tie rule, or another tool's NDCG?
    idealrank robust qrels.txt bm25.run neural.run
\b
  Choose the primary measure and the changes; a comma combines two changes:
    idealrank robust qrels.txt bm25.run neural.run -m AP --try rel --try ties
    idealrank robust qrels.txt bm25.run neural.run --try gain=exp2,cutoff=5 --try lightgbm
\b
  Every variant, as CSV:
    idealrank robust qrels.txt bm25.run neural.run --format csv -o variants.csv

p values are not corrected. The analysis shows how much a verdict depends on choices; do not use it
to pick a favourable variant.
"""


def _views() -> ModuleType:
    from idealrank.reports.views import robustness  # noqa: PLC0415  (NumPy; not for the help)

    return robustness


_FORMATS = Formats(
    "A grid to read;",
    views=_views,
    table="robust_parts",
    json="robust_json",
    rows="robust_rows",
)


@headings.command(
    epilog=_EPILOG, short_help="Repeat a comparison under other conventions, cutoffs and measures."
)
@click.argument("qrels")
@click.argument("runs", metavar="RUN_A RUN_B", nargs=-1, required=True)
@click.option(
    "-m",
    "--measure",
    "measure_text",
    metavar="MEASURE",
    cls=options.OnceOption,
    default="nDCG@10",
    show_default=True,
    help="Primary measure.",
)
@options.convention
@click.option(
    "--try",
    "changes",
    metavar="CHANGE",
    multiple=True,
    help="Variants to try: a group (gain, discount, cutoff, rel, ties, ..., measure, preset), a "
    "change (ties=worst), a convention or a measure; may be repeated.",
)
@click.option(
    "--pairs",
    metavar="N",
    type=click.IntRange(0, 16),
    default=8,
    show_default=True,
    help="If no single switch changes the verdict, try all pairs of the N switches that cost the "
    "leader most.",
)
@click.option(
    "--test",
    type=click.Choice(TESTS),
    default=TESTS[0],
    show_default=True,
    help="Test behind p values and intervals, as for `idealrank compare`.",
)
@click.option(
    "--margin",
    metavar="X",
    type=float,
    help="Also test equivalence within ±X, in units of the measure.",
)
@LARGEST_LOSS
@options.labels_from
@query_files
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0),
    help="Random seed; derived from the data by default.",
)
@_FORMATS.option
@options.more
@options.explain_method
@options.output
@options.inputs
@options.threads
def robust(
    *,
    qrels: str,
    runs: tuple[str, ...],
    measure_text: str,
    convention_text: str,
    changes: tuple[str, ...],
    pairs: int,
    test: str,
    margin: float | None,
    largest_loss: float | None,
    labels_from: str | None,
    files: QueryFiles,
    seed: int | None,
    layout: str,
    output_path: str | None,
    inputs: input_options.Inputs,
    threads: int,
) -> None:
    """Repeat the comparison of RUN_A and RUN_B in other ways, and name the changes of the verdict.

    The command changes each switch of the convention (gain, discount, ideal, ties, unjudged
    documents, unanswered queries, ...), the cutoff and the threshold. It also tries the convention
    of each known tool, and other measures.
    """
    convention = options.parse_convention(convention_text)
    measure = _checked(runs, measure_text)
    input_options.refuse_standard_input_twice(qrels, *inputs.more_qrels, *runs, *files.paths)
    load_special()
    names = input_options.run_names(runs)
    of_queries = files.read(input_options.notes().inform)
    watch = Watch()
    judgments = _judgments(inputs, qrels, convention)

    def opened(path: str, name: str, progress: Progress) -> tuple[Run, Evaluation]:
        run = inputs.open_run(path, name, qrels)
        policy = convention.alignment.duplicates
        judged = judgments("error" if policy == "twice" else policy)
        return run, evaluate(judged, run, measure, convention, threads=threads, progress=progress)

    opened_runs = [
        watch.run(name, partial(opened, path, name)) for path, name in zip(runs, names, strict=True)
    ]
    (first, _), (second, _) = opened_runs
    for path, (_, evaluation) in zip(runs, opened_runs, strict=True):
        input_options.doubt(evaluation, path)
    of_queries.check([evaluation for _, evaluation in opened_runs])
    source = input_options.named_run(labels_from, "--labels-from", names, runs)
    study_options = StudyOptions(
        test=test,  # type: ignore[arg-type]
        margin=margin,
        largest_loss=largest_loss,
        declared=DeclaredLabels(labels_from=source),
        weights=of_queries.weights,
        clusters=of_queries.clusters,
        rng=seed,
        threads=threads,
    )
    varied = VariedComparison(
        measure=measure,
        convention=convention,
        variants=[text for text in changes if text.strip()] or None,
        pairs=pairs,
        options=study_options,
    )
    compared = partial(robust_runs, judgments, (first, second), varied)
    robustness = watch.count("variants", lambda tell: compared(tell=tell))
    from idealrank.reports.views.comparison.phrases import Asked  # noqa: PLC0415  (not for the help)

    origin = Asked(
        command=True,
        qrels=qrels,
        paths=dict(zip(names, runs, strict=True)),
        options=("-m", str(measure), *inputs.words(convention_text)),
    )
    _FORMATS.write(layout, output_path, robustness, origin=origin)


def _checked(runs: Sequence[str], measure_text: str) -> Measure:
    """Return the only measure; refuse several, and other than two runs."""
    if len(runs) != 2:
        some = f"{len(runs)} run{'s' * (len(runs) > 1)}, {', '.join(runs)}"
        raise OptionError(f"found {some}; expected two: idealrank robust QRELS RUN_A RUN_B")
    measures = options.parse_measure_texts([measure_text])
    if len(measures) != 1:
        raise OptionError(
            f"found {len(measures)} measures ({', '.join(map(str, measures))}), expected one, the "
            "primary measure"
        )
    return measures[0]


def _judgments(
    inputs: input_options.Inputs, path: str, convention: Convention
) -> Callable[[QrelsDuplicates], Qrels]:
    """Return a function that reads the judgments under a policy for documents judged twice, each
    once; standard input is read here.
    """
    if path == "-":
        once = inputs.open_qrels(path, convention)
        return lambda _policy: once

    @cache
    def read(policy: QrelsDuplicates) -> Qrels:
        return inputs.open_qrels(path, Convention.of("standard", duplicates=policy))

    return read
