"""`idealrank train` on clicks: propensities and positions of rows, as columns of Parquet or as
files of their own.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
from pyarrow import Table, array, parquet, table

import idealrank as ir
from idealrank.clicks import click_rows, simulate
from idealrank.io.formats.feature_rows import read_feature_rows
from idealrank.training.lightgbm import objective
from tests.cli.terminal import Said

Say = Callable[..., Said]
PAIRS = {"measure": "pairs", "gain": "linear", "damped": False}
PARAMS = {"num_leaves": 7, "min_data_in_leaf": 20, "num_threads": 1}
CHANCES = 1 / np.arange(1, 9)


class Log:
    """A log whose old ranker follows a useless feature, and judged queries that it never saw."""

    def __init__(self) -> None:
        rng = np.random.default_rng(3)
        features = rng.normal(size=(60, 8, 3))
        grades = (features[..., 0] > 0.3).astype(int) + (features[..., 0] > 1)
        log = simulate(
            0.05 + 0.4 * grades,
            700,
            ranks=8,
            scores=2 * features[..., 2] + features[..., 0],
            temperature=0.5,
            rng=rng,
        )
        self.rows = click_rows(log, CHANCES)
        where = np.array(log.documents).astype(int)[self.rows.pair]
        self.X, self.y = features[where[:, 0], where[:, 1]], self.rows.labels
        self.qid = np.repeat(np.arange(self.rows.group.size), self.rows.group)
        self.new = rng.normal(size=(480, 3))
        self.judged = (self.new[:, 0] > 0.3).astype(int) + (self.new[:, 0] > 1)

    def save(self, folder: Path) -> None:
        names = ["first", "second", "third"]
        log = {
            "label": self.y,
            "qid": self.qid,
            "p": self.rows.propensity,
            "rank": self.rows.positions,
        }
        parquet.write_table(
            table(log | dict(zip(names, self.X.T, strict=True))), folder / "log.parquet"
        )
        judged = {
            "label": self.judged,
            "qid": np.repeat(np.arange(60) + 10_000, 8),
            "rank": np.tile(np.arange(8), 60),
        }
        parquet.write_table(
            table(judged | dict(zip(names, self.new.T, strict=True))), folder / "judged.parquet"
        )


LOG = Log()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    LOG.save(tmp_path)
    return tmp_path


def configured(folder: Path, data: dict[str, Any] | None = None, **changes: Any) -> str:
    config: dict[str, Any] = {
        "data": {
            "train": "log.parquet",
            "test": "judged.parquet",
            "features": ["first", "second", "third"],
        }
        | (data or {}),
        "model": {"rounds": 8, "params": PARAMS},
        "evaluation": {"measures": "nDCG@5"},
        "output": "out",
    }
    (folder / "clicks.json").write_text(json.dumps(config | changes), encoding="utf-8")
    return "clicks.json"


def scores(folder: Path) -> np.ndarray:
    return np.loadtxt(folder / "out/test.scores")


def trained(**options: Any) -> np.ndarray:
    params = PARAMS | {
        "objective": objective(**options),
        "verbose": -1,
        "metric": "None",
        "seed": 0,
    }
    model = lgb.train(params, lgb.Dataset(LOG.X, LOG.y, group=LOG.rows.group), 8)
    return np.asarray(model.predict(LOG.new))


def test_a_column_of_propensities_weighs_the_clicks(folder: Path, say: Say) -> None:
    said = say("train", configured(folder, {"propensity": "p"}, objective=PAIRS), cwd=folder)
    assert said.code == 0, said.err
    assert scores(folder).tolist() == trained(propensity=LOG.rows.propensity, **PAIRS).tolist()
    weighted = scores(folder)
    assert say("train", configured(folder, objective=PAIRS), cwd=folder).code == 0
    qid = np.repeat(np.arange(60), 8)
    values = [
        ir.evaluate(LOG.judged, one, "nDCG@5", qid=qid).mean()["nDCG@5"]
        for one in (scores(folder), weighted)
    ]
    assert values[1] > values[0]


def test_a_column_of_positions_estimates_the_bias(folder: Path, say: Say) -> None:
    own = PAIRS | {"bias": "clicked", "regularisation": 0.5}
    said = say("train", configured(folder, {"position": "rank"}, objective=own), cwd=folder)
    assert said.code == 0, said.err
    assert scores(folder).tolist() == trained(positions=LOG.rows.positions, **own).tolist()
    kept = json.loads((folder / "out/config.json").read_text())
    assert kept["objective"]["bias"] == "clicked"
    assert kept["data"]["position"] == "rank"


def test_positions_reach_the_lambdarank_of_lightgbm_itself(folder: Path, say: Say) -> None:
    said = say("train", configured(folder, {"position": "rank"}), cwd=folder)
    assert said.code == 0, said.err
    params = PARAMS | {"objective": "lambdarank", "verbose": -1, "metric": "None", "seed": 0}
    data = lgb.Dataset(LOG.X, LOG.y, group=LOG.rows.group, position=LOG.rows.positions)
    assert (
        scores(folder).tolist() == np.asarray(lgb.train(params, data, 8).predict(LOG.new)).tolist()
    )


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_a_file_beside_a_letor_file_has_one_number_a_line_in_any_order_of_queries(
    folder: Path, say: Say, library: str
) -> None:
    """Rows of one query are brought together, and their propensities with them."""
    order = np.random.default_rng(0).permutation(LOG.y.size)
    values = LOG.X.tolist()
    lines = [
        f"{LOG.y[row]:g} qid:{LOG.qid[row]} 0:{values[row][0]} 1:{values[row][1]} "
        f"2:{values[row][2]}"
        for row in order
    ]
    (folder / "log.svm").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "log.propensity").write_text(
        "\n".join(map(str, LOG.rows.propensity[order].tolist())) + "\n", encoding="utf-8"
    )
    model = {
        "library": library,
        "rounds": 3,
        "params": {"num_threads": 1} if library == "lightgbm" else {"nthread": 1},
    }
    (folder / "new.svm").write_text(
        "\n".join(
            f"{grade} qid:n{row // 8} 0:{one[0]} 1:{one[1]} 2:{one[2]}"
            for row, (grade, one) in enumerate(zip(LOG.judged, LOG.new.tolist(), strict=True))
        )
        + "\n",
        encoding="utf-8",
    )
    data = {"train": "log.svm", "propensity": "log.propensity", "test": "new.svm", "features": []}
    said = say("train", configured(folder, data, model=model, objective=PAIRS), cwd=folder)
    assert said.code == 0, said.err
    qid = np.repeat(np.arange(60), 8)
    assert ir.evaluate(LOG.judged, scores(folder), "nDCG@5", qid=qid).mean()["nDCG@5"] > 0.8
    rows = read_feature_rows(
        folder / "log.svm", beside={"propensity": str(folder / "log.propensity")}
    )
    shown = dict(zip(lines, LOG.rows.propensity[order], strict=True))
    assert all(
        shown[lines[place]] == chance
        for place, chance in zip(rows.places, rows.beside["propensity"], strict=True)
    )


@pytest.mark.parametrize(
    ("data", "changes", "message"),
    [
        (
            {"propensity": "p"},
            {},
            "data.propensity: found 'p', expected it with a section objective, as in "
            "`objective: {measure",
        ),
        (
            {"position": "rank"},
            {"model": {"library": "xgboost"}},
            "data.position: found 'rank', expected it with a section objective",
        ),
        (
            {"propensity": "p"},
            {"model": {"library": "catboost"}},
            "expected nothing, as CatBoost takes no objective of idealrank",
        ),
        (
            {"propensity": "p", "position": "rank"},
            {"objective": PAIRS},
            "data.propensity: found p, and position, too, expected one of",
        ),
        (
            {"propensity": "q"},
            {"objective": PAIRS},
            "log.parquet: found no column 'q', expected it by data.propensity",
        ),
        (
            {"features": ["first"], "propensity": "third"},
            {"objective": PAIRS},
            "data.propensity: found -",
        ),
        (
            {"position": "p"},
            {"objective": PAIRS},
            "data.position: found 0.5 at row 1 of log.parquet, expected a rank from 1, the top",
        ),
        (
            {},
            {"objective": {"bias": "clicked"}},
            "clicks.json: objective.bias: found 'clicked', expected it only with data.position",
        ),
        (
            {"position": "rank"},
            {"objective": PAIRS | {"bias": "no"}},
            "clicks.json: objective.bias: found 'no', expected one of both, clicked",
        ),
        (
            {"position": "rank"},
            {"objective": {"measure": "AP"}},
            "clicks.json: objective: measure='AP': expected nDCG or pairs",
        ),
        (
            {"features": ["first", "label"]},
            {},
            "clicks.json: data.features: found label, expected each column once",
        ),
        (
            {"features": ["first", "first"]},
            {},
            "clicks.json: data.features: found first, expected each column once",
        ),
        (
            {"features": ["p"], "propensity": "p"},
            {"objective": PAIRS},
            "data.features: found p, expected each column once",
        ),
        ({"label": "qid"}, {}, "clicks.json: data.label: found qid, expected each column once"),
        (
            {"train": "twice.parquet"},
            {},
            "twice.parquet: found two columns 'a', expected different names; rename or drop one",
        ),
        (
            {"train": "null.parquet", "features": []},
            {},
            "null.parquet, column 'qid': qid: found ids of several types",
        ),
        (
            {"train": "one.svm", "propensity": "one.txt"},
            {"objective": PAIRS},
            "one.txt: found 1 lines, expected one for each of 2 rows",
        ),
        (
            {"train": "one.svm", "propensity": "bad.txt"},
            {"objective": PAIRS},
            'bad.txt:2: found "half", expected one number a line',
        ),
        (
            {"train": "one.svm", "propensity": "none.txt"},
            {"objective": PAIRS},
            "none.txt: found no such file; did you mean 'one.txt'?",
        ),
    ],
)
def test_a_mistake_names_the_place(
    folder: Path, say: Say, data: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    for name, text in (
        ("one.svm", "1 qid:1 1:1\n0 qid:1 1:2\n"),
        ("one.txt", "1\n"),
        ("bad.txt", "1\nhalf\n"),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    number = array([1, 0])
    parquet.write_table(
        Table.from_arrays([number] * 4, names=["label", "qid", "a", "a"]), folder / "twice.parquet"
    )
    parquet.write_table(
        Table.from_arrays([number, array([None, "q"]), number], names=["label", "qid", "a"]),
        folder / "null.parquet",
    )
    said = say("train", configured(folder, data, **changes), cwd=folder)
    assert said.code == 2, said.err
    assert message in said.err


def test_columns_of_clicks_are_no_features(folder: Path) -> None:
    found = read_feature_rows(
        folder / "log.parquet", beside={"propensity": "p"}, no_features=["rank", "of another file"]
    )
    assert found.names == ("first", "second", "third")


def test_features_of_all_files_are_matched_by_name(folder: Path, say: Say) -> None:
    """Columns in another order once had the places of others, and a missing one was a column of
    zeros.
    """
    judged = parquet.read_table(folder / "judged.parquet")
    parquet.write_table(
        judged.select(["third", "label", "rank", "second", "first", "qid"]),
        folder / "judged.parquet",
    )
    assert (
        say(
            "train",
            configured(folder, {"propensity": "p", "features": []}, objective=PAIRS),
            cwd=folder,
        ).code
        == 0
    )
    values = ir.evaluate(
        LOG.judged, scores(folder), "nDCG@5", qid=np.repeat(np.arange(60), 8)
    ).mean()
    assert values["nDCG@5"] > 0.8
    parquet.write_table(judged.drop_columns(["second"]), folder / "judged.parquet")
    said = say(
        "train",
        configured(folder, {"propensity": "p", "features": []}, objective=PAIRS),
        cwd=folder,
    )
    assert said.code == 2
    assert (
        "judged.parquet: found no column 'second', expected it by data.features; name "
        "features that every file has" in said.err
    )
    (folder / "one.svm").write_text("1 qid:1 1:1\n0 qid:1 1:2\n", encoding="utf-8")
    said = say("train", configured(folder, {"test": "one.svm", "features": []}), cwd=folder)
    assert (
        "data.test: found one.svm beside log.parquet, expected both in Parquet, or both in text"
        in said.err
    )


def test_grades_beside_positions_have_a_caution(folder: Path, say: Say) -> None:
    data = {"train": "judged.parquet", "test": None, "position": "rank", "valid_share": 0.3}
    said = say("train", configured(folder, data, objective=PAIRS), "--check", cwd=folder)
    assert said.code == 2  # the first rank there is 0
    judged = parquet.read_table(folder / "judged.parquet").to_pydict()
    judged["rank"] = [rank + 1 for rank in judged["rank"]]
    parquet.write_table(table(judged), folder / "judged.parquet")
    said = say("train", configured(folder, data, objective=PAIRS), "--check", cwd=folder)
    assert said.code == 0, said.err
    text = " ".join(said.out.split())
    assert "data.position: found labels 0, 1, 2 in data.train, expected clicks, 0 or 1" in text
    assert (
        "data.valid_share: found clicks as labels, whose value favours the ranker of the log; "
        "set data.valid to judged rows" in text
    )
