"""Means of values of lists, with standard errors that allow for clusters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt
from scipy.special import ndtri

from idealrank.clicks.arguments import check_confidence
from idealrank.clicks.weighted_rows import cluster_codes, error_of_blocks
from idealrank.data.types import FloatArray


@dataclass(frozen=True)
class ListMean:
    """Mean over lists.

    Attributes
    ----------
    value, standard_error : float
        The mean, and its standard error.
    interval : tuple of float
        Low and high of the normal interval.

    Examples
    --------
    >>> ListMean(0.5, 0.1, (0.3, 0.7)).excludes_zero
    True
    """

    value: float
    standard_error: float
    interval: tuple[float, float]

    @property
    def excludes_zero(self) -> bool:
        """Return whether the interval lies on one side of 0."""
        return self.interval[0] > 0 or self.interval[1] < 0

    def __str__(self) -> str:
        return f"{self.value:.4g} [{self.interval[0]:.4g}, {self.interval[1]:.4g}]"


def list_mean(
    values: FloatArray,
    clusters: "Sequence[Any] | npt.ArrayLike | None",
    confidence: float,
    errors: FloatArray | None = None,
) -> ListMean:
    """Mean of one value a list, with its normal interval.

    The standard error is that of the values plus `errors`, where given: the part of each list in
    another error of the mean.
    """
    level = check_confidence(confidence)
    varying = values if errors is None else values + errors
    error = error_of_blocks(iter([varying]), values.size, cluster_codes(clusters, values.size))
    value, reach = float(values.mean()), error * float(ndtri((1 + level) / 2))
    return ListMean(value, error, (value - reach, value + reach))
