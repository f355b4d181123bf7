"""A store that may not be written is read all the same, beside a writer too; what would change it
says so.
"""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.errors import InputError
from idealrank.store import Record, Store, database, read_only
from idealrank.store.database import Database
from tests.cli.terminal import DATA
from tests.conftest import ROOT
from tests.in_process import run
from tests.store.store_schema_1 import make_store_of_schema_1
from tests.store.stores import example_store, example_verdicts

pytestmark = pytest.mark.skipif(
    not hasattr(os, "setresuid"),
    reason="needs the permissions of Unix, and to give up those of root",
)
NOBODY = 65534


@contextmanager
def without_power() -> Iterator[None]:
    """As a user whom permissions bind, which they do not bind root."""
    if os.geteuid():
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def set_writable(folder: Path, *, writable: bool) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(
            (0o755 if path.is_dir() else 0o644) if writable else (0o555 if path.is_dir() else 0o444)
        )


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder that every user may enter; the folder of pytest is closed to others, and a
    clone in a home folder may be.
    """
    folder = Path(tempfile.mkdtemp(prefix="idealrank-read-only-"))
    folder.chmod(0o755)
    monkeypatch.chdir(folder)
    yield folder
    set_writable(folder, writable=True)
    shutil.rmtree(folder)


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def reading(ids: list[str], store: Path, out: Path) -> list[list[str]]:
    at = ["--store", str(store)]
    return [
        [*command, *at]
        for command in [
            ["history", "-m", "AP"],
            ["history", "-m", "AP", "--query", "q1"],
            ["store", "show", ids[0], "--per-query"],
            ["store", "show", ids[6]],
            ["store", "show", ids[7], "--format", "json"],
            ["store", "diff", ids[0], ids[1]],
            ["store", "sql", "select * from values order by all"],
            ["store", "sql", "select * from hits order by all"],
            ["report", ids[0], "-o", str(out / "one.html")],
            ["report", ids[0], ids[1], "-o", str(out / "two.html")],
            ["report", ids[6], "-o", str(out / "three.html")],
            ["store", "export", ids[0], str(out / "one.zip")],
            ["store", "parquet", str(out / "tables")],
        ]
    ]


def writing(ids: list[str], store: Path, exported: Path) -> list[list[str]]:
    at = ["--store", str(store)]
    qrels, bm25, neural = (
        shutil.copy(DATA / name, exported.parent)
        for name in ("qrels.txt", "bm25.run", "neural.run")
    )
    return [
        [*command, *at]
        for command in [
            ["store", "tag", ids[0], "later"],
            ["store", "tag", ids[0], "main", "--remove"],
            ["store", "tag", ids[0], "--note", "seen"],
            ["store", "gc"],
            ["store", "remove", ids[7]],
            ["store", "import", str(exported)],
            ["evaluate", qrels, bm25],
            ["compare", qrels, bm25, neural],
            ["gate", qrels, neural, "--baseline", bm25],
        ]
    ]


def without_sizes(code: int, out: str, err: str) -> tuple[int, str, str]:
    """A page tells when it was made, and how that packs decides its last kilobyte."""
    return code, out, re.sub(r"\d+ kB", "some kB", err)


@pytest.mark.slow
def test_every_reading_command_says_what_it_says_of_a_store_that_may_be_written(
    place: Path,
) -> None:
    pytest.importorskip("duckdb")
    store, out = place / "results", place / "out"
    ids = example_store(store)
    ids += example_verdicts(store, ids)
    out.mkdir()
    out.chmod(0o777)
    commands = reading(ids, store, out)
    expected = [without_sizes(*run(command)) for command in commands]
    assert {code for code, _, _ in expected} == {0}
    for made in out.iterdir():
        shutil.rmtree(made) if made.is_dir() else made.unlink()
    set_writable(store, writable=False)
    before = listing(store)
    with without_power():
        assert [without_sizes(*run(command)) for command in commands] == expected
    assert listing(store) == before


def test_every_writing_command_says_that_the_store_is_read_only(place: Path) -> None:
    store = place / "results"
    ids = example_store(store)
    ids += example_verdicts(store, ids)
    with Store.open(store) as opened:
        opened.export_file(ids[0], place / "one.zip")
    # A first time on a copy, with power: the files of Python itself may be closed to others, as in
    # a home folder.
    for command in writing(ids, shutil.copytree(store, place / "copy"), place / "one.zip"):
        run(command)
    set_writable(store, writable=False)
    before = listing(store)
    for command in writing(ids, store, place / "one.zip"):
        with without_power():
            code, out, err = run(command)
        assert (code, out) == (2, ""), (command, err)
        assert (
            f"error: {store}: found a store that is read-only here, expected one that may be "
            f"written; nothing was stored" in err
        )
    assert listing(store) == before


def mounted(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A command that sees the folder as on a read-only medium."""
    script = (
        f'mount --bind "{folder}" "{folder}" && mount -o remount,bind,ro "{folder}" && exec "$@"'
    )
    words = ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", *command]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)


def test_a_read_only_mount_is_read_by_root_too(place: Path) -> None:
    if not shutil.which("unshare") or mounted(place, "true").returncode:
        pytest.skip("needs unshare, and a kernel that lets users mount")
    ids = example_store(place / "results")
    command = ["history", "-m", "AP", "--store", str(place / "results")]
    said = mounted(place / "results", sys.executable, "-m", "idealrank", *command)
    assert (said.returncode, said.stdout) == run(command)[:2], said.stderr
    said = mounted(
        place / "results",
        sys.executable,
        "-m",
        "idealrank",
        "store",
        "tag",
        ids[0],
        "later",
        "--store",
        str(place / "results"),
    )
    assert said.returncode == 2
    assert "found a store that is read-only here" in said.stderr


WRITER = """
import sys, idealrank as ir
from idealrank.store import Store
folder, number = sys.argv[1], int(sys.argv[2])
evaluation = ir.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, ["RR"])
for place in range(number):
    with Store.open(folder) as store:
        for _ in range(3):
            store.add(evaluation)
    print(place, flush=True)
"""


def test_a_store_that_others_write_meanwhile_is_read_whole(place: Path) -> None:
    """The writer closes the store again and again, which moves what it wrote from the log into the
    database.
    """
    store = place / "results"
    Store.open(store).close()
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(store), "25"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    counts = [0]
    try:
        while writer.poll() is None:
            with without_power(), Store.open(store) as reader:
                entries = reader.entries()
                counts.append(len(entries))
                assert {entry.means["RR"] for entry in entries if entry.means} <= {0.5}
                assert len(reader.history("RR").points) >= len(entries) if entries else True
                assert reader.database.rows("PRAGMA integrity_check") == [("ok",)]
    finally:
        writer.communicate()
    assert writer.returncode == 0
    assert counts == sorted(counts)
    with without_power(), Store.open(store) as reader:
        assert len(reader.entries()) == 75


class _Renewed:
    """A connection whose first answers are those of SQLite while a writer renews the log."""

    def __init__(self, connection: sqlite3.Connection, refusals: int) -> None:
        self.connection, self.refusals = connection, refusals

    def execute(self, *given: Any) -> Any:
        if self.refusals:
            self.refusals -= 1
            raise sqlite3.OperationalError("attempt to write a readonly database")
        return self.connection.execute(*given)


def test_a_reader_waits_for_a_log_that_is_being_renewed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = place / "results"
    with Store.open(store) as writer:
        writer.add(ir.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, ["RR"]))
    set_writable(store, writable=False)
    with without_power(), Store.open(store) as reader:
        connection = _Renewed(reader.database._connection, 2)
        with monkeypatch.context() as during:
            during.setattr(reader.database, "_connection", connection)
            assert reader.database.rows("SELECT count(*) FROM entry") == [(1,)]
            connection.refusals = 1
            with pytest.raises(InputError, match="attempt to write"):  # and does not wait
                reader.database.rows("DELETE FROM entry")
    assert connection.refusals == 0


def test_a_reader_beside_a_writer_sees_what_it_writes_and_leaves_nothing(place: Path) -> None:
    store = place / "results"
    evaluation = ir.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, ["RR"])
    with Store.open(store) as writer:
        first = writer.add(evaluation)
        set_writable(store, writable=False)
        before = sorted(listing(store))
        with without_power():
            reader = Store.open(store)
            assert [entry.id for entry in reader.entries()] == [first]
        set_writable(store, writable=True)
        second = writer.add(evaluation)
        with without_power():
            assert {entry.id for entry in reader.entries()} == {first, second}
            reader.close()
        assert set(before) <= set(listing(store))
    assert not (store / "store.sqlite3-wal").exists()


@pytest.mark.parametrize("kept", [("-wal", "-shm"), ("-wal",)])
def test_what_a_killed_writer_left_in_its_log_is_read(place: Path, kept: tuple[str, ...]) -> None:
    store, copy = place / "results", place / "copy"
    with Store.open(store) as writer:
        key = writer.add(
            ir.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, ["RR"]), record=Record(tags=("late",))
        )
        shutil.copytree(store, copy)
        assert (copy / "store.sqlite3-wal").stat().st_size
    for ending in {"-wal", "-shm"} - set(kept):
        (copy / f"store.sqlite3{ending}").unlink()
    set_writable(copy, writable=False)
    before = listing(copy)
    with without_power(), Store.open(copy) as reader:
        assert reader.entry(key).record.tags == ("late",)
    assert listing(copy) == before


def test_a_store_of_an_earlier_version_is_brought_up_to_date_in_memory(place: Path) -> None:
    store = place / "results"
    key = make_store_of_schema_1(
        store, ir.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, ["RR"]), note="seen", tags=("old",)
    )
    set_writable(store, writable=False)
    before = listing(store)
    with without_power(), Store.open(store) as reader:
        assert (reader.entry(key).record.notes, reader.entry(key).record.tags) == (
            ("seen",),
            ("old",),
        )
    assert listing(store) == before


def test_a_store_that_may_not_be_read_is_said(place: Path) -> None:
    store = place / "results"
    Store.open(store).close()
    (store / "store.sqlite3").chmod(0)
    store.chmod(0o555)
    with (
        without_power(),
        pytest.raises(InputError, match=r"store\.sqlite3: cannot be read: Permission denied"),
    ):
        Store.open(store)


@pytest.mark.parametrize("content", [b"x" * 4096, b"SQLite format 3\0" + bytes(4080), b""])
def test_a_read_only_file_that_is_no_store_is_said(place: Path, content: bytes) -> None:
    store = place / "results"
    store.mkdir()
    (store / "store.sqlite3").write_bytes(content)
    set_writable(store, writable=False)
    with without_power():
        try:
            with Store.open(store) as reader:
                found = reader.entries()
        except InputError as error:
            found = str(error)
    assert found == [] if not content else "store.sqlite3: " in found


def test_a_store_that_never_stands_still_is_an_error(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = place / "results"
    Store.open(store).close()
    monkeypatch.setattr(read_only, "PATIENCE", 0.0)
    monkeypatch.setattr(read_only, "_copied", lambda _: None)
    monkeypatch.setattr(database, "is_read_only", lambda _: True)
    with pytest.raises(
        InputError, match="the store changed for 0 seconds, so it could not be read"
    ):
        Database(store)
