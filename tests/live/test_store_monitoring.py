"""Rounds of monitors in a store: all of a round or nothing of it, and a message until it is
sent.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.errors import InputError
from idealrank.live.monitoring import AlarmChange, Monitoring, RoundStep
from idealrank.store.database import MIGRATIONS

TIME = "2026-01-01T00:00:00.000000+00:00"
OPENED = AlarmChange(
    id="shop/floor//1",
    event="opened",
    rule="floor",
    slice="",
    record={"text": "low", "severity": "page"},
)
CLOSED = AlarmChange(
    id="shop/floor//1",
    event="recovered",
    rule="floor",
    slice="",
    record={"text": "high", "severity": "page"},
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ir.Store]:
    with ir.Store.open(tmp_path / "store") as opened:
        yield opened


def _finish(rounds: Monitoring, *changes: AlarmChange, **more: Any) -> None:
    number = rounds.begin(TIME)
    step = RoundStep(
        state={"round": number}, record={"value": 0.5}, changes=changes, channels=["log", "hook"]
    )
    rounds.finish(number, TIME, "complete", lambda state, number: step, **more)


def _evaluation() -> ir.Evaluation:
    return ir.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, ["RR"])


def test_a_round_is_stored_with_its_evaluation_state_alarms_and_messages(store: ir.Store) -> None:
    shop = store.monitoring("shop")
    _finish(shop, OPENED, evaluation=_evaluation())
    (one,) = shop.rounds()
    assert (one.number, one.outcome, one.record) == (1, "complete", {"value": 0.5})
    assert store.evaluation(str(one.evaluation)).evaluation.mean()["RR"] == 0.5
    assert shop.state() == {"round": 1}
    assert [(alarm.id, alarm.is_open) for alarm in shop.alarms()] == [("shop/floor//1", True)]
    assert [notice.id for notice in shop.waiting()] == [
        "shop/floor//1/opened/hook",
        "shop/floor//1/opened/log",
    ]


def test_nothing_of_a_round_is_stored_if_any_part_fails(store: ir.Store) -> None:
    shop = store.monitoring("shop")
    _finish(shop, OPENED)
    with pytest.raises(InputError):
        _finish(shop, OPENED, evaluation=_evaluation())  # an alarm of this id is there
    assert store.entries() == []
    assert [one.outcome for one in shop.rounds()] == ["complete", "running"]
    assert shop.state() == {"round": 1}
    assert len(shop.waiting()) == 2


def test_a_round_that_never_ended_was_interrupted_when_the_next_begins(store: ir.Store) -> None:
    shop = store.monitoring("shop")
    shop.begin(TIME)
    _finish(shop)
    assert [(one.number, one.outcome) for one in shop.rounds()] == [
        (1, "interrupted"),
        (2, "complete"),
    ]


def test_a_round_is_stored_once(store: ir.Store) -> None:
    shop = store.monitoring("shop")
    _finish(shop)
    with pytest.raises(InputError, match="stored before"):
        shop.finish(1, TIME, "complete", lambda state, number: RoundStep(state={}, record={}))


def test_a_round_whose_start_was_not_stored_gets_the_next_number(store: ir.Store) -> None:
    shop = store.monitoring("shop")
    _finish(shop)
    found = shop.finish(
        None, TIME, "failed", lambda state, number: RoundStep(state=state, record={"n": number})
    )
    assert (found.number, found.record) == (2, {"n": 2})


def test_closing_an_alarm_tells_when_it_opened(store: ir.Store) -> None:
    shop = store.monitoring("shop")
    _finish(shop, OPENED)
    _finish(shop, CLOSED)
    (alarm,) = shop.alarms()
    assert (alarm.opened, alarm.closed, alarm.closing, alarm.is_open) == (1, 2, "recovered", False)
    assert [notice.content["opened"] for notice in shop.waiting()] == [1, 1, 1, 1]
    assert [notice.event for notice in shop.waiting()] == [
        "opened",
        "opened",
        "recovered",
        "recovered",
    ]


def test_a_message_waits_until_it_is_sent(store: ir.Store) -> None:
    shop = store.monitoring("shop")
    _finish(shop, OPENED)
    shop.mark_failed("shop/floor//1/opened/hook", "refused")
    shop.mark_sent("shop/floor//1/opened/log", TIME)
    (left,) = shop.waiting()
    assert (left.channel, left.attempts, left.problem) == ("hook", 1, "refused")
    assert [notice.sent for notice in shop.notices("shop/floor//1")] == [None, TIME]


def test_monitors_of_one_store_know_nothing_of_each_other(store: ir.Store) -> None:
    _finish(store.monitoring("shop"), OPENED)
    _finish(store.monitoring("docs"))
    assert store.monitors() == ["docs", "shop"]
    assert store.monitoring("docs").alarms() == []
    assert store.monitoring("docs").waiting() == []


def test_a_round_outlives_its_evaluation(store: ir.Store) -> None:
    shop = store.monitoring("shop")
    _finish(shop, evaluation=_evaluation())
    store.remove(str(shop.rounds()[0].evaluation))
    assert [(one.outcome, one.evaluation) for one in shop.rounds()] == [("complete", None)]


def test_a_store_of_the_schema_before_gets_the_tables_and_keeps_its_entries(
    store: ir.Store, tmp_path: Path
) -> None:
    key = store.add(_evaluation())
    store.close()
    connection = sqlite3.connect(tmp_path / "store" / "store.sqlite3")
    for table in ("notice", "alarm", "monitor", "round"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("PRAGMA user_version=2")
    connection.commit()
    connection.close()
    assert max(MIGRATIONS) == 3
    with ir.Store.open(tmp_path / "store") as again:
        _finish(again.monitoring("shop"), OPENED)
        assert [entry.id for entry in again.entries()] == [key]


def test_a_read_only_store_shows_rounds_and_refuses_new_ones(
    store: ir.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    _finish(store.monitoring("shop"), OPENED)
    monkeypatch.setattr("idealrank.store.database.is_read_only", lambda path: True)
    with ir.Store.open(store.folder) as reader:
        assert len(reader.monitoring("shop").rounds()) == 1
        with pytest.raises(InputError, match="read-only"):
            reader.monitoring("shop").begin(TIME)
