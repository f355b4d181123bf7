"""Metrics of monitors: what the last rounds of a store say, and files that name no other metric."""

import json
import re
import socket
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

import idealrank as ir
from idealrank._keys import read
from idealrank._sections import Section
from idealrank.cli.main import COMMANDS
from idealrank.live.alerts.round_metrics import GAUGES, metrics_text, write_metrics
from idealrank.live.canary import monitor_loop
from idealrank.live.canary.monitor_config import MetricsSection
from idealrank.live.canary.monitor_loop import metrics_server
from tests.conftest import ROOT
from tests.live.canary_samples import filled

DEPLOY = ROOT / "deploy"
NAMES = {name for name, _, _ in GAUGES.values()}


def _samples(text: bytes) -> dict[str, float]:
    return {
        line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
        for line in text.decode().splitlines()
        if not line.startswith("#")
    }


def test_metrics_have_the_last_value_and_the_failures_of_the_last_round(tmp_path: Path) -> None:
    with ir.Store.open(tmp_path) as store:
        filled(store)
        found = _samples(metrics_text(store))
    assert found == {
        'idealrank_canary_value{measure="nDCG@10",monitor="shop",slice=""}': 0.5,
        'idealrank_canary_value{measure="nDCG@10",monitor="shop",slice="long"}': 0.3,
        'idealrank_canary_value{measure="nDCG@10",monitor="shop",slice="short"}': 0.7,
        'idealrank_canary_low{measure="nDCG@10",monitor="shop"}': 0.4,
        'idealrank_canary_high{measure="nDCG@10",monitor="shop"}': 0.6,
        'idealrank_judged_share{monitor="shop"}': 0.9,
        'idealrank_label_age_seconds{monitor="shop"}': 1080000.0,
        'idealrank_failed_share{monitor="shop"}': 1.0,
        'idealrank_last_round_timestamp_seconds{monitor="shop"}': 1767229200.0,
        'idealrank_last_success_timestamp_seconds{monitor="shop"}': 1767225600.0,
        'idealrank_rounds{monitor="shop",outcome="complete"}': 1.0,
        'idealrank_rounds{monitor="shop",outcome="failed"}': 1.0,
        'idealrank_alarm_open{monitor="shop",rule="floor",severity="page",slice=""}': 1.0,
        'idealrank_messages_waiting{monitor="shop"}': 1.0,
    }


def test_the_server_answers_metrics_and_nothing_else(tmp_path: Path) -> None:
    with ir.Store.open(tmp_path) as store:
        filled(store)
        expected = metrics_text(store)
        with metrics_server(str(tmp_path), MetricsSection(port=0)) as port:
            address = f"http://127.0.0.1:{port}"
            with urllib.request.urlopen(f"{address}/metrics", timeout=5) as answer:
                assert answer.read() == expected
                assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"{address}/", timeout=5)


def _asked(port: int | None, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port or 0), timeout=5) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as answer:
            return answer.read()


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("Host: 127.0.0.1:1\r\n", b"200"),
        ("Host: localhost\r\n", b"200"),
        ("Host: [::1]:9464\r\n", b"200"),
        ("Host: prometheus-names-it:9464\r\n", b"200"),
        ("", b"400"),
        ("Host: evil.example\r\n", b"400"),
        ("Host: localhost.evil.example\r\n", b"400"),
        ("Host: 192.168.1.5\r\n", b"400"),
        ("Host: a@localhost\r\n", b"400"),
        ("Host: [::1\r\n", b"400"),
        ("Host: localhost\r\nHost: localhost\r\n", b"400"),
    ],
)
def test_the_server_answers_only_requests_that_name_it(
    tmp_path: Path, host: str, status: bytes
) -> None:
    ir.Store.open(tmp_path).close()
    with metrics_server(
        str(tmp_path), MetricsSection(port=0, names=("prometheus-names-it",))
    ) as port:
        assert _asked(port, f"GET /metrics HTTP/1.0\r\n{host}\r\n".encode()).split()[1] == status


def test_on_a_network_the_server_is_also_named_by_its_addresses(tmp_path: Path) -> None:
    ir.Store.open(tmp_path).close()
    with metrics_server(str(tmp_path), MetricsSection(port=0, host="0.0.0.0")) as port:
        assert (
            _asked(port, b"GET /metrics HTTP/1.0\r\nHost: 192.168.1.5:1\r\n\r\n").split()[1]
            == b"200"
        )
        assert (
            _asked(port, b"GET /metrics HTTP/1.0\r\nHost: evil.example\r\n\r\n").split()[1]
            == b"400"
        )


def test_without_a_host_the_server_listens_on_this_machine_alone() -> None:
    assert (
        read(MetricsSection, Section({"port": 9464}, "monitor.yaml", "metrics")).host == "127.0.0.1"
    )


def test_a_client_that_says_nothing_keeps_nobody_waiting_and_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor_loop, "_PATIENCE", 0.2)
    ir.Store.open(tmp_path).close()
    with (
        metrics_server(str(tmp_path), MetricsSection(port=0)) as port,
        socket.create_connection(("127.0.0.1", port), timeout=5) as silent,
    ):
        assert (
            _asked(port, b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n").split()[1] == b"200"
        )
        assert silent.recv(1) == b""


def test_a_store_that_cannot_be_read_is_a_503_without_a_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ir.Store.open(tmp_path).close()
    with metrics_server(str(tmp_path), MetricsSection(port=0)) as port:
        (tmp_path / "store.sqlite3").write_bytes(b"no database" * 1000)
        assert (
            _asked(port, b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n").split()[1] == b"503"
        )
    assert capfd.readouterr().err == ""


def test_a_file_of_metrics_appears_at_once(tmp_path: Path) -> None:
    with ir.Store.open(tmp_path / "store") as store:
        filled(store)
        write_metrics(store, str(tmp_path / "idealrank.prom"))
        assert (tmp_path / "idealrank.prom").read_bytes() == metrics_text(store)


# --- files to deploy ------------------------------------------------------------------------------


def _named(text: str) -> set[str]:
    return set(re.findall(r"\bidealrank_\w+", text))


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("*.y*ml")), ids=lambda path: path.name)
def test_files_of_yaml_are_read_and_name_metrics_that_there_are(path: Path) -> None:
    assert yaml.safe_load(path.read_text())
    assert _named(path.read_text()) <= NAMES


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    dashboard = json.loads((DEPLOY / "grafana" / "dashboards" / "canaries.json").read_text())
    expressions = [one["expr"] for panel in dashboard["panels"] for one in panel["targets"]]
    assert _named(" ".join(expressions)) == NAMES - {
        "idealrank_rounds",
        "idealrank_last_round_timestamp_seconds",
        "idealrank_messages_waiting",
    }
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    places = [panel["gridPos"] for panel in dashboard["panels"]]
    cells = [
        (x, y)
        for one in places
        for x in range(one["x"], one["x"] + one["w"])
        for y in range(one["y"], one["y"] + one["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23


def test_the_services_run_commands_of_idealrank_and_mount_files_that_there_are() -> None:
    compose: dict[str, Any] = yaml.safe_load((DEPLOY / "docker-compose.yaml").read_text())
    assert set(compose["services"]) == {"monitor", "page", "prometheus", "alertmanager", "grafana"}
    for name, one in compose["services"].items():
        if "command" in one:
            assert name == "page" or one["command"][0] in COMMANDS
        mounts = [text.split(":")[0] for text in one["volumes"]]
        assert all(
            (DEPLOY / mount).exists()
            for mount in mounts
            if mount.startswith("./") and mount != "./data"
        )
        assert all(port.startswith("127.0.0.1:") for port in one.get("ports", ()))
        assert "image" not in one or not one["image"].endswith(":latest")
