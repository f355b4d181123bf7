"""Values of policies from sums that partitions of a log add up: no partition sees the rows of
another.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from idealrank.clicks.arguments import check_confidence
from idealrank.clicks.logged_rewards import (
    PolicyValue,
    WeightSums,
    cautions_of,
    rows_of,
    rows_with_model,
    sums_of_rows,
)
from idealrank.clicks.ratio_moments import RatioMoments, codes_of_part, require_units
from idealrank.clicks.weighted_rows import Estimator, ModelEstimator, WeightedRows
from idealrank.errors import IncompatibleError


@dataclass(frozen=True, kw_only=True, eq=False)
class PolicySums:
    """Sums of a log's rows for the value of a target policy; of partitions, they merge.

    Estimates, standard errors, effective sample sizes and cautions equal the results of `ips` and
    `doubly_robust` over all rows, to rounding. Intervals are normal: the bootstrap over clusters
    needs their rows.

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
    moments: RatioMoments
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
        return sums_of_log(
            rows_of(rewards, target_probability, logged_probability, estimator, clip, fewest=0),
            clusters,
        )

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
        probabilities = (target_probability, logged_probability)
        predictions = (predicted_logged, predicted_target)
        return sums_of_log(
            rows_with_model(rewards, probabilities, predictions, estimator, switch, fewest=0),
            clusters,
        )

    @property
    def n_units(self) -> int:
        """Clusters; rows without clusters."""
        return self.moments.n_units

    def merge(self, other: "PolicySums") -> "PolicySums":
        """Add the sums of other rows, and of other clusters.

        Raises
        ------
        IncompatibleError
            Estimators or limits differ, or one part alone has clusters.
        """
        ours, theirs = (
            (one.estimator, one.limit, "clusters" if one.clustered else "no clusters")
            for one in (self, other)
        )
        if ours != theirs:
            raise IncompatibleError(
                f"found sums of {ours} and of {theirs}; expected one estimator, limit and "
                f"kind of rows for all parts"
            )
        return PolicySums(
            n=self.n + other.n,
            rows=self.rows.plus(other.rows),
            moments=self.moments.plus(other.moments),
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
        level, sums = check_confidence(confidence), self.rows
        require_units(self.n, self.n_units, "rewards", "rows", clustered=self.clustered)
        below = sums.weights if self.estimator == "snips" else float(self.n)
        value = (sums.weighted / below if below else 0.0) + self.baseline / self.n
        error = self.moments.error(np.ones(1))
        reach = error * float(ndtri((1 + level) / 2))
        effective = sums.weights**2 / sums.squares if sums.squares > 0 else 0.0
        share = sums.largest_reward / sums.rewards if sums.rewards > 0 else 0.0
        return PolicyValue(
            value=value,
            standard_error=error,
            interval=(value - reach, value + reach),
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


def sums_of_log(log: WeightedRows, clusters: "Sequence[Any] | npt.ArrayLike | None") -> PolicySums:
    """Sum the checked rows of a partition."""
    codes = codes_of_part(clusters, log.n)
    baseline = 0.0 if log.baseline is None else math.fsum(log.baseline.tolist())
    moments = RatioMoments.of(*log.ratio_columns, codes)
    return PolicySums(
        n=log.n,
        rows=sums_of_rows(log),
        moments=moments,
        baseline=baseline,
        estimator=log.estimator,
        limit=log.limit,
        clustered=codes is not None,
        has_model=log.baseline is not None,
    )
