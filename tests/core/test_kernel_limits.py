"""Inputs at the edge of what is reasonable: values right, memory bounded. The full sizes are slow;
the default run has small ones.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from idealrank._kernel import ParseError, Text, align, lint_text, read_text

MEGABYTE = 1 << 20

# Prints the peak memory in kB, then what the alignment holds.
MEASURE = """
import mmap, resource, sys
from idealrank._kernel import Text, align, read_text
def text(path, kind):
    with open(path, "rb") as file:
        return Text([mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)], kind)
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
aligned = align(read_text(text(sys.argv[1], "qrels"), duplicates="error"), text(sys.argv[2], "run"), ties="descending")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start, aligned.n_queries, len(aligned.hit_row), int(aligned.hit_rank.max()))
"""  # noqa: E501


def blocks(n: int) -> Iterator[range]:
    return (range(first, min(first + 100_000, n)) for first in range(0, n, 100_000))


def many_queries(n: int, run: Path, qrels: Path) -> tuple[int, int, int]:
    with run.open("w", encoding="ascii") as lines, qrels.open("w", encoding="ascii") as judgments:
        for block in blocks(n):
            lines.write(
                "".join(
                    f"{1_000_000 + i} Q0 {i * 7919 % 9_000_011} 1 {i % 977 / 64} bm25\n"
                    for i in block
                )
            )
            judgments.write("".join(f"{1_000_000 + i} 0 {i * 7919 % 9_000_011} 1\n" for i in block))
    return n, n, 1


def only_in_the_run(n: int, run: Path, qrels: Path) -> tuple[int, int, int]:
    many_queries(n, run, qrels)
    qrels.write_text("1000000 0 0 1\n", encoding="ascii")
    return n, 1, 1


def many_documents(n: int, run: Path, qrels: Path) -> tuple[int, int, int]:
    with run.open("w", encoding="ascii") as lines, qrels.open("w", encoding="ascii") as judgments:
        for block in blocks(n):
            lines.write(
                "".join(f"7 Q0 document-{i} 1 {i * 7919 % 9_000_011 / 64} bm25\n" for i in block)
            )
            judgments.write("".join(f"7 0 document-{i} {i % 3}\n" for i in block))
    return 1, n, n


def scattered_lines(n: int, run: Path, qrels: Path) -> tuple[int, int, int]:
    with run.open("w", encoding="ascii") as lines:
        for block in blocks(n):
            lines.write("".join(f"{1_000_000 + i % 7000} Q0 {i} 1 {-i / 64} bm25\n" for i in block))
    qrels.write_text("".join(f"{1_000_000 + i} 0 {i} 1\n" for i in range(7000)), encoding="ascii")
    return 7000, 7000, 1


def one_long_line(n: int, run: Path, qrels: Path) -> tuple[int, int, int]:
    run.write_text("1 Q0 " + "x" * (10 * n) + " 1 1 tag\n", encoding="ascii")
    qrels.write_text("1 0 " + "x" * (10 * n) + " 1\n", encoding="ascii")
    return 1, 1, 1


Writer = Callable[[int, Path, Path], tuple[int, int, int]]
WRITERS: list[Writer] = [
    many_queries,
    only_in_the_run,
    many_documents,
    scattered_lines,
    one_long_line,
]


def measure(write: Writer, n: int, folder: Path) -> float:
    """Check the result; peak memory over the size of the input."""
    run, qrels = folder / "a.run", folder / "a.qrels"
    expected = write(n, run, qrels)
    output = subprocess.run(
        [sys.executable, "-c", MEASURE, qrels, run], check=True, capture_output=True, text=True
    ).stdout.split()
    assert tuple(map(int, output[1:])) == expected
    return int(output[0]) * 1024 / (run.stat().st_size + qrels.stat().st_size)


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_extreme_shapes_are_aligned(write: Writer, tmp_path: Path) -> None:
    measure(write, 70_000, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is in kilobytes on Linux only")
@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_ten_million_of_anything_fit_into_three_times_the_input(
    write: Writer, tmp_path: Path
) -> None:
    assert measure(write, 10_000_000, tmp_path) <= 3.0


def test_a_line_of_a_megabyte_of_anything_is_told_shortly() -> None:
    for byte in (b"x", b" ", b"\t", b"\x00", b"\r", b"#", b"1", b"nan", b"\xff", b"-"):
        line = b"q Q0 d 1 " + byte * MEGABYTE
        for data in (line, line + b"\n", b"p Q0 d 1 1 t\n" + line + b"\nr Q0 d 1 1 t\n"):
            with pytest.raises(ParseError) as error:
                align(
                    read_text(Text([b""], "qrels"), duplicates="error"),
                    Text([data], "run"),
                    ties="input",
                )
            assert len(error.value.args[3]) <= 120
            assert len(error.value.args[4]) <= 120
            assert (
                sum(
                    count
                    for kind, count, _ in lint_text(Text([data], "run"))
                    if kind in ("fields", "number", "control")
                )
                == 1
            )


def test_every_truncation_of_a_text_is_read_or_told() -> None:
    data = b"q1 Q0 d1 1 12.5 tag\r\nq1\tQ0\td 2\t2\t1e1\ttag\n# comment\n\n"
    data += b"q2 Q0 d1 1 -0.125 a long tag of many words that fills more than a block\n"
    data += data
    for end in range(len(data)):
        for start in (0, end // 2):
            piece = data[start:end]
            kinds = {kind for kind, _, _ in lint_text(Text([piece], "run"))}
            if kinds & {"fields", "number", "nan", "control", "duplicate"}:
                with pytest.raises(ParseError) as error:
                    read_text(Text([piece], "run"), duplicates="error")
                assert error.value.args[0] in kinds
            else:
                assert ("no-data" in kinds) == (
                    read_text(Text([piece], "run"), duplicates="error").n_rows == 0
                )


def test_random_bytes_never_break_the_kernel() -> None:
    rng = np.random.default_rng(11)
    for size in [*range(200), 1000, 5000, 50_000]:
        data = rng.choice(
            np.frombuffer(b"\n\n\t    \r#q0d1.5e-+naif\x00\x1f\x80\xff", np.uint8), size
        ).tobytes()
        for text in (Text([data, data], "qrels"), Text([data, data], "run")):
            reports = lint_text(text, threads=3, chunk_bytes=64)
            assert all(count >= len(examples) for _, count, examples in reports)
