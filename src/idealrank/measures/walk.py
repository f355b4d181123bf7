"""Users whose way down a list depends on what they found: a walk from hit to hit, what lies between them passed in closed form."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from idealrank.data.hits import Hits
from idealrank.data.judged import Judged
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.measures.ranks import tied_ranks
from idealrank.measures.reading import longest_first
from idealrank.measures.user_model import UserModel, UserView

# Coefficients of x^-3, x^-5, ... in the asymptotic series of the trigamma function (Bernoulli numbers), good to the last digits from
# an x of 10 on.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
_SHIFT = 10


class Walker(Protocol):
    """Protocol of a user for a walk."""

    def gains(self, judged: Judged, hits: Hits) -> FloatArray: ...
    def lengths(self, judged: Judged) -> IntArray: ...
    def stops(self) -> bool: ...
    def passing(self, gains: FloatArray) -> FloatArray: ...
    def step(self, rank: IntArray, passing: FloatArray, total: FloatArray) -> FloatArray: ...
    def stretch(self, rank: IntArray, count: IntArray, gain: float, total: FloatArray) -> tuple[FloatArray, FloatArray]: ...


@dataclass(frozen=True, kw_only=True)
class AdaptiveUser(UserModel, ABC):
    """User model in which the chance to continue depends on earlier documents."""

    ties: ClassVar = "not offered"

    def stops(self) -> bool:
        """True if every user stops at the last rank at the latest."""
        return False

    def passing(self, gains: FloatArray) -> FloatArray:
        """Compute the chance to continue after each hit, which may depend on its gain."""
        return 1.0 - gains

    @abstractmethod
    def step(self, rank: IntArray, passing: FloatArray, total: FloatArray) -> FloatArray:
        """Chance to go on from hits at these ranks, given the gain found so far, theirs included."""

    @abstractmethod
    def stretch(self, rank: IntArray, count: IntArray, gain: float, total: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected number of the next `count` ranks of gain 0 or 1 that users at `rank` see, and their chance to continue."""

    def seen(self, judged: Judged, unjudged: float) -> UserView:
        """Return the numbers of the walk."""
        return walk(self, judged, unjudged)


@dataclass(eq=False)
class _Walk:
    """Where each user stands: shape (n_queries,), the longest walks first."""

    rank: IntArray
    view: FloatArray
    total: FloatArray
    viewed: FloatArray
    useful: FloatArray

    def part(self, active: int) -> "_Walk":
        """Views of the first users, so that what they do is kept here."""
        return _Walk(self.rank[:active], self.view[:active], self.total[:active], self.viewed[:active], self.useful[:active])

    def pass_over(self, user: Walker, upto: IntArray, gain: float) -> None:
        """Walk the ranks before `upto`, all of this gain."""
        count = upto - self.rank
        seen, after = user.stretch(self.rank, count, gain, self.total)
        seen = self.view * seen
        self.viewed += seen
        if gain:
            self.useful += seen
            self.total += count
        self.view *= after
        self.rank[:] = upto

    def meet(self, user: Walker, gain: FloatArray, passing: FloatArray) -> None:
        """Walk one rank with a hit."""
        self.viewed += self.view
        self.useful += self.view * gain
        self.total += gain
        self.view *= user.step(self.rank, passing, self.total)
        self.rank += 1


def walk(user: Walker, judged: Judged, unjudged: float) -> UserView:
    """Walk every list, where documents without a judgment gain 0 or 1.

    Cost is linear in the hits, however long the lists: stretches of unjudged documents are passed at once.
    """
    length = user.lengths(judged)
    query, rank, gains = _met(user, judged, length, every=unjudged > 0)
    passing = user.passing(gains)
    starts, sizes, owner = longest_first(query)
    # Lists in which nothing is met come last.
    others = np.ones(judged.n_queries, bool)
    others[owner] = False
    order = np.concatenate((owner, np.flatnonzero(others)))
    zeros = np.zeros(order.size)
    users = _Walk(np.ones(order.size, np.int64), zeros + 1.0, zeros.copy(), zeros.copy(), zeros.copy())
    for place in range(int(sizes[0]) if sizes.size else 0):
        active = int(np.searchsorted(-sizes, -place))
        here = users.part(active)
        met = starts[:active] + place
        here.pass_over(user, rank[met], unjudged)
        here.meet(user, gains[met], passing[met])
    users.pass_over(user, length[order] + 1, unjudged)
    columns = (users.viewed, users.useful, users.total, zeros if user.stops() else users.view)
    place_of = np.argsort(order)
    viewed, useful, total, beyond = (column[place_of] for column in columns)
    return UserView(viewed, useful, total, beyond, length.astype(np.float64))


def _met(user: Walker, judged: Judged, length: IntArray, *, every: bool) -> tuple[IntArray, IntArray, FloatArray]:
    """Queries, ranks and gains of the hits within reach, by query and rank; hits of gain 0 only if `every` is set."""
    hits = judged.hits
    gains = user.gains(judged, hits)
    rank = tied_ranks(judged, hits, gains)
    order = np.arange(rank.size) if rank is hits.rank else np.lexsort((rank, hits.query))
    kept: BoolArray = rank[order] <= length[hits.query[order]]
    order = order[kept if every else kept & (gains[order] > 0)]
    return hits.query[order], rank[order], gains[order]


def geometric(ratio: FloatArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
    """Sum of ratio^0 to ratio^(count - 1), and ratio^count; by squaring, so that no difference of near numbers is taken.

    Examples
    --------
    >>> geometric(np.array([0.5, 1.0]), np.array([3, 4]))
    (array([1.75, 4.  ]), array([0.125, 1.   ]))
    """
    total, power = np.zeros(ratio.shape), np.ones(ratio.shape)
    some, step = np.ones(ratio.shape), ratio
    left = count
    while left.any():
        odd = (left & 1).astype(bool)
        total = np.where(odd, total + power * some, total)
        power = np.where(odd, power * step, power)
        some, step, left = some * (1.0 + step), step * step, left >> 1
    return total, power


def inverse_squares(first: FloatArray, count: IntArray) -> FloatArray:
    """Sum of 1 / x^2 over x = first, first + 1, ..., `count` of them; first above 0.

    Examples
    --------
    >>> inverse_squares(np.array([1.0, 2.0]), np.array([2, 0]))
    array([1.25, 0.  ])
    """
    difference: FloatArray = _trigamma(first) - _trigamma(first + count)
    return difference


def _trigamma(x: FloatArray) -> FloatArray:
    """Sum of 1 / (x + n)^2 over all n >= 0."""
    shifted = x + _SHIFT
    inverse = 1.0 / shifted
    square = inverse * inverse
    total, power = inverse + square / 2, inverse
    for coefficient in _BERNOULLI:
        power = power * square
        total = total + coefficient * power
    for n in range(_SHIFT - 1, -1, -1):
        total = total + 1.0 / ((x + n) * (x + n))
    return total
