"""The metric for CatBoost finds its queries by labels, and refuses what it cannot tell apart; with
CatBoost itself in `tests/parity`.
"""

import numpy as np
import pytest

import idealrank as ir
from idealrank.training.catboost import eval_function

LABELS, QID = np.array([1, 0, 0, 2, 0, 1]), np.array([7, 7, 7, 3, 3, 3])


def test_the_pool_at_hand_is_found_by_its_labels() -> None:
    other = (np.array([0, 1]), np.array([1, 1]))
    metric = eval_function("nDCG@10", pools=[(LABELS, QID), other])
    scores = np.arange(6.0)
    value, one = metric.evaluate([scores], LABELS.astype(np.float32), None)
    assert (value, one) == (ir.evaluate(LABELS, scores, "nDCG@10", qid=QID).mean()["nDCG@10"], 1.0)
    assert metric.get_final_error(value, one) == value
    assert metric.evaluate([[0.1, 0.2]], [0, 1], None) == (1.0, 1.0)
    assert type(metric).__name__ == "nDCG@10"


def test_pools_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(
        ir.InputError, match="pools 0 and 1 have the same labels and different queries"
    ):
        eval_function(pools=[(LABELS, QID), (LABELS, np.array([7, 7, 3, 3, 3, 3]))])
    # the same lists under other ids give the same values
    eval_function(pools=[(LABELS, QID), (LABELS, QID + 100)])


def test_labels_of_no_pool_are_refused() -> None:
    with pytest.raises(ir.InputError, match="found 2 labels of no pool, which have 6"):
        eval_function(pools=[(LABELS, QID)]).evaluate([[0.0, 1.0]], [1, 0], None)
    with pytest.raises(ir.InputError, match="pools: found none"):
        eval_function(pools=[])
    with pytest.raises(ir.InputError, match="6 labels and 2 group ids"):
        eval_function(pools=[(LABELS, [1, 2])])


def test_a_measure_of_which_less_is_better_says_so() -> None:
    assert not eval_function("RankingLoss", pools=[(LABELS, QID)]).is_max_optimal()
