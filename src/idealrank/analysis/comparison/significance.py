"""Requirements of a test, and the side of a corrected p value."""

from typing import Literal, TypeAlias

from idealrank.data.types import BoolArray
from idealrank.errors import InputError
from idealrank.measures.measure import Measure
from idealrank.stats.comparison import MeasureTest

Side: TypeAlias = Literal["better", "worse", "undecided"]


def refuse_unscored(measure: Measure, names: tuple[str, str], counted: BoolArray) -> None:
    """Refuse a measure by which no query is scored in both of two runs.

    Raises
    ------
    InputError
        There is none.

    Examples
    --------
    >>> import numpy as np
    >>> from idealrank.measures.binary import AP
    >>> refuse_unscored(AP(), ("a", "b"), np.array([True, False]))
    """
    if not counted.any():
        raise InputError(
            f"{unscored(measure, names)}; leave the measure out, "
            "or use a convention under which such queries count, as missing=zero and no_relevant=zero do",
            switch="missing=zero",
        )


def unscored(measure: Measure, names: tuple[str, str]) -> str:
    """Sentence about a measure by which no query is scored in both of two runs.

    Examples
    --------
    >>> from idealrank.measures.binary import AP
    >>> unscored(AP(), ("a", "b"))
    'AP: no query is scored in both a and b'
    """
    return f"{measure}: no query is scored in both {names[0]} and {names[1]}"


def side_of(one: MeasureTest, direction: int, p: float, alpha: float) -> Side:
    """Return whether b is better, worse, or not distinguishable from a.

    Parameters
    ----------
    one : MeasureTest
        What the test found.
    direction : int
        1 where more is better, -1 where less is.
    p : float
        After the correction.
    alpha : float
        Up to which it decides.

    Examples
    --------
    >>> import numpy as np
    >>> from idealrank.stats.comparison import Plan, compare_columns
    >>> from idealrank.stats.design import Design
    >>> one = compare_columns(np.zeros((6, 1)), np.ones((6, 1)), Design.of(6), Plan())[0]
    >>> side_of(one, 1, one.p, 0.05), side_of(one, -1, one.p, 0.05), side_of(one, 1, 2 * one.p, 0.05)
    ('better', 'worse', 'undecided')
    """
    # A test of ranks or signs may find what the means do not show: the side is that of its own statistic.
    if p > alpha or one.lean == 0:
        return "undecided"
    return "better" if one.lean * direction > 0 else "worse"
