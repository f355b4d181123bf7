"""Labels that each strategy would have needed: judgments are hidden, and revealed in its order
until the comparison is settled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from idealrank.bounds.value_bounds import AnyQrels, AnyRun, as_qrels, as_run
from idealrank.conventions import Convention
from idealrank.data.interchange import finite
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError
from idealrank.judging.label_frontier import ROUNDING, Frontier, Sight
from idealrank.judging.label_order import (
    STRATEGIES,
    LabelOrder,
    best_open,
    difference_states,
    order_of,
    query_numbers,
    unlabelled_bounds,
)
from idealrank.judging.label_states import DifferenceStates, PooledDocuments
from idealrank.measures.measure import number_option
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.stats.sequential_betting import sequential_sign

Stop: TypeAlias = Literal["bounds", "test"]
ORACLE = "oracle"
_AT_ONCE = 64  # labels whose states are measured together


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelCurve:
    """Number of labels that one strategy needed with one stop.

    Attributes
    ----------
    strategy : str
        The strategy, or ``oracle``: greedy by bounds with the true grades.
    stop : {"bounds", "test"}
        Stop by bounds, or by the sequential test.
    needed : int64 array, shape (n_orders,)
        Labels until the comparison was settled, for each random order; one number for an order
        without chance.
    right : bool array, shape (n_orders,)
        Whether the sign found is that of the difference with all labels.
    low, value, high : float64 array, shape (n_labels + 1,)
        Mean difference after each label of the first order; empty for the test.
    """

    strategy: str
    stop: Stop
    needed: IntArray
    right: "np.ndarray[tuple[int], np.dtype[np.bool_]]"
    low: FloatArray
    value: FloatArray
    high: FloatArray

    @property
    def median(self) -> float:
        """Median number of labels."""
        return float(np.median(self.needed))


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelReplay:
    """Numbers of labels that strategies needed to settle one comparison; see `replay_labels`.

    Attributes
    ----------
    measure, a, b : str
        Text of the measure, and names of the runs; differences are b - a.
    depth : int
        Deepest rank pooled.
    max_grade : float
        Highest grade.
    n_queries, n_pooled : int
        Queries compared, and pooled documents: the labels of depth pooling.
    n_unjudged : int
        Pooled documents without a judgment; they are revealed as grade 0.
    difference : float
        Mean difference with all labels.
    alpha : float
        Error rate of the sequential test.
    curves : tuple of LabelCurve
        Labels needed, by strategy and stop.
    convention : Convention
        Convention of alignment and measure.
    """

    measure: str
    a: str
    b: str
    depth: int
    max_grade: float
    n_queries: int
    n_pooled: int
    n_unjudged: int
    difference: float
    alpha: float
    curves: tuple[LabelCurve, ...]
    convention: Convention

    def needed(self, strategy: str, stop: Stop = "bounds") -> float:
        """Return the median number of labels of a strategy; NaN if it was not replayed.

        Examples
        --------
        >>> qrels = {"q": {"x": 1, "y": 0}}
        >>> replay_labels(qrels, {"q": ["x", "y"]}, {"q": ["y", "x"]}, "P@1").needed("depth")
        2.0
        """
        for curve in self.curves:
            if curve.strategy == strategy and curve.stop == stop:
                return curve.median
        return float("nan")

    def ratio(self, curve: LabelCurve, to: str) -> float:
        """Return the labels of a curve as a share of the labels of a strategy with the stop by
        bounds; NaN without it.
        """
        base = self.needed(to)
        return curve.median / base if base else float("nan")

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record, without the steps of the curves."""
        return {
            "a": self.a,
            "b": self.b,
            "measure": self.measure,
            "depth": self.depth,
            "max_grade": self.max_grade,
            "n_queries": self.n_queries,
            "n_pooled": self.n_pooled,
            "n_unjudged": self.n_unjudged,
            "difference": finite(self.difference),
            "alpha": self.alpha,
            "curves": [
                {
                    "strategy": curve.strategy,
                    "stop": curve.stop,
                    "needed": curve.median,
                    "orders": int(curve.needed.size),
                    "share_of_pool": curve.median / self.n_pooled,
                    "ratio_to_depth": finite(self.ratio(curve, "depth")),
                    "ratio_to_random": finite(self.ratio(curve, "random")),
                    "right": float(curve.right.mean()),
                }
                for curve in self.curves
            ],
        }


def replay_labels(
    qrels: AnyQrels,
    run_a: AnyRun,
    run_b: AnyRun,
    measure: MeasureLike = "nDCG@10",
    *,
    strategies: Sequence[str] = (*STRATEGIES, ORACLE),
    depth: int | None = None,
    max_grade: float | None = None,
    convention: "Convention | str" = "standard",
    alpha: float = 0.05,
    orders: int = 20,
    test_orders: int = 1000,
    seed: int = 0,
) -> LabelReplay:
    """Count the labels that each strategy would have needed to settle a comparison whose judgments
    are known.

    Judgments of all documents that either run returns down to the depth are hidden. They are
    revealed one by one in the order of a strategy, until no grades of the hidden documents can
    change the sign of the mean difference. With strategy ``queries``, a sequential test may stop
    earlier, at the end of a query, with an error rate of at most `alpha` over the random order.

    Parameters
    ----------
    qrels : Qrels or mapping
        All judgments. Pooled documents without one are revealed as grade 0.
    run_a, run_b : Run or mapping
        The runs compared.
    measure : measure or str
        The measure.
    strategies : sequence of str
        Names as for `next_labels`, and ``oracle``: greedy by bounds, with the true grades.
    depth, max_grade, convention
        As for `next_labels`.
    alpha : float
        Error rate of the sequential test, in (0, 1).
    orders, test_orders : int
        Number of random orders with the stop by bounds, and with the test.
    seed : int
        Seed of the first random order; the others count on from it.

    Returns
    -------
    LabelReplay

    Raises
    ------
    InputError, OptionError
        As for `next_labels`; or the difference with all labels is 0.

    Examples
    --------
    >>> qrels = {"p": {"x": 1, "y": 0}, "q": {"x": 1, "y": 0}}
    >>> a, b = {"p": ["x", "y"], "q": ["x", "y"]}, {"p": ["y", "x"], "q": ["y", "x"]}
    >>> replay = replay_labels(qrels, a, b, "RR", depth=2, strategies=["depth", "oracle"])
    >>> [(curve.strategy, curve.median) for curve in replay.curves], replay.n_pooled
    ([('depth', 3.0), ('oracle', 3.0)], 4)
    """
    parsed = parse_measure(measure)
    resolved = Convention.of(convention)
    n_orders = int(number_option("orders", orders, 1, 1e6))
    n_tests = int(number_option("test_orders", test_orders, 1, 1e6))
    states = difference_states(
        as_qrels(qrels),
        (as_run(run_a, "A"), as_run(run_b, "B")),
        parsed,
        depth=depth,
        max_grade=max_grade,
        convention=resolved,
    )

    pooled_grades = states.given[states.place]
    n_unjudged = int(np.isnan(pooled_grades).sum())
    truth = np.nan_to_num(pooled_grades, nan=0.0)
    replay = _Replay(states, truth, seed)
    values = replay.full_values
    difference = float(values.sum()) / values.size
    if abs(difference) <= ROUNDING:
        raise InputError(
            f"{states.names[0]!r} and {states.names[1]!r} have the same mean {parsed}, expected a "
            "difference, since no number of labels settles a comparison without one"
        )

    curves: list[LabelCurve] = []
    for strategy in strategies:
        curves.append(replay.by_bounds(strategy, n_orders, difference))
        if strategy == "queries":
            curves.append(replay.by_test(n_tests, difference, alpha))
    return LabelReplay(
        measure=str(parsed),
        a=states.names[0],
        b=states.names[1],
        depth=states.pool.depth,
        max_grade=states.max_grade,
        n_queries=values.size,
        n_pooled=len(states.pool),
        n_unjudged=n_unjudged,
        difference=difference,
        alpha=alpha,
        curves=tuple(curves),
        convention=resolved,
    )


@dataclass(frozen=True, eq=False)
class _Replay:
    """Runs, and the grade of each pooled document."""

    states: DifferenceStates
    truth: FloatArray
    seed: int

    @property
    def pool(self) -> PooledDocuments:
        return self.states.pool

    def hidden(self, sight: Sight, seed: int, true_grades: FloatArray | None = None) -> Frontier:
        return Frontier.of(self.states, sight=sight, hidden=True, seed=seed, only=true_grades)

    @cached_property
    def full_values(self) -> FloatArray:
        """Difference of each query with all labels."""
        grades = self.states.given.copy()
        grades[self.states.place] = self.truth
        return self.states.bounds(np.arange(len(self.pool.query_ids)), grades).value

    def by_bounds(self, strategy: str, n_orders: int, difference: float) -> LabelCurve:
        """Replay a strategy until no grades change the sign of the mean difference."""
        true_grades = None
        if strategy == ORACLE:
            order = self._oracle()
            true_grades = self.truth
        else:
            order = order_of(strategy)
        n_seeds = n_orders if strategy in ("random", "queries") else 1
        seeds = range(self.seed, self.seed + n_seeds)
        paths = [self._path(order, seed, true_grades) for seed in seeds]
        needed = np.array([path.shape[0] - 1 for path in paths], np.int64)
        right = np.array([_sign(path[-1]) == np.sign(difference) for path in paths], np.bool_)
        low, value, high = paths[0].T
        return LabelCurve(
            strategy=strategy,
            stop="bounds",
            needed=needed,
            right=right,
            low=low,
            value=value,
            high=high,
        )

    def by_test(self, n_tests: int, difference: float, alpha: float) -> LabelCurve:
        """Replay whole queries in random order, until the test stops; all labels where it never
        does.
        """
        values = self.full_values
        unlabelled = unlabelled_bounds(self.hidden("labels", self.seed))
        n_documents = np.diff(self.pool.offsets)
        needed = np.zeros(n_tests, np.int64)
        right = np.zeros(n_tests, np.bool_)
        for number in range(n_tests):
            random_numbers = query_numbers(self.pool.query_ids, self.seed + number)
            order = np.argsort(-random_numbers, kind="stable")
            test = sequential_sign(
                values[order], unlabelled.low[order], unlabelled.high[order], alpha
            )
            # up to None is all queries
            needed[number] = n_documents[order[: test.stopped_at]].sum()
            right[number] = test.stopped_at is None or test.sign == np.sign(difference)
        empty = np.empty(0)
        return LabelCurve(
            strategy="queries",
            stop="test",
            needed=needed,
            right=right,
            low=empty,
            value=empty,
            high=empty,
        )

    def _path(self, order: LabelOrder, seed: int, true_grades: FloatArray | None) -> FloatArray:
        """Return the mean bounds after each label, shape (n_labels + 1, 3)."""
        frontier = self.hidden(order.sight, seed, true_grades)
        if order.sight != "bounds":
            return self._path_in_batches(frontier, order)
        steps = [frontier.bounds]
        while not frontier.settled:
            self._take_next(frontier, order)
            steps.append(frontier.bounds)
        return np.array(steps)

    def _take_next(self, frontier: Frontier, order: LabelOrder) -> int:
        """Reveal the next label, and return its row.

        If no state after it was measured before, states after the next label of every query are
        measured with it, most of which come later.
        """
        worth = order.worth(frontier)
        row = int(best_open(frontier, worth, 1)[0])
        if order.sight != "labels" and not frontier.is_foreseen(row, float(self.truth[row])):
            rows = best_open(frontier, worth, len(self.pool))
            firsts = rows[np.unique(self.pool.query[rows], return_index=True)[1]]
            frontier.foresee(firsts, self.truth[firsts])
        frontier.follow(row, float(self.truth[row]))
        return row

    def _path_in_batches(self, frontier: Frontier, order: LabelOrder) -> FloatArray:
        """Replay an order that bounds do not change: many labels are revealed, and their states
        measured at once.
        """
        bounds = np.stack((frontier.low, frontier.value, frontier.high))  # of each query
        # Each step is a sum of its own: a bound such as 1e308 that comes and goes takes the digits
        # of all others from a running sum.
        steps = [bounds.sum(axis=1) / bounds.shape[1]]
        fixed = best_open(frontier, order.worth(frontier), len(self.pool)) if order.fixed else None
        grades = frontier.grades.copy()
        while frontier.is_open.any() and not _sign(steps[-1]):
            rows = self._next_rows(frontier, order) if fixed is None else fixed
            for row, after in zip(rows.tolist(), self._bounds_after(grades, rows), strict=True):
                bounds[:, self.pool.query[row]] = after
                steps.append(bounds.sum(axis=1) / bounds.shape[1])
                if _sign(steps[-1]):
                    break
            frontier.is_open[rows] = False
        return np.array(steps)

    def _next_rows(self, frontier: Frontier, order: LabelOrder) -> IntArray:
        rows: list[int] = []
        while frontier.is_open.any() and len(rows) < _AT_ONCE:
            rows.append(self._take_next(frontier, order))
        return np.array(rows, np.int64)

    def _bounds_after(self, grades: FloatArray, rows: IntArray) -> FloatArray:
        """Return the bounds of each document's query after its label and all earlier ones, shape
        (n_rows, 3); takes the labels into `grades`.
        """
        query = self.pool.query[rows]
        offsets = self.states.documents.offsets
        states = []
        for row, code in zip(rows.tolist(), query.tolist(), strict=True):
            grades[self.states.place[row]] = self.truth[row]
            states.append(grades[offsets[code] : offsets[code + 1]].copy())
        return self._bounds_of(query, states)

    def _bounds_of(self, query: IntArray, states: "list[FloatArray]") -> FloatArray:
        """Return the bounds of states; each state is measured once in the whole replay."""
        keys = [(code, state.tobytes()) for code, state in zip(query.tolist(), states, strict=True)]
        new = [place for place, key in enumerate(keys) if key not in self._memory]
        if new:
            bounds = self.states.bounds(
                query[new], np.concatenate([states[place] for place in new])
            )
            rows = np.stack((bounds.low, bounds.value, bounds.high), axis=1)
            self._memory.update(zip([keys[place] for place in new], rows, strict=True))
        return np.array([self._memory[key] for key in keys])

    @cached_property
    def _memory(self) -> dict[tuple[int, bytes], FloatArray]:
        return {}

    def _oracle(self) -> LabelOrder:
        sign = np.sign(self.full_values.sum())

        def worth(frontier: Frontier) -> FloatArray:
            query = frontier.pool.query
            if sign > 0:
                return np.asarray(frontier.if_low[:, 0] - frontier.low[query])
            return np.asarray(frontier.high[query] - frontier.if_high[:, 0])

        return LabelOrder(worth=worth, reason=lambda *_: ORACLE, sight="bounds")


def _sign(step: Sequence[float] | FloatArray) -> int:
    """Return the sign of a difference with these bounds; 0 if it is open."""
    low, _, high = step
    # Bounds that differ by rounding alone are one value, whose sign is known: it may be 0.
    if abs(high - low) <= 1e-9:
        return int(np.sign(round(float(low), 9)))
    if low > ROUNDING:
        return 1
    return -1 if high < -ROUNDING else 0
