"""`idealrank monitor`: a round, its exit code and its line; a damaged index is found with the
promised delay.
"""

import json
import re
import socket
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.live.commands.monitor import _text as monitor_lines
from idealrank.live.monitoring import StoredAlarm, StoredRound
from tests.cli.terminal import Said
from tests.conftest import ROOT

Say = Callable[..., Said]

CONFIG: dict[str, Any] = {
    "name": "shop",
    "store": "store",
    "backend": {"kind": "sqlite-fts5", "path": "shop/shop.db", "table": "documents", "id": "id"},
    "queries": "shop/queries.tsv",
    "qrels": {"path": "shop/qrels.txt", "judged": "2026-05-01"},
    "slices": "shop/slices.csv",
    "limit": 10,
    "baseline": {"rounds": 3},
    "alarms": [
        {"kind": "sequential", "name": "drop"},
        {"kind": "cusum", "name": "drift"},
        {"kind": "errors", "signals": "1 of 1", "recover": 1},
    ],
    "notify": [{"kind": "log", "path": "alarms.jsonl"}],
}


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "examples" / "canary")
    module = import_module("shop")
    monkeypatch.setattr(module, "QUERIES", 60)
    monkeypatch.setattr(module, "DOCUMENTS", 400)
    return module


@pytest.fixture
def folder(tmp_path: Path, shop: Any) -> Path:
    shop.build(tmp_path / "shop", None)
    change(tmp_path)
    return tmp_path


def change(folder: Path, **keys: Any) -> None:
    (folder / "monitor.json").write_text(json.dumps({**CONFIG, **keys}))


def once(say: Say, folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    said = say("monitor", "monitor.json", "--once", "--format", "json", *options, cwd=folder)
    assert said.out, said.err
    return said.code, json.loads(said.out)


def messages(folder: Path) -> list[tuple[str, str, int]]:
    path = folder / "alarms.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(one["rule"], one["event"], one["round"]) for one in map(json.loads, lines)]


# Rounds until the alarm: of these drops the sequential test needs at most three, and a CUSUM of an
# engine without noise one.
SABOTAGE = {"title": 0.35, "documents": 0.06}


@pytest.mark.parametrize("lost", ["title", pytest.param("documents", marks=pytest.mark.slow)])
def test_a_damaged_index_is_found_with_the_promised_delay_and_its_repair_is_announced(
    say: Say, folder: Path, shop: Any, lost: str
) -> None:
    if lost == "documents":
        shop.QUERIES, shop.DOCUMENTS = 120, 1500
        shop.build(folder / "shop", None)
    usual = [once(say, folder) for _ in range(4)]
    assert [code for code, _ in usual] == [0, 0, 0, 0]
    shop.build(folder / "shop", lost)
    damaged = [once(say, folder) for _ in range(3)]
    assert usual[0][1]["value"] - damaged[0][1]["value"] > SABOTAGE[lost]
    assert [code for code, _ in damaged] == [1, 1, 1]
    assert "shop/drift//5" in damaged[0][1]["alarms"]
    assert any(alarm.startswith("shop/drop//") for alarm in damaged[2][1]["alarms"])
    shop.build(folder / "shop", None)
    code, last = once(say, folder)
    for _ in range(30):
        if code:
            code, last = once(say, folder)
    assert last["alarms"] == []
    assert last["value"] == usual[0][1]["value"]
    assert sorted((rule, event) for rule, event, _ in messages(folder)) == [
        ("drift", "opened"),
        ("drift", "recovered"),
        ("drop", "opened"),
        ("drop", "recovered"),
    ]


def test_an_engine_that_is_down_has_a_code_of_its_own_and_no_effect_on_quality(
    say: Say, folder: Path
) -> None:
    change(folder, alarms=CONFIG["alarms"][:2])
    for _ in range(4):
        once(say, folder)
    index = folder / "shop" / "shop.db"
    index.rename(folder / "away")
    code, record = once(say, folder)
    assert (code, record["outcome"], record["failed"], record["alarms"]) == (3, "failed", 1.0, [])
    assert "shop.db" in record["problems"][0]
    (folder / "away").rename(index)
    assert once(say, folder)[0] == 0
    assert messages(folder) == []


def test_an_index_of_another_form_opens_the_alarm_of_errors_and_closes_it_when_it_is_back(
    say: Say, folder: Path, shop: Any
) -> None:
    import sqlite3

    once(say, folder)
    (folder / "shop" / "shop.db").unlink()
    connection = sqlite3.connect(folder / "shop" / "shop.db")
    connection.execute("CREATE TABLE other (id)")
    connection.close()
    assert once(say, folder)[0] == 1
    shop.build(folder / "shop", None)
    assert once(say, folder)[0] == 0
    assert messages(folder) == [("errors", "opened", 2), ("errors", "recovered", 3)]


def test_the_line_has_the_value_the_coverage_and_what_is_wrong(say: Say, folder: Path) -> None:
    said = say("monitor", "monitor.json", "--once", cwd=folder)
    assert said.code == 0
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ shop round 1: nDCG@10 0\.\d{4} \[0\.\d{4}, "
        r"0\.\d{4}\], judged \d+\.\d %, failed 0\.0 %, "
        r"p95 \d+ ms, baseline 1 of 3 rounds\n",
        said.out,
    )


def test_the_lines_of_open_alarms_name_slices_with_a_slash(say: Say, folder: Path) -> None:
    path = folder / "shop" / "slices.csv"
    heading, *rows = path.read_text().splitlines()
    path.write_text("\n".join([heading, *(f"{row.split(',')[0]},sh/ort" for row in rows)]) + "\n")
    change(
        folder,
        alarms=[
            {
                "kind": "threshold",
                "name": "floor",
                "least": 1.0,
                "signals": "1 of 1",
                "slices": True,
            }
        ],
    )
    said = say("monitor", "monitor.json", "--once", cwd=folder)
    assert said.code == 1
    line = said.out.splitlines()[2]  # after the alarm of all queries
    assert re.fullmatch(r"  alarm floor \(slice sh/ort\) since round 1: \S.*", line), line


def test_the_line_of_an_open_alarm_says_when_it_closes_and_reads_older_rounds() -> None:
    times = {"opened_time": "2026-01-01T00:00:00Z", "closed_time": None}
    alarm = StoredAlarm(
        id="shop/floor//1",
        monitor="shop",
        rule="floor",
        slice="",
        opened=1,
        closed=None,
        closing=None,
        record={},
        **times,
    )
    reading: dict[str, Any] = {"text": "value 0.6000, least 0.5", "open": alarm.id}
    plain = "  alarm floor since round 1: value 0.6000, least 0.5"
    for stored, end in (
        ({}, ""),  # as earlier versions wrote it
        ({"calm": 0, "recover": 3}, "; closes after 3 calm rounds in a row"),
        ({"calm": 2, "recover": 3}, "; closes after 3 calm rounds in a row, 2 so far"),
        ({"calm": 0, "recover": 1}, "; closes after 1 calm round"),
    ):
        seen = StoredRound(
            monitor="shop",
            number=2,
            time="2026-01-01T00:00:00Z",
            outcome="complete",
            evaluation=None,
            record={"readings": {"floor/": reading | stored}},
        )
        _, line = monitor_lines(seen, [alarm])
        assert line == f"{plain}{end}\n"


def test_calm_rounds_are_counted_until_the_alarm_closes(say: Say, folder: Path) -> None:
    rule = {"kind": "threshold", "name": "floor", "signals": "1 of 1", "recover": 2}
    change(folder, alarms=[rule | {"least": 1.0}])
    _, opened = once(say, folder)
    assert opened["readings"]["floor/"]["open"] == "shop/floor//1"
    assert (opened["readings"]["floor/"]["calm"], opened["readings"]["floor/"]["recover"]) == (0, 2)
    said = say("monitor", "monitor.json", "--once", cwd=folder)
    assert said.out.splitlines()[1].endswith("; closes after 2 calm rounds in a row")


def test_the_store_keeps_each_round_as_an_evaluation(say: Say, folder: Path) -> None:
    _, record = once(say, folder)
    with ir.Store.open(folder / "store") as store:
        (entry,) = store.entries()
        assert entry.id == record["evaluation"]
        assert entry.record.tags == ("canary", "monitor-shop")
        assert (entry.means or {})["nDCG@10"] == record["value"]
    assert "nDCG@10" in say("history", "--store", "store", cwd=folder).out


def test_check_reads_everything_and_asks_nothing(say: Say, folder: Path) -> None:
    said = say("monitor", "monitor.json", "--check", cwd=folder)
    assert (said.code, said.out) == (
        0,
        "monitor.json: 60 canary queries; alarms drop, drift, errors\n",
    )
    assert not (folder / "store").exists()


def test_a_new_baseline_ends_the_alarms_against_the_old_one(
    say: Say, folder: Path, shop: Any
) -> None:
    for _ in range(4):
        once(say, folder)
    shop.build(folder / "shop", "title")
    assert once(say, folder)[0] == 1
    assert once(say, folder, "--rebaseline")[0] == 0
    assert [event for _, event, _ in messages(folder)] == [
        "opened",
        "opened",
        "superseded",
        "superseded",
    ]
    assert [once(say, folder)[0] for _ in range(4)] == [0, 0, 0, 0]


def test_two_processes_do_not_run_one_monitor(say: Say, folder: Path) -> None:
    from idealrank.live.canary.canary_rounds import only_process

    with ir.Store.open(folder / "store") as store, only_process(store, "shop"):
        said = say("monitor", "monitor.json", "--once", cwd=folder)
    assert said.code == 2
    assert "another process runs the monitor shop" in said.err


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"name": None}, "name: found nothing, expected a name"),
        ({"name": "a/b"}, "name: found 'a/b', expected letters"),
        ({"backend": None}, "backend: found nothing"),
        ({"backend": {"kind": "sqlite-fts5"}}, "backend"),
        ({"qrels": None}, "qrels: found nothing"),
        (
            {"qrels": {"path": "shop/qrels.txt", "judged": "May"}},
            "qrels.judged: found 'May', expected a day",
        ),
        ({"qrels": "missing.txt"}, "missing.txt"),
        ({"queries": "missing.tsv"}, "missing.tsv"),
        ({"slices": "missing.csv"}, "missing.csv"),
        ({"every": "soon"}, "every: found 'soon', expected a time"),
        ({"every": True}, "every: found True"),
        ({"sample": 3}, "sample: found 3"),
        ({"alarm": []}, "unknown key 'alarm'"),
        ({"alarms": "cusum"}, "alarms: found 'cusum', expected a list"),
        (
            {"alarms": [{"kind": "cumsum"}]},
            "alarms[1].kind: found 'cumsum', expected one of threshold",
        ),
        ({"alarms": [{"kind": "cusum"}, {"kind": "cusum"}]}, "two alarms with the name 'cusum'"),
        ({"alarms": [{"kind": "cusum", "least": 1}]}, "unknown key 'least'"),
        ({"alarms": [{"kind": "threshold"}]}, "alarms[1].least: found nothing"),
        ({"alarms": [{"kind": "cusum", "false_alarms": 0}]}, "alarms[1].false_alarms: found 0"),
        ({"alarms": [{"kind": "ewma", "signals": "3 of 2"}]}, "alarms[1].signals: found '3 of 2'"),
        (
            {"alarms": [{"kind": "ewma", "slices": "yes"}]},
            "alarms[1].slices: found 'yes', expected true or false",
        ),
        (
            {"alarms": [{"kind": "ewma", "slices": True}], "slices": None},
            "slices: found nothing, expected a file of slices",
        ),
        ({"evaluation": {"measures": ["DCG@10"]}}, "whose values are not between 0 and 1"),
        ({"evaluation": {"measures": ["nothing@3"]}}, "nothing"),
        ({"alarms": [{"kind": ["a"]}]}, "alarms[1].kind: found ['a'], expected one of threshold"),
        (
            {"alarms": [{"kind": {"a": "b"}}]},
            "alarms[1].kind: found {'a': 'b'}, expected one of threshold",
        ),
        (
            {"alarms": [{"kind": "ewma", "signals": "1 of " + "9" * 5000}]},
            "alarms[1].signals: found '1 of 9999",
        ),
        ({"backend": {"kind": ["a"]}}, "backend.kind: found ['a'], expected one of"),
        ({"notify": [{"kind": ["a"]}]}, "notify[1].kind: found ['a']"),
        ({"notify": [{"kind": None}]}, "notify[1].kind: found nothing"),
        (
            {"notify": [{"kind": "webhook", "url": "http://exa mple/"}]},
            "notify[1].url: found 'http://exa mple/'",
        ),
        ({"notify": [{"kind": "pigeon"}]}, "notify[1].kind: found 'pigeon'"),
        ({"notify": [{"kind": "webhook", "url": "ftp://x"}]}, "notify[1].url: found 'ftp://x'"),
        (
            {"notify": [{"kind": "webhook", "url": "http://x/${NOT_SET_ANYWHERE}"}]},
            "NOT_SET_ANYWHERE",
        ),
        ({"metrics": {"port": 70000}}, "metrics.port: found 70000"),
        ({"baseline": {"entry": "ffff"}}, "ffff"),
    ],
    ids=lambda given: json.dumps(given) if isinstance(given, dict) else "",
)
def test_a_wrong_configuration_is_refused_before_the_engine_is_asked(
    say: Say, folder: Path, keys: dict[str, Any], message: str
) -> None:
    change(folder, **keys)
    said = say("monitor", "monitor.json", "--once", cwd=folder)
    assert (said.code, said.out) == (2, "")
    assert message in said.err


@pytest.mark.slow  # the exporter tries again for some seconds
def test_a_collector_that_is_down_changes_no_exit_code(say: Say, folder: Path, shop: Any) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http.metric_exporter")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    change(folder, metrics={"otlp": f"http://127.0.0.1:{port}/v1/metrics"})
    assert once(say, folder)[0] == 0


def test_a_baseline_that_is_shorter_than_two_days_says_that_it_assumes_no_season(
    say: Say, folder: Path
) -> None:
    expected = (
        "note: baseline: 3 rounds cover 3 hours, not two days: drop, drift assumes no season; set "
        "`season` in `baseline`"
    )
    for option in ("--check", "--once"):
        assert expected in say("monitor", "monitor.json", option, cwd=folder).err
    change(folder, baseline={"rounds": 3, "season": "none"})
    assert "season" not in say("monitor", "monitor.json", "--once", cwd=folder).err
