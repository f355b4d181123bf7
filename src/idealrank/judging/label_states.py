"""Documents that two runs return to a depth, and the difference of the runs under any state of
their judgments: each run is ranked once, and a state only says which places are judged.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from idealrank.bounds.free_documents import Ragged
from idealrank.bounds.value_bounds import aligned, difference_bounds_of, scored_values
from idealrank.conventions import Convention
from idealrank.data.judged import Alignments, Hits, Judged, Judgments, UnjudgedHits
from idealrank.data.policies import apply_grade_policies, ideal_grades, name_row
from idealrank.data.qrels import Qrels
from idealrank.data.run import Ranking, Run
from idealrank.data.types import BoolArray, FloatArray, IntArray, QueryIds, decode_id
from idealrank.errors import InputError
from idealrank.measures.measure import Measure


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedStates:
    """Some states of the judgments, each of one query: the grade of every document that may be
    judged.
    """

    documents: Qrels  # All documents of each query that may be judged, at any grade
    query: IntArray  # shape (n_states,): query code of each state
    # shape (n_grades,): grades, state after state, in the order of `documents`; NaN for a document
    # that is not judged
    given: FloatArray
    grade: FloatArray  # shape (n_grades,): after the convention's grade policies; NaN as in `given`
    rows: Ragged  # State and row in `documents` of each grade
    # True if the convention takes judged documents out of the lists because of their grades
    vanish: bool

    @classmethod
    def of(
        cls, documents: Qrels, query: IntArray, grades: FloatArray, convention: Convention
    ) -> Self:
        """Apply the convention's grade policies."""
        rows = Ragged.of(documents.offsets, query)
        judged = np.flatnonzero(~np.isnan(grades))
        graded = apply_grade_policies(
            grades[judged],
            convention.alignment,
            lambda place: name_row(documents, int(rows.row[judged[place]])),
        )
        grade = np.full(grades.size, np.nan)
        grade[judged] = graded.grades
        return cls(
            documents=documents,
            query=query,
            given=grades,
            grade=grade,
            rows=rows,
            vanish=graded.removed is not None,
        )

    def part(self, kept: BoolArray) -> "JudgedStates":
        """Return some of the states."""
        if kept.all():
            return self
        inside = kept[self.rows.copy]
        rows = Ragged.of(self.documents.offsets, self.query[kept])
        return JudgedStates(
            documents=self.documents,
            query=self.query[kept],
            given=self.given[inside],
            grade=self.grade[inside],
            rows=rows,
            vanish=self.vanish,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class RankedPlaces:
    """Every place of the lists of one run, whatever is judged."""

    hidden: Judged  # The lists with no document judged
    # shape (n_queries,): code in `hidden` of each query; -1 if the query does not count
    code: IntArray
    offsets: IntArray  # Where the places of each query of `hidden` begin
    # shape (n_places,): row of each place among the documents that may be judged
    document: IntArray

    @classmethod
    def of(
        cls, documents: Qrels, run: Run, measure: Measure, convention: Convention, depth: int
    ) -> Self:
        """Align a run twice: with no document judged, and with all that may be, which are at least
        the documents that it shows.
        """
        no_judgments: dict[str, dict[str, float]] = {query: {} for query in documents.queries}
        hidden = aligned(Qrels(no_judgments), run, [measure], convention, depth, threads=1)
        all_judged = aligned(documents, run, [measure], convention, depth, threads=1)
        assert hidden.unjudged is not None  # noqa: S101  (for the type checker: `aligned` keeps them)
        assert all_judged.hits.document is not None  # noqa: S101  (for the type checker: lists with ids have documents)
        code_of = {query: code for code, query in enumerate(hidden.queries)}
        code = np.array([code_of.get(query, -1) for query in documents.queries], np.int64)
        offsets = np.searchsorted(hidden.unjudged.query, np.arange(hidden.n_queries + 1))
        return cls(hidden=hidden, code=code, offsets=offsets, document=all_judged.hits.document)

    def judged(self, states: JudgedStates) -> Judged:
        """Return the lists of each state, as alignment with its judgments gives them; every query
        of the states must count.
        """
        hidden = self.hidden
        listed = hidden.unjudged  # every document of the lists
        assert listed is not None  # noqa: S101  (for the type checker)
        code = self.code[states.query]
        n_states = states.query.size
        begins = np.searchsorted(states.rows.copy, np.arange(n_states))
        places = Ragged.of(self.offsets, code)
        # Index of each place in the grades of the states: where its state begins, plus the row of
        # its document within the query.
        first_row = states.documents.offsets[states.query]
        grade_row = begins[places.copy] + self.document[places.row] - first_row[places.copy]
        is_judged = ~np.isnan(states.grade)
        is_hit = is_judged[grade_row]
        hit = np.flatnonzero(is_hit)
        free = np.flatnonzero(~is_hit)
        judged = np.flatnonzero(is_judged)
        n_judged = np.bincount(places.copy[hit], minlength=n_states)
        counters = hidden.alignments

        def hits() -> Hits:
            row = places.row[hit]
            first = listed.tie_first[row]
            last = listed.tie_last[row]
            tied = bool((first < last).any())
            return Hits(
                query=places.copy[hit],
                rank=listed.rank[row],
                grade=states.grade[grade_row[hit]],
                tie_first=first if tied else None,
                tie_last=last if tied else None,
            )

        def unjudged() -> UnjudgedHits:
            row = places.row[free]
            # The key of a document is its row, so that documents keep one order wherever their
            # state stands among others.
            key = self.document[row].astype(np.uint64)
            return UnjudgedHits(
                query=places.copy[free],
                rank=listed.rank[row],
                key=key,
                tie_first=listed.tie_first[row],
                tie_last=listed.tie_last[row],
            )

        state_of_judged = states.rows.copy[judged]
        return Judged(
            queries=QueryIds(n_states, lambda: _names(states)),
            ties=hidden.ties,
            lengths=hidden.lengths[code],
            returned=hidden.returned[code],
            hits=hits,
            ideal=lambda: ideal_grades(state_of_judged, states.grade[judged], n_states),
            judgments=lambda: Judgments(
                state_of_judged, states.grade[judged], states.given[judged]
            ),
            given=lambda: states.given[grade_row[hit]],
            alignments=Alignments(
                tied=counters.tied[code],
                duplicates=counters.duplicates[code],
                first_unjudged=np.zeros_like(n_judged),
                judged=n_judged,
                straddling=counters.straddling[code],
            ),
            scope=hidden.scope,
            depth=hidden.depth,
            unjudged=unjudged,
            unjudged_depth=hidden.unjudged_depth,
        )


def _names(states: JudgedStates) -> list[str]:
    names: Sequence[str] = states.documents.queries
    return [names[code] for code in states.query.tolist()]


_ROWS = 1 << 21  # grades over all states that are measured at once: 16 MiB of floats
_WHOLE = (1 << 31) - 1  # depth below every list
UNLISTED = 0  # rank of a document that a run does not return


@dataclass(frozen=True, kw_only=True, eq=False)
class PooledDocuments:
    """Documents of two runs down to a depth, query by query: what depth pooling would judge."""

    query_ids: Sequence[str]  # Queries compared
    query: IntArray  # shape (n_documents,): query code of each document, rising
    # shape (n_documents,): documents, by their best rank within each query
    documents: Sequence[str]
    # rank_a, rank_b: shape (n_documents,): rank in each run; 0 if the run does not return it
    rank_a: IntArray
    rank_b: IntArray
    depth: int  # Deepest rank pooled

    @classmethod
    def of(
        cls,
        run_a: Run,
        run_b: Run,
        depth: int,
        convention: Convention,
        queries: Sequence[str] | None = None,
    ) -> Self:
        """Pool two runs."""
        rankings_a = _rankings(run_a, convention)
        rankings_b = _rankings(run_b, convention)
        answered = list(dict.fromkeys((*rankings_a, *rankings_b)))
        query_ids = answered if queries is None else list(queries)
        if set(query_ids).isdisjoint(answered):
            complaint = f"answer none of the {len(query_ids):,} queries"
            if len(query_ids) == 1:
                complaint = "do not answer the query"
            raise InputError(
                f"no query to compare: runs {run_a.name!r} and {run_b.name!r} {complaint}"
            )

        codes: list[int] = []
        pooled: list[_Pooled] = []
        for code, query in enumerate(query_ids):
            of_query = _pooled(rankings_a.get(query), rankings_b.get(query), depth, convention)
            codes += [code] * len(of_query)
            pooled += of_query
        return cls(
            query_ids=query_ids,
            query=np.array(codes, np.int64),
            documents=[row.document for row in pooled],
            rank_a=np.array([row.rank_a for row in pooled], np.int64),
            rank_b=np.array([row.rank_b for row in pooled], np.int64),
            depth=depth,
        )

    @cached_property
    def offsets(self) -> IntArray:
        """Row where the documents of each query begin, shape (n_queries + 1,)."""
        return np.searchsorted(self.query, np.arange(len(self.query_ids) + 1))

    @cached_property
    def best_rank(self) -> IntArray:
        """Highest place in either run, as a rank from 1."""
        far = np.iinfo(np.int64).max
        return np.minimum(
            np.where(self.rank_a == UNLISTED, far, self.rank_a),
            np.where(self.rank_b == UNLISTED, far, self.rank_b),
        )

    @cached_property
    def listed(self) -> tuple[IntArray, IntArray]:
        """Rows of the documents that each run returns, query after query, by rank."""
        a, b = (np.lexsort((ranks, self.query)) for ranks in (self.rank_a, self.rank_b))
        return a[self.rank_a[a] != UNLISTED], b[self.rank_b[b] != UNLISTED]

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.documents)


class _Pooled(NamedTuple):
    """A pooled document of one query."""

    document: str
    rank_a: int  # 0 if the run does not return it
    rank_b: int

    def by_best_rank(self) -> tuple[int, int, str]:
        """Return the sort key; a rank of 0 counts as the other rank."""
        best = min(self.rank_a or self.rank_b, self.rank_b or self.rank_a)
        return best, max(self.rank_a, self.rank_b), self.document


def _pooled(
    ranking_a: Ranking | None, ranking_b: Ranking | None, depth: int, convention: Convention
) -> list[_Pooled]:
    """Pool the rankings of one query, documents by their best rank."""
    within: set[str] = set()
    for ranking in (ranking_a, ranking_b):
        if ranking is not None:
            within.update(_down_to(ranking, depth, tied=_tied(convention)))
    ranks_a = _ranks(ranking_a)
    ranks_b = _ranks(ranking_b)
    pooled = [
        _Pooled(document, ranks_a.get(document, UNLISTED), ranks_b.get(document, UNLISTED))
        for document in within
    ]
    return sorted(pooled, key=_Pooled.by_best_rank)


def _rankings(run: Run, convention: Convention) -> dict[str, Ranking]:
    """Rank a run; return the list of each query."""
    in_memory = run.in_memory()
    queries = [decode_id(query) for query in in_memory.source.query_ids()]  # type: ignore[union-attr]
    return {query: in_memory.ranking(query, convention.alignment) for query in queries}


def _tied(convention: Convention) -> bool:
    """Return whether tied documents have no order."""
    return convention.alignment.ties in ("expected", "best", "worst")


def _down_to(ranking: Ranking, depth: int, *, tied: bool) -> list[str]:
    """Return the documents of a list down to a rank; if `tied`, with all documents that are tied
    with one of them.
    """
    n = int(np.count_nonzero(ranking.first <= depth)) if tied else depth
    return ranking.documents[:n]


def _ranks(ranking: Ranking | None) -> dict[str, int]:
    documents = [] if ranking is None else ranking.documents
    return {document: rank for rank, document in enumerate(documents, 1)}


@dataclass(frozen=True, kw_only=True, eq=False)
class StateBounds:
    """Difference of two runs in some states of the judgments of single queries."""

    # low, value, high: shape (n_states,): lowest difference, difference as judged, highest
    # difference; 0 where the query has no value
    low: FloatArray
    value: FloatArray
    high: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class DifferenceStates:
    """Two runs whose difference is worked out for many states of the judgments.

    A state has the grades of all documents of one query that may be judged.
    """

    pool: PooledDocuments  # Documents with an open grade until they are judged
    measure: Measure  # The measure
    convention: Convention  # Convention of alignment and measure
    max_grade: float  # Highest grade
    runs: tuple[Run, Run]  # The runs
    lists: tuple[Sequence[Ranking], Sequence[Ranking]]  # Rankings of each run, by query code
    documents: Qrels  # Documents that may be judged or are: all that can change a value
    given: FloatArray  # shape (n_documents,): their grades as judged; NaN if a document is not

    @classmethod
    def of(
        cls,
        runs: tuple[Run, Run],
        qrels: Qrels,
        measure: Measure,
        depth: int,
        max_grade: float,
        *,
        convention: Convention,
        queries: Sequence[str] | None = None,
    ) -> Self:
        """Rank both runs once."""
        pool = PooledDocuments.of(*runs, depth, convention, queries)
        lists_a, lists_b = (_lists_of(run, pool.query_ids, convention) for run in runs)
        resolved = measure.under(convention)
        needed = resolved.hits_needed()
        deepest = max(needed, depth) if needed else _WHOLE
        ideal_size = resolved.ideal_size
        if convention.alignment.negative in ("removed", "padding"):
            # documents leave the lists by their grade, and lower ones move up
            deepest = _WHOLE
            ideal_size = None
        shown = [
            [
                *_down_to(list_a, deepest, tied=True),
                *_down_to(list_b, deepest, tied=True),
            ]
            for list_a, list_b in zip(lists_a, lists_b, strict=True)
        ]
        grades = _grades(pool, shown, qrels, ideal_size)
        judged_grades = np.array(
            [grade for of_query in grades.values() for grade in of_query.values()], np.float64
        )
        documents = Qrels(
            {query: dict.fromkeys(of_query, 0.0) for query, of_query in grades.items()},
            name=qrels.name,
        )
        return cls(
            pool=pool,
            measure=measure,
            convention=convention,
            max_grade=max_grade,
            runs=runs,
            lists=(lists_a, lists_b),
            documents=documents,
            given=judged_grades,
        )

    @property
    def names(self) -> tuple[str, str]:
        """Names of the runs."""
        return self.runs[0].name, self.runs[1].name

    @cached_property
    def place(self) -> IntArray:
        """Row of each pooled document in `documents`."""
        offsets = self.documents.offsets
        table = self.documents.table
        query = np.repeat(np.arange(offsets.size - 1), np.diff(offsets)).tolist()
        names = _texts(table.document_ids(np.arange(len(query))))
        row_of = {pair: row for row, pair in enumerate(zip(query, names, strict=True))}
        pooled = zip(self.pool.query.tolist(), self.pool.documents, strict=True)
        return np.array([row_of[pair] for pair in pooled], np.int64)

    @cached_property
    def _ranked(self) -> "tuple[RankedPlaces, RankedPlaces]":
        a, b = (
            RankedPlaces.of(self.documents, run, self.measure, self.convention, self.pool.depth)
            for run in self.runs
        )
        return a, b

    def values(self, query: IntArray, grades: FloatArray) -> FloatArray:
        """Compute the difference as judged in each state, shape (n_states,), 0 where the query has
        none; arguments as for `bounds`.
        """
        differences = np.zeros(query.size)
        measure = self.measure.under(self.convention)
        for begin, states in self._parts(query, grades):
            counting, a, b = self._lists(states)
            if counting.size:
                difference = scored_values(measure, b) - scored_values(measure, a)
                differences[begin + counting] = np.nan_to_num(difference, nan=0.0)
        return differences

    def bounds(self, query: IntArray, grades: FloatArray) -> StateBounds:
        """Compute the bounds of the difference in each state."""
        bounds = StateBounds(
            low=np.zeros(query.size), value=np.zeros(query.size), high=np.zeros(query.size)
        )
        for begin, states in self._parts(query, grades):
            counting, a, b = self._lists(states)
            if not counting.size:
                continue
            rows = begin + counting
            ends = difference_bounds_of(
                a,
                b,
                self.measure,
                self.max_grade,
                self.pool.depth,
                convention=self.convention,
                queries=a.queries,
            )
            bounds.low[rows] = np.nan_to_num(ends.low, nan=0.0)
            bounds.value[rows] = np.nan_to_num(ends.value, nan=0.0)
            bounds.high[rows] = np.nan_to_num(ends.high, nan=0.0)
        return bounds

    def _parts(self, query: IntArray, grades: FloatArray) -> "Iterator[tuple[int, JudgedStates]]":
        """Yield the states that are measured at once, after the number of states before them."""
        past = np.cumsum(np.diff(self.documents.offsets)[query])  # grades up to each state
        begins, ends = _stretches(past // _ROWS)
        first_grade = 0
        for begin, end in zip(begins, ends, strict=True):
            end_grade = int(past[end - 1])
            of_part = grades[first_grade:end_grade]
            yield begin, JudgedStates.of(self.documents, query[begin:end], of_part, self.convention)
            first_grade = end_grade

    def _lists(self, states: JudgedStates) -> tuple[IntArray, Judged, Judged]:
        """Return the states that count, and the lists of both runs in each of them."""
        if states.vanish or self.convention.alignment.unjudged != "not-relevant":
            return self._realigned(states)
        a, b = self._ranked
        counts = (a.code[states.query] >= 0) & (b.code[states.query] >= 0)
        states = states.part(counts)
        return np.flatnonzero(counts), a.judged(states), b.judged(states)

    def _realigned(self, states: JudgedStates) -> tuple[IntArray, Judged, Judged]:
        """Do the same by an alignment, for conventions in which judgments change the lists."""
        lists_a, lists_b = self.lists
        if self.convention.alignment.missing == "left-out":
            is_answered = [
                bool(lists_a[query].documents and lists_b[query].documents)
                for query in states.query.tolist()
            ]
            counts = np.array(is_answered, np.bool_)
        else:
            counts = np.ones(states.query.size, np.bool_)
        states = states.part(counts)

        # each state is a query of its own, whose name is its number
        qrels: dict[str, dict[str, float]] = {str(state): {} for state in range(states.query.size)}
        judged = np.flatnonzero(~np.isnan(states.given))
        documents = _texts(self.documents.table.document_ids(states.rows.row[judged]))
        state_of = states.rows.copy[judged].tolist()
        for state, document, grade in zip(
            state_of, documents, states.given[judged].tolist(), strict=True
        ):
            qrels[str(state)][document] = grade
        a, b = (
            aligned(
                Qrels(qrels),
                self._repeated(lists, states.query, run.name),
                [self.measure],
                self.convention,
                self.pool.depth,
                threads=1,
            )
            for lists, run in zip(self.lists, self.runs, strict=True)
        )
        return np.flatnonzero(counts), a, b

    def _repeated(self, lists_of_run: Sequence[Ranking], query: IntArray, name: str) -> Run:
        """Build a run with the list of each state's query, named by the number of the state; scores
        keep ties only where ties have no order.
        """
        lists = [lists_of_run[code] for code in query.tolist()]
        if _tied(self.convention):
            scores = [ranking.scores for ranking in lists]
        else:
            scores = [-np.arange(1.0, len(ranking.documents) + 1) for ranking in lists]
        query_ids: list[str] = []
        documents: list[str] = []
        for number, ranking in enumerate(lists):
            query_ids += [str(number)] * len(ranking.documents)
            documents += ranking.documents
        return Run.from_columns(
            query_ids, documents, np.concatenate(scores) if scores else np.empty(0), name=name
        )


def _lists_of(run: Run, query_ids: Sequence[str], convention: Convention) -> list[Ranking]:
    """Return the list of each query, empty if the run does not answer it."""
    empty = Ranking([], np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
    rankings = _rankings(run, convention)
    return [rankings.get(query, empty) for query in query_ids]


def _texts(raw: Sequence[bytes]) -> list[str]:
    return [decode_id(raw_id) for raw_id in raw]


def _grades(
    pool: PooledDocuments,
    shown: Sequence[Sequence[str]],
    qrels: Qrels,
    ideal_size: int | None,
) -> dict[str, dict[str, float]]:
    """Return the grade of each document that may be judged, by query; NaN if it is not judged.

    Of judged documents that no run shows, only as many as the ideal list has are kept, by falling
    grade, and one of each other grade.
    """
    grades: dict[str, dict[str, float]] = {}
    for code, query in enumerate(pool.query_ids):
        pooled = pool.documents[pool.offsets[code] : pool.offsets[code + 1]]
        of_query = dict.fromkeys([*pooled, *shown[code]], np.nan)
        judged = qrels[query] if query in qrels else {}  # noqa: SIM401  (Qrels has no get)
        below = [document for document in judged if document not in of_query]
        below.sort(key=judged.__getitem__, reverse=True)
        if ideal_size is not None:
            # The others are too low for the ideal list. Only whether a grade occurs matters.
            by_grade = {judged[document]: document for document in below[ideal_size:]}
            below = [*below[:ideal_size], *by_grade.values()]
        for document in (*(of_query.keys() & judged.keys()), *below):
            of_query[document] = judged[document]
        grades[query] = of_query
    return grades


def _stretches(part: IntArray) -> "tuple[list[int], list[int]]":
    """Return the begin and the end of each stretch of equal numbers."""
    if not part.size:
        return [], []
    begins = np.flatnonzero(np.concatenate(([True], part[1:] != part[:-1])))
    return begins.tolist(), [*begins[1:].tolist(), part.size]
