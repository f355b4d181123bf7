"""Margins guarded against rare large losses that the sample may not contain, and sentences on
results whose error rate is not known.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from idealrank.data.types import BoolArray, FloatArray
from idealrank.stats.applied_margins import (
    AppliedMargin,
    answerable_share,
    largest_loss_p,
    loss_limit,
)
from idealrank.stats.comparison import MeasureTest, Plan, compare_columns
from idealrank.stats.design import Design
from idealrank.stats.effects import queries_for_skew
from idealrank.stats.tolerance import subtracted


def margin_cautions(
    margin: AppliedMargin, n: int, *, largest_loss: float | None, is_within: bool, refuted: str
) -> list[str]:
    """Describe what limits a margin: too few queries, another largest loss, no known error rate.

    `is_within`: the test showed a difference within the margin. `refuted`: what follows where a
    query loses more than the largest loss given, and the measure has no range.
    """
    cautions = []
    if largest_loss is not None and margin.largest_loss != largest_loss:
        instead = refuted
        if margin.largest_loss is not None:
            instead = f"the range of the measure, {margin.largest_loss:g}, is taken"
        cautions.append(
            f"A query differs by {margin.largest_seen:.4g}, more than the largest loss given, "
            f"{largest_loss:g}: {instead}."
        )
    elif margin.largest_loss is None and is_within:
        cautions.append(
            f"The error rate of a difference below {margin.margin:g} is not known: the measure has "
            "no finite range, so that rare queries may lose more than these show. Give the largest "
            "loss that one query can have."
        )
    if not is_within and (margin.queries_needed or 0) > n:
        share = margin.unseen_share(n)
        widest = _floor(margin.applied / share)
        cautions.append(
            f"{_queries(n)} cannot show a difference below "
            f"{margin.margin:g}, even if none differs: up to {100 * share:.2g}% of all queries may "
            f"still lose {margin.largest_loss:g}, the largest possible loss. Use "
            f"{margin.queries_needed:,} queries or more; or give a largest loss of at most "
            f"{widest:g}, if no query can lose more."
        )
    return cautions


def scale_note(margin: AppliedMargin, n: int, name: str = "margin") -> str:
    """Say to which queries a margin refers; empty if every query compared has a relevant
    document.
    """
    if margin.answerable is None:
        return (
            f"The queries that have a relevant document are not known: the {name} of "
            f"{margin.margin:g} refers to all {_queries(n)}. Evaluate the runs again to refer it "
            "to those."
        )
    if margin.applied == margin.margin:
        return ""
    return (
        f"The {name} of {margin.margin:g} refers to the {margin.answerable:,} of {n:,} queries "
        f"that have a relevant document: {margin.applied:.4g} in the mean of all."
    )


def skew_caution(verdict: str, skew: float, n: int, *, clustered: bool = False) -> str:
    """Say that a verdict has no known error rate, since n queries may lack rare large differences.

    `verdict` names the runs and the measure, and `skew` is the skewness of the differences.
    """
    if n < queries_for_skew(0.0, n) or clustered:
        why = _too_few(n, queries_for_skew(skew, 0), clustered=clustered)
    else:
        why = (
            f"the differences are skewed ({skew:.2g}); use {queries_for_skew(skew, n):,} queries "
            f"or more"
        )
    return f"The error rate of the verdict on {verdict} is not known, for {why}."


def skew_cautions(
    verdicts: Mapping[str, tuple[float, int]], *, clustered: bool = False
) -> list[str]:
    """Return the caution of the verdicts without a known error rate, one for all; none without such
    verdicts.
    """
    if len(verdicts) < 2:
        return [
            skew_caution(verdict, skew, n, clustered=clustered)
            for verdict, (skew, n) in verdicts.items()
        ]
    fewest = min(n for _, n in verdicts.values())
    needed = max(queries_for_skew(skew, 0) for skew, _ in verdicts.values())
    return [
        f"The error rate of {len(verdicts):,} verdicts is not known, for "
        f"{_too_few(fewest, needed, clustered=clustered)}."
    ]


def _too_few(n: int, needed: int, *, clustered: bool) -> str:
    if clustered:
        return (
            f"the clusters of {_queries(n)} may lack rare large differences; use {needed:,} "
            "clusters or more"
        )
    return f"{_queries(n)} may lack rare large differences; use {needed:,} or more"


def slice_skew_caution(verdicts: str, *, skew: float, n: int, sizes: list[int], units: str) -> str:
    """Say that verdicts on slices of these sizes have no known error rate, by the skewness over all
    n queries; empty if they have.
    """
    needed = queries_for_skew(skew, n)
    small = [size for size in sizes if size < needed]
    if not small:
        return ""
    count = f"{len(small)} slice" if len(small) == 1 else f"{len(small):,} slices"
    if n < queries_for_skew(0.0, n):
        why = f"all {n:,} {units} together may lack rare large differences; use {needed:,} or more"
    else:
        why = (
            f"the differences of all queries are skewed ({skew:.2g}), and a slice of fewer than "
            f"{needed:,} {units} may lack the rare large ones"
        )
    return f"The error rate of the verdicts on {count}, {verdicts}, is not known: {why}."


def _queries(n: int) -> str:
    return "1 query" if n == 1 else f"{n:,} queries"


def _floor(value: float) -> float:
    """Round down to two digits; 1e-12 keeps a number of two digits that the division lowers."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.floor(value / unit * (1 + 1e-12)) * unit


class MarginScale(NamedTuple):
    """Scale of the margin of one test."""

    # Answerable share of the queries compared, or of their weight; 1 if it is not known
    share: float = 1.0
    answerable: int | None = None  # Number of these queries
    span: float = math.inf  # Range of the measure; infinite if it has none

    @classmethod
    def of(cls, answerable: BoolArray | None, span: float, design: Design) -> "MarginScale":
        """Scale of the queries of a design, of which those with a relevant document are
        answerable.
        """
        count = None if answerable is None else int(answerable.sum())
        return cls(answerable_share(answerable, design), count, span)

    def on(self, plan: Plan) -> Plan:
        """Return the plan whose margin, or null, is one of the mean over all queries compared."""
        if self.share == 1.0 or (plan.margin is None and not plan.null):
            return plan
        margin = None if plan.margin is None else plan.margin * self.share
        return replace(plan, margin=margin, null=plan.null * self.share)


class MarginRule(NamedTuple):
    """Plan of a test as asked, what its margin refers to, and the level of one test of its
    family.
    """

    plan: Plan
    scale: MarginScale
    alpha: float


def guarded(
    test: MeasureTest, differences: FloatArray, design: Design, rule: MarginRule
) -> MeasureTest:
    """Return the test of a margin with p values that rare losses beyond the sample cannot undo.

    Equivalence is guarded on both sides.
    """
    plan, scale, alpha = rule
    strict = plan.alternative == "greater" and plan.null < 0
    margin = -plan.null if plan.margin is None else plan.margin
    if not margin:
        return test

    sides = [differences] if plan.margin is None else [differences, -differences]
    largest_seen = max(0.0, -min(float(side.min()) for side in sides))
    applied = AppliedMargin(
        margin=margin,
        applied=margin * scale.share,
        answerable=scale.answerable,
        largest_seen=largest_seen,
    )
    if plan.margin is None and not strict:
        return test._replace(margin=applied)

    limit = loss_limit(plan.largest_loss, scale.span, largest_seen)
    refuted = plan.largest_loss is not None and limit is None
    applied = _with_limit(applied, limit, alpha)
    p = max(largest_loss_p(side, applied, design, refuted=refuted) for side in sides)
    if not strict:
        return test._replace(margin=applied, p_equivalence=max(test.p_equivalence, p))
    low = -math.inf if refuted else test.low
    if limit is not None and math.isfinite(low):
        from idealrank.stats.unseen_losses import unseen_loss_bound  # noqa: PLC0415  (strict gates only)

        low = min(low, unseen_loss_bound(differences, limit, alpha=plan.alpha, design=design))
    return test._replace(margin=applied, p=max(test.p, p), low=low)


def guarded_alone(
    test: MeasureTest,
    sides: tuple[FloatArray, FloatArray],
    design: Design,
    plan: Plan,
    *,
    answerable: BoolArray,
    span: float,
) -> MeasureTest:
    """Return a test of equivalence that was made without a scale, by the scaled margin and guarded.

    `answerable` marks queries of the design; `span` is the range of the measure.
    """
    if plan.margin is None:
        return test
    scale = MarginScale.of(answerable, span, design)
    a, b = (side[:, None] for side in sides)
    if scale.share != 1.0:
        (scaled,) = compare_columns(a, b, design, scale.on(plan))
        test = test._replace(p_equivalence=scaled.p_equivalence)
    return guarded(test, subtracted(a, b)[:, 0], design, MarginRule(plan, scale, plan.alpha))


def unseen_in_sums(
    test: MeasureTest, plan: Plan, scale: MarginScale, *, largest_seen: float
) -> MeasureTest:
    """Return a strict test from sums alone, guarded by the number of queries: with too few of them,
    rare losses may all be missed. The margin of `plan` is on `scale` already, unlike in `guarded`.

    Losses that were seen count only by the test of the sums, since no value by query is at hand.
    """
    margin = -plan.null
    limit = loss_limit(plan.largest_loss, scale.span, largest_seen)
    unlimited = AppliedMargin(
        margin=margin / scale.share,
        applied=margin,
        answerable=scale.answerable,
        largest_seen=largest_seen,
    )
    applied = _with_limit(unlimited, limit, plan.alpha)
    if limit is None or limit <= margin:
        # A loss beyond the one given refutes it: no bound holds then, as in `guarded`.
        refuted = plan.largest_loss is not None and limit is None
        low = -math.inf if refuted else test.low
        return test._replace(margin=applied, p=max(test.p, float(refuted)), low=low)
    # If a share of margin / limit of all queries lost the limit, the mean would fall by the margin:
    # p is the chance that n queries hold none of them, and the bound is the fall at which it is
    # alpha.
    p = math.exp(test.n * math.log1p(-margin / limit))
    bound = limit * math.expm1(math.log(plan.alpha) / test.n)
    return test._replace(margin=applied, p=max(test.p, p), low=min(test.low, bound))


def _with_limit(margin: AppliedMargin, limit: float | None, alpha: float) -> AppliedMargin:
    """The margin with the largest loss and the queries that it takes."""
    if limit is None or limit <= margin.applied:
        return replace(
            margin,
            largest_loss=limit,
            queries_needed=None if limit is None else 1,
            level=None if limit is None else alpha,
        )
    from idealrank.stats.unseen_losses import queries_without_loss  # noqa: PLC0415  (few comparisons have a margin)

    needed = queries_without_loss(margin.applied, limit, alpha)
    return replace(margin, largest_loss=limit, queries_needed=needed, level=alpha)
