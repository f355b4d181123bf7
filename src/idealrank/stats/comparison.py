"""Two runs on the same queries, measure by measure: difference, test, interval, size, and what the
queries could have shown.

Of arrays alone; corrections over many pairs, verdicts and names come afterwards.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import OptionError
from idealrank.stats.applied_margins import AppliedMargin
from idealrank.stats.design import Design, student_mean
from idealrank.stats.effects import deviations, in_units, outcomes
from idealrank.stats.intervals import Alternative
from idealrank.stats.paired_tests import PairedTest, SignedRanks, paired_t, sign_test, wilcoxon
from idealrank.stats.permutation import PermutationTest, permutation_test
from idealrank.stats.randomness import whole_number
from idealrank.stats.seen_changes import Criterion, SeenChanges, fewest_changed
from idealrank.stats.sign_flips import MOST_UNITS, SharedFlips
from idealrank.stats.special import chdtri, nctdtrinc, ndtri, stdtrit
from idealrank.stats.tolerance import ROUNDING, largest_of, ranks_within, subtracted
from idealrank.stats.values import above_zero, chosen, open_share

TestName: TypeAlias = Literal["permutation", "t", "wilcoxon", "sign"]

TESTS: tuple[TestName, ...] = get_args(TestName)
_ABOVE_ZERO = {
    "margin": "a difference above 0 that does not matter",
    "effect": "a difference above 0 that is worth finding",
    "largest_loss": "the greatest loss that one query can have, a number above 0",
}
_AS_NORMAL = 10**5  # degrees of freedom from which t is taken for normal
# Unequal weights leave fewer units of equal weight. If at least this share of the units is left,
# the power of a test without weights holds.
_NEARLY_ALIKE = 0.9
# This many times as many units must differ in a family before its stated powers are true;
# measured by `experiments/stated_power.py`
_IN_FAMILY = 1.25
_FAR = 1e3  # critical value of t, in standard errors, beyond which its noncentral law is avoided
_MOST = 10**9  # queries; where more are needed, no number is given

POWER = 0.8
"""Power at which a difference counts as detectable, where none is given."""

RESAMPLES = 100_000
"""Random sign vectors of a permutation test, where none are given."""

FEW_FLIPS = "sign flips are too few for the level"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Plan of a comparison: test, level, draws."""

    test: TestName = "permutation"
    level: float = 0.95
    margin: float | None = None
    n_resamples: int = RESAMPLES
    seed: int = 0
    power: float = POWER
    threads: int | None = None
    alternative: Alternative = "two-sided"
    null: float = 0.0
    flips: SharedFlips | None = None
    largest_loss: float | None = None
    effect: float | None = None

    def __post_init__(self) -> None:
        chosen("test", self.test, TESTS)
        open_share("level", self.level)
        whole_number("n_resamples", self.n_resamples)
        for name, expected in _ABOVE_ZERO.items():
            if (number := getattr(self, name)) is not None:
                above_zero(name, number, f"{expected}, in units of the measure")
        if self.margin is not None and self.test == "sign":
            raise OptionError(
                "margin: the sign test is blind to the size of differences; use permutation, t or "
                "wilcoxon"
            )
        if self.test != "permutation" and (self.alternative != "two-sided" or self.null):
            raise OptionError(
                f"test={self.test!r}: found a one-sided alternative, or a null, expected the "
                f"permutation test for it"
            )

    @property
    def alpha(self) -> float:
        """One minus the level."""
        return round(1 - self.level, 12)

    @property
    def rng(self) -> Any:
        """The shared flips, or the seed."""
        return self.seed if self.flips is None else self.flips

    @property
    def sides(self) -> int:
        """Number of sides of the test: 1 or 2."""
        return 2 if self.alternative == "two-sided" else 1


class MeasureTest(NamedTuple):
    """Result of one test of one measure of two runs, before any correction; ``difference`` is b -
    a.
    """

    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    about: str
    lean: float
    p: float
    p_equivalence: float
    exact: bool
    effect: float
    sd: float
    spread: float
    df: float
    wins: int
    ties: int
    losses: int
    n: int
    units: int
    changes: SeenChanges
    margin: AppliedMargin | None = None
    skewness: float = 0.0
    in_max_t: bool = False


class Detectable(NamedTuple):
    """Smallest true difference that a test finds with the power of its plan."""

    size: float
    reason: str | None = None


class _Tested(NamedTuple):
    low: FloatArray
    high: FloatArray
    p: FloatArray
    about: str
    exact: BoolArray
    lean: FloatArray | None = None


def compare_columns(a: FloatArray, b: FloatArray, design: Design, plan: Plan) -> list[MeasureTest]:
    """Compare two runs on all queries given, column by column."""
    largest = largest_of(a, b)
    second = np.where(np.abs(b - a) <= ROUNDING * largest, a, b)
    differences = second - a
    tested = _TESTERS[plan.test](a, second, design, plan)
    mean = np.asarray(design.mean(differences), np.float64)
    sd = deviations(differences, design, largest)
    student = student_mean(differences, design, largest)
    columns = {
        "mean_a": _means(a, design),
        "mean_b": _means(b, design),
        "difference": mean,
        "low": tested.low,
        "high": tested.high,
        "lean": mean if tested.lean is None else tested.lean,
        "p": tested.p,
        "p_equivalence": _equivalence(a, second, design, plan),
        "exact": tested.exact,
        "effect": in_units(mean, sd),
        "sd": sd,
        "spread": student.se * math.sqrt(design.n),
        **dict(zip(("wins", "ties", "losses"), outcomes(differences), strict=True)),
    }
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    common: dict[str, Any] = {
        "about": tested.about,
        "df": student.df,
        "n": design.n,
        "units": design.n_units,
    }
    changes = _changes(differences, design, plan.test, largest)
    return [
        MeasureTest(**dict(zip(columns, row, strict=True)), **common, changes=column_changes)
        for row, column_changes in zip(rows, changes, strict=True)
    ]


def _changes(
    differences: FloatArray, design: Design, test: TestName, largest: FloatArray
) -> list[SeenChanges]:
    """Differences of the independent units of each column, with what they contribute to the
    statistic of the test.
    """
    totals = design.unit_totals(differences) * (design.n_units / design.n)
    if design.clusters is not None:  # gains and losses of a cluster that cancel are no change
        totals = np.where(np.abs(totals) <= ROUNDING * largest, 0.0, totals)
    scores = _SCORES[test](totals, largest) if test in _SCORES else None
    plain = design.weights is None and design.clusters is None
    weights = None if plain else design.unit_totals(np.ones(design.n)) * (design.n_units / design.n)
    return [
        SeenChanges.of(
            column,
            units=design.n_units,
            scores=None if scores is None else scores[:, number],
            weights=weights,
        )
        for number, column in enumerate(totals.T)
    ]


_SCORES: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "wilcoxon": lambda totals, largest: ranks_within(np.abs(totals), ROUNDING * largest)[0],
    "sign": lambda totals, _largest: np.ones(totals.shape),
}


def _means(values: FloatArray, design: Design) -> FloatArray:
    """Means as `Evaluation.mean` has them, to the last bit, where queries have no weights."""
    if design.weights is not None:
        return np.asarray(design.mean(values), np.float64)
    return np.array([math.fsum(column) / design.n for column in values.T.tolist()])


def _by_permutation(a: FloatArray, b: FloatArray, design: Design, plan: Plan) -> _Tested:
    flip_test = _flip_test(
        a=a, b=b, design=design, plan=plan, side=plan.alternative, null=plan.null
    )
    return _Tested(
        low=flip_test.low,
        high=flip_test.high,
        p=flip_test.p,
        about="mean difference",
        exact=flip_test.exact,
    )


def _classical(
    test: Callable[..., PairedTest],
    lean: Callable[[FloatArray, FloatArray], FloatArray] | None = None,
) -> Callable[[FloatArray, FloatArray, Design, Plan], _Tested]:
    def tested(a: FloatArray, b: FloatArray, design: Design, plan: Plan) -> _Tested:
        paired_test = test(a, b, level=plan.level, design=design)
        return _Tested(
            low=paired_test.low,
            high=paired_test.high,
            p=paired_test.p,
            about=paired_test.about,
            exact=np.zeros(a.shape[1], np.bool_),
            lean=None if lean is None else lean(a, b),
        )

    return tested


def _lean_of_ranks(a: FloatArray, b: FloatArray) -> FloatArray:
    ranks = SignedRanks.of(subtracted(a, b), largest_of(a, b))
    return ranks.positive - ranks.mean


def _lean_of_signs(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.sign(subtracted(a, b)).sum(axis=0), np.float64)


_TESTERS: dict[str, Callable[[FloatArray, FloatArray, Design, Plan], _Tested]] = {
    "permutation": _by_permutation,
    "t": _classical(paired_t),
    "wilcoxon": _classical(wilcoxon, _lean_of_ranks),
    "sign": _classical(sign_test, _lean_of_signs),
}


def _equivalence(a: FloatArray, b: FloatArray, design: Design, plan: Plan) -> FloatArray:
    """The larger p value of two one-sided tests: that b is not worse, and not better, than a by the
    margin; NaN without one.
    """
    if plan.margin is None:
        return np.full(a.shape[1], np.nan)
    if plan.test == "permutation":
        above = _flip_test(a=a, b=b, design=design, plan=plan, side="greater", null=-plan.margin).p
        below = _flip_test(a=a, b=b, design=design, plan=plan, side="less", null=plan.margin).p
    elif plan.test == "wilcoxon":
        largest = np.maximum(largest_of(a, b), plan.margin)
        above = SignedRanks.of(b - a + plan.margin, largest).p("greater")
        below = SignedRanks.of(b - a - plan.margin, largest).p("less")
    else:
        from idealrank.stats.margins import equivalence  # noqa: PLC0415  (few comparisons have a margin)

        return np.asarray(equivalence(a, b, plan.margin, design=design).p, np.float64)
    return np.asarray(np.maximum(above, below), np.float64)


def _flip_test(
    a: FloatArray, b: FloatArray, design: Design, plan: Plan, side: Alternative, null: float
) -> PermutationTest:
    return permutation_test(
        a,
        b,
        n_resamples=plan.n_resamples,
        rng=plan.rng,
        alternative=side,
        null=null,
        level=plan.level,
        design=design,
        threads=plan.threads,
    )


def smallest_visible(
    spread: float, n: int, df: float, alpha: float, power: float, sides: int = 2
) -> float:
    """The smallest difference that a paired t test of this set finds with a given chance.

    It is infinite where one unit is all there is, and NaN where nothing varies.
    """
    if not df or not math.isfinite(spread):
        return math.inf
    if spread == 0:
        return math.nan
    critical = float(stdtrit(df, 1 - alpha / sides))
    # So far out, t exceeds its critical value where the standard deviation is estimated too small:
    # the mean hardly varies in comparison. The noncentral law would take minutes.
    if critical > _FAR:
        shift = critical * math.sqrt(float(chdtri(df, 1 - power)) / df)
    elif df >= _AS_NORMAL:
        shift = critical + float(ndtri(power))
    else:
        shift = float(nctdtrinc(df, 1 - power, critical))
    return shift * spread / math.sqrt(n)


def visible_by(
    measure_test: MeasureTest, plan: Plan, alpha: float, power: float | None = None
) -> Detectable:
    """Return the smallest true difference, beyond the null of the plan, that its test finds with
    the power.
    """
    obstacle = _obstacle(measure_test, plan, alpha)
    if obstacle is not None:
        return obstacle
    size = measure_test.changes.detectable(
        _criterion(measure_test, plan, alpha, plan.power if power is None else power)
    )
    if math.isfinite(size):
        return Detectable(size)
    if math.isinf(size):
        return Detectable(size, "no difference made of such changes is found so often")
    return Detectable(size, "changes like these stay within the margin")


def _obstacle(measure_test: MeasureTest, plan: Plan, alpha: float) -> Detectable | None:
    """State why no detectable difference can be computed; None if it can."""
    changes = measure_test.changes
    if not changes.differ:
        return Detectable(math.nan, "no query differs")
    units = min(measure_test.units, measure_test.df + 1)  # unequal weights leave fewer
    by_draws = plan.test == "permutation" and measure_test.units > MOST_UNITS
    unit = "queries" if measure_test.units == measure_test.n else "clusters"
    of_weight = "" if units == measure_test.units else " of equal weight"
    if not alpha or units < _fewest(plan, alpha):
        return Detectable(
            math.inf, f"{math.floor(units)} {unit}{of_weight} are too few for this test"
        )
    if by_draws and 1 / (plan.n_resamples + 1) > alpha:
        return Detectable(math.inf, f"{plan.n_resamples} {FEW_FLIPS}")
    if plan.test == "t" and units < _NEARLY_ALIKE * measure_test.units:
        return Detectable(
            math.nan, "the power of Student's t under unequal weights is not computed"
        )
    fewest = fewest_changed(alpha / plan.sides)
    if measure_test.in_max_t:  # the critical value of the family depends on the few changes, too
        fewest = math.ceil(_IN_FAMILY * fewest)
    if changes.differ * units / measure_test.units < fewest:
        differ = math.floor(changes.differ * units / measure_test.units)
        return Detectable(math.nan, f"{differ} {unit}{of_weight} differ, fewer than {fewest}")
    return None


def _criterion(measure_test: MeasureTest, plan: Plan, alpha: float, power: float) -> Criterion:
    sign = -1.0 if plan.alternative == "less" else 1.0
    by_t = plan.test == "t"
    df: float | None = measure_test.df
    if not by_t:
        # Max-T holds all tests against one statistic, whatever the kurtosis of the signs of this
        # one.
        df = measure_test.units - 1 if measure_test.in_max_t else None
    return Criterion(
        alpha=alpha / plan.sides, power=power, df=df, null=sign * plan.null, by_signs=not by_t
    )


def needed_by(measure_test: MeasureTest, plan: Plan, alpha: float) -> int | None:
    """Return the number of queries like these that detect a true difference of the effect that the
    plan names.
    """
    changes = measure_test.changes
    effect = plan.effect
    if (
        effect is None
        or _obstacle(measure_test, plan, alpha) is not None
        or effect >= changes.reach
    ):
        return None
    criterion = _criterion(measure_test, plan, alpha, plan.power)
    # the normal approximation is where the search begins
    deviates = float(ndtri(1 - criterion.alpha)) + float(ndtri(plan.power))
    near = (deviates * measure_test.spread / effect) ** 2 * measure_test.units / measure_test.n
    units = changes.units_needed(effect, criterion, near=min(near, _MOST))
    if units is None:
        return None
    fewest = math.ceil(_fewest(plan, alpha) * changes.units / changes.differ)
    return math.ceil(max(units, fewest) * measure_test.n / measure_test.units)


def _fewest(plan: Plan, alpha: float) -> int:
    """Units that must differ before signs alone can be so rare: one of 2^k sign vectors, or two,
    are the rarest result.
    """
    return 2 if plan.test == "t" else math.ceil(plan.sides - 1 - math.log2(alpha))
