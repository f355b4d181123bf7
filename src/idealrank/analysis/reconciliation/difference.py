"""The difference of two conventions, shared out among the switches in which they differ, so that
the parts add up to it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import factorial, isnan
from typing import Any, Literal, TypeAlias

import numpy as np

from idealrank._lazy import printed
from idealrank.analysis.reconciliation.trials import Candidate, Outcome, Refusal, Trials
from idealrank.conventions import Convention
from idealrank.conventions.switches import ROWS, difference_phrase
from idealrank.data.types import FloatArray
from idealrank.errors import InputError
from idealrank.measures.measure import Measure

Method: TypeAlias = Literal["average over orders", "path"]


@dataclass(frozen=True)
class QueryPart:
    """Contribution of one query to one part of a split."""

    query: str
    part: float


@dataclass(frozen=True, kw_only=True)
class SplitPart:
    """Contribution of one switch, or of a few that only act together."""

    switches: tuple[str, ...]  # Nearly always one
    # before, after: Their values in the two conventions
    before: tuple[str, ...]
    after: tuple[str, ...]
    part: float  # Its share of the difference
    # alone, last: What it changes when it is changed first, and last; None where only one order was
    # walked
    alone: float | None
    last: float | None
    # low, high: The least and the greatest that it changes in any order
    low: float | None
    high: float | None
    queries: tuple[QueryPart, ...]  # The queries that add most to `part`

    @property
    def noun(self) -> str:
        """The switch as a cause, in words."""
        return " with ".join(ROWS[switch].noun for switch in self.switches)

    @property
    def words(self) -> str:
        """Description of the change."""
        sides = zip(self.switches, self.after, self.before, strict=True)
        return "; ".join(
            difference_phrase(switch, after, before) for switch, after, before in sides
        )


@dataclass(frozen=True, kw_only=True)
class ConventionChange:
    """A query under both conventions."""

    query: str  # Query id
    # a, b: Its values; None where it does not count
    a: float | None
    b: float | None
    share: float  # What it adds to the difference; the shares of all queries add up to it
    mostly: str  # The switch that moves it most


@dataclass(frozen=True, kw_only=True)
class DifferenceSplit:
    """Difference between the values of two conventions, split by switch.

    Attributes
    ----------
    measure : str
        Text of the measure.
    a, b, fingerprint_a, fingerprint_b : str
        Texts and fingerprints of the two conventions.
    value_a, value_b, difference : float
        Values of the two conventions, and `value_b` - `value_a`.
    method : {"average over orders", "path"}
        Each part is the effect of its switch averaged over all orders of changing the switches (the
        Shapley value), or its effect along one order, the order of `parts`.
    orders : int
        Number of orders averaged.
    parts : tuple of SplitPart
        Parts, which sum to the difference; largest first, or in the order of the path.
    idle : tuple of str
        Switches that differ but change no query's value on these data.
    queries : tuple of ConventionChange
        Queries with the largest changes.
    n_queries : int
        Number of queries that count under either convention.

    Examples
    --------
    >>> import idealrank as ir
    >>> split = ir.split_difference(
    ...     {"q": {"a": 3, "b": 1, "c": 2}}, {"q": ["b", "a"]}, "nDCG", "standard", "lightgbm"
    ... )
    >>> [(part.switches, round(part.part, 4)) for part in split.parts], round(split.difference, 4)
    ([(('ideal',), 0.1612), (('gain',), -0.0589)], 0.1023)
    """

    measure: str
    a: str
    b: str
    fingerprint_a: str
    fingerprint_b: str
    value_a: float
    value_b: float
    difference: float
    method: Method
    orders: int
    parts: tuple[SplitPart, ...]
    idle: tuple[str, ...]
    queries: tuple[ConventionChange, ...]
    n_queries: int

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record.

        Examples
        --------
        >>> import idealrank as ir
        >>> ir.split_difference({"q": {"a": 1}}, {"q": ["a"]}, "nDCG", "standard", "rax").as_dict()[
        ...     "difference"
        ... ]
        0.0
        """
        parts = []
        for part in self.parts:
            sides = {name: list(getattr(part, name)) for name in ("switches", "before", "after")}
            queries = [asdict(query) for query in part.queries]
            parts.append({**asdict(part), **sides, "words": part.words, "queries": queries})
        return {
            "measure": self.measure,
            "a": {"name": self.a, "fingerprint": self.fingerprint_a, "value": self.value_a},
            "b": {"name": self.b, "fingerprint": self.fingerprint_b, "value": self.value_b},
            "difference": self.difference,
            "method": self.method,
            "orders": self.orders,
            "parts": parts,
            "idle": list(self.idle),
            "queries": [asdict(query) for query in self.queries],
            "n_queries": self.n_queries,
        }

    __str__ = printed


# Up to this many switches every order is averaged: 8 of them have 256 combinations. On large data
# there may be fewer, so that no more than this many values are held.
_MOST_AVERAGED = 8
_HELD_VALUES = 20_000_000
_QUERIES_LISTED = 10  # queries with the largest shares of the difference
_QUERIES_PER_PART = 3  # queries that add most to one part
# Switches that cannot always be changed separately: floored terms have no expected value over ties,
# and a gain by table or a refusal of negative grades depends on what is done to grades first. They
# are taken as one where a combination is refused.
_INSEPARABLE = (("ties", "rounding"), ("grades", "negative", "gain"))

_Players = tuple[tuple[str, ...], ...]
_Coalition = frozenset[int]


class _RefusedError(Exception):
    """A combination of the two conventions gives no number; its text is the combination."""


@dataclass(frozen=True, kw_only=True)
class _Worth:
    """Contribution of one player."""

    part: Fraction  # On average over the orders
    first: Fraction  # Where it comes first in an order
    last: Fraction
    low: Fraction  # The least in any order
    high: Fraction
    by_query: FloatArray
    acts: bool  # Whether any query changes


class Splitter:
    """One split."""

    def __init__(self, trials: Trials, measure: Measure, a: Convention, b: Convention) -> None:
        self._trials = trials
        self._measure = measure
        self._a = Candidate(trials.adapt(a))
        self._b = Candidate(trials.adapt(b))

    def split(self) -> DifferenceSplit:
        """Split the difference."""
        start = self._required(self._a)
        end = self._required(self._b)
        singles = tuple((switch,) for switch in self._acting())
        try:
            return self._split(start, end, singles)
        except _RefusedError:
            try:
                return self._split(start, end, _merged(singles))
            except _RefusedError as error:
                names = f"{self._a.base.name} and {self._b.base.name}"
                raise InputError(
                    f"the difference of {names} cannot be split by switch: {error}, which is "
                    f"between them, gives no {self._measure} on these data; split it in two steps, "
                    "by a convention between them that gives one"
                ) from None

    def _required(self, candidate: Candidate) -> Outcome:
        outcome = self._trials.outcome(candidate, self._measure)
        subject = f"{self._measure} under convention {candidate.base.name}"
        if isinstance(outcome, Refusal):
            raise InputError(
                f"{subject}: found no value, expected one to split the difference of",
                hint=outcome.reason,
                switch=outcome.switch,
            )
        if isnan(outcome.value):
            raise InputError(
                f"{subject}: found a value that is not a number, expected one to split the "
                "difference of"
            )
        return outcome

    def _acting(self) -> list[str]:
        """Switches that differ and can act on these data, on the way from a to b."""
        there = self._trials.settled(self._b, self._measure)
        acting: list[str] = []
        while True:
            changes = [(switch, self._b.value(switch)) for switch in acting]
            here = self._trials.settled(self._a.changed(*changes), self._measure)
            # A change can wake a switch that could not act before: float32 scores make ties, so the
            # ties' policy matters then.
            woken = [switch for switch in here if here[switch] != there[switch]]
            if not woken:
                return [switch for switch in here if switch in acting]
            acting += woken

    def _split(self, start: Outcome, end: Outcome, players: _Players) -> DifferenceSplit:
        """Average over orders if the players are few, else walk one path."""
        averaged = (
            len(players) <= _MOST_AVERAGED
            and 2 ** len(players) * self._trials.n_queries <= _HELD_VALUES
        )
        weights = _order_weights(len(players)) if averaged else _path_weights(len(players))
        outcomes = {
            coalition: self._outcome(players, coalition)
            for coalition in _coalitions(len(players), averaged=averaged)
        }
        worths = [_worth(outcomes, player, weights[player]) for player in range(len(players))]
        # A switch that changes nothing in any combination is worth nothing, and the worth of the
        # others is the same without it.
        acting = [
            (player, worth) for player, worth in zip(players, worths, strict=True) if worth.acts
        ]
        parts = [self._part(player, worth, averaged=averaged) for player, worth in acting]
        if averaged:
            parts.sort(key=lambda part: -abs(part.part))
        convention_a = self._a.convention
        convention_b = self._b.convention
        return DifferenceSplit(
            measure=str(self._measure),
            a=convention_a.name,
            b=convention_b.name,
            fingerprint_a=convention_a.fingerprint,
            fingerprint_b=convention_b.fingerprint,
            value_a=start.value,
            value_b=end.value,
            difference=end.value - start.value,
            method="average over orders" if averaged else "path",
            orders=factorial(len(acting)) if averaged else 1,
            parts=tuple(parts),
            idle=self._idle([player for player, _ in acting]),
            queries=self._queries(start, end, acting),
            n_queries=int(np.count_nonzero(start.counted | end.counted)),
        )

    def _outcome(self, players: _Players, coalition: _Coalition) -> Outcome:
        """Value under convention a with the switches of some players set as in b."""
        switches = chain.from_iterable(players[player] for player in sorted(coalition))
        changes = [(switch, self._b.value(switch)) for switch in switches]
        candidate = self._a.changed(*changes)
        outcome = self._trials.outcome(candidate, self._measure)
        if isinstance(outcome, Refusal) or isnan(outcome.value):
            raise _RefusedError(candidate.convention.name)
        return outcome

    def _part(self, player: tuple[str, ...], worth: _Worth, *, averaged: bool) -> SplitPart:
        by_query = worth.by_query
        order = np.argsort(-np.abs(by_query), kind="stable")[:_QUERIES_PER_PART]
        order = order[by_query[order] != 0]
        return SplitPart(
            switches=player,
            before=tuple(self._a.switches[switch] for switch in player),
            after=tuple(self._b.switches[switch] for switch in player),
            part=float(worth.part),
            alone=float(worth.first) if averaged else None,
            last=float(worth.last) if averaged else None,
            low=float(worth.low) if averaged else None,
            high=float(worth.high) if averaged else None,
            queries=tuple(
                QueryPart(self._trials.queries[place], float(by_query[place]))
                for place in order.tolist()
            ),
        )

    def _idle(self, players: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
        acting = set(chain.from_iterable(players))
        values_a = dict(self._trials.signature(self._a, self._measure))
        values_b = dict(self._trials.signature(self._b, self._measure))
        differing = [switch for switch in values_a if values_a[switch] != values_b[switch]]
        return tuple(switch for switch in differing if switch not in acting)

    def _queries(
        self, start: Outcome, end: Outcome, acting: Sequence[tuple[tuple[str, ...], _Worth]]
    ) -> tuple[ConventionChange, ...]:
        """The queries with the largest shares of the difference, and the switch that moves each
        most.
        """
        share = end.shares - start.shares
        order = np.argsort(-np.abs(share), kind="stable")[:_QUERIES_LISTED]
        changes = []
        for place in order[share[order] != 0].tolist():
            moved = [abs(float(worth.by_query[place])) for _, worth in acting]
            player, _ = acting[moved.index(max(moved))]
            changes.append(
                ConventionChange(
                    query=self._trials.queries[place],
                    a=float(start.values[place]) if start.counted[place] else None,
                    b=float(end.values[place]) if end.counted[place] else None,
                    share=float(share[place]),
                    mostly=" with ".join(player),
                )
            )
        return tuple(changes)


def _coalitions(count: int, *, averaged: bool) -> Iterator[_Coalition]:
    """Every set of players; along a path only the first, the first two, and so on."""
    for size in range(count + 1):
        if averaged:
            yield from map(frozenset, combinations(range(count), size))
        else:
            yield frozenset(range(size))


def _order_weights(count: int) -> list[list[tuple[Fraction, _Coalition]]]:
    """List the sets that each player can join, with the share of all orders in which exactly that
    set comes before it (Shapley 1953).
    """
    weights: list[list[tuple[Fraction, _Coalition]]] = [[] for _ in range(count)]

    def share(before: _Coalition) -> Fraction:
        # Orders of the players before, times orders of the players after, of all orders.
        n_orders = factorial(len(before)) * factorial(count - 1 - len(before))
        return Fraction(n_orders, factorial(count))

    for before in _coalitions(count, averaged=True):
        for player in range(count):
            if player not in before:
                weights[player].append((share(before), before))
    return weights


def _path_weights(count: int) -> list[list[tuple[Fraction, _Coalition]]]:
    return [[(Fraction(1), frozenset(range(player)))] for player in range(count)]


def _worth(
    outcomes: Mapping[_Coalition, Outcome],
    player: int,
    weights: Sequence[tuple[Fraction, _Coalition]],
) -> _Worth:
    """Compute the contribution of a player, in fractions, so that the parts add up without
    rounding.
    """
    changes = [
        Fraction(outcomes[before | {player}].value) - Fraction(outcomes[before].value)
        for _, before in weights
    ]
    by_query = np.zeros(outcomes[frozenset()].values.size)
    acts = False
    for weight, before in weights:
        shares = outcomes[before | {player}].shares - outcomes[before].shares
        by_query += float(weight) * shares
        acts = acts or bool(shares.any())
    weighted = (weight * change for (weight, _), change in zip(weights, changes, strict=True))
    return _Worth(
        part=sum(weighted, Fraction(0)),
        first=changes[0],
        last=changes[-1],
        low=min(changes),
        high=max(changes),
        by_query=by_query,
        acts=acts,
    )


def _merged(players: _Players) -> _Players:
    """The players with those that only work together taken as one."""
    merged: list[tuple[str, ...]] = []
    switches = [switch for (switch,) in players]
    for switch in switches:
        inseparable = next((group for group in _INSEPARABLE if switch in group), (switch,))
        player = tuple(member for member in switches if member in inseparable)
        if player not in merged:
            merged.append(player)
    return tuple(merged)
