"""Values of runs corrected by a judge: queries that people labelled, and many more with the judge's
labels alone.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import FloatArray
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import evaluate
from idealrank.judging.correction import (
    CorrectedMean,
    CorrectionOptions,
    Quantile,
    Tuning,
    correct_together,
)
from idealrank.measures.parse import MeasureLike, parse_measure


@dataclass(frozen=True, kw_only=True)
class CorrectedRun:
    """Mean of a measure over queries, or of a difference of two runs, corrected by a judge.

    Attributes
    ----------
    run, against : str
        Names of the run, and of the run that it is compared with; empty for none.
    measure : str
        Text of the measure.
    found : CorrectedMean
        Estimate, interval and weight; a unit is a query.
    n_partly : int
        Documents of human-labelled queries that only the judge graded. They count as unjudged on
        the human's side: label whole queries.
    sides : tuple of CorrectedRun
        Both runs of a difference, `against` first, corrected by the weight of the difference: the
        difference of their estimates is its estimate. Empty for a single run.

    Examples
    --------
    >>> human = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"b": 1}}
    >>> judge = human | {"q4": {"a": 1}, "q5": {"a": 1}}
    >>> corrected = correct_run(human, judge, {query: ["a", "b"] for query in judge}, "RR")
    >>> corrected.found.n_labelled, corrected.found.n_judge_only
    (3, 2)
    """

    run: str
    against: str
    measure: str
    found: CorrectedMean
    n_partly: int
    sides: "tuple[CorrectedRun, ...]" = ()

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
    tuning: Tuning = "left-out",
    largest_error: float | None = None,
    confidence: float = 0.95,
    quantile: Quantile = "t",
) -> CorrectedRun:
    """Estimate the mean of a measure over all queries of a judge, corrected by the queries that
    people labelled.

    Any measure can be corrected so, since a query is the unit. The queries that people labelled
    must be a random sample of the judge's. For two runs, one weight of the judge is tuned for their
    difference, and corrects both runs, too.

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
    weight, tuning, largest_error, confidence, quantile
        As for `correct`; the largest error is in units of the measure, on one query.

    Raises
    ------
    InputError
        The judge lacks a query with human judgments, there are fewer than two such queries, or a
        query has no value.

    Examples
    --------
    >>> human = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"b": 1}}
    >>> judge = human | {"q4": {"a": 1}, "q5": {"b": 1}}
    >>> corrected = correct_run(
    ...     human,
    ...     judge,
    ...     {query: ["a", "b"] for query in judge},
    ...     "RR",
    ...     against={query: ["b", "a"] for query in judge},
    ... )
    >>> round(corrected.found.estimate, 4), corrected.signs_differ
    (0.1667, False)
    """
    people = human if isinstance(human, Qrels) else Qrels(human)
    model = judge if isinstance(judge, Qrels) else Qrels(judge)
    labelled = list(people.queries)
    _check_labelled(labelled, model)
    labelled_set = set(labelled)
    others = [query for query in model.queries if query not in labelled_set]

    def units_of(side: Run) -> _Units:
        return _Units.of(
            side,
            people=people,
            model=model,
            others=others,
            measure=measure,
            convention=convention,
        )

    scored_run = run if isinstance(run, Run) else Run(run)  # type: ignore[arg-type]
    units = units_of(scored_run)
    cluster_labels = None if clusters is None else _cluster_labels(clusters, labelled, others)
    options = CorrectionOptions(
        weight=weight,
        tuning=tuning,
        largest_error=largest_error,
        confidence=confidence,
        quantile=quantile,
    )
    n_partly = sum(len(set(model[query]) - set(people[query])) for query in labelled)
    name = str(parse_measure(measure))

    def corrected_run(side: Run, mean: CorrectedMean) -> CorrectedRun:
        return CorrectedRun(run=side.name, against="", measure=name, found=mean, n_partly=n_partly)

    if against is None:
        (mean,) = correct_together([units], cluster_labels, options)
        return corrected_run(scored_run, mean)
    base_run = against if isinstance(against, Run) else Run(against)  # type: ignore[arg-type]
    base_units = units_of(base_run)
    difference, base_mean, mean = correct_together(
        [units.less(base_units), base_units, units], cluster_labels, options
    )
    return CorrectedRun(
        run=scored_run.name,
        against=base_run.name,
        measure=name,
        found=difference,
        n_partly=n_partly,
        sides=(corrected_run(base_run, base_mean), corrected_run(scored_run, mean)),
    )


def _check_labelled(labelled: list[str], model: Qrels) -> None:
    if len(labelled) < 2:
        found_queries = f"judgments of {len(labelled)} query" if labelled else "no judgments"
        raise InputError(
            f"human: found {found_queries}, expected at least 2 queries, since the interval "
            f"compares queries",
            hint="label documents of another query",
        )
    judged = set(model.queries)
    missing = next((query for query in labelled if query not in judged), None)
    if missing is not None:
        raise InputError(
            f"judge, query {missing!r}: found no judgment, expected some for each query with human "
            "judgments"
        )


def _cluster_labels(
    clusters: Mapping[str, str], labelled: list[str], others: list[str]
) -> list[str]:
    """Return the cluster of each query, the labelled ones first."""
    absent = next((query for query in (*labelled, *others) if query not in clusters), None)
    if absent is not None:
        raise InputError(f"clusters: found none for query {absent!r}, expected one for each query")
    labels = [clusters[query] for query in (*labelled, *others)]
    if len(set(labels[: len(labelled)])) < 2:
        raise InputError(
            f"clusters: found all {len(labelled)} queries with human judgments in cluster "
            f"{labels[0]!r}, expected at least two clusters, since the interval compares them"
        )
    return labels


class _Units(NamedTuple):
    """Values of a run, a unit being a query."""

    human: FloatArray  # human values of the labelled queries
    judge: FloatArray  # the judge's values of these
    judge_only: FloatArray  # the judge's values of the other queries

    @classmethod
    def of(
        cls,
        run: Run,
        *,
        people: Qrels,
        model: Qrels,
        others: list[str],
        measure: MeasureLike,
        convention: "Convention | str",
    ) -> "_Units":
        human = _values(people, run, measure, convention)
        judge = _values(model, run, measure, convention)
        return cls(
            human=np.array([human[query] for query in people.queries]),
            judge=np.array([judge[query] for query in people.queries]),
            judge_only=np.array([judge[query] for query in others]),
        )

    def less(self, base: "_Units") -> "_Units":
        return _Units(
            human=self.human - base.human,
            judge=self.judge - base.judge,
            judge_only=self.judge_only - base.judge_only,
        )


def _values(
    qrels: Qrels, run: Run, measure: MeasureLike, convention: "Convention | str"
) -> dict[str, float]:
    """Return the value of each judged query."""
    by_query = evaluate(qrels, run, measure, convention).per_query()
    values = {}
    for query in qrels.queries:
        # there is one measure; a query that the convention leaves out has no row
        value = next(iter(by_query.get(query, {"": None}).values()))
        if value is None or math.isnan(value):
            raise InputError(
                f"{run.name}, query {query!r}: found no value of {parse_measure(measure)}, "
                "expected one for each query; use a convention under which such a query counts, "
                "such as standard"
            )
        values[query] = value
    return values
