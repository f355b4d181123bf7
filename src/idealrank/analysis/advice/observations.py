"""Properties of judgments and a run: grades, judged share and depth, list lengths, ties."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray, IntArray

# Ranks down to which the share of unjudged documents is told.
DEPTHS = (1, 5, 10, 20, 50, 100)
# Judgments reach as deep as this share of the documents above is judged.
REACH = 0.9
# More different grades than this are no scale that a person judged on.
_LISTED_GRADES = 20


@dataclass(frozen=True)
class Spread:
    """Least, median and greatest of a count per query."""

    least: float
    median: float
    greatest: float

    @classmethod
    def of(cls, counts: IntArray | FloatArray) -> "Spread":
        """Of the counts of all queries; zeros where there is none.

        Examples
        --------
        >>> Spread.of(np.array([1, 2, 9]))
        Spread(least=1.0, median=2.0, greatest=9.0)
        """
        if not counts.size:
            return cls(0.0, 0.0, 0.0)
        return cls(float(counts.min()), float(np.median(counts)), float(counts.max()))


@dataclass(frozen=True, kw_only=True)
class Observed:
    """Observed properties of judgments and a run.

    Attributes
    ----------
    queries, unanswered, judgments : int
        Queries that count, those among them without a returned document, and judged documents.
    grades : mapping of float to float
        Share of the judgments that have each grade, as given; empty when there are more than twenty different ones.
    n_grades : int
        How many different grades there are.
    lowest, highest : float
        Grade.
    least_relevant : float
        Lowest grade above 0; 0 when there is none.
    judgments_per_query, relevant_per_query, list_lengths : Spread
        Relevant is a grade above 0; lengths are of the queries that are answered.
    no_relevant : int
        Queries without a grade above 0.
    one_relevant : float
        Of the queries with a relevant document, the share that has exactly one.
    unjudged : mapping of int to float
        By depth: share of unjudged documents down to it.
    judged_depth : int
        The deepest rank down to which nine in ten returned documents are judged; 0 when there is none.
    tied : float
        Share of the answered queries with tied scores.
    complete : bool
        Every item is judged, as in arrays of labels.
    reachable : mapping of int to float
        By depth: the greatest mean precision, over queries with a relevant document.
    """

    queries: int
    unanswered: int
    judgments: int
    grades: Mapping[float, float]
    n_grades: int
    lowest: float
    highest: float
    least_relevant: float
    judgments_per_query: Spread
    relevant_per_query: Spread
    no_relevant: int
    one_relevant: float
    list_lengths: Spread
    unjudged: Mapping[int, float]
    judged_depth: int
    tied: float
    complete: bool
    reachable: Mapping[int, float]

    @property
    def levels(self) -> int:
        """Number of different grades above 0."""
        return self.n_grades if not self.grades else sum(grade > 0 for grade in self.grades)


def observe(judged: Judged, depths: tuple[int, ...] = ()) -> Observed:
    """Look at an alignment whose hits are all there.

    Parameters
    ----------
    judged : Judged
        The alignment.
    depths : tuple of int
        Depths to look at beside the usual ones.

    Examples
    --------
    >>> from idealrank.data.alignment import Alignment
    >>> from idealrank.data.align import align
    >>> from idealrank.data.qrels import Qrels
    >>> from idealrank.data.run import Run
    >>> seen = observe(align(Qrels({"q": {"a": 2, "b": 0}}), Run({"q": ["a", "x"]}), Alignment()))
    >>> seen.grades, seen.unjudged, seen.judged_depth
    ({0.0: 0.5, 2.0: 0.5}, {1: 0.0, 5: 0.5, 10: 0.5, 20: 0.5, 50: 0.5, 100: 0.5}, 1)
    """
    judgments, n = judged.judgments, judged.n_queries
    distinct, counts = np.unique(judgments.given, return_counts=True)
    per_query = np.bincount(judgments.query, minlength=n)
    relevant = np.bincount(judgments.query[judgments.given > 0], minlength=n)
    with_relevant = relevant[relevant > 0]
    above = distinct[distinct > 0]
    answered = judged.lengths > 0
    shares = _unjudged_shares(judged)
    within = np.flatnonzero(shares <= 1 - REACH + 1e-12)
    reach = int(within[-1]) + 1 if within.size else 0
    looked: list[int] = sorted({*DEPTHS, *depths, *([reach] if reach else [])})
    listed = distinct.size <= _LISTED_GRADES
    return Observed(
        queries=n,
        unanswered=int(n - np.count_nonzero(answered)),
        judgments=int(judgments.given.size),
        grades={float(g): float(c / judgments.given.size) for g, c in zip(distinct, counts, strict=True)} if listed else {},
        n_grades=int(distinct.size),
        lowest=float(distinct[0]) if distinct.size else 0.0,
        highest=float(distinct[-1]) if distinct.size else 0.0,
        least_relevant=float(above[0]) if above.size else 0.0,
        judgments_per_query=Spread.of(per_query),
        relevant_per_query=Spread.of(relevant),
        no_relevant=int(n - with_relevant.size),
        one_relevant=float(np.mean(with_relevant == 1)) if with_relevant.size else 0.0,
        list_lengths=Spread.of(judged.lengths[answered]),
        unjudged={depth: float(shares[min(depth, shares.size) - 1]) for depth in looked if shares.size},
        judged_depth=reach,
        tied=float(np.mean(judged.alignments.tied[answered] > 0)) if answered.any() else 0.0,
        complete=judged.complete,
        reachable={depth: float(np.mean(np.minimum(with_relevant, depth) / depth)) for depth in looked if with_relevant.size},
    )


def _unjudged_shares(judged: Judged) -> FloatArray:
    """Share of unjudged documents down to each rank of the longest list."""
    longest = int(judged.lengths.max()) if judged.n_queries else 0
    if not longest:
        return np.zeros(0)
    ending = np.bincount(judged.lengths, minlength=longest + 1)
    returned = judged.n_queries - np.cumsum(ending)[:longest]  # lists that reach each rank
    seen = np.bincount(judged.hits.rank, minlength=longest + 1)[1 : longest + 1]
    shares: FloatArray = 1 - np.cumsum(seen) / np.cumsum(returned)
    return shares
