"""RankNet, LambdaRank and AdaRank: gradients agree with finite differences, theorems hold, and a
separable set is learned.
"""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import idealrank as ir
from experiments.rankers import adarank, lambdarank, ranknet
from experiments.rankers.generate import Query
from idealrank.training import LambdaObjective

CUTOFF = 5


def log_of(n_queries: int, noise: float, seed: int) -> list[Query]:
    """Queries whose grades follow from a linear score of three of five features; clicks stand for
    grades 0, 1 and 2.
    """
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n_queries):
        features = rng.normal(size=(12, 5))
        quality = features @ [1.0, -0.7, 0.5, 0.0, 0.0] + rng.normal(0, noise, 12)
        made.append(
            Query(
                features=features,
                clicks=np.array([10, 500, 5000])[np.searchsorted([0.3, 1.2], quality)],
            )
        )
    return made


def mean(scores: Callable[[np.ndarray], np.ndarray], log: list[Query]) -> float:
    return float(adarank.value([scores(query.features) for query in log], log, CUTOFF).mean())


@pytest.mark.parametrize("seed", [0, 1])
def test_the_force_of_ranknet_is_the_slope_of_its_loss(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, grades = rng.normal(0, 2, 9), rng.integers(0, 3, 9).astype(np.uint8)
    value, slope = ranknet.loss(scores, grades)
    pairs = [(i, j) for i in range(9) for j in range(9) if grades[i] > grades[j]]
    assert value == pytest.approx(
        np.mean([np.log1p(np.exp(scores[j] - scores[i])) for i, j in pairs]), rel=1e-12
    )
    # forward differences
    assert slope == pytest.approx(
        approx_fprime(scores, lambda at: ranknet.loss(at, grades)[0], 1e-7), abs=1e-6
    )


def test_the_force_of_lambdarank_is_the_slope_at_the_present_ranking() -> None:
    rng = np.random.default_rng(2)
    scores, grades = rng.normal(size=9), rng.integers(0, 3, 9).astype(np.uint8)
    weights = lambdarank.changes(scores, grades, CUTOFF)
    slope = lambdarank.loss(scores, grades, CUTOFF)[1]
    assert slope == pytest.approx(
        approx_fprime(scores, lambda at: ranknet.forces(at, weights)[0], 1e-7), abs=1e-6
    )
    for i, j in np.argwhere(weights > 0):
        swapped = scores.copy()
        swapped[[i, j]] = scores[[j, i]]
        before, after = (
            ir.ndcg(grades, one, cutoff=CUTOFF, gain="exp2")[0] for one in (scores, swapped)
        )
        assert weights[i, j] == pytest.approx(abs(before - after), abs=1e-12)


def test_lambdarank_has_the_gradients_of_the_kernel() -> None:
    rng = np.random.default_rng(3)
    scores, grades = rng.normal(size=15), rng.integers(0, 3, 15).astype(np.uint8)
    lists = LambdaObjective(
        gain="exp2", cutoff=CUTOFF, truncation=CUTOFF, beyond="zero", damped=False
    ).prepare(grades)
    assert lambdarank.loss(scores, grades, CUTOFF)[1] == pytest.approx(
        lists.gradients(scores, dtype="float64")[0], abs=1e-9
    )


def test_the_net_runs_backwards_as_finite_differences_say() -> None:
    query = log_of(1, 0.1, 4)[0]
    net = ranknet.Net.random(5, 3, np.random.default_rng(5))

    def loss(flat: np.ndarray) -> float:
        moved = ranknet.Net(first=flat[:18].reshape(6, 3), last=flat[18:])
        return ranknet.loss(moved.scores(query.features), query.grades)[0]

    _, by_score = ranknet.loss(net.scores(query.features), query.grades)
    slopes = net.slopes(query.features, by_score)
    found = np.concatenate([slopes.first.ravel(), slopes.last])
    assert found == pytest.approx(
        approx_fprime(np.concatenate([net.first.ravel(), net.last]), loss, 1e-7), abs=1e-6
    )


@pytest.mark.parametrize("ranker", [ranknet, lambdarank])
def test_a_net_learns_a_separable_set(ranker: object) -> None:
    log, unseen = log_of(30, 0.0, 6), log_of(30, 0.0, 7)
    net = ranker.train(log, epochs=40)  # type: ignore[attr-defined]
    assert mean(net.scores, log) > 0.97
    assert mean(net.scores, unseen) > 0.93
    assert ranker.train(log, epochs=1).last.tolist() == ranker.train(log, epochs=1).last.tolist()  # type: ignore[attr-defined]


def test_adarank_takes_the_feature_that_is_perfect_alone() -> None:
    rng = np.random.default_rng(8)
    log = [
        Query(
            features=(features := rng.normal(size=(8, 4))),
            clicks=np.where(features[:, 2] < 0, 5000, 0),
        )
        for _ in range(9)
    ]
    found = adarank.train(log)
    assert found.weights.tolist() == [0, 0, -1, 0]
    assert (found.chosen, found.values) == ((2,), (1.0,))


def test_adarank_is_better_than_any_feature_and_above_the_bound_of_its_theorem() -> None:
    """Theorem 1: mean E >= 1 - prod exp(-least d) sqrt(1 - phi^2), d = E(f + a h) - E(f) - a E(h),
    phi the weighted mean of E(h).
    """
    log = log_of(40, 0.3, 9)
    found = adarank.train(log, rounds=12, cutoff=CUTOFF)
    alone = max(
        mean(lambda features, place=place, sign=sign: sign * features[:, place], log)
        for place in range(5)
        for sign in (1, -1)
    )
    assert max(found.values) > alone + 0.02
    weights, share, before, bound = np.zeros(5), np.full(40, 1 / 40), np.zeros(40), 1.0
    for feature, step, reached in zip(found.chosen, found.steps, found.values, strict=True):
        weak = adarank.value(
            [np.sign(step) * query.features[:, feature] for query in log], log, CUTOFF
        )
        weights[feature] += step
        after = adarank.value([query.features @ weights for query in log], log, CUTOFF)
        phi = float(share @ weak)
        assert abs(step) == pytest.approx(np.arctanh(phi))
        assert reached == pytest.approx(after.mean())
        bound *= np.exp(-(after - before - abs(step) * weak).min()) * np.sqrt(1 - phi**2)
        assert reached >= 1 - bound
        before, share = after, np.exp(-after) / np.exp(-after).sum()
    assert mean(found.scores, log_of(40, 0.3, 10)) > alone
