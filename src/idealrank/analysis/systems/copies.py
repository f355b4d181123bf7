"""Several runs of one system: copies of other seeds, which answer the same queries, or folds, which share them out."""

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, TypeAlias

from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation

Relation: TypeAlias = Literal["copies", "folds"]

# A copy may lack some queries that the others answer: a failed request, an empty answer.
_MOST = 0.9


def answered(evaluation: Evaluation) -> frozenset[str]:
    """Judged queries that the run answers.

    Examples
    --------
    >>> import idealrank as ir
    >>> sorted(answered(ir.evaluate({"p": {"x": 1}, "q": {"x": 1}}, {"q": ["x"]}, "RR")))
    ['q']
    """
    return frozenset(evaluation.queries) - frozenset(evaluation.coverage.missing_queries)


def relation_of(evaluations: Sequence[Evaluation]) -> Relation:
    """Classify runs as copies of one system, which answer the same queries, or as folds of one copy, which divide them.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Of runs of one system, against the same judgments.

    Returns
    -------
    {"copies", "folds"}
        Copies answer nine in ten of all their queries, each; of folds no two answer the same query.

    Raises
    ------
    InputError
        Neither: which training a value comes from could then depend on the query.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {"p": {"x": 1}, "q": {"x": 1}}
    >>> relation_of([ir.evaluate(qrels, {query: ["x"]}, "RR") for query in qrels])
    'folds'
    """
    queries = [answered(evaluation) for evaluation in evaluations]
    union = frozenset().union(*queries)
    if all(len(own) >= _MOST * len(union) for own in queries):
        return "copies"
    shared = next((pair for pair in combinations(range(len(queries)), 2) if queries[pair[0]] & queries[pair[1]]), None)
    if shared is None:
        return "folds"
    first, second = (evaluations[place].name for place in shared)
    common = len(queries[shared[0]] & queries[shared[1]])
    fewest = min(range(len(queries)), key=lambda place: len(queries[place]))
    raise InputError(
        f"{first} and {second} share {common} queries, and {evaluations[fewest].name} answers {len(queries[fewest])} of the {len(union)} "
        "that the runs of its system answer together; expected the same queries in every run (other seeds), or no query in two runs "
        "(each from the fold in which it was held out)"
    )
