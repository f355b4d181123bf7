"""Fits of the dynamic Bayesian network (DBN) by accelerated expectation maximisation (EM)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from idealrank.clicks.fitted_model import last_clicks, share
from idealrank.clicks.sessions import Sessions
from idealrank.data.types import BoolArray, FloatArray

Each: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""A function like `map`, such as the `map` of an executor."""

# Log-likelihood that is left to gain, as estimated from the shrinking of the steps, below which the
# fit has converged: it is far below what sampling errors change.
_GAIN = 1e-3


@dataclass(frozen=True, eq=False)
class CountedSessions:
    """Distinct sessions of a part of a log, each counted so many times."""

    log: Sessions  # The distinct sessions
    times: FloatArray  # shape (sessions,): how often each of them occurred

    @classmethod
    def of(cls, log: Sessions) -> "CountedSessions":
        """Count sessions with the same list and the same clicks."""
        _, first_rows, times = np.unique(
            np.hstack([log.pair, log.clicks]), axis=0, return_index=True, return_counts=True
        )
        return cls(log.select(first_rows), times.astype(np.float64))

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
        pair = self.log.pair
        clicks = self.log.clicks
        times = np.broadcast_to(self.times[:, None], pair.shape)
        impressions = np.bincount(pair[pair >= 0], times[pair >= 0], self.n_pairs)
        clicked = np.bincount(pair[clicks], times[clicks], self.n_pairs)
        return np.asarray(impressions, np.float64), np.asarray(clicked, np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadingFit:
    """Parameters of a DBN."""

    # attractive, satisfied: shape (pairs,): attractiveness and satisfaction of each pair
    attractive: FloatArray
    satisfied: FloatArray
    goes_on: float  # Probability of going on
    converged: bool = False  # Whether the fit reached the maximum of the likelihood

    def of_pairs(self, low: int, high: int) -> "ReadingFit":
        """Select the parameters of a range of pairs."""
        return ReadingFit(
            attractive=self.attractive[low:high],
            satisfied=self.satisfied[low:high],
            goes_on=self.goes_on,
        )

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
    initial: ReadingFit | None = None,
    each: Each = map,
) -> ReadingFit:
    """Fit a DBN to parts of a log without a common query.

    Two steps of expectation maximisation tell how fast steps shrink. A third one starts from where
    they lead, and is dropped if the likelihood there is lower than after the first step.
    """
    n_pairs = sum(part.n_pairs for part in parts)
    values = np.full(2 * n_pairs + 1, start) if initial is None else initial.values
    n_steps = 0
    while n_steps + 2 <= steps:
        after_one, likelihood_at_start = _stepped(parts, values, start, each)
        after_two, likelihood_after_one = _stepped(parts, after_one, start, each)
        n_steps += 2
        # Squared extrapolation (Varadhan and Roland 2008): the size of the first step over the
        # size of its change is the number of such steps to the maximum, if they go on shrinking
        # alike.
        move = after_one - values
        bend = after_two - 2 * after_one + values
        move_size = float(np.sqrt((move**2).sum()))
        bend_size = float(np.sqrt((bend**2).sum()))
        factor = max(move_size / bend_size, 1.0) if bend_size > 0 else 1.0
        if (likelihood_after_one - likelihood_at_start) * factor < _GAIN:
            fit = ReadingFit.of(after_two)
            return ReadingFit(
                attractive=fit.attractive,
                satisfied=fit.satisfied,
                goes_on=fit.goes_on,
                converged=True,
            )

        values = after_two
        if factor > 1 and n_steps < steps:
            # `after_one - move`, not the values before both steps: the two differ by rounding, and
            # the number of steps that a fit takes can depend on it.
            leap = np.clip(after_one - move + 2 * factor * move + factor**2 * bend, 0, 1)
            after_leap, likelihood_at_leap = _stepped(parts, leap, start, each)
            n_steps += 1
            if likelihood_at_leap >= likelihood_after_one:
                values = after_leap
    while n_steps < steps:
        values, _ = _stepped(parts, values, start, each)
        n_steps += 1
    return ReadingFit.of(values)


def _stepped(
    parts: Sequence[CountedSessions], values: FloatArray, start: float, each: Each
) -> tuple[FloatArray, float]:
    """Parameters after a step, and the log-likelihood before it."""
    whole = ReadingFit.of(values)
    ends = np.cumsum([0, *(part.n_pairs for part in parts)]).tolist()
    states = [
        (part, whole.of_pairs(low, high))
        for part, low, high in zip(parts, ends[:-1], ends[1:], strict=True)
    ]
    steps: list[ReadingStep] = list(each(partial(_step_of, start=start), states))
    moved = sum(step.moved for step in steps)
    stayed = sum(step.stayed for step in steps)
    goes_on = moved / (moved + stayed) if moved + stayed > 0 else whole.goes_on
    attractive = np.concatenate([step.attractive for step in steps])
    satisfied = np.concatenate([step.satisfied for step in steps])
    after = ReadingFit(attractive=attractive, satisfied=satisfied, goes_on=goes_on)
    return after.values, sum(step.log_likelihood for step in steps)


def _step_of(state: tuple[CountedSessions, ReadingFit], start: float) -> ReadingStep:
    return reading_step(*state, start)


class _Expected(NamedTuple):
    """Chances of what clicks do not show, given all clicks of a session."""

    examined: FloatArray  # shape (sessions, ranks): that a rank was examined
    satisfied: FloatArray  # shape (sessions, ranks): that a click satisfied
    # moved, stayed: How often users are expected to have gone on, and to have stayed
    moved: float
    stayed: float
    probability: FloatArray  # shape (sessions,): of all clicks of the session


def reading_step(part: CountedSessions, fit: ReadingFit, start: float) -> ReadingStep:
    """One step: everything above the last click is known, and the rest follows from no click below
    it.
    """
    # what stands at each rank; 0 below the end of a list
    attraction = np.append(fit.attractive, 0.0)[part.log.pair]
    satisfaction = np.append(fit.satisfied, 0.0)[part.log.pair]
    expected = _expected(part, attraction, satisfaction, fit.goes_on)
    return _maximised(part, attraction, expected, start)


def _expected(
    part: CountedSessions, attraction: FloatArray, satisfaction: FloatArray, goes_on: float
) -> _Expected:
    """The expectations of a step, from the first rank down."""
    log = part.log
    times = part.times
    has_document = log.pair >= 0
    last = last_clicks(log)
    below_end = np.zeros((len(log), 1), bool)
    has_next = np.hstack([has_document[:, 1:], below_end])
    silent = _silent(attraction, has_document, goes_on)

    examined = np.zeros(log.pair.shape)
    satisfied = np.zeros(log.pair.shape)
    reaches_rank = np.ones(len(log))
    probability = np.where(last > 0, 1.0, silent[:, 0])
    moved = stayed = 0.0
    for rank in range(log.n_ranks):
        attracts = attraction[:, rank]
        satisfies = satisfaction[:, rank]
        is_last = last == rank + 1
        is_above_last = last > rank + 1
        examined[:, rank] = np.where(has_document[:, rank], reaches_rank, 0.0)
        # No click below: the user stops here, or goes on and clicks nothing.
        goes_on_silently = goes_on * silent[:, rank + 1]
        no_click_below = (1 - goes_on) + goes_on_silently
        # No click after this one: it satisfied, or the user clicks nothing below.
        ends_here = satisfies + (1 - satisfies) * no_click_below
        satisfied[:, rank] = np.where(is_last, share(satisfies, ends_here, 0.0), 0.0)
        # Chance that the user could go on: read this rank and was not satisfied.
        could_go_on = np.where(
            is_last,
            share((1 - satisfies) * no_click_below, ends_here, 0.0),
            np.where(is_above_last, 1.0, examined[:, rank]),
        )
        went_on = share(goes_on_silently, no_click_below, 0.0)  # given no click below
        reaches_rank = np.where(is_above_last, 1.0, could_go_on * went_on)
        read_on = np.where(log.clicks[:, rank], attracts * (1 - satisfies), 1 - attracts) * goes_on
        probability *= np.where(
            is_last, attracts * ends_here, np.where(is_above_last, read_on, 1.0)
        )
        # Going on from the last rank of a list leaves no trace in the log: only ranks with a
        # document below count.
        counted = has_next[:, rank]
        moved += float((reaches_rank * times)[counted].sum())
        stayed += float(((could_go_on - reaches_rank) * times)[counted].sum())
    return _Expected(
        examined=examined,
        satisfied=satisfied,
        moved=moved,
        stayed=stayed,
        probability=probability,
    )


def _maximised(
    part: CountedSessions, attraction: FloatArray, expected: _Expected, start: float
) -> ReadingStep:
    """The parameters that these expectations make likeliest: shares of impressions and clicks."""
    pair = part.log.pair
    clicks = part.log.clicks
    times = part.times
    has_document = pair >= 0
    flat = pair[has_document]
    often = np.broadcast_to(times[:, None], pair.shape)[has_document]

    def by_pair(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(flat, values[has_document] * often, part.n_pairs), np.float64)

    # A document without a click can attract only users that did not examine it.
    attracted = np.where(clicks, 1.0, (1 - expected.examined) * attraction)
    counted = times > 0
    with np.errstate(divide="ignore"):
        log_likelihood = float((times[counted] * np.log(expected.probability[counted])).sum())
    return ReadingStep(
        attractive=share(by_pair(attracted), by_pair(np.ones(pair.shape)), start),
        satisfied=share(by_pair(expected.satisfied), by_pair(clicks.astype(np.float64)), start),
        moved=expected.moved,
        stayed=expected.stayed,
        log_likelihood=log_likelihood,
    )


def _silent(attraction: FloatArray, has_document: BoolArray, goes_on: float) -> FloatArray:
    """Chance of no click from a rank on, if it is examined; 1 below the end of a list. Shape
    (sessions, ranks + 1).
    """
    n_sessions, ranks = attraction.shape
    silent = np.ones((n_sessions, ranks + 1))
    for rank in range(ranks - 1, -1, -1):
        after = (1 - goes_on) + goes_on * silent[:, rank + 1]
        silent[:, rank] = np.where(has_document[:, rank], (1 - attraction[:, rank]) * after, 1.0)
    return silent
