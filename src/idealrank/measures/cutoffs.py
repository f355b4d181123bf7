"""Cutoffs: how deep a measure looks. A constant, a share of the list, or a power of its length."""

import math
import re
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from idealrank.data.types import IntArray
from idealrank.errors import OptionError, shown

_DECIMAL = r"([0-9]{1,9}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})"
_SHARE = re.compile(_DECIMAL + "n")
_POWER = re.compile(r"n\^" + _DECIMAL)
_LARGEST = np.iinfo(np.int64).max
# No whole number from 2 on that fits 64 bits has a whole root of a higher degree.
_LARGEST_DEGREE = 64


@dataclass(frozen=True)
class RelativeCutoff:
    """A cutoff that grows with the list: ``0.2n``, ``sqrt(n)`` or ``n^0.25``; at least 1.

    Parameters
    ----------
    text : str
        As written.

    Examples
    --------
    >>> RelativeCutoff("sqrt(n)").resolve(np.array([10, 100]))
    array([ 3, 10])
    """

    text: str

    def __post_init__(self) -> None:
        if not _is_relative(self.text):
            raise OptionError(
                f"cutoff {shown(repr(self.text))}: found a text that is no function of n, expected "
                "sqrt(n), a share such as 0.2n, or a power such as n^0.5"
            )

    def resolve(self, lengths: IntArray) -> IntArray:
        """max(1, floor(x)) for each list length, exact for any length."""
        distinct, inverse = np.unique(lengths, return_inverse=True)
        cutoffs = np.array([max(1, self._floor(int(n))) for n in distinct], np.int64)
        return cutoffs[inverse.reshape(-1)]

    def _floor(self, n: int) -> int:
        if self.text == "sqrt(n)":
            return math.isqrt(n)
        share = _SHARE.fullmatch(self.text)
        if share:
            numerator, denominator = _ratio(share[1])
            return numerator * n // denominator
        return _floor_of_power(n, *_ratio(self.text[2:]))


Cutoff: TypeAlias = int | RelativeCutoff


def _ratio(decimal: str) -> tuple[int, int]:
    """A decimal as numerator and denominator, exact and in lowest terms."""
    whole, _, part = decimal.partition(".")
    numerator = int(whole + part)
    denominator = int(10 ** len(part))
    common = math.gcd(numerator, denominator)
    return numerator // common, denominator // common


def _floor_of_power(n: int, numerator: int, denominator: int) -> int:
    """floor(n^(p/q)) for p/q in lowest terms, at most 1."""
    if n < 2 or numerator == denominator:
        return n
    if denominator > _LARGEST_DEGREE:
        # Never a whole number; it comes no closer to one than twice the digits of the exponent can
        # tell.
        from decimal import ROUND_FLOOR, Context, Decimal  # noqa: PLC0415  (few ask for such a power)

        context = Context(prec=40 + 2 * len(str(denominator)), rounding=ROUND_FLOOR)
        multiple = context.multiply(context.ln(Decimal(n)), Decimal(numerator))
        return int(context.exp(context.divide(multiple, Decimal(denominator))))
    guess: int = math.floor(n ** (numerator / denominator))
    whole: int = n**numerator  # guess^q <= n^p decides without rounding
    while (guess + 1) ** denominator <= whole:
        guess += 1
    while guess**denominator > whole:
        guess -= 1
    return guess


def _positive(decimal: str, *, at_most_one: bool) -> bool:
    numerator, denominator = _ratio(decimal)
    return numerator > 0 and (numerator <= denominator or not at_most_one)


def _is_relative(text: str) -> bool:
    """Return whether a text is a function of the length of a list."""
    if text == "sqrt(n)":
        return True
    if share := _SHARE.fullmatch(text):
        return _positive(share[1], at_most_one=False)
    power = _POWER.fullmatch(text)
    return power is not None and _positive(power[1], at_most_one=True)


def make_cutoff(cutoff: "int | str | RelativeCutoff | None") -> Cutoff | None:
    """A cutoff from a whole number, its text, or None for the whole list.

    Raises
    ------
    OptionError
        It is not a whole number from 1 on, nor a known text.

    Examples
    --------
    >>> make_cutoff("10"), make_cutoff("0.2n")
    (10, RelativeCutoff(text='0.2n'))
    """
    if cutoff is None or isinstance(cutoff, RelativeCutoff):
        return cutoff
    if (
        isinstance(cutoff, (int, np.integer))
        and not isinstance(cutoff, bool)
        and 1 <= cutoff <= _LARGEST
    ):
        return int(cutoff)
    text = str(cutoff).strip().lower().replace(" ", "")
    if isinstance(cutoff, str):
        if text.isdecimal() and len(text) <= len(str(_LARGEST)) and 1 <= int(text) <= _LARGEST:
            return int(text)
        if _is_relative(text):
            return RelativeCutoff(text)
    if isinstance(cutoff, int) and cutoff > _LARGEST:
        problem = "beyond 64 bits"
    else:
        problem = shown(repr(cutoff))
    expected = "expected a whole number from 1 on, or 0.2n, sqrt(n), n^0.25 and the like"
    raise OptionError(f"cutoff {problem}: {expected}")


def cutoff_text(cutoff: Cutoff | None) -> str:
    """``@10``, ``@0.2n`` or nothing.

    Examples
    --------
    >>> cutoff_text(10), cutoff_text(None)
    ('@10', '')
    """
    if cutoff is None:
        return ""
    return f"@{cutoff}" if isinstance(cutoff, int) else f"@{cutoff.text}"


def resolve_cutoff(cutoff: Cutoff | None, lengths: IntArray) -> IntArray:
    """The cutoff of each query, shape (n_queries,), read-only; a huge number where there is none.

    Examples
    --------
    >>> resolve_cutoff(10, np.array([3, 20]))
    array([10, 10])
    """
    if isinstance(cutoff, RelativeCutoff):
        return cutoff.resolve(lengths)
    return _everywhere(cutoff, lengths.shape)


def limits_of(cutoff: Cutoff | None, lengths: IntArray, query: IntArray) -> IntArray:
    """The cutoff that each hit falls under, shape of `query`, read-only.

    Parameters
    ----------
    cutoff : int, RelativeCutoff or None
        The cutoff.
    lengths : int64 array, shape (n_queries,)
        List lengths.
    query : int64 array, shape (n_hits,)
        Query code of each hit.

    Examples
    --------
    >>> limits_of(RelativeCutoff("0.5n"), np.array([4, 20]), np.array([0, 1, 1]))
    array([ 2, 10, 10])
    """
    if isinstance(cutoff, RelativeCutoff):
        return cutoff.resolve(lengths)[query]
    return _everywhere(cutoff, query.shape)


def _everywhere(cutoff: int | None, shape: tuple[int, ...]) -> IntArray:
    """One number seen everywhere: no memory is filled with it."""
    return np.broadcast_to(np.int64(_LARGEST if cutoff is None else cutoff), shape)
