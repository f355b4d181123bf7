"""Where a judge is kinder than a human: by grade, at the top of rankings, and for long
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
        Pairs; of ranks, pairs in all runs together.
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
        Which groups are compared.
    difference : float
        Mean error beyond the grade of the one less that of the other: above 0, the judge is kinder
        to the first. NaN without both.
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
        """Grade of the judge less that of the human."""
        return np.asarray(self.judge - self.human)

    @property
    def beyond_grade(self) -> FloatArray:
        """Error less the mean error of all pairs with the same human grade."""
        code = np.unique(self.human, return_inverse=True)[1].reshape(-1)
        return np.asarray(self.error - (np.bincount(code, self.error) / np.bincount(code))[code])

    def group(self, name: str, rows: "BoolArray | IntArray") -> GroupError:
        """The errors of some pairs, which may come several times."""
        human, judge, error, beyond_grade = (
            float(column[rows].mean())
            for column in (self.human, self.judge, self.error, self.beyond_grade)
        )
        return GroupError(
            group=name,
            n=int(self.human[rows].size),
            human=human,
            judge=judge,
            error=error,
            beyond_grade=beyond_grade,
        )


def by_grade(pairs: Pairs) -> Leniency:
    """Errors by human grade; the contrast is that of the lowest and the highest grade, without an
    interval.
    """
    groups = tuple(
        pairs.group(f"grade {grade:g}", pairs.human == grade) for grade in np.unique(pairs.human)
    )
    return Leniency(groups=groups, contrast="", difference=math.nan, interval=(math.nan, math.nan))


def by_rank(pairs: Pairs, runs: Mapping[str, Run], *, confidence: float = 0.95) -> Leniency:
    """Errors by rank in the runs together: whether the judge is kinder to the top of rankings."""
    rank, row = _ranks(pairs, runs)
    groups = []
    for first, last in RANKS:
        inside = (rank >= first) & ((rank <= last) | (last == 0))
        if inside.any():
            groups.append(
                pairs.group(
                    f"ranks {first} to {last}" if last else f"ranks from {first}", row[inside]
                )
            )
    difference, interval = _contrast(pairs, row[rank <= 10], row[rank > 10], confidence)
    return Leniency(
        groups=tuple(groups),
        contrast="ranks 1 to 10 less later ranks",
        difference=difference,
        interval=interval,
    )


def _ranks(pairs: Pairs, runs: Mapping[str, Run]) -> tuple[IntArray, IntArray]:
    """Rank and pair of each place where a run returned a pair."""
    place = {pair: row for row, pair in enumerate(zip(pairs.queries, pairs.documents, strict=True))}
    nested: dict[str, dict[str, float]] = {}
    for (query, document), row in place.items():
        nested.setdefault(query, {})[document] = float(row)
    numbered = Qrels(nested)  # its grades are the numbers of the pairs
    ranks, rows = [], []
    for run in runs.values():
        hits = align(numbered, run, Alignment()).hits
        ranks.append(hits.rank)
        rows.append(hits.grade.astype(np.int64))
    return np.concatenate(ranks), np.concatenate(rows)


def by_length(pairs: Pairs, lengths: Mapping[str, float], *, confidence: float = 0.95) -> Leniency:
    """Errors by length of the document, in quarters: whether the judge is kinder to long
    documents.

    Pairs whose document has no length are left out.
    """
    known = np.array([lengths.get(document, math.nan) for document in pairs.documents], np.float64)
    rows = np.flatnonzero(~np.isnan(known))
    if rows.size < 4:
        return Leniency(
            groups=(),
            contrast="longest less shortest quarter",
            difference=math.nan,
            interval=(math.nan, math.nan),
        )
    quarter = np.searchsorted(np.quantile(known[rows], [0.25, 0.5, 0.75]), known[rows], side="left")
    names = ("shortest quarter", "second quarter", "third quarter", "longest quarter")
    groups = tuple(
        pairs.group(name, rows[quarter == place])
        for place, name in enumerate(names)
        if (quarter == place).any()
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
    """Mean error beyond the grade of some pairs less that of others, leaving out one cluster at a
    time.
    """
    nothing = (math.nan, math.nan)
    if not first.size or not second.size:
        return math.nan, nothing
    n_clusters, beyond = int(pairs.clusters.max()) + 1, pairs.beyond_grade
    sums = [
        np.bincount(pairs.clusters[rows], weights, n_clusters)
        for rows in (first, second)
        for weights in (beyond[rows], np.ones(rows.size))
    ]
    totals = [float(one.sum()) for one in sums]
    difference = totals[0] / totals[1] - totals[2] / totals[3]
    holds = (sums[1] + sums[3]) > 0
    left = [(total - one)[holds] for total, one in zip(totals, sums, strict=True)]
    n = int(holds.sum())
    if n < 2 or not (left[1] > 0).all() or not (left[3] > 0).all():
        return difference, nothing
    values = left[0] / left[1] - left[2] / left[3]
    reach = t_quantile(confidence, n - 1) * math.sqrt(
        (n - 1) / n * float(((values - values.mean()) ** 2).sum())
    )
    return difference, (difference - reach, difference + reach)
