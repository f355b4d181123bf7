"""The mean under a design, and its variance by linearisation."""

from dataclasses import dataclass

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError
from idealrank.stats.design import Design
from idealrank.stats.tolerance import ROUNDING, largest_of


@dataclass(frozen=True, eq=False)
class LinearMean:
    """Means of columns with what their precision follows from.

    Parameters
    ----------
    mean, se : float64 array, shape (m,)
        Weighted means, and their standard errors: infinite where one unit is all there is.
    df : int
        Degrees of freedom: units less strata.
    parts : float64 array, shape (n_units, m)
        What each unit adds to the mean, centred in its stratum: the empirical influence.
    constant : bool array, shape (m,)
        Where the values do not vary but for rounding, so that the standard error is 0.
    rounding : float64 array, shape (m,)
        What counts as such: 1e-12 of the largest value.
    """

    mean: FloatArray
    se: FloatArray
    df: int
    parts: FloatArray
    constant: BoolArray
    rounding: FloatArray


def strata_of(design: Design) -> list[IntArray]:
    """The units of each stratum; one stratum where the design has none.

    Raises
    ------
    InputError
        A stratum has a single unit.

    Examples
    --------
    >>> [units.tolist() for units in strata_of(Design.of(4, strata=["a", "b", "a", "b"]))]
    [[0, 2], [1, 3]]
    """
    codes = design.unit_strata()
    if codes is None or design.n_units == 1:
        return [np.arange(design.n_units)]
    sizes = np.bincount(codes)
    if sizes.min() < 2:
        unit = int(np.flatnonzero(codes == sizes.argmin())[0])
        of = "cluster" if design.clusters is not None else "query"
        raise InputError(
            f"the stratum of {of} {unit} has no other {of}; expected at least 2 in each stratum, since one shows no variance: "
            "merge it with the stratum most like it"
        )
    return [np.flatnonzero(codes == code) for code in range(sizes.size)]


def linear_mean(values: FloatArray, design: Design, largest: FloatArray | None = None) -> LinearMean:
    """Means with standard errors of values, shape (n, m).

    The mean is the ratio of weighted sums, and its variance that of ``e = w (x - mean) / n``, summed by unit and centred by stratum:
    ``sum_h n_h/(n_h - 1) sum_u (e_hu - mean_h(e))^2``. Without weights, strata and clusters this is ``s^2/n``. A standard error, times
    sqrt(n), within 1e-12 of `largest` is 0, and a mean with it: that is the largest value that the values come from, shape (m,), by
    default their own.

    References
    ----------
    Binder (1983), On the variances of asymptotically normal estimators from complex surveys. International Statistical Review 51.
    Cochran (1977), Sampling Techniques, 3rd edition, sections 5.3 and 6.4.

    Examples
    --------
    >>> found = linear_mean(np.array([[0.0], [0.5], [1.0]]), Design.of(3))
    >>> found.mean, found.se.round(4), found.df
    (array([0.5]), array([0.2887]), 2)
    """
    mean = np.asarray(design.mean(values), np.float64)
    rounding = np.asarray(ROUNDING * (largest_of(values) if largest is None else largest), np.float64)
    parts = design.unit_totals(values - mean) / design.n
    strata = strata_of(design)
    if design.n_units == 1:
        infinite = np.full(mean.shape, np.inf)
        return LinearMean(mean, infinite, 0, parts, np.zeros(mean.shape, np.bool_), rounding)
    variance = np.zeros_like(mean)
    for units in strata:
        centred = parts[units] - parts[units].mean(axis=0)
        parts[units] = centred
        variance += units.size / (units.size - 1) * (centred**2).sum(axis=0)
    se = np.sqrt(variance)
    constant = se * np.sqrt(design.n) <= rounding
    mean = np.where(constant & (np.abs(mean) <= rounding), 0.0, mean)
    return LinearMean(mean, np.where(constant, 0.0, se), design.n_units - len(strata), parts, constant, rounding)
