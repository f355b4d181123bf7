"""Comparisons to paste: Markdown and LaTeX, from the tables of the report, with marks, letters and notes that say how it was found out."""

from dataclasses import replace

from idealrank.analysis.comparison import Comparison
from idealrank.reports.compared import needed_text, pair_table, verdict_text
from idealrank.reports.compared_cells import Shown, number_cells, number_columns
from idealrank.reports.compared_letters import Letters, letters_note
from idealrank.reports.compared_many import beside, is_many, league_places, named_rows, ranked_by_all
from idealrank.reports.compared_method import mark_note, method_text
from idealrank.reports.compared_slices import slice_cells
from idealrank.reports.markdown import markdown_text
from idealrank.reports.plain_effects import plain_sentence
from idealrank.reports.tables import Cell, Column, Table, as_latex, as_markdown
from idealrank.reports.verdicts import is_identical
from idealrank.reports.words import warned

_MARK = "*"


def comparison_markdown(comparison: Comparison, *, every_pair: bool = False, digits: int | None = None, letters: Letters = "better") -> str:
    """A Markdown table, and below it what marks mean and how it was found out: of many runs a row a run, with letters.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> print(comparison_markdown(ir.compare(one, one)).splitlines()[0])
    | measure |    run | run (2) | difference |      95 % interval |   p | +/=/- | d_z | detectable | verdict   |
    """
    above = "".join(f"**{line}**\n\n" for line in warned(comparison.mismatches, markdown_text))
    if _as_league(comparison, every_pair=every_pair):
        return above + as_markdown(_league(comparison, digits, letters, intervals=True))
    table = comparison_cells(comparison, digits)
    said = _said(comparison) if len(comparison.pairs) == 1 else []
    return above + as_markdown(replace(table, notes=[*said, *table.notes, _below(comparison)]))


def _said(comparison: Comparison) -> list[str]:
    """Of one pair: that nothing differs, the difference in plain words, or how many queries would decide."""
    (pair,) = comparison.pairs
    first = next(iter(pair.measures.values()))
    same = verdict_text(pair, first, comparison.method) if is_identical(first) else ""
    return [
        said if said.endswith(".") else f"{said}." for said in (same, plain_sentence(pair), needed_text(first, comparison.method)) if said
    ]


def comparison_latex(comparison: Comparison, *, every_pair: bool = False, digits: int | None = None, letters: Letters = "better") -> str:
    r"""A LaTeX table with the rules of booktabs: the better mean is bold, differences that are decided are marked, and a note says by what.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> comparison_latex(ir.compare(one, one)).splitlines()[3]
    '\\toprule'
    """
    if _as_league(comparison, every_pair=every_pair):
        return as_latex(_league(comparison, digits, letters, intervals=False))
    return f"% {_below(comparison)}\n{as_latex(comparison_cells(comparison, digits))}"


def _as_league(comparison: Comparison, *, every_pair: bool) -> bool:
    method = comparison.method
    return is_many(comparison) and not every_pair and method.baseline is None and method.slices is None


def comparison_cells(comparison: Comparison, digits: int | None = None) -> Table:
    """Every pair and measure a row, and below it its slices; names of runs as heads of columns where there is one pair.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> [column.title for column in comparison_cells(ir.compare(one, one)).columns][:3]
    ['measure', 'run', 'run (2)']
    """
    shown, several = Shown.of(comparison, digits), len(comparison.pairs) > 1
    notes = [mark_note(comparison, _MARK)]
    if not several and comparison.method.slices is None:
        table = pair_table(comparison.pairs[0], shown, mark=_MARK)
    else:
        first, sliced = comparison.pairs[0], comparison.method.slices is not None
        names = ("mean a", "mean b") if several else (first.a, first.b)
        columns = [*(Column(one) for one in (("a", "b", "measure") if several else ("measure",)))]
        columns += [Column("slice"), Column("queries", "number")] if sliced else []
        rows = []
        for pair, row in comparison.rows():
            head = [*(Cell(name) for name in ((pair.a, pair.b) if several else ())), Cell(row.measure)]
            cells = number_cells(row, row.direction, shown, mark=_MARK)
            rows.append([*head, *([Cell("all"), Cell(f"{row.n:,}", row.n)] if sliced else []), *cells])
            rows += [[*head, Cell(one.name), *slice_cells(one, row.direction, shown, mark=_MARK)] for one in row.slices or ()]
        table = Table([*columns, *number_columns(*names, comparison.method.level)], rows)
    return replace(table, notes=notes if any(cell.mark for row in table.rows for cell in row) else [])


def _league(comparison: Comparison, digits: int | None, letters: Letters, *, intervals: bool) -> Table:
    """A row a run, the best by the first measure first; letters in columns of their own, or as marks where there are no intervals."""
    ranked, level = ranked_by_all(comparison, letters), comparison.method.level
    order = list(ranked[0].means)
    table = named_rows(order, letters) if letters == "better" else Table([Column("run")], [[Cell(run)] for run in order])
    for one in ranked:
        places = league_places(comparison, one, digits)
        more = one.table(order, places, level=level) if intervals else one.table(order, places, letters="mark")
        table = beside(table, more)
    said = f" {100 * level:g} % intervals of each mean alone (Student)." if intervals else ""
    meaning = letters_note(comparison, letters)
    note = f"{meaning[0].upper()}{meaning[1:]}.{said} Method: {method_text(comparison)}. Convention {comparison.convention}."
    return replace(table, notes=[note])


def _below(comparison: Comparison) -> str:
    level = f"{100 * comparison.method.level:g} % intervals"
    return f"Differences are b - a. {level}; {method_text(comparison)}. Convention {comparison.convention}."
