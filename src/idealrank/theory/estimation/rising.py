"""Test of a probability of relevance that rises along the list."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.stats import chi2

from idealrank.theory.estimation.bands import PlacedDocuments, effective_size
from idealrank.theory.estimation.smoothing import step_of

_BLOCKS = 10  # blocks of the test of a rising ybar, at most
_LEAST = 20  # documents in a block of the test
_ALARM = 0.05  # p value below which the labels contradict a rising ybar


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
        Neighbouring stretches, as (from, to) in canonical scores, between which the probability
        falls most; None if it never falls.

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
        fall = ""
        if self.falls and self.contradicted:
            begin, end = self.falls
            fall = f"; falls most between {begin:g} and {end:g}"
        word = "contradicted" if self.contradicted else "not contradicted"
        return f"rising ybar {word} (p = {self.p:.3g}, {self.blocks} blocks{fall})"


def check_monotone(documents: PlacedDocuments) -> MonotoneCheck:
    """The likelihood-ratio test of a rising ybar against any, on shares of up to ten equal
    blocks.
    """
    blocks = min(_BLOCKS, documents.score.size // _LEAST)
    edges = np.linspace(0.0, 1.0, max(blocks, 1) + 1)
    code = step_of(edges, documents.score)
    count = np.bincount(code, minlength=edges.size - 1).astype(np.float64)
    if blocks < 2 or (count == 0).any():
        return MonotoneCheck(math.nan, max(blocks, 0), None)
    share = np.bincount(code, weights=documents.relevant, minlength=blocks) / count
    size = count * float((effective_size(documents, code, None, share) / count).mean())
    # Anscombe's transform: the angle of a share has a variance of about 1 / size, whatever it is.
    angle = 2 * np.arcsin(np.sqrt((share * size + 0.375) / (size + 0.75)))
    risen = isotonic_regression(angle, weights=size).x
    distance = float((size * (angle - risen) ** 2).sum())
    changes = np.diff(share)
    worst = int(changes.argmin())
    falls = None
    if changes[worst] < 0:
        falls = (float(edges[worst]), float(edges[worst + 2]))
    return MonotoneCheck(_tail(distance, blocks), blocks, falls)


def _tail(distance: float, blocks: int) -> float:
    """P(T >= distance): with probability P(l, k) the rising sequence has l levels, and T is a chi
    square of k - l degrees.
    """
    if distance <= 1e-12:
        return 1.0
    # As many levels as blocks leave no distance, so that the last probability adds nothing.
    levels = level_probabilities(blocks)[:-1]
    tails = (chi2.sf(distance, blocks - level) for level in range(1, blocks))
    return float(sum(chance * tail for chance, tail in zip(levels, tails, strict=True)))


@cache
def level_probabilities(blocks: int) -> tuple[float, ...]:
    """P(l, k) for l = 1 to k: how often the rising sequence nearest to k independent normals has l
    levels.

    It is |s(k, l)| / k!, with Stirling numbers of the first kind.
    """
    stirling = [1]
    for k in range(1, blocks):
        # |s(k + 1, l)| = k |s(k, l)| + |s(k, l - 1)|
        pairs = zip([*stirling, 0], [0, *stirling], strict=True)
        stirling = [k * same_level + level_before for same_level, level_before in pairs]
    return tuple(number / math.factorial(blocks) for number in stirling)
