"""Bootstrap over queries, whose variation gives the errors of propensities: draws, intervals, and logs that show no variation."""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import stdtrit

from idealrank.clicks.cell_counts import CellCounts
from idealrank.data.types import FloatArray, IntArray

LEAST_QUERIES = 2
"""Queries below which there is no variation between queries, and therefore no interval."""


def query_draws(generator: np.random.Generator, n_queries: int, replicates: int) -> Iterator[IntArray]:
    """Draw queries with replacement, and count how often each one is drawn. Shape (queries,), replicate by replicate.

    Examples
    --------
    >>> [int(times.sum()) for times in query_draws(np.random.default_rng(1), 3, 2)]
    [3, 3]
    """
    for _ in range(replicates):
        yield np.bincount(generator.integers(0, n_queries, n_queries), minlength=n_queries)


def comparing_queries(cells: CellCounts, query_of_pair: IntArray, *, with_first: bool = False) -> IntArray:
    """Count the queries that compare each rank with others, by clicked documents that were at several ranks. Shape (ranks,).

    Parameters
    ----------
    cells : CellCounts
        Counts by rank.
    query_of_pair : int64 array, shape (pairs,)
        Number of the query of each pair.
    with_first : bool
        Count only documents that were also at the first rank.

    Examples
    --------
    >>> cells = CellCounts(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2]), np.ones(4), np.array([1.0, 0, 1, 0]), 2, 3)
    >>> comparing_queries(cells, np.array([0, 1])).tolist()
    [1, 2, 1]
    >>> comparing_queries(cells, np.array([0, 1]), with_first=True).tolist()
    [1, 1, 0]
    """
    compares = (np.bincount(cells.pair, cells.clicked, cells.n_pairs) > 0) & (np.bincount(cells.pair, minlength=cells.n_pairs) > 1)
    if with_first:
        compares &= np.bincount(cells.pair[cells.situation == 0], minlength=cells.n_pairs) > 0
    used = compares[cells.pair]
    keys = np.unique(query_of_pair[cells.pair[used]] * cells.n_situations + cells.situation[used])
    return np.bincount(keys % cells.n_situations, minlength=cells.n_situations)


def one_query_cautions(n_comparing: IntArray) -> tuple[str, ...]:
    """Caution about ranks without an interval because a single query compares them; empty without such a rank.

    Parameters
    ----------
    n_comparing : int64 array, shape (ranks,)
        Queries that compare each rank with others.

    Examples
    --------
    >>> one_query_cautions(np.array([4, 4, 1]))[0][:44]
    'no interval at 1 of 3 ranks, such as rank 3:'
    >>> one_query_cautions(np.array([4, 4, 0]))
    ()
    """
    ranks = np.flatnonzero(n_comparing == 1) + 1
    if not ranks.size:
        return ()
    text = (
        f"no interval at {ranks.size} of {n_comparing.size} ranks, such as rank {ranks[0]}: only one query compares this rank with "
        "others, and one query shows no variation between queries; log more queries whose documents change ranks"
    )
    return (text,)


def log_intervals(relative: FloatArray, replicates: FloatArray, n_comparing: IntArray, n_queries: int, confidence: float) -> FloatArray:
    """Intervals of propensities on logarithms, whose errors are symmetric; errors of ratios are not.

    Parameters
    ----------
    relative : float64 array, shape (ranks,)
        Estimates.
    replicates : float64 array, shape (replicates, ranks)
        Estimates of a bootstrap over queries; NaN and 0 without a link or a click.
    n_comparing : int64 array, shape (ranks,)
        Queries that compare each rank with others.
    n_queries : int
        Queries: the standard errors of few are uncertain, as the quantile of Student's distribution allows for.
    confidence : float
        Confidence level.

    Returns
    -------
    float64 array, shape (ranks, 2)
        NaN for an estimate of 0 or NaN, without two replicates, or if fewer than two queries compare the rank with others.

    Examples
    --------
    >>> log_intervals(np.array([1.0, 0.5]), np.array([[1, 0.4], [1, 0.6]]), np.array([9, 9]), 20, 0.95).round(2).tolist()
    [[1.0, 1.0], [0.27, 0.91]]
    """
    found = np.full((relative.size, 2), np.nan)
    if n_queries < LEAST_QUERIES:
        return found
    quantile = float(stdtrit(n_queries - 1, (1 + confidence) / 2))
    for rank, (value, drawn) in enumerate(zip(relative.tolist(), replicates.T, strict=True)):
        logs = np.log(drawn[drawn > 0])
        if value > 0 and logs.size > 1 and n_comparing[rank] >= LEAST_QUERIES:
            reach = float(logs.std(ddof=1)) * quantile
            found[rank] = value * math.exp(-reach), value * math.exp(reach)
    return found
