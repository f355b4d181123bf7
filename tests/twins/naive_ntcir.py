"""NTCIR's graded measures from their definitions, one rank after the other."""

import math
from collections.abc import Callable, Iterator

from tests.twins.naive_query import (
    Asked,
    Entry,
    Gain,
    NaiveError,
    Query,
    Value,
    is_relevant,
    n_relevant,
    undefined,
)


def _worth(text: str, grade: float) -> float:
    """A rising gain of a grade, not below 0."""
    if text == "exp2":
        return max(0.0, 2.0**grade - 1)
    if text.startswith("power("):
        return float(max(0.0, grade) ** float(text[6:-1]))
    return max(0.0, grade)


def gain(asked: Asked, entry: Entry, query: Query) -> float:
    """What a place of the list gains; nothing unless it holds a relevant document."""
    return (
        _worth(asked.options.get("gain", "linear"), entry)
        if entry is not None and is_relevant(asked, entry)
        else 0.0
    )


def _place(asked: Asked, entry: Entry, query: Query) -> float:
    """Relevant documents stand above others, also those that gain nothing."""
    return 1 + gain(asked, entry, query) if is_relevant(asked, entry) else 0.0


def _ratios(
    asked: Asked, order: list[Entry], query: Query
) -> Iterator[tuple[int, float, float, int]]:
    """Rank, grade, blended ratio and number of each relevant document of the list."""
    beta = float(asked.options.get("beta", "1"))
    ideal = sorted((gain(asked, grade, query) for grade in query.judged), reverse=True)
    count, total = 0, 0.0
    for rank, entry in enumerate(order, 1):
        if entry is not None and is_relevant(asked, entry):
            count, total = count + 1, total + gain(asked, entry, query)
            yield (
                rank,
                entry,
                (count + beta * total) / (rank + beta * math.fsum(ideal[:rank])),
                count,
            )


def _of_ratios(
    function: Callable[[list[tuple[int, float, float, int]], Asked, Query], float],
) -> Value:
    """A measure of the blended ratios, which has no value without a relevant document."""

    def measure(asked: Asked, order: list[Entry], query: Query) -> float | None:
        return (
            function(list(_ratios(asked, order, query)), asked, query)
            if n_relevant(asked, query)
            else undefined(asked)
        )

    return measure


def _q(met: list[tuple[int, float, float, int]], asked: Asked, query: Query) -> float:
    limit = asked.limit(query.length)
    return math.fsum(ratio for rank, _, ratio, _ in met if rank <= limit) / min(
        n_relevant(asked, query), limit
    )


def _o(met: list[tuple[int, float, float, int]], asked: Asked, query: Query) -> float:
    return met[0][2] if met else 0.0


def _p_plus(met: list[tuple[int, float, float, int]], asked: Asked, query: Query) -> float:
    if not met:
        return 0.0
    highest = max(grade for _, grade, _, _ in met)
    preferred = next(rank for rank, grade, _, _ in met if grade == highest)
    ratios = [ratio for rank, _, ratio, _ in met if rank <= preferred]
    return math.fsum(ratios) / len(ratios)


def _ncu(asked: Asked, order: list[Entry], query: Query) -> float | None:
    relevant = [grade for grade in query.judged if is_relevant(asked, grade)]
    stop, gamma = (
        asked.options.get("stop", "graded-uniform"),
        float(asked.options.get("gamma", "0.95")),
    )
    stops = asked.options.get("stops", asked.options.get("gain", "linear"))

    def chance(grade: float, number: int) -> float:
        return {"uniform": 1.0, "rank-biased": gamma ** (number - 1)}.get(
            stop, _worth(stops, grade)
        )

    whole = math.fsum(chance(grade, number) for number, grade in enumerate(relevant, 1))
    if whole <= 0:
        return undefined(asked)
    return (
        math.fsum(
            chance(grade, number) * ratio
            for _, grade, ratio, number in _ratios(asked, order, query)
        )
        / whole
    )


def _nerr(asked: Asked, order: list[Entry], query: Query) -> float | None:
    text, scale = asked.options.get("gain", "linear"), asked.options.get("max_rel")
    if scale is not None and max(query.judged, default=0.0) > float(scale):
        raise NaiveError("grade above the scale")
    top = _worth(text, max([0.0, *query.judged]) if scale is None else float(scale)) + 1

    def err(grades: list[Entry]) -> float:
        total, still_looking = 0.0, 1.0
        for rank, entry in enumerate(grades, 1):
            satisfied = 0.0 if entry is None else _worth(text, entry) / top
            total += still_looking * satisfied / rank if rank <= asked.limit(query.length) else 0.0
            still_looking *= 1 - satisfied
        return total

    ideal = err(sorted(query.judged, key=lambda grade: -_worth(text, grade)))
    return err(order) / ideal if ideal > 0 else undefined(asked)


VALUES: dict[str, Value] = {
    "Q": _of_ratios(_q),
    "O": _of_ratios(_o),
    "P+": _of_ratios(_p_plus),
    "NCU": _ncu,
    "nERR": _nerr,
}
GAINS: dict[str, Gain] = {"P+": _place, "NCU": _place}
BY_GAIN = frozenset(GAINS)
"""Measures whose best and worst orders of ties are the orders by gain: the value is not always the
greatest there.
"""
