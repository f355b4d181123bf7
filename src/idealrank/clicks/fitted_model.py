"""Fitted click models: probabilities of clicks, log-likelihood and perplexity."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from idealrank.clicks.sessions import Sessions, check_sessions, nested
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError

# A probability of 0 or 1 that the sessions contradict costs 40 bits, not infinitely many.
_LEAST = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedModel(ABC):
    """A click model with its parameters.

    Attributes
    ----------
    documents : tuple of (str, str)
        Pairs of query and document with an estimate.
    attractiveness_values : float64 array, shape (pairs,)
        Probability that an examined document is clicked, in the order of `documents`.
    impressions : int64 array, shape (pairs,)
        How often each pair was shown; of models that count, as far as they take it as examined.
    start : float
        Attractiveness of a pair that was never shown.
    converged : bool
        Whether the fit reached the maximum of the likelihood; True of models that count.
    cautions : tuple of str
        Reasons not to trust the parameters; each is also a warning.
    """

    documents: tuple[tuple[str, str], ...]
    attractiveness_values: FloatArray
    impressions: IntArray
    start: float
    converged: bool = field(default=True, kw_only=True)
    cautions: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def attractiveness(self) -> Mapping[str, Mapping[str, float]]:
        """Attractiveness by query and document."""
        return nested(self.documents, self.attractiveness_values)

    @abstractmethod
    def conditional(self, sessions: Sessions) -> FloatArray:
        """Probability of a click at each rank, given the clicks above it; NaN below the end of a
        list. Shape (sessions, ranks).
        """

    @abstractmethod
    def marginal(self, sessions: Sessions) -> FloatArray:
        """Probability of a click at each rank, without knowing any click; NaN below the end of a
        list. Shape (sessions, ranks).
        """

    def log_likelihood(self, sessions: Sessions) -> float:
        """Natural logarithm of the probability of all clicks."""
        check_sessions(sessions)
        return float(np.nansum(_log_probability(self.conditional(sessions), sessions)))

    def perplexity_by_rank(self, sessions: Sessions) -> FloatArray:
        """Perplexity of the clicks at each rank: 2 for a coin, 1 for certainty (Dupret and
        Piwowarski 2008).

        Predictions count `start` as one more impression of each pair: the estimate of a pair with
        few impressions is often 0 or 1, which sessions that the model has not seen contradict.
        """
        check_sessions(sessions)
        smoothed = (self.impressions * self.attractiveness_values + self.start) / (
            self.impressions + 1
        )
        predicted = replace(self, attractiveness_values=smoothed).marginal(sessions)
        shown = (sessions.pair >= 0).sum(axis=0)
        bits = -np.nansum(_log_probability(predicted, sessions), axis=0) / np.log(2)
        perplexity: FloatArray = 2 ** np.divide(
            bits, shown, out=np.full(sessions.n_ranks, np.nan), where=shown > 0
        )
        return perplexity

    def perplexity(self, sessions: Sessions) -> float:
        """Mean of the perplexities of the ranks."""
        return float(np.nanmean(self.perplexity_by_rank(sessions)))

    def attraction(self, sessions: Sessions) -> FloatArray:
        """Attractiveness of what stands at each rank; NaN below the end of a list. Shape (sessions,
        ranks).
        """
        check_sessions(sessions)
        if sessions.documents == self.documents:
            values = self.attractiveness_values
        else:
            number_of_pair = {pair: number for number, pair in enumerate(self.documents)}
            numbers = np.array(
                [number_of_pair.get(pair, -1) for pair in sessions.documents], np.int64
            )
            values = np.where(numbers >= 0, self.attractiveness_values[numbers], self.start)
        attraction: FloatArray = np.append(values, np.nan)[sessions.pair]
        return attraction


def _log_probability(probability: FloatArray, sessions: Sessions) -> FloatArray:
    bounded = np.clip(probability, _LEAST, 1 - _LEAST)
    logs: FloatArray = np.log(np.where(sessions.clicks, bounded, 1 - bounded))
    return logs


def check_known_ranks(sessions: Sessions, n_ranks: int) -> None:
    """Refuse sessions with more ranks than the log that a model was fitted to."""
    if sessions.n_ranks > n_ranks:
        raise InputError(
            f"sessions: found {sessions.n_ranks:,} ranks, expected at most {n_ranks:,}, the number "
            "in the log that the model was fitted to; cut the lists, or fit the model to longer "
            "ones"
        )


def unconverged(steps: int) -> str:
    """Caution of a fit that stopped before the maximum of the likelihood."""
    return (
        f"the click model has not converged at {steps:,} iterations; raise the number of iterations"
    )


def previous_clicks(sessions: Sessions) -> IntArray:
    """Rank, from 1, of the lowest click above each rank; 0 without one. Shape (sessions, ranks)."""
    ranks = np.arange(1, sessions.n_ranks + 1)
    above = np.maximum.accumulate(np.where(sessions.clicks, ranks, 0), axis=1)
    return np.hstack([np.zeros((len(sessions), 1), np.int64), above[:, :-1]])


def last_clicks(sessions: Sessions) -> IntArray:
    """Rank, from 1, of the lowest click of each list; 0 without one."""
    last: IntArray = np.where(sessions.clicks, np.arange(1, sessions.n_ranks + 1), 0).max(axis=1)
    return last


def share(part: npt.ArrayLike, whole: npt.ArrayLike, otherwise: float) -> FloatArray:
    """Part of a whole, or another value where there is no whole."""
    divisor = np.asarray(whole, np.float64)
    shares: FloatArray = np.divide(
        part, divisor, out=np.full(divisor.shape, otherwise), where=divisor > 0
    )
    return shares
