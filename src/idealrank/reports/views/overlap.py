"""Overlap of two runs, and matrices of several, in every format; each contains the number of
queries.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from idealrank.data.interchange import finite
from idealrank.evaluation.overlap import Overlap, OverlapMatrix
from idealrank.reports.table.cells import Column, Table, count_cell, number_cell
from idealrank.reports.table.forms import as_latex, as_markdown
from idealrank.reports.table.records import SCHEMA, Row, csv_cell
from idealrank.reports.table.text import NARROW, Part, told_apart, wrapped

_SOME = 5
_TIES = {
    "shared": "share a rank",
    "docid": "are ordered by document id, descending",
    "docid-ascending": "are ordered by document id, ascending",
    "input": "are in input order",
    "expected": "have every order, and values are the mean over all orders",
}
_TITLES = ["run_a", "run_b", "measure", "value", "queries", "in_both", "only_a", "only_b", "ties"]
_NO_VALUE = "no value if fewer than two common documents can be ordered"


def overlap_parts(found: Overlap, *, per_query: bool = False) -> list[Part]:
    """The whole report."""
    return [
        overlap_said(found),
        *([_per_query(found)] if per_query else []),
        overlap_means(found),
        _notes(found),
    ]


def overlap_said(found: Overlap) -> list[str]:
    """List the queries that both runs answer, and only one; one line each."""
    a, b = found.names
    n, only_a, only_b = len(found.queries), len(found.only_a), len(found.only_b)
    lines = [
        f"{a} and {b}: {n:,} {_queries(n)} in both, {only_a:,} only in {a}, {only_b:,} only in {b}"
    ]
    for name, queries in ((a, found.only_a), (b, found.only_b)):
        if len(queries):
            lines.append(
                f"  only in {name}: "
                f"{', '.join(list(queries)[:_SOME])}{', ...' if len(queries) > _SOME else ''}"
            )
    return lines


def _queries(n: int) -> str:
    return "query" if n == 1 else "queries"


def overlap_means(found: Overlap) -> Table:
    """A row a measure, with its mean and the queries that have a value."""
    means = found.mean()
    counted = dict(zip(means, found.scored.sum(axis=0).tolist(), strict=True))
    columns: list[Column[str]] = [
        Column(title="measure", cell=str),
        Column(title="mean", kind="number", cell=lambda measure: number_cell(means[measure])),
        Column(title="queries", kind="number", cell=lambda measure: count_cell(counted[measure])),
    ]
    return Table.of(columns, means)


def _per_query(found: Overlap) -> Table:
    a, b = found.names
    columns: list[Column[_Query]] = [
        Column(title="query", cell=lambda one: one.query),
        Column(title=f"in {a}", kind="number", cell=lambda one: count_cell(one.length_a, "quiet")),
        Column(title=f"in {b}", kind="number", cell=lambda one: count_cell(one.length_b, "quiet")),
        Column(title="common", kind="number", cell=lambda one: count_cell(one.common, "quiet")),
        *map(_value_column, map(str, found.measures)),
    ]
    counted = zip(found.lengths.tolist(), found.common.tolist(), strict=True)
    rows = [
        _Query(query, first, second, common, of)
        for (query, of), ((first, second), common) in zip(
            found.per_query().items(), counted, strict=True
        )
    ]
    return Table.of(columns, rows)


def _value_column(measure: str) -> "Column[_Query]":
    return Column(title=measure, kind="number", cell=lambda one: number_cell(one.values[measure]))


class _Query(NamedTuple):
    """A query: documents of both runs, how many are common, values by measure."""

    query: str
    length_a: int
    length_b: int
    common: int
    values: Mapping[str, float | None]


def _notes(found: Overlap) -> list[str]:
    """List the notes needed to understand the numbers."""
    return [line for note in _said_below(found) for line in wrapped(note, indent="")]


def _said_below(found: Overlap) -> list[str]:
    n = len(found.queries)
    missing = [
        str(measure)
        for measure, scored in zip(found.measures, found.scored.sum(axis=0).tolist(), strict=True)
        if scored < n
    ]
    notes = [f"{', '.join(missing)}: {_NO_VALUE}"] if missing else []
    tied = found.tied.sum(axis=0).tolist()
    if any(tied):
        where = (found.tied > 0).sum(axis=0).tolist()
        counts = " and ".join(
            f"{documents:,} in {queries:,} {_queries(queries)} of {name}"
            for name, documents, queries in zip(found.names, tied, where, strict=True)
            if documents
        )
        notes.append(
            f"documents with tied scores {_TIES[found.ties]} (ties={found.ties}): {counts}"
        )
    return notes


def overlap_markdown(found: Overlap, *, per_query: bool = False) -> str:
    """Markdown tables; with `per_query`, a table of the queries before the means."""
    return _pasted(
        as_markdown,
        _tables(found, per_query=per_query),
        [f"{found.names[0]} and {found.names[1]}.", *_said_below(found)],
    )


def overlap_latex(found: Overlap, *, per_query: bool = False) -> str:
    r"""LaTeX tables; with `per_query`, a table of the queries before the means.

    Examples
    --------
    >>> import idealrank as ir
    >>> print(overlap_latex(ir.overlap({"q": ["a", "b"]}, {"q": ["a", "c"]}, "overlap@2")).splitlines()[5])
    overlap@2 & 0.5000 & 1 \\
    """  # noqa: E501
    return _pasted(
        as_latex,
        _tables(found, per_query=per_query),
        [f"{found.names[0]} and {found.names[1]}.", *_said_below(found)],
    )


def _tables(found: Overlap, *, per_query: bool) -> list[Table]:
    return [*([_per_query(found)] if per_query else []), overlap_means(found)]


def _pasted(form: Callable[[Table], str], tables: Sequence[Table], notes: Sequence[str]) -> str:
    """The tables, with the notes below the last."""
    *others, last = tables
    return "\n".join(map(form, [*others, replace(last, notes=notes)]))


def overlap_json(found: Overlap, *, per_query: bool = False) -> Iterator[str]:
    """JSON text; float64 in the shortest form that reads back, null where a value is undefined."""
    record = {
        "version": found.version,
        "schema": SCHEMA,
        "run_a": _side(found, 0, found.only_a),
        "run_b": _side(found, 1, found.only_b),
        "ties": found.ties,
        "duplicates": found.duplicates,
        "common_queries": len(found.queries),
        "mean": {text: finite(value) for text, value in found.mean().items()},
        "queries_with_value": {
            str(measure): int(n)
            for measure, n in zip(found.measures, found.scored.sum(axis=0).tolist(), strict=True)
        },
    }
    yield json.dumps(record, indent=2).removesuffix("\n}")
    if per_query:
        values = (
            {text: finite(value) for text, value in row.items()}
            for row in found.per_query().values()
        )
        yield from _by_query("queries", found.queries, values)
        counts = zip(found.lengths.tolist(), found.common.tolist(), strict=True)
        yield from _by_query(
            "documents",
            found.queries,
            ({"in_a": a, "in_b": b, "common": common} for (a, b), common in counts),
        )
    yield "\n}\n"


def _by_query(title: str, queries: Sequence[str], entries: Iterable[object]) -> Iterator[str]:
    """One query a line, as in the JSON of `idealrank evaluate`."""
    yield f',\n  "{title}": {{'
    for place, (query, entry) in enumerate(zip(queries, entries, strict=True)):
        yield f"{',' if place else ''}\n    {json.dumps(query)}: {json.dumps(entry)}"
    yield "\n  }"


def _side(found: Overlap, side: int, only: Sequence[str]) -> dict[str, object]:
    return {
        "name": found.names[side],
        "path": found.paths[side],
        "only_here": list(only),
        "tied_documents": int(found.tied[:, side].sum()),
        "tied_queries": int((found.tied[:, side] > 0).sum()),
    }


def overlap_rows(found: Overlap, *, per_query: bool = False) -> Iterator[Row]:
    """Titles, and a value a row; empty where a value is undefined."""
    if per_query:
        yield ["run_a", "run_b", "query", "measure", "value", "common", "ties"]
        for (query, values), common in zip(
            found.per_query().items(), found.common.tolist(), strict=True
        ):
            for text, value in values.items():
                yield [*found.names, query, text, csv_cell(value), str(common), found.ties]
        return
    yield _TITLES
    counts = [str(len(queries)) for queries in (found.queries, found.only_a, found.only_b)]
    for (text, value), n in zip(
        found.mean().items(), found.scored.sum(axis=0).tolist(), strict=True
    ):
        yield [*found.names, text, csv_cell(value), str(n), *counts, found.ties]


# --- several runs ---------------------------------------------------------------------------------


def matrix_parts(found: OverlapMatrix) -> list[Part]:
    """The whole report: a matrix for each measure, and what the means cover."""
    return [
        *matrix_tables(found),
        [line for note in matrix_notes(found) for line in wrapped(note, indent="")],
    ]


def matrix_tables(found: OverlapMatrix) -> list[Table]:
    """A table for each measure: a row and a column for each run."""
    short = told_apart(found.names, NARROW)
    tables = []
    for measure in found.measures:
        rows = zip(found.names, found[measure].tolist(), strict=True)
        values = {
            (a, b): value for a, row in rows for b, value in zip(found.names, row, strict=True)
        }
        columns: list[Column[str]] = [Column(title=str(measure), cell=str)]
        columns += [
            _run_column(title, name, values) for title, name in zip(short, found.names, strict=True)
        ]
        tables.append(Table.of(columns, found.names))
    return tables


def _run_column(title: str, name: str, values: Mapping[tuple[str, str], float]) -> Column[str]:
    return Column(
        title=title, kind="number", cell=lambda row: number_cell(finite(values[row, name]))
    )


def matrix_notes(found: OverlapMatrix) -> list[str]:
    """Sentences below the matrices: the queries behind the means, the reference of measures that
    are not symmetric, ties.
    """
    counts = [len(found.pair(a, b).queries) for a, b in product(found.names, repeat=2) if a != b]
    several = (
        f"{min(counts):,} to {max(counts):,}" if min(counts) < max(counts) else f"{counts[0]:,}"
    )
    notes = [f"each mean covers the queries that both runs answer, {several}"]
    lacking = [
        str(measure)
        for measure in found.measures
        if (found.values_with(measure) < found.common()).any()
    ]
    notes += [f"{', '.join(lacking)}: {_NO_VALUE}"] if lacking else []
    turned = [str(measure) for measure in found.measures if not getattr(measure, "symmetric", True)]
    notes += (
        [f"{', '.join(turned)}: not symmetric; the run of the row is the first run"]
        if turned
        else []
    )
    tied = [name for name in found.names if found.pair(name, name).tied.any()]
    ties = found.pair(found.names[0], found.names[0]).ties
    return notes + (
        [f"documents with tied scores {_TIES[ties]} (ties={ties}), in {', '.join(tied)}"]
        if tied
        else []
    )


def matrix_markdown(found: OverlapMatrix) -> str:
    """A Markdown table for each measure."""
    return _pasted(as_markdown, matrix_tables(found), matrix_notes(found))


def matrix_latex(found: OverlapMatrix) -> str:
    r"""A LaTeX table for each measure."""
    return _pasted(as_latex, matrix_tables(found), matrix_notes(found))


def matrix_json(found: OverlapMatrix) -> str:
    """JSON text: each mean by measure and the names of the two runs, with the queries behind it."""
    own = [found.pair(name, name) for name in found.names]
    record = {
        "version": own[0].version,
        "schema": SCHEMA,
        "runs": [
            {"name": name, "path": one.paths[0], "queries": len(one.queries)}
            for name, one in zip(found.names, own, strict=True)
        ],
        "ties": own[0].ties,
        "duplicates": own[0].duplicates,
        "common_queries": _by_names(found, found.common()),
        "mean": {str(measure): _by_names(found, found[measure]) for measure in found.measures},
        "queries_with_value": {
            str(measure): _by_names(found, found.values_with(measure)) for measure in found.measures
        },
    }
    return json.dumps(record, indent=2) + "\n"


def _by_names(found: OverlapMatrix, values: Any) -> dict[str, dict[str, float | int | None]]:
    return {
        a: dict(zip(found.names, map(finite, row), strict=True))
        for a, row in zip(found.names, values.tolist(), strict=True)
    }


def matrix_rows(found: OverlapMatrix) -> Iterator[Row]:
    """The columns of `overlap_rows`, a row for each measure and ordered pair of runs."""
    yield _TITLES
    means = {str(measure): found[measure].tolist() for measure in found.measures}
    for (row, a), (column, b) in product(enumerate(found.names), repeat=2):
        one = found.pair(a, b)
        only = (one.only_a, one.only_b) if one.names == (a, b) else (one.only_b, one.only_a)
        counts = [str(len(queries)) for queries in (one.queries, *only)]
        for (text, values), n in zip(means.items(), one.scored.sum(axis=0).tolist(), strict=True):
            yield [a, b, text, csv_cell(values[row][column]), str(n), *counts, one.ties]
