"""Pools of documents to judge, as tables, Markdown, JSON and CSV."""

import json
from collections.abc import Iterator
from typing import Any

from idealrank.judging import Pool
from idealrank.reports.table.cells import Column, Table, count_cell, number_cell, share_cell
from idealrank.reports.table.forms import parts_markdown
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part, filled, wrapped
from idealrank.version import __version__

_SOME = 20  # documents listed
_NAMES = ("query", "document", "best_rank", "runs", "score", "stratum", "probability", "sampled")


def pool_parts(found: Pool) -> list[Part]:
    """A sentence, the strata, and the first documents."""
    n, of = found.n_sampled, len(found)
    opening = (
        f"{n:,} of {of:,} pooled document{'s' if of != 1 else ''} to judge, of "
        f"{len(found.query_ids):,} "
        f"quer{'ies' if len(found.query_ids) != 1 else 'y'} in the first {found.depth:,} "
        f"ranks of each run."
    )
    parts: list[Part] = [filled(opening)]
    if n < of:
        parts.append(_strata(found))
    return [*parts, _documents(found), _notes(found)]


def _strata(found: Pool) -> Table:
    codes = sorted(set(found.stratum.tolist()))
    columns: list[Column[Any]] = [
        Column(title="stratum", cell=str),
        Column(
            title="best ranks",
            cell=lambda code: _span(found.best_rank[found.stratum == code].tolist()),
        ),
        Column(
            title="documents",
            kind="number",
            cell=lambda code: count_cell(int((found.stratum == code).sum())),
        ),
        Column(
            title="to judge",
            kind="number",
            cell=lambda code: count_cell(int(found.sampled[found.stratum == code].sum())),
        ),
        Column(
            title="share",
            kind="number",
            cell=lambda code: share_cell(float(found.sampled[found.stratum == code].mean())),
        ),
    ]
    return Table.of(columns, codes)


def _span(ranks: list[int]) -> str:
    return f"{min(ranks)} to {max(ranks)}"


def _documents(found: Pool) -> Table:
    rows = [row for row in found.rows() if row["sampled"]]
    columns: list[Column[dict[str, Any]]] = [
        Column(title="query", cell=lambda row: str(row["query"])),
        Column(title="document", cell=lambda row: str(row["document"])),
        Column(title="best rank", kind="number", cell=lambda row: count_cell(row["best_rank"])),
        Column(title="runs", kind="number", cell=lambda row: count_cell(row["runs"])),
        Column(
            title="probability", kind="number", cell=lambda row: number_cell(row["probability"], 3)
        ),
    ]
    title = (
        f"The first {_SOME} of {len(rows):,} documents to judge:"
        if len(rows) > _SOME
        else "Documents to judge:"
    )
    return Table.of(columns, rows[:_SOME], title=title)


def _notes(found: Pool) -> list[str]:
    phrases = [
        f"order {found.order}",
        "probability: inclusion probability of the document, which the estimates need",
        "--format csv has every pooled document, also those that are not judged",
    ]
    return ["method", *wrapped("; ".join(phrases))]


def pool_markdown(found: Pool) -> str:
    """The report as Markdown."""
    return parts_markdown(pool_parts(found))


def pool_json(found: Pool) -> str:
    """JSON text with every pooled document."""
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "order": found.order,
        "depth": found.depth,
        "n_queries": len(found.query_ids),
        "n_pooled": len(found),
        "n_sampled": found.n_sampled,
        "documents": found.rows(),
    }
    return json.dumps(record, indent=2) + "\n"


def pool_rows(found: Pool) -> Iterator[Row]:
    """Titles, and a row for each pooled document."""
    yield list(_NAMES)
    for row in found.rows():
        cells = row | {"sampled": "true" if row["sampled"] else "false"}
        yield [str(cells[name]) for name in _NAMES]
