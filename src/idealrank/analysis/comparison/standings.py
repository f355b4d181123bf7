"""Runs in one order: the mean of each with its interval, and groups of runs that a comparison
cannot tell apart.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from idealrank.analysis.comparison.query_table import (
    QueryTable,
    design_by_query,
    restricted,
    warn_of_weights,
)
from idealrank.evaluation.evaluate import Evaluation
from idealrank.stats.design import Design
from idealrank.stats.intervals import mean_interval


@dataclass(frozen=True)
class RunMean:
    """The mean of one run by one measure.

    Attributes
    ----------
    mean : float
        Over the `n` queries on which the run is scored, weighted where weights were given.
    interval : tuple of float
        Student's, of this mean alone; infinite for one query. Two such intervals do not say whether
        two runs differ: their difference on the same queries has an interval of its own.
    n : int
        Number of queries.

    Examples
    --------
    >>> import idealrank as ir
    >>> run = ir.evaluate({"p": {"x": 1}, "q": {"x": 1}}, {"p": ["x"], "q": ["y", "x"]}, "RR")
    >>> ir.compare(run, run).means["RR"]["run"].mean
    0.75
    """

    mean: float
    interval: tuple[float, float]
    n: int


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Groups of runs that one measure cannot distinguish; see `Comparison.groups`.

    Attributes
    ----------
    measure : str
        Text of the measure.
    letters : mapping of str to str
        The letters of each run, such as ``ab``, the run with the best mean first. Two runs share a
        letter if and only if their difference is not significant after correction; p alone counts,
        whether or not the judgments reach.
    members : tuple of tuple of str
        Runs that carry the first letter, the second, ...; the best first.
    top : tuple of str
        Runs that do not differ from the one with the best mean, that one first.
    better_than : mapping of str to tuple of str
        By run, those that it is better than by the verdicts of their pairs, which the judgments
        must carry; the best first.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(9)}
    >>> bad, good = (
    ...     ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR")
    ...     for ranking in (["y", "x"], ["x", "y"])
    ... )
    >>> print(ir.compare(bad, good, good, bad).groups("RR"))
    RR, top group: run (2), run (3)
    a: run (2), run (3)
    b: run, run (4)
    """

    measure: str
    letters: Mapping[str, str]
    members: tuple[tuple[str, ...], ...]
    top: tuple[str, ...]
    better_than: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        from idealrank.stats.compact_letters import sign_of  # noqa: PLC0415  (two runs have no letters)

        groups = (
            f"{sign_of(number)}: {', '.join(group)}" for number, group in enumerate(self.members)
        )
        return "\n".join([f"{self.measure}, top group: {', '.join(self.top)}", *groups])

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record."""
        better = {run: list(others) for run, others in self.better_than.items()}
        return {"letters": dict(self.letters), "top": list(self.top), "better_than": better}


def groups_of(
    measure: str,
    means: Mapping[str, float],
    differing: Iterable[tuple[str, str]],
    direction: int,
    verdicts: Iterable[tuple[str, str, str]] = (),
) -> Groups:
    """Groups from the pairs that differ; verdicts are triples of a, b and the verdict on b."""
    from idealrank.stats.compact_letters import letters  # noqa: PLC0415  (two runs have no letters)

    names = list(means)
    number_of = {name: number for number, name in enumerate(names)}
    differs = np.zeros((len(names), len(names)), np.bool_)
    for a, b in differing:
        differs[number_of[a], number_of[b]] = differs[number_of[b], number_of[a]] = True
    upward_means = np.array([means[name] for name in names]) * direction
    grouping = letters(differs, upward_means)
    order = [names[number] for number in np.argsort(-upward_means, kind="stable").tolist()]
    better = set()  # pairs of the better and the worse run
    for a, b, verdict in verdicts:
        if verdict == "better":
            better.add((b, a))
        elif verdict == "worse":
            better.add((a, b))
    better_than = {run: tuple(other for other in order if (run, other) in better) for run in order}
    return Groups(
        measure=measure,
        letters={run: grouping.texts[number_of[run]] for run in order},
        members=tuple(tuple(names[number] for number in group) for group in grouping.groups),
        top=tuple(names[number] for number in grouping.top),
        better_than=better_than,
    )


def intervals(
    evaluation: Evaluation,
    *,
    level: float = 0.95,
    weights: Mapping[str, float] | None = None,
    clusters: Mapping[str, object] | None = None,
) -> dict[str, RunMean]:
    """Compute Student's interval of the mean of each measure.

    Parameters
    ----------
    evaluation : Evaluation
        Evaluation of one run.
    level : float
        Confidence level, between 0 and 1.
    weights : mapping of query to float, optional
        Weight of each query, such as its traffic.
    clusters : mapping of query to label, optional
        Cluster of each query (user, session, topic): queries of one cluster are not independent.

    Returns
    -------
    dict of str to RunMean
        Mean with interval, by the text of the measure. Measures that are not averaged have none:
        counts, geometric means, texts.

    Raises
    ------
    InputError
        A query has no weight or cluster.
    OptionError
        The level is not between 0 and 1.

    Notes
    -----
    `stats.mean_interval` documents the method and its coverage on values like nDCG. Overlapping
    intervals of two runs do not show that the runs are equal; `compare` tests the differences on
    the same queries.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels, run = (
    ...     {q: {"x": 1} for q in "abcd"},
    ...     {"a": ["x"], "b": ["y", "x"], "c": ["x"], "d": ["y", "z", "x"]},
    ... )
    >>> found = intervals(ir.evaluate(qrels, run, "RR"))["RR"]
    >>> round(found.mean, 4), [round(end, 4) for end in found.interval], found.n
    (0.7083, [0.1616, 1.2551], 4)
    """
    design = design_by_query(list(evaluation.queries), weights, clusters)
    warn_of_weights(design)
    return intervals_under(design, evaluation, level)


def intervals_under(design: Design, evaluation: Evaluation, level: float) -> dict[str, RunMean]:
    """`intervals` under a design of the evaluation's queries."""
    averaged = [measure for measure in evaluation.measures if measure.aggregate == "mean"]
    table = QueryTable.of(evaluation, averaged, list(evaluation.queries))
    means = evaluation.mean()
    by_measure = {}
    for column, measure in enumerate(averaged):
        kept = table.counted[:, column]
        if not kept.any():
            by_measure[str(measure)] = RunMean(math.nan, (math.nan, math.nan), 0)
            continue
        interval = mean_interval(
            table.values[kept, column], level=level, design=restricted(design, np.asarray(kept))
        )
        # Without weights the mean is that of the evaluation, to the last bit.
        mean = (
            float(interval.estimate) if design.weights is not None else float(means[str(measure)])
        )
        by_measure[str(measure)] = RunMean(
            mean, (float(interval.low), float(interval.high)), int(kept.sum())
        )
    return by_measure
