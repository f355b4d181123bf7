"""JSON lines of like records through pyarrow's parser, which takes a twentieth of the time that a check of every line takes in Python.

Whatever is unusual in a file is left to the reader of lines, which knows what to say of it.
"""

from importlib import import_module
from typing import Any

import numpy as np

from idealrank._lazy import load_extra
from idealrank.data.exactness import is_large
from idealrank.errors import InputError, MissingExtraError
from idealrank.io.complaints import Complaint
from idealrank.io.formats.arrow import rows_from_table
from idealrank.io.formats.nested import load
from idealrank.io.notes import Notes
from idealrank.io.row_parts import Rows, Table
from idealrank.io.sources import Source
from idealrank.io.table_columns import Chosen, Columns, choose_columns

_FEWEST = 4 << 20  # bytes: pyarrow takes longer to load than fewer take to read
_BLOCK = 4 << 20  # bytes that a thread parses at a time
_NEWLINE, _BRACE = b"\n{"


class _UnusualError(Exception):
    """The file needs the reader of lines."""


def like_records(source: Source, table: Table, columns: Columns, notes: Notes) -> Rows | None:
    r"""Read one record a line, each with the fields of the first; None for any other file, for a small one, and without pyarrow.

    Parameters
    ----------
    source, table, columns, notes
        As in `read_json`.

    Examples
    --------
    >>> like_records(Source("a.jsonl", b'{"qid": "q1", "docno": "d1", "score": 2}'), "run", None, Notes()) is None
    True
    >>> lines = b'{"qid": "q1", "docno": "d1", "score": 2}\n' * 110_000
    >>> rows = like_records(Source("a.jsonl", lines), "run", None, Notes())
    >>> rows.documents[109_999], rows.place(109_999)
    ('d1', ('a.jsonl', 110000))
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
    choose_columns(list(first), table, columns, source.path, notes)  # which tells now what was guessed
    return rows


def _first_record(source: Source) -> Any:
    line = source.open().readline()
    try:
        record = load(line.strip())
    except (ValueError, RecursionError):
        raise _UnusualError from None
    if not isinstance(record, tuple) or len(dict(record)) != len(record) or any(isinstance(value, tuple | list) for _, value in record):
        raise _UnusualError
    return record


def _rows(source: Source, table: Table, chosen: Chosen, first: dict[str, Any]) -> Rows:
    pyarrow, json = import_module("pyarrow"), import_module("pyarrow.json")
    kinds = {chosen.query: _kind_of_id(first[chosen.query], pyarrow), chosen.document: _kind_of_id(first[chosen.document], pyarrow)}
    kinds |= {chosen.value: pyarrow.float64()} if chosen.value else {}
    # Other fields are parsed too, since one that a record repeats is a fault of the file.
    how = json.ParseOptions(explicit_schema=pyarrow.schema(kinds.items()), newlines_in_values=False)
    try:
        data = json.read_json(pyarrow.PythonFile(source.open()), json.ReadOptions(block_size=_BLOCK), how)
        data = data.select(chosen.names)
        data.validate(full=True)
    except (pyarrow.ArrowException, UnicodeDecodeError):
        raise _UnusualError from None
    if not _has_lines(source, data.num_rows):
        raise _UnusualError
    rows = rows_from_table(data, table, chosen, source.path, _leave)
    if is_large(rows.values):  # a whole number may have lost digits
        raise _UnusualError
    return rows._replace(place=lambda row: (source.path, row + 1))


def _kind_of_id(value: Any, pyarrow: Any) -> Any:
    """Text or whole numbers, as in the first record."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise _UnusualError
    return pyarrow.string() if isinstance(value, str) else pyarrow.int64()


def _has_lines(source: Source, count: int) -> bool:
    """Return whether there are so many lines, and each begins with a brace: pyarrow takes several objects a line, and one over several."""
    letters, lines, braces = np.frombuffer(source.data, np.uint8), 1, int(source.data[0] == _BRACE)
    for begin in range(0, letters.size, _BLOCK):
        block = letters[begin : begin + _BLOCK + 1]  # with the first byte of the next
        ends = block[:_BLOCK] == _NEWLINE
        lines += int(np.count_nonzero(ends))
        braces += int(np.count_nonzero(ends[: block.size - 1] & (block[1:] == _BRACE)))
    return lines - int(letters[-1] == _NEWLINE) == braces == count


def _leave(_: Complaint) -> None:
    raise _UnusualError
