"""Dataframes of any library: pandas, Polars, PyArrow, DuckDB and whatever else narwhals knows or
speaks the Arrow C stream.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from idealrank._lazy import load_extra
from idealrank.data.qrels import Qrels, QrelsDuplicates
from idealrank.data.run import Run
from idealrank.data.types import AnyArray
from idealrank.errors import InputError, MissingExtraError
from idealrank.io.checked_cells import Fault, all_numbers, check_id, check_number
from idealrank.io.complaints import Notes, Tell, refuse
from idealrank.io.formats.arrow import rows_from_table
from idealrank.io.formats.arrow_columns import columns_without_empty_ids
from idealrank.io.formats.wide_tables import (
    answers_of_arrow,
    answers_of_frame,
    arrow_sample,
    checked_batches,
)
from idealrank.io.row_parts import Blocks, Place, Rows, Table, pack, to_qrels, to_run
from idealrank.io.table_columns import Chosen, Columns, choose_columns
from idealrank.stats.randomness import in_order

_MOST_COPIED = 1 << 18  # rows of a table whose pieces are copied into one
_BLOCK = 1 << 18  # categories that are turned into text at a time
# Categories for each row up to which all of them are turned into text. A column cut from a larger
# one has far more, of which its rows use few.
_MOST_CODES = 16


def qrels_from_frame(
    frame: Any,
    columns: Columns = None,
    *,
    duplicates: QrelsDuplicates = "error",
    name: str = "qrels",
    tell: Tell | None = None,
) -> Qrels:
    """Read judgments from a dataframe with a row per judged document."""
    notes = Notes(tell)
    read = to_qrels(_rows(frame, "qrels", columns, name, notes), [name], duplicates)
    qrels = Qrels.from_table(read.table, name=name)
    qrels.query_word = notes.query_word
    return qrels


def run_from_frame(
    frame: Any, columns: Columns = None, *, name: str = "run", tell: Tell | None = None
) -> Run:
    """Read a run from a dataframe with a row per returned document."""
    return to_run(_rows(frame, "run", columns, name, Notes(tell)), (), name)


def _rows(
    frame: Any, table: Table, columns: Columns, where: str, notes: Notes
) -> list[Rows | Blocks]:
    import narwhals.stable.v2 as nw  # noqa: PLC0415  (only those who pass a dataframe pay for it)
    from narwhals.exceptions import DuplicateError  # noqa: PLC0415  (as above)

    try:
        wrapped = nw.from_native(frame, pass_through=True)
        if isinstance(wrapped, nw.DataFrame | nw.LazyFrame):
            return _rows_of_narwhals(wrapped, table, columns, where, notes)
    except DuplicateError as error:
        repeated = ", ".join(str(error).splitlines()[1:]).replace("- ", "")
        raise InputError(
            f"{where}: found column names more than once ({repeated}), expected each once; "
            f"rename or drop them"
        ) from None
    if not hasattr(frame, "__arrow_c_stream__"):
        raise InputError(
            f"{where}: found {type(frame).__name__}, expected a dataframe (pandas, Polars, "
            f"PyArrow, ...) or an Arrow stream"
        )
    data = load_extra("pyarrow", f"reading a {type(frame).__name__}", "arrow").table(frame)
    wide = answers_of_arrow(
        data.schema,
        checked_batches(data),
        table,
        columns,
        where,
        notes=notes,
        complain=refuse,
    )
    if wide is not None:
        return [wide]
    chosen = choose_columns(
        data.schema.names, table, columns, where, notes, sample=arrow_sample(data.schema)
    )
    return _rows_of_pieces(data, table, chosen, where)


def _rows_of_narwhals(
    frame: Any, table: Table, columns: Columns, where: str, notes: Notes
) -> list[Rows | Blocks]:
    import narwhals.stable.v2 as nw  # noqa: PLC0415  (only those who pass a dataframe pay for it)

    if has_lists(frame):
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        wide = answers_of_frame(frame, table, columns, where, notes=notes, complain=refuse)
        if wide is not None:
            return [wide]
    names = {str(name): name for name in frame.collect_schema().names()}
    chosen = choose_columns(
        list(names), table, columns, where, notes, sample=_sample(frame.collect_schema())
    )
    if table == "qrels" and "kind" in names:
        from idealrank.io.judgment_files import tell_kinds_of_frame  # noqa: PLC0415  (most dataframes of judgments name no kind)

        tell_kinds_of_frame(frame, list(names), where, notes)
    picked = frame.select(*(names[name] for name in chosen.names))
    if isinstance(picked, nw.LazyFrame):
        picked = picked.collect()
    try:
        pyarrow = load_extra("pyarrow", "reading it fast", "arrow")
    except MissingExtraError:
        return [_rows_of_cells(picked, table, chosen, where)]
    try:
        return _rows_of_pieces(_arrow_table(picked, chosen.names, pyarrow), table, chosen, where)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, UnicodeEncodeError):
        # Cells of mixed types (a pandas column of objects) have no Arrow type, half a surrogate
        # pair no UTF-8; they go the slow way.
        return [_rows_of_cells(picked, table, chosen, where)]


def has_lists(frame: Any) -> bool:
    """Return whether a dataframe has a column of lists."""
    import narwhals.stable.v2 as nw  # noqa: PLC0415  (only those who pass a dataframe pay for it)

    frame = nw.from_native(frame)
    for name, kind in frame.collect_schema().items():
        if isinstance(kind, nw.List | nw.Array):
            return True
        # the type of a column of objects is known by its cells alone
        if kind == nw.Object and isinstance(frame, nw.DataFrame):
            cells = frame[name].head(1).to_list()
            if any(isinstance(cell, (list, tuple, np.ndarray)) for cell in cells):
                return True
    return False


def _sample(schema: Any) -> dict[str, Any]:
    """Return a cell of each column by its type, for `choose_columns`."""
    import narwhals.stable.v2 as nw  # noqa: PLC0415  (only those who pass a dataframe pay for it)

    texts = (nw.String, nw.Categorical, nw.Enum)
    sample: dict[str, Any] = {}
    for name, kind in schema.items():
        if kind.is_numeric():
            sample[str(name)] = 1 if kind.is_integer() else 0.5
        elif kind == nw.Object:
            sample[str(name)] = None
        else:
            sample[str(name)] = "" if isinstance(kind, texts) else False
    return sample


def _arrow_table(frame: Any, names: Sequence[str], pyarrow: Any) -> Any:
    """The frame's columns under these names. Polars' own conversion searches the category of each
    row; this one does not.
    """
    columns = dict(zip(names, frame.iter_columns(), strict=True))
    codes = {}
    for name, series in columns.items():
        column_codes = _codes(series.to_native())
        if column_codes is not None:
            codes[name] = column_codes
    if not codes:
        return frame.to_arrow().rename_columns(names)
    counts: dict[Any, int] = {}  # by type, for several columns may share their categories
    for column_codes in codes.values():
        counts[column_codes.dtype] = max(counts.get(column_codes.dtype, 0), column_codes.n_codes)
    categories = {
        dtype: _categories(dtype, count, pyarrow)
        for dtype, count in counts.items()
        if count <= _MOST_CODES * len(frame)
    }
    arrays = []
    for name, column in columns.items():
        series = column.to_native()
        array = None
        if name in codes:
            array = _coded(series, codes[name], categories.get(codes[name].dtype), pyarrow)
        arrays.append(_in_chunks(series, pyarrow) if array is None else array)
    # by other names it would look for pandas
    return pyarrow.Table.from_arrays(arrays, names=list(columns))


def _in_chunks(series: Any, pyarrow: Any) -> Any:
    """A Polars column, without a copy that would make it one piece."""
    chunks = [chunk.to_arrow() for chunk in series.get_chunks() if len(chunk)]
    return pyarrow.chunked_array(chunks or [series.to_arrow()])


def _rows_of_pieces(data: Any, table: Table, chosen: Chosen, where: str) -> list[Rows | Blocks]:
    """Rows of an Arrow table; large columns in several pieces are read piece by piece, without a
    copy.
    """
    if data.num_rows < _MOST_COPIED or data.column(0).num_chunks == 1:
        return [rows_from_table(data, table, chosen, where, refuse)]
    rows: list[Rows | Blocks] = []
    first = 0
    without_empty_ids = columns_without_empty_ids(data, (chosen.query, chosen.document), where)
    for batch in data.to_batches():
        piece = type(data).from_batches([batch])
        rows.append(
            rows_from_table(
                piece,
                table,
                chosen,
                where,
                refuse,
                first=first,
                without_empty_ids=without_empty_ids,
            )
        )
        first += batch.num_rows
    return rows


class _Codes(NamedTuple):
    """Codes of a categorical Polars column."""

    dtype: Any
    pieces: list[AnyArray]  # Code of each row
    n_codes: int  # All codes are below it


def _codes(series: Any) -> _Codes | None:
    """The codes of a categorical Polars column; None for any other column, and for one without
    rows or with nulls.
    """
    library, _, _ = type(series).__module__.partition(".")
    if library != "polars":
        return None
    type_name, _, _ = str(series.dtype).partition("(")
    if type_name not in ("Categorical", "Enum") or series.null_count() or not len(series):
        return None
    # a piece without nulls becomes an array without a copy
    pieces = [piece.to_numpy() for piece in series.to_physical().get_chunks() if len(piece)]
    return _Codes(series.dtype, pieces, max(int(piece.max()) for piece in pieces) + 1)


def _categories(dtype: Any, n_categories: int, pyarrow: Any) -> Any:
    """The first categories of a Polars type, by code; None where Polars does not give them, a code
    has none, or they take 2 GB.
    """
    polars = import_module("polars")

    def words(block: int) -> Any:
        end = min((block + 1) * _BLOCK, n_categories)
        codes = polars.Series(np.arange(block * _BLOCK, end, dtype=np.uint32))
        names = codes.cat.to(dtype, strict=False)
        is_whole = names.dtype == dtype and not names.null_count()
        is_known = is_whole and (names.to_physical() == codes).all()
        return names.cast(str).to_arrow() if is_known else None

    # In blocks, whose memory is used again: a first touch of memory takes longer than what is
    # written there.
    ends = np.empty(n_categories + 1, np.int32)
    letters = np.empty(
        8 * n_categories, np.uint8
    )  # enough for short words, and enlarged for others
    size = 0
    ends[0] = 0
    n_blocks = -(-n_categories // _BLOCK)  # rounded up
    try:
        for block, names in enumerate(in_order(words, n_blocks, None)):
            if names is None:
                return None
            large = pyarrow.large_string()
            wide = names if names.type == large else names.cast(large)
            _, offsets, data = wide.buffers()
            starts = np.frombuffer(offsets, np.int64, len(names) + 1, names.offset * 8)
            count = int(starts[-1] - starts[0])
            first = block * _BLOCK + 1
            if size + count > np.iinfo(np.int32).max:
                return None

            # the ends of this block, moved behind the letters of the blocks before it
            block_ends = ends[first : first + len(names)]
            np.add(starts[1:], size - starts[0], out=block_ends, casting="unsafe")
            if size + count > letters.size:
                letters.resize(max(size + count, 2 * letters.size), refcheck=False)
            if count:
                block_letters = np.frombuffer(data, np.uint8, count, int(starts[0]))
                letters[size : size + count] = block_letters
            size += count
    # older versions, and categories with codes of fewer bytes
    except (AttributeError, TypeError, polars.exceptions.PolarsError):
        return None
    return pyarrow.Array.from_buffers(
        pyarrow.string(), n_categories, [None, *map(pyarrow.py_buffer, (ends, letters[:size]))]
    )


def _coded(series: Any, codes: _Codes, categories: Any, pyarrow: Any) -> Any:
    """A categorical column as codes of its categories, or of the categories in use if `categories`
    is None; None if it uses few of very many.
    """
    if categories is not None:
        pieces = [_dictionary(piece, categories, pyarrow) for piece in codes.pieces]
        return pyarrow.chunked_array(pieces)
    row_codes = np.concatenate(codes.pieces)
    if codes.n_codes > _MOST_CODES * row_codes.size:
        return None
    first_row = np.zeros(codes.n_codes, np.int64)
    # Rows are written from the last to the first: of equal codes the first row is written last, and
    # stays.
    first_row[row_codes[::-1]] = np.arange(row_codes.size - 1, -1, -1)
    is_first = np.zeros(row_codes.size, bool)
    is_first[first_row[row_codes]] = True
    first_rows = np.flatnonzero(is_first)
    new_code = np.zeros(codes.n_codes, np.int32)
    new_code[row_codes[first_rows]] = np.arange(first_rows.size, dtype=np.int32)
    words = series.gather(first_rows).cast(str).to_arrow()
    return _dictionary(new_code[row_codes], words, pyarrow)


def _dictionary(codes: AnyArray, words: Any, pyarrow: Any) -> Any:
    """An Arrow array of codes, which its reader checks. It is made of buffers, since arrays of
    NumPy would have pyarrow load pandas.
    """
    is_unsigned = codes.dtype == np.uint32
    narrow = codes.view(np.int32) if is_unsigned else codes.astype(np.int32, copy=False)
    indices = pyarrow.Array.from_buffers(
        pyarrow.int32(), narrow.size, [None, pyarrow.py_buffer(np.ascontiguousarray(narrow))]
    )
    return pyarrow.DictionaryArray.from_arrays(indices, words, safe=False)


def _rows_of_cells(frame: Any, table: Table, chosen: Chosen, where: str) -> Rows:
    """Read rows cell by cell; see `rows_from_table`."""
    columns = {name: frame[name].to_list() for name in frame.columns}

    def place(row: int) -> Place:
        return f"{where}: row {row} (counted from 0)", 0

    def checked(name: str, check: Callable[[Any], Any]) -> list[Any]:
        results = [check(value) for value in columns[name]]
        for row, result in enumerate(results):
            if isinstance(result, Fault):
                refuse(result.at(place(row), f" in column {name!r}"))
        return results

    values = columns[chosen.value] if chosen.value else [1.0] * len(frame)
    if not all_numbers(values, table, booleans=True):
        values = checked(
            chosen.value,
            lambda value: check_number(value, table, booleans=True, labels=chosen.labels),
        )
    queries, documents = (pack(checked(name, check_id)) for name in (chosen.query, chosen.document))
    numbers = np.array(values, np.float64)
    if chosen.by_rank:
        numbers = 0.0 - numbers  # subtracted, not negated: no score is -0.0
    return Rows(
        queries=queries,
        documents=documents,
        values=numbers,
        place=place,
    )
