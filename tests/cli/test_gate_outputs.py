"""What `idealrank gate` writes beside its report: files, annotations, the summary of a step; and
what it refuses to write over.
"""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import Said
from tests.workflow_commands import obeyed

Say = Callable[..., Said]
QUERIES = [f"q{number}" for number in range(30)]
HOSTILE = [
    "::error::x",
    "q##[add-mask]x",
    "::stop-commands::y",
    "q##[error]z",
    "<script>",
    "`@me`|x",
]


def written(folder: Path, queries: list[str]) -> None:
    """Judgments and two runs: in the second the relevant document has fallen, more for some queries
    than for others.
    """
    (folder / "qrels.txt").write_text(
        "".join(f"{query} 0 rel 1\n" for query in queries), encoding="utf-8"
    )
    for name, fallen in (("old", False), ("new", True)):
        lines = []
        for number, query in enumerate(queries):
            documents = ["a", "b", "c"]
            documents.insert(1 + number % 3 if fallen else 0, "rel")
            lines += [
                f"{query}\tQ0\t{document}\t{rank}\t{9 - rank}\tt\n"
                for rank, document in enumerate(documents)
            ]
        (folder / f"{name}.run").write_text("".join(lines), encoding="utf-8")


@pytest.fixture
def gated(say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Said]:
    """Run the gate on a new run that is worse than the old one, or on the options given."""
    written(tmp_path, QUERIES)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return lambda *options, run="new.run": say(
        "gate", "qrels.txt", run, "--baseline", "old.run", "-m", "RR", *options, cwd=tmp_path
    )


def test_files_are_written_beside_the_report(gated: Callable[..., Said], tmp_path: Path) -> None:
    plain = gated()
    said = gated("--junit", "gate.xml", "--markdown", "gate.md")

    assert (said.code, said.out, said.err) == (1, plain.out, plain.err)
    (failure,) = ET.parse(tmp_path / "gate.xml").iter("failure")
    assert failure.get("message", "").startswith("a drop of ")
    assert (
        (tmp_path / "gate.md")
        .read_text(encoding="utf-8")
        .startswith("**The gate is closed: <code>new</code>")
    )


def test_files_of_an_open_gate_are_written_too(gated: Callable[..., Said], tmp_path: Path) -> None:
    said = gated("--junit", "gate.xml", "--markdown", "gate.md", "-o", "report.txt", run="old.run")

    assert (said.code, said.out) == (0, "")
    assert not list(ET.parse(tmp_path / "gate.xml").iter("failure"))
    assert "The gate is open" in (tmp_path / "report.txt").read_text(encoding="utf-8")
    assert "The gate is open" in (tmp_path / "gate.md").read_text(encoding="utf-8")


def test_a_comment_can_be_printed_in_place_of_the_report(
    gated: Callable[..., Said], tmp_path: Path
) -> None:
    printed = gated("--markdown", "-")
    gated("--markdown", "gate.md", "-o", "report.txt")

    assert printed.out == (tmp_path / "gate.md").read_text(encoding="utf-8")
    assert gated("--markdown", "-", "-o", "report.txt").out == printed.out


def test_a_step_of_github_gets_annotations_and_a_summary(
    gated: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "summary.md").write_text("# Another step\n", encoding="utf-8")

    said = gated("--format", "json")

    assert json.loads(said.out)["passed"] is False
    assert [kind for kind, _, _ in obeyed(said.err)] == ["error", "notice"]
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("# Another step\n**The gate is closed")


@pytest.mark.parametrize(
    ("option", "kinds"), [("--github", ["error", "notice"]), ("--no-github", [])]
)
@pytest.mark.parametrize("here", ["true", ""])
def test_annotations_can_be_had_anywhere_or_nowhere(
    gated: Callable[..., Said],
    monkeypatch: pytest.MonkeyPatch,
    option: str,
    kinds: list[str],
    here: str,
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", here)

    assert [kind for kind, _, _ in obeyed(gated(option).err)] == kinds


def test_a_summary_that_cannot_be_written_does_not_change_the_verdict(
    gated: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no" / "such" / "folder.md"))

    said = gated("--github")

    assert said.code == 1
    assert "warning: GITHUB_STEP_SUMMARY" in said.err


@pytest.mark.parametrize("layout", ["table", "json"])
@pytest.mark.parametrize("first", HOSTILE)
def test_a_query_cannot_give_the_log_a_command(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, first: str
) -> None:
    written(tmp_path, [first, *(other for other in HOSTILE if other != first), *QUERIES])
    (tmp_path / "contracts.csv").write_text(f'query,at_least\n"{first}",1\n', encoding="utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    options = (
        "--baseline",
        "old.run",
        "-m",
        "RR",
        "--contracts",
        "contracts.csv",
        "--format",
        layout,
    )

    said = say(
        "gate",
        "qrels.txt",
        "new.run",
        *options,
        "--markdown",
        "gate.md",
        "--junit",
        "gate.xml",
        cwd=tmp_path,
    )

    assert said.code == 1
    assert obeyed(said.out) == []
    assert [kind for kind, _, _ in obeyed(said.err)] == ["error", "error", "notice"]
    assert layout == "table" or first in {
        one["contract"]["query"] for one in json.loads(said.out)["contracts"]
    }
    assert first not in (tmp_path / "gate.md").read_text(encoding="utf-8")
    assert first in {
        case.get("name", "").partition(": RR")[0]
        for case in ET.parse(tmp_path / "gate.xml").iter("testcase")
    }


@pytest.mark.parametrize("option", ["--junit", "--markdown", "-o"])
@pytest.mark.parametrize("path", ["qrels.txt", "new.run", "old.run", "./contracts.csv"])
def test_no_output_replaces_what_is_read(
    gated: Callable[..., Said], tmp_path: Path, option: str, path: str
) -> None:
    (tmp_path / "contracts.csv").write_text("query\nq1\n", encoding="utf-8")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    said = gated("--contracts", "contracts.csv", option, path)

    assert said.code == 2
    assert said.err.startswith(f"error: {option} {path}: found an input file of this command")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--junit", "x", "--markdown", "./x"),
            "--markdown ./x: found the file that --junit writes",
        ),
        (("--junit", "-", "--markdown", "-"), "--markdown -: found the file that --junit writes"),
        (("--junit", "x", "-o", "x"), "--junit x: found the file that -o writes"),
        (("--junit", "no/such/folder.xml"), "--junit no/such/folder.xml: found no folder no/such"),
    ],
)
def test_outputs_have_places_of_their_own(
    gated: Callable[..., Said], tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    said = gated("--baseline", "best.run.gz", "--update-baseline", *options, run="old.run")

    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert not (tmp_path / "best.run.gz").exists()
