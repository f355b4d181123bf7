"""Measures that tell judged from unjudged documents, from their definitions, one rank after the other."""

import math

from tests.twins.naive_query import Asked, Entry, Gain, Pooled, Query, Value, is_relevant, n_relevant, relevant_ranks, undefined

EPSILON = 0.00001


def is_rejected(asked: Asked, entry: Entry) -> bool:
    """Judged, and found not relevant."""
    return entry is not None and not isinstance(entry, Pooled) and not is_relevant(asked, entry)


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
    """Expected precision at each relevant document: itself, and above it the pooled share times the judged share of relevant ones."""
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


def unjudged(asked: Asked, order: list[Entry], query: Query) -> float:
    """Share of documents without a judgment, of the ranks asked for."""
    limit = asked.limit(query.length)
    number = sum(entry is None or isinstance(entry, Pooled) for rank, entry in enumerate(order, 1) if rank <= limit)
    return number / (limit if asked.cutoff else max(query.length, 1))


def judged(asked: Asked, order: list[Entry], query: Query) -> float:
    """Share of documents that stand in the judgments, of those shown."""
    shown = [entry for rank, entry in enumerate(order, 1) if rank <= asked.limit(query.length)]
    return sum(entry is not None for entry in shown) / max(len(shown), 1)


def utility(asked: Asked, order: list[Entry], query: Query) -> float:
    """The four fields of the contingency table, each with its worth."""
    found = sum(is_relevant(asked, entry) for entry in order)
    rejected = sum(is_rejected(asked, entry) for entry in order)
    missed = n_relevant(asked, query) - found
    unseen = sum(is_rejected(asked, entry) for entry in query.judged) - rejected
    if "collection" in asked.options:
        unseen = float(asked.options["collection"]) - query.length - missed
    a, b, c, d = (float(asked.options.get(name, default)) for name, default in zip("abcd", (1, -1, 0, 0), strict=True))
    return a * found + b * (query.length - found) + c * missed + d * unseen


def yaap(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """Log odds of average precision."""
    total = n_relevant(asked, query)
    if not total:
        return undefined(asked)
    found = math.fsum(number / rank for number, rank in enumerate(relevant_ranks(asked, order, query), 1))
    return math.log((1 + found) / (1 + max(total - found, 0.0)))


VALUES: dict[str, Value] = {
    "Bpref": bpref,
    "GMBpref": bpref,
    "infAP": inferred,
    "Unjudged": unjudged,
    "Judged": judged,
    "Utility": utility,
    "YAAP": yaap,
    "NumNonrelJudgedRet": lambda asked, order, query: float(sum(is_rejected(asked, entry) for entry in order)),
}
GAINS: dict[str, Gain] = {
    "infAP": lambda asked, entry, query: float(is_relevant(asked, entry)),
    "Unjudged": lambda asked, entry, query: float(entry is not None and not isinstance(entry, Pooled)),
}
BY_GAIN = frozenset(GAINS)
"""Measures whose best and worst orders of ties are the orders by gain: the value is not always the greatest there."""
