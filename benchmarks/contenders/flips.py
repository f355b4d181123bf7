"""Sign flips: NAME DRAWS QUERIES RUNS MEASURES CALLS; prints p values by name and the median time
of a call.

Values are clipped normals with a difficulty for each query, the same for every contender.
"""

import json
import statistics
import sys
import time
from typing import Any

import numpy as np

SEED = 1


def table(queries: int, runs: int, measures: int) -> Any:
    """Values of runs, shape (queries, runs, measures)."""
    generator = np.random.default_rng(SEED)
    difficulty, quality = (
        generator.normal(0.5, 0.2, (queries, 1, measures)),
        generator.normal(0, 0.02, (1, runs, measures)),
    )
    return np.clip(
        difficulty + quality + generator.normal(0, 0.15, (queries, runs, measures)), 0, 1
    )


def by_scipy(values: Any, draws: int) -> Any:
    from scipy import stats  # noqa: PLC0415  (each process loads one contender)

    differences = values[:, 1] - values[:, 0]
    found = stats.permutation_test(
        (differences,),
        lambda sample, axis: sample.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=draws,
        batch=250,  # the fastest of those tried; smaller ones take up to thirty times as long
        axis=0,
        rng=SEED,
    )
    return found.pvalue


def by_idealrank(values: Any, draws: int) -> Any:
    from idealrank.stats import permutation_test  # noqa: PLC0415

    return permutation_test(values[:, 0], values[:, 1], n_resamples=draws, rng=SEED).p


def pair_by_pair(values: Any, draws: int) -> Any:
    from idealrank.stats import permutation_test  # noqa: PLC0415

    runs = range(values.shape[1])
    return [
        [permutation_test(values[:, a], values[:, b], n_resamples=draws, rng=SEED).p for b in runs]
        for a in runs
    ]


def all_pairs(values: Any, draws: int) -> Any:
    from idealrank import stats  # noqa: PLC0415

    stats.randomised_hsd(values, n_resamples=draws, rng=SEED)
    return stats.all_pairs(values, n_resamples=draws, rng=SEED).p


CONTENDERS = {
    "scipy": by_scipy,
    "idealrank": by_idealrank,
    "pair-by-pair": pair_by_pair,
    "all-pairs": all_pairs,
}


def main() -> None:
    call, (draws, queries, runs, measures, calls) = CONTENDERS[sys.argv[1]], map(int, sys.argv[2:])
    values, times = table(queries, runs, measures), []
    call(table(30, 2, 1), 10)  # loads what is loaded when first used
    for _ in range(calls):
        wall, cpu = time.perf_counter(), time.process_time()
        found = call(values, draws)
        times.append((time.process_time() - cpu, time.perf_counter() - wall))
    taken = [statistics.median(column) for column in zip(*times, strict=True)]
    named = {str(number): p for number, p in enumerate(np.ravel(found).tolist()[:2000])}
    print(json.dumps({"p": named, "cpu": taken[0], "wall": taken[1]}))


if __name__ == "__main__":
    main()
