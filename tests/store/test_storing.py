"""What a command puts into a store: the commit is git's own, the inputs are the files."""

import hashlib
import json
import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest

import idealrank as ir
from idealrank.cli.invocation import Checkout, checkout, command_line
from idealrank.store import Store
from idealrank.store.commands import keeping as storage
from tests.store.store_samples import evaluations


def git(folder: Path, *words: str) -> str:
    names = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *names, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder without a repository around it, and no build server."""
    for name in ("GITHUB_SHA", "CI_COMMIT_SHA", "GIT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commit_is_what_git_says(alone: Path) -> None:
    assert checkout() == Checkout("", None)
    git(alone, "init", "-q")
    assert checkout() == Checkout("", None)  # no commit yet
    (alone / "code.py").write_text("1\n", encoding="utf-8")
    git(alone, "add", "code.py")
    git(alone, "commit", "-qm", "first")
    assert checkout() == Checkout(git(alone, "rev-parse", "HEAD"), dirty=False)
    (alone / "new.run").write_text("", encoding="utf-8")
    assert checkout().dirty is False  # not tracked
    (alone / "code.py").write_text("2\n", encoding="utf-8")
    assert checkout().dirty is True


def test_a_build_server_without_a_repository_says_the_commit(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_COMMIT_SHA", "ab" * 20)
    assert checkout() == Checkout("ab" * 20, None)
    monkeypatch.setenv("CI_COMMIT_SHA", "$(rm -rf)")
    assert checkout() == Checkout("", None)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("GITHUB_SHA", "cd" * 20)
    assert checkout().commit == "cd" * 20


@pytest.mark.parametrize(
    ("word", "shortened"),
    [
        ("/home/ann/m.qrels", "m.qrels"),
        ("/home/ann/a=b/m.qrels", "m.qrels"),
        ("file:///home/ann/m.qrels", "m.qrels"),
        ("-o/home/ann/m.json", "-om.json"),
        ("--output=/home/ann/m.json", "--output=m.json"),
        ("model=/home/ann/m.qrels", "model=m.qrels"),
        ("--judge=model=/home/ann/m.qrels", "--judge=model=m.qrels"),
        ("-jmodel=/home/ann/m.qrels", "-jmodel=m.qrels"),
        ("--slices=traffic:/home/ann/t.csv", "--slices=traffic:t.csv"),
        ("traffic:/home/ann/t.csv", "traffic:t.csv"),
        ("model=runs/m.qrels", "model=runs/m.qrels"),
        ("--url=http://host/a?b=/c", "--url=http://host/a?b=/c"),
        ("/", "/"),
    ],
)
def test_a_command_line_names_no_folder_of_a_user(word: str, shortened: str) -> None:
    with click.Context(click.Command("judge"), obj=["judge", word]):
        assert shlex.split(command_line()) == ["idealrank", "judge", shortened]


def test_a_path_below_the_current_folder_stays_relative(alone: Path) -> None:
    with click.Context(click.Command("judge"), obj=[f"--judge=model={alone / 'runs' / 'm.qrels'}"]):
        assert command_line() == "idealrank --judge=model=runs/m.qrels"


def test_results_go_in_with_their_files_and_the_line_names_them(alone: Path) -> None:
    (alone / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 1\n", encoding="utf-8")
    (alone / "my.run").write_text("q1 Q0 a 1 1.0 my\n", encoding="utf-8")
    one, other = (
        ir.evaluate(ir.read_qrels("qrels.txt"), ir.read_run("my.run"), ["AP"]) for _ in range(2)
    )
    kept = storage.keep(
        "s",
        [one, other],
        ir.compare(one, other),
        judgments=["qrels.txt"],
        command="idealrank x",
        tags=["t"],
        notes=["n"],
    )
    assert re.fullmatch(
        r"stored as (\w{12}), made of (\w{12}), (\w{12}); idealrank store show \w{4,12} --store s",
        kept.line,
    )
    assert kept.ids == (kept.verdict, *kept.evaluations)
    with Store.open("s") as store:
        entry = store.entry(kept.line.removesuffix(" --store s").rpartition(" ")[2])
        assert (entry.kind, entry.parts, entry.record.tags, entry.record.notes) == (
            "comparison",
            kept.evaluations,
            ("t",),
            ("n",),
        )
        inputs = store.evaluation(kept.evaluations[0]).evaluation.provenance.inputs
        assert [(one.path, one.sha256) for one in inputs] == [
            (name, hashlib.sha256(Path(name).read_bytes()).hexdigest())
            for name in ("qrels.txt", "my.run")
        ]


def test_a_gate_goes_in(alone: Path) -> None:
    one, other, *_ = evaluations()
    kept = storage.keep("s", [one, other], ir.gate(one, other, measures="AP"))
    with Store.open("s") as store:
        # Tuples are lists once they were JSON.
        assert store.gate(kept.verdict).result == json.loads(
            json.dumps(ir.gate(one, other, measures="AP").as_dict())
        )
        assert store.entry(kept.verdict).name == "run 0 against run 1"


def test_the_shortest_beginning_is_found(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s") as store:
        keys = [store.add(evaluations()[3]) for _ in range(40)]
        for key in keys:
            short = store.shortest(key)
            assert key.startswith(short)
            assert len(short) >= 4
            assert sum(other.startswith(short) for other in keys) == 1
