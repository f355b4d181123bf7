"""Graded measures of NTCIR: Q-measure, O-measure, P+, normalised cumulative utility, and nERR, as
NTCIREVAL computes them.

Its MSnDCG is nDCG with linear gains and the discount log2, which is how the spelling ``MSnDCG`` is
read.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from idealrank.data.judged import Hits, Judged, Rectangle
from idealrank.data.policies import sort_by_query
from idealrank.data.types import FloatArray
from idealrank.errors import InputError
from idealrank.measures.blended import BETAS, RISING, BlendedMeasure, gains_of, q_of_rows
from idealrank.measures.cascade import reciprocal_of_stops
from idealrank.measures.cutoffs import limits_of, resolve_cutoff
from idealrank.measures.gains import GainLike, make_gain
from idealrank.measures.measure import Measure, PerQuery, Response, fill_undefined, number_option
from idealrank.measures.measure_texts import number_text
from idealrank.measures.rules import NoRelevant, checked
from idealrank.measures.sums import (
    is_deep_enough,
    refuse_overflow,
)

Stop: TypeAlias = Literal["uniform", "graded-uniform", "rank-biased"]
_PROOF = (
    "pyNTCIREVAL 0.0.3, recorded with the script that made them and live among the peers, to 12 "
    "decimals"
)


class QMeasure(BlendedMeasure):
    """Q-measure: average precision that blends precision with cumulative gain.

    ``Q@k = (1 / min(R, k)) sum over relevant documents at ranks r <= k of (C(r) + beta cg(r)) / (r
    + beta cg*(r))``, C = relevant documents down to r, cg = their gain, cg* = that of the ideal
    ranking, R = all relevant documents; in [0, 1].

    Parameters
    ----------
    cutoff : int or str, optional
        k; default the whole list.
    beta, gain
        Weight of gains relative to counts (default 1), and gain of each grade (default linear); the
        same for all measures of this family.
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.

    References
    ----------
    Sakai (2004), New performance metrics based on multigrade relevance, NTCIR-4; Sakai and Song
    (2011), Evaluating diversified search results using per-intent graded relevance, SIGIR, equation
    8 for Q@k; NTCIREVAL, ``Q-measure``.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(
    ...     ir.evaluate({"q": {"a": 3, "b": 1}}, {"q": ["b", "x", "a"]}, [ir.QMeasure()]).mean()[
    ...         "Q"
    ...     ],
    ...     4,
    ... )
    0.6786
    """

    name: ClassVar[str] = "Q"
    summary: ClassVar[str] = "average precision blended with cumulative gain"
    use: ClassVar[str] = (
        "Choose it where average precision would do but judgments are graded: it rewards every "
        "relevant document, high grades more. Not for the first screen alone (nDCG@k), nor to "
        "compare gains of different scales without setting beta."
    )
    proof: ClassVar[str] = _PROOF

    @refuse_overflow
    def compute(self, judged: Judged) -> PerQuery:
        """Q-measure of every query."""
        if judged.rectangle is not None and is_deep_enough(judged, self.cutoff):
            return self._of_rectangle(judged, judged.rectangle)
        return self._of_hits(judged)

    def _of_rectangle(self, judged: Judged, rectangle: Rectangle) -> PerQuery:
        """Rank after rank for all lists at once; lists with ties by their hits."""
        beta = 1.0 if self.beta is None else float(self.beta)
        sums, total = q_of_rows(
            grades=rectangle.grades,
            ideal=rectangle.ideal,
            gain=self.gain_of_grades,
            threshold=self.threshold,
            beta=beta,
            cutoff=self.cutoff,  # type: ignore[arg-type]
        )
        limit = resolve_cutoff(self.cutoff, judged.lengths)
        values = self.filled(sums / np.maximum(np.minimum(total, limit), 1), total)
        if rectangle.ties is not None and judged.ties != "input":
            tied = np.unique(rectangle.ties.query)
            values.values[tied] = self._of_hits(judged).values[tied]
        return values

    def _of_hits(self, judged: Judged) -> PerQuery:
        total = judged.relevant(self.threshold).total
        limit = resolve_cutoff(self.cutoff, judged.lengths)
        tied = self.tied(judged)
        if tied is not None:
            sums = tied.weighed(judged, np.ones(tied.gains.size), limit, self.ideal_gain(judged))
        else:
            met = self.met(judged)
            ratios = np.where(met.rank <= limit[met.query], met.ratio, 0.0)
            sums = judged.sum_by_query(met.query, ratios)
        return self.filled(sums / np.maximum(np.minimum(total, limit), 1), total)


class OMeasure(BlendedMeasure):
    """O-measure: the blended ratio at the first relevant document.

    ``O = (1 + beta g(r1)) / (r1 + beta cg*(r1))``, r1 = rank of the first relevant document, g =
    its gain, cg* = gain of the ideal ranking down to r1; 0 where none was returned; in [0, 1].

    Parameters
    ----------
    beta, gain, rel, no_relevant
        As for `QMeasure`.

    References
    ----------
    Sakai (2007), On the properties of evaluation metrics for finding one highly relevant document,
    IPSJ TOD 48(SIG9), O-measure; NTCIREVAL, ``O-measure``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 3, "b": 1}}, {"q": ["b", "x", "a"]}, [ir.OMeasure()]).mean()["O"]
    0.5
    """

    name: ClassVar[str] = "O"
    cuts: ClassVar = "none"
    summary: ClassVar[str] = "blended ratio at the first relevant document"
    use: ClassVar[str] = (
        "Choose it like RR where the first relevant document ends the search but a better one "
        "would have been worth more. Not where users go on to the best document (P+)."
    )
    proof: ClassVar[str] = _PROOF

    @refuse_overflow
    def compute(self, judged: Judged) -> PerQuery:
        """O-measure of every query."""
        tied = self.tied(judged)
        if tied is not None:
            values = tied.first_met(judged, self.ideal_gain(judged))
        else:
            met = self.met(judged)
            values = judged.sum_by_query(met.query, np.where(met.number == 1, met.ratio, 0.0))
        return self.filled(values, judged.relevant(self.threshold).total)


class PPlus(BlendedMeasure):
    """P-plus: the mean blended ratio of the relevant documents down to the preferred rank, where
    users stop.

    ``P+ = (1 / C(rp)) sum over relevant documents at ranks r <= rp of (C(r) + beta cg(r)) / (r +
    beta cg*(r))``, rp = rank of the first document with the highest grade in the list; 0 where no
    relevant document was returned; in [0, 1].

    Parameters
    ----------
    beta, gain, rel, no_relevant
        As for `QMeasure`.

    References
    ----------
    Sakai (2007), On the properties of evaluation metrics for finding one highly relevant document,
    IPSJ TOD 48(SIG9), P-plus; NTCIREVAL, ``P-plus``.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(
    ...     ir.evaluate({"q": {"a": 3, "b": 1}}, {"q": ["b", "x", "a"]}, [ir.PPlus()]).mean()["P+"],
    ...     4,
    ... )
    0.6786
    """

    name: ClassVar[str] = "P+"
    cuts: ClassVar = "none"
    ties: ClassVar = "not offered"
    # where better documents were not returned, a worse order can reach a higher ratio
    ideal_is_best: ClassVar[bool] = False
    summary: ClassVar[str] = "mean blended ratio down to the best document returned"
    use: ClassVar[str] = (
        "Choose it for navigational needs with graded judgments, where users scan down to the best "
        "document of the list. Not for tied scores, nor to reward what stands below that document."
    )
    proof: ClassVar[str] = _PROOF

    @refuse_overflow
    def compute(self, judged: Judged) -> PerQuery:
        """P-plus of every query."""
        met = self.met(judged)
        highest = np.full(judged.n_queries, -np.inf)
        np.maximum.at(highest, met.query, met.grade)
        preferred = np.full(judged.n_queries, np.iinfo(np.int64).max)
        best = met.grade == highest[met.query]
        np.minimum.at(preferred, met.query[best], met.number[best])
        ratios = np.where(met.number <= preferred[met.query], met.ratio, 0.0)
        sums = judged.sum_by_query(met.query, ratios)
        return self.filled(sums / preferred, judged.relevant(self.threshold).total)


@dataclass(frozen=True, kw_only=True)
class NCU(BlendedMeasure):
    """Normalised cumulative utility: the blended ratio at the relevant documents where users stop.

    ``NCU = sum over relevant documents at ranks r of P(stop at r) (C(r) + beta cg(r)) / (r + beta
    cg*(r))``, in [0, 1]. Users stop at every relevant document with the same probability
    (``uniform``: 1 / R), in proportion to its grade (``graded-uniform``: s(grade) / sum of s over
    all relevant documents), or more often at the first ones (``rank-biased``: gamma^(C(r)-1) /
    sum_{i<R} gamma^i). With ``beta=0`` the utility is precision.

    Parameters
    ----------
    stop : {"graded-uniform", "uniform", "rank-biased"}, optional
        Distribution of the stopping rank, default ``graded-uniform``.
    stops : str, mapping or callable, optional
        Stop value of each grade for ``graded-uniform``, see `make_gain`; default the values of
        `gain`.
    gamma : float, optional
        Parameter of ``rank-biased``, above 0 and at most 1, default 0.95.
    beta, gain, rel, no_relevant
        As for `QMeasure`.

    Notes
    -----
    NTCIREVAL's names are accepted: ``NCUguBR`` is ``NCU(stop=graded-uniform)``, ``NCUguP`` is
    ``NCU(stop=graded-uniform,beta=0)``, and ``NCUrbBR`` and ``NCUrbP`` have ``stop=rank-biased``
    instead.

    References
    ----------
    Sakai and Robertson (2008), Modelling a user population for designing information retrieval
    metrics, EVIA; NTCIREVAL, ``NCU``.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(
    ...     ir.evaluate({"q": {"a": 3, "b": 1}}, {"q": ["b", "x", "a"]}, [ir.NCU()]).mean()["NCU"],
    ...     4,
    ... )
    0.7679
    """

    stop: Stop | None = None
    stops: "GainLike | None" = None
    gamma: float | None = None

    name: ClassVar[str] = "NCU"
    cuts: ClassVar = "none"
    ideal_is_best: ClassVar[bool] = False  # by grade users may stop later than the ratio is best
    samples: ClassVar = {
        "beta": BETAS,
        "gain": RISING,
        "stop": (None, "uniform", "graded-uniform", "rank-biased"),
        "stops": (None, "exp2", "linear"),
        "gamma": (None, 0.5, 0.95, 1),
    }
    summary: ClassVar[str] = "utility at the relevant documents where users stop"
    use: ClassVar[str] = (
        "Choose it to say how your users stop instead of leaving it to a formula: average "
        "precision and Q-measure are two of its cases. Not without a reason for the stopping, for "
        "its values compare only under the same one."
    )
    proof: ClassVar[str] = _PROOF

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("stop", self.stop, Stop)
        if self.stops is not None:
            object.__setattr__(self, "stops", make_gain(self.stops))
        if self.gamma is not None:
            object.__setattr__(self, "gamma", number_option("gamma", self.gamma, 1e-9, 1))

    @refuse_overflow
    def compute(self, judged: Judged) -> PerQuery:
        """Normalised cumulative utility of every query."""
        total = judged.relevant(self.threshold).total
        if self.stop == "rank-biased":
            gamma = 0.95 if self.gamma is None else float(self.gamma)
            all_stops = total.astype(np.float64) if gamma == 1 else (1 - gamma**total) / (1 - gamma)
            sums = self._decaying(judged, gamma)
        else:
            ideal = judged.ideal.grade >= self.threshold
            stops = self._stops(judged.ideal.grade[ideal])
            all_stops = judged.sum_by_query(judged.ideal.query[ideal], stops)
            sums = self._weighed(judged)
        values = np.divide(sums, all_stops, out=np.zeros_like(sums), where=all_stops > 0)
        return fill_undefined(values, all_stops > 0, self.no_relevant or "zero")

    def _stops(self, grades: FloatArray) -> FloatArray:
        if self.stop == "uniform":
            return np.ones(grades.size)
        gain = self.gain_of_grades if self.stops is None else make_gain(self.stops)
        return gains_of(gain, grades)

    def _decaying(self, judged: Judged, gamma: float) -> FloatArray:
        tied = self.tied(judged)
        if tied is not None:
            return tied.decaying(judged, gamma, self.ideal_gain(judged))
        met = self.met(judged)
        return judged.sum_by_query(met.query, gamma ** (met.number - 1) * met.ratio)

    def _weighed(self, judged: Judged) -> FloatArray:
        tied = self.tied(judged)
        if tied is not None:
            stops = self._stops(judged.relevant(self.threshold).hits.grade)
            limit = resolve_cutoff(None, judged.lengths)
            return tied.weighed(judged, stops, limit, self.ideal_gain(judged))
        met = self.met(judged)
        return judged.sum_by_query(met.query, self._stops(met.grade) * met.ratio)


@dataclass(frozen=True, kw_only=True)
class NERR(Measure):
    """Normalised expected reciprocal rank as in NTCIREVAL: ERR divided by the ERR of the ideal
    list.

    ``nERR@k = ERR@k / ERR@k of the ideal``, ``ERR@k = sum_{r<=k} p_r / r prod_{i<r} (1 - p_i)``
    with ``p = gain(grade) / (gain(max_rel) + 1)``, in [0, 1]. Undefined where no judged document
    has a gain.

    Parameters
    ----------
    cutoff : int or str, optional
        k; default the whole list.
    max_rel : float, optional
        Highest grade of the scale; a grade above it is an error. Default the highest grade judged
        for the query; give that of your scale to reproduce NTCIREVAL.
    gain : str, mapping or callable, optional
        Gain of each grade, see `make_gain`; default ``linear``. Gains below 0 count as 0.
    no_relevant : str, optional
        Value of a query without any gain; default the convention's.

    References
    ----------
    Chapelle, Metzler, Zhang and Grinspan (2009), Expected reciprocal rank for graded relevance,
    CIKM; Sakai and Song (2011), Evaluating diversified search results using per-intent graded
    relevance, SIGIR; NTCIREVAL, ``nERR``.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(
    ...     ir.evaluate({"q": {"a": 3, "b": 1}}, {"q": ["b", "a"]}, [ir.NERR(max_rel=3)]).mean()[
    ...         "nERR(max_rel=3)"
    ...     ],
    ...     4,
    ... )
    0.68
    """

    max_rel: float | None = None
    gain: "GainLike | None" = None
    no_relevant: NoRelevant | None = None

    name: ClassVar[str] = "nERR"
    response: ClassVar[Response] = "upward"
    from_convention: ClassVar[tuple[str, ...]] = ("no_relevant",)
    samples: ClassVar = {"max_rel": (None, 3, 4), "gain": RISING}
    summary: ClassVar[str] = "ERR divided by that of the ideal list, as NTCIREVAL has it"
    use: ClassVar[str] = (
        "Choose it like ERR, where queries differ in how good their best document is and each "
        "should reach 1. Not where several documents are wanted: what stands below a good one "
        "hardly counts."
    )
    proof: ClassVar[str] = _PROOF

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("no_relevant", self.no_relevant, NoRelevant)
        if self.max_rel is not None:
            object.__setattr__(self, "max_rel", number_option("max_rel", self.max_rel))
        if self.gain is not None:
            object.__setattr__(self, "gain", make_gain(self.gain))

    def depth(self, *, lists: bool = False) -> int:
        """All of `lists`, to find the highest grade."""
        return 0 if lists else super().depth(lists=lists)

    def compute(self, judged: Judged) -> PerQuery:
        """Normalised ERR of every query."""
        ideal = judged.ideal
        gain = make_gain("linear" if self.gain is None else self.gain)
        scale = gains_of(gain, self._highest(judged)) + 1.0
        ideal_gains = gains_of(gain, ideal.grade)
        if not gain.rising:
            ideal_gains = sort_by_query(ideal.query, ideal_gains, judged.n_queries)

        def err(documents: Hits, gains: FloatArray) -> FloatArray:
            stops = gains / scale[documents.query]
            limit = limits_of(self.cutoff, judged.lengths, documents.query)
            return reciprocal_of_stops(judged, documents, stops, limit)

        values = err(judged.hits, gains_of(gain, judged.hits.grade))
        ideal_list = Hits(query=ideal.query, rank=ideal.rank, grade=ideal.grade)
        ideal_values = err(ideal_list, ideal_gains)
        defined = ideal_values > 0
        quotient = np.divide(values, ideal_values, out=np.zeros_like(values), where=defined)
        return fill_undefined(quotient, defined, self.no_relevant or "zero")

    def _highest(self, judged: Judged) -> FloatArray:
        """Highest grade of the scale for each query: the option, or the highest grade judged."""
        if self.max_rel is None:
            highest = np.zeros(judged.n_queries)
            np.maximum.at(highest, judged.ideal.query, judged.ideal.grade)
            return highest
        highest_grade = float(judged.ideal.grade.max(initial=-np.inf))
        if highest_grade > self.max_rel:
            raise InputError(
                f"{self}: found grade {number_text(highest_grade)}, expected at most "
                f"{number_text(self.max_rel)}; give the highest grade of your scale, as in "
                "nERR(max_rel=5)"
            )
        return np.full(judged.n_queries, float(self.max_rel))
