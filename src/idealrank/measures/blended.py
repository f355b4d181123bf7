"""The blended ratio of NTCIR's measures and its mean over ties: (relevant + beta x gain so far) / (rank + beta x ideal gain so far).

Its denominator depends on the rank alone, so the mean over the orders of a tie needs no more than how many of its documents stand
before a place, and what they are worth, in the mean.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from idealrank.data.grades import sort_by_query
from idealrank.data.hits import Hits
from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray, IntArray
from idealrank.measures.gains import Gain, GainLike, make_gain
from idealrank.measures.measure import number_option
from idealrank.measures.ranks import number_within, tie_groups, tied_ranks
from idealrank.measures.running import running_products, running_sums, spread, sums_before
from idealrank.measures.threshold import NeedsRelevant

# Values of its options that tests try.
BETAS = (None, 0, 1, 5)
RISING = (None, "linear", "exp2", "power(1.5)")
# Rows of a block of lists: with twenty ranks each, what is worked out of it stays in the cache.
_ROWS = 16384


def gains_of(gain: Gain, grades: FloatArray) -> FloatArray:
    """Gains of grades, none below 0.

    Examples
    --------
    >>> from idealrank.measures.gains import make_gain
    >>> gains_of(make_gain("linear"), np.array([2.0, -1.0]))
    array([2., 0.])
    """
    return np.maximum(gain(grades), 0.0)


@dataclass(frozen=True, eq=False)
class IdealGain:
    """Gain of the ideal ranking of all relevant documents down to any rank, times beta, plus the rank: the ratio's denominator."""

    sums: FloatArray
    first: IntArray
    total: IntArray
    beta: float

    @classmethod
    def of(cls, judged: Judged, threshold: float, gain: Gain, beta: float) -> "IdealGain":
        """From all judged documents that reach the threshold."""
        relevant = judged.ideal.grade >= threshold
        query, gains = judged.ideal.query[relevant], gains_of(gain, judged.ideal.grade[relevant])
        gains = gains if gain.rising else sort_by_query(query, gains, judged.n_queries)
        total = judged.relevant(threshold).total
        return cls(running_sums(query, gains), np.cumsum(total) - total, total, beta)

    def denominator(self, query: IntArray, rank: IntArray) -> FloatArray:
        """Rank + beta x ideal gain down to it, for queries that have a relevant document."""
        return rank + self.beta * self.sums[self.first[query] + np.minimum(rank, self.total[query]) - 1]


@dataclass(frozen=True, eq=False)
class MetDocuments:
    """Relevant documents returned, in the order in which they are met, with the blended ratio at each.

    Attributes
    ----------
    query, rank, number : int64 array, shape (n,)
        Query code, rank, and which relevant document of its query it is.
    grade, ratio : float64 array, shape (n,)
        Its grade, and the blended ratio at its rank.
    """

    query: IntArray
    rank: IntArray
    number: IntArray
    grade: FloatArray
    ratio: FloatArray

    @classmethod
    def of(cls, judged: Judged, hits: Hits, gain: Gain, ideal: IdealGain) -> "MetDocuments":
        """From relevant hits, in the order that the tie policy gives them."""
        gains = gains_of(gain, hits.grade)
        rank = tied_ranks(judged, hits, gains)
        query, grade = hits.query, hits.grade
        if rank is not hits.rank:
            order = np.lexsort((rank, query))
            rank, grade, gains = rank[order], grade[order], gains[order]
        number = number_within(query)
        ratio = (number + ideal.beta * running_sums(query, gains)) / ideal.denominator(query, rank)
        return cls(query, rank, number, grade, ratio)


@dataclass(frozen=True, eq=False)
class Tied:
    """Groups of tied documents with relevant ones among them; an untied document is a group of its own.

    Attributes
    ----------
    query, above, size, relevant, seen : int64 array, shape (n_groups,)
        Query code, ranks above the group, documents in it, relevant ones in it, relevant ones before it.
    gain, gain_seen : float64 array, shape (n_groups,)
        Gain of its relevant documents, and of those before it.
    gains : float64 array, shape (n_hits,)
        Gain of each relevant document.
    starts : int64 array, shape (n_groups,)
        Where the relevant documents of each group begin.
    """

    query: IntArray
    above: IntArray
    size: IntArray
    relevant: IntArray
    seen: IntArray
    gain: FloatArray
    gain_seen: FloatArray
    gains: FloatArray
    starts: IntArray

    @classmethod
    def of(cls, hits: Hits, first: IntArray, last: IntArray, gain: Gain) -> "Tied":
        """From relevant hits and the first and last rank of the tie of each."""
        starts, relevant, seen = tie_groups(hits, first)
        query, gains = hits.query[starts], gains_of(gain, hits.grade)
        of_group = np.add.reduceat(gains, starts) if starts.size else np.zeros(0)
        size = last[starts] - first[starts] + 1
        return cls(query, first[starts] - 1, size, relevant, seen, of_group, sums_before(query, of_group), gains, starts)

    def weighed(self, judged: Judged, weight: FloatArray, limit: IntArray, ideal: IdealGain) -> FloatArray:
        """Mean over all orders of the sum of weight x blended ratio of the relevant documents down to a limit.

        At place p of n, with sums over the group: one document has weight S / n, it counts itself (S + beta SG) / n, and each of
        the p - 1 before it is any other one, (S (R - 1) + beta (S G - SG)) / (n (n - 1)).
        """
        if not self.starts.size:
            return np.zeros(judged.n_queries)
        beta, n = ideal.beta, self.size
        both, itself = np.add.reduceat(weight, self.starts), np.add.reduceat(weight * self.gains, self.starts)
        fixed = (both * (self.seen + 1 + beta * self.gain_seen) + beta * itself) / n
        slope = (both * (self.relevant - 1) + beta * (both * self.gain - itself)) / (n * np.maximum(n - 1, 1))
        group, place = spread(np.clip(limit[self.query] - self.above, 0, n))
        query, rank = self.query[group], self.above[group] + place
        return judged.sum_by_query(query, (fixed[group] + slope[group] * (place - 1)) / ideal.denominator(query, rank))

    def decaying(self, judged: Judged, gamma: float, ideal: IdealGain) -> FloatArray:
        """Mean over all orders of the sum of gamma^(number - 1) x blended ratio, number = which relevant document of the query it is.

        With X the relevant ones among p - 1 of the other n - 1 documents, each place needs the means of gamma^X and of X gamma^X;
        the latter is (p - 1) (R - 1) / (n - 1) gamma times the mean of gamma^X' among p - 2 of n - 2.
        """
        beta, n, relevant = ideal.beta, self.size, self.relevant
        group, place = spread(n)
        shapes, which = np.unique(np.column_stack((n, relevant)), axis=0, return_inverse=True)
        plain, counted = np.zeros(group.size), np.zeros(group.size)
        offsets = np.cumsum(n) - n
        for number, (documents, good) in enumerate(shapes.tolist()):
            rows = offsets[which.reshape(-1) == number][:, np.newaxis] + np.arange(documents)
            plain[rows], counted[rows] = _decay(documents, good, gamma)
        share = self.gain / np.maximum(relevant, 1)
        fixed = self.seen + 1 + beta * (self.gain_seen + share)
        decay = gamma**self.seen * relevant / n
        query, rank = self.query[group], self.above[group] + place
        terms = decay[group] * (fixed[group] * plain + (1 + beta * share)[group] * counted) / ideal.denominator(query, rank)
        return judged.sum_by_query(query, terms)

    def first_met(self, judged: Judged, ideal: IdealGain) -> FloatArray:
        """Mean over all orders of the blended ratio at the first relevant document.

        Of r among n it stands at place p with probability p_1 = r/n and p_(j+1) = p_j (n - j - r + 1) / (n - j).
        """
        leading = np.flatnonzero(self.seen == 0)
        n, r = self.size[leading], self.relevant[leading]
        group, place = spread(n - r + 1)
        steps = np.where(place == 1, (r / n)[group], (n[group] - place - r[group] + 2) / np.maximum(n[group] - place + 1, 1))
        query, rank = self.query[leading][group], self.above[leading][group] + place
        worth = 1 + ideal.beta * self.gain[leading] / r
        return judged.sum_by_query(query, running_products(group, steps) * worth[group] / ideal.denominator(query, rank))


@dataclass(frozen=True, kw_only=True)
class BlendedMeasure(NeedsRelevant):
    """A measure made of the blended ratio.

    Parameters
    ----------
    beta : float, optional
        How much gains weigh against counts, 0 or more, default 1.
    gain : str, mapping or callable, optional
        What a grade is worth, see `make_gain`; default ``linear``. Gains below 0 count as 0, as do documents that are not relevant.
    """

    beta: float | None = None
    gain: "GainLike | None" = None

    samples: ClassVar = {"beta": BETAS, "gain": RISING}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beta is not None:
            object.__setattr__(self, "beta", number_option("beta", self.beta, 0))
        if self.gain is not None:
            object.__setattr__(self, "gain", make_gain(self.gain))

    @property
    def gain_of_grades(self) -> Gain:
        """Gain of each grade."""
        return make_gain("linear" if self.gain is None else self.gain)

    def ideal_gain(self, judged: Judged) -> IdealGain:
        """The ratio's denominator at any rank."""
        return IdealGain.of(judged, self.threshold, self.gain_of_grades, 1.0 if self.beta is None else float(self.beta))

    def met(self, judged: Judged) -> MetDocuments:
        """Relevant documents as they are met."""
        return MetDocuments.of(judged, judged.relevant(self.threshold).hits, self.gain_of_grades, self.ideal_gain(judged))

    def tied(self, judged: Judged) -> Tied | None:
        """Groups of ties where their mean is asked for and scores tie."""
        hits = judged.relevant(self.threshold).hits
        if judged.ties != "expected" or hits.tie_first is None or hits.tie_last is None:
            return None
        return Tied.of(hits, hits.tie_first, hits.tie_last, self.gain_of_grades)


def q_of_rows(
    grades: FloatArray, ideal: FloatArray, gain: Gain, threshold: float, beta: float, cutoff: int | None
) -> tuple[FloatArray, IntArray]:
    """Sum of the blended ratios of each row, one rank after the other, and its number of relevant documents.

    Parameters
    ----------
    grades, ideal : float64 array, shape (n_queries, width)
        Grades by rank, and the same sorted falling.
    gain, threshold, beta, cutoff
        As the measure has them.

    Examples
    --------
    >>> from idealrank.measures.gains import make_gain
    >>> q_of_rows(np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]]), make_gain("linear"), 1.0, 1.0, None)
    (array([0.66666667]), array([1]))
    """
    sums, total = np.zeros(grades.shape[0]), np.zeros(grades.shape[0], np.int64)
    for top in range(0, grades.shape[0], _ROWS):
        rows = slice(top, top + _ROWS)
        # With the ranks as rows, what is added lies together; running sums a rank long stay in the cache.
        met, whole = np.ascontiguousarray(grades[rows, :cutoff].T), np.ascontiguousarray(ideal[rows].T)
        total[rows] = np.count_nonzero(whole >= threshold, axis=0)
        of_ideal = _gains_where(gain, whole if not gain.rising else whole[: len(met)], threshold)
        if not gain.rising:
            of_ideal = -np.sort(-of_ideal, axis=0)[: len(met)]
        relevant, gains = met >= threshold, gains_of(gain, met)
        seen, possible = np.zeros(met.shape[1]), np.zeros(met.shape[1])
        for rank, (here, worth, best) in enumerate(zip(relevant, gains, of_ideal, strict=True), 1):
            seen += here * (1.0 + beta * worth)
            possible += beta * best
            sums[rows] += here * (seen / (rank + possible))
    return sums, total


def _gains_where(gain: Gain, grades: FloatArray, threshold: float) -> FloatArray:
    return gains_of(gain, grades) * (grades >= threshold)


@lru_cache(maxsize=4096)
def _decay(documents: int, relevant: int, gamma: float) -> tuple[FloatArray, FloatArray]:
    """Means of gamma^X and of X gamma^X at each place, X = relevant ones before it among the others, given a relevant one there."""
    places = np.arange(documents)
    plain = _mean_powers(documents - 1, relevant - 1, gamma)
    counted = np.zeros(documents)
    if relevant > 1:
        fewer = _mean_powers(documents - 2, relevant - 2, gamma)
        counted[1:] = places[1:] * (relevant - 1) / (documents - 1) * gamma * fewer
    return plain, counted


def _mean_powers(documents: int, relevant: int, gamma: float) -> FloatArray:
    """Mean of gamma^(relevant among the first j) over the orders of some documents, for j from 0 to all of them.

    Adding a relevant one to s documents makes m_j = ((s + 1 - j) m_j + j gamma m_(j-1)) / (s + 1).
    """
    place = np.arange(documents + 1)
    mean = (place <= documents - relevant).astype(np.float64)
    for now in range(documents - relevant + 1, documents + 1):
        grown = np.maximum(now - place, 0) * mean
        grown[1:] += place[1:] * gamma * mean[:-1]
        mean = grown / now
    return mean
