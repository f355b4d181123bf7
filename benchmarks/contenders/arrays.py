"""Calls on arrays that are in memory already: NAME LABELS SCORES CALLS; prints the mean and the
median time of the calls.

The first of several calls is left out: it pays for memory that the process never had before, which
on a virtual machine can cost more than the work, for every contender alike.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

WIDTH, CUTOFF = 20, 10


def by_idealrank(**options: Any) -> Callable[[Any, Any], float]:
    from idealrank import ndcg  # noqa: PLC0415  (each process loads one contender)

    return lambda labels, scores: float(ndcg(labels, scores, cutoff=CUTOFF, **options).mean())


def by_scikit_learn(**options: Any) -> Callable[[Any, Any], float]:
    from sklearn.metrics import ndcg_score  # noqa: PLC0415

    return lambda labels, scores: float(ndcg_score(labels, scores, k=CUTOFF, **options))


def by_numpy(labels: Any, scores: Any) -> float:
    """What one writes in a notebook."""
    discount = 1 / np.log2(np.arange(2, CUTOFF + 2))
    order = np.argsort(-scores, axis=1, kind="stable")[:, :CUTOFF]
    dcg = np.take_along_axis(labels, order, axis=1) @ discount
    ideal = -np.sort(-labels, axis=1)[:, :CUTOFF] @ discount
    return float(np.divide(dcg, ideal, out=np.zeros_like(dcg), where=ideal > 0).mean())


CONTENDERS: dict[str, Callable[[], Callable[[Any, Any], float]]] = {
    "idealrank": by_idealrank,
    "idealrank-input": lambda: by_idealrank(ties="input"),
    "scikit-learn": by_scikit_learn,
    "scikit-learn-ignore-ties": lambda: by_scikit_learn(ignore_ties=True),
    "numpy": lambda: by_numpy,
}


def main() -> None:
    call = CONTENDERS[sys.argv[1]]()
    labels, scores = (np.fromfile(path, np.float32).reshape(-1, WIDTH) for path in sys.argv[2:4])
    times = []
    for _ in range(int(sys.argv[4])):
        wall, cpu = time.perf_counter(), time.process_time()
        value = call(labels, scores)
        times.append((time.process_time() - cpu, time.perf_counter() - wall))
    cpu, wall = (statistics.median(column) for column in zip(*(times[1:] or times), strict=True))
    print(json.dumps({"value": value, "cpu": cpu, "wall": wall}))


if __name__ == "__main__":
    main()
