"""`idealrank train` on given folds and several seeds: the pooled numbers are those of the test sets
together, computed here from the files with NumPy, SciPy and `evaluate`.
"""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from scipy.stats import t

import idealrank as ir
from idealrank.training.configuration import DEFAULT_CONVENTION, TrainingConfig
from idealrank.training.pooled_folds import folds_of
from tests.cli.terminal import Said
from tests.training.test_train import rows

Say = Callable[..., Said]
PARAMS = {"num_threads": 1, "min_data_in_leaf": 5, "bagging_fraction": 0.7, "bagging_freq": 1}
CONFIG: dict[str, Any] = {
    "data": {"folds": "LETOR/Fold*"},
    "model": {"library": "lightgbm", "rounds": 3, "params": PARAMS},
    "evaluation": {"measures": ["nDCG@5", "AP"]},
    "output": "out",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, size in ((1, 10), (2, 6), (10, 8)):
        fold = tmp_path / "LETOR" / f"Fold{number}"
        fold.mkdir(parents=True)
        (fold / "train.txt").write_text(rows(20, number, f"a{number}-"))
        (fold / "vali.txt").write_text(rows(6, 20 + number, f"v{number}-"))
        (fold / "test.txt").write_text(rows(size, 40 + number, f"t{number}-"))
    return tmp_path


def write(folder: Path, **keys: Any) -> str:
    (folder / "ranker.json").write_text(json.dumps({**CONFIG, **keys}))
    return "ranker.json"


def test_the_pooled_numbers_are_those_of_all_test_sets_together(folder: Path, say: Say) -> None:
    said = say("train", write(folder, seeds=[1, 2, 3]), "--format", "json", cwd=folder)
    assert said.code == 0, said.err
    pooled = json.loads(said.out)["pooled"]

    # one file of judgments, made by hand of the three test sets
    together = folder / "together.txt"
    tests = [folder / "LETOR" / f"Fold{number}" / "test.txt" for number in (1, 2, 10)]
    together.write_text("".join(path.read_text() for path in tests))
    for measure in ("nDCG@5", "AP"):
        by_seed = []
        for seed in (1, 2, 3):
            run = folder / "out" / f"pooled-seed-{seed}.run"
            evaluation = ir.evaluate(str(together), str(run), measure, DEFAULT_CONVENTION)
            by_seed.append(evaluation[measure])
        values = np.array(by_seed)
        numbers = pooled["measures"][measure]
        of_queries = values.mean(axis=0)
        half = t.ppf(0.975, 23) * of_queries.std(ddof=1) / np.sqrt(24)

        assert numbers["queries"] == 24
        assert numbers["mean"] == pytest.approx(values.mean(), abs=1e-12)
        assert numbers["low"] == pytest.approx(values.mean() - half, abs=1e-12)
        assert numbers["high"] == pytest.approx(values.mean() + half, abs=1e-12)
        assert numbers["seed_means"] == pytest.approx(values.mean(axis=1), abs=1e-12)
        assert numbers["seed_sd"] == pytest.approx(values.mean(axis=1).std(ddof=1), abs=1e-12)
        assert numbers["seed_sd"] > 0
    assert (pooled["folds"], pooled["seeds"]) == (["Fold1", "Fold2", "Fold10"], [1, 2, 3])
    written = json.loads((folder / "out" / "pooled.json").read_text())
    assert written["measures"] == pooled["measures"]
    with (folder / "out" / "pooled-per-query.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 3 * 24
    of_first = [float(line["AP"]) for line in lines if line["seed"] == "1"]
    assert np.mean(of_first) == pytest.approx(pooled["measures"]["AP"]["seed_means"][0], abs=1e-12)


def test_a_fold_is_what_its_own_configuration_trains(folder: Path, say: Say) -> None:
    assert say("train", write(folder), cwd=folder).code == 0
    files = {
        part: f"LETOR/Fold2/{file}.txt"
        for part, file in (("train", "train"), ("valid", "vali"), ("test", "test"))
    }
    assert say("train", write(folder, data=files, output="alone"), cwd=folder).code == 0

    for name in ("test.run", "evaluation.json", "per-query.csv"):
        fold, alone = (folder / place / name for place in ("out/Fold2", "alone"))
        assert fold.read_text() == alone.read_text()
    again = say("train", "out/Fold2/config.json", "-o", "again", cwd=folder)
    assert again.code == 0
    assert (folder / "again" / "test.run").read_text() == (folder / "alone/test.run").read_text()
    assert not (folder / "alone" / "pooled.json").exists()


def test_the_table_has_the_pooled_result_first(folder: Path, say: Say) -> None:
    said = say("train", write(folder, seeds=[1, 2]), cwd=folder)

    head = next(line for line in said.out.splitlines() if line.startswith("measure"))
    assert head.split("  ")[-1] == "random order"
    assert "sd of seeds" in head
    assert "Pooled: all queries of the test sets of 3 folds" in said.out
    assert "out/Fold1/seed-1 to out/Fold10/seed-2, each: model.txt" in " ".join(said.out.split())
    assert max(map(len, said.out.splitlines())) <= 100


def test_several_seeds_of_one_test_set_are_pooled_too(folder: Path, say: Say) -> None:
    data = {"train": "LETOR/Fold1/train.txt", "test": "LETOR/Fold1/test.txt"}
    said = say("train", write(folder, data=data, seeds=[4, 5]), "--format", "json", cwd=folder)

    numbers = json.loads(said.out)["pooled"]["measures"]["AP"]
    means = [
        json.loads((folder / "out" / f"seed-{seed}" / "evaluation.json").read_text())["measures"][
            "AP"
        ]["mean"]
        for seed in (4, 5)
    ]
    assert numbers["seed_means"] == pytest.approx(means, abs=1e-12)
    assert numbers["seed_sd"] == pytest.approx(abs(means[0] - means[1]) / np.sqrt(2), abs=1e-12)
    assert not (folder / "out" / "config.json").exists()


def test_check_reads_every_fold_and_trains_none(folder: Path, say: Say) -> None:
    said = say("train", write(folder), "--check", cwd=folder)

    assert said.code == 0
    sizes = [line for line in said.out.splitlines() if line.startswith("Fold")]
    assert [line.partition(":")[0] for line in sizes] == ["Fold1", "Fold2", "Fold10"]
    assert "Fold2: train 20 queries" in said.out
    assert not (folder / "out").exists()


def test_a_query_in_two_test_sets_is_refused(folder: Path, say: Say) -> None:
    test = folder / "LETOR" / "Fold2" / "test.txt"
    test.write_text(test.read_text() + "1 qid:t1-0 1:0.5 2:0 3:1\n0 qid:t1-0 1:0.1 2:0 3:1\n")

    said = say("train", write(folder), "--check", cwd=folder)

    assert said.code == 2
    assert "data.folds: found query t1-0 in the test sets of Fold1 and of Fold2" in said.err


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"folds": "MSLR/Fold*"}, "data.folds: found no folder MSLR/Fold*, expected the folders"),
        ({"folds": ["LETOR/Fold1"]}, "data.folds: found one folder, LETOR/Fold1, expected two"),
        (
            {"folds": "LETOR/Fold*", "valid": "valid.txt"},
            "data.folds: found no file LETOR/Fold1/valid.txt; name the files",
        ),
        (
            {"folds": ["LETOR/Fold1", "LETOR/../LETOR/Fold1"]},
            "data.folds: found two folders Fold1, expected a name for each fold",
        ),
        (
            {"folds": "LETOR/Fold*", "test_share": 0.2},
            "data.test_share: found 0.2, expected nothing beside `folds`",
        ),
        ({}, "data.train: found nothing, expected the file to train on"),
        ({"test": "test.txt"}, "data.train: found nothing, expected the file to train on"),
    ],
)
def test_mistakes_name_the_key(data: Any, message: str, folder: Path, say: Say) -> None:
    said = say("train", write(folder, data=data), cwd=folder)

    assert said.code == 2
    assert message in said.err
    assert not (folder / "out").exists()


def test_names_of_files_and_a_split_off_part_hold_for_every_fold(folder: Path) -> None:
    config = TrainingConfig.of(
        {"data": {"folds": str(folder / "LETOR" / "Fold*"), "valid_share": 0.2}}
    )

    folds = folds_of(config)

    assert [*folds] == ["Fold1", "Fold2", "Fold10"]
    first = folds["Fold1"]
    assert first.data.valid is None
    assert first.data.train == str(folder / "LETOR" / "Fold1" / "train.txt")
    assert first.output == str(Path("training") / "Fold1")
    assert TrainingConfig.of(config.to_dict()) == config


@pytest.mark.parametrize(
    ("data", "fits"),
    [
        ({"train": "a.txt"}, True),
        ({"folds": "MSLR/Fold*"}, True),
        ({"folds": ["A", "B"], "train": "train.parquet"}, True),
        ({"valid": "a.txt"}, False),
        ({"train": None}, False),
        ({}, False),
    ],
)
def test_the_schema_needs_training_data_or_folds(data: Any, *, fits: bool) -> None:
    assert Draft202012Validator(TrainingConfig.schema()).is_valid({"data": data}) == fits
