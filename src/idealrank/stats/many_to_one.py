"""Many runs against one baseline: corrected p values and simultaneous intervals from the joint law of their t statistics."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import InputError
from idealrank.stats.columns import columns_of, design_of, open_share
from idealrank.stats.design import Design
from idealrank.stats.flips import MOST_UNITS, AllFlips, Flips
from idealrank.stats.inversion import Units, counted_rank
from idealrank.stats.randomness import RandomLike, whole_number
from idealrank.stats.shared_draws import Thresholds
from idealrank.stats.tails import nth_largest

_TIED = 1 + 1e-12  # a statistic counts as reached from here on


@dataclass(frozen=True, eq=False)
class MaxT:
    """Runs against a baseline, corrected for all of them; see `max_t`.

    Parameters
    ----------
    difference, p, low, high : float64 array, shape (runs,) or (runs, measures)
        Mean of the run minus that of the baseline; its p value, corrected for all runs and measures; its simultaneous interval, which
        holds 0 if and only if p is above 1 - level.
    critical : float
        The absolute t statistic beyond which a difference is significant at 1 - level; infinite where there are too few queries or
        draws.
    level : float
        That all intervals hold their differences, at the same time.
    n, n_units : int
        Queries, and what is flipped independently.
    n_resamples : int
        Sign vectors.
    exact : bool
        Whether they are all there are.

    Examples
    --------
    >>> found = max_t([0.1, 0.5, 0.3, 0.4, 0.2, 0.6], np.array([[2, 6, 4, 5, 3, 7], [1, 6, 2, 5, 2, 5]]).T / 10)
    >>> print(found)
    2 differences from a baseline over 6 queries: 1 significant, |t| from 3.16 on (max-T, level 0.95 for all at once, exact)
    """

    difference: FloatArray
    p: FloatArray
    low: FloatArray
    high: FloatArray
    critical: float
    level: float
    n: int
    n_units: int
    n_resamples: int
    exact: bool

    @property
    def differs(self) -> BoolArray:
        """Where the interval does not hold 0."""
        return (self.low > 0) | (self.high < 0)

    def __str__(self) -> str:
        how = "exact" if self.exact else f"{self.n_resamples:,} draws"
        return (
            f"{self.difference.size} differences from a baseline over {self.n} queries: {int(self.differs.sum())} significant, "
            f"|t| from {self.critical:.3g} on (max-T, level {self.level:g} for all at once, {how})"
        )


def max_t(
    baseline: Any,
    values: Any,
    *,
    n_resamples: int = 100_000,
    rng: RandomLike = None,
    level: float = 0.95,
    design: Design | None = None,
    threads: int | None = None,
) -> MaxT:
    """Which runs differ from a baseline, with a correction that knows how alike the runs are.

    Under one sign vector for all runs and measures, the largest absolute t statistic of all says how far the best of many equal runs
    gets: the corrected p value of a run is the share of sign vectors whose largest statistic reaches the one of that run. The t
    statistic, and not the mean, since runs and measures of different spread then have the same say; of flipped signs, it is a rising
    function of ``sum t_i / sqrt(sum t_i^2)``, whose denominator no flip changes. Runs that are alike cost little: three copies of a run
    are corrected as one.

    The interval of a run holds the shifts at which its t statistic is not beyond the same critical value, so all of it is simultaneous
    and agrees with the p values.

    Parameters
    ----------
    baseline : array_like, shape (queries,) or (queries, measures)
    values : array_like, shape (queries, runs) or (queries, runs, measures)
        The same queries; all runs and measures are one family.
    n_resamples : int
        Random sign vectors, at least 1; where there are no more than these, all of them are taken instead.
    rng : Generator, seed or None
        A generator is advanced. The same seed gives the same bits for any number of threads.
    level : float
        Simultaneous level of the intervals, in (0, 1).
    design : Design, optional
        Weights and clusters as in `permutation_test`.
    threads : int, optional
        None or 0 for one a core.

    Raises
    ------
    InputError
        The shapes do not fit, or a value is not finite.

    References
    ----------
    Westfall and Young (1993), Resampling-based multiple testing, section 2.3, single-step maxT; Romano and Wolf (2005), Exact and
    approximate stepdown methods for multiple hypothesis testing, JASA 100, for why it holds whichever runs are equal.

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> baseline = generator.random(100)
    >>> found = max_t(baseline, baseline[:, None] + generator.normal([0.0, 0.02, 0.1], 0.1, size=(100, 3)), rng=1)
    >>> found.differs.tolist()
    [False, False, True]
    """
    differences = _against(baseline, values)
    design = design_of(design, len(differences))
    open_share("level", level)
    draws = whole_number("n_resamples", n_resamples)
    units = Units.of(differences.reshape(design.n, -1), design)
    exact = design.n_units <= MOST_UNITS and 1 << design.n_units <= draws
    flips = AllFlips(design.n_units) if exact else Flips(design.n_units, rng)
    draws, observed = (1 << design.n_units, 0) if exact else (draws, 1)
    statistic = _Statistic.of(units)

    def stream(size: int, work: Callable[[FloatArray], Any]) -> Iterator[Any]:
        return flips.map(units.totals, size, lambda sums: work(statistic.largest(sums)), threads=threads)

    rank = counted_rank(level, draws, observed)
    wanted = Thresholds(statistic.observed[None])
    tail = nth_largest(stream, max(rank, 1), draws, 1, wanted.count)
    critical = float(tail.end[0]) if rank > 0 else np.inf
    p = (wanted.reached(tail.counted)[0] + observed) / (draws + observed)
    ends = _interval(units, statistic.observed, critical)
    difference = design.mean(differences)
    p, low, high = (part.reshape(difference.shape) for part in (p, *ends))
    return MaxT(difference, p, low, high, _as_t(critical, design.n_units), level, design.n, design.n_units, draws, exact)


def _against(baseline: Any, values: Any) -> FloatArray:
    """Differences, shape (queries, runs) or (queries, runs, measures)."""
    base = columns_of("baseline", baseline)
    given = np.asarray(values, np.float64)
    if given.ndim != base.ndim + 1 or given.shape[:1] + given.shape[2:] != base.shape or not given.size:
        raise InputError(
            f"baseline of shape {base.shape} and values of {given.shape}: expected (queries,) and (queries, runs), "
            "or (queries, measures) and (queries, runs, measures)"
        )
    columns_of("values", given.reshape(len(given), -1))
    with np.errstate(over="ignore"):  # said by what needs their sum
        return given - base[:, None]


@dataclass(frozen=True, eq=False)
class _Statistic:
    """``|sum t_i| / sqrt(sum t_i^2)`` of every column: 0 where there is no difference at all."""

    total: FloatArray
    root: FloatArray
    observed: FloatArray

    @classmethod
    def of(cls, units: Units) -> "_Statistic":
        total, root = units.totals.sum(axis=0), np.sqrt((units.totals**2).sum(axis=0))
        root[root == 0] = np.inf
        return cls(total, root, np.abs(total) / root)

    def largest(self, sums: FloatArray) -> FloatArray:
        """Of each draw over all columns, shape (draws, 1); a trifle more, so that ties are reached."""
        flipped = np.abs(self.total - 2 * sums)
        flipped /= self.root
        return np.asarray(flipped.max(axis=1, keepdims=True) * _TIED, np.float64)


def _interval(units: Units, observed: FloatArray, critical: float) -> tuple[FloatArray, FloatArray]:
    """Shifts whose statistic is at most critical: ``(T - shift W)^2 <= c^2 sum (t_i - shift w_i)^2``, a quadratic inequality."""
    weights, totals = units.weights * units.weight_unit, units.totals
    total, squares = totals.sum(axis=0), (totals**2).sum(axis=0)
    whole_line = np.full(total.size, np.inf)
    square = weights.sum() ** 2 - critical**2 * (weights**2).sum() if np.isfinite(critical) else -1.0
    if square <= 0:
        ends = (np.where(squares > 0, -whole_line, 0.0), np.where(squares > 0, whole_line, 0.0))
    else:
        middle = total * weights.sum() - critical**2 * (totals * weights[:, None]).sum(axis=0)
        constant = squares * (observed - critical) * (observed + critical)  # its sign is that of the test
        root = np.sqrt(np.maximum(middle**2 - square * constant, 0))
        far = (middle + np.copysign(root, middle)) / square
        near = np.divide(constant, square * far, out=np.zeros_like(far), where=far != 0)
        ends = (np.minimum(near, far), np.maximum(near, far))
    low, high = (end * units.unit for end in ends)
    return low + 0.0, high + 0.0


def _as_t(critical: float, n_units: int) -> float:
    """The t statistic that belongs to a sum over its root of squares."""
    left = n_units - critical**2
    return critical * float(np.sqrt((n_units - 1) / left)) if left > 0 else float("inf")
