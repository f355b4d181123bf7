"""Judges against a human, as tables, Markdown, JSON and CSV."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from idealrank.data.interchange import finite
from idealrank.judging import AltTest, GroupError, JudgeCheck, LabelWorth, Leniency, SystemOrders
from idealrank.judging.views.agreement import coefficients_table, number_text
from idealrank.reports.table.cells import (
    Cell,
    Column,
    Table,
    count_cell,
    counted,
    interval_cell,
    number,
    number_cell,
    p_cell,
)
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part, filled, wrapped

_PLACES = 3
_ALPHA = "krippendorff_alpha_ordinal"  # the coefficient with an interval in the table of judges


def check_parts(checks: Sequence[JudgeCheck], *, details: bool = False) -> list[Part]:
    """Return a table of all judges; for a single judge, or with details, tables of each."""
    first = checks[0]
    report: list[Part] = [_opening(checks), judges_table(checks)]
    if first.systems is not None:
        report.append(_orders_table(checks))
    if details or len(checks) == 1:
        for check in checks:
            report += _details(check, titled=len(checks) > 1)
    # several judges may have the same warning
    warnings = dict.fromkeys(warning for check in checks for warning in check.warnings)
    lines = [line for warning in warnings for line in filled(warning, "warning: ")]
    return [*report, lines, _notes(first)]


def _opening(checks: Sequence[JudgeCheck]) -> list[str]:
    first = checks[0]
    mean = number(first.human_mean, _PLACES)
    lines = [
        f"human: {first.n:,} pairs of {first.n_clusters:,} queries that the judge graded too, mean "
        f"grade {mean}"
    ]
    if len(checks) > 1:
        lines = [f"{len(checks)} judges; {lines[0].replace('the judge', first.name)}"]
    for check in checks:
        counts = {
            "pairs with a human grade alone": check.n_missing,
            "pairs without a human grade": check.n_extra,
            "grades outside the scale, clipped or dropped as asked": check.n_outside,
        }
        phrases = [f"{words}: {n:,}" for words, n in counts.items() if n]
        if phrases:
            lines.append(f"{check.name}: {'; '.join(phrases)}")
    return lines


def judges_table(checks: Sequence[JudgeCheck]) -> Table:
    """Return a table with a row for each judge: agreement, bias, and the worth of a label."""
    columns: list[Column[JudgeCheck]] = [
        Column(title="judge", cell=lambda check: check.name),
        Column(title="pairs", kind="number", cell=lambda check: count_cell(check.n), rank=1),
        Column(
            title="percent",
            kind="number",
            cell=lambda check: number_cell(check.agreement["percent"].value, _PLACES),
            rank=3,
        ),
        Column(
            title="kappa",
            kind="number",
            cell=lambda check: number_cell(check.agreement["cohen_kappa"].value, _PLACES),
            rank=4,
        ),
        Column(
            title="alpha",
            kind="number",
            cell=lambda check: number_cell(check.agreement[_ALPHA].value, _PLACES),
        ),
        Column(
            title="95 % interval",
            kind="number",
            cell=lambda check: interval_cell(check.agreement[_ALPHA].interval, _PLACES),
        ),
        Column(
            title="bias",
            kind="number",
            cell=lambda check: number_cell(check.bias[0], _PLACES, signed=True),
        ),
        Column(
            title="worth",
            kind="number",
            cell=lambda check: number_cell(check.worth_of_pair.value, 2),
        ),
        Column(
            title="95 %",
            kind="number",
            cell=lambda check: interval_cell(check.worth_of_pair.interval, 2),
            rank=2,
        ),
        Column(
            title="at most",
            kind="number",
            cell=lambda check: Cell(_times(check.worth_of_pair), finite(check.worth_of_pair.most)),
            rank=2,
        ),
    ]

    # the columns are declared with a level of 95 %: their titles get the level that was asked for
    confidence = f"{100 * checks[0].agreement[_ALPHA].confidence:g} %"
    titles = {"95 % interval": f"{confidence} interval", "95 %": confidence}
    titled = [replace(column, title=titles.get(column.title, column.title)) for column in columns]
    return Table.of(titled, checks)


def _times(worth: LabelWorth) -> str:
    return f"x {worth.most:.2f}" if math.isfinite(worth.most) else "any"


def _orders_table(checks: Sequence[JudgeCheck]) -> Table:
    """Return a table with a row for each judge: what it would change about the systems."""
    rows = [_Order(check.name, check.systems) for check in checks if check.systems is not None]
    first = rows[0].orders
    columns: list[Column[_Order]] = [
        Column(title="judge", cell=lambda row: row.name),
        Column(title="tau", kind="number", cell=lambda row: number_cell(row.orders.tau, _PLACES)),
        Column(
            title="tau_AP",
            kind="number",
            cell=lambda row: number_cell(row.orders.tau_ap, _PLACES),
            rank=3,
        ),
        Column(title="swapped", kind="number", cell=lambda row: count_cell(row.orders.swapped)),
        Column(
            title="at the top",
            kind="number",
            cell=lambda row: count_cell(row.orders.swapped_at_top),
            rank=2,
        ),
        Column(title="best", cell=lambda row: row.orders.best_judge),
        Column(
            title="verdicts lost",
            kind="number",
            cell=lambda row: count_cell(row.orders.verdicts.lost),
        ),
        Column(
            title="gained",
            kind="number",
            cell=lambda row: count_cell(row.orders.verdicts.gained),
            rank=1,
        ),
        Column(
            title="reversed",
            kind="number",
            cell=lambda row: count_cell(row.orders.verdicts.reversed),
        ),
        Column(
            title="worth of a query",
            kind="number",
            cell=lambda row: number_cell(row.orders.worth, 2),
            rank=1,
        ),
    ]
    systems = counted(len(first.systems), "system")
    pairs = counted(first.verdicts.n_pairs, "pair")
    title = f"{first.measure} of {systems}, {pairs}; best under the human: {first.best_human}"
    return Table.of(columns, rows, title=title)


class _Order(NamedTuple):
    name: str
    orders: SystemOrders


def _details(check: JudgeCheck, *, titled: bool) -> list[Part]:
    details: list[Part] = [[f"--- {check.name} ---"]] if titled else []
    details += [
        coefficients_table(check.agreement),
        _confusion(check),
        _errors(check.by_grade, "error by human grade"),
    ]
    for leniency, title in (
        (check.by_rank, "error by rank, all runs together"),
        (check.by_length, "error by length of the document"),
    ):
        if leniency is not None and leniency.groups:
            details += [_errors(leniency, title), _contrast(leniency)]
    if check.systems is not None and len(check.systems.systems) > 1:
        details.append(_systems(check.systems))
    if check.alt_test is not None:
        details += [_annotators(check.alt_test), [_verdict(check.alt_test)]]
    return details


def _confusion(check: JudgeCheck) -> Table:
    """Return a table of the pairs by grade of the human and of the judge."""
    grades = [f"{grade:g}" for grade in check.categories]
    rows = [
        _Counts(grade, dict(zip(grades, row, strict=True)))
        for grade, row in zip(grades, check.confusion.tolist(), strict=True)
    ]
    columns: list[Column[_Counts]] = [
        Column(title="human", cell=lambda row: row.grade),
        *map(_count_column, grades),
    ]
    return Table.of(
        columns, rows, title=f"pairs by grade of the human (rows) and of {check.name} (columns)"
    )


class _Counts(NamedTuple):
    grade: str
    counts: dict[str, int]


def _count_column(grade: str) -> "Column[_Counts]":
    return Column(title=grade, kind="number", cell=lambda row: count_cell(row.counts[grade]))


def _errors(leniency: Leniency, title: str) -> Table:
    columns: list[Column[GroupError]] = [
        Column(title="documents", cell=lambda group: group.group),
        Column(title="pairs", kind="number", cell=lambda group: count_cell(group.n), rank=2),
        Column(
            title="human",
            kind="number",
            cell=lambda group: number_cell(group.human, _PLACES),
            rank=1,
        ),
        Column(
            title="judge",
            kind="number",
            cell=lambda group: number_cell(group.judge, _PLACES),
            rank=1,
        ),
        Column(
            title="error",
            kind="number",
            cell=lambda group: number_cell(group.error, _PLACES, signed=True),
        ),
    ]
    if leniency.contrast:
        columns.append(
            Column(
                title="beyond grade",
                kind="number",
                cell=lambda group: number_cell(group.beyond_grade, _PLACES, signed=True),
            )
        )
    return Table.of(columns, leniency.groups, title=title)


def _contrast(leniency: Leniency) -> list[str]:
    """Describe the difference of two groups; nothing without both."""
    low, high = leniency.interval
    if math.isnan(leniency.difference):
        return []
    contrast = (
        f"{leniency.contrast}: {number(leniency.difference, _PLACES, signed=True)} beyond grade"
    )
    if not math.isfinite(low):
        return [f"{contrast}, without an interval"]
    ends = f"{number(low, _PLACES, signed=True)} to {number(high, _PLACES, signed=True)}"
    verdict = "no difference shown"
    if low > 0:
        verdict = "kinder"
    elif high < 0:
        verdict = "harsher"
    return [f"{contrast} ({ends}): {verdict}"]


def _systems(orders: SystemOrders) -> Table:
    means = zip(orders.systems, orders.human.tolist(), orders.judge.tolist(), strict=True)
    systems = [_System(name, human, judge) for name, human, judge in means]
    rows = sorted(systems, key=lambda system: -system.human)
    columns: list[Column[_System]] = [
        Column(title="system", cell=lambda system: system.name),
        Column(title="human", kind="number", cell=lambda system: number_cell(system.human, 4)),
        Column(title="judge", kind="number", cell=lambda system: number_cell(system.judge, 4)),
    ]
    return Table.of(columns, rows, title=orders.measure)


class _System(NamedTuple):
    name: str
    human: float
    judge: float


def _annotators(test: AltTest) -> Table:
    columns: list[Column[Any]] = [
        Column(title="annotator", cell=lambda row: row.annotator),
        Column(title="pairs", kind="number", cell=lambda row: count_cell(row.n), rank=2),
        Column(
            title="judge as good",
            kind="number",
            cell=lambda row: number_cell(row.advantage, _PLACES),
        ),
        Column(
            title="p",
            kind="number",
            cell=lambda row: p_cell(None if math.isnan(row.p) else row.p),
            rank=1,
        ),
        Column(title="replaced", cell=lambda row: "yes" if row.rejected else "no"),
    ]
    return Table.of(
        columns, test.annotators, title=f"alternative annotator test, epsilon {test.epsilon:g}"
    )


def _verdict(test: AltTest) -> str:
    skipped = f"; too few pairs of {', '.join(test.skipped)}" if test.skipped else ""
    return f"winning rate {test.winning_rate:.2f}: {'passed' if test.passed else 'failed'}{skipped}"


def _notes(check: JudgeCheck) -> list[str]:
    phrases = [
        f"intervals leave out one of {check.n_clusters} queries, or clusters of them, at a time, "
        f"with t on {check.n_clusters - 1} degrees",
        "alpha: Krippendorff's, ordinal",
        "bias: mean grade of the judge less that of the human",
        "worth: human labels that the judge's first label of a pair replaces; further labels "
        "replace less, and all together multiply the human labels at most by the factor beside",
    ]
    if check.systems is not None:
        phrases += [
            "swapped: pairs of systems in another order; at the top: with one of the human's best "
            f"{check.systems.n_top}",
            f"verdicts: paired t tests at {check.systems.verdicts.alpha:g}, uncorrected; lost: "
            f"significant under the human alone",
            "worth of a query: median over pairs of systems, of the judge's grades for one query, "
            "in human-labelled queries",
        ]
    if check.by_rank is not None or check.by_length is not None:
        phrases.append(
            "beyond grade: error less the mean error of all pairs with the same human grade"
        )
    return ["method", *wrapped("; ".join(phrases))]


# --- for programs ---------------------------------------------------------------------------------


def check_json(checks: Sequence[JudgeCheck]) -> str:
    """Return JSON text with everything; null where there is no number.

    Examples
    --------
    >>> import json
    >>> from idealrank.judging import check_judge
    >>> human = {"p": {"a": 1, "b": 0}, "q": {"a": 1, "b": 0}}
    >>> json.loads(check_json([check_judge(human, human, name="model")]))["judges"][0][
    ...     "cohen_kappa"
    ... ]
    1.0
    """
    record = {
        "judges": [check_record(check) for check in checks],
    }
    return result_json(record)


def check_record(check: JudgeCheck) -> dict[str, Any]:
    """Return one judge as a record."""
    return {
        "name": check.name,
        "n": check.n,
        "missing": check.n_missing,
        "extra": check.n_extra,
        "outside_scale": check.n_outside,
        "clusters": check.n_clusters,
        **{name: coefficient.value for name, coefficient in check.agreement.items()},
        "intervals": {
            name: list(coefficient.interval) for name, coefficient in check.agreement.items()
        },
        "standard_errors": {
            name: coefficient.standard_error for name, coefficient in check.agreement.items()
        },
        "human_mean": check.human_mean,
        "judge_mean": check.judge_mean,
        "bias": check.bias[0],
        "bias_interval": list(check.bias[1]),
        "correlation": check.correlation,
        "confusion": {"grades": list(check.categories), "human_rows": check.confusion.tolist()},
        "by_grade": _leniency_record(check.by_grade),
        "by_rank": _leniency_record(check.by_rank),
        "by_length": _leniency_record(check.by_length),
        "worth_of_pair": _worth_record(check.worth_of_pair),
        "worth_of_query": _worth_record(check.worth_of_query),
        "systems": _systems_record(check.systems),
        "alt_test": _alt_record(check.alt_test),
        "warnings": list(check.warnings),
    }


def _worth_record(worth: LabelWorth) -> dict[str, Any]:
    return {"value": worth.value, "interval": list(worth.interval), "most": worth.most}


def _leniency_record(leniency: Leniency | None) -> dict[str, Any] | None:
    if leniency is None:
        return None
    groups = [
        {
            "group": group.group,
            "pairs": group.n,
            "human": group.human,
            "judge": group.judge,
            "error": group.error,
            "beyond_grade": group.beyond_grade,
        }
        for group in leniency.groups
    ]
    return {
        "groups": groups,
        "contrast": leniency.contrast,
        "difference": leniency.difference,
        "interval": list(leniency.interval),
    }


def _systems_record(orders: SystemOrders | None) -> dict[str, Any] | None:
    if orders is None:
        return None
    verdicts = orders.verdicts
    return {
        "measure": orders.measure,
        "means": [
            {"run": name, "human": human, "judge": judge}
            for name, human, judge in zip(
                orders.systems, orders.human.tolist(), orders.judge.tolist(), strict=True
            )
        ],
        "tau": orders.tau,
        "tau_ap": orders.tau_ap,
        "swapped": orders.swapped,
        "swapped_at_top": orders.swapped_at_top,
        "n_top": orders.n_top,
        "best_human": orders.best_human,
        "best_judge": orders.best_judge,
        "verdicts": {
            "pairs": verdicts.n_pairs,
            "same": verdicts.same,
            "lost": verdicts.lost,
            "gained": verdicts.gained,
            "reversed": verdicts.reversed,
            "alpha": verdicts.alpha,
        },
        "worth_of_query": orders.worth,
    }


def _alt_record(test: AltTest | None) -> dict[str, Any] | None:
    if test is None:
        return None
    return {
        "epsilon": test.epsilon,
        "winning_rate": test.winning_rate,
        "passed": test.passed,
        "advantage": test.advantage,
        "dropped": test.n_dropped,
        "skipped": test.skipped,
        "annotators": [
            {
                "annotator": row.annotator,
                "pairs": row.n,
                "advantage": row.advantage,
                "p": row.p,
                "replaced": row.rejected,
            }
            for row in test.annotators
        ],
    }


_SYSTEM_TITLES = (
    "tau",
    "tau_ap",
    "swapped",
    "swapped_at_top",
    "verdicts_lost",
    "verdicts_gained",
    "verdicts_reversed",
    "worth_of_query",
)


def check_rows(checks: Sequence[JudgeCheck]) -> Iterator[Row]:
    """Yield titles, and a row for each judge; system columns are empty without runs.

    Examples
    --------
    >>> from idealrank.judging import check_judge
    >>> human = {"p": {"a": 1, "b": 0}, "q": {"a": 1, "b": 0}}
    >>> list(check_rows([check_judge(human, human, name="model")]))[1][:3]
    ['model', '4', '0']
    """
    names = list(checks[0].agreement)
    ends = [f"{name}_{end}" for name in names for end in ("low", "high")]
    head = ["judge", "n", "missing", "extra", "outside_scale", *names, *ends]
    bias = ["bias", "bias_low", "bias_high"]
    worth = ["worth", "worth_low", "worth_high"]
    yield [*head, *bias, *worth, *_SYSTEM_TITLES]
    for check in checks:
        counts = [
            str(count) for count in (check.n, check.n_missing, check.n_extra, check.n_outside)
        ]
        values = [coefficient.value for coefficient in check.agreement.values()]
        intervals = [
            end for coefficient in check.agreement.values() for end in coefficient.interval
        ]
        numbers = [
            *values,
            *intervals,
            check.bias[0],
            *check.bias[1],
            check.worth_of_pair.value,
            *check.worth_of_pair.interval,
        ]
        yield [check.name, *counts, *map(number_text, numbers), *_systems_cells(check.systems)]


def _systems_cells(orders: SystemOrders | None) -> list[str]:
    if orders is None:
        return [""] * len(_SYSTEM_TITLES)
    counts = (
        orders.swapped,
        orders.swapped_at_top,
        orders.verdicts.lost,
        orders.verdicts.gained,
        orders.verdicts.reversed,
    )
    return [
        number_text(orders.tau),
        number_text(orders.tau_ap),
        *map(str, counts),
        number_text(orders.worth),
    ]
