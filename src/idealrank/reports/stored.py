"""One entry of a store: what it is, how it came about, its numbers and the files they were made of."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from idealrank.evaluation.evaluate import InputRecord
from idealrank.reports.digits import decimals, interval, number, p_text
from idealrank.reports.layout import columns, printable
from idealrank.reports.tables import Cell, Column, Table, Tone, as_text
from idealrank.reports.words import JUDGED

_WIDTH = 120
_NONE = float("nan")
_TONES: Mapping[str, Tone] = {"better": "better", "worse": "worse"}


def head_text(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """A title, and below it what is known, a fact a line; those without a value are left out.

    Parameters
    ----------
    title : str
        What it is.
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
    titles = [Column("inputs"), Column("bytes", "number"), Column("modified"), Column("sha256")]
    rows = [[Cell(one.path), Cell(f"{one.size:,}", one.size), Cell(one.modified or "-"), Cell(one.sha256 or "-")] for one in inputs]
    return Table(titles, rows)


def means_table(means: Mapping[str, float | None]) -> Table:
    """Means alone, where nothing else can be read again.

    Examples
    --------
    >>> means_table({"AP": 0.25}).rows[0][1].text
    '0.2500'
    """
    rows = [[Cell(measure), _value(value)] for measure, value in means.items()]
    return Table([Column("measure"), Column("value", "number")], rows)


def verdict_table(kind: str, result: Mapping[str, Any]) -> Table:
    """What a comparison or a gate said, a test a row.

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
    found = [(pair, text, row) for pair in result["pairs"] for text, row in pair["measures"].items()]
    level = f"{result['method']['level'] * 100:g} % interval"
    titles = [Column(title) for title in ("a", "b", "measure")]
    titles += [Column(title, "number") for title in ("mean a", "mean b", "difference", level, "p")]
    ends = [_ends(row) for _, _, row in found]
    places = decimals(ends)
    rows = [
        [
            Cell(pair["a"]), Cell(pair["b"]), Cell(text), _value(row["mean_a"]), _value(row["mean_b"]),
            _value(row["difference"], signed=True), Cell(interval(both, places, signed=True), both), _p(row["p_corrected"]),
            Cell(row["verdict"], tone=_TONES.get(row["verdict"], "")),
        ]
        for (pair, text, row), both in zip(found, ends, strict=True)
    ]  # fmt: skip
    method = result["method"]
    note = (
        f"b - a; p: {method['test']} test, {method['correction']} correction over {method['families'].get('all queries', len(found))} tests"
    )
    judged = [f"{said.capitalize()}." for said in JUDGED[method.get("judgments", "same")]]  # an earlier version did not ask
    return Table([*titles, Column("b is")], rows, notes=[note, *judged])


def _of_gate(result: Mapping[str, Any]) -> Table:
    titles = [Column("baseline"), Column("measure")]
    titles += [Column(title, "number") for title in ("its mean", result["run"], "difference", "bound", "1-sided p", "2-sided p")]
    rows = [
        [
            Cell(check["baseline"]), Cell(check["measure"]), _value(check["mean_baseline"]), _value(check["mean_run"]),
            _value(check["difference"], signed=True), _value(check["bound"], signed=True), _p(check["p_corrected"]),
            _p(check.get("p_two_sided")), _outcome(check),
        ]
        for check in result["checks"]
    ]  # fmt: skip
    judged = [f"{said.capitalize()}." for said in JUDGED[result.get("judgments", "same")]]
    words = {"passed": "The gate was open.", "failed": "The gate was closed.", "judgments do not reach": "The judgments did not reach."}
    notes = [words[result.get("outcome", "passed" if result["passed"] else "failed")], *result["reasons"], *judged]
    return Table([*titles, Column("check")], rows, notes=notes)


def _outcome(check: Mapping[str, Any]) -> Cell:
    """The outcome of a check; gates of before there were companions have neither those nor outcomes."""
    if not check.get("decides", True):
        return Cell("companion", tone="quiet")
    failed = check.get("outcome", "passed" if check["passed"] else "failed") == "failed"
    return Cell("failed" if failed else check.get("outcome", "passed"), tone="worse" if failed else "")


def _ends(row: Mapping[str, Any]) -> tuple[float, float]:
    low, high = (_NONE if end is None else float(end) for end in row["interval"])
    return low, high


def _value(value: float | None, *, signed: bool = False) -> Cell:
    return Cell(number(_NONE if value is None else value, signed=signed), value)


def _p(value: float | None) -> Cell:
    return Cell("-" if value is None else p_text(value), value)


def verdict_text(kind: str, result: Mapping[str, Any]) -> str:
    """The same as text.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> print(verdict_text("gate", ir.gate(one, one).as_dict()).splitlines()[-1])
    The gate was open.
    """
    return as_text(verdict_table(kind, result), _WIDTH)
