"""Bounds by their definition: every grade for every open document, and the evaluation of each
choice as if it had been judged.
"""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

import idealrank as ir
from idealrank.conventions import Convention
from tests.golden.harness import quietly

Grades = Mapping[str, float]
Scores = Mapping[str, float]


def open_documents(
    judged: Grades, runs: Sequence[Scores], convention: Convention, depth: int | None
) -> list[str]:
    """Documents without a grade that some run shows down to a rank, or ties with a document there,
    where ties have no order.
    """
    found: dict[str, None] = {}
    for run in runs:
        ranking = ir.Run({"q": dict(run)}).ranking("q", convention.alignment)
        loose = convention.alignment.ties in ("expected", "best", "worst")
        for rank, (document, first) in enumerate(
            zip(ranking.documents, ranking.first, strict=True), 1
        ):
            if document not in judged and (
                depth is None or (int(first) if loose else rank) <= depth
            ):
                found[document] = None
    return list(found)


def values(
    judged: Grades,
    runs: Sequence[Scores],
    measure: str,
    convention: Convention,
    scale: Sequence[float],
    depth: int | None,
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Value of each run at each choice, shape (n_choices, n_runs); NaN where the query does not
    count.
    """
    documents = open_documents(judged, runs, convention, depth)
    choices = [*itertools.product(scale, repeat=len(documents))]
    qrels = {
        f"{place:05d}": {**judged, **dict(zip(documents, choice, strict=True))}
        for place, choice in enumerate(choices)
    }
    found = []
    for run in runs:
        evaluation = quietly(ir.evaluate, qrels, dict.fromkeys(qrels, run), measure, convention)
        of = {query: next(iter(row.values())) for query, row in evaluation.per_query().items()}
        found.append([np.nan if of.get(query) is None else of[query] for query in qrels])
    return np.array(found).T
