"""Bounds of a difference over all grades of unjudged documents, and tipping points: the share of
these documents that would have to be relevant to undo or reverse it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from threading import Lock
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from idealrank.analysis.comparison.places import (
    Places,
    matches,
    unjudged_keys,
)
from idealrank.analysis.comparison.query_table import rows_in
from idealrank.analysis.comparison.reach import Reach, shrinking
from idealrank.bounds.value_bounds import difference_bounds_of
from idealrank.data.interchange import finite
from idealrank.data.judged import Judged
from idealrank.data.types import BoolArray, FloatArray, IntArray, KeyArray
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.stats.design import Design, student_mean
from idealrank.stats.special import stdtrit


@dataclass(frozen=True, kw_only=True)
class GradeBounds:
    """Lowest and highest mean difference of two runs over all grades of the documents that either
    shows unjudged within the cutoff.

    Some grades attain both: see `idealrank.judging.difference_bounds`.
    """

    # low, high: Means over the queries compared, weighted if these have weights
    low: float
    high: float
    either: int  # Number of queries in which either run may have the higher value
    max_grade: float  # Highest grade of an unjudged document: the highest grade judged, at least 1
    depth: int  # The cutoff

    @classmethod
    def of(
        cls, a: Evaluation, b: Evaluation, measure: Measure, queries: Sequence[str], design: Design
    ) -> "GradeBounds | None":
        """Bounds of evaluations that keep their unjudged documents, over queries of both.

        None without unjudged documents or a fixed cutoff, and for measures whose bounds are not
        exact at any size.
        """
        depth, lists = measure.cutoff, [evaluation.judged for evaluation in (a, b)]
        if (
            not isinstance(depth, int)
            or any(judged is None or judged.unjudged is None for judged in lists)
            or not queries
        ):
            return None

        first, second = (cast("Judged", judged) for judged in lists)
        if not all(set(queries) <= set(judged.queries) for judged in (first, second)):
            return None
        try:
            deepest = measure.under(a.convention).hits_needed()
            bounds = difference_bounds_of(
                first,
                second,
                measure,
                None,
                depth,
                convention=a.convention,
                queries=queries,
                most=0,
                deepest=deepest,
            )
        except OptionError:
            return None
        unjudged = bounds.unjudged_a + bounds.unjudged_b + bounds.unjudged_both
        if not bounds.exact or not unjudged.any():
            return None
        return cls(
            low=float(design.mean(bounds.low)),
            high=float(design.mean(bounds.high)),
            either=int(bounds.flips.sum()),
            max_grade=bounds.max_grade,
            depth=depth,
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything by name, as JSON has it."""
        return {name: finite(value) for name, value in asdict(self).items()}

    def reversed(self) -> "GradeBounds":
        """Return the bounds of the difference a - b."""
        return replace(self, low=0.0 - self.high, high=0.0 - self.low)


TEST = "paired t"
# Unjudged documents of a run, up to which whole lists cost little compared with the comparison.
_MANY = 50_000
_STEPS = 20  # shares between 0 and 1 at which a measure that is no sum is worked out


@dataclass(frozen=True, kw_only=True)
class Tipping:
    """Share of unjudged documents that would have to be relevant for a difference to go or to turn;
    see `tipping_point`.

    A document that one run alone shows within the cutoff is *its own*.
    """

    # The run that is behind: its unjudged documents would have to be relevant
    side: Literal["a", "b"] | None
    # significance, sign: Share of that run's own unjudged documents, with the other run's not
    # relevant, from which on the difference is not significant any more, and turns its sign
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
    rate_judged: float | None
    rate_exclusive: float | None
    # n_judged, n_exclusive: Judged documents behind these rates
    n_judged: int
    n_exclusive: int
    likely: float
    # Share for the other run: the lower 90 % limit of its own exclusive rate, less where its
    # documents lack judgments that documents of both runs have; 0 of fewer than 20 documents
    likely_ahead: float
    likely_both: float  # The higher of both runs' upper limits
    reaches: bool
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
    margin: float | None = None
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
    of_a, of_b = reach.limits
    behind, ahead = (of_a, of_b) if side == "a" else (of_b, of_a)

    def alone(share: float) -> FloatArray:
        return reach.moved(share, 0.0)[kept] if side == "a" else reach.moved(0.0, share)[kept]

    def both(share: float) -> FloatArray:
        return reach.moved(share, share, both=True)[kept]

    linear = reach.a.linear
    own_moves = bool((reach.own_a if side == "a" else reach.own_b).any())
    any_moves = bool(reach.own_a.any() or reach.own_b.any() or reach.shared[0].size)
    own_path = path(alone, linear=linear, moves=own_moves)
    any_path = path(both, linear=linear, moves=any_moves)
    outer = _outer(reach, side, differences, kept, path)
    return Tipping(
        side=side,
        significance=own_path.significance,
        sign=own_path.sign,
        significance_both=any_path.significance,
        sign_both=any_path.sign,
        unjudged_a=int(reach.own_a.sum()),
        unjudged_b=int(reach.own_b.sum()),
        unjudged_both=int(reach.shared[0].size),
        rate_judged=behind.judged.share,
        rate_exclusive=behind.exclusive.share,
        n_judged=round(behind.judged.n),
        n_exclusive=round(behind.exclusive.n),
        likely=behind.high,
        likely_ahead=ahead.low,
        likely_both=max(of_a.high, of_b.high),
        reaches=judgments_reach(reach, differences, kept, design, question),
        significance_moved=outer.significance,
        sign_moved=outer.sign,
    )


def judgments_reach(
    reach: Reach, differences: FloatArray, kept: BoolArray, design: Design, question: Question
) -> bool:
    """Return whether the judgments carry a difference: `Tipping.reaches` alone, for a part of the
    work of `tipping_point`.

    The parameters are as for `tipping_point`.
    """
    side = _behind(differences[kept], design, question)
    of_a, of_b = reach.limits
    behind, ahead = (of_a, of_b) if side == "a" else (of_b, of_a)
    both = max(of_a.high, of_b.high)
    own = (
        reach.moved(behind.high, ahead.low) if side == "a" else reach.moved(ahead.low, behind.high)
    )
    extremes = [own[kept], reach.moved(both, both, both=True)[kept]]
    if question.margin is None:
        return _stays_significant(extremes, differences[kept], design, question)
    other = (
        reach.moved(behind.low, ahead.high) if side == "a" else reach.moved(ahead.high, behind.low)
    )
    return _stays_within([*extremes, other[kept]], differences[kept], design, question)


def _behind(
    differences: FloatArray, design: Design, question: Question
) -> Literal["a", "b"] | None:
    """Return the run that is behind; None without a difference."""
    mean = float(design.mean(differences)) - question.null
    if mean < 0:
        return "b"
    return "a" if mean > 0 else None


def _outer(
    reach: Reach,
    side: Literal["a", "b"] | None,
    differences: FloatArray,
    kept: BoolArray,
    path: "Callable[..., _Path]",
) -> "_Path":
    """Find where the difference tips if the ideal moves with the documents of the run behind."""
    places, own = (reach.a, reach.own_a) if side == "a" else (reach.b, reach.own_b)
    factor = shrinking(places, own, reach.gain, reach.n_queries)
    if side is None or factor is None:
        return _Path(None, None)
    whole = reach.moved(1.0, 0.0) if side == "a" else reach.moved(0.0, 1.0)

    def moved(share: float) -> FloatArray:
        return ((differences + share * whole) * factor(share) - differences)[kept]

    return path(moved, linear=False, moves=bool(own.any()))


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
    mean, error = sign * student.mean, student.se
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
        # Where values are sums over documents, the differences are d + s * w in the share s. Mean
        # and variance along that line follow from three of each, and the share is a root: no steps.
        if linear:
            whole = moved(1.0)
            student = student_mean(np.column_stack((start, whole, start + whole)), design)
            return cls._of_line(student.mean, student.se**2, question.critical)
        shares = np.linspace(0.0, 1.0, _STEPS + 1) if moves else np.zeros(1)
        student = student_mean(
            np.column_stack([start + moved(share) for share in shares.tolist()]), design
        )
        # With the other sign a difference may be significant again, but it is not so still: times
        # the first sign, one crossing of 0 is looked for.
        lead = student.mean * np.sign(student.mean[0])
        if math.isinf(question.critical):  # nothing is significant, even without a variance
            return cls(0.0, _first_fall(shares, lead))
        beyond = lead - question.critical * student.se
        return cls(significance=_first_fall(shares, beyond), sign=_first_fall(shares, lead))

    @classmethod
    def _of_line(cls, mean: FloatArray, variance: FloatArray, critical: float) -> "_Path":
        """Solve ``(m + s k)^2 = c^2 (v + 2 s u + s^2 w)`` for the smallest share s."""
        # Var(d + s w) = v + 2 s u + s^2 w, where u is the covariance: the variance of d + w less
        # both of theirs is twice it.
        m, k = float(mean[0]), float(mean[1])
        v, w = float(variance[0]), float(variance[1])
        u = (float(variance[2]) - v - w) / 2
        sign = -m / k if m * k < 0 and abs(k) >= abs(m) else None
        if math.isinf(critical) or m * m <= critical**2 * v:
            return cls(0.0, 0.0 if m == 0 else sign)
        # The equation is a s^2 + 2 b s + c = 0.
        a, b, c = k * k - critical**2 * w, m * k - critical**2 * u, m * m - critical**2 * v
        discriminant = b * b - a * c
        roots = []
        if a == 0:
            roots = [-c / (2 * b)] if b else []
        elif discriminant >= 0:
            # Of both roots the larger one is computed, and the other from their product: no
            # difference of nearly equal numbers.
            q = -(b + math.copysign(math.sqrt(discriminant), b))
            roots = [q / a, *([c / q] if q else [])]
        within = [root for root in (*roots, sign) if root is not None and 0 < root <= 1]
        # The squared equation also has the share at which the other sign becomes significant; it is
        # beyond the one where the sign turns, so the smallest is meant. Without spread all of them
        # are one, but for rounding.
        return cls(min(within, default=None), sign)


def _first_fall(shares: FloatArray, margin: FloatArray) -> float | None:
    """The first share at which a margin is not above 0, between two of them by a straight line."""
    below = np.flatnonzero(margin <= 0)
    if not below.size:
        return None
    at = int(below[0])
    if at == 0:
        return 0.0
    left, right = float(margin[at - 1]), float(margin[at])
    return float(shares[at - 1] + (shares[at] - shares[at - 1]) * left / (left - right))


class Tippings:
    """Reach of the judgments for pairs of runs; what is known of a run is worked out once."""

    def __init__(
        self,
        evaluations: Sequence[Evaluation],
        measures: Sequence[Measure],
        queries: Sequence[str],
        *,
        every_measure: bool,
        sampled_negatives: float | None = None,
    ) -> None:
        self._evaluations = evaluations
        self.measures = measures
        self._queries = queries
        self._every = every_measure
        self._sampled_negatives = sampled_negatives
        self._places: dict[tuple[int, int], Places | str] = {}
        self._keys: dict[int, KeyArray] = {}
        self._matches: dict[tuple[int, int], tuple[IntArray, IntArray]] = {}
        self._matching = Lock()  # measures come on several threads

    def reach(
        self, pair: tuple[int, int], column: int, *, within: BoolArray | None = None
    ) -> Reach | str:
        """Return what the unjudged documents of a pair could add by a measure, or why it is
        unknown.

        `within` is a slice of the queries: documents of other queries tell nothing of its own.
        """
        sides = self.sides(pair, column)
        if isinstance(sides, str):
            return sides
        first, second = sides
        if within is not None:
            first, second = first.only(within), second.only(within)
        return Reach.of(
            first,
            second,
            len(self._queries),
            self.match(pair),
            sampled_negatives=self._sampled_negatives,
        )

    def bounds(
        self, pair: tuple[int, int], column: int, kept: BoolArray, design: Design
    ) -> GradeBounds | None:
        """Bounds of the difference of one pair by the primary measure; None if there are none, or
        many runs are compared.
        """
        if column or not self._every:
            return None
        a, b = (self._evaluations[run] for run in pair)
        if a.provenance.judgments != b.provenance.judgments:
            return None  # a document may be judged for one run alone
        return GradeBounds.of(
            a,
            b,
            self.measures[column],
            [self._queries[row] for row in np.flatnonzero(kept).tolist()],
            design,
        )

    def prepare(self, pair: tuple[int, int]) -> None:
        """Work out what the tipping points of a pair need beside its tests."""
        self.match(pair)
        for column in range(len(self.measures)):
            self.sides(pair, column)

    def sides(self, pair: tuple[int, int], column: int) -> "tuple[Places, Places] | str":
        """Return where the documents of both runs stand, or why there is no tipping point."""
        if column and not self._every:
            return "computed only for the primary measure if many runs are compared"
        if (
            column
            and not isinstance(self.measures[column].cutoff, int)
            and max(map(self._unjudged, pair)) > _MANY
        ):
            return (
                "for such long lists, computed only for the primary measure; name this measure "
                "first, or with a cutoff"
            )
        first, second = (self._of(run, column) for run in pair)
        if isinstance(first, str) or isinstance(second, str):
            return first if isinstance(first, str) else str(second)
        return first, second

    def _unjudged(self, run: int) -> int:
        judged = self._evaluations[run].judged
        return 0 if judged is None or judged.unjudged is None else judged.unjudged.query.size

    def reach_alone(self, pair: tuple[int, int], column: int) -> Reach | str:
        """Return `reach` for a measure that is asked for alone: only documents within its cutoff
        are matched.

        It takes a fraction of the memory of `match`, whose result all measures share.
        """
        sides = self.sides(pair, column)
        if isinstance(sides, str):
            return sides
        first, second = sides
        at_first, at_second = matches(first.keys, second.keys)
        matched = first.place[at_first], second.place[at_second]
        return Reach.of(
            first, second, len(self._queries), matched, sampled_negatives=self._sampled_negatives
        )

    def match(self, pair: tuple[int, int]) -> tuple[IntArray, IntArray]:
        """Documents unjudged in both runs, see `matches`; kept until another pair is asked for."""
        with self._matching:
            for run in pair:
                if run not in self._keys:
                    self._keys[run] = unjudged_keys(
                        self._evaluations[run], rows_in(self._evaluations[run], self._queries)
                    )
            if pair not in self._matches:
                # measures of a pair follow one another
                self._matches = {pair: matches(self._keys[pair[0]], self._keys[pair[1]])}
            return self._matches[pair]

    def _of(self, run: int, column: int) -> Places | str:
        key = run, column
        if key not in self._places:
            evaluation = self._evaluations[run]
            rows = rows_in(evaluation, self._queries)
            self._places[key] = Places.of(evaluation, self.measures[column], rows)
        return self._places[key]
