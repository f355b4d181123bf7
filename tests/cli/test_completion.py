"""Completion in a shell: what click's variable asks, and what it is told."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from idealrank.cli import main
from tests.cli.terminal import environment

Complete = Callable[[str], list[str]]


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Complete:
    def completed(words: str) -> list[str]:
        monkeypatch.setenv("_IDEALRANK_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
        assert main.run([]) == 0
        return capsys.readouterr().out.split()

    return completed


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("idealrank rec", ["plain,reconcile"]),
        ("idealrank store sh", ["plain,show"]),
        ("idealrank judge agr", ["plain,agreement"]),
        ("idealrank search r", ["plain,recall"]),
        ("idealrank search --rest", ["plain,--restart"]),
        ("idealrank measures ad", ["plain,advise"]),
        ("idealrank measures advise --surf", ["plain,--surface"]),
        ("idealrank compare --test perm", ["plain,permutation"]),
        ("idealrank evaluate qr", ["file,qr"]),
        ("idealrank evaluate -m nd", ["plain,nDCG", "plain,nDCG_rel"]),
        ("idealrank evaluate --measure AP,rb", ["plain,AP,RBP"]),
        ("idealrank overlap -m ta", ["plain,tau", "plain,tauAP"]),
        ("idealrank judge infer -m inf", ["plain,infAP", "plain,infNDCG"]),
        ("idealrank gate q r --also rb", ["plain,RBP"]),
        ("idealrank compare --convention light", ["plain,lightgbm"]),
        ("idealrank reconcile q r --versus light", ["plain,lightgbm"]),
        ("idealrank conventions light", ["plain,lightgbm"]),
        ("idealrank measures nDCG nDCG_", ["plain,nDCG_rel"]),
        ("idealrank measures rb", ["plain,RBP"]),
        ("idealrank search co", ["file,co"]),
        ("idealrank search recall ", ["file,"]),
        ("idealrank unknown wo", ["file,wo"]),
    ],
)
def test_a_word_is_completed(
    words: str,
    expected: list[str],
    complete: Complete,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # names of files are completed, too
    assert complete(words) == expected


def test_every_command_is_offered(complete: Complete) -> None:
    assert complete("idealrank ") == [f"plain,{name}" for name in main.COMMANDS]


def test_files_are_offered_beside_the_names_of_commands(
    complete: Complete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("search.yaml", "recipes.yaml", ".hidden"):
        (tmp_path / name).touch()

    assert complete("idealrank search ") == [
        "plain,recall",
        "plain,recipes.yaml",
        "plain,search.yaml",
    ]
    assert complete("idealrank search rec") == ["plain,recall", "plain,recipes.yaml"]
    assert complete("idealrank search se") == ["file,se"]


@pytest.mark.parametrize("words", ["evaluate -m nd", "compare --convention l", "search ", "judge "])
def test_completion_loads_no_scipy(words: str) -> None:
    typed = f"idealrank {words}"
    asked = {
        "_IDEALRANK_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
    }
    code = (
        "import sys; from idealrank.cli.main import run; run([]); "
        "print([name for name in ('scipy', 'rich', 'narwhals', 'pandas') if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment() | asked,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.startswith("plain,")
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_IDEALRANK_COMPLETE", f"{shell}_source")

    assert main.run([]) == 0
    assert f"_IDEALRANK_COMPLETE={shell}_complete" in capsys.readouterr().out
