"""Reach of the judgments: the shares at which unjudged documents are likely to be relevant, and
what these documents could add to the difference of two runs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from idealrank.analysis.comparison.places import (
    ByRank,
    Places,
    joined_ranks,
    shared_documents,
    shown_by_both,
)
from idealrank.data.types import BoolArray, FloatArray, IntArray

QUANTILE = 1.2815515655446004  # of the normal distribution: limits of 90 %, each to one side
ENOUGH = 20  # documents for a lower limit, and for odds of a gap
# Chosen by experiments/judgment_reach.py: the least root at which crossing runs judged by third
# systems hold the level.
_ROOT = 0.25


class RelevanceRate(NamedTuple):
    """A share of relevant documents at some ranks, and the number of documents that it is as sure
    as; None of none.
    """

    share: float | None
    n: float

    @classmethod
    def of(cls, judged: IntArray, relevant: IntArray, weights: FloatArray) -> "RelevanceRate":
        """Make the rate from judged and relevant documents at each rank, and its weight; ranks join
        until there are enough documents.
        """
        if not judged.any():
            return cls(None, 0.0)
        group = joined_ranks(judged)
        n, n_relevant, weight = (
            np.bincount(group, weights=by_rank) for by_rank in (judged, relevant, weights)
        )
        part = weight / weight.sum() if weight.sum() > 0 else n / n.sum()
        share = np.divide(n_relevant, n, out=np.zeros_like(n), where=n > 0)
        # A weighted mean of shares is as sure as the share of so many documents of one group.
        effective = float(1 / (part**2 / np.maximum(n, 1)).sum())
        return cls(float((part * share).sum()), effective)

    def limit(self, quantile: float) -> float:
        """Wilson's limit to one side; the least or the most a share can be without any document."""
        if self.share is None:
            return 0.0 if quantile < 0 else 1.0
        z2 = quantile**2
        spread = quantile * math.sqrt(self.share * (1 - self.share) / self.n + z2 / (4 * self.n**2))
        limit = (self.share + z2 / (2 * self.n) + spread) / (1 + z2 / self.n)
        return min(1.0, max(0.0, limit))


class Gaps(NamedTuple):
    """Numbers of documents of one kind without and with a judgment."""

    missing: int
    judged: int

    @property
    def known(self) -> bool:
        """Return whether there are enough documents to compare."""
        return self.missing + self.judged >= ENOUGH

    @property
    def odds(self) -> float:
        """Documents without a judgment for one with a judgment."""
        return self.missing / max(self.judged, 1)

    def exceeds(self, other: "Gaps") -> bool:
        """Return whether judgments are missing more often than in others, by more than chance."""
        difference = _log_odds(self) - _log_odds(other)
        # Woolf's error of a difference of log odds, with half a document added to each count.
        counts = [*self, *other]
        error = math.sqrt(sum(1 / (count + 0.5) for count in counts))
        return difference > QUANTILE * error


def _log_odds(gaps: Gaps) -> float:
    return math.log((gaps.missing + 0.5) / (gaps.judged + 0.5))


class Limits(NamedTuple):
    """Rates of a run, and the shares between which its unjudged documents are taken to be
    relevant.
    """

    judged: RelevanceRate
    exclusive: RelevanceRate
    low: float
    high: float


class _Range(NamedTuple):
    """Limits of a run's rates: the lower one, and the smaller and the larger of the upper ones."""

    low: float
    smaller: float
    larger: float

    @classmethod
    def of(cls, judged: RelevanceRate, exclusive: RelevanceRate) -> "_Range":
        low = exclusive.limit(-QUANTILE) if exclusive.n >= ENOUGH else 0.0
        upper_limits = (exclusive.limit(QUANTILE), judged.limit(QUANTILE))
        return cls(low=low, smaller=min(upper_limits), larger=max(upper_limits))


@dataclass(frozen=True, kw_only=True, eq=False)
class RunRates:
    """Judged documents of one run at the ranks of its unjudged ones, and the limits that follow.

    Two rates bound the share of relevant documents among the unjudged ones: of all judged documents
    of the run at these ranks, and of those that the other run does not show.
    """

    side: Places  # Documents of the run
    alone: BoolArray  # shape (n_hits,): which of its judged documents the other run does not show
    # shape (n_unjudged,): which of its unjudged documents the other run does not show
    own: BoolArray
    # shape (n_unjudged,): open documents, whose relevance is asked for: its own unjudged ones, or
    # all unjudged ones if its own add nothing
    open: BoolArray
    # shape (n_ranks + 1,): what the open documents would add if all were relevant, by rank
    worth_by_rank: FloatArray
    n_queries: int  # Queries compared

    @cached_property
    def gaps(self) -> Gaps:
        """Documents that this run alone shows above a deeper judged one of them: the depth of a
        pool leaves none of these unjudged.
        """
        rows = self.side.hit_row[self.alone]
        ranks = self.side.hit_rank[self.alone]
        deepest = np.zeros(self.n_queries, ranks.dtype)
        deepest[rows] = ranks  # hits come by rank, so that the last one counts
        missing = self.own & (self.side.rank < deepest[self.side.document_rows])
        return Gaps(int(np.count_nonzero(missing)), int(np.count_nonzero(ranks < deepest[rows])))

    def limits(self, shared: Gaps, other: Gaps, sampled_negatives: float | None) -> Limits:
        """Limits of the share of relevant documents among the unjudged ones.

        `shared` are gaps among documents that both runs show, `other` are gaps of the other run;
        see `Reach` for the last one.
        """
        if not self.open.any():
            return Limits(
                judged=RelevanceRate(None, 0.0),
                exclusive=RelevanceRate(None, 0.0),
                low=0.0,
                high=0.0,
            )
        without_open, with_open = self._counts
        counts = [without_open + with_open]
        judged, exclusive = self._rates(counts[0])
        # Queries whose documents lack judgments may differ from the others: both are looked at.
        if without_open.any():
            counts.append(with_open)
        ranges = [_Range.of(*self._rates(table)) for table in counts]
        if sampled_negatives is None:
            new = self._new_share(shared, other)
            kept = _kept_odds(self.gaps, shared)
            highs = [new * bounds.larger + (1 - new) * bounds.smaller for bounds in ranges]
            lows = [bounds.low * kept / (1 - bounds.low * (1 - kept)) for bounds in ranges]
        else:
            shares = [self._unexplained(table[:, 1], sampled_negatives) for table in counts]
            highs = [share * bounds.larger for share, bounds in zip(shares, ranges, strict=True)]
            lows = [0.0]
        return Limits(judged=judged, exclusive=exclusive, low=min(lows), high=max(highs))

    @cached_property
    def _counts(self) -> IntArray:
        """Judged documents by four axes: whether their query has an open one, whether they are
        relevant, whether the other run lacks them, and rank.
        """
        has_open = np.bincount(self.side.document_rows[self.open], minlength=self.n_queries) > 0
        axes = (
            has_open[self.side.hit_row].astype(np.int64),
            (self.side.hit_worth > 0).astype(np.int64),
            self.alone.astype(np.int64),
            self.side.hit_rank,
        )
        # One number for each cell of the table: one count gives all four axes.
        shape = (2, 2, 2, self.worth_by_rank.size)
        cells = np.ravel_multi_index(axes, shape)
        return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)

    def _rates(self, counts: IntArray) -> tuple[RelevanceRate, RelevanceRate]:
        """Rates of all judged documents of a table, by relevance, by whether the other run lacks
        them, and by rank; and of those that it lacks.
        """
        every = counts.sum(axis=1)
        alone = counts[:, 1]
        # Index 1 of the first axis that is left are the relevant documents.
        judged = RelevanceRate.of(every.sum(axis=0), every[1], self.worth_by_rank)
        exclusive = RelevanceRate.of(alone.sum(axis=0), alone[1], self.worth_by_rank)
        return judged, exclusive

    def _new_share(self, shared: Gaps, other: Gaps) -> float:
        """Share of the unjudged documents, by what they would add, that may be new: gaps that
        neither shared nor other ones explain.
        """
        more = self.gaps.odds
        for gaps in (shared, other):
            if gaps.known:
                more = min(more, self.gaps.odds - gaps.odds)
                if not self.gaps.exceeds(gaps):
                    return 0.0
        worth = self.worth_by_rank
        if not worth.any():
            return 0.0
        new = more * self._counts.sum(axis=(0, 1))[1]
        part = np.divide(
            new, self._own_by_rank, out=np.zeros_like(worth), where=self._own_by_rank > 0
        )
        return float((np.minimum(part, 1.0) * worth).sum() / worth.sum())

    @cached_property
    def _own_by_rank(self) -> IntArray:
        return np.bincount(self.side.rank[self.own], minlength=self.worth_by_rank.size)

    def _unexplained(self, alone: IntArray, sampled: float) -> float:
        """Share of the unlabelled documents, by what they would add, beyond what a sample of those
        that are not relevant leaves.

        `alone` counts judged documents that the other run does not show, by relevance and rank.
        """
        if not self.own.any() or not self.worth_by_rank.any():
            return 1.0
        group = joined_ranks(alone.sum(axis=0))
        zeros, unlabelled, worth = (
            np.bincount(group, weights=by_rank)
            for by_rank in (alone[0], self._own_by_rank, self.worth_by_rank)
        )
        # If a share f of the documents that are not relevant has a label, z labelled ones leave
        # z (1 - f) / f others without one, with a binomial error.
        error = QUANTILE * np.sqrt(np.maximum(zeros, 1) * (1 - sampled)) / sampled
        most_unlabelled = zeros * (1 - sampled) / sampled + error
        beyond = np.maximum(unlabelled - most_unlabelled, 0.0)
        part = np.divide(beyond, unlabelled, out=np.zeros_like(worth), where=unlabelled > 0)
        return float((part * worth).sum() / worth.sum())


def _kept_odds(own: Gaps, shared: Gaps) -> float:
    """Factor for the odds of the lower limit: a pool that misses a run's own documents may miss
    another kind of documents.
    """
    if not own.missing:
        return 1.0
    return min(shared.odds / own.odds, 1.0) ** _ROOT if shared.known else 0.0


def shrinking(
    side: Places, own: BoolArray, gain: FloatArray, n_queries: int
) -> "Callable[[float], FloatArray] | None":
    """Ideal as judged over the ideal that a share of a run's own unjudged documents would raise,
    query by query.
    """
    query = side.documents.query[own]
    if not side.linear or not query.size:
        return None
    n_own = np.bincount(query, minlength=side.judged.n_queries)
    sums = np.bincount(query, weights=gain[side.rank[own]], minlength=n_own.size)
    largest = int(n_own.max())
    ideals = side.measure.ideal_with(side.judged, sums / np.maximum(n_own, 1), largest)
    if ideals is None:
        return None
    rows = np.arange(n_own.size)

    def factor(share: float) -> FloatArray:
        # The ideal for a fractional number of documents is interpolated between the ideals for the
        # whole numbers below and above it.
        n_relevant = share * n_own
        fewer = n_relevant.astype(np.int64)
        first = ideals[rows, fewer]
        second = ideals[rows, np.minimum(fewer + 1, largest)]
        ideal = first + (n_relevant - fewer) * (second - first)
        factors = np.ones(n_queries)
        factors[side.row] = np.divide(ideals[:, 0], ideal, out=np.ones_like(ideal), where=ideal > 0)
        return factors

    return factor


class _Curve(NamedTuple):
    """Expected values of a run by the share of its unjudged documents that is relevant."""

    expected: Callable[[float], FloatArray]
    as_judged: FloatArray

    def rise(self, share: float) -> FloatArray:
        """Rise of the value of each query above the value as judged."""
        return np.nan_to_num(self.expected(share)) - self.as_judged


@dataclass(frozen=True, kw_only=True, eq=False)
class Reach:
    """Possible contribution of the unjudged documents of two runs to their difference, query by
    query, under one measure.
    """

    # a, b: Documents of the runs
    a: Places
    b: Places
    n_queries: int  # Queries compared
    own_a: BoolArray
    own_b: BoolArray
    shared: tuple[IntArray, IntArray]
    gain: FloatArray
    # Declared share of the documents that are not relevant with a label, where every relevant one
    # has a label
    sampled_negatives: float | None = None

    @classmethod
    def of(
        cls,
        a: Places,
        b: Places,
        n_queries: int,
        matched: tuple[IntArray, IntArray],
        *,
        sampled_negatives: float | None = None,
    ) -> "Reach":
        """Join both runs, given what `matches` says of them."""
        shared = shared_documents(a, b, matched)
        own_a, own_b = (np.ones(side.place.size, np.bool_) for side in (a, b))
        own_a[shared[0]] = False
        own_b[shared[1]] = False
        ranks = (a.hit_rank, a.rank, b.hit_rank, b.rank)
        deepest = max(int(column.max(initial=0)) for column in ranks)
        rank = np.concatenate((a.hit_rank, b.hit_rank))
        worth = np.concatenate((a.hit_worth, b.hit_worth))
        gain = ByRank.of(rank[worth > 0], worth[worth > 0], deepest).mean
        return cls(
            a=a,
            b=b,
            n_queries=n_queries,
            own_a=own_a,
            own_b=own_b,
            shared=shared,
            gain=np.nan_to_num(gain, nan=1.0),
            sampled_negatives=sampled_negatives,
        )

    def worth(self, side: Places, own: BoolArray) -> FloatArray:
        """Compute the contribution of each own unjudged document of a run if it were relevant."""
        return side.weight[own] * self.gain[side.rank[own]]

    def _worth_of_open(self, side: Places, chosen: BoolArray) -> FloatArray:
        return self.worth(side, chosen) if side.linear else side.weight[chosen]

    def moved(self, share_a: float, share_b: float, *, both: bool = False) -> FloatArray:
        """Change of each query's difference if shares of the unjudged documents were relevant,
        shape (n_queries,).

        Those that both runs show count under `both` alone: one document has one grade.
        """
        if self.a.linear:
            added_a, added_b = self._added
            total = share_b * added_b - share_a * added_a
            return total + share_b * self._added_by_shared if both else total
        change = np.zeros(self.n_queries)
        if share_a:
            curve = self._curves["a", both]
            change[self.a.row] -= curve.rise(share_a)
        if share_b:
            curve = self._curves["b", both]
            change[self.b.row] += curve.rise(share_b)
        return change

    @cached_property
    def _curves(self) -> "dict[tuple[str, bool], _Curve]":
        """Curves of both runs, for their own and for all of their unjudged documents."""
        curves = {}
        for run, side, own in (("a", self.a, self.own_a), ("b", self.b, self.own_b)):
            for both in (False, True):
                documents = side.documents if both else side.documents.part(own)
                expected = side.measure.expected(side.judged, documents)
                assert expected is not None  # noqa: S101  (for the type checker: `Places.of` has looked)
                curves[run, both] = _Curve(expected, np.nan_to_num(expected(0.0)))
        return curves

    @cached_property
    def _added(self) -> tuple[FloatArray, FloatArray]:
        """Contributions of the own documents of either run to each query if all of them were
        relevant.
        """
        first, second = (
            np.bincount(
                side.document_rows[own], weights=self.worth(side, own), minlength=self.n_queries
            ).astype(np.float64, copy=False)
            for side, own in ((self.a, self.own_a), (self.b, self.own_b))
        )
        return first, second

    @cached_property
    def _added_by_shared(self) -> FloatArray:
        first, second = self.shared
        gain = (self.gain[self.a.rank[first]] + self.gain[self.b.rank[second]]) / 2
        terms = gain * (self.b.weight[second] - self.a.weight[first])
        return np.bincount(
            self.a.document_rows[first], weights=terms, minlength=self.n_queries
        ).astype(np.float64, copy=False)

    @cached_property
    def limits(self) -> tuple[Limits, Limits]:
        """Shares at which the unjudged documents of either run are likely to be relevant; see
        `RunRates`.
        """
        alone_a, alone_b = self.judged_alone
        a = self._rates(self.a, alone_a, self.own_a)
        b = self._rates(self.b, alone_b, self.own_b)
        shared_a, _ = self.shared
        shared = Gaps(shared_a.size, int(np.count_nonzero(~a.alone)))
        limits_a = a.limits(shared, b.gaps, self.sampled_negatives)
        limits_b = b.limits(shared, a.gaps, self.sampled_negatives)
        return limits_a, limits_b

    @cached_property
    def judged_alone(self) -> tuple[BoolArray, BoolArray]:
        """Mark the judged documents of each run that the other run does not show."""
        return ~shown_by_both(self.a, self.b), ~shown_by_both(self.b, self.a)

    def _rates(self, side: Places, alone: BoolArray, own: BoolArray) -> RunRates:
        open_documents = own
        if not self._worth_of_open(side, own).any():
            # Where its own unjudged documents add nothing, a run has those that both show, which
            # count where ranks differ.
            open_documents = np.ones(own.size, np.bool_)
        worth_by_rank = np.bincount(
            side.rank[open_documents],
            weights=self._worth_of_open(side, open_documents),
            minlength=self.gain.size,
        ).astype(np.float64, copy=False)
        return RunRates(
            side=side,
            alone=alone,
            own=own,
            open=open_documents,
            worth_by_rank=worth_by_rank,
            n_queries=self.n_queries,
        )
