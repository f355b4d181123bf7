"""The four nearly-ERR measures: users of the C/W/L framework stop at each document with the chance
of its gain.

ERR is not in the framework, for it weighs the rank where a user stops and not the documents seen;
these come near it (Azzopardi, Mackenzie and Moffat 2021, ERR is not C/W/L: exploring the
relationship between expected reciprocal rank and other metrics, ICTIR).
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.measures.discounts import make_discount
from idealrank.measures.measure import number_option
from idealrank.measures.user_model import (
    AdaptiveUser,
    UserModel,
    WithGoal,
    geometric,
    inverse_squares,
)

_PROOF = (
    "cwl-eval 1.0.12, recorded, all six numbers and their residuals to 10 digits; ir_measures' own "
    "test values to 4 decimals"
)


@dataclass(frozen=True, kw_only=True)
class _NearlyERR(AdaptiveUser):
    """User model: each document satisfies with the chance of its gain; otherwise the chance to
    continue depends on the rank.
    """

    proof: ClassVar[str] = _PROOF

    @abstractmethod
    def patience(self, rank: IntArray) -> FloatArray:
        """Chance that an unsatisfied user continues from each rank."""

    @abstractmethod
    def fruitless(self, rank: IntArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return how many of the next `count` ranks users at `rank` see without a gain, and their
        probability to continue.
        """

    def step(self, rank: IntArray, passing: FloatArray, total: FloatArray) -> FloatArray:
        """Share of users that continue: those not satisfied, and patient."""
        return self.patience(rank) * passing

    def stretch(
        self, rank: IntArray, count: IntArray, gain: float, total: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Closed form: of documents of gain 1, the first satisfies every user."""
        if gain:
            return np.minimum(count, 1).astype(np.float64), (count == 0).astype(np.float64)
        return self.fruitless(rank, count)


class NERR8(_NearlyERR):
    """Nearly ERR, equation 8: users read the first k documents until satisfied.

    ``NERR8@k = sum_i W(i) gain_i, W(i) ~ prod_{j<i} C(j), C(i) = 1 - gain_i`` for i < k, ``C(k) =
    0``; in [0, 1].

    Parameters
    ----------
    cutoff : int or str
        k; must be given.
    of, min_rel, max_rel
        As for `INST`.

    References
    ----------
    Azzopardi, Mackenzie and Moffat (2021), ERR is not C/W/L, ICTIR, equation 8; ir_measures,
    ``NERR8``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate(
    ...     {"q": {"a": 1}}, {"q": ["b", "a"]}, [ir.NERR8(cutoff=10), ir.NERR8(cutoff=10, of="ED")]
    ... ).mean()
    {'NERR8@10': 0.5, 'NERR8(of=ED)@10': 2.0}
    """

    name: ClassVar[str] = "NERR8"
    cuts: ClassVar = "required"
    summary: ClassVar[str] = "gain per document of users that read k documents until satisfied"
    use: ClassVar[str] = (
        "Choose it in place of ERR where residuals, costs and depths are wanted too. Not where one "
        "judgment more or less may decide: a single document of full gain ends every walk."
    )

    def stops(self) -> bool:
        """True: every user stops at rank k."""
        return True

    def patience(self, rank: IntArray) -> FloatArray:
        """1 for each rank."""
        return np.ones(rank.shape)

    def fruitless(self, rank: IntArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
        """All of these ranks, and 1."""
        return count.astype(np.float64), np.ones(rank.shape)


class NERR9(_NearlyERR):
    """Nearly ERR, equation 9: users read until satisfied; a share i / (i + 1) of the others
    continues from rank i, down to k.

    ``NERR9@k = sum_i W(i) gain_i, W(i) ~ prod_{j<i} C(j), C(i) = i / (i + 1) (1 - gain_i)`` for i <
    k, ``C(k) = 0``; in [0, 1].

    Parameters
    ----------
    cutoff : int or str
        k; must be given.
    of, min_rel, max_rel
        As for `INST`.

    References
    ----------
    Azzopardi, Mackenzie and Moffat (2021), ERR is not C/W/L, ICTIR, equation 9; ir_measures,
    ``NERR9``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, [ir.NERR9(cutoff=10)]).mean()
    {'NERR9@10': 0.3333333333333333}
    """

    name: ClassVar[str] = "NERR9"
    cuts: ClassVar = "required"
    summary: ClassVar[str] = (
        "gain per document of users that read until satisfied, with ERR's 1/rank as patience"
    )
    use: ClassVar[str] = (
        "Choose it in place of ERR where residuals, costs and depths are wanted too: of the four "
        "it discounts as ERR does. Not for searches that collect many results."
    )

    def stops(self) -> bool:
        """True: every user stops at rank k."""
        return True

    def patience(self, rank: IntArray) -> FloatArray:
        """``rank / (rank + 1)`` for each rank."""
        return rank / (rank + 1.0)

    def fruitless(self, rank: IntArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
        """Closed form with harmonic numbers."""
        views = rank * make_discount("reciprocal").between(rank, rank + count - 1, rank)
        return views, rank / (rank + count)


@dataclass(frozen=True, kw_only=True)
class NERR10(_NearlyERR):
    """Nearly ERR, equation 10: users read until satisfied, and otherwise continue with RBP's
    constant persistence.

    ``NERR10 = sum_i W(i) gain_i, W(i) ~ prod_{j<i} C(j), C(i) = p (1 - gain_i)``; in [0, 1].

    Parameters
    ----------
    cutoff : int or str, optional
        Deepest rank of the user, default 1000.
    p : float, optional
        Persistence, from 0 to 1; default 0.9.
    of, min_rel, max_rel
        As for `INST`.

    References
    ----------
    Azzopardi, Mackenzie and Moffat (2021), ERR is not C/W/L, ICTIR, equation 10; ir_measures,
    ``NERR10``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, [ir.NERR10(p=0.5)]).mean()
    {'NERR10(p=0.5)': 0.3333333333333333}
    """

    p: float | None = None

    name: ClassVar[str] = "NERR10"
    samples: ClassVar = {**UserModel.samples, "p": (None, 0, 0.5, 0.9, 1)}
    summary: ClassVar[str] = (
        "gain per document of users that read until satisfied, with a constant persistence"
    )
    use: ClassVar[str] = (
        "Choose it in place of ERR where no cutoff is wanted and patience is known as a rate. Not "
        "for searches that collect many results."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p is not None:
            object.__setattr__(self, "p", number_option("p", self.p, 0, 1))

    @property
    def _persistence(self) -> float:
        return 0.9 if self.p is None else float(self.p)

    def patience(self, rank: IntArray) -> FloatArray:
        """Persistence p for each rank."""
        return np.full(rank.shape, self._persistence)

    def fruitless(self, rank: IntArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
        """A geometric series."""
        return geometric(self.patience(rank), count)


class NERR11(WithGoal, _NearlyERR):
    """Nearly ERR, equation 11: users read until satisfied, and otherwise continue with INSQ's
    patience, which grows with the rank.

    ``NERR11 = sum_i W(i) gain_i, W(i) ~ prod_{j<i} C(j), C(i) = ((i + 2T - 1) / (i + 2T))^2 (1 -
    gain_i)``; in [0, 1].

    Parameters
    ----------
    cutoff : int or str, optional
        Deepest rank of the user, default 1000.
    T : float, optional
        Gain that the user aims for, above 0; default 1.
    of, min_rel, max_rel
        As for `INST`.

    References
    ----------
    Azzopardi, Mackenzie and Moffat (2021), ERR is not C/W/L, ICTIR, equation 11; ir_measures,
    ``NERR11``.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(
    ...     ir.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, [ir.NERR11(T=1)]).mean()["NERR11(T=1)"],
    ...     12,
    ... )
    0.307692307692
    """

    name: ClassVar[str] = "NERR11"
    summary: ClassVar[str] = (
        "gain per document of users that read until satisfied, with INSQ's patience"
    )
    use: ClassVar[str] = (
        "Choose it in place of ERR where no cutoff is wanted and users are known by how much they "
        "hope for. Not for searches that collect many results."
    )

    def patience(self, rank: IntArray) -> FloatArray:
        """``((rank + 2T - 1) / (rank + 2T))^2`` for each rank."""
        ratio = (rank + (self._twice_goal - 1.0)) / (rank + self._twice_goal)
        return ratio * ratio

    def fruitless(self, rank: IntArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
        """Closed form: products of neighbouring ratios cancel, which leaves a sum of inverse
        squares.
        """
        first = (rank + (self._twice_goal - 1.0)).astype(np.float64)
        goes_on = first / (first + count)
        return first * first * inverse_squares(first, count), goes_on * goes_on
