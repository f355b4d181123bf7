"""Precision at other places than a fixed rank, from the definitions: one order of one query at a
time, in plain Python.
"""

import math

from tests.twins.naive_query import (
    Asked,
    Entry,
    Query,
    Value,
    average_precision,
    is_relevant,
    n_relevant,
    per_relevant,
    relevant_ranks,
    undefined,
)


def rprec(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """Precision at R, or at a multiple of it to which 0.9 is added before the fraction is cut
    off.
    """
    total = n_relevant(asked, query)
    if not total:
        return undefined(asked)
    k = math.trunc(float(asked.options.get("mult", "1")) * total + 0.9)
    return sum(is_relevant(asked, grade) for grade in order[:k]) / k if k else 0.0


def relative(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """Relevant documents in the top k, over how many there could be."""
    total = n_relevant(asked, query)
    if not total:
        return undefined(asked)
    return len(relevant_ranks(asked, order, query)) / min(total, asked.limit(query.length))


def interpolated(asked: Asked, order: list[Entry], query: Query, level: float) -> float:
    """The greatest precision at any rank where so many relevant documents are found."""
    points = level * n_relevant(asked, query)
    needed = (
        math.trunc(points + 0.9)
        if asked.options["recall_points"] == "truncated"
        else math.floor(points + 0.5)
    )
    best, found = 0.0, 0
    for rank, grade in enumerate(order, 1):
        found += is_relevant(asked, grade)
        if found >= needed:
            best = max(best, found / rank)
    return best


def iprec(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """At the recall level after the @."""
    return (
        interpolated(asked, order, query, float(asked.cutoff))
        if n_relevant(asked, query)
        else undefined(asked)
    )


def eleven_points(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """The mean over recall levels."""
    if not n_relevant(asked, query):
        return undefined(asked)
    recalls = asked.options.get("recalls", "[0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1]")
    levels = [float(level) for level in recalls.strip("[]").split(",")]
    return math.fsum(interpolated(asked, order, query, level) for level in levels) / len(levels)


VALUES: dict[str, Value] = {
    "Rprec": rprec,
    "Success": per_relevant(lambda ranks, total: 1.0 if ranks else 0.0),
    "RelP": relative,
    "GMAP": average_precision,
    "IPrec": iprec,
    "11ptAP": eleven_points,
}
