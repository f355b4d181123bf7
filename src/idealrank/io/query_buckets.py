"""Rows in any order, written to temporary files by the hash of their query, so that each file has
whole queries and fits into memory.

Rows keep their order inside a file, so that ties in input order and documents that come twice are
decided as in the whole run. The files have no names: the system removes them with the process,
however it ends.
"""

import mmap
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, Generic, NamedTuple, TypeVar

import numpy as np

from idealrank.data.run_parts import Part
from idealrank.data.types import AnyArray, IntArray
from idealrank.errors import InputError

Piece = TypeVar("Piece")
Result = TypeVar("Result")

_MOST_FILES = 128  # that are open at once
_LEVELS = 6  # times that a file with too many rows is split again
# Bytes of an id that make its hash. Longer ids that begin alike share a hash, and so a file.
_HASHED = 256
# constants of the hash FNV-1a
_BASIS = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_MIX = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio, which spreads the bits of a hash
_BLANKS = np.zeros(256, bool)
_BLANKS[[9, 10, 13, 32]] = True


def hash_words(data: AnyArray, starts: IntArray, stops: IntArray | None = None) -> AnyArray:
    """Hash words in one run of bytes; a word ends at its stop, or at the first blank before it."""
    ends = np.full(starts.size, data.size) if stops is None else stops
    hashes = np.full(starts.size, _BASIS, np.uint64)
    # The next letter of every word at once, since a loop over words would be slow.
    unfinished = np.flatnonzero(starts < ends)
    for n_hashed in range(_HASHED):
        letters = data[starts[unfinished] + n_hashed]
        is_letter = ~_BLANKS[letters]
        unfinished = unfinished[is_letter]
        if not unfinished.size:
            break
        hashes[unfinished] = (hashes[unfinished] ^ letters[is_letter]) * np.uint64(_PRIME)
        unfinished = unfinished[starts[unfinished] + n_hashed + 1 < ends[unfinished]]
    return hashes


def _bucket_of(hashes: AnyArray, count: int, level: int) -> IntArray:
    """Number of the file of each hash. Each level mixes the bits in another way, so that the ids of
    one file go to different files when it is split again.
    """
    # Products and shifts carry every bit into the high ones, from which the number is taken.
    mixed = (hashes ^ np.uint64(level * _PRIME)) * np.uint64(_MIX)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(_MIX)
    buckets: IntArray = ((mixed >> np.uint64(33)) % np.uint64(count)).astype(np.int64)
    return buckets


class Seen(NamedTuple):
    """Queries of a piece: their hashes, the row at which each appears first, and the number of
    rows.
    """

    hashes: AnyArray
    first: IntArray
    n_rows: int

    @classmethod
    def of_rows(cls, hashes: AnyArray) -> "Seen":
        """Queries of rows, from the hash of each."""
        distinct, first = np.unique(hashes, return_index=True)
        return cls(distinct, first, hashes.size)


class FirstPlaces:
    """Row of the run at which each query appears first, by its hash."""

    def __init__(self) -> None:
        self._hashes = np.zeros(0, np.uint64)  # sorted
        self._places = np.zeros(0, np.int64)
        self._n_rows = 0

    def add(self, seen: "Seen") -> None:
        """Add the queries of the next rows."""
        positions = np.searchsorted(self._hashes, seen.hashes)
        # A position behind the last hash has no hash to compare with.
        is_known = positions < self._hashes.size
        is_known[is_known] = self._hashes[positions[is_known]] == seen.hashes[is_known]
        if not is_known.all():
            hashes = np.concatenate([self._hashes, seen.hashes[~is_known]])
            places = np.concatenate([self._places, seen.first[~is_known] + self._n_rows])
            order = np.argsort(hashes, kind="stable")  # of two ids of one hash, the first
            self._hashes = hashes[order]
            self._places = places[order]
        self._n_rows += seen.n_rows

    def of(self, hashes: AnyArray) -> IntArray:
        """Places of known hashes."""
        places: IntArray = self._places[np.searchsorted(self._hashes, hashes)]
        return places

    def of_ids(self, ids: Sequence[bytes]) -> IntArray:
        """Places of queries."""
        sizes = np.fromiter(map(len, ids), np.int64, len(ids))
        stops = np.cumsum(sizes)
        return self.of(hash_words(np.frombuffer(b"".join(ids), np.uint8), stops - sizes, stops))


@dataclass(frozen=True, kw_only=True)
class Layout(Generic[Piece]):
    """Splitting, writing and reading of pieces of a run."""

    # Takes a piece, a function from hashes to numbers of files, and how many files there are;
    # returns the bytes for each file, and the queries of the rows
    split: Callable[[Piece, Callable[[AnyArray], IntArray], int], tuple[list[list[Any]], Seen]]
    # Takes a file; yields what was written as pieces
    pieces: Callable[[mmap.mmap], Iterator[Piece]]
    # Takes a file; returns it as a source of the kernel, and its lines if it is a text
    part: Callable[[mmap.mmap], tuple[Any, Sequence[Any]]]


def regroup(
    pieces: Iterable[Piece],
    layout: Layout[Piece],
    expected: int,
    limit: int,
    too_large: Callable[[int], Exception],
    done: Callable[[], None] = lambda: None,
) -> Iterator[Part]:
    """Split pieces by query, then yield parts of whole queries."""
    places = FirstPlaces()
    files = _split(
        pieces=pieces, layout=layout, expected=expected, limit=limit, level=0, places=places
    )
    done()
    yield from _parts(
        files=files, layout=layout, limit=limit, too_large=too_large, level=1, places=places
    )


def _split(
    pieces: Iterable[Piece],
    layout: Layout[Piece],
    expected: int,
    limit: int,
    level: int,
    places: FirstPlaces | None,
) -> list[IO[bytes]]:
    # twice as many files as needed, since queries differ in size
    count = int(min(max(2, 2 * expected // limit + 1), _MOST_FILES))
    bucket_of = partial(_bucket_of, count=count, level=level)
    with ExitStack() as opened:  # closes the files if anything fails
        try:
            files: list[IO[bytes]] = [
                opened.enter_context(tempfile.TemporaryFile(buffering=0)) for _ in range(count)
            ]
            for buffers_of_files, seen in _ahead(
                lambda piece: layout.split(piece, bucket_of, count), pieces
            ):
                for file, buffers in zip(files, buffers_of_files, strict=True):
                    for buffer in buffers:
                        _write(file, buffer)
                if places is not None:
                    places.add(seen)
        except OSError as error:
            raise InputError(
                f"{tempfile.gettempdir()}: cannot write the rows grouped by query "
                f"({error.strerror or error}), expected room for the run",
                hint="set the variable TMPDIR to a folder with room",
            ) from None
        opened.pop_all()
    return files


def _ahead(split: Callable[[Piece], Result], pieces: Iterable[Piece]) -> Iterator[Result]:
    """Yield each piece split, in order. A thread splits one while the piece before it is written
    and the next is read.
    """
    with ThreadPoolExecutor(1) as pool:
        previous: Future[Result] | None = None
        for piece in pieces:
            current = pool.submit(split, piece)
            if previous is not None:
                yield previous.result()
            previous = current
        if previous is not None:
            yield previous.result()


def _write(file: IO[bytes], data: Any) -> None:
    unwritten = memoryview(data).cast("B")
    while len(unwritten):  # a file without a buffer may take a part of it
        unwritten = unwritten[file.write(unwritten) :]


def _parts(
    files: list[IO[bytes]],
    layout: Layout[Piece],
    limit: int,
    too_large: Callable[[int], Exception],
    level: int,
    places: FirstPlaces,
) -> Iterator[Part]:
    try:
        while files:
            with files.pop(0) as file:
                size = file.tell()
                if not size:
                    continue
                mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
            if size <= limit:
                source, lines = layout.part(mapped)
                yield Part(source=source, let_go=None, order=places.of_ids, lines=lines)
                continue
            if level > _LEVELS:
                raise too_large(size)
            smaller_files = _split(
                pieces=layout.pieces(mapped),
                layout=layout,
                expected=size,
                limit=limit,
                level=level,
                places=None,
            )
            mapped.close()
            # All rows in one file again are of one query, or of a few with one hash: no level
            # divides them, so that the last one is passed, and the file refused.
            is_divided = max(smaller.tell() for smaller in smaller_files) < size
            next_level = level + 1 if is_divided else _LEVELS + 1
            yield from _parts(
                files=smaller_files,
                layout=layout,
                limit=limit,
                too_large=too_large,
                level=next_level,
                places=places,
            )
    finally:
        for file in files:
            file.close()
