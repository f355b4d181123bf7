"""A/B tests by user against tea-tasting, and clustered errors and sizes against statsmodels."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from idealrank.clicks import Effect, Sessions, ab_effect, cohort_effects, users_needed
from tests.parity_clicks.peer import asked

pytestmark = pytest.mark.peers


def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(8)
    side = rng.permutation(np.arange(400) % 2)
    user = np.repeat(np.arange(400), rng.integers(1, 6, 400))
    level = rng.gamma(2, 1, 400)
    before = level + rng.normal(0, 1, 400)
    return {
        "user": user,
        "variant": side[user],
        "clicks": rng.poisson(level[user] * (1 + 0.2 * side[user])),
        "side": side,
        "before": before,
        "value": level + 0.3 * side + rng.normal(0, 1, 400),
        "shown": lists_of(user, side),
    }


def lists_of(user: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Three of six documents for each list; B leans to the later ones, which are better."""
    rng = np.random.default_rng(9)
    return np.argsort(
        rng.normal(0, 2, (user.size, 6)) - np.arange(6) * side[user][:, None], axis=1
    )[:, :3]


GRADES = [0, 0, 1, 1, 2, 3]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return asked("cohorts", "cohorts_calls.py", tmp_path_factory.mktemp("cohorts"), **arrays())


def normal(found: Effect) -> tuple[float, float]:
    """The interval by the normal distribution, as the peers have it, after a look that ours is
    Student's of the smaller cohort.
    """
    wide = stats.t.ppf(0.975, min(found.n_a, found.n_b) - 1) * found.standard_error
    assert found.interval == pytest.approx(
        (found.difference - wide, found.difference + wide), rel=1e-9
    )
    narrow = stats.norm.ppf(0.975) * found.standard_error
    return found.difference - narrow, found.difference + narrow


def numbers(found: Effect) -> dict[str, float]:
    """Return our results in the form of the peers, which use the normal distribution instead of
    Student's.
    """
    low, high = normal(found)
    p = 2 * stats.norm.sf(abs(found.difference) / found.standard_error)
    return {
        "control": found.mean_a,
        "treatment": found.mean_b,
        "effect": found.difference,
        "low": low,
        "high": high,
        "p": p,
    }


def by_list() -> Effect:
    given = arrays()
    return ab_effect(
        given["clicks"], np.where(given["variant"] == 1, "B", "A"), users=given["user"]
    )


def test_ratios_by_user_are_the_same(said: Any) -> None:
    found = by_list()
    assert numbers(found) == pytest.approx(said["ratio"], rel=1e-9)
    assert found.split_p == pytest.approx(said["split_p"], abs=1e-9)


def test_means_with_and_without_a_covariate_are_the_same(said: Any) -> None:
    given = arrays()
    cohort = np.where(given["side"] == 1, "B", "A")
    assert numbers(ab_effect(given["value"], cohort)) == pytest.approx(said["plain"], rel=1e-9)
    found = ab_effect(given["value"], cohort, covariate=given["before"])
    # both take one slope for both cohorts: here over all users, there within cohorts
    assert (found.difference, *normal(found)) == pytest.approx(
        (said["cuped"]["effect"], said["cuped"]["low"], said["cuped"]["high"]), abs=0.01
    )


def test_ratios_by_user_with_a_covariate_are_the_same(said: Any) -> None:
    given = arrays()
    cohort = np.where(given["variant"] == 1, "B", "A")
    found = ab_effect(
        given["clicks"], cohort, users=given["user"], covariate=given["before"][given["user"]]
    )
    theirs = said["ratio_cuped"]
    assert found.variance_reduction > 0.2
    assert (found.difference, *normal(found)) == pytest.approx(
        (theirs["effect"], theirs["low"], theirs["high"]), rel=1e-6
    )


def test_errors_are_those_of_a_clustered_regression(said: Any) -> None:
    found = by_list()
    difference, error = said["clustered"]
    assert found.difference == pytest.approx(difference, rel=1e-9)
    # 200 users in each cohort
    assert found.standard_error == pytest.approx(error * math.sqrt(200 / 199), rel=1e-9)


def test_measures_of_a_log_by_user_are_the_same(said: Any) -> None:
    given = arrays()
    log = Sessions.from_arrays(
        ["q"] * given["user"].size,
        given["shown"],
        np.zeros(given["shown"].shape, int),
        user=given["user"],
    )
    qrels = {"q": {str(document): grade for document, grade in enumerate(GRADES)}}
    found = cohort_effects(log, np.where(given["variant"] == 1, "B", "A"), qrels, "nDCG@3")
    assert numbers(found.effects["nDCG@3"]) == pytest.approx(said["ndcg"], rel=1e-9)


def test_sizes_are_those_of_the_power_of_a_normal_test(said: Any) -> None:
    found = users_needed(1.0, 0.1, looks="once")
    assert said["users"] - 1 <= found <= said["users"] + 5  # a few more, for Student's distribution
