"""Values of small tables and of the same lists as arrays, without warnings about the convention."""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.lists import Lists
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import IdealrankWarning
from idealrank.evaluation.evaluate import Evaluation, evaluate, evaluate_lists
from idealrank.measures.measure import Measure
from idealrank.testing.strategies import Grades, Scores

TOLERANCE = 1e-9
Values = dict[str, dict[str, float | None]]  # by query and measure; None if the query is left out


def evaluated(
    measures: "Measure | Iterable[Measure]",
    qrels: Grades,
    run: Scores,
    convention: Convention,
) -> Evaluation:
    """The evaluation, without warnings about what the convention does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdealrankWarning)
        return evaluate(Qrels(qrels), Run(run), measures, convention, threads=1)


def evaluated_as_arrays(
    measure: Measure,
    qrels: Grades,
    run: Scores,
    convention: Convention,
) -> Values:
    """Return the values by query of arrays, with a label for each document of the run."""
    labels: list[float] = []
    scores: list[float] = []
    for query, ranking in run.items():
        labels.extend(qrels[query][document] for document in ranking)
        scores.extend(ranking.values())
    sizes = [len(ranking) for ranking in run.values()]
    lists = Lists.from_arrays(np.array(labels), np.array(scores), group=sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdealrankWarning)
        values = evaluate_lists(lists, measure, convention).per_query()
    return dict(zip(run, values.values(), strict=True))


def expected_of_arrays(
    measure: Measure,
    qrels: Grades,
    run: Scores,
    convention: Convention,
) -> Values:
    """Return the values that arrays must have: values of tables, with one documented exception.

    If a measure compares relevant documents with others, tables leave out a query whose documents
    are all relevant. Arrays keep the value of `no_relevant`, as for a list without any of them.
    """
    values = evaluated(measure, qrels, run, convention).per_query()
    if measure.compares != "relevance":
        return values
    without_relevant = {query: dict.fromkeys(grades, 0.0) for query, grades in qrels.items()}
    undefined = evaluated_as_arrays(measure, without_relevant, run, convention)
    for query, grades in qrels.items():
        is_left_out = None in values[query].values()
        worth = measure.worth(np.array(list(grades.values())))
        if is_left_out and worth is not None and (worth > 0).all():
            values[query] = undefined[query]
    return values


def first_difference(
    usual: Mapping[str, Mapping[str, Any]],
    others: Mapping[str, Mapping[str, Any]],
    when: str,
) -> str:
    """Name the first query whose value differs; empty if none does."""
    for query, values in usual.items():
        value, other = (next(iter(row.values())) for row in (values, others[query]))
        same = value is other or (
            value is not None
            and other is not None
            and (abs(value - other) <= TOLERANCE or repr(value) == repr(other))
        )
        if not same:
            return f"query {query!r} has {value}, and {other} {when}"
    return ""
