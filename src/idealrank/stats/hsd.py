"""All pairs of systems on the same queries at once: Tukey's HSD of the two-way table, queries beside systems."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.data.types import BoolArray, FloatArray
from idealrank.stats.compact_letters import Letters, letters
from idealrank.stats.design import Design
from idealrank.stats.studentized import range_quantile, range_sf
from idealrank.stats.tolerance import ROUNDING
from idealrank.stats.value_columns import open_share, refuse_design
from idealrank.stats.value_tables import table_of


@dataclass(frozen=True, eq=False)
class HSD:
    """Every pair of runs compared; see `tukey_hsd`. Entry [a, b] of a matrix is of run b minus run a.

    Parameters
    ----------
    n_queries : int
        Queries, all used by every pair.
    level : float
        Simultaneous level of the intervals; a pair differs at alpha = 1 - level.
    means : float64 array, shape (runs,)
        Mean of each run.
    mean_square : float
        Residual variance of the two-way table, in squared units of the measure.
    degrees : int
        Its degrees of freedom, (queries - 1) (runs - 1).
    critical : float
        Quantile of the studentized range.
    difference, p, low, high : float64 arrays, shape (runs, runs)
        Mean of b minus mean of a, its p value corrected for all pairs, and its simultaneous interval.

    Examples
    --------
    >>> print(tukey_hsd([[0.1, 0.3, 0.7], [0.2, 0.3, 0.9], [0.0, 0.2, 0.5], [0.2, 0.4, 0.6]]))
    two-way Tukey HSD of 3 runs on 4 queries: 2 of 3 pairs differ, those at least 0.195 apart (level 0.95 for all pairs at once)
    """

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
        """The honestly significant difference: half of the width of every interval."""
        return self.critical * math.sqrt(self.mean_square / self.n_queries)

    @property
    def differs(self) -> BoolArray:
        """Pairs whose interval does not hold 0, shape (runs, runs)."""
        return (self.low > 0) | (self.high < 0)

    def letters(self) -> Letters:
        """Groups of runs that cannot be told apart, and the top group."""
        return letters(self.differs, self.means)

    def __str__(self) -> str:
        runs = self.means.size
        pairs = f"{int(self.differs.sum()) // 2} of {runs * (runs - 1) // 2} pairs differ"
        return (
            f"two-way Tukey HSD of {runs} runs on {self.n_queries} queries: {pairs},"
            f" those at least {self.least_difference:.3g} apart (level {self.level:g} for all pairs at once)"
        )


def tukey_hsd(values: Any, *, level: float = 0.95, design: Design | None = None) -> HSD:
    """Tukey's honestly significant difference of every pair of runs, over the same queries.

    The model is value = query + run + residual; the statistic of a pair is ``|mean_b - mean_a| / sqrt(MS / n)`` with the residual mean
    square ``MS = sum of (x - query mean - run mean + mean)^2 / ((n - 1)(m - 1))``, its law that of the studentized range of m groups. A
    one-way HSD, as `scipy.stats.tukey_hsd` makes it, leaves the difficulty of the queries in MS and finds far fewer pairs.

    It assumes that residuals of all runs vary alike. For many equal values, or runs that vary unlike each other, take the randomised
    form. Runs with the same value on every query have difference 0, interval [0, 0] and p = 1.

    Parameters
    ----------
    values : float array, shape (queries, runs)
        A measure of every run on every query.
    level : float
        Simultaneous level, in (0, 1).
    design : Design, optional
        Must be plain: the residuals of the model vary alike and independently, which weights and clusters contradict.

    Raises
    ------
    InputError
        Fewer than two queries or runs, or a value that is not finite.
    OptionError
        The design is not plain; `randomised_hsd` honours it.

    References
    ----------
    Tukey (1953), The problem of multiple comparisons. Carterette (2012), Multiple testing in statistical analysis of systems-based
    information retrieval experiments. ACM TOIS 30.

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
    return HSD(n, level, means, mean_square, degrees, critical, difference, p, difference - width, difference + width)


def _p_values(difference: FloatArray, error: float, runs: int, degrees: int) -> FloatArray:
    upper = np.triu_indices(runs, 1)
    sizes = np.abs(difference[upper])
    statistic = np.divide(sizes, error, out=np.where(sizes > 0, np.inf, 0.0), where=error > 0)
    p = np.ones((runs, runs))
    p[upper] = range_sf(statistic, runs, degrees)
    p.T[upper] = p[upper]
    return p
