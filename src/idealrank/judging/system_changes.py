"""Changes that another judge would make: order of systems, swaps at the top, and verdicts of
comparisons.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import FloatArray
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import evaluate
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.measures.tau_rho import tau
from idealrank.stats.paired_tests import paired_t


@dataclass(frozen=True, kw_only=True)
class VerdictChanges:
    """Verdicts on every pair of systems under two judges: paired t tests at one level, uncorrected.

    Attributes
    ----------
    n_pairs : int
        Pairs of systems.
    same : int
        The same verdict under both: the same system better, or no significant difference.
    lost, gained : int
        Significant under the first judge alone; significant under the second alone.
    reversed : int
        Significant under both, in opposite directions.
    alpha : float
        Level of each test.

    Examples
    --------
    >>> VerdictChanges(n_pairs=10, same=8, lost=1, gained=0, reversed=1, alpha=0.05).flips
    2
    """

    n_pairs: int
    same: int
    lost: int
    gained: int
    reversed: int
    alpha: float

    @property
    def flips(self) -> int:
        """Pairs of systems with another verdict."""
        return self.lost + self.gained + self.reversed


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemOrders:
    """Systems under the grades of a human and of a judge.

    Attributes
    ----------
    systems : tuple of str
        Names.
    measure : str
        Text of the measure.
    human, judge : float64 array, shape (systems,)
        Means over the same queries.
    per_query_human, per_query_judge : float64 array, shape (systems, queries)
        Values of each query.
    tau, tau_ap : float
        Kendall's tau-b of the means; tau_AP with the human's order as the truth, along the judge's.
        NaN for one system.
    swapped : int
        Pairs of systems that the two order differently.
    swapped_at_top : int
        Swapped pairs with one of the human's best systems: the best third, three at least.
    n_top : int
        Number of the human's best systems.
    best_human, best_judge : str
        Best system under each.
    verdicts : VerdictChanges
        Changes of significant differences.
    worth : float
        Median over pairs of systems of how many human-labelled queries the first query with the
        judge's grades replaces, for the difference of the two: the squared correlation of the
        differences, 0 where it is negative. NaN for one system.

    Examples
    --------
    >>> human = {"p": {"a": 1, "b": 0}, "q": {"a": 1, "b": 0}}
    >>> judge = {"p": {"a": 0, "b": 1}, "q": {"a": 1, "b": 0}}
    >>> orders = system_orders(
    ...     human, judge, {"s": {"p": ["a"], "q": ["a"]}, "t": {"p": ["b"], "q": ["a"]}}, "P@1"
    ... )
    >>> orders.human.tolist(), orders.judge.tolist()
    ([1.0, 0.5], [0.5, 1.0])
    >>> orders.tau, orders.swapped, orders.best_judge
    (-1.0, 1, 't')
    """

    systems: tuple[str, ...]
    measure: str
    human: FloatArray
    judge: FloatArray
    per_query_human: FloatArray
    per_query_judge: FloatArray
    tau: float
    tau_ap: float
    swapped: int
    swapped_at_top: int
    n_top: int
    best_human: str
    best_judge: str
    verdicts: VerdictChanges
    worth: float


def system_orders(
    human: "Qrels | Mapping[str, Mapping[str, float]]",
    judge: "Qrels | Mapping[str, Mapping[str, float]]",
    runs: "Mapping[str, Run | Mapping[str, object]]",
    measure: MeasureLike = "nDCG@10",
    *,
    convention: "Convention | str" = "standard",
    alpha: float = 0.05,
) -> SystemOrders:
    """Compare systems under two sets of judgments of the same queries.

    Tau alone does not answer whether disagreement matters: it counts swaps of systems that no test
    could tell apart, and misses verdicts.

    Parameters
    ----------
    human, judge : Qrels or mapping
        Judgments; a query that only one of them has, or that the convention leaves out of the
        measure, is left out.
    runs : mapping of str to Run or mapping
        Systems by name.
    measure : Measure or str
        Measure.
    convention : Convention or str
        Convention.
    alpha : float
        Level of the tests behind the verdicts.

    Raises
    ------
    InputError
        There is no run, or no query in common.

    References
    ----------
    Yilmaz, Aslam and Robertson (2008), A new rank correlation coefficient for information
    retrieval, SIGIR, for tau_AP.

    Examples
    --------
    >>> qrels = {"p": {"a": 1}, "q": {"b": 1}}
    >>> system_orders(qrels, qrels, {"s": {"p": ["a"]}, "t": {"q": ["x", "b"]}}, "RR").tau
    1.0
    """
    if not runs:
        raise InputError("runs: found none, expected at least one")
    of_human = _SystemValues.of(human, runs, measure, convention)
    of_judge = _SystemValues.of(judge, runs, measure, convention)
    judge_queries = set(of_judge.queries)
    common = [query for query in of_human.queries if query in judge_queries]
    if not common:
        raise InputError(
            "judge: found no query of the human judgments, expected at least one; are ids written "
            "alike?"
        )
    human_values = of_human.at(common)
    judge_values = of_judge.at(common)
    human_means = human_values.mean(axis=1)
    judge_means = judge_values.mean(axis=1)
    # The best system has the greatest of these, also where a lower value is better.
    direction = parse_measure(measure).direction or 1
    human_quality = direction * human_means
    judge_quality = direction * judge_means

    names = tuple(runs)
    swapped = []
    for a, b in combinations(range(len(names)), 2):
        human_difference = human_means[a] - human_means[b]
        judge_difference = judge_means[a] - judge_means[b]
        if human_difference * judge_difference < 0:
            swapped.append({a, b})
    n_top = min(max(3, len(names) // 3), len(names))
    top = set(np.argsort(-human_quality, kind="stable")[:n_top].tolist())
    one_group = np.zeros(len(names), np.int64)
    return SystemOrders(
        systems=names,
        measure=str(parse_measure(measure)),
        human=human_means,
        judge=judge_means,
        per_query_human=human_values,
        per_query_judge=judge_values,
        tau=float(tau(one_group, human_means, judge_means, 1, "b")[0]),
        tau_ap=tau_ap(human_quality, judge_quality),
        swapped=len(swapped),
        swapped_at_top=sum(not pair.isdisjoint(top) for pair in swapped),
        n_top=n_top,
        best_human=names[int(human_quality.argmax())],
        best_judge=names[int(judge_quality.argmax())],
        verdicts=verdict_changes(human_values, judge_values, alpha=alpha),
        worth=_worth(human_values, judge_values),
    )


class _SystemValues(NamedTuple):
    """Values of every run under the judgments of one judge."""

    queries: list[str]  # Queries that count for every run
    of_run: list[dict[str, float]]  # Values of each run by query

    @classmethod
    def of(
        cls,
        judgments: "Qrels | Mapping[str, Mapping[str, float]]",
        runs: "Mapping[str, Run | Mapping[str, object]]",
        measure: MeasureLike,
        convention: "Convention | str",
    ) -> "_SystemValues":
        qrels = judgments if isinstance(judgments, Qrels) else Qrels(judgments)
        of_run: list[dict[str, float]] = []
        for name, run in runs.items():
            system = run if isinstance(run, Run) else Run(run, name=name)  # type: ignore[arg-type]
            values = {}
            for query, cells in evaluate(qrels, system, measure, convention).per_query().items():
                value = next(iter(cells.values()))  # there is one measure
                if value is not None and not math.isnan(value):
                    values[query] = value
            of_run.append(values)
        counting = set(qrels.queries).intersection(*of_run)
        return cls([query for query in qrels.queries if query in counting], of_run)

    def at(self, queries: list[str]) -> FloatArray:
        # by run and query
        return np.array([[*map(values.get, queries)] for values in self.of_run], np.float64)


def tau_ap(truth: FloatArray, listed: FloatArray) -> float:
    """Compute tau_AP of the order of one column along the order of another: swaps near the top
    count more.
    """
    if truth.size < 2:
        return math.nan
    true_values = truth[np.argsort(-listed, kind="stable")]  # in the listed order
    shares = []
    for place in range(1, true_values.size):
        above = true_values[:place]
        value = true_values[place]
        # systems above each one that belong there; a tie counts half
        shares.append(((above > value).sum() + 0.5 * (above == value).sum()) / place)
    return float(2 * np.mean(shares) - 1)


def verdict_changes(
    first: FloatArray, second: FloatArray, *, alpha: float = 0.05
) -> VerdictChanges:
    """Compare the verdicts on every pair of systems under two judges, by values of shape (systems,
    queries).
    """
    first_verdicts = _verdicts(first, alpha)
    second_verdicts = _verdicts(second, alpha)
    n_pairs = first_verdicts.size
    same = int((first_verdicts == second_verdicts).sum())
    lost = int(((first_verdicts != 0) & (second_verdicts == 0)).sum())
    gained = int(((first_verdicts == 0) & (second_verdicts != 0)).sum())
    return VerdictChanges(
        n_pairs=n_pairs,
        same=same,
        lost=lost,
        gained=gained,
        reversed=n_pairs - same - lost - gained,
        alpha=alpha,
    )


def _verdicts(table: FloatArray, alpha: float) -> FloatArray:
    """Return the verdict on each pair of systems: 1 where the second is significantly better, -1
    where the first is, 0 where neither.
    """
    first, second = np.triu_indices(table.shape[0], 1)
    if table.shape[1] < 2 or not first.size:
        return np.zeros(first.size)
    a = table[first].T
    b = table[second].T
    return np.where(np.asarray(paired_t(a, b).p) <= alpha, np.sign((b - a).mean(axis=0)), 0.0)


def _worth(human_values: FloatArray, judge_values: FloatArray) -> float:
    """Return the median over pairs of systems of the squared correlation of differences; 0 where
    the correlation is negative or undefined.
    """
    shares = []
    for a, b in combinations(range(human_values.shape[0]), 2):
        human = human_values[a] - human_values[b]
        judge = judge_values[a] - judge_values[b]
        spread = human.std() * judge.std()
        r = 0.0
        if spread > 0:
            r = float(((human - human.mean()) * (judge - judge.mean())).mean() / spread)
        shares.append(max(r, 0.0) ** 2)
    return float(np.median(shares)) if shares else math.nan
