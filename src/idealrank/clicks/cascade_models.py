"""Models of users that read from the top: cascade, dependent click model (DCM), and dynamic Bayesian network (DBN, full and simplified)."""

from dataclasses import dataclass

import numpy as np

from idealrank.clicks.arguments import real_number, steps_of
from idealrank.clicks.fitted_model import FittedModel, last_clicks, share
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.data.types import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class FittedCascade(FittedModel):
    """A model of reading from the top, with its parameters.

    Users examine the first rank. After a document without a click they go on with probability `continuation`, after a click with
    `continuation_after_click`, by rank and by pair.

    Attributes
    ----------
    satisfaction : float64 array, shape (pairs,)
        Probability that a click satisfies, which ends the reading.
    continuation : float
        Probability of going on, if not satisfied.
    continuation_after_click : float64 array, shape (ranks,)
        Probability of going on after a click at each rank, if not satisfied.
    """

    satisfaction: FloatArray
    continuation: float
    continuation_after_click: FloatArray

    def conditional(self, sessions: Sessions) -> FloatArray:
        """Probability of a click at each rank, given the clicks above it."""
        return self._probabilities(sessions, given=True)

    def marginal(self, sessions: Sessions) -> FloatArray:
        """Probability of a click at each rank."""
        return self._probabilities(sessions, given=False)

    def _probabilities(self, sessions: Sessions, *, given: bool) -> FloatArray:
        attraction = self.attraction(sessions)
        values = np.append(self.satisfaction, 0.0)
        satisfied = values[self._places(sessions)]
        found = np.empty_like(attraction)
        examined = np.ones(len(sessions))
        for rank in range(sessions.n_ranks):
            a = attraction[:, rank]
            found[:, rank] = examined * a
            on_click = (1 - satisfied[:, rank]) * self.continuation_after_click[rank]
            if given:
                missed = self.continuation * examined * (1 - a) / np.maximum(1 - examined * a, 1e-300)
                examined = np.where(sessions.clicks[:, rank], on_click, missed)
            else:
                examined = examined * (a * on_click + (1 - a) * self.continuation)
        return found

    def _places(self, sessions: Sessions) -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
        if sessions.documents == self.documents:
            return sessions.pair
        place = {pair: number for number, pair in enumerate(self.documents)}
        known = np.array([*(place.get(pair, -1) for pair in sessions.documents), -1], np.int64)
        return known[sessions.pair]


@dataclass(frozen=True)
class Cascade:
    """Cascade model: users read from the top to the first click, and stop there. Later clicks of a list are ignored.

    References
    ----------
    Craswell, Zoeter, Taylor and Ramsey (2008), An experimental comparison of click position-bias models, WSDM.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q"] * 2, [["a", "b"], ["a", "b"]], [[1, 0], [0, 1]])
    >>> Cascade().fit(log).attractiveness
    {'q': {'a': 0.5, 'b': 1.0}}
    """

    def fit(self, sessions: Sessions) -> FittedCascade:
        """Estimate attractiveness: clicks of impressions down to the first click. The estimate is the maximum of the likelihood."""
        check_sessions(sessions)
        clicks = np.cumsum(sessions.clicks, axis=1)
        examined = (clicks - sessions.clicks == 0) & (sessions.pair >= 0)
        return _fitted(sessions, examined, np.ones(len(sessions.documents)), 1.0, np.ones(sessions.n_ranks))


@dataclass(frozen=True)
class DCM:
    """Dependent click model: after a click, users go on with a probability of its rank.

    References
    ----------
    Guo, Liu and Wang (2009), Efficient multiple-click models in web search, WSDM. The estimates are its equations 11 and 12, which treat
    ranks below the last click as not examined.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q"] * 2, [["a", "b"], ["a", "b"]], [[1, 0], [1, 1]])
    >>> DCM().fit(log).continuation_after_click.tolist()
    [0.5, 0.0]
    """

    def fit(self, sessions: Sessions) -> FittedCascade:
        """Estimate attractiveness, and continuation by rank."""
        ended, clicked = self.ends(sessions)
        return self.with_continuation(sessions, 1 - share(ended, clicked, 0.5))

    @staticmethod
    def ends(sessions: Sessions) -> tuple[FloatArray, FloatArray]:
        """Last clicks, and clicks, at each rank: sums over sessions."""
        check_sessions(sessions)
        ended = np.bincount(last_clicks(sessions), minlength=sessions.n_ranks + 1)[1:].astype(np.float64)
        return ended, sessions.clicks.sum(axis=0).astype(np.float64)

    @staticmethod
    def with_continuation(sessions: Sessions, goes_on: FloatArray) -> FittedCascade:
        """Estimate attractiveness, continuation by rank being known."""
        return _fitted(sessions, _down_to(last_clicks(sessions), sessions), np.zeros(len(sessions.documents)), 1.0, goes_on)


@dataclass(frozen=True)
class SDBN:
    """Simplified dynamic Bayesian network: users read on until a click satisfies them.

    References
    ----------
    Chapelle and Zhang (2009), A dynamic Bayesian network click model for web search ranking, WSDM, section 5 (algorithm 1).

    Examples
    --------
    >>> log = Sessions.from_arrays(["q"] * 2, [["a", "b"], ["a", "b"]], [[1, 0], [1, 1]])
    >>> SDBN().fit(log).satisfaction.tolist()
    [0.5, 1.0]
    """

    def fit(self, sessions: Sessions) -> FittedCascade:
        """Estimate attractiveness and satisfaction: clicks of impressions down to the last click, and last clicks of clicks."""
        check_sessions(sessions)
        last = last_clicks(sessions)
        return _fitted(sessions, _down_to(last, sessions), _satisfaction(sessions), 1.0, np.ones(sessions.n_ranks))


@dataclass(frozen=True)
class DBN:
    """Dynamic Bayesian network: users that are not satisfied go on with one probability, after every document.

    Parameters
    ----------
    iterations : int
        Steps of expectation maximisation.
    start : float
        Every parameter's first value, in (0, 1).

    References
    ----------
    Chapelle and Zhang (2009), WSDM, section 4 and its appendix.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q"] * 3, [["a", "b"], ["a", "b"], ["b", "a"]], [[1, 0], [1, 1], [0, 0]])
    >>> 0 < DBN(iterations=5).fit(log).continuation < 1
    True
    """

    iterations: int = 50
    start: float = 0.5

    def fit(self, sessions: Sessions) -> FittedCascade:
        """Estimate attractiveness, satisfaction and continuation."""
        check_sessions(sessions)
        sessions.require_ranks()
        steps, start = steps_of(self.iterations), real_number("start", self.start, "a probability between 0 and 1", low=0, high=1)
        n_pairs = len(sessions.documents)
        attractive, satisfied, goes_on = np.full(n_pairs, start), np.full(n_pairs, start), start
        for _ in range(steps):
            attractive, satisfied, moves = dbn_step(sessions, attractive, satisfied, goes_on, start)
            goes_on = continuation_of(moves, goes_on)
        impressions = np.bincount(sessions.pair[sessions.pair >= 0], minlength=n_pairs)
        return FittedCascade(
            sessions.documents, attractive, impressions, start, satisfied, goes_on, np.full(sessions.n_ranks, goes_on)
        )  # fmt: skip


def continuation_of(moves: tuple[float, float], before: float) -> float:
    """Probability of going on, from how often users are expected to have gone on and to have stayed.

    Examples
    --------
    >>> continuation_of((3.0, 1.0), 0.5), continuation_of((0.0, 0.0), 0.5)
    (0.75, 0.5)
    """
    moved, stayed = moves
    return moved / (moved + stayed) if moved + stayed > 0 else before


def dbn_step(
    sessions: Sessions, attractive: FloatArray, satisfied: FloatArray, goes_on: float, start: float
) -> tuple[FloatArray, FloatArray, tuple[float, float]]:
    """One step of expectation maximisation: everything above the last click is known, and the rest follows from no click below it.

    Returns attractiveness and satisfaction of each pair, and how often users are expected to have gone on and to have stayed: sums over
    sessions.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q"], [["a", "b"]], [[1, 0]])
    >>> dbn_step(log, np.full(2, 0.5), np.full(2, 0.5), 0.5, 0.5)[0].round(3).tolist()
    [1.0, 0.429]
    """
    pair, clicks, ranks = sessions.pair, sessions.clicks, sessions.n_ranks
    a, s = np.append(attractive, 0.0)[pair], np.append(satisfied, 0.0)[pair]
    last, there = last_clicks(sessions), pair >= 0
    silent = np.ones((len(sessions), ranks + 1))  # chance of no click from a rank on, if it is examined; 1 below the end
    for rank in range(ranks - 1, -1, -1):
        after = (1 - goes_on) + goes_on * silent[:, rank + 1]
        silent[:, rank] = np.where(there[:, rank], (1 - a[:, rank]) * after, 1.0)
    examined = np.zeros((len(sessions), ranks))
    chance = np.ones(len(sessions))  # that a rank is examined, given all clicks
    at_last = np.zeros((len(sessions), ranks))  # chance that the click satisfied, given all clicks
    moved = stayed = 0.0
    for rank in range(ranks):
        examined[:, rank] = np.where(there[:, rank], chance, 0.0)
        below, lower = silent[:, rank + 1], there[:, rank + 1] if rank + 1 < ranks else np.zeros(len(sessions), bool)
        quiet = (1 - goes_on) + goes_on * below
        is_last, above = last == rank + 1, last > rank + 1
        whole = s[:, rank] + (1 - s[:, rank]) * quiet
        at_last[:, rank] = np.where(is_last, share(s[:, rank], whole, 0.0), 0.0)
        onward = share(goes_on * below, quiet, 0.0)  # chance of having gone on, of a user who may, and clicked nothing more
        free = np.where(is_last, share((1 - s[:, rank]) * quiet, whole, 0.0), np.where(above, 1.0, examined[:, rank]))
        chance = np.where(above, 1.0, free * onward)
        # Whether a user went on from the last rank of a list leaves no trace, and tells nothing of how many do.
        moved += float(chance[lower].sum())
        stayed += float((free - chance)[lower].sum())
    flat, size = pair[there], attractive.size
    seen = (clicks + ~clicks * (1 - examined) * a)[there]
    clicked = np.bincount(flat, clicks[there], size)
    return (
        share(np.bincount(flat, seen, size), np.bincount(flat, minlength=size), start),
        share(np.bincount(flat, at_last[there], size), clicked, start),
        (moved, stayed),
    )


def _down_to(last: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]", sessions: Sessions) -> BoolArray:
    """Ranks down to the last click; all ranks of a list without a click, whose user saw them all."""
    ranks = np.arange(1, sessions.n_ranks + 1)
    found: BoolArray = ((ranks <= last[:, None]) | (last[:, None] == 0)) & (sessions.pair >= 0)
    return found


def _satisfaction(sessions: Sessions) -> FloatArray:
    last = last_clicks(sessions)
    rows = np.flatnonzero(last > 0)
    size = len(sessions.documents)
    ended = np.bincount(sessions.pair[rows, last[rows] - 1], minlength=size).astype(np.float64)
    clicked = np.bincount(sessions.pair[sessions.clicks], minlength=size).astype(np.float64)
    return share(ended, clicked, 0.5)


def _fitted(
    sessions: Sessions, examined: BoolArray, satisfaction: FloatArray, continuation: float, after_click: FloatArray
) -> FittedCascade:
    """A model whose attractiveness is the share of clicks among examined impressions."""
    size = len(sessions.documents)
    clicked = np.bincount(sessions.pair[examined & sessions.clicks], minlength=size).astype(np.float64)
    impressions = np.bincount(sessions.pair[examined], minlength=size)
    return FittedCascade(sessions.documents, share(clicked, impressions, 0.5), impressions, 0.5, satisfaction, continuation, after_click)
