"""Tables of values and levels, checked where they come in."""

from typing import Any

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError


def table_of(values: Any, *, axes: tuple[str, ...] = ("queries", "runs"), least: tuple[int, ...] = (2, 2)) -> FloatArray:
    """A table of finite values, as float64.

    Raises
    ------
    InputError
        It has other axes, too few entries along one, or a value that is not finite.

    Examples
    --------
    >>> table_of([[1, 0], [1, 1]]).shape
    (2, 2)
    """
    table = np.asarray(values, np.float64)
    if table.ndim != len(axes):
        raise InputError(f"values of shape {table.shape}, expected ({', '.join(axes)})")
    for axis, size, fewest in zip(axes, table.shape, least, strict=True):
        if size < fewest:
            raise InputError(f"{size} {axis}, expected at least {fewest}: the variance between fewer cannot be told")
    if not np.isfinite(table).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(table))[0])
        raise InputError(f"value {table[place]} at {place}: expected finite numbers; give undefined queries a value or leave them out")
    return table


def above_zero(name: str, value: float) -> float:
    """An option that is a finite number above 0.

    Raises
    ------
    OptionError
        It is not.

    Examples
    --------
    >>> above_zero("sd", 0.2)
    0.2
    """
    if not 0 < value < float("inf"):
        raise OptionError(f"{name}={value!r}: expected a finite number above 0")
    return float(value)
