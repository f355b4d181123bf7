"""Every measure written slowly, from its definition: plain Python, one query at a time, ties by trying every order.

Nothing here is shared with the library but the text of a measure and the words of the switches. Each family is a module `naive_*`
with tables of its own, which are collected here.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from pathlib import Path

from tests.twins.naive_query import (
    Asked,
    Entry,
    Gain,
    NaiveError,
    Query,
    Row,
    Value,
    average_precision,
    gain_of,
    n_relevant,
    per_relevant,
    prepare,
    relevant_ranks,
    undefined,
    without_duplicates,
)  # fmt: skip


def value(text: str, query: Query, ties: str) -> float | None:
    """A measure of one query; None where it does not count. The mean, best or worst over the orders of ties."""
    asked = Asked.read(text)
    ties = asked.options.get("ties", ties)
    by_gain = asked.name in _BY_GAIN or asked.options.get("of", "EU") != "EU"
    if ties in ("best", "worst") and by_gain:
        return _VALUES[asked.name](asked, _by_gain(asked, query, ties), query)
    values = [_VALUES[asked.name](asked, order, query) for order in query.orders]
    if values[0] is None:
        return None
    numbers = [number for number in values if number is not None]
    mean = math.fsum(numbers) / len(numbers)
    # The best order has the highest DCG, also where the ideal by which it is divided is negative.
    upside_down = asked.name in _LESS_IS_BETTER or (asked.name == "nDCG" and _ideal(asked, query.orders[0], query) < 0)
    best, worst = (min(numbers), max(numbers)) if upside_down else (max(numbers), min(numbers))
    result = {"best": best, "worst": worst}.get(ties, mean)
    return _rounded(result, asked.options.get("rounding", "none"))


def _by_gain(asked: Asked, query: Query, ties: str) -> list[Entry]:
    """The order of the highest (or lowest) gains, as they come; where nothing is gained, an unjudged document is the lower."""
    gain = _GAINS[asked.name]
    return (max if ties == "best" else min)(query.orders, key=lambda order: [(gain(asked, e, query), e is not None) for e in order])


def _rounded(number: float, rounding: str) -> float:
    """Two decimals with halves up, as Java's Math.round; five as C's printf."""
    if rounding == "round-2" and math.isfinite(number):
        return math.floor(Fraction(number * 100) + Fraction(1, 2)) / 100
    return float(f"{number:.5f}") if rounding == "round-5" else number


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
    weighted = [(gain, _weight(asked, rank, length)) for rank, gain in enumerate(gains, 1) if rank <= limit]
    if asked.options.get("rounding") == "floor-2":
        return float(sum(_cents(Fraction(gain) * Fraction(weight)) for gain, weight in weighted))
    return math.fsum(gain * weight for gain, weight in weighted)


def _dcg(asked: Asked, order: list[Entry], query: Query) -> float:
    gains = [0.0 if grade is None else gain_of(asked, grade) for grade in order]
    return _sum(asked, gains, asked.limit(query.length), query.length)


def _ideal(asked: Asked, order: list[Entry], query: Query) -> float:
    limit, ideal = asked.limit(query.length), asked.options.get("ideal", "judged")
    gains = [gain_of(asked, grade) for grade in query.judged]
    if ideal == "returned":
        gains = [0.0 if grade is None else gain_of(asked, grade) for grade in order]
    if ideal == "hits":
        limit = min(limit, max(query.length, 1))
    return _sum(asked, sorted(gains, reverse=True), math.inf if ideal == "uncut" else limit, query.length)


def _ndcg(asked: Asked, order: list[Entry], query: Query) -> float | None:
    ideal = _ideal(asked, order, query)
    quotient = asked.options.get("no_relevant") == "quotient"
    if ideal == 0 or (ideal < 0 and not quotient):
        return undefined(asked)
    dcg = _dcg(asked, order, query)
    if asked.options.get("rounding") == "floor-2":
        return float(_cents(_decimal(dcg) / _decimal(ideal)))
    return dcg / ideal


def _decimal(number: float) -> Fraction:
    """The decimal fraction that a sum of hundredths stands for."""
    return Fraction(f"{number:.2f}")


# Every family states its own in the same way: its values; what places gain, where ties need it; the measures whose best and worst orders
# are those of the gains, not of the values; the measures whose best value is the lowest.
_HERE: dict[str, Value] = {
    "nDCG": _ndcg,
    "DCG": _dcg,
    "iDCG": _ideal,
    "P": lambda asked, order, query: len(relevant_ranks(asked, order, query)) / asked.limit(query.length),
    "R": per_relevant(lambda ranks, total: len(ranks) / total),
    "AP": average_precision,
    "RR": per_relevant(lambda ranks, total: 1.0 / ranks[0] if ranks else 0.0),
    "NumQ": lambda asked, order, query: 1.0,
    "NumRet": lambda asked, order, query: min(query.length, asked.limit(query.length)),
    "NumRel": lambda asked, order, query: float(n_relevant(asked, query)),
    "NumRelRet": lambda asked, order, query: float(len(relevant_ranks(asked, order, query))),
}
_FAMILIES = [
    vars(import_module(f"tests.twins.{path.stem}"))
    for path in sorted(Path(__file__).parent.glob("naive_*.py"))
    if path.stem != "naive_measures"
]

_VALUES: dict[str, Value] = {**_HERE, **{name: value for family in _FAMILIES for name, value in family.get("VALUES", {}).items()}}
_GAINS: dict[str, Gain] = {name: gain for family in _FAMILIES for name, gain in family.get("GAINS", {}).items()}
_BY_GAIN = {name for family in _FAMILIES for name in family.get("BY_GAIN", ())}
_LESS_IS_BETTER = {name for family in _FAMILIES for name in family.get("LESS_IS_BETTER", ())}


def switches_for(text: str, switches: Mapping[str, str]) -> Mapping[str, str]:
    """The switches of a convention, as the options of a measure change them."""
    options = Asked.read(text).options
    if "judged_only" in options:
        unjudged = switches["unjudged"] if switches["unjudged"] == "error" else "skipped"
        switches = {**switches, "unjudged": unjudged, "pooled": "skipped"}
    return {**switches, "ties": options.get("ties", switches["ties"])}


def evaluate(
    qrels: Mapping[str, Mapping[str, float]], run: Mapping[str, Sequence[Row]], text: str, switches: Mapping[str, str]
) -> dict[str, float | None]:
    """A resolved measure for every query that counts."""
    switches = switches_for(text, switches)
    for grades in qrels.values():
        prepare(grades, (), switches)  # a refused grade or document is refused wherever it stands
    for rows in run.values():
        without_duplicates(rows, switches["duplicates"])
    values: dict[str, float | None] = {}
    for query_id in [*qrels, *(query for query in run if query not in qrels)]:
        in_qrels, in_run = query_id in qrels, query_id in run
        if not in_run and switches["missing"] == "error":
            raise NaiveError("missing")
        if (not in_run and switches["missing"] == "left-out") or (not in_qrels and switches["without_judgments"] == "left-out"):
            continue
        query = prepare(qrels.get(query_id, {}), run.get(query_id, ()), switches)
        values[query_id] = value(text, query, switches["ties"])
    return values
