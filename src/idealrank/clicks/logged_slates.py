"""Values of a policy that shows lists, from the log of another: weights of whole lists, of places,
and of the documents above.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import check_confidence, number_table, one_of
from idealrank.clicks.ratio_moments import (
    KeptLists,
    ListUnits,
    RatioMoments,
    require_units,
)
from idealrank.clicks.weight_sums import FEWEST_EFFECTIVE, LARGEST_SHARE
from idealrank.clicks.weighted_rows import LARGEST, ListMean, cluster_codes
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import IncompatibleError, InputError

SlateEstimator: TypeAlias = Literal["ips", "iips", "rips", "snips", "sniips", "snrips"]

# Standard errors of the mean weight from 1, its value for the right logged probabilities; so many
# are no accident.
_WEIGHT_ERRORS = 3.0


@dataclass(frozen=True, kw_only=True, eq=False)
class SlateValue:
    """Value of a policy that shows lists, estimated from lists of another.

    Attributes
    ----------
    total : ListMean
        Reward of a list: the sum over its places, each times its `discount`.
    by_rank : float64 array, shape (ranks,)
        Reward at each rank, before the discount; of clicks, the rate of clicks there.
    effective_sample_size : float64 array, shape (ranks,)
        Lists that would carry as much at each rank if all weights were equal (Kish).
    mean_weight, max_weight : float64 array, shape (ranks,)
        Mean and largest weight at each rank. The mean is 1 in expectation if the probabilities are
        right.
    n : int
        Lists.
    estimator : {"ips", "iips", "rips", "snips", "sniips", "snrips"}
        How it was estimated.
    confidence : float
        Confidence level.
    cautions : tuple of str
        Why the interval cannot be trusted; empty where nothing was found.

    Examples
    --------
    >>> slates = slate_value([[1, 0], [0, 1]], [[0.5, 0.5]] * 2, [[0.5, 0.5]] * 2)
    >>> slates.total.value, slates.by_rank.tolist(), slates.supported
    (1.0, [0.5, 0.5], False)
    """

    total: ListMean
    by_rank: FloatArray
    effective_sample_size: FloatArray
    mean_weight: FloatArray
    max_weight: FloatArray
    n: int
    estimator: SlateEstimator
    confidence: float
    cautions: tuple[str, ...]

    @property
    def supported(self) -> bool:
        """Return whether the log has enough support for a verdict."""
        return not self.cautions

    def __str__(self) -> str:
        summary = (
            f"{self.total} ({100 * self.confidence:g} %, {self.estimator}, {self.n:,} lists worth "
            f"{self.effective_sample_size.min():,.0f} at the weakest rank)"
        )
        return "\n".join([summary, *(f"No verdict: {caution}" for caution in self.cautions)])


def slate_value(
    rewards: npt.ArrayLike,
    target_probability: npt.ArrayLike,
    logged_probability: npt.ArrayLike,
    estimator: SlateEstimator = "ips",
    *,
    discount: npt.ArrayLike | None = None,
    clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    confidence: float = 0.95,
) -> SlateValue:
    """Estimate the mean reward of a list of a target policy from lists that a logging policy
    showed.

    Fewer places in a weight mean less variance, and a stronger assumption on users: ``ips`` weighs
    each place by the whole list, ``rips`` by the documents down to it, ``iips`` by its document
    alone.

    Parameters
    ----------
    rewards : array, shape (lists, ranks)
        Reward at each place, such as 1 for a click; 0 below the end of a shorter list.
    target_probability, logged_probability : array, shape (lists, ranks)
        Probability, in [0, 1] and (0, 1], with which either policy shows the logged document at its
        rank: for "ips" and "rips", given the documents above; for "iips", whatever stands at the
        other ranks. 1 below the end of a shorter list.
    estimator : {"ips", "iips", "rips", "snips", "sniips", "snrips"}
        Inverse propensity scoring of whole lists (unbiased for any user), of places (item-position:
        unbiased if the reward of a place depends on its document and rank alone), or of lists down
        to each place (reward interaction, cascade: unbiased if it depends on no document below).
        With "sn" in front, the weighted rewards of each rank are divided by the sum of its weights
        (self-normalised: small bias, smaller variance).
    discount : array, shape (ranks,), optional
        Weight of each rank in the reward of a list; by default 1. Zeros below rank k give the
        clicks down to k.
    clusters : sequence, shape (lists,), optional
        Label of each list, such as its user.
    confidence : float
        Confidence level.

    Raises
    ------
    InputError
        Shapes do not fit, or a value is outside its range.
    OptionError
        An option is unknown, or outside its range.

    References
    ----------
    Li, Abbasi-Yadkori, Kveton, Muthukrishnan, Vinay and Wen (2018), Offline evaluation of ranking
    policies with click models (item-position). McInerney, Brost, Chandar, Mehrotra and Carterette
    (2020), Counterfactual evaluation of slate recommendations with sequential reward interactions
    (cascade); both have the self-normalised forms.

    Examples
    --------
    >>> rewards, target, logged = (
    ...     [[1, 0], [0, 1]],
    ...     [[0.8, 0.5], [0.2, 0.5]],
    ...     [[0.5, 0.5], [0.5, 0.5]],
    ... )
    >>> slate_value(rewards, target, logged, "rips").by_rank.tolist()
    [0.8, 0.2]
    """
    lists = WeightedSlates.of(rewards, target_probability, logged_probability, estimator, discount)
    return sums_of_slates(lists, cluster_codes(clusters, lists.n), keep=True).value(confidence)


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightedSlates:
    """Checked lists with the weight of each place; of self-normalised estimators the rewards are
    centred for their errors.
    """

    # rewards, weights: shape (lists, ranks): rewards, and weights by the estimator
    rewards: FloatArray
    weights: FloatArray
    worth: FloatArray  # shape (ranks,): weight of each rank in the reward of a list
    estimator: SlateEstimator

    @classmethod
    def of(
        cls,
        rewards: npt.ArrayLike,
        target_probability: npt.ArrayLike,
        logged_probability: npt.ArrayLike,
        estimator: SlateEstimator,
        discount: npt.ArrayLike | None,
        *,
        fewest: int = 2,
    ) -> "WeightedSlates":
        """Check lists; a part of a log may have fewer than a log, and none."""
        one_of("estimator", estimator, SlateEstimator)
        reward_table = _table("rewards", rewards, None, fewest)
        target = _table("target_probability", target_probability, reward_table.shape, fewest)
        logged = _table("logged_probability", logged_probability, reward_table.shape, fewest)
        _refuse("target_probability", target, (target < 0) | (target > 1), "from 0 to 1")
        expected = "above 0, up to 1; a list that is never shown cannot be in the log"
        _refuse("logged_probability", logged, (logged <= 0) | (logged > 1), expected)

        ranks = reward_table.shape[1]
        worth = np.ones(ranks) if discount is None else number_table("discount", discount)
        if worth.shape != (ranks,) or not np.isfinite(worth).all():
            raise InputError(
                f"discount: found {worth.tolist()}, expected {ranks} finite weights, one a rank"
            )
        expected = f"up to {LARGEST:g} in size; use another unit"
        _refuse("rewards", reward_table, np.abs(reward_table) > LARGEST, expected)

        weighting = estimator.removeprefix("sn")
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            weights = target / logged
            if weighting != "iips":
                weights = np.multiply.accumulate(weights, axis=1)
        expected = f"that is not too small: the weight is above {LARGEST:g}; leave such lists out"
        _refuse("logged_probability", logged, ~(weights <= LARGEST), expected)
        if weighting == "ips":
            weights = np.broadcast_to(weights[:, -1:], weights.shape)
        return cls(rewards=reward_table, weights=weights, worth=worth, estimator=estimator)

    @property
    def n(self) -> int:
        return len(self.rewards)

    @cached_property
    def gained(self) -> FloatArray:
        """Weighted reward of each list."""
        sums: FloatArray = (self.weights * self.rewards * self.worth).sum(axis=1)
        return sums

    @property
    def ratio_columns(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """Numerators and denominators of lists, of whose sums the value is the ratio; of
        self-normalised estimators, at each rank.
        """
        if not is_normalised(self.estimator):
            return [self.gained], [np.ones(self.n)]
        weights = list(self.weights.T)
        weighted = [weight * reward for weight, reward in zip(weights, self.rewards.T, strict=True)]
        return weighted, weights

    @cached_property
    def influence(self) -> FloatArray:
        """A value for each list, whose mean is the value of the policy and whose spread its
        error.
        """
        if not is_normalised(self.estimator):
            return self.gained
        by_rank = _rates((self.weights * self.rewards).sum(axis=0), self.weights.sum(axis=0))
        mean = self.weights.mean(axis=0)
        centred = self.weights * (self.rewards - by_rank) / np.where(mean > 0, mean, 1.0)
        influences: FloatArray = (centred * self.worth).sum(axis=1) + float(
            (by_rank * self.worth).sum()
        )
        return influences


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
    >>> first, second = (
    ...     SlateSums.of(rewards[at:][:1], target[at:][:1], logged[at:][:1], "rips")
    ...     for at in (0, 1)
    ... )
    >>> first.merge(second).value().by_rank.tolist()
    [0.8, 0.2]
    """

    n: int
    weights: FloatArray
    squares: FloatArray
    deviations: FloatArray
    weighted: FloatArray
    largest: FloatArray
    moments: ListUnits
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
        return sums_of_slates(lists, cluster_codes(clusters, lists.n, fewest=0))

    @property
    def _kind(self) -> tuple[object, ...]:
        """Settings that all parts share."""
        clusters = "clusters" if self.clustered else "no clusters"
        return (self.estimator, self.worth.tolist(), clusters)

    def merge(self, other: "SlateSums") -> "SlateSums":
        """Add the sums of other lists, and of other clusters.

        Raises
        ------
        IncompatibleError
            Estimators, ranks or discounts differ, or one part alone has clusters.
        """
        if self._kind != other._kind:
            raise IncompatibleError(
                f"found sums of {self._kind} and of {other._kind}; expected one estimator, "
                "discount of each rank and kind of lists for all parts"
            )
        n = self.n + other.n
        # Squared deviations of both parts, and of both means from the joint one (Chan, Golub and
        # LeVeque 1983).
        gap = other.weights / max(other.n, 1) - self.weights / max(self.n, 1)
        between = gap * gap * (self.n * other.n / max(n, 1))
        return SlateSums(
            n=n,
            weights=self.weights + other.weights,
            squares=self.squares + other.squares,
            deviations=self.deviations + other.deviations + between,
            weighted=self.weighted + other.weighted,
            largest=np.maximum(self.largest, other.largest),
            moments=self.moments.summed().plus(other.moments.summed()),
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
        level = check_confidence(confidence)
        ranks = self.worth.size
        require_units(self.n, self.moments.n_units, "rewards", "lists", clustered=self.clustered)
        divisor = self.weights if is_normalised(self.estimator) else np.full(ranks, float(self.n))
        effective = np.divide(
            self.weights**2, self.squares, out=np.zeros(ranks), where=self.squares > 0
        )
        mean = self.weights / self.n
        spread = np.sqrt(self.deviations / self.n)
        worth = ratio_worth(self.estimator, self.worth)
        return SlateValue(
            total=self.moments.mean(worth, level),
            by_rank=_rates(self.weighted, divisor),
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
                gained=self.gained,
                largest_gain=self.largest_gain,
                worth=self.worth,
            ),
        )


def sums_of_slates(
    lists: WeightedSlates, codes: IntArray | None, *, keep: bool = False
) -> SlateSums:
    """Sum the checked lists of a log or of a part; `keep` keeps them, for a whole log, for its
    error.
    """
    weights = lists.weights
    absolute = np.abs(lists.gained)
    total = weights.sum(axis=0)
    units = KeptLists.of(
        lambda: lists.influence,
        lambda: RatioMoments.of(*lists.ratio_columns, codes),
        lists.n,
        codes,
    )
    return SlateSums(
        n=lists.n,
        weights=total,
        squares=(weights**2).sum(axis=0),
        deviations=((weights - total / max(lists.n, 1)) ** 2).sum(axis=0),
        weighted=(weights * lists.rewards).sum(axis=0),
        largest=weights.max(axis=0, initial=0.0),
        moments=units if keep else units.summed(),
        gained=float(absolute.sum()),
        largest_gain=float(absolute.max(initial=0.0)),
        worth=lists.worth,
        estimator=lists.estimator,
        clustered=codes is not None,
    )


def is_normalised(estimator: SlateEstimator) -> bool:
    """Return whether sums of weighted rewards are divided by sums of weights."""
    return estimator.startswith("sn")


def ratio_worth(estimator: SlateEstimator, worth: FloatArray) -> FloatArray:
    """Weight of each ratio of `WeightedSlates.ratio_columns` in the reward of a list."""
    return worth if is_normalised(estimator) else np.ones(1)


def _rates(weighted: FloatArray, divisor: FloatArray) -> FloatArray:
    """Value at each rank; 0 without weight."""
    rates: FloatArray = np.divide(
        weighted, divisor, out=np.zeros(weighted.shape), where=divisor > 0
    )
    return rates


def slate_cautions(
    *,
    n: int,
    mean: FloatArray,
    spread: FloatArray,
    effective: FloatArray,
    gained: float,
    largest_gain: float,
    worth: FloatArray,
) -> tuple[str, ...]:
    """Why an interval of the weights of lists cannot be trusted; of the ranks that count, the worst
    one is named.
    """
    cautions = []
    counted_ranks = np.flatnonzero(worth)
    if counted_ranks.size:
        gap = np.abs(mean - 1)
        error = spread / np.sqrt(n)
        excess = np.where(gap > 1e-9, gap - _WEIGHT_ERRORS * error, -np.inf)
        rank = int(counted_ranks[np.argmax(excess[counted_ranks])])
        if excess[rank] > 0:
            cautions.append(
                f"the mean weight of place {rank + 1} is {mean[rank]:.4g}, not 1 (standard error "
                f"{error[rank]:.2g}): the probabilities are wrong, or the logging policy never "
                "shows lists of the target policy"
            )
        weakest = int(counted_ranks[np.argmin(effective[counted_ranks])])
        if effective[weakest] < FEWEST_EFFECTIVE:
            cautions.append(
                f"at place {weakest + 1}, {n:,} lists are worth {effective[weakest]:.0f} of equal "
                f"weight, fewer than {FEWEST_EFFECTIVE:.0f}"
            )
    share = largest_gain / gained if gained > 0 else 0.0
    if not gained > 0:
        cautions.append(
            "no list has a reward with a weight above 0: an interval without width says nothing"
        )
    if share > LARGEST_SHARE:
        cautions.append(
            f"one list has {100 * share:.0f} % of all weighted rewards, more than "
            f"{100 * LARGEST_SHARE:.0f} %"
        )
    return tuple(cautions)


def _table(
    name: str, values: npt.ArrayLike, shape: tuple[int, ...] | None, fewest: int
) -> FloatArray:
    table = number_table(name, values)
    if shape is not None and table.shape != shape:
        raise InputError(f"{name}: found shape {table.shape}, expected {shape}, as of rewards")
    if table.ndim != 2 or table.shape[0] < fewest or not table.shape[1]:
        raise InputError(
            f"{name}: found shape {table.shape}, expected (lists, ranks) with at least {fewest} "
            "lists"
        )
    _refuse(name, table, ~np.isfinite(table), "that is finite")
    return table


def _refuse(name: str, column: FloatArray, wrong: "npt.NDArray[np.bool_]", expected: str) -> None:
    if wrong.any():
        row, place = np.argwhere(wrong)[0]
        raise InputError(
            f"{name}, list {row}, rank {place + 1}: found {column[row, place]:g}, expected a value "
            f"{expected}"
        )
