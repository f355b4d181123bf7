"""Bootstrap over queries, whose variation gives the errors of propensities: draws, intervals, and
logs that show no variation.
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import stdtrit

from idealrank.clicks.cell_counts import CellCounts
from idealrank.data.types import BoolArray, FloatArray, IntArray

LEAST_QUERIES = 2
"""Queries below which there is no variation between queries, and therefore no interval."""


def query_draws(
    generator: np.random.Generator, n_queries: int, replicates: int
) -> Iterator[IntArray]:
    """Draw queries with replacement, and count how often each one is drawn. Shape (queries,),
    replicate by replicate.
    """
    for _ in range(replicates):
        yield np.bincount(generator.integers(0, n_queries, n_queries), minlength=n_queries)


def linking_queries(cells: CellCounts, query_of_pair: IntArray) -> IntArray:
    """Count, up to two, the queries that link each rank with the first by clicked documents. Shape
    (ranks,).

    The count is 1 if the link breaks without some query, however many queries link other ranks.
    """
    edges = _rank_links(cells, query_of_pair)
    upper, lower, query = edges.T
    linked = _linked_with_first(edges, cells.n_situations)
    counts = np.where(linked, LEAST_QUERIES, 0)
    _, pair_of_ranks, n_queries = np.unique(
        upper * cells.n_situations + lower, return_inverse=True, return_counts=True
    )
    is_single = n_queries[pair_of_ranks.reshape(-1)] == 1
    # A tree of links, with as few single ones as possible, holds without any other query: only its
    # own queries can break a link.
    tree = _tree(upper, lower, np.where(is_single, 2, 1), cells.n_situations)
    for candidate in np.unique(query[is_single & tree]).tolist():
        without = edges[query != candidate]
        counts[linked & ~_linked_with_first(without, cells.n_situations)] = 1
    counts[0] = counts[1:].max(initial=0)
    return counts


def _rank_links(cells: CellCounts, query_of_pair: IntArray) -> IntArray:
    """Two ranks of a clicked document and its query, each combination once. Shape (links, 3)."""
    was_clicked = np.bincount(cells.pair, cells.clicked, cells.n_pairs) > 0
    clicked_cells = np.flatnonzero(was_clicked[cells.pair])
    pair = cells.pair[clicked_cells]
    rank = cells.situation[clicked_cells]
    is_same_pair = pair[1:] == pair[:-1]  # cells are sorted by pair, then by rank
    upper = rank[:-1][is_same_pair]
    lower = rank[1:][is_same_pair]
    query = query_of_pair[pair[1:][is_same_pair]]
    return np.unique(np.column_stack([upper, lower, query]), axis=0)


def _linked_with_first(edges: IntArray, n_ranks: int) -> BoolArray:
    """Mark ranks below the first that a chain of links joins with it."""
    from scipy.sparse import coo_array  # noqa: PLC0415  (a model without a fit needs none)
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    upper, lower, _ = edges.T
    graph = coo_array((np.ones(len(edges)), (upper, lower)), shape=(n_ranks, n_ranks))
    _, labels = connected_components(graph, directed=False)
    is_linked: BoolArray = (labels == labels[0]) & (np.arange(n_ranks) > 0)
    return is_linked


def _tree(upper: IntArray, lower: IntArray, length: IntArray, n_ranks: int) -> BoolArray:
    """Mark the links of a spanning tree of least length."""
    from scipy.sparse import csr_array  # noqa: PLC0415
    from scipy.sparse.csgraph import minimum_spanning_tree  # noqa: PLC0415

    keys, first = np.unique(upper * n_ranks + lower, return_index=True)
    graph = csr_array((length[first], (upper[first], lower[first])), shape=(n_ranks, n_ranks))
    chosen = minimum_spanning_tree(graph).tocoo()
    is_chosen = np.isin(keys, chosen.row.astype(np.int64) * n_ranks + chosen.col)
    return np.isin(upper * n_ranks + lower, keys[is_chosen])


def one_query_cautions(n_linking: IntArray) -> tuple[str, ...]:
    """Caution about ranks without an interval because a single query links them with the first;
    empty without such a rank.
    """
    ranks = np.flatnonzero(n_linking == 1) + 1
    if not ranks.size:
        return ()
    text = (
        f"no interval at {ranks.size} of {n_linking.size} ranks, such as rank {ranks[-1]}: only "
        "one query links this rank with the first, and one query shows no variation between "
        "queries; log more queries whose documents change ranks"
    )
    return (text,)


def log_intervals(
    relative: FloatArray,
    replicates: FloatArray,
    n_linking: IntArray,
    n_queries: int,
    confidence: float,
) -> FloatArray:
    """Intervals of propensities on logarithms, whose errors are symmetric; errors of ratios are
    not.
    """
    intervals = np.full((relative.size, 2), np.nan)
    if n_queries < LEAST_QUERIES:
        return intervals
    quantile = float(stdtrit(n_queries - 1, (1 + confidence) / 2))
    for rank, (value, drawn) in enumerate(zip(relative.tolist(), replicates.T, strict=True)):
        logs = np.log(drawn[drawn > 0])
        if value > 0 and logs.size > 1 and n_linking[rank] >= LEAST_QUERIES:
            reach = float(logs.std(ddof=1)) * quantile
            intervals[rank] = value * math.exp(-reach), value * math.exp(reach)
    return intervals
