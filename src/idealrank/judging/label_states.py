"""Documents that two runs return to a depth, and the difference of the runs under any state of
their judgments: each run is ranked once, and a state only says which places are judged.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

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
        known = np.flatnonzero(~np.isnan(grades))
        graded = apply_grade_policies(
            grades[known],
            convention.alignment,
            lambda place: name_row(documents, int(rows.row[known[place]])),
        )
        grade = np.full(grades.size, np.nan)
        grade[known] = graded.grades
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
        none: dict[str, dict[str, float]] = {query: {} for query in documents.queries}
        hidden = aligned(Qrels(none), run, [measure], convention, depth, threads=1)
        shown = aligned(documents, run, [measure], convention, depth, threads=1)
        assert hidden.unjudged is not None  # noqa: S101  (for the type checker: `aligned` keeps them)
        assert shown.hits.document is not None  # noqa: S101  (for the type checker: lists with ids have documents)
        place = {query: code for code, query in enumerate(hidden.queries)}
        code = np.array([place.get(query, -1) for query in documents.queries], np.int64)
        offsets = np.searchsorted(hidden.unjudged.query, np.arange(hidden.n_queries + 1))
        return cls(hidden=hidden, code=code, offsets=offsets, document=shown.hits.document)

    def judged(self, states: JudgedStates) -> Judged:
        """Return the lists of each state, as alignment with its judgments gives them; every query
        of the states must count.
        """
        hidden, shown = self.hidden, self.hidden.unjudged
        assert shown is not None  # noqa: S101  (for the type checker)
        code = self.code[states.query]
        n_states = states.query.size
        begins = np.searchsorted(states.rows.copy, np.arange(n_states))
        places = Ragged.of(self.offsets, code)
        # Index of each place in the grades of the states: where its state begins, plus the row of
        # its document within the query.
        first_row = states.documents.offsets[states.query]
        at = begins[places.copy] + self.document[places.row] - first_row[places.copy]
        is_known = ~np.isnan(states.grade)
        is_hit = is_known[at]
        hit, free, known = (np.flatnonzero(mask) for mask in (is_hit, ~is_hit, is_known))
        n_judged = np.bincount(places.copy[hit], minlength=n_states)
        counters = hidden.alignments

        def hits() -> Hits:
            row = places.row[hit]
            first, last = shown.tie_first[row], shown.tie_last[row]
            tied = bool((first < last).any())
            return Hits(
                query=places.copy[hit],
                rank=shown.rank[row],
                grade=states.grade[at[hit]],
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
                rank=shown.rank[row],
                key=key,
                tie_first=shown.tie_first[row],
                tie_last=shown.tie_last[row],
            )

        of_state = states.rows.copy[known]
        return Judged(
            queries=QueryIds(n_states, lambda: _names(states)),
            ties=hidden.ties,
            lengths=hidden.lengths[code],
            returned=hidden.returned[code],
            hits=hits,
            ideal=lambda: ideal_grades(of_state, states.grade[known], n_states),
            judgments=lambda: Judgments(of_state, states.grade[known], states.given[known]),
            given=lambda: states.given[at[hit]],
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


_ROWS = 1 << 21  # grades over all states that are measured at once
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
        lists = [_rankings(run, convention) for run in (run_a, run_b)]
        wanted = list(dict.fromkeys((*lists[0], *lists[1]))) if queries is None else list(queries)
        if set(wanted).isdisjoint({*lists[0], *lists[1]}):
            complaint = f"answer none of the {len(wanted):,} queries"
            if len(wanted) == 1:
                complaint = "do not answer the query"
            raise InputError(
                f"no query to compare: runs {run_a.name!r} and {run_b.name!r} {complaint}"
            )

        code: list[int] = []
        documents: list[str] = []
        ranks: list[tuple[int, int]] = []
        tied = _tied(convention)
        nowhere = (UNLISTED, 0)
        for place, query in enumerate(wanted):
            of_a, of_b = (_ranks(rankings.get(query), tied=tied) for rankings in lists)
            within: set[str] = set()
            for ranked in (of_a, of_b):
                within.update(document for document, (_, first) in ranked.items() if first <= depth)
            pooled = []
            for document in within:
                rank_a, _ = of_a.get(document, nowhere)
                rank_b, _ = of_b.get(document, nowhere)
                pooled.append((rank_a, rank_b, document))
            pooled.sort(key=_by_best_rank)
            code += [place] * len(pooled)
            documents += [document for _, _, document in pooled]
            ranks += [(rank_a, rank_b) for rank_a, rank_b, _ in pooled]

        columns = np.array(ranks, np.int64).reshape(-1, 2)
        return cls(
            query_ids=wanted,
            query=np.array(code, np.int64),
            documents=documents,
            rank_a=columns[:, 0].copy(),
            rank_b=columns[:, 1].copy(),
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


def _by_best_rank(row: tuple[int, int, str]) -> tuple[int, int, str]:
    """Return the sort key of a document; a rank of 0 (not returned) counts as the other rank."""
    a, b, document = row
    return min(a or b, b or a), max(a, b), document


def _rankings(run: Run, convention: Convention) -> dict[str, Ranking]:
    """Rank a run; return the list of each query."""
    held = run.in_memory()
    queries = [decode_id(query) for query in held.source.query_ids()]  # type: ignore[union-attr]
    return {query: held.ranking(query, convention.alignment) for query in queries}


def _tied(convention: Convention) -> bool:
    """Return whether tied documents have no order."""
    return convention.alignment.ties in ("expected", "best", "worst")


def _shown(rankings: Sequence[Ranking], depth: int) -> list[list[str]]:
    """Return the documents of each list down to a rank, with all documents tied with one above
    it.
    """
    return [
        ranking.documents[: int(np.count_nonzero(ranking.first <= depth))] for ranking in rankings
    ]


def _ranks(ranking: Ranking | None, *, tied: bool) -> dict[str, tuple[int, int]]:
    """Return the rank of each document, and the rank that the depth is compared with: the first of
    its tie group where ties have no order.
    """
    if ranking is None:
        return {}
    first = ranking.first.tolist()
    return {
        document: (rank, first[rank - 1] if tied else rank)
        for rank, document in enumerate(ranking.documents, 1)
    }


@dataclass(frozen=True, eq=False)
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
        made = measure.under(convention)
        empty = Ranking([], np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
        by_query = []
        for run in runs:
            rankings = _rankings(run, convention)
            by_query.append([rankings.get(query, empty) for query in pool.query_ids])

        needed = made.hits_needed()
        deepest = max(needed, depth) if needed else _WHOLE
        ideal_size = made.ideal_size
        if convention.alignment.negative in ("removed", "padding"):
            # documents leave the lists by their grade, and lower ones move up
            deepest, ideal_size = _WHOLE, None
        shown = [_shown(rankings, deepest) for rankings in by_query]
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
            lists=(by_query[0], by_query[1]),
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
        rows = {pair: row for row, pair in enumerate(zip(query, names, strict=True))}
        pooled = zip(self.pool.query.tolist(), self.pool.documents, strict=True)
        return np.array([rows[pair] for pair in pooled], np.int64)

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
            kept, a, b = self._lists(states)
            if kept.size:
                difference = scored_values(measure, b) - scored_values(measure, a)
                differences[begin + kept] = np.nan_to_num(difference, nan=0.0)
        return differences

    def bounds(self, query: IntArray, grades: FloatArray) -> StateBounds:
        """Compute the bounds of the difference in each state."""
        bounds = StateBounds(*(np.zeros(query.size) for _ in range(3)))
        for begin, states in self._parts(query, grades):
            kept, a, b = self._lists(states)
            if not kept.size:
                continue
            ends = difference_bounds_of(
                a,
                b,
                self.measure,
                self.max_grade,
                self.pool.depth,
                convention=self.convention,
                queries=a.queries,
            )
            bounds.low[begin + kept] = np.nan_to_num(ends.low, nan=0.0)
            bounds.value[begin + kept] = np.nan_to_num(ends.value, nan=0.0)
            bounds.high[begin + kept] = np.nan_to_num(ends.high, nan=0.0)
        return bounds

    def _parts(self, query: IntArray, grades: FloatArray) -> "Iterator[tuple[int, JudgedStates]]":
        """Yield the states that are measured at once, after the number of states before them."""
        past = np.cumsum(np.diff(self.documents.offsets)[query])  # grades up to each state
        begins, ends = _runs_of(past // _ROWS)
        for begin, end in zip(begins, ends, strict=True):
            of_part = grades[int(past[begin - 1]) if begin else 0 : int(past[end - 1])]
            yield begin, JudgedStates.of(self.documents, query[begin:end], of_part, self.convention)

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
        first, second = self.lists
        answered = np.array(
            [
                bool(first[query].documents and second[query].documents)
                for query in states.query.tolist()
            ],
            np.bool_,
        )
        counts = answered | (self.convention.alignment.missing != "left-out")
        states = states.part(counts)
        known = np.flatnonzero(~np.isnan(states.given))
        grades: dict[str, dict[str, float]] = {str(place): {} for place in range(states.query.size)}
        documents = _texts(self.documents.table.document_ids(states.rows.row[known]))
        places = states.rows.copy[known].tolist()
        known_grades = states.given[known].tolist()
        for place, document, grade in zip(places, documents, known_grades, strict=True):
            grades[str(place)][document] = grade
        runs = [self._repeated(side, states.query.tolist(), list(grades)) for side in (0, 1)]
        a, b = (
            aligned(Qrels(grades), run, [self.measure], self.convention, self.pool.depth, threads=1)
            for run in runs
        )
        return np.flatnonzero(counts), a, b

    def _repeated(self, side: int, queries: Sequence[int], names: Sequence[str]) -> Run:
        """Build a run with one list for each name; scores keep ties only where ties have no
        order.
        """
        lists = [self.lists[side][query] for query in queries]
        if _tied(self.convention):
            scores = [ranking.scores for ranking in lists]
        else:
            scores = [-np.arange(1.0, len(ranking.documents) + 1) for ranking in lists]
        ids = [name for name, ranking in zip(names, lists, strict=True) for _ in ranking.documents]
        documents = [document for ranking in lists for document in ranking.documents]
        return Run.from_columns(
            ids,
            documents,
            np.concatenate(scores) if scores else np.empty(0),
            name=self.runs[side].name,
        )


def _texts(raw: Sequence[bytes]) -> list[str]:
    return [decode_id(raw_id) for raw_id in raw]


def _grades(
    pool: PooledDocuments,
    shown: Sequence[Sequence[Sequence[str]]],
    qrels: Qrels,
    outside: int | None,
) -> dict[str, dict[str, float]]:
    """Return the grade of each document that may be judged, by query; NaN if it is not judged.

    Of judged documents below the ranks shown, only so many with the highest grades are kept, and
    one of each other grade.
    """
    grades: dict[str, dict[str, float]] = {}
    shown_a, shown_b = shown
    for code, query in enumerate(pool.query_ids):
        pooled = pool.documents[pool.offsets[code] : pool.offsets[code + 1]]
        of_query = dict.fromkeys([*pooled, *shown_a[code], *shown_b[code]], np.nan)
        judged = qrels[query] if query in qrels else {}  # noqa: SIM401  (Qrels has no get)
        below = [document for document in judged if document not in of_query]
        below.sort(key=judged.__getitem__, reverse=True)
        if outside is not None:
            # The others are too low for the ideal list. Only whether a grade occurs matters.
            by_grade = {judged[document]: document for document in below[outside:]}
            below = [*below[:outside], *by_grade.values()]
        for document in (*(of_query.keys() & judged.keys()), *below):
            of_query[document] = judged[document]
        grades[query] = of_query
    return grades


def _runs_of(part: IntArray) -> "tuple[list[int], list[int]]":
    """Return the begin and the end of each stretch of equal numbers."""
    if not part.size:
        return [], []
    begins = np.flatnonzero(np.concatenate(([True], part[1:] != part[:-1])))
    return begins.tolist(), [*begins[1:].tolist(), part.size]
