"""Gradients of ranking measures, one pair at a time: a pair's weight is the measure before and
after its two documents swap places.
"""

import math
from collections.abc import Callable, Sequence

Value = Callable[[Sequence[float]], float]


def value_of(swap: str, weights: Sequence[float]) -> Value:
    """The measure of gains in the order of their ranks, by the kernel's word for its swap."""
    padded = [*weights, *[0.0] * 1000]

    def discounted(gains: Sequence[float]) -> float:
        return sum(gain * weight for gain, weight in zip(gains, padded, strict=False))

    def precision(gains: Sequence[float]) -> float:
        return sum(
            padded[i] * sum(gain > 0 for gain in gains[: i + 1])
            for i in range(len(gains))
            if gains[i] > 0
        )

    def first(gains: Sequence[float]) -> float:
        return next((padded[i] for i, gain in enumerate(gains) if gain > 0), 0.0)

    def cascade(gains: Sequence[float]) -> float:
        return sum(
            padded[i] * gains[i] * math.prod(1 - gain for gain in gains[:i])
            for i in range(len(gains))
        )

    return {"discounted": discounted, "precision": precision, "first": first, "cascade": cascade}[
        swap
    ]


def changes(
    swap: str, gains: Sequence[float], weights: Sequence[float]
) -> dict[tuple[int, int], float]:
    """By pair of ranks (from 0): how much the measure of the list changes if the two swap; by
    `even` the difference of the gains.
    """
    n = len(gains)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    if swap == "even":
        return {(i, j): abs(gains[i] - gains[j]) for i, j in pairs}
    value = value_of(swap, weights)
    found = {}
    for i, j in pairs:
        swapped = list(gains)
        swapped[i], swapped[j] = swapped[j], swapped[i]
        found[i, j] = abs(value(gains) - value(swapped))
    return found


def gradients_of_list(
    gains: Sequence[float],
    scores: Sequence[float],
    weights: Sequence[float],
    scale: float,
    *,
    swap: str,
    truncation: int = 0,
    sigma: float = 1.0,
    damped: bool = False,
    up: Sequence[float] | None = None,
    down: Sequence[float] | None = None,
) -> tuple[list[float], list[float]]:
    """First and second derivatives of one list."""
    n = len(gains)
    order = sorted(range(n), key=lambda row: -scores[row])
    counted = (lambda gain: float(gain > 0)) if swap in ("precision", "first") else float
    worth = [counted(gains[row]) for row in order]
    slope, bend, total = [0.0] * n, [0.0] * n, 0.0
    equal = max(scores, default=0.0) == min(scores, default=0.0)
    for (i, j), change in changes(swap, worth, weights).items():
        if worth[i] == worth[j] or (truncation and i >= truncation):
            continue
        high, low = (order[i], order[j]) if worth[i] > worth[j] else (order[j], order[i])
        weight = scale * change * (up[high] if up else 1.0) * (down[low] if down else 1.0)
        if damped and not equal:
            weight /= 0.01 + abs(scores[high] - scores[low])
        wrong = 1 / (1 + math.exp(min(sigma * (scores[high] - scores[low]), 700)))
        slope[high] -= sigma * weight * wrong
        slope[low] += sigma * weight * wrong
        for row in (high, low):
            bend[row] += sigma**2 * weight * wrong * (1 - wrong)
        total += 2 * sigma * weight * wrong
    factor = math.log2(1 + total) / total if damped and total > 0 else 1.0
    return [factor * one for one in slope], [factor * one for one in bend]


def gradients(
    gains: Sequence[float],
    scores: Sequence[float],
    offsets: Sequence[int],
    weights: Sequence[float],
    scale: Sequence[float],
    up: Sequence[float] | None = None,
    down: Sequence[float] | None = None,
    **options: object,
) -> tuple[list[float], list[float]]:
    """First and second derivatives of lists, one after the other."""
    slope: list[float] = []
    bend: list[float] = []
    for number, factor in enumerate(scale):
        rows = slice(offsets[number], offsets[number + 1])
        of_rows = {"up": up and up[rows], "down": down and down[rows]}
        one, other = gradients_of_list(
            gains[rows], scores[rows], weights, factor, **of_rows, **options
        )  # type: ignore[arg-type]
        slope += one
        bend += other
    return slope, bend
