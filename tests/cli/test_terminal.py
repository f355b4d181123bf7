"""Terminals, pipes and signals: the bar, Ctrl-C, a reader that leaves, and what a cold start loads
and costs.
"""

import io
import os
import re
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest

from idealrank.cli import console, progress
from idealrank.cli.progress import Watch
from idealrank.data.types import Progress
from idealrank.errors import IdealrankWarning, InputError
from tests.calls import calls_of
from tests.cli.terminal import DATA, Said, environment

Say = Callable[..., Said]
COMMAND = [sys.executable, "-m", "idealrank", "evaluate"]
posix = pytest.mark.skipif(
    os.name != "posix", reason="needs pseudo-terminals, named pipes and POSIX signals"
)
# What a busy machine may take; nothing here waits this long when it works.
LONG = 60.0
FIRST_LINE, OTHER_LINES = re.fullmatch(
    rb"(.*?\n)(.*)", (DATA / "bm25.run").read_bytes(), re.DOTALL
).groups()


@contextmanager
def slow_run(tmp_path: Path) -> Iterator[Path]:
    """A run whose lines come only when somebody writes them."""
    path = tmp_path / "slow.run"
    os.mkfifo(path)
    yield path


def until(condition: Callable[[], bool]) -> None:
    """Wait for what happens at once on an idle machine, and later on a busy one."""
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def is_read(descriptor: int) -> bool:
    """True if the reader of a pipe has taken all that was written: it waits for more."""
    import fcntl
    import termios

    return struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4))) == (0,)


@contextmanager
def being_read(path: Path) -> Iterator[BinaryIO]:
    """A named pipe whose reader has taken a first line and waits for the second."""
    with path.open("wb", buffering=0) as writer:  # opens when somebody reads
        writer.write(FIRST_LINE)
        until(lambda: is_read(writer.fileno()))
        yield writer


def everything_from(descriptor: int, stop: bytes = b"") -> bytes:
    """Read until the other end is closed, or, where that is given, `stop` was read."""
    said = b""
    while not (stop and stop in said) and select.select([descriptor], [], [], LONG)[0]:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # Linux says so when the last terminal is closed
            break
        if not piece:
            break
        said += piece
    return said


@contextmanager
def on_a_terminal(
    command: list[str], **changes: str
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A process whose stderr is a terminal, and the other end of that."""
    master, slave = os.openpty()
    process = subprocess.Popen(
        command,
        cwd=DATA,
        stdout=subprocess.PIPE,
        stderr=slave,
        env=environment(TERM="xterm", **changes),
    )
    os.close(slave)
    try:
        yield process, master
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        os.close(master)


# --- the bar --------------------------------------------------------------------------------------


@pytest.mark.slow
@posix
def test_a_long_job_on_a_terminal_draws_a_bar_and_wipes_it_away(tmp_path: Path) -> None:
    with (
        slow_run(tmp_path) as path,
        on_a_terminal([*COMMAND, "qrels.txt", str(path), "-m", "AP", "--format", "csv"]) as (
            process,
            terminal,
        ),
    ):
        with being_read(path) as writer:
            drawn = everything_from(terminal, stop=b"slow")
            writer.write(OTHER_LINES)
        drawn += everything_from(terminal)
        out = process.stdout.read()

    assert b"slow" in drawn
    assert b"\x1b[2K" in drawn  # the line is erased at the end
    assert out.startswith(b"run,measure,value,convention\nslow,AP,0.13194444444444442,")


@pytest.mark.parametrize("terminal", [True, False])
def test_a_long_job_draws_a_bar_on_a_terminal_alone(
    terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stderr, drawn = io.StringIO(), threading.Event()
    monkeypatch.setattr(stderr, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(progress, "_draw", lambda *_: drawn.set())

    Watch(patience=0).run("working", lambda _: drawn.wait(LONG if terminal else 0.1))

    assert drawn.is_set() == terminal


@posix
@pytest.mark.slow
def test_a_command_that_takes_long_without_a_terminal_draws_nothing(tmp_path: Path) -> None:
    with slow_run(tmp_path) as path:
        process = subprocess.Popen(
            [*COMMAND, "qrels.txt", str(path)],
            cwd=DATA,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        with being_read(path) as writer:
            time.sleep(progress.PATIENCE + 0.5)
            writer.write(OTHER_LINES)
        _, said = process.communicate(timeout=LONG)

    assert (process.returncode, said) == (0, b"")


@posix
def test_a_short_job_on_a_terminal_draws_nothing() -> None:
    # Short means shorter than the patience of the bar, however busy the machine is.
    patient = (
        "import sys; from idealrank.cli import main, progress; "
        "progress.Watch.__init__.__defaults__ = (3600.0,); main.main(sys.argv[1:])"
    )
    with on_a_terminal([sys.executable, "-c", patient, "evaluate", "qrels.txt", "bm25.run"]) as (
        process,
        terminal,
    ):
        drawn = everything_from(terminal)

        assert (process.wait(LONG), drawn) == (0, b"")


def test_work_gives_its_result_or_its_error() -> None:
    def refuse(_: Progress) -> None:
        raise InputError("nothing here")

    assert Watch().run("adding", lambda _: 2) == 2
    with pytest.raises(InputError, match="nothing here"):
        Watch().run("failing", refuse)


# --- Ctrl-C ---------------------------------------------------------------------------------------


@pytest.mark.spread(1)
@posix
@pytest.mark.parametrize(
    ("number", "code", "word"),
    [
        (signal.SIGTERM, 143, b"terminated\n"),
        pytest.param(signal.SIGINT, 130, b"interrupted\n", marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_the_work_with_its_code(
    tmp_path: Path, number: int, code: int, word: bytes
) -> None:
    with slow_run(tmp_path) as path:
        process = subprocess.Popen(
            [*COMMAND, "qrels.txt", str(path)],
            cwd=DATA,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with being_read(path):
            process.send_signal(number)
            out, said = process.communicate(timeout=LONG)

    assert (process.returncode, out, said) == (code, b"", word)


WRITING = """
import os, sys
from idealrank.cli import main, output

def pieces():
    yield "x" * (1 << 17)
    print([name for name in os.listdir() if "unfinished" in name] != [], flush=True)
    os.kill(os.getpid(), int(sys.argv[1]))
    while True:
        yield "y" * (1 << 17)

plain = output.write
output.write = lambda _pieces, path, *layout: plain(pieces(), path, *layout)
main.main(["evaluate", "qrels.txt", "bm25.run", "--format", "csv", "-o", sys.argv[2]])
"""


@pytest.mark.spread(1)
@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_leaves_no_unfinished_file(tmp_path: Path, number: int, code: int) -> None:
    for name in ("qrels.txt", "bm25.run"):
        (tmp_path / name).write_bytes((DATA / name).read_bytes())
    before = sorted(tmp_path.iterdir())

    done = subprocess.run(
        [sys.executable, "-c", WRITING, str(int(number)), "out.csv"],
        cwd=tmp_path,
        capture_output=True,
        timeout=LONG,
        check=False,
    )

    assert (done.returncode, done.stdout) == (code, b"True\n")
    assert b"Traceback" not in done.stderr
    assert sorted(tmp_path.iterdir()) == before


@posix
def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    # As `nohup` and shells do for commands in the background.
    ignoring = (
        "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); from "
        "idealrank.cli.main import main; main(sys.argv[1:])"
    )
    with slow_run(tmp_path) as path:
        command = [
            sys.executable,
            "-c",
            ignoring,
            "evaluate",
            "qrels.txt",
            str(path),
            "--format",
            "csv",
        ]
        process = subprocess.Popen(
            command, cwd=DATA, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        with being_read(path) as writer:
            process.send_signal(signal.SIGTERM)
            writer.write(OTHER_LINES)
        process.communicate(timeout=LONG)

    assert process.returncode == 0


STOPPED = """
import os, signal, sys
from idealrank import Qrels, Run
from idealrank.cli import progress
from idealrank.cli.progress import Watch
from idealrank.errors import StoppedError
from idealrank.evaluation.evaluate import evaluate

progress._FAREWELL = 60.0  # on a busy machine the kernel may take a second to hear of it
qrels, run = Qrels({"q": {"a": 1}}), Run({"q": ["a"]})

def compute_until_stopped(job):
    evaluate(qrels, run, "AP", progress=job)
    os.kill(os.getpid(), signal.SIGINT)  # heard by the main thread, which waits for this one
    try:
        while True:
            evaluate(qrels, run, "AP", progress=job)
    except StoppedError:
        print("stopped")
        raise

try:
    Watch().run("computing", compute_until_stopped)
except KeyboardInterrupt:
    print("interrupted")
"""


@posix
def test_ctrl_c_stops_the_kernel() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPED], capture_output=True, timeout=LONG, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"stopped\ninterrupted\n", b"")


def test_an_interrupt_leaves_with_130_and_a_word(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Watch, "run", interrupt)

    assert say("evaluate", "qrels.txt", "bm25.run") == Said(130, "", "interrupted\n")


# --- pipes ----------------------------------------------------------------------------------------


@posix
def test_a_reader_that_leaves_is_no_error_worth_a_word(tmp_path: Path) -> None:
    queries = [f"query-{number}" for number in range(20_000)]
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{query} 0 d1 1\n" for query in queries), encoding="utf-8"
    )
    (tmp_path / "a.run").write_text(
        "".join(f"{query} Q0 d1 1 1 t\n" for query in queries), encoding="utf-8"
    )
    process = subprocess.Popen(
        [*COMMAND, "qrels.txt", "a.run", "--per-query", "--format", "csv"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )

    first = process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()

    assert (process.wait(LONG), first, said) == (141, b"run,query,measure,value,convention\n", b"")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")
def test_a_full_disk_is_said_in_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "qrels.txt", "bm25.run"],
            cwd=DATA,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert (done.returncode, done.stderr) == (70, b"error: output: No space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")
def test_a_full_disk_behind_standard_output_is_said_alike_if_it_is_named() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "qrels.txt", "bm25.run", "-o", "/dev/stdout", "--format", "csv"],
            cwd=DATA,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert (done.returncode, done.stderr) == (70, b"error: output: No space left on device\n")


# --- talk -----------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize(("changes", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_for_terminals_that_want_it(changes: dict[str, str], coloured: bool) -> None:
    with on_a_terminal([*COMMAND, "qrels.txt", "bm52.run"], **changes) as (process, terminal):
        said = everything_from(terminal)

        assert process.wait(LONG) == 2
    assert (
        re.sub(rb"\x1b\[[0-9;]*m", b"", said)
        == b"error: bm52.run: found no such file; did you mean 'bm25.run'?\r\n"
    )
    assert (b"\x1b[91m" in said) == coloured


def test_the_same_warning_is_said_once(capfd: pytest.CaptureFixture[str]) -> None:
    import warnings

    with console.warnings_as_lines():
        for message in ("one", "one", "two"):
            warnings.warn(message, IdealrankWarning, stacklevel=1)

    assert capfd.readouterr().err == "warning: one\nwarning: two\n"


# --- cold start -----------------------------------------------------------------------------------


def test_evaluate_loads_nothing_that_it_does_not_use() -> None:
    # What each costs to import is more than what a small evaluation takes.
    late = [
        "rich",
        "narwhals",
        "pandas",
        "polars",
        "pyarrow",
        "scipy",
        "importlib.metadata",
        "tempfile",
        "unittest",
        "asyncio",
    ]
    command = (
        "import sys; from idealrank.cli.main import run; run(['evaluate', 'qrels.txt', 'bm25.run'])"
    )
    code = f"{command}; print([name for name in {late} if name in sys.modules])"

    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=DATA,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines()[-1] == "[]"


def test_compare_loads_no_question_but_its_own() -> None:
    late = [f"idealrank.analysis.{name}" for name in ("gate", "robustness")]
    command = (
        "import sys; from idealrank.cli.main import run; "
        "run(['compare', 'qrels.txt', 'bm25.run', 'neural.run'])"
    )
    code = f"{command}; print([name for name in {late} if name in sys.modules])"

    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=DATA,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines()[-1] == "[]"


@posix
def test_a_small_evaluation_costs_little_more_than_python_numpy_and_click() -> None:
    # 165,000 on Python 3.11, most of them for loading modules: 1.4 times the processor time of
    # starting with NumPy and Click alone.
    command = "from idealrank.cli.main import run; run(['evaluate', 'qrels.txt', 'bm25.run'])"

    assert calls_of(command, after="import numpy, click", cwd=DATA) < 300_000


def test_a_message_gives_the_log_of_github_no_command(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")

    console.say("warning", "query ##[add-mask]x\n::error::y")

    # one line, and GitHub obeys its beginning alone
    assert capfd.readouterr().err == "warning: query ## [add-mask]x\\n::error::y\n"
