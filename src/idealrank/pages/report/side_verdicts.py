"""Verdicts that a page shows beside those asked for: the comparison behind a gate, and how robust
the first verdict is.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from idealrank.analysis.comparison import Comparison, compare
from idealrank.analysis.comparison.comparisons import distinct
from idealrank.analysis.comparison.label_basis import DeclaredLabels
from idealrank.analysis.comparison.query_table import unfit
from idealrank.analysis.gate import Gated
from idealrank.analysis.robustness import Robustness, VariantTest, robust
from idealrank.data.one_query import in_memory, rows_about
from idealrank.evaluation.evaluate import Evaluation
from idealrank.evaluation.sweep import JudgmentsSource
from idealrank.measures.measure import Measure
from idealrank.pages.report.material import ReportMaterial

MOST_ROWS = 4_000_000
"""Documents of both runs together, up to which a page has the robust verdict unasked; it takes some
ten seconds then.
"""


def against_baselines(
    run: Evaluation, baselines: Sequence[Evaluation], measures: Sequence[Measure], **options: object
) -> Comparison:
    """A run compared with each of its baselines: every difference is run - baseline."""
    texts = tuple(measures)
    if len(baselines) == 1:
        return compare(baselines[0], run, measures=texts, **options)  # type: ignore[arg-type]
    from_run = compare(
        *baselines,
        run,
        measures=texts,
        baseline=distinct([one.name for one in (*baselines, run)])[-1],
        **options,  # type: ignore[arg-type]
    )
    return replace(
        from_run,
        pairs=tuple(pair.reversed() for pair in from_run.pairs),
        method=replace(from_run.method, baseline=None),
    )


def with_gate(found: ReportMaterial, gated: Gated) -> ReportMaterial:
    """Add a gate and the comparison of its run with its baselines; their evaluations come first."""
    run, *baselines = found.evaluations
    if not baselines:
        return replace(found, gated=gated)
    order = [*range(1, len(found.evaluations)), 0]
    comparison = against_baselines(
        run,
        baselines,
        found.measures,
        weights=found.weights,
        clusters=found.clusters,
        threads=found.threads or None,
        judgments="different" if gated.judgments == "different" else "same",
        declared=_declared(gated, distinct([one.name for one in (*baselines, run)])),
    )
    comparison = comparison.renamed([*gated.baselines, gated.run])
    evaluations, runs, hits = (
        tuple(held[number] for number in order) if held else ()
        for held in (found.evaluations, found.runs, found.hits)
    )
    return replace(
        found, gated=gated, comparison=comparison, evaluations=evaluations, runs=runs, hits=hits
    )


def _declared(gated: Gated, names: Sequence[str]) -> DeclaredLabels:
    """Return what was declared for a gate, by the names that its baselines and then its run have in
    the comparison.
    """
    renamed = dict(zip((*gated.baselines, gated.run), names, strict=True))
    return DeclaredLabels.again(gated.labels, renamed.get(gated.labels_from or ""))


def robustness(
    found: ReportMaterial,
    judgments: "JudgmentsSource | None" = None,
    *,
    wanted: bool | None = None,
    tell: "Callable[[int, int], None] | None" = None,
) -> Robustness | None:
    """Run the robustness analysis of the leading pair by the first measure, tested like the
    comparison.
    """
    source = found.qrels if judgments is None else judgments
    if (
        wanted is False
        or source is None
        or not found.runs
        or found.comparison is None
        or not found.comparison.pairs
    ):
        return None
    measure, (a, b) = found.measures[0], found.pairs[0]
    sides = [found.runs[a], found.runs[b]]
    if unfit(measure) or (wanted is None and sum(map(rows_about, sides)) > MOST_ROWS):
        return None
    method, names = found.comparison.method, found.comparison.names
    labels_from = {names[a]: sides[0].name, names[b]: sides[1].name}.get(
        found.comparison.labels_from or ""
    )
    way = VariantTest(
        test=method.test,  # type: ignore[arg-type]
        level=method.level,
        margin=method.margin,
        weights=found.weights,
        clusters=found.clusters,
        threads=found.threads,
        declared=DeclaredLabels.again(found.comparison.labels, labels_from),
    )
    first, second = map(in_memory, sides)
    return robust(
        source, first, second, measure, found.evaluations[0].convention, way=way, tell=tell
    )
