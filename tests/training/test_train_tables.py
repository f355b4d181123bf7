"""The table of `idealrank train`: one convention for every library, and the numbers to read a mean
beside.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import idealrank as ir
from idealrank.training.configuration import DEFAULT_CONVENTION
from tests.cli.terminal import Said
from tests.training.test_train import rows

Say = Callable[..., Said]


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_tables_of_all_libraries_have_one_convention_and_say_what_empty_queries_count(
    tmp_path: Path, say: Say, library: str
) -> None:
    (tmp_path / "train.svm").write_text(rows(30, 1, "train"), encoding="utf-8")
    empty = "".join(
        f"0 qid:empty{query} 1:0.{query + 1} 2:0 3:0\n0 qid:empty{query} 1:0 2:0.5 3:0\n"
        for query in range(10)
    )
    (tmp_path / "test.svm").write_text(rows(20, 3, "test") + empty, encoding="utf-8")
    (tmp_path / "ranker.json").write_text(
        json.dumps(
            {
                "data": {"train": "train.svm", "test": "test.svm"},
                "model": {"library": library, "rounds": 3},
                "output": "out",
            }
        )
    )
    said = say("train", "ranker.json", cwd=tmp_path)
    assert said.code == 0, said.err
    found = json.loads((tmp_path / "out" / "evaluation.json").read_text())["measures"]["nDCG@10"]
    judged = str(tmp_path / "test.svm")
    trained = ir.evaluate(judged, str(tmp_path / "out" / "test.run"), "nDCG@10", DEFAULT_CONVENTION)
    assert found["mean"] == trained.mean()["nDCG@10"]
    assert (
        found["own"]["mean"]
        == ir.evaluate(judged, str(tmp_path / "out" / "test.run"), "nDCG@10", library).mean()[
            "nDCG@10"
        ]
    )
    labels, queries = zip(
        *(line.split()[:2] for line in (tmp_path / "test.svm").read_text().splitlines()),
        strict=True,
    )
    relevant = {
        query.removeprefix("qid:")
        for label, query in zip(labels, queries, strict=True)
        if label != "0"
    }
    n_without = len(set(queries)) - len(relevant)
    assert (found["no_relevant"], found["counted_as"]) == (n_without, 0.0)
    others = trained["nDCG@10"][np.array([query in relevant for query in trained.queries])]
    assert found["mean_of_others"] == pytest.approx(others.mean(), abs=1e-12)
    # A random order by 200 draws instead of the expected value of ties.
    grades, rng = np.array(labels, float), np.random.default_rng(1)
    drawn = [
        ir.evaluate(grades, rng.random(grades.size), "nDCG@10", qid=np.array(queries)).mean()[
            "nDCG@10"
        ]
        for _ in range(200)
    ]
    assert found["random_order"] == pytest.approx(
        np.mean(drawn), abs=4 * np.std(drawn) / np.sqrt(200)
    )
    words = " ".join(said.out.split())
    assert (
        f"{n_without} queries have no relevant document, so that every order is equally good."
        in words
    )
    assert "nDCG@10 counts each of them as 0;" in words
    assert f"without them its mean is {found['mean_of_others']:.4f}" in words
    assert f"random order under {library}" in words
