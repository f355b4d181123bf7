"""Exact intervals of shares that were counted."""

import numpy as np
from scipy.special import betaincinv

from idealrank.data.types import FloatArray, IntArray


def exact_bounds(hits: FloatArray | IntArray, misses: FloatArray | IntArray, tail: float) -> tuple[FloatArray, FloatArray]:
    """Bounds of the share behind counted hits and misses, each missed with a chance of at most `tail`.

    Parameters
    ----------
    hits, misses : array, shape (n,)
        Counts, from 0; fractions are as if they were counted.
    tail : float
        In (0, 0.5].

    Returns
    -------
    (float64 array, float64 array)
        Low and high, in [0, 1]: 0 and 1 where nothing was counted.

    References
    ----------
    Clopper and Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial. Biometrika 26(4).

    Examples
    --------
    >>> low, high = exact_bounds(np.array([0.0, 5.0]), np.array([10.0, 5.0]), 0.025)
    >>> low.round(4), high.round(4)
    (array([0.    , 0.1871]), array([0.3085, 0.8129]))
    """
    low = np.where(hits > 0, betaincinv(np.where(hits > 0, hits, 1.0), misses + 1, tail), 0.0)
    high = np.where(misses > 0, betaincinv(hits + 1, np.where(misses > 0, misses, 1.0), 1 - tail), 1.0)
    return low, high


def clopper_pearson(share: FloatArray, size: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """The exact interval of a share, each end missed with a chance of at most (1 - level)/2; a size of 0 gives 0 to 1.

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26(4).

    Examples
    --------
    >>> low, high = clopper_pearson(np.array([0.0, 0.5]), np.array([10.0, 10.0]), 0.95)
    >>> low.round(4), high.round(4)
    (array([0.    , 0.1871]), array([0.3085, 0.8129]))
    """
    hits = share * size
    return exact_bounds(hits, size - hits, (1 - level) / 2)
