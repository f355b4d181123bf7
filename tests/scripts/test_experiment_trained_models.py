"""The tables of trained models: no feature of MovieLens knows a label of a query, and objectives
are compared query by query.
"""

import zipfile
from pathlib import Path

import numpy as np
import pytest

import idealrank as ir
from experiments import trained_models
from experiments.rankers import movielens

HEADER = "user_id:token\titem_id:token\trating:float\ttimestamp:float"


def films(path: Path, *, changed: int | None = None) -> trained_models.Collection:
    """Twelve users with fifteen films each; all ratings of one of them are turned around."""
    rng = np.random.default_rng(3)
    lines = [HEADER]
    for user in range(12):
        for time, item in enumerate(rng.permutation(20)[:15]):
            star = int(rng.integers(1, 6))
            lines.append(f"{user}\t{item}\t{6 - star if user == changed else star}\t{time}")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(movielens.MEMBER, "\n".join(lines) + "\n")
    return trained_models.films(path)


@pytest.mark.parametrize("user", [0, 4])
def test_the_label_of_a_query_changes_no_feature(tmp_path: Path, user: int) -> None:
    one, other = films(tmp_path / "one.whl"), films(tmp_path / "other.whl", changed=user)
    assert (one.labels != other.labels).any()
    np.testing.assert_array_equal(one.features, other.features)


def test_the_ratings_of_the_other_users_describe_the_films(tmp_path: Path) -> None:
    one, other = films(tmp_path / "one.whl"), films(tmp_path / "other.whl", changed=5)
    np.testing.assert_array_equal(one.labels, other.labels)
    assert (one.features != other.features).any()
    assert np.unique(one.qid).tolist() == [0, 2, 4, 6, 8, 10]


def test_every_query_is_scored_by_a_model_that_has_not_seen_it() -> None:
    qid = np.repeat(np.arange(23), 4)
    numbers = np.arange(qid.size, dtype=float)[:, None]
    collection = trained_models.Collection(
        name="numbers", features=numbers, labels=qid % 2.0, qid=qid
    )

    def fit(
        features: np.ndarray, labels: np.ndarray, sizes: np.ndarray, shape: trained_models.Shape
    ) -> trained_models.Score:
        assert sizes.sum() == len(features) == len(labels) < qid.size
        assert shape == trained_models.Shape()
        learned = set(qid[features[:, 0].astype(int)])

        def score(table: np.ndarray) -> np.ndarray:
            assert not learned & set(qid[table[:, 0].astype(int)])
            return -table[:, 0]

        return score

    np.testing.assert_array_equal(
        trained_models.held_out(collection, fit, trained_models.Shape()), -numbers[:, 0]
    )


def test_a_line_has_the_difference_from_the_own_objective_of_the_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = trained_models.log()
    few = made.qid < 60
    small = trained_models.Collection(
        name="small", features=made.features[few], labels=made.labels[few], qid=made.qid[few]
    )
    own, ours, *_ = list(trained_models.systems())
    monkeypatch.setattr(trained_models, "systems", lambda: iter([own, ours]))
    first, second = trained_models.rows(small, trained_models.Shape(rounds=3, threads=1))
    assert first[:2] == ["LightGBM", "lambdarank (own)"]
    assert second[1:3] == ["idealrank nDCG@30, same level", first[2]]
    assert second[4:] == ["+0.0000", "[+0.0000, +0.0000]"]
    scores = trained_models.held_out(small, own[2], trained_models.Shape(rounds=3, threads=1))
    assert (
        first[2]
        == f"{ir.evaluate(small.labels, scores, 'nDCG@10', 'lightgbm', qid=small.qid).mean()['nDCG@10']:.4f}"  # noqa: E501
    )


@pytest.mark.slow
def test_on_data_like_mq2008_ours_is_as_good_as_lambdarank_and_a_hessian_of_one_is_not() -> None:
    collection, shape = trained_models.log(), trained_models.Shape(rounds=50, threads=1)
    chosen = {
        objective: fit
        for library, objective, fit in trained_models.systems()
        if library == "LightGBM"
    }
    own, ours, flat = (
        ir.evaluate(
            collection.labels,
            trained_models.held_out(collection, chosen[name], shape),
            "nDCG@10",
            qid=collection.qid,
        )["nDCG@10"]
        for name in ("lambdarank (own)", "idealrank nDCG@30, same level", "nDCG@30, hessian 1")
    )
    equal, lost = ir.stats.difference_interval(own, ours), ir.stats.difference_interval(own, flat)
    assert equal.low <= 0 <= equal.high
    assert max(-equal.low, equal.high) < 0.01
    assert lost.high < -0.02
