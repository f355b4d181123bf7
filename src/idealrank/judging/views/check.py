"""Judges against a human, as tables, Markdown, JSON and CSV."""

import json
import math
from collections.abc import Iterator, Sequence
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
from idealrank.reports.table.forms import parts_markdown
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part, filled, wrapped
from idealrank.version import __version__

_PLACES = 3
_ALPHA = "krippendorff_alpha_ordinal"


def check_parts(checks: Sequence[JudgeCheck], *, details: bool = False) -> list[Part]:
    """A table of all judges; of one judge, or where details are asked for, tables of each."""
    one = checks[0]
    parts: list[Part] = [_opening(checks), judges_table(checks)]
    if one.systems is not None:
        parts.append(_orders_table(checks))
    for check in checks if details or len(checks) == 1 else ():
        parts += _details(check, named=len(checks) > 1)
    warned = dict.fromkeys(warning for check in checks for warning in check.warnings)
    return [
        *parts,
        [line for warning in warned for line in filled(warning, "warning: ")],
        _notes(one),
    ]


def _opening(checks: Sequence[JudgeCheck]) -> list[str]:
    one = checks[0]
    mean = number(one.human_mean, _PLACES)
    lines = [
        f"human: {one.n:,} pairs of {one.n_clusters:,} queries that the judge graded too, "
        f"mean grade {mean}"
    ]
    if len(checks) > 1:
        lines = [f"{len(checks)} judges; {lines[0].replace('the judge', one.name)}"]
    for check in checks:
        phrases = [
            f"{words}: {n:,}"
            for n, words in (
                (check.n_missing, "pairs with a human grade alone"),
                (check.n_extra, "pairs without a human grade"),
                (check.n_outside, "grades outside the scale, clipped or dropped as asked"),
            )
            if n
        ]
        if phrases:
            lines.append(f"{check.name}: {'; '.join(phrases)}")
    return lines


def judges_table(checks: Sequence[JudgeCheck]) -> Table:
    """A row a judge: agreement, bias, and what a label is worth."""
    columns: list[Column[JudgeCheck]] = [
        Column(title="judge", cell=lambda one: one.name),
        Column(title="pairs", kind="number", cell=lambda one: count_cell(one.n)),
        Column(
            title="percent",
            kind="number",
            cell=lambda one: number_cell(one.agreement["percent"].value, _PLACES),
        ),
        Column(
            title="kappa",
            kind="number",
            cell=lambda one: number_cell(one.agreement["cohen_kappa"].value, _PLACES),
        ),
        Column(
            title="alpha",
            kind="number",
            cell=lambda one: number_cell(one.agreement[_ALPHA].value, _PLACES),
        ),
        Column(
            title="95 % interval",
            kind="number",
            cell=lambda one: interval_cell(one.agreement[_ALPHA].interval, _PLACES),
        ),
        Column(
            title="bias",
            kind="number",
            cell=lambda one: number_cell(one.bias[0], _PLACES, signed=True),
        ),
        Column(
            title="worth", kind="number", cell=lambda one: number_cell(one.worth_of_pair.value, 2)
        ),
        Column(
            title="95 %",
            kind="number",
            cell=lambda one: interval_cell(one.worth_of_pair.interval, 2),
        ),
        Column(
            title="at most",
            kind="number",
            cell=lambda one: Cell(_times(one.worth_of_pair), finite(one.worth_of_pair.most)),
        ),
    ]
    confidence = f"{100 * checks[0].agreement[_ALPHA].confidence:g} %"
    titles = {"95 % interval": f"{confidence} interval", "95 %": confidence}
    named = [
        Column(title=titles.get(one.title, one.title), kind=one.kind, cell=one.cell)
        for one in columns
    ]
    return Table.of(named, checks)


def _times(worth: LabelWorth) -> str:
    return f"x {worth.most:.2f}" if math.isfinite(worth.most) else "any"


def _orders_table(checks: Sequence[JudgeCheck]) -> Table:
    """A row a judge: what it would change about the systems."""
    rows = [_Order(check.name, check.systems) for check in checks if check.systems is not None]
    one = rows[0].found
    columns: list[Column[_Order]] = [
        Column(title="judge", cell=lambda row: row.name),
        Column(title="tau", kind="number", cell=lambda row: number_cell(row.found.tau, _PLACES)),
        Column(
            title="tau_AP", kind="number", cell=lambda row: number_cell(row.found.tau_ap, _PLACES)
        ),
        Column(title="swapped", kind="number", cell=lambda row: count_cell(row.found.swapped)),
        Column(
            title="at the top", kind="number", cell=lambda row: count_cell(row.found.swapped_at_top)
        ),
        Column(title="best", cell=lambda row: row.found.best_judge),
        Column(
            title="verdicts lost",
            kind="number",
            cell=lambda row: count_cell(row.found.verdicts.lost),
        ),
        Column(
            title="gained", kind="number", cell=lambda row: count_cell(row.found.verdicts.gained)
        ),
        Column(
            title="reversed",
            kind="number",
            cell=lambda row: count_cell(row.found.verdicts.reversed),
        ),
        Column(
            title="worth of a query",
            kind="number",
            cell=lambda row: number_cell(row.found.worth, 2),
        ),
    ]
    systems, pairs = counted(len(one.systems), "system"), counted(one.verdicts.n_pairs, "pair")
    title = f"{one.measure} of {systems}, {pairs}; best under the human: {one.best_human}"
    return Table.of(columns, rows, title=title)


class _Order(NamedTuple):
    name: str
    found: SystemOrders


def _details(check: JudgeCheck, *, named: bool) -> list[Part]:
    head: list[Part] = [[f"--- {check.name} ---"]] if named else []
    parts: list[Part] = [
        coefficients_table(check.agreement),
        _confusion(check),
        _errors(check.by_grade, "error by human grade"),
    ]
    for leniency, title in (
        (check.by_rank, "error by rank, all runs together"),
        (check.by_length, "error by length of the document"),
    ):
        if leniency is not None and leniency.groups:
            parts += [_errors(leniency, title), _contrast(leniency)]
    if check.systems is not None and len(check.systems.systems) > 1:
        parts.append(_systems(check.systems))
    if check.alt_test is not None:
        parts += [_annotators(check.alt_test), [_verdict(check.alt_test)]]
    return [*head, *parts]


def _confusion(check: JudgeCheck) -> Table:
    """Pairs by grade of the human and of the judge."""
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
        Column(title="documents", cell=lambda one: one.group),
        Column(title="pairs", kind="number", cell=lambda one: count_cell(one.n)),
        Column(title="human", kind="number", cell=lambda one: number_cell(one.human, _PLACES)),
        Column(title="judge", kind="number", cell=lambda one: number_cell(one.judge, _PLACES)),
        Column(
            title="error",
            kind="number",
            cell=lambda one: number_cell(one.error, _PLACES, signed=True),
        ),
    ]
    if leniency.contrast:
        columns.append(
            Column(
                title="beyond grade",
                kind="number",
                cell=lambda one: number_cell(one.beyond_grade, _PLACES, signed=True),
            )
        )
    return Table.of(columns, leniency.groups, title=title)


def _contrast(leniency: Leniency) -> list[str]:
    """The difference of two groups, in words; nothing without both."""
    low, high = leniency.interval
    if math.isnan(leniency.difference):
        return []
    said = f"{leniency.contrast}: {number(leniency.difference, _PLACES, signed=True)} beyond grade"
    if not math.isfinite(low):
        return [f"{said}, without an interval"]
    ends = f"{number(low, _PLACES, signed=True)} to {number(high, _PLACES, signed=True)}"
    verdict = "no difference shown"
    if low > 0:
        verdict = "kinder"
    elif high < 0:
        verdict = "harsher"
    return [f"{said} ({ends}): {verdict}"]


def _systems(found: SystemOrders) -> Table:
    rows = sorted(
        (
            _System(name, *means)
            for name, *means in zip(
                found.systems, found.human.tolist(), found.judge.tolist(), strict=True
            )
        ),
        key=lambda one: -one.human,
    )
    columns: list[Column[_System]] = [
        Column(title="system", cell=lambda one: one.name),
        Column(title="human", kind="number", cell=lambda one: number_cell(one.human, 4)),
        Column(title="judge", kind="number", cell=lambda one: number_cell(one.judge, 4)),
    ]
    return Table.of(columns, rows, title=found.measure)


class _System(NamedTuple):
    name: str
    human: float
    judge: float


def _annotators(found: AltTest) -> Table:
    columns: list[Column[Any]] = [
        Column(title="annotator", cell=lambda one: one.annotator),
        Column(title="pairs", kind="number", cell=lambda one: count_cell(one.n)),
        Column(
            title="judge as good",
            kind="number",
            cell=lambda one: number_cell(one.advantage, _PLACES),
        ),
        Column(
            title="p", kind="number", cell=lambda one: p_cell(None if math.isnan(one.p) else one.p)
        ),
        Column(title="replaced", cell=lambda one: "yes" if one.rejected else "no"),
    ]
    return Table.of(
        columns, found.annotators, title=f"alternative annotator test, epsilon {found.epsilon:g}"
    )


def _verdict(found: AltTest) -> str:
    skipped = f"; too few pairs of {', '.join(found.skipped)}" if found.skipped else ""
    return (
        f"winning rate {found.winning_rate:.2f}: {'passed' if found.passed else 'failed'}{skipped}"
    )


def _notes(one: JudgeCheck) -> list[str]:
    phrases = [
        f"intervals leave out one of {one.n_clusters} queries, or clusters of them, at a "
        f"time, with t on {one.n_clusters - 1} degrees",
        "alpha: Krippendorff's, ordinal",
        "bias: mean grade of the judge less that of the human",
        "worth: human labels that the judge's first label of a pair replaces; further labels "
        "replace less, and all together multiply the "
        "human labels at most by the factor beside",
    ]
    if one.systems is not None:
        phrases += [
            f"swapped: pairs of systems in another order; at the top: with one of the human's "
            f"best {one.systems.n_top}",
            f"verdicts: paired t tests at {one.systems.verdicts.alpha:g}, uncorrected; lost: "
            f"significant under the human alone",
            "worth of a query: median over pairs of systems, of the judge's grades for one "
            "query, in human-labelled queries",
        ]
    if one.by_rank is not None or one.by_length is not None:
        phrases.append(
            "beyond grade: error less the mean error of all pairs with the same human grade"
        )
    return ["method", *wrapped("; ".join(phrases))]


def check_markdown(checks: Sequence[JudgeCheck], *, details: bool = False) -> str:
    """The report as Markdown."""
    return parts_markdown(check_parts(checks, details=details))


# --- for programs ---------------------------------------------------------------------------------


def check_json(checks: Sequence[JudgeCheck], *, details: bool = True) -> str:  # noqa: ARG001  (JSON always has everything)
    """JSON text with everything; null where there is no number.

    Examples
    --------
    >>> from idealrank.judging import check_judge
    >>> human = {"p": {"a": 1, "b": 0}, "q": {"a": 1, "b": 0}}
    >>> json.loads(check_json([check_judge(human, human, name="model")]))["judges"][0][
    ...     "cohen_kappa"
    ... ]
    1.0
    """
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "judges": [check_record(one) for one in checks],
    }
    return json.dumps(finite(record), indent=2) + "\n"


def check_record(one: JudgeCheck) -> dict[str, Any]:
    """One judge as a record."""
    return {
        "name": one.name,
        "n": one.n,
        "missing": one.n_missing,
        "extra": one.n_extra,
        "outside_scale": one.n_outside,
        "clusters": one.n_clusters,
        **{name: found.value for name, found in one.agreement.items()},
        "intervals": {name: list(found.interval) for name, found in one.agreement.items()},
        "standard_errors": {name: found.standard_error for name, found in one.agreement.items()},
        "human_mean": one.human_mean,
        "judge_mean": one.judge_mean,
        "bias": one.bias[0],
        "bias_interval": list(one.bias[1]),
        "correlation": one.correlation,
        "confusion": {"grades": list(one.categories), "human_rows": one.confusion.tolist()},
        "by_grade": _leniency_record(one.by_grade),
        "by_rank": _leniency_record(one.by_rank),
        "by_length": _leniency_record(one.by_length),
        "worth_of_pair": _worth_record(one.worth_of_pair),
        "worth_of_query": _worth_record(one.worth_of_query),
        "systems": _systems_record(one.systems),
        "alt_test": _alt_record(one.alt_test),
        "warnings": list(one.warnings),
    }


def _worth_record(worth: LabelWorth) -> dict[str, Any]:
    return {"value": worth.value, "interval": list(worth.interval), "most": worth.most}


def _leniency_record(leniency: Leniency | None) -> dict[str, Any] | None:
    if leniency is None:
        return None
    groups = [
        {
            "group": one.group,
            "pairs": one.n,
            "human": one.human,
            "judge": one.judge,
            "error": one.error,
            "beyond_grade": one.beyond_grade,
        }
        for one in leniency.groups
    ]
    return {
        "groups": groups,
        "contrast": leniency.contrast,
        "difference": leniency.difference,
        "interval": list(leniency.interval),
    }


def _systems_record(found: SystemOrders | None) -> dict[str, Any] | None:
    if found is None:
        return None
    verdicts = found.verdicts
    return {
        "measure": found.measure,
        "means": [
            {"run": name, "human": human, "judge": judge}
            for name, human, judge in zip(
                found.systems, found.human.tolist(), found.judge.tolist(), strict=True
            )
        ],
        "tau": found.tau,
        "tau_ap": found.tau_ap,
        "swapped": found.swapped,
        "swapped_at_top": found.swapped_at_top,
        "n_top": found.n_top,
        "best_human": found.best_human,
        "best_judge": found.best_judge,
        "verdicts": {
            "pairs": verdicts.n_pairs,
            "same": verdicts.same,
            "lost": verdicts.lost,
            "gained": verdicts.gained,
            "reversed": verdicts.reversed,
            "alpha": verdicts.alpha,
        },
        "worth_of_query": found.worth,
    }


def _alt_record(found: AltTest | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "epsilon": found.epsilon,
        "winning_rate": found.winning_rate,
        "passed": found.passed,
        "advantage": found.advantage,
        "dropped": found.n_dropped,
        "skipped": found.skipped,
        "annotators": [
            {
                "annotator": one.annotator,
                "pairs": one.n,
                "advantage": one.advantage,
                "p": one.p,
                "replaced": one.rejected,
            }
            for one in found.annotators
        ],
    }


def check_rows(checks: Sequence[JudgeCheck], *, details: bool = False) -> Iterator[Row]:  # noqa: ARG001  (one row a judge)
    """Titles, and a judge a row; system columns are empty without runs.

    Examples
    --------
    >>> from idealrank.judging import check_judge
    >>> human = {"p": {"a": 1, "b": 0}, "q": {"a": 1, "b": 0}}
    >>> list(check_rows([check_judge(human, human, name="model")]))[1][:3]
    ['model', '4', '0']
    """
    names = list(checks[0].agreement)
    ends = [f"{name}_{end}" for name in names for end in ("low", "high")]
    systems = [
        "tau",
        "tau_ap",
        "swapped",
        "swapped_at_top",
        "verdicts_lost",
        "verdicts_gained",
        "verdicts_reversed",
        "worth_of_query",
    ]
    head = [
        "judge",
        "n",
        "missing",
        "extra",
        "outside_scale",
        *names,
        *ends,
        "bias",
        "bias_low",
        "bias_high",
        "worth",
        "worth_low",
    ]
    yield [*head, "worth_high", *systems]
    for one in checks:
        counts = [str(count) for count in (one.n, one.n_missing, one.n_extra, one.n_outside)]
        values = [found.value for found in one.agreement.values()]
        intervals = [end for found in one.agreement.values() for end in found.interval]
        numbers = [
            *values,
            *intervals,
            one.bias[0],
            *one.bias[1],
            one.worth_of_pair.value,
            *one.worth_of_pair.interval,
        ]
        yield [one.name, *counts, *map(number_text, numbers), *_systems_cells(one.systems)]


def _systems_cells(found: SystemOrders | None) -> list[str]:
    if found is None:
        return [""] * 8
    counts = (
        found.swapped,
        found.swapped_at_top,
        found.verdicts.lost,
        found.verdicts.gained,
        found.verdicts.reversed,
    )
    return [
        number_text(found.tau),
        number_text(found.tau_ap),
        *map(str, counts),
        number_text(found.worth),
    ]
