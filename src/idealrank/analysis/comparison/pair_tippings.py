"""Reach of the judgments for pairs of runs, whose documents are placed once a run."""

from collections.abc import Sequence
from threading import Lock

import numpy as np

from idealrank.analysis.comparison.grade_bounds import GradeBounds
from idealrank.analysis.comparison.places import Places, matches, unjudged_keys
from idealrank.analysis.comparison.query_table import rows_in
from idealrank.analysis.comparison.reach import Reach
from idealrank.data.types import BoolArray, IntArray, KeyArray
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.stats.design import Design

# Unjudged documents of a run up to which looking at whole lists costs little beside the tests.
_MANY = 50_000


class Tippings:
    """Reach of the judgments for pairs of runs; what is known of a run is worked out once."""

    def __init__(
        self,
        evaluations: Sequence[Evaluation],
        measures: Sequence[Measure],
        queries: Sequence[str],
        *,
        every_measure: bool,
        sampled_negatives: float | None = None,
    ) -> None:
        self._evaluations = evaluations
        self.measures = measures
        self._queries = queries
        self._every_measure = every_measure
        self._sampled_negatives = sampled_negatives
        self._places: dict[tuple[int, int], Places | str] = {}
        self._keys: dict[int, KeyArray] = {}
        self._matches: dict[tuple[int, int], tuple[IntArray, IntArray]] = {}
        self._matching = Lock()  # measures come on several threads

    def reach(
        self, pair: tuple[int, int], column: int, *, within: BoolArray | None = None
    ) -> Reach | str:
        """Return what the unjudged documents of a pair could add by a measure, or why it is
        unknown.

        `within` is a slice of the queries: documents of other queries tell nothing of its own.
        """
        sides = self.sides(pair, column)
        if isinstance(sides, str):
            return sides
        first, second = sides
        if within is not None:
            first = first.only(within)
            second = second.only(within)
        return Reach.of(
            first,
            second,
            len(self._queries),
            self.match(pair),
            sampled_negatives=self._sampled_negatives,
        )

    def bounds(
        self, pair: tuple[int, int], column: int, kept: BoolArray, design: Design
    ) -> GradeBounds | None:
        """Bounds of the difference of one pair by the primary measure; None if there are none, or
        many runs are compared.
        """
        is_primary = column == 0
        if not is_primary or not self._every_measure:
            return None
        a, b = (self._evaluations[run] for run in pair)
        if a.provenance.judgments != b.provenance.judgments:
            return None  # a document may be judged for one run alone
        return GradeBounds.of(
            a,
            b,
            self.measures[column],
            [self._queries[row] for row in np.flatnonzero(kept).tolist()],
            design,
        )

    def prepare(self, pair: tuple[int, int]) -> None:
        """Work out what the tipping points of a pair need beside its tests."""
        self.match(pair)
        for column in range(len(self.measures)):
            self.sides(pair, column)

    def sides(self, pair: tuple[int, int], column: int) -> "tuple[Places, Places] | str":
        """Return where the documents of both runs stand, or why there is no tipping point."""
        is_primary = column == 0
        if not is_primary and not self._every_measure:
            return "computed only for the primary measure if many runs are compared"
        if (
            not is_primary
            and not isinstance(self.measures[column].cutoff, int)
            and max(map(self._n_unjudged, pair)) > _MANY
        ):
            return (
                "for such long lists, computed only for the primary measure; name this measure "
                "first, or with a cutoff"
            )
        first, second = (self._places_of(run, column) for run in pair)
        if isinstance(first, str) or isinstance(second, str):
            return first if isinstance(first, str) else str(second)
        return first, second

    def _n_unjudged(self, run: int) -> int:
        judged = self._evaluations[run].judged
        return 0 if judged is None or judged.unjudged is None else judged.unjudged.query.size

    def reach_alone(self, pair: tuple[int, int], column: int) -> Reach | str:
        """Return `reach` for a measure that is asked for alone: only documents within its cutoff
        are matched.

        It takes a fraction of the memory of `match`, whose result all measures share.
        """
        sides = self.sides(pair, column)
        if isinstance(sides, str):
            return sides
        first, second = sides
        matched_first, matched_second = matches(first.keys, second.keys)
        matched = first.place[matched_first], second.place[matched_second]
        return Reach.of(
            first, second, len(self._queries), matched, sampled_negatives=self._sampled_negatives
        )

    def match(self, pair: tuple[int, int]) -> tuple[IntArray, IntArray]:
        """Documents unjudged in both runs, see `matches`; kept until another pair is asked for."""
        with self._matching:
            for run in pair:
                if run not in self._keys:
                    self._keys[run] = unjudged_keys(
                        self._evaluations[run], rows_in(self._evaluations[run], self._queries)
                    )
            if pair not in self._matches:
                # measures of a pair follow one another
                self._matches = {pair: matches(self._keys[pair[0]], self._keys[pair[1]])}
            return self._matches[pair]

    def _places_of(self, run: int, column: int) -> Places | str:
        key = run, column
        if key not in self._places:
            evaluation = self._evaluations[run]
            rows = rows_in(evaluation, self._queries)
            self._places[key] = Places.of(evaluation, self.measures[column], rows)
        return self._places[key]
