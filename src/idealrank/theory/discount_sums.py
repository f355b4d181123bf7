"""Sums of discounts over a list of n documents: decaying ones by the logarithm of n, and the linear
one D(r) = n - r.

**Decaying discounts.** n may be 10^1000. A place in the list is its share of the list u = r/n, by
its depth z = -ln u: 0 at the bottom, ln n at rank 1. All sums are measured in one unit, the size
that F(n) has as n grows; it cancels in NDCG.

**The linear discount** changes with the list. Source of the measure: Jin and Geng; its limit and
its means are derived here. With U_1, ..., U_n independent and uniform, documents by their depth,
the document of rank r has weight n - r = how many lie below it. So the mean of DCG over the whole
list is n (n - 1) E[E[Y | 1 - U] 1(U' > U)] = n (n - 1) int E[Y | 1 - u] (1 - u) du; above rank k it
is that integral with the factor P(U_(k : n-2) > u), the chance that fewer than k of the n - 2
others lie above u.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expi

from idealrank.data.types import FloatArray
from idealrank.errors import OptionError
from idealrank.theory.decay import Decay
from idealrank.theory.quadrature import integrate
from idealrank.theory.relevance import RelevanceModel, over_steps

DEEPEST = 40.0  # beyond it 1 - exp(-z) is 1 in float64: no model tells such ranks from the very top
# From here on the asymptotic series, ended at its smallest term, is exact to the last bit; SciPy's
# ends it after 20 terms, which leaves an error of 1e-14 near 40, and overflows beyond 700.
_DIRECT = 40.0
_LARGEST_EXPONENT = 700.0  # exp of more is not a float64
_LI_2 = float(expi(math.log(2.0)))  # li(2): the integral of 1/log(1 + r) starts at rank 1


def scaled_expi(x: float) -> float:
    """exp(-x) Ei(x) for x > 0, finite for any x."""
    if x <= _DIRECT:
        return float(expi(x)) * math.exp(-x)
    term = total = 1 / x
    for k in range(1, int(_DIRECT)):
        term *= k / x
        total += term
    return total


@dataclass(frozen=True)
class ScaledDecay:
    """A discount seen from a list of n.

    Examples
    --------
    >>> from idealrank.theory.decay import decay_of
    >>> seen = ScaledDecay(decay_of("zipf(0.5)"), math.log(10**6))
    >>> round(seen.integral(0.0) * seen.unit, 9), round(seen.kappa * seen.unit, 9)
    (1998.0, 0.539645491)
    """

    decay: Decay
    log_n: float

    @cached_property
    def unit(self) -> float:
        """Unit of all quantities: n / ln n, n^(1-b) or 1; infinite where it is beyond float64."""
        try:
            return math.exp(self._log_unit)
        except OverflowError:
            return math.inf

    @cached_property
    def _log_unit(self) -> float:
        if self.decay.kind == "logarithmic":
            return self.log_n - math.log(max(1.0, self.log_n))
        if self.decay.kind == "zipf":
            return max(0.0, 1 - self.decay.exponent) * self.log_n
        return 0.0

    @cached_property
    def kappa(self) -> float:
        """Excess of the sum above the integral from rank 1 on."""
        return self.decay.kappa * math.exp(-self._log_unit)

    @cached_property
    def kinks(self) -> tuple[float, ...]:
        """Depths at which the discount has a kink: the base of jarvelin."""
        if self.decay.kind == "logarithmic" and self.decay.exponent:
            return (self.log_n - math.log(self.decay.exponent),)
        return ()

    def weight(self, depth: FloatArray) -> FloatArray:
        """Rank times D at the rank r = n exp(-depth): what a step of depth adds to the integral."""
        log_rank = np.maximum(self.log_n - depth, 0.0)
        weights: FloatArray
        if self.decay.kind == "zipf":
            power = 1 - self.decay.exponent
            weights = np.exp(-power * depth if power > 0 else power * log_rank)
        elif self.decay.kind == "geometric":
            rank = np.exp(np.minimum(log_rank, _LARGEST_EXPONENT))
            weights = rank * self.decay.exponent**rank
        else:
            base = self.decay.exponent
            logarithm = (
                np.maximum(log_rank, math.log(base)) if base else np.logaddexp(0.0, log_rank)
            )
            weights = np.exp(-depth) * max(1.0, self.log_n) / logarithm
        return weights

    def integral(self, log_share: float) -> float:
        """F(t) for t = n exp(log_share) <= n, the integral of D from 1 to t; 0 where t <= 1."""
        log_share = max(log_share, -self.log_n)
        log_rank = self.log_n + log_share
        kind = self.decay.kind
        if kind == "zipf":
            return self._zipf(log_share, log_rank)
        if kind == "geometric":
            ratio = self.decay.exponent
            rank = math.exp(min(log_rank, _LARGEST_EXPONENT))
            return float((ratio**rank - ratio) / math.log(ratio))
        if kind == "logarithmic":
            integral = self._jarvelin if self.decay.exponent else self._log
            return max(1.0, self.log_n) * integral(log_share, log_rank)
        raise OptionError(
            f"discount={self.decay.text} has no integral of its own; expected log2, log(b), "
            f"jarvelin(b), zipf(b) or geometric(b)"
        )

    def _zipf(self, log_share: float, log_rank: float) -> float:
        power = 1 - self.decay.exponent
        if power == 0:
            return log_rank
        if power < 0:
            return math.expm1(power * log_rank) / power
        return -math.exp(power * log_share) * math.expm1(-power * log_rank) / power

    def _log(self, log_share: float, log_rank: float) -> float:
        first_share = math.exp(-self.log_n)  # of rank 1
        scaled = scaled_expi(float(np.logaddexp(0.0, log_rank)))
        return (math.exp(log_share) + first_share) * scaled - _LI_2 * first_share

    def _jarvelin(self, log_share: float, log_rank: float) -> float:
        first_share = math.exp(-self.log_n)  # of rank 1
        base = self.decay.exponent
        size = math.log(base)
        if log_rank < size:
            return (math.exp(log_share) - first_share) / size
        before = (base - 1) / size - float(expi(size))
        return math.exp(log_share) * scaled_expi(log_rank) + first_share * before


def gathered(model: RelevanceModel, seen: ScaledDecay, log_share: float) -> float:
    """Ntilde (Wang et al., Definition 20): the integral of E[Y | 1 - s/n] D(s) over ranks from 1 to
    n exp(log_share).
    """
    top = model.at_top

    def beyond(depth: FloatArray) -> FloatArray:
        return (model.expected_from_top(np.exp(-depth)) - top) * seen.weight(depth)

    kinks = [-math.log(share) for share in model.depths]
    low = min(-log_share, seen.log_n)
    high = min(seen.log_n, DEEPEST)
    beyond_integral = 0.0
    if low < high:
        points = (*kinks, *seen.kinks, 2.0, 8.0)
        beyond_integral = integrate(beyond, low, high, points=points, tolerance=1e-14)
    return top * seen.integral(log_share) + beyond_integral


def ideal(model: RelevanceModel, seen: ScaledDecay, log_share: float, *, corrected: bool) -> float:
    """The ideal DCG up to rank n exp(log_share) as a sum of integrals: the best grade first, then
    the next.
    """
    first = -seen.kappa if corrected else 0.0
    return over_steps(
        model, lambda reached: seen.integral(min(math.log(reached), log_share)), first
    )


def linear_gathered(model: RelevanceModel, share: float) -> float:
    """int_0^share E[Y | 1 - u] (1 - u) du."""

    def weighed(depth: FloatArray) -> FloatArray:
        return model.expected_from_top(depth) * (1 - depth)

    return integrate(weighed, 0.0, min(share, 1.0), points=model.depths)


def linear_ideal(model: RelevanceModel, share: float) -> float:
    """sum_j y_j (G(min(R_j, share)) - G(min(R_(j-1), share))) with G(u) = u - u^2/2; p - p^2/2 for
    binary relevance.
    """
    return over_steps(model, lambda reached: _weight_above(min(reached, share)))


def linear_definition(model: RelevanceModel, n: int, log_share: float) -> float:
    """Definition 20 for D(s) = n - s: integrals from rank 1 to the cutoff, over n^2."""
    share = math.exp(log_share)
    first = 1 / n  # share of the list down to rank 1
    numerator = linear_gathered(model, share) - linear_gathered(model, first)
    highest_gain, _ = model.steps[0]
    from_top = linear_ideal(model, share)
    return numerator / (from_top - highest_gain * _weight_above(min(first, share)))


def linear_corrected(model: RelevanceModel, n: int, log_share: float) -> float:
    """Ratio of the means of DCG and ideal DCG; exact but for terms of order n^-2.

    Above a cutoff the integral ends at a random depth, the k-th of n - 2 uniforms; two depths, a
    standard deviation to both sides of its mean, give its mean to the second order.
    """
    share = math.exp(log_share)
    share_of_one = 1 / n  # n may be beyond float64; its reciprocal is not
    mean_depth = min(share / (1 - share_of_one), 1.0)
    spread = math.sqrt(mean_depth * (1 - mean_depth) * share_of_one)
    ends = np.clip([mean_depth - spread, mean_depth + spread], 0.0, 1.0)
    numerator = sum(linear_gathered(model, float(end)) for end in ends) / 2

    def weight(reached: float) -> float:
        # A grade that the cutoff ends has all its ranks: their weights are a number. One that ends
        # before has a random number of them.
        if reached < share:
            return _weight_above(reached)
        return (_weight_above(share) - share * share_of_one / 2) / (1 - share_of_one)

    return numerator / over_steps(model, weight)


def _weight_above(share: float) -> float:
    return share - share * share / 2
