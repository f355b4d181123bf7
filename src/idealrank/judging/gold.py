"""Gold questions: accuracy of each assessor with its interval, drift between batches, and questions
that split the assessors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, gammaln

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.judging.interrater import agreement
from idealrank.judging.ratings import (
    check_confidence,
    cluster_codes,
    finite_grades,
    label_codes,
    z_quantile,
)

# Both tails of three standard deviations of a normal: the usual limits of a control chart.
_LIMIT = 0.0027


@dataclass(frozen=True, kw_only=True)
class BatchAccuracy:
    """Accuracy of one assessor in one batch of gold questions: a point of a control chart.

    Attributes
    ----------
    batch : str
        Label.
    n, n_right : int
        Gold questions answered, and answered right.
    limits : tuple of float
        Lowest and highest share that chance explains if the assessor is as good here as in the
        earlier batches; 0 and 1 for the first.
    p : float
        Two-sided p value of that hypothesis.
    drifts : bool
        The share is outside the limits.

    Examples
    --------
    >>> BatchAccuracy(
    ...     batch="week 2", n=20, n_right=10, limits=(0.6, 1.0), p=0.0004, drifts=True
    ... ).accuracy
    0.5
    """

    batch: str
    n: int
    n_right: int
    limits: tuple[float, float]
    p: float
    drifts: bool

    @property
    def accuracy(self) -> float:
        """Share of right answers."""
        return self.n_right / self.n


@dataclass(frozen=True, kw_only=True)
class AssessorAccuracy:
    """Accuracy of one assessor on gold questions.

    Attributes
    ----------
    assessor : str
        Name.
    n, n_right : int
        Gold questions answered, and answered right.
    accuracy : float
        Their ratio; NaN without a question.
    interval : tuple of float
        Low and high: Wilson's, or by leaving out one cluster at a time.
    bias : float
        Mean of the grade less the gold grade.
    batches : tuple of BatchAccuracy
        In order of first appearance; empty without batches.

    Examples
    --------
    >>> row = gold_accuracy(
    ...     [[1, 0], [0, 0], [2, 1]], [1, 0, 2], assessors=["ann", "ben"]
    ... ).assessors[1]
    >>> row.assessor, row.n_right, round(row.interval[0], 3)
    ('ben', 1, 0.061)
    """

    assessor: str
    n: int
    n_right: int
    accuracy: float
    interval: tuple[float, float]
    bias: float
    batches: tuple[BatchAccuracy, ...]


@dataclass(frozen=True, kw_only=True)
class GoldReport:
    """Assessors and gold questions.

    Attributes
    ----------
    assessors : tuple of AssessorAccuracy
        In the order of the columns.
    questions : tuple of (int, int, float)
        Unit, assessors that answered it, and share of right answers; the hardest first.
    confidence, target : float
        Confidence level, and the accuracy that is wanted; NaN for none.

    Examples
    --------
    >>> report = gold_accuracy(
    ...     [[1, 0]] * 30 + [[0, 0]] * 30, [1] * 30 + [0] * 30, assessors=["ann", "ben"], target=0.9
    ... )
    >>> report.to_retrain
    ('ben',)
    """

    assessors: tuple[AssessorAccuracy, ...]
    questions: tuple[tuple[int, int, float], ...]
    confidence: float
    target: float

    @property
    def to_retrain(self) -> tuple[str, ...]:
        """Assessors with an interval below the target, or a last batch below its limits."""
        names = set()
        for row in self.assessors:
            last = row.batches[-1] if row.batches else None
            is_worse = last is not None and last.drifts and last.accuracy < last.limits[0]
            if is_worse or row.interval[1] < self.target:
                names.add(row.assessor)
        return tuple(row.assessor for row in self.assessors if row.assessor in names)

    @property
    def splitting(self) -> tuple[int, ...]:
        """Units that at least two assessors answered and no more than half of them right: the
        question may be at fault.
        """
        return tuple(unit for unit, n, share in self.questions if n >= 2 and share <= 0.5)


def gold_accuracy(
    ratings: npt.ArrayLike,
    gold: npt.ArrayLike,
    *,
    assessors: Sequence[str] | None = None,
    batches: Any = None,
    clusters: Any = None,
    target: float | None = None,
    confidence: float = 0.95,
) -> GoldReport:
    """Compute the accuracy of each assessor on gold questions, and its drift between batches.

    Parameters
    ----------
    ratings : array, shape (units, assessors)
        Grades; NaN where the assessor did not rate the unit.
    gold : array, shape (units,)
        True grades; NaN where unknown.
    assessors : sequence of str, optional
        Names; numbers by default.
    batches : array of labels, shape (units,), optional
        Batch of each unit, in the order of work. Each batch is compared with the assessor's earlier
        batches, with limits that chance leaves once in 370 batches, as three standard deviations of
        a normal.
    clusters : array of labels, shape (units,), optional
        Cluster of each unit, such as its query; by default units are independent.
    target : float, optional
        Accuracy that is wanted.
    confidence : float
        Confidence level of intervals.

    Raises
    ------
    InputError
        No unit has a gold grade, or a length differs.

    References
    ----------
    Wilson (1927), Probable inference, JASA 22; Shewhart (1931), Economic Control of Quality of
    Manufactured Product, for control charts, here with limits of the beta-binomial prediction.

    Examples
    --------
    >>> ratings, gold = [[1, 1], [0, 1], [2, 2], [1, 1]], [1, 0, 2, 1]
    >>> [
    ...     (row.assessor, row.accuracy)
    ...     for row in gold_accuracy(ratings, gold, assessors=["ann", "ben"]).assessors
    ... ]
    [('ann', 1.0), ('ben', 0.75)]
    """
    table = finite_grades("ratings", ratings)
    truth = finite_grades("gold", gold)
    check_confidence(confidence)
    if table.ndim != 2 or truth.shape != table.shape[:1]:
        raise InputError(
            f"gold: found shape {truth.shape}, expected one grade or NaN for each row of ratings, "
            f"shape {table.shape}"
        )
    if np.isnan(truth).all():
        raise InputError("gold: found no gold grade, expected at least one")
    if target is not None and not 0 <= target <= 1:
        raise OptionError(f"target={target}: expected a share from 0 to 1")
    n_assessors = table.shape[1]
    names = [str(number) for number in range(n_assessors)] if assessors is None else list(assessors)
    batch_labels = None if batches is None else np.asarray(batches)
    if len(names) != n_assessors or (batches is not None and np.shape(batches) != truth.shape):
        raise InputError(
            f"assessors and batches: expected {n_assessors} names, and one batch for each of the "
            f"{truth.size} units"
        )
    if batch_labels is not None:
        label_codes(batch_labels, "batches")  # refuses labels that are missing or of several kinds
    codes = None if clusters is None else cluster_codes(clusters, truth.size)
    rows = [
        _assessor(name, grades, truth, batches=batch_labels, clusters=codes, confidence=confidence)
        for name, grades in zip(names, table.T, strict=True)
    ]
    return GoldReport(
        assessors=tuple(rows),
        questions=_questions(table, truth),
        confidence=confidence,
        target=math.nan if target is None else target,
    )


def _assessor(
    name: str,
    grades: FloatArray,
    truth: FloatArray,
    *,
    batches: "np.ndarray[Any, Any] | None",
    clusters: IntArray | None,
    confidence: float,
) -> AssessorAccuracy:
    answered = ~np.isnan(grades) & ~np.isnan(truth)
    right = answered & (grades == truth)
    n = int(answered.sum())
    n_right = int(right.sum())
    answered_clusters = None if clusters is None else clusters[answered]
    return AssessorAccuracy(
        assessor=name,
        n=n,
        n_right=n_right,
        accuracy=n_right / n if n else math.nan,
        interval=_interval(right[answered], answered_clusters, confidence),
        bias=float((grades - truth)[answered].mean()) if n else math.nan,
        batches=() if batches is None else _chart(answered, right, batches),
    )


def _interval(
    right: BoolArray, clusters: "IntArray | None", confidence: float
) -> tuple[float, float]:
    """Return the interval of the share of right answers; NaN without an answer."""
    if not right.size:
        return math.nan, math.nan
    if clusters is None:
        return wilson_interval(int(right.sum()), right.size, confidence)
    n_clusters = np.unique(clusters).size
    if n_clusters > 1:
        pairs = np.stack([right, np.ones_like(right)], axis=1)
        share = agreement(pairs, "percent", clusters=clusters, interval=True, confidence=confidence)
        if not math.isnan(share.standard_error):
            low, high = share.interval
            return max(low, 0.0), high
    # No variation between clusters says nothing of the error: each cluster counts as one question.
    return wilson_interval(n_clusters * float(right.mean()), n_clusters, confidence)


def wilson_interval(n_right: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Compute Wilson's interval of a share."""
    z = z_quantile(confidence)
    share = n_right / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def _chart(
    answered: BoolArray, right: BoolArray, labels: "np.ndarray[Any, Any]"
) -> tuple[BatchAccuracy, ...]:
    """Compare each batch with the beta-binomial prediction from the earlier batches, whose accuracy
    is uncertain, too.
    """
    points: list[BatchAccuracy] = []
    n_before = 0
    right_before = 0
    for label in dict.fromkeys(labels[answered].tolist()):
        inside = answered & (labels == label)
        n = int(inside.sum())
        n_right = int(right[inside].sum())
        low = 0.0
        high = 1.0
        p = 1.0
        if n_before:
            # half an answer of each kind: Jeffreys' prior, defined after all right or all wrong
            chances = _predicted(n, right_before + 0.5, n_before - right_before + 0.5)
            at_most = np.cumsum(chances)
            at_least = np.cumsum(chances[::-1])[::-1]
            usual = np.flatnonzero((at_most > _LIMIT / 2) & (at_least > _LIMIT / 2)) / n
            low = float(usual[0])
            high = float(usual[-1])
            p = min(1.0, 2 * float(min(at_most[n_right], at_least[n_right])))
        points.append(
            BatchAccuracy(
                batch=str(label),
                n=n,
                n_right=n_right,
                limits=(low, high),
                p=p,
                drifts=not low <= n_right / n <= high,
            )
        )
        n_before += n
        right_before += n_right
    return tuple(points)


def _predicted(n: int, right: float, wrong: float) -> FloatArray:
    """Return the chance of 0 to n right answers under a beta-binomial distribution."""
    counts = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    logs = ways + betaln(counts + right, n - counts + wrong) - betaln(right, wrong)
    return np.asarray(np.exp(logs))


def _questions(table: FloatArray, truth: FloatArray) -> tuple[tuple[int, int, float], ...]:
    """List the gold questions with the share of right answers, the hardest first."""
    units = np.flatnonzero(~np.isnan(truth) & ~np.isnan(table).all(axis=1))
    answered = (~np.isnan(table[units])).sum(axis=1)
    share = (table[units] == truth[units, None]).sum(axis=1) / answered
    order = np.argsort(share, kind="stable")
    return tuple((int(units[place]), int(answered[place]), float(share[place])) for place in order)
