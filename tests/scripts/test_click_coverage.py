"""Intervals of clicks hold the truth: a thousand simulated logs for each estimator, and the reason
where theory says they cannot.
"""

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "experiments" / "click_coverage.py"
sys.path.insert(0, str(SCRIPT.parent))
try:
    FOUND: dict[str, Any] = runpy.run_path(str(SCRIPT))
finally:
    sys.path.remove(str(SCRIPT.parent))
PAGE = SCRIPT.parents[1] / "docs" / "clicks" / "click-intervals.md"
FAST = ("snips", "dr, poor model", "slates, snrips", "DCG by exposures", "A/B by user")


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND["CASES"])
def test_intervals_hold_the_truth(name: str) -> None:
    expected = FOUND["CASES"][name][1]
    assert expected.low <= FOUND["covered"](name, 1000) <= expected.high


@pytest.mark.parametrize("name", FOUND["CASES"])
def test_an_interval_has_a_reason_or_a_place_where_it_breaks(name: str) -> None:
    expected = FOUND["CASES"][name][1]
    assert bool(expected.reason) == ((expected.low, expected.high) != (0.93, 0.97))
    assert bool(expected.reason) != bool(expected.breaks)


def test_the_page_has_a_row_for_each_interval_within_its_bounds() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
    ]
    found = {cells[0].strip(): cells for cells in rows if len(cells) == 4}
    cases = FOUND["CASES"]
    assert [name for name in found if name in cases] == list(cases)
    for name, (_, expected) in cases.items():
        assert (found[name][2], found[name][3].strip(" |")) == (expected.reason, expected.breaks)
        assert expected.low <= float(found[name][1].rstrip("%")) / 100 <= expected.high


@pytest.mark.parametrize("name", FAST)
def test_some_intervals_hold_the_truth_of_a_few_logs(name: str) -> None:
    assert FOUND["covered"](name, 40) >= 0.82  # 95 % less four errors of the count
