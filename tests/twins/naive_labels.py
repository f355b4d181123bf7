"""Measures of labels, written slowly: every pair, every depth, ties by the orders that the query
brings.
"""

import math

from tests.twins.naive_order import without_pair
from tests.twins.naive_query import Asked, Entry, Query, Value, is_relevant, n_relevant, undefined


def _arp(asked: Asked, order: list[Entry], query: Query) -> float | None:
    weights = [max(grade or 0.0, 0.0) for grade in order]
    if not sum(weights):
        return undefined(asked)
    return math.fsum(weight * rank for rank, weight in enumerate(weights, 1)) / math.fsum(weights)


def _pwa(asked: Asked, order: list[Entry], query: Query) -> float:
    seen = [
        (grade or 0.0, 1 / rank)
        for rank, grade in enumerate(order, 1)
        if rank <= asked.limit(query.length)
    ]
    return (
        math.fsum(grade * weight for grade, weight in seen)
        / math.fsum(weight for _, weight in seen)
        if seen
        else 0.0
    )


def _lrap(asked: Asked, order: list[Entry], query: Query) -> float | None:
    if not n_relevant(asked, query):
        return undefined(asked)
    terms = []
    for place, grade in enumerate(order):
        if is_relevant(asked, grade):
            last = query.tie_last[place]
            terms.append(sum(is_relevant(asked, other) for other in order[:last]) / last)
    return math.fsum(terms) / n_relevant(asked, query)


def _coverage_error(asked: Asked, order: list[Entry], query: Query) -> float | None:
    total = n_relevant(asked, query)
    if not total:
        return undefined(asked)
    ends = [query.tie_last[place] for place, grade in enumerate(order) if is_relevant(asked, grade)]
    return float(max(ends) if len(ends) >= total else len(order) + 1)


def _ranking_loss(asked: Asked, order: list[Entry], query: Query) -> float | None:
    judged = [
        (is_relevant(asked, grade), query.tie_last[place])
        for place, grade in enumerate(order)
        if grade is not None
    ]
    pairs = [
        (one, other)
        for relevant, one in judged
        if relevant
        for irrelevant, other in judged
        if not irrelevant
    ]
    if pairs:
        return sum(one >= other for one, other in pairs) / len(pairs)
    return without_pair(asked, query)


def _compat(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """Overlap of the run with the ideal, set by set; documents are known by where they stand."""
    total = n_relevant(asked, query)
    if not total:
        return undefined(asked)
    p = float(asked.options.get("p", "0.95"))
    # Behind every judged document of a higher grade, and behind the returned ones of its grade that
    # stand above it.
    both = [
        (
            rank,
            1
            + sum(other > grade for other in query.judged)
            + sum(other == grade for other in order[: rank - 1]),
        )
        for rank, grade in enumerate(order, 1)
        if grade is not None and is_relevant(asked, grade)
    ]
    depths = range(1, max(len(order), total) + 1)
    overlap = math.fsum(p ** (i - 1) * sum(max(ranks) <= i for ranks in both) / i for i in depths)
    if asked.options.get("normalize") == "False":
        return overlap / math.fsum(p ** (i - 1) for i in depths)
    return overlap / math.fsum(p ** (i - 1) * min(i, total) / i for i in depths)


VALUES: dict[str, Value] = {
    "ARP": _arp,
    "PWA": _pwa,
    "LRAP": _lrap,
    "CoverageError": _coverage_error,
    "RankingLoss": _ranking_loss,
    "Compat": _compat,
}
LESS_IS_BETTER = frozenset({"ARP", "CoverageError", "RankingLoss"})
