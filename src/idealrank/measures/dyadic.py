"""Sums without rounding: whole numbers over a power of two, in int64 where that holds them and in
Python's whole numbers where not.
"""

import math
from dataclasses import dataclass

import numpy as np

from idealrank.data.segments import sizes_of
from idealrank.data.types import AnyArray, BoolArray, FloatArray, IntArray

# An int64 sum is formed only where its terms add up to less than this; twice that still fits.
_INT64 = 1 << 62
# Whole numbers that float64 holds, every one of them.
_FLOAT64 = 1 << 53
# 2**-1022 is the smallest normal float64: a whole number divided by no more than 2**1022 is normal
# or 0, so that the quotient keeps all digits of a float64.
_SMALLEST_NORMAL = 1022


@dataclass(frozen=True, eq=False)
class Dyadic:
    """Numbers ``numerator / 2**shift``, added and multiplied without rounding."""

    numerator: AnyArray
    shift: int = 0

    def __add__(self, other: "Dyadic") -> "Dyadic":
        shift = max(self.shift, other.shift)
        numerators = self._at(shift)
        other_numerators = other._at(shift)
        if _largest(numerators) + _largest(other_numerators) >= _INT64:
            numerators = numerators.astype(object)
            other_numerators = other_numerators.astype(object)
        return Dyadic(numerators + other_numerators, shift)

    def __sub__(self, other: "Dyadic") -> "Dyadic":
        return self + other.times(-1)

    def __mul__(self, whole: IntArray) -> "Dyadic":
        numerator = self.numerator
        if _largest(numerator) * max(_largest(whole), 1) >= _INT64:
            numerator = numerator.astype(object)
            whole = whole.astype(object)
        return Dyadic(numerator * whole, self.shift)

    def times(self, whole: int) -> "Dyadic":
        """Each number times one whole number of any size."""
        numerator = self.numerator
        if max(_largest(numerator), 1) * abs(whole) >= _INT64:
            numerator = numerator.astype(object)
        return Dyadic(numerator * whole, self.shift)

    def halved(self) -> "Dyadic":
        """Each number divided by 2."""
        return Dyadic(self.numerator, self.shift + 1)

    def rounded(self) -> FloatArray:
        """The nearest float64 of each number; infinite where it is beyond float64."""
        if self.numerator.dtype != object and self.shift <= _SMALLEST_NORMAL:
            return self.numerator.astype(np.float64) * 2.0**-self.shift
        return np.array(
            [_quotient(whole, 1 << self.shift) for whole in self.numerator.tolist()], np.float64
        )

    def over(self, other: "Dyadic") -> FloatArray:
        """The nearest float64 of each quotient; `other` is not 0."""
        shift = max(self.shift, other.shift)
        numerators = self._at(shift)
        divisors = other._at(shift)
        if max(_largest(numerators), _largest(divisors)) <= _FLOAT64:
            return numerators.astype(np.float64) / divisors.astype(np.float64)
        pairs = np.broadcast(numerators, divisors)
        quotients = [_quotient(int(numerator), int(divisor)) for numerator, divisor in pairs]
        return np.array(quotients, np.float64).reshape(pairs.shape)

    def is_float(self) -> BoolArray:
        """Mark the values that float64 holds without rounding."""
        if _largest(self.numerator) <= _FLOAT64 and self.shift <= _SMALLEST_NORMAL:
            return np.ones(self.numerator.shape, bool)
        values = zip(self.numerator.tolist(), self.rounded().tolist(), strict=True)
        return np.array(
            [
                math.isfinite(nearest) and _is_exactly(int(whole), self.shift, nearest)
                for whole, nearest in values
            ],
            bool,
        )

    def positive(self) -> BoolArray:
        """Mark the values above 0."""
        return np.asarray(self.numerator > 0, bool)

    def _at(self, shift: int) -> AnyArray:
        """The numerators over 2**shift, for a shift that is not smaller."""
        more = shift - self.shift
        if more == 0:
            return self.numerator
        if _largest(self.numerator) << more >= _INT64:
            return self.numerator.astype(object) * (1 << more)
        return self.numerator << more


def joined(parts: "list[Dyadic]") -> Dyadic:
    """Join the numbers of several parts, one after the other."""
    shift = max((part.shift for part in parts), default=0)
    numerators = [part._at(shift) for part in parts]
    return Dyadic(np.concatenate(numerators) if numerators else np.zeros(0, np.int64), shift)


def dots(values: AnyArray, weights: IntArray, starts: IntArray) -> Dyadic:
    """Sums of value x weight over stretches, for any finite values.

    Values are taken apart into whole numbers of a few bits, from the highest to the lowest, until
    nothing is left; each of these is summed in int64.
    """
    if values.size == 0:
        return Dyadic(np.zeros(starts.size, np.int64))
    if values.dtype.kind == "i" and values.dtype.itemsize == 8 and _largest(values) > _FLOAT64:
        # Values are high x 2**32 + low, also negative ones: >> rounds down, and & gives the 32 bits
        # above that, from 0 on. Each part is a float64.
        low = dots((values & 0xFFFFFFFF).astype(np.float64), weights, starts)
        high = dots((values >> 32).astype(np.float64), weights, starts)
        return high.times(1 << 32) + low
    remainder = values.astype(np.float64)
    longest = int(sizes_of(starts, values.size).max())
    # so few bits that the products over the longest stretch still add up in int64
    bits = 61 - (max(_largest(weights), 1) * longest).bit_length()
    # A digit is the whole part of value x 2**places, less than 2**bits. With places < 0 it stands
    # for multiples of 2**-places.
    places = bits - math.frexp(float(np.abs(remainder).max()))[1]
    total = Dyadic(np.zeros(starts.size, np.int64))
    while True:
        digit = np.trunc(_scaled(remainder, places))
        sums = np.add.reduceat(digit.astype(np.int64) * weights, starts)
        total += Dyadic(sums, places) if places >= 0 else Dyadic(sums).times(1 << -places)
        # Exact, so that the loop ends: a digit has the leading bits of the remainder, and the
        # difference the others, of which each round leaves fewer.
        remainder -= _scaled(digit, -places)
        if not remainder.any():
            return total
        places += bits


def _scaled(values: FloatArray, power: int) -> FloatArray:
    """Multiply by 2**power. A product below the normal float64 loses bits, but its whole part is 0
    either way.
    """
    if abs(power) <= _SMALLEST_NORMAL:
        return values * 2.0**power
    scaled: FloatArray = np.ldexp(values, power)
    return scaled


def _largest(numbers: AnyArray) -> int:
    """The largest absolute value, as Python's whole number."""
    return max(int(numbers.max()), -int(numbers.min())) if numbers.size else 0


def _quotient(numerator: int, divisor: int) -> float:
    try:
        return numerator / divisor
    except OverflowError:
        return math.inf if (numerator > 0) == (divisor > 0) else -math.inf


def _is_exactly(numerator: int, shift: int, value: float) -> bool:
    """Return whether ``numerator / 2**shift`` is the value."""
    whole, divisor = value.as_integer_ratio()
    return whole << shift == numerator * divisor
