"""Reports on a terminal: its width, and colours that can be read on black and on white; none for
pipes, for NO_COLOR and for terminals that know none.
"""

import os
import re
import struct
import subprocess
import sys

import pytest

from idealrank.cli import console
from idealrank.cli.colours import TONES, as_rich
from idealrank.reports.table import text
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


def on_terminal(*arguments: str, width: int = 0, **changes: str) -> bytes:
    """What a command writes to a standard output that is a terminal, with the line ends of a
    file; the terminal has a size of its own, or COLUMNS.
    """
    import fcntl
    import termios

    master, slave = os.openpty()
    environs = environment(**{"TERM": "xterm-256color"} | changes)
    if width:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        del environs["COLUMNS"]
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


REPORTS = {
    "evaluate": ("evaluate", "qrels.txt", "bm25.run", "neural.run", "--intervals"),
    "compare": COMPARE,
    "gate": ("gate", "qrels.txt", "neural.run", "--baseline", "bm25.run"),
    "judge": ("judge", "bounds", "qrels.txt", "bm25.run", "neural.run"),
    "why": ("why", "qrels.txt", "bm25.run", "neural.run"),
}


@pytest.mark.spread(5)
@posix
@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_fits_its_terminal(name: str, width: int) -> None:
    lines = CONTROL.sub(b"", on_terminal(*REPORTS[name], width=width)).decode().splitlines()

    assert len(lines) > 5
    # A command is for copying, and stays whole.
    wide = [line for line in lines if len(line) > width and not line.startswith("  idealrank ")]
    assert wide == []


@posix
def test_a_narrow_terminal_leaves_out_columns_before_tables_turn() -> None:
    said = CONTROL.sub(b"", on_terminal(*COMPARE, width=60)).decode()

    table = said[said.index("\nmeasure ") :].split("\n\n")[0].split("\n")[1:]
    assert table[0].split() == ["measure", "difference", "95", "%", "interval", "p", "verdict"]
    assert [line.split()[0] for line in table[1:3]] == ["nDCG@10", "AP"]
    assert " ".join(table[3:]) == (
        "left out at this width: bm25, neural, +/=/-, d_z, detectable; all: a wider terminal, or "
        "`| cat` after the command"
    )


def at_width(monkeypatch: pytest.MonkeyPatch, width: int, *arguments: str) -> str:
    """Standard output of a command on a terminal with so many letters in a line."""
    monkeypatch.chdir(DATA)
    monkeypatch.setattr(console, "width_of", lambda _: width)
    code, said, err = run(list(arguments), NO_COLOR="1")
    assert code == 0, err
    return said


LIMITS = ("theory", "limits", "--ybar", "0.9-0.8s")
NARROW = {
    "conventions": ("conventions", "lightgbm"),
    "evaluate": ("evaluate", "qrels.txt", "bm25.run", "neural.run"),
    "explain": ("explain", "qrels.txt", "bm25.run", "--query", "q1", "-m", "nDCG@5"),
    "limits": LIMITS,
    "next": ("judge", "next", "qrels.txt", "bm25.run", "neural.run"),
    "why": ("why", "qrels.txt", "bm25.run", "neural.run"),
}


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("name", NARROW)
def test_only_words_are_wider_than_a_narrow_terminal(
    name: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = at_width(monkeypatch, width, *NARROW[name]).splitlines()

    wide = [line for line in lines if len(line) > width and len(line.split()) > 1]
    assert [line for line in wide if not line.startswith("  idealrank ")] == []


@pytest.mark.parametrize("name", ["evaluate", "next"])
def test_a_table_of_a_report_loses_columns_before_it_turns(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = at_width(monkeypatch, 60, *NARROW[name])

    first, second = {"evaluate": ("coverage", "bm25"), "next": ("priority", "1")}[name]
    rows = said[said.index(f"\n{first} ") + 1 :].split("\n\n")[0].splitlines()
    assert rows[1].startswith(second)  # a row below the heads
    assert "left out at this width: " in " ".join(rows)


def test_likely_shares_of_both_runs_are_shown_together(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = set()
    for width in range(50, 110, 4):
        said = at_width(monkeypatch, width, *COMPARE)
        heads = next(line for line in said.splitlines() if line.startswith("unjudged "))
        shown.add(("likely behind" in heads, "likely ahead" in heads))

    assert shown == {(True, True), (False, False)}


def test_rows_of_cells_are_never_broken_as_prose(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow, wide = (at_width(monkeypatch, width, *LIMITS) for width in (60, 140))

    rows = [line.split()[:4] for line in wide.splitlines() if line.startswith("nDCG")]
    assert len(rows) > 5
    assert rows == [line.split()[:4] for line in narrow.splitlines() if line.startswith("nDCG")]


def test_texts_of_a_table_go_on_below_where_no_column_may_go() -> None:
    columns: list[Column[list[str]]] = [
        Column(title="left out", cell=lambda row: row[0]),
        Column(title="lists", kind="number", cell=lambda row: row[1]),
    ]
    table = Table.of(columns, [["lists of users with a click on everything", "30"]])
    assert len(text.as_text(table).splitlines()) == 2
    with text.on_terminal(30):
        assert text.as_text(table) == (
            "left out               lists\nlists of users with a     30\nclick on everything\n"
        )


def test_a_row_that_is_turned_has_its_texts_beside_their_titles() -> None:
    columns: list[Column[list[str]]] = [
        Column(title=title, cell=lambda row, place=place: row[place])
        for place, title in enumerate(["document", "found at", "reason"])
    ]
    table = Table.of(columns, [["a" * 12, "b" * 12, "one two three four five"]])
    with text.on_terminal(24):
        assert text.as_text(table).splitlines() == [
            "document aaaaaaaaaaaa",
            "found at bbbbbbbbbbbb",
            "reason   one two three",
            "         four five",
        ]


def test_a_table_with_a_heading_among_its_rows_does_not_turn() -> None:
    columns: list[Column[list[str]]] = [
        Column(title="change", cell=lambda row: row[0]),
        Column(title="difference", cell=lambda row: row[1]),
    ]
    rows = [["ties=worst", "0.1" * 20], ["moves it most", ""], ["cutoff=1", "0.2" * 20]]

    with text.on_terminal(40):
        lines = text.as_text(Table.of(columns, rows)).splitlines()

    assert [line.split()[0] for line in lines] == ["change", "ties=worst", "moves", "cutoff=1"]


@posix
def test_no_word_of_prose_is_lost_or_cut() -> None:
    def words(width: int) -> list[str]:
        said = CONTROL.sub(b"", on_terminal(*COMPARE, width=width)).decode()
        return said.split("\n\n")[0].split()

    assert words(60) == words(140)


def test_a_pipe_has_lines_of_100_letters_whatever_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(DATA)
    narrow, wide = (run([*COMPARE], COLUMNS=columns) for columns in ("40", "200"))

    assert narrow == wide
    assert 80 < max(map(len, narrow[1].splitlines())) <= 100


@posix
@pytest.mark.parametrize(
    "changes",
    [
        {"NO_COLOR": "1"},
        pytest.param({"NO_COLOR": "1", "FORCE_COLOR": "1"}, marks=pytest.mark.slow),
        pytest.param({"TERM": "dumb"}, marks=pytest.mark.slow),
    ],
)
def test_no_colour_where_nobody_wants_it(
    changes: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = on_terminal(*COMPARE, COLUMNS="100", **changes)

    assert b"\x1b" not in said
    assert said.decode() == in_a_pipe(monkeypatch)


@pytest.mark.parametrize(
    ("changes", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0", "TERM": "dumb"}, True),  # the standard asks for any text
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
    ],
)
def test_force_color_asks_for_colours_without_a_terminal(
    changes: dict[str, str], coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = in_a_pipe(monkeypatch)
    code, said, _ = run([*COMPARE], **changes)

    assert code == 0
    assert ("\x1b[" in said) == coloured
    lines = CONTROL.sub(b"", said.encode()).decode().splitlines()
    assert [line.rstrip() for line in lines] == plain.splitlines()


@pytest.mark.parametrize(
    ("changes", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"NO_COLOR": "1"}, False),
    ],
)
def test_force_color_colours_the_first_word_of_an_error(
    changes: dict[str, str], coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(DATA)
    monkeypatch.setenv("TERM", "xterm-256color")
    code, _, said = run(["evaluate", "qrels.txt", "bm52.run"], **changes)

    error = f"\x1b[38;5;{console.RED.of_256}m\x1b[1merror:\x1b[0m" if coloured else "error:"
    assert code == 2
    assert said == f"{error} bm52.run: found no such file; did you mean 'bm25.run'?\n"


def test_the_verdict_is_bold_and_the_rest_of_the_paragraph_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(DATA)
    _, said, _ = run([*COMPARE], FORCE_COLOR="1")

    bold = re.findall(r"\x1b\[1m(.*?)\x1b\[0m", said.split("\n\n")[0])
    assert bold[0].startswith("These queries do not show")
    assert bold[-1].endswith(".")
    assert "Judged queries without an answer" not in " ".join(bold)


def test_a_coloured_report_gives_the_log_of_github_no_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")

    (line,) = as_rich(Table(columns=[Column(title="##[group]x::y")], rows=[]))

    assert line.plain == "## [group]x::y"


def channel(byte: int) -> float:
    """Linear light of one channel of sRGB, as WCAG 2 defines it."""
    part = byte / 255
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def contrasts(colour: str) -> tuple[float, float]:
    """Contrast of a colour with black and with white, from 1 to 21."""
    red, green, blue = (channel(int(colour[place : place + 2], 16)) for place in (0, 2, 4))
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return (light + 0.05) / 0.05, 1.05 / (light + 0.05)


BRIGHT = {  # bright red and bright blue, colours 9 and 12, where a terminal has 16
    "xterm": {9: "ff0000", 12: "5c5cff"},
    "console of Linux": {9: "ff5555", 12: "5555ff"},
    "Windows": {9: "e74856", 12: "3b78ff"},
}


def in_the_cube(number: int) -> str:
    """A colour of xterm's cube of 6 x 6 x 6, from 16 to 231, which no terminal changes."""
    steps = ("00", "5f", "87", "af", "d7", "ff")
    red, rest = divmod(number - 16, 36)
    green, blue = divmod(rest, 6)
    return steps[red] + steps[green] + steps[blue]


def test_every_colour_can_be_read_on_black_and_on_white() -> None:
    assert contrasts("000000") == (1, 21)
    assert contrasts("ffffff") == (21, 1)
    hues = {console.RED, console.ORANGE, console.BLUE}
    assert {*TONES.values(), *console.HUES.values()} == hues

    shown = {in_the_cube(hue.of_256) for hue in hues}
    shown |= {palette[hue.of_16] for hue in hues for palette in BRIGHT.values()}
    assert {colour: ends for colour in shown if min(ends := contrasts(colour)) < 3} == {}


@pytest.mark.parametrize(
    ("changes", "number"),
    [
        ({"TERM": "xterm-256color"}, 33),
        ({"TERM": "linux"}, 12),
        ({"TERM": "linux", "COLORTERM": "truecolor"}, 33),
    ],
)
def test_the_colours_are_those_of_the_terminal(
    changes: dict[str, str], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLORTERM", raising=False)
    for name, value in changes.items():
        monkeypatch.setenv(name, value)

    assert console.BLUE.number == number


@posix
def test_a_message_wraps_between_words_on_a_terminal_alone() -> None:
    master, slave = os.openpty()
    wrong = ["evaluate", "qrels.txt", "bm25.run", "--convention", "standard,unjudged=maybe"]
    command = [sys.executable, "-m", "idealrank", *wrong]
    environs = environment(COLUMNS="50", NO_COLOR="1")
    piped = subprocess.run(command, cwd=DATA, env=environs, capture_output=True, check=False)
    with subprocess.Popen(command, cwd=DATA, stderr=slave, env=environs):
        os.close(slave)
        said = everything_from(master).replace(b"\r\n", b"\n")
    os.close(master)

    first, *_ = piped.stderr.splitlines()
    assert len(first) > 50 >= max(map(len, said.splitlines()))
    assert said.split() == piped.stderr.split()


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
