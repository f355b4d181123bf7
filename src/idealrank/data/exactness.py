"""Scores that are whole numbers of 64 bits beyond what float64 holds: their order would be lost
without a word.

A number of more bits (JSON and text can spell one) is no count and no time of any machine; it is
read as the double it is near.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from idealrank.data.types import AnyArray, BoolArray, FloatArray

_LIMIT, _BEYOND = 1 << 53, 1 << 64
EXPECTED = (
    "a score that float64 holds (every whole number up to 2**53 is one); subtract the smallest "
    "score from all of them first"
)


def is_lost(value: Any) -> bool:
    """Return whether a whole number of at most 64 bits changes in float64."""
    return (
        isinstance(value, (int, np.integer))
        and _LIMIT < abs(int(value)) < _BEYOND
        and int(float(value)) != int(value)
    )


def is_large(values: FloatArray) -> bool:
    """Return whether a finite number is so large that float64 cannot hold neighbouring whole
    numbers.
    """
    return bool(values.size) and bool((np.abs(values) >= _LIMIT).any())


def first_lost(values: Iterable[Any]) -> int | None:
    """The place of the first whole number that changes in float64."""
    return next((place for place, value in enumerate(values) if is_lost(value)), None)


def lost_of_array(values: AnyArray) -> BoolArray:
    """Mark the whole numbers of an array that change in float64; none in an array of other
    numbers.
    """
    if (
        values.dtype.kind not in "iu"
        or values.size == 0
        or (values.max() <= _LIMIT and values.min() >= -_LIMIT)
    ):
        return np.zeros(values.size, bool)
    # Without its trailing zeros, a number that float64 holds has 53 bits at most.
    size = np.abs(values.reshape(-1)).astype(np.uint64)
    lowest = size & (~size + np.uint64(1))
    lost: BoolArray = size // np.maximum(lowest, np.uint64(1)) > _LIMIT
    return lost


def first_lost_of_lists(values: Any, numbers: AnyArray) -> int | None:
    """Find the first lost number in the source of an array; nested lists hold whole numbers that
    NumPy rounded already.
    """
    if numbers.dtype.kind == "f" and isinstance(values, Sequence) and is_large(numbers):
        return first_lost(np.asarray(values, object).reshape(-1))
    lost = np.flatnonzero(lost_of_array(numbers))
    return int(lost[0]) if lost.size else None
