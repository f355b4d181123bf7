"""Monitor, Prometheus and Alertmanager together: the real programs read the metrics, evaluate the
rules and pass alerts on.

On Debian: ``apt-get install prometheus prometheus-alertmanager``. Programs elsewhere are named by
the folder IDEALRANK_PROMETHEUS.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from tests.live.live_fakes import send, service

pytestmark = pytest.mark.service
DEPLOY = ROOT / "deploy"


def program(*names: str) -> str:
    folder = os.environ.get("IDEALRANK_PROMETHEUS")
    found = next((path for name in names if (path := shutil.which(name, path=folder))), None)
    assert found, f"{names[0]} is not installed: apt-get install prometheus prometheus-alertmanager"
    return found


def checked(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_promtool_accepts_the_rules_and_their_own_tests() -> None:
    promtool = program("promtool")
    assert "5 rules found" in checked(
        promtool, "check", "rules", "alerts.yml", cwd=DEPLOY / "prometheus"
    )
    assert "SUCCESS" in checked(
        promtool, "test", "rules", "alerts_test.yml", cwd=DEPLOY / "prometheus"
    )
    assert "valid prometheus config" in checked(
        promtool, "check", "config", "prometheus.yml", cwd=DEPLOY / "prometheus"
    )


def test_amtool_accepts_the_configuration() -> None:
    assert "SUCCESS" in checked(
        program("amtool"), "check-config", "alertmanager.yml", cwd=DEPLOY / "alertmanager"
    )


def test_promtool_accepts_the_metrics(tmp_path: Path) -> None:
    import idealrank as ir
    from idealrank.live.alerts.round_metrics import metrics_text
    from tests.live.canary_samples import filled

    with ir.Store.open(tmp_path) as store:
        filled(store)
        text = metrics_text(store)
    done = subprocess.run(
        [program("promtool"), "check", "metrics"],
        input=text,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b""), done.stderr


# --- all of them ----------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@contextmanager
def running(*command: str, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (cwd / f"{Path(command[0]).name}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=cwd, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(20)


def until(condition: Callable[[], Any], seconds: float = 300.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.2)
    return found


def answer_of(url: str) -> Any:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return json.loads(answer.read())
    except OSError:
        return None


def test_a_damaged_index_becomes_an_alert_and_its_repair_resolves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "examples" / "canary")
    shop = import_module("shop")
    monkeypatch.setattr(shop, "QUERIES", 60)
    monkeypatch.setattr(shop, "DOCUMENTS", 400)
    shop.build(tmp_path / "shop", None)
    metrics, prometheus, manager = free_port(), free_port(), free_port()
    write_stack(tmp_path, metrics, manager)
    came: list[dict[str, Any]] = []

    def received(path: str, body: dict[str, Any], handler: Any) -> None:
        came.extend(body["alerts"])
        send(handler, {})

    with ExitStack() as stack:
        address, _ = stack.enter_context(service(received))
        start_servers(stack, tmp_path, address, prometheus, manager)
        stack.enter_context(
            running(sys.executable, "-m", "idealrank", "monitor", "monitor.json", cwd=tmp_path)
        )
        base = f"http://127.0.0.1:{prometheus}/api/v1/query?query="
        until(lambda: results(base, 'idealrank_rounds{outcome="complete"} >= 4'))
        shop.build(tmp_path / "shop", "title")
        opened = until(lambda: alerts(came, "firing"))
        assert {"IdealrankAlarm"} <= opened
        for expression in expressions():
            found = wait_for_results(base, expression)
            assert found, expression
        shop.build(tmp_path / "shop", None)
        until(lambda: "IdealrankAlarm" in alerts(came, "resolved"))


def start_servers(stack: ExitStack, folder: Path, hook: str, prometheus: int, manager: int) -> None:
    (folder / "alertmanager.yml").write_text(
        yaml.safe_dump(
            {
                "route": {
                    "receiver": "hook",
                    "group_by": ["alertname", "rule"],
                    "group_wait": "1s",
                    "group_interval": "1s",
                },
                "receivers": [{"name": "hook", "webhook_configs": [{"url": f"{hook}/hook"}]}],
            }
        )
    )
    stack.enter_context(
        running(
            program("prometheus-alertmanager", "alertmanager"),
            "--config.file=alertmanager.yml",
            "--storage.path=am",
            f"--web.listen-address=127.0.0.1:{manager}",
            "--cluster.listen-address=",
            cwd=folder,
        )
    )
    stack.enter_context(
        running(
            program("prometheus"),
            "--config.file=prometheus.yml",
            "--storage.tsdb.path=tsdb",
            f"--web.listen-address=127.0.0.1:{prometheus}",
            cwd=folder,
        )
    )


def expressions() -> list[str]:
    """Questions of the dashboard, but for slices, which this monitor has not."""
    panels = json.loads((DEPLOY / "grafana" / "dashboards" / "canaries.json").read_text())["panels"]
    asked = [
        one["expr"].replace("$monitor", "shop") for panel in panels for one in panel["targets"]
    ]
    return [one for one in asked if 'slice!=""' not in one]


def wait_for_results(base: str, expression: str) -> list[Any]:
    return list(until(lambda: results(base, expression)))


def write_stack(folder: Path, metrics: int, manager: int) -> None:
    config = {
        "name": "shop",
        "store": "store",
        "backend": {
            "kind": "sqlite-fts5",
            "path": "shop/shop.db",
            "table": "documents",
            "id": "id",
        },
        "queries": "shop/queries.tsv",
        "qrels": {"path": "shop/qrels.txt", "judged": "2026-05-01"},
        "limit": 10,
        "every": "1s",
        "baseline": {"rounds": 3},
        "alarms": [{"kind": "cusum"}, {"kind": "errors"}],
        "metrics": {"port": metrics},
        "notify": [{"kind": "alertmanager", "url": f"http://127.0.0.1:{manager}", "hold": 300}],
    }
    (folder / "monitor.json").write_text(json.dumps(config))
    shutil.copy(DEPLOY / "prometheus" / "alerts.yml", folder)
    given = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    given["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    given["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"] = [f"127.0.0.1:{manager}"]
    given["scrape_configs"][0]["static_configs"][0]["targets"] = [f"127.0.0.1:{metrics}"]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(given))


def results(base: str, expression: str) -> list[Any]:
    answer = answer_of(base + urllib.parse.quote(expression))
    return [] if answer is None else answer["data"]["result"]


def alerts(came: list[dict[str, Any]], status: str) -> set[str]:
    return {
        one["labels"]["alertname"]
        for one in came
        if one["status"] == status and one["labels"].get("monitor") == "shop"
    }


def test_the_demonstration_starts_what_is_installed_and_stops_it(tmp_path: Path) -> None:
    script = str(ROOT / "examples" / "canary" / "live_stack.py")
    command = [sys.executable, script, "stack", "--every", "1s"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, stderr=subprocess.STDOUT
    ) as stack:
        log = tmp_path / "stack" / "monitor.log"
        until(lambda: stack.poll() is not None or (log.exists() and "round 2" in log.read_text()))
        stack.send_signal(signal.SIGINT)
        said, _ = stack.communicate(timeout=60)
    assert stack.returncode == 0, said
    assert all(
        re.search(rf"^{part} +http://", said, re.MULTILINE)
        for part in ("monitor", "prometheus", "alertmanager")
    ), said
