"""Time of a boosting round with our objective against LightGBM's own lambdarank, on data of the size of MSLR-WEB30K.

30,000 queries of 120 documents with 136 features, generated; grades 0 to 4 in the shares of that collection. Both boosters share one data
set, and take rounds by turns, so that a busy machine slows both. The first round of each, whose scores are all equal, does not count.

Usage: ``python experiments/training_speed.py`` (some minutes and 6 GB; ``--queries 3000`` for a first look).
"""

import argparse
import statistics
import time

import lightgbm as lgb
import numpy as np

from idealrank.integrations.lightgbm import objective
from idealrank.training import LambdaObjective

DOCUMENTS, FEATURES, INFORMATIVE = 120, 136, 20
SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)


def data(queries: int, threads: int) -> lgb.Dataset:
    """The data set, constructed."""
    rng = np.random.default_rng(30)
    rows = queries * DOCUMENTS
    features = rng.standard_normal((rows, FEATURES), np.float32)
    weights = rng.standard_normal(INFORMATIVE).astype(np.float32)
    quality = features[:, :INFORMATIVE] @ weights / np.float32(np.sqrt(INFORMATIVE)) + rng.standard_normal(rows, np.float32)
    labels = np.searchsorted(np.quantile(quality[: 100 * DOCUMENTS], np.cumsum(SHARES)[:-1]), quality)
    sizes = np.full(queries, DOCUMENTS)
    params = {"verbose": -1, "num_threads": threads, "max_bin": 255}
    return lgb.Dataset(features, labels, group=sizes, params=params, free_raw_data=True).construct()


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=30_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    started = time.perf_counter()
    train = data(options.queries, options.threads)
    print(f"{options.queries:,} queries x {DOCUMENTS} documents x {FEATURES} features, made in {time.perf_counter() - started:.0f} s")
    params = {"num_leaves": 31, "learning_rate": 0.1, "verbose": -1, "num_threads": options.threads, "metric": "None", "seed": 1}
    ours = objective(cutoff=30, truncation=30)
    boosters = {
        "own": lgb.Booster({**params, "objective": "lambdarank"}, train),
        "ours": lgb.Booster({**params, "objective": "none"}, train),
    }
    times: dict[str, list[float]] = {"own": [], "ours": []}
    for number in range(options.rounds + 1):
        for name, booster in boosters.items():
            started = time.perf_counter()
            booster.update(fobj=ours if name == "ours" else None)
            if number:
                times[name].append(time.perf_counter() - started)
    lists = LambdaObjective(cutoff=30, truncation=30).prepare(train.get_label(), train.get_group())
    scores = np.random.default_rng(1).normal(size=lists.gains.size)
    taken = []
    for _ in range(3):
        started = time.perf_counter()
        lists.gradients(scores, threads=options.threads)
        taken.append(time.perf_counter() - started)
    middle = {name: statistics.median(found) for name, found in times.items()}
    ratio = statistics.median(ours / own for ours, own in zip(times["ours"], times["own"], strict=True))
    print(f"a round with lambdarank: {middle['own']:.3f} s; with ours: {middle['ours']:.3f} s; ratio by turns, median: {ratio:.3f}")
    print(f"of which gradients of all rows, on random scores: {min(taken):.3f} s; {options.rounds} rounds, {options.threads} threads")


if __name__ == "__main__":
    main()
