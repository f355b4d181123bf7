"""`idealrank init`: what it writes runs, and it writes everything or nothing."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from idealrank._files import write_together
from idealrank.errors import InputError
from tests.cli.terminal import Said, check_snapshot, environment
from tests.conftest import PYDOCS
from tests.docs.blocks import ROOT, blocks_of

Say = Callable[..., Said]

WRITTEN = {
    "pyproject.toml",
    "main.baseline.gz",
    ".github/workflows/ranking-gate.yml",
    "tests/test_ranking_gate.py",
}
ASKED = ("init", "eval/qrels.txt", "new.run")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with judgments, texts and the run of its main branch."""
    (tmp_path / "eval").mkdir()
    for name, place in (("qrels.txt", "eval"), ("queries.tsv", "eval"), ("minilm.run", ".")):
        shutil.copy(PYDOCS / name, tmp_path / place)
    (tmp_path / "minilm.run").rename(tmp_path / "new.run")
    return tmp_path


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path; folders count, too."""
    paths = [path for path in folder.rglob("*") if "__pycache__" not in path.parts]
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in paths
    }


def made_since(before: dict[str, bytes], folder: Path) -> set[str]:
    """New files; every other file must be as it was."""
    after = files_of(folder)
    assert {name: after.get(name) for name in before} == before
    return {name for name in set(after) - set(before) if (folder / name).is_file()}


def make_worse(folder: Path) -> None:
    """Take the first result of every query out of the run, as a bad change would."""
    lines = (folder / "new.run").read_text(encoding="utf-8").splitlines(keepends=True)
    worse = [line for line in lines if line.split()[3] != "1"]
    (folder / "new.run").write_text("".join(worse), encoding="utf-8")


def with_programs(folder: Path) -> dict[str, str]:
    """An environment whose PATH has `idealrank` and `python`, as after `pip install`."""
    programs = folder / ".programs"
    programs.mkdir(exist_ok=True)
    for name, command in (
        ("idealrank", f'"{sys.executable}" -m idealrank'),
        ("python", f'"{sys.executable}"'),
    ):
        (programs / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    return environment(PATH=f"{programs}{os.pathsep}{os.environ['PATH']}", GITHUB_ACTIONS="true")


# --- what is written runs -----------------------------------------------------------------------


def test_the_files_are_written_and_listed_with_the_next_command(say: Say, project: Path) -> None:
    before = files_of(project)

    said = say(*ASKED, cwd=project)

    check_snapshot("init", said.text("idealrank init eval/qrels.txt new.run"))
    assert said.code == 0
    assert made_since(before, project) == WRITTEN


def test_the_next_command_passes_and_fails_on_a_worse_run(say: Say, project: Path) -> None:
    say(*ASKED, "--queries", "eval/queries.tsv", cwd=project)
    same = say("gate", cwd=project)
    make_worse(project)
    worse = say("gate", cwd=project)

    assert (same.code, worse.code) == (0, 1)
    assert "has the same value as main on every query" in " ".join(same.out.split())
    text = dict(
        line.split("\t")
        for line in (PYDOCS / "queries.tsv").read_text(encoding="utf-8").splitlines()
    )["q34"]
    assert text[:30] in worse.out


def test_the_baseline_is_the_file_that_the_gate_makes(say: Say, project: Path) -> None:
    say(*ASKED, "-m", "nDCG@10,RR", cwd=project)
    options = ("-m", "nDCG@10,RR", "--baseline", "other.baseline.gz", "--update-baseline")
    say("gate", "eval/qrels.txt", "new.run", *options, cwd=project)

    assert (project / "main.baseline.gz").read_bytes() == (
        project / "other.baseline.gz"
    ).read_bytes()


def test_the_test_passes_in_pytest_and_fails_on_a_worse_run(say: Say, project: Path) -> None:
    say(*ASKED, cwd=project)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    outcomes = []
    for change in (lambda _: None, make_worse):
        change(project)
        done = subprocess.run(
            command, cwd=project, env=environment(), capture_output=True, text=True, check=False
        )
        outcomes.append((done.returncode, done.stdout.strip().splitlines()[-1][:8]))

    assert outcomes == [(0, "1 passed"), (1, "1 failed")]


def steps_of(folder: Path, job: str = "gate") -> list[dict[str, Any]]:
    text = (folder / ".github/workflows/ranking-gate.yml").read_text(encoding="utf-8")
    steps: list[dict[str, Any]] = pytest.importorskip("yaml").safe_load(text)["jobs"][job]["steps"]
    return steps


def run_workflow(folder: Path) -> int:
    """Run the commands of the first job as GitHub does, one shell a step; the code of the first
    that fails.
    """
    commands = [step["run"] for step in steps_of(folder) if "run" in step]
    assert commands[0].startswith("pip install")
    for command in commands[1:]:
        shell = ["bash", "-e", "-c", command]
        done = subprocess.run(
            shell, cwd=folder, env=with_programs(folder), capture_output=True, check=False
        )
        if done.returncode:
            return done.returncode
    return 0


@pytest.mark.spread(1)
@pytest.mark.parametrize(("worse", "code"), [(False, 0), (True, 1)])
def test_the_workflow_runs_the_search_and_the_gate(
    say: Say, project: Path, worse: bool, code: int
) -> None:
    search = "import shutil\nshutil.copy('ranked.txt', 'new.run')\n"
    (project / "search.py").write_text(search, encoding="utf-8")
    say(*ASKED, "--search", "python search.py # writes: 'new.run'", cwd=project)
    if worse:
        make_worse(project)
    (project / "new.run").rename(project / "ranked.txt")

    assert run_workflow(project) == code
    assert "<!-- idealrank gate -->" in (project / "gate.md").read_text(encoding="utf-8")
    assert (project / "gate.xml").stat().st_size > 0


@pytest.mark.parametrize("code", [0, 1, 2, 3, 70])
def test_the_step_ends_as_the_gate_does(say: Say, project: Path, code: int) -> None:
    say(*ASKED, cwd=project)
    (step,) = [step for step in steps_of(project) if "idealrank gate" in step.get("run", "")]
    programs = with_programs(project)
    (project / ".programs" / "idealrank").write_text(f"#!/bin/sh\nexit {code}\n", encoding="utf-8")

    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=project,
        env=programs,
        capture_output=True,
        check=False,
    )

    assert done.returncode == code


def test_the_guide_shows_the_workflow_that_is_written(say: Say, project: Path) -> None:
    page = (ROOT / "docs/guides/gate.md").read_text(encoding="utf-8")
    (shown,) = [
        block.text
        for block in blocks_of(page)
        if block.language == "yaml" and "runs-on" in block.text
    ]
    command = "python search.py --queries eval/queries.tsv --output new.run"

    say(*ASKED, "--search", command, cwd=project)

    assert (project / ".github/workflows/ranking-gate.yml").read_text(encoding="utf-8") == shown


def test_tables_with_other_columns_and_a_convention_go_into_the_policy(
    say: Say, tmp_path: Path
) -> None:
    rows = "".join(f"q{number},x,1\nq{number},y,0\n" for number in range(9))
    (tmp_path / "labels.csv").write_text(f"need,page,stars\n{rows}", encoding="utf-8")
    (tmp_path / "ranked.csv").write_text(f"need,page,sureness\n{rows}", encoding="utf-8")
    columns = (
        "--qrels-columns",
        "query=need,document=page,grade=stars",
        "--run-columns",
        "query=need,document=page,score=sureness",
    )

    made = say(
        "init",
        "labels.csv",
        "ranked.csv",
        *columns,
        "--convention",
        "lightgbm",
        "-m",
        "nDCG@5,P@1",
        cwd=tmp_path,
    )
    said = say("gate", "--explain-method", cwd=tmp_path)

    assert (made.code, said.code) == (0, 0)
    assert "convention lightgbm" in said.out
    assert "P@1" in said.out


@pytest.mark.parametrize(
    "name", ["two words", 'quo"te', "back\\slash", "é漢", "it's", "#hash", "del\x7f"]
)
def test_odd_names_of_files_are_kept(say: Say, project: Path, name: str) -> None:
    (project / "new.run").rename(project / f"{name}.run")

    made = say("init", "eval/qrels.txt", f"{name}.run", cwd=project)
    said = say("gate", cwd=project)

    assert (made.code, said.code) == (0, 0)
    assert pytest.importorskip("yaml").safe_load(
        (project / ".github/workflows/ranking-gate.yml").read_text(encoding="utf-8")
    )


def test_without_a_search_the_workflow_says_where_its_step_goes(say: Say, project: Path) -> None:
    say(*ASKED, cwd=project)

    text = (project / ".github/workflows/ranking-gate.yml").read_text(encoding="utf-8")
    assert "# Put the step that writes new.run here" in text
    assert "RANK" not in text
    assert [step["run"].split()[0] for step in steps_of(project) if "run" in step] == [
        "pip",
        "idealrank",
    ]


def test_a_run_that_needs_an_extra_gets_it_in_the_workflow(say: Say, project: Path) -> None:
    polars = pytest.importorskip("polars")
    rows = [line.split() for line in (project / "new.run").read_text(encoding="utf-8").splitlines()]
    columns = {
        "query": [row[0] for row in rows],
        "document": [row[2] for row in rows],
        "score": [float(row[4]) for row in rows],
    }
    polars.DataFrame(columns).write_parquet(project / "new.parquet")

    said = say("init", "eval/qrels.txt", "new.parquet", cwd=project)

    assert said.code == 0
    assert (
        next(step["run"] for step in steps_of(project) if "run" in step)
        == 'pip install "idealrank[arrow]"'
    )


# --- choices ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "left_out"),
    [
        (["--no-workflow"], {".github/workflows/ranking-gate.yml"}),
        (["--no-pytest"], {"tests/test_ranking_gate.py"}),
        (
            ["--no-workflow", "--no-pytest"],
            {".github/workflows/ranking-gate.yml", "tests/test_ranking_gate.py"},
        ),
    ],
)
def test_parts_can_be_left_out(
    say: Say, project: Path, options: list[str], left_out: set[str]
) -> None:
    before = files_of(project)

    say(*ASKED, *options, cwd=project)

    assert made_since(before, project) == WRITTEN - left_out


def test_a_dry_run_prints_the_files_and_writes_nothing(say: Say, project: Path) -> None:
    before = files_of(project)
    dry = say(*ASKED, "--dry-run", cwd=project)
    assert (dry.code, files_of(project)) == (0, before)

    say(*ASKED, cwd=project)

    for name in WRITTEN - {"main.baseline.gz"}:
        assert (project / name).read_text(encoding="utf-8") in dry.out
    assert f"({len((project / 'main.baseline.gz').read_bytes()):,} bytes)" in dry.out


def test_a_directory_gets_the_files_with_paths_from_there(say: Say, project: Path) -> None:
    inside = project / "eval"
    before = files_of(project)

    said = say("init", "qrels.txt", "../new.run", "--directory", "..", cwd=inside)

    assert said.code == 0
    assert "Next: cd .. && idealrank gate" in said.out
    assert made_since(before, project) == WRITTEN
    table = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "idealrank"
    ]["gate"]
    assert (table["qrels"], table["run"], table["baseline"]) == (
        "eval/qrels.txt",
        "new.run",
        "main.baseline.gz",
    )
    assert say("gate", cwd=project).code == 0


def test_files_outside_the_directory_are_warned_of(say: Say, project: Path) -> None:
    (project / "inside").mkdir()

    said = say(*ASKED, "--directory", "inside", cwd=project)

    assert said.code == 0
    assert said.err.count("is outside inside: a checkout of the repository may not have it") == 2


# --- an existing project ------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n", "\n\n"])
def test_a_pyproject_keeps_its_content(say: Say, project: Path, end: str, last: str) -> None:
    text = f'# mine\n[project]\nname = "shop"\nversion = "1"{last}'.replace("\n", end)
    (project / "pyproject.toml").write_text(text, encoding="utf-8", newline="")

    said = say(*ASKED, cwd=project)

    whole = (project / "pyproject.toml").read_bytes().decode("utf-8")
    assert said.code == 0
    assert whole.startswith(text)
    assert whole.count("\n") == whole.count(end)
    assert tomllib.loads(whole)["project"]["name"] == "shop"
    assert say("gate", cwd=project).code == 0


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "[tool.idealrank.gate]\nalpha = 0.1\n",
            "pyproject.toml: found the table [tool.idealrank.gate], expected none; edit it",
        ),
        ("[project\n", "pyproject.toml: found a file that is not TOML"),
        (
            "tool = {other = 1}\n",
            "pyproject.toml: found keys that leave no place for the table [tool.idealrank.gate]",
        ),
    ],
)
def test_a_pyproject_without_a_place_for_the_table_stops_everything(
    say: Say, project: Path, text: str, error: str
) -> None:
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    before = files_of(project)

    said = say(*ASKED, cwd=project)

    assert (said.code, said.out) == (2, "")
    assert error in said.err
    assert files_of(project) == before


# --- all or nothing -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(WRITTEN - {"pyproject.toml"}))
@pytest.mark.parametrize("options", [[], ["--dry-run"]])
def test_a_file_that_exists_is_named_and_nothing_is_written(
    say: Say, project: Path, name: str, options: list[str]
) -> None:
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text("mine", encoding="utf-8")
    before = files_of(project)

    said = say(*ASKED, *options, cwd=project)

    assert (said.code, said.out) == (2, "")
    assert f"found {name}, expected no file there; nothing was written" in said.err
    assert files_of(project) == before


def test_every_file_that_exists_is_named_at_once(say: Say, project: Path) -> None:
    say(*ASKED, cwd=project)
    (project / "pyproject.toml").unlink()
    before = files_of(project)

    said = say(*ASKED, cwd=project)

    assert all(name in said.err for name in WRITTEN - {"pyproject.toml"})
    assert files_of(project) == before


def test_a_link_without_a_target_is_a_file_that_exists(say: Say, project: Path) -> None:
    (project / "main.baseline.gz").symlink_to("elsewhere")

    assert say(*ASKED, cwd=project).code == 2
    assert not (project / "elsewhere").exists()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("init", "eval/qrels.txt", "none.run"), "none.run: found no such file"),
        (("init", "eval/qrels.txt", "empty.run"), "empty.run: found no result"),
        (
            ("init", "eval/qrels.txt", "other.run"),
            "run other: 60 judged queries, and the run answers none of them",
        ),
        (("init", "-", "new.run"), "found - (standard input), expected files"),
        ((*ASKED, "-m", "nope"), "unknown measure 'nope'"),
        ((*ASKED, "--queries", "none.tsv"), "none.tsv: found no such file"),
        ((*ASKED, "--directory", "none"), "--directory none: found no such folder"),
        ((*ASKED, "--search", "a\x1b[2J"), "found a control character"),
        ((*ASKED, "--run-columns", "query"), "--run-columns query: expected query=NAME"),
    ],
)
def test_input_that_is_wrong_is_refused_before_anything_is_written(
    say: Say, project: Path, arguments: tuple[str, ...], error: str
) -> None:
    (project / "empty.run").write_text("", encoding="utf-8")
    (project / "other.run").write_text("elsewhere Q0 x 1 1.0 t\n", encoding="utf-8")
    before = files_of(project)

    said = say(*arguments, cwd=project)

    assert (said.code, said.out) == (2, "")
    assert error in said.err
    assert files_of(project) == before


def test_a_folder_that_cannot_be_made_leaves_nothing_behind(say: Say, project: Path) -> None:
    (project / "tests").write_text("a file, not a folder", encoding="utf-8")
    before = files_of(project)

    said = say(*ASKED, cwd=project)

    assert said.code == 2
    assert "tests" in said.err
    assert files_of(project) == before


def test_files_that_were_written_are_taken_back_if_a_later_one_fails(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("before", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    before = files_of(tmp_path)
    contents = dict.fromkeys(("kept.txt", "new/a.txt", "folder", "late.txt"), b"after")

    with pytest.raises(InputError, match="found a directory"):
        write_together({tmp_path / name: content for name, content in contents.items()})

    assert files_of(tmp_path) == before
