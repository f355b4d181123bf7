"""Tipping points: the share of unjudged documents that would have to be relevant to undo a
difference or to reverse it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from idealrank.analysis.comparison.places import Places
from idealrank.analysis.comparison.reach import Limits, Reach, shrinking
from idealrank.data.types import BoolArray, FloatArray
from idealrank.stats.design import Design, student_mean
from idealrank.stats.special import stdtrit

TEST = "paired t"
_STEPS = 20  # shares between 0 and 1 at which a measure that is no sum is worked out


@dataclass(frozen=True, kw_only=True)
class Tipping:
    """Share of unjudged documents that would have to be relevant for a difference to go or to turn;
    see `tipping_point`.

    A document that one run alone shows within the cutoff is *its own*.
    """

    # The run that is behind: its unjudged documents would have to be relevant
    side: Literal["a", "b"] | None
    # significance, sign: The least share of that run's own unjudged documents that, if relevant,
    # undoes the significance, and reverses the sign; no other unjudged document is relevant
    significance: float | None
    sign: float | None
    # significance_both, sign_both: The same where one share of all unjudged documents is relevant,
    # those that both runs show included
    significance_both: float | None
    sign_both: float | None
    # unjudged_a, unjudged_b, unjudged_both: Unjudged documents within the cutoff: own ones of a and
    # of b, and those that both show
    unjudged_a: int
    unjudged_b: int
    unjudged_both: int
    # rate_judged, rate_exclusive: Relevant share of the judged documents of the run that is behind,
    # at the ranks of its unjudged ones: of all, and of those that the other run does not show
    rate_judged: float | None
    rate_exclusive: float | None
    # n_judged, n_exclusive: Judged documents behind these rates
    n_judged: int
    n_exclusive: int
    # Upper 90 % limit of the relevant share of the own unjudged documents of the run that is behind
    likely: float
    # Share for the other run: the lower 90 % limit of its own exclusive rate, less where its
    # documents lack judgments that documents of both runs have; 0 of fewer than 20 documents
    likely_ahead: float
    likely_both: float  # The higher of both runs' upper limits
    reaches: bool  # Whether the verdict stays at every likely share of relevant documents
    # significance_moved, sign_moved: As `significance` and `sign`, but the relevant documents raise
    # the ideal of their query, too
    significance_moved: float | None = None
    sign_moved: float | None = None
    test: str = TEST  # Of significance: ``paired t``, whatever test the comparison uses
    # Estimated number of labels after which the judgments decide; see `labels_needed`
    labels_needed: int | None = None

    @property
    def own_behind(self) -> int:
        """Number of own unjudged documents of the run that is behind; 0 without a difference."""
        return {"a": self.unjudged_a, "b": self.unjudged_b, None: 0}[self.side]

    def as_dict(self) -> dict[str, Any]:
        """Everything by name, as JSON has it."""
        return asdict(self)

    def reversed(self) -> "Tipping":
        """Return the tipping point of the difference a - b."""
        side = self.side
        if side is not None:
            side = "b" if side == "a" else "a"
        return replace(self, side=side, unjudged_a=self.unjudged_b, unjudged_b=self.unjudged_a)


class Question(NamedTuple):
    """Test, level and margin of a difference.

    `null` is the difference that would not count, as in a one-sided test with a tolerance;
    `critical` the t statistic beyond which a difference from it is significant.
    """

    critical: float
    null: float = 0.0
    margin: float | None = None  # Of equivalence, if that is the result
    # The t statistic whose p value is that of the test; None where `critical` is its own quantile
    observed: float | None = None


def critical_t(alpha: float, df: float, sides: int) -> float:
    """The t statistic beyond which a difference is significant."""
    return float(stdtrit(df, 1 - alpha / sides)) if df > 0 else math.inf


def tipping_point(
    reach: Reach, differences: FloatArray, kept: BoolArray, design: Design, question: Question
) -> Tipping:
    """Find where a difference tips, and whether the judgments carry it."""
    path = partial(_Path.of, differences[kept], design=design, question=question)
    # The shares count documents of the run that is behind.
    side = _behind(differences[kept], design, question)
    sides = _Sides.of(reach, side)

    def alone(share: float) -> FloatArray:
        return sides.moved(behind=share, ahead=0.0)[kept]

    def in_both_runs(share: float) -> FloatArray:
        return reach.moved(share, share, both=True)[kept]

    linear = reach.a.linear
    any_moves = bool(reach.own_a.any() or reach.own_b.any() or reach.shared[0].size)
    own_path = path(alone, linear=linear, moves=bool(sides.own.any()))
    any_path = path(in_both_runs, linear=linear, moves=any_moves)
    path_with_ideal = _Path(significance=None, sign=None)
    if side is not None:
        path_with_ideal = _with_moving_ideal(sides, differences, kept, path)
    return Tipping(
        side=side,
        significance=own_path.significance,
        sign=own_path.sign,
        significance_both=any_path.significance,
        sign_both=any_path.sign,
        unjudged_a=int(reach.own_a.sum()),
        unjudged_b=int(reach.own_b.sum()),
        unjudged_both=int(reach.shared[0].size),
        rate_judged=sides.behind.judged.share,
        rate_exclusive=sides.behind.exclusive.share,
        n_judged=round(sides.behind.judged.n),
        n_exclusive=round(sides.behind.exclusive.n),
        likely=sides.behind.high,
        likely_ahead=sides.ahead.low,
        likely_both=max(sides.behind.high, sides.ahead.high),
        reaches=judgments_reach(reach, differences, kept, design, question),
        significance_moved=path_with_ideal.significance,
        sign_moved=path_with_ideal.sign,
    )


def judgments_reach(
    reach: Reach, differences: FloatArray, kept: BoolArray, design: Design, question: Question
) -> bool:
    """Return whether the judgments carry a difference: `Tipping.reaches` alone, for a part of the
    work of `tipping_point`.

    The parameters are as for `tipping_point`.
    """
    sides = _Sides.of(reach, _behind(differences[kept], design, question))
    behind, ahead = sides.behind, sides.ahead
    likely_both = max(behind.high, ahead.high)
    toward_change = sides.moved(behind=behind.high, ahead=ahead.low)
    extremes = [toward_change[kept], reach.moved(likely_both, likely_both, both=True)[kept]]
    if question.margin is None:
        return _stays_significant(extremes, differences[kept], design, question)
    # A margin has two ends: a difference also leaves it by growing.
    away = sides.moved(behind=behind.low, ahead=ahead.high)
    return _stays_within([*extremes, away[kept]], differences[kept], design, question)


def _behind(
    differences: FloatArray, design: Design, question: Question
) -> Literal["a", "b"] | None:
    """Return the run that is behind; None without a difference."""
    mean = float(design.mean(differences)) - question.null
    if mean < 0:
        return "b"
    return "a" if mean > 0 else None


class _Sides(NamedTuple):
    """The run that is behind and the other one; without a difference, b is taken to be behind."""

    reach: Reach
    is_a_behind: bool
    places: Places  # Documents of the run that is behind
    own: BoolArray  # Which of its unjudged documents the other run does not show
    behind: Limits
    ahead: Limits

    @classmethod
    def of(cls, reach: Reach, side: Literal["a", "b"] | None) -> "_Sides":
        is_a_behind = side == "a"
        limits_a, limits_b = reach.limits
        return cls(
            reach=reach,
            is_a_behind=is_a_behind,
            places=reach.a if is_a_behind else reach.b,
            own=reach.own_a if is_a_behind else reach.own_b,
            behind=limits_a if is_a_behind else limits_b,
            ahead=limits_b if is_a_behind else limits_a,
        )

    def moved(self, *, behind: float, ahead: float) -> FloatArray:
        """Change of each query's difference if these shares of own documents were relevant."""
        if self.is_a_behind:
            return self.reach.moved(behind, ahead)
        return self.reach.moved(ahead, behind)


def _with_moving_ideal(
    sides: _Sides, differences: FloatArray, kept: BoolArray, path: "Callable[..., _Path]"
) -> "_Path":
    """Find where the difference tips if the ideal moves with the documents of the run behind."""
    factor = shrinking(sides.places, sides.own, sides.reach.gain, sides.reach.n_queries)
    if factor is None:
        return _Path(significance=None, sign=None)
    whole = sides.moved(behind=1.0, ahead=0.0)

    def moved(share: float) -> FloatArray:
        return ((differences + share * whole) * factor(share) - differences)[kept]

    return path(moved, linear=False, moves=bool(sides.own.any()))


def _stays_significant(
    extremes: Sequence[FloatArray], differences: FloatArray, design: Design, question: Question
) -> bool:
    """Return whether a difference stays significant, with its sign, for every extreme position of
    the unjudged documents.
    """
    start = differences - question.null
    sign = np.sign(float(design.mean(start)))
    moved = [extreme for extreme in extremes if extreme.any()]
    if not moved:
        return True
    student = student_mean(
        np.column_stack([start, *(start + extreme for extreme in moved)]), design
    )
    # The first column is the difference as judged, the others are the extremes; turned above 0.
    mean = sign * student.mean
    error = student.se
    if not np.isfinite(error).all():  # one query: no test finds anything
        return True
    critical = question.critical
    if error[0] > 0 and mean[0] <= critical * error[0]:
        # The test of the comparison finds what the t test does not. Its p value says how far beyond
        # its critical value its own statistic is; the t statistic may fall by the same share.
        # Without such a p value, 1e-9 less keeps extremes that change nothing beyond it.
        spare = 1 - 1e-9
        if question.observed and question.observed > critical:
            spare = critical / question.observed
        critical = mean[0] / error[0] * spare
    if math.isinf(critical):  # of two queries, say: no statistic is beyond it
        return False
    return bool((mean[1:] > critical * error[1:]).all())


def _stays_within(
    extremes: Sequence[FloatArray], differences: FloatArray, design: Design, question: Question
) -> bool:
    """Return whether two runs stay equivalent for every extreme position of the unjudged
    documents.
    """
    moved = [extreme for extreme in extremes if extreme.any()]
    if not moved:
        return True
    student = student_mean(np.column_stack([differences + extreme for extreme in moved]), design)
    if not np.isfinite(student.se).all():
        return False
    farthest_end = np.abs(student.mean) + question.critical * student.se
    return bool((farthest_end < (question.margin or 0.0)).all())


class _Path(NamedTuple):
    """Shares at which the difference is not significant any more, and has another sign, as a share
    grows from 0 to 1.
    """

    significance: float | None
    sign: float | None

    @classmethod
    def of(
        cls,
        differences: FloatArray,
        moved: Callable[[float], FloatArray],
        *,
        design: Design,
        question: Question,
        linear: bool,
        moves: bool,
    ) -> "_Path":
        """`linear`: in the share; `moves`: there is a document to be relevant, else it is looked at
        once.
        """
        start = differences - question.null
        # Where values are sums over documents, the differences are d + s * e in the share s. Mean
        # and variance along that line follow from three of each, and the share is a root: no steps.
        if linear:
            whole = moved(1.0)
            student = student_mean(np.column_stack((start, whole, start + whole)), design)
            return cls._of_line(student.mean, student.se**2, question.critical)
        shares = np.linspace(0.0, 1.0, _STEPS + 1) if moves else np.zeros(1)
        student = student_mean(
            np.column_stack([start + moved(share) for share in shares.tolist()]), design
        )
        # A difference that has turned may be significant with the other sign: that does not count.
        # Times the first sign, the first crossing of 0 is looked for.
        lead = student.mean * np.sign(student.mean[0])
        if math.isinf(question.critical):  # nothing is significant, even without a variance
            return cls(significance=0.0, sign=_first_fall(shares, lead))
        beyond = lead - question.critical * student.se
        return cls(significance=_first_fall(shares, beyond), sign=_first_fall(shares, lead))

    @classmethod
    def _of_line(cls, mean: FloatArray, variance: FloatArray, critical: float) -> "_Path":
        """Solve ``(m + s k)^2 = critical^2 (v + 2 s u + s^2 w)`` for the smallest share s."""
        # The differences d have the mean m and the squared error v. If all documents are relevant,
        # they change by e, with the mean k and the squared error w. The covariance of d and e is u:
        # half of what the variance of d + e exceeds the sum of both variances by.
        m = float(mean[0])
        k = float(mean[1])
        v = float(variance[0])
        w = float(variance[1])
        u = (float(variance[2]) - v - w) / 2
        sign = -m / k if m * k < 0 and abs(k) >= abs(m) else None
        if math.isinf(critical) or m * m <= critical**2 * v:
            return cls(significance=0.0, sign=0.0 if m == 0 else sign)
        # The equation is quadratic s^2 + 2 half_linear s + constant = 0.
        quadratic = k * k - critical**2 * w
        half_linear = m * k - critical**2 * u
        constant = m * m - critical**2 * v
        discriminant = half_linear * half_linear - quadratic * constant
        roots = []
        if quadratic == 0:
            roots = [-constant / (2 * half_linear)] if half_linear else []
        elif discriminant >= 0:
            # Of both roots the larger one is computed, and the other from their product: no
            # difference of nearly equal numbers.
            larger = -(half_linear + math.copysign(math.sqrt(discriminant), half_linear))
            roots = [larger / quadratic]
            if larger:
                roots.append(constant / larger)
        within = [root for root in (*roots, sign) if root is not None and 0 < root <= 1]
        # The squared equation also has the share at which the other sign becomes significant; it is
        # beyond the one where the sign turns, so the smallest is meant. Without spread all of them
        # are one, but for rounding.
        return cls(significance=min(within, default=None), sign=sign)


def _first_fall(shares: FloatArray, margin: FloatArray) -> float | None:
    """The first share at which a margin is not above 0, between two of them by a straight line."""
    below = np.flatnonzero(margin <= 0)
    if not below.size:
        return None
    step = int(below[0])
    if step == 0:
        return 0.0
    before = float(margin[step - 1])
    after = float(margin[step])
    stride = shares[step] - shares[step - 1]
    return float(shares[step - 1] + stride * before / (before - after))
