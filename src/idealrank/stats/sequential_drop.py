"""Sequential test of a drop against a baseline, valid at every round, with a guaranteed mean number
of rounds between false alarms.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError

# shares of the largest bet that cannot lose all
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
        given = np.asarray(differences, dtype=float)
        if not (np.abs(given) <= 1 + 1e-9).all():
            raise InputError(
                "differences: found a value outside [-1, 1], expected differences of a "
                "measure from 0 to 1"
            )
        gains = (-self.tolerance - given)[:, None] * (_BETS / (1 + self.tolerance))
        return np.asarray(
            np.maximum(np.asarray(stakes, dtype=float), 0.0) + np.log1p(gains).sum(axis=0)
        )

    def evidence(self, stakes: npt.ArrayLike) -> float:
        """Return the logarithm of the mean stake."""
        given = np.asarray(stakes, dtype=float)
        return float(np.logaddexp.reduce(given) - math.log(given.size))

    def signals(self, stakes: npt.ArrayLike) -> bool:
        """Return True if the mean stake has reached the number of rounds."""
        return self.evidence(stakes) >= math.log(self.rounds)
