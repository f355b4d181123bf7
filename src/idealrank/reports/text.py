"""The table of `idealrank evaluate`: runs side by side, under it the convention in words and what the numbers cover."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from idealrank.coverage import Coverage
from idealrank.evaluation import Evaluation
from idealrank.measures.measure import Measure
from idealrank.reports.layout import columns, fitted
from idealrank.reports.words import paragraph

if TYPE_CHECKING:
    from idealrank.verdict import RunMean

_SOME = 5


def table_report(evaluations: Sequence[Evaluation], *, per_query: bool = False, intervals: "Sequence[Mapping[str, RunMean]]" = ()) -> str:
    """The whole report.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        One per run, of the same measures and convention.
    per_query : bool
        Values of each query above the means.
    intervals : sequence of mapping of str to RunMean
        Of each evaluation, what `verdict.means.intervals` says; none where nobody asked.

    Examples
    --------
    >>> import idealrank as ir
    >>> print(table_report([ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"])]).splitlines()[1])
    run 1.0000
    """
    parts = [_per_query(evaluation) for evaluation in evaluations] if per_query else []
    parts += [_means(evaluations), *([_intervals(evaluations, intervals)] if intervals else [])]
    parts += [paragraph(evaluations[0].convention, map(str, evaluations[0].measures)), _coverage(evaluations)]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _means(evaluations: Sequence[Evaluation]) -> list[str]:
    """Runs as rows; measures as rows where their names are too many for the width."""
    measures = evaluations[0].measures
    means = [evaluation.mean() for evaluation in evaluations]
    texts = [[_number(measure, mean[str(measure)]) for measure in measures] for mean in means]
    best = [_best(measure, [mean[str(measure)] for mean in means]) for measure in measures]
    marked = [[text + ("*" if run in best[m] else " ") for m, text in enumerate(row)] for run, row in enumerate(texts)]
    rows = [["run", *(f"{measure} " for measure in measures)], *([e.name, *row] for e, row in zip(evaluations, marked, strict=True))]
    lines = fitted(rows, gap=" ")
    if any(best):
        lines.append("* the best of each measure")
    return lines


def _intervals(evaluations: Sequence[Evaluation], found: "Sequence[Mapping[str, RunMean]]") -> list[str]:
    """As `_means`; a dash where a measure is no mean, or has no finite interval."""
    measures = [str(measure) for measure in evaluations[0].measures]
    rows = [["95 % interval", *measures]]
    for evaluation, means in zip(evaluations, found, strict=True):
        ends = [means[measure].interval if measure in means else (math.nan, math.nan) for measure in measures]
        rows.append([evaluation.name, *(f"[{low:.4f}, {high:.4f}]" if math.isfinite(high - low) else "-" for low, high in ends)])
    return fitted(rows)


def _best(measure: Measure, values: Sequence[float]) -> set[int]:
    """Which runs have the best value; none when there is nothing to compare, or all are the same."""
    known = [value * measure.direction for value in values if not math.isnan(value)]
    if measure.direction == 0 or len(known) < 2 or min(known) == max(known):
        return set()
    return {run for run, value in enumerate(values) if value * measure.direction == max(known)}


def _number(measure: Measure, value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if measure.aggregate == "sum" else f"{value:.4f}"


def _per_query(evaluation: Evaluation) -> list[str]:
    rows = [[evaluation.name, *map(str, evaluation.measures)]]
    for query, values in evaluation.per_query().items():
        rows.append(
            [query, *("-" if value is None else _number(m, value) for m, value in zip(evaluation.measures, values.values(), strict=True))]
        )
    return columns(rows)


def _coverage(evaluations: Sequence[Evaluation]) -> list[str]:
    """Counts that always stand there, and those that are 0 for most people only where they are not."""
    covers = [evaluation.coverage for evaluation in evaluations]
    heads = [_counts(cover) for cover in covers]
    shown = [name for name in heads[0] if name in _ALWAYS or any(head[name] not in ("0", "0.0%") for head in heads)]
    depth = covers[0].unjudged_cutoff
    titles = [f"unjudged@{depth}" if name == "unjudged" and depth else name for name in shown]
    rows = [["coverage", *titles], *([e.name, *(head[name] for name in shown)] for e, head in zip(evaluations, heads, strict=True))]
    return [*fitted(rows), *(note for evaluation in evaluations for note in _notes(evaluation))]


_ALWAYS = ("scored", "in qrels", "missing", "no relevant", "unjudged")


def _counts(cover: Coverage) -> dict[str, str]:
    return {
        "scored": f"{cover.scored:,}",
        "in qrels": f"{cover.queries_in_qrels:,}",
        "missing": f"{cover.missing:,}",
        "not judged": f"{cover.without_judgments:,}",
        "no relevant": f"{cover.no_relevant:,}",
        "unjudged": f"{cover.unjudged_share:.1%}",
        "tied queries": f"{cover.tied_queries:,}",
        "tied docs": f"{cover.tied_documents:,}",
        "duplicates": f"{cover.duplicates:,}",
        "cut grades": f"{cover.truncated_grades:,}",
        "out of range": f"{cover.out_of_range:,}",
    }


def _notes(evaluation: Evaluation) -> list[str]:
    missing = evaluation.coverage.missing_queries
    if not len(missing):
        return []
    some = ", ".join(list(missing)[:_SOME]) + (", ..." if len(missing) > _SOME else "")
    fate = {"zero": "each counted 0", "left-out": "left out"}.get(evaluation.convention.alignment.missing, "")
    return [f"{evaluation.name} misses {len(missing):,} of {evaluation.coverage.queries_in_qrels:,} judged queries, {fate}: {some}"]
