"""False alarms in 1,000 rounds, and rounds until drops of 0.01, 0.03 and 0.1 are found, for each
kind of alarm.

200 canary queries, whose usual values have the mean 0.6. In every round each value differs from its
usual one by noise with a standard deviation of 0.1, so that the mean has one of 0.007. A drop takes
0.25 from a random part of the queries: from 4 % of them for a drop of 0.01. Every alarm runs as in
`idealrank monitor`, by `advance`.

The first table has noise that is independent over queries and rounds, and baselines of 10, 30 and
100 rounds, and of a stored evaluation with 30 rounds for the noise. The second table has the false
alarms for other kinds of noise:

* lasting: a query keeps its noise for 10 rounds on average;
* shared: all queries go up and down together, by autoregressive noise of 0.005 with a correlation
  of 0.8 from round to round;
* day: a sine of a day with an amplitude of 0.01 on independent noise, with a round every 15
  minutes;
* week: 0.01 less on two days of seven, on independent noise, with a round every day.

A setting with `sample` asks 100 queries at random in each round after the baseline.

Run it as ``python experiments/alarm_delays.py``; ``--runs`` and ``--rounds`` make it shorter.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from idealrank.live.alerts.alarm_rules import (
    AlarmRule,
    BaselineRule,
    CusumRule,
    EwmaRule,
    SequentialRule,
    ThresholdRule,
)
from idealrank.live.alerts.alarm_states import AlarmPlan, advance
from idealrank.live.alerts.learned_baselines import Season
from idealrank.live.alerts.seen_rounds import Baseline, SeenRound

N_QUERIES, NOISE, LOSS, LONGEST = 200, 0.1, 0.25, 200
DROPS = (0.01, 0.03, 0.1)
QUERIES = [f"q{place:03}" for place in range(N_QUERIES)]
USUAL = np.linspace(0.3, 0.9, N_QUERIES)  # values without noise; their mean is 0.6
DAY, WEEK, QUARTER = 86400.0, 604800.0, 900.0

RULES: dict[str, AlarmRule] = {
    "fixed threshold at 0.59, 2 of 3": ThresholdRule(name="rule", least=0.59),
    "fixed threshold at 0.55, 2 of 3": ThresholdRule(name="rule", least=0.55),
    "drop beyond its interval (99 %), 2 of 3": BaselineRule(name="rule"),
    "sequential test, tolerance 0": SequentialRule(name="rule", tolerance=0.0),
    "sequential test, tolerance 0.005": SequentialRule(name="rule", tolerance=0.005),
    "CUSUM": CusumRule(name="rule"),
    "EWMA": EwmaRule(name="rule"),
}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Noise of an engine, and the baseline that a monitor learns of it."""

    noise: str = "independent"
    learned: int = 30
    stored: bool = False
    season: Season | None = None
    every: float = QUARTER
    sample: int = N_QUERIES


LENGTHS = {
    "10": Setting(learned=10),
    "30": Setting(learned=30),
    "100": Setting(learned=100),
    "stored": Setting(stored=True),
}
NOISES = {
    "lasting": Setting(noise="lasting"),
    "lasting, 100 rounds": Setting(noise="lasting", learned=100),
    "shared": Setting(noise="shared"),
    "day, no season": Setting(noise="day"),
    "day, `season: 1d`": Setting(noise="day", learned=192, season=Season.of(DAY, every=QUARTER)),
    "week, `season: 7d`": Setting(
        noise="week", learned=28, season=Season.of(WEEK, every=DAY), every=DAY
    ),
    "`sample: 100`": Setting(sample=100),
    "300 rounds, `sample: 100`": Setting(learned=300, sample=100),
    "lasting, 100 rounds, `sample: 100`": Setting(noise="lasting", learned=100, sample=100),
}


def rounds(rng: np.random.Generator, setting: Setting) -> Iterator[SeenRound]:
    """Make rounds without end, from a random quarter of a Thursday on."""
    time = float(rng.integers(96)) * QUARTER
    kept, shared = rng.normal(0, NOISE, N_QUERIES), rng.normal(0, 0.005)
    while True:
        noise = rng.normal(0, NOISE, N_QUERIES)
        if setting.noise == "lasting":
            kept = np.where(rng.random(N_QUERIES) < 0.1, noise, kept)
            noise = kept
        elif setting.noise == "shared":
            shared = 0.8 * shared + rng.normal(0, 0.005 * 0.6)
            noise = 0.3 * noise + shared
        elif setting.noise == "day":
            noise = noise + 0.01 * math.sin(2 * math.pi * time / DAY)
        elif setting.noise == "week":
            noise = noise - 0.01 * (time // DAY % 7 >= 5)
        values = (USUAL + noise).clip(0, 1)
        yield SeenRound(
            outcome="complete", values=dict(zip(QUERIES, values.tolist(), strict=True)), time=time
        )
        time += setting.every


def sampled(rng: np.random.Generator, seen: Iterator[SeenRound], size: int) -> Iterator[SeenRound]:
    """Ask so many queries at random in each round."""
    for one in seen:
        chosen = {
            QUERIES[place]: one.values[QUERIES[place]]
            for place in rng.choice(N_QUERIES, size, replace=False)
        }
        yield replace(one, values=chosen, sampled=size / N_QUERIES)


def lowered(
    rng: np.random.Generator, seen: Iterator[SeenRound], drop: float
) -> Iterator[SeenRound]:
    """Take a drop from a random part of the queries of rounds."""
    losers = {
        QUERIES[place]
        for place in rng.choice(N_QUERIES, round(N_QUERIES * drop / LOSS), replace=False)
    }
    for one in seen:
        values = {query: value - LOSS * (query in losers) for query, value in one.values.items()}
        yield SeenRound(outcome="complete", values=values, time=one.time)


def opened(
    plan: AlarmPlan, state: dict, seen: Iterator[SeenRound], most: int, *, first: bool = False
) -> tuple[list[int], dict]:
    """Rounds in which an alarm opened, and the state after the last."""
    found = []
    for number in range(1, most + 1):
        step = advance(plan, state, number, next(seen), {})
        state = dict(step.state)
        if any(change.event == "opened" for change in step.changes):
            found.append(number)
            if first:
                break
    return found, state


def measure(
    rule: AlarmRule,
    setting: Setting,
    runs: int,
    length: int,
    *,
    drops: Sequence[float] = DROPS,
    seed: int = 1,
) -> tuple[float, list]:
    """False alarms in 1,000 rounds, and the delays of each drop; a drop that is not found within
    200 rounds counts 200.
    """
    false, delays = 0, [[] for _ in drops]
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        usual = rounds(rng, setting)
        given = Baseline(values=dict(next(usual).values)) if setting.stored else Baseline()
        plan = AlarmPlan(
            monitor="m",
            rules=(rule,),
            baseline_rounds=setting.learned,
            season=setting.season,
            given=given,
        )
        _, learned = opened(plan, {}, usual, setting.learned)
        if setting.sample < N_QUERIES:
            usual = sampled(rng, usual, setting.sample)
        false += len(opened(plan, learned, usual, length)[0])
        for place, drop in enumerate(drops):
            found, _ = opened(
                plan, _quiet(plan, learned, usual), lowered(rng, usual, drop), LONGEST, first=True
            )
            delays[place].append(found[0] if found else LONGEST)
    return 1000 * false / (runs * length), delays


def _quiet(plan: AlarmPlan, state: dict, usual: Iterator[SeenRound]) -> dict:
    """A state without an open alarm: a new drop meets an engine that is well."""
    for _ in range(1000):
        if not any(one["open"] for one in state["rules"]["rule"]["groups"].values()):
            break
        state = dict(advance(plan, state, 0, next(usual), {}).state)
    return state


def length_rows(runs: int, length: int) -> Iterator[str]:
    """Make the lines of the table by length of baseline."""
    yield "| alarm | baseline | false alarms in 1,000 rounds | drop 0.01 | drop 0.03 | drop 0.1 |"
    yield "|---|---|---|---|---|---|"
    for name, rule in RULES.items():
        for baseline, setting in LENGTHS.items():
            if isinstance(rule, ThresholdRule) and baseline != "30":
                continue  # it needs no baseline
            rate, delays = measure(rule, setting, runs, _fewer(rule, length))
            cells = [
                f"{_whole(np.median(one))} ({_whole(np.quantile(one, 0.9))})" for one in delays
            ]
            label = "none" if isinstance(rule, ThresholdRule) else baseline
            yield f"| {name} | {label} | {rate:.2g} | {' | '.join(cells)} |"


def noise_rows(runs: int, length: int) -> Iterator[str]:
    """Make the lines of the table by kind of noise."""
    yield f"| alarm | {' | '.join(NOISES)} |"
    yield f"|---|{'---|' * len(NOISES)}"
    for name, rule in RULES.items():
        rates = [
            measure(rule, setting, runs, _fewer(rule, length), drops=())[0]
            for setting in NOISES.values()
        ]
        yield f"| {name} | {' | '.join(f'{rate:.2g}' for rate in rates)} |"


def _fewer(rule: AlarmRule, length: int) -> int:
    # it draws signs in each round
    return max(1, length // 10) if isinstance(rule, BaselineRule) else length


def _whole(rounds: float) -> str:
    return f"over {LONGEST - 1}" if rounds >= LONGEST else f"{rounds:.0f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=500)
    asked = parser.parse_args()
    for line in chain(
        length_rows(asked.runs, asked.rounds), [""], noise_rows(asked.runs, asked.rounds)
    ):
        print(line, flush=True)
