"""p values of the sign-flip test of many sets of differences at once: what
`idealrank.stats.permutation_test` has, for simulations.

All sets of a batch are tested under the same signs, which one matrix product adds up for every
shift. Of at most 12 differences that are not 0 every sign vector is taken, as the library does up
to 20.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from idealrank.data.types import FloatArray

DRAWS = 2999
LISTED = 12


class Tails(NamedTuple):
    """One-sided p values, shape (nulls, columns): that the mean is below, or above, the null."""

    less: FloatArray
    greater: FloatArray

    @property
    def both(self) -> FloatArray:
        """Two-sided: for sign flips the laws of both sides are mirror images."""
        return np.minimum(1.0, 2 * np.minimum(self.less, self.greater))


def random_signs(draws: int, queries: int, rng: np.random.Generator) -> FloatArray:
    """Signs, shape (draws, queries)."""
    return rng.integers(0, 2, (draws, queries), np.int8) * 2.0 - 1.0


def tails(
    differences: FloatArray,
    rng: np.random.Generator,
    nulls: Sequence[float] = (0.0,),
    draws: int = DRAWS,
) -> Tails:
    """p values of columns of differences.

    Parameters
    ----------
    differences : float64 array, shape (queries, columns)
    rng : Generator
    nulls : sequence of float
        Mean differences to test.
    draws : int
        Random sign vectors; p is ``(count + 1) / (draws + 1)``.
    """
    signs = random_signs(draws, len(differences), rng)
    flipped, ones = signs @ differences, signs.sum(axis=1)
    found = [_counted(differences, flipped, ones, null) for null in nulls]
    less, greater = (np.array([pair[side] for pair in found]) for side in (0, 1))
    for at, null in enumerate(nulls):
        if null == 0:
            _list_few(differences, less[at], greater[at])
    return Tails(less, greater)


def _counted(
    differences: FloatArray, flipped: FloatArray, ones: FloatArray, null: float
) -> tuple[FloatArray, FloatArray]:
    total = differences.sum(axis=0) - null * len(differences)
    slack = 1e-12 * np.abs(differences - null).sum(axis=0)
    shifted = flipped - null * ones[:, None] if null else flipped
    less, greater = (shifted <= total + slack).sum(axis=0), (shifted >= total - slack).sum(axis=0)
    return (less + 1) / (len(ones) + 1), (greater + 1) / (len(ones) + 1)


def _list_few(differences: FloatArray, less: FloatArray, greater: FloatArray) -> None:
    """Put exact p values where few differences are not 0."""
    nonzero = differences != 0
    counts = nonzero.sum(axis=0)
    few = np.flatnonzero(counts <= LISTED)
    if not few.size:
        return
    first = np.argsort(~nonzero[:, few], axis=0, kind="stable")[:LISTED]
    packed = np.take_along_axis(differences[:, few], first, axis=0)
    for count in np.unique(counts[few]):
        here = counts[few] == count
        every = (np.arange(1 << count)[:, None] >> np.arange(count) & 1) * 2.0 - 1.0
        values = packed[:count, here]
        total, slack = values.sum(axis=0), 1e-12 * np.abs(values).sum(axis=0)
        flipped = every @ values
        less[few[here]] = (flipped <= total + slack).mean(axis=0)
        greater[few[here]] = (flipped >= total - slack).mean(axis=0)


def together(differences: FloatArray, rng: np.random.Generator, draws: int = DRAWS) -> FloatArray:
    """Corrected p values of many families at once, that a mean is below 0: single-step max-T, as
    `idealrank.stats.simultaneous` has it.

    Parameters
    ----------
    differences : float64 array, shape (queries, families, tests)
    rng : Generator
    draws : int
        Random sign vectors; every one where at most 12 queries of a family differ in any of its
        tests.

    Returns
    -------
    float64 array, shape (families, tests)
    """
    p = _beyond(differences, random_signs(draws, len(differences), rng), 1)
    nonzero = (differences != 0).any(axis=2)
    counts = nonzero.sum(axis=0)
    first = np.argsort(~nonzero, axis=0, kind="stable")[:LISTED]
    packed = np.take_along_axis(differences, first[..., None], axis=0)
    for count in np.unique(counts[counts <= LISTED]):
        here = counts == count
        every = (np.arange(1 << count)[:, None] >> np.arange(count) & 1) * 2.0 - 1.0
        p[here] = _beyond(packed[:count, here], every, 0)
    return p


def _beyond(differences: FloatArray, signs: FloatArray, extra: int) -> FloatArray:
    """Share of sign vectors under which the lowest statistic of a family reaches that of a test."""
    norms = np.sqrt((differences**2).sum(axis=0))
    same = norms == 0
    norms[same] = 1.0
    observed = differences.sum(axis=0) / norms
    flipped = (signs @ differences.reshape(len(differences), norms.size)).reshape(
        len(signs), *norms.shape
    ) / norms
    lowest = flipped.min(axis=2)
    reached = (lowest[..., None] <= observed + 1e-12).sum(axis=0)
    return np.where(same, 1.0, (reached + extra) / (len(signs) + extra))


def holm(p: FloatArray) -> FloatArray:
    """Holm's adjusted p values over the last axis, as `idealrank.stats.adjust` has them for one
    family.
    """
    order = np.argsort(p, axis=-1)
    rising = np.take_along_axis(p, order, axis=-1) * np.arange(p.shape[-1], 0, -1)
    adjusted = np.empty_like(p)
    np.put_along_axis(
        adjusted, order, np.minimum(np.maximum.accumulate(rising, axis=-1), 1.0), axis=-1
    )
    return adjusted
