"""Rows of a log with the weights of a target policy, handed out in blocks; errors of means of rows
and of lists, by row or by cluster.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from idealrank.clicks.arguments import label_column, number_table, real_number
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError, shown

Estimator: TypeAlias = Literal["ips", "snips", "clipped"]
ModelEstimator: TypeAlias = Literal["dr", "switch"]

# Rows of a block: its columns stay in the cache, and the sums are the same for any number of
# threads.
_BLOCK = 1 << 15
LARGEST = 1e50
"""Largest weight, and largest size of a value: squares of their products stay far from overflow."""


def cluster_codes(
    clusters: "Sequence[Any] | npt.ArrayLike | None", n: int, *, fewest: int = 2
) -> IntArray | None:
    """Number the clusters of n rows, of which a part of a log may have one or none; None without
    clusters.
    """
    if clusters is None:
        return None
    codes = label_codes(label_column("clusters", clusters, n), "clusters")
    if int(codes.max(initial=0)) + 1 < fewest:
        raise InputError(
            "clusters: found one cluster, expected at least 2; one cluster shows no variation"
        )
    return codes


def label_codes(labels: "np.ndarray[Any, Any]", name: str = "labels") -> IntArray:
    """Number labels in their sorted order: whole numbers that lie close together by a table, others
    by a sort.
    """
    if labels.dtype.kind in "iu" and labels.size:
        low = int(labels.min())
        high = int(labels.max())
        if high - low < max(1 << 16, 4 * labels.size):
            # Differences of labels of few bits overflow.
            wide = labels if labels.dtype.itemsize == 8 else labels.astype(np.int64)
            places = (wide - wide.dtype.type(low)).astype(np.int64, copy=False)
            is_used = np.zeros(high - low + 1, np.int64)
            is_used[places] = 1
            return places if is_used.all() else (np.cumsum(is_used) - 1)[places]
    try:
        return np.asarray(np.unique(labels, return_inverse=True)[1].reshape(-1), np.int64)
    except TypeError as error:
        raise InputError(
            f"{name}: found labels without an order ({shown(error)}), expected texts, or whole "
            "numbers"
        ) from None


def numbers(name: str, values: npt.ArrayLike) -> FloatArray:
    """A column of finite numbers, none larger than `LARGEST`."""
    return _bounded_numbers(name, values).values


class _BoundedColumn(NamedTuple):
    """A column with its smallest and its largest value."""

    values: FloatArray
    low: float
    high: float


def _bounded_numbers(name: str, values: npt.ArrayLike) -> _BoundedColumn:
    """A column of finite numbers, none larger than `LARGEST`."""
    column = number_table(name, values)
    if column.ndim != 1:
        raise InputError(f"{name}: found shape {column.shape}, expected one value a row")
    low, high = _ends(column)
    size = low if math.isnan(low) else max(high, -low)
    if not math.isfinite(size):
        place = int(np.argmin(np.isfinite(column)))
        raise InputError(
            f"{name}, row {place}: found {column[place]}, expected a finite value; leave such rows "
            "out"
        )
    if size > LARGEST:
        place = int(np.argmax(np.abs(column)))
        raise InputError(
            f"{name}, row {place}: found {column[place]:g}, expected at most {LARGEST:g} in size; "
            "use another unit"
        )
    return _BoundedColumn(column, low, high)


def _ends(column: FloatArray) -> tuple[float, float]:
    """Smallest and largest value, both NaN if a value is; block by block, so that memory is read
    once.
    """
    if not column.size:
        return 0.0, 0.0
    lows = []
    highs = []
    for start in range(0, column.size, _BLOCK):
        block = column[start : start + _BLOCK]
        lows.append(block.min())
        highs.append(block.max())
    return float(np.min(lows)), float(np.max(highs))


def largest_weight(estimator: str, needs: str, name: str, limit: float | None) -> float:
    """Check the largest weight: one estimator needs it, and the others refuse it."""
    if (estimator == needs) != (limit is not None):
        expected = "a largest weight, such as 10" if limit is None else f"none for {estimator!r}"
        raise OptionError(
            f"{name}: found {'none' if limit is None else limit}, expected {expected}"
        )
    if limit is None:
        return math.inf
    return real_number(name, limit, "a finite weight above 0, such as 10", low=0)


@dataclass(frozen=True, kw_only=True)
class WeightedRows:
    """Checked columns in blocks, and the rule for their weights. With a baseline, the model's
    predictions are subtracted from the rewards.
    """

    # rewards, target, logged: shape (rows,): rewards, and probabilities of the target policy and of
    # the logging policy
    rewards: FloatArray
    target: FloatArray
    logged: FloatArray
    estimator: Estimator | ModelEstimator  # Name of the estimator
    limit: float  # Largest weight, or infinity
    baseline: FloatArray | None = None  # shape (rows,): predicted reward of the target policy
    is_negative: bool = True  # Whether a reward is below 0

    @classmethod
    def of(
        cls,
        rewards: npt.ArrayLike,
        target: npt.ArrayLike,
        logged: npt.ArrayLike,
        estimator: Estimator | ModelEstimator,
        limit: float,
        baseline: FloatArray | None = None,
        *,
        fewest: int = 2,
    ) -> "WeightedRows":
        """Check columns; a part of a log may have fewer rows than a log, and none."""
        reward_column = _bounded_numbers("rewards", rewards)
        target_column = _bounded_numbers("target_probability", target)
        logged_column = _bounded_numbers("logged_probability", logged)
        n = reward_column.values.size
        for name, column in (
            ("target_probability", target_column),
            ("logged_probability", logged_column),
        ):
            if column.values.size != n:
                raise InputError(
                    f"{name}: found {column.values.size} values, expected one for each of the {n} "
                    "rewards"
                )

        if n < fewest:
            raise InputError(
                f"rewards: found {n} rows, expected at least {fewest}; one row shows no variation"
            )
        if not n:
            empty = np.zeros(0)
            return cls(
                rewards=empty,
                target=empty,
                logged=empty,
                estimator=estimator,
                limit=limit,
                baseline=baseline,
            )

        _check_range("target_probability", target_column, zero=True)
        _check_range("logged_probability", logged_column, zero=False)
        if target_column.high > LARGEST * logged_column.low:  # perhaps in different rows
            _check_weights(target_column.values, logged_column.values)
        return cls(
            rewards=reward_column.values,
            target=target_column.values,
            logged=logged_column.values,
            estimator=estimator,
            limit=limit,
            baseline=baseline,
            is_negative=reward_column.low < 0,
        )

    @property
    def n(self) -> int:
        return self.rewards.size

    def blocks(self) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Place, weights before they are cut, and rewards of each block of rows."""
        for start in range(0, self.n, _BLOCK):
            part = slice(start, start + _BLOCK)
            yield part, self.target[part] / self.logged[part], self.rewards[part]

    @property
    def ratio_columns(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """Numerator and denominator of each row, of whose sums the value of the target policy is
        the ratio.
        """
        numerator = np.zeros(self.n)
        denominator = np.ones(self.n)
        for part, raw, rewards in self.blocks():
            weights = self.cut(raw)
            numerator[part] = weights * rewards
            if self.baseline is not None:
                numerator[part] += self.baseline[part]
            if self.estimator == "snips":
                denominator[part] = weights
        return [numerator], [denominator]

    def cut(self, weights: FloatArray) -> FloatArray:
        """Weights that count: cut at the limit, or 0 above it if a model stands for such rows."""
        if math.isinf(self.limit):
            return weights
        if self.estimator == "switch":
            return np.where(weights > self.limit, 0.0, weights)
        return np.minimum(weights, self.limit)


def _check_range(name: str, bounded: _BoundedColumn, *, zero: bool) -> None:
    """Refuse values that are no probabilities, and 0 unless it may be one."""
    column, low, high = bounded
    if low < 0 or (low == 0 and not zero) or high > 1:
        is_outside = (column < 0) | (column > 1)
        if not zero:
            is_outside |= column == 0
        place = int(np.argmax(is_outside))
        hint = (
            "" if zero else "; an action that the logging policy never takes cannot be in its log"
        )
        raise InputError(
            f"{name}, row {place}: found {column[place]:g}, expected a probability "
            f"{'from 0' if zero else 'above 0'} to 1{hint}"
        )


def _check_weights(target: FloatArray, logged: FloatArray) -> None:
    is_too_small = target > LARGEST * logged
    if is_too_small.any():
        place = int(np.argmax(is_too_small))
        raise InputError(
            f"logged_probability, row {place}: found {logged[place]:g}, too small: its weight is "
            f"above {LARGEST:g}; expected a probability, not its logarithm; leave such rows out"
        )


def influence(log: WeightedRows, value: float, norm: float) -> Iterator[FloatArray]:
    """Influence of each row on the estimate, in blocks. The standard error of their mean is the
    standard error of the estimate.
    """
    for part, raw, rewards in log.blocks():
        centred = rewards - value if log.estimator == "snips" else rewards
        influences = log.cut(raw) * centred
        if norm not in (0.0, 1.0):
            influences /= norm
        yield influences if log.baseline is None else influences + log.baseline[part]


def error_of_blocks(blocks: Iterator[FloatArray], n: int, codes: IntArray | None) -> float:
    """Standard error of the mean of rows that come in blocks; of clusters, from their totals."""
    if codes is not None:
        totals = np.zeros(int(codes.max()) + 1)
        start = 0
        sizes = np.bincount(codes)
        for block in blocks:
            totals += np.bincount(codes[start : start + block.size], block, totals.size)
            start += block.size
        centred = totals - sizes * (totals.sum() / n)
        return math.sqrt(float((centred * centred).sum()) * totals.size / (totals.size - 1)) / n
    # Means and squared deviations of blocks, joined without cancellation (Chan, Golub and LeVeque
    # 1979).
    count = 0
    mean = 0.0
    squares = 0.0
    for block in blocks:
        block_mean = float(block.mean())
        centred = block - block_mean
        change = block_mean - mean
        joined = count + block.size
        np.multiply(centred, centred, out=centred)
        squares += float(centred.sum()) + change * change * count * block.size / joined
        mean += change * block.size / joined
        count = joined
    return math.sqrt(squares / (n - 1) / n)


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


def normal_mean(value: float, error: float, level: float) -> ListMean:
    """A mean with its normal interval."""
    reach = error * float(ndtri((1 + level) / 2))
    return ListMean(value, error, (value - reach, value + reach))
