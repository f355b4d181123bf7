"""Does the chance of relevance rise along the list? A test, and bounds that hold where it does."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.stats import chi2

from idealrank.data.types import FloatArray
from idealrank.stats.intervals import clopper_pearson
from idealrank.theory.estimation.bands import PlacedDocuments, worth
from idealrank.theory.estimation.smoothing import GRID, step_of

_BLOCKS = 10
_LEAST = 20  # documents in a block of the test
_ALARM = 0.05


@dataclass(frozen=True)
class MonotoneCheck:
    """Test of whether labels contradict a ybar that rises with the canonical score.

    Parameters
    ----------
    p : float
        p value of the hypothesis that ybar never falls; NaN with too few documents.
    blocks : int
        Number of equal stretches of the list that were compared.
    falls : tuple of float or None
        Neighbouring stretches, as (from, to) in canonical scores, between which the probability falls most; None if it never falls.

    Examples
    --------
    >>> print(MonotoneCheck(0.4, 10, None))
    rising ybar not contradicted (p = 0.4, 10 blocks)
    """

    p: float
    blocks: int
    falls: tuple[float, float] | None

    @property
    def contradicted(self) -> bool:
        """True if p is below 0.05."""
        return self.p < _ALARM

    def __str__(self) -> str:
        if math.isnan(self.p):
            return "rising ybar not tested: too few documents"
        fall = f"; falls most between {self.falls[0]:g} and {self.falls[1]:g}" if self.falls and self.contradicted else ""
        word = "contradicted" if self.contradicted else "not contradicted"
        return f"rising ybar {word} (p = {self.p:.3g}, {self.blocks} blocks{fall})"


def check_monotone(documents: PlacedDocuments) -> MonotoneCheck:
    """The likelihood-ratio test of a rising ybar against any, on shares of up to ten equal blocks.

    Shares are made arcsines, whose variance does not depend on the share; the statistic is the weighted squared distance from the
    nearest rising sequence. Its distribution where ybar is constant, the least favourable case, is a mixture of chi squares with the
    level probabilities of equal weights.

    References
    ----------
    Robertson, Wright and Dykstra (1988), Order Restricted Statistical Inference, theorem 2.3.1 and section 2.4; Anscombe (1948),
    Biometrika 35(3/4).

    Examples
    --------
    >>> s = (np.arange(100) + 0.5) / 100
    >>> check_monotone(PlacedDocuments(s, s < 0.5, np.zeros(100, int), 1)).contradicted
    True
    """
    blocks = min(_BLOCKS, documents.score.size // _LEAST)
    edges = np.linspace(0.0, 1.0, max(blocks, 1) + 1)
    code = step_of(edges, documents.score)
    count = np.bincount(code, minlength=edges.size - 1).astype(np.float64)
    if blocks < 2 or (count == 0).any():
        return MonotoneCheck(math.nan, max(blocks, 0), None)
    share = np.bincount(code, weights=documents.relevant, minlength=blocks) / count
    size = count * float((worth(documents, code, np.eye(blocks), share) / count).mean())
    angle = 2 * np.arcsin(np.sqrt((share * size + 0.375) / (size + 0.75)))
    risen = isotonic_regression(angle, weights=size).x
    distance = float((size * (angle - risen) ** 2).sum())
    worst = int(np.diff(share).argmin())
    falls = (float(edges[worst]), float(edges[worst + 2])) if np.diff(share)[worst] < 0 else None
    return MonotoneCheck(_tail(distance, blocks), blocks, falls)


def _tail(distance: float, blocks: int) -> float:
    """P(T >= distance): with probability P(l, k) the rising sequence has l levels, and T is a chi square of k - l degrees."""
    if distance <= 1e-12:
        return 1.0
    levels = level_probabilities(blocks)
    return float(sum(levels[level - 1] * chi2.sf(distance, blocks - level) for level in range(1, blocks)))


@cache
def level_probabilities(blocks: int) -> tuple[float, ...]:
    """P(l, k) for l = 1 to k: how often the rising sequence nearest to k independent normals has l levels.

    It is |s(k, l)| / k!, with Stirling numbers of the first kind.

    Examples
    --------
    >>> level_probabilities(3)
    (0.3333333333333333, 0.5, 0.16666666666666666)
    """
    stirling = [1]
    for k in range(1, blocks):
        # |s(k + 1, l)| = k |s(k, l)| + |s(k, l - 1)|
        stirling = [k * here + before for here, before in zip([*stirling, 0], [0, *stirling], strict=True)]
    return tuple(number / math.factorial(blocks) for number in stirling)


def monotone_bounds(documents: PlacedDocuments, width: float, level: float) -> tuple[FloatArray, FloatArray]:
    """Bounds of a rising ybar on the grid: the mean just below a score is no more than ybar there, that just above no less.

    Exact ends of binomial intervals, which are conservative for documents of different chances (Hoeffding 1956); queries count as what
    they are worth. Nothing bounds ybar from below at 0, nor from above at 1.

    Examples
    --------
    >>> s = (np.arange(100) + 0.5) / 100
    >>> low, high = monotone_bounds(PlacedDocuments(s, s > 0.5, np.zeros(100, int), 1), 0.2, 0.95)
    >>> low[[0, 50, 100]].round(3), high[[0, 50, 100]].round(3)
    (array([0.   , 0.   , 0.832]), array([0.168, 1.   , 1.   ]))
    """
    grid = np.linspace(0.0, 1.0, GRID)
    order = np.argsort(documents.score, kind="stable")
    score = documents.score[order]
    hits = np.concatenate(([0], np.cumsum(documents.relevant[order])))
    share = np.array([documents.relevant.mean()])
    loss = float(worth(documents, np.zeros(score.size, np.int64), np.ones((1, 1)), share)[0]) / score.size

    def bound(first: FloatArray, last: FloatArray, end: int) -> FloatArray:
        begin, stop = np.searchsorted(score, first, side="left"), np.searchsorted(score, last, side="right")
        count = (stop - begin).astype(np.float64)
        part = (hits[stop] - hits[begin]) / np.maximum(count, 1)
        return clopper_pearson(part, count * loss, level)[end]

    return bound(grid - width, grid, 0), bound(grid, grid + width, 1)
