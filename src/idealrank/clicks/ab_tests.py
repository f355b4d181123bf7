"""A/B tests of users: differences of means and of ratios by user, with CUPED, a check of the split, and intervals valid at all times."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2, norm

from idealrank.clicks.weighted_rows import check_confidence, label_codes, numbers
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.randomness import RandomLike, generator_of, whole_number

MISMATCH = 0.001
"""p-value of the split below which the result of a test is not to be trusted."""

MOST_RESAMPLES = 10_000_000
"""Replicates of a bootstrap that memory holds easily; more show nothing more."""

_LARGEST_RATIO = 1e8  # of standard deviations to differences: beyond it a plan has more users than there are people


@dataclass(frozen=True)
class Effect:
    """Difference of two cohorts, B less A.

    Attributes
    ----------
    mean_a, mean_b : float
        Values of the cohorts.
    difference, standard_error : float
        B less A; clustered by user.
    interval : tuple of float
        Low and high, for a test of planned size.
    p : float
        Two-sided p-value, for a test of planned size.
    sequence : tuple of float
        Confidence sequence: holds however often the test is looked at.
    n_a, n_b : int
        Users of either cohort.
    split_p : float
        p-value of the split of users; a small one says that cohorts are not what the experiment says (sample-ratio mismatch).
    variance_reduction : float
        Share of the variance that CUPED removed; 0 without a covariate.
    confidence : float
        Confidence level.
    bootstrap : tuple of float, or None
        Percentile interval of a bootstrap over users, for a test of planned size; None without replicates.

    Examples
    --------
    >>> found = ab_effect([1, 2, 3, 2, 3, 4], ["A", "A", "A", "B", "B", "B"])
    >>> found.difference, found.n_a, found.verdict
    (1.0, 3, 'undecided')
    """

    mean_a: float
    mean_b: float
    difference: float
    standard_error: float
    interval: tuple[float, float]
    p: float
    sequence: tuple[float, float]
    n_a: int
    n_b: int
    split_p: float
    variance_reduction: float
    confidence: float
    bootstrap: tuple[float, float] | None = None

    @property
    def verdict(self) -> Literal["better", "worse", "undecided", "split is wrong"]:
        """Return the verdict on B, by the interval of a test of planned size; none if users were not split as planned."""
        if self.split_p < MISMATCH:
            return "split is wrong"
        return "better" if self.interval[0] > 0 else "worse" if self.interval[1] < 0 else "undecided"


def ab_effect(
    values: npt.ArrayLike,
    cohort: "Sequence[str] | npt.ArrayLike",
    *,
    users: "Sequence[Any] | npt.ArrayLike | None" = None,
    denominator: "npt.ArrayLike | None" = None,
    covariate: "npt.ArrayLike | None" = None,
    split: float = 0.5,
    planned_users: int = 10_000,
    confidence: float = 0.95,
    n_resamples: int = 0,
    rng: RandomLike = 0,
) -> Effect:
    """Estimate the effect of B over A from rows of an experiment.

    Parameters
    ----------
    values : array, shape (rows,)
        Value of each row, such as the clicks or nDCG@10 of a list.
    cohort : sequence of {"A", "B"}, shape (rows,)
        Cohort of each row; a user is in one.
    users : sequence, shape (rows,), optional
        User of each row: rows of one user are not independent, and count by their sum. Without it each row is a user.
    denominator : array, shape (rows,), optional
        The value of a cohort is the ratio of both sums, such as clicks per list; by default of the values to the number of rows. The
        standard error is that of the delta method.
    covariate : array, shape (rows,), optional
        Value of the row's user from before the experiment, for CUPED: what it explains is taken out of the values. For values by user
        (each user one row).
    split : float
        Planned share of users in B.
    planned_users : int
        Users at which the confidence sequence is narrowest: the same number at every look.
    confidence : float
        Confidence level.
    n_resamples : int
        Replicates of the bootstrap over users, within each cohort; 0 for none.
    rng : seed or Generator
        Random numbers of the bootstrap.

    Raises
    ------
    InputError
        Lengths differ, a cohort has fewer than two users, or a user is in both.
    OptionError
        `split` or `confidence` is outside (0, 1), or `covariate` comes with several rows a user.

    References
    ----------
    Deng, Knoblich and Lu (2018), Applying the delta method in metric analytics, KDD. Deng, Xu, Kohavi and Walker (2013), Improving the
    sensitivity of online controlled experiments by utilizing pre-experiment data, WSDM. Howard, Ramdas, McAuliffe and Sekhon (2021),
    Time-uniform, nonparametric, nonasymptotic confidence sequences; Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024), Time-uniform
    central limit theory, for the asymptotic confidence sequence (equation 7). Fabijan et al. (2019), Diagnosing sample ratio mismatch.

    Examples
    --------
    >>> found = ab_effect([1, 0, 1, 1], ["A", "A", "B", "B"], users=["u", "v", "w", "x"])
    >>> found.mean_a, found.mean_b
    (0.5, 1.0)
    """
    check_confidence(confidence)
    replicates = whole_number("n_resamples", n_resamples, 0, MOST_RESAMPLES)
    if not 0 < split < 1:
        raise OptionError(f"split={split}: expected a share between 0 and 1")
    rows = row_table(values, cohort, users, denominator)
    totals, sizes, is_b, codes = rows.totals, rows.sizes, rows.is_b, rows.user
    explained = 0.0
    if covariate is not None:
        totals, explained = _adjusted(totals, sizes, codes, numbers("covariate", covariate))
    (mean_a, variance_a), (mean_b, variance_b) = (_ratio(totals[chosen], sizes[chosen]) for chosen in (~is_b, is_b))
    n_b, n = int(is_b.sum()), is_b.size
    difference, error = mean_b - mean_a, math.sqrt(variance_a + variance_b)
    reach = error * float(norm.isf((1 - confidence) / 2))
    p = 2 * float(norm.sf(abs(difference) / error)) if error > 0 else float(difference == 0)
    wide = _sequence_reach(error, n, 1 - confidence, whole_number("planned_users", planned_users))
    bootstrap = None
    if replicates:
        draws = [_drawn_ratios(totals[chosen], sizes[chosen], replicates, generator_of(seed)) for chosen, seed in
                 zip((~is_b, is_b), generator_of(rng).spawn(2), strict=True)]  # fmt: skip
        low, high = np.quantile(draws[1] - draws[0], [(1 - confidence) / 2, (1 + confidence) / 2])
        bootstrap = float(low), float(high)
    planned = n * np.array([1 - split, split])
    split_p = float(chi2.sf(((np.array([n - n_b, n_b]) - planned) ** 2 / planned).sum(), 1))
    return Effect(
        mean_a, mean_b, difference, error, (difference - reach, difference + reach), p, (difference - wide, difference + wide), n - n_b,
        n_b, split_p, explained, confidence, bootstrap,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class RowTable:
    """Checked rows of an experiment.

    Attributes
    ----------
    values, denominator : float64 array, shape (rows,)
        Of each row.
    user : int64 array, shape (rows,)
        Number of its user.
    is_b : bool array, shape (users,)
        Whether the user is in B.

    Examples
    --------
    >>> row_table([1, 2, 3, 4], ["A", "A", "B", "B"], None, None).is_b.tolist()
    [False, False, True, True]
    """

    values: FloatArray
    denominator: FloatArray
    user: IntArray
    is_b: BoolArray

    @property
    def totals(self) -> FloatArray:
        """Sums of values by user."""
        return np.bincount(self.user, self.values).astype(np.float64)

    @property
    def sizes(self) -> FloatArray:
        """Sums of denominators by user."""
        return np.bincount(self.user, self.denominator).astype(np.float64)


def row_table(
    values: npt.ArrayLike,
    cohort: "Sequence[str] | npt.ArrayLike",
    users: "Sequence[Any] | npt.ArrayLike | None",
    denominator: "npt.ArrayLike | None",
) -> RowTable:
    """Check rows of an experiment.

    Raises
    ------
    InputError
        Lengths differ, a cohort has fewer than two users, or a user is in both.

    Examples
    --------
    >>> row_table([1, 2, 3, 4], ["A", "A", "B", "B"], None, None).totals.tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    y = numbers("values", values)
    below = np.ones(y.size) if denominator is None else numbers("denominator", denominator)
    side = np.asarray(cohort)
    if side.shape != y.shape or below.shape != y.shape:
        raise InputError(f"found {y.size} values, {side.size} cohorts and {below.size} denominators, expected as many of each")
    if not y.size:
        raise InputError("values: found no row, expected at least 2 users in each cohort")
    known = np.isin(side, ("A", "B"))
    if not known.all():
        raise InputError(f"cohort: found {str(side[~known][0])!r}, expected 'A' or 'B'")
    codes = np.arange(y.size) if users is None else _codes(users, y.size)
    is_b = np.zeros(int(codes.max()) + 1, bool)
    is_b[codes[side == "B"]] = True
    twice = codes[side == "A"][is_b[codes[side == "A"]]]
    if twice.size:
        name = np.asarray(users)[codes == twice[0]][0]
        raise InputError(f"users: found {str(name)!r} in both cohorts, expected each user in one")
    for chosen, name in ((~is_b, "A"), (is_b, "B")):
        if chosen.sum() < 2:
            raise InputError(f"cohort {name}: found {int(chosen.sum())} users, expected at least 2")
        if not below[chosen[codes]].sum() > 0:
            found = float(below[chosen[codes]].sum())
            raise InputError(f"denominator, cohort {name}: found a sum of {found:g}, expected one above 0; is the column the right one?")
    return RowTable(y, below, codes, is_b)


def _drawn_ratios(above: FloatArray, below: FloatArray, replicates: int, rng: np.random.Generator) -> FloatArray:
    """Ratios of two sums over users that are drawn with replacement."""
    found = np.empty(replicates)
    for number in range(replicates):
        times = np.bincount(rng.integers(0, above.size, above.size), minlength=above.size)
        found[number] = (times * above).sum() / (times * below).sum()
    return found


def _ratio(above: FloatArray, below: FloatArray) -> tuple[float, float]:
    """Ratio of two sums over users, and its variance by the delta method."""
    n, ratio = above.size, float(above.sum() / below.sum())
    residual = (above - ratio * below) / below.mean()
    return ratio, float((residual * residual).sum()) / (n - 1) / n


def _codes(users: "Sequence[Any] | npt.ArrayLike", n: int) -> IntArray:
    labels = np.asarray(users)
    if labels.shape != (n,):
        raise InputError(f"users: found shape {labels.shape}, expected one label for each of the {n} rows")
    return label_codes(labels)


def _adjusted(totals: FloatArray, sizes: FloatArray, codes: IntArray, covariate: FloatArray) -> tuple[FloatArray, float]:
    """Values less what the covariate explains of them, over both cohorts together (CUPED), and the share of the variance explained."""
    if covariate.size != codes.size:
        raise InputError(f"covariate: found {covariate.size} values, expected one for each of the {codes.size} rows")
    if np.bincount(codes).max() > 1 or not (sizes == 1).all():
        raise OptionError("covariate: found several rows of one user, or a denominator; expected one row a user")
    own = np.zeros(totals.size)
    own[codes] = covariate
    centred = own - own.mean()
    spread = float((centred * centred).sum())
    slope = float((centred * totals).sum()) / spread if spread > 0 else 0.0
    adjusted = totals - slope * centred
    return adjusted, 1 - float(adjusted.var() / totals.var()) if totals.var() > 0 else 0.0


def _sequence_reach(error: float, n: int, alpha: float, planned: int) -> float:
    """Half width of an asymptotic confidence sequence, narrowest at the planned size."""
    rho2 = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha)) + 1) / planned
    return error * math.sqrt(n) * math.sqrt((n * rho2 + 1) / (n * n * rho2) * math.log((n * rho2 + 1) / alpha**2))


def users_needed(
    sd: float, difference: float, *, split: float = 0.5, power: float = 0.8, confidence: float = 0.95, variance_reduction: float = 0.0
) -> int:
    """Users of both cohorts together that a test of planned size needs.

    Parameters
    ----------
    sd : float
        Standard deviation of the value over users.
    difference : float
        Difference that is to be found.
    split : float
        Share of users in B.
    power, confidence : float
        Probability of finding it, and confidence level of the two-sided test.
    variance_reduction : float
        Share of the variance that a covariate explains.

    Examples
    --------
    >>> users_needed(1.0, 0.1), users_needed(1.0, 0.1, variance_reduction=0.5)
    (3140, 1570)
    """
    check_confidence(confidence)
    if not (sd > 0 and math.isfinite(sd)):
        raise OptionError(f"sd={sd}: expected a finite number above 0, such as 1.8")
    if difference == 0 or not math.isfinite(difference):
        raise OptionError(f"difference={difference}: expected a finite number other than 0, such as 0.02")
    for name, share in (("split", split), ("power", power)):
        if not 0 < share < 1:
            raise OptionError(f"{name}={share}: expected a share between 0 and 1")
    if not 0 <= variance_reduction < 1:
        raise OptionError(f"variance_reduction={variance_reduction}: expected a share from 0 to less than 1")
    wanted = float(norm.isf((1 - confidence) / 2) + norm.isf(1 - power))
    ratio = wanted * sd / abs(difference)
    if not ratio < _LARGEST_RATIO:
        raise OptionError(
            f"sd={sd:g}, difference={difference:g}: found a difference too small beside sd, expected at least "
            f"{wanted / _LARGEST_RATIO:.1g} times sd"
        )
    return math.ceil(ratio**2 * (1 - variance_reduction) / (split * (1 - split)))
