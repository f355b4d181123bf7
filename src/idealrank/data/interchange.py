"""Values for other programs: dataframes of whichever library the user holds, and numbers as JSON
has them.
"""

import math
from collections.abc import Mapping
from numbers import Integral
from typing import Any, overload

from idealrank.errors import InputError, OptionError, shown


def frame_of(columns: Mapping[str, Any], backend: Any) -> Any:
    """A dataframe of named columns of one length."""
    import narwhals  # noqa: PLC0415  (loaded only where a frame is asked for)

    try:
        return narwhals.from_dict(dict(columns), backend=backend).to_native()
    except (ImportError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise OptionError(
            f"backend={backend}: expected an installed eager dataframe library, such as pandas "
            f"({reason})"
        ) from None


def is_frame(value: object) -> bool:
    """Return whether an object looks like a table with named columns; imports nothing."""
    # A column (a pandas or Polars series) speaks Arrow too, but has no columns of its own. Polars'
    # lazy frames warn when they are asked for `columns` or `dtypes`, so what they do have is asked
    # for first.
    has_columns = any(
        hasattr(value, name) for name in ("collect_schema", "column_names", "schema", "columns")
    )
    has_table = any(
        hasattr(value, name)
        for name in ("collect_schema", "__arrow_c_stream__", "__arrow_c_array__", "dtypes")
    )
    return has_columns and has_table and not isinstance(value, type)


def is_query(value: object) -> bool:
    """Return whether an object is a query whose rows are not in memory: a lazy frame of Polars, or
    a relation of DuckDB.
    """
    kind = type(value)
    return (kind.__module__.partition(".")[0].lstrip("_"), kind.__name__) in {
        ("polars", "LazyFrame"),
        ("duckdb", "DuckDBPyRelation"),
    }


def holds_lists(value: Any) -> bool:
    """Return whether this is a pandas Series of lists, sets or mappings by query, as
    ``groupby(...).agg(list)`` makes.
    """
    if not (
        hasattr(value, "index")
        and hasattr(value, "items")
        and hasattr(value, "iloc")
        and str(getattr(value, "dtype", "")) == "object"
    ):
        return False
    return len(value) > 0 and isinstance(value.iloc[0], (list, tuple, set, frozenset, Mapping))


def by_query(values: Any, what: str) -> Mapping[str, Any]:
    """Values by query id as text, from a mapping or from a pandas Series whose index holds the
    ids.
    """
    if isinstance(values, Mapping) and all(type(query) is str for query in values):
        return values
    is_series = (
        not isinstance(values, Mapping) and hasattr(values, "index") and hasattr(values, "items")
    )
    if not (isinstance(values, Mapping) or is_series):
        raise InputError(
            f"{what}: found {type(values).__name__}, expected a mapping of query to value, or "
            f"a pandas Series indexed by query",
            hint="read_categories, read_traffic and read_clusters read files and dataframes",
        )
    by_id: dict[str, Any] = {}
    for query, value in values.items():
        if isinstance(query, bool) or not isinstance(query, (str, Integral)):
            raise InputError(
                f"{what}: found query {shown(repr(query))}, expected an id: text or a whole number"
            )
        if str(query) in by_id:
            raise InputError(
                f"{what}: found query {shown(repr(query))} a second time, expected each query once"
            )
        by_id[str(query)] = value
    return by_id


@overload
def finite(value: float) -> float | None: ...


@overload
def finite(value: Any) -> Any: ...


def finite(value: Any) -> Any:
    """Return the value, or None for a float that JSON has no number for; mappings, lists and tuples
    of such values likewise.
    """
    if isinstance(value, Mapping):
        return {name: finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
