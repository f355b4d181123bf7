"""Measures of order and of labels, written slowly: every pair, every depth, ties by the orders that the query brings."""

import math
from collections.abc import Callable
from itertools import combinations
from statistics import correlation

from tests.twins.naive_query import Asked, Entry, Gain, Query, Value, is_relevant, n_relevant, undefined


def _judged(order: list[Entry]) -> list[float]:
    """Grades of the judged documents, in the order in which they stand."""
    return [grade for grade in order if grade is not None]


def _of_differing(function: Callable[[list[float]], float]) -> Value:
    """A measure of the grades of the judged documents returned, which has no value when all are equal."""

    def measure(asked: Asked, order: list[Entry], query: Query) -> float | None:
        grades = _judged(order)
        return function(grades) if len(set(grades)) > 1 else undefined(asked)

    return measure


def _auc(asked: Asked, order: list[Entry], query: Query) -> float | None:
    relevant = [is_relevant(asked, grade) for grade in _judged(order)]
    pairs = [(above, below) for above, below in combinations(relevant, 2) if above != below]
    return sum(above for above, _ in pairs) / len(pairs) if pairs else undefined(asked)


def _accuracy(asked: Asked, order: list[Entry], query: Query) -> float | None:
    if not n_relevant(asked, query):
        return undefined(asked)
    relevant = [is_relevant(asked, grade) for rank, grade in enumerate(order, 1) if rank <= asked.limit(query.length)]
    if not any(relevant) or all(relevant):
        return float(any(relevant))
    pairs = [(above, below) for above, below in combinations(relevant, 2) if above != below]
    return sum(above for above, _ in pairs) / len(pairs)


def _opa(grades: list[float]) -> float:
    pairs = [(above, below) for above, below in combinations(grades, 2) if above != below]
    return sum(above > below for above, below in pairs) / len(pairs)


def _sign(above: float, below: float) -> int:
    return (above > below) - (above < below)


def _tau(asked: Asked, order: list[Entry], query: Query) -> float | None:
    grades = _judged(order)
    n, m = len(grades), len(set(grades))
    if m < 2:
        return undefined(asked)
    signs = [_sign(above, below) for above, below in combinations(grades, 2)]
    variant = asked.options.get("variant", "b")
    if variant == "c":
        return sum(signs) / (n * n * (m - 1) / (2 * m))
    return sum(signs) / (len(signs) if variant == "a" else math.sqrt(len(signs) * sum(map(abs, signs))))


def _rho(grades: list[float]) -> float:
    by_grade = [sum(other > grade for other in grades) + (1 + grades.count(grade)) / 2 for grade in grades]
    return correlation([float(rank) for rank in range(1, len(grades) + 1)], by_grade)


def _tau_ap(grades: list[float]) -> float:
    shares = [sum((1 + _sign(above, grade)) / 2 for above in grades[:place]) / place for place, grade in enumerate(grades) if place]
    return 2 * sum(shares) / len(shares) - 1


def _weighted_tau(grades: list[float]) -> float:
    by_grade = sorted(range(len(grades)), key=lambda place: -grades[place])
    values = []
    for ranking in (list(range(len(grades))), by_grade):
        weight = [1 / (ranking.index(place) + 1) for place in range(len(grades))]
        pairs = [(_sign(grades[i], grades[j]), weight[i] + weight[j]) for i, j in combinations(range(len(grades)), 2)]
        whole, differing = math.fsum(w for _, w in pairs), math.fsum(w for sign, w in pairs if sign)
        values.append(math.fsum(sign * w for sign, w in pairs) / math.sqrt(whole * differing))
    return sum(values) / 2


def _arp(asked: Asked, order: list[Entry], query: Query) -> float | None:
    weights = [max(grade or 0.0, 0.0) for grade in order]
    if not sum(weights):
        return undefined(asked)
    return math.fsum(weight * rank for rank, weight in enumerate(weights, 1)) / math.fsum(weights)


def _pwa(asked: Asked, order: list[Entry], query: Query) -> float:
    seen = [(grade or 0.0, 1 / rank) for rank, grade in enumerate(order, 1) if rank <= asked.limit(query.length)]
    return math.fsum(grade * weight for grade, weight in seen) / math.fsum(weight for _, weight in seen) if seen else 0.0


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
    judged = [(is_relevant(asked, grade), query.tie_last[place]) for place, grade in enumerate(order) if grade is not None]
    pairs = [(one, other) for relevant, one in judged if relevant for irrelevant, other in judged if not irrelevant]
    return sum(one >= other for one, other in pairs) / len(pairs) if pairs else undefined(asked)


def _compat(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """Overlap of the run with the ideal, set by set; documents are known by where they stand."""
    total = n_relevant(asked, query)
    if not total:
        return undefined(asked)
    p = float(asked.options.get("p", "0.95"))
    # Behind every judged document of a higher grade, and behind the returned ones of its grade that stand above it.
    both = [
        (rank, 1 + sum(other > grade for other in query.judged) + sum(other == grade for other in order[: rank - 1]))
        for rank, grade in enumerate(order, 1)
        if grade is not None and is_relevant(asked, grade)
    ]
    depths = range(1, max(len(order), total) + 1)
    overlap = math.fsum(p ** (i - 1) * sum(max(ranks) <= i for ranks in both) / i for i in depths)
    if asked.options.get("normalize") == "False":
        return overlap / math.fsum(p ** (i - 1) for i in depths)
    return overlap / math.fsum(p ** (i - 1) * min(i, total) / i for i in depths)


VALUES: dict[str, Value] = {
    "AUC": _auc,
    "Accuracy": _accuracy,
    "OPA": _of_differing(_opa),
    "GradeTau": _tau,
    "GradeRho": _of_differing(_rho),
    "GradeTauAP": _of_differing(_tau_ap),
    "GradeWTau": _of_differing(_weighted_tau),
    "ARP": _arp,
    "PWA": _pwa,
    "LRAP": _lrap,
    "CoverageError": _coverage_error,
    "RankingLoss": _ranking_loss,
    "Compat": _compat,
}
GAINS: dict[str, Gain] = {"Accuracy": lambda asked, entry, query: float(is_relevant(asked, entry))}
BY_GAIN = frozenset(GAINS)
"""Measures whose best and worst orders of ties are the orders by gain: the value is not always the greatest there."""
LESS_IS_BETTER = frozenset({"ARP", "CoverageError", "RankingLoss"})
