"""Order in which documents are labelled: what each strategy expects of the label of each unjudged
document of two runs.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from idealrank.bounds.value_bounds import AnyQrels, AnyRun, as_qrels, as_run
from idealrank.conventions import Convention
from idealrank.data.interchange import finite
from idealrank.data.label_kinds import LabelKind
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.judging.label_frontier import Frontier, Sight
from idealrank.judging.label_states import UNLISTED, DifferenceStates, StateBounds
from idealrank.judging.label_stops import LabelStop, VerdictLike
from idealrank.measures.measure import Measure, number_option
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.stats.sequential_betting import SequentialSign, sequential_sign
from idealrank.stats.special import ndtr

Strategy: TypeAlias = Literal[
    "bounds", "change", "uncertainty", "move-to-front", "depth", "random", "queries"
]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
_DEPTH = 100  # ranks pooled of a measure without a cutoff
_BUDGET = 50  # documents chosen where no number is given or estimated


@dataclass(frozen=True, kw_only=True)
class LabelOrder:
    """A strategy: the worth of the label of each open document, and the reason in words."""

    # Takes a frontier; returns the worth of every pooled document's label, shape (n_documents,).
    # Only open documents count.
    worth: Callable[[Frontier], FloatArray]
    # Takes a frontier, a document and its worth; returns the reason
    reason: Callable[[Frontier, int, float], str]
    sight: Sight = "labels"  # Part of the frontier that it needs; see `Frontier`
    fixed: bool = False  # True if no label changes the order


def _weights(frontier: Frontier) -> FloatArray:
    """Return the probability of each grade of each pooled document."""
    return frontier.model().at(frontier.pool.best_rank)


def _chance_of_b(frontier: Frontier, weights: FloatArray) -> float:
    """Return the probability that B has the higher mean when every document is judged: normal, with
    independent grades.
    """
    change = (frontier.if_value - frontier.value[frontier.pool.query][:, None])[frontier.is_open]
    weight = weights[frontier.is_open]
    mean = (change * weight).sum(axis=1)
    variance = float(((change**2 * weight).sum(axis=1) - mean**2).sum())
    expected = float(frontier.value.sum() + mean.sum())
    return float(ndtr(expected / math.sqrt(variance))) if variance > 0 else float(expected > 0)


def _narrowing(frontier: Frontier) -> FloatArray:
    """Return the expected rise of the lower bound and fall of the upper one, each by the chance
    that its run is better.
    """
    query = frontier.pool.query
    weights = _weights(frontier)
    chance = _chance_of_b(frontier, weights)
    rise = frontier.if_low - frontier.low[query][:, None]
    fall = frontier.high[query][:, None] - frontier.if_high
    gain = chance * rise + (1 - chance) * fall
    return np.asarray((gain * weights).sum(axis=1) / frontier.n_queries)


def _change(frontier: Frontier) -> FloatArray:
    change = np.abs(frontier.if_value - frontier.value[frontier.pool.query][:, None])
    return np.asarray((change * _weights(frontier)).sum(axis=1) / frontier.n_queries)


def _relevance(frontier: Frontier) -> FloatArray:
    return np.asarray(1 - _weights(frontier)[:, 0])


def _uncertainty(frontier: Frontier) -> FloatArray:
    return np.asarray(0.5 - np.abs(_relevance(frontier) - 0.5))


def _misses(frontier: Frontier) -> FloatArray:
    """Count the documents above each document, since the last relevant one, that are not relevant
    or not judged; the count is negative.

    The lists of both runs count. While no document has a label, this is the order of depth.
    """
    pool = frontier.pool
    worth = np.full(len(pool), -np.inf)
    for rows in pool.listed:
        if not rows.size:
            continue
        place = np.arange(rows.size)
        query = pool.query[rows]
        # Place of the last relevant document above each place; the lists of all queries are in one
        # array, so that it stops at the place before the first of its own query.
        begins = np.searchsorted(query, query)
        relevant_place = np.where(frontier.given[rows] > 0, place, -1)
        above = np.concatenate(([-1], np.maximum.accumulate(relevant_place)[:-1]))
        last_relevant = np.maximum(above, begins - 1)
        worth[rows] = np.maximum(worth[rows], last_relevant + 1 - place)
    return worth


def _depth(frontier: Frontier) -> FloatArray:
    return -frontier.pool.best_rank.astype(np.float64)


def random_number(seed: int, *names: str) -> float:
    """Return a number in [0, 1) that looks random and is the same whatever other documents and
    queries there are.

    An order by these numbers stays as it is while labels, documents and queries are added.
    """
    text = "\0".join((str(seed), *names)).encode("utf-8", "surrogateescape")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") / 2**64


def query_numbers(query_ids: Sequence[str], seed: int) -> FloatArray:
    """Return the random number of each query, shape (n_queries,): strategy ``queries`` takes
    queries by falling numbers.
    """
    return np.array([random_number(seed, query) for query in query_ids], np.float64)


def _numbers(frontier: Frontier, *, by_query: bool) -> FloatArray:
    """Return the random number of each pooled document, or of its query."""
    pool = frontier.pool
    if by_query:
        return query_numbers(pool.query_ids, frontier.seed)[pool.query]
    numbers = [
        random_number(frontier.seed, pool.query_ids[int(code)], document)
        for code, document in zip(pool.query.tolist(), pool.documents, strict=True)
    ]
    return np.array(numbers, np.float64)


def _place_text(frontier: Frontier, document: int) -> str:
    pool = frontier.pool
    ranks = (int(pool.rank_a[document]), int(pool.rank_b[document]))
    places = zip(frontier.states.names, ranks, strict=True)
    return " and ".join(f"rank {rank} of {run}" for run, rank in places if rank != UNLISTED)


_ORDERS: dict[Strategy, LabelOrder] = {
    "bounds": LabelOrder(
        worth=_narrowing,
        reason=lambda _, __, worth: f"moves a bound by {max(worth, 0):.4f}",
        sight="bounds",
    ),
    "change": LabelOrder(
        worth=_change,
        reason=lambda _, __, worth: f"changes the difference by {worth:.4f}",
        sight="values",
    ),
    "uncertainty": LabelOrder(
        worth=_uncertainty,
        reason=lambda frontier, document, _: (
            f"relevant with probability {_relevance(frontier)[document]:.2f}"
        ),
    ),
    "move-to-front": LabelOrder(
        worth=_misses,
        reason=lambda _, __, worth: f"{abs(worth):.0f} above it since the last relevant document",
    ),
    "depth": LabelOrder(
        worth=_depth,
        reason=lambda frontier, document, _: _place_text(frontier, document),
        fixed=True,
    ),
    "random": LabelOrder(
        worth=lambda frontier: _numbers(frontier, by_query=False),
        reason=lambda _, __, ___: "in random order",
        fixed=True,
    ),
    "queries": LabelOrder(
        worth=lambda frontier: _numbers(frontier, by_query=True),
        reason=lambda _, __, ___: "next query in random order",
        fixed=True,
    ),
}


def order_of(strategy: str) -> LabelOrder:
    """Return a strategy by its name."""
    order = _ORDERS.get(strategy)  # type: ignore[call-overload]
    if order is None:
        raise OptionError(f"strategy={strategy!r}: expected one of {', '.join(STRATEGIES)}")
    return order  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class NextLabel:
    """One document to label.

    Attributes
    ----------
    priority : int
        1 is the first to label.
    query, document : str
        Ids.
    rank_a, rank_b : int or None
        Rank in each run; None if the run does not return the document.
    worth : float
        Worth of the label by the strategy; see `next_labels`.
    reason : str
        The worth in words.
    """

    priority: int
    query: str
    document: str
    rank_a: int | None
    rank_b: int | None
    worth: float
    reason: str


@dataclass(frozen=True, kw_only=True, eq=False)
class NextLabels:
    """Documents to label next, so that the comparison of two runs is settled soon; see
    `next_labels`.

    Attributes
    ----------
    measure, a, b : str
        Text of the measure, and names of the runs; differences are b - a.
    strategy : str
        Strategy of the order.
    depth : int
        Deepest rank pooled.
    max_grade : float
        Highest grade of a label.
    convention : Convention
        Convention of alignment and measure.
    labels : tuple of NextLabel
        Documents to label, by priority.
    n_queries, n_pooled, n_open : int
        Queries compared, pooled documents, and pooled documents without a label.
    low, value, high : float
        Mean difference: lowest, as judged, highest, over all grades of the open documents.
    settled : bool
        Whether no grades of the open documents can change its sign.
    test : SequentialSign or None
        Sequential test over the queries that are judged in full, with strategy ``queries``.
    label_kind : {"complete", "pooled", "positive-only"} or None
        Kind of the labels so far.
    stop : LabelStop or None
        Verdict that ends the labelling; None where the bounds of the sign do.
    """

    measure: str
    a: str
    b: str
    strategy: str
    depth: int
    max_grade: float
    convention: Convention
    labels: tuple[NextLabel, ...]
    n_queries: int
    n_pooled: int
    n_open: int
    low: float
    value: float
    high: float
    settled: bool
    test: SequentialSign | None = None
    label_kind: LabelKind | None = None
    stop: LabelStop | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record."""
        return {
            "a": self.a,
            "b": self.b,
            "measure": self.measure,
            "strategy": self.strategy,
            "depth": self.depth,
            "max_grade": self.max_grade,
            "n_queries": self.n_queries,
            "n_pooled": self.n_pooled,
            "n_open": self.n_open,
            "low": finite(self.low),
            "value": finite(self.value),
            "high": finite(self.high),
            "settled": self.settled,
            "label_kind": self.label_kind,
            "stop": None if self.stop is None else self.stop.as_dict(),
            "test": None if self.test is None else self.test.as_dict(),
            "labels": [asdict(label) for label in self.labels],
        }


def next_labels(
    qrels: AnyQrels,
    run_a: AnyRun,
    run_b: AnyRun,
    measure: MeasureLike = "nDCG@10",
    *,
    budget: int | None = None,
    strategy: Strategy | None = None,
    depth: int | None = None,
    max_grade: float | None = None,
    queries: Sequence[str] | None = None,
    convention: "Convention | str" = "standard",
    alpha: float = 0.05,
    seed: int = 0,
    until: VerdictLike | None = None,
) -> NextLabels:
    """Choose the documents to label next, so that the comparison of two runs is settled after few
    labels.

    Parameters
    ----------
    qrels : Qrels or mapping
        What was judged.
    run_a, run_b : Run or mapping
        The runs compared.
    measure : measure or str
        The measure.
    budget : int, optional
        Number of documents to choose, at least 1. Default: the estimate of `until`, or 50.
    strategy : str, optional
        Order of the documents, by default ``bounds``, and ``change`` with `until`:

        * ``bounds``: largest expected move of the bounds of the mean difference towards 0: rise of
          the lower bound by the probability that B is better, fall of the upper bound by the
          probability that A is. A rule of our own, in the line of Carterette and others (2006);
        * ``change``: largest expected absolute change of the mean difference; after Carterette and
          others (2006), whose algorithm looks for the documents with the largest effect on a
          difference of average precision;
        * ``uncertainty``: probability of relevance nearest to one half: uncertainty sampling (Lewis
          and Gale 1994);
        * ``move-to-front``: fewest documents above it in either run since the last relevant one
          (Cormack and others 1998);
        * ``depth``: best rank in either run, as a pool is judged that grows rank by rank (Sparck
          Jones and van Rijsbergen 1975);
        * ``random``: documents in random order;
        * ``queries``: all documents of a query, queries in random order. A sequential test may then
          stop early; see `SequentialSign`.
    depth : int, optional
        Deepest rank to label in either run. Default: the measure's cutoff, or 100.
    max_grade : float, optional
        Highest grade of the scale. Default: the highest grade judged, at least 1.
    queries : sequence of str, optional
        Queries compared. Default: the queries in the judgments.
    convention : Convention or str
        Convention of alignment and measure.
    alpha : float
        Error rate of the sequential test, in (0, 1).
    seed : int
        Seed of the random orders. The random number of a document or query is computed from the
        seed and its ids: adding labels does not change the order of the others.
    until : Difference or Check, optional
        Result on the labels so far whose verdict ends the labelling: ``comparison["nDCG@10"]`` of
        `compare`, or one of the checks of `gate`. No document is chosen once there is a verdict
        other than ``too few judgments``. Default: the labelling ends when no grades can change the
        sign of the mean difference.

    Returns
    -------
    NextLabels

    Raises
    ------
    OptionError
        An option is impossible, or the measure has no bounds; see `bounds`.
    InputError
        The runs answer none of the queries.

    Notes
    -----
    Only documents down to the depth are chosen, so that no strategy takes more labels than depth
    pooling. None promises never to take more labels than the order of depth, which may happen to
    label first what matters. Worths suppose that the other documents keep their labels: choose a
    few, label them, and choose again. Probabilities of grades come from the labels so far, by rank;
    see `label_frontier.GradeModel`. They change the order, never the bounds.

    References
    ----------
    Carterette, Allan and Sitaraman (2006), Minimal test collections for retrieval evaluation,
    SIGIR. Cormack, Palmer and Clarke (1998), Efficient construction of large test collections,
    SIGIR. Lewis and Gale (1994), A sequential algorithm for training text classifiers, SIGIR.
    Sparck Jones and van Rijsbergen (1975), Report on the need for and provision of an "ideal"
    information retrieval test collection, British Library Research and Development Report 5266.

    Examples
    --------
    >>> qrels, a, b = {"q": {"x": 0}}, {"q": ["x", "y", "z"]}, {"q": ["z", "y", "x"]}
    >>> chosen = next_labels(qrels, a, b, "P@1", budget=2)
    >>> [(label.document, label.rank_a, label.rank_b) for label in chosen.labels], chosen.settled
    ([('z', 3, 1)], False)
    """
    parsed = parse_measure(measure)
    judgments = as_qrels(qrels)
    stop = None if until is None else LabelStop.of(until)
    if strategy is None:
        strategy = "bounds" if stop is None else "change"
    order = order_of(strategy)
    resolved = Convention.of(convention)
    n_chosen = _n_chosen(budget, stop)

    states = difference_states(
        judgments,
        (as_run(run_a, "A"), as_run(run_b, "B")),
        parsed,
        depth=depth,
        max_grade=max_grade,
        queries=queries,
        convention=resolved,
    )
    frontier = Frontier.of(states, sight=order.sight, seed=seed)

    worth = order.worth(frontier)
    low, value, high = frontier.bounds
    test = query_test(frontier, alpha) if strategy == "queries" else None
    chosen = best_open(frontier, worth, n_chosen)
    pool = frontier.pool
    labels = tuple(
        NextLabel(
            priority=priority,
            query=pool.query_ids[int(pool.query[row])],
            document=pool.documents[int(row)],
            rank_a=int(pool.rank_a[row]) or None,
            rank_b=int(pool.rank_b[row]) or None,
            worth=float(worth[row]),
            reason=order.reason(frontier, row, float(worth[row])),
        )
        for priority, row in enumerate(chosen.tolist(), 1)
    )

    return NextLabels(
        measure=str(parsed),
        a=states.names[0],
        b=states.names[1],
        strategy=strategy,
        depth=pool.depth,
        max_grade=states.max_grade,
        convention=resolved,
        labels=labels,
        n_queries=frontier.n_queries,
        n_pooled=len(pool),
        n_open=int(frontier.is_open.sum()),
        low=low,
        value=value,
        high=high,
        settled=frontier.settled,
        test=test,
        label_kind=judgments.labels.kind,
        stop=stop,
    )


def _n_chosen(budget: int | None, stop: LabelStop | None) -> int:
    """Return the number of documents to choose: 0 once there is a verdict."""
    checked_budget = None if budget is None else int(number_option("budget", budget, 1, 1e9))
    if stop is not None and stop.decided:
        return 0
    if checked_budget is not None:
        return checked_budget
    return _BUDGET if stop is None or stop.labels_needed is None else stop.labels_needed


def difference_states(
    qrels: Qrels,
    runs: tuple[Run, Run],
    measure: Measure,
    *,
    depth: int | None = None,
    max_grade: float | None = None,
    queries: Sequence[str] | None = None,
    convention: Convention,
) -> DifferenceStates:
    """Pool two runs to a depth, with defaults from the measure and the judgments; arguments as for
    `next_labels`.
    """
    if depth is None:
        cutoff = measure.under(convention).hits_needed()
        depth = int(cutoff) if cutoff else _DEPTH
    deepest = int(number_option("depth", depth, 1, 1e9))
    if max_grade is None:
        highest = max(1.0, float(qrels.grades.max(initial=1.0)))
    else:
        highest = number_option("max_grade", max_grade, 0, 1e6)
    compared = list(qrels.queries) if queries is None else list(dict.fromkeys(queries))
    if not compared:
        raise InputError(
            f"no query to compare: {qrels.name} has none, expected the queries to compare"
        )
    return DifferenceStates.of(
        runs, qrels, measure, deepest, highest, convention=convention, queries=compared
    )


def best_open(frontier: Frontier, worth: FloatArray, n_most: int) -> IntArray:
    """Return at most `n_most` open documents by falling worth; equal ones by their best rank, then
    in the order of queries.
    """
    rows = np.flatnonzero(frontier.is_open)
    return rows[np.lexsort((frontier.pool.best_rank[rows], -worth[rows]))[:n_most]]


def query_test(frontier: Frontier, alpha: float) -> SequentialSign:
    """Test the sign of the mean difference on the queries that are judged in full, in the random
    order of the queries, up to a gap.
    """
    order = np.argsort(-query_numbers(frontier.pool.query_ids, frontier.seed), kind="stable")
    n_open = np.bincount(frontier.pool.query[frontier.is_open], minlength=frontier.n_queries)
    gaps = n_open[order] > 0
    n_full = int(np.argmax(gaps)) if gaps.any() else frontier.n_queries
    unlabelled = unlabelled_bounds(frontier)
    return sequential_sign(
        frontier.value[order[:n_full]], unlabelled.low[order], unlabelled.high[order], alpha
    )


def unlabelled_bounds(frontier: Frontier) -> StateBounds:
    """Return the bounds of every query's difference before any pooled document has a label."""
    states = frontier.states
    grades = frontier.grades.copy()
    grades[states.place] = np.nan
    bounds = states.bounds(np.arange(frontier.n_queries), grades)
    if not (np.isfinite(bounds.low).all() and np.isfinite(bounds.high).all()):
        raise OptionError(
            f"{states.measure}: the difference has no finite bounds, which the sequential test "
            "needs"
        )
    return bounds
