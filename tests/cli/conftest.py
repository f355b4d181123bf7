"""Running commands inside the test process, which is ten times faster than starting Python for each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from idealrank.cli import main
from tests.cli import terminal


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., terminal.Said]:
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
