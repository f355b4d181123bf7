"""Compare evaluations: the same queries, one test, one rule for families, five verdicts."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, combinations, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from idealrank._lazy import annotation
from idealrank.analysis.comparison.comparisons import (
    Comparison,
    Method,
    Pair,
    rate_cautions,
    rows_of,
)
from idealrank.analysis.comparison.difference_rows import Verdict, verdict_of
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
from idealrank.analysis.comparison.rankings import Overlapping, Rankings, rankings_by_names
from idealrank.analysis.comparison.requirements import judged_by, refuse_unscored
from idealrank.analysis.comparison.standings import RunMean
from idealrank.analysis.comparison.study import Study
from idealrank.analysis.comparison.tipping import Question, critical_t
from idealrank.data.types import BoolArray
from idealrank.errors import Advised, OptionError, warn
from idealrank.measures.measure import Measure
from idealrank.stats.comparison import RESAMPLES, Plan, needed_by, visible_by
from idealrank.stats.design import Design
from idealrank.stats.intervals import mean_interval
from idealrank.stats.randomness import Background
from idealrank.stats.sign_flips import MOST_UNITS, SharedFlips
from idealrank.stats.unseen_losses import error_rate_known
from idealrank.stats.values import chosen
from idealrank.version import __version__

if TYPE_CHECKING:
    from idealrank.analysis.comparison.slice_differences import Slices
    from idealrank.analysis.comparison.slice_membership import Categories, Membership
else:
    Categories = annotation("idealrank.analysis.comparison.slice_membership", "Categories")
    Membership = annotation("idealrank.analysis.comparison.slice_membership", "Membership")
    Slices = annotation("idealrank.analysis.comparison.slice_differences", "Slices")

# Called with how many pairs are done, and of how many.
Tell = Callable[[int, int], None]

# With fewer queries, handing the interpreter from thread to thread takes longer than the threads
# save.
_FEW_QUERIES = 500
_MANY_PAIRS = 20_000  # 200 runs have 19,900; more pairs take long and much memory


def compared(
    study: Study,
    *,
    baseline: str | None = None,
    slices: "Categories | None" = None,
    rankings: "Overlapping | Iterable[Overlapping] | None" = None,
    tell: Tell | None = None,
) -> Comparison:
    """Compare the runs of a study; `idealrank.compare` documents each option."""
    evaluations = study.evaluations
    names = study.names
    options = study.options
    mismatches = study.mismatches
    queries = study.queries
    membership = None if slices is None else _membership(queries, slices, len(names), baseline)
    chosen("correction", options.correction, ("auto", "holm"))
    many = len(names) > MANY
    cautions = study.cautions
    plan = options.plan(study.tables, DRAWS if many else RESAMPLES)
    rules = study.label_rules(every_measure=not many)
    run_pairs = _pairs(names, baseline)
    case = _Case(study=study, plan=plan, run_pairs=run_pairs, rules=rules, membership=membership)

    # Each of many pairs has little to do, so that one thread does it all.
    threads = 1 if many or len(queries) < _FEW_QUERIES else options.threads
    with Background(threads) as background:
        bounds = [background.begin(partial(case.bounds, pair)) for pair in run_pairs]
        if rules.rests_on_rates:
            background.begin(partial(rules.tippings.prepare, run_pairs[0]))
        alike = background.begin(
            partial(
                rankings_by_names,
                rankings,
                [evaluation.name for evaluation in evaluations],
                queries,
            )
        )
        tests = case.tested(alone=not many or options.margin is not None)
        of_slices = case.slices(tell)
        pairs = case.pairs(
            list(map(_Findings, tests, of_slices, bounds)),
            alike(),
            background=background,
            tell=tell,
        )

    covers = {
        name: evaluation.coverage for name, evaluation in zip(names, evaluations, strict=True)
    }
    return Comparison(
        names=names,
        pairs=pairs,
        method=case.method(baseline, tests, of_slices),
        convention=evaluations[0].convention,
        means=case.means(),
        missing={name: cover.missing for name, cover in covers.items()},
        unjudged={name: cover.unjudged_share for name, cover in covers.items()},
        unjudged_cutoff=evaluations[0].coverage.unjudged_cutoff,
        labels=rules.labels,
        labels_from=options.declared.labels_from,
        queries=queries,
        mismatches=mismatches,
        cautions=tuple(dict.fromkeys([*cautions, *filter(None, case.level_cautions(pairs))])),
    )


def _membership(
    queries: Sequence[str], categories: "Categories", n_runs: int, baseline: str | None
) -> "Membership":
    """Assign queries to slices; refuse so many tests that none could be significant."""
    from idealrank.analysis.comparison.slice_membership import Membership  # noqa: PLC0415  (few comparisons have slices)

    if n_runs > MANY and baseline is None:
        raise OptionError(
            f"slices: found {n_runs} runs to be compared with each other, expected at most {MANY}, "
            "or a baseline"
        )
    return Membership.of(queries, categories)


def _pairs(names: Sequence[str], baseline: str | None) -> list[tuple[int, int]]:
    if baseline is None:
        n_pairs = math.comb(len(names), 2)
        if n_pairs > _MANY_PAIRS:
            hints = [
                f"{option} compares each with one run instead"
                for option in ("baseline=", "--baseline")
            ]
            warn(Advised(f"{len(names):,} runs make {n_pairs:,} pairs, which take long", *hints))
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
    run_pairs: Sequence[tuple[int, int]]
    rules: LabelRules
    membership: "Membership | None"

    def tested(self, *, alone: bool) -> list[list[Corrected]]:
        """Every pair by every measure: the primary measure over all pairs is one family, its
        companions over all pairs another.
        """
        columns = range(len(self.study.measures))
        rows = [[self._test(pair, column) for column in columns] for pair in self.run_pairs]
        of_primary = [row[0] for row in rows]
        of_companions = list(chain.from_iterable(row[1:] for row in rows))
        self._enough_draws(max(len(of_primary), len(of_companions)))
        # Each column is tested alone and in its family, by the same flips.
        plan = replace(self.plan, flips=SharedFlips(self.plan.seed))
        if alone:
            keep_sums(list(chain.from_iterable(rows)), self.study.design, plan)
        primary, companions = (
            corrected(family, self.study.design, plan, self.study.options.correction, alone=alone)
            for family in (of_primary, of_companions)
        )
        next_companions = iter(companions)
        return [[first, *islice(next_companions, len(columns) - 1)] for first in primary]

    def _test(self, pair: tuple[int, int], column: int) -> Hypothesis:
        first, second = (self.study.tables[run] for run in pair)
        test = Hypothesis(first=first, second=second, column=column, within=self._everywhere)
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
            for place, run in enumerate(runs.tolist()):
                ends = (float(interval.low[place]), float(interval.high[place]))
                means[run] = RunMean(float(interval.estimate[place]), ends, n)
        return means

    def bounds(self, pair: tuple[int, int]) -> GradeBounds | None:
        """Bounds of the difference of a pair by the primary measure, where there are some; they do
        not depend on any test.
        """
        if not self.rules.rests_on_rates:
            return None
        kept = self.study.tables[pair[0]].counted[:, 0] & self.study.tables[pair[1]].counted[:, 0]
        return self.rules.tippings.bounds(pair, 0, kept, restricted(self.study.design, kept))

    def pairs(
        self,
        findings_by_pair: "Sequence[_Findings]",
        alike: Mapping[tuple[str, str], Rankings],
        *,
        background: Background,
        tell: Tell | None,
    ) -> tuple[Pair, ...]:
        """All pairs; `tell` is called after each."""
        pairs: list[Pair] = []
        for pair, findings in zip(self.run_pairs, findings_by_pair, strict=True):
            first, second = (self.study.names[run] for run in pair)
            rows = self._rows(pair, findings, background)
            pairs.append(
                Pair(
                    a=first,
                    b=second,
                    measures=dict(zip(map(str, self.study.measures), rows, strict=True)),
                    rankings=alike.get((first, second)),
                    mismatch=self._mismatch(pair),
                )
            )
            if tell is not None:
                tell(len(pairs), len(self.run_pairs))
        return tuple(pairs)

    def _mismatch(self, pair: tuple[int, int]) -> str:
        """Name a run of the pair whose values mean nothing, and why; empty if there is none."""
        mismatches = self.study.mismatches
        a, b = (self.study.names[run] for run in pair)
        return next((f"{name} {mismatches[name]}" for name in (b, a) if name in mismatches), "")

    def _rows(
        self, pair: tuple[int, int], findings: "_Findings", background: Background
    ) -> list[Difference]:
        """Differences of two runs by each measure."""
        first, second = (self.study.tables[run] for run in pair)
        both = first.counted & second.counted
        same = int((first.equal(second) & both).all(axis=1).sum())

        def row_of(column: int) -> Difference:
            return self._row(
                pair,
                findings.tests[column],
                identical_queries=same,
                slices=findings.slices[column],
                bounds=None if column else findings.bounds(),
            )

        columns = range(len(self.study.measures))
        begun = [background.begin(partial(row_of, column)) for column in columns]
        return [row() for row in begun]

    def _row(self, pair: tuple[int, int], test: Corrected, **further: Any) -> Difference:
        """One difference with its support, and without a verdict that the labels do not support."""
        column = test.hypothesis.column
        measure = self.study.measures[column]
        of_test = verdict_of(test, measure.direction, self.plan.alpha)
        question = self._question(test, equivalent=of_test == "equivalent")
        result = Result.of(pair, test, self.study.design, question)
        judgedness_a, judgedness_b = (self.study.judgedness[run] for run in pair)
        unjudged_a, unjudged_b, judged = judgedness_a.beside(
            judgedness_b, column, result.kept, result.design
        )
        judged_reason = None
        if judged is None:
            judged_reason = judgedness_a.judged_reason(judgedness_b, column)
        support = self._support(
            result,
            test,
            all_labelled=(unjudged_a, unjudged_b) == (0.0, 0.0),
            count_labels=not column and of_test != "undecided" and len(self.study.names) <= MANY,
        )
        stands = support.stands or of_test == "undecided"
        verdict = of_test if stands and not self._mismatch(pair) else "too few judgments"
        return difference_of(
            measure,
            test,
            self.plan,
            verdict,
            excluded_queries=test.hypothesis.excluded,
            unjudged_a=unjudged_a,
            unjudged_b=unjudged_b,
            difference_judged=judged,
            judged_reason=judged_reason,
            tipping=support.tipping,
            tipping_reason=support.reason,
            basis=support.basis,
            error_rate_known=verdict not in ("better", "worse") or self._rate_known(result, test),
            family=COMPANIONS if column else PRIMARY,
            **further,
        )

    def _question(self, test: Corrected, *, equivalent: bool = False) -> Question:
        if not equivalent:
            return Question(test.critical, observed=test.observed)
        critical = critical_t(self.plan.alpha / test.tests, test.found.df, 1)
        margin = test.found.margin
        return Question(critical, margin=None if margin is None else margin.applied)

    def _rate_known(self, result: Result, test: Corrected) -> bool:
        """Return whether rare large differences that these queries lack cannot change a verdict
        better or worse.
        """
        spans = self.study.tables[result.pair[0]].spans
        return error_rate_known(
            result.differences[result.kept] * math.copysign(1.0, test.found.lean),
            spans[result.column] if spans else math.inf,
            test.alpha / 2,
            design=result.design,
        )

    def _is_divided(self, test: Corrected) -> bool:
        """Return whether the test and the mean, on which tipping points rest, favour different
        runs.
        """
        return self.rules.rests_on_rates and test.found.lean * test.found.difference < 0

    def _support(self, result: Result, test: Corrected, **labelled: bool) -> Support:
        """Return what supports a difference over all queries."""
        if self._is_divided(test):
            reason = "the side of the test is not that of the mean difference"
            return Support(tipping=None, reason=reason, basis=None, stands=True)
        return self.rules.support(result, **labelled)

    def method(
        self,
        baseline: str | None,
        tests_by_pair: Sequence[Sequence[Corrected]],
        slices_by_pair: "Sequence[Sequence[Slices | None]]",
    ) -> Method:
        """Method of the comparison."""
        plan = self.plan
        design = self.study.design
        n_pairs = len(self.run_pairs)
        sizes = {PRIMARY: n_pairs}
        if len(self.study.measures) > 1:
            sizes[COMPANIONS] = n_pairs * (len(self.study.measures) - 1)
        correction = name_of(plan, max(sizes.values()), self.study.options.correction)
        sliced = [slices for slices in slices_by_pair[0] if slices is not None]
        for family, slices in zip((SLICES, COMPANION_SLICES), sliced, strict=False):
            sizes[family] = slices.tests
            if correction == "none":  # of one pair and measure: only its slices are a family
                correction = slices.correction
        # With up to `MOST_UNITS` units, every sign vector of a single test is looked at; that of a
        # family only if there are no more vectors than draws.
        exact = all(test.found.exact for test in chain.from_iterable(tests_by_pair))
        drawn = plan.test == "permutation" and (design.n_units > MOST_UNITS or not exact)
        return method_of(
            plan,
            design,
            drawn=drawn,
            families=sizes,
            correction=correction,
            baseline=baseline,
            slices=None if self.membership is None else self.membership.counts(),
            judgments=judged_by(self.study.evaluations, self.study.options.judgments),
        )

    def slices(self, tell: Tell | None) -> "Sequence[Sequence[Slices | None]]":
        """Slices of every pair by each measure; None without slices."""
        if self.membership is None:
            return [[None] * len(self.study.measures)] * len(self.run_pairs)
        from idealrank.analysis.comparison.slice_differences import sliced  # noqa: PLC0415  (few comparisons have slices)

        slices_by_pair = sliced(
            pairs=[(self.study.tables[a], self.study.tables[b]) for a, b in self.run_pairs],
            directions=[measure.direction for measure in self.study.measures],
            membership=self.membership,
            design=self.study.design,
            plan=self.plan,
            correction=self.study.options.correction,
            carries=self._carries,
            tell=tell,
        )
        for place, pair in enumerate(self.run_pairs):
            if self._mismatch(pair):
                slices_by_pair[place] = [
                    slices.without_verdicts() for slices in slices_by_pair[place]
                ]
        return slices_by_pair

    def _carries(self, place: int, test: Corrected) -> bool:
        """Return whether the judgments of a slice's own queries support its result."""
        if self._is_divided(test):
            return True
        design = self.study.design
        question = self._question(test)
        result = Result.of(self.run_pairs[place], test, design, question)
        return self.rules.stands_within(result, test.hypothesis.within)

    def level_cautions(self, pairs: Sequence[Pair]) -> Iterator[str]:
        """Cautions about verdicts with an unknown error rate, or that these queries cannot give."""
        rows = list(rows_of(pairs))
        for _, row in rows:
            yield from row.level_cautions(self.plan.largest_loss)
        yield from rate_cautions(pairs, clustered=self.study.design.clusters is not None)
        for pair, row in rows:
            yield self._slice_caution(f"{pair.b} against {pair.a} by {row.measure}", row)

    def _slice_caution(self, verdicts: str, row: Difference) -> str:
        """Caution on the verdicts of a difference's slices; empty without any."""
        sliced = () if row.slices is None else row.slices.rows
        decided = [slice_row for slice_row in sliced if slice_row.verdict in ("better", "worse")]
        if self.membership is None or not decided:
            return ""
        whole = row.n
        units = "queries"
        sizes = [slice_row.n for slice_row in decided]
        design = self.study.design
        if design.clusters is not None:
            whole = design.n_units
            units = "clusters"
            within = [self.membership.within[slice_row.name] for slice_row in decided]
            sizes = [restricted(design, kept).n_units for kept in within]
        return slice_skew_caution(verdicts, skew=row.skewness, n=whole, sizes=sizes, units=units)


class _Findings(NamedTuple):
    """Tests and slices of one pair by measure."""

    tests: Sequence[Corrected]
    slices: "Sequence[Slices | None]"
    bounds: Callable[[], GradeBounds | None]  # Waits for the bounds by the primary measure


def method_of(
    plan: Plan,
    design: Design,
    *,
    drawn: bool,
    families: Mapping[str, int],
    correction: str = "none",
    baseline: str | None = None,
    **further: Any,
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
        **further,
    )


def difference_of(
    measure: Measure, corrected: Corrected, plan: Plan, verdict: Verdict, **further: Any
) -> Difference:
    """One row of a comparison: what was found, its corrected test, its verdict, further fields."""
    return Difference.of(
        corrected,
        visible_by(corrected.found, plan, corrected.alpha),
        measure.direction,
        verdict,
        measure=str(measure),
        direction=measure.direction,
        level=plan.level,
        p_equivalence=corrected.equivalence,
        margin=corrected.found.margin,
        skewness=corrected.found.skewness,
        queries_needed=needed_by(corrected.found, plan, corrected.alpha),
        **further,
    )
