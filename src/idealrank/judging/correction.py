"""Prediction-powered estimates: a mean from a few human values and many values of a judge, with an
honest interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.judging.ratings import check_confidence, label_codes, t_quantile, z_quantile
from idealrank.measures.measure import number_option
from idealrank.measures.rules import checked

Quantile: TypeAlias = Literal["t", "z"]
Tuning: TypeAlias = Literal["left-out", "ppi++"]
Units: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]
MIN_DISAGREEMENTS = 1
"""Labelled units on which human and judge must differ before a weight of the judge is tuned."""
UNSEEN_ERRORS = 2
"""Largest errors, one in each direction, that are added to the errors which the labelled units
show.
"""
# Human values that must differ from the most common one: with fewer, no interval from them contains
# the mean as often as its level says.
_COMMON = 5
_LARGEST = 1e100  # size of a value: the squares of larger values leave the range of floats
# A standard error below this share of the values is the rounding of equal values.
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class CorrectedEstimate:
    """Estimate from the grades of a judge and of people, by queries or by documents."""

    estimate: float
    standard_error: float
    interval: tuple[float, float]
    weight: float
    effective_labels: float
    n_labelled: int
    human_estimate: float
    human_error: float
    judge_estimate: float
    df: float
    confidence: float


@dataclass(frozen=True, kw_only=True)
class CorrectedMean(CorrectedEstimate):
    """A mean of human values, estimated with the help of a judge.

    Attributes
    ----------
    estimate, standard_error : float
        The corrected mean, and its standard error.
    interval : tuple of float
        Low and high.
    weight : float
        Weight of the judge, from 0 (the judge says nothing about the human) to 1; the mean over the
        labelled units.
    effective_labels : float
        Number of human values that alone would give this standard error, at most `n_labelled` plus
        `n_judge_only`; NaN if all human values are equal, and the judge has a weight.
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
    n_disagreements : int
        Labelled units (clusters, if there are any) on which human and judge differ.
    refused : bool
        True if the judge has no weight because there are fewer than `MIN_DISAGREEMENTS`.
    largest_error : float
        Error of the judge on one unit that the standard error allows for, seen or not.
    n_uncommon : int
        Labelled units whose human value differs from the most common one.

    Examples
    --------
    >>> mean = correct([1.0, 0.0, 1.0, 0.0], [0.9, 0.1, 0.8, 0.3], [0.8, 0.9, 0.2, 0.7, 0.9, 0.8])
    >>> round(mean.estimate, 3), mean.n_disagreements, mean.refused
    (0.541, 4, False)
    """

    n_judge_only: int
    human_interval: tuple[float, float]
    n_clusters: int
    raw_weight: float
    n_disagreements: int
    refused: bool
    largest_error: float
    n_uncommon: int

    @property
    def worth(self) -> float:
        """Return how many human values one value of the judge replaced here, at most 1; NaN if all
        human values are equal.
        """
        if not self.n_judge_only:
            return 0.0
        return (self.effective_labels - self.n_labelled) / self.n_judge_only

    @property
    def is_rare(self) -> bool:
        """True if nearly all human values are equal, so that no interval here covers as it says.

        Fewer than 5 values (half of the values, if there are fewer than 10) differ from the most
        common one, as with rare relevant documents. Of a share of 5 %, intervals of level 95 %
        contain the true value in 42 % of cases with 10 labels, and 73 % with 25.
        """
        return self.n_uncommon < min(_COMMON, self.n_labelled / 2)

    def __str__(self) -> str:
        plural = "" if self.n_disagreements == 1 else "s"
        return (
            f"{self.estimate:.4g} [{self.interval[0]:.4g}, {self.interval[1]:.4g}] "
            f"({100 * self.confidence:g} %, {self.n_labelled} human and {self.n_judge_only} other "
            f"values of the judge, {self.n_disagreements} disagreement{plural}, weight "
            f"{self.weight:.2f}, worth {self.effective_labels:.1f} human values)"
        )


def correct(
    human: npt.ArrayLike,
    judge: npt.ArrayLike,
    judge_only: npt.ArrayLike,
    weight: float | None = None,
    clusters: Any = None,
    *,
    tuning: Tuning = "left-out",
    largest_error: float | None = None,
    confidence: float = 0.95,
    quantile: Quantile = "t",
    ddof: int = 1,
) -> CorrectedMean:
    """Estimate the mean of human values from a few of them and many of a judge (PPI++).

    ``mean(human - w (judge - mean(judge_only)))``: the judge's mean where no human looked,
    corrected by its error where one did. The units with human values must be chosen at random. The
    estimate is then unbiased, however bad the judge is, since the weight w of a unit is tuned on
    the other units. For a difference of two systems, give the values of B less the values of A: the
    pairing is kept.

    Parameters
    ----------
    human, judge : array, shape (n,)
        Values of the units that a human labelled, and the judge's values of the same units.
    judge_only : array, shape (N,)
        The judge's values of the other units; may be empty.
    weight : float, optional
        Weight of the judge, in [0, 1], of every unit. By default it is tuned.
    clusters : array of labels, shape (n + N,), or pair of arrays, shapes (n,) and (N,), optional
        Cluster of each labelled and of each other unit, such as the query of a pair; one cluster
        may have units of both kinds. Pairs of one query are not independent: without clusters the
        interval is far too narrow.
    tuning : {"left-out", "ppi++"}
        ``left-out``: the weight of a unit has the smallest variance over all labelled units outside
        its cluster, errors that were not seen included; 0 if human and judge differ on fewer than
        `MIN_DISAGREEMENTS` units. ``ppi++``: as published, one weight
        ``cov(human, judge) / ((1 + n/N) var(judge))`` of the same units that it is applied to, and
        no allowance for unseen errors. It is biased and covers too little with few labels.
    largest_error : float, optional
        Largest error of the judge on one unit (on the mean of a cluster, if there are clusters), at
        least 0. By default the range of all these values, and 0 with ``ppi++``.
    confidence : float
        Confidence level.
    quantile : {"t", "z"}
        ``t`` with n - 1 degrees (fewest clusters of the two kinds - 1), or normal as in
        `ppi-python`: too narrow for few values.
    ddof : {1, 0}
        Divide variances by n - 1, or by n as `ppi-python` does. Clustered variances do not depend
        on it.

    Returns
    -------
    CorrectedMean
        Estimate, standard error and interval, the weight, and the number of human values that the
        estimate is worth.

    Raises
    ------
    InputError
        The arrays differ in length, hold a value that is not finite, or there are fewer than two
        labelled units or clusters.
    OptionError
        The weight is outside [0, 1], or another option is unknown or impossible.

    Notes
    -----
    Labelled units do not show the rare large errors of a judge. The variance therefore counts two
    more units, with the largest error L in either direction: ``2 (w L / n)^2`` is added. Without a
    disagreement in n labels of 0 or 1, the interval of level 95 % reaches about 3 / n, as the rule
    of three does. `CorrectedMean.is_rare` is True if even the interval of the human values alone
    covers too little. The page on label worth has the coverage.

    References
    ----------
    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Prediction-powered inference, Science
    382. Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient prediction-powered inference, arXiv
    2311.01453. Zrnic and Candes (2024), Cross-prediction-powered inference, PNAS 121. Agresti and
    Coull (1998), Approximate is better than "exact" for interval estimation of binomial
    proportions, The American Statistician 52.

    Examples
    --------
    >>> human, judge = [0.5, 0.7, 0.9, 0.4], [0.6, 0.8, 0.9, 0.6]
    >>> mean = correct(human, judge, [0.7, 0.5, 0.9, 0.8, 0.6, 0.7, 0.8, 0.9])
    >>> round(mean.estimate, 4), round(mean.weight, 4)
    (0.6293, 0.1452)
    >>> correct(human, judge, []).estimate == sum(human) / 4
    True
    """
    options = CorrectionOptions(
        weight=weight,
        tuning=tuning,
        largest_error=largest_error,
        confidence=confidence,
        quantile=quantile,
        ddof=ddof,
    )
    return correct_together([(human, judge, judge_only)], clusters, options)[0]


@dataclass(frozen=True, kw_only=True)
class CorrectionOptions:
    """Options of a correction; see `correct`."""

    weight: float | None = None
    tuning: Tuning = "left-out"
    largest_error: float | None = None
    confidence: float = 0.95
    quantile: Quantile = "t"
    ddof: int = 1

    def __post_init__(self) -> None:
        checked("quantile", self.quantile, Quantile)
        checked("tuning", self.tuning, Tuning)
        if self.ddof not in (0, 1):
            raise OptionError(f"ddof={self.ddof!r}: expected 1 or 0")
        check_confidence(self.confidence)
        if self.weight is not None:
            number_option("weight", self.weight, 0, 1)
        if self.largest_error is not None:
            number_option("largest_error", self.largest_error, 0, _LARGEST)

    def allowance(self, values: FloatArray) -> float:
        """Return the largest error of the judge that is allowed for, by default the range of the
        values.
        """
        if self.largest_error is not None:
            return float(self.largest_error)
        return 0.0 if self.tuning == "ppi++" else float(np.ptp(values))

    def multiple(self, df: float) -> float:
        """Return the standard errors from the estimate to an end of the interval."""
        return (
            t_quantile(self.confidence, df) if self.quantile == "t" else z_quantile(self.confidence)
        )


def correct_together(
    units: Sequence[Units], clusters: Any, options: CorrectionOptions
) -> list[CorrectedMean]:
    """Correct several means over the same units, all by the weights that are tuned for the
    first.

    A difference of two means and the two means themselves then add up.
    """
    samples = [_checked_units(*columns) for columns in units]
    first = samples[0]
    groups = _clusters(clusters, first.human.size, first.judge_only.size)
    chosen = _chosen_weights(first, groups, options)
    return [_corrected(sample, chosen, groups, options) for sample in samples]


class _Sample(NamedTuple):
    """Values of the labelled units, and the judge's values of the others."""

    human: FloatArray
    judge: FloatArray
    judge_only: FloatArray


class _Groups(NamedTuple):
    """Cluster of each labelled unit and of each other unit, by one numbering."""

    labelled: IntArray
    other: IntArray


class _Weights(NamedTuple):
    """Weights of the judge, and whether it is refused for lack of disagreements."""

    of_unit: FloatArray  # of each labelled unit, cut to [0, 1]
    raw: float  # their mean before they are cut
    refused: bool


def _checked_units(
    human: npt.ArrayLike, judge: npt.ArrayLike, judge_only: npt.ArrayLike
) -> _Sample:
    sample = _Sample(
        finite_values("human", human),
        finite_values("judge", judge),
        finite_values("judge_only", judge_only),
    )
    n = sample.human.size
    if sample.judge.size != n:
        raise InputError(
            f"judge: found {sample.judge.size} values, expected one for each of the {n} human "
            f"values"
        )
    if n < 2:
        raise InputError(
            f"human: found {n} values, expected at least 2; one value shows no variation"
        )
    return sample


def _chosen_weights(
    sample: _Sample, groups: _Groups | None, options: CorrectionOptions
) -> _Weights:
    """Choose the weight of each labelled unit: given, tuned, or 0 for a judge without disagreements
    or without other units.
    """
    n = sample.human.size
    if not sample.judge_only.size:
        return _Weights(np.zeros(n), options.weight or 0.0, refused=False)
    if options.weight is not None:
        return _Weights(np.full(n, float(options.weight)), float(options.weight), refused=False)
    if options.tuning == "ppi++":
        raw = np.full(n, best_weight(*sample))
    elif _disagreements(sample, groups) < MIN_DISAGREEMENTS:
        return _Weights(np.zeros(n), 0.0, refused=True)
    else:
        raw = _tuned_weights(sample, groups, options)
    return _Weights(np.clip(raw, 0.0, 1.0), float(raw.mean()), refused=False)


def _tuned_weights(
    sample: _Sample, groups: _Groups | None, options: CorrectionOptions
) -> FloatArray:
    """Tune the weight of each labelled unit on the others. A cluster is one unit; its value is its
    total over the mean size of a cluster.
    """
    largest = options.allowance(_unit_values(sample, groups))
    if groups is None:
        return left_out_weights(sample.human, sample.judge, sample.judge_only.size, largest)
    code = np.unique(groups.labelled, return_inverse=True)[1].reshape(-1)
    mean_size = code.size / (code.max() + 1)
    human = np.bincount(code, sample.human - sample.human.mean()) / mean_size
    judge = np.bincount(code, sample.judge - sample.judge.mean()) / mean_size
    return left_out_weights(human, judge, np.unique(groups.other).size, largest)[code]


def _unit_values(sample: _Sample, groups: _Groups | None) -> FloatArray:
    """Return the values of human and judge: of every unit, or the means of clusters."""
    if groups is None:
        return np.concatenate(sample)
    means = []
    clusters = (groups.labelled, groups.labelled, groups.other)
    for values, codes in zip(sample, clusters, strict=True):
        code = np.unique(codes, return_inverse=True)[1].reshape(-1)
        means.append(np.bincount(code, values) / np.bincount(code))
    return np.concatenate(means)


def _disagreements(sample: _Sample, groups: _Groups | None) -> int:
    """Count the labelled units (or clusters) on which human and judge differ."""
    scale = max(float(np.abs(sample.human).max()), float(np.abs(sample.judge).max()))
    differ = np.abs(sample.human - sample.judge) > _ROUNDING * scale
    return int(differ.sum() if groups is None else np.unique(groups.labelled[differ]).size)


def _corrected(
    sample: _Sample, chosen: _Weights, groups: _Groups | None, options: CorrectionOptions
) -> CorrectedMean:
    """Compute estimate and interval by given weights of the units."""
    human, judge, judge_only = sample
    n = human.size
    weight = float(chosen.of_unit.mean())
    # Left-out weights differ between units. About the other units' mean, their spread does not
    # count twice: the residuals are errors of prediction, and the mean of the others its own error.
    judge_mean = judge_only.mean() if judge_only.size else 0.0
    residuals = human - chosen.of_unit * (judge - judge_mean)
    no_units = judge_only[:0]
    # a judge without weight adds no units
    weighted = weight * judge_only if weight else no_units
    variance = _variance(residuals, weighted, groups, options.ddof)
    judge_values = np.concatenate([judge, judge_only])
    # A single other value has no variance of its own: take that of all values of the judge.
    if weight and judge_only.size == 1:
        variance += weight**2 * float(judge_values.var(ddof=options.ddof))
    df, n_clusters = _degrees(n, groups, with_judge=weight > 0)
    largest = options.allowance(_unit_values(sample, groups))
    variance += UNSEEN_ERRORS * (weight * largest / n_clusters) ** 2
    estimate = float(residuals.mean())
    error = math.sqrt(variance)
    reach = error * options.multiple(df)

    human_variance = _variance(human, no_units, groups, options.ddof)
    human_df, _ = _degrees(n, groups, with_judge=False)
    human_mean = float(human.mean())
    human_error = math.sqrt(human_variance)
    human_reach = human_error * options.multiple(human_df)
    return CorrectedMean(
        estimate=estimate,
        standard_error=error,
        interval=(estimate - reach, estimate + reach),
        weight=weight,
        effective_labels=_effective_labels(
            human_variance=human_variance,
            variance=variance,
            n_human=n,
            n_all=n + judge_only.size,
        ),
        n_labelled=n,
        n_judge_only=judge_only.size,
        human_estimate=human_mean,
        human_error=human_error,
        human_interval=(human_mean - human_reach, human_mean + human_reach),
        judge_estimate=float(judge_values.mean()),
        n_clusters=n_clusters,
        df=float(df) if options.quantile == "t" else math.inf,
        confidence=options.confidence,
        raw_weight=chosen.raw,
        n_disagreements=_disagreements(sample, groups),
        refused=chosen.refused,
        largest_error=largest,
        n_uncommon=n - int(np.unique(human, return_counts=True)[1].max()),
    )


def _effective_labels(*, human_variance: float, variance: float, n_human: int, n_all: int) -> float:
    """Return the human values that alone would have this variance: a value of the judge is worth
    one at most.
    """
    if human_variance == 0:  # equal human values have no error that can be compared
        return math.nan if variance else float(n_human)
    if variance == 0:
        return float(n_all)
    return min(n_human * human_variance / variance, float(n_all))


def finite_values(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return the values of units as a float array; refuse values that are not finite."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name}: found what is no number ({error}), expected finite values"
        ) from None
    if array.ndim != 1:
        raise InputError(f"{name}: found shape {array.shape}, expected one value a unit")
    usable = np.isfinite(array) & (np.abs(array) <= _LARGEST)
    if not usable.all():
        place = int(np.argmin(usable))
        is_finite = np.isfinite(array[place])
        expected = f"at most {_LARGEST:g} in size" if is_finite else "a finite value"
        raise InputError(
            f"{name}, unit {place}: found {array[place]}, expected {expected}; leave such units out"
        )
    return array


def best_weight(human: FloatArray, judge: FloatArray, judge_only: FloatArray) -> float:
    """Return the weight of the judge with the smallest variance, before it is cut to [0, 1]; 0 for
    a constant judge.
    """
    if not judge_only.size:
        return 0.0
    spread = np.concatenate([judge, judge_only]).var(ddof=1)
    scale = max(float(np.abs(judge).max()), float(np.abs(judge_only).max()))
    if not spread > (_ROUNDING * scale) ** 2:
        return 0.0
    covariance = ((human - human.mean()) * (judge - judge.mean())).mean()
    return float(covariance / ((1 + human.size / judge_only.size) * spread))


def left_out_weights(
    human: FloatArray, judge: FloatArray, n_other: int, largest_error: float
) -> FloatArray:
    """Return the weight of each labelled unit that has the smallest variance over the others."""
    y = human - human.mean()
    f = judge - judge.mean()
    n = y.size

    def outside(values: FloatArray) -> FloatArray:
        """Return the mean over the other units, for each unit."""
        return np.asarray((values.sum() - values) / (n - 1), np.float64)

    covariance = outside(y * f) - outside(y) * outside(f)
    variance = outside(f * f) - outside(f) ** 2
    spread = (1 + n / n_other) * variance + UNSEEN_ERRORS * largest_error**2 / n
    rounding = (_ROUNDING * float(np.abs(judge).max())) ** 2
    return np.asarray(np.divide(covariance, spread, out=np.zeros(n), where=variance > rounding))


def _clusters(clusters: Any, n: int, n_other: int) -> _Groups | None:
    """Return the clusters of the labelled and of the other units, from one array or a pair."""
    if clusters is None:
        return None
    sizes: tuple[int, ...]
    expected: tuple[int, ...]
    if isinstance(clusters, tuple) and len(clusters) == 2:
        of_labelled, of_other = (np.asarray(column).reshape(-1) for column in clusters)
        labels = np.concatenate([of_labelled, of_other])
        sizes = (of_labelled.size, of_other.size)
        expected = (n, n_other)
    else:
        labels = np.asarray(clusters)
        sizes = labels.shape
        expected = (n + n_other,)
    if sizes != expected:
        raise InputError(
            f"clusters: found sizes {sizes}, expected one label for each of the {n} labelled and "
            f"{n_other} other units"
        )
    codes = label_codes(labels)
    if len(set(codes[:n].tolist())) < 2:
        raise InputError(
            "clusters: found one cluster of labelled units, expected at least 2; one cluster shows "
            "no variation"
        )
    return _Groups(codes[:n], codes[n:])


def _variance(
    residuals: FloatArray, others: FloatArray, groups: _Groups | None, ddof: int
) -> float:
    """Return the variance of the mean of the residuals plus the mean of the others; 0 where it is
    rounding alone.
    """
    terms = [residuals, others] if others.size else [residuals]
    if groups is None:
        variance = sum(
            float(values.var(ddof=min(ddof, values.size - 1)) / values.size) for values in terms
        )
    else:
        variance = _clustered_variance(terms, groups)
    largest = max(float(np.abs(values).max()) for values in terms)
    return variance if variance > (_ROUNDING * largest) ** 2 else 0.0


def _clustered_variance(terms: list[FloatArray], groups: _Groups) -> float:
    """Return the variance of a sum of means by the totals of clusters; a cluster with units of both
    kinds counts with their covariance.
    """
    # without the others, there is one term: the residuals of the labelled units
    totals = np.zeros(1 + max(int(codes.max()) for codes in groups if codes.size))
    for values, codes in zip(terms, groups, strict=False):
        size = np.unique(codes).size
        if size < 2:
            raise InputError(
                "clusters: found one cluster of units without a human value, expected at least 2"
            )
        of_cluster = np.bincount(codes, values - values.mean(), totals.size)
        totals += math.sqrt(size / (size - 1)) / values.size * of_cluster
    return float((totals**2).sum())


def _degrees(n: int, groups: _Groups | None, *, with_judge: bool) -> tuple[int, int]:
    """Return the degrees of freedom of t, and the number of clusters of labelled units."""
    if groups is None:
        return n - 1, n
    sizes = [np.unique(codes).size for codes in groups if codes.size]
    return min(sizes if with_judge else sizes[:1]) - 1, sizes[0]
