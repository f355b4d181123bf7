"""Queries without an answer, as tables, Markdown, JSON and CSV."""

import json
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from idealrank.data.interchange import finite
from idealrank.judging import NoAnswer
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import Column, Table, interval_cell, number_cell
from idealrank.reports.table.forms import parts_markdown
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part, filled, wrapped
from idealrank.version import __version__

# false-return rates up to which the table has the best recall
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


def no_answer_parts(found: NoAnswer, *, digits: int | None = None) -> list[Part]:
    """Sentences and tables."""
    places = 3 if digits is None else digits
    kept = (
        f"the highest recall with at most {found.limit:g} false returns"
        if found.limit is not None
        else ("the highest difference of recall and false-return rate")
    )
    opening = (
        f"{len(found.answerable):,} queries with an answer and {len(found.unanswerable):,} "
        f"declared to have none. Threshold of the score: "
        f"{_threshold_text(found.threshold)}, {kept}."
    )
    if found.left_out:
        queries = "query" if found.left_out == 1 else "queries"
        opening += (
            f" Left out, since not declared: {found.left_out:,} judged {queries} without a "
            f"relevant document."
        )
    return [filled(opening), _chosen(found, places), _sweep(found, places), _notes(found)]


def _threshold_text(threshold: float) -> str:
    return "none, nothing is returned" if math.isinf(threshold) else f"{threshold:.6g}"


def _chosen(found: NoAnswer, places: int) -> Table:
    rows = [
        _Rate(f"recall@{found.cutoff}", found.chosen_recall, found.recall_interval),
        _Rate("false returns", found.chosen_false_return_rate, found.false_return_interval),
    ]
    columns: list[Column[_Rate]] = [
        Column(title="rate", cell=lambda row: row.name),
        Column(title="value", kind="number", cell=lambda row: number_cell(row.value, places)),
        Column(
            title=f"{100 * found.confidence:g} % interval",
            kind="number",
            cell=lambda row: interval_cell(row.interval, places),
        ),
    ]
    return Table.of(columns, rows, title="At thresholds chosen on other queries:")


def _sweep(found: NoAnswer, places: int) -> Table:
    """The best recall at a few false-return rates; each threshold once."""
    rows: dict[float, _Step] = {}
    for most in _RATES:
        allowed = np.where(found.false_return_rate <= most, found.recall, -np.inf)
        place = int(allowed.argmax())
        one = _Step(
            float(found.thresholds[place]),
            float(found.recall[place]),
            float(found.false_return_rate[place]),
        )
        rows.setdefault(one.threshold, one)
    columns: list[Column[_Step]] = [
        Column(
            title="threshold", kind="number", cell=lambda row: number_cell(finite(row.threshold), 4)
        ),
        Column(
            title="false returns", kind="number", cell=lambda row: number_cell(row.rate, places)
        ),
        Column(
            title=f"recall@{found.cutoff}",
            kind="number",
            cell=lambda row: number_cell(row.recall, places),
        ),
    ]
    return Table.of(
        columns, list(rows.values()), title="Best recall by false-return rate, all queries:"
    )


def _notes(found: NoAnswer) -> list[str]:
    phrases = (
        "false returns: share of the declared queries for which the run returns a document "
        "with this score or a higher one; recall: over "
        f"the other queries, down to rank {found.cutoff}; first table: each query at the "
        f"threshold chosen without its fold "
        f"({found.fold_thresholds.size} folds), so that the rates hold for new queries; "
        f"second table: all queries"
    )
    return ["method", *wrapped(phrases)]


def no_answer_markdown(found: NoAnswer, *, digits: int | None = None) -> str:
    """The report as Markdown."""
    return parts_markdown(no_answer_parts(found, digits=digits))


def no_answer_json(found: NoAnswer, *, digits: int | None = None) -> str:  # noqa: ARG001  (all of it)
    """JSON text with the whole sweep and every digit."""
    return (
        json.dumps({"version": __version__, "schema": SCHEMA, **found.as_dict()}, indent=2) + "\n"
    )


def no_answer_rows(found: NoAnswer, *, digits: int | None = None) -> Iterator[Row]:  # noqa: ARG001  (all of it)
    """Titles, and a row for each threshold of the sweep; an empty threshold returns nothing."""
    yield ["run", "threshold", "recall", "false_return_rate"]
    for row in zip(
        found.thresholds.tolist(),
        found.recall.tolist(),
        found.false_return_rate.tolist(),
        strict=True,
    ):
        yield [found.name, *map(number_text, row)]
