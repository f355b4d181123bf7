"""`idealrank serve`: its start, its end, and what it refuses before the first request."""

import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from idealrank.store import Store
from tests.cli.terminal import Said, environment

Say = Callable[..., Said]


@contextmanager
def running(*arguments: str) -> "Iterator[tuple[subprocess.Popen[str], str]]":
    """A page in a process of its own, and its address."""
    command = [sys.executable, "-m", "idealrank", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        address = re.search(r"http://\S+", line)
        assert address is not None, line + process.stderr.read()
        yield process, address[0]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.spread(1)
@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_signal_ends_the_page_as_it_ends_other_commands(
    sent: signal.Signals, code: int, said: str
) -> None:
    with running() as (process, address):
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert b"No store is shown." in answer.read()

        process.send_signal(sent)
        out, err = process.communicate(timeout=30)

    assert (process.returncode, out, err) == (code, "", f"{said}\n")


@pytest.mark.slow
def test_the_page_follows_a_store_that_appears_later(tmp_path: Path) -> None:
    from tests.store.serve_samples import example_store

    folder = tmp_path / "results"
    with running("--store", str(folder), "--create") as (_, address):
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert b"No evaluation is stored yet." in answer.read()
        example_store(folder, days=1)
        time.sleep(0.1)
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert b"neural is at nDCG@10" in answer.read()


def test_a_token_opens_the_page_of_a_running_server() -> None:
    with running("--token", "s3cret") as (_, address):
        asked = urllib.request.Request(address, headers={"Authorization": "Bearer s3cret"})
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert b"No store is shown." in answer.read()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(address, timeout=30)

    assert refused.value.code == 401
    refused.value.close()


def test_a_port_in_use_is_refused(say: Say) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])

        said = say("serve", "--port", port)

    assert (said.code, said.out) == (2, "")
    assert (
        said.err
        == f"error: port {port}: found a port in use, expected a free one; choose another with "
        f"--port, or --port 0 for any\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "found an address that other machines reach and no token"),
        (["--host", "::"], "found an address that other machines reach and no token"),
        (["--host", "no.such.host.invalid", "--token", "x"], "expected an address of this machine"),
        (["--host", "203.0.113.7", "--token", "x"], "expected an address of this machine"),
        (["--token", " "], "token: found an empty one"),
        (["--token", "s\udcff"], "token: found bytes that are no UTF-8"),
        (["--port", "70000"], "70000 is not in the range"),
    ],
)
def test_what_cannot_be_served_is_refused_in_a_sentence(
    say: Say, arguments: list[str], words: str
) -> None:
    said = say("serve", *arguments)

    assert (said.code, said.out) == (2, "")
    assert words in said.err
    assert "Traceback" not in said.err


def test_a_file_is_no_store(say: Say, tmp_path: Path) -> None:
    tmp_path.joinpath("results").write_text("x", encoding="utf-8")

    said = say("serve", "--store", str(tmp_path / "results"))

    assert said.code == 2
    assert "found a file, expected the folder of a store" in said.err


def test_a_folder_without_a_store_is_refused_and_left_as_it_is(say: Say, tmp_path: Path) -> None:
    said = say("serve", "--store", "typo", cwd=tmp_path)

    message = (
        "error: store typo: found no store, expected a folder with store.sqlite3; `idealrank "
        "evaluate ... --store typo` creates one, or --create an empty one"
    )
    assert (said.code, said.out, " ".join(said.err.split())) == (2, "", message)
    assert not (tmp_path / "typo").exists()


def test_an_empty_store_is_made_when_it_is_wanted(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    with (
        running("--store", str(folder), "--create") as (_, address),
        urllib.request.urlopen(address, timeout=30) as answer,
    ):
        assert b"No evaluation is stored yet." in answer.read()
    with Store.open(folder, create=False) as store:
        assert store.entries() == []


def test_a_store_to_make_needs_a_folder(say: Say) -> None:
    said = say("serve", "--create")

    assert (said.code, "--create: found no --store" in said.err) == (2, True)


@pytest.mark.parametrize("package", ["uvicorn", "starlette", "jinja2"])
def test_without_the_extra_the_page_says_what_to_install(
    say: Say, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)

    said = say("serve")

    assert said.code == 2
    assert f"`idealrank serve` needs {package}; pip install" in said.err
    assert "web" in said.err


def test_texts_of_the_command_line_are_on_its_pages(tmp_path: Path) -> None:
    from tests.store.test_serve_queries import stored_files

    bm25, _ = stored_files(tmp_path)
    data = Path(__file__).resolve().parents[1] / "cli" / "data"
    texts = ("--queries", str(data / "queries.tsv"), "--documents", str(data / "documents.jsonl"))
    with running("--store", str(tmp_path), *texts) as (_, address):
        page = f"{address}query?run={bm25}&query=q1"
        with urllib.request.urlopen(page, timeout=60) as answer:
            text = answer.read().decode()

    assert "sort a list" in text
    assert "Sorting Techniques: " in text


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("-", "--queries -: found standard input, expected a file"),
        ("none.tsv", "none.tsv"),
        ("empty.tsv", "empty.tsv: found an empty file"),
    ],
)
def test_texts_that_cannot_be_read_are_refused_at_the_start(
    file: str, message: str, say: Say, tmp_path: Path
) -> None:
    (tmp_path / "empty.tsv").write_text("")

    said = say("serve", "--port", "0", "--queries", file, cwd=tmp_path)

    assert said.code == 2
    assert message in said.err
