"""Roots: where a function crosses zero, and the least whole number that is enough, in few
trials.
"""

import math
from collections.abc import Callable
from typing import Any


def root_between(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    within: float = 2e-12,
    share: float = 1e-12,
) -> float:
    """The zero of a function between two arguments at which its signs differ, by Brent's method."""
    from scipy.optimize import brentq  # noqa: PLC0415  (slow to load: commands that only compare do without)

    root: Any = brentq(function, low, high, xtol=within, rtol=share)  # type: ignore[arg-type,unused-ignore]
    return float(root)


def fewest(enough: Callable[[int], bool], *, near: float, most: int) -> int | None:
    """The least whole number from 2 on that is enough, if every larger one is, too; None where
    `most` is not.
    """
    # Steps that double lead away from the guess until `few` is not enough and `many` is; halving
    # does the rest.
    step = 1
    start = math.ceil(min(max(near, 2.0), float(most)))
    if enough(start):
        few = start - 1
        many = start
        while few > 1 and enough(few):
            many = few
            few = max(few - 2 * step, 1)
            step = 2 * step
    else:
        few = start
        many = start + 1
        while not enough(many):
            if many > most:
                return None
            few = many
            many = many + 2 * step
            step = 2 * step
    while many - few > 1:
        middle = (few + many) // 2
        if enough(middle):
            many = middle
        else:
            few = middle
    return many
