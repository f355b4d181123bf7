"""Two tables of values, tested measure by measure on the queries that count in both, and which side a corrected p value takes."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from idealrank.data.types import BoolArray
from idealrank.errors import InputError
from idealrank.measures.measure import Measure
from idealrank.stats.comparison import Found, Plan, compare_columns
from idealrank.stats.design import Design
from idealrank.verdict.designs import restricted
from idealrank.verdict.table import Table

Side: TypeAlias = Literal["better", "worse", "undecided"]


def found_in_both(
    first: Table, second: Table, names: tuple[str, str], measures: Sequence[Measure], design: Design, plan: Plan
) -> list[Found]:
    """Every measure of two runs; measures that count the same queries are tested together, by the same signs.

    Parameters
    ----------
    first, second : Table
        Of runs a and b, a column for each measure.
    names, measures
        Of the runs, and of the columns.
    design : Design
        Of all queries.
    plan : Plan
        How to test.

    Raises
    ------
    InputError
        No query is scored in both.

    Examples
    --------
    >>> from idealrank.measures.parse import parse_measure
    >>> a, b = (Table(np.array([[0.0], [value], [1.0]]), np.array([[False], [True], [True]])) for value in (0.2, 0.4))
    >>> round(found_in_both(a, b, ("a", "b"), [parse_measure("AP")], Design.of(3), Plan(test="t"))[0].difference, 12)
    0.1
    """
    rows = found_within(first, second, np.ones(len(first.values), np.bool_), design, plan)
    for measure, row in zip(measures, rows, strict=True):
        if row is None:
            raise InputError(
                f"{measure}: no query is scored in both {names[0]} and {names[1]}; leave the measure out, "
                "or use a convention under which such queries count, as missing=zero and no_relevant=zero do"
            )
    return [row for row in rows if row is not None]


def found_within(first: Table, second: Table, within: BoolArray, design: Design, plan: Plan) -> list[Found | None]:
    """The same for some queries, where a measure may have none that counts.

    Parameters
    ----------
    first, second : Table
        Of runs a and b, a column for each measure.
    within : bool array, shape (n_queries,)
        The queries that are looked at.
    design : Design
        Of all queries.
    plan : Plan
        How to test.

    Returns
    -------
    list of Found or None
        One a measure; None where no query counts in both.

    Examples
    --------
    >>> one, two = (Table(np.array([[value], [np.nan]]), np.array([[True], [False]])) for value in (0.25, 0.5))
    >>> found_within(one, two, np.array([True, True]), Design.of(2), Plan())[0].difference
    0.25
    """
    patterns, of_measure = np.unique(first.counted & second.counted & within[:, None], axis=1, return_inverse=True)
    rows: list[Found | None] = [None] * first.values.shape[1]
    for number, kept in enumerate(patterns.T):
        columns = np.flatnonzero(of_measure.reshape(-1) == number)
        if not kept.any():
            continue
        block = np.ix_(kept, columns)
        found = compare_columns(first.values[block], second.values[block], restricted(design, kept), plan)
        for column, one in zip(columns.tolist(), found, strict=True):
            rows[column] = one
    return rows


def side_of(one: Found, direction: int, p: float, alpha: float) -> Side:
    """Whether b is better, worse, or cannot be told apart from a.

    Parameters
    ----------
    one : Found
        What the test found.
    direction : int
        1 where more is better, -1 where less is.
    p : float
        After the correction.
    alpha : float
        Up to which it decides.

    Examples
    --------
    >>> from idealrank.stats.comparison import compare_columns
    >>> one = compare_columns(np.zeros((6, 1)), np.ones((6, 1)), Design.of(6), Plan())[0]
    >>> side_of(one, 1, one.p, 0.05), side_of(one, -1, one.p, 0.05), side_of(one, 1, 2 * one.p, 0.05)
    ('better', 'worse', 'undecided')
    """
    # A test of ranks or signs may find what the means do not show: the side is that of its own statistic.
    if p > alpha or one.lean == 0:
        return "undecided"
    return "better" if one.lean * direction > 0 else "worse"
