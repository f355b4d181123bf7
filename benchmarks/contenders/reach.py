"""Two runs read, evaluated and compared: with|without QRELS RUN RUN CALLS; prints a difference and
the median time of a call.
"""

import json
import statistics
import sys
import time

import idealrank as ir

MEASURES = ["nDCG@10", "P@10", "RR@10"]


def main() -> None:
    keep_unjudged, (qrels, *runs), calls = sys.argv[1] == "with", sys.argv[2:-1], int(sys.argv[-1])
    times = []
    for _ in range(calls + 1):  # the first call loads what is loaded when first used
        wall, cpu = time.perf_counter(), time.process_time()
        found = ir.compare(
            *(ir.evaluate(qrels, run, MEASURES, keep_unjudged=keep_unjudged) for run in runs)
        )
        times.append((time.process_time() - cpu, time.perf_counter() - wall))
    taken = [statistics.median(column) for column in zip(*times[1:], strict=True)]
    row = found[MEASURES[0]]
    if (row.tipping is not None) != keep_unjudged:
        raise SystemExit(
            f"found a tipping point: {row.tipping}, {row.tipping_reason}; expected one only "
            f"with unjudged documents"
        )
    print(json.dumps({"p": {"0": row.p}, "cpu": taken[0], "wall": taken[1]}))


if __name__ == "__main__":
    main()
