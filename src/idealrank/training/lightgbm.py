"""Measures and objectives for LightGBM: `feval` and `objective` of its native API and of its
scikit-learn API.

LightGBM's scikit-learn wrapper decides by the number of named parameters how it calls a function.
Its callables therefore have exactly ``(y_true, y_pred, weight, group)``, and come from
``api="sklearn"``.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from idealrank.conventions import Convention
from idealrank.errors import OptionError
from idealrank.measures.parse import MeasureLike
from idealrank.training.boosting import RoundGradients, RoundMeasures

Api: TypeAlias = Literal["native", "sklearn"]
Callback: TypeAlias = Callable[..., Any]

__all__ = ["eval_function", "objective"]


def eval_function(
    measures: "MeasureLike | Iterable[MeasureLike]" = "nDCG@10",
    convention: "str | Convention" = "standard",
    *,
    api: Api = "native",
) -> Callback:
    """Return an evaluation function that reports measures of idealrank in every round.

    The value has the bits of ``evaluate(labels, predictions, measures, convention,
    group=group).mean()``. It is reported under the text of the measure, so that LightGBM's own
    ``ndcg@10`` stays apart. Row weights do not enter it.

    Parameters
    ----------
    measures : measure or iterable of them
        Measures or texts; early stopping follows the first one with LightGBM's
        ``first_metric_only``.
    convention : str or Convention
        As in `evaluate`; ``"lightgbm"`` gives LightGBM's own values of NDCG.
    api : {"native", "sklearn"}
        For ``lightgbm.train(feval=...)``, or for ``LGBMRanker.fit(eval_metric=...)``.

    Returns
    -------
    callable
        Of ``(predictions, dataset)``, or of ``(y_true, y_pred, weight, group)``; it returns a list
        of (name, value, higher is better).

    Raises
    ------
    OptionError
        A measure, the convention or `api` is unknown.

    Examples
    --------
    In a training script::

        lightgbm.train(
            params, train, valid_sets=[valid], feval=eval_function("nDCG@10", convention="lightgbm")
        )

    The function of the scikit-learn API takes arrays:

    >>> import numpy as np
    >>> eval_function(["RR", "nDCG@10"], api="sklearn")(
    ...     np.array([0, 1]), np.array([0.9, 0.1]), None, np.array([2])
    ... )
    [('RR', 0.5, True), ('nDCG@10', 0.6309297535714575, True)]
    """
    round_measures = RoundMeasures.of(measures, convention)
    return _for_api(api, _MeasureOfDataset(round_measures), _MeasureOfArrays(round_measures))


def objective(*, api: Api = "native", **options: Any) -> Callback:
    """Return an objective of LambdaMART for any gain, discount and cutoff, or for AP, RR and ERR.

    Parameters
    ----------
    api : {"native", "sklearn"}
        For ``params["objective"]`` of ``lightgbm.train``, or for ``LGBMRanker(objective=...)``.
    **options
        See `idealrank.training.LambdaObjective`: measure, gain, discount, cutoff, truncation,
        beyond, sigma, damped, rel, max_rel. With ``cutoff=30, truncation=30`` and the defaults it
        is LightGBM's own ``lambdarank`` at its default truncation level. For clicks as labels,
        ``propensity`` has the probability that users looked at each row; a pair is divided by that
        of its clicked row. ``unclicked_propensity`` divides by that of its other row, too.
        ``positions``, the rank at which each row was shown, makes it unbiased LambdaMART, with
        ``regularisation`` and ``bias`` of `idealrank.training.UnbiasedObjective`.

    Returns
    -------
    callable
        Of ``(predictions, dataset)``, or of ``(y_true, y_pred, weight, group)``; it returns
        gradients and hessians. Row weights multiply both. Its attribute ``lists`` has the prepared
        lists of the last data set: with ``positions``, the estimates of the bias.

    Raises
    ------
    OptionError
        An option is out of its range.

    Examples
    --------
    In a training script::

        params["objective"] = objective(gain="exp2", discount="log2", cutoff=10)
        lightgbm.train(params, train)

    The function of the scikit-learn API takes arrays:

    >>> import numpy as np
    >>> of_arrays = objective(measure="RR", api="sklearn", damped=False)
    >>> of_arrays(np.array([0, 1]), np.array([0.0, 0.0]), None, np.array([2]))
    (array([ 0.25, -0.25], dtype=float32), array([0.125, 0.125], dtype=float32))
    """
    round_gradients = RoundGradients.of(options)
    return _for_api(api, _GradientOfDataset(round_gradients), _GradientOfArrays(round_gradients))


# Instances of classes, not closures: a model that holds one can be pickled.
@dataclass(frozen=True, eq=False)
class _MeasureOfDataset:
    round_measures: RoundMeasures

    def __call__(self, predictions: Any, dataset: Any) -> list[tuple[str, float, bool]]:
        group = _group_of(dataset)
        return self.round_measures.values(dataset.get_label(), predictions, group)


@dataclass(frozen=True, eq=False)
class _MeasureOfArrays:
    round_measures: RoundMeasures

    def __call__(
        self, y_true: Any, y_pred: Any, weight: Any, group: Any
    ) -> list[tuple[str, float, bool]]:
        return self.round_measures.values(y_true, y_pred, group)


@dataclass(frozen=True, eq=False)
class _GradientOfDataset:
    round_gradients: RoundGradients

    @property
    def lists(self) -> Any:
        return self.round_gradients.lists

    def __deepcopy__(self, memo: Any) -> Any:
        return self  # LightGBM trains with a copy of its parameters; the lists stay at hand

    def __call__(self, predictions: Any, dataset: Any) -> Any:
        group = _group_of(dataset)
        return self.round_gradients.gradients(
            dataset, dataset.get_label(), group, predictions, dataset.get_weight()
        )


@dataclass(frozen=True, eq=False)
class _GradientOfArrays:
    round_gradients: RoundGradients

    @property
    def lists(self) -> Any:
        return self.round_gradients.lists

    def __deepcopy__(self, memo: Any) -> Any:
        return self  # LightGBM trains with a copy of its parameters; the lists stay at hand

    def __call__(self, y_true: Any, y_pred: Any, weight: Any, group: Any) -> Any:
        return self.round_gradients.gradients(y_true, y_true, group, y_pred, weight)


def _group_of(dataset: Any) -> Any:
    if not hasattr(dataset, "get_group"):
        raise OptionError(
            f"found {type(dataset).__name__}, expected a Dataset, as lightgbm.train hands over; "
            "the scikit-learn API takes api='sklearn'"
        )
    group = dataset.get_group()
    if group is None:
        raise OptionError(
            "the Dataset has no group; expected the number of rows of each query, as in Dataset(X, "
            "y, group=sizes)"
        )
    _refuse_torn_queries(dataset)
    return group


def _refuse_torn_queries(dataset: Any) -> None:
    """Refuse parts of queries: `lightgbm.cv` splits rows if the objective is a callable."""
    full_dataset = getattr(dataset, "reference", None)
    rows = getattr(dataset, "used_indices", None)
    if full_dataset is None or rows is None:  # not a part of another Dataset
        return
    sizes = full_dataset.get_group()
    if sizes is None:
        return
    query_of = np.repeat(np.arange(len(sizes)), sizes)
    n_rows = np.bincount(query_of[rows], minlength=len(sizes))
    torn = np.flatnonzero((n_rows > 0) & (n_rows < sizes))
    if torn.size:
        first = int(torn[0])
        raise OptionError(
            f"the Dataset has {n_rows[first]} of {sizes[first]} rows of query {first}: lightgbm.cv "
            "splits queries if the objective is a callable; pass folds=, such as "
            "QueryKFold(5).split(None, groups=qid) of idealrank.training.sklearn"
        )


def _for_api(api: Any, native: Callback, sklearn: Callback) -> Callback:
    if not isinstance(api, str) or api not in ("native", "sklearn"):
        raise OptionError(f"api={api!r}: expected native or sklearn")
    return native if api == "native" else sklearn
