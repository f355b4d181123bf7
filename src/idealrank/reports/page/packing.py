"""Numbers and texts as a page holds them: values as whole numbers of two bytes, everything deflated, and base64 around it."""

import base64
import zlib
from typing import Any

import numpy as np

from idealrank.data.types import BoolArray, FloatArray

NOT_COUNTED = 65_535
"""The code of a value that does not count."""

STEPS = 65_534
"""Steps of the range of a measure whose distinct values are too many for a table."""

DISTINCT = 20_000
"""Distinct values of a measure of which a table is kept, so that every number of the page is exact."""


def coded(values: FloatArray, counted: BoolArray, *, most_distinct: int = DISTINCT) -> dict[str, Any]:
    """Values as codes of two bytes, with what turns them into numbers again.

    Parameters
    ----------
    values : float64 array, shape (n_runs, n_queries)
        Of one measure.
    counted : bool array, shape (n_runs, n_queries)
        Which of them count; the others, and what is not finite, have the code 65,535.
    most_distinct : int
        Distinct values up to which a table of them is kept, at most 65,535.

    Returns
    -------
    dict
        ``codes``: base64 of unsigned 16-bit numbers, little-endian, a run after the other. ``table``: base64 of the distinct values as
        float64, little-endian, or None; then a value is ``low + step * code``. ``error``: the largest rounding error, 0 with a table.

    Examples
    --------
    >>> found = coded(np.array([[0.5, 0.0, 0.5]]), np.array([[True, True, False]]))
    >>> decoded(found, (1, 3)), found["error"]
    (array([[0.5, 0. , nan]]), 0.0)
    """
    kept = counted & np.isfinite(values)
    table, codes_kept = np.unique(values[kept], return_inverse=True)
    codes = np.full(values.shape, NOT_COUNTED, "<u2")
    if table.size <= min(most_distinct, NOT_COUNTED):
        codes[kept] = codes_kept.reshape(-1)
        return {"codes": _base64(codes.tobytes()), "table": _base64(table.astype("<f8").tobytes()), "low": 0.0, "step": 0.0, "error": 0.0}
    low = float(table[0])
    step = float(table[-1] / STEPS - table[0] / STEPS)  # halves first: the range of large numbers has no overflow
    codes[kept] = np.clip(np.rint((values[kept] - low) / step), 0, STEPS).astype("<u2")
    error = float(np.abs(low + step * codes[kept].astype(np.float64) - values[kept]).max())
    return {"codes": _base64(codes.tobytes()), "table": None, "low": low, "step": step, "error": error}


def decoded(found: dict[str, Any], shape: tuple[int, int]) -> FloatArray:
    """Decode values as the page's script does; NaN is a value that does not count.

    Examples
    --------
    >>> decoded(coded(np.array([[1 / 3]]), np.array([[True]])), (1, 1))
    array([[0.33333333]])
    """
    codes = np.frombuffer(base64.b64decode(found["codes"]), "<u2").reshape(shape)
    kept = codes != NOT_COUNTED
    values = np.full(shape, np.nan)
    if found["table"] is None:
        values[kept] = found["low"] + found["step"] * codes[kept].astype(np.float64)
    else:
        values[kept] = np.frombuffer(base64.b64decode(found["table"]), "<f8")[codes[kept]]
    return values


def packed(content: bytes) -> str:
    """Deflated (zlib's layout, which browsers call "deflate"), then base64; the same content gives the same text.

    Examples
    --------
    >>> unpacked(packed(b"a" * 1000)) == b"a" * 1000
    True
    """
    return _base64(zlib.compress(content, 9))


def unpacked(text: str) -> bytes:
    """The content again.

    Examples
    --------
    >>> unpacked(packed(b"one"))
    b'one'
    """
    return zlib.decompress(base64.b64decode(text))


def size_packed(content_bytes: int) -> int:
    """Letters of base64 for so many bytes.

    Examples
    --------
    >>> size_packed(4)
    8
    """
    return -(-content_bytes // 3) * 4


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
