"""Logged lists under a ranker that was never shown: the probability that users examine each
document, the weight of each click, and the gain of each list.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import compress
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import array_of, number_table
from idealrank.clicks.examination_models import FittedPBM, refuse_unlinked
from idealrank.clicks.ratio_moments import (
    Columns,
    KeptLists,
    RatioMoments,
)
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import IncompatibleError, InputError, shown

Ranking: TypeAlias = Mapping[str, Sequence[str]] | npt.ArrayLike


def exposures(sessions: Sessions, propensity: npt.ArrayLike) -> FloatArray:
    """Probability that users examined each document shown, over all lists of its query in the log
    (policy-aware propensities).

    A document that half of the lists show at the first rank, and the others not at all, is examined
    half as often as the first rank.

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
    Oosterhuis and de Rijke (2020), Policy-aware unbiased learning to rank for top-k rankings,
    SIGIR, equation 14.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["c", "b"]], [[0, 1], [0, 0]])
    >>> exposures(log, [1.0, 0.4]).tolist()
    [[0.5, 0.4], [0.5, 0.4]]
    """
    check_sessions(sessions)
    by_rank = number_table("propensity", propensity)
    if by_rank.shape != (sessions.n_ranks,) or not (np.isfinite(by_rank) & (by_rank > 0)).all():
        raise InputError(
            f"propensity: found {by_rank.tolist()}, expected {sessions.n_ranks} finite values "
            "above 0, one a rank"
        )
    has_document = sessions.pair >= 0
    flat = np.broadcast_to(by_rank, has_document.shape)[has_document]
    examinations = np.bincount(sessions.pair[has_document], flat, len(sessions.documents))
    n_lists = np.bincount(sessions.query, minlength=len(sessions.queries))[sessions.query_of_pair]
    exposure_of_pair = np.divide(
        examinations, n_lists, out=np.ones(examinations.size), where=n_lists > 0
    )
    exposure: FloatArray = np.append(exposure_of_pair, 1.0)[
        sessions.pair
    ]  # 1 below the end of a list
    return exposure


def differing_queries(sessions: Sessions) -> dict[str, bytes]:
    """An empty digest for each query whose lists have different documents."""
    is_marked = _queries_of_other_documents(sessions).tolist()
    return dict.fromkeys(compress(sessions.queries, is_marked), b"")


def _queries_of_other_documents(sessions: Sessions) -> BoolArray:
    """Mark queries of which some list lacks a document that another one has."""
    is_shown = np.bincount(sessions.pair[sessions.pair >= 0], minlength=len(sessions.documents)) > 0
    n_documents = np.bincount(sessions.query_of_pair[is_shown], minlength=len(sessions.queries))
    is_marked = np.zeros(len(sessions.queries), bool)
    is_marked[sessions.query[sessions.lengths < n_documents[sessions.query]]] = True
    return is_marked


def documents_of_queries(sessions: Sessions) -> dict[str, bytes]:
    """A digest of the documents of each query's lists; nothing of a query whose lists have
    different documents.
    """
    names: dict[str, list[str]] = {
        sessions.queries[number]: [] for number in np.unique(sessions.query).tolist()
    }
    for pair in np.unique(sessions.pair[sessions.pair >= 0]).tolist():
        query, document = sessions.documents[pair]
        names[query].append(document)
    differ = dict(
        zip(sessions.queries, _queries_of_other_documents(sessions).tolist(), strict=True)
    )
    digests = {}
    for query, documents in names.items():
        content = repr(sorted(documents)).encode("utf-8", "surrogatepass")
        digests[query] = b"" if differ[query] else blake2b(content, digest_size=16).digest()
    return digests


class LoggedRanker(NamedTuple):
    """A ranker, and the log that shows its value."""

    sessions: Sessions
    ranking: Ranking
    propensity: "npt.ArrayLike | FittedPBM"
    discount: npt.ArrayLike | None
    offset: npt.ArrayLike | None

    @property
    def has_rank_propensities(self) -> bool:
        """Return whether each rank has one propensity, whatever its document."""
        return not isinstance(self.propensity, FittedPBM) and np.ndim(self.propensity) == 1

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of offset, ranking and propensity."""
        has_documents = isinstance(self.ranking, Mapping)
        return (
            "no offset" if self.offset is None else "an offset",
            "a ranking of documents" if has_documents else "a ranking of ranks",
            "a propensity a rank" if self.has_rank_propensities else "a propensity a list and rank",
        )


class ListValues(NamedTuple):
    """Values of each list, and its part in the error that fitted propensities leave in their
    mean; None for given ones.
    """

    values: FloatArray
    fit_errors: FloatArray | None

    @property
    def columns(self) -> Columns:
        """Numerators and denominators of the mean."""
        return [self.values], [np.ones(self.values.size)]

    def kept(self, codes: IntArray | None) -> KeptLists:
        """Lists of a whole log; `codes` are their clusters."""
        moments = partial(RatioMoments.of, *self.columns, codes)
        return KeptLists.of(lambda: self.values, moments, self.values.size, codes, self.fit_errors)


@dataclass(frozen=True, kw_only=True)
class WeightedLists:
    """Weight of each click, and both measures of each list."""

    # shape (clicks,): discount of the new rank, divided by the probability of examination
    clicked: FloatArray
    # dcg, ndcg: shape (sessions,): measures
    dcg: FloatArray
    ndcg: FloatArray
    # dcg_errors, ndcg_errors: shape (sessions,): part of each list in the error that fitted
    # propensities leave in the means; None for given ones
    dcg_errors: FloatArray | None = None
    ndcg_errors: FloatArray | None = None

    @classmethod
    def of(
        cls, ranker: LoggedRanker, *, fewest: int = 2, n_ranks: int | None = None
    ) -> "WeightedLists":
        """Check lists; a part of a log may have fewer lists than a log, or none, and fewer ranks
        than the `n_ranks` of the log.
        """
        sessions = ranker.sessions
        propensity = ranker.propensity
        offset = ranker.offset
        check_sessions(sessions)
        if len(sessions) < fewest:
            raise InputError(
                f"sessions: found {len(sessions)} lists, expected at least {fewest}; one list "
                "shows no variation"
            )
        n_ranks = sessions.n_ranks if n_ranks is None else n_ranks
        rank = _new_ranks(sessions, ranker.ranking)
        largest = 1.0 if offset is None else math.inf  # with offsets, propensities are slopes
        examined = _examined(sessions, propensity, largest, n_ranks)
        table = discount_table(ranker.discount, max(int(rank.max(initial=0)), n_ranks))
        discounts = table[rank]
        weights = (discounts / examined)[sessions.clicks]
        if offset is not None:
            if isinstance(propensity, FittedPBM):
                raise InputError(
                    "offset: found offsets beside a position-based model, which has none; expected "
                    "slopes as propensity"
                )
            gains = _gains_beyond(offset, sessions, examined, n_ranks)
            return cls(
                clicked=weights,
                dcg=(gains * discounts).sum(axis=1),
                ndcg=np.full(len(sessions), np.nan),
            )

        gains = np.where(sessions.clicks, 1 / examined, 0.0)
        dcg = (gains * discounts).sum(axis=1)
        best_discounts = np.sort(table[1:])[::-1][: sessions.n_ranks]
        ideal = (np.sort(gains, axis=1)[:, ::-1] * best_discounts).sum(axis=1)
        ndcg = np.divide(dcg, ideal, out=np.zeros(dcg.size), where=ideal > 0)
        if not isinstance(propensity, FittedPBM):
            return cls(clicked=weights, dcg=dcg, ndcg=ndcg)

        # A gain is a click over its exposure: its derivative by the logarithm of the exposure is
        # its negative.
        best_discount_of_gain = np.empty_like(gains)
        by_gain = np.argsort(-gains, axis=1, kind="stable")
        np.put_along_axis(
            best_discount_of_gain, by_gain, np.broadcast_to(best_discounts, gains.shape), axis=1
        )
        slopes = gains * np.divide(
            discounts - ndcg[:, None] * best_discount_of_gain,
            ideal[:, None],
            out=np.zeros_like(gains),
            where=ideal[:, None] > 0,
        )
        dcg_slope = -_mean_by_pair(sessions, gains * discounts)
        ndcg_slope = -_mean_by_pair(sessions, slopes)
        return cls(
            clicked=weights,
            dcg=dcg,
            ndcg=ndcg,
            dcg_errors=propensity.error_terms(sessions, dcg_slope),
            ndcg_errors=propensity.error_terms(sessions, ndcg_slope),
        )

    @property
    def measures(self) -> tuple[ListValues, ListValues]:
        """DCG and NDCG of each list."""
        return ListValues(self.dcg, self.dcg_errors), ListValues(self.ndcg, self.ndcg_errors)


class UnseenRanks(NamedTuple):
    """Ranks of the new list of a query whose documents no list shows."""

    n_lists: int  # Lists of the query
    length: int  # Length of the new list
    ranks: frozenset[int]


Unseen: TypeAlias = dict[str, UnseenRanks]


def joined_unseen(ours: Unseen, theirs: Unseen) -> Unseen:
    """Ranks that neither part shows, by query."""
    joined = {**ours, **theirs}
    for query in ours.keys() & theirs.keys():
        part = ours[query]
        other = theirs[query]
        if part.length != other.length:
            raise IncompatibleError(
                f"query {query!r}: found new lists of {part.length} and of {other.length} "
                "documents, expected one list"
            )
        n_lists = part.n_lists + other.n_lists
        ranks = part.ranks & other.ranks
        joined[query] = UnseenRanks(n_lists, part.length, ranks)
    return joined


def joined_documents(ours: Mapping[str, bytes], theirs: Mapping[str, bytes]) -> dict[str, bytes]:
    """Digests of both parts; empty for a query whose parts have different documents."""
    shared = ours.keys() & theirs.keys()
    return {**ours, **theirs} | {query: b"" for query in shared if ours[query] != theirs[query]}


def _gains_beyond(
    offset: npt.ArrayLike, sessions: Sessions, examined: FloatArray, n_ranks: int
) -> FloatArray:
    """Gain of each place, less what users click there whatever the document."""
    offsets = number_table("offset", offset)
    if offsets.shape != (n_ranks,) or not np.isfinite(offsets).all():
        raise InputError(
            f"offset: found {offsets.tolist()}, expected {n_ranks} finite click rates, one a rank"
        )
    beyond = (sessions.clicks - offsets[: sessions.n_ranks]) / examined
    return np.where(sessions.pair >= 0, beyond, 0.0)


def _mean_by_pair(sessions: Sessions, values: FloatArray) -> FloatArray:
    """Sum values by pair, divided by the number of lists."""
    has_document = sessions.pair >= 0
    sums = np.bincount(sessions.pair[has_document], values[has_document], len(sessions.documents))
    means: FloatArray = sums / len(sessions)
    return means


def discount_table(discount: npt.ArrayLike | None, deepest: int) -> FloatArray:
    """Discount of each rank, as far as a rank goes; 0 at place 0, which stands for a document that
    is not shown.
    """
    if discount is None:
        return np.array([0.0, *(1 / np.log2(np.arange(2, deepest + 2)))])
    discounts = number_table("discount", discount)
    if discounts.ndim != 1 or not ((discounts >= 0) & (discounts <= 1)).all():
        raise InputError(
            f"discount: found {discounts.tolist()}, expected probabilities, one a rank"
        )
    # All discounts, also below the deepest rank: the best order of a list may need them.
    table = np.zeros(max(deepest, discounts.size) + 1)
    table[1 : discounts.size + 1] = discounts
    return table


def unseen_ranks(sessions: Sessions, ranking: Ranking, n_ranks: int) -> Unseen:
    """Ranks of each query's new list whose documents no list shows; empty for a ranking of
    ranks.
    """
    if not isinstance(ranking, Mapping):
        return {}
    is_shown = np.bincount(sessions.pair[sessions.pair >= 0], minlength=len(sessions.documents)) > 0
    shown_pairs = {sessions.documents[pair] for pair in np.flatnonzero(is_shown).tolist()}
    n_lists = np.bincount(sessions.query, minlength=len(sessions.queries)).tolist()
    unseen: Unseen = {}
    for query, n_lists_of_query in zip(sessions.queries, n_lists, strict=True):
        new_list = ranking[query][:n_ranks]
        if n_lists_of_query:
            ranks = (
                rank for rank, name in enumerate(new_list, 1) if (query, name) not in shown_pairs
            )
            unseen[query] = UnseenRanks(n_lists_of_query, len(new_list), frozenset(ranks))
    return unseen


def share_never_shown(unseen: Unseen, table: FloatArray) -> float:
    """Share of the discounts of the new lists on documents that no list of their query showed."""
    discounts = table.tolist()
    sums = np.cumsum(table).tolist()
    total = math.fsum(query.n_lists * sums[query.length] for query in unseen.values())
    lost: list[float] = []
    for query in unseen.values():
        lost += [query.n_lists * discounts[rank] for rank in sorted(query.ranks)]
    return math.fsum(lost) / total if total > 0 else 0.0


def _new_ranks(sessions: Sessions, ranking: Ranking) -> IntArray:
    """Rank that the new ranker gives each document shown; 0 for none."""
    if isinstance(ranking, Mapping):
        return _ranks_in_lists(sessions, ranking)
    ranks = array_of("ranking", ranking, "documents by query, or ranks of the documents shown")
    if ranks.shape != sessions.pair.shape or ranks.dtype.kind not in "iu":
        raise InputError(
            f"ranking: found {ranks.dtype} of shape {ranks.shape}, expected whole numbers of shape "
            f"{sessions.pair.shape}"
        )
    new_ranks = np.where(sessions.pair >= 0, ranks, 0).astype(np.int64)  # 0 below the end of a list
    ordered = np.sort(new_ranks, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] > 0)
    wrong = (new_ranks < 0).any(axis=1) | twice.any(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"ranking, session {row}: found {new_ranks[row].tolist()}, expected distinct ranks "
            "from 1, or 0 for documents not shown"
        )
    return new_ranks


def _ranks_in_lists(sessions: Sessions, ranking: Mapping[str, Sequence[str]]) -> IntArray:
    """Rank of each document shown in the new list of its query; 0 for none."""
    missing = next((query for query in sessions.queries if query not in ranking), None)
    if missing is not None:
        raise InputError(
            f"ranking: found no list for the query {missing!r}, expected one for each query of the "
            "log"
        )
    rank_of: dict[tuple[str, str], int] = {}
    for query in sessions.queries:
        _require_documents(query, ranking[query])
        rank_of |= {(query, document): rank for rank, document in enumerate(ranking[query], 1)}
    # The last place is for pair -1, below the end of a list.
    new_rank_of_pair = np.array(
        [*(rank_of.get(pair, 0) for pair in sessions.documents), 0], np.int64
    )
    return new_rank_of_pair[sessions.pair]


def _require_documents(query: str, documents: object) -> None:
    if isinstance(documents, (str, bytes, Mapping)) or not isinstance(
        documents, Sequence | np.ndarray
    ):
        raise InputError(
            f"ranking, query {query!r}: found {shown(repr(documents))}, expected a sequence of "
            "documents"
        )


def _examined(
    sessions: Sessions, propensity: "npt.ArrayLike | FittedPBM", largest: float, n_ranks: int
) -> FloatArray:
    if isinstance(propensity, FittedPBM):
        refuse_unlinked(propensity)
        # Estimates of ranks that are examined alike may be above 1.
        return np.minimum(exposures(sessions, propensity.relative_propensity), 1.0)
    probabilities = number_table("propensity", propensity)
    if probabilities.shape not in (sessions.pair.shape, (n_ranks,)):
        raise InputError(
            f"propensity: found shape {probabilities.shape}, expected {(n_ranks,)} or "
            f"{sessions.pair.shape}"
        )
    probabilities = probabilities[..., : sessions.n_ranks]
    examined = np.where(sessions.pair >= 0, probabilities, 1.0)
    wrong = ~((examined > 0) & (examined <= largest) & np.isfinite(examined))
    if wrong.any():
        row, place = np.argwhere(wrong)[0]
        expected = "a probability above 0, up to 1" if largest == 1 else "a finite slope above 0"
        raise InputError(
            f"propensity, session {row}, rank {place + 1}: found {examined[row, place]:g}, "
            f"expected {expected}"
        )
    return examined
