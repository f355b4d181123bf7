"""Reports on a terminal: the lines of a pipe in colour; none for pipes, for NO_COLOR and for
terminals that know none.
"""

import os
import re
import subprocess
import sys

import pytest

from idealrank.cli.colours import as_rich
from idealrank.reports.table.forms import Cell, Column, Table, as_text
from tests.cli.terminal import DATA, environment
from tests.cli.test_terminal import everything_from, posix
from tests.in_process import run

COMPARE = ("compare", "qrels.txt", "bm25.run", "neural.run", "-m", "nDCG@10,AP", "--test", "t")
CONTROL = re.compile(rb"\x1b\[[\d;]*m")


def in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> str:
    """Output of the command without a terminal."""
    monkeypatch.chdir(DATA)
    code, said, _ = run([*COMPARE], COLUMNS="80")
    assert code == 0
    return said


def on_terminal(*arguments: str, **changes: str) -> bytes:
    """What a command writes to a standard output that is a terminal, with the line ends of a
    file.
    """
    master, slave = os.openpty()
    environs = environment(TERM="xterm-256color", **changes)
    with subprocess.Popen(
        [sys.executable, "-m", "idealrank", *arguments],
        cwd=DATA,
        stdout=slave,
        stderr=subprocess.PIPE,
        env=environs,
    ):
        os.close(slave)
        said = everything_from(master)
    os.close(master)
    return said.replace(b"\r\n", b"\n")


@posix
def test_a_terminal_has_the_lines_of_a_pipe_with_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    said = on_terminal(*COMPARE, COLUMNS="100")

    assert CONTROL.search(said)
    lines = [line.rstrip() for line in CONTROL.sub(b"", said).decode().splitlines()]
    assert lines == in_a_pipe(monkeypatch).splitlines()


@pytest.mark.slow
@posix
def test_a_narrow_terminal_gets_tables_that_fit() -> None:
    said = CONTROL.sub(b"", on_terminal(*COMPARE, COLUMNS="60")).decode()

    table = said[said.index("\nmeasure ") :].split("\n\n")[0].splitlines()
    assert max(map(len, table)) <= 60


@posix
@pytest.mark.parametrize(
    "changes", [{"NO_COLOR": "1"}, pytest.param({"TERM": "dumb"}, marks=pytest.mark.slow)]
)
def test_no_colour_where_nobody_wants_it(
    changes: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    master, slave = os.openpty()
    environs = environment(**({"TERM": "xterm"} | changes))
    with subprocess.Popen(
        [sys.executable, "-m", "idealrank", *COMPARE],
        cwd=DATA,
        stdout=slave,
        stderr=subprocess.PIPE,
        env=environs,
    ):
        os.close(slave)
        said = everything_from(master)
    os.close(master)

    assert b"\x1b" not in said
    assert said.replace(b"\r\n", b"\n").decode() == in_a_pipe(monkeypatch)


def test_styles_say_again_what_words_say() -> None:
    cells = [
        Cell("run", strong=True),
        Cell("0.5", tone="better"),
        Cell("0.4", tone="worse"),
        Cell("3", tone="quiet"),
    ]
    table = Table(
        columns=[
            Column(title="run"),
            *(Column(title=str(place), kind="number") for place in range(3)),
        ],
        rows=[cells],
    )

    head, line = as_rich(table)

    assert head.plain + "\n" + line.plain + "\n" == as_text(table)
    styles = {line.plain[span.start : span.end]: span.style for span in line.spans}
    assert styles["run"].bold
    assert styles["3"].dim
    assert styles["0.5"].color.name != styles["0.4"].color.name
