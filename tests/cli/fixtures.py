"""Running commands inside the test process, which is ten times faster than starting Python for
each.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from idealrank.cli import main
from tests.cli import gate_runs, terminal


@pytest.fixture
def say(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., terminal.Said]:
    """Run a command in the folder of the example files and give what it said."""
    monkeypatch.chdir(terminal.DATA)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)

    def run(*arguments: str, cwd: Path | None = None) -> terminal.Said:
        if cwd is not None:
            monkeypatch.chdir(cwd)
        capfd.readouterr()
        code = main.run(arguments)
        out, err = capfd.readouterr()
        return terminal.Said(code, out, err)

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Judgments, and a first run for a series of gates."""
    gate_runs.write_judgments(tmp_path)
    gate_runs.write_run(tmp_path, "start", {})
    return tmp_path


@pytest.fixture
def gate(folder: Path, say: Callable[..., terminal.Said]) -> gate_runs.Gate:
    """Hold a run of the folder to the baseline file, which holds the first run."""

    def ask(run: str, *options: str, baseline: str = "main.gz") -> terminal.Said:
        return say(
            "gate",
            "qrels.txt",
            f"{run}.run",
            "-m",
            "RR",
            "--baseline",
            baseline,
            *options,
            cwd=folder,
        )

    assert ask("start", "--update-baseline").code == 0
    return ask
