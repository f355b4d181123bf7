"""Charts of a drop: run lengths agree with published tables and with a simulation."""

import math
from itertools import pairwise

import numpy as np
import pytest

from idealrank.errors import OptionError
from idealrank.stats import Cusum, Ewma

# Two-sided CUSUM, allowance 0.5, mean run length by lasting shift in standard deviations:
# Montgomery (2013), Introduction to Statistical Quality Control, 7th edition, table 9.3, after
# Lucas and Crosier (1982). The two sides signal independently often enough at shift 0.
CUSUM_TABLE = {
    4.0: {0.0: 168.0, 1.0: 8.38, 2.0: 3.34, 3.0: 2.19},
    5.0: {0.0: 465.0, 1.0: 10.4, 2.0: 4.01, 3.0: 2.57},
}

# Two-sided EWMA, limits for a run length of 500: Lucas and Saccucci (1990), table 3, with the
# columns weight and width.
EWMA_TABLE = {
    (0.05, 2.615): {0.0: 500, 0.25: 84.1, 0.5: 28.8, 1.0: 11.4, 2.0: 5.22},
    (0.1, 2.814): {0.0: 500, 0.25: 106, 0.5: 31.3, 1.0: 10.3, 2.0: 4.36},
    (0.25, 2.998): {0.0: 500, 0.25: 170, 0.5: 48.2, 1.0: 11.1, 2.0: 3.6},
    (0.4, 3.054): {0.0: 500, 0.25: 224, 0.5: 71.2, 1.0: 14.3, 2.0: 3.5},
}


@pytest.mark.parametrize("limit", list(CUSUM_TABLE))
def test_run_lengths_of_the_cusum_are_those_of_the_published_table(limit: float) -> None:
    for shift, expected in CUSUM_TABLE[limit].items():
        one_sided = Cusum(limit).run_length(shift)
        # 1 / L = 1 / L_low + 1 / L_high; away from 0 the other side never signals.
        both = 1 / (1 / one_sided + 1 / Cusum(limit).run_length(-shift))
        assert both == pytest.approx(expected, rel=0.006)  # three printed digits


@pytest.mark.parametrize(("weight", "width"), list(EWMA_TABLE))
def test_run_lengths_of_the_ewma_are_those_of_the_published_table(
    weight: float, width: float
) -> None:
    chart = Ewma(width * math.sqrt(weight / (2 - weight)), weight)
    for shift, expected in EWMA_TABLE[weight, width].items():
        assert chart.run_length(shift, two_sided=True) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    "chart", [Cusum(3.0), Cusum(2.5, 0.25), Ewma(0.5, 0.2), Ewma(1.2, 1.0)], ids=str
)
@pytest.mark.parametrize("drop", [0.0, 0.7])
def test_run_lengths_are_those_of_the_steps_of_the_chart(chart: Cusum | Ewma, drop: float) -> None:
    rng = np.random.default_rng(5)
    lengths = []
    for _ in range(400):
        level, rounds = chart.start, 0
        while not chart.signals(level):
            level, rounds = chart.step(level, rng.normal(-drop)), rounds + 1
        lengths.append(rounds)
    error = np.std(lengths) / math.sqrt(len(lengths))
    assert abs(np.mean(lengths) - chart.run_length(drop)) < 4 * error


@pytest.mark.parametrize("make", [Cusum.for_run_length, Ewma.for_run_length])
def test_a_chart_for_a_run_length_has_it(make: type[Cusum] | type[Ewma]) -> None:
    for rounds in (10, 370, 20_000):
        assert make(rounds).run_length() == pytest.approx(rounds, rel=1e-5)


def test_larger_drops_are_found_sooner() -> None:
    for chart in (Cusum(5.0), Ewma(0.7)):
        lengths = [chart.run_length(drop) for drop in (0.0, 0.2, 0.5, 1.0, 3.0)]
        assert all(before > after for before, after in pairwise(lengths))


def test_a_held_chart_falls_back_to_its_start_without_a_drop_and_stays_with_one() -> None:
    for chart in (Cusum(5.0), Ewma(0.7)):
        level = chart.held(1e9 if isinstance(chart, Cusum) else -1e9)
        assert chart.signals(level)
        stays = falls = level
        for _ in range(200):
            stays, falls = chart.held(chart.step(stays, -2.0)), chart.held(chart.step(falls, 1.0))
        assert chart.signals(stays)
        assert falls == chart.start


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Cusum(0.0),
        lambda: Cusum(math.nan),
        lambda: Cusum(math.inf),
        lambda: Cusum(4.0, 0.0),
        lambda: Ewma(-1.0),
        lambda: Ewma(1.0, 0.0),
        lambda: Ewma(1.0, 1.5),
        lambda: Ewma(1.0, math.nan),
        lambda: Cusum.for_run_length(1.0),
        lambda: Cusum.for_run_length(math.inf),
        lambda: Ewma.for_run_length(math.nan),
        lambda: Ewma.for_run_length(1e9),
    ],
)
def test_charts_that_make_no_sense_are_refused(wrong: object) -> None:
    with pytest.raises(OptionError, match="expected"):
        wrong()  # type: ignore[operator]
