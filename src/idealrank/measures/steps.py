"""Lists as steps: each tie one step, of which only sums are known, or each document one step where the order is given."""

from dataclasses import dataclass

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.measures.discounts import Discount
from idealrank.measures.gains import Gain
from idealrank.measures.ranks import tied_ranks
from idealrank.measures.running import running_sums
from idealrank.measures.states import groups_of


@dataclass(frozen=True, eq=False)
class Steps:
    """Where lists gain something, query after query, by rank.

    Attributes
    ----------
    query, first, last : int64 array, shape (n,)
        Query, and first and last rank of the step.
    gain : float64 array, shape (n,)
        Sum of the gains of its documents.
    positive_gain : float64 array, shape (n,)
        Sum of those above 0.
    positive : int64 array, shape (n,)
        How many are above 0.
    """

    query: IntArray
    first: IntArray
    last: IntArray
    gain: FloatArray
    positive_gain: FloatArray
    positive: IntArray

    @property
    def size(self) -> IntArray:
        """Documents of each step."""
        return self.last - self.first + 1

    def _added(self, discount: Discount) -> FloatArray:
        """(Expected) DCG that each step adds."""
        return self.gain * mean_weights(discount, self.first, self.last)

    def _before(self, discount: Discount) -> FloatArray:
        """(Expected) DCG of the steps before each one."""
        sums = running_sums(self.query, self._added(discount))
        before = np.zeros(sums.size)
        same = self.query[1:] == self.query[:-1]
        before[1:][same] = sums[:-1][same]
        return before

    def total(self, judged: Judged, discount: Discount) -> FloatArray:
        """(Expected) DCG of each query, shape (n_queries,)."""
        return judged.sum_by_query(self.query, self._added(discount))

    def dcg_at(self, query: IntArray, rank: IntArray, discount: Discount) -> FloatArray:
        """(Expected) DCG at some ranks of some queries."""
        found = np.zeros(query.size)
        if not self.query.size or not query.size:
            return found
        width = int(max(self.first.max(), rank.max())) + 1
        place = np.searchsorted(self.query * width + self.first, query * width + rank, side="right") - 1
        here = (place >= 0) & (self.query[place] == query)
        step = place[here]
        reached = np.minimum(rank[here], self.last[step])
        within = self.gain[step] / self.size[step] * discount.between(self.first[step], reached, reached)
        found[here] = self._before(discount)[step] + within
        return found

    def ranks(self, kept: BoolArray) -> tuple[IntArray, IntArray]:
        """Every rank of the steps that are kept, and the step that each belongs to."""
        steps = np.flatnonzero(kept)
        sizes = self.size[steps]
        of = np.repeat(steps, sizes)
        start = np.cumsum(sizes) - sizes
        return np.arange(of.size) - np.repeat(start, sizes) + self.first[of], of

    def dcg_at_positive(self, of: IntArray, rank: IntArray, discount: Discount) -> FloatArray:
        """Expected value of DCG at a rank of a step, counted where the document there has a positive gain, else 0.

        With n documents in the step, r of them of positive gain, S the sum of their gains and T that of all: the steps before count with
        chance r/n, the gain of each other rank above with chance and mean (r T - S) / (n (n - 1)), the document's own is S/n.
        """
        size, first = self.size[of], self.first[of]
        others = (self.positive * self.gain - self.positive_gain)[of] / (size * np.maximum(size - 1, 1))
        own = self.positive_gain[of] / size * discount.at(rank, rank)
        before: FloatArray = (self.positive[of] / size) * self._before(discount)[of]
        terms: FloatArray = before + np.where(size > 1, others * discount.between(first, rank - 1, rank), 0.0) + own
        return terms


def mean_weights(discount: Discount, first: IntArray, last: IntArray) -> FloatArray:
    """Mean weight of the ranks from `first` to `last`; of one rank its own weight, to the last bit.

    Examples
    --------
    >>> from idealrank.measures.discounts import make_discount
    >>> mean_weights(make_discount("reciprocal"), np.array([1, 2]), np.array([2, 2]))
    array([0.75, 0.5 ])
    """
    weights = discount.at(first, first)
    wide = last > first
    weights[wide] = discount.between(first[wide], last[wide], first[wide]) / (last - first + 1)[wide]
    return weights


def steps_of(judged: Judged, gain: Gain, *, tied: bool) -> Steps:
    """The steps of all lists.

    Parameters
    ----------
    judged : Judged
        Its hits; documents without a judgment gain nothing.
    gain : Gain
        What a grade is worth.
    tied : bool
        Whether a tie is one step; else each document is one, ties standing as the convention says.

    Examples
    --------
    >>> from idealrank.data.alignment import Alignment
    >>> from idealrank.data.lists import Lists, judge_lists
    >>> from idealrank.measures.gains import make_gain
    >>> judged = judge_lists(Lists.from_arrays([2, 1], [0.5, 0.5]), Alignment())
    >>> steps_of(judged, make_gain("linear"), tied=True).gain
    array([3.])
    """
    hits, gains = judged.hits, gain(judged.hits.grade)
    if tied:
        groups = groups_of(hits, tied=True)
        whole, above = groups.sums(gains), groups.sums(np.maximum(gains, 0.0))
        return Steps(groups.query, groups.first, groups.last, whole, above, groups.within(gains > 0))
    rank, query = tied_ranks(judged, hits, gains), hits.query
    if rank is not hits.rank:
        order = np.lexsort((rank, query))
        rank, query, gains = rank[order], query[order], gains[order]
    return Steps(query, rank, rank, gains, np.maximum(gains, 0.0), (gains > 0).astype(np.int64))
