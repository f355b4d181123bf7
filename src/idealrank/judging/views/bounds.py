"""Bounds of values over all grades of unjudged documents, as tables, Markdown, JSON and CSV."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from idealrank.data.interchange import finite
from idealrank.data.types import IntArray
from idealrank.judging import Bounds, BoundsReport, DifferenceBounds
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import Cell, Column, Table, count_cell, number_cell, share_cell
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part, filled, wrapped
from idealrank.reports.views.conventions import paragraph

_AnyBounds = TypeVar("_AnyBounds", Bounds, DifferenceBounds)
_SOME = 10  # queries listed
_RANKS = 8  # ranks listed


def bounds_parts(
    report: BoundsReport, *, per_query: bool = False, digits: int | None = None
) -> list[Part]:
    """Return the report as sentences and tables."""
    places = 4 if digits is None else digits
    tables = [_means(report, places)]
    if report.differences:
        tables.append(_differences(report, places))
    tables += [
        _difference_queries(difference, places, per_query=per_query)
        for difference in report.differences
    ]
    if not report.differences or per_query:
        titled = len(_run_names(report)) > 1
        tables += [
            _queries(bounds, places, per_query=per_query, titled=titled) for bounds in report.runs
        ]
    return [
        filled(_opening(report)),
        *(table for table in tables if table.rows),
        _notes(report),
        paragraph(report.convention, list(dict.fromkeys(bounds.measure for bounds in report.runs))),
    ]


def _run_names(report: BoundsReport) -> list[str]:
    return list(dict.fromkeys(bounds.name for bounds in report.runs))


def _opening(report: BoundsReport) -> str:
    names = " and ".join(_run_names(report))
    within = "" if report.depth is None else f" in the first {report.depth:,} ranks"
    return (
        f"The unjudged documents of {names}{within} may have any grade from 0 to "
        f"{report.max_grade:g}."
    )


def _means(report: BoundsReport, places: int) -> Table:
    columns: list[Column[Bounds]] = [
        Column(title="run", cell=lambda bounds: bounds.name),
        Column(title="measure", cell=lambda bounds: bounds.measure),
        Column(
            title="low",
            kind="number",
            cell=lambda bounds: number_cell(finite(bounds.mean_low), places),
        ),
        Column(
            title="value",
            kind="number",
            cell=lambda bounds: number_cell(finite(bounds.mean), places),
        ),
        Column(
            title="high",
            kind="number",
            cell=lambda bounds: number_cell(finite(bounds.mean_high), places),
        ),
        *_outer_columns(report.runs),
        Column(
            title="unjudged", kind="number", cell=lambda bounds: share_cell(bounds.unjudged_share)
        ),
    ]
    return Table.of(columns, report.runs, kept=5)


def _differences(report: BoundsReport, places: int) -> Table:
    first = report.differences[0]
    columns: list[Column[DifferenceBounds]] = [
        Column(title="measure", cell=lambda difference: difference.measure),
        Column(
            title="low",
            kind="number",
            cell=lambda difference: number_cell(finite(difference.mean_low), places, signed=True),
        ),
        Column(
            title="difference",
            kind="number",
            cell=lambda difference: number_cell(finite(difference.mean), places, signed=True),
        ),
        Column(
            title="high",
            kind="number",
            cell=lambda difference: number_cell(finite(difference.mean_high), places, signed=True),
        ),
        *_outer_columns(report.differences),
        Column(
            title="queries",
            kind="number",
            cell=lambda difference: count_cell(len(difference.query_ids)),
        ),
        Column(
            title="either may win",
            kind="number",
            cell=lambda difference: count_cell(int(difference.flips.sum())),
        ),
    ]
    title = f"Difference {first.b} - {first.a}:"
    return Table.of(columns, report.differences, title=title, kept=4)


def _outer_columns(rows: Sequence[_AnyBounds]) -> list[Column[_AnyBounds]]:
    """Return a column with the number of queries with outer bounds, if there are any."""
    if all(row.exact for row in rows):
        return []
    return [
        Column(
            title="outer",
            kind="number",
            cell=lambda row: count_cell(int((~row.exact_queries).sum())),
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


def _queries(bounds: Bounds, places: int, *, per_query: bool, titled: bool) -> Table:
    rows = [
        _Query(
            query=query,
            low=float(bounds.low[place]),
            value=float(bounds.value[place]),
            high=float(bounds.high[place]),
            exact=bool(bounds.exact_queries[place]),
            judged=float(bounds.judged_share[place]),
            ranks=bounds.unjudged_ranks[place],
        )
        for place, query in enumerate(bounds.query_ids)
    ]
    listed = rows
    title = "Queries"
    if not per_query:
        is_open = (row for row in rows if row.high > row.low)
        listed = sorted(is_open, key=lambda row: row.low - row.high)[:_SOME]
        title = "Queries with the widest bounds"
    subject = f"{bounds.measure}, {bounds.name}" if titled else bounds.measure

    columns: list[Column[_Query]] = [
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
    return Table.of(columns, listed, title=f"{title} of {subject}:", kept=4)


def _ends_cell(value: float, places: int, *, exact: bool, signed: bool = False) -> Cell:
    """Return the cell of a bound, marked if it is not exact."""
    cell = number_cell(finite(value), places, signed=signed)
    return cell if exact else Cell(cell.text, cell.value, mark="~")


def _ranks_text(ranks: IntArray) -> str:
    """List the first ranks, and the number of ranks that follow."""
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
    # a, b, both: unjudged documents of run a alone, of run b alone, and of both
    a: int
    b: int
    both: int
    flips: bool


def _difference_queries(difference: DifferenceBounds, places: int, *, per_query: bool) -> Table:
    rows = [
        _Pair(
            query=query,
            low=float(difference.low[place]),
            value=float(difference.value[place]),
            high=float(difference.high[place]),
            exact=bool(difference.exact_queries[place]),
            a=int(difference.unjudged_a[place]),
            b=int(difference.unjudged_b[place]),
            both=int(difference.unjudged_both[place]),
            flips=bool(difference.flips[place]),
        )
        for place, query in enumerate(difference.query_ids)
    ]
    listed = rows
    title = f"Differences of {difference.measure}:"
    if not per_query:
        flips = sorted((row for row in rows if row.flips), key=lambda row: row.low - row.high)
        listed = flips[:_SOME]
        more = f", {_SOME} of {len(flips):,} with the widest bounds" if len(flips) > _SOME else ""
        title = f"Queries in which either run may have the higher {difference.measure}{more}:"

    columns: list[Column[_Pair]] = [
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
            title=f"unjudged of {difference.a} alone",
            kind="number",
            cell=lambda row: count_cell(row.a),
        ),
        Column(title=f"of {difference.b} alone", kind="number", cell=lambda row: count_cell(row.b)),
        Column(title="of both", kind="number", cell=lambda row: count_cell(row.both)),
    ]
    return Table.of(columns, listed, title=title, kept=4)


def _notes(report: BoundsReport) -> list[str]:
    phrases = [
        "low and high: lowest and highest value over all grades of these documents; documents that "
        "no run returns stay unjudged, as grade 0",
        "the ideal list changes with the grades",
        "unjudged: share of the returned documents down to the cutoff, all queries together",
    ]
    if report.differences:
        phrases.append(
            "a document that both runs return has one grade: the difference of the bounds of each "
            "run would be wider"
        )
    if not report.exact:
        phrases.append(
            "~ and outer: no grades are known to attain these bounds; the true ones lie within them"
        )
    return ["method", *wrapped("; ".join(phrases))]


def bounds_json(report: BoundsReport) -> str:
    """Return JSON text with every query and every digit."""
    record = {
        "convention": {
            "name": report.convention.name,
            "fingerprint": report.convention.fingerprint,
        },
        "max_grade": report.max_grade,
        "depth": report.depth,
        "exact": report.exact,
        "runs": [bounds.as_dict() for bounds in report.runs],
        "differences": [bounds.as_dict() for bounds in report.differences],
    }
    return result_json(record)


def bounds_rows(report: BoundsReport) -> Iterator[Row]:
    """Yield titles, and a row for each query of each run and difference; `minus` names the other
    run of a difference.
    """
    yield ["run", "minus", "measure", "query", "low", "value", "high", "exact", "unjudged"]
    for bounds in report.runs:
        yield from _rows(bounds, bounds.n_unjudged, run=bounds.name, minus="")
    for pair in report.differences:
        unjudged = pair.unjudged_a + pair.unjudged_b + pair.unjudged_both
        yield from _rows(pair, unjudged, run=pair.b, minus=pair.a)


def _rows(
    bounds: "Bounds | DifferenceBounds", n_unjudged: IntArray, *, run: str, minus: str
) -> Iterator[Row]:
    for place, query in enumerate(bounds.query_ids):
        yield [
            run,
            minus,
            bounds.measure,
            query,
            number_text(float(bounds.low[place])),
            number_text(float(bounds.value[place])),
            number_text(float(bounds.high[place])),
            "true" if bounds.exact_queries[place] else "false",
            str(n_unjudged[place]),
        ]
