"""A damaged page of the database is an error in words, or changes no number."""

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.errors import IdealrankError, InputError
from idealrank.store import Record, Store, entries
from idealrank.store.encoding import read_array, view_array
from idealrank.store.relations import relations
from tests.store.stores import example_store, example_verdicts

DAMAGES = 90


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("damage") / "whole"
    ids = example_store(folder)
    return folder, [*ids, *example_verdicts(folder, ids)]


def numbers(store: Store) -> dict[str, Any]:
    """By entry: what is asked of a record; tags and notes, which may change, and what is missing
    are left out.
    """
    found: dict[str, Any] = {}
    for entry in store.entries():
        found[entry.id, "entry"] = (
            entry.kind,
            entry.name,
            str(entry.means),
            entry.n_queries,
            entry.fingerprint,
            entry.record.time,
        )
        if entry.kind == "evaluation":
            found[entry.id, "values"] = store.evaluation(entry.id).evaluation.values.tobytes()
    for query in (None, "q1"):
        for point in store.history("AP", query=query).points:
            found[point.id, query] = (
                point.when,
                point.run,
                point.value,
                point.convention,
                point.judgments_content,
            )
    for name in ("evaluations", "means", "comparisons", "gates"):
        for row in relations(store)[name].reader().read_all().to_pylist():
            row.pop("notes", None)
            found[row["id"], name, str(row.get("measure")), str(row.get("baseline"))] = json.dumps(
                row, default=str
            )
    return found


def damaged(content: bytes, draws: random.Random, number: int) -> bytes:
    """A flipped bit, an empty page, or thirty other bytes."""
    changed = bytearray(content)
    if number % 3 == 1:
        place = draws.randrange(len(content) >> 12) << 12
        changed[place : place + 4096] = bytes(4096)
        return bytes(changed)
    for place in draws.sample(range(len(content)), 1 if number % 3 == 0 else 30):
        changed[place] ^= 1 << draws.randrange(8)
    return bytes(changed)


@pytest.mark.slow
def test_a_damaged_page_of_the_database_is_an_error_in_words_or_changes_no_number(
    whole: tuple[Path, list[str]], tmp_path: Path
) -> None:
    with Store.open(whole[0]) as store:
        expected = numbers(store)
    content, draws = (whole[0] / "store.sqlite3").read_bytes(), random.Random(5)
    folder = tmp_path / "store"
    shutil.copytree(whole[0], folder)
    said = []
    for number in range(DAMAGES):
        for left in folder.glob("store.sqlite3*"):
            left.unlink()
        (folder / "store.sqlite3").write_bytes(damaged(content, draws, number))
        try:
            with Store.open(folder) as store:
                found = numbers(store)
        except IdealrankError as error:
            said.append(str(error))
            continue
        assert found.items() <= expected.items(), number
    assert len(said) > DAMAGES // 3
    advice = (
        "import an exported copy, or take it out with",
        "restore a backup",
        "choose another folder",
        "upgrade",
    )
    assert [one for one in said if not any(words in one for words in advice)] == []


def test_a_damaged_mean_is_not_printed(whole: tuple[Path, list[str]], tmp_path: Path) -> None:
    shutil.copytree(whole[0], tmp_path / "store")
    with sqlite3.connect(tmp_path / "store" / "store.sqlite3") as plain:
        plain.execute("UPDATE mean SET value = 0.9999")
        plain.execute("UPDATE entry SET name = 'other', version = '99'")
    plain.close()
    with Store.open(whole[0]) as store, Store.open(tmp_path / "store") as other:
        assert numbers(other) == numbers(store)


@pytest.mark.parametrize("query", [None, "q1"])
def test_a_mean_of_an_entry_that_is_no_evaluation_is_damage(
    whole: tuple[Path, list[str]], tmp_path: Path, query: str | None
) -> None:
    verdict = whole[1][-1]
    shutil.copytree(whole[0], tmp_path / "store")
    with sqlite3.connect(tmp_path / "store" / "store.sqlite3") as plain:
        plain.execute(
            "UPDATE mean SET id = ? WHERE measure = 'AP' AND id = (SELECT min(id) FROM mean "
            "WHERE measure = 'AP')",
            [verdict],
        )
    plain.close()

    with (
        Store.open(tmp_path / "store") as store,
        pytest.raises(InputError, match=f"the record of {verdict} is damaged"),
    ):
        store.history("AP", query=query)


@pytest.mark.parametrize("kind", ["evaluation", "comparison", "gate"])
@pytest.mark.parametrize(
    "read",
    [
        lambda store: store.entries(),
        lambda store: [store.evaluation(key) for (key,) in store.rows("SELECT id FROM entry")],
        lambda store: [store.comparison(key) for (key,) in store.rows("SELECT id FROM entry")],
        lambda store: store.sql("select * from means"),
        lambda store: store.sql("select * from comparisons"),
        lambda store: store.sql("select * from gates"),
    ],
)
def test_an_entry_of_another_kind_than_its_record_is_damage(
    whole: tuple[Path, list[str]], tmp_path: Path, kind: str, read: Callable[[Store], Any]
) -> None:
    shutil.copytree(whole[0], tmp_path / "store")
    with sqlite3.connect(tmp_path / "store" / "store.sqlite3") as plain:
        plain.execute("UPDATE entry SET kind = ?", [kind])
    plain.close()

    with (
        Store.open(tmp_path / "store") as store,
        pytest.raises(InputError, match=r"is damaged|expected one"),
    ):
        read(store)


@pytest.mark.parametrize(
    "read",
    [
        lambda store, key: store.entry(key),
        lambda store, _: store.entries(),
        lambda store, key: store.evaluation(key),
        lambda store, _: store.history("AP"),
        lambda store, _: store.history("AP", query="q1"),
        lambda store, _: store.sql("select * from tags"),
        lambda store, key: store.export_file(key, store.folder / "never.zip"),
    ],
)
def test_an_entry_with_a_damaged_record_is_named_and_an_exported_copy_mends_it(
    whole: tuple[Path, list[str]], tmp_path: Path, read: Callable[[Store, str], object]
) -> None:
    shutil.copytree(whole[0], tmp_path / "store")
    key = whole[1][0]
    with Store.open(tmp_path / "store") as store:
        expected = numbers(store)
        store.export_file(key, tmp_path / "copy.zip")
        store.tag(key, "later")
    with sqlite3.connect(tmp_path / "store" / "store.sqlite3") as plain:
        plain.execute(
            "UPDATE entry SET record = replace(record, 'bm25', 'bm26') WHERE id = ?", (key,)
        )
    plain.close()

    with Store.open(tmp_path / "store") as store:
        with pytest.raises(
            InputError,
            match=f"the record of {key} is damaged: .*import an exported copy, or .*store remove "
            f"{key}`",
        ):
            read(store, key)
        assert store.import_file(tmp_path / "copy.zip") == key
        read(store, key)
        assert numbers(store) == expected
        assert store.entry(key).record.tags == ("later", "main")
        assert store.comparison(whole[1][6]).entry.parts[0] == key


def test_an_entry_that_is_removed_between_two_looks_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluation = ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["RR"])
    looks: list[Callable[[Store, str], object]] = [
        lambda store, key: store.entry(key),
        lambda store, key: store.evaluation(key),
        lambda store, key: store.shortest(key),
        lambda store, key: store.export_file(key, tmp_path / "never.zip"),
        lambda store, key: store.tag(key, "gone"),
        lambda store, key: store.note(key, "gone"),
        lambda store, key: store.untag(key, "there"),
        lambda store, key: store.remove(key),
        lambda store, key: store.add_comparison(ir.compare(evaluation, evaluation), [key, key]),
    ]
    resolve = Store.resolve

    def and_another_removes(store: Store, beginning: str, **kind: Any) -> str:
        key = resolve(store, beginning, **kind)
        with Store.open(store.folder) as other:
            entries.remove(other.database, key)
        return key

    for place, look in enumerate(looks):
        with Store.open(tmp_path / str(place)) as store:
            key = store.add(evaluation, record=Record(tags=("there",)))
            said = "another process removed"
            with monkeypatch.context() as patch:
                patch.setattr(Store, "resolve", and_another_removes)
                try:
                    # removed, as was asked; or of its id alone
                    assert look(store, key) in (None, key[:4]), place
                except InputError as error:
                    said = str(error)
            assert "another process removed" in said or "found none in" in said
            assert store.entries() == []


def test_one_damaged_value_file_among_many_is_named_by_the_history_of_a_query(
    tmp_path: Path,
) -> None:
    seen = ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["RR", "AP"])
    with Store.open(tmp_path / "store") as store:
        for place in range(40):
            store.add(replace(seen, values=np.array([[place / 64, 0.5]])))
        assert [point.value for point in store.history("RR", query="q").points] == [
            place / 64 for place in range(40)
        ]
        entry = store.entries()[3]
        file = store.evaluation(entry.id).fields["files"]["values"]
        path = tmp_path / "store" / "values" / file[:2] / file
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
        with pytest.raises(
            InputError,
            match=rf"do not match the SHA-256 in its name; evaluation {entry.id} needs it",
        ):
            store.history("RR", query="q")


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_values_behind_any_header_of_numpy_are_read_alike(version: tuple[int, int]) -> None:
    values, buffer = np.random.default_rng(3).random((5, 3)), BytesIO()
    np.lib.format.write_array(buffer, values, version=version)
    for read in (read_array, view_array):
        assert read(buffer.getvalue(), "<f8", (5, 3), "example").tobytes() == values.tobytes()
        with pytest.raises(InputError, match=r"expected <f8 of shape \(3, 5\)"):
            read(buffer.getvalue(), "<f8", (3, 5), "example")
    assert read_array(buffer.getvalue(), "<f8", (5, 3), "example").flags.writeable
