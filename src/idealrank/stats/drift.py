"""Control charts of a drop in rounds that are measured one after another: CUSUM and EWMA, with
their exact run lengths; and a sequential test that is valid at every round.

Both charts take standardised values: the round's value less the usual one, divided by the standard
deviation of a usual round. Both look for a drop only. The run length of a chart is the mean number
of rounds until it signals.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.roots import root_between

# Nodes of the integral equation: 8 for each standard deviation of a step, within these bounds
_FEWEST_NODES, _MOST_NODES = 40, 256
_LONGEST = 1e7  # rounds; a longer mean run length is reported as this


@dataclass(frozen=True)
class Cusum:
    """Cumulative sum of drops beyond an allowance, ``S = max(0, S - z - allowance)``; the chart
    signals at ``S >= limit``.

    Attributes
    ----------
    limit : float
        In standard deviations, above 0.
    allowance : float
        Drop of a round that adds nothing, in standard deviations; half the drop that is to be found
        fastest.

    References
    ----------
    Page (1954), Continuous inspection schemes, Biometrika 41.

    Examples
    --------
    >>> chart = Cusum(4.0)
    >>> level = chart.start
    >>> for z in (0.3, -2.0, -2.5, -2.2):
    ...     level = chart.step(level, z)
    >>> round(level, 6), chart.signals(level)
    (5.2, True)
    """

    limit: float
    allowance: float = 0.5
    start: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        _check_chart(self.limit, "limit")
        _check_chart(self.allowance, "allowance")

    def step(self, level: float, z: float) -> float:
        """Return the sum after one more round."""
        return max(0.0, level - z - self.allowance)

    def signals(self, level: float) -> bool:
        """Return True if the sum has reached the limit."""
        return level >= self.limit

    def held(self, level: float) -> float:
        """Return the sum, at most the limit: what a chart keeps while its alarm is open."""
        return min(level, self.limit)

    def run_length(self, drop: float = 0.0) -> float:
        """Mean number of rounds until the chart signals, by its integral equation.

        Parameters
        ----------
        drop : float
            Lasting drop in standard deviations; 0 gives the mean number of rounds between false
            alarms.

        References
        ----------
        Goel and Wu (1971), Determination of ARL and a contour nomogram for CUSUM charts,
        Technometrics 13.

        Examples
        --------
        >>> round(Cusum(5.0).run_length()), round(Cusum(5.0).run_length(1.0), 2)
        (931, 10.38)
        """
        # From the sum s, the next is s - z - allowance = y, where z is normal with mean -drop; all
        # below 0 become 0.
        return _run_length(
            lambda s: s - self.allowance + drop, 1.0, low=0.0, high=self.limit, at_low=True
        )

    @classmethod
    def for_run_length(cls, rounds: float, *, allowance: float = 0.5) -> "Cusum":
        """Return the chart whose false alarms are that many rounds apart on average.

        Examples
        --------
        >>> round(Cusum.for_run_length(1000).limit, 3)
        5.071
        """
        _check_rounds(rounds)
        return cls(
            _limit_for(lambda limit: cls(limit, allowance).run_length(), rounds, 40.0), allowance
        )


@dataclass(frozen=True)
class Ewma:
    """Exponentially weighted mean, ``E = min(0, (1 - weight) E + weight z)``; it signals at ``E <=
    -limit``.

    Attributes
    ----------
    limit : float
        In standard deviations of a round, above 0.
    weight : float
        Weight of the last round, above 0 and at most 1; small weights find small drops.

    References
    ----------
    Roberts (1959), Control chart tests based on geometric moving averages, Technometrics 1.

    Examples
    --------
    >>> chart = Ewma(0.6, weight=0.2)
    >>> level = chart.start
    >>> for z in (0.3, -2.0, -2.5):
    ...     level = chart.step(level, z)
    >>> round(level, 6), chart.signals(level)
    (-0.82, True)
    """

    limit: float
    weight: float = 0.1
    start: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        _check_chart(self.limit, "limit")
        if not 0 < self.weight <= 1:
            raise OptionError(f"weight: found {self.weight!r}, expected above 0 and at most 1")

    def step(self, level: float, z: float) -> float:
        """Return the weighted mean after one more round."""
        return min(0.0, (1 - self.weight) * level + self.weight * z)

    def signals(self, level: float) -> bool:
        """Return True if the weighted mean has reached the limit."""
        return level <= -self.limit

    def held(self, level: float) -> float:
        """Return the weighted mean, no lower than the limit: what a chart keeps while its alarm is
        open.
        """
        return max(level, -self.limit)

    def run_length(self, drop: float = 0.0, *, two_sided: bool = False) -> float:
        """Mean number of rounds until the chart signals, by its integral equation.

        Parameters
        ----------
        drop : float
            Lasting drop in standard deviations; 0 gives the mean number of rounds between false
            alarms.
        two_sided : bool
            Of the chart without the maximum of 0 that signals on both sides, as published tables
            have it.

        References
        ----------
        Crowder (1987), A simple method for studying run-length distributions of EWMA charts,
        Technometrics 29; Lucas and Saccucci (1990), Exponentially weighted moving average control
        schemes, Technometrics 32, for the tables.

        Examples
        --------
        >>> limit = 2.814 * math.sqrt(0.1 / 1.9)  # the limit of their table for 500 rounds
        >>> (
        ...     round(Ewma(limit).run_length(two_sided=True)),
        ...     round(Ewma(limit).run_length(1.0, two_sided=True), 1),
        ... )
        (500, 10.3)
        """
        low = -self.limit if two_sided else 0.0  # upside down, as the CUSUM: a drop is positive
        return _run_length(
            lambda s: (1 - self.weight) * s + self.weight * drop,
            self.weight,
            low=low,
            high=self.limit,
            at_low=not two_sided,
        )

    @classmethod
    def for_run_length(cls, rounds: float, *, weight: float = 0.1) -> "Ewma":
        """Return the chart whose false alarms are that many rounds apart on average.

        Examples
        --------
        >>> round(Ewma.for_run_length(1000).limit, 4)
        0.6864
        """
        _check_rounds(rounds)
        return cls(
            _limit_for(lambda limit: cls(limit, weight).run_length(), rounds, 40.0 * weight), weight
        )


def _run_length(
    centre: Callable[[FloatArray], FloatArray],
    spread: float,
    *,
    low: float,
    high: float,
    at_low: bool,
) -> float:
    """Mean rounds from 0 until a level leaves `low` to `high`; with `at_low`, a level below becomes
    `low`. The next level is normal about `centre` of the level before.
    """
    # Nystroem's method: the integral over the level after a round becomes a sum over Gauss nodes,
    # and the equation a linear system. The last point is the start, and the lower end if `at_low`.
    n_nodes = min(_MOST_NODES, max(_FEWEST_NODES, math.ceil(8 * (high - low) / spread)))
    nodes, weights = _gauss(n_nodes)
    half = (high - low) / 2
    levels = low + half * (nodes + 1)
    points = np.append(levels, 0.0)
    density = (
        np.exp(-0.5 * ((levels - centre(points)[:, None]) / spread) ** 2)
        / (spread * math.sqrt(2 * math.pi))
        * (half * weights)
    )
    steps = np.zeros((points.size, points.size))
    steps[:, :-1] = density
    if at_low:
        steps[:, -1] += ndtr((low - centre(points)) / spread)
    length = float(_solved(np.eye(points.size) - steps)[-1])
    return length if 0 < length < _LONGEST else _LONGEST


def _solved(matrix: FloatArray) -> FloatArray:
    """The vector that a matrix turns into ones, by elimination; rows of ``I - P`` need no exchange
    for a substochastic P.

    BLAS would sum in an order that depends on the processor.
    """
    table = np.column_stack([matrix, np.ones(len(matrix))])
    for row in range(len(matrix)):
        table[row] /= table[row, row]
        others = table[:, row].copy()
        others[row] = 0.0
        table -= others[:, None] * table[row]
    return np.asarray(table[:, -1])


@lru_cache(maxsize=256)
def _gauss(n: int) -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return nodes, weights


def _limit_for(length: Callable[[float], float], rounds: float, most: float) -> float:
    return root_between(
        lambda limit: math.log(length(limit)) - math.log(rounds), 1e-6 * most, most, within=1e-9
    )


def _check_chart(value: float, name: str) -> None:
    if not (value > 0 and math.isfinite(value)):
        raise OptionError(f"{name}: found {value!r}, expected a number above 0")


def _check_rounds(rounds: float) -> None:
    if not 4 <= rounds <= _LONGEST / 10:
        raise OptionError(
            f"rounds: found {rounds!r}, expected from 4 to {_LONGEST / 10:g} rounds between false "
            "alarms"
        )


# Bets, as shares of the largest bet that cannot lose the whole stake
_BETS = np.array([0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.5, 0.7, 0.9])


@dataclass(frozen=True)
class SequentialDrop:
    r"""Test by betting: each round multiplies a stake by ``prod (1 + bet (-tolerance - d))`` over
    the differences d of its queries.

    While the mean over the queries is not below the baseline by more than the tolerance, no bet
    gains on average. The stake of the best starting round is followed, ``M = max(M, 1) L``, and the
    test signals where its mean over several bets reaches `rounds`. It is at most the sum of the
    stakes of all starting rounds (Shiryaev and Roberts), which grows by 1 a round on average. The
    mean number of rounds until a false signal is therefore at least `rounds`, whatever the
    distribution, under the conditions of the notes.

    Attributes
    ----------
    rounds : float
        Least mean number of rounds between false alarms, above 1.
    tolerance : float
        Drop of the mean that is no alarm, between -1 and 1. A negative one asks that the mean is
        above the baseline by so much, and then a signal says that it is not.

    Notes
    -----
    A difference is the query's value less its baseline, in [-1, 1]. The guarantee holds if, given
    the rounds before, the queries are a random sample without replacement of a pool whose mean did
    not drop by more, or are all queries of that pool, or have independent noise. For a sample, the
    product is at most its value with replacement, since the draws are negatively associated. A
    disturbance that lowers all queries of one round at once is a drop of that round, and counts as
    one.

    No distribution is assumed, but independence is. A season, a state that lasts for some rounds,
    noise that queries share, and a baseline that is too high by chance are drops, too. `idealrank
    monitor` estimates all four, and its rate of false alarms is no longer guaranteed.

    References
    ----------
    Shin, Ramdas and Rinaldo (2024), E-detectors: a nonparametric framework for sequential change
    detection, for the detector. Waudby-Smith and Ramdas (2024), Estimating means of bounded random
    variables by betting, JRSS B 86, for the bets. Joag-Dev and Proschan (1983), Negative
    association of random variables, Annals of Statistics 11, for samples.

    Examples
    --------
    >>> test = SequentialDrop(1000, tolerance=0.005)
    >>> stakes = test.start
    >>> for _ in range(3):
    ...     stakes = test.step(stakes, [-0.4] * 20 + [0.0] * 80)
    >>> test.signals(stakes)
    True
    """

    rounds: float
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        if not 1 < self.rounds < math.inf:
            raise OptionError(f"rounds: found {self.rounds!r}, expected a number above 1")
        if not -1 < self.tolerance < 1:
            raise OptionError(
                f"tolerance: found {self.tolerance!r}, expected a number between -1 and 1"
            )

    @property
    def start(self) -> FloatArray:
        """Logarithms of the stakes before the first round, a bet each."""
        return np.zeros(_BETS.size)

    def step(self, stakes: npt.ArrayLike, differences: npt.ArrayLike) -> FloatArray:
        """Return the logarithms of the stakes after one more round.

        Parameters
        ----------
        stakes : array_like, shape (bets,)
            As returned for the round before.
        differences : array_like, shape (queries,)
            Value of each query less its baseline, in [-1, 1].

        Raises
        ------
        InputError
            A difference is outside [-1, 1].
        """
        query_differences = np.asarray(differences, dtype=float)
        if not (np.abs(query_differences) <= 1 + 1e-9).all():
            raise InputError(
                "differences: found a value outside [-1, 1], expected differences of a measure "
                "from 0 to 1"
            )
        gains = (-self.tolerance - query_differences)[:, None] * (_BETS / (1 + self.tolerance))
        return np.asarray(
            np.maximum(np.asarray(stakes, dtype=float), 0.0) + np.log1p(gains).sum(axis=0)
        )

    def evidence(self, stakes: npt.ArrayLike) -> float:
        """Return the logarithm of the mean stake."""
        log_stakes = np.asarray(stakes, dtype=float)
        return float(np.logaddexp.reduce(log_stakes) - math.log(log_stakes.size))

    def signals(self, stakes: npt.ArrayLike) -> bool:
        """Return True if the mean stake has reached the number of rounds."""
        return self.evidence(stakes) >= math.log(self.rounds)
