"""A series of gated changes: one significance level for all of them, spent look by look."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from idealrank.errors import OptionError
from idealrank.stats.comparison import RESAMPLES

HORIZON = 50  # commits of a series
ANCHOR = "(anchor)"  # ends the name of the side that is the anchor
WINDOW = 5  # accepted commits whose mean is held to the anchor, the present one included
LONGEST_REASON, LONGEST_NAME = 1_000, 100  # letters of an acceptance, which reports show in a line
# Smallest useful level of a look: below it, no p of sign flips could close the gate.
_LEAST = 1 / (RESAMPLES + 1)
_REACHED = f"at least {_LEAST:.2g}, the smallest p of {RESAMPLES:,} sign flips"


def refuse_horizon(horizon: object) -> None:
    """Refuse a horizon that is no number of commits."""
    if isinstance(horizon, bool) or not isinstance(horizon, int) or horizon < 1:
        raise OptionError(
            f"horizon={horizon!r}: expected a number of commits from 1 on, such as {HORIZON}"
        )


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """A drop that a person accepted although the gate was closed."""

    reason: str  # Reason, as given
    by: str  # Name of the person, as given or as the system knows it
    time: str  # Time in UTC, ISO 8601
    run: str  # Name of the run
    measure: str  # Text of the deciding measure, or of the measure of the contract
    # before, now: Means of the check: of its baseline, and of the run; against an anchor, of the
    # run and the last accepted ones together
    before: float | None
    now: float | None
    p: float | None  # Corrected one-sided p of the drop; None of a contract
    # Name of the baseline of the check, such as ``main`` or ``main (anchor)``; empty in files of
    # earlier versions, and for a contract with a number
    baseline: str = ""
    # Query of the first broken contract if contracts alone closed the gate, else empty
    contract: str = ""

    @property
    def headline(self) -> str:
        """Person and reason, in a sentence that stands before the verdict."""
        return f"{self.by} accepted this run: {self.reason.rstrip('.')}."

    @property
    def sentence(self) -> str:
        """Person, values and reason, in a sentence."""
        before, now = (
            "no value" if value is None else f"{value:.4f}" for value in (self.before, self.now)
        )
        in_baseline = f" in {self.baseline}" if self.baseline else ""
        if self.contract:
            means = (
                f"the broken contract of query {self.contract}: {self.measure} {now}, demanded "
                f"{before}{in_baseline}"
            )
        else:
            whose = (
                "the mean of this run and the last accepted ones, "
                if self.baseline.endswith(ANCHOR)
                else ""
            )
            means = f"{whose}{self.measure} {now} after {before}{in_baseline}"
        return f"{self.by} accepted {means} (run {self.run}, {self.time}): {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Series:
    """State of a series: how many of its commits were looked at, and how much of its level is
    spent.
    """

    alpha: float = 0.05  # Level of the series
    horizon: int = HORIZON  # Commits of the series
    looks: int = 0  # Commits looked at
    spent: float = 0.0  # Level that they spent
    # Number of the series, from 1: after the horizon the next one begins, with its whole level
    number: int = 1
    accepted: tuple[Acceptance, ...] = ()  # Drops that were accepted by name, the latest last

    def __post_init__(self) -> None:
        refuse_horizon(self.horizon)
        # Written so that NaN is refused, too.
        if not (0 <= self.spent < 1 and self.looks >= 0 and self.number >= 1):
            state = f"spent {self.spent!r}, looks {self.looks!r}, number {self.number!r}"
            raise OptionError(
                f"series: found {state}, expected spent from 0 to below 1, looks from 0 on "
                f"and a number from 1 on"
            )

    @property
    def left(self) -> int:
        """Commits that are left, the next one included."""
        return max(self.horizon - self.looks, 1)

    @property
    def level(self) -> float:
        """Level of the next look."""
        return (self.alpha - self.spent) / self.left

    def under(self, alpha: float, horizon: int) -> "Series":
        """Return the series under a policy; what is spent stays spent, and a series that is over
        gives way to the next one.
        """
        is_over = self.looks >= self.horizon
        if self.looks >= horizon and not is_over:
            raise OptionError(
                f"horizon={horizon}: found a series with {self.looks:,} of "
                f"{_commits(self.horizon)} looked at, expected a horizon above {self.looks:,}; "
                f"{self._way_out}"
            )
        if is_over:
            return replace(
                self, alpha=alpha, horizon=horizon, looks=0, spent=0.0, number=self.number + 1
            )._within_reach()
        continued = replace(self, alpha=alpha, horizon=horizon)
        if self.looks and continued.level < _LEAST:
            raise OptionError(
                f"alpha={alpha:g} over {horizon:,} commits: the alpha of this series is spent: "
                f"found {self.spent:.3g} spent by {_commits(self.looks)}, which leaves "
                f"{max(continued.level, 0.0):.2g} for the next one, expected {_REACHED}; "
                f"{self._way_out}"
            )
        return continued._within_reach()

    def _within_reach(self) -> "Series":
        """Return the series; refuse one whose looks have a level that no result can reach."""
        if self.level < _LEAST:
            longest = math.floor(self.alpha / _LEAST)
            advice = (
                f"with alpha {self.alpha:g}, use a horizon of at most {longest:,}"
                if longest
                else "use a larger alpha"
            )
            raise OptionError(
                f"alpha={self.alpha:g}, horizon={self.horizon}: found a level of {self.level:.2g} "
                f"for each commit, expected {_REACHED}; {advice}"
            )
        return self

    @property
    def _way_out(self) -> str:
        """Two ways to go on with a series that a policy cannot continue."""
        before = f"ask for alpha {self.alpha:g} over {_commits(self.horizon)}, as before"
        return (
            f"{before}, or begin a new series: delete the file that holds this one, and run the "
            f"gate with --update-baseline"
        )

    def after_look(self) -> "Series":
        """Return the series after one more commit."""
        return replace(self, looks=self.looks + 1, spent=self.spent + self.level)

    def with_acceptance(self, acceptance: Acceptance) -> "Series":
        """Return the series with one more accepted drop."""
        return replace(self, accepted=(*self.accepted, acceptance))

    @property
    def sentence(self) -> str:
        """Position in the series and level of the next look."""
        commit = f"commit {self.looks + 1} of {self.horizon}"
        of_series = "" if self.number == 1 else f", series {self.number}"
        return f"{commit}{of_series}; its share of alpha {self.alpha:g} is {self.level:.3g}"

    def as_dict(self) -> dict[str, Any]:
        """Everything by name, as a baseline file has it."""
        return asdict(self)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Series":
        """Return the series of a record."""
        accepted = tuple(Acceptance(**entry) for entry in record["accepted"])
        return cls(
            alpha=float(record["alpha"]),
            horizon=int(record["horizon"]),
            looks=int(record["looks"]),
            spent=float(record["spent"]),
            number=int(record["number"]),
            accepted=accepted,
        )


def _commits(number: int) -> str:
    return "1 commit" if number == 1 else f"{number:,} commits"
