r"""RankSVM: a linear score trained on pairs of documents of one query, by squared hinge and an L2
penalty.

    minimise  (penalty / 2) |w|^2 + (1 / P) sum over queries, over pairs with grade_i > grade_j, of
    max(0, 1 - (s_i - s_j))^2

with s = X w and P the number of those pairs in all queries (the usual C is 1 / (penalty P)).
Joachims (KDD 2002) has the hinge itself; its square is the usual smooth form (Chapelle and Keerthi
2010, Efficient algorithms for ranking with SVMs). There are millions of pairs and none is made:
sorted by score, what a document loses to all those of a lower grade is a difference of running
sums, so that one evaluation costs O(n log n) a query and pair of grades.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, root

from experiments.rankers.generate import Query

FloatArray = NDArray[np.float64]
Objective = Callable[[FloatArray, Sequence[Query], float], tuple[float, FloatArray]]


@dataclass(frozen=True, kw_only=True)
class Trained:
    """Weights, and how well they were found."""

    weights: FloatArray
    objective: float
    gradient_norm: float
    evaluations: int

    def __str__(self) -> str:
        return (
            f"objective {self.objective:.9f}, gradient norm {self.gradient_norm:.1e}, "
            f"{self.evaluations} evaluations"
        )


def minimum(objective: Objective, log: Sequence[Query], penalty: float) -> Trained:
    """Where `objective` is least: L-BFGS from 0 until its steps are lost in rounding, then Powell's
    method on the gradient alone.

    The second step gains six digits: a sum of losses cannot tell apart weights whose difference is
    below the root of its precision.
    """
    start = np.zeros(log[0].features.shape[1])
    options = {"maxiter": 2000, "maxfun": 4000, "maxcor": start.size, "ftol": 0.0, "gtol": 1e-12}
    near = minimize(
        objective, start, args=(log, penalty), jac=True, method="L-BFGS-B", options=options
    )
    there = root(
        lambda weights: objective(weights, log, penalty)[1], near.x, method="hybr", tol=1e-13
    )
    value, gradient = objective(there.x, log, penalty)
    return Trained(
        weights=there.x,
        objective=value,
        gradient_norm=float(np.linalg.norm(gradient)),
        evaluations=near.nfev + there.nfev,
    )


def pair_loss(scores: FloatArray, grades: NDArray[np.uint8]) -> tuple[float, FloatArray]:
    """The squared hinge over all pairs of one query, and its gradient.

    Parameters
    ----------
    scores : float array, shape (n_documents,)
    grades : int array, shape (n_documents,)

    Returns
    -------
    float, float array of shape (n_documents,)
        The sum over pairs with grade_i > grade_j, and its derivative by each score.
    """
    total, slope = 0.0, np.zeros(scores.size)
    for low, high in combinations(np.unique(grades), 2):
        worse, better = np.flatnonzero(grades == low), np.flatnonzero(grades == high)
        worse = worse[np.argsort(scores[worse], kind="stable")]
        better = better[np.argsort(scores[better], kind="stable")]
        a, b = scores[better], scores[worse] + 1.0  # a pair loses (b - a)^2 where b > a
        # from here on, the worse ones are within the margin of `a`
        first = np.searchsorted(b, a, side="right")
        count, lost = b.size - first, _tails(b)[first]
        total += float(np.sum(_tails(b * b)[first] - 2 * a * lost + count * a * a))
        slope[better] += 2 * (count * a - lost)
        last = np.searchsorted(a, b, side="left")  # before here, the better ones are below `b`
        slope[worse] += 2 * (last * b - _heads(a)[last])
    return total, slope


def _tails(values: FloatArray) -> FloatArray:
    """Entry i is the sum from i to the end; the last entry is 0."""
    return np.append(np.cumsum(values[::-1])[::-1], 0.0)


def _heads(values: FloatArray) -> FloatArray:
    """Entry i is the sum of those before i."""
    return np.append(0.0, np.cumsum(values))


def n_pairs(grades: NDArray[np.uint8]) -> int:
    """Pairs of different grades."""
    counts = np.bincount(grades)
    return int((counts.sum() ** 2 - (counts**2).sum()) // 2)


def objective(
    weights: FloatArray, log: Sequence[Query], penalty: float
) -> tuple[float, FloatArray]:
    """What RankSVM minimises, and its gradient, at `weights` of shape (n_features,)."""
    pairs = max(sum(n_pairs(query.grades) for query in log), 1)
    value, gradient = 0.5 * penalty * float(weights @ weights), penalty * weights
    for query in log:
        loss, slope = pair_loss(query.features @ weights, query.grades)
        value += loss / pairs
        gradient += slope @ query.features / pairs
    return value, gradient


def train(log: Sequence[Query], penalty: float = 1e-4) -> Trained:
    """The minimum. The objective is convex and has one, so that nothing is random: L-BFGS from
    0.
    """
    return minimum(objective, log, penalty)
