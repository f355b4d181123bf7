"""Sensitivity of a difference to documents without a label: how it stands if some of them were relevant.

A share of the unlabelled documents that only the run ahead returns is taken to be relevant, with
the mean gain of labelled documents at their ranks. The share of the other run's unlabelled
documents at which the difference is 0 then tells how unequal the two shares must be. Further
relevant documents also enter the ideal list, and the number of relevant documents that a value is
divided by: both fall with it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from idealrank.analysis.comparison.places import Places
from idealrank.analysis.comparison.reach import Reach, shrinking
from idealrank.data.types import BoolArray, FloatArray
from idealrank.stats.design import Design

Side: TypeAlias = Literal["a", "b"]
Factor: TypeAlias = Callable[[float], FloatArray]

SHARES = (0.01, 0.05, 0.2)
"""Shares of the unlabelled documents of the run ahead that are taken to be relevant."""

_STEPS = 24  # halvings towards the share at which a difference turns: an error below 1e-7


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """Difference if a share of the unlabelled documents that only the run ahead returns were relevant.

    Attributes
    ----------
    share : float
        That share, in (0, 1).
    difference : float
        The difference b - a.
    turning_share : float or None
        Share of the unlabelled documents that only the run behind returns which would then have to
        be relevant for the difference to be 0; None if not even all of them would do.
    turning_documents : int or None
        Number of these documents.

    Examples
    --------
    >>> row = Sensitivity(share=0.05, difference=0.2, turning_share=0.5, turning_documents=40)
    >>> row.reversed().difference
    -0.2
    """

    share: float
    difference: float
    turning_share: float | None
    turning_documents: int | None

    def reversed(self) -> "Sensitivity":
        """Return the sensitivity of the difference a - b."""
        return replace(self, difference=0.0 - self.difference)


def sensitivity_of(reach: Reach, differences: FloatArray, kept: BoolArray, design: Design) -> tuple[Sensitivity, ...]:
    """Return how a difference stands if unlabelled documents were relevant; empty without a difference.

    Parameters
    ----------
    reach : Reach
        Possible contribution of the unlabelled documents.
    differences : float64 array, shape (n_queries,)
        Values of b minus values of a.
    kept : bool array, shape (n_queries,)
        Queries that count in both.
    design : Design
        Design of the queries that count.
    """
    mean = float(design.mean(differences[kept]))
    if mean == 0 or not math.isfinite(mean):
        return ()
    ahead: Side = "b" if mean > 0 else "a"
    factor_a = divisor_factor(reach.a, reach.own_a, reach)
    factor_b = divisor_factor(reach.b, reach.own_b, reach)

    def difference(share_ahead: float, share_behind: float) -> float:
        shares = (share_ahead, share_behind) if ahead == "a" else (share_behind, share_ahead)
        moved = differences + reach.moved(*shares)
        for factor, share in zip((factor_a, factor_b), shares, strict=True):
            if factor is not None and share:
                moved = np.multiply(moved, factor(share))
        return float(design.mean(moved[kept]))

    n_behind = int((reach.own_a if ahead == "b" else reach.own_b).sum())
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
    """Return the smallest share at which a difference has lost its sign; None if it keeps it."""
    sign = 1.0 if mean > 0 else -1.0
    if sign * difference(1.0) > 0:
        return None
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if sign * difference(middle) > 0 else (low, middle)
    return high


def divisor_factor(side: Places, own: BoolArray, reach: Reach) -> Factor | None:
    """Return the factor of each query's values if a share of a run's own documents were relevant.

    It is the ideal as labelled over the ideal with these documents, or the same for the number of
    relevant documents that a value is divided by; None if values are not divided by either.
    """
    ideal = shrinking(side, own, reach.gain, reach.n_queries)
    if ideal is not None:
        return ideal
    divisor = side.measure.divisor_of(side.judged)
    if divisor is None:
        return None
    n_own = np.bincount(side.documents.query[own], minlength=divisor.size)

    def factor(share: float) -> FloatArray:
        factors = np.ones(reach.n_queries)
        total = divisor + share * n_own
        factors[side.row] = np.divide(divisor, total, out=np.ones(total.size), where=total > 0)
        return factors

    return factor
