"""RankNet: a net with one hidden layer, trained on pairs of documents of one query by gradient
descent (Burges et al., ICML 2005).

    loss of a query = sum over pairs with grade_i > grade_j of log(1 + exp(-(s_i - s_j))),   s =
    tanh(X V + b) w

The gradient by the scores is a sum of forces, one a pair, so that the net is run backwards once a
query and not once a pair (section 2 of Burges 2010, From RankNet to LambdaRank to LambdaMART,
MSR-TR-2010-82).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from experiments.rankers.generate import Query

FloatArray = NDArray[np.float64]
Loss = Callable[[FloatArray, NDArray[np.uint8]], tuple[float, FloatArray]]


@dataclass(frozen=True, kw_only=True)
class Net:
    """One hidden layer of tanh; `first` has a row for each feature and one for the bias, shape
    (n_features + 1, hidden).
    """

    first: FloatArray
    last: FloatArray

    @classmethod
    def random(cls, n_features: int, hidden: int, rng: np.random.Generator) -> "Net":
        """A net with small random weights, whose scores are about as large as a standard deviation
        of the features.
        """
        return cls(
            first=rng.normal(0, 1 / np.sqrt(n_features + 1), (n_features + 1, hidden)),
            last=rng.normal(0, 1 / np.sqrt(hidden), hidden),
        )

    def hidden(self, features: FloatArray) -> FloatArray:
        return np.tanh(features @ self.first[:-1] + self.first[-1])

    def scores(self, features: FloatArray) -> FloatArray:
        """Score of each document, shape (n_documents,)."""
        return self.hidden(features) @ self.last

    def slopes(self, features: FloatArray, by_score: FloatArray) -> "Net":
        """Derivative of a loss by every weight, of its derivative by every score."""
        middle = self.hidden(features)
        back = by_score[:, None] * self.last * (1 - middle**2)
        return Net(first=np.vstack([features.T @ back, back.sum(axis=0)]), last=middle.T @ by_score)

    def moved(self, slopes: "Net", step: float) -> "Net":
        return Net(first=self.first - step * slopes.first, last=self.last - step * slopes.last)


def forces(scores: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
    """Weighted logistic loss of the pairs of one query, and its derivative by each score.

    Parameters
    ----------
    scores : float array, shape (n_documents,)
    weights : float array, shape (n_documents, n_documents)
        Of the pair in which the first is to be above the second; 0 for the others.
    """
    gap = scores[:, None] - scores[None, :]
    pull = -weights * expit(-gap)
    return float((weights * np.logaddexp(0, -gap)).sum()), pull.sum(axis=1) - pull.sum(axis=0)


def loss(scores: FloatArray, grades: NDArray[np.uint8]) -> tuple[float, FloatArray]:
    """Loss of RankNet for one query, a mean over its pairs, and its derivative by each score."""
    weights = (grades[:, None] > grades[None, :]).astype(np.float64)
    return forces(scores, weights / max(weights.sum(), 1.0))


def train(
    log: Sequence[Query],
    *,
    of: Loss = loss,
    hidden: int = 8,
    epochs: int = 50,
    step: float = 0.1,
    seed: int = 0,
) -> Net:
    """Gradient descent, a query a step, in an order drawn anew for every epoch."""
    rng = np.random.default_rng(seed)
    net = Net.random(log[0].features.shape[1], hidden, rng)
    for _ in range(epochs):
        for number in rng.permutation(len(log)):
            query = log[number]
            _, by_score = of(net.scores(query.features), query.grades)
            net = net.moved(net.slopes(query.features, by_score), step)
    return net
