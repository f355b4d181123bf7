"""Comparisons for programs and papers: JSON, CSV, Markdown, LaTeX."""

import json
from collections.abc import Iterator

from idealrank.reports.compared import method_text
from idealrank.reports.compared_cells import cells, number_cells
from idealrank.reports.compared_slices import slice_cells
from idealrank.reports.latex import latex_number, latex_row, latex_text
from idealrank.reports.markdown import markdown_row
from idealrank.reports.records import SCHEMA, csv_row
from idealrank.verdict import Comparison

_HEAD = ("mean a", "mean b", "difference", "interval", "p", "+/=/-", "d_z", "visible", "verdict")
_NUMBERS = len(_HEAD)


def comparison_json(comparison: Comparison) -> Iterator[str]:
    """JSON text: pairs, method, convention; float64 in the shortest form that reads back, null for what is not finite.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> json.loads("".join(comparison_json(ir.compare(one, one))))["pairs"][0]["measures"]["RR"]["interval"]
    [0.0, 0.0]
    """
    record = comparison.as_dict()
    record["method"]["schema"] = SCHEMA
    yield json.dumps(record, indent=2) + "\n"


def comparison_csv(comparison: Comparison) -> Iterator[str]:
    """CSV with header, a pair and measure a row, and below it its slices; empty where a number is not finite or was not measured.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> next(comparison_csv(ir.compare(one, one)))[:40]
    'a,b,measure,direction,mean_a,mean_b,diff'
    """
    method = comparison.method
    how = {"test": method.test, "seed": method.seed, "convention": str(comparison.convention)}
    records = [record | how for record in comparison.records()]
    yield csv_row(list(records[0]))
    for record in records:
        yield csv_row(["" if value is None else value if isinstance(value, str) else repr(value) for value in record.values()])


def comparison_markdown(comparison: Comparison) -> Iterator[str]:
    """A Markdown table, and below it how it was found out.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> next(comparison_markdown(ir.compare(one, one)))[:30]
    '| a | b | measure | mean a | m'
    """
    head, rows = _table(comparison)
    yield markdown_row(head)
    yield f"|{' --- |' * (len(head) - _NUMBERS)}{' ---: |' * (_NUMBERS - 1)} --- |\n"
    for row in rows:
        yield markdown_row(row)
    yield f"\n{_below(comparison)}\n"


def comparison_latex(comparison: Comparison) -> Iterator[str]:
    r"""A LaTeX table with the rules of booktabs, and as a comment how it was found out.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> [*comparison_latex(ir.compare(one, one))][-2]
    '\\bottomrule\n'
    """
    yield "% needs \\usepackage{booktabs}\n"
    yield f"% {_below(comparison)}\n"
    head, rows = _table(comparison)
    yield f"\\begin{{tabular}}{{{'l' * (len(head) - _NUMBERS)}{'r' * (_NUMBERS - 1)}l}}\n\\toprule\n"
    yield latex_row(map(latex_text, head))
    yield "\\midrule\n"
    for row in rows:
        yield latex_row([*map(latex_text, row[:-_NUMBERS]), *map(latex_number, row[-_NUMBERS:])])
    yield "\\bottomrule\n"
    yield "\\end{tabular}\n"


def _table(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Head and rows, with columns for slices and their numbers of queries where there are slices."""
    if comparison.method.slices is None:
        return ["a", "b", "measure", *_HEAD], [[pair.a, pair.b, *cells(row)] for pair, row in comparison.rows()]
    rows = []
    for pair, row in comparison.rows():
        first = [pair.a, pair.b, row.measure]
        rows.append([*first, "all", f"{row.n:,}", *number_cells(row)])
        rows += [[*first, one.name, *slice_cells(one)] for one in (row.slices or ())]
    return ["a", "b", "measure", "slice", "queries", *_HEAD], rows


def _below(comparison: Comparison) -> str:
    level = f"{100 * comparison.method.level:g} % intervals"
    return f"Differences are b - a. {level}; {method_text(comparison)}. Convention {comparison.convention}."
