"""Precision at other places than a fixed rank: at R, at recall levels, against what is possible;
success; the geometric mean of AP.

A document is relevant when its grade reaches the threshold `rel`. Formulas and denominators are
trec_eval's. With tied scores under ``ties=expected`` values are the mean over all orders in closed
form, but for interpolated precision, which is a maximum.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.segments import number_within, starts_of
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.binary import AP
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.measure import Counts, OverOrders, PerQuery, Response, number_option
from idealrank.measures.measure_texts import number_text
from idealrank.measures.ranks import chance_up_to, rising_ranks, tie_groups, tied_ranks
from idealrank.measures.rules import RecallPoints, checked
from idealrank.measures.threshold import NeedsRelevant

_PROVEN = (
    "trec_eval 10 and 9 to their 4 printed decimals on real runs; pytrec_eval-terrier 0.5.11 and "
    "ir_measures 0.4.3 live, to 12 decimals"
)
_PROVEN_WITHOUT_IR_MEASURES = (
    "trec_eval 10 and 9 to their 4 printed decimals on real runs; pytrec_eval-terrier 0.5.11 live, "
    "to 12 decimals"
)


@dataclass(frozen=True, kw_only=True)
class Rprec(NeedsRelevant):
    """R-precision: precision at rank R, the number of relevant documents, where precision and
    recall are equal.

    ``Rprec = |relevant in the top R| / R``; with a multiple m of R, ``|relevant in the top k| / k``
    at ``k = floor(m R + 0.9)``. In [0, 1]; above m = 1 the greatest value is about 1/m.

    Parameters
    ----------
    mult : float, optional
        m, above 0; default 1. If m R is below 0.1, no rank is left and the value is 0.
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.

    References
    ----------
    Manning, Raghavan and Schütze (2008), Introduction to Information Retrieval, section 8.4;
    trec_eval, measures ``Rprec`` and ``Rprec_mult``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "c", "b"]}, [ir.Rprec()]).mean()["Rprec"]
    0.5
    """

    mult: float | None = None

    name: ClassVar[str] = "Rprec"
    over_orders: ClassVar[OverOrders] = "by order"
    response: ClassVar[Response] = "upward"
    cuts: ClassVar = "none"
    samples: ClassVar[Mapping[str, tuple[Any, ...]]] = {"mult": (None, 0.04, 0.2, 0.35, 1, 1.4, 2)}
    summary: ClassVar[str] = "precision at the rank of the number of relevant documents"
    use: ClassVar[str] = (
        "Choose it when queries differ much in how many relevant documents they have, since 1 can "
        "be reached for every query. Not when users see a fixed number of results."
    )
    proof: ClassVar[str] = _PROVEN

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mult is not None:
            object.__setattr__(self, "mult", number_option("mult", self.mult, 0))
            if self.mult == 0:
                raise OptionError("mult=0: expected a number above 0")

    def compute(self, judged: Judged) -> PerQuery:
        """R-precision of every query."""
        relevant = judged.relevant(self.threshold)
        hits = relevant.hits
        multiple = 1.0 if self.mult is None else self.mult
        cut = np.floor(multiple * relevant.total + 0.9).astype(np.int64)  # as in trec_eval
        chance = chance_up_to(judged, hits, np.ones(hits.query.size), cut[hits.query])
        sums = judged.sum_by_query(hits.query, chance)
        return self.filled(sums / np.maximum(cut, 1), relevant.total)

    @property
    def trec_name(self) -> str:
        """``Rprec`` or ``Rprec_mult_0.20``."""
        plain = "Rprec" if self.mult is None else f"Rprec_mult_{self.mult:.2f}"
        return self.trec_binary(plain, "Rprec")


class Success(NeedsRelevant):
    """Success: 1 if any of the first k ranks holds a relevant document, otherwise 0; under expected
    ties, the probability of 1.

    ``Success@k = 1 if |relevant in the top k| > 0 else 0``. If the cutoff keeps m of n tied
    documents, r of them relevant and none above them, the value is ``1 - C(n - r, m) / C(n, m)``.
    In [0, 1].

    Parameters
    ----------
    cutoff : int or str
        k; must be given.
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.

    References
    ----------
    trec_eval, measure ``success``; called hit rate in recommendation.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1}}, {"q": ["c", "a"]}, [ir.Success(cutoff=5)]).mean()["Success@5"]
    1.0
    """

    name: ClassVar[str] = "Success"
    over_orders: ClassVar[OverOrders] = "by set"
    response: ClassVar[Response] = "first"
    counts: ClassVar[Counts] = "queries"
    cuts: ClassVar = "required"
    summary: ClassVar[str] = "whether a relevant document is among the first k"
    use: ClassVar[str] = (
        "Choose it when one good result among the k shown is all a user needs: known items, "
        "question answering, hit rate. Not when it matters where it stands (RR) or how many there "
        "are (P, R)."
    )
    proof: ClassVar[str] = _PROVEN

    def compute(self, judged: Judged) -> PerQuery:
        """Success of every query."""
        relevant = judged.relevant(self.threshold)
        hits = relevant.hits
        limit = resolve_cutoff(self.cutoff, judged.lengths)
        if judged.ties != "expected" or hits.tie_first is None or hits.tie_last is None:
            within = tied_ranks(judged, hits, np.ones(hits.query.size)) <= limit[hits.query]
            has_relevant = judged.sum_by_query(hits.query, within.astype(np.float64)) > 0
            return self.filled(has_relevant.astype(np.float64), relevant.total)
        values = np.zeros(judged.n_queries)
        starts, n_relevant, before = tie_groups(hits, hits.tie_first)
        # Only the first tie group with a relevant document matters: others are further down.
        leading: BoolArray = before == 0
        starts, n_relevant = starts[leading], n_relevant[leading]
        query = hits.query[starts]
        above = hits.tie_first[starts] - 1
        size = hits.tie_last[starts] - above
        values[query] = _chance_of_any(size, n_relevant, np.clip(limit[query] - above, 0, size))
        return self.filled(values, relevant.total)

    @property
    def trec_name(self) -> str:
        """``success_5``."""
        return self.trec_binary("success", "success")


def _chance_of_any(size: IntArray, relevant: IntArray, taken: IntArray) -> FloatArray:
    """Chance that one of r relevant is among m taken of n: ``1 - C(n-r, m) / C(n, m)``; computed
    once for equal (n, r, m).
    """
    chances = (taken > 0).astype(np.float64)
    uncertain = np.flatnonzero((taken > 0) & (taken < size))
    if uncertain.size:
        rows = np.column_stack((size, relevant, taken))[uncertain]
        shapes, shape_of_row = np.unique(rows, axis=0, return_inverse=True)
        chance_of_shape = np.array([1.0 - _chance_of_none(*shape) for shape in shapes.tolist()])
        chances[uncertain] = chance_of_shape[shape_of_row.reshape(-1)]
    return chances


def _chance_of_none(size: int, relevant: int, taken: int) -> float:
    """``C(n-r, m) / C(n, m)``, which is symmetric in r and m: the product runs over the smaller."""
    drawn = np.arange(min(relevant, taken))
    factors: list[float] = ((size - max(relevant, taken) - drawn) / (size - drawn)).tolist()
    return math.prod(factors)


class RelativeP(NeedsRelevant):
    """Relative precision: the number of relevant documents in the first k ranks, divided by the
    largest possible number.

    ``RelP@k = |relevant in the top k| / min(k, |relevant|)``, in [0, 1].

    Parameters
    ----------
    cutoff : int or str
        k; must be given.
    rel, no_relevant
        As for `Success`.

    References
    ----------
    trec_eval, measure ``relative_P``; called capped recall, ``R_cap@k``, in BEIR.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1}}, {"q": ["a", "b"]}, [ir.RelativeP(cutoff=5)]).mean()["RelP@5"]
    1.0
    """

    name: ClassVar[str] = "RelP"
    over_orders: ClassVar[OverOrders] = "by set"
    response: ClassVar[Response] = "upward"
    cuts: ClassVar = "required"
    summary: ClassVar[str] = "precision at k as a share of the greatest possible"
    use: ClassVar[str] = (
        "Choose it to average over queries of which some have fewer than k relevant documents and "
        "others many more: 1 can be reached by all. Not to compare cutoffs, for its denominator "
        "changes with k."
    )
    proof: ClassVar[str] = _PROVEN_WITHOUT_IR_MEASURES

    def compute(self, judged: Judged) -> PerQuery:
        """Relative precision of every query."""
        total = judged.relevant(self.threshold).total
        possible = np.minimum(resolve_cutoff(self.cutoff, judged.lengths), total)
        return self.filled(self.found(judged) / np.maximum(possible, 1), total)

    @property
    def trec_name(self) -> str:
        """``relative_P_5``."""
        return self.trec_binary("relative_P", "relative_P")


class GMAP(AP):
    """Geometric mean average precision: average precision as in `AP`, aggregated over queries by
    the geometric mean.

    ``GMAP = exp(mean over queries of log max(AP, 0.00001))``, in [0.00001, 1]; per query it is AP.

    Parameters
    ----------
    cutoff, rel, no_relevant, divisor
        As for `AP`.

    References
    ----------
    Robertson (2006), On GMAP and other transformations, CIKM; trec_eval, measure ``gm_map``.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(
    ...     ir.evaluate(
    ...         {"q": {"a": 1}, "r": {"a": 1}},
    ...         {"q": ["a"], "r": ["c", "c2", "c3", "a"]},
    ...         [ir.GMAP()],
    ...     ).mean()["GMAP"],
    ...     4,
    ... )
    0.5
    """

    name: ClassVar[str] = "GMAP"
    over_orders: ClassVar[OverOrders] = "not offered"
    aggregate: ClassVar = "geometric"
    summary: ClassVar[str] = "average precision, its geometric mean over queries"
    use: ClassVar[str] = (
        "Choose it to see whether the worst queries improve: a query that goes from 0.01 to 0.02 "
        "counts as much as one from 0.4 to 0.8. Not as the only number: a query at 0 enters with "
        "an arbitrary 0.00001."
    )
    proof: ClassVar[str] = _PROVEN_WITHOUT_IR_MEASURES

    @property
    def trec_name(self) -> str:
        """``gm_map``; trec_eval has no cutoff for it."""
        return str(self) if self.cutoff is not None else self.trec_binary("gm_map", "gm_map")


@dataclass(frozen=True, kw_only=True)
class IPrec(NeedsRelevant):
    """Interpolated precision at a recall level: the highest precision at any rank that reaches this
    recall.

    ``IPrec@x = max over ranks r with |relevant in the top r| >= k of |relevant in the top r| / r``,
    0 if there is none, where k is x times the number of relevant documents, rounded as set by
    `recall_points`. In [0, 1].

    Parameters
    ----------
    recall : float
        x, from 0 to 1; written after the @; must be given.
    recall_points : {"rounded", "truncated"}, optional
        Rounding of x R to an integer; default the convention's: to the nearest (trec_eval 10), or
        the integer part of x R + 0.9 (9).
    rel, no_relevant
        As for `Success`.

    References
    ----------
    Manning, Raghavan and Schütze (2008), Introduction to Information Retrieval, section 8.4;
    trec_eval, measure ``iprec_at_recall``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["c", "a", "b"]}, [ir.IPrec(recall=0.5)]).mean()[
    ...     "IPrec@0.5"
    ... ]
    0.6666666666666666
    """

    recall: float | None = None
    recall_points: RecallPoints | None = None

    name: ClassVar[str] = "IPrec"
    response: ClassVar[Response] = "upward"
    cuts: ClassVar = "none"
    after_at: ClassVar[str] = "recall"
    ties: ClassVar = "not offered"
    from_convention: ClassVar[tuple[str, ...]] = ("no_relevant", "recall_points")
    samples: ClassVar[Mapping[str, tuple[Any, ...]]] = {"recall": (0.1, 0, 0.25, 0.5, 0.7, 1)}
    summary: ClassVar[str] = "greatest precision from a recall level on"
    use: ClassVar[str] = (
        "Choose it to draw precision against recall, and to see whether runs differ at the top or "
        "in the tail. Not as a headline: a maximum over ranks is not what any user meets, and it "
        "jumps."
    )
    proof: ClassVar[str] = _PROVEN

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("recall_points", self.recall_points, RecallPoints)
        if self.recall is None:
            raise OptionError("IPrec needs a recall level, as in IPrec@0.1")
        object.__setattr__(self, "recall", number_option("recall", self.recall, 0, 1))

    def compute(self, judged: Judged) -> PerQuery:
        """Interpolated precision of every query."""
        values = _interpolated(self, judged, [self.recall or 0.0], self.recall_points)
        return self.filled(values, judged.relevant(self.threshold).total)

    @property
    def trec_name(self) -> str:
        """``iprec_at_recall_0.10``."""
        return self.trec_binary(f"iprec_at_recall_{self.recall:.2f}", "iprec_at_recall")


@dataclass(frozen=True, kw_only=True)
class ElevenPointAP(NeedsRelevant):
    """Eleven-point average precision: the mean of the interpolated precision at recall 0, 0.1, ...,
    1.

    ``11ptAP = (1 / 11) sum over x in 0, 0.1, ..., 1 of IPrec@x``, or the mean over other levels. In
    [0, 1].

    Parameters
    ----------
    recalls : sequence of float, optional
        Recall levels from 0 to 1, ``[0.25,0.5,0.75]`` in texts; default the eleven levels.
    recall_points : {"rounded", "truncated"}, optional
        As for `IPrec`.
    rel, no_relevant
        As for `Success`.

    References
    ----------
    Manning, Raghavan and Schütze (2008), Introduction to Information Retrieval, section 8.4;
    trec_eval, measure ``11pt_avg``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1}}, {"q": ["c", "a"]}, [ir.ElevenPointAP()]).mean()["11ptAP"]
    0.5
    """

    recalls: tuple[float, ...] | None = None
    recall_points: RecallPoints | None = None

    name: ClassVar[str] = "11ptAP"
    response: ClassVar[Response] = "upward"
    cuts: ClassVar = "none"
    ties: ClassVar = "not offered"
    from_convention: ClassVar[tuple[str, ...]] = ("no_relevant", "recall_points")
    samples: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "recalls": (None, (0.5,), (0.25, 0.5, 0.75), "[0,1]")
    }
    summary: ClassVar[str] = "mean of the interpolated precision at eleven recall levels"
    use: ClassVar[str] = (
        "Choose it to compare with results printed before average precision took its place, about "
        "1995. Not for new work: AP says the same with less noise and without recall points."
    )
    proof: ClassVar[str] = _PROVEN_WITHOUT_IR_MEASURES

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("recall_points", self.recall_points, RecallPoints)
        if self.recalls is not None:
            object.__setattr__(self, "recalls", _levels(self.recalls))

    def compute(self, judged: Judged) -> PerQuery:
        """Eleven-point average precision of every query."""
        levels = self.recalls or tuple(tenth / 10 for tenth in range(11))
        values = _interpolated(self, judged, levels, self.recall_points)
        return self.filled(values, judged.relevant(self.threshold).total)

    @property
    def trec_name(self) -> str:
        """``11pt_avg``, or ``11pt_avg_0.25,0.5,0.75`` for other levels."""
        levels = "" if self.recalls is None else "_" + ",".join(map(number_text, self.recalls))
        return self.trec_binary(f"11pt_avg{levels}", "11pt_avg")


def _levels(recalls: Sequence[float] | str) -> tuple[float, ...]:
    """Recall levels from numbers or from their text."""
    listed: Sequence[object] = recalls
    if isinstance(recalls, str):
        listed = recalls.strip().removeprefix("[").removesuffix("]").split(",")
    levels = tuple(number_option("recalls", level, 0, 1) for level in listed)
    if not levels:
        raise OptionError("recalls=[]: expected at least one recall level, as in [0.25,0.5,0.75]")
    return levels


def _interpolated(
    measure: NeedsRelevant, judged: Judged, levels: Sequence[float], rounding: RecallPoints | None
) -> FloatArray:
    """Mean over the levels of the greatest precision from each level on, per query."""
    relevant = judged.relevant(measure.threshold)
    query = relevant.hits.query
    number = number_within(query)
    precision = number / rising_ranks(judged, relevant.hits)
    starts = starts_of(query)
    sums = np.zeros(judged.n_queries)
    for level in levels:
        needed = _whole(np.multiply(level, relevant.total, dtype=np.float64), rounding)
        if starts.size:
            from_level = np.where(number >= needed[query], precision, 0.0)
            sums[query[starts]] += np.maximum.reduceat(from_level, starts)
    return sums / len(levels)


def _whole(numbers: FloatArray, rounding: RecallPoints | None) -> IntArray:
    """Recall points as numbers of documents: to the nearest, halves up, or the whole part of the
    number + 0.9, as in trec_eval 9.
    """
    if rounding == "truncated":
        return np.floor(numbers + 0.9).astype(np.int64)
    whole = np.floor(numbers)
    return np.where(numbers - whole >= 0.5, whole + 1, whole).astype(np.int64)
