"""Agreement of two orders of the same items, query by query: pair counts, Kendall's tau, tau_AP,
weighted tau, overlap at every depth.

Functions of whole columns: a query code for each item, not falling, and a value or rank of the item
in each of the two orders. Counts are whole numbers, so a query's values have the same bits alone as
among others.
"""

from dataclasses import dataclass

import numpy as np

from idealrank.data.segments import heads, number_within, sizes_of, starts_of
from idealrank.data.types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class PairCounts:
    """Pairs of items of one query, counted for each query, int64 of shape (n_queries,) each."""

    total: IntArray  # All pairs
    discordant: IntArray  # Pairs that the two orders put in opposite orders
    # tied_first, tied_second, tied_both: Pairs tied in the first order, in the second, in both
    tied_first: IntArray
    tied_second: IntArray
    tied_both: IntArray

    @property
    def concordant(self) -> IntArray:
        """Pairs that both orders put in the same order."""
        return self.total - self.discordant - self.tied_first - self.tied_second + self.tied_both


def smaller_before(query: IntArray, values: AnyArray) -> IntArray:
    """Count for each item the earlier items of its query with a smaller value, in n log n steps for
    n items.
    """
    if query.size == 0:
        return np.zeros(0, np.int64)
    distinct, code = np.unique(values, return_inverse=True)
    code = code.reshape(-1).astype(np.int64)
    place = np.arange(query.size)
    prefix = query.astype(np.int64)
    count = np.zeros(query.size, np.int64)
    # A radix sort from the highest bit down. Items that agree in all higher bits form a group; in
    # it, an item with the bit set has a larger value than every earlier one without, which counts.
    for bit in range(int(distinct.size - 1).bit_length() - 1, -1, -1):
        high = (code[place] >> bit) & 1
        starts = starts_of(prefix)
        sizes = sizes_of(starts, prefix.size)
        ones_before = np.cumsum(high) - high
        ones_before -= np.repeat(ones_before[starts], sizes)
        zeros_before = number_within(prefix) - 1 - ones_before
        count[place] += high * zeros_before
        zeros_in_group = np.repeat(np.add.reduceat(1 - high, starts), sizes)
        target = np.repeat(starts, sizes) + np.where(
            high == 1, zeros_in_group + ones_before, zeros_before
        )
        moved = np.empty_like(place)
        prefixes = np.empty_like(prefix)
        moved[target] = place
        prefixes[target] = np.repeat(np.arange(starts.size), sizes) * 2 + high
        place, prefix = moved, prefixes
    return count


def pair_counts(query: IntArray, first: AnyArray, second: AnyArray, n_queries: int) -> PairCounts:
    """Count pairs of items of one query by how two orders put them."""
    order = np.lexsort((second, first, query))
    query = query[order]
    first = first[order]
    second = second[order]
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
    """Kendall's tau-b: (concordant - discordant) / sqrt((pairs not tied in the first) (pairs not
    tied in the second)).
    """
    untied = (counts.total - counts.tied_first) * (counts.total - counts.tied_second).astype(
        np.float64
    )
    balance = (counts.concordant - counts.discordant).astype(np.float64)
    values: FloatArray = np.divide(
        balance, np.sqrt(untied), out=np.full(untied.shape, np.nan), where=untied > 0
    )
    return values


def tau_ap(query: IntArray, rank: AnyArray, reference: AnyArray, n_queries: int) -> FloatArray:
    """AP correlation of an order with a reference order: disagreement near the top of the order
    costs more.
    """
    above = _Above.of(query, rank, reference)
    if above.query.size == 0:
        return np.full(n_queries, np.nan)
    # C(i) = items above i that the reference also puts above i (Yilmaz, Aslam and Robertson 2008).
    # Twice C(i) from the items before its tie: the smaller in the reference count 2, the equal 1,
    # the larger 0.
    twice = above.before + above.smaller - above.larger
    mean = np.repeat(np.add.reduceat(twice, above.starts) / above.sizes, above.sizes)
    # Two members of a tie stand either way in half of its orders.
    place = number_within(above.query) - 1
    terms = np.divide(
        (mean + (place - above.before)) / 2, place, out=np.zeros(place.size), where=place > 0
    )
    n_items = np.bincount(above.query, minlength=n_queries)
    sums = np.bincount(above.query, terms, minlength=n_queries)
    return np.where(n_items > 1, 2 * sums / np.maximum(n_items - 1, 1) - 1, np.nan)


def tau_ap_direction(
    query: IntArray, order: AnyArray, other: AnyArray, n_queries: int
) -> FloatArray:
    """AP correlation of an order with ties, in the way of tau-b, with another as its reference;
    `tau_ap` where neither has ties.

    Urbano and Marrero (2017), The treatment of ties in AP correlation, ICTIR, tau_AP,b.
    """
    above = _Above.of(query, order, other)
    below_top = above.before > 0
    shares = np.divide(above.smaller, above.before, out=np.zeros(below_top.size), where=below_top)
    n_items = np.bincount(above.query[below_top], minlength=n_queries)
    sums = np.bincount(above.query, shares, minlength=n_queries)
    return np.where(n_items > 0, 2 * sums / np.maximum(n_items, 1) - 1, np.nan)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Above:
    """Items sorted by query and order, ties of the order together, and what stands above each of
    these ties.
    """

    # query, before, smaller, larger: shape (n,): query code; number of items above the item's tie,
    # and of those, how many are smaller and larger than it in the other order
    query: IntArray
    before: IntArray
    smaller: IntArray
    larger: IntArray
    # starts, sizes: shape (n_ties,): where each tie begins, an untied item being one of its own,
    # and its number of items
    starts: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, query: IntArray, order: AnyArray, other: AnyArray) -> "_Above":
        by_both = np.lexsort((other, order, query))
        query = query[by_both]
        order = order[by_both]
        other = other[by_both]
        starts = np.flatnonzero(heads(query, order))
        sizes = sizes_of(starts, query.size)
        before = np.repeat((number_within(query) - 1)[starts], sizes)
        # Sorted one way and the other inside ties of the order, no member of a tie is counted
        # against another.
        larger = smaller_before(query, -other)
        smaller = np.zeros(query.size, np.int64)
        turned = np.lexsort((-np.arange(query.size), np.repeat(np.arange(starts.size), sizes)))
        smaller[turned] = smaller_before(query, other[turned])
        return cls(
            query=query, before=before, smaller=smaller, larger=larger, starts=starts, sizes=sizes
        )


def weighted_tau(query: IntArray, first: AnyArray, second: AnyArray, n_queries: int) -> FloatArray:
    """Weighted Kendall tau with hyperbolic weights: each pair weighs the sum of 1 / rank of its two
    items. It is the mean of two values, with ranks of the first order and of the second.
    """
    order = np.lexsort((second, first, query))
    query = query[order]
    first = first[order]
    second = second[order]
    balance = _balances(query, first, second)
    by_second = np.lexsort((first, second, query))
    to_first_order = np.empty_like(by_second)
    to_first_order[by_second] = np.arange(by_second.size)
    n_items = np.bincount(query, minlength=n_queries)[query]
    n_untied_first = n_items - _tie_sizes(query, first)
    n_untied_second = n_items - _tie_sizes(query[by_second], second[by_second])[to_first_order]
    values = np.zeros(n_queries)
    for rank in (number_within(query), number_within(query[by_second])[to_first_order]):
        product = np.bincount(query, balance / rank, minlength=n_queries)
        sum_first = np.bincount(query, n_untied_first / rank, minlength=n_queries)
        sum_second = np.bincount(query, n_untied_second / rank, minlength=n_queries)
        norm = np.sqrt(sum_first) * np.sqrt(sum_second)
        values += np.divide(product, norm, out=np.full(n_queries, np.nan), where=norm > 0) / 2
    return np.clip(values, -1.0, 1.0)


def _balances(query: IntArray, first: AnyArray, second: AnyArray) -> IntArray:
    """Count for each item its pairs that both orders put alike, less its pairs in opposite orders;
    the items are sorted by both.
    """
    # Negated columns sort in exactly the reverse order, except for items equal in all columns, and
    # equal items have equal counts.
    above = _Above.of(query, first, second)
    below = _Above.of(-query, -first, -second)
    return above.smaller - above.larger + (below.smaller - below.larger)[::-1]


def _tie_sizes(query: IntArray, column: AnyArray) -> IntArray:
    """Count the items tied with each item, itself included."""
    starts = np.flatnonzero(heads(query, column))
    sizes = sizes_of(starts, query.size)
    return np.repeat(sizes, sizes)


def overlap_sums(query: IntArray, deeper: IntArray, depth: IntArray, p: float) -> FloatArray:
    """Sum over depths i of p^(i-1) |items in both lists down to i| / i, from 1 to a depth for each
    query: what RBO is made of. `deeper` is the rank of each common item in the list that has it
    further down.
    """
    deepest = int(depth.max(initial=0))
    weight = np.concatenate(([0.0], np.cumsum(p ** np.arange(deepest) / np.arange(1, deepest + 1))))
    within = deeper <= depth[query]
    query = query[within]
    deeper = deeper[within]
    terms = weight[depth[query]] - weight[deeper - 1]
    return np.bincount(query, terms, minlength=depth.size).astype(np.float64, copy=False)
