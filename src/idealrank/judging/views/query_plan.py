"""Queries to label, what their labels cost, and how precise they are, as tables, Markdown, JSON and
CSV.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from idealrank.judging import LabelBudget, QuerySample, QueryStratum
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import Cell, Column, Table, count_cell, number_cell, share_cell
from idealrank.reports.table.forms import parts_markdown
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part, filled, wrapped
from idealrank.version import __version__

_SOME = 15  # queries listed
_NAMES = ("query", "stratum", "requests", "probability", "weight")


def query_parts(found: QuerySample, plans: Sequence[LabelBudget], sd: float) -> list[Part]:
    """A sentence, strata, costs and queries."""
    n = len(found.query_ids)
    opening = (
        f"{n:,} quer{'ies' if n != 1 else 'y'} to label. Weights sum to the traffic of "
        f"{found.traffic_total:,.10g} requests; they "
        f"raise the variance of a mean by the factor {found.design_effect:.2f}."
    )
    costs = [_plans(found, plans)] if plans else []  # one query has no precision
    return [filled(opening), _strata(found), *costs, _queries(found), _notes(sd if plans else None)]


def _strata(found: QuerySample) -> Table:
    columns: list[Column[QueryStratum]] = [
        Column(title="stratum", cell=lambda one: one.name),
        Column(title="queries", kind="number", cell=lambda one: count_cell(one.n_queries)),
        Column(title="traffic", kind="number", cell=lambda one: share_cell(one.traffic_share)),
        Column(title="sampled", kind="number", cell=lambda one: count_cell(one.n_sampled)),
    ]
    return Table.of(columns, found.strata)


def _plans(found: QuerySample, plans: Sequence[LabelBudget]) -> Table:
    columns: list[Column[LabelBudget]] = [
        Column(
            title="queries",
            kind="number",
            cell=lambda one: Cell(
                f"{one.n_queries:,}",
                one.n_queries,
                mark="*" if one.n_queries == len(found.query_ids) else "",
            ),
        ),
        Column(title="labels", kind="number", cell=lambda one: count_cell(one.labels)),
        Column(title="cost", kind="number", cell=lambda one: number_cell(one.cost, 2)),
        Column(title="weeks", kind="number", cell=lambda one: number_cell(one.weeks, 1)),
        Column(title="interval +-", kind="number", cell=lambda one: number_cell(one.half_width, 4)),
    ]
    return Table.of(columns, plans, title="Cost and precision (* is this sample):")


def _queries(found: QuerySample) -> Table:
    rows = found.rows()
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
        "weight: requests over the inclusion probability; the weighted mean is unbiased for "
        "the mean over the traffic"
    ]
    if sd is None:
        return ["method", *wrapped(phrases[0])]
    phrases += [
        f"interval +-: half of the width of the 95 % interval at a standard deviation of "
        f"{sd:g} over queries",
        "it is about the mean over this traffic, to which queries that are taken for certain "
        "add no error",
        "intervals of evaluate --weights do not know which are certain; they are wider, and "
        "contain the mean in 98 to 100 % of samples",
        "the power for a difference depends on how many queries change: compare states it "
        "from judgments of both runs",
    ]
    return ["method", *wrapped("; ".join(phrases))]


def query_markdown(found: QuerySample, plans: Sequence[LabelBudget], sd: float) -> str:
    """The report as Markdown."""
    return parts_markdown(query_parts(found, plans, sd))


def query_json(found: QuerySample, plans: Sequence[LabelBudget], sd: float) -> str:
    """JSON text."""
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "sd": sd,
        "plans": [asdict(one) for one in plans],
    } | found.as_dict()
    return json.dumps(record, indent=2) + "\n"


def query_rows(found: QuerySample, plans: Sequence[LabelBudget], sd: float) -> Iterator[Row]:  # noqa: ARG001  (as the other formats)
    """Titles, and a row for each query, with its weight for ``--weights``."""
    yield list(_NAMES)
    for row in found.rows():
        yield [
            row[name] if isinstance(row[name], str) else number_text(row[name]) for name in _NAMES
        ]
