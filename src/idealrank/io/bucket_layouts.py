"""Pieces of a run as they are written to temporary files: lines of a TREC run, and columns of ids
and scores.
"""

import mmap
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from idealrank import _kernel
from idealrank._lazy import load_extra
from idealrank.data.types import AnyArray, IntArray, ShortArray
from idealrank.io.part_lines import has_mark
from idealrank.io.query_buckets import Layout, Seen, hash_words
from idealrank.io.row_parts import IdColumn, Rows, concatenate

# Rows that are split again at a time: a file has many blocks of few rows, one of each piece that
# was written to it.
_ROWS = 1 << 16


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
        bounds, is_open = _line_bounds(data)
        hashes = hash_words(data, _first_fields(data, bounds[:-1]))
        buckets = bucket_of(hashes)

        # the lines in the order of their buckets, moved by Arrow: no line is a Python object
        order = np.argsort(buckets.astype(np.int16), kind="stable")
        lines = pyarrow.LargeBinaryArray.from_buffers(
            pyarrow.large_binary(),
            bounds.size - 1,
            [None, pyarrow.py_buffer(bounds), pyarrow.py_buffer(piece)],
        )
        moved_bounds, moved = _letters(lines.take(pyarrow.array(order)), pyarrow)
        lines_before = np.concatenate([[0], np.cumsum(np.bincount(buckets, minlength=count))])
        buffers_of_buckets: list[list[Any]] = [
            [moved[begin:end]] for begin, end in pairwise(moved_bounds[lines_before])
        ]

        for buffers in buffers_of_buckets:
            # inside a file a mark is a part of the id, which it must stay at the start of this one
            if has_mark(buffers[0]):
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

    return Layout(split=split, pieces=pieces, part=part)


def _line_bounds(data: AnyArray) -> tuple[IntArray, bool]:
    """Where each line begins, and the end of the last; and whether that lacks its line end."""
    ends = np.flatnonzero(data == ord("\n")) + 1
    is_open = bool(data.size and (not ends.size or ends[-1] != data.size))
    last = [data.size] if is_open else []
    return np.concatenate([[0], ends, last]).astype(np.int64), is_open


def _first_fields(data: AnyArray, lines: IntArray) -> IntArray:
    """Where the first field of each line begins, behind spaces and tabs."""
    starts = lines.copy()
    at_blank = np.flatnonzero(starts < data.size)
    while at_blank.size:
        letters = data[starts[at_blank]]
        at_blank = at_blank[(letters == ord(" ")) | (letters == ord("\t"))]
        starts[at_blank] += 1
        at_blank = at_blank[starts[at_blank] < data.size]
    return starts


def rows_layout() -> Layout[Rows]:
    """Layout of rows of three columns."""
    pyarrow = load_arrow()

    def split(
        rows: Rows, bucket_of: Callable[[AnyArray], IntArray], count: int
    ) -> tuple[list[list[Any]], Seen]:
        queries, codes = _used(*_coded(rows.queries, pyarrow), pyarrow)
        bounds = queries.offsets.astype(np.int64)
        letters = np.frombuffer(queries.data, np.uint8) if bounds[-1] else np.zeros(0, np.uint8)
        hashes = hash_words(letters, bounds[:-1], bounds[1:])
        buckets = bucket_of(hashes)
        # The row at which each query appears first: rows are written from the last to the first,
        # so that the first one stays.
        first_rows = np.full(buckets.size, codes.size)
        first_rows[codes[::-1]] = np.arange(codes.size - 1, -1, -1)
        # queries by bucket, then by first appearance, in which order the kernel looks for errors
        query_order = np.lexsort((first_rows, buckets))
        new_codes = np.empty(query_order.size, np.int32)
        new_codes[query_order] = np.arange(query_order.size, dtype=np.int32)
        moved_codes = new_codes[codes]
        row_order = _stable_order(moved_codes, new_codes.size)
        sizes = np.bincount(moved_codes, minlength=new_codes.size)

        # the columns in that order
        document_bounds, document_letters = _taken(rows.documents, row_order, pyarrow)
        query_bounds, query_letters = _taken(queries, query_order, pyarrow)

        # the queries of each bucket, and their rows
        row_bounds = np.concatenate([[0], np.cumsum(sizes)])
        bucket_bounds = np.searchsorted(buckets[query_order], np.arange(count + 1)).tolist()
        buffers_of_buckets: list[list[Any]] = []
        for first_query, last_query in pairwise(bucket_bounds):
            begin = int(row_bounds[first_query])
            stop = int(row_bounds[last_query])
            packed = []
            if begin < stop:
                packed = _packed(
                    query_bounds=query_bounds[first_query : last_query + 1],
                    query_letters=query_letters,
                    sizes=sizes[first_query:last_query],
                    document_bounds=document_bounds[begin : stop + 1],
                    document_letters=document_letters,
                    values=rows.values[row_order[begin:stop]],
                )
            buffers_of_buckets.append(packed)
        return buffers_of_buckets, Seen(hashes, first_rows, codes.size)

    def pieces(mapped: mmap.mmap) -> Iterator[Rows]:
        file = _Blocks(mapped)
        blocks = list[Rows]()
        n_rows = 0
        while file.has_more:
            rows = file.next_block()
            blocks.append(rows)
            n_rows += rows.values.size
            if n_rows >= _ROWS or not file.has_more:
                yield _joined(blocks, pyarrow)
                blocks = []
                n_rows = 0

    def part(mapped: mmap.mmap) -> tuple[Any, Sequence[Any]]:
        table = _kernel.ColumnTable()
        for rows in pieces(mapped):
            table.add(rows.queries.parts, rows.documents.parts, np.ascontiguousarray(rows.values))
        return table.finish(duplicates="keep"), ()

    return Layout(split=split, pieces=pieces, part=part)


def _joined(blocks: Sequence[Rows], pyarrow: Any) -> Rows:
    """Join blocks, one after the other, with the id of each query once."""
    if len(blocks) == 1:
        return blocks[0]
    columns = [_coded(block.queries, pyarrow) for block in blocks]
    ids, code_of_id = _coded(concatenate([block_ids for block_ids, _ in columns]), pyarrow)
    # the codes of each block, moved behind the ids of the blocks before it
    ids_before = 0
    moved_codes = []
    for block_ids, codes in columns:
        moved_codes.append(codes + ids_before)
        ids_before += len(block_ids)
    return Rows(
        queries=IdColumn(ids.offsets, ids.data, code_of_id[np.concatenate(moved_codes)]),
        documents=concatenate([block.documents for block in blocks]),
        values=np.concatenate([block.values for block in blocks]),
        place=lambda row: ("", row),
    )


def _stable_order(codes: AnyArray, count: int) -> IntArray:
    """Rows in the order of their codes, which are below `count`."""
    # NumPy sorts numbers of 16 bits by radix, in linear time: the low half first, then the high.
    by_low_half = np.argsort((codes & 0xFFFF).astype(np.uint16), kind="stable")
    if count <= 1 << 16:
        return by_low_half
    high_halves = (codes[by_low_half] >> 16).astype(np.uint16)
    return by_low_half[np.argsort(high_halves, kind="stable")]


def _values(column: IdColumn, pyarrow: Any) -> Any:
    """The ids of a column as an Arrow array, without a copy; its codes are left out."""
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
    *,
    query_bounds: IntArray,
    query_letters: memoryview,
    sizes: IntArray,
    document_bounds: IntArray,
    document_letters: memoryview,
    values: AnyArray,
) -> list[Any]:
    """A block of rows, query by query: the numbers of queries, rows and bytes, then the columns."""
    queries = query_letters[int(query_bounds[0]) : int(query_bounds[-1])]
    documents = document_letters[int(document_bounds[0]) : int(document_bounds[-1])]
    head = np.array([sizes.size, values.size, len(queries), len(documents)], np.int64)
    columns = (np.diff(query_bounds), sizes, np.diff(document_bounds))
    counts = [column.astype(np.int32) for column in columns]
    # the next block begins at a multiple of eight bytes, since its numbers are of eight
    length = sum(column.nbytes for column in counts) + len(queries) + len(documents)
    return [head, values, *counts, queries, documents, b"\0" * (-length % 8)]


class _Blocks:
    """Reads the blocks of a file, one after the other, as `_packed` makes them."""

    def __init__(self, mapped: mmap.mmap) -> None:
        self._data = memoryview(mapped)
        self._position = 0

    @property
    def has_more(self) -> bool:
        return self._position < len(self._data)

    def next_block(self) -> Rows:
        n_queries, n_rows, n_query_letters, n_letters = self._numbers(4, np.int64).tolist()
        values = self._numbers(n_rows, np.float64)
        query_lengths = self._numbers(n_queries, np.int32)
        sizes = self._numbers(n_queries, np.int32)
        document_lengths = self._numbers(n_rows, np.int32)
        query_letters = self._letters(n_query_letters)
        document_letters = self._letters(n_letters)
        self._position += -self._position % 8
        return Rows(
            queries=IdColumn(
                _offsets(query_lengths),
                query_letters,
                np.repeat(np.arange(n_queries, dtype=np.int32), sizes),
            ),
            documents=IdColumn(_offsets(document_lengths), document_letters),
            values=values,
            place=lambda row: ("", row),
        )

    def _numbers(self, count: int, kind: Any) -> AnyArray:
        column = np.frombuffer(self._data, kind, count, self._position)
        self._position += column.nbytes
        return column

    def _letters(self, size: int) -> memoryview:
        letters = self._data[self._position : self._position + size]
        self._position += size
        return letters


def _offsets(lengths: AnyArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
