"""All pairs of systems on the same queries at once: Tukey's HSD of the two-way table, queries
beside systems.

The studentized range behind it: SciPy's `studentized_range` takes about 15 ms a value and is one
minus a number near one in the tail; all pairs of 130 systems would take two minutes. It is the
witness in the tests.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import ndtr

from idealrank.data.types import BoolArray, FloatArray
from idealrank.stats.compact_letters import Letters, letters
from idealrank.stats.design import Design
from idealrank.stats.roots import root_between
from idealrank.stats.tolerance import ROUNDING
from idealrank.stats.values import open_share, refuse_design, table_of

# of the table of ranges; beyond 40 standard deviations lies less than 1e-170
_STEP, _WIDEST = 0.02, 40.0
# log density, against its peak, at which the standard deviation's distribution is cut
_FLOOR = -80.0
_AT_A_TIME = 512


def range_sf(q: FloatArray, groups: int, degrees: float) -> FloatArray:
    """P(range of `groups` standard normals / independent estimate of their sd > q).

    Lund and Lund (1983), Algorithm AS 190: probabilities and upper quantiles for the studentized
    range. Applied Statistics 32, 204-210.
    """
    log_s, weights = _spread_nodes(degrees)
    tail = _range_table(groups)
    given = np.asarray(q, np.float64)
    flat = given.reshape(-1)
    found = np.zeros(flat.size)
    for first in range(0, flat.size, _AT_A_TIME):
        part = slice(first, first + _AT_A_TIME)
        wide = np.minimum(flat[part, None] * np.exp(log_s), _WIDEST)
        found[part] = (np.where(wide < _WIDEST, np.exp(tail(wide)), 0.0) * weights).sum(axis=1)
    return np.clip(found, 0.0, 1.0).reshape(given.shape)


def range_quantile(level: float, groups: int, degrees: float) -> float:
    """The q that the studentized range exceeds with chance 1 - level."""
    highest = 8.0
    while range_sf(np.array(highest), groups, degrees) > 1 - level:
        highest *= 2
    return root_between(
        lambda q: float(range_sf(np.array(q), groups, degrees)) - (1 - level),
        0.0,
        highest,
        within=1e-12,
    )


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
        logs[part] = np.log((missing * (density * below ** (groups - 1))).sum(axis=1))
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

    return root_between(above, _FLOOR / degrees - 1, 0.0), root_between(
        above, 0.0, 1 + math.log1p(-_FLOOR / degrees)
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class HSD:
    """Comparison of every pair of runs; see `tukey_hsd`. Entry [a, b] of a matrix is for run b
    minus run a.

    Parameters
    ----------
    n_queries : int
        Number of queries, all used by every pair.
    level : float
        Simultaneous confidence level; a pair differs at alpha = 1 - level.
    means : float64 array, shape (runs,)
        Mean of each run.
    mean_square : float
        Residual variance of the two-way table, in squared units of the measure.
    degrees : int
        Residual degrees of freedom, (queries - 1) (runs - 1).
    critical : float
        Quantile of the studentized range.
    difference, p, low, high : float64 arrays, shape (runs, runs)
        Mean of b minus mean of a, its p value corrected for all pairs, and its simultaneous
        interval.

    Examples
    --------
    >>> print(tukey_hsd([[0.1, 0.3, 0.7], [0.2, 0.3, 0.9], [0.0, 0.2, 0.5], [0.2, 0.4, 0.6]]))
    two-way Tukey HSD of 3 runs on 4 queries: 2 of 3 pairs differ, those at least 0.195 apart (level 0.95 for all pairs at once)
    """  # noqa: E501

    n_queries: int
    level: float
    means: FloatArray
    mean_square: float
    degrees: int
    critical: float
    difference: FloatArray
    p: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def least_difference(self) -> float:
        """Honestly significant difference: half the width of every interval."""
        return self.critical * math.sqrt(self.mean_square / self.n_queries)

    @property
    def differs(self) -> BoolArray:
        """Pairs whose interval does not contain 0, shape (runs, runs)."""
        return (self.low > 0) | (self.high < 0)

    def letters(self) -> Letters:
        """Return groups of runs that are not significantly different, and the top group."""
        return letters(self.differs, self.means)

    def __str__(self) -> str:
        runs = self.means.size
        pairs = f"{int(self.differs.sum()) // 2} of {runs * (runs - 1) // 2} pairs differ"
        return (
            f"two-way Tukey HSD of {runs} runs on {self.n_queries} queries: {pairs},"
            f" those at least {self.least_difference:.3g} apart (level {self.level:g} for all "
            f"pairs at once)"
        )


def tukey_hsd(values: Any, *, level: float = 0.95, design: Design | None = None) -> HSD:
    """Compute Tukey's honestly significant difference for every pair of runs over the same queries.

    The model is value = query + run + residual. The statistic of a pair is ``|mean_b - mean_a| /
    sqrt(MS / n)`` with the residual mean square ``MS = sum of (x - query mean - run mean + mean)^2
    / ((n - 1)(m - 1))``; its distribution is the studentized range of m groups. A one-way HSD, such
    as `scipy.stats.tukey_hsd`, leaves the difficulty of the queries in MS and finds far fewer
    pairs.

    The residuals of all runs are assumed to have equal variance. For many equal values, or runs
    with unequal variances, use the randomised form. Runs with the same value on every query have
    difference 0, interval [0, 0] and p = 1.

    Parameters
    ----------
    values : float array, shape (queries, runs)
        Values of a measure for every run and query.
    level : float
        Simultaneous confidence level, in (0, 1).
    design : Design, optional
        Must be plain: the model assumes independent residuals of equal variance, which weights and
        clusters contradict.

    Raises
    ------
    InputError
        Fewer than two queries or runs, or a value that is not finite.
    OptionError
        The design is not plain; `randomised_hsd` supports it.

    References
    ----------
    Tukey (1953), The problem of multiple comparisons. Carterette (2012), Multiple testing in
    statistical analysis of systems-based information retrieval experiments. ACM TOIS 30.

    Examples
    --------
    >>> found = tukey_hsd([[0.1, 0.3, 0.7], [0.2, 0.3, 0.9], [0.0, 0.2, 0.5], [0.2, 0.4, 0.6]])
    >>> found.p[0].round(4).tolist(), found.letters().texts
    ([1.0, 0.0737, 0.0003], ('b', 'b', 'a'))
    """
    refuse_design("Tukey's HSD", design, "randomised_hsd")
    open_share("level", level)
    table = table_of(values)
    n, runs = table.shape
    means = table.mean(axis=0)
    difference = means - means[:, None]
    scale = float(np.abs(table).max())
    difference[np.abs(difference) <= ROUNDING * scale] = 0.0
    residuals = table - means - table.mean(axis=1, keepdims=True) + table.mean()
    residuals[np.abs(residuals) <= ROUNDING * scale] = 0.0
    degrees = (n - 1) * (runs - 1)
    mean_square = float((residuals**2).sum()) / degrees
    error = math.sqrt(mean_square / n)
    critical = range_quantile(level, runs, degrees)
    p = _p_values(difference, error, runs, degrees)
    same = np.unique(table, axis=1, return_inverse=True)[1].reshape(-1)
    width = np.where(same == same[:, None], 0.0, critical * error)
    p[same == same[:, None]] = 1.0
    return HSD(
        n_queries=n,
        level=level,
        means=means,
        mean_square=mean_square,
        degrees=degrees,
        critical=critical,
        difference=difference,
        p=p,
        low=difference - width,
        high=difference + width,
    )


def _p_values(difference: FloatArray, error: float, runs: int, degrees: int) -> FloatArray:
    upper = np.triu_indices(runs, 1)
    sizes = np.abs(difference[upper])
    statistic = np.divide(sizes, error, out=np.where(sizes > 0, np.inf, 0.0), where=error > 0)
    p = np.ones((runs, runs))
    p[upper] = range_sf(statistic, runs, degrees)
    p.T[upper] = p[upper]
    return p
