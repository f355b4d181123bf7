"""A stated number: its digits, and the numbers it can stand for."""

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal, TypeAlias

from idealrank.errors import OptionError

Reading: TypeAlias = Literal["as it is", "in percent", "one minus"]
Fit: TypeAlias = Literal["rounded", "cut off", "single precision"]

FITS: tuple[Fit, ...] = ("rounded", "cut off", "single precision")

# Sums in another order differ by this much in float64; tools that compute in float32 differ by up to 3e-6.
_DOUBLE = 1e-12
_SINGLE = 3e-6
# No float has more decimals that mean something here.
_FINEST = -30


def read_as(value: float, reading: Reading) -> float:
    """A computed value in the form in which it may have been stated.

    Examples
    --------
    >>> read_as(0.25, "in percent"), read_as(0.25, "one minus")
    (25.0, 0.75)
    """
    if reading == "in percent":
        return 100 * value
    return 1 - value if reading == "one minus" else value


@dataclass(frozen=True)
class Stated:
    """A number with its digits.

    Parameters
    ----------
    text : str
        As stated: ``"0.8145"``, ``"0.50"`` (the zero counts), ``"81.45%"``.
    number : float
        Its value; of ``"81.45%"`` it is 81.45.
    unit : float
        One unit of the last digit given.
    percent : bool
        Whether a percent sign stands behind it.

    Examples
    --------
    >>> stated = Stated.parse("0.50")
    >>> stated.fit(0.4952), stated.fit(0.5049), stated.fit(0.5051), stated.fit(0.4949)
    ('rounded', 'rounded', 'cut off', None)
    """

    text: str
    number: float
    unit: float
    percent: bool = False

    @classmethod
    def parse(cls, value: "str | float") -> "Stated":
        """A stated number from its text, or from a number (the digits of its shortest text).

        Raises
        ------
        OptionError
            It is not a finite number.

        Examples
        --------
        >>> Stated.parse(0.8145).unit, Stated.parse("81.4%").percent
        (0.0001, True)
        """
        text = str(value).strip()
        digits = text.removesuffix("%").strip()
        try:
            number = Decimal(digits)
        except InvalidOperation:
            number = Decimal("nan")
        if not number.is_finite() or math.isinf(float(number)):
            hint = "; a decimal point, not a comma" if "," in text else ""
            raise OptionError(f"value {text!r}: expected a number such as 0.8145 or 81.45%{hint}")
        exponent = int(number.as_tuple().exponent)
        return cls(text, float(number), 10.0 ** max(exponent, _FINEST), text.endswith("%"))

    @property
    def decimals(self) -> int:
        """Digits after the point.

        Examples
        --------
        >>> Stated.parse("0.50").decimals
        2
        """
        return max(0, -round(math.log10(self.unit)))

    def distance(self, value: float, reading: Reading = "as it is") -> float:
        """Return the distance of a computed value from the stated one, on the scale of the stated one.

        Examples
        --------
        >>> round(Stated.parse("50%").distance(0.25, "in percent"), 9)
        25.0
        """
        return abs(read_as(value, reading) - self.number)

    def fit(self, value: float, reading: Reading = "as it is") -> Fit | None:
        """Return how a computed value can have become the stated one.

        Returns
        -------
        "rounded", "cut off", "single precision" or None
            Within half a unit of the last digit; its digits cut off after the last one given; or, where seven or more decimals
            are given, equal as far as a tool that computes in float32 can be. None where it cannot.

        Examples
        --------
        >>> Stated.parse("0.9488107").fit(0.94881092), Stated.parse("0.9488").fit(0.9486)
        ('single precision', None)
        """
        shown = read_as(value, reading)
        off = abs(shown - self.number)
        slack = _DOUBLE * max(1.0, abs(self.number))
        if off <= self.unit / 2 + slack:
            return "rounded"
        beyond = shown - self.number if self.number >= 0 else self.number - shown
        if -slack <= beyond < self.unit - slack:
            return "cut off"
        if self.unit < 0.9e-6 and off <= _SINGLE * max(1.0, abs(self.number)):
            return "single precision"
        return None
