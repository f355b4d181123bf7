"""Baselines learned from usual rounds: values of the queries, season, noise of the mean, and its
dependence from round to round.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.live.alerts.seen_rounds import WHOLE, Baseline, SeenRound, season_part

_LARGEST_AUTOCORRELATION = 0.98  # at 1 the long-run variance would be infinite
# rounds; fewer show nothing about the dependence of one on the next
_FEWEST_FOR_AUTOCORRELATION = 8


@dataclass(frozen=True)
class Season:
    """Cycle of the values, such as a day."""

    seconds: float  # Length of the cycle
    parts: int  # Parts of the cycle, each with a usual mean of its own

    @classmethod
    def of(cls, seconds: float, *, every: float) -> "Season":
        """Return a season with a part for each round, but no part shorter than an hour or a 24th of
        the season.
        """
        shortest_part = max(every, min(3600.0, seconds / 24))
        return cls(seconds, max(2, int(seconds / shortest_part)))


def learn(
    rounds: Sequence[Mapping[str, Any]],
    base: Baseline,
    groups: Mapping[str, tuple[str, ...]],
    season: Season | None = None,
) -> Baseline:
    """Learn the usual values from rounds, unless they are given, and the season and noise of the
    mean.
    """
    values = base.values or _means([record["values"] for record in rounds])
    people = base.people or _means([record["people"] for record in rounds])
    usual = Baseline(values=values, people=people, rounds=1 if base.known else len(rounds))
    names = [WHOLE, *sorted(set[str]().union(*groups.values()))]
    noises = {}
    for name in names:
        noise = _noise_of(rounds, usual, groups, name, season)
        if noise is not None:
            noises[name] = noise
    return Baseline(
        values=values,
        people=people,
        noise={name: noise.deviation for name, noise in noises.items()},
        rounds=usual.rounds,
        noise_rounds=len(rounds),
        freedom={name: noise.freedom for name, noise in noises.items()},
        season=0.0 if season is None else season.seconds,
        offsets={name: noise.offsets for name, noise in noises.items() if noise.offsets},
        autocorrelation={name: noise.autocorrelation for name, noise in noises.items()},
        dependence={name: noise.dependence for name, noise in noises.items()},
    )


@dataclass(frozen=True, kw_only=True)
class _Noise:
    """Noise of the mean of one group of queries."""

    deviation: float
    freedom: int
    autocorrelation: float
    dependence: float
    offsets: list[float]


def _noise_of(
    rounds: Sequence[Mapping[str, Any]],
    usual: Baseline,
    groups: Mapping[str, tuple[str, ...]],
    name: str,
    season: Season | None,
) -> _Noise | None:
    """Noise of the mean drop of one group over usual rounds; None with fewer than two."""
    drops = []
    times = []
    for record in rounds:
        seen = SeenRound(
            outcome="complete", values=record["values"], people=record["people"], groups=groups
        )
        drop = usual.mean_drop(seen, name)
        if drop is not None:
            drops.append(drop)
            times.append(float(record.get("time", 0.0)))
    if len(drops) < 2:
        return None

    centred = np.array(drops, dtype=np.float64) - float(np.mean(drops))
    offsets = _offsets(centred, times, season)
    n_fitted = max(1, len(offsets))  # means that were estimated from the same rounds
    if season is not None:
        for place, time in enumerate(times):
            centred[place] -= offsets[season_part(time, season.seconds, season.parts)]

    correlation = _autocorrelation(centred, n_fitted)
    freedom = max(1, centred.size - n_fitted - (1 if correlation > 0 else 0))
    # The first round has no round before it: it is scaled to the variance of an innovation.
    first_innovation = centred[:1] * math.sqrt(1 - correlation**2)
    innovations = np.append(first_innovation, centred[1:] - correlation * centred[:-1])
    # Of an autoregression of order 1 with the correlation r: the variance of a round is that of an
    # innovation divided by 1 - r**2, and the long-run variance is (1 + r) / (1 - r) times as large.
    variance = float(np.square(innovations).sum()) / freedom / (1 - correlation**2)
    long_run = variance * (1 + correlation) / (1 - correlation)
    independent = _variance_of_independent_queries(rounds, groups, name)
    return _Noise(
        # The error of the offsets is in every later difference, as well as the noise of its own
        # round.
        deviation=math.sqrt(variance * (1 + len(offsets) / centred.size)),
        freedom=freedom,
        autocorrelation=correlation,
        dependence=max(1.0, long_run / independent) if independent > 0 else 1.0,
        offsets=offsets,
    )


def _offsets(centred: FloatArray, times: Sequence[float], season: Season | None) -> list[float]:
    """Mean of each part of the season; a part without a round is interpolated."""
    if season is None:
        return []
    parts = np.array([season_part(time, season.seconds, season.parts) for time in times])
    filled = np.unique(parts)
    means = [float(centred[parts == part].mean()) for part in filled]
    # the season is a circle: `period` joins its last part to its first
    offsets = np.interp(np.arange(season.parts), filled, means, period=season.parts)
    return [float(offset) for offset in offsets - offsets.mean()]


def _autocorrelation(centred: FloatArray, n_fitted: int) -> float:
    """Correlation of a round with the one before, from 0 to 0.98, corrected for its bias after a
    fit of so many means.

    Marriott and Pope (1954), Bias in the estimation of autocorrelations, Biometrika 41.
    """
    size = centred.size
    scale = float(np.square(centred).sum())
    if size < _FEWEST_FOR_AUTOCORRELATION or scale == 0:
        return 0.0
    raw = float((centred[1:] * centred[:-1]).sum()) / scale
    unbiased = raw + (n_fitted + 3 * raw) / size
    # Too small a correlation gives false alarms, too large a one delays: half a standard error is
    # added.
    error = math.sqrt(max(0.0, 1 - unbiased**2) / size)
    return min(max(unbiased + error / 2, 0.0), _LARGEST_AUTOCORRELATION)


def _variance_of_independent_queries(
    rounds: Sequence[Mapping[str, Any]], groups: Mapping[str, tuple[str, ...]], name: str
) -> float:
    """Variance of the mean of a round if the noise of the queries were independent."""
    gathered: dict[str, list[float]] = {}
    for record in rounds:
        for query, value in record["values"].items():
            if name == WHOLE or name in groups.get(query, ()):
                gathered.setdefault(query, []).append(value)
    variances = [float(np.var(values, ddof=1)) for values in gathered.values() if len(values) > 1]
    return math.fsum(variances) / len(variances) ** 2 if variances else 0.0


def _means(rounds: list[Mapping[str, float]]) -> dict[str, float]:
    gathered: dict[str, list[float]] = {}
    for values_by_query in rounds:
        for query, value in values_by_query.items():
            gathered.setdefault(query, []).append(value)
    return {query: math.fsum(values) / len(values) for query, values in sorted(gathered.items())}
