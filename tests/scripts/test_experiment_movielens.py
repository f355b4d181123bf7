"""Real ratings as rankers for the figures: factorisation against its definition, and the file
against a small made-up wheel.
"""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from experiments.rankers import factors, movielens
from idealrank.theory.growth import read_rankers

HEADER = "user_id:token\titem_id:token\trating:float\ttimestamp:float"


def wheel_of(lines: list[str], path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(movielens.MEMBER, "\n".join(lines) + "\n")
    return path


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """Twenty users who rated about two thirds of thirty films: even films are liked by even users,
    odd ones by odd.
    """
    rng = np.random.default_rng(3)
    seen = [(user, item) for user in range(20) for item in range(30) if rng.random() < 0.7]
    stars = [5 - (user + item) % 2 * 3 - int(rng.random() < 0.3) for user, item in seen]
    lines = [
        f"{user + 7}\t{item + 100}\t{star}\t{rng.integers(900)}"
        for (user, item), star in zip(seen, stars, strict=True)
    ]
    return wheel_of([HEADER, *lines], tmp_path / "small.whl")


def test_the_vector_of_a_group_is_its_ridge_regression() -> None:
    rng = np.random.default_rng(1)
    group, table, target = rng.integers(0, 4, 60), rng.normal(size=(60, 3)), rng.normal(size=60)
    group[group == 2] = 3  # a group without rows

    found = factors.ridge(target, table, group, 5, penalty=0.7)

    for number in (0, 1, 3):
        chosen = group == number
        expected = Ridge(alpha=0.7, fit_intercept=False).fit(table[chosen], target[chosen]).coef_
        assert found[number] == pytest.approx(expected, abs=1e-12)
    assert not found[[2, 4]].any()


def test_damped_means_are_drawn_to_zero() -> None:
    assert factors.damped_mean(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 2]), 3, 3.0).tolist() == [
        0.6,
        0.0,
        0.75,
    ]


def test_ratings_are_read_by_user_and_in_the_order_of_time(tmp_path: Path) -> None:
    path = wheel_of(
        [HEADER, "9\t4\t5\t30", "2\t6\t1\t20", "9\t6\t3\t10", "9\t1\t4\t30"], tmp_path / "tiny.whl"
    )

    ratings = movielens.read(path)

    assert ratings.user.tolist() == [0, 1, 1, 1]
    assert ratings.item.tolist() == [2, 2, 1, 0]
    assert ratings.stars.tolist() == [1, 3, 5, 4]
    assert ratings.offsets.tolist() == [0, 1, 4]


def test_no_rating_is_scored_by_a_model_that_has_seen_it(wheel: Path) -> None:
    ratings = movielens.read(wheel)
    before = movielens.predicted(ratings, np.random.default_rng(0))

    ratings.stars[17] = 6 - ratings.stars[17]
    after = movielens.predicted(ratings, np.random.default_rng(0))

    for name in ("mean", "factors"):
        assert after[name][17] == before[name][17]
        assert (after[name] != before[name]).any()


def test_the_file_is_one_that_the_figures_are_drawn_from(
    wheel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    movielens.main([str(wheel), "--to", str(tmp_path / "made.npz"), "--least", "21"])

    ratings, found = movielens.read(wheel), read_rankers(tmp_path / "made.npz")
    kept = np.flatnonzero(np.diff(ratings.offsets) >= 21)
    assert 1 < found.n_queries == kept.size < 20
    assert list(found.scores) == ["mean rating", "matrix factorisation", "random"]
    for rank, user in enumerate(kept):
        stars = ratings.stars[ratings.user == user]
        assert found.rows(found.grades)[rank].tolist() == np.clip(stars - 3, 0, 2).tolist()
        for values in found.scores.values():
            assert sorted(found.rows(values)[rank]) == list(range(1, stars.size + 1))
    assert f"{kept.size} lists of" in capsys.readouterr().out
    assert (
        json.loads(str(np.load(io.BytesIO((tmp_path / "made.npz").read_bytes()))["about"]))[
            "setting"
        ]["least"]
        == 21
    )


def test_factors_find_what_a_mean_cannot(wheel: Path) -> None:
    ratings = movielens.read(wheel)

    found = movielens.predicted(ratings, np.random.default_rng(0))

    error = {name: np.mean((found[name] - ratings.stars) ** 2) for name in ("mean", "factors")}
    assert error["factors"] < 0.6 * error["mean"]


@pytest.mark.parametrize(
    ("lines", "least", "said"),
    [
        (["user\titem"], "2", "begins with"),
        ([HEADER, "1\t1\t5\t0", "1\t2\t4\t0"], "3", "no user has 3 ratings; the most is 2"),
    ],
)
def test_what_cannot_be_used_is_refused(
    lines: list[str], least: str, said: str, tmp_path: Path
) -> None:
    path = wheel_of(lines, tmp_path / "bad.whl")
    with pytest.raises(SystemExit, match=said):
        movielens.main([str(path), "--to", str(tmp_path / "none.npz"), "--least", least])
    assert not (tmp_path / "none.npz").exists()


def test_what_is_no_wheel_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "no.whl"
    path.write_text("no", encoding="utf-8")
    with pytest.raises(SystemExit, match="expected a wheel of recbole"):
        movielens.main([str(path)])
