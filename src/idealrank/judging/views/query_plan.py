"""Queries to label, with the cost of their labels and the precision, as tables, Markdown, JSON and
CSV.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from idealrank.judging import LabelBudget, QuerySample, QueryStratum
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import Cell, Column, Table, count_cell, number_cell, share_cell
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part, filled, wrapped

_SOME = 15  # queries listed
_NAMES = ("query", "stratum", "requests", "probability", "weight")


def query_parts(sample: QuerySample, *, plans: Sequence[LabelBudget], sd: float) -> list[Part]:
    """Return a sentence, strata, costs and queries."""
    n = len(sample.query_ids)
    opening = (
        f"{n:,} quer{'ies' if n != 1 else 'y'} to label. Weights sum to the traffic of "
        f"{sample.traffic_total:,.10g} requests; they raise the variance of a mean by the factor "
        f"{sample.design_effect:.2f}."
    )
    costs = [_plans(sample, plans)] if plans else []  # one query has no precision
    return [
        filled(opening),
        _strata(sample),
        *costs,
        _queries(sample),
        _notes(sd if plans else None),
    ]


def _strata(sample: QuerySample) -> Table:
    columns: list[Column[QueryStratum]] = [
        Column(title="stratum", cell=lambda stratum: stratum.name),
        Column(title="queries", kind="number", cell=lambda stratum: count_cell(stratum.n_queries)),
        Column(
            title="traffic", kind="number", cell=lambda stratum: share_cell(stratum.traffic_share)
        ),
        Column(title="sampled", kind="number", cell=lambda stratum: count_cell(stratum.n_sampled)),
    ]
    return Table.of(columns, sample.strata)


def _plans(sample: QuerySample, plans: Sequence[LabelBudget]) -> Table:
    def size_cell(plan: LabelBudget) -> Cell:
        is_sample = plan.n_queries == len(sample.query_ids)
        return Cell(f"{plan.n_queries:,}", plan.n_queries, mark="*" if is_sample else "")

    columns: list[Column[LabelBudget]] = [
        Column(title="queries", kind="number", cell=size_cell),
        Column(title="labels", kind="number", cell=lambda plan: count_cell(plan.labels)),
        Column(title="cost", kind="number", cell=lambda plan: number_cell(plan.cost, 2)),
        Column(title="weeks", kind="number", cell=lambda plan: number_cell(plan.weeks, 1)),
        Column(
            title="interval +-", kind="number", cell=lambda plan: number_cell(plan.half_width, 4)
        ),
    ]
    return Table.of(columns, plans, title="Cost and precision (* is this sample):")


def _queries(sample: QuerySample) -> Table:
    rows = sample.rows()
    columns: list[Column[dict[str, Any]]] = [
        Column(title="query", cell=lambda row: str(row["query"])),
        Column(title="stratum", cell=lambda row: str(row["stratum"])),
        Column(
            title="requests",
            kind="number",
            cell=lambda row: Cell(f"{row['requests']:,.6g}", row["requests"]),
        ),
        Column(
            title="weight",
            kind="number",
            cell=lambda row: Cell(f"{row['weight']:,.6g}", row["weight"]),
        ),
    ]
    title = f"The first {_SOME} of {len(rows):,} queries:" if len(rows) > _SOME else "Queries:"
    return Table.of(columns, rows[:_SOME], title=title)


def _notes(sd: float | None) -> list[str]:
    phrases = [
        "weight: requests over the inclusion probability; the weighted mean is unbiased for the "
        "mean over the traffic"
    ]
    if sd is None:
        return ["method", *wrapped(phrases[0])]
    phrases += [
        f"interval +-: half of the width of the 95 % interval at a standard deviation of {sd:g} "
        "over queries",
        "it is about the mean over this traffic, to which queries that are taken for certain add "
        "no error",
        "intervals of evaluate --weights do not know which are certain; they are wider, and "
        "contain the mean in 98 to 100 % of samples",
        "the power for a difference depends on how many queries change: compare states it from "
        "judgments of both runs",
    ]
    return ["method", *wrapped("; ".join(phrases))]


def query_json(sample: QuerySample, *, plans: Sequence[LabelBudget], sd: float) -> str:
    """Return JSON text."""
    record = {
        "sd": sd,
        "plans": [asdict(plan) for plan in plans],
    } | sample.as_dict()
    return result_json(record)


def query_rows(sample: QuerySample) -> Iterator[Row]:
    """Yield titles, and a row for each query, with its weight for ``--weights``."""
    yield list(_NAMES)
    for row in sample.rows():
        yield [
            row[name] if isinstance(row[name], str) else number_text(row[name]) for name in _NAMES
        ]
