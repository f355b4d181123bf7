"""Differences of two policies by one log, paired by row: interval, verdict, and the rows that it
would take.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from idealrank.clicks.arguments import real_number
from idealrank.clicks.logged_rewards import (
    PolicyValue,
    ips,
    rows_of,
    rows_with_model,
    value_of_rows,
)
from idealrank.clicks.weighted_rows import (
    Estimator,
    ModelEstimator,
    WeightedRows,
    cluster_codes,
    error_of_blocks,
    influence,
)
from idealrank.errors import InputError, shown
from idealrank.stats.intervals import side_of_interval


@dataclass(frozen=True, kw_only=True)
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
        Verdict on B by the interval; "no support" if the log cannot carry a verdict on either
        policy.

    Examples
    --------
    >>> difference = ips_difference([1, 0, 1, 0], [0.5] * 4, [0.9, 0.1, 0.9, 0.1], [0.5] * 4)
    >>> round(difference.value, 3), difference.verdict
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
        return verdict_of(self.interval, is_supported=self.a.supported and self.b.supported)

    def rows_needed(self, power: float = 0.8) -> float:
        """Rows of such a log that would show a difference of this size with the given power;
        infinite for no difference.

        Examples
        --------
        >>> difference = ips_difference(
        ...     [1, 0, 1, 0, 0], [0.5] * 5, [0.6, 0.4, 0.5, 0.5, 0.5], [0.5] * 5
        ... )
        >>> difference.rows_needed() > difference.a.n
        True
        """
        return units_needed(self.a.n, self.value, self.standard_error, self.confidence, power)


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
    >>> difference = ips_difference([1, 0, 1, 0], [0.5] * 4, [0.5] * 4, [0.5] * 4)
    >>> difference.value, difference.standard_error
    (0.0, 0.0)
    """
    value_a, value_b = (
        ips(
            rewards,
            target,
            logged_probability,
            estimator,
            clip,
            clusters=clusters,
            confidence=confidence,
        )
        for target in (target_a, target_b)
    )
    logs = (
        rows_of(rewards, target, logged_probability, estimator, clip)
        for target in (target_a, target_b)
    )
    return _difference((value_a, value_b), logs, clusters)


def doubly_robust_difference(
    rewards: npt.ArrayLike,
    targets: "tuple[npt.ArrayLike, npt.ArrayLike]",
    logged_probability: npt.ArrayLike,
    predicted_logged: npt.ArrayLike,
    predicted_targets: "tuple[npt.ArrayLike, npt.ArrayLike]",
    estimator: ModelEstimator = "dr",
    *,
    switch: float | None = None,
    clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    confidence: float = 0.95,
) -> PolicyDifference:
    """Compare two target policies by one log and one model of the rewards, paired by row.

    Parameters
    ----------
    rewards, logged_probability, predicted_logged, estimator, switch, clusters, confidence
        As for `doubly_robust`.
    targets : pair of arrays, shape (n,)
        Probability, in [0, 1], with which policies A and B take the logged action.
    predicted_targets : pair of arrays, shape (n,)
        Reward that the model predicts for either policy.

    Raises
    ------
    InputError, OptionError
        As for `doubly_robust`.

    Examples
    --------
    >>> half, model = [0.5] * 4, [0.4] * 4
    >>> difference = doubly_robust_difference(
    ...     [1, 0, 1, 0], (half, [0.9, 0.1, 0.9, 0.1]), half, model, (model, [0.6] * 4)
    ... )
    >>> round(difference.value, 3)
    0.6
    """
    pairs = list(
        zip(two("targets", targets), two("predicted_targets", predicted_targets), strict=True)
    )
    logs = [
        rows_with_model(
            rewards, (target, logged_probability), (predicted_logged, predicted), estimator, switch
        )
        for target, predicted in pairs
    ]
    first, second = (value_of_rows(log, clusters, confidence, 0, None) for log in logs)
    return _difference((first, second), iter(logs), clusters)


def two(name: str, columns: object) -> "tuple[Any, Any]":
    """Return the columns of both policies."""
    if isinstance(columns, np.ndarray) and columns.ndim:
        columns = list(columns)
    if not isinstance(columns, list | tuple) or len(columns) != 2:
        raise InputError(
            f"{name}: found {shown(repr(columns))}, expected two columns, of policies A and B"
        )
    return columns[0], columns[1]


def _difference(
    values: tuple[PolicyValue, PolicyValue],
    logs: Iterator[WeightedRows],
    clusters: "Sequence[Any] | npt.ArrayLike | None",
) -> PolicyDifference:
    """B less A, with the error of the differences of rows."""
    value_a, value_b = values
    influences = []
    for log, value in zip(logs, values, strict=True):
        norm = value.mean_weight if value.estimator == "snips" else 1.0
        influences.append(influence(log, value.value, norm))
    blocks = (of_b - of_a for of_a, of_b in zip(*influences, strict=True))
    error = error_of_blocks(blocks, value_a.n, cluster_codes(clusters, value_a.n))
    return difference_of_values(value_a, value_b, error)


def difference_of_values(a: PolicyValue, b: PolicyValue, error: float) -> PolicyDifference:
    """B less A with its normal interval, from the standard error."""
    value, reach = b.value - a.value, error * float(ndtri((1 + a.confidence) / 2))
    return PolicyDifference(
        a=a,
        b=b,
        value=value,
        standard_error=error,
        interval=(value - reach, value + reach),
        confidence=a.confidence,
    )


def verdict_of(
    interval: tuple[float, float], *, is_supported: bool
) -> Literal["better", "worse", "undecided", "no support"]:
    """Verdict on B by the interval of B less A."""
    if not is_supported:
        return "no support"
    return side_of_interval(*interval)


def units_needed(n: int, value: float, error: float, confidence: float, power: float) -> float:
    """Rows or lists that would show a difference of this size with the given power, from n that
    gave this standard error.
    """
    wanted_power = real_number(
        "power", power, "a number between 0 and 1, such as 0.8", low=0, high=1
    )
    if value == 0:
        return math.inf
    n_errors = float(ndtri((1 + confidence) / 2) + ndtri(wanted_power))
    return n * (n_errors * error / value) ** 2
