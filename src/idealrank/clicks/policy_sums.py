"""Values of policies, of rankers and of slates from sums that partitions of a log add up: no
partition sees the rows of another.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from idealrank.clicks.arguments import check_confidence
from idealrank.clicks.logged_gains import (
    LoggedDCG,
    Ranking,
    Unseen,
    UnseenRanks,
    WeightedLists,
    click_cautions,
    discount_table,
    documents_of_queries,
    share_never_shown,
    unseen_ranks,
)
from idealrank.clicks.logged_rewards import (
    PolicyValue,
    WeightSums,
    cautions_of,
    rows_of,
    rows_with_model,
    sums_of_rows,
)
from idealrank.clicks.logged_slates import (
    SlateEstimator,
    SlateValue,
    WeightedSlates,
    ratio_worth,
    slate_cautions,
)
from idealrank.clicks.ratio_moments import RatioMoments, codes_of_part, require_units
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.clicks.weighted_rows import Estimator, ModelEstimator, WeightedRows
from idealrank.data.types import FloatArray
from idealrank.errors import IncompatibleError
from idealrank.stats.randomness import whole_number


@dataclass(frozen=True, kw_only=True, eq=False)
class PolicySums:
    """Sums of a log's rows for the value of a target policy; of partitions, they merge.

    Estimates, standard errors, effective sample sizes and cautions equal the results of `ips` and
    `doubly_robust` over all rows, to rounding. Intervals are normal: the bootstrap over clusters
    needs their rows.

    Attributes
    ----------
    n : int
        Rows; a partition may have none.
    rows : WeightSums
        Sums of weights, of their squares, and of weighted rewards.
    moments : RatioMoments
        Weighted rewards (with the model's prediction) over weights or rows, by unit: a row, or a
        cluster. Each cluster stands in one partition.
    baseline : float
        Sum of the predicted rewards of the target policy; 0 without a model.
    estimator : str
        How the value is estimated.
    limit : float
        Largest weight, or infinity.
    clustered, has_model : bool
        Whether units are clusters, and whether a model predicts rewards.

    Examples
    --------
    >>> rewards, target, logged = (
    ...     np.array([1, 0, 0, 1]),
    ...     np.array([0.5, 0.5, 1.0, 0.5]),
    ...     np.array([0.5, 0.5, 0.5, 0.25]),
    ... )
    >>> parts = [
    ...     PolicySums.ips(rewards[at], target[at], logged[at], "snips")
    ...     for at in (slice(0, 2), slice(2, 4))
    ... ]
    >>> round(parts[0].merge(parts[1]).value().value, 6)
    0.5
    """

    n: int
    rows: WeightSums
    moments: RatioMoments
    baseline: float
    estimator: Estimator | ModelEstimator
    limit: float
    clustered: bool
    has_model: bool

    @classmethod
    def ips(
        cls,
        rewards: npt.ArrayLike,
        target_probability: npt.ArrayLike,
        logged_probability: npt.ArrayLike,
        estimator: Estimator = "ips",
        clip: float | None = None,
        *,
        clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    ) -> "PolicySums":
        """Sum the rows of a partition for `idealrank.clicks.ips`, whose parameters these are.

        Raises
        ------
        InputError, OptionError
            As from `ips`, but for the number of rows and of clusters.
        """
        return sums_of_log(
            rows_of(rewards, target_probability, logged_probability, estimator, clip, fewest=0),
            clusters,
        )

    @classmethod
    def doubly_robust(
        cls,
        rewards: npt.ArrayLike,
        target_probability: npt.ArrayLike,
        logged_probability: npt.ArrayLike,
        predicted_logged: npt.ArrayLike,
        predicted_target: npt.ArrayLike,
        estimator: ModelEstimator = "dr",
        *,
        switch: float | None = None,
        clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    ) -> "PolicySums":
        """Sum the rows of a partition for `idealrank.clicks.doubly_robust`, whose parameters these
        are.

        Raises
        ------
        InputError, OptionError
            As from `doubly_robust`, but for the number of rows and of clusters.
        """
        probabilities = (target_probability, logged_probability)
        predictions = (predicted_logged, predicted_target)
        return sums_of_log(
            rows_with_model(rewards, probabilities, predictions, estimator, switch, fewest=0),
            clusters,
        )

    @property
    def n_units(self) -> int:
        """Clusters; rows without clusters."""
        return self.moments.n_units

    @property
    def _kind(self) -> tuple[object, ...]:
        """Settings that all parts share."""
        return (self.estimator, self.limit, "clusters" if self.clustered else "no clusters")

    def merge(self, other: "PolicySums") -> "PolicySums":
        """Add the sums of other rows, and of other clusters.

        Raises
        ------
        IncompatibleError
            Estimators or limits differ, or one part alone has clusters.
        """
        ours, theirs = self._kind, other._kind
        if ours != theirs:
            raise IncompatibleError(
                f"found sums of {ours} and of {theirs}; expected one estimator, limit and kind of "
                "rows for all parts"
            )
        return PolicySums(
            n=self.n + other.n,
            rows=self.rows.plus(other.rows),
            moments=self.moments.plus(other.moments),
            baseline=self.baseline + other.baseline,
            estimator=self.estimator,
            limit=self.limit,
            clustered=self.clustered,
            has_model=self.has_model,
        )

    def value(self, confidence: float = 0.95) -> PolicyValue:
        """Value of the target policy, with its normal interval.

        Parameters
        ----------
        confidence : float
            Confidence level.

        Raises
        ------
        InputError
            All partitions together have fewer than 2 rows, or one cluster.
        """
        level, sums = check_confidence(confidence), self.rows
        require_units(self.n, self.n_units, "rewards", "rows", clustered=self.clustered)
        below = sums.weights if self.estimator == "snips" else float(self.n)
        value = (sums.weighted / below if below else 0.0) + self.baseline / self.n
        error = self.moments.error(np.ones(1))
        reach = error * float(ndtri((1 + level) / 2))
        effective = sums.weights**2 / sums.squares if sums.squares > 0 else 0.0
        share = sums.largest_reward / sums.rewards if sums.rewards > 0 else 0.0
        return PolicyValue(
            value=value,
            standard_error=error,
            interval=(value - reach, value + reach),
            effective_sample_size=effective,
            max_weight=sums.largest,
            mean_weight=sums.raw / self.n,
            largest_share=share,
            n=self.n,
            n_clusters=self.n_units,
            n_clipped=sums.cut,
            estimator=self.estimator,
            confidence=level,
            cautions=cautions_of(
                sums=sums,
                n=self.n,
                error=error,
                effective=effective,
                share=share,
                n_clusters=self.n_units,
                has_model=self.has_model,
            ),
        )


def sums_of_log(log: WeightedRows, clusters: "Sequence[Any] | npt.ArrayLike | None") -> PolicySums:
    """Sum the checked rows of a partition."""
    codes = codes_of_part(clusters, log.n)
    baseline = 0.0 if log.baseline is None else math.fsum(log.baseline.tolist())
    moments = RatioMoments.of(*log.ratio_columns, codes)
    return PolicySums(
        n=log.n,
        rows=sums_of_rows(log),
        moments=moments,
        baseline=baseline,
        estimator=log.estimator,
        limit=log.limit,
        clustered=codes is not None,
        has_model=log.baseline is not None,
    )


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
        deepest = sessions.n_ranks
        if n_ranks is not None:
            deepest = whole_number("n_ranks", n_ranks, sessions.n_ranks)
        lists = WeightedLists.of(
            sessions, ranking, propensity, discount, offset, fewest=0, n_ranks=deepest
        )
        clicked, ones = lists.clicked, [np.ones(len(sessions))]
        by_rank = np.ndim(propensity) == 1
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
        ours, theirs = self._whole_kind, other._whole_kind
        if ours != theirs:
            raise IncompatibleError(
                f"found sums of {ours} and of {theirs}; expected the same ranks, discounts and "
                "kinds of all parts"
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
        level, worth = check_confidence(confidence), np.ones(1)
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


def _joined_unseen(ours: Unseen, theirs: Unseen) -> Unseen:
    """Ranks that neither part shows, by query."""
    joined = {**ours, **theirs}
    for query in ours.keys() & theirs.keys():
        part, other = ours[query], theirs[query]
        if part.length != other.length:
            raise IncompatibleError(
                f"query {query!r}: found new lists of {part.length} and of {other.length} "
                "documents, expected one list"
            )
        n_lists, ranks = part.n_lists + other.n_lists, part.ranks & other.ranks
        joined[query] = UnseenRanks(n_lists, part.length, ranks)
    return joined


def _joined_documents(ours: Mapping[str, bytes], theirs: Mapping[str, bytes]) -> dict[str, bytes]:
    """Digests of both parts; empty for a query whose parts have different documents."""
    shared = ours.keys() & theirs.keys()
    return {**ours, **theirs} | {query: b"" for query in shared if ours[query] != theirs[query]}


@dataclass(frozen=True, kw_only=True, eq=False)
class SlateSums:
    """Sums of a log's lists for the value of a policy that shows lists; of partitions, they merge.

    Values, standard errors, intervals and cautions equal the results of `slate_value` over all
    lists, to rounding.

    Attributes
    ----------
    n : int
        Lists; a partition may have none.
    weights, squares, deviations, weighted, largest : float64 array, shape (ranks,)
        Sums of the weights at each rank, of their squares, of the squares of their deviations from
        their mean and of weighted rewards, and the largest weight.
    moments : RatioMoments
        Weighted rewards, by unit: a list, or a cluster. Each cluster stands in one partition. Of
        self-normalised estimators, weighted rewards over weights at each rank.
    gained, largest_gain : float
        Sum, and largest, of the absolute weighted rewards of lists.
    worth : float64 array, shape (ranks,)
        Weight of each rank in the reward of a list.
    estimator : str
        How the value is estimated.
    clustered : bool
        Whether units are clusters.

    Examples
    --------
    >>> rewards, target, logged = (
    ...     [[1, 0], [0, 1]],
    ...     [[0.8, 0.5], [0.2, 0.5]],
    ...     [[0.5, 0.5], [0.5, 0.5]],
    ... )
    >>> first, second = (
    ...     SlateSums.of(rewards[at:][:1], target[at:][:1], logged[at:][:1], "rips")
    ...     for at in (0, 1)
    ... )
    >>> first.merge(second).value().by_rank.tolist()
    [0.8, 0.2]
    """

    n: int
    weights: FloatArray
    squares: FloatArray
    deviations: FloatArray
    weighted: FloatArray
    largest: FloatArray
    moments: RatioMoments
    gained: float
    largest_gain: float
    worth: FloatArray
    estimator: SlateEstimator
    clustered: bool

    @classmethod
    def of(
        cls,
        rewards: npt.ArrayLike,
        target_probability: npt.ArrayLike,
        logged_probability: npt.ArrayLike,
        estimator: SlateEstimator = "ips",
        *,
        discount: npt.ArrayLike | None = None,
        clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    ) -> "SlateSums":
        """Sum the lists of a partition for `idealrank.clicks.slate_value`, whose parameters these
        are.

        All partitions have as many ranks: fill shorter lists up with rewards of 0 and probabilities
        of 1. A partition without lists has arrays of shape (0, ranks).

        Raises
        ------
        InputError, OptionError
            As from `slate_value`, but for the number of lists and of clusters.
        """
        lists = WeightedSlates.of(
            rewards, target_probability, logged_probability, estimator, discount, fewest=0
        )
        return sums_of_slates(lists, estimator, clusters)

    @property
    def _kind(self) -> tuple[object, ...]:
        """Settings that all parts share."""
        clusters = "clusters" if self.clustered else "no clusters"
        return (self.estimator, self.worth.tolist(), clusters)

    def merge(self, other: "SlateSums") -> "SlateSums":
        """Add the sums of other lists, and of other clusters.

        Raises
        ------
        IncompatibleError
            Estimators, ranks or discounts differ, or one part alone has clusters.
        """
        ours, theirs = self._kind, other._kind
        if ours != theirs:
            raise IncompatibleError(
                f"found sums of {ours} and of {theirs}; expected one estimator, discount of each "
                "rank and kind of lists for all parts"
            )
        n = self.n + other.n
        # Squared deviations of both parts, and of both means from the joint one (Chan, Golub and
        # LeVeque 1983).
        gap = other.weights / max(other.n, 1) - self.weights / max(self.n, 1)
        between = gap * gap * (self.n * other.n / max(n, 1))
        return SlateSums(
            n=n,
            weights=self.weights + other.weights,
            squares=self.squares + other.squares,
            deviations=self.deviations + other.deviations + between,
            weighted=self.weighted + other.weighted,
            largest=np.maximum(self.largest, other.largest),
            moments=self.moments.plus(other.moments),
            gained=self.gained + other.gained,
            largest_gain=max(self.largest_gain, other.largest_gain),
            worth=self.worth,
            estimator=self.estimator,
            clustered=self.clustered,
        )

    def value(self, confidence: float = 0.95) -> SlateValue:
        """Value of the policy, with its normal interval.

        Parameters
        ----------
        confidence : float
            Confidence level.

        Raises
        ------
        InputError
            All partitions together have fewer than 2 lists, or one cluster.
        """
        level, ranks = check_confidence(confidence), self.worth.size
        require_units(self.n, self.moments.n_units, "rewards", "lists", clustered=self.clustered)
        below = self.weights if self.estimator.startswith("sn") else np.full(ranks, float(self.n))
        by_rank = np.divide(self.weighted, below, out=np.zeros(ranks), where=below > 0)
        effective = np.divide(
            self.weights**2, self.squares, out=np.zeros(ranks), where=self.squares > 0
        )
        mean, spread = self.weights / self.n, np.sqrt(self.deviations / self.n)
        worth = ratio_worth(self.estimator, self.worth)
        return SlateValue(
            total=self.moments.mean(worth, level),
            by_rank=by_rank,
            effective_sample_size=effective,
            mean_weight=mean,
            max_weight=self.largest,
            n=self.n,
            estimator=self.estimator,
            confidence=level,
            cautions=slate_cautions(
                n=self.n,
                mean=mean,
                spread=spread,
                effective=effective,
                sizes=(self.gained, self.largest_gain),
                worth=self.worth,
            ),
        )


def sums_of_slates(
    lists: WeightedSlates,
    estimator: SlateEstimator,
    clusters: "Sequence[Any] | npt.ArrayLike | None",
) -> SlateSums:
    """Sum the checked lists of a partition."""
    n, weights = len(lists.rewards), list(lists.weights.T)
    gained, codes = lists.gained, codes_of_part(clusters, n)
    products = [weight * reward for weight, reward in zip(weights, lists.rewards.T, strict=True)]
    total = _sums(weights)
    means = (total / max(n, 1)).tolist()
    deviations = [(weight - mean) ** 2 for weight, mean in zip(weights, means, strict=True)]
    return SlateSums(
        n=n,
        weights=total,
        squares=_sums([weight * weight for weight in weights]),
        deviations=_sums(deviations),
        weighted=_sums(products),
        largest=np.array([float(weight.max(initial=0.0)) for weight in weights]),
        moments=RatioMoments.of(*lists.ratio_columns, codes),
        gained=float(np.abs(gained).sum()),
        largest_gain=float(np.abs(gained).max(initial=0.0)),
        worth=lists.worth,
        estimator=estimator,
        clustered=codes is not None,
    )


def _sums(columns: Sequence[FloatArray]) -> FloatArray:
    return np.array([float(column.sum()) for column in columns])
