"""The alternative annotator test: may a judge replace a person? (Calderon et al. 2025)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.judging.ratings import cluster_codes, finite_grades
from idealrank.measures.rules import checked
from idealrank.stats.multiple_tests import adjust

Scoring: TypeAlias = Literal["accuracy", "rmse"]


@dataclass(frozen=True, kw_only=True)
class AnnotatorTest:
    """The judge in the place of one annotator.

    Attributes
    ----------
    annotator : str
        Name of the annotator left out.
    n : int
        Instances that the annotator, another one and the judge rated.
    advantage : float
        Share of instances on which the judge agrees with the other annotators at least as well as
        this one.
    p : float
        One-sided p value of the hypothesis that the judge is worse by more than epsilon; NaN where
        it is undefined.
    rejected : bool
        The hypothesis is rejected, corrected for the number of annotators: the judge may replace
        this one.

    Examples
    --------
    >>> AnnotatorTest(annotator="ann", n=50, advantage=0.9, p=0.001, rejected=True).rejected
    True
    """

    annotator: str
    n: int
    advantage: float
    p: float
    rejected: bool


@dataclass(frozen=True, kw_only=True)
class AltTest:
    """Result of the alternative annotator test.

    Attributes
    ----------
    winning_rate : float
        Share of the tested annotators that the judge may replace.
    passed : bool
        The winning rate is at least 0.5.
    advantage : float
        Mean over annotators of the share of instances on which the judge agrees at least as well.
    annotators : tuple of AnnotatorTest
        Annotators that were tested.
    skipped : dict of str to int
        Annotators with too few instances, and how many they have; they still are references for the
        others.
    n_dropped : int
        Instances without the judge, or with fewer than two annotators; those without any grade are
        not counted.
    epsilon : float
        How much worse than a person the judge may be, in shares of instances: the price of a
        person.

    Examples
    --------
    >>> ratings = [[0, 0, 1], [1, 1, 1], [2, 2, 2], [0, 1, 0]] * 10
    >>> test = alt_test(ratings, [0, 1, 2, 0] * 10, epsilon=0.2)
    >>> test.passed, test.winning_rate
    (True, 1.0)
    """

    winning_rate: float
    passed: bool
    advantage: float
    annotators: tuple[AnnotatorTest, ...]
    skipped: dict[str, int]
    n_dropped: int
    epsilon: float


def alt_test(
    ratings: npt.ArrayLike,
    judge: npt.ArrayLike,
    *,
    epsilon: float = 0.2,
    scoring: Scoring = "accuracy",
    annotators: Sequence[str] | None = None,
    clusters: Any = None,
    least: int = 30,
    alpha: float = 0.05,
) -> AltTest:
    """Test whether a judge agrees with annotators as well as they agree with each other.

    Each annotator in turn is left out. On each instance the judge wins if it agrees with the others
    at least as well as the annotator does, and the annotator wins likewise, so that ties count for
    both. A one-sided t test asks whether the judge wins less often by more than epsilon; the tests
    of all annotators are corrected by Benjamini and Yekutieli.

    Parameters
    ----------
    ratings : array, shape (instances, annotators)
        Grades; NaN where the annotator did not rate the instance.
    judge : array, shape (instances,)
        Grades of the judge; NaN where it did not rate the instance.
    epsilon : float
        Cost-benefit penalty: 0.2 for experts, 0.15 for skilled annotators, 0.1 for crowds, as the
        authors propose.
    scoring : {"accuracy", "rmse"}
        Agreement with the others on an instance: share of equal grades, or the root of the mean
        squared difference (less is better).
    annotators : sequence of str, optional
        Names; numbers by default.
    clusters : array of labels, shape (instances,), optional
        Cluster of each instance, such as its query. The standard error is then that of clusters,
        with clusters - 1 degrees of freedom. By default instances are independent, as the authors
        have it.
    least : int
        An annotator with fewer instances is not tested; at least 2.
    alpha : float
        False discovery rate.

    Returns
    -------
    AltTest
        Winning rate and verdict; no annotator tested is an error.

    Raises
    ------
    InputError
        A length differs, or no annotator has enough instances.
    OptionError
        The scoring is unknown, or `epsilon`, `alpha` or `least` is outside its range.

    References
    ----------
    Calderon, Reichart and Dror (2025), The alternative annotator test for LLM-as-a-judge, arXiv
    2501.10970. Benjamini and Yekutieli (2001), Annals of Statistics 29.

    Examples
    --------
    >>> people = [[0, 0], [1, 1], [2, 2], [1, 1], [0, 0]] * 8
    >>> alt_test(people, [2, 0, 0, 0, 2] * 8).winning_rate
    0.0
    """
    table = finite_grades("ratings", ratings)
    judge_grades = finite_grades("judge", judge)
    if table.ndim == 2 and table.shape[1] < 2:
        raise InputError(
            f"ratings: found {table.shape[1]} annotator, expected at least 2: each one is compared "
            "with the others"
        )
    if table.ndim != 2 or judge_grades.shape != table.shape[:1]:
        raise InputError(
            f"judge: found shape {judge_grades.shape}, expected one grade or NaN for each row of "
            f"ratings {table.shape}"
        )
    checked("scoring", scoring, Scoring)
    if not 0 <= epsilon < 1 or not 0 < alpha < 1:
        raise OptionError(
            f"epsilon={epsilon}, alpha={alpha}: expected an epsilon from 0 to below 1 and a level "
            "between 0 and 1"
        )
    if least < 2:
        raise OptionError(f"least={least}: expected at least 2; one instance shows no variation")
    numbers = [str(number) for number in range(table.shape[1])]
    names = numbers if annotators is None else list(annotators)
    if len(names) != table.shape[1]:
        raise InputError(f"annotators: found {len(names)} names, expected {table.shape[1]}")
    codes = None if clusters is None else cluster_codes(clusters, judge_grades.size)

    has_judge = ~np.isnan(judge_grades)
    n_people = (~np.isnan(table)).sum(axis=1)
    usable = has_judge & (n_people >= 2)
    tests: list[AnnotatorTest] = []
    skipped: dict[str, int] = {}
    for column, name in enumerate(names):
        rated = usable & ~np.isnan(table[:, column])
        n = int(rated.sum())
        if n < least:
            skipped[name] = n
            continue
        judge_wins, person_wins = _wins(table[rated], judge_grades[rated], column, scoring)
        differences = person_wins.astype(float) - judge_wins.astype(float)
        p = _p_value(differences, epsilon, None if codes is None else codes[rated])
        advantage = float(judge_wins.mean())
        tests.append(AnnotatorTest(annotator=name, n=n, advantage=advantage, p=p, rejected=False))
    if not tests:
        raise InputError(
            f"ratings: found at most {max(skipped.values(), default=0)} instances that one "
            f"annotator, another and the judge all rated, expected at least {least}"
        )

    # An undefined p value rejects nothing.
    rejected = adjust([1.0 if math.isnan(test.p) else test.p for test in tests], "by") <= alpha
    tested = tuple(
        replace(test, rejected=bool(is_rejected))
        for test, is_rejected in zip(tests, rejected, strict=True)
    )
    rate = float(rejected.mean())
    has_any_grade = has_judge | (n_people > 0)
    return AltTest(
        winning_rate=rate,
        passed=rate >= 0.5,
        advantage=float(np.mean([test.advantage for test in tested])),
        annotators=tested,
        skipped=skipped,
        n_dropped=int((has_any_grade & ~usable).sum()),
        epsilon=epsilon,
    )


def _wins(
    table: FloatArray, judge_grades: FloatArray, annotator: int, scoring: Scoring
) -> tuple[BoolArray, BoolArray]:
    """Mark the instances on which the judge, and the annotator, agree with the others at least as
    well.
    """
    others = np.delete(table, annotator, axis=1)

    def score(grades: FloatArray) -> FloatArray:
        # both are compared with the same others: the sum orders as the mean, and as the root, do
        apart = others - grades[:, None]
        points = apart == 0 if scoring == "accuracy" else -(apart**2)
        return np.asarray(np.where(np.isnan(apart), 0.0, points).sum(axis=1))

    of_judge = score(judge_grades)
    of_person = score(table[:, annotator])
    return of_judge >= of_person, of_person >= of_judge


def _p_value(
    differences: FloatArray, epsilon: float, codes: "npt.NDArray[np.int64] | None"
) -> float:
    """P value of a one-sided t test; the null hypothesis is a mean of at least epsilon."""
    n = differences.size
    above = float(differences.mean()) - epsilon
    if codes is None:
        variance = float(differences.var(ddof=1)) / n
        df = n - 1
    else:
        totals = np.bincount(codes, differences - differences.mean())
        df = np.unique(codes).size - 1
        if df < 1:
            raise InputError("clusters: found one cluster of an annotator, expected at least 2")
        variance = (df + 1) / df * float((totals**2).sum()) / n**2
    if variance == 0:
        return math.nan if above == 0 else float(above > 0)
    return float(stdtr(df, above / math.sqrt(variance)))
