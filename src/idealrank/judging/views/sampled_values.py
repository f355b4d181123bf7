"""Values of runs from a sample of judgments, as tables, Markdown, JSON and CSV."""

import json
from collections.abc import Iterator, Sequence

from idealrank.judging import SampledEstimate, SampledJudgments
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import Cell, Column, Table, interval_cell, number_cell
from idealrank.reports.table.forms import parts_markdown
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part, filled, wrapped
from idealrank.version import __version__


def sampled_parts(
    found: Sequence[SampledEstimate], sample: SampledJudgments, *, digits: int | None = None
) -> list[Part]:
    """A sentence and a table."""
    places = 4 if digits is None else digits
    n = len(sample.queries)
    opening = (
        f"{sample.n_sampled:,} judgments of {sample.n_pooled:,} pooled documents and {n:,} "
        f"quer{'ies' if n != 1 else 'y'}."
    )
    columns: list[Column[SampledEstimate]] = [
        Column(title="run", cell=lambda one: one.run),
        Column(title="measure", cell=lambda one: one.measure),
        Column(title="estimate", kind="number", cell=lambda one: number_cell(one.mean, places)),
        Column(
            title=_interval_title(found), kind="number", cell=lambda one: _interval(one, places)
        ),
    ]
    if any(one.sampling_se is not None for one in found):
        columns.append(
            Column(
                title="error by sampling",
                kind="number",
                cell=lambda one: number_cell(one.sampling_se, places),
            )
        )
    return [filled(opening), Table.of(columns, found), *_warnings(found, sample), _notes(found)]


def _warnings(found: Sequence[SampledEstimate], sample: SampledJudgments) -> list[Part]:
    """Warn of too few relevant documents in the sample; DCG is unbiased."""
    biased = dict.fromkeys(one.measure for one in found if one.is_biased)
    if not biased:
        return []
    text = (
        f"warning: the sample has {sample.relevant_per_query:.1f} relevant documents per "
        f"query, and none in {sample.n_without_relevant:,} "
        f"of {len(sample.queries):,} queries, which count 0. {', '.join(biased)}: up to about "
        f"{sample.shortfall:.0%} too low, with "
        "differences too small; there is no interval. Sample more documents, or estimate DCG "
        "(-m DCG), which is unbiased."
    )
    return [filled(text)]


def _interval_title(found: Sequence[SampledEstimate]) -> str:
    levels = [one.interval.level for one in found if one.interval is not None]
    return f"{100 * levels[0]:g} % interval" if levels else "interval"


def _interval(one: SampledEstimate, places: int) -> Cell:
    if one.interval is None:
        return Cell("-", None)
    return interval_cell((float(one.interval.low), float(one.interval.high)), places)


def _notes(found: Sequence[SampledEstimate]) -> list[str]:
    phrases = [
        "interval: t interval of the mean over queries, which covers the sampling of queries "
        "and of documents"
    ]
    if any(one.sampling_se is not None for one in found):
        phrases.append(
            "error by sampling: standard error by the sampling of documents alone, for these "
            "queries"
        )
    phrases.append("documents outside the pool count as not relevant")
    return ["method", *wrapped("; ".join(phrases))]


def sampled_markdown(
    found: Sequence[SampledEstimate], sample: SampledJudgments, *, digits: int | None = None
) -> str:
    """The report as Markdown."""
    return parts_markdown(sampled_parts(found, sample, digits=digits))


def sampled_json(
    found: Sequence[SampledEstimate],
    sample: SampledJudgments,
    *,
    digits: int | None = None,  # noqa: ARG001
) -> str:
    """JSON text with every query."""
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "n_pooled": sample.n_pooled,
        "n_sampled": sample.n_sampled,
        "relevant_per_query": sample.relevant_per_query,
        "queries_without_relevant": sample.n_without_relevant,
        "estimates": [one.as_dict() for one in found],
    }
    return json.dumps(record, indent=2) + "\n"


def sampled_rows(
    found: Sequence[SampledEstimate],
    sample: SampledJudgments,  # noqa: ARG001  (as the other formats)
    *,
    digits: int | None = None,  # noqa: ARG001  (all of them)
) -> Iterator[Row]:
    """Titles, and a row for each query of each estimate."""
    yield ["run", "measure", "query", "value"]
    for one in found:
        for query, value in zip(one.query_ids, one.values.tolist(), strict=True):
            yield [one.run, one.measure, query, number_text(value)]
