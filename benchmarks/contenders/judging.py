"""Bounds over grades of unjudged documents: NAME RESULTS CALLS; prints some values, and the median
time of a call.

The data have the size of TREC Deep Learning 2019: 43 queries with some 200 judged documents. The
contenders named plain-... try every choice of grades, in plain Python, on short lists.
"""

import itertools
import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from functools import cache

import numpy as np

import idealrank as ir
from idealrank.judging import bounds, difference_bounds

QUERIES, JUDGED, POOL, HIGHEST, DEPTH, FEW = 43, 215, 5000, 3, 10, 12
Values = dict[str, float]
Lists = dict[str, list[str]]


@cache
def data(results: int) -> tuple[ir.Qrels, ir.Run, ir.Run, dict[str, dict[str, int]], Lists, Lists]:
    """Judgments and two runs, as idealrank keeps them and as plain dictionaries; of short lists
    about half is judged.
    """
    rng = np.random.default_rng(5)
    queries = [f"q{number}" for number in range(QUERIES)]
    pool, judged = (POOL, JUDGED) if results > FEW else (results + 2, (results + 2) // 2)
    grades = {
        query: {
            f"d{one}": int(rng.integers(0, HIGHEST + 1)) for one in rng.permutation(pool)[:judged]
        }
        for query in queries
    }
    a, b = (
        {query: [f"d{one}" for one in rng.permutation(pool)[:results]] for query in queries}
        for _ in range(2)
    )
    return ir.Qrels(grades), ir.Run(a, name="a"), ir.Run(b, name="b"), grades, a, b


def ends(low: np.ndarray, high: np.ndarray) -> Values:
    return {
        f"{end} {number}": float(value)
        for end, found in (("low", low), ("high", high))
        for number, value in enumerate(found)
    }


def single(results: int) -> Values:
    qrels, a, *_ = data(results)
    found = bounds(qrels, a, f"nDCG@{DEPTH}", max_grade=HIGHEST, depth=DEPTH)
    return ends(found.low, found.high)


def difference(results: int) -> Values:
    qrels, a, b, *_ = data(results)
    found = difference_bounds(qrels, a, b, f"nDCG@{DEPTH}", max_grade=HIGHEST, depth=DEPTH)
    return ends(found.low, found.high)


def plain_single(results: int) -> Values:
    *_, grades, a, _ = data(results)
    return tried(grades, (a,), lambda one: one[0])


def plain_difference(results: int) -> Values:
    *_, grades, a, b = data(results)
    return tried(grades, (a, b), lambda both: both[1] - both[0])


def tried(
    grades: dict[str, dict[str, int]], runs: tuple[Lists, ...], of: Callable[[list[float]], float]
) -> Values:
    """Lowest and highest value of each query over all grades of its unjudged documents."""
    low, high = [], []
    for query, known in grades.items():
        free = sorted({one for run in runs for one in run[query][:DEPTH]} - set(known))
        values = []
        for chosen in itertools.product(range(HIGHEST + 1), repeat=len(free)):
            graded = known | dict(zip(free, chosen, strict=True))
            values.append(of([ndcg(graded, run[query]) for run in runs]))
        low.append(min(values))
        high.append(max(values))
    return ends(np.array(low), np.array(high))


def ndcg(grades: dict[str, int], ranked: list[str]) -> float:
    ideal = dcg(sorted(grades.values(), reverse=True))
    return dcg([grades.get(one, 0) for one in ranked]) / ideal if ideal else 0.0


def dcg(gains: list[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:DEPTH], 1))


CONTENDERS: dict[str, Callable[[int], Values]] = {
    "bounds": single,
    "difference": difference,
    "plain-bounds": plain_single,
    "plain-difference": plain_difference,
}


def main() -> None:
    name, results, calls = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    call = CONTENDERS[name]
    call(3)  # loads what is loaded at the first call
    data(results)
    taken, values = [], {}
    for _ in range(calls):
        wall, cpu = time.perf_counter(), time.process_time()
        values = call(results)
        taken.append((time.perf_counter() - wall, time.process_time() - cpu))
    print(
        json.dumps(
            {
                "values": values,
                "wall": statistics.median(one[0] for one in taken),
                "cpu": statistics.median(one[1] for one in taken),
            }
        )
    )


if __name__ == "__main__":
    main()
