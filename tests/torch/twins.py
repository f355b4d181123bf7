"""The losses of one list as their papers define them: loops over documents, ranks and pairs, in
plain Python.
"""

import math
from itertools import product

Numbers = list[float]


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def log1p_exp(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def log2_discount(rank: float) -> float:
    return 1 / math.log2(1 + rank)


def ranks_of(scores: Numbers) -> list[int]:
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    return [order.index(i) + 1 for i in range(len(scores))]


def ideal(gains: Numbers, cutoff: int | None = None) -> float:
    best = sorted(gains, reverse=True)[:cutoff]
    return sum(gain * log2_discount(rank) for rank, gain in enumerate(best, 1))


def approx_ndcg(
    scores: Numbers, labels: Numbers, temperature: float, cutoff: int | None = None
) -> float:
    total = 0.0
    for i, score in enumerate(scores):
        rank = 1 + sum(
            sigmoid((other - score) / temperature) for j, other in enumerate(scores) if j != i
        )
        kept = 1.0 if cutoff is None else sigmoid((cutoff + 0.5 - rank) / temperature)
        total += kept * labels[i] * log2_discount(rank)
    return 1 - total / ideal(labels, cutoff)


def neural_sort(scores: Numbers, temperature: float) -> list[Numbers]:
    n, rows = len(scores), []
    for rank in range(1, n + 1):
        exponents = [
            ((n + 1 - 2 * rank) * s - sum(abs(s - other) for other in scores)) / temperature
            for s in scores
        ]
        top = max(exponents)
        parts = [math.exp(e - top) for e in exponents]
        rows.append([part / sum(parts) for part in parts])
    return rows


def sinkhorn(matrix: list[Numbers], steps: int) -> list[Numbers]:
    rows = [list(row) for row in matrix]
    for _ in range(steps):
        columns = [sum(row[j] for row in rows) for j in range(len(rows))]
        rows = [[value / columns[j] for j, value in enumerate(row)] for row in rows]
        rows = [[value / sum(row) for value in row] for row in rows]
    return rows


def sorted_ndcg(
    scores: Numbers, labels: Numbers, temperature: float, steps: int, cutoff: int | None = None
) -> float:
    shares = sinkhorn(neural_sort(scores, temperature), steps)
    sorted_gains = [
        sum(share * gain for share, gain in zip(row, labels, strict=True)) for row in shares
    ][:cutoff]
    return 1 - sum(gain * log2_discount(rank) for rank, gain in enumerate(sorted_gains, 1)) / ideal(
        labels, cutoff
    )


def pair_weight(
    weighting: str, ranks: tuple[int, int], gains: tuple[float, float], mu: float
) -> float:
    lead = abs(gains[0] - gains[1])
    swapped = abs(log2_discount(ranks[0]) - log2_discount(ranks[1])) * lead
    distance = abs(ranks[0] - ranks[1])
    steps = abs(log2_discount(distance) - log2_discount(distance + 1)) * lead if distance else 0.0
    return {
        "none": 1.0,
        "ndcg-loss1": gains[0] * log2_discount(ranks[0]),
        "lambdarank": swapped,
        "ndcg-loss2": steps,
        "ndcg-loss2++": swapped + mu * steps,
    }[weighting]


def lambda_loss(
    scores: Numbers, labels: Numbers, weighting: str, cutoff: int | None = None, mu: float = 10.0
) -> float:
    best = ideal(labels, cutoff)
    ranks = ranks_of(scores)
    total = 0.0
    for i, j in product(range(len(scores)), repeat=2):
        if (labels[i] > labels[j] or weighting == "ndcg-loss1") and (
            cutoff is None or min(ranks[i], ranks[j]) <= cutoff
        ):
            weight = pair_weight(
                weighting, (ranks[i], ranks[j]), (labels[i] / best, labels[j] / best), mu
            )
            total += weight * log1p_exp(-(scores[i] - scores[j])) / math.log(2)
    return total


def rank_net(scores: Numbers, labels: Numbers, ties: str = "ignore") -> float:
    total = 0.0
    for i in range(len(scores)):
        for j in range(len(scores)):
            apart = scores[i] - scores[j]
            if labels[i] > labels[j]:
                total += log1p_exp(-apart)
            elif ties == "half" and labels[i] == labels[j] and i < j:
                total += -0.5 * math.log(sigmoid(apart)) - 0.5 * math.log(sigmoid(-apart))
    return total


def pairwise_logistic(scores: Numbers, labels: Numbers) -> float:
    pairs = [(i, j) for i, j in product(range(len(scores)), repeat=2) if labels[i] > labels[j]]
    return sum(
        (labels[i] - labels[j]) * math.log(1 + math.exp(-(scores[i] - scores[j]))) for i, j in pairs
    )


def linear_ndcg(scores: Numbers, labels: Numbers, temperature: float) -> float:
    n = len(scores)
    best = sum(gain * (n - rank) for rank, gain in enumerate(sorted(labels, reverse=True), 1))
    pairs = [(i, j) for i, j in product(range(n), repeat=2) if labels[i] > labels[j]]
    return (
        sum(
            (labels[i] - labels[j]) * sigmoid((scores[j] - scores[i]) / temperature)
            for i, j in pairs
        )
        / best
    )


def softmax(values: Numbers) -> Numbers:
    parts = [math.exp(value - max(values)) for value in values]
    return [part / sum(parts) for part in parts]


def list_net(scores: Numbers, labels: Numbers) -> float:
    return -sum(
        wanted * math.log(share)
        for wanted, share in zip(softmax(labels), softmax(scores), strict=True)
    )


def softmax_loss(scores: Numbers, labels: Numbers) -> float:
    return -sum(
        label * math.log(share) for label, share in zip(labels, softmax(scores), strict=True)
    ) / sum(labels)


def list_mle(scores: Numbers, labels: Numbers, *, positioned: bool = False) -> float:
    order = sorted(range(len(scores)), key=lambda i: (-labels[i], i))
    n = len(order)
    weights = [2.0 ** (n - rank) - 1 for rank in range(1, n + 1)] if positioned else [1.0] * n
    lost = [
        math.log(sum(math.exp(scores[j]) for j in order[at:])) - scores[order[at]]
        for at in range(n)
    ]
    return sum(weight * one for weight, one in zip(weights, lost, strict=True)) / (
        sum(weights) if positioned else 1
    )


def falling_fit(values: Numbers) -> Numbers:
    """Least squares without a rise, by pooling neighbours that rise."""
    pools: list[list[float]] = []
    for value in values:
        pools.append([value])
        while len(pools) > 1 and sum(pools[-2]) / len(pools[-2]) < sum(pools[-1]) / len(pools[-1]):
            last = pools.pop()
            pools[-1] += last
    return [sum(pool) / len(pool) for pool in pools for _ in pool]


def soft_ranks(scores: Numbers, temperature: float) -> Numbers:
    n = len(scores)
    goal = [-score / temperature for score in scores]
    order = sorted(range(n), key=lambda i: -goal[i])
    fit = falling_fit([goal[i] - (n - place) for place, i in enumerate(order)])
    return [goal[i] - fit[order.index(i)] for i in range(n)]


def fast_soft_rank_ndcg(
    scores: Numbers, labels: Numbers, temperature: float, cutoff: int | None = None
) -> float:
    ranks = soft_ranks(scores, temperature)
    kept = [
        1.0 if cutoff is None else sigmoid((cutoff + 0.5 - rank) / temperature) for rank in ranks
    ]
    dcg = sum(
        one * label * log2_discount(rank)
        for one, label, rank in zip(kept, labels, ranks, strict=True)
    )
    return 1 - dcg / ideal(labels, cutoff)


def soft_spearman(scores: Numbers, labels: Numbers, temperature: float) -> float:
    found = soft_ranks(scores, temperature)
    wanted = [
        sum(other > label for other in labels) + (1 + sum(other == label for other in labels)) / 2
        for label in labels
    ]
    centre = (len(scores) + 1) / 2
    product_ = sum((a - centre) * (b - centre) for a, b in zip(found, wanted, strict=True))
    return 1 - product_ / math.sqrt(
        sum((a - centre) ** 2 for a in found) * sum((b - centre) ** 2 for b in wanted)
    )


def network_ndcg(scores: Numbers, labels: Numbers, temperature: float) -> float:
    """Odd-even sorting with swaps of the logistic function, as a product of matrices."""
    n = len(scores)
    shares = [[float(i == j) for j in range(n)] for i in range(n)]
    for step in range(n):
        for a in range(step % 2, n - 1, 2):
            now = [
                sum(share * score for share, score in zip(row, scores, strict=True))
                for row in shares
            ]
            p = sigmoid((now[a] - now[a + 1]) / temperature)
            upper, lower = shares[a], shares[a + 1]
            shares[a] = [p * x + (1 - p) * y for x, y in zip(upper, lower, strict=True)]
            shares[a + 1] = [(1 - p) * x + p * y for x, y in zip(upper, lower, strict=True)]
    sorted_gains = [
        sum(share * gain for share, gain in zip(row, labels, strict=True)) for row in shares
    ]
    return 1 - sum(gain * log2_discount(rank) for rank, gain in enumerate(sorted_gains, 1)) / ideal(
        labels
    )
