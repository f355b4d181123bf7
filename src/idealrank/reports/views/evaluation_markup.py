"""The means of `idealrank evaluate` to paste: Markdown and LaTeX, from the tables of the report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from idealrank.evaluation.evaluate import Evaluation
from idealrank.reports.table.cells import Column, Table
from idealrank.reports.table.forms import as_latex, as_markdown
from idealrank.reports.views.evaluation import EvaluatedRun, evaluated_runs, interval_columns, mean_columns, query_table
from idealrank.reports.views.slice_means import slice_tables

if TYPE_CHECKING:
    from idealrank.analysis.comparison import RunMean, SliceMeans


def evaluated_markdown(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    slices: "Sequence[SliceMeans]" = (),
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
    return _pasted(as_markdown, evaluations, intervals, slices, digits, per_query=per_query)


def evaluated_latex(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    slices: "Sequence[SliceMeans]" = (),
    digits: int | None = None,
) -> str:
    r"""Return the evaluations in LaTeX, with the rules of booktabs.

    Examples
    --------
    >>> import idealrank as ir
    >>> runs = [ir.evaluate({"q": {"a": 1}}, {"q": ranking}, ["AP"]) for ranking in (["a"], ["b", "a"])]
    >>> evaluated_latex(runs).splitlines()[5]
    'run & \\textbf{1.0000} \\\\'
    """
    return _pasted(as_latex, evaluations, intervals, slices, digits, per_query=per_query)


def _pasted(
    form: Callable[[Table], str],
    evaluations: Sequence[Evaluation],
    intervals: "Sequence[Mapping[str, RunMean]]",
    slices: "Sequence[SliceMeans]",
    digits: int | None,
    *,
    per_query: bool,
) -> str:
    tables = [query_table(evaluation, digits) for evaluation in evaluations] if per_query else []
    runs = evaluated_runs(evaluations, intervals)
    columns: list[Column[EvaluatedRun]] = [Column("run", cell=lambda run: run.name)]
    means = mean_columns(evaluations, intervals, digits, mark="")
    ends = interval_columns(evaluations, intervals, digits) if intervals else {}
    for measure, mean in means.items():
        columns.append(mean)
        if measure in ends and any(ends[measure].beside(run).text != "-" for run in runs):  # none beside what is no mean
            columns.append(replace(ends[measure], title="95 % interval"))
    table = Table.of(columns, runs)
    notes = ["Bold: the best of each measure."] if any(cell.strong for cell in table.cells()) else []
    notes += ["95 % intervals of each mean alone (Student)."] if intervals else []
    noted = replace(table, notes=[" ".join([*notes, f"Convention {evaluations[0].convention}."])])
    return "\n".join(map(form, [*tables, noted, *slice_tables(evaluations, slices, digits)]))
