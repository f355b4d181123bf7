"""The simulation of alarms: its rounds are as it says, and its rates and delays are those that the
guide states.
"""

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np
import pytest

from tests.conftest import ROOT


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(ROOT / "experiments")
    yield import_module("alarm_delays")
    sys.modules.pop("alarm_delays", None)


def _stated(heading: str) -> list[list[str]]:
    """Cells of a table of the guide, by row; the first row has the names of the columns."""
    text = (ROOT / "docs" / "live" / "monitor.md").read_text(encoding="utf-8")
    part = text[text.index(heading) :].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()]
    return [rows[0], *rows[2:]]


def _by_length() -> dict[tuple[str, str], list[str]]:
    _, *rows = _stated("| alarm | baseline | false alarms in 1,000 rounds |")
    return {(alarm, baseline): cells for alarm, baseline, *cells in rows}


def _by_noise() -> dict[tuple[str, str], float]:
    head, *rows = _stated("| alarm | lasting |")
    return {
        (row[0], noise): float(rate)
        for row in rows
        for noise, rate in zip(head[1:], row[1:], strict=True)
    }


@pytest.mark.parametrize("drop", [0.0, 0.01, 0.1])
def test_simulated_rounds_have_the_drop_and_the_noise_that_the_guide_states(
    script: Any, drop: float
) -> None:
    rng = np.random.default_rng(1)
    seen = script.lowered(rng, script.rounds(rng, script.Setting()), drop)
    means = [one.mean() for one in islice(seen, 400)]
    assert np.mean(means) == pytest.approx(0.6 - drop, abs=0.003)  # values above 1 are cut
    assert np.std(means, ddof=1) == pytest.approx(0.007, rel=0.15)


@pytest.mark.parametrize(
    ("noise", "expected"), [("independent", 0.0), ("lasting", 0.9), ("shared", 0.7)]
)
def test_simulated_rounds_are_as_dependent_as_the_guide_states(
    script: Any, noise: str, expected: float
) -> None:
    seen = script.rounds(np.random.default_rng(2), script.Setting(noise=noise))
    means = np.array([one.mean() for one in islice(seen, 3000)])
    assert np.corrcoef(means[1:], means[:-1])[0, 1] == pytest.approx(expected, abs=0.1)


def test_the_guide_has_each_alarm_baseline_and_noise_of_the_simulation(script: Any) -> None:
    assert list(dict.fromkeys(alarm for alarm, _ in _by_length())) == list(script.RULES)
    assert {baseline for _, baseline in _by_length()} == {"none", *script.LENGTHS}
    assert list(dict.fromkeys(noise for _, noise in _by_noise())) == list(script.NOISES)
    assert list(dict.fromkeys(alarm for alarm, _ in _by_noise())) == list(script.RULES)


def test_the_stated_rate_of_one_false_alarm_holds_in_the_guide_for_every_noise_with_its_season() -> (  # noqa: E501
    None
):
    """Up to the simulation error of 20,000 rounds: three standard errors of a rate of 1 are 0.7."""
    rates = {
        key: rate
        for key, rate in _by_noise().items()
        if key[0].startswith(("sequential", "CUSUM", "EWMA"))
    }
    rates |= {
        key: float(cells[0])
        for key, cells in _by_length().items()
        if key[0].startswith(("sequential", "CUSUM", "EWMA"))
    }
    assert {
        key: rate for key, rate in rates.items() if key[1] != "day, no season" and rate > 1.7
    } == {}


def test_a_short_simulation_prints_the_tables(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "RULES", {"CUSUM": script.RULES["CUSUM"]})
    monkeypatch.setattr(script, "LENGTHS", {"10": script.LENGTHS["10"]})
    monkeypatch.setattr(script, "NOISES", {"shared": script.NOISES["shared"]})
    lines = list(script.length_rows(1, 10))
    assert (
        lines[0]
        == "| alarm | baseline | false alarms in 1,000 rounds | drop 0.01 | drop 0.03 | drop 0.1 |"
    )
    assert re.fullmatch(r"\| CUSUM \| 10 \| \S+( \| (over )?\d+ \((over )?\d+\)){3} \|", lines[2])
    assert re.fullmatch(r"\| CUSUM \| \S+ \|", list(script.noise_rows(1, 10))[2])


@pytest.mark.parametrize("name", ["CUSUM", "EWMA"])
@pytest.mark.parametrize(
    ("noise", "length"),
    [("300 rounds, `sample: 100`", 400), ("lasting, 100 rounds, `sample: 100`", 100)],
)
def test_the_rate_of_false_alarms_holds_for_samples(
    script: Any, name: str, noise: str, length: int
) -> None:
    """5 baselines of 400 rounds, or of 100 with noise that lasts: 7 false alarms have a probability
    below 0.005 at the stated rate.
    """
    rate, _ = script.measure(script.RULES[name], script.NOISES[noise], 5, length, drops=(), seed=9)
    assert rate * 5 * length / 1000 <= 6


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["fixed threshold at 0.59, 2 of 3", "sequential test, tolerance 0", "CUSUM", "EWMA"]
)
def test_rates_and_delays_are_those_of_the_guide(script: Any, name: str) -> None:
    """15 baselines of 400 rounds: false alarms within three times the stated rate of 1, delays
    within a factor of two.
    """
    baseline = "none" if name.startswith("fixed") else "30"
    rate, delays = script.measure(script.RULES[name], script.LENGTHS["30"], 15, 400, seed=7)
    cells = _by_length()[name, baseline]
    assert rate > 3 if baseline == "none" else rate <= 3
    for one, cell in zip(delays, cells[1:], strict=True):
        median = float(cell.split("(")[0])
        assert median / 2 - 1 <= np.median(one) <= 2 * median + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "noise", ["lasting", "shared", "day, `season: 1d`", "week, `season: 7d`", "`sample: 100`"]
)
@pytest.mark.parametrize("name", ["sequential test, tolerance 0.005", "CUSUM", "EWMA"])
def test_the_rate_of_false_alarms_holds_for_other_noise(script: Any, name: str, noise: str) -> None:
    """10 baselines of 400 rounds: 4 false alarms expected at most, 13 have a probability below
    0.001.
    """
    rate, _ = script.measure(script.RULES[name], script.NOISES[noise], 10, 400, drops=(), seed=8)
    assert rate * 4 <= 12
