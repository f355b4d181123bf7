"""Rankers in scikit-learn: queries stay whole in splits, and searches maximise a measure of
idealrank.
"""

from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score

import idealrank as ir
from idealrank.training.sklearn import QueryKFold, QueryRanker, query_scorer

RNG = np.random.default_rng(5)
QID = RNG.permutation(np.repeat(np.arange(100, 140), 9))  # rows of a query do not stand together
N = QID.size
FEATURES = RNG.normal(size=(N, 3))
X = np.column_stack([QID, FEATURES])
Y = np.clip(np.round(FEATURES[:, 0] + RNG.normal(0, 0.5, N)), 0, 3).astype(int)
LGBM = {"n_estimators": 5, "min_child_samples": 5, "verbose": -1, "n_jobs": 1}


def test_no_query_is_in_training_and_in_testing() -> None:
    tested = []
    for train, test in QueryKFold(5, seed=1).split(X, Y):
        assert not set(QID[train]) & set(QID[test])
        assert np.unique(QID[test]).size == 8
        tested += test.tolist()
    assert sorted(tested) == list(range(N))


def test_groups_take_the_place_of_the_column() -> None:
    without = list(QueryKFold(4).split(FEATURES, Y, groups=QID))
    assert [test.tolist() for _, test in without] == [
        test.tolist() for _, test in QueryKFold(4).split(X, Y)
    ]


@pytest.mark.parametrize(
    "ranker", [lgb.LGBMRanker(**LGBM), xgb.XGBRanker(n_estimators=5, n_jobs=1), Ridge()]
)
def test_a_ranker_gets_its_queries_and_scores_what_evaluate_does(ranker: Any) -> None:
    fitted = QueryRanker(ranker, measure="nDCG@5").fit(X, Y)
    scores = fitted.predict(X)
    assert fitted.score(X, Y) == ir.evaluate(Y, scores, "nDCG@5", qid=QID).mean()["nDCG@5"] > 0.8
    order = np.argsort(QID, kind="stable")
    again = QueryRanker(ranker).fit(X[order], Y[order])
    assert again.predict(X).tolist() == scores.tolist()


def test_a_search_of_parameters_goes_by_query() -> None:
    search = GridSearchCV(
        QueryRanker(lgb.LGBMRanker(**LGBM)),
        {"estimator__num_leaves": [2, 7]},
        cv=QueryKFold(3),
        scoring=query_scorer("AP"),
    )
    search.fit(X, Y)
    best = search.best_params_["estimator__num_leaves"]
    expected = []
    for train, test in QueryKFold(3).split(X):
        one = QueryRanker(lgb.LGBMRanker(**LGBM, num_leaves=best)).fit(X[train], Y[train])
        expected.append(
            ir.evaluate(Y[test], one.predict(X[test]), "AP", qid=QID[test]).mean()["AP"]
        )
    assert search.best_score_ == pytest.approx(np.mean(expected), abs=1e-15)


def test_dataframes_name_the_column_of_queries() -> None:
    frame = pd.DataFrame(
        {"a": FEATURES[:, 0], "query": [f"q{one}" for one in QID], "b": FEATURES[:, 1]}
    )
    ranker = QueryRanker(lgb.LGBMRanker(**LGBM), qid="query")
    values = cross_val_score(ranker, frame, Y, cv=QueryKFold(3, qid="query"))
    assert (values > 0.7).all()
    assert clone(ranker).get_params()["estimator__n_estimators"] == 5


def test_a_measure_of_which_less_is_better_is_negated() -> None:
    fitted = QueryRanker(Ridge()).fit(X, Y)
    measure = "RankingLoss"
    assert (
        query_scorer(measure)(fitted, X, Y)
        == -ir.evaluate(Y, fitted.predict(X), measure, qid=QID).mean()[measure]
    )


def test_impossible_splits_are_refused() -> None:
    with pytest.raises(ir.OptionError, match="n_splits=1"):
        QueryKFold(1)
    with pytest.raises(ir.InputError, match="found 40 queries"):
        next(QueryKFold(41).split(X))
    with pytest.raises(ir.OptionError, match="no better direction"):
        query_scorer("NumRel")
    with pytest.raises(ir.OptionError, match="no column names"):
        QueryRanker(Ridge(), qid="query").fit(X, Y)
