"""Distance of Definition 20 from the mean of NDCG (Lemma 21)."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from idealrank.measures.gains import GainLike
from idealrank.theory.decay import decay_of
from idealrank.theory.pseudo import pseudo_expectation
from idealrank.theory.relevance import ModelLike, RelevanceModel
from idealrank.theory.scaled import ScaledDecay, ideal


@dataclass(frozen=True)
class DefinitionGap:
    """N of Definition 20 and the corrected N*, for one length.

    Parameters
    ----------
    n : int
        Length of the list.
    definition, corrected : float
        N and N*.
    difference : float
        N* - N: 84 to 91 % of E[NDCG] - N at n = 10^3, 94 to 96 % at 10^6, on five models with exact means.
    constant : float
        The difference times n / ln n; its limit shows how sharp the lemma's bound is.
    bound : float
        n^(-1/3), the order given by Lemma 21.

    Examples
    --------
    >>> found = definition_gap(lambda s: 0.5, 10**6)
    >>> round(found.difference, 9), round(found.constant, 3), round(found.bound, 6)
    (-8.575e-06, -0.621, 0.01)
    """

    n: int
    definition: float
    corrected: float
    difference: float
    constant: float
    bound: float


def definition_gap(ybar: ModelLike, n: int, *, points: Iterable[float] = (), gain: GainLike = "linear") -> DefinitionGap:
    """Compute the distance between Definition 20 and the mean of NDCG with the logarithmic discount: the quantities of Lemma 21.

    Lemma 21 bounds the distance by order n^(-1/3). The true order is ln n / n: N omits the excess of sums over integrals, kappa ybar(1) in
    DCG and kappa in its ideal, relative to F(n p) of order n p / ln n.

    Parameters
    ----------
    ybar : callable, mapping or RelevanceModel
        Probability of relevance at each canonical score, or one function for each grade.
    n : int
        Length of the list.
    points : iterable of float, optional
        Kinks or jumps of ybar.
    gain : str, mapping or callable, optional
        Gain of each grade.

    Examples
    --------
    >>> [round(definition_gap(lambda s: 0.1 + 0.8 * s, 10**k).constant, 3) for k in (3, 6, 9, 12)]
    [-0.06, -0.108, -0.125, -0.134]
    """
    model = RelevanceModel.of(ybar, points=points, gain=gain)
    definition, corrected = (pseudo_expectation(model, n, corrected=each) for each in (False, True))
    # N* - N = kappa (E[Y | 1] - y_1 N) / (ideal + y_1 kappa), without a difference of two numbers that are all but equal.
    decay, log_n = decay_of("log2"), math.log(n)
    per_unit = decay.kappa * (model.at_top - model.steps[0][0] * definition)
    constant = per_unit / ideal(model, ScaledDecay(decay, log_n), 0.0, corrected=True)
    unit = math.exp(-log_n) * log_n
    return DefinitionGap(n, definition, corrected, constant * unit, constant, math.exp(-log_n / 3))
