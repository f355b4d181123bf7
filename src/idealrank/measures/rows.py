"""Measures of lists of one length, every item judged and no tie to average: rank after rank, all lists at once.

Each rank is a row that holds one place of every list. Nothing is looked up and nothing sorted again, and what a rank needs of
those above it is a running count; each function equals the general way of its measure, which tests compare.
"""

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray


def grades_by_rank(judged: Judged) -> FloatArray | None:
    """Grades with a row for each rank, shape (width, n_queries); None where lists differ in length or the order of ties matters.

    Examples
    --------
    >>> from idealrank.data.alignment import Alignment
    >>> from idealrank.data.lists import Lists, judge_lists
    >>> grades_by_rank(judge_lists(Lists.from_arrays([[0, 2], [1, 0]], [[1, 2], [1, 2]]), Alignment()))
    array([[2., 0.],
           [0., 1.]])
    """
    held = judged.rectangle
    if held is None or (held.ties is not None and judged.ties != "input"):
        return None
    return np.ascontiguousarray(held.grades.T)


def sums_of_precision(grades: FloatArray, threshold: float, limit: int) -> FloatArray:
    """Sum of the precision at each relevant document down to a limit: AP without its divisor.

    Examples
    --------
    >>> sums_of_precision(np.array([[1.0], [0.0], [1.0]]), 1, 3)
    array([1.66666667])
    """
    found, sums = np.zeros(grades.shape[1]), np.zeros(grades.shape[1])
    for rank, row in enumerate(grades[:limit] >= threshold, 1):
        found += row
        sums += row * (found / rank)
    return sums
