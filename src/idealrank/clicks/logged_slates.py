"""Values of a policy that shows lists, from the log of another: weights of whole lists, of places,
and of the documents above.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import number_table, one_of
from idealrank.clicks.logged_rewards import FEWEST_EFFECTIVE, LARGEST_SHARE
from idealrank.clicks.policy_differences import units_needed, verdict_of
from idealrank.clicks.weighted_rows import LARGEST, ListMean, list_mean
from idealrank.data.types import FloatArray
from idealrank.errors import InputError

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
    ranks, weights = lists.rewards.shape[1], lists.weights
    squares = (weights**2).sum(axis=0)
    effective = np.divide(weights.sum(axis=0) ** 2, squares, out=np.zeros(ranks), where=squares > 0)
    total = list_mean(lists.influence, clusters, confidence)
    size = np.abs(lists.gained)
    mean = weights.mean(axis=0)
    return SlateValue(
        total=total,
        by_rank=lists.by_rank,
        effective_sample_size=effective,
        mean_weight=mean,
        max_weight=weights.max(axis=0),
        n=size.size,
        estimator=estimator,
        confidence=confidence,
        cautions=slate_cautions(
            n=size.size,
            mean=mean,
            spread=weights.std(axis=0),
            effective=effective,
            sizes=(float(size.sum()), float(size.max())),
            worth=lists.worth,
        ),
    )


@dataclass(frozen=True, eq=False)
class SlateDifference:
    """Difference of the values of two policies that show lists, by one log: B less A, paired by
    list.

    Attributes
    ----------
    a, b : SlateValue
        Both values.
    total : ListMean
        Their difference; lists that both policies would show alike cancel.

    Examples
    --------
    >>> half = [[0.5, 0.5]] * 2
    >>> difference = slate_difference([[1, 0], [0, 1]], half, half, half)
    >>> difference.total.value, difference.verdict
    (0.0, 'no support')
    """

    a: SlateValue
    b: SlateValue
    total: ListMean

    @property
    def verdict(self) -> Literal["better", "worse", "undecided", "no support"]:
        """Return the verdict on B by the interval."""
        return verdict_of(self.total.interval, is_supported=self.a.supported and self.b.supported)

    def lists_needed(self, power: float = 0.8) -> float:
        """Lists of such a log that would show a difference of this size with the given power;
        infinite for no difference.

        Examples
        --------
        >>> half = [[0.5, 0.5]] * 2
        >>> slate_difference([[1, 0], [0, 1]], half, half, half).lists_needed()
        inf
        """
        return units_needed(
            self.a.n, self.total.value, self.total.standard_error, self.a.confidence, power
        )


def slate_difference(
    rewards: npt.ArrayLike,
    target_a: npt.ArrayLike,
    target_b: npt.ArrayLike,
    logged_probability: npt.ArrayLike,
    estimator: SlateEstimator = "ips",
    *,
    discount: npt.ArrayLike | None = None,
    clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    confidence: float = 0.95,
) -> SlateDifference:
    """Compare two policies that show lists by one log, paired by list.

    Parameters
    ----------
    rewards, logged_probability, estimator, discount, clusters, confidence
        As for `slate_value`.
    target_a, target_b : array, shape (lists, ranks)
        Probabilities of either policy, as `target_probability` of `slate_value`.

    Raises
    ------
    InputError, OptionError
        As for `slate_value`.

    Examples
    --------
    >>> rewards, logged = [[1, 0], [0, 1]], [[0.5, 0.5], [0.5, 0.5]]
    >>> slate_difference(
    ...     rewards, logged, [[0.8, 0.5], [0.2, 0.5]], logged, "rips"
    ... ).b.by_rank.tolist()
    [0.8, 0.2]
    """
    options: dict[str, Any] = {"discount": discount, "clusters": clusters, "confidence": confidence}
    a, b = (
        slate_value(rewards, target, logged_probability, estimator, **options)
        for target in (target_a, target_b)
    )
    slates_a, slates_b = (
        WeightedSlates.of(rewards, target, logged_probability, estimator, discount)
        for target in (target_a, target_b)
    )
    return SlateDifference(
        a, b, list_mean(slates_b.influence - slates_a.influence, clusters, confidence)
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightedSlates:
    """Checked lists with the weight of each place; of self-normalised estimators the rewards are
    centred for their errors.
    """

    # rewards, weights: shape (lists, ranks): rewards, and weights by the estimator
    rewards: FloatArray
    weights: FloatArray
    worth: FloatArray  # shape (ranks,): weight of each rank in the reward of a list
    is_normalised: bool  # Whether sums of weighted rewards are divided by sums of weights

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
        gained = _table("rewards", rewards, None, fewest)
        target = _table("target_probability", target_probability, gained.shape, fewest)
        logged = _table("logged_probability", logged_probability, gained.shape, fewest)
        _refuse("target_probability", target, (target < 0) | (target > 1), "from 0 to 1")
        expected = "above 0, up to 1; a list that is never shown cannot be in the log"
        _refuse("logged_probability", logged, (logged <= 0) | (logged > 1), expected)

        ranks = gained.shape[1]
        worth = np.ones(ranks) if discount is None else number_table("discount", discount)
        if worth.shape != (ranks,) or not np.isfinite(worth).all():
            raise InputError(
                f"discount: found {worth.tolist()}, expected {ranks} finite weights, one a rank"
            )
        expected = f"up to {LARGEST:g} in size; use another unit"
        _refuse("rewards", gained, np.abs(gained) > LARGEST, expected)

        plain = estimator.removeprefix("sn")
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            weights = target / logged
            if plain != "iips":
                weights = np.multiply.accumulate(weights, axis=1)
        expected = f"that is not too small: the weight is above {LARGEST:g}; leave such lists out"
        _refuse("logged_probability", logged, ~(weights <= LARGEST), expected)
        if plain == "ips":
            weights = np.broadcast_to(weights[:, -1:], weights.shape)
        return cls(
            rewards=gained, weights=weights, worth=worth, is_normalised=estimator.startswith("sn")
        )

    @property
    def by_rank(self) -> FloatArray:
        """Value at each rank."""
        sums = (self.weights * self.rewards).sum(axis=0)
        below = np.full(sums.shape, float(self.rewards.shape[0]))
        if self.is_normalised:
            below = self.weights.sum(axis=0)
        ratios: FloatArray = np.divide(sums, below, out=np.zeros(sums.shape), where=below > 0)
        return ratios

    @property
    def gained(self) -> FloatArray:
        """Weighted reward of each list."""
        sums: FloatArray = (self.weights * self.rewards * self.worth).sum(axis=1)
        return sums

    @property
    def ratio_columns(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """Numerators and denominators of lists, of whose sums the value is the ratio; of
        self-normalised estimators, at each rank.
        """
        if not self.is_normalised:
            return [self.gained], [np.ones(len(self.rewards))]
        weights = list(self.weights.T)
        above = [weight * reward for weight, reward in zip(weights, self.rewards.T, strict=True)]
        return above, weights

    @property
    def influence(self) -> FloatArray:
        """A value for each list, whose mean is the value of the policy and whose spread its
        error.
        """
        if not self.is_normalised:
            return self.gained
        by_rank, mean = self.by_rank, self.weights.mean(axis=0)
        centred = self.weights * (self.rewards - by_rank) / np.where(mean > 0, mean, 1.0)
        influences: FloatArray = (centred * self.worth).sum(axis=1) + float(
            (by_rank * self.worth).sum()
        )
        return influences


def ratio_worth(estimator: SlateEstimator, worth: FloatArray) -> FloatArray:
    """Weight of each ratio of `WeightedSlates.ratio_columns` in the reward of a list."""
    return worth if estimator.startswith("sn") else np.ones(1)


def slate_cautions(
    n: int,
    mean: FloatArray,
    spread: FloatArray,
    effective: FloatArray,
    sizes: tuple[float, float],
    worth: FloatArray,
) -> tuple[str, ...]:
    """Why an interval of the weights of lists cannot be trusted; of the ranks that count, the worst
    one is named.
    """
    cautions = []
    counted = np.flatnonzero(worth)
    if counted.size:
        gap, error = np.abs(mean - 1), spread / np.sqrt(n)
        far = np.where(gap > 1e-9, gap - _WEIGHT_ERRORS * error, -np.inf)
        rank = int(counted[np.argmax(far[counted])])
        if far[rank] > 0:
            cautions.append(
                f"the mean weight of place {rank + 1} is {mean[rank]:.4g}, not 1 (standard error "
                f"{error[rank]:.2g}): the probabilities are wrong, or the logging policy never "
                "shows lists of the target policy"
            )
        rank = int(counted[np.argmin(effective[counted])])
        if effective[rank] < FEWEST_EFFECTIVE:
            cautions.append(
                f"at place {rank + 1}, {n:,} lists are worth {effective[rank]:.0f} of equal "
                f"weight, fewer than {FEWEST_EFFECTIVE:.0f}"
            )
    total, largest = sizes
    share = largest / total if total > 0 else 0.0
    if not total > 0:
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
