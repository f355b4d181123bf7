"""Stopping on the way down a list: each document from the top is worth something and lets only some
of the users pass, in very large tie groups, too.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from idealrank.data.judged import Hits, Judged
from idealrank.data.segments import sizes_of, starts_of
from idealrank.data.types import FloatArray, IntArray
from idealrank.measures.ranks import tie_groups, tied_ranks

# Expected reciprocal rank of where a user stops in one very large tie group: some places are
# worked out, and the others follow from them.
#
# Over all orders of a group of s, a user stops at place j with probability
#
#     p_j = sum over i of R_i e_(j-1, i) / (s C(s - 1, j - 1)),
#
# where R_i is the chance to stop at document i and e_(j-1, i) the sum of the products of the
# chances to go on over all choices of j - 1 other documents. By Cauchy's integral on a circle,
# with f_i = 1 - x + x (1 - R_i) exp(it) for any x in (0, 1),
#
#     x^(j-1) (1 - x)^(s-j)  sum over i of R_i e_(j-1, i)
#         =  mean over t of  exp(-i(j-1)t)  prod f_i  sum over i of R_i / f_i,
#
# and the same mean for documents that let everyone go on gives C(s - 1, j - 1). Where x makes j -
# 1 the mean number of documents taken, the integrand is a narrow peak without cancellation, and
# the midpoint rule gives it to the last digits. p_j is smooth on the scales of j and s - j, so
# that between neighbouring powers of two it is a polynomial to the last digits. So is what a
# chance between two powers of two adds, as a function of the chance: many distinct chances are as
# few.
#
# Bornemann (2011), Accuracy and stability of computing high-order derivatives of analytic
# functions by Cauchy integrals, Foundations of Computational Mathematics 11(1); Trefethen and
# Weideman (2014), The exponentially convergent trapezoidal rule, SIAM Review 56(3).

_ANGLES = 32  # angles of half a circle
_FAINT = 40.0  # the integrand counts where its modulus is above exp(-40) of its peak
_SINGLE = 64  # places at either end of a group that are worked out one by one
_NODES = 24  # of the polynomial between two powers of two
_ROUNDS = 80  # of Newton's method, at most


def reciprocal_in_long_tie(stops: FloatArray, above: int, size: int, reached: int) -> float:
    """Expected reciprocal rank of where a user stops at one of the first places of a tie group,
    over all orders of the whole group.
    """
    places, weights = _places(size, min(reached, _last_place(stops, size)))
    chances, counts = _few_chances(stops)
    return math.fsum(weights * _stopping(places, chances, counts, size) / (above + places))


def _last_place(stops: FloatArray, size: int) -> int:
    """The place below which less than 1e-18 of the group's worth can stand: so few users come so
    far.
    """
    share = float(stops.sum()) / size
    if share >= 1.0:
        return 1
    # The mean of the product over j documents is at most the j-th power of the mean (Maclaurin),
    # and the first place has its share.
    return int(min(size, 1.0 + math.log(1e-18 * share) / math.log1p(-share)))


def _places(size: int, last: int) -> tuple[FloatArray, FloatArray]:
    """Places of a group, and weights with which a smooth function of them sums as over all places
    up to the last.
    """
    steps = _SINGLE * 2 ** np.arange(int(size // (2 * _SINGLE)).bit_length(), dtype=np.int64)
    edges = np.unique(np.clip(np.concatenate(([0], steps, size - steps, [size])), 0, last)).tolist()
    sums = [_few(np.arange(begin + 1.0, end + 1.0)) for begin, end in pairwise(edges)]
    nodes, weights = zip(*sums, strict=True)
    return np.concatenate(nodes), np.concatenate(weights)


def _few_chances(stops: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Chances to stop and how often each counts: the distinct ones, or where they are many, a few
    that stand for them.
    """
    chances, counts = np.unique(stops, return_counts=True)
    # Stretches between powers of two of the chance, and above a half of the chance to go on.
    _, power = np.frexp(chances)
    _, power_of_rest = np.frexp(1.0 - chances)
    stretch = np.where(chances < 0.5, power, 1 - power_of_rest)
    starts = np.flatnonzero(np.diff(stretch, prepend=stretch[0] - 1)).tolist()
    sums = [
        _few(chances[low:high], counts[low:high]) for low, high in pairwise([*starts, chances.size])
    ]
    nodes, weights = zip(*sums, strict=True)
    return np.concatenate(nodes), np.concatenate(weights)


def _few(points: FloatArray, counts: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights that sum the polynomial through a function at Chebyshev's points as the
    points themselves would.
    """
    weights = np.ones(points.size) if counts is None else counts.astype(np.float64)
    if points.size <= max(_NODES, _SINGLE if counts is None else 0):
        return points, weights
    middle = (points[-1] + points[0]) / 2.0
    half = (points[-1] - points[0]) / 2.0
    # Chebyshev polynomials at the points, by their recurrence, summed over the points: the sums
    # are the coefficients of the weights at the nodes.
    angles = np.pi * (np.arange(_NODES) + 0.5) / _NODES
    scaled = (points - middle) / half
    previous = np.ones(points.size)
    current = (points - middle) / half
    sums = np.full(_NODES, weights.sum() / _NODES)
    for degree in range(1, _NODES):
        sums += float((weights * current).sum()) * np.cos(degree * angles) * 2.0 / _NODES
        previous, current = current, 2.0 * scaled * current - previous
    return middle + half * np.cos(angles), sums


def _stopping(places: FloatArray, chances: FloatArray, counts: FloatArray, size: int) -> FloatArray:
    """Probability that a user stops at each place: in the terms above, ``x`` is the tilt, and
    `f_zero` is ``f_i`` at angle 0.
    """
    taken, others = places - 1.0, size - 1.0
    # with which so many documents are taken in the mean if all of them let everyone go on
    even_tilt = (taken + 0.5) / size
    # documents by their chance to stop; users never stop at those without a gain
    groups = [
        (0.0, size - float(counts.sum())),
        *zip(chances.tolist(), counts.tolist(), strict=True),
    ]
    tilt, variance = _saddle(taken, even_tilt, groups, size)
    # `scale` is the logarithm of prod f_i at angle 0, divided by x^(j-1) (1 - x)^(s-j) with x the
    # tilt, and times the same with the even tilt, which the choices below have: numbers near 1 to
    # large powers, so by logarithms of quotients.
    of_taken = taken * np.log1p((even_tilt - tilt) / tilt)
    scale = of_taken + (others - taken) * np.log1p((tilt - even_tilt) / (1.0 - tilt))
    angle, step = _angles(variance)
    logs = np.zeros(angle.shape)
    turns = -taken[:, np.newaxis] * angle
    real = np.zeros(angle.shape)
    imaginary = np.zeros(angle.shape)
    for chance, count in groups:
        f_zero = (1.0 - tilt) + tilt * (1.0 - chance)
        modulus, turn = _factor(tilt * (1.0 - chance) / f_zero, (1.0 - tilt) / f_zero, angle)
        near_one = np.log1p(-np.minimum(tilt * chance, 0.5))
        scale += count * np.where(tilt * chance < 0.5, near_one, np.log(f_zero))
        logs += count * modulus
        turns += count * turn
        if chance:
            rate = (count * chance / f_zero)[:, np.newaxis] * np.exp(-modulus)
            real += rate * np.cos(turn)
            imaginary -= rate * np.sin(turn)
    integrand = real * np.cos(turns) - imaginary * np.sin(turns)
    stops = step * (np.exp(logs + scale[:, np.newaxis]) * integrand).sum(axis=1)

    angle, step = _angles(others * even_tilt * (1.0 - even_tilt))
    modulus, turn = _factor(even_tilt, 1.0 - even_tilt, angle)
    turns = others * turn - taken[:, np.newaxis] * angle
    choices = step * (np.exp(others * modulus) * np.cos(turns)).sum(axis=1)
    stopping: FloatArray = stops / (choices * size)
    return stopping


def _saddle(
    taken: FloatArray, even_tilt: FloatArray, groups: list[tuple[float, float]], size: int
) -> tuple[FloatArray, FloatArray]:
    """The tilt with which so many documents are taken in the mean, to a hundredth of the standard
    deviation, and the variance of their number; by Newton's method.
    """
    tilt = even_tilt
    variance = np.zeros(taken.size)
    highest = 1.0 - 0.25 / size
    for _ in range(_ROUNDS):
        mean = np.zeros(tilt.size)
        slope = np.zeros(tilt.size)
        for chance, count in groups:
            f_zero = (1.0 - tilt) + tilt * (1.0 - chance)
            mean += count * tilt * (1.0 - chance) / f_zero
            slope += count * (1.0 - chance) / (f_zero * f_zero)
        variance = np.maximum(slope * tilt * (1.0 - tilt), 0.0)
        off = mean - taken - 0.5
        near = np.abs(off) <= 0.01 * np.sqrt(variance)
        if np.all(near | ((tilt == highest) & (off < 0.0))):
            break
        change = np.divide(off, slope, out=np.full(tilt.size, -1.0), where=slope > 0.0)
        tilt = np.clip(tilt - change, even_tilt, highest)
    return tilt, variance


def _angles(variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Middles of equal steps of half a circle, or of the part of it where the modulus of a peak of
    this variance counts; and the steps.
    """
    end = np.arccos(np.maximum(1.0 - _FAINT / np.maximum(variance, 1.0), -1.0))
    step = end / _ANGLES
    return step[:, np.newaxis] * (np.arange(_ANGLES) + 0.5), step / np.pi


def _factor(
    taken: FloatArray, left: FloatArray, angle: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Logarithm of the modulus, and angle, of ``left + taken exp(i angle)``, for chances that sum
    to 1.
    """
    taken, left = taken[:, np.newaxis], left[:, np.newaxis]
    square = np.sin(angle / 2.0) ** 2
    modulus = 0.5 * np.log1p(-4.0 * taken * left * square)
    turn = np.arctan2(taken * np.sin(angle), 1.0 - 2.0 * taken * square)
    return modulus, turn


# Cells of a matrix of a block of tie groups: 8 MiB, which bounds the memory for any number of them.
_CELLS = 1 << 20
# A tie group is long where `reciprocal_in_long_tie` is faster than adding its documents one by one:
# documents x (places + what each document costs besides).
_LONG = 1 << 20
_EACH = 256


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
        above = first[starts] - 1
        size = (last - first + 1)[starts]
        reached = np.clip(limit[useful][starts] - above, 0, size)
        groups = TieGroupStops(
            starts=starts, members=sizes, above=above, size=size, reached=reached
        )
        worth = reciprocal_in_ties(stops, groups)
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
    empty = np.zeros(0, np.int64)
    met = met or Stops(query=empty, rank=empty, worth=np.zeros(0), passing=np.zeros(0))
    # Users never stop at the ranks of tied members: what their groups add is in `met`.
    emptied_query, emptied_rank = empty, empty
    if members is not None:
        emptied_query, emptied_rank = members.query, members.rank
    rank_of = np.minimum(np.concatenate((emptied_rank, met.rank)), stops.shape[1] + 1)
    # Sorted by rank and else as they come, so that of two at one place the later one counts.
    order = small_first(rank_of)
    bounds = np.searchsorted(rank_of[order], np.arange(1, stops.shape[1] + 2))
    query = np.concatenate((emptied_query, met.query))[order]
    worths = np.concatenate((np.zeros(emptied_query.size), met.worth))[order]
    passes = np.concatenate((np.ones(emptied_query.size), met.passing))[order]
    values = np.zeros(stops.shape[0])
    view = np.ones(stops.shape[0])
    for rank, chances in enumerate(stops.T, 1):
        worth = chances / rank
        passing = 1.0 - chances
        at_rank = slice(bounds[rank - 1], bounds[rank])
        worth[query[at_rank]] = worths[at_rank]
        passing[query[at_rank]] = passes[at_rank]
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
    view = np.ones(starts.size)
    total = np.zeros(starts.size)
    for place in range(int(sizes[0]) if sizes.size else 0):
        active = int(np.searchsorted(-sizes, -place))
        met = starts[:active] + place
        total[:active] += view[:active] * worth[met]
        view[:active] *= passing[met]
    values = np.zeros(n_queries)
    values[owner] = total
    return values


def longest_first(query: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Start, size and code of each stretch of equal codes; the longest first, so that after any
    number of steps the stretches that go on come first.
    """
    starts = starts_of(query)
    sizes = sizes_of(starts, query.size)
    order = np.argsort(-sizes, kind="stable")
    starts = starts[order]
    return starts, sizes[order], query[starts]


@dataclass(frozen=True, kw_only=True, eq=False)
class TieGroupStops:
    """Tie groups with documents that may stop a user, shape (n_groups,) each."""

    # starts, members: where these documents of the group begin, and how many they are
    starts: IntArray
    members: IntArray
    # above, size, reached: ranks above the group, all its documents, and its places that count
    above: IntArray
    size: IntArray
    reached: IntArray

    def part(self, groups: IntArray) -> "TieGroupStops":
        """Some of the groups."""
        return TieGroupStops(
            starts=self.starts[groups],
            members=self.members[groups],
            above=self.above[groups],
            size=self.size[groups],
            reached=self.reached[groups],
        )


def reciprocal_in_ties(stops: FloatArray, groups: TieGroupStops) -> FloatArray:
    """Expected reciprocal rank of where a user stops within each tie group, over all orders of the
    group.
    """
    worth = stops[groups.starts] / (groups.above + 1)
    long = groups.members * (groups.reached + _EACH) > _LONG
    for group in np.flatnonzero(long):
        start = groups.starts[group]
        worth[group] = reciprocal_in_long_tie(
            stops[start : start + groups.members[group]],
            above=int(groups.above[group]),
            size=int(groups.size[group]),
            reached=int(groups.reached[group]),
        )
    tied = np.flatnonzero((groups.size > 1) & ~long)
    tied = tied[small_first(groups.reached[tied])]
    begin = 0
    while begin < tied.size:
        # Groups of similar width are in one block; it has at least one, however wide.
        widths = groups.reached[tied[begin:]] + 1
        cells = widths * np.arange(1, widths.size + 1)
        end = begin + max(1, int(np.searchsorted(cells, _CELLS, side="right")))
        block = tied[begin:end]
        worth[block] = _in_block(stops, groups.part(block))
        begin = end
    return worth


def _in_block(stops: FloatArray, groups: TieGroupStops) -> FloatArray:
    """Expected reciprocal ranks in groups that are not long, all at once."""
    order = np.argsort(-groups.members, kind="stable")
    groups = groups.part(order)
    place = np.arange(1, int(groups.reached.max()) + 1)
    plain = groups.size - groups.members  # documents that never stop a user
    # For each place j: `mean` is the share of users that j - 1 documents let pass, and `stop` the
    # chance to stop at j, over all orders. Documents are added one by one: the new one is at place
    # j of n documents with chance 1 / n, and else one of the others is.
    mean = (place <= plain[:, np.newaxis] + 1).astype(np.float64)
    stop = np.zeros(mean.shape)
    for added in range(int(groups.members[0])):
        active = int(np.searchsorted(-groups.members, -added))
        chance = stops[groups.starts[:active] + added][:, np.newaxis]
        passing = 1.0 - chance
        n_documents = (plain[:active] + added + 1)[:, np.newaxis]
        before, stopped = mean[:active], stop[:active]
        grown = np.maximum(n_documents - place, 0) * stopped + chance * before
        grown[:, 1:] += place[:-1] * passing * stopped[:, :-1]
        stop[:active] = grown / n_documents
        grown = np.maximum(n_documents - place + 1, 0) * before
        grown[:, 1:] += place[:-1] * passing * before[:, :-1]
        mean[:active] = grown / n_documents
    running = np.cumsum(stop / (groups.above[:, np.newaxis] + place), axis=1)
    sums = np.concatenate((np.zeros((order.size, 1)), running), axis=1)
    worth = np.empty(order.size)
    worth[order] = sums[np.arange(order.size), groups.reached]
    return worth
