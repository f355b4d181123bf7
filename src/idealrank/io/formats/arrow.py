"""Parquet, Arrow IPC and any Arrow table: text columns reach the kernel as they are, without a
Python loop.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any

import numpy as np

from idealrank._lazy import load_extra
from idealrank.data.problems import EXPECTED, is_large, lost_of_array
from idealrank.data.types import AnyArray, BoolArray, FloatArray
from idealrank.errors import FileFormatError, InputError
from idealrank.io.complaints import Complain, Complaint, Notes
from idealrank.io.row_parts import IdColumn, Place, Rows, Table, joined, pack
from idealrank.io.sources import Source
from idealrank.io.table_columns import Chosen, Columns, choose_columns
from idealrank.stats.randomness import in_order

_OTHER_COLUMN = {
    "hint": "cast it, or name another column with columns=",
    "command_hint": "cast it, or name another column with --columns",
}
# Rows of the largest group that is read whole, and of a piece of a larger one.
_MOST_ROWS, _BATCH = 1 << 22, 1 << 20
_SMALL = 1 << 18  # rows up to which neighbouring groups are read together
# Arrow types whose values are one run of bytes with offsets, as the kernel takes ids.
_IN_PLACE = ("string", "binary", "large_string", "large_binary")


def read_parquet(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Rows:
    """Read one Parquet file whole; see `parquet_pieces`."""
    return joined(list(parquet_pieces(source, table, columns, notes, complain)))


def parquet_pieces(
    source: Source,
    table: Table,
    columns: Columns,
    notes: Notes,
    complain: Complain,
    *,
    most_bytes: int | None = None,
) -> Iterator[Rows]:
    """Read the three columns of one Parquet file piece by piece: groups of rows on all cores, of
    which few are in memory at a time.
    """
    pyarrow = load_extra("pyarrow", "reading Parquet", "arrow")
    try:
        schema = _parquet_file(source).schema_arrow
        chosen = choose_columns(schema.names, table, columns, source.path, notes)
        is_text = str(schema.field(chosen.query).type) in _IN_PLACE
        # a query is in many rows: its code is enough
        coded = [chosen.query] if is_text and schema.names.count(chosen.query) == 1 else []
        first = 0
        for data in _parquet_tables(source, chosen.names, coded, most_bytes):
            yield rows_from_table(data, table, chosen, source.path, complain, first=first)
            first += data.num_rows
    except UnicodeDecodeError:
        raise foreign_names(source.path) from None
    except (pyarrow.ArrowException, OSError, MemoryError) as error:
        raise _damaged(source, "a Parquet file", error) from None


def _parquet_file(source: Source, **options: Any) -> Any:
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    return parquet.ParquetFile(pyarrow.PythonFile(source.open()), pre_buffer=False, **options)


def _parquet_tables(
    source: Source, names: list[str], coded: list[str], most_bytes: int | None
) -> Iterator[Any]:
    """Read the columns of a file, a group of rows after the other; large groups in pieces. There is
    at least one table, which may be empty.
    """
    # Where memory counts, columns are read bit by bit, not a whole group at once.
    options = {} if most_bytes is None else {"buffer_size": 1 << 18}
    file = _parquet_file(source, read_dictionary=coded, **options)
    metadata = file.metadata
    sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    if not sum(sizes):
        yield file.read(columns=names, use_threads=False)
        return
    most, batch = _MOST_ROWS, _BATCH
    if most_bytes is not None:
        most = min(most, max(1024, most_bytes // _bytes_of_row(source, names, coded, options)))
        batch = min(batch, most)
    if max(sizes) > most:
        from_batches = import_module("pyarrow").Table.from_batches
        yield from (
            from_batches([rows])
            for rows in file.iter_batches(batch, columns=names, use_threads=False)
        )
    else:
        bundles = _bundles(sizes, min(most, _SMALL))

        # A file of its own for each bundle: threads of pyarrow would wait for each other to read
        # through Python.
        def read(number: int) -> Any:
            groups = bundles[number]
            own = _parquet_file(source, read_dictionary=coded, metadata=metadata, **options)
            rows = own.read_row_groups(groups, columns=names, use_threads=False)
            return rows if len(groups) == 1 else rows.unify_dictionaries().combine_chunks()

        yield from in_order(read, len(bundles), None)


def _bundles(sizes: Collection[int], most: int) -> list[list[int]]:
    """Bundle neighbouring groups of rows to read them together: a group of few rows costs as much
    as many rows do.
    """
    bundles: list[list[int]] = []
    room = 0
    for group, size in enumerate(sizes):
        if size > room:
            bundles.append([])
            room = max(most, size)
        bundles[-1].append(group)
        room -= size
    return bundles


def parquet_rows(source: Source) -> int:
    """Number of rows of a Parquet file, as its footer has it; 0 if that cannot be read, for which
    reading the rows will raise the error.
    """
    pyarrow = load_extra("pyarrow", "reading Parquet", "arrow")
    try:
        return int(_parquet_file(source).metadata.num_rows)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError):
        return 0


def _bytes_of_row(
    source: Source, names: list[str], coded: list[str], options: dict[str, Any]
) -> int:
    """Estimate the bytes of a row in memory from the first rows. Codes count without their
    dictionary, which many pieces share.
    """
    file = _parquet_file(source, read_dictionary=coded, **options)
    rows = next(iter(file.iter_batches(4096, columns=names, use_threads=False)))
    size = sum(getattr(column, "indices", column).nbytes for column in rows.columns)
    return max(1, -(-int(size) // max(1, int(rows.num_rows))))  # rounded up


def arrow_pieces(
    source: Source,
    table: Table,
    columns: Columns,
    notes: Notes,
    complain: Complain,
    *,
    most_bytes: int,
    most_batch: int,
) -> Iterator[Rows]:
    """Read one Arrow IPC file or stream piece by piece: its record batches, large ones in parts."""
    pyarrow = load_extra("pyarrow", "reading Arrow IPC", "arrow")
    chosen, first = None, 0
    try:
        for batch in _record_batches(source, most_batch):
            if chosen is None:
                chosen = choose_columns(batch.schema.names, table, columns, source.path, notes)
            data = batch.select(chosen.names)
            data.validate(full=True)  # as in `read_arrow`
            row_bytes = max(1, data.nbytes / max(1, data.num_rows))
            step = max(1024, int(most_bytes // row_bytes))
            for begin in range(0, max(1, data.num_rows), step):
                piece = pyarrow.Table.from_batches([data.slice(begin, step)])
                yield rows_from_table(piece, table, chosen, source.path, complain, first=first)
                first += piece.num_rows
    except UnicodeDecodeError:
        raise foreign_names(source.path) from None
    except (pyarrow.ArrowException, OSError, MemoryError) as error:
        raise _damaged(source, "an Arrow IPC file or stream", error) from None


def _record_batches(source: Source, most: int) -> Iterator[Any]:
    pyarrow, ipc = import_module("pyarrow"), import_module("pyarrow.ipc")
    reader = pyarrow.PythonFile(source.open())
    if bytes(source.data[:6]) == b"ARROW1":
        file = ipc.open_file(reader)
        count = file.num_record_batches
        if count and len(source.data) // count > most:
            size = len(source.data) // count // 10**6
            raise InputError(
                f"{source.path}: found record batches of {size} MB, expected at most "
                f"{most // 10**6} MB within this budget",
                hint="allow more memory, or write smaller record batches",
            )
        if not count:
            yield pyarrow.RecordBatch.from_pylist([], schema=file.schema)
        for number in range(count):
            yield file.get_batch(number)
        return
    stream, empty = ipc.open_stream(reader), True
    while True:
        # the mark of the end takes bytes: if the last step read none, the stream was cut
        before = reader.tell()
        try:
            batch = stream.read_next_batch()
        except StopIteration:
            break
        empty = False
        yield batch
    if reader.tell() == before:
        raise _unfinished(source)
    if empty:
        yield pyarrow.RecordBatch.from_pylist([], schema=stream.schema)


def read_arrow(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Rows:
    """Read one Arrow IPC file (Feather version 2) or stream; see `read_parquet` for the
    parameters.
    """
    pyarrow = load_extra("pyarrow", "reading Arrow IPC", "arrow")
    ipc = import_module("pyarrow.ipc")
    try:
        # Read, not mapped: a file that changes after it was validated would lead pyarrow outside
        # its buffers.
        reader = pyarrow.BufferReader(source.read())
        if bytes(source.data[:6]) == b"ARROW1":
            data = ipc.open_file(reader).read_all()
        else:
            data = _whole_stream(source, reader)
        chosen = choose_columns(data.schema.names, table, columns, source.path, notes)
        data = data.select(chosen.names)
        # The IPC reader maps what the file says; offsets that point outside would be followed.
        _validate(data)
    except UnicodeDecodeError:
        raise foreign_names(source.path) from None
    except (pyarrow.ArrowException, OSError, MemoryError) as error:
        raise _damaged(source, "an Arrow IPC file or stream", error) from None
    return rows_from_table(data, table, chosen, source.path, complain)


def _validate(data: Any) -> None:
    """Raise pyarrow's error for offsets, text or codes that point outside; a dictionary that
    batches share is checked once.
    """
    pyarrow = import_module("pyarrow")
    seen: set[tuple[int | None, ...]] = set()
    for chunk in chain.from_iterable(column.chunks for column in data.columns):
        if not pyarrow.types.is_dictionary(chunk.type) or chunk.null_count:
            chunk.validate(full=True)
            continue
        chunk.validate()
        chunk.indices.validate(full=True)
        codes = _in_place(chunk.indices, np.dtype(str(chunk.indices.type)))
        memory = _memory_of(chunk.dictionary)
        if memory not in seen or (codes.size and _is_outside(codes, len(chunk.dictionary))):
            chunk.validate(full=True)
        seen.add(memory)


def _whole_stream(source: Source, reader: Any) -> Any:
    """The table of a stream. A stream without a mark at its end is refused: its copy broke off
    between two batches.
    """
    pyarrow = import_module("pyarrow")
    stream = pyarrow.ipc.open_stream(reader)
    batches = []
    while True:
        before = reader.tell()
        try:
            batches.append(stream.read_next_batch())
        except StopIteration:
            break
    if reader.tell() == before:
        raise _unfinished(source)
    return pyarrow.Table.from_batches(batches, schema=stream.schema)


def _unfinished(source: Source) -> FileFormatError:
    problem, expected = "an Arrow stream that ends without an end-of-stream mark", "a whole stream"
    return FileFormatError(source.path, 0, problem, expected, "copy it again, or close its writer")


def foreign_names(path: str) -> FileFormatError:
    """Make the error for columns whose names pyarrow cannot decode."""
    return FileFormatError(
        path, 0, "column names that are not UTF-8", "UTF-8", "rename the columns"
    )


def _damaged(source: Source, expected: str, error: Exception) -> FileFormatError:
    """Make the error for data that pyarrow refuses; damaged sizes may exceed any memory."""
    if isinstance(error, MemoryError):
        reason = "they claim more memory than there is"
    else:
        reason = str(error).splitlines()[0]
    return FileFormatError(source.path, 0, f"data that cannot be read ({reason})", expected)


def rows_from_table(
    data: Any,
    table: Table,
    chosen: Chosen,
    where: str,
    complain: Complain,
    *,
    first: int = 0,
    filled: Collection[str] = (),
) -> Rows:
    """Take the three columns of a ``pyarrow.Table``; rows with a problem are left out."""
    place = partial(_place, where, first)
    bad = np.zeros(data.num_rows, bool)

    def report(kind: str, rows: Any, describe: Callable[[int], str], expected: str) -> None:
        for row in np.flatnonzero(rows).tolist():
            bad[row] = True
            complain(Complaint(kind, *place(row), describe(row), expected))

    columns = {name: data.column(name) for name in chosen.names}
    for name, column in columns.items():
        if column.null_count:
            expected = "a number" if name == chosen.value else "an id"
            report(
                "null",
                column.is_null().to_numpy(),
                lambda _, name=name: f"null in column {name!r}",  # type: ignore[misc]
                expected,
            )

    name = chosen.value
    values = _numbers(columns[name], name, where) if name else np.ones(data.num_rows)
    what = "grade" if table == "qrels" else "score"
    if table == "run" and name and not _is_floating(columns[name].type) and is_large(values):
        scores = columns[name]
        report(
            "whole",
            _lost(scores),
            lambda row: f"score {scores[row]}, a whole number that float64 changes",
            EXPECTED,
        )
    report(
        "nan",
        _is_nan(values) & ~bad,
        lambda _: f"NaN as {what} in column {chosen.value!r}",
        "a number, for NaN has no order",
    )
    if table == "qrels":
        report("infinite", np.isinf(values), lambda row: f"grade {values[row]}", "a finite grade")

    ids = {name: _ids(columns[name], name, where) for name in (chosen.query, chosen.document)}
    for name, column in ids.items():
        if name in filled:
            continue
        report(
            "empty-id",
            column.is_empty & ~bad,
            lambda _, name=name: f"an empty id in column {name!r}",  # type: ignore[misc]
            "an id",
        )

    queries, documents = ids[chosen.query], ids[chosen.document]
    values = 0.0 - values if chosen.by_rank else values
    if not bad.any():
        return Rows(queries, documents, values, place)
    kept = np.flatnonzero(~bad).tolist()
    return Rows(
        queries.take(kept), documents.take(kept), values[kept], lambda row: place(kept[row])
    )


def filled_columns(data: Any, names: Iterable[str], where: str) -> set[str]:
    """Names of the dictionary-encoded columns without an empty id in their dictionaries, which
    pieces of a table share.
    """
    pyarrow = import_module("pyarrow")

    def has_empty(dictionary: Any, name: str) -> bool:
        if dictionary.null_count:
            return True
        return bool(_ids(pyarrow.chunked_array([dictionary]), name, where).is_empty.any())

    filled = set()
    for name in names:
        column = data.column(name)
        if pyarrow.types.is_dictionary(column.type) and not column.null_count:
            own = {_memory_of(chunk.dictionary): chunk.dictionary for chunk in column.chunks}
            if not any(has_empty(dictionary, name) for dictionary in own.values()):
                filled.add(name)
    return filled


def _memory_of(array: Any) -> tuple[int | None, ...]:
    """Identify an Arrow array by its place in memory: chunks often share one dictionary."""
    addresses = [None if buffer is None else buffer.address for buffer in array.buffers()]
    return array.offset, len(array), *addresses


def _place(where: str, first: int, row: int) -> Place:
    return f"{where}: row {first + row} (counted from 0)", 0


def _is_outside(codes: AnyArray, count: int) -> bool:
    """Return whether a code is negative, or not below the count."""
    # Read as a number without a sign, a negative code is above all others: one look is enough.
    largest = int(codes.view(codes.dtype.str.replace("i", "u")).max())
    return largest >= min(count, int(np.iinfo(codes.dtype).max) + 1)


def _decoded(column: Any, name: str, where: str) -> Any:
    """The column with its values in place of codes."""
    pyarrow = import_module("pyarrow")
    if not pyarrow.types.is_dictionary(column.type):
        return column
    try:
        return pyarrow.chunked_array(
            [chunk.dictionary_decode() for chunk in column.chunks], type=column.type.value_type
        )
    except pyarrow.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{where}: found column {name!r} with codes outside its dictionary ({reason}), "
            f"expected codes of it"
        ) from None


def _numbers(column: Any, name: str, where: str) -> FloatArray:
    """Values as float64, NaN where there is none."""
    pyarrow = import_module("pyarrow")
    column = _decoded(column, name, where)
    kind = column.type
    if pyarrow.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pyarrow.types.is_boolean(kind):
        column = column.cast(pyarrow.int8())
    elif not (
        pyarrow.types.is_integer(kind)
        or pyarrow.types.is_floating(kind)
        or pyarrow.types.is_decimal(kind)
    ):
        raise InputError(
            f"{where}: found column {name!r} of type {kind}, expected numbers", **_OTHER_COLUMN
        )
    # a cast loads pyarrow.compute, which takes longer than most files
    if kind != pyarrow.float64():
        column = column.cast(pyarrow.float64(), safe=False)
    column = column.fill_null(np.nan) if column.null_count else column
    parts = [_in_place(chunk, np.dtype(np.float64)) for chunk in column.chunks]
    values: FloatArray = parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0), *parts])
    return values


def _is_nan(values: FloatArray) -> BoolArray:
    """Mark NaN; most often one look for the smallest is enough, since it is NaN if any value is."""
    if np.isnan(np.min(values, initial=np.inf)):
        return np.isnan(values)
    return np.zeros(values.size, bool)


def _in_place(array: Any, kind: "np.dtype[Any]") -> AnyArray:
    """Numbers of an array without nulls, without a copy. The array's own conversion would load
    pandas if that is installed.
    """
    _, numbers = array.buffers()
    if numbers is None:
        return np.zeros(0, kind)
    return np.frombuffer(numbers, kind, count=len(array), offset=array.offset * kind.itemsize)


def _is_floating(kind: Any) -> bool:
    """Return whether values have a fraction, so that no whole number is meant."""
    return bool(import_module("pyarrow").types.is_floating(kind))


def _lost(column: Any) -> BoolArray:
    """The rows whose whole numbers float64 changes."""
    pyarrow = import_module("pyarrow")
    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not pyarrow.types.is_integer(column.type):
        return np.zeros(len(column), bool)
    return lost_of_array(column.fill_null(0).to_numpy())


def _ids(column: Any, name: str, where: str) -> IdColumn:
    """Ids as one run of bytes; a null is an empty id."""
    pyarrow = import_module("pyarrow")
    if (coded := _coded(column, name, where)) is not None:
        return coded
    column = _decoded(column, name, where)
    kind = str(column.type)
    if kind == "null":
        return pack([""] * len(column))
    if kind in ("binary", "large_binary", "binary_view"):
        target = pyarrow.large_binary()
    elif kind in ("string", "large_string", "string_view") or pyarrow.types.is_integer(column.type):
        target = pyarrow.large_string()
    else:
        refusal = (
            f"{where}: found column {name!r} of type {kind}, expected ids, which are text or "
            f"whole numbers"
        )
        raise InputError(refusal, **_OTHER_COLUMN)
    if len(column) == 0:
        return pack([])
    in_place = column.num_chunks == 1 and kind in _IN_PLACE
    array = column.chunk(0) if in_place else column.cast(target).combine_chunks()
    _, offsets, data = array.buffers()
    is_narrow = str(array.type) in ("string", "binary")
    width: np.dtype[Any] = np.dtype(np.int32 if is_narrow else np.int64)
    # By count: a buffer may end in bytes that are no whole offset.
    begin = array.offset * width.itemsize
    starts = np.frombuffer(offsets, width, count=len(array) + 1, offset=begin)
    return IdColumn(starts, b"" if data is None else data)


def _coded(column: Any, name: str, where: str) -> IdColumn | None:
    """Ids of a dictionary-encoded column without a copy of each for every row; None for other
    columns, and where ids are missing.
    """
    pyarrow = import_module("pyarrow")
    if not pyarrow.types.is_dictionary(column.type) or column.null_count:
        return None
    # Different dictionaries are put one after the other; the codes of each are moved by `first`,
    # the number of ids before it.
    dictionaries: dict[tuple[int | None, ...], tuple[int, Any]] = {}
    parts, size = [], 0
    for chunk in column.chunks:
        codes, own = _in_place(chunk.indices, np.dtype(str(chunk.indices.type))), chunk.dictionary
        if codes.size and (own.null_count or _is_outside(codes, len(own))):
            return None
        first, _ = dictionaries.setdefault(_memory_of(own), (size, own))
        size += len(own) if first == size else 0
        narrow = codes.astype(np.int32, copy=False)
        parts.append(narrow + np.int32(first) if first else narrow)
        if size > np.iinfo(np.int32).max:
            return None
    listed = [own for _, own in dictionaries.values()]
    ids = _ids(pyarrow.chunked_array(listed, type=column.type.value_type), name, where)
    joined_codes = parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.int32), *parts])
    return IdColumn(ids.offsets, ids.data, joined_codes)
