"""Compare evaluations: the same queries, one test, one rule for families, five verdicts."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, combinations, islice
from typing import TYPE_CHECKING

import numpy as np

from idealrank._lazy import annotation
from idealrank.analysis.comparison.comparisons import (
    Comparison,
    Method,
    Overlapping,
    Pair,
    Rankings,
    rankings_by_names,
)
from idealrank.analysis.comparison.differences import Difference
from idealrank.analysis.comparison.families import (
    COMPANION_SLICES,
    COMPANIONS,
    DRAWS,
    MANY,
    PRIMARY,
    SLICES,
    Corrected,
    Hypothesis,
    corrected,
    keep_sums,
    name_of,
)
from idealrank.analysis.comparison.grade_bounds import GradeBounds
from idealrank.analysis.comparison.label_basis import LabelRules, Result, Support
from idealrank.analysis.comparison.margin_guard import slice_skew_caution
from idealrank.analysis.comparison.query_table import alike_columns, restricted
from idealrank.analysis.comparison.requirements import judged_by, refuse_unscored
from idealrank.analysis.comparison.standings import RunMean
from idealrank.analysis.comparison.study import Study
from idealrank.analysis.comparison.tipping import Question, critical_t
from idealrank.data.types import BoolArray
from idealrank.errors import Advised, OptionError, warn
from idealrank.measures.measure import Measure
from idealrank.stats.comparison import RESAMPLES, Plan, needed_by
from idealrank.stats.design import Design
from idealrank.stats.intervals import mean_interval
from idealrank.stats.randomness import Background
from idealrank.stats.sign_flips import MOST_UNITS, SharedFlips
from idealrank.stats.unseen_losses import error_rate_known
from idealrank.stats.values import chosen
from idealrank.version import __version__

if TYPE_CHECKING:
    from idealrank.analysis.comparison.slice_differences import Categories, Membership, Slices
else:
    Categories = annotation("idealrank.analysis.comparison.slice_differences", "Categories")
    Membership = annotation("idealrank.analysis.comparison.slice_differences", "Membership")
    Slices = annotation("idealrank.analysis.comparison.slice_differences", "Slices")

# Called with how many pairs are done, and of how many.
Tell = Callable[[int, int], None]

# of fewer, handing the interpreter from thread to thread takes longer than the threads save
_FEW_QUERIES = 500
_MANY_PAIRS = 20_000  # 201 runs: of more, time and memory grow until nothing else fits


def compared(
    study: Study,
    *,
    baseline: str | None = None,
    slices: "Categories | None" = None,
    rankings: "Overlapping | Iterable[Overlapping] | None" = None,
    tell: Tell | None = None,
) -> Comparison:
    """Compare the runs of a study; `idealrank.compare` documents each option."""
    evaluations, names, options = study.evaluations, study.names, study.options
    apart, queries = study.mismatches, study.queries
    membership = None if slices is None else _membership(queries, slices, len(names), baseline)
    chosen("correction", options.correction, ("auto", "holm"))
    many = len(names) > MANY
    cautions, design = study.cautions, study.design
    plan = options.plan(study.tables, DRAWS if many else RESAMPLES)
    rules = study.label_rules(every_measure=not many)
    wanted = _pairs(names, baseline)
    case = _Case(study=study, plan=plan, wanted=wanted, rules=rules)

    # Each of many pairs has little to do, so that one thread does it all.
    threads = 1 if many or len(queries) < _FEW_QUERIES else options.threads
    with Background(threads) as background:
        bounds = {pair: background.begin(partial(case.bounds, pair)) for pair in wanted}
        if rules.look_at_rates:
            background.begin(partial(rules.tippings.prepare, wanted[0]))
        alike = background.begin(
            partial(
                rankings_by_names,
                rankings,
                [evaluation.name for evaluation in evaluations],
                queries,
            )
        )
        tests = case.tested(alone=not many or options.margin is not None)
        pairs = case.pairs(tests, alike(), bounds, background, tell)

    method = replace(
        case.method(baseline, tests), judgments=judged_by(evaluations, options.judgments)
    )
    covers = {
        name: evaluation.coverage for name, evaluation in zip(names, evaluations, strict=True)
    }
    comparison = Comparison(
        names=names,
        pairs=pairs,
        method=method,
        convention=evaluations[0].convention,
        means=case.means(),
        missing={name: cover.missing for name, cover in covers.items()},
        unjudged={name: cover.unjudged_share for name, cover in covers.items()},
        unjudged_cutoff=evaluations[0].coverage.unjudged_cutoff,
        labels=rules.labels,
        labels_from=options.declared.labels_from,
        queries=queries,
        mismatches=apart,
        cautions=cautions,
    )
    comparison = case.in_slices(comparison, membership, tell)
    if apart:
        joined = tuple(_unjoined(pair, apart) for pair in comparison.pairs)
        comparison = replace(comparison, pairs=joined)
    further = _level_cautions(comparison, design, membership)
    return replace(comparison, cautions=tuple(dict.fromkeys([*cautions, *further])))


def _level_cautions(
    comparison: Comparison, design: Design, membership: "Membership | None"
) -> Iterator[str]:
    """Cautions about verdicts whose error rate is not known, or that these queries could not give:
    of margins, and of skewed differences.
    """
    clustered = design.clusters is not None
    cautions: list[str] = []
    for _, row in comparison.rows():
        cautions += row.level_cautions(comparison.method.largest_loss)
    cautions += comparison.rate_cautions
    for pair in comparison.pairs:
        for row in pair.measures.values():
            sliced = () if row.slices is None else row.slices.rows
            decided = [
                slice_row for slice_row in sliced if slice_row.verdict in ("better", "worse")
            ]
            if membership is None or not decided:
                continue
            verdicts = f"{pair.b} against {pair.a} by {row.measure}"
            whole, units = row.n, "queries"
            sizes = [slice_row.n for slice_row in decided]
            if clustered:
                whole, units = design.n_units, "clusters"
                within = [membership.within[slice_row.name] for slice_row in decided]
                sizes = [restricted(design, kept).n_units for kept in within]
            cautions.append(slice_skew_caution(verdicts, (row.skewness, whole), sizes, units))
    return filter(None, cautions)


def _unjoined(pair: Pair, apart: Mapping[str, str]) -> Pair:
    """The pair, without verdicts where a run does not join."""
    name = next((name for name in (pair.b, pair.a) if name in apart), None)
    return pair if name is None else pair.without_verdict(f"{name} {apart[name]}")


def _membership(
    queries: Sequence[str], categories: "Categories", n_runs: int, baseline: str | None
) -> "Membership":
    """Assign queries to slices; refuse so many tests that none could be significant."""
    from idealrank.analysis.comparison.slice_differences import Membership  # noqa: PLC0415  (few comparisons have slices)

    if n_runs > MANY and baseline is None:
        raise OptionError(
            f"slices: found {n_runs} runs to be compared with each other, expected at most {MANY}, "
            "or a baseline"
        )
    return Membership.of(queries, categories)


def _pairs(names: Sequence[str], baseline: str | None) -> list[tuple[int, int]]:
    if baseline is None:
        pairs = math.comb(len(names), 2)
        if pairs > _MANY_PAIRS:
            hints = [
                f"{option} compares each with one run instead"
                for option in ("baseline=", "--baseline")
            ]
            warn(Advised(f"{len(names):,} runs make {pairs:,} pairs, which take long", *hints))
        return list(combinations(range(len(names)), 2))
    if baseline not in names:
        raise OptionError(
            f"baseline {baseline!r}: found no run of that name, expected one of {', '.join(names)}"
        )
    first = names.index(baseline)
    return [(first, other) for other in range(len(names)) if other != first]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Case:
    """Pairs of a study, their test, and the rules of their labels."""

    study: Study
    plan: Plan
    wanted: Sequence[tuple[int, int]]
    rules: LabelRules

    def tested(self, *, alone: bool) -> list[list[Corrected]]:
        """Every pair by every measure: the primary measure over all pairs is one family, its
        companions over all pairs another.
        """
        columns = range(len(self.study.measures))
        rows = [[self._test(pair, column) for column in columns] for pair in self.wanted]
        families = [row[0] for row in rows], list(chain.from_iterable(row[1:] for row in rows))
        self._enough_draws(max(map(len, families)))
        # Each column is tested alone and in its family, by the same flips.
        plan = replace(self.plan, flips=SharedFlips(self.plan.seed))
        if alone:
            keep_sums(list(chain.from_iterable(rows)), self.study.design, plan)
        primary, companions = (
            corrected(family, self.study.design, plan, self.study.options.correction, alone=alone)
            for family in families
        )
        rest = iter(companions)
        return [[first, *islice(rest, len(columns) - 1)] for first in primary]

    def _test(self, pair: tuple[int, int], column: int) -> Hypothesis:
        first, second = (self.study.tables[run] for run in pair)
        test = Hypothesis(first, second, column, self._everywhere)
        refuse_unscored(
            self.study.measures[column],
            (self.study.names[pair[0]], self.study.names[pair[1]]),
            test.counted,
        )
        return test

    @cached_property
    def _everywhere(self) -> BoolArray:
        return np.ones(self.study.design.n, np.bool_)

    def _enough_draws(self, tests: int) -> None:
        """Refuse so many tests that no corrected p value could be small, whatever the values."""
        plan = self.plan
        drawn = (
            self.study.options.correction == "holm"
            and plan.test == "permutation"
            and self.study.design.n_units > MOST_UNITS
        )
        if drawn and tests > plan.alpha * (plan.n_resamples + 1):
            raise OptionError(
                f"found {tests:,} tests and {plan.n_resamples:,} draws: after Holm's correction no "
                f"p could be as small as {plan.alpha:g}",
                hint="compare fewer measures or runs, name a baseline, or set test='t', or "
                "n_resamples to more draws",
                command_hint="compare fewer measures or runs, name one run with --baseline, or "
                "set --test t",
            )

    def means(self) -> dict[str, dict[str, RunMean]]:
        """Means of every run by every measure."""
        return {
            str(measure): dict(zip(self.study.names, self._means_by(column), strict=True))
            for column, measure in enumerate(self.study.measures)
        }

    def _means_by(self, column: int) -> list[RunMean]:
        """Runs that are scored on the same queries have their means taken together."""
        counted = np.stack([table.counted[:, column] for table in self.study.tables], axis=1)
        values = np.stack([table.values[:, column] for table in self.study.tables], axis=1)
        means = [RunMean(math.nan, (math.nan, math.nan), 0)] * len(self.study.names)
        for kept, runs in alike_columns(counted):
            n = int(kept.sum())
            if not n:
                continue
            interval = mean_interval(
                values[np.ix_(kept, runs)],
                level=self.plan.level,
                design=restricted(self.study.design, kept),
            )
            columns = (runs, interval.estimate, interval.low, interval.high)
            for run, mean, low, high in zip(*(column.tolist() for column in columns), strict=True):
                means[run] = RunMean(mean, (low, high), n)
        return means

    def bounds(self, pair: tuple[int, int]) -> GradeBounds | None:
        """Bounds of the difference of a pair by the primary measure, where there are some; they do
        not depend on any test.
        """
        if not self.rules.look_at_rates:
            return None
        kept = self.study.tables[pair[0]].counted[:, 0] & self.study.tables[pair[1]].counted[:, 0]
        return self.rules.tippings.bounds(pair, 0, kept, restricted(self.study.design, kept))

    def pairs(
        self,
        tests_by_pair: Sequence[Sequence[Corrected]],
        alike: Mapping[tuple[str, str], Rankings],
        bounds: Mapping[tuple[int, int], Callable[[], GradeBounds | None]],
        background: Background,
        tell: Tell | None,
    ) -> tuple[Pair, ...]:
        """All pairs; `tell` is called after each."""
        pairs = []
        for (a, b), tests in zip(self.wanted, tests_by_pair, strict=True):
            rows = self._rows(a, b, tests, background)
            rows[0] = replace(rows[0], bounds=bounds[a, b]())
            first, second = self.study.names[a], self.study.names[b]
            by_measure = dict(zip(map(str, self.study.measures), rows, strict=True))
            pairs.append(
                Pair(a=first, b=second, measures=by_measure, rankings=alike.get((first, second)))
            )
            if tell is not None:
                tell(len(pairs), len(self.wanted))
        return tuple(pairs)

    def _rows(
        self, a: int, b: int, tests: Sequence[Corrected], background: Background
    ) -> list[Difference]:
        """Each difference of two runs with its further results."""
        both = self.study.tables[a].counted & self.study.tables[b].counted
        same = int((self.study.tables[a].equal(self.study.tables[b]) & both).all(axis=1).sum())
        ours, theirs = self.study.judgedness[a], self.study.judgedness[b]

        def row_of(column: int) -> Difference:
            measure, test, kept = self.study.measures[column], tests[column], both[:, column]
            design = restricted(self.study.design, kept)
            unjudged_a, unjudged_b, judged = ours.beside(theirs, column, kept, design)
            row = replace(
                difference_of(measure, test, self.plan),
                excluded_queries=int((~kept).sum()),
                identical_queries=same,
                unjudged_a=unjudged_a,
                unjudged_b=unjudged_b,
                difference_judged=judged,
                judged_reason=ours.judged_reason(theirs, column) if judged is None else None,
                family=COMPANIONS if column else PRIMARY,
            )
            row = self._supported(row, (a, b), column, test, kept)
            known = self._rate_known(row, (a, b), column, test)
            return replace(row, error_rate_known=known)

        begun = [
            background.begin(partial(row_of, column)) for column in range(len(self.study.measures))
        ]
        return [row() for row in begun]

    def _rate_known(
        self, row: Difference, pair: tuple[int, int], column: int, test: Corrected
    ) -> bool:
        """Return whether rare large differences that these queries lack cannot change a verdict
        better or worse.
        """
        if row.verdict not in ("better", "worse"):
            return True
        first, second = (self.study.tables[run] for run in pair)
        kept = first.counted[:, column] & second.counted[:, column]
        lean = math.copysign(1.0, test.found.lean)
        differences = (second.values[kept, column] - first.values[kept, column]) * lean
        span = first.spans[column] if first.spans else math.inf
        return error_rate_known(
            differences, span, test.alpha / 2, design=restricted(self.study.design, kept)
        )

    def _supported(
        self, row: Difference, pair: tuple[int, int], column: int, test: Corrected, kept: BoolArray
    ) -> Difference:
        """The row with its basis, and without a verdict that the labels do not support."""
        if self.rules.look_at_rates and test.found.lean * test.found.difference < 0:
            return replace(
                row, tipping_reason="the side of the test is not that of the mean difference"
            )
        question = Question(test.critical, observed=test.observed)
        if row.verdict == "equivalent":
            critical = critical_t(self.plan.alpha / test.tests, test.found.df, 1)
            question = Question(critical, margin=None if row.margin is None else row.margin.applied)
        first, second = (self.study.tables[run].values[:, column] for run in pair)
        result = Result(
            pair=pair,
            column=column,
            differences=second - first,
            kept=kept,
            design=restricted(self.study.design, kept),
            question=question,
        )
        support = self.rules.support(
            result,
            all_labelled=(row.unjudged_a, row.unjudged_b) == (0.0, 0.0),
            count_labels=not column
            and row.verdict != "undecided"
            and len(self.study.names) <= MANY,
        )
        return supported(row, support)

    def method(self, baseline: str | None, tests_by_pair: Sequence[Sequence[Corrected]]) -> Method:
        """Method of the comparison."""
        plan, design, pairs = self.plan, self.study.design, len(self.wanted)
        sizes = {PRIMARY: pairs}
        if len(self.study.measures) > 1:
            sizes[COMPANIONS] = pairs * (len(self.study.measures) - 1)
        # Of fewer units every sign vector is looked at; of a family of tests, where there are no
        # more of them than draws.
        exact = all(test.found.exact for test in chain.from_iterable(tests_by_pair))
        drawn = plan.test == "permutation" and (design.n_units > MOST_UNITS or not exact)
        correction = name_of(plan, max(sizes.values()), self.study.options.correction)
        return method_of(
            plan, design, drawn=drawn, families=sizes, correction=correction, baseline=baseline
        )

    def in_slices(
        self, comparison: Comparison, membership: "Membership | None", tell: Tell | None
    ) -> Comparison:
        """The comparison with the slices of every difference, where there are some."""
        if membership is None:
            return comparison
        from idealrank.analysis.comparison.slice_differences import sliced  # noqa: PLC0415  (few comparisons have slices)

        tables = [(self.study.tables[a], self.study.tables[b]) for a, b in self.wanted]
        directions = [measure.direction for measure in self.study.measures]
        carries = partial(self._carries, membership)
        slices_by_pair = sliced(
            pairs=tables,
            directions=directions,
            membership=membership,
            design=self.study.design,
            plan=self.plan,
            correction=self.study.options.correction,
            carries=carries,
            tell=tell,
        )
        pairs = tuple(map(_with_slices, comparison.pairs, slices_by_pair))
        sizes = {
            name: slices_by_pair[0][place].tests
            for place, name in enumerate((SLICES, COMPANION_SLICES))
            if place < len(self.study.measures)
        }
        families = {**comparison.method.families, **sizes}
        correction = comparison.method.correction
        if correction == "none":  # of one pair and measure: only its slices are a family
            first, *_ = slices_by_pair[0]
            correction = first.correction
        method = replace(
            comparison.method,
            families=families,
            correction=correction,
            slices=membership.counts(),
        )
        return replace(comparison, pairs=pairs, method=method)

    def _carries(
        self, membership: "Membership", place: int, column: int, name: str, test: Corrected
    ) -> bool:
        """Return whether the judgments of a slice's own queries support its result."""
        if self.rules.look_at_rates and test.found.lean * test.found.difference < 0:
            return True
        first, second = (self.study.tables[run] for run in self.wanted[place])
        within = membership.within[name]
        kept = first.counted[:, column] & second.counted[:, column] & within
        result = Result(
            pair=self.wanted[place],
            column=column,
            differences=second.values[:, column] - first.values[:, column],
            kept=kept,
            design=restricted(self.study.design, kept),
            question=Question(test.critical, observed=test.observed),
        )
        return self.rules.stands_within(result, within)


def _with_slices(pair: Pair, slices_by_measure: "Sequence[Slices]") -> Pair:
    """Add the slices of each measure to the rows of a pair."""
    rows = zip(pair.measures.items(), slices_by_measure, strict=True)
    measures = {text: replace(row, slices=slices) for (text, row), slices in rows}
    return replace(pair, measures=measures)


def method_of(
    plan: Plan,
    design: Design,
    *,
    drawn: bool,
    families: Mapping[str, int],
    correction: str = "none",
    baseline: str | None = None,
) -> Method:
    """Method of a comparison by a plan; `drawn` tells whether its sign vectors were drawn, so that
    their number and seed matter.
    """
    return Method(
        test=plan.test,
        level=plan.level,
        margin=plan.margin,
        largest_loss=plan.largest_loss,
        power=plan.power,
        n_resamples=plan.n_resamples if drawn else None,
        seed=plan.seed if drawn else None,
        correction=correction,
        families=families,
        baseline=baseline,
        weighted=design.weights is not None,
        clustered=design.clusters is not None,
        version=__version__,
        effect=plan.effect,
    )


def supported(row: Difference, support: Support) -> Difference:
    """A row with what supports it, and without its verdict where the labels do not support it."""
    withheld = row.verdict in ("better", "worse", "equivalent") and not support.stands
    return replace(
        row,
        tipping=support.tipping,
        tipping_reason=support.reason,
        basis=support.basis,
        verdict="too few judgments" if withheld else row.verdict,
    )


def difference_of(measure: Measure, corrected: Corrected, plan: Plan) -> Difference:
    """One row of a comparison: what was found, what the correction makes of it, and the verdict."""
    return Difference.of(
        corrected,
        plan,
        measure.direction,
        measure=str(measure),
        direction=measure.direction,
        level=plan.level,
        p_equivalence=corrected.equivalence,
        margin=corrected.found.margin,
        skewness=corrected.found.skewness,
        queries_needed=needed_by(corrected.found, plan, corrected.alpha),
        family=PRIMARY,
    )
