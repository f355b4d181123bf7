"""Experiments with users, as tables and JSON."""

import json

from idealrank.clicks import Effect, Preference
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


def effect_parts(found: Effect) -> list[Part]:
    """Verdict, values, and the checks.

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
    heads = ("value", "planned size", "any look")
    columns: list[Column[NamedCells]] = [Column("of"), *(Column[NamedCells](head, "number") for head in heads)]
    rows = [
        NamedCells(of=Cell("A"), value=number_cell(found.mean_a, _PLACES)),
        NamedCells(of=Cell("B"), value=number_cell(found.mean_b, _PLACES)),
        NamedCells({
            "of": Cell("B - A"), "value": number_cell(found.difference, _PLACES, signed=True),
            "planned size": interval_cell(found.interval, _PLACES), "any look": interval_cell(found.sequence, _PLACES),
        }),
    ]  # fmt: skip
    said = (
        f"{split}; intervals of {100 * found.confidence:g} % by user; planned size: normal, p {p_text(found.p)}; any look: confidence "
        "sequence"
    )
    if found.variance_reduction:
        said += f"; CUPED took out {100 * found.variance_reduction:.0f} % of the variance"
    return [[verdict], Table.of(columns, rows), ["method", *wrapped(said)]]


def effect_json(found: Effect) -> str:
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
