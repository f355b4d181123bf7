"""Confidence bands of an estimated chance of relevance, a test that it rises along the list, and
bounds that hold where it does.

At each canonical score, a band is Wilson's interval with the effective number of documents.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeAlias

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.sparse import csr_array
from scipy.special import ndtri, stdtrit
from scipy.stats import chi2

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.stats.intervals import clopper_pearson
from idealrank.theory.estimation.smoothing import GRID, step_of

_ROWS = 1 << 22  # numbers, of queries by cells, that are summed apart from the others
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
        """The documents by query; None if they are."""
        if (self.query[1:] >= self.query[:-1]).all():
            return None
        return np.argsort(self.query, kind="stable")

    def by_query(self, code: IntArray) -> tuple[IntArray, BoolArray, IntArray]:
        """Query, relevance and code of the documents, by query."""
        if self._order is None:
            return self.query, self.relevant, code
        return self.query[self._order], self.relevant[self._order], code[self._order]


def worth(
    documents: PlacedDocuments, code: IntArray, weights: FloatArray | None, share: FloatArray
) -> FloatArray:
    """Return the effective number of independent documents of weighted shares: share (1 - share) /
    variance.
    """
    cells = share.size if weights is None else weights.shape[1]
    count = np.bincount(code, minlength=cells).astype(np.float64)
    total = count if weights is None else np.einsum("mc,c->m", weights, count)
    squared = None if weights is None else weights**2
    of_all = count if squared is None else np.einsum("mc,c->m", squared, count)
    most = total**2 / of_all
    if not documents.clustered:
        hits = np.bincount(code, weights=documents.relevant, minlength=cells)
        of_hits = hits if squared is None else np.einsum("mc,c->m", squared, hits)
        squares = of_hits * (1 - 2 * share) + of_all * share**2
    else:
        squares = _between_queries(documents, code, weights, share)
    inner = (share > 0) & (share < 1) & (squares > 0)
    spread = np.where(inner, share * (1 - share), 1.0)
    independent = np.where(inner, spread * total**2 / np.where(inner, squares, 1.0), most)
    # Where all documents agree, the variance says nothing: as much is lost to queries as elsewhere.
    loss = np.maximum(1.0, (most[inner] / independent[inner]).mean()) if inner.any() else 1.0
    kept: FloatArray = np.where(inner, np.minimum(independent, most), most / loss)
    return kept


def _between_queries(
    documents: PlacedDocuments, code: IntArray, weights: FloatArray | None, share: FloatArray
) -> FloatArray:
    """Sum over queries of squared weighted residuals, with the usual correction for the mean."""
    cells, queries = share.size if weights is None else weights.shape[1], documents.n_queries
    step, total = max(1, _ROWS // cells), np.zeros(share.size)
    residuals = _own_residuals(share) if weights is None else _weighted_residuals(weights, share)
    # NumPy adds rows of several columns one by one, so blocks of any size have the same sum; a
    # single column it adds in pairs.
    rows = step if share.size == 1 else min(step, max(1, _HELD // max(cells, share.size)))
    query, relevant, code = documents.by_query(code)
    for begin in range(0, queries, step):
        end, part = min(begin + step, queries), np.zeros(share.size)
        for first in range(begin, end, rows):
            size = min(rows, end - first)
            here = slice(*np.searchsorted(query, [first, first + size]))
            squares = residuals(query[here] - first, relevant[here], code[here], size)
            squares *= squares
            squares[0] += part
            part = squares.sum(axis=0)
        total += part
    return np.asarray(total * queries / (queries - 1))


def _own_residuals(share: FloatArray) -> _Residuals:
    """Compute relevant documents less expected ones by query and cell, if each share is of one
    cell.
    """
    cells = share.size

    def residuals(query: IntArray, relevant: BoolArray, code: IntArray, queries: int) -> FloatArray:
        place = query * cells + code + relevant * (queries * cells)
        table = np.bincount(place, minlength=2 * queries * cells)
        counts, hits = table.reshape(2, queries, cells)
        counts += hits  # they were the others
        expected = counts * share
        return np.subtract(hits, expected, out=expected)

    return residuals


def _weighted_residuals(weights: FloatArray, share: FloatArray) -> _Residuals:
    """Compute weighted relevant documents less expected ones by query and share.

    Products of SciPy's sparse matrices have one order of terms; BLAS has one for each processor.
    """
    cells = weights.shape[1]
    held = np.flatnonzero(weights)
    ends = np.searchsorted(held, np.arange(weights.shape[0] + 1) * cells)
    sparse = csr_array((weights.ravel()[held], held % cells, ends), weights.shape)

    def residuals(query: IntArray, relevant: BoolArray, code: IntArray, queries: int) -> FloatArray:
        place = code * (2 * queries) + query + relevant * queries
        table = np.bincount(place, minlength=2 * queries * cells)
        both = table.reshape(cells, 2 * queries).astype(np.float64)
        both[:, :queries] += both[:, queries:]
        summed = sparse @ both
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


_BLOCKS = 10  # blocks of the test of a rising ybar, at most
_LEAST = 20  # documents in a block of the test
_ALARM = 0.05  # p value below which the labels contradict a rising ybar


@dataclass(frozen=True)
class MonotoneCheck:
    """Test of whether labels contradict a ybar that rises with the canonical score.

    Parameters
    ----------
    p : float
        p value of the hypothesis that ybar never falls; NaN with too few documents.
    blocks : int
        Number of equal stretches of the list that were compared.
    falls : tuple of float or None
        Neighbouring stretches, as (from, to) in canonical scores, between which the probability
        falls most; None if it never falls.

    Examples
    --------
    >>> print(MonotoneCheck(0.4, 10, None))
    rising ybar not contradicted (p = 0.4, 10 blocks)
    """

    p: float
    blocks: int
    falls: tuple[float, float] | None

    @property
    def contradicted(self) -> bool:
        """True if p is below 0.05."""
        return self.p < _ALARM

    def __str__(self) -> str:
        if math.isnan(self.p):
            return "rising ybar not tested: too few documents"
        fall = ""
        if self.falls and self.contradicted:
            begin, end = self.falls
            fall = f"; falls most between {begin:g} and {end:g}"
        word = "contradicted" if self.contradicted else "not contradicted"
        return f"rising ybar {word} (p = {self.p:.3g}, {self.blocks} blocks{fall})"


def check_monotone(documents: PlacedDocuments) -> MonotoneCheck:
    """The likelihood-ratio test of a rising ybar against any, on shares of up to ten equal
    blocks.
    """
    blocks = min(_BLOCKS, documents.score.size // _LEAST)
    edges = np.linspace(0.0, 1.0, max(blocks, 1) + 1)
    code = step_of(edges, documents.score)
    count = np.bincount(code, minlength=edges.size - 1).astype(np.float64)
    if blocks < 2 or (count == 0).any():
        return MonotoneCheck(math.nan, max(blocks, 0), None)
    share = np.bincount(code, weights=documents.relevant, minlength=blocks) / count
    size = count * float((worth(documents, code, None, share) / count).mean())
    # Anscombe's transform: the angle of a share has a variance of about 1 / size, whatever it is.
    angle = 2 * np.arcsin(np.sqrt((share * size + 0.375) / (size + 0.75)))
    risen = isotonic_regression(angle, weights=size).x
    distance = float((size * (angle - risen) ** 2).sum())
    changes = np.diff(share)
    worst = int(changes.argmin())
    falls = (float(edges[worst]), float(edges[worst + 2])) if changes[worst] < 0 else None
    return MonotoneCheck(_tail(distance, blocks), blocks, falls)


def _tail(distance: float, blocks: int) -> float:
    """P(T >= distance): with probability P(l, k) the rising sequence has l levels, and T is a chi
    square of k - l degrees.
    """
    if distance <= 1e-12:
        return 1.0
    levels = level_probabilities(blocks)
    tails = (chi2.sf(distance, blocks - level) for level in range(1, blocks))
    return float(sum(chance * tail for chance, tail in zip(levels, tails, strict=False)))


@cache
def level_probabilities(blocks: int) -> tuple[float, ...]:
    """P(l, k) for l = 1 to k: how often the rising sequence nearest to k independent normals has l
    levels.

    It is |s(k, l)| / k!, with Stirling numbers of the first kind.
    """
    stirling = [1]
    for k in range(1, blocks):
        # |s(k + 1, l)| = k |s(k, l)| + |s(k, l - 1)|
        pairs = zip([*stirling, 0], [0, *stirling], strict=True)
        stirling = [k * here + before for here, before in pairs]
    return tuple(number / math.factorial(blocks) for number in stirling)


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
    loss = float(worth(documents, np.zeros(score.size, np.int64), None, share)[0]) / score.size

    def bound(first: FloatArray, last: FloatArray, end: int) -> FloatArray:
        begin = np.searchsorted(score, first, side="left")
        stop = np.searchsorted(score, last, side="right")
        count = (stop - begin).astype(np.float64)
        part = (hits[stop] - hits[begin]) / np.maximum(count, 1)
        return clopper_pearson(part, count * loss, level)[end]

    return bound(grid - width, grid, 0), bound(grid, grid + width, 1)
