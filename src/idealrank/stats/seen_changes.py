"""Power of a comparison from the differences seen: how many queries change, and by how much.

Power needs a law for the differences under a true difference. Here, the share of queries that
change stays as seen. A query that changes draws one of the sizes seen, and a sign, with weights
proportional to ``exp(c * difference)``; the tilt c sets the mean. Without a tilt, both signs are
equally likely: the law that sign flips test.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.stats.roots import fewest
from idealrank.stats.special import ndtri, stdtrit

FEWEST_CHANGED = 12
"""Independent units that must differ before power is stated of two-sided tests at 0.05; see
`fewest_changed`.
"""

_FINEST = 1e-3  # of the largest size: a finer grid is as good as none
_MOST_ON_GRID = 10_000  # sizes: of more, the sum is as good as continuous on any grid
_MOST = 10**9  # queries; where more are needed, no number is given
_STEEPEST = 1e4  # tilt over the largest size: beyond, every unit that changes has that size
_STEPS = 60  # of a search for a root; ten are usual
_PRECISE = 1e-8  # of a tilt, relative


def fewest_changed(alpha: float) -> int:
    """Count the independent units that must differ before power is stated.

    Signs of m units are as rare as 2^-m: the number grows with the logarithm of the level.
    `experiments/stated_power.py` shows that it is enough for single tests, families and series.
    """
    rarer = math.log(alpha) / math.log(0.025)
    return max(FEWEST_CHANGED, math.ceil(FEWEST_CHANGED * rarer - 1e-9))


class Criterion(NamedTuple):
    """Test that decides, and the power to reach."""

    alpha: float
    power: float
    df: float | None = None
    null: float = 0.0
    by_signs: bool = True


class Moments(NamedTuple):
    """First four moments of a unit's contribution to a statistic."""

    first: float
    second: float
    third: float
    fourth: float

    def less(self, null: float) -> "Moments":
        """Return the moments of the contribution less a constant."""
        first, second, third, fourth = self
        return Moments(
            first=first - null,
            second=second - 2 * null * first + null**2,
            third=third - 3 * null * second + 3 * null**2 * first - null**3,
            fourth=fourth - 4 * null * third + 6 * null**2 * second - 4 * null**3 * first + null**4,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class SeenChanges:
    """Absolute differences of independent units, from which power is computed."""

    sizes: FloatArray = field(repr=False)
    differ: int
    units: int
    scores: FloatArray | None = field(default=None, repr=False)
    tilts: FloatArray | None = field(default=None, repr=False)
    weight_moments: tuple[float, float, float] = (1.0, 1.0, 1.0)

    @classmethod
    def of(
        cls,
        totals: FloatArray,
        *,
        units: int,
        scores: FloatArray | None = None,
        weights: FloatArray | None = None,
    ) -> "SeenChanges":
        """Collect the changes from totals, scores and weights of all units; 0 is no change."""
        changed = totals != 0
        sizes = np.abs(totals[changed])
        changed_scores = None if scores is None else scores[changed]
        if weights is None:
            return cls(sizes=sizes, differ=sizes.size, units=units, scores=changed_scores)
        second, third, fourth = (float((weights**power).mean()) for power in (2, 3, 4))
        return cls(
            sizes=sizes,
            differ=sizes.size,
            units=units,
            scores=changed_scores,
            tilts=sizes / weights[changed],
            weight_moments=(second, third, fourth),
        )

    @property
    def reach(self) -> float:
        """Largest mean of such changes: each unit that changes gains the largest size."""
        return float(self.sizes.max()) * self.differ / self.units if self.sizes.size else 0.0

    @property
    def allowance(self) -> float:
        """Factor of a difference for the error of the sizes seen, which are mostly too small.

        The median of a chi-squared variable is 2/3 below its m degrees of freedom.
        """
        differ = self.differ / self.weight_moments[0]  # Kish's number of equal weight
        return math.sqrt(differ / (differ - 1.5)) if differ > 2 else 1.0

    @cached_property
    def grid(self) -> float:
        """Largest number of which every score is a multiple; 0 if it is tiny."""
        scores = self._scores
        if scores.size > _MOST_ON_GRID:
            return 0.0
        largest = float(scores.max())
        common = 0.0
        for value in np.unique(np.round(scores / largest, 9)).tolist():
            common = _common_divisor(value, common)
            if common < _FINEST:
                return 0.0
        return common * largest

    def detectable(self, criterion: Criterion) -> float:
        """Compute the smallest true difference, beyond the null, that the test finds so often."""
        largest = float(self._tilts.max())

        def above(tilt: float) -> float:
            return self._above(tilt / largest, self.units, criterion)

        tilt = _crossing(above, start=self._first_guess(criterion) * largest)
        if not math.isfinite(tilt):
            return tilt
        mean = self._mean(tilt / largest) * self.allowance
        return min(max(mean, -self.reach), self.reach) - criterion.null

    def units_needed(self, effect: float, criterion: Criterion, *, near: float) -> int | None:
        """Compute the number of units with which the test finds a true difference so often."""
        largest = float(self._tilts.max())
        seen_mean = effect / self.allowance  # sizes seen are too small by the allowance
        spread = float((self.sizes * self._tilts).mean()) * self.differ / self.units

        def beyond(tilt: float) -> float:
            return self._mean(tilt / largest) - seen_mean

        tilt = _crossing(beyond, start=seen_mean / spread * largest)
        if not math.isfinite(tilt):
            return None
        fewest_units = math.ceil(fewest_changed(criterion.alpha) * self.units / self.differ)

        def enough(units: int) -> bool:
            df = criterion.df and criterion.df * units / self.units
            scaled = criterion._replace(df=df)
            return units >= fewest_units and self._above(tilt / largest, units, scaled) >= 0

        return fewest(enough, near=max(near, fewest_units), most=_MOST)

    @property
    def _scores(self) -> FloatArray:
        return self.sizes if self.scores is None else self.scores

    @property
    def _tilts(self) -> FloatArray:
        return self.sizes if self.tilts is None else self.tilts

    def _first_guess(self, criterion: Criterion) -> float:
        """Tilt at which a normal mean with the variance seen would be found."""
        second = float((self.sizes**2).mean()) * self.differ / self.units
        deviates = float(ndtri(1 - criterion.alpha)) + float(ndtri(criterion.power))
        return max(deviates, 1.0) / math.sqrt(self.units * second)

    def _tilted(self, tilt: float) -> tuple[FloatArray, FloatArray]:
        """Probabilities that a unit gains, and that it loses, each size."""
        exponents = tilt * self._tilts
        highest = float(np.abs(exponents).max())
        gains = np.exp(exponents - highest)
        losses = np.exp(-exponents - highest)
        share = self.differ / self.units / float(gains.sum() + losses.sum())
        return gains * share, losses * share

    def _mean(self, tilt: float) -> float:
        gains, losses = self._tilted(tilt)
        return float((self.sizes * (gains - losses)).sum())  # BLAS may start threads

    def _moments(self, tilt: float) -> Moments:
        gains, losses = self._tilted(tilt)
        chances = gains + losses
        signed_chances = gains - losses
        scores = self._scores
        squares = scores * scores
        return Moments(
            first=float((scores * signed_chances).sum()),
            second=float((squares * chances).sum()),
            third=float((squares * scores * signed_chances).sum()),
            fourth=float((squares * squares * chances).sum()),
        )

    def _above(self, tilt: float, units: int, criterion: Criterion) -> float:
        """Distance of the test from the power; 0 where it has it.

        The test rejects where the sum of the contributions exceeds q times the root of the sum of
        their squares. The excess is nearly normal.
        """
        first, second, third, fourth = self._moments(tilt).less(criterion.null)
        root = math.sqrt(units * second)
        critical = _critical(criterion, units, fourth / (second * second * units))
        slope = critical / (2 * root)
        # Weights are fixed: differences between them are no variance. Equal weights have moments 1.
        weights_2, weights_3, weights_4 = self.weight_moments
        of_squares = units * max(fourth - weights_4 * (second / weights_2) ** 2, 0.0)
        of_both = units * (third - weights_3 * first * second / weights_2)
        of_sum = units * (second - weights_2 * first * first)
        variance = of_sum - 2 * slope * of_both + slope * slope * of_squares
        # A sum on a grid moves by two steps: half of that, on average, is lost until p is small.
        lost = self.grid if criterion.by_signs and not criterion.null else 0.0
        excess = units * first - critical * (root - of_squares / (8 * root**3)) - lost
        return excess - float(ndtri(criterion.power)) * math.sqrt(max(variance, 0.0))


def _critical(criterion: Criterion, units: int, fourth: float) -> float:
    """Multiple of the root of the sum of squares from which on a sum is significant.

    For random signs, it is the first term of Cornish and Fisher's expansion: the excess kurtosis
    of their sum is -2 times the sum of fourth powers over the squared sum of squares.
    """
    if criterion.df is not None:
        t = float(stdtrit(criterion.df, 1 - criterion.alpha))
        return t * math.sqrt(units / (units - 1 + t * t))
    normal = float(ndtri(1 - criterion.alpha))
    return normal - 2 * fourth * (normal**3 - 3 * normal) / 24


def _common_divisor(number: float, other: float) -> float:
    """Euclid's algorithm for numbers up to 1 with nine digits; 0 if the divisor is tiny."""
    while other > _FINEST / 2:
        remainder = number % other
        number = other
        # Within 1e-7, beyond the rounding to nine digits, it is a multiple.
        other = 0.0 if min(remainder, other - remainder) < 1e-7 else remainder
    return number if other == 0.0 else 0.0


def _crossing(rising: Callable[[float], float], *, start: float) -> float:
    """Argument at which a rising function is 0; infinite if it stays below, NaN if it stays above.

    The bracket grows from a guess, and shrinks by false position: SciPy's search loads slowly, and
    most commands do without it.
    """
    low = 0.0
    high = start
    below = rising(low)
    above = rising(high)
    while above < 0:
        low = high
        below = above
        high = 2 * high
        if high > _STEEPEST:
            return math.inf
        above = rising(high)
    step = start
    while below > 0:
        high = low
        above = below
        low = low - step
        step = 2 * step
        if low < -_STEEPEST:
            return math.nan
        below = rising(low)
    if below == above:
        return low
    middle = low
    last_value = 0.0
    last_middle = math.inf
    for _ in range(_STEPS):
        middle = (low * above - high * below) / (above - below)
        value = rising(middle)
        if value == 0 or abs(middle - last_middle) <= _PRECISE * abs(middle):
            break
        # Illinois: an end that stays twice in a row counts half, or it would stay for ever.
        if value > 0:
            high = middle
            above = value
            below /= 2 if last_value > 0 else 1
        else:
            low = middle
            below = value
            above /= 2 if last_value < 0 else 1
        last_value = value
        last_middle = middle
    return middle
