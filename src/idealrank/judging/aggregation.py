"""One grade from the grades of several raters: majority vote, and Dawid and Skene's model of each
rater's errors.

Neither is the default of anything here. On 22 language models of one task, whose votes are far from
independent, the model agreed less with the human the longer it was fitted; `aggregations` shows
both beside the single raters, by what gold questions say.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.data.types import FloatArray
from idealrank.errors import InputError
from idealrank.judging.interrater import agreement
from idealrank.judging.ratings import categories_of, grade_array
from idealrank.measures.measure import number_option
from idealrank.measures.rules import checked
from idealrank.stats.randomness import whole_number

VoteTies: TypeAlias = Literal["lowest", "highest"]

# Probability of an error that no rating shows. Above 0: one such error must not exclude a grade.
_LEAST = 1e-10


@dataclass(frozen=True, eq=False)
class Aggregated:
    """One grade for each unit.

    Attributes
    ----------
    grades : float64 array, shape (units,)
        NaN where no rater rated the unit.
    n_ties : int
        Units with several grades of the most votes.

    Examples
    --------
    >>> majority_vote([[0, 1, 1], [2, 0, 1]]).n_ties
    1
    """

    grades: FloatArray
    n_ties: int


def _coded(ratings: npt.ArrayLike) -> "tuple[npt.NDArray[np.int64], FloatArray]":
    """Return the code of each rating, -1 where it is missing, and the grades in rising order."""
    table = grade_array("ratings", ratings)
    if table.ndim != 2:
        raise InputError(f"ratings: found shape {table.shape}, expected (units, raters)")
    present = ~np.isnan(table)
    if not present.any() or not np.isfinite(table[present]).all():
        raise InputError(
            "ratings: found no grade, or one that is infinite, expected finite grades and NaN "
            "where there is none"
        )
    grades = categories_of(table[present], None)
    return np.where(present, np.searchsorted(grades, table), -1), grades


def _votes(codes: "npt.NDArray[np.int64]", n_grades: int) -> FloatArray:
    """Count the raters that gave each grade, shape (units, grades)."""
    votes = np.zeros((codes.shape[0], n_grades))
    for column in codes.T:
        rated = np.flatnonzero(column >= 0)
        votes[rated, column[rated]] += 1
    return votes


def majority_vote(ratings: npt.ArrayLike, *, ties: VoteTies = "lowest") -> Aggregated:
    """Take the grade that most raters gave.

    Parameters
    ----------
    ratings : array, shape (units, raters)
        Grades; NaN where the rater did not rate the unit.
    ties : {"lowest", "highest"}
        Grade of a unit where several grades have the most votes.

    Examples
    --------
    >>> majority_vote([[0, 1, 1], [2, 0, 1], [2, np.nan, 2]]).grades
    array([1., 0., 2.])
    """
    checked("ties", ties, VoteTies)
    codes, grades = _coded(ratings)
    votes = _votes(codes, grades.size)
    most_votes = votes.max(axis=1, keepdims=True)
    is_rated = most_votes[:, 0] > 0
    is_tied = ((votes == most_votes).sum(axis=1) > 1) & is_rated
    if ties == "lowest":
        code = votes.argmax(axis=1)
    else:
        # argmax takes the first of equal votes: turned around, the highest grade is first
        code = grades.size - 1 - votes[:, ::-1].argmax(axis=1)
    return Aggregated(np.where(is_rated, grades[code], np.nan), int(is_tied.sum()))


@dataclass(frozen=True, kw_only=True, eq=False)
class DawidSkene:
    """True grades and the errors of each rater, estimated together.

    Attributes
    ----------
    grades : float64 array, shape (units,)
        Most probable grade, the lowest of several; NaN where no rater rated the unit.
    categories : float64 array, shape (categories,)
        Grades, rising.
    probabilities : float64 array, shape (units, categories)
        Probability of each true grade.
    priors : float64 array, shape (categories,)
        Share of each true grade.
    errors : float64 array, shape (raters, categories, categories)
        Probability that a rater gives the grade of the column where the grade of the row is true.
    log_likelihoods : tuple of float
        Natural logarithm of the likelihood of the ratings before each step, and after the last; it
        never falls.

    Examples
    --------
    >>> model = dawid_skene([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]], steps=5)
    >>> model.grades
    array([0., 1., 0., 1.])
    """

    grades: FloatArray
    categories: FloatArray
    probabilities: FloatArray
    priors: FloatArray
    errors: FloatArray
    log_likelihoods: tuple[float, ...]


def dawid_skene(ratings: npt.ArrayLike, *, steps: int = 100, tolerance: float = 0.0) -> DawidSkene:
    """Estimate true grades and the errors of each rater by expectation maximisation.

    It assumes that raters err independently of each other, given the true grade. Models that share
    training data do not.

    Parameters
    ----------
    ratings : array, shape (units, raters)
        Grades; NaN where the rater did not rate the unit.
    steps : int
        Number of steps, at least 1. The start is the share of votes.
    tolerance : float
        Stop where the log-likelihood per rating rises by less; 0 does every step.

    Raises
    ------
    OptionError
        There is no step, or the tolerance is below 0.

    References
    ----------
    Dawid and Skene (1979), Maximum likelihood estimation of observer error-rates using the EM
    algorithm, Applied Statistics 28.

    Examples
    --------
    >>> model = dawid_skene([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]], steps=20)
    >>> bool(model.log_likelihoods[-1] >= model.log_likelihoods[0])
    True
    """
    steps = whole_number("steps", steps)
    tolerance = number_option("tolerance", tolerance, 0)
    codes, grades = _coded(ratings)
    rated = (codes >= 0).any(axis=1)
    model = _Model(codes[rated], grades.size)
    votes = _votes(model.codes, grades.size)
    shares = votes / votes.sum(axis=1, keepdims=True)
    likelihoods: list[float] = []
    priors = shares.mean(axis=0)
    errors = model.errors(shares)

    # The likelihood of a step's parameters comes with the next posterior. That posterior is thus
    # computed once more after the last step, for its likelihood alone.
    least_rise = tolerance * (codes >= 0).sum()
    while True:
        next_shares, likelihood = model.posterior(priors, errors)
        rise = likelihood - likelihoods[-1] if likelihoods else math.inf
        likelihoods.append(likelihood)
        if len(likelihoods) > steps or (tolerance > 0 and rise < least_rise):
            break
        shares = next_shares
        priors = shares.mean(axis=0)
        errors = model.errors(shares)

    probabilities = np.full((codes.shape[0], grades.size), np.nan)
    probabilities[rated] = shares
    best = np.full(codes.shape[0], np.nan)
    best[rated] = grades[shares.argmax(axis=1)]
    return DawidSkene(
        grades=best,
        categories=grades,
        probabilities=probabilities,
        priors=priors,
        errors=errors,
        log_likelihoods=tuple(likelihoods),
    )


class _Model:
    """Both steps of the expectation maximisation: `posterior` expects, `errors` maximises."""

    def __init__(self, codes: "npt.NDArray[np.int64]", n_grades: int) -> None:
        self.codes = codes
        self.n_grades = n_grades

    def errors(self, shares: FloatArray) -> FloatArray:
        """Estimate the errors of each rater from the probabilities of the true grades; grades that
        a rater never gave stay 0.
        """
        counts = np.zeros((self.codes.shape[1], self.n_grades, self.n_grades))
        for rater, given in enumerate(self.codes.T):
            for code in np.unique(given[given >= 0]):
                counts[rater, :, code] = np.maximum(shares[given == code].sum(axis=0), _LEAST)
        totals = counts.sum(axis=2, keepdims=True)
        return np.asarray(np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0))

    def posterior(self, priors: FloatArray, errors: FloatArray) -> tuple[FloatArray, float]:
        """Return the probabilities of the true grades, and the log-likelihood of the ratings."""
        every_unit = np.zeros((self.codes.shape[0], self.n_grades))
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(priors, _LEAST)) + every_unit
            by_rater = np.log(errors)
        for rater, given in enumerate(self.codes.T):
            rated = np.flatnonzero(given >= 0)
            logs[rated] += by_rater[rater, :, given[rated]]
        largest = logs.max(axis=1, keepdims=True)
        scaled = np.exp(logs - largest)  # many raters: the product itself would be 0
        totals = scaled.sum(axis=1, keepdims=True)
        return np.asarray(scaled / totals), float((largest + np.log(totals)).sum())


# --- by what the gold says ------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class AggregationAccuracy:
    """Agreement of one combination of raters, or of one rater, with gold grades.

    Attributes
    ----------
    name : str
        ``majority vote``, ``median``, ``Dawid-Skene`` with its steps, or the name of a rater.
    n_units : int
        Gold units with a grade.
    accuracy, kappa : float
        Share of equal grades, and Cohen's kappa.

    Examples
    --------
    >>> [row.name for row in aggregations([[0, 0], [1, 1], [1, 0]], [0, 1, 1], steps=(1,))]
    ['majority vote', 'median', 'Dawid-Skene, 1 step', 'rater 0', 'rater 1']
    """

    name: str
    n_units: int
    accuracy: float
    kappa: float


def aggregations(
    ratings: npt.ArrayLike,
    gold: npt.ArrayLike,
    *,
    steps: Sequence[int] = (2, 100),
    raters: Sequence[str] | None = None,
) -> list[AggregationAccuracy]:
    """Compare ways to combine raters by gold grades; the raters themselves are among them, best
    first.

    Parameters
    ----------
    ratings : array, shape (units, raters)
        Grades; NaN where the rater did not rate the unit.
    gold : array, shape (units,)
        True grades; NaN where unknown. Units without one still help to fit Dawid and Skene's model.
    steps : sequence of int
        Numbers of steps of that model: where more steps agree less, its assumption fails.
    raters : sequence of str, optional
        Names.

    Returns
    -------
    list of AggregationAccuracy
        The combinations first, then the raters by accuracy.

    Examples
    --------
    >>> ratings, gold = [[0, 0, 1], [1, 1, 1], [0, 1, 0], [1, 0, 0]], [0, 1, 0, 1]
    >>> accuracies = {row.name: row.accuracy for row in aggregations(ratings, gold, steps=(1,))}
    >>> accuracies["majority vote"], accuracies["rater 0"]
    (0.75, 1.0)
    """
    table = grade_array("ratings", ratings)
    truth = grade_array("gold", gold)
    if table.ndim != 2 or truth.shape != table.shape[:1]:
        raise InputError(
            f"gold: found shape {truth.shape}, expected one grade or NaN for each of the "
            f"{table.shape[0]} units"
        )
    n_raters = table.shape[1]
    names = [f"rater {number}" for number in range(n_raters)] if raters is None else list(raters)
    if len(names) != n_raters:
        raise InputError(f"raters: found {len(names)} names, expected {n_raters}")
    combined = {"majority vote": majority_vote(table).grades, "median": lower_median(table)}
    for n in steps:
        plural = "" if n == 1 else "s"
        combined[f"Dawid-Skene, {n} step{plural}"] = dawid_skene(table, steps=n).grades
    ways = [_accuracy(name, grades, truth) for name, grades in combined.items()]
    single = [_accuracy(name, given, truth) for name, given in zip(names, table.T, strict=True)]
    single.sort(key=lambda rater: (math.isnan(rater.accuracy), -rater.accuracy))
    return [*ways, *single]


def lower_median(ratings: npt.ArrayLike) -> FloatArray:
    """Median grade of each unit; the lower of the two in the middle."""
    ordered = np.sort(np.asarray(ratings, np.float64), axis=1)
    n = (~np.isnan(ordered)).sum(axis=1)
    return np.asarray(ordered[np.arange(n.size), np.maximum(n - 1, 0) // 2])


def _accuracy(name: str, grades: FloatArray, truth: FloatArray) -> AggregationAccuracy:
    has_both = ~np.isnan(grades) & ~np.isnan(truth)
    if not has_both.any():
        return AggregationAccuracy(name=name, n_units=0, accuracy=math.nan, kappa=math.nan)
    return AggregationAccuracy(
        name=name,
        n_units=int(has_both.sum()),
        accuracy=float((truth[has_both] == grades[has_both]).mean()),
        kappa=agreement(np.stack([truth[has_both], grades[has_both]], axis=1), "cohen_kappa"),
    )
