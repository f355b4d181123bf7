"""What comes from elsewhere is taken in whole and sound, or not at all."""

import copy
import hashlib
import io
import json
import re
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.errors import IdealrankError, InputError
from idealrank.explanation import judged_hits
from idealrank.store import Record, Store, carrying
from idealrank.store.encoding import canonical
from idealrank.store.files import Blob, array_blob

QRELS, RUN = {"q1": {"a": 1}, "q2": {"c": 2}}, {"q1": ["a", "b"], "q2": ["x", "c"]}
Change = Callable[[dict[str, Any]], Any]


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    with Store.open(tmp_path / "first") as store:
        hits = judged_hits(ir.Qrels(QRELS), ir.Run(RUN))
        key = store.add(ir.evaluate(QRELS, RUN, ["RR", "nDCG@10"]), hits=hits, record=Record(notes=("seen",)))
        store.export_file(key, tmp_path / "one.zip")
    return tmp_path / "one.zip"


def changed(exported: Path, change: Change) -> Path:
    """The same archive with another record, whose hashes are right again."""
    with zipfile.ZipFile(exported) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    fields, words = json.loads(contents["record.json"]), json.loads(contents["words.json"])
    fields = copy.deepcopy(fields)
    change(fields)
    record = canonical(fields).encode()
    digest = hashlib.sha256(record).hexdigest()
    contents |= {"record.json": record, "words.json": canonical(words | {"id": digest[:12], "digest": digest}).encode()}
    other = exported.with_name("other.zip")
    with zipfile.ZipFile(other, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return other


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda fields: fields["means"].__setitem__(0, ["", 2]), r"means\.0"),
        (lambda fields: fields["means"].__setitem__(1, [0.5, 10**30]), r"means\.1"),
        (lambda fields: fields["convention"].pop("switches"), r"nothing as convention\.switches"),
        (lambda fields: fields["convention"]["switches"].update(ties=None), r"convention\.switches\.ties"),
        (lambda fields: fields["measures"].__setitem__(0, {}), r"measures\.0\.text"),
        (lambda fields: fields.update(coverage=None), "None as coverage"),
        (lambda fields: fields.update(n_queries=True), "True as n_queries"),
        (lambda fields: fields.update(inputs={}), "inputs"),
        (lambda fields: fields.update(time="yesterday"), "time 'yesterday'"),
    ],
)
def test_a_record_that_is_built_otherwise_is_refused_before_it_is_stored(
    exported: Path, tmp_path: Path, change: Change, place: str
) -> None:
    with Store.open(tmp_path / "second") as store:
        kept = store.import_file(exported)
        with pytest.raises(IdealrankError, match=place):
            store.import_file(changed(exported, change))
        assert [entry.id for entry in store.entries()] == [kept]
        assert len(store.history("RR").points) == 1


def test_a_record_with_other_words_is_taken(exported: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path / "second") as store:
        key = store.import_file(changed(exported, lambda fields: fields.update(version="9\udcff", later={"more": 1})))
        assert store.entry(key).version == "9\\udcff"
        hits = store.evaluation(key).hits
        assert hits is not None
        assert hits.documents == ["a", "c"]


def test_an_archive_that_unpacks_to_more_than_its_size_allows_is_refused_before_it_is_unpacked(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carrying, "_ROOM", 1000)
    monkeypatch.setattr(carrying, "_RATIO", 0)
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("read before its size was looked at"))
    with Store.open(tmp_path / "second") as store, pytest.raises(InputError, match="bytes in it when unpacked, expected at most 1,000 of"):
        store.import_file(exported)


def test_hits_that_unpack_to_more_are_refused_before_they_are_unpacked(exported: Path, tmp_path: Path) -> None:
    """A hundred million ranks in a hundred kilobytes, which the archive around them does not show."""

    def filled(parts: Parts) -> None:
        parts.packed = io.BytesIO()
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(head, {"descr": "<i8", "fortran_order": False, "shape": (100_000_000,)})
        with zipfile.ZipFile(parts.packed, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("rank.npy", "w") as file:
            file.write(head.getvalue())
            for _ in range(100):
                file.write(bytes(1 << 20))

    tracemalloc.start()
    try:
        with Store.open(tmp_path / "second") as store, pytest.raises(InputError, match=r"found 104,\d+,\d+ bytes in it when unpacked"):
            store.import_file(rebuilt(exported, filled))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_an_array_whose_head_promises_more_than_the_file_has_makes_no_room_for_it(exported: Path, tmp_path: Path) -> None:
    def promised(parts: Parts) -> None:
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(head, {"descr": "<i8", "fortran_order": False, "shape": (1 << 40,)})
        parts.packed = io.BytesIO()
        with zipfile.ZipFile(parts.packed, "w") as archive:
            archive.writestr("rank.npy", head.getvalue())

    with Store.open(tmp_path / "second") as store, pytest.raises(InputError, match=r"its rank\.npy: found 128 bytes in a file of int64"):
        store.import_file(rebuilt(exported, promised))


@dataclass
class Parts:
    """An archive taken apart: its record, what stands beside it, its lists and arrays; `packed` are hits that no table can say."""

    fields: dict[str, Any]
    words: dict[str, Any]
    queries: Any
    values: Any
    hits: dict[str, Any]
    packed: io.BytesIO | None = None


def rebuilt(exported: Path, change: Callable[[Parts], Any]) -> Path:
    """The archive with something else in it, all hashes right."""
    with zipfile.ZipFile(exported) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    fields, words = json.loads(contents["record.json"]), json.loads(contents["words.json"])
    files = {what: contents[name] for what, name in fields["files"].items()}
    with np.load(io.BytesIO(files["hits"])) as found:
        hits = {name: found[name] for name in found.files}
    parts = Parts(fields, words, json.loads(files["queries"]), np.load(io.BytesIO(files["values"])), hits)
    change(parts)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **parts.hits)
    blobs = {
        "queries": Blob.of(json.dumps(parts.queries).encode(), "json"),
        "values": array_blob(parts.values),
        "hits": Blob.of((parts.packed or buffer).getvalue(), "npz"),
    }
    record = canonical(fields | {"files": {what: blob.name for what, blob in blobs.items()}}).encode()
    digest = hashlib.sha256(record).hexdigest()
    beside = canonical(words | {"id": digest[:12], "digest": digest}).encode()
    return written(
        exported.with_name("other.zip"),
        {"record.json": record, "words.json": beside} | {blob.name: blob.content for blob in blobs.values()},
    )


def at(name: str, *path: Any, value: Any) -> Callable[[Parts], None]:
    """One part of a record, of what stands beside it, or of a list gets another value."""

    def change(parts: Parts) -> None:
        part = getattr(parts, name)
        for step in path[:-1]:
            part = part[step]
        part[path[-1]] = value

    return change


def column(name: str, values: Any) -> Callable[[Parts], None]:
    """One column of the hits."""
    return lambda parts: parts.hits.update({name: np.asarray(values)})


# The archive has queries q1 and q2, RR and nDCG@10, and two hits: a at rank 1 of q1, c at rank 2 of q2.
SENSELESS: dict[str, tuple[Callable[[Parts], Any], str]] = {
    "a time of no calendar": (at("fields", "inputs", value=[{"name": "a", "size": 1, "modified": "2026-13-01", "sha256": ""}]), "modified"),
    "a note of no time": (at("words", "notes", 0, 0, value="yesterday"), "notes.0 of its record"),
    "a file changed at no time": (
        at("fields", "inputs", value=[{"name": "a", "size": 1, "modified": "soon", "sha256": ""}]), "inputs.0.modified",
    ),
    "a file of negative size": (at("fields", "inputs", value=[{"name": "a", "size": -1, "modified": "", "sha256": ""}]), "inputs.0.size"),
    "a negative count": (at("fields", "coverage", "missing", value=-1), "coverage.missing"),
    "no documents at most": (at("fields", "max_documents", value=0), "max_documents"),
    "a measure that cannot be read": (at("fields", "measures", 0, "text", value="nDCG@x"), "measures.0.text"),
    "a measure twice": (lambda parts: parts.fields["measures"].__setitem__(1, parts.fields["measures"][0]), "each once"),
    "a switch that is none": (at("fields", "convention", "switches", "ties", value="heads"), "convention"),
    "a fingerprint of other switches": (at("fields", "convention", "switches", "gain", value="exp2"), "fingerprint of its convention"),
    "a mean of other values": (at("fields", "means", 0, 0, value=0.25), "mean of 'RR', expected 0.75"),
    "a mean of more queries": (at("fields", "means", 0, 1, value=3), "number of queries that count for 'RR'"),
    "a mean that is none": (at("fields", "means", 1, 0, value=None), "mean of 'nDCG@10'"),
    "an infinite value": (lambda parts: parts.values.__setitem__((0, 0), np.inf), "expected finite values"),
    "a value that is no number": (lambda parts: parts.values.__setitem__((0, 0), np.nan), "expected finite values"),
    "a query twice": (at("queries", 1, value="q1"), "'q1' twice among its queries"),
    "a query that is no text": (at("queries", 1, value=2), "a list of ids"),
    "a query less": (lambda parts: parts.queries.pop(), "do not go with its values"),
    "hits of no query": (column("query", [0, 1 << 40]), "query of its hits, expected 0 to 1"),
    "hits before the first query": (column("query", [-1, 1]), "query of its hits"),
    "queries out of order": (column("query", [1, 0]), "rank of its hits"),
    "a hit more in one column": (column("rank", [1, 2, 3]), "rank of its hits, expected one whole number of 2"),
    "ranks from 0": (column("rank", [0, 2]), "rank of its hits"),
    "a rank below its list": (column("tie_last", [1, 1 << 40]), "rank of its hits"),
    "a tie that ends before its document": (column("tie_last", [1, 1]), "rank of its hits"),
    "a rank as a fraction": (column("rank", [1.0, 2.0]), "float64 of shape"),
    "a grade that is no number": (column("grade", [1.0, np.nan]), "finite grades"),
    "a grade as text": (column("grade", ["1", "2"]), "grade of its hits"),
    "a list of negative length": (column("lengths", [2, -1]), "length of a list"),
    "a length less": (column("lengths", [2]), "lengths of its hits"),
    "a place outside the documents": (column("document", [0, 2]), "hits that cannot be read"),
    "a place before the documents": (column("document", [0, -1]), "place of a document"),
    "a document that is no text": (column("documents", np.frombuffer(b"[1,2]", np.uint8)), "document of its hits, expected an id"),
    "no depth": (column("depth", np.int64(0)), "depth of its hits"),
}  # fmt: skip


@pytest.mark.parametrize("name", SENSELESS)
def test_what_has_right_hashes_and_makes_no_sense_is_refused_and_nothing_of_it_stays(exported: Path, tmp_path: Path, name: str) -> None:
    change, said = SENSELESS[name]
    with Store.open(tmp_path / "second") as store:
        kept = store.import_file(rebuilt(exported, lambda _parts: None))
        files = sorted(path.name for path in (tmp_path / "second" / "values").rglob("*"))
        with pytest.raises(InputError, match=re.escape(said)) as refused:
            store.import_file(rebuilt(exported, change))
        assert str(refused.value).startswith(f"{tmp_path / 'other.zip'}: found ")
        assert ", expected " in str(refused.value)
        assert [entry.id for entry in store.entries()] == [kept]
        assert sorted(path.name for path in (tmp_path / "second" / "values").rglob("*")) == files


ODD: tuple[Any, ...] = (None, True, -1, 10**30, 0.5, "", "x", [], [1], {}, {"x": 1})
FOREIGN = (b"", b"[]", b"{}", b"null", b"NaN", b"[" * 100_000, b"\xff", b"PK\x05\x06" + bytes(18), b"\x93NUMPY\x01\x00")


def leaves(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    return [path, *(leaf for name, part in inside for leaf in leaves(part, (*path, name)))]


def written(path: Path, contents: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def taken_in_or_refused(store: Store, path: Path) -> None:
    """Nothing but our own errors, which name the file."""
    said = f"{path}: "
    try:
        store.remove(store.import_file(path))
    except IdealrankError as error:
        said = str(error)
    assert said.startswith(f"{path}: ")


def test_whatever_stands_in_a_record_or_beside_it_is_taken_or_refused_in_words(exported: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(exported) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    fields, words = json.loads(contents["record.json"]), json.loads(contents["words.json"])
    with Store.open(tmp_path / "second") as store:
        for number, (whole, path) in enumerate([*((fields, path) for path in leaves(fields)), *((words, path) for path in leaves(words))]):
            odd = ODD[number % len(ODD)]
            changed_ = copy.deepcopy(whole)
            if path:
                part = changed_
                for name in path[:-1]:
                    part = part[name]
                part[path[-1]] = odd
            record = canonical((changed_ if path else odd) if whole is fields else fields).encode()
            digest = hashlib.sha256(record).hexdigest()
            beside = words | {"id": digest[:12], "digest": digest} if whole is fields else changed_ if path else odd
            other = contents | {"record.json": record, "words.json": canonical(beside).encode()}
            taken_in_or_refused(store, written(tmp_path / "other.zip", other))
        assert store.entries() == []


def test_whatever_stands_in_a_value_file_is_taken_or_refused_in_words(exported: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(exported) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    fields = json.loads(contents["record.json"])
    with Store.open(tmp_path / "second") as store:
        for what, name in fields["files"].items():
            for foreign in (*FOREIGN, *contents.values()):
                if foreign == contents[name]:
                    continue
                own = f"{hashlib.sha256(foreign).hexdigest()}{Path(name).suffix}"
                record = canonical(fields | {"files": fields["files"] | {what: own}}).encode()
                digest = hashlib.sha256(record).hexdigest()
                words = json.loads(contents["words.json"]) | {"id": digest[:12], "digest": digest}
                other = {key: content for key, content in contents.items() if key != name}
                other |= {own: foreign, "record.json": record, "words.json": canonical(words).encode()}
                path = written(tmp_path / "other.zip", other)
                with pytest.raises(IdealrankError, match=r"other\.zip: ") as refused:
                    store.import_file(path)
                said = str(refused.value)
                assert said.count("found ") == 1  # not one error around another
                assert ", expected " in said


def test_every_packing_and_member_that_no_store_writes_is_refused_in_words(exported: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(exported) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    with Store.open(tmp_path / "second") as store:
        for name in contents:
            path = written(tmp_path / "other.zip", {key: content for key, content in contents.items() if key != name})
            with pytest.raises(InputError, match=f"found no '{name}'"):
                store.import_file(path)
        with zipfile.ZipFile(tmp_path / "other.zip", "w", zipfile.ZIP_BZIP2) as archive:
            for name, content in contents.items():
                archive.writestr(name, content)
        with pytest.raises(InputError, match="packed in another way"):
            store.import_file(tmp_path / "other.zip")
