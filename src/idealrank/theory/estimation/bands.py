"""Confidence band of an estimated chance at each canonical score: Wilson's interval with the effective number of documents."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from idealrank.data.types import BoolArray, FloatArray, IntArray

_ROWS = 1 << 22  # numbers held at a time when queries are gone through


@dataclass(frozen=True)
class PlacedDocuments:
    """Documents with their place, whether they are relevant, and their query.

    Parameters
    ----------
    score : float64 array, shape (n,)
        Canonical scores.
    relevant : bool array, shape (n,)
        Whether the grade is reached.
    query : int64 array, shape (n,)
        Rising codes are not needed.
    n_queries : int
        How many queries.
    """

    score: FloatArray
    relevant: BoolArray
    query: IntArray
    n_queries: int

    @property
    def clustered(self) -> bool:
        """True if several queries show variation between queries."""
        return self.n_queries > 1


def worth(documents: PlacedDocuments, code: IntArray, weights: FloatArray, share: FloatArray) -> FloatArray:
    """Return the effective number of independent documents of weighted shares: share (1 - share) / variance.

    The variance is the sum over documents, or over queries where there are several, of squared weighted residuals (linearisation of a
    ratio). Queries count as no more than independent documents.

    Parameters
    ----------
    documents : PlacedDocuments
        The sample.
    code : int64 array, shape (n,)
        The cell of each document.
    weights : float64 array, shape (m, n_cells)
        The weight of a document in each share.
    share : float64 array, shape (m,)
        The weighted shares.

    Returns
    -------
    float64 array, shape (m,)
        Above 0.

    References
    ----------
    Korn and Graubard (1998), Confidence intervals for proportions with small expected number of positive counts estimated from survey
    data. Survey Methodology 24(2).

    Examples
    --------
    >>> four = PlacedDocuments(np.array([0.1, 0.3, 0.6, 0.9]), np.array([False, True, True, True]), np.zeros(4, int), 1)
    >>> worth(four, np.array([0, 0, 1, 1]), np.eye(2), np.array([0.5, 1.0]))
    array([2., 2.])
    """
    cells = weights.shape[1]
    count = np.bincount(code, minlength=cells).astype(np.float64)
    total = weights @ count
    most = total**2 / (weights**2 @ count)
    if not documents.clustered:
        hits = np.bincount(code, weights=documents.relevant, minlength=cells)
        squares = (weights**2 @ hits) * (1 - 2 * share) + (weights**2 @ count) * share**2
    else:
        squares = _between_queries(documents, code, weights, share)
    inner = (share > 0) & (share < 1) & (squares > 0)
    spread = np.where(inner, share * (1 - share), 1.0)
    found = np.where(inner, spread * total**2 / np.where(inner, squares, 1.0), most)
    # Where all documents agree, the variance says nothing: as much is lost to queries as elsewhere.
    loss = np.maximum(1.0, (most[inner] / found[inner]).mean()) if inner.any() else 1.0
    kept: FloatArray = np.where(inner, np.minimum(found, most), most / loss)
    return kept


def _between_queries(documents: PlacedDocuments, code: IntArray, weights: FloatArray, share: FloatArray) -> FloatArray:
    """Sum over queries of squared weighted residuals, with the usual correction for the mean."""
    cells, queries = weights.shape[1], documents.n_queries
    step = max(1, _ROWS // cells)
    order = np.argsort(documents.query, kind="stable")
    bounds = np.searchsorted(documents.query[order], np.arange(0, queries + step, step))
    total = np.zeros(share.size)
    for first, last, begin in zip(bounds[:-1], bounds[1:], range(0, queries, step), strict=True):
        rows = order[first:last]
        place = (documents.query[rows] - begin) * cells + code[rows]
        size = min(step, queries - begin) * cells
        count = np.bincount(place, minlength=size).reshape(-1, cells)
        hits = np.bincount(place, weights=documents.relevant[rows], minlength=size).reshape(-1, cells)
        total += ((hits @ weights.T - (count @ weights.T) * share) ** 2).sum(axis=0)
    squares: FloatArray = total * queries / (queries - 1)
    return squares


def wilson(share: FloatArray, size: FloatArray, level: float, queries: int = 0) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval of a share; with the quantile of Student's t where the size comes from a few queries.

    References
    ----------
    Wilson (1927), JASA 22(158); Brown, Cai and DasGupta (2001), Statistical Science 16(2), section 3.1.1.

    Examples
    --------
    >>> low, high = wilson(np.array([0.5]), np.array([100.0]), 0.95)
    >>> low.round(4), high.round(4)
    (array([0.4038]), array([0.5962]))
    """
    quantile = ndtri((1 + level) / 2) if queries < 2 else stdtrit(queries - 1, (1 + level) / 2)
    squared = quantile**2 / size
    middle = (share + squared / 2) / (1 + squared)
    half = np.sqrt(squared * (share * (1 - share) + squared / 4)) / (1 + squared)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
