"""Expected reciprocal rank of where a user stops in one very large tie group, by quadrature: its cost grows with the group, not its square.

Give every document of a group of s a place drawn evenly from [0, 1]; their order is then a random one. A document at t has before it
each other one with probability t, and ``1 / rank = integral of z^(rank - 1) dz`` over [0, 1]. With a ranks above the group, R_i the
chance to stop at document i and E(y) the product of all ``1 - y R_i``, the double integral over t and z becomes, by
y = tz / (1 - t + tz),

    sum over i of  E(y) R_i / (1 - y R_i)  times  K(y),  integrated over [0, 1],
    K(y) = integral over u in [0, 1] of (1 - u)^(s + a) (y / v)^a / v du,  v = y + (1 - y) u.

Nothing in it cancels. Both integrands change on the scales 1 / s, 1 / a and 1 / sum of R_i, all above 2^-80: Gauss-Legendre
quadrature between neighbouring powers of two gives each to the last digits.
"""

import math

import numpy as np

from idealrank.data.types import FloatArray

_OCTAVES = {"outer": 84, "inner": 100}
_NODES = 16
_NEAR = 2.0**-16
# Cells of a step: what is worked out at once stays in a few megabytes.
_CELLS = 1 << 18


def reciprocal_in_long_tie(stops: FloatArray, above: int, size: int) -> float:
    """Expected reciprocal rank of where a user stops within one tie group, over all orders of the whole group.

    Parameters
    ----------
    stops : float64 array, shape (n_members,)
        Chance to stop at each document that may stop a user.
    above, size : int
        Ranks above the group, and documents in it, including documents that stop no user.

    Examples
    --------
    >>> round(reciprocal_in_long_tie(np.array([1.0]), 0, 2), 12)
    0.75
    """
    places, widths = _octaves(_OCTAVES["outer"])
    logs, rates = _passing(places, stops)
    # Nothing is left to find where nobody has gone on: the kernel is at most 1 / y.
    met = np.exp(logs) * rates * widths
    alive = met > 0.0
    return float(met[alive] @ _kernel(places[alive], above, size))


def _passing(places: FloatArray, stops: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The logarithm of E at each place, and how fast it falls there."""
    chances, counts = np.unique(stops, return_counts=True)
    first, second, third = (float(counts @ chances**power) for power in (1, 2, 3))
    # Three terms of the series are all there is near 0, where most places are.
    logs = -places * (first + places * (second / 2.0 + places * third / 3.0))
    rates = first + places * (second + places * third)
    far = np.flatnonzero(places > _NEAR)
    logs[far], rates[far] = 0.0, 0.0
    step = max(1, _CELLS // far.size)
    for begin in range(0, chances.size, step):
        here = slice(begin, begin + step)
        seen = places[far, np.newaxis] * chances[here]
        logs[far] += np.log1p(-seen) @ counts[here]
        rates[far] += (1.0 / (1.0 - seen)) @ (counts * chances)[here]
    return logs, rates


def _kernel(places: FloatArray, above: int, size: int) -> FloatArray:
    inner, widths = _octaves(_OCTAVES["inner"])
    before = widths * np.exp((size + above) * np.log1p(-inner))
    kept = before > 0.0
    inner, before = inner[kept], before[kept]
    values = np.empty(places.size)
    step = max(1, _CELLS // inner.size)
    for begin in range(0, places.size, step):
        place = places[begin : begin + step, np.newaxis]
        gone = (1.0 - place) * inner
        values[begin : begin + step] = (np.exp(-above * np.log1p(gone / place)) / (place + gone)) @ before
    return values


def _octaves(count: int) -> tuple[FloatArray, FloatArray]:
    """Nodes in (0, 1) and their weights: the same few in each interval from one power of two to the next, and below the last."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    low = np.append(np.ldexp(1.0, -np.arange(1, count)), 0.0)[:, np.newaxis]
    high = np.ldexp(1.0, -np.arange(count))[:, np.newaxis]
    return (low + (high - low) * (nodes + 1.0) / 2.0).ravel(), ((high - low) * weights / 2.0).ravel()


def negligible_from(stops: FloatArray, size: int) -> float:
    """Place of a tie group below which less than 1e-18 of its worth can stand: so few users come so far.

    Examples
    --------
    >>> negligible_from(np.array([0.5, 0.5]), 2) < 100
    True
    """
    share = float(stops.sum()) / size
    if share >= 1.0:
        return 1.0
    # The mean of the product over j documents is at most the j-th power of the mean (Maclaurin), and the first place has its share.
    return math.log(1e-18 * share) / math.log1p(-share)
