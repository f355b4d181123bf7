"""DCG, its ideal and nDCG from their definitions, one rank after the other."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from tests.twins.naive_query import Asked, Entry, Gain, Query, Value, gain_of, undefined


def _weight(asked: Asked, rank: int, length: int) -> float:
    name = asked.options.get("discount", "log2")
    family, _, rest = name.partition("(")
    parameter = float(rest[:-1]) if rest else 2.0
    if name.startswith("["):
        weights = [float(weight) for weight in name.strip("[]").split(",")]
        return weights[rank - 1] if rank <= len(weights) else 0.0
    if family in ("log", "log2"):
        return math.log(parameter) / math.log(rank + 1)
    if family == "jarvelin":
        return 1.0 if rank < parameter else math.log(parameter) / math.log(rank)
    if family == "zipf":
        return 1.0 / float(rank**parameter)
    if family == "geometric":
        return float(parameter**-rank) if parameter > 1 else float(parameter**rank)
    assert family == "linear", name
    return max(length - rank, 0)


def _cents(number: Fraction) -> Fraction:
    """Down to two decimals; what misses a hundredth by a binary error is that hundredth."""
    return Fraction(math.floor(number * 100 + Fraction(1, 10**9)), 100)


def _sum(asked: Asked, gains: Sequence[float], limit: float, length: int) -> float:
    """Sum of gain x weight over a list of gains, best place first."""
    weighted = [
        (gain, _weight(asked, rank, length)) for rank, gain in enumerate(gains, 1) if rank <= limit
    ]
    if asked.options.get("rounding") == "floor-2":
        return float(sum(_cents(Fraction(gain) * Fraction(weight)) for gain, weight in weighted))
    return math.fsum(gain * weight for gain, weight in weighted)


def _gain(asked: Asked, grade: Entry) -> float:
    """Gain of a place of the list: 0 below the threshold, if there is one."""
    if grade is None:
        return 0.0
    threshold = asked.options.get("rel")
    if threshold is None:
        return gain_of(asked, grade)
    if grade < float(threshold):
        return 0.0
    return 1.0 if asked.options.get("gain") == "binary" else gain_of(asked, grade)


def _dcg(asked: Asked, order: list[Entry], query: Query) -> float:
    gains = [_gain(asked, grade) for grade in order]
    return _sum(asked, gains, asked.limit(query.length), query.length)


def ideal_dcg(asked: Asked, order: list[Entry], query: Query) -> float:
    limit, ideal = asked.limit(query.length), asked.options.get("ideal", "judged")
    gains = [_gain(asked, grade) for grade in query.judged]
    if ideal == "returned":
        gains = [_gain(asked, grade) for grade in order]
    if ideal == "full":
        n_ranks = limit if math.isfinite(limit) else query.length
        gains = [max(gains, default=0.0)] * int(n_ranks)
        gains = [max(gain, 0.0) for gain in gains]
    if ideal == "hits":
        limit = min(limit, max(query.length, 1))
    return _sum(
        asked, sorted(gains, reverse=True), math.inf if ideal == "uncut" else limit, query.length
    )


def _ndcg(asked: Asked, order: list[Entry], query: Query) -> float | None:
    ideal = ideal_dcg(asked, order, query)
    quotient = asked.options.get("no_relevant") == "quotient"
    if ideal == 0 or (ideal < 0 and not quotient):
        return undefined(asked)
    is_cut = asked.cutoff.isdecimal()
    if asked.options.get("short_lists") == "zero" and is_cut and len(order) < int(asked.cutoff):
        return 0.0
    dcg = _dcg(asked, order, query)
    if asked.options.get("rounding") == "floor-2":
        return float(_cents(_decimal(dcg) / _decimal(ideal)))
    return dcg / ideal


def _decimal(number: float) -> Fraction:
    """The decimal fraction that a sum of hundredths stands for."""
    return Fraction(f"{number:.2f}")


def _mean_ndcg(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """NDCG at every cutoff down to the end of the list, and their mean."""
    quotient = asked.options.get("no_relevant") == "quotient"
    values = []
    for cutoff in range(1, max(query.length, 1) + 1):
        at_cutoff = replace(asked, cutoff=str(cutoff))
        ideal = ideal_dcg(at_cutoff, order, query)
        if ideal > 0 or (quotient and ideal != 0):
            values.append(_dcg(at_cutoff, order, query) / ideal)
    return math.fsum(values) / max(query.length, 1) if values else undefined(asked)


VALUES: dict[str, Value] = {
    "nDCG": _ndcg,
    "DCG": _dcg,
    "iDCG": ideal_dcg,
    "MeanNDCG": _mean_ndcg,
}
# The order of ties by gain has the best DCG at every cutoff, though not the best quotient where an
# ideal is negative.
GAINS: dict[str, Gain] = {"MeanNDCG": lambda asked, entry, query: _gain(asked, entry)}
BY_GAIN = frozenset(GAINS)
