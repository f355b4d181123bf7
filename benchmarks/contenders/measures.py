"""Measures of arrays that are in memory already: ``one MEASURE LABELS SCORES CALLS``, or ``all
LABELS SCORES FEWER MORE``.

The first prints the mean and the median time of the calls as JSON; the second, for every measure of
one run and its judgments, the processor time of fewer and of more lists.
"""

import json
import statistics
import sys
import time
from typing import Any

import numpy as np

import idealrank as ir

WIDTH = 20
CONVENTION = "standard,ties=input"


def timed(labels: Any, scores: Any, measure: "str | ir.Measure") -> tuple[float, float, float]:
    """Mean, processor time and time on the clock of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    mean = next(iter(ir.evaluate(labels, scores, [measure], CONVENTION).mean().values()))
    return mean, time.process_time() - cpu, time.perf_counter() - wall


def one(measure: str, labels: Any, scores: Any, calls: int) -> dict[str, float]:
    """The median of some calls after one that is left out."""
    found = [timed(labels, scores, measure) for _ in range(calls + 1)][1:]
    value, cpu, wall = (statistics.median(column) for column in zip(*found, strict=True))
    return {"value": value, "cpu": cpu, "wall": wall}


def every(labels: Any, scores: Any, sizes: list[int]) -> dict[str, list[float]]:
    """Processor time of each measure for each number of lists, the least of three calls."""
    times = {}
    for cls in ir.MEASURES.values():
        if cls.needs or cls.kind != "per query" or cls.aggregate == "text":
            continue
        required: dict[str, Any] = {"cutoff": 10} if cls.cuts == "required" else {}
        if cls.after_at != "cutoff":
            required[cls.after_at] = 0.5
        measure = cls(**required)
        times[str(measure)] = [
            min(timed(labels[:n], scores[:n], measure)[1] for _ in range(3)) for n in sizes
        ]
    return times


def main() -> None:
    command, *given = sys.argv[1:]
    measure, *given = given if command == "one" else ("", *given)
    labels, scores = (np.fromfile(path, np.float32).reshape(-1, WIDTH) for path in given[:2])
    if command == "one":
        print(json.dumps(one(measure, labels, scores, int(given[2]))))
    else:
        print(json.dumps(every(labels, scores, [int(size) for size in given[2:]])))


if __name__ == "__main__":
    main()
