"""The difference of two systems that were trained several times: variance of training and
variance of queries, in one model.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.special import stdtr, stdtrit

from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.randomness import whole_number
from idealrank.stats.roots import root_between
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
        Variance between the models' means over all available queries; an estimate below 0 is set to
        0.
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
        return (self.seeds + self.residual / n_queries) / (
            self.n_seeds if n_seeds is None else n_seeds
        )


@dataclass(frozen=True, kw_only=True)
class ReplicatedDifference:
    """Difference that accounts for queries and training; see `replicated_difference`.

    Parameters
    ----------
    difference : float
        Mean of b minus mean of a, over queries and seeds.
    standard_error, df : float
        Standard error of the difference, and the degrees of freedom of the t interval with this
        standard error and width.
    low, high, level : float
        The interval and its confidence level.
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
    difference +0.0183 [-0.0319, 0.0685] (level 0.95, 6.2 degrees of freedom), p = 0.41; 50 queries; training makes up 64 % of the variance
    """  # noqa: E501

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

    def standard_error_with(
        self, *, n_queries: int | None = None, n_seeds: int | None = None
    ) -> float:
        """Return the standard error expected for other numbers of queries, and of seeds of every
        system that has several.

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
        return math.sqrt(
            self.queries / size + sum(training.error(size, seeds) for training in self.training)
        )

    def __str__(self) -> str:
        total = self.standard_error**2
        share = (
            100 * sum(training.error(self.n_queries) for training in self.training) / total
            if total
            else 0.0
        )
        return (
            f"difference {self.difference:+.3g} [{self.low:.3g}, {self.high:.3g}] (level "
            f"{self.level:g}, {self.df:.1f} degrees of freedom), p = {self.p:.2g}; "
            f"{self.n_queries} queries; training makes up {min(share, 100):.0f} % of the variance"
        )


def replicated_difference(
    a: Any, b: Any, *, seeds: Pairing = "nested", single: Single | None = None, level: float = 0.95
) -> ReplicatedDifference:
    """Estimate the difference between two systems from several trained models on the same queries.

    The model is ``value = system + query + query of the system + seed of the system + residual``.
    Averaging over seeds and testing over queries ignores that other seeds would have other means,
    so its interval is too short for any number of queries. Here

    ``variance = s^2(d)/n + sum over systems of max(0, s^2(seed means)/k - s^2(residual)/(n k))``

    with d the difference of each query averaged over seeds, n queries and k seeds; ``s^2(d)/n``
    already contains the share of the residual. Queries are many and seeds are few, so each source
    of variance has its own quantile of Student's t. The interval reaches to

    ``sqrt(t(n - 1)^2 V(queries) + t(f)^2 V(seeds))``

    on both sides, with ``V(seeds)`` the sum of ``s^2(seed means)/k`` and ``V(queries)`` the rest of
    the variance. With as many seeds on both sides, f are Welch's degrees of freedom of the seed
    means; with several seeds on one side only, or crossed seeds, f is k - 1. If the numbers of
    seeds differ, each side has its own term with its own k - 1.

    Parameters
    ----------
    a, b : float array, shape (queries, seeds)
        Values of a measure for each model and query; the numbers of seeds may differ. Shape
        (queries,) for a single model.
    seeds : {"nested", "crossed"}
        ``nested``: seed 3 of a is unrelated to seed 3 of b. ``crossed``: they are paired, as the
        same fold or the same sample of training data; differences are then taken seed by seed.
    single : {"fixed", "alike"}, optional
        Meaning of a single model on one side: ``fixed``, it has no training (BM25); ``alike``, its
        training varies as much as that of the other side. No data show whether this is so.
    level : float
        Confidence level of the interval, between 0 and 1.

    Raises
    ------
    OptionError
        One side has a single model and `single` is not given; or both have, or seeds are crossed.
    InputError
        The sides have different numbers of queries, or fewer than two; for crossed seeds, the
        shapes differ.

    Notes
    -----
    Banerjee (1961) proved that a sum of independent variances, each times the square of its own t,
    gives an interval that misses at most as often as stated. One t interval for the whole, with
    Satterthwaite's degrees of freedom, misses up to 12 % with two seeds instead of 5 %: if both
    models happen to agree, their variance is too small and the degrees of freedom are too many at
    the same time. ``experiments/seeds_and_queries.py`` simulates both. Two seeds leave one degree
    of freedom, where t is 12.7, and three leave two, where it is 4.3.

    References
    ----------
    Banerjee (1961), On confidence interval for two-means problem based on separate estimates of
    variances and tabulated values of t-table. Sankhya A 23, 359-378. Welch (1938), The significance
    of the difference between two means when the population variances are unequal. Biometrika 29,
    350-362. Searle, Casella and McCulloch (1992), Variance Components, chapter 4.

    Examples
    --------
    >>> found = replicated_difference(
    ...     [[0.2, 0.3], [0.5, 0.4], [0.9, 0.8]], [[0.3, 0.5], [0.5, 0.7], [0.9, 1.0]]
    ... )
    >>> round(found.difference, 4), round(found.standard_error, 4), round(found.query_error, 4)
    (0.1333, 0.085, 0.0167)
    """
    chosen("seeds", seeds, ("nested", "crossed"))
    open_share("level", level)
    sides = _sides(a, b)
    first, second = sides
    differences = second.mean(axis=1) - first.mean(axis=1)
    largest = float(max(np.abs(first).max(), np.abs(second).max()))
    if seeds == "crossed":
        if first.shape != second.shape or first.shape[1] < 2:
            raise InputError(
                f"a has shape {first.shape} and b {second.shape}: crossed seeds are the same, and "
                "at least 2, on both sides"
            )
        variances = [_SeedVariance.of(second - first, largest)]
    else:
        variances = _nested(sides, single, largest)
    n = differences.size
    by_query = beyond_rounding(float(differences.var(ddof=1)), largest) / n
    trainings = tuple(variance.training() for variance in variances)
    residuals = sum(training.residual / training.n_seeds for training in trainings)
    seed_terms = _seed_terms(variances)
    between = sum(term.variance for term in seed_terms)
    total = max(by_query + sum(variance.added for variance in variances), between)
    half_width = _HalfWidth(terms=(_Term(variance=total - between, df=n - 1), *seed_terms))
    mean = float(differences.mean())
    half = half_width.at((1 - level) / 2)
    return ReplicatedDifference(
        difference=mean,
        standard_error=half_width.error,
        df=half_width.df_at((1 - level) / 2),
        low=mean - half,
        high=mean + half,
        level=level,
        p=1.0 if abs(mean) <= ROUNDING * largest else half_width.p_of(mean),
        n_queries=n,
        queries=max(by_query * n - residuals, 0.0),
        training=trainings,
        query_error=math.sqrt(by_query),
    )


@dataclass(frozen=True, kw_only=True)
class _Term:
    """A variance of the difference, with the degrees of freedom of its estimate."""

    variance: float
    df: float


@dataclass(frozen=True, kw_only=True)
class _HalfWidth:
    """Half the width of an interval from independent variances, each with its own quantile of t."""

    terms: tuple[_Term, ...]

    @property
    def error(self) -> float:
        return math.sqrt(sum(term.variance for term in self.terms))

    @property
    def _extreme_dfs(self) -> tuple[float, float]:
        dfs = [term.df for term in self.terms if term.variance] or [self.terms[0].df]
        return min(dfs), max(dfs)

    def at(self, tail: float) -> float:
        """Half the width that leaves this probability beyond each end."""
        return math.hypot(
            *(float(stdtrit(term.df, tail)) * math.sqrt(term.variance) for term in self.terms)
        )

    def df_at(self, tail: float) -> float:
        """Degrees of freedom by which one t interval with the whole variance is as wide."""
        fewest, most = self._extreme_dfs  # degrees of freedom
        ratio = self.at(tail) / self.error if self.error else 0.0

        def missing(df: float) -> float:
            return float(stdtrit(df, tail)) + ratio

        if missing(fewest) >= 0 or missing(most) <= 0:  # equal but for rounding
            return fewest if missing(fewest) >= 0 else most
        return root_between(missing, fewest, most)

    def p_of(self, difference: float) -> float:
        """The probability beyond both ends of the interval that ends at 0."""
        if not self.error:
            return 0.0
        # t with the fewest and with the most degrees of freedom has a p above and below it.
        highest, lowest = (
            2 * float(stdtr(df, -abs(difference) / self.error)) for df in self._extreme_dfs
        )
        lowest = max(lowest, _LEAST_P)
        if highest <= lowest or self._beyond(highest, difference) <= 0:
            return highest
        if self._beyond(lowest, difference) >= 0:
            return lowest
        root = root_between(
            lambda log_p: self._beyond(math.exp(log_p), difference),
            math.log(lowest),
            math.log(highest),
            within=1e-13,
        )
        return math.exp(root)

    def _beyond(self, p: float, difference: float) -> float:
        """Distance from the end of the interval of level 1 - p to 0; rises with p."""
        return abs(difference) - self.at(p / 2)


# SciPy's quantiles of t are exact down to here, and wrong from about 1e-200; a smaller p is
# reported as this, unless even the t with the fewest degrees of freedom has a smaller one.
_LEAST_P = 1e-100


@dataclass(frozen=True, kw_only=True)
class _SeedVariance:
    """Contribution of the seeds of one system to the variance of the difference, with its
    uncertainty.
    """

    n_seeds: int
    residual: float
    between: float  # variance of the means of the seeds, over their number
    within: float  # what the residual contributes to it
    df: int  # of the variance between the means

    @classmethod
    def of(cls, table: FloatArray, largest: float) -> "_SeedVariance":
        n, k = table.shape
        means = table.mean(axis=0)
        residuals = table - means - table.mean(axis=1, keepdims=True) + table.mean()
        residual = beyond_rounding(float((residuals**2).sum()) / ((n - 1) * (k - 1)), largest)
        return cls(
            n_seeds=k,
            residual=residual,
            between=beyond_rounding(float(means.var(ddof=1)), largest) / k,
            within=residual / (n * k),
            df=k - 1,
        )

    def alike(self) -> "_SeedVariance":
        """Return the variances for a single seed."""
        return _SeedVariance(
            n_seeds=1,
            residual=self.residual,
            between=self.between * self.n_seeds,
            within=self.within * self.n_seeds,
            df=self.df,
        )

    @property
    def added(self) -> float:
        # the variance over queries contains that of the residual already
        return max(self.between - self.within, 0.0)

    def training(self) -> Training:
        return Training(self.n_seeds, self.added * self.n_seeds, self.residual)


def _sides(a: Any, b: Any) -> tuple[FloatArray, FloatArray]:
    tables = []
    for name, values in (("a", a), ("b", b)):
        system_values = np.asarray(values, np.float64)
        if system_values.ndim not in {1, 2}:
            raise InputError(
                f"{name} has shape {system_values.shape}, expected (queries, seeds), or (queries,) "
                f"for one copy"
            )
        tables.append(
            table_of(
                system_values.reshape(len(system_values), -1),
                axes=("queries", "seeds"),
                least=(2, 1),
            )
        )
    if len(tables[0]) != len(tables[1]):
        raise InputError(
            f"a has {len(tables[0])} queries and b {len(tables[1])}; expected the same queries in "
            "the same order"
        )
    return tables[0], tables[1]


def _nested(
    sides: tuple[FloatArray, FloatArray], single: str | None, largest: float
) -> list[_SeedVariance]:
    """One variance for each side that training changes."""
    has_several = [side.shape[1] > 1 for side in sides]
    if all(has_several):
        return [_SeedVariance.of(side, largest) for side in sides]
    if not any(has_several):
        raise OptionError(
            "both sides have one copy: the variance of training cannot be seen; use a paired test "
            "over queries, and say so"
        )
    if single is None:
        raise OptionError(
            f"{'b' if has_several[0] else 'a'} has one copy, expected several, or how training "
            "moves it",
            hint=_single_hint('single="fixed"', 'single="alike"'),
            command_hint=_single_hint("--single fixed", "--single alike"),
        )
    chosen("single", single, get_args(Single))
    variance = _SeedVariance.of(sides[has_several.index(True)], largest)
    return [variance] if single == "fixed" else [variance, variance.alike()]


def _single_hint(fixed: str, alike: str) -> str:
    return (
        f"set {fixed} if it is not trained, or {alike} if training moves it as it moves the other "
        "side"
    )


def _seed_terms(variances: list[_SeedVariance]) -> list[_Term]:
    """Variances of the means of seeds, each with its degrees of freedom."""
    between = sum(variance.between for variance in variances)
    if not between:
        return []
    if any(variance.n_seeds == 1 for variance in variances):
        # The variance of the single seed is that of the other side: one estimate for both.
        return [_Term(variance=between, df=variances[0].df)]
    if len({variance.df for variance in variances}) == 1:
        # Welch's degrees of freedom hold their level for equal numbers of seeds. For 2 against 10
        # they miss up to 12 %, so that different numbers have a term each.
        welch = between**2 / sum(variance.between**2 / variance.df for variance in variances)
        return [_Term(variance=between, df=welch)]
    return [_Term(variance=variance.between, df=variance.df) for variance in variances]
