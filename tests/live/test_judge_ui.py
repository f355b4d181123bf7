"""`idealrank judge ui`: its start, its end, and what it refuses before the first request."""

import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import idealrank as ir
from tests.cli.terminal import Said, environment

Say = Callable[..., Said]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pairs.csv").write_text(
        "query,document,query_text,title,text\nq1,d1,sort,sorted,Return a list\n"
        "q1,d2,sort,list,A list\n"
    )
    (tmp_path / "blank.csv").write_text("query,document\nq1,d1\nq1,d 2\n")
    (tmp_path / "human.qrels").write_text("q1 0 d1 3\n")
    return tmp_path


@contextmanager
def running(
    folder: Path, *arguments: str, **variables: str
) -> "Iterator[tuple[subprocess.Popen[str], str]]":
    """A page in a process of its own, and its address."""
    command = [
        sys.executable,
        "-m",
        "idealrank",
        "judge",
        "ui",
        "pairs.csv",
        "-o",
        "labels.qrels",
        "--port",
        "0",
        *arguments,
    ]
    surroundings = {**environment(), **variables}
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=surroundings,
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        while line and "http://" not in line and process.poll() is None:  # warnings come first
            line = process.stderr.readline()
        address = re.search(r"http://\S+", line)
        assert address is not None, line + process.stderr.read()
        yield process, address[0]
    finally:
        process.kill()
        process.communicate()


def test_a_grade_is_taken_and_a_signal_ends_the_page_as_it_ends_other_commands(
    folder: Path,
) -> None:
    with running(folder, "--scale", "0=no,1=yes", IDEALRANK_TOKEN="s3cret") as (process, home):

        def send(path: str, shown: str = "s3cret", **fields: str) -> str:
            headers = {"authorization": f"Bearer {shown}", "cookie": "idealrank-rater=ann"}
            data = urllib.parse.urlencode(fields).encode() if fields else None
            with urllib.request.urlopen(
                urllib.request.Request(home + path, data, headers), timeout=30
            ) as answer:
                return str(answer.read().decode())

        with pytest.raises(urllib.error.HTTPError, match="401"):
            send("label", "wrong", pair="1", grade="1")
        assert "2 pairs to label" in send("")
        send("join", name="ann")
        assert "Return a" in send("label") + send("label", pair="1", grade="1")
        assert ir.read_qrels(str(folder / "labels.qrels")).n_judgments == 1
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


def test_documents_of_a_pool_that_are_not_sampled_are_not_labelled(folder: Path) -> None:
    rows = "".join(f"q1,d{place},{'true' if place < 2 else 'false'}\n" for place in range(5))
    (folder / "pairs.csv").write_text(f"query,document,sampled\n{rows}")
    with running(folder) as (_, home):
        request = urllib.request.Request(home, headers={"cookie": "idealrank-rater=ann"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert "2 pairs to label" in answer.read().decode()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such.csv", "-o", "a.qrels"], "no-such.csv"),
        (["pairs.csv", "-o", "a.qrels", "--host", "0.0.0.0"], "expected a token"),
        (["pairs.csv", "-o", "pairs.csv"], "found an input file of this command"),
        (["pairs.csv", "-o", "human.qrels"], "found a file without its origin"),
        (["pairs.csv", "-o", "a.qrels", "--scale", "0"], "expected two or more finite grades"),
        (
            ["pairs.csv", "-o", "a.qrels", "--scale", "0,1", "--gold", "human.qrels"],
            "found the grade 3, expected one of 0, 1",
        ),
        (
            ["pairs.csv", "-o", "a.qrels", "--judge-qrels", "tiny=a=b/m.qrels"],
            "error: a=b/m.qrels: found no such file",
        ),
        (
            ["pairs.csv", "-o", "a.qrels", "--judge-qrels", "=m.qrels"],
            "--judge-qrels =m.qrels: expected a name and a value",
        ),
        (
            ["pairs.csv", "-o", "a.qrels", "--state", "a.qrels"],
            "--state a.qrels: found the file of -o",
        ),
        (["pairs.csv", "-o", "a.qrels", "--token", " "], "token: found an empty one"),
        (
            ["pairs.csv", "-o", "a.qrels", "--guidelines", "none.txt"],
            "none.txt: found no such file",
        ),
        (
            ["pairs.csv", "-o", "a.qrels", "--guidelines", "long.txt"],
            "long.txt: found a longer text, expected guidelines of at most 131,072 characters",
        ),
        (["pairs.csv", "-o", "a.qrels", "--double", "2"], "--double"),
        (
            ["blank.csv", "-o", "a.qrels"],
            "blank.csv: found document 'd 2', expected an id without blanks, control characters "
            "and a leading #, since a.qrels is TREC text",
        ),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_served(
    folder: Path, say: Say, arguments: list[str], said: str
) -> None:
    (folder / "long.txt").write_text("g" * 131_073, encoding="utf-8")
    found = say("judge", "ui", *arguments, "--port", "0", cwd=folder)
    assert found.code == 2
    assert said in " ".join(found.err.split())
    assert not (folder / "a.qrels").exists()


def test_a_port_in_use_is_named(folder: Path, say: Say) -> None:
    with socket.create_server(("127.0.0.1", 0)) as used:
        found = say(
            "judge",
            "ui",
            "pairs.csv",
            "-o",
            "a.qrels",
            "--port",
            str(used.getsockname()[1]),
            cwd=folder,
        )
    assert found.code == 2
    assert "found a port in use" in found.err
