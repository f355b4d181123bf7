"""Lists of a run under many states of the judgments: the run is ranked once, and each state only
says which places are judged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from idealrank.bounds.free_documents import Ragged
from idealrank.bounds.value_bounds import aligned
from idealrank.conventions import Convention
from idealrank.data.judged import Alignments, Hits, Judged, Judgments, UnjudgedHits
from idealrank.data.policies import apply_grade_policies, ideal_grades, name_row
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import BoolArray, FloatArray, IntArray, QueryIds
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
    # Whether the convention takes judged documents out of the lists because of their grades
    vanish: bool

    @classmethod
    def of(
        cls, documents: Qrels, query: IntArray, given: FloatArray, convention: Convention
    ) -> Self:
        """Apply the convention's grade policies."""
        rows = Ragged.of(documents.offsets, query)
        known = np.flatnonzero(~np.isnan(given))
        graded = apply_grade_policies(
            given[known],
            convention.alignment,
            lambda place: name_row(documents, int(rows.row[known[place]])),
        )
        grade = np.full(given.size, np.nan)
        grade[known] = graded.grades
        return cls(
            documents=documents,
            query=query,
            given=given,
            grade=grade,
            rows=rows,
            vanish=graded.removed is not None,
        )

    def part(self, kept: BoolArray) -> "JudgedStates":
        """Some of the states."""
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
        code, n_states = self.code[states.query], states.query.size
        begins = np.searchsorted(states.rows.copy, np.arange(n_states))
        places = Ragged.of(self.offsets, code)
        at = (
            begins[places.copy]
            + self.document[places.row]
            - states.documents.offsets[states.query][places.copy]
        )
        is_known = ~np.isnan(states.grade)
        is_hit = is_known[at]
        hit, free, known = (np.flatnonzero(one) for one in (is_hit, ~is_hit, is_known))
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
                places.copy[free], shown.rank[row], key, shown.tie_first[row], shown.tie_last[row]
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
                counters.tied[code],
                counters.duplicates[code],
                n_judged * 0,
                n_judged,
                counters.straddling[code],
            ),
            scope=hidden.scope,
            depth=hidden.depth,
            unjudged=unjudged,
            unjudged_depth=hidden.unjudged_depth,
        )


def _names(states: JudgedStates) -> list[str]:
    names: Sequence[str] = states.documents.queries
    return [names[code] for code in states.query.tolist()]
