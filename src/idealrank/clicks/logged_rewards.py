"""Values of a policy from the log of another: inverse propensity scoring, alone or with a model."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import check_confidence, one_of, replicates_of
from idealrank.clicks.ratio_moments import (
    KeptRows,
    RatioMoments,
    RowUnits,
    require_units,
)
from idealrank.clicks.weight_sums import WeightSums, cautions_of, sums_of_rows
from idealrank.clicks.weighted_rows import (
    Estimator,
    ModelEstimator,
    WeightedRows,
    cluster_codes,
    largest_weight,
    normal_mean,
    numbers,
)
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import IncompatibleError, InputError
from idealrank.stats.randomness import RandomLike, each_in_order, generator_of, threads_of

_UNITS_FOR_THREADS = 50_000  # a replicate of fewer takes less time than handing it to a thread


@dataclass(frozen=True, kw_only=True)
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
        Largest and mean weight, before clipping. The mean is 1 in expectation if the logged
        probabilities are right.
    largest_share : float
        Share of the sum of the absolute weighted rewards that the largest one has; 0 without a
        reward. Of `doubly_robust`, what the model leaves of the rewards is weighted.
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
    >>> estimate = ips([1, 0, 1, 0], [0.5, 0.5, 0.1, 0.9], [0.5, 0.5, 0.5, 0.5])
    >>> round(estimate.value, 3), round(estimate.max_weight, 3), estimate.supported
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
        summary = (
            f"{self.value:.4g} [{self.interval[0]:.4g}, {self.interval[1]:.4g}] "
            f"({100 * self.confidence:g} %, {self.estimator}, {self.n:,} rows worth "
            f"{self.effective_sample_size:,.0f}, largest weight {self.max_weight:.4g})"
        )
        return "\n".join([summary, *(f"No verdict: {caution}" for caution in self.cautions)])


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

    A row counts ``target_probability / logged_probability`` times. The estimate is unbiased if the
    logging policy could take every action of the target policy, and the logged probabilities are
    right.

    Parameters
    ----------
    rewards : array, shape (n,)
        Reward of each row, such as 1 for a click.
    target_probability : array, shape (n,)
        Probability, in [0, 1], with which the target policy takes the logged action.
    logged_probability : array, shape (n,)
        Probability, in (0, 1], with which the logging policy took it.
    estimator : {"ips", "snips", "clipped"}
        Mean of the weighted rewards; their sum divided by the sum of the weights (self-normalised:
        small bias, smaller variance); or the mean with weights cut at `clip` (biased towards 0 for
        positive rewards).
    clip : float, optional
        Largest weight; for "clipped" alone, which needs it.
    clusters : sequence, shape (n,), optional
        Label of each row, such as its user or session: rows of one cluster are not independent.
    confidence : float
        Confidence level.
    n_resamples : int
        Replicates of the percentile bootstrap over clusters (rows without clusters); 0 takes the
        normal interval.
    rng : seed or Generator, optional
        Seed of the bootstrap.

    Returns
    -------
    PolicyValue
        Estimate with standard error and interval, effective sample size, largest weight, and
        cautions.

    Raises
    ------
    InputError
        The arrays differ in length, or a row is outside its range; the first such row is named.
    OptionError
        An option is unknown, or `clip` is missing or not wanted.

    References
    ----------
    Horvitz and Thompson (1952). Swaminathan and Joachims (2015), The self-normalized estimator for
    counterfactual learning. Ionides (2008), Truncated importance sampling. Kish (1965) for the
    effective sample size.

    Examples
    --------
    >>> estimate = ips([1, 0, 0, 1], [0.5, 0.5, 1.0, 0.5], [0.5, 0.5, 0.5, 0.25], "snips")
    >>> round(estimate.value, 6), round(estimate.effective_sample_size, 6)
    (0.5, 3.6)
    """
    log = rows_of(rewards, target_probability, logged_probability, estimator, clip)
    return value_of_rows(log, clusters, confidence, n_resamples, rng)


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

    The model predicts the reward of the target policy; the weighted rows correct it:
    ``mean(predicted_target + w * (reward - predicted_logged))``. The estimate is unbiased if the
    logged probabilities are right, whatever the model, and if the model is right, whatever the
    probabilities. A good model makes its variance small.

    Parameters
    ----------
    rewards, target_probability, logged_probability : array, shape (n,)
        As for `ips`.
    predicted_logged : array, shape (n,)
        Reward that the model predicts for the logged action. Fit the model on other rows, such as
        other folds.
    predicted_target : array, shape (n,)
        Reward that it predicts for the target policy: the sum over all actions of their target
        probability times predicted reward.
    estimator : {"dr", "switch"}
        All rows correct the model; or rows with a weight of at most `switch`, and the model stands
        alone for the others (SWITCH-DR: biased by what the model gets wrong there).
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
    Dudík, Langford and Li (2011), Doubly robust policy evaluation and learning. Wang, Agarwal and
    Dudík (2017), Optimal and adaptive off-policy evaluation in contextual bandits.

    Examples
    --------
    >>> policy, predicted = np.array([[0.25, 0.75]] * 4), np.array([[0.2, 0.6]] * 4)
    >>> taken, rows = np.array([0, 1, 1, 0]), np.arange(4)
    >>> estimate = doubly_robust(
    ...     [0, 1, 1, 0],
    ...     policy[rows, taken],
    ...     [0.5] * 4,
    ...     predicted[rows, taken],
    ...     (policy * predicted).sum(axis=1),
    ... )
    >>> round(estimate.value, 3)
    0.75
    """
    log = rows_with_model(
        rewards=rewards,
        target_probability=target_probability,
        logged_probability=logged_probability,
        predicted_logged=predicted_logged,
        predicted_target=predicted_target,
        estimator=estimator,
        switch=switch,
    )
    return value_of_rows(log, clusters, confidence, n_resamples, rng)


def rows_of(
    rewards: npt.ArrayLike,
    target_probability: npt.ArrayLike,
    logged_probability: npt.ArrayLike,
    estimator: Estimator,
    clip: float | None,
    *,
    fewest: int = 2,
) -> WeightedRows:
    """Check the columns and the estimator of `ips`."""
    one_of("estimator", estimator, Estimator)
    limit = largest_weight(estimator, "clipped", "clip", clip)
    return WeightedRows.of(
        rewards, target_probability, logged_probability, estimator, limit, fewest=fewest
    )


def rows_with_model(
    *,
    rewards: npt.ArrayLike,
    target_probability: npt.ArrayLike,
    logged_probability: npt.ArrayLike,
    predicted_logged: npt.ArrayLike,
    predicted_target: npt.ArrayLike,
    estimator: ModelEstimator,
    switch: float | None,
    fewest: int = 2,
) -> WeightedRows:
    """Check the columns, and subtract the predictions from the rewards."""
    one_of("estimator", estimator, ModelEstimator)
    limit = largest_weight(estimator, "switch", "switch", switch)
    predicted = numbers("predicted_logged", predicted_logged)
    baseline = numbers("predicted_target", predicted_target)
    reward_column = numbers("rewards", rewards)
    for name, column in (("predicted_logged", predicted), ("predicted_target", baseline)):
        if column.size != reward_column.size:
            raise InputError(
                f"{name}: found {column.size} values, expected one for each of the "
                f"{reward_column.size} rewards"
            )
    return WeightedRows.of(
        rewards=reward_column - predicted,
        target=target_probability,
        logged=logged_probability,
        estimator=estimator,
        limit=limit,
        baseline=baseline,
        fewest=fewest,
    )


def value_of_rows(
    log: WeightedRows, clusters: Any, confidence: float, n_resamples: int, rng: RandomLike
) -> PolicyValue:
    """Value of checked rows, with its interval: normal, or by bootstrap over clusters."""
    level = check_confidence(confidence)
    codes = cluster_codes(clusters, log.n)
    replicates = replicates_of(n_resamples)
    value = sums_of_log(log, codes, keep=True).value(level)
    if not replicates:
        return value
    return replace(value, interval=_bootstrap(log, codes, replicates, generator_of(rng), level))


@dataclass(frozen=True, kw_only=True, eq=False)
class PolicySums:
    """Sums of a log's rows for the value of a target policy; of partitions, they merge.

    Estimates, standard errors, effective sample sizes and cautions equal the results of `ips` and
    `doubly_robust` over all rows, to rounding: both are the `value` of the sums of one part, which
    keeps its rows for the error and for the bootstrap over clusters. Without rows, intervals are
    normal.

    Attributes
    ----------
    n : int
        Rows; a partition may have none.
    rows : WeightSums
        Sums of weights, of their squares, and of weighted rewards.
    moments : RatioMoments
        Weighted rewards (with the model's prediction) over weights or rows, by unit: a row, or a
        cluster. Each cluster stands in one partition.
    baseline : float
        Sum of the predicted rewards of the target policy; 0 without a model.
    estimator : str
        How the value is estimated.
    limit : float
        Largest weight, or infinity.
    clustered, has_model : bool
        Whether units are clusters, and whether a model predicts rewards.

    Examples
    --------
    >>> rewards, target, logged = (
    ...     np.array([1, 0, 0, 1]),
    ...     np.array([0.5, 0.5, 1.0, 0.5]),
    ...     np.array([0.5, 0.5, 0.5, 0.25]),
    ... )
    >>> parts = [
    ...     PolicySums.ips(rewards[at], target[at], logged[at], "snips")
    ...     for at in (slice(0, 2), slice(2, 4))
    ... ]
    >>> round(parts[0].merge(parts[1]).value().value, 6)
    0.5
    """

    n: int
    rows: WeightSums
    moments: RowUnits
    baseline: float
    estimator: Estimator | ModelEstimator
    limit: float
    clustered: bool
    has_model: bool

    @classmethod
    def ips(
        cls,
        rewards: npt.ArrayLike,
        target_probability: npt.ArrayLike,
        logged_probability: npt.ArrayLike,
        estimator: Estimator = "ips",
        clip: float | None = None,
        *,
        clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    ) -> "PolicySums":
        """Sum the rows of a partition for `idealrank.clicks.ips`, whose parameters these are.

        Raises
        ------
        InputError, OptionError
            As from `ips`, but for the number of rows and of clusters.
        """
        log = rows_of(rewards, target_probability, logged_probability, estimator, clip, fewest=0)
        return sums_of_log(log, cluster_codes(clusters, log.n, fewest=0))

    @classmethod
    def doubly_robust(
        cls,
        rewards: npt.ArrayLike,
        target_probability: npt.ArrayLike,
        logged_probability: npt.ArrayLike,
        predicted_logged: npt.ArrayLike,
        predicted_target: npt.ArrayLike,
        estimator: ModelEstimator = "dr",
        *,
        switch: float | None = None,
        clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    ) -> "PolicySums":
        """Sum the rows of a partition for `idealrank.clicks.doubly_robust`, whose parameters these
        are.

        Raises
        ------
        InputError, OptionError
            As from `doubly_robust`, but for the number of rows and of clusters.
        """
        log = rows_with_model(
            rewards=rewards,
            target_probability=target_probability,
            logged_probability=logged_probability,
            predicted_logged=predicted_logged,
            predicted_target=predicted_target,
            estimator=estimator,
            switch=switch,
            fewest=0,
        )
        return sums_of_log(log, cluster_codes(clusters, log.n, fewest=0))

    @property
    def n_units(self) -> int:
        """Clusters; rows without clusters."""
        return self.moments.n_units

    @property
    def _kind(self) -> tuple[object, ...]:
        """Settings that all parts share."""
        return (self.estimator, self.limit, "clusters" if self.clustered else "no clusters")

    def merge(self, other: "PolicySums") -> "PolicySums":
        """Add the sums of other rows, and of other clusters.

        Raises
        ------
        IncompatibleError
            Estimators or limits differ, or one part alone has clusters.
        """
        if self._kind != other._kind:
            raise IncompatibleError(
                f"found sums of {self._kind} and of {other._kind}; expected one estimator, limit "
                "and kind of rows for all parts"
            )
        return PolicySums(
            n=self.n + other.n,
            rows=self.rows.plus(other.rows),
            moments=self.moments.summed().plus(other.moments.summed()),
            baseline=self.baseline + other.baseline,
            estimator=self.estimator,
            limit=self.limit,
            clustered=self.clustered,
            has_model=self.has_model,
        )

    def value(self, confidence: float = 0.95) -> PolicyValue:
        """Value of the target policy, with its normal interval.

        Parameters
        ----------
        confidence : float
            Confidence level.

        Raises
        ------
        InputError
            All partitions together have fewer than 2 rows, or one cluster.
        """
        level = check_confidence(confidence)
        sums = self.rows
        require_units(self.n, self.n_units, "rewards", "rows", clustered=self.clustered)
        value = sums.ratio(self.estimator, self.n)
        if self.has_model:
            value += self.baseline / self.n
        error = self.moments.error(np.ones(1))
        effective = sums.weights**2 / sums.squares if sums.squares > 0 else 0.0
        share = sums.largest_reward / sums.rewards if sums.rewards > 0 else 0.0
        return PolicyValue(
            value=value,
            standard_error=error,
            interval=normal_mean(value, error, level).interval,
            effective_sample_size=effective,
            max_weight=sums.largest,
            mean_weight=sums.raw / self.n,
            largest_share=share,
            n=self.n,
            n_clusters=self.n_units,
            n_clipped=sums.cut,
            estimator=self.estimator,
            confidence=level,
            cautions=cautions_of(
                sums=sums,
                n=self.n,
                error=error,
                effective=effective,
                share=share,
                n_clusters=self.n_units,
                has_model=self.has_model,
            ),
        )


def sums_of_log(log: WeightedRows, codes: IntArray | None, *, keep: bool = False) -> PolicySums:
    """Sum the checked rows of a log or of a part; `keep` keeps them, for a whole log, for its
    error.
    """
    sums = sums_of_rows(log)
    units = KeptRows(
        n=log.n,
        codes=codes,
        influences=lambda: sums.influences(log),
        moments=lambda: RatioMoments.of(*log.ratio_columns, codes),
    )
    return PolicySums(
        n=log.n,
        rows=sums,
        moments=units if keep else units.summed(),
        baseline=0.0 if log.baseline is None else float(log.baseline.sum()),
        estimator=log.estimator,
        limit=log.limit,
        clustered=codes is not None,
        has_model=log.baseline is not None,
    )


def _bootstrap(
    log: WeightedRows,
    codes: IntArray | None,
    replicates: int,
    rng: np.random.Generator,
    confidence: float,
) -> tuple[float, float]:
    """Percentile interval over clusters, drawn with replacement: of the sums of each cluster, not
    of its rows.
    """
    sums = _unit_sums(log, codes)
    n_units: int = sums.shape[1]
    if codes is None and log.estimator != "snips":
        sums = sums[:1]  # each replicate is divided by the number of rows

    def mean_of(draws: IntArray) -> float:
        # Counts of 16 bits stay in the cache: a unit is drawn once on average, and never 65,536
        # times.
        counts = np.zeros(n_units, np.uint16)
        np.add.at(counts, draws, np.uint16(1))
        # The draws are counted: their memory holds the products, which need as much.
        products = draws.view(np.float64)
        totals = [float(np.multiply(column, counts, out=products).sum()) for column in sums]
        divisor = totals[1] if len(totals) == 2 else float(n_units)
        return totals[0] / divisor if divisor else 0.0

    threads = threads_of(None) if n_units >= _UNITS_FOR_THREADS else 1
    values = list(
        each_in_order(
            mean_of, (rng.integers(0, n_units, n_units) for _ in range(replicates)), threads
        )
    )
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _unit_sums(log: WeightedRows, codes: IntArray | None) -> FloatArray:
    """Sums of weighted rewards, and of their divisors, of each cluster, or row without clusters."""
    n_units = log.n if codes is None else int(codes.max()) + 1
    sums = np.zeros((2, n_units))
    for part, raw, rewards in log.blocks():
        weights = log.cut(raw)
        divisors = weights if log.estimator == "snips" else np.ones_like(weights)
        weighted = weights * rewards
        if log.baseline is not None:
            weighted = weighted + log.baseline[part]
        for row, column in enumerate((weighted, divisors)):
            if codes is None:
                sums[row, part] = column
            else:
                sums[row] += np.bincount(codes[part], column, n_units)
    return sums
