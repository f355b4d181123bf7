"""Non-inferiority and equivalence: tests that a difference is smaller than a margin, which the user
must give.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from idealrank.data.types import FloatArray
from idealrank.errors import OptionError
from idealrank.stats.design import Design, student_mean
from idealrank.stats.effects import in_units
from idealrank.stats.intervals import (
    N_RESAMPLES,
    Alternative,
    Interval,
    Method,
    difference_interval,
)
from idealrank.stats.paired_tests import t_tail
from idealrank.stats.randomness import RandomLike
from idealrank.stats.tolerance import ROUNDING, largest_of, subtracted
from idealrank.stats.unseen_losses import unseen_loss_p
from idealrank.stats.values import (
    DifferenceTest,
    cell,
    columns_of,
    design_of,
    figure,
    open_share,
    paired,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginTest(DifferenceTest):
    """Test against a margin: numbers for one column of values, arrays (measures,) for several.

    Parameters
    ----------
    claim : str
        "not worse" (non-inferior) or "equivalent".
    margin : float or float64 array
        Margin, in units of the measure.
    shown : bool or bool array
        Whether the interval lies within the margin. False does not prove the contrary.
    p : float or float64 array
        p value of the t test; NaN for other methods, which decide by their interval.
    difference, low, high : float or float64 array
        Mean of b minus mean of a, and the interval that decides.
    alpha : float
        Probability that a difference equal to the margin is called within it.
    level : float
        Confidence level of the interval: 1 - alpha, one-sided, for "not worse"; 1 - 2 alpha for
        "equivalent".
    method : str
        Method of the interval.
    n : int
        Number of queries.
    note : str
        Special cases; otherwise empty.

    Examples
    --------
    >>> print(non_inferiority([0.2, 0.5, 0.5, 0.9], [0.3, 0.5, 0.6, 0.9], margin=0.05))
    shown, p = 0.0203: b is not worse than a by 0.05; b - a = 0.05 [-0.01794, inf] (95 % t interval, 4 queries)
    """  # noqa: E501

    claim: str
    margin: Any
    shown: Any
    alpha: float
    n: int

    def __str__(self) -> str:
        claim = "not worse than a by" if self.claim == "not worse" else "equivalent to a within"
        lines = [self._line(column, claim) for column in range(np.size(self.difference))]
        note = f"; {self.note}" if self.note else ""
        return (
            "\n".join(lines)
            + f" ({100 * self.level:g} % {self.method} interval, {self.n} queries{note})"
        )

    def _line(self, column: int, claim: str) -> str:
        number = partial(cell, column=column)
        shown = "shown" if number(self.shown) else "not shown"
        p = "" if np.isnan(number(self.p)) else f", p = {number(self.p):.3g}"
        return (
            f"{shown}{p}: b is {claim} {number(self.margin):g}; b - a = "
            f"{number(self.difference):.4g} [{number(self.low):.4g}, {number(self.high):.4g}]"
        )


def non_inferiority(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    margin: npt.ArrayLike,
    *,
    alpha: float = 0.05,
    method: Method = "t",
    largest_loss: float | None = None,
    design: Design | None = None,
    n_resamples: int = N_RESAMPLES,
    rng: RandomLike = None,
    threads: int | None = None,
) -> MarginTest:
    """Test that b is not worse than a by the margin or more.

    Parameters
    ----------
    a, b : array, shape (queries,) or (queries, measures)
        Values of two systems, query by query; higher is better.
    margin : float, or array (measures,)
        Smallest loss that is not acceptable, above 0, in units of the measure. Choose it before
        looking at the data.
    alpha : float
        Probability that a loss equal to the margin passes.
    method : {"t", "percentile", "basic", "bca", "studentised"}
        Method of the interval, whose lower bound must lie above -margin.
    largest_loss : float, optional
        Greatest loss that one query can have, above the margin, such as the range of the measure:
        the test then reckons with rare losses that these queries do not show (`unseen_loss_p`), and
        its error rate is at most alpha for skewed differences, too. Without it, the test assumes
        that no such losses exist.
    design, n_resamples, rng, threads
        As for `difference_interval`.

    Returns
    -------
    MarginTest

    Raises
    ------
    InputError
        As for `difference_interval`.
    OptionError
        The margin or another option has an invalid value.

    References
    ----------
    Wellek (2010), Testing Statistical Hypotheses of Equivalence and Noninferiority, 2nd edition,
    chapters 2 and 5.

    Examples
    --------
    >>> bool(non_inferiority([0.2, 0.5, 0.5, 0.9], [0.3, 0.5, 0.6, 0.8], margin=0.02).shown)
    False
    """
    open_share("alpha", alpha)
    options: dict[str, Any] = {
        "design": design,
        "n_resamples": n_resamples,
        "rng": rng,
        "threads": threads,
    }
    interval = difference_interval(
        a, b, level=1 - alpha, method=method, alternative="greater", **options
    )
    margins = _margins(margin, interval)
    p = _t_p(a, b, design, method, ((margins, "greater"),))
    shown = _inside(interval.low, margins, a, b)
    if largest_loss is not None:
        p, shown = _with_unseen((p, shown), _unseen(a, b, margins, largest_loss, design), alpha)
    return _test(
        claim="not worse", interval=interval, margin=margins, shown=shown, p=p, alpha=alpha
    )


def equivalence(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    margin: npt.ArrayLike,
    *,
    alpha: float = 0.05,
    method: Method = "t",
    largest_loss: float | None = None,
    design: Design | None = None,
    n_resamples: int = N_RESAMPLES,
    rng: RandomLike = None,
    threads: int | None = None,
) -> MarginTest:
    """Test that b differs from a by less than the margin in both directions: two one-sided tests
    (TOST).

    Parameters
    ----------
    a, b, alpha, largest_loss, design, n_resamples, rng, threads
        As for `non_inferiority`.
    margin : float, or array (measures,)
        Smallest difference that matters, above 0.
    method : {"t", "percentile", "basic", "bca", "studentised"}
        Method of the interval of level 1 - 2 alpha, which must lie between -margin and margin.

    Returns
    -------
    MarginTest
        p is the larger p value of the two tests.

    Raises
    ------
    InputError, OptionError
        As for `non_inferiority`; alpha must be below 0.5.

    References
    ----------
    Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach for
    assessing the equivalence of average bioavailability. Journal of Pharmacokinetics and
    Biopharmaceutics 15.

    Examples
    --------
    >>> print(equivalence([0.2, 0.5, 0.5, 0.9], [0.2, 0.5, 0.51, 0.9], margin=0.02))
    shown, p = 0.00299: b is equivalent to a within 0.02; b - a = 0.0025 [-0.003383, 0.008383] (90 % t interval, 4 queries)
    """  # noqa: E501
    open_share("alpha", alpha)
    if alpha >= 0.5:
        raise OptionError(
            f"alpha={alpha!r}: expected a number below 0.5, for the interval has the level 1 - 2 "
            "alpha"
        )
    options: dict[str, Any] = {
        "design": design,
        "n_resamples": n_resamples,
        "rng": rng,
        "threads": threads,
    }
    interval = difference_interval(a, b, level=1 - 2 * alpha, method=method, **options)
    margins = _margins(margin, interval)
    p = _t_p(a, b, design, method, ((margins, "greater"), (-margins, "less")))
    shown = _inside(interval.low, margins, a, b) & _inside(-interval.high, margins, a, b)
    if largest_loss is not None:
        unseen = np.maximum(
            _unseen(a, b, margins, largest_loss, design),
            _unseen(b, a, margins, largest_loss, design),
        )
        p, shown = _with_unseen((p, shown), unseen, alpha)
    return _test(
        claim="equivalent", interval=interval, margin=margins, shown=shown, p=p, alpha=alpha
    )


def _unseen(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    margin: FloatArray,
    largest_loss: float,
    design: Design | None,
) -> FloatArray:
    """P values against rare losses of b that the sample does not show, by column."""
    first, second = paired(a, b)
    differences = subtracted(first, second).reshape(first.shape[0], -1)
    columns = zip(differences.T, margin.tolist(), strict=True)
    return np.array(
        [
            unseen_loss_p(column, column_margin, largest_loss, design=design)
            for column, column_margin in columns
        ]
    )


def _with_unseen(
    tested: tuple[FloatArray, Any], unseen: FloatArray, alpha: float
) -> tuple[FloatArray, Any]:
    """The larger p value, and what both show; a method without a p value gets none."""
    p, shown = tested
    return np.maximum(p, unseen), np.asarray(shown) & (unseen <= alpha)


def _inside(low: Any, margin: FloatArray, a: npt.ArrayLike, b: npt.ArrayLike) -> Any:
    """Return whether a bound lies above -margin by more than rounding."""
    largest = np.atleast_1d(largest_of(*paired(a, b)))
    return low + margin > ROUNDING * np.maximum(largest, margin)


def _margins(margin: npt.ArrayLike, interval: Interval) -> FloatArray:
    """One margin for each column."""
    margins = columns_of("margin", np.atleast_1d(np.asarray(margin, np.float64)))
    columns = np.atleast_1d(interval.estimate).size
    if margins.size not in {1, columns} or margins.ndim > 1 or (margins <= 0).any():
        raise OptionError(
            f"margin={margin!r}: expected a number above 0 in the units of the measure, or one for "
            f"each of the {columns} columns; it is the loss that would just matter to users"
        )
    return np.broadcast_to(margins, (columns,))


def _t_p(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    design: Design | None,
    method: str,
    tests: "tuple[tuple[FloatArray, Alternative], ...]",
) -> FloatArray:
    """The largest p of the one-sided t tests of the difference plus a shift; NaN for methods that
    have none.
    """
    if method != "t":
        shift, _ = tests[0]
        return np.full(shift.size, np.nan)
    # A margin test is a t test of the difference shifted by the margin.
    first, second = paired(a, b)
    design = design_of(design, first.shape[0])
    largest = np.atleast_1d(largest_of(first, second))
    means = student_mean(subtracted(first, second).reshape(design.n, -1), design, largest)
    p_values = []
    for shift, side in tests:
        shifted = means.mean + shift
        shifted[np.abs(shifted) <= ROUNDING * np.maximum(largest, np.abs(shift))] = 0.0
        p_values.append(t_tail(in_units(shifted, means.se), means.df, side))
    return np.asarray(np.max(p_values, axis=0), np.float64)


def _test(
    claim: str, interval: Interval, margin: FloatArray, shown: Any, p: FloatArray, alpha: float
) -> MarginTest:
    like = np.empty(1 if np.ndim(interval.estimate) == 0 else (1, 1))  # for its shape alone
    return MarginTest(
        claim=claim,
        margin=figure(margin, like),
        shown=figure(shown, like),
        p=figure(p, like),
        difference=interval.estimate,
        low=interval.low,
        high=interval.high,
        alpha=alpha,
        level=interval.level,
        method=interval.method,
        n=interval.n,
        note=interval.note,
    )
