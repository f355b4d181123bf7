"""Output of trec_eval: a line for each query and measure, then a line for each measure for all
queries.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from idealrank.data.types import FloatArray, encode_id
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.measures.sums import aggregate
from idealrank.reports.table.records import refuse_broken_lines

ZScores = Mapping[tuple[str, str], tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class TrecColumn:
    """One measure under the name that is printed."""

    name: str  # As trec_eval writes it, parameters included
    measure: Measure  # Measure of the line of a query
    summary: Measure | None = None  # Measure of the line for all queries, if it is another one
    # Value that a document adds which trec_eval makes up for a query without a list, or its text;
    # None if it adds nothing
    made_up: float | str | None = None

    @property
    def per_query(self) -> bool:
        """Return whether queries have a line; not for the number of queries and geometric means."""
        return self.measure.name != "NumQ" and self.measure.aggregate != "geometric"


def trec_eval_report(
    evaluation: Evaluation,
    columns: Sequence[TrecColumn],
    *,
    runid: str | None,
    per_query: bool = False,
    summary: bool = True,
    silent: Collection[str] = (),
    made_up: Collection[str] = (),
    zscores: ZScores | None = None,
) -> Iterator[str]:
    r"""Yield the text, in pieces; `silent` are queries without lines, and `made_up` the queries
    with a document that trec_eval makes up.
    """
    refuse_broken_lines(evaluation, runid, per_query=per_query)
    table = {
        column.name: _values(evaluation, column, zscores, silent, made_up) for column in columns
    }
    if per_query:
        yield from _queries(
            evaluation,
            [column for column in columns if column.per_query],
            table,
            silent,
            made_up,
            scored=zscores is not None,
        )
    if summary:
        yield from _summary(evaluation, columns, table, runid, scored=zscores is not None)


def _values(
    evaluation: Evaluation,
    column: TrecColumn,
    zscores: ZScores | None,
    silent: Collection[str],
    made_up: Collection[str],
) -> FloatArray:
    """Return the values of a column by query, as z-scores if means and deviations are given."""
    values = evaluation[column.measure]
    # YAAP of an empty list is not 0, but version 9 computes nothing and counts 0.
    if silent and column.measure.name == "YAAP":
        values = np.where([query in silent for query in evaluation.queries], 0.0, values)
    if isinstance(column.made_up, float):
        values = values + np.where(
            [query in made_up for query in evaluation.queries], column.made_up, 0.0
        )
    if zscores is None or not column.per_query or column.measure.aggregate == "text":
        return values
    moved = values.copy()
    for row, query in enumerate(evaluation.queries):
        if (query, column.name) not in zscores:
            raise InputError(
                f"-Z: found no line for {column.name} of query {query}, expected one for every "
                "measure and query that is printed"
            )
        mean, deviation = zscores[query, column.name]
        moved[row] = (values[row] - mean) / deviation if deviation else 0.0
    return moved


def _queries(
    evaluation: Evaluation,
    columns: Sequence[TrecColumn],
    table: Mapping[str, FloatArray],
    silent: Collection[str],
    made_up: Collection[str],
    *,
    scored: bool,
) -> Iterator[str]:
    """Yield the lines of query after query, in the order of their ids as bytes."""
    ids = list(evaluation.queries)
    cells = [_cells(evaluation, column, table[column.name], made_up) for column in columns]
    # One format for all lines of a query, with \0 in the place of the id: a format for each line
    # takes several times as long.
    lines = "".join(
        f"{_label(column, scored=scored)}\t\0\t{_form(column, scored=scored)}\n"
        for column in columns
    )
    for row in sorted(range(len(ids)), key=lambda row: encode_id(ids[row])):
        if ids[row] not in silent:
            of_query = lines.replace("\0", ids[row].replace("%", "%%"))
            yield of_query % tuple(cell[row] for cell in cells)


def _cells(
    evaluation: Evaluation, column: TrecColumn, values: FloatArray, made_up: Collection[str]
) -> Sequence[object]:
    if column.measure.aggregate == "text":
        texts = evaluation.texts[str(column.measure)]
        if column.made_up is not None:
            return [
                column.made_up if query in made_up else text
                for query, text in zip(evaluation.queries, texts, strict=True)
            ]
        return texts
    return values.tolist()  # type: ignore[no-any-return]


def _label(column: TrecColumn, *, scored: bool) -> str:
    name = f"{column.name:<22}".replace("%", "%%")
    return f"Z{name}" if scored and column.measure.aggregate != "text" else name


def _form(column: TrecColumn, *, scored: bool) -> str:
    if column.measure.aggregate == "text":
        return "%s"
    return "%d" if column.measure.aggregate == "sum" and not scored else "%6.4f"


def _summary(
    evaluation: Evaluation,
    columns: Sequence[TrecColumn],
    table: Mapping[str, FloatArray],
    runid: str | None,
    *,
    scored: bool,
) -> Iterator[str]:
    if runid is not None:
        yield f"{'runid':<22}\tall\t{runid}\n"
    for column in columns:
        if column.measure.aggregate != "text":
            total = _total(evaluation, column, table[column.name], scored=scored)
            value = _form(column, scored=scored) % total
            yield f"{_label(column, scored=scored)}\tall\t%s\n" % value


def _total(
    evaluation: Evaluation, column: TrecColumn, values: FloatArray, *, scored: bool
) -> float:
    """Return the mean, the sum or the geometric mean; trec_eval prints 0 for the z-score of a
    geometric mean.
    """
    if scored and column.measure.aggregate == "geometric":
        return 0.0
    if column.summary is not None and not scored:
        return evaluation.mean()[str(column.summary)]
    counts = evaluation.scored[:, evaluation.measures.index(column.measure)]
    total = aggregate(column.measure, values, counts)
    return 0.0 if math.isnan(total) else total
