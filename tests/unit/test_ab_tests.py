"""A/B tests: against SciPy, sums by hand, and simulated users."""

import math

import numpy as np
import pytest
from scipy.stats import chisquare, ttest_ind

from idealrank.clicks import ab_effect, users_needed
from idealrank.errors import InputError


def users_of(rng: np.random.Generator, n: int, effect: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    side = np.where(rng.random(n) < 0.5, "A", "B")
    return rng.normal(size=n) + effect * (side == "B"), side


def test_a_difference_of_means_is_welchs() -> None:
    values, side = users_of(np.random.default_rng(1), 4000, 0.1)
    found = ab_effect(values, side)
    expected = ttest_ind(values[side == "B"], values[side == "A"], equal_var=False)
    assert found.difference / found.standard_error == pytest.approx(expected.statistic, rel=1e-10)
    assert found.split_p == pytest.approx(chisquare([found.n_a, found.n_b]).pvalue, rel=1e-10)


def test_rows_of_one_user_count_together() -> None:
    rng = np.random.default_rng(2)
    values, side = users_of(rng, 300)
    twice = ab_effect(np.repeat(values, 2), np.repeat(side, 2), users=np.repeat(np.arange(300), 2))
    assert twice.standard_error == pytest.approx(ab_effect(values, side).standard_error, rel=1e-12)


def test_a_ratio_has_the_error_of_the_delta_method_which_covers_the_truth() -> None:
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(400):
        n = 200
        lists = rng.integers(1, 20, n)
        clicks = rng.binomial(lists, np.clip(0.3 + 0.02 * (lists - 10), 0, 1))
        side = np.where(np.arange(n) % 2 == 0, "A", "B")
        found = ab_effect(clicks, side, denominator=lists)
        held += found.interval[0] <= 0 <= found.interval[1]
    assert 0.92 <= held / 400 <= 0.98


def test_a_covariate_takes_out_what_it_explains_and_moves_no_difference_of_its_own() -> None:
    rng = np.random.default_rng(4)
    values, side = users_of(rng, 3000, 0.2)
    before = 2 * rng.normal(size=3000)
    plain, adjusted = (ab_effect(values + before, side, covariate=one) for one in (None, before))
    assert adjusted.variance_reduction == pytest.approx(0.8, abs=0.02)
    assert adjusted.standard_error == pytest.approx(plain.standard_error * math.sqrt(0.2), rel=0.05)
    assert abs(adjusted.difference - 0.2) < 4 * adjusted.standard_error


def test_a_split_that_is_not_as_planned_has_no_verdict() -> None:
    values = np.random.default_rng(5).normal(size=2000)
    side = np.where(np.arange(2000) < 1100, "A", "B")
    assert ab_effect(values, side).verdict == "split is wrong"
    assert ab_effect(values, side, split=0.45).verdict != "split is wrong"


@pytest.mark.slow
def test_a_sequence_holds_at_all_looks_and_a_planned_interval_does_not() -> None:
    rng = np.random.default_rng(7)
    sequence = planned = 0
    for _ in range(60):
        values, side = users_of(rng, 3000)
        looks = [ab_effect(values[:size], side[:size], planned_users=1000) for size in range(200, 3001, 200)]
        sequence += any(not one.sequence[0] <= 0 <= one.sequence[1] for one in looks)
        planned += any(not one.interval[0] <= 0 <= one.interval[1] for one in looks)
    assert sequence <= 3
    assert planned > 7


def test_the_size_of_a_test_is_that_of_the_textbook() -> None:
    # 2 (z_0.975 + z_0.8)^2 sd^2 / d^2 users in each cohort
    assert users_needed(2.0, 0.1) == math.ceil(4 * (1.959963984540054 + 0.8416212335729143) ** 2 * 400)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"values": [1, 2], "cohort": ["A", "C"]}, "cohort: found 'C', expected 'A' or 'B'"),
        ({"values": [1, 2], "cohort": ["A", "B"]}, "cohort A: found 1 users, expected at least 2"),
        (
            {"values": [1, 2, 3, 4], "cohort": list("AABB"), "users": list("uvuw")},
            "users: found 'u' in both cohorts, expected each user in one",
        ),
        ({"values": [1, 2, 3], "cohort": ["A", "B"]}, "found 3 values, 2 cohorts"),
    ],
)
def test_rows_that_make_no_sense_are_refused(options: dict[str, list[object]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ab_effect(**options)  # type: ignore[arg-type]


def test_a_covariate_serves_users_with_several_rows() -> None:
    """Rows by user are as good as one row a user with its number of rows as denominator; and the interval covers the truth."""
    rng, misses, wider = np.random.default_rng(3), 0, 0
    for _ in range(100):
        before, side = rng.gamma(2, 1, 300), rng.integers(0, 2, 300)
        rows = np.repeat(np.arange(300), rng.integers(1, 5, 300))
        values = rng.poisson(before[rows]) + 0.3 * side[rows]
        cohort = np.array(["A", "B"])[side]
        found = ab_effect(values, cohort[rows], users=rows, covariate=before[rows])
        sums, sizes = np.bincount(rows, values), np.bincount(rows)
        once = ab_effect(sums, cohort, denominator=sizes, covariate=before)
        assert found.interval == pytest.approx(once.interval, rel=1e-12)
        plain = ab_effect(values, cohort[rows], users=rows)
        wider += plain.standard_error > found.standard_error
        misses += not found.interval[0] <= 0.3 <= found.interval[1]
    assert wider == 100
    assert misses <= 13  # of 100 intervals of 95 %: more has a probability of 0.1 %


def test_a_covariate_has_one_value_a_user() -> None:
    with pytest.raises(InputError, match="covariate, row 3: found 4, and 5 in another row of the same user"):
        ab_effect([1, 2, 3, 4, 5], list("AABBB"), users=list("uvwxx"), covariate=[1, 2, 3, 4, 5])
