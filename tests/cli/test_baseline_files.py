"""Baseline files of `idealrank gate`: what was edited, cut or changed by git is told from what the
gate wrote.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.gate_runs import QUERIES, Gate, noisy, record, write_run

MARK = "# idealrank baseline "
Edit = Callable[[str], str]


@pytest.fixture
def plain(gate: Gate, folder: Path) -> Path:
    """A baseline file that is not compressed and holds two accepted runs besides the anchor."""
    for number, name in enumerate(("start", "new", "next")):
        write_run(folder, name, noisy(number))
        assert gate(name, "--update-baseline", baseline="plain.run").code == 0
    return folder / "plain.run"


def with_field(text: str, name: str, value: object) -> str:
    head, _, rest = text.partition("\n")
    said = json.loads(head.removeprefix(MARK))
    return MARK + json.dumps(said | {name: value}, separators=(",", ":")) + "\n" + rest


EDITS: dict[str, Edit] = {
    "content": lambda text: with_field(text, "content", "0" * 64),
    "fingerprint": lambda text: with_field(text, "fingerprint", "00000000"),
    "means": lambda text: with_field(text, "means", {"RR": 0.1}),
    "checksum": lambda text: with_field(text, "checksum", None),
    "score of a run": lambda text: text.replace("\t9.0\t", "\t9.5\t", 1),
    "score in a comment": lambda text: text[:-200] + text[-200:].replace("\t1.0\n", "\t0.5\n", 1),
    "last lines": lambda text: text[:-100],
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_file_is_refused(gate: Gate, plain: Path, edit: str) -> None:
    text = plain.read_text(encoding="utf-8")
    edited = EDITS[edit](text)
    assert edited != text
    plain.write_text(edited, encoding="utf-8")

    said = gate("next", baseline="plain.run")

    assert said.code == 2
    assert "plain.run:1: found a checksum of other lines: the file was edited or cut" in said.err
    assert (
        "restore the file, for example from git; or delete it, and create it again with" in said.err
    )
    assert "its series and accepted drops are lost then" in said.err
    assert gate("start", "--update-baseline", baseline="plain.run").code == 2
    plain.unlink()
    assert gate("start", "--update-baseline", baseline="plain.run").code == 0


@pytest.mark.parametrize("runs", [1, 3])
def test_a_lost_first_line_makes_no_ordinary_run(
    gate: Gate, folder: Path, plain: Path, runs: int
) -> None:
    if runs == 1:
        plain.unlink()
        gate("start", "--update-baseline", baseline="plain.run")
    _, _, rest = plain.read_text(encoding="utf-8").partition("\n")
    plain.write_text(rest, encoding="utf-8")

    said = gate("next", baseline="plain.run")

    assert said.code == 2
    assert "plain.run:1: found a baseline file that has lost its first line" in said.err


def test_line_ends_of_windows_change_nothing(gate: Gate, folder: Path, plain: Path) -> None:
    """Git may change the line ends of a text file."""
    unchanged = folder / "unchanged.run"
    unchanged.write_bytes(plain.read_bytes())
    plain.write_bytes(plain.read_bytes().replace(b"\n", b"\r\n"))
    write_run(folder, "last", noisy(9))

    codes = [
        gate("last", "--update-baseline", baseline=name).code
        for name in ("plain.run", "unchanged.run")
    ]

    assert codes == [0, 0]
    assert plain.read_bytes() == unchanged.read_bytes()
    assert gate("start", baseline="plain.run").code == 0


def test_a_first_run_with_line_ends_of_windows_stays_readable_below_the_second(
    gate: Gate, folder: Path
) -> None:
    gate("start", "--update-baseline", baseline="plain.run")
    plain = folder / "plain.run"
    plain.write_bytes(plain.read_bytes().replace(b"\n", b"\r\n"))

    for seed in (1, 2):
        write_run(folder, "new", noisy(seed))
        assert gate("new", "--update-baseline", baseline="plain.run").code == 0

    assert [one.name for one in record(folder, "plain.run").kept] == ["new", "new", "start"]
    assert b"\r" not in plain.read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--accept", "x" * 1001), "--accept: found 1,001 letters, expected at most 1,000"),
        (
            ("--accept", "why not", "--accepted-by", "x" * 101),
            "--accepted-by: found 101 letters, expected at most 100",
        ),
    ],
)
def test_a_long_reason_is_refused(
    gate: Gate, folder: Path, options: tuple[str, ...], said: str
) -> None:
    write_run(folder, "worse", dict.fromkeys(QUERIES, 5))

    done = gate("worse", *options)

    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_the_longest_reason_is_kept(gate: Gate, folder: Path) -> None:
    write_run(folder, "worse", dict.fromkeys(QUERIES, 5))

    assert gate("worse", "--accept", "\U0001f600" * 1000, "--accepted-by", "ü" * 100).code == 0
    assert record(folder).series.accepted[0].reason == "\U0001f600" * 1000


def test_a_file_that_could_not_be_read_again_does_not_take_its_name(
    gate: Gate, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (folder / "main.gz").read_bytes()
    monkeypatch.setattr("idealrank.io.gate_files.baselines._LONGEST", 100)
    write_run(folder, "new", noisy(1))

    said = gate("new", "--update-baseline", baseline="other.gz")

    assert said.code == 2
    assert "other.gz: not written, for its first line cannot be read again" in said.err
    assert (folder / "main.gz").read_bytes() == before
    assert list(folder.glob("*other*")) == []


def test_a_file_of_an_earlier_schema_is_read_without_a_checksum(
    gate: Gate, folder: Path, plain: Path
) -> None:
    text = with_field(plain.read_text(encoding="utf-8"), "schema", 2).replace(
        "# idealrank-baseline-end\n", ""
    )
    plain.write_text(text, encoding="utf-8")

    said = gate("next", "--update-baseline", baseline="plain.run")
    write_run(folder, "new", noisy(4))
    gate("new", "--update-baseline", baseline="plain.run")

    assert said.code == 0
    assert (record(folder, "plain.run").schema, len(record(folder, "plain.run").kept)) == (3, 4)
    assert plain.read_bytes().endswith(b"# idealrank-baseline-end\n")
