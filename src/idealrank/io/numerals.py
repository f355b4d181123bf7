"""Numbers written in text, by the same rules as the kernel's: decimal, exponent, sign, infinity;
nothing of Python's own spellings.
"""

import re
from collections.abc import Sequence

import numpy as np

from idealrank.data.exactness import is_lost
from idealrank.data.types import FloatArray

NUMBER = re.compile(
    r"[ \t]*[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)[ \t]*",
    re.ASCII | re.IGNORECASE,
)
_WHOLE = re.compile(r"[ \t]*[+-]?[0-9]+[ \t]*")
_DIGITS = 24  # of a number of 64 bits, with a sign and a few blanks


def is_lost_text(text: str) -> bool:
    """Return whether a whole number without point and exponent, of at most 24 characters, changes
    in float64.
    """
    return len(text) < _DIGITS and _WHOLE.fullmatch(text) is not None and is_lost(int(text))


def parse_number(text: str) -> float | None:
    """The number that a text is, or None; ``nan`` gives NaN."""
    return float(text) if NUMBER.fullmatch(text) else None


def parse_numbers(texts: Sequence[str]) -> FloatArray | None:
    """A column of numbers, or None if one of them is none (or is NaN); the caller then looks for it
    cell by cell.
    """
    joined = "".join(texts)
    # Python also takes underscores and the digits of every script; the kernel does not, so neither
    # do we.
    if "_" in joined or not joined.isascii():
        return None
    try:
        values = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return None
    return None if np.isnan(values).any() else values
