"""A table for a paper: a row a run, a column a measure, the best in bold, and a dagger where a run differs from the baseline."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from idealrank.analysis.comparison import Comparison
from idealrank.reports.table.cells import Cell, Column, Table, number_cell
from idealrank.reports.table.forms import as_latex, as_markdown, as_text
from idealrank.reports.views.comparison.league import Ranked, league_places
from idealrank.reports.views.comparison.method import mark_note

_DAGGER = "†"
_SIGNIFICANT = ("better", "worse")


def paper_table(
    comparison: Comparison, *, order: str = "", labels: Mapping[str, str] | None = None, digits: int | None = None, star: str = ""
) -> Table:
    """Build the table of a comparison with a baseline.

    Parameters
    ----------
    comparison : Comparison
        With a baseline: a dagger marks the runs that its verdicts call better or worse than the baseline.
    order : str
        Text of the measure that orders the runs, the best first; empty for the given order.
    labels : mapping of str to str, optional
        Names of runs in the table.
    digits : int or None
        Decimals; None for those that the intervals allow.
    star : str
        Mark of the best mean, where bold does not show.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(9)}
    >>> bad, good = (ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR") for ranking in (["y", "x"], ["x", "y"]))
    >>> found = paper_table(ir.compare(bad, good, baseline="run"), labels={"run (2)": "ours"})
    >>> [(row[0].text, row[1].text, row[1].strong, row[1].mark) for row in found.rows]
    [('run', '0.5000', False, ''), ('ours', '1.0000', True, '†')]
    """
    names, found = labels or {}, {measure: Ranked.of(comparison, measure) for measure in comparison.means}
    runs = list(found[order].means) if order else list(comparison.names)
    columns: list[Column[str]] = [Column("run", cell=lambda run: names.get(run, run))]
    columns += [_column(comparison, one, league_places(comparison, one, digits), star) for one in found.values()]
    table = Table.of(columns, runs)
    notes = [f"{star or 'Bold:'} the best mean of each measure."] if any(cell.strong for cell in table.cells()) else []
    if any(cell.mark for cell in table.cells()):
        baseline = comparison.method.baseline or ""
        notes.append(f"Against {names.get(baseline, baseline)}: {mark_note(comparison, _DAGGER)}")
    if any(row.verdict == "judgments do not reach" for _, row in comparison.rows()):
        notes.append("No mark where unjudged documents may explain the difference.")
    return replace(table, notes=[" ".join([*notes, f"Convention {comparison.convention}."])])


def _column(comparison: Comparison, ranked: Ranked, places: int, star: str) -> Column[str]:
    """The means of one measure."""
    pairs = {pair.b: pair.measures[ranked.measure] for pair in comparison.pairs}
    values = [one.mean for one in ranked.means.values()]
    best = values[0] if next(iter(pairs.values())).direction and len(set(values)) > 1 else None

    def mean(run: str) -> Cell:
        value = ranked.means[run].mean
        mark = (star if value == best else "") + (_DAGGER if run in pairs and pairs[run].verdict in _SIGNIFICANT else "")
        return replace(number_cell(value, places, strong=value == best), mark=mark)

    return Column(ranked.measure, "number", mean)


def _written(form: Callable[[Table], str], star: str = "") -> Callable[..., str]:
    """The writer of one format."""

    def write(comparison: Comparison, *, order: str = "", labels: Mapping[str, str] | None = None, digits: int | None = None) -> str:
        return form(paper_table(comparison, order=order, labels=labels, digits=digits, star=star))

    return write


PAPER_FORMATS: Mapping[str, Callable[..., str]] = {
    "table": _written(as_text, "*"),
    "markdown": _written(as_markdown),
    "latex": _written(as_latex),
}
"""Writers of the table by format."""
