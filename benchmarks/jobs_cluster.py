"""Spark on one machine: rows a second and core on one worker and two, beside an identity
`mapInArrow` and beside MLlib.

Needs the environment of `make test-cluster` and Java 17, and is run only when asked for: ``--full
--only cluster``.
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
        types = csv.ConvertOptions(
            include_columns=["query", "document", "grade"],
            column_types={"query": "string", "document": "string"},
        )
        pq.write_table(csv.read_csv(qrels, names, csv.ParseOptions(delimiter=" "), types), path)
    return path


def measured(workers: int, rounds: int, jobs: str, *counts: int) -> dict[str, Any]:
    """Run jobs on a cluster over workloads of the given numbers of rows, and return the program's
    report.
    """
    if not PYTHON.exists():
        raise BenchmarkError(f"{PYTHON}: not found; make .venv-cluster/.installed first")
    files = [
        str(path)
        for qrels, grouped, _ in map(large_files, counts)
        for path in (judgments_as_parquet(qrels), grouped)
    ]
    said: dict[str, Any] = json.loads(
        Contender((str(PYTHON), str(PROGRAM), str(workers), str(rounds), jobs, *files), 1)
        .run()
        .said
    )
    return said


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """Equal values first; then scaling, overhead, and MLlib."""
    rounds, small, large = (1, SMALL // 10, LARGE // 10) if quick else (2, SMALL, LARGE)
    jobs = (
        "evaluate",
        "broadcast",
        "identity",
        "grouped_identity",
        "scan",
        "ours_binary",
        "ranking_metrics",
        "ranking_evaluator",
    )
    one = measured(1, rounds, ",".join([*(f"{job}@0" for job in jobs), "evaluate@1"]), small, large)
    two = measured(2, rounds, "evaluate@0", large)
    qrels, grouped, _ = large_files(large)
    whole = means_of(Contender(evaluation(qrels, grouped), 1).run().reported())
    on_spark = two["found"]["evaluate@0"]
    require_equal(
        "Spark", on_spark, {name: value for name, value in whole.items() if name in on_spark}, 0.0
    )
    require_equal(
        "Spark, judgments broadcast", one["found"]["broadcast@0"], one["found"]["evaluate@0"], 0.0
    )
    timings = [
        _timing(said, job, rounds)
        for said, job in ((one, "evaluate@0"), (one, "evaluate@1"), (two, "evaluate@0"))
    ]
    for timing, count, workers in zip(timings, (small, large, large), (1, 1, 2), strict=True):
        sizes = {
            name: Timing(0.0, float(value), 0, rounds)
            for name, value in (("rows", count), ("workers", workers))
        }
        what, rate = (
            f"{count:,} rows, {workers} worker{'s' * (workers > 1)}",
            count / timing.wall / workers,
        )
        clock, processor = seconds(timing.wall), seconds(timing.cpu)
        behind = (
            f"{clock} on the clock; of the workers' processors {processor}, "
            f"{count / timing.cpu:,.0f} rows a second"
        )
        yield Row(
            SUBJECT,
            what,
            "",
            f"{rate:,.0f} rows/s and core",
            None,
            behind,
            {"ours": timing} | sizes,
        )
    first, alone, together = timings
    clock, processor = alone.wall / together.wall, alone.cpu / together.cpu
    behind = f"of at most 2 x on the clock; processor time {1 / processor:.2f} x"
    yield Row(
        SUBJECT,
        "strong scaling: the same rows on two workers",
        "",
        f"{clock:.2f} x faster",
        None,
        behind,
    )
    clock, processor = first.wall / together.wall, 2 * first.cpu / together.cpu
    behind = (
        f"of at most 100 % on the clock; rows a second of processor time {100 * processor:.0f} %"
    )
    yield Row(
        SUBJECT,
        "weak scaling: twice the rows on two workers",
        "",
        f"{100 * clock:.0f} % of the rate",
        None,
        behind,
    )
    at_small = {job: _timing(one, f"{job}@0", rounds) for job in jobs}
    yield from _overhead(small, at_small)
    yield from _mllib(small, at_small, {job: one["found"][f"{job}@0"] for job in jobs})


def _timing(said: dict[str, Any], job: str, rounds: int) -> Timing:
    return Timing(said["processor"][job], said["clock"][job], 0, rounds)


def _overhead(count: int, timings: dict[str, Timing]) -> Iterator[Row]:
    subject = f"{SUBJECT}; {count:,} rows, one worker"
    for job, theirs, what, most in (
        (
            "evaluate",
            "grouped_identity",
            "an identity mapInArrow over the same columns, brought together by query",
            1.5,
        ),
        ("broadcast", "grouped_identity", "the same, judgments broadcast", None),
        (
            "evaluate",
            "identity",
            "an identity mapInArrow over the same columns as they lie, without a shuffle",
            None,
        ),
    ):
        ours, other = timings[job], timings[theirs]
        ratio = ours.wall / other.wall
        target, met = ("", None) if most is None else (f"at most {most:g} x", ratio <= most)
        behind = (
            f"{seconds(ours.wall)} against {seconds(other.wall)} on the clock; of the "
            f"worker's processor {seconds(ours.cpu)} against "
            f"{seconds(other.cpu)}; scan in the JVM {seconds(timings['scan'].wall)}"
        )
        yield Row(
            subject, what, target, f"{ratio:.2f} x", met, behind, {"ours": ours, "theirs": other}
        )


def _mllib(
    count: int, timings: dict[str, Timing], found: dict[str, dict[str, float]]
) -> Iterator[Row]:
    """Values of binary grades beside MLlib's, over the queries with a relevant document."""
    subject = (
        f"Spark, standalone on loopback: nDCG@10 and AP of binary grades, {count:,} rows, one "
        f"worker"
    )
    ours, our_timing = found["ours_binary"], timings["ours_binary"]
    for job, name in (
        ("ranking_metrics", "RankingMetrics"),
        ("ranking_evaluator", "RankingEvaluator"),
    ):
        theirs, timing = found[job], timings[job]
        values = ", ".join(
            f"{measure} {theirs[measure]:.6f}, ours {ours[measure]:.6f}"
            for measure in ("nDCG@10", "AP")
        )
        times = f"{seconds(timing.wall)} against {seconds(our_timing.wall)} on the clock"
        ratio = timing.wall / our_timing.wall
        what = f"MLlib's {name}, lists built from the same rows"
        yield Row(
            subject,
            what,
            "",
            f"takes {ratio:.1f} x as long",
            None,
            f"{times}; {values}",
            {"ours": our_timing, "theirs": timing},
        )
