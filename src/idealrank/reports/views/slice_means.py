"""Means of runs on slices of the queries: tables to read and to paste, and rows for programs."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from idealrank.evaluation.evaluate import Evaluation
from idealrank.reports.table.cells import Cell, Column, Table, count_cell, interval_cell
from idealrank.reports.table.digits import decimals, number
from idealrank.reports.table.records import csv_row

if TYPE_CHECKING:
    from idealrank.analysis.comparison import RunMean, SliceMeans


class _Row(NamedTuple):
    name: str
    queries: int
    means: "dict[str, RunMean]"


def slice_tables(evaluations: Sequence[Evaluation], found: "Sequence[SliceMeans]", digits: int | None = None) -> list[Table]:
    """A table for each run: a row for each slice, with the mean and the interval of each measure.

    Examples
    --------
    >>> import idealrank as ir
    >>> run = ir.evaluate({q: {"x": 1} for q in "abc"}, {"a": ["x"], "b": ["y", "x"], "c": ["x"]}, "RR")
    >>> [cell.text for cell in slice_tables([run], [run.by(dict.fromkeys("ab", "short"))])[0].rows[0]]
    ['short', '2', '0.75', '[-2.43, 3.93]']
    """
    return [_table(evaluation, one, digits) for evaluation, one in zip(evaluations, found, strict=True)] if found else []


def _table(evaluation: Evaluation, found: "SliceMeans", digits: int | None) -> Table:
    rows = [_Row(name, found.queries[name], dict(means)) for name, means in found.slices.items()]
    columns: list[Column[_Row]] = [
        Column(f"{evaluation.name}, by slice", cell=lambda row: row.name),
        Column("queries", "number", lambda row: count_cell(row.queries)),
    ]
    for measure in evaluation.measures:
        text = str(measure)
        known = [row.means[text].interval for row in rows if math.isfinite(row.means[text].interval[0])]
        columns += _columns(text, decimals(known, asked=digits), is_sum=measure.aggregate == "sum", is_mean=measure.aggregate == "mean")
    notes = [words] if (words := _left_out(found)) else []
    return Table.of(columns, rows, notes=[f"{found.level:.0%} intervals of each mean alone (Student)", *notes])


def _columns(text: str, places: int, *, is_sum: bool, is_mean: bool) -> "list[Column[_Row]]":
    def mean(row: _Row) -> Cell:
        value = row.means[text].mean
        return Cell("-") if math.isnan(value) else Cell(f"{value:,.0f}" if is_sum else number(value, places), value)

    columns: list[Column[_Row]] = [Column(text, "number", mean)]
    return [*columns, Column("interval", "number", lambda row: interval_cell(row.means[text].interval, places))] if is_mean else columns


def _left_out(found: "SliceMeans") -> str:
    parts = [
        f"{found.counts[key]:,} {words}" for key, words in (("in_none", "in no slice"), ("in_several", "in several")) if found.counts[key]
    ]
    return f"queries {' and '.join(parts)}" if parts else ""


def slice_csv(evaluations: Sequence[Evaluation], found: "Sequence[SliceMeans]") -> Iterator[str]:
    r"""CSV with header: a mean a row with its interval, and the number of queries that count.

    Examples
    --------
    >>> import idealrank as ir
    >>> run = ir.evaluate({"a": {"x": 1}}, {"a": ["x"]}, "RR")
    >>> list(slice_csv([run], [run.by({"a": "short"})]))[1]
    'run,short,RR,1.0,,,1,standard [50871d00]\n'
    """
    yield csv_row(["run", "slice", "measure", "value", "low", "high", "n", "convention"])
    for evaluation, one in zip(evaluations, found, strict=True):
        for name, means in one.slices.items():
            for measure, row in means.items():
                values = ["" if not math.isfinite(value) else repr(value) for value in (row.mean, *row.interval)]
                yield csv_row([evaluation.name, name, measure, *values, str(row.n), str(evaluation.convention)])
