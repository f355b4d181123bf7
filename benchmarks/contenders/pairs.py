"""The pairwise loss of one long list: NAME LABELS SCORES CALLS; prints the value, the median time
and the memory of the first call.
"""

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np


def by_argsort(_: Any, scores: Any) -> float:
    """No loss: the one sort that any such program needs."""
    return float(np.argsort(scores, kind="stable")[0])


def by_counting(labels: Any, scores: Any, *, ties: str) -> float:
    """The definition, grade against grade: how many scores of the lower are above each score of the
    higher, or equal to it.
    """
    weights = {"half": (1, 1), "strict": (2, 0), "weak": (0, 2)}[ties]
    by_grade = {grade: np.sort(scores[labels == grade]) for grade in np.unique(labels).tolist()}
    doubled = 0
    for low, high in combinations(sorted(by_grade), 2):
        sides = ("right", "left")
        not_above = (
            int(np.searchsorted(by_grade[low], by_grade[high], side).sum()) for side in sides
        )
        wrong = 2 * by_grade[low].size * by_grade[high].size - sum(
            w * n for w, n in zip(weights, not_above, strict=True)
        )
        doubled += (high - low) * wrong
    return doubled / 2


def by_idealrank(**options: Any) -> Callable[[Any, Any], float]:
    from idealrank import pairwise_loss  # noqa: PLC0415  (each process loads one contender)

    return partial(pairwise_loss, **options)


CONTENDERS: dict[str, Callable[[], Callable[[Any, Any], float]]] = {
    "argsort": lambda: by_argsort,
    **{
        f"counting-{ties}": partial(partial, by_counting, ties=ties)
        for ties in ("half", "strict", "weak")
    },
    **{
        f"idealrank-{ties}": partial(by_idealrank, ties=ties) for ties in ("half", "strict", "weak")
    },
}


def peak() -> int:
    """The most bytes that were resident so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    call = CONTENDERS[sys.argv[1]]()
    labels, scores = np.fromfile(sys.argv[2], np.int64), np.fromfile(sys.argv[3], np.float64)
    # loads what is loaded when first used, so that memory is that of the work
    call(labels[:1000], scores[:1000])
    before, times = peak(), []
    beyond = 0
    for _ in range(int(sys.argv[4])):
        wall, cpu = time.perf_counter(), time.process_time()
        value = call(labels, scores)
        times.append((time.process_time() - cpu, time.perf_counter() - wall))
        beyond = max(beyond, peak() - before)
    cpu, wall = (statistics.median(column) for column in zip(*(times[1:] or times), strict=True))
    print(
        json.dumps(
            {"value": value, "cpu": cpu, "wall": wall, "bytes_an_item": beyond / scores.size}
        )
    )


if __name__ == "__main__":
    main()
