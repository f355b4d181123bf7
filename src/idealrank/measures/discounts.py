"""Discounts: the weight of a rank. Functions of whole arrays of ranks (1 is the top) and list
lengths.
"""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

import numpy as np

from idealrank.data.types import AnyArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.measures.measure_texts import function_text, number_text


class Discount(Protocol):
    """Protocol of a discount: text, dependence on list length, weights, and sums of weights over
    ranges of ranks.
    """

    @property
    def text(self) -> str: ...
    @property
    def by_length(self) -> bool: ...
    def at(self, rank: IntArray, length: IntArray) -> FloatArray: ...
    def between(self, first: IntArray, last: IntArray, length: IntArray) -> FloatArray: ...


DiscountLike: TypeAlias = Discount | str | Sequence[float] | Callable[..., FloatArray]


class _Columns(NamedTuple):
    """Weight of each rank and running sums of the weights; index 0, which is no rank, holds 0."""

    weights: FloatArray
    sums: FloatArray


@dataclass
class _Table:
    """Weights by rank, grown by doubling. Threads share a table, so both columns are replaced at
    once.
    """

    weight: Callable[[int], float]
    columns: _Columns = field(default_factory=lambda: _Columns(np.zeros(1), np.zeros(1)))

    def upto(self, rank: int) -> _Columns:
        columns = self.columns
        size = columns.weights.size
        if rank >= size:
            last = max(rank, 2 * size, 64)
            more = [self.weight(r) for r in range(size, last + 1)]
            weights = np.concatenate((columns.weights, more))
            columns = _Columns(weights, np.cumsum(weights))
            self.columns = columns
        return columns


# One table per discount and process. Its entries come from the C library's scalar functions
# (math.log2, pow), not from NumPy's vector ones, which differ in the last bit between processors.
_TABLES: dict[str, _Table] = {}


@dataclass(frozen=True)
class RankDiscount:
    """A discount of the rank alone.

    Parameters
    ----------
    text : str
        Its name, which includes its parameter.
    weight : callable
        Weight of one rank, from 1.

    Examples
    --------
    >>> make_discount("log2").at(np.array([1, 3]), np.array([9, 9]))
    array([1. , 0.5])
    """

    text: str
    weight: Callable[[int], float] = field(compare=False, repr=False)
    by_length = False

    def __reduce__(self) -> "tuple[Callable[[str], Discount], tuple[str]]":
        """Other processes make it anew from its name."""
        return make_discount, (self.text,)

    @property
    def _table(self) -> _Table:
        return _TABLES.setdefault(self.text, _Table(self.weight))

    def at(self, rank: IntArray, length: IntArray) -> FloatArray:
        """Weight of each rank, shape of `rank`."""
        weights: FloatArray = self._table.upto(int(rank.max(initial=0))).weights[rank]
        return weights

    def between(self, first: IntArray, last: IntArray, length: IntArray) -> FloatArray:
        """Sum of the weights of the ranks from `first` to `last`, both included."""
        sums = self._table.upto(int(last.max(initial=0))).sums
        total: FloatArray = sums[last] - sums[first - 1]
        return total


@dataclass(frozen=True)
class LinearDiscount:
    """Weight max(n - rank, 0) in a list of n (the ECML/PKDD 2010 challenge; Jin and Geng 2011).

    Examples
    --------
    >>> LinearDiscount().at(np.array([1, 2]), np.array([3, 3]))
    array([2., 1.])
    """

    text = "linear"
    by_length = True

    def at(self, rank: IntArray, length: IntArray) -> FloatArray:
        """Weight of each rank."""
        weights: FloatArray = np.maximum(length - rank, 0).astype(np.float64)
        return weights

    def between(self, first: IntArray, last: IntArray, length: IntArray) -> FloatArray:
        """Sum of the weights from `first` to `last`, in closed form."""
        high = np.minimum(last, length)
        low = np.minimum(first - 1, length)
        upto_high = high * length - high * (high + 1) // 2
        upto_low = low * length - low * (low + 1) // 2
        total: FloatArray = (upto_high - upto_low).astype(np.float64)
        return total


@dataclass(frozen=True)
class CustomDiscount:
    """Any vectorised function of the ranks, or of ranks and list lengths; its text cannot be parsed
    back.

    Examples
    --------
    >>> CustomDiscount(lambda rank: 1 / rank).at(np.array([4]), np.array([9]))
    array([0.25])
    """

    function: Callable[..., FloatArray]
    by_length = True

    @property
    def text(self) -> str:
        return function_text(self.function)

    def at(self, rank: IntArray, length: IntArray) -> FloatArray:
        """Weight of each rank."""
        arguments = (rank, length) if _takes_length(self.function) else (rank,)
        weights: AnyArray = np.array(self.function(*arguments), np.float64)
        if weights.shape != rank.shape:
            raise InputError(
                f"discount {self.text} gave shape {weights.shape} for ranks of shape {rank.shape}; "
                "expected the same"
            )
        if not np.isfinite(weights).all():
            wrong = int(np.flatnonzero(~np.isfinite(weights))[0])
            raise InputError(
                f"discount {self.text} gave {weights[wrong]} for rank {rank[wrong]}, expected "
                f"finite numbers"
            )
        return weights

    def between(self, first: IntArray, last: IntArray, length: IntArray) -> FloatArray:
        """Sum of the weights from `first` to `last`, rank by rank."""
        sizes = np.maximum(last - first + 1, 0)
        owner = np.repeat(np.arange(first.size), sizes)
        starts = np.cumsum(sizes) - sizes
        rank = np.arange(owner.size) - starts[owner] + first[owner]
        weights = self.at(rank, length[owner])
        total: FloatArray = np.bincount(owner, weights, first.size).astype(np.float64)
        return total


def _takes_length(function: Callable[..., FloatArray]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # NumPy's ufuncs have no signature and take one array
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [
        parameter
        for parameter in parameters
        if parameter.kind in positional and parameter.default is parameter.empty
    ]
    return len(required) >= 2


def _check_base(family: str, base: float) -> None:
    if not 1 < base < math.inf:
        raise OptionError(f"discount={family}({base:g}): expected a base above 1")


def _log(base: float) -> RankDiscount:
    _check_base("log", base)
    if base == 2:
        return RankDiscount("log2", lambda rank: 1.0 / math.log2(rank + 1))
    text = f"log({number_text(base)})"
    return RankDiscount(text, lambda rank: math.log(base) / math.log(rank + 1))


def _jarvelin(base: float) -> RankDiscount:
    _check_base("jarvelin", base)

    def weight(rank: int) -> float:
        if rank < base:
            return 1.0
        return 1.0 / (math.log2(rank) if base == 2 else math.log(rank) / math.log(base))

    return RankDiscount(f"jarvelin({number_text(base)})", weight)


def _zipf(beta: float) -> RankDiscount:
    if not 0 < beta < math.inf:
        raise OptionError(f"discount=zipf({beta:g}): expected an exponent above 0")
    text = f"zipf({number_text(beta)})"
    if beta == 1:
        return RankDiscount(text, lambda rank: 1.0 / rank)
    return RankDiscount(text, lambda rank: math.pow(rank, -beta))


def _geometric(base: float) -> RankDiscount:
    if not 0 < base < math.inf or base == 1:
        raise OptionError(
            f"discount=geometric({base:g}): expected a base above 1, or a ratio between 0 and 1"
        )
    text = f"geometric({number_text(base)})"
    if base > 1:
        return RankDiscount(text, lambda rank: math.pow(base, -rank))
    return RankDiscount(text, lambda rank: math.pow(base, rank))


def _of_weights(weights: Sequence[Any]) -> RankDiscount:
    try:
        listed = [float(weight) for weight in weights]
    except (TypeError, ValueError, OverflowError):
        listed = []
    if not listed or not all(map(math.isfinite, listed)):
        raise OptionError(
            f"discount={shown(weights)}: expected a name, a function, or the weights of ranks 1, "
            "2, ... as finite numbers"
        )
    text = "[" + ",".join(number_text(weight) for weight in listed) + "]"
    return RankDiscount(text, lambda rank: listed[rank - 1] if rank <= len(listed) else 0.0)


_FAMILIES: dict[str, Callable[[float], RankDiscount]] = {
    "log": _log,
    "jarvelin": _jarvelin,
    "zipf": _zipf,
    "power": _zipf,
    "geometric": _geometric,
    "exponential": _geometric,
}
_NAMES = {
    "log2": ("log", 2.0),
    "reciprocal": ("zipf", 1.0),
    "zipf": ("zipf", 1.0),
    "jarvelin": ("jarvelin", 2.0),
    "ln": ("log", math.e),
}
DISCOUNT_NAMES = (*_NAMES, "linear")
"""Names of discounts; further texts are tables in brackets and `DISCOUNT_FAMILIES`."""
DISCOUNT_FAMILIES = tuple(_FAMILIES)
"""Names of discounts with a parameter in parentheses."""


def make_discount(discount: DiscountLike) -> Discount:
    """A discount from its name, a table of weights, a function, or itself.

    Parameters
    ----------
    discount : Discount, str, sequence or callable
        ``"log2"`` = 1/log2(rank + 1), ``"log(b)"``, ``"jarvelin(b)"`` = 1 before rank b and
        1/log_b(rank) from it on, ``"zipf(beta)"`` or ``"power(beta)"`` = rank^-beta,
        ``"reciprocal"`` = 1/rank, ``"geometric(b)"`` or ``"exponential(b)"`` = b^-rank for a base b
        above 1 and b^rank for a ratio b below 1, ``"linear"`` = n - rank, weights of ranks 1, 2,
        ... (0 beyond), or a vectorised function of ranks, or of ranks and list lengths.

    Raises
    ------
    OptionError
        The name is unknown or its parameter impossible.

    References
    ----------
    Jarvelin and Kekalainen (2002), ACM TOIS 20(4), section 2; Burges et al. (2005), ICML; Wang et
    al. (2013), COLT, section 2.

    Examples
    --------
    >>> make_discount("jarvelin(2)").at(np.array([1, 2, 4]), np.array([4, 4, 4]))
    array([1. , 1. , 0.5])
    """
    if isinstance(discount, (RankDiscount, LinearDiscount, CustomDiscount)):
        return discount
    if callable(discount):
        return CustomDiscount(discount)
    if not isinstance(discount, str):
        return _of_weights(cast("Sequence[float]", discount))
    name = discount.strip().lower()
    if name == "linear":
        return LinearDiscount()
    try:
        if name.startswith("[") and name.endswith("]"):
            return _of_weights(name[1:-1].split(","))
        family, _, parameter = name.partition("(")
        if name in _NAMES:
            family, value = _NAMES[name]
            return _FAMILIES[family](value)
        if family in _FAMILIES and parameter.endswith(")"):
            return _FAMILIES[family](float(parameter[:-1]))
    except ValueError as error:
        if isinstance(error, OptionError):
            raise
    raise OptionError(
        f"discount={shown(discount)}: expected log2 | log(BASE) | jarvelin(BASE) | zipf(BETA) | "
        "reciprocal | geometric(BASE) | linear | [WEIGHT,...], or a function in Python"
    )
