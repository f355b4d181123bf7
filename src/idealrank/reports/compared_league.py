"""League tables of many runs to paste: Markdown and LaTeX, with letters for groups that cannot be told apart."""

from collections.abc import Iterator

from idealrank.reports.compared import method_text
from idealrank.reports.compared_many import Ranked
from idealrank.reports.latex import latex_row, latex_text
from idealrank.reports.markdown import markdown_row
from idealrank.verdict import Comparison


def league_markdown(comparison: Comparison) -> Iterator[str]:
    r"""A row a run, the best by the first measure first; below the table, how it was found out.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(9)}
    >>> bad, good = (ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR") for ranking in (["y", "x"], ["x", "y"]))
    >>> [*league_markdown(ir.compare(bad, good))][2]
    '| run (2) | 1.0000 | [1.0000, 1.0000] | a |\n'
    """
    ranked = [Ranked.of(comparison, measure) for measure in comparison.means]
    level = f"{100 * comparison.method.level:g} % interval"
    head = ["run", *(title for one in ranked for title in (one.measure, level, "group"))]
    yield markdown_row(head)
    yield f"|{' --- |'}{' ---: | :---: | --- |' * len(ranked)}\n"
    for run in ranked[0].means:
        row = [run]
        for one in ranked:
            low, high = one.means[run].interval
            row += [f"{one.means[run].mean:.4f}", f"[{low:.4f}, {high:.4f}]", one.letters[run]]
        yield markdown_row(row)
    yield f"\n{_below(comparison)}\n"


def league_latex(comparison: Comparison) -> Iterator[str]:
    r"""A LaTeX table with the rules of booktabs; letters stand above the means, the best mean is bold.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(9)}
    >>> bad, good = (ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR") for ranking in (["y", "x"], ["x", "y"]))
    >>> [*league_latex(ir.compare(bad, good))][-4]
    'run (2) & \\textbf{1.0000}\\textsuperscript{a} \\\\\n'
    """
    ranked = [Ranked.of(comparison, measure) for measure in comparison.means]
    yield "% needs \\usepackage{booktabs}\n"
    yield f"% {_below(comparison)}\n"
    yield f"\\begin{{tabular}}{{l{'l' * len(ranked)}}}\n\\toprule\n"
    yield latex_row(map(latex_text, ("run", *(one.measure for one in ranked))))
    yield "\\midrule\n"
    for run in ranked[0].means:
        yield latex_row([latex_text(run), *(_mean_latex(one, run) for one in ranked)])
    yield "\\bottomrule\n"
    yield "\\end{tabular}\n"


def _mean_latex(ranked: Ranked, run: str) -> str:
    text = f"{ranked.means[run].mean:.4f}"
    best = text == f"{next(iter(ranked.means.values())).mean:.4f}"
    letters = latex_text(ranked.letters[run]).replace("-", "--")
    return (f"\\textbf{{{text}}}" if best else text) + f"\\textsuperscript{{{letters}}}"


def _below(comparison: Comparison) -> str:
    level = f"{100 * comparison.method.level:g} % intervals of each mean alone (Student)"
    return f"Runs that share a letter cannot be told apart. {level}; {method_text(comparison)}. Convention {comparison.convention}."
