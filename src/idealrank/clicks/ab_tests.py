"""A/B tests of users: differences of means and of ratios by user, with CUPED, a check of the split, and intervals valid at all times."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2, norm

from idealrank.clicks.arguments import MOST_USERS, array_of, check_confidence, label_column, real_number, replicates_of
from idealrank.clicks.weighted_rows import LARGEST, label_codes, numbers
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.randomness import RandomLike, generator_of, whole_number

MISMATCH = 0.001
"""p-value of the split below which the result of a test is not to be trusted."""

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
        Value of the row's user from before the experiment, the same in all rows of the user, for CUPED: what it explains is taken out of
        the values.
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
        Lengths differ, a cohort has fewer than two users, a user is in both, or rows of a user have two covariates.
    OptionError
        `split` or `confidence` is outside (0, 1), or a number is outside its range.

    References
    ----------
    Deng, Knoblich and Lu (2018), Applying the delta method in metric analytics, KDD. Deng, Xu, Kohavi and Walker (2013), Improving the
    sensitivity of online controlled experiments by utilizing pre-experiment data, WSDM, appendix B for ratios. Howard, Ramdas,
    McAuliffe and Sekhon (2021), Time-uniform, nonparametric, nonasymptotic confidence sequences; Waudby-Smith, Arbour, Sinha, Kennedy and
    Ramdas (2024), Time-uniform central limit theory, for the asymptotic confidence sequence (equation 7). Fabijan et al. (2019), Diagnosing
    sample ratio mismatch.

    Examples
    --------
    >>> found = ab_effect([1, 0, 1, 1], ["A", "A", "B", "B"], users=["u", "v", "w", "x"])
    >>> found.mean_a, found.mean_b
    (0.5, 1.0)
    """
    level, replicates = check_confidence(confidence), replicates_of(n_resamples)
    of_b, planned_size = real_number("split", split, "a share between 0 and 1", low=0, high=1), users_of(planned_users)
    rows = row_table(values, cohort, users, denominator)
    totals, sizes, is_b = rows.totals, rows.sizes, rows.is_b
    taken, explained = np.zeros(is_b.size), 0.0
    if covariate is not None:
        taken, explained = _explained(totals, sizes, covariate_of_users(rows, covariate))
    sides = [(totals[chosen], sizes[chosen], taken[chosen]) for chosen in (~is_b, is_b)]
    (mean_a, variance_a), (mean_b, variance_b) = (_ratio(*side) for side in sides)
    n_b, n = int(is_b.sum()), is_b.size
    difference, error = mean_b - mean_a, math.sqrt(variance_a + variance_b)
    reach = error * float(norm.isf((1 - level) / 2))
    p = 2 * float(norm.sf(abs(difference) / error)) if error > 0 else float(difference == 0)
    wide = _sequence_reach(error, n, 1 - level, planned_size)
    bootstrap = None
    if replicates:
        seeds = generator_of(rng).spawn(2)
        draws = [_drawn_ratios(*side, replicates, generator_of(seed)) for side, seed in zip(sides, seeds, strict=True)]
        drawn = draws[1] - draws[0]
        drawn = drawn[~np.isnan(drawn)]  # of users without a row that counts
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]) if drawn.size else (math.nan, math.nan)
        bootstrap = float(low), float(high)
    planned = n * np.array([1 - of_b, of_b])
    with np.errstate(over="ignore"):  # of a split near 0 or 1
        split_p = float(chi2.sf(((np.array([n - n_b, n_b]) - planned) ** 2 / planned).sum(), 1))
    return Effect(
        mean_a, mean_b, difference, error, (difference - reach, difference + reach), p, (difference - wide, difference + wide), n - n_b,
        n_b, split_p, explained, level, bootstrap,
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
    side = array_of("cohort", cohort, "'A' or 'B' for each row")
    if side.shape != y.shape or below.shape != y.shape:
        raise InputError(f"found {y.size} values, {side.size} cohorts and {below.size} denominators, expected as many of each")
    if not y.size:
        raise InputError("values: found no row, expected at least 2 users in each cohort")
    if (below < 0).any():
        row = int((below < 0).argmax())
        raise InputError(f"denominator, row {row}: found {below[row]:g}, expected 0 or more")
    known = np.array([one in ("A", "B") for one in side.tolist()], bool) if side.dtype.kind not in "US" else np.isin(side, ("A", "B"))
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
        if not below[chosen[codes]].sum() >= 1 / LARGEST:
            found = float(below[chosen[codes]].sum())
            raise InputError(f"denominator, cohort {name}: found a sum of {found:g}, expected one above 0; is the column the right one?")
    return RowTable(y, below, codes, is_b)


def _drawn_ratios(above: FloatArray, below: FloatArray, taken: FloatArray, replicates: int, rng: np.random.Generator) -> FloatArray:
    """Ratios of two sums over users that are drawn with replacement, less the mean of what the covariate explains."""
    found = np.empty(replicates)
    for number in range(replicates):
        times = np.bincount(rng.integers(0, above.size, above.size), minlength=above.size)
        total = float((times * below).sum())
        ratio = float((times * above).sum()) / total if total > 0 else math.nan  # users without a row that counts
        found[number] = ratio - float((times * taken).sum()) / above.size
    return found


def _ratio(above: FloatArray, below: FloatArray, taken: FloatArray) -> tuple[float, float]:
    """Ratio of two sums over users less the mean of what the covariate explains, and its variance by the delta method."""
    n, ratio, shift = above.size, float(above.sum() / below.sum()), float(taken.mean())
    residual = (above - ratio * below) / below.mean() - (taken - shift)
    return ratio - shift, float((residual * residual).sum()) / (n - 1) / n


def _codes(users: "Sequence[Any] | npt.ArrayLike", n: int) -> IntArray:
    return label_codes(label_column("users", users, n), "users")


def covariate_of_users(rows: RowTable, covariate: npt.ArrayLike) -> FloatArray:
    """Return the covariate of each user.

    Raises
    ------
    InputError
        The length differs, or rows of a user have two values.

    Examples
    --------
    >>> rows = row_table([1, 2, 3, 4, 5], list("AAABB"), list("uuvwx"), None)
    >>> covariate_of_users(rows, [2, 2, 0, 1, 1]).tolist()
    [2.0, 0.0, 1.0, 1.0]
    """
    given = numbers("covariate", covariate)
    if given.size != rows.user.size:
        raise InputError(f"covariate: found {given.size} values, expected one for each of the {rows.user.size} rows")
    own = np.zeros(rows.is_b.size)
    own[rows.user] = given
    differs = own[rows.user] != given
    if differs.any():
        row = int(differs.argmax())
        raise InputError(
            f"covariate, row {row}: found {given[row]:g}, and {own[rows.user[row]]:g} in another row of the same user; expected one value "
            "a user, from before the experiment"
        )
    return own


def _explained(totals: FloatArray, sizes: FloatArray, covariate: FloatArray) -> tuple[FloatArray, float]:
    """Return what the covariate explains of each user's value, over both cohorts together (CUPED), and the share of the variance."""
    linear = (totals - float(totals.sum() / sizes.sum()) * sizes) / sizes.mean()  # the ratio, as a mean over users
    centred = covariate - covariate.mean()
    spread = float((centred * centred).sum())
    slope = float((centred * linear).sum()) / spread if spread > 0 else 0.0
    taken: FloatArray = slope * centred
    return taken, 1 - float((linear - taken).var() / linear.var()) if linear.var() > 0 else 0.0


def users_of(planned_users: int) -> int:
    """Return the planned number of users.

    Examples
    --------
    >>> users_of(10_000)
    10000
    """
    return whole_number("planned_users", planned_users, 1, MOST_USERS)


def _sequence_reach(error: float, n: int, alpha: float, planned: int) -> float:
    """Half width of an asymptotic confidence sequence, narrowest at the planned size."""
    wanted = max(-2 * math.log(alpha), 0.5)  # below, no size is the best, and any is valid
    rho2 = (wanted + math.log(wanted) + 1) / planned
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
    level = check_confidence(confidence)
    spread = real_number("sd", sd, "a finite number above 0, such as 1.8", low=0)
    effect = real_number("difference", difference, "a finite number other than 0, such as 0.02")
    if effect == 0:
        raise OptionError(f"difference={difference}: expected a finite number other than 0, such as 0.02")
    of_b, chance = (
        real_number(name, share, "a share between 0 and 1", low=0, high=1) for name, share in (("split", split), ("power", power))
    )
    left = 1 - real_number("variance_reduction", variance_reduction, "a share from 0 to less than 1", low=0, high=1, closed="low")
    wanted = float(norm.isf((1 - level) / 2) + norm.isf(1 - chance))
    ratio = wanted * spread / abs(effect)
    needed = ratio**2 * left / (of_b * (1 - of_b)) if ratio < _LARGEST_RATIO else math.inf
    if not needed < 4 * _LARGEST_RATIO**2:
        raise OptionError(
            f"sd={spread:g}, difference={effect:g}, split={of_b:g}: found a difference too small beside sd, or cohorts too unequal, "
            f"expected at least {wanted / _LARGEST_RATIO:.1g} times sd, and a split near 0.5"
        )
    return math.ceil(needed)
