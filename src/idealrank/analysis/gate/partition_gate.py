"""Gate over partitions: a decision from merged sums, with no value by query at hand.

`checks.gate` and this gate share the policy, the plan, the answer of a test, its reason, and the
fields of a check. Only the tests differ: sums have drawn sign flips and no exact test, no shape of
the differences, and no documents that could support or refute an answer.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from idealrank.analysis.comparison.families import COMPANIONS, PRIMARY
from idealrank.analysis.comparison.margin_guard import MarginScale, unseen_in_sums
from idealrank.analysis.comparison.partition_sums import ComparisonSums, two_sided_p
from idealrank.analysis.gate.checks import (
    answer_of,
    correction_of,
    detectable_drop,
    fields_of_test,
    plan_of,
    policy_of,
    reason_of,
    refuse_beyond_range,
    with_level_cautions,
)
from idealrank.analysis.gate.outcome import Check, Gated, Policy, QueryDrop, outcome_of
from idealrank.stats.applied_margins import AppliedMargin
from idealrank.stats.comparison import Detectable, MeasureTest, Plan
from idealrank.stats.difference_sums import DRAWS, DifferenceSums, levels_of_max_t, max_t
from idealrank.stats.effects import in_units, queries_for_skew
from idealrank.stats.seen_changes import SeenChanges

# Changes of the largest size, from which on the power of the normal limit is off by less than 1 %.
_MANY_CHANGES = 1000
_NO_LISTS = "sums of partitions hold no documents, so that unjudged ones cannot be counted"


def gate_sums(
    sums: ComparisonSums,
    *,
    policy: Policy | None = None,
    tolerance: float | None = None,
    strict: bool | None = None,
    margin: float | None = None,
    largest_loss: float | None = None,
    alpha: float | None = None,
) -> Gated:
    """Decide whether run b may replace run a, from sums of partitions.

    The first measure decides; the other measures are companions, corrected together, as in
    `idealrank.gate`. P values are of the sign flips of the sums, bounds of their Poisson bootstrap.
    Too few judgments are not recognised: sums hold no documents. Sums hold no values of single
    queries, either: a strict gate reckons with rare large losses by the number of queries alone.
    With few of them, none can pass, but losses that were seen count only in the test of the sums.
    The error rate of a significant drop counts as known from 200 queries on. Margin and tolerance
    refer to the queries that have a relevant document, as in `idealrank.gate`.

    Parameters
    ----------
    sums : ComparisonSums
        Sums of all partitions, merged; a is the baseline, b the run.
    policy : Policy, optional
        Rule of the decision; or its fields by name.
    tolerance, strict, margin, largest_loss, alpha
        Fields of the policy.

    Returns
    -------
    Gated
        As from `idealrank.gate`.

    Raises
    ------
    InputError
        No query counts in both runs.
    OptionError
        The policy is impossible.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> good, bad = (
    ...     ir.evaluate(qrels, {q: ranking for q in qrels}, "RR")
    ...     for ranking in (["x", "y"], ["y", "x"])
    ... )
    >>> (
    ...     gate_sums(ir.ComparisonSums.of(good, bad)).passed,
    ...     gate_sums(ir.ComparisonSums.of(bad, good)).passed,
    ... )
    (False, True)
    """
    resolved_policy = policy_of(
        policy,
        tolerance=tolerance,
        strict=strict,
        margin=margin,
        alpha=alpha,
        largest_loss=largest_loss,
    )
    refuse_beyond_range(resolved_policy, sums.measures)
    sums.require_queries()

    upwards = [
        _turned(measure_sums, measure.direction)
        for measure_sums, measure in zip(sums.sums, sums.measures, strict=True)
    ]
    n_draws = upwards[0].flipped.size
    plan = plan_of(resolved_policy, n_draws, upwards[0].seed, None)
    scales = [
        _scale(measure_sums, answerable)
        for measure_sums, answerable in zip(upwards, sums.answerable, strict=True)
    ]
    plans = [scale.on(plan) for scale in scales]

    corrections = _corrections(upwards, plans, resolved_policy)
    checks = tuple(
        _check(
            sums=sums,
            column=column,
            measure_sums=upwards[column],
            policy=resolved_policy,
            plan=plans[column],
            scale=scales[column],
            correction=correction,
        )
        for column, correction in enumerate(corrections)
    )
    outcome = outcome_of(checks, ())
    return Gated(
        run=sums.b,
        baselines=(sums.a,),
        passed=outcome == "passed",
        outcome=outcome,
        checks=checks,
        contracts=(),
        policy=resolved_policy,
        correction=correction_of(resolved_policy, 1, len(sums.measures)),
        n_resamples=n_draws,
        seed=upwards[0].seed,
        convention=sums.convention,
        missing={sums.b: sums.missing[1], sums.a: sums.missing[0]},
        judgments="same" if sums.judgments is not None else "unknown",
        cautions=with_level_cautions((), checks, resolved_policy, sums.b),
    )


class _Correction(NamedTuple):
    """Correction of the test of one measure."""

    one_sided: float  # Corrected p value of the test that decides
    two_sided: float  # Corrected p value of no difference
    level: float  # Level of a single test that is significant where this one is


def _corrections(
    upwards: Sequence[DifferenceSums], plans: Sequence[Plan], policy: Policy
) -> list[_Correction]:
    """Correct the tests of all measures; each test of a strict gate is a family of its own."""
    columns = list(range(len(upwards)))
    by_role = [columns[:1], columns[1:]]  # the primary measure, and its companions
    families = [[column] for column in columns] if policy.strict else by_role
    one_sided: list[float] = []
    levels: list[float] = []
    for family in filter(None, families):
        members = [upwards[column] for column in family]
        nulls = [plans[column].null for column in family]
        alternative = plans[0].alternative
        one_sided += max_t(members, alternative, nulls)
        levels += levels_of_max_t(members, policy.alpha, alternative, nulls)
    return list(map(_Correction, one_sided, two_sided_p(upwards), levels))


def _scale(sums: DifferenceSums, answerable: int | None) -> MarginScale:
    """Scale of a margin: queries of sums have equal weights."""
    return MarginScale(answerable / sums.n if answerable else 1.0, answerable)


def _turned(sums: DifferenceSums, direction: int) -> DifferenceSums:
    """Sums of values turned so that more is better."""
    if direction > 0:
        return sums
    turned = {
        name: -getattr(sums, name) if name in ("flipped", "weighted") else getattr(sums, name)
        for name in DRAWS
    }
    return DifferenceSums(
        n=sums.n,
        total_a=-sums.total_a,
        total_b=-sums.total_b,
        total=-sums.total,
        squares=sums.squares,
        wins=sums.losses,
        losses=sums.wins,
        seed=sums.seed,
        **turned,
    )


def _check(
    *,
    sums: ComparisonSums,
    column: int,
    measure_sums: DifferenceSums,
    policy: Policy,
    plan: Plan,
    scale: MarginScale,
    correction: _Correction,
) -> Check:
    measure = sums.measures[column]
    tested = _tested(measure_sums, plan, policy.alpha)
    corrected = correction.one_sided
    if policy.strict:
        least, greatest = measure.bounds
        span = greatest - least
        largest_seen = max((-fall.turned for fall in sums.worst[column]), default=0.0)
        tested = unseen_in_sums(tested, plan, scale._replace(span=span), largest_seen=largest_seen)
        corrected = max(corrected, tested.p)
    elif policy.tolerance:
        tested = tested._replace(
            margin=AppliedMargin(
                margin=policy.tolerance,
                applied=policy.tolerance * scale.share,
                answerable=scale.answerable,
            )
        )

    answer = answer_of(tested, corrected, policy)
    passed = answer.outcome == "passed"
    worst = tuple(
        QueryDrop(query=fall.query, baseline=fall.a, run=fall.b, difference=fall.b - fall.a)
        for fall in sums.worst[column]
    )
    drop = detectable_drop(tested, plan, policy, correction.level)
    drop = _detectable(measure_sums, drop, measure.bounds)
    two_sided = correction.two_sided
    direction = measure.direction
    return Check(
        **fields_of_test(measure, tested, answer, drop),
        baseline=sums.a,
        p_two_sided=two_sided if tested.wins or tested.losses else 1.0,
        decides=not column,
        family=COMPANIONS if column else PRIMARY,
        passed=passed,
        outcome=answer.outcome,
        reason=reason_of(tested, answer.p_corrected, two_sided, policy, direction),
        excluded_queries=sums.excluded[column],
        worst=worst,
        tipping_reason=_NO_LISTS,
        error_rate_known=passed or policy.strict or tested.n >= queries_for_skew(0.0, tested.n),
    )


def _detectable(sums: DifferenceSums, drop: Detectable, bounds: tuple[float, float]) -> Detectable:
    """The detectable drop, if the sums settle it: where even changes of the largest size would be
    many, sizes do not matter.
    """
    least, greatest = bounds
    squares = sums.squares + sums.total**2 / sums.n if sums.n else 0.0
    if not math.isfinite(drop.size) or squares >= _MANY_CHANGES * (greatest - least) ** 2:
        return drop
    return Detectable(
        math.nan, "sums of so few partitioned queries hold too little about single differences"
    )


def _tested(sums: DifferenceSums, plan: Plan, alpha: float) -> MeasureTest:
    low, high = sums.interval(1 - 2 * alpha)
    sd = sums.sd
    effect = float(in_units(np.asarray(sums.difference), np.asarray(sd)))
    # The sums hold no single differences: all that differ count as of one size, which the normal
    # limit of the test allows.
    differ = sums.wins + sums.losses
    size = math.sqrt(max(sums.squares + sums.total**2 / sums.n, 0.0) / differ) if differ else 0.0
    changes = SeenChanges(sizes=np.full(min(differ, 1), size), differ=differ, units=sums.n)
    return MeasureTest(
        mean_a=sums.mean_a,
        mean_b=sums.mean_b,
        difference=sums.difference,
        low=low,
        high=high,
        about="mean difference",
        lean=sums.difference,
        p=sums.p_value(plan.alternative, plan.null),
        p_equivalence=math.nan,
        exact=False,
        effect=effect,
        sd=sd,
        spread=sd,
        df=sums.n - 1,
        wins=sums.wins,
        ties=sums.ties,
        losses=sums.losses,
        n=sums.n,
        units=sums.n,
        changes=changes,
    )
