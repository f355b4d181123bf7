"""Sums of weighted rewards over the rows of a log, and why intervals of such weights cannot be
trusted.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from idealrank.clicks.weighted_rows import WeightedRows, influence
from idealrank.data.types import FloatArray

# Below these, normal intervals of weighted means are known to be too short; see the reference page
# for the simulation.
FEWEST_EFFECTIVE = 100.0
LARGEST_SHARE = 0.1
# Standard errors of the mean weight from 1, its value for the right logged probabilities; so many
# are no accident.
_WEIGHT_ERRORS = 3.0
# Standard errors by which rows above the largest weight must contradict a model for a caution.
_LOST_ERRORS = 3.0
_LOST_SHARE = 0.25  # of the standard error: most that cut weights may take without a model
_MAXIMA = ("largest", "largest_reward")  # fields of `WeightSums`; others are sums


@dataclass(frozen=True, kw_only=True)
class WeightSums:
    """Sums over rows, of cut weights unless the name says raw; `lost` is what the cut takes from
    the weighted rewards.
    """

    weights: float
    squares: float
    weighted: float
    raw: float
    raw_squares: float
    largest: float
    cut: int
    rewards: float
    largest_reward: float
    lost: float = 0.0
    lost_squares: float = 0.0

    def divisor(self, estimator: str, n: int) -> float:
        """Divisor of the weighted rewards of n rows."""
        return self.weights if estimator == "snips" else float(n)

    def ratio(self, estimator: str, n: int) -> float:
        """Mean of the weighted rewards; 0 without weight, when the policy would take no row."""
        divisor = self.divisor(estimator, n)
        return self.weighted / divisor if divisor else 0.0

    def influences(self, log: WeightedRows) -> Iterator[FloatArray]:
        """Influence of each row of these sums on their ratio, in blocks."""
        norm = self.divisor(log.estimator, log.n) / log.n
        return influence(log, self.ratio(log.estimator, log.n), norm)

    def plus(self, other: "WeightSums") -> "WeightSums":
        """Sums over the rows of both."""
        sums = {}
        for name in (column.name for column in fields(self)):
            value = getattr(self, name)
            other_value = getattr(other, name)
            sums[name] = max(value, other_value) if name in _MAXIMA else value + other_value
        return WeightSums(**sums)


def sums_of_rows(log: WeightedRows) -> WeightSums:
    """Sum the rows of a log."""
    blocks = [_sums_of_block(log, raw, rewards) for _, raw, rewards in log.blocks()]
    sums: dict[str, Any] = {}
    for name in (column.name for column in fields(WeightSums)):
        values = [getattr(block, name) for block in blocks]
        sums[name] = max(values, default=0.0) if name in _MAXIMA else math.fsum(values)
    return WeightSums(**sums | {"cut": int(sums["cut"])})


def _sums_of_block(log: WeightedRows, raw: FloatArray, rewards: FloatArray) -> WeightSums:
    """Sum the rows of a block, in the order of NumPy, not of BLAS, which depends on the
    processor.
    """
    weights = log.cut(raw)
    products = weights * rewards
    total = float(weights.sum())
    weighted = float(products.sum())
    largest = float(raw.max())
    raw_total = total
    cut = 0
    lost = np.zeros(1)
    if weights is not raw:
        lost = (raw - weights) * rewards
        raw_total = float(raw.sum())
        cut = int(np.count_nonzero(raw > log.limit)) if largest > log.limit else 0
    absolute = products
    absolute_total = weighted
    if log.is_negative:
        absolute = np.abs(products)
        absolute_total = float(absolute.sum())
    largest_reward = float(absolute.max())

    # From here on, the memory of the products holds the squares.
    squares = raw_squares = float(np.multiply(weights, weights, out=products).sum())
    if weights is not raw:
        raw_squares = float(np.multiply(raw, raw, out=products).sum())
    return WeightSums(
        weights=total,
        squares=squares,
        weighted=weighted,
        raw=raw_total,
        raw_squares=raw_squares,
        largest=largest,
        cut=cut,
        rewards=absolute_total,
        largest_reward=largest_reward,
        lost=float(lost.sum()),
        lost_squares=float((lost * lost).sum()),
    )


def cautions_of(
    sums: WeightSums,
    n: int,
    error: float,
    effective: float,
    share: float,
    n_clusters: int,
    *,
    has_model: bool,
) -> tuple[str, ...]:
    """Why an interval of these weights cannot be trusted."""
    cautions = []
    mean = sums.raw / n
    spread = math.sqrt(max(sums.raw_squares / n - mean**2, 0.0) / n)
    if abs(mean - 1) > _WEIGHT_ERRORS * spread and abs(mean - 1) > 1e-9:
        cautions.append(
            f"the mean weight is {mean:.4g}, not 1 (standard error {spread:.2g}): the logged "
            "probabilities are wrong, or the logging policy never takes actions of the target "
            "policy"
        )
    if min(effective, n_clusters) < FEWEST_EFFECTIVE:
        cautions.append(
            f"{n:,} rows are worth {min(effective, n_clusters):.0f} of equal weight, fewer than "
            f"{FEWEST_EFFECTIVE:.0f}"
        )

    if sums.rewards == 0 and not has_model:
        cautions.append(
            "no row has a reward with a weight above 0: an interval without width says nothing"
        )
    if share > LARGEST_SHARE:
        cautions.append(
            f"one row has {100 * share:.0f} % of all weighted rewards, more than "
            f"{100 * LARGEST_SHARE:.0f} %"
        )

    # What a model predicts wrongly has any sign; what is cut from rewards is a bias, whatever its
    # error.
    if has_model and abs(sums.lost) > _LOST_ERRORS * math.sqrt(sums.lost_squares):
        cautions.append(
            "rows above the largest weight differ from the model, which stands alone there, by "
            f"{sums.lost / n:+.3g} in the value: the interval misses the truth (coverage 0 % in "
            "simulated logs of a poor model)"
        )
    if not has_model and abs(sums.lost) / n > _LOST_SHARE * error:
        cautions.append(
            f"{sums.cut:,} weights are cut, which takes {sums.lost / n:.3g} from the value: the "
            "interval misses the truth (coverage 0 % in simulated logs)"
        )
    return tuple(cautions)
