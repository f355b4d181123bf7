"""Prediction-powered estimates: a mean from a few human values and many values of a judge, with an honest interval."""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.judging.quantiles import t_quantile, z_quantile
from idealrank.judging.ratings import check_confidence, label_codes
from idealrank.measures.measure import number_option
from idealrank.measures.rules import checked

Quantile: TypeAlias = Literal["t", "z"]
_LARGEST = 1e100  # of a value: squares of larger ones leave the range of numbers
_ROUNDING = 1e-12  # a standard error below this share of the values is that of equal values


@dataclass(frozen=True)
class CorrectedMean:
    """A mean of human values, estimated with the help of a judge.

    Attributes
    ----------
    estimate, standard_error : float
        The corrected mean, and its standard error.
    interval : tuple of float
        Low and high.
    weight : float
        Weight of the judge, from 0 (the judge says nothing about the human) to 1.
    effective_labels : float
        Number of human values that alone would give this standard error; at least about `n_labelled`.
    n_labelled, n_judge_only : int
        Units with a human value, and units with the judge's alone.
    human_estimate, human_error : float
        Mean and standard error of the human values alone.
    human_interval : tuple of float
        Their interval.
    judge_estimate : float
        Mean of the judge over all units, without correction.
    n_clusters : int
        Clusters among the labelled units; `n_labelled` without clusters.
    df : float
        Degrees of freedom of the interval; infinite for a normal one.
    confidence : float
        Confidence level.
    raw_weight : float
        The weight before it was cut to [0, 1].

    Examples
    --------
    >>> found = correct([1.0, 0.0, 1.0, 0.0], [0.9, 0.1, 0.8, 0.3], [0.8, 0.9, 0.2, 0.7, 0.9, 0.8])
    >>> round(found.estimate, 3), found.effective_labels > found.n_labelled
    (0.69, True)
    """

    estimate: float
    standard_error: float
    interval: tuple[float, float]
    weight: float
    effective_labels: float
    n_labelled: int
    n_judge_only: int
    human_estimate: float
    human_error: float
    human_interval: tuple[float, float]
    judge_estimate: float
    n_clusters: int
    df: float
    confidence: float
    raw_weight: float

    @property
    def worth(self) -> float:
        """Return how many human values one value of the judge replaced here; 0 without values of the judge alone."""
        return (self.effective_labels - self.n_labelled) / self.n_judge_only if self.n_judge_only else 0.0

    def __str__(self) -> str:
        return (
            f"{self.estimate:.4g} [{self.interval[0]:.4g}, {self.interval[1]:.4g}] ({100 * self.confidence:g} %, {self.n_labelled} human "
            f"and {self.n_judge_only} other values of the judge, weight {self.weight:.2f}, worth {self.effective_labels:.1f} human values)"
        )


def correct(
    human: npt.ArrayLike,
    judge: npt.ArrayLike,
    judge_only: npt.ArrayLike,
    weight: float | None = None,
    clusters: Any = None,
    *,
    confidence: float = 0.95,
    quantile: Quantile = "t",
    ddof: int = 1,
) -> CorrectedMean:
    """Estimate the mean of human values from a few of them and many of a judge (PPI++).

    ``weight * mean(judge_only) + mean(human - weight * judge)``: the judge's mean where no human looked, corrected by its error where one
    did. The estimate is unbiased for every weight if the units with human values were chosen at random, whatever the judge's bias. For a
    difference of two systems, give the values of B less the values of A: the pairing is kept.

    Parameters
    ----------
    human, judge : array, shape (n,)
        Values of the units that a human labelled, and the judge's values of the same units.
    judge_only : array, shape (N,)
        The judge's values of the other units; may be empty.
    weight : float, optional
        Weight of the judge, in [0, 1]; by default its optimum ``cov(human, judge) / ((1 + n/N) var(judge))``, with the covariance of the
        labelled units divided by n and the variance of all units by their number less 1, cut to [0, 1].
    clusters : array of labels, shape (n + N,), or pair of arrays, shapes (n,) and (N,), optional
        Cluster of each labelled and of each other unit, such as the query of a pair; one cluster may have units of both kinds. Pairs of one
        query are not independent: without clusters the interval is far too narrow.
    confidence : float
        Confidence level.
    quantile : {"t", "z"}
        ``t`` with n - 1 degrees (fewest clusters of the two kinds - 1), or normal as in `ppi-python`: too narrow for few values.
    ddof : {1, 0}
        Divide variances by n - 1, or by n as `ppi-python` does. Clustered variances do not depend on it.

    Returns
    -------
    CorrectedMean
        Estimate, standard error and interval, the weight, and the number of human values that the estimate is worth.

    Raises
    ------
    InputError
        The arrays differ in length, hold a value that is not finite, or there are fewer than two labelled units or clusters.
    OptionError
        The weight is outside [0, 1], or another option is unknown.

    References
    ----------
    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Prediction-powered inference, Science 382. Angelopoulos, Duchi and Zrnic
    (2023), PPI++: Efficient prediction-powered inference, arXiv 2311.01453.

    Examples
    --------
    >>> human, judge = [0.5, 0.7, 0.9, 0.4], [0.6, 0.8, 0.9, 0.6]
    >>> found = correct(human, judge, [0.7, 0.5, 0.9, 0.8, 0.6, 0.7, 0.8, 0.9])
    >>> round(found.estimate, 4), round(found.weight, 4)
    (0.6358, 0.8649)
    >>> correct(human, judge, []).estimate == sum(human) / 4
    True
    """
    y, f, other = (finite_values(name, given) for name, given in (("human", human), ("judge", judge), ("judge_only", judge_only)))
    if y.size != f.size:
        raise InputError(f"judge: found {f.size} values, expected one for each of the {y.size} human values")
    if y.size < 2:
        raise InputError(f"human: found {y.size} values, expected at least 2; one value shows no variation")
    checked("quantile", quantile, Quantile)
    if ddof not in (0, 1):
        raise OptionError(f"ddof={ddof!r}: expected 1 or 0")
    check_confidence(confidence)
    raw = best_weight(y, f, other) if weight is None else number_option("weight", weight, 0, 1)
    used = min(max(raw, 0.0), 1.0) if other.size else 0.0
    groups = _clusters(clusters, y.size, other.size)
    estimate = float(used * (other.mean() if other.size else 0.0) + (y - used * f).mean())
    variance = _variance(y - used * f, used * other if used else other[:0], groups, ddof)
    if used and other.size == 1:  # one value has no variance of its own: that of all values of the judge
        variance += used**2 * float(np.concatenate([f, other]).var(ddof=ddof))
    alone = _variance(y, other[:0], groups, ddof)
    error, human_error = math.sqrt(variance), math.sqrt(alone)
    df, n_clusters = _degrees(y.size, groups, with_judge=used > 0)
    human_df, _ = _degrees(y.size, groups, with_judge=False)
    reach, human_reach = (
        one * (t_quantile(confidence, free) if quantile == "t" else z_quantile(confidence))
        for one, free in ((error, df), (human_error, human_df))
    )
    mean = float(y.mean())
    effective = y.size * alone / variance if variance > 0 else float(y.size) if alone == 0 else math.inf
    return CorrectedMean(
        estimate, error, (estimate - reach, estimate + reach), used, effective, y.size, other.size,
        mean, human_error, (mean - human_reach, mean + human_reach), float(np.concatenate([f, other]).mean()),
        n_clusters, float(df) if quantile == "t" else math.inf, confidence, raw,
    )  # fmt: skip


def finite_values(name: str, given: npt.ArrayLike) -> FloatArray:
    """Values of units as a float array.

    Raises
    ------
    InputError
        There is not one finite value a unit, or one whose square is too large to be added.

    Examples
    --------
    >>> finite_values("human", [1, 0])
    array([1., 0.])
    """
    try:
        found = np.asarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: found what is no number ({error}), expected finite values") from None
    if found.ndim != 1:
        raise InputError(f"{name}: found shape {found.shape}, expected one value a unit")
    usable = np.isfinite(found) & (np.abs(found) <= _LARGEST)
    if not usable.all():
        place = int(np.argmin(usable))
        expected = "a finite value" if not np.isfinite(found[place]) else f"at most {_LARGEST:g} in size"
        raise InputError(f"{name}, unit {place}: found {found[place]}, expected {expected}; leave such units out")
    return found


def best_weight(human: FloatArray, judge: FloatArray, judge_only: FloatArray) -> float:
    """Weight of the judge with the smallest variance, before it is cut to [0, 1]; 0 for a constant judge.

    Examples
    --------
    >>> best_weight(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    0.375
    """
    if not judge_only.size:
        return 0.0
    spread = np.concatenate([judge, judge_only]).var(ddof=1)
    covariance = ((human - human.mean()) * (judge - judge.mean())).mean()
    scale = max(float(np.abs(judge).max()), float(np.abs(judge_only).max()))
    return float(covariance / ((1 + human.size / judge_only.size) * spread)) if spread > (_ROUNDING * scale) ** 2 else 0.0


def _clusters(clusters: Any, n: int, n_other: int) -> tuple[IntArray, IntArray] | None:
    """Cluster of each labelled and of each other unit, by one numbering."""
    if clusters is None:
        return None
    parts = clusters if isinstance(clusters, tuple) and len(clusters) == 2 else None
    labels = np.concatenate([np.asarray(part).reshape(-1) for part in parts]) if parts is not None else np.asarray(clusters)
    sizes = None if parts is None else tuple(np.asarray(part).size for part in parts)
    if labels.shape != (n + n_other,) or (sizes is not None and sizes != (n, n_other)):
        found = sizes if sizes is not None else labels.shape
        raise InputError(f"clusters: found sizes {found}, expected one label for each of the {n} labelled and {n_other} other units")
    codes = label_codes(labels)
    if len(set(codes[:n].tolist())) < 2:
        raise InputError("clusters: found one cluster of labelled units, expected at least 2; one cluster shows no variation")
    return codes[:n], codes[n:]


def _variance(residuals: FloatArray, others: FloatArray, groups: "tuple[IntArray, IntArray] | None", ddof: int) -> float:
    """Variance of the mean of the residuals plus the mean of the others; 0 where it is rounding alone."""
    parts = [values for values in (residuals, others) if values.size]
    if groups is None:
        found = sum(float(values.var(ddof=min(ddof, values.size - 1)) / values.size) for values in parts)
    else:
        found = _clustered_variance(parts, groups)
    return found if found > (_ROUNDING * max(float(np.abs(values).max()) for values in parts)) ** 2 else 0.0


def _clustered_variance(parts: list[FloatArray], groups: tuple[IntArray, IntArray]) -> float:
    """Variance of a sum of means by the totals of clusters; a cluster with units of both kinds counts with their covariance."""
    totals = np.zeros(1 + max(int(codes.max()) for codes in groups if codes.size))
    for values, codes in zip(parts, groups, strict=False):
        size = np.unique(codes).size
        if size < 2:
            raise InputError("clusters: found one cluster of units without a human value, expected at least 2")
        totals += math.sqrt(size / (size - 1)) / values.size * np.bincount(codes, values - values.mean(), totals.size)
    return float((totals**2).sum())


def _degrees(n: int, groups: "tuple[IntArray, IntArray] | None", *, with_judge: bool) -> tuple[int, int]:
    """Degrees of freedom of t, and the number of clusters of labelled units."""
    if groups is None:
        return n - 1, n
    sizes = [np.unique(codes).size for codes in groups if codes.size]
    return min(sizes if with_judge else sizes[:1]) - 1, sizes[0]
