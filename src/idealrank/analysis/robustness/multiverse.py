"""One comparison made in many ways: a multiverse of conventions, cutoffs and measures, tested
alike.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np

from idealrank.analysis.comparison.comparisons import Method, distinct
from idealrank.analysis.comparison.difference_rows import verdict_of
from idealrank.analysis.comparison.differences import Difference
from idealrank.analysis.comparison.families import PRIMARY, Corrected, Hypothesis
from idealrank.analysis.comparison.margin_guard import guarded_alone
from idealrank.analysis.comparison.procedure import compared, difference_of, method_of
from idealrank.analysis.comparison.query_table import (
    QueryTable,
    alike_columns,
    design_by_query,
    unfit,
    weights_cautions,
)
from idealrank.analysis.comparison.requirements import mismatches_of, refuse_unscored, unscored
from idealrank.analysis.comparison.study import PLAIN, Study, StudyOptions
from idealrank.analysis.comparison.tipping import critical_t
from idealrank.analysis.robustness.robustness import (
    Robustness,
    Status,
    Variant,
    gain_of,
    leads,
    standing_of,
    turns,
)
from idealrank.analysis.robustness.run_values import Grid, MeasureValues, RunValues
from idealrank.analysis.robustness.variants import (
    AS_ASKED,
    PRESET,
    Alternative,
    ComparisonRequest,
    joined,
)
from idealrank.conventions import Convention, array_convention
from idealrank.data.join import tables_of, ties_for
from idealrank.data.lists import Lists, array_alignment
from idealrank.data.one_query import in_memory_where_distinct
from idealrank.data.run import Run
from idealrank.data.types import BoolArray
from idealrank.errors import IdealrankWarning, InputError, OptionError, warn
from idealrank.evaluation.evaluate import evaluate
from idealrank.evaluation.sweep import JudgmentsSource, Readings, Sweep
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, default_measures, parse_run_measure
from idealrank.stats.comparison import MeasureTest, Plan, compare_columns
from idealrank.stats.design import Design
from idealrank.stats.randomness import in_order, whole_number
from idealrank.stats.sign_flips import MOST_UNITS

# Called with alignments done, and of how many.
Tell = Callable[[int, int], None]

_MOST_CONVENTIONS = 3  # conventions that are taken apart, of those that turn the verdict


@dataclass(frozen=True, kw_only=True)
class VariedComparison:
    """A comparison that is repeated in other ways; `idealrank.robust` documents each option."""

    measure: MeasureLike = "nDCG@10"
    convention: "Convention | str" = "standard"
    variants: "Iterable[str] | None" = None
    pairs: int = 8
    options: StudyOptions = PLAIN

    def __post_init__(self) -> None:
        whole_number("pairs", self.pairs, 0)


def robust_runs(
    judgments: JudgmentsSource,
    runs: tuple[Run, Run],
    varied: VariedComparison,
    *,
    tell: Tell | None = None,
) -> Robustness:
    """Compare two runs as asked, and in every other way, without warnings of odd data."""
    readings = Readings(judgments)
    threads = varied.options.threads or 0
    parsed = parse_run_measure(varied.measure)
    tables = tables_of(readings.some)
    parsed.check_tables(tables)

    def adapted(variant_convention: Convention) -> Convention:
        return Convention.of(
            variant_convention, ties=ties_for(readings.some, variant_convention.alignment.ties)
        )

    request = ComparisonRequest(
        measure=_required_fit(parsed),
        convention=adapted(Convention.of(varied.convention)),
        grades=readings.grades,
        others=default_measures(tables),
        arrays=False,
    )
    names = distinct([run.name for run in runs])
    # Each run is ranked in many ways, so that its lines are read and joined once.
    in_memory = tuple(in_order(lambda place: in_memory_where_distinct(runs[place]), 2, threads))
    sides = [
        RunValues(name, Sweep.of_run(readings, run, threads=threads))
        for run, name in zip(in_memory, names, strict=True)
    ]
    multiverse = _Multiverse(
        a=sides[0],
        b=sides[1],
        request=request,
        adapted=adapted,
        options=varied.options,
        tell=tell,
    )
    robustness = multiverse.robustness(varied.variants, varied.pairs)
    return _as_far_as_judged(robustness, parsed, readings, in_memory, varied.options)


def _as_far_as_judged(
    robustness: Robustness,
    measure: Measure,
    readings: Readings,
    runs: Sequence[Run],
    options: StudyOptions,
) -> Robustness:
    """The result with the tipping point of the comparison asked for."""
    convention = robustness.convention
    with warnings.catch_warnings():
        # all was said when the variants were made
        warnings.simplefilter("ignore", IdealrankWarning)
        evaluations = [
            evaluate(
                readings.under(convention.alignment.duplicates),
                run,
                measure,
                convention,
                keep_unjudged=True,
                threads=options.threads or 0,
            )
            for run in runs
        ]
    seeded = replace(options, rng=robustness.method.seed)
    comparison = compared(Study.of(evaluations, measure, seeded))
    row = comparison.pairs[0][measure]
    return replace(
        robustness,
        tipping=row.tipping,
        tipping_reason=row.tipping_reason,
        basis=row.basis,
        labels=comparison.labels,
        labels_from=comparison.labels_from,
        cautions=comparison.cautions,
    )


def robust_lists(
    lists: tuple[Lists, Lists], varied: VariedComparison, *, tell: Tell | None = None
) -> Robustness:
    """Run `robust_runs` for two sets of scores of the same labels."""

    def adapted(variant_convention: Convention) -> Convention:
        return Convention.of(
            variant_convention, ties=array_alignment(variant_convention.alignment).ties
        )

    threads = varied.options.threads or 0
    grades = [float(grade) for grade in np.unique(lists[0].labels)]
    request = ComparisonRequest(
        measure=_required_fit(parse_run_measure(varied.measure)),
        convention=array_convention(varied.convention),
        grades=grades,
        others=default_measures(),
        arrays=True,
    )
    sides = [
        RunValues(name, Sweep.of_lists(side, threads=threads))
        for side, name in zip(lists, ("A", "B"), strict=True)
    ]
    multiverse = _Multiverse(
        a=sides[0],
        b=sides[1],
        request=request,
        adapted=adapted,
        options=varied.options,
        tell=tell,
    )
    robustness = multiverse.robustness(varied.variants, varied.pairs)
    for caution in robustness.cautions:
        warn(caution)
    return robustness


def _required_fit(measure: Measure) -> Measure:
    """The measure, refused if its means do not show which run is better."""
    if reason := unfit(measure):
        raise OptionError(f"{measure}: {reason}")
    return measure


class _Tried(NamedTuple):
    """An alternative with the values of both runs, or why it has none."""

    alternative: Alternative
    columns: "tuple[MeasureValues, MeasureValues] | None"
    reason: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Multiverse:
    """Both runs, the requested comparison, and its test."""

    a: RunValues
    b: RunValues
    request: ComparisonRequest
    adapted: Callable[[Convention], Convention]
    options: StudyOptions
    tell: Tell | None

    def robustness(self, requested: "Iterable[str] | None", most_pairs: int) -> Robustness:
        """The reference comparison with all requested variants, by default all there are."""
        alternatives = self.request.alternatives(requested)
        first, *others = self._tried([self.request.reference, *alternatives])
        if first.columns is None:
            raise InputError(f"{self.request.measure}: {first.reason}")
        unjoined = self._mismatches(first, first.columns)
        grid = Grid.of([first.columns])
        plan = self.options.plan([QueryTable(side, np.isfinite(side)) for side in (grid.a, grid.b)])
        reference, *variants = self._compared([first, *others], plan)
        turned = any(
            trial.alternative.changes and turns(variant, reference)
            for variant, trial in zip(variants, others, strict=True)
        )
        pairs: list[Variant] = []
        if leads(reference) and not turned:
            pairs = self._two_at_a_time(first, others, [reference, *variants], plan, most_pairs)
        return Robustness(
            run_a=self.a.name,
            run_b=self.b.name,
            measure=str(self.request.measure),
            convention=self.request.convention,
            reference=reference,
            variants=tuple(variants),
            pairs=tuple(pair for pair in pairs if turns(pair, reference)),
            pairs_tried=len(pairs),
            lacking=self.request.lacking() if requested is None else {},
            method=self._method(plan, grid),
            mismatches=unjoined,
            cautions=weights_cautions(self._design_of(grid, grid.counted[:, 0]), plan.test),
        )

    def _mismatches(
        self, reference: _Tried, columns: tuple[MeasureValues, MeasureValues]
    ) -> dict[str, str]:
        alignment = reference.alternative.convention.alignment
        measure = _measure(reference)
        coverages = {side.name: side.coverage(alignment, measure) for side in (self.a, self.b)}
        return mismatches_of(coverages, measure, [column.values for column in columns])

    def _method(self, plan: Plan, grid: Grid) -> Method:
        design = self._design_of(grid, grid.counted[:, 0])
        drawn = plan.test == "permutation" and design.n_units > MOST_UNITS
        return method_of(plan, design, drawn=drawn, families={PRIMARY: 1})

    @property
    def _names(self) -> tuple[str, str]:
        return self.a.name, self.b.name

    def _design_of(self, grid: Grid, kept: BoolArray) -> Design:
        queries = [
            query for query, counts in zip(grid.queries, kept.tolist(), strict=True) if counts
        ]
        return design_by_query(queries, self.options.weights, self.options.clusters)

    def _tried(self, alternatives: Sequence[Alternative]) -> list[_Tried]:
        adapted = [
            replace(alternative, convention=self.adapted(alternative.convention))
            for alternative in alternatives
        ]
        computations = [
            (alternative.convention.alignment, alternative.measure)
            for alternative in adapted
            if alternative.measure is not None
        ]
        jobs: list[Callable[[], None]] = []
        for side in (self.a, self.b):
            for alignment, measures in side.jobs(computations).items():
                jobs.append(partial(side.compute, alignment, measures))
        for done, job in enumerate(jobs, start=1):
            job()
            if self.tell is not None:
                self.tell(done, len(jobs))
        return [self._with_columns(alternative) for alternative in adapted]

    def _with_columns(self, alternative: Alternative) -> _Tried:
        if alternative.measure is None:
            return _Tried(alternative, None, alternative.reason)
        a, b = (
            side.column(alternative.convention.alignment, alternative.measure)
            for side in (self.a, self.b)
        )
        if isinstance(a, MeasureValues) and isinstance(b, MeasureValues):
            return _Tried(alternative, (a, b))
        return _Tried(alternative, None, a if isinstance(a, str) else str(b))

    def _compared(self, tried: Sequence[_Tried], plan: Plan) -> list[Variant]:
        """All of them as variants, the first of which is the reference."""
        usable = [trial for trial in tried if trial.columns is not None]
        grid = Grid.of([trial.columns for trial in usable if trial.columns is not None])
        original_of = grid.repetitions()
        tests = self._tested(grid, list(dict.fromkeys(original_of)), plan)
        variants: list[Variant] = []
        columns = iter(range(len(usable)))
        for trial in tried:
            if trial.columns is None:
                variants.append(_variant(trial.alternative, reason=trial.reason))
                continue
            column = next(columns)
            original = original_of[column]
            test = tests[original]
            if isinstance(test, str):
                variants.append(_variant(trial.alternative, reason=test))
                continue
            test = self._guarded(grid, original, test, trial, plan)
            row = _row_alone(_measure(trial), test, plan, grid.hypothesis(column))
            repeats = "" if original == column else usable[original].alternative.text
            reference = variants[0].row if variants else None
            variants.append(_variant(trial.alternative, row, reference, same_as=repeats))
        return variants

    def _guarded(
        self, grid: Grid, column: int, test: MeasureTest, trial: _Tried, plan: Plan
    ) -> MeasureTest:
        """The test of a variant, whose equivalence rare large losses cannot undo."""
        kept = grid.counted[:, column]
        unanswerable = {query for side in trial.columns or () for query in side.unanswerable}
        answerable = np.array([query not in unanswerable for query in grid.queries])[kept]
        least, greatest = _measure(trial).bounds
        return guarded_alone(
            test,
            (grid.a[kept, column], grid.b[kept, column]),
            self._design_of(grid, kept),
            plan,
            answerable=answerable,
            span=greatest - least,
        )

    def _tested(
        self, grid: Grid, columns: Sequence[int], plan: Plan
    ) -> "dict[int, MeasureTest | str]":
        """The tests of some columns; those that count the same queries together, by the same
        signs.
        """
        tests: dict[int, MeasureTest | str] = {}
        for counted, places in alike_columns(grid.counted[:, columns]):
            members = [columns[place] for place in places.tolist()]
            if 0 in members:
                refuse_unscored(self.request.measure, self._names, counted)
            if not counted.any():
                tests |= dict.fromkeys(members, unscored(self.request.measure, self._names))
                continue
            try:
                design = self._design_of(grid, counted)
            except InputError as error:
                if 0 in members:
                    raise
                tests |= dict.fromkeys(members, str(error))
                continue
            block = np.ix_(counted, np.array(members))
            rows = compare_columns(grid.a[block], grid.b[block], design, plan)
            tests |= dict(zip(members, rows, strict=True))
        return tests

    def _two_at_a_time(
        self,
        first: _Tried,
        others: Sequence[_Tried],
        compared: Sequence[Variant],
        plan: Plan,
        most_pairs: int,
    ) -> list[Variant]:
        """Two changes at once: of switches that leave the leader least ahead, and of those in which
        a convention that turns it differs.
        """
        if not most_pairs:
            return []
        reference, *variants = compared
        closest: dict[str, tuple[float, Alternative]] = {}  # by group, with the leader's lead
        conventions: list[Alternative] = []
        for trial, variant in zip(others, variants, strict=True):
            if variant.status != "changes the numbers":
                continue
            if len(trial.alternative.changes) == 1:
                lead = standing_of(variant, reference)
                smallest, _ = closest.get(variant.group, (lead, None))
                if not smallest < lead:  # of equal leads, and of NaN, the last one
                    closest[variant.group] = lead, trial.alternative
            elif variant.group == PRESET and turns(variant, reference):
                conventions.append(trial.alternative)
        by_lead = sorted(closest.values(), key=lambda entry: entry[0])[:most_pairs]
        sets = [[alternative for _, alternative in by_lead]]
        sets += map(self.request.taken_apart, conventions[:_MOST_CONVENTIONS])
        pairs: dict[str, Alternative] = {}
        for members in sets:
            for change, other in combinations(members, 2):
                pair = joined(change, other, self.request)
                pairs[pair.text] = pair
        if not pairs:
            return []
        _, *compared_pairs = self._compared([first, *self._tried(list(pairs.values()))], plan)
        return compared_pairs


def _measure(trial: _Tried) -> Measure:
    if trial.alternative.measure is None:
        raise ValueError(f"{trial.alternative.text}: has values and no measure")
    return trial.alternative.measure


def _row_alone(
    measure: Measure, test: MeasureTest, plan: Plan, hypothesis: Hypothesis
) -> Difference:
    """Row of a test that is corrected for no other."""
    alone = Corrected(
        hypothesis=hypothesis,
        found=test,
        p=test.p,
        equivalence=None if plan.margin is None else test.p_equivalence,
        alpha=plan.alpha,
        critical=critical_t(plan.alpha, test.df, plan.sides),
        tests=1,
    )
    verdict = verdict_of(alone, measure.direction, plan.alpha)
    return difference_of(
        measure, alone, plan, verdict, family="none", excluded_queries=hypothesis.excluded
    )


def _variant(
    alternative: Alternative,
    row: Difference | None = None,
    reference: Difference | None = None,
    *,
    same_as: str = "",
    reason: str = "",
) -> Variant:
    """An alternative with what was found; `same_as` is ``"as asked"`` where nothing changes."""
    status: Status = "refused" if row is None else "changes the numbers"
    if same_as:
        status = "no effect" if same_as == AS_ASKED else "repeats"
    lead = 0.0 if reference is None else gain_of(reference)
    sign_turns = verdict_turns = False
    if row is not None:
        sign_turns = lead != 0 and gain_of(row) * lead <= 0
        verdict_turns = reference is not None and row.verdict != reference.verdict
    return Variant(
        group=alternative.group,
        change=alternative.text,
        measure="" if alternative.measure is None else str(alternative.measure),
        convention=alternative.convention,
        status=status,
        same_as="" if same_as == AS_ASKED else same_as,
        reason=reason,
        row=row,
        sign_turns=sign_turns,
        verdict_turns=verdict_turns,
    )
