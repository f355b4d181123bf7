"""The report of `idealrank evaluate`: runs side by side, then the convention in words and the
coverage.

Means on slices of the queries have tables of their own. Markdown and LaTeX are made from the same
tables.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from idealrank.data.label_kinds import LabelKind
from idealrank.evaluation.coverage import MANY_UNJUDGED, Coverage, MeasureCoverage
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
from idealrank.reports.views.conventions import cautioned, design_phrases, paragraph

if TYPE_CHECKING:
    from idealrank.analysis.comparison import RunMean
    from idealrank.analysis.comparison.slice_means import SliceMeans


class _Row(NamedTuple):
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
        tables.append(_table(evaluation.name, aggregates, slice_means, digits))
    return tables


def slice_parts(slice_means: "SliceMeans") -> list[Part]:
    """Build the table of one run alone."""
    means = next(iter(slice_means.slices.values()), {})
    aggregates = {}
    for text, run_mean in means.items():
        low, _ = run_mean.interval
        # Only a measure that is averaged has an interval.
        aggregates[text] = "" if math.isnan(low) else "mean"
    return [_table(slice_means.run, aggregates, slice_means, None)]


def _table(
    run: str, measures: Mapping[str, str], slice_means: "SliceMeans", digits: int | None
) -> Table:
    rows = [
        _Row(name, slice_means.queries[name], dict(means))
        for name, means in slice_means.slices.items()
    ]
    columns: list[Column[_Row]] = [
        Column(title=f"{run}, by slice", cell=lambda row: row.name),
        Column(title="queries", kind="number", cell=lambda row: count_cell(row.queries)),
    ]
    for text, aggregate in measures.items():
        intervals = [row.means[text].interval for row in rows]
        known = [(low, high) for low, high in intervals if math.isfinite(low)]
        is_sum = aggregate == "sum"
        is_mean = aggregate == "mean"
        columns += _columns(text, decimals(known, digits=digits), is_sum=is_sum, is_mean=is_mean)
    notes = [f"{100 * slice_means.level:g} % intervals of each mean alone (Student)"]
    left_out = _left_out(slice_means)
    notes += [left_out] if left_out else []
    return Table.of(columns, rows, notes=notes)


def _columns(text: str, places: int, *, is_sum: bool, is_mean: bool) -> "list[Column[_Row]]":
    """Make the column of a measure, and of its interval if it is a mean."""

    def mean(row: _Row) -> Cell:
        return _cell(row.means[text].mean, places, is_sum=is_sum)

    def ends(row: _Row) -> Cell:
        return interval_cell(row.means[text].interval, places)

    columns: list[Column[_Row]] = [Column(title=text, kind="number", cell=mean)]
    columns += [Column(title="interval", kind="number", cell=ends)] if is_mean else []
    return columns


def _left_out(slice_means: "SliceMeans") -> str:
    parts = [
        f"{slice_means.counts[key]:,} {words}"
        for key, words in (("in_none", "in no slice"), ("in_several", "in several"))
        if slice_means.counts[key]
    ]
    return f"queries {' and '.join(parts)}" if parts else ""


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


_SOME = 5  # unanswered queries that a note names


def report_parts(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    slices: "Sequence[SliceMeans]" = (),
    weighted: "Sequence[Mapping[str, RunMean]]" = (),
    clustered: bool = False,
    cautions: Sequence[str] = (),
    digits: int | None = None,
) -> list[Part]:
    """Build the whole report."""
    parts: list[Part] = []
    if per_query:
        parts += [query_table(evaluation, digits) for evaluation in evaluations]
    parts.append(means_table(evaluations, intervals, digits, weighted=weighted))
    parts += [interval_table(evaluations, intervals, digits)] if intervals else []
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
    named: Column[EvaluatedRun] = Column(title="run", cell=lambda run: run.name)
    means = mean_columns(evaluations, intervals, digits, mark=mark, weighted=weighted)
    runs = evaluated_runs(evaluations, intervals, weighted)
    table = Table.of([named, *means.values()], runs)
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
        EvaluatedRun(evaluation.name, mean_of(evaluation, number, weighted), ends)
        for number, (evaluation, ends) in rows
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
        best = _best(measure, [run.mean[text] for run in runs])

        def mean(run: EvaluatedRun) -> Cell:
            cell = _cell(run.mean[text], places[text], is_sum=measure.aggregate == "sum")
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
    named: Column[EvaluatedRun] = Column(title="95 % interval", cell=lambda run: run.name)
    return Table.of(
        [named, *interval_columns(evaluations, intervals, digits).values()],
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


def _best(measure: Measure, values: Sequence[float]) -> float | None:
    """Return the best value; None if there is nothing to compare, or all are equal."""
    known = [value for value in values if not math.isnan(value)]
    if measure.direction == 0 or len(known) < 2 or min(known) == max(known):
        return None
    return max(known, key=lambda value: value * measure.direction)


def _cell(value: float | None, places: int, *, is_sum: bool) -> Cell:
    if value is None or math.isnan(value):
        return Cell("-")
    return Cell(f"{value:,.0f}" if is_sum else number(value, places), value)


def query_table(evaluation: Evaluation, digits: int | None = None) -> Table:
    """Build the table of queries with their values."""
    places = decimals([], digits=digits)
    values = evaluation.per_query()

    def column(measure: Measure) -> Column[str]:
        text = str(measure)
        is_sum = measure.aggregate == "sum"

        def value(query_id: str) -> Cell:
            return _cell(values[query_id][text], places, is_sum=is_sum)

        return Column(title=text, kind="number", cell=value)

    named: Column[str] = Column(title=evaluation.name, cell=str)
    return Table.of([named, *map(column, evaluation.measures)], values)


def coverage_table(evaluations: Sequence[Evaluation]) -> Table:
    """Build the coverage table: fixed counts, and others only if they are not 0."""
    table = coverage_of([(evaluation.name, evaluation.coverage) for evaluation in evaluations])
    notes = [note for evaluation in evaluations for note in _missing(evaluation)]
    notes += [*_unjudged(evaluations), *_labels(evaluations), *_unstable_ties(evaluations)]
    return replace(table, notes=notes)


def _unstable_ties(evaluations: Sequence[Evaluation]) -> list[str]:
    """Say that the tool of a convention may give another value, if an unstable sort orders tied
    documents.
    """
    length = evaluations[0].convention.unstable_from
    tied = [
        f"{evaluation.name} {evaluation.coverage.tied_documents:,}"
        for evaluation in evaluations
        if evaluation.coverage.tied_documents
    ]
    if not length or not tied:
        return []
    return [
        f"tied docs: {', '.join(tied)}; in lists of {length} or more documents the tool puts them "
        "in an order of its own, by an unstable sort, so that its value may differ: `idealrank "
        "reconcile --value` prints the range"
    ]


def _labels(evaluations: Sequence[Evaluation]) -> list[str]:
    """Describe the kinds of labels behind the runs that return a document without one."""
    notes = []
    for evaluation in evaluations:
        labels = evaluation.provenance.labels
        if labels is not None and evaluation.coverage.unjudged:
            source = " found" if labels.found else ""
            notes.append(f"labels: {labels.kind}{source}; {_UNLABELLED[labels.kind]}")
    return list(dict.fromkeys(notes))


_UNLABELLED: dict[LabelKind, str] = {
    "complete": "documents without a label are not relevant",
    "pooled": "documents without a label may be relevant",
    "positive-only": "documents without a label count as not relevant",
}


def coverage_of(covers: Sequence[tuple[str, Coverage]]) -> Table:
    """Build the table of the counts of some coverages with their names."""
    rows = [_Covered(name, _counts(cover)) for name, cover in covers]
    shown = list(_ALWAYS)
    for row in rows:
        shown += [name for name, count in row.counts.items() if count]
    shown = [name for name in rows[0].counts if name in shown]
    _, first = covers[0]
    depth = first.unjudged_cutoff

    def column(name: str) -> Column[_Covered]:
        title = f"unjudged@{depth}" if name == "unjudged" and depth else name
        return Column(
            title=title,
            kind="number",
            cell=lambda row: _count(name, row.counts[name]),
            rank=0 if name in _FIRST else 1 + shown.index(name),
        )

    return Table.of(
        [Column(title="coverage", cell=lambda row: row.name), *map(column, shown)], rows
    )


class _CoveredMeasure(NamedTuple):
    measure: str
    run: str
    counts: MeasureCoverage


def measure_coverage_table(evaluations: Sequence[Evaluation]) -> Table:
    """Build the table of the measures whose counts differ from the coverage of the run; it may have
    no row.
    """
    columns: list[Column[_CoveredMeasure]] = [
        Column(title="coverage by measure", cell=lambda row: row.measure),
        Column(title="scored", kind="number", cell=lambda row: count_cell(row.counts.scored)),
        Column(
            title="no relevant", kind="number", cell=lambda row: count_cell(row.counts.no_relevant)
        ),
    ]
    if len(evaluations) > 1:
        columns.insert(1, Column(title="run", cell=lambda row: row.run))
    rows: list[_CoveredMeasure] = []
    for measure in map(str, evaluations[0].measures):
        rows += _rows_of_measure(measure, evaluations)
    return Table.of(columns, rows)


def _rows_of_measure(measure: str, evaluations: Sequence[Evaluation]) -> list[_CoveredMeasure]:
    """Make a row for each run whose counts differ from its coverage, or one for all of them."""
    rows = []
    for evaluation in evaluations:
        cover = evaluation.coverage
        counts = cover.by_measure.get(measure)
        plain = MeasureCoverage(scored=cover.scored, no_relevant=cover.no_relevant)
        if counts is not None and counts != plain:
            rows.append(_CoveredMeasure(measure, evaluation.name, counts))
    if len(rows) == len(evaluations) and len({row.counts for row in rows}) == 1:
        return [_CoveredMeasure(measure, "every run", rows[0].counts)]
    return rows


class _Covered(NamedTuple):
    name: str
    counts: dict[str, float]


def _count(name: str, value: float) -> Cell:
    return Cell(f"{value:.1%}" if name == "unjudged" else f"{value:,.0f}", value)


# More runs than these with one caution have it once.
_SOME_RUNS = 2
_ALWAYS = ("scored", "in qrels", "missing", "no relevant", "unjudged")
_FIRST = ("scored", "missing", "unjudged")  # of these, a narrow terminal leaves out none


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


def _unjudged(evaluations: Sequence[Evaluation]) -> list[str]:
    """Caution that values may depend more on the judgments than on a run, since many documents are
    unjudged; three or more such runs have one line.
    """
    doubtful = [evaluation for evaluation in evaluations if _is_doubtful(evaluation)]
    if len(doubtful) > _SOME_RUNS:
        fewest, *_, most = sorted(doubtful, key=lambda each: each.coverage.unjudged_share)
        shares = dict.fromkeys([_unjudged_share(fewest), _unjudged_share(most)])
        return [_unjudged_words(f"{len(doubtful)} runs", " to ".join(shares), fewest)]
    return [
        _unjudged_words(evaluation.name, _unjudged_share(evaluation), evaluation)
        for evaluation in doubtful
    ]


def _is_doubtful(evaluation: Evaluation) -> bool:
    labels = evaluation.provenance.labels
    if labels is not None and labels.kind == "complete":
        return False  # then unjudged documents are not relevant
    cover = evaluation.coverage
    return (
        cover.unjudged_share >= MANY_UNJUDGED
        and not cover.mismatch
        and evaluation.convention.alignment.unjudged != "skipped"
    )


def _unjudged_share(evaluation: Evaluation) -> str:
    percent = 100 * evaluation.coverage.unjudged_share
    return f"{min(percent, 99.9):.1f}%" if 99 < percent < 100 else f"{percent:.0f}%"


def _unjudged_words(runs: str, share: str, evaluation: Evaluation) -> str:
    cutoff = evaluation.coverage.unjudged_cutoff
    within = f" within rank {cutoff}" if cutoff else ""
    return (
        f"{runs}: {share} of the documents{within} are unjudged; values are too low if some are "
        "relevant"
    )


def _missing(evaluation: Evaluation) -> list[str]:
    missing = evaluation.coverage.missing_queries
    if not len(missing):
        return []
    some = ", ".join(list(missing)[:_SOME])
    some += ", ..." if len(missing) > _SOME else ""
    fates = {"zero": "each counted 0", "left-out": "left out"}
    fate = fates.get(evaluation.convention.alignment.missing, "")
    return [
        f"{evaluation.name} misses {len(missing):,} of {evaluation.coverage.queries_in_qrels:,} "
        f"judged queries, {fate}: {some}"
    ]


def evaluated_tables(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    slices: "Sequence[SliceMeans]" = (),
    weighted: "Sequence[Mapping[str, RunMean]]" = (),
    clustered: bool = False,
    cautions: Sequence[str] = (),
    digits: int | None = None,
) -> list[Table]:
    """Make tables to paste: a row for each run, the best of each measure in bold, and intervals, if
    any; with `per_query`, a table for each run comes first.
    """
    tables = [query_table(evaluation, digits) for evaluation in evaluations] if per_query else []
    runs = evaluated_runs(evaluations, intervals, weighted)
    columns: list[Column[EvaluatedRun]] = [Column(title="run", cell=lambda run: run.name)]
    means = mean_columns(evaluations, intervals, digits, mark="", weighted=weighted)
    ends = interval_columns(evaluations, intervals, digits) if intervals else {}
    for measure, mean in means.items():
        columns.append(mean)
        # A measure that is no mean has only dashes for intervals.
        if measure in ends and any(ends[measure].beside(run).text != "-" for run in runs):
            columns.append(replace(ends[measure], title="95 % interval"))
    table = Table.of(columns, runs)

    has_best = any(cell.strong for cell in table.cells())
    notes = ["Bold: the best of each measure."] if has_best else []
    notes += ["95 % intervals of each mean alone (Student)."] if intervals else []
    design = design_phrases(weighted=bool(weighted), clustered=clustered, judgments="same")
    notes += [f"{phrase.capitalize()}." for phrase in design]
    notes += [*cautioned(cautions), f"Convention {evaluations[0].convention}."]
    noted = replace(table, notes=[" ".join(notes)])
    return [*tables, noted, *slice_tables(evaluations, slices, digits)]
