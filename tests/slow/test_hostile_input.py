"""Input of extreme shape: right numbers, in bounded memory. Each job runs in a process of its own,
whose peak is measured.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
MEGABYTE = 1_000_000
INTERPRETER = 60 * MEGABYTE  # Python and NumPy before they do anything
STREAMING = 150 * MEGABYTE  # beyond the mapped file, where the lines of a query stand together
PRIME = 7_368_787  # scores are a permutation of 0 ... n - 1: multiples of it modulo n


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder for files of hundreds of megabytes, emptied at once and not when pytest finds the
    time.
    """
    yield tmp_path
    for path in tmp_path.iterdir():
        path.unlink()


def write(path: Path, lines: Iterable[bytes]) -> Path:
    """A file of many lines, written through a large buffer."""
    with path.open("wb", buffering=1 << 22) as file:
        file.writelines(lines)
    return path


def run_job(*arguments: object) -> dict[str, Any]:
    """What the job printed."""
    command = [sys.executable, "-m", "tests.slow.hostile_job", *map(str, arguments)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    size = sum(argument.stat().st_size for argument in arguments if isinstance(argument, Path))
    print(
        f"{arguments[0]}: input {size / MEGABYTE:.0f} MB, peak {result['peak'] / MEGABYTE:.0f} MB"
    )
    result["input"] = size
    return result


def assert_bounded(result: dict[str, Any]) -> None:
    """At most three times the input, beside the interpreter."""
    assert result.get("kernel_peak", result["peak"]) <= 3 * result["input"] + INTERPRETER


@pytest.fixture
def small_qrels(folder: Path) -> Path:
    """One judgment, for runs that are the hostile part."""
    return write(folder / "small.qrels", [b"q1 0 d1 1\n"])


def test_a_tag_of_100_megabytes_is_a_tag(folder: Path, small_qrels: Path) -> None:
    """The rest of the line belongs to the tag, however long; the lines around it count."""
    run = write(
        folder / "run",
        [b"q1 Q0 d0 1 3 t\n", b"q1 Q0 d1 2 2 ", b"x" * 100 * MEGABYTE, b"\n", b"q1 Q0 d2 3 9 t\n"],
    )
    result = run_job("align", small_qrels, run, 0)
    assert (result["hits"], result["first_ranks"], result["returned"]) == (1, [3], 3)
    assert_bounded(result)


def test_an_id_of_100_megabytes_is_an_id(folder: Path) -> None:
    """Nothing cuts an id off."""
    qrels = write(folder / "qrels", [b"q1 0 d1 1\nq1 0 ", b"x" * 100 * MEGABYTE, b" 2\n"])
    result = run_job("read", qrels)
    assert (result["rows"], result["last_document"], result["value_sum"]) == (
        2,
        100 * MEGABYTE,
        3.0,
    )
    assert_bounded(result)


@pytest.mark.parametrize("byte", [b"x", b" ", b"\0", b"#"])
def test_a_line_of_100_megabytes_of_one_byte(folder: Path, small_qrels: Path, byte: bytes) -> None:
    """No line feed at all: one field, a blank line, a control byte, a comment. The error shows 120
    bytes of it.
    """
    run = write(folder / "run", [byte * 100 * MEGABYTE])
    result = run_job("align", small_qrels, run, 10)
    if byte in b" #":
        assert (result["queries"], result["hits"], result["returned"]) == (1, 0, 0)
    else:
        assert (result["kind"], result["line"], result["shown"]) == (
            "fields" if byte == b"x" else "control",
            1,
            120,
        )
    assert_bounded(result)


def test_ten_million_judged_queries_of_one_document(folder: Path) -> None:
    """Each query has one judgment and one hit, at rank 1."""
    n = 10_000_000
    qrels = write(folder / "qrels", (b"q%d 0 d%d 1\n" % (i, i) for i in range(n)))
    run = write(folder / "run", (b"q%d Q0 d%d 1 %d.5 t\n" % (i, i, i % 100) for i in range(n)))
    result = run_job("align", qrels, run, 10)
    assert (result["queries"], result["hits"], result["in_run"], result["returned"]) == (n, n, n, n)
    assert (result["rank_sum"], result["row_times_rank"], result["tied"]) == (
        n,
        n * (n - 1) // 2,
        0,
    )
    assert_bounded(result)


def test_ten_million_queries_without_judgments(folder: Path, small_qrels: Path) -> None:
    """All but one stand in the run alone; they are counted and named, nothing else."""
    n = 10_000_000
    run = write(folder / "run", (b"q%d Q0 d%d 1 1 t\n" % (i, i) for i in range(n)))
    result = run_job("align", small_qrels, run, 0)
    assert (result["queries"], result["in_run"], result["hits"], result["rank_sum"]) == (n, n, 1, 1)
    assert_bounded(result)


@pytest.mark.parametrize("depth", [0, 1000])
def test_one_query_of_ten_million_documents(folder: Path, depth: int) -> None:
    """Scores are a permutation, so the rank of each judged document is known."""
    n, step = 10_000_000, 1009
    judged = range(0, n, step)
    qrels = write(folder / "qrels", (b"q 0 d%d 1\n" % i for i in judged))
    run = write(folder / "run", (b"q Q0 d%d 1 %d t\n" % (i, i * PRIME % n) for i in range(n)))
    result = run_job("align", qrels, run, depth)
    ranks = [n - i * PRIME % n for i in judged]
    kept = [(row, rank) for row, rank in enumerate(ranks) if depth == 0 or rank <= depth]
    assert (result["queries"], result["returned"], result["judged"], result["hits"]) == (
        1,
        n,
        len(judged),
        len(kept),
    )
    assert result["rank_sum"] == sum(rank for _, rank in kept)
    assert result["row_times_rank"] == sum(row * rank for row, rank in kept)
    assert result["rising"]
    assert_bounded(result)


def test_every_line_scattered(folder: Path) -> None:
    """No line has the query of the line before: each query is put together from all over the
    file.
    """
    queries, length = 1000, 5000
    qrels = write(
        folder / "qrels",
        (b"q%d 0 d%d 1\n" % (q, d) for q in range(queries) for d in range(0, length, 50)),
    )
    run = write(
        folder / "run",
        (
            b"q%d Q0 d%d 1 %d t\n" % (q, d, d * PRIME % length)
            for d in range(length)
            for q in range(queries)
        ),
    )
    result = run_job("align", qrels, run, 0)
    ranks = [length - d * PRIME % length for d in range(0, length, 50)]
    assert (result["queries"], result["hits"], result["returned"]) == (
        queries,
        queries * len(ranks),
        queries * length,
    )
    assert result["rank_sum"] == queries * sum(ranks)
    assert result["row_times_rank"] == sum(
        (q * len(ranks) + place) * rank for q in range(queries) for place, rank in enumerate(ranks)
    )
    assert_bounded(result)


def test_memory_does_not_grow_with_an_ordinary_run(folder: Path) -> None:
    """Lines of a query together: what is held beyond the mapped file stays small, whatever the size
    of the run.
    """
    queries, length = 4000, 1000
    qrels = write(
        folder / "qrels",
        (b"q%d 0 d%d 1\n" % (q, d) for q in range(queries) for d in range(0, length, 50)),
    )
    run = write(
        folder / "run",
        (
            b"q%d Q0 d%d 1 %d t\n" % (q, d, d * PRIME % length)
            for q in range(queries)
            for d in range(length)
        ),
    )
    result = run_job("align", qrels, run, 0)
    assert (result["hits"], result["returned"]) == (queries * 20, queries * length)
    assert result["peak"] - result["input"] <= STREAMING


def evaluated(folder: Path, qrels: Iterable[bytes], run: Iterable[bytes]) -> dict[str, Any]:
    """The default measures through the public function, in bounded memory."""
    result = run_job("evaluate", write(folder / "qrels", qrels), write(folder / "run", run))
    assert_bounded(result)
    return result


def test_evaluating_ten_million_queries_of_one_document(folder: Path) -> None:
    """Each finds its document first but those at every tenth place, whose document nobody
    judged.
    """
    n = 10_000_000
    result = evaluated(
        folder,
        (b"q%d 0 d%d 1\n" % (i, i) for i in range(n)),
        (b"q%d Q0 %s%d 1 1.5 t\n" % (i, b"d" if i % 10 else b"x", i) for i in range(n)),
    )
    assert result["mean"]["nDCG@10"] == result["mean"]["RR"] == 0.9
    assert result["mean"]["P@10"] == pytest.approx(0.09, abs=1e-15)


def test_evaluating_one_query_of_ten_million_documents(folder: Path) -> None:
    """One document of a million is relevant: at ranks 1, 1,000,001, ..."""
    n = 10_000_000
    result = evaluated(
        folder,
        (b"q 0 d%d 1\n" % i for i in range(0, n, 1_000_000)),
        (b"q Q0 d%d 1 %d t\n" % (i, -(i * PRIME % n) if i % 1_000_000 else -i) for i in range(n)),
    )
    assert result["coverage"]["scored"] == 1
    assert result["mean"]["RR"] == 1.0


def test_evaluating_scattered_lines(folder: Path) -> None:
    """No two lines of a query stand together."""
    queries, length = 20_000, 200
    result = evaluated(
        folder,
        (b"q%d 0 d%d 1\n" % (q, d) for q in range(queries) for d in range(0, length, 50)),
        (
            b"q%d Q0 d%d 1 %d t\n" % (q, d, length - d)
            for d in range(length)
            for q in range(queries)
        ),
    )
    assert result["mean"]["RR"] == 1.0
    assert result["mean"]["AP"] == pytest.approx((1 + 2 / 51 + 3 / 101 + 4 / 151) / 4, abs=1e-12)
