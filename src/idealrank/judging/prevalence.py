"""Share of relevant documents from a judge's yes and no, corrected by its errors (Rogan and
Gladen).
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError
from idealrank.judging.ratings import (
    check_confidence,
    grade_array,
    label_codes,
    t_quantile,
    z_quantile,
)
from idealrank.measures.rules import checked

ShareInterval: TypeAlias = Literal["smoothed", "delta"]


@dataclass(frozen=True, kw_only=True)
class CorrectedShare:
    """A share of relevant units, corrected by the errors of a judge.

    Attributes
    ----------
    estimate : float
        Share of relevant units, in [0, 1].
    standard_error : float
        Standard error before the interval is cut to [0, 1].
    interval : tuple of float
        Low and high, in [0, 1].
    judge_share : float
        Share of yes of the judge among the units outside the calibration.
    specificity, sensitivity : float
        Share of the judge's no where the human said no, and of its yes where the human said yes.
    n_calibration, n_judge_only : int
        Numbers of units.
    confidence : float
        Confidence level.

    Examples
    --------
    >>> share = corrected_share([1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0], [1, 0, 0, 1])
    >>> round(share.estimate, 4), share.specificity
    (0.75, 1.0)
    """

    estimate: float
    standard_error: float
    interval: tuple[float, float]
    judge_share: float
    specificity: float
    sensitivity: float
    n_calibration: int
    n_judge_only: int
    confidence: float


def corrected_share(
    human: npt.ArrayLike,
    judge: npt.ArrayLike,
    judge_only: npt.ArrayLike,
    *,
    clusters: Any = None,
    confidence: float = 0.95,
    interval: ShareInterval = "smoothed",
) -> CorrectedShare:
    """Estimate the share of relevant units outside a calibration sample, from a judge's yes and no.

    ``(p + q0 - 1) / (q0 + q1 - 1)``, with p the judge's share of yes, q0 its specificity and q1 its
    sensitivity. It needs errors that do not depend on anything but relevance; `correct` needs a
    random sample alone, and is usually narrower.

    Parameters
    ----------
    human, judge : array of 0 and 1, shape (n,)
        Labels of the calibration sample; it may be chosen by the human's label, since the share in
        it is not used.
    judge_only : array of 0 and 1, shape (N,)
        The judge's labels of the other units, of which the share is estimated.
    clusters : pair of arrays of labels, shapes (n,) and (N,), optional
        Cluster of each unit, such as its query. The standard error then leaves out one cluster at a
        time, and the interval uses t.
    confidence : float
        Confidence level.
    interval : {"smoothed", "delta"}
        Without clusters: smoothed counts and a shift, which hold the level for small samples; or
        the plain delta method.

    Returns
    -------
    CorrectedShare
        Estimate and interval, cut to [0, 1].

    Raises
    ------
    InputError
        A label is neither 0 nor 1, the calibration has one kind of label alone, or sensitivity and
        specificity add up to 1 or less: such a judge says no more than a coin, and no share follows
        from it.

    References
    ----------
    Rogan and Gladen (1978), Estimating prevalence from the results of a screening test, American
    Journal of Epidemiology 107; Lee et al. (2025), arXiv 2511.21140, for the smoothed interval.

    Examples
    --------
    >>> human, judge = [1] * 20 + [0] * 20, [1] * 16 + [0] * 4 + [0] * 18 + [1] * 2
    >>> share = corrected_share(human, judge, [1] * 30 + [0] * 70)
    >>> round(share.estimate, 4), [round(end, 3) for end in share.interval]
    (0.2857, [0.027, 0.483])
    """
    y = _labels("human", human)
    f = _labels("judge", judge)
    other = _labels("judge_only", judge_only)
    if y.size != f.size:
        raise InputError(
            f"judge: found {f.size} labels, expected one for each of the {y.size} human labels"
        )
    if not other.size:
        raise InputError(
            "judge_only: found no label, expected the units of which the share is wanted"
        )
    checked("interval", interval, ShareInterval)
    check_confidence(confidence)

    counts = _Counts(
        true_no=float(((y == 0) & (f == 0)).sum()),
        human_no=float((y == 0).sum()),
        true_yes=float(((y == 1) & (f == 1)).sum()),
        human_yes=float((y == 1).sum()),
        other_yes=float(other.sum()),
        n_other=float(other.size),
    )
    if not counts.human_no or not counts.human_yes:
        raise InputError(
            f"human: found {counts.human_yes:.0f} labels 1 and {counts.human_no:.0f} labels 0, "
            "expected both kinds"
        )
    _refuse_coin(counts)
    estimate = counts.estimate

    if clusters is not None:
        error, df = _left_out(y, f, other, clusters)
        ends = estimate + np.array([-1, 1]) * t_quantile(confidence, df) * error
    elif interval == "delta":
        error = _error(counts, estimate)
        ends = estimate + np.array([-1, 1]) * z_quantile(confidence) * error
    else:
        error, ends = _smoothed(counts, z_quantile(confidence))
    low, high = np.clip(ends, 0, 1).tolist()
    return CorrectedShare(
        estimate=float(np.clip(estimate, 0, 1)),
        standard_error=float(error),
        interval=(low, high),
        judge_share=counts.judge_share,
        specificity=counts.specificity,
        sensitivity=counts.sensitivity,
        n_calibration=y.size,
        n_judge_only=other.size,
        confidence=confidence,
    )


@dataclass(frozen=True, kw_only=True)
class _Counts:
    """Counts of labels; arrays, if they are counted without each cluster."""

    true_no: Any  # the judge's no where the human said no
    human_no: Any
    true_yes: Any  # the judge's yes where the human said yes
    human_yes: Any
    other_yes: Any  # the judge's yes among the units outside the calibration
    n_other: Any

    @property
    def specificity(self) -> Any:
        return self.true_no / self.human_no

    @property
    def sensitivity(self) -> Any:
        return self.true_yes / self.human_yes

    @property
    def judge_share(self) -> Any:
        return self.other_yes / self.n_other

    @property
    def estimate(self) -> Any:
        # the formula of Rogan and Gladen
        return (self.judge_share + self.specificity - 1) / (self.specificity + self.sensitivity - 1)


def _labels(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return labels as an array; refuse labels other than 0 and 1."""
    labels = grade_array(name, values)
    wrong = ~np.isin(labels, (0, 1))
    if labels.ndim != 1 or wrong.any():
        value = "shape " + str(labels.shape) if labels.ndim != 1 else f"{labels[wrong][0]:g}"
        raise InputError(f"{name}: found {value}, expected one label 0 or 1 a unit")
    return labels


def _refuse_coin(counts: _Counts) -> None:
    specificity = counts.specificity
    sensitivity = counts.sensitivity
    if specificity + sensitivity <= 1:
        raise InputError(
            f"judge: found specificity {specificity:.3g} and sensitivity {sensitivity:.3g}, which "
            "add up to 1 or less; expected a judge that knows more than a coin"
        )


def _error(counts: _Counts, estimate: float) -> float:
    """Return the standard error by the delta method."""
    # the letters of the formula in `corrected_share`
    p = counts.judge_share
    q0 = counts.specificity
    q1 = counts.sensitivity
    variance = (
        p * (1 - p) / counts.n_other
        + (1 - estimate) ** 2 * q0 * (1 - q0) / counts.human_no
        + estimate**2 * q1 * (1 - q1) / counts.human_yes
    )
    return float(np.sqrt(variance) / (q0 + q1 - 1))


def _smoothed(counts: _Counts, z: float) -> tuple[float, FloatArray]:
    """Return the standard error and the ends of the interval from smoothed counts, the ends shifted
    toward the skew of the estimate.
    """
    smoothed = _Counts(
        true_no=counts.true_no + 1,
        human_no=counts.human_no + 2,
        true_yes=counts.true_yes + 1,
        human_yes=counts.human_yes + 2,
        other_yes=counts.other_yes + z**2 / 2,
        n_other=counts.n_other + z**2,
    )
    _refuse_coin(smoothed)
    estimate = smoothed.estimate
    error = _error(smoothed, estimate)
    q0, q1 = smoothed.specificity, smoothed.sensitivity
    yes_term = estimate * q1 * (1 - q1) / smoothed.human_yes
    no_term = (1 - estimate) * q0 * (1 - q0) / smoothed.human_no
    skew = yes_term - no_term
    shift = 2 * z**2 * skew
    return error, estimate + shift + np.array([-1, 1]) * z * error


def _left_out(
    human: FloatArray, judge: FloatArray, other: FloatArray, clusters: Any
) -> tuple[float, int]:
    """Return the standard error by leaving out one cluster at a time, and the degrees of
    freedom.
    """
    if not isinstance(clusters, (tuple, list)) or len(clusters) != 2:
        raise InputError(
            "clusters: expected a pair of arrays, with a label for each unit of the calibration "
            "and for each other unit"
        )
    labelled_clusters, other_clusters = (np.asarray(column) for column in clusters)
    if labelled_clusters.shape != human.shape or other_clusters.shape != other.shape:
        raise InputError(
            f"clusters: found sizes {labelled_clusters.size} and {other_clusters.size}, expected "
            f"{human.size} and {other.size}"
        )
    codes: IntArray = label_codes(np.concatenate([labelled_clusters, other_clusters]))
    labelled_codes = codes[: human.size]
    other_codes = codes[human.size :]
    n = int(codes.max()) + 1
    if n < 2:
        raise InputError("clusters: found one, expected at least 2; one cluster shows no variation")

    def without_each(cluster: IntArray, counted: "FloatArray | BoolArray") -> FloatArray:
        sums = np.bincount(cluster, counted, n)
        return np.asarray(sums.sum() - sums, np.float64)

    counts = _Counts(
        true_no=without_each(labelled_codes, (human == 0) & (judge == 0)),
        human_no=without_each(labelled_codes, human == 0),
        true_yes=without_each(labelled_codes, (human == 1) & (judge == 1)),
        human_yes=without_each(labelled_codes, human == 1),
        other_yes=without_each(other_codes, other),
        n_other=without_each(other_codes, np.ones(other.size)),
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        values = counts.estimate
        knows_nothing = counts.specificity + counts.sensitivity <= 1
    if not np.isfinite(values).all() or knows_nothing.any():
        raise InputError(
            "clusters: found one without which the judge knows no more than a coin, expected the "
            "errors to rest on several"
        )
    return float(np.sqrt((n - 1) / n * ((values - values.mean()) ** 2).sum())), n - 1
