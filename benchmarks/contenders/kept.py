"""A store: JOB FOLDER EVALUATIONS QUERIES. JOB is build, measure, query or show; prints what it found and the time of the one call.

Values are random numbers, the seed of an evaluation its place, so that anybody can say what has to come back.
"""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

MEASURES = ("nDCG@10", "AP", "RR")


def build(folder: Path, evaluations: int, queries: int) -> dict[str, float]:
    """Every evaluation in turn, as users do it: each is on the disk before the next."""
    import idealrank as ir  # noqa: PLC0415  (each process loads one contender)

    ids = [f"q{number}" for number in range(queries)]
    whole = ir.evaluate({query: {"a": 1} for query in ids}, {query: ["a"] for query in ids}, MEASURES)
    with ir.Store.open(folder) as store:
        for place in range(evaluations):
            store.add(replace(whole, name="bm25", values=np.random.default_rng(place).random((queries, len(MEASURES)))))
    return {}


def measure(folder: Path, *_: int) -> dict[str, float]:
    """The mean of AP from evaluation to evaluation."""
    import idealrank as ir  # noqa: PLC0415

    with ir.Store.open(folder, create=False) as store:
        return {str(place): point.value for place, point in enumerate(store.history("AP").points)}


def query(folder: Path, _: int, queries: int) -> dict[str, float]:
    """AP of one query in the middle, from evaluation to evaluation."""
    import idealrank as ir  # noqa: PLC0415

    with ir.Store.open(folder, create=False) as store:
        return {str(place): point.value for place, point in enumerate(store.history("AP", query=f"q{queries // 2}").points)}


def show(folder: Path, *_: int) -> dict[str, float]:
    """The newest evaluation whole, its hashes checked."""
    import idealrank as ir  # noqa: PLC0415

    with ir.Store.open(folder, create=False) as store:
        newest = store.entries(limit=1)[0].id
        return {str(row): value for row, value in enumerate(store.evaluation(newest).evaluation["AP"][:100].tolist())}


def main(job: str, folder: str, evaluations: str, queries: str) -> None:
    jobs: dict[str, Any] = {"build": build, "measure": measure, "query": query, "show": show}
    cpu, wall = time.process_time(), time.perf_counter()
    found = jobs[job](Path(folder), int(evaluations), int(queries))
    print(json.dumps({"found": found, "cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}))


if __name__ == "__main__":
    main(*sys.argv[1:])
