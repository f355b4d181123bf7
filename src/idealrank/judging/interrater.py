"""Agreement of raters: every usual coefficient, each with an interval that respects clusters."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args, overload

import numpy as np
import numpy.typing as npt

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.judging.coefficients import (
    Level,
    Statistic,
    Summand,
    analytic_error,
    of_coincidences,
    of_counts,
    terms,
)
from idealrank.judging.ratings import (
    Ratings,
    Weights,
    categories_of,
    check_confidence,
    cluster_codes,
    grade_array,
    t_quantile,
    weight_matrix,
    z_quantile,
)
from idealrank.measures.rules import checked

Variance: TypeAlias = Literal["jackknife", "analytic"]

STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
# Cells of the tables with one cluster left out that are in memory at a time: 32 MiB of floats.
_CELLS = 1 << 22
_ALIKE = 1e-12  # values this near to each other differ by rounding alone


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """An agreement coefficient with its interval.

    Attributes
    ----------
    statistic : str
        Its name.
    value : float
        The coefficient, at most 1; NaN where undefined, as where all raters always choose one
        category.
    standard_error : float
        NaN where the data show no variation, as for a constant rater or perfect agreement.
    interval : tuple of float
        Low and high, cut at 1; NaN where there is no standard error.
    confidence : float
        Confidence level.
    n_units : int
        Units that two raters rated.
    n_clusters : int
        Independent clusters with a unit that two raters rated.
    variance : {"jackknife", "analytic"}
        How the standard error was computed.

    Examples
    --------
    >>> coefficient = agreement(
    ...     [[0, 0], [1, 1], [2, 1], [0, 0], [1, 1]], "cohen_kappa", weights="linear", interval=True
    ... )
    >>> round(float(coefficient), 4), coefficient.n_clusters
    (0.7059, 5)
    """

    statistic: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float
    n_units: int
    n_clusters: int
    variance: Variance

    def __float__(self) -> float:
        """The coefficient."""
        return self.value

    def __str__(self) -> str:
        ends = (
            "no interval"
            if math.isnan(self.interval[0])
            else f"[{self.interval[0]:.4g}, {self.interval[1]:.4g}]"
        )
        return (
            f"{self.statistic} {self.value:.4g} {ends} ({100 * self.confidence:g} %, "
            f"{self.n_units} units, {self.n_clusters} clusters)"
        )


@overload
def agreement(
    ratings: npt.ArrayLike,
    statistic: Statistic = ...,
    *,
    level: Level | None = ...,
    weights: Weights | None = ...,
    categories: Sequence[float] | None = ...,
    clusters: Any = ...,
    interval: Literal[False] = ...,
    confidence: float = ...,
    variance: Variance = ...,
) -> float: ...
@overload
def agreement(
    ratings: npt.ArrayLike,
    statistic: Statistic = ...,
    *,
    level: Level | None = ...,
    weights: Weights | None = ...,
    categories: Sequence[float] | None = ...,
    clusters: Any = ...,
    interval: Literal[True],
    confidence: float = ...,
    variance: Variance = ...,
) -> Agreement: ...
def agreement(
    ratings: npt.ArrayLike,
    statistic: Statistic = "krippendorff_alpha",
    *,
    level: Level | None = None,
    weights: Weights | None = None,
    categories: Sequence[float] | None = None,
    clusters: Any = None,
    interval: bool = False,
    confidence: float = 0.95,
    variance: Variance = "jackknife",
) -> "float | Agreement":
    """Compute how far raters agree on the grades of the same units.

    Every coefficient but ``percent`` is ``(observed - chance) / (1 - chance)``; they differ in what
    they take for agreement by chance.

    Parameters
    ----------
    ratings : array, shape (units, raters)
        Grades; NaN where the rater did not rate the unit.
    statistic : str
        ``percent``: share of agreeing pairs of raters. ``cohen_kappa``: chance by the margins of
        each rater; for more than two raters the mean over their pairs, each on the units that both
        rated, without pairs whose kappa is undefined. ``conger_kappa``: the same chance within one
        coefficient. ``scott_pi`` (two raters) and ``fleiss_kappa``: chance by the pooled shares.
        ``krippendorff_alpha``: as these, corrected for small samples. ``gwet_ac1`` (AC2 with
        weights): stable where one grade is rare. ``brennan_prediger``: each grade equally likely.
    level : {"nominal", "ordinal", "interval", "ratio"}
        Distance of grades for Krippendorff's alpha; nominal by default. Use ordinal for grades.
    weights : {"linear", "quadratic", "ordinal"}
        Partial credit for near grades, by their values (``ordinal`` by their places); by default
        only equal grades agree.
    categories : sequence of float, optional
        Grades of the scale; by default those that occur. They matter to AC1, Brennan-Prediger, and
        to all weighted coefficients but kappa and alpha, whose value does not depend on unused
        grades.
    clusters : array of labels, shape (units,), optional
        Cluster of each unit, such as its query: units of one query are not independent. By default
        each unit is its own cluster.
    interval : bool
        Return the value with standard error and interval.
    confidence : float
        Confidence level of the interval.
    variance : {"jackknife", "analytic"}
        ``jackknife`` leaves out one cluster at a time; the interval uses t with clusters - 1
        degrees, of the clusters with a unit that two raters rated. Other clusters matter to chance
        at most, and are a stratum of their own. ``analytic`` is the published formula for
        independent units, as other tools print it; it refuses clusters.

    Returns
    -------
    float or Agreement
        With ``interval=True`` an object with ``.value``, ``.interval`` and ``.standard_error``.

    Raises
    ------
    InputError
        The ratings have no unit that two raters rated, or a rating is outside the categories; or
        there is only one cluster.
    OptionError
        The statistic, level or weights are unknown, or do not belong together.

    References
    ----------
    Cohen (1960, 1968); Scott (1955); Fleiss (1971); Conger (1980); Brennan and Prediger (1981);
    Krippendorff (2011), Computing Krippendorff's alpha-reliability; Gwet (2014), Handbook of
    Inter-Rater Reliability, 4th edition.

    Examples
    --------
    >>> ratings = [[1, 1], [2, 2], [3, 3], [3, 2], [0, 0], [1, 2]]
    >>> (
    ...     round(agreement(ratings, "cohen_kappa"), 4),
    ...     round(agreement(ratings, "krippendorff_alpha", level="ordinal"), 4),
    ... )
    (0.5714, 0.8318)
    >>> coefficient = agreement(
    ...     ratings, "percent", clusters=["q1", "q1", "q2", "q2", "q3", "q3"], interval=True
    ... )
    >>> round(coefficient.value, 4), round(coefficient.standard_error, 4)
    (0.6667, 0.1667)
    """
    _check_options(statistic, level, weights)
    rated = Ratings.of(ratings, categories)
    if level == "ratio" and rated.categories[0] < 0:
        raise OptionError(
            f"level ratio: found the grade {rated.categories[0]:g}, expected none below 0"
        )
    summands = list(terms(rated, statistic, weights, level))
    one_cluster = np.zeros(rated.n_units, np.int64)
    value = _mean(np.stack([term.value(term.sums(one_cluster, 1)) for term in summands]))[0]
    if not interval:
        return float(value)

    checked("variance", variance, Variance)
    check_confidence(confidence)
    compared = np.asarray((rated.codes >= 0).sum(axis=1) >= 2)
    n_units = int(compared.sum())
    if variance == "analytic":
        if clusters is not None:
            raise OptionError(
                "variance analytic: found clusters, expected independent units; jackknife respects "
                "clusters"
            )
        error, df = analytic_error(rated, statistic, weights, level)
        n_clusters = n_units
    else:
        cluster = cluster_codes(clusters, rated.n_units)
        error, n_clusters = _jackknife(summands, cluster, compared)
        df = n_clusters - 1

    quantile = t_quantile(confidence, df) if math.isfinite(df) else z_quantile(confidence)
    reach = error * quantile
    ends = (float(value - reach), float(min(value + reach, 1.0)))
    if math.isnan(error) or math.isnan(value):
        ends = (math.nan, math.nan)
    return Agreement(
        statistic=statistic,
        value=float(value),
        standard_error=float(error),
        interval=ends,
        confidence=confidence,
        n_units=n_units,
        n_clusters=n_clusters,
        variance=variance,
    )


def _check_options(statistic: Statistic, level: Level | None, weights: Weights | None) -> None:
    checked("statistic", statistic, Statistic)
    checked("level", level, Level)
    checked("weights", weights, Weights)
    if level is not None and statistic != "krippendorff_alpha":
        raise OptionError(
            f"level {level}: found the statistic {statistic}, expected krippendorff_alpha; the "
            "others take weights"
        )
    if level is not None and weights is not None:
        raise OptionError(
            f"weights {weights}: found the level {level} as well, expected one of the two"
        )


def _mean(values: FloatArray) -> FloatArray:
    """Return the mean over the terms that are defined; NaN where none is."""
    defined = ~np.isnan(values)
    n = defined.sum(axis=0)
    total = np.where(defined, values, 0.0).sum(axis=0)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def _jackknife(
    summands: Sequence[Summand], cluster: IntArray, compared: BoolArray
) -> tuple[float, int]:
    """Return the standard error by leaving out one cluster at a time, and the number of clusters
    with a unit that two raters rated.
    """
    n_clusters = int(cluster.max()) + 1
    sums = [term.sums(cluster, n_clusters) for term in summands]
    is_compared = np.bincount(cluster[compared], minlength=n_clusters) > 0
    n = int(is_compared.sum())
    if n < 2:
        raise InputError(
            f"clusters: found {n} with ratings of two raters, expected at least 2; one cluster "
            "shows no variation"
        )

    def without(block: IntArray) -> FloatArray:
        """Return the coefficient without each cluster of a block."""
        values = [
            term.value(of_cluster.sum(axis=0) - of_cluster[block])
            for term, of_cluster in zip(summands, sums, strict=True)
        ]
        return _mean(np.stack(values))

    # clusters without a rating change nothing
    rated = np.flatnonzero(sum(np.abs(of_cluster).sum(axis=1) for of_cluster in sums) > 0)
    n_blocks = 1 + rated.size * sums[0].shape[1] // _CELLS
    values_without = np.concatenate([without(block) for block in np.array_split(rated, n_blocks)])
    # A constant rater, or perfect agreement: values without variation do not show the error.
    if not np.ptp(values_without) > _ALIKE:
        return math.nan, n
    variance = 0.0
    # Clusters without two ratings of a unit matter to chance alone: they are a second stratum.
    for stratum in (is_compared[rated], ~is_compared[rated]):
        values = values_without[stratum]
        if values.size:
            squares = float(((values - values.mean()) ** 2).sum())
            variance += (values.size - 1) / values.size * squares
    return math.sqrt(variance), n


def agreement_of_counts(
    counts: npt.ArrayLike,
    statistic: Statistic = "fleiss_kappa",
    *,
    level: Level | None = None,
    weights: Weights | None = None,
    categories: Sequence[float] | None = None,
) -> float:
    """Compute agreement from how many raters put each unit in each category.

    Parameters
    ----------
    counts : array, shape (units, categories)
        Numbers of raters, not negative.
    statistic, level, weights
        As for `agreement`; Cohen's and Conger's kappa and Scott's pi need to know which rater chose
        what.
    categories : sequence of float, optional
        Grade of each column; 0, 1, 2, ... by default.

    Returns
    -------
    float
        NaN where undefined.

    Raises
    ------
    InputError
        A count is negative or not finite, or no unit has two ratings.
    OptionError
        The statistic needs raters.

    References
    ----------
    Fleiss (1971), Measuring nominal scale agreement among many raters, Psychological Bulletin 76.

    Examples
    --------
    >>> round(agreement_of_counts([[7, 1], [3, 5]], "fleiss_kappa"), 6)
    0.161905
    """
    _check_options(statistic, level, weights)
    if statistic in {"cohen_kappa", "conger_kappa", "scott_pi"}:
        raise OptionError(
            f"statistic {statistic}: found counts, expected ratings; it needs to know which rater "
            "chose what"
        )
    table = grade_array("counts", counts)
    if table.ndim != 2 or not (np.isfinite(table) & (table >= 0)).all():
        raise InputError(
            f"counts: found shape {table.shape}, or a count below 0, expected (units, categories) "
            "of numbers from 0 on"
        )
    if categories is None:
        grades = np.arange(table.shape[1], dtype=np.float64)
    else:
        grades = np.asarray(categories, np.float64)
    if grades.shape != (table.shape[1],):
        raise OptionError(
            f"categories: found {grades.size}, expected one for each of the {table.shape[1]} "
            f"columns"
        )
    order = np.argsort(grades)
    table = table[:, order]
    grades = categories_of(grades, grades.tolist())
    if not (table.sum(axis=1) >= 2).any():
        raise InputError("counts: found no unit with two ratings, expected at least one")
    matrix = weight_matrix(grades, weights)
    if statistic == "krippendorff_alpha":
        distances = None if weights is None else 1 - matrix
        term = of_coincidences(table, grades, level or "nominal", distances)
    else:
        term = of_counts(table, statistic, matrix)
    return float(term.value(term.sums(np.zeros(table.shape[0], np.int64), 1))[0])
