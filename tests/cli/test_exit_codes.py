"""Exit codes say what happened, whatever becomes of the streams: a gate that CI obeys must not open
or close by a full disk.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest

from tests.cli.terminal import DATA, environment
from tests.pools import written

pytestmark = pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")

COMMANDS = {
    "evaluate": ("evaluate qrels.txt bm25.run", 0),
    "compare": ("compare qrels.txt bm25.run neural.run", 0),
    "closed": ("gate full.qrels main.run --baseline new.run", 1),
    "unreached": ("gate pooled.qrels new.run --baseline main.run --when-unjudged neutral", 3),
    "missing": ("gate qrels.txt bm25.run --baseline none.run", 2),
    "warned": ("evaluate qrels.txt stray.run", 0),
    "help": ("evaluate --help", 0),
    "usage": ("evaluate", 2),
}
# Each way to end is tried by default, of streams those that differ; every command with every stream
# is slow.
FEW = {("closed", "2>&-"), ("closed", "2>/dev/full"), ("missing", "2>dead"), ("warned", "2>&-")}
TALK = ["2>&-", "2>/dev/full", "2>dead"]
SILENT = ("missing", "usage")  # nothing of theirs goes to standard output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exit")
    written(path)
    for name in ("qrels.txt", "bm25.run", "neural.run"):
        (path / name).write_bytes((DATA / name).read_bytes())
    (path / "stray.run").write_text("elsewhere Q0 d1 1 1 t\n", encoding="utf-8")
    return path


@contextmanager
def dead_pipe() -> Iterator[int]:
    """A pipe that its reader has left."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        yield writer
    finally:
        os.close(writer)


def ended(folder: Path, command: str, *redirections: str) -> tuple[int, str, str]:
    """Exit code and both streams, as bash redirects them."""
    with dead_pipe() as dead:
        words = " ".join(redirections).replace("dead", f"&{dead}")
        script = f"exec {shlex.quote(sys.executable)} -m idealrank {command} {words}"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            pass_fds=[dead],
            check=False,
            timeout=120,
        )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("name", "talk"),
    [
        pytest.param(*pair, marks=() if pair in FEW else pytest.mark.slow)
        for pair in product(COMMANDS, TALK)
    ],
)
def test_no_stderr_changes_an_exit_code(folder: Path, name: str, talk: str) -> None:
    command, code = COMMANDS[name]

    found, out, _ = ended(folder, command, talk)

    assert found == code
    assert bool(out) == (name not in SILENT)


@pytest.mark.parametrize(
    ("output", "code", "said"),
    [
        (">/dev/full", 70, "No space left on device"),
        pytest.param(">&-", 70, "", marks=pytest.mark.slow),
        (">dead", 141, ""),
    ],
)
@pytest.mark.parametrize(
    "name",
    [
        "closed",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("missing", "evaluate", "compare", "help")
        ),
    ],
)
def test_output_that_cannot_be_written_is_a_fault_and_a_reader_that_leaves_is_none(
    folder: Path, name: str, output: str, code: int, said: str
) -> None:
    found, _, err = ended(folder, COMMANDS[name][0], output)

    assert found == (2 if name in SILENT else code)
    assert said in err or name in SILENT
    assert len(err.splitlines()) <= 1  # no traceback, and nothing that Python says at its end
    assert bool(err) == (code == 70 or name in SILENT)


@pytest.mark.parametrize(
    ("output", "talk"),
    [
        (">/dev/full", "2>&-"),
        *(
            pytest.param(*pair, marks=pytest.mark.slow)
            for pair in ((">&-", "2>/dev/full"), (">dead", "2>dead"))
        ),
    ],
)
def test_without_both_streams_it_is_the_same(folder: Path, output: str, talk: str) -> None:
    assert ended(folder, COMMANDS["closed"][0], output, talk)[0] == (
        141 if output == ">dead" else 70
    )


def test_closed_streams_leave_files_whole(folder: Path) -> None:
    # A file that is opened gets the first free descriptor, and messages go to 2, whatever that is.
    found, _, _ = ended(
        folder, "evaluate qrels.txt stray.run --format csv -o out.csv", "<&-", ">&-", "2>&-"
    )

    assert found == 0
    assert (folder / "out.csv").read_text(encoding="utf-8").splitlines()[
        0
    ] == "run,measure,value,convention"
    assert "warning" not in (folder / "out.csv").read_text(encoding="utf-8")


def test_closed_standard_input_is_bad_input(folder: Path) -> None:
    found, _, err = ended(folder, "evaluate qrels.txt -", "<&-")

    assert (found, err.splitlines()[-1][:10]) == (2, "error: -: ")
