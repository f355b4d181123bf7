"""Values of runs from a sample of judgments, as tables, Markdown, JSON and CSV."""

from collections.abc import Iterator, Sequence

from idealrank.judging import SampledEstimate, SampledJudgments
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import Cell, Column, Table, interval_cell, number_cell
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part, filled, wrapped


def sampled_parts(
    estimates: Sequence[SampledEstimate], *, sample: SampledJudgments, digits: int | None = None
) -> list[Part]:
    """Return a sentence, a table, and warnings."""
    places = 4 if digits is None else digits
    n = len(sample.queries)
    opening = (
        f"{sample.n_sampled:,} judgments of {sample.n_pooled:,} pooled documents and {n:,} "
        f"quer{'ies' if n != 1 else 'y'}."
    )
    columns: list[Column[SampledEstimate]] = [
        Column(title="run", cell=lambda estimate: estimate.run),
        Column(title="measure", cell=lambda estimate: estimate.measure),
        Column(
            title="estimate",
            kind="number",
            cell=lambda estimate: number_cell(estimate.mean, places),
        ),
        Column(
            title=_interval_title(estimates),
            kind="number",
            cell=lambda estimate: _interval(estimate, places),
        ),
    ]
    if any(estimate.sampling_se is not None for estimate in estimates):
        columns.append(
            Column(
                title="error by sampling",
                kind="number",
                cell=lambda estimate: number_cell(estimate.sampling_se, places),
            )
        )
    return [
        filled(opening),
        Table.of(columns, estimates),
        *_warnings(estimates, sample),
        _notes(estimates),
    ]


def _warnings(estimates: Sequence[SampledEstimate], sample: SampledJudgments) -> list[Part]:
    """Warn of too few relevant documents in the sample; DCG is unbiased."""
    biased = dict.fromkeys(estimate.measure for estimate in estimates if estimate.is_biased)
    if not biased:
        return []
    text = (
        f"warning: the sample has {sample.relevant_per_query:.1f} relevant documents per query, "
        f"and none in {sample.n_without_relevant:,} of {len(sample.queries):,} queries, which "
        f"count 0. {', '.join(biased)}: up to about {sample.shortfall:.0%} too low, with "
        "differences too small; there is no interval. Sample more documents, or estimate DCG (-m "
        "DCG), which is unbiased."
    )
    return [filled(text)]


def _interval_title(estimates: Sequence[SampledEstimate]) -> str:
    levels = [estimate.interval.level for estimate in estimates if estimate.interval is not None]
    return f"{100 * levels[0]:g} % interval" if levels else "interval"


def _interval(estimate: SampledEstimate, places: int) -> Cell:
    if estimate.interval is None:
        return Cell("-", None)
    return interval_cell((float(estimate.interval.low), float(estimate.interval.high)), places)


def _notes(estimates: Sequence[SampledEstimate]) -> list[str]:
    phrases = [
        "interval: t interval of the mean over queries, which covers the sampling of queries and "
        "of documents"
    ]
    if any(estimate.sampling_se is not None for estimate in estimates):
        phrases.append(
            "error by sampling: standard error by the sampling of documents alone, for these "
            "queries"
        )
    phrases.append("documents outside the pool count as not relevant")
    return ["method", *wrapped("; ".join(phrases))]


def sampled_json(estimates: Sequence[SampledEstimate], *, sample: SampledJudgments) -> str:
    """Return JSON text with every query."""
    record = {
        "n_pooled": sample.n_pooled,
        "n_sampled": sample.n_sampled,
        "relevant_per_query": sample.relevant_per_query,
        "queries_without_relevant": sample.n_without_relevant,
        "estimates": [estimate.as_dict() for estimate in estimates],
    }
    return result_json(record)


def sampled_rows(estimates: Sequence[SampledEstimate]) -> Iterator[Row]:
    """Yield titles, and a row for each query of each estimate."""
    yield ["run", "measure", "query", "value"]
    for estimate in estimates:
        for query, value in zip(estimate.query_ids, estimate.values.tolist(), strict=True):
            yield [estimate.run, estimate.measure, query, number_text(value)]
