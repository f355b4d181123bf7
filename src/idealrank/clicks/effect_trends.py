"""Effect of an A/B test in each period, and whether it fades or grows over time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri
from scipy.stats import norm

from idealrank.clicks.ab_tests import row_table
from idealrank.clicks.arguments import check_confidence
from idealrank.clicks.weighted_rows import numbers
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class Novelty:
    """Effect of B over A in each period, and its trend.

    Attributes
    ----------
    periods : float64 array, shape (periods,)
        Rising, without those in which a cohort has fewer than two users or a denominator of 0.
    effects, standard_errors : float64 array, shape (periods,)
        B less A in each period, and its standard error by user.
    intervals : float64 array, shape (periods, 2)
        Normal intervals, each for its period alone.
    slope, standard_error : float
        Change of the effect from one period to the next (least squares), and its standard error;
        users that come back are in both.
    interval : tuple of float
        Low and high of the slope.
    p : float
        Two-sided p-value of the slope.
    effect : float
        Mean of the effects of the periods.
    n_left_out : int
        Periods left out.
    confidence : float
        Confidence level.

    Examples
    --------
    >>> trend = novelty(
    ...     [1, 1, 2, 2, 1, 1, 1, 1],
    ...     list("AABBAABB"),
    ...     [1, 1, 1, 1, 2, 2, 2, 2],
    ...     users=list("uvwxuvwx"),
    ... )
    >>> trend.effects.tolist(), trend.slope
    ([1.0, 0.0], -1.0)
    """

    periods: FloatArray
    effects: FloatArray
    standard_errors: FloatArray
    intervals: FloatArray
    slope: float
    standard_error: float
    interval: tuple[float, float]
    p: float
    effect: float
    n_left_out: int
    confidence: float

    @property
    def verdict(self) -> Literal["fades", "grows", "no trend found"]:
        """Return whether the effect fades or grows, if the interval of the slope excludes 0."""
        if self.interval[0] <= 0 <= self.interval[1]:
            return "no trend found"
        return "grows" if self.slope * self.effect > 0 else "fades"


def novelty(
    values: npt.ArrayLike,
    cohort: "Sequence[str] | npt.ArrayLike",
    period: npt.ArrayLike,
    *,
    users: "Sequence[Any] | npt.ArrayLike | None" = None,
    denominator: "npt.ArrayLike | None" = None,
    confidence: float = 0.95,
) -> Novelty:
    """Look for a trend in the effect of B over A.

    An effect that fades after the first days may be the attention that anything new gets; an effect
    that grows may be users that learn. Both make the effect of the whole test a number of the test,
    not of the ranker.

    Parameters
    ----------
    values, cohort, users, denominator
        As for `ab_effect`.
    period : array, shape (rows,)
        Number of the period of each row: day of the test, or, sharper, days since the first visit
        of the user.
    confidence : float
        Confidence level.

    Raises
    ------
    InputError
        Lengths differ, a user is in both cohorts, or fewer than two periods have two users and a
        denominator above 0 in each cohort.

    References
    ----------
    Kohavi, Tang and Xu (2020), Trustworthy online controlled experiments, chapter 3. Deng, Knoblich
    and Lu (2018), Applying the delta method in metric analytics, for the errors by user.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> side, day = rng.choice(["A", "B"], 4000), rng.integers(1, 8, 4000)
    >>> trend = novelty(rng.normal(0, 1, 4000) + (side == "B") / day, side, day)
    >>> trend.verdict
    'fades'
    """
    level = check_confidence(confidence)
    rows = row_table(values, cohort, users, denominator)
    row_periods = numbers("period", period)
    if row_periods.size != rows.user.size:
        raise InputError(
            f"period: found {row_periods.size} values, expected one for each of the "
            f"{rows.user.size} rows"
        )
    periods, period_of_row = np.unique(row_periods, return_inverse=True)
    period_of_row = period_of_row.reshape(-1)
    sides = rows.is_b[rows.user].astype(np.int64)
    # A cell is a cohort in one period: tables by cell have a row a period, and columns A and B.
    cells = period_of_row * 2 + sides
    # A user counts once in a cell.
    cell_of_user = np.unique(np.column_stack([cells, rows.user]), axis=0)[:, 0]
    n_users = np.bincount(cell_of_user, minlength=2 * periods.size).reshape(-1, 2)
    kept: npt.NDArray[np.bool_] = n_users.min(axis=1) >= 2
    totals = np.bincount(cells, rows.values, 2 * periods.size).reshape(-1, 2)
    sizes = np.bincount(cells, rows.denominator, 2 * periods.size).reshape(-1, 2)
    kept &= (sizes > 0).all(axis=1)
    if kept.sum() < 2:
        needed = "two users" if denominator is None else "two users and a denominator above 0"
        raise InputError(
            f"period: found {int(kept.sum())} periods with {needed} in each cohort, expected at "
            "least 2"
        )

    with np.errstate(divide="ignore", invalid="ignore"):
        means = totals / sizes
        deviations = rows.values - means.reshape(-1)[cells] * rows.denominator
        residual = deviations / sizes.reshape(-1)[cells]
    influence = np.where(sides == 1, residual, -residual)  # of each row on its period's effect
    means_a, means_b = means.T
    effects = (means_b - means_a)[kept]
    errors = []
    for number in np.flatnonzero(kept):
        is_in_period = period_of_row == number
        errors.append(_error(influence[is_in_period], rows.user[is_in_period], rows.is_b))
    standard_errors = np.array(errors)

    # The slope of least squares is a weighted sum of the effects.
    weights = periods[kept] - periods[kept].mean()
    weights = weights / (weights * weights).sum()
    is_kept_row = kept[period_of_row]
    place_among_kept = np.cumsum(kept) - 1  # of each period
    weight_of_row = weights[place_among_kept[period_of_row[is_kept_row]]]
    error = _error(influence[is_kept_row] * weight_of_row, rows.user[is_kept_row], rows.is_b)
    slope = float((weights * effects).sum())
    reach = float(ndtri((1 + level) / 2))
    p = 2 * float(norm.sf(abs(slope) / error)) if error > 0 else float(slope == 0)
    return Novelty(
        periods=periods[kept],
        effects=effects,
        standard_errors=standard_errors,
        intervals=np.column_stack(
            [effects - reach * standard_errors, effects + reach * standard_errors]
        ),
        slope=slope,
        standard_error=error,
        interval=(slope - reach * error, slope + reach * error),
        p=p,
        effect=float(effects.mean()),
        n_left_out=int((~kept).sum()),
        confidence=level,
    )


def _error(influence: FloatArray, user: IntArray, is_b: "npt.NDArray[np.bool_]") -> float:
    """Standard error of a sum of influences, by user; each cohort is corrected for its own number
    of users.
    """
    totals = np.bincount(user, influence, is_b.size)
    has_row = np.bincount(user, minlength=is_b.size) > 0
    variance = 0.0
    for side in (is_b, ~is_b):
        n = int((has_row & side).sum())
        variance += float((totals[side] ** 2).sum()) * n / (n - 1)
    return math.sqrt(variance)
