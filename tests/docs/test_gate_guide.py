"""What the guide of the gate shows and no code block can run: workflows of build servers, and a session of pytest."""

import re
import shutil

import pytest

from idealrank.app.commands.gate import gate
from idealrank.pytest_plugin import gating
from idealrank.reports.gated_markdown import MARKER
from tests.conftest import PYDOCS
from tests.docs.blocks import ROOT, Block, blocks_of, commands_of

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
    assert {name: job.get("permissions") for name, job in jobs.items()} == {"gate": None, "comment": {"pull-requests": "write"}}
    uses = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", action) for action in uses)
    assert not any("uses" in step and "checkout" in step["uses"] for step in jobs["comment"]["steps"])
    assert "head.repo.full_name == github.repository" in jobs["comment"]["if"]
    written = next(step["with"]["path"] for step in jobs["gate"]["steps"] if "upload" in step.get("uses", ""))
    assert written.split() == ["gate.xml", "gate.md"]
    posted = jobs["comment"]["steps"][-1]
    assert MARKER in posted["run"]
    assert "body=@gate.md" in posted["run"]
    assert "${{" not in posted["run"]  # what GitHub puts into a script can be a script


def test_the_gitlab_job_hands_over_the_junit_file() -> None:
    (job,) = pytest.importorskip("yaml").safe_load(block("yaml", "merge_request_event").text).values()

    assert job["artifacts"]["reports"] == {"junit": "gate.xml"}
    assert job["artifacts"]["when"] == "always"
    assert any("--junit gate.xml" in line for line in job["script"])


def test_every_option_of_the_gate_that_the_guide_names_exists() -> None:
    lines = [line for line in PAGE.splitlines() if "idealrank gate" in line]
    named = set(re.findall(r"(?<=[\s`])--[a-z-]+", "\n".join(lines)))

    assert {"--baseline", "--update-baseline", "--strict", "--margin", "--junit", "--markdown", "--contracts"} <= named
    assert named - OPTIONS - {"--help"} == set()
    assert set(re.findall(r"`(--(?:no-)?(?:github|strict|tolerance|margin|update-baseline)\b)", PAGE)) <= OPTIONS


def test_the_session_of_pytest_is_as_shown(pytester: pytest.Pytester) -> None:
    shutil.copytree(PYDOCS, pytester.path / "examples" / "pydocs", ignore=shutil.ignore_patterns("__pycache__", "*.py"))
    policy = next(command for command, _ in commands_of(block("console", "pyproject.toml")))
    (pytester.path / "pyproject.toml").write_text("\n".join(policy.splitlines()[1:-1]), encoding="utf-8")
    lines = (PYDOCS / "minilm.run").read_text(encoding="utf-8").splitlines(keepends=True)
    fifth = [line for line in lines if not (line.split()[3] == "1" and line.split()[0][-1] in "05")]
    (pytester.path / "fifth.run").write_text("".join(fifth), encoding="utf-8")
    asked = (PYDOCS / "qrels.txt", PYDOCS / "minilm.run", pytester.path / "main.baseline.gz", {"measures": "nDCG@10"})
    for update in (True, False):  # the second loads what a gate needs before pytest runs inside pytest
        assert not gating.ask(*asked, root=pytester.path, update=update).failure
    pytester.makepyfile(test_search=block("python", "ranking_gate").text)

    result = pytester.runpytest_inprocess("-p", "idealrank.pytest_plugin", "-p", "no:xdist", "-p", "no:hypothesispytest")

    result.assert_outcomes(passed=1)
    _, *shown, _ = block("text", "ranking gates").text.splitlines()
    result.stdout.fnmatch_lines([line.replace("[", "[[]") for line in shown])
