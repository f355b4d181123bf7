"""Gain measures of trec_eval from their definitions, one rank after the other."""

import math

from tests.twins.naive_query import (
    Asked,
    Entry,
    Gain,
    Query,
    Value,
    gain_of,
    is_relevant,
    n_relevant,
    undefined,
)


def gain(asked: Asked, entry: Entry, query: Query) -> float:
    """What a place of the list gains."""
    return 0.0 if entry is None else gain_of(asked, entry)


def ideal_gains(asked: Asked, query: Query) -> list[float]:
    """Positive gains of the judged documents, best first."""
    return sorted(
        (value for value in (gain_of(asked, grade) for grade in query.judged) if value > 0),
        reverse=True,
    )


def dcg(gains: list[float], rank: int) -> float:
    """Discounted cumulative gain at a rank."""
    return math.fsum(value / math.log2(place + 1) for place, value in enumerate(gains[:rank], 1))


def normalised_gain(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """G: the gain of each rank over the logarithm of what is missing there."""
    ideal = ideal_gains(asked, query)
    if not ideal:
        return undefined(asked)
    value = cost = found = 0.0
    for rank, entry in enumerate(order, 1):
        here = gain(asked, entry, query)
        cost += max(1.0, ideal[rank - 1] if rank <= len(ideal) else 0.0)
        found += here
        value += here / math.log2(2 + max(cost - found, 0.0))
    return value / sum(ideal)


def binary_gain(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """BinG: 1 over the logarithm of the wrong documents above each relevant one."""
    total = n_relevant(asked, query)
    if not total:
        return undefined(asked)
    value, wrong = 0.0, 0
    for entry in order:
        if is_relevant(asked, entry):
            value += 1 / math.log2(2 + wrong)
        else:
            wrong += 1
    return value / total


def at_levels(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """Rndcg: nDCG at the ranks where the ideal gain falls, and at the end of a list that is longer
    by two.
    """
    ideal = ideal_gains(asked, query)
    if not ideal or ("rel" in asked.options and not n_relevant(asked, query)):
        return undefined(asked)
    gains = [gain(asked, entry, query) for entry in order]
    ranks = [sum(value >= level for value in ideal) for level in sorted(set(ideal))]
    if len(order) >= len(ideal) + 2:
        ranks.append(len(order))
    return sum(dcg(gains, rank) / dcg(ideal, rank) for rank in ranks) / len(ranks)


def at_relevant(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """ndcg_rel: nDCG at each returned document of positive gain, and at the end for each other
    one.
    """
    ideal = ideal_gains(asked, query)
    if not ideal:
        return undefined(asked)
    gains = [gain(asked, entry, query) for entry in order]
    values = [dcg(gains, rank) / dcg(ideal, rank) for rank, here in enumerate(gains, 1) if here > 0]
    missed = len(ideal) - len(values)
    return (sum(values) + missed * dcg(gains, len(gains)) / dcg(ideal, len(ideal))) / len(ideal)


VALUES: dict[str, Value] = {
    "G": normalised_gain,
    "binG": binary_gain,
    "RnDCG": at_levels,
    "nDCG_rel": at_relevant,
}
GAINS: dict[str, Gain] = {"G": gain}
BY_GAIN = frozenset(GAINS)
"""Measures whose best and worst orders of ties are the orders by gain: the value is not always the
greatest there.
"""
