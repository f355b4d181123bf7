"""The C/W/L measures from their continuation functions alone: views are their products, everything
else is a sum over the ranks.
"""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import accumulate

from tests.twins.naive_query import Asked, Entry, Gain, Query, Value

Continue = Callable[[Mapping[str, str], int, float, float, int], float]
"""Chance to go on from a rank, given options, the gain there, all gained so far, and the deepest
rank.
"""


def gain(asked: Asked, entry: Entry, query: Query) -> float:
    """What a place of the list gains."""
    low, high = float(asked.options.get("min_rel", "0")), float(asked.options.get("max_rel", "1"))
    return 0.0 if entry is None else min(1.0, max(0.0, (entry - low) / (high - low)))


def _goal(options: Mapping[str, str]) -> float:
    return float(options.get("T", "1"))


def _seconds(options: Mapping[str, str], gained: float) -> float:
    cost = float(options.get("cost", "1"))
    return cost + gained * (float(options.get("cost_relevant", str(cost))) - cost)


def _inst(
    options: Mapping[str, str], rank: int, gained: float, total: float, deepest: int
) -> float:
    goal, missing = _goal(options), _goal(options) - total
    return float(((rank + goal + missing - 1) / (rank + goal + missing)) ** 2)


def insq(options: Mapping[str, str], rank: int, gained: float, total: float, deepest: int) -> float:
    return float(((rank + 2 * _goal(options) - 1) / (rank + 2 * _goal(options))) ** 2)


def _bpm(options: Mapping[str, str], rank: int, gained: float, total: float, deepest: int) -> float:
    return float(rank < deepest and total < _goal(options) - 1e-9)


def _sdcg(
    options: Mapping[str, str], rank: int, gained: float, total: float, deepest: int
) -> float:
    return math.log(rank + 1) / math.log(rank + 2) if rank < deepest else 0.0


def _tbg(options: Mapping[str, str], rank: int, gained: float, total: float, deepest: int) -> float:
    return (
        float(2 ** (-_seconds(options, gained) / float(options.get("halflife", "224"))))
        if rank < deepest
        else 0.0
    )


CONTINUE: dict[str, Continue] = {
    "INST": _inst,
    "INSQ": insq,
    "BPM": _bpm,
    "SDCG": _sdcg,
    "TBG": _tbg,
    "GP": lambda options, rank, gained, total, deepest: float(rank < deepest),
}


@lru_cache(maxsize=4096)
def numbers(
    going: Continue, chosen: tuple[tuple[str, str], ...], gains: tuple[float, ...]
) -> dict[str, float]:
    """The five numbers of a list of gains, one for every rank that a user may reach."""
    options = dict(chosen)
    totals = list(accumulate(gains))
    rows = enumerate(zip(gains, totals, strict=True), 1)
    going_on = [going(options, rank, gained, total, len(gains)) for rank, (gained, total) in rows]
    assert all(0 <= chance <= 1 + 1e-12 for chance in going_on)
    views = list(accumulate(going_on[:-1], lambda view, chance: view * chance, initial=1.0))
    stops = [view * (1 - chance) for view, chance in zip(views, going_on, strict=True)]
    costs = [_seconds(options, gained) for gained in gains]
    seen = math.fsum(views)
    return {
        "EU": math.fsum(view * gained for view, gained in zip(views, gains, strict=True)) / seen,
        "ETU": math.fsum(stop * total for stop, total in zip(stops, totals, strict=True)),
        "EC": math.fsum(view * cost for view, cost in zip(views, costs, strict=True)) / seen,
        "ETC": math.fsum(
            stop * total for stop, total in zip(stops, accumulate(costs), strict=True)
        ),
        "ED": seen,
    }


def value_of(going: Continue) -> Value:
    """The measure of users who go on in this way."""

    def value(asked: Asked, order: list[Entry], query: Query) -> float:
        deepest = int(asked.limit(query.length)) if asked.cutoff else 1000
        name, _, of = asked.options.get("of", "EU").partition("-")
        chosen = tuple(sorted(asked.options.items()))
        padded: list[Entry] = [*order[:deepest], *[None] * (deepest - len(order))]
        low = numbers(going, chosen, tuple(gain(asked, entry, query) for entry in padded))
        if name != "residual":
            return low[name]
        high = numbers(
            going,
            chosen,
            tuple(1.0 if entry is None else gain(asked, entry, query) for entry in padded),
        )
        return high[of or "EU"] - low[of or "EU"]

    return value


VALUES: dict[str, Value] = {name: value_of(going) for name, going in CONTINUE.items()}
GAINS: dict[str, Gain] = dict.fromkeys(CONTINUE, gain)
