"""What the guide of the gate shows and no code block can run: workflows of build servers, and a
session of pytest.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from idealrank.cli.commands.gate import gate
from idealrank.cli.main import UNDECIDABLE
from idealrank.integrations import pytest_gate
from idealrank.reports.views.gate.pull_request import MARKER
from tests.cli.terminal import environment
from tests.conftest import PYDOCS
from tests.docs.blocks import ROOT, Block, blocks_of, commands_of
from tests.git import NOBODY, Repository
from tests.pools import collection, qrels_text, run_text

PAGE = (ROOT / "docs" / "guides" / "gate.md").read_text(encoding="utf-8")
BLOCKS = blocks_of(PAGE)
OPTIONS = {name for option in gate.params for name in (*option.opts, *option.secondary_opts)}


def block(language: str, holding: str) -> Block:
    (found,) = (one for one in BLOCKS if one.language == language and holding in one.text)
    return found


def test_the_github_workflow_is_one_and_asks_for_little() -> None:
    workflow = pytest.importorskip("yaml").safe_load(block("yaml", "runs-on").text)
    jobs = workflow["jobs"]

    assert list(workflow[True]) == ["pull_request"]  # YAML 1.1 reads `on` as true; GitHub does not
    assert workflow["permissions"] == {"contents": "read"}
    assert {name: job.get("permissions") for name, job in jobs.items()} == {
        "gate": None,
        "comment": {"pull-requests": "write"},
    }
    uses = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action) for action in uses)
    assert not any(
        "uses" in step and "checkout" in step["uses"] for step in jobs["comment"]["steps"]
    )
    assert "head.repo.full_name == github.repository" in jobs["comment"]["if"]
    written = next(
        step["with"]["path"] for step in jobs["gate"]["steps"] if "upload" in step.get("uses", "")
    )
    assert written.split() == ["gate.xml", "gate.md"]
    posted = jobs["comment"]["steps"][-1]
    assert MARKER in posted["run"]
    assert "body=@gate.md" in posted["run"]
    assert "${{" not in posted["run"]  # what GitHub puts into a script can be a script


@pytest.mark.parametrize("code", [0, 1, 2, 3, 70])
def test_the_github_step_ends_as_the_gate_does(tmp_path: Path, code: int) -> None:
    workflow = pytest.importorskip("yaml").safe_load(block("yaml", "runs-on").text)
    (step,) = (
        one for one in workflow["jobs"]["gate"]["steps"] if "idealrank gate" in one.get("run", "")
    )

    done = with_gate_of(code, step["run"], tmp_path)

    assert done.returncode == code


def test_a_step_may_let_exit_code_3_pass_as_the_guide_says(tmp_path: Path) -> None:
    ending = "|| test $? -eq 3"
    assert f"`{ending}` after the command" in PAGE

    assert [
        with_gate_of(code, f"idealrank gate {ending}", tmp_path).returncode for code in (0, 1, 2, 3)
    ] == [0, 1, 1, 0]


def test_the_step_with_a_page_ends_as_the_gate_does(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guides" / "from-gate-to-query.md").read_text(encoding="utf-8")
    workflow = pytest.importorskip("yaml").safe_load(
        next(one.text for one in blocks_of(page) if "outputs" in one.text)
    )
    (step,) = (
        one for one in workflow["jobs"]["gate"]["steps"] if "idealrank gate" in one.get("run", "")
    )

    assert [with_gate_of(code, step["run"], tmp_path).returncode for code in (0, 1, 2, 3)] == [
        0,
        1,
        2,
        3,
    ]


def with_gate_of(code: int, script: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a step as GitHub does, with an `idealrank` that only ends with this code."""
    program = folder / "idealrank"
    program.write_text(f"#!/bin/sh\nexit {code}\n", encoding="utf-8")
    program.chmod(0o755)
    environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-e", "-c", script],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_gitlab_job_hands_over_the_junit_file() -> None:
    (job,) = (
        pytest.importorskip("yaml").safe_load(block("yaml", "merge_request_event").text).values()
    )

    assert job["artifacts"]["reports"] == {"junit": "gate.xml"}
    assert job["artifacts"]["when"] == "always"
    assert any("--junit gate.xml" in line for line in job["script"])
    assert job["allow_failure"] == {"exit_codes": UNDECIDABLE}


@pytest.mark.slow  # a process of idealrank for each commit
def test_git_bisect_skips_what_is_neither_open_nor_closed(tmp_path: Path) -> None:
    """Six commits: good; one with too few judgments; good; one that does not run; the first bad
    one; bad.
    """
    _, pooled, baseline, run = collection()
    worse = {
        query: [*(f"other-{rank}" for rank in range(9)), listed[0]]
        for query, listed in baseline.items()
    }
    judged = pooled | {
        query: pooled[query] | dict.fromkeys(worse[query][:9], 0) for query in pooled
    }
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "qrels.txt").write_text(qrels_text(judged), encoding="utf-8")
    (tmp_path / "release.baseline.gz").write_text(run_text(baseline), encoding="utf-8")
    repository = Repository(tmp_path)
    (tmp_path / ".gitignore").write_text(
        "new.run\neval\nrelease.baseline.gz\n*.sh\nbin\n", encoding="utf-8"
    )
    copy = "import shutil; shutil.copy('ranking.txt', 'new.run')  # {}\n"
    versions = [
        (baseline, copy),
        (run, copy),
        (baseline, copy),
        (baseline, "raise SystemExit(1)  # {}"),
        (worse, copy),
        (worse, copy),
    ]
    commits = [
        repository.commit(
            f"change {number}",
            **{"search.py": script.format(number), "ranking.txt": run_text(lists)},
        )
        for number, (lists, script) in enumerate(versions)
    ]
    wrapper = tmp_path / "bisect-gate.sh"
    wrapper.write_text(block("sh", "exit 125").text, encoding="utf-8")
    wrapper.chmod(0o755)
    codes = [bisected(tmp_path, commit, repository) for commit in commits]

    said = subprocess.run(
        [
            "sh",
            "-e",
            "-c",
            f"git bisect start {commits[-1]} {commits[0]} && git bisect run {wrapper}",
        ],
        cwd=tmp_path,
        env=with_idealrank(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )

    assert codes == [0, 125, 0, 125, 1, 1]
    # The commit before the first bad one cannot be tested, so git names both, as it does after a
    # skip.
    possible = set(re.findall(r"^[0-9a-f]{40}$", said.stdout, re.MULTILINE))
    assert "There are only 'skip'ped commits left to test" in said.stdout + said.stderr
    assert possible == {commits[3], commits[4]}


def bisected(folder: Path, commit: str, repository: Repository) -> int:
    """What the wrapper says of a commit."""
    repository.git("checkout", "-q", commit)
    return subprocess.run(
        [folder / "bisect-gate.sh"],
        cwd=folder,
        env=with_idealrank(folder),
        capture_output=True,
        check=False,
    ).returncode


def with_idealrank(folder: Path) -> dict[str, str]:
    """An environment with `idealrank` and `python` on the path, and a git that asks nobody's
    configuration.
    """
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for name, command in (
        ("idealrank", f'"{sys.executable}" -m idealrank'),
        ("python", f'"{sys.executable}"'),
    ):
        (programs / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    return environment(**NOBODY, PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")


def test_every_option_of_the_gate_that_the_guide_names_exists() -> None:
    lines = [line for line in PAGE.splitlines() if "idealrank gate" in line]
    named = set(re.findall(r"(?<=[\s`])--[a-z-]+", "\n".join(lines)))

    assert {
        "--baseline",
        "--update-baseline",
        "--strict",
        "--margin",
        "--also",
        "--junit",
        "--markdown",
        "--contracts",
    } <= named
    assert named - OPTIONS - {"--help"} == set()
    assert (
        set(re.findall(r"`(--(?:no-)?(?:github|strict|tolerance|margin|update-baseline)\b)", PAGE))
        <= OPTIONS
    )


def test_the_session_of_pytest_is_as_shown(pytester: pytest.Pytester) -> None:
    shutil.copytree(
        PYDOCS,
        pytester.path / "examples" / "pydocs",
        ignore=shutil.ignore_patterns("__pycache__", "*.py"),
    )
    policy = next(command for command, _ in commands_of(block("console", "cat > pyproject.toml")))
    (pytester.path / "pyproject.toml").write_text(
        "\n".join(policy.splitlines()[1:-1]), encoding="utf-8"
    )
    lines = (PYDOCS / "minilm.run").read_text(encoding="utf-8").splitlines(keepends=True)
    fifth = [line for line in lines if not (line.split()[3] == "1" and line.split()[0][-1] in "05")]
    (pytester.path / "fifth.run").write_text("".join(fifth), encoding="utf-8")
    asked = (
        PYDOCS / "qrels.txt",
        PYDOCS / "minilm.run",
        pytester.path / "main.baseline.gz",
        {"measures": "nDCG@10"},
    )
    # the second loads what a gate needs before pytest runs inside pytest
    for update in (True, False):
        assert not pytest_gate.ask(*asked, root=pytester.path, update=update).failure
    pytester.makepyfile(test_search=block("python", "ranking_gate").text)

    result = pytester.runpytest_inprocess(
        "-p", "idealrank.pytest_plugin", "-p", "no:xdist", "-p", "no:hypothesispytest"
    )

    result.assert_outcomes(passed=1)
    _, *shown, _ = block("text", "ranking gates").text.splitlines()
    result.stdout.fnmatch_lines([line.replace("[", "[[]") for line in shown])
