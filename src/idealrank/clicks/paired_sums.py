"""Paired differences of two policies from sums that partitions of a log add up: no partition sees
the rows of another.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import check_confidence
from idealrank.clicks.logged_gains import LoggedDCG, LoggedDCGDifference, Ranking, WeightedLists
from idealrank.clicks.logged_rewards import PolicyValue, rows_of, rows_with_model
from idealrank.clicks.logged_slates import (
    SlateDifference,
    SlateEstimator,
    WeightedSlates,
    ratio_worth,
)
from idealrank.clicks.policy_differences import PolicyDifference, difference_of_values, two
from idealrank.clicks.policy_sums import LoggedDCGSums, sums_of_log, sums_of_slates
from idealrank.clicks.ratio_moments import RatioMoments, codes_of_part
from idealrank.clicks.sessions import Sessions
from idealrank.clicks.weighted_rows import Estimator, ListMean, ModelEstimator, WeightedRows
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import IncompatibleError

Columns: TypeAlias = tuple[Sequence[FloatArray], Sequence[FloatArray]]
"""Numerators and denominators of the ratios of one policy, by row."""
Difference = TypeVar("Difference", PolicyDifference, SlateDifference, LoggedDCGDifference)


@dataclass(frozen=True, eq=False)
class PairedMoments(RatioMoments):
    """Ratios of policy A, then as many of policy B, over the same units; the values are B less
    A.

    Moments are of the residuals and denominators of A, and of B less A, unit by unit.
    """

    @classmethod
    def pair(cls, policies: Iterable[Columns], codes: IntArray | None) -> "PairedMoments":
        """Sum rows of policies A and B; `codes` are the clusters of the rows, or None."""
        (above_a, below_a), (above_b, below_b) = policies
        return cls.of([*above_a, *above_b], [*below_a, *below_b], codes)

    @staticmethod
    def _measured(columns: Sequence[FloatArray]) -> Sequence[FloatArray]:
        half = len(columns) // 2
        a, b = columns[:half], columns[half:]
        return [*a, *(of_b - of_a for of_a, of_b in zip(a, b, strict=True))]

    @staticmethod
    def _moved(gap: FloatArray, products: FloatArray) -> FloatArray:
        # B less A changes by gap_b * below_b - gap_a * below_a
        # = (gap_b - gap_a) * below_a + gap_b * (below_b - below_a).
        half = gap.size // 2
        moved: FloatArray = gap[:, None] * products
        moved[half:] += (gap[half:] - gap[:half])[:, None] * products[:half]
        return moved

    @property
    def values(self) -> FloatArray:
        """Ratios of B less the ratios of A."""
        a, b = np.split(self.ratio, 2)
        differences: FloatArray = b - a
        return differences

    def _shares(self, worth: FloatArray) -> FloatArray:
        # share_b * residual_b - share_a * residual_a
        # = (share_b - share_a) * residual_a + share_b * (residual_b - residual_a).
        a, b = np.split(super()._shares(np.concatenate((worth, worth))), 2)
        return np.concatenate((b - a, b))


@dataclass(frozen=True, kw_only=True, eq=False)
class PairedSums(Generic[Difference]):
    """Sums of a log for the difference of two policies, B less A, paired by row or list; of
    partitions, they merge.

    Differences, standard errors, intervals, both values and the verdict equal the results of
    `ips_difference`, `doubly_robust_difference`, `slate_difference` and `logged_dcg_difference`
    over the whole log, to rounding.

    Attributes
    ----------
    a, b : PolicySums, SlateSums or LoggedDCGSums
        Sums for both values.
    moments : tuple of PairedMoments
        Joint moments of both policies for each difference, by unit: a row or list, or a cluster.
        Each cluster stands in one partition.
    worth : float64 array, shape (ratios,)
        Weight of each ratio in a difference: the discount of each rank for self-normalised
        estimators of lists, otherwise 1.
    result : callable
        Makes the result from both values and the mean of each difference.

    References
    ----------
    Chan, Golub and LeVeque (1983), Algorithms for computing the sample variance, The American
    Statistician 37: moments of parts. Cochran (1977), Sampling techniques, chapter 6, for the
    errors of ratios. Owen (2013), Monte Carlo theory, methods and examples, chapter 9, for
    self-normalised weights.

    Examples
    --------
    >>> rewards, a, b, logged = (
    ...     np.array([1, 0, 1, 0]),
    ...     np.array([0.5] * 4),
    ...     np.array([0.9, 0.1, 0.9, 0.1]),
    ...     np.array([0.5] * 4),
    ... )
    >>> parts = [
    ...     PairedSums.ips(rewards[at], a[at], b[at], logged[at])
    ...     for at in (slice(0, 1), slice(1, 4))
    ... ]
    >>> difference = parts[0].merge(parts[1]).difference()
    >>> round(difference.value, 3), difference.verdict
    (0.4, 'no support')
    """

    a: Any
    b: Any
    moments: tuple[PairedMoments, ...]
    worth: FloatArray
    result: Callable[..., Difference]

    @classmethod
    def ips(
        cls,
        rewards: npt.ArrayLike,
        target_a: npt.ArrayLike,
        target_b: npt.ArrayLike,
        logged_probability: npt.ArrayLike,
        estimator: Estimator = "ips",
        clip: float | None = None,
        *,
        clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    ) -> "PairedSums[PolicyDifference]":
        """Sum the rows of a partition for `idealrank.clicks.ips_difference`, whose parameters these
        are.

        Raises
        ------
        InputError, OptionError
            As from `ips_difference`, but for the number of rows and of clusters.
        """
        logs = [
            rows_of(rewards, target, logged_probability, estimator, clip, fewest=0)
            for target in (target_a, target_b)
        ]
        return _sums_of_logs(logs, clusters)

    @classmethod
    def doubly_robust(
        cls,
        rewards: npt.ArrayLike,
        targets: "tuple[npt.ArrayLike, npt.ArrayLike]",
        logged_probability: npt.ArrayLike,
        predicted_logged: npt.ArrayLike,
        predicted_targets: "tuple[npt.ArrayLike, npt.ArrayLike]",
        estimator: ModelEstimator = "dr",
        *,
        switch: float | None = None,
        clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    ) -> "PairedSums[PolicyDifference]":
        """Sum the rows of a partition for `idealrank.clicks.doubly_robust_difference`, whose
        parameters these are.

        Raises
        ------
        InputError, OptionError
            As from `doubly_robust_difference`, but for the number of rows and of clusters.
        """
        logs = [
            rows_with_model(
                rewards,
                (target, logged_probability),
                (predicted_logged, predicted),
                estimator,
                switch,
                fewest=0,
            )
            for target, predicted in zip(
                two("targets", targets), two("predicted_targets", predicted_targets), strict=True
            )
        ]
        return _sums_of_logs(logs, clusters)

    @classmethod
    def slate(
        cls,
        rewards: npt.ArrayLike,
        target_a: npt.ArrayLike,
        target_b: npt.ArrayLike,
        logged_probability: npt.ArrayLike,
        estimator: SlateEstimator = "ips",
        *,
        discount: npt.ArrayLike | None = None,
        clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    ) -> "PairedSums[SlateDifference]":
        """Sum the lists of a partition for `idealrank.clicks.slate_difference`, whose parameters
        these are.

        All partitions have as many ranks, as for `SlateSums.of`.

        Raises
        ------
        InputError, OptionError
            As from `slate_difference`, but for the number of lists and of clusters.
        """
        slates = [
            WeightedSlates.of(rewards, target, logged_probability, estimator, discount, fewest=0)
            for target in (target_a, target_b)
        ]
        a, b = (sums_of_slates(lists, estimator, clusters) for lists in slates)
        moments = PairedMoments.pair(
            (lists.ratio_columns for lists in slates), codes_of_part(clusters, a.n)
        )
        return PairedSums(
            a=a,
            b=b,
            moments=(moments,),
            worth=ratio_worth(estimator, a.worth),
            result=SlateDifference,
        )

    @classmethod
    def logged_dcg(
        cls,
        sessions: Sessions,
        ranking_a: Ranking,
        ranking_b: Ranking,
        propensity: npt.ArrayLike,
        *,
        discount: npt.ArrayLike | None = None,
        offset: npt.ArrayLike | None = None,
        clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
        n_ranks: int | None = None,
    ) -> "PairedSums[LoggedDCGDifference]":
        """Sum the lists of a partition for `idealrank.clicks.logged_dcg_difference`.

        Parameters
        ----------
        sessions, ranking_a, ranking_b, propensity, discount, offset, clusters
            As for `logged_dcg_difference`. `exposures` of a document need all lists of its query.
        n_ranks : int, optional
            Ranks of the longest list of all partitions, as for `LoggedDCGSums.of`.

        Raises
        ------
        InputError, OptionError
            As from `logged_dcg_difference`, but for the number of lists and of clusters.
        """
        rankings = (ranking_a, ranking_b)
        a, b = (
            LoggedDCGSums.of(
                sessions,
                ranking,
                propensity,
                discount=discount,
                offset=offset,
                clusters=clusters,
                n_ranks=n_ranks,
            )
            for ranking in rankings
        )
        lists_a, lists_b = (
            WeightedLists.of(
                sessions, ranking, propensity, discount, offset, fewest=0, n_ranks=a.n_ranks
            )
            for ranking in rankings
        )
        codes, ones = codes_of_part(clusters, a.n_lists), [np.ones(a.n_lists)]
        dcg = (([lists_a.dcg], ones), ([lists_b.dcg], ones))
        ndcg = (([lists_a.ndcg], ones), ([lists_b.ndcg], ones))
        moments = (PairedMoments.pair(dcg, codes), PairedMoments.pair(ndcg, codes))
        return PairedSums(a=a, b=b, moments=moments, worth=np.ones(1), result=_difference_of_dcg)

    def merge(self, other: "PairedSums[Difference]") -> "PairedSums[Difference]":
        """Add the sums of other rows or lists, and of other clusters.

        Raises
        ------
        IncompatibleError
            The kinds of difference differ, or the sums of a policy do not merge: see `merge` of
            `PolicySums`, `SlateSums` and `LoggedDCGSums`.
        """
        if type(self.a) is not type(other.a):
            kinds = f"{type(self.a).__name__} and of {type(other.a).__name__}"
            raise IncompatibleError(
                f"found pairs of {kinds}; expected one kind of difference for all parts"
            )
        a, b = self.a.merge(other.a), self.b.merge(other.b)  # first: they refuse what has no sum
        pairs = zip(self.moments, other.moments, strict=True)
        moments = tuple(ours.plus(theirs) for ours, theirs in pairs)
        return PairedSums(a=a, b=b, moments=moments, worth=self.worth, result=self.result)

    def difference(self, confidence: float = 0.95) -> Difference:
        """Difference of the policies, B less A, with its normal interval.

        Parameters
        ----------
        confidence : float
            Confidence level.

        Raises
        ------
        InputError
            All partitions together have fewer than 2 rows or lists, or one cluster.
        """
        level = check_confidence(confidence)
        a, b = self.a.value(level), self.b.value(level)
        means = [moments.mean(self.worth, level) for moments in self.moments]
        return self.result(a, b, *means)


def _sums_of_logs(logs: Sequence[WeightedRows], clusters: Any) -> PairedSums[PolicyDifference]:
    a, b = (sums_of_log(log, clusters) for log in logs)
    moments = PairedMoments.pair((log.ratio_columns for log in logs), codes_of_part(clusters, a.n))
    return PairedSums(a=a, b=b, moments=(moments,), worth=np.ones(1), result=_difference_of_rows)


def _difference_of_dcg(
    a: LoggedDCG, b: LoggedDCG, dcg: ListMean, ndcg: ListMean
) -> LoggedDCGDifference:
    return LoggedDCGDifference(a=a, b=b, dcg=dcg, ndcg=ndcg)


def _difference_of_rows(a: PolicyValue, b: PolicyValue, mean: ListMean) -> PolicyDifference:
    return difference_of_values(a, b, mean.standard_error)
