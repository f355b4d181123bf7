"""Channels of alarms: each message at least once, in order, with one key; secrets stay out of what
is said and stored.
"""

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank._sections import Section
from idealrank.errors import BackendError, OptionError
from idealrank.live.alerts.alarm_channels import AppriseChannel, Channel, channels_of, post
from idealrank.live.canary.canary_rounds import CanaryMonitor
from idealrank.live.canary.monitor_config import MonitorConfig
from idealrank.live.monitoring import StoredNotice
from tests.live.canary_samples import Steerable, write_files
from tests.live.live_fakes import send, service

CONTENT = {
    "alarm": "shop/floor//3",
    "event": "opened",
    "monitor": "shop",
    "rule": "floor",
    "slice": "",
    "round": 3,
    "severity": "page",
    "time": "2026-01-01T00:00:00+00:00",
    "opened": 3,
    "opened_time": "2026-01-01T00:00:00+00:00",
    "text": "value 0.5, least 0.6",
}


def _notice(**content: Any) -> StoredNotice:
    whole = {**CONTENT, **content}
    key = f"{whole['alarm']}/{whole['event']}/hook"
    return StoredNotice(
        id=key, alarm="", event="", channel="hook", content=whole, attempts=0, sent=None, problem=""
    )


def _channel(**keys: Any) -> Channel:
    return channels_of(Section({"notify": [keys]}, "monitor.yaml", ""), 60.0)[0]


def test_a_webhook_gets_the_message_with_the_same_key_at_every_attempt() -> None:
    with service(lambda path, body, handler: send(handler, {}, 500 if len(seen) == 1 else 200)) as (
        address,
        seen,
    ):
        hook = _channel(kind="webhook", url=f"{address}/hook", headers={"X-Team": "search"})
        with pytest.raises(BackendError, match="HTTP 500") as failed:
            hook.send(_notice())
        hook.send(_notice())
    assert failed.value.temporary
    keys = [headers["idempotency-key"] for _, headers, _ in seen]
    assert keys == ["shop/floor//3/opened"] * 2
    assert [body["text"] for _, _, body in seen] == ["value 0.5, least 0.6"] * 2
    assert seen[0][1]["x-team"] == "search"


def test_a_receiver_that_is_not_there_is_a_failure_that_may_pass() -> None:
    with pytest.raises(BackendError) as failed:
        post("http://127.0.0.1:9/hook", {}, {})
    assert failed.value.temporary


def test_secrets_stay_out_of_messages_of_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_KEY", "s3cret-value")
    with service(
        lambda path, body, handler: send(handler, {"said": "bad key s3cret-value"}, 403)
    ) as (address, _):
        hook = _channel(kind="webhook", url=address + "/${HOOK_KEY}")
        with pytest.raises(BackendError) as failed:
            hook.send(_notice())
    assert "s3cret" not in str(failed.value)
    assert "${HOOK_KEY}" in str(failed.value)


def test_alertmanager_gets_an_alert_that_ends_later_and_one_that_ends_now() -> None:
    with service(lambda path, body, handler: send(handler, {})) as (address, seen):
        manager = _channel(kind="alertmanager", url=address + "/", hold=600)
        manager.send(_notice(slice="long"))
        manager.send(_notice(event="recovered", time="2026-01-02T00:00:00+00:00", slice="long"))
        manager.keep_alive([])
    assert [path for path, _, _ in seen] == ["/api/v2/alerts"] * 2
    opened, closed = (body[0] for _, _, body in seen)
    labels = {
        "alertname": "IdealrankAlarm",
        "monitor": "shop",
        "rule": "floor",
        "severity": "page",
        "slice": "long",
    }
    assert opened["labels"] == closed["labels"] == labels
    assert opened["startsAt"] == closed["startsAt"] == "2026-01-01T00:00:00+00:00"
    now = datetime.now().astimezone()
    assert 590 < (datetime.fromisoformat(opened["endsAt"]) - now).total_seconds() < 601
    assert (datetime.fromisoformat(closed["endsAt"]) - now).total_seconds() < 1


def test_an_alert_never_ends_before_it_starts_although_a_clock_was_set_back() -> None:
    with service(lambda path, body, handler: send(handler, {})) as (address, seen):
        _channel(kind="alertmanager", url=address).send(
            _notice(event="recovered", opened_time="2999-01-01T00:00:00+00:00")
        )
    alert = seen[0][2][0]
    assert alert["startsAt"] <= alert["endsAt"]


@pytest.mark.filterwarnings("ignore:.*imghdr:DeprecationWarning")
def test_apprise_sends_the_title_and_the_key() -> None:
    with service(lambda path, body, handler: send(handler, {})) as (address, seen):
        AppriseChannel("chat", (address.replace("http://", "json://"),), str).send(_notice())
    (body,) = [body for _, _, body in seen]
    assert body["title"] == "shop: alarm floor opened: value 0.5, least 0.6"
    assert "key shop/floor//3/opened" in body["message"]


@pytest.mark.filterwarnings("ignore:.*imghdr:DeprecationWarning")
def test_apprise_that_cannot_send_is_a_failure() -> None:
    with pytest.raises(BackendError, match="does not know the address"):
        AppriseChannel("chat", ("nothing-of-this-name://x",), str).send(_notice())
    with pytest.raises(BackendError, match="could not send"):
        AppriseChannel("chat", ("json://127.0.0.1:9",), str).send(_notice())


def test_a_log_that_cannot_be_written_is_a_failure_that_may_pass(tmp_path: Path) -> None:
    with pytest.raises(BackendError) as failed:
        _channel(kind="log", path=str(tmp_path / "missing" / "alarms.jsonl")).send(_notice())
    assert failed.value.temporary


# --- from the store to the channel ----------------------------------------------------------------


@pytest.fixture
def engine() -> Steerable:
    return Steerable()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def store(folder: Path) -> Iterator[ir.Store]:
    with ir.Store.open(folder / "store") as opened:
        yield opened


def _monitor(
    engine: Steerable, *channels: dict[str, Any], say: Callable[[str], None] = lambda _: None
) -> CanaryMonitor:
    given = {
        "name": "shop",
        "store": "store",
        "backend": {"kind": "replay"},
        "queries": "queries.tsv",
        "qrels": "qrels.txt",
        "retries": 0,
        "alarms": [
            {"kind": "threshold", "name": "floor", "least": 0.5, "signals": "1 of 1", "recover": 1}
        ],
        "notify": list(channels),
    }
    return CanaryMonitor(MonitorConfig.of(given, "monitor.yaml"), say=say, backend=lambda: engine)


def test_messages_wait_for_a_channel_that_fails_and_keep_their_order(
    engine: Steerable, store: ir.Store
) -> None:
    status = 503
    with service(lambda path, body, handler: send(handler, {}, status)) as (address, seen):
        monitor = _monitor(
            engine, {"kind": "webhook", "url": address}, {"kind": "log", "path": "alarms.jsonl"}
        )
        for engine.state in ("bad", "good"):
            monitor.run_round(store)
        waiting = store.monitoring("shop").waiting()
        assert [(notice.event, notice.channel, notice.attempts) for notice in waiting] == [
            ("opened", "webhook", 2),
            ("recovered", "webhook", 0),
        ]
        status = 200
        seen.clear()
        monitor.run_round(store)
    assert [body["event"] for _, _, body in seen] == ["opened", "recovered"]
    assert store.monitoring("shop").waiting() == []
    assert [
        json.loads(line)["event"] for line in Path("alarms.jsonl").read_text().splitlines()
    ] == ["opened", "recovered"]


def test_alertmanager_hears_of_open_alarms_after_each_round(
    engine: Steerable, store: ir.Store
) -> None:
    with service(lambda path, body, handler: send(handler, {})) as (address, seen):
        monitor = _monitor(engine, {"kind": "alertmanager", "url": address})
        for engine.state in ("bad", "down", "bad", "good", "good"):
            monitor.run_round(store)
    labels = [alert["labels"]["rule"] for _, _, body in seen for alert in body]
    assert labels == ["floor"] * 5  # the opening, three rounds that keep it open, and the end


def test_a_channel_that_the_configuration_has_no_more_keeps_no_message_and_each_is_said(
    engine: Steerable, store: ir.Store
) -> None:
    engine.state = "bad"
    _monitor(engine, {"kind": "webhook", "url": "http://127.0.0.1:9"}).run_round(store)
    assert len(store.monitoring("shop").waiting()) == 1
    said: list[str] = []
    _monitor(engine, {"kind": "log", "path": "alarms.jsonl"}, say=said.append).run_round(store)
    assert store.monitoring("shop").waiting() == []
    (note,) = said
    assert note.startswith(
        "the configuration has no channel webhook any more; this message is not sent: shop: "
        "alarm floor opened: "
    )


# --- receivers that misbehave ---------------------------------------------------------------------


@contextmanager
def answering(data: bytes) -> Iterator[str]:
    """A receiver that sends these bytes, whatever they are."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            self.wfile.write(data)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize(
    "data",
    [
        b"garbage\r\n\r\n",
        b"",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 40_000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 500 No\r\ncontent-length: -7\r\n\r\n",
    ],
    ids=[
        "no HTTP",
        "nothing",
        "40,000 headers",
        "a broken body",
        "a broken body of an error",
        "a length below 0",
    ],
)
def test_an_answer_that_is_no_http_is_a_failure_that_may_pass(data: bytes) -> None:
    with answering(data) as address, pytest.raises(BackendError) as failed:
        post(address, {}, {})
    assert failed.value.temporary
    assert address in str(failed.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://exa mple/",
        "http://example/\n",
        "http:///hook",
        "http://[::1/",
        "http://example:hook/",
        "http://é/",
    ],
)
def test_an_address_that_cannot_be_asked_is_refused_when_it_is_read(url: str) -> None:
    with pytest.raises(OptionError, match=r"notify\[1\].url: found"):
        _channel(kind="webhook", url=url)


@pytest.mark.parametrize("url", ["http://exa mple/", "http://[::1/", "http://example:hook/"])
def test_an_address_that_cannot_be_asked_is_a_failure(url: str) -> None:
    with pytest.raises(BackendError):
        post(url, {}, {})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_the_message_is_not_sent(status: int) -> None:
    with service(lambda path, body, handler: send(handler, {})) as (other, reached):
        away = other.replace("127.0.0.1", "localhost") + "/x"
        with service(lambda path, body, handler: send(handler, {}, status, location=away)) as (
            address,
            _,
        ):
            hook = _channel(kind="webhook", url=address, headers={"Authorization": "Bearer abc"})
            with pytest.raises(BackendError, match=f"HTTP {status}"):
                hook.send(_notice())
    assert reached == []


def test_a_secret_at_the_cut_of_an_answer_is_not_shown_in_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOOK_KEY", "s3cret-value-that-is-long")
    said = "x" * 485 + " s3cret-value-that-is-long"
    with service(lambda path, body, handler: send(handler, said.encode(), 403)) as (address, _):
        hook = _channel(kind="webhook", url=address, headers={"Authorization": "${HOOK_KEY}"})
        with pytest.raises(BackendError) as failed:
            hook.send(_notice())
    assert "s3c" not in str(failed.value)


def test_a_text_that_is_no_utf_8_is_sent_as_json_escapes_it(tmp_path: Path) -> None:
    with service(lambda path, body, handler: send(handler, {})) as (address, seen):
        _channel(kind="webhook", url=address).send(_notice(slice="a\udcff"))
    _channel(kind="log", path=str(tmp_path / "a.jsonl")).send(_notice(slice="a\udcff"))
    assert [body["slice"] for _, _, body in seen] == ["a\udcff"]
    assert json.loads((tmp_path / "a.jsonl").read_text())["slice"] == "a\udcff"


class ForeignError(Exception):
    """An error of a class that the monitor has never heard of."""


@dataclass(frozen=True)
class Broken:
    """Channel that fails with whatever a library may raise."""

    name: str = "broken"

    def send(self, notice: StoredNotice) -> None:
        raise ForeignError("the library gave up on s3cret")

    keep_alive = send

    def hide(self, text: str) -> str:
        return text.replace("s3cret", "${KEY}")


def test_any_exception_of_a_channel_is_its_problem_and_the_watch_goes_on(
    engine: Steerable, store: ir.Store
) -> None:
    monitor = _monitor(engine, {"kind": "log", "path": "alarms.jsonl"})
    monitor.config = replace(monitor.config, channels=(Broken(), *monitor.config.channels))  # type: ignore[arg-type]
    engine.state = "bad"
    assert [len(monitor.run_round(store)) for _ in range(2)] == [1, 1]
    (waiting,) = store.monitoring("shop").waiting()
    assert (waiting.channel, waiting.attempts) == ("broken", 2)
    assert waiting.problem == "broken: ForeignError: the library gave up on ${KEY}"
    assert len(Path("alarms.jsonl").read_text().splitlines()) == 1
