"""The simulation of series of commits: its gate decides as the gate does, and its page has its rows
and rates.
"""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from idealrank.analysis.comparison import StudyOptions
from idealrank.analysis.gate import GateCase, Policy, decided
from idealrank.analysis.gate.checks import Opposed
from idealrank.analysis.gate.series import Series
from tests.core.test_comparison import evaluation

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
    anchor, last, run = (
        np.clip(0.5 + rng.normal(0, 0.1, 40) - drop, 0, 1) for drop in (0.0, 0.0, 0.02 * seed)
    )
    level = 0.01
    window = evaluation(last, "last")
    now, before = evaluation(run, "run"), evaluation(anchor, "anchor")
    sides = [
        Opposed(now=(now,), before=(window,), name="last"),
        Opposed(now=(now, window), before=(before,), name="anchor"),
    ]
    series = Series(alpha=level, horizon=1)

    case = GateCase(runs=(now, window, before), sides=sides, series=series)
    options = StudyOptions(n_resamples=simulation.DRAWS, rng=seed)
    found = decided(case, Policy(), options)

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


def rows_of_the_page() -> list[tuple[int, list[str]]]:
    """Rows of every table, each with the number of its series, which the sentence above the table
    states.
    """
    rows, series = [], 0
    for line in PAGE.splitlines():
        if stated := re.search(r"([\d,]+) series a row", line):
            series = int(stated[1].replace(",", ""))
        if line.startswith(("| noise ", "| steps ")):
            rows.append((series, [cell.strip() for cell in line.strip("|").split("|")]))
    return rows


def test_the_page_holds_the_promised_rates() -> None:
    """Harmless series against a baseline file close in at most alpha, within two standard errors of
    so many series.
    """
    harmless = [
        (series, cells)
        for series, cells in rows_of_the_page()
        if cells[2] == "0" and cells[3] != "previous"
    ]
    bounds = {series: 0.05 + 2 * (0.05 * 0.95 / series) ** 0.5 for series, _ in harmless}

    assert sorted(bounds) == [40, 100, 1000]
    assert [cells for series, cells in harmless if float(cells[4]) > bounds[series]] == []


def test_fifty_drops_of_a_noisy_engine_lose_what_the_page_promises() -> None:
    promised = {"200": 0.025, "1,000": 0.012}
    lost = {
        cells[1]: float(cells[7])
        for _, cells in rows_of_the_page()
        if (cells[0], cells[2], cells[3]) == ("noise", "0.002", "updated")
    }

    assert {queries: lost[queries] for queries in promised} == promised


@pytest.mark.slow
def test_harmless_series_of_an_engine_with_noise_close_in_at_most_alpha(simulation: Any) -> None:
    closed = []
    for chain in range(200):
        engine = simulation.Engine("noise", 100, np.random.default_rng((11, chain)))
        closed.append(any(simulation.series_of(engine, "updated", 0.0)))

    assert np.mean(closed) <= 0.05 + 2.6 * (0.05 * 0.95 / 200) ** 0.5
