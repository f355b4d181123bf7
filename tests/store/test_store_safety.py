"""Killed writers, four at once and a full disk lose nothing that was acknowledged: the script that
shows it, and that it can fail.
"""

import importlib
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.errors import InputError
from idealrank.store import Store
from idealrank.store.value_files import Prepared
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")


@pytest.fixture(scope="module")
def writers() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "experiments")
        yield importlib.import_module("store_writers")
    sys.modules.pop("store_writers", None)


def run(*options: str, code: int = 0) -> list[list[str]]:
    """The cells of the rows that the script prints."""
    command = [sys.executable, ROOT / "experiments" / "store_kill.py", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == code, done.stdout + done.stderr
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in done.stdout.splitlines()[2:]
    ]


def holds(rows: list[list[str]], kills: int) -> None:
    assert len(rows) == 3
    for _, acknowledged, found, clean, _, besides in rows:
        assert acknowledged == found == clean != "0"
        assert besides.endswith("SQLite says ok")
    assert [row[4] for row in rows] == ["0", "0", "0"]
    assert f"after {kills} of {kills} kills" in rows[0][5]
    assert int(re.match(r"\d+", rows[0][0])[0]) >= kills
    refusals = re.match(r"(\d+) refusals, (\d+) of them say what to do", rows[2][5]).groups()
    assert refusals[0] == refusals[1] != "0"


@pytest.mark.slow
def test_a_few_kills_lose_nothing() -> None:
    # A kill is a kill on any file system; on one in memory nobody waits for a disk.
    memory = ["--folder", "/dev/shm"] if Path("/dev/shm").is_dir() else []
    holds(run("--kills", "4", "--each", "5", "--fillings", "2", *memory), kills=4)


@pytest.mark.slow
def test_200_kills_lose_nothing() -> None:
    holds(run("--kills", "200", "--seed", "7"), kills=200)
    holds(run("--kills", "1", "--fillings", "60", "--limit"), kills=1)


@pytest.mark.slow
def test_kills_find_rows_that_are_committed_before_their_files() -> None:
    """Nine of 200 kills did when this was written: that none does has a chance of about one in ten
    thousand.
    """
    memory = ["--folder", "/dev/shm"] if Path("/dev/shm").is_dir() else []
    rows = run("--kills", "200", "--each", "2", "--fillings", "2", "--control", *memory, code=1)
    assert int(rows[0][4]) > 0


def test_the_check_sees_what_is_lost(writers: Any, tmp_path: Path) -> None:
    whole, rng, checked = writers.base(), np.random.default_rng(3), writers.Checked()
    with Store.open(tmp_path) as store:
        evaluations = [writers.random_evaluation(whole, rng) for _ in range(4)]
        said = [(store.add(evaluation), writers.digest(evaluation)) for evaluation in evaluations]
        store.files.path(store.evaluation(said[0][0]).fields["files"]["values"]).unlink()
        damaged = store.files.path(store.evaluation(said[1][0]).fields["files"]["values"])
        damaged.write_bytes(damaged.read_bytes()[::-1])
        store.remove(said[2][0])
        said[3] = (said[3][0], "another digest")
    writers.check(tmp_path, said, checked)
    assert (checked.acknowledged, checked.found, checked.clean, len(checked.problems)) == (
        4,
        3,
        0,
        3,
    )


def test_a_writer_that_fails_between_file_and_row_leaves_the_store_as_it_was(
    writers: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    with Store.open(tmp_path) as store:
        kept = store.add(writers.base())
        placed = Prepared.place

        def place_and_fail(prepared: Prepared) -> None:
            placed(prepared)
            raise OSError(28, "No space left on device", "values")

        monkeypatch.setattr(Prepared, "place", place_and_fail)
        with pytest.raises(InputError, match="values: No space left on device; nothing was stored"):
            store.add(writers.random_evaluation(writers.base(), np.random.default_rng(1)))
        monkeypatch.undo()
        assert [entry.id for entry in store.entries()] == [kept]
        assert store.gc().files >= 1
        assert store.evaluation(kept).evaluation.mean() == writers.base().mean()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_files_are_on_the_disk_under_their_names_before_the_row_is_committed(
    writers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a loss of power would ask for, in the order of the calls to the system."""
    evaluation = writers.random_evaluation(writers.base(), np.random.default_rng(0))
    with Store.open(tmp_path) as store:
        events: list[tuple[str, str]] = []
        fsync, rename = os.fsync, Path.replace

        def traced_fsync(handle: int) -> None:
            events.append(("fsync", Path(f"/proc/self/fd/{handle}").readlink().name))
            fsync(handle)

        def traced_rename(path: Path, target: Path) -> Path:
            events.append(("rename", f"{path.name} {target.name}"))
            return rename(path, target)

        monkeypatch.setattr(os, "fsync", traced_fsync)
        monkeypatch.setattr(Path, "replace", traced_rename)
        store.database._connection.set_trace_callback(
            lambda statement: events.append(("sql", statement.split()[0]))
        )
        names = set(store.evaluation(store.add(evaluation)).fields["files"].values())
    commit = events.index(("sql", "COMMIT"))
    assert events.index(("sql", "BEGIN")) < commit
    for name in names:
        (renamed,) = (
            place
            for place, (what, words) in enumerate(events)
            if what == "rename" and words.endswith(f" {name}")
        )
        unfinished = events[renamed][1].split()[0]
        assert (
            events.index(("fsync", unfinished))
            < renamed
            < events.index(("fsync", name[:2]), renamed)
            < commit
        )
        # where the folder of the file, and that of all values, may be new
        for folder in ("values", tmp_path.name):
            assert renamed < events.index(("fsync", folder), renamed) < commit
    inserts = [place for place, event in enumerate(events) if event == ("sql", "INSERT")]
    assert inserts
    assert max(place for place, (what, _) in enumerate(events[:commit]) if what == "fsync") < min(
        inserts
    )


def test_a_damaged_record_of_a_comparison_is_named_by_sql(tmp_path: Path) -> None:
    """Asking a store checks a record as looking at it does."""
    pytest.importorskip("duckdb")
    with ir.Store.open(tmp_path / "results") as store:
        qrels = {f"q{number}": {"a": 1} for number in range(4)}
        runs = [
            ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR")
            for ranking in (["a"], ["b", "a"])
        ]
        store.add_comparison(ir.compare(*runs), [store.add(run) for run in runs])
        assert store.sql("select * from comparisons").rows
    connection = sqlite3.connect(tmp_path / "results" / "store.sqlite3")
    connection.execute(
        "UPDATE entry SET record = replace(record, ':', ';') WHERE kind = 'comparison'"
    )
    connection.commit()
    connection.close()
    with (
        ir.Store.open(tmp_path / "results") as store,
        pytest.raises(ir.InputError, match=r"the record of .* is damaged"),
    ):
        store.sql("select * from comparisons")


def test_a_store_that_sqlite_cannot_even_quote_is_named(tmp_path: Path) -> None:
    """Of a damaged schema SQLite says what it cannot read, in bytes that need not be UTF-8."""
    Store.open(tmp_path / "results").close()
    path = tmp_path / "results" / "store.sqlite3"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"CREATE TABLE entry", b"CREATE TABL\xe7 entry"))
    with pytest.raises(InputError, match=r"store\.sqlite3: "):
        Store.open(tmp_path / "results").entries()
