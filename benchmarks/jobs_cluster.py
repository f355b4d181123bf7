"""Spark on one machine: rows a second and core on one worker and two, beside an identity `mapInArrow` and beside MLlib.

Needs the environment of `make test-cluster` and Java 17, and is run only when asked for: ``--full --only cluster``.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jobs_large import large_files
from jobs_text import evaluation, means_of
from measuring import BenchmarkError, Contender, Timing, require_equal, seconds
from report import Row

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(__file__).resolve().parent / "contenders" / "cluster.py"
PYTHON = Path(os.environ.get("VENV_CLUSTER", ROOT / ".venv-cluster")) / "bin" / "python"
SMALL, LARGE = 1_500_000, 3_000_000
SUBJECT = "Spark, standalone on loopback, one core a worker: nDCG@10, AP, RR"


def judgments_as_parquet(qrels: Path) -> Path:
    """Judgments of a workload as a Parquet file."""
    import pyarrow.parquet as pq  # noqa: PLC0415  (as below)
    from pyarrow import csv  # noqa: PLC0415  (the other jobs need none)

    path = qrels.with_suffix(".qrels.parquet")
    if not path.exists():
        names = csv.ReadOptions(column_names=["query", "iteration", "document", "grade"])
        types = csv.ConvertOptions(include_columns=["query", "document", "grade"], column_types={"query": "string", "document": "string"})
        pq.write_table(csv.read_csv(qrels, names, csv.ParseOptions(delimiter=" "), types), path)
    return path


def measured(workers: int, rounds: int, jobs: str, *counts: int) -> dict[str, Any]:
    """What the program says of some jobs, over workloads of so many rows."""
    if not PYTHON.exists():
        raise BenchmarkError(f"{PYTHON}: not found; make .venv-cluster/.installed first")
    files = [str(path) for qrels, grouped, _ in map(large_files, counts) for path in (judgments_as_parquet(qrels), grouped)]
    said: dict[str, Any] = json.loads(Contender((str(PYTHON), str(PROGRAM), str(workers), str(rounds), jobs, *files), 1).run().said)
    return said


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """Equal values first; then scaling, overhead, and MLlib."""
    rounds, small, large = (1, SMALL // 10, LARGE // 10) if quick else (3, SMALL, LARGE)
    jobs = ("evaluate", "broadcast", "identity", "grouped_identity", "scan", "ours_binary", "ranking_metrics", "ranking_evaluator")
    one = measured(1, rounds, ",".join([*(f"{job}@0" for job in jobs), "evaluate@1"]), small, large)
    two = measured(2, rounds, "evaluate@0", large)
    qrels, grouped, _ = large_files(large)
    whole = means_of(Contender(evaluation(qrels, grouped), 1).run().reported())
    on_spark = two["found"]["evaluate@0"]
    require_equal("Spark", on_spark, {name: value for name, value in whole.items() if name in on_spark}, 0.0)
    require_equal("Spark, judgments broadcast", one["found"]["broadcast@0"], one["found"]["evaluate@0"], 0.0)
    walls = (one["median"]["evaluate@0"], one["median"]["evaluate@1"], two["median"]["evaluate@0"])
    for wall, count, workers in zip(walls, (small, large, large), (1, 1, 2), strict=True):
        rate = count / wall / workers
        what = f"{count:,} rows, {workers} worker{'s' * (workers > 1)}"
        sizes = {"ours": wall, "rows": count, "workers": workers}
        timings = {name: Timing(0.0, float(value), 0, rounds) for name, value in sizes.items()}
        yield Row(SUBJECT, what, "", f"{rate:,.0f} rows/s and core", None, f"{seconds(wall)} on the clock", timings)
    yield Row(SUBJECT, "strong scaling: the same rows on two workers", "", f"{walls[1] / walls[2]:.2f} x faster", None, "of at most 2 x")
    yield Row(
        SUBJECT,
        "weak scaling: twice the rows on two workers",
        "",
        f"{100 * walls[0] / walls[2]:.0f} % of the rate",
        None,
        "of at most 100 %",
    )
    median = {job: one["median"][f"{job}@0"] for job in jobs}
    yield from _overhead(small, median)
    yield from _mllib(small, median, {job: one["found"][f"{job}@0"] for job in jobs})


def _overhead(count: int, median: dict[str, float]) -> Iterator[Row]:
    subject = f"{SUBJECT}; {count:,} rows, one worker"
    for job, theirs, what, most in (
        ("evaluate", "grouped_identity", "an identity mapInArrow over the same columns, brought together by query", 1.5),
        ("broadcast", "grouped_identity", "the same, judgments broadcast", None),
        ("evaluate", "identity", "an identity mapInArrow over the same columns as they lie, without a shuffle", None),
    ):
        ratio = median[job] / median[theirs]
        target, met = ("", None) if most is None else (f"at most {most:g} x", ratio <= most)
        behind = f"{seconds(median[job])} against {seconds(median[theirs])}; scan in the JVM {seconds(median['scan'])}"
        yield Row(subject, what, target, f"{ratio:.2f} x", met, behind)


def _mllib(count: int, median: dict[str, float], found: dict[str, dict[str, float]]) -> Iterator[Row]:
    """Values of binary grades beside MLlib's, over the queries with a relevant document."""
    subject = f"Spark, standalone on loopback: nDCG@10 and AP of binary grades, {count:,} rows, one worker"
    ours = found["ours_binary"]
    for job, name in (("ranking_metrics", "RankingMetrics"), ("ranking_evaluator", "RankingEvaluator")):
        theirs = found[job]
        gaps = ", ".join(f"{measure} {theirs[measure]:.6f}, ours {ours[measure]:.6f}" for measure in ("nDCG@10", "AP"))
        times = f"{seconds(median[job])} against {seconds(median['ours_binary'])}"
        ratio = median[job] / median["ours_binary"]
        yield Row(subject, f"MLlib's {name}, lists built from the same rows", "", f"takes {ratio:.1f} x as long", None, f"{times}; {gaps}")
