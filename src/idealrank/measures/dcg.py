"""Discounted cumulative gain and its normalised form, with every switch of every tool.

DCG = sum over ranks r of gain(grade at r) x discount(r); NDCG = DCG / DCG of the ideal list. One
alignment serves any number of gains, discounts and cutoffs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from idealrank.data.judged import Hits, Judged
from idealrank.data.policies import IdealGrades, ideal_grades, sort_by_query
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import limits_of
from idealrank.measures.discounts import Discount, DiscountLike, make_discount
from idealrank.measures.gains import Gain, GainLike, gain_from, make_gain, trec_gains
from idealrank.measures.measure import (
    Measure,
    OftenUndefined,
    OverOrders,
    PerQuery,
    Response,
    fill_undefined,
    number_option,
)
from idealrank.measures.ranks import hit_weights, tied_ranks, weights_within
from idealrank.measures.rules import (
    HasRules,
    Ideal,
    NoRelevant,
    Rounding,
    ShortLists,
    checked,
)
from idealrank.measures.sums import (
    finite_sums,
    refuse_overflow,
    running_sums,
    spread,
    sum_rectangle,
    sum_rows,
    summed_width,
)
from idealrank.measures.terms import EXACT, OWN_IDEAL, Fraction, Quotient, Terms
from idealrank.measures.threshold import groups_of

# Some tools round per query or per term, which is repeated here to the last digit. Rounding down, a
# value this close below a hundredth is one, but for the binary error: a quotient of two sums of
# hundredths that is not itself a hundredth lies further below the next one.
_SLACK = 1e-9


def rounded(values: FloatArray, rounding: Rounding | None) -> FloatArray:
    """The value of each query: to two decimals with halves up (Java's Math.round), to five as C's
    printf, or down to two.
    """
    if rounding == "round-2":
        hundreds = values * 100
        whole = np.floor(hundreds)
        return np.where(hundreds - whole >= 0.5, whole + 1, whole) / 100
    if rounding == "round-5":
        # np.round multiplies first, which moves values that lie within half a bit of the middle.
        return np.array([round(value, 5) for value in values.tolist()], np.float64)
    return floored(values, rounding)


def floored(values: FloatArray, rounding: Rounding | None) -> FloatArray:
    """Round down to two decimals under ``floor-2``, as exact decimal arithmetic would do it: 0.58 /
    2 is 0.29, not 0.28.
    """
    return np.floor(values * 100 + _SLACK) / 100 if rounding == "floor-2" else values


def summed(sums: FloatArray, rounding: Rounding | None) -> FloatArray:
    """Sums of floored terms, rid of the binary error of adding hundredths."""
    return np.rint(sums * 100) / 100 if rounding == "floor-2" else sums


@dataclass(frozen=True, kw_only=True)
class _Discounted(Measure):
    """Options that DCG, its ideal and NDCG share.

    Parameters
    ----------
    rel : float, optional
        Lowest grade of a relevant document: lower grades gain 0. Default: every grade has its gain.
    ideal : {"judged", "returned", "hits", "uncut", "full"}, optional
        Which list is the ideal, see `Rules`; DCG has none.
    no_relevant : {"zero", "one", "nan", "left-out", "quotient"}, optional
        The value of a query without relevant documents, of NDCG alone; see `Rules`.
    rounding : {"none", "round-2", "round-5", "floor-2"}, optional
        Rounding that some tools apply to each query.
    """

    gain: "GainLike | None" = None
    rel: float | None = None
    discount: "DiscountLike | None" = None
    ideal: Ideal | None = None
    no_relevant: NoRelevant | None = None
    rounding: Rounding | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gain is not None:
            object.__setattr__(self, "gain", make_gain(self.gain))
        if self.rel is not None:
            object.__setattr__(self, "rel", number_option("rel", self.rel))
        if self.discount is not None:
            object.__setattr__(self, "discount", make_discount(self.discount))
        checked("ideal", self.ideal, Ideal)
        checked("no_relevant", self.no_relevant, NoRelevant)
        checked("rounding", self.rounding, Rounding)

    @property
    def _gain(self) -> Gain:
        gain = make_gain(self.gain if self.gain is not None else "linear")
        return gain_from(gain, self.rel)

    @property
    def _discount(self) -> Discount:
        return make_discount(self.discount if self.discount is not None else "log2")

    def depth(self, *, lists: bool = False) -> int:
        """Deepest rank whose hits are needed; 0 for all. The ideal of `lists` is sorted before it
        is cut, the ideal of a run is not.
        """
        if lists:
            whole = self.ideal == "uncut" or not self._gain.rising
        else:
            whole = self.ideal == "returned"
        return 0 if whole else super().depth(lists=lists)

    def worth(self, grades: FloatArray) -> FloatArray | None:
        """The gain of each grade."""
        return self._gain(grades)

    def _dcg(self, judged: Judged) -> FloatArray:
        if _is_rectangular(self, judged):
            return _rectangle_dcg(self, judged)
        hits = judged.hits
        gains = self._gain(hits.grade)
        if self.rounding == "floor-2" and judged.ties == "expected":
            raise OptionError(
                "rounding=floor-2 with ties=expected is not offered: the mean over tie orders of "
                "floored terms has no closed form"
            )
        terms = gains * hit_weights(judged, hits, gains, self._discount, self.cutoff)
        return summed(judged.sum_by_query(hits.query, floored(terms, self.rounding)), self.rounding)

    def _ideal_dcg(self, judged: Judged) -> FloatArray:
        if self.ideal == "full":
            return self._full_ideal(judged)
        if self.ideal != "uncut" and _is_rectangular(self, judged):
            assert judged.rectangle is not None  # noqa: S101  (for the type checker; _is_rectangular has looked)
            best = judged.rectangle.ideal
            if self._gain.rising:
                return sum_rows(best, self._gain, self._weights(judged))
            # The best grades need not have the best gains: sort all gains before the cutoff takes
            # its share.
            falling = -np.sort(-self._gain(best), axis=1)
            return sum_rows(falling, make_gain("linear"), self._weights(judged))
        returned = self.ideal == "returned" and not judged.complete
        grades = judged.ideal
        if returned:
            grades = ideal_grades(judged.hits.query, judged.hits.grade, judged.n_queries)
        gains = self._gain(grades.grade)
        if not self._gain.rising:
            gains = sort_by_query(grades.query, gains, judged.n_queries)
        rank = _ideal_ranks(grades, gains, judged) if returned else grades.rank
        length = np.broadcast_to(np.int64(0), rank.shape)
        if self._discount.by_length:
            length = judged.lengths[grades.query]
        limit = self._ideal_limit(judged, grades.query)
        weights = weights_within(self._discount, rank, limit, length)
        terms = floored(gains * weights, self.rounding)
        return summed(judged.sum_by_query(grades.query, terms), self.rounding)

    def _full_ideal(self, judged: Judged) -> FloatArray:
        """DCG of a list that has the highest gain of the query at every rank."""
        highest = _highest_gains(self._gain, judged)
        if self.rounding != "floor-2":
            return highest * self._full_weight(judged)
        query, rank = spread(self._full_limit(judged))
        terms = highest[query] * self._discount.at(rank, judged.lengths[query])
        return summed(judged.sum_by_query(query, floored(terms, self.rounding)), self.rounding)

    def _full_weight(self, judged: Judged) -> FloatArray:
        """Sum of the weights of all ranks of such a list, shape (n_queries,)."""
        limit = self._full_limit(judged)
        return self._discount.between(np.ones_like(limit), limit, judged.lengths)

    def _full_limit(self, judged: Judged) -> IntArray:
        """Ranks of such a list: the cutoff, or the length of the list that was returned."""
        if self.cutoff is None:
            return judged.lengths
        return limits_of(self.cutoff, judged.lengths, np.arange(judged.n_queries))

    def _sum(self, add: Callable[[Judged], FloatArray], judged: Judged) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            sums = add(judged)
        return finite_sums(self, sums)

    def _ideal_limit(self, judged: Judged, query: IntArray) -> IntArray:
        limit = limits_of(None if self.ideal == "uncut" else self.cutoff, judged.lengths, query)
        if self.ideal == "hits":
            return np.minimum(limit, np.maximum(judged.lengths, 1)[query])
        return limit

    def _weights_of(self, judged: Judged, documents: Hits) -> FloatArray | None:
        if self.rounding not in (None, "none"):
            return None
        return hit_weights(
            judged, documents, np.ones(documents.query.size), self._discount, self.cutoff
        )

    def _terms_of(self, judged: Judged, documents: Hits, gains: FloatArray) -> Terms:
        weights = hit_weights(judged, documents, gains, self._discount, self.cutoff)
        return Terms(weights, floored(gains * weights, self.rounding))

    def _weights(self, judged: Judged) -> FloatArray:
        """Weights of ranks 1 to the cutoff, one vector for all lists of a rectangle."""
        assert judged.rectangle is not None  # noqa: S101
        width = judged.rectangle.grades.shape[1]
        count = min(width, self.cutoff) if isinstance(self.cutoff, int) else width
        rank = np.arange(1, count + 1)
        length = np.full(count, judged.lengths[0] if judged.n_queries else 0)
        return self._discount.at(rank, length)

    def _trec_name(self, plain: str, cut: str) -> str:
        """trec_eval's name, for its own gain and discount only."""
        gains = trec_gains(self.gain)
        is_trec = (
            gains is not None and self._discount.text == "log2" and self.ideal in (None, "judged")
        )
        has_others = not is_trec or self.rel is not None
        options = has_others or (bool(gains) and self.cutoff is not None)
        return self._trec(plain + (gains or ""), cut, options=options)


def _is_rectangular(measure: _Discounted, judged: Judged) -> bool:
    """Return whether all lists share one vector of weights, so that whole matrices can be
    summed.
    """
    if judged.rectangle is None or measure.rounding not in (None, "none", "round-2", "round-5"):
        return False
    one_length = not measure._discount.by_length or bool(
        (judged.lengths == judged.lengths[:1]).all()
    )
    width = judged.rectangle.grades.shape[1]
    deep_enough = judged.depth == 0 or (
        isinstance(measure.cutoff, int) and measure.cutoff <= max(width, judged.depth)
    )
    rising_or_whole = measure._gain.rising or judged.depth == 0
    return (
        one_length
        and deep_enough
        and rising_or_whole
        and (measure.cutoff is None or isinstance(measure.cutoff, int))
    )


def _rectangle_dcg(measure: _Discounted, judged: Judged) -> FloatArray:
    rectangle = judged.rectangle
    gain = measure._gain
    weights = measure._weights(judged)
    assert rectangle is not None  # noqa: S101
    return sum_rectangle(
        judged=judged,
        rectangle=rectangle,
        gain=gain,
        weights=weights,
        discount=measure._discount,
        cutoff=measure.cutoff,
    )


def _highest_gains(gain: Gain, judged: Judged) -> FloatArray:
    """Highest gain judged for each query, 0 where none is above 0, shape (n_queries,)."""
    highest = np.zeros(judged.n_queries)
    np.maximum.at(highest, judged.ideal.query, gain(judged.ideal.grade))
    return highest


def _ideal_ranks(grades: IdealGrades, gains: FloatArray, judged: Judged) -> IntArray:
    """Ranks in the sorted returned list, where unjudged documents (gain 0) stand above negative
    gains.
    """
    unjudged = judged.lengths - grades.sizes
    return np.where(gains < 0, grades.rank + unjudged[grades.query], grades.rank)


class DCG(_Discounted):
    """Discounted cumulative gain.

    ``DCG@k = sum over ranks r <= k of gain(grade at r) * discount(r)``, in [0, inf) for grades of 0
    or more.

    Parameters
    ----------
    cutoff : int or str, optional
        Cutoff: a constant, or ``"0.2n"``, ``"sqrt(n)"`` or ``"n^0.25"`` of the list length n;
        default all ranks.
    gain : str, mapping or callable, optional
        See `make_gain`; default the convention's.
    rel : float, optional
        Lowest grade of a relevant document: lower grades gain 0. Default: every grade has its gain.
    discount : str, sequence or callable, optional
        See `make_discount`; default the convention's.

    References
    ----------
    Jarvelin and Kekalainen (2002), Cumulated gain-based evaluation of IR techniques, ACM TOIS
    20(4), section 2.2.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 3, "b": 1}}, {"q": ["a", "x", "b"]}, [ir.DCG()]).mean()["DCG"]
    3.5
    """

    name: ClassVar[str] = "DCG"
    tells_unjudged: ClassVar[bool] = True
    over_orders: ClassVar[OverOrders] = "by order"
    response: ClassVar[Response] = "rising"
    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)
    from_convention: ClassVar[tuple[str, ...]] = ("cutoff", "gain", "discount", "rounding")
    summary: ClassVar[str] = "sum of gain x discount over the ranks"
    use: ClassVar[str] = (
        "Choose it when gains are in units of their own (money, minutes) and queries may differ in "
        "what they offer. Not to average over queries that have one relevant document and others "
        "that have a hundred: the latter decide; use nDCG."
    )
    proof: ClassVar[str] = (
        "112 vectors and 20 tied lists recomputed from the papers, to 12 decimals; a slow oracle "
        "that tries every tie order, likewise"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """DCG of every query."""
        return PerQuery(rounded(self._sum(self._dcg, judged), self.rounding))

    def terms(self, judged: Judged, documents: Hits, gains: FloatArray) -> Terms | None:
        """Gain multiplied by the discount of the rank."""
        return self._terms_of(judged, documents, gains)

    def quotient(self, judged: Judged) -> Quotient | None:
        """DCG; it has no denominator."""
        return Quotient(self.compute(judged).values, None, np.ones(judged.n_queries, np.bool_))

    def weights(self, judged: Judged, documents: Hits) -> FloatArray | None:
        """Discount of the rank; None if values are rounded."""
        return self._weights_of(judged, documents)

    @property
    def trec_name(self) -> str:
        """``dcg``, the name in trec_eval 10."""
        return self._trec_name("dcg", "dcg_cut")


class IdealDCG(_Discounted):
    """DCG of the ideal list: the maximum for the run.

    ``iDCG@k = sum over ranks r <= k of gain(grade at r of the ideal list) * discount(r)``, in [0,
    inf).

    Parameters
    ----------
    cutoff, gain, rel, discount
        As for `DCG`.
    ideal : {"judged", "returned", "hits", "uncut", "full"}, optional
        Definition of the ideal list, see `Rules`; default the convention's.

    References
    ----------
    Jarvelin and Kekalainen (2002), ACM TOIS 20(4), section 2.3; trec_eval 10, measure
    ``ideal_dcg``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 3, "b": 0}}, {"q": ["b"]}, [ir.IdealDCG()]).mean()["iDCG"]
    3.0
    """

    name: ClassVar[str] = "iDCG"
    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)
    direction: ClassVar[int] = 0
    ties: ClassVar = "not affected"
    from_convention: ClassVar[tuple[str, ...]] = ("cutoff", "gain", "discount", "ideal", "rounding")
    summary: ClassVar[str] = "DCG of the ideal list"
    use: ClassVar[str] = (
        "Look at it beside DCG to see what a query could have given. It says nothing about a run."
    )
    proof: ClassVar[str] = (
        "112 vectors recomputed from the papers, to 12 decimals; a slow oracle, to 12 decimals"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Ideal DCG of every query."""
        return PerQuery(rounded(self._sum(self._ideal_dcg, judged), self.rounding))

    @property
    def trec_name(self) -> str:
        """``ideal_dcg``, the name in trec_eval 10."""
        return self._trec_name("ideal_dcg", "ideal_dcg_cut")


@dataclass(frozen=True, kw_only=True)
class NDCG(_Discounted):
    """Normalised discounted cumulative gain: DCG divided by the DCG of the ideal list.

    ``nDCG@k = DCG@k / iDCG@k``, in [0, 1] for grades of 0 or more. If the ideal is 0 or less, the
    policy `no_relevant` gives the value.

    Parameters
    ----------
    cutoff : int or str, optional
        Cutoff, as for `DCG`.
    gain : str, mapping or callable, optional
        ``"linear"`` (trec_eval, scikit-learn), ``"exp2"`` = 2^grade - 1 (LightGBM, XGBoost),
        ``"binary"`` = 1 for a relevant document (recommender libraries), ...; see `make_gain`.
    rel : float, optional
        Lowest grade of a relevant document: lower grades gain 0, as with ranx's ``ndcg-l4`` for
        ``rel=4``. Default: every grade has its gain; of ``gain=binary``, 1.
    discount : str, sequence or callable, optional
        ``"log2"`` = 1/log2(rank + 1), ``"jarvelin(2)"``, ``"linear"`` = n - rank (the ECML/PKDD
        2010 challenge), ...; see `make_discount`.
    ideal : {"judged", "returned", "hits", "uncut", "full"}, optional
        Definition of the ideal list; see `Rules`.
    no_relevant : {"zero", "one", "nan", "left-out", "quotient"}, optional
        Value of a query without relevant documents; see `Rules`.
    rounding : {"none", "round-2", "round-5", "floor-2"}, optional
        Rounding that some tools apply to each query.
    short_lists : {"padded", "zero"}, optional
        Value of a list with fewer documents than the cutoff; see `Rules`.

    References
    ----------
    Jarvelin and Kekalainen (2002), ACM TOIS 20(4), section 2.3; Burges et al. (2005), Learning to
    rank using gradient descent, ICML; Wang et al. (2013), A theoretical analysis of NDCG type
    ranking measures, COLT, equation 1; Jin and Geng (2011).

    Examples
    --------
    >>> import idealrank as ir
    >>> evaluation = ir.evaluate(
    ...     {"q": {"a": 3, "b": 1}}, {"q": ["b", "a"]}, [ir.NDCG(gain="exp2", cutoff=10)]
    ... )
    >>> evaluation.mean()["nDCG(gain=exp2)@10"]
    0.7098097413968655
    """

    short_lists: ShortLists | None = None

    name: ClassVar[str] = "nDCG"
    tells_unjudged: ClassVar[bool] = True
    over_orders: ClassVar[OverOrders] = "by order"
    response: ClassVar[Response] = "upward"
    from_convention: ClassVar[tuple[str, ...]] = (
        "cutoff",
        "gain",
        "discount",
        "ideal",
        "no_relevant",
        "rounding",
        "short_lists",
    )
    summary: ClassVar[str] = "DCG divided by the DCG of the ideal list"
    use: ClassVar[str] = (
        "Choose it for graded judgments when the top of the list counts most. Not for one right "
        "answer per query (RR says the same more simply), nor for candidates for a reranker (R)."
    )
    proof: ClassVar[str] = (
        "trec_eval 10 and 9 to their 4 printed decimals on real runs; pytrec_eval-terrier, "
        "ir_measures, scikit-learn, LightGBM and XGBoost live, to 12 decimals, and every other "
        "tool of the conventions as recorded from it"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("short_lists", self.short_lists, ShortLists)

    def under(self, convention: HasRules) -> Self:
        """Return the measure with every option set, but for short lists that are padded: nearly
        everywhere they are, and the text of the measure does not name them.
        """
        resolved = super().under(convention)
        if self.short_lists is None and resolved.short_lists == "padded":
            return replace(resolved, short_lists=None)
        return resolved

    def compute(self, judged: Judged) -> PerQuery:
        """NDCG of every query."""
        dcg = self._sum(self._dcg, judged) * self._counted(judged)
        ideal = self._sum(self._ideal_dcg, judged)
        defined = self._is_defined(ideal)
        values = np.divide(dcg, ideal, out=np.zeros_like(dcg), where=defined)
        return fill_undefined(rounded(values, self.rounding), defined, self.no_relevant or "zero")

    @property
    def ideal_size(self) -> int | None:
        """The cutoff, where it is a number and the ideal list is of judged documents by falling
        grade.
        """
        is_cut = self.ideal == "judged" and self._gain.rising
        return self.cutoff if is_cut and isinstance(self.cutoff, int) else None

    def _counted(self, judged: Judged) -> FloatArray:
        """1 for each list that is long enough for its DCG to count, else 0, shape (n_queries,)."""
        if self.short_lists == "zero" and isinstance(self.cutoff, int):
            return (judged.lengths >= self.cutoff).astype(np.float64)
        return np.broadcast_to(np.float64(1.0), judged.lengths.shape)

    def _is_defined(self, ideal: FloatArray) -> BoolArray:
        return ideal != 0 if self.no_relevant == "quotient" else ideal > 0

    @property
    def split(self) -> str:
        """Exact, unless the ideal depends on the list itself."""
        is_own = self.ideal in ("returned", "hits")
        is_own |= self.ideal == "full" and not isinstance(self.cutoff, int)
        return OWN_IDEAL if is_own else EXACT

    def terms(self, judged: Judged, documents: Hits, gains: FloatArray) -> Terms | None:
        """Gain multiplied by the discount of the rank, divided by the ideal DCG.

        Rounding to two or five decimals applies to the quotient, not to the ideal; ``floor-2``
        rounds the terms of both.
        """
        terms = self._terms_of(judged, documents, gains)
        counted = self._counted(judged)[documents.query]
        ideal = self._sum(self._ideal_dcg, judged)
        if self.rounding == "floor-2":
            ideal = rounded(ideal, self.rounding)
        return Terms(
            weights=terms.weights * counted,
            added=terms.added * counted,
            ideal=ideal,
            defined=self._is_defined(ideal),
        )

    def quotient(self, judged: Judged) -> Quotient | None:
        """DCG and ideal DCG, each rounded separately."""
        common: dict[str, Any] = {
            name: getattr(self, name) for name in ("cutoff", "gain", "rel", "discount", "rounding")
        }
        dcg = DCG(**common).compute(judged).values * self._counted(judged)
        ideal = IdealDCG(**common, ideal=self.ideal).compute(judged).values
        return Quotient(dcg, ideal, self._is_defined(ideal))

    def fraction(self, judged: Judged) -> Fraction | None:
        """DCG over ideal DCG."""
        if self.rounding == "floor-2" or self.ideal == "full":
            return None
        returned = self.ideal == "returned" and not judged.complete
        known = judged.ideal
        if returned:
            known = ideal_grades(judged.hits.query, judged.hits.grade, judged.n_queries)
        counted = self._counted(judged)

        def weigh(documents: Hits) -> FloatArray:
            weights = hit_weights(
                judged, documents, np.ones(documents.query.size), self._discount, self.cutoff
            )
            return weights * counted[documents.query]

        def sums(n_ranks: int) -> FloatArray:
            limit = self._ideal_limit(judged, np.arange(judged.n_queries))[:, None]
            n_ranks = min(n_ranks, int(limit.max(initial=0)))
            rank = np.broadcast_to(np.arange(1, n_ranks + 1), (judged.n_queries, n_ranks))
            length = np.broadcast_to(judged.lengths[:, None], rank.shape)
            weights = weights_within(self._discount, rank, limit, length)
            return np.hstack((np.zeros((judged.n_queries, 1)), np.cumsum(weights, axis=1)))

        return Fraction(
            total=self._sum(self._dcg, judged) * counted,
            weigh=weigh,
            ideal=sums,
            known=known,
            shared=self.ideal != "returned",
        )

    def ideal_places(self, judged: Judged, gains: FloatArray) -> tuple[IntArray, FloatArray] | None:
        """Ranks 1, 2, ... and their discounts; unjudged documents of a returned list have gain 0
        and come before negative gains.
        """
        if self.ideal == "full":
            return None
        rank = np.arange(1, gains.size + 1)
        if self.ideal == "returned":
            rank = np.where(gains < 0, rank + int(judged.lengths[0]) - gains.size, rank)
        rank = rank[rank <= self._ideal_limit(judged, np.zeros(gains.size, np.int64))]
        return rank, self._discount.at(rank, np.full(rank.size, judged.lengths[0]))

    def weights(self, judged: Judged, documents: Hits) -> FloatArray | None:
        """Discount of the rank divided by the ideal DCG; None if values are rounded or the ideal
        depends on the list.

        Without a relevant document, the ideal holds one document with the highest gain judged
        anywhere, as if an unjudged document had it.
        """
        weights = None if self.ideal == "returned" else self._weights_of(judged, documents)
        if weights is None:
            return None
        weights = weights * self._counted(judged)[documents.query]
        ideal = self._sum(self._ideal_dcg, judged)[documents.query]
        highest = float(self._gain(judged.ideal.grade).max(initial=0.0)) or 1.0
        # A query without a relevant document gets its ideal from the first one that is found.
        first_rank = np.ones_like(documents.rank)
        ideal_of_one = highest * self._discount.at(first_rank, judged.lengths[documents.query])
        if self.ideal == "full":
            ideal_of_one = highest * self._full_weight(judged)[documents.query]
        created = (ideal == 0) & (self.no_relevant in (None, "zero"))
        ideal = np.where(created, ideal_of_one, ideal)
        return np.divide(weights, ideal, out=np.zeros_like(weights), where=ideal > 0)

    def ideal_with(self, judged: Judged, gain: FloatArray, most: int) -> FloatArray | None:
        """Ideal DCG after inserting further documents by gain; None without a constant cutoff, or
        if the ideal depends on the list.
        """
        cutoff = self.cutoff
        if (
            not isinstance(cutoff, int)
            or self.ideal not in (None, "judged")
            or self._discount.by_length
            or judged.rectangle is not None
        ):
            return None
        # The ideal list has the gains in falling order. `count` further documents of one gain push
        # down all that gain less, and leave in place all that gain as much or more: the new ideal
        # is the sum of three parts, for each count, without sorting anything again.
        grades = judged.ideal
        gains = self._gain(grades.grade)
        if not self._gain.rising:
            gains = sort_by_query(grades.query, gains, judged.n_queries)
        top = grades.rank <= cutoff
        # Documents beyond the longest list of grades gain nothing and need no column, unless some
        # gain is below 0: the zeros of ungraded documents then come before it.
        longest = cutoff if (gain < 0).any() else int(grades.rank[top].max(initial=0))
        widths = [summed_width(max(cutoff - count, 0), longest) for count in range(most + 1)]
        width = max(widths)
        reach = min(cutoff, max(widths) + most)
        best = np.zeros((judged.n_queries, width))
        best[grades.query[top], grades.rank[top] - 1] = gains[top]
        weights = self._discount.at(np.arange(1, reach + 1), np.zeros(reach, np.int64))
        # Ties stay above: which of two equal gains comes first does not change the sum.
        is_above = best >= gain[:, None]
        unmoved = (best * is_above * weights[:width])[:, : widths[0]].sum(axis=1)
        pushed = np.where(is_above, 0.0, best)
        n_above = is_above.sum(axis=1)
        # The inserted have the ranks n_above + 1 to n_above + count: a difference of running sums.
        summed_weights = np.concatenate(([0.0], np.cumsum(weights)))
        ideals = np.empty((judged.n_queries, most + 1))
        for count, n_ranks in enumerate(widths):
            # Documents pushed beyond the cutoff are lost: this count leaves room for `n_ranks`.
            within = summed_weights[np.minimum(n_above + count, reach)] - summed_weights[n_above]
            moved = (pushed[:, :n_ranks] * weights[count : count + n_ranks]).sum(axis=1)
            ideals[:, count] = unmoved + gain * within + moved
        return ideals

    @property
    def trec_name(self) -> str:
        """``ndcg`` or ``ndcg_cut_10``."""
        return self._trec_name("ndcg", "ndcg_cut")


@dataclass(frozen=True, kw_only=True)
class MeanNDCG(OftenUndefined):
    """Mean of NDCG over all cutoffs, from 1 to the length of the list.

    ``MeanNDCG = (1 / n) sum_{k=1..n} nDCG@k`` for a list of n documents, in [0, 1] for grades of 0
    or more. A cutoff at which the ideal is 0 or less adds 0.

    Parameters
    ----------
    gain, rel, discount, ideal
        As for `NDCG`.
    no_relevant : {"zero", "one", "nan", "left-out", "quotient"}, optional
        Value of a query whose ideal is 0 or less at every cutoff; see `Rules`.

    References
    ----------
    Qin, Liu, Xu and Li (2010), LETOR: A benchmark collection for research on learning to rank for
    information retrieval, Information Retrieval 13(4); the evaluation script of LETOR 4.0.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {"q": {"a": 1, "b": 0}}
    >>> ir.evaluate(qrels, {"q": ["b", "a"]}, "MeanNDCG", "letor").mean()["MeanNDCG"]
    0.5
    """

    gain: "GainLike | None" = None
    rel: float | None = None
    discount: "DiscountLike | None" = None
    ideal: Ideal | None = None

    name: ClassVar[str] = "MeanNDCG"
    response: ClassVar[Response] = "upward"
    cuts: ClassVar = "none"
    from_convention: ClassVar[tuple[str, ...]] = ("gain", "discount", "ideal", "no_relevant")
    summary: ClassVar[str] = "mean of nDCG@k over all ranks of the list"
    use: ClassVar[str] = (
        "Choose it to compare with published results on LETOR's data sets, under the convention "
        "letor. Not for new work: a long list counts its deep ranks as much as the first, and nDCG "
        "at the cutoff that users see says more."
    )
    proof: ClassVar[str] = (
        "LETOR's Eval-Score-4.0.pl as recorded from it, to 12 decimals; a slow oracle, likewise"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gain is not None:
            object.__setattr__(self, "gain", make_gain(self.gain))
        if self.rel is not None:
            object.__setattr__(self, "rel", number_option("rel", self.rel))
        if self.discount is not None:
            object.__setattr__(self, "discount", make_discount(self.discount))
        checked("ideal", self.ideal, Ideal)

    @property
    def _gain(self) -> Gain:
        gain = make_gain(self.gain if self.gain is not None else "linear")
        return gain_from(gain, self.rel)

    def worth(self, grades: FloatArray) -> FloatArray | None:
        """The gain of each grade."""
        return self._gain(grades)

    @refuse_overflow
    def compute(self, judged: Judged) -> PerQuery:
        """Mean NDCG of every query."""
        lengths = judged.lengths
        query, rank = spread(lengths)
        discount = make_discount(self.discount if self.discount is not None else "log2")
        weights = discount.at(rank, lengths[query])
        dcg = running_sums(query, self._gains_by_rank(judged) * weights)
        best, best_gains = self._best(judged)
        best_terms = best_gains * discount.at(best.rank, lengths[best.query])
        # What NDCG of a list without documents would be divided by
        at_top = np.where((best.rank == 1) | (self.ideal == "uncut"), best_terms, 0.0)
        top = judged.sum_by_query(best.query, at_top)
        if self.ideal == "uncut":
            ideal = top[query]
        elif self.ideal == "full":
            ideal = _highest_gains(self._gain, judged)[query] * running_sums(query, weights)
        else:
            within = best.rank <= lengths[best.query]
            terms = np.zeros(query.size)
            starts = np.cumsum(lengths) - lengths
            terms[(starts[best.query] + best.rank - 1)[within]] = best_terms[within]
            ideal = running_sums(query, terms)
        divides = self._is_defined(ideal)
        quotients = np.divide(dcg, ideal, out=np.zeros_like(dcg), where=divides)
        values = judged.sum_by_query(query, quotients) / np.maximum(lengths, 1)
        n_defined = np.bincount(query[divides], minlength=judged.n_queries)
        defined = np.where(lengths == 0, self._is_defined(top), n_defined > 0)
        return fill_undefined(values, defined, self.no_relevant or "zero")

    def _is_defined(self, ideal: FloatArray) -> BoolArray:
        return ideal != 0 if self.no_relevant == "quotient" else ideal > 0

    def _gains_by_rank(self, judged: Judged) -> FloatArray:
        """(Expected) gain at every rank of every list, one list after the other."""
        hits = judged.hits
        starts = np.cumsum(judged.lengths) - judged.lengths
        gains = self._gain(hits.grade)
        by_rank = np.zeros(int(judged.lengths.sum()))
        if judged.ties != "expected":
            by_rank[starts[hits.query] + tied_ranks(judged, hits, gains) - 1] = gains
            return by_rank
        groups = groups_of(hits, tied=True)
        group, place = spread(groups.last - groups.first + 1)
        mean_gains = groups.sums(gains) / (groups.last - groups.first + 1)
        ranks = starts[groups.query[group]] + groups.first[group] + place - 2
        by_rank[ranks] = mean_gains[group]
        return by_rank

    def _best(self, judged: Judged) -> tuple[IdealGrades, FloatArray]:
        """Documents of the ideal list with their ranks, and their gains."""
        returned = self.ideal == "returned" and not judged.complete
        best = judged.ideal
        if returned:
            best = ideal_grades(judged.hits.query, judged.hits.grade, judged.n_queries)
        gains = self._gain(best.grade)
        if not self._gain.rising:
            gains = sort_by_query(best.query, gains, judged.n_queries)
        if returned:
            best = best._replace(rank=_ideal_ranks(best, gains, judged))
        return best, gains
