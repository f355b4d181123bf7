"""A store says what is wrong with it, keeps to disks of this machine, and is brought up to date."""

import contextlib
import dataclasses
import errno
import os
import shutil
import sqlite3
import subprocess
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.errors import InputError, OptionError
from idealrank.store import Record, Store
from idealrank.store.database import Database
from idealrank.store.mounts import network_mount, usable_folder
from tests.pools import collection, evaluated
from tests.store.store_samples import evaluations, same_evaluation
from tests.store.store_schema_1 import make_store_of_schema_1

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/ann/local\\040disk ext4 rw 0 0
//server/share /mnt/share cifs rw 0 0
me@server: /mnt/ssh fuse.sshfs rw 0 0
host /mnt/host 9p rw 0 0
//server/old /mnt/old smb3 rw 0 0
tmpfs /mnt/old tmpfs rw 0 0
broken
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with Store.open(tmp_path / "store") as opened:
        yield opened


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/ann/results", "nfs4"),
        ("/home", "nfs4"),
        ("/mnt/share/x", "cifs"),
        ("/mnt/ssh/a/b", "fuse.sshfs"),
        ("/mnt/host", "9p"),
        ("/home/ann/local disk/results", None),
        ("/homely/results", None),
        ("/var/x", None),
        ("/mnt/old/x", None),
    ],
)
def test_network_mounts_are_found(tmp_path: Path, folder: str, kind: str | None) -> None:
    table = tmp_path / "mounts"
    table.write_text(MOUNTS, encoding="utf-8")
    found = network_mount(Path(folder), table)
    assert (found and found[0]) == kind


def test_a_network_mount_is_refused_with_the_reason(tmp_path: Path) -> None:
    table = tmp_path / "mounts"
    table.write_text(
        f"/dev/sda1 / ext4 rw 0 0\nserver:/x {tmp_path} nfs rw 0 0\n", encoding="utf-8"
    )
    with pytest.raises(
        InputError, match=r"network file system \(nfs, mounted at .*SQLite's locks.*export_file"
    ):
        usable_folder(tmp_path / "store", create=True, mounts=table)
    assert not (tmp_path / "store").exists()
    assert network_mount(tmp_path, tmp_path / "no such table") is None


def test_a_store_of_an_earlier_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    make_store_of_schema_1(
        folder, evaluations()[2], note="kept in the first version", tags=("a", "b")
    )
    with Store.open(folder) as store:
        entry = store.entries()[0]
        assert (entry.record.notes, entry.record.tags) == (
            ("kept in the first version",),
            ("a", "b"),
        )
        same_evaluation(store.evaluation(entry.id).evaluation, evaluations()[2])
        store.add(evaluations()[0], record=Record(notes=("one", "two")))
        assert store.rows("SELECT count(*) FROM note") == [(3,)]
    with (
        sqlite3.connect(folder / "store.sqlite3") as migrated,
        sqlite3.connect(_new(tmp_path) / "store.sqlite3") as new,
    ):
        schema = (
            "SELECT m.name, p.cid, p.name, p.type FROM sqlite_master m, pragma_table_info(m.name) "
            "p ORDER BY 1, 2"
        )
        assert migrated.execute(schema).fetchall() == new.execute(schema).fetchall()
        assert migrated.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert (
            migrated.execute("PRAGMA user_version").fetchone()
            == new.execute("PRAGMA user_version").fetchone()
            == (3,)
        )
    migrated.close()
    new.close()


def _new(folder: Path) -> Path:
    Store.open(folder / "new").close()
    return folder / "new"


def test_a_store_of_a_newer_schema_is_refused(store: Store) -> None:
    store.close()
    _execute(store.folder, "PRAGMA user_version=99")
    with pytest.raises(
        InputError, match=r"found a store of schema 99, expected 3 or earlier.*upgrade idealrank"
    ):
        Store.open(store.folder)


def test_a_store_that_another_makes_meanwhile_is_no_database_of_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = Database._number
    other = threading.Thread(target=lambda: Store.open(tmp_path).close())

    def number_while_another_begins(database: Database, name: str) -> int:
        found = number(database, name)
        if name == "application_id" and other.ident is None:
            other.start()
            other.join(0.3)  # it ends, or waits until this one has looked
        return found

    monkeypatch.setattr(Database, "_number", number_while_another_begins)
    with Store.open(tmp_path) as store:
        other.join()
        assert store.entries() == []


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"found no store, expected a folder with store\.sqlite3"):
        Store.open(tmp_path / "nothing", create=False)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot become a store"):
        Store.open(tmp_path / "file")
    for folder in (tmp_path / "other", tmp_path / "text"):
        folder.mkdir()
    _execute(tmp_path / "other", "CREATE TABLE mine (x)")
    with pytest.raises(InputError, match="database of another program"):
        Store.open(tmp_path / "other")
    (tmp_path / "text" / "store.sqlite3").write_text("no database at all " * 99, encoding="utf-8")
    with pytest.raises(InputError, match="damaged or not from idealrank"):
        Store.open(tmp_path / "text")


def _execute(folder: Path, statement: str) -> None:
    plain = sqlite3.connect(folder / "store.sqlite3")
    plain.execute(statement)
    plain.commit()
    plain.close()


def test_a_damaged_or_missing_file_is_named(store: Store) -> None:
    key = store.add(evaluations()[0])
    path = store.files.path(store.evaluation(key).fields["files"]["values"])
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(
        InputError,
        match=rf"{path.name}: is damaged: .* SHA-256 in its name; evaluation {key} needs it",
    ):
        _ = store.evaluation(key).evaluation
    with pytest.raises(
        InputError,
        match=rf"{path.name}: is damaged: .* SHA-256 in its name; evaluation {key} needs it",
    ):
        store.history("AP", query="q1")
    path.write_bytes(content[:-8])
    with pytest.raises(InputError, match="is damaged: its"):
        store.history("AP", query="q1")
    path.unlink()
    for read in (lambda: store.evaluation(key).evaluation, lambda: store.history("AP", query="q1")):
        with pytest.raises(InputError, match=rf"{path.name}: cannot be read.*{key} needs it"):
            read()
    store.add(evaluations()[0])  # brings the file back
    same_evaluation(store.evaluation(key).evaluation, evaluations()[0])


def test_a_damaged_record_is_found(store: Store) -> None:
    key = store.add(evaluations()[0])
    store.close()
    _execute(store.folder, "UPDATE entry SET record = replace(record, 'run 0', 'run 9')")
    with (
        Store.open(store.folder) as again,
        pytest.raises(InputError, match=f"the record of {key} is damaged"),
    ):
        again.evaluation(key)


def test_an_evaluation_goes_from_store_to_store_under_one_id(store: Store, tmp_path: Path) -> None:
    keys = [
        store.add(evaluation, record=Record(tags=("t",), notes=("n",), commit="c", dirty=False))
        for evaluation in evaluations()
    ]
    with Store.open(tmp_path / "second") as second:
        for key, evaluation in zip(keys, evaluations(), strict=True):
            store.export_file(key, tmp_path / "one.zip")
            with zipfile.ZipFile(tmp_path / "one.zip") as archive:
                assert archive.testzip() is None
            assert [second.import_file(tmp_path / "one.zip") for _ in range(2)] == [key, key]
            same_evaluation(second.evaluation(key).evaluation, evaluation)
            assert second.entry(key) == store.entry(key)
        assert len(second.entries()) == len(keys)
        shutil.rmtree(second.folder / "values")
        second.import_file(tmp_path / "one.zip")
        same_evaluation(second.evaluation(keys[-1]).evaluation, evaluations()[-1])
        second.export_file(keys[-1], tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_a_damaged_export_is_refused_wherever_it_is_damaged(store: Store, tmp_path: Path) -> None:
    store.export_file(store.add(evaluations()[2]), tmp_path / "good.zip")
    content = (tmp_path / "good.zip").read_bytes()
    with Store.open(tmp_path / "second") as second:
        for place in range(0, len(content), max(1, len(content) // 150)):
            (tmp_path / "bad.zip").write_bytes(
                content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :]
            )
            with contextlib.suppress(InputError):  # a byte may say nothing, such as one of a date
                same_evaluation(
                    second.evaluation(second.import_file(tmp_path / "bad.zip")).evaluation,
                    evaluations()[2],
                )
        (tmp_path / "bad.zip").write_bytes(content[:-30])
        with pytest.raises(InputError, match=r"bad\.zip: "):
            second.import_file(tmp_path / "bad.zip")
        with pytest.raises(InputError, match="cannot be read"):
            second.import_file(tmp_path / "none.zip")


def test_an_archive_with_other_files_is_refused(store: Store, tmp_path: Path) -> None:
    store.export_file(store.add(evaluations()[0]), tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip", "a") as archive:
        archive.writestr("../../outside.npy", b"x")
    with pytest.raises(InputError, match="expected only a record and value files"):
        store.import_file(tmp_path / "one.zip")


def test_gc_frees_what_nobody_needs_and_nothing_else(store: Store) -> None:
    kept, gone = store.add(evaluations()[0]), store.add(evaluations()[2])
    before = _files(store)
    assert store.gc() == store.gc(dry_run=True)
    assert (_files(store), store.gc().files) == (before, 0)
    store.remove(gone)
    would = store.gc(dry_run=True)
    assert _files(store) == before
    assert would == store.gc()
    assert would.files == len(before) - len(_files(store)) > 0
    assert would.bytes == sum(size for name, size in before.items() if name not in _files(store))
    same_evaluation(store.evaluation(kept).evaluation, evaluations()[0])


def _files(store: Store) -> dict[str, int]:
    return {
        path.name: path.stat().st_size
        for path in (store.folder / "values").rglob("*")
        if path.is_file()
    }


def test_gc_removes_leftovers_of_the_dead_after_an_hour(store: Store) -> None:
    folder = store.folder / "values"
    folder.mkdir(exist_ok=True)
    (folder / "mine.txt").write_text("not ours", encoding="utf-8")
    child = subprocess.Popen(["true"])
    child.wait()
    for process in (os.getpid(), child.pid):
        for hours in (0, 2):
            path = folder / f"{'0' * 64}.npy.{process}.{hours:08x}.unfinished"
            path.write_bytes(b"abc")
            os.utime(path, (time.time() - 3600 * hours,) * 2)
    assert store.gc().unfinished == 1
    assert not path.exists()
    assert len(list(folder.iterdir())) == 4


@pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_gc_waits_for_a_writer_that_has_placed_its_files(store: Store, times: int) -> None:
    """Sweepers run all the while that a writer stores the same file again and again and removes
    it.
    """
    done = threading.Event()
    swept: list[int] = []

    def sweep() -> None:
        with Store.open(store.folder) as own:
            while True:  # at least once, however late this thread is
                swept.append(own.gc().files)
                if done.is_set():
                    break

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    try:
        for _ in range(times):
            key = store.add(evaluations()[3])
            same_evaluation(store.evaluation(key).evaluation, evaluations()[3])
            store.remove(key)
    finally:
        done.set()
        sweeper.join()
    assert swept


@pytest.mark.parametrize("call", ["stat", "read_bytes"])
def test_a_file_that_is_swept_away_while_a_writer_looks_at_it_is_written_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    store.remove(store.add(evaluations()[3]))
    swept: list[Path] = []
    plain = getattr(Path, call)

    def after_a_sweeper(path: Path, *arguments: object, **named: object) -> object:
        if path.suffix == ".npy" and not swept:
            swept.append(path)
            path.unlink()
        return plain(path, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(Path, call, after_a_sweeper)
        key = store.add(evaluations()[3])

    assert swept
    same_evaluation(store.evaluation(key).evaluation, evaluations()[3])


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "free space on this disk"),
        (errno.EDQUOT, "free space on this disk"),
        (errno.EACCES, "allow writing"),
        (errno.EROFS, "allow writing"),
        (errno.EFBIG, "raise the limit"),
        (errno.EIO, "store it again"),
    ],
)
def test_a_refusal_says_what_to_do_about_its_reason(
    store: Store, monkeypatch: pytest.MonkeyPatch, number: int, advice: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("idealrank.store.value_files.to_disk", fail)
    with pytest.raises(
        InputError, match=f"{os.strerror(number)}; nothing was stored: .*{advice}"
    ) as refused:
        store.add(evaluations()[0])
    assert ("free space" in str(refused.value)) == (number in (errno.ENOSPC, errno.EDQUOT))


def test_a_gate_that_the_judgments_do_not_reach_is_made_again_without_rankings(
    store: Store,
) -> None:
    """A store keeps no rankings, so that the tipping point of a gate made again is the one that was
    found with them.
    """
    _, pooled, baseline, run = collection()
    new, main = evaluated(pooled, run, "new"), evaluated(pooled, baseline, "main")
    keys = [store.add(one) for one in (new, main)]

    for asked in ("neutral", "fail", "pass"):
        found = ir.gate(new, main, measures="nDCG@10", when_unjudged=asked)  # type: ignore[arg-type]
        key = store.add_gate(found, keys)
        assert store.gate_again(key).as_dict() == found.as_dict()
    rows = store.sql("SELECT outcome, passed, decides, p_two_sided FROM gates ORDER BY time")
    assert list(rows.rows) == [
        (outcome, outcome == "passed", True, 2.0**-16)
        for outcome in ("too few judgments", "failed", "passed")
    ]


def without_answerable(result: Any) -> dict[str, Any]:
    """The record without the answerable queries of its margins, which a store does not keep."""
    found: dict[str, Any] = result.as_dict()
    for row in found.get("checks") or (
        row for pair in found["pairs"] for row in pair["measures"].values()
    ):
        row.get("margin", {}).pop("answerable", None)
    return found


def test_comparisons_and_gates_are_made_again(store: Store) -> None:
    one, other, *_ = evaluations()
    keys = [store.add(one), store.add(other)]
    weights = {query: 1.0 + number % 3 for number, query in enumerate(one.queries)}
    slices = {query: "odd" if number % 2 else "even" for number, query in enumerate(one.queries)}
    compared = ir.compare(
        one,
        other,
        measures=["AP", "RR"],
        weights=weights,
        slices=slices,
        margin=0.02,
        rng=7,
        n_resamples=500,
    )
    key = store.add_comparison(compared, keys, options={"weights": weights, "slices": slices})
    assert without_answerable(store.compare_again(key)) == without_answerable(compared)
    gated = ir.gate(
        one,
        other,
        measures="AP",
        contracts=[ir.Contract(query="q1"), ir.Contract(query="q2", measure="RR", at_least=0.1)],
        tolerance=0.01,
    )
    assert without_answerable(store.gate_again(store.add_gate(gated, keys))) == without_answerable(
        gated
    )
    named = ir.gate(other, one, measures=["RR", "AP", "P@5"], also="AP")
    assert store.gate_again(store.add_gate(named, keys[::-1])).as_dict() == named.as_dict()
    turned = ir.compare(one, other, measures=["RR", "AP"], rng=7, n_resamples=500)
    kept = store.add_comparison(turned, keys)
    # the first one decides
    assert (
        list(store.comparison(kept).result["means"])
        == list(store.compare_again(kept).means)
        == ["RR", "AP"]
    )
    unkept = store.add_comparison(compared, keys)
    with pytest.raises(InputError, match="its queries had weights, which were not kept"):
        store.compare_again(unkept)


def test_a_store_stays_in_its_process(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 1)  # as in a child after a fork
    for use in (store.entries, lambda: store.add(evaluations()[3])):
        with pytest.raises(InputError, match="open the store in each process"):
            use()


def test_a_store_stays_in_its_thread(store: Store) -> None:
    said: list[str] = []

    def use() -> None:
        try:
            store.entries()
        except InputError as error:
            said.append(str(error))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert "open the store in each thread" in said[0]


def test_an_old_sqlite_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 26, 0))
    with pytest.raises(
        InputError, match=r"found SQLite 3\.26\.0 in this Python, expected 3\.38\.0 or later"
    ):
        Store.open(tmp_path / "new")


def test_only_questions_are_asked_of_the_tables(store: Store) -> None:
    assert store.rows("SELECT count(*) FROM entry WHERE kind = ?", ["gate"]) == [(0,)]
    with pytest.raises(OptionError, match="expected a SELECT"):
        store.rows("DELETE FROM entry")
    key = store.add(evaluations()[0], record=Record(tags=("kept",)))
    for words in (
        "WITH one AS (SELECT 1) DELETE FROM tag",
        "with one as (select 1) UPDATE entry SET name = 'other'",
    ):
        with pytest.raises(InputError, match="expected a question that changes nothing"):
            store.rows(words)
    assert store.entry(key).record.tags == ("kept",)
    store.tag(key, "and written again")


def test_a_list_is_of_one_moment(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.add(evaluations()[0])
    rows = Database.rows

    def after_another_writer(
        database: Database, sql: str, parameters: tuple[object, ...] = ()
    ) -> list[tuple[object, ...]]:
        found = rows(database, sql, parameters)
        monkeypatch.setattr(Database, "rows", rows)
        with Store.open(store.folder) as other:  # between the means and the names
            other.add(evaluations()[0])
        return found

    monkeypatch.setattr(Database, "rows", after_another_writer)

    assert [bool(entry.means) for entry in store.entries()] == [True]
    assert [bool(entry.means) for entry in store.entries()] == [True, True]


def test_a_store_stays_in_its_place_when_the_program_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("here", "there"):
        (tmp_path / folder / "store").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    with Store.open("store") as store:
        monkeypatch.chdir(tmp_path / "there")
        key = store.add(evaluations()[0])

    assert not any((tmp_path / "there" / "store").iterdir())
    with Store.open(tmp_path / "here" / "store") as store:
        same_evaluation(store.evaluation(key).evaluation, evaluations()[0])


def test_what_is_no_utf_8_is_kept_and_found_by_it(store: Store) -> None:
    odd = "run\udcff"  # as the name of a file that is no UTF-8
    one = ir.evaluate({"q": {"a": 1}}, ir.Run({"q": ["a"]}, name=odd), "RR")
    one = dataclasses.replace(one, path=f"runs/{odd}.run")

    key = store.add(
        one,
        record=Record(
            command=f"idealrank evaluate {odd}.run", tags=("tag\udcff",), notes=("note\udcff",)
        ),
    )
    store.note(key, "later\udcff")
    verdict = store.add_comparison(ir.compare(one, one), [key, key])

    assert store.evaluation(key).evaluation.name == odd
    assert [entry.id for entry in store.entries(run=odd)] == [key]
    assert [entry.id for entry in store.entries(tag="tag\udcff")] == [key]
    assert store.entry(key).record.notes == ("note\\udcff", "later\\udcff")
    assert store.entry(verdict).name == "run\\udcff (2) against run\\udcff"
    assert [point.value for point in store.history("RR", run=odd).points] == [1.0]
