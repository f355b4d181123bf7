"""A/B tests of users: differences of means and of ratios by user, with CUPED, a check of the split,
and intervals valid at all times.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2, norm
from scipy.stats import t as student

from idealrank.clicks.arguments import (
    MOST_USERS,
    Looks,
    array_of,
    check_confidence,
    label_column,
    one_of,
    real_number,
    replicates_of,
)
from idealrank.clicks.weighted_rows import LARGEST, label_codes, numbers
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.intervals import side_of_interval
from idealrank.stats.randomness import RandomLike, generator_of, whole_number
from idealrank.stats.tolerance import cubes

MISMATCH = 0.001
"""p-value of the split below which the result of a test is not to be trusted."""

FEWEST_USERS = 20
"""Users of a cohort below which there is no verdict: the errors of ratios and of skewed values are
not known well enough.
"""

MOST_SKEWNESS = 0.2
"""Skewness of the difference above which there is no verdict: 25 users for each unit of squared
skewness, by Cochran's rule.
"""

# Ratio of standard deviation to difference, beyond which a plan has more users than there are
# people.
_LARGEST_RATIO = 1e8


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Difference of two cohorts, B less A.

    Attributes
    ----------
    mean_a, mean_b : float
        Values of the cohorts.
    difference, standard_error : float
        B less A; clustered by user.
    interval : tuple of float
        Low and high, for a test of planned size: of a t distribution with one degree of freedom
        less than users in the smaller cohort.
    p : float
        Two-sided p-value, for a test of planned size.
    sequence : tuple of float
        Confidence sequence: holds however often the test is looked at.
    p_always : float
        Always-valid p-value: below 1 - `confidence` if and only if the sequence excludes 0.
    n_a, n_b : int
        Users of either cohort.
    split_p : float
        p-value of the split of users; a small one says that cohorts are not what the experiment
        says (sample-ratio mismatch).
    variance_reduction : float
        Share of the variance that CUPED removed; 0 without a covariate.
    confidence : float
        Confidence level.
    bootstrap : tuple of float, or None
        Percentile interval of a bootstrap over users, for a test of planned size; None without
        replicates.
    looks : {"any", "once"}
        Looks for which the verdict holds: by the confidence sequence, or by the interval for a test
        of planned size.
    skewness : float
        Skewness of the difference if both cohorts had the values of all users: 0 for cohorts of one
        size. In a small cohort beside a large one, rare large values make it skewed, and the
        intervals too short on one side.

    Examples
    --------
    >>> effect = ab_effect([1, 2, 3, 2, 3, 4], ["A", "A", "A", "B", "B", "B"])
    >>> effect.difference, effect.n_a, effect.verdict
    (1.0, 3, 'too few users')
    """

    mean_a: float
    mean_b: float
    difference: float
    standard_error: float
    interval: tuple[float, float]
    p: float
    sequence: tuple[float, float]
    p_always: float
    n_a: int
    n_b: int
    split_p: float
    variance_reduction: float
    confidence: float
    bootstrap: tuple[float, float] | None = None
    looks: Looks = "any"
    skewness: float = 0.0

    @property
    def decisive_p(self) -> float:
        """p-value that holds for `looks`."""
        return self.p_always if self.looks == "any" else self.p

    @property
    def obstacle(self) -> Literal["split is wrong", "too few users"] | None:
        """Reason why there is no verdict, if any.

        Users were not split as planned; or a cohort has fewer than 20, or fewer than its values
        need, see `users_for_skewness`.
        """
        if self.split_p < MISMATCH:
            return "split is wrong"
        few = min(self.n_a, self.n_b) < FEWEST_USERS
        return "too few users" if few or self.users_for_skewness else None

    @property
    def users_for_skewness(self) -> int:
        """Users, split as these, of which the difference would be at most as skewed as a verdict
        allows (0.2); 0 if it is.

        References
        ----------
        Cochran (1977), Sampling Techniques, 3rd edition, section 2.15.
        """
        if not abs(self.skewness) > MOST_SKEWNESS:
            return 0
        return math.ceil((self.n_a + self.n_b) * (self.skewness / MOST_SKEWNESS) ** 2)

    @property
    def verdict(self) -> Literal["better", "worse", "undecided", "split is wrong", "too few users"]:
        """Return the verdict on B, by the interval that holds for `looks`, or why there is none."""
        if self.obstacle is not None:
            return self.obstacle
        low, high = self.sequence if self.looks == "any" else self.interval
        return side_of_interval(low, high)

    @property
    def detectable(self) -> float:
        """Smallest true difference that these users detect with 80 % power, by the rule of
        `users_needed`.
        """
        low, high = self.sequence if self.looks == "any" else self.interval
        return (high - low) / 2 + float(norm.isf(0.2)) * self.standard_error


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
    looks: Looks = "any",
) -> Effect:
    """Estimate the effect of B over A from rows of an experiment.

    Parameters
    ----------
    values : array, shape (rows,)
        Value of each row, such as the clicks or nDCG@10 of a list.
    cohort : sequence of {"A", "B"}, shape (rows,)
        Cohort of each row; a user is in one.
    users : sequence, shape (rows,), optional
        User of each row: rows of one user are not independent, and count by their sum. Without it
        each row is a user.
    denominator : array, shape (rows,), optional
        The value of a cohort is the ratio of both sums, such as clicks per list; by default of the
        values to the number of rows. The standard error is that of the delta method.
    covariate : array, shape (rows,), optional
        Value of the row's user from before the experiment, the same in all rows of the user, for
        CUPED: what it explains is taken out of the values.
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
    looks : {"any", "once"}
        Looks for which the verdict holds: any number of them, or one, at the planned size.
        `users_needed` has the same option.

    Raises
    ------
    InputError
        Lengths differ, a cohort has fewer than two users, a user is in both, or rows of a user have
        two covariates.
    OptionError
        `split` or `confidence` is outside (0, 1), or a number is outside its range.

    References
    ----------
    Deng, Knoblich and Lu (2018), Applying the delta method in metric analytics, KDD. Deng, Xu,
    Kohavi and Walker (2013), Improving the sensitivity of online controlled experiments by
    utilizing pre-experiment data, WSDM, appendix B for ratios. Howard, Ramdas, McAuliffe and Sekhon
    (2021), Time-uniform, nonparametric, nonasymptotic confidence sequences; Waudby-Smith, Arbour,
    Sinha, Kennedy and Ramdas (2024), Time-uniform central limit theory, for the asymptotic
    confidence sequence (equation 7). Fabijan et al. (2019), Diagnosing sample ratio mismatch.

    Examples
    --------
    >>> effect = ab_effect([1, 0, 1, 1], ["A", "A", "B", "B"], users=["u", "v", "w", "x"])
    >>> effect.mean_a, effect.mean_b
    (0.5, 1.0)
    """
    one_of("looks", looks, Looks)
    level = check_confidence(confidence)
    replicates = replicates_of(n_resamples)
    share_of_b = real_number("split", split, "a share between 0 and 1", low=0, high=1)
    planned_size = users_of(planned_users)
    rows = row_table(values, cohort, users, denominator)
    is_b = rows.is_b
    all_users = _Users(rows.totals, rows.sizes, np.zeros(is_b.size))
    variance_reduction = 0.0
    if covariate is not None:
        explained, variance_reduction = _explained(all_users, covariate_of_users(rows, covariate))
        all_users = all_users._replace(explained=explained)
    side_a = all_users.of(~is_b)
    side_b = all_users.of(is_b)

    mean_a, residual_a = _ratio(side_a)
    mean_b, residual_b = _ratio(side_b)
    variance_a = _variance(residual_a)
    variance_b = _variance(residual_b)
    n_b = int(is_b.sum())
    n = is_b.size
    smaller = min(n_b, n - n_b)
    difference = mean_b - mean_a
    error = math.sqrt(variance_a + variance_b)
    p = p_always = 1.0 if difference == 0 else 0.0  # without variance
    if error > 0:
        n_errors = abs(difference) / error
        p = 2 * float(student.sf(n_errors, smaller - 1))
        # The sequence is widened from normal to t quantiles at its own level. Further out, the tail
        # of t is heavier, and the p-value of the fixed test can be the larger one.
        p_always = max(p, _always_valid_p(n_errors, n, smaller, level, planned_size))
    reach_once = error * _errors_needed(n, smaller, level, planned_size, "once")
    reach_always = error * _errors_needed(n, smaller, level, planned_size, "any")
    bootstrap = None
    if replicates:
        bootstrap = _bootstrap_interval(side_a, side_b, replicates, rng, level)

    n_users = np.array([n - n_b, n_b])
    planned = n * np.array([1 - share_of_b, share_of_b])
    with np.errstate(over="ignore"):  # of a split near 0 or 1
        split_p = float(chi2.sf(((n_users - planned) ** 2 / planned).sum(), 1))
    return Effect(
        mean_a=mean_a,
        mean_b=mean_b,
        difference=difference,
        standard_error=error,
        interval=(difference - reach_once, difference + reach_once),
        p=p,
        sequence=(difference - reach_always, difference + reach_always),
        p_always=p_always,
        n_a=n - n_b,
        n_b=n_b,
        split_p=split_p,
        variance_reduction=variance_reduction,
        confidence=level,
        bootstrap=bootstrap,
        looks=looks,
        skewness=_skewness_of_difference(residual_a, residual_b),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class RowTable:
    """Checked rows of an experiment."""

    # values, denominator: shape (rows,): of each row
    values: FloatArray
    denominator: FloatArray
    user: IntArray  # shape (rows,): number of its user
    is_b: BoolArray  # shape (users,): whether the user is in B

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
    """Check rows of an experiment."""
    row_values = numbers("values", values)
    denominators = (
        np.ones(row_values.size) if denominator is None else numbers("denominator", denominator)
    )
    labels = array_of("cohort", cohort, "'A' or 'B' for each row")
    if labels.shape != row_values.shape or denominators.shape != row_values.shape:
        raise InputError(
            f"found {row_values.size} values, {labels.size} cohorts and {denominators.size} "
            "denominators, expected as many of each"
        )
    if not row_values.size:
        raise InputError("values: found no row, expected at least 2 users in each cohort")
    if (denominators < 0).any():
        row = int((denominators < 0).argmax())
        raise InputError(f"denominator, row {row}: found {denominators[row]:g}, expected 0 or more")
    if labels.dtype.kind in "US":
        is_known = np.isin(labels, ("A", "B"))
    else:
        is_known = np.array([label in ("A", "B") for label in labels.tolist()], bool)
    if not is_known.all():
        raise InputError(
            f"cohort: found {str(labels[~is_known][0])!r}, expected 'A' or 'B'",
            hint="call the cohort without the change A, and the other one B",
        )

    user_of_row = np.arange(row_values.size) if users is None else _codes(users, row_values.size)
    is_b = np.zeros(int(user_of_row.max()) + 1, bool)
    is_b[user_of_row[labels == "B"]] = True
    users_in_a = user_of_row[labels == "A"]
    twice = users_in_a[is_b[users_in_a]]
    if twice.size:
        name = np.asarray(users)[user_of_row == twice[0]][0]
        raise InputError(f"users: found {str(name)!r} in both cohorts, expected each user in one")

    for is_in_cohort, name in ((~is_b, "A"), (is_b, "B")):
        if is_in_cohort.sum() < 2:
            raise InputError(
                f"cohort {name}: found {int(is_in_cohort.sum())} users, expected at least 2"
            )
        total = float(denominators[is_in_cohort[user_of_row]].sum())
        if total < 1 / LARGEST:  # a ratio by it could overflow when it is squared
            raise InputError(
                f"denominator, cohort {name}: found a sum of {total:g}, expected one above 0; is "
                "the column the right one?"
            )
    return RowTable(values=row_values, denominator=denominators, user=user_of_row, is_b=is_b)


class _Users(NamedTuple):
    """Columns of users: sums of their values and denominators, and what the covariate explains."""

    totals: FloatArray
    sizes: FloatArray
    explained: FloatArray

    def of(self, chosen: BoolArray) -> "_Users":
        """Select users."""
        return _Users(self.totals[chosen], self.sizes[chosen], self.explained[chosen])


def _bootstrap_interval(
    side_a: _Users, side_b: _Users, replicates: int, rng: RandomLike, level: float
) -> tuple[float, float]:
    """Percentile interval of the difference over users drawn within each cohort."""
    rng_a, rng_b = generator_of(rng).spawn(2)
    ratios_a = _drawn_ratios(side_a, replicates, rng_a)
    differences = _drawn_ratios(side_b, replicates, rng_b) - ratios_a
    # NaN where all users drawn for a cohort have a denominator of 0.
    differences = differences[~np.isnan(differences)]
    if not differences.size:
        return math.nan, math.nan
    low, high = np.quantile(differences, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _drawn_ratios(side: _Users, replicates: int, rng: np.random.Generator) -> FloatArray:
    """Ratios of two sums over users that are drawn with replacement, less the mean of what the
    covariate explains.
    """
    n = side.totals.size
    ratios = np.empty(replicates)
    for number in range(replicates):
        times = np.bincount(rng.integers(0, n, n), minlength=n)
        size = float((times * side.sizes).sum())
        ratio = float((times * side.totals).sum()) / size if size > 0 else math.nan
        ratios[number] = ratio - float((times * side.explained).sum()) / n
    return ratios


def _ratio(side: _Users) -> tuple[float, FloatArray]:
    """Ratio of two sums over users less the mean of what the covariate explains, and each user's
    residual by the delta method.
    """
    totals, sizes, explained = side
    ratio = float(totals.sum() / sizes.sum())
    shift = float(explained.mean())
    residual: FloatArray = (totals - ratio * sizes) / sizes.mean() - (explained - shift)
    return ratio - shift, residual


def _variance(residual: FloatArray) -> float:
    """Variance of a mean."""
    return float((residual * residual).sum()) / (residual.size - 1) / residual.size


def _skewness_of_difference(residual_a: FloatArray, residual_b: FloatArray) -> float:
    """Skewness of the difference of two means, with the second and third moment of both cohorts
    together.
    """
    residuals = np.concatenate((residual_a, residual_b))
    scale = math.sqrt(float((residuals * residuals).mean()))
    if scale == 0:
        return 0.0
    n_a = residual_a.size
    n_b = residual_b.size
    skewness_of_users = float(cubes(residuals / scale).mean())
    # A mean of n values has the third moment of one value over n squared, and its variance over n.
    return float(skewness_of_users * (n_b**-2 - n_a**-2) / (1 / n_a + 1 / n_b) ** 1.5)


def _codes(users: "Sequence[Any] | npt.ArrayLike", n: int) -> IntArray:
    return label_codes(label_column("users", users, n), "users")


def covariate_of_users(rows: RowTable, covariate: npt.ArrayLike) -> FloatArray:
    """Return the covariate of each user."""
    row_values = numbers("covariate", covariate)
    if row_values.size != rows.user.size:
        raise InputError(
            f"covariate: found {row_values.size} values, expected one for each of the "
            f"{rows.user.size} rows"
        )
    user_values = np.zeros(rows.is_b.size)
    user_values[rows.user] = row_values
    differs = user_values[rows.user] != row_values
    if differs.any():
        row = int(differs.argmax())
        raise InputError(
            f"covariate, row {row}: found {row_values[row]:g}, and {user_values[rows.user[row]]:g} "
            "in another row of the same user; expected one value a user, from before the experiment"
        )
    return user_values


def _explained(users: _Users, covariate: FloatArray) -> tuple[FloatArray, float]:
    """Return what the covariate explains of each user's value, over both cohorts together (CUPED),
    and the share of the variance.
    """
    totals, sizes, _ = users
    # The ratio, as a mean over users, by the delta method.
    linear = (totals - float(totals.sum() / sizes.sum()) * sizes) / sizes.mean()
    centred = covariate - covariate.mean()
    spread = float((centred * centred).sum())
    slope = float((centred * linear).sum()) / spread if spread > 0 else 0.0
    explained: FloatArray = slope * centred
    removed = 1 - float((linear - explained).var() / linear.var()) if linear.var() > 0 else 0.0
    return explained, removed


def users_of(planned_users: int) -> int:
    """Return the planned number of users."""
    return whole_number("planned_users", planned_users, 1, MOST_USERS)


def _errors_needed(
    n: float, smaller: float, confidence: float, planned: int, looks: Looks
) -> float:
    """Half width of an interval in standard errors: of n users, of which the smaller cohort has
    this number.
    """
    if looks == "once":
        return float(student.isf((1 - confidence) / 2, max(smaller - 1, 1)))
    information = n * _rho2(confidence, planned)
    # Equation 7 of Waudby-Smith et al. (2024), over the standard error.
    normal = math.sqrt(
        (information + 1) / information * math.log((information + 1) / (1 - confidence) ** 2)
    )
    return normal * _widening(smaller, confidence)


def _always_valid_p(errors: float, n: int, smaller: int, confidence: float, planned: int) -> float:
    """Smallest alpha at which the confidence sequence excludes 0, with its mixture as it is for
    `confidence`.
    """
    information = n * _rho2(confidence, planned)
    normal = errors / _widening(smaller, confidence)
    # The half width of `_errors_needed`, solved for alpha.
    exponent = 0.5 * (math.log1p(information) - normal**2 * information / (information + 1))
    return math.exp(min(exponent, 0.0))


def _rho2(confidence: float, planned: int) -> float:
    """Variance of the mixture by which an asymptotic confidence sequence is narrowest at the
    planned size.
    """
    # Closed form that nearly minimises equation 7 (same paper). Below 0.5, no size is the best, and
    # any mixture is valid.
    information = max(-2 * math.log(1 - confidence), 0.5)
    return (information + math.log(information) + 1) / planned


def _widening(smaller: float, confidence: float) -> float:
    """Ratio of the quantiles of t and normal distributions: the sequence takes the standard error
    as known.
    """
    tail = (1 - confidence) / 2
    normal = float(norm.isf(tail))
    return float(student.isf(tail, max(smaller - 1, 1))) / normal if normal > 0 else 1.0


def users_needed(
    sd: float,
    difference: float,
    *,
    split: float = 0.5,
    power: float = 0.8,
    confidence: float = 0.95,
    variance_reduction: float = 0.0,
    planned_users: int = 10_000,
    looks: Looks = "any",
) -> int:
    """Users of both cohorts together after which an A/B test has a verdict with the given power.

    Parameters
    ----------
    sd : float
        Standard deviation of the value over users.
    difference : float
        Difference that is to be found.
    split : float
        Share of users in B.
    power, confidence : float
        Probability of finding it, and confidence level of `ab_effect`.
    variance_reduction : float
        Share of the variance that a covariate explains.
    planned_users : int
        Users at which the confidence sequence is narrowest: pass the same number to `ab_effect`.
    looks : {"any", "once"}
        Looks for which the verdict of `ab_effect` holds: any number of them, or one, at the planned
        size.

    Raises
    ------
    OptionError
        An option is outside its range, or the difference is too small beside `sd`.

    Examples
    --------
    >>> users_needed(1.0, 0.1), users_needed(1.0, 0.1, variance_reduction=0.5)
    (6065, 3195)
    >>> users_needed(1.0, 0.1, looks="once")
    3143
    """
    one_of("looks", looks, Looks)
    level = check_confidence(confidence)
    planned_size = users_of(planned_users)
    spread = real_number("sd", sd, "a finite number above 0, such as 1.8", low=0)
    effect = real_number("difference", difference, "a finite number other than 0, such as 0.02")
    if effect == 0:
        raise OptionError(
            f"difference={difference}: expected a finite number other than 0, such as 0.02"
        )
    share_of_b = real_number("split", split, "a share between 0 and 1", low=0, high=1)
    chance = real_number("power", power, "a share between 0 and 1", low=0, high=1)
    unexplained = 1 - real_number(
        "variance_reduction",
        variance_reduction,
        "a share from 0 to less than 1",
        low=0,
        high=1,
        closed="low",
    )
    n_errors = max(float(norm.isf((1 - level) / 2) + norm.isf(1 - chance)), 0.0)
    ratio = n_errors * spread / abs(effect)
    needed = math.inf
    if ratio < _LARGEST_RATIO:
        needed = ratio**2 * unexplained / (share_of_b * (1 - share_of_b))
    if not needed < 4 * _LARGEST_RATIO**2:  # 4: the factor of an even split
        raise OptionError(
            f"sd={spread:g}, difference={effect:g}, split={share_of_b:g}: found a difference too "
            "small beside sd, or cohorts too unequal, expected at least "
            f"{n_errors / _LARGEST_RATIO:.1g} times sd, and a split near 0.5"
        )

    smaller = min(share_of_b, 1 - share_of_b)
    # Standard error of the difference, times the root of the number of users.
    error = spread * math.sqrt(unexplained / (share_of_b * (1 - share_of_b)))

    def is_enough(users: int) -> bool:
        """The difference exceeds the half width of the interval with the power asked for."""
        errors = _errors_needed(users, smaller * users, level, planned_size, looks)
        return math.sqrt(users) * abs(effect) / error >= errors + float(norm.isf(1 - chance))

    # A fixed test with normal quantiles needs fewer users than any other: start there.
    too_few = 1
    enough = math.ceil(max(needed, FEWEST_USERS / smaller))
    if is_enough(enough):
        return enough
    while not is_enough(enough):
        too_few = enough
        enough = 2 * enough
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if is_enough(middle):
            enough = middle
        else:
            too_few = middle
    return enough
