"""Archives of one evaluation that are changed in one place, with all hashes right again."""

import copy
import hashlib
import io
import json
import random
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from idealrank.store.encoding import canonical

# For every value of JSON, whatever stands there.
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    -1,
    0,
    1,
    7,
    2**40,
    2**63,
    -(2**63),
    0.5,
    -0.5,
    1e308,
    "",
    "x",
    "evaluation",
    "comparison",
    "2026-13-01",
    "0001-01-01",
    "9999-12-31T23:59:59.999999+00:00",
    "\ud800",
    "\udcff",
    "\0",
    "a\nb",
    "\x1b[31m",
    "../../x",
    "x" * 100_000,
    "nDCG@0",
    "RBO",
    "custom:f",
    "0" * 64,
    "0" * 12,
    [],
    [1],
    [[]],
    ["q1"],
    {},
    {"x": 1},
    [[0.5, 1]] * 3,
)
# For every array, one cell at a time.
ODD_CELLS = (
    -1,
    0,
    1,
    2,
    3,
    255,
    2**31,
    2**40,
    2**62,
    -(2**40),
    -(2**63),
    0.5,
    1e300,
    -1e300,
    float("nan"),
    float("inf"),
    float("-inf"),
)
ODD_FILES = (
    b"",
    b"[]",
    b"{}",
    b"null",
    b"NaN",
    b"[1e999]",
    b"[" * 100_000,
    b"\xff",
    b"PK\x05\x06" + bytes(18),
    b"\x93NUMPY\x01\x00",
)

Contents = dict[str, bytes]


@dataclass
class Archive:
    """What an exported file holds: record, words, and files by what they are."""

    fields: dict[str, Any]
    words: dict[str, Any]
    files: Contents

    @classmethod
    def read(cls, path: Path) -> "Archive":
        with zipfile.ZipFile(path) as archive:
            fields, words = (
                json.loads(archive.read(name)) for name in ("record.json", "words.json")
            )
            return cls(
                fields, words, {what: archive.read(name) for what, name in fields["files"].items()}
            )

    def write(self, path: Path) -> Path:
        """Write it, every hash right; what the record says of files of other names stays."""
        fields, named = self.fields, {}
        if isinstance(fields, dict) and isinstance(fields.get("files"), dict):
            names = dict(fields["files"])
            for what, content in self.files.items():
                if isinstance(name := names.get(what), str) and "." in name:
                    names[what] = f"{hashlib.sha256(content).hexdigest()}.{name.partition('.')[2]}"
                    named[names[what]] = content
            fields = fields | {"files": names}
        record = json.dumps(fields, separators=(",", ":")).encode()
        digest, words = hashlib.sha256(record).hexdigest(), self.words
        if isinstance(words, dict):
            words = words | {
                name: value
                for name, value in (("id", digest[:12]), ("digest", digest))
                if name in words
            }
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in {
                "record.json": record,
                "words.json": canonical(words).encode(),
                **named,
            }.items():
                archive.writestr(name, content)
        return path


@dataclass(frozen=True)
class Mutation:
    """One change, by its place and what stands there then."""

    place: tuple[Any, ...]
    value: Any
    archive: Archive

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.place))} = {str(self.value)[:40]!r}"


def leaves(found: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inside = (
        found.items()
        if isinstance(found, dict)
        else enumerate(found)
        if isinstance(found, list)
        else ()
    )
    for name, part in inside:
        yield from leaves(part, (*path, name))


def replaced(whole: Any, path: Sequence[Any], value: Any) -> Any:
    """A copy with another value in this place; `...` takes it away, and twice the last of a list
    makes it longer.
    """
    if not path:
        return value
    changed = copy.deepcopy(whole)
    part = changed
    for name in path[:-1]:
        part = part[name]
    if value is ...:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return changed


def odd_json(whole: Any) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """Every place of a value of JSON with every odd value in it, without it, and with one more name
    or place.
    """
    for path in leaves(whole):
        for odd in (*ODD_VALUES, *((...,) if path else ())):
            yield path, odd, replaced(whole, path, odd)
        part = whole
        for name in path:
            part = part[name]
        if isinstance(part, list):
            for more in ([*part, *part[-1:]], part[::-1]):
                yield path, more, replaced(whole, path, more)
        if isinstance(part, dict):
            for more in (
                {**part, "other": "x"},
                {**part, "parts": ["0123456789ab"]},
                {**part, "deep": json.loads("[" * 200 + "]" * 200)},
            ):
                yield path, more, replaced(whole, path, more)


def odd_arrays(whole: np.ndarray) -> Iterator[tuple[tuple[Any, ...], Any, np.ndarray]]:
    """Every odd value in the first, a middle and the last cell; other types, lengths and orders."""
    flat = whole.reshape(-1)
    for cell in sorted({0, flat.size // 2, flat.size - 1} if flat.size else ()):
        for odd in ODD_CELLS:
            changed = flat.copy()
            with np.errstate(all="ignore"):
                if whole.dtype.kind in "iu" and odd == odd and abs(odd) < 2**63 and odd == int(odd):
                    changed[cell] = np.array(int(odd)).astype(whole.dtype)
                elif whole.dtype.kind == "f":
                    changed[cell] = odd
                elif whole.dtype.kind == "b":
                    changed.view(np.uint8)[cell] = int(odd) % 256 if abs(odd) < 2**63 else 7
                else:
                    continue
            yield (cell,), odd, changed.reshape(whole.shape)
    for kind in ("<f8", "<f4", "<i8", "<i4", ">f8", "<u8", "|b1", "<U3", "<c16", "<M8[s]"):
        if np.dtype(kind) != whole.dtype:
            with np.errstate(all="ignore"):
                yield ("type",), kind, np.resize(np.array([1]), whole.shape).astype(kind)
    shapes = [
        whole[..., None],
        whole[None],
        np.concatenate((flat, flat[-1:])),
        flat[:-1],
        flat[:0],
        flat[::-1],
        flat[:1].reshape(())[()],
    ]
    for number, other in enumerate(shapes if flat.size else shapes[:2]):
        yield ("shape", number), np.shape(other), np.asarray(other)


def array_bytes(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def packed(columns: dict[str, np.ndarray]) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **columns)
    return buffer.getvalue()


def odd_files(what: str, content: bytes) -> Iterator[tuple[tuple[Any, ...], Any, bytes]]:
    for odd in ODD_FILES:
        yield (), odd[:20], odd
    if what in ("values", "scored"):
        for path, odd, array in odd_arrays(np.load(io.BytesIO(content))):
            yield path, odd, array_bytes(array)
        yield ("end",), "cut short", content[:-1]
        yield ("end",), "longer", content + b"\0"
        yield ("end",), "Fortran", array_bytes(np.asfortranarray(np.load(io.BytesIO(content))))
    elif what == "hits":
        with np.load(io.BytesIO(content)) as archive:
            columns = dict(archive)
        pool = json.loads(columns["documents"].tobytes())
        for name, column in columns.items():
            yield (
                (name,),
                "nothing",
                packed({other: columns[other] for other in columns if other != name}),
            )
            for path, odd, array in odd_arrays(column):
                yield (name, *path), odd, packed(columns | {name: array})
        for path, odd, value in odd_json(pool):
            yield (
                ("documents", *path),
                odd,
                packed(
                    columns | {"documents": np.frombuffer(json.dumps(value).encode(), np.uint8)}
                ),
            )
        yield ("other",), "a column more", packed(columns | {"other": columns["rank"]})
    else:
        for path, odd, value in odd_json(json.loads(content)):
            yield path, odd, json.dumps(value, separators=(",", ":")).encode()


def mutations(archive: Archive) -> Iterator[Mutation]:
    """Every change of one place: of the record, of what stands beside it, and of every value
    file.
    """
    for path, odd, fields in odd_json(archive.fields):
        yield Mutation(("record", *path), odd, Archive(fields, archive.words, archive.files))
    for path, odd, words in odd_json(archive.words):
        yield Mutation(("words", *path), odd, Archive(archive.fields, words, archive.files))
    for what, content in archive.files.items():
        for path, odd, changed in odd_files(what, content):
            yield Mutation(
                (what, *path),
                odd,
                Archive(archive.fields, archive.words, archive.files | {what: changed}),
            )


def some(found: Sequence[Mutation], number: int, seed: int) -> list[Mutation]:
    """So many of them, drawn place by place, so that every place is among them where there is
    room.
    """
    draws, by_place = random.Random(seed), {}
    for one in found:
        by_place.setdefault(one.place, []).append(one)
    queues = list(by_place.values())
    for queue in queues:
        draws.shuffle(queue)
    draws.shuffle(queues)
    chosen = []
    while len(chosen) < min(number, len(found)):
        chosen += [queue.pop() for queue in queues if queue]
    return chosen[:number]
