"""Arguments of training as arrays, checked where they come in: numbers of rows, tables, sizes of
groups, query ids.
"""

from numbers import Real
from typing import Any

import numpy as np

from idealrank.data.lists import id_array
from idealrank.data.types import AnyArray, FloatArray, IntArray
from idealrank.errors import InputError

_LARGEST = 2**53  # whole numbers of a float64


def number_array(name: str, values: Any) -> FloatArray:
    """Numbers of any shape, as float64; NaN and infinity pass."""
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(
            f"{name}: found a masked array, expected a plain one; leave masked rows out"
        )
    try:
        array = np.asarray(values)
        plain = array.dtype.kind in "biuf" or (
            array.dtype.kind == "O" and all(isinstance(number, Real) for number in array.flat)
        )
        if plain or not array.size:
            return np.ascontiguousarray(array, np.float64).reshape(array.shape)
        problem = (
            f"values of type {array.dtype}"
            if array.ndim
            else f"a value of type {type(values).__name__}"
        )
    except (TypeError, ValueError):
        problem = "rows of different lengths, or what is no number"
    except OverflowError:
        problem = "a number that float64 cannot hold"
    raise InputError(f"{name}: found {problem}, expected numbers")


def row_numbers(
    name: str, values: Any, size: int | None = None, *, finite: bool = True
) -> FloatArray:
    """One number for each row, as float64."""
    array = number_array(name, values)
    shape: tuple[int, ...] = array.shape
    if array.size != max(shape, default=0):
        raise InputError(
            f"{name}: found shape {shape}, expected one number for each row, in a list or column"
        )
    array = array.reshape(-1)
    if size is not None and array.size != size:
        raise InputError(f"{name}: found {array.size} entries, expected one per row, {size}")
    wrong = np.flatnonzero(~np.isfinite(array))
    if finite and wrong.size:
        raise InputError(
            f"{name}: found {array[wrong[0]]} at row {wrong[0]}, expected finite numbers"
        )
    return array


def whole_numbers(name: str, values: Any, size: int | None = None) -> IntArray:
    """Whole numbers, such as sizes of groups."""
    array = row_numbers(name, values, size)
    wrong = np.flatnonzero((array != np.floor(array)) | (np.abs(array) > _LARGEST))
    if wrong.size:
        raise InputError(
            f"{name}: found {array[wrong[0]]:g} at place {wrong[0]}, expected whole numbers"
        )
    return array.astype(np.int64)


def row_ids(name: str, ids: Any, size: int | None = None) -> AnyArray:
    """Ids of queries, one for each row."""
    expected = "expected the query of each row, texts or whole numbers"
    try:
        array = id_array(ids)
        if array.dtype.kind == "O":
            np.unique(array)
    except InputError as error:
        raise InputError(str(error).replace("qid", name, 1)) from None
    except (TypeError, ValueError):
        raise InputError(
            f"{name}: found ids of several types or rows of different lengths, {expected}"
        ) from None
    if array.ndim != 1:
        kind = f"shape {array.shape}" if array.ndim else type(ids).__name__
        raise InputError(f"{name}: found {kind}, {expected}")
    if array.dtype.kind in "fc" and np.isnan(array).any():
        raise InputError(
            f"{name}: found NaN at row {int(np.flatnonzero(np.isnan(array))[0])}, {expected}"
        )
    if size is not None and array.size != size:
        raise InputError(f"{name}: found {array.size} ids, expected one per row, {size}")
    return array


def feature_table(name: str, values: Any, size: int | None = None) -> FloatArray:
    """Features, one row of numbers for each row."""
    table = number_array(name, values)
    if table.ndim != 2 or (size is not None and len(table) != size):
        rows = "rows" if size is None else f"{size} rows"
        raise InputError(
            f"{name}: found shape {table.shape}, expected {rows} of features, (rows, features)"
        )
    return table
