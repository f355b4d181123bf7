"""Experiments with users, as tables and JSON."""

from collections.abc import Mapping
from typing import Any

from idealrank.clicks import CohortEffects, Effect, Novelty, Preference
from idealrank.clicks.ab_tests import FEWEST_USERS
from idealrank.clicks.arguments import Looks
from idealrank.clicks.cohort_values import CLICKS
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
from idealrank.reports.table.records import result_json
from idealrank.reports.table.text import Part, filled, wrapped

_PLACES = 4
_LOOKS: dict[Looks, str] = {
    "any": "verdict: valid at any look",
    "once": "verdict: valid at one look, at the planned size",
}


def preference_parts(
    preference: Preference, n_lists: int | None = None, n_users: int | None = None
) -> list[Part]:
    """Return the verdict, wins and the test, with the numbers of lists and users, if known."""
    undecided = preference.verdict == "undecided"
    verdict = "Undecided" if undecided else f"Users prefer {preference.verdict}"
    if preference.looks == "any":
        verdict += ": the test may go on" if undecided else ": the test may stop"
    head = [f"{verdict}."]
    if undecided:
        head += filled(_detectable_share(preference, "lists" if n_users is None else "users"))
    columns: list[Column[Preference]] = [
        Column(title="A wins", kind="number", cell=lambda row: count_cell(row.wins_a)),
        Column(title="B wins", kind="number", cell=lambda row: count_cell(row.wins_b)),
        Column(title="neither", kind="number", cell=lambda row: count_cell(row.ties)),
        Column(title="share of B", kind="number", cell=lambda row: number_cell(row.share, _PLACES)),
        Column(
            title="at any look",
            kind="number",
            cell=lambda row: interval_cell(row.sequence, _PLACES),
        ),
        Column(
            title="planned size",
            kind="number",
            cell=lambda row: interval_cell(row.interval, _PLACES),
        ),
    ]
    method = (
        f"{_LOOKS[preference.looks]}; at any look: confidence sequence of "
        f"{100 * preference.confidence:g}%, p {p_text(preference.p_always)}; planned size: "
        f"interval of Clopper and Pearson, sign test p {p_text(preference.p)}"
    )
    if n_lists is not None and n_users is not None:
        method = (
            f"{n_lists:,} lists of {n_users:,} users; a user counts once, by the majority of their "
            f"lists; {method}"
        )
    return [head, Table.of(columns, [preference]), ["method", *wrapped(method)]]


def _detectable_share(preference: Preference, units: str) -> str:
    """Say what preference these lists or users would have shown."""
    wins = preference.wins_a + preference.wins_b
    share = preference.detectable
    if share is None:
        return f"The {wins:,} {units} with a preference are too few to find any preference."
    return (
        f"With these {wins:,} {units} with a preference, a share of B of {share:.3f} or "
        f"{1 - share:.3f} would be found 80% of the time; shares between them may be missed."
    )


def preference_json(
    preference: Preference, n_lists: int | None = None, n_users: int | None = None
) -> str:
    """Write the result as JSON text."""
    record = {
        "verdict": preference.verdict,
        "wins_a": preference.wins_a,
        "wins_b": preference.wins_b,
        "ties": preference.ties,
        "share": preference.share,
        "interval": list(preference.interval),
        "p": preference.p,
        "sequence": list(preference.sequence),
        "p_always": preference.p_always,
        "confidence": preference.confidence,
        "looks": preference.looks,
        "lists": n_lists,
        "users": n_users,
    }
    return result_json(record)


def effect_parts(effect: Effect, trend: Novelty | None = None) -> list[Part]:
    """Return the verdict, values, the effect over time, and the checks."""
    head = [_no_verdict(effect) or f"B against A: {effect.verdict}"]
    if effect.verdict == "undecided":
        head += filled(
            f"With these {effect.n_a + effect.n_b:,} users, a true difference of "
            f"{effect.detectable:.{_PLACES}f} would be found 80% of the time; smaller ones may be "
            "missed."
        )
    difference = {
        "of": Cell("B - A"),
        "value": number_cell(effect.difference, _PLACES, signed=True),
        "planned size": interval_cell(effect.interval, _PLACES),
        "any look": interval_cell(effect.sequence, _PLACES),
    }
    titles = ["value", "planned size", "any look"]
    if effect.bootstrap:
        titles.insert(2, "bootstrap")
        difference["bootstrap"] = interval_cell(effect.bootstrap, _PLACES)
    columns: list[Column[NamedCells]] = [
        Column(title="of"),
        *(
            Column[NamedCells](title=title, kind="number", rank=_rank(title, effect.looks))
            for title in titles
        ),
    ]
    rows = [
        NamedCells(of=Cell("A"), value=number_cell(effect.mean_a, _PLACES)),
        NamedCells(of=Cell("B"), value=number_cell(effect.mean_b, _PLACES)),
        NamedCells(difference),
    ]
    method = (
        f"{_split(effect)}; {_LOOKS[effect.looks]}; intervals of {100 * effect.confidence:g}% by "
        f"user; planned size: t distribution, p {p_text(effect.p)}; any look: confidence sequence, "
        f"p {p_text(effect.p_always)}"
    )
    if effect.variance_reduction:
        method += f"; CUPED took out {100 * effect.variance_reduction:.0f} % of the variance"
    if effect.bootstrap:
        method += "; bootstrap: percentiles, of users drawn within their cohort"
    parts: list[Part] = [head, Table.of(columns, rows)]
    if trend is not None:
        method += (
            "; trend: least squares over the periods, with errors by user, since users come back"
        )
        parts += _trend_parts(trend)
    return [*parts, ["method", *wrapped(method)]]


def _rank(title: str, looks: Looks) -> int:
    """Rank intervals: the verdict is by one of them, which a narrow terminal keeps."""
    decisive = {"any": "any look", "once": "planned size"}[looks]
    return 0 if title in ("value", decisive) else 2


def _split(effect: Effect) -> str:
    return (
        f"{effect.n_a:,} users in A, {effect.n_b:,} in B; p of the planned split "
        f"{p_text(effect.split_p)}"
    )


def _no_verdict(effect: Effect) -> str | None:
    """Sentence on why there is no verdict."""
    if effect.obstacle == "split is wrong":
        return (
            f"No verdict: users were not split as planned ({_split(effect)}). Find the reason "
            "first."
        )
    if effect.obstacle == "too few users":
        users = f"{effect.n_a:,} in A, {effect.n_b:,} in B"
        if min(effect.n_a, effect.n_b) < FEWEST_USERS:
            return (
                f"No verdict: a cohort has fewer than {FEWEST_USERS} users ({users}). Wait for "
                "more."
            )
        return (
            f"No verdict: the smaller cohort has too few users ({users}) for values with such rare "
            f"large ones. With this split, wait for {effect.users_for_skewness:,} users."
        )
    return None


def _trend_parts(trend: Novelty) -> list[Part]:
    """Say whether the effect fades, and return a table with a row for each period."""
    periods: list[Column[int]] = [
        Column(
            title="period",
            kind="number",
            cell=lambda row: Cell(f"{trend.periods[row]:g}", float(trend.periods[row])),
        ),
        Column(
            title="B - A",
            kind="number",
            cell=lambda row: number_cell(float(trend.effects[row]), _PLACES, signed=True),
        ),
        Column(
            title=f"{100 * trend.confidence:g} % interval",
            kind="number",
            cell=lambda row: interval_cell(
                (float(trend.intervals[row, 0]), float(trend.intervals[row, 1])), _PLACES
            ),
        ),
    ]

    verdict = {
        "fades": "The effect fades",
        "grows": "The effect grows",
        "no trend found": "No trend of the effect was found",
    }[trend.verdict]
    low, high = trend.interval
    left_out = f" Left out for too few users: {trend.n_left_out}." if trend.n_left_out else ""
    sentence = (
        f"{verdict}: {trend.slope:+.{_PLACES}f} a period [{low:+.{_PLACES}f}, "
        f"{high:+.{_PLACES}f}], p {p_text(trend.p)}.{left_out}"
    )
    return [[sentence], Table.of(periods, range(trend.periods.size))]


def effect_json(effect: Effect, trend: Novelty | None = None) -> str:
    """Write the result as JSON text."""
    record = {
        "verdict": effect.verdict,
        **_effect_record(effect),
        "novelty": _trend_record(trend),
    }
    return result_json(record)


def _trend_record(trend: Novelty | None) -> dict[str, Any] | None:
    if trend is None:
        return None
    rows = zip(
        trend.periods.tolist(),
        trend.effects.tolist(),
        trend.standard_errors.tolist(),
        trend.intervals.tolist(),
        strict=True,
    )
    return {
        "verdict": trend.verdict,
        "slope": trend.slope,
        "standard_error": trend.standard_error,
        "interval": list(trend.interval),
        "p": trend.p,
        "periods_left_out": trend.n_left_out,
        "periods": [
            {"period": period, "difference": effect, "standard_error": error, "interval": interval}
            for period, effect, error, interval in rows
        ],
    }


def _effect_record(effect: Effect) -> dict[str, Any]:
    return {
        "mean_a": effect.mean_a,
        "mean_b": effect.mean_b,
        "difference": effect.difference,
        "standard_error": effect.standard_error,
        "interval": list(effect.interval),
        "p": effect.p,
        "sequence": list(effect.sequence),
        "p_always": effect.p_always,
        "looks": effect.looks,
        "users_a": effect.n_a,
        "users_b": effect.n_b,
        "split_p": effect.split_p,
        "skewness": effect.skewness,
        "users_for_skewness": effect.users_for_skewness,
        "variance_reduction": effect.variance_reduction,
        "confidence": effect.confidence,
        "bootstrap": None if effect.bootstrap is None else list(effect.bootstrap),
    }


def cohort_parts(cohorts: CohortEffects) -> list[Part]:
    """Return a table with a row for each value: both cohorts, the difference, and the verdict.

    Examples
    --------
    >>> from idealrank.clicks import Sessions, cohort_effects
    >>> log = Sessions.from_arrays(["q"] * 4, [["a"]] * 4, [[0], [1], [1], [1]])
    >>> cohort_parts(cohort_effects(log, ["A", "A", "B", "B"]))[0]
    ['No verdict: a cohort has fewer than 20 users (2 in A, 2 in B). Wait for more.']
    """
    clicks = cohorts.effects[CLICKS]
    head = [f"B against A, by {cohorts.n_lists:,} lists"]
    if clicks.obstacle is not None and not clicks.users_for_skewness:
        head = [_no_verdict(clicks) or ""]  # the split or the users, which all values share
    else:
        head += [
            f"{name}: {_no_verdict(effect)}"
            for name, effect in cohorts.effects.items()
            if effect.users_for_skewness
        ]
    p_kind = "always valid" if clicks.looks == "any" else "of the t distribution"
    columns: list[Column[str]] = [
        Column(title="of a list", kind="text", cell=Cell),
        Column(
            title="A",
            kind="number",
            cell=lambda name: number_cell(cohorts.effects[name].mean_a, _PLACES),
            rank=3,
        ),
        Column(
            title="B",
            kind="number",
            cell=lambda name: number_cell(cohorts.effects[name].mean_b, _PLACES),
            rank=3,
        ),
        Column(
            title="B - A",
            kind="number",
            cell=lambda name: number_cell(cohorts.effects[name].difference, _PLACES, signed=True),
        ),
        Column(
            title="planned size",
            kind="number",
            cell=lambda name: interval_cell(cohorts.effects[name].interval, _PLACES),
            rank=_rank("planned size", clicks.looks),
        ),
        Column(
            title="any look",
            kind="number",
            cell=lambda name: interval_cell(cohorts.effects[name].sequence, _PLACES),
            rank=_rank("any look", clicks.looks),
        ),
        Column(
            title="p",
            kind="number",
            cell=lambda name: (
                Cell(p_text(cohorts.p[name]), cohorts.p[name]) if name in cohorts.p else Cell("-")
            ),
            rank=1,
        ),
        Column(title="B is", kind="text", cell=lambda name: Cell(cohorts.verdict(name))),
    ]
    method = (
        f"{_split(clicks)}; {_LOOKS[clicks.looks]}; intervals of {100 * clicks.confidence:g}% by "
        f"user; planned size: t distribution; any look: confidence sequence; p: {p_kind}, by "
        f"Holm's method over {len(cohorts.p)} values, which decides"
    )
    if cohorts.n_judged:
        method += (
            f"; measures: of {cohorts.n_judged:,} lists whose query has judgments, each query as "
            "often as it was asked"
        )

    parts: list[Part] = [head, Table.of(columns, list(cohorts.effects))]
    reductions = [
        f"{name} {100 * effect.variance_reduction:.0f} %"
        for name, effect in cohorts.effects.items()
        if effect.variance_reduction
    ]
    if reductions:
        method += f"; CUPED took out of the variance: {', '.join(reductions)}"
    if cohorts.trends:
        method += (
            "; trend: least squares over the periods, with errors by user, each value by itself"
        )
        parts.append(_trends(cohorts))
    return [*parts, ["method", *wrapped(method)]]


def _trends(cohorts: CohortEffects) -> Table:
    """Make a table with a row for each value: its trend over the periods."""
    places = _PLACES + 1
    columns: list[Column[str]] = [
        Column(title="B - A over time", kind="text", cell=Cell),
        Column(
            title="periods",
            kind="number",
            cell=lambda name: count_cell(cohorts.trends[name].periods.size),
            rank=4,
        ),
        Column(
            title="first",
            kind="number",
            cell=lambda name: number_cell(
                float(cohorts.trends[name].effects[0]), _PLACES, signed=True
            ),
            rank=3,
        ),
        Column(
            title="last",
            kind="number",
            cell=lambda name: number_cell(
                float(cohorts.trends[name].effects[-1]), _PLACES, signed=True
            ),
            rank=3,
        ),
        Column(
            title="trend a period",
            kind="number",
            cell=lambda name: number_cell(cohorts.trends[name].slope, places, signed=True),
        ),
        Column(
            title="interval",
            kind="number",
            cell=lambda name: interval_cell(cohorts.trends[name].interval, places),
        ),
        Column(
            title="p",
            kind="number",
            cell=lambda name: Cell(p_text(cohorts.trends[name].p), cohorts.trends[name].p),
            rank=1,
        ),
        Column(title="effect", kind="text", cell=lambda name: Cell(cohorts.trends[name].verdict)),
    ]
    return Table.of(columns, list(cohorts.trends))


def cohort_json(cohorts: CohortEffects) -> str:
    """Write the result as JSON text."""
    record = {
        "lists": cohorts.n_lists,
        "judged_lists": cohorts.n_judged,
        "cautions": list(cohorts.cautions),
        "values": {
            name: {
                "verdict": cohorts.verdict(name),
                "p_adjusted": cohorts.p.get(name),
                **_effect_record(effect),
                "novelty": _trend_record(cohorts.trends.get(name)),
            }
            for name, effect in cohorts.effects.items()
        },
    }
    return result_json(record)


def plan_parts(
    unit: str, needed: int, looks: Looks, assumed: Mapping[str, float] | None = None
) -> list[Part]:
    """Say how many units are needed, and what the number rests on."""
    when = "at any look" if looks == "any" else "at one look, at this size"
    units = "users of both cohorts together" if unit == "users" else unit
    parts: list[Part] = [[f"{needed:,} {units} are needed for a verdict that is valid {when}."]]
    values = [f"{name.replace('_', ' ')} {value:g}" for name, value in (assumed or {}).items()]
    if values:
        parts.append(["method", *wrapped(f"assumed: {'; '.join(values)}")])
    return parts


def plan_json(
    unit: str, needed: int, looks: Looks, assumed: Mapping[str, float] | None = None
) -> str:
    """Write the result as JSON text."""
    record = {
        unit: needed,
        "looks": looks,
        "assumed": dict(assumed or {}),
    }
    return result_json(record)
