"""Families of discounts and cutoffs in the theorems, by their behaviour as lists grow.

Weights here use natural logarithms, D(r) = 1/log(1 + r), whatever the base: a constant factor
cancels in NDCG.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import expi

from idealrank.data.types import FloatArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import RelativeCutoff, cutoff_text, make_cutoff, resolve_cutoff
from idealrank.measures.discounts import (
    Discount,
    DiscountLike,
    LinearDiscount,
    RankDiscount,
    make_discount,
)

Kind: TypeAlias = Literal["logarithmic", "zipf", "geometric", "linear", "finite", "unknown"]
Depth: TypeAlias = Literal["whole", "share", "power", "constant"]
_Real: TypeAlias = Callable[[FloatArray], FloatArray]


class _Functions(NamedTuple):
    """D, its integral from 1, its first derivative and its third, for the Euler-Maclaurin
    formula.
    """

    weight: _Real
    integral: _Real
    slope: _Real
    third: _Real


_LARGEST = 2**63  # list lengths from here on have no whole-number cutoffs
_DIRECT = 128  # ranks that are summed one by one before the Euler-Maclaurin formula takes over


@dataclass(frozen=True)
class Decay:
    """A discount as a function of real ranks from 1 on, its integral, and what the sum has beyond
    the integral.
    """

    discount: Discount
    kind: Kind
    exponent: float = 0.0

    @property
    def text(self) -> str:
        """Text of the discount."""
        return self.discount.text

    @property
    def summable(self) -> bool | None:
        """True if the weights of all ranks have a finite sum; None if unknown."""
        if self.kind == "unknown":
            return None
        return self.kind in {"geometric", "finite"} or (self.kind == "zipf" and self.exponent > 1)

    def weight(self, rank: FloatArray) -> FloatArray:
        """D at real ranks from 1 on, shape of `rank`; for logarithmic, zipf and geometric
        discounts.
        """
        return self._functions.weight(rank)

    def integral(self, rank: FloatArray) -> FloatArray:
        """F(t), the integral of D from 1 to t >= 1, shape of `rank`."""
        return self._functions.integral(rank)

    @cached_property
    def kappa(self) -> float:
        """Return the excess of the sum of D over ranks 1 to n above its integral from 1 to n, as n
        grows; Euler-Maclaurin.
        """
        functions = self._functions
        # beyond the base of jarvelin, where the weights begin to fall
        ranks = max(_DIRECT, math.ceil(self.exponent) + 1)
        last = np.array([float(ranks)])
        total = math.fsum(functions.weight(np.arange(1.0, ranks + 1.0)).tolist())
        return float(
            total
            - functions.integral(last)[0]
            - functions.weight(last)[0] / 2
            - functions.slope(last)[0] / 12
            + functions.third(last)[0] / 720
        )

    @cached_property
    def _functions(self) -> _Functions:
        if self.kind == "zipf":
            return _zipf(self.exponent)
        if self.kind == "geometric":
            return _geometric(self.exponent)
        if self.kind == "logarithmic":
            return _jarvelin(self.exponent) if self.exponent else _logarithmic()
        raise OptionError(
            f"discount={self.text} has no integral of its own here; expected log2, log(b), "
            f"jarvelin(b), zipf(b) or geometric(b)"
        )


def decay_of(discount: DiscountLike) -> Decay:
    """The family of a discount."""
    parsed = make_discount(discount)
    if isinstance(parsed, LinearDiscount):
        return Decay(parsed, "linear")
    if not isinstance(parsed, RankDiscount):
        return Decay(parsed, "unknown")
    name, _, parameter = parsed.text.partition("(")
    if name in {"log2", "log"}:
        return Decay(parsed, "logarithmic")
    if name == "jarvelin":
        return Decay(parsed, "logarithmic", float(parameter[:-1]))
    if name == "zipf":
        return Decay(parsed, "zipf", float(parameter[:-1]))
    if name == "geometric":
        base = float(parameter[:-1])
        return Decay(parsed, "geometric", 1 / base if base > 1 else base)
    return Decay(parsed, "finite")


def _zipf(beta: float) -> _Functions:
    def integral(rank: FloatArray) -> FloatArray:
        logarithm = np.log(rank)
        return logarithm if beta == 1 else np.expm1((1 - beta) * logarithm) / (1 - beta)

    factor = -beta * (beta + 1) * (beta + 2)
    return _Functions(
        weight=lambda r: r**-beta,
        integral=integral,
        slope=lambda r: -beta * r ** (-beta - 1),
        third=lambda r: factor * r ** (-beta - 3),
    )


def _geometric(ratio: float) -> _Functions:
    rate = math.log(ratio)

    def weight(rank: FloatArray) -> FloatArray:
        return np.exp(rate * rank)

    return _Functions(
        weight=weight,
        integral=lambda r: (weight(r) - ratio) / rate,
        slope=lambda r: rate * weight(r),
        third=lambda r: rate**3 * weight(r),
    )


def _logarithmic() -> _Functions:
    def integral(rank: FloatArray) -> FloatArray:
        difference: FloatArray = expi(np.log1p(rank)) - expi(math.log(2.0))
        return difference

    return _Functions(
        weight=lambda r: 1 / np.log1p(r),
        integral=integral,
        slope=lambda r: -1 / ((1 + r) * np.log1p(r) ** 2),
        third=lambda r: _third(1 + r),
    )


def _third(x: FloatArray) -> FloatArray:
    """Third derivative of 1 / log x."""
    logarithm = np.log(x)
    return -(2 / logarithm**2 + 6 / logarithm**3 + 6 / logarithm**4) / x**3


def _jarvelin(base: float) -> _Functions:
    """Make the functions of 1 before rank b and log b / log r from it on, both divided by log b:
    from rank b on, they are 1 / log r and its integral.
    """
    size = math.log(base)

    def integral(rank: FloatArray) -> FloatArray:
        # `np.where` evaluates both sides: beyond the base must stay finite before it, too.
        from_base = np.maximum(rank, base)
        beyond = (base - 1) / size + expi(np.log(from_base)) - expi(size)
        integrals: FloatArray = np.where(rank < base, (rank - 1) / size, beyond)
        return integrals

    def weight(rank: FloatArray) -> FloatArray:
        return 1 / np.log(np.maximum(rank, base))

    def slope(rank: FloatArray) -> FloatArray:
        return np.where(rank < base, 0.0, -1 / (rank * np.log(np.maximum(rank, base)) ** 2))

    def third(rank: FloatArray) -> FloatArray:
        return np.where(rank < base, 0.0, _third(np.maximum(rank, base)))

    return _Functions(weight=weight, integral=integral, slope=slope, third=third)


@dataclass(frozen=True)
class Growth:
    """A cutoff as a function of the list length n."""

    text: str
    kind: Depth
    size: float

    def at(self, n: int) -> int:
        """Return the number of ranks that count in a list of n."""
        cutoff = make_cutoff(self.text.removeprefix("@") or None)
        return min(n, int(resolve_cutoff(cutoff, np.array([n]))[0]))

    def log_share(self, n: int, *, whole_ranks: bool = True) -> float:
        """ln(k/n), at most 0, for the cutoff k in a list of n of any size.

        With `whole_ranks` k is what measures count, max(1, floor(x)), as long as n fits 63 bits:
        above, the floor is below rounding.
        """
        if whole_ranks and n < _LARGEST:
            return math.log(self.at(n) / n)
        if self.kind == "constant":
            return min(0.0, math.log(self.size) - math.log(n))
        share = (self.size - 1) * math.log(n) if self.kind == "power" else math.log(self.size)
        return max(share, -math.log(n))


def growth_of(cutoff: "int | str | RelativeCutoff | None") -> Growth:
    """The family of a cutoff."""
    parsed = make_cutoff(cutoff)
    text = cutoff_text(parsed)
    if parsed is None:
        return Growth(text, "whole", 1.0)
    if isinstance(parsed, int):
        return Growth(text, "constant", float(parsed))
    if parsed.text == "sqrt(n)":
        return Growth(text, "power", 0.5)
    size = float(Fraction(parsed.text.removeprefix("n^").removesuffix("n")))
    if size >= 1:
        return Growth("", "whole", 1.0)
    return Growth(text, "power" if parsed.text.startswith("n^") else "share", size)
