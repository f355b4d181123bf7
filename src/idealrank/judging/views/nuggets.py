"""Scores of answers by their nuggets, as tables, Markdown, JSON and CSV."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from idealrank.data.interchange import finite
from idealrank.evaluation.evaluate import Evaluation
from idealrank.reports.table.cells import counted
from idealrank.reports.table.forms import parts_markdown
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part
from idealrank.reports.views.comparison.comparison import comparison_parts
from idealrank.reports.views.evaluation import interval_table, means_table, query_table
from idealrank.version import __version__

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
    """Tables: scores with intervals, and the differences of systems."""
    parts: list[Part] = [query_table(one) for one in evaluations] if per_query else []
    parts += [means_table(evaluations, means), interval_table(evaluations, means)]
    if comparison is not None:
        # the convention, the last part, says nothing about nuggets
        parts += comparison_parts(comparison)[:-1]
    return [*parts, [_counted(one, several=len(evaluations) > 1) for one in evaluations]]


def _counted(one: Evaluation, *, several: bool) -> str:
    cover, name = one.coverage, f"{one.name}: " if several else ""
    counts = f"{name}{counted(cover.scored, 'answer')}, {counted(cover.judged, 'nugget')}"
    if not cover.no_relevant:
        return counts
    has, count = ("has", "counts") if cover.no_relevant == 1 else ("have", "count")
    return (
        f"{counts}: {counted(cover.no_relevant, 'query', 'queries')} {has} no vital nugget, and "
        f"{count} 0 by V and V_strict"
    )


def nugget_markdown(
    evaluations: Sequence[Evaluation],
    *,
    means: Means,
    comparison: "Comparison | None" = None,
    per_query: bool = False,
) -> str:
    """Return the tables as Markdown."""
    return parts_markdown(
        nugget_parts(evaluations, means=means, comparison=comparison, per_query=per_query)
    )


def nugget_json(
    evaluations: Sequence[Evaluation],
    *,
    means: Means,
    comparison: "Comparison | None" = None,
    per_query: bool = False,
) -> str:
    """JSON: systems with their scores, and the comparison as `idealrank compare` has it."""
    systems = [
        _system(one, mean, per_query=per_query)
        for one, mean in zip(evaluations, means, strict=True)
    ]
    record: dict[str, Any] = {"version": __version__, "schema": SCHEMA, "systems": systems}
    if comparison is not None:
        record["comparison"] = comparison.as_dict()
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _system(one: Evaluation, means: Mapping[str, "RunMean"], *, per_query: bool) -> dict[str, Any]:
    scores = {
        name: {"mean": mean.mean, "interval": [finite(end) for end in mean.interval]}
        for name, mean in means.items()
    }
    record: dict[str, Any] = {
        "name": one.name,
        "path": one.path,
        "scores": scores,
        "answers": one.coverage.scored,
    }
    record |= {
        "nuggets": one.coverage.judged,
        "without_vital": one.coverage.no_relevant,
        "fingerprint": one.provenance.judgments,
    }
    return record | ({"queries": one.per_query()} if per_query else {})


def nugget_rows(
    evaluations: Sequence[Evaluation], *, means: Means, per_query: bool = False
) -> Iterator[Row]:
    """Titles, and a row for each mean, or for each score of each query."""
    if per_query:
        yield ["system", "query", "score", "value"]
        for one in evaluations:
            for query, values in one.per_query().items():
                yield from ([one.name, query, name, repr(value)] for name, value in values.items())
        return
    yield ["system", "score", "mean", "low", "high", "answers"]
    for one, mean in zip(evaluations, means, strict=True):
        for name, found in mean.items():
            ends = ["" if finite(end) is None else repr(end) for end in found.interval]
            yield [one.name, name, repr(found.mean), *ends, str(found.n)]
