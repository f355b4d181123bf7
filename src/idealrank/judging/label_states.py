"""Documents that two runs return to a depth, and the difference of the runs under any state of their judgments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Ranking, Run
from idealrank.data.types import FloatArray, IntArray, decode_id
from idealrank.errors import InputError
from idealrank.judging.value_bounds import aligned, difference_bounds_of
from idealrank.measures.measure import Measure

_ROWS = 1 << 21  # rows of both runs over all states that are measured at once
UNLISTED = 0  # rank of a document that a run does not return


@dataclass(frozen=True, eq=False)
class PooledDocuments:
    """Documents of two runs down to a depth, query by query: what depth pooling would judge.

    Attributes
    ----------
    query_ids : sequence of str
        Queries compared.
    query : int64 array, shape (n_documents,)
        Query code of each document, rising.
    documents : sequence of str, shape (n_documents,)
        Documents, by their best rank within each query.
    rank_a, rank_b : int64 array, shape (n_documents,)
        Rank in each run; 0 if the run does not return it.
    depth : int
        Deepest rank pooled.

    Examples
    --------
    >>> found = PooledDocuments.of(Run({"q": ["a", "b", "c"]}), Run({"q": ["b", "d"]}), 2, Convention.of("standard"))
    >>> found.documents, found.rank_a.tolist(), found.rank_b.tolist()
    (['a', 'b', 'd'], [1, 2, 0], [0, 1, 2])
    """

    query_ids: Sequence[str]
    query: IntArray
    documents: Sequence[str]
    rank_a: IntArray
    rank_b: IntArray
    depth: int

    @classmethod
    def of(cls, run_a: Run, run_b: Run, depth: int, convention: Convention, queries: Sequence[str] | None = None) -> Self:
        """Pool two runs.

        Raises
        ------
        InputError
            The runs answer none of the queries.
        """
        lists = [_rankings(run, convention, 0) for run in (run_a, run_b)]
        wanted = list(dict.fromkeys((*lists[0], *lists[1]))) if queries is None else list(queries)
        if not any(query in one for query in wanted for one in lists):
            raise InputError(f"no query to compare: runs {run_a.name!r} and {run_b.name!r} answer none of the {len(wanted):,} queries")
        code: list[int] = []
        documents: list[str] = []
        ranks: list[tuple[int, int]] = []
        tied = convention.alignment.ties in ("expected", "best", "worst")
        for place, query in enumerate(wanted):
            found = [_ranks(one.get(query), tied=tied) for one in lists]
            within = {document for ranked in found for document, (_, first) in ranked.items() if first <= depth}
            pooled = [(found[0].get(document, (UNLISTED, 0))[0], found[1].get(document, (UNLISTED, 0))[0], document) for document in within]
            pooled.sort(key=_by_best_rank)
            code += [place] * len(pooled)
            documents += [document for _, _, document in pooled]
            ranks += [(a, b) for a, b, _ in pooled]
        columns = np.array(ranks, np.int64).reshape(-1, 2)
        return cls(wanted, np.array(code, np.int64), documents, columns[:, 0].copy(), columns[:, 1].copy(), depth)

    @cached_property
    def offsets(self) -> IntArray:
        """Where the documents of each query begin, shape (n_queries + 1,)."""
        return np.searchsorted(self.query, np.arange(len(self.query_ids) + 1))

    @cached_property
    def best_rank(self) -> IntArray:
        """Highest place in either run, as a rank from 1."""
        far = np.iinfo(np.int64).max
        return np.minimum(np.where(self.rank_a == UNLISTED, far, self.rank_a), np.where(self.rank_b == UNLISTED, far, self.rank_b))

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.documents)


def _by_best_rank(row: tuple[int, int, str]) -> tuple[int, int, str]:
    a, b, document = row
    return min(a or b, b or a), max(a, b), document


def _rankings(run: Run, convention: Convention, depth: int) -> dict[str, Ranking]:
    held = run.in_memory()
    queries = [decode_id(query) for query in held.source.query_ids()]  # type: ignore[union-attr]
    return {query: held.ranking(query, convention.alignment, depth=depth) for query in queries}


def _ranks(ranking: Ranking | None, *, tied: bool) -> dict[str, tuple[int, int]]:
    """Rank of each document, and the rank that the depth is held against: the first of its tie group where ties have no order."""
    if ranking is None:
        return {}
    first = ranking.first.tolist()
    return {document: (rank, first[rank - 1] if tied else rank) for rank, document in enumerate(ranking.documents, 1)}


@dataclass(frozen=True, eq=False)
class StateBounds:
    """Difference of two runs in some states of the judgments of single queries.

    Attributes
    ----------
    low, value, high : float64 array, shape (n_states,)
        Lowest difference, difference as judged, highest difference; 0 where the query has no value.
    """

    low: FloatArray
    value: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class DifferenceStates:
    """Two runs whose difference is worked out for many states of the judgments.

    Attributes
    ----------
    pool : PooledDocuments
        Documents with an open grade until they are judged.
    measure : Measure
        The measure.
    convention : Convention
        Of alignment and measure.
    max_grade : float
        Highest grade.
    lists : tuple of list of Ranking
        Of each run, by query code.
    names : tuple of str
        Of the runs.

    Examples
    --------
    >>> from idealrank.measures.parse import parse_measure
    >>> runs, convention = (Run({"q": ["a", "b"]}), Run({"q": ["b", "a"]})), Convention.of("standard")
    >>> states = DifferenceStates.of(runs, parse_measure("RR"), 2, 1.0, convention=convention)
    >>> found = states.bounds([(0, {}), (0, {"a": 0.0})])
    >>> found.low, found.high
    (array([-0.5,  0. ]), array([0.5, 0.5]))
    """

    pool: PooledDocuments
    measure: Measure
    convention: Convention
    max_grade: float
    lists: "tuple[list[Ranking], list[Ranking]]"
    names: tuple[str, str] = ("A", "B")

    @classmethod
    def of(
        cls,
        runs: tuple[Run, Run],
        measure: Measure,
        depth: int,
        max_grade: float,
        *,
        convention: Convention,
        queries: Sequence[str] | None = None,
    ) -> Self:
        """Rank both runs once.

        Raises
        ------
        InputError
            The runs answer none of the queries.
        """
        pool = PooledDocuments.of(*runs, depth, convention, queries)
        needed = measure.under(convention).hits_needed()
        deepest = max(needed, depth) if needed else 0
        lists = [_rankings(run, convention, deepest) for run in runs]
        empty = Ranking([], np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
        by_query = tuple([one.get(query, empty) for query in pool.query_ids] for one in lists)
        return cls(pool, measure, convention, max_grade, by_query, (runs[0].name, runs[1].name))  # type: ignore[arg-type]

    def bounds(self, states: "Sequence[tuple[int, Mapping[str, float]]]") -> StateBounds:
        """Compute the bounds of the difference in each state: a query code, and the grades judged for the query.

        States are independent of one another. Each is measured as a query of its own.
        """
        found = StateBounds(*(np.zeros(len(states)) for _ in range(3)))
        sizes = np.array([len(self.lists[0][query].documents) + len(self.lists[1][query].documents) for query, _ in states], np.int64)
        part = np.cumsum(sizes) // _ROWS
        for begin, end in zip(*_runs_of(part), strict=True):
            self._fill(states[begin:end], slice(begin, end), found)
        return found

    def _fill(self, states: "Sequence[tuple[int, Mapping[str, float]]]", places: slice, found: StateBounds) -> None:
        qrels = Qrels({str(place): dict(grades) for place, (_, grades) in enumerate(states)})
        runs = [self._repeated(side, [query for query, _ in states]) for side in (0, 1)]
        a, b = (aligned(qrels, run, [self.measure], self.convention, self.pool.depth, threads=1) for run in runs)
        known = set(b.queries)
        kept = [query for query in a.queries if query in known]
        if not kept:
            return
        bounds = difference_bounds_of(a, b, self.measure, self.max_grade, self.pool.depth, convention=self.convention, queries=kept)
        at = places.start + np.array([int(query) for query in kept], np.int64)
        for column, values in ((found.low, bounds.low), (found.value, bounds.value), (found.high, bounds.high)):
            column[at] = np.nan_to_num(values, nan=0.0)

    def _repeated(self, side: int, queries: Sequence[int]) -> Run:
        """Build a run with one list for each state; scores keep ties only where ties have no order."""
        lists = [self.lists[side][query] for query in queries]
        tied = self.convention.alignment.ties in ("expected", "best", "worst")
        scores = [one.scores if tied else -np.arange(1.0, len(one.documents) + 1) for one in lists]
        ids = [str(place) for place, one in enumerate(lists) for _ in one.documents]
        documents = [document for one in lists for document in one.documents]
        return Run.from_columns(ids, documents, np.concatenate(scores) if scores else np.empty(0), name="AB"[side])


def _runs_of(part: IntArray) -> "tuple[list[int], list[int]]":
    """Begin and end of each stretch of equal numbers."""
    if not part.size:
        return [], []
    begins = np.flatnonzero(np.concatenate(([True], part[1:] != part[:-1])))
    return begins.tolist(), [*begins[1:].tolist(), part.size]
