"""Mean of NDCG on a list of n, in closed form except for one integral: Definition 20, and its correction."""

import math
from collections.abc import Iterable, Sequence
from typing import cast, overload

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import RelativeCutoff
from idealrank.measures.discounts import DiscountLike
from idealrank.measures.gains import GainLike
from idealrank.theory.decay import Decay, Growth, decay_of, growth_of
from idealrank.theory.linear import linear_corrected, linear_definition
from idealrank.theory.relevance import ModelLike, RelevanceModel
from idealrank.theory.scaled import ScaledDecay, gathered, ideal

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
    """Compute the mean NDCG of lists of n documents, up to terms that vanish faster than the distance to the limit.

    Without the correction it is N of Wang et al., Definition 20, in which sums over ranks are integrals from rank 1 on::

        N = int_1^k E[Y | 1 - s/n] D(s) ds / sum_j y_j (F(n min(R_j, k/n)) - F(n min(R_(j-1), k/n))),     F(t) = int_1^t D

    With it, the default, both sides include the excess of the sum over the integral, kappa = lim sum D - int D, all of it at the top::

        N* = (int_1^k E[Y | 1 - s/n] D(s) ds + kappa E[Y | 1]) / (... + kappa y_1)

    For binary relevance E[Y | s] is ybar(s), and the denominator is F(n min(p, k/n)) (+ kappa). N* is 6 to 23 times closer to the
    mean of simulated lists than N, whose error is of order ln n / n under the logarithmic discount.

    Parameters
    ----------
    ybar : callable, mapping or RelevanceModel
        Probability of relevance at each canonical score, or one function for each grade; see `RelevanceModel.of`.
    n : int, or sequence of int
        Length of the list, at least 2; of any size, such as ``10**1000``. Integer-valued floats are accepted.
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
        Accurate to about 1e-13 for a smooth ybar, for any n. It is a mean only up to terms that vanish as n grows: for a handful of
        documents it can exceed 1.

    Raises
    ------
    OptionError
        The discount is a table or a user-defined function, which has no known integral. Or n is not a valid length, or nothing is relevant
        (p = 0), or N is 0/0 because k or n p is 1 or less.

    Notes
    -----
    Under the linear discount, whose weights change with n, N* is the ratio of the means of DCG and ideal DCG. For the whole list it is
    the limit itself, for every n: the mean of DCG is n (n - 1) int ybar(1 - u) (1 - u) du, that of its ideal n (n - 1) (p - p^2/2).

    Examples
    --------
    >>> round(pseudo_expectation(lambda s: 0.1 + 0.8 * s, 10**6), 10)
    0.9776995195
    >>> pseudo_expectation(lambda s: 0.1 + 0.8 * s, [10**3, 10**6], "zipf(0.5)").round(6)
    array([0.895535, 0.895664])
    >>> round(pseudo_expectation(lambda s: 0.1 + 0.8 * s, 10**1000), 6)
    0.999873
    """
    model, decay, growth = RelevanceModel.of(ybar, points=points, gain=gain), decay_of(discount), growth_of(cutoff)
    if decay.kind in {"unknown", "finite"}:
        raise OptionError(
            f"discount={decay.text}: the pseudo-expectation needs the integral of the discount; expected log2, log(b), jarvelin(b), "
            "zipf(b), geometric(b) or linear; simulate lists for others"
        )
    if not model.steps:
        raise OptionError("ybar is 0 everywhere: without relevant documents NDCG is 0/0; expected p > 0")
    if np.ndim(n):
        lengths = [_length(each) for each in cast("Sequence[int]", n)]
        return np.array([_value(model, decay, growth, each, corrected=corrected) for each in lengths], np.float64)
    return _value(model, decay, growth, _length(cast("int", n)), corrected=corrected)


def _length(n: int | float) -> int:
    try:
        whole = int(n)
    except (TypeError, ValueError, OverflowError):
        whole = 0
    if whole < 2 or whole != n:
        raise OptionError(f"n={n!r}: expected a whole number of documents, at least 2")
    return whole


def _value(model: RelevanceModel, decay: Decay, growth: Growth, n: int, *, corrected: bool) -> float:
    log_share = growth.log_share(n)
    if decay.kind == "linear":
        return linear_corrected(model, n, log_share) if corrected else linear_definition(model, n, log_share)
    seen = ScaledDecay(decay, math.log(n))
    above, below = gathered(model, seen, log_share), ideal(model, seen, log_share, corrected=corrected)
    if corrected:
        above += seen.kappa * model.at_top
    last = seen.log_n + min(log_share, math.log(model.share))
    if not corrected and last <= _AT_ONE:
        raise OptionError(
            f"Definition 20 integrates the ideal from rank 1 to min(k, n p), which is {math.exp(last):g} here, "
            "and is 0/0; take a longer list or a deeper cutoff, or corrected=True"
        )
    return above / below
