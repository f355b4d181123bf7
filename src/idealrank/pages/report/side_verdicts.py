"""Further verdicts of a page: the comparison behind a gate, and the robustness of the first
verdict.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from idealrank.analysis.comparison import Comparison, Study, StudyOptions, compared
from idealrank.analysis.comparison.comparisons import distinct
from idealrank.analysis.comparison.label_basis import DeclaredLabels
from idealrank.analysis.comparison.query_table import unfit
from idealrank.analysis.gate import Gated
from idealrank.analysis.robustness import Robustness, VariedComparison, robust_runs
from idealrank.data.one_query import in_memory, rows_about
from idealrank.evaluation.evaluate import Evaluation
from idealrank.evaluation.sweep import JudgmentsSource
from idealrank.measures.measure import Measure
from idealrank.pages.report.material import ReportMaterial

MOST_ROWS = 4_000_000
"""Documents of both runs together, up to which a page has the robust verdict by default; it takes
about ten seconds then.
"""


def against_baselines(
    run: Evaluation,
    baselines: Sequence[Evaluation],
    measures: Sequence[Measure],
    options: StudyOptions,
) -> Comparison:
    """Compare a run with each of its baselines: every difference is run - baseline."""
    study = Study.of([*baselines, run], measures, options)
    if len(baselines) == 1:
        return compared(study)
    # The run is the baseline of the comparison, so that every other evaluation is paired with it;
    # the pairs are turned afterwards.
    from_run = compared(study, baseline=study.names[-1])
    pairs = tuple(pair.reversed() for pair in from_run.pairs)
    return replace(from_run, pairs=pairs, method=replace(from_run.method, baseline=None))


def _names(run: Evaluation, baselines: Sequence[Evaluation]) -> tuple[str, ...]:
    """Distinct names of the baselines, and then of the run."""
    return distinct([evaluation.name for evaluation in (*baselines, run)])


def with_gate(material: ReportMaterial, gated: Gated) -> ReportMaterial:
    """Add a gate and the comparison of its run with its baselines; their evaluations come first."""
    run, *baselines = material.evaluations
    if not baselines:
        return replace(material, gated=gated)
    options = StudyOptions(
        weights=material.weights,
        clusters=material.clusters,
        threads=material.threads or None,
        judgments="different" if gated.judgments == "different" else "same",
        declared=_declared(gated, _names(run, baselines)),
    )
    comparison = against_baselines(run, baselines, material.measures, options)
    comparison = comparison.renamed([*gated.baselines, gated.run])
    return replace(
        material,
        gated=gated,
        comparison=comparison,
        evaluations=(*baselines, run),
        runs=_first_to_end(material.runs),
        hits=_first_to_end(material.hits),
    )


def _first_to_end(of_runs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Move the first run's part to the end: a comparison has the run of a gate last."""
    return (*of_runs[1:], *of_runs[:1])


def _declared(gated: Gated, names: Sequence[str]) -> DeclaredLabels:
    """Return what was declared for a gate, by the names that its baselines and then its run have in
    the comparison.
    """
    renamed = dict(zip((*gated.baselines, gated.run), names, strict=True))
    return DeclaredLabels.again(gated.labels, renamed.get(gated.labels_from or ""))


def robustness(
    material: ReportMaterial,
    judgments: "JudgmentsSource | None" = None,
    *,
    wanted: bool | None = None,
    tell: "Callable[[int, int], None] | None" = None,
) -> Robustness | None:
    """Run the robustness analysis of the leading pair by the first measure, tested like the
    comparison.
    """
    source, comparison = material.qrels if judgments is None else judgments, material.comparison
    if wanted is False or source is None or not material.runs:
        return None
    if comparison is None or not comparison.pairs:
        return None
    measure, (a, b) = material.measures[0], material.pairs[0]
    run_a, run_b = material.runs[a], material.runs[b]
    if unfit(measure) or (wanted is None and rows_about(run_a) + rows_about(run_b) > MOST_ROWS):
        return None
    method, names = comparison.method, comparison.names
    # the runs may have other names than in the comparison
    own_names = {names[a]: run_a.name, names[b]: run_b.name}
    labels_from = own_names.get(comparison.labels_from or "")
    options = StudyOptions(
        test=method.test,  # type: ignore[arg-type]
        level=method.level,
        margin=method.margin,
        weights=material.weights,
        clusters=material.clusters,
        threads=material.threads,
        declared=DeclaredLabels.again(comparison.labels, labels_from),
    )
    convention = material.evaluations[0].convention
    varied = VariedComparison(measure=measure, convention=convention, options=options)
    return robust_runs(source, (in_memory(run_a), in_memory(run_b)), varied, tell=tell)
