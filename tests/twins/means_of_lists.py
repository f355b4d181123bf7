"""Exact means of DCG and its ideal over lists of n documents, for binary relevance: sums over
ranks, no integral, no asymptotics.
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import binom

from idealrank.measures.discounts import make_discount


def weights(discount: str, n: int) -> np.ndarray:
    """D(1), ..., D(n) as measures use them."""
    ranks = np.arange(1, n + 1)
    return make_discount(discount).at(ranks, np.full(n, n))


def chances(coefficients: Sequence[float], n: int) -> np.ndarray:
    """P(rank r is relevant) for ybar(1 - u) = sum_k a_k u^k: moments of uniform order statistics, r
    (r+1) ... / (n+1) ...
    """
    ranks, power, total = np.arange(1.0, n + 1), np.ones(n), np.zeros(n)
    for k, coefficient in enumerate(coefficients):
        total += coefficient * power
        power = power * (ranks + k) / (n + 1 + k)
    return total


def mean_dcg(coefficients: Sequence[float], n: int, discount: str, cutoff: int) -> float:
    """E[DCG] = sum_r D(r) E[ybar(1 - U_(r))]."""
    return float((weights(discount, n) * chances(coefficients, n))[:cutoff].sum())


def mean_ideal(coefficients: Sequence[float], n: int, discount: str, cutoff: int) -> float:
    """E of the sum of D up to min(L, cutoff), L ~ Bin(n, p)."""
    share = sum(coefficient / (k + 1) for k, coefficient in enumerate(coefficients))
    sums = np.concatenate(([0.0], np.cumsum(weights(discount, n))))
    counts = np.arange(n + 1)
    return float((binom.pmf(counts, n, share) * sums[np.minimum(counts, cutoff)]).sum())


def mean_ndcg_of_noise(share: float, n: int, discount: str) -> tuple[float, float]:
    """Mean and standard deviation of NDCG where ybar = share: given L = l the relevant ones are any
    l of n, all alike.
    """
    weight = weights(discount, n)
    counts = np.arange(1, n + 1)
    ideal, chance = np.cumsum(weight), binom.pmf(counts, n, share)
    means = counts * weight.mean() / ideal
    spread = (
        counts * (n - counts) / (n * (n - 1.0)) * ((weight - weight.mean()) ** 2).sum() / ideal**2
    )
    chance = chance / chance.sum()  # lists without a relevant document have no NDCG
    mean = float((chance * means).sum())
    return mean, float(np.sqrt((chance * (spread + (means - mean) ** 2)).sum()))
