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
SMALL, LARGE = 3_000_000, 6_000_000
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


def measured(workers: int, rounds: int, jobs: str, rows: int) -> dict[str, Any]:
    """What the program says of some jobs."""
    if not PYTHON.exists():
        raise BenchmarkError(f"{PYTHON}: not found; make .venv-cluster/.installed first")
    qrels, grouped, _ = large_files(rows)
    command = (str(PYTHON), str(PROGRAM), str(workers), str(rounds), jobs, str(judgments_as_parquet(qrels)), str(grouped))
    said: dict[str, Any] = json.loads(Contender(command, 1).run().said.splitlines()[-1])
    return said


def _rate(rows: int, said: dict[str, Any], workers: int) -> float:
    return float(rows / said["median"]["evaluate"] / workers)


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """Equal values first; then scaling, overhead, and MLlib."""
    rounds = 1 if quick else 3
    small, large = (SMALL // 10, LARGE // 10) if quick else (SMALL, LARGE)
    one_small = measured(1, rounds, "evaluate,broadcast,identity,grouped_identity,scan", small)
    one_large, two_large = measured(1, rounds, "evaluate", large), measured(2, rounds, "evaluate", large)
    qrels, grouped, _ = large_files(large)
    whole = Contender(evaluation(qrels, grouped), 1).run()
    alone = {name: value for name, value in means_of(whole.reported()).items() if name in two_large["found"]["evaluate"]}
    require_equal("Spark", two_large["found"]["evaluate"], alone, 0.0)
    require_equal("Spark, judgments broadcast", one_small["found"]["broadcast"], one_small["found"]["evaluate"], 0.0)
    first = _rate(small, one_small, 1)
    yield _said(f"{small:,} rows, one worker", f"{first:,.0f} rows/s and core", one_small["median"]["evaluate"], rows=small, workers=1)
    rate = _rate(large, one_large, 1)
    yield _said(f"{large:,} rows, one worker", f"{rate:,.0f} rows/s and core", one_large["median"]["evaluate"], rows=large, workers=1)
    rate = _rate(large, two_large, 2)
    yield _said(f"{large:,} rows, two workers", f"{rate:,.0f} rows/s and core", two_large["median"]["evaluate"], rows=large, workers=2)
    strong, weak = (one["median"]["evaluate"] / two_large["median"]["evaluate"] for one in (one_large, one_small))
    yield Row(SUBJECT, "strong scaling: the same rows on two workers", "", f"{strong:.2f} x faster", None, "of at most 2")
    yield Row(SUBJECT, "weak scaling: twice the rows on two workers", "", f"{100 * weak:.0f} % of the rate", None, "of at most 100 %")
    yield from _overhead(small, one_small["median"])
    yield from _mllib(small, measured(1, 1, "ours_binary,ranking_metrics,ranking_evaluator", small))


def _said(what: str, reached: str, wall: float, **sizes: float) -> Row:
    return Row(SUBJECT, what, "", reached, None, f"{seconds(wall)} on the clock", {"ours": Timing(0.0, wall, 0, 1)} | _sizes(**sizes))


def _sizes(rows: float, workers: float) -> dict[str, Timing]:
    return {"rows": Timing(0.0, rows, 0, 1), "workers": Timing(0.0, workers, 0, 1)}


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


def _mllib(count: int, said: dict[str, Any]) -> Iterator[Row]:
    """Values of binary grades beside MLlib's, over the queries with a relevant document."""
    subject = f"{SUBJECT.split(':', maxsplit=1)[0]}: nDCG@10 and AP of binary grades, {count:,} rows, one worker"
    ours = said["found"]["ours_binary"]
    for job, name in (("ranking_metrics", "RankingMetrics"), ("ranking_evaluator", "RankingEvaluator")):
        theirs = said["found"][job]
        gaps = ", ".join(f"{measure} {theirs[measure]:.6f}, ours {ours[measure]:.6f}" for measure in ("nDCG@10", "AP"))
        ratio = said["median"][job] / said["median"]["ours_binary"]
        times = f"{seconds(said['median'][job])} against {seconds(said['median']['ours_binary'])}"
        yield Row(subject, f"MLlib's {name}, lists built from the same rows", "", f"{ratio:.1f} x faster", None, f"{times}; {gaps}")
