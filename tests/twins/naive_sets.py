"""Measures of the returned documents as a set, from the definitions."""

from tests.twins.naive_query import (
    Asked,
    Entry,
    Query,
    Value,
    n_relevant,
    relevant_ranks,
    undefined,
)


def precision(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """Plain, or over what a list of this length could hold."""
    found, total = len(relevant_ranks(asked, order, query)), n_relevant(asked, query)
    if "relative" in asked.options:
        return (
            undefined(asked)
            if not total
            else found / min(total, query.length)
            if query.length
            else 0.0
        )
    return found / query.length if query.length else 0.0


def f_measure(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """The weighted harmonic mean of precision and recall, 0 where nothing relevant is returned."""
    found, total = len(relevant_ranks(asked, order, query)), n_relevant(asked, query)
    if not total or not found:
        return 0.0 if total else undefined(asked)
    p, r, beta = found / query.length, found / total, float(asked.options.get("beta", "1"))
    return (1 + beta) * p * r / (beta * p + r)


def average_precision(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """Precision times recall."""
    found, total = len(relevant_ranks(asked, order, query)), n_relevant(asked, query)
    if not total:
        return undefined(asked)
    return (found / query.length) * (found / total) if found else 0.0


VALUES: dict[str, Value] = {"SetP": precision, "SetF": f_measure, "SetAP": average_precision}
