"""Intervals of clicks hold the truth: a thousand simulated logs for each estimator, and the reason where theory says they cannot."""

import runpy
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "experiments" / "click_coverage.py"
FOUND: dict[str, Any] = runpy.run_path(str(SCRIPT))
FAST = ("snips", "dr, poor model", "slates, snrips", "DCG by exposures", "A/B by user")


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND["CASES"])
def test_intervals_hold_the_truth(name: str) -> None:
    expected = FOUND["CASES"][name][1]
    assert expected.low <= FOUND["covered"](name, 1000) <= expected.high
    assert bool(expected.reason) == ((expected.low, expected.high) != (0.93, 0.97))


@pytest.mark.parametrize("name", FAST)
def test_some_intervals_hold_the_truth_of_a_few_logs(name: str) -> None:
    assert FOUND["covered"](name, 40) >= 0.82  # 95 % less four errors of the count
