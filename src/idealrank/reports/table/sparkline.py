"""A line of values as small as a word."""

import math
from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"
_DIGITS = "12345678"
_LONGEST = 60


def sparkline(values: Sequence[float], breaks: Sequence[bool] = (), *, plain: bool = False) -> str:
    """Values as blocks of eight heights, from the least value to the greatest.

    Parameters
    ----------
    values : sequence of float
        In order; one that is NaN is a dot. Of more than 60 the last ones are drawn.
    breaks : sequence of bool
        Of each value whether it answers another question than the one before; a bar then stands between them.
    plain : bool
        Digits from 1 to 8 in place of blocks, for terminals without UTF-8.

    Returns
    -------
    str
        Empty without a value. Values that are all equal are drawn at half height.

    Examples
    --------
    >>> sparkline([0.1, 0.2, float("nan"), 0.4]), sparkline([0.1, 0.2, 0.4], plain=True)
    ('▁▃·█', '138')
    >>> sparkline([0.5, 0.5, 0.9], [False, False, True])
    '▁▁│█'
    """
    marks, bar, dot = (_DIGITS, "|", ".") if plain else (_BLOCKS, "│", "·")
    start = max(0, len(values) - _LONGEST)
    drawn = values[start:]
    known = [value for value in drawn if math.isfinite(value)]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    pieces = [dot if not math.isfinite(value) else marks[_level(value, low, span)] for value in drawn]
    barred = [bar if place and start + place < len(breaks) and breaks[start + place] else "" for place in range(len(drawn))]
    return "".join(before + piece for before, piece in zip(barred, pieces, strict=True))


def _level(value: float, low: float, span: float) -> int:
    """Its height from 0 to 7: eight bands of equal width."""
    return 3 if span == 0 else min(7, int((value - low) / span * 8))
