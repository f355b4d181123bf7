"""Parquet, Arrow IPC and any Arrow table."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any

import numpy as np

from idealrank._lazy import load_extra
from idealrank.data.problems import EXPECTED, is_large
from idealrank.data.types import AnyArray, FloatArray
from idealrank.errors import FileFormatError, InputError
from idealrank.io.checked_cells import Fault, check_number
from idealrank.io.complaints import Complain, Complaint, Notes
from idealrank.io.formats.arrow_columns import (
    IN_PLACE,
    OTHER_COLUMN,
    different_texts,
    ids_of,
    in_place,
    is_floating,
    is_outside,
    is_text,
    lost_rows,
    mark_nan,
    memory_of,
    numbers_of,
)
from idealrank.io.formats.wide_tables import (
    answers_of_arrow,
    arrow_sample,
    checked_batches,
    has_answers,
    refuse_parts,
)
from idealrank.io.label_grades import grade_of
from idealrank.io.row_parts import Blocks, IdColumn, Place, Rows, Table, joined
from idealrank.io.sources import Source
from idealrank.io.table_columns import Chosen, Columns, choose_columns
from idealrank.stats.randomness import in_order

_WORDS = {
    "hint": "cast it, name another column with columns=, or, if its grades are words, give each "
    "its number with labels=",
    "command_hint": "cast it, name another column with --columns, or, if its grades are words, "
    "give each its number with --labels",
}
_MOST_ROWS = 1 << 22  # rows of the largest group that is read whole
_BATCH = 1 << 20  # rows of a piece of a larger group
_SMALL = 1 << 18  # rows up to which neighbouring groups are read together


def read_parquet(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Rows | Blocks:
    """Read one Parquet file whole; see `parquet_pieces`."""
    pieces = list(parquet_pieces(source, table, columns, notes, complain))
    wide = next((piece for piece in pieces if isinstance(piece, Blocks)), None)
    return wide or joined([piece for piece in pieces if isinstance(piece, Rows)])


def parquet_pieces(
    source: Source,
    table: Table,
    columns: Columns,
    notes: Notes,
    complain: Complain,
    *,
    most_bytes: int | None = None,
) -> Iterator[Rows | Blocks]:
    """Read the three columns of one Parquet file piece by piece: groups of rows on all cores, of
    which few are in memory at a time. Rows with a list of documents each are one piece.
    """
    pyarrow = load_extra("pyarrow", "reading Parquet", "arrow")
    try:
        schema = _parquet_file(source).schema_arrow

        def batches(names: Sequence[str], size: int) -> Iterator[Any]:
            yield from _parquet_file(source).iter_batches(size, columns=names, use_threads=False)

        wide = answers_of_arrow(
            schema, batches, table, columns, source.path, notes=notes, complain=complain
        )
        if wide is not None:
            if most_bytes is not None:
                raise refuse_parts(source.path)
            yield wide
            return
        chosen = choose_columns(
            schema.names, table, columns, source.path, notes, sample=arrow_sample(schema)
        )
        is_text = str(schema.field(chosen.query).type) in IN_PLACE
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
    pyarrow = import_module("pyarrow")
    parquet = import_module("pyarrow.parquet")
    return parquet.ParquetFile(pyarrow.PythonFile(source.open()), pre_buffer=False, **options)


def _parquet_tables(
    source: Source, names: list[str], coded: list[str], most_bytes: int | None
) -> Iterator[Any]:
    """Read the columns of a file, a group of rows after the other; large groups in pieces. There is
    at least one table, which may be empty.
    """
    # Where memory counts, columns are read by a buffer of 256 kB, not a whole group at once.
    options = {} if most_bytes is None else {"buffer_size": 1 << 18}
    file = _parquet_file(source, read_dictionary=coded, **options)
    metadata = file.metadata
    sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    if not sum(sizes):
        yield file.read(columns=names, use_threads=False)
        return
    largest_group = _MOST_ROWS
    batch = _BATCH
    if most_bytes is not None:
        rows_in_budget = most_bytes // _bytes_of_row(source, names, coded, options)
        largest_group = min(_MOST_ROWS, max(1024, rows_in_budget))
        batch = min(batch, largest_group)
    if max(sizes) > largest_group:
        from_batches = import_module("pyarrow").Table.from_batches
        yield from (
            from_batches([rows])
            for rows in file.iter_batches(batch, columns=names, use_threads=False)
        )
    else:
        bundles = _bundles(sizes, min(largest_group, _SMALL))

        # A file of its own for each bundle: threads of pyarrow would wait for each other to read
        # through Python.
        def read(number: int) -> Any:
            groups = bundles[number]
            bundle = _parquet_file(source, read_dictionary=coded, metadata=metadata, **options)
            rows = bundle.read_row_groups(groups, columns=names, use_threads=False)
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
    chosen = None
    first = 0
    try:
        for batch in _record_batches(source, most_batch):
            if chosen is None:
                if has_answers(batch, table, columns, source.path):
                    raise refuse_parts(source.path)
                chosen = choose_columns(
                    batch.schema.names,
                    table,
                    columns,
                    source.path,
                    notes,
                    sample=arrow_sample(batch.schema),
                )
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
    pyarrow = import_module("pyarrow")
    ipc = import_module("pyarrow.ipc")
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
    stream = ipc.open_stream(reader)
    is_empty = True
    for batch in _stream_batches(source, reader, stream):
        is_empty = False
        yield batch
    if is_empty:
        yield pyarrow.RecordBatch.from_pylist([], schema=stream.schema)


def read_arrow(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Rows | Blocks:
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
            stream = ipc.open_stream(reader)
            batches = list(_stream_batches(source, reader, stream))
            data = pyarrow.Table.from_batches(batches, schema=stream.schema)
        wide = answers_of_arrow(
            data.schema,
            checked_batches(data),
            table,
            columns,
            source.path,
            notes=notes,
            complain=complain,
        )
        if wide is not None:
            return wide
        chosen = choose_columns(
            data.schema.names, table, columns, source.path, notes, sample=arrow_sample(data.schema)
        )
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
    checked: set[tuple[int | None, ...]] = set()
    for chunk in chain.from_iterable(column.chunks for column in data.columns):
        if not pyarrow.types.is_dictionary(chunk.type) or chunk.null_count:
            chunk.validate(full=True)
            continue
        chunk.validate()
        chunk.indices.validate(full=True)
        codes = in_place(chunk.indices, np.dtype(str(chunk.indices.type)))
        memory = memory_of(chunk.dictionary)
        if memory not in checked or (codes.size and is_outside(codes, len(chunk.dictionary))):
            chunk.validate(full=True)
        checked.add(memory)


def _stream_batches(source: Source, reader: Any, stream: Any) -> Iterator[Any]:
    """Read a stream. One without a mark at its end is refused: its copy broke off between two
    batches.
    """
    while True:
        # The mark of the end takes bytes: if the last step read none, the stream was cut.
        before = reader.tell()
        try:
            batch = stream.read_next_batch()
        except StopIteration:
            break
        yield batch
    if reader.tell() == before:
        raise FileFormatError(
            source.path,
            0,
            "an Arrow stream that ends without an end-of-stream mark",
            "a whole stream",
            "copy it again, or close its writer",
        )


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


class _BadRows:
    """Rows with a problem, which are told and left out."""

    def __init__(self, where: str, first: int, n_rows: int, complain: Complain) -> None:
        self.where = where
        self.place = partial(_place, where, first)
        self.marked = np.zeros(n_rows, bool)
        self._complain = complain

    def add(
        self, kind: str, rows: AnyArray, found: str | Callable[[int], str], expected: str
    ) -> None:
        """Tell each row that is marked in `rows`."""
        for row in np.flatnonzero(rows).tolist():
            self.marked[row] = True
            text = found if isinstance(found, str) else found(row)
            path, line = self.place(row)
            self._complain(
                Complaint(kind=kind, path=path, line=line, found=text, expected=expected)
            )

    def tell(self, row: int, fault: Fault, where: str) -> None:
        """Tell the fault of one row; `where` ends the problem."""
        self.marked[row] = True
        self._complain(fault.at(self.place(row), where))


def rows_from_table(
    data: Any,
    table: Table,
    chosen: Chosen,
    where: str,
    complain: Complain,
    *,
    first: int = 0,
    without_empty_ids: Collection[str] = (),
) -> Rows:
    """Take the three columns of a ``pyarrow.Table``; rows with a problem are left out.

    `without_empty_ids` names columns that need no look for empty ids.
    """
    bad = _BadRows(where, first, data.num_rows, complain)
    columns = {name: data.column(name) for name in chosen.names}
    _report_nulls(columns, chosen, bad)
    if chosen.value:
        values = _checked_values(columns[chosen.value], table, chosen, bad)
    else:
        values = np.ones(data.num_rows)
    queries, documents = _checked_ids(columns, chosen, without_empty_ids, bad)
    if not bad.marked.any():
        return Rows(queries=queries, documents=documents, values=values, place=bad.place)
    kept = np.flatnonzero(~bad.marked).tolist()
    return Rows(
        queries=queries.take(kept),
        documents=documents.take(kept),
        values=values[kept],
        place=lambda row: bad.place(kept[row]),
    )


def _report_nulls(columns: Mapping[str, Any], chosen: Chosen, bad: _BadRows) -> None:
    for name, column in columns.items():
        if column.null_count:
            expected = "a number" if name == chosen.value else "an id"
            bad.add("null", column.is_null().to_numpy(), f"null in column {name!r}", expected)


def _checked_values(column: Any, table: Table, chosen: Chosen, bad: _BadRows) -> FloatArray:
    """Return grades or scores, of which those that are no such thing are told."""
    is_of_words = table == "qrels" and is_text(column)
    if chosen.labels and is_of_words:
        return _grades_of_labels(column, chosen, bad)
    advice = _WORDS if is_of_words else OTHER_COLUMN
    values = numbers_of(column, chosen.value, bad.where, advice)
    if table == "run" and not is_floating(column.type) and is_large(values):
        bad.add(
            "whole",
            lost_rows(column),
            lambda row: f"score {column[row]}, a whole number that float64 changes",
            EXPECTED,
        )
    noun = "grade" if table == "qrels" else "score"
    bad.add(
        "nan",
        mark_nan(values) & ~bad.marked,
        f"NaN as {noun} in column {chosen.value!r}",
        "a number, for NaN has no order",
    )
    if table == "qrels":
        bad.add("infinite", np.isinf(values), lambda row: f"grade {values[row]}", "a finite grade")
    # Subtracted, not negated: no score is -0.0.
    return 0.0 - values if chosen.by_rank else values


def _grades_of_labels(column: Any, chosen: Chosen, bad: _BadRows) -> FloatArray:
    """Return the grades of a column of labels, each different label looked up once."""
    labels, codes = different_texts(column, chosen.value, bad.where)
    grades = [grade_of(label, chosen.labels) for label in labels]
    numbers = [math.nan if isinstance(grade, str) else grade for grade in grades]
    # the last one is for rows without a label, which are told already
    values: FloatArray = np.array([*numbers, 0.0])[codes]
    for row in np.flatnonzero(~np.isfinite(values)).tolist():
        fault = check_number(labels[codes[row]], "qrels", labels=chosen.labels)
        if isinstance(fault, Fault):
            bad.tell(row, fault, f" in column {chosen.value!r}")
    return values


def _checked_ids(
    columns: Mapping[str, Any], chosen: Chosen, without_empty_ids: Collection[str], bad: _BadRows
) -> tuple[IdColumn, IdColumn]:
    """Return the ids of queries and of documents, of which empty ones are told."""
    ids = {name: ids_of(columns[name], name, bad.where) for name in (chosen.query, chosen.document)}
    for name, column in ids.items():
        if name not in without_empty_ids:
            bad.add(
                "empty-id",
                column.is_empty & ~bad.marked,
                f"an empty id in column {name!r}",
                "an id",
            )
    return ids[chosen.query], ids[chosen.document]


def _place(where: str, first: int, row: int) -> Place:
    return f"{where}: row {first + row} (counted from 0)", 0
