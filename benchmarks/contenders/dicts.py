"""Evaluation of dicts of dicts that are in memory already: NAME QUERIES; prints the means and the
median time of five calls.
"""

import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from workload import Tables, dicts

MEASURES = {"nDCG@10": "ndcg_cut_10", "nDCG": "ndcg", "AP": "map", "RR": "recip_rank"}
CALLS = 5


def by_idealrank(qrels: Tables, run: Tables) -> Callable[[], dict[str, float]]:
    from idealrank import evaluate  # noqa: PLC0415  (each process loads one contender)

    return lambda: dict(evaluate(qrels, run, list(MEASURES), sys.argv[3]).mean())


def by_pytrec_eval(qrels: Tables, run: Tables) -> Callable[[], dict[str, float]]:
    import pytrec_eval  # noqa: PLC0415

    # not timed, though ours walks the judgments in each call
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(MEASURES.values()))

    def call() -> dict[str, float]:
        values = evaluator.evaluate(run).values()
        return {
            name: math.fsum(value[theirs] for value in values) / len(values)
            for name, theirs in MEASURES.items()
        }

    return call


def main() -> None:
    call = {"idealrank": by_idealrank, "pytrec_eval": by_pytrec_eval}[sys.argv[1]](
        *dicts(int(sys.argv[2]))
    )
    walls, cpus = [], []
    for _ in range(CALLS):
        wall, cpu = time.perf_counter(), time.process_time()
        means = call()
        cpus.append(time.process_time() - cpu)
        walls.append(time.perf_counter() - wall)
    print(
        json.dumps(
            {"means": means, "cpu": statistics.median(cpus), "wall": statistics.median(walls)}
        )
    )


if __name__ == "__main__":
    main()
