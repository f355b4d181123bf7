"""Base of the C/W/L measures: numbers of the framework, gains between 0 and 1, and the users' paths
down a list.

A user reads from the top and goes on from rank i to the next with probability C(i). The view of
rank i is the chance that it is seen, ``V(i) = C(1) ... C(i-1)``; its weight is ``W(i) = V(i) / sum
of V``, and ``L(i) = V(i) - V(i+1)`` is the chance to stop there. Six numbers follow (Azzopardi,
Thomas and Moffat 2019, cwl_eval: an evaluation tool for information retrieval, SIGIR), and how far
each could still rise or fall if every unjudged document were fully relevant: its residual.

The path of an adaptive user depends on what was found: a walk from hit to hit, with what lies
between them passed in closed form.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias

import numpy as np

from idealrank.data.judged import Hits, Judged
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import Cutoff, resolve_cutoff
from idealrank.measures.discounts import Discount
from idealrank.measures.measure import Measure, PerQuery, Response, number_option
from idealrank.measures.ranks import chance_within, hit_weights, tied_ranks
from idealrank.measures.rules import checked
from idealrank.measures.stopping import longest_first

Number: TypeAlias = Literal[
    "EU",
    "ETU",
    "EC",
    "ETC",
    "ED",
    "residual",
    "residual-ETU",
    "residual-EC",
    "residual-ETC",
    "residual-ED",
]

# As deep as cwl-eval lets every user go.
USUAL_DEPTH = 1000
# The views of all ranks down to the cutoff are tabled: so many fit in memory.
_DEEPEST = 1_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class UserView:
    """Numbers of a user's path down each list, shape (n_queries,) each."""

    viewed: FloatArray  # Sum of the views: how many ranks are seen
    useful: FloatArray  # Sum of view x gain
    gain: FloatArray  # Sum of the gains, seen or not; looked at only where `beyond` is above 0
    beyond: FloatArray  # Chance to go on beyond the last rank
    length: FloatArray  # Number of ranks

    def number(self, name: str, cost: float, dearer: float) -> FloatArray:
        """One of the six numbers, where a document costs `cost` + `dearer` x its gain."""
        if name == "ED":
            return self.viewed
        utility = self.useful / self.viewed
        if name == "EU":
            return utility
        if name == "EC":
            return cost + dearer * utility
        goes_on = self.beyond > 0
        total = self.useful - np.where(goes_on, self.beyond * self.gain, 0.0)
        if name == "ETU":
            return total
        # Totals count the users that stop in the list: the others would still go on.
        unstopped = np.multiply(
            self.beyond, self.length, out=np.zeros_like(self.viewed), where=goes_on
        )
        return cost * (self.viewed - unstopped) + dearer * total


@dataclass(frozen=True, kw_only=True)
class UserModel(Measure):
    """A measure of the C/W/L framework.

    Parameters
    ----------
    of : str, optional
        Which number: ``EU`` expected utility per document seen (default), ``ETU`` expected total
        utility, ``EC`` expected cost per document, ``ETC`` expected total cost, ``ED`` expected
        depth; ``residual`` of EU, ``residual-ETU``, ``residual-EC``, ``residual-ETC``,
        ``residual-ED``: how much it would change if every document without a judgment were fully
        relevant.
    min_rel : float, optional
        Highest grade with gain 0, default 0.
    max_rel : float, optional
        Least grade that gains 1, default 1; grades between gain their share.
    """

    of: Number | None = None
    min_rel: float | None = None
    max_rel: float | None = None

    samples: ClassVar = {
        "of": (
            None,
            None,
            "EU",
            "ETU",
            "EC",
            "ETC",
            "ED",
            "residual",
            "residual-ETU",
            "residual-EC",
            "residual-ETC",
            "residual-ED",
        ),
        "min_rel": (None, 0, 0.5, -1),
        "max_rel": (None, 1, 2, 3),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("of", self.of, Number)
        for name in ("min_rel", "max_rel"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, self._grade_option(name, getattr(self, name)))
        if isinstance(self.cutoff, int) and self.cutoff > _DEEPEST:
            raise OptionError(
                f"cutoff {self.cutoff}: expected at most {_DEEPEST} ranks, for no user of "
                f"{self.name} reads on for ever"
            )
        self._check_scale()
        if self.number != "EU":
            # The facts of the class are about its utility: a larger other number is not better.
            object.__setattr__(self, "direction", 0)
            object.__setattr__(self, "bounds", (-np.inf, np.inf))

    def _grade_option(self, name: str, value: object) -> object:
        return number_option(name, value)

    def _check_scale(self) -> None:
        low, high = self._scale
        if not low < high:
            raise OptionError(f"min_rel={low:g}, max_rel={high:g}: expected min_rel below max_rel")

    @property
    def _scale(self) -> tuple[float, float]:
        low = 0.0 if self.min_rel is None else float(self.min_rel)
        high = 1.0 if self.max_rel is None else float(self.max_rel)
        return low, high

    @property
    def number(self) -> str:
        """The number asked for."""
        return self.of or "EU"

    @property
    def costs(self) -> tuple[float, float]:
        """Cost of a document, and how much more one of gain 1 costs."""
        return 1.0, 0.0

    def gains(self, judged: Judged, hits: Hits) -> FloatArray:
        """Gains of hits, from 0 to 1."""
        low, high = self._scale
        return np.clip((hits.grade - low) / (high - low), 0.0, 1.0)

    def lengths(self, judged: Judged) -> IntArray:
        """Depth that a user may reach in each list."""
        return resolve_cutoff(self._reach, judged.lengths)

    @property
    def _reach(self) -> Cutoff | None:
        return USUAL_DEPTH if self.cutoff is None else self.cutoff

    def depth(self, *, lists: bool = False) -> int:
        """Deepest rank a user may reach."""
        return self._reach if isinstance(self._reach, int) else 0

    def compute(self, judged: Judged) -> PerQuery:
        """Value of every query."""
        name, _, of_residual = self.number.partition("-")
        cost, dearer = self.costs
        without = self.seen(judged, 0.0)
        if name != "residual":
            return PerQuery(without.number(name, cost, dearer))
        number = of_residual or "EU"
        high = self.seen(judged, 1.0).number(number, cost, dearer)
        return PerQuery(high - without.number(number, cost, dearer))

    def seen(self, judged: Judged, unjudged: float) -> UserView:
        """Compute a user's numbers with gain 0 or 1 for unjudged documents and missing ranks."""
        raise OptionError(
            f"{type(self).__name__} gives no values by itself; choose a measure from "
            f"idealrank.MEASURES"
        )


@dataclass(frozen=True, kw_only=True)
class WithGoal(UserModel):
    """A user that aims for this gain.

    Parameters
    ----------
    T : float, optional
        The gain; each class has its own lowest value.
    """

    T: float | None = None

    _least_goal: ClassVar[float] = 1e-6
    samples: ClassVar = {**UserModel.samples, "T": (None, 0.5, 1, 2.5)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.T is not None:
            object.__setattr__(self, "T", number_option("T", self.T, self._least_goal))

    @property
    def _twice_goal(self) -> float:
        """2T, where T is 1 by default."""
        return 2.0 if self.T is None else 2.0 * float(self.T)


@dataclass(frozen=True, kw_only=True)
class StaticUser(UserModel):
    """User model without memory: views depend on ranks alone."""

    response: ClassVar[Response] = "rising"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.number != "EU":
            object.__setattr__(self, "response", "unknown")

    @property
    def views(self) -> Discount:
        """Views of the ranks: 1 for the first."""
        raise OptionError(
            f"{type(self).__name__} has no views by itself; choose a measure from "
            f"idealrank.MEASURES"
        )

    def stops(self) -> bool:
        """True if every user stops at the last rank at the latest."""
        return False

    def seen(self, judged: Judged, unjudged: float) -> UserView:
        """Sums of views over the hits; where ties are averaged, of the mean view in each group of
        tied documents.
        """
        hits, views = judged.hits, self.views
        reach = self._reach
        length = self.lengths(judged)
        gains = self.gains(judged, hits)
        viewed = views.between(np.ones_like(length), length, length)
        beyond = np.zeros_like(viewed) if self.stops() else views.at(length + 1, length)
        # If unjudged documents gain 1, a sum is that of all ranks less what hits fall short of 1.
        counted_gains = 1.0 - gains if unjudged else gains
        weights = hit_weights(judged, hits, gains, views, reach)
        useful = judged.sum_by_query(hits.query, counted_gains * weights)
        # Only totals use the gain of all ranks, and only if users go on beyond the last one.
        gain: FloatArray = useful
        if self.number.endswith(("ETU", "ETC")) and beyond.any():
            within = chance_within(judged, hits, gains, reach)
            gain = judged.sum_by_query(hits.query, counted_gains * within)
        if unjudged:
            useful = viewed - useful
            gain = length - gain
        return UserView(
            viewed=viewed, useful=useful, gain=gain, beyond=beyond, length=length.astype(np.float64)
        )


class Walker(Protocol):
    """Protocol of a user for a walk."""

    def gains(self, judged: Judged, hits: Hits) -> FloatArray: ...
    def lengths(self, judged: Judged) -> IntArray: ...
    def stops(self) -> bool: ...
    def passing(self, gains: FloatArray) -> FloatArray: ...
    def step(self, rank: IntArray, passing: FloatArray, total: FloatArray) -> FloatArray: ...
    def stretch(
        self, rank: IntArray, count: IntArray, gain: float, total: FloatArray
    ) -> tuple[FloatArray, FloatArray]: ...


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
        """Chance to go on from hits at these ranks, given the gain found so far, theirs
        included.
        """

    @abstractmethod
    def stretch(
        self, rank: IntArray, count: IntArray, gain: float, total: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the expected number of the next `count` ranks of gain 0 or 1 that users at `rank`
        see, and their chance to continue.
        """

    def seen(self, judged: Judged, unjudged: float) -> UserView:
        """Return the numbers of the walk."""
        return walk(self, judged, unjudged)


@dataclass(kw_only=True, eq=False)
class _Walk:
    """Where each user stands: shape (n_queries,), the longest walks first."""

    rank: IntArray  # the next rank
    view: FloatArray  # chance to see it
    total: FloatArray  # gain of the ranks above it
    viewed: FloatArray  # sum of the views so far, and of view x gain
    useful: FloatArray

    def part(self, active: int) -> "_Walk":
        """Views of the first users, so that what they do is kept here."""
        return _Walk(
            rank=self.rank[:active],
            view=self.view[:active],
            total=self.total[:active],
            viewed=self.viewed[:active],
            useful=self.useful[:active],
        )

    def pass_over(self, user: Walker, upto: IntArray, gain: float) -> None:
        """Walk the ranks before `upto`, all of this gain."""
        count = upto - self.rank
        views, goes_on = user.stretch(self.rank, count, gain, self.total)
        views = self.view * views
        self.viewed += views
        if gain:
            self.useful += views
            self.total += count
        self.view *= goes_on
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

    Cost is linear in the hits, however long the lists: stretches of unjudged documents are passed
    at once.
    """
    length = user.lengths(judged)
    query, rank, gains = _hits_met(user, judged, length, with_zero=unjudged > 0)
    passing = user.passing(gains)
    starts, sizes, owner = longest_first(query)
    # Lists in which nothing is met come last.
    unmet = np.ones(judged.n_queries, bool)
    unmet[owner] = False
    order = np.concatenate((owner, np.flatnonzero(unmet)))
    zeros = np.zeros(order.size)
    users = _Walk(
        rank=np.ones(order.size, np.int64),
        view=zeros + 1.0,
        total=zeros.copy(),
        viewed=zeros.copy(),
        useful=zeros.copy(),
    )
    for place in range(int(sizes[0]) if sizes.size else 0):
        active = int(np.searchsorted(-sizes, -place))
        walking = users.part(active)
        met = starts[:active] + place
        walking.pass_over(user, rank[met], unjudged)
        walking.meet(user, gains[met], passing[met])
    users.pass_over(user, length[order] + 1, unjudged)
    original = np.argsort(order)
    return UserView(
        viewed=users.viewed[original],
        useful=users.useful[original],
        gain=users.total[original],
        beyond=zeros if user.stops() else users.view[original],
        length=length.astype(np.float64),
    )


def _hits_met(
    user: Walker, judged: Judged, length: IntArray, *, with_zero: bool
) -> tuple[IntArray, IntArray, FloatArray]:
    """Queries, ranks and gains of the hits within reach, by query and rank; hits of gain 0 only
    `with_zero`.
    """
    hits = judged.hits
    gains = user.gains(judged, hits)
    rank = tied_ranks(judged, hits, gains)
    order = np.arange(rank.size) if rank is hits.rank else np.lexsort((rank, hits.query))
    within: BoolArray = rank[order] <= length[hits.query[order]]
    order = order[within if with_zero else within & (gains[order] > 0)]
    return hits.query[order], rank[order], gains[order]


def geometric(ratio: FloatArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
    """Sum of ratio^0 to ratio^(count - 1), and ratio^count; by squaring, so that no difference of
    near numbers is taken.
    """
    # Bit k of the count adds a block of 2^k terms: `block_sum` is ratio^0 + ... + ratio^(2^k - 1),
    # and `block_ratio` is ratio^(2^k).
    total = np.zeros(ratio.shape)
    power = np.ones(ratio.shape)
    block_sum = np.ones(ratio.shape)
    block_ratio = ratio
    remaining = count
    while remaining.any():
        odd = (remaining & 1).astype(bool)
        total = np.where(odd, total + power * block_sum, total)
        power = np.where(odd, power * block_ratio, power)
        block_sum = block_sum * (1.0 + block_ratio)
        block_ratio = block_ratio * block_ratio
        remaining = remaining >> 1
    return total, power


# Coefficients of x^-3, x^-5, ... in the asymptotic series of the trigamma function (Bernoulli
# numbers), good to the last digits from an x of 10 on.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
_SHIFT = 10  # terms that are summed one by one before the series


def inverse_squares(first: FloatArray, count: IntArray) -> FloatArray:
    """Sum of 1 / x^2 over x = first, first + 1, ..., `count` of them; first above 0."""
    difference: FloatArray = _trigamma(first) - _trigamma(first + count)
    return difference


def _trigamma(x: FloatArray) -> FloatArray:
    """Sum of 1 / (x + n)^2 over all n >= 0."""
    shifted = x + _SHIFT
    inverse = 1.0 / shifted
    square = inverse * inverse
    total = inverse + square / 2
    power = inverse
    for coefficient in _BERNOULLI:
        power = power * square
        total = total + coefficient * power
    for n in range(_SHIFT - 1, -1, -1):
        total = total + 1.0 / ((x + n) * (x + n))
    return total
