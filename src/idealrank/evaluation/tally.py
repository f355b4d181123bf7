"""Counts of an alignment for its coverage, added up stretch by stretch."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from idealrank.data.judged import Judged, Scope
from idealrank.data.segments import starts_of
from idealrank.data.types import AnyArray, BoolArray, FloatArray, IntArray
from idealrank.evaluation.coverage import LABEL_DEPTH, Coverage, MeasureCoverage
from idealrank.measures.measure import Measure


class Tally:
    """Counts of an alignment, added up stretch by stretch."""

    def __init__(self, cutoff: int, measures: Sequence[Measure] = ()) -> None:
        self._cutoff = cutoff
        self._measures = measures
        self._no_relevant: Counter[str] = Counter()
        self._unanswerable: dict[str, list[str]] = {}
        self._comparable: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._best_grade = -math.inf
        self._relevant_by_rank: IntArray = np.zeros(0, np.int64)

    def add(self, judged: Judged, *, out_of_range: int) -> None:
        """Count a stretch of queries and the values outside the bounds of their measure."""
        counters = judged.alignments
        considered = np.minimum(judged.lengths, self._cutoff) if self._cutoff else judged.lengths
        judged_within = _judged_within(judged, self._cutoff)
        best = _best_grades(judged)
        self._best_grade = max(self._best_grade, float(best.max(initial=-math.inf)))
        self._counts.update(
            scored=judged.n_queries,
            no_relevant=judged.n_queries - int(np.count_nonzero(best > 0)),
            unjudged=int((considered - judged_within).sum()),
            considered=int(considered.sum()),
            judged=int((judged.lengths if judged.complete else counters.judged).sum()),
            tied_queries=int(np.count_nonzero(counters.tied)),
            tied_documents=int(counters.tied.sum()),
            duplicates=int(counters.duplicates.sum()),
            out_of_range=out_of_range,
        )
        self._count_answerable(judged, best)
        if not judged.complete:  # where every document has a label, none can be missing
            self._add_relevant(judged)

    def _count_answerable(self, judged: Judged, best: AnyArray) -> None:
        """Count the queries that each measure can tell something about."""
        rows = (
            np.arange(judged.n_queries)
            if judged.rectangle is not None
            else judged.ideal.query[judged.ideal.rank == 1]
        )
        for measure in self._measures:
            without = np.ones(judged.n_queries, np.bool_)
            without[rows[_are_relevant(measure, best).reshape(-1)]] = False
            self._no_relevant[str(measure)] += int(np.count_nonzero(without))
            self._unanswerable.setdefault(str(measure), []).extend(
                judged.queries[row] for row in np.flatnonzero(without).tolist()
            )
        comparing = [] if judged.complete else list(filter(_compares_grades, self._measures))
        if comparing:
            lowest, highest = _extreme_grades(judged)
            for measure in comparing:
                self._comparable[str(measure)] += _n_comparable(measure, lowest, highest)

    def _add_relevant(self, judged: Judged) -> None:
        returned = (judged.hits.grade > 0) & (judged.hits.rank <= LABEL_DEPTH)
        by_rank = np.bincount(judged.hits.rank[returned])[1:]  # ranks begin with 1
        longer, shorter = sorted((self._relevant_by_rank, by_rank), key=len, reverse=True)
        summed = longer.copy()
        summed[: shorter.size] += shorter
        self._relevant_by_rank = summed
        self._counts["relevant"] += int(np.count_nonzero(judged.ideal.grade > 0))

    def coverage(self, scope: Scope, scored: Sequence[int] = ()) -> Coverage:
        """Return the counts, with the counts of the whole collection, given how many queries each
        measure scores.
        """
        names = (
            "scored",
            "no_relevant",
            "unjudged",
            "considered",
            "judged",
            "tied_queries",
            "tied_documents",
            "duplicates",
            "out_of_range",
        )
        counts: dict[str, Any] = {name: self._counts[name] for name in names}
        return Coverage(
            queries_in_qrels=scope.queries_in_qrels,
            queries_in_run=scope.queries_in_run,
            missing=len(scope.missing),
            without_judgments=scope.without_judgments,
            unjudged_cutoff=self._cutoff,
            truncated_grades=scope.truncated_grades,
            excluded=scope.excluded,
            excluded_judgments=scope.excluded_judgments,
            breaches=scope.breaches,
            missing_queries=scope.missing,
            best_grade=self._best_grade,
            relevant=self._counts["relevant"],
            relevant_by_rank=tuple(self._relevant_by_rank.tolist()),
            by_measure={
                str(measure): MeasureCoverage(
                    scored=n,
                    no_relevant=self._no_relevant[str(measure)],
                    comparable=self._comparable.get(str(measure)),
                    unanswerable=tuple(self._unanswerable.get(str(measure), ())),
                )
                for measure, n in zip(self._measures, scored, strict=True)
            },
            **counts,
        )


def _judged_within(judged: Judged, cutoff: int) -> IntArray:
    if judged.complete:
        return np.minimum(judged.lengths, cutoff) if cutoff else judged.lengths
    if not cutoff:
        return judged.alignments.judged.astype(np.int64, copy=False)
    within = judged.hits.query[judged.hits.rank <= cutoff]
    return np.bincount(within, minlength=judged.n_queries)


def _best_grades(judged: Judged) -> AnyArray:
    """The best judged grade of each query that has one; the ideal shows it first."""
    if judged.rectangle is not None:
        return judged.rectangle.ideal[:, :1]
    best: AnyArray = judged.ideal.grade[judged.ideal.rank == 1]
    return best


def _are_relevant(measure: Measure, grades: FloatArray) -> BoolArray:
    """Return whether a document of each grade is relevant to the measure; above 0 where it has no
    gains.
    """
    worth = measure.worth(grades)
    return np.asarray((grades if worth is None else worth) > 0)


def _compares_grades(measure: Measure) -> bool:
    return measure.compares_judged and measure.looks_at_grades and not measure.needs


def _extreme_grades(judged: Judged) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest judged grade of each query that has one."""
    table = judged.judgments
    starts = starts_of(table.query)
    if not starts.size:
        return np.zeros(0), np.zeros(0)
    return np.minimum.reduceat(table.grade, starts), np.maximum.reduceat(table.grade, starts)


def _n_comparable(measure: Measure, lowest: FloatArray, highest: FloatArray) -> int:
    """Number of queries whose judged documents are not all worth the same to the measure; gains
    rise with the grade.
    """
    low = measure.worth(lowest)
    high = measure.worth(highest)
    if low is None or high is None:
        return int(np.count_nonzero(lowest < highest))
    return int(np.count_nonzero(low < high))
