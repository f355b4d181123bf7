"""Decimal places in human-readable tables: as many as intervals allow, and enough that no number contradicts a verdict."""

import math
from collections.abc import Iterable
from itertools import count

USUAL = 4
"""Decimals where there is no interval; never more than these for the sake of an interval."""

FEWEST = 2
"""Decimals of values from 0 to 1 at least."""

_MOST = 15  # decimals of a float64 below 1 that mean something
_ROUNDING = 1e-12  # what differs by less is not told apart, or all of a report would have a dozen decimals


def decimals(intervals: Iterable[tuple[float, float]], *, apart: Iterable[tuple[float, float]] = (), asked: int | None = None) -> int:
    """Decimals of a column: two significant digits of the narrowest half-width, from 2 to 4, more where a verdict asks for them.

    One number holds for a whole column, so that its points stand below each other. The narrowest interval decides: a digit too many beside
    a wide interval says nothing wrong, a digit too few would hide what a narrow one has shown.

    Parameters
    ----------
    intervals : iterable of (low, high)
        The intervals of a column, in units of the measure. Those that are infinite, NaN or of no width decide nothing.
    apart : iterable of (number, limit)
        What must not look as if it were on the other side of a limit, or on it: an end of an interval and the 0 that it excludes, or two
        means of which one is shown to be better.
    asked : int or None
        Requested number of decimals; used as given.

    Returns
    -------
    int
        4 where no interval decides; fewer than 2 only where every half-width is 10 or more (of measures that are not bounded by 1).

    References
    ----------
    JCGM 100:2008 (GUM), 7.2.6: uncertainties with at most two significant digits, estimates rounded to be consistent with them; and
    further digits where rounding would mislead.

    Examples
    --------
    >>> decimals([(0.612, 0.698)]), decimals([(0.6, 0.7), (0.6120, 0.6124)]), decimals([])
    (3, 4, 4)
    >>> decimals([(0.0004, 0.056)]), decimals([(0.0004, 0.056)], apart=[(0.0004, 0.0)])
    (3, 4)
    """
    if asked is not None:
        return asked
    halves = [(high - low) / 2 for low, high in intervals]
    halves = [half for half in halves if math.isfinite(half) and half > 0]
    found = max(map(_two_digits, halves)) if halves else USUAL
    fewest = FEWEST if not halves or min(halves) < 10 else 0
    return _told_apart(min(max(found, fewest), USUAL), apart)


def _two_digits(half: float) -> int:
    """Decimals of a number with two significant digits; one that rounds up to the next power of ten needs one fewer."""
    return 1 - int(f"{half:.1e}".partition("e")[2])


def _told_apart(fewest: int, apart: Iterable[tuple[float, float]]) -> int:
    pairs = [(number, limit) for number, limit in apart if math.isfinite(number) and abs(number - limit) > _ROUNDING]
    if not pairs:
        return fewest
    return next(places for places in count(fewest) if places >= _MOST or all(_is_apart(*pair, places) for pair in pairs))


def _is_apart(number: float, limit: float, places: int) -> bool:
    """Return whether two numbers keep their order after rounding."""
    shown, beside = (float(f"{one:.{places}f}") for one in (number, limit))
    return shown > beside if number > limit else shown < beside


def p_text(p: float, alpha: float | None = None) -> str:
    """A p value with three digits and no exponent; tiny ones as a bound.

    Parameters
    ----------
    p : float
        From 0 to 1.
    alpha : float or None
        What it is held against: more digits are shown where three would put it on the other side.

    Examples
    --------
    >>> p_text(0.0499), p_text(1.0), p_text(3e-5), p_text(2e-9)
    ('0.0499', '1', '0.00003', '<0.000001')
    >>> p_text(0.050004), p_text(0.050004, alpha=0.05)
    ('0.05', '0.050004')
    """
    if p < 1e-6:
        return "<0.000001"
    for precision in range(3, 18):
        import numpy as np  # noqa: PLC0415  (errors and help are printed without it)

        text = np.format_float_positional(p, precision=precision, fractional=False, trim="-")
        if alpha is None or (float(text) <= alpha) == (p <= alpha):
            return text
    return repr(p)


def number(value: float, places: int = USUAL, *, signed: bool = False) -> str:
    """A number with so many decimals; a dash where there is none. What is 0 has no minus, what is only small keeps its own.

    Examples
    --------
    >>> number(0.25), number(-0.0312, 2, signed=True), number(float("nan")), number(-0.0, signed=True), number(-0.001, 2)
    ('0.2500', '-0.03', '-', '+0.0000', '-0.00')
    """
    if not math.isfinite(value):
        return "-"
    sign = "+" if signed else ""
    return f"{value + 0.0:{sign}.{places}f}"


def interval(ends: tuple[float, float], places: int = USUAL, *, signed: bool = False) -> str:
    """Both ends of an interval; an infinite end is open, and an interval without any finite end is a dash.

    Examples
    --------
    >>> interval((0.25, 0.5), 2), interval((-0.25, 0.5), 2, signed=True), interval((float("-inf"), float("inf")))
    ('[0.25, 0.50]', '[-0.25, +0.50]', '-')
    >>> interval((0.092, float("inf")), 3, signed=True), interval((float("-inf"), 0.5), 2)
    ('[+0.092, open)', '(open, 0.50]')
    """
    low, high = ends
    if math.isnan(low) or math.isnan(high) or (math.isinf(low) and math.isinf(high)):
        return "-"
    start = "(open" if math.isinf(low) else f"[{number(low, places, signed=signed)}"
    return f"{start}, open)" if math.isinf(high) else f"{start}, {number(high, places, signed=signed)}]"


def counted(n: int, one: str, many: str = "") -> str:
    """A number with its noun or verb.

    Examples
    --------
    >>> counted(1, "check"), counted(2000, "query", "queries"), counted(2, "is left out", "are left out")
    ('1 check', '2,000 queries', '2 are left out')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"
