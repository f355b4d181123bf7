"""Gains: what a grade is worth. Functions of whole arrays of grades, each with a text that parses
back.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np

from idealrank.data.types import AnyArray, FloatArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.measures.measure_texts import function_text, number_text

# Whole grades in a range this small are looked up in a table, which costs less than computing and
# gives the same bits everywhere.
_TABLE_RANGE = 4096


class Gain(Protocol):
    """Protocol of a gain: text, monotonicity in the grade, and the gains of an array of grades."""

    @property
    def text(self) -> str: ...
    @property
    def rising(self) -> bool: ...
    def __call__(self, grades: FloatArray) -> FloatArray: ...


GainLike: TypeAlias = Gain | str | Mapping[float, float] | Callable[[FloatArray], FloatArray]


def _by_value(grades: FloatArray, gain: Callable[[float], float], text: str) -> FloatArray:
    """Apply a scalar gain once per distinct grade."""
    if grades.size == 0:
        return grades.astype(np.float64)
    low = float(grades.min())
    high = float(grades.max())
    try:
        if high - low < _TABLE_RANGE and bool((np.floor(grades) == grades).all()):
            table = np.array([gain(low + step) for step in range(int(high - low) + 1)])
            index = (grades - low).astype(np.intp)
            return table[index]
        distinct, inverse = np.unique(grades, return_inverse=True)
        table = np.array([gain(grade) for grade in distinct.tolist()])
        return table[inverse.reshape(grades.shape)]
    except OverflowError:
        raise InputError(
            f"gain {text} of grade {high:g} is larger than a number can be (1.8e308); use "
            f"gain=linear, or a table of gains",
            switch="gain=linear",
        ) from None


@dataclass(frozen=True)
class LinearGain:
    """The grade itself (Jarvelin and Kekalainen 2002).

    Examples
    --------
    >>> LinearGain()(np.array([0.0, 2.0]))
    array([0., 2.])
    """

    text = "linear"
    rising = True

    def __call__(self, grades: FloatArray) -> FloatArray:
        return grades


@dataclass(frozen=True)
class Exp2Gain:
    """2^grade - 1 (Burges et al. 2005).

    Examples
    --------
    >>> Exp2Gain()(np.array([0.0, 2.0]))
    array([0., 3.])
    """

    text = "exp2"
    rising = True

    def __call__(self, grades: FloatArray) -> FloatArray:
        return _by_value(grades, lambda grade: 2.0**grade - 1.0, self.text)


@dataclass(frozen=True)
class BinaryGain:
    """1 for a grade that reaches the threshold, else 0.

    Examples
    --------
    >>> BinaryGain()(np.array([0.0, 0.5, 1.0, 3.0]))
    array([0., 0., 1., 1.])
    """

    threshold: float = 1.0
    text = "binary"
    rising = True

    def __call__(self, grades: FloatArray) -> FloatArray:
        return (grades >= self.threshold).astype(np.float64)


@dataclass(frozen=True)
class GainFrom:
    """The gain of another function for grades that reach a threshold; 0 for lower grades.

    Examples
    --------
    >>> GainFrom(LinearGain(), 2.0)(np.array([1.0, 2.0, 3.0]))
    array([0., 2., 3.])
    """

    gain: Gain
    threshold: float

    @property
    def text(self) -> str:
        return f"{self.gain.text} from grade {number_text(self.threshold)}"

    @property
    def rising(self) -> bool:
        # Below 0, a grade that is dropped to 0 would pass those that are kept.
        return self.gain.rising and self.threshold >= 0

    def __call__(self, grades: FloatArray) -> FloatArray:
        is_relevant = grades >= self.threshold
        # Grades that are not relevant need no gain: a table may lack them.
        return np.where(is_relevant, self.gain(np.where(is_relevant, grades, 0.0)), 0.0)


def gain_from(gain: Gain, threshold: float | None) -> Gain:
    """Limit a gain to grades that reach a threshold; None sets no limit."""
    if threshold is None:
        return gain
    if isinstance(gain, BinaryGain):
        return BinaryGain(threshold)
    return GainFrom(gain, threshold)


@dataclass(frozen=True)
class PowerGain:
    """grade^exponent; negative grades keep their sign.

    Examples
    --------
    >>> PowerGain(2.0)(np.array([3.0]))
    array([9.])
    """

    exponent: float
    rising = True

    def __post_init__(self) -> None:
        if not 0 < self.exponent < math.inf:
            raise OptionError(f"gain=power({self.exponent:g}): expected an exponent above 0")

    @property
    def text(self) -> str:
        return f"power({number_text(self.exponent)})"

    def __call__(self, grades: FloatArray) -> FloatArray:
        def gain(grade: float) -> float:
            return math.copysign(abs(grade) ** self.exponent, grade)

        return _by_value(grades, gain, self.text)


@dataclass(frozen=True)
class TableGain:
    """A gain per grade. Of the grades that are not in the table, 0 gains 0, and any other is an
    error, or its own gain with `others`.

    Examples
    --------
    >>> TableGain(((1.0, 5.0),))(np.array([0.0, 1.0]))
    array([0., 5.])
    >>> TableGain(((1.0, 5.0),), others=True)(np.array([1.0, 2.0]))
    array([5., 2.])
    """

    entries: tuple[tuple[float, float], ...]
    others: bool = False

    @property
    def text(self) -> str:
        pairs = [f"{number_text(grade)}:{number_text(gain)}" for grade, gain in self.entries]
        if self.others:
            pairs.append("*:*")
        return "{" + ",".join(pairs) + "}"

    @property
    def rising(self) -> bool:
        gains = [gain for _, gain in sorted(self._table.items())]
        return gains == sorted(gains) and not self.others

    @property
    def _table(self) -> dict[float, float]:
        return {0.0: 0.0} | dict(self.entries)

    def __call__(self, grades: FloatArray) -> FloatArray:
        table = self._table
        listed = np.array(sorted(table))
        gains = np.array([table[float(grade)] for grade in listed])
        place = np.minimum(np.searchsorted(listed, grades), listed.size - 1)
        unlisted = listed[place] != grades
        if self.others:
            return np.where(unlisted, grades, gains[place])
        if unlisted.any():
            raise InputError(
                f"gain={shown(self.text)}: found grade {grades[unlisted][0]:g}, expected one of "
                f"{shown(', '.join(f'{g:g}' for g in listed))}; *:* in the table makes every other "
                "grade its own gain"
            )
        return gains[place]


@dataclass(frozen=True)
class CustomGain:
    """Any vectorised function of the grades; its text names it but cannot be parsed back.

    Examples
    --------
    >>> CustomGain(np.sqrt)(np.array([4.0]))
    array([2.])
    """

    function: Callable[[FloatArray], FloatArray]
    rising = False

    @property
    def text(self) -> str:
        return function_text(self.function)

    def __call__(self, grades: FloatArray) -> FloatArray:
        # lists of one length come as rows of a matrix, which a function written for a column may
        # not expect
        column = grades.reshape(-1)
        try:
            gains: AnyArray = np.asarray(self.function(column), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"gain {self.text} failed on an array of grades ({error}); expected a vectorised "
                "function, as np.vectorize makes of one"
            ) from error
        if gains.shape != column.shape:
            raise InputError(
                f"gain {self.text} gave shape {gains.shape} for grades of shape {column.shape}; "
                "expected the same"
            )
        if not np.isfinite(gains).all():
            wrong = int(np.flatnonzero(~np.isfinite(gains))[0])
            raise InputError(
                f"gain {self.text} gave {gains[wrong]} for grade {column[wrong]:g}, expected "
                f"finite numbers"
            )
        return gains.reshape(grades.shape)


_NAMES: dict[str, type[LinearGain | Exp2Gain | BinaryGain]] = {
    **dict.fromkeys(("linear", "log2", "base"), LinearGain),
    **dict.fromkeys(("exp2", "exp", "exp-log2", "burges"), Exp2Gain),
    "binary": BinaryGain,
}
GAIN_NAMES = tuple(_NAMES)
"""Names of gains; further texts are ``power(EXPONENT)`` and tables in braces."""


def make_gain(gain: GainLike) -> Gain:
    """A gain from its name, a table of grades, a function, or itself.

    Parameters
    ----------
    gain : Gain, str, mapping or callable
        ``"linear"``, ``"exp2"``, ``"binary"`` (1 for grades of 1 or more), ``"power(1.5)"``,
        ``"{0:0,1:1,2:5}"``, a mapping from grade to gain, or a vectorised function. A table need
        not say that grade 0 gains 0; ``*:*`` in it says that every other grade is its own gain. A
        negative grade that the convention makes 0 gains what grade 0 does.

    Raises
    ------
    OptionError
        The name is unknown.

    Examples
    --------
    >>> make_gain("exp2").text, make_gain({0: 0, 1: 10}).text
    ('exp2', '{0:0,1:10}')
    """
    if isinstance(gain, (LinearGain, Exp2Gain, BinaryGain, PowerGain, TableGain, CustomGain)):
        return gain
    if isinstance(gain, Mapping):
        return _gain_table(gain.items(), str(gain))
    if callable(gain):
        return CustomGain(gain)
    return _gain_from_text(str(gain))


def _gain_from_text(text: str) -> Gain:
    name = text.strip().lower()
    if name in _NAMES:
        return _NAMES[name]()
    try:
        if name.startswith("power(") and name.endswith(")"):
            return PowerGain(float(name[6:-1]))
        if name.startswith("{") and name.endswith("}"):
            return _gain_table([entry.split(":") for entry in name[1:-1].split(",")], text)
    except ValueError as error:
        if isinstance(error, OptionError):
            raise
    raise OptionError(
        f"gain={shown(text)}: expected linear | exp2 | binary | power(EXPONENT) | "
        "{GRADE:GAIN,...}, or a function in Python"
    )


def _gain_table(pairs: Iterable[Sequence[Any]], text: str) -> TableGain:
    try:
        listed = [(grade, value) for grade, value in pairs]
        graded = [pair for pair in listed if [str(part).strip() for part in pair] != ["*", "*"]]
        entries = sorted((float(grade), float(value)) for grade, value in graded)
    except (TypeError, ValueError):
        raise OptionError(
            f"gain={shown(text)}: expected numbers, a grade and its gain each, as in "
            "{0:0,1:1,2:5}"
        ) from None
    if not entries:
        raise OptionError("gain={}: expected at least one grade")
    if not all(map(math.isfinite, chain.from_iterable(entries))):
        raise OptionError(f"gain={shown(text)}: expected finite numbers, a grade and its gain each")
    for (grade, _), (following, _) in pairwise(entries):
        if grade == following:
            raise OptionError(
                f"gain={shown(text)}: grade {grade:g} is given twice, expected each grade once"
            )
    return TableGain(tuple(entries), others=len(graded) < len(listed))


def trec_gains(gain: "GainLike | None") -> str | None:
    """Return trec_eval's suffix of a measure with these gains; None if trec_eval has no such gains.

    Examples
    --------
    >>> trec_gains("linear"), trec_gains(make_gain("{1:3,2:4.5,*:*}")), trec_gains("exp2")
    ('', '_1=3,2=4.5', None)
    """
    gain_function = LinearGain() if gain is None else make_gain(gain)
    if isinstance(gain_function, TableGain) and gain_function.others:
        return "_" + ",".join(
            f"{number_text(grade)}={number_text(worth)}" for grade, worth in gain_function.entries
        )
    return "" if isinstance(gain_function, LinearGain) else None
