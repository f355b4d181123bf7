"""Queries without an answer, as tables, Markdown, JSON and CSV."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from idealrank.data.interchange import finite
from idealrank.judging import NoAnswer
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import Column, Table, interval_cell, number_cell
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part, filled, wrapped

# False-return rates up to which the table has the best recall
_RATES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


class _Rate(NamedTuple):
    """A rate at the chosen threshold."""

    name: str
    value: float
    interval: tuple[float, float]


class _Step(NamedTuple):
    """A threshold of the sweep."""

    threshold: float
    recall: float
    rate: float


def no_answer_parts(rates: NoAnswer, *, digits: int | None = None) -> list[Part]:
    """Return the report as sentences and tables."""
    places = 3 if digits is None else digits
    rule = "the highest difference of recall and false-return rate"
    if rates.limit is not None:
        rule = f"the highest recall with at most {rates.limit:g} false returns"
    opening = (
        f"{len(rates.answerable):,} queries with an answer and {len(rates.unanswerable):,} "
        f"declared to have none. Threshold of the score: {_threshold_text(rates.threshold)}, "
        f"{rule}."
    )
    if rates.left_out:
        queries = "query" if rates.left_out == 1 else "queries"
        opening += (
            f" Left out, since not declared: {rates.left_out:,} judged {queries} without a "
            f"relevant document."
        )
    return [filled(opening), _chosen(rates, places), _sweep(rates, places), _notes(rates)]


def _threshold_text(threshold: float) -> str:
    return "none, nothing is returned" if math.isinf(threshold) else f"{threshold:.6g}"


def _chosen(rates: NoAnswer, places: int) -> Table:
    rows = [
        _Rate(f"recall@{rates.cutoff}", rates.chosen_recall, rates.recall_interval),
        _Rate("false returns", rates.chosen_false_return_rate, rates.false_return_interval),
    ]
    columns: list[Column[_Rate]] = [
        Column(title="rate", cell=lambda row: row.name),
        Column(title="value", kind="number", cell=lambda row: number_cell(row.value, places)),
        Column(
            title=f"{100 * rates.confidence:g} % interval",
            kind="number",
            cell=lambda row: interval_cell(row.interval, places),
        ),
    ]
    return Table.of(columns, rows, title="At thresholds chosen on other queries:")


def _sweep(rates: NoAnswer, places: int) -> Table:
    """Return a table of the best recall at a few false-return rates; each threshold once."""
    rows: dict[float, _Step] = {}
    for limit in _RATES:
        allowed = np.where(rates.false_return_rate <= limit, rates.recall, -np.inf)
        best = int(allowed.argmax())
        step = _Step(
            threshold=float(rates.thresholds[best]),
            recall=float(rates.recall[best]),
            rate=float(rates.false_return_rate[best]),
        )
        rows.setdefault(step.threshold, step)
    columns: list[Column[_Step]] = [
        Column(
            title="threshold", kind="number", cell=lambda row: number_cell(finite(row.threshold), 4)
        ),
        Column(
            title="false returns", kind="number", cell=lambda row: number_cell(row.rate, places)
        ),
        Column(
            title=f"recall@{rates.cutoff}",
            kind="number",
            cell=lambda row: number_cell(row.recall, places),
        ),
    ]
    return Table.of(
        columns, list(rows.values()), title="Best recall by false-return rate, all queries:"
    )


def _notes(rates: NoAnswer) -> list[str]:
    phrases = (
        "false returns: share of the declared queries for which the run returns a document with "
        f"this score or a higher one; recall: over the other queries, down to rank {rates.cutoff}; "
        "first table: each query at the threshold chosen without its fold "
        f"({rates.fold_thresholds.size} folds), so that the rates hold for new queries; second "
        "table: all queries"
    )
    return ["method", *wrapped(phrases)]


def no_answer_json(rates: NoAnswer) -> str:
    """Return JSON text with the whole sweep and every digit."""
    return result_json(rates.as_dict())


def no_answer_rows(rates: NoAnswer) -> Iterator[Row]:
    """Yield titles, and a row for each threshold; an empty threshold returns nothing."""
    yield ["run", "threshold", "recall", "false_return_rate"]
    for row in zip(
        rates.thresholds.tolist(),
        rates.recall.tolist(),
        rates.false_return_rate.tolist(),
        strict=True,
    ):
        yield [rates.name, *map(number_text, row)]
