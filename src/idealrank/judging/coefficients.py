"""Agreement coefficients as functions of sums over units, so that leaving out a cluster costs a
subtraction; and their published standard errors.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.judging.ratings import Ratings, Weights, weight_matrix
from idealrank.measures.rules import checked

Statistic: TypeAlias = Literal[
    "percent",
    "cohen_kappa",
    "conger_kappa",
    "scott_pi",
    "fleiss_kappa",
    "krippendorff_alpha",
    "gwet_ac1",
    "brennan_prediger",
]
Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]

# Chance agreement this near to 1 leaves nothing that raters could agree on beyond chance.
_UNDEFINED = 1e-12


@dataclass(frozen=True)
class Summand:
    """A coefficient, or one pair of raters of a coefficient that is a mean over pairs."""

    # From cluster codes and the number of clusters to sums of each cluster, shape (clusters, n)
    sums: Callable[[IntArray, int], FloatArray]
    # From such sums, shape (..., n), to values, shape (...); NaN where undefined
    value: Callable[[FloatArray], FloatArray]


def terms(
    rated: Ratings, statistic: Statistic, weights: Weights | None, level: Level | None
) -> Iterator[Summand]:
    """Yield the terms whose mean is the coefficient: one for each pair of raters for Cohen's
    kappa, a single one for the others.
    """
    matrix = weight_matrix(rated.categories, weights)
    if statistic == "cohen_kappa":
        yield from (_cohen(rated, a, b, matrix) for a, b in combinations(range(rated.n_raters), 2))
    elif statistic == "conger_kappa":
        yield _conger(rated, matrix)
    elif statistic == "krippendorff_alpha":
        yield of_coincidences(
            rated.counts,
            rated.categories,
            level or "nominal",
            None if weights is None else 1 - matrix,
        )
    elif statistic == "scott_pi":
        if rated.n_raters != 2:
            raise OptionError(
                f"statistic scott_pi: found {rated.n_raters} raters, expected 2; fleiss_kappa is "
                "its form for more"
            )
        has_both = np.asarray((rated.codes >= 0).all(axis=1))
        yield of_counts(rated.counts[has_both], "fleiss_kappa", matrix, has_both)
    else:
        yield of_counts(rated.counts, statistic, matrix)


# --- two raters -----------------------------------------------------------------------------------


def _cohen(rated: Ratings, a: int, b: int, matrix: FloatArray) -> Summand:
    """Cohen's kappa of two raters, on the units that both rated: sums are the cells of their
    table.
    """
    size = rated.categories.size
    first = rated.codes[:, a]
    second = rated.codes[:, b]
    units = np.flatnonzero((first >= 0) & (second >= 0))
    cell = first[units] * size + second[units]

    def sums(cluster: IntArray, n_clusters: int) -> FloatArray:
        cells = np.bincount(cluster[units] * size**2 + cell, minlength=n_clusters * size**2)
        return cells.reshape(n_clusters, size**2).astype(np.float64)

    return Summand(
        sums, lambda cells: kappa_of_tables(cells.reshape(*cells.shape[:-1], size, size), matrix)
    )


def kappa_of_tables(tables: FloatArray, matrix: FloatArray) -> FloatArray:
    """Weighted kappa of tables, shape (..., q, q); NaN where chance agreement is 1."""
    n = tables.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = (tables * matrix).sum(axis=(-2, -1)) / n
        expected = _quadratic(tables.sum(axis=-1), tables.sum(axis=-2), matrix) / n**2
    return beyond_chance(observed, expected)


def beyond_chance(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """Return ``(observed - expected) / (1 - expected)``; NaN where nothing is left beyond
    chance.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(
            np.where(1 - expected > _UNDEFINED, (observed - expected) / (1 - expected), np.nan)
        )


def _quadratic(left: FloatArray, right: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return ``left' matrix right`` over the last axis, term by term: the same bits on every
    machine, as no BLAS gives.
    """
    return np.asarray(np.einsum("...i,ij,...j->...", left, matrix, right))


# --- many raters, of counts -----------------------------------------------------------------------


def unit_agreement(counts: FloatArray, matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Agreement among the raters of each unit as a share of their pairs (0 for fewer than two
    raters), and their number.
    """
    n_raters = counts.sum(axis=1)
    pairs = n_raters * (n_raters - 1)
    agreeing = (counts * (np.einsum("ij,kj->ik", counts, matrix) - 1)).sum(axis=1)
    usable = n_raters >= 2
    return np.divide(agreeing, pairs, out=np.zeros_like(agreeing), where=usable), n_raters


def chance(statistic: Statistic, shares: FloatArray, matrix: FloatArray) -> FloatArray:
    """Agreement by chance from the share of each category, shape (..., q)."""
    size = matrix.shape[0]
    if statistic == "percent":
        return np.zeros(shares.shape[:-1])
    if statistic == "fleiss_kappa":
        return _quadratic(shares, shares, matrix)
    if statistic == "gwet_ac1":
        if size == 1:
            return np.ones(shares.shape[:-1])
        spread = (shares * (1 - shares)).sum(axis=-1)
        return np.asarray(matrix.sum() / (size * (size - 1)) * spread)
    return np.full(shares.shape[:-1], matrix.sum() / size**2)  # Brennan and Prediger


def of_counts(
    counts: FloatArray, statistic: Statistic, matrix: FloatArray, counted: BoolArray | None = None
) -> Summand:
    """A coefficient that sees how many raters chose each category, and not which; `counted` marks
    the units that have a row of counts, all by default.
    """
    agreement, n_raters = unit_agreement(counts, matrix)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(n_raters[:, None] > 0, counts / n_raters[:, None], 0.0)
    columns = [agreement, (n_raters >= 2).astype(np.float64), *shares.T]

    def sums(cluster: IntArray, n_clusters: int) -> FloatArray:
        of_unit = cluster if counted is None else cluster[counted]
        totals = [
            np.asarray(np.bincount(of_unit, column, n_clusters), np.float64) for column in columns
        ]
        return np.stack(totals, axis=1)

    def value(totals: FloatArray) -> FloatArray:
        category_sums = totals[..., 2:]
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = totals[..., 0] / totals[..., 1]
            shares = category_sums / category_sums.sum(axis=-1, keepdims=True)
        return beyond_chance(observed, chance(statistic, shares, matrix))

    return Summand(sums, value)


def _conger(rated: Ratings, matrix: FloatArray) -> Summand:
    """Conger's kappa: chance agreement is the mean over pairs of raters, by the shares of each
    rater.
    """
    size, n_raters = rated.categories.size, rated.n_raters
    agreement, raters_of_unit = unit_agreement(rated.counts, matrix)
    usable = (raters_of_unit >= 2).astype(np.float64)

    def sums(cluster: IntArray, n_clusters: int) -> FloatArray:
        totals = np.zeros((n_clusters, 2 + n_raters * size))
        totals[:, 0] = np.bincount(cluster, agreement, n_clusters)
        totals[:, 1] = np.bincount(cluster, usable, n_clusters)
        for rater, codes in enumerate(rated.codes.T):
            units = codes >= 0
            cells = np.bincount(cluster[units] * size + codes[units], minlength=n_clusters * size)
            totals[:, 2 + rater * size : 2 + (rater + 1) * size] = cells.reshape(n_clusters, size)
        return totals

    def value(totals: FloatArray) -> FloatArray:
        n_chosen = totals[..., 2:].reshape(*totals.shape[:-1], n_raters, size)
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = totals[..., 0] / totals[..., 1]
            shares = n_chosen / n_chosen.sum(axis=-1, keepdims=True)
        # the sum over pairs of raters is the square of the sum, less each rater with itself
        share_sums = shares.sum(axis=-2)
        all_pairs = _quadratic(share_sums, share_sums, matrix)
        with_itself = _quadratic(shares, shares, matrix).sum(axis=-1)
        expected = (all_pairs - with_itself) / (n_raters * (n_raters - 1))
        return beyond_chance(observed, expected)

    return Summand(sums, value)


# --- Krippendorff ---------------------------------------------------------------------------------


def of_coincidences(
    counts: FloatArray, categories: FloatArray, level: Level, distance: FloatArray | None = None
) -> Summand:
    """Krippendorff's alpha: sums are the cells of the coincidence matrix.

    Each unit of m >= 2 raters adds every ordered pair of its ratings with the weight ``1 / (m -
    1)``.
    """
    size = categories.size
    n_raters = counts.sum(axis=1)
    usable = np.flatnonzero(n_raters >= 2)
    usable_counts = counts[usable]
    weight = 1 / (n_raters[usable] - 1)

    def sums(cluster: IntArray, n_clusters: int) -> FloatArray:
        coincidences = np.zeros((n_clusters, size, size))
        of_unit = cluster[usable]
        for i in range(size):
            for j in range(i, size):
                partners = usable_counts[:, j]
                if i == j:
                    partners = partners - 1  # a rating does not pair with itself
                pairs = usable_counts[:, i] * partners * weight
                coincidences[:, i, j] = np.bincount(of_unit, pairs, n_clusters)
                coincidences[:, j, i] = coincidences[:, i, j]
        return coincidences.reshape(n_clusters, size**2)

    def value(cells: FloatArray) -> FloatArray:
        table = cells.reshape(*cells.shape[:-1], size, size)
        margins = table.sum(axis=-1)
        if distance is None:
            apart = distances(margins, categories, level)
        else:
            apart = np.broadcast_to(distance, table.shape)
        n = margins.sum(axis=-1)
        observed = (table * apart).sum(axis=(-2, -1))
        expected = np.einsum("...i,...ij,...j->...", margins, apart, margins)
        with np.errstate(invalid="ignore", divide="ignore"):
            alpha = 1 - (n - 1) * observed / expected
        return np.asarray(np.where(expected > _UNDEFINED * np.maximum(n, 1), alpha, np.nan))

    return Summand(sums, value)


def distances(margins: FloatArray, categories: FloatArray, level: Level) -> FloatArray:
    """Squared distance of each pair of categories, shape (..., q, q); at level ordinal it depends
    on how often each occurs.

    Krippendorff (2011), Computing Krippendorff's alpha-reliability, section C.
    """
    shape = (*margins.shape, categories.size)
    apart = np.subtract.outer(categories, categories)
    if level == "nominal":
        return np.broadcast_to((apart != 0).astype(np.float64), shape)
    if level == "interval":
        return np.broadcast_to(apart**2, shape)
    if level == "ratio":
        whole = np.add.outer(categories, categories)
        ratios = np.divide(apart, whole, out=np.zeros_like(apart), where=whole != 0)
        return np.broadcast_to(ratios**2, shape)
    # ordinal: two categories are as far apart as the ratings between their middles
    middle = np.cumsum(margins, axis=-1) - margins / 2
    return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)


# --- published standard errors, for independent units ---------------------------------------------

# The jackknife over clusters is the default elsewhere. These formulas serve comparison with other
# tools, and the test of no agreement beyond chance.


def analytic_error(
    rated: Ratings, statistic: Statistic, weights: Weights | None, level: Level | None
) -> tuple[float, float]:
    """Standard error of a coefficient by its published formula, and the degrees of freedom of its
    interval (infinite: normal).

    Examples
    --------
    >>> analytic_error(Ratings.of([[0, 0], [0, 1], [1, 1], [1, 1]]), "cohen_kappa", None, None)[1]
    inf
    """
    matrix = weight_matrix(rated.categories, weights)
    if statistic != "cohen_kappa" and (rated.codes >= 0).any(axis=1).sum() < 2:
        return math.nan, 0  # one unit shows no variation
    if statistic == "cohen_kappa":
        return _cohen_error(_table(rated, statistic), matrix), math.inf
    if statistic == "krippendorff_alpha":
        if level == "interval":
            matrix = weight_matrix(rated.categories, "quadratic")
        elif level not in {None, "nominal"}:
            raise OptionError(
                f"variance analytic: found krippendorff_alpha at level {level}, expected nominal "
                "or interval; use jackknife"
            )
        counts = rated.counts[rated.counts.sum(axis=1) >= 2]
        return _alpha_error(counts, matrix), counts.shape[0] - 1
    if statistic == "scott_pi":
        has_both = (rated.codes >= 0).all(axis=1)
        return _gwet_error(rated.counts[has_both], "fleiss_kappa", matrix), int(has_both.sum()) - 1
    rows = rated.counts.sum(axis=1) > 0
    df = int(rows.sum()) - 1
    if statistic != "conger_kappa":
        return _gwet_error(rated.counts[rows], statistic, matrix), df
    if not (rated.codes >= 0).any(axis=0).all():
        return math.nan, df  # a rater without ratings has no shares
    return _conger_error(Ratings(rated.codes[rows], rated.categories), matrix), df


def _table(rated: Ratings, statistic: str) -> FloatArray:
    """Count the units by the category of the first rater (row) and of the second (column)."""
    if rated.n_raters != 2:
        raise OptionError(
            f"statistic {statistic}: found {rated.n_raters} raters, expected 2 for this formula"
        )
    size = rated.categories.size
    has_both = (rated.codes >= 0).all(axis=1)
    cells = rated.codes[has_both, 0] * size + rated.codes[has_both, 1]
    return np.bincount(cells, minlength=size**2).reshape(size, size).astype(np.float64)


def _cohen_error(table: FloatArray, matrix: FloatArray) -> float:
    """Standard error of kappa by linearisation; NaN where a rater is constant, since kappa is 0
    then whatever the other does.
    """
    n = table.sum()
    shares = table / table.sum()
    rows = shares.sum(axis=1)
    columns = shares.sum(axis=0)
    kappa = float(kappa_of_tables(table, matrix))
    expected = float(np.einsum("i,ij,j", rows, matrix, columns))
    if math.isnan(kappa) or (rows > 0).sum() < 2 or (columns > 0).sum() < 2:
        return math.nan
    toward = np.add.outer((matrix * columns).sum(axis=1), (matrix * rows[:, None]).sum(axis=0))
    # what a unit in each cell adds to kappa, but for a constant and the factor 1 / (1 - expected)
    influence = matrix - (1 - kappa) * toward
    middle = float((shares * influence).sum())
    variance = max(float((shares * (influence - middle) ** 2).sum()), 0.0)
    return math.sqrt(variance / n) / (1 - expected)


def _gwet_error(counts: FloatArray, statistic: Statistic, matrix: FloatArray) -> float:
    """Gwet's standard error, in which the number of units with two ratings is fixed."""
    n, size = counts.shape
    agreement, n_raters = unit_agreement(counts, matrix)
    has_two = n_raters >= 2
    shares = (counts / n_raters[:, None]).mean(axis=0)
    observed = agreement[has_two].mean()
    expected = float(chance(statistic, shares, matrix))
    if 1 - expected <= 0:
        return math.nan
    value = (observed - expected) / (1 - expected)
    # The coefficient of each unit is its agreement, less what it adds to chance. Its spread over
    # units is the standard error.
    of_unit = n / has_two.sum() * (agreement - expected * has_two) / (1 - expected)
    toward = {
        "fleiss_kappa": (matrix * shares).sum(axis=1),
        "gwet_ac1": matrix.sum() / max(size * (size - 1), 1) * (1 - shares),
    }.get(statistic)
    if toward is not None:
        by_chance = (counts * toward).sum(axis=1) / n_raters
        of_unit = of_unit - 2 * (1 - value) * (by_chance - expected) / (1 - expected)
    return math.sqrt(((of_unit - value) ** 2).sum() / (n * (n - 1)))


def _alpha_error(counts: FloatArray, matrix: FloatArray) -> float:
    """Gwet's standard error of Krippendorff's alpha."""
    n = counts.shape[0]
    n_raters = counts.sum(axis=1)
    mean = n_raters.mean()
    agreement = unit_agreement(counts, matrix)[0] * n_raters / mean
    shares = counts.sum(axis=0) / (n * mean)
    uncorrected = agreement.mean()
    expected = float(np.einsum("i,ij,j", shares, matrix, shares))
    if 1 - expected <= 0:
        return math.nan
    observed = (1 - 1 / n_raters.sum()) * uncorrected + 1 / n_raters.sum()
    value = (uncorrected - expected) / (1 - expected)
    # raters of each unit beyond the mean, as a share of the mean
    excess = (n_raters - mean) / mean
    by_chance = (counts * (matrix * shares).sum(axis=1)).sum(axis=1) / mean - expected * excess
    of_unit = (agreement - observed * excess - expected) / (1 - expected)
    of_unit = of_unit - 2 * (1 - value) * (by_chance - expected) / (1 - expected)
    return math.sqrt(((of_unit - value) ** 2).sum() / (n * (n - 1)))


def _conger_error(rated: Ratings, matrix: FloatArray) -> float:
    """Standard error of Conger's kappa by linearisation of the shares of each rater."""
    n = rated.n_units
    n_raters = rated.n_raters
    size = rated.categories.size
    agreement, raters_of_unit = unit_agreement(rated.counts, matrix)
    has_two = raters_of_unit >= 2
    has_grade = rated.codes >= 0
    n_grades = has_grade.sum(axis=0)[:, None]  # of each rater
    # units x raters x categories
    chosen = np.eye(size)[np.where(has_grade, rated.codes, 0)] * has_grade[:, :, None]
    shares = chosen.sum(axis=0) / n_grades
    shares_of_others = shares.sum(axis=0) - shares
    by_others = np.einsum("ri,ij->rj", shares_of_others, matrix) / (n_raters * (n_raters - 1))
    expected = float((by_others * shares).sum())
    if 1 - expected <= 0:
        return math.nan
    observed = agreement[has_two].mean()
    value = (observed - expected) / (1 - expected)
    # how far each unit moves the shares of its raters, and by them the agreement by chance
    moves = n / n_grades * (chosen - has_grade[:, :, None] * shares)
    toward = (moves * by_others).sum(axis=(1, 2))
    of_unit = n / has_two.sum() * (agreement - expected * has_two) / (1 - expected)
    of_unit = of_unit - 2 * (1 - value) * toward / (1 - expected)
    return math.sqrt(((of_unit - value) ** 2).sum() / (n * (n - 1)))


# --- the test of no agreement beyond chance -------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ChanceTest:
    """Test of no agreement beyond chance.

    Attributes
    ----------
    value, standard_error : float
        The coefficient, and its standard error if raters agreed by chance alone.
    z, p : float
        Their ratio, and the two-sided p value of a normal.

    Examples
    --------
    >>> round(chance_test([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1]], "cohen_kappa").z, 3)
    1.491
    """

    value: float
    standard_error: float
    z: float
    p: float


def chance_test(
    ratings: npt.ArrayLike, statistic: Statistic = "cohen_kappa", *, weights: Weights | None = None
) -> ChanceTest:
    """Test whether raters agree beyond chance, with independent units.

    An interval says more: a kappa of 0.05 can be significant. This is the test that other tools
    print.

    Parameters
    ----------
    ratings : array, shape (units, raters)
        As for `agreement`; Fleiss' kappa takes complete rows.
    statistic : {"cohen_kappa", "fleiss_kappa"}
        Cohen's kappa of two raters, or Fleiss' of several.
    weights : {"linear", "quadratic", "ordinal"}
        For Cohen's kappa.

    Raises
    ------
    OptionError
        Another statistic, or weights for Fleiss' kappa.

    References
    ----------
    Fleiss, Cohen and Everitt (1969), Psychological Bulletin 72; Fleiss, Nee and Landis (1979),
    Psychological Bulletin 86.

    Examples
    --------
    >>> chance_test([[0, 0, 0], [1, 1, 1], [0, 0, 1]], "fleiss_kappa").p < 0.2
    True
    """
    checked("weights", weights, Weights)
    rated = Ratings.of(ratings)
    if statistic == "cohen_kappa":
        value, error = _cohen_by_chance(_table(rated, statistic), rated.categories, weights)
    elif statistic == "fleiss_kappa" and weights is None:
        value, error = _fleiss_by_chance(rated)
    else:
        raise OptionError(
            f"statistic {statistic}: expected cohen_kappa, or fleiss_kappa without weights"
        )
    if math.isnan(value):
        return ChanceTest(value=math.nan, standard_error=math.nan, z=math.nan, p=math.nan)
    z = value / error if error > 0 else math.nan
    return ChanceTest(value=value, standard_error=error, z=z, p=float(2 * ndtr(-abs(z))))


def _cohen_by_chance(
    table: FloatArray, categories: FloatArray, weights: Weights | None
) -> tuple[float, float]:
    """Return Cohen's kappa, and its standard error if two raters agreed by chance alone."""
    matrix = weight_matrix(categories, weights)
    shares = table / table.sum()
    rows = shares.sum(axis=1)
    columns = shares.sum(axis=0)
    expected = float(np.einsum("i,ij,j", rows, matrix, columns))
    toward = np.add.outer((matrix * columns).sum(axis=1), (matrix * rows[:, None]).sum(axis=0))
    spread = float((np.outer(rows, columns) * (matrix - toward) ** 2).sum()) - expected**2
    error = math.sqrt(max(spread, 0.0) / table.sum())
    value = float(kappa_of_tables(table, matrix))
    return value, error / (1 - expected) if expected < 1 else math.nan


def _fleiss_by_chance(rated: Ratings) -> tuple[float, float]:
    """Return Fleiss' kappa of complete rows, and its standard error if raters agreed by chance
    alone; NaN where all ratings are equal.
    """
    if not (rated.codes >= 0).all():
        raise OptionError(
            "statistic fleiss_kappa: found units that a rater did not rate, expected complete rows "
            "for this test"
        )
    m = rated.n_raters
    shares = rated.counts.mean(axis=0) / m
    expected = float((shares**2).sum())
    if (shares > 0).sum() < 2:
        return math.nan, math.nan
    observed = float(unit_agreement(rated.counts, np.eye(shares.size))[0].mean())
    spread = float((shares * (1 - shares)).sum())
    skew = float((shares * (1 - shares) * (1 - 2 * shares)).sum())
    error = math.sqrt(2 / (rated.n_units * m * (m - 1)) * (spread**2 - skew)) / spread
    return (observed - expected) / (1 - expected), error
