"""Rank-biased overlap of two lists, depth by depth, with its bounds and its extrapolation.

The lists are held as slots: one for each depth of each query, down to the end of the longer list.
The work is linear in them.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from idealrank.data.run_pairs import RunPairs, Side
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.measure import PerQuery, number_option
from idealrank.measures.pairs import PairMeasure
from idealrank.measures.rules import checked

Estimate: TypeAlias = Literal["ext", "min", "max", "res"]

_DEFAULT_P = 0.9


@dataclass(frozen=True, kw_only=True)
class RBO(PairMeasure):
    """Rank-biased overlap: the mean overlap of the first d ranks, if readers continue to the next
    rank with probability p.

    ``RBO = (1 - p) sum over d >= 1 of p^(d-1) |A_d and B_d| / d``, in [0, 1]. The lists end but the
    sum does not: ``min`` and ``max`` bound it over all continuations, ``res`` is their difference,
    and ``ext`` (the default) extrapolates the overlap seen. For lists of length s <= l, with X_d
    documents common to the first d ranks, ``RBO_ext = (1 - p)/p [sum_{d<=l} X_d p^d / d +
    sum_{s<d<=l} X_s (d - s) p^d / (s d)] + [(X_l - X_s)/l + X_s/s] p^l``.

    Ties: documents that share a rank enter together, and the overlap at depth d is ``2 |A_d and
    B_d| / (|A_d| + |B_d|)``, as in the definition (RBO^w of Corsi and Urbano). Under
    ``ties=expected`` every value is the exact mean over all orders of the tied documents (their
    RBO^a for lists of equal length); a list with ties then has a value below 1 with itself.

    Parameters
    ----------
    p : float, optional
        Persistence, between 0 and 1, default 0.9: the first ten ranks then have 86 % of the weight;
        with 0.98, the first fifty.
    estimate : {"ext", "min", "max", "res"}, optional
        Estimate to return, default ``"ext"``.
    cutoff : int or str, optional
        Number of ranks to which both lists are cut first; only for ``ext``.

    References
    ----------
    Webber, Moffat and Zobel (2010), A similarity measure for indefinite rankings, ACM TOIS 28(4),
    equations 7, 11, 28, 30 and 32; Corsi and Urbano (2024), The treatment of ties in rank-biased
    overlap, SIGIR.

    Examples
    --------
    >>> import idealrank as ir
    >>> a, b = {"q": list("abcdefg")}, {"q": list("zcavwxy")}
    >>> {
    ...     measure: round(value, 6)
    ...     for measure, value in ir.overlap(a, b, ["RBO(p=0.9)", "RBO(estimate=min,p=0.9)"])
    ...     .mean()
    ...     .items()
    ... }
    {'RBO(p=0.9)': 0.288217, 'RBO(estimate=min,p=0.9)': 0.221686}
    """

    p: float | None = None
    estimate: Estimate | None = None

    name: ClassVar[str] = "RBO"
    summary: ClassVar[str] = "rank-biased overlap"
    use: ClassVar[str] = (
        "For two rankings of which the top matters most, and that need not hold the same documents "
        "or be of one length. Say p, and look at res when the lists are short: it is the unknown "
        "part."
    )
    proof: ClassVar[str] = (
        "rbo 0.1.3 (ext), 12 digits; the authors' program of the tie variants, recorded, 12 digits"
    )
    samples: ClassVar = {
        "p": (None, 0.5, 0.9, 0.98),
        "estimate": (None, "ext", "min", "max", "res"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("estimate", self.estimate, Estimate)
        if self.p is not None:
            p = number_option("p", self.p, 0, 1)
            if p in (0, 1):
                raise OptionError(
                    f"p={self.p}: expected a number between 0 and 1, neither of them, as 0.9"
                )
            object.__setattr__(self, "p", p)
        if self.cutoff is not None and self.estimate not in (None, "ext"):
            raise OptionError(
                f"RBO(estimate={self.estimate}) has no cutoff: it bounds what follows the end of "
                "the lists"
            )

    def of_pair(self, pairs: RunPairs) -> PerQuery:
        """The value of every query."""
        p = _DEFAULT_P if self.p is None else self.p
        depths = Depths(pairs, np.minimum(resolve_cutoff(self.cutoff, pairs.longer), pairs.longer))
        if self.estimate in (None, "ext"):
            return PerQuery(np.clip(depths.extrapolated(p), 0.0, 1.0))
        lowest = depths.least(p) if self.estimate != "res" else 0.0
        unknown = depths.residual(p) if self.estimate != "min" else 0.0
        return PerQuery(np.clip(lowest + unknown, 0.0, 1.0))


class Depths:
    """Every depth of every query: how many documents the two lists have in common down to it, and
    how many each has.
    """

    def __init__(self, pairs: RunPairs, depth: IntArray) -> None:
        self._pairs = pairs
        self._end = depth
        self._start = np.cumsum(depth) - depth
        self._short = np.minimum(np.minimum(pairs.a.lengths, pairs.b.lengths), depth)
        self.query = np.repeat(np.arange(depth.size), depth)
        self.depth = np.arange(self.query.size) - self._start[self.query] + 1
        self.common = self._expected() if pairs.ties == "expected" else self._counted()
        self.sizes = self._size(pairs.a) + self._size(pairs.b)

    def _counted(self) -> FloatArray:
        deeper = np.maximum(self._pairs.a.first, self._pairs.b.first)
        return self._documents_from(deeper).astype(np.float64)

    def _documents_from(self, first: IntArray, beyond: IntArray | None = None) -> IntArray:
        """At each depth, the common documents that count from depth `first` on, and before depth
        `beyond`.
        """
        change = self._steps(first)
        if beyond is not None:
            change -= self._steps(np.maximum(first, beyond))
        total = np.concatenate(([0], np.cumsum(change)))
        documents: IntArray = total[1:] - total[self._start][self.query]
        return documents

    def _steps(self, depth: IntArray) -> IntArray:
        query = self._pairs.query
        inside = depth <= self._end[query]
        return np.bincount((self._start[query] + depth - 1)[inside], minlength=self.query.size)

    def _expected(self) -> FloatArray:
        """Down to depth d a tied document stands with the share of its group's ranks that are at
        most d.
        """
        # A tie group that ends at or above the depth is in for sure; one that starts at or above it
        # and ends below is open there. Each common document is in one of four states: in for sure
        # in both lists, open in A alone, open in B alone, or open in both. The lists order their
        # ties independently, so the chances of the last state multiply. One chance per depth is
        # enough for each list: its groups do not overlap, so only one can straddle a depth.
        a, b = self._pairs.a, self._pairs.b
        chance_a = self._straddling(a)
        chance_b = self._straddling(b)
        sure = self._documents_from(np.maximum(a.last, b.last))
        open_a = self._documents_from(np.maximum(a.first, b.last), a.last)
        open_b = self._documents_from(np.maximum(b.first, a.last), b.last)
        open_both = self._documents_from(np.maximum(a.first, b.first), np.minimum(a.last, b.last))
        return sure + chance_a * open_a + chance_b * open_b + chance_a * chance_b * open_both

    def _straddling(self, side: Side) -> FloatArray:
        """Share of the tie group at each depth that stands at or above it."""
        if side.group_first is None or side.group_last is None:
            return np.ones(self.query.size)
        slot = self._slot_of(side)
        first = side.group_first[slot].astype(np.int64)
        last = side.group_last[slot].astype(np.int64)
        share: FloatArray = np.minimum((self.depth - first + 1) / (last - first + 1), 1.0)
        return share

    def _slot_of(self, side: Side) -> IntArray:
        starts = np.cumsum(side.lengths) - side.lengths
        slot: IntArray = starts[self.query] + np.minimum(self.depth, side.lengths[self.query]) - 1
        return slot

    def _size(self, side: Side) -> FloatArray:
        if self._pairs.ties != "shared" or side.group_last is None:
            return self.depth.astype(np.float64)
        ends = side.group_last[self._slot_of(side)]
        size: FloatArray = np.maximum(ends, self.depth).astype(np.float64)
        return size

    def _weighted(self, agreement: FloatArray, p: float) -> FloatArray:
        """``(1 - p) sum of p^(d-1) agreement_d``, shape (n_queries,)."""
        powers = np.power(p, np.arange(int(self._end.max(initial=0)), dtype=np.float64))
        sums = np.bincount(
            self.query, weights=agreement * powers[self.depth - 1], minlength=self._end.size
        )
        return (1 - p) * sums.astype(np.float64, copy=False)

    def _weights(self, p: float) -> FloatArray:
        """`_weighted` of an agreement of 1 at every depth, added in the same order."""
        sums = np.cumsum(np.power(p, np.arange(int(self._end.max(initial=0)), dtype=np.float64)))
        weights: FloatArray = (1 - p) * np.concatenate(([0.0], sums))[self._end]
        return weights

    def extrapolated(self, p: float) -> FloatArray:
        """RBO_ext, equation 32, as a mean over weights that are summed alike: equal lists have
        exactly 1.
        """
        short = self._short[self.query]
        at_short = (self._start + self._short - 1)[self.query]
        agreement_at_short = (2 * self.common / self.sizes)[at_short]
        agreement = (
            2 * (self.common + agreement_at_short * np.maximum(self.depth - short, 0)) / self.sizes
        )
        last_agreement = agreement[self._start + self._end - 1]
        beyond = np.power(p, self._end.astype(np.float64))
        total = self._weighted(agreement, p) + last_agreement * beyond
        overlap: FloatArray = total / (self._weights(p) + beyond)
        return overlap

    def least(self, p: float) -> FloatArray:
        """RBO_min, equation 11: nothing that follows is common."""
        at_end = self.common[self._start + self._end - 1]
        tail = _tail_sums(p, int(self._end.max(initial=0)))
        beyond: FloatArray = (1 - p) / p * at_end * tail[self._end]
        return self._weighted(2 * self.common / self.sizes, p) + beyond

    def residual(self, p: float) -> FloatArray:
        """RBO_res, equation 30: all that follows is common as early as it can be."""
        # The gain over `least` is a sum of (1 - p)/p p^d gain_d. With s and l the lengths of the
        # shorter and the longer list, and X the documents in common at l, it has three stretches.
        # s < d <= l: each further document of the shorter list is one of the longer, so gain_d is
        # (d - s)/d, of which ties change the denominator (`within`).
        # l < d <= full: both lists go on, each with documents that the other has, and X + (d - s) +
        # (d - l) are in common; `least` counts X, so gain_d is (2d - s - l)/d = 2 - (s + l)/d
        # (`rising`). All d documents are in common from d = s + l - X on, which is `full`.
        # d > full: the lists stay equal, and gain_d is (d - X)/d = 1 - X/d (`from_full`).
        short, long = self._short, self._end
        at_end = self.common[self._start + long - 1]
        full = np.rint(short + long - at_end).astype(np.int64)
        tail = _tail_sums(p, int(full.max(initial=0)))
        within = self._weighted(2 * np.maximum(self.depth - short[self.query], 0) / self.sizes, p)
        rising = 2 * _power_sums(p, long, full) - (short + long) * (tail[long] - tail[full])
        from_full = np.power(p, full + 1.0) / (1 - p) - at_end * tail[full]
        beyond: FloatArray = (1 - p) / p * (rising + from_full)
        return within + beyond


def _power_sums(p: float, above: IntArray, to: IntArray) -> FloatArray:
    """``sum of p^d for above < d <= to``."""
    sums: FloatArray = (np.power(p, above + 1.0) - np.power(p, to + 1.0)) / (1 - p)
    return sums


def _tail_sums(p: float, size: int) -> FloatArray:
    """``sum over d > n of p^d / d`` for n = 0 .. size, summed from the far end so that small tails
    keep their digits.
    """
    ranks = np.arange(1, size + 1, dtype=np.float64)
    terms = np.power(p, ranks) / ranks
    # Where the last term still counts, the sum of all terms, -log(1 - p), gives those beyond it.
    beyond = 0.0
    if size == 0 or p**size > 1e-17:
        beyond = -math.log1p(-p) - math.fsum(terms.tolist())
    sums: FloatArray = np.cumsum(np.concatenate(([max(beyond, 0.0)], terms[::-1])))[::-1]
    return sums
