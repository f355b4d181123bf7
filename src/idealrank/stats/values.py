"""Values of queries as columns, tables and levels, checked where they come in; and whether the
caller gave one column or many.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.design import Design

# One number for values of shape (queries,), an array of (measures,) for (queries, measures).
Figure: TypeAlias = float | FloatArray
_Figures = TypeVar("_Figures")


@dataclass(frozen=True, kw_only=True, eq=False)
class Resampled(Generic[_Figures]):
    """Result of tests by random or all sign vectors or rearrangements of the units."""

    difference: _Figures
    p: _Figures
    low: _Figures
    high: _Figures
    level: float
    n: int
    n_units: int
    n_resamples: int


@dataclass(frozen=True, kw_only=True, eq=False)
class DifferenceTest:
    """Result of a test of b against a, by any method."""

    difference: Any
    p: Any
    low: Any
    high: Any
    level: float
    method: str
    note: str = ""


def columns_of(name: str, values: npt.ArrayLike) -> FloatArray:
    """Values as float64, shape (queries, measures) or (queries,), finite."""
    columns = np.asarray(values, np.float64)
    if columns.ndim not in {1, 2} or not columns.size:
        raise InputError(
            f"{name} has shape {columns.shape}, expected (queries,) or (queries, measures), with "
            "at least one query and measure"
        )
    if not np.isfinite(columns).all():
        row, *column = (int(axis[0]) for axis in np.nonzero(~np.isfinite(columns)))
        place = f"query {row}" + (f", column {column[0]}" if column else "")
        raise InputError(
            f"{name}, {place}: value {columns[(row, *column)]}; expected finite values, so leave "
            "that query out on both sides"
        )
    return columns


def paired(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Values of two systems on the same queries, checked."""
    first = columns_of("a", a)
    second = columns_of("b", b)
    if first.shape != second.shape:
        raise InputError(
            f"a has shape {first.shape} and b {second.shape}; paired values need the same queries "
            "and measures in the same order"
        )
    return first, second


def design_of(design: Design | None, n: int) -> Design:
    """The design, or n queries drawn one by one."""
    if design is None:
        return Design.of(n)
    if design.n != n:
        raise InputError(
            f"a design of {design.n} queries for values of {n}; expected one row for each query of "
            "the design"
        )
    return design


def refuse_design(test: str, design: Design | None, instead: str) -> None:
    """Refuse a design with weights, strata or clusters."""
    if design is None or design.plain:
        return
    present = [
        name for name in ("weights", "strata", "clusters") if getattr(design, name) is not None
    ]
    raise OptionError(
        f"{test} cannot honour the {' and '.join(present)} of the design; use {instead}, which can"
    )


def cell(values: Any, column: int) -> Any:
    """The number of one column, of results for one or several columns."""
    return np.atleast_1d(values)[column]


def figure(values: Any, like: FloatArray) -> Any:
    """Results of columns as the caller gave the values: a plain number for one column without an
    axis of its own.
    """
    figures = np.asarray(values)
    return figures.reshape(-1)[0].item() if like.ndim == 1 else figures


def chosen(name: str, value: str, choices: "tuple[str, ...]") -> None:
    """Check an option that is one of some words."""
    if value not in choices:
        raise OptionError(f"{name}={value!r}: expected one of {', '.join(choices)}")


def open_share(name: str, value: float) -> None:
    """Check a level or an alpha."""
    if not isinstance(value, Real) or not 0 < value < 1:
        raise OptionError(
            f"{name}={value!r}: expected a number between 0 and 1, such as 0.95 for a level"
        )


def table_of(
    values: Any, *, axes: tuple[str, ...] = ("queries", "runs"), least: tuple[int, ...] = (2, 2)
) -> FloatArray:
    """A table of finite values, as float64."""
    table = np.asarray(values, np.float64)
    if table.ndim != len(axes):
        raise InputError(f"values of shape {table.shape}, expected ({', '.join(axes)})")
    for axis, size, fewest in zip(axes, table.shape, least, strict=True):
        if size < fewest:
            raise InputError(
                f"{size} {axis}, expected at least {fewest}: the variance between fewer cannot be "
                "told"
            )
    if not np.isfinite(table).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(table))[0])
        raise InputError(
            f"value {table[place]} at {place}: expected finite numbers; give undefined queries a "
            "value or leave them out"
        )
    return table


def above_zero(name: str, value: float, expected: str = "a finite number above 0") -> float:
    """An option that is a finite number above 0."""
    if not isinstance(value, Real) or not 0 < value < float("inf"):
        raise OptionError(f"{name}={value!r}: expected {expected}")
    return float(value)
