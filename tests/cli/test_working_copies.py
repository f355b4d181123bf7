"""Working copies of other people: looking which commit is checked out runs nothing that their configuration names."""

import csv
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import DATA, Said
from tests.git import Repository

Say = Callable[..., Said]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the traps are shell scripts")


@pytest.fixture
def trapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with files, whose configuration names a script for every occasion that `git status` and `git log` have."""
    for name, value in {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "work"
    folder.mkdir()
    repository = Repository(folder)
    files = {name: (DATA / name).read_text(encoding="utf-8") for name in ("qrels.txt", "bm25.run")}
    repository.commit("all", **files, **{".gitattributes": "*.run filter=mark\n*.txt filter=other\n"})
    return repository


def trap(repository: Repository) -> None:
    """Set them; each leaves a file of its name when it runs."""
    hooks = repository.folder / ".git" / "traps"
    hooks.mkdir()
    marks = repository.folder.parent / "marks"
    marks.mkdir()

    def script(name: str, then: str = "") -> str:
        path = hooks / name
        path.write_text(f"#!/bin/sh\ntouch '{marks}/{name}'\n{then}", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    script("post-index-change")
    settings = {
        "core.fsmonitor": script("fsmonitor"),
        "core.hooksPath": str(hooks),
        "core.pager": script("pager", "cat\n"),
        "diff.external": script("external"),
        "filter.mark.clean": script("clean", "cat\n"),
        "filter.mark.required": "true",
        "filter.other.process": script("process"),
        "log.showSignature": "true",
        "gpg.program": script("gpg"),
        "protocol.ext.allow": "always",
        "remote.far.url": f"ext::{script('fetch')}",
        "remote.far.promisor": "true",
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "far",
    }
    for name, value in settings.items():
        repository.git("config", name, value)
    for name in ("qrels.txt", "bm25.run"):  # git looks into a file whose time is another
        os.utime(repository.folder / name, (1, 1))


def marks(repository: Repository) -> list[str]:
    return sorted(path.name for path in (repository.folder.parent / "marks").iterdir())


@pytest.mark.parametrize("option", ["--report=page.html", "--store=store"])
def test_the_commit_of_a_page_or_an_entry_is_found_without_running_anything(trapped: Repository, say: Say, option: str) -> None:
    trap(trapped)

    said = say("evaluate", "qrels.txt", "bm25.run", option, cwd=trapped.folder)

    assert said.code == 0
    assert marks(trapped) == []


def test_history_walks_commits_without_running_anything(trapped: Repository, say: Say) -> None:
    for _ in range(2):
        assert say("evaluate", "qrels.txt", "bm25.run", "--store=../store", cwd=trapped.folder).code == 0
        trapped.commit("more")
    elsewhere = trapped.folder.parent / "elsewhere"
    elsewhere.mkdir()
    Repository(elsewhere).commit("another", **{"a.txt": "a"})
    files = [str(DATA / name) for name in ("qrels.txt", "bm25.run")]
    assert say("evaluate", *files, "--store=../store", cwd=elsewhere).code == 0  # a commit that this repository lacks
    trap(trapped)

    said = say("history", "--store=../store", "--drop", "0.1", cwd=trapped.folder)

    assert said.code == 0
    assert marks(trapped) == []


def test_what_is_changed_is_still_seen(trapped: Repository, say: Say) -> None:
    (trapped.folder / "bm25.run").write_text((DATA / "neural.run").read_text(encoding="utf-8"), encoding="utf-8")
    trap(trapped)

    assert say("evaluate", "qrels.txt", "bm25.run", "--store=store", cwd=trapped.folder).code == 0

    (found,) = csv.DictReader(say("history", "--store=store", "-m", "AP", "--format=csv").out.splitlines())

    assert (found["commit"], found["changed"]) == (trapped.commits()[-1], "true")
