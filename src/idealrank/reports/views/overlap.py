"""Overlap of two runs, as a table, JSON and CSV; each contains the number of queries."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from idealrank.data.interchange import finite
from idealrank.evaluation.overlap import Overlap
from idealrank.reports.table.cells import Column, Table, count_cell, number_cell
from idealrank.reports.table.records import SCHEMA, csv_cell, csv_row
from idealrank.reports.table.text import Part, wrapped

_SOME = 5
_TIES = {
    "shared": "share a rank",
    "docid": "are ordered by document id, descending",
    "docid-ascending": "are ordered by document id, ascending",
    "input": "are in input order",
    "expected": "are put in every order, and values are the mean over all",
}


def overlap_parts(found: Overlap, *, per_query: bool = False) -> list[Part]:
    """The whole report.

    Parameters
    ----------
    found : Overlap
        What is to be shown.
    per_query : bool
        Values of each query above the means.

    Examples
    --------
    >>> import idealrank as ir
    >>> from idealrank.reports.table.text import parts_text
    >>> print(parts_text(overlap_parts(ir.overlap({"q": ["a", "b"]}, {"q": ["a", "c"]}, "overlap@2"))), end="")
    A and B: 1 query in both, 0 only in A, 0 only in B
    <BLANKLINE>
    measure      mean  queries
    overlap@2  0.5000        1
    """
    return [overlap_said(found), *([_per_query(found)] if per_query else []), overlap_means(found), _notes(found)]


def overlap_said(found: Overlap) -> list[str]:
    """List the queries that both runs answer, and only one; one line each.

    Examples
    --------
    >>> import idealrank as ir
    >>> overlap_said(ir.overlap({"p": ["a"], "q": ["a"]}, {"q": ["a"]}, "overlap@2"))[1]
    '  only in A: p'
    """
    a, b = found.names
    n, only_a, only_b = len(found.queries), len(found.only_a), len(found.only_b)
    lines = [f"{a} and {b}: {n:,} {_queries(n)} in both, {only_a:,} only in {a}, {only_b:,} only in {b}"]
    for name, queries in ((a, found.only_a), (b, found.only_b)):
        if len(queries):
            lines.append(f"  only in {name}: {', '.join(list(queries)[:_SOME])}{', ...' if len(queries) > _SOME else ''}")
    return lines


def _queries(n: int) -> str:
    return "query" if n == 1 else "queries"


def overlap_means(found: Overlap) -> Table:
    """A row a measure, with its mean and the queries that have a value.

    Examples
    --------
    >>> import idealrank as ir
    >>> overlap_means(ir.overlap({"q": ["a", "b"]}, {"q": ["a", "c"]}, "overlap@2")).rows[0][1].value
    0.5
    """
    means = found.mean()
    counted = dict(zip(means, found.scored.sum(axis=0).tolist(), strict=True))
    columns: list[Column[str]] = [
        Column("measure", cell=str),
        Column("mean", "number", lambda measure: number_cell(means[measure])),
        Column("queries", "number", lambda measure: count_cell(counted[measure])),
    ]
    return Table.of(columns, means)


def _per_query(found: Overlap) -> Table:
    a, b = found.names
    columns: list[Column[_Query]] = [
        Column("query", cell=lambda one: one.query),
        Column(f"in {a}", "number", lambda one: count_cell(one.length_a, "quiet")),
        Column(f"in {b}", "number", lambda one: count_cell(one.length_b, "quiet")),
        Column("common", "number", lambda one: count_cell(one.common, "quiet")),
        *map(_value_column, map(str, found.measures)),
    ]
    counted = zip(found.lengths.tolist(), found.common.tolist(), strict=True)
    rows = [
        _Query(query, first, second, common, of)
        for (query, of), ((first, second), common) in zip(found.per_query().items(), counted, strict=True)
    ]
    return Table.of(columns, rows)


def _value_column(measure: str) -> "Column[_Query]":
    return Column(measure, "number", lambda one: number_cell(one.values[measure]))


class _Query(NamedTuple):
    """A query: documents of both runs, how many are common, values by measure."""

    query: str
    length_a: int
    length_b: int
    common: int
    values: Mapping[str, float | None]


def _notes(found: Overlap) -> list[str]:
    """List the notes needed to understand the numbers."""
    n = len(found.queries)
    missing = [str(measure) for measure, scored in zip(found.measures, found.scored.sum(axis=0).tolist(), strict=True) if scored < n]
    notes = [f"{', '.join(missing)}: no value where fewer than two common documents can be put in order"] if missing else []
    tied = found.tied.sum(axis=0).tolist()
    if any(tied):
        where = (found.tied > 0).sum(axis=0).tolist()
        counts = " and ".join(
            f"{documents:,} in {queries:,} {_queries(queries)} of {name}"
            for name, documents, queries in zip(found.names, tied, where, strict=True)
            if documents
        )
        notes.append(f"documents with tied scores {_TIES[found.ties]} (ties={found.ties}): {counts}")
    return [line for note in notes for line in wrapped(note, indent="")]


def overlap_json(found: Overlap, *, per_query: bool = False) -> Iterator[str]:
    """JSON text; float64 in the shortest form that reads back, null where a value is undefined.

    Examples
    --------
    >>> import idealrank as ir
    >>> record = json.loads("".join(overlap_json(ir.overlap({"q": ["a"]}, {"q": ["a"]}, "overlap@2"))))
    >>> record["mean"], record["common_queries"]
    ({'overlap@2': 0.5}, 1)
    """
    record = {
        "version": found.version,
        "schema": SCHEMA,
        "run_a": _side(found, 0, found.only_a),
        "run_b": _side(found, 1, found.only_b),
        "ties": found.ties,
        "duplicates": found.duplicates,
        "common_queries": len(found.queries),
        "mean": {text: finite(value) for text, value in found.mean().items()},
        "queries_with_value": {str(measure): int(n) for measure, n in zip(found.measures, found.scored.sum(axis=0).tolist(), strict=True)},
    }
    yield json.dumps(record, indent=2).removesuffix("\n}")
    if per_query:
        values = ({text: finite(value) for text, value in row.items()} for row in found.per_query().values())
        yield from _by_query("queries", found.queries, values)
        counts = zip(found.lengths.tolist(), found.common.tolist(), strict=True)
        yield from _by_query("documents", found.queries, ({"in_a": a, "in_b": b, "common": common} for (a, b), common in counts))
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


def overlap_csv(found: Overlap, *, per_query: bool = False) -> Iterator[str]:
    r"""CSV with header, a value a row; empty where a value is undefined.

    Examples
    --------
    >>> import idealrank as ir
    >>> list(overlap_csv(ir.overlap({"q": ["a"]}, {"q": ["a"]}, "overlap@2")))[1]
    'A,B,overlap@2,0.5,1,1,0,0,shared\n'
    """
    if per_query:
        yield csv_row(["run_a", "run_b", "query", "measure", "value", "common", "ties"])
        for (query, values), common in zip(found.per_query().items(), found.common.tolist(), strict=True):
            for text, value in values.items():
                yield csv_row([*found.names, query, text, csv_cell(value), str(common), found.ties])
        return
    yield csv_row(["run_a", "run_b", "measure", "value", "queries", "in_both", "only_a", "only_b", "ties"])
    counts = [str(len(queries)) for queries in (found.queries, found.only_a, found.only_b)]
    for (text, value), n in zip(found.mean().items(), found.scored.sum(axis=0).tolist(), strict=True):
        yield csv_row([*found.names, text, csv_cell(value), str(n), *counts, found.ties])
