"""Families of tests: the first measure alone, its companions, slices, several baselines; each
corrected in one step.

Whatever the family, a corrected p value and the interval beside it come from one test, so that the
interval holds no difference if and only if p is above the level.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from idealrank.analysis.comparison.margin_guard import MarginRule, MarginScale, guarded
from idealrank.analysis.comparison.query_table import QueryTable, restricted
from idealrank.analysis.comparison.tipping import critical_t
from idealrank.data.types import BoolArray, FloatArray
from idealrank.stats.comparison import MeasureTest, Plan, compare_columns
from idealrank.stats.design import Design
from idealrank.stats.effects import skewness
from idealrank.stats.multiple_tests import adjust, simultaneous
from idealrank.stats.sign_flips import MOST_UNITS, Units
from idealrank.stats.special import stdtr
from idealrank.stats.tolerance import subtracted

Side: TypeAlias = Literal["better", "worse", "undecided"]

PRIMARY = "primary measure"
COMPANIONS = "companions"
SLICES = "slices"
COMPANION_SLICES = "slices of companions"

Correction: TypeAlias = Literal["auto", "holm"]

MANY = 10  # runs; of more, single tests of every pair would take long
DRAWS = 10_000  # sign flips for so many runs: fewer, since there are many pairs
_IN_ONE_GO = 128  # tests by the same sign flips at once: their columns stay small in memory


class Hypothesis(NamedTuple):
    """One hypothesis of a family, that two columns have one mean: a column of two tables, on the
    queries within.
    """

    first: QueryTable
    second: QueryTable
    column: int
    within: BoolArray

    @property
    def counted(self) -> BoolArray:
        """The queries of the test."""
        kept: BoolArray = (
            self.first.counted[:, self.column] & self.second.counted[:, self.column] & self.within
        )
        return kept

    @property
    def excluded(self) -> int:
        """Number of the queries within that do not count."""
        return int((self.within & ~self.counted).sum())

    @property
    def differences(self) -> FloatArray:
        """Second minus first, of every query; NaN where one has no value."""
        differences: FloatArray = (
            self.second.values[:, self.column] - self.first.values[:, self.column]
        )
        return differences

    def scale(self, kept: BoolArray, design: Design) -> MarginScale:
        """Scale of a margin on the queries kept."""
        first = self.first.answerable
        second = self.second.answerable
        answerable = None
        if first is not None and second is not None:
            answerable = first[kept, self.column] | second[kept, self.column]
        spans = self.first.spans
        return MarginScale.of(answerable, spans[self.column] if spans else math.inf, design)


class Corrected(NamedTuple):
    """Corrected result of one test of a family."""

    hypothesis: Hypothesis
    found: MeasureTest  # Its test; its interval holds for the whole family
    p: float  # After the correction
    # The p value of equivalence, after the correction; None without a margin
    equivalence: float | None
    alpha: float  # Level of a single test that is significant where this one is
    # The t statistic beyond which it is; infinite, and `alpha` 0, where the test has too few
    # queries to reach the level alone
    critical: float
    tests: int  # Size of the family
    # The t statistic whose p value is that of the test, for tests of other statistics; None where
    # `critical` is a quantile of the test's own statistic, as of max-T
    observed: float | None = None


def name_of(plan: Plan, tests: int, correction: Correction) -> str:
    """Name of the correction of a family."""
    if tests == 1:
        return "none"
    if correction == "holm":
        return "holm"
    return "max-T" if plan.test == "permutation" else "bonferroni"


def corrected(
    tests: Sequence[Hypothesis],
    design: Design,
    plan: Plan,
    correction: Correction = "auto",
    *,
    alone: bool = True,
) -> list[Corrected]:
    """Test a family, and correct it.

    One test needs no correction. Westfall and Young (1993), Resampling-based multiple testing,
    section 2.3.
    """
    if not tests:
        return []
    n = len(tests)
    name = name_of(plan, len(tests), correction)
    with_max_t = name == "max-T"
    # Max-T brings its own p values: of many tests, the single ones are then cheap t tests.
    single = replace(plan, test="t", margin=None) if with_max_t and not alone else plan
    if name in ("bonferroni", "holm"):
        single = replace(plan, level=1 - plan.alpha / n)
    results = _singly(tests, design, single, plan.alpha / n)
    equivalence = [
        None if plan.margin is None else min(1.0, n * result.p_equivalence) for result in results
    ]
    if with_max_t:
        return _by_max_t(tests, results, equivalence, design, plan, alone=alone)

    p = [result.p for result in results]
    adjusted = adjust(p).tolist() if name == "holm" else [min(1.0, n * value) for value in p]
    if name == "holm":
        # Strassburger and Bretz (2008), Compatible simultaneous lower confidence bounds for the
        # Holm procedure: while some hypothesis is not rejected, a rejected one has an interval that
        # ends at 0, and the others have Bonferroni's. Longer steps would not hold the level for all
        # at once: what Holm's later tests gain in power they pay with the ends of the earlier ones.
        results = [
            _ending_at_zero(result, significant=value <= plan.alpha)
            for result, value in zip(results, adjusted, strict=True)
        ]
    alphas = _levels(p, plan.alpha) if name == "holm" else [plan.alpha / n] * n
    family = []
    for place, test in enumerate(tests):
        result = results[place]
        family.append(
            Corrected(
                hypothesis=test,
                found=result,
                p=adjusted[place],
                equivalence=equivalence[place],
                alpha=plan.alpha / n,
                critical=critical_t(alphas[place], result.df, plan.sides),
                tests=n,
                observed=critical_t(result.p, result.df, plan.sides),
            )
        )
    return family


def keep_sums(tests: Sequence[Hypothesis], design: Design, plan: Plan) -> None:
    """Sum the differences of all tests on the queries of the first under the plan's shared flips,
    for `corrected` to find.
    """
    kept = tests[0].counted
    same_queries = [test for test in tests if np.array_equal(test.counted, kept)]
    restricted_design = restricted(design, kept)
    n_units = restricted_design.n_units
    if plan.test != "permutation" or plan.flips is None or n_units <= MOST_UNITS:
        return
    counted = np.repeat(kept[:, None], len(same_queries), axis=1)
    units = Units.of(_differences(same_queries, counted)[kept], restricted_design)
    drawn = np.flatnonzero(units.n_nonzero > MOST_UNITS)
    if drawn.size:
        plan.flips.of(n_units).keep(
            units.of_columns(drawn).with_weights(), plan.n_resamples, threads=plan.threads
        )


def _by_max_t(
    tests: Sequence[Hypothesis],
    results: Sequence[MeasureTest],
    equivalence: Sequence[float | None],
    design: Design,
    plan: Plan,
    *,
    alone: bool,
) -> list[Corrected]:
    """Correct a family by max-T: one set of sign flips for all tests."""
    counted = np.stack([test.counted for test in tests], axis=1)
    # Each test has a null of its own; the statistics do not change with the unit of the
    # differences.
    shares: FloatArray | float = 1.0
    if plan.null:
        shares = np.array(
            [1.0 if result.margin is None else result.margin.share for result in results]
        )
    family = simultaneous(
        _differences(tests, counted) / shares,
        counted=counted,
        alternative=plan.alternative,
        null=plan.null,
        n_resamples=plan.n_resamples,
        rng=plan.rng,
        level=plan.level,
        design=design,
        threads=plan.threads,
    )

    rows = []
    p_corrected = family.p.tolist()
    lows = (family.low * shares).tolist()
    highs = (family.high * shares).tolist()
    criticals = family.critical_t.tolist()
    for place, (test, single) in enumerate(zip(tests, results, strict=True)):
        result = single._replace(
            low=lows[place], high=highs[place], exact=family.exact, in_max_t=True
        )
        if not alone:
            result = result._replace(p=p_corrected[place], about="mean difference")
        critical = criticals[place]
        # The critical value of the family is a t of all units; unequal weights leave fewer degrees
        # of freedom at the same level.
        has_level = result.units > 1 and math.isfinite(critical)
        alpha = plan.sides * float(stdtr(result.units - 1, -critical)) if has_level else 0.0
        all_units = result.df == result.units - 1
        rows.append(
            Corrected(
                hypothesis=test,
                found=result,
                p=p_corrected[place],
                equivalence=equivalence[place],
                alpha=alpha,
                critical=critical if all_units else critical_t(alpha, result.df, plan.sides),
                tests=len(tests),
            )
        )
    return rows


def _differences(tests: Sequence[Hypothesis], counted: BoolArray) -> FloatArray:
    """Differences of every test, those within rounding set to 0 as the single tests have them."""
    differences = np.zeros(counted.shape)
    for column, test in enumerate(tests):
        kept = counted[:, column]
        a, b = (side.values[kept, test.column] for side in (test.first, test.second))
        differences[kept, column] = subtracted(a[:, None], b[:, None])[:, 0]
    return differences


def _singly(
    tests: Sequence[Hypothesis], design: Design, plan: Plan, alpha: float
) -> list[MeasureTest]:
    """Every test by itself; those on the same queries, with one scale, in one go, by the same
    signs.

    `alpha` is the level of one test of equivalence.
    """
    groups: dict[tuple[bytes, float], list[int]] = {}
    scales: list[MarginScale] = []
    has_margin = plan.margin is not None or plan.null != 0
    for place, test in enumerate(tests):
        kept = test.counted
        scale = test.scale(kept, restricted(design, kept)) if has_margin else MarginScale()
        scales.append(scale)
        groups.setdefault((np.packbits(kept).tobytes(), scale.share), []).append(place)
    results: dict[int, MeasureTest] = {}
    for members in groups.values():
        kept = tests[members[0]].counted
        restricted_design = restricted(design, kept)
        scaled = scales[members[0]].on(plan)
        for start in range(0, len(members), _IN_ONE_GO):
            places = members[start : start + _IN_ONE_GO]
            chosen = [tests[place] for place in places]
            first = np.stack([test.first.values[kept, test.column] for test in chosen], axis=1)
            second = np.stack([test.second.values[kept, test.column] for test in chosen], axis=1)
            rows = compare_columns(first, second, restricted_design, scaled)
            differences = subtracted(first, second)
            for place, row, column in zip(places, rows, differences.T, strict=True):
                skewed = row._replace(skewness=skewness(column))
                rule = MarginRule(plan, scales[place], alpha)
                results[place] = guarded(skewed, column, restricted_design, rule)
    return [results[place] for place in range(len(tests))]


def _levels(p: Sequence[float], alpha: float) -> list[float]:
    """Levels that Holm's method holds the p values of a family against, the smallest p against the
    strictest.
    """
    place = np.argsort(np.argsort(p, kind="stable"), kind="stable")
    levels: list[float] = (alpha / (len(p) - place)).tolist()
    return levels


def _ending_at_zero(result: MeasureTest, *, significant: bool) -> MeasureTest:
    """The test, whose interval ends next to 0 if Holm's method finds it significant."""
    if not significant or not result.low <= 0 <= result.high:
        return result
    next_to_zero = float(np.nextafter(0.0, math.copysign(1.0, result.lean)))
    if result.lean > 0:
        return result._replace(low=next_to_zero)
    return result._replace(high=next_to_zero)


def side_of(result: MeasureTest, direction: int, p: float, alpha: float) -> Side:
    """Return whether b is better, worse, or not distinguishable from a."""
    # A test of ranks or signs may find what the means do not show: the side is that of its own
    # statistic.
    if p > alpha or result.lean == 0:
        return "undecided"
    return "better" if result.lean * direction > 0 else "worse"
