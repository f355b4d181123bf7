"""Order in which documents are labelled: what each strategy expects of the label of each unjudged document of two runs."""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.interchange import finite
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.judging.free_documents import Ragged
from idealrank.judging.label_states import UNLISTED, DifferenceStates, PooledDocuments, StateBounds
from idealrank.judging.value_bounds import AnyQrels, AnyRun, as_qrels, as_run
from idealrank.measures.measure import Measure, number_option
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.stats.sequential_betting import SequentialSign, sequential_sign
from idealrank.stats.special import ndtr

Sight: TypeAlias = Literal["labels", "values", "bounds"]
Strategy: TypeAlias = Literal["bounds", "change", "uncertainty", "move-to-front", "depth", "random", "queries"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
_LEVELS = 11  # grades that are tried for a document, at most
_PRIOR = 4.0  # documents that the grades of other ranks weigh as much as
_DEPTH = 100  # ranks pooled of a measure without a cutoff


@dataclass(frozen=True, eq=False)
class GradeModel:
    """Probability of each grade of an unjudged document, by its best rank in either run.

    Ranks are taken together by powers of two: 1, 2 to 3, 4 to 7, and so on. The grades judged at these ranks are smoothed by the grades
    judged at all ranks, and these by a start in which each grade is half as likely as the one below.

    Attributes
    ----------
    levels : float64 array, shape (n_levels,)
        Grades, rising from 0.
    probability : float64 array, shape (n_groups, n_levels)
        By group of ranks.

    Examples
    --------
    >>> model = GradeModel.of(np.array([0.0, 1.0]), np.array([1, 1, 2]), np.array([1.0, 1.0, 0.0]))
    >>> model.at(np.array([1, 2])).round(2)
    array([[0.35, 0.65],
           [0.62, 0.38]])
    """

    levels: FloatArray
    probability: FloatArray

    @classmethod
    def of(cls, levels: FloatArray, rank: IntArray, grade: FloatArray) -> Self:
        """Count the grades judged, given the best rank of each document."""
        group = _rank_group(rank)
        nearest = np.abs(grade[:, None] - levels).argmin(axis=1) if grade.size else np.empty(0, np.int64)
        counts = np.zeros((64, levels.size))
        np.add.at(counts, (group, nearest), 1.0)
        start = 0.5 ** np.arange(levels.size)
        overall = counts.sum(axis=0) + _PRIOR * start / start.sum()
        overall /= overall.sum()
        smoothed = counts + _PRIOR * overall
        return cls(levels, smoothed / smoothed.sum(axis=1, keepdims=True))

    def at(self, rank: IntArray) -> FloatArray:
        """Return the probabilities of documents with these best ranks, shape (n_documents, n_levels)."""
        return self.probability[_rank_group(rank)]


def _rank_group(rank: IntArray) -> IntArray:
    return np.floor(np.log2(np.maximum(rank, 1))).astype(np.int64)


@dataclass(eq=False)
class Frontier:
    """Unjudged documents of two runs, with the difference as it stands and what each label could make of it.

    Attributes
    ----------
    states : DifferenceStates
        The runs.
    grades : float64 array, shape (n,)
        Grades of `states.documents` as labelled so far; NaN without a label.
    levels : float64 array, shape (n_levels,)
        Grades that a label may have.
    tried : float64 array, shape (n_documents, n_tried)
        Grades that are tried for each document: all of `levels`, or the one that is known in a replay.
    is_open : bool array, shape (n_documents,)
        Marks pooled documents without a label.
    given : float64 array, shape (n_documents,)
        Grade of each pooled document; NaN while it is open.
    sight : {"labels", "values", "bounds"}
        What the strategy looks at: labels given, also differences after each possible label, or also bounds after each.
    seed : int
        Seed of random orders.
    low, value, high : float64 array, shape (n_queries,)
        Bounds of each query's difference, and the difference as judged.
    if_low, if_value, if_high : float64 array, shape (n_documents, n_tried)
        The same after each label, as far as the strategy looks; empty beyond.
    """

    states: DifferenceStates
    grades: FloatArray
    levels: FloatArray
    tried: FloatArray
    is_open: BoolArray
    given: FloatArray
    sight: Sight
    seed: int = 0
    low: FloatArray = field(init=False)
    value: FloatArray = field(init=False)
    high: FloatArray = field(init=False)
    if_low: FloatArray = field(init=False)
    if_value: FloatArray = field(init=False)
    if_high: FloatArray = field(init=False)
    _foreseen: "dict[tuple[int, bytes], tuple[FloatArray, FloatArray]]" = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        n_queries = len(self.pool.query_ids)
        self.low, self.value, self.high = (np.zeros(n_queries) for _ in range(3))
        self.if_value = np.zeros(self.tried.shape if self.sight != "labels" else (0, 0))
        self.if_low, self.if_high = (np.zeros(self.tried.shape if self.sight == "bounds" else (0, 0)) for _ in range(2))
        self._measure(np.arange(n_queries))

    @classmethod
    def of(cls, states: DifferenceStates, *, sight: Sight, hidden: bool = False, seed: int = 0, known: FloatArray | None = None) -> Self:
        """Start from what is judged; with `hidden`, as if no pooled document was. `known` grades are the only ones tried."""
        grades = states.given.copy()
        if hidden:
            grades[states.place] = np.nan
        given, top = grades[states.place], states.max_grade
        whole = np.arange(0.0, top) if top < _LEVELS else np.linspace(0, top, _LEVELS)
        levels = np.unique(np.append(whole, top))
        nearest = None if known is None else np.abs(levels - known[:, None]).argmin(axis=1)
        tried = np.tile(levels, (given.size, 1)) if nearest is None else levels[nearest][:, None]
        return cls(states, grades, levels, tried, np.isnan(given), given, sight, seed)

    @property
    def pool(self) -> PooledDocuments:
        """The documents."""
        return self.states.pool

    @property
    def n_queries(self) -> int:
        """Number of queries compared."""
        return len(self.pool.query_ids)

    @property
    def bounds(self) -> tuple[float, float, float]:
        """Mean difference: the lowest, as judged, and the highest."""
        return tuple(float(column.sum()) / self.n_queries for column in (self.low, self.value, self.high))  # type: ignore[return-value]

    @property
    def settled(self) -> bool:
        """True if no grades of the open documents can change the sign of the mean difference."""
        low, _, high = self.bounds
        return not self.is_open.any() or low > _ROUNDING or high < -_ROUNDING

    def reveal(self, document: int, grade: float) -> None:
        """Take the label of a document."""
        self._measure(self._take(document, grade))

    def follow(self, document: int, grade: float) -> None:
        """Take the label of a document, and look ahead as the strategy does; bounds that it does not look at stay as they were."""
        query = self._take(document, grade)
        if self.sight != "labels":
            self._look_ahead(query)

    def foresee(self, documents: IntArray, grades: FloatArray) -> None:
        """Measure together what labels of documents of different queries lead to, so that taking one of them later costs nothing."""
        place = self.states.place[documents]
        self.grades[place], self.is_open[documents] = grades, False
        self._seen(self.pool.query[documents])
        self.grades[place], self.is_open[documents] = np.nan, True

    def is_foreseen(self, document: int, grade: float) -> bool:
        """Return whether the label of a document leads to what was measured before."""
        place = self.states.place[document]
        self.grades[place] = grade
        found = self._key(int(self.pool.query[document])) in self._foreseen
        self.grades[place] = np.nan
        return found

    def model(self) -> GradeModel:
        """Return the probabilities of grades, from the labels of pooled documents."""
        known = ~self.is_open
        return GradeModel.of(self.levels, self.pool.best_rank[known], self.given[known])

    def _take(self, document: int, grade: float) -> IntArray:
        self.grades[self.states.place[document]] = float(grade)
        self.given[document], self.is_open[document] = grade, False
        return self.pool.query[document : document + 1]

    def _measure(self, queries: IntArray) -> None:
        """Work out some queries again, with every label tried of their open documents if the strategy looks ahead."""
        if self.sight != "bounds":
            found = self.states.bounds(*self._after(queries, queries[:0]))
            self.low[queries], self.value[queries], self.high[queries] = found.low, found.value, found.high
        if self.sight != "labels":
            self._look_ahead(queries)

    def _look_ahead(self, queries: IntArray) -> None:
        columns = ((self.low, self.if_low), (self.value, self.if_value), (self.high, self.if_high))
        for query, seen in zip(queries.tolist(), self._seen(queries), strict=True):
            rows = self._open_of(np.array([query]))
            for (now, later), one, after in zip(columns if self.sight == "bounds" else columns[1:2], *seen, strict=True):
                now[query], later[rows] = one, after

    def _seen(self, queries: IntArray) -> "list[tuple[FloatArray, FloatArray]]":
        """Differences of some queries as labelled so far, shape (n,), and after labels of their open documents, (n, n_open, n_tried).

        n is 3, for bounds and value, or 1 if the strategy looks at values alone. Measured once for each state.
        """
        keys = [self._key(query) for query in queries.tolist()]
        new = np.flatnonzero([key not in self._foreseen for key in keys])
        if new.size:
            rows, sizes = self._open_of(queries[new]), [self._open_of(queries[[place]]).size for place in new]
            states = self._after(queries[new], rows)
            found = None if self.sight == "values" else self.states.bounds(*states)
            columns = self.states.values(*states)[None] if found is None else np.stack((found.low, found.value, found.high))
            later = columns[:, new.size :].reshape(columns.shape[0], rows.size, self.tried.shape[1])
            parts = np.split(later, np.cumsum(sizes)[:-1], axis=1)
            seen = zip(columns[:, : new.size].T, parts, strict=True)
            self._foreseen.update(zip((keys[place] for place in new.tolist()), seen, strict=True))
        return [self._foreseen[key] for key in keys]

    def _key(self, query: int) -> tuple[int, bytes]:
        offsets = self.states.documents.offsets
        return query, self.grades[offsets[query] : offsets[query + 1]].tobytes()

    def _open_of(self, queries: IntArray) -> IntArray:
        rows = Ragged.of(self.pool.offsets, queries).row
        return rows[self.is_open[rows]]

    def _after(self, queries: IntArray, rows: IntArray) -> tuple[IntArray, FloatArray]:
        """Return states to measure: some queries as labelled so far, then with every label tried of some documents."""
        n_tried, offsets = self.tried.shape[1], self.states.documents.offsets
        codes = np.concatenate((queries, np.repeat(self.pool.query[rows], n_tried)))
        grades = self.grades[Ragged.of(offsets, codes).row]
        sizes = np.diff(offsets)[codes]
        begins = (np.cumsum(sizes) - sizes)[queries.size :]
        place = np.repeat(self.states.place[rows] - offsets[self.pool.query[rows]], n_tried)
        grades[begins + place] = self.tried[rows].reshape(-1)
        return codes, grades


_ROUNDING = 1e-12


@dataclass(frozen=True)
class LabelOrder:
    """A strategy: the worth of the label of each open document, and the reason in words.

    Attributes
    ----------
    worth : callable
        Of a frontier, the worth of every pooled document's label, shape (n_documents,); only open documents count.
    reason : callable
        Of a frontier, a document and its worth, the reason.
    sight : {"labels", "values", "bounds"}
        What of the frontier it needs; see `Frontier`.
    fixed : bool
        Whether no label changes the order.
    """

    worth: Callable[[Frontier], FloatArray]
    reason: Callable[[Frontier, int, float], str]
    sight: Sight = "labels"
    fixed: bool = False


def _weights(frontier: Frontier) -> FloatArray:
    """Probability of each grade of each pooled document."""
    return frontier.model().at(frontier.pool.best_rank)


def _chance_of_b(frontier: Frontier, weights: FloatArray) -> float:
    """Probability that B has the higher mean when every document is judged: normal, with independent grades."""
    change = (frontier.if_value - frontier.value[frontier.pool.query][:, None])[frontier.is_open]
    weight = weights[frontier.is_open]
    mean = (change * weight).sum(axis=1)
    variance = float(((change**2 * weight).sum(axis=1) - mean**2).sum())
    expected = float(frontier.value.sum() + mean.sum())
    return float(ndtr(expected / math.sqrt(variance))) if variance > 0 else float(expected > 0)


def _narrowing(frontier: Frontier) -> FloatArray:
    """Expected rise of the lower bound and fall of the upper one, each by the chance that its run is the better one."""
    query, weights = frontier.pool.query, _weights(frontier)
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
    """Documents of the list above each document, since the last relevant one, that are not relevant or not judged; negative.

    The lists of both runs count. While no document has a label, this is the order of depth.
    """
    pool, worth = frontier.pool, np.full(len(frontier.pool), -np.inf)
    for rows in pool.listed:
        place, query = np.arange(rows.size), pool.query[rows]
        begins = np.searchsorted(query, query)
        last = np.where(frontier.given[rows] > 0, place, -1)
        before = np.maximum(np.concatenate(([-1], np.maximum.accumulate(last)[:-1])), begins - 1) if rows.size else place
        worth[rows] = np.maximum(worth[rows], before + 1 - place)
    return worth


def _depth(frontier: Frontier) -> FloatArray:
    return -frontier.pool.best_rank.astype(np.float64)


def random_number(seed: int, *names: str) -> float:
    """Return a number in [0, 1) that looks random and is the same whatever other documents and queries there are.

    An order by these numbers stays as it is while labels, documents and queries are added.

    Examples
    --------
    >>> random_number(0, "q1") == random_number(0, "q1"), random_number(0, "q1") == random_number(1, "q1")
    (True, False)
    """
    text = "\0".join((str(seed), *names)).encode("utf-8", "surrogateescape")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") / 2**64


def query_numbers(query_ids: Sequence[str], seed: int) -> FloatArray:
    """Return the random number of each query, shape (n_queries,): strategy ``queries`` takes queries by falling numbers.

    Examples
    --------
    >>> query_numbers(["a", "b"], 0).round(3)
    array([0.085, 0.364])
    """
    return np.array([random_number(seed, query) for query in query_ids], np.float64)


def _numbers(frontier: Frontier, *, by_query: bool) -> FloatArray:
    pool = frontier.pool
    if by_query:
        return query_numbers(pool.query_ids, frontier.seed)[pool.query]
    return np.array(
        [random_number(frontier.seed, pool.query_ids[int(code)], document)
         for code, document in zip(pool.query.tolist(), pool.documents, strict=True)], np.float64,
    )  # fmt: skip


def _place_text(frontier: Frontier, document: int) -> str:
    ranks = (("A", int(frontier.pool.rank_a[document])), ("B", int(frontier.pool.rank_b[document])))
    return " and ".join(f"rank {rank} of {run}" for run, rank in ranks if rank != UNLISTED)


_ORDERS: dict[Strategy, LabelOrder] = {
    "bounds": LabelOrder(_narrowing, lambda _, __, worth: f"moves a bound by {max(worth, 0):.4f}", sight="bounds"),
    "change": LabelOrder(_change, lambda _, __, worth: f"changes the difference by {worth:.4f}", sight="values"),
    "uncertainty": LabelOrder(_uncertainty, lambda f, d, _: f"relevant with probability {_relevance(f)[d]:.2f}"),
    "move-to-front": LabelOrder(_misses, lambda _, __, worth: f"{abs(worth):.0f} above it since the last relevant document"),
    "depth": LabelOrder(_depth, lambda f, d, _: _place_text(f, d), fixed=True),
    "random": LabelOrder(lambda f: _numbers(f, by_query=False), lambda _, __, ___: "in random order", fixed=True),
    "queries": LabelOrder(lambda f: _numbers(f, by_query=True), lambda _, __, ___: "next query in random order", fixed=True),
}


def order_of(strategy: str) -> LabelOrder:
    """Return a strategy by its name.

    Raises
    ------
    OptionError
        There is none of that name.

    Examples
    --------
    >>> order_of("bounds").sight
    'bounds'
    """
    found = _ORDERS.get(strategy)  # type: ignore[call-overload]
    if found is None:
        raise OptionError(f"strategy={strategy!r}: expected one of {', '.join(STRATEGIES)}")
    return found  # type: ignore[no-any-return]


@dataclass(frozen=True)
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
        By the strategy: see `next_labels`.
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


@dataclass(frozen=True, eq=False)
class NextLabels:
    """Documents to label next, so that the comparison of two runs is settled soon; see `next_labels`.

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
        By priority.
    n_queries, n_pooled, n_open : int
        Queries compared, pooled documents, and those without a label.
    low, value, high : float
        Mean difference: lowest, as judged, highest, over all grades of the open documents.
    settled : bool
        Whether no grades of the open documents can change its sign.
    test : SequentialSign or None
        Sequential test over the queries that are judged in full, with strategy ``queries``.
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

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record."""
        return {
            "a": self.a, "b": self.b, "measure": self.measure, "strategy": self.strategy, "depth": self.depth,
            "max_grade": self.max_grade, "n_queries": self.n_queries, "n_pooled": self.n_pooled, "n_open": self.n_open,
            "low": finite(self.low), "value": finite(self.value), "high": finite(self.high), "settled": self.settled,
            "test": None if self.test is None else self.test.as_dict(), "labels": [asdict(one) for one in self.labels],
        }  # fmt: skip


def next_labels(
    qrels: AnyQrels,
    run_a: AnyRun,
    run_b: AnyRun,
    measure: MeasureLike = "nDCG@10",
    *,
    budget: int = 50,
    strategy: Strategy = "bounds",
    depth: int | None = None,
    max_grade: float | None = None,
    queries: Sequence[str] | None = None,
    convention: "Convention | str" = "standard",
    alpha: float = 0.05,
    seed: int = 0,
) -> NextLabels:
    """Choose the documents to label next, so that the comparison of two runs is settled after few labels.

    Parameters
    ----------
    qrels : Qrels or mapping
        What was judged.
    run_a, run_b : Run or mapping
        The runs compared.
    measure : measure or str
        The measure.
    budget : int
        Number of documents to choose, at least 1.
    strategy : str
        Order of the documents:

        * ``bounds``: expected move of the bounds of the mean difference towards 0, of each bound by the probability that its run is the
          better one;
        * ``change``: expected absolute change of the mean difference;
        * ``uncertainty``: probability of relevance nearest to one half;
        * ``move-to-front``: fewest documents above it in either run since the last relevant one;
        * ``depth``: best rank in either run;
        * ``random``: documents in random order;
        * ``queries``: all documents of a query, queries in random order. A sequential test may then stop early; see `SequentialSign`.
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
        Of the random orders. Numbers of documents and queries depend on the seed and their ids alone, so that an order goes on where it
        was when labels have been added.

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
    Only documents down to the depth are chosen, so that no strategy takes more labels than depth pooling. Worths suppose that the other
    documents keep their labels: choose a few, label them, and choose again. Probabilities of grades come from the labels so far, by
    rank; they change the order, never the bounds.

    References
    ----------
    Carterette, Allan and Sitaraman (2006), Minimal test collections for retrieval evaluation, SIGIR, for the expected change of a
    difference. Cormack, Palmer and Clarke (1998), Efficient construction of large test collections, SIGIR, for move-to-front. Lewis and
    Gale (1994), A sequential algorithm for training text classifiers, SIGIR, for uncertainty.

    Examples
    --------
    >>> qrels, a, b = {"q": {"x": 0}}, {"q": ["x", "y", "z"]}, {"q": ["z", "y", "x"]}
    >>> found = next_labels(qrels, a, b, "P@1", budget=2)
    >>> [(one.document, one.rank_a, one.rank_b) for one in found.labels], found.settled
    ([('z', 3, 1)], False)
    """
    made, table = parse_measure(measure), as_qrels(qrels)
    order, under = order_of(strategy), Convention.of(convention)
    n_chosen = int(number_option("budget", budget, 1, 1e9))
    states = difference_states(
        table, (as_run(run_a, "A"), as_run(run_b, "B")), made, depth=depth, max_grade=max_grade, queries=queries, convention=under
    )  # fmt: skip
    frontier = Frontier.of(states, sight=order.sight, seed=seed)
    worth = order.worth(frontier)
    low, value, high = frontier.bounds
    test = query_test(frontier, alpha) if strategy == "queries" else None
    chosen = best_open(frontier, worth, n_chosen)
    pool = frontier.pool
    labels = tuple(
        NextLabel(
            place, pool.query_ids[int(pool.query[row])], pool.documents[int(row)],
            int(pool.rank_a[row]) or None, int(pool.rank_b[row]) or None,
            float(worth[row]), order.reason(frontier, row, float(worth[row])),
        )
        for place, row in enumerate(chosen.tolist(), 1)
    )  # fmt: skip
    return NextLabels(
        str(made), states.names[0], states.names[1], strategy, pool.depth, states.max_grade, under, labels, frontier.n_queries, len(pool),
        int(frontier.is_open.sum()), low, value, high, frontier.settled, test,
    )  # fmt: skip


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
    """Two runs to a depth, with defaults from the measure and the judgments; arguments as for `next_labels`.

    Raises
    ------
    OptionError
        An option is impossible.
    InputError
        The runs answer none of the queries, or no queries are given and none has a judgment.

    Examples
    --------
    >>> runs = Run({"q": ["a", "b"]}), Run({"q": ["b"]})
    >>> difference_states(Qrels({"q": {"a": 1}}), runs, parse_measure("P@1"), convention=Convention.of("standard")).pool.documents
    ['a', 'b']
    """
    if depth is None:
        cutoff = measure.under(convention).hits_needed()
        depth = int(cutoff) if cutoff else _DEPTH
    deepest = int(number_option("depth", depth, 1, 1e9))
    highest = max(1.0, float(qrels.grades.max(initial=1.0))) if max_grade is None else number_option("max_grade", max_grade, 0, 1e6)
    wanted = list(qrels.queries) if queries is None else list(dict.fromkeys(queries))
    if not wanted:
        raise InputError(f"no query to compare: {qrels.name} has none, expected the queries to compare")
    return DifferenceStates.of(runs, qrels, measure, deepest, highest, convention=convention, queries=wanted)


def best_open(frontier: Frontier, worth: FloatArray, most: int) -> IntArray:
    """Open documents by falling worth; equal ones by their best rank, then in the order of queries."""
    rows = np.flatnonzero(frontier.is_open)
    return rows[np.lexsort((frontier.pool.best_rank[rows], -worth[rows]))[:most]]


def query_test(frontier: Frontier, alpha: float) -> SequentialSign:
    """Test the sign of the mean difference on the queries that are judged in full, in the random order of the queries, up to a gap."""
    order = np.argsort(-query_numbers(frontier.pool.query_ids, frontier.seed), kind="stable")
    gaps = np.bincount(frontier.pool.query[frontier.is_open], minlength=frontier.n_queries)[order] > 0
    n_full = int(np.argmax(gaps)) if gaps.any() else frontier.n_queries
    before = unlabelled_bounds(frontier)
    return sequential_sign(frontier.value[order[:n_full]], before.low[order], before.high[order], alpha)


def unlabelled_bounds(frontier: Frontier) -> StateBounds:
    """Bounds of every query's difference before any pooled document has a label.

    Raises
    ------
    OptionError
        The measure has no finite bounds.
    """
    states = frontier.states
    grades = frontier.grades.copy()
    grades[states.place] = np.nan
    found = states.bounds(np.arange(frontier.n_queries), grades)
    if not (np.isfinite(found.low).all() and np.isfinite(found.high).all()):
        raise OptionError(f"{states.measure}: the difference has no finite bounds, which the sequential test needs")
    return found
