"""Start the shop with its monitor, page, Prometheus, Alertmanager and Grafana, as far as they are
installed, until Ctrl-C.

Run it as ``python live_stack.py FOLDER``, or as ``make demo-live``. Everything listens on this
machine only. Programs of Prometheus are found on the PATH, or in the folder IDEALRANK_PROMETHEUS.
Then damage the index, and watch the alarm: ``python shop.py FOLDER/shop --lose title``.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
DEPLOY = HERE.parents[1] / "deploy"
IDEALRANK = [sys.executable, "-m", "idealrank"]
PORTS = {"metrics": 9464, "page": 8765, "prometheus": 9090, "alertmanager": 9093, "grafana": 3000}
COMMANDS = {
    "prometheus": ("prometheus",),
    "alertmanager": ("prometheus-alertmanager", "alertmanager"),
    "grafana": ("grafana-server", "grafana"),
}


def program(part: str) -> str | None:
    """Return the path of a program, if it is installed."""
    folders = [os.environ.get("IDEALRANK_PROMETHEUS"), None]
    return next(
        (
            path
            for folder in folders
            for name in COMMANDS[part]
            if (path := shutil.which(name, path=folder))
        ),
        None,
    )


def free_port(wanted: int) -> int:
    """Return the wanted port, or another one if it is taken."""
    for port in (wanted, 0):
        with socket.socket() as held:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                held.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(held.getsockname()[1])
    raise OSError("found no free port")


def write_configurations(folder: Path, ports: dict[str, int], every: str) -> None:
    """Write the configurations of this machine, from the files in `deploy` and the monitor of this
    folder.
    """
    monitor = yaml.safe_load((HERE / "monitor.yaml").read_text(encoding="utf-8"))
    monitor |= {"every": every, "metrics": {"port": ports["metrics"]}}
    if program("alertmanager"):
        monitor["notify"].append(
            {"kind": "alertmanager", "url": f"http://127.0.0.1:{ports['alertmanager']}"}
        )
    (folder / "monitor.json").write_text(json.dumps(monitor, default=str), encoding="utf-8")
    prometheus = yaml.safe_load(
        (DEPLOY / "prometheus" / "prometheus.yml").read_text(encoding="utf-8")
    )
    prometheus["global"] = {"scrape_interval": "2s", "evaluation_interval": "2s"}
    prometheus["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"] = [
        f"127.0.0.1:{ports['alertmanager']}"
    ]
    prometheus["scrape_configs"][0]["static_configs"][0]["targets"] = [
        f"127.0.0.1:{ports['metrics']}"
    ]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(prometheus), encoding="utf-8")
    shutil.copy(DEPLOY / "prometheus" / "alerts.yml", folder)
    shutil.copy(DEPLOY / "alertmanager" / "alertmanager.yml", folder)
    shutil.copytree(DEPLOY / "grafana", folder / "grafana", dirs_exist_ok=True)
    for path in (folder / "grafana" / "provisioning").rglob("*.yaml"):
        text = path.read_text(encoding="utf-8").replace(
            "http://prometheus:9090", f"http://127.0.0.1:{ports['prometheus']}"
        )
        path.write_text(
            text.replace(
                "/var/lib/grafana/dashboards", str(folder.resolve() / "grafana" / "dashboards")
            ),
            encoding="utf-8",
        )


def commands(ports: dict[str, int]) -> dict[str, list[str]]:
    """Return the command of each part that is installed."""
    found = {"monitor": [*IDEALRANK, "monitor", "monitor.json"]}
    if (
        subprocess.run([*IDEALRANK, "serve", "--help"], capture_output=True, check=False).returncode
        == 0
    ):
        found["page"] = [*IDEALRANK, "serve", "--store", "shop/store", "--port", str(ports["page"])]
    if path := program("prometheus"):
        address = f"--web.listen-address=127.0.0.1:{ports['prometheus']}"
        found["prometheus"] = [
            path,
            "--config.file=prometheus.yml",
            "--storage.tsdb.path=tsdb",
            address,
        ]
    if path := program("alertmanager"):
        address = f"--web.listen-address=127.0.0.1:{ports['alertmanager']}"
        found["alertmanager"] = [
            path,
            "--config.file=alertmanager.yml",
            "--storage.path=alerts",
            address,
            "--cluster.listen-address=",
        ]
    if path := program("grafana"):
        found["grafana"] = [path, "--homepath", "/usr/share/grafana"]
    return found


def start(folder: Path, seconds: float, every: str) -> int:
    """Start all parts, and stop them on Ctrl-C, after some seconds, or when one ends by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, HERE / "shop.py", folder / "shop"], check=True)
    ports = {part: free_port(port) for part, port in PORTS.items()}
    write_configurations(folder, ports, every)
    settings = {
        "GF_PATHS_PROVISIONING": str(folder.resolve() / "grafana" / "provisioning"),
        "GF_PATHS_DATA": str(folder.resolve() / "data"),
        "GF_SERVER_HTTP_ADDR": "127.0.0.1",
        "GF_SERVER_HTTP_PORT": str(ports["grafana"]),
    }
    parts = {}
    try:
        for part, command in commands(ports).items():
            with (folder / f"{part}.log").open("wb") as log:
                parts[part] = subprocess.Popen(
                    command, cwd=folder, stdout=log, stderr=log, env={**os.environ, **settings}
                )
            place = (
                f"http://127.0.0.1:{ports['metrics']}/metrics"
                if part == "monitor"
                else f"http://127.0.0.1:{ports[part]}"
            )
            print(f"{part:<13} {place}", flush=True)
        for part in sorted({"page", *COMMANDS} - set(parts)):
            print(f"{part:<13} not installed")
        print(
            f"logs in {folder}; damage the index: {sys.executable} {HERE / 'shop.py'} "
            f"{folder / 'shop'} --lose title",
            flush=True,
        )
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            ended = [part for part, process in parts.items() if process.poll() is not None]
            if ended:
                print(
                    f"{ended[0]} ended by itself; see {folder / f'{ended[0]}.log'}", file=sys.stderr
                )
                return 1
            time.sleep(0.2)
    except KeyboardInterrupt:
        pass
    finally:
        for process in parts.values():
            process.terminate()
        for process in parts.values():
            process.wait(20)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--every", default="5s")
    asked = parser.parse_args()
    # a shell lets commands in the background ignore Ctrl-C
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    sys.exit(start(asked.folder, asked.seconds, asked.every))
