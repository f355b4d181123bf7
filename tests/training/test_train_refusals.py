"""`idealrank train` refuses early what a library would refuse, and folders that cannot be made; no
library talks into a report.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Said
from tests.training.test_train import TUTORIAL, configured, rows

Say = Callable[..., Said]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, seed in (("train", 1), ("valid", 2), ("test", 3)):
        (tmp_path / f"{name}.svm").write_text(rows(30, seed, name), encoding="utf-8")
    (tmp_path / "ranker.yaml").write_text(TUTORIAL, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"model": {"params": {"num_leaves": 1}}},
            "error: model.params.num_leaves: found 1, expected num_leaves > 1 for LightGBM",
        ),
        (
            {"model": {"params": {"reg_alpha": -1}}},
            "model.params.reg_alpha: found -1, expected lambda_l1 >= 0 for LightGBM",
        ),
        (
            {"model": {"params": {"learning_rate": "fast"}}},
            "model.params.learning_rate: found 'fast', expected a number for LightGBM",
        ),
        (
            {"model": {"params": {"label_gain": "0,a"}}, "evaluation": {"measures": ["AP"]}},
            "config.json: model.params.label_gain: found '0,a', expected numbers, as in 5",
        ),
        ({"model": {"params": {"monotone_constraints": [1]}}}, "error: LightGBM: Check failed: "),
        (
            {"model": {"library": "xgboost", "params": {"booster": "x"}}},
            "error: XGBoost: Unknown gbm type x; expected parameters",
        ),
        (
            {"model": {"library": "xgboost", "params": {"tree_method": "x" * 999}}},
            "xx ...; expected parameters and data that XGBoost",
        ),
        (
            {"model": {"library": "catboost", "params": {"thread_count": 0}}},
            "config.json: model.params.thread_count: found 0, expected a whole number of 1 or "
            "more, or -1 for all cores",
        ),
        (
            {"model": {"params": {"lambda_l1": 2**70}}},
            "model.params.lambda_l1: found 1180591620717411303424, expected a number from -9,007",
        ),
        (
            {"model": {"library": "xgboost", "params": {"subsample": float("nan")}}},
            "model.params.subsample: found nan, expected a number",
        ),
        (
            {"model": {"params": {"lambdarank_truncation_level": 1.5}}},
            "model.params.lambdarank_truncation_level: found 1.5, expected whole",
        ),
        (
            {"model": {"params": {"eval_at": [True]}}},
            "model.params.eval_at: found [True], expected whole numbers, as in 5 or [1, 3, 5]",
        ),
        (
            {"output": "train.svm"},
            "output: found train.svm, which is no folder, expected the name of a new or an "
            "existing folder",
        ),
        (
            {"output": "train.svm/models"},
            "output: found train.svm, which is no folder, expected the name of a new",
        ),
        ({"output": "x" * 3000}, "x ...: cannot be created: File name too long"),
        (
            {"evaluation": {"test_store": "a\0b"}},
            "'a\\x00b': found a NUL byte in a path, expected the name of a folder",
        ),
        (
            {"model": {"library": "catboost", "params": {"depth": 0}}},
            "config.json: model.params.depth: found 0, expected a whole number from 1 to 16",
        ),
    ],
)
def test_a_mistake_is_named_without_a_path_of_the_librarys_source(
    folder: Path, say: Say, changes: dict[str, Any], message: str
) -> None:
    said = say("train", configured(folder, **changes), cwd=folder)
    assert said.code == 2, said.err
    assert message in said.err
    # of the library's source
    assert not any(ending in said.err for ending in (".cpp", ".cc:", ".hpp", ".h:"))
    assert not (folder / "out").exists()


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_a_library_that_is_asked_to_talk_does_not_talk_into_the_report(
    folder: Path, say: Say, library: str
) -> None:
    params = {"verbosity": 3, "nthread": 1}
    said = say(
        "train",
        configured(folder, model={"library": library, "params": params}),
        "--format",
        "json",
        cwd=folder,
    )
    assert said.code == 0, said.err
    assert json.loads(said.out)["systems"][0]["rounds"] > 0
    assert "[" in said.err


def test_a_folder_without_the_right_to_write_is_refused_before_training(
    folder: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    said = say("train", configured(folder), "--check", cwd=folder)
    assert said.code == 2
    assert "output: found ., a folder without the right to write, expected one with it" in said.err


def test_the_written_configuration_trains_the_same_model_again(folder: Path, say: Say) -> None:
    assert say("train", "ranker.yaml", cwd=folder).code == 0
    again = say("train", "out/config.json", "-o", "again", cwd=folder)
    assert again.code == 0, again.err
    assert (folder / "again/model.txt").read_bytes() == (folder / "out/model.txt").read_bytes()
    assert (folder / "again/test.run").read_bytes() == (folder / "out/test.run").read_bytes()
