"""Arguments of public functions, checked: numbers, tables of numbers, labels and replicates."""

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from idealrank.data.alignment import check_choice
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.stats.randomness import whole_number

Looks: TypeAlias = Literal["any", "once"]
"""Looks at a test for which its verdict holds: any number of them, or one, at the planned size."""
MOST_RESAMPLES = 10_000_000
"""Replicates of a bootstrap, beyond which its digits stay the same and only its time grows."""
MOST_ITERATIONS = 1_000_000
"""Steps of the fit of a click model."""
MOST_CELLS = 1_000_000_000
"""Numbers that one table may hold: 8 GB."""
MOST_USERS = 1_000_000_000_000
"""Users of an experiment, more than there are people."""


def real_number(
    name: str,
    value: object,
    expected: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    closed: str = "",
) -> float:
    """Return an option that is one finite number inside its range."""
    number = _number(value)
    is_above = number >= low if closed in ("low", "both") else number > low
    is_below = number <= high if closed in ("high", "both") else number < high
    if not (is_above and is_below and math.isfinite(number)):
        raise OptionError(f"{name}={shown(repr(value))}: expected {expected}")
    return number


def _number(value: Any) -> float:
    """Return a number; NaN for anything else, such as a text, a boolean or an array."""
    if isinstance(value, (str, bytes, bytearray, bool, np.bool_)) or (
        isinstance(value, np.ndarray) and value.ndim
    ):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def one_of(name: str, value: object, kind: object) -> None:
    """Refuse a value that its Literal type does not list."""
    check_choice(name, value, get_args(kind))


def check_confidence(confidence: float) -> float:
    """Return a confidence level; refuse one outside (0, 1)."""
    return real_number(
        "confidence", confidence, "a number between 0 and 1, such as 0.95", low=0, high=1
    )


def replicates_of(n_resamples: int, *, least: int = 0, width: int = 1) -> int:
    """Return the number of replicates of a bootstrap."""
    number = whole_number("n_resamples", n_resamples, least)
    limit = max(least, min(MOST_RESAMPLES, MOST_CELLS // max(width, 1)))
    if number > limit:
        size_text = "" if width <= 1 else f" of {width:,} numbers each"
        raise OptionError(
            f"n_resamples={number}: expected a whole number from {least} to {limit:,}; more "
            f"replicates{size_text} take too much time and memory"
        )
    return number


def steps_of(iterations: int) -> int:
    """Return the largest number of steps of the fit of a click model."""
    return whole_number("iterations", iterations, 0, MOST_ITERATIONS)


def number_table(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return numbers as an array of any shape."""
    table = array_of(name, values, "numbers")
    if table.dtype.kind not in "biufO":
        raise InputError(f"{name}: found {_kind(table)}, expected numbers")
    try:
        # `ascontiguousarray` would give one number a dimension.
        if not table.ndim:
            return np.asarray(table, np.float64)
        return np.ascontiguousarray(table, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{name}: found what is no number ({shown(error)}), expected numbers"
        ) from None


def array_of(name: str, values: Any, expected: str) -> "np.ndarray[Any, Any]":
    """Return values as an array of one shape."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{name}: found no array of one shape ({shown(error)}), expected {expected}"
        ) from None
    if not array.ndim and array.dtype == object:
        raise InputError(f"{name}: found {shown(type(values).__name__)}, expected {expected}")
    return array


def label_column(
    name: str,
    labels: "Sequence[Any] | npt.ArrayLike",
    n: int,
    of: str = "rows",
    *,
    blank: bool = False,
) -> "np.ndarray[Any, Any]":
    """Return one label for each row, such as its user: texts or numbers, none of them missing."""
    column = array_of(name, labels, f"one label for each of the {n} {of}")
    if column.shape != (n,):
        raise InputError(
            f"{name}: found shape {column.shape}, expected one label for each of the {n} {of}"
        )
    if column.dtype.kind in "iub":
        return column
    if column.dtype.kind == "f":
        missing = np.isnan(column)
    elif column.dtype.kind in "US":
        missing = np.zeros(n, bool) if blank else column == column.dtype.type()
    elif column.dtype.kind == "O":
        missing = np.array([_is_missing(label, blank=blank) for label in column.tolist()], bool)
    elif column.dtype.kind in "mM":
        missing = np.isnat(column)
    else:
        raise InputError(f"{name}: found {_kind(column)}, expected labels: texts or whole numbers")
    if missing.any():
        row = int(missing.argmax())
        label = column[row]
        raise InputError(
            f"{name}, row {row}: found {'an empty text' if label == '' else label}, expected a "
            "label; leave such rows out"
        )
    return column


def _is_missing(label: Any, *, blank: bool) -> bool:
    """Return whether a label is None, NaN, or an empty text."""
    if isinstance(label, str):
        return not label and not blank
    return label is None or (isinstance(label, float) and math.isnan(label))


def _kind(array: "np.ndarray[Any, Any]") -> str:
    """Return the content of an array in words."""
    names = {"U": "texts", "S": "texts", "M": "times", "m": "durations", "c": "complex numbers"}
    return names.get(array.dtype.kind, f"values of type {array.dtype}")


def two_columns(name: str, columns: object) -> "tuple[Any, Any]":
    """Return the columns of both policies."""
    if isinstance(columns, np.ndarray) and columns.ndim:
        columns = list(columns)
    if not isinstance(columns, list | tuple) or len(columns) != 2:
        raise InputError(
            f"{name}: found {shown(repr(columns))}, expected two columns, of policies A and B"
        )
    return columns[0], columns[1]
