"""Compressed files are unpacked step by step, and not without end."""

import bz2
import gzip
import lzma
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

import idealrank as ir
from idealrank.io import sources
from idealrank.io.read import read_qrels
from idealrank.io.sources import unpacked

MEGABYTE = 1 << 20
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=() if kind == "zstandard" else pytest.mark.slow) for kind in PACKERS],
)
def test_a_bomb_unpacks_in_small_steps(kind: str) -> None:
    """In one step it had been as large in memory as in all."""
    bomb = PACKERS[kind](bytes(128 * MEGABYTE))
    tracemalloc.start()
    try:
        largest = total = 0
        for piece in unpacked("a", kind, bomb):
            largest, total = max(largest, len(piece)), total + len(piece)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == 128 * MEGABYTE
    assert largest <= 40 * MEGABYTE
    assert peak <= 100 * MEGABYTE


@pytest.mark.parametrize("kind", PACKERS)
def test_a_bomb_is_refused_at_the_limit(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "LIMIT", 3 * MEGABYTE)
    monkeypatch.setattr(sources, "RATIO", 2)
    path = tmp_path / "a.qrels"
    path.write_bytes(PACKERS[kind](b"\n" * 5 * MEGABYTE))
    with pytest.raises(
        ir.InputError,
        match=rf"found {kind} data that unpack to more than 3,145,728 bytes from .*unpack it first",
    ):
        read_qrels(path)
    path.write_bytes(PACKERS[kind](b"\n" * MEGABYTE + b"q 0 d 1\n"))
    assert read_qrels(path)["q"] == {"d": 1.0}


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize(
    "size",
    [
        0,
        1,
        1000,
        pytest.param(MEGABYTE - 1, marks=pytest.mark.slow),
        MEGABYTE,
        MEGABYTE + 1,
        pytest.param(3 * MEGABYTE, marks=pytest.mark.slow),
    ],
)
def test_every_byte_of_every_stream_arrives(kind: str, size: int) -> None:
    """Of several streams in one file, with zeros between and after them."""
    first, second = bytes(range(1, 251)) * (size // 250 + 1), b"x" * size
    data = (
        PACKERS[kind](first[:size])
        + bytes(70_000)
        + PACKERS[kind](second)
        + PACKERS[kind](b"end")
        + bytes(5)
    )
    assert b"".join(unpacked("a", kind, data)) == first[:size] + second + b"end"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full"])
def test_a_device_without_an_end_is_refused(device: str) -> None:
    if not Path(device).exists():
        pytest.skip(f"this system has no {device}")
    with pytest.raises(
        ir.InputError, match=f"{device}: found a device, expected a file, a pipe or standard input"
    ):
        read_qrels(device)
    with pytest.raises(ir.InputError, match="/dev/null: found no judgments"):
        read_qrels("/dev/null")


def test_a_terminated_process_leaves_no_unfinished_file(tmp_path: Path) -> None:
    """As timeout, systemd and continuous integration end it; the code is that of the shell, 128 +
    15.
    """
    (tmp_path / "a.qrels").write_text("q 0 d 1\n", encoding="utf-8")
    (tmp_path / "a.run").write_text("q Q0 d 1 1 t\n", encoding="utf-8")
    script = (
        "import os, signal, sys\n"
        "from idealrank.cli import main, output\n"
        "def pieces(_):\n"
        "    yield b'half'\n"
        "    print(os.listdir(), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    yield b'whole'\n"
        "output._batches = pieces\n"
        "main.main(['evaluate', 'a.qrels', 'a.run', '-o', 'out.txt'])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert ".unfinished" in ended.stdout
    assert (ended.returncode, "Traceback" in ended.stderr) == (143, False), ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.qrels", "a.run"]
