"""Mean of NDCG on a list of n: Definition 20 in closed form except for one integral, its
correction, and its error.

Lemma 21 bounds the distance of Definition 20 from the mean of NDCG; Lemma 22 expands the difference
of two rankers' means under the logarithmic discount.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast, overload

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import RelativeCutoff
from idealrank.measures.discounts import DiscountLike
from idealrank.measures.gains import GainLike
from idealrank.theory.decay import Decay, Growth, decay_of, growth_of
from idealrank.theory.discount_sums import (
    DEEPEST,
    ScaledDecay,
    gathered,
    ideal,
    linear_corrected,
    linear_definition,
)
from idealrank.theory.quadrature import integrate
from idealrank.theory.relevance import ModelLike, RelevanceModel

_AT_ONE = 1e-12  # the logarithm of a rank that is 1 but for rounding


@overload
def pseudo_expectation(
    ybar: ModelLike,
    n: int | float,
    discount: DiscountLike = ...,
    cutoff: "int | str | RelativeCutoff | None" = ...,
    corrected: bool = ...,  # noqa: FBT001
    *,
    points: Iterable[float] = ...,
    gain: GainLike = ...,
) -> float: ...
@overload
def pseudo_expectation(
    ybar: ModelLike,
    n: Sequence[int] | IntArray,
    discount: DiscountLike = ...,
    cutoff: "int | str | RelativeCutoff | None" = ...,
    corrected: bool = ...,  # noqa: FBT001
    *,
    points: Iterable[float] = ...,
    gain: GainLike = ...,
) -> FloatArray: ...
def pseudo_expectation(
    ybar: ModelLike,
    n: int | float | Sequence[int] | IntArray,
    discount: DiscountLike = "log2",
    cutoff: "int | str | RelativeCutoff | None" = None,
    corrected: bool = True,  # noqa: FBT001, FBT002
    *,
    points: Iterable[float] = (),
    gain: GainLike = "linear",
) -> float | FloatArray:
    """Compute the mean NDCG of lists of n documents, up to terms that vanish faster than the
    distance to the limit.

    Without the correction it is N of Wang et al., Definition 20, in which sums over ranks are
    integrals from rank 1 on::

        N = int_1^k E[Y | 1 - s/n] D(s) ds / sum_j y_j (F(n min(R_j, k/n)) - F(n min(R_(j-1), k/n))),     F(t) = int_1^t D

    With it, the default, both sides include the excess of the sum over the integral, kappa = lim
    sum D - int D, all of it at the top::

        N* = (int_1^k E[Y | 1 - s/n] D(s) ds + kappa E[Y | 1]) / (... + kappa y_1)

    For binary relevance E[Y | s] is ybar(s), and the denominator is F(n min(p, k/n)) (+ kappa). N*
    is 6 to 23 times closer to the mean of simulated lists than N, whose error is of order ln n / n
    under the logarithmic discount.

    Parameters
    ----------
    ybar : callable, mapping or RelevanceModel
        Probability of relevance at each canonical score, or one function for each grade; see
        `RelevanceModel.of`.
    n : int, or sequence of int
        Length of the list, at least 2; of any size, such as ``10**1000``. Integer-valued floats are
        accepted.
    discount : str or other, optional
        log2, log(b), jarvelin(b), zipf(b), geometric(b) or linear.
    cutoff : int, str or None, optional
        As in measures; k = max(1, floor(x)).
    corrected : bool, optional
        N* (True) or N (False).
    points : iterable of float, optional
        Kinks or jumps of ybar.
    gain : str, mapping or callable, optional
        Gain of each grade.

    Returns
    -------
    float, or float64 array, shape (len(n),)
        Accurate to about 1e-13 for a smooth ybar, for any n. It is a mean only up to terms that
        vanish as n grows: for a handful of documents it can exceed 1.

    Raises
    ------
    OptionError
        The discount is a table or a user-defined function, which has no known integral. Or n is not
        a valid length, or nothing is relevant (p = 0), or N is 0/0 because k or n p is 1 or less.

    Notes
    -----
    Under the linear discount, whose weights change with n, N* is the ratio of the means of DCG and
    ideal DCG. For the whole list it is the limit itself, for every n: the mean of DCG is n (n - 1)
    int ybar(1 - u) (1 - u) du, that of its ideal n (n - 1) (p - p^2/2).

    Examples
    --------
    >>> round(pseudo_expectation(lambda s: 0.1 + 0.8 * s, 10**6), 10)
    0.9776995195
    >>> pseudo_expectation(lambda s: 0.1 + 0.8 * s, [10**3, 10**6], "zipf(0.5)").round(6)
    array([0.895535, 0.895664])
    >>> round(pseudo_expectation(lambda s: 0.1 + 0.8 * s, 10**1000), 6)
    0.999873
    """  # noqa: E501
    model = RelevanceModel.of(ybar, points=points, gain=gain)
    decay = decay_of(discount)
    growth = growth_of(cutoff)
    if decay.kind in {"unknown", "finite"}:
        raise OptionError(
            f"discount={decay.text}: the pseudo-expectation needs the integral of the discount; "
            "expected log2, log(b), jarvelin(b), zipf(b), geometric(b) or linear; simulate lists "
            "for others"
        )
    if not model.steps:
        raise OptionError(
            "ybar is 0 everywhere: without relevant documents NDCG is 0/0; expected p > 0"
        )
    if np.ndim(n):
        lengths = [_length(length) for length in cast("Sequence[int]", n)]
        return np.array(
            [_value(model, decay, growth, length, corrected=corrected) for length in lengths],
            np.float64,
        )
    return _value(model, decay, growth, _length(cast("int", n)), corrected=corrected)


def _length(n: int | float) -> int:
    try:
        whole = int(n)
    except (TypeError, ValueError, OverflowError):
        whole = 0
    if whole < 2 or whole != n:
        raise OptionError(f"n={n!r}: expected a whole number of documents, at least 2")
    return whole


def _value(
    model: RelevanceModel, decay: Decay, growth: Growth, n: int, *, corrected: bool
) -> float:
    log_share = growth.log_share(n)
    if decay.kind == "linear":
        value_of = linear_corrected if corrected else linear_definition
        return value_of(model, n, log_share)
    scaled = ScaledDecay(decay, math.log(n))
    dcg = gathered(model, scaled, log_share)
    ideal_dcg = ideal(model, scaled, log_share, corrected=corrected)
    if corrected:
        dcg += scaled.kappa * model.at_top
    log_last_rank = scaled.log_n + min(log_share, math.log(model.share))
    if not corrected and log_last_rank <= _AT_ONE:
        raise OptionError(
            f"Definition 20 integrates the ideal from rank 1 to min(k, n p), which is "
            f"{math.exp(log_last_rank):g} here, and is 0/0",
            hint="take a longer list or a deeper cutoff, or corrected=True",
            command_hint="take a longer list or a deeper cutoff",
        )
    return dcg / ideal_dcg


@dataclass(frozen=True, kw_only=True)
class DefinitionGap:
    """N of Definition 20 and the corrected N*, for one length.

    Parameters
    ----------
    n : int
        Length of the list.
    definition, corrected : float
        N and N*.
    difference : float
        N* - N: 84 to 91 % of E[NDCG] - N at n = 10^3, 94 to 96 % at 10^6, on five models with exact
        means.
    constant : float
        The difference times n / ln n; its limit shows how sharp the lemma's bound is.
    bound : float
        n^(-1/3), the order given by Lemma 21.

    Examples
    --------
    >>> found = definition_gap(lambda s: 0.5, 10**6)
    >>> round(found.difference, 9), round(found.constant, 3), round(found.bound, 6)
    (-8.575e-06, -0.621, 0.01)
    """

    n: int
    definition: float
    corrected: float
    difference: float
    constant: float
    bound: float


def definition_gap(
    ybar: ModelLike, n: int, *, points: Iterable[float] = (), gain: GainLike = "linear"
) -> DefinitionGap:
    """Compute the distance between Definition 20 and the mean of NDCG with the logarithmic
    discount: the quantities of Lemma 21.

    Lemma 21 bounds the distance by order n^(-1/3). The true order is ln n / n: N omits the excess
    of sums over integrals, kappa ybar(1) in DCG and kappa in its ideal, relative to F(n p) of order
    n p / ln n.

    Parameters
    ----------
    ybar : callable, mapping or RelevanceModel
        Probability of relevance at each canonical score, or one function for each grade.
    n : int
        Length of the list.
    points : iterable of float, optional
        Kinks or jumps of ybar.
    gain : str, mapping or callable, optional
        Gain of each grade.

    Examples
    --------
    >>> [round(definition_gap(lambda s: 0.1 + 0.8 * s, 10**k).constant, 3) for k in (3, 6, 9, 12)]
    [-0.06, -0.108, -0.125, -0.134]
    """
    model = RelevanceModel.of(ybar, points=points, gain=gain)
    definition = pseudo_expectation(model, n, corrected=False)
    corrected = pseudo_expectation(model, n, corrected=True)
    # N* - N = kappa (E[Y | 1] - y_1 N) / (ideal + y_1 kappa), without a difference of two numbers
    # that are all but equal.
    decay = decay_of("log2")
    log_n = math.log(n)
    highest_gain, _ = model.steps[0]
    per_unit = decay.kappa * (model.at_top - highest_gain * definition)
    constant = per_unit / ideal(model, ScaledDecay(decay, log_n), 0.0, corrected=True)
    unit = math.exp(-log_n) * log_n
    return DefinitionGap(
        n=n,
        definition=definition,
        corrected=corrected,
        difference=constant * unit,
        constant=constant,
        bound=math.exp(-log_n / 3),
    )


_VANISHES = 1e-11  # an integral is 0 if it is so small compared with that of absolute values
_HIGHEST = 12  # powers of the logarithm that are tried


@dataclass(frozen=True, kw_only=True)
class Expansion:
    """N_0 - N_1 = coefficient / ln^order n + ..., for two rankers of the same documents under
    1/log(1 + r).

    Parameters
    ----------
    order : int
        K: the smallest k for which int (ybar_0 - ybar_1)(1 - u) ln^k u du is not 0. At least 1,
        since for k = 0 it is p - p.
    coefficient : float
        (-1)^K / p times that integral, with E[Y] instead of p for grades. Its sign determines which
        ranker wins eventually.
    without_p : float
        Coefficient as printed in eq. (25) of the paper, without the factor 1/p.
    p : float
        P(Y = 1), or E[Y], the same for both.

    Examples
    --------
    >>> found = expansion(lambda s: 0.1 + 0.8 * s, lambda s: 0.5)
    >>> found.order, round(found.coefficient, 12), round(found.without_p, 12)
    (1, 0.4, 0.2)
    >>> [round(found.scaled(10**k), 4) for k in (3, 6, 20, 100, 1000)]
    [0.5346, 0.453, 0.4123, 0.4023, 0.4002]
    """

    order: int
    coefficient: float
    without_p: float
    p: float
    _first: RelevanceModel = field(repr=False, compare=False)
    _second: RelevanceModel = field(repr=False, compare=False)

    def difference(self, n: int, *, corrected: bool = False) -> float:
        """Return N_0 - N_1 for lists of n documents, n of any size; N*_0 - N*_1 with
        `corrected`.
        """
        return self.difference_at(math.log(n), corrected=corrected)

    def scaled(self, n: int, *, corrected: bool = False) -> float:
        """Return ln^K n times the difference, which tends to the coefficient."""
        return math.log(n) ** self.order * self.difference(n, corrected=corrected)

    def difference_at(self, log_n: float, *, corrected: bool = False) -> float:
        """Return the difference for lists of exp(log_n) documents, log_n at least ln 2; its error
        is about 1e-15 / log_n^K.

        For lists beyond e^40 the terms of 1/ln(u n) that integrate to 0 are removed before
        summation.
        """
        scaled = ScaledDecay(decay_of("log2"), log_n)
        order = self.order if log_n >= DEEPEST else 0

        def gap(depth: FloatArray) -> FloatArray:
            share = np.exp(-depth)
            first = self._first.expected_from_top(share)
            gaps: FloatArray = first - self._second.expected_from_top(share)
            return gaps

        def integrand(depth: FloatArray) -> FloatArray:
            # 1/log is expanded about log n: the terms of the lower orders vanish, so that only the
            # remainder is integrated, without cancellation.
            logarithm = np.logaddexp(0.0, log_n - depth)
            remainder = (log_n - logarithm) ** order
            return gap(depth) * np.exp(-depth) * remainder * max(1.0, log_n) / logarithm

        kinks = [
            -math.log(share) for model in (self._first, self._second) for share in model.depths
        ]
        points = (*kinks, 1.0, 4.0, 16.0)
        integral = integrate(integrand, 0.0, min(log_n, DEEPEST), points=points, tolerance=1e-15)
        total = integral * log_n**-order
        if corrected:
            total += scaled.kappa * float(gap(np.array([math.inf]))[0])  # at the very top
        return total / ideal(self._first, scaled, 0.0, corrected=corrected)


def expansion(
    ybar0: ModelLike, ybar1: ModelLike, *, points: Iterable[float] = (), gain: GainLike = "linear"
) -> Expansion:
    """Expand the difference of two rankers whose NDCG with the logarithmic discount tends to 1 for
    both (Wang et al., Lemma 22).

    Parameters
    ----------
    ybar0, ybar1 : callable, mapping or RelevanceModel
        Probability of relevance at each canonical score, for two rankers of the same documents: p,
        or the share of each grade, is equal for both.
    points : iterable of float, optional
        Kinks or jumps of either function.
    gain : str, mapping or callable, optional
        Gain of each grade.

    Returns
    -------
    Expansion
        The order K, the coefficient, and the difference at any n.

    Raises
    ------
    OptionError
        The shares of relevant documents differ; or the two functions are equal, so there is no
        order.

    Notes
    -----
    Two corrections to the paper: the coefficient contains 1/p, which eq. (25) omits, and K is at
    least 1, not "nonnegative". For lists of realistic length, the sign of the difference can be
    opposite to that of the coefficient: see `experiments/late_winner.py`.

    Examples
    --------
    >>> found = expansion(lambda s: 0.7 - 1.6 * (1 - s) + 1.8 * (1 - s) ** 2, lambda s: 0.5)
    >>> found.order, round(found.coefficient, 12)
    (2, 0.266666666667)
    """
    kinks_of_both = tuple(points)  # read twice
    first = RelevanceModel.of(ybar0, points=kinks_of_both, gain=gain)
    second = RelevanceModel.of(ybar1, points=kinks_of_both, gain=gain)
    _check_same_documents(first, second)
    kinks = [-math.log(share) for model in (first, second) for share in model.depths]
    shares = np.diff(first.reached, prepend=0.0)
    expected = sum(gain * share for gain, share in zip(first.gains, shares, strict=True))

    def moment(power: int, *, absolute: bool) -> float:
        def integrand(depth: FloatArray) -> FloatArray:
            share = np.exp(-depth)
            gap = first.expected_from_top(share) - second.expected_from_top(share)
            return (np.abs(gap) if absolute else gap) * depth**power * np.exp(-depth)

        # Depths up to 80: z^12 exp(-z) has died away there. The absolute value has kinks: a rough
        # answer will do.
        return integrate(
            integrand,
            0.0,
            80.0,
            points=(*kinks, 1.0, 4.0, 16.0, 40.0),
            tolerance=1e-6 if absolute else 1e-14,
        )

    for order in range(1, _HIGHEST + 1):
        moment_gap = moment(order, absolute=False)
        scale = max(moment(order, absolute=True), math.factorial(order) * _VANISHES)
        if abs(moment_gap) > _VANISHES * scale:
            return Expansion(
                order=order,
                coefficient=float(moment_gap / expected),
                without_p=moment_gap,
                p=float(expected),
                _first=first,
                _second=second,
            )
    raise OptionError(
        f"the two functions do not differ in any power of the logarithm up to {_HIGHEST}: they are "
        "the same, and no measure tells them apart"
    )


def _check_same_documents(first: RelevanceModel, second: RelevanceModel) -> None:
    if first.gains != second.gains or not np.allclose(
        first.reached, second.reached, rtol=0, atol=1e-9
    ):
        raise OptionError(
            "two rankers order the same documents, so the share of each grade is the same; found "
            f"P(Y >= y_j) = {', '.join(f'{share:.9g}' for share in first.reached)} and "
            f"{', '.join(f'{share:.9g}' for share in second.reached)}"
        )
    if not first.steps:
        raise OptionError("ybar is 0 everywhere: Lemma 22 needs p > 0")
