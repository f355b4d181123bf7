"""Gain measures of trec_eval between AP and nDCG: G and its binary form, nDCG at the relevance
levels and at the relevant documents.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.policies import sort_by_query
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.measures.discounts import make_discount
from idealrank.measures.gains import Gain, GainLike, make_gain, trec_gains
from idealrank.measures.measure import Measure, PerQuery, Response, fill_undefined, number_option
from idealrank.measures.ranks import tied_ranks
from idealrank.measures.rules import NoRelevant, checked
from idealrank.measures.sums import finite_sums, refuse_overflow, running_sums, sums_before
from idealrank.measures.threshold import NeedsRelevant, groups_of, tie_order_matters

_PROOF = (
    "trec_eval 10 and 9 to their 4 printed decimals on real runs; pytrec_eval-terrier 0.5.11 live, "
    "to 12 decimals"
)
_LOG2 = make_discount("log2")


# A discount takes the lengths of the lists, too; log2 looks at the ranks alone.
def _weight_at(rank: IntArray) -> FloatArray:
    return _LOG2.at(rank, rank)


def _weight_between(first: IntArray, last: IntArray) -> FloatArray:
    return _LOG2.between(first, last, last)


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """Where lists gain something, query after query, by rank: a step is a judged hit, or a tie
    group with one.
    """

    # query, first, last: shape (n,): query, and first and last rank of the step
    query: IntArray
    first: IntArray
    last: IntArray
    gain: FloatArray  # shape (n,): sum of the gains of its documents
    # positive_gain, n_positive: shape (n,): sum and number of the gains above 0
    positive_gain: FloatArray
    n_positive: IntArray

    @property
    def size(self) -> IntArray:
        """Documents of each step."""
        return self.last - self.first + 1

    def _added(self) -> FloatArray:
        """(Expected) DCG that each step adds."""
        return self.gain * _log2_mean_weights(self.first, self.last)

    def _before(self) -> FloatArray:
        """(Expected) DCG of the steps before each one."""
        return sums_before(self.query, self._added())

    def total(self, judged: Judged) -> FloatArray:
        """(Expected) DCG of each query, shape (n_queries,)."""
        return judged.sum_by_query(self.query, self._added())

    def dcg_at(self, query: IntArray, rank: IntArray) -> FloatArray:
        """(Expected) DCG at some ranks of some queries."""
        dcg = np.zeros(query.size)
        if not self.query.size or not query.size:
            return dcg
        width = int(max(self.first.max(), rank.max())) + 1
        # Query and rank as one number: the last step that begins at the rank or above it.
        starts = self.query * width + self.first
        sought = query * width + rank
        place = np.searchsorted(starts, sought, side="right") - 1
        has_step = (place >= 0) & (self.query[place] == query)
        step = place[has_step]
        reached = np.minimum(rank[has_step], self.last[step])
        weights = _weight_between(self.first[step], reached)
        within = self.gain[step] / self.size[step] * weights
        dcg[has_step] = self._before()[step] + within
        return dcg

    def ranks(self, mask: BoolArray) -> tuple[IntArray, IntArray]:
        """Every rank of the steps that are kept, and the step that each belongs to."""
        steps = np.flatnonzero(mask)
        sizes = self.size[steps]
        step = np.repeat(steps, sizes)
        start = np.cumsum(sizes) - sizes
        return np.arange(step.size) - np.repeat(start, sizes) + self.first[step], step

    def dcg_at_positive(self, step: IntArray, rank: IntArray) -> FloatArray:
        """Expected value of DCG at a rank of a step, counted where the document there has a
        positive gain, else 0.
        """
        size, first = self.size[step], self.first[step]
        # The document here and another of the step at a rank above are a random ordered pair.
        pairs = size * np.maximum(size - 1, 1)
        others = (self.n_positive * self.gain - self.positive_gain)[step] / pairs
        from_itself = self.positive_gain[step] / size * _weight_at(rank)
        from_above: FloatArray = (self.n_positive[step] / size) * self._before()[step]
        from_tie = np.where(size > 1, others * _weight_between(first, rank - 1), 0.0)
        terms: FloatArray = from_above + from_tie + from_itself
        return terms


def _log2_mean_weights(first: IntArray, last: IntArray) -> FloatArray:
    """Mean weight of the ranks from `first` to `last`; of one rank its own weight, to the last
    bit.
    """
    weights = _weight_at(first)
    wide = last > first
    weights[wide] = _weight_between(first[wide], last[wide]) / (last - first + 1)[wide]
    return weights


def steps_of(judged: Judged, gain: Gain, *, tied: bool) -> Steps:
    """The steps of all lists."""
    hits = judged.hits
    gains = gain(judged.hits.grade)
    if tied:
        groups = groups_of(hits, tied=True)
        return Steps(
            query=groups.query,
            first=groups.first,
            last=groups.last,
            gain=groups.sums(gains),
            positive_gain=groups.sums(np.maximum(gains, 0.0)),
            n_positive=groups.within(gains > 0),
        )
    rank = tied_ranks(judged, hits, gains)
    query = hits.query
    if rank is not hits.rank:
        order = np.lexsort((rank, query))
        rank = rank[order]
        query = query[order]
        gains = gains[order]
    return Steps(
        query=query,
        first=rank,
        last=rank,
        gain=gains,
        positive_gain=np.maximum(gains, 0.0),
        n_positive=(gains > 0).astype(np.int64),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ideal:
    """Positive gains of the judged documents of each query, best first."""

    # query, rank: shape (n,): query and ideal rank of each
    query: IntArray
    rank: IntArray
    gain: FloatArray  # shape (n,): falling inside each query
    # start, size: shape (n_queries,): where the gains of a query begin, and how many they are
    start: IntArray
    size: IntArray

    def upto(self, sums: FloatArray, query: IntArray, rank: IntArray) -> FloatArray:
        """Running sums over the ideal lists, as they stand at a rank; 0 where a query has no
        gain.
        """
        size = self.size[query]
        place = self.start[query] + np.minimum(rank, size) - 1
        reached = np.zeros(query.size)
        has_gain = size > 0
        reached[has_gain] = sums[place[has_gain]]
        return reached


@dataclass(frozen=True, kw_only=True)
class GainMeasure(Measure):
    """A measure of gains that is undefined where no judged document has any.

    Parameters
    ----------
    gain : str, mapping or callable, optional
        What a grade is worth; default the convention's.
    no_relevant : str, optional
        Value of a query without a positive gain; default the convention's.
    """

    gain: "GainLike | None" = None
    no_relevant: NoRelevant | None = None
    cuts: ClassVar = "none"
    from_convention: ClassVar[tuple[str, ...]] = ("gain", "no_relevant")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gain is not None:
            object.__setattr__(self, "gain", make_gain(self.gain))
        checked("no_relevant", self.no_relevant, NoRelevant)

    @property
    def _gain(self) -> Gain:
        return make_gain(self.gain if self.gain is not None else "linear")

    def _ideal(self, judged: Judged) -> _Ideal:
        grades = judged.ideal
        gains = self._gain(grades.grade)
        gains = gains if self._gain.rising else sort_by_query(grades.query, gains, judged.n_queries)
        positive = gains > 0
        size = np.bincount(grades.query[positive], minlength=judged.n_queries)
        return _Ideal(
            query=grades.query[positive],
            rank=grades.rank[positive],
            gain=gains[positive],
            start=np.cumsum(size) - size,
            size=size,
        )

    def _filled(self, values: FloatArray, defined: BoolArray) -> PerQuery:
        return fill_undefined(finite_sums(self, values), defined, self.no_relevant or "zero")

    def _named(self, plain: str) -> str:
        gains = trec_gains(self.gain)
        return str(self) if gains is None else plain + gains


class G(GainMeasure):
    """Normalised gain: each gain is divided by the logarithm of what the ideal list would have
    collected in excess by that rank.

    ``G = sum over ranks i of gain(i) / log2(2 + cost(i) - found(i)) / sum of the ideal gains``, in
    [0, 1], where found(i) is the sum of gains down to rank i, and cost(i) the sum of max(1, ideal
    gain) over the ranks down to i.

    Parameters
    ----------
    gain : str, mapping or callable, optional
        Gain of each grade, as for `NDCG`; default the convention's.
    no_relevant : str, optional
        Value of a query without a positive gain; default the convention's.

    Notes
    -----
    Best and worst tie orders sort by gain; another order can score slightly more or less.
    trec_eval's documentation counts the gains before rank i and does not define ranks without ideal
    gain; the formula above reproduces its values.

    References
    ----------
    trec_eval, measure ``G``, an experiment of Chris Buckley of 2008.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 2, "b": 1}}, {"q": ["x", "a", "b"]}, [ir.G()]).mean()["G"]
    0.6309297535714575
    """

    name: ClassVar[str] = "G"
    ties: ClassVar = "not offered"
    summary: ClassVar[str] = "gain over the logarithm of the gain missed so far"
    use: ClassVar[str] = (
        "Choose it to reproduce trec_eval's table. Not for new work: it was an experiment, papers "
        "use nDCG, and an order that is not by gain can score more."
    )
    proof: ClassVar[str] = _PROOF

    @refuse_overflow
    def compute(self, judged: Judged) -> PerQuery:
        """Normalised gain of every query."""
        ideal = self._ideal(judged)
        steps = steps_of(judged, self._gain, tied=False)
        costs = running_sums(ideal.query, np.maximum(ideal.gain, 1.0))
        cost = ideal.upto(costs, steps.query, steps.first)
        cost += np.maximum(steps.first - ideal.size[steps.query], 0)
        # A document listed twice may bring more than the ideal list; the logarithm stays at 1 then.
        missed = np.maximum(cost - running_sums(steps.query, steps.gain), 0.0)
        gained = judged.sum_by_query(steps.query, steps.gain / np.log2(2.0 + missed))
        total = judged.sum_by_query(ideal.query, ideal.gain)
        values = np.divide(gained, total, out=np.zeros_like(total), where=total > 0)
        return self._filled(values, ideal.size > 0)

    @property
    def trec_name(self) -> str:
        """``G``; the own name with options that trec_eval lacks."""
        return self._named("G")


class BinG(NeedsRelevant):
    """Binary G: each relevant document counts 1, divided by the logarithm of the number of
    nonrelevant documents above it.

    ``binG = (1 / R) sum over returned relevant documents of 1 / log2(2 + n)``, in [0, 1], where n
    is the number of returned documents above that are not relevant.

    Parameters
    ----------
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.

    References
    ----------
    trec_eval, measure ``binG``, an experiment of Chris Buckley of 2008.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y", "b"]}, [ir.BinG()]).mean()[
    ...     "binG"
    ... ]
    0.75
    """

    name: ClassVar[str] = "binG"
    response: ClassVar[Response] = "upward"
    cuts: ClassVar = "none"
    summary: ClassVar[str] = "1 / logarithm of the wrong documents above each relevant one"
    use: ClassVar[str] = (
        "Choose it to reproduce trec_eval's table, or where a reader's effort is the wrong "
        "documents seen and not the rank. Not for new work that others should compare with: it was "
        "an experiment."
    )
    proof: ClassVar[str] = _PROOF

    @refuse_overflow
    def compute(self, judged: Judged) -> PerQuery:
        """Binary G of every query."""
        relevant = judged.relevant(self.threshold)
        groups = groups_of(relevant.hits, tied=tie_order_matters(judged))
        every_hit = np.ones(relevant.hits.query.size, bool)
        wrong_above = groups.first - 1 - groups.above(every_hit)
        wrong_in_tie = groups.last - groups.first + 1 - groups.within(every_hit)
        low = wrong_above + wrong_in_tie if judged.ties == "worst" else wrong_above
        high = wrong_above if judged.ties == "best" else wrong_above + wrong_in_tie
        # A relevant document is equally likely to have 0, 1, ... or all the wrong ones of its tie
        # above it; below n of them its weight is that of rank n + 1.
        terms = _log2_mean_weights(low + 1, high + 1)
        values = judged.sum_by_query(relevant.hits.query, terms[groups.group])
        return self.filled(values / np.maximum(relevant.total, 1), relevant.total)

    @property
    def trec_name(self) -> str:
        """``binG``; the own name with options that trec_eval lacks."""
        return self.trec_binary("binG", "binG")


@dataclass(frozen=True, kw_only=True)
class RNDCG(GainMeasure):
    """nDCG averaged over the ranks at which the ideal list changes its gain, and over the end of
    the list.

    ``RnDCG = mean of nDCG@p over the ranks p``, in [0, 1]. For each positive gain that occurs, p is
    the number of judged documents with at least this gain; if the list is longer than R + 1, its
    length is one more p. R is the number of documents with positive gain.

    Parameters
    ----------
    gain, no_relevant
        As for `G`.
    rel : float, optional
        A query without a judged document of at least this grade counts as one without relevant
        documents, as under trec_eval's ``-l``.

    References
    ----------
    trec_eval, measure ``Rndcg``; Jarvelin and Kekalainen (2002), ACM TOIS 20(4), for nDCG.
    trec_eval's text would average over the level of grade 0 too, and leaves lists that end early
    open: the ranks above are those that give its numbers.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 2, "b": 1}}, {"q": ["a", "x"]}, [ir.RNDCG()]).mean()["RnDCG"]
    0.8800937667159343
    """

    rel: float | None = None

    name: ClassVar[str] = "RnDCG"
    response: ClassVar[Response] = "upward"
    summary: ClassVar[str] = "mean nDCG at the ranks where the ideal gain falls"
    use: ClassVar[str] = (
        "Choose it to reproduce trec_eval's table, or where numbers of relevant documents differ "
        "so much that no one cutoff suits all queries. Otherwise nDCG@k, which others report."
    )
    proof: ClassVar[str] = _PROOF

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rel is not None:
            object.__setattr__(self, "rel", number_option("rel", self.rel))

    @refuse_overflow
    def compute(self, judged: Judged) -> PerQuery:
        """Mean nDCG at the levels of every query."""
        ideal = self._ideal(judged)
        steps = steps_of(judged, self._gain, tied=judged.ties == "expected")
        sums = running_sums(ideal.query, ideal.gain * _weight_at(ideal.rank))
        falls = np.ones(ideal.query.size, bool)
        falls[:-1] = (ideal.query[1:] != ideal.query[:-1]) | (ideal.gain[1:] < ideal.gain[:-1])
        longer = np.flatnonzero((judged.lengths > ideal.size + 1) & (ideal.size > 0))
        query = np.concatenate((ideal.query[falls], longer))
        rank = np.concatenate((ideal.rank[falls], judged.lengths[longer]))
        ratio = steps.dcg_at(query, rank) / ideal.upto(sums, query, rank)
        n_ranks = np.bincount(query, minlength=judged.n_queries)
        defined = ideal.size > 0
        if self.rel is not None:
            defined &= judged.relevant(self.rel).total > 0
        return self._filled(judged.sum_by_query(query, ratio) / np.maximum(n_ranks, 1), defined)

    @property
    def trec_name(self) -> str:
        """``Rndcg``; the own name with options that trec_eval lacks."""
        return self._named("Rndcg") if self.rel in (None, 1) else str(self)


class NDCGRel(GainMeasure):
    """nDCG averaged over the relevant documents: at the rank of each returned one, and at the end
    of the list for each other one.

    ``nDCG_rel = (1 / R) [sum over returned documents of positive gain at ranks r of DCG(r) / ideal
    DCG(r) + (R - returned ones) DCG / ideal DCG]``, in [0, 1], where R is the number of judged
    documents with positive gain.

    Parameters
    ----------
    gain, no_relevant
        As for `G`.

    References
    ----------
    trec_eval, measure ``ndcg_rel``; Jarvelin and Kekalainen (2002), ACM TOIS 20(4), for nDCG.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 2, "b": 1}}, {"q": ["a", "x"]}, [ir.NDCGRel()]).mean()["nDCG_rel"]
    0.8800937667159343
    """

    name: ClassVar[str] = "nDCG_rel"
    summary: ClassVar[str] = "mean nDCG at the ranks of the relevant documents"
    use: ClassVar[str] = (
        "Choose it to reproduce trec_eval's table, or for a graded measure that, like AP, looks "
        "wherever a relevant document stands. Otherwise nDCG, which others report."
    )
    proof: ClassVar[str] = _PROOF

    @refuse_overflow
    def compute(self, judged: Judged) -> PerQuery:
        """Mean nDCG at the relevant documents of every query."""
        ideal = self._ideal(judged)
        steps = steps_of(judged, self._gain, tied=judged.ties == "expected")
        sums = running_sums(ideal.query, ideal.gain * _weight_at(ideal.rank))
        has_positive = steps.n_positive > 0
        rank, step = steps.ranks(has_positive)
        query = steps.query[step]
        terms = steps.dcg_at_positive(step, rank)
        ideal_dcg_at_rank = ideal.upto(sums, query, rank)
        ratios = np.divide(
            terms, ideal_dcg_at_rank, out=np.zeros_like(terms), where=ideal_dcg_at_rank > 0
        )
        values = judged.sum_by_query(query, ratios)
        every_query = np.arange(judged.n_queries)
        dcg_at_end = steps.total(judged)
        ideal_dcg = ideal.upto(sums, every_query, ideal.size)
        returned = np.bincount(steps.query, weights=steps.n_positive, minlength=judged.n_queries)
        missed = ideal.size - returned
        values += missed * np.divide(
            dcg_at_end, ideal_dcg, out=np.zeros_like(dcg_at_end), where=ideal_dcg > 0
        )
        return self._filled(values / np.maximum(ideal.size, 1), ideal.size > 0)

    @property
    def trec_name(self) -> str:
        """``ndcg_rel``; the own name with options that trec_eval lacks."""
        return self._named("ndcg_rel")
