"""The tables of a page, which can be read without scripts; each cell has its exact number, too.

One lists the queries that changed most between two runs, or the worst queries of one run.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np

from idealrank.analysis.comparison import Comparison, Difference, Pair, RunMean
from idealrank.analysis.comparison.query_table import Judgedness
from idealrank.analysis.gate import Check, Gated, KeptContract
from idealrank.analysis.robustness import Robustness, Variant
from idealrank.data.types import FloatArray
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.pages.page.payload import queries_of, values_of
from idealrank.reports.subject import Subject, leading_pairs
from idealrank.reports.table.cells import (
    USUAL,
    Cell,
    Column,
    Table,
    count_cell,
    decimals,
    interval_cell,
    number_cell,
    p_cell,
    share_cell,
)
from idealrank.reports.table.text import one_line
from idealrank.reports.views.chance_levels import lift_table
from idealrank.reports.views.comparison.columns import Line, Shown, difference_columns
from idealrank.reports.views.comparison.league import Ranked, letters_note
from idealrank.reports.views.comparison.verdicts import (
    VerdictMark,
    basis_notes,
    mark_of_check,
    mark_of_contract,
)
from idealrank.reports.views.gate.sentences import (
    ANCHORED,
    COMPANION,
    demand,
    gate_places,
    is_anchored,
    reach_text,
    reason_text,
    unjudged,
    visible,
)
from idealrank.stats.tolerance import ROUNDING

_FEW = 3  # runs, and measures, up to which the means of a run are in one row
_LEVEL = 0.95  # of intervals where nothing was compared
_QUANTILES = {
    "least": 0.0,
    "10 %": 0.1,
    "25 %": 0.25,
    "median": 0.5,
    "75 %": 0.75,
    "90 %": 0.9,
    "most": 1.0,
}


def means_grid(subject: Subject) -> Table:
    """Means with intervals and unjudged shares, a row for each run; of several compared runs the
    best by the first measure first, with groups.
    """
    comparison = subject.comparison
    texts = [str(measure) for measure in subject.measures]
    if len(subject.names) <= _FEW and (len(subject.names) == 1 or len(texts) > _FEW):
        return _long_means(subject)
    ranked: dict[str, Ranked] = {}
    if comparison is not None and len(subject.names) > 2:
        ranked = {text: Ranked.of(comparison, text) for text in texts}
    lettered = any(ranking.letters for ranking in ranked.values())
    order = list(next(iter(ranked.values())).means) if ranked else list(subject.names)
    depth = subject.evaluations[0].coverage.unjudged_cutoff
    covers = {
        run: evaluation.coverage
        for run, evaluation in zip(subject.names, subject.evaluations, strict=True)
    }
    columns: list[Column[str]] = [Column(title="run", cell=one_line)]
    for measure, text in zip(subject.measures, texts, strict=True):
        of_run = partial(_of_run, subject, measure)
        columns += [column.of(of_run) for column in _mean_columns(text, f"{text} interval")]
        if lettered:
            columns.append(Column(title=f"{text} group", cell=ranked[text].letters.__getitem__))
    columns.append(
        Column(
            title=f"unjudged in {depth}" if depth else "unjudged",
            kind="number",
            cell=lambda run: share_cell(covers[run].unjudged_share),
        )
    )
    columns.append(
        Column(title="queries", kind="number", cell=lambda run: count_cell(covers[run].scored))
    )
    title = f"Means of the runs with {100 * _level_of(subject):g} % intervals"
    groups = [] if comparison is None or not lettered else [letters_note(comparison, "groups")]
    notes = [f"{note[:1].upper()}{note[1:]}." for note in groups]
    return Table.of(columns, order, title=title, notes=notes)


def chance_grid(subject: Subject) -> Table | None:
    """Means next to chance level and ceiling, with the lift; None without candidates."""
    if any(evaluation.candidates is None for evaluation in subject.evaluations):
        return None
    lifts = [
        replace(evaluation.select(subject.measures).lift(), run=one_line(name))
        for name, evaluation in zip(subject.names, subject.evaluations, strict=True)
    ]
    return lift_table(lifts, title="Chance level, ceiling and lift")


def _long_means(subject: Subject) -> Table:
    """Means with a row for each measure and run, if these are too many for a line; each share of
    unjudged documents is as deep as its measure.
    """
    columns: list[Column[_Mean]] = [Column(title="measure", cell=lambda row: str(row.measure))]
    if len(subject.names) > 1:
        columns.append(Column(title="run", cell=lambda row: one_line(row.run)))
    columns += _mean_columns("mean", f"{100 * _level_of(subject):g} % interval")
    columns.append(Column(title="queries", kind="number", cell=lambda row: count_cell(row.queries)))
    columns.append(Column(title="unjudged", kind="number", cell=lambda row: row.unjudged))
    rows = [
        _of_run(subject, measure, name) for measure in subject.measures for name in subject.names
    ]
    return Table.of(columns, rows, title="Means of the runs")


@dataclass(frozen=True, kw_only=True)
class _Mean:
    """The mean of a run by a measure; without `run_mean` it has no interval."""

    run: str
    measure: Measure
    evaluation: Evaluation
    run_mean: RunMean | None
    places: int

    @property
    def queries(self) -> int:
        return self.evaluation.coverage.scored if self.run_mean is None else self.run_mean.n

    @property
    def unjudged(self) -> Cell:
        evaluation = self.evaluation
        (share,) = Judgedness.of(evaluation, [self.measure], evaluation.queries).shares
        return share_cell(share)

    def mean(self) -> Cell:
        if self.run_mean is not None:
            return number_cell(self.run_mean.mean, self.places)
        plain = self.evaluation.mean().get(str(self.measure), math.nan)
        whole = self.measure.aggregate == "sum" and math.isfinite(plain)
        return Cell(f"{plain:,.0f}", plain) if whole else number_cell(plain)

    def interval(self) -> Cell:
        if self.run_mean is None:
            return Cell("-")
        return interval_cell(self.run_mean.interval, self.places)


def _of_run(subject: Subject, measure: Measure, run: str) -> _Mean:
    means = subject.means.get(str(measure), {})
    evaluation = subject.evaluations[subject.names.index(run)]
    return _Mean(
        run=run,
        measure=measure,
        evaluation=evaluation,
        run_mean=means.get(run),
        places=decimals(mean.interval for mean in means.values()),
    )


def _mean_columns(mean: str, interval: str) -> list[Column[_Mean]]:
    return [
        Column(title=mean, kind="number", cell=_Mean.mean),
        Column(title=interval, kind="number", cell=_Mean.interval),
    ]


def _level_of(subject: Subject) -> float:
    return _LEVEL if subject.comparison is None else subject.comparison.method.level


def _mark_cell(mark: VerdictMark) -> Cell:
    return Cell(mark.word, tone=mark.tone)


_MEASURE: Column[Line] = Column(title="measure", cell=lambda line: line.measure)
_PLAIN = Shown(USUAL, USUAL, None)


def pair_grid(pair: Pair) -> Table:
    """Build the table of one pair of runs, a row for each measure: means, difference, verdict, and
    unjudged documents.
    """
    rows = list(pair.measures.values())
    a, b = one_line(pair.a), one_line(pair.b)
    lacking: tuple[str, ...] = ()
    if all(row.unjudged_a is None for row in rows):
        lacking = ("unjudged a", "unjudged b")
    columns = difference_columns("page", Shown.on_page(rows), rows[0].level, a, b, without=lacking)
    notes = basis_notes((pair, row) for row in rows)
    return Table.of([_MEASURE, *columns], map(Line.of, rows), title=f"{b} against {a}", notes=notes)


def more_grid(pair: Pair) -> Table:
    """Build the further table of a pair, one row a measure."""
    columns = [_MEASURE, *difference_columns("page: more", _PLAIN, _LEVEL)]
    return Table.of(columns, map(Line.of, pair.measures.values()), title="More on each measure")


def every_pair_grid(comparison: Comparison, measure: str) -> Table:
    """List all pairs by one measure, a row for each, the pair that is shown first in front."""
    lines = [
        Line.of(pair.measures[measure], a=one_line(pair.a), b=one_line(pair.b))
        for pair in leading_pairs(comparison)
    ]
    rows = [line.row for line in lines]
    run_names: list[Column[Line]] = [
        Column(title="run", cell=lambda line: line.b),
        Column(title="against", cell=lambda line: line.a),
    ]
    columns = difference_columns("page: pairs", Shown.on_page(rows), comparison.method.level)
    notes = basis_notes((pair, pair.measures[measure]) for pair in comparison.pairs)
    return Table.of([*run_names, *columns], lines, title=f"All pairs by {measure}", notes=notes)


def slices_grid(pair: Pair, measure: str) -> Table | None:
    """List the slices of one pair by one measure, the worst first; None without slices."""
    row = pair.measures[measure]
    if row.slices is None:
        return None
    slice_names: Column[Line] = Column(title="slice", cell=lambda line: line.name)
    shown = Shown.on_page(row.slices.rows)
    a = one_line(pair.a)
    b = one_line(pair.b)
    columns = difference_columns("page: slices", shown, row.level, a, b)
    lines = [Line(of_slice, row.direction, one_line(of_slice.name)) for of_slice in row.slices]
    return Table.of([slice_names, *columns], lines, title=f"Slices by {measure}, the worst first")


def spread_grid(subject: Subject) -> Table:
    """Quantiles of the values of each query, by measure and run."""

    def at_zero(row: _Spread) -> Cell:
        return count_cell(int(np.count_nonzero(row.values == 0)))

    columns: list[Column[_Spread]] = [
        Column(title="measure", cell=lambda row: row.measure),
        Column(title="run", cell=lambda row: one_line(row.run)),
        *(_quantile(title, share) for title, share in _QUANTILES.items()),
        Column(title="at 0", kind="number", cell=at_zero),
        Column(title="queries", kind="number", cell=lambda row: count_cell(row.values.size)),
    ]
    rows = []
    for measure in subject.measures:
        values, counted = values_of(subject, measure)
        has_value = counted & np.isfinite(values)
        rows += [
            _Spread(str(measure), name, values[run, has_value[run]])
            for run, name in enumerate(subject.names)
        ]
    return Table.of(columns, rows, title="Quantiles of values of queries")


@dataclass(frozen=True)
class _Spread:
    """Values of the queries of one run."""

    measure: str
    run: str
    values: FloatArray


def _quantile(title: str, share: float) -> Column[_Spread]:
    def cell(row: _Spread) -> Cell:
        return number_cell(float(np.quantile(row.values, share)) if row.values.size else math.nan)

    return Column(title=title, kind="number", cell=cell)


@dataclass(frozen=True)
class _AtCutoff:
    """The mean of a run by a measure with one cutoff."""

    measure: str
    run: str
    mean: RunMean


def curves_grid(subject: Subject) -> Table:
    """Means at each cutoff with their intervals."""
    rows: list[_AtCutoff] = []
    for curve in subject.curves:
        for run, means in curve.means.items():
            rows += [
                _AtCutoff(f"{curve.measure}@{cutoff}", run, mean)
                for cutoff, mean in zip(curve.cutoffs, means, strict=True)
            ]
    places = decimals(row.mean.interval for row in rows)
    columns: list[Column[_AtCutoff]] = [
        Column(title="measure", cell=lambda row: row.measure),
        Column(title="run", cell=lambda row: one_line(row.run)),
        Column(title="mean", kind="number", cell=lambda row: number_cell(row.mean.mean, places)),
        Column(
            title=f"{100 * _level_of(subject):g} % interval",
            kind="number",
            cell=lambda row: interval_cell(row.mean.interval, places),
        ),
    ]
    return Table.of(columns, rows, title="Means at several cutoffs")


def robust_grid(robustness: Robustness) -> Table:
    """List the variants of the first measure that change the numbers, and their verdicts."""
    reference = robustness.reference
    changing = [
        variant for variant in robustness.variants if variant.status == "changes the numbers"
    ]
    rows = [variant for variant in (reference, *changing) if variant.row is not None]

    def changed(variant: Variant) -> str:
        return "as asked" if variant is reference else variant.change

    differences = difference_columns("page: robust", _PLAIN, robustness.method.level)
    columns: list[Column[Variant]] = [
        Column(title="changed", cell=changed),
        Column(title="measure", cell=lambda variant: variant.measure),
        *(column.of(_line) for column in differences),
        Column(title="turns", cell=_turned),
    ]
    title = f"{one_line(robustness.run_b)} against {one_line(robustness.run_a)}, by variant"
    return Table.of(columns, rows, title=title)


def _turned(variant: Variant) -> str:
    if variant.verdict_turns:
        return "the verdict"
    return "the sign" if variant.sign_turns else "-"


def _line(variant: Variant) -> Line:
    return Line.of(cast("Difference", variant.row))


def checks_grid(gated: Gated) -> Table:
    """List the checks of a gate, failures first."""
    places = gate_places(gated)

    def why(check: Check) -> str:
        clause = reach_text(gated, check) if check.carried else ""
        return reason_text(gated, check, places) + (f"; {clause}" if clause else "")

    columns: list[Column[Check]] = [
        Column(title="outcome", cell=lambda check: _mark_cell(mark_of_check(check, gated))),
        Column(title="measure", cell=lambda check: check.measure),
        Column(title="baseline", cell=lambda check: one_line(check.baseline)),
        Column(
            title="mean before",
            kind="number",
            cell=lambda check: number_cell(check.mean_baseline, places),
        ),
        Column(
            title="mean now", kind="number", cell=lambda check: number_cell(check.mean_run, places)
        ),
        Column(
            title="difference",
            kind="number",
            cell=lambda check: number_cell(check.difference, places, signed=True),
        ),
        Column(
            title="bound",
            kind="number",
            cell=lambda check: number_cell(check.bound, places, signed=True),
        ),
        Column(title="one-sided p", kind="number", cell=lambda check: p_cell(check.p_corrected)),
        Column(title="two-sided p", kind="number", cell=lambda check: p_cell(check.p_two_sided)),
        Column(title="detectable", kind="number", cell=lambda check: visible(check, places)),
        Column(
            title="unjudged before / now", kind="number", cell=lambda check: unjudged(check) or "-"
        ),
        Column(title="why", cell=why),
    ]
    rows = sorted(gated.checks, key=lambda check: (not check.decides, check.passed))
    notes = [] if all(check.decides for check in gated.checks) else [COMPANION]
    notes += [ANCHORED] if any(map(is_anchored, gated.checks)) else []
    return Table.of(columns, rows, title="Checks", notes=notes)


def contracts_grid(
    gated: Gated, texts: Mapping[str, str] | None = None, ids: Mapping[str, str] | None = None
) -> Table:
    """List the contracts of a gate, broken ones first; a query by its text if it has one, with its
    id, which may be shortened, in brackets.
    """
    columns: list[Column[KeptContract]] = [
        Column(title="outcome", cell=lambda kept: _mark_cell(mark_of_contract(kept, gated))),
        Column(
            title="query", cell=lambda kept: _named(kept.contract.query, texts or {}, ids or {})
        ),
        Column(title="measure", cell=lambda kept: kept.measure),
        Column(title="found", cell=demand),
        Column(title="from", cell=lambda kept: one_line(kept.contract.place) or "-"),
    ]
    rows = sorted(gated.contracts, key=lambda kept: kept.passed)
    return Table.of(columns, rows, title="Contracts")


def _named(query: str, texts: Mapping[str, str], ids: Mapping[str, str]) -> str:
    shown_id = one_line(ids.get(query, query))
    return f"{one_line(texts[query])} ({shown_id})" if texts.get(query) else shown_id


@dataclass(frozen=True, kw_only=True)
class Change:
    """A query on which two runs differ, or one value of a single run."""

    # query, text: Its id and text
    query: str
    text: str
    values: tuple[float, ...]  # Of a and b, or of the only run
    difference: float  # b - a; the value itself of a single run


def changes(
    subject: Subject, pair: tuple[int, int] | None, most: int
) -> tuple[Sequence[Change], Sequence[Change]]:
    """Return the queries that lost and that gained most by the first measure; of a single run the
    worst queries, and none.
    """
    measure = subject.measures[0]
    queries = queries_of(subject)
    values, counted = values_of(subject, measure)
    direction = measure.direction or 1
    runs = list(pair) if pair is not None else [0]
    columns = np.flatnonzero((counted[runs] & np.isfinite(values[runs])).all(axis=0))
    before = values[runs[0], columns] if pair is not None else 0.0
    gain = (values[runs[-1], columns] - before) * direction
    if pair is not None:
        largest = np.abs(values[runs][:, columns]).max(initial=0.0)
        # rounding is no change: a comparison counts it as equal
        gain = np.where(np.abs(gain) <= ROUNDING * largest, 0.0, gain)
    order = np.argsort(gain, kind="stable")

    def change(place: int) -> Change:
        column = columns[place]
        query = queries[column]
        return Change(
            query=query,
            text=subject.query_texts.get(query, ""),
            values=tuple(float(values[run, column]) for run in runs),
            difference=float(gain[place]) * direction,
        )

    if pair is None:
        return [change(place) for place in order[:most]], []
    worst = [change(place) for place in order[:most] if gain[place] < 0]
    best = [change(place) for place in order[::-1][:most] if gain[place] > 0]
    return worst, best
