"""Reach of the judgments: what the unjudged documents of two runs could add to their difference."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from idealrank.analysis.comparison.places import ByRank, Places, shared_documents, shown_by_both
from idealrank.analysis.comparison.relevance_rates import Gaps, Limits, RunRates
from idealrank.data.types import BoolArray, FloatArray, IntArray


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
    most = int(n_own.max())
    ideals = side.measure.ideal_with(side.judged, sums / np.maximum(n_own, 1), most)
    if ideals is None:
        return None
    rows = np.arange(n_own.size)

    def factor(share: float) -> FloatArray:
        wanted = share * n_own
        fewer = wanted.astype(np.int64)
        first, second = ideals[rows, fewer], ideals[rows, np.minimum(fewer + 1, most)]
        ideal = first + (wanted - fewer) * (second - first)
        found = np.ones(n_queries)
        found[side.row] = np.divide(ideals[:, 0], ideal, out=np.ones_like(ideal), where=ideal > 0)
        return found

    return factor


@dataclass(frozen=True, kw_only=True, eq=False)
class Reach:
    """Possible contribution of the unjudged documents of two runs to their difference, query by
    query, under one measure.
    """

    # a, b: Of the runs
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
        own_a[shared[0]], own_b[shared[1]] = False, False
        deepest = max(
            (int(ranks.max(initial=0)) for side in (a, b) for ranks in (side.hit_rank, side.rank)),
            default=0,
        )
        rank, worth = (
            np.concatenate((getattr(a, name), getattr(b, name)))
            for name in ("hit_rank", "hit_worth")
        )
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
        for run, (side, share, sign) in enumerate(
            ((self.a, share_a, -1.0), (self.b, share_b, 1.0))
        ):
            if share:
                curve, as_judged = self._curves[run, both]
                change[side.row] += sign * (np.nan_to_num(curve(share)) - as_judged)
        return change

    @cached_property
    def _curves(self) -> "dict[tuple[int, bool], tuple[Callable[[float], FloatArray], FloatArray]]":
        """Expected values of both runs, as their own and as all of their unjudged documents are
        relevant; and what they are as judged.
        """
        found = {}
        for run, (side, own) in enumerate(((self.a, self.own_a), (self.b, self.own_b))):
            for both in (False, True):
                curve = side.measure.expected(
                    side.judged, side.documents if both else side.documents.part(own)
                )
                assert curve is not None  # noqa: S101  (for the type checker: `Places.of` has looked)
                found[run, both] = curve, np.nan_to_num(curve(0.0))
        return found

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
        a, b = self._rates(self.a, alone_a, self.own_a), self._rates(self.b, alone_b, self.own_b)
        shared = Gaps(self.shared[0].size, int(np.count_nonzero(~a.alone)))
        return a.limits(shared, b.gaps, self.sampled_negatives), b.limits(
            shared, a.gaps, self.sampled_negatives
        )

    @cached_property
    def judged_alone(self) -> tuple[BoolArray, BoolArray]:
        """Mark the judged documents of each run that the other run does not show."""
        return ~shown_by_both(self.a, self.b), ~shown_by_both(self.b, self.a)

    def _rates(self, side: Places, alone: BoolArray, own: BoolArray) -> RunRates:
        at, ranks = own, side.rank[own]
        worth = self.worth(side, own) if side.linear else side.weight[own]
        if not worth.any():
            # Where its own unjudged documents add nothing, a run has those that both show, which
            # count where ranks differ.
            at, ranks = np.ones(own.size, np.bool_), side.rank
            worth = self.worth(side, at) if side.linear else side.weight
        worth_by_rank = np.bincount(ranks, weights=worth, minlength=self.gain.size).astype(
            np.float64, copy=False
        )
        return RunRates(
            side=side,
            alone=alone,
            own=own,
            at=at,
            worth_by_rank=worth_by_rank,
            n_queries=self.n_queries,
        )
