"""Bounds of values over all grades of unjudged documents, as tables, Markdown, JSON and CSV."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from idealrank.data.interchange import finite
from idealrank.data.types import IntArray
from idealrank.judging import Bounds, BoundsReport, DifferenceBounds
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import Cell, Column, Table, count_cell, number_cell, share_cell
from idealrank.reports.table.forms import parts_markdown
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part, filled, wrapped
from idealrank.reports.views.conventions import paragraph
from idealrank.version import __version__

_AnyBounds = TypeVar("_AnyBounds", Bounds, DifferenceBounds)
_SOME = 10  # queries listed
_RANKS = 8  # ranks listed


def bounds_parts(
    found: BoundsReport, *, per_query: bool = False, digits: int | None = None
) -> list[Part]:
    """Sentences and tables."""
    places = 4 if digits is None else digits
    parts: list[Part] = [filled(_opening(found)), _means(found, places)]
    if found.differences:
        parts.append(_differences(found, places))
    parts += [_difference_queries(one, places, per_query=per_query) for one in found.differences]
    if not found.differences or per_query:
        parts += [
            _queries(one, places, per_query=per_query, titled=len(_run_names(found)) > 1)
            for one in found.runs
        ]
    shown = [part for part in parts if not isinstance(part, Table) or part.rows]
    return [*shown, _notes(found), paragraph(found.convention, _measures(found))]


def _run_names(found: BoundsReport) -> list[str]:
    return list(dict.fromkeys(one.name for one in found.runs))


def _measures(found: BoundsReport) -> list[str]:
    return list(dict.fromkeys(one.measure for one in found.runs))


def _opening(found: BoundsReport) -> str:
    names = " and ".join(_run_names(found))
    within = "" if found.depth is None else f" in the first {found.depth:,} ranks"
    return (
        f"The unjudged documents of {names}{within} may have any grade from 0 to "
        f"{found.max_grade:g}."
    )


def _means(found: BoundsReport, places: int) -> Table:
    columns: list[Column[Bounds]] = [
        Column(title="run", cell=lambda one: one.name),
        Column(title="measure", cell=lambda one: one.measure),
        Column(
            title="low", kind="number", cell=lambda one: number_cell(finite(one.mean_low), places)
        ),
        Column(
            title="value", kind="number", cell=lambda one: number_cell(finite(one.mean), places)
        ),
        Column(
            title="high", kind="number", cell=lambda one: number_cell(finite(one.mean_high), places)
        ),
        *_outer_columns(found.runs),
        Column(title="unjudged", kind="number", cell=lambda one: share_cell(one.unjudged_share)),
    ]
    return Table.of(columns, found.runs)


def _differences(found: BoundsReport, places: int) -> Table:
    first = found.differences[0]
    columns: list[Column[DifferenceBounds]] = [
        Column(title="measure", cell=lambda one: one.measure),
        Column(
            title="low",
            kind="number",
            cell=lambda one: number_cell(finite(one.mean_low), places, signed=True),
        ),
        Column(
            title="difference",
            kind="number",
            cell=lambda one: number_cell(finite(one.mean), places, signed=True),
        ),
        Column(
            title="high",
            kind="number",
            cell=lambda one: number_cell(finite(one.mean_high), places, signed=True),
        ),
        *_outer_columns(found.differences),
        Column(title="queries", kind="number", cell=lambda one: count_cell(len(one.query_ids))),
        Column(
            title="either may win", kind="number", cell=lambda one: count_cell(int(one.flips.sum()))
        ),
    ]
    return Table.of(columns, found.differences, title=f"Difference {first.b} - {first.a}:")


def _outer_columns(rows: Sequence[_AnyBounds]) -> list[Column[_AnyBounds]]:
    """Number of queries with outer bounds, if there are any."""
    if all(one.exact for one in rows):
        return []
    return [
        Column(
            title="outer",
            kind="number",
            cell=lambda one: count_cell(int((~one.exact_queries).sum())),
        )
    ]


class _Query(NamedTuple):
    """Bounds of one query."""

    query: str
    low: float
    value: float
    high: float
    exact: bool
    judged: float
    ranks: IntArray


def _queries(one: Bounds, places: int, *, per_query: bool, titled: bool) -> Table:
    columns = (one.low, one.value, one.high, one.exact_queries, one.judged_share)
    rows = [
        _Query(*row)
        for row in zip(
            one.query_ids, *(column.tolist() for column in columns), one.unjudged_ranks, strict=True
        )
    ]
    wide = (
        rows
        if per_query
        else sorted(
            (row for row in rows if row.high > row.low), key=lambda row: row.low - row.high
        )[:_SOME]
    )
    of = f"{one.measure}, {one.name}" if titled else one.measure
    table: list[Column[_Query]] = [
        Column(title="query", cell=lambda row: row.query),
        Column(
            title="low",
            kind="number",
            cell=lambda row: _ends_cell(row.low, places, exact=row.exact),
        ),
        Column(
            title="value", kind="number", cell=lambda row: number_cell(finite(row.value), places)
        ),
        Column(
            title="high",
            kind="number",
            cell=lambda row: _ends_cell(row.high, places, exact=row.exact),
        ),
        Column(title="judged", kind="number", cell=lambda row: share_cell(row.judged)),
        Column(title="unjudged at ranks", cell=lambda row: _ranks_text(row.ranks)),
    ]
    return Table.of(
        table,
        wide,
        title=f"{'Queries' if per_query else 'Queries with the widest bounds'} of {of}:",
    )


def _ends_cell(value: float, places: int, *, exact: bool, signed: bool = False) -> Cell:
    cell = number_cell(finite(value), places, signed=signed)
    return cell if exact else Cell(cell.text, cell.value, mark="~")


def _ranks_text(ranks: IntArray) -> str:
    """The first ranks, and how many follow."""
    if not ranks.size:
        return "-"
    listed = " ".join(map(str, ranks[:_RANKS].tolist()))
    return listed if ranks.size <= _RANKS else f"{listed} and {ranks.size - _RANKS:,} more"


class _Pair(NamedTuple):
    """Bounds of the difference in one query."""

    query: str
    low: float
    value: float
    high: float
    exact: bool
    a: int
    b: int
    both: int
    flips: bool


def _difference_queries(one: DifferenceBounds, places: int, *, per_query: bool) -> Table:
    columns = (
        one.low,
        one.value,
        one.high,
        one.exact_queries,
        one.unjudged_a,
        one.unjudged_b,
        one.unjudged_both,
        one.flips,
    )
    rows = [
        _Pair(*row)
        for row in zip(one.query_ids, *(column.tolist() for column in columns), strict=True)
    ]
    flips = sorted((row for row in rows if row.flips), key=lambda row: row.low - row.high)
    shown = rows if per_query else flips[:_SOME]
    table: list[Column[_Pair]] = [
        Column(title="query", cell=lambda row: row.query),
        Column(
            title="low",
            kind="number",
            cell=lambda row: _ends_cell(row.low, places, exact=row.exact, signed=True),
        ),
        Column(
            title="difference",
            kind="number",
            cell=lambda row: number_cell(finite(row.value), places, signed=True),
        ),
        Column(
            title="high",
            kind="number",
            cell=lambda row: _ends_cell(row.high, places, exact=row.exact, signed=True),
        ),
        Column(
            title=f"unjudged of {one.a} alone", kind="number", cell=lambda row: count_cell(row.a)
        ),
        Column(title=f"of {one.b} alone", kind="number", cell=lambda row: count_cell(row.b)),
        Column(title="of both", kind="number", cell=lambda row: count_cell(row.both)),
    ]
    more = f", {_SOME} of {len(flips):,} with the widest bounds" if len(flips) > _SOME else ""
    title = (
        f"Differences of {one.measure}:"
        if per_query
        else f"Queries in which either run may have the higher {one.measure}{more}:"
    )
    return Table.of(table, shown, title=title)


def _notes(found: BoundsReport) -> list[str]:
    phrases = [
        "low and high: lowest and highest value over all grades of these documents; documents "
        "that no run returns stay unjudged, as "
        "grade 0",
        "the ideal list changes with the grades",
        "unjudged: share of the returned documents down to the cutoff, all queries together",
    ]
    if found.differences:
        phrases.append(
            "a document that both runs return has one grade: the difference of the bounds of "
            "each run would be wider"
        )
    if not found.exact:
        phrases.append(
            "~ and outer: no grades are known to attain these bounds; the true ones lie within them"
        )
    return ["method", *wrapped("; ".join(phrases))]


def bounds_markdown(
    found: BoundsReport, *, per_query: bool = False, digits: int | None = None
) -> str:
    """The report as Markdown."""
    return parts_markdown(bounds_parts(found, per_query=per_query, digits=digits))


def bounds_json(found: BoundsReport, *, per_query: bool = True, digits: int | None = None) -> str:  # noqa: ARG001  (all of it)
    """JSON text with every query and every digit."""
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "convention": {"name": found.convention.name, "fingerprint": found.convention.fingerprint},
        "max_grade": found.max_grade,
        "depth": found.depth,
        "exact": found.exact,
        "runs": [one.as_dict() for one in found.runs],
        "differences": [one.as_dict() for one in found.differences],
    }
    return json.dumps(record, indent=2) + "\n"


def bounds_rows(
    found: BoundsReport,
    *,
    per_query: bool = True,  # noqa: ARG001  (all of it)
    digits: int | None = None,  # noqa: ARG001  (all of it)
) -> Iterator[Row]:
    """Titles, and a row for each query of each run and difference; `minus` names the other run of a
    difference.
    """
    yield ["run", "minus", "measure", "query", "low", "value", "high", "exact", "unjudged"]
    for one in found.runs:
        columns = (one.low, one.value, one.high, one.exact_queries, one.n_unjudged)
        yield from _rows(one.name, "", one.measure, one.query_ids, columns)
    for pair in found.differences:
        unjudged = pair.unjudged_a + pair.unjudged_b + pair.unjudged_both
        yield from _rows(
            pair.b,
            pair.a,
            pair.measure,
            pair.query_ids,
            (pair.low, pair.value, pair.high, pair.exact_queries, unjudged),
        )


def _rows(
    run: str, minus: str, measure: str, queries: Sequence[str], columns: "tuple[object, ...]"
) -> Iterator[Row]:
    for query, low, value, high, exact, unjudged in zip(
        queries,
        *(column.tolist() for column in columns),  # type: ignore[attr-defined]
        strict=True,
    ):
        ends = map(number_text, (low, value, high))
        yield [run, minus, measure, query, *ends, "true" if exact else "false", str(unjudged)]
