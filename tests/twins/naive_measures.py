"""Every measure written slowly, from its definition: plain Python, one query at a time, ties by trying every order.

Nothing here is shared with the library but the text of a measure and the words of the switches.
"""

import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, permutations, product

Row = tuple[str, float]
Entry = float | None
"""A place of a ranked list: the grade of the document there, or None when nobody judged it."""


class NaiveError(Exception):
    """The convention refuses this input."""


@dataclass(frozen=True)
class Query:
    """One query as the definitions see it: every order of its list that the tie rule allows, and all judged grades.

    Attributes
    ----------
    orders : list of list
        Rankings; one, unless ties are averaged or the best or worst order is asked for.
    judged : list of float
        Grades of all judged documents, in any order.
    """

    orders: list[list[Entry]]
    judged: list[float]

    @property
    def length(self) -> int:
        """Number of documents in the list."""
        return len(self.orders[0])


def prepare(grades: Mapping[str, float], rows: Sequence[Row], switches: Mapping[str, str]) -> Query:
    """Apply the policies for grades, duplicates, unjudged documents and ties.

    Parameters
    ----------
    grades : mapping of str to float
        Judged documents.
    rows : sequence of (document, score)
        What was returned, in input order.
    switches : mapping of str to str
        As `Convention.switches` gives them.
    """
    judged = {document: grade for document, grade in ((d, _grade(g, switches)) for d, g in grades.items()) if grade is not None}
    removed = set(grades) - set(judged)
    if switches["score"] == "float32":
        rows = [(document, _float32(score)) for document, score in rows]
    rows = [row for row in _without_duplicates(rows, switches["duplicates"]) if row[0] not in removed]
    if switches["unjudged"] == "skipped":
        rows = [row for row in rows if row[0] in judged]
    if switches["unjudged"] == "error" and any(document not in judged for document, _ in rows):
        raise NaiveError("unjudged")
    orders = [[judged.get(document) for document, _ in order] for order in _orders(rows, switches)]
    return Query(orders, list(judged.values()))


def _grade(grade: float, switches: Mapping[str, str]) -> float | None:
    """The grade to measure with; None takes the document out of the world."""
    if switches["grades"] == "truncated":
        grade = float(math.trunc(grade))
    if switches["grades"] == "minimum" and grade < 1:
        grade = 0.0
    if grade >= 0 or switches["negative"] == "kept":
        return grade
    if switches["negative"] == "error":
        raise NaiveError("negative")
    if switches["negative"] == "zero":
        return 0.0
    return None if switches["negative"] == "removed" or grade == -1 else grade  # padding takes out -1 alone


def _without_duplicates(rows: Sequence[Row], policy: str) -> list[Row]:
    if policy == "twice":
        return list(rows)
    kept: dict[str, int] = {}
    for place, (document, score) in enumerate(rows):
        if document not in kept or policy == "last" or (policy == "best" and score > rows[kept[document]][1]):
            if document in kept and policy == "error":
                raise NaiveError("duplicates")
            kept[document] = place
        elif policy == "error":
            raise NaiveError("duplicates")
    return [rows[place] for place in sorted(kept.values())]


def _float32(score: float) -> float:
    """Round to float32, beyond its range to infinity."""
    try:
        return float(struct.unpack("f", struct.pack("f", score))[0])
    except OverflowError:
        return math.copysign(math.inf, score)


def _orders(rows: Sequence[Row], switches: Mapping[str, str]) -> Iterator[list[Row]]:
    ranked = [(document, score + 0.0) for document, score in rows]
    ties = switches["ties"]
    if ties in ("docid", "docid-ascending"):
        ranked.sort(key=lambda row: row[0].encode(), reverse=ties == "docid")
    ranked.sort(key=lambda row: -row[1])
    if ties in ("expected", "best", "worst"):
        groups = [list(group) for _, group in groupby(ranked, key=lambda row: row[1])]
        for choice in product(*(permutations(group) for group in groups)):
            yield [row for group in choice for row in group]
    else:
        yield ranked


@dataclass(frozen=True)
class Asked:
    """A resolved measure taken from its text: ``nDCG(discount=log2,gain=exp2,...)@10``."""

    name: str
    options: Mapping[str, str]
    cutoff: str

    @classmethod
    def read(cls, text: str) -> "Asked":
        """Parse a resolved text."""
        measure, _, cutoff = text.partition("@")
        name, _, options = measure.partition("(")
        pairs = re.findall(r"(\w+)=((?:\{.*?\}|\[.*?\]|\(.*?\)|[^,({\[])+)", options.removesuffix(")"))
        return cls(name, dict(pairs), cutoff)

    def limit(self, length: int) -> float:
        """The deepest rank that counts."""
        if not self.cutoff:
            return math.inf
        if self.cutoff.isdecimal():
            return int(self.cutoff)
        if self.cutoff == "sqrt(n)":
            return max(1, math.isqrt(length))
        if self.cutoff.endswith("n"):
            return max(1, math.floor(Fraction(self.cutoff[:-1]) * length))
        exponent = Fraction(self.cutoff[2:])
        rank = 1
        while Fraction(rank + 1) ** exponent.denominator <= Fraction(length) ** exponent.numerator:
            rank += 1
        return rank


def value(text: str, query: Query, ties: str) -> float | None:
    """A measure of one query; None where it does not count. The mean, best or worst over the orders of ties."""
    asked = Asked.read(text)
    values = [_VALUES[asked.name](asked, order, query) for order in query.orders]
    if values[0] is None:
        return None
    numbers = [number for number in values if number is not None]
    mean = math.fsum(numbers) / len(numbers)
    upside_down = asked.name == "nDCG" and _ideal(asked, query.orders[0], query) < 0  # the best order has the highest DCG
    best, worst = (min(numbers), max(numbers)) if upside_down else (max(numbers), min(numbers))
    result = {"best": best, "worst": worst}.get(ties, mean)
    return _rounded(result, asked.options.get("rounding", "none"))


def _rounded(number: float, rounding: str) -> float:
    """Two decimals with halves up, as Java's Math.round; five as C's printf."""
    if rounding == "round-2" and math.isfinite(number):
        return math.floor(Fraction(number * 100) + Fraction(1, 2)) / 100
    return float(f"{number:.5f}") if rounding == "round-5" else number


def _gain(asked: Asked, grade: float) -> float:
    name = asked.options.get("gain", "linear")
    if name == "linear":
        return grade
    if name == "exp2":
        return float(2**grade - 1)
    if name.startswith("power("):
        return math.copysign(abs(grade) ** float(name[6:-1]), grade)
    table = {float(pair.split(":")[0]): float(pair.split(":")[1]) for pair in name.strip("{}").split(",")}
    return table[grade]


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
    if family == "power":
        return 1.0 / float(rank**parameter)
    if family == "exponential":
        return float(parameter**-rank)
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
    gains = [0.0 if grade is None else _gain(asked, grade) for grade in order]
    return _sum(asked, gains, asked.limit(query.length), query.length)


def _ideal(asked: Asked, order: list[Entry], query: Query) -> float:
    limit, ideal = asked.limit(query.length), asked.options.get("ideal", "judged")
    gains = [_gain(asked, grade) for grade in query.judged]
    if ideal == "returned":
        gains = [0.0 if grade is None else _gain(asked, grade) for grade in order]
    if ideal == "hits":
        limit = min(limit, max(query.length, 1))
    return _sum(asked, sorted(gains, reverse=True), math.inf if ideal == "uncut" else limit, query.length)


def _undefined(asked: Asked) -> float | None:
    return {"zero": 0.0, "quotient": 0.0, "one": 1.0, "nan": math.nan, "left-out": None}[asked.options.get("no_relevant", "zero")]


def _ndcg(asked: Asked, order: list[Entry], query: Query) -> float | None:
    ideal = _ideal(asked, order, query)
    quotient = asked.options.get("no_relevant") == "quotient"
    if ideal == 0 or (ideal < 0 and not quotient):
        return _undefined(asked)
    dcg = _dcg(asked, order, query)
    if asked.options.get("rounding") == "floor-2":
        return float(_cents(_decimal(dcg) / _decimal(ideal)))
    return dcg / ideal


def _decimal(number: float) -> Fraction:
    """The decimal fraction that a sum of hundredths stands for."""
    return Fraction(f"{number:.2f}")


def _is_relevant(asked: Asked, grade: Entry) -> bool:
    return grade is not None and grade >= float(asked.options.get("rel", "1"))


def _relevant_ranks(asked: Asked, order: list[Entry], query: Query) -> list[int]:
    limit = asked.limit(query.length)
    return [rank for rank, grade in enumerate(order, 1) if _is_relevant(asked, grade) and rank <= limit]


def _n_relevant(asked: Asked, query: Query) -> int:
    return sum(_is_relevant(asked, grade) for grade in query.judged)


def _per_relevant(function: Callable[[list[int], int], float]) -> Callable[[Asked, list[Entry], Query], float | None]:
    def measure(asked: Asked, order: list[Entry], query: Query) -> float | None:
        total = _n_relevant(asked, query)
        return function(_relevant_ranks(asked, order, query), total) if total else _undefined(asked)

    return measure


_VALUES: dict[str, Callable[[Asked, list[Entry], Query], float | None]] = {
    "nDCG": _ndcg,
    "DCG": _dcg,
    "iDCG": _ideal,
    "P": lambda asked, order, query: len(_relevant_ranks(asked, order, query)) / asked.limit(query.length),
    "R": _per_relevant(lambda ranks, total: len(ranks) / total),
    "AP": _per_relevant(lambda ranks, total: math.fsum(found / rank for found, rank in enumerate(ranks, 1)) / total),
    "RR": _per_relevant(lambda ranks, total: 1.0 / ranks[0] if ranks else 0.0),
    "NumQ": lambda asked, order, query: 1.0,
    "NumRet": lambda asked, order, query: min(query.length, asked.limit(query.length)),
    "NumRel": lambda asked, order, query: float(_n_relevant(asked, query)),
    "NumRelRet": lambda asked, order, query: float(len(_relevant_ranks(asked, order, query))),
}


def evaluate(
    qrels: Mapping[str, Mapping[str, float]], run: Mapping[str, Sequence[Row]], text: str, switches: Mapping[str, str]
) -> dict[str, float | None]:
    """A resolved measure for every query that counts."""
    for grades in qrels.values():
        prepare(grades, (), switches)  # a refused grade or document is refused wherever it stands
    for rows in run.values():
        _without_duplicates(rows, switches["duplicates"])
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
