"""Rankers in scikit-learn: splits by query, scores that know queries, and an estimator that carries
the query in a column of X.

Cross-validation cuts X and y by rows and leaves the sizes of groups behind. Where the query id is a
column of X, it is cut with them: `GridSearchCV`, `cross_val_score` and Optuna work as they are.
"""

import inspect
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from idealrank._lazy import load_extra
from idealrank.conventions import Convention
from idealrank.data.types import AnyArray, IntArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.inputs.evaluation import evaluate
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.stats.randomness import whole_number
from idealrank.training import query_folds
from idealrank.training.row_arrays import row_ids, row_numbers

_base: Any = load_extra("sklearn.base", "rankers in scikit-learn", "sklearn", "scikit-learn")
_check_is_fitted: Any = load_extra(
    "sklearn.utils.validation", "rankers in scikit-learn", "sklearn", "scikit-learn"
).check_is_fitted
Column = int | str

__all__ = ["QueryKFold", "QueryRanker", "query_scorer"]


def column_of(table: Any, column: Column) -> AnyArray:
    """Query ids in a column of an array or a dataframe."""
    names = _names_of(table, column)
    if names is not None:
        return np.asarray(table[names[column] if isinstance(column, int) else column])
    ids: AnyArray = np.asarray(table)[:, int(column)]
    return ids


def without_column(table: Any, column: Column) -> Any:
    """An array or a dataframe without the column of query ids."""
    names = _names_of(table, column)
    if names is not None:
        name = names[column] if isinstance(column, int) else column
        return table[[other for other in names if other != name]]
    array = np.asarray(table)
    return array[:, np.arange(array.shape[1]) != column]


def _names_of(table: Any, column: Column) -> list[Any] | None:
    """Names of the columns of a dataframe, None for an array; the column must be one of them."""
    if isinstance(column, bool) or not isinstance(column, (int, str)):
        raise OptionError(f"qid={column!r}: expected the number or the name of a column of X")
    names = list(table.columns) if hasattr(table, "columns") else None
    if isinstance(column, str) and names is None:
        raise OptionError(
            f"qid={column!r}: found an array, which has no column names; expected the number of "
            "its column"
        )
    if isinstance(column, str) and names is not None and column not in names:
        raise OptionError(
            f"qid={column!r}: found no such column, expected one of "
            f"{shown(', '.join(map(str, names)))}"
        )
    width = _width_of(table) if names is None else len(names)
    if isinstance(column, int) and not -width <= column < width:
        raise OptionError(
            f"qid={column}: found {width} columns, expected the number of one of them, from 0 on"
        )
    return names


def _width_of(table: Any) -> int:
    try:
        shape = np.shape(table)
    except ValueError:  # rows of different lengths
        shape = ()
    if len(shape) != 2:
        raise InputError(
            f"X: found {type(table).__name__} of shape {shape}, expected rows and columns, one of "
            "them with the query ids"
        )
    return int(shape[1])


class QueryRanker(_base.BaseEstimator):  # type: ignore[misc]
    """A ranker whose X holds the query id, so that splits of rows keep it.

    It sorts the rows by query, hands the ids to the ranker as this one takes them (``group`` sizes
    for LightGBM, ``qid`` for XGBoost, ``group_id`` for CatBoost), and scores predictions with a
    measure of idealrank.

    Parameters
    ----------
    estimator : estimator
        Such as ``LGBMRanker()``, ``XGBRanker()`` or ``CatBoostRanker()``; or a regressor, which
        needs no query.
    qid : int or str
        Column of X with the query id; it is no feature.
    measure : measure or text
        Measure of `score`.
    convention : str or Convention
        As in `evaluate`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted ranker.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.array([[1, 0.2], [2, 0.7], [1, 0.9], [2, 0.1]])
    >>> ranker = QueryRanker(LinearRegression(), measure="RR").fit(X, [0, 1, 1, 0])
    >>> ranker.score(X, [0, 1, 1, 0])
    1.0
    """

    _estimator_type: ClassVar[str] = "ranker"

    def __init__(
        self,
        estimator: Any,
        *,
        qid: Column = 0,
        measure: MeasureLike = "nDCG@10",
        convention: "str | Convention" = "standard",
    ) -> None:
        self.estimator = estimator
        self.qid = qid
        self.measure = measure
        self.convention = convention

    def fit(self, X: Any, y: Any, **fit_options: Any) -> "QueryRanker":  # noqa: N803  (scikit-learn's name)
        """Fit the ranker on rows sorted by query; rows of one query keep their order.

        Parameters
        ----------
        X : array or dataframe, shape (n, n_features + 1)
            Features, and the query id.
        y : array, shape (n,)
            Grades.
        **fit_options
            For the ranker's own ``fit``; they are not sorted.
        """
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit"):
            raise OptionError(
                f"estimator: found {type(self.estimator).__name__}, expected an estimator, such as "
                "LGBMRanker()"
            )
        ids = row_ids("X, column of query ids", column_of(X, self.qid))
        row_numbers("y", y, ids.size)
        order = np.argsort(ids, kind="stable")
        features = _rows(without_column(X, self.qid), order)
        labels = np.asarray(y)[order]
        self.estimator_ = _base.clone(self.estimator)
        self.estimator_.fit(
            features, labels, **_queries_for(self.estimator_, ids[order]), **fit_options
        )
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X: Any) -> AnyArray:  # noqa: N803
        """Scores of the rows of X, in their order."""
        _check_is_fitted(self)
        return np.asarray(self.estimator_.predict(without_column(X, self.qid)))

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """Mean of the measure over the queries of X; higher is better."""
        return query_scorer(self.measure, self.convention, qid=self.qid)(self, X, y)


def _rows(table: Any, order: IntArray) -> Any:
    if hasattr(table, "iloc"):
        return table.iloc[order]
    return table[order]


def _queries_for(estimator: Any, ids: AnyArray) -> dict[str, Any]:
    """Query ids as the ranker's own ``fit`` takes them."""
    codes = np.unique(ids, return_inverse=True)[1].reshape(-1)
    parameters = inspect.signature(estimator.fit).parameters
    if "qid" in parameters:
        return {"qid": codes}
    if "group_id" in parameters:
        return {"group_id": codes}
    return {"group": np.bincount(codes)} if "group" in parameters else {}


class query_scorer:  # noqa: N801  (called as a function)
    """Scorer for ``scoring=``: the mean of a measure over the queries of X.

    Parameters
    ----------
    measure : measure or text
        One measure.
    convention : str or Convention
        As in `evaluate`.
    qid : int or str
        Column of X with the query id.

    Raises
    ------
    OptionError
        The measure is unknown or has no better direction.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.array([[1, 0.2], [2, 0.7], [1, 0.9], [2, 0.1]])
    >>> ranker = QueryRanker(LinearRegression()).fit(X, [0, 1, 1, 0])
    >>> query_scorer("P@1")(ranker, X, [1, 0, 0, 1])
    0.0
    """

    def __init__(
        self,
        measure: MeasureLike = "nDCG@10",
        convention: "str | Convention" = "standard",
        *,
        qid: Column = 0,
    ) -> None:
        self.measure: Measure = parse_measure(measure)
        if not self.measure.direction:
            raise OptionError(
                f"measure {self.measure}: has no better direction, expected one that a search can "
                "make better"
            )
        self.convention = convention
        self.qid = qid

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:  # noqa: N803
        """Mean over queries; negative for a measure of which less is better."""
        scores = np.asarray(estimator.predict(X), np.float64)
        means = evaluate(
            y, scores, self.measure, self.convention, qid=column_of(X, self.qid)
        ).mean()
        mean = float(means[str(self.measure)])
        return mean if self.measure.direction > 0 else -mean


class QueryKFold:
    """Splits by query: no query is in two folds, and folds have as equal numbers of queries as they
    can.

    Parameters
    ----------
    n_splits : int
        Number of folds, 2 or more.
    qid : int or str
        Column of X with the query id; ignored if ``groups`` is given to `split`.
    seed : int, optional
        Shuffles the queries; without it they are dealt in turn, in order of first appearance.

    Raises
    ------
    OptionError
        There are fewer than two folds.
    InputError
        In `split`: there are fewer queries than folds.

    Examples
    --------
    >>> X = np.array([[1, 0.2], [2, 0.7], [1, 0.9], [3, 0.1]])
    >>> [(train.tolist(), test.tolist()) for train, test in QueryKFold(2).split(X)]
    [([1], [0, 2, 3]), ([0, 2, 3], [1])]
    """

    def __init__(self, n_splits: int = 5, *, qid: Column = 0, seed: int | None = None) -> None:
        whole_number("n_splits", n_splits, 2)
        self.n_splits = n_splits
        self.qid = qid
        self.seed = seed

    def __repr__(self) -> str:
        return f"QueryKFold(n_splits={self.n_splits}, qid={self.qid!r}, seed={self.seed})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: N803
        """Number of folds."""
        return self.n_splits

    def split(
        self,
        X: Any,  # noqa: N803
        y: Any = None,
        groups: Any = None,
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Rows of training and of testing, for each fold."""
        ids = column_of(X, self.qid) if groups is None else groups
        yield from query_folds(ids, self.n_splits, self.seed)
