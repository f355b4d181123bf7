"""Whole jobs over two runs of 7 million lines: compare, its page, robustness, and the same run as Parquet and as a frame of categories."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from jobs_stats import within
from jobs_text import IDEALRANK, QUERIES, evaluation, means_of
from measuring import BenchmarkError, Contender, Timing, in_turns, require_equal
from report import Row, costing
from workload import parquet_file, second_run, trec_files

SCRIPT = Path(__file__).resolve().parent / "contenders" / "frames.py"
SUBJECT = f"two runs of {QUERIES:,} queries x 1,000 documents, default measures"
COMPARE_SECONDS, REPORT_SECONDS, ROBUST_SECONDS = 1.5, 5.0, 6.0
COLUMNS_COST = 2.0


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """The commands on the clock, then both forms of columns against the text."""
    qrels, first = trec_files(QUERIES)
    files = tuple(map(str, (qrels, first, second_run(QUERIES))))
    rounds = 1 if quick else 3
    require_same_bits(files)
    with tempfile.TemporaryDirectory() as folder:
        compare = (IDEALRANK, "compare", *files, "--format", "json")
        commands = {
            "`compare`, with rankings": (compare, COMPARE_SECONDS),
            "`compare --report`": ((*compare, "--report", str(Path(folder) / "page.html")), REPORT_SECONDS),
            "`robust`": ((IDEALRANK, "robust", *files, "--format", "json"), ROBUST_SECONDS),
        }
        samples = in_turns({name: Contender(command, rounds) for name, (command, _) in commands.items()})
    for name, (_, most) in commands.items():
        yield within(f"{name}: {SUBJECT}", most, Timing.of(samples[name]), samples[name])
    yield parquet_row(qrels, first, rounds)
    yield categories_row(qrels, first, rounds)


def require_same_bits(files: tuple[str, ...]) -> None:
    """The comparison under several numbers of threads."""
    said = {Contender((IDEALRANK, "compare", *files, "--format", "json", "--threads", threads), 1).run().said for threads in "12"}
    if len(said) != 1:
        raise BenchmarkError("1 and 2 threads gave different comparisons")


def parquet_row(qrels: Path, run: Path, rounds: int) -> Row:
    """Whole processes."""
    files = {"text": run, "parquet": parquet_file(QUERIES)}
    contenders = {name: Contender(evaluation(qrels, path), rounds) for name, path in files.items()}
    samples = in_turns(contenders)
    text, parquet = (means_of(samples[name][0].reported()) for name in ("text", "parquet"))
    require_equal("Parquet", parquet, text, 0)
    timings = {name: Timing.of(found) for name, found in samples.items()}
    subject = f"Parquet, {QUERIES:,} queries x 1,000 documents, evaluated"
    return costing(subject, "the same run as TREC text", COLUMNS_COST, timings["parquet"], timings["text"])


def categories_row(qrels: Path, run: Path, rounds: int) -> Row:
    """The call alone, of a frame that is in memory."""
    files = {"text": run, "categories": parquet_file(QUERIES)}
    samples = in_turns(
        {name: Contender((sys.executable, str(SCRIPT), name, str(qrels), str(path)), rounds) for name, path in files.items()}
    )
    text, categories = (samples[name][0].reported()["mean"] for name in files)
    require_equal("categories", categories, text, 0)
    timings = {name: Timing.of_calls(found) for name, found in samples.items()}
    subject = f"Polars, categorical queries and documents, {QUERIES:,} x 1,000, `evaluate`"
    return costing(subject, "the same call for TREC text", COLUMNS_COST, timings["categories"], timings["text"])
