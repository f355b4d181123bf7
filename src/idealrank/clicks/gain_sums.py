"""DCG and NDCG of a ranker that was never shown, from sums that partitions of a log add up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import check_confidence
from idealrank.clicks.logged_gains import (
    LoggedDCG,
    Ranking,
    Unseen,
    WeightedLists,
    click_cautions,
    discount_table,
    documents_of_queries,
    share_never_shown,
    unseen_ranks,
)
from idealrank.clicks.ratio_moments import RatioMoments, codes_of_part, require_units
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.errors import IncompatibleError
from idealrank.stats.randomness import whole_number


@dataclass(frozen=True, kw_only=True, eq=False)
class LoggedDCGSums:
    """Sums of a log's lists for DCG and NDCG of a ranker that was never shown; of partitions, they
    merge.

    Values, standard errors, intervals and cautions equal the results of `logged_dcg` over all
    lists, to rounding. Queries may be in several partitions; a few numbers a query are kept for the
    cautions.

    Attributes
    ----------
    n_lists, n_clicks : int
        Lists and clicks; a partition may have none.
    weights, squares, largest : float
        Sum of the weights of clicks, sum of their squares, and largest weight.
    dcg, ndcg : RatioMoments
        Values of lists, by unit: a list, or a cluster. Each cluster stands in one partition.
    unseen : mapping of str to (int, int, frozenset of int)
        Of a ranking of documents, by query: lists, length of the new list, and its ranks whose
        documents no list shows.
    documents : mapping of str to bytes
        Of one propensity a rank, by query: digest of the documents of its lists; empty if lists
        have different ones.
    discount : tuple of float, or None
        Discount of each rank; None for that of DCG.
    n_ranks : int
        Ranks of the longest list of the log.
    kind : tuple of str
        Whether there are clusters, whether there is an offset, and the kinds of ranking and
        propensity.

    Examples
    --------
    >>> parts = [Sessions.from_arrays(["q"], [["a", "b"]], [clicks]) for clicks in ([0, 1], [1, 0])]
    >>> one, other = (LoggedDCGSums.of(part, {"q": ["b", "a"]}, [1.0, 0.5]) for part in parts)
    >>> round(one.merge(other).value().dcg.value, 4)
    1.3155
    """

    n_lists: int
    n_clicks: int
    weights: float
    squares: float
    largest: float
    dcg: RatioMoments
    ndcg: RatioMoments
    unseen: Unseen
    documents: Mapping[str, bytes]
    discount: tuple[float, ...] | None
    n_ranks: int
    kind: tuple[str, ...]

    @classmethod
    def of(
        cls,
        sessions: Sessions,
        ranking: Ranking,
        propensity: npt.ArrayLike,
        *,
        discount: npt.ArrayLike | None = None,
        offset: npt.ArrayLike | None = None,
        clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
        n_ranks: int | None = None,
    ) -> "LoggedDCGSums":
        """Sum the lists of a partition for `idealrank.clicks.logged_dcg`.

        Parameters
        ----------
        sessions, ranking, propensity, discount, offset, clusters
            As for `logged_dcg`. `exposures` of a document need all lists of its query.
        n_ranks : int, optional
            Ranks of the longest list of all partitions; by default of this one. One propensity a
            rank, and an offset, are of these.

        Raises
        ------
        InputError, OptionError
            As from `logged_dcg`, but for the number of lists and of clusters.
        """
        check_sessions(sessions)
        deepest = (
            sessions.n_ranks
            if n_ranks is None
            else whole_number("n_ranks", n_ranks, sessions.n_ranks)
        )
        lists = WeightedLists.of(
            sessions, ranking, propensity, discount, offset, fewest=0, n_ranks=deepest
        )
        clicked, by_rank, ones = lists.clicked, np.ndim(propensity) == 1, [np.ones(len(sessions))]
        codes = codes_of_part(clusters, len(sessions))
        kind = (
            "no clusters" if codes is None else "clusters",
            "no offset" if offset is None else "an offset",
            "a ranking of documents" if isinstance(ranking, Mapping) else "a ranking of ranks",
            "a propensity a rank" if by_rank else "a propensity a list and rank",
        )
        return cls(
            n_lists=len(sessions),
            n_clicks=clicked.size,
            weights=float(clicked.sum()),
            squares=float((clicked * clicked).sum()),
            largest=float(clicked.max(initial=0.0)),
            dcg=RatioMoments.of([lists.dcg], ones, codes),
            ndcg=RatioMoments.of([lists.ndcg], ones, codes),
            unseen=unseen_ranks(sessions, ranking, deepest),
            documents=documents_of_queries(sessions) if by_rank else {},
            discount=None if discount is None else tuple(np.asarray(discount, np.float64).tolist()),
            n_ranks=deepest,
            kind=kind,
        )

    def merge(self, other: "LoggedDCGSums") -> "LoggedDCGSums":
        """Add the sums of other lists, and of other clusters.

        Raises
        ------
        IncompatibleError
            Ranks, discounts, or kinds of ranking and propensity differ, one part alone has clusters
            or an offset, or the new lists of a query differ in length.
        """
        ours, theirs = (
            (f"{one.n_ranks} ranks", f"discount {one.discount}", *one.kind) for one in (self, other)
        )
        if ours != theirs:
            raise IncompatibleError(
                f"found sums of {ours} and of {theirs}; expected the same ranks, discounts "
                f"and kinds of all parts"
            )
        return LoggedDCGSums(
            n_lists=self.n_lists + other.n_lists,
            n_clicks=self.n_clicks + other.n_clicks,
            weights=self.weights + other.weights,
            squares=self.squares + other.squares,
            largest=max(self.largest, other.largest),
            dcg=self.dcg.plus(other.dcg),
            ndcg=self.ndcg.plus(other.ndcg),
            unseen=_joined_unseen(self.unseen, other.unseen),
            documents=_joined_documents(self.documents, other.documents),
            discount=self.discount,
            n_ranks=self.n_ranks,
            kind=self.kind,
        )

    def value(self, confidence: float = 0.95) -> LoggedDCG:
        """DCG and NDCG of the ranker, with their normal intervals.

        Parameters
        ----------
        confidence : float
            Confidence level.

        Raises
        ------
        InputError
            All partitions together have fewer than 2 lists, or one cluster.
        """
        level, one = check_confidence(confidence), np.ones(1)
        require_units(
            self.n_lists,
            self.dcg.n_units,
            "sessions",
            "lists",
            clustered=self.kind[0] == "clusters",
        )
        never_shown = share_never_shown(self.unseen, discount_table(self.discount, self.n_ranks))
        differ = not all(self.documents.values())
        effective, cautions = click_cautions(
            self.n_clicks,
            self.weights,
            self.squares,
            self.largest,
            never_shown,
            lists_differ=differ,
        )
        return LoggedDCG(
            dcg=self.dcg.mean(one, level),
            ndcg=self.ndcg.mean(one, level),
            effective_sample_size=effective,
            max_weight=self.largest,
            n_lists=self.n_lists,
            n_clicks=self.n_clicks,
            confidence=level,
            cautions=cautions,
            never_shown=never_shown,
        )


def _joined_unseen(ours: Unseen, theirs: Unseen) -> Unseen:
    found = {**ours, **theirs}
    for query in ours.keys() & theirs.keys():
        (often, length, ranks), (more, other_length, other_ranks) = ours[query], theirs[query]
        if length != other_length:
            raise IncompatibleError(
                f"query {query!r}: found new lists of {length} and of {other_length} "
                f"documents, expected one list"
            )
        found[query] = often + more, length, ranks & other_ranks
    return found


def _joined_documents(ours: Mapping[str, bytes], theirs: Mapping[str, bytes]) -> dict[str, bytes]:
    found = {**ours, **theirs}
    return found | {
        query: b"" for query in ours.keys() & theirs.keys() if ours[query] != theirs[query]
    }
