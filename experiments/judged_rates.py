"""Shares at which unjudged documents are likely to be relevant, for many replicates at once: what
`judgment_reach` describes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from judged_pools import CUTOFF

from idealrank.data.types import BoolArray, FloatArray, IntArray

LEAST = 20  # documents of a rate, of a lower limit, and of odds
Z = 1.2815515655446004  # of limits of 90 %, each to one side
ROOT = 0.25  # of the odds of gaps


def joined(counts: FloatArray, least: int = LEAST) -> IntArray:
    """Groups of neighbouring ranks from the top with at least so many documents; what is left joins
    the last group.

    Counts have the shape (replicates, 10), groups too: numbers from 0.
    """
    groups = np.zeros(counts.shape, int)
    now, held = np.zeros(len(counts), int), np.zeros(len(counts))
    for rank in range(counts.shape[1]):
        groups[:, rank] = now
        held = held + counts[:, rank]
        full = held >= least
        now, held = now + full, np.where(full, 0, held)
    return np.minimum(groups, np.maximum(now - 1, 0)[:, None])


def by_group(groups: IntArray, values: FloatArray) -> FloatArray:
    """Sums by group, shape (replicates, 10)."""
    at = (groups + CUTOFF * np.arange(len(groups))[:, None]).ravel()
    return np.bincount(at, values.ravel(), groups.size).reshape(groups.shape)


def wilson(share: FloatArray, n: FloatArray, z: float) -> FloatArray:
    """Limit of a share: the upper one for z > 0. Without any document 1, or 0."""
    n = np.maximum(n, 1e-9)
    centre, half = (
        share + z * z / (2 * n),
        abs(z) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)),
    )
    return np.clip((centre + np.sign(z) * half) / (1 + z * z / n), 0, 1)


def rate(
    relevant: FloatArray, judged: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Share relevant, weighted by rank, and the number of documents it is worth: 1 / sum of (weight
    of a group)^2 / (its documents).
    """
    groups = joined(judged)
    found, seen, weight = (by_group(groups, values) for values in (relevant, judged, weights))
    share = (weight * np.divide(found, seen, out=np.zeros_like(found), where=seen > 0)).sum(axis=1)
    spread = np.where(weight > 0, weight**2 / np.maximum(seen, 1e-9), 0).sum(axis=1)
    return share, np.divide(1, spread, out=np.zeros_like(spread), where=spread > 0)


class Gaps(NamedTuple):
    """Missing and existing judgments of some documents in each replicate."""

    missing: FloatArray
    judged: FloatArray

    @property
    def known(self) -> BoolArray:
        return self.missing + self.judged >= LEAST

    @property
    def odds(self) -> FloatArray:
        return self.missing / np.maximum(self.judged, 1)

    def exceeds(self, other: "Gaps") -> BoolArray:
        """Where the odds are larger by more than chance."""
        error = np.sqrt(sum(1 / (count + 0.5) for count in (*self, *other)))
        return (
            np.log(self.missing + 0.5)
            - np.log(self.judged + 0.5)
            - np.log(other.missing + 0.5)
            + np.log(other.judged + 0.5)
            > Z * error
        )


def excess(own: Gaps, others: Sequence[Gaps]) -> FloatArray:
    """Odds of gaps that neither the gaps of shared documents nor those of the other run explain."""
    more, beyond = own.odds, np.ones(len(own.odds), bool)
    for other in others:
        more = np.where(other.known, np.minimum(more, own.odds - other.odds), more)
        beyond &= ~other.known | own.exceeds(other)
    return np.where(beyond, np.maximum(more, 0), 0)


def kept_odds(own: Gaps, shared: Gaps) -> FloatArray:
    """Factor of the odds of the lower limit."""
    ratio = np.divide(shared.odds, own.odds, out=np.ones_like(own.odds), where=own.missing > 0)
    return np.where((own.missing > 0) & ~shared.known, 0, np.minimum(ratio, 1) ** ROOT)


def unexplained(sums: dict[str, FloatArray], weights: FloatArray, declared: float) -> FloatArray:
    """Share of unlabelled documents of a run's own beyond what sampling a share of those that are
    not relevant leaves.
    """
    groups = joined(sums["alone"])
    zeros, missing, weight = (
        by_group(groups, values)
        for values in (sums["alone"] - sums["alone_relevant"], sums["own"], weights)
    )
    most = (
        zeros * (1 - declared) / declared
        + Z * np.sqrt(np.maximum(zeros, 1) * (1 - declared)) / declared
    )
    part = np.divide(
        np.maximum(missing - most, 0), missing, out=np.ones_like(missing), where=missing > 0
    )
    return (weight * part).sum(axis=1)


class Shares(NamedTuple):
    """Shares relevant among judged documents, and the limits of each."""

    among_judged: FloatArray
    among_alone: FloatArray
    n_alone: FloatArray
    lower: FloatArray
    smaller: FloatArray
    larger: FloatArray

    @classmethod
    def of(cls, sums: dict[str, FloatArray], weights: FloatArray) -> "Shares":
        among_judged, n_judged = rate(sums["relevant"], sums["judged"], weights)
        among_alone, n_alone = rate(sums["alone_relevant"], sums["alone"], weights)
        lower = np.where(n_alone >= LEAST, wilson(among_alone, n_alone, -Z), 0)
        upper = wilson(among_judged, n_judged, Z), wilson(among_alone, n_alone, Z)
        return cls(
            among_judged, among_alone, n_alone, lower, np.minimum(*upper), np.maximum(*upper)
        )
