"""The board of canary queries."""

import re
from pathlib import Path

import pytest

from idealrank.live.monitoring import AlarmChange, RoundStep
from idealrank.store import Store
from tests.store.serve_samples import HOSTILE, client, example_store


def watched(folder: Path, name: str = "shop") -> None:
    """Six rounds: an alarm opens in the third and closes in the fourth; another opens in the last;
    the fifth fails.
    """
    with Store.open(folder) as store:
        monitoring = store.monitoring(name)
        changes = {
            3: AlarmChange(
                id=f"{name}/floor//3",
                event="opened",
                rule="floor",
                slice="long",
                record={"text": "0.4 is below 0.5"},
            ),
            4: AlarmChange(
                id=f"{name}/floor//3", event="recovered", rule="floor", slice="long", record={}
            ),
            6: AlarmChange(
                id=f"{name}/drift//6",
                event="opened",
                rule="drift",
                slice="",
                record={"text": HOSTILE},
            ),
        }
        for number in range(1, 7):
            time = f"2026-01-0{number}T00:00:00+00:00"
            record = {
                "measure": "nDCG@10",
                "value": 0.5,
                "low": 0.4,
                "high": 0.6,
                "coverage": 0.25,
                "failed": 0.0,
                "latency": {"p95": 3.2},
            }
            outcome = "failed" if number == 5 else "complete"
            step = RoundStep(
                state={},
                record={"failed": 1.0} if number == 5 else record,
                changes=[changes[number]] if number in changes else [],
            )
            monitoring.finish(
                monitoring.begin(time), time, outcome, lambda _state, _number, step=step: step
            )


def test_without_a_monitor_the_board_says_how_to_have_one(tmp_path: Path) -> None:
    example_store(tmp_path, days=1)

    assert "No canary queries are watched." in client(tmp_path).get("/canaries").text
    assert "No canary queries are watched." in client().get("/canaries").text


def test_open_alarms_come_first(tmp_path: Path) -> None:
    watched(tmp_path)

    text = client(tmp_path).get("/canaries").text

    assert "1 alarm is open." in text
    assert "round 6" in text
    assert "nDCG@10 0.5000 [0.4000, 0.6000], judged 25.0%, failed 0.0%, p95 3.2 ms" in text
    assert text.count('class="alarm"') == 2


@pytest.mark.parametrize("name", ["shop", "a/b", HOSTILE])
def test_a_monitor_has_a_page_with_its_rounds(tmp_path: Path, name: str) -> None:
    from urllib.parse import quote

    watched(tmp_path, name)

    text = client(tmp_path).get(f"/canaries/{quote(name, safe='')}").text

    assert HOSTILE not in text
    assert "recovered" in text
    assert ">failed<" in text


def test_the_overview_tells_of_open_alarms(tmp_path: Path) -> None:
    example_store(tmp_path, days=1)
    watched(tmp_path)

    assert "1 open alarm: drift" in client(tmp_path).get("/").text


def test_metrics_have_the_rounds_too(tmp_path: Path) -> None:
    example_store(tmp_path, days=1)
    watched(tmp_path)

    text = client(tmp_path).get("/metrics").text

    assert 'idealrank_alarm_open{monitor="shop"' in text
    assert re.search(r'^idealrank_evaluation_value\{[^}]*run="neural"', text, re.MULTILINE)
    names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(names) == len(set(names))
