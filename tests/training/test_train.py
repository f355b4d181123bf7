"""`idealrank train`: the number that training watches is the number that `evaluate` reports, and
mistakes name the key to change.
"""

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.cli.progress import Watch
from idealrank.training.configuration import DEFAULT_CONVENTION, TrainingConfig
from tests.cli.terminal import Said

Say = Callable[..., Said]


@functools.cache
def rows(n_queries: int, seed: int, name: str = "q") -> str:
    rng = np.random.default_rng(seed)
    lines = []
    for query in range(n_queries):
        for _ in range(int(rng.integers(5, 14))):
            features = rng.normal(size=3)
            label = int(np.clip(round(features[0] + rng.normal(0, 0.7)), 0, 4))
            lines.append(
                f"{label} qid:{name}{query} 1:{features[0]:.6f} 2:{features[1]:.6f} "
                f"3:{features[2]:.6f}"
            )
    return "\n".join(lines) + "\n"


# As the usual tutorials have it.
TUTORIAL = """\
data:
  train: train.svm
  valid: valid.svm
  test: test.svm
model:
  library: lightgbm
  params:
    objective: lambdarank
    boosting_type: gbdt
    metric: ndcg
    eval_at: [1, 3, 5, 10, 20]
    lambdarank_truncation_level: 20
    max_bin: 63
    min_sum_hessian_in_leaf: 0.001
    num_leaves: 15
    learning_rate: 0.1
    n_estimators: 12
    min_child_samples: 5
    bagging_fraction: 0.8
    bagging_freq: 1
    feature_fraction: 0.9
    reg_alpha: 0.1
    reg_lambda: 0.1
    early_stopping_round: 5
    num_threads: 1
    verbosity: -1
seed: 3
output: out
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, seed in (("train", 1), ("valid", 2), ("test", 3)):
        (tmp_path / f"{name}.svm").write_text(rows(30, seed, name), encoding="utf-8")
    (tmp_path / "ranker.yaml").write_text(TUTORIAL, encoding="utf-8")
    return tmp_path


def test_the_tutorial_runs_unchanged_and_evaluate_prints_the_same_numbers(
    folder: Path, say: Say
) -> None:
    said = say("train", "ranker.yaml", cwd=folder)
    assert said.code == 0, said.err
    out = folder / "out"
    report = json.loads((out / "evaluation.json").read_text())
    texts = ["nDCG@1", "nDCG@3", "nDCG@5", "nDCG@10", "nDCG@20"]
    assert list(report["measures"]) == texts
    again = ir.evaluate(
        str(folder / "test.svm"), str(out / "test.run"), texts, DEFAULT_CONVENTION
    ).mean()
    assert {text: found["mean"] for text, found in report["measures"].items()} == dict(again)
    own = ir.evaluate(str(folder / "test.svm"), str(out / "test.run"), texts, "lightgbm").mean()
    assert {text: found["own"] for text, found in report["measures"].items()} == {
        text: {"convention": "lightgbm", "mean": value} for text, value in own.items()
    }
    assert all(
        found["low"] < found["mean"] < found["high"] for found in report["measures"].values()
    )
    curve = json.loads((out / "curve.json").read_text())
    of_valid = ir.evaluate(
        str(folder / "valid.svm"), str(out / "valid.run"), "nDCG@1", DEFAULT_CONVENTION
    ).mean()["nDCG@1"]
    assert (
        curve["curves"]["valid"]["nDCG@1"][curve["best_round"] - 1]
        == of_valid
        == max(curve["curves"]["valid"]["nDCG@1"])
    )
    assert {path.name for path in out.iterdir()} >= {
        "model.txt",
        "config.json",
        "per-query.csv",
        "test.run",
        "test.scores",
    }
    assert f"The model keeps round {curve['best_round']}." in (out / "curve.html").read_text()
    command = next(
        line for line in said.out.splitlines() if line.startswith("  idealrank evaluate")
    )
    assert say(*command.split()[1:], cwd=folder).code == 0
    assert "nDCG@10" in said.out
    assert f"under convention {DEFAULT_CONVENTION}" in said.out


def configured(folder: Path, **changes: Any) -> str:
    config: dict[str, Any] = {
        "data": {"train": "train.svm", "valid_share": 0.2, "test_share": 0.3},
        "model": {"rounds": 4, "params": {"num_threads": 1, "min_data_in_leaf": 5}},
        "output": "out",
    }
    for key, value in changes.items():
        config[key] = config[key] | value if isinstance(value, dict) and key in config else value
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return "config.json"


def test_xgboost_trains_with_an_objective_of_ours(folder: Path, say: Say) -> None:
    model = {"library": "xgboost", "params": {"nthread": 1, "max_depth": 3}}
    path = configured(
        folder,
        model=model,
        objective={"gain": "linear", "cutoff": 5},
        evaluation={"measures": ["nDCG@5", "AP"]},
    )
    said = say("train", path, "--format", "json", cwd=folder)
    assert said.code == 0, said.err
    (system,) = json.loads(said.out)["systems"]
    assert system["part"] == "test"
    assert system["measures"]["nDCG@5"]["queries"] == 9
    assert "model.json" in system["files"]
    curve = json.loads((folder / "out/curve.json").read_text())["curves"]
    assert (
        len({line.split()[0] for line in (folder / "out/train.run").read_text().splitlines()}) == 15
    )
    assert len(curve["train"]["AP"]) == 4


def test_a_model_that_xgboost_cannot_cut_is_kept_whole(folder: Path, say: Say) -> None:
    said = say(
        "train",
        configured(
            folder, model={"library": "xgboost", "params": {"nthread": 1, "booster": "gblinear"}}
        ),
        cwd=folder,
    )
    assert said.code == 0, said.err


def test_several_seeds_have_a_folder_each(folder: Path, say: Say) -> None:
    said = say("train", configured(folder, seeds=[1, 2]), cwd=folder)
    assert said.code == 0, said.err
    runs = [(folder / f"out/seed-{seed}/test.run").read_text() for seed in (1, 2)]
    assert len(runs[0].splitlines()) == len(runs[1].splitlines())
    assert "seed" in said.out


def test_a_check_trains_nothing(folder: Path, say: Say) -> None:
    said = say("train", configured(folder), "--check", cwd=folder)
    assert said.code == 0
    assert "train 15 queries" in said.out
    assert "warning: lambdarank_truncation_level=30: found evaluation at 10" in said.out
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"data": {"trian": "x"}},
            "config.json: data: unknown key 'trian', expected train, valid, test",
        ),
        (
            {"data": {"train": None}},
            "config.json: data.train: found nothing, expected the file to train on",
        ),
        (
            {"model": {"rounds": 2**40}},
            "config.json: model.rounds: found 1099511627776, expected a whole number from 1 to "
            "1,000,000",
        ),
        (
            {"output": "a\0b"},
            "output: found 'a\\x00b' (embedded null byte), expected the name of a folder",
        ),
        (
            {"model": {"rounds": "many"}},
            "config.json: model.rounds: found 'many', expected a whole number of 1 or more",
        ),
        (
            {"model": {"library": "keras"}},
            "config.json: model.library: found 'keras', expected one of lightgbm, xgboost, "
            "catboost",
        ),
        ({"model": ["lightgbm"]}, "config.json: model: found list, expected keys with values"),
        (
            {"objective": {"gain": "cubic"}},
            "config.json: objective.gain: gain=cubic: expected linear",
        ),
        ({"objective": {"cut": 3}}, "config.json: objective: unknown key 'cut'"),
        (
            {"seeds": [1, 1]},
            "config.json: seeds: found [1, 1], expected one or more different whole numbers",
        ),
        (
            {"seed": 1, "seeds": [2]},
            "config.json: seed: found both seed and seeds, expected one of them",
        ),
        (
            {"data": {"valid": "valid.svm"}},
            "config.json: data.valid_share: found 0.2, expected nothing beside `valid: valid.svm`",
        ),
        ({"data": {"test_share": 0.999}}, "data.valid_share"),
        ({"data": {"train": "none.svm"}}, "none.svm"),
        ({"evaluation": {"measures": ["nDCG@ten"]}}, "nDCG@ten"),
        (
            {"evaluation": {"early_stopping": 5}, "data": {"valid_share": 0}},
            "evaluation.early_stopping: found no validation set",
        ),
        ({"model": {"params": {"objective": "no such"}}}, "LightGBM: Unknown objective type name"),
        (
            {"model": {"params": [1]}},
            "config.json: model.params: found list, expected keys with values",
        ),
        (
            {"model": {"params": {"eval_at": "1,five"}}},
            "config.json: model.params.eval_at: found '1,five', expected whole numbers, as in 5",
        ),
        (
            {"model": {"params": {"eval_at": [0]}}},
            "nDCG@0: cutoff '0': expected a whole number from 1 on",
        ),
        (
            {"model": {"params": {"label_gain": "0;1"}}},
            "config.json: model.params.label_gain: found '0;1', expected numbers",
        ),
        (
            {"model": {"params": {"lambdarank_truncation_level": "ten"}}},
            "model.params.lambdarank_truncation_level: found 'ten', expected",
        ),
        (
            {"model": {"library": "xgboost", "params": {"eval_metric": "ndcg@x"}}},
            "model.params.eval_metric: found 'x', expected whole",
        ),
        (
            {"model": {"library": "xgboost", "params": {"eval_metric": ["map@3"]}, "rounds": 0}},
            "model.rounds: found 0, expected",
        ),
        (
            {"model": {"library": "xgboost", "params": {"eval_metric": 5}}},
            "model.params.eval_metric: found 5, expected a text, as in ndcg",
        ),
        (
            {"model": {"params": {"metric": [None]}}},
            "model.params.metric: found [None], expected a text, as in ndcg, or a list of texts",
        ),
        (
            {"model": {"params": {"lambdarank_truncation_level": 0}}},
            "model.params.lambdarank_truncation_level: found 0, expected a whole",
        ),
        (
            {"model": {"params": {"num_threads": 10**6}}},
            "config.json: model.params.num_threads: found 1000000, expected at most 1,024",
        ),
        (
            {"model": {"params": {"lambdarank_truncation_level": []}}},
            "model.params.lambdarank_truncation_level: found [], expected whole",
        ),
        (
            {"model": {"params": {"eval_at": []}}},
            "model.params.eval_at: found [], expected whole numbers, as in 5 or [1, 3, 5]",
        ),
        (
            {"model": {"params": {"eval_at": [float("inf")]}}},
            "model.params.eval_at: found [inf], expected whole numbers",
        ),
        (
            {"model": {"params": {"num_leaves": {"a": [1]}}}},
            "model.params.num_leaves: found {'a': [1]}, expected a number, a text",
        ),
        ({"model": {"params": {"num_leaves": "abc"}}}, "takes: change model.params or data"),
        (
            {"model": {"library": "catboost", "params": {"loss_function": 3}}},
            "model.params.loss_function: found 3, expected a text, the name",
        ),
        (
            {"model": {"params": {"early_stopping_round": "3"}}},
            "model.params.early_stopping_round: found '3', expected a whole number",
        ),
        (
            {"model": {"params": {"early_stopping_round": 2.5}}},
            "model.params.early_stopping_round: found 2.5, expected a whole number",
        ),
        (
            {"seeds": [-1, 2]},
            "config.json: seeds: found [-1, 2], expected a list of whole numbers of 0 or more",
        ),
        (
            {"objective": {"cutoff": 2**70}},
            "objective.cutoff: found 0x4000000000..., expected a whole number from 1 to "
            "2,147,483,647",
        ),
        (
            {"data": {"features": ["x"]}},
            "data.features: found ['x'] for train.svm, expected it for Parquet only; leave it out",
        ),
        (
            {"data": {"label": "x"}},
            "data.label: found 'x' for train.svm, expected it for Parquet only; leave it out, "
            "or use Parquet",
        ),
        (
            {"data": {"valid": "test.svm", "test": "test.svm", "valid_share": 0, "test_share": 0}},
            "data.test: found test.svm, the file of data.valid, expected another file, as "
            "early stopping chooses by data.valid",
        ),
    ],
)
def test_a_mistake_names_the_key_and_what_is_expected(
    folder: Path, say: Say, changes: dict[str, Any], message: str
) -> None:
    said = say("train", configured(folder, **changes), cwd=folder)
    assert said.code == 2, said.err
    assert message in said.err


@pytest.mark.parametrize(
    ("label", "changes", "message"),
    [
        (
            40,
            {},
            "expected at most 30, the last label with a gain in LightGBM; set label_gain, or "
            "use an objective of idealrank",
        ),
        (
            40,
            {"model": {"library": "xgboost"}},
            "expected at most 31, the last label with a gain in XGBoost; set ndcg_exp_gain=False",
        ),
        (
            1.5,
            {},
            "found 1.5 at row 0, expected whole numbers for LightGBM's lambdarank; use an "
            "objective of idealrank with gain=",
        ),
        (-1, {}, "found -1 at row 0, expected 0 or more; shift the labels, or make them 0"),
        (
            5,
            {"model": {"params": {"label_gain": "0,1,3,7,15"}}},
            "found 5 at row 0, expected at most 4, the last label with a gain in",
        ),
    ],
)
@pytest.mark.parametrize("part", ["train", "valid", "test"])
def test_a_label_that_the_library_cannot_take_stops_training(
    folder: Path, say: Say, label: float, changes: dict[str, Any], message: str, part: str
) -> None:
    text = (folder / f"{part}.svm").read_text()
    (folder / f"{part}.svm").write_text(f"{label:g}{text[1:]}", encoding="utf-8")
    data = {
        "train": "train.svm",
        "valid": "valid.svm",
        "test": "test.svm",
        "valid_share": 0,
        "test_share": 0,
    }
    said = say("train", configured(folder, data=data, **changes), cwd=folder)
    assert said.code == 2
    assert f"data.{part}, labels: found {label:g} at row 0 of {part}.svm, expected" in said.err
    assert message.replace("row 0", f"row 0 of {part}.svm") in said.err
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("label", "changes"),
    [
        (40, {"model": {"params": {"label_gain": list(range(41)), "num_threads": 1}}}),
        (40, {"objective": {"gain": "linear"}}),
        (3.5, {"objective": {"gain": {"0": 0, "1": 1, "2": 3, "3": 5, "3.5": 6, "4": 7}}}),
        (3.5, {"model": {"params": {"objective": "regression", "num_threads": 1}}}),
    ],
)
def test_what_the_message_advises_trains(
    folder: Path, say: Say, label: float, changes: dict[str, Any]
) -> None:
    text = (folder / "train.svm").read_text()
    (folder / "train.svm").write_text(f"{label:g}{text[1:]}", encoding="utf-8")
    data = {"train": "train.svm", "valid_share": 0, "test_share": 0}
    said = say(
        "train",
        configured(folder, data=data, evaluation={"measures": "nDCG(gain=linear)@5"}, **changes),
        cwd=folder,
    )
    assert said.code == 0, said.err


def test_a_group_file_that_does_not_sum_to_the_rows_stops_training(folder: Path, say: Say) -> None:
    lines = [line.split(" ", 2) for line in (folder / "train.svm").read_text().splitlines()]
    (folder / "train.svm").write_text(
        "\n".join(f"{label} {rest}" for label, _, rest in lines) + "\n", encoding="utf-8"
    )
    (folder / "train.svm.query").write_text("5\n6\n", encoding="utf-8")
    said = say("train", configured(folder), cwd=folder)
    assert said.code == 2
    assert (
        f"train.svm.query: found group sizes that add up to 11, expected {len(lines)}, the "
        f"number of items of train.svm" in said.err
    )


def test_queries_without_a_relevant_document_are_counted_and_a_file_of_them_is_refused(
    folder: Path, say: Say
) -> None:
    lines = (folder / "train.svm").read_text().splitlines()
    some = [f"0{line[1:]}" if " qid:train3 " in line else line for line in lines]
    (folder / "train.svm").write_text("\n".join(some) + "\n", encoding="utf-8")
    assert "1 query of 30 without a label above 0 (the first is query 3)" in " ".join(
        say("train", "ranker.yaml", "--check", cwd=folder).out.split()
    )
    (folder / "train.svm").write_text(
        "\n".join(f"0{line[1:]}" for line in lines) + "\n", encoding="utf-8"
    )
    said = say("train", "ranker.yaml", "--check", cwd=folder)
    assert said.code == 2
    assert (
        "found no label above 0 in any of 30 queries, expected some; is the column of labels "
        "the right one?" in said.err
    )


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (
            {"params": {"metric": ["ndcg", "map"], "eval_at": "1,3"}},
            ["nDCG@1", "nDCG@3", "AP(divisor=reachable)@1", "AP(divisor=reachable)@3"],
        ),
        ({"params": {"metric": "None", "ndcg_eval_at": 5}}, ["nDCG@5"]),
        (
            {"params": {"label_gain": "0,1,3,7,15", "eval_at": [2]}},
            ["nDCG(gain={0:0,1:1,2:3,3:7,4:15})@2"],
        ),
        (
            {"library": "xgboost", "params": {"eval_metric": ["ndcg@7-", "map@3"]}},
            ["nDCG@7", "AP(divisor=reachable)@3"],
        ),
        ({"library": "xgboost", "params": {"eval_metric": "rmse"}}, ["nDCG@10"]),
    ],
)
def test_metrics_of_the_library_become_measures(model: dict[str, Any], expected: list[str]) -> None:
    config = TrainingConfig.of({"data": {"train": "a"}, "model": model})
    assert list(config.evaluation.measures) == expected
    assert config.evaluation.convention == DEFAULT_CONVENTION
    assert config.own_convention == (
        "xgboost-minus" if "ndcg@7-" in str(model) else model.get("library", "lightgbm")
    )


@pytest.mark.parametrize(
    ("changes", "caution"),
    [
        (
            {"model": {"params": {"lambdarank_truncation_level": 5, "eval_at": [10]}}},
            "level=5: found evaluation at 10, expected training at least as deep; set "
            "lambdarank_truncation_level=13",
        ),
        ({"model": {"params": {"lambdarank_truncation_level": 6, "eval_at": [1, 3]}}}, None),
        (
            {"objective": {"cutoff": 3}, "evaluation": {"measures": "nDCG@10"}},
            "truncation=6: found evaluation at 10",
        ),
        ({"objective": {"cutoff": 10}, "evaluation": {"measures": "nDCG@10"}}, None),
        ({"model": {"params": {"objective": "rank_xendcg"}}}, None),
        (
            {"model": {"library": "xgboost", "params": {"lambdarank_num_pair_per_sample": 2}}},
            "set lambdarank_num_pair_per_sample=13, or evaluate at 2",
        ),
        (
            {"model": {"params": {"num_leafs": 7, "objective": "rank_xendcg"}}},
            "model.params: found 'num_leafs', which LightGBM does not know; did you mean "
            "num_leaves?",
        ),
        (
            {"model": {"library": "xgboost", "params": {"max_deep": 7, "n_estimators": 3}}},
            "model.params: found 'max_deep', which XGBoost does not know; did you mean max_depth?",
        ),
    ],
)
def test_a_caution_says_what_to_set(
    folder: Path, say: Say, changes: dict[str, Any], caution: str | None
) -> None:
    said = say("train", configured(folder, **changes), "--check", cwd=folder)
    assert said.code == 0, said.err
    text = " ".join(said.out.split())
    if caution is None:
        assert "expected" not in text
    else:
        assert caution in text
    assert "n_estimators" not in text


@pytest.mark.parametrize(
    ("name", "change", "caution"),
    [
        (
            "test",
            lambda line: f"0{line[1:]}",
            "data.test: found no label above 0 in any of 30 queries, expected some",
        ),
        (
            "valid",
            lambda line: f"0{line[1:]}",
            "data.valid: found no label above 0 in any of 30 queries, expected some",
        ),
        (
            "test",
            lambda line: " ".join(line.split()[:2]),
            "data.test: found no feature that differs within a query, expected some; scores "
            "are tied",
        ),
        (
            "train",
            lambda line: " ".join([*line.split()[:2], "1:3"]),
            "data.train: found no feature that differs within a query, expected some",
        ),
        (
            "test",
            lambda line: line.replace("qid:test0 ", "qid:valid0 "),
            "data.test: found 1 queries of data.valid (valid0), expected none",
        ),
    ],
)
def test_a_part_on_which_all_models_are_equal_has_a_caution(
    folder: Path, say: Say, name: str, change: Callable[[str], str], caution: str
) -> None:
    lines = (folder / f"{name}.svm").read_text().splitlines()
    (folder / f"{name}.svm").write_text("\n".join(map(change, lines)) + "\n", encoding="utf-8")
    said = say("train", "ranker.yaml", "--check", cwd=folder)
    assert said.code == 0, said.err
    assert caution in " ".join(said.out.split())


def test_an_infinite_feature_has_its_place_in_the_message(folder: Path, say: Say) -> None:
    (folder / "test.svm").write_text(rows(3, 9, "test"), encoding="utf-8")
    (folder / "train.svm").write_text("1 qid:a 1:1 2:inf\n0 qid:a 1:2 2:1\n", encoding="utf-8")
    data = {"train": "train.svm", "valid_share": 0, "test_share": 0}
    said = say(
        "train",
        configured(folder, data=data, model={"library": "xgboost", "params": {"nthread": 1}}),
        cwd=folder,
    )
    assert said.code == 2, said.err
    assert (
        "train.svm: feature 2 of row 0: found inf, expected a finite number for XGBoost; "
        "correct or clip it" in said.err
    )


def test_a_test_set_in_a_store_is_opened_by_one_training(folder: Path, say: Say) -> None:
    once = {"evaluation": {"test_store": "store", "measures": "nDCG@5"}, "seeds": [1, 2]}
    assert say("train", configured(folder, **once), cwd=folder).code == 0
    written = (folder / "out/seed-1/model.txt").read_text()
    refused = say("train", configured(folder, **once, model={"rounds": 6}), cwd=folder)
    assert refused.code == 2
    assert "the test set was opened before, by 'out/seed-1' on" in refused.err
    assert "or give the reason to open it again in evaluation.again" in refused.err
    assert (folder / "out/seed-1/model.txt").read_text() == written  # nothing was trained
    once["evaluation"]["again"] = "a label was wrong"  # type: ignore[index]
    assert say("train", configured(folder, **once), cwd=folder).code == 0
    with ir.Store.open(folder / "store") as store:
        assert [entry.record.notes for entry in store.entries(tag="test-set")] == [
            ("opened again: a label was wrong",)
        ] * 2 + [()] * 2
    nothing = configured(folder, evaluation={"test_store": "store"}, data={"test_share": 0})
    assert "evaluation.test_store: found no test set" in say("train", nothing, cwd=folder).err


def test_the_bar_counts_the_rounds_of_all_seeds(
    folder: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int]] = []

    class Counted(Watch):
        def count(self, label: str, work: Callable[..., Any]) -> Any:
            assert label == "training"
            return work(lambda done, total: told.append((done, total)))

    monkeypatch.setattr("idealrank.training.commands.train.Watch", Counted)
    assert say("train", configured(folder, seeds=[1, 2]), cwd=folder).code == 0
    assert told == [(done, 8) for done in range(1, 9)]


def test_a_parameter_has_a_name(folder: Path, say: Say) -> None:
    (folder / "ranker.yaml").write_text(
        TUTORIAL.replace("num_leaves: 15", "15: num_leaves"), encoding="utf-8"
    )
    said = say("train", "ranker.yaml", cwd=folder)
    assert said.code == 2
    assert (
        "ranker.yaml: model.params: found the key 15, expected a text; quote it if it is a name"
        in said.err
    )


def test_a_query_in_training_and_testing_stops_training(folder: Path, say: Say) -> None:
    (folder / "test.svm").write_text(rows(3, 9, "train"), encoding="utf-8")
    said = say("train", "ranker.yaml", cwd=folder)
    assert said.code == 2
    assert (
        "found 3 queries in training and in testing (query train0), expected none; split by query"
        in said.err
    )


def test_rows_in_any_order_train_the_same_model(folder: Path, say: Say) -> None:
    lines = (folder / "train.svm").read_text().splitlines(keepends=True)
    by_query: dict[str, list[str]] = {}
    for line in lines:
        by_query.setdefault(line.split()[1], []).append(line)
    mixed = [
        line
        for turn in range(14)
        for of_query in by_query.values()
        for line in of_query[turn : turn + 1]
    ]
    predictions = []
    for text in (lines, mixed):
        (folder / "train.svm").write_text("".join(text), encoding="utf-8")
        assert say("train", "ranker.yaml", cwd=folder).code == 0
        predictions.append((folder / "out/test.scores").read_text())
    assert predictions[0] == predictions[1]


def test_parquet_and_toml_are_read(folder: Path, say: Say) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.arange(30), 8))
    price = rng.normal(size=qid.size)
    columns = {
        "query": qid,
        "grade": np.clip(np.round(price), 0, 3).astype(int),
        "price": price,
        "stock": rng.normal(size=qid.size),
    }
    parquet.write_table(pyarrow.table(columns), folder / "rows.parquet")
    (folder / "config.toml").write_text(
        'output = "out"\n[data]\ntrain = "rows.parquet"\nqid = "query"\nlabel = "grade"\n'
        "test_share = 0.3\n"
        "[model]\nrounds = 3\n[model.params]\nnum_threads = 1\nmin_data_in_leaf = 5\n"
    )
    said = say("train", "config.toml", cwd=folder)
    assert said.code == 0, said.err
    assert "feature_names=price stock" in (folder / "out/model.txt").read_text()
    wrong = (folder / "config.toml").read_text().replace('"grade"', '"grad"')
    (folder / "config.toml").write_text(wrong)
    assert (
        "found no column 'grad', expected it by data.label; did you mean grade?"
        in say("train", "config.toml", cwd=folder).err
    )
