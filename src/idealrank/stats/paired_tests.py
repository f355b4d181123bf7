"""Classical tests of a paired difference: Student's t, Wilcoxon's signed ranks, signs. Each with
the interval that is its inversion.

Wilcoxon's test and interval come from `SignedRanks`: their null distribution, and the means of two
differences that bound the pseudo-median.
"""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.stats.design import Design, student_mean
from idealrank.stats.effects import deviations, in_units, outcomes
from idealrank.stats.intervals import (
    ALTERNATIVES,
    Alternative,
    against_null,
    difference_interval,
    exact_bounds,
    in_columns,
)
from idealrank.stats.special import bdtr, bdtrc, ndtr, ndtri, stdtr
from idealrank.stats.tolerance import ROUNDING, largest_of, ranks_within, subtracted
from idealrank.stats.values import (
    DifferenceTest,
    cell,
    chosen,
    design_of,
    figure,
    open_share,
    paired,
    refuse_design,
)

# queries, at most, for the exact distribution: its counts stay whole numbers of float64
_EXACT = 50
_HALVINGS = 56  # of the range of the differences: past the last bit of the largest


class SignedRanks(NamedTuple):
    """Rank sums of columns of differences."""

    n: int
    positive: FloatArray  # sum of the ranks of differences above 0
    mean: FloatArray  # of that sum under random signs
    se: FloatArray
    tied: BoolArray  # columns with ties or zeros
    exact: BoolArray  # columns whose p is by the exact distribution

    @classmethod
    def of(cls, differences: FloatArray, largest: FloatArray | None = None) -> "SignedRanks":
        """Rank differences, shape (n, m): zeros are ranked, then left out."""
        n = differences.shape[0]
        sizes = np.abs(differences)
        rounding = ROUNDING * (sizes.max(axis=0) if largest is None else largest)
        zero = sizes <= rounding
        ranks, tied = ranks_within(np.where(zero, 0.0, sizes), rounding)
        ranks = np.where(zero, 0.0, ranks)
        positive = np.where(differences > 0, ranks, 0).sum(axis=0)
        tied |= zero.any(axis=0)
        # A random sign adds its rank or nothing: variance r^2/4. With mean ranks for ties, and
        # without the ranks of zeros, the sum is the textbook's with both corrections.
        variance = (ranks**2).sum(axis=0) / 4
        mean = ranks.sum(axis=0) / 2
        return cls(
            n=n,
            positive=positive,
            mean=mean,
            se=np.sqrt(variance),
            tied=tied,
            exact=~tied & (n <= _EXACT),
        )

    def p(self, alternative: str) -> FloatArray:
        """The p value of each column, shape (m,); 1 where all differences are 0."""
        with np.errstate(invalid="ignore", divide="ignore"):
            z = np.where(self.se > 0, (self.positive - self.mean) / self.se, 0.0)
        below = ndtr(z)
        above = ndtr(-z)
        if self.exact.any():
            cumulated = null_distribution(self.n)
            rank_sum = np.where(self.exact, np.rint(self.positive), 0).astype(np.int64)
            below = np.where(self.exact, cumulated[rank_sum], below)
            # the distribution is symmetric
            above = np.where(self.exact, cumulated[cumulated.size - 1 - rank_sum], above)
        p_value = {
            "two-sided": np.minimum(1, 2 * np.minimum(below, above)),
            "greater": above,
            "less": below,
        }[alternative]
        return np.where(self.se > 0, p_value, 1.0)

    def pseudo_median(self, differences: FloatArray) -> FloatArray:
        """The median of the means of two differences, each with itself too, shape (m,)."""
        total = self.n * (self.n + 1) // 2
        middle = np.array([(total - 1) // 2, total // 2])
        return np.array([walsh_averages(column, middle).mean() for column in differences.T])

    def bounds(
        self, differences: FloatArray, level: float, alternative: str
    ) -> tuple[FloatArray, FloatArray]:
        """Bounds of the pseudo-median by inversion of the test, each of shape (m,); NaN where there
        are zeros or ties.
        """
        outside = (1 - level) / (2 if alternative == "two-sided" else 1)
        total = self.n * (self.n + 1) // 2
        low = np.full(self.positive.size, np.nan)
        high = np.full(self.positive.size, np.nan)
        for column in np.flatnonzero(~self.tied):
            # the largest rank sum that is significant; below 0 if none is
            if self.exact[column]:
                cut = int(np.searchsorted(null_distribution(self.n), outside, side="right")) - 1
            else:
                cut = int(np.floor(self.mean[column] + ndtri(outside) * self.se[column]))
            lower = -np.inf
            upper = np.inf
            if cut >= 0:
                places = np.array([cut, total - 1 - cut])
                lower, upper = walsh_averages(differences[:, column], places).tolist()
            low[column] = lower if alternative != "less" else -np.inf
            high[column] = upper if alternative != "greater" else np.inf
        return low, high


@lru_cache(maxsize=64)
def null_distribution(n: int) -> FloatArray:
    """Chance that the ranks 1 to n with random signs sum to at most 0, 1, ..., n (n + 1)/2 on the
    positive side.
    """
    counts = np.ones(1)
    for rank in range(1, n + 1):
        counts = np.concatenate((counts, np.zeros(rank))) + np.concatenate((np.zeros(rank), counts))
    cumulated = counts.cumsum() / 2.0**n
    cumulated.setflags(write=False)
    return cumulated


def walsh_averages(differences: FloatArray, places: IntArray) -> FloatArray:
    """The means of two differences at the given places of their order, 0 for the smallest, without
    making them all.
    """
    # By halving: the means up to a value are counted without making them. The search finds every
    # pair twice and a difference with itself once; adding the latter again counts all means twice.
    ordered = np.sort(differences)
    low = np.full(places.size, np.nextafter(ordered[0], -np.inf))
    high = np.full(places.size, ordered[-1])
    for _ in range(_HALVINGS):
        middle = low + (high - low) / 2
        pairs = np.searchsorted(ordered, 2 * middle[:, None] - ordered, side="right").sum(axis=1)
        count = (pairs + np.searchsorted(ordered, middle, side="right")) // 2
        enough = count > places
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle)
    # The mean asked for is the least one above `low`: of each difference with its next partner.
    partner = np.searchsorted(ordered, 2 * low[:, None] - ordered, side="right")
    means = np.where(
        partner < ordered.size,
        (ordered + ordered[np.minimum(partner, ordered.size - 1)]) / 2,
        np.inf,
    )
    return np.asarray(means.min(axis=1), np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class PairedTest(DifferenceTest):
    """Test of b against a on the same queries: numbers for one column of values, arrays (measures,)
    for several.

    Parameters
    ----------
    difference : float or float64 array
        Mean of b minus mean of a.
    p : float or float64 array
        Probability of a result at least as extreme if there is no difference.
    statistic : float or float64 array
        t; the sum of the ranks of queries on which b is better; or the number of such queries.
    estimate, low, high : float or float64 array
        Estimate that the test is about, with bounds by inversion of the test: the interval excludes
        `null` if ``p <= 1 - level``. NaN if the test has no inversion.
    about : str
        "mean difference", "pseudo-median of the differences" or "share of wins among the queries
        that differ".
    null : float
        Value of `about` under the null hypothesis: 0, or 0.5 for a share.
    level : float
        Confidence level of the interval.
    method : str
        "t", "wilcoxon" or "sign".
    alternative : str
        "two-sided"; "greater" tests whether b is better, "less" whether it is worse.
    effect : float or float64 array
        d_z: the difference divided by the standard deviation of the differences; infinite if that
        is only rounding.
    wins, ties, losses : int or int64 array
        Number of queries on which b is better than, equal to and worse than a.
    n : int
        Number of queries.
    note : str
        Special cases; otherwise empty.

    Examples
    --------
    >>> print(paired_t([0.2, 0.5, 0.5, 0.9], [0.4, 0.5, 0.8, 0.9]))
    b - a = 0.125, p = 0.194; mean difference 0.125 [-0.1137, 0.3637]; d_z 0.833; better on 2, equal on 2, worse on 0
    (two-sided t test with 95 % interval, 4 queries)
    """  # noqa: E501

    statistic: Any
    estimate: Any
    about: str
    null: float
    alternative: str
    effect: Any
    wins: Any
    ties: Any
    losses: Any
    n: int

    def __str__(self) -> str:
        lines = [self._line(column) for column in range(np.size(self.difference))]
        note = f"; {self.note}" if self.note else ""
        count = f"{self.n} quer{'y' if self.n == 1 else 'ies'}"
        return "\n".join(
            [
                *lines,
                f"({self.alternative} {self.method} test with {100 * self.level:g} % interval, "
                f"{count}{note})",
            ]
        )

    def _line(self, column: int) -> str:
        number = partial(cell, column=column)
        return (
            f"b - a = {number(self.difference):.4g}, p = {number(self.p):.3g}; {self.about} "
            f"{number(self.estimate):.4g} [{number(self.low):.4g}, {number(self.high):.4g}]; d_z "
            f"{number(self.effect):.3g}; better on {number(self.wins)}, equal on "
            f"{number(self.ties)}, worse on {number(self.losses)}"
        )


def paired_t(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    design: Design | None = None,
) -> PairedTest:
    """Test the mean difference b - a over the same queries with Student's t.

    Parameters
    ----------
    a, b : array, shape (queries,) or (queries, measures)
        Values of two systems, query by query; finite.
    alternative : {"two-sided", "greater", "less"}
        "greater" tests whether b is better.
    level : float
        Confidence level of the interval, between 0 and 1.
    design : Design, optional
        Weights, strata and clusters, by the linearised variance; degrees of freedom are the number
        of units minus the number of strata. For unequal weights see the notes of `mean_interval`;
        `permutation_test` then has more power.

    Returns
    -------
    PairedTest
        For identical systems p is 1. If all differences are equal and not 0, up to rounding (1e-12
        of the largest value), t is infinite and p 0; with few queries, do not rely on it.

    Raises
    ------
    InputError
        The shapes differ, a value is not finite, the design has another size, or a stratum has a
        single unit.
    OptionError
        An option has an invalid value; the message names it.

    References
    ----------
    Student (1908), The probable error of a mean. Biometrika 6.

    Examples
    --------
    >>> found = paired_t([0.2, 0.5, 0.5, 0.9], [0.4, 0.5, 0.8, 0.9], alternative="greater")
    >>> round(found.p, 4), round(found.statistic, 4)
    (0.0971, 1.6667)
    """
    first, second = paired(a, b)
    interval = difference_interval(
        first, second, level=level, alternative=alternative, design=design
    )
    sample = _PairedSample.of(first, second, design_of(design, first.shape[0]))
    means = student_mean(sample.differences, sample.design, sample.largest)
    statistic = in_units(means.mean, means.se)
    p = np.where(means.constant & (means.mean == 0), 1.0, t_tail(statistic, means.df, alternative))
    figures = _Figures(
        difference=means.mean,
        p=p,
        statistic=statistic,
        estimate=means.mean,
        low=np.atleast_1d(interval.low),
        high=np.atleast_1d(interval.high),
    )
    facts = _Facts(
        about="mean difference",
        null=0.0,
        level=level,
        method="t",
        alternative=alternative,
        note=interval.note,
    )
    return _test(sample, figures, facts)


def t_tail(statistic: FloatArray, df: "float | FloatArray", alternative: str) -> FloatArray:
    """The p value of a t statistic; 1 without degrees of freedom."""
    tail = stdtr(df, -against_null(statistic, alternative))
    sides = 2 if alternative == "two-sided" else 1
    return np.where(np.equal(df, 0), 1.0, sides * tail)


def sign_test(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    design: Design | None = None,
) -> PairedTest:
    """Test whether b wins on more queries than it loses: exact, independent of the size of each
    win.

    Parameters
    ----------
    a, b, alternative, level
        As for `paired_t`.
    design : Design, optional
        Must be plain: the sign test supports no weights, strata or clusters.

    Returns
    -------
    PairedTest
        The interval is Clopper and Pearson's for the share of wins among the queries that differ.
        Ties are left out, and the note gives their number.

    Raises
    ------
    InputError
        The shapes differ or a value is not finite.
    OptionError
        The design is not plain, or an option has an invalid value.

    References
    ----------
    Clopper and Pearson (1934), The use of confidence or fiducial limits illustrated in the case of
    the binomial. Biometrika 26.

    Examples
    --------
    >>> found = sign_test([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.2, 0.3, 0.4, 0.5, 0.6, 0.6])
    >>> found.p, found.note
    (0.0625, 'ties left out: 1')
    """
    _check_ranked("the sign test", design, alternative, level)
    sample = _plain_sample(a, b, design)
    wins, ties, losses = outcomes(sample.differences)
    untied = wins + losses
    low_tail = np.asarray(bdtr(wins, untied, 0.5))
    high_tail = np.where(wins > 0, bdtrc(np.maximum(wins - 1, 0), untied, 0.5), 1.0)
    p = {
        "two-sided": np.minimum(1, 2 * np.minimum(low_tail, high_tail)),
        "greater": high_tail,
        "less": low_tail,
    }[alternative]
    outside = (1 - level) / (2 if alternative == "two-sided" else 1)
    low, high = exact_bounds(wins, losses, outside)
    if alternative == "less":
        low = np.zeros_like(low)
    if alternative == "greater":
        high = np.ones_like(high)
    share = np.where(untied > 0, wins / np.maximum(untied, 1), np.nan)
    note = f"ties left out: {', '.join(map(str, ties.tolist()))}" if ties.any() else ""
    figures = _Figures(
        difference=sample.differences.mean(axis=0),
        p=p,
        statistic=wins.astype(np.float64),
        estimate=share,
        low=low,
        high=high,
    )
    facts = _Facts(
        about="share of wins among the queries that differ",
        null=0.5,
        level=level,
        method="sign",
        alternative=alternative,
        note=note,
    )
    return _test(sample, figures, facts)


def wilcoxon(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    design: Design | None = None,
) -> PairedTest:
    """Test with Wilcoxon's signed ranks that the differences b - a are symmetric about 0.

    All differences are ranked, including zeros, whose ranks are then dropped (Pratt). Differences
    within 1e-12 of the largest value count as 0 or as equal: 0.4 - 0.3 and 0.2 - 0.1 are tied. p is
    exact for at most 50 queries with neither zeros nor equal sizes, otherwise by the normal
    approximation, with the variance corrected for both.

    Parameters
    ----------
    a, b, alternative, level
        As for `paired_t`.
    design : Design, optional
        Must be plain: the test supports no weights, strata or clusters.

    Returns
    -------
    PairedTest
        The estimate is the median of all means of two differences (Hodges and Lehmann), and the
        interval lies between two of those means. With zeros or equal differences the test does not
        invert to an interval: the bounds are NaN, and the note says so.

    Raises
    ------
    InputError
        The shapes differ or a value is not finite.
    OptionError
        The design is not plain, or an option has an invalid value.

    References
    ----------
    Pratt (1959), Remarks on zeros and ties in the Wilcoxon signed rank procedures. Journal of the
    American Statistical Association 54. Cureton (1967), The normal approximation to the signed-rank
    sampling distribution when zero differences are present. Ibid. 62.

    Examples
    --------
    >>> found = wilcoxon([0.1, 0.2, 0.3, 0.4, 0.5], [0.12, 0.23, 0.34, 0.45, 0.44])
    >>> found.p, found.statistic, round(found.estimate, 12)
    (0.625, 10.0, 0.03)
    """
    _check_ranked("the signed-rank test", design, alternative, level)
    sample = _plain_sample(a, b, design)
    ranks = SignedRanks.of(sample.differences, sample.largest)
    low, high = ranks.bounds(sample.differences, level, alternative)
    notes = [
        in_columns("normal approximation", ~ranks.exact),
        in_columns("zeros or ties, so no interval", ranks.tied),
    ]
    note = "; ".join(note for note in notes if note)
    figures = _Figures(
        difference=sample.differences.mean(axis=0),
        p=ranks.p(alternative),
        statistic=ranks.positive,
        estimate=ranks.pseudo_median(sample.differences),
        low=low,
        high=high,
    )
    facts = _Facts(
        about="pseudo-median of the differences",
        null=0.0,
        level=level,
        method="wilcoxon",
        alternative=alternative,
        note=note,
    )
    return _test(sample, figures, facts)


class _PairedSample(NamedTuple):
    """Differences of two runs as columns."""

    differences: FloatArray
    largest: FloatArray  # value of either run, in each column
    design: Design
    like: FloatArray  # values as given, for their shape

    @classmethod
    def of(cls, a: FloatArray, b: FloatArray, design: Design) -> "_PairedSample":
        before = a.reshape(design.n, -1)
        after = b.reshape(design.n, -1)
        return cls(
            differences=subtracted(before, after),
            largest=np.asarray(largest_of(before, after), np.float64),
            design=design,
            like=a,
        )


def _check_ranked(test: str, design: Design | None, alternative: str, level: float) -> None:
    refuse_design(test, design, "paired_t")
    chosen("alternative", alternative, ALTERNATIVES)
    open_share("level", level)


def _plain_sample(a: npt.ArrayLike, b: npt.ArrayLike, design: Design | None) -> _PairedSample:
    first, second = paired(a, b)
    return _PairedSample.of(first, second, design_of(design, first.shape[0]))


class _Figures(NamedTuple):
    """Results of a test, a number for each column."""

    difference: FloatArray
    p: FloatArray
    statistic: FloatArray
    estimate: FloatArray
    low: FloatArray
    high: FloatArray


class _Facts(NamedTuple):
    """Description of a test, the same for all columns."""

    about: str
    null: float
    level: float
    method: str
    alternative: str
    note: str


def _test(sample: _PairedSample, figures: _Figures, facts: _Facts) -> PairedTest:
    spread = deviations(sample.differences, sample.design, sample.largest)
    wins, ties, losses = outcomes(sample.differences)
    numbers = {
        **figures._asdict(),
        "effect": in_units(figures.difference, spread),
        "wins": wins,
        "ties": ties,
        "losses": losses,
    }
    shaped = {name: figure(number, sample.like) for name, number in numbers.items()}
    return PairedTest(**shaped, **facts._asdict(), n=sample.design.n)
