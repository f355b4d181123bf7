"""rankDCG written slowly, in fractions: of one order, and of two lists by every order of the ties
of the second.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby, permutations, product

from tests.twins.naive_query import Asked, Entry, Query, Value, undefined


def of_order(grades: Sequence[float]) -> Fraction | None:
    """rankDCG of true values in the order of the ranking; None where all are equal."""
    different = sorted(set(grades))
    level = [different.index(grade) + 1 for grade in grades]
    ideal = sorted(level, reverse=True)
    reverse = [len(different) + 1 - one for one in ideal]

    def dcg(levels: Sequence[int]) -> Fraction:
        return sum(
            (Fraction(one, by) for one, by in zip(levels, reverse, strict=True)), Fraction(0)
        )

    high, low = dcg(ideal), dcg(ideal[::-1])
    return (dcg(level) - low) / (high - low) if high != low else None


def of_lists(reference: Sequence[float], predicted: Sequence[float], ties: str) -> Fraction | None:
    """The worst, mean or best value over all orders of items with equal predictions."""
    items = sorted(range(len(reference)), key=lambda item: -predicted[item])
    groups = [list(group) for _, group in groupby(items, key=lambda item: predicted[item])]
    # Orders that differ in items of one true value are one.
    choices = [sorted(set(permutations([reference[item] for item in group]))) for group in groups]
    values = [
        of_order([grade for group in choice for grade in group]) for choice in product(*choices)
    ]
    numbers = [value for value in values if value is not None]
    if not numbers:
        return None
    return {
        "worst": min(numbers),
        "best": max(numbers),
        "expected": sum(numbers, Fraction(0)) / len(numbers),
    }[ties]


def _rank_dcg(asked: Asked, order: list[Entry], query: Query) -> float | None:
    value = of_order([grade for grade in order if grade is not None])
    return undefined(asked) if value is None else float(value)


VALUES: dict[str, Value] = {"RankDCG": _rank_dcg}
