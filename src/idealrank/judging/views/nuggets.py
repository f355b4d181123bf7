"""Scores of answers by their nuggets, as tables, Markdown, JSON and CSV."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from idealrank.data.interchange import finite
from idealrank.evaluation.evaluate import Evaluation
from idealrank.reports.table.cells import counted
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part
from idealrank.reports.views.comparison.comparison import comparison_parts
from idealrank.reports.views.evaluation import interval_table, means_table, query_table

if TYPE_CHECKING:
    from idealrank.analysis.comparison import Comparison
    from idealrank.analysis.comparison.standings import RunMean

Means = Sequence[Mapping[str, "RunMean"]]


def nugget_parts(
    evaluations: Sequence[Evaluation],
    *,
    means: Means,
    comparison: "Comparison | None" = None,
    per_query: bool = False,
) -> list[Part]:
    """Return tables of scores with intervals, and of the differences of systems."""
    report: list[Part] = []
    if per_query:
        report += [query_table(evaluation) for evaluation in evaluations]
    report += [means_table(evaluations, means), interval_table(evaluations, means)]
    if comparison is not None:
        # the convention, the last part, says nothing about nuggets
        report += comparison_parts(comparison)[:-1]
    return [
        *report,
        [_counted(evaluation, several=len(evaluations) > 1) for evaluation in evaluations],
    ]


def _counted(evaluation: Evaluation, *, several: bool) -> str:
    cover = evaluation.coverage
    name = f"{evaluation.name}: " if several else ""
    counts = f"{name}{counted(cover.scored, 'answer')}, {counted(cover.judged, 'nugget')}"
    if not cover.no_relevant:
        return counts
    if cover.no_relevant == 1:
        return f"{counts}: 1 query has no vital nugget, and counts 0 by V and V_strict"
    return (
        f"{counts}: {cover.no_relevant:,} queries have no vital nugget, and count 0 by V and "
        "V_strict"
    )


def nugget_json(
    evaluations: Sequence[Evaluation],
    *,
    means: Means,
    comparison: "Comparison | None" = None,
    per_query: bool = False,
) -> str:
    """Return JSON text: systems with their scores, and the comparison of `idealrank compare`."""
    systems = [
        _system(evaluation, mean, per_query=per_query)
        for evaluation, mean in zip(evaluations, means, strict=True)
    ]
    record: dict[str, Any] = {"systems": systems}
    if comparison is not None:
        record["comparison"] = comparison.as_dict()
    return result_json(record, ascii_only=False)


def _system(
    evaluation: Evaluation, means: Mapping[str, "RunMean"], *, per_query: bool
) -> dict[str, Any]:
    scores = {}
    for name, mean in means.items():
        scores[name] = {"mean": mean.mean, "interval": [finite(end) for end in mean.interval]}
    record: dict[str, Any] = {
        "name": evaluation.name,
        "path": evaluation.path,
        "scores": scores,
        "answers": evaluation.coverage.scored,
        "nuggets": evaluation.coverage.judged,
        "without_vital": evaluation.coverage.no_relevant,
        "fingerprint": evaluation.provenance.judgments,
    }
    if per_query:
        record["queries"] = evaluation.per_query()
    return record


def nugget_rows(
    evaluations: Sequence[Evaluation], *, means: Means, per_query: bool = False
) -> Iterator[Row]:
    """Yield titles, and a row for each mean, or for each score of each query."""
    if per_query:
        yield ["system", "query", "score", "value"]
        for evaluation in evaluations:
            for query, values in evaluation.per_query().items():
                for name, value in values.items():
                    yield [evaluation.name, query, name, repr(value)]
        return
    yield ["system", "score", "mean", "low", "high", "answers"]
    for evaluation, mean in zip(evaluations, means, strict=True):
        for name, run_mean in mean.items():
            ends = ["" if finite(end) is None else repr(end) for end in run_mean.interval]
            yield [evaluation.name, name, repr(run_mean.mean), *ends, str(run_mean.n)]
