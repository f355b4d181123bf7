"""Sensitivity of a difference to documents without a label: how it stands if some of them were
relevant.

A share of the unlabelled documents that only the run ahead returns is taken to be relevant, with
the mean gain of labelled documents at their ranks. The share of the other run's unlabelled
documents at which the difference is 0 then tells how unequal the two shares must be.

Each document is relevant with this probability, independently of the others. Further relevant
documents enter the ideal list, or the number of relevant documents that a value is divided by, so
that both values fall. With m of n documents relevant, a sum over documents gains m/n of what all of
them would add, and is divided by the ideal with m more: the expected value is a sum over m.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from idealrank.analysis.comparison.places import Places
from idealrank.analysis.comparison.reach import Reach
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.stats.design import Design
from idealrank.stats.special import gammaln

Side: TypeAlias = Literal["a", "b"]

SHARES = (0.01, 0.05, 0.2)
"""Shares of the unlabelled documents of the run ahead that are taken to be relevant."""

_MANY = 64  # documents of a query, from which their relevant share hardly varies
_STEPS = 60  # at most, towards the share at which a difference turns
_WITHIN = 1e-7  # error of that share


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """Difference if a share of the unlabelled documents that only the run ahead returns were
    relevant.
    """

    share: float  # That share, in (0, 1)
    difference: float  # The difference b - a
    # Share of the unlabelled documents that only the run behind returns which would then have to be
    # relevant for the difference to be 0; None if not even all of them would do
    turning_share: float | None
    turning_documents: int | None  # Number of these documents

    def reversed(self) -> "Sensitivity":
        """Return the sensitivity of the difference a - b."""
        return replace(self, difference=0.0 - self.difference)


def sensitivity_of(
    reach: Reach, differences: FloatArray, kept: BoolArray, design: Design
) -> tuple[Sensitivity, ...]:
    """Return how a difference stands if unlabelled documents were relevant; empty without a
    difference.
    """
    mean = float(design.mean(differences[kept]))
    if mean == 0 or not math.isfinite(mean):
        return ()
    ahead: Side = "b" if mean > 0 else "a"
    expected = _Expected.of(reach, differences)

    def difference(share_ahead: float, share_behind: float) -> float:
        if ahead == "a":
            differences = expected.differences(share_a=share_ahead, share_b=share_behind)
        else:
            differences = expected.differences(share_a=share_behind, share_b=share_ahead)
        return float(design.mean(differences[kept]))

    own_of_behind = reach.own_a if ahead == "b" else reach.own_b
    n_behind = int(own_of_behind.sum())
    rows = []
    for share in SHARES:
        turning = _turning(partial(difference, share), mean)
        documents = None if turning is None else math.ceil(turning * n_behind - 1e-6)
        rows.append(
            Sensitivity(
                share=share,
                difference=difference(share, 0.0),
                turning_share=turning,
                turning_documents=documents,
            )
        )
    return tuple(rows)


def _turning(difference: Callable[[float], float], mean: float) -> float | None:
    """Return the smallest share at which a difference has lost its sign; None if it keeps it.

    By the Illinois method (Dowell and Jarratt 1971), which needs a third of the steps of halving.
    """
    sign = 1.0 if mean > 0 else -1.0
    low = 0.0
    high = 1.0
    at_low = sign * difference(low)
    at_high = sign * difference(high)
    if at_high > 0:
        return None
    moved = 0  # which end the last step moved: -1 low, 1 high
    for _ in range(_STEPS):
        if at_low <= 0 or high - low <= _WITHIN:
            break
        # A difference of exactly 0 may be 0 at smaller shares as well: the secant would stay there.
        middle = low + (high - low) * (at_low / (at_low - at_high) if at_high else 0.5)
        value = sign * difference(middle)
        # An end that stays twice weighs half, so that the secant does not stick to it.
        if value > 0:
            if moved < 0:
                at_high /= 2
            low = middle
            at_low = value
            moved = -1
        else:
            if moved > 0:
                at_low /= 2
            high = middle
            at_high = value
            moved = 1
    return high


@dataclass(frozen=True, kw_only=True)
class _Expected:
    """Expected differences of each query if shares of both runs' own documents were relevant.

    The factors of both runs are multiplied, which is exact if documents of one run alone are
    relevant, and close if few are.
    """

    reach: Reach
    judged: FloatArray  # Differences as judged
    # added_a, added_b: what the own documents of a run add to the difference if all are relevant;
    # None for a measure that is no sum over documents
    added_a: FloatArray | None
    added_b: FloatArray | None
    factor_a: "_Factor | None"
    factor_b: "_Factor | None"

    @classmethod
    def of(cls, reach: Reach, differences: FloatArray) -> "_Expected":
        linear = reach.a.linear
        return cls(
            reach=reach,
            judged=differences,
            added_a=reach.moved(1.0, 0.0) if linear else None,
            added_b=reach.moved(0.0, 1.0) if linear else None,
            factor_a=_Factor.of(reach.a, reach.own_a, reach),
            factor_b=_Factor.of(reach.b, reach.own_b, reach),
        )

    def differences(self, *, share_a: float, share_b: float) -> FloatArray:
        """Expected value of b minus that of a, shape (n_queries,)."""
        keeps_a, gains_a = _expectations(self.factor_a, share_a)
        keeps_b, gains_b = _expectations(self.factor_b, share_b)
        if self.added_a is None or self.added_b is None:
            moved = self.judged + self.reach.moved(share_a, share_b)
            return np.multiply(np.multiply(moved, keeps_a), keeps_b)
        as_judged = np.multiply(np.multiply(self.judged, keeps_a), keeps_b)
        by_a = np.multiply(np.multiply(self.added_a, gains_a), keeps_b)
        by_b = np.multiply(np.multiply(self.added_b, gains_b), keeps_a)
        return as_judged + by_a + by_b


def _expectations(factor: "_Factor | None", share: float) -> tuple[FloatArray, FloatArray]:
    """Expected factor of a value, and of the factor times the relevant share of the documents."""
    if factor is None or not share:
        return np.float64(1.0), np.float64(share)  # type: ignore[return-value]
    return factor.expectations(share)


@dataclass(frozen=True, kw_only=True)
class _Factor:
    """Factor of the values of each query if m of a run's own unlabelled documents were relevant.

    It is the ideal as labelled over the ideal with these documents, or the same for the number of
    relevant documents that a value is divided by.
    """

    side: Places  # The run
    n_own: IntArray  # shape (n_queries of the run,): own unlabelled documents
    # shape (n_queries of the run, most + 1): the factor for each m; None for so many documents that
    # m may be taken to be its mean
    by_number: FloatArray | None
    n_queries: int  # Queries compared

    @classmethod
    def of(cls, side: Places, own: BoolArray, reach: Reach) -> "_Factor | None":
        """The factor of a run; None if its values are divided by neither."""
        query = side.documents.query[own]
        n_own = np.bincount(query, minlength=side.judged.n_queries)
        most = int(n_own.max(initial=0))
        if not most:
            return None
        ideals = None
        if side.linear:
            sums = np.bincount(query, weights=reach.gain[side.rank[own]], minlength=n_own.size)
            ideals = side.measure.ideal_with(side.judged, sums / np.maximum(n_own, 1), most)
        if ideals is None:
            numbers = np.arange(min(most, _MANY) + 1.0)
            ideals = side.measure.divisor_with(side.judged, numbers[None, :])
            if ideals is None:
                return None
            if most > _MANY:
                return cls(side=side, n_own=n_own, by_number=None, n_queries=reach.n_queries)
        start = np.where(ideals[:, :1] > 0, ideals[:, :1], ideals[:, 1:2])
        by_number = np.divide(start, ideals, out=np.ones_like(ideals), where=ideals > 0)
        return cls(side=side, n_own=n_own, by_number=by_number, n_queries=reach.n_queries)

    def expectations(self, share: float) -> tuple[FloatArray, FloatArray]:
        """Expected factor of each query, and of the factor times m/n; m is binomial."""
        keeps = np.ones(self.n_queries)
        gains = np.zeros(self.n_queries)
        if self.by_number is None:
            further = np.zeros((self.n_own.size, 2))
            further[:, 1] = share * self.n_own
            divisors = self.side.measure.divisor_with(self.side.judged, further)
            assert divisors is not None  # noqa: S101  (for the type checker: `of` has looked)
            mean = divisors[:, 0] / divisors[:, 1]
            keeps[self.side.row] = mean
            gains[self.side.row] = share * mean
            return keeps, gains
        numbers = np.arange(self.by_number.shape[1])
        # One row of chances for each number of documents that a query may have.
        chances = binomial(numbers[:, None], numbers, share)[self.n_own]
        weighted = np.multiply(chances, self.by_number)
        expected_number = np.multiply(weighted, numbers).sum(axis=1)
        keeps[self.side.row] = weighted.sum(axis=1)
        gains[self.side.row] = expected_number / np.maximum(self.n_own, 1)
        return keeps, gains


def binomial(n: IntArray, m: IntArray, share: float) -> FloatArray:
    """Probability of m successes in n trials."""
    if share == 1:
        return np.asarray(n == m, np.float64)
    failures = np.maximum(n - m, 0)
    ways = gammaln(n + 1) - gammaln(m + 1) - gammaln(failures + 1)
    chances = np.exp(ways + m * math.log(share) + failures * math.log1p(-share))
    return np.where(m <= n, chances, 0.0)
