"""Judged nonrelevant documents above relevant ones, over lists of one length held as a matrix: block by block, in whole numbers."""

import numpy as np

from idealrank.data.hits import Hits, Rectangle
from idealrank.data.types import BoolArray, FloatArray, IntArray

# Rows of a block: with twenty documents in each, what is made of it fits the second-level cache.
_BLOCK = 4096


def rows_above(rectangle: Rectangle, threshold: float, ties: str) -> tuple[IntArray, FloatArray, IntArray]:
    """Relevant documents of each row; (expected) nonrelevant ones above them, at most `cap` above each; and that cap.

    Parameters
    ----------
    rectangle : Rectangle
        Lists held whole, with grades as given.
    threshold : float
        Least grade of a relevant document.
    ties : str
        The tie policy.

    Examples
    --------
    >>> rows_above(Rectangle(np.array([[1.0, 0.0, 1.0]]), np.zeros((1, 3)), None), 1, "input")
    (array([2]), array([1.]), array([1]))
    """
    n = rectangle.grades.shape[0]
    relevant, wrong, cap = np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64)
    for top in range(0, n, _BLOCK):
        rows = slice(top, min(top + _BLOCK, n))
        relevant[rows], wrong[rows], cap[rows] = _block(rectangle, rows, threshold, ties)
    return relevant, wrong, cap


def _block(rectangle: Rectangle, rows: slice, threshold: float, ties: str) -> tuple[IntArray, FloatArray, IntArray]:
    grades = np.ascontiguousarray(rectangle.grades[rows].T)  # with the ranks as rows, what is added lies together
    found = grades >= threshold
    other = (grades < threshold) & (grades >= 0)
    upto = np.cumsum(other, axis=0, dtype=np.int64)
    relevant: IntArray = found.sum(axis=0, dtype=np.int64)
    cap: IntArray = np.minimum(relevant, upto[-1]) if upto.size else np.zeros_like(relevant)
    wrong = np.zeros(relevant.size)
    if rectangle.ties is not None and ties != "input":
        begin, end = np.searchsorted(rectangle.ties.query, [rows.start, rows.stop])
        members = rectangle.ties.part(slice(int(begin), int(end)))
        place = members.rank - 1, members.query - rows.start
        wrong += _within_ties(members, place, (found[place], other[place], upto[place]), cap, ties)
        found[place] = False
    for above, counted in zip(upto, found, strict=True):
        wrong += np.minimum(above, cap) * counted
    return relevant, wrong, cap


def _within_ties(
    members: Hits, place: tuple[IntArray, IntArray], states: tuple[BoolArray, BoolArray, IntArray], cap: IntArray, ties: str
) -> FloatArray:  # fmt: skip
    """What relevant documents in ties add to each row."""
    found, other, upto = states
    head = members.rank == members.tie_first
    group, heads = np.cumsum(head) - 1, np.flatnonzero(head)
    inside = np.bincount(group[found], minlength=heads.size)
    beside = np.bincount(group[other], minlength=heads.size)
    row = place[1][heads]
    added = inside * mean_capped(upto[heads] - other[heads], beside, cap[row], ties)
    return np.bincount(row, weights=added, minlength=cap.size).astype(np.float64, copy=False)


def mean_capped(above: IntArray, beside: IntArray, cap: IntArray, ties: str) -> FloatArray:
    """(Expected) number of nonrelevant documents above a relevant one of a tie, at most `cap`.

    A relevant document is equally likely to have 0, 1, ... or all u of its tie's nonrelevant ones above it, so the mean is that of
    min(above + m, cap) over m = 0 .. u, of which the first few are below the cap.

    Examples
    --------
    >>> mean_capped(np.array([1]), np.array([2]), np.array([2]), "expected")
    array([1.66666667])
    """
    if ties != "expected":
        shown: IntArray = np.minimum(above + beside, cap) if ties == "worst" else np.minimum(above, cap)
        return shown.astype(np.float64)
    below = np.clip(cap - above, 0, beside + 1)
    mean: FloatArray = (below * above + below * (below - 1) // 2 + (beside + 1 - below) * cap) / (beside + 1)
    return mean
