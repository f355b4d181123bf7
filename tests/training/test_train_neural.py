"""Configuration of a neural ranker, without PyTorch: keys and ranges, what is refused, and what is
checked before training.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import idealrank as ir
from idealrank.training.commands import train as train_command
from idealrank.training.configuration import TrainingConfig
from idealrank.training.neural_configuration import LOSSES, NetworkSection
from tests.cli.terminal import Said

Say = Callable[..., Said]
ROWS = "2 qid:a 1:1 2:3\n0 qid:a 1:2 2:1\n1 qid:b 1:0 2:1\n0 qid:b 1:4 2:2\n"


def config(
    objective: dict[str, Any] | None = None, data: dict[str, Any] | None = None, **given: Any
) -> TrainingConfig:
    evaluation = given.pop("evaluation", {})
    found = {
        "data": {"train": "a"} | (data or {}),
        "model": {"library": "torch", "params": given},
        "evaluation": evaluation,
    }
    return TrainingConfig.of(
        found | ({} if objective is None else {"objective": objective}), "n.yaml"
    )


def test_the_defaults_are_a_network_of_two_layers_and_the_softmax_loss() -> None:
    found = config()
    assert found.network == NetworkSection()
    assert found.loss is not None
    assert (found.loss.loss, found.evaluation.measures, found.own_convention) == (
        "SoftmaxLoss",
        ("nDCG@10",),
        None,
    )
    assert found.evaluation.convention == "standard,ties=expected"
    assert (found.objective, found.truncation, found.own_objective, found.takes_grades) == (
        None,
        None,
        "SoftmaxLoss",
        True,
    )


def test_the_cutoff_of_the_loss_is_that_of_the_measure_and_its_rules_are_those_of_the_evaluation() -> (  # noqa: E501
    None
):
    found = config({"loss": "ApproxNDCGLoss", "cutoff": 7}, evaluation={"convention": "lightgbm"})
    assert found.evaluation.measures == ("nDCG@7",)
    assert found.to_dict()["objective"] == {
        "loss": "ApproxNDCGLoss",
        "cutoff": 7,
        "convention": "lightgbm",
    }
    given = config(
        {"loss": "ApproxNDCGLoss", "gain": "exp2", "convention": "trec_eval"},
        evaluation={"convention": "lightgbm"},
    )
    assert given.to_dict()["objective"]["convention"] == "trec_eval"
    assert "convention" not in config({"loss": "ListNetLoss"}).to_dict()["objective"]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_written_configuration_trains_the_same_again(loss: str) -> None:
    found = config({"loss": loss}, hidden=[], dropout=0.2, evaluation={"early_stopping": 3})
    again = TrainingConfig.of(json.loads(json.dumps(found.to_dict())))
    assert again.to_dict() == found.to_dict()
    assert again == TrainingConfig.of(found.to_dict()) == found


@pytest.mark.parametrize(
    "given",
    [
        {
            "model": {
                "params": {"objective": "lambdarank", "eval_at": [1, 3], "early_stopping_round": 3}
            },
            "seeds": [3, 4],
        },
        {
            "model": {"library": "xgboost"},
            "objective": {"gain": {0: 0, 1: 1, 2: 5}, "discount": "linear"},
            "seed": 3,
        },
        {
            "data": {"train": "a", "position": "p"},
            "objective": {"measure": "pairs", "gain": "linear", "bias": "both"},
        },
        {"evaluation": {"test_store": "store", "again": "a reason", "measures": ["AP", "RR"]}},
    ],
)
def test_the_written_configuration_of_a_boosting_library_is_read_again(
    given: dict[str, Any],
) -> None:
    found = TrainingConfig.of({"data": {"train": "a"}} | given)
    again = TrainingConfig.of(json.loads(json.dumps(found.to_dict())))
    assert again.to_dict() == found.to_dict()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hiden": [8]}, "n.yaml: model.params: unknown key 'hiden', expected hidden, activation"),
        ({"epochs": 8}, "n.yaml: model.params: unknown key 'epochs'"),
        (
            {"hidden": [8, 0]},
            r"n.yaml: model.params.hidden: found \[8, 0\], expected a list of whole numbers "
            r"of 1 or more",
        ),
        ({"hidden": True}, "model.params.hidden: found True, expected a list"),
        (
            {"hidden": [9000]},
            r"model.params.hidden: found \[9000\], expected at most 32 layers of at most "
            r"8,192 units",
        ),
        ({"hidden": [1] * 33}, "expected at most 32 layers"),
        (
            {"activation": "rely"},
            "model.params.activation: found 'rely', expected one of relu, leaky-relu",
        ),
        ({"activation": ["relu"]}, r"model.params.activation: found \['relu'\], expected one of"),
        ({"dropout": 1}, "model.params.dropout: found 1, expected a number from 0 to 0.95"),
        ({"dropout": float("nan")}, "model.params.dropout: found nan, expected a number"),
        (
            {"normalisation": "group"},
            "model.params.normalisation: found 'group', expected one of none, layer, batch",
        ),
        ({"transform": 1}, "model.params.transform: found 1, expected one of standardise, log1p"),
        ({"optimiser": "sgd"}, "model.params.optimiser: found 'sgd', expected one of adamw, adam"),
        ({"learning_rate": 0}, "model.params.learning_rate: found 0, expected a number"),
        (
            {"learning_rate": float("inf")},
            "model.params.learning_rate: found inf, expected a number",
        ),
        ({"learning_rate": "1e-3"}, "model.params.learning_rate: found '1e-3', expected a number"),
        ({"weight_decay": -1}, "model.params.weight_decay: found -1, expected a number"),
        ({"batch": 0}, "model.params.batch: found 0, expected a whole number of 1 or more"),
        (
            {"batch": 2**40},
            "model.params.batch: found 1099511627776, expected a whole number from 1 to "
            "2,147,483,647",
        ),
        (
            {"threads": 2000},
            "model.params.threads: found 2000, expected a whole number from 1 to 1,024",
        ),
        (
            {"objective": {"loss": "ApproxNDCG"}},
            "n.yaml: objective.loss: found 'ApproxNDCG', expected one of SoftmaxLoss",
        ),
        (
            {"objective": {"loss": "ListNetLoss", "cutoff": 3}},
            "n.yaml: objective: unknown key 'cutoff', expected loss, temperature",
        ),
        (
            {"objective": {"measure": "AP"}},
            "n.yaml: objective: unknown key 'measure', expected loss",
        ),
        (
            {"objective": {"temperature": 0}},
            "n.yaml: objective.temperature: found 0, expected a number",
        ),
        (
            {"objective": {"loss": "RankNetLoss", "ties": "random"}},
            "n.yaml: objective.ties: found 'random', expected one of ignore, half",
        ),
        (
            {"objective": {"reduction": "none"}},
            "n.yaml: objective.reduction: found 'none', expected one of mean, sum",
        ),
        (
            {"objective": {"loss": "NeuralNDCGLoss", "sinkhorn": -1}},
            "objective.sinkhorn: found -1, expected a whole number of 0 or more",
        ),
        (
            {"objective": {"loss": "NeuralNDCGLoss", "sinkhorn": 10**9}},
            "objective.sinkhorn: found 1000000000, expected a whole number from 0",
        ),
        (
            {"objective": {"loss": "NeuralNDCGLoss", "gain": "cubic"}},
            "n.yaml: objective.gain: gain=cubic: expected linear",
        ),
        ({"objective": {"loss": "NeuralNDCGLoss", "gain": [1]}}, "n.yaml: objective.gain: found"),
        (
            {"objective": {"loss": "NeuralNDCGLoss", "convention": "mine"}},
            "n.yaml: objective.convention: unknown convention 'mine'",
        ),
        (
            {"objective": {"loss": "PiRankLoss", "branching": 8}},
            "n.yaml: objective.branching: found 8 and cutoff None, expected a cutoff of at "
            "most half the branching",
        ),
        (
            {"data": {"position": "p"}},
            "data.position: found 'p', expected a column of propensities with `objective: "
            "{loss: SoftmaxLoss",
        ),
        (
            {"data": {"propensity": "p"}, "objective": {"loss": "RankNetLoss"}},
            "data.propensity: found 'p', expected a column",
        ),
    ],
)
def test_a_mistake_names_the_key_and_what_is_expected(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ir.OptionError, match=message):
        config(**given)


def test_the_example_of_the_help_is_read() -> None:
    text = next(
        block
        for block in train_command._EPILOG.split("\b\n")
        if "library: torch" in block and "ApproxNDCGLoss" in block
    )
    given = yaml.safe_load("\n".join(line[2:] for line in text.partition("\n\n")[0].splitlines()))
    found = TrainingConfig.of({"data": {"train": "a"}} | given)
    assert found.network is not None
    assert (found.network.hidden, found.model.rounds, found.own_objective) == (
        (64, 32),
        60,
        "ApproxNDCGLoss",
    )


def test_a_loss_belongs_to_pytorch() -> None:
    with pytest.raises(
        ir.OptionError,
        match=r"objective\.loss: found 'RankNetLoss', expected it with `library: torch` only",
    ):
        TrainingConfig.of({"data": {"train": "a"}, "objective": {"loss": "RankNetLoss"}})


def checked(
    tmp_path: Path, say: Say, monkeypatch: pytest.MonkeyPatch, rows: str, **given: Any
) -> Said:
    """Check a configuration as if PyTorch were installed."""
    monkeypatch.setitem(sys.modules, "torch", sys)
    (tmp_path / "a.svm").write_text(rows, encoding="utf-8")
    given = {"data": {"train": "a.svm"}, "model": {"library": "torch"}} | given
    (tmp_path / "n.json").write_text(json.dumps(given), encoding="utf-8")
    return say("train", "n.json", "--check", cwd=tmp_path)


def test_a_loss_that_ends_above_the_measure_has_a_caution(
    tmp_path: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    shallow = {
        "objective": {"loss": "LambdaLoss", "cutoff": 5},
        "evaluation": {"measures": ["nDCG@10"]},
    }
    said = checked(tmp_path, say, monkeypatch, ROWS, **shallow)
    assert said.code == 0, said.err
    found = (
        "objective.cutoff=5: found evaluation at 10, expected training at least as deep; set "
        "objective.cutoff=10, or evaluate at 5"
    )
    assert found in " ".join(said.out.split())
    deep = {
        "objective": {"loss": "LambdaLoss", "cutoff": 10},
        "evaluation": {"measures": ["nDCG@10"]},
    }
    assert "objective.cutoff" not in checked(tmp_path, say, monkeypatch, ROWS, **deep).out


def test_a_negative_label_is_refused_where_labels_are_grades(
    tmp_path: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ROWS.replace("0 qid:b", "-1 qid:b")
    said = checked(tmp_path, say, monkeypatch, rows)
    assert said.code == 2
    assert (
        "data.train, labels: found -1 at row 3 of a.svm, expected 0 or more for SoftmaxLoss; "
        "shift the labels" in said.err
    )
    assert checked(tmp_path, say, monkeypatch, rows, objective={"loss": "ListNetLoss"}).code == 0


@pytest.mark.parametrize("options", [("--check",), ()])
@pytest.mark.parametrize("part", ["train", "valid", "test"])
@pytest.mark.parametrize(
    ("value", "transform", "message"),
    [
        ("nan", "standardise", "found nan, expected a finite number for PyTorch"),
        ("-inf", "none", "found -inf, expected a finite number for PyTorch"),
        (
            "1e39",
            "none",
            "found 1e+39, expected a number that float32 holds; set model.params.transform to "
            "log1p",
        ),
    ],
)
def test_features_of_every_part_are_checked_before_anything_is_written(
    tmp_path: Path,
    say: Say,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    part: str,
    value: str,
    transform: str,
    message: str,
) -> None:
    for name in ("train", "valid", "test"):
        own = ROWS.replace("qid:", f"qid:{name}")
        (tmp_path / f"{name}.svm").write_text(
            own.replace("1:4 2:2", f"1:4 2:{value}") if name == part else own, encoding="utf-8"
        )
    given = {
        "data": {name: f"{name}.svm" for name in ("train", "valid", "test")},
        "model": {"library": "torch", "params": {"transform": transform}},
        "output": "out",
    }
    checked(tmp_path, say, monkeypatch, ROWS, **given)
    said = say("train", "n.json", *options, cwd=tmp_path)
    assert said.code == 2
    assert f"{part}.svm: feature 2 of row 3: {message}" in " ".join(said.err.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("library", ["lightgbm", "torch"])
def test_an_unknown_convention_is_found_by_a_check(
    tmp_path: Path, say: Say, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    given = {"evaluation": {"convention": "mine"}, "model": {"library": library}}
    said = checked(tmp_path, say, monkeypatch, ROWS, **given)
    assert said.code == 2
    assert "unknown convention 'mine', expected one of standard" in said.err


@pytest.mark.parametrize("options", [("--check",), ()])
def test_without_pytorch_its_extra_is_named(
    tmp_path: Path, say: Say, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    checked(tmp_path, say, monkeypatch, ROWS)
    monkeypatch.setitem(sys.modules, "torch", None)
    said = say("train", "n.json", *options, cwd=tmp_path)
    assert said.code == 2
    assert "training with PyTorch needs torch; pip install" in said.err
    assert "[torch]" in said.err
