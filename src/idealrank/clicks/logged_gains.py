"""DCG and NDCG of a ranker that was never shown, from logged lists with probabilities of examination."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import array_of, number_table
from idealrank.clicks.list_means import ListMean, list_mean
from idealrank.clicks.logged_rewards import FEWEST_EFFECTIVE, LARGEST_SHARE
from idealrank.clicks.policy_differences import units_needed, verdict_of
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, shown

_MOST_MISSING = 0.02  # share of the discounts on documents that were never shown, beyond which there is no verdict

Ranking: TypeAlias = "Mapping[str, Sequence[str]] | npt.ArrayLike"

NORMALISING = (
    "only DCG is an unbiased estimate of the clicks that a ranker gets; NDCG gives each list the same weight, which can invert the order "
    "of two rankers"
)


@dataclass(frozen=True)
class LoggedDCG:
    """DCG and NDCG of a ranker, estimated from lists of another.

    Attributes
    ----------
    dcg : ListMean
        Clicks a list, if users examine ranks as the discount says; unbiased.
    ndcg : ListMean
        The same of each list, divided by that of the best order of its clicks; lists without a click count 0. Biased: see `warning`.
    effective_sample_size : float
        Clicks that would carry as much if all weights were equal (Kish).
    max_weight : float
        Largest weight of a click: discount of the new rank divided by the probability of examination.
    n_lists, n_clicks : int
        Lists and clicks of the log.
    confidence : float
        Confidence level.
    cautions : tuple of str
        Why the intervals cannot be trusted; empty where nothing was found.
    never_shown : float
        Share of the discounts of the new lists that stands on documents which no list of the query showed: their clicks are missing. 0 for
        a ranking of ranks.
    warning : str
        What NDCG cannot say.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["a", "b"]], [[0, 1], [1, 0]])
    >>> found = logged_dcg(log, {"q": ["b", "a"]}, [1.0, 0.5])
    >>> round(found.dcg.value, 4), found.ndcg.value < 1
    (1.3155, True)
    """

    dcg: ListMean
    ndcg: ListMean
    effective_sample_size: float
    max_weight: float
    n_lists: int
    n_clicks: int
    confidence: float
    cautions: tuple[str, ...]
    never_shown: float = 0.0
    warning: str = field(default=NORMALISING, repr=False)

    @property
    def supported(self) -> bool:
        """Return whether the log has enough support for a verdict."""
        return not self.cautions

    def __str__(self) -> str:
        said = (
            f"DCG {self.dcg}, NDCG {'none' if math.isnan(self.ndcg.value) else self.ndcg} ({100 * self.confidence:g} %, "
            f"{self.n_lists:,} lists, {self.n_clicks:,} clicks worth {self.effective_sample_size:,.0f})"
        )
        return "\n".join([said, f"Warning: {self.warning}", *(f"No verdict: {caution}" for caution in self.cautions)])


@dataclass(frozen=True)
class LoggedDCGDifference:
    """Difference of two rankers by one log, B less A, paired by list.

    Attributes
    ----------
    a, b : LoggedDCG
        Both rankers.
    dcg, ndcg : ListMean
        Differences of both measures.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["a", "b"]], [[0, 1], [1, 1]])
    >>> found = logged_dcg_difference(log, {"q": ["a", "b"]}, {"q": ["b", "a"]}, [1.0, 0.5])
    >>> round(found.dcg.value, 4), found.inverted
    (0.5536, False)
    """

    a: LoggedDCG
    b: LoggedDCG
    dcg: ListMean
    ndcg: ListMean

    @property
    def inverted(self) -> bool:
        """Return whether NDCG orders the rankers against DCG."""
        return self.dcg.value * self.ndcg.value < 0

    @property
    def verdict(self) -> Literal["better", "worse", "undecided", "no support"]:
        """Return the verdict on B by the interval of DCG."""
        return verdict_of(self.dcg.interval, is_supported=self.a.supported and self.b.supported)

    def lists_needed(self, power: float = 0.8) -> float:
        """Lists of such a log that would show a difference in DCG of this size with the given power; infinite for no difference.

        Examples
        --------
        >>> log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["a", "b"]], [[0, 1], [0, 0]])
        >>> logged_dcg_difference(log, {"q": ["a", "b"]}, {"q": ["b", "a"]}, [1.0, 0.5]).lists_needed() > 2
        True
        """
        return units_needed(self.a.n_lists, self.dcg.value, self.dcg.standard_error, self.a.confidence, power)


def logged_dcg(
    sessions: Sessions,
    ranking: Ranking,
    propensity: npt.ArrayLike,
    *,
    discount: npt.ArrayLike | None = None,
    offset: npt.ArrayLike | None = None,
    clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    confidence: float = 0.95,
) -> LoggedDCG:
    """Estimate DCG and NDCG of a ranker that was never shown, from clicks on the lists of another.

    A click counts ``discount[rank] / propensity``, with the rank that the new ranker gives the document. The mean over lists is an unbiased
    estimate of the clicks of the new ranker if users examine ranks independently of documents, `discount` and `propensity` are their
    probabilities, and the log could show every document of the new lists.

    Parameters
    ----------
    sessions : Sessions
        The log.
    ranking : mapping of query to documents, or array, shape (sessions, ranks)
        Documents of each query from the first rank down; or the new rank, from 1, of each document shown. 0 means not shown.
    propensity : array, shape (ranks,) or (sessions, ranks)
        Probability, in (0, 1], that users examined the document, over all lists that the logging policy could show for the query: see
        `exposures`. One probability a rank will do if every list of a query has the same documents, in whatever order; a caution says so
        where they differ.
    discount : array, shape (cutoff,), optional
        Probability that users of the new ranker examine each rank; deeper ranks count 0. By default ``1 / log2(rank + 1)``.
    offset : array, shape (ranks,), optional
        Click rate at each rank of a document that does not attract (trust bias): it is taken off each click, and `propensity` is a slope.
        `trust_propensities` estimates both, relative to the first rank. NDCG is then NaN: its ideal list needs gains above 0.
    clusters : sequence, shape (sessions,), optional
        Label of each list, such as its user.
    confidence : float
        Confidence level.

    Raises
    ------
    InputError
        Shapes do not fit, or a propensity, rank or discount is outside its range.
    OptionError
        The confidence level is outside (0, 1).

    References
    ----------
    Jeunen, Potapov and Ustimenko (2024), On (normalised) discounted cumulative gain as an off-policy evaluation metric for top-n
    recommendation. Oosterhuis and de Rijke (2020), Policy-aware unbiased learning to rank for top-k rankings, for lists that are cut.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["a", "b"]], [[0, 1], [0, 0]])
    >>> logged_dcg(log, {"q": ["b", "a"]}, [1.0, 0.5]).dcg.value
    1.0
    """
    lists = _Lists.of(sessions, ranking, propensity, discount, offset)
    clicked = sessions.clicks
    weights = lists.weights[clicked]
    squares = float((weights * weights).sum())
    effective = float(weights.sum()) ** 2 / squares if squares > 0 else 0.0
    share = float(weights.max() / weights.sum()) if squares > 0 else 0.0
    cautions = []
    if effective < FEWEST_EFFECTIVE:
        cautions.append(f"{weights.size:,} clicks are worth {effective:.0f} of equal weight, fewer than {FEWEST_EFFECTIVE:.0f}")
    if share > LARGEST_SHARE:
        cautions.append(f"one click has {100 * share:.0f} % of all weight, more than {100 * LARGEST_SHARE:.0f} %")
    if lists.never_shown > _MOST_MISSING:
        cautions.append(
            f"{100 * lists.never_shown:.0f} % of the discounts of the new lists stand on documents that were never shown: their clicks are "
            f"missing, and more than {100 * _MOST_MISSING:.0f} % are too many"
        )
    if np.ndim(propensity) == 1 and _lists_differ(sessions):
        cautions.append("lists of a query have different documents, which one propensity a rank cannot correct; use exposures")
    return LoggedDCG(
        list_mean(lists.dcg, clusters, confidence), list_mean(lists.ndcg, clusters, confidence), effective,
        float(weights.max(initial=0.0)), len(sessions), int(clicked.sum()), confidence, tuple(cautions), lists.never_shown,
    )  # fmt: skip


def exposures(sessions: Sessions, propensity: npt.ArrayLike) -> FloatArray:
    """Probability that users examined each document shown, over all lists of its query in the log (policy-aware propensities).

    A document that half of the lists show at the first rank, and the others not at all, is examined half as often as the first rank.

    Parameters
    ----------
    sessions : Sessions
        The log; each query needs many lists.
    propensity : array, shape (ranks,)
        Probability, above 0, of examining each rank; or the slope of each rank under trust bias.

    Returns
    -------
    float64 array, shape (sessions, ranks)
        1 below the end of a shorter list.

    Raises
    ------
    InputError
        The shape does not fit, or a value is not above 0.

    References
    ----------
    Oosterhuis and de Rijke (2020), Policy-aware unbiased learning to rank for top-k rankings, SIGIR, equation 14.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["c", "b"]], [[0, 1], [0, 0]])
    >>> exposures(log, [1.0, 0.4]).tolist()
    [[0.5, 0.4], [0.5, 0.4]]
    """
    check_sessions(sessions)
    given = number_table("propensity", propensity)
    if given.shape != (sessions.n_ranks,) or not (np.isfinite(given) & (given > 0)).all():
        raise InputError(f"propensity: found {given.tolist()}, expected {sessions.n_ranks} finite values above 0, one a rank")
    there = sessions.pair >= 0
    flat = np.broadcast_to(given, there.shape)[there]
    seen = np.bincount(sessions.pair[there], flat, len(sessions.documents))
    lists = np.bincount(sessions.query, minlength=len(sessions.queries))[sessions.query_of_pair]
    of_pair = np.append(np.divide(seen, lists, out=np.ones(seen.size), where=lists > 0), 1.0)
    found: FloatArray = of_pair[sessions.pair]
    return found


def _lists_differ(sessions: Sessions) -> bool:
    """Some list of a query lacks a document that another one has."""
    shown = np.bincount(sessions.pair[sessions.pair >= 0], minlength=len(sessions.documents)) > 0
    n_documents = np.bincount(sessions.query_of_pair[shown], minlength=len(sessions.queries))
    return bool((sessions.lengths < n_documents[sessions.query]).any())


def logged_dcg_difference(
    sessions: Sessions,
    ranking_a: Ranking,
    ranking_b: Ranking,
    propensity: npt.ArrayLike,
    *,
    discount: npt.ArrayLike | None = None,
    offset: npt.ArrayLike | None = None,
    clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    confidence: float = 0.95,
) -> LoggedDCGDifference:
    """Compare two rankers by DCG and by NDCG from one log, paired by list.

    Parameters
    ----------
    sessions, propensity, discount, offset, clusters, confidence
        As for `logged_dcg`.
    ranking_a, ranking_b
        Both rankers, as `ranking` of `logged_dcg`.

    Raises
    ------
    InputError, OptionError
        As for `logged_dcg`.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["a", "b"]], [[0, 1], [0, 0]])
    >>> found = logged_dcg_difference(log, {"q": ["b", "a"]}, {"q": ["b", "a"]}, [1.0, 0.5])
    >>> found.dcg.value, found.dcg.standard_error
    (0.0, 0.0)
    """
    a, b = (
        logged_dcg(sessions, ranking, propensity, discount=discount, offset=offset, clusters=clusters, confidence=confidence)
        for ranking in (ranking_a, ranking_b)
    )
    one, other = (_Lists.of(sessions, ranking, propensity, discount, offset) for ranking in (ranking_a, ranking_b))
    return LoggedDCGDifference(
        a, b, list_mean(other.dcg - one.dcg, clusters, confidence), list_mean(other.ndcg - one.ndcg, clusters, confidence)
    )


@dataclass(frozen=True)
class _Lists:
    """Weight of each document shown, if it is clicked, and both measures of each list."""

    weights: FloatArray
    dcg: FloatArray
    ndcg: FloatArray
    never_shown: float

    @classmethod
    def of(
        cls, sessions: Sessions, ranking: Ranking, propensity: npt.ArrayLike, discount: npt.ArrayLike | None, offset: npt.ArrayLike | None
    ) -> "_Lists":
        check_sessions(sessions)
        if len(sessions) < 2:
            raise InputError(f"sessions: found {len(sessions)} lists, expected at least 2; one list shows no variation")
        rank = _new_ranks(sessions, ranking)
        examined = _examined(sessions, propensity, 1.0 if offset is None else math.inf)
        deepest = max(int(rank.max()), sessions.n_ranks)
        table = np.zeros(deepest + 1)  # the place of rank 0, which is not shown, has none
        if discount is None:
            table[1:] = 1 / np.log2(np.arange(2, deepest + 2))
        else:
            given = number_table("discount", discount)
            if given.ndim != 1 or not ((given >= 0) & (given <= 1)).all():
                raise InputError(f"discount: found {given.tolist()}, expected probabilities, one a rank")
            kept = min(given.size, deepest)
            table[1 : kept + 1] = given[:kept]
        weights = table[rank] / examined
        missing = _never_shown(sessions, ranking, table)
        if offset is not None:
            trusted = number_table("offset", offset)
            if trusted.shape != sessions.pair.shape[1:] or not np.isfinite(trusted).all():
                raise InputError(f"offset: found {trusted.tolist()}, expected {sessions.n_ranks} finite click rates, one a rank")
            gains = np.where(sessions.pair >= 0, (sessions.clicks - trusted) / examined, 0.0)
            return cls(weights, (gains * table[rank]).sum(axis=1), np.full(len(sessions), np.nan), missing)
        gains = np.where(sessions.clicks, 1 / examined, 0.0)
        dcg = (gains * table[rank]).sum(axis=1)
        best = np.sort(table[1:])[::-1][: sessions.n_ranks]
        ideal = (np.sort(gains, axis=1)[:, ::-1] * best).sum(axis=1)
        return cls(weights, dcg, np.divide(dcg, ideal, out=np.zeros(dcg.size), where=ideal > 0), missing)


def _never_shown(sessions: Sessions, ranking: Ranking, table: FloatArray) -> float:
    """Share of the discounts of the new lists on documents that no list of their query showed."""
    if not isinstance(ranking, Mapping):
        return 0.0
    shown = np.bincount(sessions.pair[sessions.pair >= 0], minlength=len(sessions.documents)) > 0
    known = {pair for pair, is_shown in zip(sessions.documents, shown.tolist(), strict=True) if is_shown}
    times = np.bincount(sessions.query, minlength=len(sessions.queries)).tolist()
    missing = total = 0.0
    for query, often in zip(sessions.queries, times, strict=True):
        for rank, document in enumerate(ranking[query][: sessions.n_ranks], 1):
            total += often * table[rank]
            missing += often * table[rank] * ((query, document) not in known)
    return float(missing / total) if total > 0 else 0.0


def _new_ranks(sessions: Sessions, ranking: Ranking) -> IntArray:
    """Rank that the new ranker gives each document shown; 0 for none."""
    if isinstance(ranking, Mapping):
        missing = next((query for query in sessions.queries if query not in ranking), None)
        if missing is not None:
            raise InputError(f"ranking: found no list for the query {missing!r}, expected one for each query of the log")
        for query in sessions.queries:
            _require_documents(query, ranking[query])
        places = {(query, document): rank for query in sessions.queries for rank, document in enumerate(ranking[query], 1)}
        of_pair = np.array([*(places.get(pair, 0) for pair in sessions.documents), 0], np.int64)  # the last one is for shorter lists
        return of_pair[sessions.pair]
    found = array_of("ranking", ranking, "documents by query, or ranks of the documents shown")
    if found.shape != sessions.pair.shape or found.dtype.kind not in "iu":
        raise InputError(f"ranking: found {found.dtype} of shape {found.shape}, expected whole numbers of shape {sessions.pair.shape}")
    shown = np.where(sessions.pair >= 0, found, 0).astype(np.int64)
    ordered = np.sort(shown, axis=1)
    wrong = (shown < 0).any(axis=1) | ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] > 0)).any(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"ranking, session {row}: found {shown[row].tolist()}, expected distinct ranks from 1, or 0 for documents not shown"
        )
    return shown


def _require_documents(query: str, given: object) -> None:
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Sequence | np.ndarray):
        raise InputError(f"ranking, query {query!r}: found {shown(repr(given))}, expected a sequence of documents")


def _examined(sessions: Sessions, propensity: npt.ArrayLike, most: float) -> FloatArray:
    given = number_table("propensity", propensity)
    if given.shape not in (sessions.pair.shape, sessions.pair.shape[1:]):
        raise InputError(f"propensity: found shape {given.shape}, expected {sessions.pair.shape[1:]} or {sessions.pair.shape}")
    found = np.where(sessions.pair >= 0, given, 1.0)
    wrong = ~((found > 0) & (found <= most) & np.isfinite(found))
    if wrong.any():
        row, place = np.argwhere(wrong)[0]
        raise InputError(
            f"propensity, session {row}, rank {place + 1}: found {found[row, place]:g}, expected "
            + ("a probability above 0, up to 1" if most == 1 else "a finite slope above 0")
        )
    return found
