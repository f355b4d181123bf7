"""`idealrank monitor` and a real service that dies: each outage is an alarm within two rounds, with
its waits in the line.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from idealrank.live.canary.monitor_config import ROUND_POLICY, MonitorConfig
from tests.cli.terminal import Said
from tests.conftest import ROOT
from tests.live.live_fakes import send, service

Say = Callable[..., Said]

QUERIES = 120  # as in the guide
TIME_LIMIT = 0.8  # seconds, of tests with a silent service; long enough for a busy machine
GUIDE = yaml.safe_load((ROOT / "examples" / "canary" / "monitor.yaml").read_text(encoding="utf-8"))


class Shop:
    """Search service that answers well, except for the next requests after some."""

    def __init__(self, trouble: str = "") -> None:
        self.trouble = trouble
        self.good_before = 0
        self.hit = 0

    def __call__(self, path: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        if self.good_before == 0 and self.hit > 0:
            self.hit -= 1
            self._fail(handler)
            return
        self.good_before = max(0, self.good_before - 1)
        (query,) = parse_qs(urlsplit(path).query)["q"]
        send(handler, [f"{query}-good"])

    def _fail(self, handler: BaseHTTPRequestHandler) -> None:
        if self.trouble == "drip":
            _drip(handler)
        elif self.trouble == "silent":
            time.sleep(3 * TIME_LIMIT)
            handler.close_connection = True
        elif self.trouble == "empty":
            send(handler, [])
        elif self.trouble == "error":
            send(handler, {}, 503)
        else:
            handler.close_connection = True


def _drip(handler: BaseHTTPRequestHandler) -> None:
    """Send a byte at a time, so that no wait for the next one is long."""
    handler.send_response(200)
    handler.send_header("content-length", "100")
    handler.end_headers()
    handler.close_connection = True
    with suppress(OSError):  # the monitor has gone
        for _ in range(20):
            handler.wfile.write(b" ")
            time.sleep(0.1)


def write_monitor(folder: Path, address: str, **keys: Any) -> None:
    """The guide's configuration with a service over HTTP as its engine."""
    places = range(QUERIES)
    (folder / "queries.tsv").write_text("".join(f"q{place}\tq{place}\n" for place in places))
    (folder / "qrels.txt").write_text("".join(f"q{place} 0 q{place}-good 1\n" for place in places))
    (folder / "slices.csv").write_text(
        "query,slice\n" + "".join(f"q{place},all\n" for place in places)
    )
    files = {
        "store": "store",
        "queries": "queries.tsv",
        "qrels": "qrels.txt",
        "slices": "slices.csv",
    }
    given = (
        GUIDE
        | files
        | {"backend": {"kind": "http", "url": address + "/?q={text}"}, "notify": []}
        | keys
    )
    (folder / "monitor.json").write_text(json.dumps(given))


def once(say: Say, folder: Path) -> dict[str, Any]:
    said = say("monitor", "monitor.json", "--once", "--format", "json", cwd=folder)
    assert said.out, said.err
    return dict(json.loads(said.out))


@contextmanager
def shop(folder: Path, trouble: str = "", **keys: Any) -> Iterator[Shop]:
    answers = Shop(trouble)
    with service(answers) as (address, _):
        write_monitor(folder, address, **keys)
        yield answers


def test_a_service_that_dies_is_an_alarm_in_the_next_round_and_its_return_closes_it(
    say: Say, tmp_path: Path
) -> None:
    with service(Shop()) as (address, _):
        write_monitor(tmp_path, address)
        assert once(say, tmp_path)["alarms"] == []
    dead = once(say, tmp_path)
    assert (dead["outcome"], dead["alarms"]) == ("failed", ["shop/errors//2"])
    assert dead["outages"] == 1
    assert dead["paused"] > 0
    assert dead["latency"] == {}
    assert "probes failed" in dead["problems"][0]
    assert "the same command" not in dead["problems"][0]  # a round does not go on
    with service(Shop(), port=int(address.rpartition(":")[2])):
        alive = [once(say, tmp_path)["alarms"] for _ in range(3)]
    assert alive == [["shop/errors//2"], ["shop/errors//2"], []]


@pytest.mark.parametrize(
    "trouble", ["error", "closed", pytest.param("silent", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("hit", [10, QUERIES])
def test_an_outage_of_any_length_that_begins_within_a_round_is_an_alarm_within_two_rounds(
    say: Say, tmp_path: Path, trouble: str, hit: int
) -> None:
    quick = {"breaker": {"pause": 0.01}} | ({"timeout": TIME_LIMIT} if trouble == "silent" else {})
    with shop(tmp_path, trouble, **quick) as answers:
        assert once(say, tmp_path)["alarms"] == []
        answers.good_before, answers.hit = QUERIES - 50, hit
        found = [once(say, tmp_path)["alarms"] for _ in range(2)]
    assert "shop/errors//2" in found[0] or "shop/errors//3" in found[1]


@pytest.mark.parametrize("retries", [0, 2])
def test_an_outage_that_ends_before_many_queries_failed_counts_with_its_waits_and_retries(
    say: Say, tmp_path: Path, retries: int
) -> None:
    keys = {"concurrency": 1, "breaker": {"pause": 0.3}, "retries": retries, "backoff": 0.01}
    with shop(tmp_path, "error", **keys) as answers:
        once(say, tmp_path)
        answers.good_before, answers.hit = 50, 3
        found = once(say, tmp_path)
    assert found["outcome"] == "complete"
    assert found["failed"] == (0.0 if retries else 3 / QUERIES)
    assert (found["failed_attempts"], found["attempts"]) == (3, QUERIES + (3 if retries else 0))
    assert (found["outages"], found["timed_out"]) == (1, 0)
    assert found["paused"] >= 0.3
    assert found["alarms"] == ["shop/errors//2"]
    if retries:
        assert found["latency"]["p99"] >= 300


@pytest.mark.slow
def test_a_service_that_is_silent_is_slow_in_the_record_and_the_line(
    say: Say, tmp_path: Path
) -> None:
    keys = {
        "timeout": TIME_LIMIT,
        "concurrency": 1,
        "retries": 1,
        "backoff": 0.01,
        "breaker": {"failures": 1000},
    }
    alarms = [
        {"kind": "latency", "most_ms": 1000 * TIME_LIMIT, "quantile": "p99", "signals": "1 of 1"}
    ]
    with shop(tmp_path, "silent", alarms=alarms, **keys) as answers:
        answers.good_before, answers.hit = 50, 3
        said = say("monitor", "monitor.json", "--once", cwd=tmp_path)
    assert said.code == 1
    line, alarm = said.out.splitlines()
    assert re.search(
        r"failed 0\.\d %, 3 of 12[23] attempts failed \(3 timed out\), p95 \d+ ms", line
    ), line
    assert "alarm latency" in alarm


@pytest.mark.parametrize("trouble", ["silent", "drip"])
def test_queries_that_time_out_are_slow_also_if_the_round_ends_before_they_are_repeated(
    say: Say, tmp_path: Path, trouble: str
) -> None:
    keys = {
        "timeout": 0.3,
        "concurrency": 4,
        "retries": 2,
        "backoff": 0.01,
        "breaker": {"pause": 0.05},
    }
    alarms = [{"kind": "latency", "most_ms": 200, "signals": "1 of 1"}]
    with shop(tmp_path, trouble, alarms=alarms, **keys) as answers:
        answers.hit = 1000
        found = once(say, tmp_path)
    assert (found["outcome"], found["alarms"]) == ("failed", ["shop/latency//1"])
    assert found["timed_out"] >= 4
    assert found["latency"]["p50"] >= 300


def test_an_engine_that_answers_without_documents_is_an_alarm_of_errors_until_it_is_back(
    say: Say, tmp_path: Path
) -> None:
    with shop(tmp_path, "empty", alarms=[{"kind": "errors"}]) as answers:
        answers.hit = 2 * QUERIES
        said = say("monitor", "monitor.json", "--once", cwd=tmp_path)
        empty = once(say, tmp_path)
        alarms = [once(say, tmp_path)["alarms"] for _ in range(3)]
    line, alarm = said.out.splitlines()
    assert said.code == 1
    assert re.search(
        r"nDCG@10 0\.0000 .*, failed 0\.0 %, 120 of 120 answers empty, .*baseline 0 of 3 "
        r"rounds, without this one, ",
        line,
    )
    assert line.endswith(
        "check that the index has documents, and that the keys of `backend` name the hits of "
        "its answers"
    )
    assert (
        alarm
        == "  alarm errors since round 1: 0.0 % of the queries failed, at most 5 %; every answer "
        "is empty; closes after 3 calm rounds in a row"
    )
    assert (empty["outcome"], empty["empty"], empty["coverage"]) == ("complete", QUERIES, None)
    assert alarms == [["shop/errors//1"], ["shop/errors//1"], []]


def test_the_metrics_have_attempts_outages_and_pauses(say: Say, tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client")
    keys = {"concurrency": 1, "breaker": {"pause": 0.05}, "metrics": {"file": "shop.prom"}}
    with shop(tmp_path, "error", **keys) as answers:
        answers.good_before, answers.hit = 50, 3
        once(say, tmp_path)
    text = (tmp_path / "shop.prom").read_text()
    assert 'idealrank_attempts{monitor="shop",outcome="answered"} 117.0' in text
    assert 'idealrank_attempts{monitor="shop",outcome="failed"} 3.0' in text
    assert 'idealrank_outages{monitor="shop"} 1.0' in text
    assert 'idealrank_empty_answers{monitor="shop"} 0.0' in text
    assert float(re.findall(r'idealrank_paused_seconds\{monitor="shop"\} (\S+)', text)[0]) >= 0.05


def test_rounds_have_limits_of_their_own_and_the_backend_gets_their_time_limit() -> None:
    given = {
        "name": "shop",
        "store": "s",
        "backend": {"kind": "http"},
        "queries": "q.tsv",
        "qrels": "q.txt",
    }
    config = MonitorConfig.of(given)
    assert config.policy == ROUND_POLICY
    assert config.backend.given["timeout"] == ROUND_POLICY.timeout
    own = MonitorConfig.of(given | {"backend": {"kind": "http", "timeout": 2}, "timeout": 8})
    assert (own.policy.timeout, own.backend.given["timeout"]) == (8, 2)
