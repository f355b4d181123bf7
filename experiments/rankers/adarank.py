"""AdaRank: boosting on queries, each weak ranker a single feature (Xu and Li, SIGIR 2007, section
3).

    weight of a ranker = 1/2 log( sum P (1 + E) / sum P (1 - E) ),   P of a query ~ exp(-E of the
    ranking so far)

E is NDCG@k of each query, between 0 and 1. A round chooses the feature, upwards or downwards, of
the highest mean of E weighted by P. The feature of the last round takes no part: in the paper's own
algorithm a strong first feature is chosen for ever, since more of it changes no ranking and so no
P.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import idealrank as ir
from experiments.rankers.generate import Query

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Trained:
    """Weight of each feature, and what the rounds did."""

    weights: FloatArray
    chosen: tuple[int, ...]  # feature of each round
    steps: tuple[float, ...]  # what each round added to its weight
    values: tuple[float, ...]  # mean of E over the queries after each round

    def scores(self, features: FloatArray) -> FloatArray:
        """Score of each document, shape (n_documents,)."""
        return features @ self.weights


def value(scores: Sequence[FloatArray], log: Sequence[Query], cutoff: int) -> FloatArray:
    """NDCG of each query; ties count the mean over their orders, so that a feature without
    information has no luck.
    """
    labels = np.concatenate([query.grades for query in log]).astype(np.float64)
    sizes = [query.grades.size for query in log]
    return ir.ndcg(
        labels,
        np.concatenate(list(scores)),
        cutoff=cutoff,
        gain="exp2",
        group=sizes,
        convention="standard,ties=expected",
    )


def train(log: Sequence[Query], *, rounds: int = 20, cutoff: int = 10) -> Trained:
    """Boost for some rounds, or until the ranking is perfect; nothing is random."""
    n_features = log[0].features.shape[1]
    signs = [(feature, sign) for feature in range(n_features) for sign in (1.0, -1.0)]
    table = np.array(
        [
            value([sign * query.features[:, feature] for query in log], log, cutoff)
            for feature, sign in signs
        ]
    )
    weights, share = np.zeros(n_features), np.full(len(log), 1 / len(log))
    chosen, steps, values = [], [], []
    for _ in range(rounds):
        means = table @ share
        if chosen:
            means[
                [place for place, (feature, _) in enumerate(signs) if feature == chosen[-1]]
            ] = -np.inf
        best = int(means.argmax())
        feature, sign = signs[best]
        right, wrong = float(share @ (1 + table[best])), float(share @ (1 - table[best]))
        chosen.append(feature)
        if wrong <= 0:  # the feature alone is perfect
            weights = np.where(np.arange(n_features) == feature, sign, 0.0)
            steps.append(sign)
            values.append(1.0)
            break
        steps.append(float(sign * 0.5 * np.log(right / wrong)))
        weights[feature] += steps[-1]
        found = value([query.features @ weights for query in log], log, cutoff)
        values.append(float(found.mean()))
        share = np.exp(-found)
        share /= share.sum()
    return Trained(weights=weights, chosen=tuple(chosen), steps=tuple(steps), values=tuple(values))
