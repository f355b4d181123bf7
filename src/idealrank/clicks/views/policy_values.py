"""Values of policies from logged rewards, and of rankers and policies from logged lists, as tables,
JSON and CSV.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence

from idealrank.clicks import (
    ListMean,
    LoggedDCG,
    LoggedDCGDifference,
    PolicyDifference,
    PolicyValue,
    SlateDifference,
    SlateValue,
)
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
from idealrank.reports.table.text import Part, wrapped
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


_NEEDED = NEEDED.replace("rows", "lists")


def dcg_parts(
    values: Mapping[str, LoggedDCG],
    difference: LoggedDCGDifference | None = None,
    where: str = "lists",
) -> list[Part]:
    """Cautions, a row a run, and the difference."""
    cautions = [
        f"No verdict on {name}: {caution}"
        for name, one in values.items()
        for caution in one.cautions
    ]
    first = next(iter(values.values()))
    confidence = f"{100 * first.confidence:g} % interval"
    columns: list[Column[tuple[str, LoggedDCG]]] = [
        Column(title="run", cell=lambda one: one[0]),
        Column(title="DCG", kind="number", cell=lambda one: number_cell(one[1].dcg.value, PLACES)),
        Column(
            title=confidence,
            kind="number",
            cell=lambda one: interval_cell(one[1].dcg.interval, PLACES),
        ),
        Column(
            title="NDCG",
            kind="number",
            cell=lambda one: number_cell(_known(one[1].ndcg.value), PLACES),
        ),
        Column(title="clicks", kind="number", cell=lambda one: count_cell(one[1].n_clicks)),
        Column(
            title="worth",
            kind="number",
            cell=lambda one: count_cell(round(one[1].effective_sample_size)),
        ),
        Column(
            title="largest weight",
            kind="number",
            cell=lambda one: number_cell(one[1].max_weight, 2),
        ),
        Column(
            title="never shown",
            kind="number",
            cell=lambda one: Cell(f"{one[1].never_shown:.1%}", one[1].never_shown),
        ),
    ]
    parts: list[Part] = [cautions] if cautions else []
    parts.append(Table.of(columns, list(values.items())))
    if difference is not None:
        # more lists do not mend the support
        needed = math.inf if difference.verdict == "no support" else difference.lists_needed()
        pairs: list[Column[ListMean]] = [
            Column(title="B - A by", cell=lambda one: "DCG" if one is difference.dcg else "NDCG"),
            Column(
                title="difference",
                kind="number",
                cell=lambda one: number_cell(_known(one.value), PLACES, signed=True),
            ),
            Column(
                title=confidence,
                kind="number",
                cell=lambda one: interval_cell(one.interval, PLACES),
            ),
            Column(
                title="B is", cell=lambda one: difference.verdict if one is difference.dcg else "-"
            ),
            Column(
                title="lists needed",
                kind="number",
                cell=lambda one: needed_cell(needed if one is difference.dcg else math.inf),
            ),
            Column(
                title="more",
                kind="number",
                cell=lambda one: needed_cell(
                    needed if one is difference.dcg else math.inf, first.n_lists
                ),
            ),
        ]
        parts.append(Table.of(pairs, [difference.dcg, difference.ndcg], notes=[_NEEDED]))
        if difference.inverted:
            parts.append(
                [
                    "NDCG orders the runs against DCG. It gives each list the same weight: "
                    "the verdict is by DCG."
                ]
            )
    said = (
        f"DCG: mean over {first.n_lists:,} lists of their clicks; a click counts the discount "
        f"of its new rank, divided by its exposure; "
        "exposure: propensity of the ranks of a document, over all lists of its query; never "
        "shown: share of the discounts on documents "
        f"that the log lacks; intervals: normal, by {where[:-1]}, "
        f"{'with' if first.propensity_errors else 'without'} the errors of the "
        f"propensities; {_assumed(first)}only DCG is unbiased; NDCG gives each list the same "
        f"weight, which can invert the order of two "
        "rankers"
    )
    return [*parts, ["method", *wrapped(said)]]


def _assumed(found: LoggedDCG) -> str:
    """Name the assumption that no mistaken click was counted; offsets, without which there is an
    NDCG, take them off.
    """
    return (
        ""
        if math.isnan(found.ndcg.value)
        else "assumed: no trust bias (`clicks propensity --method trust` tests it); "
    )


def dcg_json(
    values: Mapping[str, LoggedDCG],
    difference: LoggedDCGDifference | None = None,
    where: str = "lists",
) -> str:
    """JSON text."""
    record: dict[str, object] = {
        "version": __version__,
        "schema": SCHEMA,
        "units": where,
        "runs": [
            {
                "run": name,
                "dcg": _mean(one.dcg),
                "ndcg": _mean(one.ndcg),
                "lists": one.n_lists,
                "clicks": one.n_clicks,
                "effective_sample_size": one.effective_sample_size,
                "max_weight": one.max_weight,
                "confidence": one.confidence,
                "never_shown": one.never_shown,
                "propensity_errors": one.propensity_errors,
                "cautions": list(one.cautions),
                "warning": one.warning,
            }
            for name, one in values.items()
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
    return json.dumps(finite(record), indent=2) + "\n"


def dcg_rows(
    values: Mapping[str, LoggedDCG],
    difference: LoggedDCGDifference | None = None,
    where: str = "lists",
) -> Iterator[Row]:
    """Titles, a row a run and measure, and the differences."""
    del where  # the JSON names it
    yield ["of", "measure", "value", "standard_error", "low", "high"]
    given = [(name, one.dcg, one.ndcg) for name, one in values.items()]
    if difference is not None:
        given.append(("B - A", difference.dcg, difference.ndcg))
    for name, dcg, ndcg in given:
        for measure, one in (("DCG", dcg), ("NDCG", ndcg)):
            yield [name, measure, *map(repr, (one.value, one.standard_error, *one.interval))]


def slate_parts(
    values: Sequence[SlateValue], differences: Sequence[SlateDifference] = ()
) -> list[Part]:
    """Cautions, a row an estimator, values by rank, and differences."""
    every = (*values, *(two.b for two in differences))
    cautions = dict.fromkeys(
        f"No verdict by {one.estimator}: {caution}" for one in every for caution in one.cautions
    )
    confidence = f"{100 * values[0].confidence:g} % interval"
    columns: list[Column[SlateValue]] = [
        Column(title="estimator", cell=lambda one: one.estimator),
        Column(title="value", kind="number", cell=lambda one: number_cell(one.total.value, PLACES)),
        Column(
            title=confidence,
            kind="number",
            cell=lambda one: interval_cell(one.total.interval, PLACES),
        ),
        Column(title="lists", kind="number", cell=lambda one: count_cell(one.n)),
        Column(
            title="worth at worst",
            kind="number",
            cell=lambda one: count_cell(round(float(one.effective_sample_size.min()))),
        ),
        Column(
            title="largest weight",
            kind="number",
            cell=lambda one: number_cell(float(one.max_weight.max()), 2),
        ),
    ]
    ranks: list[Column[int]] = [
        Column(title="rank", kind="number", cell=lambda rank: count_cell(rank + 1)),
        *(
            Column(
                title=one.estimator,
                kind="number",
                cell=lambda rank, one=one: number_cell(float(one.by_rank[rank]), PLACES),  # type: ignore[misc]
            )
            for one in values
        ),
    ]
    parts: list[Part] = [list(cautions)] if cautions else []
    parts += [
        Table.of(columns, values),
        Table.of(
            ranks,
            range(values[0].by_rank.size),
            notes=["by rank: reward there, before the discount"],
        ),
    ]
    if differences:
        pairs: list[Column[SlateDifference]] = [
            Column(title="B - A by", cell=lambda one: one.a.estimator),
            Column(
                title="difference",
                kind="number",
                cell=lambda one: number_cell(one.total.value, PLACES, signed=True),
            ),
            Column(
                title=confidence,
                kind="number",
                cell=lambda one: interval_cell(one.total.interval, PLACES),
            ),
            Column(title="B is", cell=lambda one: one.verdict),
            Column(
                title="lists needed",
                kind="number",
                cell=lambda one: needed_cell(one.lists_needed()),
            ),
            Column(
                title="more",
                kind="number",
                cell=lambda one: needed_cell(one.lists_needed(), one.a.n),
            ),
        ]
        parts.append(Table.of(pairs, differences, notes=[_NEEDED]))
    return parts


def slate_json(values: Sequence[SlateValue], differences: Sequence[SlateDifference] = ()) -> str:
    """JSON text.

    Examples
    --------
    >>> from idealrank.clicks import slate_value
    >>> json.loads(slate_json([slate_value([[1, 0], [0, 1]], [[0.5, 0.5]] * 2, [[0.5, 0.5]] * 2)]))[
    ...     "values"
    ... ][0]["by_rank"]
    [0.5, 0.5]
    """
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "values": [_slate(one) for one in values],
        "differences": [
            {
                "estimator": two.a.estimator,
                "difference": _mean(two.total),
                "verdict": two.verdict,
                "lists_needed": two.lists_needed(),
                "more_lists": max(0.0, two.lists_needed() - two.a.n),
                "b": _slate(two.b),
            }
            for two in differences
        ],
    }
    return json.dumps(finite(record), indent=2) + "\n"


def slate_rows(
    values: Sequence[SlateValue], differences: Sequence[SlateDifference] = ()
) -> Iterator[Row]:
    """Titles, a row an estimator, and a row a difference.

    Examples
    --------
    >>> from idealrank.clicks import slate_value
    >>> list(slate_rows([slate_value([[1, 0], [0, 1]], [[0.5, 0.5]] * 2, [[0.5, 0.5]] * 2)]))[1][:3]
    ['ips', 'A', '1.0']
    """
    yield ["estimator", "of", "value", "standard_error", "low", "high"]
    given = [(one.estimator, "A", one.total) for one in values]
    for name, of, one in (*given, *((two.a.estimator, "B - A", two.total) for two in differences)):
        yield [name, of, *map(repr, (one.value, one.standard_error, *one.interval))]


def _slate(one: SlateValue) -> dict[str, object]:
    return {
        "estimator": one.estimator,
        **_mean(one.total),
        "confidence": one.confidence,
        "lists": one.n,
        "by_rank": one.by_rank.tolist(),
        "effective_sample_size": one.effective_sample_size.tolist(),
        "mean_weight": one.mean_weight.tolist(),
        "max_weight": one.max_weight.tolist(),
        "cautions": list(one.cautions),
    }


def _mean(one: ListMean) -> dict[str, object]:
    return {
        "value": one.value,
        "standard_error": one.standard_error,
        "interval": list(one.interval),
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
