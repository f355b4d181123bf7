"""Margins over answerable queries, guarded against rare large losses that the sample may not
contain.
"""

import math
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
from idealrank.stats.tolerance import subtracted


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
    one: MeasureTest, differences: FloatArray, design: Design, rule: MarginRule
) -> MeasureTest:
    """Return the test of a margin with p values that rare losses beyond the sample cannot undo.

    Equivalence is guarded on both sides.
    """
    plan, scale, alpha = rule
    strict = plan.alternative == "greater" and plan.null < 0
    asked = -plan.null if plan.margin is None else plan.margin
    if not asked:
        return one
    sides = [differences] if plan.margin is None else [differences, -differences]
    seen = max(0.0, *(-float(side.min()) for side in sides))
    applied = AppliedMargin(
        margin=asked,
        applied=asked * scale.share,
        answerable=scale.answerable,
        largest_seen=seen,
    )
    if plan.margin is None and not strict:
        return one._replace(margin=applied)
    limit = loss_limit(plan.largest_loss, scale.span, seen)
    refuted = plan.largest_loss is not None and limit is None
    applied = _with_limit(applied, limit, alpha)
    p = max(largest_loss_p(side, applied, design, refuted=refuted) for side in sides)
    if not strict:
        return one._replace(margin=applied, p_equivalence=max(one.p_equivalence, p))
    low = -math.inf if refuted else one.low
    if limit is not None and math.isfinite(low):
        from idealrank.stats.unseen_losses import unseen_loss_bound  # noqa: PLC0415  (strict gates only)

        low = min(low, unseen_loss_bound(differences, limit, alpha=plan.alpha, design=design))
    return one._replace(margin=applied, p=max(one.p, p), low=low)


def guarded_alone(
    one: MeasureTest,
    sides: tuple[FloatArray, FloatArray],
    design: Design,
    plan: Plan,
    about: tuple[BoolArray, tuple[float, float]],
) -> MeasureTest:
    """Return a test of equivalence that was made without a scale, by the scaled margin and guarded.

    `about` has the answerable queries of the design, and the bounds of the measure.
    """
    if plan.margin is None:
        return one
    answerable, (least, greatest) = about
    scale = MarginScale.of(answerable, greatest - least, design)
    a, b = (side[:, None] for side in sides)
    if scale.share != 1.0:
        one = one._replace(
            p_equivalence=compare_columns(a, b, design, scale.on(plan))[0].p_equivalence
        )
    return guarded(one, subtracted(a, b)[:, 0], design, MarginRule(plan, scale, plan.alpha))


def unseen_in_sums(
    one: MeasureTest, plan: Plan, scale: MarginScale, *, largest_seen: float
) -> MeasureTest:
    """Return a strict test from sums alone, guarded by the number of queries: with too few of them,
    rare losses may all be missed.

    Losses that were seen count only by the test of the sums, since no value by query is at hand.
    """
    margin = -plan.null
    limit = loss_limit(plan.largest_loss, scale.span, largest_seen)
    asked = AppliedMargin(
        margin=margin / scale.share,
        applied=margin,
        answerable=scale.answerable,
        largest_seen=largest_seen,
    )
    applied = _with_limit(asked, limit, plan.alpha)
    if limit is None or limit <= margin:
        return one._replace(
            margin=applied, p=max(one.p, float(plan.largest_loss is not None and limit is None))
        )
    p = math.exp(one.n * math.log1p(-margin / limit))
    return one._replace(
        margin=applied,
        p=max(one.p, p),
        low=min(one.low, limit * math.expm1(math.log(plan.alpha) / one.n)),
    )


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
