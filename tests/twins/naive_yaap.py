"""Yet another average precision, from its definition."""

import math

from tests.twins.naive_query import (
    Asked,
    Entry,
    Query,
    Value,
    n_relevant,
    relevant_ranks,
    undefined,
)


def yaap(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """Log odds of average precision."""
    total = n_relevant(asked, query)
    if not total:
        return undefined(asked)
    found = math.fsum(
        number / rank for number, rank in enumerate(relevant_ranks(asked, order, query), 1)
    )
    return math.log((1 + found) / (1 + max(total - found, 0.0)))


VALUES: dict[str, Value] = {"YAAP": yaap}
