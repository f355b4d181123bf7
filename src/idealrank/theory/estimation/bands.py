"""Confidence bands of an estimated chance of relevance, and bounds that hold where it rises along
the list.

At each canonical score, a band is Wilson's interval with the effective number of documents.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri, stdtrit

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.stats.intervals import clopper_pearson
from idealrank.theory.estimation.smoothing import GRID

_NUMBERS_PER_SUM = 1 << 22  # numbers, of queries by cells, that are summed apart from the others
_HELD = 1 << 16  # numbers held at a time

_Residuals: TypeAlias = Callable[[IntArray, BoolArray, IntArray, int], FloatArray]


@dataclass(frozen=True, kw_only=True)
class PlacedDocuments:
    """Documents with their place, whether they are relevant, and their query."""

    score: FloatArray
    relevant: BoolArray
    query: IntArray
    n_queries: int

    @property
    def clustered(self) -> bool:
        """True if several queries show variation between queries."""
        return self.n_queries > 1

    @cached_property
    def _order(self) -> IntArray | None:
        """Order of the documents by query; None if they are in it."""
        if (self.query[1:] >= self.query[:-1]).all():
            return None
        return np.argsort(self.query, kind="stable")

    def by_query(self, code: IntArray) -> tuple[IntArray, BoolArray, IntArray]:
        """Query, relevance and code of the documents, by query."""
        if self._order is None:
            return self.query, self.relevant, code
        return self.query[self._order], self.relevant[self._order], code[self._order]


def effective_size(
    documents: PlacedDocuments, code: IntArray, weights: FloatArray | None, share: FloatArray
) -> FloatArray:
    """Return the number of independent documents that gives each weighted share its variance.

    It is share (1 - share) / variance, with the variance sum w^2 (y - share)^2 / (sum w)^2.
    """
    cells = _n_cells(weights, share)
    squared = None if weights is None else weights**2
    count = np.bincount(code, minlength=cells).astype(np.float64)
    total = _weighted_sum(weights, count)
    squared_total = _weighted_sum(squared, count)
    without_clusters = total**2 / squared_total
    if documents.clustered:
        squares = _between_queries(documents, code, weights, share)
    else:
        # sum w^2 (y - s)^2 = sum w^2 y (1 - 2s) + s^2 sum w^2, for y in {0, 1}
        hits = np.bincount(code, weights=documents.relevant, minlength=cells).astype(np.float64)
        squares = _weighted_sum(squared, hits) * (1 - 2 * share) + squared_total * share**2
    varies = (share > 0) & (share < 1) & (squares > 0)
    variance_of_one = np.where(varies, share * (1 - share), 1.0)
    size = np.where(
        varies, variance_of_one * total**2 / np.where(varies, squares, 1.0), without_clusters
    )
    # Where all documents agree, the variance says nothing: as much is lost to queries as elsewhere.
    loss = 1.0
    if varies.any():
        loss = np.maximum(1.0, (without_clusters[varies] / size[varies]).mean())
    bounded: FloatArray = np.where(
        varies, np.minimum(size, without_clusters), without_clusters / loss
    )
    return bounded


def _n_cells(weights: FloatArray | None, share: FloatArray) -> int:
    return share.size if weights is None else weights.shape[1]


def _weighted_sum(weights: FloatArray | None, by_cell: FloatArray) -> FloatArray:
    """Sum the cells of each share; without weights, each share has one cell."""
    if weights is None:
        return by_cell
    summed: FloatArray = np.einsum("mc,c->m", weights, by_cell)
    return summed


def _between_queries(
    documents: PlacedDocuments, code: IntArray, weights: FloatArray | None, share: FloatArray
) -> FloatArray:
    """Sum over queries of squared weighted residuals, with the usual correction for the mean."""
    cells = _n_cells(weights, share)
    queries = documents.n_queries
    residuals = _cell_residuals(share) if weights is None else _weighted_residuals(weights, share)
    total = np.zeros(share.size)
    step = max(1, _NUMBERS_PER_SUM // cells)
    # NumPy adds rows of several columns one by one, so blocks of any size have the same sum; a
    # single column it adds in pairs, so that it is one block.
    rows = step if share.size == 1 else min(step, max(1, _HELD // max(cells, share.size)))
    query, relevant, code = documents.by_query(code)
    for begin in range(0, queries, step):
        end = min(begin + step, queries)
        part = np.zeros(share.size)
        for first in range(begin, end, rows):
            size = min(rows, end - first)
            start, stop = np.searchsorted(query, [first, first + size])
            block = slice(start, stop)
            squares = residuals(query[block] - first, relevant[block], code[block], size)
            squares *= squares
            # Carried in as the first row, so that blocks add in the order of one long column.
            squares[0] += part
            part = squares.sum(axis=0)
        total += part
    return np.asarray(total * queries / (queries - 1))


def _cell_residuals(share: FloatArray) -> _Residuals:
    """Compute relevant documents less expected ones by query and cell, if each share is of one
    cell.
    """
    cells = share.size

    def residuals(query: IntArray, relevant: BoolArray, code: IntArray, queries: int) -> FloatArray:
        place = query * cells + code + relevant * (queries * cells)
        table = np.bincount(place, minlength=2 * queries * cells)
        # The first half counts irrelevant documents, the second relevant ones.
        irrelevant, hits = table.reshape(2, queries, cells)
        expected = (irrelevant + hits) * share
        return np.subtract(hits, expected, out=expected)

    return residuals


def _weighted_residuals(weights: FloatArray, share: FloatArray) -> _Residuals:
    """Compute weighted relevant documents less expected ones by query and share.

    Products of SciPy's sparse matrices have one order of terms; BLAS has one for each processor.
    """
    cells = weights.shape[1]
    nonzero = np.flatnonzero(weights)
    ends = np.searchsorted(nonzero, np.arange(weights.shape[0] + 1) * cells)
    sparse = csr_array((weights.ravel()[nonzero], nonzero % cells, ends), weights.shape)

    def residuals(query: IntArray, relevant: BoolArray, code: IntArray, queries: int) -> FloatArray:
        place = code * (2 * queries) + query + relevant * queries
        table = np.bincount(place, minlength=2 * queries * cells)
        # The left half counts irrelevant documents; with hits added, all.
        counts = table.reshape(cells, 2 * queries).astype(np.float64)
        counts[:, :queries] += counts[:, queries:]
        summed = sparse @ counts
        expected = summed[:, :queries] * share[:, None]
        return np.ascontiguousarray(np.subtract(summed[:, queries:], expected, out=expected).T)

    return residuals


def wilson(
    share: FloatArray, size: FloatArray, level: float, queries: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval of a share; with the quantile of Student's t where the size comes from a
    few queries.
    """
    quantile = ndtri((1 + level) / 2) if queries < 2 else stdtrit(queries - 1, (1 + level) / 2)
    squared = quantile**2 / size
    middle = (share + squared / 2) / (1 + squared)
    half = np.sqrt(squared * (share * (1 - share) + squared / 4)) / (1 + squared)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def monotone_bounds(
    documents: PlacedDocuments, width: float, level: float
) -> tuple[FloatArray, FloatArray]:
    """Bounds of a rising ybar on the grid: the mean just below a score is no more than ybar there,
    that just above no less.
    """
    grid = np.linspace(0.0, 1.0, GRID)
    order = np.argsort(documents.score, kind="stable")
    score = documents.score[order]
    hits = np.concatenate(([0], np.cumsum(documents.relevant[order])))
    share = np.array([documents.relevant.mean()])
    size = float(effective_size(documents, np.zeros(score.size, np.int64), None, share)[0])
    size_of_one = size / score.size

    def interval(first: FloatArray, last: FloatArray) -> tuple[FloatArray, FloatArray]:
        begin = np.searchsorted(score, first, side="left")
        stop = np.searchsorted(score, last, side="right")
        count = (stop - begin).astype(np.float64)
        relevant_share = (hits[stop] - hits[begin]) / np.maximum(count, 1)
        return clopper_pearson(relevant_share, count * size_of_one, level)

    low, _ = interval(grid - width, grid)
    _, high = interval(grid, grid + width)
    return low, high
