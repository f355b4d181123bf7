"""The simulation of series of commits: its gate decides as the gate does, and its page has its rows and rates."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from idealrank.analysis.gate.checks import gate
from idealrank.analysis.gate.series import Series
from idealrank.analysis.gate.sides import Opposed
from tests.unit.test_comparison import evaluation

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "concepts" / "gate-series.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def simulation() -> Any:
    sys.path.insert(0, str(ROOT / "experiments"))
    try:
        import gate_series
    finally:
        sys.path.remove(str(ROOT / "experiments"))
    return gate_series


@pytest.mark.parametrize("seed", range(6))
def test_the_simulated_gate_decides_as_the_gate_does(simulation: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    anchor, last, run = (np.clip(0.5 + rng.normal(0, 0.1, 40) - drop, 0, 1) for drop in (0.0, 0.0, 0.02 * seed))
    level = 0.01
    window = evaluation(last, "last")
    now, before = evaluation(run, "run"), evaluation(anchor, "anchor")
    sides = [Opposed(now=(now,), before=(window,), name="last"), Opposed(now=(now, window), before=(before,), name="anchor")]
    series = Series(alpha=level, horizon=1)

    found = gate(now, window, before, sides=sides, series=series, n_resamples=simulation.DRAWS, rng=seed)

    pairs = [(last, run), (anchor, np.mean([run, last], axis=0))]
    assert found.passed is not simulation.closes(pairs, level, seed)


def test_the_page_has_every_row_of_the_script(simulation: Any) -> None:
    rows = re.findall(r"^\| (noise|steps) \| ([\d,]+) \| ([\d.]+) \| (\w+) \|", PAGE, re.MULTILINE)
    whole = {
        (engine, queries, f"{drop:g}", baseline)
        for engine in simulation.ENGINES
        for queries in ("50", "200", "1,000")
        for drop in simulation.DROPS
        for baseline in simulation.BASELINES
    }

    assert whole <= set(rows)


def test_the_page_holds_the_promised_rates() -> None:
    """Harmless series of an engine with noise close in at most alpha; fifty drops lose at most .025 and .012."""
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] != "noise" or cells[3] != "updated":
            continue
        queries, drop, closed, lost = cells[1], float(cells[2]), float(cells[4]), float(cells[7])
        if not drop:
            assert closed <= 0.05 + 2 * (0.05 * 0.95 / 40) ** 0.5
        elif queries != "50":
            assert lost <= {"200": 0.025, "1,000": 0.012}[queries]


@pytest.mark.slow
def test_harmless_series_of_an_engine_with_noise_close_in_at_most_alpha(simulation: Any) -> None:
    closed = []
    for chain in range(200):
        engine = simulation.Engine("noise", 100, np.random.default_rng((11, chain)))
        closed.append(any(simulation.series_of(engine, "updated", 0.0)))

    assert np.mean(closed) <= 0.05 + 2.6 * (0.05 * 0.95 / 200) ** 0.5
