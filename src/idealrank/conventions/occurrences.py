"""Cases in the data that make switches act: a switch without its case cannot change a number."""

from dataclasses import dataclass

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class Occurrences:
    """Occurring cases.

    Attributes
    ----------
    near_ties : bool
        Scores that only float32 takes for equal.
    ties, ties_float32 : bool
        Judged documents with equal scores, in either precision.
    duplicates, unjudged, missing, without_judgments : bool
        Documents listed or judged twice; returned documents without a judgment; judged queries the run does not answer; queries of the
        run without judgments.
    fractions, below_one : bool
        Grades that are not whole; grades other than 0 below 1.
    lowest_grade, lowest_whole : float
        The lowest grade as given, and cut to whole numbers; 0 when there is none.
    padding : bool
        A grade of -1, as given or cut to whole numbers.
    """

    near_ties: bool
    ties: bool
    ties_float32: bool
    duplicates: bool
    unjudged: bool
    missing: bool
    without_judgments: bool
    fractions: bool
    below_one: bool
    lowest_grade: float
    lowest_whole: float
    padding: bool

    @classmethod
    def of(cls, full: Judged, full_float32: Judged, grades: FloatArray, *, judged_twice: bool) -> "Occurrences":
        """Look the cases up in an alignment that refuses and drops nothing, and in its float32 twin.

        Parameters
        ----------
        full, full_float32 : Judged
            All queries, negative grades kept, duplicates counted twice, whole lists.
        grades : float64 array, shape (n,)
            Grades as given.
        judged_twice : bool
            Whether the judgments list a document twice.
        """
        counters, whole, hits, hits_float32 = full.alignments, np.trunc(grades), full.hits, full_float32.hits
        return cls(
            near_ties=not (_same(hits.tie_first, hits_float32.tie_first) and _same(hits.tie_last, hits_float32.tie_last)),
            ties=hits.tie_first is not None,
            ties_float32=hits_float32.tie_first is not None,
            duplicates=judged_twice or bool(counters.duplicates.any()),
            unjudged=bool((full.lengths > counters.judged).any()),
            missing=len(full.scope.missing) > 0,
            without_judgments=full.scope.without_judgments > 0,
            fractions=bool((whole != grades).any()),
            below_one=bool(((grades < 1) & (grades != 0)).any()),
            lowest_grade=float(grades.min(initial=0.0)),
            lowest_whole=float(whole.min(initial=0.0)),
            padding=bool((whole == -1).any()),
        )


def _same(one: IntArray | None, other: IntArray | None) -> bool:
    if one is None or other is None:
        return one is other
    return bool(np.array_equal(one, other))
