"""The table of `idealrank evaluate`: runs side by side, under it the convention in words and what the numbers cover."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from idealrank.evaluation.coverage import Coverage
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.reports.digits import decimals, interval, number
from idealrank.reports.parts import Part, parts_text
from idealrank.reports.tables import Cell, Column, Table
from idealrank.reports.words import paragraph

if TYPE_CHECKING:
    from idealrank.analysis.comparison import RunMean

_SOME = 5


def report_parts(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    digits: int | None = None,
) -> list[Part]:
    """The whole report.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        One per run, of the same measures and convention.
    per_query : bool
        Values of each query above the means.
    intervals : sequence of mapping of str to RunMean
        Of each evaluation, what `analysis.comparison.run_means.intervals` says; none where nobody asked.
    digits : int or None
        Decimals; None for those that the intervals of each measure allow, and 4 where there are none.

    Examples
    --------
    >>> import idealrank as ir
    >>> report_parts([ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"])])[0].rows[0][1].text
    '1.0000'
    """
    parts: list[Part] = [query_table(evaluation, digits) for evaluation in evaluations] if per_query else []
    parts += [means_table(evaluations, intervals, digits), *([interval_table(evaluations, intervals, digits)] if intervals else [])]
    return [*parts, paragraph(evaluations[0].convention, map(str, evaluations[0].measures)), coverage_table(evaluations)]


def table_report(evaluations: Sequence[Evaluation], *, per_query: bool = False, intervals: "Sequence[Mapping[str, RunMean]]" = ()) -> str:
    """The same as text.

    Examples
    --------
    >>> import idealrank as ir
    >>> print(table_report([ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"])]).splitlines()[1])
    run  1.0000
    """
    return parts_text(report_parts(evaluations, per_query=per_query, intervals=intervals))


def means_table(
    evaluations: Sequence[Evaluation], intervals: "Sequence[Mapping[str, RunMean]]" = (), digits: int | None = None, *, mark: str = "*"
) -> Table:
    """Runs as rows with their means, the best of each measure strong and marked.

    Examples
    --------
    >>> import idealrank as ir
    >>> runs = [ir.evaluate({"q": {"a": 1}}, {"q": ranking}, ["AP"]) for ranking in (["a"], ["b", "a"])]
    >>> [(row[1].text, row[1].mark) for row in means_table(runs).rows]
    [('1.0000', '*'), ('0.5000', '')]
    """
    measures = evaluations[0].measures
    places = _places(evaluations, intervals, digits)
    rows = [[Cell(evaluation.name)] for evaluation in evaluations]
    for measure in measures:
        values = [evaluation.mean()[str(measure)] for evaluation in evaluations]
        best = _best(measure, values)
        for run, (row, value) in enumerate(zip(rows, values, strict=True)):
            cell = _cell(measure, value, places[str(measure)])
            row.append(replace(cell, strong=True, mark=mark) if run in best else cell)
    marked = any(cell.mark for row in rows for cell in row)
    return Table(_columns("run", measures), rows, notes=[f"{mark} the best of each measure"] if marked else [])


def interval_table(evaluations: Sequence[Evaluation], intervals: "Sequence[Mapping[str, RunMean]]", digits: int | None = None) -> Table:
    """Runs as rows with the interval of each mean; a dash where a measure is no mean, or has no finite interval.

    Examples
    --------
    >>> import idealrank as ir
    >>> run = ir.evaluate({"p": {"a": 1}, "q": {"a": 1}}, {"p": ["a"], "q": ["b", "a"]}, "AP")
    >>> interval_table([run], [ir.intervals(run)]).rows[0][1].text
    '[-2.43, 3.93]'
    """
    measures = evaluations[0].measures
    places = _places(evaluations, intervals, digits)
    rows = []
    for evaluation, means in zip(evaluations, intervals, strict=True):
        ends = [(measure, means[measure].interval if measure in means else (math.nan, math.nan)) for measure in map(str, measures)]
        rows.append([Cell(evaluation.name), *(Cell(interval(found, places[measure]), found) for measure, found in ends)])
    return Table(_columns("95 % interval", measures), rows)


def _places(evaluations: Sequence[Evaluation], intervals: "Sequence[Mapping[str, RunMean]]", digits: int | None) -> dict[str, int]:
    """Decimals of each measure."""
    texts = [str(measure) for measure in evaluations[0].measures]
    return {text: decimals([means[text].interval for means in intervals if text in means], asked=digits) for text in texts}


def _columns(first: str, measures: Iterable[Measure]) -> list[Column]:
    return [Column(first), *(Column(str(measure), "number") for measure in measures)]


def _best(measure: Measure, values: Sequence[float]) -> set[int]:
    """Which runs have the best value; none when there is nothing to compare, or all are the same."""
    known = [value * measure.direction for value in values if not math.isnan(value)]
    if measure.direction == 0 or len(known) < 2 or min(known) == max(known):
        return set()
    return {run for run, value in enumerate(values) if value * measure.direction == max(known)}


def _cell(measure: Measure, value: float | None, places: int) -> Cell:
    if value is None or math.isnan(value):
        return Cell("-")
    return Cell(f"{value:,.0f}" if measure.aggregate == "sum" else number(value, places), value)


def query_table(evaluation: Evaluation, digits: int | None = None) -> Table:
    """Queries as rows with their values.

    Examples
    --------
    >>> import idealrank as ir
    >>> query_table(ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"])).rows[0][0].text
    'q'
    """
    places = decimals([], asked=digits)
    rows = [
        [Cell(query), *(_cell(measure, value, places) for measure, value in zip(evaluation.measures, values.values(), strict=True))]
        for query, values in evaluation.per_query().items()
    ]
    return Table(_columns(evaluation.name, evaluation.measures), rows)


def coverage_table(evaluations: Sequence[Evaluation]) -> Table:
    """What the means cover: counts that always stand there, and those that are 0 for most people only where they are not.

    Examples
    --------
    >>> import idealrank as ir
    >>> [cell.text for cell in coverage_table([ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"])]).rows[0]]
    ['run', '1', '1', '0', '0', '0.0%']
    """
    table = coverage_of([(evaluation.name, evaluation.coverage) for evaluation in evaluations])
    return replace(table, notes=[note for evaluation in evaluations for note in _notes(evaluation)])


def coverage_of(covers: Sequence[tuple[str, Coverage]]) -> Table:
    """The counts of some coverages with their names.

    Examples
    --------
    >>> import idealrank as ir
    >>> coverage_of([("all", ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"]).coverage)]).columns[1].title
    'scored'
    """
    heads = [_counts(cover) for _, cover in covers]
    shown = [name for name in heads[0] if name in _ALWAYS or any(head[name] for head in heads)]
    depth = covers[0][1].unjudged_cutoff
    titles = [f"unjudged@{depth}" if name == "unjudged" and depth else name for name in shown]
    rows = [[Cell(name), *(_count(one, head[one]) for one in shown)] for (name, _), head in zip(covers, heads, strict=True)]
    return Table([Column("coverage"), *(Column(title, "number") for title in titles)], rows)


def _count(name: str, value: float) -> Cell:
    return Cell(f"{value:.1%}" if name == "unjudged" else f"{value:,.0f}", value)


_ALWAYS = ("scored", "in qrels", "missing", "no relevant", "unjudged")


def _counts(cover: Coverage) -> dict[str, float]:
    return {
        "scored": cover.scored,
        "in qrels": cover.queries_in_qrels,
        "missing": cover.missing,
        "not judged": cover.without_judgments,
        "no relevant": cover.no_relevant,
        "unjudged": float(cover.unjudged_share),
        "tied queries": cover.tied_queries,
        "tied docs": cover.tied_documents,
        "duplicates": cover.duplicates,
        "cut grades": cover.truncated_grades,
        "out of range": cover.out_of_range,
    }


def _notes(evaluation: Evaluation) -> list[str]:
    missing = evaluation.coverage.missing_queries
    if not len(missing):
        return []
    some = ", ".join(list(missing)[:_SOME]) + (", ..." if len(missing) > _SOME else "")
    fate = {"zero": "each counted 0", "left-out": "left out"}.get(evaluation.convention.alignment.missing, "")
    return [f"{evaluation.name} misses {len(missing):,} of {evaluation.coverage.queries_in_qrels:,} judged queries, {fate}: {some}"]
