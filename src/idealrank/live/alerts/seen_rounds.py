"""Rounds as the alarms see them, and the baseline of the comparison."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.judging import CorrectedMean, correct

_ROUNDING = 1e-12  # a smaller difference of two values is a rounding error
# queries of a group in a sample; with fewer, the error is too uncertain to keep the stated rate of
# false alarms
FEWEST_SAMPLED = 5
WHOLE = ""  # the group of all queries; slices have names


@dataclass(frozen=True, kw_only=True)
class SeenRound:
    """Round as the alarms see it."""

    outcome: Literal["complete", "incomplete", "failed"]  # Only a complete round has a value
    # Value of each query that was answered and counts
    values: Mapping[str, float] = field(default_factory=dict)
    # Values by human grades of the queries that people graded; empty if all grades are equally good
    people: Mapping[str, float] = field(default_factory=dict)
    # Slices of the queries, by query
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    failed: float = 0.0  # Share of the queries without an answer
    empty: float = 0.0  # Share of the answers without a document
    # Times that so many attempts in a row failed that the engine was left alone for a while
    outages: int = 0
    coverage: float | None = None  # Judged share of the documents returned above the cutoff
    label_days: float | None = None  # Age of the judgments
    # Milliseconds, by ``p50``, ``p95`` and ``p99``; retries and waits count, and so do queries that
    # timed out
    latency: Mapping[str, float] = field(default_factory=dict)
    sampled: float = 1.0  # Share of the canary queries that this round asked
    time: float = 0.0  # Start, in seconds since 1970

    @property
    def is_usable(self) -> bool:
        """True if a baseline may be learned from the round: it is complete, and not without any
        document or judged document.
        """
        return self.outcome == "complete" and self.empty < 1 and self.coverage != 0

    def mean(self, group: str = WHOLE) -> float | None:
        """Return the mean of a group, corrected by the grades of people; None without a value."""
        if self.outcome != "complete":
            return None
        chosen = [value for query, value in self.values.items() if self.is_in(query, group)]
        if not chosen:
            return None
        if self.people and group == WHOLE:
            return self._corrected(0.95).mean
        return math.fsum(chosen) / len(chosen)

    def is_in(self, query: str, group: str) -> bool:
        """Return True if a query belongs to a group."""
        return group == WHOLE or group in self.groups.get(query, ())

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Return the confidence interval of the mean over queries; None without a value, or with
        fewer than two queries.
        """
        if self.outcome != "complete" or len(self.values) < 2:
            return None
        if self.people:
            corrected = self._corrected(level)
            return corrected.low, corrected.high
        half = half_width(np.array(list(self.values.values())), level)
        mean = self.mean() or 0.0
        return mean - half, mean + half

    def _corrected(self, level: float) -> "MeanInterval":
        return corrected_mean(dict(self.values), dict(self.people), level)

    def names(self) -> list[str]:
        """Return the names of the slices, in order."""
        names: set[str] = set()
        for query in self.values:
            names.update(self.groups.get(query, ()))
        return sorted(names)


class MeanInterval(NamedTuple):
    """Mean with the ends of its confidence interval."""

    mean: float
    low: float
    high: float


def half_width(values: FloatArray, level: float) -> float:
    """Return half the width of the t interval of a mean; infinite for a single value."""
    from scipy.special import stdtrit  # noqa: PLC0415  (SciPy; a page of stored rounds does without)

    if values.size < 2:
        return math.inf
    quantile = stdtrit(values.size - 1, (1 + level) / 2)
    return float(quantile * values.std(ddof=1) / math.sqrt(values.size))


def corrected_mean(
    values: Mapping[str, float], people: Mapping[str, float], level: float
) -> MeanInterval:
    """Return the mean of all queries by a model's grades, corrected by the queries that people
    graded, with its interval.
    """
    corrected = _correction(values, people, level)
    low, high = corrected.interval
    return MeanInterval(float(corrected.estimate), float(low), float(high))


def _correction(
    values: Mapping[str, float], people: Mapping[str, float], level: float
) -> CorrectedMean:
    graded_by_people = [query for query in people if query in values]
    return correct(
        [people[query] for query in graded_by_people],
        [values[query] for query in graded_by_people],
        [value for query, value in values.items() if query not in people],
        confidence=level,
    )


@dataclass(frozen=True)
class SamplingError:
    """Standard error of a mean by a random sample of the queries, and the degrees of freedom of its
    estimate.
    """

    error: float
    degrees: float

    def over(self, unit: float) -> "SamplingError":
        """Return the error in another unit."""
        return SamplingError(self.error / unit, self.degrees)


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """Usual values of the queries, and the usual noise of a round."""

    # values, people: Usual value of each query, by all grades and by the grades of people; empty
    # while they are being learned
    values: Mapping[str, float] = field(default_factory=dict)
    people: Mapping[str, float] = field(default_factory=dict)
    # Standard deviation of the mean of a usual round, by group; empty while it is being learned
    noise: Mapping[str, float] = field(default_factory=dict)
    rounds: int = 1  # Rounds behind the values; 1 for a stored evaluation
    noise_rounds: int = 1000  # Rounds behind the noise
    # Degrees of freedom of the noise, by group; rounds behind the noise less 1 where a group is
    # missing
    freedom: Mapping[str, int] = field(default_factory=dict)
    season: float = 0.0  # Seconds of a season of the values; 0 for none
    # Usual mean of each part of the season, less that of the whole season, by group
    offsets: Mapping[str, Sequence[float]] = field(default_factory=dict)
    # Correlation of the noise of a round with that of the round before, by group, from 0 to 1
    autocorrelation: Mapping[str, float] = field(default_factory=dict)
    # Long-run variance of the mean, divided by its variance if queries and rounds were independent,
    # by group; 1 or more
    dependence: Mapping[str, float] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """True if there are values to compare with."""
        return bool(self.values)

    def offset(self, observation: SeenRound, group: str = WHOLE) -> float:
        """Return the usual difference of a round from the baseline at its place in the season."""
        offsets = self.offsets.get(group, ())
        return offsets[season_part(observation.time, self.season, len(offsets))] if offsets else 0.0

    def degrees(self, group: str = WHOLE) -> int:
        """Return the degrees of freedom of the noise of a group."""
        return self.freedom.get(group, self.noise_rounds - 1)

    def error(self, group: str = WHOLE) -> float:
        """Return the standard error of the usual mean of a group; NaN while its noise is being
        learned.
        """
        # The variance of a mean of autoregressive rounds is (1 + r) / (1 - r) times as large as of
        # independent rounds, and at most that of one round.
        correlation = self.autocorrelation.get(group, 0.0)
        share = (1 + correlation) / (1 - correlation) / self.rounds
        return self.noise.get(group, math.nan) * math.sqrt(min(1.0, share))

    def differences(self, observation: SeenRound, group: str = WHOLE) -> FloatArray:
        """Return value less baseline and season for each query of a group that has both, in order
        of the queries.
        """
        queries = (
            query
            for query in sorted(observation.values)
            if query in self.values and observation.is_in(query, group)
        )
        drops = [observation.values[query] - self.values[query] for query in queries]
        differences = np.array(drops) - self.offset(observation, group)
        # a mean of equal values may differ from them in the last bit
        return np.where(np.abs(differences) < _ROUNDING, 0.0, differences)

    def sampling_error(self, observation: SeenRound, group: str = WHOLE) -> SamplingError | None:
        """Return the error of the mean difference of a round that asked a sample; None if too few
        queries show it.
        """
        if observation.sampled == 1:
            return SamplingError(0.0, math.inf)
        if self.people and observation.people and group == WHOLE:
            values, people = self._people_differences(observation)
            corrected = _correction(values, people, 0.95)
            size = len(values)
            error = corrected.standard_error
            degrees = corrected.df
        else:
            differences = self.differences(observation, group)
            size = differences.size
            degrees = differences.size - 1
            error = float(differences.std(ddof=1)) / math.sqrt(size) if size > 1 else math.nan
        if degrees + 1 < FEWEST_SAMPLED:
            return None
        # A sample of a finite population: the error vanishes when all queries are asked.
        population = sum(observation.is_in(query, group) for query in self.values)
        return SamplingError(error * math.sqrt(1 - size / population), degrees)

    def mean_drop(self, observation: SeenRound, group: str = WHOLE) -> float | None:
        """Return the mean difference of a round from the baseline; None without a query that has
        both.
        """
        if self.people and observation.people and group == WHOLE:
            drop = self.drop(observation)
            return None if drop is None else drop.mean
        differences = self.differences(observation, group)
        return float(differences.mean()) if differences.size else None

    def drop(
        self, observation: SeenRound, group: str = WHOLE, level: float = 0.95
    ) -> MeanInterval | None:
        """Return the mean difference of a round from the baseline, and its interval; None with
        fewer than two queries.
        """
        if self.people and observation.people and group == WHOLE:
            values, people = self._people_differences(observation)
            if len(set(values) & set(people)) < 2:
                return None
            return corrected_mean(values, people, level)
        differences = self.differences(observation, group)
        if differences.size < 2:
            return None
        mean = float(differences.mean())
        half = half_width(differences, level)
        return MeanInterval(mean, mean - half, mean + half)

    def _people_differences(
        self, observation: SeenRound
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Values of queries by all grades, and by grades of people, less baseline and season."""
        offset = self.offset(observation)
        values = {
            query: value - self.values[query] - offset
            for query, value in observation.values.items()
            if query in self.values
        }
        people = {
            query: value - self.people[query] - offset
            for query, value in observation.people.items()
            if query in self.people
        }
        return values, people


def season_part(time: float, season: float, parts: int) -> int:
    """Return the part of the season in which a time falls, from 0."""
    # A share just below 1 may be rounded up to 1 when it is multiplied.
    return min(parts - 1, int(time % season / season * parts))
