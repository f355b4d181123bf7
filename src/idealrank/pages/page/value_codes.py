"""Values as codes of two bytes, and texts that a page holds: JSON, deflated, in base64."""

import base64
import json
import zlib
from typing import Any

import numpy as np

from idealrank.data.types import BoolArray, FloatArray


def base64_length(content_bytes: int) -> int:
    """Return the number of base64 letters for a number of bytes."""
    groups = -(-content_bytes // 3)  # rounded up: base64 pads the last group of three bytes
    return 4 * groups


def as_json(value: Any) -> bytes:
    """Write JSON in ASCII alone; bytes that are not UTF-8, which ids have as surrogates, are
    kept.
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


NOT_COUNTED = 65_535
"""The code of a value that does not count: the largest of two bytes."""


STEPS = NOT_COUNTED - 1
"""Steps of the range of a measure whose distinct values are too many for a table; all other codes
are used.
"""


DISTINCT = 20_000
"""Most distinct values of a measure of which a page has a table, so that each number is exact."""


def coded(
    values: FloatArray, counted: BoolArray, *, most_distinct: int = DISTINCT
) -> dict[str, Any]:
    """Encode values as codes of two bytes, with what turns them into numbers again."""
    has_value = counted & np.isfinite(values)
    table, places_in_table = np.unique(values[has_value], return_inverse=True)
    codes = np.full(values.shape, NOT_COUNTED, "<u2")
    if table.size <= min(most_distinct, NOT_COUNTED):
        codes[has_value] = places_in_table.reshape(-1)
        return {
            "codes": base64_text(codes.tobytes()),
            "table": base64_text(table.astype("<f8").tobytes()),
            "low": 0.0,
            "step": 0.0,
            "error": 0.0,
        }
    low = float(table[0])
    # each end is divided first, since the range of large numbers could overflow
    step = float(table[-1] / STEPS - table[0] / STEPS)
    codes[has_value] = np.clip(np.rint((values[has_value] - low) / step), 0, STEPS).astype("<u2")
    rounded = low + step * codes[has_value].astype(np.float64)
    error = float(np.abs(rounded - values[has_value]).max())
    return {
        "codes": base64_text(codes.tobytes()),
        "table": None,
        "low": low,
        "step": step,
        "error": error,
    }


def decoded(record: dict[str, Any], shape: tuple[int, int]) -> FloatArray:
    """Decode values as the page's script does; NaN is a value that does not count."""
    codes = np.frombuffer(base64.b64decode(record["codes"]), "<u2").reshape(shape)
    has_value = codes != NOT_COUNTED
    values = np.full(shape, np.nan)
    if record["table"] is None:
        values[has_value] = record["low"] + record["step"] * codes[has_value].astype(np.float64)
    else:
        table = np.frombuffer(base64.b64decode(record["table"]), "<f8")
        values[has_value] = table[codes[has_value]]
    return values


def packed(content: bytes) -> str:
    """Deflate (in zlib's layout, which browsers call "deflate"), then encode in base64; the same
    content gives the same text.
    """
    return base64_text(zlib.compress(content, 9))


def unpacked(text: str) -> bytes:
    """Return the content that `packed` packed."""
    return zlib.decompress(base64.b64decode(text))


def base64_text(content: bytes) -> str:
    """Encode bytes in base64."""
    return base64.b64encode(content).decode("ascii")
