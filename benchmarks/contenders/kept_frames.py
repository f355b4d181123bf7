"""Evaluate a run that this process holds as a frame or dict: ``python kept_frames.py
pandas|polars|dict QRELS RUN.parquet``.

Prints JSON: the means, and the seconds of the call, without loading.
"""

import json
import sys
import time


def loaded(kind: str, path: str):
    """The run as a user of that library holds it."""
    if kind == "polars":
        import polars as pl  # noqa: PLC0415

        return pl.read_parquet(path)
    import pyarrow.parquet as pq  # noqa: PLC0415

    table = pq.read_table(path)
    if kind == "pandas":
        return table.to_pandas()
    if kind == "pandas-categories":
        return table.to_pandas(categories=["query", "document"])
    run: dict[str, dict[str, float]] = {}
    for query, document, score in zip(
        *(column.to_pylist() for column in table.columns), strict=True
    ):
        run.setdefault(query, {})[document] = score
    return run


def main() -> None:
    """Load, then time one call."""
    import idealrank  # noqa: PLC0415

    kind, qrels, path = sys.argv[1:]
    judgments, run = idealrank.read_qrels(qrels), loaded(kind, path)
    wall, cpu = time.perf_counter(), time.process_time()
    means = idealrank.evaluate(judgments, run, ["nDCG@10", "nDCG", "AP", "RR"]).mean()
    print(
        json.dumps(
            {"mean": means, "wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        )
    )


if __name__ == "__main__":
    main()
