"""Gate over partitions: a decision from merged sums, with no value by query at hand."""

import math

import numpy as np

from idealrank.analysis.comparison.families import COMPANIONS, PRIMARY
from idealrank.analysis.comparison.margin_guard import MarginScale, unseen_in_sums
from idealrank.analysis.comparison.partition_sums import ComparisonSums
from idealrank.analysis.gate.checks import (
    detectable_drop,
    plan_of,
    policy_of,
    reason_of,
    refuse_beyond_range,
    with_level_cautions,
)
from idealrank.analysis.gate.kept_contracts import outcome_of
from idealrank.analysis.gate.outcome import Check, Gated, Policy, QueryDrop
from idealrank.stats.applied_margins import AppliedMargin
from idealrank.stats.comparison import Detectable, MeasureTest, Plan
from idealrank.stats.difference_sums import DRAWS, DifferenceSums, levels_of_max_t, max_t
from idealrank.stats.effects import in_units, queries_for_skew
from idealrank.stats.seen_changes import SeenChanges

# of the largest size; then the power of the normal limit is off by less than 1 %
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
    asked = policy_of(
        policy,
        tolerance=tolerance,
        strict=strict,
        margin=margin,
        alpha=alpha,
        largest_loss=largest_loss,
    )
    refuse_beyond_range(asked, sums.measures)
    sums.require_queries()
    upwards = [
        _turned(one, measure.direction)
        for one, measure in zip(sums.sums, sums.measures, strict=True)
    ]
    n_draws = upwards[0].flipped.size
    plan = plan_of(asked, n_draws, upwards[0].seed, None)
    scales = [
        _scale(one, answerable) for one, answerable in zip(upwards, sums.answerable, strict=True)
    ]
    plans = [scale.on(plan) for scale in scales]
    every = list(range(len(upwards)))
    one_sided, levels = [], []
    for family in [[column] for column in every] if asked.strict else [every[:1], every[1:]]:
        if family:
            members = [upwards[column] for column in family]
            nulls = [plans[column].null for column in family]
            one_sided += max_t(members, plan.alternative, nulls)
            levels += levels_of_max_t(members, asked.alpha, plan.alternative, nulls)
    two_sided = [p for family in (upwards[:1], upwards[1:]) if family for p in max_t(family)]
    checks = tuple(
        _check(
            sums=sums,
            column=column,
            one=upwards[column],
            policy=asked,
            rule=(plans[column], scales[column]),
            p=found,
        )
        for column, found in enumerate(zip(one_sided, two_sided, levels, strict=True))
    )
    outcome = outcome_of(checks, ())
    return Gated(
        run=sums.b,
        baselines=(sums.a,),
        passed=outcome == "passed",
        outcome=outcome,
        checks=checks,
        contracts=(),
        policy=asked,
        correction="none" if asked.strict or len(sums.measures) < 3 else "max-T",
        n_resamples=n_draws,
        seed=upwards[0].seed,
        convention=sums.convention,
        missing={sums.b: sums.missing[1], sums.a: sums.missing[0]},
        judgments="same" if sums.judgments is not None else "unknown",
        cautions=with_level_cautions((), checks, asked, sums.b),
    )


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
    sums: ComparisonSums,
    column: int,
    one: DifferenceSums,
    policy: Policy,
    rule: tuple[Plan, MarginScale],
    p: tuple[float, float, float],
) -> Check:
    (plan, scale), measure = rule, sums.measures[column]
    sign, same = float(measure.direction), not one.wins and not one.losses
    low, high = one.interval(1 - 2 * policy.alpha)
    if same and not policy.strict:
        corrected, single, bound = 1.0, 1.0, 0.0
    else:
        corrected, single = p[0], one.p_value(plan.alternative, plan.null)
        bound = low if policy.strict else high
    tested = _tested(one, low, high, single)
    if policy.strict:
        span = measure.bounds[1] - measure.bounds[0]
        seen = max([0.0, *(-fall[3] for fall in sums.worst[column])])
        tested = unseen_in_sums(tested, plan, scale._replace(span=span), largest_seen=seen)
        corrected, single, bound = max(corrected, tested.p), tested.p, min(bound, tested.low)
    elif policy.tolerance:
        tested = tested._replace(
            margin=AppliedMargin(
                margin=policy.tolerance,
                applied=policy.tolerance * scale.share,
                answerable=scale.answerable,
            )
        )
    passed = (corrected <= policy.alpha) == policy.strict
    worst = tuple(
        QueryDrop(query=query, baseline=a, run=b, difference=b - a)
        for query, a, b, _ in sums.worst[column]
    )
    drop = _detectable(one, detectable_drop(tested, plan, policy, p[2]), measure.bounds)
    return Check(
        baseline=sums.a,
        measure=str(measure),
        direction=measure.direction,
        mean_baseline=tested.mean_a * sign + 0.0,
        mean_run=tested.mean_b * sign + 0.0,
        difference=one.difference * sign + 0.0,
        bound=bound * sign + 0.0,
        p=single,
        p_corrected=corrected,
        p_two_sided=1.0 if same else p[1],
        decides=not column,
        family=COMPANIONS if column else PRIMARY,
        passed=passed,
        outcome="passed" if passed else "failed",
        reason=reason_of(tested, corrected, p[1], policy, measure.direction),
        n=one.n,
        excluded_queries=sums.excluded[column],
        identical_queries=tested.ties,
        wins=one.wins,
        ties=tested.ties,
        losses=one.losses,
        detectable=drop.size,
        detectable_reason=drop.reason,
        worst=worst,
        tipping_reason=_NO_LISTS,
        margin=tested.margin,
        error_rate_known=passed or policy.strict or one.n >= queries_for_skew(0.0, one.n),
    )


def _detectable(one: DifferenceSums, drop: Detectable, bounds: tuple[float, float]) -> Detectable:
    """The detectable drop, if the sums settle it: where even changes of the largest size would be
    many, sizes do not matter.
    """
    squares = one.squares + one.total**2 / one.n if one.n else 0.0
    if not math.isfinite(drop.size) or squares >= _MANY_CHANGES * (bounds[1] - bounds[0]) ** 2:
        return drop
    return Detectable(
        math.nan, "sums of so few partitioned queries hold too little about single differences"
    )


def _tested(one: DifferenceSums, low: float, high: float, p: float) -> MeasureTest:
    sd = one.sd
    effect = float(in_units(np.asarray(one.difference), np.asarray(sd)))
    # The sums hold no single differences: all that differ count as of one size, which the normal
    # limit of the test allows.
    differ = one.wins + one.losses
    size = math.sqrt(max(one.squares + one.total**2 / one.n, 0.0) / differ) if differ else 0.0
    changes = SeenChanges(sizes=np.full(min(differ, 1), size), differ=differ, units=one.n)
    return MeasureTest(
        mean_a=one.total_a / one.n,
        mean_b=one.total_b / one.n,
        difference=one.difference,
        low=low,
        high=high,
        about="mean difference",
        lean=one.difference,
        p=p,
        p_equivalence=math.nan,
        exact=False,
        effect=effect,
        sd=sd,
        spread=sd,
        df=one.n - 1,
        wins=one.wins,
        ties=one.n - one.wins - one.losses,
        losses=one.losses,
        n=one.n,
        units=one.n,
        changes=changes,
    )
