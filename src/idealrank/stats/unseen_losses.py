"""Rare large losses that a sample may miss: a test and a bound of a mean from the largest loss of a
query, for any distribution.
"""

import math
from collections.abc import Callable

import numpy as np

from idealrank.data.types import AnyArray, FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.design import Design
from idealrank.stats.effects import queries_for_skew, skewness
from idealrank.stats.roots import root_between
from idealrank.stats.tolerance import ROUNDING
from idealrank.stats.values import open_share

_NEGLIGIBLE = 1e-17  # as a share of the largest term of the integral
_CONVERGED = 1e-11  # relative change of the integral from one step to the next
_HALVINGS = 60  # of an interval, down to the digits of a float
_STEPS = 12  # halvings of the step; four are enough for all but a few queries
_CHUNK = 1 << 20  # complex numbers at once


def unseen_loss_p(
    differences: FloatArray, margin: float, largest_loss: float, *, design: Design | None = None
) -> float:
    r"""Test that the mean difference is above ``-margin``, when a query may lose up to
    `largest_loss`.

    With weights ``w_j`` drawn from a flat Dirichlet law over the n queries and one more, which
    loses the most possible, p is the probability that the weighted mean is at most ``-margin``. If
    no query lost anything, p is ``(1 - margin / largest_loss)^n``, the rule of three; for queries
    that lose all or nothing it is the exact binomial p value of Clopper and Pearson. With many
    queries it approaches that of the t test, which is too small for skewed differences of few
    queries.

    Parameters
    ----------
    differences : float64 array, shape (queries,)
        Differences b - a, none below ``-largest_loss``.
    margin : float
        Loss to rule out, at least 0. With 0, the test is that the mean is above 0.
    largest_loss : float
        Greatest loss that one query can have, above the margin.
    design : Design, optional
        Weights and clusters. The added unit has the weight of the heaviest one.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    InputError
        A query loses more than the largest loss.
    OptionError
        The margin is below 0, or the largest loss not finite or not above the margin.

    Notes
    -----
    That p at most alpha has a probability of at most alpha is proved for two values and a
    conjecture in general, without a known counterexample.

    References
    ----------
    Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a
    nonnegative variable. Mathematical Methods of Statistics 14. Learned-Miller and Thomas (2020), A
    new confidence interval for the mean of a bounded random variable, arXiv:1905.06208.

    Examples
    --------
    >>> unseen_loss_p(np.zeros(50), 0.02, 1.0), 0.98**50  # doctest: +ELLIPSIS
    (0.36416968..., 0.36416968...)
    """
    values, design = _checked(differences, largest_loss, design)
    if not 0 <= margin < largest_loss:
        raise OptionError(
            f"margin={margin:g}: expected a loss of at least 0 and below "
            f"largest_loss={largest_loss:g}, the greatest loss that one query can have"
        )
    return _p(design.unit_totals(values), _unit_weights(design), margin, largest_loss)


def unseen_loss_bound(
    differences: FloatArray,
    largest_loss: float,
    *,
    alpha: float = 0.05,
    design: Design | None = None,
) -> float:
    """Lower confidence bound of the mean difference, when a query may lose up to `largest_loss`.

    The losses that `unseen_loss_p` rules out at the level alpha are those beyond the bound.

    Parameters
    ----------
    differences, largest_loss, design
        As for `unseen_loss_p`.
    alpha : float
        One minus the confidence level, in (0, 1).

    Returns
    -------
    float
        From ``-largest_loss`` to the mean difference.

    Raises
    ------
    InputError, OptionError
        As for `unseen_loss_p`.

    Examples
    --------
    >>> round(unseen_loss_bound(np.zeros(50), 1.0), 6), round(0.05 ** (1 / 50) - 1, 6)
    (-0.058155, -0.058155)
    """
    open_share("alpha", alpha)
    values, design = _checked(differences, largest_loss, design)
    totals = design.unit_totals(values)
    weights = _unit_weights(design)

    def excess(loss: float) -> float:
        return _p(totals, weights, loss, largest_loss) - alpha

    # A loss below every observed one has p = 1; only if every query loses most, the largest has it,
    # too.
    if excess(largest_loss) >= 0:
        return -largest_loss
    return -root_between(excess, -float(values.max()), largest_loss)


def queries_without_loss(margin: float, largest_loss: float, alpha: float = 0.05) -> int:
    """Return the fewest queries that rule out a mean loss of the margin if none of them loses
    anything.

    Parameters
    ----------
    margin, largest_loss : float
        As for `unseen_loss_p`.
    alpha : float
        Level of the test, in (0, 1).

    Returns
    -------
    int
        About ``3 largest_loss / margin`` at the level 0.05.

    Raises
    ------
    OptionError
        A number is out of range.

    References
    ----------
    Hanley and Lippman-Hand (1983), If nothing goes wrong, is everything all right? JAMA 249,
    1743-1745.

    Examples
    --------
    >>> queries_without_loss(0.01, 1.0), queries_without_loss(0.01, 0.3)
    (299, 89)
    """
    open_share("alpha", alpha)
    if not 0 < margin < largest_loss < math.inf:
        raise OptionError(
            f"margin={margin:g}, largest_loss={largest_loss:g}: expected a margin above 0 and a "
            "finite largest loss above it"
        )
    return math.ceil(math.log(alpha) / math.log1p(-margin / largest_loss) - ROUNDING)


def error_rate_known(
    differences: FloatArray, largest_loss: float, alpha: float, *, design: Design | None = None
) -> bool:
    """Return whether a test that finds the mean above 0 has a known error rate, whatever rare
    losses these queries lack.
    """
    design = Design.of(differences.size) if design is None else design
    if design.n_units >= queries_for_skew(skewness(differences), design.n_units):
        return True
    if (
        not alpha
        or not math.isfinite(largest_loss)
        or differences.min() < -largest_loss * (1 + ROUNDING)
    ):
        return False
    totals = design.unit_totals(differences)
    weights = _unit_weights(design)
    # By Jensen's inequality p is at least exp(-E max(S, 0) / w), where S is the weighted total and
    # w the size of the loss added, and E max(S, 0) is at most the root of E S^2: most verdicts that
    # the bound does not support need no integral.
    root_mean_square = math.sqrt(float(totals.sum() ** 2 + (totals**2).sum()))
    if root_mean_square < -math.log(alpha) * largest_loss * weights.max():
        return False
    return _p(totals, weights, 0.0, largest_loss) <= alpha


def _checked(
    differences: FloatArray, largest_loss: float, design: Design | None
) -> tuple[FloatArray, Design]:
    values = np.asarray(differences, np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise InputError(
            f"differences: found shape {values.shape}, expected a finite number for each of one or "
            "more queries"
        )
    if not 0 < largest_loss < math.inf:
        raise OptionError(f"largest_loss={largest_loss!r}: expected a finite loss above 0")
    worst = int(values.argmin())
    if values[worst] < -largest_loss * (1 + ROUNDING):
        raise InputError(
            f"largest_loss={largest_loss:g}: found a loss of {-values[worst]:g} of query {worst}; "
            "expected the greatest loss that any query can have, such as the range of the measure"
        )
    return values, Design.of(values.size) if design is None else design


def _unit_weights(design: Design) -> FloatArray:
    return design.unit_totals(np.ones(design.n))


def _p(totals: FloatArray, weights: FloatArray, margin: float, largest_loss: float) -> float:
    """P value from the totals and the weights of the units."""
    above = totals + margin * weights
    above[np.abs(above) <= ROUNDING * np.maximum(np.abs(totals), margin * weights)] = 0.0
    added_loss = -(largest_loss - margin) * weights.max()  # of the unit that loses the most
    factors, counts = np.unique(above[above != 0], return_counts=True)
    return _chance_below_zero(
        np.append(factors, added_loss), np.append(counts, 1).astype(np.float64)
    )


def _chance_below_zero(factors: FloatArray, counts: FloatArray) -> float:
    """Probability that a sum of exponentials with these factors, each so many times, is below 0."""
    if factors.max() <= 0:
        return 1.0
    if factors.min() >= 0:
        return 0.0
    scale = float(np.abs(factors).max())
    factors = factors / scale
    if (counts * factors).sum() > 0:  # the smaller tail keeps its digits
        return min(1.0, _tail(-factors, counts))
    return max(0.0, 1.0 - _tail(factors, counts))


def _tail(factors: FloatArray, counts: FloatArray) -> float:
    """Probability that a sum of weighted exponentials, whose mean is at most 0, is above 0.

    The moment generating function over its argument is integrated parallel to the imaginary axis.
    """
    # The path crosses the real axis at the saddle point, where the terms are largest and fall fast
    # to both sides; a sinh of the distance makes them fall faster still.
    rightmost = 1 / float(factors.max())

    def slope(point: float) -> float:  # of the logarithm of the terms
        return float((counts * factors / (1 - factors * point)).sum()) - 1 / point

    edge = rightmost * (1 - 1e-15)
    saddle = _rising_zero(slope, rightmost * 1e-15, edge) if slope(edge) > 0 else edge
    factors_at_saddle = factors / (1 - factors * saddle)
    width = 1 / math.sqrt(float((counts * factors_at_saddle**2).sum()) + 1 / saddle**2)
    log_height = -float((counts * np.log1p(-factors * saddle)).sum()) - math.log(saddle)

    def terms(u: FloatArray) -> AnyArray:
        t = width * np.sinh(u)
        logs = np.zeros(u.size, np.complex128)
        step = max(1, _CHUNK // u.size)
        for first in range(0, factors.size, step):
            part = slice(first, first + step)
            ratios = np.multiply.outer(t, -1j * factors_at_saddle[part])
            logs -= (np.log1p(ratios) * counts[part]).sum(axis=1)
        logs -= np.log1p(1j * t / saddle)
        return np.asarray(np.exp(logs) * width * np.cosh(u))

    return math.exp(log_height) * _integral(terms) / math.pi


def _rising_zero(function: Callable[[float], float], low: float, high: float) -> float:
    """Zero of a rising function, by halving: every comparison asks for one, and SciPy's roots take
    a tenth of a second to load.
    """
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return low


def _integral(terms: Callable[[FloatArray], AnyArray]) -> float:
    """Integral from 0 on of the real part, by halving the step."""
    step = 0.25
    points: FloatArray = np.arange(0.0, 4.0, step, dtype=np.float64)
    values = terms(points)
    while np.abs(values[-4:]).max() > _NEGLIGIBLE * np.abs(values).max():
        points = np.asarray(points[-1] + step * np.arange(1, 17), np.float64)
        values = np.concatenate([values, terms(points)])
    end = values.size * step
    total = step * (float(np.real(values).sum()) - float(np.real(values[0])) / 2)
    for _ in range(_STEPS):
        midpoints = terms(np.arange(step / 2, end, step))
        finer = total / 2 + step / 2 * float(np.real(midpoints).sum())
        if abs(finer - total) <= _CONVERGED * abs(finer):
            return finer
        step = step / 2
        total = finer
    return total
