"""Paired comparison from sums that partitions add up: no partition sees the values of another.

The random numbers of a query come from a counter-based generator with the query's id as key, so
that partitions need not agree on an order. A sign flip is a bit, and a Poisson bootstrap weight a
count with mean 1, for each draw.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.data.types import FloatArray, encode_id
from idealrank.errors import IncompatibleError, InputError, OptionError
from idealrank.stats.intervals import Alternative, against_null
from idealrank.stats.special import stdtr
from idealrank.stats.tolerance import ROUNDING
from idealrank.stats.values import chosen

# P(count <= k) of a Poisson count with mean 1, for k from 0 to 13; 32 bits draw no larger count
_POISSON = np.cumsum(np.exp(-1) / np.cumprod([1, *range(1, 14)]))
_SCALARS = ("n", "total_a", "total_b", "total", "squares", "wins", "losses", "seed")
_SLACK = 1e-9  # relative: sums in another order round otherwise
DRAWS = ("flipped", "signs", "weighted", "weights")
"""Names of the arrays of `DifferenceSums`, each of shape (n_draws,)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DifferenceSums:
    """Sums of the differences ``b - a`` of some queries, as observed and in every draw.

    A difference within 1e-12 of the larger of its two values counts as none.

    Attributes
    ----------
    n : int
        Number of queries.
    total_a, total_b, total : float
        Sums of the values of both runs, and of the differences.
    squares : float
        Sum of squared deviations of the differences from their mean.
    wins, losses : int
        Queries with a higher, and with a lower, value of b.
    flipped, signs : float64 array, shape (n_draws,)
        Sum of the differences with the sign of each query drawn, and sum of these signs.
    weighted, weights : float64 array, shape (n_draws,)
        Sum of differences, and of weights, with Poisson weights of mean 1.
    seed : int
        Seed of the generators; parts with different seeds do not merge.

    References
    ----------
    Chamandy, Muralidharan, Najmi and Naidu (2012), Estimating uncertainty for massive data streams.
    Google technical report: the Poisson bootstrap. Salmon et al. (2011), Parallel random numbers:
    as easy as 1, 2, 3. SC '11: counter-based generators. Chan, Golub and LeVeque (1983), Algorithms
    for computing the sample variance. The American Statistician 37: squares of parts.

    Examples
    --------
    >>> names, a, b = ["q1", "q2", "q3", "q4"], [0.1, 0.2, 0.3, 0.4], [0.4, 0.5, 0.7, 0.9]
    >>> whole = DifferenceSums.of(names, a, b, n_draws=1000)
    >>> parts = [
    ...     DifferenceSums.of(names[part], a[part], b[part], n_draws=1000)
    ...     for part in (slice(0, 1), slice(1, 4))
    ... ]
    >>> merged = parts[1].merge(parts[0])
    >>> merged.n, round(merged.difference, 12), merged.p == whole.p
    (4, 0.375, True)
    """

    n: int
    total_a: float
    total_b: float
    total: float
    squares: float
    wins: int
    losses: int
    flipped: FloatArray
    signs: FloatArray
    weighted: FloatArray
    weights: FloatArray
    seed: int = 0

    @classmethod
    def of(
        cls, queries: Sequence[str], a: Any, b: Any, *, n_draws: int = 10_000, seed: int = 0
    ) -> "DifferenceSums":
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
        before = np.asarray(a, np.float64)
        after = np.asarray(b, np.float64)
        for values in (before, after):
            if values.shape != (len(queries),):
                raise InputError(
                    f"found {len(queries)} queries and values of shape {values.shape}, expected "
                    "one for each query"
                )
        finite = np.isfinite(before) & np.isfinite(after)
        if not finite.all():
            raise InputError(
                f"query {queries[int(np.argmin(finite))]!r}: found no finite difference, expected "
                "numbers"
            )
        return sums_of_columns(
            queries, before[:, None], after[:, None], n_draws=n_draws, seed=seed
        )[0]

    def merge(self, other: "DifferenceSums") -> "DifferenceSums":
        """Add the sums of other queries; in any order, to rounding.

        Raises
        ------
        IncompatibleError
            The seeds or the numbers of draws differ.
        """
        seed_and_draws = (self.seed, self.flipped.size)
        other_seed_and_draws = (other.seed, other.flipped.size)
        if seed_and_draws != other_seed_and_draws:
            raise IncompatibleError(
                f"found seed and draws {seed_and_draws} and {other_seed_and_draws}, expected the "
                "same for all parts"
            )
        n = self.n + other.n
        gap = other.difference - self.difference if self.n and other.n else 0.0
        # squares are about the mean of each part; the distance of the means joins them (Chan)
        between = gap * gap * self.n * other.n / n if n else 0.0
        draws: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in DRAWS}
        return DifferenceSums(
            n=n,
            total_a=self.total_a + other.total_a,
            total_b=self.total_b + other.total_b,
            total=self.total + other.total,
            squares=self.squares + other.squares + between,
            wins=self.wins + other.wins,
            losses=self.losses + other.losses,
            seed=self.seed,
            **draws,
        )

    @property
    def difference(self) -> float:
        """Mean difference; NaN without queries."""
        return self.total / self.n if self.n else math.nan

    @property
    def mean_a(self) -> float:
        """Mean value of run a; NaN without queries."""
        return self.total_a / self.n if self.n else math.nan

    @property
    def mean_b(self) -> float:
        """Mean value of run b; NaN without queries."""
        return self.total_b / self.n if self.n else math.nan

    @property
    def ties(self) -> int:
        """Number of queries with equal values."""
        return self.n - self.wins - self.losses

    @property
    def sd(self) -> float:
        """Standard deviation of the differences; NaN for fewer than two queries, 0 where it is
        rounding.
        """
        if self.n < 2:
            return math.nan
        largest = max(abs(self.total_a), abs(self.total_b)) / self.n
        deviation = math.sqrt(max(self.squares, 0.0) / (self.n - 1))
        return 0.0 if deviation <= ROUNDING * largest else deviation

    @property
    def p(self) -> float:
        """Two-sided p value of the sign-flip test, in (0, 1]; the observed signs count as a
        draw.
        """
        return self.p_value()

    def p_value(self, alternative: Alternative = "two-sided", null: float = 0.0) -> float:
        """P value of the sign-flip test of a difference, in (0, 1].

        Parameters
        ----------
        alternative : {"two-sided", "greater", "less"}
            Side on which a mean difference speaks against `null`.
        null : float
            Difference that is tested.

        Examples
        --------
        >>> sums = DifferenceSums.of(
        ...     ["q1", "q2", "q3"], [0.1, 0.2, 0.3], [0.4, 0.5, 0.7], n_draws=1000
        ... )
        >>> sums.p_value("greater") < sums.p_value("less"), sums.p_value("greater", null=0.9)
        (True, 1.0)
        """
        chosen("alternative", alternative, ("two-sided", "greater", "less"))
        flipped = self.flipped - null * self.signs
        observed = self.total - null * self.n
        slack = _SLACK * abs(observed)
        if alternative == "two-sided":
            as_far = np.abs(flipped) >= abs(observed) - slack
        elif alternative == "greater":
            as_far = flipped >= observed - slack
        else:
            as_far = flipped <= observed + slack
        return (1 + int(np.count_nonzero(as_far))) / (1 + self.flipped.size)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Percentile interval of the mean difference by the Poisson bootstrap."""
        if not 0 < level < 1:
            raise OptionError(f"level={level}: expected a number between 0 and 1")
        drawn = self.weights > 0
        if not drawn.any():
            return math.nan, math.nan
        low, high = np.quantile(
            self.weighted[drawn] / self.weights[drawn], [(1 - level) / 2, (1 + level) / 2]
        )
        return float(low), float(high)

    def packed(self) -> tuple[dict[str, float], bytes]:
        """The numbers, and the draws as little-endian float64, for `unpacked` in another process.

        Examples
        --------
        >>> sums = DifferenceSums.of(["q"], [0.25], [0.5], n_draws=3)
        >>> DifferenceSums.unpacked(*sums.packed()).p == sums.p
        True
        """
        draws = np.stack([getattr(self, name) for name in DRAWS]).astype("<f8")
        return {name: getattr(self, name) for name in _SCALARS}, draws.tobytes()

    @classmethod
    def unpacked(cls, numbers: "dict[str, Any]", draws: bytes) -> "DifferenceSums":
        """Sums that another process packed."""
        arrays = np.frombuffer(draws, "<f8").astype(np.float64).reshape(len(DRAWS), -1)
        return cls(**{**numbers, **dict(zip(DRAWS, arrays, strict=True))})


def sums_of_columns(
    queries: Sequence[str], a: FloatArray, b: FloatArray, *, n_draws: int, seed: int
) -> list[DifferenceSums]:
    """Sum the differences of several measures, for which the numbers of each query are drawn
    once.
    """
    if n_draws < 1:
        raise OptionError(f"n_draws={n_draws}: expected a whole number from 1 on")
    counted = np.isfinite(a) & np.isfinite(b)
    before = np.where(counted, a, 0.0)
    after = np.where(counted, b, 0.0)
    differences = after - before
    differences[np.abs(differences) <= ROUNDING * np.maximum(np.abs(before), np.abs(after))] = 0.0
    width = differences.shape[1]
    flipped = np.zeros((width, n_draws))
    signed = np.zeros((width, n_draws))
    weighted = np.zeros((width, n_draws))
    weights = np.zeros((width, n_draws))
    for query, query_differences, counts in zip(queries, differences, counted, strict=True):
        if not counts.any():
            continue
        signs, drawn = _draws(query, n_draws, seed)
        for column in np.flatnonzero(counts).tolist():
            difference = query_differences[column]
            flipped[column] += signs * difference
            signed[column] += signs
            weighted[column] += drawn * difference
            weights[column] += drawn
    column_sums = []
    for column in range(width):
        column_differences = differences[counted[:, column], column]
        n = column_differences.size
        total = math.fsum(column_differences.tolist())
        squares = float(np.square(column_differences - total / n).sum()) if n else 0.0
        column_sums.append(
            DifferenceSums(
                n=n,
                total_a=math.fsum(before[:, column].tolist()),
                total_b=math.fsum(after[:, column].tolist()),
                total=total,
                squares=squares,
                wins=int((column_differences > 0).sum()),
                losses=int((column_differences < 0).sum()),
                flipped=flipped[column],
                signs=signed[column],
                weighted=weighted[column],
                weights=weights[column],
                seed=seed,
            )
        )
    return column_sums


def max_t(
    family: Sequence[DifferenceSums],
    alternative: Alternative = "two-sided",
    nulls: "Sequence[float] | None" = None,
) -> list[float]:
    """P values of several measures of the same runs, corrected together: single-step max-T on the
    sign flips that they share.

    Westfall and Young (1993), Resampling-based multiple testing, section 2.3.
    """
    observed, drawn = _studentised(family, alternative, nulls)
    largest = drawn.max(axis=0)
    p_values = []
    for statistic in observed:
        as_far = np.count_nonzero(largest >= statistic - _SLACK * abs(statistic))
        p_values.append((1 + int(as_far)) / (1 + largest.size))
    return p_values


def levels_of_max_t(
    family: Sequence[DifferenceSums],
    alpha: float,
    alternative: Alternative = "two-sided",
    nulls: "Sequence[float] | None" = None,
) -> list[float]:
    """Level of a single t test with the critical value that `max_t` has for the whole family at the
    level `alpha`, for each test.
    """
    if len(family) == 1:
        return [alpha]
    _, drawn = _studentised(family, alternative, nulls)
    critical = float(np.quantile(drawn.max(axis=0), 1 - alpha))
    sides = 2 if alternative == "two-sided" else 1
    levels = []
    for sums in family:
        # the t statistic of a sum that is `critical` times the root of its squares
        rest = sums.n - critical * critical
        t = critical * math.sqrt((sums.n - 1) / rest) if rest > 0 else math.inf
        defined = sums.n > 1 and t < math.inf
        levels.append(sides * float(stdtr(sums.n - 1, -t)) if defined else 0.0)
    return levels


def _studentised(
    family: Sequence[DifferenceSums], alternative: Alternative, nulls: Sequence[float] | None
) -> tuple[list[float], FloatArray]:
    """Sums divided by the root of their squares, larger where they speak against the null:
    observed, and drawn (tests, n_draws).
    """
    observed = []
    drawn = []
    null_means = [0.0] * len(family) if nulls is None else nulls
    for sums, null in zip(family, null_means, strict=True):
        centre = sums.total - null * sums.n
        # root of the sum of squares of the differences from the null, flipped or not
        root = math.sqrt(sums.squares + centre * centre / sums.n) if sums.n else 0.0
        shifted = np.append(centre, sums.flipped - null * sums.signs)  # as observed, then as drawn
        statistics = against_null(shifted, alternative) / (root or 1.0)
        observed.append(float(statistics[0]))
        drawn.append(statistics[1:])
    return observed, np.array(drawn)


def _draws(query: str, n_draws: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Signs and Poisson counts of a query: words of Philox, whose key is a hash of seed and query
    id.
    """
    key = seed.to_bytes(16, "little", signed=True) + encode_id(query)
    digest = hashlib.blake2b(key, digest_size=16).digest()
    generator = np.random.Philox(key=int.from_bytes(digest, "little"))
    sign_words = generator.random_raw(-(-n_draws // 64)).astype("<u8")
    bits = np.unpackbits(sign_words.view(np.uint8))[:n_draws]
    words = generator.random_raw(-(-n_draws // 2)).astype("<u8").view("<u4")[:n_draws]
    signs: FloatArray = 1 - 2 * bits.astype(np.float64)
    counts = np.searchsorted(_POISSON, words / 2.0**32, side="right").astype(np.float64)
    return signs, counts
