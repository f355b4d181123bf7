"""Agreement coefficients as functions of sums over units, so that leaving out a cluster costs a
subtraction.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.judging.ratings import Ratings, Weights, weight_matrix

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

# chance agreement this near to 1 leaves nothing that raters could agree on beyond chance
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
    """The terms whose mean is the coefficient: one, or one for each pair of raters for Cohen's
    kappa.
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
                f"statistic scott_pi: found {rated.n_raters} raters, expected 2; fleiss_kappa "
                f"is its form for more"
            )
        both = np.asarray((rated.codes >= 0).all(axis=1))
        yield of_counts(rated.counts[both], "fleiss_kappa", matrix, both)
    else:
        yield of_counts(rated.counts, statistic, matrix)


# --- two raters -----------------------------------------------------------------------------------


def _cohen(rated: Ratings, a: int, b: int, matrix: FloatArray) -> Summand:
    """Cohen's kappa of two raters, on the units that both rated: sums are the cells of their
    table.
    """
    size = rated.categories.size
    first, second = rated.codes[:, a], rated.codes[:, b]
    both = np.flatnonzero((first >= 0) & (second >= 0))
    cell = first[both] * size + second[both]

    def sums(cluster: IntArray, n_clusters: int) -> FloatArray:
        cells = np.bincount(cluster[both] * size**2 + cell, minlength=n_clusters * size**2)
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
        spread = (shares * (1 - shares)).sum(axis=-1)
        return np.asarray(
            matrix.sum() / (size * (size - 1)) * spread if size > 1 else np.ones(shares.shape[:-1])
        )
    return np.full(shares.shape[:-1], matrix.sum() / size**2)  # Brennan and Prediger


def of_counts(
    counts: FloatArray, statistic: Statistic, matrix: FloatArray, kept: BoolArray | None = None
) -> Summand:
    """A coefficient that sees how many raters chose each category, and not which; `kept` marks the
    units that counts are of.
    """
    agreement, n_raters = unit_agreement(counts, matrix)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(n_raters[:, None] > 0, counts / n_raters[:, None], 0.0)
    columns = [agreement, (n_raters >= 2).astype(np.float64), *shares.T]

    def sums(cluster: IntArray, n_clusters: int) -> FloatArray:
        of_unit = cluster if kept is None else cluster[kept]
        return np.stack(
            [
                np.asarray(np.bincount(of_unit, column, n_clusters), np.float64)
                for column in columns
            ],
            axis=1,
        )

    def value(found: FloatArray) -> FloatArray:
        parts = found[..., 2:]
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = found[..., 0] / found[..., 1]
            share = parts / parts.sum(axis=-1, keepdims=True)
        return beyond_chance(observed, chance(statistic, share, matrix))

    return Summand(sums, value)


def _conger(rated: Ratings, matrix: FloatArray) -> Summand:
    """Conger's kappa: chance agreement is the mean over pairs of raters, by the shares of each
    rater.
    """
    size, n_raters = rated.categories.size, rated.n_raters
    agreement, rated_by = unit_agreement(rated.counts, matrix)
    usable = (rated_by >= 2).astype(np.float64)

    def sums(cluster: IntArray, n_clusters: int) -> FloatArray:
        found = np.zeros((n_clusters, 2 + n_raters * size))
        found[:, 0] = np.bincount(cluster, agreement, n_clusters)
        found[:, 1] = np.bincount(cluster, usable, n_clusters)
        for rater, column in enumerate(rated.codes.T):
            has = column >= 0
            cells = np.bincount(cluster[has] * size + column[has], minlength=n_clusters * size)
            found[:, 2 + rater * size : 2 + (rater + 1) * size] = cells.reshape(n_clusters, size)
        return found

    def value(found: FloatArray) -> FloatArray:
        shares = found[..., 2:].reshape(*found.shape[:-1], n_raters, size)
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = found[..., 0] / found[..., 1]
            shares = shares / shares.sum(axis=-1, keepdims=True)
        whole = shares.sum(axis=-2)
        own = _quadratic(shares, shares, matrix).sum(axis=-1)
        return beyond_chance(
            observed, (_quadratic(whole, whole, matrix) - own) / (n_raters * (n_raters - 1))
        )

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
    kept, weight = counts[usable], 1 / (n_raters[usable] - 1)

    def sums(cluster: IntArray, n_clusters: int) -> FloatArray:
        found = np.zeros((n_clusters, size, size))
        of_unit = cluster[usable]
        for i in range(size):
            for j in range(i, size):
                pairs = kept[:, i] * (kept[:, j] - (i == j)) * weight
                found[:, i, j] = found[:, j, i] = np.bincount(of_unit, pairs, n_clusters)
        return found.reshape(n_clusters, size**2)

    def value(cells: FloatArray) -> FloatArray:
        table = cells.reshape(*cells.shape[:-1], size, size)
        margins = table.sum(axis=-1)
        apart = (
            distances(margins, categories, level)
            if distance is None
            else np.broadcast_to(distance, table.shape)
        )
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
        return np.broadcast_to(
            np.divide(apart, whole, out=np.zeros_like(apart), where=whole != 0) ** 2, shape
        )
    middle = np.cumsum(margins, axis=-1) - margins / 2
    return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)
