"""A monitor survives a full disk, clocks that jump, and kill -9 in every phase: no false recovery,
lost round or second alarm.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.errors import BackendError, InputError
from idealrank.live.canary import canary_rounds
from idealrank.live.canary.monitor_config import MetricsSection
from idealrank.live.canary.monitor_loop import refresh_metrics, watch_rounds
from idealrank.live.monitoring import Monitoring, StoredRound
from idealrank.store.database import Database
from tests.conftest import ROOT
from tests.live.canary_samples import Steerable, monitor_of, write_files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def store(folder: Path) -> Iterator[ir.Store]:
    with ir.Store.open(folder / "store") as opened:
        yield opened


def events(folder: Path) -> list[tuple[str, str]]:
    path = folder / "alarms.jsonl"
    return (
        [(one["rule"], one["event"]) for one in map(json.loads, path.read_text().splitlines())]
        if path.exists()
        else []
    )


def test_rounds_wait_while_the_disk_is_full_and_are_stored_in_order_when_there_is_room(
    store: ir.Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Steerable()
    monitor = monitor_of(engine)
    for engine.state in ("good", "good"):
        monitor.run_round(store)
    with monkeypatch.context() as full:
        full.setattr(
            Database,
            "writing",
            lambda self: (_ for _ in ()).throw(
                InputError("database or disk is full; nothing was stored")
            ),
        )
        for engine.state in ("bad", "bad", "down"):
            with pytest.raises(InputError, match="disk is full"):
                monitor.run_round(store)
    assert len(monitor.waiting) == 3
    engine.state = "bad"
    stored = monitor.run_round(store)
    assert [one.outcome for one in stored] == ["complete", "complete", "failed", "complete"]
    rounds = store.monitoring("shop").rounds()
    assert [(one.number, one.outcome) for one in rounds if one.outcome != "running"] == sorted(
        (one.number, one.outcome) for one in rounds if one.outcome != "running"
    )
    assert sorted(events(folder)) == [("drop", "opened"), ("floor", "opened")]


def test_a_disk_that_is_full_at_the_end_of_a_round_loses_no_message(
    store: ir.Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, said = Steerable(), list[str]()
    monitor = monitor_of(engine, say=said.append)
    engine.state = "bad"
    monitor.run_round(store)
    with monkeypatch.context() as full:
        full.setattr("idealrank.live.monitoring.Monitoring.mark_sent", _full)
        assert [one.number for one in monitor.run_round(store)] == [2]  # stored before, and told
    assert monitor.waiting == []
    assert ["disk is full" in text for text in said] == [True]
    monitor.run_round(store)
    lines = [json.loads(line) for line in (folder / "alarms.jsonl").read_text().splitlines()]
    # at least once, with one key
    assert [line["key"] for line in lines] == ["shop/floor//2/opened"] * 2
    assert len(store.monitoring("shop").alarms()) == 1


def _full(*_: Any) -> None:
    raise InputError("database or disk is full; nothing was stored")


def _store_has_room(monkeypatch: pytest.MonkeyPatch, turns: list[bool]) -> None:
    """Let each attempt to store a round succeed, or find a full disk."""
    finish, has_room = Monitoring.finish, iter(turns)
    monkeypatch.setattr(
        Monitoring,
        "finish",
        lambda *args, **options: finish(*args, **options) if next(has_room) else _full(),
    )


def test_clocks_that_jump_change_no_alarm(
    store: ir.Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(
        ["2026-06-01", "2026-06-02", "2030-01-01", "1999-01-01", "2026-06-03", "2026-06-04"]
    )
    monkeypatch.setattr(canary_rounds, "utc_now", lambda: f"{next(times)}T00:00:00.000000+00:00")
    engine = Steerable()
    monitor = monitor_of(engine, notify=[])
    for engine.state in ("good", "good", "bad", "bad", "bad", "bad"):
        monitor.run_round(store)
    rounds = store.monitoring("shop").rounds()
    assert [one.number for one in rounds] == [1, 2, 3, 4, 5, 6]
    assert "set back" in rounds[3].record["clock"]
    assert [alarm.opened for alarm in reversed(store.monitoring("shop").alarms())] == [3, 4]


def test_the_schedule_goes_by_a_clock_that_is_never_set_back_and_makes_up_for_nothing(
    store: ir.Store,
) -> None:
    now, starts = [0.0], []
    engine = Steerable()
    monitor = monitor_of(engine, every=100, notify=[])
    slow = iter([0, 350, 0, 0])

    def tell(one: StoredRound) -> None:
        starts.append((one.number, now[0]))
        now[0] += next(slow)  # what the round took

    watch_rounds(
        monitor,
        store,
        tell,
        say=lambda _: None,
        rounds=4,
        clock=lambda: now[0],
        sleep=lambda left: now.__setitem__(0, now[0] + left),
    )
    assert starts == [(1, 0.0), (2, 100.0), (3, 450.0), (4, 550.0)]


def test_the_schedule_outlives_a_store_that_cannot_be_written(
    store: ir.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Steerable()
    said: list[str] = []
    told: list[StoredRound] = []
    monitor = monitor_of(engine, notify=[])
    clock = iter(range(0, 10**6, 1000))
    _store_has_room(monkeypatch, [False, False, True, True, True])
    watch_rounds(
        monitor,
        store,
        told.append,
        say=said.append,
        rounds=3,
        clock=lambda: next(clock),
        sleep=lambda _: None,
    )
    assert [one.number for one in told] == [1, 2, 3]
    assert [text.split(":")[0] for text in said] == [
        "1 rounds wait to be stored",
        "2 rounds wait to be stored",
    ]


def test_rounds_stored_before_one_that_cannot_be_are_told_and_their_messages_sent(
    store: ir.Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, said, told = Steerable(), list[str](), list[StoredRound]()
    engine.state = "bad"
    monitor = monitor_of(engine)
    clock = iter(range(0, 10**6, 1000))
    # Rounds 1 and 2 wait; they are stored in the third turn, whose own round finds a full disk.
    _store_has_room(monkeypatch, [False, False, True, True, False])
    watch_rounds(
        monitor,
        store,
        told.append,
        say=said.append,
        rounds=3,
        clock=lambda: next(clock),
        sleep=lambda _: None,
    )
    assert [one.number for one in told] == [1, 2]
    assert [text.split(":")[0] for text in said] == [
        "1 rounds wait to be stored",
        "2 rounds wait to be stored",
        "1 rounds wait to be stored",
    ]
    assert events(folder) == [("floor", "opened")]


class Late(Steerable):
    """Engine that answers well, and too late for the timeout while it is slow."""

    def search(self, query: Any, limit: int) -> Any:
        if self.state == "slow":
            time.sleep(0.03)
        return [(f"{query.id}-good", 1.0)]


def test_an_engine_that_is_too_slow_has_no_value_and_opens_the_alarm_of_errors(
    store: ir.Store, folder: Path
) -> None:
    engine = Late()
    monitor = monitor_of(engine, timeout=0.001, concurrency=30, breaker={"failures": 1000})
    engine.state = "slow"
    outcomes = [one.outcome for _ in range(3) for one in monitor.run_round(store)]
    assert set(outcomes) <= {"failed", "incomplete"}
    assert events(folder) == [("errors", "opened")]
    assert all("value" not in one.record for one in store.monitoring("shop").rounds())


def test_a_part_of_the_queries_that_fails_is_left_out_and_never_counts_as_zero(
    store: ir.Store,
) -> None:
    class Partly(Steerable):
        def search(self, query: Any, limit: int) -> Any:
            if self.state == "partly" and query.id in ("q1", "q2"):
                raise BackendError("partly: refused")
            return [(f"{query.id}-good", 1.0)]

    engine = Partly()
    monitor = monitor_of(engine, most_failed=0.1)
    for engine.state in ("good", "good", "partly", "partly"):
        monitor.run_round(store)
    last = store.monitoring("shop").rounds()[-1]
    assert (last.outcome, last.record["failed"], last.record["value"]) == ("complete", 2 / 30, 1.0)
    assert [one.rule for one in store.monitoring("shop").alarms()] == ["errors"]


def test_answers_that_make_no_ranking_are_failures_and_lose_no_round(
    store: ir.Store, folder: Path
) -> None:
    class Wrong(Steerable):
        def search(self, query: Any, limit: int) -> Any:
            return [(f"{query.id}-good", float("nan") if self.state == "wrong" else 1.0)]

    engine = Wrong()
    monitor = monitor_of(engine)
    for engine.state in ("good", "wrong", "wrong", "good"):
        monitor.run_round(store)
    rounds = store.monitoring("shop").rounds()
    assert [one.outcome for one in rounds] == ["complete", "failed", "failed", "complete"]
    assert rounds[1].record["problems"]
    assert events(folder) == [("errors", "opened"), ("errors", "recovered")]


@pytest.mark.parametrize("state", ["empty", "bad"])
def test_rounds_without_a_document_or_a_judged_one_are_no_part_of_the_baseline(
    store: ir.Store, folder: Path, state: str
) -> None:
    engine = Steerable()
    monitor = monitor_of(engine, alarms=[{"kind": "cusum"}, {"kind": "errors"}])
    for engine.state in (state, "good", state, "good", state):
        monitor.run_round(store)
    rounds = store.monitoring("shop").rounds()
    assert [one.record["baseline"] for one in rounds] == [
        "0 of 2 rounds, without this one",
        "1 of 2 rounds",
        "1 of 2 rounds, without this one",
        "known",
        "known",
    ]
    assert [one.record["value"] for one in rounds] == [0.0, 1.0, 0.0, 1.0, 0.0]
    opened = [rule for rule, event in events(folder) if event == "opened"]
    assert opened == (["errors", "cusum"] if state == "empty" else ["cusum"])


def test_a_single_answer_without_a_document_is_counted_and_no_failure(
    store: ir.Store, folder: Path
) -> None:
    class Partly(Steerable):
        def search(self, query: Any, limit: int) -> Any:
            return [] if query.id == "q1" else super().search(query, limit)

    (found,) = monitor_of(Partly()).run_round(store)
    assert (found.record["empty"], found.record["failed"], found.record["coverage"]) == (
        1,
        0.0,
        1.0,
    )
    assert (found.record["problems"], found.record["baseline"], events(folder)) == (
        [],
        "1 of 2 rounds",
        [],
    )


def test_a_round_with_too_few_grades_of_people_has_no_value(store: ir.Store, folder: Path) -> None:
    (folder / "people.qrels").write_text("q1 0 q1-good 1\nq2 0 q2-good 1\nq3 0 q3-good 1\n")

    class Partly(Steerable):
        def search(self, query: Any, limit: int) -> Any:
            if self.state == "partly" and query.id in ("q1", "q2"):
                raise BackendError("partly: refused")
            return [(f"{query.id}-good", 1.0)]

    engine = Partly()
    monitor = monitor_of(
        engine,
        qrels={"path": "qrels.txt", "people": "people.qrels"},
        alarms=[{"kind": "cusum"}, {"kind": "baseline"}],
    )
    for engine.state in ("good", "good", "partly", "good"):
        monitor.run_round(store)
    rounds = store.monitoring("shop").rounds()
    assert [one.outcome for one in rounds] == ["complete", "complete", "incomplete", "complete"]
    assert rounds[-1].record["corrected"]
    assert events(folder) == []


class ForeignError(Exception):
    """An error of a class that the monitor has never heard of."""


@pytest.mark.parametrize("where", ["search", "close", "making"])
def test_any_exception_of_an_engine_is_its_failure_and_the_watch_goes_on(
    store: ir.Store, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    engine = Steerable()
    monitor = monitor_of(engine, notify=[])

    def fail(*_: Any) -> Any:
        raise ForeignError("gave up")

    if where == "making":
        monitor._backend = fail
    else:
        monkeypatch.setattr(engine, where, fail)
    (stored,) = monitor.run_round(store)
    assert stored.outcome == ("complete" if where == "close" else "failed")
    assert "ForeignError: gave up" in stored.record["problems"][0]


def test_a_file_of_metrics_that_fails_in_any_way_is_a_note(
    store: ir.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise ForeignError("gave up")

    monkeypatch.setattr("idealrank.live.canary.monitor_loop.write_metrics", fail)
    said: list[str] = []
    refresh_metrics(store, MetricsSection(file="a.prom"), said.append)
    assert said == ["a.prom: ForeignError: gave up"]


# --- kill -9 --------------------------------------------------------------------------------------

CHILD = """
import os, signal, sys
from idealrank.live import monitoring
from idealrank.live.alerts import alarm_channels
from idealrank.live.canary import canary_rounds
from idealrank.store import database
import idealrank as ir
from tests.live.canary_samples import Steerable, monitor_of

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def before(owner, name):
    getattr(owner, name)  # a place that is gone would kill nothing
    setattr(owner, name, die)

def after(owner, name):
    old = getattr(owner, name)
    def both(*args, **more):
        found = old(*args, **more)
        die()
    setattr(owner, name, both)

state, phase = sys.argv[1:]
engine = Steerable()
engine.state = state
PHASES = {
    "none": lambda: None,
    "before the start": lambda: before(monitoring.Monitoring, "begin"),
    "after the start": lambda: after(monitoring.Monitoring, "begin"),
    "while queries are asked": lambda: before(Steerable, "search"),
    "before the evaluation": lambda: before(canary_rounds.CanaryMonitor, "_evaluated"),
    "after the files of values": lambda: before(monitoring.Monitoring, "_insert"),
    "in the transaction": lambda: before(monitoring.Monitoring, "_queue"),
    "at its end": lambda: after(monitoring.Monitoring, "_insert"),
    "after the transaction": lambda: after(monitoring.Monitoring, "finish"),
    "before a message": lambda: before(alarm_channels.JsonLines, "send"),
    "after a message": lambda: after(alarm_channels.JsonLines, "send"),
    "after it is marked": lambda: after(monitoring.Monitoring, "mark_sent"),
}
PHASES[phase]()
with ir.Store.open("store") as store, canary_rounds.only_process(store, "shop"):
    monitor_of(engine).run_round(store)
"""
PHASES = [
    "before the start",
    "after the start",
    "while queries are asked",
    "before the evaluation",
    "after the files of values",
    "in the transaction",
    "at its end",
    "after the transaction",
    "before a message",
    "after a message",
    "after it is marked",
]


def _round(folder: Path, state: str, phase: str = "none") -> int:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, state, phase],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode in (0, -9), done.stderr
    return done.returncode


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_a_monitor_that_is_killed_loses_no_round_and_raises_no_second_alarm(
    folder: Path, phase: str
) -> None:
    """Two good rounds, a bad one, one that is killed in the phase, and bad ones again: the floor
    needs two of three.
    """
    for state in ("good", "good", "bad"):
        _round(folder, state)
    assert _round(folder, "bad", phase) == -9
    for _ in range(2):
        assert _round(folder, "bad") == 0
    with ir.Store.open(folder / "store") as store:
        rounds, alarms = store.monitoring("shop").rounds(), store.monitoring("shop").alarms()
        assert store.monitoring("shop").waiting() == []
        assert len(store.entries()) == sum(one.outcome == "complete" for one in rounds)
        assert all(
            store.evaluation(str(one.evaluation)).evaluation.mean()
            for one in rounds
            if one.outcome == "complete"
        )
        store.gc()
    assert [one.number for one in rounds] == list(range(1, len(rounds) + 1))
    assert {one.outcome for one in rounds} <= {"complete", "interrupted"}
    was_stored = PHASES.index(phase) >= PHASES.index("after the transaction")
    assert sum(one.outcome == "complete" for one in rounds) == 5 + was_stored
    assert sum(one.outcome == "interrupted" for one in rounds) == (
        not was_stored and phase != "before the start"
    )
    assert sorted((one.rule, one.is_open) for one in alarms) == [("drop", True), ("floor", True)]
    lines = [json.loads(line) for line in (folder / "alarms.jsonl").read_text().splitlines()]
    assert {line["event"] for line in lines} == {"opened"}
    assert len({line["key"] for line in lines}) == 2
    assert len(lines) == 2 + (phase == "after a message")


@pytest.mark.slow
def test_a_kill_between_rounds_of_recovery_announces_it_once(folder: Path) -> None:
    for state in ("good", "good", "bad", "bad", "good"):
        _round(folder, state)
    _round(folder, "good", "in the transaction")
    for _ in range(35):  # evidence that a mean of 30 queries is back to within 0.01 takes 33 rounds
        _round(folder, "good")
    lines = [json.loads(line) for line in (folder / "alarms.jsonl").read_text().splitlines()]
    assert sorted((line["rule"], line["event"]) for line in lines) == [
        ("drop", "opened"),
        ("drop", "recovered"),
        ("floor", "opened"),
        ("floor", "recovered"),
    ]
