"""How the values of queries become one number: the mean, the sum for counts, the geometric mean; exact in any order."""

import math
from collections.abc import Iterator
from itertools import chain

from idealrank.data.types import BoolArray, FloatArray
from idealrank.measures.measure import Measure

_GEOMETRIC_FLOOR = 0.00001
_SOME = 1 << 16


def aggregate(measure: Measure, values: FloatArray, scored: BoolArray) -> float:
    """One number for a measure over the queries that count; NaN where none does.

    The mean, the sum for counts, or the geometric mean, in which a value below 0.00001 counts as that, as in trec_eval. Summed
    exactly, so the order of the queries does not matter.

    Examples
    --------
    >>> from idealrank.measures.binary import AP
    >>> aggregate(AP(), np.array([0.5, 1.0, 0.0]), np.array([True, True, False]))
    0.75
    """
    counted = values if scored.all() else values[scored]
    if measure.aggregate == "sum":
        return _sum(counted)
    if measure.aggregate == "geometric" and counted.size:
        return math.exp(math.fsum(math.log(max(value, _GEOMETRIC_FLOOR)) for value in _numbers(counted)) / counted.size)
    return _sum(counted) / counted.size if counted.size else math.nan


def _sum(values: FloatArray) -> float:
    return math.fsum(_numbers(values))


def _numbers(values: FloatArray) -> Iterator[float]:
    """As Python's numbers, some at a time: each takes four times the memory."""
    return chain.from_iterable(values[begin : begin + _SOME].tolist() for begin in range(0, values.size, _SOME))
