"""Bootstrap distributions of means under a design, and the bounds that are read from them.

Units are drawn within strata; a draw of a cluster is a draw of all its queries. Each block of draws has a child generator of its own
and works on the same arrays whatever the number of threads, without BLAS: results have the same bits.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from idealrank.data.types import FloatArray
from idealrank.stats.design import Design
from idealrank.stats.linearisation import LinearMean, strata_of
from idealrank.stats.randomness import RandomLike, generator_of, threads_of
from idealrank.stats.threads import in_order
from idealrank.stats.tolerance import ROUNDING

_PICKS = 1 << 18  # units drawn in a block
_KEPT = 1 << 23  # replicates kept at a time, over all columns: 64 MB

Tails = tuple[float, float]
Bounds = tuple[FloatArray, FloatArray]
Counts = FloatArray  # how often each unit was drawn, shape (draws, n_units)


class Draws:
    """Draws with replacement of the units of a design.

    Parameters
    ----------
    design : Design
    n_resamples : int
        Draws, from the first.
    rng : Generator, seed or None
        One child of it for each block. A generator is advanced.
    threads : int, optional
        Number of threads; None or 0 uses all cores.

    Examples
    --------
    >>> draws = Draws(Design.of(3), 5, rng=1)
    >>> draws.each(lambda counts: counts.sum(axis=1, keepdims=True), 1).ravel()
    array([3., 3., 3., 3., 3.])
    """

    def __init__(self, design: Design, n_resamples: int, rng: RandomLike = None, threads: int | None = None) -> None:
        self.n_resamples = n_resamples
        self.threads = threads_of(threads)
        self._n_units = design.n_units
        self._strata = strata_of(design)
        self._rows = max(1, _PICKS // design.n_units)
        blocks = -(-n_resamples // self._rows)
        self._seeds = generator_of(rng).bit_generator.seed_seq.spawn(blocks)  # type: ignore[attr-defined]

    def each(self, work: Callable[[Counts], FloatArray], n_columns: int) -> FloatArray:
        """Stack the results of `work` on the counts of each block, (draws, n_columns); every call gives the same."""
        kept = np.empty((self.n_resamples, n_columns))

        def block(number: int) -> None:
            first = number * self._rows
            rows = min(self._rows, self.n_resamples - first)
            kept[first : first + rows] = work(self._counts(np.random.default_rng(self._seeds[number]), rows))

        for _ in in_order(block, len(self._seeds), self.threads):
            pass
        return kept

    def _counts(self, rng: np.random.Generator, rows: int) -> Counts:
        counts = np.zeros(rows * self._n_units)
        starts = (np.arange(rows) * self._n_units)[:, None]
        for units in self._strata:
            picks = units[rng.integers(0, units.size, size=(rows, units.size))]
            counts += np.bincount((picks + starts).ravel(), minlength=counts.size)
        return counts.reshape(rows, self._n_units)


class ResampledUnits(NamedTuple):
    """Centred totals of each unit, (m, n_units), their sizes, (1, n_units), and the units of each stratum."""

    totals: FloatArray
    sizes: FloatArray
    strata: list[np.ndarray]

    @classmethod
    def of(cls, values: FloatArray, design: Design, found: LinearMean) -> "ResampledUnits":
        """From values, shape (n, m), and what is known of their means."""
        residuals = values - found.mean
        residuals[np.abs(residuals) <= found.rounding] = 0.0
        totals = np.ascontiguousarray(design.unit_totals(residuals).T)
        return cls(totals, design.unit_totals(np.ones((design.n, 1))).T.copy(), strata_of(design))

    def shifts(self, counts: Counts) -> FloatArray:
        """Mean of each draw less the mean of the data, (draws, m)."""
        return np.asarray(_sums(counts, self.totals) / _sums(counts, self.sizes), np.float64)

    def studentised(self, counts: Counts) -> FloatArray:
        """The shift of each draw over its own standard error; infinite with its sign where a draw does not vary."""
        shift = self.shifts(counts)
        variance = np.zeros_like(shift)
        for units in self.strata:
            variance += _stratum_variance(shift, counts[:, units], self.totals[:, units], self.sizes[:, units])
        se = np.sqrt(variance) / _sums(counts, self.sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(shift == 0, 0.0, shift / se), np.float64)


def _sums(counts: Counts, rows: FloatArray) -> FloatArray:
    """Sums over drawn units, (draws, m): einsum has no threads, and so no order of terms that changes with them."""
    return np.asarray(np.einsum("du,mu->dm", counts, rows))


def _stratum_variance(shift: FloatArray, counts: Counts, totals: FloatArray, sizes: FloatArray) -> FloatArray:
    """n/(n - 1) times the sum of squares of ``total - shift size`` about its mean, for the drawn units of one stratum."""
    n = counts.shape[1]
    squares = _sums(counts, totals**2)
    mixed = _sums(counts, totals * sizes)
    about_shift = squares - 2 * shift * mixed + shift**2 * _sums(counts, sizes**2)
    # What is left after the terms of the sums cancel is 0, if it is no more than rounding.
    found = about_shift - (_sums(counts, totals) - shift * _sums(counts, sizes)) ** 2 / n
    return np.asarray(np.where(found <= ROUNDING * squares, 0.0, found) * (n / (n - 1)), np.float64)


def bootstrap_bounds(method: str, values: FloatArray, design: Design, found: LinearMean, tails: Tails, draws: Draws) -> Bounds:
    """Low and high bounds of the means of values, shape (n, m), at two tail probabilities.

    Parameters
    ----------
    method : str
        "percentile", "basic", "bca" or "studentised".
    values : float64 array, shape (n, m)
    design : Design
    found : LinearMean
        Of the same values.
    tails : (float, float)
        Lower and upper probability, 0.025 and 0.975 for a level of 0.95.
    draws : Draws

    Returns
    -------
    (float64 array, float64 array), each of shape (m,)

    Examples
    --------
    >>> from idealrank.stats.linearisation import linear_mean
    >>> values, design = np.array([[0.0], [1.0], [1.0], [0.0]]), Design.of(4)
    >>> bootstrap_bounds("percentile", values, design, linear_mean(values, design), (0.025, 0.975), Draws(design, 999, rng=1))
    (array([0.]), array([1.]))
    """
    reader = {"percentile": _percentile, "basic": _basic, "bca": _bca, "studentised": _studentised}[method]
    width = max(1, _KEPT // draws.n_resamples)
    low, high = np.empty_like(found.mean), np.empty_like(found.mean)
    for first in range(0, values.shape[1], width):
        part = slice(first, first + width)
        some = LinearMean(found.mean[part], found.se[part], found.df, found.parts[:, part], found.constant[part], found.rounding[part])
        low[part], high[part] = reader(ResampledUnits.of(values[:, part], design, some), some, tails, draws)
    return low, high


def _percentile(units: ResampledUnits, found: LinearMean, tails: Tails, draws: Draws) -> Bounds:
    shifts = draws.each(units.shifts, found.mean.size)
    low, high = np.quantile(shifts, tails, axis=0)
    return found.mean + low, found.mean + high


def _basic(units: ResampledUnits, found: LinearMean, tails: Tails, draws: Draws) -> Bounds:
    shifts = draws.each(units.shifts, found.mean.size)
    low, high = np.quantile(shifts, tails, axis=0)
    return found.mean - high, found.mean - low


def _bca(units: ResampledUnits, found: LinearMean, tails: Tails, draws: Draws) -> Bounds:
    shifts = draws.each(units.shifts, found.mean.size)
    tie = ROUNDING * found.se  # replicates as near to the estimate as this are equal to it
    below = ((shifts < -tie).mean(axis=0) + (shifts <= tie).mean(axis=0)) / 2
    bias = ndtri(below)
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = (found.parts**3).sum(axis=0) / (6 * (found.parts**2).sum(axis=0) ** 1.5)
        shares = [ndtr(bias + (bias + z) / (1 - skew * (bias + z))) for z in ndtri(tails)]
    shifts.sort(axis=0)
    low, high = (_each_quantile(shifts, np.nan_to_num(share, nan=0.5)) for share in shares)
    return found.mean + low, found.mean + high


def _each_quantile(sorted_columns: FloatArray, shares: FloatArray) -> FloatArray:
    """A quantile of its own for each sorted column, between order statistics as `numpy.quantile` has it."""
    return np.array([np.quantile(column, share) for column, share in zip(sorted_columns.T, shares, strict=True)])


def _studentised(units: ResampledUnits, found: LinearMean, tails: Tails, draws: Draws) -> Bounds:
    ratios = draws.each(units.studentised, found.mean.size)
    # Order statistics, outwards: between finite and infinite ratios there is nothing to interpolate.
    low = np.quantile(ratios, tails[0], axis=0, method="lower")
    high = np.quantile(ratios, tails[1], axis=0, method="higher")
    with np.errstate(invalid="ignore"):
        return found.mean - high * found.se, found.mean - low * found.se
