"""Inputs that change while they are read: the result may be worthless, the process goes on.

Each test runs in a process of its own, for what it looks for ends one.
"""

import subprocess
import sys

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
end = time.monotonic() + 5
while time.monotonic() < end:
    try:
        _kernel.align(qrels, _kernel.Text([text], "run"), ties="descending", duplicates="twice", threads=1)
    except _kernel.ParseError as error:
        assert error.args[0] in ("changed", "duplicate"), error
stop.set()
writer.join()
print("done")
"""

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
end = time.monotonic() + 3
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


def run(script: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=120, check=False)


def test_tied_lines_that_change_while_they_are_sorted_harm_nothing() -> None:
    done = run(_OVERWRITTEN)

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_arrays_that_change_while_they_are_ranked_harm_nothing() -> None:
    done = run(_ARRAYS)

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
