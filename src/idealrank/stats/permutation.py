"""The paired sign-flip permutation test of a mean difference, with the interval that inverts it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.stats.design import Design
from idealrank.stats.randomness import RandomLike, in_order, whole_number
from idealrank.stats.sign_flips import (
    MOST_UNITS,
    ROW_BITS,
    AllFlips,
    Alternative,
    Flips,
    Units,
    counted_rank,
    flips_of,
    listed_ends,
)
from idealrank.stats.tails import Tail, nth_largest
from idealrank.stats.tolerance import ROUNDING, subtracted
from idealrank.stats.values import Resampled, cell, chosen, design_of, figure, open_share, paired

_ALTERNATIVES = ("two-sided", "greater", "less")
_COLUMNS = 32  # columns of an enumeration: 32 MB of signs of the units without a difference


@dataclass(frozen=True, kw_only=True, eq=False)
class PermutationTest(Resampled[Any]):
    """Sign-flip test: one number for a pair of columns, an array (measures,) for two tables.

    Parameters
    ----------
    difference : float or float64 array
        Weighted mean of ``b - a``.
    p : float or float64 array
        In (0, 1]; never 0.
    low, high : float or float64 array
        Interval of the differences that the test would not reject: it contains `null` if and only
        if p is above 1 - level. A bound is infinite with too few queries or draws to reject any
        difference.
    level : float
        Confidence level of the interval.
    n, n_units : int
        Number of queries, and of units that are flipped independently: clusters, or queries.
    n_nonzero : int or int64 array
        Number of units whose difference is not `null`.
    n_resamples : int or int64 array
        Number of sign vectors behind `p`: draws, or all of the `n_nonzero` units if `exact`.
    exact : bool or bool array
        True if `p` is over all sign vectors.
    alternative : str
        ``two-sided``, ``greater`` (b is better) or ``less``.
    null : float
        Difference under the null hypothesis.

    Examples
    --------
    >>> print(permutation_test([0.2, 0.4, 0.1, 0.5, 0.3, 0.0], [0.3, 0.6, 0.4, 0.9, 0.8, 0.6]))
    difference +0.35, 95 % interval [+0.1, +0.6], p 0.03125 (sign flips, two-sided, exact, 6 queries)
    """  # noqa: E501

    n_nonzero: Any
    n_resamples: Any
    exact: Any
    alternative: Alternative
    null: float

    @property
    def interval(self) -> tuple[Any, Any]:
        """Lower and upper bound."""
        return self.low, self.high

    def __str__(self) -> str:
        return "\n".join(self._line(column) for column in range(np.size(self.difference)))

    def _line(self, column: int) -> str:
        number = partial(cell, column=column)
        units = "" if self.n_units == self.n else f" in {self.n_units} clusters"
        how = "exact" if number(self.exact) else f"{number(self.n_resamples):,} draws"
        against = f" against {self.null:+.4g}" if self.null else ""
        p = np.format_float_positional(number(self.p), precision=4, fractional=False, trim="-")
        return (
            f"difference {number(self.difference):+.4g}, {100 * self.level:g} % interval "
            f"[{number(self.low):+.4g}, {number(self.high):+.4g}], p {p}{against} (sign flips, "
            f"{self.alternative}, {how}, {self.n} queries{units})"
        )


class _Settings(NamedTuple):
    """Settings shared by every column."""

    draws: int
    alternative: Alternative
    level: float
    threads: int | None


class _ColumnTests(NamedTuple):
    """P values and intervals of some columns."""

    p: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def empty(cls, columns: int) -> "_ColumnTests":
        """Make room for the results of columns."""
        return cls(p=np.empty(columns), low=np.empty(columns), high=np.empty(columns))

    def put(self, tests: "_ColumnTests", columns: IntArray) -> None:
        """Put the results of some columns into their places."""
        self.p[columns] = tests.p
        self.low[columns] = tests.low
        self.high[columns] = tests.high


def permutation_test(
    a: Any,
    b: Any,
    *,
    n_resamples: int = 100_000,
    rng: RandomLike = None,
    alternative: Alternative = "two-sided",
    null: float = 0.0,
    level: float = 0.95,
    design: Design | None = None,
    threads: int | None = None,
) -> PermutationTest:
    """Test whether the mean of `b` differs from that of `a` over the same queries, by flipping the
    signs of their differences.

    If neither is better, each query's difference from `null` is equally likely to have either sign.
    The p value is the share of sign vectors, including the observed signs, whose mean is at least
    as far from 0 as the observed mean (within 1e-12 of the sum of absolute differences). It is
    exact if at most 20 differences are not `null`; otherwise it uses random sign vectors, ``(count
    + 1) / (n_resamples + 1)``. Columns share their signs. The interval inverts the same test with
    the same draws, so it never contradicts p.

    Parameters
    ----------
    a, b : array_like, shape (queries,) or (queries, measures)
        Values of the same queries, without NaN; the difference is always ``b - a``.
    n_resamples : int
        Number of random sign vectors, at least 1; memory hardly depends on it.
    rng : Generator, seed or None
        Random generator or seed; a generator is advanced. The same seed gives the same bits for any
        number of threads.
    alternative : {"two-sided", "greater", "less"}
        ``greater``: b is better by more than `null`; the interval is then one-sided.
    null : float
        Difference under the null hypothesis: ``alternative="greater"`` with ``null=-margin`` is a
        test of non-inferiority. Differences within 1e-12 of the values count as equal to it.
    level : float
        Confidence level of the interval, in (0, 1).
    design : Design, optional
        Weights give weighted means; the queries of a cluster are flipped together. Strata have no
        effect: a sign is drawn for each unit, so every stratum keeps its units, and the mean is
        `Design.mean`.
    threads : int, optional
        Number of threads; None or 0 uses all cores.

    Returns
    -------
    PermutationTest

    Raises
    ------
    InputError
        The shapes differ, there is no query, or a value is not finite.
    OptionError
        An option is out of range.

    Notes
    -----
    If at most 20 of more queries differ, p is over all signs of these. The interval, which depends
    on the other queries as well, is then over at least 131,072 sign vectors that contain each of
    those equally often. Identical runs have difference 0, interval [0, 0] and p = 1.

    References
    ----------
    Fisher (1935), The Design of Experiments, section 21; Smucker, Allan and Carterette (2007), A
    comparison of statistical significance tests for information retrieval evaluation, CIKM; Phipson
    and Smyth (2010), Permutation p-values should never be zero, for the added one; Garthwaite
    (1996), Confidence intervals from randomization tests, Biometrics 52, for the inversion.

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> a = generator.random((200, 2))
    >>> b = a + generator.normal([0.0, 0.05], 0.2, size=(200, 2))
    >>> test = permutation_test(a, b, rng=1)
    >>> test.p.round(4).tolist(), test.low.round(3).tolist(), test.high.round(3).tolist()
    ([0.1151, 0.0013], [-0.051, 0.02], [0.006, 0.08])
    """
    first, second = paired(a, b)
    design = design_of(design, len(first))
    _check(alternative, level, null)
    options = _Settings(
        draws=whole_number("n_resamples", n_resamples),
        alternative=alternative,
        level=level,
        threads=threads,
    )
    columns = subtracted(first, second).reshape(design.n, -1)
    units = Units.of(_from_null(columns, first, second, null), design)
    exact = units.n_nonzero <= MOST_UNITS
    columns_tested = _tested(units, exact, options, rng)
    if null == 0 and alternative == "two-sided":
        same = units.n_nonzero == 0
        columns_tested = _ColumnTests(
            p=np.where(same, 1.0, columns_tested.p),
            low=np.where(same, 0.0, columns_tested.low),
            high=np.where(same, 0.0, columns_tested.high),
        )
    draws = np.where(exact, 1 << np.minimum(units.n_nonzero, MOST_UNITS), options.draws)
    return PermutationTest(
        difference=figure(design.mean(columns), first),
        p=figure(columns_tested.p, first),
        low=figure(columns_tested.low + null, first),
        high=figure(columns_tested.high + null, first),
        level=level,
        n=design.n,
        n_units=design.n_units,
        n_nonzero=figure(units.n_nonzero, first),
        n_resamples=figure(draws, first),
        exact=figure(exact, first),
        alternative=alternative,
        null=null,
    )


def _from_null(
    columns: FloatArray, first: FloatArray, second: FloatArray, null: float
) -> FloatArray:
    """Differences from the null, 0 where they are rounding: as floats, 0.4 - 0.5 + 0.1 is not 0."""
    if null == 0:
        return columns
    shifted = columns - null
    scale = np.maximum(np.maximum(np.abs(first), np.abs(second)), abs(null)).reshape(columns.shape)
    return np.where(np.abs(shifted) <= ROUNDING * scale, 0.0, shifted)


def _check(alternative: str, level: float, null: float) -> None:
    chosen("alternative", alternative, _ALTERNATIVES)
    open_share("level", level)
    if not np.isfinite(null):
        raise OptionError(f"null={null!r}: expected a finite difference")


def _tested(units: Units, exact: BoolArray, options: _Settings, rng: RandomLike) -> _ColumnTests:
    """Every column by enumeration of all units, by that of the units with a difference, or by
    draws.
    """
    n_units = units.weights.size
    if n_units <= MOST_UNITS:
        return _flipped(
            units, AllFlips(n_units), n_observed=0, options=options._replace(draws=1 << n_units)
        )
    flips = flips_of(n_units, rng)
    columns_tested = _ColumnTests.empty(exact.size)
    # Where no unit differs every draw is as good as what was observed, and every mean is 0: there
    # is nothing to list.
    rank = counted_rank(options.level, 1 << ROW_BITS, 0)
    same = (units.n_nonzero == 0) & (rank > 0)
    if same.any():
        columns = np.flatnonzero(same)
        columns_tested.put(_same(units.of_columns(columns), options), columns)
    drawn = np.flatnonzero(~exact)
    listed = np.flatnonzero(exact & ~same)
    if drawn.size:
        tests = _flipped(units.of_columns(drawn), flips, n_observed=1, options=options)
        columns_tested.put(tests, drawn)
    if listed.size:
        columns_tested.put(_enumerated(units.of_columns(listed), flips, options), listed)
    return columns_tested


def _same(units: Units, options: _Settings) -> _ColumnTests:
    sides = 2 if options.alternative == "two-sided" else 1
    low, high = units.interval(np.zeros(sides * units.unit.size), options.alternative)
    return _ColumnTests(p=np.ones(units.unit.size), low=low, high=high)


def _flipped(units: Units, flips: Flips, *, n_observed: int, options: _Settings) -> _ColumnTests:
    """P values and intervals from draws; `n_observed` is 1 if the observed signs are counted in
    addition to them.
    """
    columns = units.with_weights()

    def stream(size: int, work: Callable[[FloatArray], Any]) -> Iterator[Any]:
        return flips.map(
            columns,
            size,
            lambda sums: work(units.ends(sums, options.alternative)),
            threads=options.threads,
        )

    rank = counted_rank(options.level, options.draws, n_observed)
    sides = 2 if options.alternative == "two-sided" else 1
    tail = nth_largest(stream, max(rank, 1), options.draws, sides * units.unit.size)
    return _of_tail(units, tail, rank=rank, n_observed=n_observed, options=options)


def _of_tail(
    units: Units, tail: Tail, *, rank: int, n_observed: int, options: _Settings
) -> _ColumnTests:
    ends = tail.end if rank > 0 else np.full_like(tail.end, np.inf)
    counts = units.counts(tail.counted, options.draws, options.alternative)
    low, high = units.interval(ends, options.alternative)
    p = (counts + n_observed) / (options.draws + n_observed)
    return _ColumnTests(p=p, low=low, high=high)


def _enumerated(units: Units, flips: Flips, options: _Settings) -> _ColumnTests:
    """All signs of the units with a difference, each equally often with random signs of the
    others, whose weights matter to shifts.
    """
    columns_tested = _ColumnTests.empty(units.unit.size)
    for first in range(0, units.unit.size, _COLUMNS):
        columns = np.arange(units.unit.size)[first : first + _COLUMNS]
        part = units.of_columns(columns)
        weights_without = np.where(part.totals == 0, part.weights[:, None], 0)
        drawn = np.concatenate(
            list(flips.map(weights_without, 1 << ROW_BITS, np.copy, threads=options.threads))
        )
        test_column = partial(_enumerated_column, part, drawn, options)
        tests = in_order(test_column, columns.size, options.threads)
        for column, column_test in zip(columns, tests, strict=True):
            columns_tested.put(column_test, np.array([column]))
    return columns_tested


def _enumerated_column(
    part: Units, drawn: FloatArray, options: _Settings, column: int
) -> _ColumnTests:
    units = part.of_columns(np.array([column]))
    zero_weights = np.ascontiguousarray(drawn[:, column])
    draws = max(1 << int(units.n_nonzero[0]), zero_weights.size)
    rank = counted_rank(options.level, draws, 0)
    ends = listed_ends(units, zero_weights, max(rank, 1), options.alternative)
    tail = Tail(end=ends.end, counted=ends.counted)
    return _of_tail(units, tail, rank=rank, n_observed=0, options=options._replace(draws=draws))
