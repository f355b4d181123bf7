"""Paired comparison from sums that partitions add up: no partition sees the values of another.

The random numbers of a query come from a counter-based generator with the query's id as key, so that partitions need not agree on an order.
A sign flip is a bit, and a Poisson bootstrap weight a count with mean 1, for each draw.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.data.types import FloatArray, encode_id
from idealrank.errors import IncompatibleError, InputError, OptionError

_POISSON = np.cumsum(np.exp(-1) / np.cumprod([1, *range(1, 14)]))  # P(count <= k), for k from 0 to 13


@dataclass(frozen=True, eq=False)
class DifferenceSums:
    """Sums of the differences ``b - a`` of some queries, as observed and in every draw.

    Attributes
    ----------
    n : int
        Number of queries.
    total : float
        Sum of the differences.
    flipped : float64 array, shape (n_draws,)
        Sum with the sign of each query drawn.
    weighted, weights : float64 array, shape (n_draws,)
        Sum of differences, and of weights, with Poisson weights of mean 1.
    seed : int
        Seed of the generators; parts with different seeds do not merge.

    References
    ----------
    Chamandy, Muralidharan, Najmi and Naidu (2012), Estimating uncertainty for massive data streams. Google technical report: the Poisson
    bootstrap. Salmon et al. (2011), Parallel random numbers: as easy as 1, 2, 3. SC '11: counter-based generators.

    Examples
    --------
    >>> names, a, b = ["q1", "q2", "q3", "q4"], [0.1, 0.2, 0.3, 0.4], [0.4, 0.5, 0.7, 0.9]
    >>> whole = DifferenceSums.of(names, a, b, n_draws=1000)
    >>> parts = [DifferenceSums.of(names[part], a[part], b[part], n_draws=1000) for part in (slice(0, 1), slice(1, 4))]
    >>> merged = parts[1].merge(parts[0])
    >>> merged.n, round(merged.difference, 12), merged.p == whole.p
    (4, 0.375, True)
    """

    n: int
    total: float
    flipped: FloatArray
    weighted: FloatArray
    weights: FloatArray
    seed: int = 0

    @classmethod
    def of(cls, queries: Sequence[str], a: Any, b: Any, *, n_draws: int = 10_000, seed: int = 0) -> "DifferenceSums":
        """Sum the differences of the queries of a partition.

        Parameters
        ----------
        queries : sequence of str
            Query ids, each once in all partitions.
        a, b : float array, shape (n_queries,)
            Values of both runs.
        n_draws : int
            Number of sign flips and of bootstrap draws.
        seed : int
            Seed, the same for every partition.

        Raises
        ------
        InputError
            The lengths differ, or a value is not finite.
        OptionError
            `n_draws` is below 1.
        """
        if n_draws < 1:
            raise OptionError(f"n_draws={n_draws}: expected a whole number from 1 on")
        differences = np.asarray(b, np.float64) - np.asarray(a, np.float64)
        if differences.shape != (len(queries),):
            raise InputError(f"found {len(queries)} queries and differences of shape {differences.shape}, expected one for each query")
        if not np.isfinite(differences).all():
            raise InputError(f"query {queries[int(np.argmin(np.isfinite(differences)))]!r}: found no finite difference, expected numbers")
        flipped, weighted, weights = np.zeros(n_draws), np.zeros(n_draws), np.zeros(n_draws)
        for query, difference in zip(queries, differences.tolist(), strict=True):
            signs, counts = _draws(query, n_draws, seed)
            flipped += signs * difference
            weighted += counts * difference
            weights += counts
        return cls(len(queries), float(differences.sum()), flipped, weighted, weights, seed)

    def merge(self, other: "DifferenceSums") -> "DifferenceSums":
        """Add the sums of other queries; in any order, to rounding.

        Raises
        ------
        IncompatibleError
            The seeds or the numbers of draws differ.
        """
        ours, theirs = (self.seed, self.flipped.size), (other.seed, other.flipped.size)
        if ours != theirs:
            raise IncompatibleError(f"found seed and draws {ours} and {theirs}, expected the same for all parts")
        return DifferenceSums(
            self.n + other.n, self.total + other.total, self.flipped + other.flipped, self.weighted + other.weighted,
            self.weights + other.weights, self.seed,
        )  # fmt: skip

    @property
    def difference(self) -> float:
        """Mean difference; NaN without queries."""
        return self.total / self.n if self.n else float("nan")

    @property
    def p(self) -> float:
        """Two-sided p value of the sign-flip test, in (0, 1]; the observed signs count as a draw."""
        limit = abs(self.total) * (1 - 1e-9)  # sums in another order round otherwise
        return (1 + int(np.count_nonzero(np.abs(self.flipped) >= limit))) / (1 + self.flipped.size)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Percentile interval of the mean difference by the Poisson bootstrap."""
        if not 0 < level < 1:
            raise OptionError(f"level={level}: expected a number between 0 and 1")
        drawn = self.weights > 0
        if not drawn.any():
            return float("nan"), float("nan")
        low, high = np.quantile(self.weighted[drawn] / self.weights[drawn], [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


def _draws(query: str, n_draws: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Signs and Poisson counts of a query: words of Philox, whose key is a hash of seed and query id."""
    digest = hashlib.blake2b(seed.to_bytes(16, "little", signed=True) + encode_id(query), digest_size=16).digest()
    generator = np.random.Philox(key=int.from_bytes(digest, "little"))
    bits = np.unpackbits(generator.random_raw(-(-n_draws // 64)).astype("<u8").view(np.uint8))[:n_draws]
    words = generator.random_raw(-(-n_draws // 2)).astype("<u8").view("<u4")[:n_draws]
    signs: FloatArray = 1 - 2 * bits.astype(np.float64)
    return signs, np.searchsorted(_POISSON, words / 2.0**32, side="right").astype(np.float64)
