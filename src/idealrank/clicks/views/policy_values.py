"""Values of policies from logged rewards, as tables, JSON and CSV."""

import json
import math
from collections.abc import Iterator, Sequence

from idealrank.clicks import PolicyDifference, PolicyValue
from idealrank.data.interchange import finite
from idealrank.reports.table.cells import (
    Cell,
    Column,
    Table,
    count_cell,
    interval_cell,
    number_cell,
)
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part
from idealrank.version import __version__

PLACES = 5
NEEDED = "rows needed: for a difference of this size, with power 0.8; more: beyond the log"


def estimate_parts(
    values: Sequence[PolicyValue], differences: Sequence[PolicyDifference] = ()
) -> list[Part]:
    """Cautions, a row an estimator, and differences."""
    cautions = dict.fromkeys(
        caution for one in (*values, *(two.b for two in differences)) for caution in one.cautions
    )
    confidence = f"{100 * values[0].confidence:g} % interval"
    columns: list[Column[PolicyValue]] = [
        Column(title="estimator", cell=lambda one: one.estimator),
        Column(title="value", kind="number", cell=lambda one: number_cell(one.value, PLACES)),
        Column(
            title=confidence, kind="number", cell=lambda one: interval_cell(one.interval, PLACES)
        ),
        Column(title="rows", kind="number", cell=lambda one: count_cell(one.n)),
        Column(
            title="worth",
            kind="number",
            cell=lambda one: count_cell(round(one.effective_sample_size)),
        ),
        Column(
            title="largest weight", kind="number", cell=lambda one: number_cell(one.max_weight, 2)
        ),
        Column(
            title="mean weight", kind="number", cell=lambda one: number_cell(one.mean_weight, 3)
        ),
    ]
    pairs: list[Column[PolicyDifference]] = [
        Column(title="B - A by", cell=lambda one: one.a.estimator),
        Column(
            title="difference",
            kind="number",
            cell=lambda one: number_cell(one.value, PLACES, signed=True),
        ),
        Column(
            title=confidence, kind="number", cell=lambda one: interval_cell(one.interval, PLACES)
        ),
        Column(title="B is", cell=lambda one: one.verdict),
        Column(title="rows needed", kind="number", cell=lambda one: needed_cell(one.rows_needed())),
        Column(
            title="more", kind="number", cell=lambda one: needed_cell(one.rows_needed(), one.a.n)
        ),
    ]
    parts: list[Part] = [[f"No verdict: {caution}" for caution in cautions]] if cautions else []
    parts.append(Table.of(columns, values))
    if differences:
        parts.append(Table.of(pairs, differences, notes=[NEEDED]))
    return parts


def needed_cell(needed: float, there: int = 0) -> Cell:
    """Number of rows or lists that a difference needs, beyond those that are there; empty without a
    difference.
    """
    return (
        number_cell(None) if math.isinf(needed) else count_cell(max(0, math.ceil(needed) - there))
    )


def estimate_json(
    values: Sequence[PolicyValue], differences: Sequence[PolicyDifference] = ()
) -> str:
    """JSON text."""
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "values": [_value_record(one) for one in values],
        "differences": [
            {
                "estimator": one.a.estimator,
                "difference": one.value,
                "standard_error": one.standard_error,
                "interval": list(one.interval),
                "verdict": one.verdict,
                "rows_needed": one.rows_needed(),
                "more_rows": max(0.0, one.rows_needed() - one.a.n),
                "b": _value_record(one.b),
            }
            for one in differences
        ],
    }
    return json.dumps(finite(record), indent=2) + "\n"


def _value_record(one: PolicyValue) -> dict[str, object]:
    return {
        "estimator": one.estimator,
        "value": one.value,
        "standard_error": one.standard_error,
        "interval": list(one.interval),
        "confidence": one.confidence,
        "rows": one.n,
        "clusters": one.n_clusters,
        "effective_sample_size": one.effective_sample_size,
        "max_weight": one.max_weight,
        "mean_weight": one.mean_weight,
        "largest_share": one.largest_share,
        "clipped_rows": one.n_clipped,
        "cautions": list(one.cautions),
    }


def estimate_rows(
    values: Sequence[PolicyValue], differences: Sequence[PolicyDifference] = ()
) -> Iterator[Row]:
    """Titles, a row an estimator, and a row a difference."""
    yield [
        "estimator",
        "of",
        "value",
        "standard_error",
        "low",
        "high",
        "effective_sample_size",
        "max_weight",
    ]
    for one in values:
        yield [
            one.estimator,
            "A",
            *map(
                repr,
                (
                    one.value,
                    one.standard_error,
                    *one.interval,
                    one.effective_sample_size,
                    one.max_weight,
                ),
            ),
        ]
    for two in differences:
        yield [
            two.a.estimator,
            "B - A",
            *map(repr, (two.value, two.standard_error, *two.interval)),
            "",
            "",
        ]
