"""States of alarms: open by n of m, close after calm, and never by silence."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import stdtrit

from idealrank.live.alerts.alarm_rules import (
    AlarmRule,
    BaselineRule,
    CoverageRule,
    CusumRule,
    ErrorRule,
    EwmaRule,
    LabelAgeRule,
    LatencyRule,
    SequentialRule,
    ThresholdRule,
)
from idealrank.live.alerts.alarm_states import AlarmPlan, advance
from idealrank.live.alerts.seen_rounds import Baseline, SamplingError, SeenRound

QUERIES = [f"q{place:03}" for place in range(200)]
DOWN = SeenRound(outcome="failed", failed=1.0)
QUALITY: list[AlarmRule] = [
    ThresholdRule(name="rule", least=0.55),
    BaselineRule(name="rule"),
    SequentialRule(name="rule"),
    CusumRule(name="rule"),
    EwmaRule(name="rule"),
]


def _open(state: Any) -> list[str]:
    return [
        one["open"]
        for rule in state["rules"].values()
        for one in rule["groups"].values()
        if one["open"]
    ]


def _round(mean: float, seed: int = 0, spread: float = 0.02, **more: Any) -> SeenRound:
    noise = np.random.default_rng(seed).normal(0, spread, len(QUERIES))
    noise -= noise.mean()
    return SeenRound(
        outcome="complete", values=dict(zip(QUERIES, (mean + noise).tolist(), strict=True)), **more
    )


def _told(
    plan: AlarmPlan, rounds: Sequence[SeenRound], state: Mapping[str, Any] | None = None
) -> tuple[list[tuple[int, str]], Any]:
    """Number and event of each change, and the last state."""
    events: list[tuple[int, str]] = []
    held = dict(state or {})
    for number, seen in enumerate(rounds, start=1):
        step = advance(plan, held, number, seen, {})
        held = dict(step.state)
        events += [(number, change.event) for change in step.changes]
    return events, held


def _plan(*rules: AlarmRule, **more: Any) -> AlarmPlan:
    return AlarmPlan(monitor="shop", rules=rules, baseline_rounds=5, **more)


USUAL = [_round(0.6, seed) for seed in range(5)]


def test_an_alarm_opens_if_n_of_m_rounds_signal() -> None:
    plan = _plan(ThresholdRule(name="floor", least=0.5, signals=(2, 3)))
    low, high = _round(0.4), _round(0.6)
    assert _told(plan, [low, high, high, low])[0] == []
    assert _told(plan, [low, high, low])[0] == [(3, "opened")]


def test_an_alarm_closes_after_calm_rounds_in_a_row_and_not_within_the_margin() -> None:
    plan = _plan(ThresholdRule(name="floor", least=0.5, signals=(1, 1), recover=2, margin=0.02))
    low, near, high = _round(0.4), _round(0.51), _round(0.6)
    events, state = _told(plan, [low, high, near, high, near, near, near])
    assert events == [(1, "opened")]
    assert _told(plan, [high, high], state)[0] == [(2, "recovered")]


@pytest.mark.parametrize("rule", QUALITY, ids=lambda rule: rule.kind)
def test_a_drop_opens_one_alarm_and_its_end_closes_it(rule: AlarmRule) -> None:
    drops, back = (
        [_round(0.5, 50 + seed) for seed in range(20)],
        [_round(0.6, 90 + seed) for seed in range(40)],
    )
    events, state = _told(_plan(rule), [*USUAL, *drops, *back])
    assert [event for _, event in events] == ["opened", "recovered"]
    assert events[0][0] <= 8
    assert events[1][0] > 25
    assert _open(state) == []


@pytest.mark.parametrize("rule", QUALITY, ids=lambda rule: rule.kind)
@pytest.mark.parametrize(
    "silent", [DOWN, replace(DOWN, outcome="incomplete", failed=0.5)], ids=["down", "half down"]
)
def test_an_engine_that_is_down_never_looks_recovered(rule: AlarmRule, silent: SeenRound) -> None:
    drops = [_round(0.5, 50 + seed) for seed in range(10)]
    opened, state = _told(_plan(rule), [*USUAL, *drops])
    assert [event for _, event in opened] == ["opened"]
    events, after = _told(_plan(rule), [silent] * 60, state)
    assert events == []
    assert _open(after) == _open(state) != []


@pytest.mark.parametrize("rule", QUALITY, ids=lambda rule: rule.kind)
def test_failed_rounds_between_change_nothing(rule: AlarmRule) -> None:
    rounds = [
        *USUAL,
        *(_round(0.57, 50 + seed) for seed in range(12)),
        *(_round(0.6, 90 + seed) for seed in range(40)),
    ]
    with_failures = [one for seen in rounds for one in (DOWN, seen)]
    alone, mixed = _told(_plan(rule), rounds)[0], _told(_plan(rule), with_failures)[0]
    assert mixed == [(2 * number, event) for number, event in alone]


@pytest.mark.parametrize("rule", QUALITY, ids=lambda rule: rule.kind)
def test_without_a_change_no_alarm_opens(rule: AlarmRule) -> None:
    assert _told(_plan(rule), [_round(0.6, seed) for seed in range(150)])[0] == []


@pytest.mark.parametrize("rule", QUALITY[1:], ids=lambda rule: rule.kind)
def test_values_that_differ_in_the_last_bit_are_no_drop(rule: AlarmRule) -> None:
    same = [_round(0.6)] * 200
    assert _told(_plan(rule), same)[0] == []


@pytest.mark.parametrize("rule", QUALITY[1:], ids=lambda rule: rule.kind)
def test_a_baseline_that_is_being_learned_raises_no_alarm(rule: AlarmRule) -> None:
    plan = replace(_plan(rule), baseline_rounds=50)
    events, state = _told(plan, [_round(0.6), *[_round(0.2)] * 40])
    assert (events, len(state["learned"])) == ([], 41)


def test_a_drop_is_found_against_a_stored_evaluation_before_the_noise_is_known() -> None:
    given = Baseline(values=dict.fromkeys(QUERIES, 0.6))
    plan = replace(
        _plan(BaselineRule(name="drop"), CusumRule(name="drift"), given=given), baseline_rounds=10
    )
    events, _ = _told(plan, [_round(0.5, seed) for seed in range(9)])
    assert events == [(2, "opened")]


def test_a_drop_of_one_slice_opens_the_alarm_of_that_slice_only() -> None:
    groups = {query: ("long",) if place < 40 else ("short",) for place, query in enumerate(QUERIES)}
    rules = [
        BaselineRule(name="b", slices=True),
        SequentialRule(name="s", slices=True),
        CusumRule(name="c", slices=True),
    ]
    usual = [replace(one, groups=groups) for one in USUAL]
    fell = {
        query: value - (0.05 if groups[query] == ("long",) else -0.0125)
        for query, value in usual[0].values.items()
    }
    rounds = [*usual, *[replace(usual[0], values=fell)] * 10]
    state = _told(_plan(*rules, groups=groups), rounds)[1]
    opened = {tuple(key.split("/")[1:3]) for key in _open(state)}
    assert opened == {("b", "long"), ("s", "long"), ("c", "long")}


def test_other_judgments_supersede_open_alarms_against_the_baseline_and_keep_those_of_errors() -> (
    None
):
    rules = [CusumRule(name="drift"), ErrorRule(name="errors", signals=(1, 1))]
    events, state = _told(_plan(*rules), [*USUAL, *[_round(0.4)] * 3, DOWN])
    assert [event for _, event in events] == ["opened", "opened"]
    step = advance(replace(_plan(*rules), epoch="other"), state, 10, DOWN, {})
    assert [(change.event, change.rule) for change in step.changes] == [("superseded", "drift")]
    assert _open(step.state) == ["shop/errors//9"]


def test_a_new_baseline_supersedes_too_and_is_learned_from_the_next_rounds() -> None:
    plan = _plan(CusumRule(name="drift"))
    _, state = _told(plan, [*USUAL, *[_round(0.4)] * 3])
    step = advance(plan, state, 9, _round(0.4), {}, rebaseline=True)
    assert [change.event for change in step.changes] == ["superseded"]
    assert _told(plan, [_round(0.4, seed) for seed in range(30)], step.state)[0] == []


def test_a_rule_that_changed_or_is_gone_starts_anew_without_a_recovery() -> None:
    _, state = _told(_plan(ThresholdRule(name="floor", least=0.5, signals=(1, 1))), [_round(0.4)])
    other = advance(
        _plan(ThresholdRule(name="floor", least=0.3, signals=(1, 1))), state, 2, _round(0.4), {}
    )
    gone = advance(_plan(), state, 2, _round(0.4), {})
    assert [[change.event for change in step.changes] for step in (other, gone)] == [
        ["superseded"],
        ["superseded"],
    ]


def test_a_model_that_people_correct_is_watched_by_the_corrected_estimate() -> None:
    """The model sees no drop; the people, on a fifth of the queries, do."""
    asked = QUERIES[::5]
    usual = [replace(one, people={query: one.values[query] for query in asked}) for one in USUAL]
    worse = [
        replace(one, people={query: one.values[query] - 0.2 for query in asked}) for one in usual
    ]
    assert usual[0].mean() == pytest.approx(0.6, abs=0.01)
    assert (worse[0].mean() or 0) < 0.5
    plain, corrected = _plan(BaselineRule(name="drop")), [*usual, *worse, *worse]
    assert [event for _, event in _told(plain, corrected)[0]] == ["opened"]
    assert _told(plain, [replace(one, people={}) for one in corrected])[0] == []


@pytest.mark.parametrize(
    ("rule", "bad", "good"),
    [
        (CoverageRule(name="rule", least=0.8), {"coverage": 0.6}, {"coverage": 0.9}),
        (LabelAgeRule(name="rule", most_days=90.0), {"label_days": 91.0}, {"label_days": 1.0}),
        (
            LatencyRule(name="rule", most_ms=100.0),
            {"latency": {"p95": 150.0}},
            {"latency": {"p95": 50.0}},
        ),
        (ErrorRule(name="rule", most=0.05), {"failed": 0.1}, {"failed": 0.0}),
    ],
    ids=lambda given: getattr(given, "kind", ""),
)
def test_coverage_age_latency_and_errors_have_alarms_of_their_own(
    rule: AlarmRule, bad: dict[str, Any], good: dict[str, Any]
) -> None:
    events, _ = _told(_plan(rule), [_round(0.6, **one) for one in [good, *[bad] * 3, *[good] * 4]])
    assert [event for _, event in events] == ["opened", "recovered"]


def test_judgments_from_the_future_say_nothing_about_their_age() -> None:
    """A clock that jumps to the past does not close the alarm."""
    plan = _plan(LabelAgeRule(name="labels", most_days=90.0))
    assert _told(plan, [_round(0.6, label_days=days) for days in (100.0, -400.0, 101.0)])[0] == [
        (1, "opened")
    ]


def test_random_samples_of_queries_raise_no_alarm_where_each_query_changed_and_their_mean_did_not() -> (  # noqa: E501
    None
):
    rng = np.random.default_rng(2)
    changed = dict(
        zip(QUERIES, (0.6 + rng.permutation(np.repeat([-0.1, 0.1], 100))).tolist(), strict=True)
    )
    plan = _plan(SequentialRule(name="s"), CusumRule(name="c"))
    rounds = [
        SeenRound(
            outcome="complete",
            values={query: changed[query] for query in rng.choice(QUERIES, 50, replace=False)},
            sampled=0.25,
        )
        for _ in range(60)
    ]
    assert _told(plan, [*USUAL, *rounds])[0] == []


def test_a_sample_adds_its_error_to_the_noise_of_the_baseline() -> None:
    """20 of 80 queries, half of them 0.1 off: the standard error is 0.1 sqrt(20 / 19) sqrt((1 -
    1/4) / 20) with 19 degrees of freedom.
    """
    base = Baseline(values=dict.fromkeys(QUERIES[:80], 0.6))
    values = {query: 0.6 + 0.1 * (-1) ** place for place, query in enumerate(QUERIES[:20])}
    found = base.sampling_error(SeenRound(outcome="complete", values=values, sampled=0.25))
    assert found is not None
    assert (found.error, found.degrees) == (
        pytest.approx(0.1 * np.sqrt(20 / 19) * np.sqrt(0.75 / 20)),
        19,
    )
    assert base.sampling_error(SeenRound(outcome="complete", values=values)) == SamplingError(
        0.0, np.inf
    )


def test_the_error_of_a_slice_counts_its_own_share_in_the_sample() -> None:
    """All 8 queries of one slice are asked, and 12 of the 72 of the other, each half of them 0.1
    off.
    """
    groups = {query: ("few" if place < 8 else "many",) for place, query in enumerate(QUERIES[:80])}
    base = Baseline(values=dict.fromkeys(groups, 0.6))
    values = {query: 0.6 + 0.1 * (-1) ** place for place, query in enumerate(QUERIES[:20])}
    seen = SeenRound(outcome="complete", values=values, sampled=0.25, groups=groups)
    assert base.sampling_error(seen, "few") == SamplingError(0.0, 7)
    many = base.sampling_error(seen, "many")
    assert many is not None
    assert (many.error, many.degrees) == (
        pytest.approx(0.1 * np.sqrt(12 / 11) * np.sqrt((1 - 12 / 72) / 12)),
        11,
    )


def test_the_error_of_a_sample_with_grades_of_people_is_that_of_the_corrected_mean() -> None:
    usual = dict.fromkeys(QUERIES, 0.6)
    base = Baseline(values=usual, people=usual, noise={"": 0.01})
    values = {query: 0.6 + 0.1 * (-1) ** place for place, query in enumerate(QUERIES[:100])}
    people = {
        query: value - 0.05 * (place % 3)
        for place, (query, value) in enumerate(list(values.items())[:20])
    }
    seen = SeenRound(outcome="complete", values=values, people=people, sampled=0.5)
    found = base.sampling_error(seen)
    assert found is not None
    assert found.degrees == 19
    drop = base.drop(seen)
    assert drop is not None
    assert found.error * stdtrit(19, 0.975) == pytest.approx((drop[2] - drop[0]) * np.sqrt(0.5))
    few = replace(seen, people=dict(list(people.items())[:4]))
    assert CusumRule(name="drift").read(few, base, {})[""].signal is None


def test_fewer_than_five_queries_in_a_sample_say_nothing() -> None:
    base = Baseline(values=dict.fromkeys(QUERIES, 0.6), noise={"": 0.01})
    few = SeenRound(outcome="complete", values=dict.fromkeys(QUERIES[:4], 0.1), sampled=0.25)
    reading = CusumRule(name="drift").read(few, base, {})[""]
    assert (reading.signal, reading.text) == (None, "fewer than 5 queries in the sample")
