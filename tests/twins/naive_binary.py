"""Measures of binary relevance from their definitions, one rank after the other."""

from tests.twins.naive_query import (
    Asked,
    Entry,
    Query,
    Value,
    average_precision,
    n_relevant,
    per_relevant,
    relevant_ranks,
    undefined,
)


def f_measure(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """The weighted harmonic mean of precision and recall of the first k ranks; those the list lacks
    are not relevant.
    """
    found, total = len(relevant_ranks(asked, order, query)), n_relevant(asked, query)
    if not total or not found:
        return 0.0 if total else undefined(asked)
    p, r, beta = (
        found / asked.limit(query.length),
        found / total,
        float(asked.options.get("beta", "1")),
    )
    return (1 + beta) * p * r / (beta * p + r)


VALUES: dict[str, Value] = {
    "P": lambda asked, order, query: (
        len(relevant_ranks(asked, order, query)) / asked.limit(query.length)
    ),
    "R": per_relevant(lambda ranks, total: len(ranks) / total),
    "F": f_measure,
    "AP": average_precision,
    "RR": per_relevant(lambda ranks, total: 1.0 / ranks[0] if ranks else 0.0),
}
