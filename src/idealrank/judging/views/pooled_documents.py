"""Pools of documents to judge, values from samples of them, and their reuse for runs that were not
pooled, as tables, Markdown, JSON and CSV.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from idealrank.data.interchange import finite
from idealrank.judging import Pool, Reusability, RunLeftOut, SampledEstimate, SampledJudgments
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import (
    Cell,
    Column,
    Table,
    count_cell,
    counted,
    interval_cell,
    number_cell,
    share_cell,
)
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part, filled, wrapped
from idealrank.reports.views.conventions import paragraph

_SOME = 20  # documents listed
_TITLES = (
    "query",
    "document",
    "best_rank",
    "runs",
    "score",
    "stratum",
    "probability",
    "sampled",
)
_VERDICTS = {
    "reusable": "Reusable: a run of this kind that was not pooled would be ranked nearly as if it "
    "had been.",
    "reusable with care": "Reusable with care: a run of this kind that was not pooled may be "
    "ranked too low.",
    "not reusable": "Not reusable: the judgments favour runs that were pooled; judge what a new "
    "run returns before it is compared.",
    "too few runs": "No verdict: it takes at least three runs.",
}


def pool_parts(pool: Pool) -> list[Part]:
    """Return a sentence, the strata, and the first documents."""
    documents = "document" if len(pool) == 1 else "documents"
    queries = counted(len(pool.query_ids), "query", "queries")
    opening = (
        f"{pool.n_sampled:,} of {len(pool):,} pooled {documents} to judge, of {queries} in the "
        f"first {pool.depth:,} ranks of each run."
    )
    strata = [_strata(pool)] if pool.n_sampled < len(pool) else []
    return [filled(opening), *strata, _documents(pool), _pool_notes(pool)]


def _strata(pool: Pool) -> Table:
    codes = sorted(set(pool.stratum.tolist()))
    columns: list[Column[Any]] = [
        Column(title="stratum", cell=str),
        Column(
            title="best ranks",
            cell=lambda code: _span(pool.best_rank[pool.stratum == code].tolist()),
        ),
        Column(
            title="documents",
            kind="number",
            cell=lambda code: count_cell(int((pool.stratum == code).sum())),
        ),
        Column(
            title="to judge",
            kind="number",
            cell=lambda code: count_cell(int(pool.sampled[pool.stratum == code].sum())),
        ),
        Column(
            title="share",
            kind="number",
            cell=lambda code: share_cell(float(pool.sampled[pool.stratum == code].mean())),
        ),
    ]
    return Table.of(columns, codes, kept=4)


def _span(ranks: list[int]) -> str:
    return f"{min(ranks)} to {max(ranks)}"


def _documents(pool: Pool) -> Table:
    rows = [row for row in pool.rows() if row["sampled"]]
    columns: list[Column[dict[str, Any]]] = [
        Column(title="query", cell=lambda row: str(row["query"])),
        Column(title="document", cell=lambda row: str(row["document"])),
        Column(title="best rank", kind="number", cell=lambda row: count_cell(row["best_rank"])),
        Column(title="runs", kind="number", cell=lambda row: count_cell(row["runs"])),
        Column(
            title="probability", kind="number", cell=lambda row: number_cell(row["probability"], 3)
        ),
    ]
    title = "Documents to judge:"
    if len(rows) > _SOME:
        title = f"The first {_SOME} of {len(rows):,} documents to judge:"
    return Table.of(columns, rows[:_SOME], title=title, kept=2)


def _pool_notes(pool: Pool) -> list[str]:
    phrases = [
        f"order {pool.order}",
        "probability: inclusion probability of the document, which the estimates need",
        "--format csv has every pooled document, also those that are not judged",
    ]
    return ["method", *wrapped("; ".join(phrases))]


def pool_json(pool: Pool) -> str:
    """Return JSON text with every pooled document."""
    record = {
        "order": pool.order,
        "depth": pool.depth,
        "n_queries": len(pool.query_ids),
        "n_pooled": len(pool),
        "n_sampled": pool.n_sampled,
        "documents": pool.rows(),
    }
    return result_json(record)


def pool_rows(pool: Pool) -> Iterator[Row]:
    """Yield titles, and a row for each pooled document."""
    yield list(_TITLES)
    for row in pool.rows():
        cells = row | {"sampled": "true" if row["sampled"] else "false"}
        yield [str(cells[name]) for name in _TITLES]


# --- values from samples --------------------------------------------------------------------------


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
        Table.of(columns, estimates, kept=4),
        *_warnings(estimates, sample),
        _sample_notes(estimates),
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


def _sample_notes(estimates: Sequence[SampledEstimate]) -> list[str]:
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


# --- reuse ----------------------------------------------------------------------------------------


def reuse_parts(reusability: Reusability, *, digits: int | None = None) -> list[Part]:
    """Return the verdict and a table of runs."""
    places = 4 if digits is None else digits
    tau = "not defined" if finite(reusability.tau) is None else f"{reusability.tau:.2f}"
    moves = counted(reusability.largest_change, "rank")
    text = (
        f"{_VERDICTS[reusability.verdict]} Kendall's tau is {tau}. At most, a run moves by "
        f"{moves}, and its mean falls by {reusability.largest_fall:.{places}f}."
    )
    return [
        filled(text),
        _runs(reusability, places),
        _reuse_notes(reusability),
        paragraph(reusability.convention, [reusability.measure]),
    ]


def _has_groups(reusability: Reusability) -> bool:
    return any(run.group != run.run for run in reusability.runs)


def _runs(reusability: Reusability, places: int) -> Table:
    columns: list[Column[RunLeftOut]] = [Column(title="run", cell=lambda run: run.run)]
    if _has_groups(reusability):
        columns.append(Column(title="group", cell=lambda run: run.group))
    more: list[Column[RunLeftOut]] = [
        Column(title="unique", kind="number", cell=lambda run: count_cell(run.unique), rank=3),
        Column(
            title="relevant",
            kind="number",
            cell=lambda run: count_cell(run.unique_relevant),
            rank=2,
        ),
        Column(
            title=reusability.measure,
            kind="number",
            cell=lambda run: number_cell(finite(run.value), places),
        ),
        Column(
            title="left out",
            kind="number",
            cell=lambda run: number_cell(finite(run.value_without), places),
        ),
        Column(title="rank", kind="number", cell=lambda run: count_cell(run.rank), rank=1),
        Column(
            title="rank left out",
            kind="number",
            cell=lambda run: count_cell(run.rank_without),
            rank=1,
        ),
    ]
    return Table.of([*columns, *more], reusability.runs)


def _reuse_notes(reusability: Reusability) -> list[str]:
    group = "group" if _has_groups(reusability) else "run"
    phrases = [
        f"unique: judged documents of this run that no other {group} returns in the first "
        f"{reusability.depth:,} ranks",
        "relevant: those above grade 0",
        f"left out: all runs evaluated without the judgments of all documents that only this "
        f"{group} returns",
        "reusable: tau of at least 0.9, and no run moves by more than a tenth of the runs (or one "
        "rank); with care: tau of at least 0.8",
    ]
    return ["method", *wrapped("; ".join(phrases))]


def reuse_json(reusability: Reusability) -> str:
    """Return JSON text."""
    convention = reusability.convention
    record = {"name": convention.name, "fingerprint": convention.fingerprint}
    return result_json({"convention": record} | reusability.as_dict())


def reuse_rows(reusability: Reusability) -> Iterator[Row]:
    """Yield titles, and a row for each run."""
    yield [
        "run",
        "group",
        "measure",
        "unique",
        "unique_relevant",
        "value",
        "value_without",
        "rank",
        "rank_without",
    ]
    for run in reusability.runs:
        yield [
            run.run,
            run.group,
            reusability.measure,
            str(run.unique),
            str(run.unique_relevant),
            number_text(run.value),
            number_text(run.value_without),
            str(run.rank),
            str(run.rank_without),
        ]
