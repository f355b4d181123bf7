"""Entries of a store: what one is, how it came about, its numbers and input files; and the changes
between two evaluations.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from idealrank.evaluation.evaluate import InputRecord
from idealrank.reports.table.cells import (
    Cell,
    Column,
    Table,
    count_cell,
    counted,
    decimals,
    interval_cell,
    number_cell,
    p_cell,
)
from idealrank.reports.table.forms import as_rows, as_text
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import columns, filled, printable
from idealrank.reports.views.comparison.verdicts import decided_tone
from idealrank.reports.views.conventions import JUDGED
from idealrank.version import __version__

if TYPE_CHECKING:
    from idealrank.analysis.comparison import Comparison


_WIDTH = 120
_NONE = float("nan")


def head_text(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """A title, and below it what is known, a fact a line; those without a value are left out."""
    rows = [[name, printable(value)] for name, value in facts if value]
    lines = columns(rows, left=(0, 1)) if rows else []
    return (
        "\n".join([printable(title), *([""] if lines else []), *(f"  {line}" for line in lines)])
        + "\n"
    )


def inputs_table(inputs: Sequence[InputRecord]) -> Table:
    """The files of an evaluation, without folders; a dash where the content could not be read any
    more.
    """
    columns: list[Column[InputRecord]] = [
        Column(title="inputs", cell=lambda one: one.path),
        Column(title="bytes", kind="number", cell=lambda one: count_cell(one.size)),
        Column(title="modified", cell=lambda one: one.modified or "-"),
        Column(title="sha256", cell=lambda one: one.sha256 or "-"),
    ]
    return Table.of(columns, inputs)


def means_table(means: Mapping[str, float | None]) -> Table:
    """Means alone, where nothing else can be read again."""
    columns: list[Column[str]] = [
        Column(title="measure", cell=str),
        Column(title="value", kind="number", cell=lambda measure: number_cell(means[measure])),
    ]
    return Table.of(columns, means)


def verdict_table(kind: str, result: Mapping[str, Any]) -> Table:
    """Build the table of a comparison or gate, one row a test."""
    return _of_comparison(result) if kind == "comparison" else _of_gate(result)


def _of_comparison(result: Mapping[str, Any]) -> Table:
    rows = [
        row | {"a": pair["a"], "b": pair["b"], "measure": text}
        for pair in result["pairs"]
        for text, row in pair["measures"].items()
    ]
    places = decimals(map(_ends, rows))
    columns: list[Column[Mapping[str, Any]]] = [
        *(_text(name) for name in ("a", "b", "measure")),
        *(_number(title, name) for title, name in (("mean a", "mean_a"), ("mean b", "mean_b"))),
        _number("difference", "difference", signed=True),
        Column(
            title=f"{result['method']['level'] * 100:g} % interval",
            kind="number",
            cell=lambda row: interval_cell(_ends(row), places, signed=True),
        ),
        Column(title="p", kind="number", cell=lambda row: p_cell(row["p_corrected"])),
        Column(
            title="b is", cell=lambda row: Cell(row["verdict"], tone=decided_tone(row["verdict"]))
        ),
    ]
    method = result["method"]
    tests = method["families"].get("all queries", len(rows))
    note = f"b - a; p: {method['test']} test, {method['correction']} correction over {tests} tests"
    # an earlier version did not ask
    judged = [f"{said.capitalize()}." for said in JUDGED[method.get("judgments", "same")]]
    return Table.of(columns, rows, notes=[note, *judged])


def _of_gate(result: Mapping[str, Any]) -> Table:
    columns: list[Column[Mapping[str, Any]]] = [
        *(_text(name) for name in ("baseline", "measure")),
        *(
            _number(title, name)
            for title, name in (("before", "mean_baseline"), (result["run"], "mean_run"))
        ),
        *(_number(name, name, signed=True) for name in ("difference", "bound")),
        Column(title="1-sided p", kind="number", cell=lambda check: p_cell(check["p_corrected"])),
        Column(
            title="2-sided p", kind="number", cell=lambda check: p_cell(check.get("p_two_sided"))
        ),
        Column(title="check", cell=_outcome),
    ]
    judged = [f"{said.capitalize()}." for said in JUDGED[result.get("judgments", "same")]]
    words = {
        "passed": "The gate was open.",
        "failed": "The gate was closed.",
        "too few judgments": "There were too few judgments.",
    }
    notes = [
        words[result.get("outcome", "passed" if result["passed"] else "failed")],
        *result["reasons"],
        *judged,
    ]
    return Table.of(columns, result["checks"], notes=notes)


def _text(name: str) -> Column[Mapping[str, Any]]:
    return Column(title=name, cell=lambda row: Cell(row[name]))


def _number(title: str, name: str, *, signed: bool = False) -> Column[Mapping[str, Any]]:
    return Column(
        title=title, kind="number", cell=lambda row: number_cell(row[name], signed=signed)
    )


def _outcome(check: Mapping[str, Any]) -> Cell:
    """The outcome of a check; gates of before there were companions have neither those nor
    outcomes.
    """
    if not check.get("decides", True):
        return Cell("companion", tone="quiet")
    failed = check.get("outcome", "passed" if check["passed"] else "failed") == "failed"
    return Cell(
        "failed" if failed else check.get("outcome", "passed"), tone="worse" if failed else ""
    )


def _ends(row: Mapping[str, Any]) -> tuple[float, float]:
    low, high = (_NONE if end is None else float(end) for end in row["interval"])
    return low, high


def verdict_text(kind: str, result: Mapping[str, Any]) -> str:
    """Return the verdict as text."""
    return as_text(verdict_table(kind, result), _WIDTH)


_HASH = 12  # digits of a SHA-256 that a person compares
_SOME = 5  # queries named in a sentence


def changes_text(
    found: Mapping[str, Any], comparison: "Comparison | None" = None, why_not: str = ""
) -> str:
    """The whole report: what went in, what came out, and whether the difference is more than
    chance.

    Examples
    --------
    >>> a = {
    ...     "id": "3f2a9c41d07b",
    ...     "run": "bm25",
    ...     "when": "2026-01-01T09:30:00",
    ...     "commit": "",
    ...     "convention": "standard [50871d00]",
    ... }
    >>> found = {
    ...     "a": a,
    ...     "b": a,
    ...     "inputs": [],
    ...     "judgments": "unknown",
    ...     "convention": [],
    ...     "made": [],
    ...     "means": [],
    ...     "changed_queries": None,
    ... }
    >>> found |= {
    ...     "measures": {"only_a": [], "only_b": []},
    ...     "queries": {"both": 1, "only_a": [], "only_b": []},
    ... }
    >>> print(changes_text(found).splitlines()[0])
    a  3f2a9c41d07b  bm25  2026-01-01 09:30
    """
    sides: list[Column[str]] = [
        Column(title="", cell=str),
        Column(title="", cell=lambda side: found[side]["id"]),
        Column(title="", cell=lambda side: found[side]["run"]),
        Column(title="", cell=lambda side: found[side]["when"][:16].replace("T", " ")),
    ]
    head = "\n".join(as_text(Table.of(sides, ["a", "b"]), _WIDTH).splitlines()[1:])
    parts = [head, _inputs(found), _rules(found), _means(found), _queries(found)]
    if comparison is not None:
        parts.append(
            "paired comparison\n" + verdict_text("comparison", comparison.as_dict()).rstrip("\n")
        )
    elif why_not:
        parts.append("\n".join(filled([f"They cannot be compared query by query: {why_not}."])))
    return "\n\n".join(part for part in parts if part) + "\n"


def _inputs(found: Mapping[str, Any]) -> str:
    if not found["inputs"]:
        return "Neither evaluation names its input files."
    columns: list[Column[Mapping[str, Any]]] = [
        Column(title="inputs", cell=lambda one: one["name"]),
        Column(
            title="is",
            cell=lambda one: Cell(one["state"], tone="" if one["state"] == "same" else "worse"),
        ),
        Column(title="sha256 in a", cell=lambda one: _hash(one["a"])),
        Column(title="in b", cell=lambda one: _hash(one["b"])),
    ]
    judged = {
        "same": "The judgments are the same.",
        "changed": "The judgments changed.",
        "unknown": "It is unknown whether the judgments changed.",
    }
    return as_text(
        Table.of(columns, found["inputs"], notes=[judged[found["judgments"]]]), _WIDTH
    ).rstrip("\n")


def _hash(text: str | None) -> Cell:
    return Cell((text or "-")[:_HASH], text)


def _rules(found: Mapping[str, Any]) -> str:
    """Switches, versions and others that differ; a sentence where none does."""
    rows = [*({"what": one["switch"], **one} for one in found["convention"]), *found["made"]]
    alone = {side: found["measures"][f"only_{side}"] for side in "ab"}
    rows += [
        {"what": f"measured in {side} alone", "a": None, "b": None, side: some}
        for side, some in alone.items()
        if some
    ]
    if not rows:
        return "Convention, version, commit and measures are the same."
    columns: list[Column[Mapping[str, Any]]] = [
        Column(title="made otherwise", cell=lambda one: one["what"]),
        Column(title="in a", cell=lambda one: _word(one["a"])),
        Column(title="in b", cell=lambda one: _word(one["b"])),
    ]
    same = (
        [] if found["convention"] else [f"The convention is the same, {found['a']['convention']}."]
    )
    return as_text(Table.of(columns, rows, notes=same), _WIDTH).rstrip("\n")


def _word(value: Any) -> str:
    """Format a changed item in a word or a number, shortened if long; names of measures in full."""
    if isinstance(value, list | tuple):
        return ", ".join(value)
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)[:40]


def _means(found: Mapping[str, Any]) -> str:
    if not found["means"]:
        return "They have no measure in common."
    return as_text(Table.of(_sides("measure"), found["means"]), _WIDTH).rstrip("\n")


def _sides(first: str) -> list[Column[Mapping[str, Any]]]:
    """Return the name of a row, its values on both sides, and their difference."""
    return [
        Column(title=first, cell=lambda one: Cell(one[first])),
        Column(title="a", kind="number", cell=lambda one: number_cell(one["a"])),
        Column(title="b", kind="number", cell=lambda one: number_cell(one["b"])),
        Column(
            title="b - a",
            kind="number",
            cell=lambda one: number_cell(one["difference"], signed=True),
        ),
    ]


def _queries(found: Mapping[str, Any]) -> str:
    alone = {side: found["queries"][f"only_{side}"] for side in "ab"}
    lines = [
        f"In {side} alone: {_some(queries)} ({counted(len(queries), 'query', 'queries')})."
        for side, queries in alone.items()
        if queries
    ]
    changed = found["changed_queries"]
    if changed is not None and not changed["n"]:
        lines.append(
            f"{changed['measure']} is the same on "
            f"{counted(found['queries']['both'], 'query', 'queries')} of both."
        )
    elif changed is not None and changed["top"]:
        lines += ([""] if lines else []) + as_text(
            queries_table(changed, found["queries"]["both"]), _WIDTH
        ).splitlines()
    return "\n".join(lines)


def _some(queries: Sequence[str]) -> str:
    return ", ".join(map(printable, queries[:_SOME])) + (", ..." if len(queries) > _SOME else "")


def queries_table(changed: Mapping[str, Any], n: int) -> Table:
    """The queries that changed most."""
    shown = (
        f"; shown are the {len(changed['top']):,} that changed most"
        if len(changed["top"]) < changed["n"]
        else ""
    )
    note = f"{changed['n']:,} of {n:,} queries changed by {changed['measure']}{shown}."
    return Table.of(_sides("query"), changed["top"], notes=[note])


def changes_rows(found: Mapping[str, Any]) -> list[Row]:
    """The queries that changed, a row each, below titles."""
    return as_rows(queries_table(found["changed_queries"] or {"measure": "", "n": 0, "top": []}, 0))


def changes_json(
    found: Mapping[str, Any], comparison: "Comparison | None" = None, why_not: str = ""
) -> str:
    """All of it as JSON."""
    compared = None if comparison is None else comparison.as_dict()
    record = {
        "version": __version__,
        "schema": SCHEMA,
        **found,
        "comparison": compared,
        "why_not_compared": why_not or None,
    }
    return json.dumps(record, indent=2) + "\n"
