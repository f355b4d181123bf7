"""Maximum likelihood of users that read from the top (DBN): expectation maximisation, accelerated
by extrapolation.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from idealrank.clicks.fitted_model import last_clicks, share
from idealrank.clicks.sessions import Sessions
from idealrank.data.types import FloatArray

Each: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""A function like `map`, such as the `map` of an executor."""

# log-likelihood that is left to gain, by the shrinking of the steps, below which the fit has
# converged
_GAIN = 1e-3


@dataclass(frozen=True, eq=False)
class CountedSessions:
    """Distinct sessions of a part of a log, each counted so many times."""

    log: Sessions  # The distinct sessions
    times: FloatArray  # shape (sessions,): how often each of them occurred

    @classmethod
    def of(cls, log: Sessions) -> "CountedSessions":
        """Count sessions with the same list and the same clicks."""
        _, first, times = np.unique(
            np.hstack([log.pair, log.clicks]), axis=0, return_index=True, return_counts=True
        )
        return cls(log.select(first), times.astype(np.float64))

    def drawn(self, rng: np.random.Generator) -> "CountedSessions":
        """Draw as many sessions with replacement."""
        n = int(self.times.sum())
        return CountedSessions(self.log, rng.multinomial(n, self.times / n).astype(np.float64))

    @property
    def n_pairs(self) -> int:
        """Pairs of query and document."""
        return len(self.log.documents)

    def counts(self) -> tuple[FloatArray, FloatArray]:
        """Impressions and clicks of each pair."""
        often = np.broadcast_to(self.times[:, None], self.log.pair.shape)
        shown, clicked = (
            np.bincount(self.log.pair[rows], often[rows], self.n_pairs)
            for rows in (self.log.pair >= 0, self.log.clicks)
        )
        return np.asarray(shown, np.float64), np.asarray(clicked, np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadingFit:
    """Parameters of a DBN."""

    # attractive, satisfied: shape (pairs,): attractiveness and satisfaction of each pair
    attractive: FloatArray
    satisfied: FloatArray
    goes_on: float  # Probability of going on
    converged: bool = False  # Whether the fit reached the maximum of the likelihood

    @property
    def values(self) -> FloatArray:
        """All parameters in one array."""
        return np.concatenate([self.attractive, self.satisfied, [self.goes_on]])

    @classmethod
    def of(cls, values: FloatArray) -> "ReadingFit":
        """Take the parameters from one array."""
        n_pairs = values.size // 2
        return cls(
            attractive=values[:n_pairs], satisfied=values[n_pairs:-1], goes_on=float(values[-1])
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadingStep:
    """Result of one step of expectation maximisation for a part."""

    # attractive, satisfied: shape (pairs,): new parameters of the pairs of the part
    attractive: FloatArray
    satisfied: FloatArray
    # moved, stayed: How often users are expected to have gone on, and to have stayed
    moved: float
    stayed: float
    log_likelihood: float  # Logarithm of the probability of all clicks, before the step


def fit_reading(
    parts: Sequence[CountedSessions],
    steps: int,
    start: float,
    *,
    first: ReadingFit | None = None,
    each: Each = map,
) -> ReadingFit:
    """Fit a DBN to parts of a log without a common query.

    Two steps of expectation maximisation tell how fast steps shrink, and a third one starts from
    where they lead. It is dropped where the likelihood is lower there.
    """
    n_pairs = sum(part.n_pairs for part in parts)
    values = np.full(2 * n_pairs + 1, start) if first is None else first.values
    used = 0
    while used + 2 <= steps:
        once, before = _stepped(parts, values, start, each)
        twice, after = _stepped(parts, once, start, each)
        used += 2
        move, bend = once - values, twice - 2 * once + values
        length, bent = float(np.sqrt((move**2).sum())), float(np.sqrt((bend**2).sum()))
        factor = max(length / bent, 1.0) if bent > 0 else 1.0
        if (after - before) * factor < _GAIN:
            fit = ReadingFit.of(twice)
            return ReadingFit(
                attractive=fit.attractive,
                satisfied=fit.satisfied,
                goes_on=fit.goes_on,
                converged=True,
            )
        values = twice
        if factor > 1 and used < steps:
            leap = np.clip(once - move + 2 * factor * move + factor**2 * bend, 0, 1)
            landed, reached = _stepped(parts, leap, start, each)
            used += 1
            if reached >= after:
                values = landed
    while used < steps:
        values, _ = _stepped(parts, values, start, each)
        used += 1
    return ReadingFit.of(values)


def _stepped(
    parts: Sequence[CountedSessions], values: FloatArray, start: float, each: Each
) -> tuple[FloatArray, float]:
    """Parameters after a step, and the log-likelihood before it."""
    whole = ReadingFit.of(values)
    ends = np.cumsum([0, *(part.n_pairs for part in parts)]).tolist()
    states = [
        (
            part,
            ReadingFit(
                attractive=whole.attractive[low:high],
                satisfied=whole.satisfied[low:high],
                goes_on=whole.goes_on,
            ),
        )
        for part, low, high in zip(parts, ends[:-1], ends[1:], strict=True)
    ]
    found: list[ReadingStep] = list(each(partial(_step_of, start=start), states))
    moved, stayed = sum(one.moved for one in found), sum(one.stayed for one in found)
    goes_on = moved / (moved + stayed) if moved + stayed > 0 else whole.goes_on
    attractive, satisfied = (
        np.concatenate([getattr(one, name) for one in found])
        for name in ("attractive", "satisfied")
    )
    return ReadingFit(attractive=attractive, satisfied=satisfied, goes_on=goes_on).values, sum(
        one.log_likelihood for one in found
    )


def _step_of(state: tuple[CountedSessions, ReadingFit], start: float) -> ReadingStep:
    return reading_step(*state, start)


def reading_step(part: CountedSessions, fit: ReadingFit, start: float) -> ReadingStep:
    """One step: everything above the last click is known, and the rest follows from no click below
    it.
    """
    log, times, goes_on = part.log, part.times, fit.goes_on
    pair, clicks, ranks = log.pair, log.clicks, log.n_ranks
    a, s = np.append(fit.attractive, 0.0)[pair], np.append(fit.satisfied, 0.0)[pair]
    last, there = last_clicks(log), pair >= 0
    silent = _silent(a, there, goes_on)
    # chances, given all clicks, that a rank is examined, and its click satisfied
    examined, at_last = np.zeros((2, len(log), ranks))
    chance, probability = np.ones(len(log)), np.where(last > 0, 1.0, silent[:, 0])
    moved = stayed = 0.0
    for rank in range(ranks):
        examined[:, rank] = np.where(there[:, rank], chance, 0.0)
        below = silent[:, rank + 1]
        lower = there[:, rank + 1] if rank + 1 < ranks else np.zeros(len(log), bool)
        quiet = (1 - goes_on) + goes_on * below
        is_last, above = last == rank + 1, last > rank + 1
        whole = s[:, rank] + (1 - s[:, rank]) * quiet
        at_last[:, rank] = np.where(is_last, share(s[:, rank], whole, 0.0), 0.0)
        # chance of having gone on, of a user who may, and clicked nothing more
        onward = share(goes_on * below, quiet, 0.0)
        free = np.where(
            is_last,
            share((1 - s[:, rank]) * quiet, whole, 0.0),
            np.where(above, 1.0, examined[:, rank]),
        )
        chance = np.where(above, 1.0, free * onward)
        read_on = np.where(clicks[:, rank], a[:, rank] * (1 - s[:, rank]), 1 - a[:, rank]) * goes_on
        probability *= np.where(is_last, a[:, rank] * whole, np.where(above, read_on, 1.0))
        # Whether a user went on from the last rank of a list leaves no trace, and tells nothing of
        # how many do.
        moved += float((chance * times)[lower].sum())
        stayed += float(((free - chance) * times)[lower].sum())
    flat, often = pair[there], np.broadcast_to(times[:, None], pair.shape)[there]

    def by_pair(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(flat, values[there] * often, part.n_pairs), np.float64)

    attractive = share(
        by_pair(clicks + ~clicks * (1 - examined) * a), by_pair(np.ones(pair.shape)), start
    )
    satisfied = share(by_pair(at_last), by_pair(clicks.astype(np.float64)), start)
    counted = times > 0
    with np.errstate(divide="ignore"):
        log_likelihood = float((times[counted] * np.log(probability[counted])).sum())
    return ReadingStep(
        attractive=attractive,
        satisfied=satisfied,
        moved=moved,
        stayed=stayed,
        log_likelihood=log_likelihood,
    )


def _silent(
    attraction: FloatArray, there: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]", goes_on: float
) -> FloatArray:
    """Chance of no click from a rank on, if it is examined; 1 below the end of a list. Shape
    (sessions, ranks + 1).
    """
    n_sessions, ranks = attraction.shape
    found = np.ones((n_sessions, ranks + 1))
    for rank in range(ranks - 1, -1, -1):
        after = (1 - goes_on) + goes_on * found[:, rank + 1]
        found[:, rank] = np.where(there[:, rank], (1 - attraction[:, rank]) * after, 1.0)
    return found
