"""Whole jobs over two runs: compare, its page, robustness, and one of the runs as Parquet and as a
frame of categories.

With ``--full`` each run has 7 million lines, and the targets are for these; without it one million,
in which the start is a large part. Columns are copied and text is not, so that their rows count the
least of all rounds: a virtual machine that has returned free memory to its host needs ten times as
long to touch it first, now in one round and now in another.
"""

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
FEWER = 1000
COMPARE_SECONDS, REPORT_SECONDS, ROBUST_SECONDS = 1.5, 5.0, 6.0
COLUMNS_COST = 2.0


def rows(*, quick: bool, full: bool) -> Iterator[Row]:
    """The commands on the clock, then both forms of columns against the text."""
    queries = QUERIES if full else FEWER
    qrels, first = trec_files(queries)
    files = tuple(map(str, (qrels, first, second_run(queries))))
    rounds = 1 if quick else 5
    require_same_bits(files)
    with tempfile.TemporaryDirectory() as folder:
        compare = (IDEALRANK, "compare", *files, "--format", "json")
        commands = {
            "`compare`, with rankings": (compare, COMPARE_SECONDS),
            "`compare --report`": (
                (*compare, "--report", str(Path(folder) / "page.html")),
                REPORT_SECONDS,
            ),
            "`robust`": ((IDEALRANK, "robust", *files, "--format", "json"), ROBUST_SECONDS),
        }
        samples = in_turns(
            {name: Contender(command, rounds) for name, (command, _) in commands.items()}
        )
    for name, (_, most) in commands.items():
        subject = f"{name}: two runs of {queries:,} queries x 1,000 documents, default measures"
        yield within(subject, most if full else None, Timing.of(samples[name]), samples[name])
    at_most = COLUMNS_COST if full else None
    yield parquet_row(queries, at_most, rounds)
    yield categories_row(queries, at_most, rounds)


def require_same_bits(files: tuple[str, ...]) -> None:
    """The comparison under several numbers of threads."""
    said = {
        Contender((IDEALRANK, "compare", *files, "--format", "json", "--threads", threads), 1)
        .run()
        .said
        for threads in "12"
    }
    if len(said) != 1:
        raise BenchmarkError("1 and 2 threads gave different comparisons")


def parquet_row(queries: int, at_most: float | None, rounds: int) -> Row:
    """Whole processes."""
    qrels, run = trec_files(queries)
    files = {"text": run, "parquet": parquet_file(queries)}
    contenders = {name: Contender(evaluation(qrels, path), rounds) for name, path in files.items()}
    samples = in_turns(contenders)
    text, parquet = (means_of(samples[name][0].reported()) for name in ("text", "parquet"))
    require_equal("Parquet", parquet, text, 0)
    timings = {name: Timing.least(found) for name, found in samples.items()}
    subject = f"Parquet, {queries:,} queries x 1,000 documents, evaluated"
    return costing(
        subject,
        f"the same run as TREC text, the least of {rounds}",
        at_most,
        timings["parquet"],
        timings["text"],
    )


def categories_row(queries: int, at_most: float | None, rounds: int) -> Row:
    """The call alone, of a frame that is in memory."""
    qrels, run = trec_files(queries)
    files = {"text": run, "categories": parquet_file(queries)}
    samples = in_turns(
        {
            name: Contender((sys.executable, str(SCRIPT), name, str(qrels), str(path)), rounds)
            for name, path in files.items()
        }
    )
    text, categories = (samples[name][0].reported()["mean"] for name in files)
    require_equal("categories", categories, text, 0)
    timings = {name: Timing.least_of_calls(found) for name, found in samples.items()}
    subject = f"Polars, categorical queries and documents, {queries:,} x 1,000, `evaluate`"
    return costing(
        subject,
        f"the same call for TREC text, the least of {rounds}",
        at_most,
        timings["categories"],
        timings["text"],
    )
