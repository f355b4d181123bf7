"""The linear discount D(r) = n - r, which changes with the list: limit and pseudo-expectations.

Source of the measure: Jin and Geng; its limit and its means are derived here. With U_1, ..., U_n independent and uniform, documents by
their depth, the document of rank r has weight n - r = how many lie below it. So the mean of DCG over the whole list is
n (n - 1) E[E[Y | 1 - U] 1(U' > U)] = n (n - 1) int E[Y | 1 - u] (1 - u) du; above rank k it is that integral with the factor
P(U_(k : n-2) > u), the chance that fewer than k of the n - 2 others lie above u.
"""

import math

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.theory.quadrature import integrate
from idealrank.theory.relevance import RelevanceModel, over_steps


def linear_gathered(model: RelevanceModel, share: float) -> float:
    """int_0^share E[Y | 1 - u] (1 - u) du.

    Examples
    --------
    >>> round(linear_gathered(RelevanceModel.of(lambda s: s), 1.0), 12)
    0.333333333333
    """

    def weighed(depth: FloatArray) -> FloatArray:
        return model.expected_from_top(depth) * (1 - depth)

    return integrate(weighed, 0.0, min(share, 1.0), points=model.depths)


def linear_ideal(model: RelevanceModel, share: float) -> float:
    """sum_j y_j (G(min(R_j, share)) - G(min(R_(j-1), share))) with G(u) = u - u^2/2; p - p^2/2 for binary relevance.

    Examples
    --------
    >>> linear_ideal(RelevanceModel.of(lambda s: 0.5), 1.0)
    0.375
    """
    return over_steps(model, lambda reached: _weight_above(min(reached, share)))


def linear_definition(model: RelevanceModel, n: int, log_share: float) -> float:
    """Definition 20 for D(s) = n - s: integrals from rank 1 to the cutoff, over n^2."""
    share, first = math.exp(log_share), 1 / n
    above = linear_gathered(model, share) - linear_gathered(model, first)
    top, rest = model.steps[0][0], linear_ideal(model, share)
    return above / (rest - top * _weight_above(min(first, share)))


def linear_corrected(model: RelevanceModel, n: int, log_share: float) -> float:
    """Ratio of the means of DCG and ideal DCG; exact but for terms of order n^-2.

    Above a cutoff the integral ends at a random place, the k-th of n - 2 uniforms; two places, a standard deviation to both sides of
    its mean, give its mean to the second order.
    """
    share, each = math.exp(log_share), 1 / n  # n may be beyond float64; its reciprocal is not
    place = min(share / (1 - each), 1.0)
    spread = math.sqrt(place * (1 - place) * each)
    ends = np.clip([place - spread, place + spread], 0.0, 1.0)
    above = sum(linear_gathered(model, float(end)) for end in ends) / 2

    def weight(reached: float) -> float:
        # A grade that the cutoff ends has all its ranks: their weights are a number. One that ends before has a random number of them.
        return _weight_above(reached) if reached < share else (_weight_above(share) - share * each / 2) / (1 - each)

    return above / over_steps(model, weight)


def _weight_above(share: float) -> float:
    return share - share * share / 2
