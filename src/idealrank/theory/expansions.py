"""Difference of two rankers' means as lists grow, under the logarithmic discount (Lemma 22), and the error of Definition 20."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.errors import OptionError
from idealrank.measures.gains import GainLike
from idealrank.theory.decay import decay_of
from idealrank.theory.quadrature import integrate
from idealrank.theory.relevance import ModelLike, RelevanceModel
from idealrank.theory.scaled import DEEPEST, ScaledDecay, ideal

_VANISHES = 1e-11  # an integral that is this small beside that of the absolute values is 0
_HIGHEST = 12  # powers of the logarithm that are tried


@dataclass(frozen=True)
class Expansion:
    """N_0 - N_1 = coefficient / ln^order n + ..., for two rankers of the same documents under 1/log(1 + r).

    Parameters
    ----------
    order : int
        K: the smallest k for which int (ybar_0 - ybar_1)(1 - u) ln^k u du is not 0. At least 1, since for k = 0 it is p - p.
    coefficient : float
        (-1)^K / p times that integral, with E[Y] instead of p for grades. Its sign determines which ranker wins eventually.
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
        """Return N_0 - N_1 for lists of n documents, n of any size; N*_0 - N*_1 with `corrected`."""
        return self.difference_at(math.log(n), corrected=corrected)

    def scaled(self, n: int, *, corrected: bool = False) -> float:
        """Return ln^K n times the difference, which tends to the coefficient."""
        return math.log(n) ** self.order * self.difference(n, corrected=corrected)

    def difference_at(self, log_n: float, *, corrected: bool = False) -> float:
        """Return the difference for lists of exp(log_n) documents, log_n at least ln 2; its error is about 1e-15 / log_n^K.

        For lists beyond e^40 the terms of 1/ln(u n) that integrate to 0 are removed before summation.
        """
        seen = ScaledDecay(decay_of("log2"), log_n)
        order = self.order if log_n >= DEEPEST else 0

        def gap(depth: FloatArray) -> FloatArray:
            share = np.exp(-depth)
            values: FloatArray = self._first.expected_from_top(share) - self._second.expected_from_top(share)
            return values

        def above(depth: FloatArray) -> FloatArray:
            logarithm = np.logaddexp(0.0, log_n - depth)
            return gap(depth) * np.exp(-depth) * (log_n - logarithm) ** order * max(1.0, log_n) / logarithm

        kinks = [-math.log(share) for model in (self._first, self._second) for share in model.depths]
        total = integrate(above, 0.0, min(log_n, DEEPEST), points=(*kinks, 1.0, 4.0, 16.0), tolerance=1e-15) * log_n**-order
        if corrected:
            total += seen.kappa * float(gap(np.array([math.inf]))[0])
        return total / ideal(self._first, seen, 0.0, corrected=corrected)


def expansion(ybar0: ModelLike, ybar1: ModelLike, *, points: Iterable[float] = (), gain: GainLike = "linear") -> Expansion:
    """Expand the difference of two rankers whose NDCG with the logarithmic discount tends to 1 for both (Wang et al., Lemma 22).

    Parameters
    ----------
    ybar0, ybar1 : callable, mapping or RelevanceModel
        Probability of relevance at each canonical score, for two rankers of the same documents: p, or the share of each grade, is equal for
        both.
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
        The shares of relevant documents differ; or the two functions are equal, so there is no order.

    Notes
    -----
    Two corrections to the paper: the coefficient contains 1/p, which eq. (25) omits, and K is at least 1, not "nonnegative". For lists of
    realistic length, the sign of the difference can be opposite to that of the coefficient: see `experiments/late_winner.py`.

    Examples
    --------
    >>> found = expansion(lambda s: 0.7 - 1.6 * (1 - s) + 1.8 * (1 - s) ** 2, lambda s: 0.5)
    >>> found.order, round(found.coefficient, 12)
    (2, 0.266666666667)
    """
    named = tuple(points)
    first, second = (RelevanceModel.of(ybar, points=named, gain=gain) for ybar in (ybar0, ybar1))
    _check_same_documents(first, second)
    kinks = [-math.log(share) for model in (first, second) for share in model.depths]
    expected = sum(gain * share for gain, share in zip(first.gains, np.diff(first.reached, prepend=0.0), strict=True))

    def moment(power: int, *, absolute: bool) -> float:
        def integrand(depth: FloatArray) -> FloatArray:
            share = np.exp(-depth)
            gap = first.expected_from_top(share) - second.expected_from_top(share)
            return (np.abs(gap) if absolute else gap) * depth**power * np.exp(-depth)

        # Depths up to 80: z^12 exp(-z) has died away there. The absolute value has kinks: a rough answer will do.
        return integrate(integrand, 0.0, 80.0, points=(*kinks, 1.0, 4.0, 16.0, 40.0), tolerance=1e-6 if absolute else 1e-14)

    for order in range(1, _HIGHEST + 1):
        found = moment(order, absolute=False)
        if abs(found) > _VANISHES * max(moment(order, absolute=True), math.factorial(order) * _VANISHES):
            return Expansion(order, float(found / expected), found, float(expected), first, second)
    raise OptionError(
        f"the two functions do not differ in any power of the logarithm up to {_HIGHEST}: they are the same, and no measure tells them "
        "apart"
    )


def _check_same_documents(first: RelevanceModel, second: RelevanceModel) -> None:
    if first.gains != second.gains or not np.allclose(first.reached, second.reached, rtol=0, atol=1e-9):
        raise OptionError(
            f"two rankers order the same documents, so the share of each grade is the same; found P(Y >= y_j) = "
            f"{', '.join(f'{share:.9g}' for share in first.reached)} and {', '.join(f'{share:.9g}' for share in second.reached)}"
        )
    if not first.steps:
        raise OptionError("ybar is 0 everywhere: Lemma 22 needs p > 0")
