"""Columns of Arrow tables as ids and numbers: text reaches the kernel as it is, without a Python
loop.
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from idealrank.data.problems import lost_of_array
from idealrank.data.types import AnyArray, BoolArray, FloatArray, IntArray, decode_id
from idealrank.errors import InputError
from idealrank.io.row_parts import IdColumn, pack

OTHER_COLUMN: Mapping[str, str] = {
    "hint": "cast it, or name another column with columns=",
    "command_hint": "cast it, or name another column with --columns",
}
# Arrow types whose values are one run of bytes with offsets, as the kernel takes ids.
IN_PLACE = ("string", "binary", "large_string", "large_binary")


def columns_without_empty_ids(data: Any, names: Iterable[str], where: str) -> set[str]:
    """Names of the dictionary-encoded columns whose dictionaries have no empty id: looked at once,
    since pieces of a table share them.
    """
    pyarrow = import_module("pyarrow")

    def has_empty(dictionary: Any, name: str) -> bool:
        if dictionary.null_count:
            return True
        return bool(ids_of(pyarrow.chunked_array([dictionary]), name, where).is_empty.any())

    without_empty_ids = set()
    for name in names:
        column = data.column(name)
        if pyarrow.types.is_dictionary(column.type) and not column.null_count:
            different = {memory_of(chunk.dictionary): chunk.dictionary for chunk in column.chunks}
            if not any(has_empty(dictionary, name) for dictionary in different.values()):
                without_empty_ids.add(name)
    return without_empty_ids


def memory_of(array: Any) -> tuple[int | None, ...]:
    """Identify an Arrow array by its place in memory: chunks often share one dictionary."""
    addresses = [None if buffer is None else buffer.address for buffer in array.buffers()]
    return array.offset, len(array), *addresses


def is_outside(codes: AnyArray, count: int) -> bool:
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


def is_text(column: Any) -> bool:
    """Return whether a column holds text, or codes of text."""
    pyarrow = import_module("pyarrow")
    kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
    return str(kind) in ("string", "large_string", "string_view")


def different_texts(column: Any, name: str, where: str) -> tuple[list[str], IntArray]:
    """Return the different texts of a column, and the place of each row's text among them; -1 for a
    row without one.
    """
    pyarrow = import_module("pyarrow")
    text = _decoded(column, name, where).cast(pyarrow.large_binary()).combine_chunks()
    encoded = text.dictionary_encode()
    codes = encoded.indices.cast(pyarrow.int64()).fill_null(-1)
    texts = [decode_id(different) for different in encoded.dictionary.to_pylist()]
    return texts, in_place(codes, np.dtype(np.int64))


def numbers_of(
    column: Any, name: str, where: str, advice: Mapping[str, str] = OTHER_COLUMN
) -> FloatArray:
    """Values as float64, NaN where there is none; `advice` is the next step for a column of another
    type.
    """
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
            f"{where}: found column {name!r} of type {kind}, expected numbers", **advice
        )
    # a cast loads pyarrow.compute, which takes longer than most files
    if kind != pyarrow.float64():
        column = column.cast(pyarrow.float64(), safe=False)
    column = column.fill_null(np.nan) if column.null_count else column
    pieces = [in_place(chunk, np.dtype(np.float64)) for chunk in column.chunks]
    if len(pieces) == 1:  # without a copy
        return pieces[0]
    return np.concatenate([np.zeros(0), *pieces])


def mark_nan(values: FloatArray) -> BoolArray:
    """Mark NaN; most often one look for the smallest is enough, since it is NaN if any value is."""
    if np.isnan(np.min(values, initial=np.inf)):
        return np.isnan(values)
    return np.zeros(values.size, bool)


def in_place(array: Any, kind: "np.dtype[Any]") -> AnyArray:
    """Numbers of an array without nulls, without a copy. The array's own conversion would load
    pandas if that is installed.
    """
    _, numbers = array.buffers()
    if numbers is None:
        return np.zeros(0, kind)
    return np.frombuffer(numbers, kind, count=len(array), offset=array.offset * kind.itemsize)


def is_floating(kind: Any) -> bool:
    """Return whether values have a fraction, so that no whole number is meant."""
    return bool(import_module("pyarrow").types.is_floating(kind))


def lost_rows(column: Any) -> BoolArray:
    """The rows whose whole numbers float64 changes."""
    pyarrow = import_module("pyarrow")
    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not pyarrow.types.is_integer(column.type):
        return np.zeros(len(column), bool)
    return lost_of_array(column.fill_null(0).to_numpy())


def ids_of(column: Any, name: str, where: str) -> IdColumn:
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
        raise InputError(refusal, **OTHER_COLUMN)
    if len(column) == 0:
        return pack([])
    is_in_place = column.num_chunks == 1 and kind in IN_PLACE
    array = column.chunk(0) if is_in_place else column.cast(target).combine_chunks()
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
    dictionaries = []
    firsts: dict[tuple[int | None, ...], int] = {}
    moved_codes = []
    size = 0
    for chunk in column.chunks:
        codes = in_place(chunk.indices, np.dtype(str(chunk.indices.type)))
        dictionary = chunk.dictionary
        if codes.size and (dictionary.null_count or is_outside(codes, len(dictionary))):
            return None
        memory = memory_of(dictionary)
        if memory not in firsts:
            firsts[memory] = size
            dictionaries.append(dictionary)
            size += len(dictionary)
        first = firsts[memory]
        narrow = codes.astype(np.int32, copy=False)
        moved_codes.append(narrow + np.int32(first) if first else narrow)
        if size > np.iinfo(np.int32).max:
            return None
    ids = ids_of(pyarrow.chunked_array(dictionaries, type=column.type.value_type), name, where)
    if len(moved_codes) == 1:  # without a copy
        return IdColumn(ids.offsets, ids.data, moved_codes[0])
    row_codes = np.concatenate([np.zeros(0, np.int32), *moved_codes])
    return IdColumn(ids.offsets, ids.data, row_codes)
