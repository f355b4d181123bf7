"""One query as the definitions see it, and what is asked of it: policies applied one by one, ties
by trying every order.
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


class Pooled(float):
    """The grade of a document that was given a negative one: put before the judges, and left
    unjudged.
    """


class NaiveError(Exception):
    """The convention refuses this input."""


@dataclass(frozen=True)
class Query:
    """One query as the definitions see it: every order of its list that the tie rule allows, and
    all judged grades.

    Attributes
    ----------
    orders : list of list
        Rankings; one, unless ties are averaged or the best or worst order is asked for.
    judged : list of float
        Grades of all judged documents, in any order.
    tie_last : list of int
        The last rank of the tie that each place belongs to, the same in every order.
    complete : bool
        Whether every item has a label, as in arrays.
    """

    orders: list[list[Entry]]
    judged: list[float]
    tie_last: list[int]
    complete: bool = False

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
    judged = {
        document: grade
        for document, grade in ((d, _grade(g, switches)) for d, g in grades.items())
        if grade is not None
    }
    judged = {
        document: Pooled(grade) if grades[document] < 0 else grade
        for document, grade in judged.items()
    }
    removed = set(grades) - set(judged)
    if switches["score"] == "float32":
        rows = [(document, _float32(score)) for document, score in rows]
    rows = [
        row for row in without_duplicates(rows, switches["duplicates"]) if row[0] not in removed
    ]
    if switches["unjudged"] == "skipped":
        rows = [row for row in rows if row[0] in judged]
    if switches["unjudged"] == "error" and any(document not in judged for document, _ in rows):
        raise NaiveError("unjudged")
    if switches.get("pooled") == "skipped":
        rows = [
            row
            for row in rows
            if not (isinstance(judged.get(row[0]), Pooled) and judged[row[0]] >= 0)
        ]
    orders = [[judged.get(document) for document, _ in order] for order in _orders(rows, switches)]
    scores = sorted((score for _, score in rows), reverse=True)
    return Query(
        orders, list(judged.values()), [sum(other >= score for other in scores) for score in scores]
    )


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
    # padding takes out -1 alone
    return None if switches["negative"] == "removed" or grade == -1 else grade


def without_duplicates(rows: Sequence[Row], policy: str) -> list[Row]:
    """Rows after the policy for a document listed twice."""
    if policy == "twice":
        return list(rows)
    kept: dict[str, int] = {}
    for place, (document, score) in enumerate(rows):
        if (
            document not in kept
            or policy == "last"
            or (policy == "best" and score > rows[kept[document]][1])
        ):
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
        pairs = re.findall(
            r"(\w+)=((?:\{.*?\}|\[.*?\]|\(.*?\)|[^,({\[])+)", options.removesuffix(")")
        )
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


Value = Callable[[Asked, list[Entry], Query], float | None]
"""A measure of one query under one order of its list; None where the query does not count."""

Gain = Callable[[Asked, Entry, Query], float]
"""What a place of the list gains; best and worst orders of ties can go by it."""


def undefined(asked: Asked) -> float | None:
    """The value of a query without relevant documents."""
    return {"zero": 0.0, "quotient": 0.0, "one": 1.0, "nan": math.nan, "left-out": None}[
        asked.options.get("no_relevant", "zero")
    ]


def is_relevant(asked: Asked, grade: Entry) -> bool:
    """True if a place of the list holds a relevant document."""
    return grade is not None and grade >= float(asked.options.get("rel", "1"))


def is_rejected(asked: Asked, entry: Entry) -> bool:
    """Judged, and found not relevant."""
    return entry is not None and not isinstance(entry, Pooled) and not is_relevant(asked, entry)


def gain_of(asked: Asked, grade: float) -> float:
    """What a grade is worth."""
    name = asked.options.get("gain", "linear")
    if name == "binary":
        return float(grade >= 1)
    if name == "linear":
        return grade
    if name == "exp2":
        return float(2**grade - 1)
    if name.startswith("power("):
        return math.copysign(abs(grade) ** float(name[6:-1]), grade)
    table = {
        float(pair.split(":")[0]): float(pair.split(":")[1]) for pair in name.strip("{}").split(",")
    }
    return table[grade]


def relevant_ranks(asked: Asked, order: list[Entry], query: Query) -> list[int]:
    """Ranks of the relevant documents within the cutoff."""
    limit = asked.limit(query.length)
    return [
        rank for rank, grade in enumerate(order, 1) if is_relevant(asked, grade) and rank <= limit
    ]


def n_relevant(asked: Asked, query: Query) -> int:
    """Relevant documents among the judged."""
    return sum(is_relevant(asked, grade) for grade in query.judged)


def per_relevant(
    function: Callable[[list[int], int], float],
) -> Callable[[Asked, list[Entry], Query], float | None]:
    """A measure that has no value without relevant documents, from the ranks of those found and
    their total.
    """

    def measure(asked: Asked, order: list[Entry], query: Query) -> float | None:
        total = n_relevant(asked, query)
        return function(relevant_ranks(asked, order, query), total) if total else undefined(asked)

    return measure


def average_precision(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """The precision at each relevant rank, over the relevant documents, or as many of them as the
    cutoff lets in.
    """
    total = n_relevant(asked, query)
    if not total:
        return undefined(asked)
    places = asked.limit(query.length) if asked.options.get("divisor") == "reachable" else math.inf
    ranks = relevant_ranks(asked, order, query)
    return math.fsum(found / rank for found, rank in enumerate(ranks, 1)) / max(
        min(total, places), 1
    )
