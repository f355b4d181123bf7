"""Entries of a store: what one is, how it came about, its numbers and input files; and the changes
between two evaluations.
"""

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
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import columns, filled, printable
from idealrank.reports.views.comparison.verdicts import decided_tone
from idealrank.reports.views.conventions import JUDGED

if TYPE_CHECKING:
    from idealrank.analysis.comparison import Comparison


_WIDTH = 120
_NONE = float("nan")


def head_text(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """A title, and below it one fact per line; facts without a value are left out."""
    rows = [[name, printable(value)] for name, value in facts if value]
    lines = [printable(title)]
    if rows:
        lines += ["", *columns(rows, left=(0, 1), indent="  ")]
    return "\n".join(lines) + "\n"


def inputs_table(inputs: Sequence[InputRecord]) -> Table:
    """The files of an evaluation, without folders; a dash where the content could not be read any
    more.
    """
    columns: list[Column[InputRecord]] = [
        Column(title="inputs", cell=lambda file: file.path),
        Column(title="bytes", kind="number", cell=lambda file: count_cell(file.size)),
        Column(title="modified", cell=lambda file: file.modified or "-"),
        Column(title="sha256", cell=lambda file: file.sha256 or "-"),
    ]
    return Table.of(columns, inputs, kept=1)


def means_table(means: Mapping[str, float | None]) -> Table:
    """Means alone, if nothing else can be read again."""
    columns: list[Column[str]] = [
        Column(title="measure", cell=str),
        Column(title="value", kind="number", cell=lambda measure: number_cell(means[measure])),
    ]
    return Table.of(columns, means)


def verdict_table(kind: str, result: Mapping[str, Any]) -> Table:
    """Build the table of a comparison or gate, one row per test."""
    return _of_comparison(result) if kind == "comparison" else _of_gate(result)


def _of_comparison(result: Mapping[str, Any]) -> Table:
    rows: list[Mapping[str, Any]] = []
    for pair in result["pairs"]:
        head = {"a": pair["a"], "b": pair["b"]}
        rows += [row | head | {"measure": text} for text, row in pair["measures"].items()]
    places = decimals(map(_ends, rows))
    columns: list[Column[Mapping[str, Any]]] = [
        *(_text(name) for name in ("a", "b", "measure")),
        _number("mean a", "mean_a", rank=2),
        _number("mean b", "mean_b", rank=2),
        _number("difference", "difference", signed=True),
        Column(
            title=f"{result['method']['level'] * 100:g} % interval",
            kind="number",
            cell=lambda row: interval_cell(_ends(row), places, signed=True),
        ),
        Column(title="p", kind="number", cell=lambda row: p_cell(row["p_corrected"]), rank=1),
        Column(
            title="b is", cell=lambda row: Cell(row["verdict"], tone=decided_tone(row["verdict"]))
        ),
    ]
    method = result["method"]
    tests = method["families"].get("all queries", len(rows))
    note = f"b - a; p: {method['test']} test, {method['correction']} correction over {tests} tests"
    # Results of earlier versions do not say.
    judged = [f"{sentence.capitalize()}." for sentence in JUDGED[method.get("judgments", "same")]]
    return Table.of(columns, rows, notes=[note, *judged])


def _of_gate(result: Mapping[str, Any]) -> Table:
    columns: list[Column[Mapping[str, Any]]] = [
        _text("baseline"),
        _text("measure"),
        _number("before", "mean_baseline", rank=3),
        _number(result["run"], "mean_run", rank=3),
        _number("difference", "difference", signed=True),
        _number("bound", "bound", signed=True, rank=1),
        Column(
            title="1-sided p",
            kind="number",
            cell=lambda check: p_cell(check["p_corrected"]),
            rank=2,
        ),
        Column(
            title="2-sided p",
            kind="number",
            cell=lambda check: p_cell(check.get("p_two_sided")),
            rank=4,
        ),
        Column(title="check", cell=_outcome),
    ]
    judged = [f"{sentence.capitalize()}." for sentence in JUDGED[result.get("judgments", "same")]]
    words = {
        "passed": "The gate was open.",
        "failed": "The gate was closed.",
        "too few judgments": "There were too few judgments.",
    }
    notes = [words[_outcome_of(result)], *result["reasons"], *judged]
    return Table.of(columns, result["checks"], notes=notes)


def _outcome_of(result: Mapping[str, Any]) -> str:
    """The outcome of a gate or check; earlier versions kept only whether it passed."""
    word = "passed" if result["passed"] else "failed"
    return str(result.get("outcome", word))


def _text(name: str) -> Column[Mapping[str, Any]]:
    return Column(title=name, cell=lambda row: Cell(row[name]))


def _number(
    title: str, name: str, *, signed: bool = False, rank: int = 0
) -> Column[Mapping[str, Any]]:
    return Column(
        title=title,
        kind="number",
        cell=lambda row: number_cell(row[name], signed=signed),
        rank=rank,
    )


def _outcome(check: Mapping[str, Any]) -> Cell:
    if not check.get("decides", True):
        return Cell("companion", tone="quiet")
    outcome = _outcome_of(check)
    return Cell(outcome, tone="worse" if outcome == "failed" else "")


def _ends(row: Mapping[str, Any]) -> tuple[float, float]:
    low, high = (_NONE if end is None else float(end) for end in row["interval"])
    return low, high


def verdict_text(kind: str, result: Mapping[str, Any]) -> str:
    """Return the verdict as text."""
    return as_text(verdict_table(kind, result), _WIDTH)


_HASH = 12  # digits of a SHA-256 that a person compares
_SOME = 5  # queries named in a sentence


def changes_text(
    changes: Mapping[str, Any], comparison: "Comparison | None" = None, why_not: str = ""
) -> str:
    """The whole report: inputs, results, and whether the difference is more than chance."""
    sides: list[Column[str]] = [
        Column(title="", cell=str),
        Column(title="", cell=lambda side: changes[side]["id"]),
        Column(title="", cell=lambda side: changes[side]["run"]),
        Column(title="", cell=lambda side: changes[side]["when"][:16].replace("T", " ")),
    ]
    head = "\n".join(as_text(Table.of(sides, ["a", "b"]), _WIDTH).splitlines()[1:])
    parts = [head, _inputs(changes), _rules(changes), _means(changes), _queries(changes)]
    if comparison is not None:
        text = verdict_text("comparison", comparison.as_dict())
        parts.append("paired comparison\n" + text.rstrip("\n"))
    elif why_not:
        parts.append("\n".join(filled([f"They cannot be compared query by query: {why_not}."])))
    return "\n\n".join(part for part in parts if part) + "\n"


def _inputs(changes: Mapping[str, Any]) -> str:
    if not changes["inputs"]:
        return "Neither evaluation names its input files."
    columns: list[Column[Mapping[str, Any]]] = [
        Column(title="inputs", cell=lambda file: file["name"]),
        Column(title="is", cell=_state),
        Column(title="sha256 in a", cell=lambda file: _hash(file["a"]), rank=1),
        Column(title="in b", cell=lambda file: _hash(file["b"]), rank=1),
    ]
    judged = {
        "same": "The judgments are the same.",
        "changed": "The judgments changed.",
        "unknown": "It is unknown whether the judgments changed.",
    }
    table = Table.of(columns, changes["inputs"], notes=[judged[changes["judgments"]]])
    return as_text(table, _WIDTH).rstrip("\n")


def _state(file: Mapping[str, Any]) -> Cell:
    return Cell(file["state"], tone="" if file["state"] == "same" else "worse")


def _hash(text: str | None) -> Cell:
    return Cell((text or "-")[:_HASH], text)


def _rules(changes: Mapping[str, Any]) -> str:
    """Switches, versions and others that differ; a sentence where none does."""
    rows = [
        *({"what": switch["switch"], **switch} for switch in changes["convention"]),
        *changes["made"],
    ]
    alone = {side: changes["measures"][f"only_{side}"] for side in "ab"}
    rows += [
        {"what": f"measured in {side} alone", "a": None, "b": None, side: some}
        for side, some in alone.items()
        if some
    ]
    if not rows:
        return "Convention, version, commit and measures are the same."
    columns: list[Column[Mapping[str, Any]]] = [
        Column(title="made otherwise", cell=lambda row: row["what"]),
        Column(title="in a", cell=lambda row: _word(row["a"])),
        Column(title="in b", cell=lambda row: _word(row["b"])),
    ]
    same = []
    if not changes["convention"]:
        same = [f"The convention is the same, {changes['a']['convention']}."]
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


def _means(changes: Mapping[str, Any]) -> str:
    if not changes["means"]:
        return "They have no measure in common."
    return as_text(Table.of(_sides("measure"), changes["means"]), _WIDTH).rstrip("\n")


def _sides(first: str) -> list[Column[Mapping[str, Any]]]:
    """Return the name of a row, its values on both sides, and their difference."""
    return [
        Column(title=first, cell=lambda row: Cell(row[first])),
        Column(title="a", kind="number", cell=lambda row: number_cell(row["a"])),
        Column(title="b", kind="number", cell=lambda row: number_cell(row["b"])),
        Column(
            title="b - a",
            kind="number",
            cell=lambda row: number_cell(row["difference"], signed=True),
        ),
    ]


def _queries(changes: Mapping[str, Any]) -> str:
    alone = {side: changes["queries"][f"only_{side}"] for side in "ab"}
    lines = [
        f"In {side} alone: {_some(queries)} ({counted(len(queries), 'query', 'queries')})."
        for side, queries in alone.items()
        if queries
    ]
    changed = changes["changed_queries"]
    if changed is not None and not changed["n"]:
        lines.append(
            f"{changed['measure']} is the same on "
            f"{counted(changes['queries']['both'], 'query', 'queries')} of both."
        )
    elif changed is not None and changed["top"]:
        table = queries_table(changed, changes["queries"]["both"])
        lines += [""] if lines else []
        lines += as_text(table, _WIDTH).splitlines()
    return "\n".join(lines)


def _some(queries: Sequence[str]) -> str:
    return ", ".join(map(printable, queries[:_SOME])) + (", ..." if len(queries) > _SOME else "")


def queries_table(changed: Mapping[str, Any], n: int) -> Table:
    """The queries that changed most."""
    top = changed["top"]
    is_part = len(top) < changed["n"]
    shown = f"; shown are the {len(top):,} that changed most" if is_part else ""
    note = f"{changed['n']:,} of {n:,} queries changed by {changed['measure']}{shown}."
    return Table.of(_sides("query"), top, notes=[note])


def changes_rows(changes: Mapping[str, Any]) -> list[Row]:
    """The queries that changed, one row each, below titles."""
    changed = changes["changed_queries"] or {"measure": "", "n": 0, "top": []}
    return as_rows(queries_table(changed, 0))


def changes_json(
    changes: Mapping[str, Any], comparison: "Comparison | None" = None, why_not: str = ""
) -> str:
    """All changes as JSON."""
    compared = None if comparison is None else comparison.as_dict()
    record = {
        **changes,
        "comparison": compared,
        "why_not_compared": why_not or None,
    }
    return result_json(record)
