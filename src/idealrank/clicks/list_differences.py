"""Differences of two policies that show lists, by one log, paired by list: of slates, and of the
DCG and NDCG of two rankers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from idealrank.clicks.examination_models import FittedPBM
from idealrank.clicks.logged_gains import (
    LoggedDCG,
    sums_of_lists,
    with_fit_cautions,
)
from idealrank.clicks.logged_slates import (
    SlateEstimator,
    SlateValue,
    WeightedSlates,
    ratio_worth,
    sums_of_slates,
)
from idealrank.clicks.ratio_moments import (
    KeptLists,
    ListUnits,
    PairedMoments,
    ValuePair,
    units_needed,
    verdict_of,
)
from idealrank.clicks.sessions import Sessions
from idealrank.clicks.weighted_lists import ListValues, LoggedRanker, Ranking, WeightedLists
from idealrank.clicks.weighted_rows import (
    ListMean,
    cluster_codes,
)
from idealrank.data.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SlateDifference:
    """Difference of the values of two policies that show lists, by one log: B less A, paired by
    list.

    Attributes
    ----------
    a, b : SlateValue
        Both values.
    total : ListMean
        Their difference; lists that both policies would show alike cancel.

    Examples
    --------
    >>> half = [[0.5, 0.5]] * 2
    >>> difference = slate_difference([[1, 0], [0, 1]], half, half, half)
    >>> difference.total.value, difference.verdict
    (0.0, 'no support')
    """

    a: SlateValue
    b: SlateValue
    total: ListMean

    @property
    def verdict(self) -> Literal["better", "worse", "undecided", "no support"]:
        """Return the verdict on B by the interval."""
        return verdict_of(self.total.interval, is_supported=self.a.supported and self.b.supported)

    def lists_needed(self, power: float = 0.8) -> float:
        """Lists of such a log that would show a difference of this size with the given power;
        infinite for no difference.

        Examples
        --------
        >>> half = [[0.5, 0.5]] * 2
        >>> slate_difference([[1, 0], [0, 1]], half, half, half).lists_needed()
        inf
        """
        return units_needed(
            self.a.n, self.total.value, self.total.standard_error, self.a.confidence, power
        )


@dataclass(frozen=True, kw_only=True)
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
    >>> difference = logged_dcg_difference(log, {"q": ["a", "b"]}, {"q": ["b", "a"]}, [1.0, 0.5])
    >>> round(difference.dcg.value, 4), difference.inverted
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
        """Lists of such a log that would show a difference in DCG of this size with the given
        power; infinite for no difference.

        Examples
        --------
        >>> log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["a", "b"]], [[0, 1], [0, 0]])
        >>> logged_dcg_difference(
        ...     log, {"q": ["a", "b"]}, {"q": ["b", "a"]}, [1.0, 0.5]
        ... ).lists_needed() > 2
        True
        """
        return units_needed(
            self.a.n_lists, self.dcg.value, self.dcg.standard_error, self.a.confidence, power
        )


def slate_difference(
    rewards: npt.ArrayLike,
    target_a: npt.ArrayLike,
    target_b: npt.ArrayLike,
    logged_probability: npt.ArrayLike,
    estimator: SlateEstimator = "ips",
    *,
    discount: npt.ArrayLike | None = None,
    clusters: "Sequence[Any] | npt.ArrayLike | None" = None,
    confidence: float = 0.95,
) -> SlateDifference:
    """Compare two policies that show lists by one log, paired by list.

    Parameters
    ----------
    rewards, logged_probability, estimator, discount, clusters, confidence
        As for `slate_value`.
    target_a, target_b : array, shape (lists, ranks)
        Probabilities of either policy, as `target_probability` of `slate_value`.

    Raises
    ------
    InputError, OptionError
        As for `slate_value`.

    Examples
    --------
    >>> rewards, logged = [[1, 0], [0, 1]], [[0.5, 0.5], [0.5, 0.5]]
    >>> slate_difference(
    ...     rewards, logged, [[0.8, 0.5], [0.2, 0.5]], logged, "rips"
    ... ).b.by_rank.tolist()
    [0.8, 0.2]
    """
    slates = [
        WeightedSlates.of(rewards, target, logged_probability, estimator, discount)
        for target in (target_a, target_b)
    ]
    codes = cluster_codes(clusters, slates[0].n)
    return pair_of_slates(slates, codes, keep=True).difference(confidence)


def logged_dcg_difference(
    sessions: Sessions,
    ranking_a: Ranking,
    ranking_b: Ranking,
    propensity: "npt.ArrayLike | FittedPBM",
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
    >>> difference = logged_dcg_difference(log, {"q": ["b", "a"]}, {"q": ["b", "a"]}, [1.0, 0.5])
    >>> difference.dcg.value, difference.dcg.standard_error
    (0.0, 0.0)
    """
    rankers = rankers_of(sessions, (ranking_a, ranking_b), propensity, discount, offset)
    lists = [WeightedLists.of(ranker) for ranker in rankers]
    codes = cluster_codes(clusters, len(sessions))
    difference = pair_of_rankings(rankers, lists, codes, keep=True).difference(confidence)
    a, b = (with_fit_cautions(value, propensity) for value in (difference.a, difference.b))
    return replace(difference, a=a, b=b)


def rankers_of(
    sessions: Sessions,
    rankings: tuple[Ranking, Ranking],
    propensity: "npt.ArrayLike | FittedPBM",
    discount: npt.ArrayLike | None,
    offset: npt.ArrayLike | None,
) -> list[LoggedRanker]:
    """Rankers A and B."""
    return [
        LoggedRanker(
            sessions=sessions,
            ranking=ranking,
            propensity=propensity,
            discount=discount,
            offset=offset,
        )
        for ranking in rankings
    ]


def pair_of_slates(
    slates: Sequence[WeightedSlates], codes: IntArray | None, *, keep: bool = False
) -> ValuePair[SlateDifference]:
    """Sum the lists of policies A and B; `keep` keeps them, for a whole log."""
    a, b = (sums_of_slates(lists, codes, keep=keep) for lists in slates)
    lists_a, lists_b = slates
    units = KeptLists.of(
        lambda: lists_b.influence - lists_a.influence,
        lambda: PairedMoments.pair((lists.ratio_columns for lists in slates), codes),
        a.n,
        codes,
    )
    return ValuePair(
        a=a,
        b=b,
        moments=(units if keep else units.summed(),),
        worth=ratio_worth(a.estimator, a.worth),
        result=_difference_of_slates,
    )


def _difference_of_slates(
    a: SlateValue, b: SlateValue, units: ListUnits, *, worth: FloatArray
) -> SlateDifference:
    return SlateDifference(a, b, units.mean(worth, a.confidence))


def pair_of_rankings(
    rankers: Sequence[LoggedRanker],
    lists: Sequence[WeightedLists],
    codes: IntArray | None,
    n_ranks: int | None = None,
    *,
    keep: bool = False,
) -> ValuePair[LoggedDCGDifference]:
    """Sum the lists of rankers A and B; `keep` keeps them, for a whole log."""
    lists_a, lists_b = lists
    a, b = (
        sums_of_lists(ranker, weighted, codes, n_ranks, keep=keep)
        for ranker, weighted in zip(rankers, lists, strict=True)
    )
    measures = zip(lists_a.measures, lists_b.measures, strict=True)
    units = [_paired_lists(values_a, values_b, codes) for values_a, values_b in measures]
    return ValuePair(
        a=a,
        b=b,
        moments=tuple(unit if keep else unit.summed() for unit in units),
        worth=np.ones(1),
        result=_difference_of_dcg,
    )


def _paired_lists(a: ListValues, b: ListValues, codes: IntArray | None) -> KeptLists:
    """Values of B less A."""
    fit_errors = None
    if a.fit_errors is not None and b.fit_errors is not None:
        fit_errors = b.fit_errors - a.fit_errors
    return KeptLists.of(
        lambda: b.values - a.values,
        lambda: PairedMoments.pair((a.columns, b.columns), codes),
        a.values.size,
        codes,
        fit_errors,
    )


def _difference_of_dcg(
    a: LoggedDCG, b: LoggedDCG, dcg: ListUnits, ndcg: ListUnits, *, worth: FloatArray
) -> LoggedDCGDifference:
    level = a.confidence
    return LoggedDCGDifference(a=a, b=b, dcg=dcg.mean(worth, level), ndcg=ndcg.mean(worth, level))
