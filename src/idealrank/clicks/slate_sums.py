"""Values of policies that show lists, from sums that partitions of a log add up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import check_confidence
from idealrank.clicks.logged_slates import (
    SlateEstimator,
    SlateValue,
    WeightedSlates,
    ratio_worth,
    slate_cautions,
)
from idealrank.clicks.ratio_moments import RatioMoments, codes_of_part, require_units
from idealrank.data.types import FloatArray
from idealrank.errors import IncompatibleError


@dataclass(frozen=True, kw_only=True, eq=False)
class SlateSums:
    """Sums of a log's lists for the value of a policy that shows lists; of partitions, they merge.

    Values, standard errors, intervals and cautions equal the results of `slate_value` over all
    lists, to rounding.

    Attributes
    ----------
    n : int
        Lists; a partition may have none.
    weights, squares, deviations, weighted, largest : float64 array, shape (ranks,)
        Sums of the weights at each rank, of their squares, of the squares of their deviations from
        their mean and of weighted rewards, and the largest weight.
    moments : RatioMoments
        Weighted rewards, by unit: a list, or a cluster. Each cluster stands in one partition. Of
        self-normalised estimators, weighted rewards over weights at each rank.
    gained, largest_gain : float
        Sum, and largest, of the absolute weighted rewards of lists.
    worth : float64 array, shape (ranks,)
        Weight of each rank in the reward of a list.
    estimator : str
        How the value is estimated.
    clustered : bool
        Whether units are clusters.

    Examples
    --------
    >>> rewards, target, logged = (
    ...     [[1, 0], [0, 1]],
    ...     [[0.8, 0.5], [0.2, 0.5]],
    ...     [[0.5, 0.5], [0.5, 0.5]],
    ... )
    >>> one, other = (
    ...     SlateSums.of(rewards[at:][:1], target[at:][:1], logged[at:][:1], "rips")
    ...     for at in (0, 1)
    ... )
    >>> one.merge(other).value().by_rank.tolist()
    [0.8, 0.2]
    """

    n: int
    weights: FloatArray
    squares: FloatArray
    deviations: FloatArray
    weighted: FloatArray
    largest: FloatArray
    moments: RatioMoments
    gained: float
    largest_gain: float
    worth: FloatArray
    estimator: SlateEstimator
    clustered: bool

    @classmethod
    def of(
        cls,
        rewards: npt.ArrayLike,
        target_probability: npt.ArrayLike,
        logged_probability: npt.ArrayLike,
        estimator: SlateEstimator = "ips",
        *,
        discount: npt.ArrayLike | None = None,
        clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    ) -> "SlateSums":
        """Sum the lists of a partition for `idealrank.clicks.slate_value`, whose parameters these
        are.

        All partitions have as many ranks: fill shorter lists up with rewards of 0 and probabilities
        of 1. A partition without lists has arrays of shape (0, ranks).

        Raises
        ------
        InputError, OptionError
            As from `slate_value`, but for the number of lists and of clusters.
        """
        lists = WeightedSlates.of(
            rewards, target_probability, logged_probability, estimator, discount, fewest=0
        )
        return sums_of_slates(lists, estimator, clusters)

    def merge(self, other: "SlateSums") -> "SlateSums":
        """Add the sums of other lists, and of other clusters.

        Raises
        ------
        IncompatibleError
            Estimators, ranks or discounts differ, or one part alone has clusters.
        """
        ours, theirs = (
            (one.estimator, one.worth.tolist(), "clusters" if one.clustered else "no clusters")
            for one in (self, other)
        )
        if ours != theirs:
            raise IncompatibleError(
                f"found sums of {ours} and of {theirs}; expected one estimator, discount of "
                f"each rank and kind of lists for all parts"
            )
        n = self.n + other.n
        gap = other.weights / max(other.n, 1) - self.weights / max(self.n, 1)
        return SlateSums(
            n=n,
            weights=self.weights + other.weights,
            squares=self.squares + other.squares,
            deviations=self.deviations
            + other.deviations
            + gap * gap * (self.n * other.n / max(n, 1)),
            weighted=self.weighted + other.weighted,
            largest=np.maximum(self.largest, other.largest),
            moments=self.moments.plus(other.moments),
            gained=self.gained + other.gained,
            largest_gain=max(self.largest_gain, other.largest_gain),
            worth=self.worth,
            estimator=self.estimator,
            clustered=self.clustered,
        )

    def value(self, confidence: float = 0.95) -> SlateValue:
        """Value of the policy, with its normal interval.

        Parameters
        ----------
        confidence : float
            Confidence level.

        Raises
        ------
        InputError
            All partitions together have fewer than 2 lists, or one cluster.
        """
        level, ranks = check_confidence(confidence), self.worth.size
        require_units(self.n, self.moments.n_units, "rewards", "lists", clustered=self.clustered)
        below = self.weights if self.estimator.startswith("sn") else np.full(ranks, float(self.n))
        by_rank = np.divide(self.weighted, below, out=np.zeros(ranks), where=below > 0)
        effective = np.divide(
            self.weights**2, self.squares, out=np.zeros(ranks), where=self.squares > 0
        )
        mean, spread = self.weights / self.n, np.sqrt(self.deviations / self.n)
        return SlateValue(
            total=self.moments.mean(ratio_worth(self.estimator, self.worth), level),
            by_rank=by_rank,
            effective_sample_size=effective,
            mean_weight=mean,
            max_weight=self.largest,
            n=self.n,
            estimator=self.estimator,
            confidence=level,
            cautions=slate_cautions(
                n=self.n,
                mean=mean,
                spread=spread,
                effective=effective,
                sizes=(self.gained, self.largest_gain),
                worth=self.worth,
            ),
        )


def sums_of_slates(
    lists: WeightedSlates,
    estimator: SlateEstimator,
    clusters: "Sequence[Any] | npt.ArrayLike | None",
) -> SlateSums:
    """Sum the checked lists of a partition."""
    n, weights = len(lists.rewards), list(lists.weights.T)
    gained, codes = lists.gained, codes_of_part(clusters, n)
    products = [one * two for one, two in zip(weights, lists.rewards.T, strict=True)]
    total = _sums(weights)
    deviations = _sums(
        [(one - mean) ** 2 for one, mean in zip(weights, (total / max(n, 1)).tolist(), strict=True)]
    )
    return SlateSums(
        n=n,
        weights=total,
        squares=_sums([one * one for one in weights]),
        deviations=deviations,
        weighted=_sums(products),
        largest=np.array([float(one.max(initial=0.0)) for one in weights]),
        moments=RatioMoments.of(*lists.ratio_columns, codes),
        gained=float(np.abs(gained).sum()),
        largest_gain=float(np.abs(gained).max(initial=0.0)),
        worth=lists.worth,
        estimator=estimator,
        clustered=codes is not None,
    )


def _sums(columns: Sequence[FloatArray]) -> FloatArray:
    return np.array([float(column.sum()) for column in columns])
