"""Expected reciprocal rank of where a user stops in one very large tie group: some places are
worked out, and the others follow from them.

Over all orders of a group of s, a user stops at place j with probability

    p_j = sum over i of R_i e_(j-1, i) / (s C(s - 1, j - 1)),

where R_i is the chance to stop at document i and e_(j-1, i) the sum of the products of the chances
to go on over all choices of j - 1 other documents. By Cauchy's integral on a circle, with f_i = 1 -
x + x (1 - R_i) exp(it) for any x in (0, 1),

    x^(j-1) (1 - x)^(s-j)  sum over i of R_i e_(j-1, i)  =  mean over t of  exp(-i(j-1)t)  prod f_i
    sum over i of R_i / f_i,

and the same mean for documents that let everyone go on gives C(s - 1, j - 1). Where x makes j - 1
the mean number of documents taken, the integrand is a narrow peak without cancellation, and the
midpoint rule gives it to the last digits. p_j is smooth on the scales of j and s - j, so that
between neighbouring powers of two it is a polynomial to the last digits. So is what a chance
between two powers of two adds, as a function of the chance: many distinct chances are as few.

Bornemann (2011), Accuracy and stability of computing high-order derivatives of analytic functions
by Cauchy integrals, Foundations of Computational Mathematics 11(1); Trefethen and Weideman (2014),
The exponentially convergent trapezoidal rule, SIAM Review 56(3).
"""

import math
from itertools import pairwise

import numpy as np

from idealrank.data.types import FloatArray, IntArray

# Angles of half a circle, and the exponent at which the rest of it counts as nothing.
_ANGLES, _FAINT = 32, 40.0
# Places at either end of a group that are worked out one by one, and the nodes of a stretch between
# two powers of two.
_SINGLE, _NODES = 64, 24
_ROUNDS = 80


def reciprocal_in_long_tie(stops: FloatArray, above: int, size: int, reached: int) -> float:
    """Expected reciprocal rank of where a user stops at one of the first places of a tie group,
    over all orders of the whole group.
    """
    places, weights = _places(size, min(reached, _last_place(stops, size)))
    return math.fsum(weights * _stopping(places, *_few_chances(stops), size) / (above + places))


def _last_place(stops: FloatArray, size: int) -> int:
    """The place below which less than 1e-18 of the group's worth can stand: so few users come so
    far.
    """
    share = float(stops.sum()) / size
    if share >= 1.0:
        return 1
    # The mean of the product over j documents is at most the j-th power of the mean (Maclaurin),
    # and the first place has its share.
    return int(min(size, 1.0 + math.log(1e-18 * share) / math.log1p(-share)))


def _places(size: int, last: int) -> tuple[FloatArray, FloatArray]:
    """Places of a group, and weights with which a smooth function of them sums as over all places
    up to the last.
    """
    steps = _SINGLE * 2 ** np.arange(int(size // (2 * _SINGLE)).bit_length(), dtype=np.int64)
    edges = np.unique(np.clip(np.concatenate(([0], steps, size - steps, [size])), 0, last)).tolist()
    parts = [_few(np.arange(low + 1.0, high + 1.0)) for low, high in pairwise(edges)]
    nodes, weights = zip(*parts, strict=True)
    return np.concatenate(nodes), np.concatenate(weights)


def _few_chances(stops: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Chances to stop and how often each counts: the distinct ones, or where they are many, a few
    that stand for them.
    """
    chances, counts = np.unique(stops, return_counts=True)
    # Stretches between powers of two of the chance, and above a half of the chance to go on.
    stretch = np.where(chances < 0.5, np.frexp(chances)[1], 1 - np.frexp(1.0 - chances)[1])
    starts = np.flatnonzero(np.diff(stretch, prepend=stretch[0] - 1)).tolist()
    parts = [
        _few(chances[low:high], counts[low:high])
        for low, high in zip(starts, [*starts[1:], chances.size], strict=True)
    ]
    nodes, weights = zip(*parts, strict=True)
    return np.concatenate(nodes), np.concatenate(weights)


def _few(points: FloatArray, counts: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights that sum the polynomial through a function at Chebyshev's points as the
    points themselves would.
    """
    weights = np.ones(points.size) if counts is None else counts.astype(np.float64)
    if points.size <= max(_NODES, _SINGLE if counts is None else 0):
        return points, weights
    middle, half = (points[-1] + points[0]) / 2.0, (points[-1] - points[0]) / 2.0
    angles = np.pi * (np.arange(_NODES) + 0.5) / _NODES
    at, before, now = (points - middle) / half, np.ones(points.size), (points - middle) / half
    sums = np.full(_NODES, weights.sum() / _NODES)
    for degree in range(1, _NODES):
        sums += float((weights * now).sum()) * np.cos(degree * angles) * 2.0 / _NODES
        before, now = now, 2.0 * at * now - before
    return middle + half * np.cos(angles), sums


def _stopping(places: FloatArray, chances: FloatArray, counts: FloatArray, size: int) -> FloatArray:
    """Probability that a user stops at each place."""
    taken, others = places - 1.0, size - 1.0
    even = (taken + 0.5) / size
    groups = [
        (0.0, size - float(counts.sum())),
        *zip(chances.tolist(), counts.tolist(), strict=True),
    ]
    tilt, variance = _saddle(taken, even, groups, size)
    # Powers of both tilts, and the product of the moduli at angle 0: numbers near 1 to large
    # powers, so by logarithms of quotients.
    scale = taken * np.log1p((even - tilt) / tilt) + (others - taken) * np.log1p(
        (tilt - even) / (1.0 - tilt)
    )
    angle, step = _angles(variance)
    logs, turns = np.zeros(angle.shape), -taken[:, np.newaxis] * angle
    real, imaginary = np.zeros(angle.shape), np.zeros(angle.shape)
    for chance, count in groups:
        left = (1.0 - tilt) + tilt * (1.0 - chance)
        modulus, turn = _factor(tilt * (1.0 - chance) / left, (1.0 - tilt) / left, angle)
        scale += count * np.where(
            tilt * chance < 0.5, np.log1p(-np.minimum(tilt * chance, 0.5)), np.log(left)
        )
        logs += count * modulus
        turns += count * turn
        if chance:
            rate = (count * chance / left)[:, np.newaxis] * np.exp(-modulus)
            real += rate * np.cos(turn)
            imaginary -= rate * np.sin(turn)
    found = step * (
        np.exp(logs + scale[:, np.newaxis]) * (real * np.cos(turns) - imaginary * np.sin(turns))
    ).sum(axis=1)
    angle, step = _angles(others * even * (1.0 - even))
    modulus, turn = _factor(even, 1.0 - even, angle)
    choices = step * (
        np.exp(others * modulus) * np.cos(others * turn - taken[:, np.newaxis] * angle)
    ).sum(axis=1)
    stopping: FloatArray = found / (choices * size)
    return stopping


def _saddle(
    taken: FloatArray, even: FloatArray, groups: list[tuple[float, float]], size: int
) -> tuple[FloatArray, FloatArray]:
    """The tilt with which that many documents are taken in the mean, near enough, and the variance
    of their number; by Newton's method.
    """
    tilt, variance, highest = even, np.zeros(taken.size), 1.0 - 0.25 / size
    for _ in range(_ROUNDS):
        mean, slope = np.zeros(tilt.size), np.zeros(tilt.size)
        for chance, count in groups:
            left = (1.0 - tilt) + tilt * (1.0 - chance)
            mean += count * tilt * (1.0 - chance) / left
            slope += count * (1.0 - chance) / (left * left)
        variance = np.maximum(slope * tilt * (1.0 - tilt), 0.0)
        off = mean - taken - 0.5
        if np.all((np.abs(off) <= 0.01 * np.sqrt(variance)) | ((tilt == highest) & (off < 0.0))):
            break
        tilt = np.clip(
            tilt - np.divide(off, slope, out=np.full(tilt.size, -1.0), where=slope > 0.0),
            even,
            highest,
        )
    return tilt, variance


def _angles(variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Middles of equal steps of half a circle, or of the part of it where the modulus of a peak of
    this variance counts; and the steps.
    """
    end = np.arccos(np.maximum(1.0 - _FAINT / np.maximum(variance, 1.0), -1.0))
    step = end / _ANGLES
    return step[:, np.newaxis] * (np.arange(_ANGLES) + 0.5), step / np.pi


def _factor(
    taken: FloatArray, left: FloatArray, angle: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Logarithm of the modulus, and angle, of ``left + taken exp(i angle)``, for chances that sum
    to 1.
    """
    taken, left = taken[:, np.newaxis], left[:, np.newaxis]
    square = np.sin(angle / 2.0) ** 2
    return 0.5 * np.log1p(-4.0 * taken * left * square), np.arctan2(
        taken * np.sin(angle), 1.0 - 2.0 * taken * square
    )
