"""LightGBM's ranking example: reference values that LightGBM logged are reported in training, by
`evaluate` and by `idealrank train`.
"""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest

import idealrank as ir
from idealrank.io.formats.feature_rows import read_feature_rows
from idealrank.training.lightgbm import eval_function, objective
from tests.cli.terminal import Said
from tests.conftest import shared_file

CUTOFFS = (1, 2, 3, 5, 10, 20, 100)
# LightGBM's map@k divides by the number of relevant documents, or by k where that is less.
TEXTS = {f"ndcg@{cutoff}": f"nDCG@{cutoff}" for cutoff in CUTOFFS} | {
    f"map@{cutoff}": f"AP(divisor=reachable)@{cutoff}" for cutoff in CUTOFFS
}


@dataclass(frozen=True)
class Part:
    features: np.ndarray
    labels: np.ndarray
    group: np.ndarray


@cache
def part(name: str) -> Part:
    rows = read_feature_rows(shared_file("data", "lightgbm-rank", f"rank.{name}.gz")).widened(301)
    return Part(rows.features, rows.labels, np.asarray(rows.group))


@cache
def reference() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        shared_file("data", "lightgbm-rank", "reference", "lightgbm_metrics.json").read_text()
    )
    return found


@cache
def trained() -> tuple[lgb.Booster, dict[str, list[float]]]:
    """The model of the reference, with the values of every round on the test set."""
    sets = [
        lgb.Dataset(part(name).features, part(name).labels, group=part(name).group)
        for name in ("train", "test")
    ]
    record: dict[str, dict[str, list[float]]] = {}
    model = lgb.train(
        reference()["params"],
        sets[0],
        reference()["num_boost_round"],
        valid_sets=[sets[1].set_reference(sets[0])],
        feval=eval_function(list(TEXTS.values()), "lightgbm"),
        callbacks=[lgb.record_evaluation(record)],
    )
    return model, record["valid_0"]


def test_the_callback_reports_the_fourteen_reference_values() -> None:
    assert reference()["lightgbm"] == lgb.__version__
    _, record = trained()
    assert len(reference()["metrics"]) == len(TEXTS) == 14
    for own, value in reference()["metrics"].items():
        assert record[TEXTS[own]][-1] == pytest.approx(value, abs=1e-12), own
        # of all rounds
        np.testing.assert_allclose(record[TEXTS[own]], record[own], rtol=0, atol=1e-12, err_msg=own)


def test_every_round_has_the_bits_of_evaluate_on_real_data() -> None:
    model, record = trained()
    for rounds in (1, 7, 20):
        scores = model.predict(part("test").features, num_iteration=rounds)
        means = ir.evaluate(
            part("test").labels, scores, list(TEXTS.values()), "lightgbm", group=part("test").group
        ).mean()
        assert {text: record[text][rounds - 1] for text in TEXTS.values()} == dict(means)


def test_train_writes_the_reference_values(tmp_path: Path, say: Callable[..., Said]) -> None:
    for name in ("train", "test"):
        (tmp_path / f"rank.{name}").write_bytes(
            gzip.decompress(shared_file("data", "lightgbm-rank", f"rank.{name}.gz").read_bytes())
        )
        (tmp_path / f"rank.{name}.query").write_bytes(
            shared_file("data", "lightgbm-rank", f"rank.{name}.query").read_bytes()
        )
    config = {
        "data": {"train": "rank.train", "test": "rank.test"},
        "model": {"library": "lightgbm", "rounds": 20, "params": reference()["params"]},
        "evaluation": {"measures": list(TEXTS.values()), "convention": "lightgbm"},
        "output": "out",
    }
    (tmp_path / "ranker.json").write_text(json.dumps(config), encoding="utf-8")
    said = say("train", "ranker.json", cwd=tmp_path)
    assert said.code == 0, said.err
    found = json.loads((tmp_path / "out" / "evaluation.json").read_text())["measures"]
    assert {own: found[text]["mean"] for own, text in TEXTS.items()} == pytest.approx(
        reference()["metrics"], abs=1e-12
    )


def copied(predictions: Any, data: Any) -> Any:
    """The objective that is copied from page to page: right gradients, and a hessian of 1."""
    gradients, hessians = objective(cutoff=30, truncation=30, damped=False)(predictions, data)
    return gradients, np.ones_like(hessians)


def values_of(objective_: Any) -> np.ndarray:
    data = lgb.Dataset(part("train").features, part("train").labels, group=part("train").group)
    model = lgb.train(
        {**reference()["params"], "objective": objective_, "metric": "None"}, data, 50
    )
    return ir.evaluate(
        part("test").labels,
        model.predict(part("test").features),
        "nDCG@10",
        "lightgbm",
        group=part("test").group,
    )["nDCG@10"]


def test_the_quality_is_that_of_lambdarank_and_not_that_of_a_hessian_of_one() -> None:
    own, ours, flat = (
        values_of(chosen) for chosen in ("lambdarank", objective(cutoff=30, truncation=30), copied)
    )
    difference = ir.stats.difference_interval(own, ours)
    assert difference.low <= 0 <= difference.high
    assert abs(own.mean() - ours.mean()) < 0.005
    # what the 50 queries can show; `experiments/trained_models.py` has all 251
    assert own.mean() - flat.mean() > 0.01
    assert ours.mean() - flat.mean() > 0.01
