"""DCG and NDCG of a ranker that was never shown, from logged lists with probabilities of
examination.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import check_confidence
from idealrank.clicks.examination_models import FittedPBM
from idealrank.clicks.ratio_moments import (
    ListUnits,
    require_units,
)
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.clicks.weight_sums import FEWEST_EFFECTIVE, LARGEST_SHARE
from idealrank.clicks.weighted_lists import (
    LoggedRanker,
    Ranking,
    Unseen,
    WeightedLists,
    differing_queries,
    discount_table,
    documents_of_queries,
    joined_documents,
    joined_unseen,
    share_never_shown,
    unseen_ranks,
)
from idealrank.clicks.weighted_rows import ListMean, cluster_codes
from idealrank.data.types import IntArray
from idealrank.errors import IncompatibleError, OptionError
from idealrank.stats.randomness import whole_number

# Share of the discounts on documents that were never shown, beyond which there is no verdict.
_MOST_MISSING = 0.02

NORMALISING = (
    "only DCG is an unbiased estimate of the clicks that a ranker gets; NDCG gives each list the "
    "same weight, which can invert the order of two rankers"
)


@dataclass(frozen=True, kw_only=True)
class LoggedDCG:
    """DCG and NDCG of a ranker, estimated from lists of another.

    Attributes
    ----------
    dcg : ListMean
        Clicks a list, if users examine ranks as the discount says; unbiased.
    ndcg : ListMean
        The same of each list, divided by that of the best order of its clicks; lists without a
        click count 0. Biased: see `warning`.
    effective_sample_size : float
        Clicks that would carry as much if all weights were equal (Kish).
    max_weight : float
        Largest weight of a click: discount of the new rank divided by the probability of
        examination.
    n_lists, n_clicks : int
        Lists and clicks of the log.
    confidence : float
        Confidence level.
    cautions : tuple of str
        Why the intervals cannot be trusted; empty where nothing was found.
    never_shown : float
        Share of the discounts of the new lists that stands on documents which no list of the query
        showed: their clicks are missing. 0 for a ranking of ranks.
    propensity_errors : bool
        Whether the intervals count the errors of the propensities, which were fitted to the same
        log.
    warning : str
        What NDCG cannot say.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["a", "b"]], [[0, 1], [1, 0]])
    >>> run_value = logged_dcg(log, {"q": ["b", "a"]}, [1.0, 0.5])
    >>> round(run_value.dcg.value, 4), run_value.ndcg.value < 1
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
    propensity_errors: bool = False
    warning: str = field(default=NORMALISING, repr=False)

    @property
    def supported(self) -> bool:
        """Return whether the log has enough support for a verdict."""
        return not self.cautions

    def __str__(self) -> str:
        summary = (
            f"DCG {self.dcg}, NDCG {'none' if math.isnan(self.ndcg.value) else self.ndcg} "
            f"({100 * self.confidence:g} %, {self.n_lists:,} lists, {self.n_clicks:,} clicks worth "
            f"{self.effective_sample_size:,.0f})"
        )
        return "\n".join(
            [
                summary,
                f"Warning: {self.warning}",
                *(f"No verdict: {caution}" for caution in self.cautions),
            ]
        )


def logged_dcg(
    sessions: Sessions,
    ranking: Ranking,
    propensity: "npt.ArrayLike | FittedPBM",
    *,
    discount: npt.ArrayLike | None = None,
    offset: npt.ArrayLike | None = None,
    clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    confidence: float = 0.95,
) -> LoggedDCG:
    """Estimate DCG and NDCG of a ranker that was never shown, from clicks on the lists of another.

    A click counts ``discount[rank] / propensity``, with the rank that the new ranker gives the
    document. The mean over lists is an unbiased estimate of the clicks of the new ranker if users
    examine ranks independently of documents, `discount` and `propensity` are their probabilities,
    and the log could show every document of the new lists.

    Parameters
    ----------
    sessions : Sessions
        The log.
    ranking : mapping of query to documents, or array, shape (sessions, ranks)
        Documents of each query from the first rank down; or the new rank, from 1, of each document
        shown. 0 means not shown.
    propensity : array, shape (ranks,) or (sessions, ranks), or FittedPBM
        Probability, in (0, 1], that users examined the document, over all lists that the logging
        policy could show for the query: see `exposures`. One probability a rank will do if every
        list of a query has the same documents, in whatever order; a caution says so where they
        differ. A model that was fitted to these sessions gives exposures by its propensities,
        relative to the first rank, and the intervals count their errors.
    discount : array, shape (cutoff,), optional
        Probability that users of the new ranker examine each rank; deeper ranks count 0. By default
        ``1 / log2(rank + 1)``.
    offset : array, shape (ranks,), optional
        Click rate at each rank of a document that does not attract (trust bias): it is taken off
        each click, and `propensity` is a slope. `trust_propensities` estimates both, relative to
        the first rank. NDCG is then NaN: its ideal list needs gains above 0.
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
    Jeunen, Potapov and Ustimenko (2024), On (normalised) discounted cumulative gain as an
    off-policy evaluation metric for top-n recommendation. Oosterhuis and de Rijke (2020),
    Policy-aware unbiased learning to rank for top-k rankings, for lists that are cut.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["a", "b"]], [[0, 1], [0, 0]])
    >>> logged_dcg(log, {"q": ["b", "a"]}, [1.0, 0.5]).dcg.value
    1.0
    """
    ranker = LoggedRanker(
        sessions=sessions,
        ranking=ranking,
        propensity=propensity,
        discount=discount,
        offset=offset,
    )
    lists = WeightedLists.of(ranker)
    codes = cluster_codes(clusters, len(sessions))
    value = sums_of_lists(ranker, lists, codes, keep=True).value(confidence)
    return with_fit_cautions(value, propensity)


def with_fit_cautions(value: LoggedDCG, propensity: "npt.ArrayLike | FittedPBM") -> LoggedDCG:
    """Add the cautions of propensities that were fitted to the log; the intervals count their
    errors.
    """
    if not isinstance(propensity, FittedPBM):
        return value
    cautions = (*propensity.cautions, *value.cautions)
    return replace(value, cautions=cautions, propensity_errors=True)


def click_cautions(
    *,
    n_clicks: int,
    total: float,
    squares: float,
    largest: float,
    never_shown: float,
    lists_differ: bool,
) -> tuple[float, tuple[str, ...]]:
    """Effective sample size of the clicks, and why intervals cannot be trusted."""
    effective = total**2 / squares if squares > 0 else 0.0
    share = largest / total if squares > 0 else 0.0
    cautions = []
    if effective < FEWEST_EFFECTIVE:
        cautions.append(
            f"{n_clicks:,} clicks are worth {effective:.0f} of equal weight, fewer than "
            f"{FEWEST_EFFECTIVE:.0f}"
        )
    if share > LARGEST_SHARE:
        cautions.append(
            f"one click has {100 * share:.0f} % of all weight, more than "
            f"{100 * LARGEST_SHARE:.0f} %"
        )
    if never_shown > _MOST_MISSING:
        cautions.append(
            f"{100 * never_shown:.0f} % of the discounts of the new lists stand on documents that "
            "were never shown: their clicks are missing, and more than "
            f"{100 * _MOST_MISSING:.0f} % are too many"
        )
    if lists_differ:
        cautions.append(
            "lists of a query have different documents, which one propensity a rank cannot "
            "correct; use exposures"
        )
    return effective, tuple(cautions)


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
    >>> first, second = (LoggedDCGSums.of(part, {"q": ["b", "a"]}, [1.0, 0.5]) for part in parts)
    >>> round(first.merge(second).value().dcg.value, 4)
    1.3155
    """

    n_lists: int
    n_clicks: int
    weights: float
    squares: float
    largest: float
    dcg: ListUnits
    ndcg: ListUnits
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
        if isinstance(propensity, FittedPBM):
            raise OptionError(
                "LoggedDCGSums.of: propensity: found FittedPBM, whose exposures need all lists of "
                "a query, expected an array; logged_dcg takes the model, with all lists"
            )
        ranker = LoggedRanker(
            sessions=sessions,
            ranking=ranking,
            propensity=propensity,
            discount=discount,
            offset=offset,
        )
        deepest = deepest_rank(sessions, n_ranks)
        lists = WeightedLists.of(ranker, fewest=0, n_ranks=deepest)
        return sums_of_lists(
            ranker, lists, cluster_codes(clusters, len(sessions), fewest=0), deepest
        )

    @property
    def _whole_kind(self) -> tuple[str, ...]:
        """Settings that all parts share."""
        return (f"{self.n_ranks} ranks", f"discount {self.discount}", *self.kind)

    def merge(self, other: "LoggedDCGSums") -> "LoggedDCGSums":
        """Add the sums of other lists, and of other clusters.

        Raises
        ------
        IncompatibleError
            Ranks, discounts, or kinds of ranking and propensity differ, one part alone has clusters
            or an offset, or the new lists of a query differ in length.
        """
        if self._whole_kind != other._whole_kind:
            raise IncompatibleError(
                f"found sums of {self._whole_kind} and of {other._whole_kind}; expected the same "
                "ranks, discounts and kinds of all parts"
            )
        return LoggedDCGSums(
            n_lists=self.n_lists + other.n_lists,
            n_clicks=self.n_clicks + other.n_clicks,
            weights=self.weights + other.weights,
            squares=self.squares + other.squares,
            largest=max(self.largest, other.largest),
            dcg=self.dcg.summed().plus(other.dcg.summed()),
            ndcg=self.ndcg.summed().plus(other.ndcg.summed()),
            unseen=joined_unseen(self.unseen, other.unseen),
            documents=joined_documents(self.documents, other.documents),
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
        level = check_confidence(confidence)
        worth = np.ones(1)
        require_units(
            self.n_lists,
            self.dcg.n_units,
            "sessions",
            "lists",
            clustered="clusters" in self.kind,
        )
        never_shown = share_never_shown(self.unseen, discount_table(self.discount, self.n_ranks))
        effective, cautions = click_cautions(
            n_clicks=self.n_clicks,
            total=self.weights,
            squares=self.squares,
            largest=self.largest,
            never_shown=never_shown,
            lists_differ=not all(self.documents.values()),
        )
        return LoggedDCG(
            dcg=self.dcg.mean(worth, level),
            ndcg=self.ndcg.mean(worth, level),
            effective_sample_size=effective,
            max_weight=self.largest,
            n_lists=self.n_lists,
            n_clicks=self.n_clicks,
            confidence=level,
            cautions=cautions,
            never_shown=never_shown,
        )


def deepest_rank(sessions: Sessions, n_ranks: int | None) -> int:
    """Ranks of the longest list of all partitions, of which these sessions are one."""
    check_sessions(sessions)
    if n_ranks is None:
        return sessions.n_ranks
    return whole_number("n_ranks", n_ranks, sessions.n_ranks)


def sums_of_lists(
    ranker: LoggedRanker,
    lists: WeightedLists,
    codes: IntArray | None,
    n_ranks: int | None = None,
    *,
    keep: bool = False,
) -> LoggedDCGSums:
    """Sum the checked lists of a log or of a part; `keep` keeps them, for a whole log, for its
    errors.
    """
    clicked = lists.clicked
    dcg, ndcg = (values.kept(codes) for values in lists.measures)
    sessions = ranker.sessions
    discount = ranker.discount
    deepest = sessions.n_ranks if n_ranks is None else n_ranks
    documents: Mapping[str, bytes] = {}
    if ranker.has_rank_propensities:
        documents = differing_queries(sessions) if keep else documents_of_queries(sessions)
    return LoggedDCGSums(
        n_lists=len(sessions),
        n_clicks=clicked.size,
        weights=float(clicked.sum()),
        squares=float((clicked * clicked).sum()),
        largest=float(clicked.max(initial=0.0)),
        dcg=dcg if keep else dcg.summed(),
        ndcg=ndcg if keep else ndcg.summed(),
        unseen=unseen_ranks(sessions, ranker.ranking, deepest),
        documents=documents,
        discount=None if discount is None else tuple(np.asarray(discount, np.float64).tolist()),
        n_ranks=deepest,
        kind=("no clusters" if codes is None else "clusters", *ranker.kinds),
    )
