"""Measures of judged documents alone, from their definitions, one rank after the other."""

from tests.twins.naive_query import (
    Asked,
    Entry,
    Gain,
    Query,
    Value,
    is_rejected,
    is_relevant,
    n_relevant,
    undefined,
)

EPSILON = 0.00001


def bpref(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """Pairs in the right order, relevant document by relevant document."""
    total = n_relevant(asked, query)
    if not total:
        return undefined(asked)
    cap = min(total, sum(is_rejected(asked, entry) for entry in query.judged))
    above, values = 0, []
    for entry in order:
        if is_relevant(asked, entry):
            values.append(1.0 - min(above, cap) / cap if cap else 1.0)
        above += is_rejected(asked, entry)
    return sum(values) / total


def inferred(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """Expected precision at each relevant document: itself, and above it the pooled share times the
    judged share of relevant ones.
    """
    total = n_relevant(asked, query)
    if not total:
        return undefined(asked)
    value = 0.0
    for rank, entry in enumerate(order, 1):
        if is_relevant(asked, entry):
            above = order[: rank - 1]
            found = sum(is_relevant(asked, one) for one in above)
            rejected = sum(is_rejected(asked, one) for one in above)
            pooled = sum(one is not None for one in above) / max(rank - 1, 1)
            share = (found + EPSILON) / (found + rejected + 2 * EPSILON)
            value += 1 / rank + (rank - 1) / rank * pooled * share
    return value / total


VALUES: dict[str, Value] = {"Bpref": bpref, "GMBpref": bpref, "infAP": inferred}
GAINS: dict[str, Gain] = {"infAP": lambda asked, entry, query: float(is_relevant(asked, entry))}
BY_GAIN = frozenset(GAINS)
"""Measures whose best and worst orders of ties are the orders by gain: the value is not always the
greatest there.
"""
