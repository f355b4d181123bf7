"""Working copies of other people: looking which commit is checked out runs nothing that their
configuration names.
"""

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
    """A repository with files, whose configuration names a script for every occasion that `git
    status` and `git log` have.
    """
    for name, value in {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "work"
    folder.mkdir()
    repository = Repository(folder)
    files = {name: (DATA / name).read_text(encoding="utf-8") for name in ("qrels.txt", "bm25.run")}
    repository.commit(
        "all", **files, **{".gitattributes": "*.run filter=mark\n*.txt filter=other\n"}
    )
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
    touch(repository)


def touch(repository: Repository) -> None:
    """Give the files other times, so that an index alone cannot tell whether they changed."""
    for name in ("qrels.txt", "bm25.run"):
        os.utime(repository.folder / name, (1, 1))


# Each has an attribute for every file, and bytes for the configuration; RUN is the command that
# leaves a mark.
VECTORS = {
    "a plain name": (b"* filter=mark", b'[filter "mark"]\n clean = RUN'),
    "a long-running process": (b"* filter=mark", b'[filter "mark"]\n process = RUN'),
    "required": (b"* filter=mark", b'[filter "mark"]\n clean = RUN\n required = true'),
    "a smudge filter": (b"* filter=mark", b'[filter "mark"]\n smudge = RUN\n clean = RUN'),
    "a name with =": (b"* filter=a=b", b'[filter "a=b"]\n clean = RUN'),
    "a process with =": (b"* filter=a=b", b'[filter "a=b"]\n process = RUN'),
    "a name that is not UTF-8": (b"* filter=\xff", b'[filter "\xff"]\n clean = RUN'),
    "a name beyond ASCII": (
        "* filter=gr\u00f6\u00dfe".encode(),
        '[filter "gr\u00f6\u00dfe"]\n clean = RUN'.encode(),
    ),
    "a name with a dot": (b"* filter=a.b", b'[filter "a.b"]\n clean = RUN'),
    "upper case": (b"* filter=MARK", b'[FILTER "MARK"]\n CLEAN = RUN'),
    "the name of Git LFS": (b"* filter=lfs", b'[filter "lfs"]\n clean = RUN\n process = RUN'),
    "an included file": (b"* filter=mark", b"[include]\n path = more\n"),
    "a file included on a condition": (
        b"* filter=mark",
        b'[includeIf "gitdir:**"]\n path = more\n',
    ),
    "the configuration of a worktree": (
        b"* filter=mark",
        b"[core]\n repositoryFormatVersion = 1\n[extensions]\n worktreeConfig = true",
    ),
    "attributes of the repository": (b"", b'[filter "mark"]\n clean = RUN'),
    "a text conversion": (b"* diff=mark", b'[diff "mark"]\n textconv = RUN\n command = RUN'),
    "an alias": (
        b"",
        b'[alias]\n ls-files = "!RUN"\n diff-index = "!RUN"\n rev-parse = "!RUN"\n status = "!RUN"',
    ),
    "a monitor": (b"", b"[core]\n fsmonitor = RUN"),
    "a merge driver": (b"* merge=mark", b'[merge "mark"]\n driver = RUN'),
    "a submodule's update": (
        b"",
        b'[submodule "x"]\n update = "!RUN"\n[status]\n submoduleSummary = true',
    ),
}


@pytest.mark.parametrize("vector", VECTORS)
def test_a_program_of_the_configuration_does_not_run(
    trapped: Repository, say: Say, vector: str
) -> None:
    attributes, configuration = VECTORS[vector]
    run = trapped.folder.parent / "run"
    run.write_text(f"#!/bin/sh\ntouch '{trapped.folder.parent}/ran'\ncat\n", encoding="utf-8")
    run.chmod(0o755)
    git = trapped.folder / ".git"
    (trapped.folder / ".gitattributes").write_bytes(attributes + b"\n")
    trapped.git("commit", "-qam", "attributes")
    (git / "info" / "attributes").write_bytes(b"* filter=mark\n" if not attributes else b"")
    more = b'[filter "mark"]\n clean = RUN\n'.replace(b"RUN", os.fsencode(run))
    for name in ("more", "config.worktree"):
        (git / name).write_bytes(more)
    with (git / "config").open("ab") as file:
        file.write(configuration.replace(b"RUN", os.fsencode(run)) + b"\n")
    touch(trapped)

    said = say("evaluate", "qrels.txt", "bm25.run", "--store=store", cwd=trapped.folder)

    assert said.code == 0
    assert not (trapped.folder.parent / "ran").exists()


def marks(repository: Repository) -> list[str]:
    return sorted(path.name for path in (repository.folder.parent / "marks").iterdir())


@pytest.mark.parametrize("option", ["--report=page.html", "--store=store"])
def test_the_commit_of_a_page_or_an_entry_is_found_without_running_anything(
    trapped: Repository, say: Say, option: str
) -> None:
    trap(trapped)

    said = say("evaluate", "qrels.txt", "bm25.run", option, cwd=trapped.folder)

    assert said.code == 0
    assert marks(trapped) == []


def test_history_walks_commits_without_running_anything(trapped: Repository, say: Say) -> None:
    for _ in range(2):
        assert (
            say("evaluate", "qrels.txt", "bm25.run", "--store=../store", cwd=trapped.folder).code
            == 0
        )
        trapped.commit("more")
    elsewhere = trapped.folder.parent / "elsewhere"
    elsewhere.mkdir()
    Repository(elsewhere).commit("another", **{"a.txt": "a"})
    files = [str(DATA / name) for name in ("qrels.txt", "bm25.run")]
    # a commit that this repository lacks
    assert say("evaluate", *files, "--store=../store", cwd=elsewhere).code == 0
    trap(trapped)

    said = say("history", "--store=../store", "--drop", "0.1", cwd=trapped.folder)

    assert said.code == 0
    assert marks(trapped) == []


def test_what_is_changed_is_still_seen(trapped: Repository, say: Say) -> None:
    (trapped.folder / "bm25.run").write_text(
        (DATA / "neural.run").read_text(encoding="utf-8"), encoding="utf-8"
    )
    trap(trapped)

    assert say("evaluate", "qrels.txt", "bm25.run", "--store=store", cwd=trapped.folder).code == 0

    (found,) = csv.DictReader(
        say("history", "--store=store", "-m", "AP", "--format=csv").out.splitlines()
    )

    assert (found["commit"], found["changed"]) == (trapped.commits()[-1], "true")
