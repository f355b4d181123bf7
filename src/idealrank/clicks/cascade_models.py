"""Models of users that read from the top: cascade, dependent click model (DCM), and dynamic
Bayesian network (DBN, full and simplified).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from idealrank.clicks.arguments import real_number, steps_of
from idealrank.clicks.fitted_model import (
    FittedModel,
    check_known_ranks,
    last_clicks,
    share,
    unconverged,
)
from idealrank.clicks.reading_fits import CountedSessions, Each, fit_reading
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import warn


@dataclass(frozen=True, eq=False)
class FittedCascade(FittedModel):
    """A model of reading from the top, with its parameters.

    Users examine the first rank. After a document without a click they go on with probability
    `continuation`, after a click with `continuation_after_click`, by rank and by pair.

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
        return self._probabilities(sessions, is_conditional=True)

    def marginal(self, sessions: Sessions) -> FloatArray:
        """Probability of a click at each rank."""
        return self._probabilities(sessions, is_conditional=False)

    def _probabilities(self, sessions: Sessions, *, is_conditional: bool) -> FloatArray:
        attraction = self.attraction(sessions)
        check_known_ranks(sessions, self.continuation_after_click.size)
        values = np.append(self.satisfaction, 0.0)
        satisfied = values[self._pair_numbers(sessions)]
        probabilities = np.empty_like(attraction)
        examined = np.ones(len(sessions))
        for rank in range(sessions.n_ranks):
            a = attraction[:, rank]
            probabilities[:, rank] = examined * a
            on_click = (1 - satisfied[:, rank]) * self.continuation_after_click[rank]
            if is_conditional:
                # By Bayes' rule: the rank was examined and not clicked, and the user went on. Where
                # a click is certain, numerator and denominator are 0, and so is the quotient.
                missed = (
                    self.continuation * examined * (1 - a) / np.maximum(1 - examined * a, 1e-300)
                )
                examined = np.where(sessions.clicks[:, rank], on_click, missed)
            else:
                examined = examined * (a * on_click + (1 - a) * self.continuation)
        return probabilities

    def _pair_numbers(self, sessions: Sessions) -> IntArray:
        if sessions.documents == self.documents:
            return sessions.pair
        number_of_pair = {pair: number for number, pair in enumerate(self.documents)}
        numbers = np.array(
            [*(number_of_pair.get(pair, -1) for pair in sessions.documents), -1], np.int64
        )
        return numbers[sessions.pair]


@dataclass(frozen=True)
class Cascade:
    """Cascade model: users read from the top to the first click, and stop there. Later clicks of a
    list are ignored.

    References
    ----------
    Craswell, Zoeter, Taylor and Ramsey (2008), An experimental comparison of click position-bias
    models, WSDM.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q"] * 2, [["a", "b"], ["a", "b"]], [[1, 0], [0, 1]])
    >>> Cascade().fit(log).attractiveness
    {'q': {'a': 0.5, 'b': 1.0}}
    """

    def fit(self, sessions: Sessions) -> FittedCascade:
        """Estimate attractiveness: clicks of impressions down to the first click. The estimate is
        the maximum of the likelihood.
        """
        check_sessions(sessions)
        clicks_above: IntArray = np.cumsum(sessions.clicks, axis=1) - sessions.clicks
        return _fitted(
            sessions,
            examined=(clicks_above == 0) & (sessions.pair >= 0),
            satisfaction=np.ones(len(sessions.documents)),
            after_click=np.ones(sessions.n_ranks),
        )


@dataclass(frozen=True)
class DCM:
    """Dependent click model: after a click, users go on with a probability of its rank.

    References
    ----------
    Guo, Liu and Wang (2009), Efficient multiple-click models in web search, WSDM. The estimates are
    its equations 11 and 12, which treat ranks below the last click as not examined.

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
        # Place 0 counts lists without a click.
        ended = np.bincount(last_clicks(sessions), minlength=sessions.n_ranks + 1)[1:]
        clicked = sessions.clicks.sum(axis=0)
        return ended.astype(np.float64), clicked.astype(np.float64)

    @staticmethod
    def with_continuation(sessions: Sessions, goes_on: FloatArray) -> FittedCascade:
        """Estimate attractiveness, continuation by rank being known."""
        return _fitted(
            sessions,
            examined=_down_to(last_clicks(sessions), sessions),
            satisfaction=np.zeros(len(sessions.documents)),
            after_click=goes_on,
        )


@dataclass(frozen=True)
class SDBN:
    """Simplified dynamic Bayesian network: users read on until a click satisfies them.

    References
    ----------
    Chapelle and Zhang (2009), A dynamic Bayesian network click model for web search ranking, WSDM,
    section 5 (algorithm 1).

    Examples
    --------
    >>> log = Sessions.from_arrays(["q"] * 2, [["a", "b"], ["a", "b"]], [[1, 0], [1, 1]])
    >>> SDBN().fit(log).satisfaction.tolist()
    [0.5, 1.0]
    """

    def fit(self, sessions: Sessions) -> FittedCascade:
        """Estimate attractiveness and satisfaction: clicks of impressions down to the last click,
        and last clicks of clicks.
        """
        check_sessions(sessions)
        return _fitted(
            sessions,
            examined=_down_to(last_clicks(sessions), sessions),
            satisfaction=_satisfaction(sessions),
            after_click=np.ones(sessions.n_ranks),
        )


@dataclass(frozen=True)
class DBN:
    """Dynamic Bayesian network: users that are not satisfied go on with one probability, after
    every document.

    Parameters
    ----------
    iterations : int
        Most steps of expectation maximisation; the fit ends sooner at the maximum of the
        likelihood.
    start : float
        Every parameter's first value, in (0, 1).

    References
    ----------
    Chapelle and Zhang (2009), WSDM, section 4 and its appendix. Varadhan and Roland (2008), Simple
    and globally convergent methods for accelerating the convergence of any EM algorithm,
    Scandinavian Journal of Statistics 35.

    Examples
    --------
    >>> log = Sessions.from_arrays(
    ...     ["q"] * 3, [["a", "b"], ["a", "b"], ["b", "a"]], [[1, 0], [1, 1], [0, 0]]
    ... )
    >>> 0 < DBN().fit(log).continuation < 1
    True
    """

    iterations: int = 500
    start: float = 0.5

    def fit(self, sessions: Sessions) -> FittedCascade:
        """Estimate attractiveness, satisfaction and continuation.

        Warns
        -----
        IdealrankWarning
            The fit has not converged.
        """
        check_sessions(sessions)
        return self.fit_parts([sessions], sessions.documents)

    def fit_parts(
        self,
        logs: "Sequence[Sessions]",
        documents: tuple[tuple[str, str], ...],
        *,
        each: Each = map,
    ) -> FittedCascade:
        """Estimate the parameters from parts of a log without a common query.

        Parameters
        ----------
        logs : sequence of Sessions
            The parts.
        documents : tuple of (str, str)
            Pairs of all parts, part by part.
        each : callable
            Applies a function to every part, as `map` does.
        """
        steps = steps_of(self.iterations)
        start = real_number("start", self.start, "a probability between 0 and 1", low=0, high=1)
        for log in logs:
            log.require_ranks()
        fit = fit_reading(list(each(CountedSessions.of, logs)), steps, start, each=each)
        cautions = [] if fit.converged else [unconverged(steps)]
        for caution in cautions:
            warn(caution)
        n_ranks = max(log.n_ranks for log in logs)
        impressions = [
            np.bincount(log.pair[log.pair >= 0], minlength=len(log.documents)) for log in logs
        ]
        return FittedCascade(
            documents=documents,
            attractiveness_values=fit.attractive,
            impressions=np.concatenate(impressions),
            start=start,
            satisfaction=fit.satisfied,
            continuation=fit.goes_on,
            continuation_after_click=np.full(n_ranks, fit.goes_on),
            converged=fit.converged,
            cautions=tuple(cautions),
        )


def _down_to(last: IntArray, sessions: Sessions) -> BoolArray:
    """Ranks down to the last click; all ranks of a list without a click, whose user saw them
    all.
    """
    ranks = np.arange(1, sessions.n_ranks + 1)
    examined: BoolArray = ((ranks <= last[:, None]) | (last[:, None] == 0)) & (sessions.pair >= 0)
    return examined


def _satisfaction(sessions: Sessions) -> FloatArray:
    """Share of the clicks on each pair that were the last of their list."""
    last = last_clicks(sessions)
    rows = np.flatnonzero(last > 0)
    size = len(sessions.documents)
    ended = np.bincount(sessions.pair[rows, last[rows] - 1], minlength=size).astype(np.float64)
    clicked = np.bincount(sessions.pair[sessions.clicks], minlength=size).astype(np.float64)
    return share(ended, clicked, 0.5)


def _fitted(
    sessions: Sessions,
    *,
    examined: BoolArray,
    satisfaction: FloatArray,
    after_click: FloatArray,
) -> FittedCascade:
    """A model whose attractiveness is the share of clicks among examined impressions, and whose
    users always go on without a click.
    """
    size = len(sessions.documents)
    clicked = np.bincount(sessions.pair[examined & sessions.clicks], minlength=size)
    impressions = np.bincount(sessions.pair[examined], minlength=size)
    return FittedCascade(
        documents=sessions.documents,
        attractiveness_values=share(clicked.astype(np.float64), impressions, 0.5),
        impressions=impressions,
        start=0.5,
        satisfaction=satisfaction,
        continuation=1.0,
        continuation_after_click=after_click,
    )
