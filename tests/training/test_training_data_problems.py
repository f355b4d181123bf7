"""Problems of training data are found before training, with the option to change; trainers refuse
the same data late, or not at all.
"""

from typing import Any

import lightgbm as lgb
import numpy as np
import pytest

import idealrank as ir
from idealrank.training import check_training, refuse_problems

GOOD: dict[str, Any] = {"labels": [2, 0, 1, 0], "group": [2, 2]}


def kinds(**options: Any) -> list[tuple[str, str, str]]:
    return [(one.kind, one.severity, one.parameter) for one in check_training(**(GOOD | options))]


def test_good_data_have_no_problem() -> None:
    assert check_training(**GOOD, library="lightgbm", cutoff=10, truncation=13) == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"labels": [0, 1.5, 0, 1], "library": "lightgbm"},
            ("label-fraction", "error", "objective"),
        ),
        (
            {"labels": [0, 1.5, 0, 1], "library": "xgboost"},
            ("label-fraction", "error", "ndcg_exp_gain"),
        ),
        ({"labels": [0, 31, 0, 1], "library": "lightgbm"}, ("label-high", "error", "label_gain")),
        ({"labels": [0, 32, 0, 1], "library": "xgboost"}, ("label-high", "error", "ndcg_exp_gain")),
        ({"labels": [0, 1024, 0, 1]}, ("label-high", "error", "gain")),
        ({"labels": [0, np.nan, 0, 1]}, ("label-number", "error", "labels")),
        ({"labels": [0, -1, 0, 1], "library": "lightgbm"}, ("label-negative", "error", "labels")),
        ({"group": [2, 3]}, ("group-sum", "error", "group")),
        ({"group": None, "qid": [7, 8, 7, 8]}, ("scattered", "error", "qid")),
        ({"group": None, "qid": [7, 7, 8]}, ("group-sum", "error", "qid")),
        (
            {"group": None, "qid": [7, 7, 8, 8], "held_out": [9, 8, 8]},
            ("shared-query", "error", "qid"),
        ),
        ({"labels": [0, 0, 1, 0]}, ("no-positive", "warning", "no_relevant")),
        ({"labels": [2, 2, 1, 0]}, ("one-grade", "warning", "labels")),
        (
            {"cutoff": 10, "truncation": 30, "library": "lightgbm"},
            ("truncation", "warning", "lambdarank_truncation_level"),
        ),
        ({"cutoff": 20, "truncation": 10}, ("truncation", "warning", "truncation")),
    ],
)
def test_a_problem_names_the_option_to_change(
    options: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    assert expected in kinds(**options)


def test_labels_within_the_limits_of_the_library_or_of_a_table_are_fine() -> None:
    assert kinds(labels=[0, 30, 0, 1], library="lightgbm") == []
    assert kinds(labels=[0, 40, 0, 1], library="lightgbm", custom_gain=True) == []
    assert kinds(labels=[0, 1.5, 0, 1], library="catboost") == []
    assert kinds(cutoff=10, truncation=20, library="lightgbm") == []


def test_the_same_rows_in_training_and_testing_are_found_without_ids() -> None:
    features = np.arange(8.0).reshape(4, 2)
    # the second query, its rows in another order
    turned = (np.array([0, 1]), [2], features[[3, 2]])
    problem, *_ = check_training(**GOOD, features=features, held_out_rows=turned)
    assert "query 1 and query 0" in problem.message
    assert kinds(features=features, held_out_rows=(np.array([0, 2]), [2], features[[3, 2]])) == []


def test_errors_come_first_and_are_raised() -> None:
    problems = check_training([0, 0, 1, 40], group=[2, 2], library="lightgbm")
    assert [one.severity for one in problems] == ["error", "warning"]
    with pytest.raises(ir.InputError, match="found 40 at row 3, expected at most 30"):
        refuse_problems(problems)
    assert [one.kind for one in refuse_problems(problems[1:])] == ["no-positive"]


def test_an_unknown_library_is_refused() -> None:
    with pytest.raises(ir.OptionError, match="library='keras'"):
        check_training(**GOOD, library="keras")


@pytest.mark.parametrize("labels", [[0, 31, 0, 1], [0, 1.5, 0, 1], [0, -1, 0, 1]])
def test_lightgbm_itself_refuses_what_is_an_error_here(labels: list[float]) -> None:
    assert kinds(labels=labels, library="lightgbm")[0][1] == "error"
    data = lgb.Dataset(
        np.arange(8.0).reshape(4, 2), np.array(labels), group=[2, 2], params={"verbose": -1}
    )
    with pytest.raises(lgb.basic.LightGBMError):
        lgb.train(
            {"objective": "lambdarank", "verbose": -1, "num_threads": 1, "min_data_in_leaf": 1},
            data,
            1,
        )
