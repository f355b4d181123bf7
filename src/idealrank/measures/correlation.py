"""Agreement of two orders of the same items, query by query: pair counts, Kendall's tau, tau_AP, weighted tau, overlap at every depth.

Functions of whole columns: a query code for each item, not falling, and a value or rank of the item in each of the two orders. What is
counted is whole numbers, so a query's values have the same bits alone as among others.
"""

from dataclasses import dataclass

import numpy as np

from idealrank.data.segments import heads, number_within, sizes_of, starts_of
from idealrank.data.types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class PairCounts:
    """Pairs of items of one query, counted for each query, int64 of shape (n_queries,) each.

    Attributes
    ----------
    total : int64 array
        All pairs.
    discordant : int64 array
        Pairs that the two orders put in opposite orders.
    tied_first, tied_second, tied_both : int64 array
        Pairs tied in the first order, in the second, in both.
    """

    total: IntArray
    discordant: IntArray
    tied_first: IntArray
    tied_second: IntArray
    tied_both: IntArray

    @property
    def concordant(self) -> IntArray:
        """Pairs that both orders put in the same order."""
        return self.total - self.discordant - self.tied_first - self.tied_second + self.tied_both


def smaller_before(query: IntArray, values: AnyArray) -> IntArray:
    """For each item, how many earlier items of its query have a smaller value: n log n steps for n items.

    Items are parted by the bits of their values, the highest first: among items that agree on all higher bits, one whose bit is 1 is
    larger than each earlier one whose bit is 0.

    Parameters
    ----------
    query : int64 array, shape (n,)
        Query code of each item, not falling; inside a query the items stand in the first order.
    values : array, shape (n,)
        Any values that can be compared.

    Examples
    --------
    >>> smaller_before(np.array([0, 0, 0, 1]), np.array([2, 1, 3, 9]))
    array([0, 0, 2, 0])
    """
    if query.size == 0:
        return np.zeros(0, np.int64)
    distinct, code = np.unique(values, return_inverse=True)
    code = code.reshape(-1).astype(np.int64)
    place, prefix = np.arange(query.size), query.astype(np.int64)
    count = np.zeros(query.size, np.int64)
    for bit in range(int(distinct.size - 1).bit_length() - 1, -1, -1):
        one = (code[place] >> bit) & 1
        starts = starts_of(prefix)
        sizes = sizes_of(starts, prefix.size)
        ones = np.cumsum(one) - one
        ones -= np.repeat(ones[starts], sizes)
        zeros = number_within(prefix) - 1 - ones
        count[place] += one * zeros
        in_group = np.repeat(np.add.reduceat(1 - one, starts), sizes)
        target = np.repeat(starts, sizes) + np.where(one == 1, in_group + ones, zeros)
        moved, prefixes = np.empty_like(place), np.empty_like(prefix)
        moved[target] = place
        prefixes[target] = np.repeat(np.arange(starts.size), sizes) * 2 + one
        place, prefix = moved, prefixes
    return count


def pair_counts(query: IntArray, first: AnyArray, second: AnyArray, n_queries: int) -> PairCounts:
    """Count pairs of items of one query by how two orders put them.

    Parameters
    ----------
    query : int64 array, shape (n,)
        Query code of each item, in any order.
    first, second : array, shape (n,)
        Place, score or grade of each item in the two orders; equal values are ties.
    n_queries : int
        Number of queries, those without items included.

    Examples
    --------
    >>> counts = pair_counts(np.zeros(3, int), np.array([1, 2, 3]), np.array([1, 3, 2]), 1)
    >>> counts.concordant, counts.discordant
    (array([2]), array([1]))
    """
    order = np.lexsort((second, first, query))
    query, first, second = query[order], first[order], second[order]
    # Inside a tie of the first order the second rises, so no member is counted against another.
    inverted = smaller_before(query, -second)
    by_second = np.lexsort((second, query))
    return PairCounts(
        total=_pairs_of(np.bincount(query, minlength=n_queries)),
        discordant=np.bincount(query, inverted, minlength=n_queries).astype(np.int64),
        tied_first=_tied_pairs(query, n_queries, first),
        tied_second=_tied_pairs(query[by_second], n_queries, second[by_second]),
        tied_both=_tied_pairs(query, n_queries, first, second),
    )


def _pairs_of(sizes: IntArray) -> IntArray:
    pairs: IntArray = sizes * (sizes - 1) // 2
    return pairs


def _tied_pairs(query: IntArray, n_queries: int, *columns: AnyArray) -> IntArray:
    """Pairs of one query equal in every column; equal items must stand together."""
    starts = starts_of(query, *columns)
    pairs = _pairs_of(sizes_of(starts, query.size))
    return np.bincount(query[starts], pairs, minlength=n_queries).astype(np.int64)


def tau_b(counts: PairCounts) -> FloatArray:
    """Kendall's tau-b: (concordant - discordant) / sqrt((pairs not tied in the first) (pairs not tied in the second)).

    Returns
    -------
    float64 array, shape (n_queries,)
        In [-1, 1]; NaN where an order has no two items that differ.

    Examples
    --------
    >>> tau_b(pair_counts(np.zeros(3, int), np.array([1, 2, 3]), np.array([1, 2, 2]), 1)).round(4)
    array([0.8165])
    """
    untied = (counts.total - counts.tied_first) * (counts.total - counts.tied_second).astype(np.float64)
    balance = (counts.concordant - counts.discordant).astype(np.float64)
    values: FloatArray = np.divide(balance, np.sqrt(untied), out=np.full(untied.shape, np.nan), where=untied > 0)
    return values


def tau_ap(query: IntArray, rank: AnyArray, reference: AnyArray, n_queries: int) -> FloatArray:
    """AP correlation of an order with a reference order: disagreement near the top of the order costs more.

    ``tau_AP = 2 / (n - 1) sum_{i=2..n} C(i) / (i - 1) - 1``, C(i) = how many of the items above rank i of the order stand above its
    item in the reference too. Items tied in the reference count half for each other; for ties in the order the value is its mean
    over all their orders.

    Parameters
    ----------
    query : int64 array, shape (n,)
        Query code of each item, in any order.
    rank, reference : array, shape (n,)
        Place of each item in the order and in the reference: the smaller, the nearer to the top. Only their order counts.
    n_queries : int
        Number of queries.

    Returns
    -------
    float64 array, shape (n_queries,)
        In [-1, 1]; NaN where a query has fewer than two items.

    References
    ----------
    Yilmaz, Aslam and Robertson (2008), A new rank correlation coefficient for information retrieval, SIGIR, equation 3; Urbano and
    Marrero (2017), The treatment of ties in AP correlation, ICTIR, tau_AP,a, for ties in the order.

    Examples
    --------
    >>> tau_ap(np.zeros(3, int), np.array([1, 2, 3]), np.array([2, 1, 3]), 1)
    array([0.])
    """
    above = _Above.of(query, rank, reference)
    if above.query.size == 0:
        return np.full(n_queries, np.nan)
    # Twice C(i) from the items before its tie: the smaller in the reference count 2, the equal 1, the larger 0.
    twice = above.before + above.smaller - above.larger
    mean = np.repeat(np.add.reduceat(twice, above.starts) / above.sizes, above.sizes)
    # Two members of a tie stand either way in half of its orders.
    place = number_within(above.query) - 1
    terms = np.divide((mean + (place - above.before)) / 2, place, out=np.zeros(place.size), where=place > 0)
    n_items = np.bincount(above.query, minlength=n_queries)
    sums = np.bincount(above.query, terms, minlength=n_queries)
    return np.where(n_items > 1, 2 * sums / np.maximum(n_items - 1, 1) - 1, np.nan)


def tau_ap_direction(query: IntArray, order: AnyArray, other: AnyArray, n_queries: int) -> FloatArray:
    """AP correlation of an order with ties, in the way of tau-b, with another as its reference; `tau_ap` where neither has ties.

    An item that is not in the top tie of the order gives the share of the items above its tie that stand above it in the other order
    too (a tie there does not count as above); the value is twice the mean share, less 1. The symmetric coefficient is the mean of both
    directions.

    Parameters
    ----------
    query : int64 array, shape (n,)
        Query code of each item, in any order.
    order, other : array, shape (n,)
        Place of each item in the two orders: the smaller, the nearer to the top.
    n_queries : int
        Number of queries.

    Returns
    -------
    float64 array, shape (n_queries,)
        In [-1, 1]; NaN where `order` has no two items that differ.

    References
    ----------
    Urbano and Marrero (2017), The treatment of ties in AP correlation, ICTIR, tau_AP,b.

    Examples
    --------
    >>> tau_ap_direction(np.zeros(3, int), np.array([1, 2, 2]), np.array([1, 2, 3]), 1)
    array([1.])
    """
    above = _Above.of(query, order, other)
    below_top = above.before > 0
    shares = np.divide(above.smaller, above.before, out=np.zeros(below_top.size), where=below_top)
    n_items = np.bincount(above.query[below_top], minlength=n_queries)
    sums = np.bincount(above.query, shares, minlength=n_queries)
    return np.where(n_items > 0, 2 * sums / np.maximum(n_items, 1) - 1, np.nan)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Above:
    """Items sorted by query and order, ties of the order together, and what stands above each of these ties.

    Attributes
    ----------
    query, before, smaller, larger : int64 array, shape (n,)
        Query code; number of items above the item's tie, and of those, how many are smaller and larger than it in the other order.
    starts, sizes : int64 array, shape (n_ties,)
        Where each tie begins, an untied item being one of its own, and its number of items.
    """

    query: IntArray
    before: IntArray
    smaller: IntArray
    larger: IntArray
    starts: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, query: IntArray, order: AnyArray, other: AnyArray) -> "_Above":
        by_both = np.lexsort((other, order, query))
        query, order, other = query[by_both], order[by_both], other[by_both]
        starts = np.flatnonzero(heads(query, order))
        sizes = sizes_of(starts, query.size)
        before = np.repeat((number_within(query) - 1)[starts], sizes)
        # Sorted one way and the other inside ties of the order, no member of a tie is counted against another.
        larger, smaller = smaller_before(query, -other), np.zeros(query.size, np.int64)
        turned = np.lexsort((-np.arange(query.size), np.repeat(np.arange(starts.size), sizes)))
        smaller[turned] = smaller_before(query, other[turned])
        return cls(query=query, before=before, smaller=smaller, larger=larger, starts=starts, sizes=sizes)


def weighted_tau(query: IntArray, first: AnyArray, second: AnyArray, n_queries: int) -> FloatArray:
    """Weighted Kendall tau with hyperbolic weights: each pair weighs the sum of 1 / rank of its two items.

    The mean of two values: ranks by the first order (its ties by the second), and by the second (its ties by the first). The tie of a
    pair in an order makes its product 0, as in tau-b.

    Parameters
    ----------
    query : int64 array, shape (n,)
        Query code of each item, in any order.
    first, second : array, shape (n,)
        Place of each item in the two orders: the smaller, the nearer to the top.
    n_queries : int
        Number of queries.

    Returns
    -------
    float64 array, shape (n_queries,)
        In [-1, 1]; NaN where an order has no two items that differ.

    References
    ----------
    Vigna (2015), A weighted correlation index for rankings with ties, WWW, section 4; SciPy, ``scipy.stats.weightedtau``.

    Examples
    --------
    >>> weighted_tau(np.zeros(3, int), np.array([1, 2, 3]), np.array([1, 3, 2]), 1).round(6)
    array([0.545455])
    """
    order = np.lexsort((second, first, query))
    query, first, second = query[order], first[order], second[order]
    balance = _balances(query, first, second)
    by_second = np.lexsort((first, second, query))
    back = np.empty_like(by_second)
    back[by_second] = np.arange(by_second.size)
    n_items = np.bincount(query, minlength=n_queries)[query]
    apart_first = n_items - _tie_sizes(query, first)
    apart_second = n_items - _tie_sizes(query[by_second], second[by_second])[back]
    values = np.zeros(n_queries)
    for rank in (number_within(query), number_within(query[by_second])[back]):
        product, one, two = (np.bincount(query, column / rank, minlength=n_queries) for column in (balance, apart_first, apart_second))
        norm = np.sqrt(one) * np.sqrt(two)
        values += np.divide(product, norm, out=np.full(n_queries, np.nan), where=norm > 0) / 2
    return np.clip(values, -1.0, 1.0)


def _balances(query: IntArray, first: AnyArray, second: AnyArray) -> IntArray:
    """For each item, the pairs it is in that both orders put alike less those they put in opposite orders; sorted by both."""
    above, below = _Above.of(query, first, second), _Above.of(-query, -first, -second)
    return above.smaller - above.larger + (below.smaller - below.larger)[::-1]


def _tie_sizes(query: IntArray, column: AnyArray) -> IntArray:
    """Count the items tied with each item, itself included."""
    starts = np.flatnonzero(heads(query, column))
    sizes = sizes_of(starts, query.size)
    return np.repeat(sizes, sizes)


def overlap_sums(query: IntArray, deeper: IntArray, depth: IntArray, p: float) -> FloatArray:
    """Sum over depths i of p^(i-1) |items in both lists down to i| / i, from 1 to a depth for each query: what RBO is made of.

    Parameters
    ----------
    query : int64 array, shape (n,)
        Query code of each item that stands in both lists.
    deeper : int64 array, shape (n,)
        The larger of its two ranks: from there on both lists hold it.
    depth : int64 array, shape (n_queries,)
        Last depth of each query.
    p : float
        Persistence, in (0, 1).

    Returns
    -------
    float64 array, shape (n_queries,)
        RBO down to the depth, if the rest agreed in nothing, is (1 - p) times this.

    References
    ----------
    Webber, Moffat and Zobel (2010), A similarity measure for indefinite rankings, ACM TOIS 28(4), equation 7.

    Examples
    --------
    >>> overlap_sums(np.array([0]), np.array([2]), np.array([2]), 0.5)
    array([0.25])
    """
    deepest = int(depth.max(initial=0))
    weight = np.concatenate(([0.0], np.cumsum(p ** np.arange(deepest) / np.arange(1, deepest + 1))))
    within = deeper <= depth[query]
    query, deeper = query[within], deeper[within]
    terms = weight[depth[query]] - weight[deeper - 1]
    return np.bincount(query, terms, minlength=depth.size).astype(np.float64, copy=False)
