"""Power of the sign-flip test by simulation from pilot data: no normal law, and the zeros and skew of the pilot stay."""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import stats

from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.randomness import RandomLike, generator_of, whole_number
from idealrank.stats.roots import root_between
from idealrank.stats.threads import in_order
from idealrank.stats.tolerance import ROUNDING
from idealrank.stats.value_columns import chosen, columns_of, open_share

Alternative: TypeAlias = Literal["tilt", "shift"]

_TRIALS = 50  # of a block, which share their flips
_ENTRIES = 1 << 22  # of the table of signs at a time


@dataclass(frozen=True)
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
    >>> print(SimulatedPower(50, 0.02, 0.81, 0.009, 0.05, 2000))
    50 queries find a difference of 0.02 with chance 0.81 (standard error 0.009, 2000 simulated comparisons, alpha 0.05)
    """

    n: int
    effect: float
    power: float
    standard_error: float
    alpha: float
    trials: int

    def __str__(self) -> str:
        return (
            f"{self.n} queries find a difference of {self.effect:.3g} with chance {self.power:.3g}"
            f" (standard error {self.standard_error:.2g}, {self.trials} simulated comparisons, alpha {self.alpha:g})"
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

    Each trial draws n differences from the pilot with replacement and tests their mean, two-sided, by `n_resamples` random sign flips.

    Parameters
    ----------
    differences : float array, shape (queries,)
        ``b - a`` of the pilot.
    n : int
        Number of queries of the planned comparison.
    effect : float, optional
        True mean difference; default that of the pilot, in which case an overestimate makes the plan too small.
    alternative : {"tilt", "shift"}
        How the pilot is given that mean. ``tilt`` draws the pilot's queries with probabilities proportional to ``exp(c d)``: queries
        without a difference keep none, and no difference exceeds the largest observed. ``shift`` adds the same number to every query.
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
        `effect` is not between the smallest and the largest difference of the pilot (``tilt``), or there are too few flips for `alpha`.

    Examples
    --------
    >>> seen = np.array([0.0] * 30 + [0.1, 0.2, -0.1, 0.3, 0.05, -0.05, 0.2, 0.1, -0.2, 0.1])
    >>> flip_power(seen, 100, 0.03, trials=400, rng=1).power > 0.7
    True
    """
    chosen("alternative", alternative, ("tilt", "shift"))
    open_share("alpha", alpha)
    size, count = whole_number("n", n, 2), whole_number("trials", trials)
    flips = whole_number("n_resamples", n_resamples)
    if (flips + 1) * alpha < 1:
        raise OptionError(
            f"n_resamples={flips}: no p value of so few flips is {alpha:g} or less; expected at least {math.ceil(1 / alpha) - 1}"
        )
    values, chances = _population(columns_of("differences", differences), effect, alternative)
    blocks = -(-count // _TRIALS)
    seeds = generator_of(rng).bit_generator.seed_seq.spawn(blocks)  # type: ignore[attr-defined]

    def found(block: int) -> int:
        generator = np.random.default_rng(seeds[block])
        columns = min(_TRIALS, count - block * _TRIALS)
        drawn = generator.choice(values, size=(size, columns), p=chances)
        return int((_flip_p(drawn, flips, generator) <= alpha).sum())

    power = sum(in_order(found, blocks, threads)) / count
    error = math.sqrt(max(power * (1 - power), 1 / count) / count)
    return SimulatedPower(size, float(values @ chances), power, error, alpha, count)


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

    The normal inverse of power is nearly linear in sqrt(n): the search makes a guess, simulates four points along the line, and fits it.

    Returns
    -------
    SimulatedPower
        At the number of queries found; its power differs from the requested power by Monte Carlo error.

    Examples
    --------
    >>> seen = np.array([0.0] * 30 + [0.1, 0.2, -0.1, 0.3, 0.05, -0.05, 0.2, 0.1, -0.2, 0.1])
    >>> found = flip_queries_needed(seen, 0.03, trials=200, n_resamples=199, rng=1)
    >>> 60 < found.n < 120, abs(found.power - 0.8) < 0.12
    (True, True)
    """
    open_share("power", power)
    values, chances = _population(columns_of("differences", differences), effect, alternative)
    mean = float(values @ chances)
    if mean == 0:
        raise OptionError("an effect of 0: no number of queries finds it; expected another effect")
    generator = generator_of(rng)
    options: dict[str, Any] = {"alternative": alternative, "alpha": alpha, "trials": trials, "n_resamples": n_resamples, "threads": threads}
    # p values of n flips are at least 2^(1 - n): fewer queries than this cannot reach alpha.
    fewest = max(2, math.ceil(1 - math.log2(alpha)))
    wanted, critical = stats.norm.ppf(power), stats.norm.isf(alpha / 2)
    slope = abs(mean) / math.sqrt(float((values - mean) ** 2 @ chances))
    for _ in range(4):
        n = max(fewest, math.ceil(((wanted + critical) / slope) ** 2))
        seen = flip_power(differences, n, effect, rng=generator, **options)
        share = min(max(seen.power, 0.5 / trials), 1 - 0.5 / trials)
        slope = max((stats.norm.ppf(share) + critical) / math.sqrt(n), slope / 3)
    n = max(fewest, math.ceil(((wanted + critical) / slope) ** 2))
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
    """Simulate the smallest improvement that a sign-flip test of n queries detects with a given power, from a pilot.

    See `flip_power` for the parameters; `power` is the power to reach. With ``tilt``, the effect cannot exceed the largest difference of
    the pilot.

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
    options: dict[str, Any] = {"alternative": alternative, "alpha": alpha, "trials": trials, "n_resamples": n_resamples, "threads": threads}
    wanted, critical = float(stats.norm.ppf(power)), float(stats.norm.isf(alpha / 2))
    highest = math.inf if alternative == "shift" else 0.95 * float(values.max())
    if not (values.std() > ROUNDING * float(np.abs(values).max()) and highest > 0):
        raise OptionError('the pilot has no improvement to draw from; expected differences above 0, or alternative="shift"')
    effect: float = min((wanted + critical) * float(values.std()) / math.sqrt(n), highest)
    for _ in range(4):
        seen = flip_power(differences, n, effect, rng=generator, **options)
        share = min(max(seen.power, 0.5 / trials), 1 - 0.5 / trials)
        factor = (wanted + critical) / max(stats.norm.ppf(share) + critical, (wanted + critical) / 3)
        effect = float(min(effect * factor, highest))
    found = flip_power(differences, n, effect, rng=generator, **options)
    if effect == highest and found.power < power - 5 * found.standard_error:
        raise OptionError(
            f"{n} queries find a difference of {effect:.3g}, near the largest of the pilot, with chance {found.power:.3g} only; "
            'expected more queries, or alternative="shift"'
        )
    return found


def _population(differences: FloatArray, effect: float | None, alternative: str) -> tuple[FloatArray, FloatArray]:
    """Values, and the chances with which they are drawn, whose mean is the effect."""
    if differences.ndim != 1 or differences.size < 2:
        raise InputError(f"differences of shape {differences.shape}, expected (queries,), at least 2")
    alike = np.full(differences.size, 1 / differences.size)
    if effect is None:
        return differences, alike
    if not math.isfinite(effect):
        raise OptionError(f"effect={effect!r}: expected a finite number")
    if alternative == "shift":
        return differences + (effect - differences.mean()), alike
    low, high = float(differences.min()), float(differences.max())
    if not low < effect < high:
        raise OptionError(f'effect={effect!r}: the differences of the pilot lie between {low:g} and {high:g}; use alternative="shift"')
    scaled = differences / np.abs(differences).max()

    def tilted(strength: float) -> FloatArray:
        logs = strength * scaled
        grown = np.exp(logs - logs.max())
        return np.asarray(grown / grown.sum())

    reach = 1.0
    while not tilted(-reach) @ differences <= effect <= tilted(reach) @ differences:
        reach *= 2
    strength = root_between(lambda tilt: float(tilted(tilt) @ differences) - effect, -reach, reach, within=1e-13)
    return differences, tilted(strength)


def _flip_p(drawn: FloatArray, n_resamples: int, generator: np.random.Generator) -> FloatArray:
    """Two-sided p of the sign-flip test of each column, all under the same flips."""
    seen = np.abs(drawn.sum(axis=0)) - ROUNDING * np.abs(drawn).sum(axis=0)
    beyond = np.zeros(drawn.shape[1], np.int64)
    rows = max(1, _ENTRIES // len(drawn))
    for first in range(0, n_resamples, rows):
        signs = generator.integers(0, 2, (min(rows, n_resamples - first), len(drawn)), np.int8).astype(np.float64)
        beyond += (np.abs((2 * signs - 1) @ drawn) >= seen).sum(axis=0)
    return np.asarray((beyond + 1) / (n_resamples + 1))
