"""The report of `idealrank evaluate`: runs side by side, under it the convention in words and what
the numbers cover.

Means on slices of the queries have tables of their own. Markdown and LaTeX are made from the same
tables.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from idealrank.reports.table.forms import as_latex, as_markdown
from idealrank.reports.table.records import Row, mean_of
from idealrank.reports.table.text import Part, filled, parts_text
from idealrank.reports.views.conventions import cautioned, design_phrases, paragraph

if TYPE_CHECKING:
    from idealrank.analysis.comparison import RunMean
    from idealrank.analysis.comparison.slice_differences import SliceMeans


class _Row(NamedTuple):
    name: str
    queries: int
    means: "dict[str, RunMean]"


def slice_tables(
    evaluations: Sequence[Evaluation], found: "Sequence[SliceMeans]", digits: int | None = None
) -> list[Table]:
    """A table for each run: a row for each slice, with the mean and the interval of each
    measure.
    """
    return [
        _table(
            evaluation.name,
            {str(measure): measure.aggregate for measure in evaluation.measures},
            one,
            digits,
        )
        for evaluation, one in zip(evaluations if found else (), found, strict=True)
    ]


def slice_parts(found: "SliceMeans") -> list[Part]:
    """The table of one run alone."""
    means = next(iter(found.slices.values()), {})
    # Only a measure that is averaged has an interval.
    return [
        _table(
            found.run,
            {text: "" if math.isnan(one.interval[0]) else "mean" for text, one in means.items()},
            found,
            None,
        )
    ]


def _table(run: str, measures: Mapping[str, str], found: "SliceMeans", digits: int | None) -> Table:
    rows = [_Row(name, found.queries[name], dict(means)) for name, means in found.slices.items()]
    columns: list[Column[_Row]] = [
        Column(title=f"{run}, by slice", cell=lambda row: row.name),
        Column(title="queries", kind="number", cell=lambda row: count_cell(row.queries)),
    ]
    for text, aggregate in measures.items():
        known = [
            row.means[text].interval for row in rows if math.isfinite(row.means[text].interval[0])
        ]
        columns += _columns(
            text,
            decimals(known, asked=digits),
            is_sum=aggregate == "sum",
            is_mean=aggregate == "mean",
        )
    notes = [words] if (words := _left_out(found)) else []
    return Table.of(
        columns,
        rows,
        notes=[f"{100 * found.level:g} % intervals of each mean alone (Student)", *notes],
    )


def _columns(text: str, places: int, *, is_sum: bool, is_mean: bool) -> "list[Column[_Row]]":
    columns: list[Column[_Row]] = [
        Column(
            title=text,
            kind="number",
            cell=lambda row: _cell(row.means[text].mean, places, is_sum=is_sum),
        )
    ]
    return (
        [
            *columns,
            Column(
                title="interval",
                kind="number",
                cell=lambda row: interval_cell(row.means[text].interval, places),
            ),
        ]
        if is_mean
        else columns
    )


def _left_out(found: "SliceMeans") -> str:
    parts = [
        f"{found.counts[key]:,} {words}"
        for key, words in (("in_none", "in no slice"), ("in_several", "in several"))
        if found.counts[key]
    ]
    return f"queries {' and '.join(parts)}" if parts else ""


def slice_rows(evaluations: Sequence[Evaluation], found: "Sequence[SliceMeans]") -> Iterator[Row]:
    """Titles and rows: a mean a row with its interval, and the number of queries that count."""
    yield ["run", "slice", "measure", "value", "low", "high", "n", "convention"]
    for evaluation, one in zip(evaluations, found, strict=True):
        for name, means in one.slices.items():
            for measure, row in means.items():
                values = [
                    "" if not math.isfinite(value) else repr(value)
                    for value in (row.mean, *row.interval)
                ]
                yield [
                    evaluation.name,
                    name,
                    measure,
                    *values,
                    str(row.n),
                    str(evaluation.convention),
                ]


_SOME = 5


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
    """The whole report."""
    parts: list[Part] = (
        [query_table(evaluation, digits) for evaluation in evaluations] if per_query else []
    )
    parts.append(means_table(evaluations, intervals, digits, weighted=weighted))
    parts += [interval_table(evaluations, intervals, digits)] if intervals else []
    parts += slice_tables(evaluations, slices, digits)
    parts += (
        [said]
        if (said := design_phrases(weighted=bool(weighted), clustered=clustered, judgments="same"))
        else []
    )
    parts += [filled(cautioned(cautions))] if cautions else []
    parts.append(
        paragraph(evaluations[0].convention, map(str, evaluations[0].measures), with_tool=True)
    )
    parts.append(coverage_table(evaluations))
    by_measure = measure_coverage_table(evaluations)
    return [*parts, by_measure] if by_measure.rows else parts


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
    """Runs as rows with their means, weighted where weighted means are given; the best of each
    measure strong and marked.
    """
    means = mean_columns(evaluations, intervals, digits, mark=mark, weighted=weighted)
    table = Table.of(
        [Column(title="run", cell=lambda run: run.name), *means.values()],
        evaluated_runs(evaluations, intervals, weighted),
    )
    return replace(
        table,
        notes=[f"{mark} the best of each measure"]
        if any(cell.mark for cell in table.cells())
        else [],
    )


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
    """The rows of tables of means."""
    found = intervals or [{} for _ in evaluations]
    rows = enumerate(zip(evaluations, found, strict=True))
    return [
        EvaluatedRun(one.name, mean_of(one, number, weighted), ends) for number, (one, ends) in rows
    ]


def mean_columns(
    evaluations: Sequence[Evaluation],
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    digits: int | None = None,
    *,
    mark: str = "*",
    weighted: "Sequence[Mapping[str, RunMean]]" = (),
) -> dict[str, Column[EvaluatedRun]]:
    """By measure the means beside each run, the best strong and marked."""
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
    """Runs as rows with the interval of each mean; a dash where a measure is no mean, or has no
    finite interval.
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
    """By measure the intervals beside each run."""

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


def _interval(found: "RunMean | None", places: int) -> Cell:
    return interval_cell((math.nan, math.nan) if found is None else found.interval, places)


def _places(
    evaluations: Sequence[Evaluation],
    intervals: "Sequence[Mapping[str, RunMean]]",
    digits: int | None,
) -> dict[str, int]:
    """Decimals of each measure."""
    texts = [str(measure) for measure in evaluations[0].measures]
    return {
        text: decimals([means[text].interval for means in intervals if text in means], asked=digits)
        for text in texts
    }


def _best(measure: Measure, values: Sequence[float]) -> float | None:
    """The best value; None when there is nothing to compare, or all are the same."""
    known = [value for value in values if not math.isnan(value)]
    if measure.direction == 0 or len(known) < 2 or min(known) == max(known):
        return None
    return max(known, key=lambda value: value * measure.direction)


def _cell(value: float | None, places: int, *, is_sum: bool) -> Cell:
    if value is None or math.isnan(value):
        return Cell("-")
    return Cell(f"{value:,.0f}" if is_sum else number(value, places), value)


def query_table(evaluation: Evaluation, digits: int | None = None) -> Table:
    """Queries as rows with their values."""
    places, values = decimals([], asked=digits), evaluation.per_query()

    def column(measure: Measure, text: str) -> Column[str]:
        return Column(
            title=text,
            kind="number",
            cell=lambda query: _cell(
                values[query][text], places, is_sum=measure.aggregate == "sum"
            ),
        )

    named: Column[str] = Column(title=evaluation.name, cell=str)
    return Table.of(
        [named, *(column(measure, str(measure)) for measure in evaluation.measures)], values
    )


def coverage_table(evaluations: Sequence[Evaluation]) -> Table:
    """Build the coverage table: fixed counts, and others only if they are not 0."""
    table = coverage_of([(evaluation.name, evaluation.coverage) for evaluation in evaluations])
    notes = [note for evaluation in evaluations for note in _missing(evaluation)] + _unjudged(
        evaluations
    )
    return replace(table, notes=[*notes, *_labels(evaluations), *_unstable_ties(evaluations)])


def _unstable_ties(evaluations: Sequence[Evaluation]) -> list[str]:
    """Say that the tool of a convention may give another value, if its sort puts tied documents in
    an order of its own.
    """
    length = evaluations[0].convention.unstable_from
    tied = [
        f"{one.name} {one.coverage.tied_documents:,}"
        for one in evaluations
        if one.coverage.tied_documents
    ]
    if not length or not tied:
        return []
    return [
        f"tied docs: {', '.join(tied)}; in lists of {length} or more documents the tool puts "
        f"them in an order of its own, by an unstable "
        "sort, so that its value may differ: `idealrank reconcile --value` prints the range"
    ]


def _labels(evaluations: Sequence[Evaluation]) -> list[str]:
    """Describe the kind of labels behind the runs, where a run returns a document without one."""
    kinds = [
        one.provenance.labels
        for one in evaluations
        if one.provenance.labels is not None and one.coverage.unjudged
    ]
    return list(
        dict.fromkeys(
            f"labels: {labels.kind}{' found' if labels.found else ''}; {_UNLABELLED[labels.kind]}"
            for labels in kinds
        )
    )


_UNLABELLED: dict[LabelKind, str] = {
    "complete": "documents without a label are not relevant",
    "pooled": "documents without a label may be relevant",
    "positive-only": "documents without a label count as not relevant",
}


def coverage_of(covers: Sequence[tuple[str, Coverage]]) -> Table:
    """The counts of some coverages with their names."""
    rows = [_Covered(name, _counts(cover)) for name, cover in covers]
    shown = [
        name for name in rows[0].counts if name in _ALWAYS or any(row.counts[name] for row in rows)
    ]
    depth = covers[0][1].unjudged_cutoff

    def column(name: str) -> Column[_Covered]:
        title = f"unjudged@{depth}" if name == "unjudged" and depth else name
        return Column(title=title, kind="number", cell=lambda row: _count(name, row.counts[name]))

    return Table.of(
        [Column(title="coverage", cell=lambda row: row.name), *map(column, shown)], rows
    )


class _CoveredMeasure(NamedTuple):
    measure: str
    run: str
    counts: MeasureCoverage


def measure_coverage_table(evaluations: Sequence[Evaluation]) -> Table:
    """Counts of the measures whose own counts differ from the coverage of the run; no row if none
    do.
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
    measures = map(str, evaluations[0].measures)
    return Table.of(
        columns, [row for measure in measures for row in _rows_of_measure(measure, evaluations)]
    )


def _rows_of_measure(measure: str, evaluations: Sequence[Evaluation]) -> list[_CoveredMeasure]:
    """One row for each run whose counts differ from its coverage, or one for all of them."""
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
    """Cautions where so many documents have no judgment that values may say more of the judgments
    than of the run.

    Of three runs or more that need one, they are one line.
    """
    doubtful = sorted(
        filter(_is_doubtful, evaluations), key=lambda evaluation: evaluation.coverage.unjudged_share
    )
    if len(doubtful) > _SOME_RUNS:
        ends = dict.fromkeys(
            _unjudged_share(evaluation) for evaluation in (doubtful[0], doubtful[-1])
        )
        return [_unjudged_words(f"{len(doubtful)} runs", " to ".join(ends), doubtful[0])]
    return [
        _unjudged_words(one.name, _unjudged_share(one), one)
        for one in evaluations
        if _is_doubtful(one)
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
        f"relevant"
    )


def _missing(evaluation: Evaluation) -> list[str]:
    missing = evaluation.coverage.missing_queries
    if not len(missing):
        return []
    some = ", ".join(list(missing)[:_SOME]) + (", ..." if len(missing) > _SOME else "")
    fate = {"zero": "each counted 0", "left-out": "left out"}.get(
        evaluation.convention.alignment.missing, ""
    )
    return [
        f"{evaluation.name} misses {len(missing):,} of "
        f"{evaluation.coverage.queries_in_qrels:,} judged queries, {fate}: {some}"
    ]


def evaluated_markdown(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    slices: "Sequence[SliceMeans]" = (),
    weighted: "Sequence[Mapping[str, RunMean]]" = (),
    clustered: bool = False,
    cautions: Sequence[str] = (),
    digits: int | None = None,
) -> str:
    """A row a run, the best of each measure in bold, intervals beside the means where there are
    any; with `per_query` a table a run before.
    """
    return _pasted(
        as_markdown,
        evaluations,
        intervals,
        slices,
        digits,
        per_query=per_query,
        weighted=weighted,
        clustered=clustered,
        cautions=cautions,
    )


def evaluated_latex(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    intervals: "Sequence[Mapping[str, RunMean]]" = (),
    slices: "Sequence[SliceMeans]" = (),
    weighted: "Sequence[Mapping[str, RunMean]]" = (),
    clustered: bool = False,
    cautions: Sequence[str] = (),
    digits: int | None = None,
) -> str:
    r"""Return the evaluations in LaTeX, with the rules of booktabs."""
    return _pasted(
        as_latex,
        evaluations,
        intervals,
        slices,
        digits,
        per_query=per_query,
        weighted=weighted,
        clustered=clustered,
        cautions=cautions,
    )


def _pasted(
    form: Callable[[Table], str],
    evaluations: Sequence[Evaluation],
    intervals: "Sequence[Mapping[str, RunMean]]",
    slices: "Sequence[SliceMeans]",
    digits: int | None,
    *,
    per_query: bool,
    weighted: "Sequence[Mapping[str, RunMean]]",
    clustered: bool,
    cautions: Sequence[str],
) -> str:
    tables = [query_table(evaluation, digits) for evaluation in evaluations] if per_query else []
    runs = evaluated_runs(evaluations, intervals, weighted)
    columns: list[Column[EvaluatedRun]] = [Column(title="run", cell=lambda run: run.name)]
    means = mean_columns(evaluations, intervals, digits, mark="", weighted=weighted)
    ends = interval_columns(evaluations, intervals, digits) if intervals else {}
    for measure, mean in means.items():
        columns.append(mean)
        # none beside what is no mean
        if measure in ends and any(ends[measure].beside(run).text != "-" for run in runs):
            columns.append(replace(ends[measure], title="95 % interval"))
    table = Table.of(columns, runs)
    notes = (
        ["Bold: the best of each measure."] if any(cell.strong for cell in table.cells()) else []
    )
    notes += ["95 % intervals of each mean alone (Student)."] if intervals else []
    notes += [
        f"{one.capitalize()}."
        for one in design_phrases(weighted=bool(weighted), clustered=clustered, judgments="same")
    ]
    notes += cautioned(cautions)
    noted = replace(table, notes=[" ".join([*notes, f"Convention {evaluations[0].convention}."])])
    return "\n".join(map(form, [*tables, noted, *slice_tables(evaluations, slices, digits)]))
