"""Ranks under ties: the weight of each hit under the tie policy of the convention."""

import math

import numpy as np

from idealrank.data.judged import Hits, Judged
from idealrank.data.segments import heads, number_within, sizes_of, starts_of
from idealrank.data.types import FloatArray, IntArray
from idealrank.measures.cutoffs import Cutoff, limits_of
from idealrank.measures.discounts import Discount


def tied_ranks(judged: Judged, hits: Hits, gains: FloatArray) -> IntArray:
    """Ranks of the hits under the tie policies ``best`` and ``worst``; the given ranks under any
    other.
    """
    if judged.ties not in ("best", "worst") or hits.tie_first is None or hits.tie_last is None:
        return hits.rank
    tied = np.flatnonzero(hits.tie_first < hits.tie_last)
    by_policy = -gains[tied] if judged.ties == "best" else gains[tied]
    tied = tied[np.lexsort((by_policy, hits.tie_first[tied], hits.query[tied]))]
    first = hits.tie_first[tied]
    last = hits.tie_last[tied]
    gain = gains[tied]
    head = heads(hits.query[tied], first)
    group = np.cumsum(head) - 1
    size = np.bincount(group, minlength=1)
    place = np.arange(tied.size) - np.flatnonzero(head)[group]
    # Documents of a tie that are not hits gain 0. Under ``best`` they come after the gains of 0 or
    # more, which count ranks from the top of the tie, and before those below 0, which count from
    # its end; under ``worst`` after those below 0 and before the others.
    from_top = gain >= 0 if judged.ties == "best" else gain < 0
    rank = hits.rank.copy()
    rank[tied] = np.where(from_top, first + place, last - (size[group] - 1 - place))
    return rank


def hit_weights(
    judged: Judged, hits: Hits, gains: FloatArray, discount: Discount, cutoff: Cutoff | None
) -> FloatArray:
    """Weight of each hit: the discount of its rank, 0 beyond the cutoff, its mean over tie orders
    where ties are expected.
    """
    length = np.broadcast_to(np.int64(0), hits.query.shape)
    if discount.by_length:
        length = judged.lengths[hits.query]
    limit = limits_of(cutoff, judged.lengths, hits.query)
    if judged.ties != "expected" or hits.tie_first is None or hits.tie_last is None:
        return weights_within(discount, tied_ranks(judged, hits, gains), limit, length)
    tied = hits.tie_first < hits.tie_last
    if tied.all():
        return _mean_weights(discount, hits.tie_first, hits.tie_last, limit, length)
    weights = weights_within(discount, hits.rank, limit, length)
    weights[tied] = _mean_weights(
        discount, hits.tie_first[tied], hits.tie_last[tied], limit[tied], length[tied]
    )
    return weights


def tie_weights(
    judged: Judged, members: Hits, discount: Discount, cutoff: Cutoff | None
) -> FloatArray:
    """Expected weight of each member of whole ties, one tie after the other; computed once for each
    tie.
    """
    if members.tie_first is None or members.tie_last is None:
        return np.zeros(0)
    tie_starts = np.flatnonzero(members.rank == members.tie_first)
    query = members.query[tie_starts]
    first = members.tie_first[tie_starts]
    last = members.tie_last[tie_starts]
    length = np.broadcast_to(np.int64(0), query.shape)
    if discount.by_length:
        length = judged.lengths[query]
    limit = limits_of(cutoff, judged.lengths, query)
    weights = _mean_weights(discount, first, last, limit, length)
    return np.repeat(weights, last - first + 1)


def _mean_weights(
    discount: Discount, first: IntArray, last: IntArray, limit: IntArray, length: IntArray
) -> FloatArray:
    """Mean weight of the ranks of each tie group."""
    above = first - 1
    reached = np.maximum(np.minimum(last, limit), above)
    return discount.between(first, reached, length) / (last - above)


def weights_within(
    discount: Discount, rank: IntArray, limit: IntArray, length: IntArray
) -> FloatArray:
    """Discount of each rank, 0 beyond its limit."""
    within = rank <= limit
    if within.all():
        return discount.at(rank, length)
    return np.where(within, discount.at(np.minimum(rank, limit), length), 0.0)


def chance_within(
    judged: Judged, hits: Hits, gains: FloatArray, cutoff: Cutoff | None
) -> FloatArray:
    """Chance that each hit stands within the cutoff: 0 or 1, or between them where a tie group
    straddles it.
    """
    return chance_up_to(judged, hits, gains, limits_of(cutoff, judged.lengths, hits.query))


def chance_up_to(judged: Judged, hits: Hits, gains: FloatArray, limit: IntArray) -> FloatArray:
    """Chance that each hit stands at its limit or above; as `chance_within`, with a rank of its own
    for each hit.
    """
    rank = tied_ranks(judged, hits, gains)
    chance = (rank <= limit).astype(np.float64)
    if judged.ties == "expected" and hits.tie_first is not None and hits.tie_last is not None:
        first, last = hits.tie_first, hits.tie_last
        chance = np.clip((np.minimum(last, limit) - first + 1) / (last - first + 1), 0.0, 1.0)
    return chance


def rising_ranks(judged: Judged, hits: Hits) -> IntArray:
    """Ranks of relevant hits under the tie policies ``best`` and ``worst``, each query's from the
    top; the given ranks otherwise.
    """
    rank = tied_ranks(judged, hits, np.ones(hits.query.size))
    # Sorted by query already; sorting again by rank matters only where the tie policy has moved
    # hits.
    return rank if rank is hits.rank else rank[np.lexsort((rank, hits.query))]


def tie_groups(hits: Hits, first: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Start of each tie group among the hits, number of its hits, and hits of the query before
    it.
    """
    starts = starts_of(hits.query, first)
    return starts, sizes_of(starts, hits.query.size), number_within(hits.query)[starts] - 1


def distinct_rows(*columns: IntArray) -> tuple[IntArray, IntArray]:
    """The different rows of some columns of whole numbers from 0 on, and which of them each row
    is.

    Rows are packed into one number where they fit, which sorts many times faster than rows do.
    """
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    if math.prod(sizes) >= 2**62:
        distinct, row_of = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
        return distinct, row_of.reshape(-1)
    key = np.zeros(columns[0].shape, np.int64)
    for column, size in zip(columns, sizes, strict=True):
        key = key * size + column
    _, first, row_of = np.unique(key, return_index=True, return_inverse=True)
    return np.column_stack([column[first] for column in columns]), row_of.reshape(-1)
