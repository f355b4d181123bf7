"""Measures and objectives in XGBoost's native API."""

from typing import Any

import numpy as np
import pytest
import xgboost as xgb

import idealrank as ir
from idealrank.training.xgboost import eval_function, objective

SIZES = np.random.default_rng(0).integers(4, 16, 50)
N = int(SIZES.sum())
QID = np.repeat(np.arange(SIZES.size), SIZES)
X = np.random.default_rng(1).normal(size=(N, 5))
Y = np.clip(np.round(X[:, 0] + X[:, 1] + np.random.default_rng(2).normal(0, 0.7, N)), 0, 4)
PARAMS = {"max_depth": 3, "eta": 0.2, "nthread": 1, "seed": 3, "disable_default_eval_metric": 1}


def train(
    rounds: int = 5, matrix: Any = None, **options: Any
) -> tuple[xgb.Booster, dict[str, list[float]], xgb.DMatrix]:
    matrix = xgb.DMatrix(X, Y, qid=QID) if matrix is None else matrix
    record: dict[str, Any] = {}
    params = {**PARAMS, **options.pop("params", {})}
    model = xgb.train(
        params,
        matrix,
        rounds,
        evals=[(matrix, "train")],
        evals_result=record,
        verbose_eval=False,
        **options,
    )
    return model, record.get("train", {}), matrix


@pytest.mark.parametrize("measure", ["nDCG@10", "nDCG(gain={0:0,1:1,2:5,3:6,4:7})@5", "AP"])
def test_the_value_of_every_round_has_the_bits_of_evaluate(measure: str) -> None:
    returned = []
    function = eval_function(measure, "xgboost")

    def kept(predictions: Any, matrix: Any) -> tuple[str, float]:
        returned.append(function(predictions, matrix))
        return returned[-1]

    model, record, matrix = train(params={"objective": "rank:ndcg"}, custom_metric=kept)
    for rounds in (1, 5):
        scores = model.predict(matrix, iteration_range=(0, rounds))
        mean = ir.evaluate(Y, scores, measure, "xgboost", group=SIZES).mean()[measure]
        assert returned[rounds - 1] == (measure.replace(":", "="), mean)
        # its log holds six decimals
        assert record[measure.replace(":", "=")][rounds - 1] == pytest.approx(mean, abs=1e-6)


def test_the_convention_xgboost_reports_the_values_of_its_own_metric() -> None:
    options = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "disable_default_eval_metric": 0}
    _, record, _ = train(params=options, custom_metric=eval_function("nDCG@10", "xgboost"))
    assert record["nDCG@10"] == pytest.approx(record["ndcg@10"], abs=2e-6)


@pytest.mark.parametrize("options", [{"cutoff": 10}, {"measure": "AP"}, {"measure": "ERR"}])
def test_every_objective_learns(options: dict[str, Any]) -> None:
    _, record, _ = train(
        15,
        obj=objective(**options),
        custom_metric=eval_function("nDCG@10"),
        params={"min_child_weight": 0.01},
    )
    chance = ir.evaluate(Y, np.zeros(N), "nDCG@10", "standard,ties=expected", group=SIZES).mean()[
        "nDCG@10"
    ]
    assert record["nDCG@10"][-1] > chance + 0.1


def test_weights_of_queries_multiply_the_gradients_of_their_rows() -> None:
    weights = np.where(np.arange(SIZES.size) % 2, 2.0, 0.5)
    weighed = xgb.DMatrix(X, Y, qid=QID, weight=weights)
    plain = objective(cutoff=10)(np.zeros(N), xgb.DMatrix(X, Y, qid=QID))
    for here, there in zip(objective(cutoff=10)(np.zeros(N), weighed), plain, strict=True):
        assert here.tolist() == (there * np.repeat(weights, SIZES).astype(np.float32)).tolist()


def test_the_scikit_learn_ranker_takes_no_callables_so_the_native_api_is_the_way() -> None:
    with pytest.raises(ValueError, match="objective"):
        xgb.XGBRanker(n_estimators=1, n_jobs=1, objective=objective(cutoff=10)).fit(X, Y, qid=QID)
    ranker = xgb.XGBRanker(n_estimators=1, n_jobs=1, eval_metric=eval_function("nDCG@10"))
    with pytest.raises(ir.OptionError, match=r"expected a DMatrix of xgboost\.train"):
        ranker.fit(X, Y, qid=QID, eval_set=[(X, Y)], eval_qid=[QID], verbose=False)


def test_a_matrix_without_groups_is_refused() -> None:
    with pytest.raises(ir.OptionError, match="the DMatrix has no group"):
        objective(cutoff=10)(np.zeros(N), xgb.DMatrix(X, Y))


def test_positions_of_clicks_are_estimated_while_a_model_is_trained() -> None:
    positions = np.concatenate([np.arange(1, size + 1) for size in SIZES])
    chosen = objective(
        positions=positions, bias="clicked", measure="pairs", gain="linear", damped=False
    )
    train(3, xgb.DMatrix(X, (Y >= 3).astype(float), qid=QID), obj=chosen)
    assert chosen.lists.clicked.shape == (SIZES.max(),)
    assert chosen.lists.clicked[0] == 1
    assert (chosen.lists.unclicked == 1).all()
