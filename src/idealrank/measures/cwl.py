"""Measures of the C/W/L framework beside RBP and the nearly-ERRs: INST, INSQ, BPM, SDCG, TBG and
graded precision.

All six numbers and the residuals of each are options of its class; `user_model` says what they are.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray, IntArray
from idealrank.measures.discounts import Discount, RankDiscount, make_discount
from idealrank.measures.measure import number_option
from idealrank.measures.measure_texts import number_text
from idealrank.measures.user_model import (
    AdaptiveUser,
    StaticUser,
    UserModel,
    UserView,
    WithGoal,
    geometric,
    inverse_squares,
    walk,
)

_PROOF = "cwl-eval 1.0.12, recorded, all six numbers and their residuals to 10 digits"
_AND_IR_MEASURES = f"{_PROOF}; ir_measures' own test values to 4 decimals"
# A sum of gains that misses the goal by a rounding error reaches it.
_MISSED = 1e-9


class INST(WithGoal, AdaptiveUser):
    """INST: users aim for a gain of T; they are more likely to continue the further down they are
    and the more gain is missing.

    ``INST = sum_i W(i) gain_i, W(i) ~ prod_{j<i} C(j), C(i) = ((i + T + T_i - 1) / (i + T +
    T_i))^2`` with T_i = T less the gain of the first i documents and weights W that add up to 1; in
    [0, 1].

    Parameters
    ----------
    cutoff : int or str, optional
        Deepest rank of the user, default 1000 as in cwl-eval; the weights of the ranks below it are
        part of the norm.
    T : float, optional
        Gain that the user aims for, at least 0.25; default 1.
    of : str, optional
        Quantity to return: ``EU`` expected utility per document seen (default), ``ETU`` expected
        total utility, ``EC`` and ``ETC`` expected cost per document and in total, ``ED`` expected
        depth; ``residual`` (of EU), ``residual-ETU``, ``residual-EC``, ``residual-ETC``,
        ``residual-ED``: the change if every unjudged document were fully relevant.
    min_rel : float, optional
        Highest grade with gain 0, default 0.
    max_rel : float, optional
        Lowest grade with gain 1, default 1: ``gain = (grade - min_rel) / (max_rel - min_rel)``
        between 0 and 1.

    References
    ----------
    Moffat, Bailey, Scholer and Thomas (2015), INST: an adaptive metric for information retrieval
    evaluation, ADCS; ir_measures, ``INST``; cwl-eval, ``INSTCWLMetric``.

    Examples
    --------
    >>> import idealrank as ir
    >>> measures = [ir.INST(T=2), ir.INST(T=2, of="residual")]
    >>> {
    ...     name: round(value, 6)
    ...     for name, value in ir.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, measures)
    ...     .mean()
    ...     .items()
    ... }
    {'INST(T=2)': 0.164265, 'INST(T=2,of=residual)': 0.835735}
    """

    name: ClassVar[str] = "INST"
    _least_goal: ClassVar[float] = 0.25
    summary: ClassVar[str] = "gain per document of users that aim for T and adapt"
    use: ClassVar[str] = (
        "Choose it where users are known to want about T relevant documents, one for a fact and "
        "several for a survey: they stop once they have them. Not where nothing is known about "
        "what they want."
    )
    proof: ClassVar[str] = _AND_IR_MEASURES

    def passing(self, gains: FloatArray) -> FloatArray:
        """Return the gains: the model keeps no state besides their total."""
        return gains

    def step(self, rank: IntArray, passing: FloatArray, total: FloatArray) -> FloatArray:
        """Probability to continue from rank i, C(i)."""
        distance = rank + self._twice_goal - total  # i + T + T_i
        ratio = (distance - 1.0) / distance
        return ratio * ratio

    def stretch(
        self, rank: IntArray, count: IntArray, gain: float, total: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Closed form: for ranks without gain, neighbouring ratios cancel; for documents of gain 1,
        all ratios are equal.
        """
        distance = rank - 1.0 + self._twice_goal - total
        if gain:
            ratio = (distance - 1.0) / distance
            return geometric(ratio * ratio, count)
        after = distance / (distance + count)
        return distance * distance * inverse_squares(distance, count), after * after


class INSQ(WithGoal, StaticUser):
    """INSQ: users aim for a gain of T, and become more patient further down, independently of what
    they found.

    ``INSQ = sum_i gain_i / (i + 2T - 1)^2  /  sum_i 1 / (i + 2T - 1)^2``, in [0, 1], for
    ``C(i) = ((i + 2T - 1) / (i + 2T))^2``.

    Parameters
    ----------
    cutoff, of, min_rel, max_rel
        As for `INST`.
    T : float, optional
        Gain that the user aims for, above 0; default 1.

    References
    ----------
    Moffat, Scholer and Thomas (2012), Models and metrics: IR evaluation as a user process, ADCS;
    ir_measures, ``INSQ``; cwl-eval, ``INSQCWLMetric``.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(
    ...     ir.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, [ir.INSQ(T=2)]).mean()["INSQ(T=2)"], 6
    ... )
    0.141429
    """

    name: ClassVar[str] = "INSQ"
    summary: ClassVar[str] = "gain per document of users that aim for T"
    use: ClassVar[str] = (
        "Choose it where INST would do but scores tie or values must add up by document: its "
        "weights depend on ranks alone. Not where it matters that users stop once they have what "
        "they want."
    )
    proof: ClassVar[str] = _AND_IR_MEASURES

    @property
    def views(self) -> Discount:
        """``(2T / (2T + rank - 1))^2`` for each rank."""
        twice_goal = self._twice_goal
        text = f"insq({number_text(twice_goal)})"
        return RankDiscount(text, lambda rank: (twice_goal / (twice_goal + rank - 1)) ** 2)


class BPM(WithGoal, AdaptiveUser):
    """Bejeweled player model, static: users read until a gain of T or k documents, whichever comes
    first.

    ``BPM@k = sum_{i=1..s} gain_i / s``, where s is the first rank at which the gains reach T, at
    most k; in [0, 1]. ``C(i) = 1`` before s. With T close to 0 the user stops at the first gain, as
    in reciprocal rank.

    Parameters
    ----------
    cutoff : int or str
        k; must be given.
    T : float, optional
        Gain at which the user stops, above 0; default 1.
    of, min_rel, max_rel
        As for `INST`.

    References
    ----------
    Zhang, Liu, Li, Zhang, Xu and Ma (2017), Evaluating web search with a bejeweled player model,
    SIGIR; ir_measures, ``BPM``; cwl-eval, ``BPMCWLMetric``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate(
    ...     {"q": {"a": 1}}, {"q": ["b", "a"]}, [ir.BPM(cutoff=10), ir.BPM(T=2, cutoff=10)]
    ... ).mean()
    {'BPM@10': 0.5, 'BPM(T=2)@10': 0.1}
    """

    name: ClassVar[str] = "BPM"
    cuts: ClassVar = "required"
    summary: ClassVar[str] = "gain per document of users that want T and read at most k"
    use: ClassVar[str] = (
        "Choose it where both a goal and a budget are known. Not where near misses should count: "
        "it changes by jumps when a document crosses the goal."
    )
    proof: ClassVar[str] = _AND_IR_MEASURES

    @property
    def _goal(self) -> float:
        return (1.0 if self.T is None else float(self.T)) - _MISSED

    def stops(self) -> bool:
        """True: every user stops at rank k."""
        return True

    def step(self, rank: IntArray, passing: FloatArray, total: FloatArray) -> FloatArray:
        """1 until the goal is reached, then 0."""
        return (total < self._goal).astype(np.float64)

    def stretch(
        self, rank: IntArray, count: IntArray, gain: float, total: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Users read documents of gain 1 until they reach the goal."""
        if not gain:
            return count.astype(np.float64), np.ones(rank.shape)
        missing = np.maximum(np.ceil(self._goal - total), 0.0)
        return np.minimum(count, missing), (count < missing).astype(np.float64)


class SDCG(StaticUser):
    """Scaled DCG: DCG divided by the DCG of k documents of full gain, even if the query has fewer
    relevant documents.

    ``SDCG@k = sum_{i=1..k} gain_i / log2(i + 1)  /  sum_{i=1..k} 1 / log2(i + 1)``, in [0, 1].

    Parameters
    ----------
    cutoff : int or str
        k; must be given.
    of, min_rel, max_rel
        As for `INST`.

    References
    ----------
    Moffat, Scholer and Thomas (2012), Models and metrics: IR evaluation as a user process, ADCS;
    ir_measures, ``SDCG``; cwl-eval, ``NDCGCWLMetric``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1}}, {"q": ["a", "b"]}, [ir.SDCG(cutoff=3)]).mean()
    {'SDCG@3': 0.46927872602275644}
    """

    name: ClassVar[str] = "SDCG"
    cuts: ClassVar = "required"
    summary: ClassVar[str] = "DCG over that of k documents of full gain"
    use: ClassVar[str] = (
        "Choose it in place of nDCG where judgments are incomplete: it needs no ideal list, and "
        "its residual is known. Not to compare queries with few relevant documents and queries "
        "with many."
    )
    proof: ClassVar[str] = _AND_IR_MEASURES

    @property
    def views(self) -> Discount:
        """``1 / log2(rank + 1)`` for each rank."""
        return make_discount("log2")

    def stops(self) -> bool:
        """True: every user stops at rank k."""
        return True


class GP(StaticUser):
    """Graded precision: the mean gain of the first k documents. Its ETU is cumulated gain.

    ``GP@k = sum_{i=1..k} gain_i / k``, in [0, 1].

    Parameters
    ----------
    cutoff : int or str
        k; must be given.
    of, min_rel, max_rel
        As for `INST`.

    References
    ----------
    Azzopardi, Thomas and Moffat (2019), cwl_eval: an evaluation tool for information retrieval,
    SIGIR, measure P@k; Jarvelin and Kekalainen (2002), ACM TOIS 20(4), section 2.1, for cumulated
    gain.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate(
    ...     {"q": {"a": 1, "b": 3}},
    ...     {"q": ["a", "b"]},
    ...     [ir.GP(max_rel=4, cutoff=2), ir.GP(of="ETU", cutoff=2)],
    ... ).mean()
    {'GP(max_rel=4)@2': 0.5, 'GP(of=ETU)@2': 2.0}
    """

    name: ClassVar[str] = "GP"
    cuts: ClassVar = "required"
    summary: ClassVar[str] = "mean gain of the first k documents"
    use: ClassVar[str] = (
        "Choose it where P would do but grades matter, or where P's residual is wanted. Not where "
        "order within the first k matters."
    )
    proof: ClassVar[str] = _PROOF

    @property
    def views(self) -> Discount:
        """1 for each rank."""
        return RankDiscount("all", lambda rank: float(rank > 0))

    def stops(self) -> bool:
        """True: every user stops at rank k."""
        return True


@dataclass(frozen=True, kw_only=True)
class TBG(StaticUser):
    """Time-biased gain, normalised: the probability that the user still reads halves every
    `halflife` seconds.

    ``TBG = sum_i gain_i V(i) / sum_i V(i), V(i) = 2^(-t_i / halflife)``, where t_i is the reading
    time of the documents above rank i; in [0, 1]. ``of=ETU`` is the time-biased gain of the paper
    without its factor for the worth of a relevant document (0.4928).

    Parameters
    ----------
    cutoff, of, min_rel, max_rel
        As for `INST`.
    halflife : float, optional
        Seconds, above 0; default 224 as in the paper.
    cost : float, optional
        Seconds to read a document of no gain, default 1 as in cwl-eval without a cost file.
    cost_relevant : float, optional
        Seconds to read a document of gain 1, interpolated for gains between 0 and 1; default
        `cost`. Expected values over ties are not available with it.

    References
    ----------
    Smucker and Clarke (2012), Time-based calibration of effectiveness measures, SIGIR, equations 4
    to 7; cwl-eval, ``TBGCWLMetric``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate(
    ...     {"q": {"a": 1}},
    ...     {"q": ["b", "a"]},
    ...     [ir.TBG(halflife=1, cutoff=2), ir.TBG(halflife=1, of="ETU")],
    ... ).mean()
    {'TBG(halflife=1)@2': 0.3333333333333333, 'TBG(halflife=1,of=ETU)': 0.5}
    """

    halflife: float | None = None
    cost: float | None = None
    cost_relevant: float | None = None

    name: ClassVar[str] = "TBG"
    samples: ClassVar = {
        **UserModel.samples,
        "halflife": (None, 2, 224),
        "cost": (None, 0.5, 10),
        "cost_relevant": (None, None, 10, 20),
    }
    summary: ClassVar[str] = "gain per document of users that leave over time"
    use: ClassVar[str] = (
        "Choose it where the time to read a relevant and another document was measured. Not where "
        "it was not: with equal costs it is RBP of another name."
    )
    proof: ClassVar[str] = f"{_PROOF}; with unequal costs its definition, worked by hand"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("halflife", 1e-6), ("cost", 0.0), ("cost_relevant", 0.0)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, number_option(name, getattr(self, name), least))
        _, dearer = self.costs
        if dearer != 0:
            # How far users come then depends on what they find, and the mean over tie orders has no
            # closed form.
            object.__setattr__(self, "ties", "not offered")
            object.__setattr__(self, "response", "unknown")

    @property
    def costs(self) -> tuple[float, float]:
        """Seconds to read a document, and the additional seconds for one of gain 1."""
        cost = 1.0 if self.cost is None else float(self.cost)
        dearer = 0.0 if self.cost_relevant is None else float(self.cost_relevant) - cost
        return cost, dearer

    def stops(self) -> bool:
        """True: every user stops at the last rank, as in cwl-eval."""
        return True

    def _remaining(self, seconds: float) -> float:
        halflife = 224.0 if self.halflife is None else float(self.halflife)
        return math.pow(2.0, -seconds / halflife)

    @property
    def views(self) -> Discount:
        """``2^(-cost (rank - 1) / halflife)``, if all documents cost the same."""
        cost, _ = self.costs
        text = f"tbg({self.halflife},{number_text(cost)})"
        return RankDiscount(text, lambda rank: self._remaining(cost * (rank - 1)))

    def seen(self, judged: Judged, unjudged: float) -> UserView:
        """Documents seen: by weights if all documents cost the same, otherwise by a walk down the
        list.
        """
        _, dearer = self.costs
        return walk(self, judged, unjudged) if dearer else super().seen(judged, unjudged)

    def passing(self, gains: FloatArray) -> FloatArray:
        """Share of users that remain after each document's reading time."""
        distinct, place = np.unique(gains, return_inverse=True)
        cost, dearer = self.costs
        remaining = [self._remaining(cost + dearer * gain) for gain in distinct.tolist()]
        return np.array(remaining)[place.reshape(gains.shape)]

    def step(self, rank: IntArray, passing: FloatArray, total: FloatArray) -> FloatArray:
        """Share of users that continue."""
        return passing

    def stretch(
        self, rank: IntArray, count: IntArray, gain: float, total: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """A geometric series."""
        cost, dearer = self.costs
        return geometric(np.full(rank.shape, self._remaining(cost + dearer * gain)), count)
