"""Cascade measures: ERR's user stops when satisfied, RBP's user loses patience at a constant
rate.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from idealrank.data.judged import Hits, Judged
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.measures.cutoffs import limits_of, resolve_cutoff
from idealrank.measures.discounts import RankDiscount
from idealrank.measures.gains import make_gain
from idealrank.measures.measure import Measure, OverOrders, PerQuery, Response, number_option
from idealrank.measures.measure_texts import number_text
from idealrank.measures.ranks import chance_within, hit_weights
from idealrank.measures.rules import checked
from idealrank.measures.stopping import cascaded, down_the_ranks, what_is_met
from idealrank.measures.sums import is_deep_enough, weighted_gains
from idealrank.measures.terms import EXACT, FROM_THE_TOP

# Chances are summed with rounding errors: fewer unjudged ranks than this are none.
_NEARLY_NONE = 1e-9

RBPNumber: TypeAlias = Literal[
    "EU",
    "ETU",
    "EC",
    "ETC",
    "ED",
    "residual",
    "residual-ETU",
    "residual-EC",
    "residual-ETC",
    "residual-ED",
    "residual-seen",
]


@dataclass(frozen=True, kw_only=True)
class ERR(Measure):
    """Expected reciprocal rank of the document that satisfies the user and ends the session; a
    higher grade is more likely to satisfy.

    ``ERR@k = sum_{r=1..k} R_r / r prod_{i<r} (1 - R_i)`` with ``R = (2^grade - 1) / 2^max_rel``, in
    [0, 1).

    For tied scores, ``ties=expected`` gives the mean over all orders: the mean of ``prod (1 - R)``
    over the first j of n tied documents is an elementary symmetric polynomial, divided by its
    number of terms. In a large tie group, some places are worked out and the others interpolated,
    which agrees to 12 digits, so that the time hardly grows with the group, wherever the cutoff
    falls.

    Parameters
    ----------
    cutoff : int or str, optional
        k; default the whole list.
    max_rel : float, optional
        Highest grade of the scale, default 4 as in gdeval; a grade above it is an error. Grades
        below 0 count as 0.

    References
    ----------
    Chapelle, Metzler, Zhang and Grinspan (2009), Expected reciprocal rank for graded relevance,
    CIKM, equations 4 and 5; gdeval.pl of the TREC Web track, column ``err@k``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 4, "b": 1}}, {"q": ["b", "a"]}, [ir.ERR(cutoff=20)]).mean()[
    ...     "ERR@20"
    ... ]
    0.501953125
    """

    max_rel: float | None = None

    name: ClassVar[str] = "ERR"
    response: ClassVar[Response] = "rising"
    samples: ClassVar = {"max_rel": (None, 3, 4, 5)}
    summary: ClassVar[str] = "expected reciprocal rank at which a user is satisfied"
    use: ClassVar[str] = (
        "Choose it for graded judgments where one good result ends the search, so that what stands "
        "below it hardly counts. Not where the user collects several results, nor to compare "
        "collections with different grade scales."
    )
    proof: ClassVar[str] = "gdeval 1.2a by ir_measures 0.4.3, live, to its 5 decimals"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_rel is not None:
            object.__setattr__(self, "max_rel", number_option("max_rel", self.max_rel, 0, 1000))

    @property
    def _highest(self) -> float:
        return 4.0 if self.max_rel is None else float(self.max_rel)

    def satisfaction(self, grades: FloatArray) -> FloatArray:
        """Probability that each grade satisfies the user."""
        if grades.size and grades.max() > self._highest:
            raise InputError(
                f"{self}: found grade {number_text(float(grades.max()))}, expected at most "
                f"{number_text(self._highest)}; give the highest grade of your scale, as in "
                "ERR(max_rel=5)"
            )
        chances: FloatArray = make_gain("exp2")(np.maximum(grades, 0.0)) / 2.0**self._highest
        return chances

    def compute(self, judged: Judged) -> PerQuery:
        """ERR of every query."""
        rectangle = judged.rectangle
        if (
            rectangle is None
            or not is_deep_enough(judged, self.cutoff)
            or not isinstance(self.cutoff, int | None)
        ):
            hits = judged.hits
            limit = limits_of(self.cutoff, judged.lengths, hits.query)
            return PerQuery(reciprocal_of_stops(judged, hits, self.satisfaction(hits.grade), limit))
        stops = self.satisfaction(rectangle.grades[:, : self.cutoff])
        if rectangle.ties is None or judged.ties == "input":
            return PerQuery(down_the_ranks(stops))
        members = rectangle.ties.part(slice(None))
        limit = limits_of(self.cutoff, judged.lengths, members.query)
        met = what_is_met(judged, members, self.satisfaction(members.grade), limit)
        return PerQuery(down_the_ranks(stops, members, met))


def reciprocal_of_stops(
    judged: Judged, hits: Hits, stops: FloatArray, limit: IntArray
) -> FloatArray:
    """Expected reciprocal rank at which a user stops, by the chance to stop at each hit, down to a
    rank; shape (n_queries,).
    """
    met = what_is_met(judged, hits, stops, limit)
    return cascaded(met.query, met.worth, met.passing, judged.n_queries)


@dataclass(frozen=True, kw_only=True)
class RBP(Measure):
    """Rank-biased precision: the gain per document seen, if users continue to the next rank with
    probability p.

    ``RBP = (1 - p) sum over ranks r of gain_r p^(r-1)``, in [0, 1]. Its residual is the weight of
    all unjudged documents, including those below the list: the most by which RBP could rise.

    Parameters
    ----------
    cutoff : int or str, optional
        Number of ranks; documents below count as not seen. Default the whole list.
    p : float, optional
        Persistence, 0 <= p < 1, default 0.8. The user sees 1 / (1 - p) documents on average.
    rel : float, optional
        Lowest grade with a gain; default 1, or any grade above 0 with `max_rel`.
    max_rel : float or "query", optional
        Grade with gain 1, for graded gains ``grade / max_rel`` between 0 and 1. ``query`` divides
        by the highest grade judged for the query if it exceeds 1, as in trec_eval 10.
    of : str, optional
        Quantity to return: ``EU`` RBP itself (default), ``ETU`` the total gain, ``EC`` and ``ETC``
        the cost per document and in total at a cost of 1 each, ``ED`` documents seen; ``residual``
        of RBP, ``residual-ETU`` and the others, which are 0. ``residual-seen`` is the residual if
        some document of the list has no judgment (or a grade below 0), and 0 otherwise: trec_eval
        10's ``rbp_resid``.

    Notes
    -----
    trec_eval 10's ``rbp`` is ``RBP(max_rel=query,p=0.9)``, and its ``rbp_resid`` is
    ``RBP(of=residual-seen,p=0.9)``; ``trec_rbp`` and ``rbp_resid`` are accepted as names.

    References
    ----------
    Moffat and Zobel (2008), Rank-biased precision for measurement of retrieval effectiveness, ACM
    TOIS 27(1), equation 4 and section 3.3 for residuals; trec_eval 10, measures ``rbp`` and
    ``rbp_resid``.

    Examples
    --------
    >>> import idealrank as ir
    >>> measures = [ir.RBP(p=0.5), ir.RBP(p=0.5, of="residual")]
    >>> ir.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["b", "a", "c"]}, measures).mean()
    {'RBP(p=0.5)': 0.25, 'RBP(of=residual,p=0.5)': 0.25}
    """

    p: float | None = None
    rel: float | None = None
    max_rel: float | str | None = None
    of: RBPNumber | None = None

    name: ClassVar[str] = "RBP"
    over_orders: ClassVar[OverOrders] = "by order"
    response: ClassVar[Response] = "rising"
    tells_unjudged: ClassVar[bool] = True
    samples: ClassVar = {
        "p": (None, 0, 0.5, 0.8, 0.95),
        "rel": (None, None, 0.5, 1, 2),
        "max_rel": (None, None, 2, 3, "query"),
        "of": (
            None,
            None,
            "EU",
            "ETU",
            "EC",
            "ETC",
            "ED",
            "residual",
            "residual-ETU",
            "residual-ED",
        ),
    }
    summary: ClassVar[str] = "gain per document seen at a constant patience"
    use: ClassVar[str] = (
        "Choose it where judgments are incomplete and you want to see by how much: its residual "
        "says what they could still change. Not to compare queries with one relevant document and "
        "queries with many, for 1 is out of reach of the former."
    )
    proof: ClassVar[str] = (
        "cwl-eval 1.0.12 to 12 digits; trec_eval 10 (rbp, rbp_resid) to its 4 printed decimals on "
        "real runs"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("of", self.of, RBPNumber)
        if self.p is not None:
            object.__setattr__(self, "p", number_option("p", self.p, 0, 1))
        if self.p == 1:
            raise OptionError(
                "p=1: expected a persistence below 1, since a user without an end weighs all "
                "documents alike"
            )
        if self.rel is not None:
            object.__setattr__(self, "rel", number_option("rel", self.rel))
        if self.max_rel is not None and self.max_rel != "query":
            object.__setattr__(self, "max_rel", number_option("max_rel", self.max_rel))
            if not float(self.max_rel) > 0:
                raise OptionError(f"max_rel={self.max_rel}: expected a grade above 0, or query")
        if self.of not in (None, "EU"):
            # The facts of the class are about RBP itself: a larger other number is not better.
            object.__setattr__(self, "direction", 0)
            object.__setattr__(self, "bounds", (0.0, np.inf))
        if self.of not in (None, "EU", "ETU") or self.max_rel == "query":
            object.__setattr__(self, "response", "unknown")

    @property
    def persistence(self) -> float:
        """Probability to continue."""
        return 0.8 if self.p is None else float(self.p)

    def depth(self, *, lists: bool = False) -> int:
        """See `Measure.depth`; `max_rel=query` needs all grades of lists held as arrays."""
        return 0 if lists and self.max_rel == "query" else super().depth(lists=lists)

    def compute(self, judged: Judged) -> PerQuery:
        """Value of every query."""
        number = self.of or "EU"
        n_seen = 1.0 / (1.0 - self.persistence)
        if number in ("residual-EC", "residual-ETC", "residual-ED"):
            # how far this user reads does not depend on what is found
            return PerQuery(np.zeros(judged.n_queries))
        if number in ("EC", "ETC", "ED"):
            return PerQuery(np.full(judged.n_queries, 1.0 if number == "EC" else n_seen))
        values = self._residual(judged) if number.startswith("residual") else self._utility(judged)
        return PerQuery(values * n_seen if number.endswith("ETU") else values)

    def worth(self, grades: FloatArray) -> FloatArray | None:
        """Gain of each grade; None if it depends on the query, or if another quantity is
        requested.
        """
        return self._gains(grades) if self.of in (None, "EU") and self.max_rel != "query" else None

    @property
    def split(self) -> str:
        """Exact for sums of gains: each document adds its own term."""
        return EXACT if self.of in (None, "EU", "ETU") else FROM_THE_TOP

    def weights(self, judged: Judged, documents: Hits) -> FloatArray | None:
        """Probability of looking at the document, divided by the mean number of documents looked
        at.
        """
        if self.of not in (None, "EU"):
            return None
        return hit_weights(
            judged, documents, np.ones(documents.query.size), self._weights, self.cutoff
        )

    def _utility(self, judged: Judged) -> FloatArray:
        if self.max_rel != "query":
            return weighted_gains(judged, self._gains, self._weights, self.cutoff)
        gains = self._gains_of_hits(judged)
        weights = hit_weights(judged, judged.hits, gains, self._weights, self.cutoff)
        return judged.sum_by_query(judged.hits.query, gains * weights)

    def _residual(self, judged: Judged) -> FloatArray:
        hits = judged.hits
        gains = self._gains_of_hits(judged)
        weights = hit_weights(judged, hits, gains, self._weights, self.cutoff)
        if self.of != "residual-seen":
            return 1.0 - judged.sum_by_query(hits.query, weights)
        rated = judged.given >= 0
        within = chance_within(judged, hits, gains, self.cutoff)
        rated_within = judged.sum_by_query(hits.query, within * rated)
        n_ranks = np.minimum(judged.lengths, resolve_cutoff(self.cutoff, judged.lengths))
        some_unjudged = n_ranks - rated_within > _NEARLY_NONE
        return np.where(some_unjudged, 1.0 - judged.sum_by_query(hits.query, weights * rated), 0.0)

    def _gains_of_hits(self, judged: Judged) -> FloatArray:
        hits = judged.hits
        if self.max_rel != "query":
            return self._gains(hits.grade)
        highest = np.ones(judged.n_queries)
        np.maximum.at(highest, judged.ideal.query, judged.ideal.grade)
        return self._reaching(hits.grade, hits.grade / highest[hits.query])

    def _gains(self, grades: FloatArray) -> FloatArray:
        if self.max_rel is None:
            return self._reaching(grades, np.ones(grades.shape))
        return self._reaching(grades, np.minimum(grades / float(self.max_rel), 1.0))

    def _reaching(self, grades: FloatArray, gains: FloatArray) -> FloatArray:
        """The gains of grades that reach the threshold, and 0."""
        threshold = self.rel
        if threshold is None:
            threshold = 1.0 if self.max_rel is None else 0.0
        return np.where(grades >= threshold, np.maximum(gains, 0.0), 0.0)

    @property
    def _weights(self) -> RankDiscount:
        p = self.persistence
        return RankDiscount(f"rbp({number_text(p)})", lambda rank: (1.0 - p) * p ** (rank - 1))

    @property
    def trec_name(self) -> str:
        """``rbp`` and ``rbp_resid`` if the options are trec_eval's, with its persistence if it is
        not 0.9.
        """
        # A threshold above 0 takes gains away, which trec_eval's rbp never does.
        has_threshold = self.rel is not None and self.rel > 0
        is_rbp = self.max_rel == "query" and self.of in (None, "EU") and not has_threshold
        if (
            self.cutoff is not None
            or self.judged_only
            or not (is_rbp or self.of == "residual-seen")
        ):
            return str(self)
        name = "rbp" if is_rbp else "rbp_resid"
        return name if self.persistence == 0.9 else f"{name}_{number_text(self.persistence)}"
