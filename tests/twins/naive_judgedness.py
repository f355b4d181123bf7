"""Shares of judged and unjudged documents, by counting them."""

from tests.twins.naive_query import Asked, Entry, Gain, Pooled, Query, Value


def unjudged(asked: Asked, order: list[Entry], query: Query) -> float:
    """Share of documents without a judgment, of the ranks asked for."""
    limit = asked.limit(query.length)
    number = sum(
        entry is None or isinstance(entry, Pooled)
        for rank, entry in enumerate(order, 1)
        if rank <= limit
    )
    return number / (limit if asked.cutoff else max(query.length, 1))


def judged(asked: Asked, order: list[Entry], query: Query) -> float:
    """Share of documents that stand in the judgments, of those shown."""
    shown = [entry for rank, entry in enumerate(order, 1) if rank <= asked.limit(query.length)]
    return sum(entry is not None for entry in shown) / max(len(shown), 1)


VALUES: dict[str, Value] = {"Unjudged": unjudged, "Judged": judged}
GAINS: dict[str, Gain] = {
    "Unjudged": lambda asked, entry, query: float(
        entry is not None and not isinstance(entry, Pooled)
    ),
}
BY_GAIN = frozenset(GAINS)
"""Measures whose best and worst orders of ties are the orders by gain: the value is not always the
greatest there.
"""
