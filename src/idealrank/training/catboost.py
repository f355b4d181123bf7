"""Measures for CatBoost's ``eval_metric``.

CatBoost hands predictions and labels to Python, and no groups. The function therefore knows the
pools that it will meet, and finds the one at hand by its length and labels. There is no objective,
since gradients of a ranking need the groups.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.types import AnyArray
from idealrank.errors import InputError
from idealrank.measures.parse import MeasureLike
from idealrank.training.boosting import RoundMeasures
from idealrank.training.row_arrays import number_array, row_ids, row_numbers

__all__ = ["eval_function"]


@dataclass(frozen=True, eq=False)
class _KnownPool:
    labels: AnyArray
    qid: AnyArray

    @classmethod
    def of(cls, pool: Any) -> "_KnownPool":
        # labels and query ids, where there is no Pool
        if isinstance(pool, tuple) and len(pool) == 2:
            labels, qid = pool
            return cls(
                row_numbers("pools: labels", labels).astype(np.float32),
                row_ids("pools: query ids", qid),
            )
        if not hasattr(pool, "get_group_id_hash"):
            raise InputError(
                f"pools: found {type(pool).__name__}, expected a catboost.Pool, or labels and "
                f"query ids, a tuple of two"
            )
        catboost_pool: Any = pool
        return cls(
            np.asarray(catboost_pool.get_label(), np.float32).reshape(-1),
            np.asarray(catboost_pool.get_group_id_hash()),
        )


def eval_function(
    measure: MeasureLike = "nDCG@10",
    convention: "str | Convention" = "standard",
    *,
    pools: Iterable[Any],
) -> Any:
    """Return an ``eval_metric`` that reports a measure of idealrank in every round.

    The value returned has the bits of ``evaluate(labels, predictions, measure, convention,
    qid=group_id).mean()``.

    Parameters
    ----------
    measure : measure or text
        One measure; CatBoost takes one metric.
    convention : str or Convention
        As in `evaluate`; ``"catboost"`` gives CatBoost's own values of ``NDCG``.
    pools : iterable of catboost.Pool, or of (labels, query ids)
        Every pool that training evaluates: for training and for validation.

    Returns
    -------
    object
        With the methods that CatBoost calls; its class is named after the measure, under which
        CatBoost reports it.

    Raises
    ------
    OptionError
        The measure or the convention is unknown.
    InputError
        Two pools have the same labels and different queries, so that they cannot be told apart; a
        pool has no group ids. In a round: no pool has the labels at hand.

    Examples
    --------
    In a training script::

        metric = eval_function("nDCG@10", convention="catboost", pools=[train, valid])
        CatBoost({"loss_function": "YetiRank", "eval_metric": metric}).fit(train, eval_set=valid)

    >>> metric = eval_function("RR", pools=[([0, 1], ["q", "q"])])
    >>> metric.evaluate([[0.9, 0.1]], [0, 1], None), metric.is_max_optimal(), type(metric).__name__
    ((0.5, 1.0), True, 'RR')
    """
    measures, only = RoundMeasures.of_one(measure, convention, "CatBoost")
    untyped: Any = pools  # what callers without types pass
    known_pools = [
        _KnownPool.of(pool) for pool in (untyped if isinstance(untyped, Iterable) else [untyped])
    ]
    _refuse_ambiguity(known_pools)

    def evaluate(self: Any, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        del self, weight  # CatBoost's mean over groups is ours already
        pool = _pool_of(known_pools, row_numbers("target", target).astype(np.float32))
        listed = number_array("approxes", approxes)
        if listed.ndim == 2 and len(listed) == 1:  # one list for each dimension of the output
            listed = listed[0]
        scores = row_numbers("approxes", listed, pool.labels.size)
        ((_, value, _),) = measures.values(pool.labels, scores, qid=pool.qid)
        return value, 1.0

    def get_final_error(self: Any, error: float, weight: float) -> float:
        del self
        return error / weight

    def is_max_optimal(self: Any) -> bool:
        del self
        return only.direction > 0

    # CatBoost would try to compile the methods with Numba, and warns that it cannot, unless the
    # object says no_jit.
    members = {
        "evaluate": evaluate,
        "get_final_error": get_final_error,
        "is_max_optimal": is_max_optimal,
        "no_jit": True,
    }
    return type(str(only), (), members)()


def _same_lists(pool: _KnownPool, other: _KnownPool) -> bool:
    if pool.labels.shape != other.labels.shape or not np.array_equal(pool.labels, other.labels):
        return False
    return np.array_equal(
        np.unique(pool.qid, return_inverse=True)[1], np.unique(other.qid, return_inverse=True)[1]
    )


def _refuse_ambiguity(known_pools: list[_KnownPool]) -> None:
    if not known_pools:
        raise InputError("pools: found none, expected every pool that training evaluates")
    for number, pool in enumerate(known_pools):
        if pool.qid.shape != pool.labels.shape:
            raise InputError(
                f"pools: pool {number} has {pool.labels.size} labels and {pool.qid.size} group "
                "ids, expected Pool(group_id=...)"
            )
        for earlier, other in enumerate(known_pools[:number]):
            if np.array_equal(pool.labels, other.labels) and not _same_lists(pool, other):
                raise InputError(
                    f"pools: pools {earlier} and {number} have the same labels and different "
                    "queries, and CatBoost hands over labels only; evaluate them in two trainings, "
                    "or change the order of the rows of one"
                )


def _pool_of(known_pools: list[_KnownPool], labels: AnyArray) -> _KnownPool:
    for pool in known_pools:
        if np.array_equal(pool.labels, labels):
            return pool
    sizes = ", ".join(str(pool.labels.size) for pool in known_pools)
    raise InputError(
        f"pools: found {labels.size} labels of no pool, which have {sizes}; list every pool that "
        "training evaluates in pools="
    )
