"""Cost of an approximate index: documents of the exact ranking that it misses, and quality that is
lost with them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from idealrank.data.alignment import Alignment
from idealrank.data.run import Run
from idealrank.data.run_pairs import PairRules, RunPairs, join
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError, near_ids, shown
from idealrank.evaluation.evaluate import Evaluation
from idealrank.stats import Interval, difference_interval, mean_interval
from idealrank.stats.intervals import clopper_pearson

_LOW_TAIL = 0.05  # share of the queries below the percentile that is shown


@dataclass(frozen=True, kw_only=True)
class RecallSummary:
    """Recall at one cutoff over all queries.

    Attributes
    ----------
    cutoff : int
        Ranks that are compared.
    interval : Interval
        Mean over queries, with Student's interval.
    percentile_5 : float
        Recall of the query below which 5 % of the queries lie: the smallest value that at least 5 %
        of them do not exceed.
    n_complete : int
        Queries without a missed document.
    complete_interval : tuple of float
        Clopper-Pearson interval of the share of such queries, at the same level. It says how sure a
        recall of 1 is.

    Examples
    --------
    >>> import idealrank as ir
    >>> flat = {"p": ["a", "b"], "q": ["a", "b"]}
    >>> found = ir.index_recall(flat, {"p": ["a", "b"], "q": ["b", "c"]}, 2)
    >>> (
    ...     found.summary(2).interval.estimate,
    ...     found.summary(2).percentile_5,
    ...     found.summary(2).n_complete,
    ... )
    (0.75, 0.5, 1)
    """

    cutoff: int
    interval: Interval
    percentile_5: float
    n_complete: int
    complete_interval: tuple[float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class QueryLoss:
    """One query that loses by the approximate index.

    Attributes
    ----------
    query : str
        Id of the query.
    recall : mapping of int to float
        Recall by cutoff.
    missed : tuple of str
        Documents among the first of the exact run, at the largest cutoff, that the approximate run
        lacks there.
    lost : mapping of str to float
        Value of the exact run less that of the approximate run, by measure; empty without
        judgments.

    Examples
    --------
    >>> import idealrank as ir
    >>> found = ir.index_recall({"q": ["a", "b"]}, {"q": ["b", "c"]}, 2)
    >>> found.worst(1)[0].missed
    ('a',)
    """

    query: str
    recall: Mapping[int, float]
    missed: tuple[str, ...]
    lost: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class IndexRecall:
    """Recall of an approximate run against an exact one, per query, with the quality lost.

    Attributes
    ----------
    exact, approximate : str
        Names of the runs.
    queries : list of str
        Queries of the exact run.
    cutoffs : tuple of int
        Ranks that are compared, rising.
    values : float64 array, shape (n_queries, n_cutoffs)
        Recall, from 0 to 1. A query without an answer of the approximate run has 0.
    unanswered, only_approximate : list of str
        Queries that the approximate run does not answer, and queries that the exact run lacks,
        which count nowhere.
    level : float
        Confidence level of all intervals.
    losses : mapping of str to Interval
        Mean loss by measure: value of the exact run less that of the approximate run. Empty without
        judgments.
    evaluations : tuple of Evaluation
        Of the exact and of the approximate run; empty without judgments.

    Examples
    --------
    >>> import idealrank as ir
    >>> found = ir.index_recall(
    ...     {"q": ["a", "b"]},
    ...     {"q": ["b", "c"]},
    ...     2,
    ...     qrels={"q": {"a": 2, "b": 1}},
    ...     measures="nDCG@10",
    ... )
    >>> found.summary(2).interval.estimate, round(found.losses["nDCG@10"].estimate, 3)
    (0.5, 0.62)
    """

    exact: str
    approximate: str
    queries: list[str]
    cutoffs: tuple[int, ...]
    values: FloatArray
    unanswered: list[str]
    only_approximate: list[str]
    level: float
    runs: tuple[Run, Run]
    losses: Mapping[str, Interval] = field(default_factory=dict)
    evaluations: tuple[Evaluation, ...] = ()

    def summary(self, cutoff: int) -> RecallSummary:
        """Return the mean over queries at a cutoff, its interval, and the low tail."""
        values = self.values[:, self.cutoffs.index(cutoff)]
        complete = int(np.count_nonzero(values == 1))
        share = np.array([complete / values.size])
        low, high = clopper_pearson(share, np.array([float(values.size)]), self.level)
        tail = float(np.quantile(values, _LOW_TAIL, method="inverted_cdf"))
        interval = mean_interval(values, level=self.level)
        return RecallSummary(
            cutoff=cutoff,
            interval=interval,
            percentile_5=tail,
            n_complete=complete,
            complete_interval=(float(low[0]), float(high[0])),
        )

    def lost_per_query(self) -> dict[str, FloatArray]:
        """Return the loss of each query by measure, in the order of `queries`; NaN if a query has
        no value.
        """
        if not self.evaluations:
            return {}
        exact, approximate = (evaluation.on(self.queries) for evaluation in self.evaluations)
        differences = (exact.values - approximate.values).T
        return {
            str(measure): measure.direction * difference
            for measure, difference in zip(exact.measures, differences, strict=True)
        }

    def worst(self, number: int) -> list[QueryLoss]:
        """Return the queries that lose most: by the first measure with judgments, then by recall at
        the largest cutoff.
        """
        lost = self.lost_per_query()
        recall = self.values[:, -1]
        first = np.nan_to_num(next(iter(lost.values()), np.zeros(len(self.queries))), nan=0.0)
        order = np.lexsort((recall, -first))
        losing = [row for row in order.tolist() if recall[row] < 1 or first[row] > 0]
        return [self._loss(row, lost) for row in losing[:number]]

    def _loss(self, row: int, lost: Mapping[str, FloatArray]) -> QueryLoss:
        query = self.queries[row]
        depth = self.cutoffs[-1]
        in_order = Alignment(ties="input")
        top = self.runs[0].ranking(query, in_order, depth=depth).documents
        try:
            returned = set(self.runs[1].ranking(query, in_order, depth=depth).documents)
        except KeyError:
            returned = set()
        recall = {
            cutoff: float(value)
            for cutoff, value in zip(self.cutoffs, self.values[row], strict=True)
        }
        missed: tuple[str, ...] = ()
        if recall[depth] < 1:
            missed = tuple(document for document in top if document not in returned)
        return QueryLoss(
            query=query,
            recall=recall,
            missed=missed,
            lost={text: float(values[row]) for text, values in lost.items()},
        )

    def __repr__(self) -> str:
        means = ", ".join(
            f"{float(self.values[:, place].mean()):.4f} at {cutoff}"
            for place, cutoff in enumerate(self.cutoffs)
        )
        return (
            f"IndexRecall({self.approximate!r} against {self.exact!r}: {means}, "
            f"{len(self.queries)} queries)"
        )


def recall_at(pairs: RunPairs, cutoff: int) -> FloatArray:
    """Recall of the second run against the first at a cutoff, for the queries that both answer.

    Shared documents among the first k of both lists, divided by k, or by the length of the first
    list if that is shorter.
    """
    inside = (pairs.a.first <= cutoff) & (pairs.b.first <= cutoff)
    shared = np.bincount(pairs.query[inside], minlength=pairs.n_queries)
    n_exact = np.minimum(pairs.a.lengths, cutoff)
    # Tied documents share their first rank, so that more than k may lie within the cutoff.
    return np.minimum(shared, n_exact) / n_exact


def recall_of_runs(
    runs: tuple[Run, Run], cutoffs: Iterable[int], rules: PairRules, level: float
) -> IndexRecall:
    """Compare the first documents of an approximate run with an exact run, query by query."""
    requested = list(cutoffs)
    if not requested or any(type(ranks) is not int or ranks < 1 for ranks in requested):
        raise OptionError(
            f"cutoffs: found {shown(repr(requested))}, expected whole numbers of 1 or more"
        )
    ranks = tuple(sorted(set(requested)))
    exact, approximate = (run.in_memory() for run in runs)
    pairs = join(exact, approximate, rules)
    if not pairs.n_queries:
        example = next(iter(pairs.only_a), "")
        near = near_ids(example, list(pairs.only_b), 1)
        hint = ""
        if near:
            hint = f"query {example!r} of {exact.name} is most like {near[0]!r} of "
            hint += approximate.name
        raise InputError(
            f"{exact.name} and {approximate.name}: found no query in common, expected runs on "
            f"the same queries",
            hint=hint,
        )
    answered = list(pairs.queries)
    unanswered = list(pairs.only_a)
    values = np.zeros((len(answered) + len(unanswered), len(ranks)))
    for place, cutoff in enumerate(ranks):
        values[: len(answered), place] = recall_at(pairs, cutoff)
    queries = [*answered, *unanswered]
    return IndexRecall(
        exact=exact.name,
        approximate=approximate.name,
        queries=queries,
        cutoffs=ranks,
        values=values,
        unanswered=unanswered,
        only_approximate=list(pairs.only_b),
        level=level,
        runs=(exact, approximate),
    )


def losses_of(exact: Evaluation, approximate: Evaluation, level: float) -> dict[str, Interval]:
    """Mean loss of each measure on the queries that count in both evaluations, with Student's
    interval of the paired difference.
    """
    other = approximate.on(list(exact.queries))
    losses = {}
    for place, measure in enumerate(exact.measures):
        counted = exact.scored[:, place] & other.scored[:, place]
        exact_values = exact.values[counted, place]
        other_values = other.values[counted, place]
        if not counted.any():
            raise InputError(
                f"{measure}: found no query that counts in both runs, expected one or more"
            )
        if measure.direction > 0:
            interval = difference_interval(other_values, exact_values, level=level)
        else:
            interval = difference_interval(exact_values, other_values, level=level)
        losses[str(measure)] = interval
    return losses
