"""Pools of documents to judge, as tables, Markdown, JSON and CSV."""

from collections.abc import Iterator
from typing import Any

from idealrank.judging import Pool
from idealrank.reports.table.cells import (
    Column,
    Table,
    count_cell,
    counted,
    number_cell,
    share_cell,
)
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part, filled, wrapped

_SOME = 20  # documents listed
_NAMES = ("query", "document", "best_rank", "runs", "score", "stratum", "probability", "sampled")


def pool_parts(pool: Pool) -> list[Part]:
    """Return a sentence, the strata, and the first documents."""
    documents = "document" if len(pool) == 1 else "documents"
    queries = counted(len(pool.query_ids), "query", "queries")
    opening = (
        f"{pool.n_sampled:,} of {len(pool):,} pooled {documents} to judge, of {queries} in the "
        f"first {pool.depth:,} ranks of each run."
    )
    parts: list[Part] = [filled(opening)]
    if pool.n_sampled < len(pool):
        parts.append(_strata(pool))
    return [*parts, _documents(pool), _notes(pool)]


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
    return Table.of(columns, codes)


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
    return Table.of(columns, rows[:_SOME], title=title)


def _notes(pool: Pool) -> list[str]:
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
    yield list(_NAMES)
    for row in pool.rows():
        cells = row | {"sampled": "true" if row["sampled"] else "false"}
        yield [str(cells[name]) for name in _NAMES]
