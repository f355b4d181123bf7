"""Baselines: season, autocorrelation and the error of the baseline itself are learned, and alarms
reckon with them.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from idealrank.errors import OptionError
from idealrank.live.alerts.alarm_rules import (
    AlarmRule,
    BaselineRule,
    CusumRule,
    EwmaRule,
    SequentialRule,
)
from idealrank.live.alerts.alarm_states import AlarmPlan, advance
from idealrank.live.alerts.learned_baselines import Season, learn
from idealrank.live.alerts.seen_rounds import Baseline, SeenRound
from idealrank.live.canary.monitor_config import MonitorConfig

DAY, QUARTER = 86400.0, 900.0
QUERIES = [f"q{place:03}" for place in range(200)]
RULES: list[AlarmRule] = [
    BaselineRule(name="rule"),
    SequentialRule(name="rule", tolerance=0.0),
    CusumRule(name="rule"),
    EwmaRule(name="rule"),
]


def seen(mean: float, time: float = 0.0) -> SeenRound:
    return SeenRound(outcome="complete", values=dict.fromkeys(QUERIES, mean), time=time)


def as_learned(rounds: Sequence[SeenRound]) -> list[Mapping[str, Any]]:
    return [{"values": one.values, "people": {}, "time": one.time} for one in rounds]


def told(plan: AlarmPlan, rounds: Sequence[SeenRound]) -> list[tuple[int, str]]:
    """Number and event of each change."""
    events: list[tuple[int, str]] = []
    state: dict[str, Any] = {}
    for number, one in enumerate(rounds, start=1):
        step = advance(plan, state, number, one, {})
        state = dict(step.state)
        events += [(number, change.event) for change in step.changes]
    return events


def cycle(days: int, start: int = 0, noise: float = 0.0) -> list[SeenRound]:
    """Rounds every quarter of an hour, with a usual mean of each hour of the day; the noise of
    queries is independent.
    """
    by_hour = [0.6 + 0.02 * math.sin(2 * math.pi * hour / 24) for hour in range(24)]
    rng, rounds = np.random.default_rng(8), []
    for place in range(96 * start, 96 * (start + days)):
        values = by_hour[place // 4 % 24] + rng.normal(0, noise, len(QUERIES))
        rounds.append(
            SeenRound(
                outcome="complete",
                values=dict(zip(QUERIES, values.tolist(), strict=True)),
                time=place * QUARTER,
            )
        )
    return rounds


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_a_daily_cycle_is_an_alarm_without_a_season_and_none_with_one(rule: AlarmRule) -> None:
    season = Season.of(DAY, every=QUARTER)
    with_season = AlarmPlan(monitor="m", rules=(rule,), baseline_rounds=192, season=season)
    assert told(with_season, cycle(4, noise=0.05)) == []
    unknown = AlarmPlan(monitor="m", rules=(rule,), baseline_rounds=10)
    from_the_top = cycle(1, noise=0.05)[20:]
    assert told(unknown, from_the_top)[0][1] == "opened"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_a_drop_is_found_at_every_time_of_the_day(rule: AlarmRule) -> None:
    plan = AlarmPlan(
        monitor="m", rules=(rule,), baseline_rounds=192, season=Season.of(DAY, every=QUARTER)
    )
    for start in (0, 30, 60):
        later = cycle(1, start=2)
        fell = [
            seen(one.values["q000"] - 0.05, one.time)
            for one in cycle(1, start=3)[start : start + 10]
        ]
        events = told(plan, [*cycle(2), *later[:start], *fell])
        assert [event for _, event in events] == ["opened"]


def test_parts_of_the_season_without_a_round_lie_between_their_neighbours() -> None:
    rounds = [one for one in cycle(2) if int(one.time // 3600) % 24 != 6]
    found = learn(as_learned(rounds), Baseline(), {}, Season.of(DAY, every=QUARTER))
    whole = learn(as_learned(cycle(2)), Baseline(), {}, Season.of(DAY, every=QUARTER))
    assert found.offsets[""] == pytest.approx(whole.offsets[""], abs=0.002)
    assert sum(found.offsets[""]) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_the_correlation_and_the_noise_of_rounds_are_estimated(correlation: float) -> None:
    rng, level, rounds = np.random.default_rng(3), 0.0, []
    for _ in range(2000):
        level = correlation * level + rng.normal(0, 0.01 * math.sqrt(1 - correlation**2))
        rounds.append(seen(0.6 + level))
    found = learn(as_learned(rounds), Baseline(), {})
    assert found.autocorrelation[""] == pytest.approx(correlation, abs=0.06)
    assert found.noise[""] == pytest.approx(0.01, rel=0.15)
    expected = 200 * (1 + correlation) / (1 - correlation)  # all queries share their noise
    assert found.dependence[""] == pytest.approx(expected, rel=0.5)


def test_queries_with_noise_of_their_own_are_independent() -> None:
    rng = np.random.default_rng(4)
    rounds = [
        SeenRound(
            outcome="complete",
            values=dict(zip(QUERIES, rng.normal(0.6, 0.1, 200).tolist(), strict=True)),
        )
        for _ in range(300)
    ]
    found = learn(as_learned(rounds), Baseline(), {})
    assert 1 <= found.dependence[""] < 1.6


def test_an_engine_without_noise_has_no_correlation_and_no_error() -> None:
    found = learn(as_learned([seen(0.6)] * 10), Baseline(), {})
    assert (found.autocorrelation[""], found.noise[""], found.error(), found.dependence[""]) == (
        0.0,
        0.0,
        0.0,
        1.0,
    )


@pytest.mark.parametrize("rule", RULES[1:], ids=lambda rule: rule.kind)
def test_the_error_of_a_stored_evaluation_is_no_drop(rule: AlarmRule) -> None:
    """The stored round was better by one standard deviation of usual rounds, by chance."""
    rng = np.random.default_rng(5)
    usual = [seen(0.6 + one) for one in rng.normal(0, 0.01, 200)]
    plan = AlarmPlan(
        monitor="m",
        rules=(rule,),
        baseline_rounds=30,
        given=Baseline(values=dict.fromkeys(QUERIES, 0.61)),
    )
    assert told(plan, usual) == []
    fell = [seen(0.5 + one) for one in rng.normal(0, 0.01, 200)]
    assert told(plan, [*usual[:30], *fell])[0][1] == "opened"


def test_a_drop_that_lasts_is_not_taken_for_its_end_where_rounds_are_correlated() -> None:
    rng, level, means = np.random.default_rng(6), 0.0, []
    for _ in range(200):
        level = 0.8 * level + rng.normal(0, 0.003)
        means.append(0.6 + level)
    usual, fell = means[:100], [mean - 0.1 for mean in means[100:]]
    events = told(
        AlarmPlan(monitor="m", rules=(CusumRule(name="rule"),), baseline_rounds=100),
        list(map(seen, [*usual, *fell])),
    )
    assert events == [(101, "opened")]


def test_a_baseline_of_an_earlier_version_is_read() -> None:
    old = {
        "values": {"q": 0.6},
        "people": {},
        "noise": {"": 0.01},
        "rounds": 30,
        "noise_rounds": 30,
    }
    plan = AlarmPlan(monitor="m", rules=(CusumRule(name="rule"), SequentialRule(name="drop")))
    first = advance(plan, {}, 1, seen(0.6), {}).state
    step = advance(
        plan, {**first, "baseline": old}, 2, SeenRound(outcome="complete", values={"q": 0.2}), {}
    )
    assert [change.rule for change in step.changes] == ["rule"]


GIVEN = {
    "name": "shop",
    "store": "s",
    "backend": {"kind": "http"},
    "queries": "q.tsv",
    "qrels": "q.txt",
    "every": "15m",
}


@pytest.mark.parametrize(
    ("keys", "rounds", "season"),
    [
        ({}, 30, None),
        ({"baseline": {"season": "1d"}}, 192, 86400.0),
        ({"baseline": {"season": "1d", "rounds": 300}}, 300, 86400.0),
        ({"baseline": {"season": "none", "rounds": 300}}, 300, None),
        ({"baseline": {"rounds": 192}}, 192, 86400.0),
        ({"baseline": {"rounds": 1344}}, 1344, 604800.0),
        ({"every": "1d"}, 30, 604800.0),
        ({"every": "2d", "baseline": {"rounds": 3}}, 3, None),
    ],
)
def test_the_season_is_the_declared_one_or_one_that_the_baseline_covers_twice(
    keys: dict[str, Any], rounds: int, season: float | None
) -> None:
    config = MonitorConfig.of(GIVEN | keys)
    assert config.baseline.rounds == rounds
    assert (config.baseline.season and config.baseline.season.seconds) == season
    is_open = season is None and "season" not in keys.get("baseline", {})
    assert ("assumes no season" in config.season_note) == is_open


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        (
            {"season": "1d", "rounds": 100},
            "baseline.rounds: found 100, expected 192 or more, which cover two seasons of 1d",
        ),
        (
            {"season": "20m"},
            "baseline.season: found '20m', expected a season of at least two rounds",
        ),
        ({"season": "daily"}, "baseline.season: found 'daily', expected a time above 0"),
    ],
)
def test_a_season_that_the_baseline_cannot_learn_is_refused(
    baseline: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        MonitorConfig.of(GIVEN | {"baseline": baseline})
