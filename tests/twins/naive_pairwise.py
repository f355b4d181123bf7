"""Linear NDCG and its pairwise loss from their definitions: every pair, every order of ties, in
fractions.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby, permutations, product

WEIGHT_OF_A_TIE = {"half": Fraction(1, 2), "strict": Fraction(0), "weak": Fraction(1)}


def misordered(
    labels: Sequence[float], scores: Sequence[float], ties: str
) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    """Lower grade, higher grade and weight of every pair in the wrong order."""
    items = [(Fraction(label), score) for label, score in zip(labels, scores, strict=True)]
    for (low, f_low), (high, f_high) in product(items, items):
        if low < high and f_high <= f_low:
            yield low, high, WEIGHT_OF_A_TIE[ties] if f_high == f_low else Fraction(1)


def loss(labels: Sequence[float], scores: Sequence[float], ties: str = "half") -> Fraction:
    """R(f), pair by pair."""
    return sum(
        ((high - low) * weight for low, high, weight in misordered(labels, scores, ties)),
        Fraction(0),
    )


def loss_at(
    threshold: float, labels: Sequence[float], scores: Sequence[float], ties: str = "half"
) -> Fraction:
    """R_k: the loss of the two grades that a threshold makes."""
    return loss([int(label >= threshold) for label in labels], scores, ties)


def normalisers(labels: Sequence[float]) -> tuple[int, Fraction]:
    """Z and Z_w, pair by pair."""
    pairs = [(Fraction(a), Fraction(b)) for a, b in product(labels, labels) if a < b]
    return len(pairs), sum((b - a for a, b in pairs), Fraction(0))


def dcg(ranked: Sequence[float], base: int = 1) -> Fraction:
    """Linear DCG of grades from the top, ranks counted from `base`."""
    return sum(
        (Fraction(label) * (len(ranked) - rank) for rank, label in enumerate(ranked, base)),
        Fraction(0),
    )


def orders(labels: Sequence[float], scores: Sequence[float]) -> Iterator[list[float]]:
    """The labels from the top, in every order that the scores allow."""
    ranked = sorted(zip(scores, labels, strict=True), key=lambda item: -item[0])
    groups = [
        [label for _, label in group] for _, group in groupby(ranked, key=lambda item: item[0])
    ]
    for chosen in product(*(list(permutations(group)) for group in groups)):
        yield [label for group in chosen for label in group]


def dcg_over_ties(labels: Sequence[float], scores: Sequence[float], ties: str) -> Fraction:
    """The mean, greatest or least DCG over all orders of ties."""
    values = [dcg(order) for order in orders(labels, scores)]
    return {
        "half": sum(values, Fraction(0)) / len(values),
        "strict": max(values),
        "weak": min(values),
    }[ties]
