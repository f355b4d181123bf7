"""Power of the paired t test and of the sign-flip test: queries needed for a difference, and the
difference that given queries detect.

Power of the sign-flip test is simulated from pilot data: no normal law, and the zeros and skew of
the pilot stay.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import chdtri, gammaincinv, gammaln, nctdtr, ndtr, ndtri, stdtrit

from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.design import Design, student_mean
from idealrank.stats.randomness import RandomLike, generator_of, in_order, whole_number
from idealrank.stats.roots import fewest, root_between
from idealrank.stats.tolerance import ROUNDING
from idealrank.stats.values import above_zero, chosen, columns_of, design_of, open_share

Purpose: TypeAlias = Literal["difference", "non-inferiority", "equivalence"]

_PURPOSES = ("difference", "non-inferiority", "equivalence")
_MOST = 10**12  # queries; beyond, the answer is that none will do
_AS_NORMAL = 10**6  # degrees of freedom from which t is normal to seven digits
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(128)


@dataclass(frozen=True, kw_only=True)
class Pilot:
    """Estimates from a pilot set of queries; see `pilot`.

    Parameters
    ----------
    n : int
        Number of queries.
    df : int or float
        Degrees of freedom of `sd`: the number of queries (or clusters) minus the number of strata,
        or minus 1. With unequal weights, Kish's number of queries of equal weight takes the place
        of their number.
    mean : float
        Mean difference, b - a.
    sd : float
        Standard deviation per query, in units of the measure. With weights, strata or clusters it
        includes the design effect: ``sd / sqrt(n)`` is the standard error of the mean.
    low, high : float
        Interval of `sd`, exact for normal differences; wide for few queries.
    level : float
        Confidence level of that interval.

    Examples
    --------
    >>> print(pilot([0.1, -0.1, 0.2, 0.0, 0.3, 0.0]))
    6 queries: mean difference +0.0833, standard deviation 0.147 a query (0.0919 to 0.361, level 0.95)
    """  # noqa: E501

    n: int
    df: float
    mean: float
    sd: float
    low: float
    high: float
    level: float

    def __str__(self) -> str:
        return (
            f"{self.n} queries: mean difference {self.mean:+.3g}, standard deviation {self.sd:.3g} "
            f"a query ({self.low:.3g} to {self.high:.3g}, level {self.level:g})"
        )


def pilot(differences: Any, *, design: Design | None = None, level: float = 0.95) -> Pilot:
    """Estimate mean and spread of paired differences from a pilot.

    Parameters
    ----------
    differences : float array, shape (queries,)
        ``b - a`` of every query.
    design : Design, optional
        Weights, strata and clusters; the plan is for queries drawn in the same way.
    level : float
        Confidence level of the interval of the standard deviation.

    Raises
    ------
    OptionError
        Fewer than two independent units.

    Examples
    --------
    >>> queries_needed(0.05, pilot([0.1, -0.1, 0.2, 0.0, 0.3, 0.0]))
    70
    """
    open_share("level", level)
    values = columns_of("differences", differences)
    if values.ndim != 1:
        raise OptionError(
            f"differences of shape {values.shape}: a pilot is of one measure, expected shape "
            f"(queries,)"
        )
    design = design_of(design, values.size)
    means = student_mean(values[:, None], design)
    if not means.df:
        units = (
            f"{design.n_units} independent unit"
            if design.n_units == 1
            else "nearly all weight on one unit"
        )
        raise OptionError(f"{units}: expected at least 2, since one shows no spread")
    sd = float(means.se[0]) * math.sqrt(values.size)
    chi_squared = chdtri(means.df, np.array([(1 - level) / 2, (1 + level) / 2]))
    low, high = sd * np.sqrt(means.df / chi_squared)
    return Pilot(
        n=values.size,
        df=means.df,
        mean=float(means.mean[0]),
        sd=sd,
        low=float(low),
        high=float(high),
        level=level,
    )


def t_power(
    n: int,
    effect: float,
    sd: "float | Pilot",
    *,
    alpha: float = 0.05,
    purpose: Purpose = "difference",
    margin: float = 0.0,
) -> float:
    """Compute the power of a paired t test on n queries.

    Parameters
    ----------
    n : int
        Number of queries, at least 2.
    effect : float
        True mean difference, b - a.
    sd : float or Pilot
        Standard deviation of the differences per query, from a pilot or from earlier work.
    alpha : float
        Significance level: two-sided for a difference; one-sided for non-inferiority, and for each
        of the two tests of equivalence.
    purpose : {"difference", "non-inferiority", "equivalence"}
        Success is p <= alpha against: no difference; b worse than a by the margin or more; a
        difference of the margin or more.
    margin : float
        Margin, above 0, for the last two purposes.

    Returns
    -------
    float
        In [0, 1], exact for normal differences: noncentral t, and for equivalence its integral over
        the standard deviation.

    References
    ----------
    Cohen (1988), Statistical Power Analysis, chapter 2. Phillips (1990), Power of the two one-sided
    tests procedure. Journal of Pharmacokinetics and Biopharmaceutics 18, 137-144.

    Examples
    --------
    >>> round(t_power(50, 0.02, 0.05), 4)
    0.7918
    """
    spread, units = _spread(sd)
    _check(alpha, purpose, margin)
    return _power(
        n=whole_number("n", n, 2),
        effect=effect / spread,
        alpha=alpha,
        purpose=purpose,
        margin=margin / spread,
        units=units,
    )


def queries_needed(
    effect: float,
    sd: "float | Pilot",
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    purpose: Purpose = "difference",
    margin: float = 0.0,
) -> int:
    """Compute the number of queries at which a paired t test has a given power.

    Parameters
    ----------
    effect, sd, alpha, purpose, margin
        As for `t_power`.
    power : float
        Power to reach.

    Raises
    ------
    OptionError
        No number of queries suffices: the effect is 0, or at or beyond the margin.

    Examples
    --------
    >>> queries_needed(0.02, 0.05)
    52
    >>> queries_needed(0.0, 0.05, purpose="non-inferiority", margin=0.01)
    156
    """
    spread, units = _spread(sd)
    _check(alpha, purpose, margin)
    open_share("power", power)
    room = {
        "difference": abs(effect),
        "non-inferiority": effect + margin,
        "equivalence": margin - abs(effect),
    }[purpose]
    if not room > 0:
        raise OptionError(
            f"effect={effect!r} with margin={margin!r}: no number of queries shows {purpose} "
            "there; expected an effect other than 0, or within the margin"
        )

    def enough(n: int) -> bool:
        reached = _power(
            n=n,
            effect=effect / spread,
            alpha=alpha,
            purpose=purpose,
            margin=margin / spread,
            units=units,
        )
        return reached >= power

    n_queries = fewest(enough, near=2.0, most=_MOST)
    if n_queries is None:
        raise OptionError(
            f"effect={effect!r}: more than {_MOST:.0e} queries are needed; expected an effect "
            f"nearer to sd={spread:g}"
        )
    return n_queries


def detectable(
    n: int, sd: Any, *, power: float = 0.8, alpha: float = 0.05, purpose: Purpose = "difference"
) -> Any:
    """Compute the smallest difference that a paired t test of n queries detects with a given power.

    Parameters
    ----------
    n : int
        Number of queries, at least 2.
    sd : float, float array of any shape, or Pilot
        Standard deviation of the differences per query; at least 0.
    power, alpha : float
        As for `queries_needed`.
    purpose : {"difference", "non-inferiority", "equivalence"}
        For the last two purposes: the result is the smallest margin that is shown with this power
        if there is no difference.

    Returns
    -------
    float, or float64 array of the shape of `sd`
        In units of the measure. Infinite if no difference is large enough, as for two queries at
        some levels.

    Examples
    --------
    >>> round(detectable(50, 0.05), 4)
    0.0202
    >>> detectable(200, np.array([0.1, 0.2])).round(4)
    array([0.0199, 0.0398])
    """
    chosen("purpose", purpose, _PURPOSES)
    open_share("alpha", alpha)
    open_share("power", power)
    units = 1.0
    if isinstance(sd, Pilot):
        sd, units = _spread(sd)
    spread = np.asarray(sd, np.float64)
    if not (np.isfinite(spread) & (spread >= 0)).all():
        raise OptionError(f"sd={sd!r}: expected finite numbers from 0 on")
    effect = spread * _standard_detectable(whole_number("n", n, 2), power, alpha, purpose, units)
    return float(effect) if spread.ndim == 0 else effect


def half_width(n: Any, sd: float, *, level: float = 0.95) -> Any:
    """Compute half of the width of the t interval of a mean over n queries with standard deviation
    `sd`.

    The rule that '500 to 1,000 queries are stable' depends on the spread: at a standard deviation
    of 0.14 per query, the interval of one system's mean is ±0.0123 at 500 queries and ±0.0087 at
    1,000. For paired differences, which vary less, give their standard deviation.

    Parameters
    ----------
    n : int or int array
        Number of queries, at least 2.
    sd : float
        Standard deviation of the values, or of the differences, per query.
    level : float
        Confidence level of the interval, in (0, 1).

    Examples
    --------
    >>> half_width(np.array([500, 1000]), 0.14).round(4)
    array([0.0123, 0.0087])
    """
    open_share("level", level)
    counts = np.asarray(n)
    if counts.dtype.kind not in "iu" or (counts < 2).any():
        raise OptionError(f"n={n!r}: expected whole numbers from 2 on")
    width = stdtrit(counts - 1, (1 + level) / 2) * above_zero("sd", sd) / np.sqrt(counts)
    return float(width) if counts.ndim == 0 else width


def queries_for_half_width(width: float, sd: float, *, level: float = 0.95) -> int:
    """Compute the number of queries at which the t interval reaches at most `width` to each side.

    Examples
    --------
    >>> queries_for_half_width(0.01, 0.14)
    756
    """
    above_zero("width", width)
    n_queries = fewest(
        lambda n: bool(half_width(n, sd, level=level) <= width), near=2.0, most=_MOST
    )
    if n_queries is None:
        raise OptionError(
            f"width={width!r}: more than {_MOST:.0e} queries are needed; expected a width nearer "
            f"to sd={sd:g}"
        )
    return n_queries


def _spread(sd: "float | Pilot") -> tuple[float, float]:
    """Standard deviation per query, and independent units per query."""
    if isinstance(sd, Pilot):
        return above_zero("standard deviation of the pilot", sd.sd), (sd.df + 1) / sd.n
    return above_zero("sd", sd), 1.0


def _check(alpha: float, purpose: str, margin: float) -> None:
    open_share("alpha", alpha)
    chosen("purpose", purpose, _PURPOSES)
    if purpose == "difference":
        if margin:
            raise OptionError(
                f"margin={margin!r}: a margin is of non-inferiority or equivalence; expected one "
                "of these as the purpose"
            )
    else:
        above_zero("margin", margin)


def _power(n: int, effect: float, alpha: float, purpose: str, margin: float, units: float) -> float:
    """Power with effect and margin in standard deviations."""
    df = n * units - 1
    root = math.sqrt(n)
    if df < 1:
        return 0.0  # fewer than two clusters test nothing
    if purpose == "difference":
        critical = -float(stdtrit(df, alpha / 2))
        return _beyond(critical, df, effect * root) + _beyond(critical, df, -effect * root)
    critical = -float(stdtrit(df, alpha))
    if purpose == "non-inferiority":
        return _beyond(critical, df, (effect + margin) * root)
    return _both_beyond(critical, df, (margin + effect) * root, (margin - effect) * root)


def _beyond(critical: float, df: float, shift: float) -> float:
    """P(noncentral t > critical)."""
    if df > _AS_NORMAL:
        return float(ndtr(shift - critical))
    # Boost's series lose their way for shifts far below 0, where the chance is nil.
    if shift <= -30:
        return 0.0
    below = float(nctdtr(df, shift, critical))
    # the series ends where the chance is 0 or 1 to twelve digits
    return float(shift > critical) if math.isnan(below) else 1 - below


def _both_beyond(critical: float, df: float, below: float, above: float) -> float:
    """P(both one-sided tests succeed): the integral over s of P(critical s - below < Z < above -
    critical s).
    """
    # s is the estimate of the standard deviation as a multiple of the true one: the root of a
    # chi-squared variable over df. Both tests succeed only if critical * s leaves room for Z. The
    # tails of s that are cut have a chance of 1e-17 each, less than rounding.
    lowest = math.sqrt(2 * gammaincinv(df / 2, 1e-17) / df)
    highest = (
        min((below + above) / (2 * critical), math.sqrt(chdtri(df, 1e-17) / df))
        if critical > 0
        else 0.0
    )
    if highest <= lowest:
        return 0.0
    s = lowest + (highest - lowest) * (_NODES + 1) / 2
    chi = df * s * s
    density = df * s * np.exp((df / 2 - 1) * np.log(chi / 2) - chi / 2 - gammaln(df / 2))
    inside = ndtr(above - critical * s) - ndtr(critical * s - below)
    return float((_WEIGHTS * density * inside).sum() * (highest - lowest) / 2)


@lru_cache(maxsize=1024)
def _standard_detectable(n: int, power: float, alpha: float, purpose: str, units: float) -> float:
    """The detectable effect in standard deviations."""

    def excess(size: float) -> float:
        is_effect = purpose == "difference"  # else it is a margin, without an effect
        reached = _power(
            n=n,
            effect=size if is_effect else 0.0,
            alpha=alpha,
            purpose=purpose,
            margin=0.0 if is_effect else size,
            units=units,
        )
        return reached - power

    if excess(0.0) >= 0:
        return 0.0
    high = 4 / math.sqrt(n)
    while excess(high) < 0:
        high *= 2
        if high > 1e6:
            return math.inf
    return root_between(excess, 0.0, high, within=1e-14)


Alternative: TypeAlias = Literal["tilt", "shift"]

_TRIALS = 50  # trials of a block, which share their flips
_ENTRIES = 1 << 22  # entries of the table of signs that is held at a time
_MOST_CORRECTION = 3  # of a guess, by one simulation


@dataclass(frozen=True, kw_only=True)
class SimulatedPower:
    """Power with the error of its simulation.

    Parameters
    ----------
    n : int
        Number of queries in each simulated comparison.
    effect : float
        True mean difference in the simulation.
    power : float
        Share of comparisons with p <= alpha.
    standard_error : float
        Standard error of `power`, from the number of trials.
    alpha : float
        Two-sided significance level.
    trials : int
        Number of simulated comparisons.

    Examples
    --------
    >>> print(
    ...     SimulatedPower(
    ...         n=50, effect=0.02, power=0.81, standard_error=0.009, alpha=0.05, trials=2000
    ...     )
    ... )
    50 queries find a difference of 0.02 with chance 0.81 (standard error 0.009, 2000 simulated comparisons, alpha 0.05)
    """  # noqa: E501

    n: int
    effect: float
    power: float
    standard_error: float
    alpha: float
    trials: int

    def __str__(self) -> str:
        return (
            f"{self.n} queries find a difference of {self.effect:.3g} with chance {self.power:.3g} "
            f"(standard error {self.standard_error:.2g}, {self.trials} simulated comparisons, "
            f"alpha {self.alpha:g})"
        )


def flip_power(
    differences: Any,
    n: int,
    effect: float | None = None,
    *,
    alternative: Alternative = "tilt",
    alpha: float = 0.05,
    trials: int = 2000,
    n_resamples: int = 999,
    rng: RandomLike = None,
    threads: int | None = None,
) -> SimulatedPower:
    """Simulate the power of a sign-flip test of n queries like the pilot's.

    Each trial draws n differences from the pilot with replacement and tests their mean, two-sided,
    by `n_resamples` random sign flips.

    Parameters
    ----------
    differences : float array, shape (queries,)
        ``b - a`` of the pilot.
    n : int
        Number of queries of the planned comparison.
    effect : float, optional
        True mean difference; default that of the pilot, in which case an overestimate makes the
        plan too small.
    alternative : {"tilt", "shift"}
        How the pilot is given that mean. ``tilt`` draws the pilot's queries with probabilities
        proportional to ``exp(c d)``: queries without a difference keep none, and no difference
        exceeds the largest observed. ``shift`` adds the same number to every query.
    alpha : float
        Two-sided significance level.
    trials, n_resamples : int
        Number of simulated comparisons, and of sign flips in each.
    rng : Generator, seed or None
        Random generator or seed, the only source of randomness; every 50 trials use a child of it.
    threads : int, optional
        Number of threads; None uses all cores. The result does not depend on it.

    Raises
    ------
    OptionError
        `effect` is not between the smallest and the largest difference of the pilot (``tilt``), or
        there are too few flips for `alpha`.

    Examples
    --------
    >>> seen = np.array([0.0] * 30 + [0.1, 0.2, -0.1, 0.3, 0.05, -0.05, 0.2, 0.1, -0.2, 0.1])
    >>> flip_power(seen, 100, 0.03, trials=400, rng=1).power > 0.7
    True
    """
    chosen("alternative", alternative, ("tilt", "shift"))
    open_share("alpha", alpha)
    size = whole_number("n", n, 2)
    count = whole_number("trials", trials)
    flips = whole_number("n_resamples", n_resamples)
    if (flips + 1) * alpha < 1:
        raise OptionError(
            f"n_resamples={flips}: no p value of so few flips is {alpha:g} or less; expected at "
            f"least {math.ceil(1 / alpha) - 1}"
        )
    values, chances = _population(columns_of("differences", differences), effect, alternative)
    blocks = -(-count // _TRIALS)
    seeds = generator_of(rng).bit_generator.seed_seq.spawn(blocks)  # type: ignore[attr-defined]

    def significant_in(block: int) -> int:
        generator = np.random.default_rng(seeds[block])
        columns = min(_TRIALS, count - block * _TRIALS)
        drawn = generator.choice(values, size=(size, columns), p=chances)
        return int((_flip_p(drawn, flips, generator) <= alpha).sum())

    power = sum(in_order(significant_in, blocks, threads)) / count
    error = math.sqrt(max(power * (1 - power), 1 / count) / count)
    return SimulatedPower(
        n=size,
        effect=float((values * chances).sum()),
        power=power,
        standard_error=error,
        alpha=alpha,
        trials=count,
    )


def flip_queries_needed(
    differences: Any,
    effect: float | None = None,
    *,
    power: float = 0.8,
    alternative: Alternative = "tilt",
    alpha: float = 0.05,
    trials: int = 2000,
    n_resamples: int = 999,
    rng: RandomLike = None,
    threads: int | None = None,
) -> SimulatedPower:
    """Simulate the number of queries at which the sign-flip test has a given power, from a pilot.

    The normal inverse of power is nearly linear in sqrt(n): the search makes a guess, simulates
    four points along the line, and fits it.

    Returns
    -------
    SimulatedPower
        At the number of queries found; its power differs from the requested power by Monte Carlo
        error.

    Examples
    --------
    >>> seen = np.array([0.0] * 30 + [0.1, 0.2, -0.1, 0.3, 0.05, -0.05, 0.2, 0.1, -0.2, 0.1])
    >>> found = flip_queries_needed(seen, 0.03, trials=200, n_resamples=199, rng=1)
    >>> 60 < found.n < 120, abs(found.power - 0.8) < 0.12
    (True, True)
    """
    open_share("power", power)
    values, chances = _population(columns_of("differences", differences), effect, alternative)
    mean = float((values * chances).sum())
    if mean == 0:
        raise OptionError("an effect of 0: no number of queries finds it; expected another effect")
    generator = generator_of(rng)
    options: dict[str, Any] = {
        "alternative": alternative,
        "alpha": alpha,
        "trials": trials,
        "n_resamples": n_resamples,
        "threads": threads,
    }
    # p values of n flips are at least 2^(1 - n): fewer queries than this cannot reach alpha.
    least_n = max(2, math.ceil(1 - math.log2(alpha)))
    distance = ndtri(power) - ndtri(alpha / 2)
    slope = abs(mean) / math.sqrt(float(((values - mean) ** 2 * chances).sum()))
    # power = Phi(slope sqrt(n) + Phi^-1(alpha / 2)): each simulation corrects the slope of the
    # guess before, by a factor of 3 at most, since a share of so few trials may be far off.
    for _ in range(4):
        n = max(least_n, math.ceil((distance / slope) ** 2))
        simulated = flip_power(differences, n, effect, rng=generator, **options)
        slope = max(
            (_finite_deviate(simulated) - ndtri(alpha / 2)) / math.sqrt(n), slope / _MOST_CORRECTION
        )
    n = max(least_n, math.ceil((distance / slope) ** 2))
    return flip_power(differences, n, effect, rng=generator, **options)


def flip_detectable(
    differences: Any,
    n: int,
    *,
    power: float = 0.8,
    alternative: Alternative = "tilt",
    alpha: float = 0.05,
    trials: int = 2000,
    n_resamples: int = 999,
    rng: RandomLike = None,
    threads: int | None = None,
) -> SimulatedPower:
    """Simulate the smallest improvement that a sign-flip test of n queries detects with a given
    power, from a pilot.

    See `flip_power` for the parameters; `power` is the power to reach. With ``tilt``, the effect
    cannot exceed the largest difference of the pilot.

    Returns
    -------
    SimulatedPower
        At the effect found; its power differs from the requested power by Monte Carlo error.

    Raises
    ------
    OptionError
        Even the largest effect that the pilot allows is detected less often.

    Examples
    --------
    >>> seen = np.array([0.0] * 30 + [0.1, 0.2, -0.1, 0.3, 0.05, -0.05, 0.2, 0.1, -0.2, 0.1])
    >>> found = flip_detectable(seen, 100, trials=200, n_resamples=199, rng=1)
    >>> 0.02 < found.effect < 0.05, abs(found.power - 0.8) < 0.12
    (True, True)
    """
    open_share("power", power)
    values, _ = _population(columns_of("differences", differences), None, alternative)
    generator = generator_of(rng)
    options: dict[str, Any] = {
        "alternative": alternative,
        "alpha": alpha,
        "trials": trials,
        "n_resamples": n_resamples,
        "threads": threads,
    }
    critical = float(ndtri(alpha / 2))
    distance = float(ndtri(power)) - critical
    # A tilt gives the largest difference itself only if it leaves nothing else to draw.
    highest = math.inf if alternative == "shift" else 0.95 * float(values.max())
    if not (values.std() > ROUNDING * float(np.abs(values).max()) and highest > 0):
        raise OptionError(
            "the pilot has no improvement to draw from; expected differences above 0, or "
            'alternative="shift"'
        )
    effect: float = min(distance * float(values.std()) / math.sqrt(n), highest)
    for _ in range(4):
        simulated = flip_power(differences, n, effect, rng=generator, **options)
        factor = distance / max(_finite_deviate(simulated) - critical, distance / _MOST_CORRECTION)
        effect = float(min(effect * factor, highest))
    simulated = flip_power(differences, n, effect, rng=generator, **options)
    # five standard errors: more than chance explains
    if effect == highest and simulated.power < power - 5 * simulated.standard_error:
        raise OptionError(
            f"{n} queries find a difference of {effect:.3g}, near the largest of the pilot, with "
            f'chance {simulated.power:.3g} only; expected more queries, or alternative="shift"'
        )
    return simulated


def _finite_deviate(simulated: SimulatedPower) -> float:
    """Normal deviate of a simulated power; none or all of the trials count as half a trial off."""
    least = 0.5 / simulated.trials
    return float(ndtri(min(max(simulated.power, least), 1 - least)))


def _population(
    differences: FloatArray, effect: float | None, alternative: str
) -> tuple[FloatArray, FloatArray]:
    """Values, and the chances with which they are drawn, whose mean is the effect."""
    if differences.ndim != 1 or differences.size < 2:
        raise InputError(
            f"differences of shape {differences.shape}, expected (queries,), at least 2"
        )
    equal_chances = np.full(differences.size, 1 / differences.size)
    if effect is None:
        return differences, equal_chances
    if not math.isfinite(effect):
        raise OptionError(f"effect={effect!r}: expected a finite number")
    if alternative == "shift":
        return differences + (effect - differences.mean()), equal_chances
    low = float(differences.min())
    high = float(differences.max())
    if not low < effect < high:
        raise OptionError(
            f"effect={effect!r}: the differences of the pilot lie between {low:g} and {high:g}; "
            'use alternative="shift"'
        )
    scaled = differences / np.abs(differences).max()

    def tilted(strength: float) -> FloatArray:
        logs = strength * scaled
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def mean(strength: float) -> float:
        return float((tilted(strength) * differences).sum())

    reach = 1.0
    while not mean(-reach) <= effect <= mean(reach):
        reach *= 2
    strength = root_between(lambda tilt: mean(tilt) - effect, -reach, reach, within=1e-13)
    return differences, tilted(strength)


def _flip_p(drawn: FloatArray, n_resamples: int, generator: np.random.Generator) -> FloatArray:
    """Two-sided p of the sign-flip test of each column, all under the same flips."""
    # less the rounding, so that tied sums reach it
    observed = np.abs(drawn.sum(axis=0)) - ROUNDING * np.abs(drawn).sum(axis=0)
    beyond = np.zeros(drawn.shape[1], np.int64)
    rows = max(1, _ENTRIES // len(drawn))
    for first in range(0, n_resamples, rows):
        signs = generator.integers(
            0, 2, (min(rows, n_resamples - first), len(drawn)), np.int8
        ).astype(np.float64)
        beyond += (np.abs((2 * signs - 1) @ drawn) >= observed).sum(axis=0)
    return np.asarray((beyond + 1) / (n_resamples + 1))
