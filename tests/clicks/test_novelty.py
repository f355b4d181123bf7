"""The effect of an A/B test over time: means and slopes written out, a bootstrap beside them, and
coverage by simulation.
"""

import math

import numpy as np
import pytest

from idealrank.clicks import ab_effect, novelty
from idealrank.errors import InputError


def rows(rng: np.random.Generator, users: int, fading: float) -> tuple[np.ndarray, ...]:
    """Users with a level of their own, who come on several days; the effect of B is 0.5, less so
    much a day.
    """
    side = np.where(rng.random(users) < 0.5, "B", "A")
    level = rng.normal(0, 1, users)
    user = np.repeat(np.arange(users), rng.integers(1, 5, users))
    day = rng.integers(1, 6, user.size)
    effect = np.where(side[user] == "B", 0.5 - fading * day, 0.0)
    return level[user] + effect + rng.normal(0, 0.5, user.size), side[user], day, user


def test_effects_and_errors_are_those_written_out() -> None:
    value, side, day, user = rows(np.random.default_rng(1), 300, 0.1)
    trend = novelty(value, side, day, users=user)
    days = np.arange(1, 6)
    effects = [
        value[(day == period) & (side == "B")].mean()
        - value[(day == period) & (side == "A")].mean()
        for period in days
    ]
    assert trend.effects == pytest.approx(effects, rel=1e-12)
    assert trend.slope == pytest.approx(np.polyfit(days, effects, 1)[0], rel=1e-10)
    one_day = day == 3
    alone = ab_effect(value[one_day], side[one_day], users=user[one_day])
    assert trend.standard_errors[2] == pytest.approx(alone.standard_error, rel=1e-12)


@pytest.mark.parametrize("repetitions", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_intervals_of_the_slope_hold_the_truth(repetitions: int) -> None:
    held = 0
    for repetition in range(repetitions):
        value, side, day, user = rows(np.random.default_rng(repetition), 300, 0.1)
        low, high = novelty(value, side, day, users=user).interval
        held += low <= -0.1 <= high
    reach = 0.02 * repetitions if repetitions >= 1000 else 4 * math.sqrt(0.95 * 0.05 * repetitions)
    assert abs(held - 0.95 * repetitions) <= reach


@pytest.mark.parametrize(
    ("fading", "verdict"), [(0.1, "fades"), (-0.1, "grows"), (0.0, "no trend found")]
)
def test_a_trend_has_a_verdict(fading: float, verdict: str) -> None:
    value, side, day, user = rows(np.random.default_rng(3), 4000, fading)
    assert novelty(value, side, day, users=user).verdict == verdict


def test_a_bootstrap_of_users_is_about_as_wide_as_the_delta_method() -> None:
    value, side, _, user = rows(np.random.default_rng(4), 1000, 0.0)
    effect = ab_effect(value, side, users=user, n_resamples=400, rng=2)
    assert effect.bootstrap is not None
    width = effect.interval[1] - effect.interval[0]
    assert effect.bootstrap[1] - effect.bootstrap[0] == pytest.approx(width, rel=0.12)
    assert ab_effect(value, side, users=user, n_resamples=400, rng=2).bootstrap == effect.bootstrap
    assert ab_effect(value, side, users=user).bootstrap is None


def test_periods_with_few_users_are_counted_and_too_few_are_refused() -> None:
    side = list("AABBAABBA")
    trend = novelty([1, 2, 3, 4, 1, 2, 3, 4, 9], side, [1] * 4 + [2] * 4 + [3])
    assert (trend.periods.tolist(), trend.n_left_out) == ([1, 2], 1)
    with pytest.raises(
        InputError, match="found 1 periods with two users in each cohort, expected at least 2"
    ):
        novelty([1, 2, 3, 4], list("AABB"), [1] * 4)
    with pytest.raises(
        InputError,
        match="found 1 periods with two users and a denominator above 0 in each cohort, expected",
    ):
        novelty(
            [1, 2, 3, 4] * 2,
            list("AABB") * 2,
            [1] * 4 + [2] * 4,
            denominator=[1] * 6 + [0] * 2,
        )
    with pytest.raises(
        InputError, match="period: found 3 values, expected one for each of the 4 rows"
    ):
        novelty([1, 2, 3, 4], list("AABB"), [1, 1, 2])
