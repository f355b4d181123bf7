"""Arguments of the wrong kind: every public name of training answers with its own error, never with
one of NumPy or of a library.
"""

import tempfile
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from sklearn.linear_model import LinearRegression

import idealrank as ir
from idealrank import training
from idealrank.training import (
    LambdaObjective,
    UnbiasedObjective,
    best_of,
    check_training,
    nested_cv,
    query_folds,
    refuse_problems,
)
from idealrank.training import catboost as with_catboost
from idealrank.training import lightgbm as with_lightgbm
from idealrank.training import sklearn as with_sklearn
from idealrank.training import xgboost as with_xgboost

Call = Callable[[Any], Any]
NAN, INF = float("nan"), float("inf")
WRONG: dict[str, Any] = {
    "text": "abc",
    "texts": ["a"],
    "nothing": None,
    "object": object(),
    "ragged": [[1], [2, 3]],
    "mapping": {"a": 1},
    "table": [[1, 0], [0, 1]],
    "complex": [1j, 2],
    "empty": [],
    "dates": np.array(["2020-01-01"], "M8[D]"),
    "nan": [NAN, 1],
    "inf": [1, INF],
    "huge": [10**400, 1],
    "set": {1, 0},
    "masked": np.ma.array([1, 0], mask=[True, False]),
    "long": [1, 0, 1],
    "one": True,
    "negative": -1,
    "fraction": 1.5,
    "bytes": b"x",
    "not a number": NAN,
    "infinity": INF,
    "surrogate": "\ud800",
    "type": int,
}
LABELS, QID, X = (
    np.tile([1, 0, 2], 6),
    np.repeat(np.arange(6), 3),
    np.array([[1, 0.2], [2, 0.7], [1, 0.9], [2, 0.1]]),
)
WORDS: Any = "ten"
SEVERAL: Any = ["RR", "AP"]
Y, FEATURES = [0, 1, 1, 0], [[1], [2]]


def zeros(_: Any, rows: Any) -> Any:
    return lambda tested: np.zeros(tested.size)


def nested(**options: Any) -> Any:
    given: dict[str, Any] = {
        "train": zeros,
        "configurations": {"a": 1},
        "labels": LABELS,
        "qid": QID,
        "outer": 2,
        "inner": 2,
    }
    return nested_cv(**(given | options))


def once(qrels: Any = (1, 0), run: Any = (0.2, 0.1), measures: Any = "RR", **options: Any) -> Any:
    return ir.evaluate_once(qrels, run, measures, **{"store": tempfile.mkdtemp()} | options)


def ranker(**options: Any) -> Any:
    return with_sklearn.QueryRanker(LinearRegression(), **options).fit(X, Y)


@cache
def matrix() -> Any:
    return xgb.DMatrix(np.array(FEATURES), [1, 0], group=[2])


def gradient(**options: Any) -> Any:
    return with_lightgbm.objective(api="sklearn", **options)([1, 0], [0.1, 0.2], None, [2])


def each(call: Callable[..., Any], *names: str) -> dict[str, Call]:
    """Calls with one argument each, by its name."""
    return {name: partial(lambda name, one: call(**{name: one}), name) for name in names}


def pools(one: Any) -> Any:
    return with_catboost.eval_function("RR", pools=one)


LISTS = LambdaObjective().prepare([1, 0], [2])
UNBIASED = UnbiasedObjective().prepare([1, 0], [2], positions=[1, 2])
MEASURE, GRADIENT = (
    with_lightgbm.eval_function("RR", api="sklearn"),
    with_lightgbm.objective(api="sklearn"),
)
OPTIONS = (
    "measure",
    "gain",
    "discount",
    "cutoff",
    "truncation",
    "beyond",
    "sigma",
    "damped",
    "rel",
    "max_rel",
)

# By public name each of its arguments. What a call returns passes, too: some wrong values mean
# something for some arguments.
CALLS: dict[str, dict[str, Call]] = {
    "check_training": {
        "labels": check_training,
        "group": lambda one: check_training([1, 0], group=one),
        "qid": lambda one: check_training([1, 0], qid=one),
        "held_out": lambda one: check_training([1, 0], qid=[1, 1], held_out=one),
        "features": lambda one: check_training(
            [1, 0], features=one, held_out_rows=([1, 0], [2], FEATURES)
        ),
        "held_out_rows": lambda one: check_training([1, 0], features=FEATURES, held_out_rows=one),
        "held_out_rows, labels": lambda one: check_training(
            [1, 0], features=FEATURES, held_out_rows=(one, [2], FEATURES)
        ),
        "held_out_rows, group": lambda one: check_training(
            [1, 0], features=FEATURES, held_out_rows=([1, 0], one, FEATURES)
        ),
        "held_out_rows, features": lambda one: check_training(
            [1, 0], features=FEATURES, held_out_rows=([1, 0], [2], one)
        ),
        "cutoff": lambda one: check_training([1, 0], cutoff=one),
        "truncation": lambda one: check_training([1, 0], truncation=one),
        "library": lambda one: check_training([1, 0], library=one),
    },
    "refuse_problems": {"problems": refuse_problems, "problem": lambda one: refuse_problems([one])},
    "best_of": {
        "values": lambda one: best_of(one, ["a", "b"]),
        "names": lambda one: best_of(np.eye(2), one),
        "level": lambda one: best_of(np.eye(2), ["a", "b"], level=one),
        "n_resamples": lambda one: best_of(np.eye(2), ["a", "b"], n_resamples=one),
        "rng": lambda one: best_of(np.eye(2), ["a", "b"], n_resamples=2, rng=one),
        "higher_is_better": lambda one: best_of(
            np.eye(2), ["a", "b"], n_resamples=2, higher_is_better=one
        ),
    },
    "nested_cv": {
        **each(
            nested,
            "configurations",
            "labels",
            "qid",
            "outer",
            "inner",
            "measure",
            "convention",
            "seed",
        ),
        # what can be called raises what it likes
        "train": lambda one: None if one is int else nested(train=one),
        "a function": lambda one: None if one is int else nested(train=lambda _, rows: one),
        "scores": lambda one: nested(train=lambda _, rows: lambda tested: one),
    },
    "query_folds": {
        "qid": lambda one: query_folds(one, 2),
        "n_splits": lambda one: query_folds([1, 2], one),
        "seed": lambda one: query_folds([1, 2], 2, one),
    },
    "LambdaObjective": {
        **each(LambdaObjective, *OPTIONS),
        "labels": LambdaObjective().prepare,
        "group": lambda one: LambdaObjective().prepare([1, 0], one),
        "offsets": lambda one: LambdaObjective().prepare([1, 0], offsets=one),
        "up": lambda one: LambdaObjective().prepare([1, 0], up=one),
        "down": lambda one: LambdaObjective().prepare([1, 0], down=one),
    },
    "LambdaLists": {
        "scores": LISTS.gradients,
        "weights": lambda one: LISTS.gradients([0, 1], weights=one),
        "dtype": lambda one: LISTS.gradients([0, 1], dtype=one),
        "threads": lambda one: LISTS.gradients([0, 1], threads=one),
    },
    "UnbiasedObjective": {
        "objective": lambda one: UnbiasedObjective(objective=one),
        "regularisation": lambda one: UnbiasedObjective(regularisation=one),
        "bias": lambda one: UnbiasedObjective(bias=one),
        "labels": lambda one: UnbiasedObjective().prepare(one, [2], positions=[1, 2]),
        "positions": lambda one: UnbiasedObjective().prepare([1, 0], [2], positions=one),
    },
    "UnbiasedLists": {
        "scores": UNBIASED.gradients,
        "weights": lambda one: UNBIASED.gradients([0, 1], weights=one),
    },
    "lightgbm.eval_function": {
        "measures": with_lightgbm.eval_function,
        "convention": lambda one: with_lightgbm.eval_function("RR", one),
        "api": lambda one: with_lightgbm.eval_function("RR", api=one),
        "y_true": lambda one: MEASURE(one, [0.1, 0.2], None, [2]),
        "y_pred": lambda one: MEASURE([1, 0], one, None, [2]),
        "group": lambda one: MEASURE([1, 0], [0.1, 0.2], None, one),
        "dataset": lambda one: with_lightgbm.eval_function("RR")([0.1, 0.2], one),
    },
    "lightgbm.objective": {
        **each(with_lightgbm.objective, *OPTIONS, "regularisation", "bias", "api", "unknown"),
        "y_true": lambda one: GRADIENT(one, [0.1, 0.2], None, [2]),
        "y_pred": lambda one: GRADIENT([1, 0], one, None, [2]),
        "weight": lambda one: GRADIENT([1, 0], [0.1, 0.2], one, [2]),
        "group": lambda one: GRADIENT([1, 0], [0.1, 0.2], None, one),
        "dataset": lambda one: with_lightgbm.objective()([0.1, 0.2], one),
        **each(gradient, "propensity", "unclicked_propensity", "positions"),
    },
    "xgboost.eval_function": {
        "measure": with_xgboost.eval_function,
        "convention": lambda one: with_xgboost.eval_function("RR", one),
        "predictions": lambda one: with_xgboost.eval_function()(one, matrix()),
        "matrix": lambda one: with_xgboost.eval_function()([0.1, 0.2], one),
    },
    "xgboost.objective": {
        "cutoff": lambda one: with_xgboost.objective(cutoff=one),
        "predictions": lambda one: with_xgboost.objective()(one, matrix()),
        "matrix": lambda one: with_xgboost.objective()(np.array([0.1, 0.2]), one),
    },
    "catboost.eval_function": {
        "measure": lambda one: with_catboost.eval_function(one, pools=[([1, 0], [1, 1])]),
        "pools": pools,
        "pool": lambda one: pools([one]),
        "labels": lambda one: pools([(one, [1, 1])]),
        "query ids": lambda one: pools([([1, 0], one)]),
        "approxes": lambda one: pools([([1, 0], [1, 1])]).evaluate(one, [1, 0], None),
        "scores": lambda one: pools([([1, 0], [1, 1])]).evaluate([one], [1, 0], None),
        "target": lambda one: pools([([1, 0], [1, 1])]).evaluate([[1, 0]], one, None),
    },
    "sklearn.QueryKFold": {
        "n_splits": with_sklearn.QueryKFold,
        "seed": lambda one: list(with_sklearn.QueryKFold(2, seed=one).split(X)),
        "qid": lambda one: list(with_sklearn.QueryKFold(2, qid=one).split(X)),
        "X": lambda one: list(with_sklearn.QueryKFold(2).split(one)),
        "groups": lambda one: list(with_sklearn.QueryKFold(2).split(X, groups=one)),
    },
    "sklearn.QueryRanker": {
        "estimator": lambda one: with_sklearn.QueryRanker(one).fit(X, Y),
        "qid": lambda one: ranker(qid=one),
        "measure": lambda one: ranker(measure=one).score(X, Y),
        "X": lambda one: with_sklearn.QueryRanker(LinearRegression()).fit(one, Y),
        "y": lambda one: with_sklearn.QueryRanker(LinearRegression()).fit(X, one),
        "X of predict": lambda one: ranker().predict(one),
        "y of score": lambda one: ranker().score(X, one),
    },
    "sklearn.query_scorer": {
        "measure": with_sklearn.query_scorer,
        "convention": lambda one: with_sklearn.query_scorer("RR", one)(ranker(), X, Y),
        "qid": lambda one: with_sklearn.query_scorer("RR", qid=one)(ranker(), X, Y),
    },
    "evaluate_once": {
        **each(once, "qrels", "run", "measures", "convention", "again", "name", "group"),
        # a text is a folder
        "store": lambda one: (
            once(store=one) if not isinstance(one, str) or one == "\ud800" else None
        ),
    },
}
# Results, which no user makes.
RESULTS = {"TrainingProblem", "BestOf", "NestedResult"}


def public() -> set[str]:
    hosts = {
        "lightgbm": with_lightgbm,
        "xgboost": with_xgboost,
        "catboost": with_catboost,
        "sklearn": with_sklearn,
    }
    own = set(vars(training)["__all__"])
    of_hosts = {f"{host}.{name}" for host, module in hosts.items() for name in module.__all__}
    return own | of_hosts | {"evaluate_once"}


def test_every_public_name_has_a_row() -> None:
    assert set(CALLS) | RESULTS == public()


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_has_an_error_of_this_library(name: str) -> None:
    for argument, call in CALLS[name].items():
        for kind, value in WRONG.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    call(value)
                except ir.IdealrankError:
                    continue
                except Exception as error:
                    pytest.fail(f"{name}, {argument}: {kind} gives {type(error).__name__}: {error}")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_training(["a"]), "labels: found values of type <U1, expected numbers"),
        (lambda: check_training(None), "labels: found a value of type NoneType, expected numbers"),
        (
            lambda: check_training([1, 0], group=[1.5, 0.5]),
            "group: found 1.5 at place 0, expected whole numbers",
        ),
        (
            lambda: check_training([1, 0], cutoff=WORDS),
            "cutoff='ten': expected a whole number from 1 on",
        ),
        (lambda: best_of("abc", ["a", "b"]), "values: found a value of type"),
        (
            lambda: best_of(np.eye(2), "ab"),
            "names: found 'ab', expected a list of texts, one for each configuration",
        ),
        (lambda: once(store=None), "store=None: expected the folder of the store, a path"),
        (
            lambda: once(again=True),
            "again=True: expected a text, the reason to open the test set again",
        ),
        (lambda: once(again="  "), "again='  ': expected a text, the reason"),
        (
            lambda: LambdaObjective().prepare([NAN, 1]),
            "labels: found nan at row 0, expected finite numbers",
        ),
        (lambda: LISTS.gradients([0, INF]), "scores: found inf at row 1, expected finite numbers"),
        (lambda: LISTS.gradients([0, 1, 2]), "scores: found 3 entries, expected one per row, 2"),
        (
            lambda: LambdaObjective().prepare([1, 0], [2, -1, 1]),
            "group: the sizes sum to 2, expected the number of rows, 2, and none below 0",
        ),
        (
            lambda: LambdaObjective().prepare([[1, 0], [0, 1]]),
            "labels: found shape (2, 2), expected one number for each row",
        ),
        (
            lambda: with_lightgbm.objective(cut=3),
            "cut: found an unknown option, expected one of measure, gain",
        ),
        (lambda: nested(measure=SEVERAL), "measure: found 2, expected one, which chooses"),
        (lambda: nested(qid=QID[:-1]), "qid: found 17 ids, expected one per row, 18"),
        (
            lambda: nested(labels=np.full(18, NAN)),
            "labels: found nan at row 0, expected finite numbers",
        ),
        (
            lambda: with_xgboost.eval_function(SEVERAL),
            "measure: found 2, expected one, as XGBoost takes one function",
        ),
        (lambda: ranker(qid="q"), "qid='q': found an array, which has no column names"),
        (lambda: ranker(qid=7), "qid=7: found 2 columns, expected the number of one of them"),
        (
            lambda: UnbiasedObjective().prepare([1, 0], positions=[1, 10**12]),
            "positions: found 1e+12 at row 1, expected whole numbers from 1",
        ),
        (
            lambda: with_lightgbm.objective(propensity=[1e-30, 1]),
            "propensity: found 1e-30, expected above 0; clip it from below",
        ),
    ],
)
def test_the_message_says_what_was_found_and_what_is_expected(
    call: Callable[[], Any], message: str
) -> None:
    with pytest.raises(ir.IdealrankError) as refused:
        call()
    assert message in str(refused.value)


def test_empty_groups_are_lists_without_rows() -> None:
    gradients, _ = LambdaObjective().prepare([1, 0], [0, 2, 0]).gradients([0.0, 1.0])
    assert (
        gradients.tolist()
        == LambdaObjective().prepare([1, 0], [2]).gradients([0.0, 1.0])[0].tolist()
    )
    assert check_training([1, 0], group=[0, 2, 0]) == []
    assert LambdaObjective().prepare([], []).gradients([])[0].size == 0


def test_columns_and_objects_of_numbers_are_rows() -> None:
    assert LambdaObjective().prepare(np.array([[1], [0]]), [2]).gains.tolist() == [1.0, 0.0]
    assert LambdaObjective().prepare(np.array([1, 0], object), [2]).gains.tolist() == [1.0, 0.0]
    data = lgb.Dataset(
        np.array(FEATURES), [1, 0], group=[2], params={"verbose": -1, "min_data_in_leaf": 1}
    ).construct()
    assert with_lightgbm.eval_function("RR")(np.array([0.1, 0.2]), data) == [("RR", 0.5, True)]


def test_a_ranker_that_was_not_fitted_is_refused() -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        with_sklearn.QueryRanker(LinearRegression()).predict(X)
