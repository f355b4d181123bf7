"""Values of runs corrected by a judge: queries that people labelled, and many more with the judge's labels alone."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import evaluate
from idealrank.judging.correction import CorrectedMean, Quantile, correct
from idealrank.measures.parse import MeasureLike, parse_measure


@dataclass(frozen=True)
class CorrectedRun:
    """Mean of a measure over queries, or of a difference of two runs, corrected by a judge.

    Attributes
    ----------
    run, against : str
        Names of the run, and of the one it is held against; empty for none.
    measure : str
        Text of the measure.
    found : CorrectedMean
        Estimate, interval and weight; a unit is a query.
    n_partly : int
        Documents of human-labelled queries that only the judge graded. They count as unjudged on the human's side: label whole queries.

    Examples
    --------
    >>> human = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"b": 1}}
    >>> judge = human | {"q4": {"a": 1}, "q5": {"a": 1}}
    >>> found = correct_run(human, judge, {query: ["a", "b"] for query in judge}, "RR")
    >>> found.found.n_labelled, found.found.n_judge_only
    (3, 2)
    """

    run: str
    against: str
    measure: str
    found: CorrectedMean
    n_partly: int

    @property
    def signs_differ(self) -> bool:
        """True if people alone and the judge alone disagree on the sign of a difference."""
        return bool(self.against) and self.found.human_estimate * self.found.judge_estimate < 0


def correct_run(
    human: "Qrels | Mapping[str, Mapping[str, float]]",
    judge: "Qrels | Mapping[str, Mapping[str, float]]",
    run: "Run | Mapping[str, object]",
    measure: MeasureLike = "nDCG@10",
    *,
    against: "Run | Mapping[str, object] | None" = None,
    convention: "Convention | str" = "standard",
    clusters: "Mapping[str, str] | None" = None,
    weight: float | None = None,
    confidence: float = 0.95,
    quantile: Quantile = "t",
) -> CorrectedRun:
    """Estimate the mean of a measure over all queries of a judge, corrected by the queries that people labelled.

    Any measure can be corrected so, since a query is the unit. The queries that people labelled must be a random sample of the judge's.

    Parameters
    ----------
    human : Qrels or mapping
        Judgments of some queries.
    judge : Qrels or mapping
        Judgments of these and more queries.
    run : Run or mapping
        The ranking.
    measure : Measure or str
        Measure.
    against : Run or mapping, optional
        Estimate the mean of `run` less this run, query by query.
    convention : Convention or str
        Convention.
    clusters : mapping of str to str, optional
        Cluster of each query, such as its user.
    weight, confidence, quantile
        As for `correct`.

    Raises
    ------
    InputError
        The judge lacks a query with human judgments, there are fewer than two such queries, or a query has no value.

    Examples
    --------
    >>> human = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"b": 1}}
    >>> judge = human | {"q4": {"a": 1}, "q5": {"b": 1}}
    >>> found = correct_run(human, judge, {query: ["a", "b"] for query in judge}, "RR", against={query: ["b", "a"] for query in judge})
    >>> round(found.found.estimate, 4), found.signs_differ
    (0.1173, False)
    """
    people, model = (one if isinstance(one, Qrels) else Qrels(one) for one in (human, judge))
    queries = list(people.queries)
    if len(queries) < 2:
        found_queries = f"judgments of {len(queries)} query" if queries else "no judgments"
        raise InputError(
            f"human: found {found_queries}, expected at least 2 queries, since the interval compares queries",
            hint="label documents of another query",
        )
    known = set(model.queries)
    missing = next((query for query in queries if query not in known), None)
    if missing is not None:
        raise InputError(f"judge, query {missing!r}: found no judgment, expected some for each query with human judgments")
    others = [query for query in model.queries if query not in set(queries)]
    first = run if isinstance(run, Run) else Run(run)  # type: ignore[arg-type]
    second = against if against is None or isinstance(against, Run) else Run(against)  # type: ignore[arg-type]
    values = [_values(qrels, first, second, measure, convention) for qrels in (people, model)]
    y, f, other = (
        np.array([table[query] for query in names]) for table, names in ((values[0], queries), (values[1], queries), (values[1], others))
    )
    labels = None
    if clusters is not None:
        absent = next((query for query in (*queries, *others) if query not in clusters), None)
        if absent is not None:
            raise InputError(f"clusters: found none for query {absent!r}, expected one for each query")
        labels = [clusters[query] for query in (*queries, *others)]
        if len(set(labels[: len(queries)])) < 2:
            raise InputError(
                f"clusters: found all {len(queries)} queries with human judgments in cluster {labels[0]!r}, expected at least two "
                "clusters, since the interval compares them"
            )
    found = correct(y, f, other, weight, labels, confidence=confidence, quantile=quantile)
    partly = sum(len(set(model[query]) - set(people[query])) for query in queries)
    return CorrectedRun(first.name, "" if second is None else second.name, str(parse_measure(measure)), found, partly)


def _values(qrels: Qrels, run: Run, against: Run | None, measure: MeasureLike, convention: "Convention | str") -> dict[str, float]:
    """Value of each judged query."""
    found = dict.fromkeys(qrels.queries, 0.0)
    for one, sign in ((run, 1.0), (against, -1.0)):
        if one is None:
            continue
        evaluation = evaluate(qrels, one, measure, convention)
        by_query = evaluation.per_query()
        for query in found:
            value = next(iter(by_query.get(query, {"": None}).values()))
            if value is None or math.isnan(value):
                raise InputError(
                    f"{one.name}, query {query!r}: found no value of {parse_measure(measure)}, expected one for each query; use a "
                    "convention under which such a query counts, such as standard"
                )
            found[query] += sign * value
    return found
