"""Published standard errors of agreement coefficients, for independent units, as other tools print
them.

The jackknife over clusters is the default elsewhere. These formulas serve comparison with other
tools, and the test of no agreement beyond chance.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from idealrank.data.types import FloatArray
from idealrank.errors import OptionError
from idealrank.judging.coefficients import Level, Statistic, chance, kappa_of_tables, unit_agreement
from idealrank.judging.ratings import Ratings, Weights, weight_matrix
from idealrank.measures.rules import checked


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
        table = _table(rated, statistic)
        return _cohen_error(table, matrix), math.inf
    if statistic == "krippendorff_alpha":
        if level == "interval":
            matrix = weight_matrix(rated.categories, "quadratic")
        elif level not in {None, "nominal"}:
            raise OptionError(
                f"variance analytic: found krippendorff_alpha at level {level}, expected "
                f"nominal or interval; use jackknife"
            )
        counts = rated.counts[rated.counts.sum(axis=1) >= 2]
        return _alpha_error(counts, matrix), counts.shape[0] - 1
    if statistic == "scott_pi":
        both = (rated.codes >= 0).all(axis=1)
        return _gwet_error(rated.counts[both], "fleiss_kappa", matrix), int(both.sum()) - 1
    rows = rated.counts.sum(axis=1) > 0
    if statistic == "conger_kappa" and not (rated.codes >= 0).any(axis=0).all():
        return math.nan, int(rows.sum()) - 1  # a rater without ratings has no shares
    if statistic == "conger_kappa":
        return _conger_error(Ratings(rated.codes[rows], rated.categories), matrix), int(
            rows.sum()
        ) - 1
    return _gwet_error(rated.counts[rows], statistic, matrix), int(rows.sum()) - 1


def _table(rated: Ratings, statistic: str) -> FloatArray:
    if rated.n_raters != 2:
        raise OptionError(
            f"statistic {statistic}: found {rated.n_raters} raters, expected 2 for this formula"
        )
    size, both = rated.categories.size, (rated.codes >= 0).all(axis=1)
    cells = rated.codes[both, 0] * size + rated.codes[both, 1]
    return np.bincount(cells, minlength=size**2).reshape(size, size).astype(np.float64)


def _cohen_error(table: FloatArray, matrix: FloatArray) -> float:
    """Standard error of kappa by linearisation; NaN where a rater is constant, since kappa is 0
    then whatever the other does.
    """
    n, shares = table.sum(), table / table.sum()
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    kappa = float(kappa_of_tables(table, matrix))
    expected = float(np.einsum("i,ij,j", rows, matrix, columns))
    if math.isnan(kappa) or (rows > 0).sum() < 2 or (columns > 0).sum() < 2:
        return math.nan
    toward = np.add.outer((matrix * columns).sum(axis=1), (matrix * rows[:, None]).sum(axis=0))
    part = matrix - (1 - kappa) * toward
    middle = float((shares * part).sum())
    return math.sqrt(max(float((shares * (part - middle) ** 2).sum()), 0.0) / n) / (1 - expected)


def _gwet_error(counts: FloatArray, statistic: Statistic, matrix: FloatArray) -> float:
    """Gwet's standard error, in which the number of units with two ratings is fixed."""
    n, size = counts.shape
    agreement, n_raters = unit_agreement(counts, matrix)
    two = n_raters >= 2
    shares = (counts / n_raters[:, None]).mean(axis=0)
    observed, expected = agreement[two].mean(), float(chance(statistic, shares, matrix))
    if 1 - expected <= 0:
        return math.nan
    value = (observed - expected) / (1 - expected)
    own = n / two.sum() * (agreement - expected * two) / (1 - expected)
    toward = {
        "fleiss_kappa": (matrix * shares).sum(axis=1),
        "gwet_ac1": matrix.sum() / max(size * (size - 1), 1) * (1 - shares),
    }.get(statistic)
    if toward is not None:
        own = own - 2 * (1 - value) * ((counts * toward).sum(axis=1) / n_raters - expected) / (
            1 - expected
        )
    return math.sqrt(((own - value) ** 2).sum() / (n * (n - 1)))


def _alpha_error(counts: FloatArray, matrix: FloatArray) -> float:
    """Gwet's standard error of Krippendorff's alpha."""
    n, n_raters = counts.shape[0], counts.sum(axis=1)
    mean = n_raters.mean()
    agreement = unit_agreement(counts, matrix)[0] * n_raters / mean
    shares = counts.sum(axis=0) / (n * mean)
    uncorrected, expected = agreement.mean(), float(np.einsum("i,ij,j", shares, matrix, shares))
    if 1 - expected <= 0:
        return math.nan
    observed = (1 - 1 / n_raters.sum()) * uncorrected + 1 / n_raters.sum()
    value, size = (uncorrected - expected) / (1 - expected), (n_raters - mean) / mean
    by_chance = (counts * (matrix * shares).sum(axis=1)).sum(axis=1) / mean - expected * size
    own = (agreement - observed * size - expected) / (1 - expected) - 2 * (1 - value) * (
        by_chance - expected
    ) / (1 - expected)
    return math.sqrt(((own - value) ** 2).sum() / (n * (n - 1)))


def _conger_error(rated: Ratings, matrix: FloatArray) -> float:
    """Standard error of Conger's kappa by linearisation of the shares of each rater."""
    n, n_raters, size = rated.n_units, rated.n_raters, rated.categories.size
    agreement, rated_by = unit_agreement(rated.counts, matrix)
    two = rated_by >= 2
    has = rated.codes >= 0
    # units x raters x categories
    chosen = np.eye(size)[np.where(has, rated.codes, 0)] * has[:, :, None]
    shares = chosen.sum(axis=0) / has.sum(axis=0)[:, None]
    whole = shares.sum(axis=0)
    others = np.einsum("ri,ij->rj", whole - shares, matrix) / (n_raters * (n_raters - 1))
    expected = float((others * shares).sum())
    if 1 - expected <= 0:
        return math.nan
    observed = agreement[two].mean()
    value = (observed - expected) / (1 - expected)
    toward = (n / has.sum(axis=0)[:, None] * (chosen - has[:, :, None] * shares) * others).sum(
        axis=(1, 2)
    )
    own = n / two.sum() * (agreement - expected * two) / (1 - expected) - 2 * (
        1 - value
    ) * toward / (1 - expected)
    return math.sqrt(((own - value) ** 2).sum() / (n * (n - 1)))


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
        table = _table(rated, statistic)
        matrix, shares = weight_matrix(rated.categories, weights), table / table.sum()
        rows, columns = shares.sum(axis=1), shares.sum(axis=0)
        expected = float(np.einsum("i,ij,j", rows, matrix, columns))
        toward = np.add.outer((matrix * columns).sum(axis=1), (matrix * rows[:, None]).sum(axis=0))
        spread = float((np.outer(rows, columns) * (matrix - toward) ** 2).sum()) - expected**2
        value = float(kappa_of_tables(table, matrix))
        error = math.sqrt(max(spread, 0.0) / table.sum())
        error = error / (1 - expected) if expected < 1 else math.nan
    elif statistic == "fleiss_kappa" and weights is None:
        whole = (rated.codes >= 0).all(axis=1)
        if not whole.all():
            raise OptionError(
                "statistic fleiss_kappa: found units that a rater did not rate, expected "
                "complete rows for this test"
            )
        m, shares = rated.n_raters, rated.counts.mean(axis=0) / rated.n_raters
        expected = float((shares**2).sum())
        if (shares > 0).sum() < 2:
            return ChanceTest(value=math.nan, standard_error=math.nan, z=math.nan, p=math.nan)
        value = (float(unit_agreement(rated.counts, np.eye(shares.size))[0].mean()) - expected) / (
            1 - expected
        )
        spread = float((shares * (1 - shares)).sum())
        skew = float((shares * (1 - shares) * (1 - 2 * shares)).sum())
        error = math.sqrt(2 / (rated.n_units * m * (m - 1)) * (spread**2 - skew)) / spread
    else:
        raise OptionError(
            f"statistic {statistic}: expected cohen_kappa, or fleiss_kappa without weights"
        )
    if math.isnan(value):
        return ChanceTest(value=math.nan, standard_error=math.nan, z=math.nan, p=math.nan)
    z = value / error if error > 0 else math.nan
    return ChanceTest(value=value, standard_error=error, z=z, p=float(2 * ndtr(-abs(z))))
