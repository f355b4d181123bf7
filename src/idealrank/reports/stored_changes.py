"""What changed from one evaluation of a store to another, for people and for programs."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from idealrank.reports.digits import number
from idealrank.reports.layout import filled, printable
from idealrank.reports.records import SCHEMA
from idealrank.reports.stored import verdict_text
from idealrank.reports.tables import Cell, Column, Table, as_csv, as_text
from idealrank.version import __version__

if TYPE_CHECKING:
    from idealrank.analysis.comparison import Comparison

_WIDTH = 120
_HASH = 12  # digits of a SHA-256 that a person compares
_NONE = float("nan")
_SOME = 5  # queries named in a sentence


def changes_text(found: Mapping[str, Any], comparison: "Comparison | None" = None, why_not: str = "") -> str:
    """The whole report: what went in, what came out, and whether the difference is more than chance.

    Parameters
    ----------
    found : mapping
        What `idealrank.store.diff.changes` gives.
    comparison : Comparison, optional
        Of the two, where they can be compared.
    why_not : str
        Why they cannot.

    Examples
    --------
    >>> a = {"id": "3f2a9c41d07b", "run": "bm25", "when": "2026-01-01T09:30:00", "commit": "", "convention": "standard [50871d00]"}
    >>> found = {"a": a, "b": a, "inputs": [], "judgments": "unknown", "convention": [], "made": [], "means": [], "changed_queries": None}
    >>> found |= {"measures": {"only_a": [], "only_b": []}, "queries": {"both": 1, "only_a": [], "only_b": []}}
    >>> print(changes_text(found).splitlines()[0])
    a  3f2a9c41d07b  bm25  2026-01-01 09:30
    """
    sides = Table([Column(""), Column(""), Column(""), Column("")], [_side(name, found[name]) for name in ("a", "b")])
    head = "\n".join(as_text(sides, _WIDTH).splitlines()[1:])
    parts = [head, _inputs(found), _rules(found), _means(found), _queries(found)]
    if comparison is not None:
        parts.append("paired comparison\n" + verdict_text("comparison", comparison.as_dict()).rstrip("\n"))
    elif why_not:
        parts.append("\n".join(filled([f"They cannot be compared query by query: {why_not}."])))
    return "\n\n".join(part for part in parts if part) + "\n"


def _side(name: str, one: Mapping[str, Any]) -> list[Cell]:
    return [Cell(name), Cell(one["id"]), Cell(one["run"]), Cell(one["when"][:16].replace("T", " "))]


def _inputs(found: Mapping[str, Any]) -> str:
    if not found["inputs"]:
        return "Neither knows the files it was made of."
    rows = [
        [Cell(one["name"]), Cell(one["state"], tone="" if one["state"] == "same" else "worse"), _hash(one["a"]), _hash(one["b"])]
        for one in found["inputs"]
    ]
    judged = {
        "same": "The judgments are the same.",
        "changed": "The judgments changed.",
        "unknown": "Whether the judgments changed is not known.",
    }
    table = Table([Column("inputs"), Column("is"), Column("sha256 in a"), Column("in b")], rows, notes=[judged[found["judgments"]]])
    return as_text(table, _WIDTH).rstrip("\n")


def _hash(text: str | None) -> Cell:
    return Cell((text or "-")[:_HASH], text)


def _rules(found: Mapping[str, Any]) -> str:
    """Switches, versions and others that differ; a sentence where none does."""
    rows = [[Cell(one["switch"]), _word(one["a"]), _word(one["b"])] for one in found["convention"]]
    rows += [[Cell(one["what"]), _word(one["a"]), _word(one["b"])] for one in found["made"]]
    rows += [
        [Cell(f"measured in {side} alone"), *_alone(found["measures"][f"only_{side}"], side)]
        for side in "ab"
        if found["measures"][f"only_{side}"]
    ]
    if not rows:
        return "Convention, version, commit and measures are the same."
    same = [] if found["convention"] else [f"The convention is the same, {found['a']['convention']}."]
    return as_text(Table([Column("made otherwise"), Column("in a"), Column("in b")], rows, notes=same), _WIDTH).rstrip("\n")


def _alone(measures: Sequence[str], side: str) -> list[Cell]:
    texts = Cell(", ".join(measures))
    return [texts, Cell("-")] if side == "a" else [Cell("-"), texts]


def _word(value: Any) -> Cell:
    return Cell("-" if value is None else {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)[:40])


def _means(found: Mapping[str, Any]) -> str:
    if not found["means"]:
        return "They have no measure in common."
    titles = [Column("measure"), *(Column(title, "number") for title in ("a", "b", "b - a"))]
    rows = [[Cell(one["measure"]), *_numbers(one)] for one in found["means"]]
    return as_text(Table(titles, rows), _WIDTH).rstrip("\n")


def _numbers(one: Mapping[str, Any]) -> list[Cell]:
    return [_number(one["a"]), _number(one["b"]), _number(one["difference"], signed=True)]


def _number(value: float | None, *, signed: bool = False) -> Cell:
    return Cell(number(_NONE if value is None else value, signed=signed), value)


def _queries(found: Mapping[str, Any]) -> str:
    alone = {side: found["queries"][f"only_{side}"] for side in "ab"}
    lines = [
        f"In {side} alone: {_some(queries)} ({_count(len(queries), 'query', 'queries')})." for side, queries in alone.items() if queries
    ]
    changed = found["changed_queries"]
    if changed is not None and not changed["n"]:
        lines.append(f"{changed['measure']} is the same on {_count(found['queries']['both'], 'query', 'queries')} of both.")
    elif changed is not None and changed["top"]:
        lines += ([""] if lines else []) + as_text(queries_table(changed, found["queries"]["both"]), _WIDTH).splitlines()
    return "\n".join(lines)


def _count(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def _some(queries: Sequence[str]) -> str:
    return ", ".join(map(printable, queries[:_SOME])) + (", ..." if len(queries) > _SOME else "")


def queries_table(changed: Mapping[str, Any], n: int) -> Table:
    """The queries that changed most.

    Examples
    --------
    >>> top = [{"query": "q1", "a": 1.0, "b": 0.5, "difference": -0.5}]
    >>> queries_table({"measure": "RR", "n": 1, "top": top}, 4).notes
    ['1 of 4 queries changed by RR.']
    """
    titles = [Column("query"), *(Column(title, "number") for title in ("a", "b", "b - a"))]
    shown = f"; shown are the {len(changed['top']):,} that changed most" if len(changed["top"]) < changed["n"] else ""
    note = f"{changed['n']:,} of {n:,} queries changed by {changed['measure']}{shown}."
    return Table(titles, [[Cell(one["query"]), *_numbers(one)] for one in changed["top"]], notes=[note])


def changes_csv(found: Mapping[str, Any]) -> str:
    r"""The queries that changed, a row each.

    Examples
    --------
    >>> changes_csv({"changed_queries": None})
    'query,a,b,b - a\n'
    """
    return as_csv(queries_table(found["changed_queries"] or {"measure": "", "n": 0, "top": []}, 0))


def changes_json(found: Mapping[str, Any], comparison: "Comparison | None" = None, why_not: str = "") -> str:
    """All of it as JSON.

    Examples
    --------
    >>> json.loads(changes_json({"judgments": "same"}))["comparison"] is None
    True
    """
    compared = None if comparison is None else comparison.as_dict()
    record = {"version": __version__, "schema": SCHEMA, **found, "comparison": compared, "why_not_compared": why_not or None}
    return json.dumps(record, indent=2) + "\n"
