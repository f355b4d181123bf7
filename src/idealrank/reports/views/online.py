"""Experiments with users, as tables and JSON."""

import json

from idealrank.clicks import Effect, Novelty, Preference
from idealrank.data.interchange import finite
from idealrank.reports.table.cells import Cell, Column, NamedCells, Table, count_cell, interval_cell, number_cell
from idealrank.reports.table.digits import p_text
from idealrank.reports.table.records import SCHEMA
from idealrank.reports.table.text import Part, wrapped
from idealrank.version import __version__

_PLACES = 4


def preference_parts(found: Preference) -> list[Part]:
    """Verdict, wins, and the test.

    Examples
    --------
    >>> from idealrank.clicks import preference
    >>> preference_parts(preference([1] * 30 + [-1] * 5))[0]
    ['Users prefer B: the test may stop.']
    """
    undecided = found.verdict == "undecided"
    verdict = "Undecided: the test may go on." if undecided else f"Users prefer {found.verdict}: the test may stop."
    columns: list[Column[Preference]] = [
        Column("A wins", "number", lambda one: count_cell(one.wins_a)),
        Column("B wins", "number", lambda one: count_cell(one.wins_b)),
        Column("neither", "number", lambda one: count_cell(one.ties)),
        Column("share of B", "number", lambda one: number_cell(one.share, _PLACES)),
        Column("at any look", "number", lambda one: interval_cell(one.sequence, _PLACES)),
        Column("planned size", "number", lambda one: interval_cell(one.interval, _PLACES)),
    ]
    said = (
        f"at any look: confidence sequence of {100 * found.confidence:g} %, p {p_text(found.p_always)}; planned size: interval of Clopper "
        f"and Pearson, sign test p {p_text(found.p)}"
    )
    return [[verdict], Table.of(columns, [found]), ["method", *wrapped(said)]]


def preference_json(found: Preference) -> str:
    """JSON text.

    Examples
    --------
    >>> from idealrank.clicks import preference
    >>> json.loads(preference_json(preference([1, -1, 0])))["ties"]
    1
    """
    record = {
        "version": __version__, "schema": SCHEMA, "verdict": found.verdict, "wins_a": found.wins_a, "wins_b": found.wins_b,
        "ties": found.ties, "share": found.share, "interval": list(found.interval), "p": found.p, "sequence": list(found.sequence),
        "p_always": found.p_always, "confidence": found.confidence,
    }  # fmt: skip
    return json.dumps(finite(record), indent=2) + "\n"


def effect_parts(found: Effect, trend: Novelty | None = None) -> list[Part]:
    """Verdict, values, the effect over time, and the checks.

    Examples
    --------
    >>> from idealrank.clicks import ab_effect
    >>> effect_parts(ab_effect([1, 2, 3, 2, 3, 4], ["A", "A", "A", "B", "B", "B"]))[0]
    ['B against A: undecided']
    """
    split = f"{found.n_a:,} users in A, {found.n_b:,} in B; p of the planned split {p_text(found.split_p)}"
    verdict = f"B against A: {found.verdict}"
    if found.verdict == "split is wrong":
        verdict = f"No verdict: users were not split as planned ({split}). Find the reason first."
    heads = ("value", "planned size", *(["bootstrap"] if found.bootstrap else []), "any look")
    columns: list[Column[NamedCells]] = [Column("of"), *(Column[NamedCells](head, "number") for head in heads)]
    rows = [
        NamedCells(of=Cell("A"), value=number_cell(found.mean_a, _PLACES)),
        NamedCells(of=Cell("B"), value=number_cell(found.mean_b, _PLACES)),
        NamedCells({
            "of": Cell("B - A"), "value": number_cell(found.difference, _PLACES, signed=True),
            "planned size": interval_cell(found.interval, _PLACES), "any look": interval_cell(found.sequence, _PLACES),
            **({"bootstrap": interval_cell(found.bootstrap, _PLACES)} if found.bootstrap else {}),
        }),
    ]  # fmt: skip
    said = (
        f"{split}; intervals of {100 * found.confidence:g} % by user; planned size: normal, p {p_text(found.p)}; any look: confidence "
        "sequence"
    )
    if found.variance_reduction:
        said += f"; CUPED took out {100 * found.variance_reduction:.0f} % of the variance"
    if found.bootstrap:
        said += "; bootstrap: percentiles, of users drawn within their cohort"
    parts: list[Part] = [[verdict], Table.of(columns, rows)]
    if trend is not None:
        said += "; trend: least squares over the periods, with errors by user, since users come back"
        parts += _trend_parts(trend)
    return [*parts, ["method", *wrapped(said)]]


def _trend_parts(found: Novelty) -> list[Part]:
    """A row a period, and whether the effect fades."""
    periods: list[Column[int]] = [
        Column("period", "number", lambda row: Cell(f"{found.periods[row]:g}", float(found.periods[row]))),
        Column("B - A", "number", lambda row: number_cell(float(found.effects[row]), _PLACES, signed=True)),
        Column(f"{100 * found.confidence:g} % interval", "number",
               lambda row: interval_cell((float(found.intervals[row, 0]), float(found.intervals[row, 1])), _PLACES)),
    ]  # fmt: skip
    verdict = {"fades": "The effect fades", "grows": "The effect grows", "no trend found": "No trend of the effect was found"}[
        found.verdict
    ]
    low, high = found.interval
    left_out = f" Left out for too few users: {found.n_left_out}." if found.n_left_out else ""
    said = f"{verdict}: {found.slope:+.{_PLACES}f} a period [{low:+.{_PLACES}f}, {high:+.{_PLACES}f}], p {p_text(found.p)}.{left_out}"
    return [[said], Table.of(periods, range(found.periods.size))]


def effect_json(found: Effect, trend: Novelty | None = None) -> str:
    """JSON text.

    Examples
    --------
    >>> from idealrank.clicks import ab_effect
    >>> json.loads(effect_json(ab_effect([1, 2, 3, 2, 3, 4], ["A", "A", "A", "B", "B", "B"])))["difference"]
    1.0
    """
    record = {
        "version": __version__, "schema": SCHEMA, "verdict": found.verdict, "mean_a": found.mean_a, "mean_b": found.mean_b,
        "difference": found.difference, "standard_error": found.standard_error, "interval": list(found.interval), "p": found.p,
        "sequence": list(found.sequence), "users_a": found.n_a, "users_b": found.n_b, "split_p": found.split_p,
        "variance_reduction": found.variance_reduction, "confidence": found.confidence,
        "bootstrap": None if found.bootstrap is None else list(found.bootstrap),
        "novelty": None if trend is None else {
            "verdict": trend.verdict, "slope": trend.slope, "standard_error": trend.standard_error, "interval": list(trend.interval),
            "p": trend.p, "periods_left_out": trend.n_left_out,
            "periods": [
                {"period": period, "difference": effect, "standard_error": error, "interval": interval}
                for period, effect, error, interval in
                zip(*(column.tolist() for column in (trend.periods, trend.effects, trend.standard_errors, trend.intervals)), strict=True)
            ],
        },
    }  # fmt: skip
    return json.dumps(finite(record), indent=2) + "\n"


def plan_parts(unit: str, needed: int) -> list[Part]:
    """The number in a sentence.

    Examples
    --------
    >>> plan_parts("lists", 4984)
    [['4,984 lists are needed.']]
    """
    return [[f"{needed:,} {unit} are needed."]]


def plan_json(unit: str, needed: int) -> str:
    r"""JSON text.

    Examples
    --------
    >>> json.loads(plan_json("users", 3140))["users"]
    3140
    """
    return json.dumps({"version": __version__, "schema": SCHEMA, unit: needed}, indent=2) + "\n"
