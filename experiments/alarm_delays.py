"""False alarms in 1,000 rounds, and rounds until drops of 0.01, 0.02 and 0.05 are found, for each kind of alarm.

200 canary queries. In every round each value differs from its usual one by noise of its own (normal, standard deviation 0.1), so that the
mean has a standard deviation of 0.007. The baseline is learned from 30 rounds. A drop takes 0.25 from a random part of the queries: from
4 % of them for a drop of 0.01. Every alarm runs as in `idealrank monitor`, by `advance`. Run it as ``python experiments/alarm_delays.py``;
``--runs`` and ``--rounds`` make it shorter.
"""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from idealrank.live.alerts.alarm_rules import AlarmRule, BaselineRule, CusumRule, EwmaRule, SequentialRule, ThresholdRule
from idealrank.live.alerts.alarm_states import AlarmPlan, advance
from idealrank.live.alerts.seen_rounds import SeenRound

N_QUERIES, NOISE, LEARNED, LOSS = 200, 0.1, 30, 0.25
DROPS = (0.01, 0.02, 0.05)
QUERIES = [f"q{place:03}" for place in range(N_QUERIES)]
USUAL = np.linspace(0.3, 0.9, N_QUERIES)  # values without noise; their mean is 0.6

RULES: dict[str, AlarmRule] = {
    "fixed threshold at 0.59": ThresholdRule(name="rule", least=0.59, signals=(1, 1), recover=1),
    "fixed threshold at 0.59, 2 of 3": ThresholdRule(name="rule", least=0.59),
    "fixed threshold at 0.55": ThresholdRule(name="rule", least=0.55, signals=(1, 1), recover=1),
    "drop beyond its interval (99 %), 2 of 3": BaselineRule(name="rule"),
    "sequential test, tolerance 0": SequentialRule(name="rule", tolerance=0.0),
    "sequential test, tolerance 0.005": SequentialRule(name="rule", tolerance=0.005),
    "CUSUM": CusumRule(name="rule"),
    "EWMA": EwmaRule(name="rule"),
}


def rounds(rng: np.random.Generator, drop: float) -> Iterator[SeenRound]:
    """Make rounds without end, after a drop."""
    values = USUAL.copy()
    values[rng.choice(N_QUERIES, round(N_QUERIES * drop / LOSS), replace=False)] -= LOSS
    while True:
        noisy = values + rng.normal(0, NOISE, N_QUERIES).clip(-0.3, 0.3)
        yield SeenRound(outcome="complete", values=dict(zip(QUERIES, noisy.tolist(), strict=True)))


def opened(rule: AlarmRule, state: dict, seen: Iterator[SeenRound], most: int, *, first: bool) -> tuple[list[int], dict]:
    """Rounds in which an alarm opened, and the state after the last."""
    plan, found = AlarmPlan(monitor="m", rules=(rule,), baseline_rounds=LEARNED), []
    for number in range(1, most + 1):
        step = advance(plan, state, number, next(seen), {})
        state = dict(step.state)
        if any(change.event == "opened" for change in step.changes):
            found.append(number)
            if first:
                break
    return found, state


def measure(rule: AlarmRule, runs: int, length: int, seed: int = 1) -> tuple[float, list[Sequence[int]]]:
    """False alarms in 1,000 rounds, and the delays of each drop; a drop that is not found within 500 rounds counts 500."""
    false, delays = 0, [[] for _ in DROPS]
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        usual = rounds(rng, 0.0)
        _, state = opened(rule, {}, usual, LEARNED, first=False)
        false += len(opened(rule, state, usual, length, first=False)[0])
        for place, drop in enumerate(DROPS):
            # A new drop meets an engine whose alarm is not open.
            found, _ = opened(rule, _quiet(rule, state, usual), rounds(rng, drop), 500, first=True)
            delays[place].append(found[0] if found else 500)
    return 1000 * false / (runs * length), delays


def _quiet(rule: AlarmRule, state: dict, usual: Iterator[SeenRound]) -> dict:
    plan = AlarmPlan(monitor="m", rules=(rule,), baseline_rounds=LEARNED)
    for number in range(20):
        state = dict(advance(plan, state, number, next(usual), {}).state)
    while any(one["open"] for one in state["rules"]["rule"]["groups"].values()):
        state = dict(advance(plan, state, 0, next(usual), {}).state)
    return state


def rows(runs: int, length: int) -> Iterator[str]:
    """Make the lines of the table."""
    yield "| alarm | false alarms in 1,000 rounds | drop 0.01 | drop 0.02 | drop 0.05 |"
    yield "|---|---|---|---|---|"
    for name, rule in RULES.items():
        some = max(1, length // 10) if isinstance(rule, BaselineRule) else length  # it draws signs in each round
        rate, delays = measure(rule, runs, some)
        cells = [f"{_whole(np.median(one))} ({_whole(np.quantile(one, 0.9))})" for one in delays]
        yield f"| {name} | {rate:.2g} | {' | '.join(cells)} |"


def _whole(rounds: float) -> str:
    return "over 499" if rounds >= 500 else f"{rounds:.0f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=1000)
    asked = parser.parse_args()
    for line in rows(asked.runs, asked.rounds):
        print(line, flush=True)
