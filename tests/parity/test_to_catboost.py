"""Measures in CatBoost: the value of every round has the bits of `evaluate`, and pools that cannot
be told apart are refused.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.training.catboost import eval_function
from idealrank.training.configuration import DEFAULT_CONVENTION
from tests.cli.terminal import idealrank

pytestmark = pytest.mark.peers

RNG = np.random.default_rng(0)
QID = np.repeat(np.arange(60), 8)
X = RNG.normal(size=(QID.size, 4))
Y = np.clip(np.round(X[:, 0] + RNG.normal(0, 0.7, QID.size)), 0, 3)
TRAIN, TEST = slice(0, 320), slice(320, 480)
OPTIONS = {
    "loss_function": "YetiRank",
    "iterations": 4,
    "verbose": 0,
    "thread_count": 1,
    "allow_writing_files": False,
    "random_seed": 1,
}


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
        # Trees are summed in another order during training, so that single scores differ in their
        # last bit; the order does not.
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


def letor(path: Path, first: int, last: int) -> str:
    rows = np.flatnonzero((first <= QID) & (last > QID))
    lines = (
        f"{Y[row]:g} qid:{QID[row]} "
        + " ".join(f"{place}:{value:.6f}" for place, value in enumerate(X[row], 1))
        for row in rows
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_train_reports_what_evaluate_reports_of_the_model_it_wrote(tmp_path: Path) -> None:
    from catboost import CatBoost

    out, texts, splits = (
        tmp_path / "out",
        ["nDCG@5", "AP"],
        {"train": (0, 30), "valid": (30, 45), "test": (45, 60)},
    )
    config = {
        "data": {name: letor(tmp_path / f"{name}.svm", *ends) for name, ends in splits.items()},
        "model": {"library": "catboost", "rounds": 30, "params": {"depth": 3, "thread_count": 1}},
        "evaluation": {"measures": texts, "early_stopping": {"rounds": 3, "measure": "nDCG@5"}},
        "seed": 1,
        "output": str(out),
    }
    (tmp_path / "ranker.json").write_text(json.dumps(config), encoding="utf-8")
    said = idealrank("train", "ranker.json", cwd=tmp_path)
    assert said.code == 0, said.err
    assert f"under convention {DEFAULT_CONVENTION}" in said.out
    assert said.err == ""
    report, curve = (
        json.loads((out / f"{name}.json").read_text()) for name in ("evaluation", "curve")
    )
    again = ir.evaluate(
        config["data"]["test"], str(out / "test.run"), texts, DEFAULT_CONVENTION
    ).mean()
    assert {text: found["mean"] for text, found in report["measures"].items()} == dict(again)
    own = ir.evaluate(config["data"]["test"], str(out / "test.run"), texts, "catboost").mean()
    assert {text: found["own"]["mean"] for text, found in report["measures"].items()} == dict(own)
    values = curve["curves"]["valid"]["nDCG@5"]
    assert values[curve["best_round"] - 1] == max(values)
    # it stopped where the measure of idealrank had not improved for three rounds
    assert len(values) - curve["best_round"] == 3
    kept = CatBoost().load_model(str(out / "model.cbm"))
    scores = np.loadtxt(out / "test.scores")
    # SVMlight counts from 1: column 0 is empty
    features = np.column_stack([np.zeros(X[QID >= 45].shape[0]), X[QID >= 45].round(6)])
    np.testing.assert_array_equal(kept.predict(features), scores)
    assert kept.tree_count_ == curve["best_round"]


def test_train_refuses_an_objective_for_catboost(tmp_path: Path) -> None:
    config = {
        "data": {"train": letor(tmp_path / "train.svm", 0, 30)},
        "model": {"library": "catboost"},
        "objective": {"cutoff": 10},
    }
    (tmp_path / "ranker.json").write_text(json.dumps(config), encoding="utf-8")
    said = idealrank("train", "ranker.json", cwd=tmp_path)
    assert said.code == 2
    assert "CatBoost hands no groups to Python" in said.err


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rsm": 2}, "CatBoost: Rsm should be in (0, 1]; expected parameters"),
        ({"grow_policy": "x"}, "CatBoost: Key 'x' not found in enum EGrowPolicy"),
    ],
)
def test_what_catboost_refuses_is_said_without_the_place_in_its_source(
    tmp_path: Path, params: dict[str, Any], message: str
) -> None:
    (tmp_path / "train.svm").write_text(
        "2 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:3\n0 qid:2 1:1\n", encoding="utf-8"
    )
    config = {
        "data": {"train": "train.svm"},
        "model": {"library": "catboost", "rounds": 2, "params": {"thread_count": 1} | params},
    }
    (tmp_path / "ranker.json").write_text(json.dumps(config), encoding="utf-8")
    said = idealrank("train", "ranker.json", cwd=tmp_path)
    assert said.code == 2
    assert message in said.err
    assert ".cpp" not in said.err
