"""How fast NDCG comes to its limit: the first term of the mean, by expanding N*, and how much one list varies about it.

With A = int_0^c E[Y | 1 - u] ..., B what the ideal has of it and L = A/B, the discount adds a second term to both; the constant is
L times the ideal's second term minus the list's, over B.
"""

import math
from dataclasses import dataclass

import numpy as np

from idealrank.theory.decay import Decay, Growth
from idealrank.theory.relevance import RelevanceModel, over_steps
from idealrank.theory.values import beyond_top

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Rate:
    """A sentence, and the constant C in it where there is one.

    Examples
    --------
    >>> Rate("its mean is 1 - C/ln n", 0.25).constant
    0.25
    """

    sentence: str
    constant: float | None = None


def rate_of(model: RelevanceModel, decay: Decay, growth: Growth, value: float) -> Rate:
    """The rate for a discount and a cutoff that have the limit `value`."""
    if growth.kind == "power":
        return _of_power(decay, growth)
    if decay.kind == "linear":
        return Rate(
            "the mean of DCG over the mean of its ideal differs by O(1/n) (not at all on the whole list); one list varies by order n^-1/2"
        )
    if decay.kind == "logarithmic":
        return _of_logarithm(model, growth.size, value)
    if decay.exponent == 1:
        return _of_reciprocal(model, growth.size, value)
    return _of_zipf(model, decay, growth.size, value)


def _settled(constant: float) -> float:
    """0 where only rounding is left of it."""
    return 0.0 if abs(constant) < _ROUNDING else constant


def _of_logarithm(model: RelevanceModel, share: float, value: float) -> Rate:
    """F(x n) = x n / ln n (1 + (1 - ln x) / ln n + ...) and 1 / ln(u n) = (1 - ln u / ln n + ...) / ln n.

    For the whole list of binary relevance C = 1 - ln p + (1/p) int ybar(1 - u) ln u du.
    """
    top = model.at_top * share * (math.log(share) - 1)
    list_term = top + beyond_top(model, lambda depth: -depth * np.exp(-depth), share)
    ideal_term = over_steps(model, lambda x: min(x, share) * (1 - math.log(min(x, share))))
    constant = _settled((list_term + value * ideal_term) / over_steps(model, lambda x: min(x, share)))
    # On the whole list what varies in DCG varies in its ideal, too, but for 1 / ln n of it.
    noise = "n^-1/2 / ln n" if share == 1 else "n^-1/2"
    return Rate(
        f"its mean is {value:.6g} - C/ln n + O(1/ln^2 n) with C = {constant:.6g}; one list varies about it by order {noise}", constant
    )


def _of_zipf(model: RelevanceModel, decay: Decay, share: float, value: float) -> Rate:
    """Both sides have zeta(b) times their value at the top beyond n^(1-b) times an integral."""
    beta, rest = decay.exponent, 1 - decay.exponent
    zeta = decay.kappa - 1 / rest
    ideal = over_steps(model, lambda x: min(x, share) ** rest) / rest
    constant = _settled(zeta * (value * model.steps[0][0] - model.at_top) / ideal)
    noise = "n^-1/2" if beta < 0.5 else "(ln n / n)^1/2" if beta == 0.5 else f"n^-{rest:.6g}"
    return Rate(
        f"its mean is {value:.6g} - C n^-{rest:.6g} + ... with C = {constant:.6g}; one list varies about it by order {noise}", constant
    )


def _of_reciprocal(model: RelevanceModel, share: float, value: float) -> Rate:
    """The integral of (ybar(1 - u) - ybar(1)) du/u stands beside ybar(1) ln n."""
    list_term = beyond_top(model, np.ones_like, share) + model.at_top * math.log(share)
    ideal_term = over_steps(model, lambda x: math.log(min(x, share)))
    constant = _settled((value * ideal_term - list_term) / model.steps[0][0])
    return Rate(
        f"its mean is {value:.6g} - C/ln n + O(1/ln^2 n) with C = {constant:.6g}; one list varies about it by order 1/ln n, too", constant
    )


def _of_power(decay: Decay, growth: Growth) -> Rate:
    size = growth.size
    if decay.kind == "zipf" and decay.exponent == 1:
        noise = "1/ln n"
    elif decay.kind == "zipf" and decay.exponent == 0.5:
        noise = f"(ln n)^1/2 n^-{size / 2:.6g}"
    else:
        noise = f"n^-{size * min(0.5, 1 - decay.exponent if decay.kind == 'zipf' else 0.5):.6g}"
    return Rate(
        f"its mean differs by what ybar changes within the top k = n^{size:g} documents, of order n^-{1 - size:.6g} where ybar has a slope "
        f"at 1; one list varies about it by order {noise}"
    )
