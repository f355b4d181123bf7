"""Differences of two policies by one log, paired by row: interval, verdict, and the rows that it
would take; and the sums for differences of all kinds, where partitions of a log are on several
machines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from idealrank.clicks.arguments import two_columns
from idealrank.clicks.list_differences import (
    LoggedDCGDifference,
    SlateDifference,
    pair_of_rankings,
    pair_of_slates,
    rankers_of,
)
from idealrank.clicks.logged_gains import (
    deepest_rank,
)
from idealrank.clicks.logged_rewards import PolicyValue, rows_of, rows_with_model, sums_of_log
from idealrank.clicks.logged_slates import (
    SlateEstimator,
    WeightedSlates,
)
from idealrank.clicks.ratio_moments import (
    Difference,
    KeptRows,
    PairedMoments,
    RowUnits,
    ValuePair,
    units_needed,
    verdict_of,
)
from idealrank.clicks.sessions import Sessions
from idealrank.clicks.weighted_lists import Ranking, WeightedLists
from idealrank.clicks.weighted_rows import (
    Estimator,
    ModelEstimator,
    WeightedRows,
    cluster_codes,
    normal_mean,
)
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import IncompatibleError


@dataclass(frozen=True, kw_only=True)
class PolicyDifference:
    """Difference of the values of two policies, estimated from one log: B less A, paired by row.

    Attributes
    ----------
    a, b : PolicyValue
        Both values.
    value, standard_error : float
        Their difference, and its standard error; rows that both policies would take alike cancel.
    interval : tuple of float
        Low and high.
    confidence : float
        Confidence level.
    verdict : {"better", "worse", "undecided", "no support"}
        Verdict on B by the interval; "no support" if the log cannot carry a verdict on either
        policy.

    Examples
    --------
    >>> difference = ips_difference([1, 0, 1, 0], [0.5] * 4, [0.9, 0.1, 0.9, 0.1], [0.5] * 4)
    >>> round(difference.value, 3), difference.verdict
    (0.4, 'no support')
    """

    a: PolicyValue
    b: PolicyValue
    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float

    @property
    def verdict(self) -> Literal["better", "worse", "undecided", "no support"]:
        """Return the verdict on B by the interval."""
        return verdict_of(self.interval, is_supported=self.a.supported and self.b.supported)

    def rows_needed(self, power: float = 0.8) -> float:
        """Rows of such a log that would show a difference of this size with the given power;
        infinite for no difference.

        Examples
        --------
        >>> difference = ips_difference(
        ...     [1, 0, 1, 0, 0], [0.5] * 5, [0.6, 0.4, 0.5, 0.5, 0.5], [0.5] * 5
        ... )
        >>> difference.rows_needed() > difference.a.n
        True
        """
        return units_needed(self.a.n, self.value, self.standard_error, self.confidence, power)


def ips_difference(
    rewards: npt.ArrayLike,
    target_a: npt.ArrayLike,
    target_b: npt.ArrayLike,
    logged_probability: npt.ArrayLike,
    estimator: Estimator = "ips",
    clip: float | None = None,
    *,
    clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    confidence: float = 0.95,
) -> PolicyDifference:
    """Compare two target policies by one log, paired by row.

    Parameters
    ----------
    rewards, logged_probability : array, shape (n,)
        As for `ips`.
    target_a, target_b : array, shape (n,)
        Probability, in [0, 1], with which either policy takes the logged action.
    estimator, clip, clusters, confidence
        As for `ips`.

    Raises
    ------
    InputError, OptionError
        As for `ips`.

    Examples
    --------
    >>> difference = ips_difference([1, 0, 1, 0], [0.5] * 4, [0.5] * 4, [0.5] * 4)
    >>> difference.value, difference.standard_error
    (0.0, 0.0)
    """
    logs = _ips_logs(rewards, (target_a, target_b), logged_probability, estimator, clip)
    codes = cluster_codes(clusters, logs[0].n)
    return _pair_of_logs(logs, codes, keep=True).difference(confidence)


def doubly_robust_difference(
    rewards: npt.ArrayLike,
    targets: "tuple[npt.ArrayLike, npt.ArrayLike]",
    logged_probability: npt.ArrayLike,
    predicted_logged: npt.ArrayLike,
    predicted_targets: "tuple[npt.ArrayLike, npt.ArrayLike]",
    estimator: ModelEstimator = "dr",
    *,
    switch: float | None = None,
    clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    confidence: float = 0.95,
) -> PolicyDifference:
    """Compare two target policies by one log and one model of the rewards, paired by row.

    Parameters
    ----------
    rewards, logged_probability, predicted_logged, estimator, switch, clusters, confidence
        As for `doubly_robust`.
    targets : pair of arrays, shape (n,)
        Probability, in [0, 1], with which policies A and B take the logged action.
    predicted_targets : pair of arrays, shape (n,)
        Reward that the model predicts for either policy.

    Raises
    ------
    InputError, OptionError
        As for `doubly_robust`.

    Examples
    --------
    >>> half, model = [0.5] * 4, [0.4] * 4
    >>> difference = doubly_robust_difference(
    ...     [1, 0, 1, 0], (half, [0.9, 0.1, 0.9, 0.1]), half, model, (model, [0.6] * 4)
    ... )
    >>> round(difference.value, 3)
    0.6
    """
    logs = _model_logs(
        rewards=rewards,
        targets=targets,
        logged_probability=logged_probability,
        predicted_logged=predicted_logged,
        predicted_targets=predicted_targets,
        estimator=estimator,
        switch=switch,
    )
    codes = cluster_codes(clusters, logs[0].n)
    return _pair_of_logs(logs, codes, keep=True).difference(confidence)


def _ips_logs(
    rewards: npt.ArrayLike,
    targets: "tuple[npt.ArrayLike, npt.ArrayLike]",
    logged_probability: npt.ArrayLike,
    estimator: Estimator,
    clip: float | None,
    *,
    fewest: int = 2,
) -> list[WeightedRows]:
    """Rows of policies A and B."""
    return [
        rows_of(rewards, target, logged_probability, estimator, clip, fewest=fewest)
        for target in targets
    ]


def _model_logs(
    *,
    rewards: npt.ArrayLike,
    targets: "tuple[npt.ArrayLike, npt.ArrayLike]",
    logged_probability: npt.ArrayLike,
    predicted_logged: npt.ArrayLike,
    predicted_targets: "tuple[npt.ArrayLike, npt.ArrayLike]",
    estimator: ModelEstimator,
    switch: float | None,
    fewest: int = 2,
) -> list[WeightedRows]:
    """Rows of policies A and B, with a model of the rewards."""
    policies = zip(
        two_columns("targets", targets),
        two_columns("predicted_targets", predicted_targets),
        strict=True,
    )
    return [
        rows_with_model(
            rewards=rewards,
            target_probability=target,
            logged_probability=logged_probability,
            predicted_logged=predicted_logged,
            predicted_target=predicted,
            estimator=estimator,
            switch=switch,
            fewest=fewest,
        )
        for target, predicted in policies
    ]


def _pair_of_logs(
    logs: Sequence[WeightedRows], codes: IntArray | None, *, keep: bool = False
) -> ValuePair[PolicyDifference]:
    a, b = (sums_of_log(log, codes, keep=keep) for log in logs)

    def influences() -> Iterator[FloatArray]:
        blocks = (sums.rows.influences(log) for sums, log in zip((a, b), logs, strict=True))
        return (of_b - of_a for of_a, of_b in zip(*blocks, strict=True))

    units = KeptRows(
        n=a.n,
        codes=codes,
        influences=influences,
        moments=lambda: PairedMoments.pair((log.ratio_columns for log in logs), codes),
    )
    return ValuePair(
        a=a,
        b=b,
        moments=(units if keep else units.summed(),),
        worth=np.ones(1),
        result=_difference_of_rows,
    )


def _difference_of_rows(
    a: PolicyValue, b: PolicyValue, units: RowUnits, *, worth: FloatArray
) -> PolicyDifference:
    mean = normal_mean(b.value - a.value, units.error(worth), a.confidence)
    return PolicyDifference(
        a=a,
        b=b,
        value=mean.value,
        standard_error=mean.standard_error,
        interval=mean.interval,
        confidence=a.confidence,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class PairedSums(ValuePair[Difference]):
    """Sums of a log for the difference of two policies, B less A, paired by row or list; of
    partitions, they merge.

    Differences, standard errors, intervals, both values and the verdict equal the results of
    `ips_difference`, `doubly_robust_difference`, `slate_difference` and `logged_dcg_difference`
    over the whole log, to rounding. `difference(confidence=0.95)` gives the result; it raises
    `InputError` if all partitions together have fewer than 2 rows or lists, or one cluster.

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
        Makes the result from both values, and the moments and worth of each difference.

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
        targets = (target_a, target_b)
        logs = _ips_logs(rewards, targets, logged_probability, estimator, clip, fewest=0)
        return PairedSums._of(_pair_of_logs(logs, cluster_codes(clusters, logs[0].n, fewest=0)))

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
        logs = _model_logs(
            rewards=rewards,
            targets=targets,
            logged_probability=logged_probability,
            predicted_logged=predicted_logged,
            predicted_targets=predicted_targets,
            estimator=estimator,
            switch=switch,
            fewest=0,
        )
        return PairedSums._of(_pair_of_logs(logs, cluster_codes(clusters, logs[0].n, fewest=0)))

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
        return PairedSums._of(
            pair_of_slates(slates, cluster_codes(clusters, slates[0].n, fewest=0))
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
        rankers = rankers_of(sessions, (ranking_a, ranking_b), propensity, discount, offset)
        deepest = deepest_rank(sessions, n_ranks)
        lists = [WeightedLists.of(ranker, fewest=0, n_ranks=deepest) for ranker in rankers]
        codes = cluster_codes(clusters, len(sessions), fewest=0)
        return PairedSums._of(pair_of_rankings(rankers, lists, codes, deepest))

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
        a = self.a.merge(other.a)  # first: they refuse what has no sum
        b = self.b.merge(other.b)
        pairs = zip(self.moments, other.moments, strict=True)
        moments = tuple(part.summed().plus(other_part.summed()) for part, other_part in pairs)
        return PairedSums(a=a, b=b, moments=moments, worth=self.worth, result=self.result)

    @staticmethod
    def _of(pair: ValuePair[Difference]) -> "PairedSums[Difference]":
        return PairedSums(**vars(pair))
