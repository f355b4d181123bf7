"""Limits as numbers: integrals of the expected gain over shares of the list, and what the ideal list has of them."""

import math
from collections.abc import Callable

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.theory.decay import Decay, Growth
from idealrank.theory.linear import linear_gathered, linear_ideal
from idealrank.theory.quadrature import integrate
from idealrank.theory.relevance import RelevanceModel, over_steps
from idealrank.theory.scaled import DEEPEST

_DEPTHS = (0.5, 2.0, 8.0)  # where panels start to be halved: what is integrated falls like exp(-z)


def value_of(model: RelevanceModel, decay: Decay, growth: Growth) -> float:
    """The limit, for a discount and a cutoff that have one."""
    if growth.kind == "power" or (decay.kind == "zipf" and decay.exponent == 1):
        return model.at_top / model.steps[0][0]
    if decay.kind == "linear":
        return linear_gathered(model, growth.size) / linear_ideal(model, growth.size)
    if decay.kind == "logarithmic" and growth.kind == "whole":
        return 1.0
    rest = 1 - decay.exponent if decay.kind == "zipf" else 1.0
    return power_gathered(model, rest, growth.size) / over_steps(model, lambda share: min(share, growth.size) ** rest)


def power_gathered(model: RelevanceModel, rest: float, share: float) -> float:
    """The integral rest * int_0^share E[Y | 1 - u] u^(rest - 1) du for 0 < rest <= 1.

    By the depth z = -ln u the singularity at the top is exp(-rest z), smooth for any rest. The value at the top is taken out; what
    is left dies away.

    Examples
    --------
    >>> round(power_gathered(RelevanceModel.of(lambda s: s), 0.5, 1.0), 15)  # 1 - 0.5 / 1.5
    0.666666666666667
    """
    top = model.at_top
    return float(top * share**rest) + rest * beyond_top(model, lambda depth: np.exp(-rest * depth), share)


def beyond_top(model: RelevanceModel, weight: Callable[[FloatArray], FloatArray], share: float) -> float:
    """int_0^share (E[Y | 1 - u] - E[Y | 1]) w(z) du/u with z = -ln u."""
    top = model.at_top

    def beyond(depth: FloatArray) -> FloatArray:
        return (model.expected_from_top(np.exp(-depth)) - top) * weight(depth)

    return integrate(beyond, -math.log(share), DEEPEST, points=(*_DEPTHS, *(-math.log(depth) for depth in model.depths)))
