"""JSON lines of like records through pyarrow's parser, which is several times as fast as a check of
every line in Python.

A file with anything unusual, such as fields that the first record lacks, is left to the reader of
lines, which has the messages for it.
"""

import time
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np

from idealrank._lazy import load_extra
from idealrank.data.problems import is_large
from idealrank.errors import InputError, MissingExtraError
from idealrank.io.complaints import Complaint, Notes
from idealrank.io.formats.arrow import rows_from_table
from idealrank.io.formats.nested import load
from idealrank.io.row_parts import Rows, Table
from idealrank.io.sources import Source
from idealrank.io.table_columns import Chosen, Columns, choose_columns

_FEWEST = 4 << 20  # bytes: pyarrow takes longer to load than fewer take to read
_BLOCK = 4 << 20  # bytes that a thread parses at a time
_PATIENCE = 10_000  # milliseconds for threads to end
_LONG = 100  # letters of a text that is not needed and would fill memory
_NEWLINE, _RETURN, _OPENING, _CLOSING = b"\n\r{}"


class _UnusualError(Exception):
    """The file needs the reader of lines."""


def like_records(source: Source, table: Table, columns: Columns, notes: Notes) -> Rows | None:
    r"""Read one record a line, each with the fields of the first; None for any other file, for a
    small one, and without pyarrow.
    """
    if len(source.data) < _FEWEST:
        return None
    try:
        load_extra("pyarrow", "reading JSON lines fast", "arrow")
        first = dict(_first_record(source))
        chosen = choose_columns(list(first), table, columns, source.path, Notes(lambda _: None))
        rows = _rows(source, table, chosen, first)
    except (_UnusualError, InputError, MissingExtraError):
        return None
    # the notes about guesses come only now: otherwise the reader of lines gives them
    choose_columns(list(first), table, columns, source.path, notes)
    return rows


def _first_record(source: Source) -> Any:
    line = source.open().readline()
    try:
        record = load(line.strip())
    except (ValueError, RecursionError):
        raise _UnusualError from None
    if not isinstance(record, tuple) or len(dict(record)) != len(record):
        raise _UnusualError
    return record


def _rows(source: Source, table: Table, chosen: Chosen, first: dict[str, Any]) -> Rows:
    pyarrow = import_module("pyarrow")
    schema = pyarrow.schema(
        [(name, _kind(name, value, chosen, pyarrow)) for name, value in first.items()]
    )
    data = _parse(source, schema)
    if data is None:
        raise _UnusualError
    try:
        data = data.select(chosen.names)
        data.validate(full=True)
    except (pyarrow.ArrowException, UnicodeDecodeError):
        raise _UnusualError from None
    if _n_lines(source) != data.num_rows:
        raise _UnusualError
    rows = rows_from_table(data, table, chosen, source.path, _leave)
    # A whole number may have lost digits; -0 is 0 as a whole number, and keeps its sign as a
    # fraction.
    if is_large(rows.values) or (np.signbit(rows.values) & (rows.values == 0)).any():
        raise _UnusualError
    return rows._replace(place=lambda row: (source.path, row + 1))


def _parse(source: Source, schema: Any) -> Any:
    """Parse the bytes with pyarrow; None if it refuses them. When this returns, no thread of
    pyarrow reads them any more.
    """
    pyarrow = import_module("pyarrow")
    json = import_module("pyarrow.json")
    # Fields that the first record lacks are refused: pyarrow crashes if such a field changes its
    # type between blocks or is deeply nested.
    parsing = json.ParseOptions(
        explicit_schema=schema, newlines_in_values=False, unexpected_field_behavior="error"
    )
    view = memoryview(source.data)
    data = None
    reading = json.ReadOptions(block_size=_BLOCK)
    with suppress(pyarrow.ArrowException, UnicodeDecodeError):
        data = json.read_json(pyarrow.BufferReader(view), reading, parsing)
    for _ in range(_PATIENCE):
        try:
            view.release()
        except BufferError:  # a thread holds it
            time.sleep(0.001)
        else:
            break
    source.refuse_cut()
    return data


def _kind(name: str, value: Any, chosen: Chosen, pyarrow: Any) -> Any:
    """Arrow type of a field, by its value in the first record: ids are text or whole numbers, other
    fields short text or numbers.
    """
    text = pyarrow.string()
    number = pyarrow.float64()
    if name in (chosen.query, chosen.document):
        kinds = {str: text, int: pyarrow.int64()}
    elif name == chosen.value:
        kinds = {int: number, float: number}
        if chosen.labels:  # numbers beside labels are unusual, and left to the reader of lines
            kinds = {str: text}
    else:
        kinds = {int: number, float: number, bool: pyarrow.bool_()}
        if len(str(value)) <= _LONG:
            kinds[str] = text
    if type(value) not in kinds:
        raise _UnusualError
    return kinds[type(value)]


def _n_lines(source: Source) -> int:
    """Count the lines, each of one object; -1 if a line does not begin and end with a brace, as
    with an object over two lines.
    """
    letters = np.frombuffer(source.data, np.uint8)
    count = 0
    if letters[0] != _OPENING:
        return -1
    for begin in range(0, letters.size, _BLOCK):
        ends = begin + np.flatnonzero(letters[begin : begin + _BLOCK] == _NEWLINE)
        count += ends.size
        before_ends = letters[ends - 1]
        last_letters = np.where(before_ends == _RETURN, letters[ends - 2], before_ends)
        first_letters = letters[ends[ends + 1 < letters.size] + 1]  # of the lines that follow
        if (last_letters != _CLOSING).any() or (first_letters != _OPENING).any():
            return -1
    return count + int(letters[-1] != _NEWLINE)


def _leave(_: Complaint) -> None:
    raise _UnusualError
