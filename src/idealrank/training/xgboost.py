"""Measures and objectives for XGBoost's native API: ``custom_metric`` and ``obj`` of
``xgboost.train``.

``XGBRanker`` refuses a callable objective, and calls a metric for one query at a time. The native
API is therefore the way.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from idealrank.conventions import Convention
from idealrank.errors import OptionError
from idealrank.measures.parse import MeasureLike
from idealrank.training.boosting import RoundGradients, RoundMeasures

__all__ = ["eval_function", "objective"]


def eval_function(
    measure: "MeasureLike" = "nDCG@10", convention: "str | Convention" = "standard"
) -> Callable[[Any, Any], tuple[str, float]]:
    """Return an evaluation function that reports a measure of idealrank in every round.

    The value returned has the bits of ``evaluate(labels, predictions, measure, convention,
    group=group).mean()``. XGBoost's log and its early stopping hold six decimals of it. Early
    stopping needs ``EarlyStopping(maximize=True)`` if more is better.

    Parameters
    ----------
    measure : measure or text
        One measure; XGBoost takes one function.
    convention : str or Convention
        As in `evaluate`; ``"xgboost"`` gives XGBoost's own values of NDCG.

    Returns
    -------
    callable
        Of ``(predictions, matrix)``; it returns the measure's text and its value. In the text ``:``
        is ``=`` and a blank is ``_``, which XGBoost's log needs.

    Raises
    ------
    OptionError
        The measure or the convention is unknown.

    Examples
    --------
    In a training script::

        xgboost.train(
            params,
            train,
            evals=[(valid, "valid")],
            custom_metric=eval_function("nDCG@10", convention="xgboost"),
        )

    >>> eval_function("RR").__name__
    'RR'
    """
    measures, only = RoundMeasures.of_one(measure, convention, "XGBoost")
    name = str(only).replace(":", "=").replace(" ", "_")

    def of_matrix(predictions: Any, matrix: Any) -> tuple[str, float]:
        group = _group_of(matrix)
        ((_, value, _),) = measures.values(matrix.get_label(), predictions, group)
        return name, value

    of_matrix.__name__ = name
    return of_matrix


def objective(**options: Any) -> Callable[[Any, Any], Any]:
    """Return an objective of LambdaMART for any gain, discount and cutoff, or for AP, RR and ERR.

    Parameters
    ----------
    **options
        See `idealrank.training.LambdaObjective`: measure, gain, discount, cutoff, truncation,
        beyond, sigma, damped, rel, max_rel; for clicks as labels also ``propensity``,
        ``unclicked_propensity``, ``positions``, ``regularisation`` and ``bias``, as for LightGBM.

    Returns
    -------
    callable
        Of ``(predictions, matrix)``; it returns gradients and hessians. Weights of the matrix, one
        a query, multiply both. Its attribute ``lists`` has the prepared lists of the last matrix:
        with ``positions``, the estimates of the bias.

    Raises
    ------
    OptionError
        An option is out of its range.

    Examples
    --------
    In a training script::

        xgboost.train(params, train, obj=objective(gain="exp2", discount="log2", cutoff=10))

    >>> objective(cutoff=10).__name__
    'lambda nDCG(gain=exp2,discount=log2)@10'
    """
    return _GradientOfMatrix(RoundGradients.of(options))


class _GradientOfMatrix:
    """An instance, not a closure: it can be pickled, and has its lists at hand."""

    def __init__(self, round_gradients: RoundGradients) -> None:
        self.round_gradients = round_gradients
        self.__name__ = str(round_gradients.objective)  # as callers of functions expect

    @property
    def lists(self) -> Any:
        return self.round_gradients.lists

    def __call__(self, predictions: Any, matrix: Any) -> Any:
        group = _group_of(matrix)
        weight = matrix.get_weight()
        rows = None
        if weight.size:
            rows = weight if weight.size == predictions.size else np.repeat(weight, group)
        return self.round_gradients.gradients(matrix, matrix.get_label(), group, predictions, rows)


def _group_of(matrix: Any) -> Any:
    if not hasattr(matrix, "get_uint_info"):
        raise OptionError(
            f"found {type(matrix).__name__}, as XGBRanker hands over one query at a time; expected "
            "a DMatrix of xgboost.train"
        )
    bounds = matrix.get_uint_info("group_ptr")
    if bounds.size == 0:
        raise OptionError(
            "the DMatrix has no group; expected a query of each row, as in DMatrix(X, y, qid=qid)"
        )
    return np.diff(bounds.astype(np.int64))
