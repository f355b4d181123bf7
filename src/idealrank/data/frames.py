"""Columns as a dataframe of whichever library the user holds."""

from collections.abc import Mapping
from typing import Any

from idealrank.errors import OptionError


def frame_of(columns: Mapping[str, Any], backend: Any) -> Any:
    """A dataframe of named columns of one length.

    Parameters
    ----------
    columns : mapping
        Name to values.
    backend : {"pandas", "polars", "pyarrow", ...}
        Any eager backend of narwhals that is installed.

    Raises
    ------
    OptionError
        It is none, or is not installed.

    Examples
    --------
    >>> frame_of({"query": ["q1"], "AP": [0.5]}, "polars").columns
    ['query', 'AP']
    """
    import narwhals  # noqa: PLC0415  (a dataframe library is loaded only for those who ask for a frame)

    try:
        return narwhals.from_dict(dict(columns), backend=backend).to_native()
    except (ImportError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise OptionError(f"backend={backend}: expected an eager dataframe library that is installed, as pandas ({reason})") from None
