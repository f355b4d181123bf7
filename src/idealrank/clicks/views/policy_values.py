"""Values of policies from logged rewards, and of rankers and policies from logged lists, as tables,
JSON and CSV.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from idealrank.clicks import (
    ListMean,
    LoggedDCG,
    LoggedDCGDifference,
    PolicyDifference,
    PolicyValue,
    SlateDifference,
    SlateValue,
)
from idealrank.reports.table.cells import (
    Cell,
    Column,
    Table,
    count_cell,
    interval_cell,
    number_cell,
)
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part, wrapped

PLACES = 5
NEEDED = "rows needed: for a difference of this size, with power 0.8; more: beyond the log"


def distinct_cautions(values: Iterable[PolicyValue]) -> list[str]:
    """Each caution of some values once."""
    return list(dict.fromkeys(chain.from_iterable(value.cautions for value in values)))


def estimate_parts(
    values: Sequence[PolicyValue], differences: Sequence[PolicyDifference] = ()
) -> list[Part]:
    """Return cautions, a table with a row for each estimator, and the differences."""
    cautions = distinct_cautions([*values, *(difference.b for difference in differences)])
    confidence = f"{100 * values[0].confidence:g} % interval"
    columns: list[Column[PolicyValue]] = [
        Column(title="estimator", cell=lambda value: value.estimator),
        Column(title="value", kind="number", cell=lambda value: number_cell(value.value, PLACES)),
        Column(
            title=confidence,
            kind="number",
            cell=lambda value: interval_cell(value.interval, PLACES),
        ),
        Column(title="rows", kind="number", cell=lambda value: count_cell(value.n)),
        Column(
            title="worth",
            kind="number",
            cell=lambda value: count_cell(round(value.effective_sample_size)),
        ),
        Column(
            title="largest weight",
            kind="number",
            cell=lambda value: number_cell(value.max_weight, 2),
        ),
        Column(
            title="mean weight", kind="number", cell=lambda value: number_cell(value.mean_weight, 3)
        ),
    ]

    pairs: list[Column[PolicyDifference]] = [
        Column(title="B - A by", cell=lambda difference: difference.a.estimator),
        Column(
            title="difference",
            kind="number",
            cell=lambda difference: number_cell(difference.value, PLACES, signed=True),
        ),
        Column(
            title=confidence,
            kind="number",
            cell=lambda difference: interval_cell(difference.interval, PLACES),
        ),
        Column(title="B is", cell=lambda difference: difference.verdict),
        Column(
            title="rows needed",
            kind="number",
            cell=lambda difference: needed_cell(difference.rows_needed()),
        ),
        Column(
            title="more",
            kind="number",
            cell=lambda difference: needed_cell(difference.rows_needed(), difference.a.n),
        ),
    ]

    parts: list[Part] = [[f"No verdict: {caution}" for caution in cautions]] if cautions else []
    parts.append(Table.of(columns, values, kept=3))
    if differences:
        parts.append(Table.of(pairs, differences, notes=[NEEDED], kept=4))
    return parts


def needed_cell(needed: float, available: int = 0) -> Cell:
    """Number of rows or lists that a difference needs, beyond those that are there; empty without a
    difference.
    """
    if math.isinf(needed):
        return number_cell(None)
    return count_cell(max(0, math.ceil(needed) - available))


def estimate_json(
    values: Sequence[PolicyValue], differences: Sequence[PolicyDifference] = ()
) -> str:
    """Write the result as JSON text."""
    record = {
        "values": [_value_record(value) for value in values],
        "differences": [
            {
                "estimator": difference.a.estimator,
                "difference": difference.value,
                "standard_error": difference.standard_error,
                "interval": list(difference.interval),
                "verdict": difference.verdict,
                "rows_needed": difference.rows_needed(),
                "more_rows": max(0.0, difference.rows_needed() - difference.a.n),
                "b": _value_record(difference.b),
            }
            for difference in differences
        ],
    }
    return result_json(record)


def _value_record(value: PolicyValue) -> dict[str, object]:
    return {
        "estimator": value.estimator,
        "value": value.value,
        "standard_error": value.standard_error,
        "interval": list(value.interval),
        "confidence": value.confidence,
        "rows": value.n,
        "clusters": value.n_clusters,
        "effective_sample_size": value.effective_sample_size,
        "max_weight": value.max_weight,
        "mean_weight": value.mean_weight,
        "largest_share": value.largest_share,
        "clipped_rows": value.n_clipped,
        "cautions": list(value.cautions),
    }


def estimate_rows(
    values: Sequence[PolicyValue], differences: Sequence[PolicyDifference] = ()
) -> Iterator[Row]:
    """Yield titles, a row for each estimator, and a row for each difference."""
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
    for value in values:
        numbers = (value.value, value.standard_error, *value.interval)
        weights = (value.effective_sample_size, value.max_weight)
        yield [value.estimator, "A", *map(repr, (*numbers, *weights))]
    for difference in differences:
        numbers = (difference.value, difference.standard_error, *difference.interval)
        yield [difference.a.estimator, "B - A", *map(repr, numbers), "", ""]


_NEEDED = NEEDED.replace("rows", "lists")


class _RunRow(NamedTuple):
    """A run and its value."""

    run: str
    value: LoggedDCG


class _DifferenceRow(NamedTuple):
    """Difference of two runs in a measure, with what only DCG has: a verdict and lists needed."""

    measure: str
    mean: ListMean
    verdict: str
    needed: float


def dcg_parts(
    values: Mapping[str, LoggedDCG],
    difference: LoggedDCGDifference | None = None,
    *,
    units: str = "lists",
) -> list[Part]:
    """Return cautions, a table with a row for each run, and the difference."""
    cautions = []
    for name, value in values.items():
        cautions += [f"No verdict on {name}: {caution}" for caution in value.cautions]
    first = next(iter(values.values()))
    confidence = f"{100 * first.confidence:g} % interval"
    columns: list[Column[_RunRow]] = [
        Column(title="run", cell=lambda row: row.run),
        Column(
            title="DCG", kind="number", cell=lambda row: number_cell(row.value.dcg.value, PLACES)
        ),
        Column(
            title=confidence,
            kind="number",
            cell=lambda row: interval_cell(row.value.dcg.interval, PLACES),
        ),
        Column(
            title="NDCG",
            kind="number",
            cell=lambda row: number_cell(_number_or_none(row.value.ndcg.value), PLACES),
        ),
        Column(title="clicks", kind="number", cell=lambda row: count_cell(row.value.n_clicks)),
        Column(
            title="worth",
            kind="number",
            cell=lambda row: count_cell(round(row.value.effective_sample_size)),
        ),
        Column(
            title="largest weight",
            kind="number",
            cell=lambda row: number_cell(row.value.max_weight, 2),
        ),
        Column(
            title="never shown",
            kind="number",
            cell=lambda row: Cell(f"{row.value.never_shown:.1%}", row.value.never_shown),
        ),
    ]

    parts: list[Part] = [cautions] if cautions else []
    parts.append(Table.of(columns, [_RunRow(*item) for item in values.items()], kept=3))
    if difference is not None:
        parts.append(_difference_table(difference, confidence))
        if difference.inverted:
            parts.append(
                [
                    "NDCG orders the runs against DCG. It gives each list the same weight: the "
                    "verdict is by DCG."
                ]
            )
    method = (
        f"DCG: mean over {first.n_lists:,} lists of their clicks; a click counts the discount of "
        "its new rank, divided by its exposure; exposure: propensity of the ranks of a document, "
        "over all lists of its query; never shown: share of the discounts on documents that the "
        f"log lacks; intervals: normal, by {units[:-1]}, "
        f"{'with' if first.propensity_errors else 'without'} the errors of the propensities; "
        f"{_assumed(first)}only DCG is unbiased; NDCG gives each list the same weight, which can "
        "invert the order of two rankers"
    )
    return [*parts, ["method", *wrapped(method)]]


def _difference_table(difference: LoggedDCGDifference, confidence: str) -> Table:
    """Make a table with a row for each measure."""
    # More lists do not mend the support.
    needed = math.inf if difference.verdict == "no support" else difference.lists_needed()
    columns: list[Column[_DifferenceRow]] = [
        Column(title="B - A by", cell=lambda row: row.measure),
        Column(
            title="difference",
            kind="number",
            cell=lambda row: number_cell(_number_or_none(row.mean.value), PLACES, signed=True),
        ),
        Column(
            title=confidence,
            kind="number",
            cell=lambda row: interval_cell(row.mean.interval, PLACES),
        ),
        Column(title="B is", cell=lambda row: row.verdict),
        Column(title="lists needed", kind="number", cell=lambda row: needed_cell(row.needed)),
        Column(
            title="more",
            kind="number",
            cell=lambda row: needed_cell(row.needed, difference.a.n_lists),
        ),
    ]
    rows = [
        _DifferenceRow(
            measure="DCG", mean=difference.dcg, verdict=difference.verdict, needed=needed
        ),
        _DifferenceRow(measure="NDCG", mean=difference.ndcg, verdict="-", needed=math.inf),
    ]
    return Table.of(columns, rows, notes=[_NEEDED], kept=4)


def _assumed(value: LoggedDCG) -> str:
    """State the assumption of no trust bias. Offsets correct for it, and leave no NDCG."""
    if math.isnan(value.ndcg.value):
        return ""
    return "assumed: no trust bias (`clicks propensity --method trust` tests it); "


def dcg_json(
    values: Mapping[str, LoggedDCG],
    difference: LoggedDCGDifference | None = None,
    *,
    units: str = "lists",
) -> str:
    """Write the result as JSON text."""
    record: dict[str, object] = {
        "units": units,
        "runs": [
            {
                "run": name,
                "dcg": _mean(value.dcg),
                "ndcg": _mean(value.ndcg),
                "lists": value.n_lists,
                "clicks": value.n_clicks,
                "effective_sample_size": value.effective_sample_size,
                "max_weight": value.max_weight,
                "confidence": value.confidence,
                "never_shown": value.never_shown,
                "propensity_errors": value.propensity_errors,
                "cautions": list(value.cautions),
                "warning": value.warning,
            }
            for name, value in values.items()
        ],
    }
    if difference is not None:
        record["difference"] = {
            "dcg": _mean(difference.dcg),
            "ndcg": _mean(difference.ndcg),
            "inverted": difference.inverted,
            "verdict": difference.verdict,
            "lists_needed": difference.lists_needed(),
            "more_lists": max(0.0, difference.lists_needed() - difference.a.n_lists),
        }
    return result_json(record)


def dcg_rows(
    values: Mapping[str, LoggedDCG],
    difference: LoggedDCGDifference | None = None,
) -> Iterator[Row]:
    """Yield titles, a row for each run and measure, and the differences."""
    yield ["of", "measure", "value", "standard_error", "low", "high"]
    for name, value in values.items():
        yield [name, "DCG", *_numbers(value.dcg)]
        yield [name, "NDCG", *_numbers(value.ndcg)]
    if difference is not None:
        yield ["B - A", "DCG", *_numbers(difference.dcg)]
        yield ["B - A", "NDCG", *_numbers(difference.ndcg)]


def slate_parts(
    values: Sequence[SlateValue], differences: Sequence[SlateDifference] = ()
) -> list[Part]:
    """Return cautions, a row for each estimator, values by rank, and differences."""
    cautions: dict[str, None] = {}
    for value in (*values, *(difference.b for difference in differences)):
        named = [f"No verdict by {value.estimator}: {caution}" for caution in value.cautions]
        cautions |= dict.fromkeys(named)
    confidence = f"{100 * values[0].confidence:g} % interval"
    columns: list[Column[SlateValue]] = [
        Column(title="estimator", cell=lambda value: value.estimator),
        Column(
            title="value", kind="number", cell=lambda value: number_cell(value.total.value, PLACES)
        ),
        Column(
            title=confidence,
            kind="number",
            cell=lambda value: interval_cell(value.total.interval, PLACES),
        ),
        Column(title="lists", kind="number", cell=lambda value: count_cell(value.n)),
        Column(
            title="worth at worst",
            kind="number",
            cell=lambda value: count_cell(round(float(value.effective_sample_size.min()))),
        ),
        Column(
            title="largest weight",
            kind="number",
            cell=lambda value: number_cell(float(value.max_weight.max()), 2),
        ),
    ]

    ranks: list[Column[int]] = [
        Column(title="rank", kind="number", cell=lambda rank: count_cell(rank + 1)),
        *map(_rank_column, values),
    ]

    parts: list[Part] = [list(cautions)] if cautions else []
    parts += [
        Table.of(columns, values, kept=3),
        Table.of(
            ranks,
            range(values[0].by_rank.size),
            notes=["by rank: reward there, before the discount"],
        ),
    ]
    if differences:
        pairs: list[Column[SlateDifference]] = [
            Column(title="B - A by", cell=lambda difference: difference.a.estimator),
            Column(
                title="difference",
                kind="number",
                cell=lambda difference: number_cell(difference.total.value, PLACES, signed=True),
            ),
            Column(
                title=confidence,
                kind="number",
                cell=lambda difference: interval_cell(difference.total.interval, PLACES),
            ),
            Column(title="B is", cell=lambda difference: difference.verdict),
            Column(
                title="lists needed",
                kind="number",
                cell=lambda difference: needed_cell(difference.lists_needed()),
            ),
            Column(
                title="more",
                kind="number",
                cell=lambda difference: needed_cell(difference.lists_needed(), difference.a.n),
            ),
        ]
        parts.append(Table.of(pairs, differences, notes=[_NEEDED], kept=4))
    return parts


def _rank_column(value: SlateValue) -> Column[int]:
    """Make a column of a value by rank."""
    return Column(
        title=value.estimator,
        kind="number",
        cell=lambda rank: number_cell(float(value.by_rank[rank]), PLACES),
    )


def slate_json(values: Sequence[SlateValue], differences: Sequence[SlateDifference] = ()) -> str:
    """Write the result as JSON text.

    Examples
    --------
    >>> import json
    >>> from idealrank.clicks import slate_value
    >>> json.loads(slate_json([slate_value([[1, 0], [0, 1]], [[0.5, 0.5]] * 2, [[0.5, 0.5]] * 2)]))[
    ...     "values"
    ... ][0]["by_rank"]
    [0.5, 0.5]
    """
    record = {
        "values": [_slate(value) for value in values],
        "differences": [
            {
                "estimator": difference.a.estimator,
                "difference": _mean(difference.total),
                "verdict": difference.verdict,
                "lists_needed": difference.lists_needed(),
                "more_lists": max(0.0, difference.lists_needed() - difference.a.n),
                "b": _slate(difference.b),
            }
            for difference in differences
        ],
    }
    return result_json(record)


def slate_rows(
    values: Sequence[SlateValue], differences: Sequence[SlateDifference] = ()
) -> Iterator[Row]:
    """Yield titles, a row for each estimator, and a row for each difference.

    Examples
    --------
    >>> from idealrank.clicks import slate_value
    >>> list(slate_rows([slate_value([[1, 0], [0, 1]], [[0.5, 0.5]] * 2, [[0.5, 0.5]] * 2)]))[1][:3]
    ['ips', 'A', '1.0']
    """
    yield ["estimator", "of", "value", "standard_error", "low", "high"]
    for value in values:
        yield [value.estimator, "A", *_numbers(value.total)]
    for difference in differences:
        yield [difference.a.estimator, "B - A", *_numbers(difference.total)]


def _numbers(mean: ListMean) -> list[str]:
    """Value, standard error and interval of a mean, as in a file."""
    return list(map(repr, (mean.value, mean.standard_error, *mean.interval)))


def _slate(value: SlateValue) -> dict[str, object]:
    return {
        "estimator": value.estimator,
        **_mean(value.total),
        "confidence": value.confidence,
        "lists": value.n,
        "by_rank": value.by_rank.tolist(),
        "effective_sample_size": value.effective_sample_size.tolist(),
        "mean_weight": value.mean_weight.tolist(),
        "max_weight": value.max_weight.tolist(),
        "cautions": list(value.cautions),
    }


def _mean(mean: ListMean) -> dict[str, object]:
    return {
        "value": mean.value,
        "standard_error": mean.standard_error,
        "interval": list(mean.interval),
    }


def _number_or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
