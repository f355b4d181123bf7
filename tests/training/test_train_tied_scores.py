"""`idealrank train`: scores that are tied within queries have a caution, and messages name the row
of the file.
"""

import json
from collections.abc import Callable
from pathlib import Path

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


def test_the_row_of_a_label_is_that_of_the_file(folder: Path, say: Say) -> None:
    """Rows of a query are brought together, and a split takes some of them: the message has neither
    order.
    """
    lines = (folder / "train.svm").read_text().splitlines()
    first, second = lines[0].split()[1], lines[-1].split()[1]
    mixed = [line for pair in zip(lines[:4], lines[-4:], strict=True) for line in pair]
    assert first != second
    mixed[3] = "40" + mixed[3][1:]
    (folder / "train.svm").write_text("\n".join(mixed) + "\n", encoding="utf-8")
    said = say("train", configured(folder, data={"valid_share": 0, "test_share": 0}), cwd=folder)
    assert "data.train, labels: found 40 at row 3 of train.svm, expected at most 30" in said.err


def test_a_model_with_one_score_for_each_query_has_a_caution(folder: Path, say: Say) -> None:
    """Trees of so few rows in so large leaves have no split."""
    model = {"params": {"min_data_in_leaf": 10_000, "num_threads": 1}}
    said = say("train", configured(folder, model=model, seeds=[1, 2]), cwd=folder)
    assert said.code == 0, said.err
    text = " ".join(said.out.split())
    assert (
        "seed 2, data.test: found one score for all rows of 9 of 9 queries with several rows, "
        "so the file's order counts" in text
    )
    report = json.loads((folder / "out/seed-1/evaluation.json").read_text())
    assert [one.split(":")[0] for one in report["cautions"]] == [
        "data.train",
        "data.valid",
        "data.test",
    ]


def test_a_model_that_orders_the_rows_has_no_caution(folder: Path, say: Say) -> None:
    assert say("train", configured(folder), cwd=folder).code == 0
    assert json.loads((folder / "out/evaluation.json").read_text())["cautions"] == []


def test_features_of_the_query_alone_have_a_caution(folder: Path, say: Say) -> None:
    lines = [line.split()[:2] for line in (folder / "test.svm").read_text().splitlines()]
    queries = {qid: number for number, (_, qid) in enumerate(lines)}
    (folder / "test.svm").write_text(
        "\n".join(f"{label} {qid} 1:{queries[qid]}" for label, qid in lines) + "\n",
        encoding="utf-8",
    )
    said = say("train", "ranker.yaml", "--check", cwd=folder)
    assert (
        "data.test: found no feature that differs within a query, expected some; scores are tied"
        in " ".join(said.out.split())
    )
