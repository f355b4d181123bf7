"""Checks of values that have a type already (JSON, objects of a dataframe): what is a number, what
is an id.
"""

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from idealrank.data.exactness import EXPECTED, first_lost, is_large, is_lost
from idealrank.data.types import encode_id
from idealrank.io.row_parts import Table
from idealrank.io.text_cells import shown

# What a bad value is: kind, what was found, what was expected.
Fault = tuple[str, str, str]


def all_numbers(values: Sequence[Any], table: Table, *, booleans: bool = False) -> bool:
    """Return whether a list holds only numbers that can be grades or scores; a fast check before
    slow ones.
    """
    if not set(map(type, values)) <= {int, float, bool} or (
        not booleans and bool in set(map(type, values))
    ):
        return False
    try:
        numbers = np.array(values, np.float64)
    except OverflowError:
        return False
    if table == "qrels":
        return bool(np.isfinite(numbers).all())
    return not np.isnan(numbers).any() and not (
        is_large(numbers) and first_lost(values) is not None
    )


def all_ids(ids: Sequence[Any]) -> bool:
    """Return whether all are non-empty text in valid Unicode; a fast check before slow ones."""
    try:
        "".join(ids).encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return "" not in ids


def check_number(value: Any, table: Table, *, booleans: bool = False) -> float | Fault:
    """One value as a number, or what is wrong with it; columns of dataframes may hold booleans,
    JSON may not.
    """
    what = "grade" if table == "qrels" else "score"
    if _is_null(value):
        return "null", f"null as {what}", "a number"
    if (
        isinstance(value, str | bytes)
        or not hasattr(type(value), "__float__")
        or (isinstance(value, bool) and not booleans)
    ):
        return "number", f"{describe_value(value)} as {what}", "a number"
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond double is infinite, as it is in text
        number = math.inf if value > 0 else -math.inf
    if math.isnan(number):
        return "nan", f"{what} NaN", "a number, since NaN has no order"
    if table == "qrels" and math.isinf(number):
        return "infinite", f"grade {describe_value(value)}", "a finite grade"
    if table == "run" and is_lost(value):
        return "whole", f"score {value}, a whole number that float64 changes", EXPECTED
    return number


def check_id(value: Any) -> str | Fault:
    """One value as an id: text, or a whole number."""
    if _is_null(value) or (isinstance(value, float) and math.isnan(value)):
        return "null", "null as id", "text or a whole number"
    if isinstance(value, bool) or not isinstance(value, str | Integral):
        return "type", f"{describe_value(value)} as id", "text or a whole number"
    text = str(value)
    if not text:
        return "empty-id", "an empty id", "an id"
    try:
        encode_id(text)
    except UnicodeEncodeError:
        return "unicode", f"the id {shown(text)} with half a surrogate pair", "valid Unicode"
    return text


def describe_value(value: Any) -> str:
    """A value for a message, in a few words."""
    if _is_null(value):
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, int) and abs(value) >= 10**30:
        return f"a whole number of {value.bit_length()} bits"
    if isinstance(value, Real):
        return repr(value)
    names: dict[Any, str] = {list: "a list", tuple: "an object", dict: "an object"}
    return names.get(type(value), f"a value of type {type(value).__name__}")


def _is_null(value: Any) -> bool:
    """None, and what dataframes put into holes of columns of objects."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")
