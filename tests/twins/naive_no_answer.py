"""Rates of queries without an answer by their definition: the run is cut at the threshold, and
evaluated as any other run.
"""

import math
from collections.abc import Mapping, Sequence

import idealrank as ir
from tests.golden.harness import quietly

Grades = Mapping[str, Mapping[str, float]]


def rates(
    qrels: Grades, run: Grades, declared: Sequence[str], cutoff: int, threshold: float
) -> tuple[float, float]:
    """Mean recall of queries with a relevant document, and share of the declared queries with a
    document left.
    """
    left = {
        query: {one: score for one, score in of.items() if score >= threshold}
        for query, of in run.items()
    }
    answerable = {
        query: of for query, of in qrels.items() if any(grade >= 1 for grade in of.values())
    }
    evaluation = quietly(
        ir.evaluate, answerable, {query: left.get(query, {}) for query in answerable}, f"R@{cutoff}"
    )
    recall = evaluation.mean()[f"R@{cutoff}"]
    assert recall is not None
    return recall, sum(bool(left.get(query)) for query in declared) / len(declared)


def best(
    qrels: Grades, run: Grades, declared: Sequence[str], cutoff: int, limit: float | None
) -> float:
    """The best threshold by trying every score, from infinity down."""
    scores = sorted({score for of in run.values() for score in of.values()}, reverse=True)
    found, worth = math.inf, -math.inf
    for threshold in (math.inf, *scores):
        recall, rate = rates(qrels, run, declared, cutoff, threshold)
        value = recall - rate if limit is None else recall if rate <= limit else -math.inf
        if value > worth + 1e-12:
            found, worth = threshold, value
    return found
