"""The blended ratio of NTCIR's graded measures, at the relevant documents of a list.

The blended ratio is (relevant + beta x gain so far) / (rank + beta x ideal gain so far). Its
denominator depends on the rank alone, so the mean over the orders of a tie needs only the expected
number of its relevant documents above a place, and their expected gain.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from idealrank.data.judged import Hits, Judged
from idealrank.data.policies import sort_by_query
from idealrank.data.segments import number_within
from idealrank.data.types import FloatArray, IntArray
from idealrank.measures.gains import Gain, GainLike, make_gain
from idealrank.measures.measure import number_option
from idealrank.measures.ranks import tie_groups, tied_ranks
from idealrank.measures.sums import running_products, running_sums, spread, sums_before
from idealrank.measures.threshold import NeedsRelevant

# Values of its options that tests try.
BETAS = (None, 0, 1, 5)
RISING = (None, "linear", "exp2", "power(1.5)")
# Lists of a block: the arrays computed from lists of twenty ranks then stay in the cache.
_BLOCK = 16384


def gains_of(gain: Gain, grades: FloatArray) -> FloatArray:
    """Gains of grades, none below 0."""
    return np.maximum(gain(grades), 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class IdealGain:
    """Gain of the ideal ranking of all relevant documents down to any rank, times beta, plus the
    rank: the ratio's denominator.
    """

    sums: FloatArray  # shape (n_relevant,): running sums of gains, anew for each query
    # starts, total: shape (n_queries,): begin of each query in `sums`, and its relevant documents
    starts: IntArray
    total: IntArray
    beta: float

    @classmethod
    def of(cls, judged: Judged, threshold: float, gain: Gain, beta: float) -> "IdealGain":
        """Sum the gains of all judged documents that reach the threshold."""
        relevant = judged.ideal.grade >= threshold
        query = judged.ideal.query[relevant]
        gains = gains_of(gain, judged.ideal.grade[relevant])
        gains = gains if gain.rising else sort_by_query(query, gains, judged.n_queries)
        total = judged.relevant(threshold).total
        return cls(
            sums=running_sums(query, gains), starts=np.cumsum(total) - total, total=total, beta=beta
        )

    def denominator(self, query: IntArray, rank: IntArray) -> FloatArray:
        """Rank + beta x ideal gain down to it, for queries that have a relevant document."""
        last = self.starts[query] + np.minimum(rank, self.total[query]) - 1
        return rank + self.beta * self.sums[last]


@dataclass(frozen=True, kw_only=True, eq=False)
class MetDocuments:
    """Relevant documents returned, in the order in which they are met, with the blended ratio at
    each.
    """

    # query, rank, number: shape (n,): query code, rank, and which relevant document of its query it
    # is
    query: IntArray
    rank: IntArray
    number: IntArray
    # grade, ratio: shape (n,): its grade, and the blended ratio at its rank
    grade: FloatArray
    ratio: FloatArray

    @classmethod
    def of(cls, judged: Judged, hits: Hits, gain: Gain, ideal: IdealGain) -> "MetDocuments":
        """Order relevant hits by the tie policy, and compute the ratio at each."""
        gains = gains_of(gain, hits.grade)
        rank = tied_ranks(judged, hits, gains)
        query, grade = hits.query, hits.grade
        if rank is not hits.rank:
            order = np.lexsort((rank, query))
            rank = rank[order]
            grade = grade[order]
            gains = gains[order]
        number = number_within(query)
        ratio = (number + ideal.beta * running_sums(query, gains)) / ideal.denominator(query, rank)
        return cls(query=query, rank=rank, number=number, grade=grade, ratio=ratio)


@dataclass(frozen=True, kw_only=True, eq=False)
class Tied:
    """Groups of tied documents with relevant ones among them; an untied document is a group of its
    own.
    """

    # query, above, size, relevant, before: shape (n_groups,): query code, ranks above the group,
    # documents in it, relevant ones in it, relevant ones of the query before it
    query: IntArray
    above: IntArray
    size: IntArray
    relevant: IntArray
    before: IntArray
    # gain, gain_before: shape (n_groups,): gain of its relevant documents, and of those before it
    gain: FloatArray
    gain_before: FloatArray
    gains: FloatArray  # shape (n_hits,): gain of each relevant document
    starts: IntArray  # shape (n_groups,): where the relevant documents of each group begin

    @classmethod
    def of(cls, hits: Hits, first: IntArray, last: IntArray, gain: Gain) -> "Tied":
        """Group relevant hits by the first and last rank of the tie of each."""
        starts, relevant, before = tie_groups(hits, first)
        query = hits.query[starts]
        gains = gains_of(gain, hits.grade)
        group_gain = np.add.reduceat(gains, starts) if starts.size else np.zeros(0)
        size = last[starts] - first[starts] + 1
        return cls(
            query=query,
            above=first[starts] - 1,
            size=size,
            relevant=relevant,
            before=before,
            gain=group_gain,
            gain_before=sums_before(query, group_gain),
            gains=gains,
            starts=starts,
        )

    def weighed(
        self, judged: Judged, weight: FloatArray, limit: IntArray, ideal: IdealGain
    ) -> FloatArray:
        """Mean over all orders of the sum of weight x blended ratio of the relevant documents down
        to a limit.
        """
        if not self.starts.size:
            return np.zeros(judged.n_queries)
        # A document of the group is equally likely at each of its n places. At place p, each other
        # document of the group is above it with chance (p - 1) / (n - 1), so that the mean of its
        # ratio's numerator is linear in p. Summed over the documents with weight / n, the numerator
        # is `fixed` at the first place and grows by `slope` with each further place.
        beta, n = ideal.beta, self.size
        weights = np.add.reduceat(weight, self.starts)
        weighted_gains = np.add.reduceat(weight * self.gains, self.starts)
        fixed = (weights * (self.before + 1 + beta * self.gain_before) + beta * weighted_gains) / n
        others = weights * (self.relevant - 1) + beta * (weights * self.gain - weighted_gains)
        slope = others / (n * np.maximum(n - 1, 1))
        group, place = spread(np.clip(limit[self.query] - self.above, 0, n))
        query = self.query[group]
        rank = self.above[group] + place
        numerator = fixed[group] + slope[group] * (place - 1)
        return judged.sum_by_query(query, numerator / ideal.denominator(query, rank))

    def decaying(self, judged: Judged, gamma: float, ideal: IdealGain) -> FloatArray:
        """Mean over all orders of the sum of gamma^(number - 1) x blended ratio, number = which
        relevant document of the query it is.
        """
        beta, n, relevant = ideal.beta, self.size, self.relevant
        group, place = spread(n)
        # Groups of one shape (documents, relevant ones) share the means, computed once for each.
        shapes, shape_of_group = np.unique(
            np.column_stack((n, relevant)), axis=0, return_inverse=True
        )
        shape_of_group = shape_of_group.reshape(-1)
        power = np.zeros(group.size)
        counted_power = np.zeros(group.size)
        offsets = np.cumsum(n) - n
        for shape, (documents, n_relevant) in enumerate(shapes.tolist()):
            rows = offsets[shape_of_group == shape][:, np.newaxis] + np.arange(documents)
            power[rows], counted_power[rows] = _decay(documents, n_relevant, gamma)
        # A place has a relevant document with chance relevant / n. With X relevant ones of the
        # group above it, each of the mean gain, its term is
        # gamma^(before + X) x (fixed + (1 + beta x mean gain) X) / denominator.
        mean_gain = self.gain / np.maximum(relevant, 1)
        fixed = self.before + 1 + beta * (self.gain_before + mean_gain)
        scale = gamma**self.before * relevant / n
        query = self.query[group]
        rank = self.above[group] + place
        numerator = fixed[group] * power + (1 + beta * mean_gain)[group] * counted_power
        return judged.sum_by_query(query, scale[group] * numerator / ideal.denominator(query, rank))

    def first_met(self, judged: Judged, ideal: IdealGain) -> FloatArray:
        """Mean over all orders of the blended ratio at the first relevant document.

        Of r among n it stands at place p with probability p_1 = r/n and p_(j+1) = p_j (n - j - r +
        1) / (n - j).
        """
        leading = np.flatnonzero(self.before == 0)
        n, r = self.size[leading], self.relevant[leading]
        group, place = spread(n - r + 1)
        steps = np.where(
            place == 1,
            (r / n)[group],
            (n[group] - place - r[group] + 2) / np.maximum(n[group] - place + 1, 1),
        )
        query = self.query[leading][group]
        rank = self.above[leading][group] + place
        worth = 1 + ideal.beta * self.gain[leading] / r
        chances = running_products(group, steps)
        return judged.sum_by_query(query, chances * worth[group] / ideal.denominator(query, rank))


@dataclass(frozen=True, kw_only=True)
class BlendedMeasure(NeedsRelevant):
    """A measure made of the blended ratio.

    Parameters
    ----------
    beta : float, optional
        How much gains weigh against counts, 0 or more, default 1.
    gain : str, mapping or callable, optional
        What a grade is worth, see `make_gain`; default ``linear``. Gains below 0 count as 0, as do
        documents that are not relevant.
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
        beta = 1.0 if self.beta is None else float(self.beta)
        return IdealGain.of(judged, self.threshold, self.gain_of_grades, beta)

    def met(self, judged: Judged) -> MetDocuments:
        """Relevant documents as they are met."""
        hits = judged.relevant(self.threshold).hits
        return MetDocuments.of(judged, hits, self.gain_of_grades, self.ideal_gain(judged))

    def tied(self, judged: Judged) -> Tied | None:
        """Groups of ties where their mean is asked for and scores tie."""
        hits = judged.relevant(self.threshold).hits
        if judged.ties != "expected" or hits.tie_first is None or hits.tie_last is None:
            return None
        return Tied.of(hits, hits.tie_first, hits.tie_last, self.gain_of_grades)


def q_of_rows(
    grades: FloatArray,
    ideal: FloatArray,
    *,
    gain: Gain,
    threshold: float,
    beta: float,
    cutoff: int | None,
) -> tuple[FloatArray, IntArray]:
    """Sum of the blended ratios of each row, one rank after the other, and its number of relevant
    documents.

    Examples
    --------
    >>> from idealrank.measures.gains import make_gain
    >>> options = {"gain": make_gain("linear"), "threshold": 1.0, "beta": 1.0, "cutoff": None}
    >>> q_of_rows(np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]]), **options)
    (array([0.66666667]), array([1]))
    """
    sums = np.zeros(grades.shape[0])
    total = np.zeros(grades.shape[0], np.int64)
    for first in range(0, grades.shape[0], _BLOCK):
        block = slice(first, first + _BLOCK)
        # With a row for each rank, every addition below takes numbers that lie together.
        by_rank = np.ascontiguousarray(grades[block, :cutoff].T)
        ideal_by_rank = np.ascontiguousarray(ideal[block].T)
        depth = len(by_rank)
        total[block] = np.count_nonzero(ideal_by_rank >= threshold, axis=0)
        if gain.rising:
            ideal_gains = _relevant_gains(gain, ideal_by_rank[:depth], threshold)
        else:  # the best grades need not have the best gains
            ideal_gains = _relevant_gains(gain, ideal_by_rank, threshold)
            ideal_gains = -np.sort(-ideal_gains, axis=0)[:depth]
        relevant = by_rank >= threshold
        gains = gains_of(gain, by_rank)
        numerator = np.zeros(by_rank.shape[1])
        ideal_gain = np.zeros(by_rank.shape[1])
        for row in range(depth):
            numerator += relevant[row] * (1.0 + beta * gains[row])
            ideal_gain += beta * ideal_gains[row]
            sums[block] += relevant[row] * (numerator / (row + 1 + ideal_gain))
    return sums, total


def _relevant_gains(gain: Gain, grades: FloatArray, threshold: float) -> FloatArray:
    """Gains of grades, 0 below the threshold."""
    return np.where(grades >= threshold, gains_of(gain, grades), 0.0)


@lru_cache(maxsize=4096)
def _decay(documents: int, relevant: int, gamma: float) -> tuple[FloatArray, FloatArray]:
    """Means of gamma^X and of X gamma^X at each place, X = relevant ones before it among the
    others, given a relevant one there.
    """
    places = np.arange(documents)
    power = _mean_powers(documents - 1, relevant - 1, gamma)
    counted_power = np.zeros(documents)
    if relevant > 1:
        # X is a sum over the places before: each has a relevant one with the same chance, and given
        # one there, X is 1 + the relevant ones at the other places before.
        others = _mean_powers(documents - 2, relevant - 2, gamma)
        counted_power[1:] = places[1:] * (relevant - 1) / (documents - 1) * gamma * others
    return power, counted_power


def _mean_powers(documents: int, relevant: int, gamma: float) -> FloatArray:
    """Mean of gamma^(relevant among the first j) over the orders of some documents, for j from 0 to
    all of them.

    Adding a relevant one to s documents makes m_j = ((s + 1 - j) m_j + j gamma m_(j-1)) / (s + 1).
    """
    place = np.arange(documents + 1)
    mean = (place <= documents - relevant).astype(np.float64)
    for size in range(documents - relevant + 1, documents + 1):
        grown = np.maximum(size - place, 0) * mean
        grown[1:] += place[1:] * gamma * mean[:-1]
        mean = grown / size
    return mean
