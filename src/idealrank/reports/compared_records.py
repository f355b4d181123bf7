"""Comparisons for programs and papers: JSON, CSV, Markdown, LaTeX."""

import json
from collections.abc import Iterator

from idealrank.reports.compared import method_text
from idealrank.reports.compared_cells import cells
from idealrank.reports.latex import latex_row, latex_text
from idealrank.reports.records import SCHEMA, csv_row
from idealrank.verdict import Comparison
from idealrank.verdict.comparison import flat_record

_HEAD = ("measure", "mean a", "mean b", "difference", "interval", "p", "+/=/-", "d_z", "visible", "verdict")


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
    """CSV with header, a pair and measure a row; empty where a number is not finite or was not measured.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> next(comparison_csv(ir.compare(one, one)))[:40]
    'a,b,measure,direction,mean_a,mean_b,diff'
    """
    method = comparison.method
    how = {"test": method.test, "seed": method.seed, "convention": str(comparison.convention)}
    records = [flat_record(pair, row) | how for pair, row in comparison.rows()]
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
    yield f"| {' | '.join(('a', 'b', *_HEAD))} |\n"
    yield f"|{' --- |' * 3}{' ---: |' * (len(_HEAD) - 2)} --- |\n"
    for pair, row in comparison.rows():
        yield f"| {' | '.join(text.replace('|', chr(92) + '|') for text in (pair.a, pair.b, *cells(row)))} |\n"
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
    yield f"\\begin{{tabular}}{{lll{'r' * (len(_HEAD) - 2)}l}}\n\\toprule\n"
    yield latex_row(map(latex_text, ("a", "b", *_HEAD)))
    yield "\\midrule\n"
    for pair, row in comparison.rows():
        yield latex_row(map(latex_text, (pair.a, pair.b, *cells(row))))
    yield "\\bottomrule\n"
    yield "\\end{tabular}\n"


def _below(comparison: Comparison) -> str:
    level = f"{100 * comparison.method.level:g} % intervals"
    return f"Differences are b - a. {level}; {method_text(comparison)}. Convention {comparison.convention}."
