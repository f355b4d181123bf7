"""Several tests at once: corrections of p values, and families of tests under shared sign flips.

A family has corrected p values and simultaneous intervals from the joint law of its statistics.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.design import Design
from idealrank.stats.randomness import RandomLike, whole_number
from idealrank.stats.sign_flips import (
    MOST_UNITS,
    AllFlips,
    Alternative,
    Flips,
    Part,
    Units,
    counted_rank,
    flips_of,
    level_left,
)
from idealrank.stats.tails import nth_largest
from idealrank.stats.tolerance import ROUNDING, subtracted
from idealrank.stats.values import Resampled, chosen, columns_of, design_of, open_share
from idealrank.stats.whole_numbers import Thresholds, as_whole, unit_of

Correction: TypeAlias = Literal["holm", "bonferroni", "bh", "by"]


def adjust(p: Any, method: Correction = "holm") -> FloatArray:
    """Adjust the p values of one family of tests, for comparison with the level itself.

    All values of `p` form one family, whatever its shape. With p_(1) <= ... <= p_(m):

    * ``holm``: max over j <= i of ``(m - j + 1) p_(j)``. The probability of at least one false
      positive is at most the level, under any dependence. The default.
    * ``bonferroni``: ``m p_(i)``. The same guarantee as Holm's method, with less power;
      simultaneous intervals at the level 1 - alpha / m belong to it.
    * ``bh`` (Benjamini and Hochberg): min over j >= i of ``m p_(j) / j``. The expected share of
      false positives among the positives is at most the level if the tests are independent or
      positively dependent.
    * ``by`` (Benjamini and Yekutieli): ``bh`` times 1 + 1/2 + ... + 1/m; the same guarantee under
      any dependence.

    Parameters
    ----------
    p : array of float, any shape
        In [0, 1].
    method : {"holm", "bonferroni", "bh", "by"}
        Correction method.

    Returns
    -------
    float64 array, the shape of `p`
        In [0, 1], never below `p`, and in the same order.

    Raises
    ------
    InputError
        A p value is NaN or outside [0, 1]: the size of a family with a missing value is unknown.
    OptionError
        The method is unknown.

    References
    ----------
    Dunn (1961), Multiple comparisons among means. JASA 56, 52-64, for Bonferroni's inequality. Holm
    (1979), A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6, 65-70. Benjamini and Hochberg (1995), Controlling the false discovery rate. JRSS B
    57, 289-300. Benjamini and Yekutieli (2001), The control of the false discovery rate under
    dependency. Annals of Statistics 29, Theorem 1.3.

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    >>> adjust([0.01, 0.04, 0.03], "bh")
    array([0.03, 0.04, 0.04])
    """
    if method not in _METHODS:
        raise OptionError(f"correction {method!r}: expected one of {', '.join(_METHODS)}")
    p_values = np.asarray(p, np.float64)
    wrong = ~((p_values >= 0) & (p_values <= 1))
    if wrong.any():
        index = int(np.flatnonzero(wrong.reshape(-1))[0])
        raise InputError(
            f"p value {p_values.reshape(-1)[index]} at {index}: expected numbers in [0, 1]; leave "
            f"out tests that were not made"
        )
    flat = p_values.reshape(-1)
    order = np.argsort(flat, kind="stable")
    adjusted = np.empty_like(flat)
    adjusted[order] = np.minimum(_METHODS[method](flat[order]), 1.0)
    # Rounding of m p / j can fall below p by a unit in the last place.
    return np.maximum(adjusted, flat).reshape(p_values.shape)


def _holm(rising: FloatArray) -> FloatArray:
    return np.maximum.accumulate(rising * np.arange(rising.size, 0, -1))


def _bonferroni(rising: FloatArray) -> FloatArray:
    return rising * rising.size


def _hochberg(rising: FloatArray) -> FloatArray:
    scaled = rising * (rising.size / np.arange(1, rising.size + 1))
    return np.minimum.accumulate(scaled[::-1])[::-1]


def _yekutieli(rising: FloatArray) -> FloatArray:
    return np.asarray(_hochberg(rising) * (1 / np.arange(1, rising.size + 1)).sum())


_METHODS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "holm": _holm,
    "bonferroni": _bonferroni,
    "bh": _hochberg,
    "by": _yekutieli,
}


# An observed statistic that is less than its critical value by this share reaches it
_TIED = 4 * ROUNDING


@dataclass(frozen=True, kw_only=True, eq=False)
class MaxT(Resampled[FloatArray]):
    """Family of tests, corrected together; see `simultaneous` and `max_t`.

    Parameters
    ----------
    difference, p, low, high : float64 array, shape (tests,), or (runs,) or (runs, measures) of
    `max_t`
        Weighted mean difference; p value corrected for the whole family; simultaneous interval,
        which contains `null` if and only if p is above 1 - level. Intervals can be wider than the
        critical value of p gives; see `simultaneous`.
    critical : float
        Critical value of the t statistic for a test of all units at 1 - level, which decides p: of
        its absolute value for two-sided tests, of its negative for ``less``. Infinite with too few
        queries or draws.
    critical_t : float64 array, the shape of `difference`
        Critical value for each test, with the degrees of freedom of its own units; infinite where
        these are too few for the level.
    level : float
        Simultaneous confidence level of the intervals.
    n, n_units, n_resamples, exact, alternative, null
        As in `PermutationTest`; one value for the family.

    Examples
    --------
    >>> found = max_t(
    ...     [0.1, 0.5, 0.3, 0.4, 0.2, 0.6],
    ...     np.array([[2, 6, 4, 5, 3, 7], [1, 6, 2, 5, 2, 5]]).T / 10,
    ... )
    >>> print(found)
    2 differences over 6 queries: 1 significant, |t| from 3.16 on (max-T, level 0.95 for all at once, exact)
    """  # noqa: E501

    critical: float
    critical_t: FloatArray
    exact: bool
    alternative: Alternative = "two-sided"
    null: float = 0.0

    @property
    def differs(self) -> BoolArray:
        """Tests whose interval does not contain `null`."""
        return (self.low > self.null) | (self.high < self.null)

    def __str__(self) -> str:
        how = "exact" if self.exact else f"{self.n_resamples:,} draws"
        beyond = {
            "two-sided": f"|t| from {self.critical:.3g} on",
            "greater": f"t from {self.critical:.3g} on",
            "less": f"t from {-self.critical:.3g} down",
        }
        return (
            f"{self.difference.size} differences over {self.n} queries: {int(self.differs.sum())} "
            f"significant, {beyond[self.alternative]} (max-T, level {self.level:g} for all at "
            f"once, {how})"
        )


def simultaneous(
    differences: npt.ArrayLike,
    *,
    counted: npt.ArrayLike | None = None,
    alternative: Alternative = "two-sided",
    null: float = 0.0,
    n_resamples: int = 100_000,
    rng: RandomLike = None,
    level: float = 0.95,
    design: Design | None = None,
    threads: int | None = None,
) -> MaxT:
    """Test a family of mean differences together: several measures, pairs of runs, groups of
    queries or baselines.

    One sign vector flips the queries of all tests. The statistic of a test is ``sum t_i / sqrt(sum
    t_i^2)``, where ``t_i`` is the weighted difference of unit i from `null`; sign flips do not
    change the denominator, and the statistic is an increasing function of the t statistic. The
    corrected p value of a test is the share of sign vectors whose largest statistic over all tests
    reaches that of the test (within rounding, 1e-12). Tests with different spread therefore have
    equal influence, and correlated tests cost little: three copies of a test are corrected as one.

    The interval of a test contains the shifts at which its statistic does not exceed a critical
    value of the family. This is the larger of two: that of the differences from `null`, which
    decides p, and that of the differences from their own means. All intervals hold simultaneously,
    approximately; see the notes. Each excludes `null` if and only if its p is at most 1 - level. An
    interval is infinite where a test has too few units to reach the level by itself.

    Parameters
    ----------
    differences : array_like, shape (queries, tests)
        ``b - a`` of each query in each test.
    counted : array_like of bool, shape (queries, tests), optional
        Queries of each test, at least one; differences elsewhere are ignored and may be NaN.
        Default all.
    alternative : {"two-sided", "greater", "less"}
        ``greater``: b is better by more than `null`. One-sided intervals have one infinite end.
    null : float
        Difference under the null hypothesis.
    n_resamples : int
        Number of random sign vectors, at least 1. If at most 20 units differ from `null` in any
        test, and there are no more sign vectors than this, all are enumerated; otherwise p is
        ``(count + 1) / (n_resamples + 1)``.
    rng : Generator, seed or None
        Random generator or seed; a generator is advanced. The same seed gives the same bits for any
        number of threads.
    level : float
        Simultaneous confidence level of the intervals, in (0, 1).
    design : Design, optional
        Weights and clusters as in `permutation_test`; the mean of a test is weighted over its own
        queries.
    threads : int, optional
        Number of threads; None or 0 uses all cores.

    Returns
    -------
    MaxT
        Arrays of shape (tests,). A test without a difference from `null` has p = 1 and, two-sided,
        the interval [null, null].

    Raises
    ------
    InputError
        The shapes do not fit, a counted difference is not finite, or a test counts no query.

    Notes
    -----
    If very unequal weights make the accepted shifts more than one interval, a significant test
    keeps the shifts around its own difference.

    Large true differences shift all units of their tests alike. Sign flips then make the tests look
    correlated, and the critical value at the null too small for intervals: independent tests are
    hardly corrected, however many units they have. Differences from the means keep the true
    correlation.

    If differences are symmetric around the true ones, all intervals hold at their level where each
    true difference is `null`. Otherwise, they do so in the limit of many units, since means replace
    true differences. Where some true differences are `null` and others are large, p can use up 1 -
    level for the former. The probability that an interval misses is then at most twice 1 - level,
    in the same limit. An interval that excludes `null` only by the critical value of p ends at the
    number next to `null`.

    A test of m units has no p below 2^-m, or 2^(1 - m) if it is two-sided. Where that is above 1 -
    level, the test alone rejects no shift, and its interval is infinite. It is so in a family, too:
    bounded intervals would hold all differences less often than stated.

    References
    ----------
    Westfall and Young (1993), Resampling-based multiple testing, section 2.3, single-step maxT;
    Romano and Wolf (2005), Exact and approximate stepdown methods for multiple hypothesis testing,
    JASA 100, for why it holds whichever tests have no difference; Lehmann and Romano (2022),
    Testing statistical hypotheses, 4th edition, sections 17.2 and 17.5, for randomisation tests;
    Hothorn, Bretz and Westfall (2008), Simultaneous inference in general parametric models,
    Biometrical Journal 50, for intervals with the estimated correlation.

    Examples
    --------
    The second test counts the last six queries only.

    >>> found = simultaneous(
    ...     np.array([[1, 2, 1, 3, 1, 2, 2, 1], [9, 9, 1, 0, 1, -1, 1, 0]]).T / 10,
    ...     counted=np.array([[True] * 8, [False] * 2 + [True] * 6]).T,
    ... )
    >>> found.p.tolist(), found.differs.tolist(), found.critical_t.round(2).tolist()
    ([0.0078125, 0.796875], [True, False], [2.65, 3.16])
    """
    chosen("alternative", alternative, ("two-sided", "greater", "less"))
    open_share("level", level)
    if not np.isfinite(null):
        raise OptionError(f"null={null!r}: expected a finite difference")
    draws = whole_number("n_resamples", n_resamples)
    family, mask = _family(differences, counted)
    design = design_of(design, len(family))
    sign = -1.0 if alternative == "less" else 1.0
    tests = _Tests.of(
        _from_null(family, null, mask) * sign, mask, design, two_sided=alternative == "two-sided"
    )
    corrected, draws, exact = _flipped(tests, draws, level, rng, threads)
    critical = corrected.critical
    units = np.append(tests.n_units, design.n_units)  # the last one: a test of all units
    reached = _reached(units, level, two_sided=tests.two_sided)
    low, high = tests.interval(
        critical=critical,
        widest=max(critical, corrected.centred),
        null=sign * null,
        reached=reached[:-1],
    )
    if alternative == "less":  # tested as "greater", with the sign of the differences changed
        negated_high = high
        high = 0.0 - low  # not -low, which is -0.0 where low is 0
        low = 0.0 - negated_high
    mean = design.mean(family) if mask is None else _mean_of(family, mask, design)
    as_t = np.where(reached, _as_t(critical, units), np.inf)
    return MaxT(
        difference=mean,
        p=corrected.p,
        low=low,
        high=high,
        critical=float(as_t[-1]),
        critical_t=as_t[:-1],
        level=level,
        n=design.n,
        n_units=design.n_units,
        n_resamples=draws,
        exact=exact,
        alternative=alternative,
        null=null,
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
    """Test which runs differ from a baseline: `simultaneous` applied to all their differences.

    Parameters
    ----------
    baseline : array_like, shape (queries,) or (queries, measures)
    values : array_like, shape (queries, runs) or (queries, runs, measures)
        Values of the same queries; all runs and measures form one family.
    n_resamples, rng, level, design, threads
        As in `simultaneous`.

    Raises
    ------
    InputError
        The shapes do not match, or a value is not finite.

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> baseline = generator.random(100)
    >>> found = max_t(
    ...     baseline,
    ...     baseline[:, None] + generator.normal([0.0, 0.02, 0.1], 0.1, size=(100, 3)),
    ...     rng=1,
    ... )
    >>> found.differs.tolist()
    [False, False, True]
    """
    differences = _against(baseline, values)
    family = differences.reshape(len(differences), -1)
    corrected = simultaneous(
        family, n_resamples=n_resamples, rng=rng, level=level, design=design, threads=threads
    )
    shaped = {
        name: getattr(corrected, name).reshape(differences.shape[1:])
        for name in ("difference", "p", "low", "high", "critical_t")
    }
    return replace(corrected, **shaped)


def _against(baseline: Any, values: Any) -> FloatArray:
    """Differences, shape (queries, runs) or (queries, runs, measures)."""
    base = columns_of("baseline", baseline)
    run_values = np.asarray(values, np.float64)
    if (
        run_values.ndim != base.ndim + 1
        or run_values.shape[:1] + run_values.shape[2:] != base.shape
        or not run_values.size
    ):
        raise InputError(
            f"baseline of shape {base.shape} and values of {run_values.shape}: expected (queries,) "
            "and (queries, runs), or (queries, measures) and (queries, runs, measures)"
        )
    columns_of("values", run_values.reshape(len(run_values), -1))
    return subtracted(base[:, None], run_values)


def _family(
    differences: npt.ArrayLike, counted: npt.ArrayLike | None
) -> tuple[FloatArray, BoolArray | None]:
    """Differences, 0 where they do not count, and what counts, None if all do."""
    family = np.asarray(differences, np.float64)
    if family.ndim != 2 or not family.size:
        raise InputError(
            f"differences have shape {family.shape}, expected (queries, tests), with at least one "
            "of each"
        )
    mask = None if counted is None else np.asarray(counted)
    if mask is not None:
        if mask.shape != family.shape or mask.dtype != np.bool_:
            raise InputError(
                f"counted has shape {mask.shape} of {mask.dtype}, expected {family.shape} of bool, "
                "as the differences"
            )
        if not mask.any(axis=0).all():
            raise InputError(
                f"test {int(np.argmin(mask.any(axis=0)))} counts no query, expected at least one"
            )
        family = np.where(mask, family, 0.0)
    wrong = ~np.isfinite(family)
    if wrong.any():
        row, column = (int(axis[0]) for axis in np.nonzero(wrong))
        raise InputError(
            f"differences, query {row}, test {column}: {family[row, column]}; expected finite "
            f"differences where they count"
        )
    return family, None if mask is None or mask.all() else mask


def _from_null(differences: FloatArray, null: float, mask: BoolArray | None) -> FloatArray:
    """Differences from the null; what is rounding is 0."""
    if null == 0:
        return differences
    shifted = differences - null
    same = np.abs(shifted) <= ROUNDING * np.maximum(np.abs(differences), abs(null))
    return np.where(same if mask is None else same | ~mask, 0.0, shifted)


def _mean_of(differences: FloatArray, mask: BoolArray, design: Design) -> FloatArray:
    """Weighted means over the counted queries."""
    weights = mask if design.weights is None else mask * design.weights[:, None]
    return np.asarray((differences * weights).sum(axis=0) / weights.sum(axis=0), np.float64)


class _Tests(NamedTuple):
    """Tests of shifts from the null, two-sided or of "greater", with their statistic ``sum t_i /
    sqrt(sum t_i^2)``.
    """

    units: Units
    centres: "_Centres"
    n_units: FloatArray
    weight: FloatArray  # sum w_i over the units of each test
    square_weight: FloatArray  # sum w_i^2
    cross: FloatArray  # sum t_i w_i
    squares: FloatArray  # sum t_i^2
    root: FloatArray  # its root; infinite for a test without a difference
    observed: FloatArray  # statistic of each test, without its sign if two-sided
    rounding: float  # of the statistics
    two_sided: bool

    @classmethod
    def of(
        cls, differences: FloatArray, mask: BoolArray | None, design: Design, *, two_sided: bool
    ) -> "_Tests":
        units = Units.of(differences, design)
        total = units.totals.sum(axis=0)
        squares = (units.totals**2).sum(axis=0)
        unit_weights = units.weights * units.weight_unit
        if mask is None:
            weights = unit_weights[:, None]
            n_units = np.full(total.size, float(design.n_units))
            weight = np.full(total.size, unit_weights.sum())
            square_weight = np.full(total.size, (unit_weights**2).sum())
            centres = _Centres.of(units, units.weights[:, None], np.zeros(total.size, np.int64))
        else:
            weights = design.unit_totals(mask.astype(np.float64))
            n_units = np.count_nonzero(weights, axis=0).astype(np.float64)
            weight = weights.sum(axis=0)
            square_weight = (weights**2).sum(axis=0)
            distinct, weight_column = _distinct(weights)
            centres = _Centres.of(units, as_whole(distinct, unit_of(distinct)), weight_column)
        cross = (units.totals * weights).sum(axis=0)
        root = np.sqrt(squares)
        root[root == 0] = np.inf
        rounding = float((units.step / root).max())
        observed = total / root
        observed[np.abs(observed) <= rounding] = 0.0
        observed = np.abs(observed) if two_sided else observed
        return cls(
            units=units,
            centres=centres,
            n_units=n_units,
            weight=weight,
            square_weight=square_weight,
            cross=cross,
            squares=squares,
            root=root,
            observed=observed,
            rounding=rounding,
            two_sided=two_sided,
        )

    @property
    def differ(self) -> BoolArray:
        """Tests with any difference from the null."""
        return np.isfinite(self.root)

    def stream(
        self, flips: Flips, rows: Any, threads: int | None
    ) -> Callable[[int, Callable[[FloatArray], Any]], Iterator[Any]]:
        """Largest statistic of each draw, of differences from the null and of those from their
        mean, shape (draws, 2).
        """
        # Every draw flips the same queries in all tests at once, which keeps how the tests depend
        # on each other; the largest statistic of a draw then is one value of the law that the
        # largest of all has under the null. Tests without a difference have no statistic.
        differing = np.flatnonzero(self.differ) if self.differ.any() else np.arange(self.root.size)
        root = self.root[differing]
        centres = self.centres.of_columns(differing)
        n_weights = centres.weights.shape[1]
        totals = self.units.totals[rows][:, differing]
        columns = np.concatenate([centres.weights[rows], totals], axis=1)
        total = columns.sum(axis=0)

        def largest(parts: Iterator[Part]) -> FloatArray:
            # Each part holds the sums of some columns. The columns of the weights come before the
            # columns of the tests, and one part may hold both. No statistic can be computed before
            # all weights have arrived.
            largest_so_far = None
            weights = np.empty((0, n_weights))
            for part, sums in parts:
                flipped = np.subtract(total[part], np.multiply(sums, 2, out=sums), out=sums)
                width = flipped.shape[1]
                weights_here = min(max(n_weights - part.start, 0), width)
                if weights_here:
                    weights = np.empty((len(flipped), n_weights)) if not len(weights) else weights
                    weights[:, part.start : part.start + weights_here] = flipped[:, :weights_here]
                if weights_here == width:
                    continue
                tests = slice(part.start + weights_here - n_weights, part.start + width - n_weights)
                flipped = flipped[:, weights_here:]
                from_null = self._largest_of(flipped / root[tests])
                from_mean = self._largest_of(centres.statistics(flipped, weights, tests))
                largest_here = np.stack([from_null, from_mean], axis=1)
                largest_so_far = (
                    largest_here
                    if largest_so_far is None
                    else np.maximum(largest_so_far, largest_here)
                )
            return self._raised(np.asarray(largest_so_far))

        def map_largest(size: int, work: Callable[[FloatArray], Any]) -> Iterator[Any]:
            return flips.map_parts(
                columns, size, lambda parts: work(largest(parts)), threads=threads
            )

        return map_largest

    def _largest_of(self, statistics: FloatArray) -> FloatArray:
        """Largest statistic of each draw; `statistics` may be overwritten."""
        if self.two_sided:
            np.abs(statistics, out=statistics)
        return np.asarray(statistics.max(axis=1), np.float64)

    def _raised(self, largest: FloatArray) -> FloatArray:
        """Statistics raised by their rounding, so that they reach an observed one that they tie."""
        largest[np.abs(largest) <= self.rounding] = 0.0
        return np.asarray(largest * np.where(largest < 0, 1 - ROUNDING, 1 + ROUNDING), np.float64)

    def interval(
        self, *, critical: float, widest: float, null: float, reached: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Shifts whose statistic is at most `widest`, in the units of the differences; all shifts
        where the level is not `reached`.

        `critical`, at most `widest`, decides whether the null is one of them.
        """
        low, high = (end * self.units.unit + null + 0.0 for end in self._shifts(widest))
        low = np.where(reached, low, -np.inf)
        high = np.where(reached, high, np.inf)
        significant = (self.observed > critical) & self.differ
        total = self.units.totals.sum(axis=0)
        up = significant & ((total > 0) | (not self.two_sided))
        down = significant & (total < 0) & self.two_sided
        # What rounding or the wider critical value moved across the null goes back: the test
        # decides.
        low = np.where(
            up,
            np.maximum(low, np.nextafter(null, np.inf)),
            np.where(down, low, np.minimum(low, null)),
        )
        high = np.where(
            down,
            np.minimum(high, np.nextafter(null, -np.inf)),
            np.where(up, high, np.maximum(high, null)),
        )
        low = np.where(self.differ, low, null)
        high = np.where(self.differ | (not self.two_sided), high, null)
        lowest = np.minimum(low, high)
        highest = np.maximum(low, high)
        return np.where(down, lowest, low), np.where(up, highest, high)

    def _shifts(self, critical: float) -> tuple[FloatArray, FloatArray]:
        """``(T - shift W)^2 <= c^2 sum (t_i - shift w_i)^2``, a quadratic inequality."""
        # T is the total of the units, W their weight and c the critical value. Solved for the
        # shift s: square * s^2 - 2 middle * s + constant <= 0. With square > 0 the solutions are
        # one interval between the roots; else, with few queries, everything but an interval, of
        # which the side that the test found is kept.
        infinite = np.full(self.root.size, np.inf)
        if not np.isfinite(critical):
            return -infinite, infinite
        total = self.units.totals.sum(axis=0)
        square = self.weight**2 - critical**2 * self.square_weight
        middle = total * self.weight - critical**2 * self.cross
        over = self.observed - critical
        # A statistic within the amount that `_raised` adds reaches the value: the end is the null.
        over[(over <= 0) & (over >= -_TIED * abs(critical))] = 0.0
        constant = self.squares * over * (self.observed + critical)  # its sign is that of the test
        # The root that is far from 0 has no cancellation; the product of both roots is constant /
        # square, which gives the near one.
        discriminant_root = np.sqrt(np.maximum(middle**2 - square * constant, 0))
        numerator = middle + np.copysign(discriminant_root, middle)
        far = np.divide(numerator, square, out=np.zeros_like(numerator), where=square != 0)
        divisor = np.where(square != 0, square * far, numerator)
        near = np.divide(constant, divisor, out=np.zeros_like(numerator), where=divisor != 0)
        smaller = np.minimum(near, far)
        larger = np.maximum(near, far)
        is_interval = square > 0  # the accepted shifts are one interval
        if not self.two_sided:
            significant_from = larger if critical >= 0 else total / self.weight
            low_outside = np.where(self.observed > critical, significant_from, -infinite)
            low_inside = smaller if critical >= 0 else larger
            return np.where(is_interval, low_inside, low_outside), infinite
        up = (self.observed > critical) & (total > 0)
        down = (self.observed > critical) & (total < 0)
        low = np.where(is_interval, smaller, np.where(up, larger, -infinite))
        high = np.where(is_interval, larger, np.where(down, smaller, infinite))
        return low, high


class _Centres(NamedTuple):
    """Means of the tests, for the statistics of ``t_i - mean w_i``."""

    weights: FloatArray  # distinct columns of weights, shape (n_units, weight columns)
    weight_column: IntArray  # of each test
    mean: FloatArray
    root: FloatArray  # of the sum of squares; infinite for a test without a difference

    @classmethod
    def of(cls, units: Units, weights: FloatArray, weight_column: IntArray) -> "_Centres":
        mean = units.totals.sum(axis=0) / weights.sum(axis=0)[weight_column]
        centred = units.totals - mean * weights[:, weight_column]
        centred[np.abs(centred) <= units.step] = 0.0
        root = np.sqrt((centred**2).sum(axis=0))
        root[root == 0] = np.inf
        return cls(weights=weights, weight_column=weight_column, mean=mean, root=root)

    def of_columns(self, columns: IntArray) -> "_Centres":
        """Return the means of some tests alone."""
        return _Centres(
            weights=self.weights,
            weight_column=self.weight_column[columns],
            mean=self.mean[columns],
            root=self.root[columns],
        )

    def statistics(self, flipped: FloatArray, weights: FloatArray, tests: slice) -> FloatArray:
        """Statistics of some tests, from their flipped totals and all flipped weights."""
        root = self.root[tests]
        statistics = np.multiply(weights[:, self.weight_column[tests]], self.mean[tests])
        np.subtract(flipped, statistics, out=statistics)
        statistics /= root
        return statistics


def _distinct(columns: FloatArray) -> tuple[FloatArray, IntArray]:
    """Distinct columns, and the number of each column among them."""
    known: dict[bytes, int] = {}
    numbers = np.array(
        [known.setdefault(column.tobytes(), len(known)) for column in columns.T], np.int64
    )
    return columns[:, np.unique(numbers, return_index=True)[1]], numbers


class _Draws(NamedTuple):
    """Sign vectors of the units `rows`; `n_observed` is 1 if the observed signs are counted in
    addition to them, and 0 if they are one of them.
    """

    flips: Flips
    rows: Any
    n_draws: int
    n_observed: int

    @classmethod
    def of_all(cls, n_units: int, n_draws: int, rng: RandomLike) -> "_Draws":
        """Sign vectors of all units, listed where there are few."""
        if _listed(n_units, n_draws):
            return cls(
                flips=AllFlips(n_units), rows=slice(None), n_draws=1 << n_units, n_observed=0
            )
        return cls(flips=flips_of(n_units, rng), rows=slice(None), n_draws=n_draws, n_observed=1)


class _Corrected(NamedTuple):
    """Corrected p values, and the critical statistics of differences from the null and from their
    means.
    """

    p: FloatArray
    critical: float
    centred: float

    @classmethod
    def of(cls, tests: _Tests, draws: _Draws, level: float, threads: int | None) -> "_Corrected":
        rank = counted_rank(level, draws.n_draws, draws.n_observed)
        thresholds = Thresholds(np.where(tests.differ, tests.observed, -np.inf)[None])

        def count(largest: FloatArray) -> IntArray:
            return thresholds.count(largest[:, :1])  # of the statistics from the null

        stream = tests.stream(draws.flips, draws.rows, threads)
        tail = nth_largest(stream, max(rank, 1), draws.n_draws, 2, count)
        critical = centred = math.inf
        if rank > 0:
            critical, centred = tail.end.tolist()
        as_far = thresholds.reached(tail.counted)[0] + draws.n_observed
        p = as_far / (draws.n_draws + draws.n_observed)
        return cls(p=p, critical=critical, centred=centred)


def _flipped(
    tests: _Tests, n_draws: int, level: float, rng: RandomLike, threads: int | None
) -> tuple[_Corrected, int, bool]:
    """P values and critical statistics, the number of sign vectors, and whether they are all there
    are.
    """
    n_units = len(tests.units.totals)
    rows = np.flatnonzero(tests.units.totals.any(axis=1))
    if not _listed(rows.size, n_draws):
        draws = _Draws(
            flips=flips_of(n_units, rng), rows=slice(None), n_draws=n_draws, n_observed=1
        )
        return _Corrected.of(tests, draws, level, threads), n_draws, False
    listed = rows if rows.size else np.zeros(1, np.int64)
    draws = _Draws(flips=AllFlips(listed.size), rows=listed, n_draws=1 << listed.size, n_observed=0)
    corrected = _Corrected.of(tests, draws, level, threads)
    if 0 < rows.size < n_units:  # units without a difference from the null have one from the mean
        by_all_units = _Corrected.of(tests, _Draws.of_all(n_units, n_draws, rng), level, threads)
        corrected = corrected._replace(centred=by_all_units.centred)
    return corrected, draws.n_draws, True


def _listed(n_units: int, draws: int) -> bool:
    """Return whether all sign vectors of so many units are listed instead of drawn."""
    return n_units <= MOST_UNITS and 1 << n_units <= draws


def _reached(n_units: FloatArray, level: float, *, two_sided: bool) -> BoolArray:
    """Return whether a test of so many units can reach the level: one of 2^n sign vectors, or two,
    are the rarest result.
    """
    rarest = np.exp2(float(two_sided) - n_units)
    return np.asarray(rarest <= level_left(level), np.bool_)


def _as_t(critical: float, n_units: FloatArray) -> FloatArray:
    """The t statistics that belong to a sum over its root of squares c: ``c sqrt((n - 1) / (n -
    c^2))`` for n units.
    """
    rest = n_units - critical**2
    factor = np.sqrt(np.divide(n_units - 1, rest, out=np.full(rest.shape, np.inf), where=rest > 0))
    return np.asarray(
        np.where(rest > 0, critical * factor, np.copysign(np.inf, critical)), np.float64
    )
