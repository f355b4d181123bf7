"""Rounds as the alarms see them, and the baseline of the comparison."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.judging import correct

_ROUNDING = 1e-12
WHOLE = ""  # the group of all queries; slices have names


@dataclass(frozen=True, kw_only=True)
class SeenRound:
    """Round as the alarms see it.

    Attributes
    ----------
    outcome : {"complete", "incomplete", "failed"}
        Only a complete round has a value.
    values : mapping of str to float
        Value of each query that was answered and counts.
    people : mapping of str to float
        Values by human grades of the queries that people graded; empty if all grades are equally good.
    groups : mapping of str to tuple of str
        Slices of the queries, by query.
    failed : float
        Share of the queries without an answer.
    outages : int
        Times that so many attempts in a row failed that the engine was left alone for a while.
    coverage : float or None
        Judged share of the documents returned above the cutoff.
    label_days : float or None
        Age of the judgments.
    latency : mapping of str to float
        Milliseconds, by ``p50``, ``p95`` and ``p99``; retries and waits count, and so do queries that timed out.
    sampled : float
        Share of the canary queries that this round asked.

    Examples
    --------
    >>> SeenRound(outcome="complete", values={"q1": 0.5, "q2": 1.0}).mean()
    0.75
    """

    outcome: Literal["complete", "incomplete", "failed"]
    values: Mapping[str, float] = field(default_factory=dict)
    people: Mapping[str, float] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    failed: float = 0.0
    outages: int = 0
    coverage: float | None = None
    label_days: float | None = None
    latency: Mapping[str, float] = field(default_factory=dict)
    sampled: float = 1.0

    def mean(self, group: str = WHOLE) -> float | None:
        """Return the mean of a group, corrected by the grades of people; None without a value."""
        if self.outcome != "complete":
            return None
        chosen = [value for query, value in self.values.items() if group == WHOLE or group in self.groups.get(query, ())]
        if not chosen:
            return None
        return self._corrected(0.95)[0] if self.people and group == WHOLE else math.fsum(chosen) / len(chosen)

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Return the confidence interval of the mean over queries; None without a value, or with fewer than two queries."""
        if self.outcome != "complete" or len(self.values) < 2:
            return None
        if self.people:
            return self._corrected(level)[1:]
        half = half_width(np.array(list(self.values.values())), level)
        mean = self.mean() or 0.0
        return mean - half, mean + half

    def _corrected(self, level: float) -> tuple[float, float, float]:
        return corrected_mean(dict(self.values), dict(self.people), level)

    def names(self) -> list[str]:
        """Return the names of the slices, in order."""
        return sorted({name for query in self.values for name in self.groups.get(query, ())})


def half_width(values: FloatArray, level: float) -> float:
    """Half the width of the t interval of a mean; infinite for a single value.

    Examples
    --------
    >>> round(half_width(np.array([0.0, 0.5, 1.0]), 0.95), 3)
    1.242
    """
    from scipy.special import stdtrit  # noqa: PLC0415  (SciPy; a page of stored rounds does without)

    if values.size < 2:
        return math.inf
    return float(stdtrit(values.size - 1, (1 + level) / 2) * values.std(ddof=1) / math.sqrt(values.size))


def corrected_mean(values: Mapping[str, float], people: Mapping[str, float], level: float) -> tuple[float, float, float]:
    """Mean of all queries by a model's grades, corrected by the queries that people graded; with its interval.

    Examples
    --------
    >>> model = {f"q{i}": i % 2 for i in range(20)}
    >>> estimate, low, high = corrected_mean(model, {f"q{i}": (i % 2) / 2 for i in range(6)}, 0.95)
    >>> low < estimate < high
    True
    """
    both = [query for query in people if query in values]
    rest = [value for query, value in values.items() if query not in people]
    found = correct([people[query] for query in both], [values[query] for query in both], rest, confidence=level)
    return float(found.estimate), float(found.interval[0]), float(found.interval[1])


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """Usual values of the queries, and the usual noise of a round.

    Attributes
    ----------
    values, people : mapping of str to float
        Usual value of each query, by all grades and by the grades of people; empty while they are being learned.
    noise : mapping of str to float
        Standard deviation of the mean of a usual round, by group; empty while it is being learned.
    rounds : int
        Rounds behind the values; 1 for a stored evaluation.
    noise_rounds : int
        Rounds behind the noise.

    Examples
    --------
    >>> Baseline().known
    False
    """

    values: Mapping[str, float] = field(default_factory=dict)
    people: Mapping[str, float] = field(default_factory=dict)
    noise: Mapping[str, float] = field(default_factory=dict)
    rounds: int = 1
    noise_rounds: int = 1000

    @property
    def known(self) -> bool:
        """True if there are values to compare with."""
        return bool(self.values)

    def differences(self, observation: SeenRound, group: str = WHOLE) -> FloatArray:
        """Return value less baseline for each query of a group that has both, in order of the queries."""
        queries = (
            query
            for query in sorted(observation.values)
            if query in self.values and (group == WHOLE or group in observation.groups.get(query, ()))
        )
        found = np.array([observation.values[query] - self.values[query] for query in queries])
        return np.where(np.abs(found) < _ROUNDING, 0.0, found)  # a mean of equal values may differ from them in the last bit

    def mean_drop(self, observation: SeenRound, group: str = WHOLE) -> float | None:
        """Return the mean difference of a round from the baseline; None without a query that has both."""
        if self.people and observation.people and group == WHOLE:
            found = self.drop(observation)
            return None if found is None else found[0]
        differences = self.differences(observation, group)
        return float(differences.mean()) if differences.size else None

    def drop(self, observation: SeenRound, group: str = WHOLE, level: float = 0.95) -> tuple[float, float, float] | None:
        """Return the mean difference of a round from the baseline, and its interval; None with fewer than two queries."""
        if self.people and observation.people and group == WHOLE:
            values = {query: value - self.values[query] for query, value in observation.values.items() if query in self.values}
            people = {query: value - self.people[query] for query, value in observation.people.items() if query in self.people}
            return corrected_mean(values, people, level) if len(set(values) & set(people)) > 1 else None
        found = self.differences(observation, group)
        if found.size < 2:
            return None
        mean, half = float(found.mean()), half_width(found, level)
        return mean, mean - half, mean + half


def learn(rounds: list[dict[str, Any]], base: Baseline, groups: Mapping[str, tuple[str, ...]]) -> Baseline:
    """Learn the usual values from rounds, unless they are given, and the usual noise of the mean.

    Parameters
    ----------
    rounds : list of dict
        Values of complete rounds: ``values`` and ``people``, by query.
    base : Baseline
        With values, if these come from a stored evaluation.
    groups : mapping of str to tuple of str
        Slices of each query.

    Examples
    --------
    >>> rounds = [{"values": {"a": 0.4, "b": 1.0}, "people": {}}, {"values": {"a": 0.6, "b": 1.0}, "people": {}}]
    >>> found = learn(rounds, Baseline(), {"a": ("hard",)})
    >>> found.values, {group: round(sd, 3) for group, sd in found.noise.items()}
    ({'a': 0.5, 'b': 1.0}, {'': 0.071, 'hard': 0.141})
    """
    values = base.values or _means([one["values"] for one in rounds])
    people = base.people or _means([one["people"] for one in rounds])
    usual = Baseline(values=values, people=people, rounds=1 if base.known else len(rounds))
    seen = [SeenRound(outcome="complete", values=one["values"], people=one["people"], groups=groups) for one in rounds]
    names = [WHOLE, *sorted({name for one in groups.values() for name in one})]
    noise = {}
    for name in names:
        drops = [drop for one in seen if (drop := usual.mean_drop(one, name)) is not None]
        if len(drops) >= 2:
            noise[name] = float(np.std(drops, ddof=1))
    return Baseline(values=values, people=people, noise=noise, rounds=usual.rounds, noise_rounds=len(rounds))


def _means(rounds: list[Mapping[str, float]]) -> dict[str, float]:
    gathered: dict[str, list[float]] = {}
    for one in rounds:
        for query, value in one.items():
            gathered.setdefault(query, []).append(value)
    return {query: math.fsum(values) / len(values) for query, values in sorted(gathered.items())}
