"""Unjudged documents of two runs, and what each label could make of their difference."""

from dataclasses import dataclass, field
from typing import Literal, Self, TypeAlias

import numpy as np

from idealrank.bounds.free_documents import Ragged
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.judging.label_states import DifferenceStates, PooledDocuments

Sight: TypeAlias = Literal["labels", "values", "bounds"]
_LEVELS = 11  # grades that are tried for a document, at most
_PRIOR = 4.0  # the grades at other ranks weigh as much as this number of documents
ROUNDING = 1e-12  # a bound of the mean difference nearer to 0 than this is 0 but for rounding


@dataclass(frozen=True, eq=False)
class GradeModel:
    """Probability of each grade of an unjudged document, by its best rank in either run.

    Ranks are taken together by powers of two: 1, 2 to 3, 4 to 7, and so on.
    """

    levels: FloatArray  # shape (n_levels,): grades, rising from 0
    probability: FloatArray  # shape (n_groups, n_levels): by group of ranks

    @classmethod
    def of(cls, levels: FloatArray, rank: IntArray, grade: FloatArray) -> Self:
        """Count the grades judged, given the best rank of each document."""
        group = _rank_group(rank)
        nearest = np.abs(grade[:, None] - levels).argmin(axis=1)
        counts = np.zeros((64, levels.size))  # a group for every power of two that a rank may have
        np.add.at(counts, (group, nearest), 1.0)
        # Before any label, each grade is half as probable as the grade below it.
        start = 0.5 ** np.arange(levels.size)
        overall = counts.sum(axis=0) + _PRIOR * start / start.sum()
        overall /= overall.sum()
        smoothed = counts + _PRIOR * overall
        return cls(levels, smoothed / smoothed.sum(axis=1, keepdims=True))

    def at(self, rank: IntArray) -> FloatArray:
        """Return the probabilities of documents with these best ranks, shape (n_documents,
        n_levels).
        """
        return self.probability[_rank_group(rank)]


def _rank_group(rank: IntArray) -> IntArray:
    return np.floor(np.log2(np.maximum(rank, 1))).astype(np.int64)


@dataclass(kw_only=True, eq=False)
class Frontier:
    """Unjudged documents of two runs, with the difference as it stands and what each label could
    make of it.
    """

    states: DifferenceStates  # The runs
    # shape (n,): grades of `states.documents` as labelled so far; NaN without a label
    grades: FloatArray
    levels: FloatArray  # shape (n_levels,): grades that a label may have
    # shape (n_documents, n_tried): grades that are tried for each document: all of `levels`, or the
    # one that is known in a replay
    tried: FloatArray
    is_open: BoolArray  # shape (n_documents,): marks pooled documents without a label
    given: FloatArray  # shape (n_documents,): grade of each pooled document; NaN while it is open
    # What the strategy looks at: labels given, also differences after each possible label, or also
    # bounds after each
    sight: Sight
    seed: int = 0  # Seed of random orders
    # low, value, high: shape (n_queries,): bounds of each query's difference, and the difference as
    # judged
    low: FloatArray = field(init=False)
    value: FloatArray = field(init=False)
    high: FloatArray = field(init=False)
    # if_low, if_value, if_high: shape (n_documents, n_tried): the same after each label, as far as
    # the strategy looks; empty beyond
    if_low: FloatArray = field(init=False)
    if_value: FloatArray = field(init=False)
    if_high: FloatArray = field(init=False)
    _foreseen: "dict[tuple[int, bytes], tuple[FloatArray, FloatArray]]" = field(
        init=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        n_queries = len(self.pool.query_ids)
        self.low, self.value, self.high = (np.zeros(n_queries) for _ in range(3))
        unseen = (0, 0)
        self.if_value = np.zeros(unseen if self.sight == "labels" else self.tried.shape)
        shape_of_bounds = self.tried.shape if self.sight == "bounds" else unseen
        self.if_low = np.zeros(shape_of_bounds)
        self.if_high = np.zeros(shape_of_bounds)
        self._measure(np.arange(n_queries))

    @classmethod
    def of(
        cls,
        states: DifferenceStates,
        *,
        sight: Sight,
        hidden: bool = False,
        seed: int = 0,
        only: FloatArray | None = None,
    ) -> Self:
        """Start from what is judged; with `hidden`, as if no pooled document was. `only` are the
        grades of the pooled documents if no others are tried.
        """
        grades = states.given.copy()
        if hidden:
            grades[states.place] = np.nan
        pooled_grades = grades[states.place]
        top = states.max_grade
        below_top = np.arange(0.0, top) if top < _LEVELS else np.linspace(0, top, _LEVELS)
        levels = np.unique(np.append(below_top, top))
        if only is None:
            tried = np.tile(levels, (pooled_grades.size, 1))
        else:
            nearest = np.abs(levels - only[:, None]).argmin(axis=1)
            tried = levels[nearest][:, None]
        return cls(
            states=states,
            grades=grades,
            levels=levels,
            tried=tried,
            is_open=np.isnan(pooled_grades),
            given=pooled_grades,
            sight=sight,
            seed=seed,
        )

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
        low = float(self.low.sum()) / self.n_queries
        value = float(self.value.sum()) / self.n_queries
        high = float(self.high.sum()) / self.n_queries
        return low, value, high

    @property
    def settled(self) -> bool:
        """True if no grades of the open documents can change the sign of the mean difference."""
        low, _, high = self.bounds
        return not self.is_open.any() or low > ROUNDING or high < -ROUNDING

    def reveal(self, document: int, grade: float) -> None:
        """Take the label of a document."""
        self._measure(self._take(document, grade))

    def follow(self, document: int, grade: float) -> None:
        """Take the label of a document, and look ahead as the strategy does; bounds that it does
        not look at stay as they were.
        """
        query = self._take(document, grade)
        if self.sight != "labels":
            self._look_ahead(query)

    def foresee(self, documents: IntArray, grades: FloatArray) -> None:
        """Measure together what labels of documents of different queries lead to, so that taking
        one of them later costs nothing.
        """
        place = self.states.place[documents]
        self.grades[place] = grades
        self.is_open[documents] = False
        self._outcomes(self.pool.query[documents])
        self.grades[place] = np.nan
        self.is_open[documents] = True

    def is_foreseen(self, document: int, grade: float) -> bool:
        """Return whether the label of a document leads to what was measured before."""
        place = self.states.place[document]
        self.grades[place] = grade
        is_measured = self._key(int(self.pool.query[document])) in self._foreseen
        self.grades[place] = np.nan
        return is_measured

    def model(self) -> GradeModel:
        """Return the probabilities of grades, from the labels of pooled documents."""
        labelled = ~self.is_open
        return GradeModel.of(self.levels, self.pool.best_rank[labelled], self.given[labelled])

    def _take(self, document: int, grade: float) -> IntArray:
        self.grades[self.states.place[document]] = float(grade)
        self.given[document] = grade
        self.is_open[document] = False
        return self.pool.query[document : document + 1]

    def _measure(self, queries: IntArray) -> None:
        """Work out some queries again, with every label tried of their open documents if the
        strategy looks ahead.
        """
        if self.sight != "bounds":
            bounds = self.states.bounds(*self._after(queries, queries[:0]))
            self.low[queries] = bounds.low
            self.value[queries] = bounds.value
            self.high[queries] = bounds.high
        if self.sight != "labels":
            self._look_ahead(queries)

    def _look_ahead(self, queries: IntArray) -> None:
        """Fill in the differences of some queries, as labelled so far and after each label."""
        so_far = [self.value]
        after = [self.if_value]
        if self.sight == "bounds":
            so_far = [self.low, self.value, self.high]
            after = [self.if_low, self.if_value, self.if_high]
        for query, outcomes in zip(queries.tolist(), self._outcomes(queries), strict=True):
            rows = self._open_of(np.array([query]))
            for column, (difference, differences) in enumerate(zip(*outcomes, strict=True)):
                so_far[column][query] = difference
                after[column][rows] = differences

    def _outcomes(self, queries: IntArray) -> "list[tuple[FloatArray, FloatArray]]":
        """Return the differences of some queries as labelled so far, shape (n,), and after labels
        of their open documents, (n, n_open, n_tried).

        n is 3, for bounds and value, or 1 if the strategy looks at values alone.
        """
        keys = [self._key(query) for query in queries.tolist()]
        new = np.flatnonzero([key not in self._foreseen for key in keys])
        if new.size:
            rows = self._open_of(queries[new])
            sizes = [self._open_of(queries[[place]]).size for place in new]
            states = self._after(queries[new], rows)
            if self.sight == "values":
                columns = self.states.values(*states)[None]
            else:
                bounds = self.states.bounds(*states)
                columns = np.stack((bounds.low, bounds.value, bounds.high))
            # The states of the queries as labelled so far come first; see `_after`.
            later = columns[:, new.size :].reshape(columns.shape[0], rows.size, self.tried.shape[1])
            of_query = np.split(later, np.cumsum(sizes)[:-1], axis=1)
            outcomes = zip(columns[:, : new.size].T, of_query, strict=True)
            new_keys = [keys[place] for place in new.tolist()]
            self._foreseen.update(zip(new_keys, outcomes, strict=True))
        return [self._foreseen[key] for key in keys]

    def _key(self, query: int) -> tuple[int, bytes]:
        """Return the key of a query and its labels so far."""
        offsets = self.states.documents.offsets
        return query, self.grades[offsets[query] : offsets[query + 1]].tobytes()

    def _open_of(self, queries: IntArray) -> IntArray:
        rows = Ragged.of(self.pool.offsets, queries).row
        return rows[self.is_open[rows]]

    def _after(self, queries: IntArray, rows: IntArray) -> tuple[IntArray, FloatArray]:
        """Return states to measure: some queries as labelled so far, then with every label tried of
        some documents.
        """
        n_tried = self.tried.shape[1]
        offsets = self.states.documents.offsets
        codes = np.concatenate((queries, np.repeat(self.pool.query[rows], n_tried)))
        grades = self.grades[Ragged.of(offsets, codes).row]
        # Each later state is a copy of its query's grades with one changed: the row of a document
        # within its query, from where the copy begins.
        sizes = np.diff(offsets)[codes]
        begins = (np.cumsum(sizes) - sizes)[queries.size :]
        place = np.repeat(self.states.place[rows] - offsets[self.pool.query[rows]], n_tried)
        grades[begins + place] = self.tried[rows].reshape(-1)
        return codes, grades
