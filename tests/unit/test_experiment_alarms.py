"""The simulation of alarms: its rounds are as it says, and its rates and delays are those that the guide states."""

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from tests.conftest import ROOT


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(ROOT / "experiments")
    yield import_module("alarm_delays")
    sys.modules.pop("alarm_delays", None)


def _stated() -> dict[str, list[str]]:
    """Cells of the guide's table, by alarm."""
    text = (ROOT / "docs" / "guides" / "monitor.md").read_text(encoding="utf-8")
    part = text[text.index("| alarm | false alarms in 1,000 rounds |") :]
    return {cells[0]: cells[1:] for cells in (re.findall(r"[^|]+", line) for line in part.split("\n\n")[0].splitlines()[2:])}


@pytest.mark.parametrize("drop", [0.0, 0.01, 0.05])
def test_simulated_rounds_have_the_drop_and_the_noise_that_the_guide_states(script: Any, drop: float) -> None:
    seen = script.rounds(np.random.default_rng(1), drop)
    means = [next(seen).mean() for _ in range(400)]
    assert abs(np.mean(means) - (0.6 - drop)) < 4 * 0.0071 / 20
    assert np.std(means, ddof=1) == pytest.approx(0.0071, rel=0.15)


def test_the_guide_has_each_alarm_of_the_simulation(script: Any) -> None:
    assert [name.strip() for name in _stated()] == list(script.RULES)


def test_a_short_simulation_prints_the_table(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "RULES", {"CUSUM": script.RULES["CUSUM"]})
    lines = list(script.rows(1, 10))
    assert lines[0] == "| alarm | false alarms in 1,000 rounds | drop 0.01 | drop 0.02 | drop 0.05 |"
    assert re.fullmatch(r"\| CUSUM \| \S+ \| \d+ \(\d+\) \| \d+ \(\d+\) \| \d+ \(\d+\) \|", lines[2])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fixed threshold at 0.59", "sequential test, tolerance 0", "CUSUM", "EWMA"])
def test_rates_and_delays_are_those_of_the_guide(script: Any, name: str) -> None:
    """15 baselines of 400 rounds: false alarms within three times the stated rate of 1, delays within a factor of two."""
    rate, delays = script.measure(script.RULES[name], 15, 400, seed=7)
    cells = next(cells for alarm, cells in _stated().items() if alarm.strip() == name)
    stated = float(cells[0])
    assert rate > 20 if stated > 20 else rate <= 3
    for one, cell in zip(delays, cells[1:], strict=True):
        median = float(cell.split("(")[0])
        assert median / 2 - 1 <= np.median(one) <= 2 * median + 1
