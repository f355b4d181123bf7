"""Values of policies from sums that partitions of a log add up: no partition sees the rows of another."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from idealrank.clicks.arguments import check_confidence, one_of
from idealrank.clicks.logged_rewards import PolicyValue, WeightSums, cautions_of, rows_with_model, sums_of_rows
from idealrank.clicks.weighted_rows import Estimator, ModelEstimator, WeightedRows, cluster_codes, largest_weight
from idealrank.data.types import FloatArray
from idealrank.errors import IncompatibleError, InputError


@dataclass(frozen=True, eq=False)
class PolicySums:
    """Sums of a log's rows for the value of a target policy; of partitions, they merge.

    Estimates, standard errors, effective sample sizes and cautions equal the results of `ips` and `doubly_robust` over all rows, to
    rounding. Intervals are normal: the bootstrap over clusters needs their rows.

    Attributes
    ----------
    n, n_units : int
        Rows, and clusters; `n` without clusters. Each cluster stands in one partition.
    rows : WeightSums
        Sums of weights, of their squares, and of weighted rewards.
    mean : float64 array, shape (3,)
        Means over units of weighted rewards (with the model's prediction), of weights and of rows.
    moments : float64 array, shape (3, 3)
        Sums over units of products of the deviations from these means.
    baseline : float
        Sum of the predicted rewards of the target policy; 0 without a model.
    estimator : str
        How the value is estimated.
    limit : float
        Largest weight, or infinity.
    clustered, has_model : bool
        Whether units are clusters, and whether a model predicts rewards.

    References
    ----------
    Chan, Golub and LeVeque (1983), Algorithms for computing the sample variance. The American Statistician 37: moments of parts.

    Examples
    --------
    >>> rewards, target, logged = np.array([1, 0, 0, 1]), np.array([0.5, 0.5, 1.0, 0.5]), np.array([0.5, 0.5, 0.5, 0.25])
    >>> parts = [PolicySums.ips(rewards[at], target[at], logged[at], "snips") for at in (slice(0, 2), slice(2, 4))]
    >>> round(parts[0].merge(parts[1]).value().value, 6)
    0.5
    """

    n: int
    n_units: int
    rows: WeightSums
    mean: FloatArray
    moments: FloatArray
    baseline: float
    estimator: Estimator | ModelEstimator
    limit: float
    clustered: bool
    has_model: bool

    @classmethod
    def ips(
        cls, rewards: npt.ArrayLike, target_probability: npt.ArrayLike, logged_probability: npt.ArrayLike, estimator: Estimator = "ips",
        clip: float | None = None, *, clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    ) -> "PolicySums":  # fmt: skip
        """Sum the rows of a partition for `idealrank.clicks.ips`, whose parameters these are.

        Raises
        ------
        InputError, OptionError
            As from `ips`; a partition needs 2 rows, and 2 clusters.
        """
        one_of("estimator", estimator, Estimator)
        limit = largest_weight(estimator, "clipped", "clip", clip)
        return cls._of(WeightedRows.of(rewards, target_probability, logged_probability, estimator, limit), clusters)

    @classmethod
    def doubly_robust(
        cls, rewards: npt.ArrayLike, target_probability: npt.ArrayLike, logged_probability: npt.ArrayLike,
        predicted_logged: npt.ArrayLike, predicted_target: npt.ArrayLike, estimator: ModelEstimator = "dr", *,
        switch: float | None = None, clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    ) -> "PolicySums":  # fmt: skip
        """Sum the rows of a partition for `idealrank.clicks.doubly_robust`, whose parameters these are.

        Raises
        ------
        InputError, OptionError
            As from `doubly_robust`; a partition needs 2 rows, and 2 clusters.
        """
        probabilities, predictions = (target_probability, logged_probability), (predicted_logged, predicted_target)
        return cls._of(rows_with_model(rewards, probabilities, predictions, estimator, switch), clusters)

    @classmethod
    def _of(cls, log: WeightedRows, clusters: Any) -> "PolicySums":
        codes = cluster_codes(clusters, log.n)
        units = log.n if codes is None else int(codes.max()) + 1
        table = np.zeros((3, units))
        for part, raw, rewards in log.blocks():
            weights = log.cut(raw)
            weighted = weights * rewards if log.baseline is None else weights * rewards + log.baseline[part]
            for number, column in enumerate((weighted, weights, np.ones_like(weights))):
                if codes is None:
                    table[number, part] = column
                else:
                    table[number] += np.bincount(codes[part], column, units)
        mean = table.mean(axis=1)
        centred = table - mean[:, None]
        moments = np.array([[float((one * two).sum()) for two in centred] for one in centred])
        baseline = 0.0 if log.baseline is None else math.fsum(log.baseline.tolist())
        return cls(
            log.n, units, sums_of_rows(log), mean, moments, baseline, log.estimator, log.limit, codes is not None, log.baseline is not None
        )

    def merge(self, other: "PolicySums") -> "PolicySums":
        """Add the sums of other rows, and of other clusters.

        Raises
        ------
        IncompatibleError
            Estimators or limits differ, or one part alone has clusters.
        """
        ours, theirs = ((one.estimator, one.limit, "clusters" if one.clustered else "no clusters") for one in (self, other))
        if ours != theirs:
            raise IncompatibleError(f"found sums of {ours} and of {theirs}; expected one estimator, limit and kind of rows for all parts")
        units = self.n_units + other.n_units
        gap = other.mean - self.mean
        return PolicySums(
            self.n + other.n, units, self.rows.plus(other.rows), self.mean + gap * (other.n_units / units),
            self.moments + other.moments + np.outer(gap, gap) * (self.n_units * other.n_units / units),
            self.baseline + other.baseline, self.estimator, self.limit, self.clustered, self.has_model,
        )  # fmt: skip

    def value(self, confidence: float = 0.95) -> PolicyValue:
        """Value of the target policy, with its normal interval.

        Parameters
        ----------
        confidence : float
            Confidence level.

        Raises
        ------
        InputError
            There is one unit.
        """
        level, sums = check_confidence(confidence), self.rows
        if self.n_units < 2:
            raise InputError(f"found {self.n_units} units, expected at least 2; one shows no variation")
        below = sums.weights if self.estimator == "snips" else float(self.n)
        value = (sums.weighted / below if below else 0.0) + self.baseline / self.n
        # A unit's influence: its weighted rewards, less the value times its weights or rows; linear in the three sums.
        turn = np.array([1.0, -value, 0.0]) if self.estimator == "snips" else np.array([1.0, 0.0, -value])
        norm = below / self.n if self.estimator == "snips" and below else 1.0
        spread = max(float((np.outer(turn, turn) * self.moments).sum()), 0.0) / (norm * norm)
        error = math.sqrt(spread * self.n_units / (self.n_units - 1)) / self.n
        reach = error * float(ndtri((1 + level) / 2))
        effective = sums.weights**2 / sums.squares if sums.squares > 0 else 0.0
        share = sums.largest_reward / sums.rewards if sums.rewards > 0 else 0.0
        return PolicyValue(
            value, error, (value - reach, value + reach), effective, sums.largest, sums.raw / self.n, share, self.n, self.n_units,
            sums.cut, self.estimator, level, cautions_of(sums, self.n, effective, share, self.n_units, has_model=self.has_model),
        )  # fmt: skip
