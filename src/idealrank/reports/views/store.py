"""One entry of a store: what it is, how it came about, its numbers and the files they were made of."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from idealrank.evaluation.evaluate import InputRecord
from idealrank.reports.table.cells import Cell, Column, Table, count_cell, interval_cell, number_cell, p_cell
from idealrank.reports.table.digits import decimals
from idealrank.reports.table.forms import as_text
from idealrank.reports.table.layout import columns, printable
from idealrank.reports.views.comparison.verdicts import decided_tone
from idealrank.reports.views.conventions import JUDGED

_WIDTH = 120
_NONE = float("nan")


def head_text(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """A title, and below it what is known, a fact a line; those without a value are left out.

    Parameters
    ----------
    title : str
        Evaluation, comparison or gate.
    facts : iterable of (str, str)
        Name and value.

    Examples
    --------
    >>> print(head_text("evaluation 3f2a9c41d07b: bm25", [("tags", "main"), ("notes", "")]), end="")
    evaluation 3f2a9c41d07b: bm25
    <BLANKLINE>
      tags  main
    """
    rows = [[name, printable(value)] for name, value in facts if value]
    lines = columns(rows, left=(0, 1)) if rows else []
    return "\n".join([printable(title), *([""] if lines else []), *(f"  {line}" for line in lines)]) + "\n"


def inputs_table(inputs: Sequence[InputRecord]) -> Table:
    """The files of an evaluation, without folders; a dash where the content could not be read any more.

    Examples
    --------
    >>> [column.title for column in inputs_table([]).columns]
    ['inputs', 'bytes', 'modified', 'sha256']
    """
    columns: list[Column[InputRecord]] = [
        Column("inputs", cell=lambda one: one.path),
        Column("bytes", "number", lambda one: count_cell(one.size)),
        Column("modified", cell=lambda one: one.modified or "-"),
        Column("sha256", cell=lambda one: one.sha256 or "-"),
    ]
    return Table.of(columns, inputs)


def means_table(means: Mapping[str, float | None]) -> Table:
    """Means alone, where nothing else can be read again.

    Examples
    --------
    >>> means_table({"AP": 0.25}).rows[0][1].text
    '0.2500'
    """
    columns: list[Column[str]] = [Column("measure", cell=str), Column("value", "number", lambda measure: number_cell(means[measure]))]
    return Table.of(columns, means)


def verdict_table(kind: str, result: Mapping[str, Any]) -> Table:
    """Build the table of a comparison or gate, one row a test.

    Parameters
    ----------
    kind : {"comparison", "gate"}
        Which of them.
    result : mapping
        Its `as_dict`.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> [cell.text for cell in verdict_table("comparison", ir.compare(one, one).as_dict()).rows[0]][:5]
    ['run', 'run (2)', 'RR', '1.0000', '1.0000']
    """
    return _of_comparison(result) if kind == "comparison" else _of_gate(result)


def _of_comparison(result: Mapping[str, Any]) -> Table:
    rows = [row | {"a": pair["a"], "b": pair["b"], "measure": text} for pair in result["pairs"] for text, row in pair["measures"].items()]
    places = decimals(map(_ends, rows))
    columns: list[Column[Mapping[str, Any]]] = [
        *(_text(name) for name in ("a", "b", "measure")),
        *(_number(title, name) for title, name in (("mean a", "mean_a"), ("mean b", "mean_b"))),
        _number("difference", "difference", signed=True),
        Column(f"{result['method']['level'] * 100:g} % interval", "number", lambda row: interval_cell(_ends(row), places, signed=True)),
        Column("p", "number", lambda row: p_cell(row["p_corrected"])),
        Column("b is", cell=lambda row: Cell(row["verdict"], tone=decided_tone(row["verdict"]))),
    ]
    method = result["method"]
    tests = method["families"].get("all queries", len(rows))
    note = f"b - a; p: {method['test']} test, {method['correction']} correction over {tests} tests"
    judged = [f"{said.capitalize()}." for said in JUDGED[method.get("judgments", "same")]]  # an earlier version did not ask
    return Table.of(columns, rows, notes=[note, *judged])


def _of_gate(result: Mapping[str, Any]) -> Table:
    columns: list[Column[Mapping[str, Any]]] = [
        *(_text(name) for name in ("baseline", "measure")),
        *(_number(title, name) for title, name in (("its mean", "mean_baseline"), (result["run"], "mean_run"))),
        *(_number(name, name, signed=True) for name in ("difference", "bound")),
        Column("1-sided p", "number", lambda check: p_cell(check["p_corrected"])),
        Column("2-sided p", "number", lambda check: p_cell(check.get("p_two_sided"))),
        Column("check", cell=_outcome),
    ]
    judged = [f"{said.capitalize()}." for said in JUDGED[result.get("judgments", "same")]]
    words = {"passed": "The gate was open.", "failed": "The gate was closed.", "judgments do not reach": "The judgments did not reach."}
    notes = [words[result.get("outcome", "passed" if result["passed"] else "failed")], *result["reasons"], *judged]
    return Table.of(columns, result["checks"], notes=notes)


def _text(name: str) -> Column[Mapping[str, Any]]:
    return Column(name, cell=lambda row: Cell(row[name]))


def _number(title: str, name: str, *, signed: bool = False) -> Column[Mapping[str, Any]]:
    return Column(title, "number", lambda row: number_cell(row[name], signed=signed))


def _outcome(check: Mapping[str, Any]) -> Cell:
    """The outcome of a check; gates of before there were companions have neither those nor outcomes."""
    if not check.get("decides", True):
        return Cell("companion", tone="quiet")
    failed = check.get("outcome", "passed" if check["passed"] else "failed") == "failed"
    return Cell("failed" if failed else check.get("outcome", "passed"), tone="worse" if failed else "")


def _ends(row: Mapping[str, Any]) -> tuple[float, float]:
    low, high = (_NONE if end is None else float(end) for end in row["interval"])
    return low, high


def verdict_text(kind: str, result: Mapping[str, Any]) -> str:
    """Return the verdict as text.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> print(verdict_text("gate", ir.gate(one, one).as_dict()).splitlines()[-1])
    The gate was open.
    """
    return as_text(verdict_table(kind, result), _WIDTH)
