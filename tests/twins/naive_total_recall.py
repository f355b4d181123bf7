"""Measures of total recall, written slowly: read one document after the other and count."""

import math
from fractions import Fraction
from itertools import pairwise

from tests.twins.naive_query import Asked, Entry, Query, Value, is_relevant, n_relevant, undefined


def _read_until(asked: Asked, order: list[Entry], wanted: int) -> int | None:
    """Documents read when so many relevant ones have been seen; None if that never happens."""
    seen = 0
    for rank, grade in enumerate(order, 1):
        seen += is_relevant(asked, grade)
        if seen == wanted:
            return rank
    return None


def _last_rel(asked: Asked, order: list[Entry], query: Query) -> float | None:
    total = n_relevant(asked, query)
    return float(_read_until(asked, order, total) or len(order) + 1) if total else undefined(asked)


def _wss(asked: Asked, order: list[Entry], query: Query) -> float | None:
    total, recall = n_relevant(asked, query), Fraction(asked.cutoff or "0.95")
    if not total:
        return undefined(asked)
    nearest = asked.options.get("count") == "nearest"
    read = _read_until(
        asked, order, max(round(recall * total), 1) if nearest else math.ceil(recall * total)
    ) or len(order)
    not_read = Fraction(len(order) - read, len(order)) if order else Fraction(0)
    return float(not_read - (1 - recall))


def _recall_area(asked: Asked, order: list[Entry], query: Query) -> float | None:
    total = n_relevant(asked, query)
    if not total:
        return undefined(asked)
    depths = [rank for rank in range(1, len(order) + 1) if rank <= asked.limit(query.length)]
    # Halfway between the counts at both ends of each step.
    found = [sum(is_relevant(asked, grade) for grade in order[:rank]) for rank in [0, *depths]]
    best = [min(rank, total) for rank in [0, *depths]]
    seen, possible = (
        sum(one + other for one, other in pairwise(counts)) / 2 for counts in (found, best)
    )
    return seen / possible if depths else 0.0


VALUES: dict[str, Value] = {"LastRel": _last_rel, "WSS": _wss, "RecallArea": _recall_area}
LESS_IS_BETTER = frozenset({"LastRel"})
