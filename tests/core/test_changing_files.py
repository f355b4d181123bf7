"""Inputs that change while they are read: the result may be worthless, the process goes on.

Each test runs in a process of its own, for what it looks for ends one.
"""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

_OVERWRITTEN = """
import threading, time
import numpy as np
from idealrank import _kernel

count, line = 30_000, b"q1 Q0 document%07d 1 0.5 t\\n"
order = np.random.default_rng(1).permutation(count)
text = np.frombuffer(bytearray(b"".join(line % number for number in order)), np.uint8)
rows = text.reshape(count, -1)
qrels = _kernel.read_text(_kernel.Text([b"".join(b"q1 0 document%07d 1\\n" % n for n in range(0, count, 50))], "qrels"), duplicates="error")
digits = np.zeros(rows.shape[1], np.uint8)
digits[14:21] = 1
stop = threading.Event()


def overwrite():
    while not stop.is_set():
        for first in range(0, count, 2000):
            rows[first : first + 2000] ^= digits


writer = threading.Thread(target=overwrite)
writer.start()
end = time.monotonic() + 2
while time.monotonic() < end:
    try:
        _kernel.align(qrels, _kernel.Text([text], "run"), ties="descending", duplicates="twice", threads=1)
    except _kernel.ParseError as error:
        assert error.args[0] in ("changed", "duplicate"), error
stop.set()
writer.join()
print("done")
"""  # noqa: E501

_ARRAYS = """
import threading, time
import numpy as np
from idealrank import _kernel

labels, scores = np.ones(20_000, np.int64), np.arange(20_000, dtype=np.float64)
offsets, order = np.arange(0, 20_001, 10), np.arange(20_000)
stop = threading.Event()


def overwrite():
    while not stop.is_set():
        offsets[5:900:7] += 1 << 40
        order[::3] += 1 << 40
        offsets[5:900:7] -= 1 << 40
        order[::3] -= 1 << 40


writer = threading.Thread(target=overwrite)
writer.start()
end = time.monotonic() + 1
while time.monotonic() < end:
    for work in (
        lambda: _kernel.rank_groups(labels, scores, offsets, order=order, threads=1),
        lambda: _kernel.fingerprint_lists(labels, offsets, order=order, threads=1),
    ):
        try:
            work()
        except ValueError:
            pass
stop.set()
writer.join()
print("done")
"""


_CUT = """
import os, pathlib, sys
import idealrank
from idealrank.errors import FileFormatError
from idealrank.io.sources import open_sources
from idealrank.io.complaints import Notes

path = pathlib.Path(sys.argv[1])
kind = path.suffix
if kind == ".run":
    lines = "".join(f"q{i // 100} Q0 d{i} 1 {i} t\\n" for i in range(400_000))
elif kind == ".csv":
    lines = "qid,docid,rel\\n" + "".join(f"q{i // 100},d{i},1\\n" for i in range(400_000))
path.write_text(lines)
if kind == ".run":
    run = idealrank.read_run(path)
    os.truncate(path, 100_000)
    reads = (lambda: idealrank.evaluate({"q0": {"d1": 1}}, run, "RR"), lambda: run.ranking("q1"), lambda: run.n_rows)
else:
    import idealrank.io.read as reading

    def opened(*arguments):
        found = open_sources(*arguments)
        os.truncate(path, 100_000)
        return found

    reading.open_sources = opened
    reads = (lambda: idealrank.read_qrels(path),)
for read in reads[:2]:
    try:
        print("result", read())
    except FileFormatError as error:
        print(error)
"""  # noqa: E501

_FOREIGN = """
import faulthandler, mmap, os, pathlib, sys
import idealrank

faulthandler.enable()
folder = pathlib.Path(sys.argv[1])
(folder / "a.run").write_text("q Q0 d 1 2 t\\n")
run = idealrank.read_run(folder / "a.run")
(folder / "other").write_bytes(bytes(100_000))
with open(folder / "other", "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
os.truncate(folder / "other", 0)
if sys.argv[2] == "afterwards":
    del run
mapped[50_000]
"""


def run(script: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


posix = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows refuses to shorten a mapped file"
)


@posix
@pytest.mark.parametrize(("name", "reads"), [("a.run", 2), ("a.csv", 1)])
def test_a_file_that_is_cut_short_while_it_is_read_is_refused_by_name(
    tmp_path: Path, name: str, reads: int
) -> None:
    done = run(_CUT, str(tmp_path / name))

    line = (
        f"{tmp_path / name}: found a file that became shorter during reading, expected an "
        f"unchanged file"
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert done.stdout == f"{line}; evaluate a copy if other programs change the file\n" * reads


@posix
@pytest.mark.parametrize("when", ["meanwhile", "afterwards"])
def test_a_bus_error_elsewhere_goes_where_it_went_before(tmp_path: Path, when: str) -> None:
    done = run(_FOREIGN, str(tmp_path), when)

    assert done.returncode == -signal.SIGBUS
    assert "Fatal Python error: Bus error" in done.stderr


@pytest.mark.slow
def test_tied_lines_that_change_while_they_are_sorted_harm_nothing() -> None:
    done = run(_OVERWRITTEN)

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.mark.slow
def test_arrays_that_change_while_they_are_ranked_harm_nothing() -> None:
    done = run(_ARRAYS)

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
