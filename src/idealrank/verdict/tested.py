"""Two tables of values, tested measure by measure on the queries that count in both."""

from collections.abc import Sequence

import numpy as np

from idealrank.errors import InputError
from idealrank.measures.measure import Measure
from idealrank.stats.comparison import Found, Plan, compare_columns
from idealrank.stats.design import Design
from idealrank.verdict.designs import restricted
from idealrank.verdict.table import Table


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
    patterns, of_measure = np.unique(first.counted & second.counted, axis=1, return_inverse=True)
    rows: dict[int, Found] = {}
    for number, kept in enumerate(patterns.T):
        columns = np.flatnonzero(of_measure.reshape(-1) == number)
        if not kept.any():
            raise InputError(
                f"{measures[columns[0]]}: no query is scored in both {names[0]} and {names[1]}; leave the measure out, "
                "or use a convention under which such queries count, as missing=zero and no_relevant=zero do"
            )
        block = np.ix_(kept, columns)
        tested = compare_columns(first.values[block], second.values[block], restricted(design, kept), plan)
        rows |= dict(zip(columns.tolist(), tested, strict=True))
    return [rows[column] for column in range(len(measures))]
