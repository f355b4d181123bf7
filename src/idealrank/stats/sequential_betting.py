"""Sequential test of the sign of a mean over a finite number of items that are drawn in random
order, without replacement.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from idealrank.data.interchange import finite
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError

# Bets, as shares of the largest bet that cannot lose the whole stake
_BETS = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99])
_ROUNDING = 1e-9  # by which a value may lie outside its bounds


@dataclass(frozen=True, kw_only=True, eq=False)
class SequentialSign:
    """Test of the sign of a mean, after some of its items were drawn in random order; see
    `sequential_sign`.

    Attributes
    ----------
    sign : int
        1 or -1 from the draw on at which the test stops; 0 while it does not.
    stopped_at : int or None
        Number of items drawn when it stops.
    n_drawn, n_items : int
        Items drawn, and all items.
    alpha : float
        Probability of a wrong sign, at most.
    above, below : float64 array, shape (n_drawn,)
        Natural logarithm of the evidence that the mean is above 0, and below 0, after each draw.
        The test stops at ``log(2 / alpha)``.

    Examples
    --------
    >>> sequential_sign([0.5] * 12, [-1] * 20, [1] * 20, 0.05).stopped_at
    9
    """

    sign: int
    stopped_at: int | None
    n_drawn: int
    n_items: int
    alpha: float
    above: FloatArray
    below: FloatArray

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record, with the evidence after the last draw."""
        above, below = (
            float(evidence[-1]) if evidence.size else 0.0 for evidence in (self.above, self.below)
        )
        return {
            "sign": self.sign,
            "stopped_at": self.stopped_at,
            "n_drawn": self.n_drawn,
            "n_items": self.n_items,
            "alpha": self.alpha,
            "log_evidence_above": finite(above),
            "log_evidence_below": finite(below),
        }


def sequential_sign(
    values: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike, alpha: float
) -> SequentialSign:
    r"""Test the sign of the mean of n items by betting, while items are drawn in random order
    without replacement.

    If the mean was 0, the items left after t - 1 draws with sum S would have the mean ``m_t = -S /
    (n - t + 1)``. Each draw multiplies a stake on a mean above 0 by ``1 + c (x_t - m_t) / (m_t -
    low_t)``, with `low_t` the lowest bound of the items left. No stake grows on average while the
    mean is 0 or below, so that the mean stake over several shares c reaches ``2 / alpha`` with
    probability at most ``alpha / 2`` (Ville). The same holds for a mean below 0. The sign is wrong
    with probability at most `alpha`, at whatever draw the test is looked at; a mean of 0 has no
    right sign.

    Parameters
    ----------
    values : array_like, shape (t,)
        Items drawn so far, in the order of the draws.
    low, high : array_like, shape (n,)
        Bounds of every item, in the order of the draws, known before any of them was drawn.
    alpha : float
        Probability of a wrong sign, in (0, 1).

    Returns
    -------
    SequentialSign

    Raises
    ------
    InputError
        There are more values than items, or a value is outside its bounds.
    OptionError
        `alpha` is not in (0, 1).

    References
    ----------
    Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, JRSS B
    86, section 5 (without replacement).

    Examples
    --------
    >>> found = sequential_sign([0.4, 0.6, -0.1, 0.5], [-1] * 5, [1] * 5, 0.05)
    >>> found.sign, found.stopped_at
    (1, 4)
    """
    if not 0 < alpha < 1:
        raise OptionError(f"alpha: found {alpha!r}, expected a number between 0 and 1")
    drawn = np.asarray(values, np.float64)
    lowest = np.asarray(low, np.float64)
    highest = np.asarray(high, np.float64)
    if lowest.shape != highest.shape or drawn.size > lowest.size:
        raise InputError(
            f"found {drawn.size} values and {lowest.size} and {highest.size} bounds, expected "
            f"bounds of every item"
        )
    outside = ~(
        (drawn >= lowest[: drawn.size] - _ROUNDING) & (drawn <= highest[: drawn.size] + _ROUNDING)
    )
    if outside.any():
        item = int(np.argmax(outside))
        raise InputError(
            f"value {item}: found {drawn[item]:g}, expected a number from {lowest[item]:g} to "
            f"{highest[item]:g}"
        )
    above = _evidence(drawn, lowest)
    below = _evidence(-drawn, -highest)
    limit = math.log(2 / alpha)
    above_from = _first_reaching(above, limit)
    below_from = _first_reaching(below, limit)
    stopped = min((draw for draw in (above_from, below_from) if draw is not None), default=None)
    sign = 0
    if stopped is not None:
        sign = 1 if above_from == stopped else -1
    return SequentialSign(
        sign=sign,
        stopped_at=stopped,
        n_drawn=drawn.size,
        n_items=lowest.size,
        alpha=alpha,
        above=above,
        below=below,
    )


def _first_reaching(evidence: FloatArray, limit: float) -> int | None:
    """The first draw, from 1, whose evidence reaches the limit."""
    reached = np.flatnonzero(evidence >= limit)
    return int(reached[0]) + 1 if reached.size else None


def _evidence(values: FloatArray, low: FloatArray) -> FloatArray:
    """Logarithm of the mean stake on a mean above 0 after each draw; infinite once a mean of 0 or
    below is impossible.
    """
    n = low.size
    n_left = n - np.arange(values.size)  # before each draw
    before = np.concatenate(([0.0], np.cumsum(values)[:-1])) if values.size else values
    centre = -before / np.maximum(n_left, 1)  # of the items left, if the mean of all is 0
    floor = np.minimum.accumulate(low[::-1])[::-1][: values.size]
    room = centre - floor
    has_room = room > _ROUNDING
    gain = np.where(has_room, (values - centre) / np.where(has_room, room, 1.0), 0.0)
    # Bounds of single items are sharper than the lowest of all: the sum of the items left is at
    # least the sum of their lows.
    least_left = np.concatenate((np.cumsum(low[::-1])[::-1], [0.0]))
    certain = np.cumsum(values) + least_left[1 : values.size + 1] > _ROUNDING
    log_stakes = np.cumsum(np.log1p(np.maximum(gain[:, None] * _BETS, -1 + 1e-12)), axis=0)
    evidence = (
        np.logaddexp.reduce(log_stakes, axis=1) - math.log(_BETS.size) if values.size else values
    )
    # Room of 0: a mean of 0 asks that all items left have their lowest value.
    return np.asarray(np.where(np.maximum.accumulate(certain), np.inf, evidence))
