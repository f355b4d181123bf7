"""The studentized range: tail and quantile to nine digits, down to 1e-30, for thousands of pairs at once.

SciPy's `studentized_range` takes about 15 ms a value and is one minus a number near one in the tail; all pairs of 130 systems would
take two minutes. It is the witness in the tests.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import ndtr

from idealrank.data.types import FloatArray
from idealrank.stats.roots import root_between

_STEP, _WIDEST = 0.02, 40.0  # of the table of ranges; beyond 40 standard deviations lies less than 1e-170
_FLOOR = -80.0  # log density, against its peak, at which the standard deviation's distribution is cut
_AT_A_TIME = 512


def range_sf(q: FloatArray, groups: int, degrees: float) -> FloatArray:
    """P(range of `groups` standard normals / independent estimate of their sd > q).

    ``integral of f(s) P(R > q s) ds``, with s^2 = chi^2 / degrees and P(R > w) = ``k integral of phi(z) (Phi(z)^(k-1) -
    (Phi(z) - Phi(z - w))^(k-1)) dz``: trapezoids in log s and z, which converge exponentially here.

    Parameters
    ----------
    q : float64 array, any shape
        At least 0; infinite gives 0.
    groups : int
        At least 2.
    degrees : float
        Above 0.

    Returns
    -------
    float64 array, the shape of `q`
        In [0, 1].

    References
    ----------
    Lund and Lund (1983), Algorithm AS 190: probabilities and upper quantiles for the studentized range. Applied Statistics 32, 204-210.

    Examples
    --------
    >>> range_sf(np.array([0.0, 3.5]), 3, 20.0).round(4)
    array([1.    , 0.0559])
    """
    log_s, weights = _spread_nodes(degrees)
    tail = _range_table(groups)
    given = np.asarray(q, np.float64)
    flat = given.reshape(-1)
    found = np.zeros(flat.size)
    for first in range(0, flat.size, _AT_A_TIME):
        part = slice(first, first + _AT_A_TIME)
        wide = np.minimum(flat[part, None] * np.exp(log_s), _WIDEST)
        found[part] = np.where(wide < _WIDEST, np.exp(tail(wide)), 0.0) @ weights
    return np.clip(found, 0.0, 1.0).reshape(given.shape)


def range_quantile(level: float, groups: int, degrees: float) -> float:
    """The q that the studentized range exceeds with chance 1 - level.

    Examples
    --------
    >>> round(range_quantile(0.95, 3, 20.0), 3)
    3.578
    """
    highest = 8.0
    while range_sf(np.array(highest), groups, degrees) > 1 - level:
        highest *= 2
    return root_between(lambda q: float(range_sf(np.array(q), groups, degrees)) - (1 - level), 0.0, highest, within=1e-12)


@lru_cache(maxsize=16)
def _range_table(groups: int) -> CubicSpline:
    """Log P(range of normals > w) for w from 0 to 40."""
    z = np.arange(-12.0, 32.0, 0.05)
    density = groups * 0.05 * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    below = ndtr(z)
    widths = np.arange(0.0, _WIDEST + 2 * _STEP, _STEP)
    logs = np.empty(widths.size)
    for first in range(0, widths.size, _AT_A_TIME):
        part = slice(first, first + _AT_A_TIME)
        share = np.minimum(ndtr(z - widths[part, None]) / below, 1.0)
        with np.errstate(divide="ignore"):
            missing = -np.expm1((groups - 1) * np.log1p(-share))
        logs[part] = np.log(missing @ (density * below ** (groups - 1)))
    return CubicSpline(widths, logs - logs[0])


@lru_cache(maxsize=16)
def _spread_nodes(degrees: float) -> tuple[FloatArray, FloatArray]:
    """Nodes in log s, and weights that sum to 1, of s = sqrt(chi^2 / degrees)."""
    step = min(0.04, 1 / (8 * math.sqrt(2 * degrees)))
    lowest, highest = _where_density_ends(degrees)
    log_s = np.arange(lowest, highest + step, step)
    weights = np.exp(_log_density(log_s, degrees))
    return log_s, weights / weights.sum()


def _log_density(log_s: FloatArray, degrees: float) -> FloatArray:
    return np.asarray(degrees * (log_s - np.expm1(2 * log_s) / 2))


def _where_density_ends(degrees: float) -> tuple[float, float]:
    def above(log_s: float) -> float:
        return float(_log_density(np.array(log_s), degrees)) - _FLOOR

    return root_between(above, _FLOOR / degrees - 1, 0.0), root_between(above, 0.0, 1 + math.log1p(-_FLOOR / degrees))
