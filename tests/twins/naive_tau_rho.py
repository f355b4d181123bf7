"""Correlation of a whole order with the grades, pair by pair."""

import math
from itertools import combinations
from statistics import correlation

from tests.twins.naive_order import judged_grades, of_differing, sign
from tests.twins.naive_query import Asked, Entry, Query, Value, undefined


def _tau(asked: Asked, order: list[Entry], query: Query) -> float | None:
    grades = judged_grades(order)
    n, m = len(grades), len(set(grades))
    if m < 2:
        return undefined(asked)
    signs = [sign(above, below) for above, below in combinations(grades, 2)]
    variant = asked.options.get("variant", "b")
    if variant == "c":
        return sum(signs) / (n * n * (m - 1) / (2 * m))
    return sum(signs) / (
        len(signs) if variant == "a" else math.sqrt(len(signs) * sum(map(abs, signs)))
    )


def _rho(grades: list[float]) -> float:
    by_grade = [
        sum(other > grade for other in grades) + (1 + grades.count(grade)) / 2 for grade in grades
    ]
    return correlation([float(rank) for rank in range(1, len(grades) + 1)], by_grade)


VALUES: dict[str, Value] = {"GradeTau": _tau, "GradeRho": of_differing(_rho)}
