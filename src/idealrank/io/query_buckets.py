"""Rows in any order, written to temporary files by the hash of their query, so that each file holds
whole queries and fits into memory.

Rows keep their order inside a file, so that ties in input order and documents that come twice are
decided as in the whole run. The files have no names: the system removes them with the process,
however it ends.
"""

import mmap
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise, takewhile
from typing import IO, Any, Generic, NamedTuple, TypeVar

import numpy as np

from idealrank import _kernel
from idealrank._lazy import load_extra
from idealrank.data.run_parts import Part
from idealrank.data.types import AnyArray, IntArray
from idealrank.errors import InputError
from idealrank.io.row_parts import IdColumn, Rows, concatenate
from idealrank.io.sources import Source

_BLOCK = 1 << 20
MARK = b"\xef\xbb\xbf"
"""Byte order mark."""

Place = tuple[int, int]
"""Number of a source, and of a line from 1."""


@dataclass(frozen=True)
class KnownLine:
    r"""A line by its bytes, since a part does not know where its lines stand in the files."""

    text: bytes  # The whole line, without its end
    # Lines before it that are the same; all of them are of its query, and so in its part
    equal: int

    @classmethod
    def of(cls, buffers: Sequence[Any], place: Place) -> "KnownLine":
        """Return the line at a place of a part."""
        text = _line(buffers[place[0]], place[1])
        return cls(
            text, len(list(takewhile(lambda found: found[0] < place, _found(buffers, [text]))))
        )


@dataclass(frozen=True)
class LineProblem:
    r"""A line of a part that cannot be used."""

    error: _kernel.ParseError  # As the kernel raised it for the part
    line: KnownLine  # The line
    first: KnownLine | None  # Of a document that comes twice, the line with its first appearance

    @classmethod
    def of(cls, error: _kernel.ParseError, buffers: Sequence[Any]) -> "LineProblem":
        """Know the lines of an error of a part, which holds `buffers`."""
        kind, source, number, _, detail = error.args
        first = None
        if kind == "duplicate":
            of, _, at = detail.partition(b":")
            first = KnownLine.of(buffers, (int(of), int(at)))
        return cls(error.with_traceback(None), KnownLine.of(buffers, (source, number)), first)


def first_problem(problems: Sequence[LineProblem], sources: Sequence[Source]) -> _kernel.ParseError:
    r"""Return the error of the problem that comes first in the files, with its place there."""
    places: dict[bytes, list[Place]] = {
        line.text: [] for one in problems for line in (one.line, one.first) if line is not None
    }

    def let_go() -> None:
        for source in sources:
            source.let_go()

    for place, text in _found([source.data for source in sources], list(places), let_go):
        places[text].append(place)
        for one in problems:
            if one.line.text == text and len(places[text]) == one.line.equal + 1:
                kind, _, _, shown, detail = one.error.args
                if one.first is not None:
                    detail = b"%d:%d" % places[one.first.text][one.first.equal]
                return _kernel.ParseError(kind, *place, shown, detail)
    return _kernel.ParseError("changed", 0, 0, b"", b"")


def buffers_before(buffers: Sequence[Any], place: Place) -> Iterator[Any]:
    r"""Lines of a part before a place."""
    yield from buffers[: place[0]]
    end, left = _begin(buffers[place[0]]), place[1] - 1
    for block in _blocks(buffers[place[0]]):
        ends = block.count(b"\n")
        if left <= ends:
            end += sum(map(len, block.split(b"\n", left)[:left])) + left
            break
        end, left = end + len(block), left - ends
    yield buffers[place[0]][:end]


def _found(
    buffers: Iterable[Any], texts: Sequence[bytes], let_go: Any = None
) -> Iterator[tuple[Place, bytes]]:
    """Places of lines, in their order."""
    for source, buffer in enumerate(buffers):
        number = 1
        for block in _blocks(buffer):
            at = sorted((place, text) for text in texts for place in _within(block, text))
            last = 0
            for place, text in at:
                number, last = number + block.count(b"\n", last, place), place
                yield (source, number), text
            number += block.count(b"\n", last)
            if let_go is not None:
                let_go()


def _blocks(buffer: Any) -> Iterator[bytes]:
    """Whole lines, some megabytes at a time."""
    begin, size = _begin(buffer), _BLOCK
    while begin < len(buffer):
        block = bytes(buffer[begin : begin + size])
        end = len(block) if begin + len(block) == len(buffer) else block.rfind(b"\n") + 1
        if not end:  # a line that is longer
            size *= 2
            continue
        yield block[:end]
        begin, size = begin + end, _BLOCK


def _begin(buffer: Any) -> int:
    return len(MARK) if bytes(buffer[: len(MARK)]) == MARK else 0


def _within(block: bytes, text: bytes) -> Iterator[int]:
    at = block.find(text)
    while at >= 0:
        end = at + len(text)
        if (at == 0 or block[at - 1] == 10) and (end == len(block) or block[end] == 10):
            yield at
        at = block.find(text, at + 1)


def _line(buffer: Any, number: int) -> bytes:
    for block in _blocks(buffer):
        ends = block.count(b"\n")
        if number <= ends or not block.endswith(b"\n"):
            return block.split(b"\n", number)[number - 1]
        number -= ends
    return b""


Piece = TypeVar("Piece")
Result = TypeVar("Result")

_MOST_FILES = 128
_LEVELS = 6  # of files that are split again
_HASHED = 256  # bytes of an id
_BASIS, _PRIME = 0xCBF29CE484222325, 0x100000001B3  # FNV-1a
_MIX = 0x9E3779B97F4A7C15
# of a piece; a file has a block of each piece that was written, and many of a few rows
_ROWS = 1 << 16
_BLANKS = np.zeros(256, bool)
_BLANKS[[9, 10, 13, 32]] = True


def hash_words(data: AnyArray, starts: IntArray, stops: IntArray | None = None) -> AnyArray:
    """Hash words in one run of bytes."""
    ends = np.full(starts.size, data.size) if stops is None else stops
    found = np.full(starts.size, _BASIS, np.uint64)
    going = np.flatnonzero(starts < ends)
    for place in range(_HASHED):
        letters = data[starts[going] + place]
        is_letter = ~_BLANKS[letters]
        going = going[is_letter]
        if not going.size:
            break
        found[going] = (found[going] ^ letters[is_letter]) * np.uint64(_PRIME)
        going = going[starts[going] + place + 1 < ends[going]]
    return found


def _bucket_of(hashes: AnyArray, count: int, level: int) -> IntArray:
    """Number of the file of each hash; other bits decide at each level."""
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
        found, first = np.unique(hashes, return_index=True)
        return cls(found, first, hashes.size)


class FirstPlaces:
    """Where each query appears first, by its hash."""

    def __init__(self) -> None:
        self._hashes, self._places = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        self._rows = 0

    def add(self, seen: "Seen") -> None:
        """Add the queries of the next rows."""
        at = np.searchsorted(self._hashes, seen.hashes)
        known = at < self._hashes.size
        known[known] = self._hashes[at[known]] == seen.hashes[known]
        if not known.all():
            every = np.concatenate([self._hashes, seen.hashes[~known]])
            places = np.concatenate([self._places, seen.first[~known] + self._rows])
            order = np.argsort(every, kind="stable")  # of two ids of one hash, the first
            self._hashes, self._places = every[order], places[order]
        self._rows += seen.n_rows

    def of(self, hashes: AnyArray) -> IntArray:
        """Places of known hashes."""
        places: IntArray = self._places[np.searchsorted(self._hashes, hashes)]
        return places

    def of_ids(self, ids: Sequence[bytes]) -> IntArray:
        """Places of queries."""
        sizes = np.fromiter(map(len, ids), np.int64, len(ids))
        stops = np.cumsum(sizes)
        return self.of(hash_words(np.frombuffer(b"".join(ids), np.uint8), stops - sizes, stops))


@dataclass(frozen=True)
class Layout(Generic[Piece]):
    """Splitting, writing and reading of pieces of a run."""

    # Takes a piece and a function from hashes to numbers of files; returns the bytes for each file,
    # and the queries of the rows
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
    count = int(min(max(2, 2 * expected // limit + 1), _MOST_FILES))
    files: list[IO[bytes]] = []
    try:
        files.extend(tempfile.TemporaryFile(buffering=0) for _ in range(count))  # noqa: SIM115  (closed with the parts)
        for buffers, seen in _ahead(
            lambda piece: layout.split(piece, lambda found: _bucket_of(found, count, level), count),
            pieces,
        ):
            for file, parts in zip(files, buffers, strict=True):
                for part in parts:
                    _write(file, part)
            if places is not None:
                places.add(seen)
    except OSError as error:
        for file in files:
            file.close()
        folder = tempfile.gettempdir()
        raise InputError(
            f"{folder}: cannot write the rows grouped by query ({error.strerror or error}), "
            f"expected room for the run",
            hint="set the variable TMPDIR to a folder with room",
        ) from None
    except BaseException:
        for file in files:
            file.close()
        raise
    return files


def _ahead(split: Callable[[Piece], Result], pieces: Iterable[Piece]) -> Iterator[Result]:
    """Each piece split, in order: one on a thread of its own, while the piece before it is written
    and the next is read.
    """
    with ThreadPoolExecutor(1) as pool:
        before: Future[Result] | None = None
        for piece in pieces:
            begun = pool.submit(split, piece)
            if before is not None:
                yield before.result()
            before = begun
        if before is not None:
            yield before.result()


def _write(file: IO[bytes], data: Any) -> None:
    left = memoryview(data).cast("B")
    while len(left):
        left = left[file.write(left) :]


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
                yield Part(source, None, places.of_ids, lines)
                continue
            if level > _LEVELS:
                raise too_large(size)
            inner = _split(
                pieces=layout.pieces(mapped),
                layout=layout,
                expected=size,
                limit=limit,
                level=level,
                places=None,
            )
            mapped.close()
            is_one = max(each.tell() for each in inner) == size  # one query, or a few of one hash
            yield from _parts(
                files=inner,
                layout=layout,
                limit=limit,
                too_large=too_large,
                level=_LEVELS + 1 if is_one else level + 1,
                places=places,
            )
    finally:
        for file in files:
            file.close()


def load_arrow() -> Any:
    """Import Arrow with all that moves rows, so that the memory of its code is taken before what is
    left is counted.
    """
    pyarrow = load_extra("pyarrow", "grouping a run whose rows are not grouped by query", "arrow")
    # which the first `take` would load, and which needs more memory than pyarrow
    import_module("pyarrow.compute")
    return pyarrow


def lines_layout(piece_bytes: int) -> Layout[memoryview]:
    """Layout of lines of a TREC run."""
    pyarrow = load_arrow()

    def split(
        piece: memoryview, bucket_of: Callable[[AnyArray], IntArray], count: int
    ) -> tuple[list[list[Any]], Seen]:
        data = np.frombuffer(piece, np.uint8)
        ends = np.flatnonzero(data == 10) + 1
        is_open = bool(data.size and (not ends.size or ends[-1] != data.size))
        bounds = np.concatenate([[0], ends, [data.size] if is_open else []]).astype(np.int64)
        starts = bounds[:-1].copy()
        going = np.flatnonzero(starts < data.size)
        while going.size:  # blanks before the first field
            letters = data[starts[going]]
            going = going[(letters == 32) | (letters == 9)]
            starts[going] += 1
            going = going[starts[going] < data.size]
        hashes = hash_words(data, starts)
        buckets = bucket_of(hashes)
        order = np.argsort(buckets.astype(np.int16), kind="stable")
        lines = pyarrow.LargeBinaryArray.from_buffers(
            pyarrow.large_binary(),
            bounds.size - 1,
            [None, pyarrow.py_buffer(bounds), pyarrow.py_buffer(piece)],
        )
        _, offsets, letters_ = lines.take(pyarrow.array(order)).buffers()
        moved = np.frombuffer(offsets, np.int64, bounds.size)
        at = moved[np.concatenate([[0], np.cumsum(np.bincount(buckets, minlength=count))])]
        taken = memoryview(letters_ if letters_ is not None else b"")
        found: list[list[Any]] = [[taken[at[number] : at[number + 1]]] for number in range(count)]
        for buffers in found:
            # a part of the id inside a file, which it would not be at the start of one
            if bytes(buffers[0][: len(MARK)]) == MARK:
                buffers.insert(0, b"\n")
        if is_open:
            found[int(buckets[-1])].append(b"\n")
        return found, Seen.of_rows(hashes)

    def pieces(mapped: mmap.mmap) -> Iterator[memoryview]:
        begin = 0
        while begin < len(mapped):
            stop = mapped.find(b"\n", min(begin + piece_bytes, len(mapped) - 1)) + 1 or len(mapped)
            yield memoryview(mapped)[begin:stop]
            begin = stop

    def part(mapped: mmap.mmap) -> tuple[Any, Sequence[Any]]:
        return _kernel.Text([mapped], "run"), [mapped]

    return Layout(split, pieces, part)


def rows_layout() -> Layout[Rows]:
    """Layout of rows of three columns."""
    pyarrow = load_arrow()

    def split(
        rows: Rows, bucket_of: Callable[[AnyArray], IntArray], count: int
    ) -> tuple[list[list[Any]], Seen]:
        queries = _used(_coded(rows.queries, pyarrow), pyarrow)
        assert queries.codes is not None  # noqa: S101  (for type checkers)
        bounds = queries.offsets.astype(np.int64)
        letters = np.frombuffer(queries.data, np.uint8) if bounds[-1] else np.zeros(0, np.uint8)
        hashes = hash_words(letters, bounds[:-1], bounds[1:])
        of_id = bucket_of(hashes)
        first = np.full(of_id.size, queries.codes.size)
        first[queries.codes[::-1]] = np.arange(queries.codes.size - 1, -1, -1)
        # in the order of first appearance, in which the kernel looks for errors
        by_bucket = np.lexsort((first, of_id))
        rank = np.empty(by_bucket.size, np.int32)
        rank[by_bucket] = np.arange(by_bucket.size, dtype=np.int32)
        codes = rank[queries.codes]
        order = _stable_order(codes, rank.size)
        sizes = np.bincount(codes, minlength=rank.size)
        documents = _values(rows.documents, pyarrow).take(
            pyarrow.array(order if rows.documents.codes is None else rows.documents.codes[order])
        )
        moved, letters_ = _letters(documents, pyarrow)
        values = rows.values[order]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        names, name_letters = _letters(
            _values(IdColumn(queries.offsets, queries.data), pyarrow).take(
                pyarrow.array(by_bucket)
            ),
            pyarrow,
        )
        ids = np.searchsorted(of_id[by_bucket], np.arange(count + 1)).tolist()
        found: list[list[Any]] = []
        for low, high in pairwise(ids):
            begin, stop = int(ends[low]), int(ends[high])
            columns = (
                names[low : high + 1],
                name_letters,
                sizes[low:high],
                moved[begin : stop + 1],
                letters_,
                values[begin:stop],
            )
            found.append([] if begin == stop else _packed(*columns))
        return found, Seen(hashes, first, queries.codes.size)

    def pieces(mapped: mmap.mmap) -> Iterator[Rows]:
        at, data, blocks, n_rows = 0, memoryview(mapped), list[Rows](), 0
        while at < len(data):
            at, rows = _unpacked(data, at)
            blocks.append(rows)
            n_rows += rows.values.size
            if n_rows >= _ROWS or at >= len(data):
                yield _joined(blocks, pyarrow)
                blocks, n_rows = [], 0

    def part(mapped: mmap.mmap) -> tuple[Any, Sequence[Any]]:
        table = _kernel.ColumnTable()
        for rows in pieces(mapped):
            table.add(rows.queries.parts, rows.documents.parts, np.ascontiguousarray(rows.values))
        return table.finish(duplicates="keep"), ()

    return Layout(split, pieces, part)


def _joined(blocks: Sequence[Rows], pyarrow: Any) -> Rows:
    """One block after the other, with the id of each query once."""
    if len(blocks) == 1:
        return blocks[0]
    names = _coded(
        concatenate([IdColumn(block.queries.offsets, block.queries.data) for block in blocks]),
        pyarrow,
    )
    assert names.codes is not None  # noqa: S101  (for type checkers)
    ends = np.cumsum([block.queries.offsets.size - 1 for block in blocks])
    of_rows = [
        block.queries.codes + (end - block.queries.offsets.size + 1)
        for block, end in zip(blocks, ends.tolist(), strict=True)
    ]
    queries = IdColumn(names.offsets, names.data, names.codes[np.concatenate(of_rows)])
    values = np.concatenate([block.values for block in blocks])
    return Rows(
        queries, concatenate([block.documents for block in blocks]), values, lambda row: ("", row)
    )


def _stable_order(codes: AnyArray, count: int) -> IntArray:
    """Rows in the order of their codes, which are below `count`: by radix, sixteen bits at a
    time.
    """
    low = np.argsort((codes & 0xFFFF).astype(np.uint16), kind="stable")
    return (
        low
        if count <= 1 << 16
        else low[np.argsort((codes[low] >> 16).astype(np.uint16), kind="stable")]
    )


def _values(column: IdColumn, pyarrow: Any) -> Any:
    """The ids of a column as an Arrow array, where they are."""
    width = pyarrow.binary() if column.offsets.dtype == np.int32 else pyarrow.large_binary()
    buffers = [
        None,
        pyarrow.py_buffer(np.ascontiguousarray(column.offsets)),
        pyarrow.py_buffer(column.data),
    ]
    return pyarrow.Array.from_buffers(width, column.offsets.size - 1, buffers)


def _letters(array: Any, pyarrow: Any) -> tuple[IntArray, memoryview]:
    """Offsets and bytes of an Arrow array that begins with its buffers."""
    _, offsets, data = array.cast(pyarrow.large_binary()).buffers()
    return np.frombuffer(offsets, np.int64, len(array) + 1), memoryview(
        data if data is not None else b""
    )


def distinct_ids(column: IdColumn) -> set[bytes]:
    """Ids of a column."""
    coded = _coded(column, load_arrow())
    assert coded.codes is not None  # noqa: S101  (for type checkers)
    data = memoryview(coded.data)
    return {
        bytes(data[coded.offsets[place] : coded.offsets[place + 1]])
        for place in np.unique(coded.codes).tolist()
    }


def _coded(column: IdColumn, pyarrow: Any) -> IdColumn:
    """The column with a code for each row."""
    if column.codes is not None:
        return column
    coded = _values(column, pyarrow).dictionary_encode()
    words = coded.dictionary.cast(pyarrow.large_binary())
    _, offsets, data = words.buffers()
    starts = np.frombuffer(offsets, np.int64, len(words) + 1, words.offset * 8)
    codes = np.frombuffer(
        coded.indices.buffers()[1], np.int32, len(coded), coded.indices.offset * 4
    )
    return IdColumn(starts, b"" if data is None else data, codes)


def _used(column: IdColumn, pyarrow: Any) -> IdColumn:
    """A column with codes and the ids that some row has: rows of a piece share the dictionary of a
    whole file, or of a group of rows.
    """
    assert column.codes is not None  # noqa: S101  (for type checkers)
    has_rows = np.zeros(column.offsets.size - 1, np.bool_)
    has_rows[column.codes] = True
    if has_rows.all():
        return column
    kept = np.flatnonzero(has_rows)
    place = np.cumsum(has_rows, dtype=np.int32) - 1
    offsets, letters = _letters(
        _values(IdColumn(column.offsets, column.data), pyarrow).take(pyarrow.array(kept)), pyarrow
    )
    return IdColumn(offsets, letters, place[column.codes])


def _packed(
    names: IntArray,
    name_letters: memoryview,
    sizes: IntArray,
    offsets: IntArray,
    letters: memoryview,
    values: AnyArray,
) -> list[Any]:
    """A block of rows, query by query: the numbers of queries, rows and bytes, then the columns."""
    ids = name_letters[int(names[0]) : int(names[-1])]
    documents = letters[int(offsets[0]) : int(offsets[-1])]
    head = np.array([sizes.size, values.size, len(ids), len(documents)], np.int64)
    counts = [column.astype(np.int32) for column in (np.diff(names), sizes, np.diff(offsets))]
    padding = b"\0" * (-(sum(column.nbytes for column in counts) + len(ids) + len(documents)) % 8)
    return [head, values, *counts, ids, documents, padding]


def _unpacked(data: memoryview, at: int) -> tuple[int, Rows]:
    def numbers(count: int, kind: Any) -> Any:
        nonlocal at
        found = np.frombuffer(data, kind, count, at)
        at += found.nbytes
        return found

    n_queries, n_rows, n_names, n_letters = numbers(4, np.int64).tolist()
    values = numbers(n_rows, np.float64)
    lengths, sizes, widths = (numbers(count, np.int32) for count in (n_queries, n_queries, n_rows))
    names, letters = data[at : at + n_names], data[at + n_names : at + n_names + n_letters]
    at += n_names + n_letters
    at += -at % 8
    codes = np.repeat(np.arange(n_queries, dtype=np.int32), sizes)
    queries = IdColumn(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]), names, codes)
    documents = IdColumn(np.concatenate([[0], np.cumsum(widths, dtype=np.int64)]), letters)
    return at, Rows(queries, documents, values, lambda row: ("", row))
