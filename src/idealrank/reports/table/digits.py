"""Decimal places in human-readable tables: as many as intervals allow, and enough that no number
contradicts a verdict.
"""

import math
from collections.abc import Iterable
from itertools import count

USUAL = 4
"""Decimals where there is no interval; never more than these for the sake of an interval."""

FEWEST = 2
"""Decimals of values from 0 to 1 at least."""

_MOST = 15  # decimals of a float64 below 1 that mean something
# what differs by less is not told apart, or all of a report would have a dozen decimals
_ROUNDING = 1e-12


def decimals(
    intervals: Iterable[tuple[float, float]],
    *,
    apart: Iterable[tuple[float, float]] = (),
    asked: int | None = None,
) -> int:
    """Decimals of a column: two significant digits of the narrowest half-width, from 2 to 4, more
    where a verdict asks for them.

    One number holds for a whole column, so that its points stand below each other.
    """
    if asked is not None:
        return asked
    halves = [(high - low) / 2 for low, high in intervals]
    halves = [half for half in halves if math.isfinite(half) and half > 0]
    found = max(map(_two_digits, halves)) if halves else USUAL
    fewest = FEWEST if not halves or min(halves) < 10 else 0
    return _told_apart(min(max(found, fewest), USUAL), apart)


def _two_digits(half: float) -> int:
    """Decimals of a number with two significant digits; one that rounds up to the next power of ten
    needs one fewer.
    """
    return 1 - int(f"{half:.1e}".partition("e")[2])


def _told_apart(fewest: int, apart: Iterable[tuple[float, float]]) -> int:
    pairs = [
        (number, limit)
        for number, limit in apart
        if math.isfinite(number) and abs(number - limit) > _ROUNDING
    ]
    if not pairs:
        return fewest
    return next(
        places
        for places in count(fewest)
        if places >= _MOST or all(_is_apart(*pair, places) for pair in pairs)
    )


def _is_apart(number: float, limit: float, places: int) -> bool:
    """Return whether two numbers keep their order after rounding."""
    shown, beside = (float(f"{one:.{places}f}") for one in (number, limit))
    return shown > beside if number > limit else shown < beside


def p_text(p: float, alpha: float | None = None) -> str:
    """A p value with three digits and no exponent; tiny ones as a bound."""
    if p < 1e-6:
        return "<0.000001"
    for precision in range(3, 18):
        import numpy as np  # noqa: PLC0415  (errors and help are printed without it)

        text = np.format_float_positional(p, precision=precision, fractional=False, trim="-")
        if alpha is None or (float(text) <= alpha) == (p <= alpha):
            return text
    return repr(p)


def number(value: float, places: int = USUAL, *, signed: bool = False) -> str:
    """A number with so many decimals; a dash where there is none. What is 0 has no minus, what is
    only small keeps its own.
    """
    if not math.isfinite(value):
        return "-"
    sign = "+" if signed else ""
    return f"{value + 0.0:{sign}.{places}f}"


def interval(ends: tuple[float, float], places: int = USUAL, *, signed: bool = False) -> str:
    """Both ends of an interval; an infinite end is open, and an interval without any finite end is
    a dash.
    """
    low, high = ends
    if math.isnan(low) or math.isnan(high) or (math.isinf(low) and math.isinf(high)):
        return "-"
    start = "(open" if math.isinf(low) else f"[{number(low, places, signed=signed)}"
    return (
        f"{start}, open)"
        if math.isinf(high)
        else f"{start}, {number(high, places, signed=signed)}]"
    )


def counted(n: int, one: str, many: str = "") -> str:
    """A number with its noun or verb."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
