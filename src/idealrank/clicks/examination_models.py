"""Models of examination by rank, fitted by maximum likelihood: position-based (PBM) and user
browsing (UBM).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from idealrank.clicks.arguments import check_confidence, real_number, replicates_of, steps_of
from idealrank.clicks.cell_counts import CellCounts, informative_sets, rank_components
from idealrank.clicks.fitted_model import (
    FittedModel,
    check_known_ranks,
    previous_clicks,
    unconverged,
)
from idealrank.clicks.harvested_interventions import all_pairs_of
from idealrank.clicks.profile_likelihood import (
    ExaminationFit,
    compared_with_first,
    fit_examination,
    log_errors,
    relative_to_first,
    residual_weights,
)
from idealrank.clicks.query_bootstrap import (
    linking_queries,
    log_intervals,
    one_query_cautions,
    query_draws,
)
from idealrank.clicks.sessions import MOST_RANKS, Sessions, check_sessions
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, warn
from idealrank.stats.randomness import RandomLike, generator_of

# Standard errors between propensities by two methods: in simulated logs, at most 1.2 without bias.
_MOST_DISTANCE = 1.5


@dataclass(frozen=True)
class PBM:
    """Position-based model: a click needs a document that attracts and a rank that is examined,
    independent of each other.

    Parameters
    ----------
    iterations : int
        Most steps of the fit; it ends sooner at the maximum of the likelihood.
    start : float
        Value, in (0, 1), of parameters that the log says nothing about.

    References
    ----------
    Richardson, Dominowska and Ragno (2007); Craswell, Zoeter, Taylor and Ramsey (2008). Richards
    (1961), A method of maximum-likelihood estimation, JRSS B 23, for the likelihood with
    attractiveness eliminated. Bertsekas (1982), Projected Newton methods for optimization problems
    with simple constraints, SIAM J. Control Optim. 20, for the steps.

    Examples
    --------
    >>> log = Sessions.from_arrays(
    ...     ["q"] * 4,
    ...     [["a", "b"], ["a", "b"], ["b", "a"], ["b", "a"]],
    ...     [[1, 0], [1, 1], [1, 0], [0, 0]],
    ... )
    >>> fitted = PBM(iterations=20).fit(log)
    >>> [round(value, 3) for value in fitted.relative_propensity.tolist()]
    [1.0, 0.281]
    """

    iterations: int = 500
    start: float = 0.5

    def fit(self, sessions: Sessions) -> "FittedPBM":
        """Estimate attractiveness and the propensity of each rank.

        Parameters
        ----------
        sessions : Sessions
            A log in which documents change their ranks; where they do not, a warning says that
            attractiveness and rank cannot be told apart.

        Warns
        -----
        IdealrankWarning
            The model has not converged, its propensities differ from another method, no list has a
            click, or ranks share no document.

        Raises
        ------
        OptionError
            `iterations` or `start` is outside its range.
        """
        check_sessions(sessions)
        self.checked()
        cells = self.cells(sessions, sessions.n_ranks)
        return self.fitted(sessions.documents, cells, sessions.query_of_pair)

    def checked(self) -> tuple[int, float]:
        """The settings, refused outside their ranges."""
        return _checked(self.iterations, self.start)

    @staticmethod
    def cells(sessions: Sessions, n_ranks: int) -> CellCounts:
        """Counts of a log by rank."""
        return CellCounts.of(sessions, np.arange(sessions.n_ranks), n_ranks)

    def fitted(
        self, documents: tuple[tuple[str, str], ...], cells: CellCounts, query_of_pair: IntArray
    ) -> "FittedPBM":
        """Fit the model to counts, with warnings of what they do not identify."""
        steps, start = self.checked()

        n_components = rank_components(cells)
        if n_components > 1:
            text = (
                f"the {cells.n_situations} ranks fall into {n_components} sets that share no "
                "document: propensities of different sets cannot be compared, and attractiveness "
                "across sets neither; log some results in random or swapped order"
            )
            warn(text)
        if not cells.clicked.any():
            warn(
                "no list has a click: attractiveness is 0, and the log says nothing about "
                "propensities"
            )

        fit = fit_examination(cells, steps, start)
        cautions = [] if fit.converged else [unconverged(steps)]
        cautions += _far_from_all_pairs(cells, query_of_pair, fit)
        for caution in cautions:
            warn(caution)
        return FittedPBM(
            documents=documents,
            attractiveness_values=fit.attractive,
            impressions=cells.impressions.astype(np.int64),
            start=start,
            propensity=fit.examined,
            cells=cells,
            query_of_pair=query_of_pair,
            iterations=steps,
            n_components=n_components,
            converged=fit.converged,
            cautions=tuple(cautions),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedPBM(FittedModel):
    """A position-based model with its parameters.

    Attributes
    ----------
    propensity : float64 array, shape (ranks,)
        Probability that a rank is examined, divided by the largest of all ranks: clicks determine
        no common factor. See `relative_propensity`.
    cells : CellCounts
        The counts that it was fitted to.
    iterations : int
        Most steps of the fit.
    n_components : int
        Sets of ranks that share no document; 1 if all propensities can be compared.
    """

    propensity: FloatArray
    cells: CellCounts
    query_of_pair: IntArray
    iterations: int
    n_components: int

    @property
    def relative_propensity(self) -> FloatArray:
        """Propensity of each rank divided by that of the first; NaN if no clicked documents link
        both, or the first has no click.
        """
        return relative_to_first(self.cells, self.propensity)

    def conditional(self, sessions: Sessions) -> FloatArray:
        """Probability of a click at each rank: that of the model does not depend on other
        clicks.
        """
        attraction = self.attraction(sessions)
        check_known_ranks(sessions, self.propensity.size)
        return attraction * self.propensity[: sessions.n_ranks]

    marginal = conditional

    def error_terms(self, sessions: Sessions, slope: FloatArray) -> FloatArray:
        """Part of each list in the error that the fit leaves in a value that depends on exposures.

        It is about `exposures` with `relative_propensity`. A mean over lists plus these terms has
        the variance of the mean with fitted propensities, to first order.

        Parameters
        ----------
        sessions : Sessions
            The log that the model was fitted to.
        slope : float64 array, shape (pairs,)
            Derivative of the value by the logarithm of the exposure of each pair.

        Returns
        -------
        float64 array, shape (sessions,)
            Their sum is 0, up to the rounding of the fit.

        Raises
        ------
        InputError
            The model was fitted to another log, or the log does not link every rank with the first.
        """
        check_sessions(sessions)
        impressions = int((sessions.pair >= 0).sum())
        if (
            sessions.documents != self.documents
            or sessions.n_ranks != self.propensity.size
            or impressions != self.impressions.sum()
        ):
            raise InputError(
                "propensity: found a model that was fitted to another log, expected one of these "
                "sessions"
            )
        refuse_unlinked(self)

        # The exposure of a pair is a sum over ranks: its logarithm moves with the logarithm of a
        # propensity by the share of that rank.
        cells = self.cells
        examined = cells.shown * self.propensity[cells.situation]
        total = np.bincount(cells.pair, examined, cells.n_pairs)
        slopes = (slope / total)[cells.pair] * examined
        by_rank = np.bincount(cells.situation, slopes, cells.n_situations).astype(np.float64)
        rank_weights, pair_weights = residual_weights(
            cells, self.attractiveness_values, self.propensity, by_rank
        )

        # The score of a click by the logarithm of its rate is 1, without a click -rate/(1-rate).
        rate = self.conditional(sessions)
        residual = np.ones_like(rate)
        np.divide(-rate, 1 - rate, out=residual, where=~sessions.clicks)
        weight = (
            rank_weights - np.append(pair_weights, 0.0)[sessions.pair]
        )  # 0 below the end of a list
        terms = np.where(sessions.pair >= 0, residual * weight, 0.0)
        list_terms: FloatArray = len(sessions) * terms.sum(axis=1)
        return list_terms

    def propensity_intervals(
        self, *, n_resamples: int = 200, rng: RandomLike = 0, confidence: float = 0.95
    ) -> FloatArray:
        """Intervals of `relative_propensity`: Student's, of logarithms, with standard errors by
        bootstrap over queries.

        Parameters
        ----------
        n_resamples : int
            Replicates of the bootstrap.
        rng : seed or Generator
            Random numbers.
        confidence : float
            Confidence level.

        Returns
        -------
        float64 array, shape (ranks, 2)
            NaN for a rank without a click, and for a rank that fewer than two queries link with the
            first.

        Warns
        -----
        IdealrankWarning
            Only one query links a rank with the first.
        """
        level = check_confidence(confidence)
        replicates = replicates_of(n_resamples, least=1, width=self.propensity.size)
        n_queries = int(self.query_of_pair.max()) + 1
        initial = ExaminationFit(self.attractiveness_values, self.propensity, self.converged)
        drawn = []
        for times in query_draws(generator_of(rng), n_queries, replicates):
            counts = self.cells.of_queries(times, self.query_of_pair)
            fit = fit_examination(counts, self.iterations, self.start, initial)
            drawn.append(relative_to_first(counts, fit.examined))
        n_linking = linking_queries(self.cells, self.query_of_pair)
        for caution in one_query_cautions(n_linking):
            warn(caution)
        return log_intervals(self.relative_propensity, np.array(drawn), n_linking, n_queries, level)


def refuse_unlinked(fitted: FittedPBM) -> None:
    """Refuse a model of which a rank has no propensity relative to the first."""
    ranks = np.arange(fitted.propensity.size)
    lost = np.setdiff1d(ranks, compared_with_first(fitted.cells, fitted.propensity))
    if lost.size:
        rank = int(lost[0])
        obstacle = (
            f"no clicked documents that link rank {rank + 1} with the first, expected them for "
            "every rank"
        )
        if not fitted.cells.clicked[fitted.cells.situation == rank].any():
            obstacle = f"no click at rank {rank + 1}, expected some at every rank"
        raise InputError(
            f"propensity: found {obstacle}",
            hint="log swapped results or a second ranker, or give the propensities",
            command_hint="log swapped results or a second ranker, or state the propensities by "
            "--propensities FILE",
        )


@dataclass(frozen=True)
class UBM:
    """User browsing model: examination depends on the rank and on the rank of the last click above
    it.

    Parameters
    ----------
    iterations, start
        As for `PBM`.

    References
    ----------
    Dupret and Piwowarski (2008), A user browsing model to predict search engine click data from
    past observations, SIGIR.

    Examples
    --------
    >>> log = Sessions.from_arrays(
    ...     ["q"] * 3, [["a", "b"], ["b", "a"], ["b", "a"]], [[1, 0], [1, 1], [0, 0]]
    ... )
    >>> UBM(iterations=20).fit(log).examination.shape
    (2, 3)
    """

    iterations: int = 500
    start: float = 0.5

    def fit(self, sessions: Sessions) -> "FittedUBM":
        """Estimate attractiveness, and examination by rank and by rank of the click above.

        Parameters
        ----------
        sessions : Sessions
            A log in which documents change their ranks.

        Raises
        ------
        InputError
            A list has more than 1,000 ranks.
        OptionError
            `iterations` or `start` is outside its range.

        Warns
        -----
        IdealrankWarning
            Situations fall into sets that share no clicked document, or were shown with documents
            that were never clicked alone: the log does not identify these parameters, see
            `FittedUBM.situation_sets`.
        """
        check_sessions(sessions)
        self.checked()
        cells = self.cells(sessions, sessions.n_ranks)
        return self.fitted(sessions.documents, cells, sessions.query_of_pair)

    def checked(self) -> tuple[int, float]:
        """The settings, refused outside their ranges."""
        return _checked(self.iterations, self.start)

    @staticmethod
    def cells(sessions: Sessions, n_ranks: int) -> CellCounts:
        """Counts of a log by rank and by rank of the last click above it."""
        sessions.require_ranks()
        situation = np.arange(sessions.n_ranks) * (n_ranks + 1) + previous_clicks(sessions)
        return CellCounts.of(sessions, situation, n_ranks * (n_ranks + 1))

    def fitted(
        self, documents: tuple[tuple[str, str], ...], cells: CellCounts, _query_of_pair: IntArray
    ) -> "FittedUBM":
        """Fit the model to counts, with warnings of what they do not identify."""
        steps, start = self.checked()
        ranks = math.isqrt(cells.n_situations)
        sets = informative_sets(cells)
        for text in _unidentified(cells, sets, ranks):
            warn(text)
        fit = fit_examination(cells, steps, start)
        cautions = [] if fit.converged else [unconverged(steps)]
        for caution in cautions:
            warn(caution)
        shape = (ranks, ranks + 1)
        return FittedUBM(
            documents=documents,
            attractiveness_values=fit.attractive,
            impressions=cells.impressions.astype(np.int64),
            start=start,
            examination=fit.examined.reshape(shape),
            cells=cells,
            situation_sets=sets.reshape(shape),
            converged=fit.converged,
            cautions=tuple(cautions),
        )


@dataclass(frozen=True, eq=False)
class FittedUBM(FittedModel):
    """A user browsing model with its parameters.

    Attributes
    ----------
    examination : float64 array, shape (ranks, ranks + 1)
        Probability of examining a rank, by the rank of the last click above it (0 for none),
        divided by the largest of its set of situations: clicks determine no common factor.
    cells : CellCounts
        The counts that it was fitted to.
    situation_sets : int64 array, shape (ranks, ranks + 1)
        Number of the set of each situation; values of two sets cannot be compared. The set with
        most impressions is 0. A situation is -1 if the log has no information about it: it never
        occurred, or only with documents that were never clicked.
    """

    examination: FloatArray
    cells: CellCounts
    situation_sets: IntArray

    def conditional(self, sessions: Sessions) -> FloatArray:
        """Probability of a click at each rank, given the clicks above it."""
        attraction = self.attraction(sessions)
        check_known_ranks(sessions, len(self.examination))
        ranks = np.arange(sessions.n_ranks)
        return attraction * self.examination[ranks, previous_clicks(sessions)]

    def marginal(self, sessions: Sessions) -> FloatArray:
        """Probability of a click at each rank: over all places of the last click above."""
        attraction = self.attraction(sessions)
        check_known_ranks(sessions, len(self.examination))
        probabilities = np.empty_like(attraction)
        # Probability that each rank has the last click so far; at place 0, that there is none.
        last = np.zeros((len(sessions), sessions.n_ranks + 1))
        last[:, 0] = 1
        for rank in range(sessions.n_ranks):
            clicked = attraction[:, rank, None] * self.examination[rank, : rank + 1]
            probabilities[:, rank] = (last[:, : rank + 1] * clicked).sum(axis=1)
            last[:, : rank + 1] *= 1 - clicked
            last[:, rank + 1] = probabilities[:, rank]
        return probabilities

    @cached_property
    def propensity(self) -> FloatArray:
        """Probability of examining each rank where nothing above was clicked."""
        examined: FloatArray = self.examination[:, 0]
        return examined


def _far_from_all_pairs(
    cells: CellCounts, query_of_pair: IntArray, fit: ExaminationFit
) -> Iterator[str]:
    """Say if propensities differ from a method that fits no attractiveness to each document.

    Documents with few clicks bias the fit and do not bias this method. Users with another behaviour
    change both, differently.
    """
    compared = compared_with_first(cells, fit.examined)
    if cells.n_situations > MOST_RANKS or compared.size < 2:
        return
    _, errors = log_errors(cells, fit.attractive, fit.examined, compared)
    # Ranks that no chain of pairs links with the first have no logarithm, and no distance.
    with np.errstate(divide="ignore", invalid="ignore"):
        by_all_pairs = np.log(all_pairs_of(cells, query_of_pair))
        difference = np.log(fit.examined / fit.examined[0]) - by_all_pairs
        distances = np.abs(difference[compared[1:]]) / errors[1:]
    largest = float(np.max(distances[np.isfinite(distances)], initial=0.0))
    if largest > _MOST_DISTANCE:
        yield (
            f"propensities lie {largest:.1f} standard errors from the method all-pairs, which fits "
            "no attractiveness to each document: documents have too few clicks, or users do not "
            "follow the position-based model; prefer all-pairs"
        )


def _unidentified(cells: CellCounts, sets: IntArray, n_ranks: int) -> Iterator[str]:
    """Say which examination the log does not identify, with the share of its impressions."""
    weight = np.bincount(cells.situation, cells.shown, cells.n_situations)

    def example_text(chosen: BoolArray) -> str:
        largest = int(np.flatnonzero(chosen)[weight[chosen].argmax()])
        rank, above = divmod(largest, n_ranks + 1)
        where = f"after a click at rank {above}" if above else "without a click above"
        return (
            f"such as rank {rank + 1} {where}; {weight[chosen].sum() / weight.sum():.2%} of the "
            "impressions"
        )

    if sets.max() > 0:
        yield (
            f"the situations of examination fall into {sets.max() + 1} sets that share no clicked "
            f"document ({example_text(sets > 0)} lie outside the largest set): examination of "
            "different sets cannot be compared; log some results in random or swapped order"
        )
    empty = (sets < 0) & (weight > 0)
    if empty.any():
        yield (
            f"{int(empty.sum())} situations of examination occurred with documents alone that were "
            f"never clicked ({example_text(empty)}): their examination is not identified, and "
            "stays where it started"
        )


def _checked(iterations: int, start: float) -> tuple[int, float]:
    expected = "a probability between 0 and 1"
    return steps_of(iterations), real_number("start", start, expected, low=0, high=1)
