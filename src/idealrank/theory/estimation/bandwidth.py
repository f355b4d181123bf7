"""How far a kernel should look: as leave-one-out prediction says, and somewhat less, so that the band holds the truth."""

import math

import numpy as np

from idealrank.theory.estimation.sample import Sample
from idealrank.theory.estimation.smoothing import GRID, LEAST_WEIGHT, Cells, Kernel, near

_WIDEST = 0.25
_CELLS = 256
_NARROWEST = 1 / (GRID - 1)
# The bandwidth that predicts best has a bias as large as its noise; a band needs less bias than that.
_SHRINK = 0.7
_SHARES = (2.0, 1.4, 1.0, 0.7, 0.5, 0.35, 0.25)


def chosen_bandwidth(sample: Sample) -> float:
    """0.7 of the bandwidth, among some, that predicts each document best from the others; at most 0.6 n^-1/4.

    Wider than that where lists are so short that some place has no two canonical scores near.

    References
    ----------
    Fan and Gijbels (1996), Local Polynomial Modelling and Its Applications, section 4.10.

    Examples
    --------
    >>> s = (np.arange(1000) + 0.5) / 1000
    >>> chosen_bandwidth(Sample.of(np.arange(1000) % 2, s, 1.0)), chosen_bandwidth(Sample.of(s > 0.3, s, 1.0)) < 0.04
    (0.106696764602..., True)
    """
    cells = near(sample.cells, _CELLS)
    most = min(0.6 * sample.n**-0.25, _WIDEST)
    found = [(_error(cells, most * share / _SHRINK), -share) for share in _SHARES if most * share >= _NARROWEST]
    width = max(min(-min(found)[1], 1.0) * most, _NARROWEST) if found else _NARROWEST
    while width < 1 and not (Kernel(width).weights(cells) @ cells.count > LEAST_WEIGHT).all():
        width = min(1.25 * width, 1.0)
    return width


def _error(cells: Cells, bandwidth: float) -> float:
    """Sum of squared errors when each document is predicted from the others; infinite where they do not suffice."""
    weights = Kernel(bandwidth).weights(cells, cells.score)
    total, hits = weights @ cells.count, cells.reached[-1]
    if not (total > LEAST_WEIGHT).all():
        return math.inf
    own, share = np.diag(weights) / total, weights @ hits / total
    if not (own < 1 - LEAST_WEIGHT).all():
        return math.inf
    return float(((hits * (1 - share) ** 2 + (cells.count - hits) * share**2) / (1 - own) ** 2).sum())
