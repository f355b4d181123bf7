"""Measures in CatBoost: the value of every round has the bits of `evaluate`, and pools that cannot be told apart are refused."""

import numpy as np
import pytest

import idealrank as ir
from idealrank.integrations.catboost import eval_function

pytestmark = pytest.mark.peers

RNG = np.random.default_rng(0)
QID = np.repeat(np.arange(60), 8)
X = RNG.normal(size=(QID.size, 4))
Y = np.clip(np.round(X[:, 0] + RNG.normal(0, 0.7, QID.size)), 0, 3)
TRAIN, TEST = slice(0, 320), slice(320, 480)
OPTIONS = {
    "loss_function": "YetiRank", "iterations": 4, "verbose": 0, "thread_count": 1, "allow_writing_files": False, "random_seed": 1,
}  # fmt: skip


@pytest.mark.parametrize("measure", ["nDCG@10", "AP"])
def test_the_value_of_every_round_has_the_bits_of_evaluate(measure: str) -> None:
    from catboost import CatBoost, Pool

    train, test = (Pool(X[rows], Y[rows], group_id=QID[rows]) for rows in (TRAIN, TEST))
    metric = eval_function(measure, "catboost", pools=[train, test])
    model = CatBoost({**OPTIONS, "eval_metric": metric, "use_best_model": False})
    model.fit(train, eval_set=test)
    found = model.get_evals_result()["validation"][measure]
    for rounds in (1, 4):
        scores = model.predict(test, ntree_end=rounds)
        mean = ir.evaluate(Y[TEST], scores, measure, "catboost", qid=QID[TEST]).mean()[measure]
        # Trees are summed in another order during training, so that single scores differ in their last bit; the order does not.
        assert found[rounds - 1] == mean


def test_the_convention_catboost_reports_the_values_of_its_own_metric() -> None:
    from catboost import CatBoost, Pool

    train, test = (Pool(X[rows], Y[rows], group_id=QID[rows]) for rows in (TRAIN, TEST))
    metric = eval_function("nDCG@10", "catboost", pools=[train, test])
    model = CatBoost({**OPTIONS, "eval_metric": metric, "custom_metric": ["NDCG:top=10;type=Base"]})
    model.fit(train, eval_set=test)
    found = model.get_evals_result()["validation"]
    (own,) = (values for name, values in found.items() if name.startswith("NDCG:top=10"))
    assert found["nDCG@10"] == pytest.approx(own, abs=1e-9)  # CatBoost sums in another order
