"""An archive that would fill the memory is refused before it does, and says at which limit."""

import io
import json
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import idealrank as ir
from idealrank.errors import InputError
from idealrank.evaluation.judged_hits import judged_hits
from idealrank.store import Store, archive, bundle
from tests.store.store_archives import Archive, array_bytes, packed

QRELS, RUN = {"q1": {"a": 1}, "q2": {"c": 2}}, {"q1": ["a", "b"], "q2": ["x", "c"]}
MIB = 1 << 20


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    with Store.open(tmp_path / "first") as store:
        key = store.add(
            ir.evaluate(QRELS, RUN, ["RR", "nDCG@10"]),
            hits=judged_hits(ir.Qrels(QRELS), ir.Run(RUN)),
        )
        store.export_file(key, tmp_path / "one.zip")
    return tmp_path / "one.zip"


def repeated(piece: bytes, megabytes: int, begin: bytes = b"", end: bytes = b"") -> Iterator[bytes]:
    yield begin
    for _ in range(megabytes):
        yield piece * (MIB // len(piece))
    yield end


def repacked(path: Path, name: str, pieces: Iterator[bytes]) -> Path:
    """The archive with another content of one member, whatever the hashes are."""
    with zipfile.ZipFile(path) as archive:
        names = dict.fromkeys([*archive.namelist(), name])
        others = {other: archive.read(other) for other in names if other != name}
    with zipfile.ZipFile(
        path.with_name("bomb.zip"), "w", zipfile.ZIP_DEFLATED, compresslevel=1
    ) as archive:
        for other, content in others.items():
            archive.writestr(other, content)
        with archive.open(name, "w") as file:
            for piece in pieces:
                file.write(piece)
    return path.with_name("bomb.zip")


def peak_of_a_refusal(path: Path, said: str) -> float:
    """Mebibytes of Python and NumPy at most, while the archive is refused in these words."""
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=said):
            bundle.opened(path)
        return tracemalloc.get_traced_memory()[1] / MIB
    finally:
        tracemalloc.stop()


TOO_LARGE = (
    r"bomb\.zip: found contents that take [\d,]+ bytes or more when unpacked, expected at most "
    r"[\d,]+ of an archive of [\d,]+ "
)


@pytest.mark.parametrize(
    "name",
    [
        "record.json",
        "0" * 64 + ".npz",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("words.json", "0" * 64 + ".npy")),
    ],
)
def test_a_member_of_many_zeros_is_refused_before_it_is_unpacked(exported: Path, name: str) -> None:
    bomb = repacked(exported, name, repeated(b"\0", 100))
    assert bomb.stat().st_size < 2 * MIB
    assert peak_of_a_refusal(bomb, TOO_LARGE) < 2


@pytest.mark.parametrize(
    ("piece", "name"),
    [(b"[],", "record.json"), (b'"ab",', "words.json"), (b'{"a":[]},', "record.json")],
)
def test_json_of_many_values_is_refused_before_it_is_read(
    exported: Path, piece: bytes, name: str
) -> None:
    """A list in a list takes three bytes of JSON and sixty of memory."""
    bomb = repacked(exported, name, repeated(piece, 20, b"[", b"1]"))
    assert peak_of_a_refusal(bomb, TOO_LARGE) < 50


@pytest.mark.slow
def test_a_million_queries_are_read_within_the_limit(exported: Path) -> None:
    whole = Archive.read(exported)
    path = exported.with_name("bomb.zip")
    ids = json.dumps([f"{number:x}" for number in range(1_000_000)], separators=(",", ":")).encode()
    Archive(whole.fields, whole.words, whole.files | {"queries": ids}).write(path)
    assert (
        peak_of_a_refusal(path, "found a list of 1,000,000 as queries, expected a list of 2 ids")
        < 250
    )


@pytest.mark.slow
def test_hits_are_counted_with_the_rest(exported: Path) -> None:
    whole = Archive.read(exported)
    path = exported.with_name("bomb.zip")
    for change in (
        {"grade": np.zeros(20 * MIB)},
        {"rank": np.zeros(5 * MIB, np.int64), "grade": np.zeros(5 * MIB)},
    ):
        with np.load(io.BytesIO(whole.files["hits"])) as archive:
            hits = packed(dict(archive) | change)
        Archive(whole.fields, whole.words, whole.files | {"hits": hits}).write(path)
        assert (
            peak_of_a_refusal(
                path, r"bomb\.zip: evaluation [0-9a-f]{12}: hits: found contents that take "
            )
            < 2
        )


def test_an_array_that_claims_more_cells_than_it_has_takes_no_memory(exported: Path) -> None:
    whole, path = Archive.read(exported), exported.with_name("bomb.zip")
    plain = array_bytes(np.zeros((2, 2)))
    for shape in (
        "(99999999999, 2)",
        "(2, 99999999999)",
        "(2, -2)",
        "(2,,2)",
        "((2,2),)",
        "(2, 2" + ", 1" * 40 + ")",
    ):
        header = (
            f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117)
            + b"\n"
        )
        content = plain[:8] + struct.pack("<H", len(header)) + header + plain[-32:]
        Archive(whole.fields, whole.words, whole.files | {"values": content}).write(path)
        assert peak_of_a_refusal(path, "found an array of type|found no array of NumPy") < 2


def test_a_directory_of_many_members_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w") as archive:
        for number in range(5_000):
            archive.writestr(zipfile.ZipInfo(str(number)), b"")
    assert peak_of_a_refusal(tmp_path / "bomb.zip", "found 5,000 members in a directory of ") < 1


def sizes_at(content: bytes, signature: bytes, offset: int) -> list[int]:
    """Where the size of each member stands, in the headers of that signature."""
    found, begin = [], content.find(signature)
    while begin >= 0:
        found.append(begin + offset)
        begin = content.find(signature, begin + 4)
    return found


@pytest.mark.parametrize("stated", [1, 1000])
def test_a_member_that_states_another_size_is_damaged(exported: Path, stated: int) -> None:
    """What is inflated ends at the size that was counted."""
    bomb = repacked(exported, "0" * 64 + ".npy", repeated(b"\0", 100))
    content = bytearray(bomb.read_bytes())
    place = sizes_at(bytes(content), b"PK\x01\x02", 24)[-1]
    content[place : place + 4] = struct.pack("<L", stated)
    bomb.write_bytes(content)
    assert peak_of_a_refusal(bomb, "Bad CRC|of another size|found File ") < 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda content: content + b"\0", "the end of an archive"),
        (
            lambda content: content[:-22] + b"PK\x06\x07" + bytes(16) + content[-22:],
            "the end of an archive that a store writes",
        ),
        (lambda content: content[:-2] + b"\x01\0x", "the end of an archive"),
        (lambda content: content[:20], "without the end of an archive"),
        (lambda _: b"", "without the end of an archive"),
    ],
)
def test_an_archive_that_ends_otherwise_is_refused(
    exported: Path, change: Callable[[bytes], bytes], said: str
) -> None:
    bomb = exported.with_name("bomb.zip")
    bomb.write_bytes(change(exported.read_bytes()))
    assert peak_of_a_refusal(bomb, said) < 1


def test_a_member_that_stands_twice_is_refused(exported: Path) -> None:
    with (
        zipfile.ZipFile(exported, "a") as archive,
        pytest.warns(UserWarning, match="Duplicate name"),
    ):
        archive.writestr("words.json", b"{}")
    assert peak_of_a_refusal(exported, r"found words\.json twice in it") < 1


def test_whatever_byte_of_an_archive_is_changed_it_is_refused_in_words(
    exported: Path, tmp_path: Path
) -> None:
    content = exported.read_bytes()
    draws = np.random.default_rng(3)
    path = tmp_path / "other.zip"
    with Store.open(tmp_path / "second") as store:
        for _ in range(300):
            changed = bytearray(content)
            for place in draws.choice(len(content), size=int(draws.integers(1, 4)), replace=False):
                changed[place] = int(draws.integers(0, 256))
            path.write_bytes(changed)
            said = f"{path}: "
            try:
                store.import_file(path)
            except InputError as error:
                said = str(error)
            assert said.startswith(f"{path}: ")


def test_what_no_store_would_take_in_is_not_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "ALWAYS", 500)
    monkeypatch.setattr(archive, "TIMES", 1)
    with Store.open(tmp_path / "first") as store:
        key = store.add(ir.evaluate(QRELS, RUN, ["RR", "nDCG@10"]))
        with pytest.raises(
            InputError,
            match=r"one\.zip: found contents that take .*; evaluate fewer queries at a time",
        ):
            store.export_file(key, tmp_path / "one.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["first"]


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os = pytest.importorskip("os")
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    os.mkfifo(tmp_path / "pipe.zip")
    assert (
        peak_of_a_refusal(
            tmp_path / "pipe.zip", r"pipe\.zip: found no file, expected an exported evaluation"
        )
        < 1
    )
