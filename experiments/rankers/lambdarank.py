"""LambdaRank: RankNet whose pairs weigh as much as NDCG would change if the two swapped ranks
(Burges, Ragno, Le, NIPS 2006).

    force of a pair = sigmoid(s_j - s_i) |change of NDCG@k|,   change = (gain_i - gain_j)
    (discount_i - discount_j) / ideal DCG@k

The change is that of the present ranking, held fixed: the forces are the gradient of that loss, and
not of NDCG, which is a step function. A document below the cutoff has the discount 0.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from experiments.rankers.generate import Query
from experiments.rankers.ranknet import FloatArray, Net, forces
from experiments.rankers.ranknet import train as train_net


def changes(scores: FloatArray, grades: NDArray[np.uint8], cutoff: int) -> FloatArray:
    """Compute the drop in NDCG if the documents of each pair in the right order swap ranks; shape
    (n_documents, n_documents).

    0 where the first has no higher grade than the second. Equal scores rank in the order of the
    documents.
    """
    gains = np.exp2(grades.astype(np.float64)) - 1
    discounts = np.where(
        np.arange(gains.size) < cutoff, 1 / np.log2(np.arange(2.0, gains.size + 2)), 0.0
    )
    ideal = float(np.sort(gains)[::-1] @ discounts)
    if ideal == 0:
        return np.zeros((gains.size, gains.size))
    had = np.empty(gains.size)
    had[np.argsort(-scores, kind="stable")] = discounts
    return (
        np.maximum(gains[:, None] - gains[None, :], 0) * np.abs(had[:, None] - had[None, :]) / ideal
    )


def loss(
    scores: FloatArray, grades: NDArray[np.uint8], cutoff: int = 10
) -> tuple[float, FloatArray]:
    """Loss of LambdaRank for one query at the present ranking, and its derivative by each score."""
    return forces(scores, changes(scores, grades, cutoff))


def train(
    log: Sequence[Query],
    *,
    cutoff: int = 10,
    hidden: int = 8,
    epochs: int = 50,
    step: float = 0.5,
    seed: int = 0,
) -> Net:
    """Gradient descent as for RankNet, with the forces of LambdaRank."""
    return train_net(
        log,
        of=lambda scores, grades: loss(scores, grades, cutoff),
        hidden=hidden,
        epochs=epochs,
        step=step,
        seed=seed,
    )
