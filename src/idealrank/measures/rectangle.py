"""Sums of gain x weight over lists of one length, every item judged, as arrays of labels and scores nearly always are.

Rows are worked on a block at a time, so that what is computed from a block stays in the cache. The ranks of a row are summed one
after another, so that the bits equal a plain loop's.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from idealrank.data.hits import Hits, TieMembers
from idealrank.data.types import FloatArray, IntArray

# Rows of a block: with twenty members of ties in each, its columns fit the second-level cache.
_BLOCK = 4096
_FEW = 64

GainFunction: TypeAlias = Callable[[FloatArray], FloatArray]


def sum_rows(grades: FloatArray, gain: GainFunction, weights: FloatArray) -> FloatArray:
    """Sum of gain x weight along each row.

    Parameters
    ----------
    grades : float64 array, shape (n_queries, width)
        By rank.
    gain : callable
        Gives the gains of an array of grades.
    weights : float64 array, shape (n_ranks,)
        Of the ranks from 1 on; ranks beyond count nothing.

    Examples
    --------
    >>> sum_rows(np.array([[3.0, 1.0, 2.0]]), lambda grades: grades, np.array([1.0, 0.5]))
    array([3.5])
    """
    sums = np.zeros(grades.shape[0])
    for top in range(0, grades.shape[0], _BLOCK):
        rows = slice(top, top + _BLOCK)
        _add_ranks(sums[rows], gain(grades[rows, : weights.size]), weights)
    return sums


def sum_tied_rows(
    grades: FloatArray, ties: TieMembers, gain: GainFunction, weights: FloatArray, tied_weights: Callable[[Hits, FloatArray], FloatArray]
) -> FloatArray:
    """Sum of gain x weight along each row, where members of ties have weights of their own.

    Parameters
    ----------
    grades, gain, weights
        As for `sum_rows`.
    ties : TieMembers
        Every member of the ties that begin within the ranks of `weights`; some may stand beyond them.
    tied_weights : callable
        Gives the weights of tied hits from these and their gains.

    Examples
    --------
    >>> two = (np.array(column) for column in ([0, 0], [1, 2], [1, 1], [2, 2], [3.0, 1.0]))
    >>> sum_tied_rows(np.array([[3.0, 1.0, 2.0]]), TieMembers(*two), lambda grades: grades, np.array([1.0, 0.5, 0.5]), lambda *_: 0.75)
    array([4.])
    """
    sums = np.zeros(grades.shape[0])
    starts = np.searchsorted(ties.query, np.arange(0, grades.shape[0] + _BLOCK, _BLOCK))
    for block, top in enumerate(range(0, grades.shape[0], _BLOCK)):
        total = sums[top : top + _BLOCK]
        members = ties.part(slice(starts[block], starts[block + 1]))
        row = members.query - top
        _add_ranks(total, _without(gain(grades[top : top + _BLOCK, : weights.size]), row, members.rank), weights)
        gains = gain(members.grade)
        total += np.bincount(row, weights=gains * tied_weights(members, gains), minlength=total.size)
    return sums


def _add_ranks(total: FloatArray, gains: FloatArray, weights: FloatArray) -> None:
    """Add gain x weight to the totals, which are 0, rank after rank; with the ranks as rows, what is added lies together."""
    if gains.shape[0] < _FEW and gains.shape[1] and weights.size:  # a step of Python for each rank would take longer than the sum
        total += np.cumsum(gains[:, : weights.size] * weights, axis=1)[:, -1]  # one after another, too: the same bits
        return
    for terms in np.multiply(gains[:, : weights.size].T, weights[:, np.newaxis], order="C"):
        total += terms


def _without(gains: FloatArray, row: IntArray, rank: IntArray) -> FloatArray:
    """The gains, 0 for tied documents, which are counted by their groups; the last column is of no rank."""
    width = gains.shape[1]
    others = np.empty((gains.shape[0], width + 1))
    others[:, :width] = gains
    others.reshape(-1)[row * (width + 1) + np.minimum(rank, width + 1) - 1] = 0.0
    return others
