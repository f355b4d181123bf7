"""ListNet: a linear score trained on whole lists, by the cross entropy of top-one probabilities
(Cao et al., ICML 2007, section 4).

    minimise  mean over queries of  - sum_i P(i) log Q(i),   P = softmax(grades),  Q = softmax(s),
    s = X w

P(i) is the probability that document i comes first if the grades decide, Q(i) if the scores do. Its
lower bound is the entropy of P; `loss` leaves that constant out (the Kullback-Leibler divergence),
so that 0 would be a perfect list. A small L2 penalty makes the minimum unique.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from experiments.rankers.generate import Query
from experiments.rankers.ranksvm import Trained, minimum

FloatArray = NDArray[np.float64]


def loss(scores: FloatArray, grades: NDArray[np.uint8]) -> tuple[float, FloatArray]:
    """Kullback-Leibler divergence of the two top-one distributions of one query, and its gradient.

    Parameters
    ----------
    scores : float array, shape (n_documents,)
    grades : int array, shape (n_documents,)

    Returns
    -------
    float, float array of shape (n_documents,)
        At least 0; the derivative by each score.
    """
    wanted, had = log_softmax(grades.astype(np.float64)), log_softmax(scores)
    share = np.exp(wanted)
    return float(share @ (wanted - had)), np.exp(had) - share


def objective(
    weights: FloatArray, log: Sequence[Query], penalty: float
) -> tuple[float, FloatArray]:
    """What ListNet minimises, and its gradient, at `weights` of shape (n_features,)."""
    value, gradient = 0.5 * penalty * float(weights @ weights), penalty * weights
    for query in log:
        divergence, slope = loss(query.features @ weights, query.grades)
        value += divergence / len(log)
        gradient += slope @ query.features / len(log)
    return value, gradient


def train(log: Sequence[Query], penalty: float = 1e-4) -> Trained:
    """The minimum. The objective is convex and has one, so that nothing is random: L-BFGS from
    0.
    """
    return minimum(objective, log, penalty)
