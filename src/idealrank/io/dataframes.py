"""Dataframes of any library: pandas, Polars, PyArrow, DuckDB and whatever else narwhals knows or
speaks the Arrow C stream.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from idealrank._lazy import load_extra
from idealrank.data.qrels import Qrels, QrelsDuplicates
from idealrank.data.run import Run
from idealrank.data.types import AnyArray
from idealrank.errors import InputError, MissingExtraError
from idealrank.io.checked_cells import all_numbers, check_id, check_number
from idealrank.io.complaints import Complaint, Notes, Tell, refuse
from idealrank.io.formats.arrow import filled_columns, rows_from_table
from idealrank.io.row_parts import Rows, Table, pack, to_qrels, to_run
from idealrank.io.table_columns import (
    DOCUMENT,
    Chosen,
    Columns,
    candidates,
    choose_columns,
    named_columns,
    query_column,
)
from idealrank.stats.randomness import in_order

_MOST_COPIED = 1 << 18  # rows
_BLOCK = 1 << 18  # categories at a time
# of Polars, for a row: of a column that is a small part of what it keeps there are more
_MOST_CODES = 16


def qrels_from_frame(
    frame: Any,
    columns: Columns = None,
    *,
    duplicates: QrelsDuplicates = "error",
    name: str = "qrels",
    tell: Tell | None = None,
) -> Qrels:
    """Judgments from a dataframe with a row per judged document."""
    qrels = to_qrels(_rows(frame, "qrels", columns, name, Notes(tell)), [name], duplicates)
    return Qrels.from_table(qrels.table, name=name)


def run_from_frame(
    frame: Any, columns: Columns = None, *, name: str = "run", tell: Tell | None = None
) -> Run:
    """A run from a dataframe with a row per returned document."""
    return to_run(_rows(frame, "run", columns, name, Notes(tell)), (), name)


def _rows(frame: Any, table: Table, columns: Columns, where: str, notes: Notes) -> list[Rows]:
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
    chosen = choose_columns(data.schema.names, table, columns, where, notes)
    return _rows_of_pieces(data, table, chosen, where)


def _rows_of_narwhals(
    frame: Any, table: Table, columns: Columns, where: str, notes: Notes
) -> list[Rows]:
    import narwhals.stable.v2 as nw  # noqa: PLC0415  (only those who pass a dataframe pay for it)

    names = {str(name): name for name in frame.collect_schema().names()}
    refuse_lists(frame, table, columns, where)
    chosen = choose_columns(list(names), table, columns, where, notes)
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


def refuse_lists(frame: Any, table: Table, columns: Columns, where: str) -> None:
    """Refuse a column of lists as the documents, a whole ranking a row."""
    import narwhals.stable.v2 as nw  # noqa: PLC0415  (only those who pass a dataframe pay for it)

    frame = nw.from_native(frame)
    schema = frame.collect_schema()
    spelled = named_columns(columns, table).get("document", "")
    names = [str(name) for name in schema.names()]
    for name in (
        [spelled] if spelled else candidates(names, DOCUMENT[0]) or candidates(names, DOCUMENT[1])
    ):
        cells = (
            frame[name].head(1).to_list()
            if schema.get(name) == nw.Object and isinstance(frame, nw.DataFrame)
            else []
        )
        if isinstance(schema.get(name), nw.List | nw.Array) or any(
            isinstance(cell, (list, tuple, set, np.ndarray)) for cell in cells
        ):
            query = query_column(names, columns) or "QUERY"
            raise InputError(
                f"{where}: found lists in column {name!r}, expected one document a row",
                hint=f"pass a mapping in its place: dict(zip(frame[{query!r}], "
                f"frame[{name!r}].to_list()))",
                command_hint="write one document a row, with its score or rank",
            )


def _arrow_table(frame: Any, wanted: Sequence[str], pyarrow: Any) -> Any:
    """The frame's columns under the wanted names; Polars' categories without a search for each row,
    as its own conversion makes.
    """
    columns = dict(zip(wanted, frame.iter_columns(), strict=True))
    codes = {
        name: found
        for name, series in columns.items()
        if (found := _codes(series.to_native())) is not None
    }
    if not codes:
        return frame.to_arrow().rename_columns(wanted)
    most: dict[Any, int] = {}  # by type, for several columns may share their categories
    for found in codes.values():
        most[found.dtype] = max(most.get(found.dtype, 0), found.most)
    words = {
        dtype: _categories(dtype, count, pyarrow) if count <= _MOST_CODES * len(frame) else None
        for dtype, count in most.items()
    }
    coded = {
        name: _coded(columns[name].to_native(), found, words[found.dtype], pyarrow)
        for name, found in codes.items()
    }
    arrays = [
        _in_chunks(series.to_native(), pyarrow) if coded.get(name) is None else coded[name]
        for name, series in columns.items()
    ]
    # by other names it would look for pandas
    return pyarrow.Table.from_arrays(arrays, names=list(columns))


def _in_chunks(series: Any, pyarrow: Any) -> Any:
    """A Polars column, without a copy that would make it one piece."""
    chunks = [chunk.to_arrow() for chunk in series.get_chunks() if len(chunk)]
    return pyarrow.chunked_array(chunks or [series.to_arrow()])


def _rows_of_pieces(data: Any, table: Table, chosen: Chosen, where: str) -> list[Rows]:
    """Rows of an Arrow table: large columns in several pieces are read piece by piece, where they
    are.
    """
    if data.num_rows < _MOST_COPIED or data.column(0).num_chunks == 1:
        return [rows_from_table(data, table, chosen, where, refuse)]
    rows, first = [], 0
    filled = filled_columns(data, (chosen.query, chosen.document), where)
    for batch in data.to_batches():
        piece = type(data).from_batches([batch])
        rows.append(
            rows_from_table(piece, table, chosen, where, refuse, first=first, filled=filled)
        )
        first += batch.num_rows
    return rows


class _Codes(NamedTuple):
    """Type of a categorical Polars column, the code of each row, in pieces, and one more than the
    largest.
    """

    dtype: Any
    pieces: list[AnyArray]
    most: int


def _codes(series: Any) -> _Codes | None:
    """None for any other column, and for one without rows or with nulls."""
    if type(series).__module__.partition(".")[0] != "polars" or str(series.dtype).partition("(")[
        0
    ] not in ("Categorical", "Enum"):
        return None
    if series.null_count() or not len(series):
        return None
    # where they are, since each is whole
    pieces = [piece.to_numpy() for piece in series.to_physical().get_chunks() if len(piece)]
    return _Codes(series.dtype, pieces, max(int(piece.max()) for piece in pieces) + 1)


def _categories(dtype: Any, most: int, pyarrow: Any) -> Any:
    """The first categories of a Polars type, by code; None where Polars cannot tell, a code has
    none, or they take 2 GB.
    """
    polars = import_module("polars")

    def words(block: int) -> Any:
        codes = polars.Series(
            np.arange(block * _BLOCK, min((block + 1) * _BLOCK, most), dtype=np.uint32)
        )
        found = codes.cat.to(dtype, strict=False)
        is_known = (
            found.dtype == dtype and not found.null_count() and (found.to_physical() == codes).all()
        )
        return found.cast(str).to_arrow() if is_known else None

    # In blocks, whose memory is used again: a first touch of memory takes longer than what is
    # written there.
    ends, letters, size = np.empty(most + 1, np.int32), np.empty(8 * most, np.uint8), 0
    ends[0] = 0
    try:
        for block, found in enumerate(in_order(words, -(-most // _BLOCK), None)):
            if found is None:
                return None
            _, offsets, data = (
                found.cast(pyarrow.large_string()).buffers()
                if found.type != pyarrow.large_string()
                else found.buffers()
            )
            starts = np.frombuffer(offsets, np.int64, len(found) + 1, found.offset * 8)
            count, first = int(starts[-1] - starts[0]), block * _BLOCK + 1
            if size + count > np.iinfo(np.int32).max:
                return None
            np.add(
                starts[1:], size - starts[0], out=ends[first : first + len(found)], casting="unsafe"
            )
            if size + count > letters.size:
                letters.resize(max(size + count, 2 * letters.size), refcheck=False)
            letters[size : size + count] = (
                np.frombuffer(data, np.uint8, count, int(starts[0])) if count else 0
            )
            size += count
    # older versions, and categories with codes of fewer bytes
    except (AttributeError, TypeError, polars.exceptions.PolarsError):
        return None
    return pyarrow.Array.from_buffers(
        pyarrow.string(), most, [None, *map(pyarrow.py_buffer, (ends, letters[:size]))]
    )


def _coded(series: Any, codes: _Codes, words: Any, pyarrow: Any) -> Any:
    """A categorical column as codes of its categories; None if they are few of very many."""
    if words is not None:
        return pyarrow.chunked_array([_dictionary(piece, words, pyarrow) for piece in codes.pieces])
    rows = np.concatenate(codes.pieces)
    if codes.most > _MOST_CODES * rows.size:
        return None
    row_of = np.zeros(codes.most, np.int64)
    # the first row of each, for the last one written stays
    row_of[rows[::-1]] = np.arange(rows.size - 1, -1, -1)
    is_first = np.zeros(rows.size, bool)
    is_first[row_of[rows]] = True
    firsts = np.flatnonzero(is_first)
    place = np.zeros(codes.most, np.int32)
    place[rows[firsts]] = np.arange(firsts.size, dtype=np.int32)
    return _dictionary(place[rows], series.gather(firsts).cast(str).to_arrow(), pyarrow)


def _dictionary(rows: AnyArray, words: Any, pyarrow: Any) -> Any:
    """An Arrow array of codes; the reader looks at the codes itself. Made of memory: arrays of
    NumPy would have pyarrow load pandas.
    """
    codes = rows.view(np.int32) if rows.dtype == np.uint32 else rows.astype(np.int32, copy=False)
    indices = pyarrow.Array.from_buffers(
        pyarrow.int32(), codes.size, [None, pyarrow.py_buffer(np.ascontiguousarray(codes))]
    )
    return pyarrow.DictionaryArray.from_arrays(indices, words, safe=False)


def _rows_of_cells(frame: Any, table: Table, chosen: Chosen, where: str) -> Rows:
    """Read rows cell by cell; see `rows_from_table`."""
    columns = {name: frame[name].to_list() for name in frame.columns}

    def checked(name: str, check: Any) -> list[Any]:
        results = [check(value) for value in columns[name]]
        for row, result in enumerate(results):
            if isinstance(result, tuple):
                kind, found, expected = result
                refuse(
                    Complaint(
                        kind,
                        f"{where}: row {row} (counted from 0)",
                        0,
                        f"{found} in column {name!r}",
                        expected,
                    )
                )
        return results

    values = columns[chosen.value] if chosen.value else [1.0] * len(frame)
    if not all_numbers(values, table, booleans=True):
        values = checked(chosen.value, lambda value: check_number(value, table, booleans=True))
    queries, documents = (pack(checked(name, check_id)) for name in (chosen.query, chosen.document))
    numbers = np.array(values, np.float64)
    return Rows(
        queries,
        documents,
        0.0 - numbers if chosen.by_rank else numbers,
        lambda row: (f"{where}: row {row} (counted from 0)", 0),
    )
