"""Values of a policy from the log of another: inverse propensity scoring alone or with a model; differences of two."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.measures.rules import checked
from idealrank.stats.randomness import RandomLike, generator_of, whole_number

Estimator: TypeAlias = Literal["ips", "snips", "clipped"]
ModelEstimator: TypeAlias = Literal["dr", "switch"]

# Rows of a block: its columns stay in the cache, and the sums are the same for any number of threads.
_BLOCK = 1 << 15

# Below these, normal intervals of weighted means are known to be too short; see the reference page for the simulation.
FEWEST_EFFECTIVE = 100.0
LARGEST_SHARE = 0.1
_WEIGHT_ERRORS = 3.0  # the mean weight is 1 if the logged probabilities are right; so many standard errors are no accident


@dataclass(frozen=True)
class PolicyValue:
    """Value of a policy, estimated from the log of another.

    Attributes
    ----------
    value, standard_error : float
        The estimate, in the unit of the rewards, and its standard error.
    interval : tuple of float
        Low and high.
    effective_sample_size : float
        Rows that would carry as much if all weights were equal: ``sum(w)**2 / sum(w**2)`` (Kish).
    max_weight, mean_weight : float
        Largest and mean weight, before clipping. The mean is 1 in expectation if the logged probabilities are right.
    largest_share : float
        Share of the sum of the absolute weighted rewards that the largest one has; 0 without a reward. Of `doubly_robust`, what the
        model leaves of the rewards is weighted.
    n, n_clusters : int
        Rows, and clusters; `n` without clusters.
    n_clipped : int
        Rows whose weight was cut; of "switch", rows whose weight was set to 0.
    estimator : {"ips", "snips", "clipped", "dr", "switch"}
        How it was estimated.
    confidence : float
        Confidence level.
    cautions : tuple of str
        Why the interval cannot be trusted; empty where nothing was found.

    Examples
    --------
    >>> found = ips([1, 0, 1, 0], [0.5, 0.5, 0.1, 0.9], [0.5, 0.5, 0.5, 0.5])
    >>> round(found.value, 3), round(found.max_weight, 3), found.supported
    (0.3, 1.8, False)
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    effective_sample_size: float
    max_weight: float
    mean_weight: float
    largest_share: float
    n: int
    n_clusters: int
    n_clipped: int
    estimator: Estimator | ModelEstimator
    confidence: float
    cautions: tuple[str, ...] = field(default=())

    @property
    def supported(self) -> bool:
        """Return whether the log has enough support for a verdict."""
        return not self.cautions

    def __str__(self) -> str:
        said = (
            f"{self.value:.4g} [{self.interval[0]:.4g}, {self.interval[1]:.4g}] ({100 * self.confidence:g} %, {self.estimator}, {self.n:,} "
            f"rows worth {self.effective_sample_size:,.0f}, largest weight {self.max_weight:.4g})"
        )
        return "\n".join([said, *(f"No verdict: {caution}" for caution in self.cautions)])


def ips(
    rewards: npt.ArrayLike,
    target_probability: npt.ArrayLike,
    logged_probability: npt.ArrayLike,
    estimator: Estimator = "ips",
    clip: float | None = None,
    *,
    clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    confidence: float = 0.95,
    n_resamples: int = 0,
    rng: RandomLike = None,
) -> PolicyValue:
    """Estimate the mean reward of a target policy from rewards that a logging policy collected.

    A row counts ``target_probability / logged_probability`` times. The estimate is unbiased if the logging policy could take every action
    of the target policy, and the logged probabilities are right.

    Parameters
    ----------
    rewards : array, shape (n,)
        Reward of each row, such as 1 for a click.
    target_probability : array, shape (n,)
        Probability, in [0, 1], with which the target policy takes the logged action.
    logged_probability : array, shape (n,)
        Probability, in (0, 1], with which the logging policy took it.
    estimator : {"ips", "snips", "clipped"}
        Mean of the weighted rewards; their sum divided by the sum of the weights (self-normalised: small bias, smaller variance); or the
        mean with weights cut at `clip` (biased towards 0 for positive rewards).
    clip : float, optional
        Largest weight; for "clipped" alone, which needs it.
    clusters : sequence, shape (n,), optional
        Label of each row, such as its user or session: rows of one cluster are not independent.
    confidence : float
        Confidence level.
    n_resamples : int
        Replicates of the percentile bootstrap over clusters (rows without clusters); 0 takes the normal interval.
    rng : seed or Generator, optional
        Seed of the bootstrap.

    Returns
    -------
    PolicyValue
        Estimate with standard error and interval, effective sample size, largest weight, and cautions.

    Raises
    ------
    InputError
        The arrays differ in length, or a row is outside its range; the first such row is named.
    OptionError
        An option is unknown, or `clip` is missing or not wanted.

    References
    ----------
    Horvitz and Thompson (1952). Swaminathan and Joachims (2015), The self-normalized estimator for counterfactual learning. Ionides
    (2008), Truncated importance sampling. Kish (1965) for the effective sample size.

    Examples
    --------
    >>> found = ips([1, 0, 0, 1], [0.5, 0.5, 1.0, 0.5], [0.5, 0.5, 0.5, 0.25], "snips")
    >>> round(found.value, 6), round(found.effective_sample_size, 6)
    (0.5, 3.6)
    """
    checked("estimator", estimator, Estimator)
    log = _Log.of(rewards, target_probability, logged_probability, estimator, _limit(estimator, "clipped", "clip", clip))
    return _estimate(log, clusters, confidence, n_resamples, rng)


def doubly_robust(
    rewards: npt.ArrayLike,
    target_probability: npt.ArrayLike,
    logged_probability: npt.ArrayLike,
    predicted_logged: npt.ArrayLike,
    predicted_target: npt.ArrayLike,
    estimator: ModelEstimator = "dr",
    *,
    switch: float | None = None,
    clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    confidence: float = 0.95,
    n_resamples: int = 0,
    rng: RandomLike = None,
) -> PolicyValue:
    """Estimate the mean reward of a target policy from a log and a model of the rewards.

    The model predicts the reward of the target policy; the weighted rows correct it: ``mean(predicted_target + w * (reward -
    predicted_logged))``. The estimate is unbiased if the logged probabilities are right, whatever the model, and if the model is right,
    whatever the probabilities. A good model makes its variance small.

    Parameters
    ----------
    rewards, target_probability, logged_probability : array, shape (n,)
        As for `ips`.
    predicted_logged : array, shape (n,)
        Reward that the model predicts for the logged action. Fit the model on other rows, such as other folds.
    predicted_target : array, shape (n,)
        Reward that it predicts for the target policy: the sum over all actions of their target probability times predicted reward.
    estimator : {"dr", "switch"}
        All rows correct the model; or rows with a weight of at most `switch`, and the model stands alone for the others (SWITCH-DR: biased
        by what the model gets wrong there).
    switch : float, optional
        Largest weight that corrects the model; for "switch" alone, which needs it.
    clusters, confidence, n_resamples, rng
        As for `ips`.

    Raises
    ------
    InputError
        The arrays differ in length, or a row is outside its range; the first such row is named.
    OptionError
        An option is unknown, or `switch` is missing or not wanted.

    References
    ----------
    Dudík, Langford and Li (2011), Doubly robust policy evaluation and learning. Wang, Agarwal and Dudík (2017), Optimal and
    adaptive off-policy evaluation in contextual bandits.

    Examples
    --------
    >>> policy, predicted = np.array([[0.25, 0.75]] * 4), np.array([[0.2, 0.6]] * 4)
    >>> taken, rows = np.array([0, 1, 1, 0]), np.arange(4)
    >>> found = doubly_robust([0, 1, 1, 0], policy[rows, taken], [0.5] * 4, predicted[rows, taken], (policy * predicted).sum(axis=1))
    >>> round(found.value, 3)
    0.75
    """
    checked("estimator", estimator, ModelEstimator)
    limit = _limit(estimator, "switch", "switch", switch)
    predicted = numbers("predicted_logged", predicted_logged)
    baseline = numbers("predicted_target", predicted_target)
    given = numbers("rewards", rewards)
    for name, column in (("predicted_logged", predicted), ("predicted_target", baseline)):
        if column.size != given.size:
            raise InputError(f"{name}: found {column.size} values, expected one for each of the {given.size} rewards")
    log = _Log.of(given - predicted, target_probability, logged_probability, estimator, limit, baseline)
    return _estimate(log, clusters, confidence, n_resamples, rng)


def _estimate(log: "_Log", clusters: Any, confidence: float, n_resamples: int, rng: RandomLike) -> PolicyValue:
    check_confidence(confidence)
    codes = cluster_codes(clusters, log.n)
    replicates = whole_number("n_resamples", n_resamples, 0)
    sums = _sums(log)
    below = sums.weights if log.estimator == "snips" else float(log.n)
    value = sums.weighted / below if below else 0.0  # no weight: no row that the target policy would take
    if log.baseline is not None:
        value += float(log.baseline.mean())
    error = error_of_blocks(_influence(log, value, below / log.n), log.n, codes)
    if replicates:
        interval = _bootstrap(log, codes, replicates, generator_of(rng), confidence)
    else:
        reach = error * float(ndtri((1 + confidence) / 2))
        interval = (value - reach, value + reach)
    n_clusters = log.n if codes is None else int(codes.max()) + 1
    effective = sums.weights**2 / sums.squares if sums.squares > 0 else 0.0
    largest_share = sums.largest_reward / sums.rewards if sums.rewards > 0 else 0.0
    return PolicyValue(
        value, error, interval, effective, sums.largest, sums.raw / log.n, largest_share, log.n, n_clusters, sums.cut, log.estimator,
        confidence, _cautions(sums, log.n, effective, largest_share, n_clusters),
    )  # fmt: skip


@dataclass(frozen=True)
class PolicyDifference:
    """Difference of the values of two policies, estimated from one log: B less A, paired by row.

    Attributes
    ----------
    a, b : PolicyValue
        Both values.
    value, standard_error : float
        Their difference, and its standard error; rows that both policies would take alike cancel.
    interval : tuple of float
        Low and high.
    confidence : float
        Confidence level.
    verdict : {"better", "worse", "undecided", "no support"}
        Verdict on B by the interval; "no support" if the log cannot carry a verdict on either policy.

    Examples
    --------
    >>> found = ips_difference([1, 0, 1, 0], [0.5] * 4, [0.9, 0.1, 0.9, 0.1], [0.5] * 4)
    >>> round(found.value, 3), found.verdict
    (0.4, 'no support')
    """

    a: PolicyValue
    b: PolicyValue
    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float

    @property
    def verdict(self) -> Literal["better", "worse", "undecided", "no support"]:
        """Return the verdict on B by the interval."""
        if not (self.a.supported and self.b.supported):
            return "no support"
        return "better" if self.interval[0] > 0 else "worse" if self.interval[1] < 0 else "undecided"

    def rows_needed(self, power: float = 0.8) -> float:
        """Rows of such a log that would show a difference of this size with the given power; infinite for no difference.

        Examples
        --------
        >>> found = ips_difference([1, 0, 1, 0, 0], [0.5] * 5, [0.6, 0.4, 0.5, 0.5, 0.5], [0.5] * 5)
        >>> found.rows_needed() > found.a.n
        True
        """
        if self.value == 0:
            return math.inf
        wanted = float(ndtri((1 + self.confidence) / 2) + ndtri(power))
        return self.a.n * (wanted * self.standard_error / self.value) ** 2


def ips_difference(
    rewards: npt.ArrayLike,
    target_a: npt.ArrayLike,
    target_b: npt.ArrayLike,
    logged_probability: npt.ArrayLike,
    estimator: Estimator = "ips",
    clip: float | None = None,
    *,
    clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    confidence: float = 0.95,
) -> PolicyDifference:
    """Compare two target policies by one log, paired by row.

    Parameters
    ----------
    rewards, logged_probability : array, shape (n,)
        As for `ips`.
    target_a, target_b : array, shape (n,)
        Probability, in [0, 1], with which either policy takes the logged action.
    estimator, clip, clusters, confidence
        As for `ips`.

    Raises
    ------
    InputError, OptionError
        As for `ips`.

    Examples
    --------
    >>> found = ips_difference([1, 0, 1, 0], [0.5] * 4, [0.5] * 4, [0.5] * 4)
    >>> found.value, found.standard_error
    (0.0, 0.0)
    """
    one, other = (
        ips(rewards, target, logged_probability, estimator, clip, clusters=clusters, confidence=confidence)
        for target in (target_a, target_b)
    )
    blocks = (_influence_of(found, rewards, target, logged_probability, clip) for found, target in ((one, target_a), (other, target_b)))
    parts = (second - first for first, second in zip(*blocks, strict=True))
    error = error_of_blocks(parts, one.n, cluster_codes(clusters, one.n))
    value = other.value - one.value
    reach = error * float(ndtri((1 + confidence) / 2))
    return PolicyDifference(one, other, value, error, (value - reach, value + reach), confidence)


def _influence_of(
    found: PolicyValue, rewards: npt.ArrayLike, target: npt.ArrayLike, logged: npt.ArrayLike, clip: float | None
) -> Iterator[FloatArray]:
    log = _Log.of(rewards, target, logged, found.estimator, math.inf if clip is None else clip)
    return _influence(log, found.value, found.mean_weight if found.estimator == "snips" else 1.0)


def check_confidence(confidence: float) -> None:
    """Refuse a confidence level outside (0, 1).

    Examples
    --------
    >>> check_confidence(0.95)
    """
    if not 0 < confidence < 1:
        raise OptionError(f"confidence={confidence}: expected a number between 0 and 1, such as 0.95")


def cluster_codes(clusters: "Sequence[Any] | npt.ArrayLike | None", n: int) -> IntArray | None:
    """Number the clusters of n rows; None without clusters.

    Examples
    --------
    >>> cluster_codes(["u", "v", "u"], 3).tolist()
    [0, 1, 0]
    """
    if clusters is None:
        return None
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise InputError(f"clusters: found shape {labels.shape}, expected one label for each of the {n} rows")
    codes = np.asarray(np.unique(labels, return_inverse=True)[1].reshape(-1), np.int64)
    if int(codes.max(initial=0)) < 1:
        raise InputError("clusters: found one cluster, expected at least 2; one cluster shows no variation")
    return codes


def _limit(estimator: str, needs: str, name: str, limit: float | None) -> float:
    """Largest weight, checked: one estimator needs it, and the others refuse it."""
    if (estimator == needs) != (limit is not None):
        found = "none" if limit is None else f"{limit}"
        raise OptionError(
            f"{name}: found {found}, expected " + ("a largest weight, such as 10" if limit is None else f"none for {estimator!r}")
        )
    if limit is not None and not (limit > 0 and math.isfinite(limit)):
        raise OptionError(f"{name}={limit}: expected a finite weight above 0, such as 10")
    return math.inf if limit is None else float(limit)


@dataclass(frozen=True)
class _Log:
    """Checked columns, handed out in blocks, and how they are weighed. With a baseline, rewards are what the model leaves."""

    rewards: FloatArray
    target: FloatArray
    logged: FloatArray
    estimator: Estimator | ModelEstimator
    limit: float
    baseline: FloatArray | None = None

    @classmethod
    def of(
        cls, rewards: npt.ArrayLike, target: npt.ArrayLike, logged: npt.ArrayLike, estimator: Estimator | ModelEstimator, limit: float,
        baseline: FloatArray | None = None,
    ) -> "_Log":  # fmt: skip
        given = {"rewards": rewards, "target_probability": target, "logged_probability": logged}
        columns = {name: numbers(name, column) for name, column in given.items()}
        n = columns["rewards"].size
        for name, column in columns.items():
            if column.size != n:
                raise InputError(f"{name}: found {column.size} values, expected one for each of the {n} rewards")
        if n < 2:
            raise InputError(f"rewards: found {n} rows, expected at least 2; one row shows no variation")
        _check_range("target_probability", columns["target_probability"], zero=True)
        _check_range("logged_probability", columns["logged_probability"], zero=False)
        return cls(columns["rewards"], columns["target_probability"], columns["logged_probability"], estimator, limit, baseline)

    @property
    def n(self) -> int:
        return self.rewards.size

    def blocks(self) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Place, weights before they are cut, and rewards of each block of rows."""
        for start in range(0, self.n, _BLOCK):
            part = slice(start, start + _BLOCK)
            yield part, self.target[part] / self.logged[part], self.rewards[part]

    def cut(self, weights: FloatArray) -> FloatArray:
        """Weights that count: cut at the limit, or 0 above it if a model stands for such rows."""
        found: FloatArray = np.where(weights > self.limit, 0.0, weights) if self.estimator == "switch" else np.minimum(weights, self.limit)
        return found


def numbers(name: str, given: npt.ArrayLike) -> FloatArray:
    """A column of finite numbers.

    Raises
    ------
    InputError
        It is not one-dimensional, or a value is no finite number.

    Examples
    --------
    >>> numbers("rewards", [1, 0]).tolist()
    [1.0, 0.0]
    """
    try:
        found = np.ascontiguousarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: found what is no number ({error}), expected finite values") from None
    if found.ndim != 1:
        raise InputError(f"{name}: found shape {found.shape}, expected one value a row")
    if not math.isfinite(float(found.sum())) and not np.isfinite(found).all():
        place = int(np.argmin(np.isfinite(found)))
        raise InputError(f"{name}, row {place}: found {found[place]}, expected a finite value; leave such rows out")
    return found


def _check_range(name: str, column: FloatArray, *, zero: bool) -> None:
    low = float(column.min())
    if (low < 0 if zero else low <= 0) or float(column.max()) > 1:
        place = int(np.argmax((column < 0) | (column > 1) | ((column == 0) & (not zero))))
        hint = "" if zero else "; an action that the logging policy never takes cannot be in its log"
        raise InputError(
            f"{name}, row {place}: found {column[place]:g}, expected a probability {'from 0' if zero else 'above 0'} to 1{hint}"
        )


@dataclass(frozen=True)
class _Sums:
    """Sums over all rows, of cut weights unless the name says raw."""

    weights: float
    squares: float
    weighted: float
    raw: float
    raw_squares: float
    largest: float
    cut: int
    rewards: float
    largest_reward: float


def _sums(log: _Log) -> _Sums:
    rows = []
    for _, raw, rewards in log.blocks():
        weights = log.cut(raw)
        weighted = np.abs(weights * rewards)
        rows.append(
            (float(weights.sum()), _dot(weights, weights), _dot(weights, rewards), float(raw.sum()), _dot(raw, raw), float(raw.max()),
             int(np.count_nonzero(raw > log.limit)), float(weighted.sum()), float(weighted.max()))
        )  # fmt: skip
    columns = list(zip(*rows, strict=True))
    sums = [math.fsum(column) for column in columns]
    return _Sums(sums[0], sums[1], sums[2], sums[3], sums[4], max(columns[5]), int(sums[6]), sums[7], max(columns[8]))


def _dot(one: FloatArray, other: FloatArray) -> float:
    """Sum of products with the same bits on every processor; OpenBLAS adds in an order that depends on it."""
    return float((one * other).sum())


def _influence(log: _Log, value: float, norm: float) -> Iterator[FloatArray]:
    """Influence of each row on the estimate, in blocks: its standard error is that of their mean."""
    for part, raw, rewards in log.blocks():
        centred = rewards - value if log.estimator == "snips" else rewards
        own = log.cut(raw) * centred / (norm or 1.0)
        yield own if log.baseline is None else own + log.baseline[part]


def error_of_blocks(blocks: Iterator[FloatArray], n: int, codes: IntArray | None) -> float:
    """Standard error of the mean of rows that come in blocks; of clusters, from their totals.

    Examples
    --------
    >>> error_of_blocks(iter([np.array([1.0]), np.array([3.0])]), 2, None)
    1.0
    """
    if codes is not None:
        totals, start = np.zeros(int(codes.max()) + 1), 0
        sizes = np.bincount(codes)
        for block in blocks:
            totals += np.bincount(codes[start : start + block.size], block, totals.size)
            start += block.size
        centred = totals - sizes * (totals.sum() / n)
        return math.sqrt(_dot(centred, centred) * totals.size / (totals.size - 1)) / n
    count, mean, spread = 0, 0.0, 0.0
    for block in blocks:  # means and squares of blocks, joined without cancellation (Chan, Golub and LeVeque 1979)
        own = float(block.mean())
        centred = block - own
        gap, joined = own - mean, count + block.size
        spread += _dot(centred, centred) + gap * gap * count * block.size / joined
        mean += gap * block.size / joined
        count = joined
    return math.sqrt(spread / (n - 1) / n)


def _bootstrap(log: _Log, codes: IntArray | None, replicates: int, rng: np.random.Generator, confidence: float) -> tuple[float, float]:
    """Percentile interval over clusters, drawn with replacement: of the sums of each cluster, not of its rows."""
    units = log.n if codes is None else int(codes.max()) + 1
    sums = np.zeros((2, units))  # of weighted rewards, and of what they are divided by
    for part, raw, rewards in log.blocks():
        weights = log.cut(raw)
        below = weights if log.estimator == "snips" else np.ones_like(weights)
        weighted = weights * rewards if log.baseline is None else weights * rewards + log.baseline[part]
        for number, column in enumerate((weighted, below)):
            if codes is None:
                sums[number, part] = column
            else:
                sums[number] += np.bincount(codes[part], column, units)
    values = []
    for _ in range(replicates):
        above, below = sums @ np.bincount(rng.integers(0, units, units), minlength=units)
        values.append(above / below if below else 0.0)
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _cautions(sums: _Sums, n: int, effective: float, share: float, n_clusters: int) -> tuple[str, ...]:
    """Why an interval of these weights cannot be trusted."""
    found = []
    mean = sums.raw / n
    spread = math.sqrt(max(sums.raw_squares / n - mean**2, 0.0) / n)
    if abs(mean - 1) > _WEIGHT_ERRORS * spread and abs(mean - 1) > 1e-9:
        found.append(
            f"the mean weight is {mean:.4g}, not 1 (standard error {spread:.2g}): the logged probabilities are wrong, or the logging "
            "policy never takes actions of the target policy"
        )
    if min(effective, n_clusters) < FEWEST_EFFECTIVE:
        found.append(f"{n:,} rows are worth {min(effective, n_clusters):.0f} of equal weight, fewer than {FEWEST_EFFECTIVE:.0f}")
    if share > LARGEST_SHARE:
        found.append(f"one row has {100 * share:.0f} % of all weighted rewards, more than {100 * LARGEST_SHARE:.0f} %")
    return tuple(found)
