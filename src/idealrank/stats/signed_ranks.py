"""Signed ranks of differences: their null distribution, and the means of two differences that bound the pseudo-median."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.stats.tolerance import ROUNDING, ranks_within

_EXACT = 50  # queries, at most, for the exact distribution: its counts stay whole numbers of float64
_HALVINGS = 56  # of the range of the differences: past the last bit of the largest


@dataclass(frozen=True, eq=False)
class SignedRanks:
    """Rank sums of columns of differences.

    Parameters
    ----------
    n : int
        Differences of a column.
    positive : float64 array, shape (m,)
        Sums of the ranks of the positive differences.
    mean, se : float64 array, shape (m,)
        Of that sum if signs are random.
    tied, exact : bool array, shape (m,)
        Where differences are 0 or equal in size, but for rounding; where the exact distribution applies.

    Examples
    --------
    >>> SignedRanks.of(np.array([[0.1], [-0.2], [0.3], [0.0]])).positive
    array([6.])
    """

    n: int
    positive: FloatArray
    mean: FloatArray
    se: FloatArray
    tied: BoolArray
    exact: BoolArray

    @classmethod
    def of(cls, differences: FloatArray, largest: FloatArray | None = None) -> "SignedRanks":
        """Of differences, shape (n, m): zeros are ranked, then left out.

        `largest`, shape (m,), is the largest value that the differences come from, by default the largest difference: sizes within
        1e-12 of it are 0, and the others are tied as `ranks_within` has it.
        """
        n = differences.shape[0]
        sizes = np.abs(differences)
        rounding = ROUNDING * (sizes.max(axis=0) if largest is None else largest)
        zero = sizes <= rounding
        ranks, tied = ranks_within(np.where(zero, 0.0, sizes), rounding)
        ranks = np.where(zero, 0.0, ranks)
        positive = np.where(differences > 0, ranks, 0).sum(axis=0)
        tied |= zero.any(axis=0)
        # A random sign adds its rank or nothing: variance r^2/4. With mean ranks for ties, and without the ranks of zeros, the sum is
        # the textbook's with both corrections.
        variance = (ranks**2).sum(axis=0) / 4
        mean = ranks.sum(axis=0) / 2
        return cls(n, positive, mean, np.sqrt(variance), tied, ~tied & (n <= _EXACT))

    def p(self, alternative: str) -> FloatArray:
        """The p value of each column, shape (m,); 1 where all differences are 0."""
        with np.errstate(invalid="ignore", divide="ignore"):
            z = np.where(self.se > 0, (self.positive - self.mean) / self.se, 0.0)
        below, above = ndtr(z), ndtr(-z)
        if self.exact.any():
            cumulated = null_distribution(self.n)
            at = np.rint(self.positive).astype(np.int64)
            below = np.where(self.exact, cumulated[np.where(self.exact, at, 0)], below)
            above = np.where(self.exact, cumulated[np.where(self.exact, cumulated.size - 1 - at, 0)], above)
        found = {"two-sided": np.minimum(1, 2 * np.minimum(below, above)), "greater": above, "less": below}[alternative]
        return np.where(self.se > 0, found, 1.0)

    def pseudo_median(self, differences: FloatArray) -> FloatArray:
        """The median of the means of two differences, each with itself too, shape (m,)."""
        total = self.n * (self.n + 1) // 2
        middle = np.array([(total - 1) // 2, total // 2])
        return np.array([walsh_averages(column, middle).mean() for column in differences.T])

    def bounds(self, differences: FloatArray, level: float, alternative: str) -> tuple[FloatArray, FloatArray]:
        """Bounds of the pseudo-median by inversion of the test, each of shape (m,); NaN where there are zeros or ties."""
        outside = (1 - level) / (2 if alternative == "two-sided" else 1)
        total = self.n * (self.n + 1) // 2
        low, high = np.full((2, self.positive.size), np.nan)
        for at in np.flatnonzero(~self.tied):
            if self.exact[at]:
                cut = int(np.searchsorted(null_distribution(self.n), outside, side="right")) - 1
            else:
                cut = int(np.floor(self.mean[at] + ndtri(outside) * self.se[at]))
            ends = walsh_averages(differences[:, at], np.array([cut, total - 1 - cut])) if cut >= 0 else (-np.inf, np.inf)
            low[at] = ends[0] if alternative != "less" else -np.inf
            high[at] = ends[1] if alternative != "greater" else np.inf
        return low, high


@lru_cache(maxsize=64)
def null_distribution(n: int) -> FloatArray:
    """Chance that the ranks 1 to n with random signs sum to at most 0, 1, ..., n (n + 1)/2 on the positive side.

    Examples
    --------
    >>> null_distribution(2)
    array([0.25, 0.5 , 0.75, 1.  ])
    """
    counts = np.ones(1)
    for rank in range(1, n + 1):
        counts = np.concatenate((counts, np.zeros(rank))) + np.concatenate((np.zeros(rank), counts))
    cumulated = counts.cumsum() / 2.0**n
    cumulated.setflags(write=False)
    return cumulated


def walsh_averages(differences: FloatArray, places: IntArray) -> FloatArray:
    """The means of two differences at the given places of their order, 0 for the smallest, without making them all.

    Halves the range again and again, counting the means below by binary search; then takes the first mean above the lower bound.

    Examples
    --------
    >>> walsh_averages(np.array([0.0, 1.0, 3.0]), np.arange(6))
    array([0. , 0.5, 1. , 1.5, 2. , 3. ])
    """
    ordered = np.sort(differences)
    low = np.full(places.size, np.nextafter(ordered[0], -np.inf))
    high = np.full(places.size, ordered[-1])
    for _ in range(_HALVINGS):
        middle = low + (high - low) / 2
        pairs = np.searchsorted(ordered, 2 * middle[:, None] - ordered, side="right").sum(axis=1)
        count = (pairs + np.searchsorted(ordered, middle, side="right")) // 2
        enough = count > places
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    partner = np.searchsorted(ordered, 2 * low[:, None] - ordered, side="right")
    means = np.where(partner < ordered.size, (ordered + ordered[np.minimum(partner, ordered.size - 1)]) / 2, np.inf)
    return np.asarray(means.min(axis=1), np.float64)
