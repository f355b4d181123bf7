"""Pairs in the right order, pair by pair."""

import math
from collections.abc import Callable
from itertools import combinations

from tests.twins.naive_query import (
    Asked,
    Entry,
    Gain,
    Query,
    Value,
    is_relevant,
    n_relevant,
    undefined,
)


def judged_grades(order: list[Entry]) -> list[float]:
    """Grades of the judged documents, in the order in which they stand."""
    return [grade for grade in order if grade is not None]


def of_differing(function: Callable[[list[float]], float]) -> Value:
    """A measure of the grades of the judged documents returned, which has no value when all are
    equal.
    """

    def measure(asked: Asked, order: list[Entry], query: Query) -> float | None:
        grades = judged_grades(order)
        return function(grades) if len(set(grades)) > 1 else undefined(asked)

    return measure


def _auc(asked: Asked, order: list[Entry], query: Query) -> float | None:
    relevant = [is_relevant(asked, grade) for grade in judged_grades(order)]
    pairs = [(above, below) for above, below in combinations(relevant, 2) if above != below]
    if pairs:
        return sum(above for above, _ in pairs) / len(pairs)
    return without_pair(asked, query)


def without_pair(asked: Asked, query: Query) -> float | None:
    """The policy's value where this list has no pair; None where no list can have one, unless every
    item is judged.
    """
    relevant = [is_relevant(asked, grade) for grade in query.judged]
    return None if relevant and all(relevant) and not query.complete else undefined(asked)


def _accuracy(asked: Asked, order: list[Entry], query: Query) -> float | None:
    if not n_relevant(asked, query):
        return undefined(asked)
    relevant = [
        is_relevant(asked, grade)
        for rank, grade in enumerate(order, 1)
        if rank <= asked.limit(query.length)
    ]
    if not any(relevant) or all(relevant):
        return float(any(relevant))
    pairs = [(above, below) for above, below in combinations(relevant, 2) if above != below]
    return sum(above for above, _ in pairs) / len(pairs)


def _opa(grades: list[float]) -> float:
    pairs = [(above, below) for above, below in combinations(grades, 2) if above != below]
    return sum(above > below for above, below in pairs) / len(pairs)


def sign(above: float, below: float) -> int:
    return (above > below) - (above < below)


def _tau_ap(grades: list[float]) -> float:
    shares = [
        sum((1 + sign(above, grade)) / 2 for above in grades[:place]) / place
        for place, grade in enumerate(grades)
        if place
    ]
    return 2 * sum(shares) / len(shares) - 1


def _weighted_tau(grades: list[float]) -> float:
    by_grade = sorted(range(len(grades)), key=lambda place: -grades[place])
    values = []
    for ranking in (list(range(len(grades))), by_grade):
        weight = [1 / (ranking.index(place) + 1) for place in range(len(grades))]
        pairs = [
            (sign(grades[i], grades[j]), weight[i] + weight[j])
            for i, j in combinations(range(len(grades)), 2)
        ]
        whole, differing = math.fsum(w for _, w in pairs), math.fsum(w for sign, w in pairs if sign)
        values.append(math.fsum(sign * w for sign, w in pairs) / math.sqrt(whole * differing))
    return sum(values) / 2


VALUES: dict[str, Value] = {
    "AUC": _auc,
    "Accuracy": _accuracy,
    "OPA": of_differing(_opa),
    "GradeTauAP": of_differing(_tau_ap),
    "GradeWTau": of_differing(_weighted_tau),
}
GAINS: dict[str, Gain] = {"Accuracy": lambda asked, entry, query: float(is_relevant(asked, entry))}
BY_GAIN = frozenset(GAINS)
"""Measures whose best and worst orders of ties are the orders by gain: the value is not always the
greatest there.
"""
