"""Stopping on the way down a list: each document from the top is worth something and lets only some
of the users pass.
"""

from dataclasses import dataclass

import numpy as np

from idealrank.data.judged import Hits, Judged
from idealrank.data.segments import sizes_of, starts_of
from idealrank.data.types import FloatArray, IntArray
from idealrank.measures.long_ties import reciprocal_in_long_tie
from idealrank.measures.ranks import tie_groups, tied_ranks

# Cells of a block of tie groups: what is worked out at once stays in memory that is had anyway.
_CELLS = 1 << 20
# A tie group is long where a document at a time takes longer than a few places do: documents times
# places, and what each document costs.
_LONG, _EACH = 1 << 20, 256


@dataclass(frozen=True, kw_only=True, eq=False)
class Stops:
    """Stops of users down each list: query and rank, the expected reciprocal rank there, and the
    share that passes.
    """

    query: IntArray
    rank: IntArray
    worth: FloatArray
    passing: FloatArray


def what_is_met(judged: Judged, hits: Hits, stops: FloatArray, limit: IntArray) -> Stops:
    """Hits that may stop a user, or where ties are averaged whole tie groups, at their first
    ranks.
    """
    if judged.ties == "expected" and hits.tie_first is not None and hits.tie_last is not None:
        useful = np.flatnonzero((stops > 0) & (hits.tie_first <= limit))
        query = hits.query[useful]
        first = hits.tie_first[useful]
        last = hits.tie_last[useful]
        stops = stops[useful]
        starts, sizes, _ = tie_groups(Hits(query=query, rank=first, grade=stops), first)
        above, size = first[starts] - 1, (last - first + 1)[starts]
        reached = np.clip(limit[useful][starts] - above, 0, size)
        worth = reciprocal_in_ties(
            stops=stops, starts=starts, members=sizes, above=above, size=size, reached=reached
        )
        passing = np.multiply.reduceat(1.0 - stops, starts) if starts.size else np.zeros(0)
        return Stops(query=query[starts], rank=first[starts], worth=worth, passing=passing)
    rank = tied_ranks(judged, hits, stops)
    order = np.arange(rank.size) if rank is hits.rank else np.lexsort((rank, hits.query))
    order = order[(stops[order] > 0) & (rank[order] <= limit[order])]
    return Stops(
        query=hits.query[order],
        rank=rank[order],
        worth=stops[order] / rank[order],
        passing=1.0 - stops[order],
    )


def down_the_ranks(
    stops: FloatArray, members: Hits | None = None, met: Stops | None = None
) -> FloatArray:
    """Expected reciprocal rank at which users stop, over lists of one length, shape
    (n_queries,).
    """
    none = Stops(
        query=np.zeros(0, np.int64),
        rank=np.zeros(0, np.int64),
        worth=np.zeros(0),
        passing=np.zeros(0),
    )
    met = met or none
    emptied = (none.query, none.rank) if members is None else (members.query, members.rank)
    rank_of = np.minimum(np.concatenate((emptied[1], met.rank)), stops.shape[1] + 1)
    # Sorted by rank and else as they come, so that of two at one place the later one counts.
    order = small_first(rank_of)
    bounds = np.searchsorted(rank_of[order], np.arange(1, stops.shape[1] + 2))
    query = np.concatenate((emptied[0], met.query))[order]
    worths = np.concatenate((np.zeros(emptied[0].size), met.worth))[order]
    passes = np.concatenate((np.ones(emptied[0].size), met.passing))[order]
    values, view = np.zeros(stops.shape[0]), np.ones(stops.shape[0])
    for rank, chances in enumerate(stops.T, 1):
        worth, passing = chances / rank, 1.0 - chances
        here = slice(bounds[rank - 1], bounds[rank])
        worth[query[here]], passing[query[here]] = worths[here], passes[here]
        values += view * worth
        view *= passing
    return values


def small_first(numbers: IntArray) -> IntArray:
    """Order of small whole numbers, equal ones as they come; packed into few bits, which sorts
    several times as fast.
    """
    return np.argsort(numbers.astype(np.min_scalar_type(numbers.max(initial=0))), kind="stable")


def cascaded(query: IntArray, worth: FloatArray, passing: FloatArray, n_queries: int) -> FloatArray:
    """Sum of the worth of what is met, each times the share of users that pass everything before
    it, shape (n_queries,).
    """
    starts, sizes, owner = longest_first(query)
    view, total = np.ones(starts.size), np.zeros(starts.size)
    for place in range(int(sizes[0]) if sizes.size else 0):
        active = int(np.searchsorted(-sizes, -place))
        met = starts[:active] + place
        total[:active] += view[:active] * worth[met]
        view[:active] *= passing[met]
    values = np.zeros(n_queries)
    values[owner] = total
    return values


def longest_first(query: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Start and size of each run of equal codes, and its code; the longest first, so that those
    still going on come first.
    """
    starts = starts_of(query)
    sizes = sizes_of(starts, query.size)
    order = np.argsort(-sizes, kind="stable")
    starts = starts[order]
    return starts, sizes[order], query[starts]


def reciprocal_in_ties(
    stops: FloatArray,
    starts: IntArray,
    members: IntArray,
    above: IntArray,
    size: IntArray,
    reached: IntArray,
) -> FloatArray:
    """Expected reciprocal rank of where a user stops within each tie group, over all orders of the
    group.
    """
    worth = stops[starts] / (above + 1)
    long = members * (reached + _EACH) > _LONG
    for group in np.flatnonzero(long):
        own = stops[starts[group] : starts[group] + members[group]]
        worth[group] = reciprocal_in_long_tie(
            own, int(above[group]), int(size[group]), int(reached[group])
        )
    tied = np.flatnonzero((size > 1) & ~long)
    tied = tied[small_first(reached[tied])]
    begin = 0
    while begin < tied.size:
        # Groups of like width together; a block has at least one, however wide.
        widths = reached[tied[begin:]] + 1
        end = begin + max(
            1, int(np.searchsorted(widths * np.arange(1, widths.size + 1), _CELLS, side="right"))
        )
        block = tied[begin:end]
        worth[block] = _block(
            stops, *(column[block] for column in (starts, members, above, size, reached))
        )
        begin = end
    return worth


def _block(
    stops: FloatArray,
    starts: IntArray,
    members: IntArray,
    above: IntArray,
    size: IntArray,
    reached: IntArray,
) -> FloatArray:
    order = np.argsort(-members, kind="stable")
    starts, members, above, size, reached = (
        column[order] for column in (starts, members, above, size, reached)
    )
    place = np.arange(1, int(reached.max()) + 1)
    plain = size - members
    # Of the first places, m_(j-1) and p_j.
    mean = (place <= plain[:, np.newaxis] + 1).astype(np.float64)
    stop = np.zeros(mean.shape)
    for added in range(int(members[0])):
        active = int(np.searchsorted(-members, -added))
        chance = stops[starts[:active] + added][:, np.newaxis]
        passes, now = 1.0 - chance, (plain[:active] + added + 1)[:, np.newaxis]
        before, found = mean[:active], stop[:active]
        grown = np.maximum(now - place, 0) * found + chance * before
        grown[:, 1:] += place[:-1] * passes * found[:, :-1]
        stop[:active] = grown / now
        grown = np.maximum(now - place + 1, 0) * before
        grown[:, 1:] += place[:-1] * passes * before[:, :-1]
        mean[:active] = grown / now
    sums = np.concatenate(
        (np.zeros((order.size, 1)), np.cumsum(stop / (above[:, np.newaxis] + place), axis=1)),
        axis=1,
    )
    worth = np.empty(order.size)
    worth[order] = sums[np.arange(order.size), reached]
    return worth
