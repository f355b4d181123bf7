"""Leniency of a judge, compared with a human: by grade, at the top of rankings, and for long
documents.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from idealrank.data.align import align
from idealrank.data.alignment import Alignment
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.judging.ratings import t_quantile

RANKS = ((1, 3), (4, 10), (11, 30), (31, 0))
"""First and last rank of each group of documents; 0 is open."""


@dataclass(frozen=True, kw_only=True)
class GroupError:
    """Error of a judge in one group of documents.

    Attributes
    ----------
    group : str
        Such as ``grade 2``, ``ranks 1 to 3`` or ``shortest quarter``.
    n : int
        Number of pairs; for ranks, of pairs in all runs together.
    human, judge : float
        Mean grades.
    error : float
        Mean of the judge's grade less the human's.
    beyond_grade : float
        Mean error less the mean error of all pairs with the same human grade: what the group adds.
        A judge that hedges toward the middle is harsh at the top of every good ranking by `error`,
        and fair by this.

    Examples
    --------
    >>> GroupError(group="grade 0", n=10, human=0.0, judge=0.5, error=0.5, beyond_grade=0.0).error
    0.5
    """

    group: str
    n: int
    human: float
    judge: float
    error: float
    beyond_grade: float


@dataclass(frozen=True, kw_only=True)
class Leniency:
    """Errors of a judge group by group, and the difference of two groups that matters.

    Attributes
    ----------
    groups : tuple of GroupError
        Groups with at least one pair.
    contrast : str
        Groups that are compared; empty for none.
    difference : float
        Mean error beyond the grade of the first group less that of the second: above 0, the judge
        is kinder to the first. NaN without both.
    interval : tuple of float
        Its interval, clustered by query.

    Examples
    --------
    >>> Leniency(
    ...     groups=(),
    ...     contrast="ranks 1 to 10 less the others",
    ...     difference=0.1,
    ...     interval=(0.02, 0.18),
    ... ).difference
    0.1
    """

    groups: tuple[GroupError, ...]
    contrast: str
    difference: float
    interval: tuple[float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """Grades of a human and a judge for the same pairs, and the query and cluster of each pair."""

    queries: Sequence[str]
    documents: Sequence[str]
    human: FloatArray
    judge: FloatArray
    clusters: IntArray

    @property
    def error(self) -> FloatArray:
        """Grade of the judge less the grade of the human."""
        return np.asarray(self.judge - self.human)

    @property
    def beyond_grade(self) -> FloatArray:
        """Error less the mean error of all pairs with the same human grade."""
        code = np.unique(self.human, return_inverse=True)[1].reshape(-1)
        mean_error = np.bincount(code, self.error) / np.bincount(code)
        return np.asarray(self.error - mean_error[code])

    def group(self, name: str, rows: "BoolArray | IntArray") -> GroupError:
        """Compute the errors of some pairs, which may come several times."""
        return GroupError(
            group=name,
            n=int(self.human[rows].size),
            human=float(self.human[rows].mean()),
            judge=float(self.judge[rows].mean()),
            error=float(self.error[rows].mean()),
            beyond_grade=float(self.beyond_grade[rows].mean()),
        )


def by_grade(pairs: Pairs) -> Leniency:
    """Compute the errors by human grade, without a contrast of groups."""
    groups = tuple(
        pairs.group(f"grade {grade:g}", pairs.human == grade) for grade in np.unique(pairs.human)
    )
    return Leniency(groups=groups, contrast="", difference=math.nan, interval=(math.nan, math.nan))


def by_rank(pairs: Pairs, runs: Mapping[str, Run], *, confidence: float = 0.95) -> Leniency:
    """Compute the errors by rank in all runs together, to see if the judge is kinder to the top of
    rankings.
    """
    rank, row = _ranks(pairs, runs)
    groups = []
    for first, last in RANKS:
        inside = (rank >= first) & ((rank <= last) | (last == 0))
        if inside.any():
            name = f"ranks {first} to {last}" if last else f"ranks from {first}"
            groups.append(pairs.group(name, row[inside]))
    difference, interval = _contrast(pairs, row[rank <= 10], row[rank > 10], confidence)
    return Leniency(
        groups=tuple(groups),
        contrast="ranks 1 to 10 less later ranks",
        difference=difference,
        interval=interval,
    )


def _ranks(pairs: Pairs, runs: Mapping[str, Run]) -> tuple[IntArray, IntArray]:
    """Return the rank and the pair of each place where a run returned a pair."""
    place = {pair: row for row, pair in enumerate(zip(pairs.queries, pairs.documents, strict=True))}
    nested: dict[str, dict[str, float]] = {}
    for (query, document), row in place.items():
        nested.setdefault(query, {})[document] = float(row)
    numbered = Qrels(nested)  # its grades are the numbers of the pairs
    ranks = []
    rows = []
    for run in runs.values():
        hits = align(numbered, run, Alignment()).hits
        ranks.append(hits.rank)
        rows.append(hits.grade.astype(np.int64))
    return np.concatenate(ranks), np.concatenate(rows)


def by_length(pairs: Pairs, lengths: Mapping[str, float], *, confidence: float = 0.95) -> Leniency:
    """Compute the errors by length of the document, in quarters, to see if the judge is kinder to
    long documents.

    Pairs whose document has no length are left out.
    """
    length = np.array([lengths.get(document, math.nan) for document in pairs.documents], np.float64)
    rows = np.flatnonzero(~np.isnan(length))
    if rows.size < 4:
        return Leniency(
            groups=(),
            contrast="longest less shortest quarter",
            difference=math.nan,
            interval=(math.nan, math.nan),
        )
    cuts = np.quantile(length[rows], [0.25, 0.5, 0.75])
    quarter = np.searchsorted(cuts, length[rows], side="left")
    names = ("shortest quarter", "second quarter", "third quarter", "longest quarter")
    groups = tuple(
        pairs.group(name, rows[quarter == code])
        for code, name in enumerate(names)
        if (quarter == code).any()
    )
    difference, interval = _contrast(pairs, rows[quarter == 3], rows[quarter == 0], confidence)
    return Leniency(
        groups=groups,
        contrast="longest less shortest quarter",
        difference=difference,
        interval=interval,
    )


def _contrast(
    pairs: Pairs, first: IntArray, second: IntArray, confidence: float
) -> tuple[float, tuple[float, float]]:
    """Return the mean error beyond the grade of some pairs less that of others, and its interval by
    leaving out one cluster at a time.
    """
    nothing = (math.nan, math.nan)
    if not first.size or not second.size:
        return math.nan, nothing
    n_clusters = int(pairs.clusters.max()) + 1
    beyond = pairs.beyond_grade

    def of_clusters(rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the sum of the errors and the number of pairs in each cluster."""
        codes = pairs.clusters[rows]
        errors = np.bincount(codes, beyond[rows], n_clusters)
        counts = np.bincount(codes, np.ones(rows.size), n_clusters)
        return np.asarray(errors, np.float64), np.asarray(counts, np.float64)

    errors, counts = of_clusters(first)
    other_errors, other_counts = of_clusters(second)
    difference = float(errors.sum()) / float(counts.sum())
    difference -= float(other_errors.sum()) / float(other_counts.sum())

    has_pair = (counts + other_counts) > 0

    def without_each(sums: FloatArray) -> FloatArray:
        """Return the total without each cluster that has a pair."""
        return np.asarray((float(sums.sum()) - sums)[has_pair])

    n = int(has_pair.sum())
    n_first = without_each(counts)
    n_second = without_each(other_counts)
    if n < 2 or not (n_first > 0).all() or not (n_second > 0).all():
        return difference, nothing
    values = without_each(errors) / n_first - without_each(other_errors) / n_second
    error = math.sqrt((n - 1) / n * float(((values - values.mean()) ** 2).sum()))
    reach = t_quantile(confidence, n - 1) * error
    return difference, (difference - reach, difference + reach)
