"""Records with named fields from JSON lines, JSON, Parquet, Arrow files and dataframes, for files
of queries and of texts.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

from idealrank._lazy import load_extra
from idealrank.errors import FileFormatError, shown
from idealrank.io.formats.arrow import foreign_names
from idealrank.io.sources import BYTE_ORDER_MARK, Source

Choose: TypeAlias = Callable[[Sequence[str]], Sequence[str]]
"""Takes the names of all columns, and returns the columns to read; raises an error if one is
missing.
"""

_PARQUET = b"PAR1"
_ARROW = (b"ARROW1", b"\xff\xff\xff\xff")
_ROWS = 1 << 12  # rows of a batch, which live as Python objects at one time


class FieldRecord(NamedTuple):
    """Named values, with the place and line of the record; the line is 0 where there are no
    lines.
    """

    fields: Mapping[str, Any]
    place: str
    line: int


def is_columnar(start: bytes) -> bool:
    """Return whether a file that begins so is Parquet or Arrow IPC."""
    return start.startswith((_PARQUET, *_ARROW))


def columnar_records(source: Source, choose: Choose) -> Iterator[FieldRecord]:
    """Rows of a Parquet or Arrow IPC file, some at a time, with the chosen columns only."""
    is_parquet = bytes(source.data[:4]) == _PARQUET
    if is_parquet:
        expected = "a Parquet file"
        format_name = "Parquet"
        batches = _parquet_batches
    else:
        expected = "an Arrow IPC file or stream"
        format_name = "Arrow IPC"
        batches = _arrow_batches
    pyarrow = load_extra("pyarrow", f"reading {format_name}", "arrow")
    row = 0
    try:
        for batch in batches(source, choose, pyarrow):
            for fields in batch.to_pylist():
                yield FieldRecord(fields, f"{source.path}: row {row} (counted from 0)", 0)
                row += 1
        source.refuse_cut()
    except UnicodeDecodeError:
        raise foreign_names(source.path) from None
    except (pyarrow.ArrowException, OSError, MemoryError) as error:
        reason = str(error).splitlines()[0] if str(error) else "it claims more memory than there is"
        raise FileFormatError(source.path, 0, f"damaged data ({reason})", expected) from None


def _parquet_batches(source: Source, choose: Choose, pyarrow: Any) -> Iterator[Any]:
    file = import_module("pyarrow.parquet").ParquetFile(pyarrow.PythonFile(source.open()))
    columns = _chosen_once(source, file.schema_arrow.names, choose)
    yield from file.iter_batches(batch_size=_ROWS, columns=columns)


def _arrow_batches(source: Source, choose: Choose, pyarrow: Any) -> Iterator[Any]:
    reader = pyarrow.PythonFile(source.open())
    ipc = import_module("pyarrow.ipc")
    is_file = bytes(source.data[:6]) == _ARROW[0]
    table = (ipc.open_file(reader) if is_file else ipc.open_stream(reader)).read_all()
    table = table.select(_chosen_once(source, table.schema.names, choose))
    # the reader maps what the file says; offsets that point outside would be followed
    table.validate(full=True)
    yield from table.to_batches(max_chunksize=_ROWS)


def _chosen_once(source: Source, names: Sequence[str], choose: Choose) -> list[str]:
    """The chosen columns, of which each must have a name of its own."""
    chosen = list(choose(names))
    twice = next((name for name in chosen if names.count(name) > 1), None)
    if twice is not None:
        problem = f"column {shown(twice)} more than once"
        raise FileFormatError(
            source.path, 0, problem, "each column once", "rename or drop the others"
        )
    return chosen


def line_records(
    lines: Iterable[bytes], path: str, skip: Callable[[bytes], bool] = lambda _: False
) -> Iterator[FieldRecord]:
    """Read records of JSON lines; blank lines, and lines that `skip` selects, are not parsed."""
    for number, line in enumerate(lines, 1):
        if skip(line) or not line.strip():
            continue
        try:
            value = json.loads(line.removeprefix(BYTE_ORDER_MARK))
        except (ValueError, RecursionError) as error:
            raise FileFormatError(
                path, number, f"a line that is not JSON ({error})", "a record on each line"
            ) from None
        yield _record(value, path, number)


def json_records(
    text: bytes,
    path: str,
    key: str,
    value: str,
    expected: str,
    *,
    is_wanted: Callable[[str], bool] = lambda _: True,
) -> Iterator[FieldRecord]:
    """Records of one JSON value: an array of records, or an object of records or of values by
    id.
    """
    try:
        content = json.loads(text.removeprefix(BYTE_ORDER_MARK))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(path, 0, f"text that is not JSON ({error})", expected) from None
    if isinstance(content, list):
        yield from (
            _record(record, f"{path}: record {number}", 0)
            for number, record in enumerate(content, 1)
        )
    elif isinstance(content, dict):
        for name, record in content.items():
            if is_wanted(name):
                fields = record if isinstance(record, dict) else {value: record}
                yield FieldRecord({**fields, key: name}, f"{path}: id {shown(repr(name))}", 0)
    else:
        raise FileFormatError(path, 0, type(content).__name__, expected)


def frame_records(frame: Any, where: str, choose: Choose) -> Iterator[FieldRecord]:
    """Rows of a dataframe, with the chosen columns only."""
    import narwhals.stable.v2 as nw  # noqa: PLC0415  (only those who pass a dataframe pay for it)

    wrapped = nw.from_native(frame)
    chosen = wrapped.select(*choose(wrapped.collect_schema().names()))
    rows = chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen
    for number, fields in enumerate(rows.iter_rows(named=True)):
        yield FieldRecord(fields, f"{where}: row {number} (counted from 0)", 0)


def _record(value: Any, place: str, line: int) -> FieldRecord:
    if not isinstance(value, dict):
        raise FileFormatError(
            place, line, type(value).__name__, "a record: an object with named fields"
        )
    return FieldRecord(value, place, line)
