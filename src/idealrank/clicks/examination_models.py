"""Models of examination by rank, fitted by expectation maximisation: position-based (PBM) and user browsing (UBM)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from idealrank._warnings import warn
from idealrank.clicks.arguments import check_confidence, real_number, replicates_of, steps_of
from idealrank.clicks.fitted_model import FittedModel, previous_clicks, share
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.stats.randomness import RandomLike, generator_of


@dataclass(frozen=True, eq=False)
class CellCounts:
    """Sessions counted: all that an examination model needs of them, whatever their number.

    A cell is a pair of query and document in one situation: at a rank (PBM), or at a rank below a click at another (UBM). Counts of two
    logs with the same numbers add up.

    Attributes
    ----------
    pair, situation : int64 array, shape (cells,)
        Pair and situation of each cell.
    shown, clicked : float64 array, shape (cells,)
        Impressions and clicks.
    n_pairs, n_situations : int
        Their numbers.
    """

    pair: IntArray
    situation: IntArray
    shown: FloatArray
    clicked: FloatArray
    n_pairs: int
    n_situations: int

    @classmethod
    def of(cls, sessions: Sessions, situation: IntArray, n_situations: int) -> "CellCounts":
        """Count sessions whose ranks have these situations; shape (sessions, ranks)."""
        there = sessions.pair >= 0
        keys = sessions.pair[there] * np.int64(n_situations) + np.broadcast_to(situation, sessions.pair.shape)[there]
        clicks = sessions.clicks[there]
        size = len(sessions.documents) * n_situations
        if size <= max(1 << 20, 4 * keys.size):
            shown = np.bincount(keys, minlength=size)
            clicked = np.bincount(keys[clicks], minlength=size)
            used = np.flatnonzero(shown)
            shown, clicked = shown[used], clicked[used]
        else:  # a table of all cells would be far larger than the log
            used, inverse = np.unique(keys, return_inverse=True)
            inverse = inverse.reshape(-1)
            shown, clicked = np.bincount(inverse), np.bincount(inverse[clicks], minlength=used.size)
        return cls(used // n_situations, used % n_situations, shown.astype(np.float64), clicked.astype(np.float64),
                   len(sessions.documents), n_situations)  # fmt: skip

    def fit(self, iterations: int, start: float) -> tuple[FloatArray, FloatArray]:
        """Attractiveness of each pair, and probability of examination in each situation, after so many steps of EM."""
        attractive, examined = np.full(self.n_pairs, start), np.full(self.n_situations, start)
        by_pair, by_situation = self.impressions
        for _ in range(iterations):
            of_pairs, of_situations = self.step(attractive, examined)
            attractive, examined = share(of_pairs, by_pair, start), share(of_situations, by_situation, start)
        return attractive, examined

    @property
    def impressions(self) -> tuple[FloatArray, FloatArray]:
        """Impressions of each pair, and of each situation."""
        by_pair = np.asarray(np.bincount(self.pair, self.shown, self.n_pairs), np.float64)
        by_situation = np.asarray(np.bincount(self.situation, self.shown, self.n_situations), np.float64)
        return by_pair, by_situation

    def step(self, attractive: FloatArray, examined: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Expected number of attractive impressions of each pair, and of examined ones in each situation: sums over cells."""
        a, e = attractive[self.pair], examined[self.situation]
        neither = (self.shown - self.clicked) / np.maximum(1 - a * e, np.finfo(np.float64).tiny)
        # Of an impression without a click, the chance that it was attractive and not examined, and the reverse.
        of_pairs = np.asarray(np.bincount(self.pair, self.clicked + neither * a * (1 - e), self.n_pairs), np.float64)
        of_situations = np.asarray(np.bincount(self.situation, self.clicked + neither * e * (1 - a), self.n_situations), np.float64)
        return of_pairs, of_situations

    @classmethod
    def joined(cls, parts: "Sequence[CellCounts]") -> "CellCounts":
        """Counts of logs without a common pair; pairs are numbered part by part."""
        first = np.cumsum([0, *(part.n_pairs for part in parts)])
        pair = np.concatenate([part.pair + begin for part, begin in zip(parts, first[:-1], strict=True)])
        situation, shown, clicked = (np.concatenate([getattr(part, name) for part in parts]) for name in ("situation", "shown", "clicked"))
        return cls(pair, situation, shown, clicked, int(first[-1]), parts[0].n_situations)

    def of_queries(self, times: FloatArray, query_of_pair: IntArray) -> "CellCounts":
        """CellCounts of queries drawn so many times each."""
        factor = times[query_of_pair][self.pair]
        return CellCounts(self.pair, self.situation, self.shown * factor, self.clicked * factor, self.n_pairs, self.n_situations)


@dataclass(frozen=True)
class PBM:
    """Position-based model: a click needs a document that attracts and a rank that is examined, independent of each other.

    Parameters
    ----------
    iterations : int
        Steps of expectation maximisation.
    start : float
        Every parameter's first value, in (0, 1).

    References
    ----------
    Richardson, Dominowska and Ragno (2007); Craswell, Zoeter, Taylor and Ramsey (2008). Chuklin, Markov and de Rijke (2015), Click Models
    for Web Search, section 4.2.2, for the steps.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q"] * 4, [["a", "b"], ["a", "b"], ["b", "a"], ["b", "a"]], [[1, 0], [1, 1], [1, 0], [0, 0]])
    >>> fitted = PBM(iterations=20).fit(log)
    >>> [round(value, 3) for value in fitted.relative_propensity.tolist()]
    [1.0, 0.281]
    """

    iterations: int = 50
    start: float = 0.5

    def fit(self, sessions: Sessions) -> "FittedPBM":
        """Estimate attractiveness and the propensity of each rank.

        Parameters
        ----------
        sessions : Sessions
            A log in which documents change their ranks; where they do not, a warning says that attractiveness and rank cannot be told
            apart.

        Raises
        ------
        OptionError
            `iterations` or `start` is outside its range.
        """
        check_sessions(sessions)
        steps, start = self.checked()
        cells = self.cells(sessions, sessions.n_ranks)
        return self.fitted(sessions.documents, cells, sessions.query_of_pair, *cells.fit(steps, start))

    def checked(self) -> tuple[int, float]:
        """The settings, refused outside their ranges."""
        return _checked(self.iterations, self.start)

    @staticmethod
    def cells(sessions: Sessions, n_ranks: int) -> CellCounts:
        """Counts of a log by rank."""
        return CellCounts.of(sessions, np.arange(sessions.n_ranks), n_ranks)

    def fitted(
        self, documents: tuple[tuple[str, str], ...], cells: CellCounts, query_of_pair: IntArray, attractive: FloatArray,
        examined: FloatArray,
    ) -> "FittedPBM":  # fmt: skip
        """The model of these parameters, with warnings of what the counts do not identify."""
        parts = rank_components(cells)
        if parts > 1:
            text = (
                f"the {cells.n_situations} ranks fall into {parts} sets that share no document: propensities of different sets cannot be "
                "compared, and attractiveness across sets neither; log some results in random or swapped order"
            )
            warn(text)
        if not cells.clicked.any():
            warn("no list has a click: attractiveness is 0, and the log says nothing about propensities")
        steps, start = self.checked()
        impressions = cells.impressions[0].astype(np.int64)
        return FittedPBM(documents, attractive, impressions, start, examined, cells, query_of_pair, steps, parts)


@dataclass(frozen=True, eq=False)
class FittedPBM(FittedModel):
    """A position-based model with its parameters.

    Attributes
    ----------
    propensity : float64 array, shape (ranks,)
        Probability that a rank is examined. Clicks determine it up to a common factor only: see `relative_propensity`.
    cells : CellCounts
        The counts that it was fitted to.
    iterations : int
        Steps that were made.
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
        """Propensity of each rank divided by that of the first."""
        found: FloatArray = self.propensity / self.propensity[0]
        return found

    def conditional(self, sessions: Sessions) -> FloatArray:
        """Probability of a click at each rank: that of the model does not depend on other clicks."""
        return self.attraction(sessions) * self.propensity[: sessions.n_ranks]

    marginal = conditional

    def propensity_intervals(self, *, n_resamples: int = 200, rng: RandomLike = 0, confidence: float = 0.95) -> FloatArray:
        """Intervals of `relative_propensity` by refitting to queries drawn with replacement. Shape (ranks, 2).

        Parameters
        ----------
        n_resamples : int
            Replicates of the bootstrap.
        rng : seed or Generator
            Random numbers.
        confidence : float
            Confidence level.
        """
        level, replicates = check_confidence(confidence), replicates_of(n_resamples, least=1, width=self.propensity.size)
        generator, n = generator_of(rng), int(self.query_of_pair.max()) + 1
        drawn = []
        for _ in range(replicates):
            times = np.bincount(generator.integers(0, n, n), minlength=n).astype(np.float64)
            examined = self.cells.of_queries(times, self.query_of_pair).fit(self.iterations, self.start)[1]
            drawn.append(examined / examined[0])
        found: FloatArray = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0).T
        return found


@dataclass(frozen=True)
class UBM:
    """User browsing model: examination depends on the rank and on the rank of the last click above it.

    Parameters
    ----------
    iterations, start
        As for `PBM`.

    References
    ----------
    Dupret and Piwowarski (2008), A user browsing model to predict search engine click data from past observations, SIGIR.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q"] * 3, [["a", "b"], ["b", "a"], ["b", "a"]], [[1, 0], [1, 1], [0, 0]])
    >>> UBM(iterations=20).fit(log).examination.shape
    (2, 3)
    """

    iterations: int = 50
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
            Situations fall into sets that share no clicked document, or were shown with documents that were never clicked alone: the log
            does not identify these parameters, see `FittedUBM.situation_sets`.
        """
        check_sessions(sessions)
        steps, start = self.checked()
        cells = self.cells(sessions, sessions.n_ranks)
        return self.fitted(sessions.documents, cells, sessions.query_of_pair, *cells.fit(steps, start))

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
        self, documents: tuple[tuple[str, str], ...], cells: CellCounts, _query_of_pair: IntArray, attractive: FloatArray,
        examined: FloatArray,
    ) -> "FittedUBM":  # fmt: skip
        """The model of these parameters, with warnings of what the counts do not identify."""
        ranks = math.isqrt(cells.n_situations)
        sets = informative_sets(cells)
        for text in _unidentified(cells, sets, ranks):
            warn(text)
        impressions = cells.impressions[0].astype(np.int64)
        shape = (ranks, ranks + 1)
        return FittedUBM(documents, attractive, impressions, self.checked()[1], examined.reshape(shape), cells, sets.reshape(shape))


@dataclass(frozen=True, eq=False)
class FittedUBM(FittedModel):
    """A user browsing model with its parameters.

    Attributes
    ----------
    examination : float64 array, shape (ranks, ranks + 1)
        Probability of examining a rank, by the rank of the last click above it (0 for none). Clicks determine it up to a common factor of
        each set of situations.
    cells : CellCounts
        The counts that it was fitted to.
    situation_sets : int64 array, shape (ranks, ranks + 1)
        Number of the set of each situation; values of two sets cannot be compared. The set with most impressions is 0. A situation is -1
        if the log has no information about it: it never occurred, or only with documents that were never clicked.
    """

    examination: FloatArray
    cells: CellCounts
    situation_sets: IntArray

    def conditional(self, sessions: Sessions) -> FloatArray:
        """Probability of a click at each rank, given the clicks above it."""
        return self.attraction(sessions) * self.examination[np.arange(sessions.n_ranks), previous_clicks(sessions)]

    def marginal(self, sessions: Sessions) -> FloatArray:
        """Probability of a click at each rank: over all places of the last click above."""
        attraction = self.attraction(sessions)
        found = np.empty_like(attraction)
        last = np.zeros((len(sessions), sessions.n_ranks + 1))  # probability that each rank has the last click so far
        last[:, 0] = 1
        for rank in range(sessions.n_ranks):
            clicked = attraction[:, rank, None] * self.examination[rank, : rank + 1]
            found[:, rank] = (last[:, : rank + 1] * clicked).sum(axis=1)
            last[:, : rank + 1] *= 1 - clicked
            last[:, rank + 1] = found[:, rank]
        return found

    @cached_property
    def propensity(self) -> FloatArray:
        """Probability of examining each rank where nothing above was clicked."""
        found: FloatArray = self.examination[:, 0]
        return found


def rank_components(cells: CellCounts) -> int:
    """Number of sets of situations that share no pair: parameters of two sets cannot be compared.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["a", "b"]], [[1, 0], [0, 1]])
    >>> rank_components(CellCounts.of(log, np.arange(2), 2))
    2
    """
    from scipy.sparse import coo_array  # noqa: PLC0415  (a model without a check of its ranks needs none)
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    used = np.unique(cells.situation)
    size = cells.n_situations + cells.n_pairs
    graph = coo_array((np.ones(cells.pair.size), (cells.situation, cells.n_situations + cells.pair)), shape=(size, size))
    _, labels = connected_components(graph, directed=False)
    return int(np.unique(labels[used]).size)


def informative_sets(cells: CellCounts) -> IntArray:
    """Number the sets of situations that share clicked pairs, from the one with most impressions; -1 without a clicked pair.

    The likelihood of a pair without a click is greatest at an attractiveness of 0, whatever the examination: it joins no situations.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q", "q"], [["a", "b", "c"], ["b", "a", "c"]], [[1, 0, 0], [0, 1, 0]])
    >>> informative_sets(CellCounts.of(log, np.arange(3), 3)).tolist()
    [0, 0, -1]
    """
    from scipy.sparse import coo_array  # noqa: PLC0415  (a position-based model needs none)
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    clicked = np.bincount(cells.pair, cells.clicked, cells.n_pairs)[cells.pair] > 0
    size = cells.n_situations + cells.n_pairs
    edges = (cells.situation[clicked], cells.n_situations + cells.pair[clicked])
    _, labels = connected_components(coo_array((np.ones(edges[0].size), edges), shape=(size, size)), directed=False)
    found = np.full(cells.n_situations, -1, np.int64)
    known = np.unique(edges[0])
    weight = np.bincount(cells.situation, cells.shown, cells.n_situations)
    names, own = np.unique(labels[known], return_inverse=True)
    number = np.empty(names.size, np.int64)
    number[np.argsort(-np.bincount(own.reshape(-1), weight[known], names.size), kind="stable")] = np.arange(names.size)
    found[known] = number[own.reshape(-1)]
    return found


def _unidentified(cells: CellCounts, sets: IntArray, n_ranks: int) -> Iterator[str]:
    """Say which examination the log does not identify, with the share of its impressions."""
    weight = np.bincount(cells.situation, cells.shown, cells.n_situations)

    def said(chosen: BoolArray) -> str:
        rank, above = divmod(int(np.flatnonzero(chosen)[weight[chosen].argmax()]), n_ranks + 1)
        where = f"after a click at rank {above}" if above else "without a click above"
        return f"such as rank {rank + 1} {where}; {weight[chosen].sum() / weight.sum():.2%} of the impressions"

    if sets.max() > 0:
        yield (
            f"the situations of examination fall into {sets.max() + 1} sets that share no clicked document ({said(sets > 0)} lie outside "
            "the largest set): examination of different sets cannot be compared; log some results in random or swapped order"
        )
    empty = (sets < 0) & (weight > 0)
    if empty.any():
        yield (
            f"{int(empty.sum())} situations of examination occurred with documents alone that were never clicked ({said(empty)}): "
            "their examination is not identified, and stays where it started"
        )


def _checked(iterations: int, start: float) -> tuple[int, float]:
    return steps_of(iterations), real_number("start", start, "a probability between 0 and 1", low=0, high=1)
