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
from importlib import import_module
from itertools import pairwise, takewhile
from typing import IO, Any, Generic, NamedTuple, TypeVar

import numpy as np

from idealrank import _kernel
from idealrank._lazy import load_extra
from idealrank.data.run_parts import Part
from idealrank.data.types import AnyArray, IntArray, ShortArray
from idealrank.errors import InputError
from idealrank.io.row_parts import IdColumn, Rows, concatenate
from idealrank.io.sources import Source

_BLOCK = 1 << 20  # bytes in which lines are looked for at a time
MARK = b"\xef\xbb\xbf"
"""Byte order mark."""

Place = tuple[int, int]
"""Number of a source, and of a line from 1."""


@dataclass(frozen=True)
class KnownLine:
    r"""A line by its bytes, since a part has no line numbers of the files."""

    text: bytes  # The whole line, without its end
    # Lines before it that are the same; all of them are of its query, and so in its part
    equal: int

    @classmethod
    def of(cls, buffers: Sequence[Any], place: Place) -> "KnownLine":
        """Return the line at a place of a part."""
        source, number = place
        text = _line(buffers[source], number)
        places = (equal_place for equal_place, _ in _places(buffers, [text]))
        return cls(text, sum(1 for _ in takewhile(lambda equal_place: equal_place < place, places)))


@dataclass(frozen=True)
class LineProblem:
    r"""A line of a part that cannot be used."""

    error: _kernel.ParseError  # As the kernel raised it for the part
    line: KnownLine  # The line
    first: KnownLine | None  # Of a document that comes twice, the line with its first appearance

    @classmethod
    def of(cls, error: _kernel.ParseError, buffers: Sequence[Any]) -> "LineProblem":
        """Return the lines of an error of a part, which has `buffers`."""
        kind, source, number, _, detail = error.args
        first = None
        if kind == "duplicate":
            first_source, _, first_number = detail.partition(b":")
            first = KnownLine.of(buffers, (int(first_source), int(first_number)))
        return cls(error.with_traceback(None), KnownLine.of(buffers, (source, number)), first)


def first_problem(problems: Sequence[LineProblem], sources: Sequence[Source]) -> _kernel.ParseError:
    r"""Return the error of the problem that comes first in the files, with its place there."""
    lines = [line for problem in problems for line in (problem.line, problem.first)]
    places: dict[bytes, list[Place]] = {line.text: [] for line in lines if line is not None}

    def let_go() -> None:
        for source in sources:
            source.let_go()

    for place, text in _places([source.data for source in sources], list(places), let_go):
        places[text].append(place)
        # the line of the problem is the one with as many equal lines before it as in its part
        for problem in problems:
            if problem.line.text == text and len(places[text]) == problem.line.equal + 1:
                kind, _, _, shown, detail = problem.error.args
                if problem.first is not None:
                    detail = b"%d:%d" % places[problem.first.text][problem.first.equal]
                return _kernel.ParseError(kind, *place, shown, detail)
    return _kernel.ParseError("changed", 0, 0, b"", b"")


def buffers_before(buffers: Sequence[Any], place: Place) -> Iterator[Any]:
    r"""Yield the lines of a part before a place."""
    source, number = place
    yield from buffers[:source]
    buffer = buffers[source]
    left = number - 1
    end = _begin(buffer)
    for block in _blocks(buffer):
        ends = block.count(b"\n")
        if left <= ends:
            end += sum(map(len, block.split(b"\n", left)[:left])) + left  # each line with its end
            break
        end, left = end + len(block), left - ends
    yield buffer[:end]


def _places(
    buffers: Iterable[Any], texts: Sequence[bytes], let_go: Any = None
) -> Iterator[tuple[Place, bytes]]:
    """Yield the places of lines, in their order."""
    for source, buffer in enumerate(buffers):
        number = 1
        for block in _blocks(buffer):
            starts = sorted((start, text) for text in texts for start in _within(block, text))
            last = 0
            for start, text in starts:
                number = number + block.count(b"\n", last, start)
                last = start
                yield (source, number), text
            number += block.count(b"\n", last)
            if let_go is not None:
                let_go()


def _blocks(buffer: Any) -> Iterator[bytes]:
    """Yield whole lines, about a megabyte at a time."""
    begin = _begin(buffer)
    size = _BLOCK
    while begin < len(buffer):
        block = bytes(buffer[begin : begin + size])
        end = len(block) if begin + len(block) == len(buffer) else block.rfind(b"\n") + 1
        if not end:  # a line that is longer
            size *= 2
            continue
        yield block[:end]
        begin = begin + end
        size = _BLOCK


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

_MOST_FILES = 128  # that are open at once
_LEVELS = 6  # times that a file with too many rows is split again
_HASHED = 256  # bytes of an id that make its hash
_BASIS, _PRIME = 0xCBF29CE484222325, 0x100000001B3  # constants of the hash FNV-1a
_MIX = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio, which spreads the bits of a hash
# Rows that are split again at a time: a file has many blocks of few rows, one of each piece that
# was written to it.
_ROWS = 1 << 16
_BLANKS = np.zeros(256, bool)
_BLANKS[[9, 10, 13, 32]] = True


def hash_words(data: AnyArray, starts: IntArray, stops: IntArray | None = None) -> AnyArray:
    """Hash words in one run of bytes."""
    ends = np.full(starts.size, data.size) if stops is None else stops
    # Letter by letter for all words at once; `going` are the words that have not ended.
    hashes = np.full(starts.size, _BASIS, np.uint64)
    going = np.flatnonzero(starts < ends)
    for place in range(_HASHED):
        letters = data[starts[going] + place]
        is_letter = ~_BLANKS[letters]
        going = going[is_letter]
        if not going.size:
            break
        hashes[going] = (hashes[going] ^ letters[is_letter]) * np.uint64(_PRIME)
        going = going[starts[going] + place + 1 < ends[going]]
    return hashes


def _bucket_of(hashes: AnyArray, count: int, level: int) -> IntArray:
    """Number of the file of each hash. Each level mixes the bits in another way, so that the ids of
    one file go to different files when it is split again.
    """
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
    # twice as many files as needed, since queries differ in size
    count = int(min(max(2, 2 * expected // limit + 1), _MOST_FILES))
    bucket_of = partial(_bucket_of, count=count, level=level)
    with ExitStack() as opened:  # closes the files if anything fails
        try:
            files: list[IO[bytes]] = [
                opened.enter_context(tempfile.TemporaryFile(buffering=0)) for _ in range(count)
            ]
            for buffers, seen in _ahead(
                lambda piece: layout.split(piece, bucket_of, count), pieces
            ):
                for file, parts in zip(files, buffers, strict=True):
                    for part in parts:
                        _write(file, part)
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
                yield Part(source=source, let_go=None, order=places.of_ids, lines=lines)
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

        # the lines in the order of their buckets, moved by Arrow: no line is a Python object
        order = np.argsort(buckets.astype(np.int16), kind="stable")
        lines = pyarrow.LargeBinaryArray.from_buffers(
            pyarrow.large_binary(),
            bounds.size - 1,
            [None, pyarrow.py_buffer(bounds), pyarrow.py_buffer(piece)],
        )
        _, offsets, letters_ = lines.take(pyarrow.array(order)).buffers()
        moved = np.frombuffer(offsets, np.int64, bounds.size)
        lines_before = np.concatenate([[0], np.cumsum(np.bincount(buckets, minlength=count))])
        ends_of_buckets = moved[lines_before]
        taken = memoryview(letters_ or b"")
        buffers_of_buckets: list[list[Any]] = [
            [taken[begin:end]] for begin, end in pairwise(ends_of_buckets)
        ]

        for buffers in buffers_of_buckets:
            # inside a file a mark is a part of the id, which it must stay at the start of this one
            if bytes(buffers[0][: len(MARK)]) == MARK:
                buffers.insert(0, b"\n")
        if is_open:
            buffers_of_buckets[int(buckets[-1])].append(b"\n")
        return buffers_of_buckets, Seen.of_rows(hashes)

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
        queries, codes_of_rows = _used(*_coded(rows.queries, pyarrow), pyarrow)
        bounds = queries.offsets.astype(np.int64)
        letters = np.frombuffer(queries.data, np.uint8) if bounds[-1] else np.zeros(0, np.uint8)
        hashes = hash_words(letters, bounds[:-1], bounds[1:])
        of_id = bucket_of(hashes)
        # The row at which each query appears first: rows are written from the last to the first,
        # so that the first one stays.
        first = np.full(of_id.size, codes_of_rows.size)
        first[codes_of_rows[::-1]] = np.arange(codes_of_rows.size - 1, -1, -1)
        # queries by bucket, then by first appearance, in which order the kernel looks for errors
        by_bucket = np.lexsort((first, of_id))
        rank = np.empty(by_bucket.size, np.int32)
        rank[by_bucket] = np.arange(by_bucket.size, dtype=np.int32)
        codes = rank[codes_of_rows]
        order = _stable_order(codes, rank.size)
        sizes = np.bincount(codes, minlength=rank.size)

        # the columns in that order
        moved, letters_ = _taken(rows.documents, order, pyarrow)
        names, name_letters = _taken(queries, by_bucket, pyarrow)

        # the queries of each bucket, and their rows
        ends = np.concatenate([[0], np.cumsum(sizes)])
        ids = np.searchsorted(of_id[by_bucket], np.arange(count + 1)).tolist()
        buffers_of_buckets: list[list[Any]] = []
        for low, high in pairwise(ids):
            begin, stop = int(ends[low]), int(ends[high])
            columns = (
                names[low : high + 1],
                name_letters,
                sizes[low:high],
                moved[begin : stop + 1],
                letters_,
                rows.values[order[begin:stop]],
            )
            buffers_of_buckets.append([] if begin == stop else _packed(*columns))
        return buffers_of_buckets, Seen(hashes, first, codes_of_rows.size)

    def pieces(mapped: mmap.mmap) -> Iterator[Rows]:
        at = 0
        data = memoryview(mapped)
        blocks = list[Rows]()
        n_rows = 0
        while at < len(data):
            at, rows = _unpacked(data, at)
            blocks.append(rows)
            n_rows += rows.values.size
            if n_rows >= _ROWS or at >= len(data):
                yield _joined(blocks, pyarrow)
                blocks = []
                n_rows = 0

    def part(mapped: mmap.mmap) -> tuple[Any, Sequence[Any]]:
        table = _kernel.ColumnTable()
        for rows in pieces(mapped):
            table.add(rows.queries.parts, rows.documents.parts, np.ascontiguousarray(rows.values))
        return table.finish(duplicates="keep"), ()

    return Layout(split, pieces, part)


def _joined(blocks: Sequence[Rows], pyarrow: Any) -> Rows:
    """Join blocks, one after the other, with the id of each query once."""
    if len(blocks) == 1:
        return blocks[0]
    columns = [block.queries for block in blocks]
    own_ids = concatenate([IdColumn(column.offsets, column.data) for column in columns])
    names, codes = _coded(own_ids, pyarrow)
    # the codes of each block, moved behind the ids of the blocks before it
    ends = np.cumsum([column.offsets.size - 1 for column in columns])
    of_rows = [
        column.codes + (end - column.offsets.size + 1)
        for column, end in zip(columns, ends.tolist(), strict=True)
    ]
    queries = IdColumn(names.offsets, names.data, codes[np.concatenate(of_rows)])
    return Rows(
        queries=queries,
        documents=concatenate([block.documents for block in blocks]),
        values=np.concatenate([block.values for block in blocks]),
        place=lambda row: ("", row),
    )


def _stable_order(codes: AnyArray, count: int) -> IntArray:
    """Rows in the order of their codes, which are below `count`."""
    # NumPy sorts numbers of 16 bits by radix, in linear time: the low half first, then the high.
    low = np.argsort((codes & 0xFFFF).astype(np.uint16), kind="stable")
    if count <= 1 << 16:
        return low
    return low[np.argsort((codes[low] >> 16).astype(np.uint16), kind="stable")]


def _values(column: IdColumn, pyarrow: Any) -> Any:
    """The ids of a column, whose codes do not count, as an Arrow array, without a copy."""
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
    return np.frombuffer(offsets, np.int64, len(array) + 1), memoryview(data or b"")


def _taken(column: IdColumn, rows: IntArray, pyarrow: Any) -> tuple[IntArray, memoryview]:
    """Offsets and bytes of the ids of some rows of a column."""
    places = rows if column.codes is None else column.codes[rows]
    return _letters(_values(column, pyarrow).take(pyarrow.array(places)), pyarrow)


def distinct_ids(column: IdColumn) -> set[bytes]:
    """Return the ids of a column, each once."""
    ids, codes = _coded(column, load_arrow())
    data = memoryview(ids.data)
    return {
        bytes(data[ids.offsets[place] : ids.offsets[place + 1]])
        for place in np.unique(codes).tolist()
    }


def _coded(column: IdColumn, pyarrow: Any) -> tuple[IdColumn, ShortArray]:
    """The ids of a column, and a code for each row."""
    if column.codes is not None:
        return IdColumn(column.offsets, column.data), column.codes
    coded = _values(column, pyarrow).dictionary_encode()
    words = coded.dictionary.cast(pyarrow.large_binary())
    _, offsets, data = words.buffers()
    starts = np.frombuffer(offsets, np.int64, len(words) + 1, words.offset * 8)
    _, indices = coded.indices.buffers()
    codes = np.frombuffer(indices, np.int32, len(coded), coded.indices.offset * 4)
    return IdColumn(starts, data or b""), codes


def _used(ids: IdColumn, codes: ShortArray, pyarrow: Any) -> tuple[IdColumn, ShortArray]:
    """Ids and codes without the ids that no row has: a piece may have the dictionary of a whole
    file, or of a group of rows.
    """
    has_rows = np.zeros(ids.offsets.size - 1, np.bool_)
    has_rows[codes] = True
    if has_rows.all():
        return ids, codes
    place = np.cumsum(has_rows, dtype=np.int32) - 1
    offsets, letters = _taken(ids, np.flatnonzero(has_rows), pyarrow)
    return IdColumn(offsets, letters), place[codes]


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
    # the next block begins at a multiple of eight bytes, since its numbers are of eight
    length = sum(column.nbytes for column in counts) + len(ids) + len(documents)
    return [head, values, *counts, ids, documents, b"\0" * (-length % 8)]


def _unpacked(data: memoryview, at: int) -> tuple[int, Rows]:
    def numbers(count: int, kind: Any) -> Any:
        nonlocal at
        column = np.frombuffer(data, kind, count, at)
        at += column.nbytes
        return column

    n_queries, n_rows, n_names, n_letters = numbers(4, np.int64).tolist()
    values = numbers(n_rows, np.float64)
    lengths, sizes, widths = (numbers(count, np.int32) for count in (n_queries, n_queries, n_rows))
    names = data[at : at + n_names]
    letters = data[at + n_names : at + n_names + n_letters]
    at += n_names + n_letters
    at += -at % 8
    codes = np.repeat(np.arange(n_queries, dtype=np.int32), sizes)
    queries = IdColumn(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]), names, codes)
    documents = IdColumn(np.concatenate([[0], np.cumsum(widths, dtype=np.int64)]), letters)
    return at, Rows(
        queries=queries, documents=documents, values=values, place=lambda row: ("", row)
    )
