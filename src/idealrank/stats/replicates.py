"""The difference of two systems that were trained several times: variance of training beside variance of queries, in one model."""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import stdtr, stdtrit

from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.randomness import whole_number
from idealrank.stats.tolerance import ROUNDING, beyond_rounding
from idealrank.stats.values import chosen, open_share, table_of

Pairing: TypeAlias = Literal["nested", "crossed"]
Single: TypeAlias = Literal["fixed", "alike"]


@dataclass(frozen=True)
class Training:
    """Variance that training adds to the values of one system, or to a difference seed by seed.

    Parameters
    ----------
    n_seeds : int
        Number of trained models.
    seeds : float
        Variance between the models' means over all available queries; an estimate below 0 is set to 0.
    residual : float
        Variance of the interaction of model and query.

    Examples
    --------
    >>> Training(5, 0.0004, 0.0025).error(100)
    8.5e-05
    """

    n_seeds: int
    seeds: float
    residual: float

    def error(self, n_queries: int, n_seeds: int | None = None) -> float:
        """Contribution of training to the variance of a mean over these queries and seeds."""
        return (self.seeds + self.residual / n_queries) / (self.n_seeds if n_seeds is None else n_seeds)


@dataclass(frozen=True)
class ReplicatedDifference:
    """Difference that accounts for queries and training; see `replicated_difference`.

    Parameters
    ----------
    difference : float
        Mean of b minus mean of a, over queries and seeds.
    standard_error, df : float
        Standard error of the difference, and Satterthwaite's degrees of freedom.
    low, high, level : float
        The t interval and its confidence level.
    p : float
        Two-sided p value of no difference; below 1 - level if and only if the interval excludes 0.
    n_queries : int
        Number of queries.
    queries : float
        Variance of the true difference over queries; an estimate below 0 is set to 0.
    training : tuple of Training
        Training variance of a and of b; of the difference if seeds are crossed.
    query_error : float
        Standard error without the training variance: that of the t test on means over seeds.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> a = rng.random((50, 1)) + rng.normal(0, 0.02, 4) + rng.normal(0, 0.05, (50, 4))
    >>> b = a + 0.03 + rng.normal(0, 0.1, (50, 1)) + rng.normal(0, 0.02, 4)
    >>> print(replicated_difference(a, b))
    difference +0.0183 [-0.0272, 0.0639] (level 0.95, 10.9 degrees of freedom), p = 0.39; 50 queries; training makes up 64 % of the variance
    """

    difference: float
    standard_error: float
    df: float
    low: float
    high: float
    level: float
    p: float
    n_queries: int
    queries: float
    training: tuple[Training, ...]
    query_error: float

    def standard_error_with(self, *, n_queries: int | None = None, n_seeds: int | None = None) -> float:
        """Return the standard error expected for other numbers of queries, and of seeds of every system that has several.

        Examples
        --------
        >>> rng = np.random.default_rng(1)
        >>> a = rng.random((50, 1)) + rng.normal(0, 0.02, 4) + rng.normal(0, 0.05, (50, 4))
        >>> found = replicated_difference(a, a + 0.03)
        >>> found.standard_error_with(n_queries=1000) > 3 * found.standard_error_with(n_seeds=100)
        True
        """
        size = self.n_queries if n_queries is None else whole_number("n_queries", n_queries)
        seeds = None if n_seeds is None else whole_number("n_seeds", n_seeds)
        return math.sqrt(self.queries / size + sum(part.error(size, seeds) for part in self.training))

    def __str__(self) -> str:
        total = self.standard_error**2
        share = 100 * sum(part.error(self.n_queries) for part in self.training) / total if total else 0.0
        return (
            f"difference {self.difference:+.3g} [{self.low:.3g}, {self.high:.3g}] (level {self.level:g}, {self.df:.1f} degrees of freedom),"
            f" p = {self.p:.2g}; {self.n_queries} queries; training makes up {min(share, 100):.0f} % of the variance"
        )


def replicated_difference(
    a: Any, b: Any, *, seeds: Pairing = "nested", single: Single | None = None, level: float = 0.95
) -> ReplicatedDifference:
    """Estimate the difference between two systems from several trained models on the same queries.

    The model is ``value = system + query + query of the system + seed of the system + residual``. Averaging over seeds and testing over
    queries ignores that other seeds would have other means, so its interval is too short for any number of queries. Here

    ``variance = s^2(d)/n + sum over systems of max(0, s^2(seed means)/k - s^2(residual)/(n k))``

    with d the difference of each query averaged over seeds, n queries and k seeds; ``s^2(d)/n`` already contains the share of the residual.
    Degrees of freedom are Satterthwaite's: with two or three seeds they are few, and the interval is correspondingly wide.

    Parameters
    ----------
    a, b : float array, shape (queries, seeds)
        Values of a measure for each model and query; the numbers of seeds may differ. Shape (queries,) for a single model.
    seeds : {"nested", "crossed"}
        ``nested``: seed 3 of a is unrelated to seed 3 of b. ``crossed``: they are paired, as the same fold or the same sample of training
        data; differences are then taken seed by seed.
    single : {"fixed", "alike"}, optional
        Meaning of a single model on one side: ``fixed``, it has no training (BM25); ``alike``, its training varies as much as that of the
        other side.
    level : float
        Method of the interval.

    Raises
    ------
    OptionError
        One side has a single model and `single` is not given; or both have, or seeds are crossed.
    InputError
        The sides have different numbers of queries, or fewer than two; for crossed seeds, the shapes differ.

    References
    ----------
    Satterthwaite (1946), An approximate distribution of estimates of variance components. Biometrics Bulletin 2, 110-114.
    Searle, Casella and McCulloch (1992), Variance Components, chapter 4.

    Examples
    --------
    >>> found = replicated_difference([[0.2, 0.3], [0.5, 0.4], [0.9, 0.8]], [[0.3, 0.5], [0.5, 0.7], [0.9, 1.0]])
    >>> round(found.difference, 4), round(found.standard_error, 4), round(found.query_error, 4)
    (0.1333, 0.0833, 0.0167)
    """
    chosen("seeds", seeds, ("nested", "crossed"))
    open_share("level", level)
    sides = _sides(a, b)
    first, second = sides
    differences = second.mean(axis=1) - first.mean(axis=1)
    largest = float(max(np.abs(first).max(), np.abs(second).max()))
    if seeds == "crossed":
        if first.shape != second.shape or first.shape[1] < 2:
            raise InputError(f"a has shape {first.shape} and b {second.shape}: crossed seeds are the same, and at least 2, on both sides")
        parts = [_Part.of(second - first, largest)]
    else:
        parts = _nested(sides, single, largest)
    n = differences.size
    by_query = beyond_rounding(float(differences.var(ddof=1)), largest) / n
    variance = by_query + sum(part.added for part in parts)
    spread = by_query**2 / (n - 1) + _uncertainty(parts)
    df = variance**2 / spread if spread else float(n - 1)
    training = tuple(Training(part.n_seeds, part.added * part.n_seeds, part.residual) for part in parts)
    queries = max(by_query * n - sum(part.residual / part.n_seeds for part in training), 0.0)
    middle, error = float(differences.mean()), math.sqrt(variance)
    reach = float(stdtrit(df, (1 + level) / 2)) * error
    p = _p_value(middle, error, df, largest)
    return ReplicatedDifference(middle, error, df, middle - reach, middle + reach, level, p, n, queries, training, math.sqrt(by_query))


@dataclass(frozen=True)
class _Part:
    """Contribution of one system's copies to the variance of the difference, with its uncertainty."""

    n_seeds: int
    residual: float
    between: float  # variance of the seeds' means, over k
    within: float  # its share of the residual
    df: tuple[int, int]

    @classmethod
    def of(cls, table: FloatArray, largest: float) -> "_Part":
        n, k = table.shape
        means = table.mean(axis=0)
        left = table - means - table.mean(axis=1, keepdims=True) + table.mean()
        residual = beyond_rounding(float((left**2).sum()) / ((n - 1) * (k - 1)), largest)
        return cls(k, residual, beyond_rounding(float(means.var(ddof=1)), largest) / k, residual / (n * k), (k - 1, (n - 1) * (k - 1)))

    def alike(self) -> "_Part":
        """Return the variances for a single copy."""
        return _Part(1, self.residual, self.between * self.n_seeds, self.within * self.n_seeds, self.df)

    @property
    def added(self) -> float:
        return max(self.between - self.within, 0.0)


def _sides(a: Any, b: Any) -> tuple[FloatArray, FloatArray]:
    tables = []
    for name, values in (("a", a), ("b", b)):
        given = np.asarray(values, np.float64)
        if given.ndim not in {1, 2}:
            raise InputError(f"{name} has shape {given.shape}, expected (queries, seeds), or (queries,) for one copy")
        tables.append(table_of(given.reshape(len(given), -1), axes=("queries", "seeds"), least=(2, 1)))
    if len(tables[0]) != len(tables[1]):
        raise InputError(f"a has {len(tables[0])} queries and b {len(tables[1])}; expected the same queries in the same order")
    return tables[0], tables[1]


def _nested(sides: tuple[FloatArray, FloatArray], single: str | None, largest: float) -> list[_Part]:
    """One part for each side that training moves."""
    several = [side.shape[1] > 1 for side in sides]
    if all(several):
        return [_Part.of(side, largest) for side in sides]
    if not any(several):
        raise OptionError("both sides have one copy: the variance of training cannot be seen; use a paired test over queries, and say so")
    if single is None:
        ways = ('single="fixed"', 'single="alike"'), ("--single fixed", "--single alike")
        hint, command_hint = (
            f"set {fixed} if it is not trained, or {alike} if training moves it as it moves the other side" for fixed, alike in ways
        )
        raise OptionError(
            f"{'b' if several[0] else 'a'} has one copy, expected several, or how training moves it", hint=hint, command_hint=command_hint
        )
    chosen("single", single, ("fixed", "alike"))
    seen = _Part.of(sides[several.index(True)], largest)
    return [seen] if single == "fixed" else [seen, seen.alike()]


def _uncertainty(parts: list[_Part]) -> float:
    """Satterthwaite's terms of what training adds."""
    counted = [part for part in parts if part.added]
    if any(part.n_seeds == 1 for part in counted):
        # The single copy's variance is the other side's over again, so both are wrong together.
        between, within, df = sum(part.between for part in counted), sum(part.within for part in counted), counted[0].df
        return between**2 / df[0] + within**2 / df[1]
    return sum(part.between**2 / part.df[0] + part.within**2 / part.df[1] for part in counted)


def _p_value(difference: float, error: float, df: float, scale: float) -> float:
    if abs(difference) <= ROUNDING * scale:
        return 1.0
    return 2 * float(stdtr(df, -abs(difference) / error)) if error else 0.0
