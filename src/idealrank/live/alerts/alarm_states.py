"""States of alarms, and how a round changes them: a pure function of the state before.

An alarm opens if n of the last m readings signal, and closes after some calm readings in a row. A
round without a value says nothing: it neither opens nor closes an alarm of quality, so that an
engine that is down never looks recovered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from idealrank.live.alerts.alarm_rules import AlarmRule, Reading
from idealrank.live.alerts.learned_baselines import Season, learn
from idealrank.live.alerts.seen_rounds import Baseline, SeenRound
from idealrank.live.monitoring import AlarmChange, Event, RoundStep

State = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class AlarmPlan:
    """Rules of a monitor, and the baseline that they use."""

    monitor: str  # Name of the monitor
    rules: Sequence[AlarmRule]  # Each with a name of its own
    # Changes when values before and after are not comparable: other judgments, queries, measure or
    # convention
    epoch: str = ""
    baseline_rounds: int = 30  # Rounds to learn the baseline and its noise from
    season: Season | None = None  # Cycle of the values that the baseline learns
    # Baseline of a stored evaluation; without values, they are learned
    given: Baseline = field(default_factory=Baseline)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # Slices of each query
    channels: Sequence[str] = ()  # Where changes are told


def advance(
    plan: AlarmPlan,
    state: Mapping[str, Any],
    number: int,
    seen: SeenRound,
    record: Mapping[str, Any],
    *,
    rebaseline: bool = False,
) -> RoundStep:
    """Return what a round makes of the state: the new state, alarms opened and closed, and the
    readings for the record of the round.
    """
    new_state = _restarted(plan, state, rebaseline=rebaseline)
    baseline = Baseline(**new_state["baseline"]) if new_state.get("baseline") else plan.given
    changes: list[AlarmChange] = []
    readings = {}
    states_by_rule = {}
    for rule in plan.rules:
        epoch = plan.epoch if rule.needs_baseline else ""
        states, ended = _states_of(rule, new_state["rules"], epoch, new_state["generation"])
        changes += ended

        memory: dict[str, dict[str, Any]] = {}
        for group, group_state in states.items():
            memory[group] = dict(group_state["memory"])
            if group_state["open"]:
                memory[group]["open"] = True
        for group, reading in rule.read(seen, baseline, memory).items():
            moved, change = _moved(
                monitor=plan.monitor,
                rule=rule,
                group=group,
                reading=reading,
                before=states.get(group, {}),
                number=number,
            )
            states[group] = moved
            if change:
                changes.append(change)
            readings[f"{rule.name}/{group}"] = _reading_record(reading, moved, recover=rule.recover)
        states_by_rule[rule.name] = {
            "signature": _signature(rule, plan.epoch, new_state["generation"]),
            "groups": states,
        }

    changes += _dropped(plan.rules, new_state["rules"])
    new_state["rules"] = states_by_rule
    _learn(plan, new_state, baseline, seen)
    learned = "known"
    if not new_state["baseline"]:
        learned = f"{len(new_state['learned'])} of {plan.baseline_rounds} rounds"
        if seen.outcome == "complete" and not seen.is_usable:
            learned += ", without this one"
    return RoundStep(
        state=new_state,
        record={**record, "readings": readings, "baseline": learned},
        changes=changes,
        channels=plan.channels,
    )


def _restarted(plan: AlarmPlan, state: Mapping[str, Any], *, rebaseline: bool) -> State:
    """Return the state, with a fresh baseline if values are no longer comparable."""
    generation = int(state.get("generation", 0))
    kept = state
    if rebaseline or state.get("epoch") != plan.epoch:
        kept = {"rules": state.get("rules", {})}
    return {
        "learned": [],
        "baseline": None,
        "rules": {},
        **kept,
        "epoch": plan.epoch,
        "generation": generation + 1 if rebaseline else generation,
    }


def _signature(rule: AlarmRule, epoch: str, generation: int) -> str:
    return f"{rule!r} {epoch} {generation}" if rule.needs_baseline else repr(rule)


def _states_of(
    rule: AlarmRule, states_by_rule: Mapping[str, Any], epoch: str, generation: int
) -> tuple[dict[str, Any], list[AlarmChange]]:
    """Return the states of a rule by group, and the alarms that it loses: a rule that changed
    starts anew, and its open alarms have lost their meaning.
    """
    before = states_by_rule.get(rule.name)
    if before is None:
        return {}, []
    if before["signature"] == _signature(rule, epoch, generation):
        return {group: dict(state) for group, state in before["groups"].items()}, []
    return {}, _superseded(rule.name, before)


def _superseded(name: str, before: Mapping[str, Any]) -> list[AlarmChange]:
    text = "the rule, the judgments or the baseline changed; the alarm starts anew"
    return [
        AlarmChange(
            id=state["open"],
            event="superseded",
            rule=name,
            slice=group,
            record={"text": text, "kind": "", "severity": "info"},
        )
        for group, state in before["groups"].items()
        if state["open"]
    ]


def _dropped(rules: Sequence[AlarmRule], states_by_rule: Mapping[str, Any]) -> list[AlarmChange]:
    """Open alarms of rules that the configuration no longer has."""
    names = {rule.name for rule in rules}
    changes = []
    for name, before in states_by_rule.items():
        if name not in names:
            changes += _superseded(name, before)
    return changes


def _moved(
    monitor: str,
    rule: AlarmRule,
    group: str,
    reading: Reading,
    before: Mapping[str, Any],
    number: int,
) -> tuple[dict[str, Any], AlarmChange | None]:
    """Return the state of one alarm after a reading, and the change if it opened or closed."""
    recent = list(before.get("recent", ()))
    calm = int(before.get("calm", 0))
    is_open = before.get("open")
    state: dict[str, Any] = {
        "recent": recent,
        "calm": calm,
        "open": is_open,
        "memory": dict(reading.memory),
    }
    if reading.signal is None:
        return state, None
    enough, among = rule.signals
    if not is_open:
        state["recent"] = [*recent, int(reading.signal)][-among:]
        if sum(state["recent"]) < enough:
            return state, None
        alarm = f"{monitor}/{rule.name}/{group}/{number}"
        return state | {"open": alarm, "calm": 0}, _change(alarm, "opened", rule, group, reading)
    state["calm"] = calm + 1 if reading.calm else 0
    if state["calm"] < rule.recover:
        return state, None
    closed: dict[str, Any] = {"recent": [], "calm": 0, "open": None, "memory": {}}
    return closed, _change(str(is_open), "recovered", rule, group, reading)


def _change(alarm: str, event: Event, rule: AlarmRule, group: str, reading: Reading) -> AlarmChange:
    record = {
        "text": reading.text,
        "kind": rule.kind,
        "severity": rule.severity,
        "value": reading.value,
        "limit": reading.limit,
    }
    return AlarmChange(id=alarm, event=event, rule=rule.name, slice=group, record=record)


def _reading_record(reading: Reading, state: Mapping[str, Any], *, recover: int) -> dict[str, Any]:
    """Record of a reading; of an open alarm with its calm rounds in a row, and how many close it,
    which rounds of earlier versions lack.
    """
    record = {
        "signal": reading.signal,
        "value": reading.value,
        "limit": reading.limit,
        "text": reading.text,
        "open": state["open"],
    }
    return record | ({"calm": state["calm"], "recover": recover} if state["open"] else {})


def _learn(plan: AlarmPlan, state: State, baseline: Baseline, seen: SeenRound) -> None:
    """Add a usable round to the rounds of the baseline, and learn it when there are enough."""
    if state["baseline"] or not seen.is_usable:
        return
    state["learned"] = [
        *state["learned"],
        {"values": dict(seen.values), "people": dict(seen.people), "time": seen.time},
    ]
    if len(state["learned"]) >= plan.baseline_rounds:
        state["baseline"] = asdict(learn(state["learned"], baseline, plan.groups, plan.season))
        state["learned"] = []
