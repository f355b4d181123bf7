"""Completion in a shell: what click's variable asks, and what it is told."""

from collections.abc import Callable

import pytest

from idealrank.cli import main

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
        ("idealrank unknown wo", ["file,wo"]),
    ],
)
def test_a_word_is_completed(words: str, expected: list[str], complete: Complete) -> None:
    assert complete(words) == expected


def test_every_command_is_offered(complete: Complete) -> None:
    assert complete("idealrank ") == [f"plain,{name}" for name in main.COMMANDS]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_IDEALRANK_COMPLETE", f"{shell}_source")

    assert main.run([]) == 0
    assert f"_IDEALRANK_COMPLETE={shell}_complete" in capsys.readouterr().out
