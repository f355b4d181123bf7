"""Propensities from the logs of several rankers: documents at different ranks are interventions
that need no swaps.
"""

import math
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import check_confidence, one_of, replicates_of
from idealrank.clicks.cell_counts import FIRST_WITHOUT_CLICK, CellCounts
from idealrank.clicks.profile_likelihood import inverse_of
from idealrank.clicks.query_bootstrap import (
    linking_queries,
    log_intervals,
    one_query_cautions,
    query_draws,
)
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, warn
from idealrank.stats.randomness import RandomLike, generator_of

HarvestMethod: TypeAlias = Literal["all-pairs", "pivot"]

_EDGE = 1e-6  # probabilities stay this far from 0 and 1 in the likelihood of the search
_INSIDE = 0.99  # factor of the rates from which steps of Newton start: inside the bounds
_MOST_STEPS = 100  # of Newton; a maximum inside the bounds takes about ten
_LEAST_SHARE = 1e-9  # of a step: below it, the maximum lies at a bound
_ROUNDING = 1e-15  # rise of the loss that rounding explains
_CONVERGED = 1e-12  # change of a logarithm in a whole step


@dataclass(frozen=True, kw_only=True, eq=False)
class HarvestedPropensities:
    """Propensity of each rank relative to the first, from documents that stood at several ranks.

    Attributes
    ----------
    relative : float64 array, shape (ranks,)
        Estimates; the first is 1. NaN for ranks that no chain of interventions with clicks links
        with the first.
    intervals : float64 array, shape (ranks, 2)
        Student intervals of the logarithms, with standard errors by bootstrap over queries; NaN
        without replicates, for a rank without a click, and for a rank that fewer than two queries
        link with the first.
    interventions : int64 array, shape (ranks, ranks)
        Number of pairs of query and document that stood at both ranks; on the diagonal 0.
    n_sessions : int
        Lists.
    method : {"all-pairs", "pivot"}
        How they were estimated.

    Examples
    --------
    >>> log = Sessions.from_arrays(
    ...     ["q"] * 4,
    ...     [["a", "b"], ["a", "b"], ["b", "a"], ["b", "a"]],
    ...     [[1, 0], [1, 1], [1, 0], [1, 1]],
    ... )
    >>> harvest = harvested_propensities(log, n_resamples=0)
    >>> harvest.relative.round(3).tolist(), harvest.interventions.tolist()
    ([1.0, 0.5], [[0, 2], [2, 0]])
    """

    relative: FloatArray
    intervals: FloatArray
    interventions: IntArray
    n_sessions: int
    method: HarvestMethod


def harvested_propensities(
    sessions: Sessions,
    *,
    method: HarvestMethod = "all-pairs",
    n_resamples: int = 100,
    confidence: float = 0.95,
    rng: RandomLike = 0,
) -> HarvestedPropensities:
    """Estimate propensities from the logs of several rankers, without swaps and without an
    attractiveness of each document.

    Where one ranker puts a document at rank k and another ranker at rank k', its rates of clicks
    differ by the propensities alone, if each session got its ranker at random. Both rates of a
    document have the same weight, ``n * n' / (n + n')`` for n and n' impressions, so that the
    comparison is fair whatever the shares of the rankers.

    Parameters
    ----------
    sessions : Sessions
        Lists of at least two rankers, or of versions of one. The ranker of a session is drawn at
        random, whatever the user.
    method : {"all-pairs", "pivot"}
        Likelihood of the clicks of all pairs of ranks; or the ratio of the rates of clicks at each
        rank and at the first, of the documents that stood at both.
    n_resamples : int
        Replicates of the bootstrap over queries; 0 for none.
    confidence : float
        Confidence level of the intervals.
    rng : seed or Generator
        Random numbers of the bootstrap.

    Raises
    ------
    InputError
        No document changes its rank, no list has a click, or a list has more than 1,000 ranks.
    OptionError
        An option is unknown, or outside its range.

    Warns
    -----
    IdealrankWarning
        The first rank has no click, or a rank is not linked with it; its propensity is NaN. Or only
        one query links a rank with the first; its interval is NaN.

    References
    ----------
    Agarwal, Zaitsev, Wang, Li, Najork and Joachims (2019), Estimating position bias without
    intrusive interventions. Their weights are the expected impressions by the shares of the
    rankers; these are the logged ones, which need no label of the ranker.

    Examples
    --------
    >>> from idealrank.clicks import simulate
    >>> harvest = harvested_propensities(
    ...     simulate([[0.9, 0.5, 0.3]] * 3, 9000, ranks=3, policy="random", rng=1), n_resamples=0
    ... )
    >>> bool(abs(harvest.relative - [1, 1 / 2, 1 / 3]).max() < 0.05)
    True
    """
    one_of("method", method, HarvestMethod)
    check_sessions(sessions)
    sessions.require_ranks()
    level = check_confidence(confidence)
    replicates = replicates_of(n_resamples, width=sessions.n_ranks)
    sessions.require_click()
    cells = CellCounts.of(sessions, np.arange(sessions.n_ranks), sessions.n_ranks)
    harvest = _Harvest.of(cells, sessions.query_of_pair)
    interventions = harvest.interventions
    if not interventions.any():
        raise InputError(
            "sessions: found no document at two ranks, expected some; log a second ranker, or swaps"
        )

    relative = _relative(*harvest.sums(None), method)
    first_has_click = bool(sessions.clicks[:, 0].any())
    if not first_has_click:
        warn(FIRST_WITHOUT_CLICK)
    elif np.isnan(relative).any():
        lost = ", ".join(str(rank + 1) for rank in np.flatnonzero(np.isnan(relative)))
        warn(
            f"no chain of interventions with clicks links rank {lost} with the first: no "
            "propensity there"
        )

    intervals = np.full((relative.size, 2), np.nan)
    if replicates and first_has_click:
        n_queries = len(sessions.queries)
        draws = query_draws(generator_of(rng), n_queries, replicates)
        values = np.array([_relative(*harvest.sums(times), method) for times in draws])
        n_linking = linking_queries(
            cells.at_first() if method == "pivot" else cells, sessions.query_of_pair
        )
        intervals = log_intervals(relative, values, n_linking, n_queries, level)
        for caution in one_query_cautions(n_linking):
            warn(caution)
    return HarvestedPropensities(
        relative=relative,
        intervals=intervals,
        interventions=interventions,
        n_sessions=len(sessions),
        method=method,
    )


def all_pairs_of(cells: CellCounts, query_of_pair: IntArray) -> FloatArray:
    """Propensities by the likelihood of all pairs of ranks, from counts by rank. Shape (ranks,)."""
    return _all_pairs(*_Harvest.of(cells, query_of_pair).sums(None))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Harvest:
    """A row for each document and each ordered pair of its ranks: weighted clicks, and other
    impressions, at the first of both.
    """

    query: IntArray
    ranks: IntArray  # rank times number of ranks, plus the other rank
    clicked: FloatArray
    skipped: FloatArray
    n_ranks: int

    @classmethod
    def of(cls, cells: CellCounts, query_of_pair: IntArray) -> "_Harvest":
        n_ranks = cells.n_situations
        pair = cells.pair
        place = cells.situation
        shown = cells.shown
        clicked = cells.clicked
        starts = np.flatnonzero(np.diff(pair, prepend=-1))
        sizes = np.diff(np.append(starts, pair.size))
        # Each cell of a pair of query and document meets all cells of the pair, itself included;
        # then it is dropped.
        repeats = np.repeat(sizes, sizes)
        cell = np.repeat(np.arange(pair.size), repeats)
        within = np.arange(cell.size) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        other_cell = np.repeat(np.repeat(starts, sizes), repeats) + within
        differs = cell != other_cell
        cell = cell[differs]
        other_cell = other_cell[differs]
        # The weight n * n' / (n + n') of a rate, divided by its impressions n: clicks are counts.
        weight = shown[other_cell] / (shown[cell] + shown[other_cell])
        return cls(
            query=query_of_pair[pair[cell]],
            ranks=place[cell] * n_ranks + place[other_cell],
            clicked=clicked[cell] * weight,
            skipped=(shown[cell] - clicked[cell]) * weight,
            n_ranks=n_ranks,
        )

    @property
    def interventions(self) -> IntArray:
        counts: IntArray = np.bincount(self.ranks, minlength=self.n_ranks**2)
        return counts.reshape(self.n_ranks, self.n_ranks)

    def sums(self, times: IntArray | None) -> tuple[FloatArray, FloatArray]:
        """Weighted clicks and other impressions at each rank of documents that also stood at the
        other; queries count so many times.
        """
        factor = 1.0 if times is None else times[self.query]
        shape = (self.n_ranks, self.n_ranks)
        clicked = np.bincount(self.ranks, self.clicked * factor, self.n_ranks**2).reshape(shape)
        skipped = np.bincount(self.ranks, self.skipped * factor, self.n_ranks**2).reshape(shape)
        return clicked.astype(np.float64), skipped.astype(np.float64)


def _relative(clicked: FloatArray, skipped: FloatArray, method: HarvestMethod) -> FloatArray:
    if method == "pivot":
        # Without impressions, clicks and rates are 0; the tiny divisor only avoids 0 / 0.
        at_first = clicked[0] / np.maximum(clicked[0] + skipped[0], 1e-300)
        at_rank = clicked[:, 0] / np.maximum(clicked[:, 0] + skipped[:, 0], 1e-300)
        relative: FloatArray = np.divide(
            at_rank, at_first, out=np.full(at_first.size, np.nan), where=at_first > 0
        )
        relative[0] = 1.0
        return relative
    return _all_pairs(clicked, skipped)


def _all_pairs(clicked: FloatArray, skipped: FloatArray) -> FloatArray:
    """Propensities of greatest likelihood: a rank times a relevance of each pair of ranks, which is
    the same from both sides.
    """
    n = clicked.shape[0]
    # A pair without a click at either rank tells nothing. A rank without any click has the
    # propensity 0, if a chain of pairs links it with the first.
    is_informed = (clicked + clicked.T > 0) & (clicked + skipped > 0)
    has_click = clicked.sum(axis=1, where=is_informed) > 0
    first_has_click = bool(has_click[0])
    propensities = np.full(n, np.nan)
    if first_has_click:
        met_rank, met_other = np.nonzero(is_informed)
        propensities[~has_click & _linked(met_rank, met_other, n)] = 0.0
    rank, other_rank = np.nonzero(is_informed & has_click[:, None] & has_click)
    is_compared = _linked(rank, other_rank, n)[rank] & first_has_click
    if is_compared.any():
        rows = _PairRows.of(rank[is_compared], other_rank[is_compared], clicked, skipped)
        logs = rows.newton()
        values = rows.searched() if logs is None else np.exp(logs)
        propensities[rows.ranks] = values / values[0]
    propensities[0] = 1.0
    return propensities


@dataclass(frozen=True, kw_only=True, eq=False)
class _PairRows:
    """A row for each rank and each other rank that it is compared with, and the number of each
    unordered pair.
    """

    ranks: IntArray  # shape (ranks,): the ranks that are compared, rising
    # rank, pair: shape (rows,): place in `ranks`, and number of the unordered pair
    rank: IntArray
    pair: IntArray
    # hits, misses: shape (rows,): weighted impressions with and without a click; their sum is 1
    hits: FloatArray
    misses: FloatArray

    @classmethod
    def of(
        cls,
        this_rank: IntArray,
        other_rank: IntArray,
        clicked: FloatArray,
        skipped: FloatArray,
    ) -> "_PairRows":
        """Rows of ordered pairs of ranks; the first rank is among them."""
        hits = clicked[this_rank, other_rank]
        misses = skipped[this_rank, other_rank]
        scale = float((hits + misses).sum())
        ranks, rank = np.unique(this_rank, return_inverse=True)
        upper = np.minimum(this_rank, other_rank)
        lower = np.maximum(this_rank, other_rank)
        _, pair = np.unique(upper * clicked.shape[0] + lower, return_inverse=True)
        return cls(
            ranks=ranks,
            rank=rank.reshape(-1),
            pair=pair.reshape(-1),
            hits=hits / scale,
            misses=misses / scale,
        )

    def newton(self) -> FloatArray | None:
        """Logarithms of propensities relative to the first rank; None where the maximum lies at a
        bound.
        """
        n = self.ranks.size
        n_pairs = int(self.pair.max()) + 1
        logs = np.zeros(n)
        impressions = np.bincount(self.pair, self.hits + self.misses, n_pairs)
        relevance = np.log(np.bincount(self.pair, self.hits, n_pairs) / impressions * _INSIDE)
        loss = self._loss(logs, relevance)
        for _ in range(_MOST_STEPS):
            rate = np.exp(logs[self.rank] + relevance[self.pair])
            slope = self.misses * rate / (1 - rate) - self.hits
            bend = self.misses * rate / (1 - rate) ** 2
            if not (np.bincount(self.pair, bend, n_pairs) > 0).all():
                return None
            move, relevance_move = self._step(slope, bend, n_pairs)
            if not (np.isfinite(move).all() and np.isfinite(relevance_move).all()):
                return None

            share = 1.0
            next_loss = self._loss(logs + move, relevance + relevance_move)
            while not next_loss <= loss + _ROUNDING:
                share /= 2
                if share <= _LEAST_SHARE:
                    return None
                next_loss = self._loss(logs + share * move, relevance + share * relevance_move)
            logs = logs + share * move
            relevance = relevance + share * relevance_move
            loss = next_loss
            largest = max(float(np.abs(move).max()), float(np.abs(relevance_move).max()))
            if share == 1 and largest < _CONVERGED:
                # Scaled to a largest propensity of 1, relevances must be probabilities, too.
                return logs if float(relevance.max()) + float(logs.max()) <= 0 else None
        return None

    def _step(
        self, slope: FloatArray, bend: FloatArray, n_pairs: int
    ) -> tuple[FloatArray, FloatArray]:
        """Step of Newton of the logarithms of propensities and of relevances, from both derivatives
        of the loss by the logarithm of each rate.
        """
        n = self.ranks.size
        of_pair = np.bincount(self.pair, bend, n_pairs)
        # With relevances eliminated, the second derivative is a Laplacian over ranks; the first
        # rank stays at 0.
        to_pair = bend / of_pair[self.pair]
        by_pair = np.bincount(self.pair, slope, n_pairs) / of_pair
        laplacian = np.diag(np.bincount(self.rank, bend, n).astype(np.float64))
        rows_of_pair = np.argsort(self.pair, kind="stable").reshape(
            -1, 2
        )  # both sides of each pair
        for rows, other_rows in product(rows_of_pair.T, repeat=2):
            np.subtract.at(
                laplacian,
                (self.rank[rows], self.rank[other_rows]),
                bend[rows] * to_pair[other_rows],
            )
        pull = np.bincount(self.rank, slope - bend * by_pair[self.pair], n)
        move = np.zeros(n)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            move[1:] = -(inverse_of(laplacian[1:, 1:]) * pull[1:]).sum(axis=1)
        relevance_move: FloatArray = -by_pair - np.bincount(
            self.pair, to_pair * move[self.rank], n_pairs
        )
        return move, relevance_move

    def _loss(self, logs: FloatArray, relevance: FloatArray) -> float:
        """Negative log-likelihood; infinite where a rate reaches 1."""
        log_rate = logs[self.rank] + relevance[self.pair]
        if not (log_rate < 0).all():
            return math.inf
        return -float((self.hits * log_rate + self.misses * np.log(-np.expm1(log_rate))).sum())

    def searched(self) -> FloatArray:
        """Propensities of greatest likelihood among probabilities, by a search that depends on the
        processor in the last digits.
        """
        from scipy.optimize import minimize  # noqa: PLC0415  (few need it)

        n = self.ranks.size
        size = n + int(self.pair.max()) + 1  # propensities, then relevances

        def loss(logits: FloatArray) -> tuple[float, FloatArray]:
            values = 1 / (1 + np.exp(-logits))
            rate = np.clip(values[self.rank] * values[n + self.pair], _EDGE, 1 - _EDGE)
            slope = -(self.hits / rate - self.misses / (1 - rate)) * rate
            # The derivative of log(p * r) by the logit of p is 1 - p, and by the logit of r 1 - r.
            of_ranks = np.bincount(self.rank, slope * (1 - values[self.rank]), size)
            of_pairs = np.bincount(n + self.pair, slope * (1 - values[n + self.pair]), size)
            value = -float((self.hits * np.log(rate) + self.misses * np.log(1 - rate)).sum())
            return value, np.asarray(of_ranks + of_pairs, np.float64)

        fitted = minimize(
            loss,
            np.zeros(size),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 2000, "ftol": 1e-14, "gtol": 1e-9},
        )
        propensities: FloatArray = 1 / (1 + np.exp(-fitted.x[:n]))
        return propensities


def _linked(rank: IntArray, other_rank: IntArray, n: int) -> "npt.NDArray[np.bool_]":
    """Ranks that a chain of pairs links with the first."""
    is_linked: npt.NDArray[np.bool_] = np.arange(n) == 0
    for _ in range(n):  # no chain has more links
        is_linked[rank[is_linked[other_rank]]] = True
    return is_linked
