"""The report of `idealrank evaluate`: runs side by side, then the convention in words and the
coverage.

Means on slices of the queries have tables of their own. Markdown and LaTeX are made from the same
tables.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.reports.table.cells import (
    Cell,
    Column,
    Table,
    count_cell,
    decimals,
    interval_cell,
    number,
)
from idealrank.reports.table.records import Row, mean_of
from idealrank.reports.table.text import Part, filled, parts_text
from idealrank.reports.views.chance_levels import lift_table
from idealrank.reports.views.conventions import cautioned, design_phrases, paragraph
from idealrank.reports.views.coverage_tables import (
    coverage_table,
    measure_coverage_table,
    queries_in_words,
)

if TYPE_CHECKING:
    from idealrank.analysis.comparison import RunMean
    from idealrank.analysis.comparison.slice_means import SliceMeans
    from idealrank.bounds.lift import Lift


class _SliceRow(NamedTuple):
    name: str
    queries: int
    means: "dict[str, RunMean]"


def slice_tables(
    evaluations: Sequence[Evaluation], slices: "Sequence[SliceMeans]", digits: int | None = None
) -> list[Table]:
    """Build a table for each run: a row for each slice, with the mean and the interval of each
    measure.
    """
    tables = []
    for evaluation, slice_means in zip(evaluations if slices else (), slices, strict=True):
        aggregates = {str(measure): measure.aggregate for measure in evaluation.measures}
        queries = queries_in_words(evaluation)
        tables.append(
            _slice_table(evaluation.name, aggregates, slice_means, digits, queries=queries)
        )
    return tables


def slice_parts(slice_means: "SliceMeans") -> list[Part]:
    """Build the table of one run alone."""
    means = next(iter(slice_means.slices.values()), {})
    aggregates = {}
    for text, run_mean in means.items():
        low, _ = run_mean.interval
        # Only a measure that is averaged has an interval.
        aggregates[text] = "" if math.isnan(low) else "mean"
    return [_slice_table(slice_means.run, aggregates, slice_means, None)]


def _slice_table(
    run: str,
    measures: Mapping[str, str],
    slice_means: "SliceMeans",
    digits: int | None,
    *,
    queries: str = "queries",
) -> Table:
    rows = [
        _SliceRow(name, slice_means.queries[name], dict(means))
        for name, means in slice_means.slices.items()
    ]
    columns: list[Column[_SliceRow]] = [
        Column(title=f"{run}, by slice", cell=lambda row: row.name),
        Column(title=queries, kind="number", cell=lambda row: count_cell(row.queries)),
    ]
    for text, aggregate in measures.items():
        intervals = [row.means[text].interval for row in rows]
        known = [(low, high) for low, high in intervals if math.isfinite(low)]
        is_sum = aggregate == "sum"
        is_mean = aggregate == "mean"
        columns += _slice_columns(
            text, decimals(known, digits=digits), is_sum=is_sum, is_mean=is_mean
        )
    notes = [f"{100 * slice_means.level:g} % intervals of each mean alone (Student)"]
    left_out = _left_out(slice_means, queries)
    notes += [left_out] if left_out else []
    return Table.of(columns, rows, notes=notes)


def _slice_columns(
    text: str, places: int, *, is_sum: bool, is_mean: bool
) -> "list[Column[_SliceRow]]":
    """Make the column of a measure, and of its interval if it is a mean."""

    def mean(row: _SliceRow) -> Cell:
        return _value_cell(row.means[text].mean, places, is_sum=is_sum)

    def ends(row: _SliceRow) -> Cell:
        return interval_cell(row.means[text].interval, places)

    columns: list[Column[_SliceRow]] = [Column(title=text, kind="number", cell=mean)]
    columns += [Column(title="interval", kind="number", cell=ends)] if is_mean else []
    return columns


def _left_out(slice_means: "SliceMeans", queries: str) -> str:
    parts = [
        f"{slice_means.counts[key]:,} {words}"
        for key, words in (("in_none", "in no slice"), ("in_several", "in several"))
        if slice_means.counts[key]
    ]
    return f"{queries} {' and '.join(parts)}" if parts else ""


def slice_rows(evaluations: Sequence[Evaluation], slices: "Sequence[SliceMeans]") -> Iterator[Row]:
    """Yield titles, then a row for each mean with its interval and number of queries."""
    yield ["run", "slice", "measure", "value", "low", "high", "n", "convention"]
    for evaluation, slice_means in zip(evaluations, slices, strict=True):
        convention = str(evaluation.convention)
        for name, means in slice_means.slices.items():
            for measure, row in means.items():
                numbers = (row.mean, *row.interval)
                values = [repr(value) if math.isfinite(value) else "" for value in numbers]
                yield [evaluation.name, name, measure, *values, str(row.n), convention]


def report_parts(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    slices: "Sequence[SliceMeans]" = (),
    weighted: "Sequence[Mapping[str, RunMean]]" = (),
    clustered: bool = False,
    cautions: Sequence[str] = (),
    chance: "Sequence[Lift]" = (),
    digits: int | None = None,
) -> list[Part]:
    """Build the whole report."""
    parts: list[Part] = []
    if per_query:
        parts += [query_table(evaluation, digits) for evaluation in evaluations]
    parts.append(means_table(evaluations, intervals, digits, weighted=weighted))
    parts += [interval_table(evaluations, intervals, digits)] if intervals else []
    parts += [lift_table(chance, digits)] if chance else []
    parts += slice_tables(evaluations, slices, digits)
    design = design_phrases(weighted=bool(weighted), clustered=clustered, judgments="same")
    parts += [design] if design else []
    parts += [filled(cautioned(cautions))] if cautions else []
    first = evaluations[0]
    parts.append(paragraph(first.convention, map(str, first.measures), with_tool=True))
    parts.append(coverage_table(evaluations))
    by_measure = measure_coverage_table(evaluations)
    return [*parts, by_measure] if by_measure.rows else parts


def evaluation_parts(evaluation: Evaluation) -> list[Part]:
    """Build the report of one run."""
    return report_parts([evaluation])


def table_report(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
) -> str:
    """Return the report as text."""
    return parts_text(report_parts(evaluations, per_query=per_query, intervals=intervals))


def means_table(
    evaluations: Sequence[Evaluation],
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    digits: int | None = None,
    *,
    mark: str = "*",
    weighted: "Sequence[Mapping[str, RunMean]]" = (),
) -> Table:
    """Build the table of runs with their means, weighted if weighted means are given; the best of
    each measure is in bold and marked.
    """
    run_names: Column[EvaluatedRun] = Column(title="run", cell=lambda run: run.name)
    means = mean_columns(evaluations, intervals, digits, mark=mark, weighted=weighted)
    runs = evaluated_runs(evaluations, intervals, weighted)
    table = Table.of([run_names, *means.values()], runs)
    is_marked = any(cell.mark for cell in table.cells())
    return replace(table, notes=[f"{mark} the best of each measure"] if is_marked else [])


class EvaluatedRun(NamedTuple):
    """Means of an evaluation by measure, with intervals if present."""

    name: str
    mean: "Mapping[str, float]"
    intervals: "Mapping[str, RunMean]"


def evaluated_runs(
    evaluations: Sequence[Evaluation],
    intervals: "Sequence[Mapping[str, RunMean]]",
    weighted: "Sequence[Mapping[str, RunMean]]" = (),
) -> list[EvaluatedRun]:
    """Make the rows of tables of means."""
    ends_of_runs = intervals or [{} for _ in evaluations]
    rows = enumerate(zip(evaluations, ends_of_runs, strict=True))
    return [
        EvaluatedRun(evaluation.name, mean_of(evaluation, place, weighted), ends)
        for place, (evaluation, ends) in rows
    ]


def mean_columns(
    evaluations: Sequence[Evaluation],
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    digits: int | None = None,
    *,
    mark: str = "*",
    weighted: "Sequence[Mapping[str, RunMean]]" = (),
) -> dict[str, Column[EvaluatedRun]]:
    """Make the column of means of each measure, the best in bold and marked."""
    places = _places(evaluations, intervals, digits)
    runs = evaluated_runs(evaluations, (), weighted)

    def column(measure: Measure, text: str) -> Column[EvaluatedRun]:
        best = _best_value(measure, [run.mean[text] for run in runs])

        def mean(run: EvaluatedRun) -> Cell:
            cell = _value_cell(run.mean[text], places[text], is_sum=measure.aggregate == "sum")
            return cell._replace(strong=True, mark=mark) if run.mean[text] == best else cell

        return Column(title=text, kind="number", cell=mean)

    return {
        text: column(measure, text)
        for measure, text in zip(evaluations[0].measures, places, strict=True)
    }


def interval_table(
    evaluations: Sequence[Evaluation],
    intervals: "Sequence[Mapping[str, RunMean]]",
    digits: int | None = None,
) -> Table:
    """Build the table of runs with the interval of each mean; a dash if a measure is no mean, or
    has no finite interval.
    """
    run_names: Column[EvaluatedRun] = Column(title="95 % interval", cell=lambda run: run.name)
    return Table.of(
        [run_names, *interval_columns(evaluations, intervals, digits).values()],
        evaluated_runs(evaluations, intervals),
    )


def interval_columns(
    evaluations: Sequence[Evaluation],
    intervals: "Sequence[Mapping[str, RunMean]]",
    digits: int | None = None,
) -> dict[str, Column[EvaluatedRun]]:
    """Make the column of intervals of each measure."""

    def column(measure: str, places: int) -> Column[EvaluatedRun]:
        return Column(
            title=measure,
            kind="number",
            cell=lambda run: _interval(run.intervals.get(measure), places),
        )

    return {
        measure: column(measure, places)
        for measure, places in _places(evaluations, intervals, digits).items()
    }


def _interval(run_mean: "RunMean | None", places: int) -> Cell:
    return interval_cell((math.nan, math.nan) if run_mean is None else run_mean.interval, places)


def _places(
    evaluations: Sequence[Evaluation],
    intervals: "Sequence[Mapping[str, RunMean]]",
    digits: int | None,
) -> dict[str, int]:
    """Choose the decimals of each measure."""
    places = {}
    for text in map(str, evaluations[0].measures):
        known = [means[text].interval for means in intervals if text in means]
        places[text] = decimals(known, digits=digits)
    return places


def _best_value(measure: Measure, values: Sequence[float]) -> float | None:
    """Return the best value; None if there is nothing to compare, or all are equal."""
    known = [value for value in values if not math.isnan(value)]
    if measure.direction == 0 or len(known) < 2 or min(known) == max(known):
        return None
    return max(known, key=lambda value: value * measure.direction)


def _value_cell(value: float | None, places: int, *, is_sum: bool) -> Cell:
    if value is None or math.isnan(value):
        return Cell("-")
    return Cell(f"{value:,.0f}" if is_sum else number(value, places), value)


def query_table(evaluation: Evaluation, digits: int | None = None) -> Table:
    """Build the table of queries with their values; its head says where queries are users."""
    places = decimals([], digits=digits)
    values = evaluation.per_query()

    def column(measure: Measure) -> Column[str]:
        text = str(measure)
        is_sum = measure.aggregate == "sum"

        def value(query_id: str) -> Cell:
            return _value_cell(values[query_id][text], places, is_sum=is_sum)

        return Column(title=text, kind="number", cell=value)

    is_of_users = evaluation.provenance.query_word == "user"
    title = f"{evaluation.name}, by user" if is_of_users else evaluation.name
    query_ids: Column[str] = Column(title=title, cell=str)
    return Table.of([query_ids, *map(column, evaluation.measures)], values)


def evaluated_tables(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    slices: "Sequence[SliceMeans]" = (),
    weighted: "Sequence[Mapping[str, RunMean]]" = (),
    clustered: bool = False,
    cautions: Sequence[str] = (),
    chance: "Sequence[Lift]" = (),
    digits: int | None = None,
) -> list[Table]:
    """Make tables to paste: a row for each run, the best of each measure in bold, and intervals, if
    any; with `per_query`, a table for each run comes first.
    """
    tables = [query_table(evaluation, digits) for evaluation in evaluations] if per_query else []
    runs = evaluated_runs(evaluations, intervals, weighted)
    columns: list[Column[EvaluatedRun]] = [Column(title="run", cell=lambda run: run.name)]
    means = mean_columns(evaluations, intervals, digits, mark="", weighted=weighted)
    of_intervals = interval_columns(evaluations, intervals, digits) if intervals else {}
    for measure, mean in means.items():
        columns.append(mean)
        # A measure that is no mean has only dashes for intervals.
        interval = of_intervals.get(measure)
        if interval is not None and any(interval.beside(run).text != "-" for run in runs):
            columns.append(replace(interval, title="95 % interval"))
    table = Table.of(columns, runs)

    has_best = any(cell.strong for cell in table.cells())
    notes = ["Bold: the best of each measure."] if has_best else []
    notes += ["95 % intervals of each mean alone (Student)."] if intervals else []
    design = design_phrases(weighted=bool(weighted), clustered=clustered, judgments="same")
    notes += [f"{phrase.capitalize()}." for phrase in design]
    notes += [*cautioned(cautions), f"Convention {evaluations[0].convention}."]
    noted = replace(table, notes=[" ".join(notes)])
    tables += [noted, *([lift_table(chance, digits)] if chance else [])]
    return [*tables, *slice_tables(evaluations, slices, digits)]
