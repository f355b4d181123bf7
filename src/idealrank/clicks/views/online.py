"""Experiments with users, as tables and JSON."""

import json
from collections.abc import Mapping
from typing import Any

from idealrank.clicks import CohortEffects, Effect, Novelty, Preference
from idealrank.clicks.ab_tests import FEWEST_USERS
from idealrank.clicks.arguments import Looks
from idealrank.clicks.cohort_values import CLICKS
from idealrank.data.interchange import finite
from idealrank.reports.table.cells import (
    Cell,
    Column,
    NamedCells,
    Table,
    count_cell,
    interval_cell,
    number_cell,
    p_text,
)
from idealrank.reports.table.records import SCHEMA
from idealrank.reports.table.text import Part, wrapped
from idealrank.version import __version__

_PLACES = 4
_LOOKS: dict[Looks, str] = {
    "any": "verdict: valid at any look",
    "once": "verdict: valid at one look, at the planned size",
}


def preference_parts(
    found: Preference, n_lists: int | None = None, n_users: int | None = None
) -> list[Part]:
    """Verdict, wins, and the test; of so many lists, of so many users, where they are known."""
    undecided = found.verdict == "undecided"
    verdict = (
        "Undecided: the test may go on."
        if undecided
        else f"Users prefer {found.verdict}: the test may stop."
    )
    if found.looks == "once":
        verdict = "Undecided." if undecided else f"Users prefer {found.verdict}."
    columns: list[Column[Preference]] = [
        Column(title="A wins", kind="number", cell=lambda one: count_cell(one.wins_a)),
        Column(title="B wins", kind="number", cell=lambda one: count_cell(one.wins_b)),
        Column(title="neither", kind="number", cell=lambda one: count_cell(one.ties)),
        Column(title="share of B", kind="number", cell=lambda one: number_cell(one.share, _PLACES)),
        Column(
            title="at any look",
            kind="number",
            cell=lambda one: interval_cell(one.sequence, _PLACES),
        ),
        Column(
            title="planned size",
            kind="number",
            cell=lambda one: interval_cell(one.interval, _PLACES),
        ),
    ]
    said = (
        f"{_LOOKS[found.looks]}; at any look: confidence sequence of "
        f"{100 * found.confidence:g}%, p {p_text(found.p_always)}; "
        f"planned size: interval of Clopper and Pearson, sign test p {p_text(found.p)}"
    )
    if n_lists is not None and n_users is not None:
        said = (
            f"{n_lists:,} lists of {n_users:,} users; a user counts once, by the majority of "
            f"their lists; {said}"
        )
    return [[verdict], Table.of(columns, [found]), ["method", *wrapped(said)]]


def preference_json(
    found: Preference, n_lists: int | None = None, n_users: int | None = None
) -> str:
    """JSON text."""
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "verdict": found.verdict,
        "wins_a": found.wins_a,
        "wins_b": found.wins_b,
        "ties": found.ties,
        "share": found.share,
        "interval": list(found.interval),
        "p": found.p,
        "sequence": list(found.sequence),
        "p_always": found.p_always,
        "confidence": found.confidence,
        "looks": found.looks,
        "lists": n_lists,
        "users": n_users,
    }
    return json.dumps(finite(record), indent=2) + "\n"


def effect_parts(found: Effect, trend: Novelty | None = None) -> list[Part]:
    """Verdict, values, the effect over time, and the checks."""
    verdict = _no_verdict(found) or f"B against A: {found.verdict}"
    heads = ("value", "planned size", *(["bootstrap"] if found.bootstrap else []), "any look")
    columns: list[Column[NamedCells]] = [
        Column(title="of"),
        *(Column[NamedCells](title=head, kind="number") for head in heads),
    ]
    rows = [
        NamedCells(of=Cell("A"), value=number_cell(found.mean_a, _PLACES)),
        NamedCells(of=Cell("B"), value=number_cell(found.mean_b, _PLACES)),
        NamedCells(
            {
                "of": Cell("B - A"),
                "value": number_cell(found.difference, _PLACES, signed=True),
                "planned size": interval_cell(found.interval, _PLACES),
                "any look": interval_cell(found.sequence, _PLACES),
                **(
                    {"bootstrap": interval_cell(found.bootstrap, _PLACES)}
                    if found.bootstrap
                    else {}
                ),
            }
        ),
    ]
    said = (
        f"{_split(found)}; {_LOOKS[found.looks]}; intervals of {100 * found.confidence:g}% by "
        f"user; "
        f"planned size: t distribution, p {p_text(found.p)}; any look: confidence sequence, p "
        f"{p_text(found.p_always)}"
    )
    if found.variance_reduction:
        said += f"; CUPED took out {100 * found.variance_reduction:.0f} % of the variance"
    if found.bootstrap:
        said += "; bootstrap: percentiles, of users drawn within their cohort"
    parts: list[Part] = [[verdict], Table.of(columns, rows)]
    if trend is not None:
        said += (
            "; trend: least squares over the periods, with errors by user, since users come back"
        )
        parts += _trend_parts(trend)
    return [*parts, ["method", *wrapped(said)]]


def _split(found: Effect) -> str:
    return (
        f"{found.n_a:,} users in A, {found.n_b:,} in B; p of the planned split "
        f"{p_text(found.split_p)}"
    )


def _no_verdict(found: Effect) -> str | None:
    """Sentence on why there is no verdict."""
    if found.obstacle == "split is wrong":
        return (
            f"No verdict: users were not split as planned ({_split(found)}). Find the reason first."
        )
    if found.obstacle == "too few users":
        users = f"{found.n_a:,} in A, {found.n_b:,} in B"
        if min(found.n_a, found.n_b) < FEWEST_USERS:
            return (
                f"No verdict: a cohort has fewer than {FEWEST_USERS} users ({users}). Wait for "
                f"more."
            )
        return (
            f"No verdict: the smaller cohort has too few users ({users}) for values with such "
            f"rare large ones. "
            f"With this split, wait for {found.users_for_skewness:,} users."
        )
    return None


def _trend_parts(found: Novelty) -> list[Part]:
    """A row a period, and whether the effect fades."""
    periods: list[Column[int]] = [
        Column(
            title="period",
            kind="number",
            cell=lambda row: Cell(f"{found.periods[row]:g}", float(found.periods[row])),
        ),
        Column(
            title="B - A",
            kind="number",
            cell=lambda row: number_cell(float(found.effects[row]), _PLACES, signed=True),
        ),
        Column(
            title=f"{100 * found.confidence:g} % interval",
            kind="number",
            cell=lambda row: interval_cell(
                (float(found.intervals[row, 0]), float(found.intervals[row, 1])), _PLACES
            ),
        ),
    ]
    verdict = {
        "fades": "The effect fades",
        "grows": "The effect grows",
        "no trend found": "No trend of the effect was found",
    }[found.verdict]
    low, high = found.interval
    left_out = f" Left out for too few users: {found.n_left_out}." if found.n_left_out else ""
    said = (
        f"{verdict}: {found.slope:+.{_PLACES}f} a period [{low:+.{_PLACES}f}, "
        f"{high:+.{_PLACES}f}], p {p_text(found.p)}.{left_out}"
    )
    return [[said], Table.of(periods, range(found.periods.size))]


def effect_json(found: Effect, trend: Novelty | None = None) -> str:
    """JSON text."""
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "verdict": found.verdict,
        **_effect_record(found),
        "novelty": _trend_record(trend),
    }
    return json.dumps(finite(record), indent=2) + "\n"


def _trend_record(trend: Novelty | None) -> dict[str, Any] | None:
    if trend is None:
        return None
    columns = (trend.periods, trend.effects, trend.standard_errors, trend.intervals)
    return {
        "verdict": trend.verdict,
        "slope": trend.slope,
        "standard_error": trend.standard_error,
        "interval": list(trend.interval),
        "p": trend.p,
        "periods_left_out": trend.n_left_out,
        "periods": [
            {"period": period, "difference": effect, "standard_error": error, "interval": interval}
            for period, effect, error, interval in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ],
    }


def _effect_record(found: Effect) -> dict[str, Any]:
    return {
        "mean_a": found.mean_a,
        "mean_b": found.mean_b,
        "difference": found.difference,
        "standard_error": found.standard_error,
        "interval": list(found.interval),
        "p": found.p,
        "sequence": list(found.sequence),
        "p_always": found.p_always,
        "looks": found.looks,
        "users_a": found.n_a,
        "users_b": found.n_b,
        "split_p": found.split_p,
        "skewness": found.skewness,
        "users_for_skewness": found.users_for_skewness,
        "variance_reduction": found.variance_reduction,
        "confidence": found.confidence,
        "bootstrap": None if found.bootstrap is None else list(found.bootstrap),
    }


def cohort_parts(found: CohortEffects) -> list[Part]:
    """A row a value: both cohorts, the difference, and the verdict.

    Examples
    --------
    >>> from idealrank.clicks import Sessions, cohort_effects
    >>> log = Sessions.from_arrays(["q"] * 4, [["a"]] * 4, [[0], [1], [1], [1]])
    >>> cohort_parts(cohort_effects(log, ["A", "A", "B", "B"]))[0]
    ['No verdict: a cohort has fewer than 20 users (2 in A, 2 in B). Wait for more.']
    """
    first = found.effects[CLICKS]
    of_users = first.obstacle is not None and not first.users_for_skewness
    said_of = {
        name: _no_verdict(effect)
        for name, effect in found.effects.items()
        if effect.users_for_skewness
    }
    heads = [
        f"B against A, by {found.n_lists:,} lists",
        *(f"{name}: {reason}" for name, reason in said_of.items()),
    ]
    if of_users:
        heads = [_no_verdict(first) or ""]
    p_kind = "always valid" if first.looks == "any" else "of the t distribution"
    columns: list[Column[str]] = [
        Column(title="of a list", kind="text", cell=Cell),
        Column(
            title="A",
            kind="number",
            cell=lambda name: number_cell(found.effects[name].mean_a, _PLACES),
        ),
        Column(
            title="B",
            kind="number",
            cell=lambda name: number_cell(found.effects[name].mean_b, _PLACES),
        ),
        Column(
            title="B - A",
            kind="number",
            cell=lambda name: number_cell(found.effects[name].difference, _PLACES, signed=True),
        ),
        Column(
            title="planned size",
            kind="number",
            cell=lambda name: interval_cell(found.effects[name].interval, _PLACES),
        ),
        Column(
            title="any look",
            kind="number",
            cell=lambda name: interval_cell(found.effects[name].sequence, _PLACES),
        ),
        Column(
            title="p",
            kind="number",
            cell=lambda name: (
                Cell(p_text(found.p[name]), found.p[name]) if name in found.p else Cell("-")
            ),
        ),
        Column(title="B is", kind="text", cell=lambda name: Cell(found.verdict(name))),
    ]
    said = (
        f"{_split(first)}; {_LOOKS[first.looks]}; intervals of {100 * first.confidence:g}% by "
        f"user; planned size: t distribution; "
        f"any look: confidence sequence; p: {p_kind}, by Holm's method over {len(found.p)} "
        f"values, which decides"
    )
    if found.n_judged:
        said += (
            f"; measures: of {found.n_judged:,} lists whose query has judgments, each query as "
            f"often as it was asked"
        )
    parts: list[Part] = [heads, Table.of(columns, list(found.effects))]
    reductions = [
        f"{name} {100 * effect.variance_reduction:.0f} %"
        for name, effect in found.effects.items()
        if effect.variance_reduction
    ]
    if reductions:
        said += f"; CUPED took out of the variance: {', '.join(reductions)}"
    if found.trends:
        said += "; trend: least squares over the periods, with errors by user, each value by itself"
        parts.append(_trends(found))
    return [*parts, ["method", *wrapped(said)]]


def _trends(found: CohortEffects) -> Table:
    """A row a value: its trend over the periods."""
    places = _PLACES + 1
    columns: list[Column[str]] = [
        Column(title="B - A over time", kind="text", cell=Cell),
        Column(
            title="periods",
            kind="number",
            cell=lambda name: count_cell(found.trends[name].periods.size),
        ),
        Column(
            title="first",
            kind="number",
            cell=lambda name: number_cell(
                float(found.trends[name].effects[0]), _PLACES, signed=True
            ),
        ),
        Column(
            title="last",
            kind="number",
            cell=lambda name: number_cell(
                float(found.trends[name].effects[-1]), _PLACES, signed=True
            ),
        ),
        Column(
            title="trend a period",
            kind="number",
            cell=lambda name: number_cell(found.trends[name].slope, places, signed=True),
        ),
        Column(
            title="interval",
            kind="number",
            cell=lambda name: interval_cell(found.trends[name].interval, places),
        ),
        Column(
            title="p",
            kind="number",
            cell=lambda name: Cell(p_text(found.trends[name].p), found.trends[name].p),
        ),
        Column(title="effect", kind="text", cell=lambda name: Cell(found.trends[name].verdict)),
    ]
    return Table.of(columns, list(found.trends))


def cohort_json(found: CohortEffects) -> str:
    """JSON text."""
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "lists": found.n_lists,
        "judged_lists": found.n_judged,
        "cautions": list(found.cautions),
        "values": {
            name: {
                "verdict": found.verdict(name),
                "p_adjusted": found.p.get(name),
                **_effect_record(effect),
                "novelty": _trend_record(found.trends.get(name)),
            }
            for name, effect in found.effects.items()
        },
    }
    return json.dumps(finite(record), indent=2) + "\n"


def plan_parts(
    unit: str, needed: int, looks: Looks, assumed: Mapping[str, float] | None = None
) -> list[Part]:
    """The number and its looks in a sentence, and what it rests on."""
    when = "at any look" if looks == "any" else "at one look, at this size"
    whose = f"{needed:,} {unit}" + (" of both cohorts together" if unit == "users" else "")
    text = "; ".join(
        f"{name.replace('_', ' ')} {value:g}" for name, value in (assumed or {}).items()
    )
    return [
        [f"{whose} are needed for a verdict that is valid {when}."],
        *([["method", *wrapped(f"assumed: {text}")]] if text else []),
    ]


def plan_json(
    unit: str, needed: int, looks: Looks, assumed: Mapping[str, float] | None = None
) -> str:
    r"""JSON text."""
    record = {
        "version": __version__,
        "schema": SCHEMA,
        unit: needed,
        "looks": looks,
        "assumed": dict(assumed or {}),
    }
    return json.dumps(record, indent=2) + "\n"
