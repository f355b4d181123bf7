"""One run evaluated in this process: ``frames.py text|categories QRELS RUN``; RUN is text or
Parquet, made a frame of categories first.
"""

import json
import sys
import time

import polars as pl

import idealrank as ir

MEASURES = ["nDCG@10", "nDCG", "AP", "RR"]


def main() -> None:
    """Print the means, and what the one call took."""
    form, qrels_path, run_path = sys.argv[1:]
    qrels = ir.read_qrels(qrels_path)
    run = (
        pl.read_parquet(run_path).with_columns(pl.col("query", "document").cast(pl.Categorical))
        if form == "categories"
        else run_path
    )
    # What is imported on the first call belongs to no run.
    ir.evaluate(
        {"q": {"a": 1}}, pl.DataFrame({"query": ["q"], "document": ["a"], "score": [1.0]}), MEASURES
    )
    cpu, wall = time.process_time(), time.perf_counter()
    found = ir.evaluate(qrels, run, MEASURES)
    print(
        json.dumps(
            {
                "mean": dict(found.mean()),
                "cpu": time.process_time() - cpu,
                "wall": time.perf_counter() - wall,
            }
        )
    )


if __name__ == "__main__":
    main()
