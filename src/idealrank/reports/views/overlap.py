"""Overlap of two runs, and matrices of several, in every format; each contains the number of
queries.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from idealrank.data.interchange import finite
from idealrank.evaluation.overlap import Overlap, OverlapMatrix
from idealrank.reports.table.cells import Column, Table, count_cell, number_cell
from idealrank.reports.table.records import Row, csv_cell, result_json
from idealrank.reports.table.short_names import NARROW, told_apart
from idealrank.reports.table.text import Part, wrapped

_SOME = 5  # queries of one run that the text lists
_TIES = {
    "shared": "share a rank",
    "docid": "are ordered by document id, descending",
    "docid-ascending": "are ordered by document id, ascending",
    "input": "are in input order",
    "expected": "have every order, and values are the mean over all orders",
}
_TITLES = ["run_a", "run_b", "measure", "value", "queries", "in_both", "only_a", "only_b", "ties"]
_NO_VALUE = "no value if fewer than two common documents can be ordered"


def overlap_parts(overlap: Overlap, *, per_query: bool = False) -> list[Part]:
    """Build the whole report."""
    return [overlap_said(overlap), *_tables(overlap, per_query=per_query), _notes(overlap)]


def overlap_said(overlap: Overlap) -> list[str]:
    """Count the queries that both runs answer, and list the queries that only one answers."""
    a, b = overlap.names
    n = len(overlap.queries)
    only_a = len(overlap.only_a)
    only_b = len(overlap.only_b)
    lines = [
        f"{a} and {b}: {n:,} {_queries(n)} in both, {only_a:,} only in {a}, {only_b:,} only in {b}"
    ]
    for name, queries in ((a, overlap.only_a), (b, overlap.only_b)):
        if len(queries):
            some = ", ".join(list(queries)[:_SOME])
            some += ", ..." if len(queries) > _SOME else ""
            lines.append(f"  only in {name}: {some}")
    return lines


def _queries(n: int) -> str:
    return "query" if n == 1 else "queries"


def overlap_means(overlap: Overlap) -> Table:
    """Build a table of measures: the mean, and the number of queries with a value."""
    means = overlap.mean()
    counted = _scored(overlap)
    columns: list[Column[str]] = [
        Column(title="measure", cell=str),
        Column(title="mean", kind="number", cell=lambda measure: number_cell(means[measure])),
        Column(title="queries", kind="number", cell=lambda measure: count_cell(counted[measure])),
    ]
    return Table.of(columns, means)


def _per_query(overlap: Overlap) -> Table:
    a, b = overlap.names
    columns: list[Column[_Query]] = [
        Column(title="query", cell=lambda row: row.query),
        Column(
            title=f"in {a}",
            kind="number",
            cell=lambda row: count_cell(row.length_a, "quiet"),
            rank=2,
        ),
        Column(
            title=f"in {b}",
            kind="number",
            cell=lambda row: count_cell(row.length_b, "quiet"),
            rank=2,
        ),
        Column(
            title="common", kind="number", cell=lambda row: count_cell(row.common, "quiet"), rank=1
        ),
        *map(_value_column, map(str, overlap.measures)),
    ]
    rows = []
    counts = zip(overlap.lengths.tolist(), overlap.common.tolist(), strict=True)
    for query_id, values in overlap.per_query().items():
        (length_a, length_b), common = next(counts)
        rows.append(
            _Query(
                query=query_id, length_a=length_a, length_b=length_b, common=common, values=values
            )
        )
    return Table.of(columns, rows)


def _value_column(measure: str) -> "Column[_Query]":
    return Column(title=measure, kind="number", cell=lambda row: number_cell(row.values[measure]))


class _Query(NamedTuple):
    """A query: numbers of documents of both runs and in common, and values by measure."""

    query: str
    length_a: int
    length_b: int
    common: int
    values: Mapping[str, float | None]


def _notes(overlap: Overlap) -> list[str]:
    """List the notes needed to understand the numbers."""
    return [line for note in _said_below(overlap) for line in wrapped(note, indent="")]


def _scored(overlap: Overlap) -> dict[str, int]:
    """Count the queries that have a value, by text of the measure."""
    counts = overlap.scored.sum(axis=0).tolist()
    return dict(zip(map(str, overlap.measures), counts, strict=True))


def _said_below(overlap: Overlap) -> list[str]:
    """Write notes on measures that lack values, and on tied documents."""
    n = len(overlap.queries)
    missing = [text for text, scored in _scored(overlap).items() if scored < n]
    notes = [f"{', '.join(missing)}: {_NO_VALUE}"] if missing else []
    tied = overlap.tied.sum(axis=0).tolist()
    if any(tied):
        where = (overlap.tied > 0).sum(axis=0).tolist()
        counts = " and ".join(
            f"{documents:,} in {queries:,} {_queries(queries)} of {name}"
            for name, documents, queries in zip(overlap.names, tied, where, strict=True)
            if documents
        )
        notes.append(
            f"documents with tied scores {_TIES[overlap.ties]} (ties={overlap.ties}): {counts}"
        )
    return notes


def overlap_tables(overlap: Overlap, *, per_query: bool = False) -> list[Table]:
    """Make tables to paste; with `per_query`, a table of the queries before the means."""
    notes = [f"{overlap.names[0]} and {overlap.names[1]}.", *_said_below(overlap)]
    return _noted(_tables(overlap, per_query=per_query), notes)


def _tables(overlap: Overlap, *, per_query: bool) -> list[Table]:
    return [*([_per_query(overlap)] if per_query else []), overlap_means(overlap)]


def _noted(tables: Sequence[Table], notes: Sequence[str]) -> list[Table]:
    """Put notes below the last table."""
    *others, last = tables
    return [*others, replace(last, notes=notes)]


def overlap_json(overlap: Overlap, *, per_query: bool = False) -> Iterator[str]:
    """Yield JSON text; float64 in the shortest form that reads back, null for undefined values."""
    record = {
        "version": overlap.version,
        "run_a": _side(overlap, 0, overlap.only_a),
        "run_b": _side(overlap, 1, overlap.only_b),
        "ties": overlap.ties,
        "duplicates": overlap.duplicates,
        "common_queries": len(overlap.queries),
        "mean": {text: finite(value) for text, value in overlap.mean().items()},
        "queries_with_value": _scored(overlap),
    }
    yield result_json(record).removesuffix("\n}\n")
    if per_query:
        yield from _by_query("queries", overlap.queries, map(finite, overlap.per_query().values()))
        counts = zip(overlap.lengths.tolist(), overlap.common.tolist(), strict=True)
        yield from _by_query(
            "documents",
            overlap.queries,
            ({"in_a": a, "in_b": b, "common": common} for (a, b), common in counts),
        )
    yield "\n}\n"


def _by_query(title: str, queries: Sequence[str], entries: Iterable[object]) -> Iterator[str]:
    """Yield one query per line, as in the JSON of `idealrank evaluate`."""
    yield f',\n  "{title}": {{'
    for place, (query, entry) in enumerate(zip(queries, entries, strict=True)):
        yield f"{',' if place else ''}\n    {json.dumps(query)}: {json.dumps(entry)}"
    yield "\n  }"


def _side(overlap: Overlap, side: int, only: Sequence[str]) -> dict[str, object]:
    return {
        "name": overlap.names[side],
        "path": overlap.paths[side],
        "only_here": list(only),
        "tied_documents": int(overlap.tied[:, side].sum()),
        "tied_queries": int((overlap.tied[:, side] > 0).sum()),
    }


def overlap_rows(overlap: Overlap, *, per_query: bool = False) -> Iterator[Row]:
    """Yield the titles, and a row for each value, empty if it is undefined."""
    if per_query:
        yield ["run_a", "run_b", "query", "measure", "value", "common", "ties"]
        for (query, values), common in zip(
            overlap.per_query().items(), overlap.common.tolist(), strict=True
        ):
            for text, value in values.items():
                yield [*overlap.names, query, text, csv_cell(value), str(common), overlap.ties]
        return
    yield _TITLES
    counts = [str(len(queries)) for queries in (overlap.queries, overlap.only_a, overlap.only_b)]
    for (text, value), n in zip(
        overlap.mean().items(), overlap.scored.sum(axis=0).tolist(), strict=True
    ):
        yield [*overlap.names, text, csv_cell(value), str(n), *counts, overlap.ties]


# --- several runs ---------------------------------------------------------------------------------


def matrix_parts(matrix: OverlapMatrix) -> list[Part]:
    """Build the whole report: a matrix for each measure, and notes on the queries behind them."""
    notes = [line for note in matrix_notes(matrix) for line in wrapped(note, indent="")]
    return [*matrix_tables(matrix), notes]


def matrix_tables(matrix: OverlapMatrix) -> list[Table]:
    """Build a table for each measure, with a row and a column for each run."""
    short = told_apart(matrix.names, NARROW)
    tables = []
    for measure in matrix.measures:
        rows = zip(matrix.names, matrix[measure].tolist(), strict=True)
        values = {
            (a, b): value for a, row in rows for b, value in zip(matrix.names, row, strict=True)
        }
        columns: list[Column[str]] = [Column(title=str(measure), cell=str)]
        columns += [
            _run_column(title, name, values)
            for title, name in zip(short, matrix.names, strict=True)
        ]
        tables.append(Table.of(columns, matrix.names))
    return tables


def _run_column(title: str, name: str, values: Mapping[tuple[str, str], float]) -> Column[str]:
    return Column(
        title=title, kind="number", cell=lambda row: number_cell(finite(values[row, name]))
    )


def matrix_notes(matrix: OverlapMatrix) -> list[str]:
    """Write the sentences below the matrices: the queries behind the means, the reference of
    measures that are not symmetric, ties.
    """
    counts = [len(matrix.pair(a, b).queries) for a, b in product(matrix.names, repeat=2) if a != b]
    several = (
        f"{min(counts):,} to {max(counts):,}" if min(counts) < max(counts) else f"{counts[0]:,}"
    )
    notes = [f"each mean covers the queries that both runs answer, {several}"]
    lacking = [
        str(measure)
        for measure in matrix.measures
        if (matrix.values_with(measure) < matrix.common()).any()
    ]
    notes += [f"{', '.join(lacking)}: {_NO_VALUE}"] if lacking else []
    turned = [
        str(measure) for measure in matrix.measures if not getattr(measure, "symmetric", True)
    ]
    if turned:
        notes.append(f"{', '.join(turned)}: not symmetric; the run of the row is the first run")
    tied = [name for name in matrix.names if matrix.pair(name, name).tied.any()]
    if tied:
        ties = matrix.pair(matrix.names[0], matrix.names[0]).ties
        named = ", ".join(tied)
        notes.append(f"documents with tied scores {_TIES[ties]} (ties={ties}), in {named}")
    return notes


def matrix_pasted(matrix: OverlapMatrix) -> list[Table]:
    """Make a table to paste for each measure."""
    return _noted(matrix_tables(matrix), matrix_notes(matrix))


def matrix_json(matrix: OverlapMatrix) -> str:
    """Write JSON text: each mean by measure and pair of runs, with its number of queries."""
    own = [matrix.pair(name, name) for name in matrix.names]
    record = {
        "version": own[0].version,
        "runs": [
            {"name": name, "path": overlap.paths[0], "queries": len(overlap.queries)}
            for name, overlap in zip(matrix.names, own, strict=True)
        ],
        "ties": own[0].ties,
        "duplicates": own[0].duplicates,
        "common_queries": _by_names(matrix, matrix.common()),
        "mean": {str(measure): _by_names(matrix, matrix[measure]) for measure in matrix.measures},
        "queries_with_value": {
            str(measure): _by_names(matrix, matrix.values_with(measure))
            for measure in matrix.measures
        },
    }
    return result_json(record)


def _by_names(matrix: OverlapMatrix, values: Any) -> dict[str, dict[str, float | int | None]]:
    return {
        a: dict(zip(matrix.names, map(finite, row), strict=True))
        for a, row in zip(matrix.names, values.tolist(), strict=True)
    }


def matrix_rows(matrix: OverlapMatrix) -> Iterator[Row]:
    """Yield the columns of `overlap_rows`, with a row for each measure and ordered pair of runs."""
    yield _TITLES
    means = {str(measure): matrix[measure].tolist() for measure in matrix.measures}
    for (row, a), (column, b) in product(enumerate(matrix.names), repeat=2):
        overlap = matrix.pair(a, b)
        only = (
            (overlap.only_a, overlap.only_b)
            if overlap.names == (a, b)
            else (overlap.only_b, overlap.only_a)
        )
        counts = [str(len(queries)) for queries in (overlap.queries, *only)]
        for (text, values), n in zip(
            means.items(), overlap.scored.sum(axis=0).tolist(), strict=True
        ):
            yield [a, b, text, csv_cell(values[row][column]), str(n), *counts, overlap.ties]
