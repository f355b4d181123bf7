"""A store on a disk that may only be read answers every question, and says so where it is to be changed."""

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.errors import InputError
from idealrank.explanation import judged_hits
from idealrank.store import Store
from idealrank.store.database import NAME
from tests.conftest import PYDOCS

QRELS, RUN = {"q1": {"a": 1}, "q2": {"c": 2}}, {"q1": ["a", "b"], "q2": ["x", "c"]}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    with Store.open(tmp_path / "kept") as store:
        for depth in (1, 2):
            store.add(ir.evaluate(QRELS, {q: r[:depth] for q, r in RUN.items()}, ["RR"]), hits=judged_hits(ir.Qrels(QRELS), ir.Run(RUN)))
    return tmp_path / "kept"


@pytest.fixture
def forbidden(kept: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nobody may write in the folder, as far as the system is asked; root may write anywhere else."""
    allowed = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: allowed(path, mode) and not (mode & os.W_OK and kept in (Path(path), Path(path).parent))
    )
    return kept


def test_it_is_read_and_not_changed(forbidden: Path) -> None:
    with Store.open(forbidden) as store:
        keys = [entry.id for entry in store.entries()]
        assert [store.evaluation(key).evaluation.mean()["RR"] for key in keys] == [0.75, 0.5]
        assert [point.value for point in store.history("RR").points] == [0.5, 0.75]
        with pytest.raises(InputError, match="may only be read, expected one that may be written; nothing was changed"):
            store.tag(keys[0], "seen")
        assert [entry.record.tags for entry in store.entries()] == [(), ()]


def test_the_work_is_not_done_for_a_store_that_cannot_keep_it(forbidden: Path, say) -> None:
    said = say("evaluate", str(PYDOCS / "qrels.txt"), str(PYDOCS / "bm25.run"), "--store", str(forbidden), cwd=forbidden)
    assert (said.code, said.out) == (2, "")
    assert "may only be read" in said.err


def test_a_writer_elsewhere_is_seen(forbidden: Path) -> None:
    """Permissions can differ: what another user has written and not closed yet lies in the log beside the file."""
    with sqlite3.connect(forbidden / NAME) as writer:
        writer.execute("INSERT INTO tag (id, tag) SELECT id, 'seen' FROM entry")
        writer.commit()
        with Store.open(forbidden) as store:
            assert [entry.record.tags for entry in store.entries()] == [("seen",)] * 2


def test_changes_that_lie_in_a_log_without_its_index_are_not_overlooked(kept: Path, forbidden: Path, tmp_path: Path, monkeypatch) -> None:
    with sqlite3.connect(forbidden / NAME) as writer:
        writer.execute("INSERT INTO tag (id, tag) SELECT id, 'seen' FROM entry")
        writer.commit()
        copied = tmp_path / "copied"
        shutil.copytree(forbidden, copied, ignore=shutil.ignore_patterns("*-shm"))
    writer.close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(sqlite3, "connect", without_index(sqlite3.connect))
    with pytest.raises(InputError, match="found changes that have not come into"):
        Store.open(copied)


def without_index(connect):
    """SQLite where it may not make the index of a log, as on a disk that may only be read."""

    def refusing(name, **options):
        connection = connect(name, **options)
        if "mode=ro" in name:
            connection.close()
            connection = Refusing()
        return connection

    return refusing


class Refusing:
    """A connection that cannot open its file."""

    def execute(self, _statement: str) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    def close(self) -> None:
        """Nothing is open."""


def test_an_old_store_is_not_brought_up_to_date_where_nobody_may(forbidden: Path) -> None:
    with sqlite3.connect(forbidden / NAME) as writer:
        writer.execute("PRAGMA user_version=1")
    writer.close()
    with pytest.raises(InputError, match="found a store of schema 1 that may not be written"):
        Store.open(forbidden)


def _may_mount() -> bool:
    try:
        return subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not _may_mount(), reason="mounting a folder read-only needs root and unshare (util-linux)")
def test_every_question_is_answered_on_a_disk_that_may_only_be_read(kept: Path, tmp_path: Path) -> None:
    with Store.open(kept) as store:
        first, second = (entry.id for entry in store.entries())
    questions = [
        "history", "store info", f"show {first}", f"diff {first} {second}", "sql 'SELECT count(*) FROM means'",
        f"store export {first} {tmp_path}/one.zip", f"store parquet {tmp_path}/tables",
    ]  # fmt: skip
    script = [f"mount --bind {kept} /mnt", "mount -o remount,ro,bind /mnt", "! touch /mnt/x"]
    script += [f"{sys.executable} -m idealrank {question} --store /mnt" for question in questions]
    script += [f"! {sys.executable} -m idealrank tag {first} x --store /mnt"]
    ended = subprocess.run(["unshare", "-m", "bash", "-ec", "\n".join(script)], check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended
    assert "may only be read" in ended.stderr
