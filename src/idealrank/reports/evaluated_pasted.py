"""The means of `idealrank evaluate` to paste: Markdown and LaTeX, from the tables of the report."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from idealrank.evaluation.evaluate import Evaluation
from idealrank.reports.tables import Column, Table, as_latex, as_markdown
from idealrank.reports.text import interval_table, means_table, query_table

if TYPE_CHECKING:
    from idealrank.analysis.comparison import RunMean


def evaluated_markdown(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    digits: int | None = None,
) -> str:
    """A row a run, the best of each measure in bold, intervals beside the means where there are any; with `per_query` a table a run before.

    Examples
    --------
    >>> import idealrank as ir
    >>> runs = [ir.evaluate({"q": {"a": 1}}, {"q": ranking}, ["AP"]) for ranking in (["a"], ["b", "a"])]
    >>> print(evaluated_markdown(runs).splitlines()[2])
    | run | **1.0000** |
    """
    return _pasted(as_markdown, evaluations, intervals, digits, per_query=per_query)


def evaluated_latex(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    digits: int | None = None,
) -> str:
    r"""The same in LaTeX, with the rules of booktabs.

    Examples
    --------
    >>> import idealrank as ir
    >>> runs = [ir.evaluate({"q": {"a": 1}}, {"q": ranking}, ["AP"]) for ranking in (["a"], ["b", "a"])]
    >>> evaluated_latex(runs).splitlines()[5]
    'run & \\textbf{1.0000} \\\\'
    """
    return _pasted(as_latex, evaluations, intervals, digits, per_query=per_query)


def _pasted(
    form: Callable[[Table], str],
    evaluations: Sequence[Evaluation],
    intervals: "Sequence[Mapping[str, RunMean]]",
    digits: int | None,
    *,
    per_query: bool,
) -> str:
    tables = [query_table(evaluation, digits) for evaluation in evaluations] if per_query else []
    means = means_table(evaluations, intervals, digits, mark="")
    notes = ["Bold: the best of each measure."] if any(cell.strong for row in means.rows for cell in row) else []
    notes += ["95 % intervals of each mean alone (Student)."] if intervals else []
    table = _with_intervals(means, interval_table(evaluations, intervals, digits)) if intervals else means
    noted = Table(table.columns, table.rows, notes=[" ".join([*notes, f"Convention {evaluations[0].convention}."])])
    return "\n".join(map(form, [*tables, noted]))


def _with_intervals(means: Table, intervals: Table) -> Table:
    """Each interval beside its mean; none beside what is no mean."""
    columns, rows = [means.columns[0]], [[row[0]] for row in means.rows]
    for place in range(1, len(means.columns)):
        shown = any(row[place].text != "-" for row in intervals.rows)
        columns += [means.columns[place], *([Column("95 % interval", "number")] if shown else [])]
        for row, mean, ends in zip(rows, means.rows, intervals.rows, strict=True):
            row += [mean[place], *([ends[place]] if shown else [])]
    return Table(columns, rows)
