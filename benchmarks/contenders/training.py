"""Rounds of boosting on generated data of the size of MSLR-WEB30K: QUERIES ROUNDS; prints times of
LightGBM's lambdarank and of ours.

Both boosters share one data set and take rounds by turns, so that a busy machine slows both. The
first round of each, in which all scores are equal, does not count. Grades 0 to 4 have the shares of
that collection.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np

from idealrank.training import LambdaObjective
from idealrank.training.lightgbm import objective

DOCUMENTS, FEATURES, INFORMATIVE = 120, 136, 20
SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)
LEVEL = 30  # LightGBM's own truncation level
PARAMS = {"num_leaves": 31, "learning_rate": 0.1, "verbose": -1, "metric": "None", "seed": 1}


def data(queries: int) -> lgb.Dataset:
    """The data set, binned; its features were 2 GB as float32 for 30,000 queries, and are gone."""
    rng = np.random.default_rng(30)
    features = rng.standard_normal((queries * DOCUMENTS, FEATURES), np.float32)
    weights = rng.standard_normal(INFORMATIVE).astype(np.float32)
    quality = features[:, :INFORMATIVE] @ weights / np.float32(
        np.sqrt(INFORMATIVE)
    ) + rng.standard_normal(len(features), np.float32)
    labels = np.searchsorted(
        np.quantile(quality[: 100 * DOCUMENTS], np.cumsum(SHARES)[:-1]), quality
    )
    return lgb.Dataset(
        features,
        labels,
        group=np.full(queries, DOCUMENTS),
        params={"verbose": -1},
        free_raw_data=True,
    ).construct()


def scores_of(booster: lgb.Booster) -> np.ndarray:
    """Scores of the training set, whose features are gone: a metric sees them."""
    seen: list[np.ndarray] = []
    booster.eval_train(lambda scores, _: (seen.append(scores.copy()), ("none", 0.0, True))[1])
    return seen[0]


def timed(work: Callable[[], Any]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def main(queries: int, rounds: int) -> dict[str, Any]:
    """Times of every round but the first, of the gradients alone, and how far the two models are
    apart.
    """
    made = time.perf_counter()
    train = data(queries)
    made = time.perf_counter() - made
    options: dict[str, Any] = {"cutoff": LEVEL, "truncation": LEVEL}
    ours = objective(**options)
    boosters = {
        name: lgb.Booster({**PARAMS, "objective": name}, train) for name in ("lambdarank", "none")
    }
    times: dict[str, list[dict[str, float]]] = {"lambdarank": [], "none": []}
    for number in range(rounds + 1):
        # which of them goes first changes, as it finds other data in the caches
        for name in list(boosters)[:: -1 if number % 2 else 1]:
            booster = boosters[name]
            times[name].append(
                timed(
                    lambda booster=booster, name=name: booster.update(
                        fobj=ours if name == "none" else None
                    )
                )
            )
    lists = LambdaObjective(**options).prepare(train.get_label(), train.get_group())
    scores = scores_of(boosters["none"])
    gradients = [timed(lambda: lists.gradients(scores)) for _ in range(3)]
    apart = np.abs(scores_of(boosters["lambdarank"]) - scores).max()
    return {
        "made": made,
        "own": times["lambdarank"][1:],
        "ours": times["none"][1:],
        "gradients": min(gradients, key=lambda one: one["wall"]),
        "apart": float(apart),
        "spread": float(np.std(scores)),
    }


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))))
