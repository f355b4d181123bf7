"""Tests of preference between two interleaved rankings that hold under peeking, and their sizes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, ndtri
from scipy.stats import beta as beta_distribution
from scipy.stats import binom

from idealrank.clicks.arguments import (
    Looks,
    check_confidence,
    label_column,
    number_table,
    one_of,
    real_number,
)
from idealrank.clicks.weighted_rows import label_codes
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError

_MOST_LISTS = 1 << 24  # of a plan; more take too much memory and time


@dataclass(frozen=True, kw_only=True)
class Preference:
    """Outcome of an interleaving test.

    Attributes
    ----------
    wins_a, wins_b, ties : int
        Lists (or users) that prefer A, B, or neither.
    share : float
        Share of B among the wins; 0.5 without any.
    interval : tuple of float
        Of this share: exact (Clopper and Pearson), for a test of planned size.
    p : float
        Two-sided p-value of the sign test, for a test of planned size.
    sequence : tuple of float
        Of this share: a confidence sequence, which holds at all times at once.
    p_always : float
        Always-valid p-value: it holds however often the test is looked at, and whenever it is
        stopped.
    confidence : float
        Confidence level.
    looks : {"any", "once"}
        Looks for which the verdict holds: by the confidence sequence, or by the interval for a test
        of planned size.

    Examples
    --------
    >>> outcome = preference([1, 1, 0, 1, -1, 1])
    >>> (outcome.wins_a, outcome.wins_b, outcome.ties), outcome.share
    ((1, 4, 1), 0.8)
    """

    wins_a: int
    wins_b: int
    ties: int
    share: float
    interval: tuple[float, float]
    p: float
    sequence: tuple[float, float]
    p_always: float
    confidence: float
    looks: Looks = "any"

    @property
    def verdict(self) -> Literal["B", "A", "undecided"]:
        """Return the ranking preferred, by the interval that holds for `looks`."""
        low, high = self.sequence if self.looks == "any" else self.interval
        if low > 0.5:
            return "B"
        return "A" if high < 0.5 else "undecided"

    @property
    def detectable(self) -> float | None:
        """Smallest share of B above 0.5 that so many wins detect with 80 % power, by the rule of
        `lists_needed`; None if they detect none.
        """
        n = self.wins_a + self.wins_b
        wins = float(_undecided_wins(np.array([n]), self.confidence, self.looks)[0])
        return float(beta_distribution.ppf(0.8, wins + 1, n - wins)) if wins < n else None


def preference(
    preferences: "Sequence[float] | npt.ArrayLike",
    *,
    users: "Sequence[Any] | npt.ArrayLike | None" = None,
    confidence: float = 0.95,
    looks: Looks = "any",
) -> Preference:
    """Test which of two rankings users prefer.

    Parameters
    ----------
    preferences : sequence, shape (lists,)
        Sign of each list: 1 for B, -1 for A, 0 for neither.
    users : sequence, shape (lists,), optional
        Whose list it is: the lists of one user count as one, by their majority, since they are not
        independent.
    confidence : float
        Confidence level.
    looks : {"any", "once"}
        Looks for which the verdict holds: any number of them, or one, at the planned size.
        `lists_needed` has the same option.

    Raises
    ------
    InputError
        A value is not finite, or lengths differ.

    References
    ----------
    Chapelle, Joachims, Radlinski and Yue (2012), Large-scale validation and analysis of interleaved
    search evaluation, TOIS. Robbins (1970), Statistical methods related to the law of the iterated
    logarithm: the mixture of binomial likelihood ratios over a uniform distribution, on which the
    confidence sequence rests.

    Examples
    --------
    >>> preference([1] * 30 + [-1] * 5).verdict
    'B'
    """
    one_of("looks", looks, Looks)
    level = check_confidence(confidence)
    signs = np.sign(number_table("preferences", preferences))
    if signs.ndim != 1 or not np.isfinite(signs).all():
        raise InputError(f"preferences: found shape {signs.shape}, expected one finite sign a list")
    if not signs.size:
        raise InputError("preferences: found no list, expected at least one")
    if users is not None:
        codes = label_codes(label_column("users", users, signs.size, "lists"), "users")
        signs = np.sign(np.bincount(codes, signs))

    wins_a = int((signs < 0).sum())
    wins_b = int((signs > 0).sum())
    n = wins_a + wins_b
    tail = (1 - level) / 2
    low = float(beta_distribution.ppf(tail, wins_b, wins_a + 1)) if wins_b else 0.0
    high = float(beta_distribution.ppf(1 - tail, wins_b + 1, wins_a)) if wins_a else 1.0
    p = min(1.0, 2 * float(binom.cdf(min(wins_a, wins_b), n, 0.5))) if n else 1.0
    return Preference(
        wins_a=wins_a,
        wins_b=wins_b,
        ties=signs.size - n,
        share=wins_b / n if n else 0.5,
        interval=(low, high),
        p=p,
        sequence=_sequence(wins_a, wins_b, level),
        p_always=math.exp(-max(float(_log_evidence(wins_a, wins_b)), 0.0)),
        confidence=level,
        looks=looks,
    )


def _log_mixture(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Logarithm of the probability of a sequence of wins, averaged over a uniform share."""
    logs: FloatArray = betaln(np.add(a, 1), np.add(b, 1))
    return logs


def _log_evidence(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Logarithm of the likelihood ratio of the mixture to a share of 0.5."""
    ratios: FloatArray = _log_mixture(a, b) - np.add(a, b) * math.log(0.5)
    return ratios


def _sequence(wins_a: int, wins_b: int, confidence: float) -> tuple[float, float]:
    """Shares whose likelihood is not too small beside the mixture's."""
    if wins_a + wins_b == 0:
        return 0.0, 1.0
    lowest = float(_log_mixture(wins_a, wins_b)) + math.log(1 - confidence)

    def likely(share: float) -> bool:
        log_of_b = wins_b * math.log(share) if wins_b else 0.0
        log_of_a = wins_a * math.log1p(-share) if wins_a else 0.0
        return log_of_b + log_of_a >= lowest

    peak = wins_b / (wins_a + wins_b)
    ends = []
    for bound in (0.0, 1.0):
        inside = peak
        outside = bound
        for _ in range(60):  # halvings reach the rounding of a share
            middle = (inside + outside) / 2
            if 0 < middle < 1 and likely(middle):
                inside = middle
            else:
                outside = middle
        # A bound itself is not tried: where the search ends next to it, it is the end.
        ends.append(outside if abs(outside - bound) > 1e-12 else bound)
    return ends[0], ends[1]


def lists_needed(
    share: float,
    *,
    power: float = 0.8,
    confidence: float = 0.95,
    ties: float = 0.0,
    looks: Looks = "any",
) -> int:
    """Number of lists after which an interleaving test has a verdict with the given power.

    Parameters
    ----------
    share : float
        Share of B among lists with a preference that is to be found, such as 0.52.
    power : float
        Probability of finding it.
    confidence : float
        Confidence level of `preference`.
    ties : float
        Share of lists without a preference.
    looks : {"any", "once"}
        Looks for which the verdict of `preference` holds: any number of them, or one, at the
        planned size.

    Raises
    ------
    OptionError
        An option is outside its range, or the share is too near to 0.5.

    Examples
    --------
    >>> lists_needed(0.6), lists_needed(0.6, ties=0.5)
    (453, 906)
    >>> lists_needed(0.6, looks="once")
    210
    """
    one_of("looks", looks, Looks)
    level = check_confidence(confidence)
    expected = "a number between 0 and 1 other than 0.5"
    share_of_b = real_number("share", share, expected, low=0, high=1)
    if share_of_b == 0.5:
        raise OptionError(f"share={share}: expected a number between 0 and 1 other than 0.5")
    target_power = real_number(
        "power", power, "a number between 0 and 1, such as 0.8", low=0, high=1
    )
    tie_share = real_number(
        "ties", ties, "a share from 0 to less than 1", low=0, high=1, closed="low"
    )

    best = max(share_of_b, 1 - share_of_b)
    n = 1
    while _power(np.array([n]), best, level, looks)[0] < target_power:
        n *= 2
        if n > _MOST_LISTS:
            critical = float(_undecided_wins(np.array([_MOST_LISTS]), level, looks)[0])
            # By the normal distribution: critical share, and the quantile of the power.
            smallest_gap = (
                critical / _MOST_LISTS
                - 0.5
                + 0.5 * float(ndtri(target_power)) / math.sqrt(_MOST_LISTS)
            )
            raise OptionError(
                f"share={share}: needs more than {_MOST_LISTS:,} lists with a preference; expected "
                f"a share about {smallest_gap:.1g} or more from 0.5, or less power"
            )

    # Power goes up and down with the size, as the critical count is whole, over a span of a few
    # roots of the size: halve down to such a span, and take the size from which the power stays.
    low = n // 2
    span = 10 * math.isqrt(n) + 20
    while n - low > span:
        middle = (low + n) // 2
        if _power(np.array([middle]), best, level, looks)[0] < target_power:
            low = middle
        else:
            n = middle
    sizes = np.arange(max(1, low - span), n + span)
    too_small = np.flatnonzero(~(_power(sizes, best, level, looks) >= target_power))
    smallest = int(sizes[too_small[-1] + 1]) if too_small.size else int(sizes[0])
    return math.ceil(smallest / (1 - tie_share))


def _power(sizes: IntArray, share: float, confidence: float, looks: Looks) -> FloatArray:
    """Probabilities that tests of these sizes prefer B."""
    power: FloatArray = binom.sf(_undecided_wins(sizes, confidence, looks), sizes, share)
    return power


def _undecided_wins(sizes: IntArray, confidence: float, looks: Looks) -> FloatArray:
    """Largest numbers of wins of B without a verdict."""
    if looks == "once":
        wins: FloatArray = binom.isf((1 - confidence) / 2, sizes, 0.5)
        return wins
    evidence_needed = -math.log(1 - confidence)
    # Halve: from half of the lists on, the evidence rises with the wins of B.
    undecided = sizes // 2
    decided = sizes + 1
    while (decided - undecided > 1).any():
        middle = (undecided + decided) // 2
        is_decided = _log_evidence(sizes - middle, middle) > evidence_needed
        decided = np.where(is_decided, middle, decided)
        undecided = np.where(is_decided, undecided, middle)
    return undecided.astype(np.float64)
